"""The pages that `momab serve` shows: the site's own with a form, runs, sweeps, the history."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from momab._util.loopback import RefusedError
from momab.book.colophon import rerun_command
from momab.book.compare import changing_lines, compare_pages, figures_of, small_multiples
from momab.book.execute import Job as Execution
from momab.book.execute import forget_old, load_executed, make_job
from momab.book.fingerprint import Library
from momab.book.notebook import Notebook
from momab.book.parameters import (
    Parameter,
    only_for,
    profile_names,
    read_profile,
    resolve,
    value_text,
)
from momab.book.plain import readable
from momab.book.policy import served_policy
from momab.book.project import Project
from momab.book.report import finish_report, notebook_of, report_cells
from momab.book.single_page import planned_runs, render_page
from momab.book.templating import fill_page
from momab.errors import MomabError
from momab.serve import policies
from momab.serve.policies import PolicyRun
from momab.serve.runs import KeptSweep, Run, Runs
from momab.serve.tables import RACE
from momab.study import own

STUDY = "own-data"
"""The page that takes a visitor's own table."""

POLICY = "bring-your-policy"
"""The page that takes a visitor's own policy."""

MOST = 24
"""The most runs of a sweep."""

_ARTICLE = re.compile(r'<article class="bd-article".*?</article>', re.DOTALL)
_HEAD = (
    '<link rel="stylesheet" href="_serve/compare.css">\n'
    '<link rel="stylesheet" href="_serve/serve.css">\n'
    '<script defer src="_serve/serve.js"></script>\n</head>'
)
_LIVE = re.compile(r"<script\b[^>]*_static/live/[^>]*></script>")
_CONTENTS = re.compile(r'<ul class="[^"]*\bsection-nav\b.*?(?=</nav>)', re.DOTALL)


_filled = partial(fill_page, package="momab.serve")


class ServedPages:
    """A built site, the notebooks behind it, and the runs that are kept."""

    def __init__(self, project: Project, site: Path, runs: Runs) -> None:
        """Serve this site."""
        self.project, self.site, self.runs = project, site, runs
        self._compared: dict[tuple[str, float, float], tuple[str, int, int]] = {}
        self._lock, self._tidying = threading.Lock(), threading.Lock()

    def notebook(self, page: str) -> Notebook:
        """The notebook of a page of the site."""
        if page not in self.project.notebook_pages:
            raise RefusedError(404, f"no page {page[:40]!r} can be run.")
        return self.project.notebook(page)

    # ---- the form --------------------------------------------------------------------------

    def form(self, page: str) -> dict[str, Any]:
        """What the form of a page needs: its parameters, the presets, what was run."""
        notebook = self.notebook(page)
        shown = [p for p in notebook.parameters.values() if not free_text(p)]
        names = {p.name for p in shown}
        presets = {
            profile: {n: value_text(v) for n, v in values.items() if n in names}
            for profile, values in self._profiles(notebook).items()
        }
        last = next((run for run in self.runs.of_page(page) if not run.table), None)
        yours = {n: value_text(v) for n, v in last.values.items() if n in names} if last else None
        return {
            "page": page,
            "parameters": [_described(p) for p in shown],
            "presets": {**presets, "yours": yours},
            "study": [_described(p) for p in RACE.values()] if page == STUDY else None,
            "policy": policies.VALUES if page == POLICY else None,
            "most": MOST,
            "history": [entry(run) for _, run in zip(range(6), self.runs.of_page(page))],
        }

    def _profiles(self, notebook: Notebook) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for name in profile_names(self.project.profiles):
            general = read_profile(name, self.project.profiles)
            layers = [only_for(general, notebook.name, notebook.parameters)]
            found[name] = resolve({notebook.name: notebook.parameters}, layers)[notebook.name]
        return found

    def planned(self, page: str, values: object) -> list[Execution]:
        """The executions that a form asks for: several if a value is a list of values."""
        notebook = self.notebook(page)
        found = self._planned(notebook, assignments(notebook, values))
        if len(found) > MOST:
            raise MomabError(f"a sweep makes at most {MOST} pages here; this one has {len(found)}.")
        return found

    def planned_study(self, asked: own.Request) -> list[Execution]:
        """The execution of the report on a visitor's table."""
        import nbformat

        path = Path(str(resources.files("momab.book") / "templates" / "study.md"))
        node = nbformat.from_dict(notebook_of(report_cells("study", asked.values), {}))
        notebook = Notebook("study", path, node, {}, len(node.cells))
        library = Library(self.project.library)
        made = make_job(self.project, notebook, {}, library)
        digest = hashlib.sha256(f"{made.key}{asked.digest}".encode()).hexdigest()[:24]
        path = made.path.with_name(f"study-{digest}.ipynb")
        return [TableStudy(notebook, {}, digest, path, asked)]

    def planned_policy(self, values: object, policy: object) -> PolicyRun:
        """The runs of a policy in a file, with the values of the form that hold for it."""
        name, text = policies.taken(policy)
        notebook = self.notebook(POLICY)
        given = dict(values) if isinstance(values, dict) else {}
        chosen = {n: given[n] for n in policies.VALUES if n in given}
        assignments(notebook, chosen)
        known = {n: notebook.parameters[n] for n in policies.VALUES}
        checked = {n: p.check(chosen.get(n, p.default)) for n, p in known.items()}
        made = make_job(self.project, notebook, {}, Library(self.project.library))
        asked = f"{made.key}{json.dumps([name, text, checked])}"
        key = hashlib.sha256(asked.encode(errors="replace")).hexdigest()[:24]
        return PolicyRun(notebook, checked, key, self._kept_policy(key), name, text)

    def _kept_policy(self, key: str) -> Path:
        return self.project.build / "serve" / "policies" / f"{key}.json"

    def _planned(self, notebook: Notebook, assigned: Iterable[str]) -> list[Execution]:
        try:
            return planned_runs(self.project, notebook, "quick", assigned)
        except MomabError as error:  # the form knows which page it is
            raise MomabError(str(error).removeprefix(f"{notebook.name}: ")) from None

    # ---- a finished run --------------------------------------------------------------------

    def known(self, execution: Execution) -> bool:
        """Whether a run is kept as it would be made now."""
        run = self.runs.run(run_id(execution))
        return run is not None and run.source == self._source(execution)

    def _source(self, execution: Execution) -> str:
        return hashlib.sha256(execution.notebook.text.encode()).hexdigest()[:16]

    def finish(self, execution: Execution, folder: Path) -> None:
        """Render an executed run and keep it; the folder is for the time being."""
        import nbformat

        if isinstance(execution, PolicyRun):
            return  # its result is kept as it is
        if isinstance(execution, TableStudy):
            self._finish_study(execution)
            return
        notebook = execution.notebook
        try:
            node = load_executed(execution)
            rendered = render_page(self.project, execution, node, folder)
            article = rendered.article
            if any(map(free_text, notebook.parameters.values())):
                article = without_scripts(article)
            quick = self._profiles(notebook)["quick"]
            changed = {
                n: (value_text(quick[n]), value_text(v))
                for n, v in execution.values.items()
                if v != quick[n]
            }
            run = Run(
                id=run_id(execution),
                page=notebook.name,
                title=self.title(notebook.name),
                values=execution.values,
                changed=changed,
                command=rerun_command([execution]),
                seconds=node.metadata["momab"]["seconds"],
                source=self._source(execution),
            )
            self.runs.save(run, article, rendered.file, nbformat.writes(readable(node)))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _finish_study(self, execution: TableStudy) -> None:
        """Write an executed report and keep it."""
        node = json.loads(execution.path.read_text(encoding="utf-8"))
        seconds = float(node["metadata"]["momab"]["seconds"])
        report = finish_report(node["cells"], execution.asked.command, seconds)
        run = Run(
            id=run_id(execution),
            page=STUDY,
            title=report.title,
            values={},
            changed={},
            command=execution.asked.command,
            seconds=seconds,
            source=self._source(execution),
            table=Path(execution.asked.table).stem,
        )
        article = f'<article class="bd-article">{without_scripts(report.article)}</article>'
        self.runs.save(run, article, report.page, report.notebook)

    def tidy(self, execution: Execution) -> None:
        """Let the cache of executions forget old runs, but not what the site is made of."""
        if isinstance(execution, PolicyRun):
            return
        with self._tidying:  # showing the run does not wait for it
            if isinstance(execution, TableStudy):
                forget_old([execution], {execution.path})
                return
            notebook = self.notebook(execution.notebook.name)
            for default in planned_runs(self.project, notebook, "quick", []):
                with suppress(OSError):
                    os.utime(default.path)
            forget_old([execution], {execution.path})

    # ---- what is shown ---------------------------------------------------------------------

    def title(self, page: str) -> str:
        """The title of a page of the site."""
        found = re.search(r"<title>(.*?)(?: &#8212;.*?)?</title>", self._page(page), re.DOTALL)
        return html.unescape(found[1]).strip() if found else page

    def _page(self, page: str) -> str:
        try:
            return (self.site / f"{page}.html").read_text(encoding="utf-8")
        except OSError:
            raise RefusedError(404, f"the site has no page {page[:40]!r}.") from None

    def show(self, page: str) -> tuple[str, str]:
        """A page of the site with the form's script, and its policy."""
        return self._with_form(self._page(page), page)

    def show_run(self, page: str, id: str) -> tuple[str, str]:
        """A run beside the default, in the frame of its page."""
        run = self.runs.run(id)
        if run is None or run.page != page:
            raise RefusedError(404, "that run is not kept any more; the form makes it again.")
        path, default = self.runs.folder(id) / "article.html", self.site / f"{page}.html"
        if run.table:
            banner = _filled("study.html", run=run)
            article = _after_title(path.read_text(encoding="utf-8"), banner)
            return self._with_form(_LIVE.sub("", self._page(page)), page, article, run.id)
        key = (id, path.stat().st_mtime, default.stat().st_mtime)
        with self._lock:
            if key not in self._compared:
                new = path.read_text(encoding="utf-8")
                found = compare_pages(article_of(self._page(page)), new)
                self._compared = dict(list(self._compared.items())[-8:])
                self._compared[key] = (found.article, found.numbers, found.figures)
            article, numbers, figures = self._compared[key]
        banner = _filled("run.html", run=run, said=_differing(numbers, figures))
        return self._with_form(self._page(page), page, _after_title(article, banner), run.id)

    def show_sweep(self, page: str, id: str) -> tuple[str, str]:
        """The runs of a sweep as small multiples: every figure once per run."""
        sweep = self.runs.sweep(id)
        if sweep is None or sweep.page != page:
            raise RefusedError(404, "that sweep is not kept any more; the form makes it again.")
        runs = [run for one in sweep.runs if (run := self.runs.run(one))]
        articles = [
            (self.runs.folder(run.id) / "article.html").read_text(encoding="utf-8") for run in runs
        ]
        shown = _changes(sweep, runs, articles)
        body = _filled("sweep.html", sweep=sweep, runs=runs, **shown)
        article = f'<article class="bd-article">{body}</article>'
        frame = _LIVE.sub("", self._page(page))  # what these bring to life is not here
        return self._with_form(frame, page, article, sweep.id)

    def show_policy(self, page: str, key: str) -> tuple[str, str]:
        """What a policy in a file played, beside its rivals, in the frame of its page."""
        import pandas as pd

        from momab.chapters.figures.show import table_html

        path = self._kept_policy(key)
        if page != POLICY or not re.fullmatch(r"[0-9a-f]{24}", key) or not path.is_file():
            raise RefusedError(404, "that run is not kept any more; the form makes it again.")
        found = json.loads(path.read_text(encoding="utf-8"))
        columns = ["Policy", "Mean regret", "95% from", "to", "Worst run", "Times C(μ) log T"]
        frame = pd.DataFrame(found["rows"], columns=columns)
        values = {name: f"{value:,}" for name, value in found["values"].items()}
        caption = (
            f"Pareto regret after {values['horizon']} rounds on the synthetic instance of the "
            f"page, {values['runs']} runs, seed {found['values']['seed']}."
        )
        table = table_html(frame, caption, decimals=2)
        limits = policies.LIMITS
        body = _filled("policy.html", page=POLICY, table=table, limits=limits, found=found)
        article = f'<article class="bd-article">{body}</article>'
        return self._with_form(_LIVE.sub("", self._page(page)), page, article)

    def show_history(self) -> tuple[str, str]:
        """Everything that is kept."""
        entries = [entry(one) for one in self.runs.history()]
        page = _filled("history.html", entries=entries)
        return page, served_policy(page)

    def _with_form(self, frame: str, page: str, article: str = "", id: str = "") -> tuple[str, str]:
        """A page in the frame of the site, with the form's script."""
        if article:
            frame = _ARTICLE.sub(lambda _: article, frame, count=1)
            frame = _CONTENTS.sub(lambda found: _there(found[0], article), frame)
        if page in self.project.notebook_pages:
            marks = f'data-serve="{html.escape(page)}" data-run="{html.escape(id)}"'
            frame = frame.replace("<html ", f"<html {marks} ", 1).replace("</head>", _HEAD, 1)
        return frame, served_policy(frame)


@dataclass(frozen=True)
class TableStudy(Execution):
    """The execution of a report, and what it was asked for."""

    asked: own.Request


def run_id(execution: Execution) -> str:
    """How a run is known."""
    return f"{execution.notebook.name}-{execution.key}"


def entry(one: Run | KeptSweep) -> dict[str, Any]:
    """A line of the history."""
    query = "run" if isinstance(one, Run) else "sweep"
    common = {
        "kind": query,
        "id": one.id,
        "page": one.page,
        "title": one.title,
        "address": f"/{one.page}.html?{query}={one.id}",
        "command": one.command,
        "made": one.made,
    }
    if isinstance(one, KeptSweep):
        return {**common, "what": f"{len(one.runs)} runs over {', '.join(one.varying)}"}
    parts = [f"{name} = {here}" for name, (_, here) in one.changed.items()]
    parts = [f"table {one.table}", *parts] if one.table else parts
    return {**common, "what": ", ".join(parts) or "the default values", "seconds": one.seconds}


def free_text(parameter: Parameter) -> bool:
    """Whether a parameter takes any text; a form never sets these."""
    return parameter.kind == "str" and not parameter.choices


def assignments(notebook: Notebook, values: object) -> list[str]:
    """What a form sent, as the command line takes it."""
    if not isinstance(values, dict):
        raise MomabError("the values are not readable.")
    found = []
    for name, text in values.items():
        parameter = notebook.parameters.get(name)
        if parameter is None:
            known = ", ".join(notebook.parameters)
            raise MomabError(f"{notebook.name} takes no parameter {name[:40]!r}; it takes {known}.")
        if free_text(parameter):
            raise MomabError(f"{name} is set by dropping a table.")
        if not isinstance(text, str) or len(text) > 1000 or not text.strip():
            raise MomabError(f"{name} must be {parameter.allowed}.")
        found.append(f"{name}={text}")
    return found


def _described(parameter: Parameter) -> dict[str, Any]:
    interval = parameter.interval
    found: dict[str, Any] = {
        "name": parameter.name,
        "kind": parameter.kind,
        "default": value_text(parameter.default),
        "meaning": parameter.meaning,
        "allowed": parameter.allowed,
        "choices": list(parameter.choices),
    }
    if interval is not None:
        found |= {"low": interval.low, "high": interval.high, "range": str(interval)}
        found |= {"low_open": interval.low_open, "high_open": interval.high_open}
    return found


def article_of(page: str) -> str:
    """The article of a page."""
    found = _ARTICLE.search(page)
    return found[0] if found else ""


def _there(contents: str, article: str) -> str:
    """A table of contents without what an article lacks; the theme's script stumbles over it."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(contents, "html.parser")
    for link in soup.select("li > a"):
        if link.decomposed or link.parent is None:  # with the section around it
            continue
        if f'id="{str(link["href"])[1:]}"' not in article:
            link.parent.decompose()
    return str(soup)


def without_scripts(article: str) -> str:
    """An article in which nothing runs, whatever a table's names were."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(article, "html.parser")
    for tag in soup.find_all(["script", "iframe", "object", "embed", "base", "form", "meta"]):
        tag.decompose()
    for tag in soup.find_all(True):
        for name in list(tag.attrs):
            value = str(tag.attrs[name]).strip().lower()
            if name.lower().startswith("on") or value.startswith(("javascript:", "data:text")):
                del tag.attrs[name]
    return str(soup)


def _differing(numbers: int, figures: int) -> str:
    """How much differs, as in "2 numbers and 1 figure differ"."""
    counts = [(numbers, "number"), (figures, "figure")]
    parts = [f"{n} {word}{'s' if n > 1 else ''}" for n, word in counts if n]
    verb = " differs" if numbers + figures == 1 else " differ"
    return " and ".join(parts) + verb if parts else ""


def _changes(sweep: KeptSweep, runs: Sequence[Run], articles: Sequence[str]) -> dict[str, Any]:
    """What differs between the runs of a sweep: a plot and a table of numbers, rows of figures."""
    from momab.chapters.figures.show import figure_html, table_html
    from momab.chapters.figures.sweep import ChangingNumbers

    values = [{name: value_text(run.values[name]) for name in sweep.varying} for run in runs]
    found = ChangingNumbers(values, [run.id for run in runs], changing_lines(articles, values))
    plot, table = "", found.table()
    if found.numbers:
        alt = f"Small line plots of numbers of the page over {found.names[0]}."
        plot = figure_html(found.figure(), alt, "The numbers that change.")
    return {
        "rows": small_multiples(articles),
        "figures": len(figures_of(articles[0])),
        "numbers": len(found.numbers),
        "plot": plot,
        "table": "" if table is None else table_html(table, "Every number that changes."),
    }


def _after_title(article: str, banner: str) -> str:
    """An article with something after its title."""
    head, mark, rest = article.partition("</h1>")
    return f"{head}{mark}{banner}{rest}"
