"""An autograder for Gradescope: a zip with the book and this package, which grades one submission.

Gradescope unpacks it into ``/autograder/source``, runs ``setup.sh`` once and ``run_autograder``
for each submission, which reads ``/autograder/submission`` and writes
``/autograder/results/results.json`` (https://gradescope-autograders.readthedocs.io).  Every
programming exercise is one of its tests, with the points of the course; lateness is for Gradescope
to say.

Gradescope runs each submission in a container of its own, in which bubblewrap has no right to
work; so notebooks run as with ``--trust``.  The container keeps students from one another and
from the teacher, but not from the judges inside it: a hostile notebook could read them, or write
results of its own.  `momab grade` on the downloaded submissions finds the marks again.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from momab._util.files import write_text
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.course import handout, wheel
from momab.course.grading import ABSENT, Class, Grade, grade_class
from momab.course.sandbox import Limits
from momab.course.settings import Course, read_course
from momab.course.submissions import Sheet, clean
from momab.errors import MomabError

_FILES = Path(__file__).with_name("distribution")
_SCRIPTS = ("setup.sh", "run_autograder")
_ORDER = "gradescope.json"
_COURSE = "course.yml"


def make_autograder(project: Project, chapters: Sequence[str], course: Path | None = None) -> bytes:
    """The zip for an assignment about some chapters; it holds their solutions."""
    known = handout.chapters_with_exercises(project)
    for chapter in chapters:
        if chapter not in known:
            raise MomabError(
                f"no chapter {chapter!r} with exercises; there are {', '.join(known)}."
            )
    files = {name: (_FILES / name).read_bytes() for name in _SCRIPTS}
    files[_ORDER] = json.dumps({"chapters": list(chapters)}).encode()
    if course is not None:
        read_course(course)  # says what is odd about it
        files[_COURSE] = course.read_bytes()
    for name in ("_toc.yml", "requirements.txt", "LICENSE"):
        files[name] = (project.root / name).read_bytes()
    for place, under in ((project.library, "momab"), (project.root / "notebooks", "notebooks")):
        for path in sorted(place.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"{under}/{path.relative_to(place).as_posix()}"] = path.read_bytes()
    return wheel.zipped(files, _SCRIPTS)


# ---- inside --------------------------------------------------------------------------------


def grade_submission(root: Path) -> dict[str, Any]:
    """What Gradescope is told about the submission below its folder."""
    started = time.monotonic()
    project = Project.find(root / "source")
    chapters = json.loads((project.root / _ORDER).read_text(encoding="utf-8"))["chapters"]
    rules = project.root / _COURSE
    course = read_course(rules if rules.is_file() else None)
    course = replace(course, deadlines={}, extensions={})
    sheets = [Sheet.of(project, chapter) for chapter in chapters]
    with tempfile.TemporaryDirectory(prefix="momab-gradescope-") as folder:
        mine = Path(folder) / _student(root, course)
        shutil.copytree(root / "submission", mine, symlinks=True, ignore=_others)
        try:
            graded = grade_class(project, Path(folder), Limits(trust=True), 1, course)
        except MomabError as error:
            if any(mine.rglob("*.ipynb")):
                raise  # a failure of the grader is nobody's zero
            graded, said = Class((), (), ()), [str(error).replace(f" below {folder}", "")]
        else:
            said = [f"Seed of the arguments: {graded.seed}."]
    if graded.not_graded:
        raise MomabError(next(g.hint for g in graded.grades if g.status == "not graded"))
    found = {grade.exercise: grade for grade in graded.grades}
    said += [grade.hint for grade in graded.grades if not grade.exercise]
    tests = list(_tests(sheets, found, course))
    return {
        "score": round(sum(test["score"] for test in tests), 6),
        "execution_time": round(time.monotonic() - started),
        "output": "\n".join([*said, *_written(found.values())]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"seed": graded.seed},
        "tests": tests,
    }


def _student(root: Path, course: Course) -> str:
    """Who hands in: as the course lists it, by name, address or what is before its @."""
    path = root / "submission_metadata.json"
    users = json.loads(path.read_text(encoding="utf-8"))["users"] if path.is_file() else []
    names = [str(user.get(key) or "") for user in users for key in ("name", "email")]
    names += [name.partition("@")[0] for name in names if "@" in name]
    listed = [name for name in names if name in course.students]
    name = re.sub(r"[/\0]", " ", clean([*listed, *names, ""][0]))
    return name if name.strip("?. ") else "student"


def _others(folder: str, names: list[str]) -> list[str]:
    """What is not copied: all but notebooks and folders."""
    return [n for n in names if not (n.lower().endswith(".ipynb") or Path(folder, n).is_dir())]


def _tests(
    sheets: Sequence[Sheet], found: Mapping[str, Grade], course: Course
) -> Iterator[dict[str, Any]]:
    for sheet in sheets:
        for text in sheet.programming:
            grade = found.get(text.label)
            hint = plain_markdown(" ".join((grade.hint, *grade.notes))) if grade else ABSENT
            yield {
                "name": f"{text.label}: {plain_markdown(text.title)}",
                "score": (grade and grade.marks) or 0.0,
                "max_score": course.worth(text.label),
                "status": "passed" if grade and grade.status == "right" else "failed",
                "output": f"{grade.status if grade else 'missing'}. {hint}".strip(),
                "output_format": "text",
                "visibility": "visible",
            }


def _written(grades: Iterable[Grade]) -> Iterator[str]:
    labels = [grade.exercise for grade in grades if grade.status == "written"]
    if labels:
        yield f"To be read by a person: {', '.join(labels)}."


def main() -> None:
    """Grade; without results, Gradescope says that the autograder failed, and gives no mark."""
    root = Path(sys.argv[1])
    try:
        write_text(root / "results" / "results.json", json.dumps(grade_submission(root), indent=1))
    except MomabError as error:
        raise SystemExit(f"momab: {error}") from None


if __name__ == "__main__":
    main()
