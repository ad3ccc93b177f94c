// The model: drag songs in the plane; Pareto set, staircase, lift, gaps, leads.

import {axes, define, path, points, scale, svg, tidy} from "../kit.js";
import {front, gaps, leads, pythonList} from "../math.js";

const NAMES = "ABCDEFGHIJ";
const START = [[0.75, 0.35], [0.35, 0.75], [0.55, 0.6], [0.3, 0.3], [0.6, 0.2]];
const SNAP = 0.012;

/** A coordinate that comes close to another arm's snaps to it: ties are made by hand here. */
function snapped(value, others, fine) {
  const held = Math.min(1, Math.max(0, value));
  const near = fine ? undefined : others.find((other) => Math.abs(other - held) < SNAP);
  return near ?? Number(held.toFixed(fine ? 3 : 2));
}

/** The corners of the staircase below which an arm is dominated. */
function staircase(means) {
  const on = front(means), best = means.filter((_, a) => on[a]).sort((p, q) => p[0] - q[0]);
  const corners = [[0, best[0][1]]];
  best.forEach((p, i) => {
    corners.push(p);
    if (i + 1 < best.length) corners.push([p[0], best[i + 1][1]]);
  });
  return [...corners, [best.at(-1)[0], 0]];
}

define("model", {
  title: "Drag a song: which songs does no other dominate, and how large are the gaps?",
  state: {means: points({value: START, min: 0, max: 1, least: 2, most: 10})},
  size: [660, 440], narrow: (width) => width + 24,
  actions: [
    {label: "Add a song", act: ({state, set}) => {
      if (state.means.length < 10) set({means: [...state.means, [0.2 + 0.06 * state.means.length, 0.15]]});
    }},
    {label: "Remove the last song", act: ({state, set}) => {
      if (state.means.length > 2) set({means: state.means.slice(0, -1)});
    }},
  ],
  draw({under, state, set, handle, width, height, narrow}) {
    const {means} = state;
    const side = narrow ? width - 62 : height - 90;
    const x = scale([0, 1], [46, 46 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean of plays", ylabel: "mean of saves"});
    const on = front(means), gap = gaps(means);
    const corners = staircase(means);
    under.append(
      svg("path", {d: path([[0, 0], ...corners], x, y), style: "fill: var(--fig-blue); opacity: 0.1"}),
      svg("path", {d: path(corners, x, y), fill: "none", "stroke-width": 2, style: "stroke: var(--fig-blue)"}));
    means.forEach((row, a) => {
      if (gap[a] > 0) {
        const lifted = row.map((v) => v + gap[a]);
        under.append(svg("path", {d: path([row, lifted], x, y), "stroke-width": 2.5, "stroke-dasharray": "3 3",
          style: "stroke: var(--fig-orange)"}));
      }
      const others = (j) => means.filter((_, b) => b !== a).map((other) => other[j]);
      handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], label: `Song ${NAMES[a]}`,
        colour: on[a] ? "blue" : gap[a] > 0 ? "orange" : "gold", step: 0.02,
        move: (u, v, fine) => set({means: means.map((old, b) =>
          (b === a ? [snapped(u, others(0), fine), snapped(v, others(1), fine)] : old))}),
        valuetext: `${tidy(row[0])}, ${tidy(row[1])}; ${on[a] ? "in the Pareto set" : `gap ${tidy(gap[a])}`}`});
      under.append(svg("text", gap[a] > 0 ? {x: x(row[0]) - 19, y: y(row[1]) + 5, "text-anchor": "end"}
        : {x: x(row[0]) + 13, y: y(row[1]) - 10}, NAMES[a]));
    });
    if (narrow) return; // the words below say it
    const left = x.range[1] + 30;
    const line = (k, text, attributes = {}) =>
      under.append(svg("text", {x: left, y: 48 + 22 * k, ...attributes}, text));
    line(0, "song", {class: "live-tick"});
    under.append(svg("text", {x: left + 50, y: 48, class: "live-tick"}, "Pareto gap"));
    means.forEach((_, a) => {
      line(a + 1, NAMES[a]);
      under.append(svg("text", {x: left + 50, y: 48 + 22 * (a + 1)},
        on[a] ? "in the Pareto set" : gap[a] > 0 ? tidy(gap[a]) : "0, but dominated"));
    });
    const [g1, g2] = leads(means), row = means.length + 2;
    line(row, `leads: ${tidy(g1)} and ${tidy(g2)}`);
  },
  words({means}) {
    const on = front(means), gap = gaps(means), [g1, g2] = leads(means);
    const list = (keep) => means.map((_, a) => a).filter(keep).map((a) => NAMES[a]).join(", ");
    const trapped = list((a) => !on[a] && gap[a] === 0);
    return `In the Pareto set: ${list((a) => on[a])}. `
      + (means.some((_, a) => gap[a] > 0) ? `The dashed lifts are the Pareto gaps: ${means.map((_, a) => a)
        .filter((a) => gap[a] > 0).map((a) => `${NAMES[a]} ${tidy(gap[a])}`).join(", ")}. ` : "No song has a positive gap. ")
      + (trapped ? `${trapped}: dominated, and yet the gap is zero, because of a tie. ` : "")
      + `The best song is ahead of the second best by ${tidy(g1)} in plays and by ${tidy(g2)} in saves${
        Math.max(g1, g2) === 0 ? ": no objective has a single winner" : ""}.`;
  },
  python: ({means}) => `from momab import pareto

means = ${pythonList(means)}
print(pareto.front(means), pareto.gaps(means), pareto.objective_gaps(means))
`,
});
