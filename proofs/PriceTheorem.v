(** The price of an instance: no uniformly good policy has less regret per [log T], in the limit.

    First for a class of laws with finitely many outcomes, then for independent Bernoulli
    rewards, where the evidence is the one of [Price.v]. *)

Require Import Reals Lra Lia Arith List Bool FunctionalExtensionality.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Kl Momab.Price Momab.Probability
  Momab.Expectation Momab.Policies Momab.Change.
Import ListNotations.
Open Scope R_scope.

(** ** A class of laws *)

Section Class.

Variables (K d : nat) (class : (nat -> law vector) -> Prop) (pi : policy)
  (nu : nat -> law vector) (info : nat -> nat -> R).

Local Notation gap := (gap K d (means nu)).

(** An instance of the class that differs from [nu] in arm [b] alone, by the divergence [D], and in
    which arm [a] has a positive gap. *)
Definition rival (b a : nat) (D : R) : Prop :=
  exists support w w',
    nu = (fun i => weighted support (w i)) /\ class (fun i => weighted support (w' i)) /\
    (forall i, (i < K)%nat -> proper support (w i) /\ proper support (w' i)) /\
    (forall i x, (i < K)%nat -> i <> b -> In x support -> w i x = w' i x) /\
    D = KL support (w b) (w' b) /\
    0 < Pareto.gap K d (means (fun i => weighted support (w' i))) a.

Hypotheses (Hpi : admissible K pi) (Hgood : uniformly_good K d class pi)
  (Hlaw : forall a, (a < K)%nat -> is_law (nu a))
  (Hinfo : forall a b, (a < K)%nat -> (b < K)%nat -> gap a = 0 -> 0 < gap b -> 0 < info b a)
  (Hrival : forall a b eps, (a < K)%nat -> (b < K)%nat -> gap a = 0 -> 0 < gap b -> 0 < eps ->
     exists D, 0 < D <= info b a + eps /\ rival b a D).

(** Many pulls of [a] with few pulls of [b] are rare. *)
Lemma pair_rare a b s delta :
  (a < K)%nat -> (b < K)%nat -> gap a = 0 -> 0 < gap b -> 0 < s < 1 -> 0 < delta ->
  exists n0, forall T, (n0 <= T)%nat ->
    Pr (outcomes nu pi T) (fun h => (T <=? 2 * K * count h a)%nat
      && few b ((1 - s) ^ 2 * ln (INR T) / info b a) h) <= delta.
Proof.
  intros Ha Hb Hga Hgb Hs Hdelta. pose proof (Hinfo a b Ha Hb Hga Hgb) as HI.
  set (I := info b a) in *.
  destruct (Hrival a b (I * s / (1 - s)) Ha Hb Hga Hgb) as (D & [HD0 HD] & Hr).
  { apply Rmult_lt_0_compat; [nra|apply Rinv_0_lt_compat; lra]. }
  fold I in HD. replace (I + I * s / (1 - s)) with (I / (1 - s)) in HD by (field; lra).
  destruct Hr as (support & w & w' & -> & Hclass & Hproper & Hsame & E & Hgap).
  set (there := fun i => weighted support (w' i)) in *. set (g := Pareto.gap K d (means there) a) in *.
  assert (HK : 0 < INR K) by (apply lt_0_INR; lia).
  destruct (rarely_few support w w' K b Hb (fun i Hi => proj1 (Hproper i Hi))
    (fun i Hi => proj2 (Hproper i Hi)) Hsame pi (fun T h => (T <=? 2 * K * count h a)%nat)
    (regret K d (means there)) (g / (2 * INR K)) s delta Hpi) as (n1 & H1); try easy.
  - now rewrite <- E.
  - apply Rdiv_lt_0_compat; lra.
  - intros alpha eps Halpha Heps. now apply Hgood.
  - intros h. apply regret_nonneg.
  - intros T p Hp HA. apply Nat.leb_le in HA. apply le_INR in HA. rewrite !mult_INR in HA.
    replace (INR 2) with 2 in HA by (simpl; lra). destruct (outcomes_shape _ _ K T p Hpi Hp) as [_ Hbelow].
    rewrite regret_by_counts by easy.
    apply Rle_trans with (g * INR (count (snd p) a)).
    + apply Rmult_le_reg_r with (2 * INR K); [lra|].
      replace (g / (2 * INR K) * INR T * (2 * INR K)) with (g * INR T) by (field; lra).
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [now apply Rlt_le|]. lra.
    + apply (sum_ge_term K (fun i => Pareto.gap K d (means there) i * INR (count (snd p) i))); [|easy].
      intros i _. apply Rmult_le_pos; [apply gap_nonneg|apply pos_INR].
  - rewrite <- E in H1. exists (Nat.max 1 n1). intros T HT. specialize (H1 T ltac:(lia)).
    eapply Rle_trans; [|exact H1]. apply Pr_le.
    + apply (outcomes_is_law _ _ K); [easy|]. intros i Hi. now apply proper_is_law, Hproper.
    + intros p _ HA. apply andb_prop in HA. destruct HA as [HA Hfew]. rewrite HA. cbn [andb].
      unfold few in *. destruct (Rle_dec _ ((1 - s) ^ 2 * _ / _)) as [Hle|]; [|discriminate].
      destruct (Rle_dec _ _) as [_|Hn]; [reflexivity|]. exfalso. apply Hn.
      eapply Rle_trans; [exact Hle|]. pose proof (ln_INR_nonneg T ltac:(lia)) as Hl.
      apply Rmult_le_reg_r with (D * I); [nra|].
      replace ((1 - s) ^ 2 * ln (INR T) / I * (D * I)) with ((1 - s) * ln (INR T) * (D * (1 - s)))
        by (field; lra).
      replace ((1 - s) * ln (INR T) / D * (D * I)) with ((1 - s) * ln (INR T) * I) by (field; lra).
      apply Rmult_le_compat_l; [nra|]. apply Rmult_le_reg_r with (/ (1 - s)); [apply Rinv_0_lt_compat; lra|].
      replace (D * (1 - s) * / (1 - s)) with D by (field; lra). exact HD.
Qed.

(** All of this at once: an event that is rare, and has probability 0 for pairs that do not
    count. *)
Definition misled (s : R) (T : nat) (h : history) : bool :=
  some K (fun a => some K (fun b =>
    if Req_EM_T (gap a) 0 then if Rlt_dec 0 (gap b) then
      (T <=? 2 * K * count h a)%nat && few b ((1 - s) ^ 2 * ln (INR T) / info b a) h
    else false else false)).

Lemma misled_rare s delta : 0 < s < 1 -> 0 < delta ->
  exists n0, forall T, (n0 <= T)%nat -> Pr (outcomes nu pi T) (misled s T) <= INR K * (INR K * delta).
Proof.
  intros Hs Hdelta.
  destruct (eventually_all (fun a T => forall b, (b < K)%nat -> Pr (outcomes nu pi T) (fun h =>
    if Req_EM_T (gap a) 0 then if Rlt_dec 0 (gap b) then
      (T <=? 2 * K * count h a)%nat && few b ((1 - s) ^ 2 * ln (INR T) / info b a) h
    else false else false) <= delta) K) as (n0 & H0).
  - intros a Ha. destruct (eventually_all (fun b T => Pr (outcomes nu pi T) (fun h =>
      if Req_EM_T (gap a) 0 then if Rlt_dec 0 (gap b) then
        (T <=? 2 * K * count h a)%nat && few b ((1 - s) ^ 2 * ln (INR T) / info b a) h
      else false else false) <= delta) K) as (n0 & H0).
    + intros b Hb. assert (Hz : exists n0, forall T, (n0 <= T)%nat ->
          Pr (outcomes nu pi T) (fun _ => false) <= delta).
      { exists O. intros T _. unfold Pr. rewrite E_const; [lra|].
        now apply (outcomes_is_law _ _ K). }
      destruct (Req_EM_T (gap a) 0); [|exact Hz].
      destruct (Rlt_dec 0 (gap b)); [|exact Hz]. now apply pair_rare.
    + exists n0. intros T HT b Hb. now apply H0.
  - exists n0. intros T HT. assert (HL : is_law (outcomes nu pi T)) by (now apply (outcomes_is_law _ _ K)).
    unfold misled. eapply Rle_trans; [apply (union_bound _ K (fun a h => some K (fun b => _)) HL)|].
    rewrite <- sum_const. apply sum_le. intros a Ha.
    eapply Rle_trans; [apply (union_bound _ K (fun b h => _) HL)|].
    rewrite <- sum_const. apply sum_le. intros b Hb. now apply H0.
Qed.

(** The smallest positive gap, or 1 if there is none. *)
Lemma least_gap n : exists g, 0 < g /\ forall b, (b < n)%nat -> 0 < gap b -> g <= gap b.
Proof.
  induction n as [|n (g & Hg & H)]; [exists 1; split; [lra|intros; lia]|].
  destruct (Rlt_dec 0 (gap n)) as [Hn|Hn].
  - exists (Rmin g (gap n)). split; [now apply Rmin_glb_lt|]. intros b Hb Hpos.
    destruct (Nat.eq_dec b n) as [->|]; [apply Rmin_r|].
    eapply Rle_trans; [apply Rmin_l|]. apply H; [lia|easy].
  - exists g. split; [easy|]. intros b Hb Hpos.
    destruct (Nat.eq_dec b n) as [->|]; [easy|]. apply H; [lia|easy].
Qed.

(** If no optimal arm has its share of the pulls, the others have half of them. *)
Lemma regret_without_favourite g h : (0 < K)%nat -> 0 < g ->
  (forall b, (b < K)%nat -> 0 < gap b -> g <= gap b) -> arms_below K h ->
  (forall a, (a < K)%nat -> gap a = 0 -> (2 * K * count h a < length h)%nat) ->
  g * INR (length h) / 2 <= regret K d (means nu) h.
Proof.
  intros HK Hg Hmin Hb Hnone. rewrite regret_by_counts by easy.
  assert (HKpos : 0 < INR K) by (now apply lt_0_INR).
  set (share := INR (length h) / (2 * INR K)).
  assert (H : g * (INR (length h) - INR K * share) <= sum K (fun a => gap a * INR (count h a))).
  { rewrite <- (counts_add_up K h Hb), <- sum_const.
    replace (sum K (fun a => INR (count h a)) - sum K (fun _ => share))
      with (sum K (fun a => INR (count h a) + -1 * share))
      by (rewrite sum_plus, sum_scale; ring).
    rewrite <- sum_scale. apply sum_le. intros a Ha. pose proof (pos_INR (count h a)).
    assert (Hshare : 0 <= share)
      by (apply Rmult_le_pos; [apply pos_INR|apply Rlt_le, Rinv_0_lt_compat; lra]).
    destruct (Req_EM_T (gap a) 0) as [Hz|Hnz].
    - specialize (Hnone a Ha Hz). apply lt_INR in Hnone. rewrite !mult_INR in Hnone.
      replace (INR 2) with 2 in Hnone by (simpl; lra). rewrite Hz.
      assert (INR (count h a) <= share); [|nra]. unfold share.
      apply Rmult_le_reg_r with (2 * INR K); [lra|].
      replace (INR (length h) / (2 * INR K) * (2 * INR K)) with (INR (length h)) by (field; lra). lra.
    - pose proof (gap_nonneg K d (means nu) a). specialize (Hmin a Ha ltac:(lra)). nra. }
  replace (INR K * share) with (INR (length h) / 2) in H by (unfold share; field; lra). lra.
Qed.

Variable C : R.
Hypotheses (HK : (0 < K)%nat) (HC : 0 <= C)
  (Hleast : forall a, (a < K)%nat -> gap a = 0 -> C <= sum K (fun b => gap b / info b a)).

(** On every path that is not misled. *)
Lemma regret_with_favourite s T h a : (1 <= T)%nat -> arms_below K h -> length h = T ->
  misled s T h = false -> (a < K)%nat -> gap a = 0 -> (T <= 2 * K * count h a)%nat ->
  (1 - s) ^ 2 * ln (INR T) * C <= regret K d (means nu) h.
Proof.
  intros HT Hb Hlen Hm Ha Hga Hmany. pose proof (ln_INR_nonneg T HT) as Hl.
  pose proof (pow2_ge_0 (1 - s)).
  apply Rle_trans with ((1 - s) ^ 2 * ln (INR T) * sum K (fun b => gap b / info b a)).
  - apply Rmult_le_compat_l; [now apply Rmult_le_pos|now apply Hleast].
  - rewrite regret_by_counts, <- sum_scale by easy. apply sum_le. intros b Hbk.
    destruct (Rlt_dec 0 (gap b)) as [Hgb|Hgb].
    + unfold misled in Hm. apply some_false with (i := a) in Hm; [|easy].
      apply some_false with (i := b) in Hm; [|easy].
      destruct (Req_EM_T (gap a) 0); [|easy]. destruct (Rlt_dec 0 (gap b)); [|easy].
      apply andb_false_iff in Hm. destruct Hm as [Hm|Hm].
      * apply Nat.leb_gt in Hm. lia.
      * unfold few in Hm. destruct (Rle_dec _ _) as [|Hgt]; [discriminate|].
        pose proof (Hinfo a b Ha Hbk Hga Hgb).
        replace ((1 - s) ^ 2 * ln (INR T) * (gap b / info b a))
          with (gap b * ((1 - s) ^ 2 * ln (INR T) / info b a)) by (field; lra).
        apply Rmult_le_compat_l; lra.
    + pose proof (gap_nonneg K d (means nu) b). assert (Hz : gap b = 0) by lra. rewrite Hz.
      unfold Rdiv. rewrite !Rmult_0_l, Rmult_0_r. lra.
Qed.

(** The price for a class of laws. *)
Theorem price_of_class :
  liminf_at_least (fun T => E (outcomes nu pi T) (regret K d (means nu)) / ln (INR T)) C.
Proof.
  intros eps Heps. set (s := Rmin (1 / 2) (eps / (3 * (C + 1)))).
  assert (Hs0 : 0 < eps / (3 * (C + 1))) by (apply Rdiv_lt_0_compat; lra).
  assert (Hs : 0 < s <= 1 / 2) by (unfold s; split; [apply Rmin_glb_lt; lra|apply Rmin_l]).
  assert (HsC : 3 * s * C <= eps).
  { assert (s <= eps / (3 * (C + 1))) by apply Rmin_r.
    assert (s * (3 * (C + 1)) <= eps); [|nra].
    replace eps with (eps / (3 * (C + 1)) * (3 * (C + 1))) by (field; lra).
    apply Rmult_le_compat_r; lra. }
  assert (HKpos : 0 < INR K) by (now apply lt_0_INR).
  destruct (misled_rare s (s / (INR K * INR K))) as (n1 & H1); [lra| |].
  { apply Rdiv_lt_0_compat; [lra|nra]. }
  destruct (least_gap K) as (g & Hg & Hmin).
  destruct (ln_below_power C 1 (g / 2)) as (n2 & H2); [lra|lra|].
  destruct (ln_large 1) as (n3 & H3).
  exists (Nat.max 1 (Nat.max n1 (Nat.max n2 n3))). intros T HT.
  specialize (H1 T ltac:(lia)). specialize (H2 T ltac:(lia)). specialize (H3 T ltac:(lia)).
  replace (INR K * (INR K * (s / (INR K * INR K)))) with s in H1 by (field; lra).
  assert (HTpos : 0 < INR T) by (apply lt_0_INR; lia). rewrite Rpower_1 in H2 by easy.
  assert (HL : is_law (outcomes nu pi T)) by (now apply (outcomes_is_law _ _ K)).
  set (l := ln (INR T)) in *. set (c := (1 - s) ^ 2 * l * C).
  assert (Hsq : 0 <= (1 - s) ^ 2 <= 1) by (simpl; nra).
  assert (Hc0 : 0 <= c) by (unfold c; repeat apply Rmult_le_pos; lra).
  assert (Hmain : c * (1 - s) <= E (outcomes nu pi T) (regret K d (means nu))).
  { apply Rle_trans with (E (outcomes nu pi T) (fun h => c + - c * (if misled s T h then 1 else 0))).
    - rewrite (E_plus _ (fun _ => c)), E_scale, E_const by easy.
      fold (Pr (outcomes nu pi T) (misled s T)). nra.
    - apply E_le; [easy|]. intros p Hp. destruct (outcomes_shape _ _ K T p Hpi Hp) as [Hlen Hb].
      pose proof (regret_nonneg K d (means nu) (snd p)).
      destruct (misled s T (snd p)) eqn:Em; [lra|]. rewrite Rmult_0_r, Rplus_0_r.
      destruct (search (fun a => gap a = 0 /\ (T <= 2 * K * count (snd p) a)%nat)
        (fun a => match Req_EM_T (gap a) 0, le_dec T (2 * K * count (snd p) a) with
                  | left H1, left H2 => left (conj H1 H2)
                  | right H1, _ => right (fun H => H1 (proj1 H))
                  | _, right H2 => right (fun H => H2 (proj2 H)) end) K)
        as [(a & Ha & Hga & Hmany)|Hnone].
      + now apply (regret_with_favourite s T (snd p) a ltac:(lia)).
      + apply Rle_trans with (g * INR (length (snd p)) / 2).
        * rewrite Hlen. apply Rle_trans with (C * l); [|lra]. unfold c.
          replace ((1 - s) ^ 2 * l * C) with ((1 - s) ^ 2 * (C * l)) by ring.
          assert (0 <= C * l) by (apply Rmult_le_pos; lra). nra.
        * apply regret_without_favourite; auto. intros a Ha Hga. rewrite Hlen.
          specialize (Hnone a Ha). apply Nat.nle_gt. intros Hle. now apply Hnone. }
  set (R := E (outcomes nu pi T) (regret K d (means nu))) in *.
  apply Rmult_le_reg_r with l; [lra|]. replace (R / l * l) with R by (field; lra).
  eapply Rle_trans; [|exact Hmain]. unfold c.
  replace ((1 - s) ^ 2 * l * C * (1 - s)) with ((1 - s) ^ 3 * C * l) by ring.
  apply Rmult_le_compat_r; [lra|].
  assert (1 - 3 * s <= (1 - s) ^ 3) by (simpl; nra). nra.
Qed.

End Class.

(** ** Independent Bernoulli rewards *)

(** All instances with independent Bernoulli rewards whose means are inside the unit interval. *)
Definition independent (K d : nat) (nu : nat -> law vector) : Prop :=
  exists mu, (forall a j, (a < K)%nat -> (j < d)%nat -> 0 < mu a j < 1) /\ nu = bernoulli d mu.

(** Their outcomes are vectors of zeros and ones; the weight of one is a product. *)
Definition coin_weight (p x : R) : R := x * p + (1 - x) * (1 - p).
Definition weight (d : nat) (p x : vector) : R := prod d (fun j => coin_weight (p j) (x j)).
Definition coins (d : nat) (p : vector) : law vector := product 0 d (fun j => coin_law (p j)).
Definition cube (d : nat) : list vector := map snd (coins d (fun _ => 0)).

Lemma coins_outcomes d p q : map snd (coins d p) = map snd (coins d q).
Proof.
  assert (H : forall n x (L : law (nat -> R)), map snd (bind L (fun y => image (update y n) (coin_law x)))
            = flat_map (fun y => [update y n 1; update y n 0]) (map snd L)).
  { intros n x L. induction L as [|[c y] L IH]; [reflexivity|].
    unfold bind in *. cbn [flat_map map snd fst]. rewrite map_app, IH. reflexivity. }
  induction d as [|d IH]; [reflexivity|]. unfold coins in *. cbn [product].
  rewrite !H. unfold vector in *. now rewrite IH.
Qed.

Lemma coins_weight d p q : In q (coins d p) -> fst q = weight d p (snd q).
Proof.
  revert q. induction d as [|d IH]; intros q Hq.
  - destruct Hq as [<-|[]]. reflexivity.
  - unfold coins in Hq. cbn [product] in Hq. unfold bind in Hq. apply in_flat_map in Hq.
    destruct Hq as (r & Hr & Hq). unfold scaled in Hq. apply in_map_iff in Hq.
    destruct Hq as (u & <- & Hu). unfold image in Hu. apply in_map_iff in Hu.
    destruct Hu as (v & <- & Hv). unfold weight. cbn [fst snd prod].
    rewrite (prod_ext d _ (fun j => coin_weight (p j) (snd r j))).
    + assert (Er := IH r Hr). unfold vector in *. rewrite Er. unfold weight. f_equal. unfold update, coin_weight.
      rewrite Nat.eqb_refl. destruct Hv as [<-|[<-|[]]]; simpl; ring.
    + intros j Hj. unfold update. destruct (Nat.eqb_spec j d); [lia|reflexivity].
Qed.

Lemma coins_weighted d p : coins d p = weighted (cube d) (weight d p).
Proof.
  unfold cube. rewrite (coins_outcomes d _ p). unfold weighted. rewrite map_map.
  assert (H : forall L : law vector, (forall q, In q L -> fst q = weight d p (snd q)) ->
            L = map (fun q => (weight d p (snd q), snd q)) L).
  { induction L as [|[c y] L IH]; intros HL; [reflexivity|]. simpl.
    rewrite <- IH by (intros; apply HL; now right). f_equal.
    pose proof (HL (c, y) (or_introl eq_refl)) as E. simpl in E. now rewrite E. }
  apply H. intros q. apply coins_weight.
Qed.

Lemma bernoulli_weighted d mu : bernoulli d mu = (fun i => weighted (cube d) (weight d (mu i))).
Proof. apply functional_extensionality. intros i. apply coins_weighted. Qed.

Section Inside.

Variables (d : nat) (p q : vector).
Hypotheses (Hp : forall j, (j < d)%nat -> 0 < p j < 1) (Hq : forall j, (j < d)%nat -> 0 < q j < 1).

Lemma cube_support r j : In r (coins d p) -> (j < d)%nat -> snd r j = 1 \/ snd r j = 0.
Proof.
  intros Hr Hj. apply (product_support 0 d (fun j => coin_law (p j)) (fun _ x => x = 1 \/ x = 0)); auto.
  intros i z _ [<-|[<-|[]]]; simpl; auto.
Qed.

Lemma coin_weight_pos z x : 0 < z < 1 -> x = 1 \/ x = 0 -> 0 < coin_weight z x.
Proof. unfold coin_weight. intros Hz [->| ->]; lra. Qed.

Lemma prod_pos n f : (forall i, (i < n)%nat -> 0 < f i) -> 0 < prod n f.
Proof.
  induction n as [|n IH]; intros H; simpl; [lra|].
  apply Rmult_lt_0_compat; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma ln_prod n f : (forall i, (i < n)%nat -> 0 < f i) -> ln (prod n f) = sum n (fun i => ln (f i)).
Proof.
  induction n as [|n IH]; intros H; simpl; [apply ln_1|].
  rewrite ln_mult, IH; [reflexivity| | |]; try (intros; apply H; lia).
  apply prod_pos. intros; apply H; lia.
Qed.

Lemma coins_proper : proper (cube d) (weight d p).
Proof.
  split.
  - intros x Hx. unfold cube in Hx. rewrite (coins_outcomes d _ p) in Hx.
    apply in_map_iff in Hx. destruct Hx as (r & <- & Hr). apply prod_pos. intros j Hj.
    apply coin_weight_pos; [auto|now apply cube_support].
  - rewrite <- coins_weighted. apply product_is_law. intros j Hj. apply coin_is_law.
    specialize (Hp j Hj). lra.
Qed.

(** The divergence of a product is the sum of the divergences. *)
Lemma coins_KL : KL (cube d) (weight d p) (weight d q) = sum d (fun j => kl (p j) (q j)).
Proof.
  unfold KL. rewrite <- coins_weighted.
  rewrite (E_ext _ _ (fun x => sum d (fun j => ln (coin_weight (p j) (x j) / coin_weight (q j) (x j))))).
  - rewrite E_sum. apply sum_ext. intros j Hj. unfold coins.
    rewrite (E_coordinate 0 d _ j (fun x => ln (coin_weight (p j) x / coin_weight (q j) x)));
      [|intros i Hi; apply coin_is_law; specialize (Hp i Hi); lra|easy].
    unfold coin_law, kl, coin_weight. simpl. rewrite Rplus_0_r.
    replace (1 * p j + (1 - 1) * (1 - p j)) with (p j) by ring.
    replace (1 * q j + (1 - 1) * (1 - q j)) with (q j) by ring.
    replace (0 * p j + (1 - 0) * (1 - p j)) with (1 - p j) by ring.
    replace (0 * q j + (1 - 0) * (1 - q j)) with (1 - q j) by ring. reflexivity.
  - intros r Hr.
    assert (H1 : forall j, (j < d)%nat -> 0 < coin_weight (p j) (snd r j))
      by (intros; apply coin_weight_pos; [auto|now apply cube_support]).
    assert (H2 : forall j, (j < d)%nat -> 0 < coin_weight (q j) (snd r j))
      by (intros; apply coin_weight_pos; [auto|now apply cube_support]).
    assert (Hdiv : forall x y, 0 < x -> 0 < y -> ln (x / y) = ln x - ln y).
    { intros x y Hx Hy. unfold Rdiv. rewrite ln_mult, ln_Rinv; [lra|easy|easy|now apply Rinv_0_lt_compat]. }
    unfold weight. rewrite Hdiv by (now apply prod_pos). rewrite !ln_prod by easy.
    replace (sum d (fun j => ln (coin_weight (p j) (snd r j) / coin_weight (q j) (snd r j))))
      with (sum d (fun j => ln (coin_weight (p j) (snd r j)) + -1 * ln (coin_weight (q j) (snd r j)))).
    + rewrite sum_plus, sum_scale. ring.
    + apply sum_ext. intros j Hj. rewrite Hdiv by auto. ring.
Qed.

End Inside.

(** ** The nearest rival *)

(** [kl p] is nearly continuous from the right. *)
Lemma kl_right p r q : 0 < p < 1 -> p <= r -> r <= q < 1 -> kl p q <= kl p r + (q - r) / (1 - q).
Proof.
  intros Hp Hr [Hrq Hq]. rewrite !kl_cross by lra. unfold cross.
  assert (Hl : ln (1 - r) - ln (1 - q) <= (q - r) / (1 - q)).
  { pose proof (exp_ineq1_le (ln (1 - r) - ln (1 - q))) as H.
    replace (exp (ln (1 - r) - ln (1 - q))) with (exp (ln (1 - r) + - ln (1 - q))) in H by (f_equal; ring).
    rewrite exp_plus, exp_Ropp, !exp_ln in H by lra.
    replace ((q - r) / (1 - q)) with ((1 - r) * / (1 - q) - 1) by (field; lra). lra. }
  assert (ln r <= ln q) by (destruct Hrq as [Hrq| ->]; [apply Rlt_le, ln_increasing; lra|lra]).
  assert (0 <= (q - r) / (1 - q)) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
  nra.
Qed.

Lemma raised_kl p r eta m : 0 < p < 1 -> 0 < r < 1 -> 0 < eta <= m -> p <= 1 - 2 * m ->
  r <= 1 - 2 * m -> kl p (Rmax p (r + eta)) <= kl_plus p r + eta / m.
Proof.
  intros Hp Hr Heta Hpm Hrm. set (q := Rmax p (r + eta)).
  assert (Hq : p <= q /\ r + eta <= q /\ q <= 1 - m)
    by (unfold q; split; [apply Rmax_l|]; split; [apply Rmax_r|apply Rmax_lub; lra]).
  assert (Hstep : forall x, q - x <= eta -> (q - x) / (1 - q) <= eta / m).
  { intros x Hx. apply Rmult_le_reg_r with (1 - q); [lra|].
    replace ((q - x) / (1 - q) * (1 - q)) with (q - x) by (field; lra).
    apply Rle_trans with (eta / m * m); [replace (eta / m * m) with eta by (field; lra); lra|].
    apply Rmult_le_compat_l; [|lra]. apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]. }
  unfold kl_plus. destruct (Rlt_dec p r) as [Hlt|Hge].
  - assert (Eq : q = r + eta) by (unfold q; apply Rmax_right; lra).
    pose proof (kl_right p r q Hp ltac:(lra) ltac:(lra)). specialize (Hstep r ltac:(lra)). lra.
  - assert (Eq : q - p <= eta) by (assert (q <= p + eta) by (unfold q; apply Rmax_lub; lra); lra).
    pose proof (kl_right p p q Hp ltac:(lra) ltac:(lra)). rewrite kl_same in H by lra.
    specialize (Hstep p Eq). lra.
Qed.

Lemma margin n (f g : nat -> R) : (forall j, (j < n)%nat -> f j < 1 /\ g j < 1) ->
  exists m, 0 < m /\ forall j, (j < n)%nat -> f j <= 1 - 2 * m /\ g j <= 1 - 2 * m.
Proof.
  induction n as [|n IH]; intros H; [exists 1; split; [lra|intros; lia]|].
  destruct IH as (m & Hm & Hall); [intros; apply H; lia|]. destruct (H n (le_n _)) as [Hf Hg].
  set (k := Rmin m (Rmin ((1 - f n) / 2) ((1 - g n) / 2))).
  assert (Hk : k <= m /\ k <= (1 - f n) / 2 /\ k <= (1 - g n) / 2).
  { unfold k. pose proof (Rmin_l m (Rmin ((1 - f n) / 2) ((1 - g n) / 2))).
    pose proof (Rmin_r m (Rmin ((1 - f n) / 2) ((1 - g n) / 2))).
    pose proof (Rmin_l ((1 - f n) / 2) ((1 - g n) / 2)).
    pose proof (Rmin_r ((1 - f n) / 2) ((1 - g n) / 2)). lra. }
  exists k. split; [unfold k; repeat apply Rmin_glb_lt; lra|]. intros j Hj.
  destruct (Nat.eq_dec j n) as [->|]; [lra|]. specialize (Hall j ltac:(lia)). lra.
Qed.

Section Bernoulli.

Variables (K d : nat) (mu : nat -> vector).
Hypotheses (Hd : (1 <= d)%nat)
  (Hmu : forall a j, (a < K)%nat -> (j < d)%nat -> 0 < mu a j < 1).

Lemma bernoulli_laws a : (a < K)%nat -> is_law (bernoulli d mu a).
Proof.
  intros Ha. apply product_is_law. intros j Hj. apply coin_is_law. specialize (Hmu a j Ha Hj). lra.
Qed.

Lemma inside_means nu0 : (forall a j, (a < K)%nat -> (j < d)%nat -> 0 < nu0 a j < 1) ->
  forall a j, (a < K)%nat -> (j < d)%nat -> means (bernoulli d nu0) a j = nu0 a j.
Proof.
  intros H a j Ha Hj. apply (bernoulli_means K d); auto. intros i k Hi Hk. specialize (H i k Hi Hk). lra.
Qed.

(** Arm [b] raised above [a] by [eta] on every objective. *)
Definition raised (eta : R) (b a i j : nat) : R :=
  if (i =? b)%nat then Rmax (mu b j) (mu a j + eta) else mu i j.

Lemma bernoulli_rival a b eps : (a < K)%nat -> (b < K)%nat ->
  gap K d mu a = 0 -> 0 < gap K d mu b -> 0 < eps ->
  exists D, 0 < D <= evidence d mu b a + eps /\
    rival K d (independent K d) (bernoulli d mu) b a D.
Proof.
  intros Ha Hb Hga Hgb Heps. assert (Hab : a <> b) by (intros ->; lra).
  destruct (margin d (mu a) (mu b)) as (m & Hm & Hroom).
  { intros j Hj. pose proof (Hmu a j Ha Hj). pose proof (Hmu b j Hb Hj). lra. }
  assert (Hdpos : 0 < INR d) by (apply lt_0_INR; lia).
  set (eta := Rmin m (eps * m / INR d)).
  assert (Heta : 0 < eta <= m /\ INR d * (eta / m) <= eps).
  { assert (0 < eps * m / INR d) by (apply Rdiv_lt_0_compat; [nra|easy]). unfold eta. split; [split|].
    - apply Rmin_glb_lt; lra.
    - apply Rmin_l.
    - pose proof (Rmin_r m (eps * m / INR d)) as Hr.
      replace eps with (INR d * ((eps * m / INR d) / m)) at 2 by (field; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra|easy]. }
  set (up := raised eta b a).
  assert (Hup : forall i j, (i < K)%nat -> (j < d)%nat -> 0 < up i j < 1).
  { intros i j Hi Hj. unfold up, raised. destruct (Hroom j Hj). pose proof (Hmu b j Hb Hj).
    destruct (i =? b)%nat; [|now apply Hmu]. split.
    - eapply Rlt_le_trans; [|apply Rmax_l]. lra.
    - apply Rmax_lub_lt; lra. }
  assert (Eb : forall j, up b j = Rmax (mu b j) (mu a j + eta))
    by (intros; unfold up, raised; now rewrite Nat.eqb_refl).
  assert (Eo : forall i j, i <> b -> up i j = mu i j)
    by (intros i j Hi; unfold up, raised; destruct (Nat.eqb_spec i b); easy).
  exists (sum d (fun j => kl (mu b j) (up b j))). split; [split|].
  - destruct (paid_behind_free K d mu a b Hb Hd Hga Hgb) as (j & Hj & Hlt).
    assert (Hnn : forall k, (k < d)%nat -> 0 <= kl (mu b k) (up b k)).
    { intros k Hk. pose proof (Hmu b k Hb Hk). pose proof (Hup b k Hb Hk).
      pose proof (pinsker (mu b k) (up b k) ltac:(lra) H0). pose proof (pow2_ge_0 (mu b k - up b k)). lra. }
    apply Rlt_le_trans with (kl (mu b j) (up b j)).
    + pose proof (Hmu b j Hb Hj). pose proof (Hup b j Hb Hj). apply kl_positive; [lra|easy|].
      rewrite Eb. pose proof (Rmax_r (mu b j) (mu a j + eta)). lra.
    + now apply (sum_ge_term d (fun j => kl (mu b j) (up b j))).
  - unfold evidence. apply Rle_trans with (sum d (fun j => kl_plus (mu b j) (mu a j) + eta / m)).
    + apply sum_le. intros j Hj. rewrite Eb. destruct (Hroom j Hj). apply raised_kl; try lra; auto.
    + rewrite sum_plus, sum_const. lra.
  - exists (cube d), (fun i => weight d (mu i)), (fun i => weight d (up i)). repeat split.
    + apply bernoulli_weighted.
    + exists up. split; [easy|]. symmetry. apply bernoulli_weighted.
    + apply (coins_proper d (mu i)). intros j Hj. now apply Hmu.
    + apply (coins_proper d (mu i)). intros j Hj. now apply Hmu.
    + apply (coins_proper d (up i)). intros j Hj. now apply Hup.
    + apply (coins_proper d (up i)). intros j Hj. now apply Hup.
    + intros i x Hi Hne _. apply prod_ext. intros j Hj. now rewrite Eo.
    + symmetry. apply (coins_KL d (mu b) (up b)); intros j Hj; [now apply Hmu|now apply Hup].
    + rewrite <- bernoulli_weighted.
      rewrite (gap_ext K d (means (bernoulli d up)) up) by (auto; now apply inside_means).
      apply Rlt_le_trans with eta; [lra|]. eapply Rle_trans; [|apply (gap_ge K d up a b Hb)].
      apply minb_glb; [lia|]. intros j Hj. rewrite Eb, Eo by easy.
      pose proof (Rmax_r (mu b j) (mu a j + eta)). lra.
Qed.

(** ** The theorem

    Let a policy be uniformly good on all instances with [K] arms and [d] objectives whose rewards
    are independent Bernoulli variables with means inside the unit interval. Then on each
    of them its expected regret is at least [C log T] in the limit, where [C] is the price of
    the instance. *)
Theorem price_theorem (pi : policy) (C : R) :
  admissible K pi -> uniformly_good K d (independent K d) pi -> is_price K d mu C ->
  liminf_at_least (fun T => E (outcomes (bernoulli d mu) pi T) (regret K d mu) / ln (INR T)) C.
Proof.
  intros Hpi Hgood Hprice. pose proof Hprice as [(c & Hc & _) Hleast].
  set (m := means (bernoulli d mu)).
  assert (Em : forall a j, (a < K)%nat -> (j < d)%nat -> m a j = mu a j) by (now apply inside_means).
  assert (Eg : forall a, (a < K)%nat -> gap K d m a = gap K d mu a) by (intros; now apply gap_ext).
  assert (H : liminf_at_least (fun T => E (outcomes (bernoulli d mu) pi T) (regret K d m) / ln (INR T)) C).
  { apply (price_of_class K d (independent K d) pi (bernoulli d mu) (evidence d mu)); auto.
    - apply bernoulli_laws.
    - intros a b Ha Hb. fold m. rewrite !Eg by easy. intros. now apply (evidence_positive K).
    - intros a b eps Ha Hb. fold m. rewrite !Eg by easy. now apply bernoulli_rival.
    - lia.
    - apply (price_nonneg K d mu); auto.
    - intros a Ha. fold m. rewrite Eg by easy. intros Hga.
      rewrite (sum_ext K _ (fun b => gap K d mu b / evidence d mu b a)); [now apply Hleast|].
      intros b Hb. now rewrite Eg. }
  intros eps Heps. destruct (H eps Heps) as (n0 & H0). exists n0. intros T HT.
  rewrite (E_ext _ (regret K d mu) (regret K d m)); [now apply H0|].
  intros p Hp. symmetry. apply regret_ext; [exact Em|]. now apply (outcomes_shape _ _ K T p Hpi Hp).
Qed.

End Bernoulli.
