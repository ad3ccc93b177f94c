"""One notebook, other parameters: pages that need no other file.

`run_page` executes a notebook (once per combination of values), renders it as the book would, and
writes each result as one HTML file with style, pictures and mathematics inside it, beside the
executed notebook.  Links into the rest of the book lead to the published site when its address is
known (``MOMAB_BASEURL``), and are plain text otherwise.

Only this page is built.  Of the other pages Sphinx reads what references need: their labelled
headings, statements and exercises, and whole only those that hold the glossary or the
bibliography (`reference_stub`).  So a reference reads as it does in the book.
"""

from __future__ import annotations

import base64
import html
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from momab.book.build import chosen_values
from momab.book.colophon import rerun_command
from momab.book.execute import Job, execute, load, plan
from momab.book.pages import PageBuilder
from momab.book.parameters import Settings, read_assignments, sweep, value_text
from momab.book.plain import readable
from momab.book.project import Project
from momab.book.stage import finished, write_frame
from momab.errors import MomabError


def run_page(
    project: Project,
    name: str,
    profile: str = "quick",
    assignments: Iterable[str] = (),
    output: Path | None = None,
    workers: int | None = None,
) -> list[Path]:
    """Execute one notebook and write its pages; return them, the index first if there are many."""
    notebook = project.notebook(name)
    if notebook.name not in project.pages:
        raise MomabError(f"{notebook.name} is a draft: add it to _toc.yml to make a page of it.")
    combinations = sweep(read_assignments(assignments))
    jobs: list[Job] = []
    for settings in combinations:
        if others := set(settings.per_notebook) - {notebook.name}:
            raise MomabError(f"this runs {notebook.name} alone, not {min(others)}.")
        mine = {**settings.everywhere, **settings.per_notebook.get(notebook.name, {})}
        only = Settings({}, {notebook.name: mine})
        values = chosen_values(project, [notebook.name], profile, only)
        jobs += plan(project, values)
    output = output or project.build / "runs" / notebook.name
    project.build.mkdir(parents=True, exist_ok=True)
    with (
        PageBuilder(project.root) as builder,
        tempfile.TemporaryDirectory(prefix=".run-", dir=project.build) as temporary,
    ):
        execute(jobs, workers)
        pages = _render(project, builder, jobs, Path(temporary))
        return _write(pages, jobs, output)


def _stem(job: Job, jobs: Sequence[Job]) -> str:
    """A file name that tells the pages of a sweep apart."""
    varying = [n for n in job.values if len({str(other.values[n]) for other in jobs}) > 1]
    parts = [f"{n}={value_text(job.values[n])}" for n in varying]
    return re.sub(r"[^\w.=-]+", "-", "_".join([job.notebook.name, *parts]))


def _render(project: Project, builder: PageBuilder, jobs: Sequence[Job], folder: Path) -> list[str]:
    """Build the executed page with stubs of the others around it, once per job."""
    import nbformat

    stage, name = folder / "stage", jobs[0].notebook.name
    stage.mkdir()
    for page in project.pages:
        if page != name:
            (stage / f"{page}.md").write_text(reference_stub(project, page), encoding="utf-8")
    write_frame(project, stage, {})
    pages = []
    for job in jobs:
        target = stage / f"{name}.ipynb"
        nbformat.write(finished(load(job), job), target)
        builder.build(stage, folder / "html", strict=False, only=[target])
        pages.append(_single_file(folder / "html", name))
    return pages


# ---- what other pages are referred to by -----------------------------------------------------

_WHOLE = re.compile(r"^[`:]{3,}\{(?:glossary|bibliography)\}", re.MULTILINE)
_HEADING = re.compile(r"^#+[ \t]+(?P<title>.+)$")
_TARGET = re.compile(r"^\((?P<label>[^()\s]+)\)=[ \t]*$")
_OPENING = re.compile(r"^(?P<mark>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ \t]*(?P<title>.*)$")
_LABEL = re.compile(r"^:label:[ \t]*(?P<label>\S+)[ \t]*$")


def reference_stub(project: Project, page: str) -> str:
    """As much of a page as references to it need: its title, and what has a label."""
    path = project.root / "book" / f"{page}.md"
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        if _WHOLE.search(text):
            return text
    else:
        notebook = project.root / "notebooks" / f"{page}.md"
        parts = (notebook, notebook.with_suffix(".exercises.md"))
        text = "\n".join(p.read_text(encoding="utf-8") for p in parts if p.is_file())
    return "\n".join(_labelled(text.splitlines(), page))


def _labelled(lines: Sequence[str], page: str) -> Iterable[str]:
    """The labelled headings and blocks of a page, each with its title and nothing inside."""
    labels: list[str] = []
    titled = False
    for number, line in enumerate(lines):
        if target := _TARGET.match(line):
            labels.append(target["label"])
        elif heading := _HEADING.match(line):
            if labels or not titled:
                yield from (f"({label})=" for label in labels)
                yield f"{'##' if titled else '#'} {heading['title']}\n"
                titled = True
            labels = []
        elif opening := _OPENING.match(line):
            options = lines[number + 1 : number + 8]
            label = next((m["label"] for o in options if (m := _LABEL.match(o))), None)
            if label and not opening["name"].startswith("solution"):
                if not titled:
                    yield f"# {page}\n"
                    titled = True
                yield f":::{{{opening['name']}}} {opening['title']}\n:label: {label}\n\n…\n:::\n"
    if not titled:
        yield f"# {page}\n"


# ---- one file --------------------------------------------------------------------------------


def _single_file(site: Path, name: str) -> str:
    """Cut a page's article out of a built site and put everything it needs into it."""
    from bs4 import BeautifulSoup

    from momab.book.sphinx.extension import mathjax_folder

    soup = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    article = soup.select_one("article.bd-article")
    assert article is not None
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
    for image in article.select("img[src]"):
        image["src"] = _data_uri(site / str(image["src"]))
    static = site / "_static"
    style = "".join(
        _inline_urls((static / file).read_text(encoding="utf-8"), static)
        for file in ("pygments.css", "momab.css")
    )
    config = soup.find("script", string=re.compile("window.MathJax"))
    mathjax = (mathjax_folder() / "tex-svg.js").read_text(encoding="utf-8")
    title = html.escape(soup.title.get_text() if soup.title else name)
    return (
        f'<!doctype html>\n<html lang="en" data-theme="light" class="single">\n<head>\n'
        f'<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style}</style>\n{config or ''}\n"
        f"<script>{mathjax.replace('</script', '<' + chr(92) + '/script')}</script>\n</head>\n"
        f'<body><main class="bd-content">{article}</main></body>\n</html>\n'
    )


def _data_uri(path: Path) -> str:
    kinds = {".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2"}
    kind = kinds.get(path.suffix, "application/octet-stream")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _inline_urls(css: str, folder: Path) -> str:
    def replace(match: re.Match[str]) -> str:
        path = folder / match[1]
        return f'url("{_data_uri(path)}")' if path.is_file() else match[0]

    return re.sub(r"""url\(["']?([\w./-]+)["']?\)""", replace, css)


def _write(pages: Sequence[str], jobs: Sequence[Job], output: Path) -> list[Path]:
    """Write pages and notebooks, and an index when there are several."""
    import nbformat

    output.mkdir(parents=True, exist_ok=True)
    written = []
    for page, job in zip(pages, jobs, strict=True):
        path = output / f"{_stem(job, jobs)}.html"
        path.write_text(page, encoding="utf-8")
        nbformat.write(readable(load(job)), path.with_suffix(".ipynb"))
        written.append(path)
    if len(jobs) == 1:
        return written
    index = output / "index.html"
    index.write_text(_index(written, jobs), encoding="utf-8")
    return [index, *written]


def _index(paths: Sequence[Path], jobs: Sequence[Job]) -> str:
    names = list(jobs[0].values)
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    rows = ""
    for path, job in zip(paths, jobs, strict=True):
        cells = "".join(f"<td>{html.escape(value_text(job.values[n]))}</td>" for n in names)
        command = html.escape(rerun_command(job))
        rows += (
            f'<tr><td><a href="{path.name}">page</a>, '
            f'<a href="{path.stem}.ipynb">notebook</a></td>{cells}'
            f"<td><code>{command}</code></td></tr>"
        )
    title = html.escape(f"{jobs[0].notebook.name}: {len(jobs)} runs")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>'
        f"body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:3rem auto;padding:1rem}}"
        f"table{{border-collapse:collapse}}td,th{{padding:.4rem .8rem;text-align:left;"
        f"border-bottom:1px solid #ccd}}</style></head><body><h1>{title}</h1>"
        f"<table><thead><tr><th scope=col>Result</th>{head}<th scope=col>Command</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></body></html>\n"
    )
