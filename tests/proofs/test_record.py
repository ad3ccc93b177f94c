"""What is recorded as machine-checked is what stands in the sources, and rests on little."""

import json
import shutil
from dataclasses import replace

import pytest

from momab.book import gate, proofs
from momab.errors import BuildError, MomabError
from tests.command import run
from tests.conftest import ROOT

FOLDER = ROOT / "proofs"
needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="skipped: needs Coq (apt-get install coq)"
)

THEOREM_4 = """
forall (K d T : nat) (mu : nat -> vector),
(2 <= K)%nat -> (1 <= d)%nat -> (K <= T)%nat ->
(forall a j : nat, (a < K)%nat -> (j < d)%nat -> 0 <= mu a j <= 1) ->
forall D : law (table * history),
play K d T (bernoulli d mu) D -> 0 < g_dagger K d mu ->
E D (fun x : table * history => regret K d mu (snd x)) <=
INR K * gap_max K d mu + 64 * (INR K * ln (INR T) / g_dagger K d mu) +
2 * INR K * INR d * gap_max K d mu / INR T ^ 2
"""


PRICE = """
forall (K d : nat) (mu : nat -> vector),
(1 <= d)%nat ->
(forall a j : nat, (a < K)%nat -> (j < d)%nat -> 0 < mu a j < 1) ->
forall (pi : policy) (C : R),
admissible K pi -> uniformly_good K d (independent K d) pi -> is_price K d mu C ->
liminf_at_least
  (fun T : nat => E (outcomes (bernoulli d mu) pi T) (regret K d mu) / ln (INR T)) C
"""

PROPOSITION_3 = """
forall (K d : nat) (D : R) (pi : policy),
(2 <= K)%nat -> (1 <= d)%nat -> 0 < D <= 1 / 4 ->
admissible K pi -> uniformly_good K d (copies K) pi ->
liminf_at_least
  (fun T : nat => E (outcomes (copied (fun a : nat => duplicated D a 0)) pi T)
                    (regret K d (duplicated D)) / ln (INR T)) (3 / 8 * (INR K - 1) / D)
"""


def copied(tmp_path):
    folder = tmp_path / "proofs"
    shutil.copytree(FOLDER, folder)
    return folder


def small(tmp_path, text):
    """A folder with one source."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "_CoqProject").write_text("-Q . Momab\nSmall.v\n")
    (folder / "Small.v").write_text(text)
    return folder


def test_the_record_is_of_these_sources():
    assert proofs.read_record(FOLDER).current(FOLDER), "run `make proofs`"


def test_every_source_is_compiled():
    assert {path.name for path in proofs.sources(FOLDER)} == {p.name for p in FOLDER.glob("*.v")}


def test_every_theorem_is_recorded_where_it_stands():
    recorded = proofs.read_record(FOLDER).theorems
    places = [(theorem.name, theorem.file, theorem.line) for theorem in recorded]
    assert places == [(t.name, t.file, t.line) for t in proofs.advertised(FOLDER)]
    names = [theorem.name for theorem in recorded]
    assert len(set(names)) == len(names)


def test_theorems_rest_on_real_numbers_and_classical_logic_only():
    record = proofs.read_record(FOLDER)
    for theorem in record.theorems:
        assert set(theorem.axioms) <= set(gate.AXIOMS), theorem.name
        assert theorem.statement
    assert record.coq.startswith("8.16")


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("theorem_4_bernoulli", THEOREM_4),
        ("price_theorem", PRICE),
        ("proposition_3", PROPOSITION_3),
    ],
)
def test_the_headlines_say_this_and_have_no_other_hypothesis(name, statement):
    [theorem] = [t for t in proofs.read_record(FOLDER).theorems if t.name == name]
    assert theorem.statement.split() == statement.split()


def test_nothing_is_assumed_in_the_sources():
    assert proofs.assumptions(FOLDER) == []


def test_changed_sources_are_not_current(tmp_path):
    folder = copied(tmp_path)
    record = proofs.read_record(folder)
    assert record.current(folder)
    path = folder / "Lemmas.v"
    path.write_text(path.read_text() + "\n")
    assert not record.current(folder)


def test_the_same_outcome_keeps_its_date(tmp_path):
    folder = copied(tmp_path)
    record = proofs.read_record(folder)
    proofs.write_record(folder, replace(record, date="2199-01-01"))
    assert proofs.read_record(folder) == record
    later = replace(record, date="2199-01-01", coq="8.99")
    proofs.write_record(folder, later)
    assert proofs.read_record(folder) == later


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"theorems": [{}]})])
def test_a_damaged_record_says_what_to_do(tmp_path, text):
    folder = copied(tmp_path)
    (folder / proofs.RECORD).write_text(text)
    with pytest.raises(MomabError, match="make proofs"):
        proofs.read_record(folder)


def test_without_coq_one_sentence_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(monkeypatch, "tools", "proofs") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "momab: checking the proofs needs Coq 8.16 and make: apt-get install coq make.\n"
    )


@needs_coq
def test_a_small_proof_is_checked(tmp_path):
    folder = small(tmp_path, "Theorem easy : forall n : nat, n = n.\nProof. reflexivity. Qed.\n")
    record = proofs.check_proofs(folder, tmp_path / "build")
    [theorem] = record.theorems
    assert (theorem.name, theorem.line, theorem.axioms) == ("easy", 1, ())
    assert theorem.statement == "forall n : nat, n = n"


@needs_coq
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Theorem wrong : 1 = 2.\nProof. reflexivity. Qed.\n", "not accepted"),
        ("Axiom no : False.\nTheorem all : 1 = 2.\nProof. destruct no. Qed.\n", "assume"),
    ],
)
def test_what_is_not_proved_is_refused(tmp_path, text, said):
    with pytest.raises(BuildError, match=said):
        proofs.check_proofs(small(tmp_path, text), tmp_path / "build")


@pytest.mark.slow
@needs_coq
def test_the_proofs_are_accepted_again(tmp_path):
    record = proofs.check_proofs(FOLDER, tmp_path / "build")
    assert replace(record, date="") == replace(proofs.read_record(FOLDER), date="")
