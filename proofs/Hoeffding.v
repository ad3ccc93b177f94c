(** Hoeffding's inequality for independent draws with finitely many values in [0, 1]. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Probability.
Import ListNotations.
Open Scope R_scope.

(** ** Hoeffding's lemma *)

(** The exponential lies below its chord. *)
Lemma exp_chord s x : 0 <= x <= 1 -> exp (s * x) <= 1 - x + x * exp s.
Proof.
  intros Hx. set (y := s * x).
  assert (Htan : forall z, exp y * (1 + (z - y)) <= exp z).
  { intros z. replace (exp z) with (exp y * exp (z - y)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|apply exp_ineq1_le]. }
  pose proof (Htan 0) as H0. pose proof (Htan s) as H1. rewrite exp_0 in H0.
  assert ((1 - x) * (exp y * (1 + (0 - y))) <= (1 - x) * 1) by (apply Rmult_le_compat_l; lra).
  assert (x * (exp y * (1 + (s - y))) <= x * exp s) by (apply Rmult_le_compat_l; lra).
  assert ((1 - x) * (exp y * (1 + (0 - y))) + x * (exp y * (1 + (s - y))) = exp y)
    by (unfold y; ring).
  lra.
Qed.

(** [1 - p + p e^s], the exponential moment of a coin, and its tilted mean. *)
Definition coin (p s : R) : R := 1 - p + p * exp s.
Definition tilted (p s : R) : R := p * exp s / coin p s.

Section Tilt.

Variable p : R.
Hypothesis Hp : 0 <= p <= 1.

Lemma coin_pos s : 0 < coin p s.
Proof.
  unfold coin. pose proof (exp_pos s).
  destruct (Rle_lt_dec p (1 / 2)).
  - assert (0 <= p * exp s) by (apply Rmult_le_pos; lra). lra.
  - assert (0 < p * exp s) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma coin_derivative s : derivable_pt_lim (coin p) s (p * exp s).
Proof.
  unfold coin. replace (p * exp s) with (0 + p * exp s) by ring.
  apply (derivable_pt_lim_plus (fun _ => 1 - p) (fun s => p * exp s)).
  - apply derivable_pt_lim_const.
  - apply (derivable_pt_lim_scal exp p). apply derivable_pt_lim_exp.
Qed.

(** The slope of [s / 4 - (tilted mean - p)] is nonnegative. *)
Lemma slope_derivative s :
  derivable_pt_lim (fun s => s / 4 - (tilted p s - p)) s
    (1 / 4 - tilted p s * (1 - tilted p s)).
Proof.
  pose proof (coin_pos s) as Hc.
  replace (1 / 4 - tilted p s * (1 - tilted p s))
    with (/ 4 * 1 - ((p * exp s * coin p s - (p * exp s) * (p * exp s)) / Rsqr (coin p s) - 0)).
  2:{ unfold tilted, Rsqr. field. lra. }
  apply derivable_pt_lim_minus.
  - assert (H : derivable_pt_lim (fun x => / 4 * id x) s (/ 4 * 1))
      by (apply (derivable_pt_lim_scal id (/ 4)), derivable_pt_lim_id).
    intros eps Heps. destruct (H eps Heps) as (delta & Hd). exists delta.
    intros x H0 H1. specialize (Hd x H0 H1). unfold id in Hd.
    replace ((s + x) / 4) with (/ 4 * (s + x)) by field.
    replace (s / 4) with (/ 4 * s) by field. exact Hd.
  - apply derivable_pt_lim_minus; [|apply derivable_pt_lim_const].
    unfold tilted.
    apply (derivable_pt_lim_div (fun s => p * exp s) (coin p)); [| |lra].
    + apply (derivable_pt_lim_scal exp p). apply derivable_pt_lim_exp.
    + apply coin_derivative.
Qed.

Lemma tilted_0 : tilted p 0 = p.
Proof. unfold tilted, coin. rewrite exp_0. field. lra. Qed.

Lemma slope_nonneg s : 0 <= s -> 0 <= s / 4 - (tilted p s - p).
Proof.
  intros [Hs|<-].
  - destruct (MVT_cor2 (fun s => s / 4 - (tilted p s - p))
                (fun s => 1 / 4 - tilted p s * (1 - tilted p s)) 0 s Hs) as (x & Ex & Hx).
    + intros x _. apply slope_derivative.
    + rewrite tilted_0 in Ex.
      assert (0 <= (1 / 4 - tilted p x * (1 - tilted p x)) * (s - 0)).
      { apply Rmult_le_pos; [|lra]. pose proof (Rle_0_sqr (tilted p x - 1 / 2)) as H.
        unfold Rsqr in H. lra. }
      lra.
  - rewrite tilted_0. lra.
Qed.

Lemma height_derivative s :
  derivable_pt_lim (fun s => s * s / 8 + p * s - ln (coin p s)) s (s / 4 - (tilted p s - p)).
Proof.
  pose proof (coin_pos s) as Hc.
  replace (s / 4 - (tilted p s - p))
    with (/ 8 * (1 * id s + id s * 1) + p * 1 - / coin p s * (p * exp s))
    by (unfold tilted, id; field; lra).
  apply derivable_pt_lim_minus.
  - apply derivable_pt_lim_plus.
    + assert (H : derivable_pt_lim (fun x => / 8 * (id * id)%F x) s (/ 8 * (1 * id s + id s * 1))).
      { apply (derivable_pt_lim_scal (id * id)%F (/ 8)).
        apply derivable_pt_lim_mult; apply derivable_pt_lim_id. }
      intros eps Heps. destruct (H eps Heps) as (delta & Hd). exists delta.
      intros x H0 H1. specialize (Hd x H0 H1). unfold mult_fct, id in *.
      replace ((s + x) * (s + x) / 8) with (/ 8 * ((s + x) * (s + x))) by field.
      replace (s * s / 8) with (/ 8 * (s * s)) by field. exact Hd.
    + apply (derivable_pt_lim_scal id p). apply derivable_pt_lim_id.
  - apply (derivable_pt_lim_comp (coin p) ln).
    + apply coin_derivative.
    + apply derivable_pt_lim_ln. lra.
Qed.

Lemma coin_moment s : 0 <= s -> coin p s <= exp (s * s / 8 + p * s).
Proof.
  intros [Hs|<-].
  - destruct (MVT_cor2 (fun s => s * s / 8 + p * s - ln (coin p s))
                (fun s => s / 4 - (tilted p s - p)) 0 s Hs) as (x & Ex & Hx).
    + intros x _. apply height_derivative.
    + assert (0 <= (x / 4 - (tilted p x - p)) * (s - 0))
        by (apply Rmult_le_pos; [apply slope_nonneg|]; lra).
      assert (E0 : coin p 0 = 1) by (unfold coin; rewrite exp_0; ring).
      rewrite E0, ln_1 in Ex.
      rewrite <- (exp_ln (coin p s)) by apply coin_pos.
      destruct (Req_dec (ln (coin p s)) (s * s / 8 + p * s)) as [->|]; [lra|].
      apply Rlt_le, exp_increasing. lra.
  - unfold coin. replace (0 * 0 / 8 + p * 0) with 0 by field. rewrite exp_0. lra.
Qed.

End Tilt.

(** Hoeffding's lemma for a law with values in [0, 1]. *)
Theorem hoeffding_lemma {X} (D : law X) (f : X -> R) s : is_law D -> 0 <= s ->
  (forall q, In q D -> 0 <= f (snd q) <= 1) ->
  E D (fun x => exp (s * (f x - E D f))) <= exp (s * s / 8).
Proof.
  intros HD Hs Hf. set (p := E D f).
  assert (Hp : 0 <= p <= 1).
  { split; [apply E_nonneg; [easy|intros; now apply Hf]|].
    rewrite <- (E_const D 1 HD). apply E_le; [easy|]. intros; now apply Hf. }
  assert (H1 : E D (fun x => exp (s * f x)) <= coin p s).
  { unfold coin. replace (1 - p + p * exp s) with (E D (fun x => 1 + (exp s - 1) * f x)).
    - apply E_le; [easy|]. intros q Hq. pose proof (exp_chord s (f (snd q)) (Hf q Hq)). lra.
    - rewrite (E_plus D (fun _ => 1)), E_scale, (E_const D 1 HD). fold p. ring. }
  rewrite (E_ext D _ (fun x => exp (- (s * p)) * exp (s * f x))).
  2:{ intros q _. rewrite <- exp_plus. f_equal. ring. }
  rewrite E_scale. pose proof (coin_moment p Hp s Hs) as H2.
  replace (exp (s * s / 8)) with (exp (- (s * p)) * exp (s * s / 8 + p * s))
    by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|lra].
Qed.

(** ** The tail of an average *)

Lemma prod_exp n f : prod n (fun i => exp (f i)) = exp (sum n f).
Proof.
  induction n as [|n IH]; simpl; [now rewrite exp_0|]. now rewrite IH, exp_plus.
Qed.

Lemma prod_le_exp n f x : (forall i, (i < n)%nat -> 0 <= f i <= exp x) ->
  0 <= prod n f <= exp (INR n * x).
Proof.
  induction n as [|n IH]; intros H.
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - rewrite S_INR. simpl prod. destruct IH as [H0 H1]; [intros; apply H; lia|].
    destruct (H n) as [H2 H3]; [lia|]. split; [now apply Rmult_le_pos|].
    replace ((INR n + 1) * x) with (INR n * x + x) by ring. rewrite exp_plus.
    now apply Rmult_le_compat.
Qed.

(** Of [T] independent draws from one law, look at the first [n]. *)
Section Tail.

Context {X : Type} (x0 : X) (D : law X) (T n : nat).
Hypotheses (HD : is_law D) (Hn : (1 <= n <= T)%nat).

Local Notation draws := (product x0 T (fun _ => D)).

Lemma prod_split (f : nat -> R) m : (n <= m)%nat ->
  prod m (fun i => if (i <? n)%nat then f i else 1) = prod n f.
Proof.
  intros Hm. induction m as [|m IH].
  - replace n with O by lia. reflexivity.
  - destruct (Nat.eq_dec n (S m)) as [->|Hne].
    + apply prod_ext. intros i Hi. destruct (Nat.ltb_spec i (S m)); [reflexivity|lia].
    + simpl. rewrite IH by lia. destruct (Nat.ltb_spec m n); [lia|ring].
Qed.

Section OneSide.

Variable f : X -> R.
Hypothesis Hf : forall q, In q D -> 0 <= f (snd q) <= 1.

Lemma moment s : 0 <= s ->
  E draws (fun x => exp (s * sum n (fun i => f (x i) - E D f))) <= exp (INR n * (s * s / 8)).
Proof.
  intros Hs.
  set (u := fun i y => if (i <? n)%nat then exp (s * (f y - E D f)) else 1).
  rewrite (E_ext draws _ (fun x => prod T (fun i => u i (x i)))).
  2:{ intros q _. unfold u. rewrite (prod_split (fun i => exp (s * (f (snd q i) - E D f)))) by lia.
      rewrite prod_exp. f_equal. now rewrite sum_scale. }
  rewrite E_product.
  rewrite (prod_ext T _ (fun i => if (i <? n)%nat then E D (fun y => exp (s * (f y - E D f))) else 1)).
  2:{ intros i _. unfold u. destruct (i <? n)%nat; [reflexivity|now apply E_const]. }
  rewrite (prod_split (fun _ => E D (fun y => exp (s * (f y - E D f))))) by lia.
  apply prod_le_exp. intros i _. split.
  - apply E_nonneg; [easy|]. intros. apply Rlt_le, exp_pos.
  - now apply hoeffding_lemma.
Qed.

(** One side of Hoeffding's inequality. *)
Theorem hoeffding_one_side eps : 0 <= eps ->
  Pr draws (fun x => if Rlt_dec eps (sum n (fun i => f (x i)) / INR n - E D f) then true else false)
  <= exp (- 2 * INR n * eps ^ 2).
Proof.
  intros Heps. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Hdraws : is_law draws) by (now apply product_is_law).
  set (s := 4 * eps).
  apply Rle_trans with
    (E draws (fun x => exp (- (s * INR n * eps)) * exp (s * sum n (fun i => f (x i) - E D f)))).
  - apply markov; [easy| |].
    + intros. apply Rmult_le_pos; apply Rlt_le, exp_pos.
    + intros q _. destruct (Rlt_dec _ _) as [Hlt|]; [|discriminate]. intros _.
      rewrite <- exp_plus. rewrite <- exp_0 at 1.
      assert (Hsum : sum n (fun i => f (snd q i) - E D f)
                     = INR n * (sum n (fun i => f (snd q i)) / INR n - E D f)).
      { rewrite (sum_ext n _ (fun i => f (snd q i) + - E D f)) by (intros; ring).
        rewrite sum_plus, sum_const. field. lra. }
      rewrite Hsum.
      set (z := sum n (fun i => f (snd q i)) / INR n - E D f) in *.
      assert (0 <= - (s * INR n * eps) + s * (INR n * z)).
      { replace (- (s * INR n * eps) + s * (INR n * z)) with (s * (INR n * (z - eps))) by ring.
        unfold s. repeat apply Rmult_le_pos; lra. }
      destruct H as [H|H]; [apply Rlt_le, exp_increasing, H|rewrite <- H; lra].
  - rewrite E_scale. pose proof (moment s ltac:(unfold s; lra)) as Hm.
    replace (exp (- 2 * INR n * eps ^ 2))
      with (exp (- (s * INR n * eps)) * exp (INR n * (s * s / 8)))
      by (rewrite <- exp_plus; f_equal; unfold s; field).
    apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|easy].
Qed.

End OneSide.

Theorem hoeffding f eps : (forall q, In q D -> 0 <= f (snd q) <= 1) -> 0 <= eps ->
  Pr draws (fun x => if Rlt_dec eps (Rabs (sum n (fun i => f (x i)) / INR n - E D f))
                     then true else false)
  <= 2 * exp (- 2 * INR n * eps ^ 2).
Proof.
  intros Hf Heps. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Hdraws : is_law draws) by (now apply product_is_law).
  set (g := fun y => 1 - f y).
  assert (Hg : forall q, In q D -> 0 <= g (snd q) <= 1)
    by (intros q Hq; specialize (Hf q Hq); unfold g; lra).
  pose proof (hoeffding_one_side f Hf eps Heps) as Hup.
  pose proof (hoeffding_one_side g Hg eps Heps) as Hdown.
  eapply Rle_trans; [|eapply Rle_trans;
    [apply (Pr_or draws
       (fun x => if Rlt_dec eps (sum n (fun i => f (x i)) / INR n - E D f) then true else false)
       (fun x => if Rlt_dec eps (sum n (fun i => g (x i)) / INR n - E D g) then true else false)
       Hdraws)|lra]].
  apply Pr_le; [easy|]. intros q _.
  assert (Eg : sum n (fun i => g (snd q i)) / INR n - E D g
               = - (sum n (fun i => f (snd q i)) / INR n - E D f)).
  { unfold g.
    assert (E1 : E D (fun y => 1 - f y) = 1 - E D f).
    { rewrite (E_ext D _ (fun y => 1 + -1 * f y)) by (intros; ring).
      rewrite (E_plus D (fun _ => 1)), E_scale, (E_const D 1 HD). ring. }
    rewrite E1.
    rewrite (sum_ext n (fun i => 1 - f (snd q i)) (fun i => 1 + -1 * f (snd q i))) by (intros; ring).
    rewrite sum_plus, sum_scale, sum_const. field. lra. }
  rewrite Eg. set (z := sum n (fun i => f (snd q i)) / INR n - E D f).
  destruct (Rlt_dec eps (Rabs z)) as [Habs|]; [|discriminate]. intros _.
  destruct (Rlt_dec eps z); [reflexivity|]. destruct (Rlt_dec eps (- z)); [reflexivity|].
  exfalso. destruct (Rcase_abs z); [rewrite Rabs_left in Habs by easy|rewrite Rabs_right in Habs by easy]; lra.
Qed.

End Tail.
