// Tuning: every policy's coefficient on a slider over recorded validation runs, one group at a time; who is first.

import {axes, choice, define, list, path, scale, svg, tidy} from "../kit.js";

const {coefficients: GRID, groups: GROUPS, runs: RUNS, test_runs: TEST} = globalThis.momabLive.data.tuning;
const POLICIES = [
  {key: "w", name: "Width-guided", colour: "blue", dash: ""},
  {key: "p", name: "Pareto UCB1", colour: "orange", dash: "7 4"},
  {key: "s", name: "Scalarized UCB", colour: "pink", dash: "2 4"},
];
const EXTENT = [Math.min(...GROUPS.flatMap((group) => Object.values(group.means).flat())),
  Math.max(...GROUPS.flatMap((group) => Object.values(group.means).flat()))];

/** The coefficient, the recorded mean and the rank of every policy in a group. */
function standing(state, group, tested = false) {
  const all = POLICIES.map(({key, name}) => {
    const c = state.which === "validated" ? group.chosen[name] : state[key];
    return {c, mean: tested ? group.test[name] : group.means[name][GRID.indexOf(c)]};
  });
  return all.map((one) => ({...one, rank: 1 + all.filter((other) => other.mean < one.mean).length}));
}

/** In how many groups each policy is first, and its mean rank. */
function tally(state, tested) {
  const all = GROUPS.map((group) => standing(state, group, tested));
  return POLICIES.map(({name}, k) => ({name, first: all.filter((one) => one[k].rank === 1).length,
    rank: all.reduce((sum, one) => sum + one[k].rank, 0) / all.length}));
}

function legend(under, left, y, narrow) {
  POLICIES.forEach(({name, colour, dash}, k) => {
    const x = left + (narrow ? 0 : 160 * k), at = y + (narrow ? 17 * k : 0);
    under.append(
      svg("line", {x1: x, x2: x + 30, y1: at - 4, y2: at - 4, "stroke-width": 2.4, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}),
      svg("text", {x: x + 37, y: at, class: "live-label"}, name));
  });
}

function panel(under, state, group, [left, right, top, bottom]) {
  const x = scale([GRID[0] / 1.7, GRID.at(-1) * 1.7], [left, right], true);
  const y = scale([EXTENT[0] / 2, EXTENT[1] * 2], [bottom, top], true);
  axes(under, x, y, {xlabel: "coefficient c", yticks: 5});
  under.append(svg("text", {x: 0, y: top - 10, class: "live-tick"}, "validation regret"));
  const now = standing(state, group), later = state.which === "validated" ? standing(state, group, true) : null;
  POLICIES.forEach(({name, colour, dash}) => under.append(svg("path", {d: path(GRID.map((c, i) => [c, group.means[name][i]]), x, y),
    fill: "none", "stroke-width": 1.8, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`})));
  if (later) now.forEach(({c, mean}, k) => {
    const {colour} = POLICIES[k], cx = x(c), cy = y(later[k].mean);
    under.append(
      svg("line", {x1: cx, x2: cx, y1: y(mean), y2: cy, "stroke-width": 2, style: `stroke: var(--fig-${colour})`}),
      svg("rect", {x: cx - 5, y: cy - 5, width: 10, height: 10, "stroke-width": 2,
        style: `stroke: var(--fig-${colour}); fill: var(--pst-color-background, #fff)`}));
  });
  const heights = apart(now.map(({c, mean}) => [x(c), y(mean)]));
  now.map((one, k) => ({...one, k})).sort((p, q) => q.rank - p.rank).forEach(({c, rank, k}) => {
    const {colour} = POLICIES[k], cx = x(c), cy = heights[k];
    under.append(
      svg("circle", {cx, cy, r: 8.5, style: `fill: var(--fig-${colour})`}),
      svg("text", {x: cx, y: cy + 4, "text-anchor": "middle", style: "fill: var(--pst-color-background, #fff); font-size: 12px; font-weight: 700"}, String(rank)));
  });
}

/** The heights of marks, moved until none covers another. */
function apart(places) {
  const heights = places.map(([, v]) => v), order = heights.map((_, k) => k).sort((p, q) => heights[p] - heights[q]);
  for (let round = 0; round < 40; round++) {
    order.forEach((k, i) => order.slice(i + 1).forEach((l) => {
      const lack = Math.abs(places[k][0] - places[l][0]) < 17 ? 17 - (heights[l] - heights[k]) : 0;
      if (lack > 0) heights[k] -= lack / 2, heights[l] += lack / 2;
    }));
  }
  return heights;
}

const slider = (label, value) => list({label, values: GRID, value});
const slug = ({name}) => name.toLowerCase().replace(" ", "-");
const said = (all) => all.map(({name, first, rank}) => `${name} ${first} (mean rank ${tidy(rank)})`).join(", ");

define("tuning", {
  title: "Whose coefficient is tuned? Move a slider, and see which policy comes first.",
  controls: {
    group: choice({label: "Group of subsets", value: "kuairec-friendly",
      options: Object.fromEntries(GROUPS.map((group) => [slug(group), group.name]))}),
    w: slider("Width-guided, c", 0.02),
    p: slider("Pareto UCB1, c", 2),
    s: slider("Scalarized UCB, c", 2),
    which: choice({label: "Coefficients", options: {sliders: "as the sliders say", validated: "the best in validation, group by group"}}),
  },
  follow: (change) => (POLICIES.some(({key}) => key in change) ? {which: "sliders"} : {}),
  size: [700, 340], narrow: () => 360,
  draw({under, state, width, height, narrow}) {
    legend(under, narrow ? 36 : 44, 16, narrow);
    panel(under, state, GROUPS.find((group) => slug(group) === state.group), [44, width - 12, narrow ? 84 : 52, height - 48]);
  },
  words(state) {
    const start = `Of all ${GROUPS.length} groups, each policy is first in validation in: ${said(tally(state))}.`;
    if (state.which !== "validated") {
      const untuned = POLICIES.filter(({key}) => state[key] === 2).length, [{first}] = tally(state);
      return `${start} ${untuned === 2 && state.w < 2 && first === GROUPS.length ? "Only Width-guided is tuned, and the others keep the published 2." : ""}`.trim();
    }
    return `${start} With the same coefficients on the test subsets (squares, ${TEST} runs): ${said(tally(state, true))}.`
      + ` Behind each choice are ${RUNS} validation runs per coefficient.`;
  },
  python: (state) => `from momab import study
from momab.chapters import tuning

curves = tuning.tuning_curves(study.recorded_results("validation"))
${state.which === "validated" ? 'here = curves[curves["chosen"]]'
    : `c = {${POLICIES.map(({key, name}) => `"${name}": ${state[key]}`).join(", ")}}
here = curves[curves["c"] == curves["policy"].map(c)]`}
ranks = here.pivot_table("mean", ["dataset", "subset_type"], "policy").rank(axis=1, method="min")
print(ranks.mean().to_dict(), (ranks == 1).sum().to_dict())
${state.which === "validated" ? `effect = tuning.tuning_effect(study.recorded_results("real"), study.recorded_results("retuned"))
effect = effect[effect["policy"].isin(ranks.columns)]
ranks = effect.pivot_table("after", ["dataset", "subset_type"], "policy").rank(axis=1, method="min")
print(ranks.mean().to_dict(), (ranks == 1).sum().to_dict())
` : ""}`,
});
