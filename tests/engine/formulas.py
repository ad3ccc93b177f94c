"""Every policy once more, by its formulas and with NumPy: nothing is kept from round to round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.engine.policies.anytime import epoch_end
from momab.engine.policies.kl_ucb import bisected_index
from momab.engine.policies.pareto_thompson import beta_draw
from momab.engine.policies.sticky_imed import fifth_root
from momab.engine.policies.width_guided import kl_apart
from momab.engine.streams import Coins
from momab.engine.tools import TIE, choose
from momab.model import pareto
from momab.model.numerics import log, log_each


def top(values: Any) -> NDArray[np.intp]:
    """The indices of all values within TIE of the largest."""
    return np.flatnonzero(values >= np.max(values) - TIE)


def one_of(items: Sequence[int] | NDArray[np.intp], slot: int, coin: Coins) -> int:
    return int(items[choose(len(items), slot, coin)])


def width_guided(player: Any, t: int, coin: Coins) -> int:
    """Algorithm 1; the anytime version has the end of its epoch in the place of T."""
    m, d, anytime = player.means, player.d, player.family == "anytime-width-guided"
    clog = player.c * log(epoch_end(t) if anytime else player.T)
    beta = np.sqrt(clog / player.counts)
    U, L = m + beta[:, None], m - beta[:, None]
    b = np.array([one_of(top(U[:, j]), 2 * j, coin) for j in range(d)])
    others = U.copy()
    others[b, np.arange(d)] = -np.inf
    c = np.array([one_of(top(others[:, j]), 2 * j + 1, coin) for j in range(d)])
    proved, winner = L[b, np.arange(d)] > U[c, np.arange(d)], b.copy()
    if player.kl:
        for j in np.flatnonzero(~proved):
            best = winner[j] = m[:, j].argmax()
            arms = list(zip(m[:, j].tolist(), beta.tolist(), player.counts.tolist()))
            rest = [arm for a, arm in enumerate(arms) if a != best]
            proved[j] = all(kl_apart(arms[best], arm, 2.0 * clog) for arm in rest)
    W = beta[b] + beta[c]
    if proved.any():
        some = np.flatnonzero(proved)
        return int(winner[one_of(some[top(W[some])], 2 * d, coin)])
    rule = "widest" if anytime else player.objective_rule
    j = {
        "widest": lambda: one_of(top(W), 2 * d + 1, coin),
        "random": lambda: one_of(range(d), 2 * d + 1, coin),
        "round-robin": lambda: (t - player.K) % d,
        "oracle": lambda: player.champion_objective,
    }[rule]()
    pair = np.sort([b[j], c[j]])
    return one_of(pair[top(beta[pair])], 2 * d + 2, coin)


def pareto_ucb1(player: Any, t: int, coin: Coins) -> int:
    m, K, d = player.means, player.K, player.d
    if player.stop:
        beta = np.sqrt(player.stop_c * log(player.T) / player.counts)
        width = np.full(d, -np.inf)
        for j in range(d):
            a = int((m[:, j] + beta).argmax())
            rivals = np.delete(m[:, j] + beta, a)
            if m[a, j] - beta[a] > rivals.max():
                width[j] = beta[a] + np.delete(beta, a)[rivals >= rivals.max() - TIE].max()
        if width.max() > -np.inf:
            j = one_of(top(width), 1, coin)
            return int((m[:, j] + beta).argmax())
    size = {"original": d * player.front_size, "real": d * K, "synthetic": 4 * d * K}
    q = np.sqrt(np.sqrt(size[player.q])) if isinstance(player.q, str) else player.q
    radius = np.sqrt(player.c * log(t * q) / player.counts)
    return one_of(np.flatnonzero(pareto.front(m + radius[:, None])), 0, coin)


def annealing(player: Any, t: int, coin: Coins) -> int:
    """``held`` is the set of candidates of the round before, which the test keeps."""
    m = player.means
    power = np.multiply.accumulate([1.0, *[player.decay] * (t - player.K)])[-1]
    near = (m >= m.max(axis=0) - power / (player.K * player.d)).any(axis=1)
    before = vars(player).get("held", np.ones(player.K, dtype=np.bool_))
    player.held = near | (before & pareto.front(m))
    return one_of(np.flatnonzero(player.held), 0, coin)


def scalarized(player: Any, t: int, coin: Coins) -> int:
    weights = player.matrix(player.d)
    score = np.zeros(player.K)
    for j in range(player.d):
        score += weights[(t - player.K) % len(weights)][j] * player.means[:, j]
    return one_of(top(score + np.sqrt(player.c * log(player.T) / player.counts)), 0, coin)


def watched(player: Any, coin: Coins) -> int:
    """The objective; a random one is what the coin of the first decision drew."""
    if player.objective == "oracle":
        return int(player.champion_objective)
    first = coin._replace(t=np.array([player.K]))
    return choose(player.d, 1, first) if player.objective == "random" else int(player.objective)


def single_ucb1(player: Any, t: int, coin: Coins) -> int:
    means = player.means[:, watched(player, coin)]
    return one_of(top(means + np.sqrt(player.c * log(t) / player.counts)), 0, coin)


def kl_ucb(player: Any, t: int, coin: Coins) -> int:
    means, counts = player.means[:, watched(player, coin)], player.counts.tolist()
    index = [bisected_index(float(p), n, log(t)) for p, n in zip(means, counts)]
    return min(range(player.K), key=lambda a: (-index[a], counts[a], a))


def imed_tables(player: Any) -> tuple[Any, Any]:
    """The evidence [b, a] of Pareto IMED, and the leads [c, b], from the means alone."""
    m, K = player.means, player.K
    with np.errstate(invalid="ignore", divide="ignore"):
        one = np.where(m > 0, log_each(m), 0.0)
        zero = log_each(1.0 - m)
        h = np.where(m < 1, m * one + (1.0 - m) * zero, 0.0)
        D = np.zeros((K, K))
        for j in range(player.d):
            p, q = m[:, None, j], m[None, :, j]
            kl = h[:, None, j] - (p * one[None, :, j] + (1.0 - p) * zero[None, :, j])
            kl = np.where(p < q, np.maximum(kl, 2.0 * (q - p) * (q - p)), 0.0)
            D = D + kl if player.evidence == "sum" else np.maximum(D, kl)
    return D, (m[:, None, :] - m[None, :, :]).min(axis=2)


def least_index(player: Any, D: Any, candidate: int, coin: Coins) -> int:
    index = player.counts * D[:, candidate] + log_each(player.counts.astype(float))
    return one_of(top(-index), 1, coin)


def pareto_imed(player: Any, t: int, coin: Coins) -> int:
    D, leads = imed_tables(player)
    with np.errstate(divide="ignore"):
        each = np.where(D > 0.0, 1.0 / D, 0.0)
    gaps, price = leads.max(axis=0), np.zeros(player.K)
    for b in np.flatnonzero(gaps > TIE):
        price += gaps[b] * each[b]
    candidate = one_of(top(np.where(gaps > TIE, -np.inf, -price)), 0, coin)
    return least_index(player, D, candidate, coin)


def sticky_imed(player: Any, t: int, coin: Coins) -> int:
    """``target_before`` is the target of the round before, which the test keeps."""
    D, leads = imed_tables(player)
    gaps, price, n = leads.max(axis=0), np.zeros(player.K), int(player.counts.min())
    for b in np.flatnonzero(gaps > TIE):
        price += gaps[b] / (D[b] + 1.0 / np.sqrt(np.sqrt(n)))
    among = np.where(gaps > TIE, np.inf, price)
    z = vars(player).get("target_before", -1)
    if z < 0 or price[z] > (1.0 + 1.0 / fifth_root(n)) * among.min():
        z = one_of(top(-among), 0, coin)
    player.target_before = z
    candidate = one_of(top(leads[:, z]), 2, coin) if gaps[z] > TIE else z
    return least_index(player, D, candidate, coin)


def moss(player: Any, t: int, coin: Coins) -> int:
    d = player.d if player.number == "average" else 1
    average = np.add.accumulate(player.means[:, :d], axis=1)[:, -1] / d
    spread = np.maximum(log_each(player.T / (player.K * player.counts)), 0.0)
    return one_of(top(average + np.sqrt(spread / (d * player.counts))), 0, coin)


def pareto_thompson(player: Any, t: int, coin: Coins) -> int:
    K, d = player.K, player.d
    drawn = np.zeros((K, d))
    for a, (n, row) in enumerate(zip(player.counts.tolist(), player.sums.tolist())):
        for j, total in enumerate(row):
            drawn[a, j] = beta_draw(1.0 + total, 1.0 + (n - total), coin, a * d + j, K * d)
    return one_of(np.flatnonzero(pareto.front(drawn)), 0, coin)


FORMULAS: dict[str, Callable[[Any, int, Coins], int]] = {
    "width-guided": width_guided,
    "anytime-width-guided": width_guided,
    "pareto-ucb1": pareto_ucb1,
    "annealing-pareto": annealing,
    "scalarized-ucb": scalarized,
    "single-ucb1": single_ucb1,
    "kl-ucb": kl_ucb,
    "pareto-imed": pareto_imed,
    "sticky-imed": sticky_imed,
    "moss": moss,
    "pareto-thompson": pareto_thompson,
}
