// The first page: two leads and the number of songs; one objective, the other, or both.

import {axes, define, path, range, scale, svg, tidy} from "../kit.js";
import {gaps, meanInterval, pythonList, regret} from "../math.js";

const GAP = 0.05, RUNS = 20, HORIZON = 100_000;
const STEPS = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const VIEWS = [
  {label: "plays only", columns: [0], colour: "orange", dash: "7 4"},
  {label: "saves only", columns: [1], colour: "green", dash: "2 4"},
  {label: "both", columns: [0, 1], colour: "blue", dash: ""},
];

const songs = ({first, second, arms}) => [
  [0.4 + GAP + first, 0.3 + GAP], [0.4 + GAP, 0.3 + GAP + second],
  ...Array.from({length: arms - 2}, () => [0.4, 0.3]),
].map((row) => row.map((x) => Number(x.toFixed(6))));

/** Heights of labels, moved down until none covers another. */
function apart(heights, room) {
  const order = heights.map((_, k) => k).sort((p, q) => heights[p] - heights[q]), placed = [];
  let last = -Infinity;
  for (const k of order) placed[k] = last = Math.max(heights[k], last + room);
  const over = Math.max(0, last - heights[order.at(-1)]);
  return placed.map((h) => h - over / 2);
}

/** Whether the runs are of as many songs as there are now. */
const fresh = ({arms}, result) => result?.[0].counts[0][0].length === arms;

function curves(state, result) {
  const gap = gaps(songs(state));
  return VIEWS.map((view, k) => STEPS.map((_, i) =>
    meanInterval(result[k].counts.map((run) => regret(run[i], gap)))));
}

define("index", {
  title: "Plays, saves or both: what should the policy watch?",
  controls: {
    first: range({label: "Lead of the best song in plays", min: 0.06, max: 0.4, step: 0.02, value: 0.1}),
    second: range({label: "Lead of the best song in saves", min: 0.06, max: 0.4, step: 0.02, value: 0.3}),
    arms: range({label: "Songs", min: 3, max: 20, step: 1, value: 10, integer: true}),
  },
  size: [640, 340], narrow: () => 320,
  work: (state) => {
    const means = songs(state);
    return VIEWS.map(({columns}) => ({
      source: {kind: "bernoulli", means: means.map((row) => columns.map((j) => row[j]))},
      policy: {family: "width-guided", c: 2}, horizon: HORIZON, seed: 1, runs: RUNS, checkpoints: STEPS,
    }));
  },
  draw({under, state, result, width, height, narrow}) {
    const right = width - (narrow ? 12 : 100), x = scale([100, HORIZON], [narrow ? 48 : 64, right], true);
    if (!fresh(state, result)) {
      axes(under, x, scale([0, 1], [height - 52, 30]), {xlabel: "listeners", ylabel: "regret"});
      return;
    }
    const all = curves(state, result);
    const most = Math.max(...all.flat().map(([mean, half]) => mean + half));
    const y = scale([0, most * 1.05], [height - 52, 30]);
    axes(under, x, y, {xlabel: "listeners", ylabel: `regret, mean of ${RUNS} runs`});
    const ends = apart(all.map((curve) => y(curve.at(-1)[0])), 17);
    VIEWS.forEach(({label, colour, dash}, k) => {
      const points = STEPS.map((t, i) => [t, all[k][i][0]]);
      under.append(
        svg("path", {d: path(points, x, y), fill: "none", "stroke-width": 2.5, "stroke-dasharray": dash,
          style: `stroke: var(--fig-${colour})`}),
        narrow ? svg("line", {x1: 60, x2: 90, y1: 44 + 18 * k, y2: 44 + 18 * k, "stroke-width": 2.5,
          "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}) : "",
        svg("text", narrow ? {x: 96, y: 48 + 18 * k} : {x: right + 8, y: ends[k] + 5}, label));
    });
  },
  words(state, result) {
    if (!fresh(state, result)) return "Playing …";
    const [first, second, both] = curves(state, result).map((curve) => curve.at(-1)[0]);
    const better = Math.min(first, second), worse = Math.max(first, second);
    const same = worse < 1.15 * better;
    return `After ${tidy(HORIZON, 6)} listeners, watching plays only has cost ${tidy(first)}, saves only `
      + `${tidy(second)}, both ${tidy(both)}.` + (same ? " The two objectives are about equally good."
        : ` Watching both, without being told which is the better one, costs ${tidy(both / better, 2)} times as much as `
          + `watching the better one. Watching the worse one costs ${tidy(worse / better, 2)} times as much.`);
  },
  python: (state) => `import momab
from momab import pareto

means = ${pythonList(songs(state))}
gaps = pareto.gaps(means)
for columns in ([0], [1], [0, 1]):
    seen = momab.bernoulli([[row[j] for j in columns] for row in means])
    runs = momab.simulate(seen, momab.WidthGuided(c=2), horizon=${HORIZON}, runs=${RUNS}, seed=1, progress=False)
    pulls = runs.pulls.pivot(index="run", columns="arm", values="pulls").to_numpy()
    print(columns, (pulls @ gaps).mean())
`,
});
