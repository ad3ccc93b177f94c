"""The chapter on the algorithm: one run, decision by decision.

The state at a round and the reason for its pull, when certificates come under several rules, the
pictures of a run, and the player that lets the reader step through it.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import IntArray, whole_number
from momab.auditing.rounds import CERTIFICATE, COMMITTED, LEADER, Rounds
from momab.auditing.trace import Trace
from momab.engine.policies.base import Policy
from momab.engine.simulate import simulate
from momab.figures import magics, show, templates
from momab.figures.style import BLUE, FAINT, INK, LINES, ORANGE, STYLE, axes_grid, new_axes
from momab.model.instances import Instance

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


def state_table(trace: Trace, t: int) -> tuple[pd.DataFrame, pd.DataFrame, Rounds]:
    """Every variable of Algorithm 1 at one decision: a table by arm, one by objective."""
    import pandas as pd

    r = trace.rounds(t, t + 1)
    by_arm = pd.DataFrame({"arm": np.arange(1, trace.K + 1), "N": r.counts[0], "β": r.beta[0]})
    for j in range(trace.d):
        bounds = zip(r.L[0, :, j], r.means[0, :, j], r.U[0, :, j])
        column = [" ".join(f"{x:.3f}" for x in three) for three in bounds]
        by_arm[f"L, mean, U on objective {j + 1}"] = column
    each = np.arange(trace.d)
    by_objective = pd.DataFrame(
        {
            "objective": each + 1,
            "leader b": r.b[0] + 1,
            "challenger c": r.c[0] + 1,
            "width W": r.W[0],
            "L of b": r.L[0, r.b[0], each],
            "U of c": r.U[0, r.c[0], each],
            "certifies": np.where(r.certified[0], "yes", "no"),
        }
    )
    return by_arm, by_objective, r


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
    return magics.one_line(templates.fill_template("why.txt", **decision(rounds, i)))


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


_DASHES = ("-", "--", "-.", ":")


def _thin(length: int, most: int = 160) -> Any:
    """Indices of at most ``most`` points of a curve over rounds, dense at the start."""
    return np.unique(np.rint(np.geomspace(1, length, min(length, most))).astype(np.int64)) - 1


def races_figure(trace: Trace, rounds: Rounds) -> Figure:
    """Per objective, the leader's lower bound against the challenger's upper bound."""
    d = min(trace.d, 6)
    columns = min(d, 3)
    rows = -(-d // columns)
    keep = _thin(len(rounds.t))
    number = rounds.t[keep] + 1
    with mpl.rc_context(STYLE):
        fig, axes = axes_grid(rows, columns, (2.75 * columns + 0.5, 2.8 * rows + 0.3))
        for j, ax in enumerate(axes):
            if j >= d:
                ax.set_axis_off()
                continue
            each = np.arange(len(rounds.t))
            lower = rounds.L[each, rounds.b[:, j], j][keep]
            upper = rounds.U[each, rounds.c[:, j], j][keep]
            ax.fill_between(number, lower, upper, color=FAINT, alpha=0.5, lw=0)
            ax.plot(number, upper, color=ORANGE, ls="--", label="$U$ of the challenger")
            ax.plot(number, lower, color=BLUE, label="$L$ of the leader")
            if rounds.certified[-1, j]:
                ax.plot(number[-1], lower[-1], marker="*", ms=15, color=INK, label="certificate")
            ax.set_xscale("log")
            ax.set(title=f"objective {j + 1}", ylim=(-0.6, 1.6), xlabel="round")
            if j % columns:
                ax.tick_params(labelleft=False)
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
    """Left, how often each arm was pulled; right, the width of every objective's pair."""
    keep = _thin(len(rounds.t))
    number = rounds.t[keep] + 1
    with mpl.rc_context(STYLE):
        fig, (left, right) = new_axes(2, (8.4, 3.6))
        for a in range(min(trace.K, 8)):
            style: dict[str, Any] = {
                "color": LINES[a],
                "ls": _DASHES[a % 4],
                "lw": 3.4 - 0.4 * min(a, 5),
            }
            left.plot(number, rounds.counts[keep, a], label=f"arm {a + 1}", **style)
        left.set(xlabel="round", title="pulls of each arm")
        left.legend(handlelength=2.6, labelspacing=0.3)
        for j in range(min(trace.d, 8)):
            style = {"color": LINES[j], "ls": _DASHES[j % 4], "lw": 4.0 - 1.2 * min(j, 2)}
            right.plot(number, rounds.W[keep, j], label=f"objective {j + 1}", **style)
        right.set_xscale("log")
        right.set_yscale("log")
        right.set(xlabel="round", title="width of each pair")
        right.legend(handlelength=2.6, labelspacing=0.3)
        for ax in (left, right):
            ax.xaxis.set_major_formatter("{x:,.0f}")
    return fig


# A panel of the player in pixels: its size and the edges of its axes; the values at top and bottom.
_W, _H, _TOP, _BOTTOM = 236, 236, 30, 184
_LEFT, _RIGHT = 34, _W - 6
_YLOW, _YHIGH = -0.5, 1.5


def _y(value: float) -> float:
    """The height at which a panel draws a value; what is outside is drawn at the edge."""
    clamped = min(max(value, _YLOW), _YHIGH)
    return round(_BOTTOM - (clamped - _YLOW) / (_YHIGH - _YLOW) * (_BOTTOM - _TOP), 1)


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
    return {
        "name": j + 1,
        "sampled": sampled,
        "state": "certifies" if r.certified[0, j] else "sampled" if sampled else "",
        "ticks": [(value, _y(value)) for value in (-0.5, 0.0, 0.5, 1.0, 1.5)],
        "lower": _y(float(r.L[0, b, j])),
        "upper": _y(float(r.U[0, c, j])),
        "bars": bars,
    }


def _frames(trace: Trace, picks: IntArray, start: int) -> dict[str, Any]:
    """What the script of the player needs: the state at every decision that it can show."""
    pieces = [trace.rounds(int(t), int(t) + 1) for t in picks]
    return {
        "S": trace.scale,
        "mu": np.round(trace.means, 4).tolist(),
        "t": [int(t) + 1 for t in picks],
        "n": [r.counts[0].tolist() for r in pieces],
        "m": [np.round(r.means[0], 5).tolist() for r in pieces],
        "b": [r.b[0].tolist() for r in pieces],
        "c": [r.c[0].tolist() for r in pieces],
        "j": [int(r.objective[0]) for r in pieces],
        "a": [int(r.arm[0]) for r in pieces],
        "cert": [r.certified[0].astype(int).tolist() for r in pieces],
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
        bottom=_BOTTOM,
        panels=[_panel(trace, now, j) for j in range(trace.d)],
        now=now,
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
