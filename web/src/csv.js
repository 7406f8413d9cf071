// csv.js: the numbers as tables, with the same columns as --csv and --pairs of `pinch scan`.

const quote = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const seconds = (time) => String(Math.round(time * 1e6) / 1e6);

/** frame,time,a,b,pairs: one line for every frame and pair of bodies that meet. */
export function countsCsv(report) {
  const names = report.bodies.map((body) => quote(body.name));
  const lines = ['frame,time,a,b,pairs'];
  for (const frame of report.frames) {
    for (const { a, b, pairs } of frame.counts) {
      lines.push(`${frame.number},${seconds(frame.time)},${names[a]},${names[b]},${pairs}`);
    }
  }
  return lines.join('\n') + '\n';
}

/** The lines of one frame's pair list. */
export function pairLines(report, number, list, separator = ',') {
  const names = report.bodies.map((body) => (separator === ',' ? quote(body.name) : body.name));
  const lines = [];
  for (let i = 0; i < list.length; i += 4) {
    lines.push([number, names[list[i]], list[i + 1], names[list[i + 2]], list[i + 3]].join(separator));
  }
  return lines;
}

/** frame,a,triangle_a,b,triangle_b of all frames whose list is stored, as parts of a file. */
export async function pairsCsv(report) {
  const parts = ['frame,a,triangle_a,b,triangle_b\n'];
  for (let f = 0; f < report.frames.length; ++f) {
    if (report.frames[f].pairsSize > 0) {
      const { list } = await report.pairs(f);
      parts.push(pairLines(report, report.frames[f].number, list).join('\n') + '\n');
    }
  }
  return parts;
}
