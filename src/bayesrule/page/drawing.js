// Pictures and tables of the figures. Each function returns new nodes for what it is given.

/** Expected gain on one axis: interval and point, the fitted rule as a ghost, simpler rules below. */
function gainRuler(rule, figures, ghost) {
  const constant = cases.constant(rule).gain, argmax = cases.argmax(rule, figures.chances);
  const all = [...figures.interval, ...ghost.interval, constant, argmax].filter(Number.isFinite);
  const low = Math.min(...all), high = Math.max(...all), span = high - low || 1;
  const x = (g) => 20 + 560 * (g - low) / span;
  const half = (figures.interval[1] - figures.interval[0]) / 2;
  const apart = Math.abs(x(constant) - x(argmax)) > 230;
  const tick = (g, text, row) => Number.isFinite(g) && [
    svg('line', { class: 'tick', x1: x(g), x2: x(g), y1: 24, y2: 40 + 22 * row }),
    svg('text', { x: x(g) + (x(g) > 400 ? 4 : -4), y: 58 + 22 * row, 'text-anchor': x(g) > 400 ? 'end' : 'start' },
      `${text} ${number(g, half)}`)];
  return svg('svg', {
    class: 'ruler', viewBox: `0 0 600 ${apart ? 64 : 86}`, role: 'img',
    'aria-label': `Expected gain ${number(figures.expectedGain, half)}; fitted rule ${number(ghost.expectedGain, half)}; `
      + `best constant decision ${number(constant, half)}`,
  },
  svg('line', { class: 'axis', x1: 20, x2: 580, y1: 32, y2: 32 }),
  svg('line', { class: 'ghost', x1: x(ghost.expectedGain), x2: x(ghost.expectedGain), y1: 6, y2: 40 }),
  tick(constant, 'best constant', 0), tick(argmax, 'most probable', apart ? 0 : 1),
  svg('line', { class: 'interval', x1: x(figures.interval[0]), x2: x(figures.interval[1]), y1: 20, y2: 20 }),
  svg('circle', { class: 'point', cx: x(figures.expectedGain), cy: 20, r: 7 }));
}

/** Outline of one mark: a disc is right, a cross is a mistake, a diamond takes no side. */
function mark(kind, x, y) {
  if (kind === 'right') return `M${x - 3.4} ${y}a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z`;
  if (kind === 'aside') return `M${x} ${y - 4.2}l4.2 4.2l-4.2 4.2l-4.2-4.2z`;
  return `M${x - 3.9} ${y - 2.3}l1.6-1.6l2.3 2.3l2.3-2.3l1.6 1.6l-2.3 2.3l2.3 2.3l-1.6 1.6l-2.3-2.3l-2.3 2.3l-1.6-1.6l2.3-2.3z`;
}

/** What a decision is for a class: the best there is, a mistake, or no claim about the class. */
function kindOf(rule, k, place) {
  const row = rule.gain[k];
  if (row[place] === Math.max(...row)) return 'right';
  return data.decided[rule.active[place]] < 0 && cases.decided.some((c) => c >= 0) ? 'aside' : 'wrong';
}

const SIGNS = { right: 'right', wrong: 'mistake', aside: 'no claim' };

/** One sign beside a rate, in the colour of its decision. */
const sign = (kind, d) => svg('svg', { class: 'sign', viewBox: '0 0 10 10', role: 'img', 'aria-label': SIGNS[kind] },
  svg('path', { d: mark(kind, 5, 5), fill: data.colours[d], class: 'outlined' }));

/** A thousand cases: a mark for each, by true class and decision. */
function thousandCases(rule, figures) {
  const width = rule.active.length, whole = thousand(figures.confusion.flat());
  return data.classes.map((name, k) => {
    const counts = whole.slice(k * width, (k + 1) * width), all = sum(counts), prior = figures.priors[k];
    const paths = [], items = [];
    let at = 0;
    counts.forEach((count, place) => {
      const d = rule.active[place], kind = kindOf(rule, k, place), share = figures.confusion[k][place];
      let outline = '';
      for (let i = 0; i < count; i++, at++) outline += mark(kind, 5 + 10 * (at % 50), 5 + 10 * Math.trunc(at / 50));
      if (count) paths.push(svg('path', { d: outline, fill: data.colours[d], class: 'outlined' }));
      if (share > 0) {
        items.push(el('li', {}, sign(kind, d), ' ', el('b', {}, casesText(share, count)), ' decided ', named(data.decisions[d])));
      }
    });
    const rows = Math.max(1, Math.ceil(all / 50));
    return el('div', { class: 'class-block' },
      el('h3', {}, el('b', {}, casesText(prior, all)), ' truly ', named(name)),
      el('ul', { class: 'legend' }, items),
      all > 0 && svg('svg', { class: 'marks', viewBox: `0 0 500 ${10 * rows}`, 'aria-hidden': 'true' }, paths));
  });
}

/** Rates and counts of every decision for every class. */
function confusionTable(rule, figures) {
  const width = rule.active.length, whole = thousand(figures.confusion.flat());
  return el('table', { class: 'figures', 'aria-label': 'Confusion' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'truly'),
      rule.active.map((d) => el('th', { scope: 'col' }, decision(d))))),
    el('tbody', {}, data.classes.map((name, k) => el('tr', {}, el('th', { scope: 'row' }, named(name)),
      rule.active.map((d, place) => {
        const weight = figures.counts[k][place], share = figures.confusion[k][place];
        const rate = cases.totals[k] > 0 ? weight / cases.totals[k] : NaN;
        return el('td', {}, el(weight > 0 ? 'b' : 'span', {}, weight > 0 && sign(kindOf(rule, k, place), d),
          casesText(share, whole[k * width + place])),
        el('small', {}, percent(rate, cases.counts[k]), ` · ${plain(weight)} rows`));
      })))));
}

/** How often each decision is made; the thin bar is the fitted rule. */
function sharesChart(rule, figures, ghostRule, ghost) {
  const bar = (active, shares, y, height) => {
    let x = 0;
    return active.map((d, place) => {
      const piece = svg('rect', { x: 600 * x, y, width: 600 * shares[place], height, fill: data.colours[d], class: 'outlined' });
      x += shares[place];
      return piece;
    });
  };
  const whole = thousand(figures.shares);
  return [
    svg('svg', { class: 'bars', viewBox: '0 0 600 40', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      bar(rule.active, figures.shares, 0, 28), bar(ghostRule.active, ghost.shares, 33, 6)),
    el('ul', { class: 'legend' }, rule.active.map((d, place) => el('li', {}, decision(d), ' ',
      el('b', {}, percent(figures.shares[place], cases.n)), ` (${casesText(figures.shares[place], whole[place])} of 1,000)`))),
  ];
}

/** For each class, the decision as its chance goes from none to all. */
function flipStrips(rule) {
  const shown = nClasses === 2 ? [rule.priors[0] <= rule.priors[1] ? 0 : 1] : data.classes.map((_, k) => k);
  return shown.map((k) => {
    const pieces = flips(rule.gain, rule.priors, k);
    return el('div', { class: 'strip' },
      el('h3', {}, 'Chance of ', named(data.classes[k])),
      svg('svg', { class: 'bars', viewBox: '0 0 600 28', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        pieces.map((piece) => svg('rect', {
          x: 600 * piece.from, y: 0, width: 600 * (piece.to - piece.from), height: 28,
          fill: data.colours[rule.active[piece.place]], class: 'outlined',
        })), svg('line', { class: 'ghost', x1: 600 * rule.priors[k], x2: 600 * rule.priors[k], y1: 0, y2: 28 })),
      el('p', { class: 'scale', 'aria-hidden': 'true' }, el('span', {}, 'none'), el('span', {}, 'half'), el('span', {}, 'certain')),
      el('p', { class: 'note' }, pieces.flatMap((piece, i) => [i ? '; ' : '', decision(rule.active[piece.place]),
        i ? ` from ${percent(piece.from)}` : pieces.length > 1 ? ` below ${percent(piece.to)}` : ' always']), '.'));
  });
}

/** Mean gain and regret of each class. */
function risksTable(figures, ghost) {
  const most = Math.max(...figures.classRisks.filter(Number.isFinite), ...ghost.classRisks.filter(Number.isFinite)) || 1;
  const half = (figures.interval[1] - figures.interval[0]) / 2;
  return el('table', { class: 'figures risks', 'aria-label': 'Risks of the classes' },
    el('thead', {}, el('tr', {}, ['class', 'prior', 'rows', 'mean gain', 'mean regret', ''].map((name) =>
      name ? el('th', { scope: 'col' }, name) : el('td', {})))),
    el('tbody', {}, data.classes.map((name, k) => el('tr', {}, el('th', { scope: 'row' }, named(name)),
      el('td', {}, percent(figures.priors[k])), el('td', {}, plain(cases.totals[k])),
      el('td', {}, number(figures.classGains[k], half)), el('td', {}, number(figures.classRisks[k], half)),
      el('td', {}, Number.isFinite(figures.classRisks[k]) && svg('svg', { class: 'bar', viewBox: '0 0 100 12', 'aria-hidden': 'true' },
        svg('rect', { class: 'ink', x: 0, y: 2, width: 96 * figures.classRisks[k] / most, height: 8 }),
        svg('line', { class: 'ghost', x1: 1 + 96 * ghost.classRisks[k] / most, x2: 1 + 96 * ghost.classRisks[k] / most, y1: 0, y2: 12 })))))));
}

/** One class's predictions against what happened. */
function reliabilityPlot(k, table) {
  const x = (p) => 14 + 112 * p, y = (p) => 126 - 112 * p;
  const shown = table.map((bin) => `${percent(bin.predicted)} predicted, ${percent(bin.observed)} observed`).join('; ');
  return el('figure', {},
    svg('svg', { class: 'square', viewBox: '0 0 140 140', role: 'img', 'aria-label': `Calibration of ${data.classes[k]}: ${shown}` },
      svg('rect', { class: 'frame', x: 14, y: 14, width: 112, height: 112 }),
      svg('line', { class: 'ghost', x1: 14, y1: 126, x2: 126, y2: 14 }),
      svg('polyline', { class: 'curve', points: table.map((b) => `${x(b.predicted).toFixed(2)},${y(b.observed).toFixed(2)}`).join(' ') }),
      table.map((b) => svg('circle', { class: 'point', cx: x(b.predicted), cy: y(b.observed), r: 1.5 + 7 * Math.sqrt(b.weight) / 2 })),
      svg('text', { x: 14, y: 138 }, '0'), svg('text', { x: 126, y: 138, 'text-anchor': 'end' }, '1'),
      svg('text', { x: 70, y: 138, 'text-anchor': 'middle' }, 'predicted'),
      svg('text', { x: 10, y: 70, transform: 'rotate(-90 10 70)', 'text-anchor': 'middle' }, 'observed')),
    el('figcaption', {}, named(data.classes[k])));
}

/** Decision and density at every point of a map; yields now and then. */
function* mapPixels(map, rule, size) {
  const { points, depth } = data.maps, n = nClasses, width = n + 1;
  const steps = map.decoded ??= decode(map.values, Uint16Array);
  const logPriors = rule.priors.map(Math.log), gains = byDecision(rule.gain);
  const chosen = new Uint8Array(size * size), level = new Float64Array(size * size);
  const values = new Float64Array(n), chances = new Float64Array(n);
  for (let row = 0; row < size; row++) {
    if (row % 12 === 11) yield;
    for (let column = 0; column < size; column++) {
      const u = column / (size - 1) * (points - 1), v = (size - 1 - row) / (size - 1) * (points - 1);
      const i = Math.min(Math.trunc(u), points - 2), j = Math.min(Math.trunc(v), points - 2);
      const at = (a, b, k) => steps[((i + a) * points + j + b) * width + k];
      const mixed = (k) => -depth / 65535 * ((1 - u + i) * ((1 - v + j) * at(0, 0, k) + (v - j) * at(0, 1, k))
        + (u - i) * ((1 - v + j) * at(1, 0, k) + (v - j) * at(1, 1, k)));
      for (let k = 0; k < n; k++) values[k] = mixed(k);
      posterior(values, 0, rule.priors, logPriors, chances);
      const pixel = row * size + column;
      chosen[pixel] = rule.active[best(chances, 0, gains, n)];
      let total = 0;
      for (let k = 0; k < n; k++) total += rule.priors[k] * Math.exp(values[k]);
      level[pixel] = total * Math.exp(mixed(n));
    }
  }
  return { chosen, level };
}

/** Draw a map onto a canvas; contours hold 50, 80 and 95 per cent of the density in view. */
function* paintMap(canvas, map, rule) {
  const size = canvas.width, { chosen, level } = yield* mapPixels(map, rule, size);
  const context = canvas.getContext('2d'), image = context.createImageData(size, size);
  const colours = data.colours.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  const sorted = Float64Array.from(level).sort().reverse(), total = sum(sorted), bounds = [];
  for (let i = 0, held = 0; i < sorted.length && bounds.length < 3; i++) {
    held += sorted[i];
    while (bounds.length < 3 && held >= [0.5, 0.8, 0.95][bounds.length] * total) bounds.push(sorted[i]);
  }
  for (let pixel = 0; pixel < chosen.length; pixel++) {
    const ring = data.maps.normalised ? bounds.findIndex((b) => level[pixel] >= b) : 1;
    const share = [0.95, 0.75, 0.55][ring] ?? 0.3;
    const edge = (pixel % size > 0 && chosen[pixel] !== chosen[pixel - 1]) || (pixel >= size && chosen[pixel] !== chosen[pixel - size]);
    colours[chosen[pixel]].forEach((c, i) => { image.data[4 * pixel + i] = edge ? 40 : 255 + (c - 255) * share; });
    image.data[4 * pixel + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return [...new Set(chosen)].sort((a, b) => a - b);
}

/** Posterior, expected gains and evidence of one case. */
function caseFigures(state, rule, figures) {
  const i = state.row, chances = Array.from({ length: nClasses }, (_, k) => figures.chances[i * nClasses + k]);
  const gains = expectedGains(chances, rule.gain), chosen = figures.decisions[i], truth = cases.labels[i];
  const least = Math.min(...gains), span = Math.max(...gains) - least || 1;
  const bar = (share, fill) => el('td', {}, svg('svg', { class: 'bar', viewBox: '0 0 100 12', 'aria-hidden': 'true' },
    svg('rect', { x: 0, y: 2, width: Math.max(96 * share, 0.5), height: 8, fill, class: fill ? 'outlined' : 'ink' })));
  const order = data.classes.map((_, k) => k).sort((a, b) => chances[b] - chances[a]);
  const nodes = [
    el('p', {}, 'Decided ', decision(rule.active[chosen]), `; truly `, named(data.classes[truth]), '. ',
      kindOf(rule, truth, chosen) === 'right' ? 'The best decision for it.'
        : `The best decision for it would have gained ${number(Math.max(...rule.gain[truth]) - rule.gain[truth][chosen])} more.`),
    el('div', { class: 'pair' },
      el('table', { class: 'figures' }, el('caption', {}, 'How likely each class is'),
        el('tbody', {}, order.slice(0, 8).map((k) => el('tr', {}, el('th', { scope: 'row' }, named(data.classes[k])),
          el('td', {}, percent(chances[k])), bar(chances[k]))))),
      el('table', { class: 'figures' }, el('caption', {}, 'What each decision may be expected to gain'),
        el('tbody', {}, rule.active.map((d, place) => el('tr', {}, el('th', { scope: 'row' }, decision(d)),
          el('td', {}, number(gains[place])), bar((gains[place] - least) / span, data.colours[d])))))),
  ];
  const evidence = evidenceOf(i, order[0], order[1], state.priors);
  if (evidence) {
    const most = Math.max(...evidence.map((e) => Math.abs(e.weight))) || 1;
    nodes.push(el('table', { class: 'figures' },
      el('caption', {}, 'Why: evidence for ', named(data.classes[order[0]]), ' (right) against ', named(data.classes[order[1]]), ' (left), in nats'),
      el('tbody', {}, evidence.map((e) => el('tr', {}, el('th', { scope: 'row' }, named(e.name)), el('td', {}, signed(e.weight)),
        el('td', {}, svg('svg', { class: 'bar', viewBox: '0 0 100 12', 'aria-hidden': 'true' },
          svg('line', { class: 'axis', x1: 50, x2: 50, y1: 0, y2: 12 }),
          svg('rect', { class: 'ink', x: 50 + Math.min(0, 48 * e.weight / most), y: 2, width: 48 * Math.abs(e.weight) / most, height: 8 }))))))));
  } else {
    nodes.push(el('p', { class: 'note' }, data.terms
      ? 'This page holds the evidence of its first cases only.'
      : 'This density does not factor over the features, so no feature has evidence of its own.'));
  }
  if (data.features) {
    nodes.push(el('table', { class: 'figures plain' }, el('caption', {}, 'Its features'),
      el('tbody', {}, data.features.names.map((name, j) =>
        el('tr', {}, el('th', { scope: 'row' }, named(name)), el('td', {}, named(data.features.values[j][i])))))));
  }
  return nodes;
}

/** Evidence of the telling features for class a against class b, of the others, and of the priors. */
function evidenceOf(i, a, b, priors) {
  const terms = data.terms;
  if (!terms || i >= terms.rows) return null;
  const values = terms.decodedValues ??= decode(terms.values, Float32Array);
  const index = terms.decodedIndex ??= decode(terms.index, Uint16Array);
  const found = Array.from({ length: terms.top }, (_, t) => {
    const at = i * terms.top + t;
    return { name: terms.names[index[at]], weight: values[at * nClasses + a] - values[at * nClasses + b] };
  });
  const whole = cases.logDensity[i * nClasses + a] - cases.logDensity[i * nClasses + b];
  const others = whole - sum(found.map((e) => e.weight));
  if (Math.abs(others) > 1e-4 * Math.max(1, Math.abs(whole))) found.push({ name: 'all other features', weight: others });
  const prior = Math.log(priors[a]) - Math.log(priors[b]);
  if (Number.isFinite(prior)) found.push({ name: 'how common the classes are', weight: prior });
  return found.every((e) => Number.isFinite(e.weight)) ? found : null;
}
