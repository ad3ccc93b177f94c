"""The site: executed notebooks and prose pages staged, built with warnings as errors, swapped in.

`build` executes what has changed, writes a book source without anything left to execute under
``_build/stage``, lets Sphinx build it into a temporary folder, and only then exchanges that
folder with ``_build/html``.  A build that fails or is interrupted leaves the last good site where
it is.  When nothing has changed since the last build, the site is left alone; whether that is so
is told by one digest of all inputs (`momab.book.inputs`), before anything heavy is imported.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from momab._util.files import require_folder
from momab.book.inputs import BuildRecord, digest_inputs
from momab.book.project import Project
from momab.book.timings import spent, step
from momab.errors import MomabError

if TYPE_CHECKING:
    from momab.book.execute import Job
    from momab.book.parameters import Settings, Values

_ROOM = 300_000_000  # bytes that a staged and a built book, and the executed pages, may need


@dataclass(frozen=True)
class BuildReport:
    """What a build did."""

    site: Path
    executed: int
    reused: int
    built: bool
    seconds: float
    steps: dict[str, float] = field(default_factory=dict)
    ran: tuple[Job, ...] = ()

    @property
    def notebooks(self) -> dict[str, float]:
        """The seconds that each executed notebook took."""
        return {job.notebook.name: job.seconds for job in self.ran}


def chosen_values(
    project: Project,
    names: Iterable[str],
    profile: str,
    settings: Settings,
    tell: Callable[[str], None] = lambda sentence: None,
) -> dict[str, Values]:
    """Every notebook's parameter values, from its defaults, a profile and the command line."""
    from momab.book.parameters import read_profile, resolve

    everything = {name: project.notebook(name).parameters for name in project.names}
    layers = [read_profile(profile, project.profiles), settings]
    values = resolve(everything, layers, tell)
    return {name: values[name] for name in names}


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def build(
    project: Project,
    profile: str = "quick",
    assignments: Iterable[str] = (),
    workers: int | None = None,
    quiet: bool = False,
    edition: str = "instructor",
    output: Path | None = None,
) -> BuildReport:
    """Execute and build the whole book; the site is at ``_build/html`` afterwards.

    The student edition is made of the same executed notebooks, and is at ``_build/student``.
    ``output`` is another place for the site: a new folder, an empty one, or an older site.
    """
    started = time.perf_counter()
    assignments = list(assignments)
    student = edition == "student"
    site = project.build / ("student" if student else "html")
    if output is not None:
        site = _free_place(output)
    inputs = digest_inputs(project, profile, assignments, edition)
    record = BuildRecord.read(site)
    complete = student or (project.build / "executed").is_dir()
    if record.inputs == inputs and complete:
        return BuildReport(site, 0, record.notebooks, False, time.perf_counter() - started)
    spent.clear()
    with step("the rest"):
        executed, jobs = _build_changed(
            project, profile, assignments, workers, quiet, edition, site, inputs
        )
    seconds = time.perf_counter() - started
    built = record.inputs != inputs
    reused = len(jobs) - len(executed)
    return BuildReport(site, len(executed), reused, built, seconds, dict(spent), tuple(executed))


def _build_changed(
    project: Project,
    profile: str,
    assignments: list[str],
    workers: int | None,
    quiet: bool,
    edition: str,
    site: Path,
    inputs: str,
) -> tuple[list[Job], list[Job]]:
    """Execute and build what is not as it was: what ran, and of which jobs."""
    from momab.book.editions import check_edition
    from momab.book.execute import execute, keep_for_book, plan_jobs
    from momab.book.parameters import read_assignments
    from momab.book.stage import write_stage

    check_edition(edition)
    settings = read_assignments(assignments)
    values = chosen_values(project, project.notebook_pages, profile, settings, _say)
    require_folder(project.build, _ROOM)
    with one_at_a_time(project.build):
        jobs: list[Job] = plan_jobs(project, values)
        with step("execute"):
            executed = execute(jobs, workers, quiet)
        keep_for_book(jobs)
        stage = project.build / ("stage-student" if edition == "student" else "stage")
        with step("stage"):
            write_stage(project, jobs, stage, edition)
        if BuildRecord.read(site).inputs != inputs:
            build_site(stage, site, BuildRecord(inputs, len(jobs)))
    return executed, jobs


def _free_place(folder: Path) -> Path:
    """The folder, if a site may take its place."""
    site = require_folder(folder).absolute()
    if site.is_dir() and any(site.iterdir()) and not (site / "build.json").is_file():
        raise MomabError(
            f"{folder} holds files that momab did not write; name a new or an empty folder."
        )
    return site


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let builds in one folder wait for each other."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print("waiting for another build in this folder", file=sys.stderr, flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def build_site(stage: Path, site: Path, record: BuildRecord) -> None:
    """Build a staged book with warnings as errors, and exchange it with the last good site."""
    from momab.book.sphinx.building import build_pages

    site.parent.mkdir(parents=True, exist_ok=True)
    _recover(site)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=site.parent) as temporary:
        new = Path(temporary) / "html"
        with step("start Sphinx"):
            build_pages(stage, new)
        with step("copy"):
            (new / ".buildinfo").unlink(missing_ok=True)
            record.write(new)
            swap(new, site)


def swap(new: Path, site: Path) -> None:
    """Put a new folder in the place of an old one; on any failure the old one is back."""
    old = site.with_name(site.name + ".previous")
    shutil.rmtree(old, ignore_errors=True)
    if site.exists():
        os.rename(site, old)
    try:
        os.rename(new, site)
    except BaseException:
        _recover(site)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _recover(site: Path) -> None:
    """Undo an exchange that was cut short between its two steps."""
    old = site.with_name(site.name + ".previous")
    if old.is_dir() and not site.exists():
        os.rename(old, site)
