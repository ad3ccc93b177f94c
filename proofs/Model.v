(** The bandit: reward tables, histories, counts, empirical means, regret.

    [Y a n] is the vector of rewards that arm [a] pays at its pull number [n + 1].
    A history lists the pulls made so far, the latest first, each with the
    vector it has paid. *)

Require Import Reals Lra Lia Arith List.
Require Import Momab.Finite Momab.Pareto.
Import ListNotations.
Open Scope R_scope.

Definition table := nat -> nat -> vector.
Definition history := list (nat * vector).

(** [N_a]: how often arm [a] has been pulled. *)
Fixpoint count (h : history) (a : nat) : nat :=
  match h with
  | [] => O
  | (b, _) :: h => if (b =? a)%nat then S (count h a) else count h a
  end.

(** What arm [a] has paid on objective [j] so far. *)
Fixpoint total (h : history) (a j : nat) : R :=
  match h with
  | [] => 0
  | (b, x) :: h => if (b =? a)%nat then total h a j + x j else total h a j
  end.

Definition mean (h : history) (a j : nat) : R := total h a j / INR (count h a).

(** The average of the first [n] rewards of arm [a] in the table. *)
Definition average (Y : table) (a n j : nat) : R := sum n (fun m => Y a m j) / INR n.

(** The next pull of arm [a] reads the first unused entry of the table. *)
Definition pull (Y : table) (h : history) (a : nat) : history := (a, Y a (count h a)) :: h.

Inductive reads (Y : table) : history -> Prop :=
  | reads_nothing : reads Y []
  | reads_next h a : reads Y h -> reads Y (pull Y h a).

(** Pareto regret, and the regret on one objective. *)
Definition regret (K d : nat) (mu : nat -> vector) (h : history) : R :=
  fold_right (fun p s => gap K d mu (fst p) + s) 0 h.
Definition marginal_regret (K : nat) (mu : nat -> vector) (j : nat) (h : history) : R :=
  fold_right (fun p s => deficit K mu (fst p) j + s) 0 h.

Definition arms_below (K : nat) (h : history) : Prop := forall p, In p h -> (fst p < K)%nat.

(** Both definitions of the empirical mean agree: it is the average of the first
    [count h a] entries of the table. *)
Theorem mean_is_average Y h a j : reads Y h -> mean h a j = average Y a (count h a) j.
Proof.
  intros H. unfold mean, average. f_equal.
  induction H as [|h b H IH]; simpl; [reflexivity|].
  destruct (Nat.eqb_spec b a) as [->|]; [|exact IH]. simpl. now rewrite IH.
Qed.

(** Regret counts pulls: [R_T] is the sum over the arms of gap times count. *)
Lemma cost_by_counts K (cost : nat -> R) h :
  arms_below K h ->
  fold_right (fun p s => cost (fst p) + s) 0 h = sum K (fun a => cost a * INR (count h a)).
Proof.
  induction h as [|[b x] h IH]; intros Hb.
  - simpl. rewrite (sum_ext K _ (fun _ => 0)); [rewrite sum_const; lra|intros; simpl; lra].
  - simpl fold_right. rewrite IH by (intros p Hp; apply Hb; now right).
    rewrite (sum_bump K (fun a => cost a * INR (count h a))
               (fun a => cost a * INR (count ((b, x) :: h) a)) b (cost b)).
    + simpl. lra.
    + apply (Hb (b, x)). now left.
    + simpl count. rewrite Nat.eqb_refl, S_INR. lra.
    + intros k _ Hk. simpl count. destruct (Nat.eqb_spec b k); [congruence|reflexivity].
Qed.

Theorem regret_by_counts K d mu h :
  arms_below K h -> regret K d mu h = sum K (fun a => gap K d mu a * INR (count h a)).
Proof. apply cost_by_counts. Qed.

(** Pareto regret is at most the regret on any objective, for every policy and on
    every path. *)
Theorem pareto_below_marginal K d mu h j :
  arms_below K h -> (j < d)%nat -> regret K d mu h <= marginal_regret K mu j h.
Proof.
  intros Hb Hj. induction h as [|p h IH]; simpl; [lra|].
  assert (gap K d mu (fst p) <= deficit K mu (fst p) j)
    by (apply gap_le_deficit; [apply Hb; now left|easy]).
  assert (regret K d mu h <= marginal_regret K mu j h)
    by (apply IH; intros q Hq; apply Hb; now right).
  unfold regret, marginal_regret in *. lra.
Qed.

Lemma regret_le_all K d mu h : (0 < K)%nat ->
  arms_below K h -> regret K d mu h <= INR (length h) * gap_max K d mu.
Proof.
  intros HK Hb. induction h as [|p h IH]; [simpl; lra|].
  simpl length. rewrite S_INR. simpl regret. unfold regret in *. simpl.
  assert (gap K d mu (fst p) <= gap_max K d mu) by (apply gap_le_max, Hb; now left).
  assert (fold_right (fun p s => gap K d mu (fst p) + s) 0 h <= INR (length h) * gap_max K d mu)
    by (apply IH; intros q Hq; apply Hb; now right).
  lra.
Qed.

Lemma regret_app K d mu h1 h2 : regret K d mu (h1 ++ h2) = regret K d mu h1 + regret K d mu h2.
Proof.
  unfold regret. induction h1 as [|p h1 IH]; simpl; [lra|]. rewrite IH. lra.
Qed.

Lemma regret_ext K d mu nu h :
  (forall a j, (a < K)%nat -> (j < d)%nat -> mu a j = nu a j) -> arms_below K h ->
  regret K d mu h = regret K d nu h.
Proof.
  intros Hsame Hb. unfold regret. induction h as [|p h IH]; simpl; [reflexivity|].
  rewrite IH by (intros q Hq; apply Hb; now right). f_equal.
  apply gap_ext; [exact Hsame|]. apply Hb. now left.
Qed.
