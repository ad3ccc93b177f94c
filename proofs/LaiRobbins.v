(** The theorem of Lai and Robbins for Bernoulli rewards, and Proposition 3. *)

Require Import Reals Lra Lia Arith List Bool FunctionalExtensionality.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Kl Momab.LowerBound Momab.Price
  Momab.Probability Momab.Expectation Momab.Policies Momab.Change Momab.PriceTheorem.
Import ListNotations.
Open Scope R_scope.

(** A pull of arm [a] shows one Bernoulli variable with mean [theta a], copied into every objective.
    With one objective this is the Bernoulli bandit. *)
Definition copied (theta : nat -> R) (a : nat) : law vector :=
  [(theta a, fun _ => 1); (1 - theta a, fun _ => 0)].

(** All such instances with means inside the unit interval. *)
Definition copies (K : nat) (nu : nat -> law vector) : Prop :=
  exists theta, (forall a, (a < K)%nat -> 0 < theta a < 1) /\ nu = copied theta.

(** Its two outcomes, and their weights. *)
Definition shown : list vector := [fun _ => 1; fun _ => 0].
Definition shown_weight (p : R) (x : vector) : R := coin_weight p (x O).

Lemma copied_weighted theta :
  copied theta = (fun i => weighted shown (shown_weight (theta i))).
Proof.
  apply functional_extensionality. intros i. unfold copied, weighted, shown, shown_weight, coin_weight.
  cbn [map]. replace (1 * theta i + (1 - 1) * (1 - theta i)) with (theta i) by ring.
  replace (0 * theta i + (1 - 0) * (1 - theta i)) with (1 - theta i) by ring. reflexivity.
Qed.

Lemma shown_proper p : 0 < p < 1 -> proper shown (shown_weight p).
Proof.
  intros Hp. unfold shown_weight, coin_weight. split; [|simpl; ring].
  intros x [<-|[<-|[]]]; lra.
Qed.

Lemma shown_KL p q : KL shown (shown_weight p) (shown_weight q) = kl p q.
Proof.
  unfold KL, kl, shown, shown_weight, coin_weight. simpl.
  replace (1 * p + (1 - 1) * (1 - p)) with p by ring.
  replace (1 * q + (1 - 1) * (1 - q)) with q by ring.
  replace (0 * p + (1 - 0) * (1 - p)) with (1 - p) by ring.
  replace (0 * q + (1 - 0) * (1 - q)) with (1 - q) by ring. ring.
Qed.

Lemma copied_means theta : means (copied theta) = (fun a _ => theta a).
Proof.
  apply functional_extensionality. intros a. apply functional_extensionality. intros j.
  unfold means, copied. simpl. ring.
Qed.

(** Copies have the gaps of the scalar bandit, so their Pareto regret is its regret. *)
Theorem copied_gap K d theta a : (a < K)%nat -> (1 <= d)%nat ->
  gap K d (fun i _ => theta i) a = deficit K (fun i _ => theta i) a 0.
Proof.
  intros Ha Hd. apply Rle_antisym; [now apply gap_le_deficit|].
  destruct (best_attained K (fun i _ => theta i) 0) as (b & Hb & E); [lia|].
  unfold deficit. rewrite E. eapply Rle_trans; [|now apply (gap_ge K d _ a b)].
  apply minb_glb; [lia|]. intros. lra.
Qed.

(** ** Lai and Robbins *)

Section LaiRobbins.

Variables (K d : nat) (pi : policy) (theta : nat -> R) (b : nat).

Local Notation top := (best K (fun a _ => theta a) 0).

Hypotheses (Hd : (1 <= d)%nat) (Hb : (b < K)%nat)
  (Htheta : forall a, (a < K)%nat -> 0 < theta a < 1) (Hworse : theta b < top)
  (Hpi : admissible K pi) (Hgood : uniformly_good K d (copies K) pi).

Lemma top_below_one : top < 1.
Proof.
  destruct (best_attained K (fun a _ => theta a) 0) as (a & Ha & ->); [lia|]. now apply Htheta.
Qed.

(** Arm [b] raised to [q], above all others. *)
Definition lifted (q : R) (a : nat) : R := if (a =? b)%nat then q else theta a.

(** There every pull of another arm has a price. *)
Lemma lifted_regret q h : top < q -> arms_below K h ->
  (q - top) * (INR (length h) - INR (count h b)) <= regret K d (fun a _ => lifted q a) h.
Proof.
  intros Hq. induction h as [|[a x] h IH]; intros Hh; [simpl; lra|].
  assert (Ha : (a < K)%nat) by (apply (Hh (a, x)); now left).
  specialize (IH (fun p Hp => Hh p (or_intror Hp))). unfold regret in *.
  cbn [fold_right fst length count]. rewrite S_INR.
  destruct (Nat.eqb_spec a b) as [->|Hne].
  - rewrite ?S_INR. pose proof (gap_nonneg K d (fun a _ => lifted q a) b). lra.
  - assert (q - top <= gap K d (fun a _ => lifted q a) a); [|lra].
    eapply Rle_trans; [|apply (gap_ge K d _ a b Hb)]. apply minb_glb; [lia|]. intros j _.
    unfold lifted. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec a b); [easy|].
    pose proof (best_ge K (fun a _ => theta a) a 0 Ha). simpl in H. lra.
Qed.

(** A suboptimal arm is pulled at least [log T / kl] times, in expectation and in the limit. *)
Theorem lai_robbins :
  liminf_at_least
    (fun T => E (outcomes (copied theta) pi T) (fun h => INR (count h b)) / ln (INR T))
    (/ kl (theta b) top).
Proof.
  intros eps Heps. pose proof top_below_one as Hone. pose proof (Htheta b Hb) as Hbi.
  set (k := kl (theta b) top). assert (Hk : 0 < k) by (apply kl_positive; lra).
  set (s := Rmin (1 / 2) (eps * k / 3)).
  assert (Hs : 0 < s <= 1 / 2 /\ 3 * s <= eps * k).
  { assert (0 < eps * k) by (now apply Rmult_lt_0_compat).
    pose proof (Rmin_l (1 / 2) (eps * k / 3)). pose proof (Rmin_r (1 / 2) (eps * k / 3)).
    assert (0 < s) by (unfold s; apply Rmin_glb_lt; lra). unfold s in *. lra. }
  set (eta := Rmin ((1 - top) / 2) (s * k * (1 - top) / 2)).
  assert (Heta : 0 < eta /\ eta <= (1 - top) / 2 /\ eta <= s * k * (1 - top) / 2).
  { assert (0 < s * k * (1 - top)) by (repeat apply Rmult_lt_0_compat; lra). unfold eta.
    split; [apply Rmin_glb_lt; lra|]. split; [apply Rmin_l|apply Rmin_r]. }
  set (q := top + eta). assert (Hq : top < q < 1) by (unfold q; lra).
  set (D := kl (theta b) q). assert (HD : 0 < D) by (apply kl_positive; lra).
  assert (HDk : (1 - s) * D <= k).
  { pose proof (kl_right (theta b) top q ltac:(lra) ltac:(lra) ltac:(lra)) as H. fold D k in H.
    assert ((q - top) / (1 - q) <= s * k); [|nra].
    apply Rmult_le_reg_r with (1 - q); [lra|].
    replace ((q - top) / (1 - q) * (1 - q)) with (q - top) by (field; lra).
    assert ((1 - top) / 2 <= 1 - q) by (unfold q; lra).
    assert (0 < s * k) by (apply Rmult_lt_0_compat; lra). unfold q. nra. }
  assert (Hl : forall i, (i < K)%nat -> 0 < lifted q i < 1).
  { intros i Hi. unfold lifted. destruct (i =? b)%nat; [lra|now apply Htheta]. }
  assert (Eb : lifted q b = q) by (unfold lifted; now rewrite Nat.eqb_refl).
  assert (Hrare : exists n0, forall T, (n0 <= T)%nat -> Pr (outcomes (copied theta) pi T)
    (fun h => (2 * count h b <=? T)%nat && few b ((1 - s) * ln (INR T) / D) h) <= s).
  { pose proof (rarely_few shown (fun i => shown_weight (theta i))
      (fun i => shown_weight (lifted q i)) K b Hb
      (fun i Hi => shown_proper _ (Htheta i Hi)) (fun i Hi => shown_proper _ (Hl i Hi))
      ltac:(intros i x _ Hne _; unfold lifted; destruct (Nat.eqb_spec i b); easy)
      pi (fun T h => (2 * count h b <=? T)%nat) (regret K d (fun a _ => lifted q a)) (eta / 2) s s Hpi)
      as H.
    cbv beta in H.
    rewrite shown_KL, Eb, <- (copied_weighted theta), <- (copied_weighted (lifted q)) in H.
    apply H; fold D; try lra.
    - intros alpha e Halpha He. rewrite <- copied_means. apply Hgood; auto.
      exists (lifted q). now split.
    - intros h. apply regret_nonneg.
    - intros T p Hp HA. destruct (outcomes_shape _ _ K T p Hpi Hp) as [Hlen Hbelow].
      apply Nat.leb_le, le_INR in HA. rewrite mult_INR in HA.
      replace (INR 2) with 2 in HA by (simpl; lra).
      eapply Rle_trans; [|apply lifted_regret; [apply Hq|easy]]. rewrite Hlen.
      replace (q - top) with eta by (unfold q; ring). nra. }
  destruct Hrare as (n1 & H1).
  destruct (ln_below_power (2 * (1 - s) / D) 1 1) as (n2 & H2); [lra|lra|].
  destruct (ln_large 1) as (n3 & H3).
  exists (Nat.max 1 (Nat.max n1 (Nat.max n2 n3))). intros T HT.
  specialize (H1 T ltac:(lia)). specialize (H2 T ltac:(lia)). specialize (H3 T ltac:(lia)).
  rewrite Rpower_1 in H2 by (apply lt_0_INR; lia). set (l := ln (INR T)) in *.
  set (x := (1 - s) * l / D) in *.
  replace (2 * (1 - s) / D * l) with (2 * x) in H2 by (unfold x; field; lra).
  assert (Hx : 0 <= x) by (apply Rmult_le_pos; [nra|apply Rlt_le, Rinv_0_lt_compat; lra]).
  set (N := E (outcomes (copied theta) pi T) (fun h => INR (count h b))).
  assert (Hlaw : is_law (outcomes (copied theta) pi T)).
  { apply (outcomes_is_law _ _ K); [easy|]. intros i Hi. rewrite copied_weighted.
    now apply proper_is_law, shown_proper, Htheta. }
  assert (HN : x * (1 - s) <= N).
  { apply Rle_trans with (E (outcomes (copied theta) pi T) (fun h =>
      x + - x * (if (2 * count h b <=? T)%nat && few b x h then 1 else 0))).
    - rewrite (E_plus _ (fun _ => x)), E_scale, E_const by easy. unfold Pr in H1. nra.
    - apply E_le; [easy|]. intros p _. set (h := snd p). pose proof (pos_INR (count h b)).
      unfold few. destruct (Rle_dec (INR (count h b)) x) as [Hle|Hgt]; rewrite ?andb_false_r; [|lra].
      destruct (Nat.leb_spec (2 * count h b) T) as [|Hbig]; cbn [andb]; [lra|].
      apply lt_INR in Hbig. rewrite mult_INR in Hbig. replace (INR 2) with 2 in Hbig by (simpl; lra). lra. }
  apply Rmult_le_reg_r with (l * k); [nra|].
  replace (N / l * (l * k)) with (N * k) by (field; lra).
  replace ((/ k - eps) * (l * k)) with ((1 - eps * k) * l) by (field; lra).
  apply Rle_trans with (x * (1 - s) * k); [|apply Rmult_le_compat_r; lra].
  apply Rle_trans with (x * (1 - s) * ((1 - s) * D)); [|apply Rmult_le_compat_l; nra].
  replace (x * (1 - s) * ((1 - s) * D)) with ((1 - s) ^ 3 * l) by (unfold x; field; lra).
  apply Rmult_le_compat_r; [lra|]. assert (1 - 3 * s <= (1 - s) ^ 3) by (simpl; nra). lra.
Qed.

End LaiRobbins.

(** ** Proposition 3 *)

(** From the pulls of every suboptimal arm to the constant 3/8. *)
Lemma constant_from_pulls (K : nat) (D : R) (EN : nat -> nat -> R) :
  (2 <= K)%nat -> 0 < D <= 1 / 4 ->
  (forall a, (1 <= a < K)%nat ->
    liminf_at_least (fun T => EN T a / ln (INR T)) (/ kl (1 / 2) (1 / 2 + D))) ->
  liminf_at_least (fun T => D * sum (K - 1) (fun i => EN T (S i)) / ln (INR T))
    (3 / 8 * (INR K - 1) / D).
Proof.
  intros HK HD LR eps Heps. set (k := kl (1 / 2) (1 / 2 + D)) in *.
  assert (Hk : 0 < k) by (apply kl_positive; lra).
  assert (Hk2 : k <= 8 / 3 * D ^ 2)
    by (destruct (proposition_3_chain D HD) as (E & H1 & H2); fold k in E; lra).
  assert (HK1 : 1 <= INR K - 1) by (apply le_INR in HK; simpl in HK; lra).
  set (e := eps / (D * (INR K - 1))).
  assert (HDK : 0 < D * (INR K - 1)) by (apply Rmult_lt_0_compat; lra).
  assert (He : 0 < e) by (apply Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat]).
  destruct (eventually_all (fun i n => / k - e <= EN n (S i) / ln (INR n)) (K - 1)) as (n0 & Hn0).
  { intros i Hi. apply (LR (S i)); [lia|easy]. }
  exists n0. intros n Hn.
  replace (D * sum (K - 1) (fun i => EN n (S i)) / ln (INR n))
    with (D * sum (K - 1) (fun i => EN n (S i) / ln (INR n))).
  2:{ unfold Rdiv. rewrite Rmult_assoc. f_equal.
      rewrite (Rmult_comm (sum _ _)), <- sum_scale. apply sum_ext. intros. ring. }
  apply Rle_trans with (D * sum (K - 1) (fun _ => / k - e)).
  2:{ apply Rmult_le_compat_l; [lra|]. apply sum_le. intros i Hi. now apply Hn0. }
  rewrite sum_const, minus_INR by lia. simpl INR.
  assert (HD3 : 3 / 8 / D <= D * / k).
  { apply Rmult_le_reg_r with (k * D); [apply Rmult_lt_0_compat; lra|].
    replace (3 / 8 / D * (k * D)) with (3 / 8 * k) by (field; lra).
    replace (D * / k * (k * D)) with (D ^ 2) by (field; lra). lra. }
  replace (D * ((INR K - 1) * (/ k - e))) with ((INR K - 1) * (D * / k) - eps)
    by (unfold e; field; lra).
  replace (3 / 8 * (INR K - 1) / D) with ((INR K - 1) * (3 / 8 / D)) by (field; lra).
  apply Rplus_le_compat_r. apply Rmult_le_compat_l; lra.
Qed.

(** Proposition 3: one arm with mean [1/2 + D], all others [1/2], every draw copied into all [d]
    objectives. The policy may toss coins and know the horizon. *)
Theorem proposition_3 (K d : nat) (D : R) (pi : policy) :
  (2 <= K)%nat -> (1 <= d)%nat -> 0 < D <= 1 / 4 ->
  admissible K pi -> uniformly_good K d (copies K) pi ->
  liminf_at_least
    (fun T => E (outcomes (copied (fun a => duplicated D a 0)) pi T) (regret K d (duplicated D))
              / ln (INR T))
    (3 / 8 * (INR K - 1) / D).
Proof.
  intros HK Hd HD Hpi Hgood. set (theta := fun a => duplicated D a 0).
  set (EN := fun T a => E (outcomes (copied theta) pi T) (fun h => INR (count h a))).
  assert (Htheta : forall a, (a < K)%nat -> 0 < theta a < 1)
    by (intros a _; unfold theta, duplicated; destruct (a =? 0)%nat; lra).
  assert (H3 := fun H => constant_from_pulls K D EN HK HD H).
  assert (LR : forall a, (1 <= a < K)%nat ->
    liminf_at_least (fun T => EN T a / ln (INR T)) (/ kl (1 / 2) (1 / 2 + D))).
  { intros a Ha.
    assert (Ea : theta a = 1 / 2)
      by (unfold theta, duplicated; destruct (Nat.eqb_spec a 0); [lia|reflexivity]).
    assert (Et : best K (fun a _ => theta a) 0 = 1 / 2 + D)
      by (apply (best_duplicated K d D); lia || lra).
    pose proof (lai_robbins K d pi theta a Hd ltac:(lia) Htheta ltac:(lra) Hpi Hgood) as H.
    rewrite Ea, Et in H. exact H. }
  intros eps Heps. destruct (H3 LR eps Heps) as (n0 & Hn0). exists n0. intros T HT.
  replace (E (outcomes (copied theta) pi T) (regret K d (duplicated D)))
    with (D * sum (K - 1) (fun i => EN T (S i))); [now apply Hn0|].
  unfold EN. rewrite <- E_sum, <- E_scale. apply E_ext. intros p Hp. symmetry.
  apply duplicated_regret; try lia; [lra|]. now apply (outcomes_shape _ _ K T p Hpi Hp).
Qed.
