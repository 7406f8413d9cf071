// plot.js: rows of the laboratory into a picture, as the text of an SVG. No page is needed, so that the same code draws docs/.

/** Told apart by people who see few colours (after Okabe and Ito); dashes tell them apart in print. */
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#aa4499', '#8a6d00', '#4b7fa8', '#7a7a7a', '#cc3311', '#117733', '#332288', '#88446a', '#555555', '#999933', '#44aa99'];
const DASHES = ['', '7 4', '2 3', '8 3 2 3', '', '5 3', '1 3', '', '7 4', '2 3', '', '7 4', '', '2 3'];

const text = (value) => String(value).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

export const fits = (pattern, name) =>
  pattern === '*' || pattern === name ||
  (pattern.includes('*') && new RegExp('^' + pattern.split('*').map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*') + '$').test(name));

/** Few digits, as one reads them off an axis. */
export function short(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)} k`;
  return String(+value.toPrecision(size >= 100 ? 4 : 3));
}

/** A scale from values to places, and where its ticks are. */
function scaleOf(values, isLog, from, to) {
  let low = Math.min(...values), high = Math.max(...values);
  const ticks = [];
  if (isLog) {
    low = Math.log10(low), high = Math.log10(high);
    const pad = Math.max(0.05 * (high - low), 0.08);
    low -= pad, high += pad;
    const steps = high - low < 1.3 ? [1, 2, 5] : high - low < 2.5 ? [1, 3] : [1];
    const every = Math.max(1, Math.ceil((high - low) / 6));
    for (let power = Math.floor(low); power <= high; ++power)
      for (const step of steps) {
        const at = power + Math.log10(step);
        if (at >= low && at <= high && (every === 1 || power % every === 0)) ticks.push(10 ** power * step);
      }
  } else {
    low = Math.min(0, low);
    high = high > low ? high * 1.05 : low + 1;
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(+tick.toPrecision(12));
  }
  const place = (v) => from + ((isLog ? Math.log10(v) : v) - low) / (high - low || 1) * (to - from);
  return { place, ticks };
}

function axes(out, frame, sx, sy, plot) {
  const { left, right, top, bottom } = frame;
  for (const tick of sy.ticks) {
    const y = sy.place(tick);
    out.push(`<line class="grid" x1="${left}" x2="${right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/>`);
    out.push(`<text class="tick" x="${left - 6}" y="${(y + 4).toFixed(1)}" text-anchor="end">${short(tick)}</text>`);
  }
  for (const tick of sx?.ticks ?? []) {
    const x = sx.place(tick);
    out.push(`<line class="grid" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${top}" y2="${bottom}"/>`);
    out.push(`<text class="tick" x="${x.toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${short(tick)}</text>`);
  }
  out.push(`<text class="axis" x="${left}" y="${top - 8}">${text(plot.y)}</text>`);
  if (plot.x) out.push(`<text class="axis" x="${right}" y="${bottom + 32}" text-anchor="end">${text(plot.x)}</text>`);
}

/** Names of the methods under the plot, in as many lines as they need. Returns the height. */
function legend(out, series, frame, at, isBars) {
  let x = frame.left, y = at;
  series.forEach((s, i) => {
    const width = 30 + 6.6 * s.name.length;
    if (x + width > frame.right && x > frame.left) x = frame.left, y += 18;
    out.push(isBars
      ? `<rect x="${x}" y="${y - 9}" width="14" height="10" rx="2" fill="${COLORS[i % COLORS.length]}"/>`
      : `<line x1="${x}" x2="${x + 20}" y1="${y - 4}" y2="${y - 4}" stroke="${COLORS[i % COLORS.length]}" stroke-width="2.5" stroke-dasharray="${DASHES[i % DASHES.length]}"/>`);
    out.push(`<text class="name" x="${x + (isBars ? 18 : 24)}" y="${y}">${text(s.name)}</text>`);
    x += width;
  });
  return y - at + 18;
}

/** What a plot draws: one series a method, each a list of {x, y, low, high, scene, wrong}. */
export function seriesOf(plot, rows) {
  const here = rows.filter((r) => r.experiment === plot.experiment && fits(plot.scene, r.scene));
  const value = (scene, method, measure, step = null) =>
    here.find((r) => r.scene === scene && r.method === method && r.measure === measure && r.step === step)?.value;
  const names = plot.methods ?? [...new Set(here.filter((r) => r.measure === plot.measure).map((r) => r.method))].map((m) => [m, m.trim()]);
  return names
    .map(([method, name]) => ({
      name,
      points: here
        .filter((r) => r.method === method && r.measure === plot.measure)
        .map((r) => ({
          x: plot.xMeasure ? value(r.scene, 'truth', plot.xMeasure) : r.step,
          y: r.value,
          scene: r.scene,
          low: plot.low && value(r.scene, method, plot.low),
          high: plot.high && value(r.scene, method, plot.high),
          wrong: value(r.scene, method, 'wrong frames') > 0,
        }))
        .filter((p) => !plot.log?.includes('y') || p.y > 0)
        .sort((a, b) => (a.x ?? 0) - (b.x ?? 0)),
    }))
    .filter((s) => s.points.length > 0);
}

function drawLines(out, plot, series, frame) {
  const points = series.flatMap((s) => s.points);
  const sx = scaleOf(points.map((p) => p.x), plot.log?.includes('x'), frame.left, frame.right);
  const sy = scaleOf(points.map((p) => p.y), plot.log?.includes('y'), frame.bottom, frame.top);
  axes(out, frame, sx, sy, plot);
  series.forEach((s, i) => {
    const color = COLORS[i % COLORS.length];
    const path = s.points.map((p, k) => `${k ? 'L' : 'M'}${sx.place(p.x).toFixed(1)} ${sy.place(p.y).toFixed(1)}`).join('');
    out.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-linejoin="round" stroke-dasharray="${DASHES[i % DASHES.length]}"/>`);
    if (s.points.length < 20) {
      for (const p of s.points)
        out.push(`<circle cx="${sx.place(p.x).toFixed(1)}" cy="${sy.place(p.y).toFixed(1)}" r="3" fill="${color}"><title>${text(s.name)}: ${short(p.y)} at ${short(p.x)}</title></circle>`);
    }
  });
}

function drawBars(out, plot, series, frame) {
  const scenes = [...new Set(series.flatMap((s) => s.points.map((p) => p.scene)))];
  const points = series.flatMap((s) => s.points);
  const isLog = plot.log?.includes('y');
  const sy = scaleOf(points.flatMap((p) => [p.y, p.high ?? p.y, p.low || p.y]), isLog, frame.bottom, frame.top);
  axes(out, frame, null, sy, plot);
  const room = (frame.right - frame.left) / scenes.length, width = Math.min(26, (0.82 * room) / series.length);
  scenes.forEach((scene, k) => {
    const begin = frame.left + room * (k + 0.5) - (width * series.length) / 2;
    series.forEach((s, i) => {
      const p = s.points.find((q) => q.scene === scene);
      if (!p) return;
      const x = begin + i * width, y = sy.place(p.y), mid = (x + width / 2).toFixed(1);
      const title = `${s.name} on ${scene}: ${short(p.y)}${p.high ? `, up to ${short(p.high)}` : ''}${p.wrong ? ', WRONG pairs' : ''}`;
      out.push(`<rect x="${(x + 0.5).toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(1, width - 1).toFixed(1)}" height="${Math.max(0, frame.bottom - y).toFixed(1)}" fill="${COLORS[i % COLORS.length]}"${p.wrong ? ' fill-opacity="0.35"' : ''}><title>${text(title)}</title></rect>`);
      if (p.high) out.push(`<line class="bar" x1="${mid}" x2="${mid}" y1="${sy.place(p.low || p.y).toFixed(1)}" y2="${sy.place(p.high).toFixed(1)}"/>`);
      if (p.wrong) out.push(`<text class="wrong" x="${mid}" y="${(y - 4).toFixed(1)}" text-anchor="middle">✕<title>${text(title)}</title></text>`);
    });
    const label = `<text class="tick" text-anchor="end" transform="translate(${(frame.left + room * (k + 0.5) + 4).toFixed(1)} ${frame.bottom + 12}) rotate(-32)">${text(scene)}</text>`;
    out.push(scenes.length > 1 ? label : `<text class="tick" x="${(frame.left + room / 2).toFixed(1)}" y="${frame.bottom + 16}" text-anchor="middle">${text(scene)}</text>`);
  });
}

const STYLE = `text{font-family:system-ui,sans-serif;fill:#1b1b1f}.tick{font-size:11px;fill:#5e5f68}.axis{font-size:12px;fill:#5e5f68}.name{font-size:12px}.grid{stroke:#1b1b1f;stroke-opacity:.12}.bar{stroke:#1b1b1f;stroke-width:1.4}.wrong{font-size:11px;font-weight:700;fill:#b51f14}`;
const DARK = `text,.name{fill:#edeef2}.tick,.axis{fill:#b2b4be}.grid{stroke:#fff;stroke-opacity:.16}.bar{stroke:#edeef2}.wrong{fill:#ff8a7f}`;

/** The whole picture, or null when there are no rows for it. alone: for a file of its own, with its style. */
export function drawPlot(plot, rows, { width = 640, alone = false } = {}) {
  const series = seriesOf(plot, rows);
  if (series.length === 0) return null;
  const isBars = plot.kind === 'bars';
  const scenes = new Set(series.flatMap((s) => s.points.map((p) => p.scene)));
  const frame = { left: 58, right: width - 14, top: 26, bottom: 290 };
  const out = [];
  if (isBars) drawBars(out, plot, series, frame);
  else drawLines(out, plot, series, frame);
  const below = isBars ? (scenes.size > 1 ? 96 : 34) : 50;
  const height = frame.bottom + below + legend(out, series, frame, frame.bottom + below, isBars);
  const style = alone ? `<style>${STYLE}@media (prefers-color-scheme: dark){${DARK}}</style>` : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${text(plot.title)}">${style}${out.join('')}</svg>`;
}
