"""Other numbers for the same exercise: who has understood it is right, who remembers is not."""

from __future__ import annotations

import numpy as np
import pytest

from momab import exercises
from momab.exercises import core
from momab.exercises.core import Exercise, Personal
from momab.exercises.draws import Draw
from tests.exercises import memory

EVERY = [e for chapter in exercises.chapters() for e in exercises.of_chapter(chapter)]
FUNCTIONS = [e for e in EVERY if e.cases]
VALUES = [e for e in EVERY if not e.cases]
SEEDS = range(3)


def verdict(exercise: Exercise, answer: object) -> core.Verdict:
    return exercise.judge(exercise.outcomes(answer))


def drawn(exercise: Exercise, seed: int) -> Exercise:
    return exercise.fresh(Draw(seed, "ada", exercise.name))


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: e.name)
def test_the_solution_is_right_about_every_drawn_argument(exercise: Exercise) -> None:
    for seed in SEEDS:
        fresh = drawn(exercise, seed)
        assert len(fresh.calls) >= 2 * len(exercise.calls)
        outcomes = fresh.outcomes(exercise.solution)
        assert all(outcome.error == "" for outcome in outcomes)
        found = fresh.judge(outcomes)
        assert found.right
        assert found.share == 1.0


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: e.name)
def test_who_remembers_outcomes_gets_nothing(exercise: Exercise) -> None:
    for seed in SEEDS:
        fresh = drawn(exercise, seed)
        for name, answer in memory.memorisers(exercise):
            found = verdict(fresh, answer)
            assert found.share == 0.0, f"{name}, seed {seed}: {found.text()}"
            assert not found.right


@pytest.mark.parametrize("exercise", VALUES, ids=lambda e: e.name)
def test_every_copy_of_an_example_can_be_solved_and_needs_an_answer_of_its_own(
    exercise: Exercise,
) -> None:
    seen = set()
    for seed in range(40):
        sentence, copy = exercise.variant(Draw(seed, "ben", exercise.name))
        seen.add(sentence)
        assert verdict(copy, memory.solved(exercise, copy)).right, sentence
        old = verdict(copy, exercise.solution)
        assert not old.right
        assert old.share == 0.0
    assert len(seen) >= 4


@pytest.mark.parametrize("exercise", VALUES, ids=lambda e: e.name)
def test_every_demanded_number_leaves_the_exercise_solvable(exercise: Exercise) -> None:
    if isinstance(own := exercise.personal, Personal):
        for number in own.values:
            found = verdict(exercise, memory.SOLVED[exercise.name](number))
            assert found.right, (number, found.text())


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
