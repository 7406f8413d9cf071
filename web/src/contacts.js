// contacts.js: the pairs of a frame, gathered into contacts. Pairs belong together when they share a triangle or when
// their triangles share a vertex: the left hand in the coat is one contact, the right hand another.

/** Union-find with path halving. */
class Sets {
  constructor() {
    this.parent = [];
  }

  add() {
    return this.parent.push(this.parent.length) - 1;
  }

  find(x) {
    const { parent } = this;
    while (parent[x] !== x) {
      parent[x] = parent[parent[x]];
      x = parent[x];
    }
    return x;
  }

  join(x, y) {
    this.parent[this.find(x)] = this.find(y);
  }
}

/**
 * @param list       a, triangleA, b, triangleB of each pair
 * @param triangles  corners of each body, as sites
 * @returns          [{ pairs, members: [[body, triangle], ...] }], the one with the most pairs first
 */
export function findContacts(list, triangles) {
  const sets = new Sets();
  const nodes = new Map();
  const corners = new Map();
  const members = [];

  // a triangle joins all earlier ones at its corners
  const node = (body, triangle) => {
    const key = body * 0x100000000 + triangle;
    let id = nodes.get(key);
    if (id === undefined) {
      id = sets.add();
      nodes.set(key, id);
      members.push([body, triangle]);
      for (let k = 0; k < 3; ++k) {
        const corner = body * 0x100000000 + triangles[body][3 * triangle + k];
        if (corners.has(corner)) {
          sets.join(id, corners.get(corner));
        } else {
          corners.set(corner, id);
        }
      }
    }
    return id;
  };
  for (let i = 0; i < list.length; i += 4) {
    sets.join(node(list[i], list[i + 1]), node(list[i + 2], list[i + 3]));
  }

  // gather
  const contacts = new Map();
  const contactOf = (id) => {
    const root = sets.find(id);
    if (!contacts.has(root)) {
      contacts.set(root, { pairs: 0, members: [] });
    }
    return contacts.get(root);
  };
  members.forEach((member, id) => contactOf(id).members.push(member));
  for (let i = 0; i < list.length; i += 4) {
    contactOf(nodes.get(list[i] * 0x100000000 + list[i + 1])).pairs += 1;
  }
  return [...contacts.values()].sort((p, q) => q.pairs - p.pairs);
}

/** Middle and radius of a set of triangles. */
export function sphereOf(members, triangles, positions) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const [body, triangle] of members) {
    for (let k = 0; k < 3; ++k) {
      const at = 3 * triangles[body][3 * triangle + k];
      for (let i = 0; i < 3; ++i) {
        low[i] = Math.min(low[i], positions[body][at + i]);
        high[i] = Math.max(high[i], positions[body][at + i]);
      }
    }
  }
  const centre = low.map((x, i) => (x + high[i]) / 2);
  return { centre, radius: Math.hypot(...low.map((x, i) => high[i] - x)) / 2 };
}
