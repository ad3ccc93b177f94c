"""The cases notice every small change of a solution, and the wrong answers that once passed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from momab import exercises
from momab.exercises import core
from momab.exercises.draws import Draw
from tests.exercises import mutation

SAMPLE = ("refresher-3", "model-2")
VALUES = [e for chapter in exercises.chapters() for e in exercises.of_chapter(chapter) if e.aspects]


def unexplained(found: dict[str, tuple[int, list[str]]]) -> dict[str, list[str]]:
    known = mutation.equivalent()
    left = {
        label: [m for m in alive if m not in known.get(label, {})]
        for label, (_, alive) in found.items()
    }
    return {label: alive for label, alive in left.items() if alive}


def test_no_mutant_of_some_solutions_survives() -> None:
    found = mutation.survivors_apart(*SAMPLE)
    assert all(tried >= 6 for tried, _ in found.values())
    assert unexplained(found) == {}


@pytest.mark.slow
def test_no_mutant_of_any_solution_survives_unexplained() -> None:
    found = mutation.survivors_apart()
    print(sum(tried for tried, _ in found.values()), "mutants")
    assert sorted(found) == sorted(mutation.functions())
    assert sum(tried for tried, _ in found.values()) > 800
    assert unexplained(found) == {}
    alive = {label: set(mutants) for label, (_, mutants) in found.items() if mutants}
    stale = {k: set(v) - alive.get(k, set()) for k, v in mutation.equivalent().items()}
    assert not any(stale.values()), stale


WRONG: dict[str, Any] = {  # for aspects that no slip fails
    "certificates-6": {
        "means": [[0.4, 0.2], [0.5, 0.6]],
        "estimates": [[0.7146, 0.2], [0.2854, 0.6]],
        "counts": [400, 400],
    },
    "lower-bound-6": [[[0.29, 0.01], [0.01, 0.69]], [[0.01, 0.49], [0.49, 0.01]]],
    "model-1": [0.0, 0.3, 0.4, 0.0, 0.6],
    "one-objective-5": {"weights": [1.5, -0.5], "means": [[0.6, 0.0], [0.8, 0.6]]},
    "one-objective-6": [[0.85, 0.1], [0.1, 0.9], [0.8, 0.05]],
    "own-data-6": [[0.9, 0.5, 0.1], [0.5, 0.9, 0.1], [0.1, 0.1, 0.9], [0.0, 0.0, 0.0]],
    "sixty-runs-5": [0.004, 10.0, 1000.0],
    "synthetic-5": {"delta": 0.3, "p": 0.7, "g": 0.1, "eta": 0.2, "filler": 0.05},
}


@pytest.mark.parametrize("exercise", VALUES, ids=lambda e: e.name)
def test_a_known_wrong_answer_fails_every_aspect_of_an_example_but_its_kind(
    exercise: core.Exercise,
) -> None:
    failed = [0] * len(exercise.aspects)
    for answer in (*(slip.answer for slip in exercise.slips), WRONG.get(exercise.name)):
        parts = exercise.judge(exercise.outcomes(answer)).parts
        if len(parts) == len(failed):
            failed = [n + (not part.right) for n, part in zip(failed, parts, strict=True)]
    assert sum(n > 0 for n in failed) >= len(failed) - 1


# ---- wrong answers that once passed --------------------------------------------------------


def _decide(counts: Any, means: Any, T: int, c: float, how: str) -> tuple[bool, int, int]:
    """Algorithm 1's decision, misread in one way."""
    arms = range(len(counts))
    beta = np.sqrt(c * math.log(T) / counts)
    races, certified = [], []
    for j in range(means.shape[1]):
        upper = means[:, j] + beta
        order = sorted(arms if how != "last of ties" else arms[::-1], key=lambda a: -upper[a])
        leader, challenger = order[:2]
        if how == "best mean leads":
            leader = max(arms, key=lambda a: means[a, j])
            challenger = max((a for a in arms if a != leader), key=lambda a: upper[a])
        races.append((beta[leader] + beta[challenger], -j, leader, challenger))
        if means[leader, j] - beta[leader] > upper[challenger]:
            certified.append(races[-1])
    _, j, leader, challenger = max(certified or races)
    if certified:
        return True, -j, leader
    pair = sorted([leader, challenger])
    if how == "leader of equals":
        pair = [leader, challenger]
    return False, -j, max(pair, key=lambda a: beta[a])


@pytest.mark.parametrize("how", ["best mean leads", "last of ties", "leader of equals"])
def test_a_misread_decision_is_noticed(how: str) -> None:
    exercise = exercises.find_exercise("algorithm-3")

    def answer(counts: Any, means: Any, horizon: int, c: float) -> tuple[bool, int, int]:
        return _decide(counts, means, horizon, c, how)

    assert not exercise.judge(exercise.outcomes(answer)).right
    right = exercise.outcomes(lambda n, m, T, c: _decide(n, m, T, c, "as it is"))
    assert exercise.judge(right).right


@pytest.mark.parametrize(("several", "cheap_arms"), [(4, 1), (3, 2)], ids=["four", "two cheap"])
def test_a_misread_group_is_noticed(several: int, cheap_arms: int) -> None:
    exercise = exercises.find_exercise("real-data-3")

    def label_of(gaps: list[float]) -> str:
        cheap = sum(0 < gap <= 0.002 for gap in gaps)
        misleading = sum(0.002 < gap <= 0.02 for gap in gaps)
        separated = sum(gap > 0.02 for gap in gaps)
        if misleading >= 3:
            return "misleading"
        if misleading + separated == 0 and cheap >= cheap_arms:
            return "friendly"
        return "easy" if misleading + cheap == 0 and separated >= several else ""

    assert not exercise.judge(exercise.outcomes(label_of)).right


def test_counts_of_the_floor_are_counts_within_the_horizon() -> None:
    """An answer that adds that an arm has at most T samples is right as well."""
    exercise = exercises.find_exercise("width-floor-3")
    for seed in range(20):
        fresh = exercise.fresh(Draw(seed, "ada", exercise.name))
        for call, outcome in zip(fresh.calls, fresh.outcomes(fresh.solution), strict=True):
            assert outcome.value < call[1] or outcome.value == math.inf


def test_a_wrong_shape_is_said_before_anything_about_mathematics() -> None:
    exercise = exercises.find_exercise("model-3")
    hint = exercise.judge(exercise.outcomes(lambda means: 0.25)).hint
    assert hint == (
        "The answer has the wrong shape: it gives a number, and should give a list of 2 numbers."
    )
    exercise = exercises.find_exercise("algorithm-3")
    hint = exercise.judge(exercise.outcomes(lambda *call: (True, 0))).hint
    assert hint.startswith("The answer has the wrong shape: it gives a list of 2 different things")
