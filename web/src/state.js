// state.js: what the page is showing, in one place. Everything on the page listens here and changes it only here.

export class State {
  constructor(values) {
    this.values = values;
    this.listeners = [];
  }

  get(name) {
    return this.values[name];
  }

  /** Calls back when one of the names changes, and once now. */
  on(names, callback) {
    this.listeners.push({ names, callback });
    callback();
  }

  /** Sets some values; each listener that knows one of those that really changed is called once. */
  set(changes) {
    const changed = Object.keys(changes).filter((name) => this.values[name] !== changes[name]);
    if (changed.length === 0) {
      return;
    }
    Object.assign(this.values, changes);
    for (const { names, callback } of this.listeners) {
      if (names.some((name) => changed.includes(name))) {
        callback();
      }
    }
  }
}
