(** Chernoff's inequality with the divergence in place of the square: one side, then both. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Kl Momab.Probability Momab.Hoeffding.
Import ListNotations.
Open Scope R_scope.

(** ** From single values to events

    If above each value that occurs in [A] there is little weight, [A] has little weight: look at the
    least value. *)
Lemma least_value {X} (D : law X) (A : X -> bool) (v : X -> R) :
  (forall p, In p D -> A (snd p) = false) \/
  exists p, In p D /\ A (snd p) = true /\
    forall q, In q D -> A (snd q) = true -> v (snd p) <= v (snd q).
Proof.
  induction D as [|r D [Hnone|(p & Hp & HA & Hmin)]]; [left; intros p []| |].
  - destruct (A (snd r)) eqn:Er.
    + right. exists r. split; [now left|]. split; [easy|]. intros q [<-|Hq] Hq1; [lra|].
      rewrite Hnone in Hq1 by easy. discriminate.
    + left. intros p [<-|Hp]; auto.
  - right. destruct (A (snd r)) eqn:Er.
    + destruct (Rle_dec (v (snd r)) (v (snd p))).
      * exists r. split; [now left|]. split; [easy|]. intros q [<-|Hq] Hq1; [lra|].
        specialize (Hmin q Hq Hq1). lra.
      * exists p. split; [now right|]. split; [easy|]. intros q [<-|Hq] Hq1; [lra|auto].
    + exists p. split; [now right|]. split; [easy|]. intros q [<-|Hq] Hq1; [congruence|auto].
Qed.

Lemma Pr_by_values {X} (D : law X) (A : X -> bool) (v : X -> R) B : is_law D -> 0 <= B ->
  (forall p, In p D -> A (snd p) = true ->
     Pr D (fun x => if Rle_dec (v (snd p)) (v x) then true else false) <= B) ->
  Pr D A <= B.
Proof.
  intros HD HB H. destruct (least_value D A v) as [Hnone|(p & Hp & HA & Hmin)].
  - unfold Pr. rewrite (E_ext D _ (fun _ => 0)), E_const; [easy|easy|].
    intros p Hp. now rewrite Hnone.
  - eapply Rle_trans; [|apply (H p Hp HA)]. apply Pr_le; [easy|]. intros q Hq Hq1.
    destruct (Rle_dec _ _) as [|Hn]; [reflexivity|]. exfalso. now apply Hn, Hmin.
Qed.

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

Lemma chernoff_inside x : 0 < E D f -> E D f < x < 1 ->
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

(** An average of 1 needs the reward 1 in each of the [n] draws. *)
Lemma prod_near_one m (u : nat -> R) : (forall i, (i < m)%nat -> 0 <= u i <= 1) ->
  0 <= prod m u <= 1 /\ sum m u - INR m + 1 <= prod m u.
Proof.
  induction m as [|m IH]; intros Hu; [simpl; lra|].
  destruct IH as [H0 H1]; [intros; apply Hu; lia|]. pose proof (Hu m ltac:(lia)).
  rewrite S_INR. simpl. nra.
Qed.

Lemma chernoff_end : 0 < E D f < 1 ->
  Pr draws (fun y => if Rle_dec 1 (sum n (fun i => f (y i)) / INR n) then true else false)
  <= exp (- (INR n * kl 1 (E D f))).
Proof.
  intros Hm. set (m := E D f) in *. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  set (u := fun i y => if (i <? n)%nat then f y else 1).
  assert (Hlaw : is_law draws) by (now apply product_is_law).
  assert (Hin : forall q, In q draws -> forall i, (i < n)%nat -> 0 <= f (snd q i) <= 1).
  { intros q Hq i Hi. apply (product_support x0 T (fun _ => D) (fun _ y => 0 <= f y <= 1)) with (i := i);
      auto; lia. }
  apply Rle_trans with (E draws (fun y => prod T (fun i => u i (y i)))).
  - apply markov; [easy| |]; intros q Hq; unfold u;
      rewrite (prod_split T n Hn (fun i => f (snd q i))) by lia;
      destruct (prod_near_one n (fun i => f (snd q i)) (Hin q Hq)) as [H0 H1]; [lra|].
    destruct (Rle_dec _ _) as [Hle|]; [|discriminate]. intros _.
    assert (INR n * 1 <= sum n (fun i => f (snd q i))); [|lra].
    replace (sum n (fun i => f (snd q i)))
      with (INR n * (sum n (fun i => f (snd q i)) / INR n)) by (field; lra).
    apply Rmult_le_compat_l; lra.
  - rewrite E_product. rewrite (prod_ext T _ (fun i => if (i <? n)%nat then m else 1)).
    2:{ intros i _. unfold u. destruct (i <? n)%nat; [reflexivity|now apply E_const]. }
    rewrite (prod_split T n Hn (fun _ => m)) by lia.
    replace (- (INR n * kl 1 m)) with (INR n * ln m).
    + apply prod_le_exp. intros i _. rewrite exp_ln by lra. lra.
    + unfold kl, Rdiv. rewrite Rmult_1_l, (Rmult_1_l (/ m)), ln_Rinv by lra. ring.
Qed.

(** The chance that the average of [n] draws reaches [x] above its mean. *)
Theorem chernoff x : 0 < E D f -> E D f < x <= 1 ->
  Pr draws (fun y => if Rle_dec x (sum n (fun i => f (y i)) / INR n) then true else false)
  <= exp (- (INR n * kl x (E D f))).
Proof.
  intros Hm0 [Hx [Hlt| ->]]; [now apply chernoff_inside|apply chernoff_end; lra].
Qed.

Lemma average_of_draws q : In q draws -> 0 <= sum n (fun i => f (snd q i)) / INR n <= 1.
Proof.
  intros Hq. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Hin : forall i, (i < n)%nat -> 0 <= f (snd q i) <= 1).
  { intros i Hi. apply (product_support x0 T (fun _ => D) (fun _ y => 0 <= f y <= 1)) with (i := i);
      auto; lia. }
  assert (0 <= sum n (fun i => f (snd q i))) by (apply sum_nonneg; intros; now apply Hin).
  assert (sum n (fun i => f (snd q i)) <= INR n * 1)
    by (rewrite <- sum_const; apply sum_le; intros; now apply Hin).
  assert (0 < / INR n) by (now apply Rinv_0_lt_compat). unfold Rdiv. split; [nra|].
  apply Rmult_le_reg_r with (INR n); [easy|].
  replace (sum n (fun i => f (snd q i)) * / INR n * INR n) with (sum n (fun i => f (snd q i)))
    by (field; lra). lra.
Qed.

(** The average is above its mean, and its evidence against the mean is more than [y]. *)
Lemma chernoff_above y : 0 < E D f < 1 ->
  Pr draws (fun x => (if Rlt_dec (E D f) (sum n (fun i => f (x i)) / INR n) then true else false)
    && (if Rlt_dec y (INR n * kl (sum n (fun i => f (x i)) / INR n) (E D f)) then true else false))
  <= exp (- y).
Proof.
  intros Hm. assert (Hlaw : is_law draws) by (now apply product_is_law).
  apply (Pr_by_values draws _ (fun x => sum n (fun i => f (x i)) / INR n));
    [easy|apply Rlt_le, exp_pos|].
  intros p Hp HA. pose proof (average_of_draws p Hp) as Hav.
  destruct (Rlt_dec (E D f) _) as [Hlt|]; [|discriminate].
  destruct (Rlt_dec y _) as [Hy|]; [|discriminate].
  eapply Rle_trans; [apply chernoff; lra|]. apply Rlt_le, exp_increasing. lra.
Qed.

(** The mean of draws is expected to be the mean of the law. *)
Lemma average_expected : E draws (fun x => sum n (fun i => f (x i)) / INR n) = E D f.
Proof.
  assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  rewrite (E_ext draws _ (fun x => / INR n * sum n (fun i => f (x i))))
    by (intros; unfold Rdiv; ring).
  rewrite E_scale, (E_sum draws n (fun i x => f (x i))).
  rewrite (sum_ext n _ (fun _ => E D f)).
  - rewrite sum_const. field. lra.
  - intros i Hi. apply (E_coordinate x0 T (fun _ => D) i f); [easy|lia].
Qed.

End Chernoff.

(** ** Both sides *)

Lemma kl_opposite p q : kl (1 - p) (1 - q) = kl p q.
Proof.
  unfold kl. replace (1 - (1 - p)) with p by ring. replace (1 - (1 - q)) with q by ring. ring.
Qed.

Section BothSides.

Context {X : Type} (x0 : X) (D : law X) (T n : nat).
Hypotheses (HD : is_law D) (Hn : (1 <= n <= T)%nat).
Variable f : X -> R.
Hypothesis Hf : forall q, In q D -> 0 <= f (snd q) <= 1.

Local Notation draws := (product x0 T (fun _ => D)).
Local Notation opposite := (fun y => 1 - f y).

Lemma opposite_in : forall q, In q D -> 0 <= opposite (snd q) <= 1.
Proof. intros q Hq. specialize (Hf q Hq). lra. Qed.

Lemma opposite_expected : E D opposite = 1 - E D f.
Proof.
  rewrite (E_ext D _ (fun y => 1 + -1 * f y)) by (intros; ring).
  rewrite (E_plus D (fun _ => 1)), E_scale, (E_const D 1 HD). ring.
Qed.

Lemma opposite_mean (x : nat -> X) : sum n (fun i => 1 - f (x i)) / INR n = 1 - (sum n (fun i => f (x i)) / INR n).
Proof.
  assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  rewrite (sum_ext n _ (fun i => 1 + -1 * f (x i))) by (intros; ring).
  rewrite sum_plus, sum_scale, sum_const. field. lra.
Qed.

(** The chance that the average falls to [x] below its mean. *)
Theorem chernoff_low x : E D f < 1 -> 0 <= x < E D f ->
  Pr draws (fun y => if Rle_dec (sum n (fun i => f (y i)) / INR n) x then true else false)
  <= exp (- (INR n * kl x (E D f))).
Proof.
  intros Hm Hx. assert (Hlaw : is_law draws) by (now apply product_is_law).
  pose proof (chernoff x0 D T n HD Hn opposite opposite_in (1 - x)) as H.
  rewrite opposite_expected, kl_opposite in H. eapply Rle_trans; [|apply H; lra].
  apply Pr_le; [easy|]. intros q _. rewrite opposite_mean.
  destruct (Rle_dec (sum n (fun i => f (snd q i)) / INR n) x); [|discriminate]. intros _.
  destruct (Rle_dec (1 - x) _); [reflexivity|lra].
Qed.

(** Where the mean is 1, no average is below it. *)
Lemma never_below x : E D f = 1 -> x < 1 ->
  Pr draws (fun y => if Rle_dec (sum n (fun i => f (y i)) / INR n) x then true else false) <= 0.
Proof.
  intros Hm Hx. assert (Hlaw : is_law draws) by (now apply product_is_law).
  apply Rle_trans with (E draws (fun y => / (1 - x) * (1 + -1 * (sum n (fun i => f (y i)) / INR n)))).
  - assert (Hi : 0 < / (1 - x)) by (apply Rinv_0_lt_compat; lra).
    apply markov; [easy| |]; intros q Hq; pose proof (average_of_draws x0 D T n Hn f Hf q Hq);
      [apply Rmult_le_pos; lra|].
    destruct (Rle_dec _ _) as [Hle|]; [|discriminate]. intros _.
    apply Rmult_le_reg_l with (1 - x); [lra|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. lra.
  - rewrite E_scale, (E_plus draws (fun _ => 1)), E_scale, E_const by easy.
    rewrite (average_expected x0 D T n HD Hn f), Hm. lra.
Qed.

(** Chernoff's bound with kl: the evidence of [n] draws against their own mean is rarely large. *)
Theorem chernoff_kl y : 0 < E D f < 1 -> 0 <= y ->
  Pr draws (fun x => if Rlt_dec y (INR n * kl (sum n (fun i => f (x i)) / INR n) (E D f)) then true else false)
  <= 2 * exp (- y).
Proof.
  intros Hm Hy. assert (Hlaw : is_law draws) by (now apply product_is_law).
  pose proof (chernoff_above x0 D T n HD Hn f Hf y Hm) as Hup.
  pose proof (chernoff_above x0 D T n HD Hn opposite opposite_in y) as Hlow.
  rewrite opposite_expected in Hlow. specialize (Hlow ltac:(lra)).
  match type of Hup with Pr _ ?A <= _ => match type of Hlow with Pr _ ?B <= _ =>
    pose proof (Pr_or draws A B Hlaw); apply Rle_trans with (Pr draws (fun x => A x || B x)) end end;
    [|lra].
  apply Pr_le; [easy|]. intros q Hq. rewrite opposite_mean, kl_opposite.
  destruct (Rlt_dec y (INR n * _)) as [Hlt|]; [|discriminate]. intros _. rewrite !andb_true_r.
  destruct (Rlt_dec (E D f) _); [reflexivity|]. destruct (Rlt_dec (1 - E D f) _); [reflexivity|].
  exfalso. assert (Em : (sum n (fun i => f (snd q i)) / INR n) = E D f) by lra.
  rewrite Em, kl_same, Rmult_0_r in Hlt by lra. lra.
Qed.

End BothSides.
