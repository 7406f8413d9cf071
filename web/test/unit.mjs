// unit.mjs: the page's modules without a browser: decoding, tables, contacts, picking.
//
//   node unit.mjs SAMPLES        exit status 77: no samples

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { deflateSync } from 'node:zlib';
import { fromBase64, inflate, Reader } from '../src/bytes.js';
import { findContacts, sphereOf } from '../src/contacts.js';
import { countsCsv, pairLines } from '../src/csv.js';
import { intervals, lowerBound, Report } from '../src/data.js';
import { orderWords } from '../src/findings.js';
import { pickTriangle } from '../src/pick.js';
import { levelName, ticksOf } from '../src/timeline.js';
import { run } from './run.mjs';

const samples = resolve(process.argv[2] ?? '.');
if (!existsSync(join(samples, 'figure.html'))) {
  console.log('skipped: the modules of the report, this build has no HTML report');
  process.exit(77);
}

/** As much of a document as Report.fromDocument asks for. */
function documentOf(html) {
  const elements = (pattern) => [...html.matchAll(pattern)].map((match) => ({ textContent: match[1] }));
  return {
    getElementById: (id) => elements(new RegExp(`<script type="[^"]*" id="${id}">([^<]*)</script>`, 'g'))[0],
    querySelectorAll: () => elements(/<script type="text\/plain" class="pinch-block">([^<]*)<\/script>/g),
  };
}

const open = (name) => Report.fromDocument(documentOf(readFileSync(join(samples, `${name}.html`), 'utf8')));
const expected = (name) => JSON.parse(readFileSync(join(samples, `${name}.json`), 'utf8')).pairs;

let seed = 1;
const random = () => (seed = (seed * 48271) % 0x7fffffff) / 0x7fffffff;

const tests = {
  async 'bytes come back'() {
    for (let size = 0; size < 70; ++size) {
      const bytes = Uint8Array.from({ length: size }, () => 256 * random());
      assert.deepEqual([...fromBase64(Buffer.from(bytes).toString('base64'))], [...bytes]);
      assert.deepEqual([...(await inflate(deflateSync(bytes)))], [...bytes]);
    }
    const reader = new Reader(Uint8Array.of(0, 0x7f, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3));
    assert.deepEqual(
      [0, 127, 128, 4294967295].map(() => reader.varint()),
      [0, 127, 128, 4294967295],
    );
    assert.deepEqual(
      [1, 2, 3].map(() => reader.signed()),
      [-1, 1, -2],
    );
    assert.ok(reader.done);
    assert.throws(() => reader.varint(), /too early/);
  },

  async 'counts, pairs and summary are those of the scene'() {
    for (const name of ['figure', 'spheres']) {
      const [report, pairs] = [await open(name), expected(name)];
      assert.deepEqual(
        report.frames.map((frame) => frame.total),
        pairs,
      );
      assert.equal(report.all.worst, Math.max(...pairs));
      assert.equal(report.all.frames.length, pairs.filter((n) => n > 0).length);
      for (const f of [0, 5, report.all.worstFrame]) {
        const { list, exact } = await report.pairs(f);
        assert.equal(list.length, 4 * pairs[f]);
        assert.ok(exact);
      }
    }
  },

  async 'the moon is where its formula puts it'() {
    const report = await open('spheres');
    for (const f of [0, 1, 17, 31, 32, 33, 59]) {
      const { positions, exact } = await report.pose(f);
      assert.ok(exact);
      const centre = [2.6 - (2.6 * f) / 40, 0.45, 0];
      for (let i = 0; i < positions[1].length; i += 3) {
        const away = Math.hypot(...centre.map((c, k) => positions[1][i + k] - c));
        assert.ok(Math.abs(away - 0.7) < 1e-4, `frame ${f}: ${away}`);
      }
    }
  },

  async 'thinned frames lie between their neighbours'() {
    const [whole, thin] = [await open('figure'), await open('thinned')];
    const missing = thin.frames.findIndex((frame) => frame.positionsSize === 0);
    const { low, high, exact, positions } = await thin.pose(missing);
    assert.ok(!exact && low < missing && missing < high);
    const truth = await whole.pose(missing);
    let worst = 0;
    positions[2].forEach((x, i) => (worst = Math.max(worst, Math.abs(x - truth.positions[2][i]))));
    assert.ok(worst > 0 && worst < 0.08, `${worst} m off`);
    const stored = await thin.pose(low);
    assert.deepEqual(stored.positions[2], (await whole.pose(low)).positions[2]);
  },

  async 'tables quote names'() {
    const report = {
      bodies: [{ name: 'a,"b"' }, { name: 'c' }],
      frames: [{ number: 3, time: 0.1, counts: [{ a: 0, b: 1, pairs: 2 }] }],
    };
    assert.equal(countsCsv(report), 'frame,time,a,b,pairs\n3,0.1,"a,""b""",c,2\n');
    assert.deepEqual(pairLines(report, 3, [0, 5, 1, 6]), ['3,"a,""b""",5,c,6']);
  },

  async 'contacts are what hangs together'() {
    // two strips of triangles; pairs 0-0, 1-1 touch at vertices, 5-5 is apart
    const strip = Uint32Array.from({ length: 24 }, (_, i) => Math.floor(i / 3) + (i % 3));
    const contacts = findContacts([0, 0, 1, 0, 0, 1, 1, 1, 0, 5, 1, 5], [strip, strip]);
    assert.deepEqual(
      contacts.map((contact) => contact.pairs),
      [2, 1],
    );
    assert.equal(contacts[0].members.length, 4);
    const { centre, radius } = sphereOf(
      [[0, 0]],
      [Uint32Array.of(0, 1, 2)],
      [Float32Array.of(0, 0, 0, 2, 0, 0, 0, 2, 0)],
    );
    assert.deepEqual(centre, [1, 1, 0]);
    assert.ok(Math.abs(radius - Math.SQRT2) < 1e-6);
    assert.deepEqual(findContacts([], [strip]), []);
  },

  async 'picking finds the nearest triangle'() {
    // random triangles, rays aimed at a point of one of them: never farther than that one
    const positions = Float32Array.from({ length: 900 }, () => 4 * random() - 2);
    const triangles = Uint32Array.from({ length: 300 }, (_, i) => i);
    for (let i = 0; i < 100; ++i) {
      const [u, v] = [random() * 0.5, random() * 0.5];
      const aim = [0, 1, 2].map(
        (k) => (1 - u - v) * positions[9 * i + k] + u * positions[9 * i + 3 + k] + v * positions[9 * i + 6 + k],
      );
      const origin = [5 * random(), 5 * random(), 6];
      const direction = aim.map((x, k) => x - origin[k]);
      const hit = pickTriangle(origin, direction, positions, triangles, null);
      assert.ok(hit.distance <= 1 + 1e-6);
      assert.ok(Math.abs(pickTriangle(origin, direction, positions, triangles, [i]).distance - 1) < 1e-5);
    }
    assert.equal(pickTriangle([0, 0, 9], [0, 0, 1], positions, triangles, null), null);
  },

  async 'numbers stand under their frames'() {
    const numbered = (...numbers) => numbers.map((number) => ({ number }));
    const every = (step, length) => numbered(...Array.from({ length }, (_, f) => step * f));
    const ticks = (...words) => ticksOf(...words).map(({ number, at }) => [number, at]);
    assert.deepEqual(ticks(every(1, 21), 0, 21, 5), [0, 5, 10, 15, 20].map((n) => [n, n]));
    assert.deepEqual(ticks(every(1, 21), 7.5, 13.5, 10), [8, 9, 10, 11, 12, 13].map((n) => [n, n]));
    // every third frame of a scan: 10 is a third of the way from frame 9 to frame 12
    for (const [number, at] of ticks(every(3, 31), 0, 31, 10)) {
      assert.ok(number % 10 === 0 && Math.abs(at - number / 3) < 1e-9);
    }
    assert.equal(ticks(every(3, 31), 0, 31, 10).length, 10);
    // numbers far apart take no longer
    assert.deepEqual(ticks(numbered(0, 1e9, 2e9), 0, 3, 3), [0, 1e9, 2e9].map((n) => [n, n / 1e9]));
    assert.ok(ticks(numbered(0, 1, 2, 1e9), 0, 4, 8).length <= 9);
    assert.deepEqual(ticks(numbered(-7), 0, 1, 9), [[-7, 0]]);
    assert.deepEqual(
      [levelName(0, 87), levelName(20, 87), levelName(2000, 8700), levelName(20000, 87000), levelName(0, 87000)],
      ['0', '20', '2\u202f000', '20k', '0'],
    );
    assert.deepEqual(
      [levelName(2e6, 9e6), levelName(2e7, 9e7)],
      ['2\u202f000k', '20M'],
    );
  },

  async 'the order of findings is said as it is'() {
    const [fresh, growing] = [{ kind: 'new' }, { kind: 'growing' }];
    const repeated = { kind: 'new', repeats: true };
    assert.equal(orderWords('depth', []), '');
    assert.equal(orderWords('depth', [fresh]), '');
    assert.equal(orderWords('depth', [fresh, fresh]), 'deepest first');
    assert.equal(orderWords('frames', [fresh, fresh]), 'longest first');
    assert.equal(orderWords('first', [fresh, growing]), 'by kind, earliest first');
    assert.equal(orderWords('depth', [fresh, repeated]), 'deepest first, repeats last');
    assert.equal(orderWords('depth', [fresh, repeated, growing]), 'by kind, deepest first, their repeats last');
    assert.equal(orderWords(undefined, [fresh, fresh]), 'deepest first');
  },

  async 'small things'() {
    assert.deepEqual(intervals([1, 2, 3, 7, 9, 10]), [
      [1, 3],
      [7, 7],
      [9, 10],
    ]);
    assert.deepEqual(intervals([]), []);
    assert.deepEqual(
      [0, 2, 3, 9].map((x) => lowerBound([2, 4, 6], x)),
      [0, 0, 1, 3],
    );
  },
};

await run(tests);
