// Zero gap: drag a song across the tie; at the tie its gap is zero although it is dominated.

import {axes, define, path, points, scale, svg, tidy} from "../kit.js";
import {front, gaps, pythonList} from "../math.js";

const A = [0.7, 0.8];
const hold = (x) => Math.min(1, Math.max(0, x));
const toTie = (x, tie, fine) => (!fine && Math.abs(x - tie) < 0.012 ? tie : Number(hold(x).toFixed(fine ? 3 : 2)));

define("zero-gap", {
  title: "Drag song 2 to the right. What happens at the tie?",
  state: {b: points({value: [[0.5, 0.3]], min: 0, max: 1, least: 1, most: 1})},
  size: [700, 360], narrow: () => 520,
  draw({under, state, set, handle, width, height, narrow}) {
    const [b] = state.b, means = [A, b];
    const [, gap] = gaps(means), [, on] = front(means);
    const side = narrow ? Math.min(width - 60, 250) : height - 90;
    const x = scale([0, 1], [46, 46 + side]), y = scale([0, 1], [38 + side, 38]);
    axes(under, x, y, {xlabel: "mean of plays", ylabel: "mean of saves"});
    under.append(
      svg("path", {d: path([[0, 0], [0, A[1]], A, [A[0], 0]], x, y), style: "fill: var(--fig-blue); opacity: 0.1"}),
      svg("path", {d: path([[0, A[1]], A, [A[0], 0]], x, y), fill: "none", "stroke-width": 2, style: "stroke: var(--fig-blue)"}),
      svg("circle", {cx: x(A[0]), cy: y(A[1]), r: 8, style: "fill: var(--fig-blue)"}),
      svg("text", {x: x(A[0]) + 12, y: y(A[1]) - 8}, "1"),
      svg("text", {x: x(b[0]) - 19, y: y(b[1]) + 5, "text-anchor": "end"}, "2"));
    if (gap > 0) under.append(svg("path", {d: path([b, b.map((v) => v + gap)], x, y), "stroke-width": 2.5,
      "stroke-dasharray": "3 3", style: "stroke: var(--fig-orange)"}));
    handle("b", {x: b[0], y: b[1], scales: [x, y], label: "Song 2", step: 0.02,
      colour: on ? "blue" : gap > 0 ? "orange" : "gold",
      move: (u, v, fine) => set({b: [[toTie(u, A[0], fine), toTie(v, A[1], fine)]]}),
      valuetext: `${tidy(b[0])}, ${tidy(b[1])}, gap ${tidy(gap)}, ${on ? "in the Pareto set" : "dominated"}`});
    // The gap along the way, at this height.
    const u = scale([0, 1], narrow ? x.range : [x.range[1] + 90, width - 20]);
    const v = scale([0, 0.8], narrow ? [height - 52, 38 + side + 76] : y.range);
    axes(under, u, v, {xlabel: "plays of song 2", ylabel: "Pareto gap of song 2", yticks: 4});
    const from = b[1] > A[1] ? 0 : A[0];
    const curve = Array.from({length: 101}, (_, i) => [i / 100, gaps([A, [i / 100, b[1]]])[1]]);
    under.append(
      svg("rect", {x: u(from), y: v.range[1], width: u(1) - u(from), height: v.range[0] - v.range[1],
        style: "fill: var(--fig-blue); opacity: 0.12"}),
      svg("text", {x: u(from) + 4, y: v.range[1] + 14, class: "live-tick"}, "in the Pareto set"),
      svg("path", {d: path(curve, u, v), fill: "none", "stroke-width": 2.5, style: "stroke: var(--fig-orange)"}),
      svg("circle", {cx: u(b[0]), cy: v(gap), r: 6, style: `fill: var(--fig-${on ? "blue" : gap > 0 ? "orange" : "gold"})`}));
  },
  words({b: [b]}) {
    const [, gap] = gaps([A, b]), [, on] = front([A, b]);
    if (b.every((x, j) => x === A[j])) return "The songs are equal: neither dominates the other, and both are in the Pareto set.";
    if (on) return "Song 2 is ahead on an objective, so it is in the Pareto set, and its gap is zero.";
    if (gap > 0) return `Song 1 is ahead by at least ${tidy(gap)} on both objectives. This is the Pareto gap of song 2, the cost of each pull.`;
    return "A tie: song 1 still dominates song 2, but playing song 2 costs nothing. Its gap is zero although it is not in the Pareto set.";
  },
  python: ({b}) => `from momab import pareto

means = ${pythonList([A, ...b])}
print(pareto.gaps(means), pareto.front(means))
`,
});
