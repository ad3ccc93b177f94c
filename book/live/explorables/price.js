// The price of an instance: drag songs; the evidence of a pull, the optimal songs, the cheapest candidate.

import {axes, define, path, points, range, scale, svg, tidy} from "../kit.js";
import {evidence, gaps, leads, price, pythonList} from "../math.js";

const NAMES = "12345678"; // as in the picture above, and no letter means two things
const START = [[0.8, 0.3], [0.62, 0.62], [0.3, 0.8], [0.5, 0.52], [0.7, 0.15], [0.15, 0.65]];
const LOW = 0.02, HIGH = 0.98, SHADES = ["orange", "gold", "pink", "sky", "green", "muted", "blue"];
const hold = (x, fine) => Math.min(HIGH, Math.max(LOW, Number(x.toFixed(fine ? 3 : 2))));

/** Songs without and with a gap, what every suboptimal one costs beside every optimal one, leads and bounds. */
function reckon(means) {
  const gap = gaps(means), all = means.map((_, k) => k), lead = Math.max(...leads(means));
  const free = all.filter((a) => gap[a] === 0), paid = all.filter((a) => gap[a] > 0);
  return {gap, free, paid, lead, ...price(means), bound: (means.length - 1) / (2 * lead),
    parts: (a) => paid.map((b) => gap[b] / evidence(means[b], means[a]))};
}

/** From every suboptimal song to the nearest place from which it would beat the candidate. */
function doubts(under, means, {arm, paid}, x, y, colour) {
  const [u, v] = means[arm];
  under.append(svg("rect", {x: x(u), y: y(1), width: x(1) - x(u), height: y(v) - y(1), style: "fill: var(--fig-muted); opacity: 0.22"}));
  for (const b of paid) {
    const to = means[b].map((p, j) => Math.max(p, means[arm][j]));
    under.append(
      svg("path", {d: path([means[b], to], x, y), "stroke-width": 2, "stroke-dasharray": "4 3", style: `stroke: var(--fig-${colour(b)})`}),
      svg("circle", {cx: x(to[0]), cy: y(to[1]), r: 3, style: `fill: var(--fig-${colour(b)})`}));
  }
}

const SPOTS = [[21, -13], [21, 13], [-21, -13], [-21, 13], [0, -25], [0, 25]];

/** How far a point is from a line between two others. */
function away([px, py], [ax, ay], [bx, by]) {
  const u = bx - ax, v = by - ay, size = u * u + v * v;
  const share = size > 0 ? Math.min(1, Math.max(0, ((px - ax) * u + (py - ay) * v) / size)) : 0;
  return Math.hypot(px - ax - share * u, py - ay - share * v);
}

/** Where the name of song a is written: the first place beside it that is clear of lines and songs, or the clearest. */
function spot(a, means, it, x, y) {
  const place = ([u, v]) => [x(u), y(v)];
  const lines = it.paid.map((b) => [place(means[b]), place(means[b].map((p, j) => Math.max(p, means[it.arm][j])))]);
  const others = means.filter((_, k) => k !== a).map(place), [u, v] = place(means[a]);
  const room = SPOTS.map(([dx, dy]) => {
    const at = [u + dx, v + dy], inside = at[0] > x.range[0] && at[0] < x.range[1] && at[1] > y.range[1] - 8 && at[1] < y.range[0];
    return inside ? Math.min(99, ...lines.map(([from, to]) => away(at, from, to)), ...others.map((p) => away(at, p, p) - 6)) : 0;
  });
  const found = room.findIndex((r) => r >= 12);
  const [dx, dy] = SPOTS[found < 0 ? room.indexOf(Math.max(...room)) : found];
  return {x: u + dx, y: v + dy + 5, "text-anchor": "middle"};
}

/** The price of every candidate as a bar, in parts for the suboptimal songs. */
function bars(under, it, colour, [left, right], top, narrow) {
  const most = Math.max(...it.free.map((a) => it.prices[a])), x = scale([0, most > 0 ? most * 1.02 : 1], [left + 22, right - 44]);
  const each = narrow ? Math.min(24, 130 / it.free.length) : Math.min(34, 210 / it.free.length);
  under.append(svg("text", {x: left, y: top, class: "live-label"}, "regret per log T, by the song to settle on"));
  it.free.forEach((a, row) => {
    const y = top + 12 + row * each, high = Math.min(22, each - 4);
    let from = 0;
    under.append(svg("text", {x: left, y: y + high / 2 + 5, "font-weight": a === it.arm ? 700 : 400}, NAMES[a]));
    it.parts(a).forEach((cost, k) => {
      under.append(svg("rect", {x: x(from), y, width: Math.max(0, x(from + cost) - x(from)), height: high, "stroke-width": 2,
        style: `fill: var(--fig-${colour(it.paid[k])}); stroke: var(--fig-${a === it.arm ? "ink" : "faint"})`}));
      if (x(from + cost) - x(from) > 14) under.append(svg("text", {x: x(from + cost / 2), y: y + high / 2 + 4, "text-anchor": "middle",
        style: "fill: #10151a; font-size: 12px"}, NAMES[it.paid[k]]));
      from += cost;
    });
    under.append(svg("text", {x: x(it.prices[a]) + 5, y: y + high / 2 + 5, "font-weight": a === it.arm ? 700 : 400}, tidy(it.prices[a])));
  });
  return top + 12 + it.free.length * each;
}

define("price", {
  title: "Which song is the cheapest to settle on?",
  controls: {
    horizon: range({label: "Horizon T", min: 1000, max: 1e7, step: 1.25, value: 100_000, log: true, integer: true}),
  },
  state: {means: points({value: START, min: LOW, max: HIGH, least: 2, most: 8})},
  size: [740, 430], narrow: (width) => width + 190,
  actions: [
    {label: "Add a song", act: ({state: {means}, set}) => {
      if (means.length < NAMES.length) set({means: [...means, [hold(0.1 + 0.06 * means.length), 0.1]]});
    }},
    {label: "Remove the last song", act: ({state: {means}, set}) => {
      if (means.length > 2) set({means: means.slice(0, -1)});
    }},
  ],
  draw({under, state, set, handle, width, height, narrow}) {
    const {means} = state, it = reckon(means), side = narrow ? width - 60 : height - 90;
    const colour = (b) => SHADES[it.paid.indexOf(b) % SHADES.length];
    const x = scale([0, 1], [44, 44 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean of plays", ylabel: "mean of saves"});
    if (it.paid.length) doubts(under, means, it, x, y, colour);
    means.forEach((row, a) => {
      const free = it.gap[a] === 0, best = a === it.arm && it.paid.length > 0;
      if (best) under.append(svg("circle", {cx: x(row[0]), cy: y(row[1]), r: 15, fill: "none", "stroke-width": 2.5, style: "stroke: var(--fig-blue)"}));
      handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], step: 0.02, colour: free ? "blue" : colour(a), radius: free ? 9 : 7, label: `Song ${NAMES[a]}`,
        move: (u, v, fine) => set({means: means.map((old, k) => (k === a ? [hold(u, fine), hold(v, fine)] : old))}),
        valuetext: `${tidy(row[0])}, ${tidy(row[1])}; ${free ? `optimal, price ${tidy(it.prices[a])}` : `suboptimal, gap ${tidy(it.gap[a])}`}`});
      under.append(svg("text", spot(a, means, it, x, y), NAMES[a]));
    });
    if (!it.paid.length) return;
    const [left, top] = narrow ? [12, side + 96] : [x.range[1] + 34, 48];
    const below = bars(under, it, colour, [left, width], top, narrow);
    if (narrow) return; // the words below say it
    const said = [`price C = ${tidy(it.value)}, so C log T = ${tidy(it.value * Math.log(state.horizon))}`,
      `largest lead g = ${tidy(it.lead)}`, `(K − 1) / (2g) = ${tidy(it.bound)}`, `Theorem 4: 64 K / g = ${tidy(64 * means.length / it.lead)}`];
    said.forEach((text, k) => under.append(svg("text", {x: left, y: below + 30 + 22 * k, class: "live-label"}, text)));
  },
  words({means, horizon}) {
    const it = reckon(means), list = (arms) => arms.map((a) => NAMES[a]).join(", ");
    if (!it.paid.length) return "Every song is optimal: no pull costs regret, and the price is 0.";
    const told = it.paid.map((b) => `${tidy(evidence(means[b], means[it.arm]))} (song ${NAMES[b]})`).join(", ");
    const lead = it.lead > 0 ? `The largest lead g = ${tidy(it.lead)} gives only C ≤ (K − 1)/(2g) = ${tidy(it.bound)}.`
      : "Neither plays nor saves has a single winner (g = 0), and yet the price is finite.";
    return `${it.free.length === 1 ? "Optimal: song" : "Optimal: songs"} ${list(it.free)}. Song ${NAMES[it.arm]} is the cheapest to settle on. The suboptimal ${it.paid.length === 1 ? "song" : "songs"} must be shown to lie outside the grey region; one pull ${it.paid.length === 1 ? "" : "of each "}yields evidence ${told}. `
      + `The price is C = ${tidy(it.value)}: in the limit no uniformly good policy has a regret below C log T, which is ${tidy(it.value * Math.log(horizon))} here. ${lead}`;
  },
  python: ({means, horizon}) => `import math
from momab import pareto, theory

means = ${pythonList(means)}
price = theory.price(means)
print((pareto.gaps(means) == 0).tolist(), price.arm + 1, price.value, price.value * math.log(${horizon}))
print(theory.evidence(means)[:, price.arm].tolist())
print(pareto.objective_gaps(means).max(), theory.price_bounds(means).by_lead.min())
`,
});
