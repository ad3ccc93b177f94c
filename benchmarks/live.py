"""How much slower the engine of the live pages is than the compiled driver, measured in turns.

    python benchmarks/live.py [rounds]

An instance with leads of 0.01, so that Algorithm 1 races to the end; times are medians over turns.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from momab.book import live
from momab.book.pdf import find_chromium
from momab.engine.loop import play_block
from momab.engine.policies.base import make_policy
from momab.model import instances

MEANS = [[0.5 + 0.01 * (k == 0), 0.5 + 0.01 * (k == 1)] for k in range(10)]
RUNS, TURNS = 5, 9
PLAY = """async (job) => {
  const worker = momabLive.worker();
  const play = () => new Promise((done) => {
    worker.onmessage = ({data}) => data.result && done(data.result);
    worker.postMessage({jobs: [job]});
  });
  await play(); // compile
  const start = performance.now();
  await play();
  return performance.now() - start;
}"""


def main(horizon: int) -> None:
    """Print milliseconds per run in both engines, and their ratio, for two policies."""
    instance = instances.bernoulli(MEANS)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        live.write_scripts(Path(__file__).parents[1] / "book" / "live", folder)
        (folder / "index.html").write_text('<!doctype html><script src="core.js"></script>')
        page = play.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        ).new_page()
        page.goto((folder / "index.html").as_uri())
        for family in ("width-guided", "pareto-imed"):
            policy = make_policy(family)
            job = {"source": {"kind": "bernoulli", "means": MEANS}, "policy": {"family": family}}
            job |= {"horizon": horizon, "seed": 1, "runs": RUNS}
            play_block(instance, policy, horizon, 1, 0, 1)
            ours, theirs = [], []
            for _ in range(TURNS):
                start = time.perf_counter()
                play_block(instance, policy, horizon, 1, 0, RUNS)
                ours.append(1000 * (time.perf_counter() - start) / RUNS)
                theirs.append(page.evaluate(PLAY, job) / RUNS)
            numba, browser = statistics.median(ours), statistics.median(theirs)
            print(f"{family}: numba {numba:.2f} ms, page {browser:.2f} ms per run of {horizon:,}")
            print(f"{family}: ratio {browser / numba:.2f} (at best {min(theirs) / min(ours):.2f})")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000)
