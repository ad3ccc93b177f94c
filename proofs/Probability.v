(** Finite probability: expectation, probability, products.

    A law is a list of outcomes with their weights. This is enough for rewards with
    finitely many values and a finite horizon. *)

Require Import Reals Lra Lia Arith List Bool.
Require Import Momab.Finite.
Import ListNotations.
Open Scope R_scope.

Definition law (X : Type) := list (R * X).

Fixpoint E {X} (D : law X) (f : X -> R) : R :=
  match D with
  | [] => 0
  | (w, x) :: D => w * f x + E D f
  end.

(** Weights are nonnegative and add up to one. *)
Definition is_law {X} (D : law X) : Prop :=
  (forall p, In p D -> 0 <= fst p) /\ E D (fun _ => 1) = 1.

Definition Pr {X} (D : law X) (A : X -> bool) : R := E D (fun x => if A x then 1 else 0).

Section Expectation.

Context {X : Type} (D : law X).

Lemma E_ext f g : (forall p, In p D -> f (snd p) = g (snd p)) -> E D f = E D g.
Proof.
  induction D as [|[w x] D' IH]; intros H; simpl; [reflexivity|].
  rewrite IH by (intros; apply H; now right). pose proof (H (w, x) (or_introl eq_refl)) as Hx. simpl in Hx. now rewrite Hx.
Qed.

Lemma E_plus f g : E D (fun x => f x + g x) = E D f + E D g.
Proof. induction D as [|[w x] D' IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma E_scale c f : E D (fun x => c * f x) = c * E D f.
Proof. induction D as [|[w x] D' IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma E_sum n f : E D (fun x => sum n (fun i => f i x)) = sum n (fun i => E D (f i)).
Proof.
  induction n as [|n IH]; simpl.
  - clear. induction D as [|[w x] D' IH]; simpl; [lra|]. rewrite IH. lra.
  - now rewrite E_plus, IH.
Qed.

Lemma E_le f g : is_law D -> (forall p, In p D -> f (snd p) <= g (snd p)) -> E D f <= E D g.
Proof.
  intros [Hw _]. induction D as [|[w x] D' IH]; intros H; simpl; [lra|].
  apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply (Hw (w, x)); now left|apply (H (w, x)); now left].
  - apply IH; intros; [apply Hw|apply H]; now right.
Qed.

Lemma E_const c : is_law D -> E D (fun _ => c) = c.
Proof.
  intros [_ H1]. rewrite (E_ext (fun _ => c) (fun _ => c * 1)) by (intros; lra).
  rewrite E_scale, H1. lra.
Qed.

Lemma E_nonneg f : is_law D -> (forall p, In p D -> 0 <= f (snd p)) -> 0 <= E D f.
Proof.
  intros HD H. rewrite <- (E_const 0 HD). now apply E_le.
Qed.

(** Markov's inequality in the form that Chernoff's method uses. *)
Lemma markov (A : X -> bool) f : is_law D ->
  (forall p, In p D -> 0 <= f (snd p)) ->
  (forall p, In p D -> A (snd p) = true -> 1 <= f (snd p)) -> Pr D A <= E D f.
Proof.
  intros HD Hf HA. apply E_le; [easy|]. intros p Hp. specialize (HA p Hp).
  destruct (A (snd p)); [now apply HA|now apply Hf].
Qed.

Lemma Pr_or A B : is_law D -> Pr D (fun x => A x || B x) <= Pr D A + Pr D B.
Proof.
  intros HD. unfold Pr. rewrite <- E_plus. apply E_le; [easy|]. intros p _.
  destruct (A (snd p)), (B (snd p)); simpl; lra.
Qed.

Lemma Pr_le A B : is_law D -> (forall p, In p D -> A (snd p) = true -> B (snd p) = true) ->
  Pr D A <= Pr D B.
Proof.
  intros HD H. apply E_le; [easy|]. intros p Hp. specialize (H p Hp).
  destruct (A (snd p)), (B (snd p)); lra || discriminate (H eq_refl).
Qed.

End Expectation.

(** The union bound. *)
Fixpoint some (n : nat) (A : nat -> bool) : bool :=
  match n with O => false | S m => some m A || A m end.

Lemma some_false n A i : some n A = false -> (i < n)%nat -> A i = false.
Proof.
  induction n as [|n IH]; intros H Hi; [lia|]. simpl in H. apply orb_false_iff in H.
  destruct (Nat.eq_dec i n) as [->|]; [tauto|]. apply IH; [tauto|lia].
Qed.

Lemma union_bound {X} (D : law X) n (A : nat -> X -> bool) : is_law D ->
  Pr D (fun x => some n (fun i => A i x)) <= sum n (fun i => Pr D (A i)).
Proof.
  intros HD. induction n as [|n IH]; simpl.
  - unfold Pr. rewrite E_const by easy. lra.
  - eapply Rle_trans; [apply (Pr_or D (fun x => some n (fun i => A i x)) (A n) HD)|]. lra.
Qed.

(** ** Products *)

(** The image of a law. *)
Definition image {X Z} (f : X -> Z) (D : law X) : law Z := map (fun p => (fst p, f (snd p))) D.

Lemma E_image {X Z} (f : X -> Z) D g : E (image f D) g = E D (fun x => g (f x)).
Proof. induction D as [|[w x] D IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Definition scaled {X} (c : R) (D : law X) : law X := map (fun p => (c * fst p, snd p)) D.

Lemma E_scaled {X} c (D : law X) f : E (scaled c D) f = c * E D f.
Proof. induction D as [|[w x] D IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma E_app {X} (D1 D2 : law X) f : E (D1 ++ D2) f = E D1 f + E D2 f.
Proof. induction D1 as [|[w x] D1 IH]; simpl; [lra|]. rewrite IH. lra. Qed.

(** Draw from [D], then from [F x]. *)
Definition bind {X Z} (D : law X) (F : X -> law Z) : law Z :=
  flat_map (fun p => scaled (fst p) (F (snd p))) D.

Lemma E_bind {X Z} (D : law X) (F : X -> law Z) g : E (bind D F) g = E D (fun x => E (F x) g).
Proof.
  induction D as [|[w x] D IH]; simpl; [reflexivity|]. now rewrite E_app, E_scaled, IH.
Qed.

Lemma bind_weights {X Z} (D : law X) (F : X -> law Z) :
  (forall p, In p D -> 0 <= fst p) -> (forall x p, In p (F x) -> 0 <= fst p) ->
  forall p, In p (bind D F) -> 0 <= fst p.
Proof.
  intros HD HF p Hp. unfold bind in Hp. apply in_flat_map in Hp. destruct Hp as (q & Hq & Hp).
  unfold scaled in Hp. apply in_map_iff in Hp. destruct Hp as (r & <- & Hr). simpl.
  apply Rmult_le_pos; [now apply HD|now apply (HF (snd q))].
Qed.

Definition update {X} (x : nat -> X) (m : nat) (y : X) : nat -> X :=
  fun i => if (i =? m)%nat then y else x i.

(** Independent draws [x 0, ..., x (n-1)], [x i] from [D i]; beyond them [x0]. *)
Fixpoint product {X} (x0 : X) (n : nat) (D : nat -> law X) : law (nat -> X) :=
  match n with
  | O => [(1, fun _ => x0)]
  | S m => bind (product x0 m D) (fun x => image (update x m) (D m))
  end.

Fixpoint prod (n : nat) (f : nat -> R) : R :=
  match n with O => 1 | S m => prod m f * f m end.

Lemma prod_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> prod n f = prod n g.
Proof.
  induction n as [|n IH]; intros H; simpl; [reflexivity|].
  rewrite IH, H; auto with arith; intros; apply H; lia.
Qed.

(** Independence: the expectation of a product is the product of the expectations. *)
Theorem E_product {X} (x0 : X) n D (f : nat -> X -> R) :
  E (product x0 n D) (fun x => prod n (fun i => f i (x i))) = prod n (fun i => E (D i) (f i)).
Proof.
  induction n as [|n IH]; simpl; [lra|].
  rewrite E_bind, <- IH.
  rewrite (E_ext _ _ (fun x => E (D n) (f n) * prod n (fun i => f i (x i)))).
  - rewrite E_scale. lra.
  - intros p _. rewrite E_image.
    rewrite (E_ext _ _ (fun y => prod n (fun i => f i (snd p i)) * f n y)).
    + rewrite E_scale. lra.
    + intros q _. f_equal.
      * apply prod_ext. intros i Hi. unfold update. destruct (Nat.eqb_spec i n); [lia|reflexivity].
      * unfold update. now rewrite Nat.eqb_refl.
Qed.

Lemma product_is_law {X} (x0 : X) n D :
  (forall i, (i < n)%nat -> is_law (D i)) -> is_law (product x0 n D).
Proof.
  intros HD. induction n as [|n IH].
  - split; [intros p [<-|[]]; simpl; lra|simpl; lra].
  - destruct IH as [Hw H1]; [intros; apply HD; lia|]. destruct (HD n) as [Hwn H1n]; [lia|].
    simpl. split.
    + apply bind_weights; [easy|]. intros x p Hp. unfold image in Hp.
      apply in_map_iff in Hp. destruct Hp as (q & <- & Hq). now apply Hwn.
    + rewrite E_bind. rewrite (E_ext _ _ (fun _ => 1)); [easy|].
      intros p _. now rewrite E_image.
Qed.

(** What depends on one coordinate has its law. *)
Theorem E_coordinate {X} (x0 : X) n D k f :
  (forall i, (i < n)%nat -> is_law (D i)) -> (k < n)%nat ->
  E (product x0 n D) (fun x => f (x k)) = E (D k) f.
Proof.
  intros HD Hk. induction n as [|n IH]; [lia|]. simpl. rewrite E_bind.
  destruct (Nat.eq_dec k n) as [->|Hne].
  - rewrite (E_ext _ _ (fun _ => E (D n) f)).
    + apply E_const. apply product_is_law. intros; apply HD; lia.
    + intros p _. rewrite E_image. apply E_ext. intros q _. unfold update.
      now rewrite Nat.eqb_refl.
  - rewrite <- IH; [|intros; apply HD; lia|lia]. apply E_ext. intros p _. rewrite E_image.
    rewrite (E_ext _ _ (fun _ => f (snd p k))); [apply E_const, HD; lia|].
    intros q _. unfold update. destruct (Nat.eqb_spec k n); [lia|reflexivity].
Qed.

(** Every coordinate of an outcome is in the support of its law, or [x0]. *)
Lemma product_support {X} (x0 : X) n D (P : nat -> X -> Prop) :
  (forall i q, (i < n)%nat -> In q (D i) -> P i (snd q)) ->
  forall p, In p (product x0 n D) -> forall i, (i < n)%nat -> P i (snd p i).
Proof.
  induction n as [|n IH]; intros H p Hp i Hi; [lia|].
  simpl in Hp. unfold bind in Hp. apply in_flat_map in Hp. destruct Hp as (q & Hq & Hp).
  unfold scaled in Hp. apply in_map_iff in Hp. destruct Hp as (r & <- & Hr).
  unfold image in Hr. apply in_map_iff in Hr. destruct Hr as (u & <- & Hu). simpl.
  unfold update. destruct (Nat.eqb_spec i n) as [->|Hne].
  - apply H; [lia|easy].
  - apply (IH (fun i q Hi' => H i q (Nat.lt_lt_succ_r _ _ Hi')) q Hq). lia.
Qed.
