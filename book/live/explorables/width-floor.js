// The width floor: two intervals over a true lead, equally many samples; how long the race can stay open.

import {axes, define, path, points, range, scale, svg, tidy} from "../kit.js";

const HORIZON = 100_000, C = 2, LOG = C * Math.log(HORIZON), NAMES = "AB";
const MOST = 50_000, LEAST = 30, FAR = 1.5; // estimates err by at most so many radii
const hold = (x) => Math.min(1, Math.max(0, x));
const round = (x) => Math.round(x * 1e9) / 1e9;

/** The race with n samples of each arm, whose estimates err by so many radii. */
export function race({lead, n, errors: [errors]}) {
  const beta = Math.sqrt(LOG / n), truth = [round(0.5 + lead / 2), round(0.5 - lead / 2)];
  const at = truth.map((mean, k) => hold(mean + errors[k] * beta));
  const L = at.map((x) => round(x - beta)), U = at.map((x) => round(x + beta));
  const leader = U[1] > U[0] ? 1 : 0, off = at.map((x, k) => Math.abs(x - truth[k]) > beta + 1e-9);
  return {beta, truth, at, L, U, leader, off, open: L[leader] <= U[1 - leader], width: 2 * beta};
}

function interval(under, x, y, {low, high, colour, label}) {
  const [from, to] = [low, high].map((v) => x(hold(v)));
  under.append(
    svg("line", {x1: from, x2: to, y1: y, y2: y, "stroke-width": 10, style: `stroke: var(--fig-${colour}); opacity: 0.6`}),
    svg("text", {x: x.range[0], y: y - 16}, label),
    low > 0.1 ? svg("text", {x: from - 6, y: y + 4, "text-anchor": "end", class: "live-tick"}, `L ${tidy(low)}`) : "",
    high < 0.9 ? svg("text", {x: to + 6, y: y + 4, class: "live-tick"}, `U ${tidy(high)}`) : "");
}

/** The width against the samples, and how long a race can be open. */
function fall(under, {lead, n}, {open, width: now}, [left, right], [bottom, top], narrow) {
  const u = scale([LEAST, MOST], [left, right], true), v = scale([0, Math.max(0.6, 2 * lead)], [bottom, top]);
  const stops = [4 * LOG / lead ** 2, 16 * LOG / lead ** 2].map((k) => Math.min(MOST, Math.max(LEAST, k)));
  const names = narrow ? [["open if true"], ["only if", "wrong"], ["never"]] : [["open if estimates are true"], ["only if wrong"], ["never open"]];
  const zones = [[LEAST, stops[0], 0.3], [stops[0], stops[1], 0.14], [stops[1], MOST, 0]];
  for (const [from, to, shade] of zones)
    under.append(svg("rect", {x: u(from), width: u(to) - u(from), y: top, height: bottom - top, style: `fill: var(--fig-orange); opacity: ${shade}`}));
  axes(under, u, v, {xlabel: "samples of each arm", ylabel: narrow ? "width W" : "width W of the race"});
  for (const [k, [from, to]] of zones.entries()) {
    const lines = names[k], longest = Math.max(...lines.map((line) => line.length));
    if (u(to) - u(from) > 7 * longest - 10) lines.forEach((line, i) => under.append(svg("text", {
      x: (u(from) + u(to)) / 2, y: k === 2 ? top + 15 : bottom - 8 - 14 * (lines.length - 1 - i),
      "text-anchor": "middle", class: k === 2 ? "live-tick live-clear" : "live-tick"}, line)));
  }
  const curve = Array.from({length: 101}, (_, i) => LEAST * (MOST / LEAST) ** (i / 100)).map((k) => [k, 2 * Math.sqrt(LOG / k)]);
  for (const [level, text] of [[lead, "lead g"], [lead / 2, "floor g/2"]]) {
    under.append(
      svg("line", {x1: left, x2: right, y1: v(level), y2: v(level), "stroke-width": 1.5, "stroke-dasharray": "5 4", style: "stroke: var(--fig-ink)"}),
      svg("text", {x: right - 2, y: v(level) - 5, "text-anchor": "end", class: "live-tick"}, text));
  }
  under.append(
    svg("path", {d: path(curve.filter(([, w]) => w <= v.domain[1]), u, v), fill: "none", "stroke-width": 2.5, style: "stroke: var(--fig-blue)"}),
    svg("circle", {cx: u(n), cy: v(Math.min(now, v.domain[1])), r: 7, style: `fill: var(--fig-${open ? "orange" : "green"}); stroke: var(--fig-ink)`}));
}

define("width-floor", {
  title: "How long can a race stay open?",
  controls: {
    n: range({label: "Samples of each arm", min: LEAST, max: MOST, step: 1.1, value: 2300, log: true, integer: true}),
    lead: range({label: "True lead g of A", min: 0.1, max: 0.8, step: 0.02, value: 0.4}),
  },
  state: {errors: points({value: [[-1, 1]], min: -FAR, max: FAR, least: 1, most: 1})},
  size: [700, 420], narrow: () => 420,
  actions: [
    {label: "Estimates at the wrong ends", act: ({set}) => set({errors: [[-1, 1]]})},
    {label: "Estimates at the truth", act: ({set}) => set({errors: [[0, 0]]})},
  ],
  draw({under, state, set, handle, width, height, narrow}) {
    const {errors: [errors]} = state, it = race(state), x = scale([0, 1], [14, width - 14]), rows = [48, 108];
    const other = 1 - it.leader;
    rows.forEach((y, k) => {
      interval(under, x, y, {low: it.L[k], high: it.U[k], colour: it.off[k] ? "pink" : it.open ? "orange" : "green", label: `${NAMES[k]}, ${k === it.leader ? "leader" : "challenger"}`});
      under.append(svg("path", {d: `M${x(it.truth[k])} ${y + 6}l7 13h-14z`, style: "fill: var(--fig-gold); stroke: var(--fig-ink)"}));
      handle(`estimate-${k}`, {x: it.at[k], y: 0, scales: [x, scale([0, 1], [y, y - 100])], step: Math.max(0.001, it.beta / 10), radius: 8, colour: "blue",
        label: `Estimate of arm ${NAMES[k]}`, valuetext: `${tidy(it.at[k])}, ${tidy(errors[k])} radii from the true mean`,
        move: (v, _, fine) => {
          const error = Number(((v - it.truth[k]) / it.beta).toFixed(fine ? 2 : 1));
          set({errors: [errors.map((old, i) => (i === k ? Math.min(FAR, Math.max(-FAR, error)) : old))]});
        }});
    });
    under.append(svg("text", {x: width - 14, y: 16, "text-anchor": "end", class: "live-tick"}, "triangles: true means"));
    if (it.open) {
      const [from, to] = [hold(it.L[it.leader]), hold(it.U[other])];
      under.append(svg("rect", {x: x(from), width: Math.max(1.5, x(to) - x(from)), y: rows[0], height: rows[1] - rows[0], style: "fill: var(--fig-orange); opacity: 0.15"}));
    }
    fall(under, state, it, [44, width - 14], [height - 50, 176], narrow);
  },
  words(state) {
    const {lead, n, errors: [errors]} = state, it = race(state), b = it.leader, c = 1 - b;
    const ratio = it.width / (lead / 2), so = `L of ${NAMES[b]} = ${tidy(it.L[b], 4)} is ${it.open ? "not " : ""}above U of ${NAMES[c]} = ${tidy(it.U[c], 4)}`;
    const wrong = errors[0] === -1 && errors[1] === 1 ? "both estimates wrong by a whole radius" : errors.every((e) => e === 0) ? "both estimates true"
      : "estimates as drawn";
    const missed = it.off.includes(true) ? "; but an interval misses its true mean, and then the lemma promises nothing" : "";
    return `${tidy(n, 6)} samples of each, ${wrong}: ${so}, so the race is ${it.open ? "still open" : "decided"}${missed}. Its width W = ${tidy(it.width, 4)} is ${
      tidy(ratio, 4)} times the floor g/2. With true estimates a race is open for ${tidy(Math.floor(4 * LOG / lead ** 2), 6)} samples, `
      + `with the worst ones for ${tidy(Math.floor(16 * LOG / lead ** 2), 6)}, and no longer (T = ${tidy(HORIZON, 6)}, c = ${C}).`;
  },
  python: (state) => `import math
from momab import theory

n, lead, errors = ${state.n}, ${state.lead}, ${JSON.stringify(state.errors[0])}
beta = float(theory.confidence_radius(n, ${HORIZON}, c=${C}))
at = [min(1, max(0, 0.5 + side * lead / 2 + e * beta)) for side, e in zip((1, -1), errors)]
b, c = (1, 0) if at[1] > at[0] else (0, 1)  # leader, challenger
print("AB"[b], round(at[b] - beta, 9), round(at[c] + beta, 9), 2 * beta, 2 * beta / (lead / 2))
print([math.floor(k * ${C} * math.log(${HORIZON}) / lead**2) for k in (4, 16)])
`,
});
