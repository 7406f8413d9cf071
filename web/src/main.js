// main.js: starts the page: reads the data, makes the parts, and connects buttons and keys to the state.

import { countsCsv, pairsCsv } from './csv.js';
import { intervals, Report } from './data.js';
import { Loader } from './loader.js';
import { byId, copyText, count, kindName, make, plural, saveFile, seconds, short, toast } from './page.js';
import { Panel } from './panel.js';
import { Player } from './player.js';
import { Pointer } from './point.js';
import { bodyTint } from './shading.js';
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

/** The frame the address asks for (#frame=42), else the worst one. */
function firstFrame(report) {
  const asked = /#frame=(-?\d+)/.exec(location.hash);
  const at = asked ? report.frames.findIndex((frame) => frame.number === Number(asked[1])) : -1;
  return at >= 0 ? at : report.all.worstFrame;
}

function showVerdict(report) {
  const { all, frames, meta } = report;
  const verdict = byId('verdict');
  byId('title').textContent = meta.title;
  byId('title').title = meta.title;
  document.title = `${meta.title} · pinch`;
  if (frames.length === 0) {
    verdict.textContent = 'No frame was scanned.';
  } else if (all.frames.length === 0) {
    verdict.append(make('b', { class: 'good' }, 'No intersections'), ` in ${plural(frames.length, 'frame')}.`);
  } else {
    verdict.append(
      make('b', { class: 'bad' }, `${count(all.frames.length)} of ${plural(frames.length, 'frame')}`),
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
  state.on(['hidden', 'theme'], () =>
    buttons.forEach((button, b) => {
      button.setAttribute('aria-pressed', String(!state.get('hidden').has(b)));
      button.style.setProperty('--tint', bodyTint(b, state.get('theme') === 'dark'));
    }),
  );
}

/** The words over the view: frame, pairs, and what is not quite what it seems. */
function showNow(report, state) {
  const f = state.get('frame');
  const frame = report.frames[f];
  const kind = state.get('kind');
  const pairs = kind ? (frame.counts.find(({ a, b }) => a === kind.a && b === kind.b)?.pairs ?? 0) : frame.total;
  byId('now-frame').textContent = frame.number;
  byId('now-pairs').textContent = pairs > 0 ? plural(pairs, 'pair') : 'no contact';
  byId('now-pairs').classList.toggle('none', pairs === 0);
  byId('clock').textContent = seconds(frame.time);
  if (document.activeElement !== byId('frame')) {
    byId('frame').value = frame.number;
  }
  const shown = state.get('shown');
  const notes = pairs < frame.total ? [`${plural(frame.total - pairs, 'pair')} of other bodies`] : [];
  if (shown?.frame === f && shown.pose && !shown.pose.exact) {
    const [low, high] = [report.frames[shown.pose.low].number, report.frames[shown.pose.high].number];
    notes.push(`positions interpolated between frames ${low} and ${high}`);
  }
  if (shown?.frame === f && !shown.pairs.exact) {
    notes.push(`red triangles of frame ${report.frames[shown.pairs.from].number}`);
  }
  byId('now-note').hidden = notes.length === 0;
  byId('now-note').textContent = notes.join('; ');
}

// ---------------------------------------------------------------- what buttons and keys do

function makeActions(report, state, parts) {
  const clamp = (f) => Math.min(Math.max(f, 0), report.frames.length - 1);
  const subject = () => state.get('kind') ?? report.all;
  const actions = {
    goTo: (f) => state.set({ frame: clamp(f), playing: false }),
    step: (by) => actions.goTo(state.get('frame') + by),
    first: () => actions.goTo(0),
    last: () => actions.goTo(report.frames.length - 1),
    play: () => state.set({ playing: !state.get('playing') && report.frames.length > 1 }),
    worst: () => subject().frames.length > 0 && actions.goTo(subject().worstFrame),

    /** The next or previous stretch of frames with contact. */
    contact(direction) {
      const f = state.get('frame');
      const starts = intervals(subject().frames).map(([first]) => first);
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
      state.set({ kind: null });
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
  press('filter', () => state.set({ kind: null }));
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
    report.frames.forEach(({ number }, f) => {
      if (Math.abs(number - asked) < Math.abs(report.frames[best].number - asked)) {
        best = f;
      }
    });
    actions.goTo(best);
    event.target.value = report.frames[best].number;
  });
  document.addEventListener('click', (event) => {
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
  state.on(['speed'], () => (byId('speed').textContent = `${state.get('speed')}×`));
  state.on(['kind'], () => {
    const kind = state.get('kind');
    byId('filter').hidden = !kind;
    byId('filter').textContent = kind ? `${kindName(report.bodies, kind)}  ✕` : '';
    byId('filter').setAttribute(
      'aria-label',
      kind ? `Only ${kindName(report.bodies, kind)}. Show all pairs again.` : '',
    );
  });
  document.querySelector('.now').hidden = report.frames.length === 0;
  if (report.frames.length > 0) {
    state.on(['frame', 'kind', 'shown'], () => showNow(report, state));
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
  for (const id of ['to-contact', 'to-whole', 'solid']) {
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
    frame: firstFrame(report),
    kind: null,
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
  addEventListener('hashchange', () => actions.goTo(firstFrame(report)));

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
