// Mathematics of the page: confidence limits, as bayesrule.intervals computes them in Python.

/** log Gamma(a + 1) by Stirling's series, shifted to where the series is exact. */
function logFactorial(a) {
  let product = 1;
  while (a < 12) product *= ++a;
  return a * Math.log(a) - a + 0.5 * Math.log(2 * Math.PI * a) + stirlingRest(a) - Math.log(product);
}

/** What Stirling's formula for log Gamma(a + 1) lacks, for a of 12 or more. */
function stirlingRest(a) {
  const s = 1 / (a * a);
  return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / a;
}

/** x^a exp(-x) / Gamma(a + 1), without the cancellation that large a would bring. */
function gammaFactor(a, x) {
  if (a < 12) return Math.exp(a * Math.log(x) - x - logFactorial(a));
  const away = (x - a) / a;
  return Math.exp(a * (Math.log1p(away) - away) - stirlingRest(a)) / Math.sqrt(2 * Math.PI * a);
}

/** Regularised incomplete gamma functions [P(a, x), Q(a, x)]. */
function incompleteGamma(a, x) {
  if (x <= 0) return [0, 1];
  const factor = gammaFactor(a, x);
  if (x < a + 1) {
    let term = 1, sum = 1;
    for (let n = 1; n < 1e6 && term > sum * 1e-17; n++) sum += term *= x / (a + n);
    return [factor * sum, 1 - factor * sum];
  }
  let b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d; // Lentz's continued fraction
  for (let n = 1; n < 1e6; n++) {
    const an = n * (a - n);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return [1 - factor * a * fraction, factor * a * fraction];
}

/** The x with P(a, x) = p; z is the normal quantile of p. */
function inverseGamma(a, p, z) {
  let low = 0, high = Infinity;
  let x = a * (1 - 1 / (9 * a) + z / (3 * Math.sqrt(a))) ** 3;
  if (a < 1 || !(x > 1e-3 * a)) x = Math.exp((Math.log(p) + logFactorial(a)) / a);
  if (x === 0) return 0;
  for (let step = 0; step < 200; step++) {
    const [below, above] = incompleteGamma(a, x);
    const error = p < 0.5 ? below - p : 1 - p - above;
    if (error > 0) high = x; else low = x;
    const slope = gammaFactor(a, x) * a / x;
    const newton = error / slope;
    let next = x - newton / (1 - 0.5 * Math.min(1, newton * ((a - 1) / x - 1)));
    if (Math.abs(next - x) <= 4e-16 * x) return next;
    if (!(next > low && next < high)) next = high === Infinity ? 2 * x + 1 : (low + high) / 2;
    if (high - low <= 4e-16 * x) return next;
    x = next;
  }
  return x;
}

/** Quantile of the Pearson type III law of mean zero and variance one. */
function standardQuantile(level, skewness, z) {
  if (Math.abs(skewness) < 1e-4) return z;
  const shape = 4 / (skewness * skewness), root = Math.sqrt(shape);
  return skewness > 0
    ? (inverseGamma(shape, level, z) - shape) / root
    : (shape - inverseGamma(shape, 1 - level, -z)) / root;
}

/** Weight, in rows, of the worst and of the best gain that was perhaps not seen. */
const UNSEEN_ROWS = 0.75;

/**
 * Quantile of a class's mean gain: `gains` with their weights `rows`, and one gain perhaps unseen.
 */
function meanQuantile(level, z, gains, rows, unseen) {
  let total = UNSEEN_ROWS, first = UNSEEN_ROWS * unseen;
  for (let d = 0; d < gains.length; d++) { total += rows[d]; first += rows[d] * gains[d]; }
  const mean = first / total;
  let second = UNSEEN_ROWS * (unseen - mean) ** 2, third = UNSEEN_ROWS * (unseen - mean) ** 3;
  for (let d = 0; d < gains.length; d++) {
    second += rows[d] * (gains[d] - mean) ** 2;
    third += rows[d] * (gains[d] - mean) ** 3;
  }
  second /= total;
  third /= total;
  if (!(second > 0)) return mean;
  const spread = Math.sqrt(second / (total + 1));
  const skewness = 2 * third / ((total + 1) * (total + 2)) / spread ** 3;
  return mean + spread * standardQuantile(level, skewness, z);
}

/**
 * Largest t with t <= cut . prior for all cuts, over priors: the value of a matrix game.
 * One phase of the simplex method; returns the prior, the mixture of cuts and the value.
 */
function matrixGame(cuts) {
  const n = cuts[0].length, m = cuts.length;
  let lowest = Infinity;
  for (const cut of cuts) lowest = Math.min(lowest, ...cut);
  const shift = 1 - lowest;
  // Maximise the sum of w subject to sum_j w_j cut_jk <= 1 for every class k.
  const table = Array.from({ length: n + 1 }, (_, k) => {
    const row = new Float64Array(m + n + 1);
    for (let j = 0; j < m; j++) row[j] = k < n ? cuts[j][k] + shift : -1;
    if (k < n) { row[m + k] = 1; row[m + n] = 1; }
    return row;
  });
  const basis = Array.from({ length: n }, (_, k) => m + k);
  const goal = table[n];
  for (let pivots = 0; pivots < 5000; pivots++) {
    let enter = -1;
    for (let j = 0; j < m + n; j++) {
      // The steepest column first; Bland's rule later, which cannot go round in circles.
      if (goal[j] < -1e-13 && (enter < 0 || (pivots < 500 && goal[j] < goal[enter]))) enter = j;
    }
    if (enter < 0) break;
    let leave = -1, ratio = Infinity;
    for (let k = 0; k < n; k++) {
      if (table[k][enter] <= 1e-13) continue;
      const r = table[k][m + n] / table[k][enter];
      if (r < ratio - 1e-15 || (r <= ratio + 1e-15 && leave >= 0 && basis[k] < basis[leave])) {
        ratio = r;
        leave = k;
      }
    }
    if (leave < 0) break;
    const pivot = table[leave], by = pivot[enter];
    for (let j = 0; j <= m + n; j++) pivot[j] /= by;
    for (let k = 0; k <= n; k++) {
      const factor = k === leave ? 0 : table[k][enter];
      if (factor !== 0) for (let j = 0; j <= m + n; j++) table[k][j] -= factor * pivot[j];
    }
    basis[leave] = enter;
  }
  const total = goal[m + n];
  const prior = Array.from({ length: n }, (_, k) => Math.max(goal[m + k], 0));
  const sum = prior.reduce((a, b) => a + b, 0);
  return { prior: prior.map((p) => p / sum), value: 1 / total - shift };
}
