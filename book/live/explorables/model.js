// The model: drag arms in the plane; front, staircase, lift, gaps, leads, price.

import {axes, define, path, points, scale, svg, tidy} from "../kit.js";
import {front, gaps, leads, price, pythonList} from "../math.js";

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
  title: "Drag an arm: who is on the front, and how far are the others from it?",
  state: {means: points({value: START, min: 0, max: 1, least: 2, most: 10})},
  size: [660, 440], narrow: (width) => width + 24,
  actions: [
    {label: "Add an arm", act: ({state, set}) => {
      if (state.means.length < 10) set({means: [...state.means, [0.2 + 0.06 * state.means.length, 0.15]]});
    }},
    {label: "Remove the last arm", act: ({state, set}) => {
      if (state.means.length > 2) set({means: state.means.slice(0, -1)});
    }},
  ],
  draw({under, state, set, handle, width, height, narrow}) {
    const {means} = state;
    const side = narrow ? width - 62 : height - 90;
    const x = scale([0, 1], [46, 46 + side]), y = scale([0, 1], [34 + side, 34]);
    axes(under, x, y, {xlabel: "mean on objective 1", ylabel: "mean on objective 2"});
    const on = front(means), gap = gaps(means), cheapest = price(means);
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
      handle(`arm-${a}`, {x: row[0], y: row[1], scales: [x, y], label: `Arm ${NAMES[a]}`,
        colour: on[a] ? "blue" : gap[a] > 0 ? "orange" : "gold", step: 0.02,
        move: (u, v, fine) => set({means: means.map((old, b) =>
          (b === a ? [snapped(u, others(0), fine), snapped(v, others(1), fine)] : old))}),
        valuetext: `${tidy(row[0])}, ${tidy(row[1])}; ${on[a] ? "on the front" : `gap ${tidy(gap[a])}`}`});
      under.append(svg("text", gap[a] > 0 ? {x: x(row[0]) - 19, y: y(row[1]) + 5, "text-anchor": "end"}
        : {x: x(row[0]) + 13, y: y(row[1]) - 10}, NAMES[a]));
    });
    if (narrow) return; // the words below say it
    const left = x.range[1] + 30;
    const line = (k, text, attributes = {}) =>
      under.append(svg("text", {x: left, y: 48 + 22 * k, ...attributes}, text));
    line(0, "arm", {class: "live-tick"});
    under.append(svg("text", {x: left + 50, y: 48, class: "live-tick"}, "Pareto gap"));
    means.forEach((_, a) => {
      line(a + 1, NAMES[a]);
      under.append(svg("text", {x: left + 50, y: 48 + 22 * (a + 1)},
        on[a] ? "on the front" : gap[a] > 0 ? tidy(gap[a]) : "0, but dominated"));
    });
    const [g1, g2] = leads(means), row = means.length + 2;
    line(row, `leads: ${tidy(g1)} and ${tidy(g2)}`);
    line(row + 1, `price: ${tidy(cheapest.value)}`);
    line(row + 2, `attained by arm ${NAMES[cheapest.arm]}`);
  },
  words({means}) {
    const on = front(means), gap = gaps(means), [g1, g2] = leads(means), cheapest = price(means);
    const list = (keep) => means.map((_, a) => a).filter(keep).map((a) => NAMES[a]).join(", ");
    const trapped = list((a) => !on[a] && gap[a] === 0);
    return `On the front: ${list((a) => on[a])}. `
      + (means.some((_, a) => gap[a] > 0) ? `The dashed lifts are the Pareto gaps: ${means.map((_, a) => a)
        .filter((a) => gap[a] > 0).map((a) => `${NAMES[a]} ${tidy(gap[a])}`).join(", ")}. ` : "Nobody has a gap. ")
      + (trapped ? `${trapped}: dominated, and yet the gap is zero, because of a tie. ` : "")
      + `The leads of the best arm are ${tidy(g1)} and ${tidy(g2)}${
        Math.max(g1, g2) === 0 ? ": no objective has a single winner" : ""}. `
      + (cheapest.value > 0 ? `The price is ${tidy(cheapest.value)}, attained by arm ${NAMES[cheapest.arm]}.` : "");
  },
  python: ({means}) => `import momab
from momab import pareto, theory

means = ${pythonList(means)}
print(pareto.front(means), pareto.gaps(means), pareto.objective_gaps(means))
price = theory.price(means)
print(price.value, price.arm)
`,
});
