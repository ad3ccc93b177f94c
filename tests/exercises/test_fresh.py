"""Other numbers for the same exercise: who has understood it is right, who remembers is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import momab
from momab import exercises
from momab.book import editions
from momab.book.project import Project
from momab.exercises import core
from momab.exercises.core import Exercise
from momab.exercises.draws import Draw
from tests.conftest import ROOT

EVERY = [e for chapter in exercises.chapters() for e in exercises.of_chapter(chapter)]
FUNCTIONS = [e for e in EVERY if e.cases]
SEEDS = pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))]
)


def verdict(exercise: Exercise, answer: object) -> core.Verdict:
    return exercise.judge(exercise.outcomes(answer))


def drawn(exercise: Exercise, seed: int) -> Exercise:
    return exercise.fresh(Draw(seed, "ada", exercise.name))


def _flat(call: object) -> list[Any]:
    if isinstance(call, list | tuple | np.ndarray):
        return [leaf for item in call for leaf in _flat(item)]
    return [call]


def _distance(first: object, second: object) -> float:
    a, b = _flat(first), _flat(second)
    if len(a) != len(b):
        return float("inf")
    numbers = (int, float, np.number, bool, np.bool_)
    return sum(
        abs(float(x) - float(y)) if isinstance(x, numbers) and isinstance(y, numbers) else x != y
        for x, y in zip(a, b, strict=True)
    )


def memorisers(exercise: Exercise) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Answers that know all outcomes of the check by heart, and nothing else."""
    known = list(
        zip(exercise.calls, (o.value for o in exercise.outcomes(exercise.solution)), strict=True)
    )

    def exact(*call: Any) -> Any:
        return {repr(a): value for a, value in known}[repr(call)]

    def nearest(*call: Any) -> Any:
        return min(known, key=lambda pair: _distance(pair[0], call))[1]

    def usual(*call: Any) -> Any:
        outcomes = [core.plain(value) for _, value in known]
        often = max(outcomes, key=outcomes.count)
        return {repr(a): value for a, value in known}.get(repr(call), often)

    order = cycle(value for _, value in known)
    yield "exact", exact
    yield "nearest", nearest
    yield "most frequent", usual
    yield "in turn", lambda *call: next(order)


@SEEDS
@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: e.name)
def test_only_an_answer_that_understands_is_right_about_drawn_arguments(
    exercise: Exercise, seed: int
) -> None:
    fresh = drawn(exercise, seed)
    assert len(fresh.calls) >= 2 * len(exercise.calls)
    outcomes = fresh.outcomes(exercise.solution)
    assert all(outcome.error == "" for outcome in outcomes)
    found = fresh.judge(outcomes)
    assert found.right
    assert found.share == 1.0
    for name, answer in memorisers(exercise):
        found = verdict(fresh, answer)
        assert found.share == 0.0, f"{name}: {found.text()}"
        assert not found.right


@pytest.mark.slow
@pytest.mark.parametrize("chapter", exercises.chapters())
def test_worked_solutions_are_right_about_drawn_arguments(
    chapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: dict[str, Any] = {}
    monkeypatch.setattr(momab, "check", answers.__setitem__)
    space: dict[str, Any] = {}
    for label, cell in editions.solution_cells(Project.find(ROOT).notebook(chapter).node):
        if f'momab.check("{label}"' in cell.source:
            exec(compile(cell.source, label, "exec"), space)
    assert answers
    for name, answer in answers.items():
        for seed in range(10):
            found = verdict(drawn(exercises.find_exercise(name), seed), answer)
            assert found.right, found.text()


def test_draws_depend_on_seed_name_and_exercise_and_on_nothing_else() -> None:
    def words(*key: object) -> list[int]:
        draw = Draw(*key)  # type: ignore[arg-type]
        return [draw.word() for _ in range(9)]

    assert words(1, "ada", "x-1") == words(1, "ada", "x-1")
    others = [words(2, "ada", "x-1"), words(1, "ben", "x-1"), words(1, "ada", "x-2")]
    assert words(1, "ada", "x-1") not in others
    assert words(1, "ada", "x-1")[:2] == [4005396598, 1238226610]


def test_draws_stay_where_they_should() -> None:
    draw = Draw(3, "ada", "x-1")
    assert {draw.whole(2, 4) for _ in range(200)} == {2, 3, 4}
    assert sorted(draw.order(6)) == list(range(6))
    assert all(0.8 < draw.between(0.8, 1.25) < 1.25 for _ in range(200))


def test_what_belongs_together_changes_together() -> None:
    from momab.exercises.draws import counts, index_of, unit, varied

    means = np.array([[0.2, 0.2], [0.9, 1.0], [0.5, 0.0]])
    vary = [unit("Kd"), counts("K"), index_of("K")]
    other, pulls, arm = varied(vary, Draw(5, "ada", "x-1"), (means, [10, 20, 300], 1))
    assert {0.0, 1.0} <= set(other.ravel())
    order = np.argsort(means.ravel()).argsort()
    assert sorted(np.argsort(other.ravel()).argsort()) == sorted(order)
    assert pulls[arm] == sorted(pulls)[1]
    assert other[arm].max() == 1.0


def test_noise_earns_nothing() -> None:
    """Ten thousand drawn pairs of means met half of what zero-gap-2 asks for, and earned it."""
    exercise = exercises.find_exercise("zero-gap-2")
    for means in np.random.default_rng(1).random((200, 3, 2)).round(1):
        found = verdict(exercise, means.tolist())
        assert found.share == (1.0 if found.right else 0.0)
    wrong = [e for e in EVERY if not e.cases]
    assert {verdict(e, slip.answer).share for e in wrong for slip in e.slips} == {0.0}
