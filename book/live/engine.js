// The engine in a page: instances and policies as plain objects, runs with momab's own digits.
//
//   const engine = await load(bytes);
//   const run = engine.start({kind: "bernoulli", means: [[0.6, 0.2], [0.4, 0.5]]},
//                            {family: "width-guided", c: 2}, {horizon: 1e5, seed: 1, run: 0});
//   run.play(1000); run.counts; run.certificate;
//
// The same in Python: momab.simulate(momab.bernoulli(means), momab.WidthGuided(c=2), ...).

import {champion, exactSum, front} from "./math.js";

const KINDS = ["bernoulli", "duplicated", "rows", "samples"];
const RULES = ["widest", "random", "round-robin", "oracle"];

const TABLE = Uint32Array.from({length: 256}, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** The stream that a policy of this name takes its coins from (momab.engine.streams). */
export function coinStream(name) {
  let crc = ~0;
  for (const byte of new TextEncoder().encode(name)) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (~crc | 0x80000000) >>> 0;
}

let last = {}; // runs of one job share their source

function flat(source) {
  if (last.source !== source) last = {source, ...spread(source)};
  return last;
}

function spread(source) {
  const {kind} = source;
  if (kind === "bernoulli") return {numbers: source.means.flat(), d: source.means[0].length,
    K: source.means.length, offsets: [0], means: source.means};
  if (kind === "duplicated") return {numbers: source.theta, d: source.d, K: source.theta.length,
    offsets: [0], means: source.theta.map((p) => Array(source.d).fill(p))};
  const average = (list) => exactSum(list) / list.length;
  const offsets = [0];
  if (kind === "rows") {
    const d = source.arms[0][0].length;
    for (const rows of source.arms) offsets.push(offsets.at(-1) + rows.length);
    const means = source.arms.map((rows) => rows[0].map((_, j) => average(rows.map((r) => r[j]))));
    return {numbers: source.arms.flat(2), d, K: source.arms.length, offsets, means};
  }
  if (kind !== "samples") throw new RangeError(`kind must be one of ${KINDS.join(", ")}.`);
  for (const arm of source.arms) for (const list of arm) offsets.push(offsets.at(-1) + list.length);
  return {numbers: source.arms.flat(2), d: source.arms[0].length, K: source.arms.length, offsets,
    means: source.arms.map((arm) => arm.map(average))};
}

/** A policy's number, options, coin key, as the engine wants them. */
function plan(policy, K, d, told) {
  const {family} = policy;
  const objective = (o) => (o === "random" ? -1 : o === "oracle" ? told.champion : o ?? 0);
  const one = (o) => (o ? `${family}-${o}` : family);
  const c = policy.c ?? 2;
  switch (family) {
    case "width-guided": {
      const rule = policy.objective_rule ?? "widest";
      return {number: 0, options: [c, RULES.indexOf(rule), policy.certificate === "kl" ? 1 : 0],
        coins: rule === "widest" ? family : `${family}-${rule}`};
    }
    case "pareto-ucb1": {
      const q = policy.q ?? "original";
      const size = {original: d * told.front, real: d * K, synthetic: 4 * d * K}[q];
      const scale = size === undefined ? q : Math.sqrt(Math.sqrt(size));
      return {number: 1, options: [c, scale, policy.stop ? 1 : 0], stop: policy.stop_c ?? 2,
        coins: policy.stop ? `${family}-stop` : family};
    }
    case "annealing-pareto": return {number: 2, options: [policy.decay ?? 0.4, 0, 0], coins: family};
    case "scalarized-ucb": return {number: 3, options: [c, 0, 0], coins: family};
    case "pareto-imed": return {number: 4, options: [policy.evidence === "sum" ? 1 : 0, 0, 0],
      coins: policy.evidence === "sum" ? `${family}-sum` : family};
    case "kl-ucb": return {number: 5, options: [objective(policy.objective), 0, 0],
      coins: one(policy.objective)};
    case "single-ucb1": return {number: 6, options: [objective(policy.objective), c, 0],
      coins: one(policy.objective)};
    default: throw new RangeError(`there is no policy ${family}.`);
  }
}

/** Compile the engine from its bytes. */
export async function load(bytes) {
  const {instance} = await WebAssembly.instantiate(bytes, {});
  const wasm = instance.exports;
  const view = (Type, at, n) => new Type(wasm.memory.buffer, at, n);
  const put = (Type, list) => {
    const at = wasm.room(list.length * Type.BYTES_PER_ELEMENT);
    view(Type, at, list.length).set(list);
    return at;
  };

  /** Start a run; another start ends the one before. */
  function start(source, policy, {horizon, seed = 0, run = 0, trace = false, given} = {}) {
    const {numbers, d, K, offsets, means} = flat(source);
    const told = given ?? {champion: champion(means), front: front(means).filter(Boolean).length};
    const {number, options, coins, stop = 2} = plan(policy, K, d, told);
    const key = BigInt(seed);
    wasm.clear();
    const values = put(Float64Array, numbers), cuts = put(Int32Array, offsets);
    wasm.instance(KINDS.indexOf(source.kind), K, d, values, cuts);
    wasm.policy(number, ...options, coinStream(policy.coins ?? coins), told.champion);
    wasm.stop_coefficient(stop);
    wasm.start(horizon, Number(key & 0xffffffffn), Number(key >> 32n), run, trace ? 1 : 0);
    return {
      K, d, horizon, means,
      play: (rounds = horizon) => wasm.play(rounds),
      get counts() { return Array.from(view(Float64Array, wasm.counts(), K)); },
      get sums() { return Array.from(view(Float64Array, wasm.sums(), K * d)); },
      get arms() { return view(Uint16Array, wasm.arms(), horizon); },
      get certificate() {
        if (wasm.proved_arm() < 0) return null;
        return {t: wasm.proved_when(), arm: wasm.proved_arm(), objective: wasm.proved_objective()};
      },
      get upper() { return view(Float64Array, wasm.upper(), K * d); },
      get radii() { return Array.from(view(Float64Array, wasm.radii(), K)); },
      get races() {
        return {leaders: Array.from(view(Int32Array, wasm.leaders(), d)),
          rivals: Array.from(view(Int32Array, wasm.rivals(), d))};
      },
      toss: (arm, n, j = 0) => wasm.toss(arm, n, j),
    };
  }

  return {start, log: wasm.logarithm};
}
