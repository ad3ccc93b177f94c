"""Logarithms of arrays: the same digits one by one and on every processor."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from momab.model import numerics

PRICES = """
import hashlib, numpy as np
from momab.model.price import price
means = np.random.default_rng(7).random((400, 6, 3))
print(hashlib.sha256(price(means).value.tobytes()).hexdigest())
"""


def samples() -> np.ndarray:
    rng = np.random.default_rng(1)
    tiny = np.ldexp(rng.random(1000), rng.integers(-1070, -900, 1000))
    near = 1.0 + rng.standard_normal(5000) * 10.0 ** rng.uniform(-16, -1, 5000)
    wide = 10.0 ** rng.uniform(-300, 300, 20_000)
    found = np.concatenate([rng.random(20_000), wide, tiny, near])
    return found[found > 0.0]


def test_an_array_has_the_digits_of_its_numbers() -> None:
    x = samples()
    assert numerics.log_each(x).tolist() == [numerics.log(one) for one in x.tolist()]


def test_the_logarithm_of_zero_is_minus_infinity() -> None:
    assert numerics.log_each(np.zeros(1))[0] == -math.inf


def test_log1p_is_good_to_a_few_units_in_the_last_place() -> None:
    x = np.concatenate([[0.0], 10.0 ** np.random.default_rng(2).uniform(-20, 300, 20_000)])
    exact = np.array([math.log1p(one) for one in x.tolist()])
    assert (np.abs(numerics.log1p_each(x) - exact) <= 2 * np.spacing(exact)).all()


def test_prices_do_not_depend_on_the_width_of_registers() -> None:
    from numpy._core import _multiarray_umath as features

    wide = [name for name in features.__cpu_dispatch__ if features.__cpu_features__.get(name)]
    if not wide:
        pytest.skip("this processor has nothing that could be switched off")
    found = {
        subprocess.run(
            [sys.executable, "-c", PRICES],
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(off)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for off in ([], wide)
    }
    assert len(found) == 1
