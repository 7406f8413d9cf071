// panel.js: the numbers beside the view: summary, matrix of body pairs, the chosen pair, the current frame.

import { pairLines } from './csv.js';
import { intervals, pairsIn } from './data.js';
import { chosenPairs } from './loader.js';
import { byId, copyText, count, kindName, length, limitedWhere, make, plural, seconds, short } from './page.js';

const MOST_BODIES = 40; // rows of the matrix; more would not be read
const ROWS = matchMedia('(max-width: 620px)').matches ? 10 : 40; // triangle pairs listed at a time
const COUNT_ROWS = 40; // body pairs of a frame
const GROUP_ROWS = 6;
const INTERVALS = 12;
const DEPTH_WORDS = {
  inside: 'inside the other body',
  through: 'through the other sheet',
  curve: 'length of the line where they meet',
  none: 'depth not known',
};
const KIND_WORDS = {
  new: 'new: not there at rest',
  growing: 'growing: there at rest, deeper in motion',
  constant: 'constant: built into the model',
};
const UNSEEN_WORDS = 'unseen: between two frames, and in neither';

export class Panel {
  constructor(report, state, actions) {
    Object.assign(this, { report, state, actions });
    this.rows = ROWS;
    this.fillTiles();
    this.fillMatrix();
    this.fillAbout();
    byId('copy-matrix').addEventListener('click', () => this.copyMatrix());
    byId('copy-frame').addEventListener('click', () => this.copyFrame());
    state.on(['kind', 'finding'], () => this.showKind());
    state.on(['kind', 'finding'], () => this.fillTiles());
    state.on(['frame', 'kind', 'finding'], () => this.showCounts());
    state.on(['shown', 'kind', 'finding', 'show', 'search', 'clip'], () => {
      this.rows = ROWS;
      this.showPairs();
    });
  }

  // ---------------------------------------------------------------- summary

  /** Of everything, of the chosen pair of bodies or of the chosen finding. */
  fillTiles() {
    const { frames, frameCount } = this.report;
    const finding = this.state.get('finding');
    const all = this.state.get('kind') ?? this.report.all;
    const tile = (value, words, bad, press) =>
      make(
        press ? 'button' : 'div',
        { class: `tile${bad ? ' bad' : ''}`, type: press ? 'button' : null, onclick: press ?? (() => {}) },
        make('b', {}, value),
        make('span', {}, words),
      );
    if (finding) {
      const span = frames.slice(finding.firstIndex, finding.lastIndex + 1).filter((frame) => !frame.moment).length;
      byId('tiles').replaceChildren(
        tile(count(span), `of ${plural(frameCount, 'frame')} from its first to its last`, true),
        tile(String(finding.deepest), 'is its deepest frame', true, () => this.actions.goTo(finding.deepestIndex)),
        tile(length(finding.depth), 'deep there', true),
      );
      return;
    }
    const meeting = all.frames.filter((f) => !frames[f].moment).length;
    const any = meeting > 0;
    const worst = any ? String(frames[all.worstFrame].number) : 'none'; // by pairs; findings are ranked by depth
    byId('tiles').replaceChildren(
      tile(count(meeting), `of ${plural(frameCount, 'frame')} intersect`, any),
      tile(worst, 'is the frame with most pairs', any, any ? () => this.actions.goTo(all.worstFrame) : null),
      tile(count(all.worst), all.worst === 1 ? 'pair there' : 'pairs there', any),
    );
  }

  // ---------------------------------------------------------------- matrix

  /** Bodies in the matrix: all of them, or those in contact when there are too many. */
  matrixBodies() {
    const { bodies, kinds } = this.report;
    const touched = new Set(kinds.flatMap((kind) => [kind.a, kind.b]));
    const all = bodies.map((_, b) => b);
    return all.length <= 12 ? all : all.filter((b) => touched.has(b)).slice(0, MOST_BODIES);
  }

  fillMatrix() {
    const { bodies, kinds } = this.report;
    const shown = this.matrixBodies();
    const most = kinds[0]?.worst ?? 1; // the worst come first
    const name = (b) => bodies[b].name;
    this.cells = new Map();
    const column = (b) => make('th', { scope: 'col', title: name(b) }, make('span', {}, short(name(b))));
    const row = (a) => make('th', { scope: 'row', title: name(a) }, short(name(a)));
    const head = make('tr', {}, make('td'), ...shown.map(column));
    const rows = shown.map((a, i) =>
      make('tr', {}, row(a), ...shown.slice(0, i + 1).map((b) => this.cell(a, b, most))),
    );
    const table = make(
      'table',
      { class: shown.length > 6 ? 'dense' : '' },
      make('thead', {}, head),
      make('tbody', {}, ...rows),
    );
    table.addEventListener('keydown', (event) => this.walkMatrix(event));
    byId('matrix').replaceChildren(table);
    const left = bodies.length - shown.length;
    if (left > 0) {
      const touched = new Set(kinds.flatMap((kind) => [kind.a, kind.b])).size - shown.length;
      const words = `${count(left)} ${left === 1 ? 'body' : 'bodies'} `;
      const which = touched > 0 ? `not shown, ${count(touched)} of them in contact` : 'without contact not shown';
      byId('matrix').append(make('p', { class: 'hint' }, words + which));
    }
  }

  cell(a, b, most) {
    const { bodies } = this.report;
    const kind = this.report.kindOf(a, b);
    if (!kind) {
      return make('td', {}, make('span', { 'aria-label': 'none' }, '·'));
    }
    // in both themes the contrast of the two inks crosses here, at 4 to 1: everywhere else it is higher
    const heat = Math.sqrt(kind.worst / most);
    const ink = heat > 0.77 ? 'var(--red-text)' : 'var(--ink)';
    const words = `${kindName(bodies, kind)}: ${plural(kind.worst, 'pair')} at worst, in ${plural(kind.frames.length, 'frame')}`;
    const button = make(
      'button',
      {
        type: 'button',
        style: `--heat: ${heat.toFixed(3)}; --cell-ink: ${ink}`,
        title: words,
        'aria-label': words,
        'aria-pressed': 'false',
      },
      count(kind.worst),
    );
    button.addEventListener('click', () => this.choose(kind));
    this.cells.set(kind.key, button);
    return make('td', {}, button);
  }

  /** Chooses a pair of bodies, and shows its worst frame if it does not meet in this one; again to have all pairs
   * back. */
  choose(kind) {
    const again = this.state.get('kind') === kind;
    const elsewhere = pairsIn(kind, this.state.get('frame')) === 0;
    const choice = { kind: again ? null : kind, finding: null };
    this.state.set(!again && elsewhere ? { ...choice, frame: kind.worstFrame, playing: false } : choice);
  }

  /** Arrows walk from cell to cell. */
  walkMatrix(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    const cell = event.target.closest('td');
    if (!step || !cell) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const rows = [...event.currentTarget.querySelectorAll('tr')];
    let [x, y] = [cell.cellIndex, rows.indexOf(cell.parentElement)];
    for (;;) {
      [x, y] = [x + step[0], y + step[1]];
      const next = rows[y]?.cells[x];
      if (!next || x < 0) {
        return;
      }
      const button = next.querySelector('button');
      if (button) {
        button.focus();
        return;
      }
    }
  }

  copyMatrix() {
    const { bodies, kinds } = this.report;
    const lines = ['a\tb\tframes\tworst frame\tworst pairs\tpairs in all frames'];
    for (const kind of kinds) {
      const worst = this.report.frames[kind.worstFrame].number;
      lines.push(
        [bodies[kind.a].name, bodies[kind.b].name, kind.frames.length, worst, kind.worst, kind.total].join('\t'),
      );
    }
    copyText(lines.join('\n'), plural(kinds.length, 'body pair'));
  }

  // ---------------------------------------------------------------- the chosen pair

  showKind() {
    const kind = this.state.get('kind');
    for (const [key, button] of this.cells) {
      button.setAttribute('aria-pressed', String(kind?.key === key));
    }
    const { bodies, frames, all } = this.report;
    const subject = kind ?? all;
    if (subject.frames.length === 0) {
      byId('kind').replaceChildren();
      return;
    }
    const number = (f) => String(frames[f].number);
    const go = (f, text) =>
      make('button', { type: 'button', class: 'link', onclick: () => this.actions.goTo(f) }, text);
    const stretches = intervals(subject.frames);
    const some = stretches
      .slice(0, INTERVALS)
      .flatMap(([first, last], i) => [
        i > 0 ? ', ' : '',
        go(first, first === last ? number(first) : `${number(first)}\u2013${number(last)}`),
      ]);
    const more = stretches.length - INTERVALS;
    byId('kind').replaceChildren(
      make('h3', {}, kind ? kindName(bodies, kind) : 'All pairs'),
      make(
        'dl',
        { class: 'facts' },
        make('dt', {}, 'worst'),
        make(
          'dd',
          {},
          go(subject.worstFrame, `frame ${number(subject.worstFrame)}`),
          `, ${plural(subject.worst, 'pair')}`,
        ),
        make('dt', {}, 'first'),
        make(
          'dd',
          {},
          go(subject.frames[0], `frame ${number(subject.frames[0])}`),
          `, ${seconds(frames[subject.frames[0]].time)}`,
        ),
        make('dt', {}, 'frames'),
        make('dd', {}, ...some, more > 0 ? ` and ${more} more` : ''),
        make('dt', {}, 'in all'),
        make('dd', {}, `${plural(subject.total, 'pair')} in ${plural(subject.frames.length, 'frame')}`),
      ),
    );
  }

  // ---------------------------------------------------------------- the current frame

  showCounts() {
    const frame = this.report.frames[this.state.get('frame')];
    byId('frame-card').hidden = !frame;
    if (!frame) {
      return;
    }
    const clip = this.report.clipName(this.state.get('frame'));
    const words = `${frame.moment ? 'Between frames, at' : 'Frame'} ${frame.number}`;
    byId('frame-title').textContent = `${words}${clip ? ` of ${clip}` : ''}`;
    byId('copy-frame').disabled = frame.total === 0;
    if (this.state.get('finding')) {
      byId('frame-counts').replaceChildren(this.facts(this.state.get('finding')));
      return;
    }
    if (frame.total === 0) {
      byId('frame-counts').replaceChildren(make('p', { class: 'hint' }, 'Nothing intersects in this frame.'));
      return;
    }
    const counts = [...frame.counts].sort((p, q) => q.pairs - p.pairs);
    const rows = counts.slice(0, COUNT_ROWS).map(({ a, b, pairs }) => {
      const kind = this.report.kindOf(a, b);
      const name = make('button', { type: 'button', class: 'link' }, kindName(this.report.bodies, kind));
      const bar = make('span', { class: 'bar', style: `width: ${(100 * pairs) / counts[0].pairs}%` });
      return make(
        'tr',
        { class: 'go', onclick: () => this.choose(kind) },
        make('td', {}, name, bar),
        make('td', { class: 'number' }, count(pairs)),
      );
    });
    const left = counts.length - rows.length;
    byId('frame-counts').replaceChildren(
      make('table', { class: 'list' }, make('tbody', {}, ...rows)),
      ...(left > 0 ? [make('p', { class: 'hint' }, `and ${count(left)} more`)] : []),
    );
  }

  /** The chosen finding: how deep here and at worst, when, and between what. */
  facts(finding) {
    const { report } = this;
    const f = this.state.get('frame');
    const here = report.depthAt(finding, f);
    const go = (to, text) =>
      make('button', { type: 'button', class: 'link', onclick: () => this.actions.goTo(to) }, text);
    const side = (body, joints) => report.bodies[body].name + (joints.length > 0 ? ` (${joints.join(', ')})` : '');
    const rows = [
      ['depth here', here > 0 ? length(here) : 'none'],
      ['deepest', [go(finding.deepestIndex, `frame ${finding.deepest}`), `, ${DEPTH_WORDS[finding.depthKind]}`]],
      ['frames', [go(finding.firstIndex, String(finding.first)), ' to ', go(finding.lastIndex, String(finding.last))]],
      ['between', side(finding.a, finding.jointsA)],
      ['and', finding.a === finding.b ? `itself (${finding.jointsB.join(', ')})` : side(finding.b, finding.jointsB)],
      ['kind', finding.unseen ? UNSEEN_WORDS : (KIND_WORDS[finding.kind] ?? finding.kind)],
      ['name', finding.name],
    ];
    if (finding.volume !== null) {
      rows.splice(2, 0, ['shared volume', length(finding.volume)]);
    }
    if (finding.comment) {
      rows.push(['comment', finding.comment]);
    }
    return make(
      'dl',
      { class: 'facts' },
      ...rows.flatMap(([term, words]) => [make('dt', {}, term), make('dd', {}, ...[words].flat())]),
    );
  }

  /** Joints and triangle pairs: what the decoded list of the frame has. */
  showPairs() {
    const shown = this.state.get('shown');
    const list = shown ? chosenPairs(this.report, shown, this.state).list : [];
    if (list.length === 0) {
      byId('frame-groups').replaceChildren();
      byId('frame-pairs').replaceChildren();
      return;
    }
    this.showGroups(list);
    this.showList(shown, list);
  }

  /** How many pairs each pair of joints has. */
  showGroups(list) {
    const tally = new Map();
    for (let i = 0; i < list.length; i += 4) {
      const a = this.report.groupOf(list[i], list[i + 1]);
      const b = this.report.groupOf(list[i + 2], list[i + 3]);
      if (a !== null || b !== null) {
        const key = `${a ?? this.report.bodies[list[i]].name} × ${b ?? this.report.bodies[list[i + 2]].name}`;
        tally.set(key, (tally.get(key) ?? 0) + 1);
      }
    }
    const top = [...tally].sort((p, q) => q[1] - p[1]).slice(0, GROUP_ROWS);
    const rows = top.map(([names, pairs]) =>
      make('tr', {}, make('td', {}, names), make('td', { class: 'number' }, count(pairs))),
    );
    byId('frame-groups').replaceChildren(
      ...(rows.length > 0
        ? [make('h3', {}, 'Joints involved'), make('table', { class: 'list' }, make('tbody', {}, ...rows))]
        : []),
    );
  }

  showList(shown, list) {
    const { bodies } = this.report;
    const side = (b, triangle) => {
      const group = this.report.groupOf(b, triangle);
      return [`${bodies[b].name} `, make('b', {}, `#${triangle}`), group === null ? null : make('small', {}, group)];
    };
    const rows = [];
    for (let i = 0; i < list.length && rows.length < this.rows; i += 4) {
      const members = [
        [list[i], list[i + 1]],
        [list[i + 2], list[i + 3]],
      ];
      rows.push(
        make(
          'tr',
          {
            class: 'go',
            onclick: () => this.actions.frameMembers(members),
            onpointerenter: () => this.actions.outline(members),
          },
          make(
            'td',
            {},
            make('button', { type: 'button', class: 'link', title: 'Frame this pair' }, ...side(...members[0])),
          ),
          make('td', {}, ...side(...members[1])),
        ),
      );
    }
    const held = shown.pairs.exact ? '' : ` (list of frame ${this.report.frames[shown.pairs.from].number})`;
    const body = make('tbody', { onpointerleave: () => this.actions.outline([]) }, ...rows);
    const left = list.length / 4 - rows.length;
    const more = make(
      'button',
      { type: 'button', class: 'link', onclick: () => ((this.rows += 5 * ROWS), this.showPairs()) },
      `Show more of ${count(left)}`,
    );
    byId('frame-pairs').replaceChildren(
      make('h3', {}, `Triangle pairs${held}`),
      make('table', { class: 'list' }, body),
      ...(left > 0 ? [more] : []),
    );
  }

  copyFrame() {
    const shown = this.state.get('shown');
    const kind = this.state.get('kind');
    const frame = this.report.frames[this.state.get('frame')];
    if (!shown || shown.frame !== this.state.get('frame')) {
      return;
    }
    const { list } = chosenPairs(this.report, shown, this.state);
    const number = this.report.frames[shown.pairs.from].number;
    const lines = pairLines(this.report, number, list, '\t');
    const words = plural(list.length / 4, 'pair');
    copyText(['frame\ta\ttriangle_a\tb\ttriangle_b', ...lines].join('\n'), words);
  }

  // ---------------------------------------------------------------- about

  /** What a reader must know before believing a number: the scan was stopped, something was left out. */
  warnings() {
    const { meta, frames, positionFrames, pairFrames, all } = this.report;
    const limit = `${Math.round(meta.byteLimit / 1e5) / 10} MB`;
    const out = [];
    if (!meta.complete) {
      out.push('The scan was stopped before its end; this is what was known by then.');
    }
    if (meta.limited) {
      out.push(
        `There is more ${limitedWhere(meta.limited)} than --max-pairs lets a scan look for; the rest is not in this ` +
          'report. --max-pairs 0 looks for all.',
      );
    }
    if (meta.view && positionFrames < frames.length) {
      out.push(
        `To stay below ${limit}, positions of ${plural(positionFrames, 'frame')} out of ${count(frames.length)} are ` +
          'stored. The view interpolates the others; counts are complete, and the frames with the most pairs are stored.',
      );
    }
    if (pairFrames < all.frames.length) {
      out.push(
        `To stay below ${limit}, triangle pairs of ${plural(pairFrames, 'frame')} out of ${count(all.frames.length)} ` +
          'with contact are listed. The others show the list of the nearest one; counts are complete.',
      );
    }
    return out;
  }

  fillAbout() {
    const { meta, frames, bodies } = this.report;
    const paragraph = (text) => make('p', {}, text);
    const warnings = this.warnings();
    byId('warnings').hidden = warnings.length === 0;
    byId('warnings').replaceChildren(...warnings.map(paragraph));

    const triangles = bodies.reduce((sum, body) => sum + body.triangles, 0);
    const bodyWord = bodies.length === 1 ? 'body' : 'bodies';
    const size = `${plural(triangles, 'triangle')}, ${plural(frames.length, 'frame')}`;
    const scene = `${count(bodies.length)} ${bodyWord}, ${size}.`;
    byId('about').replaceChildren(
      ...meta.notes.map(paragraph),
      paragraph(`${scene} ${meta.files.join(', ')}`),
      ...(meta.command ? [make('code', {}, meta.command)] : []),
      paragraph(`Made by pinch ${meta.pinch}. Everything is in this file; it asks for nothing from the network.`),
    );
  }
}
