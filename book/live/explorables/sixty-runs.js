// Sixty runs: draw the paper's experiment again from the recorded runs, and see how few averages tell the mean.

import {axes, choice, define, range, scale, svg, tidy, whole} from "../kit.js";
import {exactSum} from "../math.js";

const GROUPS = Object.fromEntries(Object.entries(globalThis.momabLive.data["sixty-runs"])
  .map(([name, group]) => [name.toLowerCase().replace(" ", "-"), {name, ...group}]));
const EACH = 20, SIZE = 60, RUNS = 20_000, MOST = 500;
const NUMBERS = {kind: "rows", arms: [Array.from({length: RUNS}, (_, k) => [k]), [[0]]]};

let kept = {};

/** The experiments of a group: regrets, who committed to a dominated arm, averages. */
function experiments(sums, group) {
  if (kept.sums === sums && kept.group === group) return kept.drawn;
  const subsets = group.subsets.map(({regrets, runs, right}) => runs.flatMap((n, line) =>
    Array(n).fill({regret: regrets[line], wrong: line >= right})));
  const drawn = Array.from({length: MOST}, (_, k) => {
    const runs = Array.from({length: SIZE}, (__, i) => {
      const at = k * SIZE + i; // the sums of run numbers are exact, and so are their differences
      return subsets[Math.floor(i / EACH)][sums[at] - (sums[at - 1] ?? 0)];
    });
    return {runs, mean: exactSum(runs.map((run) => run.regret)) / SIZE, bad: runs.filter((run) => run.wrong).length};
  });
  kept = {sums, group, drawn};
  return drawn;
}

/** How many recorded runs of a group committed to a dominated arm. */
const wrongs = ({subsets}) => exactSum(subsets.flatMap(({runs, right}) => runs.slice(right)));

/** Powers of ten around all regrets of a group. */
function decades({subsets}) {
  const all = subsets.flatMap(({regrets}) => regrets), power = (f, x) => 10 ** f(Math.log10(x));
  return [power(Math.floor, Math.min(...all)), power(Math.ceil, Math.max(...all))];
}

/** Dots that stand on a line, stacked where they would cover each other. */
function stack(under, dots, x, [bottom, top], size) {
  const columns = new Map();
  for (const {at, colour} of dots) {
    const column = Math.round(x(at) / size);
    columns.set(column, [...(columns.get(column) ?? []), colour]);
  }
  const highest = Math.max(1, ...[...columns.values()].map((list) => list.length));
  const step = Math.min(size, (bottom - top) / highest);
  for (const [column, list] of columns) {
    list.sort().forEach((colour, k) => under.append(svg("circle", {cx: column * size, cy: bottom - size / 2 - 1 - k * step, r: size / 2 - 0.3,
      style: `fill: var(--fig-${colour})`})));
  }
}

const few = (k, one, more) => (k === 0 ? `none ${one}` : k === 1 ? `1 ${one}` : `${tidy(k, 6)} ${more}`);

define("sixty-runs", {
  title: "Draw the paper’s sixty runs again. Do they tell you the mean?",
  controls: {
    group: choice({label: "Row of the paper’s Table 1", value: "kuairec-easy",
      options: Object.fromEntries(Object.entries(GROUPS).map(([key, {name}]) => [key, name]))}),
    drawn: range({label: "Experiments of 60 runs", min: 0, max: MOST, step: 10, value: 100, integer: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  size: [700, 400], narrow: () => 430,
  actions: [{label: "Draw 60 runs", act: ({state, set}) => set({drawn: Math.min(MOST, state.drawn + 1)})}],
  workKey: ({seed}) => String(seed),
  work: ({seed}) => [{tosses: SIZE * MOST, source: NUMBERS, seed, runs: 1}],
  draw({under, state: {group: key, drawn}, result, width, height, narrow}) {
    const group = GROUPS[key], x = scale(decades(group), [narrow ? 14 : 20, width - 14], true);
    const floor = height - 54, middle = narrow ? 160 : 150, [left, right] = x.range;
    axes(under, x, scale([0, 1], [floor, 40]), {xlabel: "Pareto regret", yticks: 0});
    const title = (y, text) => under.append(svg("text", {x: left, y, class: "live-label"}, text));
    under.append(svg("line", {class: "live-axis", x1: left, x2: right, y1: middle, y2: middle}));
    title(16, drawn ? `experiment ${drawn}: its ${SIZE} runs` : "nothing is drawn yet");
    title(middle + 22, `averages of ${SIZE} runs: every experiment so far`);
    const mark = (at, y, text, colour, dash) => {
      for (const [y1, y2] of [[y - 14, middle], [middle + 32, floor]]) {
        under.append(svg("line", {x1: x(at), x2: x(at), y1, y2, "stroke-width": 2, "stroke-dasharray": dash, style: `stroke: var(--fig-${colour})`}));
      }
      const before = x(at) + 6.5 * text.length > right;
      under.append(svg("text", {x: x(at) + (before ? -7 : 7), y, "text-anchor": before ? "end" : "start", class: "live-label"}, text));
    };
    mark(group.paper, 42, `the paper’s average: ${tidy(group.paper)}`, "ink", "4 4");
    mark(group.mean, 60, `mean of ${tidy(RUNS * 3, 6)}${narrow ? "" : " runs"}: ${tidy(group.mean)}`, "orange", "");
    if (!result) return;
    const seen = experiments(result[0][0], group).slice(0, drawn);
    const colour = (bad) => (bad ? "orange" : "blue");
    if (drawn) stack(under, seen.at(-1).runs.map(({regret, wrong}) => ({at: regret, colour: colour(wrong)})), x, [middle, 74], 6);
    stack(under, seen.map(({mean, bad}) => ({at: mean, colour: colour(bad)})), x, [floor, middle + 34], drawn > 40 ? 6 : 9);
    const bad = seen.filter((one) => one.bad).length;
    const side = x(group.mean) > 0.6 * width ? left + 4 : right - (narrow ? 122 : 140); // away from the piles
    for (const [k, [n, text]] of [[drawn - bad, "saw none"], [bad, "saw a wrong run"]].entries()) {
      const y = middle + 48 + 18 * k;
      under.append(svg("circle", {cx: side, cy: y - 4, r: 4, style: `fill: var(--fig-${colour(k)})`}),
        svg("text", {x: side + 10, y, class: "live-label"}, `${n} ${text}`));
    }
  },
  words({group: key, drawn}, result) {
    if (!result) return "Drawing …";
    const group = GROUPS[key], seen = experiments(result[0][0], group).slice(0, drawn), {mean} = group;
    const count = (test) => seen.filter(test).length;
    const truth = `Of all ${tidy(RUNS * 3, 6)} runs ${few(wrongs(group), "commits", "commit")} to a dominated arm; their mean is ${
      tidy(mean)}, the paper’s average of ${SIZE} is ${tidy(group.paper)}.`;
    if (!drawn) return `Nothing is drawn yet. ${truth}`;
    const last = seen.at(-1), below = count((one) => one.mean < mean);
    const close = count((one) => one.mean > mean / 2 && one.mean < 2 * mean);
    return `Experiment ${drawn} has the average ${tidy(last.mean)}: ${few(last.bad, "commits", "commit")} to a dominated arm. Of ${drawn} ${
      drawn === 1 ? "experiment" : "experiments"} ${few(count((one) => !one.bad), "saw", "saw")} no such run; ${
      few(below, "has", "have")} an average below the mean, ${few(close, "is", "are")} within a factor of two of it. ${truth}`;
  },
  python: ({group, drawn, seed}) => {
    const [dataset, kind] = GROUPS[group].key;
    return `from momab import study

tails, risk = study.recorded_results("tails"), study.recorded_results("risk")
drawn = study.redraw(tails, "${dataset}", "${kind}", ${drawn}, seed=${seed})
average, c = drawn["average"], study.paper_coefficient("${dataset}", "${kind}")
mean = risk.query("dataset == '${dataset}' and subset_type == '${kind}' and c == @c")["mean"].mean()
print(mean, *drawn.tail(1).to_numpy().ravel(), (drawn["wrong"] == 0).sum())
print((average < mean).sum(), average.between(mean / 2, 2 * mean, "neither").sum())
`;
  },
});
