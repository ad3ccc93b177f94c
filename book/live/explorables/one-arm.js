// Naming one arm: drag arms; the cheapest answer, the best shares of pulls, and what binds.

import {axes, define, path, points, range, scale, svg, tidy} from "../kit.js";
import {gaps, kl, pythonList} from "../math.js";

const NAMES = "ABCDE", START = [[0.8, 0.3], [0.3, 0.72], [0.62, 0.2], [0.2, 0.5]];
const LOW = 0.02, HIGH = 0.98, TIE = 1e-9;
const total = (list) => list.reduce((x, y) => x + y, 0);

/** Where a function that falls or rises through 0 between two places does so. */
function root(f, from, to) {
  const rises = f(to) > 0;
  for (let step = 0; step < 100; step++) {
    const middle = (from + to) / 2;
    if (f(middle) > 0 === rises) to = middle;
    else from = middle;
  }
  return (from + to) / 2;
}

/** With one pull of a and x pulls of b: what a and one pull of b tell on every objective, and the common means. */
function told(a, b, x) {
  const meet = a.map((p, j) => (p + x * b[j]) / (1 + x)), behind = a.map((p, j) => p - b[j] > TIE);
  return {meet, of: (row) => row.map((p, j) => (behind[j] ? kl(p, meet[j]) : 0))};
}

/** The cost T_a of naming arm a, the shares of the pulls, and each rival's evidence by objective (momab.model.identification). */
export function naming(means, answer) {
  const a = means[answer], rivals = means.map((_, b) => b).filter((b) => b !== answer);
  const ceilings = rivals.map((b) => total(a.map((p, j) => (p - means[b][j] > TIE ? kl(p, means[b][j]) : 0))));
  const top = Math.min(...ceilings);
  if (!(top > 0)) return {cost: Infinity, shares: means.map(() => 0), parts: []};
  const sides = (b, x) => [told(a, means[b], x).of(a), told(a, means[b], x).of(means[b])].map(total);
  const worth = (b, u) => { // of u / (1 - u) pulls of b to one of a
    const x = u / (1 - u), [A, B] = sides(b, x);
    return A + x * B;
  };
  const shares = (y) => rivals.map((b) => root((u) => worth(b, u) - y, 0, 1 - 2 ** -50)).map((u) => u / (1 - u));
  const excess = (y) => total(shares(y).map((x, k) => sides(rivals[k], x)).map(([A, B]) => A / B)) - 1;
  const x = shares(root(excess, 0, top * (1 - 1e-9))), pulls = 1 + total(x);
  return {cost: pulls / Math.min(...x.map((n, k) => worth(rivals[k], n / (1 + n)))),
    shares: means.map((_, b) => (b === answer ? 1 : x[rivals.indexOf(b)]) / pulls),
    parts: rivals.map((b, k) => {
      const it = told(a, means[b], x[k]), [A, B] = [it.of(a), it.of(means[b])];
      return {b, meet: it.meet, each: A.map((v, j) => (v + x[k] * B[j]) / pulls)};
    })};
}

/** The costs of all optimal arms, and everything about the cheapest. */
export function judge(means) {
  const free = gaps(means).map((gap) => gap === 0), all = means.map((_, a) => (free[a] ? naming(means, a) : {cost: Infinity}));
  const costs = all.map((one) => one.cost), value = Math.min(...costs);
  const arm = value < Infinity ? costs.findIndex((cost) => cost <= value * (1 + 1e-9)) : -1;
  return {free, costs, value, arm, ...all[arm]};
}

/** How close two arms come under the cheapest alternative: the answer falls, the rival rises, until it is above. */
function alternative(under, means, {arm, parts}, x, y) {
  for (const {b, meet} of parts) {
    const down = means[arm].map((p, j) => Math.min(p, meet[j])), up = means[b].map((p, j) => Math.max(p, meet[j]));
    for (const [from, to, colour] of [[means[arm], down, "blue"], [means[b], up, "orange"]]) {
      under.append(
        svg("path", {d: path([from, to], x, y), "stroke-width": 2, "stroke-dasharray": "4 3", style: `stroke: var(--fig-${colour})`}),
        svg("circle", {cx: x(to[0]), cy: y(to[1]), r: 3, style: `fill: var(--fig-${colour})`}));
    }
  }
}

/** Shares of the pulls, and what every comparison is worth, objective by objective. */
function bars(under, means, it, [left, right], top) {
  const head = (y, text) => under.append(svg("text", {x: left, y, class: "live-label"}, text));
  const bar = (x, y, wide, colour, opacity = 1) => under.append(svg("rect", {x, y, width: Math.max(0, wide), height: 14, style: `fill: var(--fig-${colour}); opacity: ${opacity}`}));
  const word = (x, y, text) => under.append(svg("text", {x, y: y + 12, class: "live-tick", style: "fill: var(--fig-ink)"}, text));
  const share = scale([0, Math.max(...it.shares)], [0, right - left - 76]), most = 1 / it.value, say = scale([0, most], [0, right - left - 76]);
  head(top, "best shares of the pulls");
  means.forEach((_, k) => {
    const y = top + 8 + 19 * k;
    word(left, y, NAMES[k]);
    bar(left + 20, y, share(it.shares[k]), it.free[k] ? "blue" : "orange");
    word(left + 26 + share(it.shares[k]), y, `${tidy(100 * it.shares[k])} %`);
  });
  const below = top + 40 + 19 * means.length;
  head(below, `a pull’s evidence against “b is above ${NAMES[it.arm]}”`);
  it.parts.forEach(({b, each}, k) => {
    const y = below + 8 + 19 * k;
    word(left, y, NAMES[b]);
    bar(left + 20, y, say(each[0]), "green");
    bar(left + 20 + say(each[0]), y, say(each[1]), "pink");
  });
  const key = below + 14 + 19 * it.parts.length;
  ["green", "pink"].forEach((colour, j) => {
    bar(left + 20 + 110 * j, key + 2, 14, colour);
    word(left + 40 + 110 * j, key + 2, `objective ${j + 1}`);
  });
}

define("one-arm", {
  title: "Which arm is the cheapest to name, and what makes it expensive?",
  controls: {risk: range({label: "Risk of error δ", min: 1e-6, max: 0.2, step: 1.5, value: 0.01, log: true})},
  state: {means: points({value: START, min: LOW, max: HIGH, least: 2, most: NAMES.length})},
  size: [740, 400], narrow: (width) => width + 300,
  actions: [
    {label: "Add an arm", act: ({state: {means}, set}) => {
      if (means.length < NAMES.length) set({means: [...means, [Number((0.1 + 0.05 * means.length).toFixed(2)), 0.1]]});
    }},
    {label: "Remove the last arm", act: ({state: {means}, set}) => {
      if (means.length > 2) set({means: means.slice(0, -1)});
    }},
  ],
  draw({under, state: {means}, set, handle, width, height, narrow}) {
    const it = judge(means), side = narrow ? width - 60 : height - 90, hold = (v, fine) => Math.min(HIGH, Math.max(LOW, Number(v.toFixed(fine ? 3 : 2))));
    const x = scale([0, 1], [44, 44 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean on objective 1", ylabel: "mean on objective 2"});
    if (it.arm >= 0) alternative(under, means, it, x, y);
    means.forEach((row, a) => {
      if (a === it.arm) under.append(svg("circle", {cx: x(row[0]), cy: y(row[1]), r: 15, fill: "none", "stroke-width": 2.5, style: "stroke: var(--fig-blue)"}));
      handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], step: 0.02, radius: 8, colour: it.free[a] ? "blue" : "orange", label: `Arm ${NAMES[a]}`,
        move: (u, v, fine) => set({means: means.map((old, k) => (k === a ? [hold(u, fine), hold(v, fine)] : old))}),
        valuetext: `${tidy(row[0])}, ${tidy(row[1])}; ${it.free[a] ? `a right answer, cost ${tidy(it.costs[a])}` : "a wrong answer"}`});
      under.append(svg("text", a === it.arm ? {x: x(row[0]) + 18, y: y(row[1]) - 10} : {x: x(row[0]) - 14, y: y(row[1]) + 5, "text-anchor": "end"}, NAMES[a]));
    });
    if (it.arm >= 0) bars(under, means, it, narrow ? [12, width - 4] : [x.range[1] + 40, width - 4], narrow ? side + 100 : 40);
  },
  words({means, risk}) {
    const it = judge(means), right = means.map((_, a) => a).filter((a) => it.free[a]);
    if (it.arm < 0) return "No arm can be named here: every arm of gap zero has another arm that is as good on every objective, and no number of pulls rules out that it is a little better.";
    const {b, each} = it.parts.reduce((most, one) => (it.shares[one.b] > it.shares[most.b] ? one : most));
    const j = each[0] >= each[1] ? 0 : 1, alone = each[1 - j] === 0;
    return `${right.length === 1 ? "The only right answer is" : "Right answers, with their costs:"} ${right.map((a) => `${NAMES[a]} (${tidy(it.costs[a])})`).join(", ")}. `
      + `Naming ${NAMES[it.arm]} is cheapest: T* = ${tidy(it.value)}, so in the limit at least T* log(1/δ) = ${tidy(it.value * Math.log(1 / risk))} pulls on average. `
      + `At the best shares, all comparisons are equally strong. Arm ${NAMES[b]} needs the most of them, ${tidy(100 * it.shares[b])} % of the pulls; ${
        alone ? `all the evidence that it is not above ${NAMES[it.arm]} comes from objective ${j + 1}: on the other it is not behind.`
          : `${tidy(100 * each[j] / total(each))} % of the evidence that it is not above ${NAMES[it.arm]} comes from objective ${j + 1}.`}`;
  },
  python: ({means, risk}) => `import math
import numpy as np
from momab.model.identification import naming_cost, pair_evidence

means = np.array(${pythonList(means)})
cost = naming_cost(means)
a, w = cost.arm, cost.weights
print(cost.per_arm.tolist(), "ABCDE"[a], cost.value, cost.value * math.log(1 / ${risk}))
rivals = np.delete(np.arange(len(means)), a)
b = rivals[w[rivals].argmax()]
each = [float(pair_evidence(means[a, [j]], means[b, [j]], w[a], w[b])) for j in (0, 1)]
print("ABCDE"[b], 100 * w[b], 100 * max(each) / sum(each))
`,
});
