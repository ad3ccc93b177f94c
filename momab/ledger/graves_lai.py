"""The ledger's checks of our claims about programs of the kind of Graves and Lai."""

from __future__ import annotations

import numpy as np

from momab.ledger.claims import ClaimOutcome
from momab.model import instances, pareto, theory
from momab.study import graves_lai


def one_answer_at_a_time() -> ClaimOutcome:
    """The program over joint alternatives against the formula, with ties and copies."""
    worst, answers = 0.0, 0
    for K, d in ((2, 1), (3, 2), (4, 2), (5, 3)):
        for mu in instances.random_means(K, d, seed=K + d, levels=9, instances=12):
            means = 0.1 + 0.8 * mu
            found = theory.price(means)
            for a in np.flatnonzero(pareto.gaps(means) == 0):
                if found.per_arm[a] > 0:
                    answers += 1
                    value = graves_lai.answer_price(means, int(a), 40 * K, seed=1)
                    worst = max(worst, abs(value / float(found.per_arm[a]) - 1))
    return ClaimOutcome(worst < 2e-3, {"answers": answers, "worst": worst})


def all_answers_at_once() -> ClaimOutcome:
    """The textbook's value against the price: never above, and far below on specialists."""
    ratio = graves_lai.price_over_textbook(60, 5, 2, seed=1)
    specialists = np.full((4, 3), 0.251)
    specialists[np.arange(3), np.arange(3)], specialists[3] = 0.8, 0.25
    price = float(theory.price(specialists).value)
    far = price / graves_lai.textbook_price(specialists)
    holds = bool(ratio.min() > 1 - 1e-6 and 2.9 < far < 3)
    return ClaimOutcome(holds, {"median": float(np.median(ratio)), "far": far})
