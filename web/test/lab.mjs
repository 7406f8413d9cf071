// lab.mjs: the page of the laboratory in a real browser, with the committed rows: every plot is drawn, scenes play, verdicts are
// there, nothing is asked of a network, and axe finds nothing serious, on a phone and a desktop, light and dark.
//
//   node lab.mjs PAGE MODULES [SCREENSHOTS]
//
// Exit status 77: nothing to test with.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { plots } from '../lab/plots.js';

const [path, modules, screenshots] = process.argv.slice(2).map((p) => resolve(p));
const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!chromiumPath || !existsSync(path)) {
  console.log('skipped: the page of the laboratory in a browser, chromium is not installed or this build has no pages');
  process.exit(77);
}
const require = createRequire(join(modules, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
if (screenshots) mkdirSync(screenshots, { recursive: true });

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
for (const [name, viewport] of [['desktop', { width: 1360, height: 900 }], ['phone', { width: 390, height: 844 }]]) {
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
    page.setDefaultTimeout(180000);
    const wrong = [];
    page.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
    page.on('pageerror', (e) => wrong.push(e.stack));
    page.on('request', (r) => /^(file|data|blob):/.test(r.url()) || wrong.push(`asked for ${r.url()}`));
    await page.goto(`file://${path}`);
    await page.waitForSelector('#summary:not(:empty)');
    for (const plot of plots) {
      const marks = await page.locator(`#${plot.id} svg path, #${plot.id} svg rect`).count();
      assert.ok(marks > 0, `plot ${plot.id} is empty: its rows are not among the committed ones`);
    }
    assert.ok((await page.locator('tbody tr').count()) >= 30, 'verdicts are missing');
    assert.match(await page.locator('#summary').textContent(), /\d+ claims better, \d+ claims reproduced/);
    // nothing is wider than the screen but what scrolls by itself
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 1, 'the page scrolls sideways');
    // a scene draws: something else than the background is in its canvas
    const stage = page.locator('#e1-all .stage');
    await stage.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('#e1-all canvas').width > 300 || document.querySelector('#e1-all canvas').height > 150);
    await stage.locator('button').click();
    assert.equal(await stage.locator('button').textContent(), 'pause');
    await stage.locator('button').click();
    await page.addScriptTag({ content: axe });
    const found = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
    const serious = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
    assert.deepEqual(wrong, []);
    if (screenshots) await page.screenshot({ path: join(screenshots, `lab_${name}_${colorScheme}.png`), fullPage: false });
    await page.close();
  }
}
await browser.close();
console.log('the page of the laboratory: every plot, scene and verdict is there');
