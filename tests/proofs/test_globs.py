"""What a statement refers to and what a proof rests on come from Coq's own files."""

from momab.book import formal, globs, proofs
from tests.conftest import ROOT
from tests.proofs.test_record import needs_coq

FOLDER = ROOT / "proofs"
RECORDED = {theorem.name: theorem for theorem in proofs.read_record(FOLDER).theorems}

SOURCES = {
    "One.v": "Definition x := 1.\nInductive even : nat -> Prop :=\n  | zero : even 0.\n",
    "Two.v": (
        "Require Import Momab.One.\nSection A.\nVariable n : nat.\nLocal Notation y := (x + n).\n"
        "Definition z := y.\nDefinition unread := 5.\nEnd A.\n"
        "Theorem first : x = 1.\nProof. reflexivity. Qed.\n"
        "Lemma step : z 0 = 1.\nProof. pose proof first. reflexivity. Qed.\n"
        "Theorem second : z 0 = 1 /\\ even 0.\nProof. split; [exact step|exact zero]. Qed.\n"
    ),
}


@needs_coq
def test_definitions_and_theorems_of_a_small_project(tmp_path):
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "_CoqProject").write_text("-Q . Momab\nOne.v\nTwo.v\n")
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    first, second = proofs.check_proofs(folder, tmp_path / "build").theorems
    assert (first.reads, first.uses) == (("x",), ())
    assert second.reads == ("x", "even", "z")  # through the abbreviation, without `unread`
    assert second.uses == ("first",)  # through the lemma


def test_a_name_is_defined_once():
    names = formal.defined(FOLDER)
    assert all(set(theorem.reads) <= names.keys() for theorem in RECORDED.values())
    places = [
        (path.name, number)
        for path in proofs.sources(FOLDER)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if line.startswith(("Definition ", "Fixpoint ", "Inductive ", "Theorem ", "Lemma "))
    ]
    assert len(places) == len(names)


def test_the_headlines_have_the_definitions_that_matter():
    price = set(RECORDED["price_theorem"].reads)
    assert price >= {"gap", "evidence", "kl", "is_price", "outcomes", "uniformly_good", "bernoulli"}
    assert not price & {"run", "decision", "play", "weight", "rival", "Var"}  # of proofs only
    assert {"decision", "run", "play", "tables"} <= set(RECORDED["theorem_4_bernoulli"].reads)
    assert "lai_robbins" in RECORDED["proposition_3"].uses
    assert "price_of_class" in RECORDED["price_theorem"].uses


def test_constructors_lead_to_their_type():
    items = {
        "even": globs.Item("One", "ind"),
        "zero": globs.Item("One", "constr", frozenset({"even"})),
    }
    assert globs.to_read("forall n : nat, zero = zero", items) == ("even",)
