"""A planted change of a hypothesis or a constant does not get through."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from momab.book import proofs
from momab.errors import BuildError
from tests.conftest import ROOT
from tests.proofs.test_record import needs_coq

FOLDER = ROOT / "proofs"

MUTATIONS = {
    "radius halved": (
        "Algorithm.v",
        "R := sqrt (c * ln (INR T) / INR n).",
        "R := sqrt (c * ln (INR T) / INR n / 4).",
        "pull_count",
    ),
    "certificate from the mean": (
        "Algorithm.v",
        "L h (b j) j > U h (e j) j.",
        "mean h (b j) j > U h (e j) j.",
        "lemma_9",
    ),
    "narrowest race": (
        "Algorithm.v",
        "(forall i, (i < d)%nat -> width h b e i <= width h b e j) /\\",
        "(forall i, (i < d)%nat -> width h b e j <= width h b e i) /\\",
        "decision_exists",
    ),
    "intervals twice as wide on the event": (
        "Lemmas.v",
        "Rabs (mean h a j - mu a j) <= beta h a.",
        "Rabs (mean h a j - mu a j) <= 2 * beta h a.",
        "bounds",
    ),
    "charge of three radii": (
        "Lemmas.v",
        "decision K d T c h None a None -> gap a <= 4 * beta h a.",
        "decision K d T c h None a None -> gap a <= 3 * beta h a.",
        "lemma_10",
    ),
    "floor of g instead of g/2": (
        "Lemmas.v",
        "lead K mu j / 2 <= width T c h b e j.",
        "lead K mu j <= width T c h b e j.",
        "width_floor",
    ),
    "31 for 32": (
        "Theorem.v",
        "+ 32 * ln (INR T)\n      * sum K (fun a => gap K d mu a / Rmax (gap K d mu a)",
        "+ 31 * ln (INR T)\n      * sum K (fun a => gap K d mu a / Rmax (gap K d mu a)",
        "pathwise_sharper",
    ),
    "largest for smallest in the gap": (
        "Pareto.v",
        "Rmax 0 (maxb K (fun b => minb d (fun j => mu b j - mu a j))).",
        "Rmax 0 (maxb K (fun b => maxb d (fun j => mu b j - mu a j))).",
        "gap_ge",
    ),
    "a smaller moment": (
        "Hoeffding.v",
        "<= exp (s * s / 8).",
        "<= exp (s * s / 9).",
        "hoeffding_lemma",
    ),
    "T^4 for T^3": (
        "Expectation.v",
        "bad K d T 2 means y) <= 2 * INR K * INR d / INR T ^ 3.",
        "bad K d T 2 means y) <= 2 * INR K * INR d / INR T ^ 4.",
        "proposition_8",
    ),
    "1/2 for 3/8": (
        "LaiRobbins.v",
        "EN T (S i)) / ln (INR T))\n    (3 / 8 * (INR K - 1) / D).",
        "EN T (S i)) / ln (INR T))\n    (1 / 2 * (INR K - 1) / D).",
        "constant_from_pulls",
    ),
    "63 for 64": (
        "PucbComparison.v",
        "64 < C_PUCB <->",
        "63 < C_PUCB <->",
        "remark_5",
    ),
    "Pinsker with 3": (
        "Kl.v",
        "0 < q < 1 -> 2 * (p - q) ^ 2 <= kl p q.\nProof.\n  intros Hp Hq. destruct",
        "0 < q < 1 -> 3 * (p - q) ^ 2 <= kl p q.\nProof.\n  intros Hp Hq. destruct",
        "pinsker",
    ),
    "the ratio upside down": (
        "Change.v",
        "Definition llr (x : vector) : R := ln (w b x / w' b x).",
        "Definition llr (x : vector) : R := ln (w' b x / w b x).",
        "ratio_is",
    ),
    "good for large powers only": (
        "Policies.v",
        "forall alpha eps, 0 < alpha -> 0 < eps ->\n  exists n0",
        "forall alpha eps, 1 < alpha -> 0 < eps ->\n  exists n0",
        "pair_rare",
    ),
    "a rival that only draws level": (
        "PriceTheorem.v",
        "if (i =? b)%nat then Rmax (mu b j) (mu a j + eta) else mu i j.",
        "if (i =? b)%nat then Rmax (mu b j) (mu a j) else mu i j.",
        "bernoulli_rival",
    ),
    "the most expensive candidate": (
        "Price.v",
        "forall a, (a < K)%nat -> gap K d mu a = 0 -> C <= price_of K d mu a.",
        "forall a, (a < K)%nat -> gap K d mu a = 0 -> price_of K d mu a <= C.",
        "price_exists",
    ),
    "the smaller radius explored": (
        "GoodPolicy.v",
        "then first_challenger h j else first_leader h j.",
        "then first_leader h j else first_challenger h j.",
        "decide_is_decision",
    ),
    "a bound that is trivial": (
        "Sanity.v",
        "exists D, play 2 1 (2 ^ 15) (bernoulli 1 two) D /\\\n"
        "  E D (fun x => regret 2 1 two (snd x)) < INR (2 ^ 15) * gap_max 2 1 two.",
        "exists D, play 2 1 (2 ^ 15) (bernoulli 1 two) D /\\\n"
        "  E D (fun x => regret 2 1 two (snd x)) < INR (2 ^ 12) * gap_max 2 1 two.",
        "theorem_4_not_trivial",
    ),
    "one side for both": (
        "Chernoff.v",
        "(E D f)) then true else false)\n  <= 2 * exp (- y).",
        "(E D f)) then true else false)\n  <= exp (- y).",
        "chernoff_kl",
    ),
    "kl intervals half as long": (
        "KlExpectation.v",
        "kl_misses mu Y a j (S m) (2 * c * ln (INR T))))).",
        "kl_misses mu Y a j (S m) (c * ln (INR T))))).",
        "kl_proposition_8",
    ),
    "an index without log N": (
        "ParetoImed.v",
        "| Some x => Some (INR (count h b) * x + ln (INR (count h b)))",
        "| Some x => Some (INR (count h b) * x)",
        "own_index",
    ),
    "bad luck as rare as twice the evidence": (
        "ImedRegret.v",
        "<= exp (- y) * exp (- (INR n * (2 * (E D f - q) ^ 2))).",
        "<= exp (- y) * exp (- (INR n * (4 * (E D f - q) ^ 2))).",
        "low_average",
    ),
    "half of log T over delta": (
        "ImedRegret.v",
        "<= 1 + waste K d mu eps + ln (INR T) / delta.",
        "<= 1 + waste K d mu eps + ln (INR T) / (2 * delta).",
        "imed_pulls_bound",
    ),
}
"""Planted changes: the file, the text, what stands there instead, and the step of the proof that
fails."""


def failing_step(folder: Path, said: str) -> str:
    """The lemma or theorem in which Coq found the error."""
    place = re.search(r'File "\./(\w+\.v)", line (\d+)', said)
    lines = (folder / place[1]).read_text().splitlines()[: int(place[2])]
    return re.findall(r"^(?:Lemma|Theorem) (\w+)", "\n".join(lines), re.MULTILINE)[-1]


def mutated(name: str, folder: Path) -> Path:
    """A copy of the folder of the proofs with one planted change."""
    file, old, new, _ = MUTATIONS[name]
    shutil.copytree(FOLDER, folder)
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace(old, new))
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """The sources, compiled once."""
    build = tmp_path_factory.mktemp("proofs") / "build"
    proofs.compile_proofs(FOLDER, build)
    return build


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_changes_one_place(name):
    file, old, new, _ = MUTATIONS[name]
    assert (FOLDER / file).read_text().count(old) == 1
    assert old != new


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_are_refused(name, compiled, tmp_path):
    """By the check that `make proofs` makes, which here compiles only what the change touches."""
    build = tmp_path / "build"
    shutil.copytree(compiled, build, copy_function=shutil.copy2)
    folder = mutated(name, tmp_path / "proofs")
    with pytest.raises(BuildError, match="not accepted") as refused:
        proofs.check_proofs(folder, build)
    assert "Error:" in str(refused.value)
    assert "Syntax error" not in str(refused.value)
    assert failing_step(folder, str(refused.value)) == MUTATIONS[name][3]


@needs_coq
def test_make_proofs_fails_and_keeps_the_record(tmp_path):
    """The command itself, in a tree of its own, with the change whose file is compiled first."""
    folder = mutated("largest for smallest in the gap", tmp_path / "proofs")
    (tmp_path / "notebooks").mkdir()
    for name in ("Makefile", "_toc.yml", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    command = tmp_path / "venv" / "bin" / "momab"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m momab "$@"\n')
    command.chmod(0o755)
    (tmp_path / "venv" / ".book-for-python3").touch()
    plain = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    said = subprocess.run(
        ["make", "proofs", "VENV=venv", "PYTHON=python3"],
        cwd=tmp_path,
        env=plain | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode != 0
    assert "momab: the proofs were not accepted" in said.stderr
    assert "Pareto.v" in said.stderr
    assert (folder / proofs.RECORD).read_bytes() == (FOLDER / proofs.RECORD).read_bytes()
    assert not proofs.read_record(folder).current(folder)


@needs_coq
def test_what_was_compiled_before_is_checked_as_strictly(tmp_path):
    """A folder of an earlier check hides no change of the sources."""
    folder, build = tmp_path / "proofs", tmp_path / "build"
    folder.mkdir()
    (folder / "_CoqProject").write_text("-Q . Momab\nA.v\nB.v\n")
    (folder / "A.v").write_text("Definition x := 1.\n")
    (folder / "B.v").write_text(
        "Require Import Momab.A.\nTheorem one : x = 1.\nProof. reflexivity. Qed.\n"
    )
    assert [theorem.name for theorem in proofs.check_proofs(folder, build).theorems] == ["one"]
    (folder / "A.v").write_text("Definition x := 2.\n")
    with pytest.raises(BuildError, match="not accepted"):
        proofs.check_proofs(folder, build)
