"""`momab serve`, request by request, on a small book."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from momab.book.project import Project
from momab.serve.app import Serving
from momab.serve.pages import _there
from momab.serve.tables import LIMIT
from tests.asking import Answer, ask
from tests.conftest import ROOT

psutil = pytest.importorskip("psutil")


def post(serving: Serving, page: str, **request: Any) -> Answer:
    return ask(serving.server, "POST", f"/_serve/pages/{page}", request)


def state(serving: Serving, job: str) -> dict[str, Any]:
    found: dict[str, Any] = ask(serving.server, "GET", f"/_serve/jobs/{job}").json
    return found


def until(serving: Serving, job: str, *states: str) -> dict[str, Any]:
    """Wait until a job is in one of these states."""
    for _ in range(6000):
        found = state(serving, job)
        if found["state"] in (states or ("done", "failed", "cancelled")):
            return found
        time.sleep(0.05)
    raise AssertionError(f"the job is still {found}")


def run(serving: Serving, page: str = "index", **values: str) -> str:
    """Run a page and return the address of the result."""
    answer = post(serving, page, values=values)
    assert answer.status == 200, answer.text
    found = until(serving, answer.json["job"])
    assert found["state"] == "done", found
    address: str = found["address"]
    return address


def started(serving: Serving, job: str) -> None:
    """Wait until the notebook of a job executes its cells."""
    for _ in range(6000):
        if any(task["done"] >= 1 for task in state(serving, job)["tasks"]):
            return
        time.sleep(0.05)
    raise AssertionError("it does not start")


# ---- the form --------------------------------------------------------------------------------


def test_the_form_states_the_typed_parameters(serving: Serving) -> None:
    form = ask(serving.server, "GET", "/_serve/pages/index").json
    by_name = {parameter["name"]: parameter for parameter in form["parameters"]}
    assert list(by_name) == ["seed", "throws", "share", "kind", "wait", "levels"]
    assert by_name["throws"]["low"] == 2
    assert by_name["throws"]["high"] == 100_000
    assert by_name["share"]["low_open"]
    assert by_name["kind"]["choices"] == ["fair", "loaded"]
    assert by_name["levels"]["default"] == "[0.1,0.2]"
    assert form["presets"]["quick"]["throws"] == "40"
    assert form["presets"]["paper"]["throws"] == "500"


def test_a_form_never_sets_free_text(serving: Serving) -> None:
    form = ask(serving.server, "GET", "/_serve/pages/own-data").json
    assert form["study"]
    names = [p["name"] for p in form["parameters"]]
    assert names == ["missing", "horizon", "runs", "coefficient", "seed"]
    answer = post(serving, "own-data", values={"table": "/etc/passwd"})
    assert (answer.status, answer.text) == (400, "table is set by dropping a table.")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"throws": "1"}, "throws must be a whole number in [2, 100,000]; it is 1."),
        ({"throws": "2.5"}, "throws must be a whole number in [2, 100,000]; it is 2.5."),
        ({"throws": ""}, "throws must be a whole number in [2, 100,000]."),
        ({"throws": 7}, "throws must be a whole number in [2, 100,000]."),
        ({"throws": "40,1"}, "throws must be a whole number in [2, 100,000]; it is 1."),
        ({"throws": "9" * 400}, None),
        ({"share": "1"}, "share must be a number in (0, 1); it is 1."),
        ({"share": "nan"}, "share must be a number in (0, 1); it is nan."),
        ({"kind": "odd"}, "kind must be one of fair, loaded; it is odd."),
        ({"levels": "[2]"}, None),
        ({"dice": "1"}, None),
        ({"own-data.seed": "1"}, None),
        ({"seed": ",".join(map(str, range(25)))}, None),
        ([], "the values are not readable."),
    ],
)
def test_a_bad_value_is_one_sentence(serving: Serving, values: Any, said: str | None) -> None:
    before = len(serving.queue.jobs())
    answer = post(serving, "index", values=values)
    assert answer.status == 400
    assert answer.text.endswith(".")
    assert "\n" not in answer.text
    assert said is None or answer.text == said
    assert len(serving.queue.jobs()) == before


def test_unknown_pages_and_jobs_are_not_there(serving: Serving) -> None:
    for path in ("/nothing.html", "/_serve/pages/nothing", "/_serve/jobs/abc", "/_serve/other"):
        answer = ask(serving.server, "GET", path)
        assert answer.status == 404
        assert answer.text.endswith(".")
    assert post(serving, "nothing", values={}).status == 404
    key = "index-" + "0" * 24
    assert ask(serving.server, "GET", f"/index.html?run={key}").status == 404
    assert ask(serving.server, "GET", "/index.html?sweep=0000000000000000").status == 404


def test_paths_lead_nowhere_else(serving: Serving) -> None:
    for path in (
        "/../_toc.yml",
        "/%2e%2e/_toc.yml",
        "/_serve/runs/..%2f..%2f/run.json",
        "/_serve/runs/x/..%2frun.json",
        "/index.html?run=../../../_toc",
        "/index.html?run=..%2f..%2findex-" + "0" * 24,
        "/_serve/serve.py",
        "/_serve/../_toc.yml",
    ):
        answer = ask(serving.server, "GET", path)
        assert answer.status in (400, 403, 404), path
        assert b"jb-book" not in answer.body


# ---- runs ------------------------------------------------------------------------------------


def test_a_run_is_shown_beside_the_default(serving: Serving) -> None:
    address = run(serving, throws="60", seed="2")
    assert re.fullmatch(r"/index\.html\?run=index-[0-9a-f]{24}", address)
    answer = ask(serving.server, "GET", address)
    soup = BeautifulSoup(answer.text, "html.parser")
    banner = soup.select_one(".serve-banner")
    assert banner is not None
    said = " ".join(banner.get_text().split())
    assert "throws 60 (default 40)" in said
    assert "seed 2 (default 1)" in said
    marked = {m.get_text(): m.get("data-was") for m in soup.select("article mark.serve-changed")}
    assert marked["60"] == "40"
    [pair] = soup.select(".serve-pair")
    default, yours = pair.select("svg")
    assert "A bar of 40 " in default["aria-label"]
    assert "A bar of 60 " in yours["aria-label"]
    assert soup.html is not None
    assert soup.html["data-serve"] == "index"


def test_the_same_values_are_the_same_run_at_once(serving: Serving) -> None:
    address = run(serving, throws="61")
    entries = len(serving.pages.runs.history())
    job = post(serving, "index", values={"throws": "61"}).json["job"]
    found = until(serving, job)
    assert found["address"] == address
    assert found["tasks"][0]["total"] == 0  # no cell was executed
    assert len(serving.pages.runs.history()) == entries


def test_downloads_are_the_notebook_the_page_and_the_command(serving: Serving) -> None:
    address = run(serving, throws="62")
    id = address.partition("=")[2]
    notebook = ask(serving.server, "GET", f"/_serve/runs/{id}/notebook.ipynb")
    assert f'filename="{id}.ipynb"' in notebook.headers["Content-Disposition"]
    assert any("62" in "".join(cell["source"]) for cell in notebook.json["cells"])
    page = ask(serving.server, "GET", f"/_serve/runs/{id}/page.html")
    assert "Of 62 throws" in page.text
    assert page.headers["Content-Disposition"].startswith("attachment")
    shown = BeautifulSoup(ask(serving.server, "GET", address).text, "html.parser")
    command = shown.select_one(".serve-command pre")
    assert command is not None
    assert "-p throws=62" in command.get_text()
    assert ask(serving.server, "GET", f"/_serve/runs/{id}/run.json").status == 404


def test_a_sweep_is_shown_as_small_multiples(serving: Serving) -> None:
    address = run(serving, throws="10,20,30")
    soup = BeautifulSoup(ask(serving.server, "GET", address).text, "html.parser")
    labels = [label.get_text() for label in soup.select(".serve-multiple .serve-label")]
    assert labels == ["throws = 10", "throws = 20", "throws = 30"]
    assert len(soup.select(".serve-multiple svg")) == 3
    names = [str(tag["id"]) for tag in soup.select(".serve-multiple [id]")]
    assert len(names) == len(set(names))
    command = soup.select_one(".serve-command pre")
    assert command is not None
    assert "-p throws=10,20,30" in command.get_text()


def test_history_has_permalinks_and_forgets(serving: Serving, small_book: Project) -> None:
    address = run(serving, throws="63")
    id = address.partition("=")[2]
    history = BeautifulSoup(ask(serving.server, "GET", "/_serve/history").text, "html.parser")
    links = [str(link["href"]) for link in history.select("ol a")]
    assert links[0] == address  # the newest is first
    assert (small_book.build / "serve/runs" / id).is_dir()
    assert ask(serving.server, "DELETE", f"/_serve/runs/{id}").json == {"forgotten": True}
    assert not (small_book.build / "serve/runs" / id).exists()
    assert ask(serving.server, "GET", address).status == 404
    assert ask(serving.server, "DELETE", f"/_serve/runs/{id}").json == {"forgotten": False}


def test_a_run_outlives_its_server(serving: Serving, one_worker: Serving) -> None:
    address = run(serving, throws="64")
    assert "throws</code> 64" in ask(one_worker.server, "GET", address).text


def test_your_preset_is_the_last_run(serving: Serving) -> None:
    run(serving, throws="65")
    form = ask(serving.server, "GET", "/_serve/pages/index").json
    assert form["presets"]["yours"]["throws"] == "65"
    assert form["history"][0]["what"] == "throws = 65"


def test_a_cell_that_fails_is_one_sentence(serving: Serving) -> None:
    found = until(serving, post(serving, "index", values={"kind": "loaded"}).json["job"])
    assert found["state"] == "failed"
    assert found["message"].startswith("notebooks/index.md, code cell 3")
    assert found["message"].endswith("ValueError: the dice are loaded")
    run(serving, throws="66")  # and the worker goes on


# ---- the queue -------------------------------------------------------------------------------


def kernels(of: int) -> list[Any]:
    """The kernels below a process."""
    found = psutil.Process(of).children(recursive=True)
    return [p for p in found if p.is_running() and "ipykernel" in " ".join(p.cmdline())]


def test_cancelling_leaves_nothing(one_worker: Serving, leftovers: Callable[[], set[Path]]) -> None:
    run(one_worker, throws="70")
    before = leftovers()
    running = kernels(os.getpid())
    job = post(one_worker, "index", values={"wait": "500"}).json["job"]
    started(one_worker, job)
    mine = [k for k in kernels(os.getpid()) if k not in running]
    assert len(mine) == 1
    assert ask(one_worker.server, "DELETE", f"/_serve/jobs/{job}").json == {"cancelled": True}
    assert state(one_worker, job)["state"] == "cancelled"
    run(one_worker, throws="71")  # the next one is not kept waiting
    assert not any(kernel.is_running() for kernel in mine)
    new = {path for path in leftovers() - before if path.name != ".lock"}
    allowed = [r"/cache/index-[0-9a-f]{24}\.ipynb$", r"/serve/runs/index-[0-9a-f]{24}/"]
    assert [p for p in new if not any(re.search(a, p.as_posix()) for a in allowed)] == []
    assert len([p for p in new if "/cache/" in p.as_posix()]) == 1
    assert ask(one_worker.server, "DELETE", f"/_serve/jobs/{job}").json == {"cancelled": False}


def test_two_jobs_at_once_wait_for_each_other(one_worker: Serving) -> None:
    first = post(one_worker, "index", values={"wait": "300"}).json["job"]
    second = post(one_worker, "index", values={"throws": "72"}).json["job"]
    started(one_worker, first)
    assert state(one_worker, second)["state"] == "waiting"
    assert state(one_worker, second)["ahead"] == 1
    form = ask(one_worker.server, "GET", "/_serve/pages/index").json
    assert form["jobs"] == [first, second]
    ask(one_worker.server, "DELETE", f"/_serve/jobs/{first}")
    assert until(one_worker, second)["state"] == "done"


def test_two_workers_work_at_once_and_the_same_run_once(serving: Serving) -> None:
    jobs = [
        post(serving, "index", values={"throws": throws}).json["job"]
        for throws in ("73", "74", "73")
    ]
    found = [until(serving, job) for job in jobs]
    assert [one["state"] for one in found] == ["done"] * 3
    assert found[0]["address"] == found[2]["address"]


def test_a_waiting_job_can_be_cancelled(one_worker: Serving) -> None:
    first = post(one_worker, "index", values={"wait": "300"}).json["job"]
    second = post(one_worker, "index", values={"throws": "75"}).json["job"]
    ask(one_worker.server, "DELETE", f"/_serve/jobs/{second}")
    ask(one_worker.server, "DELETE", f"/_serve/jobs/{first}")
    assert state(one_worker, second)["state"] == "cancelled"
    assert "75" not in json.dumps([r.values for r in one_worker.pages.runs.of_page("index")])


def test_the_queue_is_bounded(one_worker: Serving) -> None:
    jobs = [post(one_worker, "index", values={"wait": "400"}).json["job"] for _ in range(20)]
    answer = post(one_worker, "index", values={"wait": "400"})
    assert (answer.status, answer.text) == (400, "20 jobs are waiting; cancel some first.")
    for job in jobs:
        ask(one_worker.server, "DELETE", f"/_serve/jobs/{job}")


def test_nothing_listens_beyond_loopback(one_worker: Serving) -> None:
    job = post(one_worker, "index", values={"wait": "300"}).json["job"]
    started(one_worker, job)
    me = psutil.Process()
    heard = [
        found.laddr.ip
        for process in [me, *me.children(recursive=True)]
        for found in process.net_connections("inet")
        if found.status == psutil.CONN_LISTEN
    ]
    assert len(heard) >= 6  # ours, and the kernel's five
    assert set(heard) <= {"127.0.0.1", "::1"}
    ask(one_worker.server, "DELETE", f"/_serve/jobs/{job}")


def test_ended_servers_leave_nothing(small_book: Project) -> None:
    """Stopped as people stop it, and killed in the middle of a run."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for end in (signal.SIGTERM, signal.SIGKILL):
        process = subprocess.Popen(
            [sys.executable, "-m", "momab", "serve", "--as-is", "--workers", "1"],
            cwd=small_book.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,} ", line)
        below = psutil.Process(process.pid).children(recursive=True)
        assert below
        process.send_signal(end)
        process.communicate(timeout=300)
        if end == signal.SIGTERM:
            assert process.returncode == 130
            assert not list(small_book.build.glob(f".serve-*-{process.pid}"))
        _, alive = psutil.wait_procs(below, timeout=300)
        assert alive == []
    with closing(Serving(small_book, small_book.build / "html", workers=1)):
        assert not list(small_book.build.glob(f".serve-*-{process.pid}"))


# ---- tables of one's own ---------------------------------------------------------------------

GOOD = "cafe,coffee,quiet,price\n" + "".join(
    f"{cafe},{0.1 * n:.1f},{1 - 0.1 * n:.1f},{10 * n}\n" for cafe in ("A", "B") for n in range(9)
)


def upload(serving: Serving, data: bytes, name: str = "my.csv") -> Answer:
    return ask(serving.server, "POST", f"/_serve/tables?name={name}", data)


def test_a_table_is_described_and_studied(serving: Serving) -> None:
    table = upload(serving, GOOD.encode(), "my%20cafes.csv").json
    assert (table["name"], table["rows"]) == ("my cafes", 18)
    assert [c["name"] for c in table["columns"] if c["number"]] == ["coffee", "quiet", "price"]
    assert table["columns"][3]["high"] == 80
    request = {"table": table["id"], "arm": "cafe", "objectives": ["coffee", "price"]}
    answer = post(serving, "own-data", values={"seed": "3"}, **request)
    assert answer.status == 400  # 80 is not in [0, 1]
    assert "price" in answer.text
    answer = post(serving, "own-data", values={"seed": "3"}, scale={"price": "0:80"}, **request)
    found = until(serving, answer.json["job"])
    assert found["state"] == "done", found
    shown = BeautifulSoup(ask(serving.server, "GET", found["address"]).text, "html.parser")
    assert "Arms: A, B" in shown.get_text()
    assert "our cafés" in ask(serving.server, "GET", "/own-data.html").text
    assert "our cafés" not in shown.get_text()  # nobody is asked about a table that is not shown
    assert not shown.select('[href="#exercises"]')


def test_contents_list_what_is_there() -> None:
    def item(name: str, inside: str = "") -> str:
        return f'<li><a href="#{name}">{name}</a>{inside}</li>'

    contents = "<ul>" + item("a", "<ul>" + item("b") + "</ul>") + item("c") + "</ul>"
    for there in ("", "a", "ab", "ac", "abc"):
        article = "".join(f'<p id="{name}">' for name in there)
        soup = BeautifulSoup(_there(contents, article), "html.parser")
        assert "".join(link.get_text() for link in soup.select("a")) == there


def test_a_table_of_another_delimiter_with_gaps_is_studied(serving: Serving) -> None:
    table = upload(serving, (GOOD + "C,,0.5,1\n").replace(",", ";").encode()).json
    assert [c["name"] for c in table["columns"]] == ["cafe", "coffee", "quiet", "price"]
    request = {"table": table["id"], "arm": "cafe", "objectives": ["coffee", "quiet"]}
    answer = post(serving, "own-data", values={}, **request)
    assert (answer.status, "row 19" in answer.text) == (400, True)
    answer = post(serving, "own-data", values={"missing": "drop"}, **request)
    found = until(serving, answer.json["job"])
    assert found["state"] == "done", found
    shown = BeautifulSoup(ask(serving.server, "GET", found["address"]).text, "html.parser")
    assert "Arms: A, B" in shown.get_text()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\n",
        b"a,b\n",
        b"just a line",
        b"\x00\x01\x02,\xff\n1,2\n",
        b"a,b\n1,\xff\xfe\n",
        b"a,b\n1,2\n1,2,3\n",
        b"a,b\n1,2,3\n4,5,6\n",
        b'a,b\n"never closed,1\n2,3\n',
        b"PK\x03\x04 a zip",
        b"\x1f\x8b\x08\x00 gzip",
        b",".join(b"c%d" % n for n in range(600)) + b"\n",
        b"," * 1_000_000,
    ],
)
def test_what_is_no_table_is_one_sentence(serving: Serving, data: bytes) -> None:
    answer = upload(serving, data)
    assert answer.status == 400
    assert answer.text.endswith(".")
    assert "\n" not in answer.text


def test_a_table_that_is_too_large_is_refused(serving: Serving) -> None:
    headers = {"Content_Length": str(LIMIT + 1)}  # the answer comes before the body is sent
    answer = ask(serving.server, "POST", "/_serve/tables", **headers)
    assert (answer.status, answer.text) == (413, "at most 20 MB are taken here.")


@pytest.mark.parametrize("name", ["../../evil.csv", "..%2F..%2Fevil.csv", "%00.csv", "a;b,c.csv"])
def test_a_name_leads_nowhere_else(serving: Serving, name: str, small_book: Project) -> None:
    answer = upload(serving, GOOD.encode() + name.encode() + b",0.5,0.5,5\n", name)
    assert answer.status in (200, 400)
    if answer.status == 200:
        [path] = (serving.tables / answer.json["id"]).glob("*.csv")
        assert path.resolve().is_relative_to(small_book.build / "serve/tables")
        assert not set(path.name) & set(";,/\\")


HOSTILE = (
    '"<script>alert(1)</script><img src=data:, onerror=alert(2)>'
    '<a href=javascript:alert(3)>x</a><img src=/etc/hostname>"'
)


def test_a_hostile_name_runs_nowhere(serving: Serving) -> None:
    data = GOOD + f"{HOSTILE},0.5,0.5,5\n" * 3
    table = upload(serving, data.encode(), "%3Cscript%3E.csv").json
    request = {"table": table["id"], "arm": "cafe", "objectives": ["coffee", "quiet"]}
    found = until(serving, post(serving, "own-data", values={}, **request).json["job"])
    assert found["state"] == "done", found
    answer = ask(serving.server, "GET", found["address"])
    soup = BeautifulSoup(answer.text, "html.parser")
    article = soup.select_one("article.bd-article")
    assert article is not None
    assert article.find("script") is None
    assert not [t for t in article.find_all(True) for a in t.attrs if a.startswith("on")]
    assert not article.select('[href^="javascript:"]')
    [scripts] = [
        part
        for part in answer.headers["Content-Security-Policy"].split("; ")
        if part.startswith("script-src")
    ]
    assert "unsafe-inline" not in scripts
    history = ask(serving.server, "GET", "/_serve/history").text
    assert "<script>alert" not in history


@pytest.mark.parametrize(
    "request_",
    [
        {"table": "../../etc", "arm": "cafe", "objectives": ["coffee"]},
        {"table": "0" * 16, "arm": "cafe", "objectives": ["coffee"]},
        {"table": "known", "arm": "", "objectives": ["coffee"]},
        {"table": "known", "arm": "nobody", "objectives": ["coffee"]},
        {"table": "known", "arm": "cafe", "objectives": []},
        {"table": "known", "arm": "cafe", "objectives": "coffee"},
        {"table": "known", "arm": "cafe", "objectives": [["coffee"]]},
        {"table": "known", "arm": "cafe", "objectives": ["coffee"], "scale": [1]},
        {"table": "known", "arm": "cafe", "objectives": ["coffee"], "scale": {"coffee": "x"}},
        {"table": "known", "arm": "cafe", "objectives": ["coffee"], "values": {"seed": "x"}},
        {"table": "known", "arm": "cafe", "objectives": ["coffee"], "values": {"table": "x"}},
    ],
)
def test_a_bad_study_is_one_sentence(serving: Serving, request_: dict[str, Any]) -> None:
    known = upload(serving, GOOD.encode()).json["id"]
    given = {"values": {}, **request_}
    given["table"] = known if given["table"] == "known" else given["table"]
    answer = post(serving, "own-data", **given)
    assert answer.status == 400, answer.text
    assert answer.text.endswith(".")
    assert "\n" not in answer.text
