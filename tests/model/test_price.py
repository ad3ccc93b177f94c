"""The price of an instance: against its definition, what is known of it, and its laws."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab import MomabError, theory
from momab.model import instances, pareto
from tests.strategies import mean_vectors

kinds = st.sampled_from(["sum", "max"])
unit = st.floats(0, 1)


def stacks():
    """More than 10,000 instances, 2 to 12 arms and 1 to 6 objectives, with and without ties."""
    for K in range(2, 13):
        for d in range(1, 7):
            for levels in (None, 3, 6, 11):
                yield instances.random_means(K, d, 100 * K + d, levels, instances=40)


# ---- the divergence ------------------------------------------------------------------------


def exact_kl(p, q, digits=50):
    """The divergence of two floats p < q, with many digits."""
    with localcontext(prec=digits):
        p, q = Decimal(p), Decimal(q)
        first = p * (p / q).ln() if p else 0
        return float(first + (1 - p) * ((1 - p) / (1 - q)).ln())


@settings(max_examples=50)
@given(unit, unit)
def test_kl_plus_is_kl_where_the_first_mean_is_smaller(p, q):
    found = float(theory.kl_plus(p, q))
    if p >= q:
        assert found == 0
    elif q == 1:
        assert found == math.inf
    else:
        assert found == pytest.approx(exact_kl(p, q, 700), rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("p", [0.0, 1e-200, 1e-3, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("step", [1e-15, 1e-9, 1e-4, 0.05])
def test_close_means_keep_their_digits(p, step):
    q = min(p + step, 1 - 2**-53)
    assert float(theory.kl_plus(p, q)) == pytest.approx(exact_kl(p, q, 300), rel=1e-13)


def test_kl_plus_at_the_ends():
    assert theory.kl_plus([0, 0, 0, 1, 1], [0, 1, 0.5, 0, 1]).tolist() == [
        *(0, math.inf, math.log(2), 0, 0)
    ]
    assert theory.kl_plus(0.5, [[0.6], [0.7]]).shape == (2, 1)


# ---- the definition ------------------------------------------------------------------------


def price_by_definition(means, kind):
    """The slow twin: loops, and the plain formula of the divergence."""
    K, d = means.shape
    gaps = [
        max(0.0, max(min(means[b][j] - means[a][j] for j in range(d)) for b in range(K)))
        for a in range(K)
    ]
    best, who, pulls = math.inf, -1, []
    for a in range(K):
        if gaps[a] > 0:
            continue
        total, needed = 0.0, [0.0] * K
        for b in range(K):
            if gaps[b] == 0:
                continue
            parts = [
                exact_kl(means[b][j], means[a][j]) if means[a][j] < 1 else math.inf
                for j in range(d)
                if means[b][j] < means[a][j]
            ]
            needed[b] = 1 / (sum(parts) if kind == "sum" else max(parts))
            total += gaps[b] * needed[b]
        if total < best * (1 - 1e-12):
            best, who, pulls = total, a, needed
    return best, who, pulls


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize("levels", [None, 4, 11])
def test_the_price_against_its_definition(kind, levels):
    for K, d, seed in ((2, 1, 1), (3, 2, 2), (5, 2, 3), (6, 3, 4), (9, 2, 5)):
        stack = instances.random_means(K, d, seed, levels, instances=4)
        found = theory.price(stack, kind)
        for i, means in enumerate(stack):
            value, arm, pulls = price_by_definition(means, kind)
            assert found.value[i] == pytest.approx(value, rel=1e-12, abs=1e-15)
            assert found.arm[i] == arm
            assert found.pulls[i] == pytest.approx(pulls, rel=1e-12)


@given(mean_vectors(), kinds)
def test_the_parts_of_a_price_belong_together(mu, kind):
    found, gaps = theory.price(mu, kind), pareto.gaps(mu)
    assert gaps[found.arm] == 0
    assert found.per_arm.min() == found.value == found.per_arm[gaps == 0].min()
    assert np.isinf(found.per_arm[gaps > 0]).all()
    assert (found.pulls[gaps == 0] == 0).all()
    assert (gaps * found.pulls).sum() == pytest.approx(found.per_arm[found.arm], rel=1e-12)
    with np.errstate(divide="ignore"):
        needed = 1 / theory.evidence(mu, kind)[:, found.arm]
    assert found.pulls[gaps > 0] == pytest.approx(needed[gaps > 0])


def test_a_stack_is_priced_as_its_instances_are():
    stack = instances.random_means(5, 3, seed=7, instances=6).reshape(2, 3, 5, 3)
    found = theory.price(stack)
    assert found.value.shape == found.arm.shape == (2, 3)
    assert found.per_arm.shape == found.pulls.shape == (2, 3, 5)
    assert theory.evidence(stack).shape == (2, 3, 5, 5)
    assert theory.marginal_price(stack).shape == (2, 3, 3)
    assert theory.price_bounds(stack).by_lead.shape == (2, 3, 3)
    one = theory.price(stack[1, 2])
    assert (one.value, one.arm) == (found.value[1, 2], found.arm[1, 2])


# ---- what is known of it -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sum", "max"])
@given(theta=st.lists(st.floats(0.01, 0.99), min_size=2, max_size=8))
def test_one_objective_is_lai_and_robbins(kind, theta):
    best = max(theta)
    expected = math.fsum((best - p) / exact_kl(p, best) for p in theta if p < best)
    found = theory.price(np.array(theta)[:, None], kind)
    assert float(found.value) == pytest.approx(expected, rel=1e-12)
    assert found.arm == theta.index(best)


@pytest.mark.parametrize(("K", "d", "delta"), [(2, 1, 0.25), (5, 3, 0.1), (20, 5, 0.01)])
def test_one_copied_coin_is_proposition_3_with_its_exact_constant(K, d, delta):
    mu = instances.duplicated(delta, K, d).means
    exact = theory.lower_bound(K, delta).exact
    assert float(theory.price(mu, "max").value) == pytest.approx(exact, rel=1e-12)
    # independent coordinates say the same thing d times
    assert float(theory.price(mu, "sum").value) == pytest.approx(exact / d, rel=1e-12)


def test_never_above_what_one_objective_costs():
    """Over more than 10,000 instances: KL-UCB's constants, and the bounds by deficits and leads."""
    seen = 0
    for stack in stacks():
        seen += len(stack)
        single, bounds = theory.marginal_price(stack), theory.price_bounds(stack)
        assert (single <= bounds.by_deficit * (1 + 1e-12)).all()
        assert (bounds.by_deficit <= bounds.by_lead * (1 + 1e-12)).all()
        for kind in ("sum", "max"):
            value = theory.price(stack, kind).value[:, None]
            assert np.isfinite(value).all()
            assert (value <= single * (1 + 1e-12)).all()
    assert seen > 10_000


def test_evidence_is_positive_for_a_free_and_a_paid_arm():
    for stack in stacks():
        free = pareto.gaps(stack) == 0
        pairs = ~free[:, :, None] & free[:, None, :]
        for kind in ("sum", "max"):
            assert (theory.evidence(stack, kind)[pairs] > 0).all()


def test_the_marginal_price_by_hand():
    mu = np.array([[0.8, 0.3], [0.4, 0.6], [0.3, 0.2], [0.8, 0.1]])
    gaps = pareto.gaps(mu)  # only arm 2 is paid
    expected = [gaps[2] / theory.bernoulli_kl(0.3, 0.8), gaps[2] / theory.bernoulli_kl(0.2, 0.6)]
    assert theory.marginal_price(mu).tolist() == pytest.approx(expected, rel=1e-12)
    bounds = theory.price_bounds(mu)
    assert bounds.by_deficit.tolist() == pytest.approx([0.5 / 0.5, 0.5 / 0.4])
    assert bounds.by_lead.tolist() == pytest.approx([math.inf, 1.5 / 0.3])


# ---- ends and ties -------------------------------------------------------------------------


def test_where_everything_is_free_nothing_is_paid():
    for mu in ([[0.2, 0.8], [0.8, 0.2]], [[0.5], [0.5]], instances.zero_gap().means):
        for kind in ("sum", "max"):
            found = theory.price(mu, kind)
            assert (found.value, found.arm) == (0, 0)
            assert (found.per_arm == 0).all()
            assert (found.pulls == 0).all()
        assert (theory.marginal_price(mu) == 0).all()
        assert (theory.price_bounds(mu).by_deficit == 0).all()


def test_an_arm_with_a_mean_of_one_is_free_and_costs_nothing():
    found = theory.price([[0.5, 0.9], [1.0, 0.0], [0.4, 0.2], [0.0, 0.0]])
    assert (found.value, found.arm) == (0, 1)
    assert found.per_arm[0] > 0
    assert (found.pulls == 0).all()


def test_a_paid_arm_at_zero():
    found = theory.price([[0.5, 0.75], [0.0, 0.0]])
    assert found.value == pytest.approx(0.5 / (math.log(2) + math.log(4)), rel=1e-14)


def test_ties_go_to_the_first_arm():
    mirrored = np.array([[0.3, 0.2], [0.2, 0.3], [0.6, 0.9], [0.9, 0.6], [0.1, 0.6], [0.6, 0.1]])
    assert theory.price(mirrored).arm == theory.price(mirrored[:, ::-1]).arm == 2
    found = theory.price([[0.5], [0.7], [0.7]])
    assert found.arm == 1
    assert found.per_arm[1] == found.per_arm[2]


# ---- laws ----------------------------------------------------------------------------------


@given(mean_vectors(), kinds, st.randoms(use_true_random=False))
def test_the_names_of_arms_and_objectives_do_not_matter(mu, kind, rng):
    arms, objectives = list(range(mu.shape[0])), list(range(mu.shape[1]))
    rng.shuffle(arms)
    rng.shuffle(objectives)
    before, after = theory.price(mu, kind), theory.price(mu[arms][:, objectives], kind)
    assert float(after.value) == pytest.approx(float(before.value), rel=1e-12)
    assert after.per_arm == pytest.approx(before.per_arm[arms], rel=1e-12)


@given(mean_vectors())
def test_the_sum_is_the_cheaper_one_by_at_most_the_number_of_objectives(mu):
    cheap, safe = float(theory.price(mu, "sum").value), float(theory.price(mu, "max").value)
    assert cheap <= safe * (1 + 1e-12)
    assert safe <= mu.shape[1] * cheap * (1 + 1e-12)


@given(mean_vectors(max_objectives=4), kinds, st.data())
def test_one_more_objective_never_costs_more(mu, kind, data):
    column = data.draw(st.lists(unit, min_size=len(mu), max_size=len(mu)))
    more = np.column_stack([mu, column])
    assert theory.price(more, kind).value <= theory.price(mu, kind).value * (1 + 1e-12)


@given(mean_vectors(), kinds)
def test_a_paid_arm_costs_its_own_share_and_no_more(mu, kind):
    found, gaps = theory.price(mu, kind), pareto.gaps(mu)
    paid = np.flatnonzero(gaps > 0)
    if len(paid) and len(mu) > 2:
        left = theory.price(np.delete(mu, paid[0], axis=0), kind)
        with np.errstate(divide="ignore"):
            share = gaps[paid[0]] / theory.evidence(mu, kind)[paid[0]]
        free = gaps == 0
        whole = left.per_arm[np.delete(free, paid[0])] + share[free]
        assert found.per_arm[free] == pytest.approx(whole, rel=1e-9)


@given(mean_vectors(), kinds)
def test_a_second_copy_of_a_free_arm_changes_nothing(mu, kind):
    found = theory.price(mu, kind)
    again = theory.price(np.vstack([mu, mu[found.arm]]), kind)
    assert again.arm == found.arm
    assert again.value == found.value


@given(mean_vectors(), kinds, st.floats(0.25, 4))
def test_a_given_evidence_is_used(mu, kind, factor):
    found = theory.price(mu, kind)
    D = theory.evidence(mu, kind)
    assert theory.price(mu, evidence=D).value == found.value
    scaled = theory.price(mu, evidence=factor * D)
    assert float(scaled.value) == pytest.approx(float(found.value) / factor, rel=1e-12)


# ---- bad input -----------------------------------------------------------------------------

MEANS = [[0.5, 0.6], [0.2, 0.3]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: theory.price(MEANS, "mean"), "the kind of evidence must be 'sum' or 'max'"),
        (lambda: theory.evidence(MEANS, None), "the kind of evidence must be 'sum' or 'max'"),
        (lambda: theory.price([0.5, 0.6]), "means must have shape"),
        (lambda: theory.price([[0.5, 1.6], [0.2, 0.3]]), "means must lie in"),
        (lambda: theory.marginal_price([[0.5, 0.6]]), "at least 2 arms"),
        (lambda: theory.price_bounds([[0.5, math.nan], [0.1, 0.2]]), "means must be finite"),
        (lambda: theory.kl_plus(-0.1, 0.5), "p must lie in"),
        (lambda: theory.kl_plus([0.1, 0.2], [0.1, 0.2, 0.3]), "p and q must have shapes that fit"),
        (lambda: theory.price(MEANS, evidence=[[0, 1, 2]]), r"numbers of shape \(2, 2\)"),
        (lambda: theory.price(MEANS, evidence=[[0, 1], [2]]), r"numbers of shape \(2, 2\)"),
        (lambda: theory.price(MEANS, evidence=[["a", "b"]] * 2), r"numbers of shape \(2, 2\)"),
        (lambda: theory.price(MEANS, evidence=[[0, 1], [-2, 0]]), "must not be negative or NaN"),
        (lambda: theory.price(MEANS, evidence=[[0, 0], [0, 0]]), "must be positive for every paid"),
    ],
)
def test_bad_input_is_explained(call, sentence):
    with pytest.raises(MomabError, match=sentence):
        call()
