"""Kernels that trust next to nothing: all must be decided by the numbers of the plain loop."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from momab.engine.policies.base import Policy

SCRIPT = """
import numpy as np
from momab.engine import _kernels, loop
_kernels.{guard} = 1e-3
from momab.engine.policies import AnytimeWidthGuided, ParetoUCB1, WidthGuided
from tests.engine.drawn import SOURCES, assert_same, random_instance
rng = np.random.default_rng(20261117)
contenders = [{policies}]
for i in range(24):
    instance = random_instance(rng, SOURCES[i % 4])
    policy = contenders[i % len(contenders)]
    common = (instance, policy, instance.K + 1500, i, 0, 1, (), True, True)
    assert_same(loop.play_block(*common, "numba"), loop.play_block(*common, "python"))
print("same")
"""


def assert_same_with_a_wide_guard(guard: str, policies: Sequence[Policy], folder: Path) -> None:
    """Compare kernel and plain loop with a guard a hundred million times as wide as it is."""
    root = Path(__file__).parents[2]
    script = SCRIPT.format(guard=guard, policies=", ".join(map(repr, policies)))
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=root,
        # Compiled code does not know that it was compiled with another guard.
        env={**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(folder)},
        check=False,
    )
    assert found.stdout.strip() == "same", found.stderr
