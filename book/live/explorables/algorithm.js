// Algorithm 1, live: bounds round by round, the certificate, and what other runs do.

import {animate, axes, choice, define, points, range, scale, svg, tidy, whole} from "../kit.js";
import {gaps, pythonList, regret} from "../math.js";

const HORIZON = 20_000, OTHERS = 200, FRAMES = 240;
const START = [[0.7, 0.4], [0.45, 0.6], [0.4, 0.35]];
const NAMES = "ABCDE";
const TIMES = [...new Set(Array.from({length: FRAMES}, (_, i) =>
  Math.round(3 * (HORIZON / 3) ** (i / (FRAMES - 1)))))];

const policyOf = ({c, certificate}) => ({family: "width-guided", c, certificate});
let stop = null;

/** The frame that is shown: at most the one of the certificate. */
function shown(state, run) {
  const proof = run.certificates[0];
  const last = proof ? TIMES.findIndex((t) => t >= proof.t) : TIMES.length - 1;
  return Math.min(last < 0 ? TIMES.length - 1 : last, Math.round(state.frame));
}

const wrong = (proof, gap, means) => proof && (gap[proof.arm] > 0
  || means.some((row, a) => a !== proof.arm && row[proof.objective] >= means[proof.arm][proof.objective]));

define("algorithm", {
  title: "Watch Algorithm 1 decide. When is it wrong?",
  controls: {
    frame: range({label: "Time", min: 0, max: TIMES.length - 1, step: 1, value: 120}),
    c: range({label: "Coefficient c", min: 0.02, max: 2, step: 1.25, value: 0.3, log: true}),
    certificate: choice({label: "Certificate", options: {hoeffding: "Hoeffding", kl: "kl"}}),
    seed: whole({label: "Seed", value: 3}),
  },
  state: {means: points({value: START, min: 0.02, max: 0.98, least: 2, most: 5})},
  size: [700, 430],
  actions: [{label: "Play", act: ({state, set}) => {
    stop?.();
    let frame = state.frame >= TIMES.length - 1 ? 0 : state.frame;
    stop = animate(30, () => { frame += 1; set({frame}); return frame < TIMES.length - 1; });
  }}],
  workKey: ({means, c, certificate, seed}) => JSON.stringify([means, c, certificate, seed]),
  work: (state) => {
    const source = {kind: "bernoulli", means: state.means};
    const job = {source, policy: policyOf(state), horizon: HORIZON, seed: state.seed};
    return [{...job, runs: 1, checkpoints: TIMES, sums: true}, {...job, runs: OTHERS}];
  },
  draw({under, state, set, result, handle, width}) {
    const {means, c} = state, K = means.length, d = 2, gap = gaps(means);
    const run = result?.[0];
    const y = scale([0, 1], [300, 34]);
    const at = run ? shown(state, run) : 0, t = TIMES[at];
    const clog = c * Math.log(HORIZON);
    for (let j = 0; j < d; j++) {
      const left = 50 + j * (width / 2 - 10), x = scale([0.5, K + 0.5], [left, left + width / 2 - 90]);
      axes(under, x, y, {ylabel: `objective ${j + 1}`, xticks: 0});
      for (let a = 0; a < K; a++) {
        const px = x(a + 1);
        under.append(svg("text", {x: px, y: 320, "text-anchor": "middle"}, NAMES[a]));
        if (run && run.counts[0][at]) {
          const n = run.counts[0][at][a], mean = run.sums[0][at][a * d + j] / n, beta = Math.sqrt(clog / n);
          const up = Math.min(1, mean + beta), down = Math.max(0, mean - beta);
          const proof = run.certificates[0];
          const proves = proof && proof.arm === a && proof.objective === j && t >= proof.t;
          const colour = proves ? (wrong(proof, gap, means) ? "orange" : "green") : "blue";
          under.append(
            svg("line", {x1: px - 12, x2: px - 12, y1: y(up), y2: y(down), "stroke-width": proves ? 6 : 3.5,
              style: `stroke: var(--fig-${colour})`}),
            svg("line", {x1: px - 19, x2: px - 5, y1: y(mean), y2: y(mean), "stroke-width": 2, style: "stroke: var(--fig-ink)"}));
          for (const [edge, beyond] of [[up, mean + beta > 1], [down, mean - beta < 0]]) {
            if (beyond) under.append(svg("text", {x: px - 12, y: y(edge) + (edge ? -3 : 12), "text-anchor": "middle", class: "live-tick"}, edge ? "↑" : "↓"));
          }
        }
        handle(`mean-${a}-${j}`, {x: a + 1, y: means[a][j], scales: [x, y], radius: 7, colour: "gold", step: 0.02,
          label: `True mean of arm ${NAMES[a]} on objective ${j + 1}`, valuetext: tidy(means[a][j]),
          move: (_, v) => set({means: means.map((row, b) => row.map((old, i) =>
            (a === b && i === j ? Number(Math.min(0.98, Math.max(0.02, v)).toFixed(2)) : old)))})});
      }
    }
    // The other runs: a dot each, at the regret it ended with.
    const x = scale([0, OTHERS], [50, width - 20]);
    under.append(svg("text", {x: 50, y: 352, class: "live-label"},
      `the same with ${OTHERS} other draws: each dot a run, by its regret (least to most)`));
    if (result) {
      const runs = result[1].counts.map((counts, r) =>
        ({regret: regret(counts[0], gap), bad: wrong(result[1].certificates[r], gap, means)}))
        .sort((p, q) => p.regret - q.regret);
      const v = scale([0, Math.max(1, runs.at(-1).regret)], [418, 364]);
      runs.forEach((one, i) => under.append(svg("circle", {cx: x(i + 0.5), cy: v(one.regret), r: one.bad ? 4 : 2.2,
        style: `fill: var(--fig-${one.bad ? "orange" : "blue"})`})));
      under.append(svg("text", {x: width - 20, y: v(runs.at(-1).regret) - 5, "text-anchor": "end", class: "live-tick"},
        `most: ${tidy(runs.at(-1).regret)}`));
    }
  },
  words(state, result) {
    if (!result) return "Playing …";
    const {means} = state, gap = gaps(means), run = result[0], at = shown(state, run), t = TIMES[at];
    const proof = run.certificates[0];
    const bad = result[1].certificates.filter((one) => wrong(one, gap, means)).length;
    const none = result[1].certificates.filter((one) => !one).length;
    const sofar = regret(run.counts[0][at], gap);
    return `${proof && t >= proof.t ? `Certificate after ${tidy(proof.t, 6)} pulls: arm ${NAMES[proof.arm]} is ${
      wrong(proof, gap, means) ? "taken for" : ""} the only best on objective ${proof.objective + 1}${
      wrong(proof, gap, means) ? ", wrongly" : ""}.` : `After ${tidy(t, 6)} pulls nothing is certified.`} `
      + `Regret so far ${tidy(sofar)}. Of ${OTHERS} other runs ${bad === 1 ? "1 certifies" : `${bad} certify`} wrongly`
      + `${none ? `, ${none} certify nothing within ${tidy(HORIZON, 6)} rounds` : ""}.`;
  },
  python: (state) => `import momab

instance = momab.bernoulli(${pythonList(state.means)})
policy = momab.WidthGuided(c=${state.c}, certificate="${state.certificate}")
results = momab.simulate(instance, policy, horizon=${HORIZON}, runs=${OTHERS}, seed=${state.seed}, progress=False)
print(results.runs[["pareto_regret", "cert_round", "cert_arm", "cert_objective"]])
`,
});
