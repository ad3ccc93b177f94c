"""The width floor (Lemma 11): every inequality of its proof along recorded runs.

The computations look at runs of Width-guided decision by decision, and build the run that comes
nearest to the floor; a diagram shows the two cases of the proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from momab._util.validate import BoolArray, FloatArray, IntArray, positive_number, whole_number
from momab.chapters.figures.style import BLUE, INK, ORANGE, STYLE, new_axes
from momab.errors import MomabError
from momab.ledger.auditing.rounds import Rounds
from momab.ledger.auditing.trace import Trace

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_PIECE = 2_000_000  # numbers per array of a piece of a trace


def _pieces(record: Trace) -> Iterator[Rounds]:
    """The decisions of a trace up to and including the certificate, piece by piece."""
    end = record.recorded if record.commitment is None else record.commitment.t + 1
    size = max(256, _PIECE // (record.K * record.d))
    for start in range(record.K, end, size):
        yield record.rounds(start, min(start + size, end))


def _intervals_hold(record: Trace, rounds: Rounds) -> BoolArray:
    """Whether all intervals of a decision hold their means, shape (n,)."""
    miss = np.abs(rounds.means - record.means).max(axis=2) - rounds.beta
    return np.asarray((miss <= 0).all(axis=1))


def _floor_piece(record: Trace, rounds: Rounds) -> dict[str, FloatArray | IntArray | BoolArray]:
    j = record.geometry.j_dagger
    each = np.arange(len(rounds.t))
    return {
        "t": rounds.t,
        "champion": rounds.W[:, j],
        "sampled": rounds.W[each, rounds.objective],
        "radius": rounds.beta[each, rounds.arm],
        "best_leads": rounds.b[:, j] == record.means[:, j].argmax(),
        "lead": rounds.margin[:, j] + rounds.W[:, j],
        "certifying": ~rounds.noncertifying,
        "on_event": _intervals_hold(record, rounds),
    }


def floor_rounds(record: Trace) -> pd.DataFrame:
    r"""What Lemma 11 is about, one row per decision up to the certificate.

    ``champion`` and ``sampled`` are the widths of the champion objective and of the sampled one,
    ``radius`` belongs to the pulled arm, ``lead`` is the empirical lead of b over e on the
    champion objective, ``best_leads`` says which case of the proof applies, ``on_event`` whether
    all intervals of the decision hold.
    """
    import pandas as pd

    if record.geometry.g_dagger <= 0:
        raise MomabError("the width floor needs an instance with a positive objective gap.")
    return pd.concat(
        [pd.DataFrame(_floor_piece(record, rounds)) for rounds in _pieces(record)],
        ignore_index=True,
    )


FLOOR_STEPS = {
    "not certified": ("1", "L_b ≤ U_e", "no certificate"),
    "lower side": ("1", "μ* − 2β_b ≤ L_b", "event"),
    "upper side": ("1", "U_e ≤ μ_e + 2β_e", "event"),
    "lead of the best": ("1", "μ_e ≤ μ* − g", "definition of g"),
    "both radii": ("1", "g/2 ≤ β_b + β_e", "the four above"),
    "leader's bound": ("2", "U_a* ≤ U_b", "definition of b"),
    "optimism": ("2", "μ* ≤ U_a*", "event"),
    "leader's upper side": ("2", "U_b ≤ μ_b + 2β_b", "event"),
    "lead over the leader": ("2", "μ_b ≤ μ* − g", "definition of g"),
    "one radius": ("2", "g/2 ≤ β_b", "the four above"),
    "widest": ("both", "W of the champion ≤ W of the sampled", "choice of the objective"),
    "larger endpoint": ("both", "W/2 ≤ β of the pulled arm", "choice of the arm"),
    "floor": ("both", "g/4 ≤ β of the pulled arm", "all of it"),
}
"""The inequalities in the proof of Lemma 11: case, claim, reason."""


def floor_steps(traces: Iterable[Trace]) -> pd.DataFrame:
    """Check every inequality in the proof of Lemma 11 at every non-certifying decision.

    Only decisions whose intervals hold count.  One row per inequality: how often it was used,
    how often it failed (by more than the tie tolerance), and its slack, right minus left.
    """
    import pandas as pd

    found: dict[str, list[FloatArray]] = {key: [] for key in FLOOR_STEPS}
    for record in traces:
        for rounds in _pieces(record):
            for key, slack in _step_slacks(record, rounds).items():
                found[key].append(slack)
    rows = []
    for key, (case, claim, reason) in FLOOR_STEPS.items():
        slack = np.concatenate(found[key]) if found[key] else np.zeros(0)
        some = len(slack) > 0
        rows.append(
            {
                "case": case,
                "claim": claim,
                "because": reason,
                "checked": len(slack),
                "failed": int((slack < -1e-11).sum()),
                "least slack": float(slack.min()) if some else math.nan,
                "median slack": float(np.median(slack)) if some else math.nan,
            }
        )
    return pd.DataFrame(rows, index=list(FLOOR_STEPS))


def _step_slacks(record: Trace, rounds: Rounds) -> dict[str, FloatArray]:
    geo = record.geometry
    j, g, mu = geo.j_dagger, geo.g_dagger, record.means[:, geo.j_dagger]
    star = int(mu.argmax())
    use = rounds.noncertifying & _intervals_hold(record, rounds)
    each = np.flatnonzero(use)
    b, c = rounds.b[each, j], rounds.c[each, j]
    means = rounds.means[each, :, j]
    beta = rounds.beta[each]
    row = np.arange(len(each))
    beta_b, beta_c = beta[row, b], beta[row, c]
    upper_b, upper_c = means[row, b] + beta_b, means[row, c] + beta_c
    lower_b = means[row, b] - beta_b
    upper_star = means[:, star] + beta[:, star]
    one = b == star
    pulled = beta[row, rounds.arm[each]]
    sampled = rounds.W[each, rounds.objective[each]]
    two = ~one
    return {
        "not certified": (upper_c - lower_b)[one],
        "lower side": (lower_b - (mu[star] - 2 * beta_b))[one],
        "upper side": (mu[c] + 2 * beta_c - upper_c)[one],
        "lead of the best": (mu[star] - g - mu[c])[one],
        "both radii": (beta_b + beta_c - g / 2)[one],
        "leader's bound": (upper_b - upper_star)[two],
        "optimism": (upper_star - mu[star])[two],
        "leader's upper side": (mu[b] + 2 * beta_b - upper_b)[two],
        "lead over the leader": (mu[star] - g - mu[b])[two],
        "one radius": (beta_b - g / 2)[two],
        "widest": sampled - rounds.W[each, j],
        "larger endpoint": pulled - sampled / 2,
        "floor": pulled - g / 4,
    }


def floor_summary(record: Trace) -> dict[str, float]:
    """Condense :func:`floor_rounds`: least ratios to the floors, and the certificate's.

    Ratios are width / (g/2) and radius / (g/4) over the non-certifying decisions whose intervals
    hold, NaN if there are none; ``at_certificate`` is the champion's width over g/2 when the
    certificate appears, NaN if it does not.
    """
    table = floor_rounds(record)
    g = record.geometry.g_dagger
    calm = table[~table["certifying"] & table["on_event"]]
    end = table[table["certifying"]]
    width = calm["champion"].min() / (g / 2) if len(calm) else math.nan
    radius = calm["radius"].min() / (g / 4) if len(calm) else math.nan
    return {
        "g": g,
        "width": float(width),
        "radius": float(radius),
        "at_certificate": float(end["champion"].iloc[0] / (g / 2)) if len(end) else math.nan,
        "decisions": float(len(table)),
        "off_event": float((~table["on_event"]).sum()),
        "upsets": float((~calm["best_leads"]).sum()),
    }


def stubborn_trace(horizon: int, g: float = 0.8, c: float = 2.0) -> Trace:
    """Build by hand a run of two arms on one objective that comes as near the floor as can be.

    The true means are 1/2 + g/2 and 1/2 - g/2; the rewards are constantly 1/2 + g/4 and
    1/2 - g/4, so that the empirical lead is half the true one, and the arms take turns.  All
    intervals hold until the radii fall below g/4, which is when the certificate appears.
    """
    c = positive_number(c, "c")
    horizon = whole_number(horizon, "the horizon", least=2)
    needed = 2 * (math.ceil(c * math.log(horizon) / (g / 4) ** 2) + 2)
    if horizon < needed:
        raise MomabError(f"this run needs a horizon of at least {needed}; it is {horizon}.")
    arms = np.arange(needed) % 2
    rewards = np.where(arms == 0, 0.5 + g / 4, 0.5 - g / 4)[:, None]
    means = [[0.5 + g / 2], [0.5 - g / 2]]
    whole = Trace.from_arrays(arms, rewards, means, c, horizon, name="stubborn run")
    found = whole.first_certificate()
    assert found is not None
    arms, rewards = arms[: found.t + 1], rewards[: found.t + 1]
    arms[-1], rewards[-1] = found.arm, 0.5 + g / 4  # the pull of the certificate
    return whole.edited(arms=arms, rewards=rewards, certificate=found)


def narrowest_intervals() -> list[tuple[str, str, list[tuple[str, float, float, float]]]]:
    """Each case of Lemma 11 at its narrowest: title, what spans the lead, and the intervals.

    An interval is the name of its arm, its ends and its true mean; the leader of the race comes
    first in case 1 and last in case 2.  The best mean is 0 and the lead is 2.
    """
    return [
        (
            "case 1: the best arm leads",
            "g† = 2β + 2β",
            [("best arm, leads", -1.0, 0.0, 0.0), ("challenger", -2.0, -1.0, -2.0)],
        ),
        (
            "case 2: another arm leads",
            "g† = 2β",
            [("best arm", -0.8, 0.0, 0.0), ("leader", -2.0, 0.0, -2.0)],
        ),
    ]


def two_cases() -> Figure:
    """The two cases of Lemma 11, each with the narrowest intervals that leave the race open."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 2.8))
        y = 0.0
        for (title, label, intervals), colour in zip(narrowest_intervals(), (BLUE, ORANGE)):
            axes.text(-2.1, y - 0.75, title, color=colour, fontweight="bold", va="center")
            for name, low, high, mean in intervals:
                axes.plot([low, high], [y, y], color=colour, lw=5, alpha=0.5)
                axes.plot(mean, y, marker="^", ms=9, color=INK, zorder=3)
                axes.text(0.15, y, name, va="center")
                y += 1
            ends = {"arrowstyle": "<->", "color": INK, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (0, y - 0.4), (-2, y - 0.4), arrowprops=ends)
            axes.text(-1, y - 0.1, label, ha="center", va="center")
            y += 1.5
        axes.axvline(0, color=INK, lw=1.0, ls="--")
        axes.text(0.15, -0.95, "best mean", va="center")
        axes.set(xlim=(-2.2, 1.3), ylim=(y - 1.3, -1.3), xticks=[], yticks=[])
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
    return fig
