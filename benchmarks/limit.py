"""Estimate the processor time of `momab reproduce limit`, in minutes, from a few short runs.

Every contender plays two runs of 100,000 rounds on every instance.  A run is charged in proportion
to its rounds, which is too much for policies that commit early; a tuned contender is charged for
its validation, too.
"""

import time

from momab.study.design import COEFFICIENTS, VALIDATION_RUNS, Options
from momab.study.limit import CONTENDERS, GROUPS, group_instances

HORIZON, RUNS = 100_000, 2

if __name__ == "__main__":
    options = Options(horizon=HORIZON, runs=RUNS, workers=1, progress=False)
    minutes = 0.0
    for name, contender in CONTENDERS.items():
        spent = 0.0
        for dataset, kind in GROUPS:
            instances = group_instances(options, dataset, kind)
            policies = {name: contender.build(dataset, kind, 0.1)}
            options.simulate(instances, policies, horizon=100, runs=1)  # compiles
            start = time.process_time()
            options.simulate(instances, policies)
            spent += time.process_time() - start
        rounds = sum(horizon * runs for horizon, runs in contender.sizes)
        if contender.tuned:
            longest = max(horizon for horizon, _ in contender.sizes)
            rounds += longest * VALIDATION_RUNS * len(COEFFICIENTS)
        estimate = spent * rounds / (HORIZON * RUNS) / 60
        minutes += estimate
        print(f"{estimate:8.1f}  {name}", flush=True)
    print(f"{minutes:8.1f}  all")
