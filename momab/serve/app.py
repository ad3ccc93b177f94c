"""The routes of `momab serve`, and its life from start to end."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from momab._util.files import write_text
from momab._util.loopback import Files, Handler, Loopback, RefusedError
from momab.book.colophon import rerun_command
from momab.book.execute import Job as Execution
from momab.book.project import Project
from momab.errors import MomabError
from momab.serve import policies
from momab.serve.jobs import Queue, QueuedJob
from momab.serve.pages import POLICY, STUDY, ServedPages, run_id
from momab.serve.policies import PolicyRun
from momab.serve.runs import Runs
from momab.serve.tables import LIMIT, keep_table, study_of
from momab.serve.worker import CancelledError, Worker

_STATIC = Path(__file__).parent / "static"
_SHARED = Path(__file__).parents[1] / "book" / "templates"
_DOWNLOADS = {
    "notebook.ipynb": ("ipynb", "application/x-ipynb+json"),
    "page.html": ("html", "text/html; charset=utf-8"),
}


class Serving:
    """Everything that runs while the book is served; it ends with the block and leaves nothing."""

    def __init__(self, project: Project, site: Path, workers: int = 2) -> None:
        """Take the port and start the warm processes; `Loopback.run` or ``start`` answers."""
        kept = project.build / "serve"
        self.tables = kept / "tables"
        self._scratch = _scratch(project.build)
        self.pages = ServedPages(project, site, Runs(kept))
        self.queue = Queue(
            self.pages.finish, self._scratch, workers, self.pages.known, self.pages.tidy, _execute
        )
        try:
            self.server = _listen(self._routes(site), kept / "port")
        except BaseException:
            self.close()
            raise

    def _routes(self, site: Path) -> list[Any]:
        given = {"serving": self}
        return [
            (r"/_serve/pages/([\w-]+)", FormHandler, given),
            (r"/_serve/commands/([\w-]+)", CommandHandler, given),
            (r"/_serve/jobs/([0-9a-f]+)", JobHandler, given),
            (r"/_serve/tables", TableHandler, given),
            (r"/_serve/history", HistoryHandler, given),
            (r"/_serve/runs/([\w-]+)", RunHandler, given),
            (r"/_serve/runs/([\w-]+)/([\w.]+)", DownloadHandler, given),
            (r"/_serve/(serve\.(?:js|css))", Files, {"path": str(_STATIC)}),
            (r"/_serve/(compare\.css)", Files, {"path": str(_SHARED)}),
            (r"/()", PageHandler, given),
            (r"/([\w-]+)\.html", PageHandler, given),
            (r"/(.*)", Files, {"path": str(site)}),
        ]

    def submit(self, page: str, request: dict[str, Any]) -> QueuedJob:
        """Check what a form asks for and put it into the queue."""
        executions = self.planned(page, request)
        return self.queue.add(page, executions, self._conclusion(page, executions))

    def planned(self, page: str, request: dict[str, Any]) -> list[Execution]:
        """What a form asks for, as executions; nothing runs yet."""
        if page == STUDY and request.get("table"):
            return self.pages.planned_study(study_of(self.tables, request))
        if page == POLICY and request.get("policy"):
            return [self.pages.planned_policy(request.get("values"), request["policy"])]
        return self.pages.planned(page, request.get("values", {}))

    def command(self, page: str, request: dict[str, Any]) -> str:
        """The command that makes what a form asks for, with every option spelled out."""
        if page == STUDY and request.get("table"):
            return study_of(self.tables, request).command
        if page == POLICY and request.get("policy"):
            run = self.pages.planned_policy(request.get("values"), request["policy"])
            return policies.command(run.name, run.text, run.values)
        return rerun_command(self.pages.planned(page, request.get("values", {})))

    def _conclusion(self, page: str, executions: list[Execution]) -> Callable[[], str]:
        """What is left to do once all runs are kept: say where they are shown."""

        def conclude() -> str:
            if isinstance(executions[0], PolicyRun):
                return f"/{page}.html?policy={executions[0].key}"
            if len(executions) == 1:
                return f"/{page}.html?run={run_id(executions[0])}"
            runs = [run for e in executions if (run := self.pages.runs.run(run_id(e)))]
            first = executions[0].values
            varying = [n for n in first if len({str(e.values[n]) for e in executions}) > 1]
            sweep = self.pages.runs.save_sweep(runs, varying, rerun_command(executions))
            return f"/{page}.html?sweep={sweep.id}"

        return conclude

    def close(self) -> None:
        """Stop answering, kill what runs, remove what is half done."""
        if hasattr(self, "server"):
            self.server.stop()
        self.queue.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _execute(
    worker: Worker,
    execution: Execution,
    report: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> None:
    """Execute a notebook in a worker; a policy's file plays in a process that holds it."""
    if not isinstance(execution, PolicyRun):
        worker.execute(execution, report, cancelled)
        return
    policies.play_enclosed(execution, cancelled)
    if cancelled():
        raise CancelledError


def _listen(routes: list[Any], note: Path) -> Loopback:
    """Listen on the port of the last time, so that addresses stay good; else on a free one."""
    try:
        server = Loopback(routes, int(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, OverflowError, MomabError):
        server = Loopback(routes)
    write_text(note, f"{server.port}\n")
    return server


def _scratch(build: Path) -> Path:
    """A folder of this process; those of processes that were killed are removed."""
    import psutil

    for old in build.glob(".serve-*"):
        if not psutil.pid_exists(int(old.name.rpartition("-")[2])):
            shutil.rmtree(old, ignore_errors=True)
    folder = build / f".serve-{time.monotonic_ns()}-{os.getpid()}"
    folder.mkdir(parents=True)
    return folder


def report(queue: Queue, job: QueuedJob) -> dict[str, Any]:
    """How far a job is, as the page shows it."""
    now = time.monotonic()
    tasks = [
        {
            "state": task.state,
            "done": task.done,
            "total": task.total,
            "seconds": round(now - task.started, 1) if task.started else 0,
        }
        for task in job.tasks
    ]
    return {
        "id": job.id,
        "page": job.page,
        "state": job.state,
        "message": job.message,
        "address": job.address,
        "ahead": queue.ahead(job) if job.state == "waiting" else 0,
        "tasks": tasks,
    }


class _Handler(Handler):
    serving: Serving

    def show(self, shown: tuple[str, str]) -> None:
        page, policy = shown
        self.set_header("Content-Security-Policy", policy)
        self.send_text(page, "text/html")


class PageHandler(_Handler):
    """A page of the site, or a run or a sweep of it."""

    async def get(self, page: str) -> None:
        """Show it."""
        page, pages = page or "index", self.serving.pages
        if run := self.get_query_argument("run", ""):
            self.show(await asyncio.to_thread(pages.show_run, page, run))
        elif sweep := self.get_query_argument("sweep", ""):
            self.show(await asyncio.to_thread(pages.show_sweep, page, sweep))
        elif policy := self.get_query_argument("policy", ""):
            self.show(await asyncio.to_thread(pages.show_policy, page, policy))
        else:
            self.show(await asyncio.to_thread(pages.show, page))


class FormHandler(_Handler):
    """The form of a page: its description, and its submission."""

    limit: ClassVar[int] = 4 * policies.LARGEST

    async def get(self, page: str) -> None:
        """Describe it."""
        queue = self.serving.queue
        form = await asyncio.to_thread(self.serving.pages.form, page)
        form["jobs"] = [job.id for job in queue.jobs() if job.page == page and not job.over]
        self.send_json(form)

    async def post(self, page: str) -> None:
        """Run the page."""
        job = await asyncio.to_thread(self.serving.submit, page, self.json_body())
        self.send_json({"job": job.id})


class CommandHandler(_Handler):
    """The command that makes what a form asks for."""

    limit: ClassVar[int] = 4 * policies.LARGEST

    async def post(self, page: str) -> None:
        """Say it; for values that are not allowed yet, as while one types, there is none."""
        try:
            command = await asyncio.to_thread(self.serving.command, page, self.json_body())
        except RefusedError:
            raise
        except MomabError:
            command = ""
        self.send_json({"command": command})


class JobHandler(_Handler):
    """A job: how far it is, and its cancellation."""

    async def get(self, id: str) -> None:
        """Say how far it is."""
        job = self.serving.queue.job(id)
        if job is None:
            raise RefusedError(404, "there is no such job.")
        self.send_json(report(self.serving.queue, job))

    async def delete(self, id: str) -> None:
        """Cancel it."""
        self.send_json({"cancelled": self.serving.queue.cancel(id)})


class TableHandler(_Handler):
    """Takes a visitor's table."""

    limit: ClassVar[int] = LIMIT

    async def post(self) -> None:
        """Keep it, and say what its columns hold."""
        name = self.get_query_argument("name", "table.csv")
        self.send_json(await asyncio.to_thread(keep_table, self.serving.tables, name, self.body))


class HistoryHandler(_Handler):
    """What was run."""

    async def get(self) -> None:
        """Show it."""
        self.show(await asyncio.to_thread(self.serving.pages.show_history))


class RunHandler(_Handler):
    """A run or a sweep that is kept."""

    async def delete(self, id: str) -> None:
        """Forget it."""
        self.send_json({"forgotten": self.serving.pages.runs.forget(id)})


class DownloadHandler(_Handler):
    """The files of a run."""

    async def get(self, id: str, file: str) -> None:
        """Send one."""
        runs = self.serving.pages.runs
        if file not in _DOWNLOADS or runs.run(id) is None:
            raise RefusedError(404, "there is no such run.")
        suffix, kind = _DOWNLOADS[file]
        self.send_download(runs.folder(id) / file, f"{id}.{suffix}", kind)
