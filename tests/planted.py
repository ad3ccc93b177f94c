"""Width-guided with one mistake in it, for the audit to find.

The selection function spells Algorithm 1 out once more, so that each mistake is one visible line.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab.engine.policies.base import Certificate, top
from momab.model.numerics import log


@dataclass(frozen=True)
class Planted:
    bug: str = "none"
    c: float = 2.0

    family: ClassVar[str] = "planted"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Planted"


def estimates(bug, view):
    """Counts and means, as the policy believes them to be."""
    counts, means = view.counts, view.means
    memory = view.memory
    if bug == "means off by one sample":  # the newest sample is counted but not added
        if memory.get("t") != view.t:
            memory["t"], memory["means"] = view.t, memory.get("next", means.copy())
            memory["next"] = means.copy()
        return counts, memory["means"]
    if bug == "rewards swapped between arms":
        swapped = means.copy()
        swapped[[0, 1]] = means[[1, 0]]
        return counts, swapped
    if bug == "stale count":  # the count of every arm lags behind by one pull
        return np.maximum(counts - 1, 1), means
    return counts, means


def select_planted(policy, view, coin):
    bug = policy.bug
    d = view.d
    objectives = np.arange(d)
    if view.certificate is not None:
        if bug == "strays after the certificate" and view.t % 7 == 0:
            return (view.certificate.arm + 1) % view.K
        return view.certificate.arm
    counts, means = estimates(bug, view)
    T = view.t if bug == "log t instead of log T" else view.horizon
    c = policy.c / 2 if bug == "c off by a factor of two" else policy.c
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
        proved &= view.t % 50 == 0
    if bug == "never certifies":
        proved[:] = False
    if proved.any():
        j = int(np.flatnonzero(proved)[0])
        arm = challenger[j] if bug == "commits to the runner-up" else b[j]
        view.certificate = Certificate(view.t, int(arm), j)
        return int(arm)
    j = int(coin.choose(top(W), slot=0))
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
