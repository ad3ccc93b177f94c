(** Sums, maxima and minima over the first [n] natural numbers.

    Arms and objectives are numbered from 0, so the arms of an instance are the
    [a] with [a < K] and its objectives the [j] with [j < d]. *)

Require Import Reals Lra Lia Arith List.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

(** [maxb n f] is the largest of [f 0, ..., f (n-1)]; of no number it is 0. *)
Fixpoint maxb (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S O => f O
  | S m => Rmax (maxb m f) (f m)
  end.

Definition minb (n : nat) (f : nat -> R) : R := - maxb n (fun i => - f i).

Lemma maxb_ge n f i : (i < n)%nat -> f i <= maxb n f.
Proof.
  revert i; induction n as [|n IH]; intros i Hi; [lia|].
  destruct n as [|n].
  - replace i with O by lia. simpl. lra.
  - change (maxb (S (S n)) f) with (Rmax (maxb (S n) f) (f (S n))).
    destruct (Nat.eq_dec i (S n)) as [->|Hne].
    + apply Rmax_r.
    + eapply Rle_trans; [apply IH; lia|apply Rmax_l].
Qed.

Lemma maxb_attained n f : (0 < n)%nat -> exists i, (i < n)%nat /\ maxb n f = f i.
Proof.
  induction n as [|n IH]; intros Hn; [lia|].
  destruct n as [|n].
  - exists O. split; [lia|reflexivity].
  - destruct IH as (i & Hi & E); [lia|].
    change (maxb (S (S n)) f) with (Rmax (maxb (S n) f) (f (S n))).
    destruct (Rle_dec (maxb (S n) f) (f (S n))).
    + exists (S n). split; [lia|]. now apply Rmax_right.
    + exists i. split; [lia|]. rewrite <- E. apply Rmax_left. lra.
Qed.

Lemma maxb_lub n f x : (0 < n)%nat -> (forall i, (i < n)%nat -> f i <= x) -> maxb n f <= x.
Proof.
  intros Hn H. destruct (maxb_attained n f Hn) as (i & Hi & ->). auto.
Qed.

Lemma maxb_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> maxb n f = maxb n g.
Proof.
  induction n as [|n IH]; intros H; [reflexivity|].
  destruct n as [|n]; [apply H; lia|].
  change (Rmax (maxb (S n) f) (f (S n)) = Rmax (maxb (S n) g) (g (S n))).
  rewrite IH, H; auto with arith; intros; apply H; lia.
Qed.

Lemma minb_le n f i : (i < n)%nat -> minb n f <= f i.
Proof. intros Hi. pose proof (maxb_ge n (fun i => - f i) i Hi). unfold minb. simpl in *. lra. Qed.

Lemma minb_attained n f : (0 < n)%nat -> exists i, (i < n)%nat /\ minb n f = f i.
Proof.
  intros Hn. destruct (maxb_attained n (fun i => - f i) Hn) as (i & Hi & E).
  exists i. split; [easy|]. unfold minb. rewrite E. lra.
Qed.

Lemma minb_glb n f x : (0 < n)%nat -> (forall i, (i < n)%nat -> x <= f i) -> x <= minb n f.
Proof.
  intros Hn H. destruct (minb_attained n f Hn) as (i & Hi & ->). auto.
Qed.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros H; simpl; [reflexivity|].
  rewrite IH, H; auto with arith; intros; apply H; lia.
Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intros H; simpl; [lra|].
  apply Rplus_le_compat; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_scale n x f : sum n (fun i => x * f i) = x * sum n f.
Proof. induction n as [|n IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_const n x : sum n (fun _ => x) = INR n * x.
Proof. induction n as [|n IH]; [simpl; lra|]. rewrite S_INR. simpl sum. rewrite IH. lra. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof.
  intros H. replace 0 with (sum n (fun _ => 0)) by (rewrite sum_const; lra).
  now apply sum_le.
Qed.

Lemma sum_ge_term n f i :
  (forall k, (k < n)%nat -> 0 <= f k) -> (i < n)%nat -> f i <= sum n f.
Proof.
  induction n as [|n IH]; intros H Hi; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [->|Hne].
  - assert (0 <= sum n f) by (apply sum_nonneg; intros; apply H; lia). lra.
  - assert (f i <= sum n f) by (apply IH; [intros; apply H; lia|lia]).
    assert (0 <= f n) by (apply H; lia). lra.
Qed.

(** Adding [x] to one term. *)
Lemma sum_bump n f g i x :
  (i < n)%nat -> g i = f i + x -> (forall k, (k < n)%nat -> k <> i -> g k = f k) ->
  sum n g = sum n f + x.
Proof.
  intros Hi E H. induction n as [|n IH]; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [->|Hne].
  - rewrite E, (sum_ext n g f); [lra|]. intros k Hk. apply H; lia.
  - rewrite IH, (H n); [lra| | |lia|]; try lia. intros k Hk. apply H; lia.
Qed.

(** A finite search: either every number below [n] has a property, or we can name an exception. *)
Lemma search (P : nat -> Prop) (dec : forall i, {P i} + {~ P i}) n :
  (exists i, (i < n)%nat /\ P i) \/ (forall i, (i < n)%nat -> ~ P i).
Proof.
  induction n as [|n [(i & Hi & H)|H]].
  - right. intros; lia.
  - left. exists i. split; [lia|easy].
  - destruct (dec n) as [Hn|Hn].
    + left. exists n. split; [lia|easy].
    + right. intros i Hi. destruct (Nat.eq_dec i n) as [->|]; [easy|apply H; lia].
Qed.

Lemma ln_INR_nonneg n : (1 <= n)%nat -> 0 <= ln (INR n).
Proof.
  intros Hn. assert (H : 1 <= INR n) by (change 1 with (INR 1); now apply le_INR).
  destruct H as [H|H].
  - rewrite <- ln_1. apply Rlt_le, ln_increasing; lra.
  - rewrite <- H, ln_1. lra.
Qed.
