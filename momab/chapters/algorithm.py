"""The chapter on the algorithm: one run, decision by decision.

The state at a round and the reason for its pull, when certificates come under several rules, the
pictures of a run, and the player that lets the reader step through it.
"""

from __future__ import annotations

import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util import prose
from momab._util.validate import IntArray, whole_number
from momab.chapters.figures import show, templates
from momab.chapters.figures.style import BLUE, FAINT, INK, LINES, ORANGE, STYLE, axes_grid
from momab.engine.policies.base import Policy
from momab.ledger.auditing.rounds import CERTIFICATE, COMMITTED, LEADER, Rounds
from momab.ledger.auditing.trace import Trace
from momab.model.instances import Instance
from momab.study.simulate import simulate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def frame_rounds(trace: Trace, frames: int, first: int = 40) -> IntArray:
    """Choose at most ``frames`` decisions: the first ones all, then evenly, the last included."""
    frames = whole_number(frames, "frames", least=2)
    start, stop = trace.K, trace.recorded
    opening = np.arange(start, min(stop, start + min(first, frames // 2)))
    # backwards, so that a single one is the last decision
    rest = np.linspace(stop - 1, opening[-1] + 1, frames - len(opening))
    return np.unique(
        np.concatenate([opening, np.rint(rest).astype(np.int64)]).clip(start, stop - 1)
    )


def decision(rounds: Rounds, i: int = 0) -> dict[str, Any]:
    """What a decision rested on, with arms and objectives counted from 1.

    The pulled ``arm`` and whether it was ``committed`` to or just ``certified``; the sampled
    ``objective`` with its leader ``b`` and challenger ``c``, and how many objectives are ``tied``
    for the widest; the ``role`` of the pulled arm in the race, the ``other`` arm of the pair, and
    whether both have the ``same_radius``.
    """
    arm, j, case = int(rounds.arm[i]), int(rounds.objective[i]), int(rounds.case[i])
    found: dict[str, Any] = {
        "arm": arm + 1,
        "committed": case == COMMITTED,
        "certified": case == CERTIFICATE,
    }
    if case == COMMITTED:
        return found
    b, c = int(rounds.b[i, j]), int(rounds.c[i, j])
    W, beta = rounds.W[i], rounds.beta[i]
    role, other = ("leader", c) if case == LEADER else ("challenger", b)
    return found | {
        "objective": j + 1,
        "b": b + 1,
        "c": c + 1,
        "tied": int((W.max() - 1e-12 <= W).sum()),
        "role": role,
        "other": other + 1,
        "same_radius": bool(abs(beta[arm] - beta[other]) <= 1e-12),
    }


def why(rounds: Rounds, i: int = 0) -> str:
    """One sentence on why a decision pulled what it pulled (the template ``why.txt``)."""
    return prose.one_line(templates.fill_template("why.txt", **decision(rounds, i)))


def certificate_rounds(
    instance: Instance, rules: Mapping[str, Policy], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """When the certificate comes under several rules: quartiles of its round, as in the paper."""
    import pandas as pd

    played = simulate(
        instance, rules, horizon, runs, seed, checkpoints=1, workers=1, progress=False
    ).runs
    rows: list[dict[str, Any]] = []
    for name, mine in played.groupby("policy", sort=False):
        found = mine["cert_round"].dropna().astype(float) + 1
        quartiles = found.quantile([0.25, 0.5, 0.75]).tolist()
        shown = dict(zip(("lower quartile", "median round", "upper quartile"), quartiles))
        rows.append({"rule": name, "runs": runs, "certify": len(found), **shown})
    return pd.DataFrame(rows)


_PLACES = {"lower quartile": 0, "median round": 1, "upper quartile": 0}


def _written(found: pd.DataFrame, column: str) -> pd.Series[str]:
    return found[column].map(f"{{:,.{_PLACES[column]}f}}".format).replace("nan", "none")


def written_rounds(found: pd.DataFrame) -> pd.DataFrame:
    """The table of :func:`certificate_rounds` as printed, bounds with two digits.

    Quartiles are whole rounds; a median has its half, so that ratios of what is printed are right.
    """
    printed = found.rename(columns={"rule": "c"})
    for column in _PLACES:
        printed[column] = _written(found, column)
    printed["bound on failure"] = found["bound on failure"].map(prose.tens)
    return printed


def written_medians(found: pd.DataFrame) -> pd.Series[str]:
    """Per rule of :func:`certificate_rounds` the median round, with how many runs it is of."""
    rows = found.set_index("rule")
    return _written(rows, "median round") + " (" + rows["certify"].astype(str) + ")"


_DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (6, 1, 1, 1, 1, 1)))


def _thin(length: int, most: int = 160) -> Any:
    """Indices of at most ``most`` points of a curve over rounds, dense at the start."""
    return np.unique(np.rint(np.geomspace(1, length, min(length, most))).astype(np.int64)) - 1


def races_figure(trace: Trace, rounds: Rounds) -> Figure:
    """Per objective, the leader's lower bound against the challenger's upper bound."""
    d = min(trace.d, 6)
    keep = _thin(len(rounds.t))
    number = rounds.t[keep] + 1
    with mpl.rc_context(STYLE):
        fig, axes = axes_grid(d, 1, (5.2, 1.75 * d + 0.6))
        for j, ax in enumerate(axes):
            each = np.arange(len(rounds.t))
            lower = rounds.L[each, rounds.b[:, j], j][keep]
            upper = rounds.U[each, rounds.c[:, j], j][keep]
            ax.fill_between(number, lower, upper, color=FAINT, alpha=0.5, lw=0)
            ax.plot(number, upper, color=ORANGE, ls="--", label="$U$ of the challenger")
            ax.plot(number, lower, color=BLUE, label="$L$ of the leader")
            if rounds.certified[-1, j]:
                ax.plot(number[-1], lower[-1], marker="*", ms=15, color=INK, label="certificate")
            ax.set_xscale("log")
            ax.set(title=f"objective {j + 1}", ylim=(-0.6, 1.6), xlim=(number[0], None))
            ax.tick_params(labelbottom=j == d - 1)
        axes[-1].set_xlabel("round")
        axes[-1].xaxis.set_major_formatter("{x:,.0f}")
        handles, labels = _legend(axes)
        fig.legend(handles, labels, loc="outside upper left", ncols=3)
    return fig


def _legend(axes: Sequence[Axes]) -> tuple[list[Any], list[str]]:
    """Every label once."""
    seen: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            seen.setdefault(label, handle)
    return list(seen.values()), list(seen)


def sampling(trace: Trace, rounds: Rounds) -> Figure:
    """Above, how often each arm was pulled; below, the width of every objective's pair."""
    keep = _thin(len(rounds.t))
    number = rounds.t[keep] + 1
    with mpl.rc_context(STYLE):
        fig, (above, below) = axes_grid(2, 1, (5.2, 5.6))
        for a in range(min(trace.K, 8)):
            style: dict[str, Any] = {
                "color": LINES[a],
                "ls": _DASHES[a % 4],
                "lw": 3.4 - 0.4 * min(a, 5),
            }
            above.plot(number, rounds.counts[keep, a], label=f"arm {a + 1}", **style)
        above.set(title="pulls of each arm")
        above.legend(handlelength=2.6, labelspacing=0.3)
        for j in range(min(trace.d, 8)):
            style = {"color": LINES[j], "ls": _DASHES[j % 4], "lw": 4.0 - 1.2 * min(j, 2)}
            below.plot(number, rounds.W[keep, j], label=f"objective {j + 1}", **style)
        below.set_xscale("log")
        below.set_yscale("log")
        below.set(xlabel="round", title="width of each race")
        below.legend(handlelength=2.6, labelspacing=0.3)
        for ax in (above, below):
            ax.xaxis.set_major_formatter("{x:,.0f}")
    return fig


# A panel of the player in pixels: its size and the edges of its axes; the values at top and bottom.
_W, _H, _TOP, _BOTTOM = 236, 236, 42, 178
_LEFT, _RIGHT = 34, _W - 6
_YLOW, _YHIGH = -0.5, 1.5


def _y(value: float) -> float:
    """The height at which a panel draws a value; what is outside is drawn at the edge."""
    clamped = min(max(value, _YLOW), _YHIGH)
    return round(_BOTTOM - (clamped - _YLOW) / (_YHIGH - _YLOW) * (_BOTTOM - _TOP), 1)


def _seen(value: float) -> str:
    """Whether a panel can draw a line at a value."""
    return "visible" if _YLOW <= value <= _YHIGH else "hidden"


def beyond(low: float, high: float) -> tuple[str, str]:
    """What a panel says about intervals that it cannot show to their ends: below, and above."""
    down = f"\u2193 to {low:.2f}".replace("-", "\u2212") if low < _YLOW else ""
    return down, f"\u2191 to {high:.2f}" if high > _YHIGH else ""


def _panel(trace: Trace, r: Rounds, j: int) -> dict[str, Any]:
    """What the panel of objective j draws at a decision: heights, roles and states."""
    b, c = int(r.b[0, j]), int(r.c[0, j])
    sampled = int(r.objective[0]) == j
    step = (_W - 44) / trace.K
    bars = [
        {
            "role": "b" if a == b else "c" if a == c else "",
            "x": round(_LEFT + step * (a + 0.5), 1),
            "low": _y(float(r.L[0, a, j])),
            "high": _y(float(r.U[0, a, j])),
            "mean": _y(float(r.means[0, a, j])),
            "true": _y(float(trace.means[a, j])),
            "pulled": sampled and int(r.arm[0]) == a,
        }
        for a in range(trace.K)
    ]
    down, up = beyond(float(r.L[0, :, j].min()), float(r.U[0, :, j].max()))
    return {
        "name": j + 1,
        "sampled": sampled,
        "state": "certifies" if r.certified[0, j] else "sampled" if sampled else "",
        "ticks": [(value, _y(value)) for value in (-0.5, 0.0, 0.5, 1.0, 1.5)],
        "lower": _y(float(r.L[0, b, j])),
        "lower_seen": _seen(float(r.L[0, b, j])),
        "upper": _y(float(r.U[0, c, j])),
        "upper_seen": _seen(float(r.U[0, c, j])),
        "down": down,
        "up": up,
        "bars": bars,
    }


def race_rows(r: Rounds) -> list[list[str]]:
    """The races at a decision as the player prints them, one row per objective.

    Leader, challenger, width, the leader's lower bound, the challenger's upper bound and their
    difference, with as many digits as it takes to see which of the two is larger.
    """
    rows = []
    for j, (b, c) in enumerate(zip(r.b[0].tolist(), r.c[0].tolist())):
        low, high = float(r.L[0, b, j]), float(r.U[0, c, j])
        apart = low - high
        digits = 4 if apart == 0 else min(12, max(4, 1 - math.floor(math.log10(abs(apart)))))
        numbers = (f"{r.W[0, j]:.3f}", f"{low:.{digits}f}", f"{high:.{digits}f}",
                   f"{apart:+.{digits}f}")  # fmt: skip
        rows.append([str(b + 1), str(c + 1), *(x.replace("-", "\u2212") for x in numbers)])
    return rows


def _frames(trace: Trace, picks: IntArray, start: int) -> dict[str, Any]:
    """What the script of the player needs: the state at every decision that it can show."""
    pieces = [trace.rounds(int(t), int(t) + 1) for t in picks]
    return {
        "S": trace.scale,
        "t": [int(t) + 1 for t in picks],
        "n": [r.counts[0].tolist() for r in pieces],
        "m": [np.round(r.means[0], 5).tolist() for r in pieces],
        "b": [r.b[0].tolist() for r in pieces],
        "c": [r.c[0].tolist() for r in pieces],
        "j": [int(r.objective[0]) for r in pieces],
        "a": [int(r.arm[0]) for r in pieces],
        "cert": [r.certified[0].astype(int).tolist() for r in pieces],
        "races": [race_rows(r) for r in pieces],
        "why": [why(r) for r in pieces],
        "start": start,
        "box": [_TOP, _BOTTOM, _YLOW, _YHIGH],
    }


def slow_motion(trace: Trace, shown: int, frames: int = 160) -> str:
    """A run to step through, as one piece of HTML that needs no kernel and no network.

    Without scripts, and in print, it shows the decision at ``shown`` pulls.  The reader moves
    through at most ``frames`` decisions with buttons, a slider or the arrow keys.
    """
    picks = np.unique(np.append(frame_rounds(trace, frames - 1), shown))
    start = int(np.searchsorted(picks, shown))
    data = _frames(trace, picks, start)
    text = json.dumps(data, separators=(",", ":"))
    now = trace.rounds(shown, shown + 1)
    return templates.fill_template(
        "slow_motion.html",
        id="slow-" + hashlib.sha256(text.encode()).hexdigest()[:8],
        width=_W,
        height=_H,
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        bottom=_BOTTOM,
        panels=[_panel(trace, now, j) for j in range(trace.d)],
        now=now,
        races=race_rows(now),
        K=trace.K,
        d=trace.d,
        why=html.escape(data["why"][start]),
        round=f"{int(shown) + 1:,}",
        last=len(picks) - 1,
        start=start,
        data=text.replace("</", "<\\/"),
    )


def show_slow_motion(trace: Trace, shown: int, frames: int = 160) -> None:
    """Show :func:`slow_motion` in a notebook."""
    text = f"Round {shown + 1:,}. {why(trace.rounds(shown, shown + 1))}"
    show.bundle({"text/html": slow_motion(trace, shown, frames), "text/plain": text})
