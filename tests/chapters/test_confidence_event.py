"""The chapter on the confidence event: its computations, and what the page concludes.

The page is executed in this process with drawn parameters, at a small size, and what it concludes
is asserted from its own variables.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from momab.chapters import confidence_event
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger import auditing
from momab.ledger.auditing import trace as tracing
from momab.model import instances, theory
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter


@WHOLE
@given(
    seed=st.integers(0, 2**31 - 1),
    horizon=st.integers(20, 200),
    c=st.sampled_from([0.05, 1.0, 3.0]),
    level=st.sampled_from([0.01, 0.05, 0.3]),
)
@example(seed=3, horizon=20, c=3.0, level=0.001)
@PAGE
def test_confidence_event_chapter(shown: list[dict[str, Any]], whole: bool, **drawn: Any) -> None:
    shown.clear()
    page = run_chapter("confidence-event", whole, runs=60, coefficients=[0.02, 0.3], **drawn)
    assert (page["steps"]["holds"] == "yes").all()
    chain = page["chain"]
    order = ["failed_low", "crossing", "tails", "sharp", "stated"]
    assert (np.diff(chain[order].to_numpy(), axis=1) >= -1e-9).all()
    for p in (0.3, 0.5, 0.95):
        written = page["tail"](p, np.arange(1, 60), page["horizon"], page["c"])
        assert written == pytest.approx(
            confidence_event.tail_profile(p, np.arange(1, 60), page["horizon"], page["c"])
        )
    peeks = page["peeks"]
    assert (np.diff(peeks["always"]) >= 0).all()
    assert (peeks["always"] >= peeks["once"] - 1e-12).all()
    assert not loud(shown)


@given(p=st.floats(0, 1), T=st.integers(2, 500), c=st.floats(0.05, 3), n=st.integers(1, 80))
@settings(max_examples=60, deadline=None)
def test_tail_profile_is_the_tail(p: float, T: int, c: float, n: int) -> None:
    alone = theory.tail_probability(p, n, T, c)
    assert confidence_event.tail_profile(p, [n], T, c)[0] == pytest.approx(
        alone, rel=1e-9, abs=1e-300
    )


def test_event_runs_agree_with_the_audit() -> None:
    instance = instances.bernoulli([[0.7, 0.4], [0.5, 0.6], [0.4, 0.3]])
    policy = WidthGuided(c=0.2)
    seen = confidence_event.event_runs(instance, policy, 150, 40, 7)
    for number in range(40):
        whole = tracing.trace(instance, policy, 150, 7, number, beyond=True)
        assert auditing.audit(whole).event.holds == (not seen.failed[number])
    assert (seen.union | ~seen.failed).all()
    assert 0 < seen.failed.sum() < 40


def test_exits_match_the_exact_probability() -> None:
    scale, N = 0.9, 200
    exits = confidence_event.first_exits(0.3, N, scale, 4000, 1)
    exact = theory.crossing_probability(0.3, N, 1000, scale / math.log(1000))
    assert abs((exits > 0).mean() - exact) < 4 * math.sqrt(exact * (1 - exact) / 4000)
    assert exits.max() <= N


def test_means_of_a_run_are_means_of_the_shelf() -> None:
    instance = instances.random_bernoulli(4, 3, 2)
    run = tracing.trace(instance, WidthGuided(c=0.3), 500, 11)
    assert confidence_event.latent_difference(instance, run, 11) == 0.0
    assert confidence_event.latent_difference(instance, run, 12) > 0.0


@pytest.fixture
def chain() -> pd.DataFrame:
    """A chain of probabilities at two coefficients in which everything is as it should be."""
    columns = {
        "c": [0.1, 0.5],
        "failed_rate": [0.5, 0.0],
        "failed_low": [0.4, 0.0],
        "failed_high": [0.61234, 0.0123],
        "failed_outside_union": [0, 0],
        "crossing": [0.9, 0.00123456],
        "tails": [3.0, 0.01],
        "sharp": [12.0, 0.2],
        "stated": [12.5, 0.21],
    }
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("column", "value", "failing"),
    [
        (None, 0.0, []),
        ("tail", 0.3, [0]),
        ("difference", 1e-3, [1]),
        ("failed_outside_union", 1, [2]),
        ("crossing", 4.0, [3]),
        ("tails", 13.0, [4]),
    ],
)
def test_the_steps_of_the_proof_see_a_planted_failure(
    chain: pd.DataFrame, column: str | None, value: float, failing: list[int]
) -> None:
    given_values = {"tail": 0.1, "bound": 0.2, "difference": 0.0}
    if column in given_values:
        given_values[column] = value
    elif column:
        chain.loc[0, column] = value
    steps = confidence_event.event_steps(chain, **given_values)
    assert np.flatnonzero(steps["holds"] == "no").tolist() == failing
