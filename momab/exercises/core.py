"""What a checkable exercise is, and how an answer to it is judged.

An answer is a value, or a function that is called with prepared arguments.  Judging it has two
halves.  `Exercise.outcomes` lets the answer speak: it calls it, catches what it raises, and
reduces what it returns to plain data.  `Exercise.judge` compares these data with what the
library computes, and touches nothing that the answer's author wrote.  A notebook runs one after
the other; a grader runs the first half elsewhere.

A verdict says which parts are right, what came out where one is wrong, and a hint.  It never
says what should have come out.  The hint is that of the known slip that gives the same outcomes,
if there is one, otherwise that of the first part that is wrong; but if an outcome has not even the
shape of what is wanted, the hint says that first.

`Exercise.fresh` makes the same exercise with other arguments, which no student has seen before the
answer is graded.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import html
import inspect
import math
import numbers
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from momab.errors import MomabError
from momab.exercises.draws import Draw, Vary, varied

_LARGEST = 100_000  # entries of an answer; more is not looked at
_DEEPEST = 6
_DRAWN, _TRIES = 6, 8  # calls that are drawn for a part, and variations looked at
_NOTHING = "it gave nothing: is it unfinished, or is the return missing?"
_CARD = (
    "border-left: 4px solid {colour}; padding: .4em 1em; margin: .5em 0; "
    "background: var(--fig-paper, #ffffff); color: var(--fig-ink, #1f2933)"
)

Same = Callable[[Any, Any], bool]


# ---- outcomes ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What an answer gave: plain data, or what went wrong.

    ``raised`` is the class of the exception that it raised; it is empty where the answer said
    something, but nothing that can be looked at.
    """

    value: Any = None
    error: str = ""
    raised: str = ""

    def to_json(self) -> object:
        """As JSON data."""
        if not self.error:
            return {"value": self.value}
        return {"error": self.error, "raised": self.raised}

    @classmethod
    def from_json(cls, data: object) -> Outcome:
        """From JSON data of unknown origin."""
        if isinstance(data, dict) and data.keys() == {"value"}:
            with contextlib.suppress(UnreadableError):
                return cls(plain(data["value"]))
        elif isinstance(data, dict) and data.keys() <= {"error", "raised"}:
            error, raised = data.get("error"), data.get("raised", "")
            if isinstance(error, str) and error and isinstance(raised, str):
                return cls(error=error[:500], raised=raised[:100])
        raise MomabError("an outcome is {'value': plain data} or {'error': text}.")


class UnreadableError(Exception):
    """An answer's value is not plain data."""


def plain(value: object) -> Any:
    """Numbers, texts, None, and lists and dictionaries of them; arrays and sets become lists."""
    count = 0

    def walk(item: object, depth: int) -> Any:
        nonlocal count
        count += 1
        if count > _LARGEST or depth > _DEEPEST:
            raise UnreadableError("something too large to look at")
        if item is None or isinstance(item, bool | np.bool_):
            return None if item is None else bool(item)
        if isinstance(item, str):
            return str(item[:10_000])
        if isinstance(item, numbers.Integral):
            return int(item) if abs(int(item)) < 2**63 else float("inf")
        if isinstance(item, numbers.Real):
            return float(item)
        if isinstance(item, np.ndarray):
            if item.size > _LARGEST:
                raise UnreadableError("something too large to look at")
            return walk(item.tolist(), depth)
        if isinstance(item, dict | set | frozenset | list | tuple | range) and len(item) > _LARGEST:
            raise UnreadableError("something too large to look at")
        if isinstance(item, dict):
            return {str(key): walk(inner, depth + 1) for key, inner in item.items()}
        if isinstance(item, set | frozenset):
            return sorted(
                (walk(inner, depth + 1) for inner in item), key=lambda x: (str(type(x)), x)
            )
        if isinstance(item, list | tuple | range):
            return [walk(inner, depth + 1) for inner in item]
        if hasattr(item, "to_numpy"):
            return walk(item.to_numpy(), depth)
        raise UnreadableError(f"something of type {type(item).__name__}")

    return walk(value, 0)


def _outcome(make: Callable[[], object]) -> Outcome:
    """Let an answer speak, and keep what it says."""
    try:
        value = plain(make())
        return Outcome(error=_NOTHING) if value is None else Outcome(value)
    except UnreadableError as error:
        return Outcome(error=f"it gave {error}, which is not a number, a text, a list or an array")
    except NotImplementedError:
        return Outcome(error="it is not written yet")
    except Exception as error:
        name = type(error).__name__
        return Outcome(error=f"{name}: {str(error)[:200]}".rstrip(": "), raised=name)


# ---- comparing -----------------------------------------------------------------------------


def close(found: Any, wanted: Any, tolerance: float = 1e-6) -> bool:
    """Equal shapes, and numbers equal up to a relative error; texts and truth values exactly."""
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(close(f, w, tolerance) for f, w in zip(found, wanted, strict=True))
        )
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and found.keys() == wanted.keys()
            and all(close(found[key], wanted[key], tolerance) for key in wanted)
        )
    if isinstance(wanted, bool) or isinstance(found, bool):
        return found in (0, 1) and not isinstance(found, list) and bool(found) == wanted
    if isinstance(wanted, int | float):
        if not isinstance(found, int | float):
            return False
        if math.isnan(wanted):
            return math.isnan(found)
        return math.isclose(found, wanted, rel_tol=tolerance, abs_tol=1e-12)
    return bool(found == wanted)


def within(tolerance: float) -> Same:
    """Equal up to this relative error."""
    return functools.partial(close, tolerance=tolerance)


def same_members(found: Any, wanted: Any) -> bool:
    """The same entries in any order, none twice."""
    if not isinstance(found, list) or len(found) != len(wanted):
        return False
    left = list(wanted)
    for entry in found:
        position = next((n for n, w in enumerate(left) if close(entry, w)), None)
        if position is None:
            return False
        del left[position]
    return True


# ---- verdicts ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One thing that was looked at: what it is, whether it is right, and what was found."""

    what: str
    right: bool
    found: str = ""


@dataclass(frozen=True)
class Verdict:
    """What is right and what is wrong about an answer, and a hint.

    ``share`` is the share of the points that the parts earn: that of the parts which are right, but
    none where nothing that is right can tell an answer from a list of remembered outcomes, and none
    where the answer is a value: it has all that is asked for, or it is wrong.
    """

    name: str
    parts: tuple[Part, ...]
    hint: str = ""
    share: float = 0.0

    @property
    def right(self) -> bool:
        """Whether everything is right."""
        return all(part.right for part in self.parts)

    @property
    def summary(self) -> str:
        """The verdict in a few words."""
        done = sum(part.right for part in self.parts)
        return "right" if self.right else f"not yet, {done} of {len(self.parts)} parts are right"

    def text(self) -> str:
        """The verdict for a terminal."""
        lines = [f"{self.name}: {self.summary}."]
        for part in self.parts:
            lines.append(f"  {'right' if part.right else 'wrong'}  {part.what}")
            if part.found:
                lines.append(f"         {part.found}")
        return "\n".join(lines + ([f"Hint: {self.hint}"] if self.hint else []))

    def html(self) -> str:
        """The verdict for a notebook."""
        colour = "var(--fig-green, #009e73)" if self.right else "var(--fig-orange, #d55e00)"
        items = "".join(
            f"<li>{'✓' if part.right else '✗'} <strong>"
            f"{'right' if part.right else 'wrong'}:</strong> {html.escape(part.what)}"
            + (f"<br>{html.escape(part.found)}" if part.found else "")
            + "</li>"
            for part in self.parts
        )
        hint = f"<p><strong>Hint:</strong> {html.escape(self.hint)}</p>" if self.hint else ""
        return (
            f'<div class="momab-verdict" style="{_CARD.format(colour=colour)}" '
            f'data-exercise="{html.escape(self.name)}" data-right="{str(self.right).lower()}">'
            f"<p><strong>{html.escape(self.name)}:</strong> {self.summary}.</p>"
            f'<ul style="list-style: none; padding-left: 0">{items}</ul>{hint}</div>'
        )


# ---- exercises -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Slip:
    """A plausible wrong answer, and the hint for a student who gave it."""

    answer: Any
    hint: str


@dataclass(frozen=True)
class Case:
    """One part of a function exercise: the arguments of some calls, and a hint if it fails."""

    what: str
    calls: tuple[tuple[Any, ...], ...]
    hint: str
    drawn: tuple[tuple[Any, ...], ...] = ()  # calls that were drawn for one student, made as well

    @property
    def every(self) -> tuple[tuple[Any, ...], ...]:
        """All calls, the drawn ones last."""
        return (*self.calls, *self.drawn)


@dataclass(frozen=True)
class Aspect:
    """One part of a value exercise: what must hold of the value, and a hint if it does not."""

    what: str
    holds: Callable[[Any], bool]
    hint: str


@dataclass(frozen=True)
class Exercise:
    """An exercise that can be checked; make one with `function` or `value`."""

    name: str
    wants: str
    slips: tuple[Slip, ...]
    solution: Any = field(repr=False)
    cases: tuple[Case, ...] = ()
    aspects: tuple[Aspect, ...] = ()
    same: Same = close
    vary: Vary | None = field(default=None, repr=False)

    @property
    def calls(self) -> tuple[tuple[Any, ...], ...]:
        """The arguments of every call of the answer, () when the answer is a value."""
        return tuple(call for case in self.cases for call in case.every)

    def fresh(self, draw: Draw) -> Exercise:
        """The same exercise with further calls in every part: its calls in turn, varied.

        Of some variations the first is taken whose right outcome the part has not had yet, if
        there is one, so that neither remembering nor guessing helps.
        """
        if self.vary is None:
            return self
        cases, wanted = [], iter(self._wanted)
        for case in self.cases:
            seen, drawn = [next(wanted) for _ in case.calls], []
            for number in range(max(_DRAWN, len(case.calls))):
                call, outcome = self._varied(draw, case.calls[number % len(case.calls)], seen)
                drawn.append(call)
                seen.append(outcome)
            cases.append(replace(case, drawn=tuple(drawn)))
        return replace(self, cases=tuple(cases))

    def _varied(
        self, draw: Draw, call: tuple[Any, ...], seen: Sequence[Any]
    ) -> tuple[tuple[Any, ...], Any]:
        """A variation of a call and its right outcome."""
        assert self.vary is not None
        tries = []
        for _ in range(_TRIES):
            other = varied(self.vary, draw, copy.deepcopy(call))
            found = _outcome(lambda other=other: self.solution(*copy.deepcopy(other)))  # type: ignore[misc]
            tries.append((other, found.value))
            if not any(self.same(usual, found.value) for usual in seen):
                return tries[-1]
        return tries[0]

    def outcomes(self, answer: object) -> list[Outcome]:
        """What the answer gives, in its own words; nothing that it raises gets out."""
        if not self.cases:
            return [_outcome(lambda: answer)]
        if not callable(answer):
            return [Outcome(error=f"it is of type {type(answer).__name__}, not a function")]
        results = []
        for call in self.calls:
            arguments = copy.deepcopy(call)  # an answer may change what it is given
            results.append(_outcome(lambda arguments=arguments: answer(*arguments)))  # type: ignore[misc]
        return results

    @cached_property
    def _wanted(self) -> list[Any]:
        return [outcome.value for outcome in self.outcomes(self.solution)]

    @cached_property
    def _shapes(self) -> Sequence[str]:
        """The shapes of the right outcomes."""
        return [shape_of(value) for value in self._wanted]

    @property
    def _lengths(self) -> bool:
        """Whether a list of another length has another shape."""
        return self.same is not same_members

    @cached_property
    def _slipped(self) -> list[list[Outcome]]:
        return [self.outcomes(slip.answer) for slip in self.slips]

    def judge(self, outcomes: Sequence[Outcome]) -> Verdict:
        """Compare outcomes with what is right; what gave them is not consulted."""
        if self.cases:
            if len(outcomes) != len(self.calls):
                return self._unusable(outcomes[0].error if outcomes else _NOTHING)
            errors = {outcome.error for outcome in outcomes}
            if len(errors) == 1 and "" not in errors:
                return self._never_runs(outcomes[0].error)
            parts, hint = self._judge_cases(outcomes)
        else:
            outcome = outcomes[0] if outcomes else Outcome(error=_NOTHING)
            if outcome.error:
                return self._unusable(outcome.error)
            try:
                parts, hint = self._judge_value(outcome.value)
            except Exception:  # an aspect cannot read a value of this shape
                return self._unusable(f"it is {_short(outcome.value)}")
        if all(part.right for part in parts):
            return Verdict(self.name, parts, share=1.0)
        hint = self._slip_hint(outcomes) or self._shape_hint(outcomes) or hint
        return Verdict(self.name, parts, hint, self._share(parts))

    def _share(self, parts: Sequence[Part]) -> float:
        """The share of the points that some parts of a wrong answer earn."""
        if not self.cases:  # random numbers meet some of the aspects of an example
            return 0.0
        telling = [part.right for part, tells in zip(parts, self._telling, strict=True) if tells]
        if telling and not any(telling):
            return 0.0
        return sum(part.right for part in parts) / len(parts)

    @cached_property
    def _telling(self) -> list[bool]:
        """For every case, whether a drawn call has a right outcome that no usual call has."""
        found, wanted = [], iter(self._wanted)
        for case in self.cases:
            usual = [next(wanted) for _ in case.calls]
            drawn = [next(wanted) for _ in case.drawn]
            found.append(any(not any(self.same(a, b) for a in usual) for b in drawn))
        return found

    def _shape_hint(self, outcomes: Sequence[Outcome]) -> str:
        """What is wrong about the shape of the first outcome that has another one than wanted."""
        if not self.cases:
            return ""
        for outcome, right in zip(outcomes, self._shapes, strict=True):
            shape = shape_of(outcome.value)
            if not outcome.error and not _fits(shape, right, self._lengths):
                return f"The answer has the wrong shape: it gives {shape}, and should give {right}."
        return ""

    def _never_runs(self, error: str) -> Verdict:
        """The verdict on a function that fails in the same way whenever it is called."""
        part = Part("the function gives an answer when it is called", False, error)
        return Verdict(self.name, (part,), f"It is called as {self.wants}.")

    def _unusable(self, found: str) -> Verdict:
        """The verdict on an answer that is of the wrong kind."""
        part = Part(f"the answer is {self.wants}", False, found)
        return Verdict(self.name, (part,), f"The answer must be {self.wants}.")

    def _judge_cases(self, outcomes: Sequence[Outcome]) -> tuple[tuple[Part, ...], str]:
        parts, hints, start = [], [], 0
        for case in self.cases:
            found = ""
            for number in range(start, start + len(case.every)):
                outcome = outcomes[number]
                if outcome.error or not self.same(outcome.value, self._wanted[number]):
                    came = outcome.error or f"gave {_short(outcome.value)}"
                    found = f"with {_arguments(self.calls[number])}: {came}"
                    hints.append(case.hint)
                    break
            start += len(case.every)
            parts.append(Part(case.what, not found, found))
        return tuple(parts), hints[0] if hints else ""

    def _judge_value(self, value: Any) -> tuple[tuple[Part, ...], str]:
        parts, hint = [], ""
        for aspect in self.aspects:
            right = bool(aspect.holds(value))
            found = "" if right else f"the answer is {_short(value)}"
            parts.append(Part(aspect.what, right, found))
            hint = hint or ("" if right else aspect.hint)
        return tuple(parts), hint

    def _slip_hint(self, outcomes: Sequence[Outcome]) -> str:
        """The hint of the known slip with the same outcomes."""
        for slip, slipped in zip(self.slips, self._slipped, strict=True):
            if len(slipped) == len(outcomes) and all(
                a.error == b.error and close(a.value, b.value)
                for a, b in zip(outcomes, slipped, strict=True)
            ):
                return slip.hint
        return ""


def shape_of(value: Any) -> str:
    """The shape of plain data in words, for example 'a list of 3 lists of 2 numbers'."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, dict):
        return f"a dictionary with the keys {', '.join(sorted(value))}"
    if not isinstance(value, list):
        return "a text" if isinstance(value, str) else "nothing"
    inner = {shape_of(item) for item in value}
    if not value:
        return "an empty list"
    of = "different things"
    if len(inner) == 1:
        kind, _, rest = inner.pop().removeprefix("an ").removeprefix("a ").partition(" ")
        plural = {"dictionary": "dictionaries", "truth": "truth values"}.get(kind, f"{kind}s")
        of = plural if kind == "truth" else f"{plural} {rest}".strip()
    return f"a list of {len(value)} {of}"


def _fits(found: str, wanted: str, lengths: bool) -> bool:
    """Whether shapes agree; truth values are 0 and 1, too.

    Without ``lengths`` a list may be longer or shorter than the wanted one.
    """
    found, wanted = (text.replace("truth value", "number") for text in (found, wanted))
    if lengths or not found.startswith(("a list", "an empty")):
        return found == wanted
    return "empty" in found + wanted or found.split()[4:] == wanted.split()[4:]


def _short(value: object) -> str:
    shorten = reprlib.Repr()
    shorten.maxlist = shorten.maxdict = 8
    shorten.maxstring = shorten.maxother = 80
    return shorten.repr(_rounded(value))


def _rounded(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value) and value:
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value


def _arguments(call: Sequence[Any]) -> str:
    parts = []
    for argument in call:
        try:
            parts.append(_short(plain(argument)))
        except UnreadableError:
            parts.append(_short(argument))
    return f"({', '.join(parts)})"


def function(
    name: str,
    solution: Callable[..., Any],
    cases: Sequence[Case],
    slips: Sequence[Slip],
    same: Same = close,
    vary: Vary | None = None,
) -> Exercise:
    """An exercise whose answer is a function with the solution's arguments.

    Every case's calls are made with the answer and with the solution, and compared with
    ``same``; a part is right when all its calls agree.  ``vary`` makes other arguments of given
    ones, for grading.
    """
    names = ", ".join(inspect.signature(solution).parameters)
    return Exercise(
        name, f"a function of ({names})", tuple(slips), solution, tuple(cases), (), same, vary
    )


def value(
    name: str,
    wants: str,
    solution: Any,
    aspects: Sequence[Aspect],
    slips: Sequence[Slip],
) -> Exercise:
    """An exercise whose answer is a value: a number, or an example with a property.

    ``wants`` completes "the answer must be ..."; ``solution`` is one right answer.
    """
    return Exercise(name, wants, tuple(slips), solution, (), tuple(aspects))


def is_table(found: Any, arms: tuple[int, int], objectives: tuple[int, int]) -> bool:
    """Whether an answer has a row of means in [0, 1] per arm, so many of both, ends included."""
    means = np.array(found, dtype=np.float64)
    shape = means.shape
    fits = len(shape) == 2 and arms[0] <= shape[0] <= arms[1]
    fits = fits and objectives[0] <= shape[1] <= objectives[1]
    return fits and bool(((means >= 0) & (means <= 1)).all())
