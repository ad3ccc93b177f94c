r"""The ledger's checks of the theory: each recomputes one claim in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from momab._util.validate import FloatArray
from momab.engine.loop import play_block
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.tools import TIE
from momab.ledger.auditing import AuditReport, audit_all
from momab.ledger.auditing.rounds import Rounds
from momab.ledger.auditing.trace import Trace, trace
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, metrics, pareto, theory
from momab.model.instances import SYNTHETIC_SETTINGS

# --- shared computations ----------------------------------------------------------------


def _stacks(seed: int = 1) -> list[FloatArray]:
    """Random means in stacks: continuous, and on grids of 2, 3 and 5 levels."""
    return [
        instances.random_means(K, d, seed=seed + 17 * K + d, levels=levels, instances=300)
        for K, d in ((2, 2), (4, 3), (7, 5))
        for levels in (None, 2, 3, 5)
    ]


@dataclass(frozen=True)
class Sweep:
    """Random short runs at large and small c, and what the audit says of them."""

    traces: tuple[Trace, ...]
    two_sided: AuditReport
    one_sided: AuditReport
    false: tuple[Trace, ...] = field(default=())
    """Runs that stored an arm off the front."""


@cache
def audited_sweep() -> Sweep:
    """Audit 320 runs: continuous means and grids, with ties and g = 0, at c from 2 to 0.02."""
    rng = np.random.default_rng(5)
    traces = []
    for i in range(320):
        K, d = int(rng.integers(2, 9)), int(rng.integers(1, 6))
        levels = (None, None, 3, 5)[i % 4]
        means = instances.random_means(K, d, seed=i, levels=levels)
        if i % 5 == 0:  # an arm alone far ahead, so that certificates appear at c = 2, too
            means = 0.5 * means
            means[0, 0] = 1.0
        c = (2.0, 0.5, 0.1, 0.02)[i // 4 % 4]
        instance = instances.bernoulli(means, name=f"instance {i}")
        traces.append(trace(instance, WidthGuided(c=c), 800, seed=i))
    false = [
        record
        for record in traces
        if record.certificate and record.certificate.arm not in record.geometry.front
    ]
    return Sweep(
        tuple(traces),
        audit_all(traces),
        audit_all(traces, claimed_on="one-sided"),
        tuple(false),
    )


# --- the model --------------------------------------------------------------------------


def pareto_gap() -> ClaimOutcome:
    """Section 2: the closed form is the infimum; zero on the front and for marginal maximisers."""
    worst = 0.0
    zero = True
    arms = 0
    for stack in _stacks():
        gaps = pareto.gaps(stack)
        zero &= bool((gaps[pareto.front(stack)] == 0).all())
        zero &= bool((gaps[pareto.marginal_maximisers(stack).any(axis=-1)] == 0).all())
        for means, row in zip(stack[:20], gaps[:20]):
            found = [pareto.gap_by_search(means, a) for a in range(len(means))]
            worst = max(worst, float(np.abs(row - found).max()))
            arms += len(found)
    return ClaimOutcome(
        holds=zero and worst < 1e-12,
        numbers={"worst": worst, "arms": arms},
    )


def proposition_1() -> ClaimOutcome:
    """(1, 1) dominates (1, 0), whose gap is 0; arms on the front always have gap 0."""
    geo = instances.zero_gap().geometry
    example = geo.zero_gap_dominated == (1,) and geo.gaps[1] == 0 and geo.front == (0,)
    converse = all((pareto.gaps(s)[pareto.front(s)] == 0).all() for s in _stacks())
    counts = [float(pareto.zero_gap_dominated(s).any(axis=-1).mean()) for s in _stacks()]
    return ClaimOutcome(
        holds=bool(example and converse),
        numbers={"gap": geo.gaps[1], "on_grids": max(counts), "continuous": max(counts[::4])},
    )


def definition_1() -> ClaimOutcome:
    """Consistency as defined; unique maximisers are on the front without it."""
    equivalent = implied = needless = True
    inconsistent_with_gap = 0
    for stack in _stacks():
        consistent = pareto.is_consistent(stack)
        best = pareto.marginal_maximisers(stack)
        front = pareto.front(stack)
        literal = (~best | front[..., None]).all(axis=(-2, -1))
        equivalent &= bool((literal == consistent).all())
        unique = pareto.objective_gaps(stack) > 0
        implied &= bool(consistent[unique.all(axis=-1)].all())
        needless &= bool((front[..., None] | ~best | ~unique[..., None, :]).all())
        inconsistent_with_gap += int((~consistent & unique.any(axis=-1)).sum())
    weaker = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.3]])
    strictly = bool(pareto.is_consistent(weaker)) and bool(pareto.zero_gap_dominated(weaker).any())
    return ClaimOutcome(
        holds=equivalent and implied and strictly,
        caveat=needless and inconsistent_with_gap > 0,
        numbers={"inconsistent": inconsistent_with_gap},
    )


# --- the algorithm and its certificates -------------------------------------------------


def _tied_leaders(rounds: Rounds) -> int:
    """The number of decisions at which some objective has several leaders to choose from."""
    U = rounds.U
    near = (U.max(axis=1, keepdims=True) - U <= TIE).sum(axis=1)
    return int((near > 1).any(axis=1).sum())


def algorithm_1() -> ClaimOutcome:
    """Every decision of the sweep follows the pseudo-code; ties and double certificates occur."""
    found = audited_sweep()
    rules = [check for check in found.two_sided.checks if check.item == "Algorithm 1"]
    good = all(check.checked and not check.violations for check in rules)
    rounds = [record.rounds() for record in found.traces[:60]]
    ties = sum(_tied_leaders(piece) for piece in rounds)
    record = trace(instances.duplicated(0.4, K=3, d=4), WidthGuided(c=0.5), 2000, seed=1)
    double = int(record.rounds().certified[-1].sum())
    return ClaimOutcome(
        holds=good,
        caveat=ties > 0 and double > 1,
        numbers={"rounds": found.two_sided.rounds, "ties": ties, "double": double},
    )


def _champion_share(runs: int = 200) -> tuple[float, float, bool]:
    """Share of runs certified by another objective than the champion's, and their validity."""
    means = np.full((3, 10), 0.3)
    means[0] = 0.6
    means[0, 0] = 0.62
    means[1] = 0.2
    instance = instances.bernoulli(means)
    block = play_block(instance, WidthGuided(), 20_000, 1, 0, runs)
    other = (block.cert_objective != instance.geometry.j_dagger) & (block.cert_round >= 0)
    valid = bool((block.cert_arm[block.cert_round >= 0] == 0).all())
    return float(other.mean()), float((block.cert_round >= 0).mean()), valid


def certified_objective() -> ClaimOutcome:
    """Section 3: the certified objective is usually not the champion on a suitable instance."""
    share, certified, valid = _champion_share()
    return ClaimOutcome(
        holds=valid and certified == 1.0,
        wrong=share > 0.5,
        numbers={"share": share},
    )


def remark_2() -> ClaimOutcome:
    """One arm is proved best on one objective, but not necessarily the champion's."""
    share, _, valid = _champion_share()
    lemma = audited_sweep().two_sided["lemma-9"]
    return ClaimOutcome(
        holds=valid and not lemma.violations and lemma.checked > 50,
        wrong=share > 0,
        numbers={"checked": lemma.checked, "share": share},
    )


def corollary_6() -> ClaimOutcome:
    """False certificates need a failure on one particular side of an interval."""
    found = audited_sweep()
    two, one = found.two_sided, found.one_sided
    silent = not (two["lemma-9-front"].violations or one["lemma-9-front"].violations)
    larger = one.event.outside_one_sided < one.event.outside
    # a frequency, where the halved bound K d T^(1 - 2c) = 1/10 says something
    close = instances.bernoulli([[0.5], [0.4]])
    stored = play_block(close, WidthGuided(c=1.0), 20, 1, 0, 2000).cert_arm
    rate = float((stored == 1).mean())
    seldom = rate <= theory.union_bound(2, 1, 20, c=1.0) / 2
    # at c = 2 the two bounds, and the bound at the real-data coefficient
    paper, half = theory.union_bound(20, 2, 10**6), theory.union_bound(20, 2, 10**6) / 2
    vacuous = theory.union_bound(10, 26, 10**6, c=0.02)
    return ClaimOutcome(
        holds=silent and seldom and len(found.false) > 0,
        stronger=larger,
        caveat=vacuous > 1,
        numbers={"stored": len(found.false), "half": half, "paper": paper, "vacuous": vacuous},
    )


# --- the confidence event ---------------------------------------------------------------


def proposition_8() -> ClaimOutcome:
    """The exact failure probability, the union bound and the peeling bound."""
    good = sharper = True
    ratios = []
    for T in (100, 1000, 3000):
        for c in (0.6, 1.0, 2.0):
            exact = max(theory.crossing_probability(p, T, T, c) for p in (0.5, 0.2, 0.03))
            union = theory.union_bound(2, 1, T, c) / 2
            peeled = theory.peeling_bound(2, 1, T, c) / 2
            good &= exact <= union and exact <= peeled
            ratios.append(exact / union)
            if T == 3000:
                sharper &= peeled < union
    # |mean - p| <= 1 < radius for n < c log T: the early counts cannot fail
    early = max(theory.tail_probability(p, n, 10**6) for p in (0.5, 0.01) for n in range(1, 28))
    million = theory.peeling_bound(2, 1, 10**6) / theory.union_bound(2, 1, 10**6)
    half = theory.peeling_bound(20, 2, 10**6, c=0.6)
    return ClaimOutcome(
        holds=good,
        stronger=sharper and early == 0.0 and half < 1,
        numbers={
            "lowest": min(ratios),
            "highest": max(ratios),
            "gain": 1 / million,
            "half": half,
            "union": theory.union_bound(20, 2, 10**6, 0.6),
        },
    )


# --- the lemmas -------------------------------------------------------------------------


def _audited(keys: tuple[str, ...], report: AuditReport) -> tuple[bool, dict[str, int]]:
    checks = [report[key] for key in keys]
    good = all(check.violations == 0 and check.checked > 0 for check in checks)
    count = sum(check.checked for check in checks)
    off = sum(check.off_event for check in checks)
    return good, {"checked": count, "off": off}


def lemma_9() -> ClaimOutcome:
    """Certificates on the event are valid; off it some are not, so the check has teeth."""
    good, numbers = _audited(("lemma-9", "lemma-9-front"), audited_sweep().two_sided)
    teeth = audited_sweep().two_sided["lemma-9"].off_event > 0
    return ClaimOutcome(holds=good and teeth, numbers=numbers)


def lemma_10() -> ClaimOutcome:
    """All cases, for the deficit on the sampled objective; tied maximisers need only 2."""
    report = audited_sweep().two_sided
    keys = ("lemma-10", "lemma-10-leader", "lemma-10-challenger", "lemma-10-other", "bridge")
    good, numbers = _audited(keys, report)
    tied = report["lemma-10-tied"]
    return ClaimOutcome(
        holds=good,
        stronger=tied.checked > 0 and tied.violations == 0,
        numbers=numbers | {"tied": tied.checked},
    )


def lemma_11() -> ClaimOutcome:
    """Champion width, sampled width, radius, and the second case of the proof."""
    names = ("champion", "upset", "width", "radius", "every")
    keys = tuple(f"lemma-11-{name}" for name in names)
    good, numbers = _audited(keys, audited_sweep().two_sided)
    least = audited_sweep().two_sided["lemma-11-radius"].tightest
    return ClaimOutcome(holds=good, numbers=numbers | {"least": least})


# --- the bounds -------------------------------------------------------------------------


def theorem_4() -> ClaimOutcome:
    """Each inequality of the proof on runs at c = 2, and the sharper sums."""
    traces = [
        trace(instances.synthetic(delta, m), WidthGuided(), 10**5, seed=1)
        for delta, m in ((0.12, 1), (0.02, 12))
    ]
    report = audit_all(traces)
    means = instances.synthetic(0.02, 8).means
    paper = theory.theorem_bound(means, 10**6).exploration
    sharper = theory.sharper_bound(means, 10**6).exploration
    sharpest = theory.deficit_bound(means, 10**6).exploration
    ordered = True
    for stack in _stacks():
        for mu in stack[:40]:
            bound = theory.theorem_bound(mu, 10**4).exploration
            middle = theory.sharper_bound(mu, 10**4).exploration
            low = theory.deficit_bound(mu, 10**4).exploration
            ordered &= low <= middle * (1 + 1e-12) and middle <= bound / 2 * (1 + 1e-12)
    tied = np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.2]])
    finite = math.isinf(theory.theorem_bound(tied, 10**4).exploration) and math.isfinite(
        theory.sharper_bound(tied, 10**4).exploration
    )
    calm = report.event.holds and report.ok and audited_sweep().two_sided.ok
    return ClaimOutcome(
        holds=calm and report["regret"].checked == len(traces),
        stronger=ordered and finite and sharpest < sharper < paper / 2,
        numbers={"paper": paper, "sharper": sharper, "sharpest": sharpest},
    )


def abstract_rate() -> ClaimOutcome:
    """The factor K is there, in the bound and in the regret; classical regrets sum over arms."""
    regrets = []
    bounded = True
    for K in (3, 12):
        instance = instances.duplicated(0.25, K=K, d=2)
        block = play_block(instance, WidthGuided(c=0.5), 20_000, 1, 0, 10)
        regret = metrics.pareto_regret(block.pulls, instance.means)
        regrets.append(float(regret.mean()))
        bound = theory.theorem_bound(instance.means, 20_000, c=0.5)
        bounded &= bool((regret <= bound.warm_start + bound.exploration).all())
    # objective 0: gaps 0.2, 0.2; objective 1: gaps 0.15, 0.9
    means = np.array([[0.95, 0.95], [0.75, 0.8], [0.75, 0.05]])
    deficits = pareto.objective_deficits(means)[1:]
    classical = (1 / deficits).sum(axis=0)
    champion = int(pareto.j_dagger(means))
    return ClaimOutcome(
        holds=bounded,
        wrong=regrets[1] > 3 * regrets[0] and champion != int(classical.argmin()),
        numbers={
            "regrets": regrets,
            "champion": champion,
            "cheapest": int(classical.argmin()),
            "least": classical.min(),
            "largest": classical.max(),
        },
    )


def proposition_3() -> ClaimOutcome:
    """The chain of inequalities, the reduction to a scalar bandit, and a better constant."""
    margins = np.linspace(0.005, 0.25, 50)
    bounds = [theory.lower_bound(5, float(margin)) for margin in margins]
    chain = all(b.exact >= b.rational >= b.stated * (1 - 1e-12) for b in bounds)
    kl = all(
        math.isclose(b.kl, theory.bernoulli_kl(0.5, 0.5 + margin), rel_tol=1e-9)
        for b, margin in zip(bounds, margins)
    )
    constants = np.array([b.exact * margin / 4 for b, margin in zip(bounds, margins)])
    better = 1 / (8 * math.log(4 / 3))
    geo = instances.duplicated(0.2, K=4, d=3).geometry
    reduction = geo.front == (0,) and math.isclose(geo.g_dagger, 0.2)
    reduction &= bool(np.allclose(geo.gaps[1:], 0.2))
    record = trace(instances.duplicated(0.2, K=4, d=3), WidthGuided(c=0.5), 500, seed=1)
    reduction &= bool((record.rewards == record.rewards[:, :1]).all())
    tied = np.repeat([[0.7], [0.7], [0.4]], 2, axis=1)
    silent = math.isinf(theory.theorem_bound(tied, 100).exploration)
    covered = math.isfinite(theory.sharper_bound(tied, 100).exploration)
    return ClaimOutcome(
        holds=chain and kl and reduction,
        stronger=bool((constants >= better * (1 - 1e-12)).all()) and better > 0.375,
        caveat=silent and covered,
        numbers={"first": constants[0], "last": constants[-1]},
    )


def remark_5() -> ClaimOutcome:
    """The threshold is equivalent to 64 < C_PUCB; the sharper bound's coefficient is smaller."""
    T = 10**6
    same = above = True
    count = 0
    for stack in _stacks(3):
        for means in stack[:40]:
            geo = pareto.geometry(means)
            if not geo.positive_gaps.size or geo.g_dagger == 0:
                continue
            coefficient = theory.c_pucb(means, T)
            left = geo.g_dagger / geo.K * float((1 / geo.positive_gaps).sum())
            limit = theory.c_pucb_threshold(T, geo.d, len(geo.front))
            same &= (left > limit) == (coefficient > 64)
            above &= theory.c_pucb_envelope(means, T) >= coefficient * (1 - 1e-12)
            count += 1
    by_theorem = by_sums = 0
    for delta, m in SYNTHETIC_SETTINGS:
        means = instances.synthetic(delta, m).means
        scale = 20 * math.log(T) / float(pareto.g_dagger(means))
        pucb = theory.c_pucb(means, T)
        by_theorem += pucb > 64
        by_sums += pucb > theory.sharper_bound(means, T).exploration / scale
    return ClaimOutcome(
        holds=same and above and count > 100,
        stronger=by_sums == len(SYNTHETIC_SETTINGS) > by_theorem,
        numbers={"count": count, "by_theorem": by_theorem, "by_sums": by_sums},
    )


def remark_7() -> ClaimOutcome:
    """Advantage over Pareto UCB1 at two horizons, in a small and two large crowds."""
    settings = ((0.12, 1), (0.02, 4), (0.02, 12))
    ratios = {}
    for T in (10_000, 30_000):
        row = []
        for delta, m in settings:
            instance = instances.synthetic(delta, m)
            both = [
                metrics.pareto_regret(play_block(instance, p, T, 1, 0, 4).pulls, instance.means)
                for p in (ParetoUCB1(q="synthetic"), WidthGuided())
            ]
            row.append(float(both[0].mean() / both[1].mean()))
        ratios[T] = row
    short, long = ratios[10_000], ratios[30_000]
    coefficients = [theory.c_pucb(instances.synthetic(*s).means, 10**6) for s in settings]
    return ClaimOutcome(
        holds=min(*short, *long) > 1 and coefficients[0] < coefficients[1] < 64,
        caveat=short[0] > short[-1] and long[0] < long[-1],
        numbers={"coefficients": coefficients, "ratios": ratios},
    )
