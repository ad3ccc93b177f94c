"""Traces against the driver's observer, and as files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.engine.loop import play, play_block
from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import coins_for, word
from momab.engine.tools import OBJECTIVE, UNTIL, choose_top
from momab.errors import MomabError
from momab.ledger.auditing.rounds import CASES, top_two
from momab.ledger.auditing.trace import Trace, trace
from momab.model import instances
from tests.strategies import mean_vectors


def observed(instance, policy, horizon, seed, run=0):
    """What the driver shows at every decision up to the certificate."""
    rows = []

    def note(player, t, arm):
        coin = coins_for("width-guided", seed, run, t)
        committed = player.commitment[UNTIL] >= 0
        j = choose_top(player.W, 2 * player.d + 1, coin)
        U = player.means + player.beta[:, None]
        np.testing.assert_array_equal(U, player.U.T)
        rows.append(
            {
                "t": t,
                "arm": arm,
                "counts": player.counts.copy(),
                "means": player.means.copy(),
                "beta": player.beta.copy(),
                "U": U,
                "L": player.means - player.beta[:, None],
                "b": player.b.copy(),
                "c": player.challenger.copy(),
                "W": player.W.copy(),
                "certified": player.proof > -np.inf,
                "objective": player.commitment[OBJECTIVE] if committed else j,
            }
        )

    play(instance, policy, horizon, seed, run, observer=note)
    return rows


def sources():
    rng = np.random.default_rng(3)
    yield instances.random_bernoulli(5, 3, seed=1)
    yield instances.random_bernoulli(6, 4, seed=2, levels=3)  # ties everywhere
    yield instances.duplicated(0.2, K=4, d=5)
    yield instances.from_rows([rng.random((7, 3)) for _ in range(4)])
    yield instances.from_samples([[rng.random(5).round(1) for _ in range(2)] for _ in range(6)])


@pytest.mark.parametrize("instance", list(sources()), ids=lambda instance: instance.name)
@pytest.mark.parametrize("c", [2.0, 0.1])
def test_reconstruction_equals_the_observer_digit_for_digit(instance, c):
    policy = WidthGuided(c=c)
    rows = observed(instance, policy, 700, seed=11, run=2)
    rounds = trace(instance, policy, 700, seed=11, run=2).rounds()
    assert len(rounds.t) == len(rows)
    for name in rows[0]:
        expected = np.array([row[name] for row in rows])
        np.testing.assert_array_equal(getattr(rounds, name), expected, err_msg=name)


@pytest.mark.parametrize("instance", list(sources()), ids=lambda instance: instance.name)
def test_pieces_of_any_size_agree(instance):
    record = trace(instance, WidthGuided(c=0.3), 400, seed=5, beyond=True)
    whole = record.rounds()
    for size in (1, 7, 64):
        parts = list(record.blocks(size=size))
        np.testing.assert_array_equal(
            np.concatenate([p.means for p in parts], axis=1).transpose(1, 0, 2), whole.means
        )
        np.testing.assert_array_equal(
            np.concatenate([p.counts for p in parts], axis=1).T, whole.counts
        )
    part = record.rounds(100, 150)
    np.testing.assert_array_equal(part.means, whole.means[100 - record.K : 150 - record.K])
    np.testing.assert_array_equal(part.b, whole.b[100 - record.K : 150 - record.K])
    np.testing.assert_array_equal(part.case, whole.case[100 - record.K : 150 - record.K])


def test_rewards_are_those_the_run_received():
    instance = instances.random_bernoulli(4, 3, seed=8)
    record = trace(instance, WidthGuided(c=0.2), 500, seed=3, run=4, beyond=True)
    common = (instance, WidthGuided(c=0.2), 500, 3, 4, 1)
    block = play_block(*common, final_sums=True, arms=True, engine="python")
    np.testing.assert_array_equal(record.arms, block.arms[0])
    sums = np.zeros((4, 3))
    np.add.at(sums, record.arms, record.rewards)
    np.testing.assert_array_equal(sums, block.sums[0])
    assert record.rewards.dtype == np.uint8


def test_a_trace_stops_at_the_certificate_unless_asked():
    instance = instances.bernoulli([[0.9, 0.1], [0.1, 0.2], [0.2, 0.1]])
    short = trace(instance, WidthGuided(c=0.5), 2000, seed=1)
    full = trace(instance, WidthGuided(c=0.5), 2000, seed=1, beyond=True)
    assert short.certificate == full.certificate == full.first_certificate() == full.commitment
    assert short.recorded == short.certificate.t + 1 < full.recorded == 2000
    np.testing.assert_array_equal(short.arms, full.arms[: short.recorded])
    rounds = full.rounds()
    names = [CASES[code] for code in rounds.case]
    at = short.certificate.t - 3
    assert names[at] == "certificate"
    assert set(names[at + 1 :]) == {"committed"}
    assert "unexplained" not in names
    assert not rounds.noncertifying[at:].any()
    assert rounds.noncertifying[:at].all()
    assert (rounds.objective[at + 1 :] == -1).all()


def test_choices_are_what_the_policy_noted():
    instance = instances.random_bernoulli(5, 3, seed=2, levels=3)
    record = trace(instance, WidthGuided(c=0.3), 300, seed=4, choices=True)
    rounds = trace(instance, WidthGuided(c=0.3), 300, seed=4).rounds()
    np.testing.assert_array_equal(record.leaders, rounds.b)
    np.testing.assert_array_equal(record.challengers, rounds.c)
    np.testing.assert_array_equal(record.rounds().b, rounds.b)
    told = record.edited(objectives=rounds.objective[:20], coins=None)
    np.testing.assert_array_equal(told.rounds().objective[:20], rounds.objective[:20])


@settings(max_examples=25)
@given(mean_vectors(max_arms=6, max_objectives=4), st.integers(0, 99), st.sampled_from([2.0, 0.2]))
def test_what_every_trace_satisfies(means, seed, c):
    record = trace(instances.bernoulli(means), WidthGuided(c=c), 150, seed, beyond=True)
    rounds = record.rounds()
    assert (rounds.counts.sum(axis=1) == rounds.t).all()
    rows = np.arange(len(rounds.t))[:, None]
    objectives = np.arange(record.d)
    U = rounds.U
    assert (U[rows, rounds.b, objectives] >= U.max(axis=1) - 1e-12).all()
    assert (rounds.b != rounds.c).all()
    open_race = rounds.case <= 2
    assert (rounds.case[open_race] <= 2).all()
    pulled = rounds.arm[open_race]
    beta = rounds.beta[open_race]
    assert (
        beta[np.arange(len(pulled)), pulled] >= rounds.W[open_race].max(axis=1) / 2 - 1e-12
    ).all()
    # the certificate is the first
    assert record.first_certificate() == (record.certificate or None) or (
        record.first_certificate().t == record.certificate.t
    )
    # permuting objectives permutes everything
    order = np.random.default_rng(seed).permutation(record.d)
    swapped = record.edited(
        means=record.means[:, order], rewards=record.rewards[:, order], certificate=None, coins=None
    ).rounds()
    np.testing.assert_array_equal(swapped.means, rounds.means[:, :, order])
    np.testing.assert_array_equal(swapped.beta, rounds.beta)


@settings(max_examples=60)
@given(st.integers(2, 7), st.integers(1, 4), st.integers(0, 10**6))
def test_top_two_against_sorting(K, d, seed):
    U = np.random.default_rng(seed).integers(0, 4, (K, 5, d)) / 4
    best, second = top_two(U)
    order = np.argsort(-U, axis=0, kind="stable")
    np.testing.assert_array_equal(best, order[0])
    np.testing.assert_array_equal(second, order[1])


def test_files_keep_everything_without_pickles(tmp_path):
    instance = instances.random_bernoulli(5, 3, seed=2, levels=3)
    record = trace(instance, WidthGuided(c=0.1), 300, seed=2**63 + 4, choices=True, beyond=True)
    record.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz", allow_pickle=False) as file:
        assert {"arms", "rewards", "means", "c", "horizon"} <= set(file.files)
    again = Trace.load(tmp_path / "trace.npz")
    for name in ("arms", "rewards", "means", "leaders", "challengers"):
        np.testing.assert_array_equal(getattr(again, name), getattr(record, name))
    assert (again.c, again.horizon, again.certificate) == (0.1, 300, record.certificate)
    assert (again.coins, again.name) == (record.coins, record.name)
    np.testing.assert_array_equal(again.rounds().b, record.rounds().b)


def test_a_stranger_s_trace_needs_five_arrays(tmp_path):
    rng = np.random.default_rng(1)
    arms = np.array([0, 1, 2, 0, 1])
    path = tmp_path / "theirs.npz"
    np.savez(path, arms=arms, rewards=rng.random((5, 2)), means=np.eye(3)[:, :2], c=2, horizon=9)
    record = Trace.load(path)
    assert (record.K, record.d, record.recorded, record.name) == (3, 2, 5, "theirs")
    assert record.rewards.dtype == np.float64
    assert record.rounds().t.tolist() == [3, 4]


GOOD = {"arms": [0, 1, 0], "rewards": [[1], [0], [1]], "means": [[0.9], [0.1]]}
GOOD |= {"c": 2.0, "horizon": 10}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": [0, 1, 2]}, "arms must lie in 0..1"),
        ({"arms": [0.0, 1.0, 0.0]}, "whole numbers"),
        ({"arms": [0]}, "2 to 10 pulls"),
        ({"horizon": 2}, "2 to 2 pulls"),
        ({"horizon": 1}, "at least the number of arms"),
        ({"rewards": [[1], [0]]}, "one row per pull"),
        ({"rewards": [[1], [0], [2]]}, r"\[0, 1\]"),
        ({"rewards": [[1], [0], [float("nan")]]}, "finite"),
        ({"means": [[0.9], [1.1]]}, r"\[0, 1\]"),
        ({"means": [[[0.9], [0.1]]]}, "shape"),
        ({"c": 0.0}, "c must be"),
        ({"certificate": (1, 0, 0)}, "the certificate's round"),
        ({"certificate": (2, 0, 1)}, "the certificate's objective"),
        ({"leaders": [[0]]}, "together"),
        ({"leaders": [[0], [0]], "challengers": [[1], [1]]}, "m <= 1"),
        ({"objectives": [3]}, r"0\.\.0"),
    ],
)
def test_bad_arrays_get_one_sentence(change, message):
    with pytest.raises(MomabError, match=message):
        Trace.from_arrays(**(GOOD | change))


def test_bad_files_get_one_sentence(tmp_path):
    with pytest.raises(MomabError, match="there is no file"):
        Trace.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("not a trace")
    with pytest.raises(MomabError, match="without pickled objects"):
        Trace.load(tmp_path / "text.npz")
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(MomabError, match="one array"):
        Trace.load(tmp_path / "one.npy")
    np.savez(tmp_path / "pickled.npz", arms=np.array([{}], dtype=object))
    with pytest.raises(MomabError, match="without pickled objects"):
        Trace.load(tmp_path / "pickled.npz")
    np.savez(tmp_path / "part.npz", arms=np.arange(3))
    with pytest.raises(MomabError, match="no array 'rewards'"):
        Trace.load(tmp_path / "part.npz")
    good = {key: np.array(value) for key, value in GOOD.items()}
    np.savez(tmp_path / "c.npz", **(good | {"c": np.zeros(2)}))
    with pytest.raises(MomabError, match="c must be one number"):
        Trace.load(tmp_path / "c.npz")
    np.savez(tmp_path / "cert.npz", **good, certificate=np.zeros(2))
    with pytest.raises(MomabError, match="t, arm, objective"):
        Trace.load(tmp_path / "cert.npz")


def test_bad_requests_get_one_sentence():
    instance = instances.bernoulli([[0.9], [0.1]])
    record = trace(instance, WidthGuided(), 100, seed=1)
    with pytest.raises(MomabError, match="start must be"):
        record.rounds(0)
    with pytest.raises(MomabError, match="stop must be"):
        record.rounds(5, 1000)
    with pytest.raises(MomabError, match="no decision"):
        record.rounds(5, 5)
    doubled = record.edited(arms=np.zeros_like(record.arms), certificate=None)
    with pytest.raises(MomabError, match="arm 1 was not pulled"):
        next(doubled.blocks())
    with pytest.raises(MomabError, match="coefficient c of annealing-pareto"):
        trace(instance, AnnealingPareto(), 100, seed=1)


def test_another_policy_can_be_traced_and_is_not_width_guided():
    record = trace(instances.random_bernoulli(4, 2, seed=1), ParetoUCB1(), 200, seed=1)
    assert record.certificate is None
    assert record.coins is None
    assert "unexplained" in {CASES[code] for code in record.rounds().case}


def test_a_long_run_costs_the_memory_of_one_block():
    import tracemalloc

    means = np.full((30, 30), 0.5)
    record = trace(instances.bernoulli(means), WidthGuided(), 20_000, seed=1)
    assert record.rewards.nbytes == 20_000 * 30
    tracemalloc.start()
    for _ in record.blocks():
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # all rounds at once would take 144 MB


def test_coins_of_many_rounds_at_once_are_the_coins_of_the_loop():
    record = trace(instances.random_bernoulli(3, 2, seed=1), WidthGuided(), 50, seed=9, run=3)
    t = np.arange(3, 40)
    for slot in (0, 5, 6):
        words = record.coins.words(t, slot)
        for when, found in zip(t, words):
            assert word(coins_for("width-guided", 9, 3, int(when)), slot) == found
