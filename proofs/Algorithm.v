(** Algorithm 1 as a relation between a history and the next pull.

    Wherever the paper writes argmax, every maximiser is allowed: [leader],
    [challenger] and the sampled objective are described, not computed, so all that is
    proved holds for every way to break ties. The radius is [sqrt (c log T / n)];
    the paper's is [c = 2]. *)

Require Import Reals Lra Lia Arith List.
Require Import Momab.Finite Momab.Pareto Momab.Model.
Import ListNotations.
Open Scope R_scope.

(** Radius after [n] pulls. *)
Definition radius (c : R) (T n : nat) : R := sqrt (c * ln (INR T) / INR n).

Section Algorithm.

Variables (K d T : nat) (c : R).

Definition beta (h : history) (a : nat) : R := radius c T (count h a).
Definition U (h : history) (a j : nat) : R := mean h a j + beta h a.
Definition L (h : history) (a j : nat) : R := mean h a j - beta h a.

(** [b] has the largest upper bound on objective [j]. *)
Definition leader (h : history) (j b : nat) : Prop :=
  (b < K)%nat /\ forall a, (a < K)%nat -> U h a j <= U h b j.

(** [e] has the largest upper bound among the arms other than [b]. *)
Definition challenger (h : history) (j b e : nat) : Prop :=
  (e < K)%nat /\ e <> b /\ forall a, (a < K)%nat -> a <> b -> U h a j <= U h e j.

Definition races (h : history) (b e : nat -> nat) : Prop :=
  forall j, (j < d)%nat -> leader h j (b j) /\ challenger h j (b j) (e j).

Definition certifies (h : history) (b e : nat -> nat) (j : nat) : Prop :=
  L h (b j) j > U h (e j) j.

Definition width (h : history) (b e : nat -> nat) (j : nat) : R :=
  beta h (b j) + beta h (e j).

(** The widest race is sampled, at the end with the larger radius. *)
Definition sampled (h : history) (b e : nat -> nat) (j a : nat) : Prop :=
  (j < d)%nat /\ (forall i, (i < d)%nat -> width h b e i <= width h b e j) /\
  (a = b j \/ a = e j) /\ beta h (b j) <= beta h a /\ beta h (e j) <= beta h a.

(** [decision h s a s']: with history [h] and stored arm [s] the algorithm may
    pull [a] and store [s']. *)
Inductive decision (h : history) : option nat -> nat -> option nat -> Prop :=
  | stay a : decision h (Some a) a (Some a)
  | certify b e j :
      races h b e -> (j < d)%nat -> certifies h b e j ->
      decision h None (b j) (Some (b j))
  | explore b e j a :
      races h b e -> (forall i, (i < d)%nat -> ~ certifies h b e i) ->
      sampled h b e j a ->
      decision h None a None.

(** The histories that Algorithm 1 can produce on a reward table, with the arm it has
    stored. The warm start pulls every arm once. *)
Inductive run (Y : table) : history -> option nat -> Prop :=
  | start : run Y [] None
  | warm h : run Y h None -> (length h < K)%nat -> run Y (pull Y h (length h)) None
  | next h s a s' :
      run Y h s -> (K <= length h)%nat -> decision h s a s' -> run Y (pull Y h a) s'.

(** ** What every run has in common *)

Lemma run_reads Y h s : run Y h s -> reads Y h.
Proof. induction 1; constructor; auto. Qed.

Lemma decision_below h s a s' :
  (0 < d)%nat -> decision h s a s' -> s = None -> (a < K)%nat.
Proof.
  intros Hd Hdec Hs. destruct Hdec as [a|b e j Hr Hj Hc|b e j a Hr Hn Hsam].
  - discriminate.
  - destruct (Hr j Hj) as [[Hb _] _]. exact Hb.
  - destruct Hsam as (Hj & _ & Ha & _). destruct (Hr j Hj) as [[Hb _] [He _]].
    destruct Ha as [->| ->]; easy.
Qed.

Lemma decision_stored h s a s' : decision h s a s' -> s' = None \/ s' = Some a.
Proof. destruct 1; auto. Qed.

(** During the warm start every arm below the length has one pull, the others none. *)
Lemma warm_counts Y h s : run Y h s -> (length h <= K)%nat ->
  s = None /\ (forall a, count h a = if (a <? length h)%nat then 1%nat else O) /\ arms_below K h.
Proof.
  induction 1 as [|h Hr IH Hl|h s a s' Hr IH Hl Hd]; intros Hlen.
  - repeat split. intros p Hp. destruct Hp.
  - destruct IH as (_ & Hc & Hb); [lia|]. repeat split.
    + intros a. unfold pull. simpl count. simpl length. rewrite Hc.
      destruct (Nat.eqb_spec (length h) a), (Nat.ltb_spec a (length h)),
        (Nat.ltb_spec a (S (length h))); lia.
    + intros p [<-|Hp]; [exact Hl|now apply Hb].
  - unfold pull in Hlen. simpl in Hlen. lia.
Qed.

(** After the warm start every arm has been pulled. *)
Lemma count_pos Y h s a : run Y h s -> (K <= length h)%nat -> (a < K)%nat -> (1 <= count h a)%nat.
Proof.
  induction 1 as [|h Hr IH Hl|h s b s' Hr IH Hl Hd]; intros Hlen Ha.
  - simpl in Hlen. lia.
  - unfold pull in *. simpl in Hlen. simpl count.
    destruct (warm_counts _ _ _ Hr) as (_ & Hc & _); [lia|]. rewrite Hc.
    destruct (Nat.eqb_spec (length h) a), (Nat.ltb_spec a (length h)); lia.
  - unfold pull. simpl count. specialize (IH Hl Ha). destruct (Nat.eqb_spec b a); lia.
Qed.

Lemma run_below Y h s : (0 < d)%nat ->
  run Y h s -> arms_below K h /\ (forall a, s = Some a -> (a < K)%nat).
Proof.
  intros Hd. induction 1 as [|h Hr [IH _] Hl|h s a s' Hr [IH IHs] Hl Hdec].
  - split; [intros p []|discriminate].
  - split; [|discriminate]. intros p [<-|Hp]; [exact Hl|now apply IH].
  - assert (Ha : (a < K)%nat).
    { destruct s as [b|]; [|now apply (decision_below h None a s')].
      inversion Hdec; subst. auto. }
    split.
    + intros p [<-|Hp]; [exact Ha|now apply IH].
    + intros b Hb. destruct (decision_stored _ _ _ _ Hdec) as [E|E]; rewrite E in Hb;
        congruence.
Qed.

(** A run is a phase without a certificate, followed by pulls of the stored arm. *)
Theorem run_splits Y h s : run Y h s ->
  match s with
  | None => True
  | Some a => exists h0 later,
      h = later ++ h0 /\ run Y h0 None /\ (K <= length h0)%nat /\ later <> [] /\
      decision h0 None a (Some a) /\ forall p, In p later -> fst p = a
  end.
Proof.
  induction 1 as [|h Hr IH Hl|h s a s' Hr IH Hl Hdec]; auto.
  destruct s' as [b|]; auto. inversion Hdec; subst.
  - destruct IH as (h0 & later & -> & H0 & Hl0 & Hne & Hd0 & Hall).
    exists h0, ((b, Y b (count (later ++ h0) b)) :: later).
    repeat split; auto; [discriminate|]. intros p [<-|Hp]; auto.
  - exists h, [(b0 j, Y (b0 j) (count h (b0 j)))]. repeat split; auto; [discriminate|].
    intros p [<-|[]]. reflexivity.
Qed.

Lemma count_le_length h a : (count h a <= length h)%nat.
Proof.
  induction h as [|[b x] h IH]; simpl; [lia|]. destruct (b =? a)%nat; lia.
Qed.

(** What was known at an earlier decision is a run, too. *)
Lemma run_before Y h s : run Y h s ->
  forall later before, h = later ++ before -> exists s', run Y before s'.
Proof.
  induction 1 as [|h Hr IH Hl|h s b s' Hr IH Hl Hdec]; intros later before E.
  - destruct later; [|discriminate]. simpl in E. subst. eexists. constructor.
  - destruct later as [|x later].
    + simpl in E. subst. eexists. now apply warm.
    + injection E as _ E. now apply (IH later).
  - destruct later as [|x later].
    + simpl in E. subst. eexists. eapply next; eauto.
    + injection E as _ E. now apply (IH later).
Qed.

(** ** The relation is not empty: on every table there is a run of every length *)

Lemma leader_exists h j : (0 < K)%nat -> exists b, leader h j b.
Proof.
  intros HK. destruct (maxb_attained K (fun a => U h a j) HK) as (b & Hb & E).
  exists b. split; [easy|]. intros a Ha. rewrite <- E. now apply (maxb_ge K (fun a => U h a j)).
Qed.

Lemma challenger_exists h j b : (1 < K)%nat -> (b < K)%nat -> exists e, challenger h j b e.
Proof.
  intros HK Hb. destruct (best_other_attained K (U h) b j HK Hb) as (e & He & Hne & E).
  exists e. repeat split; auto. intros a Ha Hab. rewrite <- E. now apply best_other_ge.
Qed.

Lemma races_exist h : (1 < K)%nat -> exists b e, races h b e.
Proof.
  intros HK.
  assert (Hpair : forall j, exists p, leader h j (fst p) /\ challenger h j (fst p) (snd p)).
  { intros j. destruct (leader_exists h j) as (b & Hb); [lia|].
    destruct (challenger_exists h j b HK (proj1 Hb)) as (e & He). now exists (b, e). }
  assert (Hall : forall n, exists f : nat -> nat * nat, forall j, (j < n)%nat ->
            leader h j (fst (f j)) /\ challenger h j (fst (f j)) (snd (f j))).
  { induction n as [|n (f & Hf)].
    - exists (fun _ => (O, O)). intros; lia.
    - destruct (Hpair n) as (p & Hp).
      exists (fun j => if (j =? n)%nat then p else f j). intros j Hj.
      destruct (Nat.eqb_spec j n) as [->|]; [easy|apply Hf; lia]. }
  destruct (Hall d) as (f & Hf). exists (fun j => fst (f j)), (fun j => snd (f j)). exact Hf.
Qed.

Lemma decision_exists h s : (1 < K)%nat -> (0 < d)%nat -> exists a s', decision h s a s'.
Proof.
  intros HK Hd. destruct s as [a|]; [exists a, (Some a); constructor|].
  destruct (races_exist h HK) as (b & e & Hr).
  destruct (search (certifies h b e) (fun j => Rgt_dec _ _) d) as [(j & Hj & Hc)|Hn].
  - exists (b j), (Some (b j)). now apply certify with e.
  - destruct (maxb_attained d (width h b e) Hd) as (j & Hj & E).
    assert (Hw : forall i, (i < d)%nat -> width h b e i <= width h b e j)
      by (intros; rewrite <- E; now apply maxb_ge).
    destruct (Rle_dec (beta h (b j)) (beta h (e j))).
    + exists (e j), None. apply explore with b e j; auto. repeat split; auto. lra.
    + exists (b j), None. apply explore with b e j; auto. repeat split; auto; lra.
Qed.

Theorem run_exists Y n : (1 < K)%nat -> (0 < d)%nat -> exists h s, run Y h s /\ length h = n.
Proof.
  intros HK Hd. induction n as [|n (h & s & Hr & Hl)].
  - exists [], None. split; [constructor|reflexivity].
  - destruct (le_lt_dec K n).
    + destruct (decision_exists h s HK Hd) as (a & s' & Hdec).
      exists (pull Y h a), s'. split; [apply next with s; auto; lia|simpl; lia].
    + assert (s = None) as ->. { apply (warm_counts Y h s Hr). lia. }
      exists (pull Y h (length h)), None. split; [apply warm; auto; lia|simpl; lia].
Qed.

End Algorithm.
