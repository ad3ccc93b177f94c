"""One objective is enough: its bounds, its instances, and its conclusions for drawn parameters."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters import one_objective
from momab.engine.loop import play_block
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances, metrics, pareto, theory
from momab.study import one_objective as computed
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter
from tests.strategies import mean_vectors


@WHOLE
@PAGE
@given(
    st.integers(0, 2**31 - 1),
    st.integers(8, 14),
    st.floats(0.01, 0.12),
)
def test_one_objective_chapter(
    shown: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    whole: bool,
    seed: int,
    arms: int,
    delta: float,
) -> None:
    page = run_chapter("one-objective", whole, seed=seed, arms=arms, delta=delta)
    assert page["pulls"] @ page["gap"] <= (page["pulls"] @ page["deficit"]).min()
    log = math.log(10**6)
    for name, game in page["games"].items():
        column = page["before"][name]
        one, two = 8 * computed.pull_weights(game.means)
        assert column["UCB1 on objective 1"] == pytest.approx(one)
        assert column["UCB1 on objective 2"] == pytest.approx(two)
        deficit = theory.deficit_bound(game.means, 10**6).exploration
        assert column["Width-guided, sharpest bound"] == pytest.approx(deficit / log)
        theorem = theory.theorem_bound(game.means, 10**6).exploration
        assert column["Width-guided, Theorem 4"] == pytest.approx(theorem / log)
    assert page["told"].iloc[1] < page["told"].iloc[0]
    assert page["certified"].iloc[1] > page["certified"].iloc[0]
    assert not loud(shown)
    if whole:
        assert capsys.readouterr().out.count(": right.") == 4


@PAGE
@given(st.integers(0, 2**31 - 1), st.integers(8, 14), st.floats(0.01, 0.12), st.floats(0.1, 0.45))
def test_wrong_objective_chapter(
    shown: list[dict[str, Any]], seed: int, arms: int, delta: float, lead: float
) -> None:
    page = run_chapter(
        "wrong-objective", seed=seed, arms=arms, delta=delta, lead=lead, horizon=2_000, runs=5
    )
    assert len(page["final"]) == 3 * 8
    for game, names in page["first"].items():
        here = page["final"][page["final"]["instance"] == game].sort_values("mean")
        assert names[0] == f"{here['policy'].iloc[0]} ({here['choice'].iloc[0]})"
    for small, one, both in page["ends"]:
        count = (page["arms"] - 3) // 2
        assert one >= 0.16 * count / small
        assert both <= 160 * (page["arms"] - 3) * small
    assert page["times"] > 1
    wide = page["wide"]
    assert np.allclose(wide["by a coin"], (wide["objective 1"] + wide["objective 2"]) / 2)
    assert not loud(shown)


@given(mean_vectors(), st.integers(0, 2**32 - 1))
def test_any_yardstick_bounds_the_pareto_gap(means: Any, seed: int) -> None:
    """Weights that are not negative and add up to 1, and the worst mean; objectives are weights."""
    gaps = pareto.gaps(means)
    weights = np.random.default_rng(seed).dirichlet(np.ones(means.shape[-1]))
    for scores in (means @ weights, means.min(axis=-1), *np.moveaxis(means, -1, 0)):
        assert (gaps <= scores.max(axis=-1, keepdims=True) - scores + 1e-12).all()


@given(mean_vectors())
def test_bounds_are_those_of_the_corollary(means: Any) -> None:
    T = 1_000
    found = computed.ucb1_bounds(means, T)
    assert found.shape == (*means.shape[:-2], means.shape[-1])
    for mu, row in zip(means.reshape(-1, *means.shape[-2:]), found.reshape(-1, means.shape[-1])):
        gaps, deficits = pareto.gaps(mu), pareto.objective_deficits(mu)
        for j, bound in enumerate(row):
            terms = [
                gaps[a] * (8 * math.log(T) / deficits[a, j] ** 2 + 1 + math.pi**2 / 3)
                for a in np.flatnonzero(gaps > 0)
            ]
            assert bound == pytest.approx(math.fsum(terms))
            # on any objective it is at most the bound of Pareto UCB1
            assert bound <= theory.pareto_ucb1_bound(mu, T).total * (1 + 1e-9)
        champion = 8 * math.log(T) * computed.pull_weights(mu)[pareto.j_dagger(mu)]
        assert champion <= theory.deficit_bound(mu, T).exploration / 4 * (1 + 1e-9)


@pytest.mark.parametrize(("delta", "K"), [(0.01, 8), (0.05, 12), (0.12, 40), (0.07, 9)])
def test_the_three_games_are_as_the_page_says(delta: float, K: int) -> None:
    games = computed.three_games(delta, K)
    assert all(game.K == K and game.d == 2 for game in games.values())
    first, second, third = (game.geometry for game in games.values())
    assert first.objective_gaps == pytest.approx([0.55, delta])
    assert second.objective_gaps == pytest.approx([0, delta])
    assert (first.j_dagger, second.j_dagger) == (0, 1)
    assert third.objective_gaps == pytest.approx([delta, delta])
    assert third.objective_gaps[0] == third.objective_gaps[1]
    assert third.gaps[:3].tolist() == [0, 0, 0]
    assert third.gaps[3:] == pytest.approx(delta)
    # the copy is free, and everything else is as before
    assert np.array_equal(games["clear lead"].means[:-1], games["doubled winner"].means[:-1])
    assert second.gaps[-1] == 0


def test_a_coin_is_the_mean_of_the_objectives_and_what_the_policy_does_on_average() -> None:
    game = computed.three_games(0.05, 8)["clear lead"]
    paths = computed.each_objective(game, SingleUCB1, [200, 400], 300, 1)
    assert np.allclose(paths["by a coin"], (paths["objective 1"] + paths["objective 2"]) / 2)
    drawn = computed.regret_paths(game, SingleUCB1(objective="random"), [400], 300, 1)[:, 0]
    error = drawn.std() / math.sqrt(300)
    assert drawn.mean() == pytest.approx(paths["by a coin"][:, 1].mean(), abs=5 * error)


def test_paths_are_regrets_at_the_points_and_width_guided_plays_each_horizon() -> None:
    game = instances.bernoulli([[0.9, 0.6], [0.5, 0.5]])
    assert pareto.gaps(game.means).tolist() == pytest.approx([0, 0.1])
    paths = computed.regret_paths(game, SingleUCB1(objective=1), [50, 200], 3, 7)
    block = play_block(game, SingleUCB1(objective=1), 200, 7, 0, 3)
    assert np.array_equal(paths[:, 1], metrics.pareto_regret(block.pulls, game.means))
    guided = computed.regret_paths(game, WidthGuided(), [50, 200], 3, 7)
    for column, T in zip(guided.T, (50, 200)):
        pulls = play_block(game, WidthGuided(), T, 7, 0, 3).pulls
        assert np.array_equal(column, metrics.pareto_regret(pulls, game.means))


def test_the_average_is_played_like_ucb1_on_one_coin() -> None:
    """On duplicated coordinates the average is the coin itself."""
    game = instances.duplicated(0.2, K=4, d=3)
    one = play_block(game, one_objective.AverageUCB1(), 600, 1, 0, 20).pulls[:, 0]
    other = play_block(game, SingleUCB1(), 600, 1, 0, 20).pulls[:, 0]
    error = math.hypot(one.std(), other.std()) / math.sqrt(20)
    assert one.mean() == pytest.approx(other.mean(), abs=5 * error)


FINAL = pd.DataFrame(
    [
        ("a", "UCB1", "objective 1", 10.0, 8.0, 12.0),
        ("a", "KL-UCB", "objective 2", 13.0, 11.5, 14.5),
        ("a", "Width-guided", "all", 1234.5, 1200.0, 1269.0),
        ("b", "UCB1", "objective 1", 5.0, 4.0, 6.0),
        ("b", "KL-UCB", "objective 2", 3.0, 2.0, 3.9),
        ("b", "Width-guided", "all", 7.0, 6.0, 8.0),
    ],
    columns=["instance", "policy", "choice", "mean", "low", "high"],
)


def test_the_table_has_one_column_per_instance_in_order() -> None:
    table = one_objective.written(FINAL)
    assert list(table.columns) == ["Policy", "Looks at", "a", "b"]
    assert list(table["Policy"]) == ["UCB1", "KL-UCB", "Width-guided"]
    assert table["a"].tolist()[2] == "1,234.5 (1,200.0–1,269.0)"
