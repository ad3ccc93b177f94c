"""The audit: a million rounds without a violation, and every planted bug caught."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from momab.cli.app import app, main
from momab.engine.policies.base import Certificate
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.tools import TIE
from momab.errors import MomabError
from momab.ledger.auditing import CHECKS, audit, audit_all
from momab.ledger.auditing.trace import Trace, trace
from momab.model import instances, pareto
from momab.model.numerics import log
from tests.planted import Planted
from tests.strategies import mean_vectors

# --- a million rounds -------------------------------------------------------------------


def random_instance(rng):
    """All four reward sources; means continuous or on a grid; sometimes g = 0 by force."""
    K, d = int(rng.integers(2, 31)), int(rng.integers(1, 31))
    levels = rng.choice([0, 2, 3, 5, 11])
    means = rng.random((K, d)) if levels == 0 else rng.integers(0, levels, (K, d)) / (levels - 1)
    kind = rng.choice(["bernoulli", "separated", "tied", "duplicated", "rows", "samples"])
    if kind == "separated":  # one arm far ahead on one objective, so that certificates appear
        means = 0.7 * means
        means[rng.integers(K), rng.integers(d)] = 1.0
    if kind == "tied":
        for j in range(d):
            means[rng.permutation(K)[:2], j] = means[:, j].max()
        assert pareto.g_dagger(means) == 0
    if kind == "duplicated":
        return instances.duplicated_coordinates(means[:, 0], d)
    if kind == "rows":
        tables = [rng.random((int(rng.integers(1, 20)), d)) * rng.random(d) for _ in range(K)]
        return instances.from_rows(tables)
    if kind == "samples":
        sizes = rng.integers(1, 9, (K, d))
        lists = [[np.round(rng.random(n) * rng.random(), 2) for n in row] for row in sizes]
        return instances.from_samples(lists)
    return instances.bernoulli(means)


def random_traces(seed, rounds):
    """Runs with 2 >= c >= 0.005, until so many decisions have been made before certificates."""
    rng = np.random.default_rng(seed)
    while rounds > 0:
        instance = random_instance(rng)
        c = float(rng.choice([2, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.005]))
        T = max(instance.K, int(10 ** rng.uniform(2, 4.3)))
        beyond = bool(rng.integers(2))
        seed = int(rng.integers(2**62))
        record = trace(instance, WidthGuided(c=c), T, seed, beyond=beyond)
        end = record.recorded if record.certificate is None else record.certificate.t + 1
        rounds -= end - instance.K
        yield record


@pytest.mark.parametrize("rounds", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_million_rounds_without_a_violation(rounds):
    report = audit_all(random_traces(seed=20260601, rounds=rounds))
    assert report.rounds >= rounds
    assert report.ok, report.summary()
    # the hypotheses were met often, and missed often enough to mean something
    for key in CHECKS:
        assert report[key].checked >= rounds // 20_000, key
    assert report["lemma-11-radius"].checked > rounds // 10
    few = rounds // 50_000
    assert few < report.event.failures < report.traces - few
    assert report["lemma-10-leader"].off_event > 0
    # every inequality has room to spare, except those that are equalities somewhere
    assert report["lemma-10"].tightest > 0
    assert report["lemma-11-radius"].tightest > 0


@pytest.mark.parametrize("rounds", [40_000, pytest.param(150_000, marks=pytest.mark.slow)])
def test_the_lemmas_need_one_side_of_every_interval_only(rounds):
    report = audit_all(random_traces(seed=7, rounds=rounds), claimed_on="one-sided")
    assert report.ok, report.summary()
    assert 0 < report.event.outside_one_sided < report.event.outside
    assert report["lemma-10-tied"].checked == 0  # uses the lower sides of all tied maximisers


# --- planted bugs -----------------------------------------------------------------------

MEANS = [[0.9, 0.3, 0.5], [0.2, 0.85, 0.45], [0.4, 0.4, 0.6], [0.3, 0.2, 0.1], [0.6, 0.6, 0.3]]

PLANTED = {
    "log t instead of log T": {"certificate", "top-two"},
    "c off by a factor of two": {"certificate", "top-two"},
    "challenger is the third best": {"top-two", "certificate"},
    "challenger is the leader's neighbour": {"top-two", "certificate"},
    "leaders by mean": {"top-two"},
    "means off by one sample": {"top-two"},
    "rewards swapped between arms": {"top-two", "certificate"},
    "stale count": {"top-two"},
    "certificate against L_c": {"certificate"},
    "commits to the runner-up": {"certificate"},
    "strays after the certificate": {"commitment"},
    "overlooks certificates": {"overlooked"},
    "never certifies": {"overlooked"},
    "smaller radius": {"endpoint", "lemma-11-radius"},
    "always the leader": {"endpoint", "lemma-11-radius"},
    "narrowest objective": {"widest"},
    "first objective only": {"widest"},
    "the last arm again and again": {"top-two", "lemma-10", "pulls-sharper"},
}
"""The checks that must catch each bug; others may catch it, too."""


def played(bug, seed=0, **options):
    instance = instances.bernoulli(MEANS)
    return trace(instance, Planted(bug, c=0.5), 4000, seed, beyond=True, **options)


@pytest.mark.parametrize("seed", range(3))
def test_the_policy_without_a_bug_passes(seed):
    record = played("none", seed)
    report = audit(record)
    assert report.ok, report.summary()
    assert report.event.holds
    assert record.certificate is not None


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_bugs_are_caught_by_the_check_that_should(bug):
    report = audit(played(bug))
    assert report.event.holds  # so nothing is excused
    assert set(report.failed) >= PLANTED[bug], report.summary()
    for key in PLANTED[bug]:
        assert report[key].first is not None
        assert key in report.summary()


@pytest.mark.parametrize("bug", [bug for bug in PLANTED if "certif" not in bug])
def test_most_bugs_show_in_the_arms_alone(bug):
    """Without the reported certificate, only what the pulls give away."""
    report = audit(played(bug).edited(certificate=None))
    assert not report.ok


def test_a_certificate_with_equality_is_none():
    """Rewards 1 and 0 and radii 1/2 make L_b = U_c = 1/2 at the first decision."""
    T = next(T for T in range(10, 1000) if 0.25 / log(T) * log(T) == 0.25)
    instance = instances.bernoulli([[1.0], [0.0]])
    c = 0.25 / log(T)
    strict = audit(trace(instance, Planted("none", c=c), T, 1, beyond=True))
    loose = trace(instance, Planted("certificate with >=", c=c), T, 1, beyond=True)
    assert strict.ok
    assert loose.certificate.t == 2
    report = audit(loose)
    assert report.failed == ("certificate",)
    assert report["certificate"].first.lhs == report["certificate"].first.rhs == 0.5
    # a caller who asks for rounding gives this distinction up
    assert audit(loose, rounding=1e-9).ok


def clean(**options):
    """An untouched trace with ties, and its proof of innocence."""
    instance = instances.bernoulli(MEANS)
    record = trace(instance, WidthGuided(c=0.5), 4000, seed=2, beyond=True, **options)
    assert audit(record).ok
    return record


def test_edited_warm_starts_are_caught():
    record = clean()
    arms = record.arms.copy()
    arms[1] = arms[0]
    report = audit(record.edited(arms=arms, certificate=None))
    assert report.failed == ("warm-start",)
    assert report["warm-start"].first.what == "arm 0 is pulled 2 times in the first 5 rounds"
    assert report["lemma-10"].note == "no valid warm start"
    twice = np.concatenate([record.arms[:5], record.arms[:-5]])
    again = np.concatenate([record.rewards[:5], record.rewards[:-5]])
    doubled = record.edited(arms=twice, rewards=again, certificate=None)
    assert {"top-two", "widest", "endpoint"} & set(audit(doubled).failed)


def test_edited_reports_are_caught():
    record = clean(choices=True)
    leaders = record.leaders.copy()
    leaders[300, 1] = (leaders[300, 1] + 1) % 5
    report = audit(record.edited(leaders=leaders))
    assert "top-two" in report.failed
    assert report["top-two"].first.t == 305
    assert report["top-two"].violations == 1
    swapped = audit(record.edited(leaders=record.challengers, challengers=record.leaders))
    assert "top-two" in swapped.failed
    rounds = record.rounds()
    sampled = rounds.objective[: record.certificate.t - 5]
    assert audit(record.edited(objectives=sampled)).ok
    assert audit(record.edited(objectives=sampled, leaders=None, challengers=None)).ok
    wrong = (sampled + 1) % 3
    assert not audit(record.edited(objectives=wrong)).ok
    assert not audit(record.edited(objectives=wrong, leaders=None, challengers=None)).ok


def test_the_wrong_means_are_off_the_event():
    """The algorithm did nothing wrong; the confidence event did not hold for such means."""
    record = clean()
    report = audit(record.edited(means=record.means[::-1]))
    assert report.ok
    assert not report.event.holds
    assert report["lemma-9"].off_event == 1
    assert "Off the event, not claimed: lemma-9" in report.summary()


# --- every admissible choice of ties ----------------------------------------------------


def stages_by_enumeration(U, beta, arm):
    """Whether some joint choice of all ties puts the arm in a top two, the widest, its endpoint."""
    K, d = U.shape
    pairs = []
    for j in range(d):
        options = []
        for b in np.flatnonzero(U[:, j] >= U[:, j].max() - TIE):
            others = np.delete(np.arange(K), b)
            high = U[others, j].max()
            options += [(b, c) for c in others if U[c, j] >= high - TIE]
        pairs.append(options)
    stages = [False, False, False]
    for choice in product(*pairs):
        W = [beta[b] + beta[c] for b, c in choice]
        for j, (b, c) in enumerate(choice):
            if arm not in (b, c):
                continue
            stages[0] = True
            if W[j] < max(W) - TIE:
                continue
            stages[1] = True
            if beta[arm] >= max(beta[b], beta[c]) - TIE:
                stages[2] = True
    return stages


@settings(max_examples=150)
@given(st.integers(2, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_ties_against_enumeration(K, d, seed):
    """Arbitrary pulls and coarse rewards: the three stages must fail exactly where they should."""
    rng = np.random.default_rng(seed)
    n = K + 12
    arms = np.concatenate([rng.permutation(K), rng.integers(0, K, n - K)])
    rewards = rng.integers(0, 2, (n, d))
    record = Trace.from_arrays(arms, rewards, np.full((K, d), 0.5), 2.0, 1000)
    rounds = record.rounds()
    U = rounds.U
    expected = np.array(
        [stages_by_enumeration(U[i], rounds.beta[i], rounds.arm[i]) for i in range(n - K)]
    )
    report = audit(record)
    assert report["top-two"].violations == (~expected[:, 0]).sum()
    assert report["widest"].violations == (expected[:, 0] & ~expected[:, 1]).sum()
    assert report["endpoint"].violations == (expected[:, 1] & ~expected[:, 2]).sum()


# --- invariances and small exact cases --------------------------------------------------


@settings(max_examples=20)
@given(mean_vectors(max_arms=6, max_objectives=4), st.integers(0, 99), st.sampled_from([2.0, 0.1]))
def test_the_audit_passes_and_does_not_depend_on_names(means, seed, c):
    record = trace(instances.bernoulli(means), WidthGuided(c=c), 200, seed, beyond=True)
    report = audit(record)
    assert report.ok, report.summary()
    rng = np.random.default_rng(seed)
    arms, objectives = rng.permutation(record.K), rng.permutation(record.d)
    new_name = np.argsort(arms)
    stored = record.certificate
    renamed = Trace.from_arrays(
        new_name[record.arms],
        record.rewards[:, objectives],
        record.means[arms][:, objectives],
        c,
        200,
        certificate=stored
        and Certificate(
            stored.t, int(new_name[stored.arm]), int(np.argsort(objectives)[stored.objective])
        ),
    )
    again = audit(renamed)
    assert again.ok
    # several objectives may be champion, and the first of tied leaders depends on the order
    for key in CHECKS.keys() - {"lemma-11-champion", "lemma-11-upset"}:
        assert again[key].checked == report[key].checked, key
        assert again[key].tightest == pytest.approx(report[key].tightest, abs=1e-9), key
    assert again.event.outside == report.event.outside


def test_event_by_hand():
    """Two arms, rewards 1 and 0 where both means are 1/2; radii sqrt(c log T / n)."""
    T = 100
    c = 0.2 / log(T)
    arms = np.array([0, 1, 0, 0, 0, 1])
    rewards = np.array([[1], [0], [1], [0], [1], [0]])
    report = audit(Trace.from_arrays(arms, rewards, [[0.5], [0.5]], c, T))
    # |mean - 1/2| against sqrt(0.2 / n): arm 0: n = 1: 0.5 > 0.447, n = 2: 0.5 > 0.316,
    # n = 3: 1/6, n = 4: 1/4 > 0.223; arm 1: n = 1: 0.5 > 0.447 at all decisions
    assert report.event.outside == 4
    assert report.event.first.t == 2
    # one-sided: arm 0 is the fixed maximiser and only its lower side counts; arm 1 never exceeds
    assert report.event.outside_one_sided == 0
    assert report.event.tightest == pytest.approx(np.sqrt(0.1) - 0.5)


def test_tied_maximisers_charge_only_twice_the_radius():
    means = np.array([[0.8, 0.1], [0.8, 0.2], [0.3, 0.2]])
    record = trace(instances.bernoulli(means), WidthGuided(c=1.0), 5000, seed=3)
    report = audit(record)
    assert report.ok
    assert record.geometry.g_dagger == 0
    assert report["lemma-10-tied"].checked > 4000
    assert report["lemma-11-radius"].checked == 0
    assert report["lemma-11-radius"].note == "not claimed where g = 0"
    assert report["sum-sharper"].checked == 1


# --- the report -------------------------------------------------------------------------


def test_the_report_as_table_and_text():
    report = audit(clean())
    table = report.table()
    assert list(table["check"]) == list(CHECKS)
    assert (table["violations"] == 0).all()
    row = table.set_index("check").loc["lemma-10"]
    assert 0 < row["slack_min"] <= row["slack_q05"] <= row["slack_q50"] <= row["slack_q95"]
    text = str(report)
    assert "no violation" in text
    assert "lemma-11-radius" in text
    assert max(map(len, text.splitlines())) <= 120
    with pytest.raises(MomabError, match="no check 'lemma-12'"):
        report["lemma-12"]
    assert audit_all([clean(), clean()]).traces == 2


def test_thinned_slack_keeps_its_quantiles():
    record = trace(instances.bernoulli(np.full((3, 2), 0.5)), WidthGuided(), 3000, seed=1)
    check = audit(record)["lemma-10"]
    exact = check.quantiles()
    check._LIMIT = 500
    slack = np.concatenate(check._sample)
    check._keep(slack[:0])
    assert check._size <= 500
    np.testing.assert_allclose(check.quantiles(), exact, rtol=0.05)


def test_bad_requests_get_one_sentence():
    with pytest.raises(MomabError, match="claimed_on must be"):
        audit_all([], claimed_on="none")
    with pytest.raises(MomabError, match="rounding must be"):
        audit_all([], rounding=-1.0)


def test_command_line(tmp_path, monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["momab", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, capsys.readouterr()

    record = clean()
    record.save(tmp_path / "good.npz")
    code, out = run("tools", "audit", tmp_path / "good.npz")
    assert code == 0
    assert "no violation" in out.out
    record.edited(c=0.25).save(tmp_path / "bad.npz")
    code, out = run("tools", "audit", tmp_path / "bad.npz")
    assert code == 1
    assert "VIOLATION of overlooked" in out.out.replace("\n", " ")
    (tmp_path / "none.npz").write_text("nothing")
    code, out = run("tools", "audit", tmp_path / "none.npz")
    assert code == 2
    assert out.err.startswith("momab: cannot read")
    assert len(out.err.strip().splitlines()) == 1
    code, out = run("tools", "audit", tmp_path / "good.npz", "--event", "none")
    assert code == 2
    help_text = CliRunner().invoke(app, ["tools", "audit", "--help"]).output
    assert "every lemma" in help_text
