// Several correct answers: drag arms; the price of every answer, and what the textbook's form leaves out.

import {axes, define, path, points, scale, svg, tidy} from "../kit.js";
import {evidence, price, gaps, pythonList} from "../math.js";

const NAMES = "ABCDE", START = [[0.8, 0.3], [0.3, 0.8], [0.25, 0.25]], LOW = 0.02, HIGH = 0.98;
const hold = (v, fine) => Math.min(HIGH, Math.max(LOW, Number(v.toFixed(fine ? 3 : 2))));
const corner = (arms) => arms[0].map((_, j) => Math.max(...arms.map((row) => row[j])));

/** The solution of a square system by elimination; null if it has none, or many. */
function solve(rows, right) {
  const A = rows.map((row, i) => [...row, right[i]]), n = A.length;
  for (let k = 0; k < n; k++) {
    const pivot = A.slice(k).reduce((best, row, i) => (Math.abs(row[k]) > Math.abs(A[best][k]) ? k + i : best), k);
    if (Math.abs(A[pivot][k]) < 1e-12) return null;
    [A[k], A[pivot]] = [A[pivot], A[k]];
    for (let i = 0; i < n; i++) if (i !== k) A[i] = A[i].map((v, j) => v - A[i][k] / A[k][k] * A[k][j]);
  }
  return A.map((row, k) => row[n] / row[k]);
}

/** All ways to choose so many of a list. */
function* choices(list, many) {
  if (many === 0) yield [];
  for (let i = 0; i + many <= list.length && many > 0; i++) for (const rest of choices(list.slice(i + 1), many - 1)) yield [list[i], ...rest];
}

/** The least cost · n with n >= 0 and row · n >= 1 for all rows, at a corner of what is allowed. */
function program(cost, rows) {
  const unit = cost.map((_, b) => Math.max(...rows.map((row) => row[b])));
  const walls = [...rows.map((row) => [row.map((v, b) => v / unit[b]), 1]), ...cost.map((_, b) => [cost.map((__, k) => Number(k === b)), 0])];
  const dot = (u, v) => u.reduce((sum, x, k) => sum + x * v[k], 0);
  let least = Infinity;
  for (const some of choices(walls, cost.length)) {
    const n = solve(some.map(([row]) => row), some.map(([, right]) => right));
    if (n && walls.every(([row, right]) => dot(row, n) >= right - 1e-9)) least = Math.min(least, dot(n, cost.map((c, b) => c / unit[b])));
  }
  return least;
}

/** The textbook's value: every optimal arm must be beaten, each by some suboptimal arm (momab.study.graves_lai). */
export function textbook(means) {
  const gap = gaps(means), free = means.filter((_, a) => gap[a] === 0), paid = means.filter((_, a) => gap[a] > 0);
  if (!paid.length) return 0;
  const told = Array.from({length: paid.length ** free.length}, (_, number) => free.map((__, a) => Math.floor(number / paid.length ** a) % paid.length));
  return program(gap.filter((x) => x > 0), told.map((chosen) => paid.map((row, b) => {
    const above = free.filter((_, a) => chosen[a] === b);
    return above.length ? evidence(row, corner(above)) : 0;
  })));
}

/** The price of every optimal arm, and the textbook's value, as bars. */
function bars(under, it, [left, right], top) {
  const rows = [...it.free.map((a) => [`settle on ${NAMES[a]}`, it.prices[a], a === it.arm ? "blue" : "sky"]), ["textbook’s form", it.book, "pink"]];
  const x = scale([0, Math.max(...rows.map(([, v]) => v))], [left, right - 56]);
  under.append(svg("text", {x: left, y: top, class: "live-label"}, "regret per log T, at least"));
  rows.forEach(([label, value, colour], k) => {
    const y = top + 12 + 38 * k;
    under.append(
      svg("text", {x: left, y: y + 12, class: "live-tick"}, label),
      svg("rect", {x: left, y: y + 16, width: Math.max(1, x(value) - left), height: 16, style: `fill: var(--fig-${colour})`}),
      svg("text", {x: x(value) + 6, y: y + 29}, tidy(value, 4)));
  });
}

const judge = (means) => {
  const gap = gaps(means), all = means.map((_, a) => a);
  return {...price(means), book: textbook(means), free: all.filter((a) => gap[a] === 0), paid: all.filter((a) => gap[a] > 0)};
};

define("graves-lai", {
  title: "Drag C off the tie: what must be ruled out, and what does the textbook leave out?",
  state: {means: points({value: START, min: LOW, max: HIGH, least: 2, most: NAMES.length})},
  size: [740, 360], narrow: (width) => width + 262,
  actions: [
    {label: "Add an arm", act: ({state: {means}, set}) => {
      if (means.length < NAMES.length) set({means: [...means, [Number((0.12 * means.length).toFixed(2)), 0.12]]});
    }},
    {label: "Remove the last arm", act: ({state: {means}, set}) => {
      if (means.length > 2) set({means: means.slice(0, -1)});
    }},
  ],
  draw({under, state: {means}, set, handle, width, height, narrow}) {
    const it = judge(means), side = narrow ? width - 60 : height - 90, x = scale([0, 1], [44, 44 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean on objective 1", ylabel: "mean on objective 2"});
    const all = corner(it.free.map((a) => means[a]));
    const region = ([u, v], colour, opacity) => under.append(svg("rect", {x: x(u), y: y(1), width: x(1) - x(u), height: y(v) - y(1), style: `fill: var(--fig-${colour}); opacity: ${opacity}`}));
    const way = (from, goal, colour, dash) => {
      const to = from.map((p, j) => Math.max(p, goal[j]));
      under.append(svg("path", {d: path([from, to], x, y), "stroke-width": 2, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}),
        svg("circle", {cx: x(to[0]), cy: y(to[1]), r: 3, style: `fill: var(--fig-${colour})`}));
    };
    if (it.paid.length) {
      region(means[it.arm], "blue", 0.15);
      if (it.free.length > 1) region(all, "pink", 0.3);
      for (const b of it.paid) {
        if (it.free.length > 1) way(means[b], all, "pink", "2 4");
        way(means[b], means[it.arm], "blue", "6 3");
      }
      bars(under, it, narrow ? [12, width - 4] : [x.range[1] + 40, width - 4], narrow ? side + 104 : 40);
    }
    means.forEach((row, a) => {
      const free = it.free.includes(a);
      handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], step: 0.02, radius: 8, colour: free ? "blue" : "orange", label: `Arm ${NAMES[a]}`,
        valuetext: `${tidy(row[0])}, ${tidy(row[1])}; ${free ? `optimal, price ${tidy(it.prices[a])}` : "suboptimal"}`,
        move: (u, v, fine) => set({means: means.map((old, k) => (k === a ? [hold(u, fine), hold(v, fine)] : old))})});
      under.append(svg("text", {x: x(row[0]) - 12, y: y(row[1]) + 18, "text-anchor": "end"}, NAMES[a]));
    });
  },
  words({means}) {
    const it = judge(means), names = (arms) => arms.map((a) => NAMES[a]).join(", ");
    if (!it.paid.length) return "Every arm is optimal: nothing must be ruled out, and both values are 0.";
    const cheap = it.free.filter((a) => it.prices[a] <= it.value * (1 + 1e-9)), who = names(it.paid), many = it.paid.length > 1;
    const start = `Optimal: ${names(it.free)}. To settle on ${NAMES[it.arm]}, a policy must rule out that ${many ? `one of ${who}` : who} lies in the blue region: C(μ) = ${tidy(it.value, 4)}${cheap.length > 1 ? `, the same for ${names(cheap)}, which are tied` : ""}. `;
    if (it.free.length === 1) return `${start}Only one arm is optimal, so the textbook’s form is the same.`;
    return `${start}The textbook’s form only asks that the optimal arms are not all beaten at once${many ? ", by one arm in the pink corner or by several together" : `, so that ${who} is not in the pink corner`}. Its value is ${tidy(it.book, 4)}, and the price is ${
      it.value < it.book * (1 + 1e-6) ? "the same." : `${tidy(it.value / it.book, 4)} times as large.`}`;
  },
  python: ({means}) => `import numpy as np
from momab import theory
from momab.study import graves_lai

means = np.array(${pythonList(means)})
price, book = theory.price(means), graves_lai.textbook_price(means)
print("ABCDE"[price.arm], price.value, price.per_arm.tolist(), book, price.value / book)
`,
});
