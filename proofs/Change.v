(** Change of measure: two instances that differ in one arm, seen through the same policy.

    What a policy rarely does on the one instance, it does on the other only after enough pulls of the
    arm in which they differ. No maximal inequality is needed: the second moment of the
    log-likelihood ratio, stopped after a number of pulls, is enough. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Probability Momab.Expectation
  Momab.Policies.
Import ListNotations.
Open Scope R_scope.

(** A law with the same outcomes and weights of its own. *)
Definition weighted (support : list vector) (w : vector -> R) : law vector :=
  map (fun x => (w x, x)) support.

(** The divergence of two laws with the same outcomes. *)
Definition KL (support : list vector) (w w' : vector -> R) : R :=
  E (weighted support w) (fun x => ln (w x / w' x)).

Definition proper (support : list vector) (w : vector -> R) : Prop :=
  (forall x, In x support -> 0 < w x) /\ E (weighted support w) (fun _ => 1) = 1.

Lemma proper_is_law support w : proper support w -> is_law (weighted support w).
Proof.
  intros [Hp H1]. split; [|exact H1]. intros p Hin. unfold weighted in Hin.
  apply in_map_iff in Hin. destruct Hin as (x & <- & Hx). now apply Rlt_le, Hp.
Qed.

Lemma E_centred {X} (D : law X) f : is_law D -> E D (fun x => f x - E D f) = 0.
Proof.
  intros HD. rewrite (E_ext D _ (fun x => f x + - E D f)) by (intros; ring).
  rewrite (E_plus D f (fun _ => - E D f)), E_const by easy. ring.
Qed.

(** Whether arm [b] has at most [x] pulls. *)
Definition few (b : nat) (x : R) (h : history) : bool :=
  if Rle_dec (INR (count h b)) x then true else false.

Section Change.

Variables (support : list vector) (w w' : nat -> vector -> R) (K b : nat).
Hypotheses (Hb : (b < K)%nat)
  (Hw : forall a, (a < K)%nat -> proper support (w a))
  (Hw' : forall a, (a < K)%nat -> proper support (w' a))
  (same : forall a x, (a < K)%nat -> a <> b -> In x support -> w a x = w' a x).

Local Notation here := (fun a => weighted support (w a)).
Local Notation there := (fun a => weighted support (w' a)).
Local Notation D := (KL support (w b) (w' b)).

(** The log-likelihood ratio of one reward of [b], and its variance. *)
Definition llr (x : vector) : R := ln (w b x / w' b x).
Definition Var : R := E (weighted support (w b)) (fun x => (llr x - D) ^ 2).

Lemma Var_nonneg : 0 <= Var.
Proof. apply E_nonneg; [now apply proper_is_law, Hw|]. intros. apply pow2_ge_0. Qed.

Section Rounds.

Variable choose : history -> law nat.
Hypothesis Hchoose : forall h, is_law (choose h) /\ forall q, In q (choose h) -> (snd q < K)%nat.

(** ** The likelihood ratio of a history *)

Fixpoint ratio (h : history) : R :=
  match h with [] => 1 | (a, x) :: h => ratio h * (w a x / w' a x) end.

Lemma change t f :
  E (histories here choose t) f = E (histories there choose t) (fun h => ratio h * f h).
Proof.
  revert f. induction t as [|t IH]; intros f; [simpl; ring|].
  rewrite !E_step, IH. apply E_ext. intros p _. rewrite <- E_scale. apply E_ext. intros q Hq.
  set (h := snd p). set (a := snd q). simpl ratio. unfold weighted.
  assert (Ha : (a < K)%nat) by (now apply (proj2 (Hchoose h))).
  assert (Hs : forall x, In x support -> 0 < w' a x) by apply (Hw' a Ha). clear - Hs.
  induction support as [|x s IHs]; simpl; [ring|].
  rewrite Rmult_plus_distr_l, IHs by (intros; apply Hs; now right).
  assert (0 < w' a x) by (apply Hs; now left). f_equal. field. lra.
Qed.

Fixpoint log_ratio (h : history) : R :=
  match h with
  | [] => 0
  | (a, x) :: h => if (a =? b)%nat then log_ratio h + llr x else log_ratio h
  end.

Lemma ratio_is t p : In p (histories there choose t) -> ratio (snd p) = exp (log_ratio (snd p)).
Proof.
  revert p. induction t as [|t IH]; intros p Hp.
  - destruct Hp as [<-|[]]. simpl. now rewrite exp_0.
  - destruct (histories_step _ _ t p Hp) as (q & r & u & Hq & Hr & Hu & ->).
    simpl. rewrite (IH q Hq). unfold weighted in Hu. apply in_map_iff in Hu.
    destruct Hu as (x & <- & Hx). simpl.
    assert (Ha : (snd r < K)%nat) by (now apply (proj2 (Hchoose (snd q)))).
    pose proof (proj1 (Hw (snd r) Ha) x Hx). pose proof (proj1 (Hw' (snd r) Ha) x Hx).
    destruct (Nat.eqb_spec (snd r) b) as [E|Hne].
    + rewrite exp_plus. unfold llr. rewrite <- E, exp_ln; [reflexivity|].
      now apply Rdiv_lt_0_compat.
    + rewrite same by easy. field. lra.
Qed.

(** ** The second moment *)

Section Stopped.

Variable x : R.
Hypothesis Hx : 0 <= x.

(** The first pulls of [b], up to [x] of them: how many there are, and what they add to the
    log-likelihood ratio beyond its expectation. *)
Definition early (h : history) : bool := if Rle_dec (INR (S (count h b))) x then true else false.

Fixpoint stopped (h : history) : nat :=
  match h with
  | [] => O
  | (a, _) :: h => if (a =? b)%nat && early h then S (stopped h) else stopped h
  end.

Fixpoint excess (h : history) : R :=
  match h with
  | [] => 0
  | (a, y) :: h => if (a =? b)%nat && early h then excess h + (llr y - D) else excess h
  end.

Lemma stopped_le h : (stopped h <= count h b)%nat /\ INR (stopped h) <= x.
Proof.
  induction h as [|[a y] h [IH1 IH2]]; [split; [reflexivity|exact Hx]|]. simpl.
  destruct (Nat.eqb_spec a b); [|easy]. unfold early.
  destruct (Rle_dec (INR (S (count h b))) x); cbn [andb]; [|split; [lia|easy]].
  split; [lia|]. eapply Rle_trans; [|exact r]. apply le_INR. lia.
Qed.

Lemma excess_is h : INR (count h b) <= x -> log_ratio h = excess h + D * INR (count h b).
Proof.
  induction h as [|[a y] h IH]; intros Hle; [simpl; ring|]. cbn [count log_ratio excess] in *.
  destruct (Nat.eqb_spec a b); [|now apply IH]. unfold early.
  destruct (Rle_dec (INR (S (count h b))) x) as [_|Hgt]; [|easy]. cbn [andb].
  rewrite S_INR in *. rewrite IH by lra. ring.
Qed.

Lemma second_moment t :
  E (histories here choose t) (fun h => excess h ^ 2 - Var * INR (stopped h)) = 0.
Proof.
  induction t as [|t IH]; [simpl; ring|]. rewrite E_step.
  etransitivity; [|exact IH]. apply E_ext. intros p _. set (h := snd p).
  rewrite (E_ext _ _ (fun _ => excess h ^ 2 - Var * INR (stopped h)));
    [now apply E_const, Hchoose|].
  intros q Hq. set (a := snd q).
  assert (Ha : is_law (weighted support (w a)))
    by (apply proper_is_law, Hw; now apply (proj2 (Hchoose h))).
  cbn [excess stopped]. destruct (Nat.eqb_spec a b) as [Ea|Hne]; cbn [andb]; [|now apply E_const].
  destruct (early h); [|now apply E_const]. rewrite S_INR.
  rewrite (E_ext _ _ (fun y => (excess h ^ 2 - Var * INR (stopped h) - Var)
     + (2 * excess h * (llr y - D) + (llr y - D) ^ 2))) by (intros; ring).
  rewrite (E_plus _ (fun _ => _)), E_const by easy.
  rewrite (E_plus _ (fun y => 2 * excess h * (llr y - D))), E_scale.
  rewrite Ea in *. change (E (weighted support (w b)) (fun y => (llr y - D) ^ 2)) with Var.
  rewrite (E_centred (weighted support (w b)) llr Ha : E _ (fun y => llr y - D) = 0). ring.
Qed.

Lemma second_moment_le t : E (histories here choose t) (fun h => excess h ^ 2) <= Var * x.
Proof.
  pose proof (second_moment t) as H.
  rewrite (E_ext _ _ (fun h => excess h ^ 2 + - Var * INR (stopped h))) in H by (intros; ring).
  rewrite (E_plus _ (fun h => excess h ^ 2)), E_scale in H.
  assert (Hlaw : is_law (histories here choose t))
    by (apply (histories_is_law _ _ K); [exact Hchoose|]; intros a Ha; now apply proper_is_law, Hw).
  assert (E (histories here choose t) (fun h => INR (stopped h)) <= x).
  { rewrite <- (E_const (histories here choose t) x Hlaw). apply E_le; [easy|].
    intros. apply stopped_le. }
  pose proof Var_nonneg. nra.
Qed.

(** ** The inequality from which the lower bounds follow

    An event with at most [x] pulls of [b] is about [exp lambda] times as likely here as there, at
    most, once [lambda] is above the expected log-likelihood ratio. *)
Lemma few_pulls_cost (A : history -> bool) lambda t : 0 <= D -> x * D < lambda ->
  Pr (histories here choose t) (fun h => A h && few b x h)
  <= exp lambda * Pr (histories there choose t) (fun h => A h && few b x h)
     + Var * x / (lambda - x * D) ^ 2.
Proof.
  intros HD Hlam. set (gamma := lambda - x * D). assert (Hg : 0 < gamma) by (unfold gamma; lra).
  assert (Hlaw : is_law (histories here choose t))
    by (apply (histories_is_law _ _ K); [exact Hchoose|]; intros a Ha; now apply proper_is_law, Hw).
  assert (Hlaw' : is_law (histories there choose t))
    by (apply (histories_is_law _ _ K); [exact Hchoose|]; intros a Ha; now apply proper_is_law, Hw').
  set (ind := fun h => if A h && few b x h then 1 else 0).
  set (low := fun h => if Rle_dec (log_ratio h) lambda then ind h else 0).
  assert (Hinv : 0 < / gamma ^ 2) by (apply Rinv_0_lt_compat, pow_lt; lra).
  apply Rle_trans with (E (histories here choose t) (fun h => low h + / gamma ^ 2 * excess h ^ 2)).
  - apply E_le; [easy|]. intros p _. set (h := snd p). fold (ind h). unfold low.
    pose proof (pow2_ge_0 (excess h)).
    destruct (Rle_dec (log_ratio h) lambda) as [|Hev]; [nra|].
    unfold ind, few. destruct (Rle_dec (INR (count h b)) x) as [Hm|]; rewrite ?andb_false_r; [|nra].
    destruct (A h); cbn [andb]; [|nra].
    rewrite (excess_is h Hm) in Hev.
    assert (gamma <= excess h) by (unfold gamma; nra).
    assert (gamma ^ 2 <= excess h ^ 2) by (apply pow_incr; lra).
    apply Rmult_le_reg_l with (gamma ^ 2); [apply pow_lt; lra|].
    replace (gamma ^ 2 * (0 + / gamma ^ 2 * excess h ^ 2)) with (excess h ^ 2) by (field; lra). lra.
  - rewrite (E_plus _ low), E_scale. apply Rplus_le_compat.
    + rewrite change. unfold Pr. fold ind. rewrite <- E_scale.
      apply E_le; [easy|]. intros p Hp. rewrite (ratio_is t p Hp). set (h := snd p). unfold low.
      assert (Hi : 0 <= ind h) by (unfold ind; destruct (_ && _); lra).
      pose proof (exp_pos lambda). pose proof (exp_pos (log_ratio h)).
      destruct (Rle_dec (log_ratio h) lambda) as [Hle|_]; [|fold (ind h); nra].
      fold (ind h). apply Rmult_le_compat_r; [easy|].
      destruct Hle as [Hlt| ->]; [apply Rlt_le, exp_increasing, Hlt|lra].
    + unfold Rdiv. rewrite (Rmult_comm (Var * x)). apply Rmult_le_compat_l; [lra|].
      apply second_moment_le.
Qed.

End Stopped.
End Rounds.

(** ** For large horizons

    Let an event [A] cost the policy [eta T] there, where its regret is small. Then [A] with less
    than [log T / D] pulls of [b] is rare here. *)
Lemma rarely_few (pi : policy) (A : nat -> history -> bool) (cost : history -> R) eta s delta :
  admissible K pi -> 0 < D -> 0 < eta -> 0 < s < 1 -> 0 < delta ->
  (forall alpha eps, 0 < alpha -> 0 < eps -> exists n0, forall T, (n0 <= T)%nat ->
     E (outcomes there pi T) cost <= eps * Rpower (INR T) alpha) ->
  (forall h, 0 <= cost h) ->
  (forall T p, In p (outcomes there pi T) -> A T (snd p) = true -> eta * INR T <= cost (snd p)) ->
  exists n0, forall T, (n0 <= T)%nat ->
    Pr (outcomes here pi T) (fun h => A T h && few b ((1 - s) * ln (INR T) / D) h) <= delta.
Proof.
  intros Hpi HD Heta Hs Hdelta Hgood Hcost HA.
  assert (He : 0 < delta * eta) by (now apply Rmult_lt_0_compat).
  destruct (Hgood (s / 2) (delta * eta / 2) ltac:(lra) ltac:(lra)) as (n1 & H1).
  set (V := Var). pose proof Var_nonneg as HV. fold V in HV.
  destruct (ln_large (Rmax 1 (8 * V / (s ^ 2 * D * delta)))) as (n2 & H2).
  exists (Nat.max 1 (Nat.max n1 n2)). intros T HT.
  specialize (H1 T ltac:(lia)). specialize (H2 T ltac:(lia)).
  pose proof (Rmax_l 1 (8 * V / (s ^ 2 * D * delta))).
  pose proof (Rmax_r 1 (8 * V / (s ^ 2 * D * delta))).
  assert (HTpos : 0 < INR T) by (apply lt_0_INR; lia).
  set (l := ln (INR T)) in *. set (x := (1 - s) * l / D).
  assert (HxD : x * D = (1 - s) * l) by (unfold x; field; lra).
  assert (Hx : 0 <= x).
  { apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat; lra. }
  set (lambda := (1 - s / 2) * l).
  pose proof (few_pulls_cost (pi T) (Hpi T) x Hx (A T) lambda T ltac:(lra)
    ltac:(rewrite HxD; unfold lambda; nra)) as Hcore.
  fold (outcomes here pi T) in Hcore. fold (outcomes there pi T) in Hcore.
  eapply Rle_trans; [exact Hcore|]. fold V.
  replace (lambda - x * D) with (s / 2 * l) by (rewrite HxD; unfold lambda; field).
  assert (Hthere : INR T * Pr (outcomes there pi T) (fun h => A T h && few b x h)
                   <= delta / 2 * Rpower (INR T) (s / 2)).
  { apply Rmult_le_reg_l with eta; [easy|].
    apply Rle_trans with (E (outcomes there pi T) cost); [|lra].
    unfold Pr. rewrite <- Rmult_assoc, <- E_scale. apply E_le.
    - apply (outcomes_is_law _ _ K); [easy|]. intros a Ha. now apply proper_is_law, Hw'.
    - intros p Hp. specialize (HA T p Hp). specialize (Hcost (snd p)).
      destruct (A T (snd p)); cbn [andb]; [|lra]. specialize (HA eq_refl).
      destruct (few b x (snd p)); lra. }
  assert (Hexp : exp lambda * Rpower (INR T) (s / 2) = INR T).
  { unfold Rpower. fold l. rewrite <- exp_plus. unfold lambda.
    replace ((1 - s / 2) * l + s / 2 * l) with l by ring. now apply exp_ln. }
  assert (Hfirst : exp lambda * Pr (outcomes there pi T) (fun h => A T h && few b x h) <= delta / 2).
  { apply Rmult_le_reg_l with (INR T); [easy|]. pose proof (exp_pos lambda).
    replace (INR T * (exp lambda * Pr (outcomes there pi T) (fun h => A T h && few b x h)))
      with (exp lambda * (INR T * Pr (outcomes there pi T) (fun h => A T h && few b x h))) by ring.
    replace (INR T * (delta / 2)) with (exp lambda * (delta / 2 * Rpower (INR T) (s / 2)))
      by (rewrite <- Hexp at 2; ring).
    apply Rmult_le_compat_l; lra. }
  assert (Hsecond : V * x / (s / 2 * l) ^ 2 <= delta / 2).
  { assert (Hd : 0 < s ^ 2 * D * delta) by (repeat apply Rmult_lt_0_compat; lra || (apply pow_lt; lra)).
    assert (Hbig : 8 * V <= l * (s ^ 2 * D * delta)).
    { apply Rmult_le_reg_r with (/ (s ^ 2 * D * delta)); [now apply Rinv_0_lt_compat|].
      replace (l * (s ^ 2 * D * delta) * / (s ^ 2 * D * delta)) with l by (field; repeat split; lra).
      unfold Rdiv in *. lra. }
    replace (V * x / (s / 2 * l) ^ 2) with (4 * V * (1 - s) / (s ^ 2 * D * l))
      by (unfold x; field; repeat split; lra).
    assert (Hden : 0 < s ^ 2 * D * l) by (repeat apply Rmult_lt_0_compat; lra || (apply pow_lt; lra)).
    apply Rmult_le_reg_r with (s ^ 2 * D * l); [easy|].
    replace (4 * V * (1 - s) / (s ^ 2 * D * l) * (s ^ 2 * D * l)) with (4 * V * (1 - s))
      by (field; repeat split; lra).
    nra. }
  lra.
Qed.

End Change.
