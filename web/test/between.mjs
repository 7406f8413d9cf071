// between.mjs: moments between two frames in the page, of a real scan: our own character, every 15th frame (--between).

import assert from 'node:assert/strict';

const chosen = (page) => page.evaluate(() => window.pinch.state.get('finding')?.name ?? null);

export function betweenTests({ open, settled, text, frame, picture, redPixels }) {
  return {
    async 'shows a moment between two frames'() {
      await open('between', {}, async (page) => {
        await settled(page);
        const unseen = await page.evaluate(() =>
          window.pinch.report.findings.flatMap((finding, i) => (finding.unseen ? [{ ...finding, i }] : [])),
        );
        assert.ok(unseen.length >= 3, 'fingers pass through the coat between frames');
        const { frames, moments, number } = await page.evaluate(() => {
          const { report } = window.pinch;
          return { frames: report.frameCount, moments: report.meta.moments, number: report.frames.map((f) => f.number) };
        });
        // every 15th of 361 frames; moments stand where their numbers say
        assert.equal(frames, 25);
        assert.ok(moments.length >= unseen.length);
        assert.equal(number.length, frames + moments.length);
        assert.ok(number.every((n, f) => f === 0 || n > number[f - 1]));
        assert.match(await text(page, '#tiles'), /of 25 frames/);

        // choosing one goes to its moment: words, address, pairs, and red where it is
        const [finding] = unseen;
        await page.locator('#findings .finding').nth(finding.i).click();
        await settled(page);
        assert.equal(await chosen(page), finding.name);
        assert.equal(await frame(page), finding.deepestIndex);
        assert.ok(!Number.isInteger(finding.deepest));
        assert.equal(await text(page, '#now-frame'), String(finding.deepest));
        assert.match(await text(page, '#now-note'), /a moment between two frames/);
        assert.match(await text(page, '#frame-title'), new RegExp(`^Between frames, at ${finding.deepest}`));
        assert.match(await text(page, '#frame-counts'), /unseen: between two frames, and in neither/);
        assert.match(await page.locator('#findings .finding').nth(finding.i).innerText(), /unseen/);
        assert.match(page.url(), new RegExp(`frame=${finding.deepest}`));
        const pairs = await page.evaluate(() => window.pinch.state.get('shown').pairs.list.length / 4);
        assert.ok(pairs > 0);
        assert.ok((await redPixels(page)).length > 20);
        await picture(page, 'between');

        // the frames around it show nothing of it
        for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowRight']) {
          await page.keyboard.press(key);
          await settled(page);
          const here = await page.evaluate(() => {
            const { state, report } = window.pinch;
            return { f: state.get('frame'), depth: report.depthAt(state.get('finding'), state.get('frame')) };
          });
          assert.equal(here.depth > 0, here.f === finding.deepestIndex);
        }

        // the address opens there again
        const address = `${page.url().replace(/#.*/, '')}#frame=${finding.deepest}&finding=${finding.name}`;
        await page.goto('about:blank');
        await page.goto(address);
        await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
        await settled(page);
        assert.equal(await frame(page), finding.deepestIndex);
      });
    },

    async 'finds unseen ones by their word'() {
      await open('between', {}, async (page) => {
        await settled(page);
        const wanted = await page.evaluate(() => window.pinch.report.findings.filter(({ unseen }) => unseen).length);
        await page.locator('#search').fill('unseen');
        assert.equal(await page.locator('#findings .finding').count(), wanted);
      });
    },
  };
}
