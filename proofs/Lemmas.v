(** The confidence event, and the three lemmas that hold on it. *)

Require Import Reals Lra Lia Arith List.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm.
Import ListNotations.
Open Scope R_scope.

Section Lemmas.

Variables (K d T : nat) (c : R) (mu : nat -> vector).

Local Notation gap := (gap K d mu).
Local Notation deficit := (deficit K mu).
Local Notation best := (best K mu).
Local Notation g := (g_dagger K d mu).
Local Notation beta := (beta T c).
Local Notation U := (U T c).
Local Notation L := (L T c).

(** All intervals hold at the decision that follows the history [h]. *)
Definition inside (h : history) : Prop :=
  forall a j, (a < K)%nat -> (j < d)%nat -> Rabs (mean h a j - mu a j) <= beta h a.

(** The event of the paper: the intervals hold at every decision of the run after
    the warm start. [before] is what was known, [later] what came after. *)
Definition event (h : history) : Prop :=
  forall later before, h = later ++ before -> later <> [] ->
    (K <= length before)%nat -> inside before.

Lemma bounds h a j : inside h -> (a < K)%nat -> (j < d)%nat ->
  mu a j <= U h a j /\ U h a j <= mu a j + 2 * beta h a /\
  L h a j <= mu a j /\ mu a j - 2 * beta h a <= L h a j.
Proof.
  intros Hin Ha Hj. specialize (Hin a j Ha Hj).
  assert (0 <= beta h a) by (unfold Algorithm.beta, radius; apply sqrt_pos).
  unfold Algorithm.U, Algorithm.L.
  destruct (Rcase_abs (mean h a j - mu a j)) as [Hneg|Hpos].
  - rewrite Rabs_left in Hin by easy. lra.
  - rewrite Rabs_right in Hin by easy. lra.
Qed.

(** ** Lemma 9: a certified arm is the unique maximiser of its objective *)

Theorem lemma_9 h b e j :
  inside h -> (j < d)%nat -> leader K T c h j (b j) -> challenger K T c h j (b j) (e j) ->
  certifies T c h b e j ->
  unique_maximiser K mu (b j) j /\ pareto_optimal K d mu (b j) /\ gap (b j) = 0.
Proof.
  intros Hin Hj [Hb _] (He & Hne & Hmax) Hc. unfold certifies in Hc.
  assert (Hu : unique_maximiser K mu (b j) j).
  { intros a Ha Hab. specialize (Hmax a Ha Hab).
    pose proof (bounds h a j Hin Ha Hj). pose proof (bounds h (b j) j Hin Hb Hj). lra. }
  assert (Hopt : pareto_optimal K d mu (b j))
    by (now apply unique_maximiser_optimal with j).
  repeat split; auto. apply optimal_gap_zero; auto; lia.
Qed.

(** Corollary 6, the part without probability: on the event the stored arm is in the
    Pareto set. Definition 1 is not used. *)
Theorem corollary_6_on_event Y h a :
  run K d T c Y h (Some a) -> event h ->
  (exists j, (j < d)%nat /\ unique_maximiser K mu a j) /\ pareto_optimal K d mu a /\ gap a = 0.
Proof.
  intros Hr Hev. destruct (run_splits _ _ _ _ _ _ _ Hr) as (h0 & later & E & H0 & Hl & Hne & Hdec & _).
  assert (Hin : inside h0) by (now apply Hev with later).
  inversion Hdec as [|b e j Hraces Hj Hc|]; subst.
  destruct (Hraces j Hj) as [Hb He].
  destruct (lemma_9 h0 b e j Hin Hj Hb He Hc) as (H1 & H2 & H3).
  split; [now exists j|auto].
Qed.

(** ** Lemma 10: what a pull before the certificate may cost *)

Section Charge.

Variables (h : history) (b e : nat -> nat) (j : nat).
Hypotheses (Hin : inside h) (Hj : (j < d)%nat)
  (Hlead : leader K T c h j (b j)) (Hchal : challenger K T c h j (b j) (e j))
  (Hnot : ~ certifies T c h b e j).

(** The leader's deficit is at most two radii. *)
Theorem charge_leader : deficit (b j) j <= 2 * beta h (b j).
Proof.
  destruct Hlead as [Hb Hmax]. destruct (best_attained K mu j) as (w & Hw & E); [lia|].
  specialize (Hmax w Hw). pose proof (bounds h w j Hin Hw Hj).
  pose proof (bounds h (b j) j Hin Hb Hj). unfold Pareto.deficit. lra.
Qed.

(** If an arm other than the leader is best, the challenger's is, too. *)
Theorem charge_challenger_two w :
  (w < K)%nat -> w <> b j -> maximiser K mu w j -> deficit (e j) j <= 2 * beta h (e j).
Proof.
  intros Hw Hne Hm. destruct Hchal as (He & _ & Hmax). specialize (Hmax w Hw Hne).
  pose proof (bounds h w j Hin Hw Hj). pose proof (bounds h (e j) j Hin He Hj).
  unfold maximiser, Pareto.deficit in *. lra.
Qed.

(** Behind a maximiser it is at most twice the width of the race. *)
Theorem charge_challenger_width : deficit (e j) j <= 2 * width T c h b e j.
Proof.
  destruct Hlead as [Hb _]. destruct Hchal as (He & _).
  destruct (best_attained K mu j) as (w & Hw & E); [lia|].
  assert (Hbeta : forall a, 0 <= beta h a) by (intros; unfold Algorithm.beta, radius; apply sqrt_pos).
  pose proof (Hbeta (b j)). pose proof (Hbeta (e j)). unfold width.
  destruct (Nat.eq_dec w (b j)) as [Ew|Hne].
  - pose proof (bounds h (b j) j Hin Hb Hj). pose proof (bounds h (e j) j Hin He Hj).
    unfold certifies in Hnot. rewrite Ew in E. unfold Pareto.deficit. lra.
  - assert (deficit (e j) j <= 2 * beta h (e j)); [|lra].
    apply charge_challenger_two with w; auto. unfold maximiser, Pareto.deficit. lra.
Qed.

End Charge.

(** With either constant: four radii, or two when the leader is pulled or another
    arm has the best mean. *)
Theorem lemma_10_deficit h b e j a :
  inside h -> races K d T c h b e -> (forall i, (i < d)%nat -> ~ certifies T c h b e i) ->
  sampled d T c h b e j a ->
  deficit a j <= 4 * beta h a /\
  (a = b j \/ (exists w, (w < K)%nat /\ w <> b j /\ maximiser K mu w j) ->
   deficit a j <= 2 * beta h a).
Proof.
  intros Hin Hr Hn (Hj & _ & Ha & Hbb & Hbe). destruct (Hr j Hj) as [Hb He].
  specialize (Hn j Hj).
  pose proof (charge_leader h b j Hin Hj Hb) as Htwo.
  assert (Hbeta : forall a, 0 <= beta h a) by (intros; unfold Algorithm.beta, radius; apply sqrt_pos).
  destruct Ha as [->| ->].
  - pose proof (Hbeta (b j)). split; [lra|]. intros _. exact Htwo.
  - split.
    + pose proof (charge_challenger_width h b e j Hin Hj Hb He Hn) as H. unfold width in H. lra.
    + intros [E|(w & Hw & Hne & Hm)].
      * rewrite E. exact Htwo.
      * now apply (charge_challenger_two h b e j Hin Hj He w).
Qed.

Theorem lemma_10 h a :
  (0 < d)%nat -> inside h -> decision K d T c h None a None -> gap a <= 4 * beta h a.
Proof.
  intros Hd Hin Hdec. pose proof (decision_below _ _ _ _ _ _ _ _ Hd Hdec eq_refl) as Ha.
  inversion Hdec as [| |b e j a' Hr Hn Hs]; subst.
  destruct (lemma_10_deficit h b e j a Hin Hr Hn Hs) as [H _].
  pose proof (gap_le_deficit K d mu a j Ha (proj1 Hs)). lra.
Qed.

(** The same for the least deficit over the objectives. *)
Theorem lemma_10_least h a :
  (0 < d)%nat -> inside h -> decision K d T c h None a None ->
  least_deficit K d mu a <= 4 * beta h a.
Proof.
  intros Hd Hin Hdec. inversion Hdec as [| |b e j a' Hr Hn Hs]; subst.
  destruct (lemma_10_deficit h b e j a Hin Hr Hn Hs) as [H _].
  pose proof (minb_le d (deficit a) j (proj1 Hs)). unfold least_deficit. lra.
Qed.

(** Where every objective has several best arms, two radii are enough. *)
Theorem lemma_10_tied h a :
  (0 < d)%nat ->
  (forall j, (j < d)%nat -> exists u w, (u < K)%nat /\ (w < K)%nat /\ u <> w /\
     maximiser K mu u j /\ maximiser K mu w j) ->
  inside h -> decision K d T c h None a None -> gap a <= 2 * beta h a.
Proof.
  intros Hd Htie Hin Hdec. pose proof (decision_below _ _ _ _ _ _ _ _ Hd Hdec eq_refl) as Ha.
  inversion Hdec as [| |b e j a' Hr Hn Hs]; subst.
  destruct (lemma_10_deficit h b e j a Hin Hr Hn Hs) as [_ H].
  pose proof (gap_le_deficit K d mu a j Ha (proj1 Hs)).
  assert (deficit a j <= 2 * beta h a); [|lra].
  apply H. right. destruct (Htie j (proj1 Hs)) as (u & w & Hu & Hw & Hne & Hmu & Hmw).
  destruct (Nat.eq_dec u (b j)) as [E|E]; [exists w|exists u]; repeat split; auto; congruence.
Qed.

(** ** Lemma 11: the width floor *)

Theorem width_floor h b e j :
  (1 < K)%nat -> inside h -> (j < d)%nat -> 0 < lead K mu j ->
  leader K T c h j (b j) -> challenger K T c h j (b j) (e j) -> ~ certifies T c h b e j ->
  lead K mu j / 2 <= width T c h b e j.
Proof.
  intros HK Hin Hj Hpos [Hb Hmax] (He & Hne & _) Hn.
  destruct (lead_owner K mu j HK Hpos) as (w & Hw & Hown).
  assert (Hbeta : forall a, 0 <= beta h a) by (intros; unfold Algorithm.beta, radius; apply sqrt_pos).
  pose proof (Hbeta (e j)). unfold width.
  pose proof (bounds h (b j) j Hin Hb Hj). pose proof (bounds h (e j) j Hin He Hj).
  unfold certifies in Hn. destruct (Nat.eq_dec (b j) w) as [Ew|Hbw].
  - assert (e j <> w) by congruence. specialize (Hown (e j) He H2).
    rewrite <- Ew in Hown. lra.
  - specialize (Hown (b j) Hb Hbw). specialize (Hmax w Hw).
    pose proof (bounds h w j Hin Hw Hj). lra.
Qed.

Theorem lemma_11 h b e j a :
  (1 < K)%nat -> inside h -> 0 < g ->
  races K d T c h b e -> (forall i, (i < d)%nat -> ~ certifies T c h b e i) ->
  sampled d T c h b e j a ->
  (forall i, (i < d)%nat -> g = lead K mu i -> g / 2 <= width T c h b e i) /\
  g / 2 <= width T c h b e j /\ g / 4 <= beta h a.
Proof.
  intros HK Hin Hg Hr Hn (Hj & Hwide & Ha & Hbb & Hbe).
  assert (Hfloor : forall i, (i < d)%nat -> g = lead K mu i -> g / 2 <= width T c h b e i).
  { intros i Hi E. rewrite E. destruct (Hr i Hi). apply width_floor; auto. lra. }
  destruct (champion K d mu) as (i & Hi & E); [lia|].
  specialize (Hfloor i Hi E) as Hf. specialize (Hwide i Hi).
  repeat split; auto; [lra|]. unfold width in *. lra.
Qed.

(** The form that the theorem uses; it holds for [g = 0] as well. *)
Lemma floor_at_pull h a :
  (1 < K)%nat -> (0 < d)%nat -> inside h -> decision K d T c h None a None -> g <= 4 * beta h a.
Proof.
  intros HK Hd Hin Hdec. inversion Hdec as [| |b e j a' Hr Hn Hs]; subst.
  destruct (Rle_lt_dec g 0).
  - assert (0 <= beta h a) by (unfold Algorithm.beta, radius; apply sqrt_pos). lra.
  - destruct (lemma_11 h b e j a HK Hin r Hr Hn Hs) as (_ & _ & H). lra.
Qed.

(** The event can happen: when every reward is the mean itself, it holds along every run. *)
Theorem event_possible h s : run K d T c (fun a _ => mu a) h s -> event h.
Proof.
  intros Hr later before E _ Hl a j Ha Hj.
  destruct (run_before K d T c _ h s Hr later before E) as (s' & Hb).
  rewrite (mean_is_average _ _ a j (run_reads _ _ _ _ _ _ _ Hb)).
  pose proof (count_pos _ _ _ _ _ _ _ a Hb Hl Ha) as Hn.
  unfold average. rewrite sum_const.
  assert (0 < INR (count before a)) by (apply lt_0_INR; lia).
  replace (INR (count before a) * mu a j / INR (count before a) - mu a j) with 0 by (field; lra).
  rewrite Rabs_R0. apply sqrt_pos.
Qed.

End Lemmas.
