// The page put together: one state, figures worked out from it, views that follow.

class App {
  constructor(root) {
    this.fittedState = fittedState();
    this.ghostRule = ruleOf(this.fittedState);
    this.ghost = cases.evaluate(this.ghostRule);
    this.state = stateOf(location.hash.slice(1));
    this.controls = new Controls(this);
    this.views = {};
    this.build(root);
    this.show();
    addEventListener('hashchange', () => {
      if (fragmentOf(this.state) !== location.hash.slice(1)) this.change(stateOf(location.hash.slice(1)));
    });
  }

  /** The parts of the page, in the order they are read. */
  build(root) {
    const view = (name, tag = 'div', attributes = {}) => (this.views[name] = el(tag, { id: name, ...attributes }));
    const section = (title, ...parts) => el('section', {}, el('h2', {}, title), parts);
    const total = data.total > cases.n ? ` of ${data.total.toLocaleString('en')}, drawn at random within each class` : '';
    this.status = el('p', { class: 'unseen', role: 'status' });
    root.replaceChildren(
      el('header', {},
        el('p', { class: 'eyebrow' }, named(data.title)),
        view('sentence', 'h1', { class: 'sentence' }),
        view('ruler'), this.status),
      el('div', { class: 'columns' },
        this.controls.node,
        el('div', { class: 'results' },
          section('Of 1,000 cases like these', this.signs(), view('thousand'),
            el('p', { class: 'hint apart' }, 'The same in numbers: cases of 1,000, the rate within the class, and rows of the sample.'),
            el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Confusion' }, view('confusion'))),
          section('How often each decision is made', view('shares')),
          section('Where the decision flips', el('p', { class: 'hint' }, nClasses > 2
            ? 'As the chance of one class grows and the others share the rest as their priors do. The dashed line is the prior.'
            : 'By the chance of one class. The dashed line is its prior.'), view('strips')),
          section('What each class risks', el('p', { class: 'hint' }, 'Regret is what the best decision for a class would have gained more.'),
            el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Risks' }, view('risks')), view('minimax', 'p')),
          data.maps && this.mapSection(section, view),
          section('Can the chances be believed?', el('p', { class: 'hint' }, 'On the diagonal, what is predicted comes true as often. Larger dots stand for more cases.'),
            view('calibration', 'div', { class: 'multiples' }), view('scores', 'p', { class: 'note' })),
          this.caseSection(section, view),
          this.copySection(section),
          section('About these figures', el('p', {}, `${cases.n.toLocaleString('en')} rows${total}; classes weighed by their priors. `
            + 'The interval takes rule and priors as given and the rows of each class as a random sample of it. '
            + 'This page works without a network and sends nothing. '
            + (data.features ? 'It holds features of its rows.' : 'Of its rows it holds log-densities and labels, no features.')),
          el('p', { class: 'note' }, `Density: ${data.model}.`), data.notes.map((note) => el('p', {}, note))))));
  }

  signs() {
    return el('ul', { class: 'legend signs', 'aria-hidden': 'true' }, Object.entries(SIGNS).map(([kind, text]) =>
      el('li', {}, svg('svg', { class: 'sign', viewBox: '0 0 10 10' }, svg('path', { d: mark(kind, 5, 5), class: 'ink' })), ` ${text}`)));
  }

  mapSection(section, view) {
    const { names, maps } = data.maps;
    const options = maps.map((map, i) => el('option', { value: i }, `${names[map.features[0]]} and ${names[map.features[1]]}`));
    this.mapChoice = el('select', { id: 'map-choice', onchange: () => this.change({ ...this.state, map: Number(this.mapChoice.value) }) }, options);
    this.canvas = el('canvas', { width: 288, height: 288, role: 'img' });
    return section('Decisions over two features',
      el('p', {}, el('label', { for: 'map-choice' }, 'Features '), this.mapChoice),
      el('div', { class: 'map' }, view('yName', 'p', { class: 'note' }), this.canvas, view('xName', 'p', { class: 'note' })),
      view('mapLegend', 'ul', { class: 'legend' }),
      el('p', { class: 'note' }, data.maps.others > 0 ? 'The other features are held at their medians. ' : '',
        data.maps.normalised ? 'Strong colours hold half of the cases in view, the next two shades 80 % and 95 %.' : ''));
  }

  caseSection(section, view) {
    this.caseBox = el('input', {
      id: 'case', type: 'number', min: 0, step: 1, onchange: () => this.lookUp(Number(this.caseBox.value), this.caseBox.value),
    });
    this.caseNote = el('p', { class: 'note', role: 'status' });
    const button = (text, pick) => el('button', { type: 'button', class: 'preset', onclick: () => this.pickCase(pick) }, text);
    return section('One case', el('p', { class: 'lookup' }, el('label', { for: 'case' }, 'Row '), this.caseBox, ' ',
      button('A dear mistake', (i, regret) => regret), ' ',
      button('A close call', (i, regret, margin) => -margin), ' ',
      el('button', { type: 'button', class: 'preset', onclick: () => this.change({ ...this.state, row: null }) }, 'None')),
    this.caseNote, view('oneCase'));
  }

  copySection(section) {
    this.copyText = el('textarea', { readonly: true, rows: 8, spellcheck: 'false', 'aria-label': 'Gains and priors to copy' });
    this.copied = el('span', { role: 'status' });
    this.written = asJSON;
    const copy = (write) => {
      this.written = write;
      this.copyText.value = write(this.state);
      this.copyText.select();
      const done = () => { this.copied.textContent = ' Copied.'; };
      const byHand = () => { document.execCommand('copy'); done(); };
      if (navigator.clipboard) navigator.clipboard.writeText(this.copyText.value).then(done, byHand); else byHand();
    };
    return section('Take it with you', el('p', {}, 'Gains and priors as they are set now. ',
      el('button', { type: 'button', class: 'preset', onclick: () => copy(asJSON) }, 'Copy as JSON'), ' ',
      el('button', { type: 'button', class: 'preset', onclick: () => copy(asPython) }, 'Copy as Python'), this.copied), this.copyText);
  }

  // ---------------------------------------------------------------- what the reader does

  /** Take a new state; the page follows in the next frame. */
  change(state) {
    this.state = state;
    this.waiting ??= requestAnimationFrame(() => { this.waiting = undefined; this.show(); });
  }

  /** Open or close a slider; the oldest one makes room. */
  toggle(key) {
    const { open } = this.state;
    const next = open.includes(key) ? open.filter((other) => other !== key) : [...open, key].slice(-MOST_SLIDERS);
    this.change({ ...this.state, open: next });
    this.focusOn = next.includes(key) ? () => this.controls.sliders.get(key).input : () => this.controls.buttons.get(key);
  }

  switchAction(d, on) {
    this.change({ ...this.state, enabled: this.state.enabled.map((was, i) => (i === d ? on : was)) });
  }

  /** Presets set the rule and leave alone what is being looked at. */
  preset({ priors, gain, enabled, price }) {
    this.change({ ...this.state, priors, gain, enabled, price });
  }

  presetMinimax() {
    const solving = cases.minimax(ruleOf(this.state).gain);
    let step = solving.next();
    while (!step.done) step = solving.next();
    this.change({ ...this.state, priors: step.value.priors });
  }

  reset() {
    this.change(fittedState());
  }

  lookUp(place, text) {
    const row = cases.places.indexOf(place);
    const there = text.trim() !== '' && row >= 0;
    this.caseNote.textContent = there || text.trim() === '' ? '' : 'This row is not in the sample of this page.';
    if (there) this.change({ ...this.state, row });
  }

  /** The next case in the order of some score. */
  pickCase(score) {
    const rule = ruleOf(this.state), { chances, decisions } = this.figures, ranked = [];
    for (let i = 0; i < cases.n; i++) {
      const row = rule.gain[cases.labels[i]], regret = Math.max(...row) - row[decisions[i]];
      const gains = expectedGains(Array.from(chances.subarray(i * nClasses, (i + 1) * nClasses)), rule.gain).sort((a, b) => b - a);
      ranked.push([score(i, regret, gains.length > 1 ? gains[0] - gains[1] : Infinity), i]);
    }
    ranked.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const now = ranked.findIndex(([, i]) => i === this.state.row);
    this.change({ ...this.state, row: ranked[now >= 0 && now < 19 ? now + 1 : 0][1] });
  }

  // ---------------------------------------------------------------- what the page shows

  /** The figures at once; marks, tables, curves and maps in the time between frames. */
  show() {
    const { state, views, ghost, ghostRule } = this;
    const rule = ruleOf(state), figures = (this.figures = cases.evaluate(rule));
    views.sentence.replaceChildren(...sentence(rule, figures));
    views.ruler.replaceChildren(gainRuler(rule, figures, ghost));
    this.controls.show(state);
    this.focusOn?.().focus();
    this.focusOn = undefined;
    views.shares.replaceChildren(...sharesChart(rule, figures, ghostRule, ghost));
    if (document.activeElement !== this.caseBox) this.caseBox.value = state.row === null ? '' : cases.places[state.row];
    this.later(this.rest(rule, figures));
  }

  /** What may follow a little later, a piece at a time. */
  *rest(rule, figures) {
    const { state, views, ghost } = this;
    const drawn = String([thousand(figures.confusion.flat()), rule.active, rule.gain]); // a thousand marks are slow to paint
    if (drawn !== this.drawn) views.thousand.replaceChildren(...thousandCases(rule, figures));
    this.drawn = drawn;
    yield;
    views.confusion.replaceChildren(confusionTable(rule, figures));
    yield;
    views.strips.replaceChildren(...flipStrips(rule));
    yield;
    views.risks.replaceChildren(risksTable(figures, ghost));
    yield;
    views.oneCase.replaceChildren(...(state.row === null
      ? [el('p', { class: 'hint' }, 'Look up a row by its place in the data, from 0, to see why it is decided as it is. The sliders then mark where its decision flips.')]
      : caseFigures(state, rule, figures)));
    yield;
    for (const slider of this.controls.sliders.values()) {
      const gains = [];
      for (const value of slider.grid()) {
        gains.push(cases.gainOf(ruleOf(withValue(state, slider.key, value))));
        yield;
      }
      slider.draw(gains);
    }
    if (data.maps) yield* this.showMap(rule);
    yield;
    const calibration = cases.calibration(figures), plots = [];
    for (let k = 0; k < nClasses; k++) {
      plots.push(reliabilityPlot(k, calibration.tables[k]()));
      yield;
    }
    views.calibration.replaceChildren(...plots);
    views.scores.textContent = `Brier score ${number(calibration.brier)}, log loss ${number(calibration.logLoss)}; lower is better.`;
    const minimax = yield* cases.minimax(rule.gain);
    views.minimax.replaceChildren('Minimax priors, the hardest shares of the classes: ',
      ...data.classes.flatMap((name, k) => [k ? '; ' : '', named(name), `: ${percent(minimax.priors[k])}`]),
      `. By the model, no shares of the classes make the best rule's mean regret larger than ${number(minimax.value)}.`);
    this.copyText.value = this.written(state);
    this.status.textContent = views.sentence.textContent;
    const fragment = fragmentOf(state);
    if (fragment !== location.hash.slice(1)) history.replaceState(null, '', fragment ? `#${fragment}` : location.pathname + location.search);
  }

  *showMap(rule) {
    const map = data.maps.maps[this.state.map], [a, b] = map.features, { names, spans } = data.maps;
    this.mapChoice.value = this.state.map;
    const seen = yield* paintMap(this.canvas, map, rule);
    this.canvas.setAttribute('aria-label', `Decisions over ${names[a]} and ${names[b]}: ${seen.map((d) => data.decisions[d]).join(', ')}`);
    const axis = (j, where) => [`${where} `, named(names[j]), ` from ${spans[j].map((v) => number(v)).join(' to ')}`];
    this.views.xName.replaceChildren(...axis(a, '→'));
    this.views.yName.replaceChildren(...axis(b, '↑'));
    this.views.mapLegend.replaceChildren(...seen.map((d) => el('li', {}, decision(d))));
  }

  /** Run a generator in slices of a few milliseconds; a newer one takes its place. */
  later(work) {
    this.pending = work;
    this.settled = false;
    const slice = () => {
      if (this.pending !== work) return;
      const until = performance.now() + 6;
      for (;;) {
        if (work.next().done) { this.settled = true; return; }
        if (performance.now() > until) break;
      }
      setTimeout(slice);
    };
    setTimeout(slice);
  }
}

const app = new App(document.getElementById('page'));

/** For whoever wants the numbers: the figures of any state, as the page works them out. */
globalThis.decisionReport = {
  app, data, cases, fittedState, ruleOf, meanQuantile, caseFigures, evidenceOf, asJSON, asPython,
  evaluate(state) {
    const rule = ruleOf(state), figures = cases.evaluate(rule), calibration = cases.calibration(figures);
    return {
      ...figures, counts: figures.counts.map((row) => [...row]), chances: null, decisions: null,
      brier: calibration.brier, logLoss: calibration.logLoss, calibration: calibration.tables.map((table) => table()),
      constant: cases.constant(rule).gain, argmax: cases.argmax(rule, figures.chances),
    };
  },
  minimax(state) {
    const solving = cases.minimax(ruleOf(state).gain);
    for (let step = solving.next(); ; step = solving.next()) if (step.done) return step.value;
  },
};
