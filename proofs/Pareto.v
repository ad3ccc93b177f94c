(** The Pareto order, the Pareto gap and the gaps of single objectives.

    An instance has [K] arms and [d] objectives; [mu a j] is the mean of arm [a]
    on objective [j]. *)

Require Import Reals Lra Lia Arith.
Require Import Momab.Finite.
Open Scope R_scope.

Definition vector := nat -> R.

(** [x] dominates [y]: nowhere smaller, somewhere larger. *)
Definition dominates (d : nat) (x y : vector) : Prop :=
  (forall j, (j < d)%nat -> y j <= x j) /\ exists j, (j < d)%nat /\ y j < x j.

(** [x] is the infimum of the set [E]. *)
Definition is_infimum (E : R -> Prop) (x : R) : Prop :=
  (forall e, E e -> x <= e) /\ (forall y, (forall e, E e -> y <= e) -> y <= x).

Section Instance.

Variables (K d : nat) (mu : nat -> vector).

Definition undominated (x : vector) : Prop :=
  ~ exists b, (b < K)%nat /\ dominates d (mu b) x.

(** The Pareto set [A*]. *)
Definition pareto_optimal (a : nat) : Prop := undominated (mu a).

(** The lifts of the definition of the Pareto gap: adding [e >= 0] to all
    coordinates of arm [a] makes it undominated. *)
Definition frees (a : nat) (e : R) : Prop :=
  0 <= e /\ undominated (fun j => mu a j + e).

(** The closed form of the Pareto gap. *)
Definition gap (a : nat) : R :=
  Rmax 0 (maxb K (fun b => minb d (fun j => mu b j - mu a j))).

Definition gap_max : R := maxb K gap.

(** The best mean of objective [j], and how far arm [a] is from it. *)
Definition best (j : nat) : R := maxb K (fun a => mu a j).
Definition deficit (a j : nat) : R := best j - mu a j.
Definition least_deficit (a : nat) : R := minb d (deficit a).

Definition maximiser (a j : nat) : Prop := deficit a j = 0.
Definition unique_maximiser (a j : nat) : Prop :=
  forall b, (b < K)%nat -> b <> a -> mu b j < mu a j.

(** Definition 1: every marginal maximiser is in the Pareto set. *)
Definition consistent : Prop :=
  forall a j, (a < K)%nat -> (j < d)%nat -> maximiser a j -> pareto_optimal a.

(** The best mean of objective [j] among the arms other than [a]. *)
Definition best_other (a j : nat) : R :=
  maxb (K - 1) (fun i => mu (if (i <? a)%nat then i else S i) j).

(** [g_j]: how far the winner of objective [j] is ahead of all other arms, 0 if
    no arm is. *)
Definition lead (j : nat) : R := Rmax 0 (maxb K (fun a => mu a j - best_other a j)).

(** The largest objective-wise gap. *)
Definition g_dagger : R := maxb d lead.

(** ** The closed form is the infimum *)

Lemma gap_nonneg a : 0 <= gap a.
Proof. apply Rmax_l. Qed.

Lemma gap_ge a b : (b < K)%nat -> minb d (fun j => mu b j - mu a j) <= gap a.
Proof.
  intros Hb. unfold gap. eapply Rle_trans; [|apply Rmax_r].
  now apply (maxb_ge K (fun b => minb d (fun j => mu b j - mu a j))).
Qed.

(** If the gap is positive, some arm is ahead by it on every objective. *)
Lemma gap_witness a : (0 < K)%nat -> 0 < gap a ->
  exists b, (b < K)%nat /\ forall j, (j < d)%nat -> mu a j + gap a <= mu b j.
Proof.
  intros HK Hpos. unfold gap in *.
  destruct (maxb_attained K (fun b => minb d (fun j => mu b j - mu a j)) HK)
    as (b & Hb & E).
  exists b. split; [easy|]. intros j Hj.
  pose proof (minb_le d (fun j => mu b j - mu a j) j Hj) as H. simpl in H.
  rewrite E in *. destruct (Rle_dec 0 (minb d (fun j => mu b j - mu a j))).
  - rewrite Rmax_right in * by easy. lra.
  - rewrite Rmax_left in * by lra. lra.
Qed.

Theorem gap_is_infimum a :
  (0 < K)%nat -> (0 < d)%nat -> is_infimum (frees a) (gap a).
Proof.
  intros HK Hd. split.
  - intros e [He Hfree]. destruct (Rle_dec (gap a) e) as [|Hlt]; [easy|].
    exfalso. apply Hfree.
    destruct (gap_witness a HK) as (b & Hb & H); [lra|].
    exists b. split; [easy|]. split.
    + intros j Hj. specialize (H j Hj). lra.
    + exists O. split; [easy|]. specialize (H O Hd). lra.
  - intros y Hy. apply Rnot_lt_le. intros Hlt.
    assert (Hmid : y <= (gap a + y) / 2); [|lra].
    apply Hy. split; [pose proof (gap_nonneg a); lra|].
    intros (b & Hb & [Hall _]).
    assert ((gap a + y) / 2 <= minb d (fun j => mu b j - mu a j)).
    { apply minb_glb; [easy|]. intros j Hj. specialize (Hall j Hj). lra. }
    pose proof (gap_ge a b Hb). lra.
Qed.

(** ** Gaps of single objectives *)

Lemma best_ge a j : (a < K)%nat -> mu a j <= best j.
Proof. intros Ha. now apply (maxb_ge K (fun a => mu a j)). Qed.

Lemma best_attained j : (0 < K)%nat -> exists a, (a < K)%nat /\ best j = mu a j.
Proof. apply maxb_attained. Qed.

Lemma deficit_nonneg a j : (a < K)%nat -> 0 <= deficit a j.
Proof. intros Ha. unfold deficit. pose proof (best_ge a j Ha). lra. Qed.

(** The Pareto gap is at most the deficit on any single objective. *)
Theorem gap_le_deficit a j : (a < K)%nat -> (j < d)%nat -> gap a <= deficit a j.
Proof.
  intros Ha Hj. unfold gap. apply Rmax_lub.
  - now apply deficit_nonneg.
  - apply maxb_lub; [lia|]. intros b Hb.
    pose proof (minb_le d (fun j => mu b j - mu a j) j Hj) as H. simpl in H.
    pose proof (best_ge b j Hb). unfold deficit. lra.
Qed.

Theorem gap_le_least_deficit a : (a < K)%nat -> (0 < d)%nat -> gap a <= least_deficit a.
Proof. intros Ha Hd. apply minb_glb; [easy|]. intros. now apply gap_le_deficit. Qed.

Theorem maximiser_gap_zero a j :
  (a < K)%nat -> (j < d)%nat -> maximiser a j -> gap a = 0.
Proof.
  intros Ha Hj Hm. pose proof (gap_le_deficit a j Ha Hj). pose proof (gap_nonneg a).
  unfold maximiser in Hm. lra.
Qed.

Theorem optimal_gap_zero a :
  (0 < K)%nat -> (0 < d)%nat -> pareto_optimal a -> gap a = 0.
Proof.
  intros HK Hd Hopt. apply Rle_antisym; [|apply gap_nonneg].
  apply (gap_is_infimum a HK Hd). split; [lra|].
  intros (b & Hb & [H1 (j & Hj & H2)]). apply Hopt. exists b. split; [easy|].
  split; [intros i Hi; specialize (H1 i Hi); lra|]. exists j. split; [easy|lra].
Qed.

(** An arm that is alone at the top of an objective is in the Pareto set:
    Definition 1 is not needed for it. *)
Theorem unique_maximiser_optimal a j :
  (j < d)%nat -> unique_maximiser a j -> pareto_optimal a.
Proof.
  intros Hj Hu (b & Hb & [H1 (i & Hi & H2)]).
  destruct (Nat.eq_dec b a) as [->|Hne]; [lra|].
  specialize (Hu b Hb Hne). specialize (H1 j Hj). lra.
Qed.

(** If every objective has a unique maximiser, the instance is consistent. *)
Theorem uniqueness_implies_consistency :
  (forall j, (j < d)%nat -> exists a, (a < K)%nat /\ unique_maximiser a j) -> consistent.
Proof.
  intros H a j Ha Hj Hm. destruct (H j Hj) as (w & Hw & Hu).
  destruct (Nat.eq_dec a w) as [->|Hne].
  - now apply unique_maximiser_optimal with j.
  - specialize (Hu a Ha Hne). pose proof (best_ge w j Hw).
    unfold maximiser, deficit in Hm. lra.
Qed.

(** ** The lead of an objective *)

Lemma best_other_ge a b j : (b < K)%nat -> (a < K)%nat -> b <> a -> mu b j <= best_other a j.
Proof.
  intros Hb Ha Hne. unfold best_other.
  destruct (Nat.ltb_spec b a).
  - pose proof (maxb_ge (K - 1) (fun i => mu (if (i <? a)%nat then i else S i) j) b) as H0.
    simpl in H0. destruct (Nat.ltb_spec b a); [|lia]. apply H0. lia.
  - pose proof (maxb_ge (K - 1) (fun i => mu (if (i <? a)%nat then i else S i) j) (b - 1)) as H0.
    simpl in H0. destruct (Nat.ltb_spec (b - 1) a); [lia|].
    replace (S (b - 1)) with b in H0 by lia. apply H0. lia.
Qed.

Lemma best_other_attained a j : (1 < K)%nat -> (a < K)%nat ->
  exists b, (b < K)%nat /\ b <> a /\ best_other a j = mu b j.
Proof.
  intros HK Ha.
  destruct (maxb_attained (K - 1) (fun i => mu (if (i <? a)%nat then i else S i) j))
    as (i & Hi & E); [lia|].
  unfold best_other. rewrite E. destruct (Nat.ltb_spec i a).
  - exists i. repeat split; lia.
  - exists (S i). repeat split; lia.
Qed.

Lemma lead_nonneg j : 0 <= lead j.
Proof. apply Rmax_l. Qed.

(** The lead is what the paper says: with a single winner [a], the distance to
    the best of the others; with several, zero. *)
Theorem lead_of_winner a j :
  (1 < K)%nat -> (a < K)%nat -> unique_maximiser a j -> lead j = mu a j - best_other a j.
Proof.
  intros HK Ha Hu. destruct (best_other_attained a j HK Ha) as (c & Hc & Hca & Ec).
  assert (Hpos : 0 < mu a j - best_other a j) by (rewrite Ec; specialize (Hu c Hc Hca); lra).
  unfold lead. rewrite Rmax_right.
  - apply Rle_antisym.
    + apply maxb_lub; [lia|]. intros b Hb. destruct (Nat.eq_dec b a) as [->|Hne]; [lra|].
      specialize (Hu b Hb Hne). assert (a <> b) by auto.
      pose proof (best_other_ge b a j Ha Hb H). lra.
    + now apply (maxb_ge K (fun a => mu a j - best_other a j)).
  - eapply Rle_trans; [apply Rlt_le, Hpos|].
    now apply (maxb_ge K (fun a => mu a j - best_other a j)).
Qed.

Theorem lead_of_tie a b j :
  (a < K)%nat -> (b < K)%nat -> a <> b -> maximiser a j -> maximiser b j -> lead j = 0.
Proof.
  intros Ha Hb Hne Hma Hmb. unfold lead. apply Rmax_left. apply maxb_lub; [lia|].
  intros c Hc. unfold maximiser, deficit in *. pose proof (best_ge c j Hc).
  destruct (Nat.eq_dec c a) as [->|Hca].
  - assert (b <> a) by auto. pose proof (best_other_ge a b j Hb Hc H0). lra.
  - assert (a <> c) by auto. pose proof (best_other_ge c a j Ha Hc H0). lra.
Qed.

(** If the lead is positive, one arm is ahead of all others by it. *)
Lemma lead_owner j : (1 < K)%nat -> 0 < lead j ->
  exists a, (a < K)%nat /\ forall b, (b < K)%nat -> b <> a -> mu b j + lead j <= mu a j.
Proof.
  intros HK Hpos.
  destruct (maxb_attained K (fun a => mu a j - best_other a j)) as (a & Ha & E); [lia|].
  exists a. split; [easy|]. intros b Hb Hne.
  pose proof (best_other_ge a b j Hb Ha Hne).
  assert (El : lead j = mu a j - best_other a j); [|lra].
  unfold lead in *. rewrite E in *. destruct (Rle_dec 0 (mu a j - best_other a j)).
  - now rewrite Rmax_right.
  - rewrite Rmax_left in Hpos by lra. lra.
Qed.

Theorem lead_positive_iff j : (1 < K)%nat ->
  (0 < lead j <-> exists a, (a < K)%nat /\ unique_maximiser a j).
Proof.
  intros HK. split.
  - intros Hpos. destruct (lead_owner j HK Hpos) as (a & Ha & H). exists a. split; [easy|].
    intros b Hb Hne. specialize (H b Hb Hne). lra.
  - intros (a & Ha & Hu). rewrite (lead_of_winner a j HK Ha Hu).
    destruct (best_other_attained a j HK Ha) as (c & Hc & Hca & ->).
    specialize (Hu c Hc Hca). lra.
Qed.

(** A unique maximiser of an objective has no deficit there. *)
Lemma unique_maximiser_maximiser a j : (a < K)%nat -> unique_maximiser a j -> maximiser a j.
Proof.
  intros Ha Hu. unfold maximiser, deficit. destruct (best_attained j) as (b & Hb & E); [lia|].
  destruct (Nat.eq_dec b a) as [->|Hne]; [lra|].
  specialize (Hu b Hb Hne). pose proof (best_ge a j Ha). lra.
Qed.

Lemma g_dagger_nonneg : (0 < d)%nat -> 0 <= g_dagger.
Proof.
  intros Hd. destruct (maxb_attained d lead Hd) as (j & Hj & E).
  unfold g_dagger. rewrite E. apply lead_nonneg.
Qed.

(** The champion objective. *)
Lemma champion : (0 < d)%nat -> exists j, (j < d)%nat /\ g_dagger = lead j.
Proof. apply maxb_attained. Qed.

Lemma gap_le_max a : (a < K)%nat -> gap a <= gap_max.
Proof. intros Ha. now apply (maxb_ge K gap). Qed.

Lemma gap_max_nonneg : (0 < K)%nat -> 0 <= gap_max.
Proof. intros HK. eapply Rle_trans; [apply (gap_nonneg 0)|now apply gap_le_max]. Qed.

End Instance.

(** ** All of this depends on the means of arms below [K] and objectives below [d] only *)

Section Extensional.

Variables (K d : nat) (mu nu : nat -> vector).
Hypothesis same : forall a j, (a < K)%nat -> (j < d)%nat -> mu a j = nu a j.

Lemma gap_ext a : (a < K)%nat -> gap K d mu a = gap K d nu a.
Proof.
  intros Ha. unfold gap. f_equal. apply maxb_ext. intros b Hb. unfold minb. f_equal.
  apply maxb_ext. intros j Hj. now rewrite !same.
Qed.

Lemma gap_max_ext : gap_max K d mu = gap_max K d nu.
Proof. apply maxb_ext. intros. now apply gap_ext. Qed.

Lemma g_dagger_ext : (2 <= K)%nat -> g_dagger K d mu = g_dagger K d nu.
Proof.
  intros HK. apply maxb_ext. intros j Hj. unfold lead. f_equal. apply maxb_ext. intros a Ha.
  rewrite same by easy. f_equal. apply maxb_ext. intros i Hi.
  apply same; [|easy]. destruct (Nat.ltb_spec i a); lia.
Qed.

End Extensional.

(** ** Proposition 1 *)

(** Two arms, (1, 1) and (1, 0): the second is dominated and has gap zero. *)
Definition pair (a j : nat) : R := if ((a =? 1) && (j =? 1))%nat%bool then 0 else 1.

Theorem proposition_1 :
  exists K d mu a, (a < K)%nat /\ ~ pareto_optimal K d mu a /\ gap K d mu a = 0.
Proof.
  exists 2%nat, 2%nat, pair, 1%nat. split; [lia|]. split.
  - intros H. apply H. exists O. split; [lia|]. split.
    + intros [|[|j]] Hj; unfold pair; simpl; lra || lia.
    + exists 1%nat. split; [lia|]. unfold pair; simpl; lra.
  - apply (maximiser_gap_zero 2 2 pair 1 0); try lia.
    unfold maximiser, deficit, best, pair; simpl. rewrite Rmax_left; lra.
Qed.

(** Theorem 4 asks for a positive [g], not for Definition 1: this instance has the one and
    not the other. *)
Theorem definition_1_not_implied : 0 < g_dagger 2 2 pair /\ ~ consistent 2 2 pair.
Proof.
  assert (Hu : unique_maximiser 2 pair 0 1).
  { intros [|[|b]] Hb Hne; try lia. unfold pair; simpl; lra. }
  split.
  - apply Rlt_le_trans with (lead 2 pair 1).
    + apply lead_positive_iff; [lia|]. exists O. split; [lia|exact Hu].
    + apply (maxb_ge 2 (lead 2 pair)). lia.
  - intros Hc. apply (Hc 1%nat O); try lia.
    + unfold maximiser, deficit, best, pair; simpl. rewrite Rmax_left; lra.
    + exists O. split; [lia|]. split.
      * intros [|[|j]] Hj; unfold pair; simpl; lra || lia.
      * exists 1%nat. split; [lia|]. unfold pair; simpl; lra.
Qed.
