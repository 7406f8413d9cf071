// findings.mjs: the findings of a real scan in the page: our own character, both animations, as `pinch scan` writes it.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const chosen = (page) => page.evaluate(() => window.pinch.state.get('finding')?.name ?? null);

/** Is the middle of the chosen pairs on the stage, and not under the words on it? */
const contactIsSeen = (page) =>
  page.evaluate(() => {
    const { view } = window.pinch;
    const { centre } = view.findingPlace();
    const place = view.camera.position.clone().fromArray(centre).project(view.camera);
    const stage = document.getElementById('stage').getBoundingClientRect();
    const [x, y] = [stage.left + ((place.x + 1) / 2) * stage.width, stage.top + ((1 - place.y) / 2) * stage.height];
    const under = document.elementFromPoint(x, y);
    return place.z < 1 && (under?.id === 'view' || under?.closest('#marks') !== null);
  });

export function findingTests({ open, settled, text, frame, picture, NARROW, modules }) {
  const axe = createRequire(join(modules, 'x.js')).resolve('axe-core/axe.min.js');

  /** Serious faults that axe finds on the page as it is now. */
  const faults = async (page) => {
    await page.addScriptTag({ path: axe });
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  };

  return {
    async 'leads with findings'() {
      await open('findings', {}, async (page) => {
        await settled(page);
        const findings = await page.evaluate(() => window.pinch.report.findings.map(({ name, kind }) => ({ name, kind })));
        const fresh = findings.filter(({ kind }) => kind !== 'constant');
        assert.ok(fresh.length >= 5);
        assert.match(await text(page, '#verdict'), new RegExp(`^${fresh.length} findings, deepest 0\\.\\d+ \\(body and coat`));
        assert.equal(await page.locator('#findings .finding').count(), fresh.length);
        const deepest = await page.evaluate(() => window.pinch.report.findings[0].deepestIndex);
        assert.equal(await frame(page), deepest, 'opens at the deepest');

        // said as it is, for what is listed
        assert.match(await text(page, '#findings-order'), /deepest first/);

        // searching and the switch
        await page.locator('#search').fill('fingers.R');
        assert.ok((await page.locator('#findings .finding').count()) < fresh.length);
        assert.match(await page.locator('#findings').innerText(), /fingers\.R/);
        await page.locator('#search').fill('no such joint');
        assert.match(await text(page, '#findings-note'), /Nothing has these words/);
        await page.locator('#search').fill('');
        await page.locator('#show button', { hasText: 'All' }).click();
        assert.equal(await page.locator('#findings .finding').count(), findings.length);
      });
    },

    async 'a chosen finding filters everything'() {
      await open('findings', {}, async (page) => {
        await settled(page);
        // nothing is chosen yet: the words over the view say whose depth it is
        const whose = await page.evaluate(() => {
          const { state, report } = window.pinch;
          const here = report.findings.map((one) => (one.kind === 'constant' ? 0 : report.depthAt(one, state.get('frame'))));
          const one = report.findings[here.indexOf(Math.max(...here))];
          return [one.a, one.b].map((b) => report.bodies[b].name);
        });
        for (const name of whose) {
          assert.ok((await text(page, '#now-note')).includes(name));
        }
        await page.locator('#findings .finding').nth(1).click();
        await settled(page);
        const facts = await page.evaluate(() => {
          const { state, report, view } = window.pinch;
          const finding = state.get('finding');
          return {
            frame: state.get('frame') === finding.deepestIndex,
            pairs: view.chosen.list.length / 4,
            all: state.get('shown').pairs.list.length / 4,
            curve: view.curvePieces.length,
            arrow: view.arrow.visible,
            bodies: [finding.a, finding.b].map((b) => report.bodies[b].name),
          };
        });
        assert.ok(facts.frame && facts.arrow && facts.curve > 0);
        assert.ok(facts.pairs > 0 && facts.pairs <= facts.all);
        assert.match(await text(page, '#now-pairs'), /^depth 0\.\d+/);
        assert.match(await text(page, '#frame-counts'), /depth here.*deepest.*between/s);
        assert.match(await text(page, '#filter'), new RegExp(facts.bodies.join(' × ')));
        assert.match(await text(page, '#tiles'), /from its first to its last.*its deepest frame.*deep there/s);
        assert.ok(await contactIsSeen(page));
        await picture(page, 'finding'); // README's picture of the report

        // the camera goes along, unless it is held
        const target = () => page.evaluate(() => window.pinch.view.controls.target.toArray());
        const before = await target();
        for (let i = 0; i < 4; ++i) {
          await page.keyboard.press('ArrowRight');
        }
        await settled(page);
        assert.ok(await contactIsSeen(page));
        const after = await target();
        assert.notDeepEqual(after, before);
        await page.keyboard.press('h');
        await page.keyboard.press('ArrowLeft');
        await settled(page);
        assert.deepEqual(await target(), after);

        // the address follows, and leads back here
        const name = await chosen(page);
        const hash = await page.evaluate(() => location.hash);
        assert.match(hash, new RegExp(`frame=\\d+&finding=${name}`));
        await page.keyboard.press('Escape');
        assert.equal(await chosen(page), null);
        await page.evaluate((to) => (location.hash = to), hash);
        await page.waitForFunction((wanted) => window.pinch.state.get('finding')?.name === wanted, name);
      });
    },

    async 'lanes choose, one animation at a time, space plays after a click'() {
      await open('findings', {}, async (page) => {
        await settled(page);
        const lanes = await page.evaluate(() => document.getElementById('timeline').style.getPropertyValue('--lanes'));
        assert.match(lanes, /^[1-9]\d*px$/);
        const box = await page.locator('#timeline').boundingBox();
        await page.mouse.click(box.x + box.width / 2, box.y + 12 + 18 + 4);
        assert.equal(
          await chosen(page),
          await page.evaluate(() => window.pinch.report.findings[1].name),
          'the second lane is the second finding',
        );

        // another animation: its frames alone
        await page.locator('#clip').selectOption({ index: 2 });
        await settled(page);
        const range = await page.evaluate(() => window.pinch.report.rangeOf(1));
        assert.ok((await frame(page)) >= range[0]);
        await page.keyboard.press('Escape');
        await page.locator('#timeline').focus();
        await page.keyboard.press('Home');
        assert.equal(await frame(page), range[0]);
        await page.keyboard.press('ArrowLeft');
        assert.equal(await frame(page), range[0], 'does not step into the animation before');

        // a click on a button leaves the keys to the page
        await page.locator('#solid').click();
        await page.keyboard.press(' ');
        assert.equal(await page.evaluate(() => window.pinch.state.get('playing')), true);
        await page.keyboard.press(' ');
        assert.equal(await page.evaluate(() => window.pinch.state.get('playing')), false);
      });
    },

    async 'on a phone a chosen finding is seen, its bodies are named first, and no button is cut off'() {
      await open('findings', { viewport: NARROW }, async (page) => {
        await settled(page);
        await page.locator('#findings .finding').nth(2).scrollIntoViewIfNeeded();
        await page.locator('#findings .finding').nth(2).click();
        await settled(page);
        const facts = await page.evaluate(() => {
          const box = (element) => element.getBoundingClientRect();
          const { state, report } = window.pinch;
          const { a, b } = state.get('finding');
          const named = [...document.querySelectorAll('#legend button')].sort((p, q) => box(p).top - box(q).top || box(p).left - box(q).left);
          return {
            top: box(document.getElementById('stage')).top,
            right: Math.max(...[...document.querySelectorAll('.stage-head .button')].map((button) => box(button).right)),
            first: named.slice(0, a === b ? 1 : 2).map((button) => button.textContent).sort(),
            bodies: [...new Set([a, b])].map((body) => report.bodies[body].name).sort(),
          };
        });
        assert.ok(facts.top >= -1 && facts.top < NARROW.height / 2, 'the view is on the screen');
        assert.ok(facts.right <= NARROW.width);
        assert.deepEqual(facts.first, facts.bodies);
        assert.ok(await contactIsSeen(page));
      });
    },

    async 'axe finds nothing serious, wide and narrow, light and dark'() {
      for (const [name, options] of [
        ['wide light', {}],
        ['wide dark', { colorScheme: 'dark' }],
        ['narrow light', { viewport: NARROW }],
        ['narrow dark', { viewport: NARROW, colorScheme: 'dark' }],
      ]) {
        await open('findings', { ...options, bypassCSP: true }, async (page) => {
          await settled(page);
          assert.deepEqual(await faults(page), [], name);
          await page.locator('#findings .finding').first().click();
          await settled(page);
          assert.deepEqual(await faults(page), [], `${name}, a finding chosen`);
          await picture(page, `findings-${name.replace(' ', '-')}`);
        });
      }
    },
  };
}
