"""The site: executed notebooks and prose pages staged, built with warnings as errors, swapped in.

`build` executes what has changed, writes a book source without anything left to execute under
``_build/stage``, lets jupyter-book build it into a temporary folder, and only then exchanges that
folder with ``_build/html``.  A build that fails or is interrupted leaves the last good site where
it is.  When nothing has changed since the last build, the site is left alone.

Pages move to the root of the staged book (``notebooks/model.md`` becomes ``model.html``), so
pages refer to each other by label, never by path.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momab.book import editions
from momab.book.notebook import BuildError, Job, Project, execute, load, plan
from momab.book.parameters import Settings, Values, read_assignments, read_profile, resolve


@dataclass(frozen=True)
class Report:
    """What a build did."""

    site: Path
    executed: int
    reused: int
    built: bool
    seconds: float


def chosen_values(
    project: Project, names: Iterable[str], profile: str, settings: Settings
) -> dict[str, Values]:
    """Every notebook's parameter values, from its defaults, a profile and the command line."""
    everything = {name: project.notebook(name).parameters for name in project.names}
    layers = [read_profile(profile, project.profiles), settings]
    values = resolve(everything, layers)
    return {name: values[name] for name in names}


def build(
    project: Project,
    profile: str = "quick",
    assignments: Iterable[str] = (),
    workers: int | None = None,
    quiet: bool = False,
    edition: str = "instructor",
) -> Report:
    """Execute and build the whole book; the site is at ``_build/html`` afterwards.

    The student edition is made of the same executed notebooks, and is at ``_build/student``.
    """
    started = time.perf_counter()
    settings = read_assignments(assignments)
    in_book = [name for name in project.names if name in project.pages]  # the rest are drafts
    values = chosen_values(project, in_book, profile, settings)
    student = editions.check_edition(edition) == "student"
    site = project.build / ("student" if student else "html")
    with one_at_a_time(project.build):
        jobs = plan(project, values)
        executed = execute(jobs, workers, quiet)
        stage = project.build / ("stage-student" if student else "stage")
        key = write_stage(project, jobs, stage, edition)
        fresh = _site_key(site) != key
        if fresh:
            build_site(stage, site, key)
    seconds = time.perf_counter() - started
    return Report(site, executed, len(jobs) - executed, fresh, seconds)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let builds in one folder wait for each other, where the system can lock files."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another build in this folder", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _site_key(site: Path) -> str:
    try:
        return str(json.loads((site / "build.json").read_text(encoding="utf-8"))["key"])
    except (OSError, ValueError, KeyError):
        return ""


# ---- staging -------------------------------------------------------------------------------


def write_stage(
    project: Project, jobs: Iterable[Job], stage: Path, edition: str = "instructor"
) -> str:
    """Write the book source with executed notebooks; return a digest of all that matters."""
    import jupytext
    import nbformat

    from momab.book.colophon import add_colophon, readable

    shutil.rmtree(stage, ignore_errors=True)
    (stage / "downloads").mkdir(parents=True)
    executed_folder = project.build / "executed"
    student = edition == "student"
    if not student:
        shutil.rmtree(executed_folder, ignore_errors=True)
        executed_folder.mkdir()
    sources: dict[str, str] = {}
    for job in jobs:
        name = job.notebook.name
        node = load(job)
        editions.check_solutions(node, f"notebooks/{name}.md")
        source = job.notebook.path.read_text(encoding="utf-8")
        if student:
            node = editions.student(node)
            source = jupytext.writes(editions.student(job.notebook.node), "md:myst")
        else:
            nbformat.write(node, executed_folder / f"{name}.ipynb")
        nbformat.write(readable(node), stage / "downloads" / f"{name}.ipynb")
        (stage / "downloads" / f"{name}.md").write_text(source, encoding="utf-8")
        add_colophon(node, job)
        nbformat.write(node, stage / f"{name}.ipynb")
        sources[name] = f"notebooks/{name}.md"
    for path in sorted((project.root / "book").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if student and editions.for_instructors(text):
            continue
        text = editions.student_text(text) if student else text
        (stage / path.name).write_text(text, encoding="utf-8")
        sources[path.stem] = f"book/{path.name}"
    write_frame(project, stage, sources, edition)
    return _digest(project, stage)


def write_frame(
    project: Project, stage: Path, sources: Mapping[str, str], edition: str = "instructor"
) -> None:
    """Write what a staged book needs besides its pages: assets, configuration, contents."""
    import yaml

    assets = shutil.ignore_patterns("*.md")
    shutil.copytree(project.root / "book", stage / "book", ignore=assets)
    config = yaml.safe_load((project.root / "_config.yml").read_text(encoding="utf-8"))
    config["execute"] = {"execute_notebooks": "off"}
    settings = config.setdefault("sphinx", {}).setdefault("config", {})
    settings |= {"momab_sources": dict(sources), "momab_edition": edition}
    (stage / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    toc = yaml.safe_load((project.root / "_toc.yml").read_text(encoding="utf-8"))
    toc = _flat(toc)
    if edition == "student":
        toc = _only(toc, sources)
    (stage / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")


def _flat(entry: Any) -> Any:
    """The table of contents with every page at the root."""
    if isinstance(entry, list):
        return [_flat(item) for item in entry]
    if isinstance(entry, dict):
        return {
            key: Path(value).name if key in ("file", "root") else _flat(value)
            for key, value in entry.items()
        }
    return entry


def _only(entry: Any, pages: Container[str]) -> Any:
    """The table of contents with these pages only, and no empty parts."""
    if isinstance(entry, list):
        kept = [_only(item, pages) for item in entry]
        return [item for item in kept if item]
    if isinstance(entry, dict):
        if "file" in entry and entry["file"] not in pages:
            return None
        inner = {key: _only(value, pages) for key, value in entry.items()}
        return None if inner.get("chapters") == [] and "file" not in inner else inner
    return entry


def _digest(project: Project, stage: Path) -> str:
    """A digest of the staged book, the library it documents, and the tools that build it."""
    digest = hashlib.sha256(project.lock.encode())
    digest.update(json.dumps(_environment()).encode())
    for folder, pattern in ((stage, "*"), (project.library, "*.py")):
        for path in sorted(folder.rglob(pattern)):
            if path.is_file():
                digest.update(path.relative_to(folder).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _environment() -> dict[str, str]:
    """The settings that a publishing workflow may give: where the site and its source live."""
    names = ("MOMAB_BASEURL", "MOMAB_REPOSITORY")
    return {name: os.environ.get(name, "") for name in names}


# ---- building ------------------------------------------------------------------------------


def build_site(stage: Path, site: Path, key: str) -> None:
    """Build a staged book with warnings as errors, and exchange it with the last good site."""
    site.parent.mkdir(parents=True, exist_ok=True)
    _recover(site)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=site.parent) as temporary:
        run_jupyter_book(stage, Path(temporary))
        new = Path(temporary) / "_build" / "html"
        for leftover in (".buildinfo", "objects.inv.tmp"):
            (new / leftover).unlink(missing_ok=True)
        (new / "build.json").write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")
        swap(new, site)


def run_jupyter_book(stage: Path, output: Path, strict: bool = True) -> None:
    """Run jupyter-book on a staged source; its complaints become one BuildError."""
    flags = ["-W", "-n", "--keep-going"] if strict else []
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", str(stage), "-q"]
    command += ["--path-output", str(output), *flags]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    page = output / "_build" / "html" / "index.html"
    if done.returncode != 0 or not page.is_file():
        text = re.sub(r"\x1b\[[\d;]*m", "", done.stderr + done.stdout)
        text = text.replace(str(stage) + os.sep, "")
        # myst-nb counts 10,000 lines per cell
        text = re.sub(
            r"([\w-]+)\.ipynb:(\d+)",
            lambda m: f"notebooks/{m[1]}.md, cell {int(m[2]) // 10_000}",
            text,
        )
        lines = [line for line in text.splitlines() if "WARNING" in line or "ERROR" in line]
        detail = "\n".join(lines) if lines else text.strip()[-4000:]
        raise BuildError(f"the pages did not build; the last good site stays.\n{detail}")


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
