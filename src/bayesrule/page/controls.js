// What the reader moves: a button for every gain, prior and action opens its slider, five at most.

/** Name of what a slider stands for, as pieces of text. */
function labelOf(key) {
  const [kind, i, j] = key.split('.');
  if (kind === 'p') return ['Chance of ', named(data.classes[i])];
  if (kind === 'a') return ['Price of ', decision(i)];
  return ['Deciding ', decision(j), ' when truly ', named(data.classes[i])];
}

function plainLabelOf(key) {
  const [kind, i, j] = key.split('.');
  if (kind === 'p') return `Chance of ${data.classes[i]} in per cent`;
  if (kind === 'a') return `Price of ${data.decisions[i]}`;
  return `Gain of deciding ${data.decisions[j]} when truly ${data.classes[i]}`;
}

const allGains = data.gain.flat();
const gainSpan = Math.max(...allGains) - Math.min(...allGains) || 1;

/** The range of a slider before anything is typed, its step, and the unit it is shown in. */
function rangeOf(key) {
  if (key[0] === 'p') return { low: 0, high: 1, step: 0.001, scale: 100 };
  const step = 10 ** Math.floor(Math.log10(gainSpan)) / 100;
  const up = (value) => Math.ceil(value / step / 10) * step * 10;
  if (key[0] === 'a') return { low: -up(gainSpan / 2), high: up(gainSpan / 2), step, scale: 1 };
  return {
    low: -up(gainSpan / 2 - Math.min(...allGains)), high: up(Math.max(...allGains) + gainSpan / 2), step, scale: 1,
  };
}

/** The case whose decision the sliders mark flips of: the one looked up, else one unknown. */
function likelihoods(state) {
  if (state.row === null) return data.classes.map(() => 1);
  const values = Array.from({ length: nClasses }, (_, k) => cases.logDensity[state.row * nClasses + k]);
  const top = Math.max(...values);
  return values.map((v) => (top === -Infinity ? 1 : v === top ? 1 : Math.exp(v - top)));
}

/** Values of a slider at which the decision for that case flips: [{ at, to }] with rising values. */
function flipsAlong(state, key) {
  const [kind, i, j] = key.split('.').map((part, place) => (place ? Number(part) : part));
  const rule = ruleOf(state), f = likelihoods(state);
  if (kind === 'p') {
    const rest = 1 - state.priors[i];
    const others = f.map((v, k) => (k === i ? 0 : v * (rest > 0 ? state.priors[k] / rest : 1 / (nClasses - 1))));
    const pieces = envelope(expectedGains(others, rule.gain), rule.gain[i].map((g) => g * f[i]));
    return pieces.slice(1).map((piece) => ({ at: piece.from, to: rule.active[piece.place] }));
  }
  const d = kind === 'a' ? i : j, place = rule.active.indexOf(d);
  const weights = f.map((v, k) => v * state.priors[k]), total = sum(weights);
  const chances = total > 0 ? weights.map((w) => w / total) : state.priors;
  const slope = kind === 'a' ? -1 : chances[i];
  if (place < 0 || slope === 0 || rule.active.length < 2) return [];
  const gains = expectedGains(chances, rule.gain);
  const own = gains[place];
  gains[place] = -Infinity;
  const rival = gains.indexOf(Math.max(...gains));
  const at = valueOf(state, key) + (gains[rival] - own) / slope;
  return [{ at, to: slope > 0 ? d : rule.active[rival] }];
}

/** One slider: range, number box, the gain over the whole range, ghost, and marks of flips. */
class Slider {
  constructor(key, app) {
    this.key = key;
    this.app = app;
    this.range = rangeOf(key);
    const { scale } = this.range, label = plainLabelOf(key);
    const moved = (node, unit) => {
      const value = Number(node.value) / unit;
      if (node.value.trim() !== '' && Number.isFinite(value)) app.change(withValue(app.state, key, value), this);
    };
    this.input = el('input', { type: 'range', 'aria-label': label, oninput: () => moved(this.input, 1) });
    this.box = el('input', {
      type: 'number', step: 'any', 'aria-label': `${label}, as a number`, oninput: () => moved(this.box, scale),
      onchange: () => this.show(app.state),
    });
    this.line = svg('polyline', { class: 'curve' });
    this.ghost = svg('line', { class: 'ghost', y1: 0, y2: 60 });
    this.here = svg('line', { class: 'here', y1: 0, y2: 60 });
    this.marks = svg('g');
    this.note = el('p', { class: 'note' });
    const close = el('button', {
      type: 'button', class: 'close', 'aria-label': `Close: ${label}`, onclick: () => app.toggle(key),
    }, '×');
    this.node = el('div', { class: 'slider' },
      el('div', { class: 'slider-head' }, el('span', {}, labelOf(key)),
        el('span', { class: 'box' }, this.box, scale === 100 ? ' %' : ''), close),
      svg('svg', { class: 'plot', viewBox: '0 0 300 60', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        this.ghost, this.marks, this.line, this.here),
      this.input, this.note);
    this.show(app.state);
  }

  x(value) { return 300 * (value - this.range.low) / (this.range.high - this.range.low); }

  /** Follow the state; the box is left alone while somebody types in it. */
  show(state) {
    const { range } = this, value = valueOf(state, this.key);
    range.low = Math.min(range.low, value);
    range.high = Math.max(range.high, value);
    this.input.min = range.low;
    this.input.max = range.high;
    this.input.step = range.step;
    this.input.value = value;
    const shown = Number((value * range.scale).toPrecision(6));
    this.input.setAttribute('aria-valuetext', `${shown}${range.scale === 100 ? ' %' : ''}`);
    if (document.activeElement !== this.box) this.box.value = shown;
    const place = (line, at) => { line.setAttribute('x1', this.x(at)); line.setAttribute('x2', this.x(at)); };
    place(this.ghost, valueOf(fittedState(), this.key));
    place(this.here, value);
    const found = flipsAlong(state, this.key), inside = found.filter((f) => f.at >= range.low && f.at <= range.high);
    this.marks.replaceChildren(...inside.map((f) =>
      svg('line', { class: 'flip', x1: this.x(f.at), x2: this.x(f.at), y1: 0, y2: 60, stroke: data.colours[f.to] })));
    const who = state.row === null ? 'a case of which nothing is known' : 'the case below';
    const where = (f) => (range.scale === 100 ? percent(f.at) : number(f.at));
    this.note.replaceChildren(...(inside.length
      ? [`The decision for ${who} flips `, ...inside.flatMap((f, i) => [i ? ', ' : '', 'to ', decision(f.to), ` at ${where(f)}`]), '.']
      : [`The decision for ${who} does not flip in this range.`]));
  }

  /** Values along the range at which the gain is worked out. */
  grid() {
    const { low, high } = this.range;
    return Array.from({ length: 33 }, (_, i) => low + (high - low) * i / 32);
  }

  /** Draw the gain over the range. */
  draw(gains) {
    const low = Math.min(...gains), high = Math.max(...gains), grid = this.grid();
    const y = (g) => (high > low ? 54 - 48 * (g - low) / (high - low) : 30);
    this.line.setAttribute('points', gains.map((g, i) => `${this.x(grid[i]).toFixed(2)},${y(g).toFixed(2)}`).join(' '));
  }
}

/** The panel: presets, gains, priors, extra actions, and the open sliders. */
class Controls {
  constructor(app) {
    this.app = app;
    this.sliders = new Map();
    this.buttons = new Map();
    const button = (key, label) => {
      const node = el('button', { type: 'button', class: 'value', 'data-key': key, 'aria-label': label, onclick: () => app.toggle(key) });
      this.buttons.set(key, node);
      return node;
    };
    const gains = el('table', { class: 'gains' },
      el('caption', {}, 'What each decision is worth'),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'truly'),
        data.decisions.map((_, d) => el('th', { scope: 'col' }, decision(d))))),
      el('tbody', {}, data.classes.map((name, k) => el('tr', {}, el('th', { scope: 'row' }, named(name)),
        data.decisions.map((_, d) => el('td', {}, button(`g.${k}.${d}`, plainLabelOf(`g.${k}.${d}`))))))));
    const priors = el('ul', { class: 'priors' }, data.classes.map((name, k) =>
      el('li', {}, named(name), ' ', button(`p.${k}`, `Chance of ${name}`))));
    this.switches = new Map();
    const actions = data.decisions.flatMap((name, d) => {
      if (data.decided[d] >= 0) return [];
      const box = el('input', { type: 'checkbox', onchange: () => app.switchAction(d, box.checked) });
      this.switches.set(d, box);
      return [el('li', {}, el('label', {}, box, ' ', decision(d)), ' price ', button(`a.${d}`, `Price of ${name}`))];
    });
    this.open = el('div', { class: 'sliders' });
    const preset = (name, click) => el('button', { type: 'button', class: 'preset', onclick: click }, name);
    const hasClasses = data.decided.some((k) => k >= 0);
    this.node = el('section', { class: 'controls', 'aria-labelledby': 'change' },
      el('h2', { id: 'change' }, 'What if?'),
      el('div', { class: 'presets', role: 'group', 'aria-label': 'Presets' },
        preset('Fitted rule', () => app.preset(fittedState())),
        hasClasses && preset('Equal costs', () => app.preset(equalCosts(app.state))),
        preset('Minimax priors', () => app.presetMinimax()),
        el('button', { type: 'button', class: 'preset reset', onclick: () => app.reset() }, 'Reset')),
      this.open,
      el('p', { class: 'hint' }, `Choose a number to open its slider; ${MOST_SLIDERS} can be open. The dashed line is the fitted rule.`),
      el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Gains' }, gains),
      el('h3', {}, 'How common the classes are'), priors,
      actions.length ? [el('h3', {}, 'Decisions that name no class'), el('ul', { class: 'actions' }, actions)] : null);
  }

  /** Follow the state; sliders are made and dropped, those that stay are not touched. */
  show(state) {
    for (const key of [...this.sliders.keys()]) if (!state.open.includes(key)) this.sliders.delete(key);
    for (const key of state.open) if (!this.sliders.has(key)) this.sliders.set(key, new Slider(key, this.app));
    const nodes = state.open.map((key) => this.sliders.get(key).node);
    if (nodes.some((node, i) => this.open.children[i] !== node) || this.open.children.length !== nodes.length) {
      this.open.replaceChildren(...nodes);
    }
    for (const slider of this.sliders.values()) slider.show(state);
    for (const [key, node] of this.buttons) {
      const value = valueOf(state, key);
      const text = key[0] === 'p' ? percent(value) : String(Number(value.toPrecision(6))).replace('-', '−');
      const column = key[0] === 'g' ? key.split('.')[2] : key[0] === 'a' ? key.split('.')[1] : null;
      const off = column !== null && !state.enabled[column];
      const shown = `${value} ${state.open.includes(key)} ${off}`;
      if (node.shown === shown) continue; // touching hundreds of buttons in every frame is slow
      node.shown = shown;
      node.textContent = text;
      node.setAttribute('aria-pressed', state.open.includes(key));
      node.classList.toggle('changed', value !== valueOf(this.app.fittedState, key));
      const name = key[0] === 'p' ? `Chance of ${data.classes[key.split('.')[1]]}` : plainLabelOf(key);
      node.setAttribute('aria-label', `${name}: ${text}`);
      node.disabled = off;
    }
    const on = state.enabled.filter(Boolean).length;
    for (const [d, box] of this.switches) {
      box.checked = state.enabled[d];
      box.disabled = state.enabled[d] && on === 1; // one decision must be left
    }
  }
}
