(** The Bernoulli divergence: Pinsker's inequality, and its value at one half. *)

Require Import Reals Lra Lia.
Open Scope R_scope.

(** [kl p q = p log (p/q) + (1-p) log ((1-p)/(1-q))]; a factor 0 makes its summand 0. *)
Definition kl (p q : R) : R := p * ln (p / q) + (1 - p) * ln ((1 - p) / (1 - q)).

Lemma kl_same p : 0 <= p <= 1 -> kl p p = 0.
Proof.
  intros Hp. unfold kl.
  destruct (Req_dec p 0) as [->|H0].
  - rewrite Rmult_0_l. replace ((1 - 0) / (1 - 0)) with 1 by field. rewrite ln_1. lra.
  - destruct (Req_dec p 1) as [->|H1].
    + replace (1 / 1) with 1 by field. rewrite ln_1. lra.
    + replace (p / p) with 1 by (field; lra). replace ((1 - p) / (1 - p)) with 1 by (field; lra).
      rewrite ln_1. lra.
Qed.

(** [kl] as a function of [q], up to what depends on [p] alone. *)
Definition cross (p q : R) : R := - p * ln q - (1 - p) * ln (1 - q).

Lemma xlnx_div p q : 0 <= p -> 0 < q -> p * ln (p / q) = p * ln p - p * ln q.
Proof.
  intros Hp Hq. destruct Hp as [Hp|<-]; [|lra].
  unfold Rdiv. rewrite ln_mult, ln_Rinv; try lra. now apply Rinv_0_lt_compat.
Qed.

Lemma kl_cross p q : 0 <= p <= 1 -> 0 < q < 1 ->
  kl p q = p * ln p + (1 - p) * ln (1 - p) + cross p q.
Proof.
  intros Hp Hq. unfold kl, cross. rewrite !xlnx_div; lra.
Qed.

(** ** Pinsker's inequality *)

Lemma pinsker_derivative p q : 0 < q < 1 ->
  derivable_pt_lim (fun x => cross p x - 2 * (x - p) ^ 2) q
    ((q - p) * (/ (q * (1 - q)) - 4)).
Proof.
  intros Hq. unfold cross.
  replace ((q - p) * (/ (q * (1 - q)) - 4))
    with ((- p * / q - (1 - p) * (/ (1 - q) * (0 - 1))) - 2 * ((1 - 0) * (q - p) + (q - p) * (1 - 0)))
    by (field; lra).
  apply derivable_pt_lim_minus.
  - apply derivable_pt_lim_minus.
    + apply (derivable_pt_lim_scal ln (- p)). apply derivable_pt_lim_ln. lra.
    + apply (derivable_pt_lim_scal (fun x => ln (1 - x)) (1 - p)).
      apply (derivable_pt_lim_comp (fun x => 1 - x) ln).
      * apply (derivable_pt_lim_minus (fun _ => 1) id); [apply derivable_pt_lim_const|apply derivable_pt_lim_id].
      * apply derivable_pt_lim_ln. lra.
  - apply (derivable_pt_lim_scal (fun x => (x - p) ^ 2) 2).
    assert (Hid : derivable_pt_lim (fun x => x - p) q (1 - 0)).
    { apply (derivable_pt_lim_minus id (fun _ => p));
        [apply derivable_pt_lim_id|apply derivable_pt_lim_const]. }
    pose proof (derivable_pt_lim_mult _ _ _ _ _ Hid Hid) as Hm.
    intros eps Heps. destruct (Hm eps Heps) as (delta & Hdelta). exists delta.
    intros h0 H0 H1. specialize (Hdelta h0 H0 H1). unfold mult_fct in Hdelta.
    replace ((q + h0 - p) ^ 2) with ((q + h0 - p) * (q + h0 - p)) by ring.
    replace ((q - p) ^ 2) with ((q - p) * (q - p)) by ring. exact Hdelta.
Qed.

Lemma inv_ge_4 q : 0 < q < 1 -> 4 <= / (q * (1 - q)).
Proof.
  intros Hq. replace 4 with (/ (/ 4)) by field.
  assert (0 < q * (1 - q)) by (apply Rmult_lt_0_compat; lra).
  apply Rinv_le_contravar; [easy|]. pose proof (Rle_0_sqr (q - / 2)). unfold Rsqr in *. lra.
Qed.

(** Inside the unit interval, by the mean value theorem. *)
Lemma pinsker_inside p q : 0 < p < 1 -> 0 < q < 1 -> 2 * (p - q) ^ 2 <= kl p q.
Proof.
  intros Hp Hq. set (f := fun x => cross p x - 2 * (x - p) ^ 2).
  assert (E : f q - f p = kl p q - 2 * (p - q) ^ 2).
  { unfold f. rewrite (kl_cross p q) by lra.
    pose proof (kl_same p ltac:(lra)) as Hs. rewrite (kl_cross p p) in Hs by lra. nra. }
  assert (0 <= f q - f p); [|lra]. clear E.
  destruct (Rtotal_order p q) as [Hlt|[->|Hgt]].
  - destruct (MVT_cor2 f (fun x => (x - p) * (/ (x * (1 - x)) - 4)) p q Hlt) as (x & Ex & Hx).
    + intros x Hx. apply pinsker_derivative. lra.
    + rewrite Ex. pose proof (inv_ge_4 x ltac:(lra)).
      repeat apply Rmult_le_pos; lra.
  - lra.
  - destruct (MVT_cor2 f (fun x => (x - p) * (/ (x * (1 - x)) - 4)) q p Hgt) as (x & Ex & Hx).
    + intros x Hx. apply pinsker_derivative. lra.
    + pose proof (inv_ge_4 x ltac:(lra)).
      assert (0 <= (p - x) * (/ (x * (1 - x)) - 4) * (p - q)); [|lra].
      repeat apply Rmult_le_pos; lra.
Qed.

(** At the ends: [- log x >= 2 (1 - x)^2]. *)
Lemma minus_ln_ge x : 0 < x < 1 -> 2 * (1 - x) ^ 2 <= - ln x.
Proof.
  intros Hx. set (f := fun y => cross 1 y - 2 * (y - 1) ^ 2).
  assert (Hf : forall y, 0 < y < 1 -> f y = - ln y - 2 * (1 - y) ^ 2).
  { intros y Hy. unfold f, cross. ring. }
  apply Rnot_lt_le. intros Hlt.
  (* [f x < 0], and [f] decreases, so it stays below [f x] up to 1, where it tends to 0. *)
  assert (Hx0 : f x < 0) by (rewrite Hf; lra).
  set (y := Rmax ((1 + x) / 2) (1 - - f x / 4)).
  assert (Hy : x < y < 1).
  { unfold y. split.
    - apply Rlt_le_trans with ((1 + x) / 2); [lra|apply Rmax_l].
    - apply Rmax_lub_lt; lra. }
  destruct (MVT_cor2 f (fun z => (z - 1) * (/ (z * (1 - z)) - 4)) x y) as (z & Ez & Hz); [lra| |].
  { intros z Hz. apply pinsker_derivative. lra. }
  pose proof (inv_ge_4 z ltac:(lra)).
  assert (0 <= (1 - z) * (/ (z * (1 - z)) - 4) * (y - x))
    by (repeat apply Rmult_le_pos; lra).
  assert (Hfy : f y <= f x) by lra. rewrite (Hf y) in Hfy by lra.
  assert (Hln : ln y < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Hclose : 1 - y <= - f x / 4) by (unfold y; pose proof (Rmax_r ((1 + x) / 2) (1 - - f x / 4)); lra).
  assert ((1 - y) ^ 2 <= (1 - y) * 1) by (simpl; nra).
  lra.
Qed.

Theorem pinsker p q : 0 <= p <= 1 -> 0 < q < 1 -> 2 * (p - q) ^ 2 <= kl p q.
Proof.
  intros Hp Hq. destruct (Req_dec p 0) as [->|H0].
  - unfold kl. rewrite Rmult_0_l, Rplus_0_l, Rminus_0_r, Rmult_1_l.
    unfold Rdiv. rewrite Rmult_1_l, ln_Rinv by lra.
    pose proof (minus_ln_ge (1 - q) ltac:(lra)) as H. nra.
  - destruct (Req_dec p 1) as [->|H1].
    + unfold kl. replace (1 - 1) with 0 by ring. rewrite Rmult_0_l, Rplus_0_r, Rmult_1_l.
      unfold Rdiv. rewrite Rmult_1_l, ln_Rinv by lra. pose proof (minus_ln_ge q Hq). lra.
    + apply pinsker_inside; lra.
Qed.

Lemma kl_positive p q : 0 <= p <= 1 -> 0 < q < 1 -> p <> q -> 0 < kl p q.
Proof.
  intros Hp Hq Hne. pose proof (pinsker p q Hp Hq).
  assert (0 < (p - q) ^ 2) by (pose proof (Rsqr_pos_lt (p - q) ltac:(lra)); unfold Rsqr in *; simpl; lra).
  lra.
Qed.

(** ** The chain of Proposition 3 *)

Theorem kl_at_half D : 0 <= D < 1 / 2 -> kl (1 / 2) (1 / 2 + D) = - (1 / 2) * ln (1 - 4 * D ^ 2).
Proof.
  intros HD. unfold kl.
  replace (1 / 2 / (1 / 2 + D)) with (/ (1 + 2 * D)) by (field; lra).
  replace ((1 - 1 / 2) / (1 - (1 / 2 + D))) with (/ (1 - 2 * D)) by (field; lra).
  replace (1 - 4 * D ^ 2) with ((1 + 2 * D) * (1 - 2 * D)) by ring.
  rewrite ln_mult, !ln_Rinv by lra. lra.
Qed.

(** [- log (1 - x) <= x / (1 - x)]. *)
Lemma minus_ln_le x : 0 <= x < 1 -> - ln (1 - x) <= x / (1 - x).
Proof.
  intros Hx. rewrite <- ln_Rinv by lra.
  assert (Hpos : 0 < / (1 - x)) by (apply Rinv_0_lt_compat; lra).
  replace (/ (1 - x)) with (1 + x / (1 - x)) in * by (field; lra).
  pose proof (exp_ineq1_le (x / (1 - x))) as H.
  destruct H as [H|H].
  - apply ln_increasing in H; [|lra]. rewrite ln_exp in H. lra.
  - rewrite H, ln_exp. lra.
Qed.

Theorem proposition_3_chain D : 0 < D <= 1 / 4 ->
  kl (1 / 2) (1 / 2 + D) = - (1 / 2) * ln (1 - 4 * D ^ 2) /\
  - (1 / 2) * ln (1 - 4 * D ^ 2) <= 2 * D ^ 2 / (1 - 4 * D ^ 2) /\
  2 * D ^ 2 / (1 - 4 * D ^ 2) <= 8 / 3 * D ^ 2.
Proof.
  intros HD. assert (HD2 : 0 < D ^ 2 <= 1 / 16) by (simpl; nra).
  split; [apply kl_at_half; lra|]. split.
  - pose proof (minus_ln_le (4 * D ^ 2) ltac:(lra)).
    replace (2 * D ^ 2 / (1 - 4 * D ^ 2)) with (1 / 2 * (4 * D ^ 2 / (1 - 4 * D ^ 2)))
      by (field; lra).
    lra.
  - replace (8 / 3 * D ^ 2) with (2 * D ^ 2 * (4 / 3)) by field.
    unfold Rdiv at 1. apply Rmult_le_compat_l; [lra|].
    replace (4 / 3) with (/ (3 / 4)) by field. apply Rinv_le_contravar; lra.
Qed.
