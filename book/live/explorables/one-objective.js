// One objective is enough: drag three arms; UCB1 on each objective alone, a coin, and Width-guided.

import {axes, define, path, points, range, scale, svg, tidy, whole} from "../kit.js";
import {gaps, leads, meanInterval, pythonList, regret} from "../math.js";

const NAMES = "ABC", START = [[0.8, 0.3], [0.3, 0.75], [0.15, 0.68]], RUNS = 20, LOW = 0.02, HIGH = 0.98;
const POLICIES = [{family: "single-ucb1", objective: 0}, {family: "single-ucb1", objective: 1}, {family: "width-guided", c: 2}];
const key = ({means, T, seed}) => JSON.stringify([means, T, seed]);
let played = "";

/** The bounds of UCB1 on every objective, Theorem 4 (c = 2), and what no policy can exceed. */
export function bounds(means, T) {
  const gap = gaps(means), most = Math.max(...gap), lead = Math.max(...leads(means)), K = means.length, d = means[0].length;
  const best = means[0].map((_, j) => Math.max(...means.map((row) => row[j])));
  const ucb1 = best.map((top, j) => gap.reduce((sum, cost, a) =>
    (cost > 0 ? sum + cost * (8 * Math.log(T) / (top - means[a][j]) ** 2 + 1 + Math.PI ** 2 / 3) : sum), 0));
  const races = lead > 0 ? 64 * K * Math.log(T) / lead : Infinity;
  return {gap, lead, ucb1, theorem: K * most + races + T * most * 2 * K * d * T ** -3, trivial: T * most};
}

/** Mean regret and half its interval: UCB1 on objective 1, on objective 2, Width-guided. */
function measured(state, result) {
  if (!result || played !== key(state)) return null;
  const gap = gaps(state.means);
  return result.map(({counts}) => meanInterval(counts.map(([pulls]) => regret(pulls, gap))));
}

/** Measured regret (full) and bound (pale) of every policy on one logarithmic axis. */
function bars(under, limit, all, [left, right], [bottom, top], narrow) {
  const rows = [["UCB1 on objective 1", all?.[0], limit.ucb1[0], "orange"], ["UCB1 on objective 2", all?.[1], limit.ucb1[1], "green"],
    ["Width-guided", all?.[2], limit.theorem, "blue"]];
  const values = [limit.trivial, ...rows.flatMap(([, found, bound]) => [found?.[0], bound])].filter((v) => v > 0 && v < Infinity);
  const x = scale([Math.min(10, 10 ** Math.floor(Math.log10(Math.min(...values)))), 15 * Math.max(...values)], [left, right], true), each = (bottom - top) / 3;
  axes(under, x, scale([0, 1], [bottom, top]), {xlabel: narrow ? "Pareto regret: full, and bound: pale" : "Pareto regret: measured (full), its bound (pale)", yticks: 0});
  const end = (v) => x(Math.min(x.domain[1], Math.max(x.domain[0], v)));
  under.append(
    svg("line", {x1: end(limit.trivial), x2: end(limit.trivial), y1: top, y2: bottom, "stroke-width": 2, "stroke-dasharray": "6 4", style: "stroke: var(--fig-muted)"}),
    svg("text", {x: end(limit.trivial) - 6, y: top - 4, "text-anchor": "end", class: "live-tick"}, narrow ? `T · gap = ${tidy(limit.trivial, 4)}` : `the most possible: T · gap = ${tidy(limit.trivial, 4)}`));
  rows.forEach(([label, found, bound, colour], k) => {
    const y = top + each * k + 22, style = `fill: var(--fig-${colour})`;
    const bar = (at, v, opacity) => under.append(
      svg("rect", {x: left, y: at, width: Math.max(1, end(v) - left), height: 15, style: `${style}; opacity: ${opacity}`}),
      svg("text", {x: v < Infinity ? end(v) + 6 : right - 6, y: at + 12, "text-anchor": v < Infinity ? "start" : "end", class: "live-tick live-clear", style: "fill: var(--fig-ink)"}, tidy(v, 4)));
    under.append(svg("text", {x: left, y: y - 7, class: "live-label"}, k === 2 ? "Width-guided, and Theorem 4" : label));
    if (found) bar(y, found[0], 1);
    bar(y + 18, bound, 0.35);
  });
}

define("one-objective", {
  title: "Which objective should UCB1 look at, and what does guessing cost?",
  controls: {
    T: range({label: "Rounds T", min: 1000, max: 200_000, step: 1.25, value: 20_000, log: true, integer: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  state: {means: points({value: START, min: LOW, max: HIGH, least: 3, most: 3})},
  size: [740, 360], narrow: (width) => width + 300,
  workKey: key,
  work: (state) => {
    played = key(state);
    return POLICIES.map((policy) => ({source: {kind: "bernoulli", means: state.means}, policy, horizon: state.T, seed: state.seed, runs: RUNS}));
  },
  draw({under, state, set, result, handle, width, height, narrow}) {
    const {means, T} = state, limit = bounds(means, T), side = narrow ? width - 60 : height - 90;
    const x = scale([0, 1], [44, 44 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean on objective 1", ylabel: "mean on objective 2"});
    const best = [0, 1].map((j) => Math.max(...means.map((row) => row[j]))), hold = (v, fine) => Math.min(HIGH, Math.max(LOW, Number(v.toFixed(fine ? 3 : 2))));
    means.forEach((row, a) => {
      if (limit.gap[a] > 0) [[[best[0], row[1]], "orange"], [[row[0], best[1]], "green"]].forEach(([to, colour]) => under.append(
        svg("path", {d: path([row, to], x, y), "stroke-width": 2, "stroke-dasharray": "4 3", style: `stroke: var(--fig-${colour})`})));
      handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], step: 0.02, radius: 8, colour: limit.gap[a] > 0 ? "pink" : "muted", label: `Arm ${NAMES[a]}`,
        valuetext: `${tidy(row[0])}, ${tidy(row[1])}; gap ${tidy(limit.gap[a])}`,
        move: (u, v, fine) => set({means: means.map((old, k) => (k === a ? [hold(u, fine), hold(v, fine)] : old))})});
      under.append(svg("text", limit.gap[a] > 0 ? {x: x(row[0]) - 10, y: y(row[1]) + 18, "text-anchor": "end"} : {x: x(row[0]) + 10, y: y(row[1]) - 8}, NAMES[a]));
    });
    if (limit.trivial > 0) bars(under, limit, measured(state, result), narrow ? [10, width - 8] : [x.range[1] + 40, width - 8], narrow ? [height - 50, side + 122] : [height - 50, 44], narrow);
  },
  words(state, result) {
    const {means, T} = state, limit = bounds(means, T), all = measured(state, result)?.map(([mean]) => mean);
    if (limit.trivial === 0) return "No arm has a Pareto gap: whatever a policy looks at, its Pareto regret is zero.";
    const paid = means.map((_, a) => a).filter((a) => limit.gap[a] > 0), [one, two] = limit.ucb1, good = one <= two ? 0 : 1;
    const start = `Only pulls of ${paid.map((a) => `${NAMES[a]} (gap ${tidy(limit.gap[a])})`).join(" and ")} cost anything. The bound of UCB1 is ${tidy(one, 4)} on objective 1, ${tidy(two, 4)} on objective 2, that of Theorem 4 is ${tidy(limit.theorem, 4)}. `;
    if (!all) return `${start}Playing …`;
    const best = Math.min(all[0], all[1]), coin = (all[0] + all[1]) / 2;
    return `${start}Measured, in ${RUNS} runs: ${tidy(all[0])} on objective 1, ${tidy(all[1])} on objective 2, so a coin that chooses the objective costs ${tidy(coin)}, ${tidy(coin / best)} times the better one. `
      + `Width-guided, which is told nothing, costs ${tidy(all[2])}. ${all[good] === best ? `Objective ${good + 1} has the smaller bound and the smaller regret.` : `Objective ${good + 1} has the smaller bound, but not the smaller regret.`}`
      + (limit.lead === 0 ? " No objective has a single winner: Theorem 4 does not apply." : "");
  },
  python: ({means, T, seed}) => `import momab
from momab import pareto, theory
from momab.study import one_objective

instance = momab.bernoulli(${pythonList(means)})
print(pareto.gaps(instance.means).tolist(), one_objective.ucb1_bounds(instance.means, ${T}).tolist())
print(theory.theorem_bound(instance.means, ${T}).total)
for policy in (momab.SingleUCB1(0), momab.SingleUCB1(1), momab.WidthGuided()):
    runs = momab.simulate(instance, policy, ${T}, ${RUNS}, ${seed}, checkpoints=0, progress=False).runs
    print(runs["pareto_regret"].mean())
`,
});
