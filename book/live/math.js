// What the pages compute beside the runs: Pareto order, gaps, divergences, the price.

/** Which arms no other arm dominates. */
export function front(means) {
  const dominates = (x, y) => x.every((v, j) => v >= y[j]) && x.some((v, j) => v > y[j]);
  return means.map((row) => !means.some((other) => dominates(other, row)));
}

/** The Pareto gaps: how far somebody is ahead on every objective at once. */
export function gaps(means) {
  return means.map((row) =>
    Math.max(0, ...means.map((other) => Math.min(...other.map((v, j) => v - row[j])))));
}

/** The objective-wise leads g_j of the best arm; 0 where it is not alone. */
export function leads(means) {
  return means[0].map((_, j) => {
    const [first, second] = means.map((row) => row[j]).sort((x, y) => y - x);
    return first - second;
  });
}

/** The champion objective: the first with the largest lead. */
export function champion(means) {
  const all = leads(means);
  return all.indexOf(Math.max(...all));
}

/** x - log(1 + x) without cancellation, as momab.model.price has it. */
function phi(x) {
  if (Math.abs(x) >= 0.1) return x - Math.log1p(x);
  const s = x / (2 + x), z = s * s;
  return s * (x - 2 * z * [13, 11, 9, 7, 5, 3].reduce((sum, odd) => 1 / odd + z * sum, 1 / 15));
}

/** The divergence of a coin p from a coin q: two terms that are not negative, so close means keep their digits. */
export function kl(p, q) {
  if (p === q) return 0;
  if (p > q) return kl(1 - p, 1 - q);
  const delta = q - p, rest = 1 - p, down = delta / rest;
  const fall = down > 0.5 ? -delta - rest * Math.log((1 - q) / rest) : rest * phi(-down);
  return (p === 0 ? delta : p * phi(delta / p)) + fall;
}

/** The evidence D_b(a): what one pull of b tells against its being as good as a everywhere. */
export function evidence(b, a, add = true) {
  const each = b.map((p, j) => (p < a[j] ? kl(p, a[j]) : 0));
  return add ? each.reduce((x, y) => x + y, 0) : Math.max(...each);
}

/** The price C of an instance: {value, arm, prices} with the price of every free arm. */
export function price(means, add = true) {
  const gap = gaps(means);
  const prices = means.map((a, i) => (gap[i] > 0 ? Infinity
    : means.reduce((sum, b, k) => (gap[k] > 0 ? sum + gap[k] / evidence(b, a, add) : sum), 0)));
  const value = Math.min(...prices);
  return {value, arm: prices.findIndex((p) => p <= value * (1 + 1e-12)), prices};
}

/** The Pareto regret of pull counts. */
export function regret(counts, gap) {
  return counts.reduce((sum, n, a) => sum + n * gap[a], 0);
}

/** Mean and the half-width of a 95 % interval. */
export function meanInterval(values) {
  const n = values.length, mean = values.reduce((x, y) => x + y, 0) / n;
  const variance = values.reduce((s, x) => s + (x - mean) ** 2, 0) / Math.max(1, n - 1);
  return [mean, 1.96 * Math.sqrt(variance / n)];
}

/** The exactly rounded sum, as Python's math.fsum (Shewchuk's partial sums). */
export function exactSum(values) {
  const parts = [];
  for (let x of values) {
    let kept = 0;
    for (let y of parts) {
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y, low = y - (high - x);
      if (low !== 0) parts[kept++] = low;
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  let high = parts.pop() ?? 0;
  while (parts.length) {
    const x = high, y = parts.pop();
    high = x + y;
    const low = y - (high - x);
    if (low === 0) continue;
    // Half a unit in the last place: what is left decides the rounding.
    if (parts.length && Math.sign(low) === Math.sign(parts.at(-1)) && high + 2 * low - high === 2 * low) high += 2 * low;
    break;
  }
  return high;
}

/** An array as Python writes it. */
export function pythonList(rows) {
  return JSON.stringify(rows).replaceAll(",", ", ");
}
