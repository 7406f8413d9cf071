// plots.js: which plots the laboratory shows. One list for the page and for docs/results.md; a plot whose rows are missing is
// left out. `lines`: value over step; `bars`: a bar a method and scene. methods: [name in the rows, name on the plot]; null: all.

export const plots = [
  {
    id: 'e1-all', group: 'Larsson01', title: 'All pairs, step by step', kind: 'lines', experiment: 'e1', scene: 's1-20480',
    measure: 'all ms by step', x: 'step', y: 'ms', log: 'y', play: 's1-1280',
    methods: [['paper top-down', 'top-down, paper'], ['paper bottom-up', 'bottom-up, paper'], ['paper hybrid', 'hybrid, paper'],
      ['paper Bergen 2', 'van den Bergen, paper'], ['our hybrid', 'hybrid, pinch'], ['our Bergen 2', 'van den Bergen, pinch']],
    note: 'Two bumpy spheres of 20 480 triangles sink into each other: figure 3a of the paper. “Paper” is the paper’s form of tree, one triangle a leaf.',
  },
  {
    id: 'e1-first', group: 'Larsson01', title: 'A first pair, step by step', kind: 'lines', experiment: 'e1', scene: 's1-20480',
    measure: 'first ms by step', x: 'step', y: 'ms', log: 'y',
    methods: [['paper top-down', 'top-down, paper'], ['paper bottom-up', 'bottom-up, paper'], ['paper hybrid', 'hybrid, paper'],
      ['paper Bergen 2', 'van den Bergen, paper'], ['our hybrid', 'hybrid, pinch'], ['our Bergen 2', 'van den Bergen, pinch']],
    note: 'Figure 3b.',
  },
  {
    id: 'e2', group: 'Larsson01', title: 'Growth at the worst contact', kind: 'lines', experiment: 'e2', scene: 's1',
    measure: 'worst contact ms', x: 'triangles of each body', y: 'ms', log: 'xy',
    methods: [['the paper', 'the paper’s machine'], ['paper hybrid', 'hybrid, paper'], ['our hybrid', 'hybrid, pinch'], ['our Bergen 2', 'van den Bergen, pinch'], ['textbook', 'textbook tree']],
    note: 'Table 1: the slope is the exponent of growth.',
  },
  {
    id: 'e3', group: 'Larsson01', title: 'Twenty-seven bodies', kind: 'bars', experiment: 'e3', scene: '*', measure: 'all ms', y: 'ms',
    methods: [['paper hybrid', 'hybrid, paper'], ['paper Bergen 2', 'van den Bergen, paper'], ['our hybrid', 'hybrid, pinch'], ['our Bergen 2', 'van den Bergen, pinch'], ['textbook', 'textbook tree']],
    play: 's2-320', note: 'Figure 4: spheres, and bodies with arms.',
  },
  {
    id: 'e4', group: 'Larsson03', title: 'Two bodies of three references', kind: 'lines', experiment: 'e4', scene: '*',
    measure: 'all ms by step', x: 'step', y: 'ms', log: 'y', play: 'e4-1280',
    methods: [['blended', 'blended, pinch'], ['hybrid of weights', 'hybrid, pinch'], ['paper morph', 'blended, paper'], ['paper hybrid', 'hybrid, paper']],
    note: 'Figure 5: volumes blended by the weights beside updating from all vertices.',
  },
  {
    id: 'e5', group: 'Larsson03', title: 'Twelve dolphins', kind: 'bars', experiment: 'e5', scene: '*', measure: 'first ms', y: 'ms, first pair', log: 'y', play: 'e5-564',
    methods: [['blended', 'blended, pinch'], ['hybrid of weights', 'hybrid, pinch'], ['paper morph', 'blended, paper'], ['paper hybrid', 'hybrid, paper']],
    note: 'Figure 8, right.',
  },
  {
    id: 'e6', group: 'Mujika09', title: 'Museum: operations of the worst frame', kind: 'bars', experiment: 'e6', scene: '*', measure: 'operations', y: 'operations', log: 'y',
    methods: null, note: 'Table 2, each technique alone and together.',
  },
  {
    id: 'e6-side', group: 'Mujika09', title: 'Museum: how small should pieces be?', kind: 'lines', experiment: 'e6', scene: '*', measure: 'operations by part of the room',
    x: 'side of a piece: room divided by', y: 'operations', log: 'xy', methods: null, note: 'Division alone, corners alone, and corners with planes, by the length of the pieces’ sides. Corners alone do not prune: the paper’s gain is the plane test.',
  },
  {
    id: 'e7', group: 'Mujika09', title: 'Living-room: operations of the worst frame', kind: 'bars', experiment: 'e7', scene: '*', measure: 'operations', y: 'operations', log: 'y',
    methods: null, note: 'Table 3.',
  },
  {
    id: 'e8', group: 'Ganovelli00', title: 'Updating 15 000 primitives', kind: 'lines', experiment: 'e8', scene: 'soup-15000',
    measure: 'update ms by angle', x: 'angle of incoherence', y: 'ms', log: 'y', methods: null, note: 'Figure 3: 0 degrees is rigid motion, 180 no coherence.',
  },
  {
    id: 'e9', group: 'Ganovelli00', title: 'Levels of the octree', kind: 'lines', experiment: 'e9', scene: 'soup-15000',
    measure: 'update ms by levels', x: 'levels', y: 'ms', log: 'y', methods: null, note: 'Figure 4.',
  },
  {
    id: 'e10', group: 'Ganovelli00', title: 'Box tests for each pair of buckets', kind: 'lines', experiment: 'e10', scene: 'soup-15000',
    measure: 'box tests a pair by levels', x: 'levels', y: 'tests', log: 'y', methods: null, note: 'Table 1 asks for the time; the number of tests says why.',
  },
  {
    id: 'e11', group: 'Heidelberger03', title: 'Making images of the shared space', kind: 'bars', experiment: 'e11', scene: '*', measure: 'image ms', y: 'ms', log: 'y',
    methods: [['software', 'software, pinch'], ['two threads', 'two threads'], ['OpenGL', 'OpenGL'], ['the paper', 'the paper’s machine']], note: 'Table 1.',
  },
  {
    id: 'e12', group: 'Heidelberger03', title: '100 000 points', kind: 'bars', experiment: 'e12', scene: '*', measure: 'points ms', y: 'ms', log: 'y',
    methods: [['software', 'pinch'], ['embree', 'Embree, rays'], ['the paper', 'the paper’s machine']], note: 'Table 2, stage 3.',
  },
  {
    id: 'world', group: 'Today', title: 'The default world beside Embree', kind: 'bars', experiment: 'world', scene: '*', measure: 'median ms', high: 'worst ms', y: 'ms', log: 'y', wide: true, play: 's4-1250',
    methods: [['pinch:default', 'pinch'], ['embree', 'Embree, refit'], ['embree:rebuild', 'Embree, rebuilt'], ['embree:joined', 'Embree, one scene']],
    note: 'Median of the frames; the thin line goes up to the worst one. What is marked wrong had other pairs than exact arithmetic.',
  },
  {
    id: 'growth', group: 'Today', title: 'Growth with the number of triangles', kind: 'lines', experiment: 'growth', scene: '*', measure: 'all ms', x: 'triangles', xMeasure: 'triangles', y: 'ms', log: 'xy',
    methods: [['pinch', 'pinch'], ['embree', 'Embree'], ['fcl:aabb', 'FCL'], ['textbook', 'textbook tree']], note: 'Two spheres, all pairs.',
  },
  {
    id: 'libraries', group: 'Today', title: 'Every library', kind: 'bars', experiment: 'libraries', scene: '*', measure: 'all ms', low: 'all ms, a quarter of the frames below', high: 'all ms, three quarters below', y: 'ms', log: 'y', wide: true,
    methods: null, note: 'Medians over frames; the thin line spans the middle half of the frames.',
  },
  {
    id: 'broad', group: 'Today', title: 'Many bodies', kind: 'lines', experiment: 'broad', scene: 'bodies', measure: 'ms by bodies', x: 'bodies', y: 'ms', log: 'xy', methods: null, play: 'bodies-100', note: 'Finding pairs of boxes.',
  },
];
