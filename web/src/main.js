// main.js: starts the page: reads the data, makes the parts, and connects buttons and keys to the state.

import { countsCsv, pairsCsv } from './csv.js';
import { intervals, pairsIn, Report } from './data.js';
import { Findings, listed } from './findings.js';
import { Loader } from './loader.js';
import {
  byId,
  copyText,
  count,
  kindName,
  length,
  limitedWhere,
  make,
  plural,
  saveFile,
  seconds,
  short,
  toast,
} from './page.js';
import { Panel } from './panel.js';
import { Player } from './player.js';
import { Pointer } from './point.js';
import { bodyTint, pairTint } from './shading.js';
import { State } from './state.js';
import { Timeline } from './timeline.js';
import { listenToKeys } from './keys.js';
import { View } from './view.js';

// ---------------------------------------------------------------- theme

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme')
    .querySelector('use')
    .setAttribute('href', theme === 'dark' ? '#i-sun' : '#i-moon');
}

// ---------------------------------------------------------------- the frame to start with

/** What the address asks for (#frame=42&finding=NAME&clip=NAME): { frame, finding }. Else the deepest moment that is not built in,
 * else the frame with the most pairs. */
function asked(report) {
  const words = new URLSearchParams(location.hash.slice(1));
  const finding = report.findings.find(({ name }) => name === words.get('finding')) ?? null;
  const named = report.meta.clips.findIndex(({ name }) => name === words.get('clip'));
  const [first, last] = report.rangeOf(finding ? finding.clip : Math.max(named, 0));
  const number = words.has('frame') ? Number(words.get('frame')) : NaN;
  const at = report.frames.findIndex((frame, f) => f >= first && f <= last && frame.number === number);
  if (at >= 0 || finding) {
    return { frame: at >= 0 ? at : finding.deepestIndex, finding };
  }
  const worst = report.findings.find(({ kind }) => kind !== 'constant');
  return { frame: worst ? worst.deepestIndex : report.all.worstFrame, finding };
}

/** The address says what is shown, so that it can be sent. */
function keepAddress(report, state) {
  state.on(['frame', 'finding', 'playing'], () => {
    const frame = report.frames[state.get('frame')];
    if (state.get('playing') || !frame || !document.documentElement.dataset.ready) {
      return;
    }
    const words = new URLSearchParams({ frame: frame.number });
    if (state.get('finding')) {
      words.set('finding', state.get('finding').name);
    } else if (report.clipName(state.get('frame'))) {
      words.set('clip', report.clipName(state.get('frame')));
    }
    history.replaceState(null, '', `#${words}`);
  });
}

/** The sentence about findings: how many must be looked at, and the worst. */
function findingsVerdict(report) {
  const fresh = report.findings.filter(({ kind }) => kind !== 'constant');
  const constant = report.findings.length - fresh.length;
  const folded = constant > 0 ? `${plural(constant, 'constant one')} folded away.` : '';
  if (fresh.length === 0) {
    return [make('b', { class: 'good' }, 'Nothing new or growing'), `. ${folded}`];
  }
  const [worst] = fresh;
  const names = [report.bodies[worst.a].name, report.bodies[worst.b].name];
  const where = worst.a === worst.b ? `${names[0]} in itself` : `${names[0]} and ${names[1]}`;
  const clip = report.clipName(worst.deepestIndex);
  return [
    make('b', { class: 'bad' }, plural(fresh.length, 'finding')),
    // New ones come before growing ones, which may be deeper.
    fresh.some(({ depth }) => depth > worst.depth) ? ', first ' : ', deepest ',
    make('b', {}, worst.depth === null ? 'unknown' : length(worst.depth)),
    ` (${where}, frame `,
    make('b', {}, String(worst.deepest)),
    `${clip ? ` of ${clip}` : ''}). ${folded}`,
  ];
}

function showVerdict(report) {
  const { all, frames, frameCount, meta } = report;
  const verdict = byId('verdict');
  byId('title').textContent = meta.title;
  byId('title').title = meta.title;
  document.title = `${meta.title} · pinch`;
  if (!meta.complete) {
    verdict.append(make('b', { class: 'bad' }, 'Incomplete: the scan was stopped. '));
  }
  if (meta.limited) {
    verdict.append(make('b', { class: 'bad' }, `Incomplete: ${limitedWhere(meta.limited)} not all was looked for. `));
  }
  if (report.findings.length > 0) {
    verdict.append(...findingsVerdict(report));
  } else if (frames.length === 0) {
    verdict.append('No frame was scanned.');
  } else if (all.frames.length === 0) {
    verdict.append(make('b', { class: 'good' }, 'No intersections'), ` in ${plural(frameCount, 'frame')}.`);
  } else {
    verdict.append(
      make('b', { class: 'bad' }, `${count(all.frames.length)} of ${plural(frameCount, 'frame')}`),
      ` ${all.frames.length === 1 ? 'intersects' : 'intersect'}, worst is frame `,
      make('b', {}, String(frames[all.worstFrame].number)),
      ' with ',
      make('b', {}, plural(all.worst, 'pair')),
      '.',
    );
  }
}

// ---------------------------------------------------------------- parts around the view

function makeLegend(report, state) {
  const legend = byId('legend');
  const buttons = report.bodies.map((body, b) =>
    make(
      'button',
      {
        type: 'button',
        title: `Show or hide ${body.name}`,
        onclick: () => {
          const hidden = new Set(state.get('hidden'));
          hidden.has(b) ? hidden.delete(b) : hidden.add(b);
          state.set({ hidden });
        },
      },
      make('i'),
      make('span', {}, short(body.name)),
    ),
  );
  legend.replaceChildren(...buttons);
  legend.classList.toggle('many', buttons.length > 12);
  state.on(['hidden', 'theme', 'kind', 'finding'], () => {
    const chosen = state.get('finding') ?? state.get('kind');
    const dark = state.get('theme') === 'dark';
    buttons.forEach((button, b) => {
      const side = chosen ? [chosen.a, chosen.b].indexOf(b) : -1;
      const tint = chosen ? pairTint(side, dark) : bodyTint(b, dark);
      button.style.order = side < 0 ? '' : '-1'; // the two that are meant come first, also where the rest must be scrolled to
      button.setAttribute('aria-pressed', String(!state.get('hidden').has(b)));
      button.style.setProperty('--tint', tint);
    });
  });
}

/** The words over the view: frame, pairs, and what is not quite what it seems. */
function showNow(report, state) {
  const f = state.get('frame');
  const frame = report.frames[f];
  const finding = state.get('finding');
  const kind = finding ? null : state.get('kind');
  const byDepth = finding || (!kind && report.findings.length > 0);
  const subjects = finding ? [finding] : byDepth ? listed(report, state) : [];
  const depth = Math.max(...subjects.map((one) => report.depthAt(one, f)), 0);
  const deepest = subjects.find((one) => report.depthAt(one, f) === depth);
  const pairs = kind ? (frame.counts.find(({ a, b }) => a === kind.a && b === kind.b)?.pairs ?? 0) : frame.total;
  byId('now-frame').textContent = frame.number;
  const none = byDepth ? depth === 0 : pairs === 0;
  byId('now-pairs').textContent = none
    ? byDepth && frame.total > 0
      ? 'nothing new'
      : 'no contact'
    : byDepth
      ? `depth ${length(depth)}`
      : plural(pairs, 'pair');
  byId('now-pairs').classList.toggle('none', none);
  byId('clock').textContent = seconds(frame.time);
  if (document.activeElement !== byId('frame')) {
    byId('frame').value = frame.number;
  }
  const shown = state.get('shown');
  const notes = kind && pairs < frame.total ? [`${plural(frame.total - pairs, 'pair')} of other bodies`] : [];
  if (!finding && byDepth && !none && subjects.length > 1) {
    const of = kindName(report.bodies, deepest);
    notes.push(deepest.depthKind === 'curve' ? `the line where they meet: ${of}` : of);
  }
  if (frame.moment) {
    notes.unshift('a moment between two frames, which neither shows');
  }
  if (shown?.frame === f && shown.pose && !shown.pose.exact) {
    const [low, high] = [report.frames[shown.pose.low].number, report.frames[shown.pose.high].number];
    notes.push(`positions interpolated between frames ${low} and ${high}`);
  }
  if (shown?.frame === f && !shown.pairs.exact) {
    notes.push(`lines of frame ${report.frames[shown.pairs.from].number}`);
  }
  byId('now-note').hidden = notes.length === 0;
  byId('now-note').textContent = notes.join('; ');
}

// ---------------------------------------------------------------- what buttons and keys do

function makeActions(report, state, parts) {
  const range = () => report.rangeOf(report.clipOf(state.get('frame')));
  const clamp = (f) => Math.min(Math.max(f, range()[0]), range()[1]);
  const subject = () => state.get('kind') ?? report.all;
  const actions = {
    goTo: (f) => state.set({ frame: clamp(f), playing: false }),
    step: (by) => actions.goTo(state.get('frame') + by),
    first: () => actions.goTo(range()[0]),
    last: () => actions.goTo(range()[1]),

    /** Shows one finding everywhere, at its deepest; chosen again, everything. */
    chooseFinding(finding) {
      const again = state.get('finding') === finding;
      state.set(again ? { finding: null } : { finding, kind: null, frame: finding.deepestIndex, playing: false });
      // On a phone the list stands below the view.
      const view = byId('stage').getBoundingClientRect();
      if (!again && view.bottom < window.innerHeight / 3) {
        byId('stage').scrollIntoView({ block: 'start' });
      }
    },

    /** One animation (or all in the list), at its deepest moment. */
    chooseClip(clip) {
      const [first, last] = report.rangeOf(Math.max(clip, 0));
      const worst = report.findings.find((finding) => finding.clip === clip && finding.kind !== 'constant');
      const most = report.all.frames.filter((f) => f >= first && f <= last);
      const frame = clip < 0 ? state.get('frame') : (worst?.deepestIndex ?? most[0] ?? first);
      state.set({ clip, frame, finding: null, kind: null, playing: false });
    },

    /** The finding before or after the chosen one in the list. */
    nextFinding(by) {
      const all = listed(report, state);
      if (all.length > 0) {
        const at = all.indexOf(state.get('finding'));
        const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
        state.set({ finding: null });
        actions.chooseFinding(all[next]);
      }
    },
    follow: () => state.set({ follow: !state.get('follow') }),
    play: () => state.set({ playing: !state.get('playing') && report.frames.length > 1 }),
    worst() {
      const finding = state.get('finding');
      const frames = subject().frames.filter((f) => report.clipOf(f) === report.clipOf(state.get('frame')));
      const pairs = (f) => (state.get('kind') ? pairsIn(state.get('kind'), f) : report.frames[f].total);
      const worst = report.findings.find(({ kind, clip }) => kind !== 'constant' && clip === report.clipOf(state.get('frame')));
      if (finding) {
        actions.goTo(finding.deepestIndex);
      } else if (worst && !state.get('kind')) {
        actions.goTo(worst.deepestIndex);
      } else if (frames.length > 0) {
        actions.goTo(frames.reduce((best, f) => (pairs(f) > pairs(best) ? f : best)));
      }
    },

    /** The next or previous stretch of frames with contact. */
    contact(direction) {
      const f = state.get('frame');
      const here = subject().frames.filter((frame) => report.clipOf(frame) === report.clipOf(f));
      const starts = intervals(here).map(([first]) => first);
      const next = direction > 0 ? starts.find((first) => first > f) : starts.reverse().find((first) => first < f);
      if (next === undefined) {
        toast(direction > 0 ? 'No contact after this one' : 'No contact before this one');
      } else {
        actions.goTo(next);
      }
    },

    frameContact() {
      const found = parts.view?.frameContact();
      if (!found) {
        toast('Nothing intersects in this frame');
      } else if (found.of > 1) {
        toast(`Contact ${found.turn} of ${found.of}: ${plural(found.pairs, 'pair')}`);
      }
    },
    frameWhole: () => parts.view?.frameWhole(),
    frameMembers: (members) => parts.view?.frameMembers(members),
    outline: (members) => parts.view?.pose && parts.view.outlineTriangles(members),
    turn: (around, tilt, nearer) => parts.view?.turn(around, tilt, nearer),
    solid: () => state.set({ solid: !state.get('solid') }),
    theme: () => state.set({ theme: state.get('theme') === 'dark' ? 'light' : 'dark' }),
    zoom: (factor) => parts.timeline.zoom(factor),
    fit: () => parts.timeline.fit(),
    help: () => byId('help').showModal(),
    escape() {
      byId('save').open = false;
      parts.pointer?.hide();
      state.set({ kind: null, finding: null });
    },
  };
  return actions;
}

function connectButtons(report, state, actions) {
  const press = (id, action) => byId(id).addEventListener('click', action);
  press('prev', () => actions.step(-1));
  press('next', () => actions.step(1));
  press('prev-contact', () => actions.contact(-1));
  press('next-contact', () => actions.contact(1));
  press('play', actions.play);
  press('worst', actions.worst);
  press('to-contact', actions.frameContact);
  press('to-whole', actions.frameWhole);
  press('solid', actions.solid);
  press('theme', actions.theme);
  press('zoom-in', () => actions.zoom(0.5));
  press('zoom-out', () => actions.zoom(2));
  press('zoom-fit', actions.fit);
  press('filter', () => state.set({ kind: null, finding: null }));
  press('follow', actions.follow);
  press('help-open', actions.help);
  press('help-close', () => byId('help').close());
  press('speed', () => {
    const speeds = [1, 2, 0.1, 0.25, 0.5];
    state.set({ speed: speeds[(speeds.indexOf(state.get('speed')) + 1) % speeds.length] });
  });
  const name = report.meta.title.replace(/[^\w.-]+/g, '_') || 'report';
  press('save-counts', () => saveFile(`${name}.counts.csv`, [countsCsv(report)]));
  press('save-pairs', async () => saveFile(`${name}.pairs.csv`, await pairsCsv(report)));

  // a frame number typed in
  byId('frame').addEventListener('change', (event) => {
    const asked = Number(event.target.value);
    let best = state.get('frame');
    const clip = report.clipOf(best);
    report.frames.forEach(({ number }, f) => {
      if (report.clipOf(f) === clip && Math.abs(number - asked) < Math.abs(report.frames[best].number - asked)) {
        best = f;
      }
    });
    actions.goTo(best);
    event.target.value = report.frames[best].number;
  });
  document.addEventListener('click', (event) => {
    // a button pressed with the pointer gives the keys back to the page: space plays
    if (event.detail > 0) {
      event.target.closest?.('button, summary')?.blur();
    }
    if (!byId('save').contains(event.target)) {
      byId('save').open = false;
    }
  });
}

function showControls(report, state) {
  state.on(['theme'], () => showTheme(state.get('theme')));
  state.on(['playing'], () => {
    const playing = state.get('playing');
    byId('play')
      .querySelector('use')
      .setAttribute('href', playing ? '#i-pause' : '#i-play');
    byId('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
  });
  state.on(['solid'], () => byId('solid').setAttribute('aria-pressed', String(state.get('solid'))));
  state.on(['speed'], () => {
    byId('speed').textContent = `${state.get('speed')}×`;
    byId('speed').setAttribute('aria-label', `${state.get('speed')}× playing speed`);
  });
  state.on(['follow'], () => byId('follow').setAttribute('aria-pressed', String(state.get('follow'))));
  state.on(['kind', 'finding'], () => {
    const chosen = state.get('finding') ?? state.get('kind');
    const name = chosen ? kindName(report.bodies, chosen) : '';
    byId('filter').hidden = !chosen;
    byId('filter').textContent = chosen ? `${short(name, 40)}  ✕` : '';
    byId('filter').setAttribute('aria-label', chosen ? `Only ${name}. Show all pairs again.` : '');
    byId('follow').hidden = !state.get('finding');
  });
  document.querySelector('.now').hidden = report.frames.length === 0;
  if (report.frames.length > 0) {
    state.on(['frame', 'kind', 'finding', 'show', 'search', 'shown'], () => showNow(report, state));
  }
  for (const id of ['worst', 'prev-contact', 'next-contact', 'to-contact']) {
    byId(id).disabled = report.all.frames.length === 0;
  }
  byId('play').disabled = report.frames.length < 2;
}

/** Numbers are set with narrow spaces between thousands; a copied number has none. */
function cleanCopies() {
  document.addEventListener('copy', (event) => {
    const text = String(getSelection());
    if (text.includes('\u202f')) {
      event.clipboardData.setData('text/plain', text.replaceAll('\u202f', ''));
      event.preventDefault();
    }
  });
}

function withoutView(report, why) {
  byId('view').hidden = true;
  byId('legend').hidden = true;
  byId('no-view').hidden = false;
  byId('no-view').textContent = why;
  for (const id of ['to-contact', 'to-whole', 'solid', 'follow']) {
    byId(id).hidden = true;
  }
}

// ---------------------------------------------------------------- start

/** After the browser has drawn what there is; at once-ish in a tab that is not shown and does not draw. */
function nextPaint() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, 250);
  });
}

async function start() {
  showTheme(prefersDark.matches ? 'dark' : 'light');
  const report = await Report.fromDocument(document);
  const state = new State({
    ...asked(report),
    kind: null,
    show: report.findings.some(({ kind }) => kind !== 'constant') ? 'fresh' : 'all',
    search: '',
    clip: -1,
    follow: true,
    playing: false,
    speed: 1,
    solid: false,
    hidden: new Set(),
    theme: prefersDark.matches ? 'dark' : 'light',
    shown: null,
    problem: null,
  });
  prefersDark.addEventListener('change', () => state.set({ theme: prefersDark.matches ? 'dark' : 'light' }));

  const parts = {};
  const actions = makeActions(report, state, parts);
  showVerdict(report);
  showControls(report, state);
  parts.findings = new Findings(report, state, actions);
  parts.panel = new Panel(report, state, actions);
  parts.timeline = new Timeline(report, state, {
    box: byId('timeline'),
    chart: byId('chart'),
    overview: byId('overview'),
    tip: byId('chart-tip'),
  });
  connectButtons(report, state, actions);
  listenToKeys(actions, byId('keys'));
  cleanCopies();

  // numbers first: making the 3D view takes a moment, and nobody has to wait for it to read
  await nextPaint();
  makeView(report, state, parts);
  state.on(
    ['problem'],
    () => state.get('problem') && withoutView(report, `This report cannot be shown: ${state.get('problem').message}`),
  );
  parts.player = new Player(report, state);
  parts.loader = new Loader(report, state);
  keepAddress(report, state);
  addEventListener('hashchange', () => state.set({ ...asked(report), playing: false }));

  // tells tests (and the console) that everything is connected
  window.pinch = { report, state, actions, view: parts.view, copyText };
  document.documentElement.dataset.ready = 'true';
}

function makeView(report, state, parts) {
  if (!report.meta.view) {
    const none =
      report.frames.length === 0
        ? 'There is nothing to show.'
        : 'Positions did not fit into the size limit of this report; the numbers are complete.';
    withoutView(report, none);
    return;
  }
  try {
    parts.view = new View(report, state, { stage: byId('stage'), canvas: byId('view'), marks: byId('marks') });
  } catch (error) {
    withoutView(report, 'The 3D view needs WebGL, which this browser does not offer here. The numbers are complete.');
    return;
  }
  parts.pointer = new Pointer(report, state, parts.view, {
    stage: byId('stage'),
    canvas: byId('view'),
    tip: byId('tip'),
  });
  makeLegend(report, state);
}

start().catch((error) => {
  byId('verdict').textContent = `This report cannot be read: ${error.message}`;
  document.documentElement.dataset.ready = 'failed';
});
