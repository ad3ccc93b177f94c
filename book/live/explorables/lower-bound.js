// The lower bound: drag b towards a; what a pull tells, how many are needed, what they cost.

import {axes, define, path, range, scale, svg, tidy} from "../kit.js";
import {kl, meanInterval} from "../math.js";

const RUNS = 10, SEED = 1, NEAR = 0.01;
const POLICIES = [
  {label: "KL-UCB", python: "momab.KLUCB()", policy: {family: "kl-ucb"}, colour: "green"},
  {label: "Algorithm 1", python: "momab.WidthGuided()", policy: {family: "width-guided", c: 2}, colour: "blue"},
];

/** Evidence, pulls and cost of K - 1 arms with mean b beside one with mean a. */
export function needed({a, b, arms, horizon}) {
  const gap = a - b, told = kl(b, a), log = Math.log(horizon);
  return {gap, told, pulls: log / told, least: (arms - 1) * gap * log / told, upper: 64 * arms * log / gap, trivial: horizon * gap};
}

const means = ({a, b, arms}) => [[a], ...Array.from({length: arms - 1}, () => [b])];
const regrets = ({a, b}, result) => result?.map((played) =>
  meanInterval(played.counts.map(([counts]) => (a - b) * counts.slice(1).reduce((x, y) => x + y, 0)))[0]);
const keep = (x) => Number(x.toFixed(3));

function divergence(under, {state: {a, b}, set, handle}, [left, right], [bottom, top]) {
  const x = scale([0, 1], [left, right]), most = Math.max(0.1, 1.6 * kl(b, a)), y = scale([0, most], [bottom, top]);
  axes(under, x, y, {xlabel: "mean", ylabel: "what a pull of b tells against a mean", yticks: 4});
  const curve = Array.from({length: 199}, (_, i) => (i + 1) / 200).map((q) => [q, kl(b, q)]).filter(([, v]) => v <= most);
  under.append(
    svg("path", {d: path(curve, x, y), fill: "none", "stroke-width": 2, style: "stroke: var(--fig-muted)"}),
    svg("line", {x1: x(a), x2: x(a), y1: bottom, y2: y(kl(b, a)), "stroke-width": 5, style: "stroke: var(--fig-orange)"}),
    svg("text", {x: x(a) + 8, y: Math.min(y(kl(b, a)) + 4, bottom - 36)}, tidy(kl(b, a))),
    svg("text", {x: x(a), y: bottom - 16, "text-anchor": "start", dx: 12}, "a"),
    svg("text", {x: x(b), y: bottom - 16, "text-anchor": "end", dx: -10}, "b"));
  const flat = [x, scale([0, 1], [bottom, bottom - 100])];
  const round = (v, fine) => Number(v.toFixed(fine ? 3 : 2));
  handle("b", {x: b, y: 0, scales: flat, step: 0.01, colour: "orange", label: "Mean b of the other arms", valuetext: tidy(b),
    move: (v, _, fine) => set({b: Math.max(0.05, Math.min(keep(a - NEAR), round(v, fine)))})});
  handle("a", {x: a, y: 0, scales: flat, step: 0.01, colour: "blue", label: "Mean a of the best arm", valuetext: tidy(a),
    move: (v, _, fine) => set({a: Math.min(0.95, Math.max(keep(b + NEAR), round(v, fine)))})});
}

function costs(under, {state, result}, [left, right], [bottom, top]) {
  const {a, arms} = state, gaps = Array.from({length: 81}, (_, i) => NEAR * ((a - 0.05) / NEAR) ** (i / 80));
  const all = gaps.map((gap) => ({gap, ...needed({...state, b: a - gap})})), now = needed(state);
  const u = scale([NEAR, 1], [left, right], true), v = scale([1, 1e7], [bottom, top], true);
  axes(under, u, v, {xlabel: "gap a − b", ylabel: `regret, ${arms} arms`});
  for (const [key, colour, dash] of [["trivial", "muted", "2 4"], ["upper", "pink", "7 4"], ["least", "orange", ""]]) {
    under.append(svg("path", {d: path(all.map((one) => [one.gap, one[key]]).filter(([, r]) => r >= 1 && r <= 1e7), u, v), fill: "none",
      "stroke-width": 2.5, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}));
  }
  const measured = regrets(state, result) ?? [];
  POLICIES.forEach(({colour}, k) => measured[k] > 0 && under.append(svg("rect", {x: u(now.gap) - 6, y: v(measured[k]) - 6, width: 12, height: 12,
    transform: k ? "" : `rotate(45 ${u(now.gap)} ${v(measured[k])})`, style: `fill: var(--fig-${colour}); stroke: var(--fig-ink)`})));
  under.append(svg("circle", {cx: u(now.gap), cy: v(now.least), r: 5, style: "fill: var(--fig-orange); stroke: var(--fig-ink)"}));
  const keys = [["muted", "2 4", "the most possible: T(a − b)"], ["pink", "7 4", "Theorem 4: 64 K log T / g"], ["orange", "", "lower bound"]];
  keys.forEach(([colour, dash, text], k) => under.append(
    svg("line", {x1: right - 190, x2: right - 162, y1: top + 6 + 17 * k, y2: top + 6 + 17 * k, "stroke-width": 2.5, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}),
    svg("text", {x: right - 156, y: top + 10 + 17 * k, class: "live-tick"}, text)));
  POLICIES.forEach(({label, colour}, k) => under.append(
    svg("rect", {x: left + 8 + (k ? 80 : 0), y: bottom - 20, width: 10, height: 10, transform: k ? "" : `rotate(45 ${left + 13} ${bottom - 15})`, style: `fill: var(--fig-${colour})`}),
    svg("text", {x: left + 24 + (k ? 80 : 0), y: bottom - 11, class: "live-tick"}, label)));
}

define("lower-bound", {
  title: "Drag b towards a: what does it cost to tell them apart?",
  controls: {
    horizon: range({label: "Horizon T", min: 1000, max: 200_000, step: 1.25, value: 20_000, log: true, integer: true}),
    arms: range({label: "Arms K", min: 2, max: 20, step: 1, value: 5, integer: true}),
  },
  state: { // the handles move them
    a: range({label: "Mean a of the best arm", min: 0.06, max: 0.95, step: 0.02, value: 0.7}),
    b: range({label: "Mean b of the others", min: 0.05, max: 0.94, step: 0.02, value: 0.5}),
  },
  size: [760, 380], narrow: () => 640,
  work: (state) => (state.b < state.a ? POLICIES.map(({policy}) => ({source: {kind: "bernoulli", means: means(state)}, policy, horizon: state.horizon, seed: SEED, runs: RUNS})) : []),
  draw(view) {
    const {under, state: {a, b}, width, height, narrow} = view;
    divergence(under, view, narrow ? [40, width - 14] : [44, width / 2 - 50], narrow ? [240, 34] : [height - 50, 34]);
    if (b < a) costs(under, view, narrow ? [44, width - 12] : [width / 2 + 40, width - 12], narrow ? [height - 50, 320] : [height - 50, 34]);
  },
  words(state, result) {
    if (!(state.b < state.a)) return "Here b is no worse than a, so there is nothing to find out. Move b below a.";
    const it = needed(state), measured = regrets(state, result);
    const below = measured && measured[0] < it.least ? " (at a fixed T a policy may be below)" : "";
    return `A pull of b gives the evidence kl(b, a) = ${tidy(it.told)} against its being as good as a. In the limit every other arm needs log T / kl = ${
      tidy(it.pulls)} pulls, at ${tidy(it.gap)} each: a regret of ${tidy(it.least)} in all. ${measured
      ? `In ${RUNS} runs the mean regret of KL-UCB is ${tidy(measured[0])}${below}, that of Algorithm 1 is ${tidy(measured[1])}.` : "Playing …"} `
      + `The main term of Theorem 4 is ${tidy(it.upper)}, ${tidy(it.upper / it.least)} times the lower bound${
        it.upper > it.trivial ? `. No policy can lose more than ${tidy(it.trivial)}, so here the theorem is vacuous` : ""}.`;
  },
  python: ({a, b, arms, horizon}) => `import math
import momab
from momab import theory

a, b, K, T = ${a}, ${b}, ${arms}, ${horizon}
told = theory.kl_plus(b, a)
least = (K - 1) * (a - b) * math.log(T) / told
print(told, math.log(T) / told, least)
for policy in (${POLICIES.map((one) => one.python).join(", ")}):
    runs = momab.simulate(momab.bernoulli([[a]] + [[b]] * (K - 1)), policy, horizon=T, runs=${RUNS}, seed=${SEED}, progress=False)
    print(runs.runs["pareto_regret"].mean())
print(64 * K * math.log(T) / (a - b))
`,
});
