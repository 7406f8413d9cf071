// page.js: small help for making the page: elements, numbers, copying, saving.

/** An element: make('td', { class: 'number' }, 'text', child, ...). Text is always text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** An icon from the sheet at the top of the page. */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** 1234567 as "1 234 567" with narrow spaces; they are taken out again when the text is copied. */
export function count(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

/** Where a scan did not look for all: frames, and steps from one to the next. */
export const limitedWhere = ([frames, steps]) =>
  [frames > 0 && `in ${plural(frames, 'frame')}`, steps > 0 && `between ${plural(steps, 'pair')} of frames`]
    .filter(Boolean)
    .join(' and ');

/** A long name with its middle left out: names of one file often differ only at their ends. */
export function short(name, most = 18) {
  return name.length <= most
    ? name
    : `${name.slice(0, Math.ceil(most / 2) - 2)}…${name.slice(1 - Math.floor(most / 2))}`;
}

/** Seconds with as many digits as a frame needs. */
export function seconds(t) {
  const rounded = Math.round(t * 1000) / 1000;
  return t >= 60
    ? `${Math.floor(rounded / 60)}:${(rounded % 60).toFixed(2).padStart(5, '0')}`
    : `${rounded.toFixed(2)} s`;
}

/** A length in scene units, three digits of it. */
export function length(x) {
  const size = Math.abs(x);
  if (size === 0) {
    return '0';
  }
  return size < 1e-4 || size >= 1e6 ? x.toExponential(2) : String(Number(x.toPrecision(3)));
}

/** "Coat" with itself or with another body. */
export function kindName(bodies, kind) {
  return kind.a === kind.b ? `${bodies[kind.a].name}, with itself` : `${bodies[kind.a].name} × ${bodies[kind.b].name}`;
}

let toastTimer = 0;

export function toast(text) {
  const element = byId('toast');
  element.textContent = text;
  element.classList.add('on');
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => element.classList.remove('on'), 1800);
}

/** Puts text on the clipboard. Pages opened from disk may not have the clipboard's interface: then the old way. */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { class: 'skip', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast(`Copied ${what}`);
}

/** Hands the user a file made here. */
export function saveFile(name, parts) {
  const address = URL.createObjectURL(new Blob(parts, { type: 'text/csv' }));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
