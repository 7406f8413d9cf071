// findings.js: the list of findings: what somebody must fix, in rank order. Choosing one shows it everywhere.

import { byId, count, length, make, plural, short } from './page.js';

const MOST = 200; // rows; more are found by searching
const SPARK = { width: 72, height: 24 };

/** The kinds a switch lets through. */
const SHOWS = {
  fresh: { words: 'New', has: (finding) => finding.kind !== 'constant' },
  constant: { words: 'Constant', has: (finding) => finding.kind === 'constant' },
  all: { words: 'All', has: () => true },
};

/** Findings that the switch, the clip and the search let through, in rank order. */
export function listed(report, state) {
  const words = state.get('search').toLowerCase().split(/\s+/).filter(Boolean);
  const clip = state.get('clip');
  return report.findings.filter(
    (finding) =>
      SHOWS[state.get('show')].has(finding) &&
      (clip < 0 || finding.clip === clip) &&
      words.every((word) => finding.text.includes(word)),
  );
}

/** In which order these findings stand: "by kind, deepest first, their repeats last". */
export function orderWords(order, findings) {
  if (findings.length < 2) {
    return '';
  }
  const first = { depth: 'deepest', frames: 'longest', first: 'earliest' }[order] ?? 'deepest';
  const kinds = new Set(findings.map(({ kind }) => kind)).size;
  const repeats = findings.some((finding) => finding.repeats) ? (kinds > 1 ? ', their repeats last' : ', repeats last') : '';
  return kinds > 1 ? `by kind, ${first} first${repeats}` : `${first} first${repeats}`;
}

/** Is a pair drawn and listed while no finding is chosen? When the scan has findings: those of the findings listed. */
export function letsThrough(report, state) {
  if (report.findings.length === 0) {
    return () => true;
  }
  const numbers = new Set(listed(report, state).map(({ clip, number }) => `${clip} ${number}`));
  return (clip, number) => (number < 0 ? state.get('show') === 'all' : numbers.has(`${clip} ${number}`));
}

/** "hand.L" or, when no joint is named, the body. */
function sideName(report, body, joints) {
  const name = short(report.bodies[body].name, 22);
  return joints.length > 0 ? `${short(joints[0], 22)}` : name;
}

/** Scrolls a list, and nothing else, until one of its parts is seen. */
function reveal(list, part) {
  const [box, inner] = [list.getBoundingClientRect(), part.getBoundingClientRect()];
  list.scrollTop += Math.min(inner.top - box.top, 0) + Math.max(inner.bottom - box.bottom, 0);
}

/** Depth over time as a small picture; a dot marks the deepest frame. */
export function sparkline(finding) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  const { width, height } = SPARK;
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('class', 'spark');
  svg.setAttribute('aria-hidden', 'true');
  const samples = finding.samples.length > 0 ? finding.samples : [[finding.deepest, finding.depth]];
  const span = Math.max(finding.last - finding.first, 1);
  const most = Math.max(...samples.map(([, depth]) => depth), 1e-30);
  const x = (frame) => 2 + ((frame - finding.first) / span) * (width - 4);
  const y = (depth) => height - 2 - (Math.max(depth, 0) / most) * (height - 6);
  const line = samples.map(([frame, depth]) => `${x(frame).toFixed(1)},${y(depth).toFixed(1)}`);
  const area = document.createElementNS(space, 'path');
  const [first, last] = [samples[0][0], samples[samples.length - 1][0]];
  area.setAttribute('d', `M${x(first)},${height - 1} L${line.join(' L')} L${x(last)},${height - 1} Z`);
  const dot = document.createElementNS(space, 'circle');
  dot.setAttribute('cx', x(finding.deepest));
  dot.setAttribute('cy', y(most));
  dot.setAttribute('r', 2);
  svg.append(area, dot);
  return svg;
}

export class Findings {
  constructor(report, state, actions) {
    Object.assign(this, { report, state, actions });
    byId('findings-card').hidden = report.findings.length === 0;
    if (report.findings.length === 0) {
      return;
    }
    this.makeSwitch();
    this.makeClips();
    byId('search').addEventListener('input', (event) => state.set({ search: event.target.value }));
    state.on(['show', 'search', 'clip'], () => this.fill());
    state.on(['finding'], () => this.mark());
  }

  makeSwitch() {
    const buttons = Object.entries(SHOWS).map(([show, { words, has }]) => {
      const number = this.report.findings.filter(has).length;
      const button = make('button', { type: 'button', class: 'button' }, `${words} ${count(number)}`);
      button.addEventListener('click', () => this.state.set({ show }));
      this.state.on(['show'], () => button.setAttribute('aria-pressed', String(this.state.get('show') === show)));
      return button;
    });
    byId('show').replaceChildren(...buttons);
  }

  /** One animation, or all of them. */
  makeClips() {
    const { clips } = this.report.meta;
    const choice = byId('clip');
    choice.hidden = clips.length < 2;
    const option = (clip, words) => make('option', { value: clip }, words);
    const fresh = (clip) => this.report.findings.filter((f) => f.clip === clip && f.kind !== 'constant').length;
    choice.replaceChildren(
      option(-1, `All ${count(clips.length)} animations`),
      ...clips.map(({ name }, clip) => option(clip, `${name || 'no name'} (${count(fresh(clip))})`)),
    );
    choice.addEventListener('change', () => this.actions.chooseClip(Number(choice.value)));
    this.state.on(['clip'], () => (choice.value = String(this.state.get('clip'))));
  }

  fill() {
    const all = listed(this.report, this.state);
    this.rows = new Map();
    const rows = all.slice(0, MOST).map((finding) => {
      const row = this.row(finding);
      this.rows.set(finding, row.firstChild);
      return row;
    });
    byId('findings').replaceChildren(...rows);
    byId('findings-order').textContent = orderWords(this.report.order, all);
    byId('findings-note').replaceChildren(...this.note(all));
    this.mark();
  }

  /** What the list does not show, and how to see it. */
  note(all) {
    const { findings } = this.report;
    const constant = findings.filter((finding) => finding.kind === 'constant').length;
    const see = (show, words) =>
      make('button', { type: 'button', class: 'link', onclick: () => this.state.set({ show }) }, words);
    const out = [];
    if (all.length === 0) {
      out.push(this.state.get('search') ? 'Nothing has these words. ' : 'Nothing new or growing. ');
    }
    if (all.length > MOST) {
      out.push(`The first ${MOST} of ${count(all.length)}; search for the others. `);
    }
    if (this.state.get('show') === 'fresh' && constant > 0) {
      out.push(`${plural(constant, 'constant one')}, built into the model, `, see('all', 'not shown'), '.');
    }
    return out;
  }

  row(finding) {
    const { report } = this;
    const a = sideName(report, finding.a, finding.jointsA);
    const b = sideName(report, finding.b, finding.jointsB);
    const bodies =
      finding.a === finding.b
        ? `${report.bodies[finding.a].name}, with itself`
        : `${report.bodies[finding.a].name} × ${report.bodies[finding.b].name}`;
    const frames = finding.first === finding.last ? `frame ${finding.first}` : `frames ${finding.first}–${finding.last}`;
    const clip = report.meta.clips.length > 1 ? ` of ${report.meta.clips[finding.clip].name}` : '';
    const button = make(
      'button',
      { type: 'button', class: `finding ${finding.kind}`, 'aria-pressed': 'false', title: finding.name },
      sparkline(finding),
      make(
        'span',
        { class: 'finding-words' },
        make('b', {}, finding.contained ? `${a} inside ${b}` : `${a} × ${b}`),
        make('span', { class: 'soft' }, bodies),
        make('span', { class: 'soft' }, `${frames}${clip}${finding.unseen ? ', between frames' : ''}${finding.repeats ? ', repeats a deeper one' : ''}`),
      ),
      make(
        'span',
        { class: 'finding-depth' },
        make('b', {}, finding.depth === null ? '·' : length(finding.depth)),
        make('span', { class: `badge ${finding.kind}` }, finding.word),
      ),
    );
    button.addEventListener('click', () => this.actions.chooseFinding(finding));
    return make('li', {}, button);
  }

  mark() {
    const chosen = this.state.get('finding');
    for (const [finding, button] of this.rows ?? []) {
      button.setAttribute('aria-pressed', String(finding === chosen));
      if (finding === chosen) {
        reveal(byId('findings'), button);
      }
    }
  }
}
