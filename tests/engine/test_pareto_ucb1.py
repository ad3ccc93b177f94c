"""Pareto UCB1's kernel: many arms, its two ways, and what is too close to call."""

from __future__ import annotations

from pathlib import Path

import pytest

import momab
from momab.engine import loop
from momab.model import instances
from tests.engine.cautious import assert_same_with_a_wide_guard
from tests.engine.drawn import assert_same, crowd


@pytest.mark.parametrize("K", [63, 64, 65, 130])
def test_many_arms(K: int) -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    for instance in (crowd(K, 3, K), instances.random_bernoulli(K, 2, seed=K)):
        for policy in (momab.ParetoUCB1("real", 0.1), momab.ParetoUCB1(stop=True, stop_c=0.1)):
            common = (instance, policy, K + 500, 3, 0, 1, [K + 20], True, True)
            fast = loop.play_block(*common, "numba")
            assert_same(fast, loop.play_block(*common, "python"))


def test_it_changes_between_its_two_ways() -> None:
    """Long enough for both: boxes when the set is calm, floors when it changes often."""
    pytest.importorskip("numba", reason="skipped: needs numba")
    common = (instances.synthetic(0.1, 2, K=4), momab.ParetoUCB1("synthetic"), 10_000, 5, 0, 1)
    fast = loop.play_block(*common, (), False, True, "numba")
    assert_same(fast, loop.play_block(*common, (), False, True, "python"))


@pytest.mark.slow  # compiles the kernel once more
def test_what_is_too_close_to_call_is_decided_by_the_plain_loop_s_numbers(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    policies = (momab.ParetoUCB1("synthetic"), *[momab.ParetoUCB1("real", 0.1)] * 2)
    assert_same_with_a_wide_guard("GUARD", policies, tmp_path)
