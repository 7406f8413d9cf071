// player.js: plays the animation at its own speed, from the times of the frames (or the frame rate the scan gave). It
// waits for a frame that is still being decoded; where drawing is slower than the animation, frames are left out.

export class Player {
  constructor(report, state) {
    Object.assign(this, { report, state });
    state.on(['playing'], () => state.get('playing') && this.start());
  }

  /** Seconds from frame f to the next. */
  duration(f) {
    const { frames, meta } = this.report;
    const apart = frames[f + 1].time - frames[f].time;
    return apart > 0 ? apart : 1 / (meta.fps || 30);
  }

  start() {
    const { state, report } = this;
    const [first, last] = report.rangeOf(report.clipOf(state.get('frame')));
    if (state.get('frame') === last) {
      state.set({ frame: first });
    }
    let before = performance.now();
    let due = 0;
    const tick = (now) => {
      if (!state.get('playing')) {
        return;
      }
      due += ((now - before) / 1000) * state.get('speed');
      before = now;
      const f = state.get('frame');
      if (state.get('shown')?.frame !== f) {
        due = 0;
      }
      let next = f;
      while (next < last && due >= this.duration(next)) {
        due -= this.duration(next);
        next += 1;
      }
      state.set(next === last ? { frame: next, playing: false } : { frame: next });
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
}
