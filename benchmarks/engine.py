"""Nanoseconds per round of every kernel, its ratio to the plain loop, and to drawing the rewards.

`momab tools bench` prints the same table; `momab.engine.bench.measure` says what its columns mean.
"""

import sys

from momab.engine.bench import bench_instances, measure

if __name__ == "__main__":
    rounds = int(float(sys.argv[1])) if len(sys.argv) > 1 else 300_000
    print(measure(bench_instances(), rounds).to_string(index=False))
