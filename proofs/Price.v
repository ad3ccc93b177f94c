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

(** ** The price *)

(** What it costs, per unit of [log T], to rule out that a suboptimal arm is better than [a] on every
    objective. An optimal arm [b] adds nothing: its gap is 0. *)
Definition price_of (K d : nat) (mu : nat -> vector) (a : nat) : R :=
  sum K (fun b => gap K d mu b / evidence d mu b a).

(** [C] is the least of these over the optimal arms [a], those with gap zero. *)
Definition is_price (K d : nat) (mu : nat -> vector) (C : R) : Prop :=
  (exists a, (a < K)%nat /\ gap K d mu a = 0 /\ C = price_of K d mu a) /\
  forall a, (a < K)%nat -> gap K d mu a = 0 -> C <= price_of K d mu a.

Section PriceOf.

Variables (K d : nat) (mu : nat -> vector).
Hypotheses (HK : (1 <= K)%nat) (Hd : (1 <= d)%nat)
  (Hmu : forall i j, (i < K)%nat -> (j < d)%nat -> 0 < mu i j < 1).

Lemma price_term a b : (a < K)%nat -> (b < K)%nat -> gap K d mu a = 0 ->
  0 <= gap K d mu b / evidence d mu b a.
Proof.
  intros Ha Hb Hga. destruct (gap_nonneg K d mu b) as [Hg|Hg].
  - apply Rlt_le, Rdiv_lt_0_compat; [easy|]. now apply (evidence_positive K).
  - rewrite <- Hg. unfold Rdiv. rewrite Rmult_0_l. lra.
Qed.

Lemma price_nonneg C : is_price K d mu C -> 0 <= C.
Proof.
  intros [(a & Ha & Hga & ->) _]. apply sum_nonneg. intros b Hb. now apply price_term.
Qed.

(** There is an optimal arm, and so there is a price. *)
Theorem price_exists : exists C, is_price K d mu C.
Proof.
  assert (Hfree : exists a, (a < K)%nat /\ gap K d mu a = 0).
  { destruct (best_attained K mu 0) as (a & Ha & E); [lia|]. exists a. split; [easy|].
    apply (maximiser_gap_zero K d mu a 0); auto. unfold maximiser, deficit. lra. }
  assert (H : forall n, (n <= K)%nat ->
    (forall a, (a < n)%nat -> gap K d mu a <> 0) \/
    exists c, (c < n)%nat /\ gap K d mu c = 0 /\
      forall a, (a < n)%nat -> gap K d mu a = 0 -> price_of K d mu c <= price_of K d mu a).
  { induction n as [|n IH]; intros Hn; [left; intros; lia|].
    destruct (Req_EM_T (gap K d mu n) 0) as [Hz|Hz].
    - right. destruct (IH ltac:(lia)) as [Hnone|(c & Hc & Hgc & Hmin)].
      + exists n. repeat split; [lia|easy|]. intros a Ha Hga.
        destruct (Nat.eq_dec a n) as [->|]; [lra|]. exfalso. apply (Hnone a); [lia|easy].
      + destruct (Rle_dec (price_of K d mu c) (price_of K d mu n)).
        * exists c. repeat split; [lia|easy|]. intros a Ha Hga.
          destruct (Nat.eq_dec a n) as [->|]; [easy|]. apply Hmin; [lia|easy].
        * exists n. repeat split; [lia|easy|]. intros a Ha Hga.
          destruct (Nat.eq_dec a n) as [->|]; [lra|].
          assert (price_of K d mu c <= price_of K d mu a) by (apply Hmin; [lia|easy]). lra.
    - destruct (IH ltac:(lia)) as [Hnone|(c & Hc & Hgc & Hmin)].
      + left. intros a Ha. destruct (Nat.eq_dec a n) as [->|]; [easy|apply Hnone; lia].
      + right. exists c. repeat split; [lia|easy|]. intros a Ha Hga.
        destruct (Nat.eq_dec a n) as [->|]; [easy|]. apply Hmin; [lia|easy]. }
  destruct (H K (le_n K)) as [Hnone|(c & Hc & Hgc & Hmin)].
  - destruct Hfree as (a & Ha & Hga). exfalso. now apply (Hnone a).
  - exists (price_of K d mu c). split; [now exists c|easy].
Qed.

(** It is positive exactly if some arm is suboptimal. *)
Theorem price_positive C : is_price K d mu C ->
  (0 < C <-> exists b, (b < K)%nat /\ 0 < gap K d mu b).
Proof.
  intros [(a & Ha & Hga & ->) _]. split.
  - intros Hpos.
    destruct (search (fun b => 0 < gap K d mu b) (fun b => Rlt_dec _ _) K) as [H|Hnone]; [easy|].
    exfalso. unfold price_of in Hpos. rewrite (sum_ext K _ (fun _ => 0)), sum_const in Hpos; [lra|].
    intros b Hb. pose proof (gap_nonneg K d mu b). specialize (Hnone b Hb).
    replace (gap K d mu b) with 0 by lra. unfold Rdiv. apply Rmult_0_l.
  - intros (b & Hb & Hgb). apply Rlt_le_trans with (gap K d mu b / evidence d mu b a).
    + apply Rdiv_lt_0_compat; [easy|]. now apply (evidence_positive K).
    + apply (sum_ge_term K (fun b => gap K d mu b / evidence d mu b a)); [|easy].
      intros i Hi. now apply price_term.
Qed.

End PriceOf.
