"""A policy of one's own, from a class or from a file: compiled if it can be, played in any case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import momab
from momab.cli import specs
from momab.engine import loop, subset
from momab.engine.policies.base import Policy
from momab.errors import MomabError
from tests.engine.drawn import SOURCES, assert_same, played, random_instance

FILE = """
from dataclasses import dataclass
import numpy as np
import momab
from momab import choose, choose_top

@dataclass(frozen=True)
class EpsilonGreedy(momab.Policy):
    epsilon: float = 0.1

    def start(self):
        self.score = np.zeros(self.K)

    def moved(self, arm):
        self.score[arm] = self.means[arm].sum()

    def select(self, t, coin):
        if momab.word(coin, 0) < self.epsilon * 2**32:
            return choose(self.K, 1, coin)
        return choose_top(self.score, 2, coin)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_policy.py"
    path.write_text(FILE)
    return path


def test_a_file_plays_as_ours_do(file: Path, capsys: Any) -> None:
    policy = specs.policy(f"{file}:EpsilonGreedy:epsilon=0.3")
    assert (policy.name, policy.label) == ("epsilon-greedy", "Epsilon Greedy")
    assert policy.epsilon == 0.3  # type: ignore[attr-defined]
    rng = np.random.default_rng(5)
    for source in SOURCES:
        common = (random_instance(rng, source), policy, 300, 4, 0, 2, [40], True, True)
        assert_same(played(*common), played(*common, engine="python"))
    assert capsys.readouterr().err == ""


def test_a_store_keeps_runs_until_the_code_changes(file: Path, tmp_path: Path) -> None:
    keys = []
    for text in (FILE, FILE + "# a comment", FILE.replace("2**32", "2**31")):
        file.write_text(text)
        game = momab.synthetic(delta=0.1, m=2, K=6)
        policy = specs.policy(f"{file}:EpsilonGreedy")
        result = momab.simulate(game, policy, 60, 2, store=tmp_path / "store", progress=False)
        keys.append(result.tasks[0].key)
    assert keys[0] == keys[1] != keys[2]


class Negated(Policy):
    def start(self) -> None:
        self.score = np.zeros(self.K)

    def moved(self, arm: int) -> None:
        self.score[arm] = -self.means[arm, 0]

    def select(self, t: int, coin: Any) -> int:
        return momab.choose_top(-self.score, 0, coin)


def without_a_module() -> Policy:
    names: dict[str, Any] = {"__name__": "not_a_module"}
    exec(FILE.replace("@dataclass(frozen=True)", ""), names)
    policy: Policy = names["EpsilonGreedy"]()
    return policy


def test_what_numba_cannot_read_again_plays_in_the_next_process_too() -> None:
    """An expression on whole arrays, and a class that belongs to no module."""
    compiled = pytest.importorskip("momab.engine.compiled", reason="skipped: needs numba")
    for policy in (Negated(), without_a_module()):
        common = (momab.synthetic(0.1, 2, K=6), policy, 80, 1, 0, 2)
        first = loop.play_block(*common, arms=True)
        compiled.driver_for.cache_clear()
        compiled._ready.clear()
        assert_same(loop.play_block(*common, arms=True), first)


class Listed(Policy):
    def select(self, t: int, coin: Any) -> int:
        best = [row.sum() for row in self.means]
        return int(np.argmax(best))


class Counting(Policy):
    def select(self, t: int, coin: Any) -> int:
        self.rounds = t
        return t % self.K


@dataclass(frozen=True)
class Asking(Policy):
    def order(self) -> int:
        return 1

    def select(self, t: int, coin: Any) -> int:
        return self.order()


class Sorting(Policy):
    def select(self, t: int, coin: Any) -> int:
        return int(sorted(range(self.K), key=int)[0])


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Listed(), "has a list;"),
        (Counting(), r"has self.rounds = \.\.\. \(keep what changes in an array"),
        (Asking(), r"has the call self.order\(\) \(call a function outside the class\)"),
        (Sorting(), "has `return int"),
    ],
)
def test_what_is_not_in_the_subset_plays_with_one_sentence(
    policy: Any, said: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    monkeypatch.setattr(loop, "_outside", set())
    for _ in range(2):
        block = played(momab.synthetic(0.1, 2, K=6), policy, 50, 1, 0, 2)
        assert block.pulls.sum() == 100
    [line] = capsys.readouterr().err.splitlines()
    import re

    assert re.match(rf"momab: {type(policy).__name__} is not compiled: line \d+ {said}", line)
    assert line.endswith(f"{subset.ALLOWED}.")


@pytest.mark.parametrize(
    ("text", "spec", "said"),
    [
        (None, "x.py:A", "cannot read .*x.py: No such file or directory"),
        ("class A: pass", "x.py:A", "x.py defines no class A derived from momab.Policy"),
        ("x = 1 /", "x.py:A", "x.py, line 1: SyntaxError"),
        ("\n\n1 / 0", "x.py:A", "x.py, line 3: ZeroDivisionError"),
        (FILE, "x.py:EpsilonGreedy:c=1", "EpsilonGreedy has no option 'c'; its options: epsilon"),
    ],
)
def test_a_file_that_does_not_work_is_explained(
    text: str | None, spec: str, said: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "x.py").write_text(text)
    with pytest.raises(MomabError, match=said):
        specs.policy(f"{tmp_path}/{spec}")
