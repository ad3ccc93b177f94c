"""The chapter on the algorithm: the state at a round, the player, and what the page concludes.

The page is executed in this process with drawn parameters, at a small size, and what it concludes
is asserted from its own variables.
"""

import dataclasses
import json
import re
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from momab.chapters import algorithm
from momab.chapters.figures import show
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing import trace as tracing
from momab.model import instances
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter


@WHOLE
@given(
    seed=st.integers(0, 2**31 - 1),
    horizon=st.integers(50, 1500),
    c=st.sampled_from([0.1, 0.5, 2.0]),
    lead=st.sampled_from([0.05, 0.3, 0.5]),
    round_shown=st.integers(1, 2000),
)
@example(seed=1, horizon=50, c=10.0, lead=0.05, round_shown=1)
@PAGE
def test_algorithm_chapter(shown: list[dict[str, Any]], whole: bool, **drawn: Any) -> None:
    shown.clear()
    page = run_chapter("algorithm", whole, frames=20, **drawn)
    assert page["same"]
    assert (page["lines"]["violations"] == 0).all()
    assert page["run"].K <= page["at"] < page["run"].recorded
    assert not loud(shown)
    pieces = [bundle.get("text/html", "") for bundle in shown]
    widgets = [piece for piece in pieces if "momab-slow" in piece]
    assert len(widgets) == 1
    assert len(widgets[0]) < 300_000


@pytest.fixture(scope="module")
def run() -> tracing.Trace:
    instance = instances.bernoulli([[0.9, 0.2], [0.3, 0.6], [0.2, 0.5]])
    return tracing.trace(instance, WidthGuided(c=0.5), 2000, 1)


@pytest.mark.parametrize("frames", [2, 10, 100, 5000])
def test_frames_are_decisions_and_end_with_the_last(run: tracing.Trace, frames: int) -> None:
    picked = algorithm.frame_rounds(run, frames)
    assert len(picked) <= frames
    assert (np.diff(picked) > 0).all()
    assert picked[0] == run.K
    assert picked[-1] == run.recorded - 1


def test_every_sentence_names_the_pulled_arm(run: tracing.Trace) -> None:
    rounds = run.rounds()
    for i in range(len(rounds.t)):
        text = algorithm.why(rounds, i)
        assert f"rm {rounds.arm[i] + 1}" in text
    assert "certifies" in algorithm.why(rounds, len(rounds.t) - 1)


def test_a_decision_rests_on_the_widest_race(run: tracing.Trace) -> None:
    rounds = run.rounds()
    for i in range(len(rounds.t) - 1):
        found = algorithm.decision(rounds, i)
        b, c = rounds.b[i, found["objective"] - 1] + 1, rounds.c[i, found["objective"] - 1] + 1
        assert not found["committed"]
        assert not found["certified"]
        assert {found["arm"], found["other"]} == {found["b"], found["c"]} == {b, c}
        assert (found["role"] == "leader") == (found["arm"] == b)
        near = np.isclose(rounds.W[i], rounds.W[i].max(), rtol=0, atol=1e-12)
        assert near[found["objective"] - 1]
        assert near.sum() == found["tied"]
        mine, theirs = rounds.beta[i, [found["arm"] - 1, found["other"] - 1]]
        assert found["same_radius"] == (abs(mine - theirs) <= 1e-12)
        assert mine >= theirs - 1e-12
    assert algorithm.decision(rounds, len(rounds.t) - 1)["certified"]


def test_after_the_certificate_the_stored_arm_is_pulled() -> None:
    instance = instances.bernoulli([[0.9, 0.2], [0.3, 0.6], [0.2, 0.5]])
    whole = tracing.trace(instance, WidthGuided(c=0.1), 500, 1, beyond=True)
    assert whole.certificate is not None
    last = algorithm.decision(whole.rounds(499, 500))
    assert last == {"arm": whole.certificate.arm + 1, "committed": True, "certified": False}
    assert algorithm.why(whole.rounds(499, 500)).endswith("because it is the stored arm.")


def test_the_sentences_of_a_decision() -> None:
    facts: dict[str, Any] = {
        "committed": False,
        "certified": False,
        "arm": 4,
        "objective": 2,
        "b": 4,
        "c": 1,
    }
    facts |= {"tied": 1, "role": "leader", "other": 1, "same_radius": False}
    fill = algorithm.templates.fill_template
    assert algorithm.prose.one_line(fill("why.txt", **facts)) == (
        "Objective 2 is the widest; arm 4, its leader, has the larger radius of the pair {4, 1}."
    )
    facts |= {"tied": 3, "same_radius": True}
    assert algorithm.prose.one_line(fill("why.txt", **facts)) == (
        "Objective 2 is one of 3 that are equally wide; arm 4, its leader, has the same radius as "
        "arm 1, and the coin chose it."
    )


def test_the_rows_of_the_races_show_which_bound_is_larger(run: tracing.Trace) -> None:
    each = np.arange(run.d)
    for t in (run.K, 40, run.recorded - 1):
        r = run.rounds(t, t + 1)
        rows = algorithm.race_rows(r)
        lower = r.L[0, r.U[0].argmax(axis=0), each]
        upper = np.sort(r.U[0], axis=0)[-2]
        for row, low, high, certified in zip(rows, lower, upper, r.certified[0]):
            L, U, apart = (float(x.replace("\u2212", "-")) for x in row[3:])
            assert (abs(L - low) < 1e-4) & (abs(U - high) < 1e-4)
            assert (L > U) == (apart > 0) == (low > high) == certified


def test_a_certificate_is_visible_however_narrow_it_is(run: tracing.Trace) -> None:
    """0.6751 against 0.6751 does not show who is ahead."""
    r = run.rounds(run.recorded - 1, run.recorded)
    b, c = r.b[0, 0], r.c[0, 0]
    for margin in (1e-5, 3.2e-7, -2e-6):
        means = r.means.copy()
        means[0, b, 0] = r.U[0, c, 0] + margin + r.beta[0, b]
        row = algorithm.race_rows(dataclasses.replace(r, means=means))[0]
        assert row[3] != row[4]
        assert row[5].startswith("+" if margin > 0 else "\u2212")


def test_nothing_is_cut_off_silently(run: tracing.Trace) -> None:
    """In an early round the bounds are far outside of the panel, and the panel says how far."""
    r = run.rounds(run.K, run.K + 1)
    panel = algorithm._panel(run, r, 0)
    assert panel["up"] == f"\u2191 to {r.U[0, :, 0].max():.2f}"
    assert panel["down"] == f"\u2193 to \u2212{-r.L[0, :, 0].min():.2f}"
    assert (panel["lower_seen"], panel["upper_seen"]) == ("hidden", "hidden")
    last = algorithm._panel(run, run.rounds(run.recorded - 1, run.recorded), 0)
    assert (last["up"], last["down"]) == ("", "")
    assert (last["lower_seen"], last["upper_seen"]) == ("visible", "visible")
    assert algorithm.beyond(-0.4, 1.4) == ("", "")


def test_the_widget_is_self_contained(run: tracing.Trace) -> None:
    text = algorithm.slow_motion(run, 30, frames=50)
    assert not re.search(r"https?://(?!www\.w3\.org)|src=|@import|<link", text)
    data = json.loads(re.search(r'application/json">(.*?)</script>', text)[1])  # type: ignore[index]
    frames = len(data["t"])
    assert frames <= 50
    assert all(
        len(data[key]) == frames for key in ("n", "m", "b", "c", "j", "a", "cert", "races", "why")
    )
    assert data["t"][data["start"]] == 31
    assert data["cert"][-1][data["j"][-1]] == 1
    # the fallback is complete without the script: panels, sentence, both tables
    static = text[: text.index('<script type="application/json"')]
    assert static.count("<svg") == run.d
    assert "Round <span" in static
    assert static.count("<table") == 2
    assert "hidden" in static
    assert "prefers-reduced-motion" in text


@pytest.mark.parametrize("kind", ["races_figure", "sampling"])
def test_figures_of_a_run(run: tracing.Trace, kind: str) -> None:
    with mpl.rc_context():
        fig = getattr(algorithm, kind)(run, run.rounds())
        assert "<svg" in show.figure_html(fig, "a picture of a whole run")


def test_quartiles_are_printed_whole_medians_with_their_half_and_bounds_in_tens() -> None:
    quartiles = ["lower quartile", "median round", "upper quartile"]
    found = pd.DataFrame([("2", 1764.5, 3e-11), ("1", np.nan, 30.0)])
    found = found[[0, 1, 1, 1, 2]].set_axis(["rule", *quartiles, "bound on failure"], axis=1)
    printed = algorithm.written_rounds(found)
    assert printed["median round"].tolist() == ["1,764.5", "none"]
    assert printed["lower quartile"].tolist() == ["1,764", "none"]
    assert printed["bound on failure"].tolist() == ["3 × 10⁻¹¹", "30"]
    assert printed["c"].tolist() == ["2", "1"]


def test_a_median_says_how_many_runs_it_is_of() -> None:
    rows = [("widest", 40, 1234.5), ("turns", 17, 9_000.0), ("random", 0, np.nan)]
    found = pd.DataFrame(rows, columns=["rule", "certify", "median round"])
    printed = algorithm.written_medians(found)
    assert printed.to_dict() == {
        "widest": "1,234.5 (40)",
        "turns": "9,000.0 (17)",
        "random": "none (0)",
    }
