// data.js: the data inside the page, decoded when it is asked for. The format is in docs/report.md, the writing side in
// cli/report_*.c.
//
// Counts are read at once: they are small and everything on the page needs them. Positions and pair lists wait in
// blocks of base64 until one of their frames is shown.

import { fromBase64, inflate, Reader } from './bytes.js';

/** Decoded positions are kept up to this many bytes: some seconds of a large character, all of a small one. */
const CACHE_BYTES = 96e6;

export class Report {
  /**
   * @param meta    the parsed JSON of pinch-meta
   * @param blocks  for each block a function that gives its base64 text, called at most once
   */
  constructor(meta, blocks) {
    this.meta = meta;
    this.bodies = meta.bodies;
    this.blockTexts = blocks;
    this.blockBytes = [];
    this.cache = new Map();
    this.siteCount = meta.bodies.reduce((sum, body) => sum + body.sites, 0);
  }

  /** Reads the report out of a document. */
  static async fromDocument(document) {
    const text = (id) => {
      const element = document.getElementById(id);
      const content = element.textContent;
      element.textContent = '';
      return content;
    };
    const blocks = [...document.querySelectorAll('script.pinch-block')].map((element) => () => {
      const content = element.textContent;
      element.textContent = '';
      return content;
    });
    const report = new Report(JSON.parse(text('pinch-meta')), blocks);
    report.readIndex(await inflate(fromBase64(text('pinch-index'))));
    report.readFindings(await inflate(fromBase64(text('pinch-findings'))));
    if (report.meta.view) {
      report.readTopology(await inflate(fromBase64(text('pinch-topology'))));
    }
    return report;
  }

  // ---------------------------------------------------------------- constant parts

  /** The list of findings in rank order, and which numbers of pairs mean another one. */
  readFindings(bytes) {
    const { order, findings, joined } = JSON.parse(new TextDecoder().decode(bytes));
    this.findings = findings;
    this.order = order;
    for (const finding of findings) {
      finding.firstIndex = this.indexOf(finding.clip, finding.first);
      finding.lastIndex = this.indexOf(finding.clip, finding.last);
      finding.deepestIndex = this.indexOf(finding.clip, finding.deepest);
      const { a, b, name, jointsA, jointsB, kind } = finding;
      finding.word = finding.unseen ? 'unseen' : kind;
      const names = [this.bodies[a].name, this.bodies[b].name, name, finding.word, this.meta.clips[finding.clip]?.name ?? ''];
      finding.text = [...names, ...jointsA, ...jointsB].join(' ').toLowerCase();
    }
    this.joins = new Map(joined.map(([clip, from, to]) => [`${clip} ${from}`, to]));
  }

  /** The number of the finding that pairs with `number` are of. */
  joined(clip, number) {
    return this.joins.get(`${clip} ${number}`) ?? number;
  }

  /** The name of the clip of frame f, where there are several. */
  clipName(f) {
    return this.meta.clips.length > 1 ? this.meta.clips[this.clipOf(f)].name : '';
  }

  /** The first and the last frame of a clip. */
  rangeOf(clip) {
    const { firstFrame, frameCount } = this.meta.clips[clip] ?? { firstFrame: 0, frameCount: this.frames.length };
    return [firstFrame, Math.max(firstFrame + frameCount - 1, firstFrame)];
  }

  /** The frame that a clip calls `number`, or the nearest after it. */
  indexOf(clip, number) {
    const [first, last] = this.rangeOf(clip);
    let f = first;
    while (f < last && this.frames[f].number < number) {
      f += 1;
    }
    return f;
  }

  /** How deep a finding is in frame f, between samples on a straight line; 0 where it is not. */
  depthAt(finding, f) {
    if (f < finding.firstIndex || f > finding.lastIndex) {
      return 0;
    }
    const at = this.sampleAt(finding, f);
    return at ? at[1] : finding.depth ?? 0;
  }

  /** Frame, depth and centre of a finding in frame f: [frame, depth, x, y, z]; null without samples. */
  sampleAt(finding, f) {
    const { samples } = finding;
    const number = this.frames[f].number;
    const high = lowerBound(samples, number, (sample) => sample[0]);
    if (samples.length === 0) {
      return null;
    }
    if (high === 0 || high === samples.length || samples[high][0] === number) {
      return samples[Math.min(high, samples.length - 1)];
    }
    const [p, q] = [samples[high - 1], samples[high]];
    const t = (number - p[0]) / (q[0] - p[0]);
    return p.map((x, i) => x + t * (q[i] - x));
  }

  /** The clip (animation) that frame f is of. */
  clipOf(f) {
    return this.meta.clips.findLastIndex((clip) => clip.firstFrame <= f);
  }

  readIndex(bytes) {
    const reader = new Reader(bytes);
    const kinds = new Map();
    let number = 0;
    let block = -1;
    let offset = 0;
    this.frames = [];
    for (let f = 0; f < this.meta.frameCount; ++f) {
      number += reader.signed();
      const frame = { number, time: reader.double() };
      if (reader.varint() === 1) {
        block += 1;
        offset = 0;
      }
      frame.block = block;
      frame.pairsAt = offset;
      frame.pairsSize = reader.varint();
      frame.positionsAt = offset + frame.pairsSize;
      frame.positionsSize = reader.varint();
      offset = frame.positionsAt + frame.positionsSize;

      // frames this one is predicted from; none for a key frame
      const back = reader.varint();
      const ahead = reader.varint();
      frame.low = back > 0 ? f - back : -1;
      frame.high = ahead > 0 ? f + ahead : -1;

      frame.counts = [];
      frame.total = 0;
      for (let left = reader.varint(); left > 0; --left) {
        const a = reader.varint();
        const b = reader.varint();
        const pairs = reader.varint();
        frame.counts.push({ a, b, pairs });
        frame.total += pairs;
        addToKind(kinds, a, b, f, pairs);
      }
      this.frames.push(frame);
    }
    // moments between two frames: so many thousandths of a frame after the frame before
    for (const [f, part] of this.meta.moments ?? []) {
      this.frames[f].number = (1000 * this.frames[f].number + part) / 1000;
      this.frames[f].moment = true;
    }
    this.kindsByKey = kinds;
    this.kinds = [...kinds.values()].sort((p, q) => q.worst - p.worst || p.a - q.a || p.b - q.b);
    this.summarise();
  }

  /** The two bodies' kind, whichever of them comes first; undefined when they never meet. */
  kindOf(a, b) {
    return this.kindsByKey.get(keyOf(a, b)) ?? this.kindsByKey.get(keyOf(b, a));
  }

  /** The numbers at the head of the page, about frames: a moment between two is none. */
  summarise() {
    const all = { frames: [], pairs: [], worst: 0, worstFrame: 0, total: 0 };
    this.frameCount = this.frames.filter((frame) => !frame.moment).length;
    this.frames.forEach((frame, f) => {
      if (frame.total > 0 && !frame.moment) {
        addFrame(all, f, frame.total);
      }
    });
    this.all = all;
    this.positionFrames = this.frames.filter((frame) => frame.positionsSize > 0).length;
    this.pairFrames = this.frames.filter((frame) => frame.pairsSize > 0).length;
    this.stored = [];
    this.frames.forEach((frame, f) => frame.positionsSize > 0 && this.stored.push(f));
  }

  readTopology(bytes) {
    const reader = new Reader(bytes);
    this.topology = this.bodies.map((body) => {
      // predictors a, b, c with sites numbered from 1; 0 is a site that is always zero
      const predictors = new Uint32Array(3 * body.sites);
      for (let i = 0; i < body.sites; ++i) {
        const first = reader.varint();
        predictors[3 * i] = i + 1 - Math.floor(first / 2);
        if (first % 2 === 1) {
          predictors[3 * i + 1] = i + 1 - reader.varint();
          predictors[3 * i + 2] = i + 1 - reader.varint();
        }
      }
      const triangles = new Uint32Array(3 * body.triangles);
      for (let i = 0, corner = 0; i < triangles.length; ++i) {
        corner += reader.signed();
        triangles[i] = corner;
      }
      const groups = body.grouped ? new Uint16Array(body.sites) : null;
      for (let i = 0; groups && i < body.sites; ++i) {
        groups[i] = reader.varint();
      }
      return { predictors, triangles, groups };
    });
  }

  // ---------------------------------------------------------------- frames

  /** The packed bytes of a part of a frame. */
  packed(frame, at, size) {
    if (!this.blockBytes[frame.block]) {
      this.blockBytes[frame.block] = fromBase64(this.blockTexts[frame.block]());
    }
    return this.blockBytes[frame.block].subarray(at, at + size);
  }

  /** Rounded positions of a stored frame: a promise of 3 integers a site, over all bodies. */
  raw(f) {
    const known = this.cache.get(f);
    if (known) {
      // move to the young end
      this.cache.delete(f);
      this.cache.set(f, known);
      return known;
    }
    const promise = this.decodeRaw(f);
    this.cache.set(f, promise);
    const most = Math.max(16, Math.floor(CACHE_BYTES / (12 * this.siteCount + 1)));
    for (const old of this.cache.keys()) {
      if (this.cache.size <= most) {
        break;
      }
      this.cache.delete(old);
    }
    return promise;
  }

  async decodeRaw(f) {
    const frame = this.frames[f];
    const [planes, low, high] = await Promise.all([
      inflate(this.packed(frame, frame.positionsAt, frame.positionsSize)),
      frame.low >= 0 ? this.raw(frame.low) : null,
      frame.high >= 0 ? this.raw(frame.high) : null,
    ]);
    const raw = new Int32Array(3 * this.siteCount);
    let start = 0;
    this.bodies.forEach((body, b) => {
      unfold(planes, this.siteCount, start, body.sites, this.topology[b].predictors, low, high, raw);
      start += body.sites;
    });
    return raw;
  }

  /**
   * Where every body is in frame f: { positions: [Float32Array per body], low, high, exact }. A frame that was thinned
   * is interpolated between the stored frames around it.
   */
  async pose(f) {
    const [low, high] = this.around(f);
    const [from, to] = await Promise.all([this.raw(low), this.raw(high)]);
    const [t0, t1] = [this.frames[low].number, this.frames[high].number];
    const weight = low === high ? 0 : (this.frames[f].number - t0) / (t1 - t0);
    let start = 0;
    const positions = this.bodies.map((body) => {
      const out = new Float32Array(3 * body.sites);
      for (let i = 0; i < out.length; ++i) {
        const p = from[start + i];
        out[i] = body.origin[i % 3] + body.step * (p + weight * (to[start + i] - p));
      }
      start += out.length;
      return out;
    });
    return { positions, low, high, exact: low === high };
  }

  /** The stored frames nearest to f, at or before and at or after it. */
  around(f) {
    const stored = this.stored;
    let at = lowerBound(stored, f);
    if (stored[at] === f) {
      return [f, f];
    }
    const high = at < stored.length ? stored[at] : stored[at - 1];
    const low = at > 0 ? stored[at - 1] : high;
    // nothing is between two animations
    const clip = this.clipOf(f);
    if (this.clipOf(low) !== clip) {
      return [high, high];
    }
    return this.clipOf(high) === clip ? [low, high] : [low, low];
  }

  /**
   * The triangle pairs of frame f: { list: Uint32Array of a, triangleA, b, triangleB, findings: the number of the finding
   * of each pair in its clip, or -1, from, exact }. Where the list was thinned, `from` is the nearest frame that has one.
   */
  async pairs(f) {
    const from = this.nearestPairs(f);
    if (from < 0) {
      return { list: new Uint32Array(0), findings: new Int32Array(0), from: f, exact: this.frames[f].total === 0 };
    }
    const frame = this.frames[from];
    const reader = new Reader(await inflate(this.packed(frame, frame.pairsAt, frame.pairsSize)));
    const list = new Uint32Array(4 * frame.total);
    const findings = new Int32Array(frame.total);
    for (let i = 0; i < list.length;) {
      const a = reader.varint();
      const b = reader.varint();
      let triangleA = 0;
      let triangleB = 0;
      const count = reader.varint();
      for (let left = count; left > 0; --left, i += 4) {
        triangleA += reader.varint();
        triangleB += reader.signed();
        list.set([a, triangleA, b, triangleB], i);
      }
      // runs of pairs that are of one finding; numbers that were joined since lead to the finding they are of now
      for (let left = count; left > 0;) {
        const number = reader.varint() - 1;
        const run = reader.varint();
        findings.fill(this.joined(this.clipOf(from), number), i / 4 - left, i / 4 - left + run);
        left -= run;
      }
    }
    return { list, findings, from, exact: from === f };
  }

  /** The frame whose list stands for frame f: itself, or the nearest that has one; -1 when nothing meets in f. */
  nearestPairs(f) {
    if (this.frames[f].total === 0) {
      return -1;
    }
    for (let d = 0; d < this.frames.length; ++d) {
      for (const g of [f - d, f + d]) {
        if (this.frames[g]?.pairsSize > 0 && this.clipOf(g) === this.clipOf(f)) {
          return g;
        }
      }
    }
    return -1;
  }

  /** Joint or target that moves a triangle: the one most of its corners name. Null when the file names none. */
  groupOf(b, triangle) {
    const { groups, triangles } = this.topology ? this.topology[b] : {};
    if (!groups) {
      return null;
    }
    const [p, q, r] = [0, 1, 2].map((k) => groups[triangles[3 * triangle + k]]);
    const group = q === r ? q : p;
    return group > 0 ? this.bodies[b].groups[group - 1] : null;
  }
}

// ---------------------------------------------------------------- pure helpers

/** Undoes foldBody and packPositions of cli/report_frame.c for one body. Everything wraps modulo 2^32. */
export function unfold(planes, siteCount, start, sites, predictors, low, high, raw) {
  const plane = 3 * siteCount;
  const difference = new Int32Array(3 * (sites + 1));
  for (let i = 0; i < sites; ++i) {
    const a = 3 * predictors[3 * i];
    const b = 3 * predictors[3 * i + 1];
    const c = 3 * predictors[3 * i + 2];
    for (let k = 0; k < 3; ++k) {
      // four bytes, unfolded from unsigned
      const at = k * siteCount + start + i;
      const folded =
        planes[at] | (planes[at + plane] << 8) | (planes[at + 2 * plane] << 16) | (planes[at + 3 * plane] << 24);
      const rest = (folded >>> 1) ^ -(folded & 1);

      // the guess over the mesh, then the guess in time
      const value = (rest + difference[a + k] + difference[b + k] - difference[c + k]) | 0;
      difference[3 * (i + 1) + k] = value;
      const own = 3 * (start + i) + k;
      raw[own] = value + (low ? (low[own] + high[own]) >> 1 : 0);
    }
  }
}

/** First index whose value (as `valueOf` tells it) is at least x. */
export function lowerBound(sorted, x, valueOf = (value) => value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueOf(sorted[middle]) < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function addFrame(kind, f, pairs) {
  kind.frames.push(f);
  kind.pairs.push(pairs);
  kind.total += pairs;
  if (pairs > kind.worst) {
    kind.worst = pairs;
    kind.worstFrame = f;
  }
}

const keyOf = (a, b) => `${a},${b}`;

function addToKind(kinds, a, b, f, pairs) {
  const key = keyOf(a, b);
  if (!kinds.has(key)) {
    kinds.set(key, { key, a, b, frames: [], pairs: [], worst: 0, worstFrame: 0, total: 0 });
  }
  addFrame(kinds.get(key), f, pairs);
}

/** Stretches of consecutive frames with contact: [[first, last], ...]. */
export function intervals(frames) {
  const out = [];
  for (const f of frames) {
    if (out.length > 0 && out[out.length - 1][1] === f - 1) {
      out[out.length - 1][1] = f;
    } else {
      out.push([f, f]);
    }
  }
  return out;
}

/** Pairs of a kind in frame f. */
export function pairsIn(kind, f) {
  const at = lowerBound(kind.frames, f);
  return kind.frames[at] === f ? kind.pairs[at] : 0;
}
