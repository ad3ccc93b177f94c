// The worst case: K, T and d; both orders, the theorem's band, and the recorded worst regrets of MOSS.

import {axes, choice, define, list, path, scale, svg, tidy} from "../kit.js";

const {runs: RUNS, seed: SEED, arms: ARMS, horizons: HORIZONS, rows: ROWS} = globalThis.momabLive.data.minimax;
const COUNTS = Array.from({length: 13}, (_, i) => 2 ** i);
const RULES = [{label: "MOSS on one objective", colour: "orange"}, {label: "MOSS on the average", colour: "blue"}];
const options = (values, unit) => Object.fromEntries(values.map((x) => [x, `${tidy(x, 5)} ${unit}`]));

/** What the theorem says: both orders, and for independent objectives the bounds. */
export function orders({K, T, d}) {
  const any = Math.sqrt(K * T), root = Math.sqrt(K * T / d);
  return {any, root, search: (K - 1) / 2, lower: Math.max(root / 19, (K - 1) / 2), upper: 19.5 * root + K};
}

/** The recorded worst regrets at K and T: [d, rule, mean, low, high]; one objective is its own average. */
function measured({K, T}) {
  return ROWS.filter(([k, , t]) => k === K && t === T).map(([, d, , rule, ...ratios]) =>
    [d, rule, ...ratios.map((ratio) => ratio * orders({K, T, d}).root)]);
}

const numbers = ({K, T, d}) => ({K: +K, T: +T, d});

function legend(under, left, top, narrow) {
  const rows = [...RULES.map(({label, colour}) => [colour, "", label, true]), ["orange", "7 4", "√(KT), any dependence"], ["blue", "7 4", "√(KT/d), independent"],
    ["blue", "", "between the theorem’s bounds, independent"]];
  rows.forEach(([colour, dash, label, point], k) => {
    const x = left + (narrow ? 0 : 200 * (k % 2)), y = top + 18 * (narrow ? k : Math.floor(k / 2));
    under.append(
      k === 4 ? svg("rect", {x, y: y - 10, width: 28, height: 11, style: `fill: var(--fig-${colour}); opacity: 0.15`})
        : point ? svg("circle", {cx: x + 14, cy: y - 4, r: 5, style: `fill: var(--fig-${colour})`})
          : svg("line", {x1: x, x2: x + 28, y1: y - 4, y2: y - 4, "stroke-width": 2, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}),
      svg("text", {x: x + 36, y, class: "live-label"}, label));
  });
}

define("minimax", {
  title: "Add objectives: when is the worst case easier, and when does it stop getting easier?",
  controls: {
    d: list({label: "Objectives d", values: COUNTS, value: 16}),
    K: choice({label: "Arms K", options: options(ARMS, "arms"), value: "8"}),
    T: choice({label: "Rounds T", options: options(HORIZONS, "rounds"), value: "2000"}),
  },
  size: [700, 418], narrow: () => 458,
  draw({under, state, width, height, narrow}) {
    const {K, T, d} = numbers(state), top = narrow ? 130 : 88, right = width - 14;
    const x = scale([0.8, 5000], [44, right], true), y = scale([1, 1e4], [height - 50, top], true);
    const all = COUNTS.map((many) => [many, orders({K, T, d: many})]);
    const line = (key) => all.map(([many, it]) => [many, it[key]]);
    const draw = (points, attributes) => under.append(svg("path", {d: path(points, x, y), fill: "none", "stroke-width": 2, ...attributes}));
    draw([...line("lower"), ...all.map(([many, it]) => [many, Math.min(T, it.upper)]).reverse()],
      {fill: null, "stroke-width": 0, style: "fill: var(--fig-blue); opacity: 0.12"});
    axes(under, x, y, {xlabel: "objectives d", ylabel: "worst regret"});
    draw(line("any"), {"stroke-dasharray": "7 4", style: "stroke: var(--fig-orange)"});
    draw(line("root").filter(([, value]) => value >= 1), {"stroke-dasharray": "7 4", style: "stroke: var(--fig-blue)"});
    draw([[COUNTS[0], orders({K, T, d}).search], [COUNTS.at(-1), orders({K, T, d}).search]], {"stroke-dasharray": "2 4", style: "stroke: var(--fig-ink)"});
    under.append(
      svg("text", {x: 50, y: y(orders({K, T, d}).search) + 15, class: "live-tick"}, "(K − 1)/2: the search"),
      svg("line", {x1: x(d), x2: x(d), y1: y.range[0], y2: top, style: "stroke: var(--fig-muted)"}),
      svg("text", {x: x(d) + 5, y: top + 12, "text-anchor": x(d) > right - 60 ? "end" : "start", dx: x(d) > right - 60 ? -10 : 0, class: "live-tick"}, `d = ${tidy(d, 5)}`));
    for (const [many, rule, mean, low, high] of measured({K, T})) {
      const style = `stroke: var(--fig-${RULES[rule].colour}); fill: var(--fig-${RULES[rule].colour})`;
      under.append(
        svg("line", {x1: x(many), x2: x(many), y1: y(low), y2: y(high), "stroke-width": 2, style}),
        svg("circle", {cx: x(many), cy: y(mean), r: many === d ? 7 : 4.5, style}));
    }
    legend(under, narrow ? 12 : 60, 16, narrow);
  },
  words(state) {
    const {K, T, d} = numbers(state), it = orders({K, T, d}), [one, average] = measured({K, T}).filter(([many]) => many === d).map(([, , mean]) => mean);
    return `${K} arms, ${tidy(T, 5)} rounds, ${tidy(d, 5)} ${d === 1 ? "objective" : "objectives"}. If the objectives may depend on each other in any way, the best policy’s worst regret is of the order √(KT) = ${tidy(it.any)}; if they are independent, √(KT/d) = ${tidy(it.root)} once T ≥ Kd, and between ${tidy(it.lower)} and ${tidy(it.upper)}${it.upper > T ? ", although no policy can lose more than T" : ""}. `
      + (average ? `Measured, on the instances of the proof: ${tidy(one)} for MOSS on one objective, ${tidy(average)} on the average, which is ${tidy(one / average)} times less. `
        : one ? `Measured, on the instances of the proof: ${tidy(one)}. ` : "Runs are recorded for 1, 4, 16 and 64 objectives only. ")
      + (it.search > it.root ? "The search through the arms, (K − 1)/2, now exceeds √(KT/d): more objectives do not shorten it."
        : it.search > it.root / 19 ? "The best lower bound here is that of the search through the arms, (K − 1)/2." : "");
  },
  python(state) {
    const {K, T, d} = numbers(state), recorded = measured({K, T}).some(([many]) => many === d);
    return `import math
${recorded ? "from momab.study import minimax\n" : ""}
K, T, d = ${K}, ${T}, ${d}
root = math.sqrt(K * T / d)
print(math.sqrt(K * T), root, max(root / 19, (K - 1) / 2), 19.5 * root + K)
${recorded ? `ratios = minimax.ratio_table((K,), (d,), T, runs=${RUNS}, seed=${SEED})["mean"]
print((ratios * root).tolist())
` : ""}`;
  },
});
