// timeline.js: a lane for each finding (from where to where, and how deep), and below them pairs per frame as bars, or the depth of
// the chosen finding. Drag to scrub, scroll or pinch to zoom; the strip below shows the whole animation and which part of
// it is above, frame under frame. One animation is shown at a time. Frames are counted 0, 1, 2 ... over all of them here;
// `number` is what the animation calls them.

import { lowerBound } from './data.js';
import { listed } from './findings.js';
import { count, kindName, length, make, plural, seconds, short } from './page.js';

const LEFT = 46;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 22;
const FEWEST = 6; // frames shown at the closest zoom
const LANE = 18; // height of a lane
const MOST_LANES = 6;

/** Largest of the pairs in frames [from, to). */
function peak(values, from, to) {
  let best = 0;
  for (let f = from; f < to; ++f) {
    best = Math.max(best, values[f]);
  }
  return best;
}

/** 1, 2 or 5 times a power of ten, at least x. */
export function niceStep(x) {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1e-9)));
  for (const m of [1, 2, 5, 10]) {
    if (m * power >= x * 0.999) {
      return m * power;
    }
  }
  return 10 * power;
}

/** A level of the chart as few characters: 20 000 of at most 87 000 is "20k". */
export function levelName(level, most) {
  const [unit, letter] = most >= 1e7 ? [1e6, 'M'] : most >= 1e4 ? [1e3, 'k'] : [1, ''];
  return level === 0 ? '0' : most < 10 ? length(level) : count(level / unit) + letter;
}

/** What the animation calls the moment f, which may lie between two frames, or before or behind all of them. */
function numberAt(frames, f) {
  const low = Math.min(Math.max(Math.floor(f), 0), Math.max(frames.length - 2, 0));
  const high = Math.min(low + 1, frames.length - 1);
  return frames[low].number + (f - low) * (high > low ? frames[high].number - frames[low].number : 1);
}

/**
 * The numbers to write under frames [from, to): { number, at } with `at` counted in frames, about `most` of them.
 * Frames need not be numbered 0, 1, 2 ...: a number between two of them stands between them.
 */
export function ticksOf(frames, from, to, most) {
  const [first, last] = [frames[0].number, frames[frames.length - 1].number];
  const begin = Math.max(numberAt(frames, from), first);
  const end = Math.min(numberAt(frames, to - 0.5), last);
  const step = Math.max(niceStep((end - begin + 1) / Math.max(most, 1)), 1);
  const ticks = [];
  for (let number = Math.ceil(begin / step) * step; number <= end; number += step) {
    const high = Math.max(lowerBound(frames, number, (frame) => frame.number), 1);
    const [p, q] = [frames[high - 1].number, frames[high]?.number];
    ticks.push({ number, at: high - 1 + (q > p ? (number - p) / (q - p) : 0) });
  }
  return ticks;
}

export class Timeline {
  constructor(report, state, { box, chart, overview, tip }) {
    Object.assign(this, { report, state, box, chart, overview, tip });
    this.frames = report.frames.length;
    this.clip = -1;
    this.low = 0; // frames of the animation that is shown
    this.high = Math.max(this.frames, 1);
    this.from = 0;
    this.to = this.high;
    this.lanes = [];
    this.hover = -1;
    this.pointers = new Map();
    this.totals = Uint32Array.from(report.frames, (frame) => frame.total);
    this.listenToChart();
    this.listenToOverview();
    new ResizeObserver(() => this.draw()).observe(box);
    state.on(['frame', 'theme'], () => this.showFrame());
    state.on(['show', 'search', 'clip', 'finding'], () => this.chooseLanes());
    state.on(['kind', 'finding', 'show', 'search', 'clip'], () => this.choose());
  }

  // ---------------------------------------------------------------- what is shown

  /** The bars: how deep the chosen finding is, or the deepest of those listed; pairs of the chosen bodies before all pairs. */
  choose() {
    const finding = this.state.get('finding');
    const kind = finding ? null : this.state.get('kind');
    this.values = this.totals;
    this.behind = this.totals;
    if (finding) {
      this.values = Float64Array.from(this.totals, (_, f) => this.report.depthAt(finding, f));
      this.behind = null;
      // the part of the animation in which it is, with some room
      const room = Math.max(0.25 * (finding.lastIndex - finding.firstIndex), 3);
      this.setWindow(finding.firstIndex - room, finding.lastIndex + 1 + room);
    }
    if (!finding && !kind && this.report.findings.length > 0) {
      // how deep the deepest of the findings listed is: what is built in does not cover what is new
      this.values = new Float64Array(this.frames);
      this.behind = null;
      for (const one of listed(this.report, this.state)) {
        for (let f = one.firstIndex; f <= one.lastIndex; ++f) {
          this.values[f] = Math.max(this.values[f], this.report.depthAt(one, f));
        }
      }
    }
    if (kind) {
      this.values = new Uint32Array(this.frames);
      kind.frames.forEach((f, i) => (this.values[f] = kind.pairs[i]));
    }
    this.draw();
  }

  /** The findings that have a lane: the first of the list that are in this animation, and the chosen one. */
  chooseLanes() {
    const all = listed(this.report, this.state).filter((finding) => finding.clip === Math.max(this.clip, 0));
    const chosen = this.state.get('finding');
    this.lanes = all.slice(0, MOST_LANES);
    if (chosen && chosen.clip === this.clip && !this.lanes.includes(chosen)) {
      this.lanes[Math.min(this.lanes.length, MOST_LANES - 1)] = chosen;
    }
    this.deepest = Math.max(...this.lanes.map((finding) => finding.depth ?? 0), 1e-30);
    this.box.style.setProperty('--lanes', `${this.lanes.length * LANE}px`);
    this.draw();
  }

  get top() {
    return TOP + this.lanes.length * LANE;
  }

  /** Another animation: its frames are all there is. */
  showClip(clip) {
    this.clip = clip;
    const [first, last] = this.report.rangeOf(clip);
    this.low = first;
    this.high = Math.max(last + 1, first + 1);
    this.fit();
    this.chooseLanes();
  }

  showFrame() {
    const f = this.state.get('frame');
    if (this.frames > 0 && this.report.clipOf(f) !== this.clip) {
      this.showClip(this.report.clipOf(f));
    }
    // keep the playhead in the window
    const span = this.to - this.from;
    if (f < this.from || f >= this.to) {
      this.setWindow(f + 0.5 - span / 2, f + 0.5 + span / 2);
    }
    const { number, time, total } = this.report.frames[f] ?? { number: 0, time: 0, total: 0 };
    this.box.setAttribute('aria-valuemin', this.report.frames[this.low]?.number ?? 0);
    this.box.setAttribute('aria-valuemax', this.report.frames[this.high - 1]?.number ?? 0);
    this.box.setAttribute('aria-valuenow', number);
    this.box.setAttribute('aria-valuetext', `frame ${number}, ${seconds(time)}, ${plural(total, 'pair')}`);
    this.draw();
  }

  setWindow(from, to) {
    const all = this.high - this.low;
    const span = Math.min(Math.max(to - from, Math.min(FEWEST, all)), all);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, this.low), this.high - span);
    this.to = this.from + span;
    this.draw();
  }

  /** Zooms by a factor around a frame (the playhead when none is given). */
  zoom(factor, around = this.state.get('frame') + 0.5) {
    const at = Math.min(Math.max(around, this.from), this.to);
    this.setWindow(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  fit() {
    this.setWindow(this.low, this.high);
  }

  // ---------------------------------------------------------------- places

  get plotWidth() {
    return Math.max(this.box.clientWidth - LEFT - RIGHT, 1);
  }

  frameAt(x) {
    return this.from + ((x - LEFT) / this.plotWidth) * (this.to - this.from);
  }

  xOf(f) {
    return LEFT + ((f - this.from) / (this.to - this.from)) * this.plotWidth;
  }

  // ---------------------------------------------------------------- pointer

  scrub(x) {
    const f = Math.min(Math.max(Math.floor(this.frameAt(x)), this.low), this.high - 1);
    this.state.set({ frame: f, playing: false });
  }

  /** The finding whose lane is at height y. */
  laneAt(y) {
    return this.lanes[Math.floor((y - TOP + 4) / LANE)] ?? null;
  }

  listenToChart() {
    const { box, pointers } = this;
    const place = (event) => event.clientX - box.getBoundingClientRect().left;
    box.addEventListener('pointerdown', (event) => {
      if (this.frames === 0 || event.button !== 0) {
        return;
      }
      box.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      if (pointers.size === 1) {
        const lane = this.laneAt(event.clientY - box.getBoundingClientRect().top);
        this.scrub(place(event));
        if (lane && lane !== this.state.get('finding')) {
          const f = this.state.get('frame');
          const inside = f >= lane.firstIndex && f <= lane.lastIndex;
          this.state.set({ finding: lane, kind: null, frame: inside ? f : lane.deepestIndex });
        }
      }
    });
    box.addEventListener('pointermove', (event) => {
      const x = place(event);
      if (pointers.size === 2 && pointers.has(event.pointerId)) {
        this.pinch(event.pointerId, x);
      } else if (pointers.has(event.pointerId)) {
        pointers.set(event.pointerId, x);
        this.scrub(x);
      }
      this.showTip(event.pointerType === 'touch' ? -1 : Math.floor(this.frameAt(x)), x);
    });
    for (const name of ['pointerup', 'pointercancel']) {
      box.addEventListener(name, (event) => pointers.delete(event.pointerId));
    }
    box.addEventListener('pointerleave', () => this.showTip(-1));
    box.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const span = this.to - this.from;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const shift = ((event.deltaX || event.deltaY) / this.plotWidth) * span;
          this.setWindow(this.from + shift, this.to + shift);
        } else {
          this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), this.frameAt(place(event)));
        }
      },
      { passive: false },
    );
  }

  /** Two fingers: what was between them stays between them. */
  pinch(id, x) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const before = this.pointers.get(id);
    const [frameOther, frameBefore] = [this.frameAt(other), this.frameAt(before)];
    this.pointers.set(id, x);
    if (Math.abs(x - other) > 8) {
      const perPixel = Math.abs((frameBefore - frameOther) / (x - other));
      const from = frameOther - (other - LEFT) * perPixel;
      this.setWindow(from, from + this.plotWidth * perPixel);
    }
  }

  /** The strip below: drag the window, drag its ends, or press beside it to bring it there. */
  listenToOverview() {
    const { overview } = this;
    let grip = null;
    const frameOf = (event) => {
      const { left, width } = overview.getBoundingClientRect();
      return this.low + ((event.clientX - left - LEFT) / (width - LEFT - RIGHT)) * (this.high - this.low);
    };
    overview.addEventListener('pointerdown', (event) => {
      const f = frameOf(event);
      const reach = (10 / overview.clientWidth) * (this.high - this.low);
      const span = this.to - this.from;
      overview.setPointerCapture(event.pointerId);
      if (Math.abs(f - this.from) < reach) {
        grip = { end: 'from' };
      } else if (Math.abs(f - this.to) < reach) {
        grip = { end: 'to' };
      } else {
        if (f < this.from || f > this.to) {
          this.setWindow(f - span / 2, f + span / 2);
        }
        grip = { offset: f - this.from };
      }
    });
    overview.addEventListener('pointermove', (event) => {
      if (!grip) {
        return;
      }
      const f = frameOf(event);
      if (grip.end === 'from') {
        this.setWindow(Math.min(f, this.to - FEWEST), this.to);
      } else if (grip.end === 'to') {
        this.setWindow(this.from, Math.max(f, this.from + FEWEST));
      } else {
        const span = this.to - this.from;
        this.setWindow(f - grip.offset, f - grip.offset + span);
      }
    });
    for (const name of ['pointerup', 'pointercancel']) {
      overview.addEventListener(name, () => (grip = null));
    }
  }

  showTip(f, x = 0) {
    const frame = this.report.frames[f];
    const shown = frame && f >= this.from - 1 && f < this.to ? f : -1;
    if (shown !== this.hover) {
      this.hover = shown;
      this.draw();
    }
    this.tip.hidden = shown < 0;
    if (shown < 0) {
      return;
    }
    const kind = this.state.get('kind');
    this.tip.replaceChildren(
      make('b', {}, `frame ${frame.number}`),
      make('span', { class: 'soft' }, `  ${seconds(frame.time)}${frame.moment ? ', between frames' : ''}`),
      make(
        'div',
        { class: this.values[f] > 0 ? 'red' : 'soft' },
        this.behind ? plural(this.values[f], 'pair') : `depth ${length(this.values[f])}`,
      ),
    );
    if (kind && this.behind) {
      this.tip.append(make('div', { class: 'soft' }, kindName(this.report.bodies, kind)));
    }
    const left = Math.min(Math.max(x - this.tip.offsetWidth / 2, 0), this.box.clientWidth - this.tip.offsetWidth);
    this.tip.style.transform = `translate(${left}px, ${-this.tip.offsetHeight - 6}px)`;
  }

  // ---------------------------------------------------------------- drawing

  draw() {
    if (!this.pending) {
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.drawChart();
        this.drawOverview();
      });
    }
  }

  /** A canvas made to fit its element, cleared; the drawing units are CSS pixels. */
  prepare(canvas) {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = '12px ' + getComputedStyle(document.body).fontFamily;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    return { pen, width, height, colour };
  }

  drawChart() {
    const { pen, width, height, colour } = this.prepare(this.chart);
    if (this.frames === 0 || width === 0) {
      return;
    }
    const base = height - BOTTOM;
    const room = base - this.top;
    const peakHere = peak(this.behind ?? this.values, this.low, this.high);
    const top = this.behind ? Math.max(peakHere, 1) : peakHere || 1;
    const step = this.behind ? Math.max(niceStep(top / 4.5), 1) : niceStep(top / 4.5);
    const most = Math.max(top, step) * 1.06;

    // levels: how many pairs
    pen.textBaseline = 'middle';
    pen.textAlign = 'right';
    for (let y = 0; y <= most; y += step) {
      const at = Math.round(base - (y / most) * room) + 0.5;
      pen.fillStyle = colour('faint');
      pen.fillText(levelName(y, top), LEFT - 8, at, LEFT - 10);
      pen.fillStyle = colour(y === 0 ? 'rule-strong' : 'rule');
      pen.fillRect(LEFT, at - 0.5, width - LEFT - RIGHT, 1);
    }
    this.drawTicks(pen, base, colour);

    // bars: all pairs pale behind the chosen ones
    pen.save();
    pen.beginPath();
    pen.rect(LEFT - 6, 0, width - LEFT - RIGHT + 12, height);
    pen.clip();
    const scale = (pairs) => (pairs > 0 ? Math.max((pairs / most) * room, 2.5) : 0);
    this.drawHover(pen, base, colour);
    this.drawLanes(pen, colour);
    if (this.behind && this.values !== this.totals) {
      this.drawBars(pen, this.totals, base, scale, colour('red-soft'));
    }
    this.drawBars(pen, this.values, base, scale, colour('red'));
    this.drawPlayhead(pen, base, colour);
    pen.restore();
  }

  /** A lane for each finding: its depth over its frames; the name where there is room. */
  drawLanes(pen, colour) {
    const chosen = this.state.get('finding');
    const kinds = { new: 'red', growing: 'warm', constant: 'faint' };
    this.lanes.forEach((finding, i) => {
      const base = TOP + (i + 1) * LANE - 5;
      const [x0, x1] = [this.xOf(finding.firstIndex), Math.max(this.xOf(finding.lastIndex + 1), this.xOf(finding.firstIndex) + 3)];
      pen.globalAlpha = chosen && chosen !== finding ? 0.35 : 1;
      pen.fillStyle = colour('rule');
      pen.fillRect(LEFT, base, this.plotWidth, 1);
      pen.fillStyle = colour(kinds[finding.kind] ?? 'red');
      pen.fillRect(x0, base - 1.5, x1 - x0, 2.5);
      pen.beginPath();
      pen.moveTo(x0, base);
      for (let x = Math.max(x0, LEFT - 6); x <= Math.min(x1, LEFT + this.plotWidth + 6); x += 1) {
        const f = Math.min(Math.max(Math.floor(this.frameAt(x)), finding.firstIndex), finding.lastIndex);
        // roots: a shallow finding beside a deep one is still seen
        pen.lineTo(x, base - 1 - Math.sqrt(this.report.depthAt(finding, f) / this.deepest) * (LANE - 7));
      }
      pen.lineTo(x1, base);
      pen.fill();
      this.nameLane(pen, colour, finding, x0, x1, base);
      pen.globalAlpha = 1;
    });
  }

  /** Beside the lane's mark, on the side that has more room. */
  nameLane(pen, colour, finding, x0, x1, base) {
    const side = (body, joints) => short(joints[0] ?? this.report.bodies[body].name, 16);
    const name = `${side(finding.a, finding.jointsA)} × ${side(finding.b, finding.jointsB)}`;
    const wide = pen.measureText(name).width;
    const [left, right] = [LEFT, LEFT + this.plotWidth];
    if (x1 < left || x0 > right) {
      return;
    }
    pen.fillStyle = colour('soft');
    pen.textBaseline = 'middle';
    if (right - x1 > wide + 10) {
      pen.textAlign = 'left';
      pen.fillText(name, Math.max(x1, left) + 6, base - 5);
    } else if (x0 - left > wide + 10) {
      pen.textAlign = 'right';
      pen.fillText(name, x0 - 6, base - 5);
    }
  }

  /** Bars, or one column a pixel (its highest bar) when frames are narrower than that. */
  drawBars(pen, values, base, scale, fill) {
    pen.fillStyle = fill;
    const wide = this.plotWidth / (this.to - this.from);
    if (wide >= 2) {
      const gap = wide > 5 ? Math.min(wide * 0.18, 3) : wide > 3 ? 1 : 0.5;
      pen.beginPath();
      for (let f = Math.floor(this.from); f < Math.min(this.to, this.high); ++f) {
        const tall = scale(values[f]);
        if (tall > 0) {
          const round = Math.min(wide / 4, 3, tall);
          pen.roundRect(this.xOf(f) + gap / 2, base - tall, wide - gap, tall, [round, round, 0, 0]);
        }
      }
      pen.fill();
      return;
    }
    for (let x = 0; x < this.plotWidth; ++x) {
      const first = Math.floor(this.frameAt(LEFT + x));
      const last = Math.max(Math.floor(this.frameAt(LEFT + x + 1)), first + 1);
      const tall = scale(peak(values, Math.max(first, this.low), Math.min(last, this.high)));
      if (tall > 0) {
        pen.fillRect(LEFT + x, base - tall, 1, tall);
      }
    }
  }

  /** Frame numbers below, and a dot for each frame with positions where some were thinned. */
  drawTicks(pen, base, colour) {
    const span = this.to - this.from;
    pen.fillStyle = colour('faint');
    pen.textAlign = 'center';
    // a label with as many digits as the last number has, and room around it
    const frames = this.report.frames.slice(this.low, this.high);
    const wide = Math.max(64, pen.measureText(String(frames[frames.length - 1].number)).width + 24);
    for (const { number, at } of ticksOf(frames, this.from - this.low, this.to - this.low, this.plotWidth / wide)) {
      // the last one stays on the canvas
      const half = pen.measureText(String(number)).width / 2;
      pen.fillText(String(number), Math.min(this.xOf(this.low + at + 0.5), this.box.clientWidth - half - 1), base + 13);
    }
    this.drawMoments(pen, base, colour);
    pen.fillStyle = colour('faint');
    if (this.report.positionFrames < this.frames && span * 3 < this.plotWidth * 2) {
      for (const f of this.report.stored) {
        if (f >= this.from && f < this.to) {
          pen.fillRect(this.xOf(f + 0.5) - 0.5, base + 1, 1, 3);
        }
      }
    }
  }

  /** A diamond under each moment between two frames: what is there is seen in neither. */
  drawMoments(pen, base, colour) {
    pen.fillStyle = colour('red');
    for (const [f] of this.report.meta.moments ?? []) {
      if (f >= this.from && f < this.to) {
        const x = this.xOf(f + 0.5);
        pen.beginPath();
        pen.moveTo(x, base + 1);
        pen.lineTo(x + 4, base + 5);
        pen.lineTo(x, base + 9);
        pen.lineTo(x - 4, base + 5);
        pen.fill();
      }
    }
  }

  drawHover(pen, base, colour) {
    if (this.hover >= 0) {
      pen.fillStyle = colour('rule');
      const wide = Math.max(this.plotWidth / (this.to - this.from), 1);
      pen.fillRect(this.xOf(this.hover), this.top - 6, wide, base - this.top + 6);
    }
  }

  drawPlayhead(pen, base, colour) {
    const x = this.xOf(this.state.get('frame') + 0.5);
    pen.fillStyle = colour('ink');
    pen.fillRect(x - 0.75, 6, 1.5, base - 6);
    pen.beginPath();
    pen.roundRect(x - 5, 1, 10, 9, [2.5, 2.5, 5, 5]);
    pen.fill();
  }

  drawOverview() {
    const { pen, width, height, colour } = this.prepare(this.overview);
    if (this.frames === 0 || width === 0) {
      return;
    }
    const top = Math.max(peak(this.behind ?? this.values, this.low, this.high), this.behind ? 1 : 1e-30);
    const plot = width - LEFT - RIGHT;
    const perPixel = (this.high - this.low) / plot;
    const place = (f) => LEFT + (f - this.low) / perPixel;
    pen.fillStyle = colour('red');
    for (let x = 0; x < plot; ++x) {
      const first = this.low + Math.floor(x * perPixel);
      const last = Math.max(this.low + Math.floor((x + 1) * perPixel), first + 1);
      const value = peak(this.values, first, Math.min(last, this.high));
      if (value > 0) {
        const tall = Math.max((value / top) * (height - 8), 2);
        pen.fillRect(LEFT + x, height - 3 - tall, 1, tall);
      }
    }

    // what lies outside of the window is veiled; the window has ends to drag
    const [x0, x1] = [place(this.from), place(this.to)];
    pen.globalAlpha = 0.66;
    pen.fillStyle = colour('sunk');
    pen.fillRect(0, 0, x0, height);
    pen.fillRect(x1, 0, width - x1, height);
    pen.globalAlpha = 1;
    if (this.to - this.from < this.high - this.low) {
      pen.strokeStyle = colour('soft');
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.roundRect(x0 + 0.75, 0.75, Math.max(x1 - x0 - 1.5, 3), height - 1.5, 5);
      pen.stroke();
    }
    pen.fillStyle = colour('ink');
    pen.fillRect(place(this.state.get('frame') + 0.5) - 0.75, 0, 1.5, height);
  }
}
