(** The kl certificates with their probabilities: Proposition 8, Corollary 6 and the sharper bound
    for kl intervals, with nothing assumed about the tail. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Lemmas
  Momab.Theorem Momab.Kl Momab.KlCertificates Momab.Probability Momab.Hoeffding
  Momab.Expectation Momab.Chernoff.
Import ListNotations.
Open Scope R_scope.

(** Is the mean outside the kl interval of level [y] around the average of [n] rewards? *)
Definition kl_misses (mu : nat -> vector) (Y : table) (a j n : nat) (y : R) : bool :=
  if Req_EM_T (average Y a n j) (mu a j) then false
  else if Rlt_dec 0 (mu a j) then if Rlt_dec (mu a j) 1
       then if Rlt_dec y (INR n * kl (average Y a n j) (mu a j)) then true else false
       else true else true.

(** Some kl interval fails: for some arm, objective and count up to [T]. *)
Definition kl_bad (K d T : nat) (c : R) (mu : nat -> vector) (Y : table) : bool :=
  some K (fun a => some d (fun j => some T (fun m => kl_misses mu Y a j (S m) (2 * c * ln (INR T))))).

(** ** The tail of one average *)

Section OneAverage.

Context {X : Type} (x0 : X) (D : law X) (T n : nat).
Hypotheses (HD : is_law D) (Hn : (1 <= n <= T)%nat).

Local Notation draws := (product x0 T (fun _ => D)).

(** With a mean of 1 the average is 1, with probability one. *)
Lemma never_off (f : X -> R) : (forall q, In q D -> 0 <= f (snd q) <= 1) -> E D f = 1 ->
  Pr draws (fun x => if Req_EM_T (sum n (fun i => f (x i)) / INR n) 1 then false else true) <= 0.
Proof.
  intros Hf Hm. apply (Pr_by_values draws _ (fun x => - (sum n (fun i => f (x i)) / INR n)));
    [now apply product_is_law|lra|].
  intros p Hp HA. pose proof (average_of_draws x0 D T n Hn f Hf p Hp).
  destruct (Req_EM_T _ 1) as [|Hne]; [discriminate|].
  eapply Rle_trans; [|apply (never_below x0 D T n HD Hn f Hf
    (sum n (fun i => f (snd p i)) / INR n) Hm); lra].
  apply Pr_le; [now apply product_is_law|]. intros q _.
  destruct (Rle_dec (- _) (- _)); [|discriminate]. intros _.
  destruct (Rle_dec _ _); [reflexivity|lra].
Qed.

Lemma kl_tail (f : X -> R) y : (forall q, In q D -> 0 <= f (snd q) <= 1) -> 0 <= y ->
  Pr draws (fun x => if Req_EM_T (sum n (fun i => f (x i)) / INR n) (E D f) then false
    else if Rlt_dec 0 (E D f) then if Rlt_dec (E D f) 1
         then if Rlt_dec y (INR n * kl (sum n (fun i => f (x i)) / INR n) (E D f)) then true else false
         else true else true)
  <= 2 * exp (- y).
Proof.
  intros Hf Hy. pose proof (exp_pos (- y)) as Hexp.
  assert (Hlaw : is_law draws) by (now apply product_is_law).
  assert (Hm : 0 <= E D f <= 1).
  { split; [apply E_nonneg; [easy|]; intros; now apply Hf|].
    rewrite <- (E_const D 1 HD). apply E_le; [easy|]. intros; now apply Hf. }
  destruct (Rlt_dec 0 (E D f)) as [H0|H0]; [destruct (Rlt_dec (E D f) 1) as [H1|H1]|].
  - eapply Rle_trans; [|apply (chernoff_kl x0 D T n HD Hn f Hf y); lra].
    apply Pr_le; [easy|]. intros q _. destruct (Req_EM_T _ _); [discriminate|easy].
  - assert (E1 : E D f = 1) by lra. rewrite E1.
    eapply Rle_trans; [apply (never_off f Hf E1)|lra].
  - assert (E0 : E D f = 0) by lra. rewrite E0.
    eapply Rle_trans; [|eapply Rle_trans; [apply (never_off (fun y => 1 - f y))|]].
    + apply Pr_le; [easy|]. intros q _. rewrite (opposite_mean T n Hn f).
      destruct (Req_EM_T _ 0); [discriminate|]. intros _. destruct (Req_EM_T _ 1); [lra|reflexivity].
    + intros q Hq. specialize (Hf q Hq). lra.
    + rewrite (opposite_expected D HD f). lra.
    + lra.
Qed.

End OneAverage.

(** ** For the tables of an instance *)

Section FiniteRewards.

Variables (K d T : nat) (nu : nat -> law vector).

Local Notation mu := (means nu).
Local Notation gap := (gap K d mu).
Local Notation g := (g_dagger K d mu).

(** A play of Algorithm 1 with kl certificates: as [play], and all rewards of its tables are in
    [0, 1]. *)
Definition kl_play (D : law (table * history)) : Prop :=
  is_law D /\ (forall f, E D (fun x => f (fst x)) = E (tables K T nu) f) /\
  (forall p a n j, In p D -> (a < K)%nat -> (j < d)%nat -> 0 <= fst (snd p) a n j <= 1) /\
  (forall p, In p D ->
     exists s, kl_run K d T 2 (fst (snd p)) (snd (snd p)) s /\ length (snd (snd p)) = T).

Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat) (HT : (K <= T)%nat)
  (Hnu : bounded_rewards K d nu).

(** Chernoff's bound with kl for the tables, also for means at 0 and 1. *)
Theorem kl_tables_tail a j n y :
  (a < K)%nat -> (j < d)%nat -> (1 <= n <= T)%nat -> 0 <= y ->
  Pr (tables K T nu) (fun Y => kl_misses mu Y a j n y) <= 2 * exp (- y).
Proof.
  intros Ha Hj Hn Hy. destruct (Hnu a Ha) as [Hlaw Hsup].
  unfold Pr, tables, kl_misses, average. eapply Rle_trans.
  - right. apply (E_coordinate (fun _ : nat => nothing) K
      (fun a => product nothing T (fun _ => nu a)) a
      (fun x => if (if Req_EM_T (sum n (fun m => x m j) / INR n) (mu a j) then false
        else if Rlt_dec 0 (mu a j) then if Rlt_dec (mu a j) 1
             then if Rlt_dec y (INR n * kl (sum n (fun m => x m j) / INR n) (mu a j))
                  then true else false
             else true else true) then 1 else 0)); [|easy].
    intros i Hi. apply product_is_law. intros _ _. now apply Hnu.
  - apply (kl_tail nothing (nu a) T n Hlaw Hn (fun x => x j) y); [|easy].
    intros q Hq. now apply Hsup.
Qed.

(** Proposition 8 for kl intervals. *)
Theorem kl_proposition_8 :
  Pr (tables K T nu) (fun Y => kl_bad K d T 2 mu Y) <= 2 * INR K * INR d / INR T ^ 3.
Proof.
  assert (HD : is_law (tables K T nu)) by (now apply (tables_is_law K d)).
  pose proof (ln_INR_nonneg T ltac:(lia)) as Hlog. assert (HTpos : 0 < INR T) by (apply lt_0_INR; lia).
  set (y := 2 * 2 * ln (INR T)). set (r := 2 * exp (- y)).
  assert (Er : INR T * r = 2 * / INR T ^ 3).
  { rewrite <- (T_power K d T HK Hd HT). unfold r, y, Rpower.
    replace (- (2 * 2 * ln (INR T))) with (- 2 * 2 * ln (INR T)) by ring. ring. }
  replace (2 * INR K * INR d / INR T ^ 3) with (INR K * (INR d * (INR T * r)))
    by (rewrite Er; unfold Rdiv; ring).
  unfold kl_bad. fold y. rewrite <- sum_const.
  eapply Rle_trans; [apply (union_bound _ K (fun a Y => some d (fun j => some T (fun m =>
    kl_misses mu Y a j (S m) y))) HD)|].
  apply sum_le. intros a Ha. rewrite <- sum_const.
  eapply Rle_trans; [apply (union_bound _ d (fun j Y => some T (fun m => kl_misses mu Y a j (S m) y)) HD)|].
  apply sum_le. intros j Hj. rewrite <- sum_const.
  eapply Rle_trans; [apply (union_bound _ T (fun m Y => kl_misses mu Y a j (S m) y) HD)|].
  apply sum_le. intros m Hm. apply kl_tables_tail; auto; [lia|unfold y; lra].
Qed.

(** *** The policy *)

(** Where no kl interval fails, the kl event holds along every run. *)
Theorem kl_not_bad_event Y h s : kl_bad K d T 2 mu Y = false -> kl_run K d T 2 Y h s ->
  (length h <= T)%nat -> kl_event K d T 2 mu h.
Proof.
  intros Hgood Hr Hlen later before Eh Hne Hl a j Ha Hj.
  destruct (kl_run_before K d T 2 Y h s Hr later before Eh) as (s' & Hb).
  pose proof (kl_count_pos K d T 2 Y before s' a Hb Hl Ha) as H1.
  pose proof (count_le_length before a) as H2.
  assert (length before < length h)%nat.
  { rewrite Eh, app_length. destruct later; [easy|simpl; lia]. }
  unfold kl_bad in Hgood. apply some_false with (i := a) in Hgood; [|easy].
  apply some_false with (i := j) in Hgood; [|easy].
  apply some_false with (i := (count before a - 1)%nat) in Hgood; [|lia].
  replace (S (count before a - 1)) with (count before a) in Hgood by lia.
  unfold kl_interval. rewrite (mean_is_average Y) by (now apply (kl_run_reads K d T 2 Y before s')).
  unfold kl_misses in Hgood.
  destruct (Req_EM_T _ _) as [Eq|_]; [now left|right].
  destruct (Rlt_dec 0 _); [|discriminate]. destruct (Rlt_dec (mu a j) 1); [|discriminate].
  destruct (Rlt_dec _ _); [discriminate|]. lra.
Qed.

Lemma kl_play_bad D : kl_play D ->
  Pr D (fun x => kl_bad K d T 2 mu (fst x)) <= 2 * INR K * INR d / INR T ^ 3.
Proof.
  intros (_ & Hmarg & _). unfold Pr.
  rewrite (Hmarg (fun Y => if kl_bad K d T 2 mu Y then 1 else 0)). apply kl_proposition_8.
Qed.

(** Corollary 6 for kl certificates. *)
Theorem kl_corollary_6 D (wrong : table * history -> bool) : kl_play D ->
  (forall p, In p D -> wrong (snd p) = true ->
     exists a, kl_run K d T 2 (fst (snd p)) (snd (snd p)) (Some a) /\ ~ pareto_optimal K d mu a) ->
  Pr D wrong <= 2 * INR K * INR d / INR T ^ 3.
Proof.
  intros HD Hwrong. eapply Rle_trans; [|apply (kl_play_bad D HD)].
  destruct HD as (Hlaw & _ & Hin & Hplay). apply Pr_le; [easy|]. intros p Hp Hw.
  destruct (Hwrong p Hp Hw) as (a & Hr & Hnot). destruct (Hplay p Hp) as (_ & _ & Hlen).
  destruct (kl_bad K d T 2 mu (fst (snd p))) eqn:Eb; [reflexivity|]. exfalso. apply Hnot.
  apply (kl_stored_optimal K d T 2 mu (fst (snd p)) HK Hd HT
    (fun a n j => Hin p a n j Hp) (snd (snd p)) a Hr).
  apply (kl_not_bad_event _ _ _ Eb Hr). lia.
Qed.

Lemma kl_run_below Y h s : kl_run K d T 2 Y h s ->
  arms_below K h /\ (forall a, s = Some a -> (a < K)%nat).
Proof.
  induction 1 as [|h Hr [IH _] Hl|h s a s' Hr [IH IHs] Hl Hdec].
  - split; [intros p []|discriminate].
  - split; [|discriminate]. intros p [<-|Hp]; [exact Hl|now apply IH].
  - assert (Ha : (a < K)%nat).
    { inversion Hdec as [| |b e j a' Hraces _ Hs]; subst; [now apply IHs|easy|].
      destruct Hs as (Hj & _ & Ha & _). destruct (Hraces j Hj) as [[Hb _] [He _]].
      destruct Ha as [->| ->]; easy. }
    split; [intros p [<-|Hp]; [exact Ha|now apply IH]|].
    intros b Hb. inversion Hdec; subst; congruence.
Qed.

(** The sharper bound in expectation for kl certificates. *)
Theorem kl_expected_sharper D : kl_play D ->
  E D (fun x => regret K d mu (snd x)) <= INR K * gap_max K d mu
    + 32 * ln (INR T) * sum K (fun a => gap a / Rmax (gap a) g ^ 2)
    + 2 * INR K * INR d * gap_max K d mu / INR T ^ 2.
Proof.
  intros HD. pose proof (kl_play_bad D HD) as Hbad. destruct HD as (Hlaw & _ & Hin & Hplay).
  assert (HTpos : 0 < INR T) by (apply lt_0_INR; lia).
  set (G := gap_max K d mu). assert (HG : 0 <= G) by (apply gap_max_nonneg; lia).
  set (B := INR K * G + 32 * ln (INR T) * sum K (fun a => gap a / Rmax (gap a) g ^ 2)).
  assert (HB : 0 <= B).
  { unfold B. replace 32 with (16 * 2) by lra.
    apply (middle_nonneg K d T 2 mu HK Hd HT ltac:(lra) (fun a => Rmax (gap a) g)).
    intros. apply Rmax_l. }
  apply Rle_trans with (E D (fun x => B + (INR T * G) * (if kl_bad K d T 2 mu (fst x) then 1 else 0))).
  - apply E_le; [easy|]. intros p Hp. destruct (Hplay p Hp) as (s & Hr & Hlen).
    assert (Hall : regret K d mu (snd (snd p)) <= INR T * G).
    { rewrite <- Hlen. apply regret_le_all; [lia|]. now apply (kl_run_below _ _ s Hr). }
    destruct (kl_bad K d T 2 mu (fst (snd p))) eqn:Eb; [lra|].
    assert (Hev : kl_event K d T 2 mu (snd (snd p))) by (apply (kl_not_bad_event _ _ _ Eb Hr); lia).
    pose proof (kl_sharper_bound K d T 2 mu (fst (snd p)) HK Hd HT ltac:(lra)
      (fun a n j => Hin p a n j Hp) _ s Hr Hev) as Hs.
    replace (16 * 2) with 32 in Hs by lra. fold G in Hs. unfold B. lra.
  - rewrite (E_plus D (fun _ => B)), E_const by easy.
    rewrite (E_scale D (INR T * G) (fun x => if kl_bad K d T 2 mu (fst x) then 1 else 0)).
    apply Rplus_le_compat_l. unfold Pr in Hbad.
    apply Rle_trans with (INR T * G * (2 * INR K * INR d / INR T ^ 3)).
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy].
    + right. field. lra.
Qed.

(** There is a play: the hypotheses can be met. *)
Lemma product_beyond {X} (x0 : X) n D p : In p (product x0 n D) ->
  forall i, (n <= i)%nat -> snd p i = x0.
Proof.
  revert p. induction n as [|n IH]; intros p Hp i Hi.
  - destruct Hp as [<-|[]]. reflexivity.
  - simpl in Hp. unfold bind in Hp. apply in_flat_map in Hp. destruct Hp as (q & Hq & Hp).
    unfold scaled in Hp. apply in_map_iff in Hp. destruct Hp as (r & <- & Hr).
    unfold image in Hr. apply in_map_iff in Hr. destruct Hr as (u & <- & Hu). simpl.
    unfold update. destruct (Nat.eqb_spec i n); [lia|]. apply (IH q Hq). lia.
Qed.

Lemma tables_in_unit p a n j : In p (tables K T nu) -> (a < K)%nat -> (j < d)%nat ->
  0 <= snd p a n j <= 1.
Proof.
  intros Hp Ha Hj. revert n.
  apply (product_support (fun _ => nothing) K (fun a => product nothing T (fun _ => nu a))
    (fun a x => forall n, 0 <= x n j <= 1)) with (i := a) (p := p); auto.
  intros i q Hi Hq n. destruct (le_lt_dec T n) as [Hn|Hn].
  - rewrite (product_beyond nothing T (fun _ => nu i) q Hq n Hn). unfold nothing. lra.
  - apply (product_support nothing T (fun _ => nu i) (fun _ x => 0 <= x j <= 1)) with (p := q); auto.
    intros _ r _ Hr. now apply (proj2 (Hnu i Hi)).
Qed.

(** One history for each table makes a law of pairs. *)
Lemma with_histories (P : table -> history -> Prop) : forall L : law table,
  (forall p, In p L -> exists h, P (snd p) h) ->
  exists D : law (table * history), (forall f, E D (fun x => f (fst x)) = E L f) /\
    forall p, In p D -> In (fst p, fst (snd p)) L /\ P (fst (snd p)) (snd (snd p)).
Proof.
  induction L as [|[w y] L IH]; intros H.
  - exists []. split; [reflexivity|intros p []].
  - destruct IH as (D & H1 & H2); [intros; apply H; now right|].
    destruct (H (w, y) (or_introl eq_refl)) as (h & Hh). exists ((w, (y, h)) :: D). split.
    + intros f. simpl. now rewrite H1.
    + intros p [<-|Hp]; [split; [now left|easy]|].
      destruct (H2 p Hp) as [Hin HP]. split; [now right|easy].
Qed.

Theorem kl_play_exists : exists D, kl_play D.
Proof.
  destruct (with_histories (fun Y h => exists s, kl_run K d T 2 Y h s /\ length h = T) (tables K T nu))
    as (D & H1 & H2).
  { intros p Hp. destruct (kl_run_exists K d T 2 (snd p) HK Hd HT T) as (h & s & Hr & Hl). now exists h, s. }
  destruct (tables_is_law K d T nu Hnu) as [Hw Hone]. exists D. split; [split|].
  - intros p Hp. apply (Hw _ (proj1 (H2 p Hp))).
  - now rewrite (H1 (fun _ => 1)).
  - split; [exact H1|]. split; [|intros p Hp; apply (H2 p Hp)].
    intros p a n j Hp Ha Hj. now apply (tables_in_unit _ a n j (proj1 (H2 p Hp))).
Qed.

End FiniteRewards.
