"""The table of `momab tools bench`: its lines, what its columns mean.  No test asserts a time."""

from __future__ import annotations

import numpy as np
import pytest

from momab.cli import bench
from momab.engine import policies, streams
from momab.engine.accelerators import ACCELERATORS
from momab.engine.policies.base import Policy
from momab.errors import MomabError
from momab.model import instances
from tests.engine.drawn import SOURCES, random_instance


@pytest.mark.parametrize("source", SOURCES)
def test_drawing_in_turn_adds_the_rewards_of_the_streams(source: str) -> None:
    rng = np.random.default_rng(SOURCES.index(source))
    for _ in range(3):
        instance = random_instance(rng, source)
        rounds = int(rng.integers(1, 40 * instance.K))
        stream = streams.RewardStream(streams.reward_arrays(instance.source), 9, 4)
        total = np.zeros((instance.K, instance.d))
        for t in range(rounds):
            total[t % instance.K] += stream.batch(t % instance.K, t // instance.K, 1)[0]
        for engine in ("auto", "python"):
            sums = bench.draw_in_turn(instance, rounds, 9, 4, engine)
            np.testing.assert_array_equal(sums, total)


def test_drawing_refuses_what_runs_refuse() -> None:
    with pytest.raises(MomabError, match="the number of rounds must be a whole number >= 1"):
        bench.draw_in_turn(instances.zero_gap(), 0, 1, 0)
    with pytest.raises(MomabError, match="run numbers must lie in"):
        bench.draw_in_turn(instances.zero_gap(), 10, 1, 2**32)


def test_every_registered_policy_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    times = {"numba": 5e-9, "driver": 2e-8, "python": 4e-6}

    def per_round(
        instance: instances.Instance, policy: Policy, rounds: int, engine: str, repeats: int
    ) -> float:
        return times[engine]

    monkeypatch.setattr(bench, "seconds_per_round", per_round)
    monkeypatch.setattr(bench, "seconds_per_draw", lambda *given: 2.5e-9)
    monkeypatch.setattr(bench, "play_block", lambda *given, **more: None)
    table = bench.measure([instances.zero_gap(), bench.tracks()])
    names = [policies.as_published(r, instances.zero_gap()).name for r in policies.registered()]
    assert table["policy"].tolist() == names * 2
    assert {"kl-ucb", "single-ucb1"} < set(names)
    assert (table["ns"] == 20.0).all()
    fast = [record in ACCELERATORS for record in policies.registered()] * 2
    assert (table["fast_ns"].notna() == fast).all()
    assert (table["over_drawing"] == np.where(fast, 2.0, 8.0)).all()


def test_times_are_positive_and_per_round() -> None:
    instance = instances.synthetic(0.1, 2, K=5)
    policy = policies.WidthGuided(0.02)
    assert bench.seconds_per_round(instance, policy, 50, "python", 1) > 0
    assert bench.seconds_per_draw(instance, 200, "python", 2) > 0


def test_the_other_program_is_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{name},{run},2000,1,{1000 * (2 - run)}" for name in bench.THEIRS for run in (0, 1)]
    text = "\n".join([bench.smpybandits.HEADER, *lines])
    monkeypatch.setattr(bench.smpybandits, "output_of", lambda *given: text)
    monkeypatch.setattr(bench, "seconds_per_round", lambda *given: 1e-8)
    monkeypatch.setattr(bench, "play_block", lambda *given: None)
    table = bench.beside_smpybandits("python")
    assert table["theirs"].tolist() == list(bench.THEIRS)
    assert (table["theirs_ns"] == 1000).all()
    assert (table["ratio"] == 100).all()


def test_a_python_without_the_other_program_is_named() -> None:
    with pytest.raises(MomabError, match="nowhere cannot play SMPyBandits"):
        bench.beside_smpybandits("nowhere")
