r"""Exact numbers of the form :math:`\sum r_{k,m}\,S^{k/2}\sqrt m` with :math:`S=c\log T`.

All that Algorithm 1 compares has this form: means are rational, radii are
:math:`\sqrt S/\sqrt N`, the bounds are rational multiples of S.  The coefficients are rational, k
is 0, 1 or 2, m is squarefree.  Square roots of different squarefree numbers are linearly
independent over the rationals, and S is transcendental (T = exp(S/c), by Lindemann), so such a
number is zero only if all its coefficients are.  If it is not, an enclosure that is narrow enough
tells its sign.
"""

from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from math import isqrt, log, sqrt


@cache
def squarefree(n):
    """n = s^2 m with m squarefree: (s, m)."""
    s, m = 1, n
    for p in range(2, isqrt(n) + 1):
        while m % (p * p) == 0:
            s, m = s * p, m // (p * p)
    return s, m


@cache
def inverse_root(n):
    """1 / sqrt n = r sqrt m: (m, r)."""
    s, m = squarefree(n)
    return m, Fraction(s, n)


class Surd:
    """One such number; its terms by (k, m), without zeros."""

    def __init__(self, terms):
        self.terms = {key: value for key, value in terms.items() if value}

    @classmethod
    def rational(cls, value):
        return cls({(0, 1): Fraction(value)})

    @classmethod
    def radius(cls, n):
        """sqrt(S / n)."""
        m, factor = inverse_root(n)
        return cls({(1, m): factor})

    @classmethod
    def scale(cls, factor):
        """A multiple of S."""
        return cls({(2, 1): Fraction(factor)})

    def __add__(self, other):
        terms = dict(self.terms)
        for key, value in other.terms.items():
            terms[key] = terms.get(key, 0) + value
        return Surd(terms)

    def __rmul__(self, factor):
        return Surd({key: Fraction(factor) * value for key, value in self.terms.items()})

    def __sub__(self, other):
        return self + (-1) * other


@cache
def logarithm(T, bits):
    """Integers around 2^bits log T; Decimal rounds its logarithm correctly."""
    digits = bits // 3 + 20
    exact = Fraction(Context(prec=digits).ln(Decimal(T)))
    error = Fraction(1, 10 ** (digits - 5))
    low, high = (exact - error) * 2**bits, (exact + error) * 2**bits
    return int(low), int(high) + 1


class Scale:
    """S = c log T, enclosed as narrowly as a comparison asks for."""

    def __init__(self, c, T):
        self.c, self.T = Fraction(c), int(T)
        assert self.c > 0
        assert self.T >= 2

    @cache  # noqa: B019
    def enclosure(self, k, m, bits):
        """Integers around 2^bits S^(k/2) sqrt(m)."""
        if k == 0:
            square = Fraction(m) * 4**bits
            return isqrt(int(square)), isqrt(int(square)) + 1
        low, high = (self.c * x for x in logarithm(self.T, bits))
        if k == 2:
            return int(low), int(high) + 1
        return isqrt(int(low * m * 2**bits)), isqrt(int(high * m * 2**bits) + 1) + 1

    @cache  # noqa: B019
    def double(self, k, m):
        """S^(k/2) sqrt(m), rounded."""
        return (float(self.c) * log(self.T)) ** (k / 2) * sqrt(m)

    def sign(self, number):
        """-1, 0 or 1.

        Doubles are right to about 1e-15 of the largest term, so a sum above 1e-9 of all terms
        has the right sign; what is closer is enclosed in integers.
        """
        if not number.terms:
            return 0
        rough = [float(value) * self.double(*key) for key, value in number.terms.items()]
        if abs(sum(rough)) > 1e-9 * sum(map(abs, rough)):
            return 1 if sum(rough) > 0 else -1
        bits = 64
        while True:
            low = high = Fraction(0)
            for (k, m), value in number.terms.items():
                ends = self.enclosure(k, m, bits)
                low += value * ends[value < 0]
                high += value * ends[value > 0]
            if low > 0:
                return 1
            if high < 0:
                return -1
            bits *= 2

    def le(self, x, y):
        """x <= y."""
        return self.sign(y - x) >= 0

    def lt(self, x, y):
        """x < y."""
        return self.sign(y - x) > 0
