"""A policy of one's own, from a class or from a file: compiled if it can be, played in any case."""

from __future__ import annotations

import re
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
from momab.study.provenance import describe_policy
from tests.command import run
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


def table(self: Any) -> Any:
    return {0: self.means[0, 0]}


def falling(n: int) -> int:
    return 0 if n <= 0 else falling(n - 1)


rounds = 0


class Listed(Policy):
    def select(self, t: int, coin: Any) -> int:
        best = [row.sum() for row in self.means]
        return int(np.argmax(best))


class Formatted(Policy):
    def select(self, t: int, coin: Any) -> int:
        return int(f"{t}"[-1]) % self.K


class Trying(Policy):
    def select(self, t: int, coin: Any) -> int:
        try:
            return t % self.K
        except ValueError:
            return 0


class Global(Policy):
    def select(self, t: int, coin: Any) -> int:
        global rounds
        rounds = t
        return rounds % self.K


class Tabled(Policy):
    def select(self, t: int, coin: Any) -> int:
        return int(table(self)[0])


class Recursive(Policy):
    def select(self, t: int, coin: Any) -> int:
        return falling(t % 5)


class Counting(Policy):
    def select(self, t: int, coin: Any) -> int:
        self.rounds = t
        return t % self.K


class Hidden(Policy):
    def start(self) -> None:
        self._score = np.zeros(self.K)

    def select(self, t: int, coin: Any) -> int:
        return momab.choose_top(self._score, 0, coin)


class Objects(Policy):
    def start(self) -> None:
        self.names = np.array(["an arm"] * self.K, dtype=object)

    def select(self, t: int, coin: Any) -> int:
        return len(self.names[0]) % self.K


class Chancy(Policy):
    def select(self, t: int, coin: Any) -> int:
        return int(np.random.randint(self.K))  # noqa: NPY002


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
        (Formatted(), "has a string;"),
        (Trying(), "has try;"),
        (Global(), "has global;"),
        (Tabled(), "has a dictionary;"),
        (Recursive(), "has falling, which calls itself;"),
        (Counting(), r"has self.rounds = \.\.\. \(keep what changes in an array"),
        (Hidden(), r"has self\._score \(begin the name with a letter"),
        (Objects(), r"has `return len\(self.names"),
        (Chancy(), "has random numbers that no seed repeats"),
        (Asking(), r"has the call self.order\(\) \(call a function outside the class\)"),
        (Sorting(), "has `return int"),
    ],
)
def test_what_is_not_in_the_subset_plays_with_one_sentence(
    policy: Any, said: str, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    monkeypatch.setattr(loop, "_outside", set())
    monkeypatch.chdir(tmp_path)  # a policy's file may be outside the working folder
    for _ in range(2):
        block = played(momab.synthetic(0.1, 2, K=6), policy, 50, 1, 0, 2)
        assert block.pulls.sum() == 100
    [line] = capsys.readouterr().err.splitlines()
    found = re.match(rf"momab: {type(policy).__name__} is not compiled: line (\d+) {said}", line)
    assert found
    assert line.endswith(f"{subset.ALLOWED}.")
    text = Path(__file__).read_text().splitlines()[int(found[1]) - 1]
    assert text.startswith(("    ", "def falling"))


class Chosen(Policy):
    def select(self, t: int, coin: Any) -> int:
        return self.K if t > 7 else 0


class Half(Policy):
    def select(self, t: int, coin: Any) -> Any:
        return 0.5


class Forgetful(Policy):
    def select(self, t: int, coin: Any) -> Any:
        if t < 8:
            return 0


class Committing(Policy):
    def select(self, t: int, coin: Any) -> int:
        momab.commit(self, t, -1, 0, self.T)
        return 0


@pytest.mark.parametrize("engine", ["auto", "python"])
@pytest.mark.parametrize(("kind", "t"), [(Chosen, 8), (Half, 6), (Forgetful, 8), (Committing, 6)])
def test_what_is_not_an_arm_is_refused(kind: Any, t: int, engine: str) -> None:
    """Compiled code must not read past the end of an array."""
    said = f"select of {kind.__name__} must choose an arm, a whole number from 0 to 5; in round {t}"
    with pytest.raises(MomabError, match=said):
        played(momab.synthetic(0.1, 2, K=6), kind(), 50, 1, 0, 2, engine=engine)


def test_a_policy_without_select_is_refused() -> None:
    class Nothing(Policy):
        pass

    with pytest.raises(MomabError, match=r"Nothing needs a method select\(self, t, coin\)"):
        played(momab.synthetic(0.1, 2, K=6), Nothing(), 50, 1, 0, 2)


class Sharing(Policy):
    """Two names for one array, and a column of a table whose rows are elsewhere in memory."""

    def start(self) -> None:
        self.n = self.counts
        self.table = np.zeros((self.K, 2), order="F")
        self.column = self.table[:, 1]

    def moved(self, arm: int) -> None:
        self.table[arm, 1] = self.n[arm]

    def select(self, t: int, coin: Any) -> int:
        return momab.choose_top(-self.column, 0, coin)


def test_arrays_that_share_memory_share_it_when_compiled() -> None:
    common = (momab.synthetic(0.1, 2, K=6), Sharing(), 80, 1, 0, 2)
    plain = played(*common, engine="python")
    assert plain.pulls.min() == 13
    assert_same(played(*common), plain)


def held(share: float, order: list[str]) -> Any:
    def helper(x: float) -> bool:
        return x > share

    class Held(Policy):
        rule = order

        @property
        def first(self) -> str:
            return self.rule[0]

        def select(self, t: int, coin: Any) -> int:
            return 1 if helper(0.5) and self.first == "one" else 0

    return Held()


def test_a_store_sees_closures_and_what_a_class_holds() -> None:
    one, other = ["one", "two"], ["two", "one"]
    told = [
        describe_policy(held(*given))["code"] for given in ((0.1, one), (0.9, one), (0.1, other))
    ]
    assert len(set(told)) == 3
    assert told[0] == describe_policy(held(0.1, ["one", "two"]))["code"]


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


@pytest.mark.parametrize("workers", [1, 2])
def test_what_goes_wrong_while_a_file_plays_is_one_sentence(
    file: Path, workers: int, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(FILE.replace("self.score[arm] =", "self.score[1.5] ="))
    words = ["synthetic:delta=0.1,m=2,K=6", "--policy", f"{file}:EpsilonGreedy", "-T", "50"]
    more = ["-n", "4", "--workers", str(workers), "--engine", "python"]
    assert run(monkeypatch, "simulate", *words, *more) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert re.search(
        r"my_policy.py, line 15: IndexError: only integers.* are valid indices\.$", line
    )
