"""A visitor's own policy: a file that plays in the isolation of students' code, and its result.

The file is never imported here.  `momab.course.sandbox` runs two steps in one process inside
bubblewrap: first the rivals play, and their result is told; then the file is loaded and plays.  So
a file can at most say something wrong of itself.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momab._util.commands import command_line
from momab._util.files import write_text
from momab.book.execute import Job as Execution
from momab.course import isolation
from momab.course.sandbox import Answer, Cell, Limits, SandboxResult, Step, run_steps
from momab.errors import MomabError

LARGEST = 100_000
"""The largest file that is taken, in bytes."""

VALUES = ("horizon", "runs", "seed")
"""The values of the form that hold for a file."""

LIMITS = Limits(seconds=120, memory=2048, restarts=0, total=900)
"""Processor time of each of the two steps, memory, and time in all."""

_INTERPRETED = 100_000  # up to so many rounds in all, compiling takes longer than playing
_KEEP = 50
_DELTA, _M = 0.02, 8  # the synthetic instance of the page


@dataclass(frozen=True)
class PolicyRun(Execution):
    """The runs of a policy in a file; ``values`` holds horizon, runs and seed."""

    name: str
    text: str

    @property
    def done(self) -> bool:
        """Whether the result is there already."""
        return self.path.is_file()


def taken(policy: object) -> tuple[str, str]:
    """The name and the text of a file that a form sent, if it may play here."""
    found = policy if isinstance(policy, dict) else {}
    name, text = found.get("name"), found.get("text")
    if not isinstance(name, str) or not isinstance(text, str) or not name.endswith(".py"):
        raise MomabError("choose a file of Python code, with a name that ends in .py.")
    if len(text.encode(errors="replace")) > LARGEST:
        raise MomabError(f"a policy's file may have {LARGEST // 1000} kB; this one has more.")
    try:
        isolation.demand()
    except isolation.IsolationError:
        raise MomabError(
            "a policy's file plays here only inside bubblewrap, which is missing or not allowed "
            "on this machine; `momab simulate --policy FILE:CLASS` plays it without."
        ) from None
    stem = re.sub(r"[^\w-]+", "-", Path(name).stem)[:60] or "policy"
    return f"{stem}.py", text


def command(name: str, text: str, values: Mapping[str, Any]) -> str:
    """The command that plays the same in a terminal."""
    kind = re.search(r"^class (\w+)\(.*Policy", text, re.MULTILINE)
    own = f"{name}:{kind[1] if kind else 'CLASS'}"
    players = [("--policy", player) for player in (own, "width-guided", "pareto-imed")]
    sizes = [("-T", "horizon"), ("-n", "runs"), ("--seed", "seed")]
    options = players + [(option, str(values[value])) for option, value in sizes]
    return command_line("simulate", [f"synthetic:delta={_DELTA},m={_M}"], options)


def play_enclosed(run: PolicyRun, cancelled: Callable[[], bool]) -> None:
    """Play the rivals and the file, and keep the result; a fault is one sentence."""
    settings = tuple(run.values[name] for name in VALUES)
    steps: list[Step] = []
    for key, own in (("rivals", None), ("own", (run.name, run.text))):
        source = f"from momab.serve.policies import played\n{key} = played({own!r}, *{settings!r})"
        steps += [Cell(f"{key} play", source), Answer(key, key, function=False)]
    results = run_steps(steps, LIMITS, _Asking(cancelled))
    if cancelled():
        return
    for step in steps:
        if results[step.key].kind != "done":
            raise MomabError(_fault(run.name, results[step.key]))
    (note, mine), (_, rivals) = (_read(results[key].outcomes) for key in ("own", "rivals"))
    result: dict[str, Any] = {"name": run.name, "note": note, "rows": [*mine, *rivals]}
    result |= {"values": dict(run.values), "command": command(run.name, run.text, run.values)}
    write_text(run.path, json.dumps(result))
    kept = sorted(run.path.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-_KEEP]:
        path.unlink(missing_ok=True)


class _Asking(threading.Event):
    """An event that happens when a question is answered with yes."""

    def __init__(self, question: Callable[[], bool]) -> None:
        super().__init__()
        self._question = question

    def is_set(self) -> bool:
        return self._question()


def _fault(name: str, result: SandboxResult) -> str:
    """What went wrong, in one sentence."""
    if result.kind == "raised":
        said = re.sub(r" \(line \d+ of the cell\)$", "", result.detail)
        return f"{said.removeprefix('MomabError: ').rstrip('.')}."
    advice = "; choose fewer rounds or runs" if result.kind == "timeout" else ""
    return f"{name} was stopped: {result.detail}{advice}."


def _read(outcomes: Any) -> tuple[str, list[list[Any]]]:
    """A note and the rows of a table from what a step told, which may be anything."""
    try:
        note, rows = outcomes[0]["value"]
        read = [[str(name)[:80], *map(float, numbers)] for name, *numbers in rows]
        if not isinstance(note, str) or not read or not all(map(_is_row, read)):
            raise ValueError
    except (TypeError, ValueError, LookupError):
        raise MomabError("what the file played is not readable.") from None
    return note[:500], read


def _is_row(row: list[Any]) -> bool:
    return len(row) == 6 and all(map(math.isfinite, row[1:]))


def played(file: tuple[str, str] | None, horizon: int, runs: int, seed: int) -> Any:
    """In the isolated process: a note, and a row for each policy: the file's, or the rivals.

    A row has the name, the mean regret with its interval, the largest, and the ratio to the price.
    """
    import momab
    from momab.engine.loop import is_compiled
    from momab.engine.policies.base import Policy, with_options
    from momab.engine.subset import outside
    from momab.model.price import price
    from momab.study import brought

    engine = "python" if horizon * runs <= _INTERPRETED else "auto"
    game = momab.synthetic(delta=_DELTA, m=_M)
    note, policies = "", list[Policy]([momab.WidthGuided(), momab.ParetoIMED()])
    paths = []
    if file:
        path = Path(file[0])
        path.write_text(file[1], encoding="utf-8")
        paths = [path]
        kind: Any = brought.brought_class(path)
        policies = [with_options(kind, kind.__name__, {})]
        if engine == "auto" and not is_compiled(policies[0]):
            note = outside(kind) or f"{kind.__name__} is not compiled."
    with brought.explained(paths):
        results = momab.simulate(
            game, policies, horizon, runs, seed, workers=1, progress=False, engine=engine
        )
    unit = float(price(game.means).value) * math.log(horizon)
    columns = results.summary()[["policy", "mean", "mean_low", "mean_high", "max"]]
    return note, [[*row, row[1] / unit] for row in columns.values.tolist()]
