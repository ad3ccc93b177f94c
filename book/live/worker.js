// The worker: plays jobs one after the other, reports progress, returns what was asked for.
//
// A job: {source, policy, horizon, seed, runs, first = 0, checkpoints = [horizon], given, trace}.
// Its result: {counts: [run][checkpoint][arm], certificates: [run], arms: [run] if traced}.

import {load} from "./engine.js";

const PIECE = 200_000; // rounds between two reports

function playOne(engine, job, run, told) {
  const played = engine.start(job.source, job.policy,
    {horizon: job.horizon, seed: job.seed, run, trace: job.trace, given: job.given});
  const counts = [];
  let t = 0;
  for (const stop of job.checkpoints ?? [job.horizon]) {
    while (t < stop) {
      const before = t;
      t = played.play(Math.min(PIECE, stop - t));
      told(t - before);
    }
    counts.push(played.counts);
  }
  return {counts, certificate: played.certificate, arms: job.trace ? Array.from(played.arms) : null};
}

export async function answer(bytes, jobs, report) {
  const engine = await load(bytes);
  const total = jobs.reduce((sum, job) => sum + job.horizon * (job.runs ?? 1), 0);
  let done = 0, told = 0;
  const count = (rounds) => {
    done += rounds;
    if (done - told > total / 50) {
      told = done;
      report({progress: done / total});
    }
  };
  const result = jobs.map((job) => {
    const runs = Array.from({length: job.runs ?? 1}, (_, r) => playOne(engine, job, (job.first ?? 0) + r, count));
    return {counts: runs.map((run) => run.counts), certificates: runs.map((run) => run.certificate),
      arms: job.trace ? runs.map((run) => run.arms) : null};
  });
  report({result});
}
