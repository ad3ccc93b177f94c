"""The staged book: a source with executed notebooks, in which nothing is left to execute.

Pages move to the root of the staged book (``notebooks/model.md`` becomes ``model.html``), so
pages refer to each other by label, never by path.  A page's deck is its last cell, after the
colophon.
"""

from __future__ import annotations

import shutil
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from momab.book import editions, toc
from momab.book.colophon import add_colophon
from momab.book.execute import Job, load_executed
from momab.book.notebook import Node, shown_code
from momab.book.plain import checked_source, readable
from momab.book.project import Project


def write_stage(
    project: Project, jobs: Iterable[Job], stage: Path, edition: str = "instructor"
) -> None:
    """Write the book source with executed notebooks."""
    shutil.rmtree(stage, ignore_errors=True)
    (stage / "downloads").mkdir(parents=True)
    student = edition == "student"
    if not student:
        shutil.rmtree(project.build / "executed", ignore_errors=True)
        (project.build / "executed").mkdir()
    sources: dict[str, str] = {}
    for job in jobs:
        _write_notebook(project, job, stage, student)
        sources[job.notebook.name] = f"notebooks/{job.notebook.name}.md"
    for path in sorted((project.root / "book").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if student and editions.for_instructors(text):
            continue
        text = editions.student_text(text) if student else text
        (stage / path.name).write_text(text, encoding="utf-8")
        sources[path.stem] = f"book/{path.name}"
    write_frame(project, stage, sources, edition, sources if student else None)


def _write_notebook(project: Project, job: Job, stage: Path, student: bool) -> None:
    """Write one page's notebook and its downloads."""
    import jupytext
    import nbformat

    notebook, name = job.notebook, job.notebook.name
    node = load_executed(job)
    last = notebook.exercises_path if notebook.own < len(notebook.node.cells) else notebook.path
    editions.check_solutions(node, f"notebooks/{last.name}")
    source, slides = notebook.text, notebook.slides
    if student:
        node = editions.student(node)
        source = notebook.asked(jupytext.writes(editions.student(notebook.node), "md:myst"))
        slides = editions.student_text(slides) if slides else ""
    else:
        nbformat.write(node, project.build / "executed" / f"{name}.ipynb")
    nbformat.write(readable(node), stage / "downloads" / f"{name}.ipynb")
    (stage / "downloads" / f"{name}.md").write_text(checked_source(source), encoding="utf-8")
    for path in notebook.inputs:
        if path.suffix == ".csv":  # recorded results, for pages to link to
            shutil.copy(path, stage / "downloads")
    nbformat.write(finished(node, job, slides), stage / f"{name}.ipynb")


def finished(node: Node, job: Job, slides: str = "", edition: str = "instructor") -> Node:
    """The notebook as it is staged: every cell knows its source; colophon and deck at the end.

    The code of a figure is shown without its caption.
    """
    import nbformat

    for cell in node.cells:
        if cell.cell_type == "code":
            cell.source = shown_code(cell.source) or cell.source  # prose has none
        path, number = job.notebook.place_of(int(cell.id.rpartition("-")[2]) + 1)
        cell.metadata["momab_source"] = {"file": path.name, "cell": number}
    add_colophon(node, job, edition)
    if slides.strip():
        deck = nbformat.v4.new_markdown_cell(slides, id=f"{job.notebook.name}-slides")
        deck.metadata["momab_source"] = {"file": job.notebook.slides_path.name, "cell": None}
        node.cells.append(deck)
    return node


def write_frame(
    project: Project,
    stage: Path,
    sources: Mapping[str, str],
    edition: str = "instructor",
    pages: Container[str] | None = None,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Write what a staged book needs besides its pages: assets, configuration, contents.

    The contents list all pages, or these ones; ``settings`` override Sphinx's.
    """
    import yaml

    assets = shutil.ignore_patterns("*.md")
    shutil.copytree(project.root / "book", stage / "book", ignore=assets)
    if (project.root / "proofs").is_dir():
        shutil.copytree(project.root / "proofs", stage / "proofs")
    citation = project.root / "CITATION.cff"
    if citation.is_file():
        shutil.copyfile(citation, stage / citation.name)
    config = yaml.safe_load((project.root / "_config.yml").read_text(encoding="utf-8"))
    config["execute"] = {"execute_notebooks": "off"}
    sphinx = config.setdefault("sphinx", {}).setdefault("config", {})
    sphinx |= {"momab_sources": dict(sources), "momab_edition": edition, **(settings or {})}
    (stage / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    contents = yaml.safe_load((project.root / "_toc.yml").read_text(encoding="utf-8"))
    contents = toc.flat(contents)
    if pages is not None:
        contents = toc.only(contents, pages)
    (stage / "_toc.yml").write_text(yaml.safe_dump(contents, sort_keys=False), encoding="utf-8")
