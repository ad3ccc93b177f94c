"""The gate of the formal proofs: what is planted does not get through, and each layer holds."""

import pytest

from momab.book import gate, proofs
from momab.errors import BuildError
from tests.proofs.test_record import needs_coq, small

FALSE = "Theorem all : 1 = 2.\nProof. destruct no. Qed.\n"
LOOP = "Fixpoint f (n : nat) : False := f n.\nDefinition no := f 0.\n"
NEGATIVE = (
    "Inductive B := b : (B -> False) -> B.\n"
    "Definition g (x : B) : False := match x with b k => k x end.\nDefinition no := g (b g).\n"
)
UNIVERSE = (
    "Definition U : Set := Type.\n"
    "Definition keep (x : U) : U := x.\nTheorem all : U = U.\nProof. reflexivity. Qed.\n"
)

HOLES = {
    "a loop": (
        f"Unset Guard Checking.\n{LOOP}{FALSE}",
        "Unset Guard Checking",
        "is assumed to be guarded.",
    ),
    "a negative type": (
        f"Unset Positivity Checking.\n{NEGATIVE}{FALSE}",
        "Unset Positivity Checking",
        "is assumed to be positive.",
    ),
    "a type of all types": (
        f"Unset Universe Checking.\n{UNIVERSE}",
        "Unset Universe Checking",
        "relies on an unsafe hierarchy.",
    ),
}
"""The holes of an earlier gate: the source, what is refused in it, what Coq says of it."""

PLANTED = {
    **{name: (text, words) for name, (text, words, _) in HOLES.items()},
    "an attribute": (f"#[bypass_check(guard)] {LOOP}{FALSE}", "#[bypass_check(guard)] Fixpoint f"),
    "a plugin": ("Declare ML Module coq-core.plugins.ring.\n", "Declare ML Module"),
    "an axiom of another library": (
        "Require Import ProofIrrelevance.\n"
        "Theorem odd : forall (P : Prop) (x y : P), x = y.\n"
        "Proof. apply proof_irrelevance. Qed.\n",
        "Require Import ProofIrrelevance",
    ),
    "a file of another place": ("From Elsewhere Require Import Truth.\n", "From Elsewhere Require"),
    "a notation that changes a statement": (
        "Notation two := 1 (only parsing).\nTheorem all : 1 = two.\nProof. reflexivity. Qed.\n",
        "Notation two := 1",
    ),
    "an axiom behind a string": (
        'Definition s := "(*"%string.\nAxiom no : False.\nDefinition t := "*)"%string.\n' + FALSE,
        "a string",
    ),
    "an axiom": (f"Axiom no : False.\n{FALSE}", "Axiom no : False"),
    "a proof left out": ("Theorem all : 1 = 2.\nAdmitted.\n", "Admitted"),
    "a check switched off within a proof": (
        "Theorem all : True.\nProof.\n  - Unset Guard Checking. exact I.\nQed.\n",
        "Unset Guard Checking",
    ),
    "a hypothesis outside of a section": ("Section A.\nEnd A.\nVariable no : False.\n", "Variable"),
    "a parameter in a section": ("Section A.\nParameter x : nat.\nEnd A.\n", "Parameter x"),
    "a tactic that gives up": ("Lemma x : True.\nProof. admit. Qed.\n", "admit"),
    "another source that comes later": ("Require Import Momab.Later.\n", "Require Import Momab"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_refused_before_coq_sees_it(name, tmp_path):
    text, words = PLANTED[name]
    found = proofs.assumptions(small(tmp_path, text))
    assert any(f": {words}" in place for place in found), found


@pytest.mark.parametrize(
    "text",
    [
        "Section A.\nVariable x : nat.\nEnd A.\n",
        "(* an Axiom (* Admitted *) Parameter *)\n",
        "Require Import Reals Lra.\nImport ListNotations.\nOpen Scope R_scope.\n",
        "Lemma x : True.\nProof.\n  assert True; [|easy].\n  - now idtac.\nQed.\n",
        "Section A.\nVariable n : nat.\nLocal Notation m := (S n).\nEnd A.\n",
    ],
)
def test_plain_sources_pass(tmp_path, text):
    assert proofs.assumptions(small(tmp_path, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "-Q . Momab\n-arg -type-in-type\nSmall.v\n",
        "-R . Momab\nSmall.v\n",
        "-Q . Momab\n../Small.v\n",
        "-Q . Momab\n-I plugins\nSmall.v\n",
    ],
)
def test_options_of_the_project_are_refused(tmp_path, text):
    folder = small(tmp_path, "")
    (folder / "_CoqProject").write_text(text)
    with pytest.raises(BuildError, match="holds more than"):
        proofs.check_proofs(folder, tmp_path / "build")


ANSWER = """Axioms:
ClassicalDedekindReals.sig_forall_dec
  : forall P : nat -> Prop,
    (forall n : nat, {P n} + {~ P n}) -> {n : nat | ~ P n} + {forall n : nat, P n}
short : False
"""


def test_an_answer_is_read_line_by_line():
    found = {"ClassicalDedekindReals.sig_forall_dec", "short"}
    assert gate.read_assumptions(ANSWER) == found
    assert gate.read_assumptions("Closed under the global context\n") == set()


@pytest.mark.parametrize("line", [hole[2] for hole in HOLES.values()] + ["Transparent constants:"])
@pytest.mark.parametrize("answer", [ANSWER, "Axioms:\n"])
def test_a_line_that_is_not_understood_fails(line, answer):
    with pytest.raises(BuildError, match=f"not understood: f {line}"):
        gate.read_assumptions(f"{answer}f {line}\n")


@pytest.mark.parametrize("said", ["", "Axioms:\n", "Closed under the global context\nf\n", "  x"])
def test_an_answer_without_names_fails(said):
    with pytest.raises(BuildError, match="not understood"):
        gate.read_assumptions(said)


SUMMARY = """
CONTEXT SUMMARY
===============

* Theory: Set is predicative
  
* Axioms:
    Coq.Reals.Rdefinitions.RbaseSymbolsImpl.Rplus
    Coq.Logic.Classical_Prop.classic
  
* Constants/Inductives relying on type-in-type: <none>
  
* Constants/Inductives relying on unsafe (co)fixpoints: <none>
  
* Inductives whose positivity is assumed: <none>
  
"""  # noqa: W293


def test_the_checker_has_nothing_to_object():
    gate.read_summary(SUMMARY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("type-in-type: <none>", "type-in-type:\n    Momab.A.U"),
        ("fixpoints: <none>", "fixpoints:\n    Momab.A.f"),
        ("assumed: <none>", "assumed:\n    Momab.A.B"),
        ("Set is predicative", "Set is impredicative"),
        ("Coq.Logic.Classical_Prop.classic", "Momab.A.no"),
        ("Coq.Logic.Classical_Prop.classic", "Momab.Classical_Prop.classic"),
        ("Coq.Logic.Classical_Prop.classic", "Coq.Logic.Epsilon.epsilon_statement"),
        ("* Inductives whose positivity is assumed: <none>", ""),
        ("CONTEXT SUMMARY", ""),
    ],
)
def test_the_checker_is_heard(old, new):
    assert old in SUMMARY
    with pytest.raises(BuildError, match="the checker"):
        gate.read_summary(SUMMARY.replace(old, new))


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize("name", HOLES)
@pytest.mark.parametrize("layer", ["words", "answers", "checker"])
def test_each_layer_closes_the_holes_alone(name, layer, monkeypatch, tmp_path):
    """The three holes with two of the three layers taken away."""
    text, _, line = HOLES[name]
    said = {"words": "assume", "answers": line, "checker": "the checker refuses"}[layer]
    if layer != "words":
        monkeypatch.setattr(proofs, "assumptions", lambda folder: [])
    if layer == "answers":
        monkeypatch.setattr(proofs, "recheck", lambda folder, build: None)
    with pytest.raises(BuildError, match=said):
        proofs.check_proofs(small(tmp_path, text), tmp_path / "build")


@pytest.mark.slow
@needs_coq
def test_an_axiom_that_is_not_allowed_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(proofs, "assumptions", lambda folder: [])
    text, _ = PLANTED["an axiom of another library"]
    with pytest.raises(BuildError, match=r"proof_irrelevance"):
        proofs.check_proofs(small(tmp_path, text), tmp_path / "build")
