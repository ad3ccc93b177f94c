// Pareto IMED, pull by pull: the candidate, the evidence against every arm, the indices, the arm that is pulled.

import {animate, axes, choice, define, points, range, scale, svg, tidy, whole} from "../kit.js";
import {evidence, gaps, price, pythonList, regret} from "../math.js";

const LAST = 600, NAMES = "ABCD", START = [[0.7, 0.4], [0.4, 0.7], [0.6, 0.3], [0.35, 0.55]];
const STEPS = Array.from({length: LAST - NAMES.length + 1}, (_, i) => NAMES.length + i);
const hold = (v, fine) => Math.min(0.98, Math.max(0.02, Number(v.toFixed(fine ? 3 : 2))));
const key = ({means, kind, seed}) => JSON.stringify([means, kind, seed]);
let played = "", pause = null;

/** The run of this state; null while it is played. */
const fresh = (state, result) => (result && played === key(state) ? result[0] : null);

/** What the policy sees after t pulls: means, candidate, the two parts of every index, the arm that is pulled next. */
export function look({t, kind}, run) {
  const n = run.counts[0][t - NAMES.length], sums = run.sums[0][t - NAMES.length], next = run.arms[0][t];
  const means = n.map((count, a) => [sums[2 * a] / count, sums[2 * a + 1] / count]), cost = price(means, kind === "sum");
  const seen = (candidate) => {
    const told = n.map((count, b) => count * evidence(means[b], means[candidate], kind === "sum")), index = told.map((x, b) => x + Math.log(n[b]));
    return {n, means, next, candidate, price: cost.value, told, index};
  };
  // Among equally cheap candidates a coin decides: it was one under which the pulled arm has the least index.
  const all = means.map((_, a) => a).filter((a) => cost.prices[a] <= cost.value + 1e-12).map(seen);
  return all.find(({index}) => index[next] <= Math.min(...index) + 1e-9) ?? all[0];
}

function play({state, set, result}) {
  if (pause) return pause = pause();
  if (!fresh(state, result)) return;
  let t = state.t >= LAST ? NAMES.length : state.t;
  pause = animate(8, () => {
    set({t: t = Math.min(LAST, t + 1)});
    return t < LAST;
  }, () => { pause = null; });
}

/** Every index in its two parts; the least one is pulled. */
function bars(under, it, [left, right], top) {
  const most = Math.max(1, ...it.index.filter(Number.isFinite)), x = scale([0, most], [left + 22, right - 56]);
  const word = (at, y, text, more = {}) => under.append(svg("text", {x: at, y, class: "live-label", ...more}, text));
  word(left, top, "index = N × evidence + log N; the least is pulled");
  it.index.forEach((value, b) => {
    const y = top + 16 + 48 * b, told = Math.min(most, it.told[b]), end = x(Math.min(most, value)), next = b === it.next;
    word(left, y + 17, NAMES[b], {"font-weight": b === it.candidate ? 700 : 400});
    under.append(
      svg("rect", {x: x(0), y, width: x(told) - x(0), height: 22, style: "fill: var(--fig-orange)"}),
      svg("rect", {x: x(told), y, width: Math.max(0, end - x(told)), height: 22, style: "fill: var(--fig-sky)"}));
    if (next) under.append(svg("rect", {x: x(0) - 3, y: y - 3, width: end - x(0) + 6, height: 28, fill: "none", "stroke-width": 2, style: "stroke: var(--fig-green)"}));
    word(x(0), y + 38, `N = ${it.n[b]}${b === it.candidate ? ", candidate" : ""}${next ? ", pulled next" : ""}`, {class: "live-tick"});
  });
  const level = x(Math.min(most, it.index[it.candidate])), foot = top + 6 + 48 * it.index.length;
  under.append(svg("line", {x1: level, x2: level, y1: top + 8, y2: foot, "stroke-width": 2, "stroke-dasharray": "5 4", style: "stroke: var(--fig-blue)"}));
  it.index.forEach((value, b) => word(x(Math.min(most, value)) + 8, top + 32 + 48 * b, tidy(value), {class: "live-label live-clear"}));
  const below = top + 16 + 48 * it.index.length + 10;
  [["orange", "N × evidence"], ["sky", "log N"]].forEach(([colour, text], k) => {
    under.append(svg("rect", {x: left + 22 + 130 * k, y: below, width: 14, height: 14, style: `fill: var(--fig-${colour})`}));
    word(left + 42 + 130 * k, below + 12, text, {class: "live-tick"});
  });
}

define("limit", {
  title: "Step through Pareto IMED: why is this arm pulled now?",
  controls: {
    t: range({label: "Pulls so far", min: NAMES.length, max: LAST, step: 5, value: 155, integer: true}),
    kind: choice({label: "Evidence", options: {sum: "sum", max: "max"}}),
    seed: whole({label: "Seed", value: 1}),
  },
  state: {means: points({value: START, min: 0.02, max: 0.98, least: NAMES.length, most: NAMES.length})},
  size: [740, 360], narrow: (width) => width + 300,
  actions: [
    {label: "One pull", act: ({state, set}) => set({t: Math.min(LAST, state.t + 1)})},
    {label: "Play or pause", act: play},
  ],
  workKey: key,
  work: (state) => {
    played = key(state);
    return [{source: {kind: "bernoulli", means: state.means}, policy: {family: "pareto-imed", evidence: state.kind}, horizon: LAST + 1,
      seed: state.seed, checkpoints: [...STEPS, LAST + 1], sums: true, trace: true}];
  },
  draw({under, state, set, result, handle, width, height, narrow}) {
    const {means} = state, side = narrow ? width - 60 : height - 90, x = scale([0, 1], [44, 44 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean on objective 1", ylabel: "mean on objective 2"});
    const run = fresh(state, result), it = run ? look(state, run) : null;
    if (it) {
      const [u, v] = it.means[it.candidate];
      under.append(svg("rect", {x: x(u), y: y(1), width: x(1) - x(u), height: y(v) - y(1), style: "fill: var(--fig-muted); opacity: 0.22"}));
      it.means.forEach((row, a) => under.append(
        svg("line", {x1: x(row[0]), y1: y(row[1]), x2: x(means[a][0]), y2: y(means[a][1]), style: "stroke: var(--fig-muted)"}),
        svg("circle", {cx: x(row[0]), cy: y(row[1]), r: 8, "stroke-width": a === it.next ? 3 : 0,
          style: `fill: var(--fig-${a === it.candidate ? "blue" : "orange"}); stroke: var(--fig-green)`}),
        svg("text", {x: x(row[0]) + 11, y: y(row[1]) - 9}, NAMES[a])));
      bars(under, it, narrow ? [12, width - 4] : [x.range[1] + 40, width - 4], narrow ? side + 104 : 36);
    }
    means.forEach((row, a) => handle(`mean-${a}`, {x: row[0], y: row[1], scales: [x, y], step: 0.02, radius: 5, colour: "gold", label: `True mean of arm ${NAMES[a]}`,
      valuetext: `${tidy(row[0])}, ${tidy(row[1])}`,
      move: (u, v, fine) => set({means: means.map((old, k) => (k === a ? [hold(u, fine), hold(v, fine)] : old))})}));
  },
  words(state, result) {
    const run = fresh(state, result);
    if (!run) return "Playing …";
    const it = look(state, run), gap = gaps(state.means), log = Math.log(state.t), cost = price(state.means, state.kind === "sum").value;
    const b = NAMES[it.next], told = it.told[it.next] / it.n[it.next];
    return `After ${state.t} pulls (${it.n.map((n, a) => `${NAMES[a]} ${n}`).join(", ")}) the candidate is ${NAMES[it.candidate]}, the cheapest arm of empirical gap zero. `
      + (it.next === it.candidate ? `Its own index is log N alone, ${tidy(it.index[it.next])}, and no index is below it: ${b} is pulled. `
        : `The least index is that of ${b}: ${it.n[it.next]} ${it.n[it.next] === 1 ? "pull" : "pulls"}, each with evidence ${tidy(told)}, make ${tidy(it.index[it.next])}. This is not above the candidate’s log N = ${tidy(Math.log(it.n[it.candidate]))}: so few pulls do not rule out that ${b} is above ${NAMES[it.candidate]}, and ${b} is pulled. `)
      + `Regret so far ${tidy(regret(it.n, gap))}; the price times log t is ${tidy(cost * log)}.`;
  },
  python: ({means, t, kind, seed}) => `import math
import momab
from momab import theory
from momab.chapters import limit

instance, policy = momab.bernoulli(${pythonList(means)}), momab.ParetoIMED("${kind}")
path = limit.index_run(instance, policy, "${kind}", horizon=${t} + 1, seed=${seed})
b = path.index[-1].argmin()
print("ABCD"[path.candidate[-1]], "ABCD"[b], path.index[-1].tolist(), path.index[-1, b])
runs = momab.simulate(instance, policy, ${t}, runs=1, seed=${seed}, checkpoints=0, progress=False)
print(runs.pulls["pulls"].tolist(), runs.runs["pareto_regret"].mean())
print(theory.price(instance.means, "${kind}").value * math.log(${t}))
`,
});
