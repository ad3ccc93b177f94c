"""A visitor's own policy: a file that plays in isolation, in the form and in a hostile hand."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from bs4 import BeautifulSoup

import momab
from momab.course import isolation
from momab.errors import MomabError
from momab.serve import policies
from momab.serve.policies import PolicyRun
from tests.course.test_grading import isolated
from tests.serve.conftest import Served
from tests.serve.test_serve import refused
from tests.waiting import PATIENCE, until

GREEDY = """import numpy as np
from momab import Policy, choose_top

class Greedy(Policy):
    label = "Greedy <script>alert(1)</script>"

    def start(self):
        self.score = np.zeros(self.K)

    def moved(self, arm):
        self.score[arm] = self.means[arm].sum()

    def select(self, t, coin):
        return choose_top(self.score, 0, coin)
"""
LIE = """
import momab
import pandas as pd

class Told:
    def summary(self):
        numbers = dict.fromkeys(["mean", "mean_low", "mean_high", "max"], [MEAN])
        return pd.DataFrame({"policy": ["me"], **numbers})

momab.simulate = lambda *args, **options: Told()
"""
VALUES = {"horizon": 1_000, "runs": 2, "seed": 1}


def played(text: str, folder: Path, **values: int) -> PolicyRun:
    run = PolicyRun(
        None,  # type: ignore[arg-type]
        {**VALUES, **values},
        "0",
        folder / "result.json",
        "my_policy.py",
        text,
    )
    policies.play_enclosed(run, lambda: False)
    return run


def bad(text: str, folder: Path) -> str:
    with pytest.raises(MomabError) as found:
        played(text, folder)
    assert not list(folder.iterdir())
    return str(found.value)


@isolated
def test_a_file_plays_in_the_form_beside_its_rivals(served: Served) -> None:
    about = served.ask("GET", "/_serve/pages/bring-your-policy").json
    assert about["policy"] == ["horizon", "runs", "seed"]
    assert served.ask("GET", "/_serve/pages/index").json["policy"] is None
    policy = {"name": "../my policy.py", "text": GREEDY}
    asked = {"values": {"horizon": "1500", "runs": "2", "epsilon": "0.3"}, "policy": policy}
    address = served.run("bring-your-policy", **asked)
    soup = BeautifulSoup(served.ask("GET", address).text, "html.parser")
    article = soup.select_one("article.bd-article")
    rows = [[c.get_text() for c in r.select("td")] for r in article.select("tbody tr")]
    assert [row[0] for row in rows] == [
        "Greedy <script>alert(1)</script>",
        "Width-guided",
        "Pareto IMED",
    ]
    assert article.find("script") is None
    assert "1,500 rounds" in article.get_text()
    command = served.ask("POST", "/_serve/commands/bring-your-policy", asked).json["command"]
    assert command == article.select_one(".serve-command pre").get_text()
    assert "--policy my-policy.py:Greedy --policy width-guided" in command
    assert served.run("bring-your-policy", **asked) == address


@isolated
@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "x = 1",
            r"my_policy.py defines no class derived from momab.Policy\.",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            GREEDY + "class Other(Greedy): pass",
            r"defines 2 policies \(Greedy, Other\); leave one",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "x = 1 /",
            r"my_policy.py, line 1: SyntaxError: invalid syntax .*\.",
            marks=pytest.mark.slow,
        ),
        (GREEDY.replace("(self.score, 0", "(self.scores, 0"), "line 14: AttributeError: .*scores"),
        ("open('/root/.bashrc')", r"my_policy.py, line 1: (FileNotFound|Permission)Error"),
        pytest.param(
            "import socket\nsocket.create_connection(('1.1.1.1', 53), 3)",
            "line 2: OSError: .*reach",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import os\nos._exit(0)",
            r"my_policy.py was stopped: it ended the Python process\.",
            marks=pytest.mark.slow,
        ),
        pytest.param("x = bytearray(10**10)", r"memory|MemoryError", marks=pytest.mark.slow),
        pytest.param(
            "import os\nwhile True: os.fork()",
            r"was stopped: it (had|used) more than|line 2: BlockingIOError",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_fault_in_the_file_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    found = bad(text, tmp_path)
    assert re.search(said, found), found
    assert re.fullmatch(r"[^\n]+\.", found)


@pytest.mark.slow
@isolated
def test_a_file_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(policies, "LIMITS", replace(policies.LIMITS, seconds=8))
    found = bad("while True: print('x' * 2**20)", tmp_path)
    assert re.fullmatch(
        r"my_policy.py was stopped: it (computed for|took) more than \d+ s; "
        r"choose fewer rounds or runs\.",
        found,
    )


@pytest.mark.slow
@isolated
def test_a_file_that_lies_reaches_no_rival_and_must_tell_numbers(tmp_path: Path) -> None:
    for mean in ("float('nan')", "0.0"):
        text = GREEDY + LIE.replace("MEAN", mean)
        if "nan" in mean:
            assert bad(text, tmp_path) == "what the file played is not readable."
            continue
        mine, *rivals = json.loads(played(text, tmp_path).path.read_text())["rows"]
        assert mine[:2] == ["me", 0]
        honest = momab.simulate(
            momab.synthetic(delta=0.02, m=8),
            [momab.WidthGuided(), momab.ParetoIMED()],
            *VALUES.values(),
            workers=1,
            progress=False,
            engine="python",
        )
        assert [row[1] for row in rivals] == honest.summary()["mean"].tolist()


def test_what_is_no_policy_is_one_sentence(served: Served) -> None:
    for policy in ({"name": "x.csv", "text": "x"}, {"name": "x.py"}, "x.py", [1]):
        said = refused(served.post("bring-your-policy", values={}, policy=policy))
        assert said == "choose a file of Python code, with a name that ends in .py."
    large = {"name": "x.py", "text": "#" * (policies.LARGEST + 1)}
    said = refused(served.post("bring-your-policy", values={}, policy=large))
    assert said == "a policy's file may have 100 kB; this one has more."
    answer = served.ask("GET", "/bring-your-policy.html?policy=../../x")
    assert answer.status == 404


@isolated
def test_values_are_checked_before_a_file_plays(served: Served) -> None:
    policy = {"name": "x.py", "text": GREEDY}
    for horizon in ("7", "2000,3000"):
        values = {"horizon": horizon}
        said = refused(served.post("bring-your-policy", values=values, policy=policy))
        assert said.startswith("horizon must be a whole number in [1,000,")


def test_without_bubblewrap_a_sentence_says_so(monkeypatch: Any) -> None:
    isolation.version.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    try:
        with pytest.raises(MomabError, match="only inside bubblewrap, which is missing"):
            policies.taken({"name": "x.py", "text": GREEDY})
    finally:
        isolation.version.cache_clear()


def bubbles() -> list[psutil.Process]:
    """The processes of bubblewrap that this one has begun."""
    return [p for p in psutil.Process().children() if p.name() == "bwrap"]


@isolated
def test_a_cancelled_file_ends(tmp_path: Path) -> None:
    run = PolicyRun(
        None,  # type: ignore[arg-type]
        VALUES,
        "0",
        tmp_path / "result.json",
        "my_policy.py",
        "while True: pass",
    )
    stop = threading.Event()
    thread = threading.Thread(target=policies.play_enclosed, args=(run, stop.is_set))
    thread.start()
    until(bubbles, "the process of the file")
    stop.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert not run.done
    assert not bubbles()
