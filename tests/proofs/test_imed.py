"""Pareto IMED of the engine plays by the formal relation, of which regret was bounded.

Means are exact fractions; logarithms have sixty digits, and indices that agree to fifty are equal.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

import pytest

from momab.engine.loop import play_block
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.ledger.auditing.trace import rewards_of
from momab.model import instances
from tests.proofs.quoting import stands_in_the_sources
from tests.proofs.relation import Instance

INFINITE = Decimal("Infinity")  # None in Coq
EQUAL = Decimal(10) ** -50


@cache
def ln(x):
    return real(x).ln() if x else Decimal(0)  # as in Coq, the logarithm of 0 is 0


def real(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def kl(p, q):
    """Definition kl (p q : R) : R := p * ln (p / q) + (1 - p) * ln ((1 - p) / (1 - q))."""
    return real(p) * ln(p / q) + real(1 - p) * ln((1 - p) / (1 - q))


def divergence(p, q):
    """Definition divergence (p q : R) : extended :=
    if Rlt_dec p q then if Rlt_dec q 1 then Some (kl p q) else None else Some 0.
    """
    if p < q:
        return kl(p, q) if q < 1 else INFINITE
    return Decimal(0)


def largest(values):
    """Fixpoint largest (n : nat) (f : nat -> extended) : extended :=
    match n with
    | O => Some 0
    | S m => match largest m f, f m with Some x, Some y => Some (Rmax x y) | _, _ => None end
    end.
    """
    return max([Decimal(0), *values])


def max_evidence(p, q):
    """Definition max_evidence (p q : vector) : extended :=
    largest d (fun j => divergence (p j) (q j)).
    """
    return largest([divergence(x, y) for x, y in zip(p, q)])


def index(counts, means, a, b):
    """Definition index (h : history) (a b : nat) : extended :=
    match max_evidence (mean h b) (mean h a) with
    | Some x => Some (INR (count h b) * x + ln (INR (count h b)))
    | None => None
    end.
    """
    return counts[b] * max_evidence(means[b], means[a]) + ln(Fraction(counts[b]))


def candidate(means, a):
    """Definition candidate (h : history) (a : nat) : Prop :=
    (a < K)%nat /\\ gap K d (mean h) a = 0.
    """
    return Instance(means).gap(a) == 0


def imed_pulls(counts, means, a, i):
    """Definition imed_pulls (h : history) (a i : nat) : Prop :=
    (i < K)%nat /\\ forall c, (c < K)%nat -> at_most (index h a i) (index h a c).
    """
    least = min(index(counts, means, a, c) for c in range(len(counts)))
    own = index(counts, means, a, i)
    return own == least or own <= least + EQUAL


def imed_run(arms, rewards, K):
    """The rounds that are no steps of the relation.

    Inductive imed_run (Y : table) : history -> Prop :=
    | imed_start : imed_run Y []
    | imed_warm h : imed_run Y h -> (length h < K)%nat -> imed_run Y (pull Y h (length h))
    | imed_next h a i : imed_run Y h -> (K <= length h)%nat -> candidate h a -> imed_pulls h a i ->
        imed_run Y (pull Y h i).
    """
    wrong, counts = [], [0] * K
    totals = [[Fraction(0)] * len(rewards[0]) for _ in range(K)]
    for t, (i, x) in enumerate(zip(arms, rewards)):
        if t < K:
            step = i == t
        else:
            means = [[s / n for s in row] for row, n in zip(totals, counts)]
            arms_of_gap_zero = [a for a in range(K) if candidate(means, a)]
            step = any(imed_pulls(counts, means, a, i) for a in arms_of_gap_zero)
        wrong += [] if step else [t]
        counts[i] += 1
        totals[i] = [s + Fraction(float(v)) for s, v in zip(totals[i], x)]
    return wrong


TRANSCRIBED = (kl, divergence, largest, max_evidence, index, candidate, imed_pulls, imed_run)


@pytest.mark.parametrize("function", TRANSCRIBED, ids=lambda function: function.__name__)
def test_what_is_transcribed_is_what_stands_in_the_sources(function):
    assert stands_in_the_sources(function)


SEEDS = (5, 10, 16, 22, 26, 27)


def played(policy, seed):
    """A run on a random instance with four arms, some suboptimal; the first two have ties."""
    instance = instances.random_bernoulli(4, 2 + seed % 2, seed, 5 if seed <= 10 else None)
    arms = play_block(instance, policy, 250, seed, 0, 1, arms=True, engine="python").arms[0]
    with localcontext(Context(prec=60)):
        return imed_run(arms.tolist(), rewards_of(instance, arms, seed, 0).tolist(), instance.K)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_of_the_engine_is_a_run_of_the_relation(seed):
    assert played(ParetoIMED(), seed) == []


def test_the_evidence_sum_leaves_the_relation():
    assert any(played(ParetoIMED(evidence="sum"), seed) for seed in SEEDS)
