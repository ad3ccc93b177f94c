// Algorithm 1, live: bounds pull by pull, the certificate, and what 200 runs come to.

import {animate, axes, choice, define, list, points, range, scale, svg, tidy, whole} from "../kit.js";
import {gaps, pythonList, regret} from "../math.js";

const HORIZON = 20_000, RUNS = 200, FIRST = 10, FRAMES = 240;
const START = [[0.6, 0.4], [0.45, 0.55], [0.5, 0.3], [0.4, 0.35]];
const NAMES = "ABCDE";
const TIMES = [...new Set(Array.from({length: FRAMES}, (_, i) =>
  Math.round(FIRST * (HORIZON / FIRST) ** (i / (FRAMES - 1)))))];

let pause = null;

/** The number of the first moment with so many pulls. */
const since = (pulls) => TIMES.findIndex((t) => t >= pulls);

/** The number of the moment that is shown, none after the certificate. */
const moment = ({pulls}, run) => since(Math.min(pulls, run.certificates[0]?.t ?? HORIZON));

const PULLS = {...list({label: "Pulls so far", values: TIMES, value: TIMES[since(60)]}),
  hint: `Between ${FIRST} and ${tidy(HORIZON, 6)}.`,
  parse: (text) => (text.trim() !== "" && +text >= FIRST && +text <= HORIZON ? TIMES[since(+text)] : undefined)};

/** Whether a certificate names an arm that is not alone the best on its objective. */
const isWrong = (proof, means) => proof !== null && means.some((row, a) =>
  a !== proof.arm && row[proof.objective] >= means[proof.arm][proof.objective]);

/** Regret of every run, and whether its certificate is wrong, from least to most. */
function outcomes(means, played) {
  const gap = gaps(means);
  return played.counts.map((counts, r) =>
    ({regret: regret(counts[0], gap), bad: isWrong(played.certificates[r], means)}))
    .sort((p, q) => p.regret - q.regret);
}

function play({state, set, result}) {
  if (pause) return pause = pause();
  if (!result) return;
  const end = since(result[0].certificates[0]?.t ?? HORIZON);
  let at = since(state.pulls) >= end ? 0 : since(state.pulls);
  pause = animate(20, () => {
    set({pulls: TIMES[at = Math.min(end, at + 1)]});
    return at < end;
  }, () => { pause = null; });
}

/** The arms with the two highest upper bounds: leader and challenger. */
const topTwo = (upper) => upper.map((_, a) => a).sort((p, q) => upper[q] - upper[p]).slice(0, 2);

/** The interval of an arm on an objective, its mean, and its role in the race: b leads, e challenges. */
function interval(under, px, y, [mean, beta], colour, role) {
  const up = Math.min(1, mean + beta), down = Math.max(0, mean - beta);
  under.append(
    svg("line", {x1: px, x2: px, y1: y(up), y2: y(down), "stroke-width": role === "b" ? 7 : 3.5, style: `stroke: var(--fig-${colour})`}),
    svg("line", {x1: px - 7, x2: px + 7, y1: y(mean), y2: y(mean), "stroke-width": 2, style: "stroke: var(--fig-ink)"}),
    svg("text", {x: px - 9, y: y(up) + 10, "text-anchor": "end", class: "live-label"}, role));
}

/** One point per run, from the smallest regret to the largest. */
function strip(under, runs, [left, right], [bottom, top]) {
  const most = runs.at(-1).regret, x = scale([0, runs.length], [left, right]);
  const v = scale([0, Math.max(1, most)], [bottom, top]);
  const word = (px, py, anchor, text) =>
    under.append(svg("text", {x: px, y: py, "text-anchor": anchor, class: "live-tick"}, text));
  under.append(svg("line", {x1: left, x2: right, y1: bottom, y2: bottom, style: "stroke: var(--fig-faint)"}));
  word(left - 6, bottom + 4, "end", "0");
  word(left - 6, top + 4, "end", tidy(most, 4));
  word(left, bottom + 17, "start", "smallest regret");
  word(right, bottom + 17, "end", "largest regret");
  for (const bad of [false, true]) {
    runs.forEach((one, i) => one.bad === bad && under.append(svg("circle", {cx: x(i + 0.5), cy: v(one.regret),
      r: bad ? 4 : 2, style: `fill: var(--fig-${bad ? "orange" : "blue"})`})));
  }
}

define("algorithm", {
  title: "Watch Algorithm 1 decide. When is it wrong?",
  controls: {
    pulls: PULLS,
    c: range({label: "Coefficient c", min: 0.02, max: 2, step: 1.25, value: 0.05, log: true}),
    certificate: choice({label: "Certificate", options: {hoeffding: "Hoeffding", kl: "kl"}}),
    seed: whole({label: "Seed", value: 1}),
  },
  state: {means: points({value: START, min: 0.02, max: 0.98, least: 2, most: 5})},
  size: [700, 450], narrow: () => 650,
  actions: [{label: "Play or pause", act: play}],
  workKey: ({means, c, certificate, seed}) => JSON.stringify([means, c, certificate, seed]),
  work: ({means, c, certificate, seed}) => {
    const source = {kind: "bernoulli", means}, policy = {family: "width-guided", c, certificate};
    const job = {source, policy, horizon: HORIZON, seed};
    return [{...job, runs: 1, checkpoints: TIMES, sums: true}, {...job, runs: RUNS}];
  },
  draw({under, state, set, result, handle, width, height, narrow}) {
    const {means, c} = state, K = means.length, run = result?.[0];
    const at = run ? moment(state, run) : 0, proof = run?.certificates[0];
    for (const j of [0, 1]) {
      const top = narrow && j ? 280 : 30, y = scale([0, 1], [top + (narrow ? 190 : 260), top]);
      const left = narrow || !j ? 40 : width / 2 + 30;
      const x = scale([0.5, K + 0.5], [left, narrow ? width - 10 : left + width / 2 - 50]);
      axes(under, x, y, {ylabel: j ? "saves (objective 2)" : "plays (objective 1)", xticks: 0});
      const bars = run ? means.map((_, a) => [run.sums[0][at][a * 2 + j], run.counts[0][at][a]])
        .map(([sum, n]) => [sum / n, Math.sqrt(c * Math.log(HORIZON) / n)]) : [];
      const [b, e] = topTwo(bars.map(([mean, beta]) => mean + beta));
      for (let a = 0; a < K; a++) {
        const px = x(a + 1);
        under.append(svg("text", {x: px, y: y.range[0] + 20, "text-anchor": "middle"}, NAMES[a]));
        if (run) {
          const proves = proof && proof.arm === a && proof.objective === j && TIMES[at] >= proof.t;
          const colour = !proves ? "blue" : isWrong(proof, means) ? "orange" : "green";
          interval(under, px - 14, y, bars[a], colour, a === b ? "b" : a === e ? "e" : "");
        }
        handle(`mean-${a}-${j}`, {x: a + 1, y: means[a][j], scales: [x, y], radius: 7, colour: "gold", step: 0.02,
          label: `True mean of arm ${NAMES[a]} on objective ${j + 1}`, value: means[a][j], valuetext: tidy(means[a][j]),
          move: (_, v, fine) => set({means: means.map((row, b) => row.map((old, i) =>
            (a === b && i === j ? Number(Math.min(0.98, Math.max(0.02, v)).toFixed(fine ? 3 : 2)) : old)))})});
      }
    }
    under.append(svg("text", {x: 10, y: height - 108, class: "live-label"}, narrow ? `${RUNS} other runs: regret; orange: wrong arm`
      : `Regret of ${RUNS} other runs, one point each; orange: a wrong arm was certified`));
    if (result) strip(under, outcomes(means, result[1]), [48, width - 12], [height - 26, height - 90]);
  },
  words({means, ...state}, result) {
    if (!result) return "Playing …";
    const [run, others] = result, at = moment(state, run), proof = run.certificates[0];
    const wrongly = isWrong(proof, means) ? "wrongly " : "";
    const all = outcomes(means, others), bad = all.filter((one) => one.bad).length;
    const none = others.certificates.filter((one) => !one).length;
    const many = (n, verb) => (n === 0 ? `none ${verb}ies` : n === 1 ? `1 ${verb}ies` : `${n} ${verb}y`);
    return `${proof && TIMES[at] >= proof.t
      ? `After ${tidy(proof.t, 6)} pulls arm ${NAMES[proof.arm]} is ${wrongly}certified as the only best on objective ${proof.objective + 1}.`
      : `After ${tidy(TIMES[at], 6)} pulls nothing is certified yet.`} `
      + `Regret so far: ${tidy(regret(run.counts[0][at], gaps(means)))}. Of ${RUNS} runs of ${tidy(HORIZON, 6)} rounds ${many(bad, "certif")} wrongly`
      + `${none ? `, ${many(none, "certif")} nothing` : ""}; half of all have a regret of at most ${
        tidy((all[RUNS / 2 - 1].regret + all[RUNS / 2].regret) / 2)}, the worst has ${tidy(all.at(-1).regret, 4)}.`;
  },
  python: (state) => `import momab

instance = momab.bernoulli(${pythonList(state.means)})
policy = momab.WidthGuided(c=${state.c}, certificate="${state.certificate}")
runs = momab.simulate(instance, policy, horizon=${HORIZON}, runs=${RUNS}, seed=${state.seed}, progress=False).runs
print(runs[["cert_round", "cert_arm", "cert_objective", "pareto_regret"]].head(1))  # the run in the picture
print((runs["certified"] & ~runs["cert_true"]).sum(), (~runs["certified"]).sum())
print(runs["pareto_regret"].median(), runs["pareto_regret"].max())
`,
});
