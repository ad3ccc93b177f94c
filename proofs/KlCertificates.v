(** Certificates from the narrower kl intervals: they come no later, they are as
    true, and the bounds stay.

    The sampling rule is that of Algorithm 1. Only the test changes: arm [b] is certified
    on objective [j] when the kl interval of every other arm ends below the beginning
    of its own. *)

Require Import Reals Lra Lia Arith List Classical_Prop.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Lemmas
  Momab.Theorem Momab.Kl.
Import ListNotations.
Open Scope R_scope.

Definition is_supremum (E : R -> Prop) (x : R) : Prop :=
  (forall e, E e -> e <= x) /\ (forall y, (forall e, E e -> e <= y) -> x <= y).

Section KlCertificates.

Variables (K d T : nat) (c : R) (mu : nat -> vector) (Y : table).

(** All [x] with [N kl (mean, x) <= 2 c log T]. At 0 and 1 the divergence is infinite
    unless the mean is there, too. *)
Definition kl_interval (h : history) (a j : nat) (x : R) : Prop :=
  x = mean h a j \/
  (0 < x < 1 /\ INR (count h a) * kl (mean h a j) x <= 2 * c * ln (INR T)).

Definition kl_certifies (h : history) (j b : nat) : Prop :=
  forall a, (a < K)%nat -> a <> b -> forall lower upper,
    is_infimum (kl_interval h b j) lower -> is_supremum (kl_interval h a j) upper ->
    upper < lower.

Inductive kl_decision (h : history) : option nat -> nat -> option nat -> Prop :=
  | kl_stay a : kl_decision h (Some a) a (Some a)
  | kl_certify b j :
      (j < d)%nat -> (b < K)%nat -> kl_certifies h j b -> kl_decision h None b (Some b)
  | kl_explore b e j a :
      races K d T c h b e ->
      (forall i k, (i < d)%nat -> (k < K)%nat -> ~ kl_certifies h i k) ->
      sampled d T c h b e j a -> kl_decision h None a None.

Inductive kl_run : history -> option nat -> Prop :=
  | kl_start : kl_run [] None
  | kl_warm h : kl_run h None -> (length h < K)%nat -> kl_run (pull Y h (length h)) None
  | kl_next h s a s' :
      kl_run h s -> (K <= length h)%nat -> kl_decision h s a s' -> kl_run (pull Y h a) s'.

(** ** What every run has in common *)

Lemma kl_run_reads h s : kl_run h s -> reads Y h.
Proof. induction 1; constructor; auto. Qed.

Lemma kl_run_before h s : kl_run h s ->
  forall later before, h = later ++ before -> exists s', kl_run before s'.
Proof.
  induction 1 as [|h Hr IH Hl|h s b s' Hr IH Hl Hdec]; intros later before Eh.
  - destruct later; [|discriminate]. simpl in Eh. subst. eexists. constructor.
  - destruct later as [|x later]; [|injection Eh as _ Eh; now apply (IH later)].
    simpl in Eh. subst. eexists. now apply kl_warm.
  - destruct later as [|x later]; [|injection Eh as _ Eh; now apply (IH later)].
    simpl in Eh. subst. eexists. eapply kl_next; eauto.
Qed.

Lemma kl_warm_counts h s : kl_run h s -> (length h <= K)%nat ->
  forall a, count h a = if (a <? length h)%nat then 1%nat else O.
Proof.
  induction 1 as [|h Hr IH Hl|h s a s' Hr IH Hl Hdec]; intros Hlen a0.
  - reflexivity.
  - unfold pull. simpl. rewrite (IH ltac:(lia)).
    destruct (Nat.eqb_spec (length h) a0), (Nat.ltb_spec a0 (length h)),
      (Nat.ltb_spec a0 (S (length h))); lia.
  - unfold pull in Hlen. simpl in Hlen. lia.
Qed.

Lemma kl_count_pos h s a : kl_run h s -> (K <= length h)%nat -> (a < K)%nat ->
  (1 <= count h a)%nat.
Proof.
  induction 1 as [|h Hr IH Hl|h s b s' Hr IH Hl Hdec]; intros Hlen Ha.
  - simpl in Hlen. lia.
  - pose proof (kl_warm_counts _ _ (kl_warm h Hr Hl)) as Hc. unfold pull in *. simpl length in *.
    rewrite Hc by lia. destruct (Nat.ltb_spec a (S (length h))); lia.
  - unfold pull. simpl count. specialize (IH Hl Ha). destruct (b =? a)%nat; lia.
Qed.

(** ** A kl interval is inside Hoeffding's *)

Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat) (Hc : 0 <= c)
  (HY : forall a n j, (a < K)%nat -> (j < d)%nat -> 0 <= Y a n j <= 1).

Lemma average_in_unit a n j : (a < K)%nat -> (j < d)%nat -> (1 <= n)%nat -> 0 <= average Y a n j <= 1.
Proof.
  intros Ha Hj Hn. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia). unfold average.
  assert (0 <= sum n (fun m => Y a m j) <= INR n * 1).
  { split; [apply sum_nonneg; intros; now apply HY|].
    rewrite <- sum_const. apply sum_le. intros. now apply HY. }
  split.
  - apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra].
  - apply Rmult_le_reg_r with (INR n); [lra|].
    replace (sum n (fun m => Y a m j) / INR n * INR n) with (sum n (fun m => Y a m j))
      by (field; lra).
    lra.
Qed.

Lemma kl_inside h a j x : (a < K)%nat -> (j < d)%nat -> reads Y h -> (1 <= count h a)%nat -> kl_interval h a j x ->
  L T c h a j <= x <= U T c h a j.
Proof.
  intros Ha Hj Hr Hn Hx. unfold L, U.
  assert (Hb : 0 <= beta T c h a) by (unfold beta, radius; apply sqrt_pos).
  destruct Hx as [->|[Hx Hkl]]; [lra|].
  assert (Hm : 0 <= mean h a j <= 1)
    by (rewrite (mean_is_average Y h a j Hr); now apply average_in_unit).
  pose proof (pinsker (mean h a j) x Hm Hx) as Hp.
  assert (Hpos : 0 < INR (count h a)) by (apply lt_0_INR; lia).
  set (p := mean h a j) in *. set (n := INR (count h a)) in *.
  assert (Hsq : (p - x) ^ 2 <= c * ln (INR T) / n).
  { apply Rmult_le_reg_r with n; [lra|].
    replace (c * ln (INR T) / n * n) with (c * ln (INR T)) by (field; lra).
    assert (n * (2 * (p - x) ^ 2) <= n * kl p x) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Habs : Rabs (p - x) <= beta T c h a).
  { unfold beta, radius. fold n. rewrite <- (sqrt_Rsqr_abs (p - x)).
    apply sqrt_le_1_alt. unfold Rsqr. simpl in Hsq. lra. }
  destruct (Rcase_abs (p - x)) as [Hneg|Hge].
  - rewrite Rabs_left in Habs by easy. lra.
  - rewrite Rabs_right in Habs by easy. lra.
Qed.

(** The ends of the intervals exist, so the test is never empty. *)
Lemma kl_ends h a j : (a < K)%nat -> (j < d)%nat -> reads Y h -> (1 <= count h a)%nat ->
  exists lower upper, is_infimum (kl_interval h a j) lower /\
    is_supremum (kl_interval h a j) upper /\ L T c h a j <= lower <= mean h a j /\
    mean h a j <= upper <= U T c h a j.
Proof.
  intros Ha Hj Hr Hn. assert (Hself : kl_interval h a j (mean h a j)) by now left.
  assert (Hin := fun x => kl_inside h a j x Ha Hj Hr Hn).
  destruct (completeness (kl_interval h a j)) as (upper & Hup & Hlub).
  { exists (U T c h a j). intros x Hx. now apply Hin. }
  { now exists (mean h a j). }
  destruct (completeness (fun x => kl_interval h a j (- x))) as (minus & Hlow & Hglb).
  { exists (- L T c h a j). intros x Hx. specialize (Hin (- x) Hx). lra. }
  { exists (- mean h a j). now rewrite Ropp_involutive. }
  assert (Hinf : forall e, kl_interval h a j e -> - minus <= e).
  { intros e He. assert (- e <= minus) by (apply Hlow; now rewrite Ropp_involutive). lra. }
  exists (- minus), upper. repeat split.
  - exact Hinf.
  - intros y Hy. assert (minus <= - y); [|lra].
    apply Hglb. intros x Hx. specialize (Hy _ Hx). lra.
  - intros e He. now apply Hup.
  - intros y Hy. apply Hlub. intros x Hx. now apply Hy.
  - assert (minus <= - L T c h a j); [|lra].
    apply Hglb. intros x Hx. specialize (Hin (- x) Hx). lra.
  - now apply Hinf.
  - now apply Hup.
  - apply Hlub. intros x Hx. now apply Hin.
Qed.

(** ** No later *)

(** A Hoeffding certificate is a kl certificate. *)
Theorem certificate_is_kl_certificate h b e j :
  (j < d)%nat -> reads Y h -> (forall a, (a < K)%nat -> (1 <= count h a)%nat) ->
  leader K T c h j (b j) -> challenger K T c h j (b j) (e j) -> certifies T c h b e j ->
  kl_certifies h j (b j).
Proof.
  intros Hj Hr Hn [Hb _] (_ & _ & Hmax) Hcert a Ha Hne lower upper Hlow Hup.
  assert (L T c h (b j) j <= lower).
  { apply Hlow. intros x Hx. now apply (kl_inside h (b j) j x Hb Hj Hr (Hn _ Hb)). }
  assert (upper <= U T c h a j).
  { apply Hup. intros x Hx. now apply (kl_inside h a j x Ha Hj Hr (Hn _ Ha)). }
  specialize (Hmax a Ha Hne). unfold certifies in Hcert. lra.
Qed.

Lemma kl_run_none h s : kl_run h s -> s = None -> run K d T c Y h None.
Proof.
  induction 1 as [|h Hr IH Hl|h s a s' Hr IH Hl Hdec]; intros Es.
  - constructor.
  - apply warm; auto.
  - subst s'. inversion Hdec as [| |b e j a' Hraces Hnot Hs]; subst.
    assert (Hrun : run K d T c Y h None) by auto.
    apply next with (s := None); auto. apply explore with b e j; auto.
    intros i Hi Hcert. destruct (Hraces i Hi) as [Hb He].
    apply (Hnot i (b i) Hi (proj1 Hb)).
    apply certificate_is_kl_certificate with e; auto.
    + now apply (run_reads K d T c Y h None).
    + intros k Hk. now apply (count_pos K d T c Y h None).
Qed.

(** As long as there is no kl certificate, the history is one of Algorithm 1 without a
    certificate, on the same rewards and with the same choices: kl certificates stop no
    later. *)
Theorem kl_no_later h : kl_run h None -> run K d T c Y h None.
Proof. intros H. now apply kl_run_none with None. Qed.

Lemma kl_run_splits h s : kl_run h s ->
  match s with
  | None => True
  | Some a => exists h0 later,
      h = later ++ h0 /\ kl_run h0 None /\ (K <= length h0)%nat /\ later <> [] /\
      kl_decision h0 None a (Some a) /\ forall p, In p later -> fst p = a
  end.
Proof.
  induction 1 as [|h Hr IH Hl|h s a s' Hr IH Hl Hdec]; auto.
  destruct s' as [b|]; auto. inversion Hdec; subst.
  - destruct IH as (h0 & later & -> & H0 & Hl0 & Hne & Hd0 & Hall).
    exists h0, ((b, Y b (count (later ++ h0) b)) :: later).
    repeat split; auto; [discriminate|]. intros p [<-|Hp]; auto.
  - exists h, [(b, Y b (count h b))]. repeat split; auto; [discriminate|].
    intros p [<-|[]]. reflexivity.
Qed.

Lemma kl_stored_late h a : kl_run h (Some a) -> (K < length h)%nat.
Proof.
  intros Hr. destruct (kl_run_splits h (Some a) Hr) as (h0 & later & -> & _ & Hl & Hne & _).
  rewrite app_length. destruct later; [easy|]. simpl. lia.
Qed.

(** On every table there is a run of every length. *)
Theorem kl_run_exists n : exists h s, kl_run h s /\ length h = n.
Proof.
  induction n as [|n (h & s & Hr & Hl)].
  - exists [], None. split; [constructor|reflexivity].
  - destruct (le_lt_dec K n) as [Hn|Hn].
    + assert (Hdec : exists a s', kl_decision h s a s').
      { destruct s as [a|]; [exists a, (Some a); constructor|].
        destruct (classic (exists i k, (i < d)%nat /\ (k < K)%nat /\ kl_certifies h i k))
          as [(i & k & Hi & Hk & Hcert)|Hnone].
        - exists k, (Some k). now apply kl_certify with i.
        - destruct (races_exist K d T c h ltac:(lia)) as (b & e & Hraces).
          destruct (maxb_attained d (width T c h b e)) as (j & Hj & E); [lia|].
          assert (Hw : forall i, (i < d)%nat -> width T c h b e i <= width T c h b e j)
            by (intros; rewrite <- E; now apply maxb_ge).
          assert (Hno : forall i k, (i < d)%nat -> (k < K)%nat -> ~ kl_certifies h i k)
            by (intros i k Hi Hk Hcert; apply Hnone; now exists i, k).
          destruct (Rle_dec (beta T c h (b j)) (beta T c h (e j))).
          + exists (e j), None. apply kl_explore with b e j; auto. repeat split; auto. lra.
          + exists (b j), None. apply kl_explore with b e j; auto. repeat split; auto; lra. }
      destruct Hdec as (a & s' & Hdec). exists (pull Y h a), s'.
      split; [apply kl_next with s; auto; lia|simpl; lia].
    + assert (s = None) as ->.
      { destruct s as [a|]; [|reflexivity]. exfalso.
        pose proof (kl_stored_late h a Hr). lia. }
      exists (pull Y h (length h)), None. split; [apply kl_warm; auto; lia|simpl; lia].
Qed.

(** ** As true *)

(** The kl event: at every decision after the warm start, every mean is in its kl
    interval. *)
Definition kl_event (h : history) : Prop :=
  forall later before, h = later ++ before -> later <> [] -> (K <= length before)%nat ->
    forall a j, (a < K)%nat -> (j < d)%nat -> kl_interval before a j (mu a j).

Theorem kl_lemma_9 h b j :
  (j < d)%nat -> reads Y h -> (forall a, (a < K)%nat -> (1 <= count h a)%nat) ->
  (forall a, (a < K)%nat -> kl_interval h a j (mu a j)) ->
  (b < K)%nat -> kl_certifies h j b -> unique_maximiser K mu b j.
Proof.
  intros Hj Hr Hn Hin Hb Hcert a Ha Hne.
  destruct (kl_ends h b j Hb Hj Hr (Hn b Hb)) as (lower & _ & Hlow & _).
  destruct (kl_ends h a j Ha Hj Hr (Hn a Ha)) as (_ & upper & _ & Hup & _).
  specialize (Hcert a Ha Hne lower upper Hlow Hup).
  pose proof (proj1 Hlow _ (Hin b Hb)). pose proof (proj1 Hup _ (Hin a Ha)). lra.
Qed.

Theorem kl_stored_optimal h a : kl_run h (Some a) -> kl_event h ->
  pareto_optimal K d mu a /\ gap K d mu a = 0.
Proof.
  intros Hr Hev.
  destruct (kl_run_splits h (Some a) Hr) as (h0 & later & E & H0 & Hl & Hne & Hdec & _).
  apply kl_no_later in H0. inversion Hdec as [|b j Hj Ha Hcert|]; subst.
  assert (Hopt : pareto_optimal K d mu a).
  { apply unique_maximiser_optimal with j; [easy|]. apply kl_lemma_9 with h0; auto.
    - now apply (run_reads K d T c Y h0 None).
    - intros k Hk. now apply (count_pos K d T c Y h0 None).
    - intros k Hk. now apply (Hev later h0). }
  split; [easy|]. apply optimal_gap_zero; auto; lia.
Qed.

(** ** As cheap *)

Lemma kl_event_event h0 : run K d T c Y h0 None -> kl_event h0 -> event K d T c mu h0.
Proof.
  intros Hr Hev later before E Hne Hl a j Ha Hj.
  destruct (run_before K d T c Y h0 None Hr later before E) as (s & Hb).
  pose proof (kl_inside before a j (mu a j) Ha Hj (run_reads K d T c Y before s Hb)
    (count_pos K d T c Y before s a Hb Hl Ha) (Hev later before E Hne Hl a j Ha Hj)) as H.
  unfold L, U in H. apply Rabs_le. lra.
Qed.

Theorem kl_sharper_bound h s : kl_run h s -> kl_event h ->
  regret K d mu h <= INR K * gap_max K d mu
    + 16 * c * ln (INR T)
      * sum K (fun a => gap K d mu a / Rmax (gap K d mu a) (g_dagger K d mu) ^ 2).
Proof.
  intros Hr Hev. destruct s as [a|].
  - destruct (kl_stored_optimal h a Hr Hev) as [_ Hzero].
    destruct (kl_run_splits h (Some a) Hr) as (h0 & later & -> & H0 & _ & _ & _ & Hall).
    apply kl_no_later in H0. rewrite regret_app.
    assert (El : regret K d mu later = 0).
    { clear - Hall Hzero. unfold regret. induction later as [|p later IH]; simpl; [reflexivity|].
      rewrite (Hall p) by now left. rewrite Hzero, IH; [lra|]. intros q Hq. apply Hall. now right. }
    rewrite El, Rplus_0_l. apply (sharper_bound K d T c mu Y HK Hd HT Hc h0 None H0).
    apply kl_event_event; auto. intros l b E Hne Hl. apply (Hev (later ++ l) b); auto.
    + rewrite E. apply app_assoc.
    + intros En. apply app_eq_nil in En. tauto.
  - apply (sharper_bound K d T c mu Y HK Hd HT Hc h None); [now apply kl_no_later|].
    apply kl_event_event; [now apply kl_no_later|easy].
Qed.

End KlCertificates.
