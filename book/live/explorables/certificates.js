// Certificates: intervals of four arms on one objective; leader, challenger, and when the first is proved best.

import {axes, choice, define, path, points, range, scale, svg, tidy} from "../kit.js";
import {kl, pythonList} from "../math.js";

const T = 10_000, NAMES = "ABCD", START = [[0.66], [0.52], [0.3], [0.5]];
const hold = (x, fine) => Math.min(0.98, Math.max(0.02, Number(x.toFixed(fine ? 3 : 2))));

/** The largest place above a mean that n samples leave possible, with Hoeffding's interval or with kl's. */
function upper(mean, n, {c, certificate}) {
  const radius = Math.sqrt(c * Math.log(T) / n);
  if (certificate !== "kl") return mean + radius;
  let low = mean, high = Math.min(1, mean + radius); // Pinsker
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (n * kl(mean, middle) <= 2 * c * Math.log(T)) low = middle;
    else high = middle;
  }
  return low;
}

/** Both ends of every interval, the arms with the two highest upper ends, and whether they are apart. */
export function race({means, n, few, ...rule}) {
  const counts = means.map((_, a) => (a === means.length - 1 ? few : n));
  const up = means.map(([m], a) => upper(m, counts[a], rule)), down = means.map(([m], a) => 1 - upper(1 - m, counts[a], rule));
  const [leader, challenger] = means.map((_, a) => a).sort((p, q) => up[q] - up[p]);
  return {up, down, leader, challenger, proved: down[leader] > up[challenger]};
}

/** With so many samples of each, are the two best means proved apart?  The least such number. */
export function needed({means, ...rule}) {
  const [[a], [b]] = [...means].sort(([p], [q]) => q - p);
  const apart = (n) => 1 - upper(1 - a, n, rule) > upper(b, n, rule);
  if (!(a > b)) return Infinity;
  let low = 0, high = 1;
  while (!apart(high)) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (apart(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function intervals(under, {state, set, handle}, [left, right], [bottom, top]) {
  const {means} = state, it = race(state), x = scale([0, 1], [left, right]), y = scale([0, 4], [bottom, top]);
  axes(under, x, y, {xlabel: "mean of the objective", yticks: 0});
  const [from, to] = [it.down[it.leader], it.up[it.challenger]].map((v) => x(Math.min(1, Math.max(0, v))));
  under.append(svg("rect", {x: Math.min(from, to), y: top, width: Math.abs(to - from), height: bottom - top, style: `fill: var(--fig-${it.proved ? "green" : "orange"}); opacity: 0.15`}));
  means.forEach(([m], a) => {
    const v = 3.5 - a, role = a === it.leader ? "leader" : a === it.challenger ? "challenger" : "";
    const ends = [it.down[a], it.up[a]].map((p) => x(Math.min(1, Math.max(0, p))));
    const colour = a === it.leader ? (it.proved ? "green" : "blue") : a === it.challenger ? "orange" : "muted";
    under.append(
      svg("text", {x: left - 20, y: y(v) + 5}, NAMES[a]),
      svg("line", {x1: ends[0], x2: ends[1], y1: y(v), y2: y(v), "stroke-width": 5, style: `stroke: var(--fig-${colour})`}),
      ...ends.map((p) => svg("line", {x1: p, x2: p, y1: y(v) - 8, y2: y(v) + 8, "stroke-width": 2, style: `stroke: var(--fig-${colour})`})),
      svg("text", {x: Math.min(right - 62, Math.max(left, ends[0])), y: y(v) - 12, class: "live-tick"}, role));
    handle(`mean-${a}`, {x: m, y: v, scales: [x, y], radius: 5, step: 0.02, colour, label: `Observed mean of arm ${NAMES[a]}`, valuetext: `${tidy(m)} ${role}`.trim(),
      move: (u, _, fine) => set({means: means.map((old, b) => (a === b ? [hold(u, fine)] : old))})});
  });
}

/** The lower end of the best arm and the upper end of the second, for equal numbers of pulls. */
function closing(under, state, [left, right], [bottom, top]) {
  const [[a], [b]] = [...state.means].sort(([p], [q]) => q - p), most = 1e5, when = needed(state);
  const before = when > 8000 || state.n > when; // where its number stands
  const u = scale([10, most], [left, right], true), v = scale([0, 1], [bottom, top]);
  const steps = Array.from({length: 81}, (_, i) => 10 * (most / 10) ** (i / 80));
  axes(under, u, v, {xlabel: "pulls of each arm, if all had as many", ylabel: "lower end of the best, upper end of the next"});
  const draw = (end, colour) => under.append(svg("path", {d: path(steps.map((n) => [n, end(n)]).filter(([, e]) => e >= 0 && e <= 1), u, v),
    fill: "none", "stroke-width": 2.5, style: `stroke: var(--fig-${colour})`}));
  under.append(svg("line", {x1: u(state.n), x2: u(state.n), y1: bottom, y2: top, style: "stroke: var(--fig-muted)"}));
  draw((n) => 1 - upper(1 - a, n, state), "blue");
  draw((n) => upper(b, n, state), "orange");
  if (when >= 10 && when <= most) under.append(
    svg("line", {x1: u(when), x2: u(when), y1: bottom, y2: top, "stroke-dasharray": "4 3", style: "stroke: var(--fig-green)"}),
    svg("text", {x: u(when) + (before ? -6 : 6), y: bottom - 8, "text-anchor": before ? "end" : "start", class: "live-tick live-clear"}, `apart: ${tidy(when, 6)}`));
}

define("certificates", {
  title: "When is the leader proved to be the best, and which arm stands in the way?",
  controls: {
    n: range({label: "Pulls of A, B and C", min: 10, max: 100_000, step: 1.25, value: 2500, log: true, integer: true}),
    few: range({label: "Pulls of D", min: 10, max: 100_000, step: 1.25, value: 300, log: true, integer: true}),
    c: range({label: "Coefficient c", min: 0.02, max: 3, step: 1.25, value: 1, log: true}),
    certificate: choice({label: "Intervals", options: {hoeffding: "Hoeffding", kl: "kl"}}),
  },
  state: {means: points({value: START, min: 0.02, max: 0.98, least: 4, most: 4})},
  size: [740, 330], narrow: () => 570,
  draw(view) {
    const {under, state, width, height, narrow} = view;
    intervals(under, view, [30, narrow ? width - 12 : width / 2 - 20], [narrow ? 236 : height - 50, 20]);
    closing(under, state, [narrow ? 40 : width / 2 + 60, width - 12], [height - 50, narrow ? 330 : 40]);
  },
  words(state) {
    const it = race(state), [b, e] = [it.leader, it.challenger].map((a) => NAMES[a]), when = needed(state), risk = 8 * T ** (1 - 2 * state.c);
    const best = state.means.findIndex(([m]) => m === Math.max(...state.means.flat()));
    return `${b} has the highest upper end (leader), ${e} the next (challenger). The lower end of ${b} is ${tidy(it.down[it.leader])}, the upper end of ${e} ${tidy(it.up[it.challenger])}: ${
      it.proved ? `a certificate, ${b} is the only best arm if the intervals hold.` : "no certificate yet."} `
      + (it.leader !== best ? `The leader need not have the largest mean: ${b} leads because it has so few pulls. ` : "")
      + (when < Infinity ? `With equal numbers of pulls and these means the certificate would come at ${tidy(when, 6)} pulls of each; only the two largest means matter. ` : "The two largest means are equal: nothing can be certified. ")
      + (risk < 1 ? `The intervals of one objective fail, at T = ${tidy(T, 6)}, with probability at most ${tidy(risk)}.` : `At this c the bound on their failure, at T = ${tidy(T, 6)}, exceeds 1 and says nothing.`);
  },
  python: ({means, n, few, c, certificate}) => `from itertools import count

import numpy as np
from momab import theory
${certificate === "kl" ? "from momab.engine.policies.kl_ucb import bisected_index\n" : ""}
means, pulls = np.array(${pythonList(means.flat())}), np.array([${n}, ${n}, ${n}, ${few}])
${certificate === "kl" ? `level = 2 * ${c} * np.log(${T})
def upper(mean, n):
    return bisected_index(mean, int(n), level)` : `def upper(mean, n):
    return mean + theory.confidence_radius(n, ${T}, ${c})`}
up = np.array([upper(m, n) for m, n in zip(means, pulls)])
down = np.array([1 - upper(1 - m, n) for m, n in zip(means, pulls)])
challenger, leader = up.argsort()[-2:]
print("ABCD"[leader], "ABCD"[challenger], down[leader], up[challenger], theory.union_bound(4, 1, ${T}, ${c}))
second, first = np.sort(means)[-2:]
print(next(n for n in count(1) if 1 - upper(1 - first, n) > upper(second, n)))
`,
});
