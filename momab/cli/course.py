"""The commands for teachers: `momab student`, `momab handout` and `momab grade`."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from momab.cli.terminal import interruptible


def student_command(
    folder: Annotated[Path, typer.Argument(help="Where to write it; it may be a repository.")],
    address: Annotated[
        str, typer.Option(help="Where it will be public, https://github.com/WHO/NAME, for links.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that someone has edited.")
    ] = False,
) -> None:
    """Write the folder that students get: site, handouts, package, one command to start.

    It holds no solutions and may be public; README.md and HOSTING.md in it say the rest.
    """
    from momab.book.build import build
    from momab.book.project import Project
    from momab.course.student import make_distribution

    project = Project.find()
    site = build(project, edition="student").site
    files = make_distribution(project, folder, site, address, force)
    print(f"{len(files)} files for students: {folder / 'README.md'}")


def handout_command(
    chapter: Annotated[
        list[str] | None, typer.Argument(help="Chapters; all that have exercises if absent.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; _build/handouts if absent.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace handouts that someone has edited.")
    ] = False,
) -> None:
    """Write clean notebooks for students: the chapter, its exercises, and cells for the answers."""
    from momab.book.project import Project
    from momab.course.handout import write_handouts

    for path in write_handouts(Project.find(), chapter or (), output, force):
        print(path)


def grade_command(
    folder: Annotated[
        Path, typer.Argument(help="Holds the notebooks: FOLDER/<student>/… or <student>-<chapter>.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")],
    seconds: Annotated[
        float,
        typer.Option(help="Processor time for a cell or an answer; three times that by the clock."),
    ] = 10.0,
    memory: Annotated[
        int, typer.Option(help="Megabytes for each process that runs students' code.", min=256)
    ] = 2048,
    workers: Annotated[
        int | None, typer.Option(help="Notebooks at once; all cores if absent.", min=1)
    ] = None,
) -> None:
    """Grade all notebooks below a folder; what students wrote runs behind a fence.

    Writes grades.csv, details.csv and a report for every student.  Nothing is written before
    everything is graded.
    """
    from momab._util.validate import positive_number
    from momab.book.project import Project
    from momab.course import gradebook, grading

    project = Project.find()
    with interruptible("stopped; no results were written."):
        graded = grading.grade_class(
            project, folder, positive_number(seconds, "--seconds"), memory, workers, _say
        )
    gradebook.write_gradebook(graded, output)
    marks = [graded.total(student) for student in graded.students]
    who = "1 student" if len(marks) == 1 else f"{len(marks)} students"
    print(f"{who}, median {median(marks):g} of {graded.out_of} marks: {output / 'grades.csv'}")


def _say(line: str) -> None:
    print(line, flush=True)
