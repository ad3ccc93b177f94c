"""Width-guided's kernel with many objectives: marks, sets of objectives as bits, ties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from momab.engine import loop
from momab.engine.policies.anytime import AnytimeWidthGuided
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances
from tests.engine.cautious import assert_same_with_a_wide_guard
from tests.engine.drawn import assert_same, crowd


@pytest.fixture(scope="module")
def kernels() -> Any:
    pytest.importorskip("numba", reason="skipped: needs numba")
    from momab.engine import _kernels

    return _kernels


def test_a_member_of_a_set_of_bits_is_drawn(kernels: Any) -> None:
    rng = np.random.default_rng(5)
    sets = [1, 1 << 63, 2**64 - 1, *(int(x) for x in rng.integers(1, 2**64, 500, dtype=np.uint64))]
    for bits in sets:
        members = [i for i in range(64) if bits >> i & 1]
        for word in (0, 2**32 - 1, *(int(x) for x in rng.integers(0, 2**32, 8))):
            found = kernels._member(np.uint64(bits), np.uint64(word))
            assert found == members[word * len(members) >> 32]


@pytest.mark.parametrize("d", [5, 16, 17, 26, 63, 64, 65, 130])
@pytest.mark.parametrize("K", [2, 3, 11])
def test_many_objectives(kernels: Any, K: int, d: int) -> None:
    """Smooth rewards, coins with their exact ties, and both certificates of both kinds."""
    means = np.round(0.2 + 0.6 * np.random.default_rng(K * d).random((K, d)), 1)
    for instance in (crowd(K, d, K + d), instances.bernoulli(means)):
        for policy in (WidthGuided(2.0), WidthGuided(0.02), AnytimeWidthGuided(0.05)):
            common = (instance, policy, K + 700, d, 0, 2, [K + 90, K + 91], True, True)
            fast = loop.play_block(*common, "numba")
            assert_same(fast, loop.play_block(*common, "python"))


@pytest.mark.slow  # compiles the kernel once more
def test_what_is_too_close_to_call_is_decided_by_the_plain_loop_s_numbers(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    policies = (WidthGuided(2.0), WidthGuided(0.1), AnytimeWidthGuided(0.1))
    assert_same_with_a_wide_guard("NEAR", policies, tmp_path)
