"""The engine of the live pages plays the library's runs, arm by arm, in a real browser."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from momab.book import live
from momab.book.pdf import serve
from momab.engine.loop import play_block
from momab.engine.policies.base import given_for, make_policy
from momab.model import instances
from tests.browsing import Visit
from tests.conftest import ROOT

FOLDER = ROOT / "book" / "live"
SOURCES = ("bernoulli", "duplicated", "rows", "samples")
FAMILIES = (
    "width-guided",
    "pareto-ucb1",
    "annealing-pareto",
    "scalarized-ucb",
    "pareto-imed",
    "kl-ucb",
    "single-ucb1",
)
PLAY = """async (jobs) => {
  const worker = momabLive.worker();
  const told = await new Promise((done) => {
    worker.onmessage = ({data}) => { if (data.result || data.failed) done(data); };
    worker.postMessage({jobs: jobs.map((job) => ({...job, seed: BigInt(job.seed), trace: true}))});
  });
  worker.terminate(); // each takes address space, of which a page has not enough for hundreds
  if (told.failed) return told.failed;
  return told.result.map(({arms, certificates}) => ({arms: arms[0], certificate: certificates[0]}));
}"""


def random_means(rng: np.random.Generator) -> np.ndarray:
    """Means in general position, on a grid with ties, close together, or with twins."""
    K, d = int(rng.integers(2, 14)), int(rng.integers(1, 9))
    means = rng.random((K, d))
    style = rng.integers(4)
    if style == 1:
        means = rng.integers(0, 5, (K, d)) / 4
    elif style == 2:
        means = np.clip(0.5 + 0.05 * rng.standard_normal((K, d)), 0, 1)
    elif style == 3:
        means[K // 2 :] = means[: K - K // 2]
    return means


def random_source(kind: str, rng: np.random.Generator) -> tuple[instances.Instance, dict[str, Any]]:
    """An instance, and what the page is told of it."""
    means = random_means(rng)
    K, d = means.shape
    if kind == "bernoulli":
        return instances.bernoulli(means), {"kind": kind, "means": means.tolist()}
    if kind == "duplicated":
        theta = means[:, 0]
        told = {"kind": kind, "theta": theta.tolist(), "d": d}
        return instances.duplicated_coordinates(theta, d), told

    def around(mean: Any, *shape: int) -> np.ndarray:
        noisy = mean + 0.2 * rng.standard_normal((int(rng.integers(1, 40)), *shape))
        return np.clip(np.round(noisy, int(rng.choice([1, 12]))), 0, 1)

    if kind == "rows":
        tables = [around(means[a], d) for a in range(K)]
        return instances.from_rows(tables), {"kind": kind, "arms": [t.tolist() for t in tables]}
    samples = [[around(means[a, j]) for j in range(d)] for a in range(K)]
    told = {"kind": kind, "arms": [[x.tolist() for x in row] for row in samples]}
    return instances.from_samples(samples), told


def random_options(family: str, d: int, rng: np.random.Generator) -> dict[str, Any]:
    def one(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    c = one(0.01, 0.05, 0.2, 0.5, 1.0, 2.0)
    return {
        "width-guided": {
            "c": c,
            "objective_rule": one("widest", "random", "round-robin", "oracle"),
            "certificate": one("hoeffding", "kl"),
        },
        "pareto-ucb1": {
            "c": c,
            "q": one("original", "real", "synthetic", 1.0, 3.7),
            "stop": one(False, True),
            "stop_c": one(0.02, 0.3, 2.0),
        },
        "annealing-pareto": {"decay": one(0.05, 0.4, 0.9)},
        "scalarized-ucb": {"c": c},
        "pareto-imed": {"evidence": one("max", "sum")},
        "kl-ucb": {"objective": one(0, d - 1, "oracle", "random")},
        "single-ucb1": {"c": c, "objective": one(0, d - 1, "oracle", "random")},
    }[family]


def compare(page: Any, family: str, kind: str, cases: int, longest: int, seed: int) -> None:
    """Play random runs in a page and in the library, and compare every arm and certificate."""
    rng = np.random.default_rng([seed, FAMILIES.index(family), SOURCES.index(kind)])
    jobs, expected = [], []
    for case in range(cases):
        instance, source = random_source(kind, rng)
        options = random_options(family, instance.d, rng)
        horizon = int(longest ** rng.uniform(0.5, 1.0)) + instance.K
        key = int(rng.integers(1 << 63)) * 2 + 1 if case % 2 else int(rng.integers(100))
        run = int(rng.integers(5))
        given = given_for(instance.means)
        jobs.append(
            {"source": source, "policy": {"family": family, **options}, "horizon": horizon}
            | {"seed": str(key), "first": run}
            | {"given": {"champion": given.champion_objective, "front": given.front_size}}
        )
        policy = make_policy(family, **options)
        expected.append(play_block(instance, policy, horizon, key, run, 1, arms=True))
    found = page.evaluate(PLAY, jobs)
    assert not isinstance(found, str), found
    for job, block, one in zip(jobs, expected, found, strict=True):
        assert np.array_equal(block.arms[0], one["arms"]), job["policy"]
        proof = one["certificate"] or {"t": -1, "arm": -1, "objective": -1}
        assert (proof["t"], proof["arm"], proof["objective"]) == (
            block.cert_round[0],
            block.cert_arm[0],
            block.cert_objective[0],
        ), job["policy"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_page_plays_the_same_arms(bench: Visit, family: str) -> None:
    """And progress does not change what is played: checkpoints cut a run anywhere."""
    page = bench.go("zero-gap")
    for kind in SOURCES:
        compare(page, family, kind, cases=4, longest=1000, seed=1)
    source = {"kind": "bernoulli", "means": [[0.7, 0.3], [0.4, 0.6], [0.3, 0.3]]}
    job = {"source": source, "policy": {"family": family}, "horizon": 1000, "seed": "5"}
    whole = page.evaluate(PLAY, [job])
    assert whole == page.evaluate(PLAY, [{**job, "checkpoints": [1, 2, 3, 4, 50, 51, 777, 1000]}])


@pytest.mark.slow
def test_a_served_page_plays_the_same_long_runs(browser: Any, folder: Path) -> None:
    with serve(folder) as address, Visit(browser, address, "zero-gap") as visit:
        for family in FAMILIES:
            for kind in SOURCES:
                compare(visit.page, family, kind, cases=10, longest=20_000, seed=100)
            compare(visit.page, family, "bernoulli", cases=1, longest=1_000_000, seed=7)


# ---- the compiled module ---------------------------------------------------------------------


def test_the_committed_engine_is_that_of_its_source() -> None:
    """The record of the last compilation names the bytes of both, and how they were compiled."""
    assert live.read_compilation(FOLDER) == live.record_of(FOLDER)
    assert (FOLDER / "engine.wasm").stat().st_size <= 60_000


def test_a_changed_source_or_module_is_noticed(tmp_path: Path) -> None:
    for name in ("engine.c", "engine.wasm", "engine.json"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    assert live.read_compilation(tmp_path) == live.record_of(tmp_path)
    for name in ("engine.c", "engine.wasm"):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(kept + b" ")
        assert live.read_compilation(tmp_path) != live.record_of(tmp_path)
        (tmp_path / name).write_bytes(kept)


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("ziglang"), reason="skipped: needs ziglang")
def test_the_source_compiles_to_the_committed_engine(tmp_path: Path) -> None:
    built = tmp_path / "engine.wasm"
    arguments = live.compile_arguments(FOLDER / "engine.c", built)
    subprocess.run([sys.executable, "-m", "ziglang", *arguments], check=True)
    assert built.read_bytes() == (FOLDER / "engine.wasm").read_bytes()
