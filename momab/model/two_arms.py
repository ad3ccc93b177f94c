r"""Two arms and one objective: how small the coefficient of Algorithm 1 may be.

With two arms the one with fewer samples is pulled, so their counts differ by at most one.  At
equal counts n the lead in successes :math:`S_n` is a random walk, and a certificate appears when
:math:`|S_n|>2\sqrt{cn\log T}`.  The functions here bound and compute the chance that it names the
wrong arm; the chapter on the regret theorem has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, horizon_for, positive_number, probability
from momab.errors import MomabError

LEAST_T = 55
"""From here on 4 c log T > 4 for every c >= 1/4, which the bounds use."""
LEAST_C = 0.25


def lead_rate(p: float, q: float, y: ArrayLike) -> FloatArray:
    r"""Cramér's rate of the lead X - Y of two independent Bernoulli rewards.

    :math:`I(y)=\sup_\theta\theta y-\log\bigl((1-p+pe^\theta)(1-q+qe^{-\theta})\bigr)`; the
    supremum is where :math:`z=e^\theta` solves
    :math:`p(1-q)(1-y)z^2-y((1-p)(1-q)+pq)z-(1-p)q(1+y)=0`.

    Parameters
    ----------
    p, q : float
        The means of X and Y, in (0, 1).
    y : array_like of float
        Leads in [-1, 1].

    Returns
    -------
    ndarray of float
    """
    p, q = _inside(p, "p"), _inside(q, "q")
    y = np.asarray(y, dtype=np.float64)
    if np.isnan(y).any() or (np.abs(y) > 1).any():
        raise MomabError("a lead y must lie in [-1, 1].")
    up, down, stay = p * (1 - q), q * (1 - p), (1 - p) * (1 - q) + p * q
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt((y * stay) ** 2 + 4 * up * down * (1 - y) * (1 + y))
        # two forms of one root, each without cancellation where it is used
        z = np.where(
            y > 0,
            (y * stay + root) / (2 * up * (1 - y)),
            2 * down * (1 + y) / (root - y * stay),
        )
        moment = (1 - p + p * z) * (1 - q + q / z)
        rate = y * np.log(z) - np.log(moment)
    rate = np.where(y == -1, -math.log(down), np.where(y == 1, -math.log(up), rate))
    return np.maximum(rate, 0.0)


def wrong_exponent(p: float, q: float) -> float:
    r"""The exponent kappa of wrong certificates, :math:`\Pr(\text{wrong})=T^{-c\kappa+o(1)}`.

    :math:`\kappa=4\min_{0<y\le1}I(-y)/y^2` with the rate of :func:`lead_rate`.  It is at least
    :math:`4(1+p-q)^2`, and tends to 4 as both means tend to 1/2.

    Parameters
    ----------
    p, q : float
        The means of the better and the worse arm, 0 < q < p < 1.

    Returns
    -------
    float
    """
    from scipy.optimize import minimize_scalar

    p, q = _ordered(p, q)

    def value(y: float) -> float:
        return 4.0 * float(lead_rate(p, q, -y)) / y**2

    grid = np.geomspace(1e-4, 1.0, 400)
    best = int((lead_rate(p, q, -grid) / grid**2).argmin())
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 399)])
    found = minimize_scalar(value, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    return min(float(found.fun), value(1.0))


@dataclass(frozen=True)
class PairedRace:
    """The race of two Bernoulli arms that is looked at when the counts are equal."""

    wrong: float
    """The chance of a certificate for the worse arm."""
    right: float
    """The chance of a certificate for the better arm."""
    pairs: float
    """The expected number of pairs of pulls before the certificate, or the end."""


def paired_race(p: float, q: float, T: int, c: float) -> PairedRace:
    r"""Follow the law of the lead from pair to pair, exactly.

    Mass beyond :math:`\pm2\sqrt{cn\log T}` is certified and leaves.  We stop at T/2 pairs, or
    earlier, when by Hoeffding's inequality wrong certificates of a chance of at most
    :math:`T^{-24c}/(p-q)^2` are still to come.

    Parameters
    ----------
    p, q : float
        The means of the better and the worse arm, 0 < q < p < 1.
    T : int
        The horizon.
    c : float
        The confidence coefficient, > 0.

    Returns
    -------
    PairedRace
    """
    p, q = _ordered(p, q)
    T = horizon_for(T, 2)
    scale = 4.0 * positive_number(c, "c") * math.log(T)
    last = min(T // 2, int(5.0 * scale / (p - q) ** 2) + 100)
    reach = int(math.sqrt(scale * last)) + 2
    lead = np.arange(-reach, reach + 1)
    mass = np.where(lead == 0, 1.0, 0.0)
    up, down = p * (1 - q), q * (1 - p)
    wrong = right = pairs = 0.0
    for n in range(1, last + 1):
        pairs += float(mass.sum())
        moved = (1 - up - down) * mass
        moved[1:] += up * mass[:-1]
        moved[:-1] += down * mass[1:]
        edge = math.sqrt(scale * n)
        wrong += float(moved[lead < -edge].sum())
        right += float(moved[lead > edge].sum())
        mass = np.where(np.abs(lead) > edge, 0.0, moved)
    return PairedRace(wrong, right, pairs)


def wrong_bound(gap: float, T: int, c: float) -> float:
    r"""Bound the chance of a wrong certificate, for any rewards in [0, 1].

    At n and n samples Hoeffding's inequality gives at most :math:`T^{-4c}e^{-n\Delta^2}`, at n + 1
    and n samples :math:`e^\varepsilon` times that, with
    :math:`\varepsilon=2c\log T/(8c\log T-1)^2`.  The sum is at most
    :math:`(1+e^\varepsilon)\,T^{-4c}/\Delta^2`.

    Parameters
    ----------
    gap : float
        The difference of the means, in (0, 1].
    T : int
        The horizon, at least 55.
    c : float
        The confidence coefficient, at least 1/4.

    Returns
    -------
    float
    """
    gap, T, c = _covered(gap, T, c)
    level = c * math.log(T)
    return (1.0 + math.exp(2 * level / (8 * level - 1) ** 2)) * math.exp(-4 * level) / gap**2


def two_arm_bound(gap: float, T: int, c: float = LEAST_C) -> float:
    r"""Bound the expected regret of Algorithm 1 with two arms and one objective.

    Wald's identity bounds the exploration by :math:`4c\log T/\Delta+2`, and a wrong certificate
    costs at most :math:`\Delta T` (:func:`wrong_bound`).  At c = 1/4 this is less than
    :math:`(\log T+2.05)/\Delta+2`.

    Parameters
    ----------
    gap : float
        The difference of the means, in (0, 1].
    T : int
        The horizon, at least 55.
    c : float, optional
        The confidence coefficient, at least 1/4.

    Returns
    -------
    float
    """
    gap, T, c = _covered(gap, T, c)
    return 4.0 * c * math.log(T) / gap + 2.0 + gap * T * wrong_bound(gap, T, c)


def _inside(value: float, name: str) -> float:
    value = probability(value, name)
    if value in (0.0, 1.0):
        raise MomabError(f"{name} must lie strictly between 0 and 1.")
    return value


def _ordered(p: float, q: float) -> tuple[float, float]:
    p, q = _inside(p, "p"), _inside(q, "q")
    if q >= p:
        raise MomabError(f"p must be the larger mean; p is {p:g} and q is {q:g}.")
    return p, q


def _covered(gap: float, T: int, c: float) -> tuple[float, int, float]:
    gap, T, c = probability(gap, "gap"), horizon_for(T, 2), positive_number(c, "c")
    if gap == 0:
        raise MomabError("the gap must be positive.")
    if T < LEAST_T or c < LEAST_C:
        raise MomabError(
            f"the bound holds for T >= {LEAST_T} and c >= 1/4; they are {T} and {c:g}."
        )
    return gap, T, c
