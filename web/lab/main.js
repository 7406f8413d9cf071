// main.js: the page of `pinch bench --html`: verdicts about the papers' claims, and a plot for every experiment that was run.

import { drawPlot } from './plot.js';
import { plots } from './plots.js';
import { Stage } from './stage.js';

const data = JSON.parse(document.getElementById('pinch-lab').textContent);
const rows = data.rows.map(([experiment, scene, method, measure, step, value]) => ({ experiment, scene, method, measure, step, value }));

const GROUPS = {
  Verdicts: ['What the papers claim', 'Every claim is computed from rows of this run: by the method as the paper has it, and as pinch does it today.'],
  Larsson01: ['Bodies that deform freely', 'Larsson and Akenine-Möller 2001: trees that are built once and followed.'],
  Larsson03: ['Bodies that morph', 'Larsson and Akenine-Möller 2003: volumes blended by the weights.'],
  Mujika09: ['Characters in rooms', 'Mujika and others 2009: spheres carried by joints, and walls of big triangles.'],
  Ganovelli00: ['Soups', 'Ganovelli, Dingliana and O’Sullivan 2000: primitives without connections, in buckets.'],
  Heidelberger03: ['Space that bodies share', 'Heidelberger, Teschner and Gross 2003: layered depth images.'],
  Today: ['Beside today’s libraries', 'The default world as a new user has it, and every peer at each of its settings.'],
};

function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

const digits = (value) => (value === null ? '' : String(+value.toPrecision(3)));

function verdict(value, word) {
  if (!word) return element('td');
  const kind = word === 'not reproduced' ? 'bad' : word === 'not measured' ? 'none' : 'good';
  return element('td', { class: 'number' }, value === null ? '' : `${digits(value)} `, element('span', { class: `verdict ${kind}` }, word));
}

function verdictTable() {
  const body = element('tbody');
  for (const v of data.verdicts) {
    if (v.theirs === null && v.ours === null) continue;
    const says = element('td', {}, v.says, element('small', {}, v.paper));
    const isMissed = v.theirs_verdict === 'not reproduced' || v.ours_verdict === 'not reproduced';
    if (v.why && isMissed) says.append(element('small', {}, `Why: ${v.why}`));
    body.append(element('tr', {}, says, element('td', { class: 'number' }, v.number), verdict(v.theirs, v.theirs_verdict), verdict(v.ours, v.ours_verdict)));
  }
  const head = element('tr');
  for (const title of ['The paper says', 'Its figure', 'As the paper has it', 'As pinch does it today']) head.append(element('th', { scope: 'col' }, title));
  return element('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Verdicts' }, element('table', {}, element('thead', {}, head), body));
}

/** The scene beside its plot, when there is one and the browser can draw it. It plays while it is on the screen. */
function addStage(box, name) {
  const canvas = element('canvas', { 'aria-label': `scene ${name}, playing` });
  const button = element('button', { type: 'button' }, 'pause');
  const stage = element('div', { class: 'stage' }, canvas, element('span', {}, name), button);
  box.append(stage);
  let view = null, wanted = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  button.textContent = wanted ? 'pause' : 'play';
  new IntersectionObserver(([entry]) => {
    if (entry.isIntersecting && !view) {
      try {
        view = new Stage(stage, canvas, data.scenes[name]);
      } catch {
        stage.remove();
        return;
      }
    }
    view?.play(entry.isIntersecting && wanted);
  }).observe(stage);
  button.addEventListener('click', () => {
    wanted = !wanted;
    button.textContent = wanted ? 'pause' : 'play';
    view?.play(wanted);
  });
}

function figure(plot) {
  // beside a scene there is less room: drawn for it, so that words stay readable
  const isPlayed = plot.play && data.scenes[plot.play];
  const svg = drawPlot(plot, rows, { width: (plot.wide ? 1240 : 640) - (isPlayed ? 190 : 0) });
  if (!svg) return null;
  const drawn = element('div', { class: 'scroll' });
  if (plot.wide) drawn.tabIndex = 0;
  drawn.innerHTML = svg;
  const box = element('figure', { id: plot.id, class: plot.wide ? 'wide' : '' }, element('h3', {}, plot.title));
  if (isPlayed) {
    const pair = element('div', { class: 'pair' }, drawn);
    addStage(pair, plot.play);
    box.append(pair);
  } else {
    box.append(drawn);
  }
  box.append(element('figcaption', {}, plot.note));
  return box;
}

function section(key, content) {
  const [title, words] = GROUPS[key];
  document.getElementById('groups').append(element('a', { href: `#${key}` }, title));
  document.getElementById('page').append(element('section', {}, element('h2', { id: key }, title), element('p', {}, words), content));
}

const counts = {};
for (const v of data.verdicts) {
  const word = v.theirs_verdict || v.ours_verdict;
  counts[word] = (counts[word] ?? 0) + 1;
}
document.getElementById('summary').textContent =
  ['better', 'reproduced', 'not reproduced', 'not measured'].filter((w) => counts[w]).map((w) => `${counts[w]} claims ${w}`).join(', ') + '.';
if (data.verdicts.some((v) => v.theirs !== null || v.ours !== null)) section('Verdicts', verdictTable());
for (const key of Object.keys(GROUPS).slice(1)) {
  const figures = plots.filter((p) => p.group === key).map(figure).filter(Boolean);
  if (figures.length > 0) section(key, element('div', { class: 'plots' }, ...figures));
}
const machines = [...new Set(data.runs.map((r) => r.machine).filter(Boolean))];
document.getElementById('runs').textContent =
  `${machines.join('; ')}. ${data.runs.length} experiments: ${data.runs.map((r) => `${r.experiment} (${r.settings}, ${r.taken})`).join(', ')}. pinch ${data.pinch}.`;

const root = document.documentElement;
root.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
document.getElementById('theme').addEventListener('click', () => (root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark'));
