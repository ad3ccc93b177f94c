// The worker: plays jobs one after the other, reports progress, returns what was asked for.
//
// A job: {source, policy, horizon, seed, runs, first = 0, checkpoints = [horizon], given, trace,
// sums}.  Its result: {counts: [run][checkpoint][arm], certificates: [run], and if asked for
// arms: [run][round], sums: [run][checkpoint][arm d + objective]}; sums end with a certificate.
//
// A job {tosses: n, source, seed, runs}: the sums of the first 1, ..., n rewards of arm 0 on
// objective 0, in every run.

import {load} from "./engine.js";

const PIECE = 200_000; // rounds between two reports

function playOne(engine, job, run, told) {
  const played = engine.start(job.source, job.policy,
    {horizon: job.horizon, seed: job.seed, run, trace: job.trace, given: job.given});
  const counts = [], sums = [];
  let t = 0;
  for (const stop of job.checkpoints ?? [job.horizon]) {
    while (t < stop) {
      const before = t;
      t = played.play(Math.min(PIECE, stop - t));
      told(t - before);
    }
    counts.push(played.counts);
    if (job.sums) sums.push(played.sums);
  }
  const arms = job.trace ? Array.from(played.arms) : null;
  return {counts, sums, arms, certificate: played.certificate};
}

function tossAll(engine, job, told) {
  return Array.from({length: job.runs}, (_, run) => {
    const played = engine.start(job.source, {family: "kl-ucb"}, {horizon: job.tosses, seed: job.seed, run});
    let sum = 0;
    const sums = Array.from({length: job.tosses}, (__, n) => (sum += played.toss(0, n)));
    told(job.tosses);
    return sums;
  });
}

export async function answer(bytes, jobs, report) {
  const engine = await load(bytes);
  const total = jobs.reduce((sum, job) => sum + (job.tosses ?? job.horizon) * (job.runs ?? 1), 0);
  let done = 0, told = 0;
  const count = (rounds) => {
    done += rounds;
    if (done - told > total / 50) {
      told = done;
      report({progress: done / total});
    }
  };
  const result = jobs.map((job) => {
    if (job.tosses) return tossAll(engine, job, count);
    const runs = Array.from({length: job.runs ?? 1}, (_, r) => playOne(engine, job, (job.first ?? 0) + r, count));
    const all = (key) => runs.map((run) => run[key]);
    return {counts: all("counts"), certificates: all("certificate"), sums: all("sums"), arms: all("arms")};
  });
  report({result});
}
