(** Chernoff's inequality with the divergence in place of the square. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Kl Momab.Probability Momab.Hoeffding.
Import ListNotations.
Open Scope R_scope.

Section Chernoff.

Context {X : Type} (x0 : X) (D : law X) (T n : nat).
Hypotheses (HD : is_law D) (Hn : (1 <= n <= T)%nat).
Variable f : X -> R.
Hypothesis Hf : forall q, In q D -> 0 <= f (snd q) <= 1.

Local Notation draws := (product x0 T (fun _ => D)).

(** The exponential moment is at most that of a Bernoulli variable with the same mean. *)
Lemma moment_of_coin s : E D (fun x => exp (s * f x)) <= coin (E D f) s.
Proof.
  unfold coin. replace (1 - E D f + E D f * exp s) with (E D (fun x => 1 + (exp s - 1) * f x)).
  - apply E_le; [easy|]. intros q Hq. pose proof (exp_chord s (f (snd q)) (Hf q Hq)). lra.
  - rewrite (E_plus D (fun _ => 1)), E_scale, (E_const D 1 HD). ring.
Qed.

Lemma moment_of_sum s : 0 < coin (E D f) s ->
  E draws (fun x => exp (s * sum n (fun i => f (x i)))) <= exp (INR n * ln (coin (E D f) s)).
Proof.
  intros Hpos. set (u := fun i y => if (i <? n)%nat then exp (s * f y) else 1).
  rewrite (E_ext draws _ (fun x => prod T (fun i => u i (x i)))).
  2:{ intros q _. unfold u. rewrite (prod_split T n Hn (fun i => exp (s * f (snd q i)))) by lia.
      rewrite prod_exp. f_equal. now rewrite sum_scale. }
  rewrite E_product.
  rewrite (prod_ext T _ (fun i => if (i <? n)%nat then E D (fun y => exp (s * f y)) else 1)).
  2:{ intros i _. unfold u. destruct (i <? n)%nat; [reflexivity|now apply E_const]. }
  rewrite (prod_split T n Hn (fun _ => E D (fun y => exp (s * f y)))) by lia.
  apply prod_le_exp. intros i _. split.
  - apply E_nonneg; [easy|]. intros. apply Rlt_le, exp_pos.
  - rewrite exp_ln by easy. apply moment_of_coin.
Qed.

(** The chance that the average of [n] draws reaches [x] above its mean. *)
Theorem chernoff x : 0 < E D f -> E D f < x < 1 ->
  Pr draws (fun y => if Rle_dec x (sum n (fun i => f (y i)) / INR n) then true else false)
  <= exp (- (INR n * kl x (E D f))).
Proof.
  intros Hm0 Hx. set (m := E D f) in *. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  set (s := ln (x / m) - ln ((1 - x) / (1 - m))).
  assert (H1 : 0 < x / m) by (apply Rdiv_lt_0_compat; lra).
  assert (H2 : 0 < (1 - x) / (1 - m)) by (apply Rdiv_lt_0_compat; lra).
  assert (Hs : 0 <= s).
  { assert (1 < x / m).
    { apply Rmult_lt_reg_r with m; [lra|]. replace (x / m * m) with x by (field; lra). lra. }
    assert ((1 - x) / (1 - m) < 1).
    { apply Rmult_lt_reg_r with (1 - m); [lra|].
      replace ((1 - x) / (1 - m) * (1 - m)) with (1 - x) by (field; lra). lra. }
    unfold s. assert (0 < ln (x / m)) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (ln ((1 - x) / (1 - m)) < 0) by (rewrite <- ln_1; apply ln_increasing; lra). lra. }
  assert (Hc : coin m s = / ((1 - x) / (1 - m))).
  { unfold coin. replace s with (ln (x / m) + - ln ((1 - x) / (1 - m))) by (unfold s; ring).
    rewrite exp_plus, exp_Ropp, !exp_ln by easy. field. lra. }
  assert (Hlaw : is_law draws) by (now apply product_is_law).
  apply Rle_trans with (E draws (fun y => exp (- (s * (INR n * x)))
    * exp (s * sum n (fun i => f (y i))))).
  - apply markov; [easy| |].
    + intros. apply Rmult_le_pos; apply Rlt_le, exp_pos.
    + intros q _. destruct (Rle_dec _ _) as [Hle|]; [|discriminate]. intros _.
      rewrite <- exp_plus, <- exp_0 at 1.
      assert (INR n * x <= sum n (fun i => f (snd q i))).
      { replace (sum n (fun i => f (snd q i)))
          with (INR n * (sum n (fun i => f (snd q i)) / INR n)) by (field; lra).
        apply Rmult_le_compat_l; lra. }
      assert (0 <= - (s * (INR n * x)) + s * sum n (fun i => f (snd q i))) by nra.
      destruct H0 as [H0|H0]; [apply Rlt_le, exp_increasing, H0|rewrite <- H0; lra].
  - rewrite E_scale. assert (Hcpos : 0 < coin m s) by (rewrite Hc; now apply Rinv_0_lt_compat).
    pose proof (moment_of_sum s Hcpos) as Hmom. fold m in Hmom.
    apply Rle_trans with (exp (- (s * (INR n * x))) * exp (INR n * ln (coin m s))).
    + apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|exact Hmom].
    + right. rewrite <- exp_plus. f_equal. rewrite Hc, ln_Rinv by easy. unfold kl, s. ring.
Qed.

End Chernoff.
