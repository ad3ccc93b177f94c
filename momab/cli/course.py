"""The commands for teachers: `momab course student`, `handout`, `grade` and `mark`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from momab.cli.terminal import end_on_sigterm, interruptible
from momab.errors import MomabError


def student_command(
    folder: Annotated[Path, typer.Argument(help="Where to write it.")],
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that holds something.")
    ] = False,
) -> None:
    """Write the folder that students get: site, handouts, library, one command to start."""
    from momab.book.build import build
    from momab.book.project import Project
    from momab.course.student import make_distribution

    project = Project.find()
    make_distribution(project, folder, build(project, edition="student").site, force)
    print(f"for students: {folder / 'README.md'}")


def handout_command(
    chapter: Annotated[
        list[str] | None,
        typer.Argument(help="Chapters; all that have exercises if absent."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; _build/handouts if absent.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace handouts that were edited.")
    ] = False,
) -> None:
    """Write clean notebooks for students: the chapter, its exercises, and cells for the answers."""
    from momab._util.files import require_folder
    from momab.book.project import Project
    from momab.course.handout import write_handouts

    project = Project.find()
    if output is not None:
        require_folder(output)
    with interruptible("stopped; the handouts that were written are whole."):
        for path in write_handouts(project, chapter or (), output, force):
            print(path)


def grade_command(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Holds the notebooks: FOLDER/<student>/… or FOLDER/<student>-<chapter>.ipynb."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")],
    course: Annotated[
        Path | None, typer.Option(help="The rules of the course: points, deadlines, seeds (YAML).")
    ] = None,
    student: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Grade this student only; the others' results stay."),
    ] = None,
    received: Annotated[
        Path | None,
        typer.Option(
            help="When notebooks were received (CSV: student, chapter, received), for deadlines."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Replace results that had other settings.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the arguments drawn for each student.", min=0)
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(help="Processor time for a cell or an answer; three times that by the clock."),
    ] = 10.0,
    memory: Annotated[
        int, typer.Option(help="Megabytes for all that a notebook runs.", min=256)
    ] = 2048,
    workers: Annotated[
        int | None, typer.Option(help="Notebooks at once; all cores if absent.", min=1)
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run students' code without bubblewrap, as your own.")
    ] = False,
) -> None:
    """Grade all notebooks of a folder; what students wrote runs inside bubblewrap.

    Writes grades.csv, details.csv, items.csv and a report for every student.
    One results folder holds a term: each chapter and student is added to it or replaced in it.
    Nothing is written before everything is graded.
    """
    from momab._util.files import require_folder
    from momab._util.validate import positive_number
    from momab.book.project import Project
    from momab.course import gradebook, grading
    from momab.course.marking import read_marks
    from momab.course.sandbox import Limits
    from momab.course.settings import read_course, read_received

    project = Project.find()
    require_folder(output)
    rules = read_course(course)
    times = read_received(received, rules)
    there = (output / "results.json").is_file()
    old = gradebook.recorded(project, output) if there else None
    if seed is not None:
        rules = rules.model_copy(update={"seed": seed})
    elif rules.seed is None and old:
        rules = rules.model_copy(update={"seed": old.seed})
    read_marks(output)  # before the work, should they be damaged
    limits = Limits(positive_number(seconds, "--seconds"), memory, trust=trust)
    with interruptible("stopped; no results were written."):
        graded = grading.grade_class(
            project, folder, limits, workers, rules, student or (), times, old, again, _say
        )
    graded = gradebook.write_gradebook(project, graded, output)
    marks = [graded.total(student) for student in graded.students]
    who = "1 student" if len(marks) == 1 else f"{len(marks)} students"
    most = max(map(graded.out_of, graded.students))
    print(f"{who}, median {median(marks):g} of {most:g} marks: {output / 'grades.csv'}")
    if graded.not_graded:
        names = ", ".join(graded.not_graded)
        raise NotGraded(f"not everything could be graded, of {names}; details.csv says why.")


class NotGraded(MomabError):  # noqa: N818 (it is an outcome, not an error)
    """The grader failed on something; results are written, and the command exits with code 1."""

    exit_code = 1


def _say(line: str) -> None:
    print(line, flush=True)


def mark_command(
    results: Annotated[Path, typer.Argument(help="The folder that `momab course grade` wrote.")],
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Write feedback and grades; open no page.")
    ] = False,
) -> None:
    """Mark answers in words on a page of this machine, each beside exercise and solution.

    Keys give points and move on; ? lists them.  Every mark is kept at once in RESULTS/marks.json,
    so stop with Ctrl-C and go on later.  The button on the overview, or --feedback, puts the marks
    into RESULTS/grades.csv and into the page of every student, RESULTS/reports.
    """
    from momab._util.files import require_folder
    from momab.book.project import Project

    project = Project.find()  # what is missing without a checkout is no news
    from momab.course import gradebook, mark_app
    from momab.course.marking import FILE, Marking

    graded = gradebook.recorded(project, results)
    require_folder(results)
    marking = Marking(graded, results)
    if again := len(marking.again()):
        many = "1 mark does" if again == 1 else f"{again} marks do"
        print(f"{many} not count any more, because the answer or its points have changed.")
    if feedback:
        print(mark_app.write_feedback(project, graded, results))
        return
    end_on_sigterm()
    try:
        with closing(mark_app.MarkServer(project, marking)) as marks:
            print(f"{marking.progress}; go on at {marks.server.entrance} (Ctrl-C ends it)")
            sys.stdout.flush()
            marks.server.run()
    except KeyboardInterrupt:
        kept = f"{marking.progress}, all kept in {results / FILE}"
        print(f"momab: stopped; {kept}; --feedback writes the feedback.", file=sys.stderr)
        raise SystemExit(130) from None


def questions_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")],
    kind: Annotated[
        str, typer.Option("--format", help="moodle (XML), gift, or qti (a zip of QTI 2.1).")
    ] = "moodle",
) -> None:
    """Write all questions for a learning platform, with computed numbers and explanations."""
    from momab._util.files import atomically, require_file
    from momab.book.project import Project
    from momab.course.bank import question_bank

    require_file(output)
    content, count = question_bank(Project.find(), kind)
    with atomically(output) as file:
        file.write(content)
    print(f"{count} questions: {output}")
