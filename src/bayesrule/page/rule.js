// The rule itself, on the rows of the report: posteriors, decisions and what they are worth.

const sum = (values) => values.reduce((a, b) => a + b, 0);
const dot = (a, b) => a.reduce((total, value, i) => total + value * b[i], 0);

/** Numbers that were written in base 64, least significant byte first. */
function decode(text, Type) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Type(bytes.buffer);
}

/** The numeric rule of a state: priors, and gains of the decisions that are switched on. */
function ruleOf(state) {
  const active = state.enabled.flatMap((on, d) => (on ? [d] : []));
  const gain = state.gain.map((row) => active.map((d) => row[d] - state.price[d]));
  return { priors: state.priors, gain, active };
}

/** Posterior of the row of log-densities at `start` into the same place, as bayesrule.decide computes it. */
function posterior(values, start, priors, logPriors, into) {
  const n = priors.length;
  let top = -Infinity;
  for (let k = 0; k < n; k++) {
    const value = priors[k] > 0 ? values[start + k] + logPriors[k] : -Infinity;
    into[start + k] = value;
    if (value > top) top = value;
  }
  let total = 0;
  for (let k = 0; k < n; k++) {
    const value = into[start + k];
    const weight = top === -Infinity ? priors[k] // no class supports the row: the data said nothing
      : top === Infinity ? Number(value === Infinity) // atoms share
        : Math.exp(value - top);
    into[start + k] = weight;
    total += weight;
  }
  const share = 1 / total;
  for (let k = 0; k < n; k++) into[start + k] *= share;
}

/** Gains decision by decision in one array, as `best` runs through them for every row. */
const byDecision = (gain) => Float64Array.from(gain[0].flatMap((_, d) => gain.map((row) => row[d])));

/** Place of the first decision of highest expected gain, for the n chances at `start`. */
function best(chances, start, gains, n) {
  let first = 0, highest = -Infinity;
  for (let d = 0, at = 0; at < gains.length; d++) {
    let value = 0;
    for (let k = 0; k < n; k++) value += chances[start + k] * gains[at++];
    if (value > highest) { highest = value; first = d; }
  }
  return first;
}

const expectedGains = (chances, gain) => gain[0].map((_, d) => sum(chances.map((p, k) => p * gain[k][d])));

/** The rows of a report. */
class Cases {
  constructor(data) {
    this.n = data.rows;
    this.nClasses = data.classes.length;
    this.logDensity = decode(data.logDensity, Float64Array);
    this.labels = decode(data.labels, Uint8Array);
    this.places = decode(data.places, Float64Array);
    this.weights = data.weights ? decode(data.weights, Float64Array) : new Float64Array(this.n).fill(1);
    this.totals = new Float64Array(this.nClasses);
    const squares = new Float64Array(this.nClasses);
    this.counts = new Int32Array(this.nClasses);
    for (let i = 0; i < this.n; i++) {
      this.totals[this.labels[i]] += this.weights[i];
      squares[this.labels[i]] += this.weights[i] ** 2;
      this.counts[this.labels[i]] += 1;
    }
    // A weighted row counts by the effective number of rows of its class.
    this.perWeight = this.totals.map((total, k) => (total > 0 ? total / squares[k] : 0));
    this.decided = data.decided;
    this.quantile = data.quantile;
    this.tail = (1 - data.confidence) / 2;
    this.trained = data.trained;
  }

  /** Posteriors of all rows, one after the other; `keep` has those of these priors kept. */
  posteriors(priors, keep = false) {
    if (this.kept && this.kept.priors.every((p, k) => p === priors[k])) return this.kept.chances;
    const chances = this.freshPosteriors(priors);
    if (keep) this.kept = { priors: [...priors], chances };
    return chances;
  }

  freshPosteriors(priors) {
    const n = this.nClasses, logPriors = priors.map(Math.log);
    const chances = new Float64Array(this.n * n);
    for (let i = 0; i < this.n; i++) posterior(this.logDensity, i * n, priors, logPriors, chances);
    return chances;
  }

  /** Priors that value decisions: a class without rows shows nothing, its share goes to others. */
  valued(priors) {
    const seen = priors.map((p, k) => (this.totals[k] > 0 ? p : 0));
    const total = sum(seen);
    return seen.map((p) => p / total);
  }

  /** Weight of the rows of each class that a rule gives each of its decisions. */
  tally(rule, chances, decisions) {
    const n = this.nClasses, width = rule.active.length, gains = byDecision(rule.gain);
    const counts = Array.from({ length: n }, () => new Float64Array(width));
    for (let i = 0; i < this.n; i++) {
      const d = best(chances, i * n, gains, n);
      if (decisions) decisions[i] = d;
      counts[this.labels[i]][d] += this.weights[i];
    }
    return counts;
  }

  /** Figures of a rule, named and computed as in bayesrule.evaluate. */
  evaluate(rule) {
    const chances = this.posteriors(rule.priors, true), decisions = new Uint8Array(this.n);
    const counts = this.tally(rule, chances, decisions);
    return { ...this.judge(rule, counts), chances, decisions };
  }

  /** Expected gain alone, for curves. */
  gainOf(rule) {
    const counts = this.tally(rule, this.posteriors(rule.priors));
    const priors = this.valued(rule.priors);
    return sum(counts.map((row, k) => (priors[k] > 0 ? priors[k] * dot(row, rule.gain[k]) / this.totals[k] : 0)));
  }

  /** What counted decisions are worth. */
  judge(rule, counts) {
    const { gain, active } = rule, priors = this.valued(rule.priors);
    const classGains = counts.map((row, k) => (this.totals[k] > 0 ? dot(row, gain[k]) / this.totals[k] : NaN));
    const classRisks = counts.map((row, k) =>
      this.totals[k] > 0 ? dot(row, gain[k].map((g) => Math.max(...gain[k]) - g)) / this.totals[k] : NaN);
    const confusion = counts.map((row, k) =>
      Array.from(row, (weight) => (this.totals[k] > 0 ? priors[k] * weight / this.totals[k] : 0)));
    const right = active.flatMap((d, place) => (this.decided[d] >= 0 ? [[this.decided[d], place]] : []));
    const shares = active.map((_, d) => sum(confusion.map((row) => row[d])));
    let centre = 0, below = 0, above = 0;
    for (let k = 0; k < this.nClasses; k++) {
      if (!(priors[k] > 0)) continue;
      const worst = Math.min(...gain[k]), most = Math.max(...gain[k]), mean = classGains[k];
      const rows = counts[k].map((weight) => weight * this.perWeight[k]);
      const low = meanQuantile(this.tail, -this.quantile, gain[k], rows, worst);
      const high = meanQuantile(1 - this.tail, this.quantile, gain[k], rows, most);
      centre += priors[k] * mean;
      below += (priors[k] * (mean - Math.max(Math.min(low, mean), worst))) ** 2;
      above += (priors[k] * (Math.min(Math.max(high, mean), most) - mean)) ** 2;
    }
    return {
      priors, counts, confusion, shares, classGains, classRisks,
      expectedGain: centre,
      interval: [centre - Math.sqrt(below), centre + Math.sqrt(above)],
      accuracy: right.length ? sum(right.map(([k, d]) => confusion[k][d])) : NaN,
    };
  }

  /** The best constant decision: its place and what it is worth. */
  constant(rule) {
    const gains = expectedGains(this.valued(rule.priors), rule.gain);
    const place = gains.indexOf(Math.max(...gains));
    return { place, gain: gains[place] };
  }

  /** Expected gain of deciding for the most probable class; NaN where a class is no decision. */
  argmax(rule, chances) {
    const n = this.nClasses;
    const places = Array.from({ length: n }, (_, k) => rule.active.findIndex((d) => this.decided[d] === k));
    if (places.includes(-1)) return NaN;
    const sums = new Float64Array(n);
    for (let i = 0; i < this.n; i++) {
      let top = 0;
      for (let k = 1; k < n; k++) if (chances[i * n + k] > chances[i * n + top]) top = k;
      sums[this.labels[i]] += this.weights[i] * rule.gain[this.labels[i]][places[top]];
    }
    const priors = this.valued(rule.priors);
    return sum(priors.map((p, k) => (p > 0 ? p * sums[k] / this.totals[k] : 0)));
  }

  /** Scores of the posteriors, and how far those of each class can be believed. */
  calibration(figures) {
    const n = this.nClasses, { chances, priors } = figures;
    const shares = new Float64Array(this.n);
    let brier = 0, logLoss = 0;
    const smallest = Number.EPSILON;
    for (let i = 0; i < this.n; i++) {
      const k = this.labels[i];
      shares[i] = this.weights[i] * (priors[k] / this.totals[k]);
      for (let j = 0; j < n; j++) brier += shares[i] * (chances[i * n + j] - (j === k ? 1 : 0)) ** 2;
      const chance = Math.min(Math.max(chances[i * n + k], smallest), 1 - smallest);
      if (shares[i] > 0) logLoss -= shares[i] * Math.log(chance);
    }
    return {
      brier: n === 2 ? brier / 2 : brier,
      logLoss,
      tables: Array.from({ length: n }, (_, k) => () => this.reliability(chances, shares, k)),
    };
  }

  /** Mean prediction and observed frequency in ten bins of equal weight, as in bayesrule.reliability. */
  reliability(chances, shares, k) {
    const n = this.nClasses, BINS = 10;
    const rows = [];
    const predicted = new Float64Array(this.n);
    for (let i = 0; i < this.n; i++) {
      // Predictions that differ by rounding only are one and the same.
      predicted[i] = Math.round(chances[i * n + k] * 1e12) / 1e12;
      if (shares[i] > 0) rows.push(i);
    }
    rows.sort((a, b) => predicted[a] - predicted[b]);
    let all = 0;
    for (const i of rows) all += shares[i];
    const bins = Array.from({ length: BINS }, () => ({ weight: 0, predicted: 0, observed: 0 }));
    let before = 0;
    for (let start = 0; start < rows.length; ) {
      let end = start, weight = 0, observed = 0;
      for (; end < rows.length && predicted[rows[end]] === predicted[rows[start]]; end++) {
        weight += shares[rows[end]];
        if (this.labels[rows[end]] === k) observed += shares[rows[end]];
      }
      before += weight;
      const bin = bins[Math.min(Math.trunc(BINS * (before - 0.5 * weight) / all), BINS - 1)];
      bin.weight += weight;
      bin.predicted += weight * predicted[rows[start]];
      bin.observed += observed;
      start = end;
    }
    return bins.filter((bin) => bin.weight > 0).map(({ weight, predicted, observed }) => ({
      predicted: predicted / weight, observed: observed / weight, weight: weight / all,
    }));
  }

  /**
   * Minimax priors on regret: those under which the best rule loses most, by cutting planes.
   * Yields after each pass over the rows, so that the page stays awake; then { priors, value }.
   */
  *minimax(gain) {
    const n = this.nClasses;
    const losses = gain.map((row) => row.map((g) => Math.max(...row) - g));
    const scale = Math.max(...losses.flat()) || 1;
    for (const row of losses) for (let d = 0; d < row.length; d++) row[d] /= scale;
    const atoms = this.freshPosteriors(this.trained), totals = new Float64Array(n);
    for (let i = 0; i < this.n; i++) {
      for (let k = 0; k < n; k++) totals[k] += (atoms[i * n + k] *= this.weights[i]);
    }
    for (let i = 0; i < this.n; i++) for (let k = 0; k < n; k++) if (totals[k] > 0) atoms[i * n + k] /= totals[k];
    yield;
    const present = Array.from(totals, (total) => total > 0);
    const share = 1 / present.filter(Boolean).length;
    let top = { priors: present.map((there) => (there ? share : 0)), value: -Infinity };
    let asked = [top.priors];
    const cuts = [];
    for (let pass = 0; pass < 500; pass++) {
      const before = cuts.length;
      for (const priors of asked.map((p) => lifted(p, present))) {
        const risks = response(atoms, priors, losses, n);
        yield;
        if (!cuts.some((cut) => cut.every((risk, k) => risk === risks[k]))) cuts.push(risks);
        const value = dot(priors, risks);
        if (value > top.value) top = { priors, value };
      }
      if (cuts.length === before) break;
      const inner = matrixGame(cuts.map((cut) => cut.filter((_, k) => present[k])));
      if (inner.value - top.value <= 1e-9) break;
      const point = present.map((there) => (there ? inner.prior.shift() : 0));
      asked = [point, point.map((p, k) => 0.5 * (p + top.priors[k]))];
    }
    return { priors: top.priors, value: top.value * scale };
  }
}

/** Priors with none at zero: a class of prior zero would never be decided for. */
function lifted(priors, present) {
  const LEAST = 1e-6;
  const raised = priors.map((p, k) => (present[k] ? Math.max(p, LEAST) : 0));
  const spare = raised.map((p) => (p > LEAST ? p - LEAST : 0)), excess = sum(raised) - 1;
  if (excess <= 0) return raised;
  const room = sum(spare);
  return raised.map((p, k) => p - spare[k] * (excess / room));
}

/** Risks of the rule that is best for some priors, class by class. */
function response(atoms, priors, losses, n) {
  const risks = new Array(n).fill(0), width = losses[0].length;
  for (let start = 0; start < atoms.length; start += n) {
    let first = 0, least = Infinity;
    for (let d = 0; d < width; d++) {
      let loss = 0;
      for (let k = 0; k < n; k++) loss += priors[k] * atoms[start + k] * losses[k][d];
      if (loss < least) { least = loss; first = d; }
    }
    for (let k = 0; k < n; k++) risks[k] += atoms[start + k] * losses[k][first];
  }
  return risks;
}

/**
 * Where decisions flip as the chance t of class k goes from 0 to 1 and the others share the rest
 * as `priors` do: [{ place, from, to }], exact, since every expected gain is a line in t.
 */
function flips(gain, priors, k) {
  const rest = 1 - priors[k];
  const others = priors.map((p, j) => (j === k ? 0 : rest > 0 ? p / rest : 1 / (priors.length - 1)));
  return envelope(expectedGains(others, gain), gain[k]);
}

/** Upper envelope of the lines from `start` (at t = 0) to `end` (at t = 1). */
function envelope(start, end) {
  const pieces = [];
  const slope = start.map((s, d) => end[d] - s);
  let t = 0;
  let place = start.reduce((b, s, d) =>
    (s > start[b] || (s === start[b] && slope[d] > slope[b]) ? d : b), 0);
  for (;;) {
    let next = 1, after = -1;
    for (let d = 0; d < start.length; d++) {
      if (slope[d] <= slope[place]) continue;
      const crossing = (start[place] - start[d]) / (slope[d] - slope[place]);
      if (crossing < next || (crossing === next && after >= 0 && slope[d] > slope[after])) {
        next = Math.max(crossing, t);
        after = d;
      }
    }
    pieces.push({ place, from: t, to: next });
    if (after < 0) return pieces.filter((piece) => piece.to > piece.from || pieces.length === 1);
    t = next;
    place = after;
  }
}
