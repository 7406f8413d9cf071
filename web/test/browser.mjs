// browser.mjs: the report in a real browser. Opens the samples that test_report wrote, in Debian's chromium, and looks:
// numbers, scrubbing, red pixels where the contact is, keys, names under the pointer, files, narrow screens, no
// error, no network.
//
//   node browser.mjs SAMPLES MODULES [SCREENSHOTS]
//
// SAMPLES is the folder of samples, MODULES the node_modules with playwright-core. Exit status 77: nothing to test
// with.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { betweenTests } from './between.mjs';
import { findingTests } from './findings.mjs';
import { run } from './run.mjs';

const [samples, modules, screenshots] = process.argv.slice(2).map((path) => resolve(path));
const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!chromiumPath) {
  console.log('skipped: the report in a browser, chromium is not installed');
  process.exit(77);
}
if (!existsSync(join(samples, 'figure.html'))) {
  console.log('skipped: the report in a browser, this build has no HTML report');
  process.exit(77);
}
const { chromium } = createRequire(join(modules, 'x.js'))('playwright-core');

// ---------------------------------------------------------------- help

const expected = (name) => JSON.parse(readFileSync(join(samples, `${name}.json`), 'utf8')).pairs;
const worstOf = (pairs) => pairs.indexOf(Math.max(...pairs));
const plain = (text) => text.replaceAll('\u202f', '');
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 844 };

let browser;

/** Opens a sample; `check` gets the page, and afterwards nothing may have gone wrong or out. */
async function open(name, options, check) {
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(180000); // a loaded machine without a GPU draws slowly
  const wrong = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.stack));
  page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || wrong.push(`asked for ${request.url()}`));
  if (options.before) {
    await page.addInitScript(options.before);
  }
  await page.goto(`file://${join(samples, `${name}.html`)}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.ready), 'true');
  await check(page);
  assert.deepEqual(wrong, []);
  await context.close();
}

/** Waits until the view has drawn the current frame and stands still. */
async function settled(page) {
  await page.waitForFunction(() => {
    const { state, view } = window.pinch;
    const frame = state.get('frame');
    return (
      state.get('shown')?.frame === frame &&
      document.getElementById('stage').dataset.drawn === String(frame) &&
      !view.pending &&
      !view.flight
    );
  });
}

const text = (page, selector) => page.locator(selector).innerText().then(plain);
/** Waits for a toast: copying is not done when the click is. */
const toasted = (page, words) =>
  page.waitForFunction((wanted) => document.getElementById('toast').textContent.startsWith(wanted), words);
const frame = (page) => page.evaluate(() => window.pinch.state.get('frame'));

/** Red pixels of the picture, as [x, y] from the corner of the stage; rings and words are hidden meanwhile. */
async function redPixels(page) {
  const stage = page.locator('#stage');
  const style = await page.addStyleTag({
    content: '#marks, .stage-head, .legend, .tip { visibility: hidden !important }',
  });
  const picture = (await stage.screenshot()).toString('base64');
  await style.evaluate((element) => element.remove());
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const { data: pixels } = pen.getImageData(0, 0, image.width, image.height);
    const out = [];
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i] > 120 && pixels[i] > 2.2 * pixels[i + 1] && pixels[i] > 2.2 * pixels[i + 2]) {
        out.push([(i / 4) % image.width, Math.floor(i / 4 / image.width)]);
      }
    }
    return out;
  }, picture);
}

/** Where the triangles of the current pairs are on the stage: a box in pixels. */
const contactBox = (page) =>
  page.evaluate(() => {
    const { view, report } = window.pinch;
    const { clientWidth: width, clientHeight: height } = document.getElementById('stage');
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const { list } = window.pinch.state.get('shown').pairs;
    for (let i = 0; i < list.length; i += 2) {
      const [b, t] = [list[i], list[i + 1]];
      for (let k = 0; k < 3; ++k) {
        const at = 3 * report.topology[b].triangles[3 * t + k];
        const p = view.camera.position.clone().fromArray(view.pose.positions[b], at).project(view.camera);
        const [x, y] = [((p.x + 1) / 2) * width, ((1 - p.y) / 2) * height];
        box[0] = Math.min(box[0], x);
        box[1] = Math.min(box[1], y);
        box[2] = Math.max(box[2], x);
        box[3] = Math.max(box[3], y);
      }
    }
    return box;
  });

const picture = async (page, name) => screenshots && page.screenshot({ path: join(screenshots, `${name}.png`) });

// ---------------------------------------------------------------- what is looked at

const tests = {
  async 'shows the right numbers'() {
    const pairs = expected('figure');
    const contacts = pairs.filter((n) => n > 0).length;
    await open('figure', {}, async (page) => {
      await settled(page);
      const worst = worstOf(pairs);
      assert.equal(
        await text(page, '#verdict'),
        `${contacts} of ${pairs.length} frames intersect, worst is frame ${worst + 1} with ${pairs[worst]} pairs.`,
      );
      assert.equal(await text(page, '#title'), 'figure.glb');
      assert.equal(await page.title(), 'figure.glb · pinch');
      assert.equal(await frame(page), worst, 'opens at the worst frame');
      assert.equal(await text(page, '#now-pairs'), `${pairs[worst]} pairs`);
      const all = pairs.reduce((sum, n) => sum + n, 0);
      assert.match(await text(page, '#kind'), new RegExp(`${all} pairs in ${contacts} frames`));

      // the counts of the body pairs add up to the frame, and joints are named
      const counts = await page.locator('#frame-counts .number').allInnerTexts();
      assert.equal(
        counts.reduce((sum, n) => sum + Number(plain(n)), 0),
        pairs[worst],
      );
      assert.match(await text(page, '#frame-groups'), /Hand/);
      await picture(page, 'wide-light');
    });
  },

  async scrubs() {
    const pairs = expected('figure');
    await open('figure', {}, async (page) => {
      await settled(page);
      const chart = page.locator('#timeline');
      const box = await chart.boundingBox();
      const x = (f) => box.x + 46 + ((f + 0.5) / pairs.length) * (box.width - 58);
      for (const f of [0, 7, 28, 45, 60, 89]) {
        await page.mouse.click(x(f), box.y + 60);
        await settled(page);
        assert.equal(await frame(page), f);
        assert.equal(await text(page, '#now-pairs'), pairs[f] > 0 ? `${pairs[f]} pairs` : 'no contact');
        assert.equal(await page.locator('#frame').inputValue(), String(f + 1));
        assert.equal(await chart.getAttribute('aria-valuenow'), String(f + 1));
      }

      // by dragging, and by typing a number
      await page.mouse.move(x(10), box.y + 60);
      await page.mouse.down();
      await page.mouse.move(x(50), box.y + 60, { steps: 4 });
      await page.mouse.up();
      assert.equal(await frame(page), 50);
      await page.locator('#frame').fill('33');
      await page.keyboard.press('Enter');
      assert.equal(await frame(page), 32);

      // zoomed by the wheel, the same place stays under the pointer
      await page.mouse.move(x(60), box.y + 60);
      await page.mouse.wheel(0, -400);
      await page.mouse.wheel(0, -400);
      await page.waitForTimeout(100);
      await page.mouse.click(x(60), box.y + 60);
      assert.equal(await frame(page), 60);
      await picture(page, 'wide-light-zoomed');
    });
  },

  async 'is red where the contact is, and only there'() {
    const pairs = expected('figure');
    await open('figure', {}, async (page) => {
      for (const f of [worstOf(pairs), 35, 58]) {
        await page.evaluate((to) => window.pinch.actions.goTo(to), f);
        await settled(page);
        assert.ok(pairs[f] > 0);
        const red = await redPixels(page);
        const [x0, y0, x1, y1] = await contactBox(page);
        assert.ok(red.length > 60, `${red.length} red pixels in frame ${f}`);
        for (const [x, y] of red) {
          assert.ok(
            x >= x0 - 2 && x <= x1 + 2 && y >= y0 - 2 && y <= y1 + 2,
            `red at ${x}, ${y} outside of the contact`,
          );
        }
      }

      // framed by the camera it is in the middle, and larger
      const before = (await redPixels(page)).length;
      await page.keyboard.press('f');
      await settled(page);
      const framed = await redPixels(page);
      const stage = await page.locator('#stage').boundingBox();
      const middle = framed.reduce((sum, [x]) => sum + x, 0) / framed.length;
      assert.ok(framed.length > 3 * before);
      assert.ok(Math.abs(middle - stage.width / 2) < 0.2 * stage.width);
      await picture(page, 'wide-light-contact');

      // without contact nothing is red
      await page.evaluate((to) => window.pinch.actions.goTo(to), pairs.indexOf(0));
      await page.keyboard.press('a');
      await settled(page);
      assert.equal((await redPixels(page)).length, 0);
    });
  },

  async 'answers to the keyboard'() {
    const pairs = expected('figure');
    await open('figure', {}, async (page) => {
      await settled(page);
      const worst = worstOf(pairs);
      const at = async (key, f) => {
        await page.keyboard.press(key);
        assert.equal(await frame(page), f, key);
      };
      await at('Home', 0);
      await at('ArrowRight', 1);
      await at('Shift+ArrowRight', 11);
      await at('ArrowLeft', 10);
      await at('End', 89);
      await at('w', worst);
      const starts = pairs.map((n, f) => n > 0 && !(pairs[f - 1] > 0) && f).filter((f) => f !== false);
      await at(
        'n',
        starts.find((f) => f > worst),
      );
      await at('p', worst);

      // plays, and pauses; slowly, so that a busy machine does not come to its end first
      await page.keyboard.press('Home');
      await page.evaluate(() => window.pinch.state.set({ speed: 0.1 }));
      await page.keyboard.press('Space');
      await page.waitForFunction(() => window.pinch.state.get('frame') > 1);
      await page.keyboard.press('Space');
      const paused = await frame(page);
      await page.waitForTimeout(200);
      assert.equal(await frame(page), paused);

      // theme, help, choice of a pair and back
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
      const before = await theme();
      await page.keyboard.press('t');
      assert.notEqual(await theme(), before);
      await page.keyboard.press('?');
      assert.ok(await page.locator('#help').isVisible());
      await page.keyboard.press('Escape');
      assert.ok(!(await page.locator('#help').isVisible()));
      await page.locator('.matrix button').first().focus();
      await page.keyboard.press('Enter');
      assert.ok(await page.locator('#filter').isVisible());
      await page.keyboard.press('Escape');
      assert.ok(!(await page.locator('#filter').isVisible()));

      // every control can be reached with Tab and shows that it is
      const reached = new Set();
      await page.locator('.skip').focus();
      for (let i = 0; i < 60; ++i) {
        await page.keyboard.press('Tab');
        const [id, outlined] = await page.evaluate(() => {
          const element = document.activeElement;
          return [element.id, getComputedStyle(element).outlineStyle !== 'none' || element === document.body];
        });
        assert.ok(outlined, `no focus is seen on ${id}`);
        reached.add(id);
      }
      for (const id of ['view', 'timeline', 'play', 'frame', 'worst', 'to-contact', 'theme', 'copy-frame']) {
        assert.ok(reached.has(id), `${id} is not reached by Tab`);
      }
    });
  },

  async 'names what is under the pointer'() {
    await open('figure', {}, async (page) => {
      await settled(page);
      await page.keyboard.press('f');
      await settled(page);
      const stage = await page.locator('#stage').boundingBox();
      const red = await redPixels(page);
      const [x, y] = red[Math.floor(red.length / 2)];
      await page.mouse.move(stage.x + x, stage.y + y);
      const tip = page.locator('#tip');
      await tip.waitFor({ state: 'visible' });
      const words = await tip.innerText();
      const found =
        /^(Coat|Left arm|Right arm) triangle (\d+)\s+moved by (\w+)\s+meets (Coat|Left arm|Right arm) (\d+)/.exec(
          words,
        );
      assert.ok(found, words);

      // the pair that the words name is one of the frame's pairs
      const known = await page.evaluate(
        ([a, s, b, t]) => {
          const { report, state } = window.pinch;
          const [i, j] = [a, b].map((name) => report.bodies.findIndex((body) => body.name === name));
          const { list } = state.get('shown').pairs;
          for (let k = 0; k < list.length; k += 4) {
            const [p, q] = [`${list[k]},${list[k + 1]}`, `${list[k + 2]},${list[k + 3]}`];
            if ([p, q].includes(`${i},${s}`) && [p, q].includes(`${j},${t}`)) {
              return true;
            }
          }
          return false;
        },
        [found[1], found[2], found[4], found[5]],
      );
      assert.ok(known);

      // a click keeps the words when the pointer leaves
      await page.mouse.click(stage.x + x, stage.y + y);
      await picture(page, 'wide-light-names');
      await page.mouse.move(stage.x + 5, stage.y + stage.height + 40);
      await page.waitForTimeout(100);
      assert.ok(await tip.isVisible());
      await tip.locator('button').click();
      await toasted(page, 'Copied');
    });
  },

  async 'chooses body pairs in the matrix'() {
    await open('figure', { colorScheme: 'dark' }, async (page) => {
      await settled(page);
      const cells = page.locator('.matrix button');
      assert.equal(await cells.count(), 2);
      for (let i = 0; i < 2; ++i) {
        await cells.nth(i).click();
        await settled(page);
        const { worst, at } = await page.evaluate(() => {
          const kind = window.pinch.state.get('kind');
          return { worst: kind.worst, at: kind.frames.includes(window.pinch.state.get('frame')) };
        });
        assert.equal(Number(plain(await cells.nth(i).innerText())), worst);
        assert.ok(at, 'a frame in which the pair meets is shown');
        assert.match(await text(page, '#kind'), new RegExp(`worst\\s+frame \\d+, ${worst} pairs`));
      }
      await page.locator('#copy-matrix').click();
      await toasted(page, 'Copied 2 body pairs');
      await picture(page, 'wide-dark-pair');
    });
  },

  async 'hands out its tables'() {
    const pairs = expected('figure');
    await open('figure', { acceptDownloads: true }, async (page) => {
      const save = async (id) => {
        await page.locator('#save summary').click();
        const [download] = await Promise.all([page.waitForEvent('download'), page.locator(id).click()]);
        await page.keyboard.press('Escape');
        return readFileSync(await download.path(), 'utf8')
          .trimEnd()
          .split('\n');
      };
      const counts = await save('#save-counts');
      assert.equal(counts[0], 'frame,time,a,b,pairs');
      const sums = pairs.map(() => 0);
      for (const line of counts.slice(1)) {
        const [number, time, a, b, n] = line.split(',');
        assert.ok(a !== '' && b !== '' && Math.abs(Number(time) - (number - 1) / 30) < 1e-5);
        sums[number - 1] += Number(n);
      }
      assert.deepEqual(sums, pairs);
      const lines = await save('#save-pairs');
      assert.equal(lines[0], 'frame,a,triangle_a,b,triangle_b');
      assert.equal(
        lines.length - 1,
        pairs.reduce((sum, n) => sum + n, 0),
      );
    });
  },

  async 'fits a phone'() {
    const pairs = expected('figure');
    for (const colorScheme of ['light', 'dark']) {
      await open(
        'figure',
        { viewport: NARROW, deviceScaleFactor: 2, hasTouch: true, isMobile: true, colorScheme },
        async (page) => {
          await settled(page);
          const { scroll, width } = await page.evaluate(() => ({
            scroll: document.scrollingElement.scrollWidth,
            width: innerWidth,
          }));
          assert.ok(scroll <= width, `${scroll} pixels wide on a screen of ${width}`);
          assert.ok((await redPixels(page)).length > 30);

          // view, timeline and buttons are on the first screen, and large enough for a finger
          for (const id of ['#stage', '#timeline', '#play', '#worst']) {
            const box = await page.locator(id).boundingBox();
            assert.ok(box.y + box.height <= NARROW.height + 1 && box.height >= 32, `${id} ${JSON.stringify(box)}`);
          }
          const box = await page.locator('#timeline').boundingBox();
          await page.touchscreen.tap(box.x + 46 + (29.5 / pairs.length) * (box.width - 58), box.y + 60);
          assert.equal(await frame(page), 29);
          const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          const [, red] = /rgb\((\d+)/.exec(ground);
          assert.ok(colorScheme === 'dark' ? red < 60 : red > 200);
          await picture(page, `narrow-${colorScheme}`);
        },
      );
    }
  },

  async 'says when frames were thinned'() {
    await open('thinned', {}, async (page) => {
      const pairs = expected('figure');
      await settled(page);
      assert.match(await text(page, '#warnings'), /positions of \d+ frames out of 90 are stored/);
      const thinned = await page.evaluate(() => window.pinch.report.frames.findIndex((f) => f.positionsSize === 0));
      await page.evaluate((to) => window.pinch.actions.goTo(to), thinned);
      await settled(page);
      assert.match(await text(page, '#now-note'), /interpolated between frames \d+ and \d+/);
      const counts = await page.evaluate(() => window.pinch.report.frames.map((f) => f.total));
      assert.deepEqual(counts, pairs, 'counts are complete');
      await picture(page, 'wide-light-thinned');
    });
  },

  async 'takes no orders from names'() {
    await open('spheres', {}, async (page) => {
      const pairs = expected('spheres');
      await settled(page);
      assert.equal(await page.title(), 'scene.glb · pinch');
      assert.equal(await page.locator('img').count(), 0);
      assert.match(await text(page, '#frame-counts'), /<\/script><img/);
      assert.match(
        await text(page, '#verdict'),
        new RegExp(`${pairs.filter((n) => n > 0).length} of ${pairs.length} frames`),
      );
      await page.keyboard.press('g');
      await settled(page);
      await picture(page, 'wide-light-solid');
    });
  },

  async 'says when nothing intersects, and when there is nothing'() {
    await open('clean', {}, async (page) => {
      await settled(page);
      assert.match(await text(page, '#verdict'), /^No intersections in 12 frames/);
      assert.equal((await redPixels(page)).length, 0);
      assert.ok(await page.locator('#worst').isDisabled());
      await picture(page, 'wide-light-clean');
    });
    await open('empty', {}, async (page) => {
      assert.match(await text(page, '#verdict'), /No frame was scanned/);
    });
  },

  async 'keeps its floor where the lowest foot was'() {
    await open('figure', {}, async (page) => {
      await settled(page);
      const heights = await page.evaluate(() => {
        const { view } = window.pinch;
        const bounds = view.bounds();
        view.floorHeight = undefined;
        return [0.5, 0, 0.25, -1, 0].map((height) => {
          view.bounds = () => ({ ...bounds, low: [height, height, height] });
          view.placeFloor();
          return view.floorHeight;
        });
      });
      assert.deepEqual(heights, [0.5, 0, 0, -1, -1]);
    });
  },

  async 'has room for a crowd'() {
    await open('crowd', {}, async (page) => {
      assert.match(await text(page, '#verdict'), /1 of 3 frames.* frame 1000000000 with 179700 pairs/);
      assert.match(await text(page, '#matrix'), /560 bodies not shown, 560 of them in contact/);
      assert.match(await text(page, '#frame-counts'), /and 179660 more/);
      await picture(page, 'crowd');
    });
  },

  async 'has its numbers without WebGL'() {
    const before = () => {
      const known = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind.startsWith('webgl') ? null : known.call(this, kind, ...rest);
      };
      // three.js reports the missing context as an error, which is what this test makes happen
      console.error = () => {};
    };
    await open('figure', { before }, async (page) => {
      assert.match(await text(page, '#no-view'), /needs WebGL/);
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      assert.equal(await text(page, '#now-pairs'), `${expected('figure')[1]} pairs`);
    });
  },

  async 'says first of all that not all was looked for'() {
    await open('limited', {}, async (page) => {
      await settled(page);
      const [frames, steps] = await page.evaluate(() => window.pinch.report.meta.limited);
      assert.ok(frames > 0 && steps === 0);
      assert.match(
        await text(page, '#verdict'),
        new RegExp(`^Incomplete: in ${frames} frames? not all was looked for\\. `),
      );
      assert.match(await page.locator('body').innerText(), /than --max-pairs lets a scan look for/);
      await picture(page, 'limited');
    });
    await open('between', {}, async (page) => {
      assert.doesNotMatch(await text(page, '#verdict'), /Incomplete/);
    });
  },
};

Object.assign(tests, betweenTests({ open, settled, text, frame, picture, redPixels }));
Object.assign(tests, findingTests({ open, settled, text, frame, picture, NARROW, modules }));

// ---------------------------------------------------------------- run

if (screenshots) {
  mkdirSync(screenshots, { recursive: true });
}
// WebGL in software, so that a machine without a graphics card sees the same
browser = await chromium.launch({
  executablePath: chromiumPath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--enable-unsafe-swiftshader',
    '--disable-background-networking',
    '--disable-component-update',
  ],
});
await run(tests, () => browser.close());
