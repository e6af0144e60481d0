// What the reader has set: it opens at the fitted rule and lives in the fragment of the address.

const data = JSON.parse(document.getElementById('data').textContent);
const cases = new Cases(data);
const nClasses = data.classes.length, nDecisions = data.decisions.length;

/** Sliders that are open at a time, at most. */
const MOST_SLIDERS = 5;

/** The fitted rule as a state. */
function fittedState() {
  return {
    priors: [...data.priors],
    gain: data.gain.map((row) => [...row]),
    enabled: [...data.enabled],
    price: data.decisions.map(() => 0),
    open: openAtFirst(),
    row: null,
    map: 0,
  };
}

/** The sliders a reader most likely wants: the rarer class, the dearest mistake, an extra action. */
function openAtFirst() {
  const rarest = data.priors.indexOf(Math.min(...data.priors));
  let dearest = [0, 0], loss = -1;
  data.gain.forEach((row, k) => row.forEach((g, d) => {
    if (data.enabled[d] && Math.max(...row) - g > loss) { loss = Math.max(...row) - g; dearest = [k, d]; }
  }));
  const extra = data.decided.findIndex((k, d) => k < 0 && data.enabled[d]);
  const open = [`p.${rarest}`, `g.${dearest[0]}.${dearest[1]}`];
  if (extra >= 0 && data.decided.some((k) => k >= 0)) open.push(`a.${extra}`);
  return open;
}

/** What of a state differs from the fitted rule, as the fragment of an address. */
function fragmentOf(state) {
  const fitted = fittedState(), parts = new URLSearchParams();
  if (String(state.priors) !== String(fitted.priors)) parts.set('p', state.priors.join('_'));
  const cells = [];
  state.gain.forEach((row, k) => row.forEach((g, d) => {
    if (g !== fitted.gain[k][d]) cells.push(`${k}.${d}:${g}`);
  }));
  if (cells.length) parts.set('g', cells.join('_'));
  if (String(state.enabled) !== String(fitted.enabled)) parts.set('on', state.enabled.map(Number).join(''));
  if (state.price.some((p) => p !== 0)) parts.set('a', state.price.join('_'));
  if (String(state.open) !== String(fitted.open)) parts.set('open', state.open.join('_'));
  if (state.row !== null) parts.set('case', state.row);
  if (state.map) parts.set('map', state.map);
  return String(parts);
}

/** The state of a fragment; whatever makes no sense in it is left as it was fitted. */
function stateOf(fragment) {
  const state = fittedState(), parts = new URLSearchParams(fragment);
  const numbers = (name, n) => {
    const found = (parts.get(name) ?? '').split('_').map((t) => (t.trim() === '' ? NaN : Number(t)));
    return found.length === n && found.every(Number.isFinite) ? found : null;
  };
  const priors = numbers('p', nClasses);
  if (priors && priors.every((p) => p >= 0) && sum(priors) > 0) {
    const total = sum(priors);
    state.priors = Math.abs(total - 1) < 1e-12 ? priors : priors.map((p) => p / total);
  }
  for (const cell of (parts.get('g') ?? '').split('_')) {
    const [, k, d, value] = /^(\d+)\.(\d+):(.+)$/.exec(cell) ?? [];
    if (k < nClasses && d < nDecisions && Number.isFinite(Number(value))) state.gain[k][d] = Number(value);
  }
  const on = parts.get('on') ?? '';
  if (on.length === nDecisions && /^[01]*1[01]*$/.test(on)) {
    state.enabled = state.enabled.map((_, d) => on[d] === '1' || data.decided[d] >= 0);
  }
  state.price = numbers('a', nDecisions) ?? state.price;
  if (parts.has('open')) {
    state.open = parts.get('open').split('_').filter(isSlider).slice(0, MOST_SLIDERS);
  }
  const row = Number(parts.get('case') ?? NaN), map = Number(parts.get('map') ?? 0);
  if (Number.isInteger(row) && row >= 0 && row < cases.n) state.row = row;
  if (Number.isInteger(map) && map >= 0 && map < (data.maps?.maps.length ?? 0)) state.map = map;
  return state;
}

/** Whether a key names a slider: p.class, g.class.decision, or a.action for its price. */
function isSlider(key) {
  const [, kind, first, second] = /^([pga])\.(\d+)(?:\.(\d+))?$/.exec(key) ?? [];
  if (kind === 'p') return first < nClasses && second === undefined;
  if (kind === 'g') return first < nClasses && second < nDecisions;
  return kind === 'a' && first < nDecisions && second === undefined && data.decided[first] < 0;
}

/** Change what a slider stands for, in a copy of the state. */
function withValue(state, key, value) {
  const [kind, i, j] = key.split('.');
  if (kind === 'p') return { ...state, priors: movedPriors(state.priors, Number(i), value) };
  if (kind === 'a') return { ...state, price: state.price.map((p, d) => (d === Number(i) ? value : p)) };
  return {
    ...state,
    gain: state.gain.map((row, k) => (k === Number(i) ? row.map((g, d) => (d === Number(j) ? value : g)) : row)),
  };
}

/** What a slider stands at. */
function valueOf(state, key) {
  const [kind, i, j] = key.split('.');
  return kind === 'p' ? state.priors[i] : kind === 'a' ? state.price[i] : state.gain[i][j];
}

/** Priors with one moved; the others keep their proportions and the sum stays one. */
function movedPriors(priors, k, value) {
  const p = Math.min(Math.max(value, 0), 1), rest = sum(priors.map((q, j) => (j === k ? 0 : q)));
  return priors.map((q, j) =>
    j === k ? p : (1 - p) * (rest > 0 ? q / rest : 1 / (priors.length - 1)));
}

/** One if right: every mistake costs the same, and no extra action is on. */
function equalCosts(state) {
  return {
    ...state,
    gain: state.gain.map((row, k) => row.map((g, d) => (data.decided[d] < 0 ? g : Number(data.decided[d] === k)))),
    enabled: data.decided.map((k) => k >= 0),
    price: data.decisions.map(() => 0),
  };
}

/** Gains and priors for the command and for Python. */
function asJSON(state) {
  const rule = ruleOf(state);
  const gain = Object.fromEntries(data.classKeys.map((key, k) =>
    [key.json, Object.fromEntries(rule.active.map((d, place) => [data.decisionKeys[d].json, rule.gain[k][place]]))]));
  const priors = Object.fromEntries(data.classKeys.map((key, k) => [key.json, state.priors[k]]));
  return JSON.stringify({ gain, priors }, null, 2);
}

function asPython(state) {
  const rule = ruleOf(state);
  const rows = data.classKeys.map((key, k) => {
    const cells = rule.active.map((d, place) => `${data.decisionKeys[d].python}: ${rule.gain[k][place]}`);
    return `    ${key.python}: {${cells.join(', ')}},`;
  });
  const priors = data.classKeys.map((key, k) => `${key.python}: ${state.priors[k]}`);
  return `gain = {\n${rows.join('\n')}\n}\npriors = {${priors.join(', ')}}\n`
    + 'clf = clf.with_rule(gain=gain, priors=priors)\n';
}
