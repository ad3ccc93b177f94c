"""The ledger's checks of our claims about the worst case."""

from __future__ import annotations

import numpy as np

from momab.ledger.claims import ClaimOutcome
from momab.model import imed, instances, pareto
from momab.study import minimax


def half_inverse_gaps() -> ClaimOutcome:
    """U against the sum of inverse gaps, with ties and means at 0 and 1, both evidences."""
    largest, count = 0.0, 0
    for K, d, levels in ((2, 1, 5), (4, 2, 11), (6, 3, None), (5, 30, None)):
        for mu in instances.random_means(K, d, seed=K + d, levels=levels, instances=150):
            gaps = pareto.gaps(mu)
            if not (gaps > 0).any():
                continue
            count += 1
            bound = float((0.5 / gaps[gaps > 0]).sum())
            largest = max(largest, *(imed.worst_price(mu, k) / bound for k in ("sum", "max")))
    return ClaimOutcome(largest <= 1 + 1e-12, {"count": count, "largest": largest})


def worst_case() -> ClaimOutcome:
    """MOSS on the average and on one objective, between the two sides of the theorem."""
    K, T = 8, 2_000
    table = minimax.ratio_table((K,), (1, 16), T, 60, seed=1)
    ratio = {(row["d"], row["rule"]): row["mean"] for row in table.to_dict("records")}
    one, average = ratio[16, "one objective"], ratio[16, "the average"]
    search = float(minimax.searching_regret(K, 4_000, 1).mean())
    inside = 1 / 19 <= average <= 19.5 + K / np.sqrt(K * T / 16)
    return ClaimOutcome(
        holds=bool(inside and 2 < one / average < 8 and abs(search - (K - 1) / 2) < 0.2),
        numbers={"average": average, "one": one, "search": search},
    )
