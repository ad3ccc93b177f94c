// Against Pareto UCB1: a point in the phase diagram; its bounds, and both policies played there.

import {axes, define, path, points, range, scale, svg, tidy, whole} from "../kit.js";
import {front, gaps, leads, meanInterval, regret} from "../math.js";

const K = 10, G = 0.2, P = 0.5, RUNS = 12, LEAST = 0.05, MOST = 2;
const STUDENT = 2.200985160091639; // the 97.5 % quantile of Student's t with RUNS - 1 degrees
const hold = (x, low, high) => Math.min(high, Math.max(low, x));

/** The diagonal family: families.diagonal_crowd(x, m, K - m, G). */
function crowd([x, m]) {
  const gap = x * G, others = K - m - 2;
  const third = Array.from({length: others}, (_, i) => (i + 1) / others * G / 4).map((s) => [0.2 * P - s / 2, 0.2 * P, P + s]);
  const low = Math.max(P - gap, 0);
  return [[P + G, P, P], [P, P + G, P], ...third, ...Array.from({length: m}, () => [low, P + G - gap, low])];
}

/** The three bounds (momab.theory, c = 2), and what no policy can exceed. */
function bounds(means, T) {
  const gap = gaps(means), paid = gap.filter((x) => x > 0), most = Math.max(...gap), lead = Math.max(...leads(means));
  const d = means[0].length, size = front(means).filter(Boolean).length, log = Math.log(T);
  const sum = (f) => paid.reduce((total, x) => total + f(x), 0), tail = T * most * 2 * K * d * T ** -3;
  return {
    theorem: K * most + 64 * K * log / lead + tail,
    sharper: K * most + 32 * log * sum((x) => x / Math.max(x, lead) ** 2) + tail,
    pucb: 8 * (log + Math.log(d * size) / 4) * sum((x) => 1 / x) + (1 + Math.PI ** 2 / 3) * sum((x) => x),
    trivial: T * most,
  };
}

const ratioOfLogs = (m, T) => 1 + Math.log(3 * (K - m)) / (4 * Math.log(T));
const key = ({at, T, seed}) => JSON.stringify([at, T, seed]);
let played = "";

/** Mean regret and half its interval, of Width-guided and of Pareto UCB1; null while they play. */
function measured(state, result) {
  if (!result || played !== key(state)) return null;
  const gap = gaps(crowd(state.at[0]));
  return result.map(({counts}) => {
    const [mean, half] = meanInterval(counts.map(([pulls]) => regret(pulls, gap)));
    return [mean, half / 1.96 * STUDENT];
  });
}

function winner([ours, theirs]) {
  return ours[0] + ours[1] < theirs[0] - theirs[1] ? 0 : theirs[0] + theirs[1] < ours[0] - ours[1] ? 1 : -1;
}

/** The plane of gap and share: whose bound is the smallest, and the point. */
function plane({under, state, set, handle}, [left, right, top, bottom], who) {
  const {at: [[ratio, m]], T} = state, x = scale([LEAST, MOST], [left, right], true), y = scale([0, 0.85], [bottom, top]);
  const shares = Array.from({length: 18}, (_, i) => i / 20), arms = (s) => Math.min(K - 2, s * K);
  const line = shares.map((s) => [Math.max(LEAST, s * ratioOfLogs(arms(s), T) / 8), s]);
  const half = shares.map((s) => [0.5 * Math.sqrt(ratioOfLogs(arms(s), T)), s]);
  const edge = (at) => [[at, 0.85], [at, 0]];
  const area = (list, colour, opacity) => under.append(svg("path", {d: path(list, x, y), style: `fill: var(--fig-${colour}); opacity: ${opacity}`}));
  area([...line, ...edge(LEAST)], "blue", 0.3);
  area([...half, ...[...line].reverse()], "blue", 0.13);
  area([...half, ...edge(MOST)], "orange", 0.16);
  under.append(svg("path", {d: path(half, x, y), fill: "none", "stroke-width": 1.6, "stroke-dasharray": "6 4", style: "stroke: var(--fig-ink)"}));
  axes(under, x, y, {xlabel: "gap of the dominated arms / lead", ylabel: "share of dominated arms", xticks: 4, yticks: 5});
  for (const tick of [0.05, 0.5, 2]) {
    under.append(svg("text", {x: x(tick), y: bottom + 18, "text-anchor": tick === 2 ? "end" : "middle", class: "live-tick"}, String(tick)));
  }
  for (const [u, v, text] of [[0.052, 0.79, "Theorem 4"], [0.13, 0.14, "smallest bound:"], [0.13, 0.08, "the sharper one"],
    [0.56, 0.14, "smallest bound:"], [0.56, 0.08, "Pareto UCB1’s"]]) {
    under.append(svg("text", {x: x(u), y: y(v), class: "live-tick"}, text));
  }
  const u = scale([Math.log10(LEAST), Math.log10(MOST)], [left, right]);
  handle("at", {x: Math.log10(ratio), y: m / K, scales: [u, y], step: 0.1, label: "The instance",
    colour: who === 0 ? "blue" : who === 1 ? "orange" : "gold", value: ratio / MOST,
    valuetext: `gap ${tidy(ratio)} times the lead, ${m} of ${K} arms dominated`,
    move: (a, b, fine) => {
      const toRatio = Number((10 ** hold(a, Math.log10(LEAST), Math.log10(MOST))).toPrecision(fine ? 3 : 2));
      const way = fine ? Math.sign(Number((b - m / K).toFixed(9))) : Math.round(b * K) - m;
      set({at: [[hold(toRatio, LEAST, MOST), hold(m + way, 1, K - 2)]]});
    }});
}

/** Bounds and measurements as bars on one logarithmic axis. */
function bars(under, state, all, [left, right, top, bottom], narrow) {
  const limit = bounds(crowd(state.at[0]), state.T);
  const rows = [
    ["Width-guided", null], ["measured", all?.[0], "blue"], ["sharper bound", limit.sharper, "blue"], ["Theorem 4", limit.theorem, "blue"],
    ["Pareto UCB1", null], ["measured", all?.[1], "orange"], ["its bound", limit.pucb, "orange"],
  ];
  const values = [limit.sharper, limit.theorem, limit.pucb, limit.trivial, ...(all ?? []).map(([mean]) => mean)].filter((v) => v > 0);
  const x = scale([Math.min(10, 10 ** Math.floor(Math.log10(Math.min(...values)))), 1.3 * Math.max(...values)], [left + 92, right], true);
  axes(under, x, scale([0, 1], [bottom, top]), {xlabel: "regret", yticks: 0});
  const high = (bottom - top - 8) / rows.length;
  rows.forEach(([label, found, colour], i) => {
    const y = top + 8 + (i + 0.5) * high, live = Array.isArray(found), value = live ? found[0] : found;
    under.append(svg("text", found === null ? {x: left, y: y + 5, class: "live-label", style: "font-weight: 600"}
      : {x: left + 86, y: y + 4, "text-anchor": "end", class: "live-tick"}, label));
    if (!value) return;
    const end = Math.max(x.range[0] + 2, x(value)), empty = !live && value > limit.trivial, style = `fill: var(--fig-${colour})`;
    under.append(svg("rect", {x: x.range[0], y: y - high * 0.32, width: end - x.range[0], height: high * 0.64,
      style: `${style}; opacity: ${live ? 1 : empty ? 0.15 : 0.4}`}));
    if (live) under.append(svg("line", {x1: x(Math.max(x.domain[0], value - found[1])), x2: x(value + found[1]), y1: y, y2: y, "stroke-width": 2, style: "stroke: var(--fig-ink)"}));
    const inside = !live && end > x.range[0] + 60, line = x(limit.trivial);
    const before = line < end + 2 && line > end - 50 ? line - 6 : end - 6; // no number is crossed by the line
    under.append(svg("text", {x: inside ? before : live ? Math.max(end, x(value + found[1])) + 6 : end + 6, y: y + 4,
      "text-anchor": inside ? "end" : "start", class: "live-tick", style: "fill: var(--fig-ink)"}, tidy(value)));
  });
  under.append(
    svg("line", {x1: x(limit.trivial), x2: x(limit.trivial), y1: top, y2: bottom, "stroke-width": 2, "stroke-dasharray": "6 4", style: "stroke: var(--fig-muted)"}),
    svg("text", {x: Math.min(right, x(limit.trivial) + 60), y: top - 8, "text-anchor": "end", class: "live-tick"}, narrow ? `T · gap = ${tidy(limit.trivial)}` : `the most possible: T · gap = ${tidy(limit.trivial)}`));
}

define("pareto-ucb1", {
  title: "Drag the instance: which policy has the smaller bound, and which the smaller regret?",
  controls: {
    T: range({label: "Rounds T", min: 1000, max: 200_000, step: 1.25, value: 100_000, log: true, integer: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  state: {at: {...points({value: [[0.15, 5]], min: LEAST, max: K - 2, least: 1, most: 1}), parse: (text) => {
    const [x, m, ...more] = text.split(",").map(Number);
    return x >= LEAST && x <= MOST && Number.isInteger(m) && m >= 1 && m <= K - 2 && !more.length ? [[x, m]] : undefined;
  }}},
  size: [700, 370], narrow: () => 690,
  workKey: key,
  work: (state) => {
    played = key(state);
    const source = {kind: "bernoulli", means: crowd(state.at[0])};
    return [{family: "width-guided", c: 2}, {family: "pareto-ucb1"}].map((policy) =>
      ({source, policy, horizon: state.T, seed: state.seed, runs: RUNS}));
  },
  draw(view) {
    const {under, state, result, width, height, narrow} = view, all = measured(state, result);
    const box = narrow ? [40, width - 12, 34, 290] : [44, 312, 34, height - 54];
    plane(view, box, all ? winner(all) : -1);
    bars(under, state, all, narrow ? [0, width - 12, 390, height - 54] : [344, width - 8, 34, height - 54], narrow);
  },
  words(state, result) {
    const {at: [[x, m]], T} = state, all = measured(state, result), limit = bounds(crowd(state.at[0]), T);
    const half = x < 0.5 * Math.sqrt(ratioOfLogs(m, T)) ? 0 : 1;
    const empty = [["Theorem 4", limit.theorem], ["the sharper bound", limit.sharper], ["Pareto UCB1’s bound", limit.pucb]]
      .filter(([, value]) => value > limit.trivial).map(([name]) => name);
    const start = `Gap ${tidy(x)} times the lead, ${m} of ${K} arms dominated, T = ${tidy(T, 7)}: `;
    if (!all) return `${start}both policies play …`;
    const who = winner(all), names = ["Width-guided", "Pareto UCB1"], [ours, theirs] = all.map(([mean]) => mean);
    return `${start}in ${RUNS} runs the mean regret of Width-guided is ${tidy(ours)}, that of Pareto UCB1 ${tidy(theirs)}. `
      + (who < 0 ? "That is no clear difference. " : `${names[who]} is clearly better, ${who === half ? "as" : "against what"} half the lead predicts. `)
      + `The bounds: Theorem 4 ${tidy(limit.theorem)}, sharper ${tidy(limit.sharper)}, Pareto UCB1’s ${tidy(limit.pucb)}. `
      + (empty.length ? `No policy can lose more than ${tidy(limit.trivial)}, so ${empty.join(" and ")} ${empty.length === 1 ? "is" : "are"} vacuous here.`
        : `All are below ${tidy(limit.trivial)}, the most that any policy can lose.`);
  },
  python: ({at: [[x, m]], T, seed}) => `import momab
from momab import theory
from momab.model import families

instance = families.diagonal_crowd(${x}, ${m}, ${K - m}, ${G})
print(theory.theorem_bound(instance.means, ${T}).total, theory.sharper_bound(instance.means, ${T}).total)
print(theory.pareto_ucb1_bound(instance.means, ${T}).total, ${T} * instance.geometry.max_gap)
for policy in (momab.WidthGuided(), momab.ParetoUCB1()):
    runs = momab.simulate(instance, policy, ${T}, ${RUNS}, ${seed}, checkpoints=0, progress=False).runs
    print(runs["pareto_regret"].mean())
`,
});
