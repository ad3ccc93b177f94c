// Local charge: two intervals over a true lead; what the pull costs, in radii of the pulled arm.

import {axes, define, points, range, scale, svg, tidy} from "../kit.js";

const BEST = 0.7;
const NAMES = "AB";
const hold = (x) => Math.min(1, Math.max(0, x));
const round = (x) => Math.round(x * 1e9) / 1e9;

/** What the algorithm does with these two arms; at a tie B, the more expensive arm, leads or is pulled. */
export function judge({lead, a, b, at: [at]}) {
  const radius = [a, b], truth = [BEST, round(BEST - lead)];
  const L = at.map((x, k) => round(x - radius[k])), U = at.map((x, k) => round(x + radius[k]));
  const leader = U[1] >= U[0] ? 1 : 0, pulled = b >= a ? 1 : 0;
  const off = at.map((x, k) => Math.abs(x - truth[k]) > radius[k] + 1e-9);
  return {truth, L, U, leader, pulled, off, holds: !off.includes(true), open: L[leader] <= U[1 - leader],
    width: round(a + b), charge: pulled ? round(lead / b) : 0, most: leader === pulled ? 2 : 4};
}

function interval(under, x, y, {low, high, colour, label}) {
  const [from, to] = [low, high].map((v) => x(hold(v)));
  const said = (px, text, out) => {
    const room = out < 0 ? px - 50 > x.range[0] : px + 50 < x.range[1];
    under.append(svg("text", {x: px + (room ? 6 * out : 0), y: room ? y + 4 : y - 12, class: "live-tick",
      "text-anchor": room === (out < 0) ? "end" : "start"}, text));
  };
  under.append(
    svg("line", {x1: from, x2: to, y1: y, y2: y, "stroke-width": 10, style: `stroke: var(--fig-${colour}); opacity: 0.6`}),
    svg("text", {x: x.range[0], y: y - 28}, label));
  said(from, `L ${tidy(low)}`, -1);
  said(to, `U ${tidy(high)}`, 1);
}

function gauge(under, {charge, most, open, holds}, [left, right], top) {
  const v = scale([0, 6], [left, right]);
  axes(under, v, scale([0, 1], [top + 24, top]), {xlabel: "cost of the pull, in radii of the pulled arm", yticks: 0, xticks: 6});
  under.append(
    svg("rect", {x: left, y: top + 3, width: v(open ? Math.min(6, charge) : 0) - left, height: 18,
      style: `fill: var(--fig-${open && holds ? "blue" : "pink"})`}),
    ...[2, 4].flatMap((k) => [
      svg("line", {x1: v(k), x2: v(k), y1: top - 8, y2: top + 24, "stroke-width": k === most ? 3.5 : 1.5,
        "stroke-dasharray": "5 3", style: `stroke: var(--fig-${k === most ? "orange" : "muted"})`}),
      svg("text", {x: v(k), y: top - 14, "text-anchor": "middle", class: "live-tick"}, k === 2 ? "most for a leader" : "for a challenger")]));
}

define("local-charge", {
  title: "Can a pull cost more than four radii? Try, before A is certified",
  controls: {
    lead: range({label: "True lead of A over B", min: 0.02, max: 0.6, step: 0.02, value: 0.4}),
    a: range({label: "Radius of A", min: 0.02, max: 0.3, step: 0.01, value: 0.1}),
    b: range({label: "Radius of B", min: 0.02, max: 0.3, step: 0.01, value: 0.1}),
  },
  state: {at: points({value: [[0.6, 0.4]], min: 0, max: 1, least: 1, most: 1})},
  size: [700, 372], narrow: () => 380,
  actions: [
    {label: "Estimates at the wrong ends", act: ({state, set}) => {
      const {truth: [best, other]} = judge(state);
      set({at: [[round(hold(best - state.a)), round(hold(other + state.b))]]});
    }},
    {label: "Estimates at the truth", act: ({state, set}) => set({at: [judge(state).truth]})},
  ],
  draw({under, state, set, handle, width, height}) {
    const {at: [at], lead} = state, it = judge(state), x = scale([0, 1], [14, width - 14]), rows = [72, 168];
    const gold = (attributes) => svg("line", {"stroke-width": 2, style: "stroke: var(--fig-gold)", ...attributes});
    under.append(
      gold({x1: x(BEST), x2: x(BEST), y1: 26, y2: rows[1] + 32, "stroke-dasharray": "5 4"}),
      gold({x1: x(it.truth[1]), x2: x(it.truth[1]), y1: rows[1], y2: rows[1] + 32}),
      gold({x1: x(it.truth[1]), x2: x(BEST), y1: rows[1] + 32, y2: rows[1] + 32}),
      svg("text", {x: x(BEST), y: 16, "text-anchor": "middle", class: "live-label"}, "true mean of A"),
      svg("text", {x: x(it.truth[1]), y: rows[1] + 58, "text-anchor": "middle", class: "live-label"}, "true mean of B"));
    rows.forEach((y, k) => {
      const used = it.open && k === it.pulled;
      interval(under, x, y, {low: it.L[k], high: it.U[k], colour: it.off[k] ? "pink" : used ? "orange" : "blue",
        label: `${NAMES[k]}, ${k === it.leader ? "leader" : "challenger"}${used ? ", pulled" : ""}`});
    });
    const flat = (y) => [x, scale([0, 1], [y, y - 100])];
    rows.forEach((y, k) => handle(`estimate-${k}`, {x: at[k], y: 0, scales: flat(y), step: 0.01, radius: 8,
      colour: it.off[k] ? "pink" : "blue", label: `Estimate of arm ${NAMES[k]}`,
      move: (v, _, fine) => set({at: [at.map((old, i) => (i === k ? Number(hold(v).toFixed(fine ? 3 : 2)) : old))]}),
      valuetext: `${tidy(at[k])}, interval ${tidy(it.L[k])} to ${tidy(it.U[k])}`}));
    handle("true", {x: it.truth[1], y: 0, scales: flat(rows[1] + 32), step: 0.01, colour: "gold", radius: 8,
      label: "True mean of arm B", valuetext: `${tidy(it.truth[1])}, ${tidy(lead)} below A`,
      move: (v, _, fine) => set({lead: Math.min(0.6, Math.max(0.02, Number((BEST - v).toFixed(fine ? 3 : 2))))})});
    gauge(under, it, x.range, height - 74);
  },
  words(state) {
    const it = judge(state), b = it.leader, c = 1 - b, pulled = NAMES[it.pulled];
    const missing = it.off.flatMap((one, k) => (one ? [NAMES[k]] : []));
    const missed = `an interval misses its true mean (${missing.join(" and ")})`;
    if (!it.open) {
      return `${NAMES[b]} is certified: L of ${NAMES[b]} = ${tidy(it.L[b])} is above U of ${NAMES[c]} = ${tidy(it.U[c])}. The race is over${
        it.holds ? "." : `; but ${missed}, so the lemmas promise nothing.`}`;
    }
    return `No certificate: L of ${NAMES[b]} = ${tidy(it.L[b])} is not above U of ${NAMES[c]} = ${tidy(it.U[c])}. The width is W = ${tidy(it.width)}. `
      + `${pulled} has the larger radius${state.a === state.b ? " (a tie: say B)" : ""} and is pulled; `
      + (it.pulled ? `it costs ${tidy(it.charge)} of its radii. ` : "it is the best arm and costs nothing. ")
      + (!it.holds ? `But ${missed}: here the lemma promises nothing.`
        : it.charge >= it.most ? `More is not possible for a ${it.most === 2 ? "leader" : "challenger"}.`
          : `The most possible for a ${it.most === 2 ? "leader" : "challenger"} is ${it.most}.`);
  },
  python: (state) => `mean = {"B": ${judge(state).truth[1]}, "A": ${BEST}}
estimate = {"B": ${state.at[0][1]}, "A": ${state.at[0][0]}}
radius = {"B": ${state.b}, "A": ${state.a}}
L = {arm: round(estimate[arm] - radius[arm], 9) for arm in mean}
U = {arm: round(estimate[arm] + radius[arm], 9) for arm in mean}
leader, challenger = sorted(mean, key=U.get, reverse=True)
pulled = max(mean, key=radius.get)
print(leader, L[leader], U[challenger], L[leader] > U[challenger])
print(pulled, (mean["A"] - mean[pulled]) / radius[pulled], sum(radius.values()))
print([arm for arm in mean if abs(estimate[arm] - mean[arm]) > radius[arm] + 1e-9])
`,
});
