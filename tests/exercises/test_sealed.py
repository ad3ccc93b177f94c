"""Sealed checks say what the judges say, and do not hold what the judges know."""

import ast
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab import exercises
from momab.course import sealing
from momab.errors import BuildError
from momab.exercises import core, sealed
from momab.exercises.draws import Draw
from momab.exercises.sealed import Seal
from tests.exercises import memory

EVERY = [e for chapter in exercises.chapters() for e in exercises.of_chapter(chapter)]
NUMBERS = st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-6)


def check_of(judge: core.Exercise) -> sealed.SealedExercise:
    entry = json.loads(json.dumps(sealing._entry(judge)))
    return sealed._exercise(entry, judge.aspects, judge.personal)


def verdict(exercise: core.Exercise, answer: object) -> core.Verdict:
    return exercise.judge(exercise.outcomes(answer))


@given(NUMBERS, st.floats(-1, 1))
def test_a_seal_opens_within_the_tolerance_and_not_beyond_twice_of_it(x: float, off: float) -> None:
    seal = Seal.of([x, "word"], "key", 1e-3)
    near = x * (1 + off * 1e-3)
    if math.isclose(near, x, rel_tol=1e-3):
        assert seal.opens([near, "word"])
    for far in (x * (1 + 2.1e-3), x * (1 - 2.1e-3), -x, 0.0, math.nan, math.inf):
        assert not seal.opens([far, "word"])
    assert not seal.opens([x, "other"])
    assert not seal.opens([x])
    assert not seal.opens([[x], "word"])


@pytest.mark.parametrize(
    ("value", "others"),
    [
        ([True, False], ([False, True], [True], [[True, False]], [True, True])),
        (3, (4, [3], "3", 2.9)),
        ("easy", ("", "Easy", ["easy"])),
        ([1, 2.5], ([1], [2.5, 1], [1, 2.5, 0])),
        ({"a": 1.5, "b": 0}, ({"a": 1.5}, {"a": 1.5, "c": 0}, [1.5, 0])),
        (math.inf, (-math.inf, math.nan, 1e300)),
        (0.0, (1e-6, True)),
    ],
)
def test_a_seal_tells_shapes_and_values_apart(value: object, others: tuple[object, ...]) -> None:
    seal = Seal.of(value, "key")
    assert seal.opens(value)
    assert not any(seal.opens(other) for other in others)


def test_truth_values_and_whole_numbers_are_the_same_as_for_the_judges() -> None:
    for found, wanted in ((1, True), (1.0, True), (3.0, 3), (True, 1), (2, True), (0, False)):
        assert Seal.of(wanted, "key").opens(found) == core.close(found, wanted)
    assert Seal.of([2, 0], "key", members=True).opens([0, 2])
    assert not Seal.of([2, 0], "key", members=True).opens([0, 0])


@pytest.mark.parametrize("judge", EVERY, ids=lambda e: e.name)
def test_a_sealed_check_says_what_its_judge_says(judge: core.Exercise) -> None:
    check = check_of(judge)
    assert check.solution is None
    assert check.vary is None
    wrong = [None, 7, "word", [], [[0.1]], lambda *_: 0.25, lambda *_: 1 / 0, lambda: 1]
    wrong += [lambda *given: given[0], lambda *given: [0.0] * len(np.atleast_1d(given[0]))]
    for answer in (judge.solution, *(slip.answer for slip in judge.slips), *wrong):
        assert verdict(check, answer) == verdict(judge, answer)


@pytest.mark.parametrize("judge", [e for e in EVERY if not e.cases], ids=lambda e: e.name)
def test_a_sealed_check_knows_the_same_copies_and_no_answer_to_them(judge: core.Exercise) -> None:
    made = sealing._run(sealing.seal_chapter(judge.name.rpartition("-")[0]))
    check = next(one for one in made if one.name == judge.name)
    for number in (0, 1, 77, 2**40):
        sentence, own = judge.variant(Draw(number, "copy", judge.name))
        told, sealed_copy = check.variant(Draw(number, "copy", judge.name))
        assert told == sentence
        assert sealed_copy.solution is None
        assert not any(slip.answer for slip in sealed_copy.slips)
        right = memory.solved(judge, own)
        assert verdict(sealed_copy, right).right
        for answer in (judge.solution, *(slip.answer for slip in own.slips), None, 7, [[0.1]]):
            assert verdict(sealed_copy, answer).parts == verdict(own, answer).parts


def test_what_a_copy_demands_does_not_tell_the_worked_solution() -> None:
    for judge in EVERY:
        if isinstance(own := judge.personal, core.Personal):
            assert not any(core.close(own.find(judge.solution), value) for value in own.values)


def test_an_answer_that_is_off_by_little_opens_no_seal() -> None:
    judge = exercises.find_exercise("certificates-3")
    check = check_of(judge)
    assert not verdict(check, lambda *given: judge.solution(*given) * (1 + 1e-5)).right
    assert verdict(check, lambda *given: judge.solution(*given) * (1 + 1e-7)).right


def test_arguments_come_back_as_they_were() -> None:
    for given_ in (np.eye(2), np.arange(3), [1, (0.5, "x")], 0.1 + 0.2, "sum", True, None):
        back = sealed.read_argument(json.loads(json.dumps(sealed.write(given_))))
        assert type(back) is type(given_)
        assert np.array_equal(back, given_) if isinstance(back, np.ndarray) else back == given_
    with pytest.raises(TypeError, match="type set cannot be written"):
        sealed.write({1})


@pytest.mark.parametrize("chapter", exercises.chapters())
def test_a_sealed_module_holds_no_solution_and_no_slip(chapter: str) -> None:
    made = sealing.seal_chapter(chapter)
    tree = ast.parse(made.module)
    kept = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for judge in exercises.of_chapter(chapter):
        if judge.cases:
            assert judge.solution.__name__ not in kept
        assert json.dumps(core.plain(judge.solution)) not in made.data if not judge.cases else True
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert {call.func.id for call in calls} & {"Slip", "Case", "function", "value"} == set()
    assert "vary" not in made.module + made.data
    assert made == sealing.seal_chapter(chapter), "equal sources give equal bytes"


def test_an_aspect_that_uses_a_solution_is_refused() -> None:
    source = (
        "def twice(x):\n    return 2 * x\n\n"
        "EXERCISES = (function('a-1', twice, [], []), "
        "value('a-2', 'a number', 4, [Aspect('it', lambda found: found == twice(2), 'no')], []))\n"
    )
    with pytest.raises(BuildError, match="twice is the solution of a-1"):
        sealing._shaken(source, "a", {"a-1", "a-2"})


def test_an_aspect_that_needs_what_students_lack_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shaken = sealing._shaken
    monkeypatch.setattr(
        sealing, "_shaken", lambda *given: shaken(*given).replace("means[2] = ", "nowhere[2] = ")
    )
    with pytest.raises(NameError, match="nowhere"):
        sealing.seal_chapter("model")
    monkeypatch.setattr(
        sealing, "_shaken", lambda *given: shaken(*given).replace("gaps[2]", "nowhere[2]")
    )
    with pytest.raises(BuildError, match="model-1: the sealed check differs"):
        sealing.seal_chapter("model")


def test_a_check_that_says_something_else_is_refused() -> None:
    judge = exercises.find_exercise("model-3")
    entry = sealing._entry(judge)
    entry["wanted"] = entry["wanted"][::-1]
    with pytest.raises(BuildError, match="model-3: the sealed check differs"):
        sealing._compare(judge, sealed._exercise(entry, ()))
