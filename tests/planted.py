"""Width-guided with one mistake in it, for the audit to find.

The policy spells Algorithm 1 out once more, so that each mistake is one visible line.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab.engine.policies.base import Policy
from momab.engine.tools import choose_top, commit
from momab.model.numerics import log


@dataclass(frozen=True)
class Planted(Policy):
    bug: str = "none"
    c: float = 2.0

    family: ClassVar[str] = "planted"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Planted"
    compiled: ClassVar[bool] = False

    def start(self):
        self.memory, self.stored = {}, None

    def select(self, t, coin):
        return select_planted(self, t, coin)


def estimates(bug, view, t):
    """Counts and means, as the policy believes them to be."""
    counts, means = view.counts, view.means
    memory = view.memory
    if bug == "means off by one sample":  # the newest sample is counted but not added
        if memory.get("t") != t:
            memory["t"], memory["means"] = t, memory.get("next", means.copy())
            memory["next"] = means.copy()
        return counts, memory["means"]
    if bug == "rewards swapped between arms":
        swapped = means.copy()
        swapped[[0, 1]] = means[[1, 0]]
        return counts, swapped
    if bug == "stale count":  # the count of every arm lags behind by one pull
        return np.maximum(counts - 1, 1), means
    return counts, means


def select_planted(view, t, coin):
    bug = view.bug
    objectives = np.arange(view.d)
    if view.stored is not None:  # the driver would keep a commitment, so it does not hear of one
        return (view.stored + 1) % view.K if t % 7 == 0 else view.stored
    counts, means = estimates(bug, view, t)
    T = t if bug == "log t instead of log T" else view.T
    c = view.c / 2 if bug == "c off by a factor of two" else view.c
    beta = np.sqrt(c * log(T) / counts)
    U, L = means + beta[:, None], means - beta[:, None]
    ranked = np.argsort(-(means if bug == "leaders by mean" else U), axis=0, kind="stable")
    b, challenger = ranked[0], ranked[1]
    if bug == "challenger is the third best":
        challenger = ranked[min(2, view.K - 1)]
    if bug == "challenger is the leader's neighbour":
        challenger = (b + 1) % view.K
    W = beta[b] + beta[challenger]
    rival = L if bug == "certificate against L_c" else U
    lower, upper = L[b, objectives], rival[challenger, objectives]
    proved = lower >= upper if bug == "certificate with >=" else lower > upper
    if bug == "certificate of the widest objective only":
        proved &= objectives == W.argmax()
    if bug == "overlooks certificates":
        proved &= t % 50 == 0
    if bug == "never certifies":
        proved[:] = False
    if proved.any():
        j = int(np.flatnonzero(proved)[0])
        arm = challenger[j] if bug == "commits to the runner-up" else b[j]
        if bug == "strays after the certificate":
            view.stored = int(arm)
        else:
            commit(view, t, int(arm), j, view.T)
        return int(arm)
    j = choose_top(W, 0, coin)
    if bug == "narrowest objective":
        j = int(W.argmin())
    if bug == "first objective only":
        j = 0
    pair = np.array([b[j], challenger[j]])
    if bug == "smaller radius":
        return int(pair[beta[pair].argmin()])
    if bug == "the last arm again and again":
        return view.K - 2  # the fourth of five: the worst
    if bug == "always the leader":
        return int(b[j])
    return int(pair[beta[pair].argmax()])
