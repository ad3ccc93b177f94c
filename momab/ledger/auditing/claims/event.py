"""The confidence event: at which decisions all intervals hold, on both sides or on one."""

from __future__ import annotations

import numpy as np

from momab._util.validate import BoolArray
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.report import Finding
from momab.model import pareto

EVENTS = ("two-sided", "one-sided")


def audit_event(session: Session) -> BoolArray:
    """Scan every (arm, sample count); returns which decisions have all intervals hold.

    An arm's interval changes only when it is pulled, so n + K intervals per objective
    cover all n rounds.
    """
    trace, event = session.trace, session.event
    K, n = trace.K, trace.recorded
    # one front maximiser per objective, whose lower side the proofs use
    champions = (session.maximisers & pareto.front(trace.means)[:, None]).argmax(axis=0)
    outside = np.zeros((2, n + 1), dtype=np.int64)
    first: tuple[int, Finding] | None = None
    for a in range(K):
        rounds = np.flatnonzero(trace.arms == a)
        ends = np.append(rounds[1:], n - 1) + 1
        carry = np.zeros((1, trace.d))
        is_champion = champions == a
        for lo in range(0, len(rounds), 1 << 15):
            part = rounds[lo : lo + (1 << 15)]
            stops = ends[lo : lo + (1 << 15)]
            partial = np.cumsum(np.concatenate([carry, trace.rewards[part]]), axis=0)
            carry = partial[-1:]
            samples = np.arange(lo + 1, lo + len(part) + 1)
            radius = np.sqrt(trace.scale / samples)
            deviation = partial[1:] / samples[:, None] - trace.means[a]
            # the last count of the last round is never used by a decision
            used = np.minimum(stops, n) > np.maximum(part + 1, K)
            if not used.any():
                continue
            size = np.abs(deviation).max(axis=1)
            event.tightest = min(event.tightest, float((radius - size)[used].min()))
            away = (size > radius) & used
            signed = np.where(is_champion, -deviation, deviation).max(axis=1)
            away_one_sided = (signed > radius) & used
            for side, mask in enumerate((away, away_one_sided)):
                np.add.at(outside[side], np.maximum(part[mask] + 1, K), 1)
                np.add.at(outside[side], stops[mask], -1)
            for i in np.flatnonzero(away)[:1]:
                t = int(max(part[i] + 1, K))
                j = int(np.abs(deviation[i]).argmax())
                what = f"arm {a}, objective {j}, {samples[i]} samples: |mean - mu| > beta"
                if first is None or t < first[0]:
                    at = Finding(trace.name, t, float(size[i]), float(radius[i]), what)
                    first = (t, at)
    inside = np.cumsum(outside, axis=1)[:, :n] == 0
    lost = (~inside[:, K:]).sum(axis=1)
    event.decisions += n - K
    event.outside += int(lost[0])
    event.outside_one_sided += int(lost[1])
    if first is not None:
        event.failures += 1
        event.first = event.first or first[1]
    return np.asarray(inside[EVENTS.index(session.claimed_on)])
