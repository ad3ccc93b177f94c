"""Pareto UCB1 that stops: it commits at the first certificate, and never without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import momab
from momab.cli import specs
from momab.engine import loop
from momab.engine.driver import RunBlock
from momab.ledger.auditing.trace import trace
from momab.model import instances
from momab.model.numerics import log
from tests.engine.drawn import SOURCES, assert_same, played, random_instance


def both(*common: Any) -> RunBlock:
    """Play a block with both engines, which must agree."""
    slow = played(*common, engine="python")
    if loop.is_compiled(common[1]):
        assert_same(played(*common, engine="numba"), slow)
    return slow


def test_its_name_tells_that_it_stops() -> None:
    policy = momab.ParetoUCB1(stop=True)
    assert (policy.name, policy.label) == ("pareto-ucb1-stop", "Pareto UCB1 (stops)")
    assert specs.policy("pareto-ucb1:stop=true,stop-c=0.5") == momab.ParetoUCB1(
        stop=True, stop_c=0.5
    )
    assert momab.ParetoUCB1().name == momab.ParetoUCB1(stop=False, stop_c=1.0).name == "pareto-ucb1"


def certifies(view: Any, c: float) -> list[tuple[int, int]]:
    """All pairs of an objective and the arm that it certifies, straight from the definition."""
    beta = np.sqrt(c * log(view.T) / view.counts)
    return [
        (j, a)
        for j in range(view.d)
        for a in range(view.K)
        if all(
            view.means[a, j] - beta[a] > view.means[b, j] + beta[b] for b in range(view.K) if b != a
        )
    ]


@pytest.mark.parametrize("source", SOURCES)
def test_it_stops_at_the_first_certificate(source: str) -> None:
    rng = np.random.default_rng(SOURCES.index(source))
    stops = 0
    for _ in range(6):
        instance = random_instance(rng, source)
        policy = momab.ParetoUCB1("real", 0.1, True, 0.05)
        T = instance.K + 250
        seen: list[list[tuple[int, int]]] = []

        def note(view: Any, t: int, arm: int, seen: Any = seen) -> None:
            seen.append(certifies(view, 0.05))

        block = loop.play(instance, policy, T, 7, 0, observer=note)
        found = [t for t, pairs in enumerate(seen, start=instance.K) if pairs]
        assert block.cert_round[0] == (found[0] if found else -1)
        if found:
            stops += 1
            pair = int(block.cert_objective[0]), int(block.cert_arm[0])
            assert pair in seen[found[0] - instance.K]
    assert stops > 0


def test_the_certificate_comes_when_the_trace_finds_it() -> None:
    policy = momab.ParetoUCB1(stop=True, stop_c=0.02, c=0.02)
    for run in range(5):
        record = trace(instances.bernoulli([[0.8, 0.2], [0.5, 0.6]]), policy, 2000, 2, run)
        first = record.first_certificate()
        assert record.certificate is not None
        assert first is not None
        assert record.certificate.t == first.t


def test_several_objectives_certify_at_once() -> None:
    means = np.full((4, 6), 0.1)
    means[0] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    means[1] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    policy = momab.ParetoUCB1(stop=True, stop_c=0.05)
    block = both(instances.bernoulli(means), policy, 300, 8, 0, 60, (), True, True)
    assert (block.cert_round >= 0).all()
    assert set(block.cert_arm.tolist()) == {0, 1}
    assert len(set(block.cert_objective.tolist())) > 2


def test_until_then_it_is_pareto_ucb1() -> None:
    """A certificate that cannot come changes nothing but the coins' name."""
    instance = instances.from_rows([[[0.5, 0.5]], [[0.4, 0.4]]])  # one choice in most rounds
    patient = momab.ParetoUCB1(1.0, 0.02, stop=True, stop_c=1e6)
    common = (instance, 400, 1, 0, 1)
    stops = played(instance, patient, *common[1:], (), False, True)
    plain = played(instance, momab.ParetoUCB1(1.0, 0.02), *common[1:], (), False, True)
    assert stops.cert_round[0] == -1
    assert stops.pulls[0, 0] == pytest.approx(plain.pulls[0, 0], rel=0.2)


def test_a_commitment_costs_no_rewards() -> None:
    policy = momab.ParetoUCB1(stop=True, stop_c=0.05)
    block = played(instances.bernoulli([[0.9, 0.1], [0.1, 0.2]]), policy, 10**7, 1, 0, 2)
    assert (block.cert_round < 10**5).all()
    assert (block.pulls.sum(axis=1) == 10**7).all()
