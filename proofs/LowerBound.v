(** Proposition 3: the geometry of the duplicated instance, and the constant 3/8.

    That a uniformly good policy pulls every inferior arm often enough is the theorem
    of Lai and Robbins. It is not proved here: it is the hypothesis [lai_robbins]. *)

Require Import Reals Lra Lia Arith List.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Kl.
Open Scope R_scope.

(** Arm 0 has mean [1/2 + D] on every objective, the others [1/2]. *)
Definition duplicated (D : R) (a j : nat) : R := if (a =? 0)%nat then 1 / 2 + D else 1 / 2.

(** The limit inferior of [u] is at least [x]. *)
Definition liminf_at_least (u : nat -> R) (x : R) : Prop :=
  forall eps, 0 < eps -> exists n0, forall n, (n0 <= n)%nat -> x - eps <= u n.

Section Duplicated.

Variables (K d : nat) (D : R).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HD : 0 < D).

Local Notation mu := (duplicated D).

Lemma best_duplicated j : best K mu j = 1 / 2 + D.
Proof.
  apply Rle_antisym.
  - apply maxb_lub; [lia|]. intros a _. unfold duplicated. destruct (a =? 0)%nat; lra.
  - apply (best_ge K mu 0 j). lia.
Qed.

Theorem duplicated_gap a : (a < K)%nat -> gap K d mu a = if (a =? 0)%nat then 0 else D.
Proof.
  intros Ha. destruct (Nat.eqb_spec a 0) as [->|Hne].
  - apply (maximiser_gap_zero K d mu 0 0); try lia.
    unfold maximiser, deficit. rewrite best_duplicated. unfold duplicated. simpl. lra.
  - assert (Ea : forall j, mu a j = 1 / 2)
      by (intros; unfold duplicated; destruct (Nat.eqb_spec a 0); [lia|reflexivity]).
    apply Rle_antisym.
    + eapply Rle_trans; [apply (gap_le_deficit K d mu a 0); lia|].
      unfold deficit. rewrite best_duplicated, Ea. lra.
    + eapply Rle_trans; [|apply (gap_ge K d mu a 0); lia].
      apply minb_glb; [lia|]. intros j _. rewrite Ea. unfold duplicated. simpl. lra.
Qed.

Lemma duplicated_winner j : unique_maximiser K mu 0 j.
Proof.
  intros b Hb Hne. unfold duplicated. destruct (Nat.eqb_spec b 0); [lia|]. simpl. lra.
Qed.

Theorem duplicated_front a : (a < K)%nat -> (pareto_optimal K d mu a <-> a = O).
Proof.
  intros Ha. split.
  - intros Hopt. apply optimal_gap_zero in Hopt; try lia. rewrite duplicated_gap in Hopt by easy.
    destruct (Nat.eqb_spec a 0); [easy|lra].
  - intros ->. apply unique_maximiser_optimal with O; [lia|apply duplicated_winner].
Qed.

Theorem duplicated_lead : g_dagger K d mu = D.
Proof.
  destruct (champion K d mu) as (j & Hj & ->); [lia|].
  rewrite (lead_of_winner K mu 0 j) by (try lia; apply duplicated_winner).
  destruct (best_other_attained K mu 0 j) as (b & Hb & Hne & ->); try lia.
  unfold duplicated. destruct (Nat.eqb_spec b 0); [lia|]. simpl. lra.
Qed.

(** Pareto regret is [D] times the number of pulls of inferior arms. *)
Theorem duplicated_regret h : arms_below K h ->
  regret K d mu h = D * sum (K - 1) (fun i => INR (count h (S i))).
Proof.
  intros Hb. rewrite regret_by_counts by easy.
  assert (Hshift : forall n f, sum (S n) f = f O + sum n (fun i => f (S i))).
  { induction n as [|n IH]; intros f; [simpl; lra|].
    change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IH. simpl. lra. }
  replace K with (S (K - 1)) at 1 by lia. rewrite Hshift, duplicated_gap by lia. simpl.
  rewrite Rmult_0_l, Rplus_0_l, <- sum_scale. apply sum_ext. intros i Hi.
  rewrite duplicated_gap by lia. reflexivity.
Qed.

End Duplicated.

Lemma eventually_all (P : nat -> nat -> Prop) k :
  (forall i, (i < k)%nat -> exists n0, forall n, (n0 <= n)%nat -> P i n) ->
  exists n0, forall i n, (i < k)%nat -> (n0 <= n)%nat -> P i n.
Proof.
  induction k as [|k IH]; intros H.
  - exists O. intros; lia.
  - destruct IH as (n1 & H1); [intros; apply H; lia|].
    destruct (H k) as (n2 & H2); [lia|].
    exists (Nat.max n1 n2). intros i n Hi Hn.
    destruct (Nat.eq_dec i k) as [->|]; [apply H2; lia|apply H1; lia].
Qed.

(** [EN T a] stands for the expected number of pulls of arm [a] in [T] rounds. *)
Theorem proposition_3 (K : nat) (D : R) (EN : nat -> nat -> R) :
  (2 <= K)%nat -> 0 < D <= 1 / 4 ->
  forall lai_robbins : (forall a, (1 <= a < K)%nat ->
    liminf_at_least (fun T => EN T a / ln (INR T)) (/ kl (1 / 2) (1 / 2 + D))),
  liminf_at_least (fun T => D * sum (K - 1) (fun i => EN T (S i)) / ln (INR T))
    (3 / 8 * (INR K - 1) / D).
Proof.
  intros HK HD LR eps Heps. set (k := kl (1 / 2) (1 / 2 + D)) in *.
  assert (Hk : 0 < k) by (apply kl_positive; lra).
  assert (Hk2 : k <= 8 / 3 * D ^ 2)
    by (destruct (proposition_3_chain D HD) as (E & H1 & H2); fold k in E; lra).
  assert (HK1 : 1 <= INR K - 1) by (apply le_INR in HK; simpl in HK; lra).
  set (e := eps / (D * (INR K - 1))).
  assert (HDK : 0 < D * (INR K - 1)) by (apply Rmult_lt_0_compat; lra).
  assert (He : 0 < e) by (apply Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat]).
  destruct (eventually_all (fun i n => / k - e <= EN n (S i) / ln (INR n)) (K - 1)) as (n0 & Hn0).
  { intros i Hi. apply (LR (S i)); [lia|easy]. }
  exists n0. intros n Hn.
  replace (D * sum (K - 1) (fun i => EN n (S i)) / ln (INR n))
    with (D * sum (K - 1) (fun i => EN n (S i) / ln (INR n))).
  2:{ unfold Rdiv. rewrite Rmult_assoc. f_equal.
      rewrite (Rmult_comm (sum _ _)), <- sum_scale. apply sum_ext. intros. ring. }
  apply Rle_trans with (D * sum (K - 1) (fun _ => / k - e)).
  2:{ apply Rmult_le_compat_l; [lra|]. apply sum_le. intros i Hi. now apply Hn0. }
  rewrite sum_const, minus_INR by lia. simpl INR.
  assert (HD3 : 3 / 8 / D <= D * / k).
  { apply Rmult_le_reg_r with (k * D); [apply Rmult_lt_0_compat; lra|].
    replace (3 / 8 / D * (k * D)) with (3 / 8 * k) by (field; lra).
    replace (D * / k * (k * D)) with (D ^ 2) by (field; lra). lra. }
  replace (D * ((INR K - 1) * (/ k - e))) with ((INR K - 1) * (D * / k) - eps)
    by (unfold e; field; lra).
  replace (3 / 8 * (INR K - 1) / D) with ((INR K - 1) * (3 / 8 / D)) by (field; lra).
  apply Rplus_le_compat_r. apply Rmult_le_compat_l; lra.
Qed.
