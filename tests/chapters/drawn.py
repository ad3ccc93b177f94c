"""Admissible parameter values of a page, the ends of their ranges among them."""

import math
import random
from collections.abc import Mapping

from momab.book.parameters import Parameter, Value, Values

# What a page's time grows with. One of them may be large where the others are small.
COSTLY = {
    "audited", "drawn", "draws", "flips", "frames", "horizon", "many", "pulls", "rounds", "runs",
    "searched", "share_runs", "table_horizon", "tied_horizon",
}  # fmt: skip
SIZES = {"arms", "objectives"}  # these, too, but they take all their values
BUDGET = 0.5  # of the cost of the defaults, at most
LEAST = 0.02


def parameter_sets(name: str, parameters: Mapping[str, Parameter], count: int) -> list[Values]:
    """Up to so many sets: all lowest, all highest, and then every value for itself.

    Texts that may be anything keep their default.  The product of what costs time, as a multiple
    of the defaults, stays within a budget: "highest" is the highest that a test can pay.
    """
    rng = random.Random(name)
    sets: list[Values] = []
    for number in range(count):
        where = {0: "low", 1: "high"}.get(number)
        budget = BUDGET
        values: Values = {}
        shuffled = rng.sample([parameters[key] for key in sorted(parameters)], len(parameters))
        for parameter in sorted(shuffled, key=lambda p: p.name in COSTLY):
            value = draw(parameter, where or rng.choice(WHERE), budget, rng)
            if parameter.name in COSTLY | SIZES and parameter.kind == "int":
                budget = max(budget / max(value / parameter.default, LEAST), LEAST)
            values[parameter.name] = value
        if values not in sets:
            sets.append(values)
    return sets


WHERE = ("low", "high", "default", "between", "between", "between")


def draw(parameter: Parameter, where: str, budget: float, rng: random.Random) -> Value:
    """One value: an end of the range, the default, or one between them on a log scale."""
    if parameter.kind == "bool":
        return parameter.default  # whether data are there is another test's matter
    if parameter.choices:
        return {"low": parameter.choices[0], "high": parameter.choices[-1]}.get(
            where, rng.choice(parameter.choices)
        )
    if parameter.interval is None or (where == "default" and parameter.name not in COSTLY):
        return parameter.default
    if parameter.kind.startswith("list"):
        count = {"low": 1, "high": 8}.get(where, rng.randint(1, 6))
        return sorted(number(parameter, "between", math.inf, rng) for _ in range(count))
    return number(parameter, where, budget if parameter.name in COSTLY else math.inf, rng)


def number(parameter: Parameter, where: str, budget: float, rng: random.Random) -> int | float:
    low, high = parameter.interval.low, parameter.interval.high
    if budget < math.inf:
        high = max(low, min(high, parameter.default * budget))
    if low == 0:
        low = 1e-3 * high if parameter.kind == "float" else 0
    if where == "default":
        value = min(parameter.default, high)
    elif where in ("low", "high"):
        value = {"low": low, "high": high}[where]
    elif low > 0:
        value = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        value = rng.uniform(low, high)
    value = min(max(value, low), high)
    return int(value) if parameter.kind == "int" else float(f"{value:.4g}")
