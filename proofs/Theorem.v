(** The regret of Algorithm 1 on the confidence event: pull counts, the sharper
    bound, the paper's bound, the bound by deficits. No probability here: these hold on
    every path on which the intervals hold. *)

Require Import Reals Lra Lia Arith List.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Lemmas.
Import ListNotations.
Open Scope R_scope.

Section Theorem4.

Variables (K d T : nat) (c : R) (mu : nat -> vector) (Y : table).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat) (Hc : 0 <= c).

Local Notation gap := (gap K d mu).
Local Notation gap_max := (gap_max K d mu).
Local Notation g := (g_dagger K d mu).
Local Notation regret := (regret K d mu).
Local Notation event := (event K d T c mu).
Local Notation run := (run K d T c Y).

Lemma event_tail x h : event (x :: h) -> event h.
Proof.
  intros Hev later before E Hne Hl. apply (Hev (x :: later) before); auto.
  - now rewrite E.
  - discriminate.
Qed.

Lemma event_before h0 later : event (later ++ h0) -> event h0.
Proof.
  induction later as [|x later IH]; [auto|]. intros H. apply IH. now apply event_tail with x.
Qed.

(** ** Pull counts

    [M a] is anything that every pull of [a] before the certificate keeps below four
    radii: by Lemmas 10 and 11, its gap, its least deficit, and [g]. *)

Section Counts.

Variable M : nat -> R.
Hypothesis charged : forall h a,
  inside K d T c mu h -> decision K d T c h None a None -> M a <= 4 * beta T c h a.

Lemma last_pull h s : run h s -> s = None -> event h ->
  forall a, (2 <= count h a)%nat -> M a <= 4 * radius c T (count h a - 1).
Proof.
  induction 1 as [|h Hr IH Hl|h s b s' Hr IH Hl Hdec]; intros Es Hev a Ha.
  - simpl in Ha. lia.
  - exfalso. destruct (warm_counts K d T c Y (pull Y h (length h)) None) as (_ & Hcnt & _).
    + now apply warm.
    + unfold pull. simpl. lia.
    + rewrite Hcnt in Ha. destruct (a <? _)%nat; lia.
  - subst s'. assert (s = None) as -> by (inversion Hdec; reflexivity).
    assert (Hin : inside K d T c mu h)
      by (apply (Hev [(b, Y b (count h b))] h); auto; discriminate).
    unfold pull in *. simpl count in *. destruct (Nat.eqb_spec b a) as [->|Hne].
    + replace (S (count h a) - 1)%nat with (count h a) by lia.
      now apply charged.
    + apply IH; auto. now apply event_tail in Hev.
Qed.

(** Arm [a] is pulled at most [16 c log T / M^2] times between warm start and
    certificate. *)
Theorem pull_count h a : run h None -> event h -> (a < K)%nat -> 0 < M a ->
  INR (count h a) <= 1 + 16 * c * ln (INR T) / M a ^ 2.
Proof.
  intros Hr Hev Ha HM. pose proof (ln_INR_nonneg T ltac:(lia)) as Hlog.
  assert (HS : 0 <= c * ln (INR T)) by (now apply Rmult_le_pos).
  assert (HM2 : 0 < M a ^ 2) by (apply pow_lt; lra).
  destruct (le_lt_dec 2 (count h a)) as [H2|H2].
  - pose proof (last_pull h None Hr eq_refl Hev a H2) as Hlast. unfold radius in Hlast.
    assert (Hn : INR (count h a) = 1 + INR (count h a - 1)).
    { rewrite minus_INR by lia. simpl. lra. }
    rewrite Hn. apply Rplus_le_compat_l.
    set (n := INR (count h a - 1)) in *.
    assert (Hnpos : 0 < n) by (apply lt_0_INR; lia).
    assert (Hq : 0 <= c * ln (INR T) / n)
      by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
    assert (Hsq : M a ^ 2 <= 16 * (c * ln (INR T) / n)).
    { replace (16 * (c * ln (INR T) / n)) with ((4 * sqrt (c * ln (INR T) / n)) ^ 2).
      - apply pow_incr. lra.
      - rewrite Rpow_mult_distr, pow2_sqrt by easy. lra. }
    apply Rmult_le_reg_r with (M a ^ 2); [easy|].
    replace (16 * c * ln (INR T) / M a ^ 2 * M a ^ 2) with (16 * (c * ln (INR T) / n) * n)
      by (field; split; lra).
    rewrite Rmult_comm. apply Rmult_le_compat_r; lra.
  - assert (INR (count h a) <= 1) by (change 1 with (INR 1); apply le_INR; lia).
    assert (0 <= 16 * c * ln (INR T) / M a ^ 2); [|lra].
    apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra].
Qed.

Hypothesis above_gap : forall a, (a < K)%nat -> gap a <= M a.

Lemma exploration_regret h : run h None -> event h ->
  regret h <= INR K * gap_max + 16 * c * ln (INR T) * sum K (fun a => gap a / M a ^ 2).
Proof.
  intros Hr Hev. destruct (run_below _ _ _ _ _ _ _ Hd Hr) as [Hb _].
  rewrite regret_by_counts by easy.
  rewrite <- sum_const, <- sum_scale, <- sum_plus. apply sum_le. intros a Ha.
  pose proof (gap_nonneg K d mu a) as H0. pose proof (gap_le_max K d mu a Ha) as Hmax.
  specialize (above_gap a Ha). destruct (Req_dec (gap a) 0) as [Ez|Hnz].
  - rewrite Ez. unfold Rdiv. rewrite !Rmult_0_l, Rmult_0_r. lra.
  - assert (Hcount := pull_count h a Hr Hev Ha ltac:(lra)).
    apply Rle_trans with (gap a * (1 + 16 * c * ln (INR T) / M a ^ 2)).
    + apply Rmult_le_compat_l; lra.
    + replace (gap a * (1 + 16 * c * ln (INR T) / M a ^ 2))
        with (gap a + 16 * c * ln (INR T) * (gap a / M a ^ 2))
        by (unfold Rdiv; ring).
      lra.
Qed.

(** A commitment costs nothing on the event. *)
Theorem regret_on_event h s : run h s -> event h ->
  regret h <= INR K * gap_max + 16 * c * ln (INR T) * sum K (fun a => gap a / M a ^ 2).
Proof.
  intros Hr Hev. destruct s as [a|]; [|now apply exploration_regret].
  destruct (corollary_6_on_event K d T c mu Y h a Hr Hev) as (_ & _ & Hzero).
  destruct (run_splits _ _ _ _ _ _ _ Hr) as (h0 & later & -> & H0 & _ & _ & _ & Hall).
  rewrite regret_app.
  assert (El : regret later = 0).
  { clear - Hall Hzero. unfold Model.regret. induction later as [|p later IH]; simpl; [reflexivity|].
    rewrite (Hall p) by now left. rewrite Hzero, IH; [lra|]. intros q Hq. apply Hall. now right. }
  rewrite El, Rplus_0_l. apply exploration_regret; auto. now apply event_before with later.
Qed.

End Counts.

(** ** The sharper bound, for every [g >= 0] *)

Lemma charged_gap h a : inside K d T c mu h -> decision K d T c h None a None ->
  Rmax (gap a) g <= 4 * beta T c h a.
Proof.
  intros Hin Hdec. apply Rmax_lub; [now apply lemma_10|].
  apply floor_at_pull; auto.
Qed.

Theorem sharper_count h a : run h None -> event h -> (a < K)%nat -> 0 < Rmax (gap a) g ->
  INR (count h a) <= 1 + 16 * c * ln (INR T) / Rmax (gap a) g ^ 2.
Proof. apply (pull_count (fun a => Rmax (gap a) g) charged_gap). Qed.

Theorem sharper_bound h s : run h s -> event h ->
  regret h <= INR K * gap_max
    + 16 * c * ln (INR T) * sum K (fun a => gap a / Rmax (gap a) g ^ 2).
Proof.
  apply (regret_on_event (fun a => Rmax (gap a) g) charged_gap). intros. apply Rmax_l.
Qed.

(** ** Counted by deficits *)

Theorem deficit_bound h s : run h s -> event h ->
  regret h <= INR K * gap_max
    + 16 * c * ln (INR T) * sum K (fun a => gap a / Rmax (least_deficit K d mu a) g ^ 2).
Proof.
  apply (regret_on_event (fun a => Rmax (least_deficit K d mu a) g)).
  - intros h' a Hin Hdec. apply Rmax_lub; [now apply lemma_10_least|].
    apply floor_at_pull; auto.
  - intros a Ha. eapply Rle_trans; [apply gap_le_least_deficit; auto; lia|apply Rmax_l].
Qed.

(** ** When no arm leads *)

Theorem tied_bound h s :
  (forall j, (j < d)%nat -> exists u w, (u < K)%nat /\ (w < K)%nat /\ u <> w /\
     maximiser K mu u j /\ maximiser K mu w j) ->
  run h s -> event h ->
  regret h <= INR K * gap_max + 4 * c * ln (INR T) * sum K (fun a => gap a / gap a ^ 2).
Proof.
  intros Htie Hr Hev.
  replace (4 * c * ln (INR T) * sum K (fun a => gap a / gap a ^ 2))
    with (16 * c * ln (INR T) * sum K (fun a => gap a / (2 * gap a) ^ 2)).
  - apply (regret_on_event (fun a => 2 * gap a)) with s; auto.
    + intros h' a Hin Hdec.
      pose proof (lemma_10_tied K d T c mu h' a Hd Htie Hin Hdec). lra.
    + intros a Ha. pose proof (gap_nonneg K d mu a). lra.
  - rewrite (sum_ext K _ (fun a => / 4 * (gap a / gap a ^ 2))).
    + rewrite sum_scale. field.
    + intros a _. destruct (Req_dec (gap a) 0) as [->|Hnz]; [|field; lra].
      unfold Rdiv. rewrite !Rmult_0_l. lra.
Qed.

(** ** The middle term of the sharper bound *)

(** For [g > 0] it is at most [K / g]. *)
Theorem sharper_sum_le : 0 < g -> sum K (fun a => gap a / Rmax (gap a) g ^ 2) <= INR K / g.
Proof.
  intros Hg. unfold Rdiv at 2. rewrite <- sum_const. apply sum_le. intros a Ha.
  pose proof (gap_nonneg K d mu a). pose proof (Rmax_l (gap a) g). pose proof (Rmax_r (gap a) g).
  set (m := Rmax (gap a) g) in *.
  apply Rle_trans with (m / m ^ 2).
  - apply Rmult_le_compat_r; [|lra]. apply Rlt_le, Rinv_0_lt_compat, pow_lt. lra.
  - replace (m / m ^ 2) with (/ m) by (field; lra). apply Rinv_le_contravar; lra.
Qed.

(** And always at most the sum of the inverse gaps. *)
Theorem sharper_sum_le_gaps :
  sum K (fun a => gap a / Rmax (gap a) g ^ 2)
  <= sum K (fun a => if Rlt_dec 0 (gap a) then / gap a else 0).
Proof.
  apply sum_le. intros a Ha. pose proof (gap_nonneg K d mu a). pose proof (Rmax_l (gap a) g).
  destruct (Rlt_dec 0 (gap a)) as [Hp|Hn].
  - set (m := Rmax (gap a) g) in *. apply Rle_trans with (gap a / gap a ^ 2).
    + apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [apply pow_lt; lra|].
      apply pow_incr. lra.
    + right. field. lra.
  - replace (gap a) with 0 at 1 by lra. unfold Rdiv. rewrite Rmult_0_l. lra.
Qed.

(** The paper's constant for general [c], and half of it. *)
Theorem half_of_theorem_4 h s : run h s -> event h -> 0 < g ->
  regret h <= INR K * gap_max + 16 * c * (INR K * ln (INR T) / g).
Proof.
  intros Hr Hev Hg. eapply Rle_trans; [now apply sharper_bound with s|].
  apply Rplus_le_compat_l. pose proof (ln_INR_nonneg T ltac:(lia)).
  replace (16 * c * (INR K * ln (INR T) / g)) with (16 * c * ln (INR T) * (INR K / g))
    by (unfold Rdiv; ring).
  apply Rmult_le_compat_l; [|now apply sharper_sum_le].
  apply Rmult_le_pos; lra.
Qed.

End Theorem4.

(** ** With the paper's radius, [c = 2]

    The hypotheses are those of the paper without probability: at least two arms,
    one objective, a horizon of at least [K], any rewards, any run of Algorithm 1 on which the
    intervals hold. *)

Section Paper.

Variables (K d T : nat) (mu : nat -> vector) (Y : table) (h : history) (s : option nat).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat)
  (Hrun : run K d T 2 Y h s) (Hevent : event K d T 2 mu h).

Theorem pathwise_sharper :
  regret K d mu h <= INR K * gap_max K d mu
    + 32 * ln (INR T)
      * sum K (fun a => gap K d mu a / Rmax (gap K d mu a) (g_dagger K d mu) ^ 2).
Proof.
  replace 32 with (16 * 2) by lra.
  now apply (sharper_bound K d T 2 mu Y HK Hd HT ltac:(lra) h s).
Qed.

Theorem pathwise_deficits :
  regret K d mu h <= INR K * gap_max K d mu
    + 32 * ln (INR T)
      * sum K (fun a => gap K d mu a / Rmax (least_deficit K d mu a) (g_dagger K d mu) ^ 2).
Proof.
  replace 32 with (16 * 2) by lra.
  now apply (deficit_bound K d T 2 mu Y HK Hd HT ltac:(lra) h s).
Qed.

Theorem pathwise_tied :
  (forall j, (j < d)%nat -> exists u w, (u < K)%nat /\ (w < K)%nat /\ u <> w /\
     maximiser K mu u j /\ maximiser K mu w j) ->
  regret K d mu h <= INR K * gap_max K d mu
    + 8 * ln (INR T) * sum K (fun a => gap K d mu a / gap K d mu a ^ 2).
Proof.
  intros Htie. replace 8 with (4 * 2) by lra.
  now apply (tied_bound K d T 2 mu Y HK Hd HT ltac:(lra) h s).
Qed.

Theorem pathwise_theorem_4 : 0 < g_dagger K d mu ->
  regret K d mu h <= INR K * gap_max K d mu + 64 * (INR K * ln (INR T) / g_dagger K d mu).
Proof.
  intros Hg.
  pose proof (half_of_theorem_4 K d T 2 mu Y HK Hd HT ltac:(lra) h s Hrun Hevent Hg) as H.
  pose proof (ln_INR_nonneg T ltac:(lia)).
  assert (0 <= INR K * ln (INR T) / g_dagger K d mu); [|lra].
  apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; lra].
  apply Rmult_le_pos; [apply pos_INR|lra].
Qed.

End Paper.
