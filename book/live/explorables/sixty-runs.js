// Sixty runs: draw experiments of sixty runs from 20,000, and see how few of them tell the mean.

import {axes, define, range, scale, svg, tidy, whole} from "../kit.js";
import {gaps, regret} from "../math.js";

const DELTA = 0.02, CROWD = 8, HORIZON = 1_000_000, RUNS = 20_000, SIZE = 60;
const MEANS = [[0.25 + 0.55, 0.25], [0.25, 0.25 + 0.55],
  ...Array.from({length: CROWD}, () => [0.25 - 0.2, 0.25 + 0.55 - DELTA]),
  ...Array.from({length: 18 - CROWD}, () => [0.05, 0.05])];
const GAP = gaps(MEANS);

let kept = {};

/** Regret of every run, who committed to a dominated arm, and the averages of all experiments. */
function outcomes(result) {
  if (kept.result === result) return kept;
  const {counts, certificates} = result[0];
  const regrets = counts.map(([pulls]) => regret(pulls, GAP));
  const wrong = certificates.map((proof) => proof !== null && GAP[proof.arm] > 0);
  const sorted = [...regrets].sort((p, q) => p - q), mean = (list) => list.reduce((x, y) => x + y, 0) / list.length;
  const experiments = Array.from({length: Math.floor(RUNS / SIZE)}, (_, k) => {
    const part = (list) => list.slice(k * SIZE, (k + 1) * SIZE);
    return {runs: part(regrets), wrong: part(wrong), mean: mean(part(regrets)), bad: part(wrong).filter(Boolean).length};
  });
  kept = {result, mean: mean(regrets), median: (sorted[RUNS / 2 - 1] + sorted[RUNS / 2]) / 2,
    bad: wrong.filter(Boolean).length, experiments};
  return kept;
}

/** Dots that stand on a line, stacked where they would cover each other. */
function stack(under, dots, x, [bottom, top], size) {
  const columns = new Map();
  for (const {at, colour} of dots) {
    const column = Math.round(x(at) / size);
    columns.set(column, [...(columns.get(column) ?? []), colour]);
  }
  const highest = Math.max(1, ...[...columns.values()].map((list) => list.length));
  const step = Math.min(size, (bottom - top) / highest);
  for (const [column, list] of columns) {
    list.sort().forEach((colour, k) => under.append(svg("circle", {cx: column * size, cy: bottom - size / 2 - 1 - k * step, r: size / 2 - 0.3,
      style: `fill: var(--fig-${colour})`})));
  }
}

const few = (k, one, more) => (k === 0 ? `none ${one}` : k === 1 ? `1 ${one}` : `${tidy(k, 6)} ${more}`);

define("sixty-runs", {
  title: "Draw sixty runs, again and again. Do they tell you the mean?",
  controls: {
    c: range({label: "Coefficient c", min: 0.005, max: 0.1, step: 1.25, value: 0.02, log: true}),
    drawn: range({label: "Experiments of 60 runs", min: 0, max: 330, step: 10, value: 20, integer: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  size: [700, 400], narrow: () => 430,
  actions: [{label: "Draw 60 runs", act: ({state, set}) => set({drawn: Math.min(330, state.drawn + 1)})}],
  workKey: ({c, seed}) => JSON.stringify([c, seed]),
  work: ({c, seed}) => [{source: {kind: "bernoulli", means: MEANS}, policy: {family: "width-guided", c},
    horizon: HORIZON, seed, runs: RUNS}],
  draw({under, state: {drawn}, result, width, height, narrow}) {
    const x = scale([1, 1e6], [narrow ? 14 : 20, width - 14], true), floor = height - 54, middle = narrow ? 160 : 150;
    axes(under, x, scale([0, 1], [floor, 40]), {xlabel: "Pareto regret", yticks: 0});
    const line = (y) => under.append(svg("line", {class: "live-axis", x1: x(1), x2: x(1e6), y1: y, y2: y}));
    const title = (y, text) => under.append(svg("text", {x: x(1), y, class: "live-label"}, text));
    line(middle);
    title(16, drawn ? `experiment ${drawn}: its ${SIZE} runs` : "nothing is drawn yet");
    title(middle + 22, narrow ? "averages of all drawn" : `averages of ${SIZE} runs: every experiment so far (orange: with a wrong commitment)`);
    if (!result) return;
    const {mean, median, experiments} = outcomes(result), seen = experiments.slice(0, drawn);
    const mark = (at, y, text, colour, dash) => {
      for (const [y1, y2] of [[y - 14, middle], [middle + 32, floor]]) {
        under.append(svg("line", {x1: x(at), x2: x(at), y1, y2, "stroke-width": 2, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}));
      }
      const right = x(at) < width * 0.55;
      under.append(svg("text", {x: x(at) + (right ? 7 : -7), y, "text-anchor": right ? "start" : "end", class: "live-label"}, text));
    };
    mark(median, 42, `median of ${tidy(RUNS, 6)} runs: ${tidy(median)}`, "ink", "4 4");
    mark(mean, 60, `their mean: ${tidy(mean)}`, "orange", "");
    if (drawn) {
      const {runs, wrong} = seen.at(-1);
      stack(under, runs.map((at, i) => ({at, colour: wrong[i] ? "orange" : "blue"})), x, [middle, 74], 6);
    }
    stack(under, seen.map((one) => ({at: one.mean, colour: one.bad ? "orange" : "blue"})), x, [floor, middle + 34], drawn > 40 ? 6 : 9);
  },
  words({drawn}, result) {
    if (!result) return "Playing …";
    const {mean, median, bad, experiments} = outcomes(result), seen = experiments.slice(0, drawn);
    const blind = seen.filter((one) => !one.bad).length, below = seen.filter((one) => one.mean < mean).length;
    const truth = `Of all ${tidy(RUNS, 6)} runs ${few(bad, "commits", "commit")} to a dominated arm; the mean is ${tidy(mean)}, the median ${tidy(median)}.`;
    if (!drawn) return `Nothing is drawn yet. ${truth}`;
    const last = seen.at(-1);
    return `The last experiment, runs ${tidy((drawn - 1) * SIZE + 1, 6)} to ${tidy(drawn * SIZE, 6)}, has the average ${tidy(last.mean)}: ${
      few(last.bad, "commits", "commit")} to a dominated arm. So far ${blind} of ${drawn} ${drawn === 1 ? "experiment" : "experiments"} saw no such run, ${
      below} ${below === 1 ? "has" : "have"} an average below the mean. ${truth}`;
  },
  python: ({c, drawn, seed}) => `import momab

instance, policy = momab.synthetic(${DELTA}, ${CROWD}), momab.WidthGuided(c=${c})
runs = momab.simulate(instance, policy, ${HORIZON}, ${RUNS}, ${seed}, checkpoints=0, progress=False).runs
regret, wrong = runs["pareto_regret"], runs["certified"] & ~runs["cert_on_front"]
print(regret.mean(), regret.median(), wrong.sum())
seen = slice(0, ${SIZE * drawn})
averages = regret[seen].to_numpy().reshape(-1, ${SIZE}).mean(axis=1)
blind = ~wrong[seen].to_numpy(dtype=bool).reshape(-1, ${SIZE}).any(axis=1)
print(averages[-1:], blind.sum(), (averages < regret.mean()).sum())
`,
});
