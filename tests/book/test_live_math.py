"""What the live pages compute beside the runs, against the library and the lemmas."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from momab import pareto, theory
from momab.engine.policies.width_guided import kl_apart
from momab.model.identification import naming_cost
from momab.study import graves_lai, one_objective
from tests.book.exploring import Explorable
from tests.book.test_live_engine import random_means
from tests.browsing import Visit


def computed(bench: Visit, module: str, call: str, cases: list[Any]) -> list[Any]:
    """What a module makes of every case; infinities come back as they are."""
    name = "zero-gap" if module == "math" else module
    page = bench.page if f"/{name}.html" in bench.page.url else bench.go(name)
    script = f"(all) => JSON.parse(all).map((x) => momabLive.modules['{module}'].{call})"
    found = page.evaluate(script, json.dumps(cases))
    assert isinstance(found, list)
    return found


def test_geometry_and_price_are_the_library_s(bench: Visit) -> None:
    rng = np.random.default_rng(3)
    drawn = [random_means(rng) for _ in range(150)]
    cases = [means.tolist() for means in drawn]
    for name, function in (("gaps", pareto.gaps), ("leads", pareto.objective_gaps)):
        for means, found in zip(drawn, computed(bench, "math", f"{name}(x)", cases), strict=True):
            assert_allclose(found, function(means), rtol=0, atol=1e-15)
    for means, found in zip(drawn, computed(bench, "math", "front(x)", cases), strict=True):
        assert found == pareto.front(means).tolist()
    for kind, add in (("sum", "true"), ("max", "false")):
        prices = computed(bench, "math", f"price(x, {add})", cases)
        for means, found in zip(drawn, prices, strict=True):
            wanted = theory.price(means, kind)
            assert found["arm"] == wanted.arm
            assert_allclose(found["value"], wanted.value, rtol=1e-13)
            assert_allclose(found["prices"], wanted.per_arm, rtol=1e-13)


def test_close_coins_keep_their_digits(bench: Visit) -> None:
    rng = np.random.default_rng(4)
    p = np.concatenate([rng.random(200), [0.0, 0.0, 0.5, 1.0, 0.3]])
    q = np.clip(p + rng.choice([1e-9, 1e-5, 0.01, 0.4], len(p)) * rng.random(len(p)), 0, 1)
    pairs = np.column_stack([p, q])
    found = computed(bench, "math", "kl(x[0], x[1])", pairs.tolist())
    assert_allclose(found, theory.kl_plus(p, q), rtol=1e-13)
    mirrored = computed(bench, "math", "kl(1 - x[0], 1 - x[1])", pairs.tolist())
    assert_allclose(mirrored, theory.kl_plus(1 - (1 - p), 1 - (1 - q)), rtol=1e-12)


def test_bounds_are_the_library_s(bench: Visit) -> None:
    rng = np.random.default_rng(5)
    cases = [
        [random_means(rng).tolist(), int(10 ** rng.uniform(3, 7)), float(rng.uniform(0.2, 3))]
        for _ in range(100)
    ]
    found = computed(bench, "regret-theorem", "bounds(...x)", cases)
    for (means, T, c), one in zip(cases, found, strict=True):
        wanted = theory.theorem_bound(means, T, c), theory.sharper_bound(means, T, c)
        assert_allclose([one["theorem"], one["sharper"]], [w.total for w in wanted], rtol=1e-12)
        assert_allclose(one["races"]["sharper"], wanted[1].exploration, rtol=1e-12)
        assert_allclose(one["trivial"], T * pareto.gaps(means).max(), rtol=1e-15)


def test_the_bounds_of_one_objective_are_the_library_s(bench: Visit) -> None:
    rng = np.random.default_rng(10)
    cases = [[random_means(rng).tolist(), int(10 ** rng.uniform(3, 6))] for _ in range(100)]
    found = computed(bench, "one-objective", "bounds(...x)", cases)
    for (means, T), one in zip(cases, found, strict=True):
        assert_allclose(one["ucb1"], one_objective.ucb1_bounds(means, T), rtol=1e-11)
        assert_allclose(one["theorem"], theory.theorem_bound(means, T).total, rtol=1e-12)


def test_the_lower_bound_is_the_library_s(bench: Visit) -> None:
    cases = [
        {"a": 0.5 + delta, "b": 0.5, "arms": K, "horizon": 10_000}
        for delta in (0.01, 0.1, 0.25)
        for K in (2, 7)
    ]
    for case, one in zip(cases, computed(bench, "lower-bound", "needed(x)", cases), strict=True):
        exact = theory.lower_bound(int(case["arms"]), case["a"] - 0.5).exact
        assert_allclose(one["least"], exact * np.log(10_000), rtol=1e-12)


def test_the_orders_of_the_worst_case_are_those_of_the_theorem(bench: Visit) -> None:
    """The two parts agree for d = 1; the lower bound is never above the upper one."""
    cases = [{"K": K, "T": T, "d": d} for K in (4, 16) for T in (500, 8000) for d in (1, 64, 4096)]
    for case, one in zip(cases, computed(bench, "minimax", "orders(x)", cases), strict=True):
        assert_allclose(one["any"] ** 2, case["K"] * case["T"])
        assert_allclose(one["root"] ** 2 * case["d"], one["any"] ** 2)
        assert one["lower"] == max(one["root"] / 19, one["search"])
        assert one["lower"] <= one["upper"] == 19.5 * one["root"] + case["K"]


def test_the_cost_of_naming_an_arm_is_the_library_s(bench: Visit) -> None:
    """Ties and twins too; where two answers cost the same to rounding, either may be named."""
    rng = np.random.default_rng(8)
    drawn = [random_means(rng) for _ in range(150)]
    drawn = [np.clip(means, 0.02, 0.98) for means in drawn if 2 <= len(means) <= 6]
    found = computed(
        bench, "one-arm", "judge(x).costs.map(String)", [means.tolist() for means in drawn]
    )
    named = [naming_cost(means) for means in drawn]
    for costs, wanted in zip(found, named, strict=True):
        assert_allclose(np.array(costs).astype(float), wanted.per_arm, rtol=1e-8)
    assert {np.isfinite(one.value) for one in named} == {True, False}
    shares = computed(bench, "one-arm", "judge(x)", [means.tolist() for means in drawn])
    for one, wanted in zip(shares, named, strict=True):
        assert one["arm"] == wanted.arm
        if wanted.arm >= 0:
            assert_allclose(one["shares"], wanted.weights, atol=1e-5)
            assert_allclose(
                [sum(part["each"]) for part in one["parts"]], 1 / wanted.value, rtol=1e-6
            )


def test_certificates_come_where_the_engine_gives_them(bench: Visit) -> None:
    """The least equal number of pulls at which the two best are apart, with either interval."""
    rng = np.random.default_rng(9)
    drawn = [
        (rng.choice(np.arange(2, 99) / 100, (4, 1), replace=False), rng.uniform(0.05, 3))
        for _ in range(100)
    ]
    cases = [
        {"means": means.tolist(), "c": round(c, 2), "certificate": kind}
        for means, c in drawn
        for kind in ("hoeffding", "kl")
    ]
    found = computed(bench, "certificates", "needed(x)", cases)
    for case, pulls in zip(cases, found, strict=True):
        low, high = np.sort(np.ravel(case["means"]))[-2:].tolist()

        def apart(n: int, c: float = case["c"], p: float = high, q: float = low) -> bool:
            radius = float(theory.confidence_radius(n, 10_000, c))
            return kl_apart((p, radius, n), (q, radius, n), 2 * c * math.log(10_000))

        if case["certificate"] == "kl":
            assert apart(pulls)
            assert pulls == 1 or not apart(pulls - 1)
        else:
            exact = 4 * case["c"] * math.log(10_000) / (high - low) ** 2
            assert pulls == math.floor(exact) + 1
    hoeffding, kl = np.array(found).reshape(-1, 2).T
    assert (kl <= hoeffding).all()
    assert (kl < 0.8 * hoeffding).any()


def test_no_pull_costs_more_than_the_lemma_says(bench: Visit) -> None:
    """Local charge in every state whose intervals hold, and both constants are attained."""
    rng = np.random.default_rng(6)
    states = []
    for _ in range(8000):
        a, b = np.round(rng.uniform(0.02, 0.15, 2), 2).tolist()
        near = rng.choice([2 * b, 2 * a + 2 * b]) * rng.uniform(0.7, 1.2)  # where constants bite
        lead = float(np.clip(np.round(near, 2), 0.02, 0.6))
        edge = rng.choice([-1.4, -1, 0.3, 1, 1.4], 2)
        at = np.clip([0.7 + edge[0] * a, 0.7 - lead + edge[1] * b], 0, 1)
        states.append({"lead": lead, "a": a, "b": b, "at": [np.round(at, 3).tolist()]})
    found = computed(bench, "local-charge", "judge(x)", states)
    inside = [one for one in found if one["open"] and one["holds"]]
    assert len(inside) > 500
    for most in (2, 4):
        charges = [one["charge"] for one in inside if one["most"] == most]
        assert 0.95 * most < max(charges) <= most
    assert max(one["charge"] for one in found if one["open"]) > 4  # an interval may miss
    [start] = computed(
        bench, "local-charge", "judge(x)", [{"lead": 0.4, "a": 0.1, "b": 0.1, "at": [[0.6, 0.4]]}]
    )
    assert (start["open"], start["holds"], start["charge"]) == (True, True, 4)


def test_the_textbook_s_form_is_the_library_s(bench: Visit) -> None:
    """Where the page visits corners, the library solves a linear program; ties and twins too."""
    rng = np.random.default_rng(11)
    drawn = [np.clip(random_means(rng)[:5, :2], 0.02, 0.98) for _ in range(200)]
    drawn += [np.round(rng.uniform(0.02, 0.98, (5, 2)), 2) for _ in range(100)]
    found = computed(bench, "graves-lai", "textbook(x)", [means.tolist() for means in drawn])
    wanted = [graves_lai.textbook_price(means) for means in drawn]
    assert_allclose(found, wanted, rtol=1e-7)
    sizes = {int((pareto.gaps(means) > 0).sum()) for means in drawn}
    assert sizes == {0, 1, 2, 3, 4}


def test_every_pull_of_the_run_has_the_least_index(bench: Visit) -> None:
    """With either evidence, on tied means too; the candidate is always of empirical gap zero."""
    Explorable(bench.go("limit"))
    script = """async ([means, evidence, seed]) => {
      const job = {source: {kind: "bernoulli", means}, policy: {family: "pareto-imed", evidence},
        horizon: 601, seed, sums: true, trace: true,
        checkpoints: Array.from({length: 598}, (_, i) => 4 + i)};
      const worker = momabLive.worker();
      const run = await new Promise((done) => {
        worker.onmessage = ({data}) => { if (data.result) done(data.result[0]); };
        worker.postMessage({jobs: [job]});
      });
      const {look} = momabLive.modules.limit, {gaps} = momabLive.modules.math;
      return Array.from({length: 597}, (_, i) => look({t: 4 + i, kind: evidence}, run)).map((it) =>
        [it.index[it.next] - Math.min(...it.index), gaps(it.means)[it.candidate]]);
    }"""
    for means in (
        [[0.7, 0.4], [0.4, 0.7], [0.6, 0.3], [0.35, 0.5]],
        [[0.5, 0.5]] * 2 + [[0.3, 0.4]] * 2,
    ):
        for kind in ("sum", "max"):
            for seed in (1, 2):
                found = np.array(bench.page.evaluate(script, [means, kind, seed]))
                assert found.shape == (597, 2)
                assert np.abs(found).max() < 1e-9


def test_sums_are_rounded_as_in_python(bench: Visit) -> None:
    rng = np.random.default_rng(2)
    lists = [(rng.normal(size=30) * 10.0 ** rng.integers(-12, 12, 30)).tolist() for _ in range(300)]
    lists += [[1.0, 2.0**-53, 2.0**-106], [1e16, 1.0, 1e-16], [], [0.1] * 10]
    assert computed(bench, "math", "exactSum(x)", lists) == [math.fsum(x) for x in lists]


def test_no_open_race_is_narrower_than_the_floor(bench: Visit) -> None:
    rng = np.random.default_rng(7)
    states = [
        {
            "lead": float(np.round(rng.uniform(0.1, 0.8), 2)),
            "n": int(30 * 1600 ** rng.random()),
            "errors": [rng.choice([-1.2, -1, 0, 0.5, 1, 1.2], 2).tolist()],
        }
        for _ in range(4000)
    ]
    found = computed(bench, "width-floor", "race(x)", states)
    ratios = [
        one["width"] / (state["lead"] / 2)
        for state, one in zip(states, found, strict=True)
        if one["open"] and not any(one["off"])
    ]
    assert 1 <= min(ratios) < 1.05
    assert any(
        one["open"] and one["width"] < state["lead"] / 2
        for state, one in zip(states, found, strict=True)
    )
