// docs.mjs: the plots of the laboratory as pictures for docs/results.md, by the same code that draws the page.
//
//   node docs.mjs ROWS DOCS     rows of ROWS/*.csv; writes DOCS/img/lab/<plot>.svg and DOCS/results.md

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawPlot } from './plot.js';
import { plots } from './plots.js';

const [from, docs] = process.argv.slice(2);
const rows = [], heads = [];

/** A line of the rows; cells with a comma stand in quotes. */
function cells(line) {
  return [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map((m) => m[1] ?? m[2]);
}

for (const name of readdirSync(from).filter((n) => n.endsWith('.csv')).sort()) {
  const head = {};
  for (const line of readFileSync(join(from, name), 'utf8').split('\n')) {
    const said = /^# (\w+): (.*)$/.exec(line);
    if (said) head[said[1]] = said[2];
    if (!line || line.startsWith('#') || line.startsWith('experiment,')) continue;
    const [experiment, scene, method, measure, step, value] = cells(line);
    rows.push({ experiment, scene, method, measure, step: step === '' ? null : +step, value: +value });
  }
  heads.push(head);
}

const groups = {
  Larsson01: 'Bodies that deform freely [Larsson01]', Larsson03: 'Bodies that morph [Larsson03]', Mujika09: 'Characters in rooms [Mujika09]',
  Ganovelli00: 'Soups [Ganovelli00]', Heidelberger03: 'Space that bodies share [Heidelberger03]', Today: 'Beside today’s libraries',
};
mkdirSync(join(docs, 'img', 'lab'), { recursive: true });
const machines = [...new Set(heads.map((h) => h.machine))];
let text = `# Results

Made by \`scripts/quote\` from the rows in [bench/results/lab](../bench/results/lab): do not edit. What the papers claim and what became of
it is in [papers](papers.md); how to take these figures yourself in [bench](bench.md). \`pinch bench show --out bench/results/lab --html
lab.html\` makes a page of them on which the scenes play.

Machine: ${machines.join('; ')}.
`;
for (const [group, title] of Object.entries(groups)) {
  const here = plots.filter((p) => p.group === group).map((p) => [p, drawPlot(p, rows, { width: p.wide ? 1240 : 640, alone: true })]).filter(([, svg]) => svg);
  if (here.length > 0) text += `\n## ${title}\n`;
  for (const [plot, svg] of here) {
    writeFileSync(join(docs, 'img', 'lab', `${plot.id}.svg`), svg + '\n');
    text += `\n### ${plot.title}\n\n![${plot.title}](img/lab/${plot.id}.svg)\n\n${plot.note}\n`;
  }
}
writeFileSync(join(docs, 'results.md'), text);
console.log(`docs.mjs: ${plots.length} plots from ${rows.length} rows`);
