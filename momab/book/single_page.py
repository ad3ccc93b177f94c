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
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from momab._util.files import require_folder, require_ours, write_ours
from momab._util.prose import counted
from momab.book import editions
from momab.book.colophon import rerun_command
from momab.book.compare import (
    changing_lines,
    compare_pages,
    drawings_of,
    figures_of,
    small_multiples,
)
from momab.book.dates import today
from momab.book.execute import Job, execute, load_executed, make_job
from momab.book.fingerprint import Library
from momab.book.notebook import Node, Notebook
from momab.book.parameters import (
    Settings,
    only_for,
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
from momab.book.report import Report, make_report
from momab.book.stage import finished, write_frame
from momab.book.templating import fill_page
from momab.errors import MomabError

if TYPE_CHECKING:
    from bs4 import Tag

_SAME = "This figure is the same as in the book: the values that differ do not change it."
_PAGE_ONLY = {"html_additional_pages": {}, "html_use_index": False, "html_copy_source": False}


def run_page(
    project: Project,
    name: str,
    profile: str = "quick",
    assignments: Iterable[str] = (),
    output: Path | None = None,
    workers: int | None = None,
    edition: str = "instructor",
    compare: bool = False,
) -> list[Path]:
    """Execute one notebook and write its pages; return them, the index first if there are many.

    The student edition is executed with the solutions and written without them.  Unless a folder
    is named, every set of values has its own.  ``compare`` sets the page of the book beside each.
    """
    editions.check_edition(edition)
    if output is not None:
        require_folder(output)
    if Path(name).stem not in project.pages and Path(name).stem in project.names:
        raise MomabError(f"{Path(name).stem} is a draft: add it to _toc.yml to make a page of it.")
    notebook = project.notebook(name)
    jobs = planned_runs(project, notebook, profile, assignments)
    [book] = planned_runs(project, notebook, "quick", [])
    output = output or project.build / "runs" / notebook.name / _folder_name(jobs, book)
    require_ours(output, _file_names(jobs))
    project.build.mkdir(parents=True, exist_ok=True)
    execute([*jobs, book] if compare else jobs, workers)

    def loaded(job: Job) -> Node:
        node = load_executed(job)
        return editions.student(node) if edition == "student" else node

    nodes, pages = [loaded(job) for job in jobs], []
    with tempfile.TemporaryDirectory(prefix=".run-", dir=project.build) as temporary:

        def rendered(job: Job, node: Node) -> RenderedPage:
            return render_page(project, job, node, Path(temporary) / job.key, edition)

        default = rendered(book, loaded(book)) if compare else None
        for job, node in zip(jobs, nodes, strict=True):
            if default is not None and job.key == book.key:
                pages.append(default)
            else:
                pages.append(rendered(job, node))
        beside = loaded(book) if book.done else None  # is it executed anyway?
        files = [
            _with_banner(page, job, book, node, beside, default)
            for page, job, node in zip(pages, jobs, nodes, strict=True)
        ]
    return _write(files, pages, jobs, nodes, output, edition)


def planned_runs(
    project: Project, notebook: Notebook, profile: str, assignments: Iterable[str]
) -> list[Job]:
    """A job for every combination of values; of the profile only what concerns this notebook."""
    book = {notebook.name: notebook.parameters}
    mine = only_for(read_profile(profile, project.profiles), notebook.name, notebook.parameters)
    library = Library(project.library)
    jobs = []
    for settings in sweep(read_assignments(assignments)):
        if others := set(settings.per_notebook) - {notebook.name}:
            raise MomabError(f"this runs {notebook.name} alone, not {min(others)}.")
        wanted = {**settings.everywhere, **settings.per_notebook.get(notebook.name, {})}
        values = resolve(book, [mine, Settings({}, {notebook.name: wanted})])
        jobs.append(make_job(project, notebook, values[notebook.name], library))
    return list({job.key: job for job in jobs}.values())  # 1e4 and 10000 are one page


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
    title: str = ""
    site: Path | None = None

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
        title = soup.title.get_text() if soup.title else name
        return cls(shown, _one_file(site, title, article), title, site)


def render_page(
    project: Project, job: Job, node: Node, folder: Path, edition: str = "instructor"
) -> RenderedPage:
    """Build an executed page in a new folder, with stand-ins for the others around it."""
    import nbformat

    from momab.book.sphinx.building import build_pages

    name, stage = job.notebook.name, folder / "stage"
    stage.mkdir(parents=True)
    target = stage / f"{name}.ipynb"
    nbformat.write(finished(copy.deepcopy(node), job, edition=edition), target)
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
    style += (Path(__file__).parent / "templates" / "compare.css").read_text(encoding="utf-8")
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


def _folder_name(jobs: Sequence[Job], book: Job) -> str:
    """The folder of a set of values: what differs from the book's, in words if they are few."""
    parts = []
    for name, usual in book.values.items():
        texts = list(dict.fromkeys(value_text(job.values[name]) for job in jobs))
        if texts != [value_text(usual)]:
            parts.append(f"{name}={','.join(texts)}")
    name = re.sub(r"[^\w.=,+-]+", "-", "_".join(parts)) or "book"
    digest = hashlib.sha256("_".join(parts).encode()).hexdigest()[:8]
    return name if len(name) <= 80 else f"{name[:70]}-{digest}"


def _file_names(jobs: Sequence[Job]) -> list[str]:
    """The files that a run writes."""
    names = [f"{_stem(job, jobs)}{suffix}" for job in jobs for suffix in (".html", ".ipynb")]
    return names if len(jobs) == 1 else ["index.html", "index.ipynb", *names]


def _with_banner(
    page: RenderedPage,
    job: Job,
    book: Job,
    node: Node,
    beside: Node | None,
    default: RenderedPage | None,
) -> str:
    """One file with a banner that says whose page this is; beside the default if there is one."""
    from bs4 import BeautifulSoup

    article, said = page.article, ""
    if job.key != book.key and default is not None:
        found = compare_pages(default.article, article)
        article = found.article
        said = f"{counted(found.numbers, 'number')} and {counted(found.figures, 'figure')} differ."
    same = _same_figures(node, beside) if beside is not None and job.key != book.key else []
    soup = BeautifulSoup(article, "html.parser")
    article_tag = soup.select_one("article.bd-article")
    title = soup.select_one("h1")
    assert article_tag is not None
    assert page.site is not None
    figures = soup.select("figure.momab-figure")
    if default is None and len(figures) == len(same):
        for figure, unchanged in zip(figures, same, strict=True):
            if unchanged:
                note = soup.new_tag("p", attrs={"class": "run-same"})
                note.string = _SAME
                figure.insert_after(note)
    changed = {
        name: (value_text(book.values[name]), value_text(value))
        for name, value in job.values.items()
        if value != book.values[name]
    }
    kept = {n: value_text(v) for n, v in job.values.items() if n not in changed and value_text(v)}
    banner = fill_page(
        "banner.html",
        when=today(),
        changed=changed,
        kept=kept,
        said=said,
        same=sum(same),
        figures=len(same),
    )
    if title is not None:
        title.insert_after(*BeautifulSoup(banner, "html.parser").select("aside"))
    return _one_file(page.site, page.title, article_tag)


def _same_figures(node: Node, beside: Node) -> list[bool]:
    """Of every figure of an executed notebook, whether the book's notebook has it, too."""
    mine, theirs = (drawings_of(_shown_html(one)) for one in (node, beside))
    return [drawing in theirs for drawing in mine]


def _shown_html(node: Node) -> str:
    return "".join(
        output["data"]["text/html"]
        for cell in node.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    )


def _write(
    files: Sequence[str],
    pages: Sequence[RenderedPage],
    jobs: Sequence[Job],
    nodes: Sequence[Node],
    output: Path,
    edition: str,
) -> list[Path]:
    """Write pages and notebooks, and an index when there are several."""
    import nbformat

    texts = {}
    for file, job, node in zip(files, jobs, nodes, strict=True):
        texts[f"{_stem(job, jobs)}.html"] = file
        texts[f"{_stem(job, jobs)}.ipynb"] = nbformat.writes(readable(node)) + "\n"
    names = [name for name in texts if name.endswith(".html")]
    if len(jobs) > 1:
        index = _index(names, [page.article for page in pages], jobs, edition)
        texts |= {"index.html": index.page, "index.ipynb": index.notebook}
        names = ["index.html", *names]
    write_ours(output, texts)
    return [output / name for name in names]


def _index(
    names: Sequence[str], articles: Sequence[str], jobs: Sequence[Job], edition: str
) -> Report:
    """The page of a sweep: what changes, in a table, a plot and small multiples."""
    varying = [n for n in jobs[0].values if len({str(job.values[n]) for job in jobs}) > 1]
    runs = [{name: value_text(job.values[name]) for name in varying} for job in jobs]
    multiples = small_multiples(articles)
    values = {
        "page": jobs[0].notebook.name,
        "runs": runs,
        "pages": list(names),
        "numbers": changing_lines(articles, runs),
        "figures": [len(multiples), len(figures_of(articles[0]))],
    }
    labels = [", ".join(f"{name} = {text}" for name, text in run.items()) for run in runs]
    body = fill_page("multiples.html", rows=multiples, labels=labels, pages=list(names))
    return make_report("sweep", values, rerun_command(jobs, edition), body)
