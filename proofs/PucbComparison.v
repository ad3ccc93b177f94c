(** Remark 5: the leading term of Pareto UCB1's bound beside that of Theorem 4. *)

Require Import Reals Lra Lia Arith.
Require Import Momab.Finite Momab.Pareto.
Open Scope R_scope.

Section Comparison.

(** [n] stands for the size of the Pareto set. *)
Variables (K d n T : nat) (mu : nat -> vector).

Local Notation gap := (gap K d mu).
Local Notation g := (g_dagger K d mu).

Definition pucb_log : R := ln (INR T * Rpower (INR (d * n)) (1 / 4)).
Definition rho : R := pucb_log / ln (INR T).

(** Sums run over the arms with a positive gap. *)
Definition paid_sum (f : R -> R) : R :=
  sum K (fun a => if Rlt_dec 0 (gap a) then f (gap a) else 0).

Definition pucb_leading : R := paid_sum (fun x => 8 * pucb_log / x).
Definition C_PUCB : R := 8 * (g / INR K) * paid_sum (fun x => / x) * rho.

Lemma paid_sum_scale x f : paid_sum (fun y => x * f y) = x * paid_sum f.
Proof.
  unfold paid_sum. rewrite <- sum_scale. apply sum_ext. intros a _.
  destruct (Rlt_dec 0 (gap a)); lra.
Qed.

(** Where every dominated arm has a positive gap, these are the arms outside the Pareto
    set. *)
Theorem paid_is_dominated a :
  (1 <= K)%nat -> (1 <= d)%nat ->
  (forall b, (b < K)%nat -> ~ pareto_optimal K d mu b -> 0 < gap b) ->
  (a < K)%nat -> (0 < gap a <-> ~ pareto_optimal K d mu a).
Proof.
  intros HK Hd Hgen Ha. split; [|now apply Hgen].
  intros Hpos Hopt. apply optimal_gap_zero in Hopt; [lra|lia|lia].
Qed.

(** The hypothesis: two rounds, one objective, one Pareto-optimal arm. *)
Hypotheses (HK : (1 <= K)%nat) (HT : (2 <= T)%nat) (Hdn : (1 <= d * n)%nat).

Lemma ln_T_pos : 0 < ln (INR T).
Proof.
  rewrite <- ln_1. apply ln_increasing; [lra|]. apply lt_1_INR. lia.
Qed.

Theorem rho_is : rho = 1 + ln (INR (d * n)) / (4 * ln (INR T)).
Proof.
  pose proof ln_T_pos. unfold rho, pucb_log.
  assert (0 < INR T) by (apply lt_0_INR; lia).
  rewrite ln_mult; [|easy|apply exp_pos].
  unfold Rpower. rewrite ln_exp. field. lra.
Qed.

Lemma rho_ge_1 : 1 <= rho.
Proof.
  rewrite rho_is. pose proof ln_T_pos. pose proof (ln_INR_nonneg (d * n) Hdn).
  assert (0 <= ln (INR (d * n)) / (4 * ln (INR T))); [|lra].
  apply Rmult_le_pos; [easy|apply Rlt_le, Rinv_0_lt_compat; lra].
Qed.

Lemma INR_K_pos : 0 < INR K.
Proof. apply lt_0_INR. lia. Qed.

Theorem pucb_normalised : 0 < g -> pucb_leading = C_PUCB * (INR K * ln (INR T) / g).
Proof.
  intros Hg. pose proof ln_T_pos. pose proof INR_K_pos.
  assert (E : pucb_leading = 8 * pucb_log * paid_sum (fun x => / x))
    by apply (paid_sum_scale (8 * pucb_log) (fun x => / x)).
  rewrite E. unfold C_PUCB, rho. field. lra.
Qed.

(** 64 is smaller exactly beyond the threshold. *)
Theorem remark_5 :
  64 < C_PUCB <-> g / INR K * paid_sum (fun x => / x) > 8 * (ln (INR T) / pucb_log).
Proof.
  pose proof ln_T_pos. pose proof rho_ge_1. pose proof INR_K_pos.
  assert (Hlog : 0 < pucb_log).
  { replace pucb_log with (rho * ln (INR T)) by (unfold rho; field; lra).
    apply Rmult_lt_0_compat; lra. }
  replace (ln (INR T) / pucb_log) with (/ rho) by (unfold rho; field; lra).
  unfold C_PUCB. set (S := g / INR K * paid_sum (fun x => / x)).
  replace (8 * (g / INR K) * paid_sum (fun x => / x) * rho) with (8 * S * rho) by (unfold S; ring).
  split; intros Hlt.
  - apply Rmult_lt_reg_r with rho; [lra|]. replace (8 * / rho * rho) with 8 by (field; lra). lra.
  - apply Rmult_gt_compat_r with (r := rho) in Hlt; [|lra].
    replace (8 * / rho * rho) with 8 in Hlt by (field; lra). lra.
Qed.

(** Replacing every gap by a smaller one gives the envelope. *)
Theorem pucb_envelope gap_min :
  0 < gap_min -> (forall a, (a < K)%nat -> 0 < gap a -> gap_min <= gap a) -> 0 <= g ->
  C_PUCB <= 8 * (paid_sum (fun _ => 1) / INR K) * (g / gap_min) * rho.
Proof.
  intros Hmin Hall Hg. pose proof rho_ge_1. pose proof INR_K_pos.
  assert (Hsum : paid_sum (fun x => / x) <= / gap_min * paid_sum (fun _ => 1)).
  { rewrite <- (paid_sum_scale (/ gap_min)). apply sum_le. intros a Ha.
    destruct (Rlt_dec 0 (gap a)); [|lra]. rewrite Rmult_1_r.
    apply Rinv_le_contravar; auto. }
  unfold C_PUCB. apply Rmult_le_compat_r; [lra|].
  replace (8 * (paid_sum (fun _ => 1) / INR K) * (g / gap_min))
    with (8 * (g / INR K) * (/ gap_min * paid_sum (fun _ => 1))) by (field; lra).
  apply Rmult_le_compat_l; [|easy].
  apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. lra.
Qed.

End Comparison.

(** The leading terms of one arm in the sharper bound and in Pareto UCB1's. *)
Theorem half_the_lead x g r : 0 < x -> 0 < g -> 0 < r ->
  32 * (x / Rmax x g ^ 2) / (8 * r / x) = 4 / r * Rmin 1 (x / g) ^ 2.
Proof.
  intros Hx Hg Hr. destruct (Rle_dec x g).
  - rewrite Rmax_right by easy. rewrite Rmin_right; [field; lra|].
    apply Rmult_le_reg_r with g; [lra|]. replace (x / g * g) with x by (field; lra). lra.
  - rewrite Rmax_left by lra. rewrite Rmin_left; [field; lra|].
    apply Rmult_le_reg_r with g; [lra|]. replace (x / g * g) with x by (field; lra). lra.
Qed.
