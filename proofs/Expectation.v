(** Proposition 8, Corollary 6 and Theorem 4 with their probabilities. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Lemmas
  Momab.Theorem Momab.Probability Momab.Hoeffding Momab.LowerBound.
Import ListNotations.
Open Scope R_scope.

(** Is the average of [n] rewards further than [eps] from its mean? *)
Definition misses (mu : nat -> vector) (Y : table) (a j n : nat) (eps : R) : bool :=
  if Rlt_dec eps (Rabs (average Y a n j - mu a j)) then true else false.

(** ** From a tail inequality *)

(** An outcome [x] fixes the reward table [Y x] and the history [h x] that Algorithm 1 has
    produced on it; it may also hold the coins that broke the ties. *)

Section FromTail.

Context {X : Type} (D : law X) (Y : X -> table).
Variables (K d T : nat) (c : R) (mu : nat -> vector).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat) (Hc : 0 <= c)
  (HD : is_law D).

(** The tail inequality of averages, Hoeffding's, as a hypothesis with a name. *)
Hypothesis tail : forall a j n eps,
  (a < K)%nat -> (j < d)%nat -> (1 <= n <= T)%nat -> 0 <= eps ->
  Pr D (fun x => misses mu (Y x) a j n eps) <= 2 * exp (- 2 * INR n * eps ^ 2).

(** Some interval fails: for some arm, objective and count up to [T]. *)
Definition bad (y : table) : bool :=
  some K (fun a => some d (fun j => some T (fun m => misses mu y a j (S m) (radius c T (S m))))).

(** Where none fails, the event of the paper holds along every run. *)
Theorem not_bad_event y h s :
  bad y = false -> run K d T c y h s -> (length h <= T)%nat -> event K d T c mu h.
Proof.
  intros Hgood Hr Hlen later before E Hne Hl a j Ha Hj.
  destruct (run_before K d T c y h s Hr later before E) as (s' & Hb).
  pose proof (count_pos K d T c y before s' a Hb Hl Ha) as H1.
  pose proof (count_le_length before a) as H2.
  assert (length before < length h)%nat.
  { rewrite E, app_length. destruct later; [easy|simpl; lia]. }
  unfold bad in Hgood. apply some_false with (i := a) in Hgood; [|easy].
  apply some_false with (i := j) in Hgood; [|easy].
  apply some_false with (i := (count before a - 1)%nat) in Hgood; [|lia].
  replace (S (count before a - 1)) with (count before a) in Hgood by lia.
  unfold misses in Hgood. rewrite (mean_is_average y) by (now apply (run_reads K d T c y before s')).
  unfold beta. destruct (Rlt_dec _ _); [discriminate|]. lra.
Qed.

Lemma INR_T_pos : 0 < INR T.
Proof. apply lt_0_INR. lia. Qed.

Lemma tail_at_radius a j n : (a < K)%nat -> (j < d)%nat -> (1 <= n <= T)%nat ->
  Pr D (fun x => misses mu (Y x) a j n (radius c T n)) <= 2 * Rpower (INR T) (- 2 * c).
Proof.
  intros Ha Hj Hn. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  pose proof (ln_INR_nonneg T ltac:(lia)) as Hlog.
  eapply Rle_trans; [apply tail; auto; unfold radius; apply sqrt_pos|].
  right. f_equal. unfold Rpower. f_equal. unfold radius. rewrite pow2_sqrt.
  - field. lra.
  - apply Rmult_le_pos; [now apply Rmult_le_pos|apply Rlt_le, Rinv_0_lt_compat; lra].
Qed.

(** Proposition 8 for radius [sqrt (c log T / N)]: the union over arms, objectives and
    counts. *)
Theorem proposition_8_general :
  Pr D (fun x => bad (Y x)) <= 2 * INR K * INR d * INR T * Rpower (INR T) (- 2 * c).
Proof.
  set (r := 2 * Rpower (INR T) (- 2 * c)).
  replace (2 * INR K * INR d * INR T * Rpower (INR T) (- 2 * c))
    with (INR K * (INR d * (INR T * r))) by (unfold r; ring).
  unfold bad. rewrite <- sum_const.
  eapply Rle_trans; [apply (union_bound D K (fun a x => some d (fun j => some T (fun m =>
    misses mu (Y x) a j (S m) (radius c T (S m))))) HD)|].
  apply sum_le. intros a Ha. rewrite <- sum_const.
  eapply Rle_trans; [apply (union_bound D d (fun j x => some T (fun m =>
    misses mu (Y x) a j (S m) (radius c T (S m)))) HD)|].
  apply sum_le. intros j Hj. rewrite <- sum_const.
  eapply Rle_trans; [apply (union_bound D T (fun m x =>
    misses mu (Y x) a j (S m) (radius c T (S m))) HD)|].
  apply sum_le. intros m Hm. apply tail_at_radius; auto; lia.
Qed.

(** *** The policy *)

Variable h : X -> history.
Hypothesis plays : forall p, In p D ->
  exists s, run K d T c (Y (snd p)) (h (snd p)) s /\ length (h (snd p)) = T.

(** Corollary 6: an event that needs a stored arm outside the Pareto set is as rare. *)
Theorem corollary_6_general (wrong : X -> bool) :
  (forall p, In p D -> wrong (snd p) = true ->
     exists a, run K d T c (Y (snd p)) (h (snd p)) (Some a) /\ ~ pareto_optimal K d mu a) ->
  Pr D wrong <= 2 * INR K * INR d * INR T * Rpower (INR T) (- 2 * c).
Proof.
  intros Hwrong. eapply Rle_trans; [|apply proposition_8_general].
  apply Pr_le; [easy|]. intros p Hp Hw.
  destruct (Hwrong p Hp Hw) as (a & Hr & Hnot). destruct (plays p Hp) as (_ & _ & Hlen).
  destruct (bad (Y (snd p))) eqn:Eb; [reflexivity|]. exfalso. apply Hnot.
  apply (corollary_6_on_event K d T c mu (Y (snd p)) (h (snd p)) a Hr).
  apply (not_bad_event _ _ _ Eb Hr). lia.
Qed.

(** Whatever holds on the event holds in expectation, with a tail. *)
Lemma expectation_of_pathwise B : 0 <= B ->
  (forall p s, In p D -> run K d T c (Y (snd p)) (h (snd p)) s ->
     event K d T c mu (h (snd p)) -> regret K d mu (h (snd p)) <= B) ->
  E D (fun x => regret K d mu (h x))
  <= B + 2 * INR K * INR d * gap_max K d mu * Rpower (INR T) (2 - 2 * c).
Proof.
  intros HB Hpath. set (G := gap_max K d mu).
  assert (HG : 0 <= G) by (apply gap_max_nonneg; lia).
  pose proof INR_T_pos as HTpos.
  apply Rle_trans with (E D (fun x => B + (INR T * G) * (if bad (Y x) then 1 else 0))).
  - apply E_le; [easy|]. intros p Hp. destruct (plays p Hp) as (s & Hr & Hlen).
    assert (Hall : regret K d mu (h (snd p)) <= INR T * G).
    { rewrite <- Hlen. apply regret_le_all; [lia|].
      now apply (run_below K d T c (Y (snd p)) (h (snd p)) s). }
    destruct (bad (Y (snd p))) eqn:Eb; [lra|].
    assert (event K d T c mu (h (snd p))) by (apply (not_bad_event _ _ _ Eb Hr); lia).
    specialize (Hpath p s Hp Hr H). lra.
  - rewrite (E_plus D (fun _ => B)), E_const by easy.
    rewrite (E_scale D (INR T * G) (fun x => if bad (Y x) then 1 else 0)).
    apply Rplus_le_compat_l. pose proof proposition_8_general as H8. unfold Pr in H8.
    apply Rle_trans with (INR T * G * (2 * INR K * INR d * INR T * Rpower (INR T) (- 2 * c))).
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy].
    + right. replace (2 - 2 * c) with (1 + 1 + - 2 * c) by ring.
      rewrite !Rpower_plus, Rpower_1 by easy. ring.
Qed.

Lemma middle_nonneg M : (forall a, (a < K)%nat -> gap K d mu a <= M a) ->
  0 <= INR K * gap_max K d mu + 16 * c * ln (INR T) * sum K (fun a => gap K d mu a / M a ^ 2).
Proof.
  intros HM. pose proof (gap_max_nonneg K d mu ltac:(lia)). pose proof (pos_INR K).
  pose proof (ln_INR_nonneg T ltac:(lia)).
  apply Rplus_le_le_0_compat; [now apply Rmult_le_pos|].
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|].
  apply sum_nonneg. intros a Ha. specialize (HM a Ha).
  destruct (gap_nonneg K d mu a) as [Hg|Hg].
  - apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat, pow_lt. lra.
  - rewrite <- Hg. unfold Rdiv. rewrite Rmult_0_l. lra.
Qed.

Theorem sharper_bound_general :
  E D (fun x => regret K d mu (h x)) <= INR K * gap_max K d mu
    + 16 * c * ln (INR T)
      * sum K (fun a => gap K d mu a / Rmax (gap K d mu a) (g_dagger K d mu) ^ 2)
    + 2 * INR K * INR d * gap_max K d mu * Rpower (INR T) (2 - 2 * c).
Proof.
  apply expectation_of_pathwise.
  - apply middle_nonneg. intros. apply Rmax_l.
  - intros p s _ Hr Hev. now apply (sharper_bound K d T c mu (Y (snd p)) HK Hd HT Hc _ s).
Qed.

Theorem deficit_bound_general :
  E D (fun x => regret K d mu (h x)) <= INR K * gap_max K d mu
    + 16 * c * ln (INR T)
      * sum K (fun a => gap K d mu a / Rmax (least_deficit K d mu a) (g_dagger K d mu) ^ 2)
    + 2 * INR K * INR d * gap_max K d mu * Rpower (INR T) (2 - 2 * c).
Proof.
  apply expectation_of_pathwise.
  - apply middle_nonneg. intros a Ha.
    eapply Rle_trans; [apply gap_le_least_deficit; auto; lia|apply Rmax_l].
  - intros p s _ Hr Hev. now apply (deficit_bound K d T c mu (Y (snd p)) HK Hd HT Hc _ s).
Qed.

End FromTail.

(** ** Rewards with finitely many values: nothing is assumed *)

(** Arm [a] pays independent draws of [nu a], vectors with finitely many values in
    [[0,1]^d]; the objectives may depend on each other. A table holds [T] draws of every arm. *)
Section FiniteRewards.

Variables (K d T : nat) (nu : nat -> law vector).

Definition nothing : vector := fun _ => 0.

Definition tables : law table :=
  product (fun _ => nothing) K (fun a => product nothing T (fun _ => nu a)).

(** The means of the instance. *)
Definition means (a j : nat) : R := E (nu a) (fun y => y j).

Local Notation gap := (gap K d means).
Local Notation gap_max := (gap_max K d means).
Local Notation g := (g_dagger K d means).

Definition bounded_rewards : Prop :=
  forall a, (a < K)%nat ->
    is_law (nu a) /\ forall p j, In p (nu a) -> (j < d)%nat -> 0 <= snd p j <= 1.

(** A play: a law of pairs of a table and a history, whose tables are those of the model and
    whose histories are runs of Algorithm 1 of length [T]. Ties may be broken in any way, with
    coins or without. *)
Definition play (D : law (table * history)) : Prop :=
  is_law D /\ (forall f, E D (fun x => f (fst x)) = E tables f) /\
  (forall p, In p D ->
     exists s, run K d T 2 (fst (snd p)) (snd (snd p)) s /\ length (snd (snd p)) = T).

Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat)
  (Hnu : bounded_rewards).

Lemma tables_is_law : is_law tables.
Proof.
  apply product_is_law. intros a Ha. apply product_is_law. intros _ _. now apply Hnu.
Qed.

(** Hoeffding's inequality for the tables. *)
Theorem tables_tail a j n eps :
  (a < K)%nat -> (j < d)%nat -> (1 <= n <= T)%nat -> 0 <= eps ->
  Pr tables (fun y => misses means y a j n eps) <= 2 * exp (- 2 * INR n * eps ^ 2).
Proof.
  intros Ha Hj Hn Heps. destruct (Hnu a Ha) as [Hlaw Hsup].
  unfold Pr, tables, misses, average. eapply Rle_trans.
  - right. apply (E_coordinate (fun _ : nat => nothing) K
      (fun a => product nothing T (fun _ => nu a)) a
      (fun y => if (if Rlt_dec eps (Rabs (sum n (fun m => y m j) / INR n - means a j))
                    then true else false) then 1 else 0)); [|easy].
    intros i Hi. apply product_is_law. intros _ _. now apply Hnu.
  - apply (hoeffding nothing (nu a) T n Hlaw Hn (fun y => y j) eps); [|easy].
    intros q Hq. now apply Hsup.
Qed.

Lemma play_tail D : play D -> forall a j n eps,
  (a < K)%nat -> (j < d)%nat -> (1 <= n <= T)%nat -> 0 <= eps ->
  Pr D (fun x => misses means (fst x) a j n eps) <= 2 * exp (- 2 * INR n * eps ^ 2).
Proof.
  intros (_ & Hmarg & _) a j n eps Ha Hj Hn Heps. unfold Pr.
  rewrite (Hmarg (fun y => if misses means y a j n eps then 1 else 0)).
  now apply tables_tail.
Qed.

Lemma T_power : INR T * Rpower (INR T) (- 2 * 2) = / INR T ^ 3.
Proof.
  assert (0 < INR T) by (apply lt_0_INR; lia).
  rewrite <- (Rpower_1 (INR T)) at 1 by easy. rewrite <- Rpower_plus.
  replace (1 + - 2 * 2) with (- INR 3) by (simpl; ring).
  rewrite Rpower_Ropp, Rpower_pow by easy. reflexivity.
Qed.

(** Proposition 8. *)
Theorem proposition_8 : Pr tables (fun y => bad K d T 2 means y) <= 2 * INR K * INR d / INR T ^ 3.
Proof.
  eapply Rle_trans.
  - apply (proposition_8_general tables (fun y => y) K d T 2 means HK Hd HT ltac:(lra) tables_is_law).
    intros. now apply tables_tail.
  - right. rewrite Rmult_assoc, T_power. unfold Rdiv. ring.
Qed.

(** Corollary 6. *)
Theorem corollary_6 D (wrong : table * history -> bool) : play D ->
  (forall p, In p D -> wrong (snd p) = true ->
     exists a, run K d T 2 (fst (snd p)) (snd (snd p)) (Some a) /\ ~ pareto_optimal K d means a) ->
  Pr D wrong <= 2 * INR K * INR d / INR T ^ 3.
Proof.
  intros HD Hwrong. pose proof (play_tail D HD) as Htail. destruct HD as (Hlaw & _ & Hplay).
  eapply Rle_trans.
  - apply (corollary_6_general D fst K d T 2 means HK Hd HT ltac:(lra) Hlaw Htail snd Hplay wrong Hwrong).
  - right. rewrite Rmult_assoc, T_power. unfold Rdiv. ring.
Qed.

Lemma T_power_2 : Rpower (INR T) (2 - 2 * 2) = / INR T ^ 2.
Proof.
  assert (0 < INR T) by (apply lt_0_INR; lia).
  replace (2 - 2 * 2) with (- INR 2) by (simpl; ring).
  now rewrite Rpower_Ropp, Rpower_pow.
Qed.

(** The sharper bound in expectation, for every [g >= 0]. *)
Theorem expected_sharper D : play D ->
  E D (fun x => regret K d means (snd x)) <= INR K * gap_max
    + 32 * ln (INR T) * sum K (fun a => gap a / Rmax (gap a) g ^ 2)
    + 2 * INR K * INR d * gap_max / INR T ^ 2.
Proof.
  intros HD. pose proof (play_tail D HD) as Htail. destruct HD as (Hlaw & _ & Hplay).
  replace 32 with (16 * 2) by lra. unfold Rdiv at 2. rewrite <- T_power_2.
  apply (sharper_bound_general D fst K d T 2 means HK Hd HT ltac:(lra) Hlaw Htail snd Hplay).
Qed.

(** The same, counted by deficits. *)
Theorem expected_deficits D : play D ->
  E D (fun x => regret K d means (snd x)) <= INR K * gap_max
    + 32 * ln (INR T) * sum K (fun a => gap a / Rmax (least_deficit K d means a) g ^ 2)
    + 2 * INR K * INR d * gap_max / INR T ^ 2.
Proof.
  intros HD. pose proof (play_tail D HD) as Htail. destruct HD as (Hlaw & _ & Hplay).
  replace 32 with (16 * 2) by lra. unfold Rdiv at 2. rewrite <- T_power_2.
  apply (deficit_bound_general D fst K d T 2 means HK Hd HT ltac:(lra) Hlaw Htail snd Hplay).
Qed.

(** Theorem 4. *)
Theorem theorem_4 D : play D -> 0 < g ->
  E D (fun x => regret K d means (snd x))
  <= INR K * gap_max + 64 * (INR K * ln (INR T) / g) + 2 * INR K * INR d * gap_max / INR T ^ 2.
Proof.
  intros HD Hg. pose proof (play_tail D HD) as Htail. destruct HD as (Hlaw & _ & Hplay).
  unfold Rdiv at 2. rewrite <- T_power_2.
  apply (expectation_of_pathwise D fst K d T 2 means HK Hd HT ltac:(lra) Hlaw Htail snd Hplay).
  - pose proof (gap_max_nonneg K d means ltac:(lia)). pose proof (pos_INR K).
    pose proof (ln_INR_nonneg T ltac:(lia)).
    apply Rplus_le_le_0_compat; [now apply Rmult_le_pos|].
    apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [now apply Rmult_le_pos|].
    apply Rlt_le, Rinv_0_lt_compat. lra.
  - intros p s _ Hr Hev. now apply (pathwise_theorem_4 K d T means (fst (snd p)) (snd (snd p)) s).
Qed.

(** There is a play: the hypotheses can be met. *)
Theorem play_exists : exists D, play D.
Proof.
  assert (H : forall L : law table, exists D : law (table * history),
            (forall f, E D (fun x => f (fst x)) = E L f) /\
            ((forall p, In p L -> 0 <= fst p) -> forall p, In p D -> 0 <= fst p) /\
            (forall p, In p D ->
              exists s, run K d T 2 (fst (snd p)) (snd (snd p)) s /\ length (snd (snd p)) = T)).
  { induction L as [|[w y] L (D & H1 & H2 & H3)].
    - exists []. repeat split; intros; easy.
    - destruct (run_exists K d T 2 y T) as (h & s & Hr & Hl); try lia.
      exists ((w, (y, h)) :: D). repeat split.
      + intros f. simpl. now rewrite H1.
      + intros Hw p [<-|Hp]; [apply (Hw (w, y)); now left|].
        apply H2; [|easy]. intros q Hq. apply Hw. now right.
      + intros p [<-|Hp]; [now exists s|now apply H3]. }
  destruct (H tables) as (D & H1 & H2 & H3). destruct tables_is_law as [Hw Hone].
  exists D. repeat split; auto. now rewrite (H1 (fun _ => 1)).
Qed.

End FiniteRewards.

(** ** Bernoulli instances *)

Definition coin_law (p : R) : law R := [(p, 1); (1 - p, 0)].

(** Independent coins, one per objective. *)
Definition bernoulli (d : nat) (mu : nat -> vector) (a : nat) : law vector :=
  product 0 d (fun j => coin_law (mu a j)).

Section Bernoulli.

Variables (K d T : nat) (mu : nat -> vector).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat)
  (Hmu : forall a j, (a < K)%nat -> (j < d)%nat -> 0 <= mu a j <= 1).

Lemma coin_is_law p : 0 <= p <= 1 -> is_law (coin_law p).
Proof.
  intros Hp. split; [|simpl; lra]. intros q [<-|[<-|[]]]; simpl; lra.
Qed.

Lemma bernoulli_bounded : bounded_rewards K d (bernoulli d mu).
Proof.
  intros a Ha. split.
  - apply product_is_law. intros j Hj. now apply coin_is_law, Hmu.
  - intros p j Hp Hj.
    apply (product_support 0 d (fun j => coin_law (mu a j)) (fun _ x => 0 <= x <= 1)); auto.
    intros i q _ [<-|[<-|[]]]; simpl; lra.
Qed.

Lemma bernoulli_means a j : (a < K)%nat -> (j < d)%nat -> means (bernoulli d mu) a j = mu a j.
Proof.
  intros Ha Hj. unfold means, bernoulli. rewrite (E_coordinate 0 d _ j (fun x => x)).
  - simpl. ring.
  - intros i Hi. now apply coin_is_law, Hmu.
  - easy.
Qed.

(** Theorem 4 for independent Bernoulli rewards with any means in [0, 1]. *)
Theorem theorem_4_bernoulli D :
  play K d T (bernoulli d mu) D -> 0 < g_dagger K d mu ->
  E D (fun x => regret K d mu (snd x))
  <= INR K * gap_max K d mu + 64 * (INR K * ln (INR T) / g_dagger K d mu)
     + 2 * INR K * INR d * gap_max K d mu / INR T ^ 2.
Proof.
  intros HD Hg. set (m := means (bernoulli d mu)).
  assert (Em : forall a j, (a < K)%nat -> (j < d)%nat -> m a j = mu a j)
    by (intros; now apply bernoulli_means).
  rewrite <- (g_dagger_ext K d m mu), <- (gap_max_ext K d m mu) in * by (auto; lia).
  rewrite (E_ext D _ (fun x => regret K d m (snd x))).
  - now apply theorem_4; auto using bernoulli_bounded.
  - intros p Hp. destruct HD as (_ & _ & Hplay). destruct (Hplay p Hp) as (s & Hr & _).
    symmetry. apply regret_ext; [exact Em|]. now apply (run_below K d T 2 _ _ s Hd Hr).
Qed.

(** And there is a play of every such instance. *)
Theorem bernoulli_play_exists : exists D, play K d T (bernoulli d mu) D.
Proof. apply play_exists; auto using bernoulli_bounded. Qed.

End Bernoulli.

(** The hypotheses of Theorem 4 can be met: the instance of Proposition 3 with two arms, one
    objective and three rounds has a lead, and it has a play. *)
Theorem theorem_4_not_empty :
  exists mu D, (forall a j, 0 <= mu a j <= 1) /\ 0 < g_dagger 2 1 mu /\
    play 2 1 3 (bernoulli 1 mu) D.
Proof.
  assert (Hmu : forall a j, 0 <= duplicated (1 / 4) a j <= 1)
    by (intros a j; unfold duplicated; destruct (a =? 0)%nat; lra).
  destruct (bernoulli_play_exists 2 1 3 (duplicated (1 / 4))) as (D & HD); auto.
  exists (duplicated (1 / 4)), D. repeat split; try apply Hmu; try apply HD.
  rewrite duplicated_lead; try lia; lra.
Qed.
