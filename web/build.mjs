// build.mjs: page, style and script into one template, for the tool to fill with data.
//
//   node build.mjs FOLDER    FOLDER/node_modules has the packages; writes FOLDER/report_template.html and lab_template.html, and
//                            both as arrays into FOLDER/report_template.c
//
// A template (src: the report of a scan; lab: the page of the laboratory) is its index.html with the style and the bundled script put where its two marks are. The mark for the
// data (<!--PINCH-DATA-->) stays: the writer in cli/report_write.c puts the data there.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? here);
const modules = join(folder, 'node_modules');
const { buildSync } = createRequire(join(modules, 'x.js'))('esbuild');

function bundle(entry) {
  const result = buildSync({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome105', 'firefox113', 'safari16.4'],
    legalComments: 'eof',
    nodePaths: [modules],
    write: false,
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

/** Text that may stand inside a script or style element: nothing in it ends the element or opens a comment. */
function inline(text) {
  return text.replace(/<\/(script|style)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
}

/** A template as a C array, ended by a zero that does not count. */
function embed(name, text) {
  const bytes = Buffer.from(text, 'utf8');
  const lines = [];
  for (let i = 0; i < bytes.length; i += 32) {
    lines.push([...bytes.subarray(i, i + 32)].join(',') + ',');
  }
  return `extern const unsigned char ${name}[];
extern const size_t ${name}Size;
const unsigned char ${name}[${bytes.length + 1}] = {
${lines.join('\n')}
0};
const size_t ${name}Size = ${bytes.length};
`;
}

// three.js asks that its licence stays with it
const licence = readFileSync(join(modules, 'three', 'LICENSE'), 'utf8').trim();

function template(where, style) {
  const script = `/*! The 3D view uses three.js (three on npm):\n\n${licence}\n*/\n${bundle(`${where}/main.js`)}`;
  const page = readFileSync(join(here, where, 'index.html'), 'utf8')
    .replace('/*STYLE*/', () => inline(bundle(`${where}/${style}`)))
    .replace('/*SCRIPT*/', () => inline(script));
  if (page.split('<!--PINCH-DATA-->').length !== 2) {
    throw new Error(`${where}/index.html must have the mark for the data once`);
  }
  return page;
}

const report = template('src', 'style.css'), lab = template('lab', 'lab.css');
writeFileSync(join(folder, 'report_template.html'), report);
writeFileSync(join(folder, 'lab_template.html'), lab);
writeFileSync(join(folder, 'report_template.c'), '#include <stddef.h>\n' + embed('pn_reportTemplate', report) + embed('pn_labTemplate', lab));
