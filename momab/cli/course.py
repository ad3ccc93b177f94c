"""The commands for teachers: `momab handout` and `momab grade`."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from momab.cli.terminal import interruptible


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
    from momab._util.files import require_folder
    from momab._util.validate import positive_number
    from momab.book.project import Project
    from momab.course import gradebook, grading

    project = Project.find()
    require_folder(output)
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
