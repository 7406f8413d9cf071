// keys.js: the keyboard, and the list of keys in the help.

/** What the keys do: shown keys, words, and the function of each key. */
function table(actions) {
  return [
    [['←', '→'], 'one frame', { ArrowLeft: () => actions.step(-1), ArrowRight: () => actions.step(1) }],
    [
      ['⇧ ←', '⇧ →'],
      'ten frames',
      {
        'shift ArrowLeft': () => actions.step(-10),
        'shift ArrowRight': () => actions.step(10),
        PageDown: () => actions.step(-10),
        PageUp: () => actions.step(10),
      },
    ],
    [['Home', 'End'], 'first and last frame', { Home: actions.first, End: actions.last }],
    [['Space'], 'play and pause', { ' ': actions.play }],
    [['W'], 'worst frame, or the deepest of a finding', { w: actions.worst }],
    [['P', 'N'], 'previous and next contact', { p: () => actions.contact(-1), n: () => actions.contact(1) }],
    [['F'], 'frame the contact; again for the next one', { f: actions.frameContact }],
    [['A'], 'frame everything', { a: actions.frameWhole }],
    [['J', 'K'], 'next and previous finding', { j: () => actions.nextFinding(1), k: () => actions.nextFinding(-1) }],
    [['H'], 'hold the camera, or let it follow the finding', { h: actions.follow }],
    [['G'], 'ghosted or solid', { g: actions.solid }],
    [[',', '.'], 'turn the view', { ',': () => actions.turn(-0.18, 0, 1), '.': () => actions.turn(0.18, 0, 1) }],
    [
      ['↑', '↓'],
      'tilt the view, once it is chosen with Tab or a click',
      { ArrowUp: () => actions.turn(0, 0.12, 1), ArrowDown: () => actions.turn(0, -0.12, 1) },
    ],
    [['Z', 'X'], 'nearer and farther', { z: () => actions.turn(0, 0, 0.85), x: () => actions.turn(0, 0, 1 / 0.85) }],
    [
      ['+', '−', '0'],
      'zoom the timeline',
      { '+': () => actions.zoom(0.5), '=': () => actions.zoom(0.5), '-': () => actions.zoom(2), 0: actions.fit },
    ],
    [['T'], 'light or dark', { t: actions.theme }],
    [['Esc'], 'show everything again', { Escape: actions.escape }],
    [['?'], 'this list', { '?': actions.help }],
  ];
}

export function listenToKeys(actions, list) {
  const does = {};
  for (const [keys, words, functions] of table(actions)) {
    Object.assign(does, functions);
    const term = document.createElement('dt');
    term.append(...keys.map((key) => Object.assign(document.createElement('kbd'), { textContent: key })));
    const meaning = Object.assign(document.createElement('dd'), { textContent: words });
    list.append(term, meaning);
  }

  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) {
      return;
    }
    // fields keep their keys; buttons keep space and enter; a scrolled panel keeps up and down; a slider steps with
    // them
    const name = key.length === 1 ? key.toLowerCase() : key;
    const upDown = key === 'ArrowUp' || key === 'ArrowDown';
    if (target.closest('input, textarea, select') || (target.closest('button, summary') && (key === ' ' || key === 'Enter'))) {
      return;
    }
    if (upDown && target.closest('#timeline')) {
      event.preventDefault();
      actions.step(key === 'ArrowUp' ? 1 : -1);
      return;
    }
    if (upDown && !target.closest('#view')) {
      return;
    }
    const action = (event.shiftKey && does[`shift ${name}`]) || does[name];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}
