"""One notebook, other parameters: pages that need no other file.

`run_page` executes a notebook (once per combination of values), renders it as the book would, and
writes each result as one HTML file with style, pictures and mathematics inside it, beside the
executed notebook.  Links into the rest of the book lead to the published site when its address is
known (``MOMAB_BASEURL``), and are plain text otherwise.

Only this page is built, beside small stand-ins for the pages that it refers to
(`momab.book.references`), so a reference reads as it does in the book.
"""

from __future__ import annotations

import base64
import copy
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momab._util.files import require_folder, write_text
from momab.book import editions
from momab.book.colophon import rerun_command
from momab.book.execute import Job, execute, load_executed, make_job
from momab.book.fingerprint import Library
from momab.book.notebook import Node, Notebook
from momab.book.parameters import (
    Settings,
    read_assignments,
    read_profile,
    resolve,
    sweep,
    value_text,
)
from momab.book.plain import readable
from momab.book.policy import alone_policy, seal_page
from momab.book.project import Project
from momab.book.references import reference_pages
from momab.book.stage import finished, write_frame
from momab.book.templating import fill_page
from momab.errors import MomabError

if TYPE_CHECKING:
    from bs4 import Tag

_PAGE_ONLY = {"html_additional_pages": {}, "html_use_index": False, "html_copy_source": False}


def run_page(
    project: Project,
    name: str,
    profile: str = "quick",
    assignments: Iterable[str] = (),
    output: Path | None = None,
    workers: int | None = None,
    exercises: bool = True,
    edition: str = "instructor",
) -> list[Path]:
    """Execute one notebook and write its pages; return them, the index first if there are many.

    The student edition is executed with the solutions and written without them.
    """
    editions.check_edition(edition)
    output = require_folder(output or project.build / "runs" / Path(name).stem)
    if Path(name).stem not in project.pages and Path(name).stem in project.names:
        raise MomabError(f"{Path(name).stem} is a draft: add it to _toc.yml to make a page of it.")
    notebook = project.notebook(name)
    notebook = notebook if exercises else notebook.alone()
    jobs = planned_runs(project, notebook, profile, assignments)
    project.build.mkdir(parents=True, exist_ok=True)
    execute(jobs, workers)
    nodes = [load_executed(job) for job in jobs]
    if edition == "student":
        nodes = [editions.student(node) for node in nodes]
    pages = []
    with tempfile.TemporaryDirectory(prefix=".run-", dir=project.build) as temporary:
        for job, node in zip(jobs, nodes, strict=True):
            folder = Path(temporary) / job.key
            pages.append(render_page(project, job, node, folder, edition).file)
    return _write(pages, jobs, nodes, output)


def planned_runs(
    project: Project, notebook: Notebook, profile: str, assignments: Iterable[str]
) -> list[Job]:
    """A job for every combination of values; of the profile only what concerns this notebook."""
    general = read_profile(profile, project.profiles)
    taken = {n: v for n, v in general.everywhere.items() if n in notebook.parameters}
    book = {notebook.name: notebook.parameters}
    mine = Settings(taken, _only(general.per_notebook, notebook.name))
    library = Library(project.library)
    jobs = []
    for settings in sweep(read_assignments(assignments)):
        if others := set(settings.per_notebook) - {notebook.name}:
            raise MomabError(f"this runs {notebook.name} alone, not {min(others)}.")
        wanted = {**settings.everywhere, **settings.per_notebook.get(notebook.name, {})}
        values = resolve(book, [mine, Settings({}, {notebook.name: wanted})])
        jobs.append(make_job(project, notebook, values[notebook.name], library))
    return list({job.key: job for job in jobs}.values())  # 1e4 and 10000 are one page


def _only(settings: Mapping[str, Mapping[str, object]], name: str) -> dict[str, Any]:
    return {name: settings[name]} if name in settings else {}


def _stem(job: Job, jobs: Sequence[Job]) -> str:
    """A file name that tells the pages of a sweep apart."""
    varying = [n for n in job.values if len({str(other.values[n]) for other in jobs}) > 1]
    parts = [f"{n}={value_text(job.values[n])}" for n in varying]
    return re.sub(r"[^\w.=-]+", "-", "_".join([job.notebook.name, *parts]))


@dataclass(frozen=True)
class RenderedPage:
    """A page that was built alone: its article, and one file that shows it without any other.

    Both have their pictures inside; the links of the article lead into a site.
    """

    article: str
    file: str

    @classmethod
    def read(cls, site: Path, name: str) -> RenderedPage:
        """Cut a page's article out of a built site."""
        from bs4 import BeautifulSoup

        soup = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        article = soup.select_one("article.bd-article")
        assert article is not None
        for image in article.select("img[src]"):
            if _is_inside(site, site / str(image["src"])):
                image["src"] = _data_uri(site / str(image["src"]))
        for place in article.select("[data-live]"):
            del place["data-instead"]  # the picture of other parameters is what was asked for
        shown = str(article)
        return cls(shown, _one_file(site, soup.title.get_text() if soup.title else name, article))


def render_page(
    project: Project, job: Job, node: Node, folder: Path, edition: str = "instructor"
) -> RenderedPage:
    """Build an executed page in a new folder, with stand-ins for the others around it."""
    import nbformat

    from momab.book.sphinx.building import build_pages

    name, stage = job.notebook.name, folder / "stage"
    stage.mkdir(parents=True)
    target = stage / f"{name}.ipynb"
    nbformat.write(finished(copy.deepcopy(node), job), target)
    others = reference_pages(project, name, target.read_text(encoding="utf-8"))
    for other, text in others.items():
        (stage / f"{other}.md").write_text(text, encoding="utf-8")
    write_frame(project, stage, {}, edition, pages={name, *others}, settings=_PAGE_ONLY)
    build_pages(stage, folder / "html", strict=False, only=[target])
    return RenderedPage.read(folder / "html", name)


# ---- one file --------------------------------------------------------------------------------


def _one_file(site: Path, title: str, article: Tag) -> str:
    """An article with style and scripts around it, and no link that leads nowhere."""
    for extra in article.select("a.headerlink"):
        extra.decompose()
    base = os.environ.get("MOMAB_BASEURL", "").rstrip("/")
    for link in article.select("a[href]"):
        target = str(link["href"])
        if re.match(r"[a-z]+:|#", target):
            continue
        if base:
            link["href"] = f"{base}/{target}"
        else:
            link.unwrap()
    sheets = ["pygments.css", "katex/katex.css", "momab.css", "statements.css"]
    files = []
    if places := article.select("[data-live]"):
        sheets.append("live/live.css")
        files += [f"live/{part}.js" for part in ("core", *(str(p["data-live"]) for p in places))]
    if article.select_one("[data-question]"):
        sheets.append("questions.css")
        files.append("questions.js")
    static = site / "_static"
    scripts = [_inline_script(static / file) for file in files]
    style = "".join(_inline_sheet(static / sheet) for sheet in sheets)
    page = fill_page("single.html", title=title, style=style, article=str(article), scripts=scripts)
    return seal_page(page, alone_policy(scripts))


def _inline_script(path: Path) -> str:
    """A script as it may stand inside a page: nothing in it looks like the end of one."""
    return path.read_text(encoding="utf-8").replace("</script", "<\\/script")


def _is_inside(site: Path, path: Path) -> bool:
    """Whether a path is a file of a site; a name from a table may look like any path."""
    return path.resolve().is_relative_to(site.resolve()) and path.is_file()


def _data_uri(path: Path) -> str:
    """A file as an address that holds it."""
    kinds = {".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2"}
    kind = kinds.get(path.suffix, "application/octet-stream")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _inline_sheet(sheet: Path) -> str:
    """A style sheet with its fonts inside."""

    def replace(match: re.Match[str]) -> str:
        path = sheet.parent / match[1]
        return f'url("{_data_uri(path)}")' if path.is_file() else match[0]

    css = sheet.read_text(encoding="utf-8")
    return re.sub(r"""url\(["']?([\w./-]+)["']?\)""", replace, css)


def _write(
    pages: Sequence[str], jobs: Sequence[Job], nodes: Sequence[Node], output: Path
) -> list[Path]:
    """Write pages and notebooks, and an index when there are several."""
    import nbformat

    written = []
    for page, job, node in zip(pages, jobs, nodes, strict=True):
        path = output / f"{_stem(job, jobs)}.html"
        write_text(path, page)
        write_text(path.with_suffix(".ipynb"), nbformat.writes(readable(node)) + "\n")
        written.append(path)
    if len(jobs) == 1:
        return written
    index = output / "index.html"
    write_text(index, _index(written, jobs))
    return [index, *written]


def _index(paths: Sequence[Path], jobs: Sequence[Job]) -> str:
    """The page that lists the runs of a sweep."""
    names = list(jobs[0].values)
    runs = [
        {
            "stem": path.stem,
            "values_text": [value_text(job.values[name]) for name in names],
            "command": rerun_command(job),
        }
        for path, job in zip(paths, jobs, strict=True)
    ]
    title = f"{jobs[0].notebook.name}: {len(jobs)} runs"
    page = fill_page("runs.html", title=title, names=names, runs=runs)
    return seal_page(page, alone_policy())
