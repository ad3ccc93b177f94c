(** Policies that may toss coins and know the horizon, and the law of what they see. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Probability Momab.Expectation.
Import ListNotations.
Open Scope R_scope.

(** [pi T h] is the law of the next arm: it may depend on the horizon [T] and on all pulls and
    rewards so far. A deterministic policy gives one arm the weight 1. *)
Definition policy := nat -> history -> law nat.

Definition admissible (K : nat) (pi : policy) : Prop :=
  forall T h, is_law (pi T h) /\ forall q, In q (pi T h) -> (snd q < K)%nat.

(** ** The law of the history after [t] rounds *)

(** In each round an arm [a] is drawn from [choose h], then its rewards from [nu a]. *)
Fixpoint histories (nu : nat -> law vector) (choose : history -> law nat) (t : nat) : law history :=
  match t with
  | O => [(1, [])]
  | S t => bind (histories nu choose t)
             (fun h => bind (choose h) (fun a => image (fun x => (a, x) :: h) (nu a)))
  end.

Definition outcomes (nu : nat -> law vector) (pi : policy) (T : nat) : law history :=
  histories nu (pi T) T.

(** A policy is uniformly good on a class of instances if on each of them its expected regret is
    less than every positive power of [T], up to a factor that tends to zero. *)
Definition uniformly_good (K d : nat) (class : (nat -> law vector) -> Prop) (pi : policy) : Prop :=
  forall nu, class nu -> forall alpha eps, 0 < alpha -> 0 < eps ->
  exists n0, forall T, (n0 <= T)%nat ->
    E (outcomes nu pi T) (regret K d (means nu)) <= eps * Rpower (INR T) alpha.

(** The limit inferior of [u] is at least [x]. *)
Definition liminf_at_least (u : nat -> R) (x : R) : Prop :=
  forall eps, 0 < eps -> exists n0, forall n, (n0 <= n)%nat -> x - eps <= u n.

(** ** What all histories have in common *)

Section Histories.

Variables (nu : nat -> law vector) (choose : history -> law nat).

Lemma E_step t f : E (histories nu choose (S t)) f
  = E (histories nu choose t) (fun h => E (choose h) (fun a => E (nu a) (fun x => f ((a, x) :: h)))).
Proof.
  simpl. rewrite E_bind. apply E_ext. intros p _. rewrite E_bind. apply E_ext. intros q _.
  apply E_image.
Qed.

Lemma histories_step t p : In p (histories nu choose (S t)) ->
  exists q r u, In q (histories nu choose t) /\ In r (choose (snd q)) /\ In u (nu (snd r)) /\
    p = (fst q * (fst r * fst u), (snd r, snd u) :: snd q).
Proof.
  simpl. unfold bind. rewrite in_flat_map. intros (q & Hq & Hp). unfold scaled in Hp.
  apply in_map_iff in Hp. destruct Hp as (r & <- & Hr). apply in_flat_map in Hr.
  destruct Hr as (u & Hu & Hr). apply in_map_iff in Hr. destruct Hr as (z & <- & Hz).
  unfold image in Hz. apply in_map_iff in Hz. destruct Hz as (y & <- & Hy). now exists q, u, y.
Qed.

Variable K : nat.
Hypotheses (Hchoose : forall h, is_law (choose h) /\ forall q, In q (choose h) -> (snd q < K)%nat)
  (Hnu : forall a, (a < K)%nat -> is_law (nu a)).

Lemma histories_shape t p : In p (histories nu choose t) ->
  length (snd p) = t /\ arms_below K (snd p).
Proof.
  revert p. induction t as [|t IH]; intros p Hp.
  - destruct Hp as [<-|[]]. split; [reflexivity|intros q []].
  - destruct (histories_step t p Hp) as (q & r & u & Hq & Hr & _ & ->).
    destruct (IH q Hq) as [Hl Hb]. split; [simpl; now rewrite Hl|].
    intros k [<-|Hk]; [now apply (proj2 (Hchoose (snd q)))|now apply Hb].
Qed.

Lemma histories_is_law t : is_law (histories nu choose t).
Proof.
  induction t as [|t IH]; [split; [intros p [<-|[]]; simpl; lra|simpl; lra]|]. split.
  - intros p Hp. destruct (histories_step t p Hp) as (q & r & u & Hq & Hr & Hu & ->). simpl.
    assert (Ha : (snd r < K)%nat) by (now apply (proj2 (Hchoose (snd q)))).
    repeat apply Rmult_le_pos; [now apply IH|now apply (Hchoose (snd q))|now apply (Hnu (snd r))].
  - rewrite E_step, (E_ext _ _ (fun _ => 1)); [apply IH|]. intros p _.
    rewrite (E_ext _ _ (fun _ => 1)); [apply Hchoose|]. intros q Hq.
    apply Hnu. now apply (proj2 (Hchoose (snd p))).
Qed.

End Histories.

Lemma outcomes_shape nu pi K T p : admissible K pi -> In p (outcomes nu pi T) ->
  length (snd p) = T /\ arms_below K (snd p).
Proof. intros Hpi. apply (histories_shape nu (pi T) K). apply Hpi. Qed.

Lemma outcomes_is_law nu pi K T : admissible K pi -> (forall a, (a < K)%nat -> is_law (nu a)) ->
  is_law (outcomes nu pi T).
Proof. intros Hpi Hnu. apply (histories_is_law nu (pi T) K); [apply Hpi|exact Hnu]. Qed.

Lemma regret_nonneg K d mu h : 0 <= regret K d mu h.
Proof.
  induction h as [|p h IH]; unfold regret in *; simpl; [lra|].
  pose proof (gap_nonneg K d mu (fst p)). lra.
Qed.

(** The pulls add up. *)
Lemma counts_add_up K h : arms_below K h -> sum K (fun a => INR (count h a)) = INR (length h).
Proof.
  intros Hb. pose proof (cost_by_counts K (fun _ => 1) h Hb) as H.
  rewrite (sum_ext K _ (fun a => 1 * INR (count h a))) by (intros; ring). rewrite <- H. clear.
  induction h as [|p h IH]; [reflexivity|]. cbn [fold_right length]. rewrite S_INR, IH. ring.
Qed.

(** ** What is large for large [T] *)

Lemma INR_large c : exists n0, forall T, (n0 <= T)%nat -> c <= INR T.
Proof.
  destruct (archimed (Rmax 0 c)) as [H _]. pose proof (Rmax_l 0 c). pose proof (Rmax_r 0 c).
  assert (0 <= up (Rmax 0 c))%Z by (apply le_IZR; lra).
  exists (Z.to_nat (up (Rmax 0 c))). intros T HT. apply le_INR in HT.
  rewrite INR_IZR_INZ, Z2Nat.id in HT by easy. lra.
Qed.

Lemma ln_large c : exists n0, forall T, (n0 <= T)%nat -> c <= ln (INR T).
Proof.
  destruct (INR_large (1 + exp c)) as (n0 & H). exists n0. intros T HT. specialize (H T HT).
  rewrite <- (ln_exp c). apply Rlt_le, ln_increasing; [apply exp_pos|lra].
Qed.

Lemma ln_le_power x s : 0 < x -> 0 < s -> ln x <= / s * Rpower x s.
Proof.
  intros Hx Hs. apply Rmult_le_reg_l with s; [easy|].
  replace (s * (/ s * Rpower x s)) with (Rpower x s) by (field; lra).
  unfold Rpower. pose proof (exp_ineq1_le (s * ln x)). lra.
Qed.

Lemma Rpower_large s c : 0 < s -> exists n0, forall T, (n0 <= T)%nat -> c <= Rpower (INR T) s.
Proof.
  intros Hs. destruct (ln_large (c / s)) as (n0 & H). exists n0. intros T HT. specialize (H T HT).
  unfold Rpower. pose proof (exp_ineq1_le (s * ln (INR T))).
  assert (c = s * (c / s)) by (field; lra).
  assert (s * (c / s) <= s * ln (INR T)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** Every multiple of [log T], and every constant, is below every power of [T]. *)
Lemma ln_below_power c s eps : 0 < s -> 0 < eps ->
  exists n0, forall T, (n0 <= T)%nat -> c * ln (INR T) <= eps * Rpower (INR T) s.
Proof.
  intros Hs Heps. destruct (Rpower_large (s / 2) (Rmax 0 c * (2 / s) / eps)) as (n1 & H1); [lra|].
  destruct (ln_large 1) as (n2 & H2). exists (Nat.max n1 (Nat.max 1 n2)). intros T HT.
  assert (HTpos : 0 < INR T) by (apply lt_0_INR; lia).
  specialize (H1 T ltac:(lia)). specialize (H2 T ltac:(lia)).
  pose proof (ln_le_power (INR T) (s / 2) HTpos ltac:(lra)) as Hl.
  replace (/ (s / 2)) with (2 / s) in Hl by (field; lra).
  pose proof (Rmax_l 0 c). pose proof (Rmax_r 0 c).
  set (P := Rpower (INR T) (s / 2)) in *. assert (HP : 0 < P) by apply exp_pos.
  replace (Rpower (INR T) s) with (P * P).
  2:{ unfold P. rewrite <- Rpower_plus. f_equal. field. }
  assert (Hk : Rmax 0 c * (2 / s) <= eps * P).
  { apply Rmult_le_reg_r with (/ eps); [now apply Rinv_0_lt_compat|].
    replace (eps * P * / eps) with P by (field; lra). exact H1. }
  apply Rle_trans with (Rmax 0 c * ln (INR T)); [apply Rmult_le_compat_r; lra|].
  apply Rle_trans with (Rmax 0 c * (2 / s * P)); [now apply Rmult_le_compat_l|].
  replace (Rmax 0 c * (2 / s * P)) with (Rmax 0 c * (2 / s) * P) by ring.
  replace (eps * (P * P)) with (eps * P * P) by ring. apply Rmult_le_compat_r; lra.
Qed.

(** What happens for all large [T], for each of finitely many cases, happens for all of them at
    once. *)
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
