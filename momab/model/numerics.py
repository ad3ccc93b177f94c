"""Elementary functions that give the same digits on every machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from momab._util.validate import FloatArray

_ROOT_HALF = 0.7071067811865476


def log(x: float) -> float:
    r"""Return the natural logarithm of x > 0, within 1 ulp and the same on every machine.

    With :math:`x = 2^k (1+f)`, :math:`1+f \in [\sqrt{1/2}, \sqrt 2)`, :math:`s = f/(2+f)` and
    :math:`z = s^2`, :math:`\log(1+f) = 2\,\mathrm{artanh}(s) = f - s(f - zP(z))` where
    :math:`P(z) = 2/3 + 2z/5 + 2z^2/7 + \dots`.  The coefficients interpolate P in the seven
    Chebyshev nodes of the interval of z, which leaves an error below :math:`2^{-56}`; log 2 is
    split so that k times its leading part is exact.
    """
    m, k = math.frexp(x)
    if m < _ROOT_HALF:
        m, k = 2.0 * m, k - 1
    return float(_log_of(m, k))


def log_each(x: FloatArray) -> FloatArray:
    """Return the logarithm of every x >= 0 in an array, with the digits of :func:`log`.

    NumPy's own differs in the last digit between processors with and without wide registers.
    """
    m, k = np.frexp(x)
    low = m < _ROOT_HALF
    found = _log_of(np.where(low, 2.0 * m, m), k - low)
    return np.where(x > 0.0, found, -np.inf)


def log1p_each(x: FloatArray) -> FloatArray:
    """Return log(1 + x) for every x >= 0: what 1 + x rounds away is added to first order."""
    u = 1.0 + x
    return log_each(u) + (x - (u - 1.0)) / u


def _log_of(m: Any, k: Any) -> Any:
    """The logarithm of 2^k m for m in [sqrt(1/2), sqrt(2)), numbers or arrays."""
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 0.15331721600556042 + z * 0.14616449685043406
    p = 0.2222221113479508 + z * (0.18182889125261723 + z * p)
    p = 0.666666666666667 + z * (0.39999999999899505 + z * (0.28571428625975487 + z * p))
    half = 0.5 * f * f  # f - s (f - zP) = f - (half - s (half + zP)), which rounds less
    leading, rest = k * 0.6931471805582987, k * 1.6465949582897082e-12
    return leading - ((half - (s * (half + z * p) + rest)) - f)
