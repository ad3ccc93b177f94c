(** Pareto IMED with the evidence [max]: how often it pulls a suboptimal arm, at finite time. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Kl Momab.Probability
  Momab.Hoeffding Momab.Expectation Momab.Chernoff Momab.KlExpectation Momab.ParetoImed.
Import ListNotations.
Open Scope R_scope.

(** ** The divergence in both of its arguments *)

Lemma ln_le_ln x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros Hx [H|<-]; [apply Rlt_le, ln_increasing; lra|lra]. Qed.

Lemma exp_le_exp x y : x <= y -> exp x <= exp y.
Proof. intros [H|<-]; [now apply Rlt_le, exp_increasing|lra]. Qed.

Lemma ln_below x : 0 < x -> ln x <= x - 1.
Proof.
  intros Hx. pose proof (exp_ineq1_le (ln x)) as H. rewrite exp_ln in H by easy. lra.
Qed.

(** [kl p] grows above [p]. *)
Lemma kl_grows p q r : 0 <= p <= q -> 0 < q -> q <= r < 1 -> kl p q <= kl p r.
Proof.
  intros Hp Hq Hr. rewrite !kl_cross by lra. unfold cross.
  assert (H1 : ln r - ln q <= (r - q) / q).
  { pose proof (ln_below (r / q) ltac:(apply Rdiv_lt_0_compat; lra)) as H.
    unfold Rdiv in H at 1. rewrite ln_mult, ln_Rinv in H by (try apply Rinv_0_lt_compat; lra).
    replace ((r - q) / q) with (r / q - 1) by (field; lra). lra. }
  assert (H2 : (r - q) / (1 - q) <= ln (1 - q) - ln (1 - r)).
  { pose proof (ln_below ((1 - r) / (1 - q)) ltac:(apply Rdiv_lt_0_compat; lra)) as H.
    unfold Rdiv in H at 1. rewrite ln_mult, ln_Rinv in H by (try apply Rinv_0_lt_compat; lra).
    replace ((r - q) / (1 - q)) with (1 - (1 - r) / (1 - q)) by (field; lra). lra. }
  assert (p * (ln r - ln q) <= r - q).
  { apply Rle_trans with (p * ((r - q) / q)); [apply Rmult_le_compat_l; lra|].
    apply Rmult_le_reg_r with q; [lra|]. replace (p * ((r - q) / q) * q) with (p * (r - q)) by (field; lra).
    nra. }
  assert (r - q <= (1 - p) * (ln (1 - q) - ln (1 - r))).
  { apply Rle_trans with ((1 - p) * ((r - q) / (1 - q))); [|apply Rmult_le_compat_l; lra].
    apply Rmult_le_reg_r with (1 - q); [lra|].
    replace ((1 - p) * ((r - q) / (1 - q)) * (1 - q)) with ((1 - p) * (r - q)) by (field; lra). nra. }
  lra.
Qed.

(** As a function of [x], [kl x p - kl x q] is affine and falls; at [q] it is [kl q p]. *)
Lemma kl_difference x q p : 0 <= x <= q -> 0 < q < p -> p < 1 -> kl x q + kl q p <= kl x p.
Proof.
  intros Hx Hq Hp. rewrite !kl_cross by lra. unfold cross.
  pose proof (ln_le_ln q p ltac:(lra) ltac:(lra)). pose proof (ln_le_ln (1 - p) (1 - q) ltac:(lra) ltac:(lra)).
  assert (0 <= (q - x) * ((ln p - ln q) + (ln (1 - q) - ln (1 - p)))) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma kl_below x q : 0 <= x <= q -> 0 < q < 1 -> 0 <= kl x q <= - ln (1 - q).
Proof.
  intros Hx Hq. split; [pose proof (pinsker x q ltac:(lra) Hq); pose proof (pow2_ge_0 (x - q)); lra|].
  rewrite kl_cross by lra. unfold cross.
  assert (ln (1 - q) <= 0) by (rewrite <- ln_1; apply ln_le_ln; lra).
  assert (ln (1 - x) <= 0) by (rewrite <- ln_1; apply ln_le_ln; lra).
  assert (x * (ln x - ln q) <= 0).
  { destruct (Req_dec x 0) as [->|]; [lra|]. pose proof (ln_le_ln x q ltac:(lra) ltac:(lra)). nra. }
  nra.
Qed.

(** ** Bad luck is rarer than patience is long *)

Section BadLuck.

Context {X : Type} (x0 : X) (D : law X) (T n : nat).
Hypotheses (HD : is_law D) (Hn : (1 <= n <= T)%nat).
Variable f : X -> R.
Hypothesis Hf : forall q, In q D -> 0 <= f (snd q) <= 1.

Local Notation draws := (product x0 T (fun _ => D)).

Lemma low_average q y : 0 < q < E D f -> E D f <= 1 ->
  Pr draws (fun x => (if Rle_dec (sum n (fun i => f (x i)) / INR n) q then true else false)
    && (if Rle_dec y (INR n * kl (sum n (fun i => f (x i)) / INR n) q) then true else false))
  <= exp (- y) * exp (- (INR n * (2 * (E D f - q) ^ 2))).
Proof.
  intros Hq Hm. assert (Hlaw : is_law draws) by (now apply product_is_law).
  assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia). rewrite <- exp_plus.
  apply (Pr_by_values draws _ (fun x => - (sum n (fun i => f (x i)) / INR n))); [easy|apply Rlt_le, exp_pos|].
  intros p Hp HA. pose proof (average_of_draws x0 D T n Hn f Hf p Hp) as Hav.
  destruct (Rle_dec (sum n (fun i => f (snd p i)) / INR n) q) as [Hle|]; [|discriminate].
  destruct (Rle_dec y _) as [Hy|]; [|discriminate]. set (z := (sum n (fun i => f (snd p i)) / INR n)) in *.
  apply Rle_trans with (Pr draws (fun x => if Rle_dec (sum n (fun i => f (x i)) / INR n) z then true else false)).
  { apply Pr_le; [easy|]. intros r _. destruct (Rle_dec (- _) (- _)); [|discriminate]. intros _.
    destruct (Rle_dec _ z); [reflexivity|lra]. }
  destruct Hm as [Hm|Hm].
  - eapply Rle_trans; [apply (chernoff_low x0 D T n HD Hn f Hf z Hm); lra|]. apply exp_le_exp.
    pose proof (kl_difference z q (E D f) ltac:(lra) Hq Hm).
    pose proof (pinsker q (E D f) ltac:(lra) ltac:(lra)).
    assert (INR n * (kl z q + 2 * (q - E D f) ^ 2) <= INR n * kl z (E D f))
      by (apply Rmult_le_compat_l; lra).
    replace ((E D f - q) ^ 2) with ((q - E D f) ^ 2) by ring. lra.
  - eapply Rle_trans; [apply (never_below x0 D T n HD Hn f Hf z Hm); lra|apply Rlt_le, exp_pos].
Qed.

(** A number below [N] by its integer part. *)
Lemma exp_by_levels N z : 0 <= z < INR N ->
  exp z <= sum N (fun k => exp (INR k + 1) * (if Rle_dec (INR k) z then 1 else 0)).
Proof.
  induction N as [|N IH]; intros Hz; [simpl in Hz; lra|]. simpl sum. rewrite S_INR in Hz.
  pose proof (exp_pos (INR N + 1)).
  destruct (Rle_dec (INR N) z) as [Hle|Hgt].
  - assert (exp z <= exp (INR N + 1)) by (apply exp_le_exp; lra).
    assert (0 <= sum N (fun k => exp (INR k + 1) * (if Rle_dec (INR k) z then 1 else 0))); [|lra].
    apply sum_nonneg. intros k _. pose proof (exp_pos (INR k + 1)). destruct (Rle_dec _ _); lra.
  - specialize (IH ltac:(lra)). lra.
Qed.

Lemma next_integer B : 0 <= B -> exists N, B < INR N <= B + 1.
Proof.
  intros HB. destruct (archimed B) as [H1 H2].
  assert (0 <= up B)%Z by (apply le_IZR; lra).
  exists (Z.to_nat (up B)). rewrite INR_IZR_INZ, Z2Nat.id by easy. lra.
Qed.

(** The expected patience with an average that is at most [q]. *)
Theorem bad_luck q : 0 < q < E D f -> E D f <= 1 ->
  E draws (fun x => if Rle_dec (sum n (fun i => f (x i)) / INR n) q then exp (INR n * kl (sum n (fun i => f (x i)) / INR n) q) else 0)
  <= exp 1 * (1 + INR n * - ln (1 - q)) * exp (- (INR n * (2 * (E D f - q) ^ 2))).
Proof.
  intros Hq Hm. assert (Hlaw : is_law draws) by (now apply product_is_law).
  assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia). set (B := INR n * - ln (1 - q)).
  assert (HB : 0 <= B).
  { pose proof (kl_below q q ltac:(lra) ltac:(lra)). apply Rmult_le_pos; lra. }
  set (r := exp (- (INR n * (2 * (E D f - q) ^ 2)))). assert (Hr : 0 < r) by apply exp_pos.
  destruct (next_integer B HB) as (N & HN).
  set (low := fun k x => (if Rle_dec (sum n (fun i => f (x i)) / INR n) q then true else false)
    && (if Rle_dec (INR k) (INR n * kl (sum n (fun i => f (x i)) / INR n) q) then true else false)).
  apply Rle_trans with (E draws (fun x => sum N (fun k => exp (INR k + 1) * (if low k x then 1 else 0)))).
  - apply E_le; [easy|]. intros p Hp. pose proof (average_of_draws x0 D T n Hn f Hf p Hp) as Hav.
    unfold low. destruct (Rle_dec (sum n (fun i => f (snd p i)) / INR n) q) as [Hle|].
    + pose proof (kl_below (sum n (fun i => f (snd p i)) / INR n) q ltac:(lra) ltac:(lra)) as Hk.
      eapply Rle_trans; [apply (exp_by_levels N)|].
      * split; [apply Rmult_le_pos; lra|]. eapply Rle_lt_trans; [|apply HN].
        apply Rmult_le_compat_l; lra.
      * right. apply sum_ext. intros k _. cbn [andb]. destruct (Rle_dec (INR k) _); reflexivity.
    + apply sum_nonneg. intros k _. cbn [andb]. lra.
  - rewrite (E_sum draws N (fun k x => exp (INR k + 1) * (if low k x then 1 else 0))).
    apply Rle_trans with (sum N (fun _ => exp 1 * r)).
    + apply sum_le. intros k _. rewrite E_scale. pose proof (exp_pos (INR k + 1)).
      apply Rle_trans with (exp (INR k + 1) * (exp (- INR k) * r)).
      * apply Rmult_le_compat_l; [lra|]. apply (low_average q (INR k) Hq Hm).
      * right. rewrite <- Rmult_assoc, <- exp_plus. do 2 f_equal. ring.
    + rewrite sum_const. pose proof (exp_pos 1).
      assert (0 < exp 1 * r) by (now apply Rmult_lt_0_compat).
      replace (exp 1 * (1 + B) * r) with ((1 + B) * (exp 1 * r)) by ring.
      apply Rmult_le_compat_r; lra.
Qed.

End BadLuck.

(** ** Three series *)

Lemma exp_times n x : exp (INR n * x) = exp x ^ n.
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR. simpl. rewrite <- IH, <- exp_plus. f_equal. ring.
Qed.

(** The sums of [r^n], [n r^n] and [n^2 r^n] over all [n >= 1]. *)
Definition series_0 (r : R) : R := r / (1 - r).
Definition series_1 (r : R) : R := r / (1 - r) ^ 2.
Definition series_2 (r : R) : R := r * (1 + r) / (1 - r) ^ 3.

Section Series.

Variable r : R.
Hypothesis Hr : 0 < r < 1.

Lemma rest_nonneg N x : 0 <= x -> 0 <= r ^ N * r * x.
Proof. intros Hx. pose proof (pow_lt r N ltac:(lra)). repeat apply Rmult_le_pos; lra. Qed.

Lemma inv_pos k : 0 < / (1 - r) ^ k.
Proof. apply Rinv_0_lt_compat, pow_lt. lra. Qed.

Lemma below_series_0 N : sum N (fun n => r ^ S n) <= series_0 r.
Proof.
  assert (E : sum N (fun n => r ^ S n) = series_0 r - r ^ N * r * (/ (1 - r) ^ 1)).
  { unfold series_0. induction N as [|N IH]; [simpl; field; lra|]. cbn [sum]. rewrite IH. simpl. field. lra. }
  pose proof (rest_nonneg N _ (Rlt_le _ _ (inv_pos 1))). lra.
Qed.

Lemma below_series_1 N : sum N (fun n => INR (S n) * r ^ S n) <= series_1 r.
Proof.
  assert (E : sum N (fun n => INR (S n) * r ^ S n)
    = series_1 r - r ^ N * r * ((INR N + 1) * / (1 - r) ^ 1 + r * / (1 - r) ^ 2)).
  { unfold series_1. induction N as [|N IH]; [simpl; field; lra|]. cbn [sum]. rewrite IH, !S_INR. simpl. field. lra. }
  pose proof (inv_pos 1). pose proof (inv_pos 2). pose proof (pos_INR N).
  assert (0 <= (INR N + 1) * / (1 - r) ^ 1 + r * / (1 - r) ^ 2).
  { apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
  pose proof (rest_nonneg N _ H2). lra.
Qed.

Lemma below_series_2 N : sum N (fun n => INR (S n) ^ 2 * r ^ S n) <= series_2 r.
Proof.
  set (rest := fun N => (INR N + 1) ^ 2 * / (1 - r) ^ 1 + 2 * (INR N + 1) * r * / (1 - r) ^ 2
    + r * (1 + r) * / (1 - r) ^ 3).
  assert (E : sum N (fun n => INR (S n) ^ 2 * r ^ S n) = series_2 r - r ^ N * r * rest N).
  { unfold series_2, rest. induction N as [|N IH]; [simpl; field; lra|]. cbn [sum]. rewrite IH, !S_INR. simpl. field. lra. }
  pose proof (inv_pos 1). pose proof (inv_pos 2). pose proof (inv_pos 3). pose proof (pos_INR N).
  assert (0 <= rest N).
  { unfold rest. repeat apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; try apply pow2_ge_0; lra. }
  pose proof (rest_nonneg N _ H3). lra.
Qed.

End Series.

(** ** On every path *)

Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl.
  - rewrite sum_const. ring.
  - now rewrite IH, <- sum_plus.
Qed.

Lemma sum_longer n m f : (n <= m)%nat -> (forall i, 0 <= f i) -> sum n f <= sum m f.
Proof. induction 1 as [|m Hle IH]; intros Hf; simpl; [lra|]. specialize (IH Hf). specialize (Hf m). lra. Qed.

(** 1 if [m <= x], else 0. *)
Definition upto (m : nat) (x : R) : R := if Rle_dec (INR m) x then 1 else 0.

Lemma upto_nonneg m x : 0 <= upto m x.
Proof. unfold upto. destruct (Rle_dec _ _); lra. Qed.

Lemma upto_one m x : INR m <= x -> upto m x = 1.
Proof. intros H. unfold upto. now destruct (Rle_dec _ _). Qed.

(** At most [x] of the numbers 1, 2, ... are at most [x]. *)
Lemma count_upto N x : 0 <= x -> sum N (fun m => upto (S m) x) <= x.
Proof.
  intros Hx. assert (H : sum N (fun m => upto (S m) x) <= Rmin x (INR N)).
  { induction N as [|N IH]; cbn [sum]; [simpl; rewrite Rmin_right; lra|].
    pose proof (Rmin_l x (INR N)). pose proof (Rmin_r x (INR N)). unfold upto at 2. rewrite S_INR in *.
    destruct (Rle_dec (INR N + 1) x).
    - rewrite (Rmin_right x (INR N + 1)) by lra. lra.
    - rewrite (Rmin_left x (INR N + 1)) by lra. lra. }
  pose proof (Rmin_l x (INR N)). lra.
Qed.

Section Path.

Variables (K d T : nat) (mu : nat -> vector) (b : nat) (eps delta : R).

(** What means within [eps] of those of [b] and of an optimal arm say against [b]: at least
    [delta]. *)
Definition evidence_at_least : Prop :=
  forall a (p q : vector), (a < K)%nat -> gap K d mu a = 0 ->
    (forall j, (j < d)%nat -> 0 <= p j <= 1 /\ Rabs (p j - mu b j) <= eps) ->
    (forall j, (j < d)%nat -> 0 <= q j <= 1 /\ Rabs (q j - mu a j) <= eps) ->
    at_most (Some delta) (max_evidence d p q).

(** On how many objectives the average of [n] rewards is further than [eps] from its mean. *)
Definition off (Y : table) (a n : nat) : R :=
  sum d (fun j => if misses mu Y a j n eps then 1 else 0).

(** How long the arm [c] may be left alone when its average of [n] rewards is at most [q]. *)
Definition patience (Y : table) (c n j : nat) (q : R) : R :=
  if Rle_dec (average Y c n j) q then INR n * exp (INR n * kl (average Y c n j) q) else 0.

Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat) (Hb : (b < K)%nat)
  (Hmu : forall a j, (a < K)%nat -> (j < d)%nat -> 0 <= mu a j <= 1) (Heps : 0 < eps)
  (Hpaid : forall a, (a < K)%nat -> 0 < gap K d mu a -> eps < gap K d mu a)
  (Hdelta : 0 < delta) (Hevidence : evidence_at_least).
Variable rival : nat -> nat.
Hypothesis Hrival : forall a, (a < K)%nat -> 0 < gap K d mu a ->
  (rival a < K)%nat /\ forall j, (j < d)%nat -> mu a j + gap K d mu a <= mu (rival a) j.
Variable Y : table.
Hypothesis HY : forall a n j, (a < K)%nat -> (j < d)%nat -> 0 <= Y a n j <= 1.

Lemma off_nonneg a n : 0 <= off Y a n.
Proof. apply sum_nonneg. intros j _. destruct (misses _ _ _ _ _ _); lra. Qed.

Lemma patience_nonneg c n j q : 0 <= patience Y c n j q.
Proof.
  unfold patience. destruct (Rle_dec _ _); [|lra]. apply Rmult_le_pos; [apply pos_INR|apply Rlt_le, exp_pos].
Qed.

(** An arm is accurate, or its average is off. *)
Lemma accurate_or_off a n :
  (forall j, (j < d)%nat -> Rabs (average Y a n j - mu a j) <= eps) \/ 1 <= off Y a n.
Proof.
  destruct (search (fun j => eps < Rabs (average Y a n j - mu a j)) (fun j => Rlt_dec _ _) d)
    as [(j & Hj & H)|H].
  - right. eapply Rle_trans; [|apply (sum_ge_term d (fun j => if misses mu Y a j n eps then 1 else 0) j)]; auto.
    + unfold misses. destruct (Rlt_dec _ _); [lra|easy].
    + intros k _. destruct (misses _ _ _ _ _ _); lra.
  - left. intros j Hj. specialize (H j Hj). lra.
Qed.

(** What pays for the pull of [b] that follows [m] others. *)
Definition kind_1 (m : nat) : R :=
  sum K (fun a => sum T (fun n => upto m (INR (S n)) * off Y a (S n))).
Definition kind_2 (m : nat) : R :=
  sum K (fun a => if Rlt_dec 0 (gap K d mu a)
    then sum T (fun n => sum d (fun j => upto m (patience Y (rival a) (S n) j (mu a j + eps)))) else 0).
Definition kinds (m : nat) : R :=
  kind_1 m + kind_2 m + off Y b m + upto m (ln (INR T) / delta).

Lemma kind_1_term a n m : 0 <= upto m (INR (S n)) * off Y a (S n).
Proof. apply Rmult_le_pos; [apply upto_nonneg|apply off_nonneg]. Qed.

Lemma kind_1_nonneg m : 0 <= kind_1 m.
Proof. apply sum_nonneg. intros a _. apply sum_nonneg. intros n _. apply kind_1_term. Qed.

Lemma kind_2_nonneg m : 0 <= kind_2 m.
Proof.
  apply sum_nonneg. intros a _. destruct (Rlt_dec _ _); [|lra]. apply sum_nonneg. intros n _.
  apply sum_nonneg. intros j _. apply upto_nonneg.
Qed.

Lemma kinds_nonneg m : 0 <= kinds m.
Proof.
  pose proof (kind_1_nonneg m). pose proof (kind_2_nonneg m). pose proof (off_nonneg b m).
  pose proof (upto_nonneg m (ln (INR T) / delta)). unfold kinds. lra.
Qed.

(** If a suboptimal candidate [a] is accurate, the arm that beats it looks bad on some objective, and this
    bounds the pulls of [b]. *)
Lemma wrong_candidate h a : reads Y h -> (forall c, (c < K)%nat -> (1 <= count h c)%nat) ->
  candidate K d h a -> imed_pulls K d h a b -> 0 < gap K d mu a ->
  (forall j, (j < d)%nat -> Rabs (mean h a j - mu a j) <= eps) ->
  exists j, (j < d)%nat /\
    INR (count h b) <= patience Y (rival a) (count h (rival a)) j (mu a j + eps).
Proof.
  intros Hr Hcount [Ha Hzero] Hpull Hga Hacc. destruct (Hrival a Ha Hga) as [Hc Hahead].
  set (c := rival a) in *. pose proof (Hpaid a Ha Hga) as Hlt.
  assert (Hpos : 0 < INR (count h c)) by (apply lt_0_INR; specialize (Hcount c Hc); lia).
  assert (Hin : forall j, (j < d)%nat -> 0 <= mean h c j <= 1).
  { intros j Hj. rewrite (mean_is_average Y h c j Hr).
    apply (KlCertificates.average_in_unit K d T Y HK Hd HT HY); auto. }
  assert (Hq : forall j, (j < d)%nat -> 0 < mu a j + eps < 1 /\ mean h a j <= mu a j + eps).
  { intros j Hj. pose proof (Hmu a j Ha Hj). pose proof (Hmu c j Hc Hj). specialize (Hahead j Hj).
    specialize (Hacc j Hj). unfold Rabs in Hacc. destruct (Rcase_abs _); lra. }
  (* somewhere [c] does not look better than [a] *)
  assert (Hsome : exists j, (j < d)%nat /\ mean h c j <= mean h a j).
  { destruct (search (fun j => mean h c j <= mean h a j) (fun j => Rle_dec _ _) d) as [H|H]; [easy|].
    exfalso. pose proof (gap_ge K d (mean h) a c Hc) as Hg. rewrite Hzero in Hg.
    destruct (minb_attained d (fun j => mean h c j - mean h a j)) as (j & Hj & E); [lia|].
    specialize (H j Hj). rewrite E in Hg. lra. }
  destruct (largest_finite d (fun j => divergence (mean h c j) (mean h a j))) as (x & Ex).
  { intros j Hj. unfold divergence. destruct (Rlt_dec _ _); [|discriminate].
    destruct (Rlt_dec (mean h a j) 1); [discriminate|]. specialize (Hq j Hj). lra. }
  pose proof (rule_other K d h a b Hcount Ha Hpull c x Hc Ex) as Hrule.
  assert (Hfinish : forall j, (j < d)%nat -> mean h c j <= mu a j + eps -> x <= kl (mean h c j) (mu a j + eps) ->
            INR (count h b) <= patience Y c (count h c) j (mu a j + eps)).
  { intros j Hj Hle Hx. unfold patience. rewrite <- (mean_is_average Y h c j Hr).
    destruct (Rle_dec _ _); [|easy]. eapply Rle_trans; [exact Hrule|].
    apply Rmult_le_compat_l; [lra|]. apply exp_le_exp. apply Rmult_le_compat_l; lra. }
  destruct (Req_dec x 0) as [->|Hne].
  - destruct Hsome as (j & Hj & Hle). exists j. split; [easy|]. specialize (Hq j Hj). apply Hfinish; [easy|lra|].
    apply kl_below; [|lra]. specialize (Hin j Hj). lra.
  - destruct (largest_attained d _ x Ex) as [E|(j & Hj & E)]; [easy|].
    exists j. split; [easy|]. specialize (Hq j Hj). specialize (Hin j Hj). unfold divergence in E.
    destruct (Rlt_dec (mean h c j) (mean h a j)) as [Hless|]; [|injection E as <-; easy].
    destruct (Rlt_dec (mean h a j) 1); [|discriminate]. injection E as <-.
    apply Hfinish; [easy|lra|]. apply kl_grows; lra.
Qed.

(** Every pull of [b] after its first is paid for. *)
Lemma kinds_pay h a : imed_run K d Y h -> (K <= length h)%nat -> (length h <= T)%nat ->
  candidate K d h a -> imed_pulls K d h a b -> 1 <= kinds (count h b).
Proof.
  intros Hrun Hl HlT Hcand Hpull. pose proof (imed_reads K d Y h Hrun) as Hr.
  assert (Hcount : forall c, (c < K)%nat -> (1 <= count h c)%nat)
    by (intros c Hc; now apply (imed_count_pos K d Y h c)).
  assert (Hle : forall c, (count h c <= T)%nat)
    by (intros c; pose proof (count_le_length h c); lia).
  pose proof (kind_1_nonneg (count h b)) as N1. pose proof (kind_2_nonneg (count h b)) as N2.
  pose proof (off_nonneg b (count h b)) as N3.
  pose proof (upto_nonneg (count h b) (ln (INR T) / delta)) as N4. unfold kinds.
  destruct Hcand as [Ha Hzero].
  destruct (rule_candidate K d h a b Hcount Ha Hpull) as (x & Ex & Hx & Hba & Hlog).
  destruct (accurate_or_off a (count h a)) as [Hacc|Hoff].
  2:{ enough (1 <= kind_1 (count h b)) by lra. unfold kind_1. specialize (Hcount a Ha). specialize (Hle a).
      eapply Rle_trans; [|apply (sum_ge_term K (fun a => sum T (fun n =>
        upto (count h b) (INR (S n)) * off Y a (S n))) a); auto].
      2:{ intros k _. apply sum_nonneg. intros n _. apply kind_1_term. }
      eapply Rle_trans; [|apply (sum_ge_term T (fun n =>
        upto (count h b) (INR (S n)) * off Y a (S n)) (count h a - 1)); [|lia]].
      2:{ intros k _. apply kind_1_term. }
      replace (S (count h a - 1)) with (count h a) by lia.
      rewrite upto_one by (now apply le_INR). lra. }
  destruct (gap_nonneg K d mu a) as [Hga|Hga].
  { enough (1 <= kind_2 (count h b)) by lra. unfold kind_2.
    destruct (wrong_candidate h a Hr Hcount (conj Ha Hzero) Hpull Hga) as (j & Hj & Hpat).
    { intros j Hj. rewrite (mean_is_average Y h a j Hr). now apply Hacc. }
    destruct (Hrival a Ha Hga) as [Hc _]. specialize (Hcount _ Hc). specialize (Hle (rival a)).
    eapply Rle_trans; [|apply (sum_ge_term K (fun a => if Rlt_dec 0 (gap K d mu a)
      then sum T (fun n => sum d (fun j => upto (count h b) (patience Y (rival a) (S n) j (mu a j + eps))))
      else 0) a); auto].
    2:{ intros k _. destruct (Rlt_dec _ _); [|lra]. apply sum_nonneg. intros n _.
        apply sum_nonneg. intros i _. apply upto_nonneg. }
    destruct (Rlt_dec 0 (gap K d mu a)); [|easy].
    eapply Rle_trans; [|apply (sum_ge_term T (fun n => sum d (fun j =>
      upto (count h b) (patience Y (rival a) (S n) j (mu a j + eps)))) (count h (rival a) - 1)); [|lia]].
    2:{ intros k _. apply sum_nonneg. intros i _. apply upto_nonneg. }
    replace (S (count h (rival a) - 1)) with (count h (rival a)) by lia.
    eapply Rle_trans; [|apply (sum_ge_term d (fun j => upto (count h b)
      (patience Y (rival a) (count h (rival a)) j (mu a j + eps))) j); auto].
    - rewrite upto_one by easy. lra.
    - intros k _. apply upto_nonneg. }
  destruct (accurate_or_off b (count h b)) as [Hbacc|Hoff]; [|lra].
  enough (upto (count h b) (ln (INR T) / delta) = 1) by lra. apply upto_one.
  assert (Hev : at_most (Some delta) (max_evidence d (mean h b) (mean h a))).
  { apply (Hevidence a); [easy|now symmetry| |]; intros j Hj; rewrite (mean_is_average Y h _ j Hr);
      (split; [apply (KlCertificates.average_in_unit K d T Y HK Hd HT HY); auto|auto]). }
  rewrite Ex in Hev. simpl in Hev.
  assert (HlnT : ln (INR (count h a)) <= ln (INR T)).
  { apply ln_le_ln; [apply lt_0_INR; specialize (Hcount a Ha); lia|apply le_INR, Hle]. }
  pose proof (pos_INR (count h b)).
  assert (INR (count h b) * delta <= INR (count h b) * x) by (now apply Rmult_le_compat_l).
  apply Rmult_le_reg_r with delta; [easy|].
  replace (ln (INR T) / delta * delta) with (ln (INR T)) by (field; lra). lra.
Qed.

Lemma count_by_kinds h : imed_run K d Y h -> (length h <= T)%nat ->
  INR (count h b) <= 1 + sum (count h b - 1) (fun m => kinds (S m)).
Proof.
  induction 1 as [|h Hr IH Hl|h a i Hr IH Hl Hcand Hpull]; intros HlT.
  - simpl. lra.
  - unfold pull in *. simpl length in HlT. specialize (IH ltac:(lia)). simpl count.
    destruct (Nat.eqb_spec (length h) b) as [Eb|]; [|exact IH].
    rewrite (imed_warm_counts K d Y h Hr) by lia. rewrite Eb, Nat.ltb_irrefl. simpl. lra.
  - unfold pull in *. simpl length in HlT. specialize (IH ltac:(lia)). simpl count.
    destruct (Nat.eqb_spec i b) as [->|]; [|exact IH].
    pose proof (imed_count_pos K d Y h b Hr Hl Hb) as H1.
    pose proof (kinds_pay h a Hr Hl ltac:(lia) Hcand Hpull) as Hpay. rewrite S_INR.
    replace (S (count h b) - 1)%nat with (S (count h b - 1)) by lia. cbn [sum].
    replace (S (count h b - 1)) with (count h b) by lia. lra.
Qed.

(** The pulls of [b] on one path: what is bounded by [log T], and what depends on the averages of
    the table alone. *)
Theorem pulls_on_path h : imed_run K d Y h -> (length h <= T)%nat ->
  INR (count h b) <= 1 + ln (INR T) / delta + sum T (fun m => off Y b (S m))
    + sum K (fun a => sum T (fun n => INR (S n) * off Y a (S n)))
    + sum K (fun a => if Rlt_dec 0 (gap K d mu a)
        then sum T (fun n => sum d (fun j => patience Y (rival a) (S n) j (mu a j + eps))) else 0).
Proof.
  intros Hr Hl. pose proof (count_by_kinds h Hr Hl) as H.
  pose proof (count_le_length h b).
  pose proof (sum_longer (count h b - 1) T (fun m => kinds (S m)) ltac:(lia) (fun m => kinds_nonneg (S m))).
  assert (E : sum T (fun m => kinds (S m)) = sum T (fun m => kind_1 (S m)) + sum T (fun m => kind_2 (S m))
    + sum T (fun m => off Y b (S m)) + sum T (fun m => upto (S m) (ln (INR T) / delta))).
  { rewrite <- !sum_plus. reflexivity. }
  assert (B4 : sum T (fun m => upto (S m) (ln (INR T) / delta)) <= ln (INR T) / delta).
  { apply count_upto. apply Rmult_le_pos; [apply ln_INR_nonneg; lia|]. apply Rlt_le. now apply Rinv_0_lt_compat. }
  assert (B1 : sum T (fun m => kind_1 (S m)) <= sum K (fun a => sum T (fun n => INR (S n) * off Y a (S n)))).
  { unfold kind_1. rewrite sum_swap. apply sum_le. intros a _. rewrite sum_swap. apply sum_le. intros n _.
    rewrite (sum_ext T _ (fun m => off Y a (S n) * upto (S m) (INR (S n)))) by (intros; ring).
    rewrite sum_scale, Rmult_comm. apply Rmult_le_compat_r; [apply off_nonneg|].
    apply count_upto, pos_INR. }
  assert (B2 : sum T (fun m => kind_2 (S m)) <= sum K (fun a => if Rlt_dec 0 (gap K d mu a)
    then sum T (fun n => sum d (fun j => patience Y (rival a) (S n) j (mu a j + eps))) else 0)).
  { unfold kind_2. rewrite sum_swap. apply sum_le. intros a _. destruct (Rlt_dec 0 (gap K d mu a)).
    - rewrite sum_swap. apply sum_le. intros n _. rewrite sum_swap. apply sum_le. intros j _.
      apply count_upto, patience_nonneg.
    - rewrite sum_const. lra. }
  lra.
Qed.

End Path.

(** ** In expectation *)

(** The pulls of a suboptimal arm that do not grow with the horizon, for an accuracy [eps]. *)
Definition waste (K d : nat) (mu : nat -> vector) (eps : R) : R :=
  2 * INR d * series_0 (exp (- (2 * eps ^ 2)))
  + INR K * (2 * INR d * series_1 (exp (- (2 * eps ^ 2))))
  + sum K (fun a => if Rlt_dec 0 (gap K d mu a)
      then INR d * exp 1 * (series_1 (exp (- (2 * (gap K d mu a - eps) ^ 2)))
             + - ln (gap K d mu a - eps) * series_2 (exp (- (2 * (gap K d mu a - eps) ^ 2))))
      else 0).

Section FiniteRewards.

Variables (K d T : nat) (nu : nat -> law vector).

Local Notation mu := (means nu).
Local Notation gap := (gap K d mu).

(** A play of Pareto IMED: a law of pairs of a table and a history, whose tables are those of the
    model, with rewards in [0, 1], and whose histories are runs of length [T]. *)
Definition imed_play (D : law (table * history)) : Prop :=
  is_law D /\ (forall f, E D (fun x => f (fst x)) = E (tables K T nu) f) /\
  (forall p a n j, In p D -> (a < K)%nat -> (j < d)%nat -> 0 <= fst (snd p) a n j <= 1) /\
  (forall p, In p D -> imed_run K d (fst (snd p)) (snd (snd p)) /\ length (snd (snd p)) = T).

Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat)
  (Hnu : bounded_rewards K d nu).

Lemma means_in_unit a j : (a < K)%nat -> (j < d)%nat -> 0 <= mu a j <= 1.
Proof.
  intros Ha Hj. destruct (Hnu a Ha) as [Hlaw Hin]. split.
  - apply E_nonneg; [easy|]. intros p Hp. now apply Hin.
  - rewrite <- (E_const (nu a) 1 Hlaw). apply E_le; [easy|]. intros p Hp. now apply Hin.
Qed.

Lemma rate x : 0 < x -> 0 < exp (- (2 * x ^ 2)) < 1.
Proof.
  intros Hx. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing.
  assert (0 < x ^ 2) by (now apply pow_lt). lra.
Qed.

Lemma off_expected eps a n : 0 < eps -> (a < K)%nat -> (1 <= n <= T)%nat ->
  E (tables K T nu) (fun Y => off d mu eps Y a n) <= 2 * INR d * exp (- (2 * eps ^ 2)) ^ n.
Proof.
  intros Heps Ha Hn. unfold off.
  rewrite (E_sum (tables K T nu) d (fun j Y => if misses mu Y a j n eps then 1 else 0)).
  apply Rle_trans with (sum d (fun _ => 2 * exp (- (2 * eps ^ 2)) ^ n)).
  - apply sum_le. intros j Hj. eapply Rle_trans; [apply (tables_tail K d T nu); auto; lra|].
    right. f_equal. rewrite <- exp_times. f_equal. ring.
  - rewrite sum_const. lra.
Qed.

Lemma patience_expected a c n j eps : 0 < eps -> (a < K)%nat -> (c < K)%nat -> (j < d)%nat ->
  (1 <= n <= T)%nat -> eps < gap a -> mu a j + gap a <= mu c j ->
  E (tables K T nu) (fun Y => patience Y c n j (mu a j + eps))
  <= exp 1 * (INR n * exp (- (2 * (gap a - eps) ^ 2)) ^ n
       + - ln (gap a - eps) * (INR n ^ 2 * exp (- (2 * (gap a - eps) ^ 2)) ^ n)).
Proof.
  intros Heps Ha Hc Hj Hn Hlt Hahead. destruct (Hnu c Hc) as [Hlaw Hin].
  pose proof (means_in_unit a j Ha Hj). pose proof (means_in_unit c j Hc Hj).
  set (q := mu a j + eps). set (w := gap a - eps). assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  unfold tables, patience, average. eapply Rle_trans.
  - right. apply (E_coordinate (fun _ : nat => nothing) K
      (fun a => product nothing T (fun _ => nu a)) c
      (fun x => if Rle_dec (sum n (fun m => x m j) / INR n) q
                then INR n * exp (INR n * kl (sum n (fun m => x m j) / INR n) q) else 0)); [|easy].
    intros i Hi. apply product_is_law. intros _ _. now apply Hnu.
  - rewrite (E_ext _ _ (fun x => INR n * (if Rle_dec (sum n (fun m => x m j) / INR n) q
                then exp (INR n * kl (sum n (fun m => x m j) / INR n) q) else 0)))
      by (intros; destruct (Rle_dec _ _); ring).
    rewrite E_scale.
    apply Rle_trans with (INR n * (exp 1 * (1 + INR n * - ln w) * exp (- (2 * w ^ 2)) ^ n)); [|right; ring].
    apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply (bad_luck nothing (nu c) T n Hlaw Hn (fun y => y j)
      ltac:(intros; now apply Hin) q)|].
    + change (E (nu c) (fun y => y j)) with (mu c j). unfold q. lra.
    + change (E (nu c) (fun y => y j)) with (mu c j). lra.
    + change (E (nu c) (fun y => y j)) with (mu c j). rewrite <- exp_times.
      assert (Hw : 0 < w <= 1 - q) by (unfold w, q; lra).
      pose proof (ln_le_ln w (1 - q) ltac:(lra) ltac:(lra)).
      assert (ln (1 - q) <= 0) by (rewrite <- ln_1; apply ln_le_ln; unfold q; lra).
      pose proof (exp_pos 1). apply Rmult_le_compat.
      * apply Rmult_le_pos; [lra|]. assert (0 <= INR n * - ln (1 - q)) by (apply Rmult_le_pos; lra). lra.
      * apply Rlt_le, exp_pos.
      * apply Rmult_le_compat_l; [lra|]. apply Rplus_le_compat_l, Rmult_le_compat_l; lra.
      * apply exp_le_exp. assert (w ^ 2 <= (mu c j - q) ^ 2) by (apply pow_incr; unfold w, q; lra).
        assert (INR n * (2 * w ^ 2) <= INR n * (2 * (mu c j - q) ^ 2)) by (apply Rmult_le_compat_l; lra).
        lra.
Qed.

(** For each suboptimal arm, an arm that is ahead of it by its gap. *)
Lemma rivals_exist : exists rival, forall a, (a < K)%nat -> 0 < gap a ->
  (rival a < K)%nat /\ forall j, (j < d)%nat -> mu a j + gap a <= mu (rival a) j.
Proof.
  assert (H : forall n, exists rival, forall a, (a < n)%nat -> 0 < gap a ->
    (rival a < K)%nat /\ forall j, (j < d)%nat -> mu a j + gap a <= mu (rival a) j).
  { induction n as [|n (rival & Hr)]; [exists (fun _ => O); intros; lia|].
    destruct (Rlt_dec 0 (gap n)) as [Hg|Hg].
    - destruct (gap_witness K d mu n ltac:(lia) Hg) as (c & Hc & Hahead).
      exists (fun a => if (a =? n)%nat then c else rival a). intros a Ha Hga.
      destruct (Nat.eqb_spec a n) as [->|]; [now split|apply Hr; [lia|easy]].
    - exists rival. intros a Ha Hga. apply Hr; [|easy].
      destruct (Nat.eq_dec a n) as [->|]; [easy|lia]. }
  apply (H K).
Qed.

(** Pareto IMED pulls a suboptimal arm a logarithmic number of times. *)
Theorem imed_pulls_bound D b eps delta : imed_play D -> (b < K)%nat -> 0 < eps ->
  (forall a, (a < K)%nat -> 0 < gap a -> eps < gap a) ->
  0 < delta -> evidence_at_least K d mu b eps delta ->
  E D (fun x => INR (count (snd x) b)) <= 1 + waste K d mu eps + ln (INR T) / delta.
Proof.
  intros (HD & Hmarg & Hunit & Hplay) Hb Heps Hpaid Hdelta Hev.
  destruct rivals_exist as (rival & Hrival).
  assert (Htab : is_law (tables K T nu)) by (now apply (tables_is_law K d)).
  set (F0 := fun Y => sum T (fun m => off d mu eps Y b (S m))).
  set (F1 := fun Y => sum K (fun a => sum T (fun n => INR (S n) * off d mu eps Y a (S n)))).
  set (F2 := fun Y => sum K (fun a => if Rlt_dec 0 (gap a)
    then sum T (fun n => sum d (fun j => patience Y (rival a) (S n) j (mu a j + eps))) else 0)).
  apply Rle_trans with (E D (fun x => 1 + ln (INR T) / delta + (F0 (fst x) + (F1 (fst x) + F2 (fst x))))).
  { apply E_le; [easy|]. intros p Hp. destruct (Hplay p Hp) as [Hr Hl].
    pose proof (pulls_on_path K d T mu b eps delta HK Hd HT Hb means_in_unit Heps Hpaid Hdelta Hev rival Hrival
      (fst (snd p)) (fun a n j => Hunit p a n j Hp) (snd (snd p)) Hr ltac:(lia)) as Hpath.
    unfold F0, F1, F2. lra. }
  rewrite (E_plus D (fun _ => _)), E_const by easy.
  rewrite (Hmarg (fun Y => F0 Y + (F1 Y + F2 Y))), (E_plus _ F0), (E_plus _ F1).
  pose proof (rate eps Heps) as Hrate. set (r := exp (- (2 * eps ^ 2))) in *.
  pose proof (pos_INR d) as Hd0. pose proof (pos_INR K) as HK0.
  assert (B0 : E (tables K T nu) F0 <= 2 * INR d * series_0 r).
  { unfold F0. rewrite (E_sum _ T (fun m Y => off d mu eps Y b (S m))).
    apply Rle_trans with (sum T (fun m => 2 * INR d * r ^ S m)).
    - apply sum_le. intros m Hm. apply off_expected; auto; lia.
    - rewrite sum_scale. apply Rmult_le_compat_l; [lra|]. now apply below_series_0. }
  assert (B1 : E (tables K T nu) F1 <= INR K * (2 * INR d * series_1 r)).
  { unfold F1. rewrite (E_sum _ K (fun a Y => sum T (fun n => INR (S n) * off d mu eps Y a (S n)))).
    rewrite <- sum_const. apply sum_le. intros a Ha.
    rewrite (E_sum _ T (fun n Y => INR (S n) * off d mu eps Y a (S n))).
    apply Rle_trans with (sum T (fun n => 2 * INR d * (INR (S n) * r ^ S n))).
    - apply sum_le. intros n Hn. rewrite E_scale.
      replace (2 * INR d * (INR (S n) * r ^ S n)) with (INR (S n) * (2 * INR d * r ^ S n)) by ring.
      apply Rmult_le_compat_l; [apply pos_INR|]. apply off_expected; auto; lia.
    - rewrite sum_scale. apply Rmult_le_compat_l; [lra|]. now apply below_series_1. }
  assert (B2 : E (tables K T nu) F2 <= sum K (fun a => if Rlt_dec 0 (gap a)
      then INR d * exp 1 * (series_1 (exp (- (2 * (gap a - eps) ^ 2)))
             + - ln (gap a - eps) * series_2 (exp (- (2 * (gap a - eps) ^ 2)))) else 0)).
  { unfold F2. rewrite (E_sum _ K (fun a Y => if Rlt_dec 0 (gap a)
      then sum T (fun n => sum d (fun j => patience Y (rival a) (S n) j (mu a j + eps))) else 0)).
    apply sum_le. intros a Ha. destruct (Rlt_dec 0 (gap a)) as [Hga|]; [|rewrite E_const by easy; lra].
    destruct (Hrival a Ha Hga) as [Hc Hahead]. pose proof (Hpaid a Ha Hga) as Hlt.
    set (w := gap a - eps). pose proof (rate w ltac:(unfold w; lra)) as Hw.
    set (s := exp (- (2 * w ^ 2))) in *.
    assert (Hlog : 0 <= - ln w).
    { specialize (Hahead O ltac:(lia)). pose proof (means_in_unit a O Ha ltac:(lia)).
      pose proof (means_in_unit _ O Hc ltac:(lia)).
      assert (ln w <= 0) by (rewrite <- ln_1; apply ln_le_ln; unfold w; lra). lra. }
    rewrite (E_sum _ T (fun n Y => sum d (fun j => patience Y (rival a) (S n) j (mu a j + eps)))).
    apply Rle_trans with (sum T (fun n => INR d * exp 1 *
      (INR (S n) * s ^ S n + - ln w * (INR (S n) ^ 2 * s ^ S n)))).
    - apply sum_le. intros n Hn. rewrite (E_sum _ d (fun j Y => patience Y (rival a) (S n) j (mu a j + eps))).
      rewrite Rmult_assoc, <- sum_const. apply sum_le. intros j Hj.
      apply patience_expected; auto; lia.
    - rewrite sum_scale, sum_plus, sum_scale. pose proof (exp_pos 1).
      apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rplus_le_compat; [now apply below_series_1|].
      apply Rmult_le_compat_l; [easy|now apply below_series_2]. }
  unfold waste. fold r. lra.
Qed.

(** Means within [eps] of those of a suboptimal arm [b] and of an optimal arm are apart on some
    objective. *)
Theorem evidence_floor b eps : (b < K)%nat -> 0 < gap b -> 0 < eps -> 2 * eps < gap b ->
  evidence_at_least K d mu b eps (2 * (gap b - 2 * eps) ^ 2).
Proof.
  intros Hb Hgb Heps Hlt a p q Ha Hga Hp Hq.
  destruct (gap_witness K d mu b ltac:(lia) Hgb) as (w & Hw & Hahead).
  destruct (minb_attained d (fun j => mu w j - mu a j)) as (j & Hj & Ej); [lia|].
  pose proof (gap_ge K d mu a w Hw) as Hmin. rewrite Hga, Ej in Hmin. specialize (Hahead j Hj).
  destruct (Hp j Hj) as [Hp01 Hpe]. destruct (Hq j Hj) as [Hq01 Hqe].
  assert (Hapart : gap b - 2 * eps <= q j - p j).
  { unfold Rabs in *. destruct (Rcase_abs (p j - mu b j)), (Rcase_abs (q j - mu a j)); lra. }
  destruct (max_evidence d p q) as [x|] eqn:E; simpl; [|easy].
  pose proof (largest_ge d _ x j E Hj) as H. unfold divergence in H.
  destruct (Rlt_dec (p j) (q j)); [|lra]. destruct (Rlt_dec (q j) 1); [|easy]. simpl in H.
  pose proof (pinsker (p j) (q j) Hp01 ltac:(lra)).
  assert ((gap b - 2 * eps) ^ 2 <= (q j - p j) ^ 2) by (apply pow_incr; lra).
  replace ((q j - p j) ^ 2) with ((p j - q j) ^ 2) in * by ring. lra.
Qed.

(** Its regret is logarithmic, at every horizon. *)
Theorem imed_regret D eps : imed_play D -> 0 < eps ->
  (forall a, (a < K)%nat -> 0 < gap a -> 4 * eps <= gap a) ->
  E D (fun x => regret K d mu (snd x))
  <= sum K (fun b => gap b * (1 + waste K d mu eps + 2 * ln (INR T) / gap b ^ 2)).
Proof.
  intros HD Heps Hsmall. pose proof HD as (Hlaw & _ & _ & Hplay).
  rewrite (E_ext D _ (fun x => sum K (fun b => gap b * INR (count (snd x) b)))).
  2:{ intros p Hp. destruct (Hplay p Hp) as [Hr _].
      apply regret_by_counts. now apply (imed_below K d (fst (snd p))). }
  rewrite (E_sum D K (fun b x => gap b * INR (count (snd x) b))). apply sum_le. intros b Hb.
  rewrite (E_scale D (gap b) (fun x => INR (count (snd x) b))).
  destruct (gap_nonneg K d mu b) as [Hg|Hg]; [|rewrite <- Hg; lra].
  apply Rmult_le_compat_l; [lra|]. pose proof (Hsmall b Hb Hg) as H4.
  assert (Hpow : 0 < (gap b - 2 * eps) ^ 2) by (apply pow_lt; lra).
  eapply Rle_trans; [apply (imed_pulls_bound D b eps (2 * (gap b - 2 * eps) ^ 2) HD Hb Heps)|].
  - intros a Ha Hga. specialize (Hsmall a Ha Hga). lra.
  - lra.
  - apply evidence_floor; auto; lra.
  - apply Rplus_le_compat_l. pose proof (ln_INR_nonneg T ltac:(lia)) as Hlog.
    assert (Hquarter : gap b ^ 2 <= 4 * (gap b - 2 * eps) ^ 2).
    { replace (4 * (gap b - 2 * eps) ^ 2) with ((2 * (gap b - 2 * eps)) ^ 2) by ring. apply pow_incr. lra. }
    assert (Hg2 : 0 < gap b ^ 2) by (now apply pow_lt).
    replace (2 * ln (INR T) / gap b ^ 2) with (ln (INR T) * / (gap b ^ 2 / 2)) by (field; lra).
    apply Rmult_le_compat_l; [easy|]. apply Rinv_le_contravar; lra.
Qed.

(** There is a play: the hypotheses can be met. *)
Theorem imed_play_exists : exists D, imed_play D.
Proof.
  destruct (with_histories (fun Y h => imed_run K d Y h /\ length h = T) (tables K T nu)) as (D & H1 & H2).
  { intros p Hp. apply imed_run_exists; lia. }
  destruct (tables_is_law K d T nu Hnu) as [Hw Hone]. exists D. split; [split|].
  - intros p Hp. apply (Hw _ (proj1 (H2 p Hp))).
  - now rewrite (H1 (fun _ => 1)).
  - split; [exact H1|]. split; [|intros p Hp; apply (H2 p Hp)].
    intros p a n j Hp Ha Hj. now apply (tables_in_unit K d T nu HK Hd HT Hnu _ a n j (proj1 (H2 p Hp))).
Qed.

End FiniteRewards.
