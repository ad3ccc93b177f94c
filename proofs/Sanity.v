(** Theorems that show that the definitions mean what they should: a bound with its number, events
    that can happen, hypotheses that can be met, and two ways to count the same. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Lemmas Momab.Theorem
  Momab.Kl Momab.KlCertificates Momab.Price Momab.Probability Momab.LowerBound Momab.Expectation
  Momab.Policies Momab.PriceTheorem Momab.LaiRobbins Momab.GoodPolicy Momab.ImedRegret.
Import ListNotations.
Open Scope R_scope.

(** ** Theorem 4 with numbers: two arms, one objective, means 3/4 and 1/2 *)

Local Notation two := (duplicated (1 / 4)).

Lemma two_in_unit a j : 0 <= two a j <= 1.
Proof. unfold duplicated. destruct (a =? 0)%nat; lra. Qed.

Lemma two_gap_max : gap_max 2 1 two = 1 / 4.
Proof.
  unfold gap_max. change (Rmax (gap 2 1 two 0) (gap 2 1 two 1) = 1 / 4).
  rewrite !duplicated_gap by (lia || lra). simpl. rewrite Rmax_right; lra.
Qed.

Theorem theorem_4_in_numbers T D : (2 <= T)%nat -> play 2 1 T (bernoulli 1 two) D ->
  E D (fun x => regret 2 1 two (snd x)) <= 1 / 2 + 512 * ln (INR T) + / INR T ^ 2.
Proof.
  intros HT HD. pose proof (theorem_4_bernoulli 2 1 T two ltac:(lia) ltac:(lia) HT
    (fun a j _ _ => two_in_unit a j) D HD) as H.
  rewrite duplicated_lead in H by (lia || lra). specialize (H ltac:(lra)).
  rewrite two_gap_max in H. assert (0 < INR T) by (apply lt_0_INR; lia).
  replace (INR 2) with 2 in H by (simpl; lra). replace (INR 1) with 1 in H by reflexivity.
  eapply Rle_trans; [exact H|]. right. field. lra.
Qed.

(** It says something: at T = 2^15 it is below T / 4, the largest regret there can be. *)
Theorem theorem_4_not_trivial : exists D, play 2 1 (2 ^ 15) (bernoulli 1 two) D /\
  E D (fun x => regret 2 1 two (snd x)) < INR (2 ^ 15) * gap_max 2 1 two.
Proof.
  assert (HT : (2 <= 2 ^ 15)%nat) by (apply (Nat.pow_le_mono_r 2 1 15); lia).
  destruct (bernoulli_play_exists 2 1 (2 ^ 15) two ltac:(lia) ltac:(lia) HT
    (fun a j _ _ => two_in_unit a j)) as (D & HD).
  exists D. split; [exact HD|]. pose proof (theorem_4_in_numbers _ D HT HD) as H.
  rewrite two_gap_max. assert (E1 : INR (2 ^ 15) = 2 ^ 15) by (rewrite pow_INR; reflexivity).
  rewrite E1 in *.
  assert (Hln : ln (2 ^ 15) <= 15).
  { rewrite ln_pow by lra. pose proof (exp_ineq1_le (ln 2)) as He. rewrite exp_ln in He by lra.
    replace (INR 15) with 15 by (simpl; lra). lra. }
  assert (0 < / (2 ^ 15) ^ 2 <= 1).
  { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  lra.
Qed.

(** ** Proposition 8 for the event of the run itself *)

(** [off] says that the event of the paper does not hold along the run. *)
Theorem proposition_8_of_run K d T nu D (off : table * history -> bool) :
  (2 <= K)%nat -> (1 <= d)%nat -> (K <= T)%nat -> bounded_rewards K d nu -> play K d T nu D ->
  (forall p, In p D -> off (snd p) = true -> ~ event K d T 2 (means nu) (snd (snd p))) ->
  Pr D off <= 2 * INR K * INR d / INR T ^ 3.
Proof.
  intros HK Hd HT Hnu HD Hoff. pose proof HD as (Hlaw & Hmarg & Hplay).
  apply Rle_trans with (Pr D (fun x => bad K d T 2 (means nu) (fst x))).
  - apply Pr_le; [easy|]. intros p Hp Ho.
    destruct (bad K d T 2 (means nu) (fst (snd p))) eqn:Eb; [reflexivity|].
    exfalso. apply (Hoff p Hp Ho). destruct (Hplay p Hp) as (s & Hr & Hl).
    apply (not_bad_event K d T 2 (means nu) HK Hd HT _ _ s Eb Hr). lia.
  - unfold Pr. rewrite (Hmarg (fun y => if bad K d T 2 (means nu) y then 1 else 0)).
    now apply proposition_8.
Qed.

(** ** The kl event can happen *)

Section KlEvent.

Variables (K d T : nat) (c : R) (mu : nat -> vector).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat) (Hc : 0 <= c)
  (Hmu : forall a j, (a < K)%nat -> (j < d)%nat -> 0 <= mu a j <= 1).

Local Notation means_only := (fun a (_ : nat) => mu a).

(** If every reward equals its mean, all kl intervals hold along every run. *)
Theorem kl_event_possible h s : kl_run K d T c means_only h s -> kl_event K d T c mu h.
Proof.
  intros Hr later before E _ Hl a j Ha Hj. left.
  destruct (kl_run_before K d T c means_only h s Hr later before E) as (s' & Hb).
  rewrite (mean_is_average means_only _ a j (kl_run_reads K d T c means_only before s' Hb)).
  pose proof (kl_count_pos K d T c means_only before s' a Hb Hl Ha) as Hn. unfold average. rewrite sum_const.
  assert (0 < INR (count before a)) by (apply lt_0_INR; lia). field. lra.
Qed.

End KlEvent.

(** ** Two ways to count the expected regret *)

(** It is the sum over the arms of gap times expected pulls, for every law of histories. *)
Theorem expected_regret_by_pulls K d mu (P : law history) :
  (forall p, In p P -> arms_below K (snd p)) ->
  E P (regret K d mu) = sum K (fun a => gap K d mu a * E P (fun h => INR (count h a))).
Proof.
  intros Hb. rewrite (sum_ext K _ (fun a => E P (fun h => gap K d mu a * INR (count h a))))
    by (intros; now rewrite E_scale).
  rewrite <- E_sum. apply E_ext. intros p Hp. now apply regret_by_counts, Hb.
Qed.

(** ** Ties do not decide whether there is a certificate *)

Theorem certificate_without_ties K d T c h b e b' e' j :
  (j < d)%nat -> races K d T c h b e -> races K d T c h b' e' ->
  certifies T c h b e j -> b' j = b j /\ certifies T c h b' e' j.
Proof.
  intros Hj Hr Hr' Hcert.
  destruct (Hr j Hj) as [[Hb _] (He & Hne & Hmax)].
  destruct (Hr' j Hj) as [[Hb' Hm'] (He' & Hne' & _)]. unfold certifies in *.
  assert (Hbeta : 0 <= beta T c h (b j)) by (unfold beta, radius; apply sqrt_pos).
  assert (Eb : b' j = b j).
  { destruct (Nat.eq_dec (b' j) (b j)) as [|Hd']; [easy|].
    specialize (Hmax (b' j) Hb' Hd'). specialize (Hm' (b j) Hb). unfold L, U in *. lra. }
  split; [easy|]. rewrite Eb in *.
  assert (U T c h (e' j) j <= U T c h (e j) j) by (now apply Hmax). lra.
Qed.

(** ** The lower bounds *)

(** All hypotheses of the price theorem can be met at once, with a price above zero. *)
Theorem price_theorem_not_empty K d : (2 <= K)%nat -> (1 <= d)%nat ->
  exists mu pi C, (forall a j, 0 < mu a j < 1) /\ admissible K pi /\
    uniformly_good K d (independent K d) pi /\ is_price K d mu C /\ 0 < C.
Proof.
  intros HK Hd. destruct (uniformly_good_exists K d HK Hd) as (pi & Hpi & Hgood & _).
  assert (Hmu : forall a j, 0 < two a j < 1)
    by (intros a j; unfold duplicated; destruct (a =? 0)%nat; lra).
  destruct (price_exists K d two ltac:(lia) Hd) as (C & HC).
  exists two, pi, C. split; [exact Hmu|]. split; [exact Hpi|]. split; [exact Hgood|].
  split; [exact HC|]. apply (price_positive K d two Hd (fun a j _ _ => Hmu a j) C HC).
  exists 1%nat. split; [lia|]. rewrite duplicated_gap by (lia || lra). simpl. lra.
Qed.

(** With one objective the price is the constant of Lai and Robbins. *)
Theorem price_of_one_objective K mu C : is_price K 1 mu C ->
  C = sum K (fun b => deficit K mu b 0 / kl (mu b 0%nat) (best K mu 0)).
Proof.
  intros [(a & Ha & Hga & ->) _].
  assert (Eg : forall b, (b < K)%nat -> gap K 1 mu b = best K mu 0 - mu b O).
  { intros b Hb. rewrite (gap_ext K 1 mu (fun i _ => mu i O)); [|intros i j _ Hj|exact Hb].
    - exact (copied_gap K 1 (fun i => mu i O) b Hb (le_n 1)).
    - now replace j with O by lia. }
  apply sum_ext. intros b Hb. rewrite (Eg b Hb). rewrite (Eg a Ha) in Hga.
  assert (Ea : mu a O = best K mu 0) by lra. pose proof (best_ge K mu b 0 Hb) as Htop.
  unfold deficit, evidence, kl_plus. cbn [sum]. rewrite Rplus_0_l, Ea.
  destruct (Rlt_dec (mu b O) (best K mu 0)); [reflexivity|].
  replace (best K mu 0 - mu b O) with 0 by lra. unfold Rdiv. now rewrite !Rmult_0_l.
Qed.

(** ** Pareto IMED *)

(** Two numbers for each instance, chosen before the horizon and the play. *)
Theorem imed_logarithmic K d nu : (2 <= K)%nat -> (1 <= d)%nat -> bounded_rewards K d nu ->
  exists A B, forall T D, (K <= T)%nat -> imed_play K d T nu D ->
    E D (fun x => regret K d (means nu) (snd x)) <= A + B * ln (INR T).
Proof.
  intros HK Hd Hnu. destruct (least_gap K d nu K) as (g & Hg & Hmin). set (G := gap K d (means nu)) in *.
  exists (sum K (fun b => G b * (1 + waste K d (means nu) (g / 4)))), (sum K (fun b => G b * (2 / G b ^ 2))).
  intros T D HT HD. eapply Rle_trans; [apply (imed_regret K d T nu HK Hd HT Hnu D (g / 4) HD); [lra|]|].
  - intros a Ha Hga. specialize (Hmin a Ha Hga). unfold G in *. lra.
  - right. fold G. replace (sum K (fun b => G b * (2 / G b ^ 2)) * ln (INR T))
      with (sum K (fun b => ln (INR T) * (G b * (2 / G b ^ 2)))) by (rewrite sum_scale; ring).
    rewrite <- sum_plus. apply sum_ext. intros b _. unfold Rdiv. ring.
Qed.
