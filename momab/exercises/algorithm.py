"""The exercises of the chapter on the algorithm: a race, a decision, a whole run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momab.engine.loop import play_rewards
from momab.engine.policies.base import Given, seat
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import coins_for
from momab.engine.tools import OBJECTIVE, UNTIL, choose_top
from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import counts, moved, near, unit, whole
from momab.model.theory import confidence_radius

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


# ---- algorithm-2: how long a race takes ----------------------------------------------------


def pulls_needed(lead: float, horizon: int, c: float) -> int:
    """The least n for which two arms with n pulls each and means ``lead`` apart certify."""
    n = max(1, math.floor(4 * c * math.log(horizon) / lead**2))
    while not lead > 2 * float(confidence_radius(n, horizon, c)):
        n += 1
    return n


def _least_above(number: float) -> int:
    return max(1, math.floor(number) + 1)


# ---- algorithm-3: one decision -------------------------------------------------------------


def decide(counts: Counts, means: Array, horizon: int, c: float) -> tuple[bool, int, int]:
    """What Algorithm 1 does next: (certified, objective, arm); ties go to the lowest index."""
    coin = coins_for("", seed=0)  # no coins: the first of ties
    player = seat(WidthGuided(c=c), means.shape[0], means.shape[1], horizon, Given(1, 0))
    player.counts[:], player.means[:] = counts, means
    for a in range(len(counts)):
        player.moved(a)
    arm = int(player.select(0, coin))  # counts may add up to more than the horizon
    if player.commitment[UNTIL] >= 0:
        return True, int(player.commitment[OBJECTIVE]), arm
    return False, int(choose_top(player.W, 0, coin)), arm


@dataclass(frozen=True)
class _Wrong:
    """A reader of Algorithm 1 who has misread one line of it."""

    by_means: bool = False
    smaller_radius: bool = False
    narrowest: bool = False
    never_certify: bool = False

    def __call__(
        self, counts: Counts, means: Array, horizon: int, c: float
    ) -> tuple[bool, int, int]:
        beta = confidence_radius(counts, horizon, c)
        upper, lower = means + beta[:, None], means - beta[:, None]
        pairs = np.argsort(-(means if self.by_means else upper), axis=0, kind="stable")[:2]
        each = np.arange(means.shape[1])
        proved = np.flatnonzero(lower[pairs[0], each] > upper[pairs[1], each])
        width = beta[pairs].sum(axis=0)
        if len(proved) and not self.never_certify:
            j = proved[width[proved].argmax()]
            return True, int(j), int(pairs[0, j])
        j = int(width.argmin() if self.narrowest else width.argmax())
        pair = np.sort(pairs[:, j])
        pick = beta[pair].argmin() if self.smaller_radius else beta[pair].argmax()
        return False, j, int(pair[pick])


# ---- algorithm-6: a whole run --------------------------------------------------------------


def play_algorithm(rewards: Array, horizon: int, c: float) -> list[int]:
    """The arms that Algorithm 1 pulls when arm a's i-th reward vector is ``rewards[a, i]``."""
    pulled, certificate = play_rewards(
        WidthGuided(c=c), np.asarray(rewards), horizon, Given(1, 0), coins_for("", seed=0)
    )
    if certificate is not None:
        pulled += [certificate.arm] * (horizon - len(pulled))
    return pulled


@dataclass(frozen=True)
class _WrongRun:
    """A program for the whole run with one mistake in its bookkeeping."""

    by_round: bool = False
    forgets: bool = False
    never_commits: bool = False

    def __call__(self, rewards: Array, horizon: int, c: float) -> list[int]:
        arms, _, d = rewards.shape
        counts, sums = np.zeros(arms, dtype=np.int64), np.zeros((arms, d))
        decide_as_told = _Wrong(never_certify=self.never_commits)
        stored, pulled = -1, []
        for t in range(horizon):
            if t < arms:
                arm = t
            elif stored >= 0:
                arm = stored
            else:
                certified, _, arm = decide_as_told(counts, sums / counts[:, None], horizon, c)
                stored = arm if certified and not self.forgets else -1
            sums[arm] += rewards[arm, t if self.by_round else counts[arm]]
            counts[arm] += 1
            pulled.append(arm)
        return pulled


# ---- cases ---------------------------------------------------------------------------------


def _state(counts: Sequence[int], means: Sequence[Sequence[float]]) -> tuple[Counts, Array]:
    return np.array(counts, dtype=np.int64), np.array(means)


_RNG = np.random.default_rng(5)
_SINGLE = _state([40, 90, 25], [[0.62], [0.7], [0.2]])
_HIDDEN = _state([4, 400, 300], [[0.3], [0.7], [0.6]])  # the least known arm has the highest U
_SEVERAL = _state([60, 30, 45, 80], [[0.8, 0.3], [0.4, 0.7], [0.5, 0.6], [0.7, 0.75]])
_MANY = (_RNG.integers(20, 200, 6), _RNG.random((6, 4)).round(3))
_PROOF = _state([500, 400, 300], [[0.9, 0.5], [0.3, 0.55], [0.2, 0.5]])
_TWO_PROOFS = _state([900, 300, 250], [[0.95, 0.1], [0.2, 0.05], [0.1, 0.9]])
_NEARLY = _state([200, 200, 150], [[0.75, 0.5], [0.45, 0.45], [0.2, 0.4]])
_SHORT = _state([8, 1, 2], [[1.0], [0.5], [0.0]])  # the logarithm of a short horizon decides
_JUST = _state([1, 4], [[0.5, 0.25], [0.0, 0.25]])
_UNKNOWN = _state([7, 1, 6], [[0.25, 0.75], [0.0, 0.75], [0.0, 0.75]])  # leads by its radius
_CHALLENGERS = _state([1, 1, 1], [[0.25], [0.5], [0.25]])  # two of them are tied
_EQUALS = _state([7, 3, 7], [[0.25], [0.0], [0.5]])  # the leader comes last, with an equal radius
_PAIR = _state([3, 1, 1], [[0.0], [0.5], [0.75]])
_FRESH = _state([1, 1, 1, 1], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


def _rewards(means: Sequence[Sequence[float]], n: int) -> Array:
    table = np.array(means)
    drawn: NDArray[np.bool_] = _RNG.random((len(table), n, table.shape[1])) < table[:, None, :]
    return drawn.astype(np.float64)


# the second arm shines at first, and fades as soon as it is stored
_FADING = np.array([[n % 2, n < 10] for n in range(60)], dtype=np.float64).T[:, :, None]
_LINE = _rewards([[0.9], [0.3]], 60)
_PLANE = _rewards([[0.9, 0.3], [0.4, 0.6], [0.2, 0.5]], 90)
_LONG = _rewards([[0.5, 0.5, 0.3], [0.45, 0.55, 0.35], [0.5, 0.4, 0.4], [0.3, 0.3, 0.3]], 80)


EXERCISES: tuple[Exercise, ...] = (
    function(
        "algorithm-2",
        pulls_needed,
        [
            Case(
                "the paper's coefficient",
                ((0.5, 10_000, 2.0), (0.1, 10_000, 2.0)),
                "Write the certificate for two arms with the same radius: how far apart must the "
                "means be?",
            ),
            Case(
                "other coefficients and horizons",
                ((0.3, 1_000, 0.5), (0.25, 1_000_000, 0.02), (0.45, 50, 1.0), (0.3, 5, 1.0)),
                "The radius is the square root of c log T / n, with the natural logarithm.",
            ),
            Case(
                "a large lead needs one pull at least",
                ((1.0, 50, 0.02), (0.9, 20, 0.05)),
                "The answer is a whole number, and an arm has no mean before its first pull.",
            ),
        ],
        [
            Slip(
                lambda lead, horizon, c: _least_above(c * math.log(horizon) / lead**2),
                "Your race ends when the lead exceeds one radius; the leader's lower bound and the "
                "challenger's upper bound move by one radius each.",
            ),
            Slip(
                lambda lead, horizon, c: _least_above(2 * c * math.log(horizon) / lead**2),
                "Two radii together, yes, but the 2 is squared with the lead when you solve for n.",
            ),
            Slip(
                lambda lead, horizon, c: _least_above(4 * c * math.log10(horizon) / lead**2),
                "The logarithm of the radius is the natural one.",
            ),
        ],
        vary=[near(most=1.0), whole(), near()],
    ),
    function(
        "algorithm-3",
        decide,
        [
            Case(
                "one objective, no certificate",
                ((*_SINGLE, 1_000, 2.0), (*_HIDDEN, 1_000, 2.0), (*_SHORT, 16, 0.05)),
                "Leader and challenger have the two highest upper bounds; pull the one that is "
                "known less.",
            ),
            Case(
                "several objectives, no certificate",
                (
                    (*_SEVERAL, 10_000, 1.0),
                    (*_MANY, 10_000, 2.0),
                    (*_MANY, 1_000, 1.0),
                    (*_UNKNOWN, 17, 0.05),
                ),
                "Every objective has a race of its own; the widest one is sampled.",
            ),
            Case(
                "certificates, found and missed",
                (
                    (*_PROOF, 1_000_000, 2.0),
                    (*_NEARLY, 1_000, 0.5),
                    (*_NEARLY, 1_000_000, 0.5),
                    (*_JUST, 9, 0.05),
                ),
                "Compare the leader's lower bound with the challenger's upper bound on the same "
                "objective.",
            ),
            Case(
                "several objectives certify at once",
                ((*_TWO_PROOFS, 1_000, 0.5),),
                "Among the races that certify, the widest is taken.",
            ),
            Case(
                "ties go to the lowest index",
                (
                    (*_FRESH, 1_000, 2.0),
                    (*_CHALLENGERS, 9, 0.05),
                    (*_EQUALS, 22, 0.05),
                    (*_PAIR, 9, 0.05),
                ),
                "With equal bounds the arm, and with equal widths the objective, that comes first.",
            ),
        ],
        [
            Slip(
                _Wrong(by_means=True),
                "You chose leader and challenger by their means; the races are between the highest "
                "upper bounds.",
            ),
            Slip(
                _Wrong(smaller_radius=True),
                "You pull the arm of the pair that is known better; the other one has more to "
                "tell.",
            ),
            Slip(
                _Wrong(narrowest=True),
                "You sample the narrowest race; the algorithm works where most is unknown.",
            ),
        ],
        vary=[counts("K"), unit("Kd"), whole(), near()],
    ),
    function(
        "algorithm-6",
        play_algorithm,
        [
            Case(
                "one objective, two arms",
                ((_LINE, 60, 0.1),),
                "Start with one pull of each arm, then repeat the decision of exercise 3 with the "
                "counts and means of the moment.",
            ),
            Case(
                "several objectives, and a commitment",
                ((_PLANE, 90, 0.1), (_PLANE, 90, 0.05)),
                "A pull updates all objectives of the arm at once, and a stored arm is pulled to "
                "the end.",
            ),
            Case(
                "the stored arm is pulled at once, and kept when its luck turns",
                ((_FADING, 60, 0.1),),
                "After the certificate nothing is looked at any more.",
            ),
            Case(
                "a long exploration",
                ((_LONG, 80, 0.3), (_LONG, 80, 2.0)),
                "The i-th pull of an arm returns its own i-th reward, whatever the round.",
            ),
        ],
        [
            Slip(
                _WrongRun(by_round=True),
                "You index the rewards by the round; an arm's rewards wait on their shelf until "
                "the arm itself is pulled.",
            ),
            Slip(
                _WrongRun(forgets=True),
                "You test the certificate again in every round; once an arm is stored it is pulled "
                "to the end, whatever comes.",
            ),
            Slip(
                _WrongRun(never_commits=True),
                "Your run never commits: after a certificate the stored arm is pulled for good.",
            ),
        ],
        vary=[moved("K.d"), whole(0.8, 1.0), near()],
    ),
)
