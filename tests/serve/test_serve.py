"""`momab serve`, request by request, on a small book."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from bs4 import BeautifulSoup

from momab.book.project import Project
from momab.serve.app import _scratch
from momab.serve.pages import ServedPages, _there
from momab.serve.runs import Run, Runs
from momab.serve.tables import LIMIT, keep_table
from tests.asking import Answer
from tests.serve.conftest import STARTED, Served, is_over, serve
from tests.waiting import PATIENCE, until

RUN = {"throws": "60", "seed": "2"}  # what the browser asks for, too: it is executed once


def refused(answer: Answer) -> str:
    """The one sentence of a refusal."""
    assert answer.status == 400, answer.text
    assert re.fullmatch(r"[^\n]+\.", answer.text)
    return answer.text


# ---- the form --------------------------------------------------------------------------------


def test_the_form_states_the_typed_parameters_and_no_free_text(served: Served) -> None:
    form = served.ask("GET", "/_serve/pages/index").json
    by_name = {parameter["name"]: parameter for parameter in form["parameters"]}
    assert list(by_name) == ["seed", "throws", "share", "kind", "wait", "levels"]
    assert (by_name["throws"]["low"], by_name["throws"]["high"]) == (2, 100_000)
    assert by_name["share"]["low_open"]
    assert by_name["kind"]["choices"] == ["fair", "loaded"]
    assert by_name["levels"]["default"] == "[0.1,0.2]"
    assert form["presets"]["quick"]["throws"] == "40"
    assert form["presets"]["paper"]["throws"] == "500"
    form = served.ask("GET", "/_serve/pages/own-data").json
    assert [p["name"] for p in form["study"]] == ["missing", "horizon", "runs", "seed"]
    answer = served.post("own-data", values={"table": "/etc/passwd"})
    assert refused(answer) == "table is set by dropping a table."


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"throws": "1"}, "throws must be a whole number in [2, 100,000]; it is 1."),
        ({"throws": "2.5"}, "throws must be a whole number in [2, 100,000]; it is 2.5."),
        ({"throws": ""}, "throws must be a whole number in [2, 100,000]."),
        ({"throws": 7}, "throws must be a whole number in [2, 100,000]."),
        ({"throws": "40,1"}, "throws must be a whole number in [2, 100,000]; it is 1."),
        ({"throws": "9" * 400}, "throws must be"),
        ({"share": "1"}, "share must be a number in (0, 1); it is 1."),
        ({"share": "nan"}, "share must be a number in (0, 1); it is nan."),
        ({"kind": "odd"}, "kind must be one of fair, loaded; it is odd."),
        ({"levels": "[2]"}, "levels must be"),
        ({"dice": "1"}, "index takes no parameter 'dice'"),
        ({"own-data.seed": "1"}, "index takes no parameter 'own-data.seed'"),
        ({"seed": ",".join(map(str, range(25)))}, "a sweep makes at most 24 pages here"),
        ([], "the values are not readable."),
    ],
)
def test_a_bad_value_is_one_sentence(served: Served, values: Any, said: str) -> None:
    answer = refused(served.post("index", values=values))
    assert answer.startswith(said)
    assert answer == said or not said.endswith(".")


def test_what_is_not_there_is_not_found_and_paths_lead_nowhere_else(served: Served) -> None:
    run = "index-" + "0" * 24
    for path in (
        "/nothing.html",
        "/_serve/pages/nothing",
        "/_serve/jobs/abc",
        "/_serve/other",
        f"/index.html?run={run}",
        f"/_serve/runs/{run}/page.html",
        "/index.html?sweep=0000000000000000",
    ):
        answer = served.ask("GET", path)
        assert (answer.status, answer.text[-1]) == (404, "."), path
    assert served.post("nothing", values={}).status == 404
    for path in (
        "/../_toc.yml",
        "/%2e%2e/_toc.yml",
        "/_serve/runs/..%2f..%2f/run.json",
        "/_serve/runs/x/..%2frun.json",
        "/index.html?run=../../../_toc",
        f"/index.html?run=..%2f..%2f{run}",
        "/_serve/serve.py",
        "/_serve/../_toc.yml",
    ):
        answer = served.ask("GET", path)
        assert answer.status in (400, 403, 404), path
        assert b"jb-book" not in answer.body
    assert served.ask("GET", "/index.html", Cookie=None).status == 403


def test_contents_list_what_is_there() -> None:
    def item(name: str, inside: str = "") -> str:
        return f'<li><a href="#{name}">{name}</a>{inside}</li>'

    contents = "<ul>" + item("a", "<ul>" + item("b") + "</ul>") + item("c") + "</ul>"
    for there in ("", "a", "ab", "ac", "abc"):
        article = "".join(f'<p id="{name}">' for name in there)
        soup = BeautifulSoup(_there(contents, article), "html.parser")
        assert "".join(link.get_text() for link in soup.select("a")) == there


# ---- runs ------------------------------------------------------------------------------------


def test_a_run_is_shown_beside_the_default_and_kept(served: Served) -> None:
    address = served.run(values=RUN)
    id = address.partition("=")[2]
    assert re.fullmatch(r"/index\.html\?run=index-[0-9a-f]{24}", address)
    soup = BeautifulSoup(served.ask("GET", address).text, "html.parser")
    said = " ".join(soup.select_one(".serve-banner").get_text().split())
    assert "throws 60 (default 40)" in said
    assert "seed 2 (default 1)" in said
    marked = {m.get_text(): m.get("data-was") for m in soup.select("article mark.serve-changed")}
    assert marked["60"] == "40"
    [pair] = soup.select(".serve-pair")
    default, yours = pair.select("svg")
    assert "A bar of 40 " in default["aria-label"]
    assert "A bar of 60 " in yours["aria-label"]
    assert soup.html["data-serve"] == "index"
    assert "-p throws=60" in soup.select_one(".serve-command pre").get_text()

    notebook = served.ask("GET", f"/_serve/runs/{id}/notebook.ipynb")
    assert f'filename="{id}.ipynb"' in notebook.headers["Content-Disposition"]
    assert any("60" in "".join(cell["source"]) for cell in notebook.json["cells"])
    page = served.ask("GET", f"/_serve/runs/{id}/page.html")
    assert "Of 60 throws" in page.text
    assert page.headers["Content-Disposition"].startswith("attachment")
    assert served.ask("GET", f"/_serve/runs/{id}/run.json").status == 404

    again = served.ended(served.post("index", values=RUN).json["job"])
    assert (again["address"], again["tasks"][0]["total"]) == (address, 0)  # no cell was executed
    history = BeautifulSoup(served.ask("GET", "/_serve/history").text, "html.parser")
    assert [str(link["href"]) for link in history.select("ol a")].count(address) == 1
    without_server = pages(served.book, served.book.build / "serve")
    assert "throws</code> 60" in without_server.show_run("index", id)[0]


def test_a_cell_that_fails_is_one_sentence(served: Served) -> None:
    found = served.ended(served.post("index", values={"kind": "loaded"}).json["job"])
    assert found["state"] == "failed"
    assert found["message"].startswith("notebooks/index.md, code cell 3")
    assert found["message"].endswith("ValueError: the dice are loaded")


def pages(book: Project, kept: Path) -> ServedPages:
    """The pages as another server shows them, without its processes."""
    return ServedPages(book, book.build / "html", Runs(kept))


def test_kept_runs_have_an_order_and_are_forgotten(small_book: Project, tmp_path: Path) -> None:
    served = pages(small_book, tmp_path)
    figure = '<figure class="momab-figure"><svg><title id="t"/>{}</svg></figure>'
    made = []
    for number, throws in enumerate((10, 20, 30)):
        id, changed = f"index-{number:024}", {"throws": ("40", str(throws))}
        run = Run(id, "index", "Dice", {"throws": throws}, changed, "momab", 1.0, "", made=number)
        made.append(run)
        article = f'<article class="bd-article">{figure.format(throws)}</article>'
        served.runs.save(run, article, "a page", "{}")
    form = served.form("index")
    assert form["presets"]["yours"]["throws"] == "30"
    assert [entry["what"] for entry in form["history"]] == [f"throws = {n}" for n in (30, 20, 10)]

    sweep = served.runs.save_sweep(made, ["throws"], "momab run index -p throws=10,20,30")
    soup = BeautifulSoup(served.show_sweep("index", sweep.id)[0], "html.parser")
    labels = [label.get_text() for label in soup.select(".serve-multiple .serve-label")]
    assert labels == ["throws = 10", "throws = 20", "throws = 30"]
    names = [str(tag["id"]) for tag in soup.select(".serve-multiple svg [id]")]
    assert len(set(names)) == len(names) == 3
    assert "-p throws=10,20,30" in soup.select_one(".serve-command pre").get_text()

    assert [served.runs.forget(made[2].id) for _ in range(2)] == [True, False]
    assert not (tmp_path / "runs" / made[2].id).exists()
    assert served.form("index")["presets"]["yours"]["throws"] == "20"


# ---- tables of one's own ---------------------------------------------------------------------

GOOD = "cafe,coffee,quiet,price\n" + "".join(
    f"{cafe},{0.1 * n:.1f},{1 - 0.1 * n:.1f},{10 * n}\n" for cafe in ("A", "B") for n in range(9)
)
HOSTILE = (
    '"<script>alert(1)</script><img src=data:, onerror=alert(2)>'
    '<a href=javascript:alert(3)>x</a><img src=/etc/hostname>"'
)


def test_a_table_is_described_and_studied_and_its_names_run_nowhere(served: Served) -> None:
    """With another delimiter, a gap, a column to scale, and a name that is a script."""
    data = (GOOD + "C,,0.5,1\n" + f"{HOSTILE},0.5,0.5,5\n" * 3).replace(",", ";")
    table = served.upload(data.encode(), "my%20%3Cscript%3E.csv").json
    assert (table["name"], table["rows"]) == ("my -script", 22)
    assert [c["name"] for c in table["columns"]] == ["cafe", "coffee", "quiet", "price"]
    assert [c["number"] for c in table["columns"]] == [False, True, True, True]
    assert table["columns"][3]["high"] == 80
    request: dict[str, Any] = {"table": table["id"], "arm": "cafe"}
    request["objectives"] = ["coffee", "price"]
    request |= {"minimize": ["price"], "units": {"price": "euros"}}
    ranges = {"price": "0:80"}
    assert "row 19" in refused(served.post("own-data", values={}, scale=ranges, **request))
    values = {"missing": "drop", "seed": "3", "horizon": "100", "runs": "2"}
    said = refused(served.post("own-data", values=values, **request))
    assert "price" in said  # 80 is not in [0, 1]

    answer = served.ask("GET", served.run("own-data", values=values, scale=ranges, **request))
    soup = BeautifulSoup(answer.text, "html.parser")
    said = " ".join(soup.get_text().split())
    assert "22 rows were read" in said
    assert "21 are used: 1 row was dropped" in said
    assert "price euros less 0 to 80" in said
    assert "price (euros)" in said
    command = soup.select_one(".serve-command pre").get_text()
    assert "--minimize price" in command
    assert "--unit price=euros" in command
    assert "--missing drop" in command
    asked = {"values": values, "scale": ranges, **request}
    printed = served.ask("POST", "/_serve/commands/own-data", asked).json["command"]
    assert printed == command
    assert "our cafés" in served.ask("GET", "/own-data.html").text
    assert "our cafés" not in soup.get_text()  # nobody is asked about a table that is not shown
    assert not soup.select('[href="#exercises"]')
    article = soup.select_one("article.bd-article")
    assert article.find("script") is None
    assert not [t for t in article.find_all(True) for a in t.attrs if a.startswith("on")]
    assert not article.select('[href^="javascript:"]')
    policy = answer.headers["Content-Security-Policy"].split("; ")
    [scripts] = [part for part in policy if part.startswith("script-src")]
    assert "unsafe-inline" not in scripts
    assert "<script>alert" not in served.ask("GET", "/_serve/history").text


def test_what_is_no_table_is_one_sentence(served: Served) -> None:
    for data in (
        b"",
        b"\n\n\n",
        b"a,b\n",
        b"just a line",
        b"\x00\x01\x02,\xff\n1,2\n",
        b"a,b\n1,\x81\xfe\n",
        b"a,b\n1,2\n1,2,3\n",
        b"a,b\n1,2,3\n4,5,6\n",
        b'a,b\n"never closed,1\n2,3\n',
        b"PK\x03\x04 a zip",
        b"\x1f\x8b\x08\x00 gzip",
        b",".join(b"c%d" % n for n in range(600)) + b"\n",
        b"," * 1_000_000,
    ):
        refused(served.upload(data))
    headers = {"Content_Length": str(LIMIT + 1)}  # the answer comes before the body is sent
    answer = served.ask("POST", "/_serve/tables", **headers)
    assert (answer.status, answer.text) == (413, "at most 20 MB are taken here.")


def test_a_table_of_a_western_spreadsheet_is_read_and_its_encoding_said(served: Served) -> None:
    table = served.upload(GOOD.replace("A,", "Müsli,").encode("cp1252")).json
    assert table["encoding"] == "cp1252"
    assert [column.get("range") for column in table["columns"]] == [None, "0:1", "0:1", "0:80"]
    values = {"horizon": "100", "runs": "2"}
    request = {"table": table["id"], "arm": "cafe", "objectives": ["coffee"], "values": values}
    command = served.ask("POST", "/_serve/commands/own-data", request).json["command"]
    assert "--encoding cp1252" in command


def test_decimal_commas_are_numbers_in_the_form_as_in_the_report(tmp_path: Path) -> None:
    data = "shop;wait;comment;empty\nA;1,5;good;\nB;62,25;;\nB;;3,4 of 5;\n"
    table = keep_table(tmp_path, "shops.csv", data.encode())
    _, wait, comment, empty = table["columns"]
    assert (wait["number"], wait["low"], wait["high"]) == (True, 1.5, 62.25)
    assert wait["range"] == "0:70"
    assert (comment["number"], empty["number"]) == (False, False)


def test_the_form_is_told_the_command_of_all_its_values(served: Served) -> None:
    asked = {"values": {"throws": "60,70", "kind": "loaded"}}
    command = served.ask("POST", "/_serve/commands/index", asked).json["command"]
    assert command == (
        "momab run index -p seed=1 -p throws=60,70 -p share=0.5 -p kind=loaded -p wait=0.0 "
        "-p 'levels=[0.1,0.2]'"
    )


def test_values_that_are_not_allowed_have_no_command(served: Served) -> None:
    answer = served.ask("POST", "/_serve/commands/index", {"values": {"throws": "1"}})
    assert (answer.status, answer.json) == (200, {"command": ""})
    assert served.ask("POST", "/_serve/commands/nothing", {"values": {}}).status == 404


def test_a_table_that_two_tabs_drop_at_once_is_kept_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: keep_table(tmp_path, "a.csv", GOOD.encode()), range(24)))
    assert all(table == made[0] for table in made)
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(
        [made[0]["id"], "a.csv", "table.json"]
    )


@pytest.mark.parametrize("name", ["../../evil.csv", "..%2F..%2Fevil.csv", "%00.csv", "a;b,c.csv"])
def test_a_name_leads_nowhere_else(served: Served, name: str) -> None:
    answer = served.upload(GOOD.encode() + name.encode() + b",0.5,0.5,5\n", name)
    assert answer.status in (200, 400)
    if answer.status == 200:
        tables = served.book.build / "serve/tables"
        [path] = (tables / answer.json["id"]).glob("*.csv")
        assert path.resolve().is_relative_to(tables)
        assert not set(path.name) & set(";,/\\")


def test_a_bad_study_is_one_sentence(served: Served) -> None:
    good = {"table": served.upload(GOOD.encode()).json["id"], "arm": "cafe"}
    good |= {"objectives": ["coffee"]}
    for change in (
        {"table": "../../etc"},
        {"table": "0" * 16},
        {"arm": ""},
        {"arm": "nobody"},
        {"objectives": []},
        {"objectives": "coffee"},
        {"objectives": [["coffee"]]},
        {"scale": [1]},
        {"scale": {"coffee": "x"}},
        {"values": {"seed": "x"}},
        {"values": {"table": "x"}},
        {"minimize": ["price"]},
        {"minimize": "coffee"},
        {"units": {"price": "euros"}},
        {"units": [1]},
    ):
        refused(served.post("own-data", **{"values": {}, **good, **change}))


# ---- its life ----------------------------------------------------------------------------------


def files(folder: Path) -> set[str]:
    return {path.as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_server_from_start_to_end(small_book: Project, tmp_path: Path) -> None:
    """A sweep, a cancelled run, only loopback; then stopped and killed: nothing is left."""
    others = shutil.ignore_patterns(".serve-*", "serve", "users.*")  # of the shared server
    book = Path(shutil.copytree(small_book.root, tmp_path / "book", ignore=others))
    build = book / "_build"
    served = serve(book, os.getpid(), 1, tmp_path / "log")
    soup = BeautifulSoup(
        served.ask("GET", served.run(values={"throws": "10,20"})).text, "html.parser"
    )
    assert len(soup.select(".serve-multiple svg")) == 2
    assert "-p throws=10,20" in soup.select_one(".serve-command pre").get_text()

    before, warm = files(build), served.kernels()
    job = served.post("index", values={"wait": "500"}).json["job"]
    second = served.post("index", values={"throws": "71"}).json["job"]
    served.started(job)
    assert served.state(second)["ahead"] == 1
    assert served.ask("GET", "/_serve/pages/index").json["jobs"] == [job, second]
    [mine] = [kernel for kernel in served.kernels() if kernel not in warm]
    heard = [
        found.laddr.ip
        for process in [served.process, *served.process.children(recursive=True)]
        for found in process.net_connections("inet")
        if found.status == psutil.CONN_LISTEN
    ]
    assert heard  # the server's; kernels are reached by sockets in a private folder
    assert set(heard) <= {"127.0.0.1", "::1"}
    assert served.ask("DELETE", f"/_serve/jobs/{job}").json == {"cancelled": True}
    assert served.ended(second)["state"] == "done"  # it was not kept waiting
    assert served.state(job)["state"] == "cancelled"
    until(lambda: is_over(mine), "the end of the cancelled kernel")
    new = {path for path in files(build) - before if not path.endswith(".lock")}
    allowed = r"/cache/index-[0-9a-f]{24}\.ipynb$|/serve/runs/index-[0-9a-f]{24}/"
    assert [path for path in new if not re.search(allowed, path)] == []
    assert len([path for path in new if "/cache/" in path]) == 1
    assert served.ask("DELETE", f"/_serve/jobs/{job}").json == {"cancelled": False}

    for end in (signal.SIGTERM, signal.SIGKILL):
        job = served.post("index", values={"wait": "500"}).json["job"]
        served.started(job)
        below = served.process.children(recursive=True)
        assert any("ipykernel" in " ".join(process.cmdline()) for process in below)
        process = STARTED.pop()
        process.send_signal(end)
        process.wait(PATIENCE)
        for one in below:
            until(partial(is_over, one), "the end of what the server had started")
        if end == signal.SIGTERM:
            assert process.returncode == 130
            assert (
                "momab: stopped; what had finished is in _build/serve.\n"
                in (tmp_path / "log").read_text()
            )
            assert not list(build.glob(".serve-*"))
            port = served.server.port
            served = serve(book, os.getpid(), 1, tmp_path / "log")
            assert served.server.port == port  # addresses of runs stay good
    assert list(build.glob(".serve-*"))
    fresh = _scratch(build)  # the next one tidies up
    assert list(build.glob(".serve-*")) == [fresh]
    runs = [json.loads(path.read_text()) for path in build.glob("serve/runs/*/run.json")]
    assert sorted(run["values"]["throws"] for run in runs) == [10, 20, 71]
