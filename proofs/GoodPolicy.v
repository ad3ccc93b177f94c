(** A uniformly good policy exists: Algorithm 1 with [c = 2], played with the horizon it is given.

    So the lower bounds of [PriceTheorem.v] and [LaiRobbins.v] speak of something. Ties go to the
    first arm; the expected regret is that of [Expectation.v], from the same pathwise bound. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite Momab.Pareto Momab.Model Momab.Algorithm Momab.Lemmas Momab.Theorem
  Momab.Probability Momab.Hoeffding Momab.Expectation Momab.Policies Momab.Change
  Momab.PriceTheorem Momab.LaiRobbins.
Import ListNotations.
Open Scope R_scope.

(** ** Algorithm 1 as a function of the history *)

(** The first of the largest among [f 0, ..., f (n-1)]. *)
Fixpoint argmax (n : nat) (f : nat -> R) : nat :=
  match n with
  | O => O
  | S m => if Rlt_dec (f (argmax m f)) (f m) then m else argmax m f
  end.

Lemma argmax_largest n f : (0 < n)%nat ->
  (argmax n f < n)%nat /\ forall i, (i < n)%nat -> f i <= f (argmax n f).
Proof.
  induction n as [|n IH]; intros Hn; [lia|]. simpl.
  destruct (Nat.eq_dec n 0) as [->|Hne].
  - simpl. destruct (Rlt_dec (f O) (f O)); [lra|]. split; [lia|]. intros i Hi.
    replace i with O by lia. lra.
  - destruct (IH ltac:(lia)) as [H1 H2]. destruct (Rlt_dec (f (argmax n f)) (f n)) as [Hlt|Hge].
    + split; [lia|]. intros i Hi. destruct (Nat.eq_dec i n) as [->|]; [lra|].
      specialize (H2 i ltac:(lia)). lra.
    + split; [lia|]. intros i Hi. destruct (Nat.eq_dec i n) as [->|]; [lra|]. apply H2. lia.
Qed.

Section Policy.

Variables (K d : nat).
Hypotheses (HK : (2 <= K)%nat) (Hd : (1 <= d)%nat).

Section Rule.

Variable T : nat.

(** The [i]-th arm other than [b]. *)
Definition other (b i : nat) : nat := if (i <? b)%nat then i else S i.

Definition first_leader (h : history) (j : nat) : nat := argmax K (fun a => U T 2 h a j).
Definition first_challenger (h : history) (j : nat) : nat :=
  other (first_leader h j) (argmax (K - 1) (fun i => U T 2 h (other (first_leader h j) i) j)).

(** The first objective with a certificate, if any. *)
Definition certified (h : history) : option nat :=
  find (fun j => if Rgt_dec (L T 2 h (first_leader h j) j) (U T 2 h (first_challenger h j) j)
                 then true else false) (seq 0 d).

(** The end with the larger radius of the first widest race. *)
Definition explored (h : history) : nat :=
  let j := argmax d (width T 2 h (first_leader h) (first_challenger h)) in
  if Rle_dec (beta T 2 h (first_leader h j)) (beta T 2 h (first_challenger h j))
  then first_challenger h j else first_leader h j.

(** The next arm, and what is stored afterwards. *)
Definition decide (h : history) (s : option nat) : nat * option nat :=
  if (length h <? K)%nat then (length h, None)
  else match s with
       | Some a => (a, Some a)
       | None => match certified h with
                 | Some j => (first_leader h j, Some (first_leader h j))
                 | None => (explored h, None)
                 end
       end.

Fixpoint stored (h : history) : option nat :=
  match h with [] => None | _ :: h => snd (decide h (stored h)) end.

Lemma first_races h : races K d T 2 h (first_leader h) (first_challenger h).
Proof.
  intros j _. destruct (argmax_largest K (fun a => U T 2 h a j)) as [H1 H2]; [lia|].
  fold (first_leader h j) in *. split; [now split|].
  set (b := first_leader h j) in *.
  destruct (argmax_largest (K - 1) (fun i => U T 2 h (other b i) j)) as [H3 H4]; [lia|].
  assert (Ef : first_challenger h j = other b (argmax (K - 1) (fun i => U T 2 h (other b i) j)))
    by reflexivity.
  set (i := argmax (K - 1) _) in *. rewrite Ef. repeat split.
  - unfold other. destruct (Nat.ltb_spec i b); lia.
  - unfold other. destruct (Nat.ltb_spec i b); lia.
  - intros a Ha Hne. set (k := if (a <? b)%nat then a else (a - 1)%nat).
    assert (Ek : other b k = a)
      by (unfold other, k; destruct (Nat.ltb_spec a b); [|destruct (Nat.ltb_spec (a - 1) b)];
          try (destruct (Nat.ltb_spec a b)); lia).
    rewrite <- Ek. apply (H4 k). unfold k. destruct (Nat.ltb_spec a b); lia.
Qed.

Lemma decide_is_decision h s : (K <= length h)%nat ->
  decision K d T 2 h s (fst (decide h s)) (snd (decide h s)).
Proof.
  intros Hl. unfold decide. destruct (Nat.ltb_spec (length h) K); [lia|].
  destruct s as [a|]; [constructor|]. unfold certified.
  destruct (find _ (seq 0 d)) as [j|] eqn:Ef.
  - apply find_some in Ef. destruct Ef as [Hj Hc]. apply in_seq in Hj.
    destruct (Rgt_dec _ _) as [Hgt|]; [|discriminate].
    apply certify with (e := first_challenger h); [apply first_races|lia|exact Hgt].
  - pose proof (fun j => find_none _ _ Ef j) as Hn. cbn [fst snd].
    destruct (argmax_largest d (width T 2 h (first_leader h) (first_challenger h))) as [Hj Hw]; [lia|].
    unfold explored. set (j := argmax d _) in *.
    apply explore with (b := first_leader h) (e := first_challenger h) (j := j).
    + apply first_races.
    + intros i Hi Hc. specialize (Hn i ltac:(apply in_seq; lia)). simpl in Hn.
      unfold certifies in Hc. destruct (Rgt_dec _ _); [discriminate|easy].
    + destruct (Rle_dec _ _); repeat split; auto; lra.
Qed.

(** A history in which every pull is the one of the rule. *)
Inductive follows : history -> Prop :=
  | follows_nothing : follows []
  | follows_next h x : follows h -> follows ((fst (decide h (stored h)), x) :: h).

Lemma follows_run Y h : follows h -> reads Y h -> run K d T 2 Y h (stored h).
Proof.
  induction 1 as [|h x Hf IH]; intros Hr; [constructor|].
  inversion Hr as [|h' a Hr' E]. subst. specialize (IH Hr').
  change (stored (_ :: h)) with (snd (decide h (stored h))).
  destruct (Nat.ltb_spec (length h) K) as [Hlt|Hge].
  - assert (stored h = None) as Es by (apply (warm_counts K d T 2 Y h (stored h) IH); lia).
    assert (decide h (stored h) = (length h, None)) as ->
      by (unfold decide; destruct (Nat.ltb_spec (length h) K); [reflexivity|lia]).
    rewrite Es in IH. now apply warm.
  - apply next with (stored h); auto. now apply decide_is_decision.
Qed.

End Rule.

Definition algorithm_1 : policy := fun T h => [(1, fst (decide T h (stored T h)))].

Lemma outcomes_follow nu T t p : In p (histories nu (algorithm_1 T) t) -> follows T (snd p).
Proof.
  revert p. induction t as [|t IH]; intros p Hp.
  - destruct Hp as [<-|[]]. constructor.
  - destruct (histories_step _ _ t p Hp) as (q & r & u & Hq & Hr & _ & ->).
    destruct Hr as [<-|[]]. simpl. constructor. now apply IH.
Qed.

(** ** The table behind a history *)

(** Entry [n] of arm [a] is what its pull number [n + 1] has paid; where there was none, the mean. *)
Fixpoint seen (mu : nat -> vector) (h : history) (a n : nat) : vector :=
  match h with
  | [] => mu a
  | (b, x) :: h => if (b =? a)%nat && (n =? count h a)%nat then x else seen mu h a n
  end.

Lemma seen_beyond mu h a n : (count h a <= n)%nat -> seen mu h a n = mu a.
Proof.
  induction h as [|[b x] h IH]; intros Hn; [reflexivity|]. simpl in *.
  destruct (Nat.eqb_spec b a) as [->|]; cbn [andb]; [|now apply IH].
  destruct (Nat.eqb_spec n (count h a)); [lia|]. apply IH. lia.
Qed.

Lemma reads_ext Y Y' h : reads Y h -> (forall a n, (n < count h a)%nat -> Y' a n = Y a n) ->
  reads Y' h.
Proof.
  induction 1 as [|h a Hr IH]; intros Hsame; [constructor|].
  unfold pull in *. assert (E : Y a (count h a) = Y' a (count h a)).
  { symmetry. apply Hsame. simpl. rewrite Nat.eqb_refl. lia. }
  rewrite E. apply (reads_next Y' h a). apply IH. intros b n Hn. apply Hsame. simpl.
  destruct (a =? b)%nat; lia.
Qed.

Lemma seen_reads mu h : reads (seen mu h) h.
Proof.
  induction h as [|[b x] h IH]; [constructor|].
  assert (E : x = seen mu ((b, x) :: h) b (count h b)) by (simpl; now rewrite !Nat.eqb_refl).
  rewrite E at 2. apply (reads_next (seen mu ((b, x) :: h)) h b).
  apply (reads_ext (seen mu h)); [exact IH|]. intros a n Hn. simpl.
  destruct (Nat.eqb_spec n (count h a)); [lia|]. now rewrite andb_false_r.
Qed.

(** ** The tail of the averages, for every policy *)

Section Tail.

Variables (nu : nat -> law vector) (choose : history -> law nat) (a n : nat).
Hypotheses (Hchoose : forall h, is_law (choose h) /\ forall q, In q (choose h) -> (snd q < K)%nat)
  (Hnu : forall i, (i < K)%nat -> is_law (nu i)) (Ha : (a < K)%nat).

(** What the first [n] pulls of [a] have paid beyond its expectation. *)
Fixpoint drift (f : vector -> R) (h : history) : R :=
  match h with
  | [] => 0
  | (b, x) :: h => if (b =? a)%nat && (count h a <? n)%nat then drift f h + (f x - E (nu a) f)
                   else drift f h
  end.

Section OneSide.

Variable f : vector -> R.
Hypothesis Hf : forall q, In q (nu a) -> 0 <= f (snd q) <= 1.

Lemma drift_moment s t : 0 <= s ->
  E (histories nu choose t)
    (fun h => exp (s * drift f h - s * s / 8 * INR (Nat.min (count h a) n))) <= 1.
Proof.
  intros Hs. induction t as [|t IH]; [simpl; rewrite Rmult_0_r, Rmult_0_r, Rminus_0_r, exp_0; lra|].
  rewrite E_step. eapply Rle_trans; [|exact IH]. apply E_le.
  { now apply (histories_is_law nu choose K). }
  intros p _. set (h := snd p). destruct (Hchoose h) as [Hlaw Hbelow].
  set (old := exp (s * drift f h - s * s / 8 * INR (Nat.min (count h a) n))).
  rewrite <- (E_const (choose h) old Hlaw). apply E_le; [easy|]. intros q Hq. set (b := snd q).
  pose proof (Hnu b (Hbelow q Hq)) as Hb. cbn [drift count].
  destruct (Nat.eqb_spec b a) as [Eb|]; cbn [andb]; [|now rewrite E_const; [right|]].
  destruct (Nat.ltb_spec (count h a) n) as [Hlt|Hge].
  - replace (Nat.min (S (count h a)) n) with (S (Nat.min (count h a) n)) by lia. rewrite S_INR, Eb in *.
    rewrite (E_ext _ _ (fun x => old * exp (- (s * s / 8)) * exp (s * (f x - E (nu a) f)))).
    2:{ intros r _. unfold old. rewrite <- !exp_plus. f_equal. ring. }
    rewrite E_scale. pose proof (hoeffding_lemma (nu a) f s Hb Hs Hf) as Hm.
    assert (Hpos : 0 < old * exp (- (s * s / 8))) by (apply Rmult_lt_0_compat; apply exp_pos).
    apply Rle_trans with (old * exp (- (s * s / 8)) * exp (s * s / 8)); [apply Rmult_le_compat_l; lra|].
    right. rewrite Rmult_assoc, <- exp_plus. replace (- (s * s / 8) + s * s / 8) with 0 by ring.
    rewrite exp_0. ring.
  - replace (Nat.min (S (count h a)) n) with (Nat.min (count h a) n) by lia.
    rewrite E_const by easy. now right.
Qed.

Lemma drift_tail eps t : 0 <= eps ->
  Pr (histories nu choose t) (fun h => if Rlt_dec (INR n * eps) (drift f h) then true else false)
  <= exp (- 2 * INR n * eps ^ 2).
Proof.
  intros Heps. set (s := 4 * eps).
  assert (Hlaw : is_law (histories nu choose t)) by (now apply (histories_is_law nu choose K)).
  apply Rle_trans with (E (histories nu choose t) (fun h => exp (- 2 * INR n * eps ^ 2)
    * exp (s * drift f h - s * s / 8 * INR (Nat.min (count h a) n)))).
  - apply markov; [easy| |].
    + intros. apply Rmult_le_pos; apply Rlt_le, exp_pos.
    + intros q _. set (h := snd q). destruct (Rlt_dec _ _) as [Hlt|]; [|discriminate]. intros _.
      rewrite <- exp_plus, <- exp_0 at 1.
      assert (Hmin : INR (Nat.min (count h a) n) <= INR n) by (apply le_INR; lia).
      assert (0 <= - 2 * INR n * eps ^ 2 + (s * drift f h - s * s / 8 * INR (Nat.min (count h a) n))).
      { assert (s * (INR n * eps) <= s * drift f h) by (apply Rmult_le_compat_l; unfold s; lra).
        assert (s * s / 8 * INR (Nat.min (count h a) n) <= s * s / 8 * INR n)
          by (apply Rmult_le_compat_l; [unfold s; nra|easy]).
        replace (s * (INR n * eps)) with (4 * (INR n * eps ^ 2)) in H by (unfold s; ring).
        replace (s * s / 8 * INR n) with (2 * (INR n * eps ^ 2)) in H0 by (unfold s; field). lra. }
      destruct H as [H|H]; [apply Rlt_le, exp_increasing, H|rewrite <- H; lra].
  - rewrite E_scale. pose proof (drift_moment s t ltac:(unfold s; lra)) as Hm.
    rewrite <- Rmult_1_r. apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|exact Hm].
Qed.

End OneSide.

Lemma seen_sum mu j h : mu a j = E (nu a) (fun x => x j) ->
  sum n (fun m => seen mu h a m j) = INR n * mu a j + drift (fun x => x j) h.
Proof.
  intros Emu. induction h as [|[b x] h IH]; [simpl; rewrite sum_const; ring|].
  cbn [drift]. destruct (Nat.eqb_spec b a) as [->|Hne]; cbn [andb].
  - destruct (Nat.ltb_spec (count h a) n) as [Hlt|Hge].
    + rewrite (sum_bump n (fun m => seen mu h a m j) _ (count h a) (x j - mu a j)); [|easy| |].
      * rewrite IH, <- Emu. ring.
      * simpl. rewrite !Nat.eqb_refl. cbn [andb]. rewrite seen_beyond by lia. ring.
      * intros k _ Hk. simpl. destruct (Nat.eqb_spec k (count h a)); [easy|]. now rewrite andb_false_r.
    + rewrite <- IH. apply sum_ext. intros m Hm. simpl.
      destruct (Nat.eqb_spec m (count h a)); [lia|]. now rewrite andb_false_r.
  - rewrite <- IH. apply sum_ext. intros m Hm. simpl. destruct (Nat.eqb_spec b a); [easy|reflexivity].
Qed.

Lemma drift_opposite f h : is_law (nu a) -> drift (fun x => 1 - f x) h = - drift f h.
Proof.
  intros Hlaw. assert (Ef : E (nu a) (fun x => 1 - f x) = 1 - E (nu a) f).
  { rewrite (E_ext (nu a) _ (fun x => 1 + -1 * f x)) by (intros; ring).
    rewrite (E_plus (nu a) (fun _ => 1)), E_scale, E_const by easy. ring. }
  induction h as [|[b x] h IH]; simpl; [ring|]. rewrite IH, Ef. destruct (_ && _); ring.
Qed.

Lemma seen_tail mu j eps t : (1 <= n)%nat -> 0 <= eps -> mu a j = E (nu a) (fun x => x j) ->
  (forall q, In q (nu a) -> 0 <= snd q j <= 1) ->
  Pr (histories nu choose t) (fun h => misses mu (seen mu h) a j n eps)
  <= 2 * exp (- 2 * INR n * eps ^ 2).
Proof.
  intros Hn Heps Emu Hin. assert (Hpos : 0 < INR n) by (apply lt_0_INR; lia).
  assert (Hlaw : is_law (histories nu choose t)) by (now apply (histories_is_law nu choose K)).
  set (f := fun x : vector => x j). set (g := fun x : vector => 1 - f x).
  pose proof (drift_tail f Hin eps t Heps) as Hup.
  assert (Hg : forall q, In q (nu a) -> 0 <= g (snd q) <= 1)
    by (intros q Hq; specialize (Hin q Hq); unfold g, f; lra).
  pose proof (drift_tail g Hg eps t Heps) as Hdown.
  eapply Rle_trans; [|eapply Rle_trans; [apply (Pr_or (histories nu choose t)
    (fun h => if Rlt_dec (INR n * eps) (drift f h) then true else false)
    (fun h => if Rlt_dec (INR n * eps) (drift g h) then true else false) Hlaw)|lra]].
  apply Pr_le; [easy|]. intros q _. set (h := snd q). unfold misses, average.
  rewrite (seen_sum mu j h Emu). fold f. unfold g. rewrite (drift_opposite f h) by (now apply Hnu).
  replace ((INR n * mu a j + drift f h) / INR n - mu a j) with (drift f h / INR n) by (field; lra).
  destruct (Rlt_dec eps (Rabs (drift f h / INR n))) as [Habs|]; [|discriminate]. intros _.
  assert (Eq : drift f h = INR n * (drift f h / INR n)) by (field; lra).
  set (z := drift f h / INR n) in *. rewrite Eq.
  destruct (Rlt_dec (INR n * eps) (INR n * z)) as [|H1]; [reflexivity|].
  destruct (Rlt_dec (INR n * eps) (- (INR n * z))) as [|H2]; [reflexivity|]. exfalso.
  assert (INR n * eps < INR n * Rabs z) by (now apply Rmult_lt_compat_l).
  destruct (Rcase_abs z); [rewrite Rabs_left in H by easy|rewrite Rabs_right in H by easy]; nra.
Qed.

End Tail.

(** ** Its regret *)

Lemma algorithm_1_admissible : admissible K algorithm_1.
Proof.
  intros T h. split.
  - split; [intros p [<-|[]]; simpl; lra|simpl; lra].
  - intros q [<-|[]]. simpl. revert h.
    assert (H : forall h s, (forall i, s = Some i -> (i < K)%nat) ->
              (fst (decide T h s) < K)%nat /\
              forall i, snd (decide T h s) = Some i -> (i < K)%nat).
    { intros h s Hs. destruct (Nat.ltb_spec (length h) K) as [Hlt|Hge].
      - unfold decide. destruct (Nat.ltb_spec (length h) K); [|lia]. split; [easy|discriminate].
      - pose proof (decide_is_decision T h s Hge) as Hdec.
        assert (Hf : (fst (decide T h s) < K)%nat).
        { destruct s as [i|]; [|now apply (decision_below K d T 2 h None _ (snd (decide T h None)))].
          unfold decide. destruct (Nat.ltb_spec (length h) K); [lia|]. now apply Hs. }
        split; [easy|]. intros i Ei. destruct (decision_stored _ _ _ _ _ _ _ _ Hdec) as [E|E]; congruence. }
    intros h. apply H. induction h as [|x h IH]; [discriminate|]. simpl. now apply H.
Qed.

(** The sharper bound in expectation, for the law of the histories of this policy. *)
Theorem algorithm_1_regret nu T : (K <= T)%nat -> bounded_rewards K d nu ->
  E (outcomes nu algorithm_1 T) (regret K d (means nu)) <= INR K * gap_max K d (means nu)
    + 32 * ln (INR T) * sum K (fun a =>
        gap K d (means nu) a / Rmax (gap K d (means nu) a) (g_dagger K d (means nu)) ^ 2)
    + 2 * INR K * INR d * gap_max K d (means nu) / INR T ^ 2.
Proof.
  intros HT Hnu. assert (Hlaws : forall a, (a < K)%nat -> is_law (nu a)) by (intros; now apply Hnu).
  replace 32 with (16 * 2) by lra. unfold Rdiv at 2. rewrite <- (T_power_2 K d T HK Hd HT).
  apply (sharper_bound_general (outcomes nu algorithm_1 T) (seen (means nu)) K d T 2 (means nu)
    HK Hd HT ltac:(lra)) with (h := fun h => h).
  - apply (outcomes_is_law nu algorithm_1 K); [apply algorithm_1_admissible|exact Hlaws].
  - intros a j n eps Ha Hj Hn Heps. apply (seen_tail nu (algorithm_1 T) a n); auto; [|lia|].
    + apply algorithm_1_admissible.
    + intros q Hq. destruct (Hnu a Ha) as [_ Hin]. now apply Hin.
  - intros p Hp. exists (stored T (snd p)). split.
    + apply follows_run; [now apply (outcomes_follow nu T T)|apply seen_reads].
    + now apply (outcomes_shape nu algorithm_1 K T p algorithm_1_admissible).
Qed.

(** So it is uniformly good on all rewards in [0, 1] with finitely many values. *)
Theorem algorithm_1_uniformly_good : uniformly_good K d (bounded_rewards K d) algorithm_1.
Proof.
  intros nu Hnu alpha eps Halpha Heps.
  set (A := INR K * gap_max K d (means nu)). set (B := 2 * INR K * INR d * gap_max K d (means nu)).
  set (S := sum K (fun a => gap K d (means nu) a / Rmax (gap K d (means nu) a) (g_dagger K d (means nu)) ^ 2)).
  assert (HG : 0 <= gap_max K d (means nu)) by (apply gap_max_nonneg; lia).
  assert (HA : 0 <= A) by (apply Rmult_le_pos; [apply pos_INR|easy]).
  assert (HB : 0 <= B) by (repeat apply Rmult_le_pos; try apply pos_INR; lra).
  destruct (ln_below_power (A + B + 32 * S) alpha eps Halpha Heps) as (n1 & H1).
  destruct (ln_large 1) as (n2 & H2). exists (Nat.max K (Nat.max n1 n2)). intros T HT.
  specialize (H1 T ltac:(lia)). specialize (H2 T ltac:(lia)).
  eapply Rle_trans; [apply (algorithm_1_regret nu T ltac:(lia) Hnu)|]. fold A B S.
  eapply Rle_trans; [|exact H1].
  assert (H0 : 1 <= INR T ^ 2).
  { assert (1 <= INR T) by (change 1 with (INR 1); apply le_INR; lia). simpl. nra. }
  assert (B / INR T ^ 2 <= B).
  { rewrite <- (Rmult_1_r B) at 2. apply Rmult_le_compat_l; [easy|].
    rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  set (l := ln (INR T)) in *. nra.
Qed.

(** Both classes of the lower bounds are among them. *)
Theorem uniformly_good_exists : exists pi, admissible K pi /\
  uniformly_good K d (independent K d) pi /\ uniformly_good K d (copies K) pi.
Proof.
  exists algorithm_1. split; [apply algorithm_1_admissible|]. split; intros nu (mu & Hmu & ->).
  - apply algorithm_1_uniformly_good. apply bernoulli_bounded; auto.
    intros a j Ha Hj. specialize (Hmu a j Ha Hj). lra.
  - apply algorithm_1_uniformly_good. intros a Ha. specialize (Hmu a Ha). split.
    + split; [intros p [<-|[<-|[]]]; simpl; lra|simpl; lra].
    + intros p j [<-|[<-|[]]] _; simpl; lra.
Qed.

End Policy.
