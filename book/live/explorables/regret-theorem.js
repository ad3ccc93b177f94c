// The regret theorem: the account of its proof for any instance, from the measured regret to the bound.

import {axes, define, points, range, scale, svg, tidy, whole} from "../kit.js";
import {gaps, leads, pythonList} from "../math.js";

const RUNS = 20, NAMES = "ABCDEFGH";
const START = [[0.7, 0.4], [0.4, 0.6], [0.5, 0.35], [0.3, 0.4], [0.35, 0.2]];
const LOW = 0.02, HIGH = 0.98;
const mean = (list) => list.reduce((x, y) => x + y, 0) / list.length;
const total = (list) => list.reduce((x, y) => x + y, 0);

/** The right-hand sides of Theorem 4 and of the sharper bound, and what no policy can exceed. */
export function bounds(means, horizon, c) {
  const gap = gaps(means), most = Math.max(...gap), lead = Math.max(...leads(means)), K = means.length, log = Math.log(horizon);
  const warm = K * most, tail = horizon * most * 2 * K * means[0].length * horizon ** (1 - 2 * c);
  const sum = total(gap.filter((x) => x > 0).map((x) => x / Math.max(x, lead) ** 2));
  const races = {theorem: lead > 0 ? 32 * c * K * log / lead : Infinity, sharper: 16 * c * log * sum};
  return {warm, tail, races, theorem: warm + races.theorem + tail, sharper: warm + races.sharper + tail, trivial: horizon * most};
}

/** What 20 runs cost, and what four radii for every pull would come to, arm by arm. */
export function account({means, c, horizon}, played) {
  const gap = gaps(means), scaled = Math.sqrt(c * Math.log(horizon)), partial = [0];
  const charged = (m) => {
    for (let s = partial.length; s <= m; s++) partial.push(partial[s - 1] + 1 / Math.sqrt(s));
    return 4 * scaled * partial[m];
  };
  const races = played.counts.map(([counts], r) => {
    const proof = played.certificates[r];
    return counts.map((n, a) => n - 1 - (proof?.arm === a ? horizon - proof.t : 0));
  });
  const each = means.map((_, a) => ({paid: gap[a] * mean(played.counts.map(([counts]) => counts[a])),
    charge: mean(races.map((m) => charged(m[a])))}));
  return {each, regret: total(each.map((one) => one.paid)), charge: total(each.map((one) => one.charge)),
    open: played.certificates.filter((proof) => !proof).length};
}

function plane(under, {state: {means}, set, handle}, [left, right], [bottom, top]) {
  const x = scale([0, 1], [left, right]), y = scale([0, 1], [bottom, top]), gap = gaps(means);
  axes(under, x, y, {xlabel: "mean on objective 1", ylabel: "mean on objective 2"});
  const hold = (v, fine) => Math.min(HIGH, Math.max(LOW, Number(v.toFixed(fine ? 3 : 2))));
  means.forEach((row, a) => {
    handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], step: 0.02, radius: 8, colour: gap[a] > 0 ? "orange" : "blue", label: `Arm ${NAMES[a]}`,
      valuetext: `${tidy(row[0])}, ${tidy(row[1])}; ${gap[a] > 0 ? `gap ${tidy(gap[a])}` : "gap 0"}`,
      move: (u, v, fine) => set({means: means.map((old, k) => (k === a ? [hold(u, fine), hold(v, fine)] : old))})});
    under.append(svg("text", {x: x(row[0]) + 12, y: y(row[1]) - 8}, NAMES[a]));
  });
}

/** Arms whose shares are too close to be written apart are written together: [place, letters]. */
function letters(shares, x) {
  const placed = shares.flatMap((share, a) => (share >= 1 && share < Infinity ? [[x(share), NAMES[a]]] : []));
  const groups = [];
  for (const [at, name] of placed.sort(([p], [q]) => p - q)) {
    const last = groups.at(-1);
    if (last && at - mean(last.places) < 5 * last.names.length + 9) last.places.push(at), last.names.push(name);
    else groups.push({places: [at], names: [name]});
  }
  return groups.map(({places, names}) => [mean(places), names.sort().join("")]);
}

/** The stages as bars on a logarithmic axis, with the share of every arm below. */
function waterfall(under, stages, [left, right], top, each) {
  const most = Math.max(10, ...stages.map(({value}) => value).filter(Number.isFinite));
  const x = scale([1, 10 ** Math.ceil(Math.log10(most))], [left, right], true), bottom = top + each * stages.length;
  axes(under, x, scale([0, 1], [bottom, top]), {xlabel: "regret; a letter stands at the share of its arm", yticks: 0});
  stages.forEach(({label, value, colour, shares = []}, k) => {
    const y = top + k * each, end = x(Math.max(1, Math.min(x.domain[1], value)));
    under.append(
      svg("text", {x: left, y: y + 14, class: "live-label"}, label),
      svg("rect", {x: left, y: y + 20, width: Math.max(0, end - left), height: 12, style: `fill: var(--fig-${colour})`}),
      svg("text", {x: right, y: y + 14, "text-anchor": "end", "font-weight": 600}, tidy(value, 4)),
      ...letters(shares, x).map(([at, names]) => svg("text", {x: at, y: y + 44, "text-anchor": "middle", class: "live-tick"}, names)));
  });
}

define("regret-theorem", {
  title: "How far is the bound from what is paid, and where is it lost?",
  controls: {
    c: range({label: "Coefficient c", min: 0.2, max: 3, step: 0.1, value: 2}),
    horizon: range({label: "Horizon T", min: 1000, max: 1e6, step: 1.25, value: 200_000, log: true, integer: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  state: {means: points({value: START, min: LOW, max: HIGH, least: 2, most: 8})},
  size: [760, 380], narrow: (width) => width + 342,
  actions: [
    {label: "Add an arm", act: ({state: {means}, set}) => {
      if (means.length < NAMES.length) set({means: [...means, [Number((0.1 + 0.06 * means.length).toFixed(2)), 0.1]]});
    }},
    {label: "Remove the last arm", act: ({state: {means}, set}) => {
      if (means.length > 2) set({means: means.slice(0, -1)});
    }},
  ],
  work: ({means, c, horizon, seed}) => [{source: {kind: "bernoulli", means}, policy: {family: "width-guided", c}, horizon, seed, runs: RUNS}],
  draw(view) {
    const {under, state, result, width, height, narrow} = view, {means, c, horizon} = state;
    const side = narrow ? width - 60 : height - 130;
    plane(under, view, [44, 44 + side], [34 + side, 34]);
    const all = bounds(means, horizon, c), now = result && result[0].counts[0][0].length === means.length ? account(state, result[0]) : null;
    const gap = gaps(means), lead = Math.max(...leads(means)), log = c * Math.log(horizon);
    const stages = [
      {label: "paid, measured", value: now?.regret ?? 1, colour: "blue", shares: now?.each.map((one) => one.paid)},
      {label: narrow ? "4 radii charged for every pull" : "4 radii charged for every pull (local charge)", value: now ? now.charge + all.warm : 1, colour: "sky",
        shares: now?.each.map((one) => one.charge)},
      {label: narrow ? "Theorem 4" : "Theorem 4: as often as the width floor allows", value: all.theorem, colour: "orange", shares: means.map(() => 32 * log / lead)},
      {label: narrow ? "sharper: arm by arm" : "sharper bound: arm by arm, each pull at its gap", value: all.sharper, colour: "gold",
        shares: gap.map((x) => (x > 0 ? 16 * log * x / Math.max(x, lead) ** 2 : 0))},
      {label: narrow ? "the most possible" : "the most that any policy can lose: T times the largest gap", value: all.trivial, colour: "muted"},
    ];
    waterfall(under, stages, narrow ? [10, width - 12] : [44 + side + 46, width - 12], narrow ? side + 92 : 14, narrow ? 52 : 62);
  },
  words(state, result) {
    const {means, c, horizon} = state;
    if (result?.[0].counts[0][0].length !== means.length) return "Playing …";
    const it = account(state, result[0]), all = bounds(means, horizon, c);
    if (all.trivial === 0) return "Every arm has gap zero here: there is no regret, and nothing to bound.";
    const none = it.open ? ` (${it.open} of them without a certificate)` : "";
    const silent = all.theorem === Infinity;
    const most = it.each.reduce((best, one, a) => (one.paid > it.each[best].paid ? a : best), 0);
    return `Paid: ${tidy(it.regret, 4)}, the mean of ${RUNS} runs${none}; most of it, ${tidy(it.each[most].paid)}, for pulls of arm ${NAMES[most]}. Four radii charged for every pull make ${tidy(it.charge + all.warm, 4)}. `
      + (silent ? "No objective has a single winner (g = 0): Theorem 4 does not apply. "
        : `As many pulls as the floor allows make Theorem 4, ${tidy(all.theorem, 4)}: ${tidy(all.theorem / it.regret)} times what is paid${
          all.theorem > all.trivial ? `, and more than any policy can pay, ${tidy(all.trivial, 4)}` : ""}. `)
      + `Counted arm by arm, the sharper bound is ${tidy(all.sharper, 4)}.${
        all.tail > all.races.sharper ? " With so small a c the bad event is most of it." : ""}`;
  },
  python: ({means, c, horizon, seed}) => `import momab
from momab.chapters import regret_theorem

instance = momab.bernoulli(${pythonList(means)})
kept = regret_theorem.account(instance, horizon=${horizon}, runs=${RUNS}, seed=${seed}, c=${c})
print(kept.regret.mean(), kept.charge.mean() + kept.theorem.warm_start, (~kept.certified).sum())
print(kept.sharper.total, kept.theorem.total, ${horizon} * instance.geometry.max_gap)
`,
});
