"""Questions in a page: data beside the chapter, written out as MyST where the page asks them.

``notebooks/<page>.questions.yml`` has the questions of a page by name; ``:::{question} NAME`` is
the place of one.  A *why* and a *predict* have choices, exactly one of them right; a *number* has
an expression, which Python computes when the book is built, so that no answer is typed by hand.
Every choice, and every number that one gets by a known slip, has its own explanation.  Texts may
have fields in double braces, filled in from ``values`` as in ``%%prose``.

`write_out` puts the whole question into the text of the page, so every later reader of that text
(the site, the student edition, a plain notebook) needs no other file.
"""

from __future__ import annotations

import hashlib
import math
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from momab._util.yaml_files import Strict, fit, load_yaml
from momab.book import myst
from momab.errors import MomabError

KINDS = {"why": "Why?", "predict": "Predict first", "number": "Work it out"}
_INDENT = "::::"


class Choice(Strict):
    """One of the answers to choose from, and why it is right or wrong."""

    say: str
    because: str
    right: bool = False


class WrongNumber(Strict):
    """A number that a known slip gives."""

    number: str
    because: str


class Question(Strict):
    """A question as its author writes it."""

    kind: Literal["why", "predict", "number"]
    ask: str
    use: tuple[str, ...] = ()
    values: dict[str, str] = Field(default_factory=dict)
    choices: tuple[Choice, ...] = ()
    number: str = ""
    within: float = 0.01
    because: str = ""
    slips: tuple[WrongNumber, ...] = ()
    hint: str = ""


class Filled(Strict):
    """A question with all numbers computed and all texts filled in.

    ``reasons`` explain the choices, or else the right number, the numbers of the slips, and last
    what to say to any other number.  ``numbers`` are the right one and those of the slips.
    """

    key: str
    kind: str
    ask: str
    right: int
    reasons: tuple[str, ...]
    choices: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    within: float = 0.0


def questions_path(page: Path) -> Path:
    """The file with the questions of a page, which need not exist."""
    return page.with_suffix(".questions.yml")


def read_questions(path: Path) -> dict[str, Question]:
    """The questions of a file by name; none without a file."""
    if not path.is_file():
        return {}
    what = f"notebooks/{path.name}"
    content = load_yaml(path, what)
    if not isinstance(content, dict):
        raise MomabError(f"{what} must be a mapping from names to questions.")
    found = {}
    for name, body in content.items():
        where = f"{what}: the question {str(name)!r}"
        found[str(name)] = question = fit(body, Question, where)
        if fault := next(_faults(question), ""):
            raise MomabError(f"{where} {fault}.")
    return found


def _faults(question: Question) -> Iterator[str]:
    """What is wrong with a question although its keys are right."""
    if "\n\n" in question.ask.strip() or "$$" in question.ask:
        yield "asks in more than one paragraph; it may have one, without displayed formulas"
    texts = [question.ask, *(choice.say for choice in question.choices)]
    texts += [choice.because for choice in question.choices]
    if question.kind == "number":
        if question.choices:
            yield "is a number and has choices; it may have one or the other"
        if not (question.number and question.because and question.hint):
            yield "needs a 'number', a 'because' and a 'hint'"
        if not 0 <= question.within < 1:
            yield "has a 'within' that is not at least 0 and below 1"
        texts += [question.because, question.hint, *(slip.because for slip in question.slips)]
    else:
        if question.number or question.slips or question.because or question.hint:
            yield "has choices, so it may have no 'number', 'slips', 'because' or 'hint' of its own"
        if not 2 <= len(question.choices) <= 5:
            yield f"has {len(question.choices)} choices; it may have 2 to 5"
        if (right := sum(choice.right for choice in question.choices)) != 1:
            yield f"has {right} right choices; it must have exactly one"
    if not all(text.strip() for text in texts):
        yield "has an empty text"


# ---- numbers and words ---------------------------------------------------------------------


def fill(page: str, name: str, question: Question) -> Filled:
    """Compute the numbers of a question and fill in its texts.

    Choices are mixed, always in the same way, because people put the right one in the middle.
    """
    from momab._util.prose import render

    where = f"notebooks/{page}.questions.yml: the question {name!r}"
    names = _names(question, where)

    def text(source: str) -> str:
        try:
            return render(source, names)
        except MomabError as error:
            raise MomabError(f"{where}: {error}") from None
        except Exception as error:
            raise MomabError(f"{where}: a field cannot be filled in ({error}).") from None

    key = f"{page}/{name}-{_sha256(question.model_dump_json())[:6]}"
    if question.kind != "number":
        choices = sorted(question.choices, key=lambda choice: _sha256(f"{key} {choice.say}"))
        return Filled(
            key=key,
            kind=question.kind,
            ask=text(question.ask),
            right=next(n for n, choice in enumerate(choices) if choice.right),
            choices=tuple(text(choice.say) for choice in choices),
            reasons=tuple(text(choice.because) for choice in choices),
        )
    numbers = [_number(question.number, names, where)]
    names["answer"] = numbers[0]
    numbers += [_number(slip.number, names, where) for slip in question.slips]
    for other in numbers[1:]:
        if abs(other - numbers[0]) <= max(2 * question.within * abs(numbers[0]), 1e-9):
            raise MomabError(f"{where} has a slip that gives the right answer, {numbers[0]:g}.")
    because = [question.because, *(slip.because for slip in question.slips), question.hint]
    return Filled(
        key=key,
        kind=question.kind,
        ask=text(question.ask),
        right=0,
        reasons=tuple(map(text, because)),
        numbers=tuple(numbers),
        within=question.within,
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _names(question: Question, where: str) -> dict[str, Any]:
    """What expressions may use: numpy, math, momab, the modules asked for, the values so far."""
    import numpy as np

    import momab

    names: dict[str, Any] = {"np": np, "math": math, "momab": momab}
    for module in question.use:
        try:
            names[module.rpartition(".")[2]] = pkgutil.resolve_name(module)
        except (ImportError, AttributeError, ValueError):
            raise MomabError(f"{where} uses {module!r}, which there is not.") from None
    for name, expression in question.values.items():
        names[name] = _compute(expression, names, where)
    return names


def _compute(expression: str, names: Mapping[str, Any], where: str) -> Any:
    try:
        return eval(expression, dict(names))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise MomabError(f"{where}: {expression!r} cannot be computed ({reason}).") from None


def _number(expression: str, names: Mapping[str, Any], where: str) -> float:
    found = _compute(expression, names, where)
    try:
        number = float(found)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise MomabError(f"{where}: {expression!r} gives {found!r}, which is not a finite number.")
    return number


# ---- text ----------------------------------------------------------------------------------


def write_out(text: str, page: str, questions: Mapping[str, Question]) -> str:
    """A text of a page with its questions in full where it asks them."""
    if "{question}" not in text:
        return text
    lines = text.splitlines()
    for found in reversed([d for d in myst.walk(text) if d.name == "question"]):
        name = found.title
        if found.body:
            continue  # written out already
        if name not in questions:
            known = ", ".join(questions) or "none"
            raise MomabError(
                f"notebooks/{page}.md asks the question {name!r}, but its questions are {known}."
            )
        if found.prefix.strip():
            raise MomabError(f"notebooks/{page}.md: the question {name!r} must not be in a list.")
        lines[found.start : found.end] = _myst(name, fill(page, name, questions[name]))
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def without_questions(text: str) -> str:
    """A text of a page without the places where it asks."""
    lines = text.splitlines()
    for found in reversed([d for d in myst.walk(text) if d.name == "question"]):
        del lines[found.start : found.end]
    return "\n".join(lines)


def _myst(name: str, filled: Filled) -> Iterator[str]:
    yield f":{_INDENT}{{question}} {name}"
    yield f":kind: {filled.kind}"
    yield f":key: {filled.key}"
    yield f":right: {filled.right}"
    if filled.numbers:
        yield f":numbers: {' '.join(map(repr, filled.numbers))}"
        yield f":within: {filled.within!r}"
    yield ""
    for part, texts in (
        ("ask", [filled.ask]),
        ("choice", filled.choices),
        ("because", filled.reasons),
    ):
        for text in texts:
            yield from (f"{_INDENT}{{{part}}}", *text.strip().splitlines(), _INDENT)
    yield f":{_INDENT}"


def shown_number(number: float) -> str:
    """A number as an answer shows it: at most four digits, whole and large numbers in full."""
    if abs(number) < 1e9 and (number == round(number) or abs(number) >= 1000):
        return f"{number:,.0f}"
    from momab._util.prose import tens

    return tens(number, 4)


def plain_question(found: myst.Directive) -> Iterator[str]:
    """A question as Markdown that every viewer shows, its answers folded."""
    parts = [(part.name, part.body) for part in found.inner]
    choices = [body for kind, body in parts if kind == "choice"]
    reasons = [body for kind, body in parts if kind == "because"]
    ask = next((body for kind, body in parts if kind == "ask"), [])
    yield from (f"> **{KINDS[found.options['kind']]}**", ">")
    yield from (f"> {line}".rstrip() for line in ask)
    for letter, body in zip("ABCDE", choices, strict=False):
        yield from (">", f"> **{letter}.** {' '.join(body)}")
    yield from ("", "<details><summary>Answer</summary>", "")
    for head, body in zip(reason_heads(found.options), reasons, strict=False):
        yield from (f"**{head}** {' '.join(body)}", "")
    yield "</details>"


def reason_heads(options: Mapping[str, str]) -> list[str]:
    """What stands before each explanation where all of them are shown."""
    right = int(options["right"])
    if "numbers" not in options:
        return [f"{letter}: {'right' if n == right else 'no'}." for n, letter in enumerate("ABCDE")]
    first, *slips = (shown_number(float(number)) for number in options["numbers"].split())
    return [f"{first}.", *(f"If you have {slip}:" for slip in slips), "Anything else:"]
