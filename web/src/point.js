// point.js: names under the pointer. Pointing at a triangle shows its body, number, joint and what it meets; a click
// keeps the words, so that they can be selected and copied.

import { Vector3 } from 'three';
import { copyText, icon, make } from './page.js';
import { pickTriangle } from './pick.js';

const MOST_PARTNERS = 6;

export class Pointer {
  constructor(report, state, view, { stage, canvas, tip }) {
    Object.assign(this, { report, state, view, stage, canvas, tip });
    this.kept = false;
    let down = null;
    canvas.addEventListener('pointermove', (event) => this.ask(event));
    canvas.addEventListener('pointerleave', () => this.kept || this.hide());
    canvas.addEventListener('pointerdown', (event) => (down = [event.clientX, event.clientY]));
    canvas.addEventListener('pointerup', (event) => {
      // a click, not a drag
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 5) {
        this.show(event, true);
      }
      down = null;
    });
    state.on(['shown', 'kind', 'finding'], () => this.hide());
  }

  ask(event) {
    if (event.buttons !== 0 || this.kept || this.state.get('playing') || event.pointerType === 'touch') {
      return;
    }
    this.wish = event;
    if (!this.pending) {
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        // a click may have come in between
        if (!this.kept) {
          this.show(this.wish, false);
        }
      });
    }
  }

  hide() {
    this.kept = false;
    this.tip.hidden = true;
    this.tip.classList.remove('kept');
    if (this.view.pose) {
      this.view.outlineTriangles([]);
    }
  }

  /** The triangle at a place of the window: red ones first when bodies are ghosts, since one sees through to them. */
  pick(event) {
    const { camera, pose, redOf } = this.view;
    if (!pose) {
      return null;
    }
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const origin = camera.position.toArray();
    const direction = new Vector3(x, y, 0.5).unproject(camera).sub(camera.position).normalize().toArray();
    const hidden = this.state.get('hidden');
    const nearest = (only) => {
      let best = null;
      pose.positions.forEach((positions, b) => {
        const list = only ? [...redOf[b]] : null;
        const hit = hidden.has(b)
          ? null
          : pickTriangle(origin, direction, positions, this.report.topology[b].triangles, list);
        if (hit && (!best || hit.distance < best.distance)) {
          best = { body: b, ...hit };
        }
      });
      return best;
    };
    return (this.state.get('solid') ? null : nearest(true)) ?? nearest(false);
  }

  show(event, keep) {
    const hit = this.pick(event);
    if (!hit) {
      this.hide();
      return;
    }
    const partners = this.partnersOf(hit.body, hit.triangle);
    this.kept = keep;
    this.tip.classList.toggle('kept', keep);
    this.tip.replaceChildren(...this.describe(hit, partners, keep));
    this.tip.hidden = false;
    this.view.outlineTriangles([[hit.body, hit.triangle], ...partners]);

    // beside the pointer, inside the stage
    const box = this.stage.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left + 14, event.clientY - box.top + 14];
    const left = Math.max(Math.min(x, box.width - this.tip.offsetWidth - 8), 8);
    const top = Math.max(Math.min(y, box.height - this.tip.offsetHeight - 8), 8);
    this.tip.style.transform = `translate(${left}px, ${top}px)`;
  }

  partnersOf(body, triangle) {
    const { list } = this.view.chosen;
    const partners = [];
    for (let i = 0; i < list.length; i += 4) {
      if (list[i] === body && list[i + 1] === triangle) {
        partners.push([list[i + 2], list[i + 3]]);
      } else if (list[i + 2] === body && list[i + 3] === triangle) {
        partners.push([list[i], list[i + 1]]);
      }
    }
    return partners;
  }

  describe({ body, triangle }, partners, keep) {
    const { bodies } = this.report;
    const group = this.report.groupOf(body, triangle);
    const text = [`${bodies[body].name} triangle ${triangle}`];
    const head = make(
      'div',
      { class: 'tip-head' },
      make('span', {}, make('b', {}, bodies[body].name), ` triangle ${triangle}`),
    );
    const lines = [head];
    if (group !== null) {
      lines.push(make('div', { class: 'soft' }, `moved by ${group}`));
      text.push(`moved by ${group}`);
    }

    // what it meets, body by body
    const met = new Map();
    partners.forEach(([b, t]) => met.set(b, [...(met.get(b) ?? []), t]));
    for (const [b, triangles] of met) {
      const some = triangles.slice(0, MOST_PARTNERS).join(', ');
      const more = triangles.length > MOST_PARTNERS ? ` and ${triangles.length - MOST_PARTNERS} more` : '';
      lines.push(make('div', { class: 'red' }, `meets ${bodies[b].name} ${some}${more}`));
      text.push(`meets ${bodies[b].name} ${triangles.join(', ')}`);
    }
    if (keep) {
      const copy = () => copyText(text.join('\n'), 'the names');
      head.append(
        make(
          'button',
          { type: 'button', class: 'icon', 'aria-label': 'Copy these names', onclick: copy },
          icon('copy'),
        ),
      );
    }
    return lines;
  }
}
