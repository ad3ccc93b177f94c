(** The price of an instance: the evidence [D_b(a)] is positive. *)

Require Import Reals Lra Lia Arith.
Require Import Momab.Finite Momab.Pareto Momab.Kl.
Open Scope R_scope.

Definition kl_plus (p q : R) : R := if Rlt_dec p q then kl p q else 0.

(** What a pull of [b] tells against: [b] is better than [a] on every objective. *)
Definition evidence (d : nat) (mu : nat -> vector) (b a : nat) : R :=
  sum d (fun j => kl_plus (mu b j) (mu a j)).

Lemma kl_plus_nonneg p q : 0 < p < 1 -> 0 < q < 1 -> 0 <= kl_plus p q.
Proof.
  intros Hp Hq. unfold kl_plus. destruct (Rlt_dec p q); [|lra].
  apply Rlt_le, kl_positive; lra.
Qed.

(** A paid arm is behind every free arm on some objective. *)
Lemma paid_behind_free K d mu a b :
  (b < K)%nat -> (1 <= d)%nat -> gap K d mu a = 0 -> 0 < gap K d mu b ->
  exists j, (j < d)%nat /\ mu b j < mu a j.
Proof.
  intros Hb Hd Ha Hgb.
  destruct (search (fun j => mu b j < mu a j) (fun j => Rlt_dec _ _) d) as [H|H]; [easy|].
  exfalso. destruct (gap_witness K d mu b) as (w & Hw & Hall); [lia|easy|].
  assert (gap K d mu b <= minb d (fun j => mu w j - mu a j)).
  { apply minb_glb; [lia|]. intros j Hj. specialize (H j Hj). specialize (Hall j Hj). lra. }
  pose proof (gap_ge K d mu a w Hw). lra.
Qed.

Theorem evidence_positive K d mu a b :
  (a < K)%nat -> (b < K)%nat -> (1 <= d)%nat ->
  (forall i j, (i < K)%nat -> (j < d)%nat -> 0 < mu i j < 1) ->
  gap K d mu a = 0 -> 0 < gap K d mu b -> 0 < evidence d mu b a.
Proof.
  intros Ha Hb Hd Hmu Hga Hgb.
  destruct (paid_behind_free K d mu a b Hb Hd Hga Hgb) as (j & Hj & Hlt).
  apply Rlt_le_trans with (kl_plus (mu b j) (mu a j)).
  - unfold kl_plus. destruct (Rlt_dec (mu b j) (mu a j)); [|easy].
    pose proof (Hmu a j Ha Hj). pose proof (Hmu b j Hb Hj). apply kl_positive; lra.
  - apply (sum_ge_term d (fun j => kl_plus (mu b j) (mu a j))); [|easy].
    intros k Hk. apply kl_plus_nonneg; auto.
Qed.
