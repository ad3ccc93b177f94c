(** Pareto IMED with the evidence [max], as a relation between a history and the next pull.

    The divergence of a mean below 1 from the mean 1 is infinite, so the evidence and the indices
    are real numbers or infinite. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Kl Momab.KlCertificates.
Import ListNotations.
Open Scope R_scope.

(** A number or infinity, which is [None]. *)
Definition extended := option R.

Definition at_most (x y : extended) : Prop :=
  match x, y with
  | _, None => True
  | None, Some _ => False
  | Some x, Some y => x <= y
  end.

(** What an empirical mean [p] says against [q]: nothing unless it is smaller. *)
Definition divergence (p q : R) : extended :=
  if Rlt_dec p q then if Rlt_dec q 1 then Some (kl p q) else None else Some 0.

Fixpoint largest (n : nat) (f : nat -> extended) : extended :=
  match n with
  | O => Some 0
  | S m => match largest m f, f m with Some x, Some y => Some (Rmax x y) | _, _ => None end
  end.

Section Rule.

Variables (K d : nat).

(** The evidence of means [p] against means [q]. *)
Definition max_evidence (p q : vector) : extended := largest d (fun j => divergence (p j) (q j)).

(** [I_b = N_b D_b(a) + log N_b]. *)
Definition index (h : history) (a b : nat) : extended :=
  match max_evidence (mean h b) (mean h a) with
  | Some x => Some (INR (count h b) * x + ln (INR (count h b)))
  | None => None
  end.

(** An arm that may be the candidate: its empirical gap is zero. Pareto IMED takes one with the
    least price; what is proved here holds for every choice. *)
Definition candidate (h : history) (a : nat) : Prop := (a < K)%nat /\ gap K d (mean h) a = 0.

(** [i] has the least index for the candidate [a]. *)
Definition imed_pulls (h : history) (a i : nat) : Prop :=
  (i < K)%nat /\ forall c, (c < K)%nat -> at_most (index h a i) (index h a c).

Inductive imed_run (Y : table) : history -> Prop :=
  | imed_start : imed_run Y []
  | imed_warm h : imed_run Y h -> (length h < K)%nat -> imed_run Y (pull Y h (length h))
  | imed_next h a i : imed_run Y h -> (K <= length h)%nat -> candidate h a -> imed_pulls h a i ->
      imed_run Y (pull Y h i).

(** ** The largest of several *)

Lemma largest_ge n f x j : largest n f = Some x -> (j < n)%nat -> at_most (f j) (Some x).
Proof.
  revert x. induction n as [|n IH]; intros x E Hj; [lia|]. simpl in E.
  destruct (largest n f) as [u|]; [|discriminate]. destruct (f n) as [v|] eqn:Ev; [|discriminate].
  injection E as <-. destruct (Nat.eq_dec j n) as [->|Hne].
  - rewrite Ev. simpl. apply Rmax_r.
  - pose proof (IH u eq_refl ltac:(lia)) as H. destruct (f j) as [w|]; [|easy]. simpl in *.
    eapply Rle_trans; [exact H|apply Rmax_l].
Qed.

Lemma largest_nonneg n f x : largest n f = Some x -> 0 <= x.
Proof.
  revert x. induction n as [|n IH]; intros x E; simpl in E; [injection E as <-; lra|].
  destruct (largest n f) as [u|]; [|discriminate]. destruct (f n) as [v|]; [|discriminate].
  injection E as <-. eapply Rle_trans; [apply (IH u eq_refl)|apply Rmax_l].
Qed.

(** It is zero or one of them. *)
Lemma largest_attained n f x : largest n f = Some x ->
  x = 0 \/ exists j, (j < n)%nat /\ f j = Some x.
Proof.
  revert x. induction n as [|n IH]; intros x E; simpl in E; [injection E as <-; now left|].
  destruct (largest n f) as [u|]; [|discriminate]. destruct (f n) as [v|] eqn:Ev; [|discriminate].
  injection E as <-. unfold Rmax. destruct (Rle_dec u v).
  - right. exists n. split; [lia|easy].
  - destruct (IH u eq_refl) as [->|(j & Hj & E)]; [now left|]. right. exists j. split; [lia|easy].
Qed.

Lemma largest_finite n f : (forall j, (j < n)%nat -> f j <> None) -> exists x, largest n f = Some x.
Proof.
  induction n as [|n IH]; intros H; [now exists 0|]. simpl.
  destruct IH as (x & ->); [intros; apply H; lia|].
  destruct (f n) as [y|] eqn:E; [now exists (Rmax x y)|]. now destruct (H n ltac:(lia)).
Qed.

(** ** What every run has in common *)

Lemma imed_reads Y h : imed_run Y h -> reads Y h.
Proof. induction 1; constructor; auto. Qed.

Lemma imed_below Y h : imed_run Y h -> arms_below K h.
Proof.
  induction 1 as [|h Hr IH Hl|h a i Hr IH Hl Hc Hi]; [intros p []| |];
    intros p [<-|Hp]; auto. apply Hi.
Qed.

Lemma imed_warm_counts Y h : imed_run Y h -> (length h <= K)%nat ->
  forall a, count h a = if (a <? length h)%nat then 1%nat else O.
Proof.
  induction 1 as [|h Hr IH Hl|h a i Hr IH Hl Hc Hi]; intros Hlen a0.
  - reflexivity.
  - unfold pull. simpl. rewrite (IH ltac:(lia)).
    destruct (Nat.eqb_spec (length h) a0), (Nat.ltb_spec a0 (length h)),
      (Nat.ltb_spec a0 (S (length h))); lia.
  - unfold pull in Hlen. simpl in Hlen. lia.
Qed.

Lemma imed_count_pos Y h a : imed_run Y h -> (K <= length h)%nat -> (a < K)%nat ->
  (1 <= count h a)%nat.
Proof.
  induction 1 as [|h Hr IH Hl|h b i Hr IH Hl Hc Hi]; intros Hlen Ha.
  - simpl in Hlen. lia.
  - pose proof (imed_warm_counts Y _ (imed_warm Y h Hr Hl)) as Hc. unfold pull in *. simpl length in *.
    rewrite Hc by lia. destruct (Nat.ltb_spec a (S (length h))); lia.
  - unfold pull. simpl count. specialize (IH Hl Ha). destruct (i =? a)%nat; lia.
Qed.

(** ** The rule *)

Section Pull.

Variables (h : history) (a i : nat).
Hypotheses (Hcount : forall c, (c < K)%nat -> (1 <= count h c)%nat)
  (Ha : (a < K)%nat) (Hi : imed_pulls h a i).

Lemma own_index : index h a a = Some (ln (INR (count h a))).
Proof.
  unfold index, max_evidence.
  assert (H : largest d (fun j => divergence (mean h a j) (mean h a j)) = Some 0).
  { induction d as [|n IH]; [reflexivity|]. simpl. rewrite IH. unfold divergence.
    destruct (Rlt_dec _ _); [lra|]. f_equal. apply Rmax_left. lra. }
  rewrite H. f_equal. ring.
Qed.

(** The pulled arm has no more pulls than the candidate, and its evidence is at most log N_a. *)
Lemma rule_candidate : exists x, max_evidence (mean h i) (mean h a) = Some x /\ 0 <= x /\
  (count h i <= count h a)%nat /\ INR (count h i) * x <= ln (INR (count h a)).
Proof.
  destruct Hi as [HiK Hleast]. specialize (Hleast a Ha). rewrite own_index in Hleast. unfold index in Hleast.
  destruct (max_evidence (mean h i) (mean h a)) as [x|] eqn:E; [|easy]. simpl in Hleast.
  exists x. pose proof (largest_nonneg d _ x E) as Hx. pose proof (Hcount i HiK) as H1.
  pose proof (ln_INR_nonneg (count h i) H1). pose proof (pos_INR (count h i)).
  assert (0 <= INR (count h i) * x) by (now apply Rmult_le_pos).
  split; [easy|]. split; [easy|]. split; [|lra]. apply INR_le, Rnot_lt_le. intros Hlt.
  assert (0 < INR (count h a)) by (apply lt_0_INR; specialize (Hcount a Ha); lia).
  apply ln_increasing in Hlt; [|easy]. lra.
Qed.

(** A finite index of another arm bounds the pulls of the pulled arm. *)
Lemma rule_other c x : (c < K)%nat -> max_evidence (mean h c) (mean h a) = Some x ->
  INR (count h i) <= INR (count h c) * exp (INR (count h c) * x).
Proof.
  intros Hc E. destruct Hi as [HiK Hleast]. specialize (Hleast c Hc). unfold index in Hleast.
  rewrite E in Hleast. destruct (max_evidence (mean h i) (mean h a)) as [y|] eqn:Ey; [|easy].
  simpl in Hleast. pose proof (largest_nonneg d _ y Ey) as Hy. pose proof (pos_INR (count h i)).
  assert (0 <= INR (count h i) * y) by (now apply Rmult_le_pos).
  assert (Hi0 : 0 < INR (count h i)) by (apply lt_0_INR; specialize (Hcount i HiK); lia).
  assert (Hc0 : 0 < INR (count h c)) by (apply lt_0_INR; specialize (Hcount c Hc); lia).
  rewrite <- (exp_ln (INR (count h i)) Hi0). rewrite <- (exp_ln (INR (count h c)) Hc0) at 1.
  rewrite <- exp_plus.
  assert (Hle : ln (INR (count h i)) <= ln (INR (count h c)) + INR (count h c) * x) by lra.
  destruct Hle as [Hle| ->]; [apply Rlt_le, exp_increasing, Hle|lra].
Qed.

End Pull.

(** ** The relation is not empty: on every table there is a run of every length *)

Lemma least_exists n (f : nat -> extended) : (0 < n)%nat ->
  exists i, (i < n)%nat /\ forall c, (c < n)%nat -> at_most (f i) (f c).
Proof.
  induction n as [|n IH]; intros Hn; [lia|]. destruct n as [|n].
  - exists O. split; [lia|]. intros c Hc. replace c with O by lia.
    destruct (f O); simpl; [lra|easy].
  - destruct IH as (i & Hi & Hleast); [lia|].
    assert (Hrefl : forall x, at_most x x) by (intros [x|]; simpl; [lra|easy]).
    assert (Hcases : at_most (f i) (f (S n)) \/ at_most (f (S n)) (f i) /\
              forall y, at_most (f i) y -> at_most (f (S n)) y).
    { destruct (f i) as [x|], (f (S n)) as [y|]; simpl; [|now left| |now left].
      - destruct (Rle_dec x y); [now left|right]. split; [lra|]. intros [z|]; simpl; [lra|easy].
      - right. split; [easy|]. intros [z|]; simpl; easy. }
    destruct Hcases as [H|[H1 H2]].
    + exists i. split; [lia|]. intros c Hc. destruct (Nat.eq_dec c (S n)) as [->|]; [easy|].
      apply Hleast. lia.
    + exists (S n). split; [lia|]. intros c Hc. destruct (Nat.eq_dec c (S n)) as [->|]; [easy|].
      apply H2, Hleast. lia.
Qed.

Theorem imed_run_exists Y n : (0 < K)%nat -> (0 < d)%nat -> exists h, imed_run Y h /\ length h = n.
Proof.
  intros HK Hd. induction n as [|n (h & Hr & Hl)]; [exists []; split; [constructor|reflexivity]|].
  destruct (le_lt_dec K n) as [Hn|Hn].
  - destruct (best_attained K (mean h) 0 HK) as (a & Ha & Ea).
    destruct (least_exists K (index h a) HK) as (i & Hi & Hleast).
    exists (pull Y h i). split; [|simpl; lia]. apply imed_next with a; [easy|lia| |now split].
    split; [easy|]. apply (maximiser_gap_zero K d (mean h) a 0); auto. unfold maximiser, deficit. lra.
  - exists (pull Y h (length h)). split; [apply imed_warm; [easy|lia]|simpl; lia].
Qed.

End Rule.
