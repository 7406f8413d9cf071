// loader.js: fetches what the current frame needs (pose, pairs, contacts) and puts it into the state as `shown`.
// While a frame is being decoded newer wishes wait; only the newest of them is decoded next, so scrubbing never piles
// up.

import { findContacts } from './contacts.js';
import { letsThrough } from './findings.js';

const AHEAD = 4; // frames decoded in advance while playing

export class Loader {
  constructor(report, state) {
    this.report = report;
    this.state = state;
    this.busy = false;
    state.on(['frame'], () => this.load());
  }

  async load() {
    if (this.busy || this.report.frames.length === 0) {
      return;
    }
    this.busy = true;
    try {
      let frame = -1;
      while (frame !== this.state.get('frame')) {
        frame = this.state.get('frame');
        this.state.set({ shown: await this.fetch(frame) });
      }
    } catch (error) {
      this.state.set({ problem: error });
    } finally {
      this.busy = false;
    }
    this.lookAhead();
  }

  async fetch(frame) {
    const { report } = this;
    const [pose, pairs] = await Promise.all([report.meta.view ? report.pose(frame) : null, report.pairs(frame)]);
    return { frame, pose, pairs };
  }

  lookAhead() {
    if (!this.state.get('playing') || !this.report.meta.view) {
      return;
    }
    for (
      let f = this.state.get('frame') + 1;
      f <= this.state.get('frame') + AHEAD && f < this.report.frames.length;
      ++f
    ) {
      this.report.around(f).forEach((stored) => this.report.raw(stored));
    }
  }
}

/** The pairs of `shown` that belong to the chosen finding or body pair, and the contacts they form. Computed once for each
 * choice. */
export function chosenPairs(report, shown, state) {
  const finding = state.get('finding');
  const kind = finding ? null : state.get('kind');
  const key = finding
    ? `finding ${report.findings.indexOf(finding)}`
    : kind
      ? kind.key
      : `all ${state.get('show')} ${state.get('clip')} ${state.get('search')}`;
  shown.chosen ??= {};
  if (!shown.chosen[key]) {
    const { list, findings } = shown.pairs;
    const clip = report.clipOf(shown.frame);
    const passes = letsThrough(report, state);
    const isOf = (i) =>
      finding
        ? finding.clip === clip && findings[i / 4] === finding.number
        : kind
          ? list[i] === kind.a && list[i + 2] === kind.b
          : passes(clip, findings[i / 4]);
    const kept = [];
    for (let i = 0; i < list.length; i += 4) {
      if (isOf(i)) {
        kept.push(list[i], list[i + 1], list[i + 2], list[i + 3]);
      }
    }
    const triangles = report.topology?.map((body) => body.triangles);
    shown.chosen[key] = { list: kept, contacts: triangles ? findContacts(kept, triangles) : [] };
  }
  return shown.chosen[key];
}
