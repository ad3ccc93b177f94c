r"""The questions of the book for a learning platform: Moodle's XML, GIFT, or a package of QTI 2.1.

The bank has all questions of the pages, and of the programming exercises whose answers are numbers
one call each: "which number does f(...) give?".  Numbers are computed, and every wrong answer that
is foreseen has an explanation.  Texts are HTML; formulas stand between ``\(`` and ``\)``, or
``\[`` and ``\]``, as MathJax reads them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree

from momab import exercises
from momab.book import myst
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.book.questions import KINDS, fill, questions_path, read_questions
from momab.errors import MomabError
from momab.exercises.core import Exercise, UnreadableError, plain

Xml = ElementTree.Element

_CLOSE = 0.005  # relative error that is allowed for the number of an exercise
_LONG = 200  # characters of a call that a question shows
_LARGE = 1e8  # numbers beyond this stand for infinity


@dataclass(frozen=True)
class Offered:
    """An answer that is foreseen: a text to choose, or a number and how far one may be off."""

    right: bool
    feedback: str
    text: str = ""
    number: float = 0.0
    tolerance: float = 0.0


@dataclass(frozen=True)
class BankItem:
    """A question of the bank; texts are HTML.  ``otherwise`` is said to any other number."""

    page: str
    name: str
    ask: str
    answers: tuple[Offered, ...]
    otherwise: str = ""

    @property
    def numerical(self) -> bool:
        """Whether the answer is a number."""
        return bool(self.otherwise)


# ---- what is asked -------------------------------------------------------------------------


def entries(project: Project) -> list[BankItem]:
    """All questions of the book, in the order of its pages."""
    return [
        entry
        for page in project.notebook_pages
        for entry in (*_of_page(project, page), *_of_exercises(project, page))
    ]


def _of_page(project: Project, page: str) -> Iterator[BankItem]:
    path = questions_path(project.root / "notebooks" / f"{page}.md")
    for name, question in read_questions(path).items():
        filled = fill(page, name, question)
        ask = html_of(f"**{KINDS[filled.kind]}**\n\n{filled.ask}")
        reasons = [html_of(text) for text in filled.reasons]
        if filled.choices:
            answers = [
                Offered(n == filled.right, reason, text=html_of(choice))
                for n, (choice, reason) in enumerate(zip(filled.choices, reasons, strict=True))
            ]
            yield BankItem(page, f"{page}/{name}", ask, tuple(answers))
        else:
            *told, otherwise = reasons
            numbers = [
                Offered(n == 0, reason, number=x, tolerance=filled.within * abs(x))
                for n, (x, reason) in enumerate(zip(filled.numbers, told, strict=True))
            ]
            yield BankItem(page, f"{page}/{name}", ask, tuple(numbers), otherwise)


def _of_exercises(project: Project, page: str) -> Iterator[BankItem]:
    known = {found.name: found for found in exercises.of_chapter(page)}
    if not known:
        return
    for text in myst.exercises(project.notebook(page).node):
        exercise = known.get(text.label)
        if exercise is None or not exercise.cases:
            continue
        if found := _telling_call(exercise):
            call, hint, answers = found
            shown = f"{text.answer_name}({', '.join(_literal(part) for part in call)})"
            body = "\n".join([f"**{text.title}**", "", *text.question])
            ask = f"{body}\n\nWhich number does this call give?\n\n```python\n{shown}\n```\n"
            yield BankItem(page, text.label, html_of(ask), answers, hint)


def _telling_call(
    exercise: Exercise,
) -> tuple[tuple[Any, ...], str, tuple[Offered, ...]] | None:
    """The call of an exercise on which most slips give other numbers than the solution."""
    right = exercise.outcomes(exercise.solution)
    if not any(_is_number(outcome.value) for outcome in right):
        return None
    wrong = [exercise.outcomes(slip.answer) for slip in exercise.slips]
    hints = [html_of(case.hint) for case in exercise.cases for _ in case.every]
    found: list[tuple[int, int]] = []
    answers: dict[int, tuple[Offered, ...]] = {}
    for place, (call, outcome) in enumerate(zip(exercise.calls, right, strict=True)):
        if not _is_number(outcome.value) or len(str([_literal(x) for x in call])) > _LONG:
            continue
        told = [_number_answer(True, "<p>Right.</p>", outcome.value)]
        for slip, outcomes in zip(exercise.slips, wrong, strict=True):
            other = outcomes[place].value
            if _is_number(other) and all(_apart(other, answer) for answer in told):
                told.append(_number_answer(False, html_of(slip.hint), other))
        if len(told) > 1:
            found.append((-len(told), place))
            answers[place] = tuple(told)
    if not found:
        return None
    _, place = min(found)
    return exercise.calls[place], hints[place], answers[place]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGE


def _number_answer(right: bool, feedback: str, number: float) -> Offered:
    return Offered(right, feedback, number=float(number), tolerance=_tolerance(number))


def _tolerance(number: float) -> float:
    """How far one may be off; whole numbers are exact."""
    return 0.0 if isinstance(number, int) else _CLOSE * abs(number)


def _apart(number: float, answer: Offered) -> bool:
    """Whether no typed number is within the tolerance of both."""
    tolerance = answer.tolerance + _tolerance(number)
    return abs(number - answer.number) > 1.5 * tolerance + 1e-9


def _literal(value: Any) -> str:
    """An argument of a call as one would type it."""
    try:
        found = plain(value)
    except UnreadableError:
        return "?" * (_LONG + 1)  # cannot be shown
    return repr(found)


# ---- text ----------------------------------------------------------------------------------


def html_of(text: str) -> str:
    """A text of the book as well-formed HTML, in which MathJax finds the formulas."""
    return str(_parser().render(plain_markdown(text.strip()))).strip()


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(dollarmath_plugin, double_inline=True)

    def formula(left: str, right: str) -> Callable[..., str]:
        from html import escape

        return lambda _, tokens, at, *rest: (
            f"{left}{escape(tokens[at].content.strip(), quote=False)}{right}"
        )

    for name in ("math_inline", "math_inline_double", "math_block", "math_block_label"):
        marks = (r"\(", r"\)") if name == "math_inline" else (r"\[", r"\]")
        parser.add_render_rule(name, formula(*marks))
    return parser


def _digits(number: float) -> str:
    return f"{number:.10g}"


# ---- Moodle --------------------------------------------------------------------------------


def moodle(asked: Sequence[BankItem]) -> bytes:
    """A quiz in Moodle's XML, with a category per page."""
    quiz = Xml("quiz")
    category = ""
    for entry in asked:
        if entry.page != category:
            category = entry.page
            head = ElementTree.SubElement(quiz, "question", type="category")
            _text(head, "category", f"$course$/top/momab/{category}")
        kind = "numerical" if entry.numerical else "multichoice"
        question = ElementTree.SubElement(quiz, "question", type=kind)
        _text(question, "name", entry.name)
        _text(question, "questiontext", entry.ask, format="html")
        for tag, value in (("defaultgrade", "1"), ("penalty", "0.3333333"), ("hidden", "0")):
            ElementTree.SubElement(question, tag).text = value
        if not entry.numerical:
            for tag, value in (("single", "true"), ("shuffleanswers", "true")):
                ElementTree.SubElement(question, tag).text = value
            ElementTree.SubElement(question, "answernumbering").text = "abc"
        for answer in entry.answers:
            written = _digits(answer.number) if entry.numerical else answer.text
            made = _moodle_answer(question, answer.right, written, answer.feedback)
            if entry.numerical:
                ElementTree.SubElement(made, "tolerance").text = _digits(answer.tolerance)
            else:
                made.set("format", "html")
        if entry.numerical:
            other = _moodle_answer(question, False, "*", entry.otherwise)
            ElementTree.SubElement(other, "tolerance").text = "0"
    return _written(quiz)


def _moodle_answer(question: Xml, right: bool, written: str, feedback: str) -> Xml:
    answer = ElementTree.SubElement(question, "answer", fraction="100" if right else "0")
    ElementTree.SubElement(answer, "text").text = written
    _text(answer, "feedback", feedback, format="html")
    return answer


def _text(parent: Xml, tag: str, text: str, **attributes: str) -> None:
    found = ElementTree.SubElement(parent, tag, attributes)
    ElementTree.SubElement(found, "text").text = text


def _written(root: Xml) -> bytes:
    ElementTree.indent(root)
    found: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return found + b"\n"


# ---- GIFT ----------------------------------------------------------------------------------


def gift(asked: Sequence[BankItem]) -> bytes:
    """The questions as GIFT, one block each, with a category per page."""
    blocks = []
    category = ""
    for entry in asked:
        if entry.page != category:
            category = entry.page
            blocks.append(f"$CATEGORY: $course$/top/momab/{category}")
        lines = [f"::{_gift(entry.name)}::[html]{_gift(entry.ask)} {{"]
        if entry.numerical:
            lines[0] += "#"
            for answer in entry.answers:
                share = "" if answer.right else "%0%"
                number = f"{_digits(answer.number)}:{_digits(answer.tolerance)}"
                lines.append(f"={share}{number}#{_gift(answer.feedback)}")
            lines.append(f"~#{_gift(entry.otherwise)}")
        else:
            for answer in entry.answers:
                mark = "=" if answer.right else "~"
                lines.append(f"{mark}{_gift(answer.text)}#{_gift(answer.feedback)}")
        blocks.append("\n".join([*lines, "}"]))
    return ("\n\n".join(blocks) + "\n").encode()


def _gift(text: str) -> str:
    """A text in which nothing means anything to GIFT; line breaks of code remain visible."""
    whole = text.replace("\n</code>", "</code>").replace("\\", "\\\\")
    for mark in "~=#{}:":
        whole = whole.replace(mark, f"\\{mark}")
    inside, lines = False, []
    for line in whole.split("\n"):
        lines.append(line + ("<br />" if inside or "<pre>" in line else " "))
        inside = ("<pre>" in line or inside) and "</pre>" not in line
    return "".join(lines).replace("</pre><br />", "</pre> ").strip()


# ---- QTI -----------------------------------------------------------------------------------

_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
_DAY = (2000, 1, 1, 0, 0, 0)  # of the files in the package: the same digits on every day


def qti(asked: Sequence[BankItem]) -> bytes:
    """A package of QTI 2.1: a manifest, and an item per question."""
    manifest = Xml("manifest", xmlns=_PACKAGE, identifier="momab-questions")
    ElementTree.SubElement(manifest, "organizations")
    resources = ElementTree.SubElement(manifest, "resources")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for entry in asked:
            name = entry.name.replace("/", "--")
            about = {"identifier": name, "type": "imsqti_item_xmlv2p1", "href": f"{name}.xml"}
            ElementTree.SubElement(
                ElementTree.SubElement(resources, "resource", about), "file", href=f"{name}.xml"
            )
            package.writestr(zipfile.ZipInfo(f"{name}.xml", _DAY), _written(_item(entry, name)))
        package.writestr(zipfile.ZipInfo("imsmanifest.xml", _DAY), _written(manifest))
    return made.getvalue()


def _item(entry: BankItem, name: str) -> Xml:
    item = Xml("assessmentItem", xmlns=_QTI, identifier=name, title=entry.name)
    item.attrib |= {"adaptive": "false", "timeDependent": "false"}
    kind = "float" if entry.numerical else "identifier"
    about = {"identifier": "RESPONSE", "cardinality": "single", "baseType": kind}
    response = ElementTree.SubElement(item, "responseDeclaration", about)
    names = [f"A{n + 1}" for n in range(len(entry.answers))]
    right = next(n for n, answer in enumerate(entry.answers) if answer.right)
    correct = ElementTree.SubElement(response, "correctResponse")
    written = _digits(entry.answers[right].number) if entry.numerical else names[right]
    ElementTree.SubElement(correct, "value").text = written
    for outcome, base in (("SCORE", "float"), ("FEEDBACK", "identifier")):
        about = {"identifier": outcome, "cardinality": "single", "baseType": base}
        ElementTree.SubElement(item, "outcomeDeclaration", about)
    body = ElementTree.SubElement(item, "itemBody")
    body.append(_block(entry.ask))
    if entry.numerical:
        line = ElementTree.SubElement(body, "p")
        ElementTree.SubElement(line, "textEntryInteraction", responseIdentifier="RESPONSE")
    else:
        about = {"responseIdentifier": "RESPONSE", "shuffle": "true", "maxChoices": "1"}
        choices = ElementTree.SubElement(body, "choiceInteraction", about)
        for label, answer in zip(names, entry.answers, strict=True):
            ElementTree.SubElement(choices, "simpleChoice", identifier=label).append(
                _block(answer.text)
            )
    item.append(_processing(entry, names))
    told = [answer.feedback for answer in entry.answers]
    if entry.numerical:
        names, told = [*names, "OTHER"], [*told, entry.otherwise]
    for label, text in zip(names, told, strict=True):
        about = {"outcomeIdentifier": "FEEDBACK", "identifier": label, "showHide": "show"}
        ElementTree.SubElement(item, "modalFeedback", about).append(_block(text))
    return item


def _processing(entry: BankItem, names: Sequence[str]) -> Xml:
    """Score 1 for the right answer, else 0; the feedback is that of the answer."""
    processing = Xml("responseProcessing")
    condition = ElementTree.SubElement(processing, "responseCondition")
    for n, (label, answer) in enumerate(zip(names, entry.answers, strict=True)):
        branch = ElementTree.SubElement(condition, "responseElseIf" if n else "responseIf")
        if entry.numerical:
            about = {"toleranceMode": "absolute", "tolerance": _digits(answer.tolerance)}
            test, base, value = "equal", "float", _digits(answer.number)
        else:
            about, test, base, value = {}, "match", "identifier", label
        compared = ElementTree.SubElement(branch, test, about)
        ElementTree.SubElement(compared, "variable", identifier="RESPONSE")
        ElementTree.SubElement(compared, "baseValue", baseType=base).text = value
        _set(branch, "1" if answer.right else "0", label)
    if entry.numerical:
        _set(ElementTree.SubElement(condition, "responseElse"), "0", "OTHER")
    return processing


def _set(branch: Xml, score: str, label: str) -> None:
    for outcome, base, value in (("SCORE", "float", score), ("FEEDBACK", "identifier", label)):
        found = ElementTree.SubElement(branch, "setOutcomeValue", identifier=outcome)
        ElementTree.SubElement(found, "baseValue", baseType=base).text = value


def _block(text: str) -> Xml:
    return ElementTree.fromstring(f"<div>{text}</div>")


# ---- all of them ---------------------------------------------------------------------------

FORMATS: dict[str, Callable[[Sequence[BankItem]], bytes]] = {
    "moodle": moodle,
    "gift": gift,
    "qti": qti,
}


def question_bank(project: Project, kind: str) -> tuple[bytes, int]:
    """The bank in one of the formats, and how many questions it has."""
    if kind not in FORMATS:
        raise MomabError(f"the format must be moodle, gift or qti; it is {kind!r}.")
    asked = entries(project)
    return FORMATS[kind](asked), len(asked)
