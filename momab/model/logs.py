"""Logarithms of whole arrays with the digits of :func:`momab.model.numerics.log`.

NumPy's own differ in the last digit between processors with and without wide registers.
"""

from __future__ import annotations

import numpy as np

from momab._util.validate import FloatArray


def log_each(x: FloatArray) -> FloatArray:
    """Return the natural logarithm of every x >= 0, as :func:`momab.model.numerics.log` does."""
    m, k = np.frexp(x)
    low = m < 0.7071067811865476
    m, k = np.where(low, 2.0 * m, m), k - low
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 0.15331721600556042 + z * 0.14616449685043406
    p = 0.2222221113479508 + z * (0.18182889125261723 + z * p)
    p = 0.666666666666667 + z * (0.39999999999899505 + z * (0.28571428625975487 + z * p))
    half = 0.5 * f * f
    leading, rest = k * 0.6931471805582987, k * 1.6465949582897082e-12
    found = leading - ((half - (s * (half + z * p) + rest)) - f)
    return np.where(x > 0.0, found, -np.inf)


def log1p_each(x: FloatArray) -> FloatArray:
    """Return log(1 + x) for every x >= 0: what 1 + x rounds away is added to first order."""
    u = 1.0 + x
    return log_each(u) + (x - (u - 1.0)) / u
