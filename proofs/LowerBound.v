(** The instance of Proposition 3: one good arm, and the same means on every objective. *)

Require Import Reals Lra Lia Arith List.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Kl.
Open Scope R_scope.

(** Arm 0 has mean [1/2 + D] on every objective, the others [1/2]. *)
Definition duplicated (D : R) (a j : nat) : R := if (a =? 0)%nat then 1 / 2 + D else 1 / 2.

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
