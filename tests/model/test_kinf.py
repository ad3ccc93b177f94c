"""K_inf: against its primal problem, what is known of it, and the price that it gives."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from momab import MomabError, theory
from momab.model import instances, pareto
from momab.model.kinf import kinf, kinf_certified, kinf_evidence, luck_of_law
from momab.model.price import kl_plus
from momab.study.datasets import subsets
from tests.realdata import load_or_skip

seeds = st.integers(0, 10**9)
unit = st.floats(0.001, 0.999)


def coins(p):
    """The joint law of independent coins, by hand: rows and probabilities."""
    rows = np.array(list(np.ndindex(*[2] * len(p))), dtype=float)
    return rows, [math.prod(q if x else 1 - q for q, x in zip(p, row)) for row in rows]


def some_law(rng):
    """Rows, weights and a target: continuous, on a grid, coins, copies, or with the corner."""
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 6))
    rows = rng.random((n, d))
    shape = rng.integers(5)
    if shape == 1:
        rows = np.round(4 * rows) / 4
    elif shape == 2:
        rows = (rows < 0.4).astype(float)
    elif shape == 3:
        rows = np.repeat(rows[:, :1], d, axis=1)
    elif shape == 4:
        rows[0] = 1
    middle = rows.mean(axis=0)
    target = middle + (1 - middle) * rng.uniform(-0.5, 1, d)
    return rows, rng.random(n) + 0.01, np.clip(target, 0, 1 - 1e-6)


# ---- the primal problem --------------------------------------------------------------------


def primal(rows, weights, target):
    """Minimise KL(P, Q) over the laws Q on the rows and the corner (1, ..., 1)."""
    p = np.asarray(weights) / np.sum(weights)
    places = np.vstack([rows, np.ones(rows.shape[1])])
    start = np.append(0.1 * p, 0.9)  # nearly everything in the corner reaches every target
    found = minimize(
        lambda q: float(p @ np.log(p / q[:-1])),
        start,
        jac=lambda q: np.append(-p / q[:-1], 0.0),
        bounds=[(1e-12, 1)] * len(p) + [(0, 1)],
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1, "jac": np.ones_like},
            {"type": "ineq", "fun": lambda q: places.T @ q - target, "jac": lambda _: places.T},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert (places.T @ found.x >= target - 1e-8).all()
    return found.fun


@pytest.mark.parametrize("seed", range(25))
def test_the_dual_is_the_primal(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    rows = np.unique(np.round(rng.random((n, d)), 2) * 0.9, axis=0)
    weights = rng.random(len(rows)) + 0.1
    means = weights @ rows / weights.sum()
    target = means + (1 - means) * rng.uniform(-0.2, 0.6, d)
    expected = primal(rows, weights, target)
    assert kinf(rows, target, weights) == pytest.approx(max(0.0, expected), abs=2e-7)


@settings(max_examples=60)
@given(seeds)
def test_the_nearest_law_is_a_law_that_reaches_the_target(seed):
    """From the multipliers one can build Q: its mass is 1, its means suffice, KL is the value."""
    rows, weights, target = some_law(np.random.default_rng(seed))
    found = kinf_certified(rows, target, weights)
    p = weights / weights.sum()
    q = p / (1 + (target - rows) @ found.multipliers)
    assert found.corner == pytest.approx(max(0.0, 1 - q.sum()), abs=1e-9)
    assert (q @ rows + found.corner >= target - 1e-7).all()
    assert float(p @ np.log(p / q)) == pytest.approx(found.value, abs=1e-10)


@settings(max_examples=60)
@given(seeds)
def test_every_answer_comes_with_a_certificate(seed):
    rng = np.random.default_rng(seed)
    rows, weights, target = some_law(rng)
    found = kinf_certified(rows, target, weights)
    assert 0 <= found.gap <= 1e-11
    assert (found.multipliers >= 0).all()
    assert found.multipliers @ (1 - target) <= 1 + 1e-12
    for _ in range(20):  # no other multipliers are better
        other = rng.dirichlet(np.ones(len(target) + 1))[1:] / (1 - target)
        growth = np.average(np.log(1 + (target - rows) @ other), weights=weights)
        assert growth <= found.value + 1e-11


@pytest.mark.parametrize("chance", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("target", [0.1, 0.9, 1 - 1e-6, 1 - 1e-12])
def test_the_boundary_and_rare_rows(chance, target):
    """The share y_0 at the optimum is about the chance of a success."""
    found = kinf_certified([[0.0], [1.0]], [target], [1 - chance, chance])
    assert found.value == pytest.approx(float(kl_plus(chance, target)), rel=1e-12)
    assert found.gap <= 2e-13


def hard_law(rng):
    """Rare or tiny rewards, atoms in the corner, copies, and targets next to the means or to 1."""
    n, d = int(rng.choice([1, 2, 10, 100, 1000])), int(rng.choice([1, 2, 6, 12]))
    rows = rng.beta(*rng.choice([0.05, 0.5, 2, 30], 2), (n, d))
    shape = rng.integers(6)
    if shape == 1:
        rows = np.round(rows * rng.integers(1, 5)) / 4
    elif shape == 2:
        rows = np.repeat(rows[:, :1], d, axis=1)
    elif shape == 3:
        rows = (rows < rng.random()).astype(float)
    elif shape == 4:
        rows[0] = 1
    elif shape == 5:
        rows *= 10.0 ** -rng.integers(0, 9)
    weights = rng.random(n) ** rng.choice([0, 1, 20]) + 1e-300
    middle = np.average(rows, axis=0, weights=weights)
    reach = rng.choice([1e-9, 1e-4, 0.1, 1 - 1e-9, 1]) * rng.uniform(-0.3, 1, d)
    return rows, np.clip(middle + (1 - middle) * reach, 0, 1), weights


def test_columns_of_very_different_size_are_solved_as_well():
    """One column of the portfolio is 1e10 times the others, which differ by less than 1e-9."""
    rare = 2.6550238243377422e-11
    target = [0.0, 1 - rare, 6.252376935133611e-10]
    found = kinf_certified([[0, 0, 0], [0, 1, 0]], target, [rare, 1 - rare])
    assert found.gap <= 1e-14


def test_hard_laws_are_solved_as_well():
    rng = np.random.default_rng(11)
    for _ in range(150):
        found = kinf_certified(*hard_law(rng))
        assert found.gap <= 1e-12


# ---- what is known of it -------------------------------------------------------------------


@given(st.floats(0, 1), unit)
def test_one_coin_is_kl(p, q):
    assert kinf([[0], [1]], [q], [1 - p, p]) == pytest.approx(float(kl_plus(p, q)), abs=1e-12)


@given(unit, st.lists(unit, min_size=2, max_size=5))
def test_a_copied_coin_is_kl_of_the_largest_target(p, target):
    d = len(target)
    found = kinf([[0] * d, [1] * d], target, [1 - p, p])
    assert found == pytest.approx(float(kl_plus(p, max(target))), abs=1e-12)


@settings(max_examples=50)
@given(st.data())
def test_independent_coins_lie_between_the_maximum_and_the_sum(data):
    d = data.draw(st.integers(2, 5))
    p, q = (np.array(data.draw(st.lists(unit, min_size=d, max_size=d))) for _ in range(2))
    rows, weights = coins(p)
    found, each = kinf(rows, q, weights), kl_plus(p, q)
    assert each.max() - 1e-12 <= found <= each.sum() + 1e-12


def test_independent_coins_are_not_the_sum():
    """The nearest law has dependent coordinates: a strict example, and the extreme one."""
    rows, weights = coins([0.5, 0.5])
    found, each = kinf(rows, [0.6, 0.6], weights), float(kl_plus(0.5, 0.6))
    assert found == pytest.approx(0.0400767358, abs=1e-10)
    assert each + 0.01 < found < 2 * each - 7e-4
    tilt = np.linspace(0, 1.25, 100_001)[:-1]
    by_hand = (np.log(1 + 1.2 * tilt) + 2 * np.log(1 + 0.2 * tilt) + np.log(1 - 0.8 * tilt)) / 4
    assert found == pytest.approx(by_hand.max(), abs=1e-9)
    # two coins that always show 0: all of the sum but one term is lost
    assert kinf([[0, 0]], [0.5, 0.5]) == pytest.approx(math.log(2), abs=1e-12)


def test_opposite_coins_say_more_than_the_sum():
    """Means 0.6 and 0.6 need mass 0.2 in the corner, since the coordinates sum to 1 elsewhere."""
    found = kinf_certified([[0, 1], [1, 0]], [0.6, 0.6])
    assert found.value == pytest.approx(-math.log(0.8), abs=1e-12)
    assert found.corner == pytest.approx(0.2, abs=1e-9)
    assert found.value > 2 * float(kl_plus(0.5, 0.6))


@settings(max_examples=60)
@given(seeds)
def test_never_below_one_coordinate_nor_below_kl_of_the_means(seed):
    rows, weights, target = some_law(np.random.default_rng(seed))
    found = kinf(rows, target, weights)
    single = [kinf(rows[:, [j]], target[[j]], weights) for j in range(len(target))]
    means = np.average(rows, axis=0, weights=weights)
    assert found >= max(single) - 1e-11
    assert (np.array(single) >= kl_plus(np.minimum(means, 1), target) - 1e-11).all()


@settings(max_examples=40)
@given(seeds)
def test_a_higher_target_is_farther_and_a_repeated_row_is_a_weight(seed):
    rng = np.random.default_rng(seed)
    rows, _, target = some_law(rng)
    higher = target + (1 - target) * rng.uniform(0, 0.5, len(target))
    assert kinf(rows, higher) >= kinf(rows, target) - 1e-12
    times = rng.integers(1, 4, len(rows))
    assert kinf(np.repeat(rows, times, axis=0), target) == pytest.approx(
        kinf(rows, target, times), abs=1e-12
    )


def test_a_target_below_the_mean_costs_nothing():
    found = kinf_certified([[0.2, 0.9], [0.6, 0.7]], [0.4, 0.1])
    assert (found.value, found.gap, found.corner) == (0, 0, 0)
    assert found.multipliers.tolist() == [0, 0]


def test_a_target_of_one():
    assert kinf([[0.5, 0.5], [1.0, 1.0]], [0.2, 1.0]) == math.inf
    # where the law is always 1 the target of 1 is reached, and the rest decides
    sure = kinf_certified([[1, 0], [1, 1]], [1, 0.75])
    assert sure.value == pytest.approx(float(kl_plus(0.5, 0.75)), abs=1e-12)
    assert kinf([[1.0, 0.5]], [1.0, 0.5]) == 0


def test_a_small_shift_keeps_its_digits():
    for shift in (1e-3, 1e-5, 1e-7):
        found = kinf([[0], [1]], [0.5 + shift])
        assert found == pytest.approx(float(kl_plus(0.5, 0.5 + shift)), rel=1e-6)


# ---- the lemma on bad luck -----------------------------------------------------------------


def test_luck_is_the_sum_over_all_sequences_of_draws():
    rows, chances = np.array([[0.0, 1.0], [0.5, 0.25], [1.0, 1.0]]), np.array([0.2, 0.5, 0.3])
    target, n, least = [0.3, 0.4], 4, 0.05
    total = 0.0
    for outcome in np.ndindex(3, 3, 3, 3):
        value = kinf(rows[list(outcome)], target)
        total += (value > least) * math.prod(chances[list(outcome)]) * math.exp(n * value)
    assert luck_of_law(rows, chances, target, n, least) == pytest.approx(total, rel=1e-9)


@settings(max_examples=30)
@given(seeds)
def test_bad_luck_is_rare_whatever_the_dependence(seed):
    """The lemma, for random laws of few outcomes in up to four dimensions, copies among them."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    rows = rng.integers(0, 4, (3, d)) / 3
    if rng.random() < 0.3:
        rows = np.repeat(rows[:, :1], d, axis=1)
    rows = np.unique(rows, axis=0)
    chances = rng.dirichlet(np.ones(len(rows)))
    target = np.maximum(chances @ rows - rng.uniform(0.01, 0.5), 0)
    delta = float((chances @ rows - target).min())
    least = float(rng.choice([0, 0.02, 0.2, 0.7]))
    if delta > 0:
        bound = math.e * (n + 1) ** d * (1 - delta * least / 2) ** n
        assert luck_of_law(rows, chances, target, n, least) <= bound


# ---- evidence and price --------------------------------------------------------------------


def test_a_copied_coin_has_the_price_of_proposition_3():
    instance = instances.duplicated(0.1, K=6, d=4)
    exact = theory.lower_bound(6, 0.1).exact
    for kind in ("kinf", "max"):
        assert float(theory.instance_price(instance, kind).value) == pytest.approx(exact, rel=1e-9)


def test_the_evidence_of_coins_is_that_of_their_joint_law():
    instance = instances.bernoulli([[0.7, 0.2], [0.3, 0.6], [0.2, 0.1]])
    found = kinf_evidence(instance.source, instance.means)
    for b in range(3):
        rows, weights = coins(instance.means[b])
        for a in range(3):
            expected = kinf(rows, instance.means[a], weights)
            assert found[b, a] == pytest.approx(expected, abs=1e-12)


def test_rows_are_joint_and_samples_are_independent():
    rng = np.random.default_rng(5)
    tables = [np.round(rng.beta(2, 2 + a, (30, 2)), 2) for a in range(4)]
    rows = instances.from_rows(tables)
    samples = instances.from_samples([list(table.T) for table in tables])
    assert np.array_equal(rows.means, samples.means)
    joint = kinf_evidence(rows.source, rows.means)
    assert np.array_equal(joint, kinf_evidence(tables, rows.means))
    apart = kinf_evidence(samples.source, samples.means)
    for b in range(4):
        for a in range(4):
            assert joint[b, a] == kinf(tables[b], rows.means[a])
            one = [kinf(tables[b][:, [j]], rows.means[a, [j]]) for j in range(2)]
            assert apart[b, a] == pytest.approx(sum(one), abs=1e-14)
    # any law says at least as much as coins with its means
    assert (joint >= theory.evidence(rows.means, "max") - 1e-12).all()
    assert (apart >= theory.evidence(rows.means, "sum") - 1e-12).all()


def test_the_price_uses_the_evidence_of_the_law():
    rng = np.random.default_rng(6)
    means = [[0.7, 0.4], [0.5, 0.7], [0.4, 0.3], [0.45, 0.2]]
    tables = [np.clip(rng.normal(mu, 0.1, (40, 2)), 0, 1) for mu in means]
    instance = instances.from_rows(tables)
    whole = theory.price(instance.means, evidence=kinf_evidence(tables, instance.means))
    found = theory.instance_price(instance)
    assert (found.value, found.arm) == (whole.value, whole.arm)
    assert (pareto.gaps(instance.means) > 0).sum() == 2
    # rewards that vary little are told apart with fewer pulls
    assert found.value < 0.5 * theory.instance_price(instance, "max").value


def test_only_the_wanted_pairs_are_computed():
    instance = instances.bernoulli([[0.7, 0.2], [0.3, 0.6], [0.2, 0.1]])
    pairs = np.zeros((3, 3), dtype=bool)
    pairs[2, 0] = True
    found = kinf_evidence(instance.source, instance.means, pairs)
    assert np.flatnonzero(found).tolist() == [6]


def test_where_everything_is_free_the_law_does_not_matter():
    found = theory.instance_price(instances.zero_gap())
    assert (found.value, found.arm) == (0, 0)


@pytest.mark.parametrize("dataset", ["kuairec", "spotify"])
def test_real_rewards_are_told_apart_sooner_than_coins(shared, dataset):
    whole = load_or_skip(shared, dataset)
    instance = subsets.frozen(dataset, "misleading")[0].instance(whole)
    law, sum_, max_ = (
        float(theory.instance_price(instance, kind).value) for kind in ("kinf", "sum", "max")
    )
    assert 0 < law < sum_ <= max_ <= theory.marginal_price(instance.means).min() * (1 + 1e-12)


# ---- bad input -----------------------------------------------------------------------------

ROWS = [[0.1, 0.2], [0.3, 0.4]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: kinf([0.1, 0.2], [0.5]), "rows must have shape"),
        (lambda: kinf([[0.1, 1.2]], [0.5, 0.5]), "rows must lie in"),
        (lambda: kinf([], [0.5]), "rows must not be empty"),
        (lambda: kinf(ROWS, [0.5]), r"the target must have one mean per objective, shape \(2,\)"),
        (lambda: kinf(ROWS, [0.5, 1.5]), "the target must lie in"),
        (lambda: kinf(ROWS, [0.5, 0.5], [1, 2, 3]), "weights must be 2 numbers >= 0"),
        (lambda: kinf(ROWS, [0.5, 0.5], [1, -1]), "weights must be 2 numbers >= 0"),
        (lambda: kinf(ROWS, [0.5, 0.5], [0, 0]), "weights must be 2 numbers >= 0"),
        (lambda: kinf_evidence([ROWS, ROWS], [[0.5], [0.5]]), "one column per objective"),
        (lambda: kinf_evidence([ROWS, ROWS], [[0.5, 0.5]] * 3), "means must have one row per arm"),
        (lambda: kinf_evidence([ROWS, ROWS], ROWS, np.ones((1, 2), dtype=bool)), "pairs must have"),
        (lambda: theory.instance_price(instances.zero_gap(), "mean"), "'sum', 'max' or 'kinf'"),
        (
            lambda: theory.instance_price(instances.bernoulli([[0.6] * 20, [0.4] * 20])),
            "the joint law of 20 coins has too many outcomes",
        ),
    ],
)
def test_bad_input_is_explained(call, sentence):
    with pytest.raises(MomabError, match=sentence):
        call()
