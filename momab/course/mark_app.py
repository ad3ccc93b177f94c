"""The page of `momab course mark`: an answer in words beside exercise, solution and scheme.

Every page is made on the server; a script sends points and comments as they are given, and moves by
keys.  What students wrote comes from `momab.course.rendering`, and the browser is told to run no
script but ours.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from momab._util.loopback import Files, Handler, Loopback, RefusedError
from momab.book import editions
from momab.book.formulas import KATEX, styles
from momab.book.myst import LEVELS
from momab.book.notebook import Node
from momab.book.policy import served_policy
from momab.book.project import Project
from momab.book.templating import fill_page
from momab.course import gradebook
from momab.course.grading import Grade, Graded
from momab.course.marking import LONGEST_COMMENT, Marking
from momab.course.rendering import Prose, shortened

_STATIC = Path(__file__).parent / "static"
_ORDERS = ("exercise", "student")
_SCHEME = re.compile(r"^\| Marks \| A written answer \|\n(?:\|.*\n)+", re.MULTILINE)


class MarkServer:
    """Serves the answers of a class until it is stopped."""

    def __init__(self, project: Project, marking: Marking, port: int = 0) -> None:
        """Take the port; ``server.run`` or ``server.start`` answers."""
        self.project, self.marking = project, marking
        self._prose = Prose(project)
        self._chapters: dict[str, Node] = {}
        self._site = project.build / "html"
        self._texts = {text.label: text for text in marking.graded.exercises}
        given = {"marks": self}
        self.server = Loopback(
            [
                (r"/", _Overview, given),
                (r"/answers/(\d{1,7})", _Answer, given),
                (r"/feedback", _Feedback, given),
                (r"/_static/katex/katex\.css", _Styles),
                (r"/_static/katex/(fonts/.*)", Files, {"path": str(KATEX)}),
                (r"/_static/(.*)", Files, {"path": str(project.root / "book" / "_static")}),
                (r"/_mark/(mark\.(?:js|css))", Files, {"path": str(_STATIC)}),
                (r"/book/(.*)", Files, {"path": str(self._site)}),
            ],
            port,
        )

    def close(self) -> None:
        """Stop answering."""
        self.server.stop()
        self._prose.close()

    def order(self, by: str) -> list[int]:
        """The numbers of the answers, exercise by exercise or student by student."""
        numbers = range(len(self.marking.answers))
        if by == "exercise":
            return list(numbers)
        place = {name: at for at, name in enumerate(self.marking.graded.students)}
        return sorted(numbers, key=lambda n: place[self.marking.answers[n].student])

    def overview(self) -> str:
        """The page that says how far the marking is."""
        return self._page(tables={by: list(self._progress(by)) for by in _ORDERS})

    def _progress(self, by: str) -> Iterator[dict[str, Any]]:
        left = self._left()
        groups: dict[str, list[int]] = {}
        for number in self.order(by):
            groups.setdefault(getattr(self.marking.answers[number], by), []).append(number)
        for name, numbers in groups.items():
            todo = [number for number in numbers if number in left]
            yield {
                "name": name,
                "title": self._prose.line(self._texts[name].title) if by == "exercise" else "",
                "done": len(numbers) - len(todo),
                "of": len(numbers),
                "next": (todo or numbers)[0],
            }

    def _left(self) -> set[int]:
        """The numbers of the answers that have no mark."""
        done = {id(grade) for grade in self.marking.done()}
        return {n for n, grade in enumerate(self.marking.answers) if id(grade) not in done}

    def answer(self, number: int, by: str) -> str:
        """The page of one answer."""
        grade = self.marking.answers[number]
        text, mark = self._texts[grade.exercise], self.marking.mark_of(grade)
        order, left = self.order(by), self._left()
        at = order.index(number)
        todo = [n for n in order[at + 1 :] + order[:at] if n in left]
        built = (self._site / f"{grade.chapter}.html").is_file()
        return self._page(
            grade=grade,
            number=number,
            by=by,
            place=at + 1,
            before=order[at - 1] if at else None,
            after=order[at + 1] if at + 1 < len(order) else None,
            unmarked=todo[0] if todo else None,
            mark=mark,
            again=bool(mark and not mark.fits(grade)),
            title=self._prose.line(text.title),
            level=", ".join(word for word in LEVELS if word in text.classes),
            question=self._prose.book("\n".join(text.question)),
            solution=list(self._solution(grade)),
            scheme=self._prose.html(self._scheme()),
            words=self._prose.html(grade.words),
            code=shortened(grade.answer) if text.programming else "",
            verdict=gradebook.verdict(grade) if text.programming else None,
            link=f"/book/{grade.chapter}.html#{grade.exercise}" if built else "",
            longest=LONGEST_COMMENT,
        )

    def _page(self, **shown: Any) -> str:
        usual: dict[str, Any] = {"grade": None, "by": "exercise", "tables": {}}
        counts = {"done": len(self.marking.done()), "of": len(self.marking.answers)}
        return fill_page("mark.html", package="momab.course", **usual | counts | shown)

    def _scheme(self) -> str:
        """The marking scheme of the teacher's guide."""
        guide = self.project.root / "book" / "guide.md"
        found = _SCHEME.search(guide.read_text(encoding="utf-8")) if guide.is_file() else None
        return found[0] if found else ""

    def _solution(self, grade: Grade) -> Iterator[tuple[str, str]]:
        """The solution in the book: HTML and code in turn."""
        if grade.chapter not in self._chapters:
            self._chapters[grade.chapter] = _executed(self.project, grade.chapter)
        for kind, said in editions.solution_of(self._chapters[grade.chapter], grade.exercise):
            yield kind, said if kind == "code" else self._prose.book(said)

    def feedback(self) -> str:
        """Write the reports and the tables; say where."""
        return write_feedback(self.project, self.marking.graded, self.marking.output)


def write_feedback(project: Project, graded: Graded, output: Path) -> str:
    """Put the marks that were given into the reports and tables of some results; say where."""
    graded = gradebook.write_gradebook(project, graded, output)
    count = len(graded.students)
    pages = "1 feedback page" if count == 1 else f"{count} feedback pages"
    said = f"{pages}: {output / 'reports'}; the marks are in {output / 'grades.csv'}."
    if left := [grade for grade in graded.grades if graded.to_be_marked(grade)]:
        some = ", ".join(f"{grade.student} {grade.exercise}" for grade in left[:3])
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        said += f" Not marked yet, though others are: {some}{more}."
    return said


def _executed(project: Project, chapter: str) -> Node:
    """A chapter as the last build executed it, so that computed sentences have their numbers."""
    import nbformat

    path = project.build / "executed" / f"{chapter}.ipynb"
    if path.is_file():
        found: Node = nbformat.read(path, as_version=4)
        return found
    return project.notebook(chapter).node


class _Page(Handler):
    marks: MarkServer
    limit = 6 * LONGEST_COMMENT + 1024

    def show(self, page: str) -> None:
        self.set_header("Content-Security-Policy", served_policy(page))
        self.send_text(page, "text/html")


class _Overview(_Page):
    async def get(self) -> None:
        self.show(await asyncio.to_thread(self.marks.overview))


class _Answer(_Page):
    def _number(self, number: str) -> int:
        if int(number) >= len(self.marks.marking.answers):
            raise RefusedError(404, "there is no such answer.")
        return int(number)

    async def get(self, number: str) -> None:
        by = self.get_query_argument("by", "exercise")
        by = by if by in _ORDERS else "exercise"
        self.show(await asyncio.to_thread(self.marks.answer, self._number(number), by))

    async def post(self, number: str) -> None:
        said, marking = self.json_body(), self.marks.marking
        grade = marking.answers[self._number(number)]
        points, comment = said.get("points"), said.get("comment", "")
        mark = await asyncio.to_thread(marking.give, grade, points, comment)
        done = await asyncio.to_thread(marking.done)
        self.send_json({"points": mark.points, "done": len(done), "of": len(marking.answers)})


class _Feedback(_Page):
    async def post(self) -> None:
        self.send_json({"said": await asyncio.to_thread(self.marks.feedback)})


class _Styles(Handler):
    async def get(self) -> None:
        self.send_text(styles(), "text/css")
