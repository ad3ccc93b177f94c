// At the price on every instance: two mirrored pairs; what a policy pays that changes its candidate now and then.

import {axes, define, list, path, range, scale, svg, tidy} from "../kit.js";
import {evidence, gaps, price, pythonList} from "../math.js";

const FIRST = 20, LAST = 2560, FACTORS = [1.05, 1.1, 1.2, 1.5, 2, 3, 4, 6, 8, 16, 32, 64, 128];
const COLOURS = ["blue", "green"];

/** Two mirrored pairs, as in momab.model.families: an optimal arm, its companion, and both once more mirrored. */
function pairs(step) {
  const pair = [[0.8, 0.3], [Number((0.8 - step).toFixed(3)), Number((0.3 - step).toFixed(3))]];
  return [...pair, ...pair.map((row) => [...row].reverse())];
}

/** Where log T ends each stretch of one candidate, up to x. */
function ends(factor, x) {
  const found = [];
  for (let k = 1; FIRST * factor ** k < x; k++) found.push(FIRST * factor ** k);
  return [...found, x];
}

/** The regret over log T at log T = x: every arm has the most pulls that some candidate has asked for. */
export function paid({step, factor, x}) {
  const means = pairs(step), gap = gaps(means), until = ends(factor, x);
  const asked = (b) => Math.max(...until.map((end, k) => end / evidence(means[b], means[2 * (k % 2)])));
  return (gap[1] * asked(1) + gap[3] * asked(3)) / x;
}

/** The price, and what changing all the time costs: every arm has its own worst candidate. */
function bounds(step) {
  const means = pairs(step), gap = gaps(means);
  const worst = (b) => gap[b] / Math.min(evidence(means[b], means[0]), evidence(means[b], means[2]));
  return {least: price(means).value, most: worst(1) + worst(3)};
}

define("every-instance", {
  title: "Two candidates have the same price: what does a change cost?",
  controls: {
    factor: list({label: "A change whenever log T has grown by the factor", values: FACTORS, value: 2}),
    step: range({label: "Gap of both companions", min: 0.02, max: 0.28, step: 0.02, value: 0.2}),
  },
  size: [700, 340], narrow: () => 340,
  draw({under, state: {factor, step}, width, height}) {
    const {least, most} = bounds(step), right = width - 14;
    const x = scale([FIRST, LAST], [54, right], true), y = scale([0, 1.2 * most], [height - 50, 24]);
    axes(under, x, y, {xlabel: "log T", ylabel: "regret / log T"});
    const level = (value, label, colour, up) => under.append(
      svg("line", {x1: x(FIRST), x2: right, y1: y(value), y2: y(value), "stroke-width": 2, "stroke-dasharray": "7 4", style: `stroke: var(--fig-${colour})`}),
      svg("text", {x: right, y: y(value) + (up ? -6 : 16), "text-anchor": "end", class: "live-label"}, label));
    level(most, "U(μ): changes all the time", "orange", true);
    level(least, "C(μ): never changes", "blue", false);
    const until = ends(factor, LAST);
    until.forEach((end, k) => {
      const from = k ? until[k - 1] : FIRST;
      under.append(svg("rect", {x: x(from), width: Math.max(0, x(end) - x(from)), y: y.range[0] - 10, height: 10, style: `fill: var(--fig-${COLOURS[k % 2]}); opacity: 0.6`}));
    });
    const at = [...Array.from({length: 240}, (_, i) => FIRST * (LAST / FIRST) ** (i / 239)), ...until].sort((a, b) => a - b);
    under.append(
      svg("path", {d: path(at.map((u) => [u, paid({step, factor, x: u})]), x, y), fill: "none", "stroke-width": 2.4, style: "stroke: var(--fig-ink)"}),
      svg("text", {x: x(FIRST) + 6, y: y.range[0] - 16, class: "live-tick"}, "the candidate: one colour for each"));
  },
  words({factor, step}) {
    const {least, most} = bounds(step), now = paid({step, factor, x: LAST}), changes = ends(factor, LAST).length - 1;
    const start = changes === 0 ? "The candidate never changes"
      : `The candidate changes ${changes === 1 ? "once" : `${changes} times`}, whenever log T has grown ${tidy(factor)}-fold`;
    return `${start}. At log T = 2,560 the regret is ${tidy(now, 4)} times log T, ${tidy(now / least, 4)} times what a policy with one candidate pays, C(μ) = ${tidy(least, 4)}. With changes all the time it would be U(μ) = ${tidy(most, 4)}. `
      + (changes === 0 ? "" : "After a change the new candidate asks for pulls that the old one did not need, and those of the old one cannot be taken back.");
  },
  python: ({factor, step}) => `import numpy as np
from momab import pareto, theory
from momab.model import imed

means = np.array(${pythonList(pairs(step))})
gaps, D = pareto.gaps(means), theory.evidence(means)
times = [${FIRST} * ${factor.toFixed(2)}**k for k in range(1, 100)]
ends = [x for x in times if x < ${LAST}] + [${LAST}]
asked = [end / D[1::2, 2 * (k % 2)] for k, end in enumerate(ends)]  # pulls
paid = np.max(asked, axis=0) @ gaps[1::2] / ${LAST}
C, U = theory.price(means).value, imed.worst_price(means)
print(paid, paid / C, C, U)
`,
});
