"""A recorded run of the engine, replayed through the relation of the formal proofs."""

from dataclasses import dataclass, field
from fractions import Fraction

from tests.proofs.relation import History, Instance
from tests.proofs.surds import Scale, Surd


@dataclass
class Replay:
    """How many steps were taken, what was checked how often, and what went wrong."""

    decisions: int = 0
    certified: int = 0
    event: bool = True
    checked: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)

    def check(self, name, t, holds):
        self.checked[name] = self.checked.get(name, 0) + 1
        if not holds:
            self.wrong.append((name, t))


def replay(trace, until_wrong=False):
    """Is every step a step of the relation, and does every lemma hold where its event does?"""
    instance = Instance(trace.means)
    history = History(instance, Scale(Fraction(trace.c), trace.horizon))
    found, stored, explored = Replay(), None, [0] * instance.K
    for t, (arm, x) in enumerate(zip(trace.arms.tolist(), trace.rewards.tolist())):
        if until_wrong and found.wrong:
            return found
        if t < instance.K:
            found.check("warm", t, arm == t)
        elif stored is not None:
            found.check("stay", t, arm == stored)
            found.event &= history.inside()
        else:
            found.decisions += 1
            inside = history.inside()
            found.event &= inside
            stored = _decide(found, history, trace, t, arm, inside)
            explored[arm] += stored is None
        history.pull(arm, x)
    if found.event:
        _theorems(found, history, explored, stored, t)
    return found


def _decide(found, history, trace, t, arm, inside):
    """One decision without a stored arm: what is stored after it."""
    certificates = history.certificates()
    if certificates:
        reported = trace.certificate
        told = reported is not None and (reported.t, reported.arm) == (t, arm)
        found.check("certify", t, told and (arm, reported.objective) in certificates)
        found.certified += 1
        if inside:
            for b, j in certificates:
                _lemma_9(found, history.instance, t, b, j)
        return arm
    witnesses = history.explorations(arm)
    unreported = trace.certificate is None or trace.certificate.t != t
    found.check("explore", t, bool(witnesses) and unreported)
    if inside:
        for witness in witnesses:
            _lemma_10(found, history, t, arm, *witness)
            _lemma_11(found, history, t, arm, *witness)
    return None


def _lemma_9(found, instance, t, b, j):
    proved = instance.unique_maximiser(b, j) and instance.pareto_optimal(b)
    found.check("lemma_9", t, proved and instance.gap(b) == 0)


def _lemma_10(found, history, t, a, j, b, e):
    instance, le, beta = history.instance, history.scale.le, history.beta(a)
    deficit = Surd.rational(instance.deficit(a, j))
    found.check("lemma_10", t, le(Surd.rational(instance.gap(a)), 4 * beta))
    found.check("lemma_10_deficit", t, le(deficit, 4 * beta))
    others = [w for w in range(instance.K) if w != b and instance.maximiser(w, j)]
    if a == b or others:
        found.check("lemma_10_two", t, le(deficit, 2 * beta))
    if a == e:
        found.check("charge_challenger_width", t, le(deficit, 2 * history.width(b, e)))


def _lemma_11(found, history, t, a, j, b, e):
    instance, le, g = history.instance, history.scale.le, history.instance.g_dagger()
    if g == 0:
        return
    half = Surd.rational(g / 2)
    found.check("lemma_11", t, le(half, history.width(b, e)))
    found.check("lemma_11_radius", t, le(half, 2 * history.beta(a)))
    for i in range(instance.d):
        if instance.lead(i) == g:
            pairs = history.races(i)
            found.check("lemma_11_champion", t, all(le(half, history.width(*p)) for p in pairs))


def _theorems(found, history, explored, stored, t):
    """The pathwise theorems, on the event, with 16 c log T = 16 S."""
    instance, scale = history.instance, history.scale
    g, arms = instance.g_dagger(), range(instance.K)
    gaps = [instance.gap(a) for a in arms]
    regret = Surd.rational(sum(gaps[a] * history.count[a] for a in arms))
    warm = Surd.rational(instance.K * instance.gap_max())
    levels = {
        "sharper_bound": gaps,
        "deficit_bound": [instance.least_deficit(a) for a in arms],
    }
    for name, level in levels.items():
        most = [max(level[a], g) for a in arms]
        for a in arms:
            if most[a] > 0:
                bound = Surd.scale(Fraction(16) / most[a] ** 2)
                found.check(f"{name}: pulls", t, scale.le(Surd.rational(explored[a]), bound))
        middle = sum((gaps[a] / most[a] ** 2 for a in arms if gaps[a] > 0), Fraction(0))
        found.check(name, t, scale.le(regret, warm + Surd.scale(16 * middle)))
    if g > 0:
        bound = warm + Surd.scale(16 * instance.K / g)
        found.check("half_of_theorem_4", t, scale.le(regret, bound))
    if stored is not None:
        found.check("corollary_6", t, instance.pareto_optimal(stored) and gaps[stored] == 0)
