"""The question bank: every format, read back by a parser that knows nothing of the writer."""

from __future__ import annotations

import html
import io
import re
import zipfile
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from momab import exercises
from momab.book.project import Project
from momab.book.questions import fill, read_questions
from momab.cli.app import app
from momab.course import bank
from momab.errors import MomabError
from tests.conftest import ROOT

PROJECT = Project(ROOT)
ASKED = {
    (path.name.split(".")[0], name): question
    for path in sorted((ROOT / "notebooks").glob("*.questions.yml"))
    for name, question in read_questions(path).items()
}


@dataclass
class Read:
    """What a platform would have: (right, text or number, tolerance, feedback) per answer."""

    ask: str
    answers: list[tuple[bool, str, float, str]] = field(default_factory=list)
    otherwise: str = ""


@pytest.fixture(scope="module")
def entries() -> list[bank.BankItem]:
    return bank.entries(PROJECT)


# ---- three readers -------------------------------------------------------------------------


def read_moodle(content: bytes) -> dict[str, Read]:
    found = {}
    for question in ElementTree.fromstring(content).iter("question"):
        if question.get("type") == "category":
            continue
        assert question.get("type") in ("multichoice", "numerical")
        read = found[text(question, "name")] = Read(text(question, "questiontext"))
        for answer in question.iter("answer"):
            written, told = answer.findtext("text") or "", text(answer, "feedback")
            if written == "*":
                read.otherwise = told
            else:
                tolerance = float(answer.findtext("tolerance") or 0)
                read.answers.append((answer.get("fraction") == "100", written, tolerance, told))
    return found


def text(parent: ElementTree.Element, tag: str) -> str:
    found = parent.find(f"{tag}/text")
    assert found is not None
    return found.text or ""


def read_gift(content: bytes) -> dict[str, Read]:
    """A reader of GIFT: a block per question, and a backslash takes a mark its meaning."""
    found = {}
    for block in content.decode().split("\n\n"):
        if block.startswith("$CATEGORY:"):
            continue
        parts = split(block.strip(), "{}")
        assert len(parts) == 3, block
        head, answers, rest = parts
        assert rest == ""
        _, name, ask = re.split(r"(?<!\\)::", head)
        assert ask.startswith("[html]")
        read = found[plain(name)] = Read(plain(ask.removeprefix("[html]")).strip())
        numerical = answers.startswith("#")
        for line in re.findall(r"(?:^|\n)([=~](?:\\.|[^\\])*?)(?=\n[=~]|\n?$)", answers):
            body, told = split(line[1:], "#")
            right, tolerance = line[0] == "=", 0.0
            if numerical and body:
                right = not body.startswith("%0%")
                body, off = body.removeprefix("%0%").split(":")
                tolerance = float(off)
            if numerical and line[0] == "~":
                read.otherwise = plain(told)
            else:
                read.answers.append((right, plain(body), tolerance, plain(told)))
    return found


def split(text: str, marks: str) -> list[str]:
    return re.split(rf"(?<!\\)(?:\\\\)*[{re.escape(marks)}]", text)


def plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


QTI = {"q": "http://www.imsglobal.org/xsd/imsqti_v2p1"}


def read_qti(content: bytes) -> dict[str, Read]:
    """Play an item: which response gets which score and feedback?"""
    found = {}
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        manifest = ElementTree.fromstring(package.read("imsmanifest.xml"))
        files = [str(file.get("href")) for file in manifest.iter() if file.tag.endswith("}file")]
        assert sorted([*files, "imsmanifest.xml"]) == sorted(package.namelist())
        items = [ElementTree.fromstring(package.read(name)) for name in files]
    for item in items:
        body = item.find("q:itemBody", QTI)
        assert body is not None
        read = found[str(item.get("title"))] = Read(inside(body[0]))
        told = {f.get("identifier"): inside(f[0]) for f in item.findall("q:modalFeedback", QTI)}
        texts = {c.get("identifier"): inside(c[0]) for c in item.iterfind(".//q:simpleChoice", QTI)}
        [condition] = item.findall("q:responseProcessing/q:responseCondition", QTI)
        for branch in condition:
            values = {
                value.get("identifier"): value[0].text
                for value in branch.findall("q:setOutcomeValue", QTI)
            }
            feedback = told.pop(values["FEEDBACK"])
            if branch.tag.endswith("responseElse"):
                read.otherwise = feedback
                continue
            test = branch[0]
            given = test.findtext("q:baseValue", None, QTI) or ""
            tolerance = float(test.get("tolerance", 0))
            read.answers.append(
                (values["SCORE"] == "1", texts.get(given, given), tolerance, feedback)
            )
        right = item.findtext("q:responseDeclaration/q:correctResponse/q:value", None, QTI)
        assert [texts.get(right, right)] == [a[1] for a in read.answers if a[0]]
        assert not told
    return found


def inside(element: ElementTree.Element) -> str:
    """The HTML of an element, as text with tags."""
    for part in element.iter():
        part.tag = part.tag.rpartition("}")[2]
    whole = ElementTree.tostring(element, encoding="unicode")
    return re.sub(r"^<div>|</div>$", "", whole.strip())


READERS: dict[str, Any] = {"moodle": read_moodle, "gift": read_gift, "qti": read_qti}


def words(text: str) -> str:
    """A text without tags and spaces: formats may break lines differently."""
    return re.sub(r"\s+", "", html.unescape(re.sub(r"<[^>]*>", "", text)))


# ---- what is asked, and what comes back ----------------------------------------------------


@pytest.mark.parametrize("kind", list(READERS))
def test_every_question_comes_back(entries: list[bank.BankItem], kind: str) -> None:
    found = READERS[kind](bank.FORMATS[kind](entries))
    assert list(found) == [entry.name for entry in entries]
    for entry in entries:
        read = found[entry.name]
        assert words(read.ask) == words(entry.ask)
        assert words(read.otherwise) == words(entry.otherwise)
        assert len(read.answers) == len(entry.answers) >= 2
        for answer, (right, written, tolerance, told) in zip(
            entry.answers, read.answers, strict=True
        ):
            assert right == answer.right
            assert words(told) == words(answer.feedback) != ""
            if entry.numerical:
                assert float(written) == pytest.approx(answer.number, rel=1e-9)
                assert tolerance == pytest.approx(answer.tolerance, rel=1e-9)
            else:
                assert words(written) == words(answer.text) != ""


def test_all_questions_of_all_pages_are_there_with_their_answers(
    entries: list[bank.BankItem],
) -> None:
    found = {entry.name: entry for entry in entries}
    assert len(found) == len(entries)
    for (page, name), question in ASKED.items():
        entry, filled = found[f"{page}/{name}"], fill(page, name, question)
        assert entry.numerical == (question.kind == "number")
        assert [a.right for a in entry.answers].index(True) == filled.right
        assert [a.number for a in entry.answers][: len(filled.numbers)] == list(filled.numbers) or (
            len(entry.answers) == len(filled.choices)
        )


def test_a_number_of_an_exercise_is_that_of_its_solution_and_no_slip_passes(
    entries: list[bank.BankItem],
) -> None:
    asked = [entry for entry in entries if "/" not in entry.name]
    assert len(asked) >= 30
    for entry in asked:
        exercise = exercises.find_exercise(entry.name)
        right, *wrong = entry.answers
        values = [outcome.value for outcome in exercise.outcomes(exercise.solution)]
        assert any(type(x) in (int, float) and x == right.number for x in values)
        for other in wrong:
            assert abs(other.number - right.number) > other.tolerance + right.tolerance
        hints = {words(bank.html_of(slip.hint)) for slip in exercise.slips}
        assert {words(answer.feedback) for answer in wrong} <= hints


def test_formulas_are_marked_and_texts_are_well_formed(entries: list[bank.BankItem]) -> None:
    for entry in entries:
        for text in (entry.ask, entry.otherwise, *(a.feedback for a in entry.answers)):
            ElementTree.fromstring(f"<div>{text}</div>")
            shown = re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)
            assert "$" not in shown
            assert "{ref}" not in shown
            assert shown.count(r"\(") == shown.count(r"\)")


def test_gift_keeps_what_has_a_meaning_in_gift() -> None:
    right = bank.Offered(True, "<p>a=b</p>", "<p>{1}</p>")
    wrong = bank.Offered(False, "<p>#</p>", "<p>~</p>")
    entry = bank.BankItem(
        "page", "page/it:1", "<p>\\(\\{x\\neq y\\}\\) ~ # = :</p>", (right, wrong)
    )
    [(name, read)] = read_gift(bank.gift([entry])).items()
    assert name == "page/it:1"
    assert read.ask == entry.ask
    assert [(a[1], a[3]) for a in read.answers] == [
        ("<p>{1}</p>", "<p>a=b</p>"),
        ("<p>~</p>", "<p>#</p>"),
    ]


def test_the_same_bank_has_the_same_bytes(entries: list[bank.BankItem]) -> None:
    for write in bank.FORMATS.values():
        assert write(entries[:5]) == write(entries[:5])


def test_an_unknown_format_is_one_sentence() -> None:
    with pytest.raises(MomabError, match=r"must be moodle, gift or qti; it is 'pdf'\.$"):
        bank.question_bank(PROJECT, "pdf")


def test_the_command_writes_a_file(
    entries: list[bank.BankItem], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(bank, "entries", lambda project: entries[:3])
    target = tmp_path / "bank.zip"
    done = CliRunner().invoke(app, ["course", "questions", "--format", "qti", "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("3 questions: ")
    assert len(read_qti(target.read_bytes())) == 3
