// Words and numbers. Text enters the page through text nodes only, never as markup.

/** An element with attributes and children; strings become text. */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

/** A name from the data: its direction is its own; where it is cut short, pointing at it shows all. */
function named(text) {
  if (text.length <= 20) return el('bdi', { class: 'name' }, text);
  const cut = tailOf(text);
  return el('bdi', { class: 'name long', title: text }, el('span', { class: 'head' }, text.slice(0, cut)),
    el('span', {}, text.slice(cut)));
}

/** Where the end of a long name begins that is always shown: names may differ in nothing else. */
const tails = new Map();
function tailOf(text) {
  if (!tails.has(text)) {
    const characters = globalThis.Intl?.Segmenter
      ? Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment) : [...text];
    const word = characters.length - 1 - characters.lastIndexOf(' ');
    tails.set(text, text.length - characters.slice(word > 0 && word < 10 ? -word : -7).join('').length);
  }
  return tails.get(text);
}
const decision = (d) => el('span', { class: 'decision' }, swatch(d), '\u2060', named(data.decisions[d]));
const swatch = (d) => svg('svg', { class: 'swatch', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
  svg('rect', { x: 1, y: 1, width: 10, height: 10, rx: 2, fill: data.colours[d], class: 'outlined' }));
const quoted = (text) => `“${text}”`;

/** Decimal place of the last digit worth showing: three significant, and what an interval allows. */
function lastPlace(value, half = 0) {
  const three = value === 0 ? -2 : Math.floor(Math.log10(Math.abs(value))) - 2;
  return half > 0 ? Math.max(three, Math.floor(Math.log10(half)) - 1) : three;
}

/** Formats are kept: to make one takes longer than to write a whole table with it. */
const grouped = new Intl.NumberFormat('en');
const formats = [];
const withDigits = (digits) => (formats[digits] ??=
  new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }));

/** A number rounded at a decimal place, with separators and a true minus. */
function rounded(value, place) {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.min(Math.max(-place, 0), 12), unit = 10 ** Math.max(place, 0);
  const shown = withDigits(digits).format(digits === 0 ? Math.round(value / unit) * unit : value);
  return /[1-9]/.test(shown) ? shown.replace('-', '−') : shown.replace('-', '');
}

const number1 = (value) => rounded(value, lastPlace(value) + 2);
const number = (value, half = 0) => rounded(value, lastPlace(value, half));
const plain = (value) => grouped.format(Number(value.toPrecision(6)));
const signed = (value, half = 0) => (value > 0 ? '+' : '') + number(value, half);

/** A share in per cent, never quite none or all; `rows` of its kind limit what can be said. */
function percent(share, rows = 0) {
  if (!Number.isFinite(share)) return '–';
  // None of n rows still allows a share of 3 / n, at 95 per cent.
  const unseen = rows > 0 ? Math.max(0.001, Math.min(3 / rows, 1)) : 0.001;
  if (share === 0 && rows > 0) return `<${number1(100 * unseen)}\u00a0%`;
  if (share === 1 && rows > 0) return `>${rounded(100 - 100 * unseen, lastPlace(100 * unseen) + 2)}\u00a0%`;
  if (share < 0.001) return '<0.1\u00a0%';
  if (share > 0.999) return '>99.9\u00a0%';
  const half = rows > 0 ? 196 * Math.sqrt(share * (1 - share) / rows) : 0;
  return `${rounded(100 * share, Math.max(lastPlace(100 * share, half), -1))}\u00a0%`;
}

/** Cases of 1,000, by largest remainders, so that they add up. */
function thousand(shares) {
  const whole = shares.map((share) => Math.floor(1000 * share));
  const order = shares.map((_, i) => i).sort((a, b) => (1000 * shares[b] - whole[b]) - (1000 * shares[a] - whole[a]));
  const missing = Math.round(1000 * sum(shares)) - sum(whole);
  for (const i of order.slice(0, missing)) whole[i] += 1;
  return whole;
}

const casesText = (share, count) => (count === 0 && share > 0 ? '<1' : grouped.format(count));

/** The recommended rule in words, as pieces of text and elements. */
function ruleInWords(rule, figures) {
  const at = (place) => decision(rule.active[place]);
  if (nClasses === 2) {
    const k = rule.priors[0] <= rule.priors[1] ? 0 : 1, pieces = flips(rule.gain, rule.priors, k);
    if (pieces.length === 1) return ['Always decide ', at(pieces[0].place)];
    const words = ['Decide ', at(pieces[0].place), ' while the chance of ', named(data.classes[k]), ' is below ', percent(pieces[0].to)];
    for (const piece of pieces.slice(1, -1)) words.push(', ', at(piece.place), ' up to ', percent(piece.to));
    return [...words, pieces.length > 2 ? ', and ' : ' and ', at(pieces.at(-1).place), ' above'];
  }
  const order = figures.shares.map((_, d) => d).sort((a, b) => figures.shares[b] - figures.shares[a]);
  const shown = order.filter((d) => figures.shares[d] > 0).slice(0, 3);
  const words = ['Decide for the highest expected gain: '];
  shown.forEach((d, i) => words.push(i ? ', ' : '', at(d), ` in ${percent(figures.shares[d])}`));
  const rest = figures.shares.filter((s) => s > 0).length - shown.length;
  return [...words, rest > 0 ? ` and ${rest} other${rest > 1 ? 's' : ''} in the rest of the cases` : ' of the cases'];
}

/** The one sentence of the first screen. */
function sentence(rule, figures) {
  const [low, high] = figures.interval, half = (high - low) / 2, place = lastPlace(figures.expectedGain, half);
  const constant = cases.constant(rule), over = figures.expectedGain - constant.gain;
  const argmax = cases.argmax(rule, figures.chances), overArgmax = figures.expectedGain - argmax;
  const more = (value) => (Math.abs(value) < 10 ** place / 2 ? 'as much as'
    : `${rounded(Math.abs(value), lastPlace(value, half))} ${value > 0 ? 'more' : 'less'} than`);
  const words = [
    ...ruleInWords(rule, figures), '. It earns ',
    el('strong', {}, rounded(figures.expectedGain, place)),
    ` per case (${Number((100 * data.confidence).toPrecision(6))} % interval ${rounded(low, place)} to ${rounded(high, place)}): ${more(over)} always deciding `,
    decision(rule.active[constant.place]),
  ];
  if (Number.isFinite(argmax)) words.push(`, and ${more(overArgmax)} deciding for the most probable class`);
  return [...words, '.'];
}
