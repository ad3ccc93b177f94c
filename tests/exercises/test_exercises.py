"""The exercises that check themselves: right answers pass, wrong ones fail and get help."""

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momab
from momab import exercises
from momab.errors import MomabError
from momab.exercises import core

EVERY = [e for chapter in exercises.chapters() for e in exercises.of_chapter(chapter)]
SLIPS = [(e, n) for e in EVERY for n in range(len(e.slips))]


def verdict(exercise: core.Exercise, answer: object) -> core.Verdict:
    return exercise.judge(exercise.outcomes(answer))


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_the_solution_passes_and_needs_no_hint(exercise: core.Exercise) -> None:
    found = verdict(exercise, exercise.solution)
    assert found.right, found.text()
    assert not found.hint
    assert all(outcome.error == "" for outcome in exercise.outcomes(exercise.solution))


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_names_are_chapter_and_number_and_answers_have_one_to_three_slips(
    exercise: core.Exercise,
) -> None:
    assert re.fullmatch(r"[a-z0-9-]+-\d+", exercise.name)
    assert exercises.find_exercise(exercise.name) is exercise
    assert 1 <= len(exercise.slips) <= 3
    assert len({slip.hint for slip in exercise.slips}) == len(exercise.slips)
    assert len(exercise.cases or exercise.aspects) >= 2 or not exercise.cases


@pytest.mark.parametrize(("exercise", "number"), SLIPS, ids=lambda x: getattr(x, "name", x))
def test_a_slip_fails_with_its_own_hint(exercise: core.Exercise, number: int) -> None:
    slip = exercise.slips[number]
    found = verdict(exercise, slip.answer)
    assert not found.right
    assert found.hint == slip.hint, "another slip gives the same outcomes, or the slip fails to run"
    assert len(slip.hint.split()) >= 6
    assert all(outcome.error == "" for outcome in exercise.outcomes(slip.answer))


def _leaves(value: Any) -> list[float]:
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return _leaves(list(value.values()))
    return [value] if isinstance(value, float) and value not in (0.0, 1.0) else []


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_no_verdict_tells_the_right_numbers(exercise: core.Exercise) -> None:
    """Computed numbers of the solution stand in no hint and no finding.

    Round numbers are everywhere in a text, so only those with four digits and more count.
    """
    told = {f"{x:.6g}" for o in exercise.outcomes(exercise.solution) for x in _leaves(o.value)}
    told = {text for text in told if len(text.lstrip("-0.").replace(".", "")) >= 4}
    given = {f"{x:.6g}" for call in exercise.calls for x in _leaves(_plain(call))}
    for answer in [*(slip.answer for slip in exercise.slips), 0.123456, lambda *a: 0.123456]:
        found = verdict(exercise, answer)
        right = {f"{x:.6g}" for o in exercise.outcomes(answer) for x in _leaves(o.value)}
        numbers = set(re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", found.text()))
        assert not numbers & (told - given - right)


def _plain(call: tuple[Any, ...]) -> list[Any]:
    parts = []
    for argument in call:
        try:
            parts.append(core.plain(argument))
        except core.UnreadableError:
            continue
    return parts


def _raises(*arguments: object) -> None:
    raise ValueError("no")


UNFIT: list[tuple[str, object]] = [
    ("nothing", None),
    ("ellipsis", ...),
    ("a text", "pass"),
    ("a function that raises", _raises),
    ("a function of nothing", lambda: 0),
    ("a function that gives nothing", lambda *a: None),
    ("a function that gives a function", lambda *a: print),
    ("a function that gives nan", lambda *a: math.nan),
    ("nan", math.nan),
    ("a generator", lambda *a: (n for n in range(3))),
    ("nested too deep", [[[[[[[[[[1]]]]]]]]]]),
]


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
@pytest.mark.parametrize(("label", "answer"), UNFIT, ids=[label for label, _ in UNFIT])
def test_unfit_answers_are_explained(exercise: core.Exercise, label: str, answer: object) -> None:
    found = verdict(exercise, answer)
    assert not found.right
    assert found.hint
    assert any(part.found for part in found.parts)


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_outcomes_survive_json(exercise: core.Exercise) -> None:
    import json

    outcomes = exercise.outcomes(exercise.solution)
    sent = json.loads(json.dumps([outcome.to_json() for outcome in outcomes]))
    assert exercise.judge([core.Outcome.from_json(data) for data in sent]).right


@pytest.mark.parametrize("data", [None, 3, {}, {"value": 1, "error": "x"}, {"error": 3}, [1]])
def test_malformed_outcomes_are_refused(data: object) -> None:
    with pytest.raises(MomabError, match="an outcome is"):
        core.Outcome.from_json(data)


def test_an_answer_cannot_change_the_arguments_of_the_next_call() -> None:
    def greedy(row: list[float]) -> float:
        return row.pop()

    calls = (([1.0, 2.0],), ([1.0, 2.0],))
    exercise = core.function("x-1", lambda row: row[-1], [core.Case("all", calls, "h")], [])
    assert verdict(exercise, greedy).right
    assert exercise.calls == calls


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    name = EVERY[0].name
    with pytest.raises(MomabError, match=name):
        momab.check(name.rpartition("-")[0] + "-99", 1)
    with pytest.raises(MomabError, match="chapter and a number"):
        momab.check("nonsense", 1)


def test_check_prints_where_there_is_no_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    momab.check(EVERY[0].name, EVERY[0].solution)
    assert capsys.readouterr().out.startswith(f"{EVERY[0].name}: right.")
    momab.check(EVERY[0].name, None)
    assert "Hint:" in capsys.readouterr().out


@given(
    st.recursive(st.floats() | st.integers() | st.text() | st.booleans(), st.lists, max_leaves=9)
)
def test_plain_data_are_close_to_themselves(value: Any) -> None:
    kept = core.plain(value)
    assert core.close(kept, core.plain(value))


@given(st.floats(0.01, 100), st.floats(0.001, 0.5))
def test_close_is_relative(value: float, error: float) -> None:
    assert core.close(value * (1 + 1e-9), value)
    assert not core.close(value * (1 + error), value)
    assert core.within(2 * error)(value * (1 + error), value)


def test_close_compares_shapes_and_kinds() -> None:
    assert not core.close([1.0], 1.0)
    assert not core.close(1.0, [1.0])
    assert not core.close([1.0, 2.0], [1.0])
    assert core.close(core.plain(np.array([True, False])), [True, False])
    assert core.close([1, 0], [True, False])
    assert not core.close([2, 0], [True, False])
    assert not core.close("1", 1.0)
    assert core.close({"a": 1}, {"a": 1.0})
    assert not core.close({"a": 1}, {"b": 1})
    assert core.same_members([2, 1], [1, 2])
    assert not core.same_members([1, 1], [1, 2])
    assert not core.same_members([1], [1, 2])
    assert not core.same_members(1, [1])


def test_verdicts_escape_what_they_quote() -> None:
    part = core.Part("<b>", False, "<script>")
    text = core.Verdict("x-1", (part,), "<i>").html()
    assert "<script>" not in text
    assert "<i>" not in text
