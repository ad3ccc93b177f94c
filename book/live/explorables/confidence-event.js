// The confidence event: paths of means against the funnel; ever outside, outside at the end.

import {axes, define, path, range, scale, svg, tidy, whole} from "../kit.js";

const PATHS = 200, DRAWN = 60;

define("confidence-event", {
  title: "How often does a mean leave its funnel, ever?",
  controls: {
    c: range({label: "Coefficient c of the funnel √(c log T / n)", min: 0.05, max: 2, step: 0.05, value: 0.3}),
    p: range({label: "Mean of the coin", min: 0.05, max: 0.95, step: 0.05, value: 0.5}),
    n: range({label: "Tosses T", min: 100, max: 2000, step: 100, value: 1000, integer: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  size: [680, 360], narrow: () => 320,
  work: ({p, n, seed}) => [{tosses: n, source: {kind: "bernoulli", means: [[p], [p]]}, seed, runs: PATHS}],
  draw({under, state: {c, p, n}, result, width, height}) {
    const x = scale([1, n], [50, width - 20], true), y = scale([0, 1], [height - 52, 38]);
    const radius = (k) => Math.sqrt(c * Math.log(n) / k);
    axes(under, x, y, {xlabel: "tosses", ylabel: "mean of the tosses"});
    const steps = Array.from({length: 161}, (_, i) => Math.max(1, n ** (i / 160)));
    const clip = (v) => Math.min(1, Math.max(0, v));
    const paths = result?.[0]?.[0]?.length === n ? result[0] : [];
    const left = paths.map((sums) => sums.some((s, i) => Math.abs(s / (i + 1) - p) > radius(i + 1)));
    const drawn = paths.map((sums, k) => ({sums, out: left[k]})).slice(0, DRAWN)
      .sort((one, other) => one.out - other.out); // those outside on top
    for (const {sums, out} of drawn) {
      const points = steps.map((k) => Math.round(k)).filter((k, i, all) => k !== all[i - 1])
        .map((k) => [k, sums[k - 1] / k]);
      under.append(svg("path", {d: path(points, x, y), fill: "none", "stroke-width": out ? 1.4 : 0.7,
        style: `stroke: var(--fig-${out ? "orange" : "muted"}); opacity: ${out ? 0.9 : 0.3}`}));
    }
    for (const sign of [-1, 1]) {
      under.append(svg("path", {d: path(steps.map((k) => [k, clip(p + sign * radius(k))]), x, y), fill: "none",
        "stroke-width": 2.5, style: "stroke: var(--fig-blue)"}));
    }
  },
  words({c, p, n}, result) {
    const paths = result?.[0]?.[0]?.length === n ? result[0] : null;
    if (!paths) return "Tossing …";
    const radius = (k) => Math.sqrt(c * Math.log(n) / k);
    const outside = (s, k) => Math.abs(s / k - p) > radius(k);
    const ever = paths.filter((sums) => sums.some((s, i) => outside(s, i + 1))).length;
    const end = paths.filter((sums) => outside(sums[n - 1], n)).length;
    const many = (k, one, more) => (k === 0 ? `none ${one}` : k === 1 ? `1 ${one}` : `${k} ${more}`);
    const bound = 2 * n ** (1 - 2 * c);
    return `Of ${PATHS} paths ${many(ever, "leaves", "leave")} the funnel at some time, ${
      many(end, "is", "are")} outside at the end (the first ${DRAWN} are drawn). `
      + (bound < 1 ? `The union bound allows at most ${tidy(100 * bound, 2)}% to leave ever.`
        : "The union bound says nothing at this c: it exceeds 1.");
  },
  python: ({p, n, c, seed}) => `import math
import numpy as np
import momab
from momab.engine.streams import RewardStream, reward_arrays

coin = reward_arrays(momab.bernoulli([[${p}], [${p}]]).source)
radius = np.sqrt(${c} * math.log(${n}) / np.arange(1, ${n} + 1))
ever = end = 0
for run in range(${PATHS}):
    tosses = RewardStream(coin, ${seed}, run).batch(0, 0, ${n})[:, 0]
    means = tosses.cumsum() / np.arange(1, ${n} + 1)
    outside = abs(means - ${p}) > radius
    ever, end = ever + outside.any(), end + outside[-1]
print(ever, end)
`,
});
