/* calm_make.c: which pairs of nodes are near each other at rest, and by how much each target brings them together. See calm.h.
 *
 * From the root's pair with itself down: a pair of inner nodes gets the most of its children's pairs, a pair of leaves the
 * most of its pairs of triangles (calm_bound.c). Children that are far from each other at rest get no pair of their own,
 * since traversals seldom ask for them, but count for their parents: two boxes that are `d` apart and whose deltas
 * differ by at most D are brought together by at most D / d, and where that is more than what is known already, parts of them are
 * looked at. */
#include "collide/calm.h"
#include "collide/filter.h"
#include "tree/blend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Nodes with a gap below this part of the smaller one's size are near. */
#define NEAR 0.25

/* Everything is rounded up by this much. */
#define UPWARD 1.000001

static void keepMost(pnStretch *most, pnStretch other) {
  most->down = fmax(most->down, other.down);
  most->up = fmax(most->up, other.up);
}

/* What was just computed, rounded up. */
static void keepNew(pnStretch *most, pnStretch other) {
  keepMost(most, (pnStretch){other.down * UPWARD, other.up * UPWARD});
}

typedef struct Box {
  double lo[3], hi[3];
} Box;

/* How much a target brings a pair together, down and up: the upper halves of the floats, rounded up. */
typedef struct Term {
  uint16_t target;
  uint16_t toward[2];
} Term;

/* A pair while pairs are made. */
typedef struct Pair {
  pnCalmPair kept;
  uint32_t termFirst; /* up to the next pair's */
  float noise;        /* K */
} Pair;

/* Scratch of one creation. */
typedef struct Maker {
  pnTree *tree;
  const pnMorph *morph;
  const pnBlend *blend;
  float *base;               /* vertices at rest */
  Box *boxes;                /* of nodes, at rest */
  pnCalmTriangle *triangles; /* by slot */
  pnStretch *most;           /* by target: of the pairs being made, one row for each depth */
  uint32_t depth, depthCount;
  bool *seam; /* by vertex: it is welded to one that moves otherwise */
  PN_ARRAY(Pair) pairs;
  PN_ARRAY(uint32_t) children;
  PN_ARRAY(Term) terms;
  PN_ARRAY(pnCalmBlock) blocks;
  PN_ARRAY(pnCalmRow) rows;
  uint32_t *rowOf; /* by target: its row in the block being made, when that is not before the block's first */
  bool ok;
} Maker;

/* ---------------------------------------------------------------- far nodes */

/* Where the deltas of a target in a node are: lo and hi along each axis; false when it does not move there. */
static bool deltasOf(const Maker *m, uint32_t node, uint32_t target, double lo[3], double hi[3]) {
  const pnBlend *blend = m->blend;
  uint32_t parent = m->tree->parent[node] / PN_LANES, lane = m->tree->parent[node] % PN_LANES;
  uint32_t place = PN_MIN(parent, m->tree->innerCount);
  /* terms are sorted by slot */
  uint32_t first = blend->termFirst[place], end = blend->termFirst[place + 1];
  while (first < end) {
    uint32_t mid = (first + end) / 2;
    *(blend->termSlot[mid] < target ? &first : &end) = mid + (blend->termSlot[mid] < target);
  }
  bool found = first < blend->termFirst[place + 1] && blend->termSlot[first] == target;
  for (int k = 0; k < 3; k++) {
    const float *row = found ? pn_termRow(blend, place, first - blend->termFirst[place], (uint32_t)k) + lane : NULL;
    lo[k] = found ? (double)row[0] : 0;
    hi[k] = found ? (double)row[PN_LANES] : 0;
  }
  return found;
}

/* The distance of two boxes. */
static double gapOf(const Box *a, const Box *b) {
  double squares = 0;
  for (int k = 0; k < 3; k++) {
    double gap = fmax(0, fmax(a->lo[k] - b->hi[k], b->lo[k] - a->hi[k]));
    squares += gap * gap;
  }
  return sqrt(squares);
}

static double sizeOf(const Box *a) {
  return fmax(a->hi[0] - a->lo[0], fmax(a->hi[1] - a->lo[1], a->hi[2] - a->lo[2]));
}

/* Most of what a target can do to two far nodes, up or down. */
static double farStretch(const Maker *m, uint32_t a, uint32_t b, uint32_t target, double gap) {
  double alo[3], ahi[3], blo[3], bhi[3], squares = 0;
  bool inA = deltasOf(m, a, target, alo, ahi), inB = deltasOf(m, b, target, blo, bhi);
  for (int k = 0; k < 3 && (inA || inB); k++) {
    double most = fmax(fabs(ahi[k] - blo[k]), fabs(bhi[k] - alo[k]));
    squares += most * most;
  }
  return sqrt(squares) / gap;
}

/* ---------------------------------------------------------------- leaves */

/* Corners that two slots share: welded, and at one place at rest. The shared ones come first in both orders. */
static uint32_t sharedAtRest(const Maker *m, uint32_t s, uint32_t t, uint8_t atS[3], uint8_t atT[3], bool *outSeam) {
  const pnMesh *mesh = m->tree->mesh;
  const uint32_t *cs = mesh->triangles + 3 * (size_t)m->tree->leafTriangles[s];
  const uint32_t *ct = mesh->triangles + 3 * (size_t)m->tree->leafTriangles[t];
  uint8_t a[3], b[3];
  uint32_t found = pn_sharedCorners(mesh, m->tree->leafTriangles[s], m->tree->leafTriangles[t], a, b), count = 0;
  for (uint32_t i = 0; i < found; i++) {
    const float *p = m->base + 3 * (size_t)cs[a[i]], *q = m->base + 3 * (size_t)ct[b[i]];
    if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) {
      *outSeam |= cs[a[i]] != ct[b[i]] && (m->seam[cs[a[i]]] || m->seam[ct[b[i]]]);
      atS[count] = a[i];
      atT[count++] = b[i];
    }
  }
  /* the others, in any order */
  for (uint32_t k = 0, x = count, y = count; k < 3; k++) {
    bool inS = false, inT = false;
    for (uint32_t i = 0; i < count; i++) {
      inS |= atS[i] == k;
      inT |= atT[i] == k;
    }
    if (!inS) {
      atS[x++] = (uint8_t)k;
    }
    if (!inT) {
      atT[y++] = (uint8_t)k;
    }
  }
  return count;
}

static int compareU64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Do the triangles of two slots meet at rest in more than what they share? */
static bool meetAtRest(const pnTree *tree, uint32_t s, uint32_t t) {
  uint32_t a = tree->leafTriangles[s], b = tree->leafTriangles[t];
  uint64_t key = (uint64_t)PN_MIN(a, b) << 32 | PN_MAX(a, b);
  return tree->restCount > 0 && bsearch(&key, tree->restKeys, tree->restCount, sizeof key, compareU64);
}

/* Some vertices, and how far their entries have been read: targets ascend in each, so that one walk sees all. */
#define MOST_CORNERS (6u * PN_LANES)
typedef struct Reading {
  uint32_t count, vertex[MOST_CORNERS], at[MOST_CORNERS];
  double deltas[MOST_CORNERS][3];
} Reading;

static void readVertex(const Maker *m, Reading *r, uint32_t vertex) {
  r->vertex[r->count] = vertex;
  r->at[r->count++] = m->morph->entryFirst[vertex];
}

/* The next target that moves one of the vertices, with its deltas; targetCount when there is none. */
static uint32_t readTarget(const Maker *m, Reading *r) {
  const pnMorph *morph = m->morph;
  uint32_t target = morph->targetCount;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->at[i] < morph->entryFirst[r->vertex[i] + 1]) {
      target = PN_MIN(target, morph->entries[r->at[i]].target);
    }
  }
  for (uint32_t i = 0; i < r->count; i++) {
    bool here = r->at[i] < morph->entryFirst[r->vertex[i] + 1] && morph->entries[r->at[i]].target == target;
    for (int k = 0; k < 3; k++) {
      r->deltas[i][k] = here ? (double)morph->entries[r->at[i]].move[k] : 0;
    }
    r->at[i] += here;
  }
  return target;
}

static void readSlot(const Maker *m, Reading *r, uint32_t slot) {
  for (uint32_t k = 0; k < 3; k++) {
    readVertex(m, r, m->tree->mesh->triangles[3 * (size_t)m->tree->leafTriangles[slot] + k]);
  }
}

/* Two triangles: into `most`; returns their noise. */
static double addTriangles(const Maker *m, uint32_t s, uint32_t t, pnStretch *most) {
  uint8_t atS[3], atT[3];
  bool seam = false;
  uint32_t shared = sharedAtRest(m, s, t, atS, atT, &seam);
  pnCalmMeeting meeting;
  pn_calmMeeting(&m->triangles[s], &m->triangles[t], shared, atS, atT, &meeting);
  if (seam || meetAtRest(m->tree, s, t) || !(meeting.noise < INFINITY)) {
    return INFINITY;
  }
  Reading r = {.count = 0};
  readSlot(m, &r, s);
  readSlot(m, &r, t);
  for (uint32_t target; (target = readTarget(m, &r)) < m->morph->targetCount;) {
    double enough = fmin(most[target].down, most[target].up);
    keepNew(&most[target], pn_calmStretch(&m->triangles[s], &m->triangles[t], &meeting, r.deltas, enough));
  }
  return meeting.noise;
}

static double addLeaves(const Maker *m, uint32_t a, uint32_t b, pnStretch *most) {
  const pnTree *tree = m->tree;
  double noise = 0;
  for (uint32_t i = 0; i < tree->count[a]; i++) {
    for (uint32_t j = a == b ? i + 1 : 0; j < tree->count[b]; j++) {
      uint32_t s = (a - tree->innerCount) * PN_LANES + i, t = (b - tree->innerCount) * PN_LANES + j;
      noise = fmax(noise, addTriangles(m, s, t, most));
    }
  }
  return noise;
}

/* Two leaves with a gap: as for two triangles that share nothing, with all corners of both. */
static void addFarLeaves(const Maker *m, uint32_t a, uint32_t b, pnStretch *most, double gap) {
  const pnTree *tree = m->tree;
  const pnCalmTriangle *triangle[2 * PN_LANES];
  Reading r = {.count = 0};
  uint32_t countA = tree->count[a], count = countA + tree->count[b];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t leaf = (i < countA ? a : b) - tree->innerCount, slot = leaf * PN_LANES + (i < countA ? i : i - countA);
    triangle[i] = &m->triangles[slot];
    readSlot(m, &r, slot);
  }
  for (uint32_t target; (target = readTarget(m, &r)) < m->morph->targetCount;) {
    double enough = fmin(most[target].down, most[target].up);
    if (farStretch(m, a, b, target, gap) * UPWARD > enough) {
      keepNew(&most[target], pn_calmStretchFar(triangle, countA, count, r.deltas, gap, enough));
    }
  }
}

/* Two far nodes: into `most`, and the noise. Looks at parts while that tells more. */
static double addFar(const Maker *m, uint32_t a, uint32_t b, pnStretch *most, double noise) {
  const pnTree *tree = m->tree;
  double gap = gapOf(&m->boxes[a], &m->boxes[b]);
  bool whole = 2 / gap <= noise;
  for (uint32_t t = 0; whole && t < m->morph->targetCount; t++) {
    whole = farStretch(m, a, b, t, gap) * UPWARD <= fmin(most[t].down, most[t].up);
  }
  if (whole) {
    return noise;
  }
  if (pn_isLeaf(tree, a) && pn_isLeaf(tree, b)) {
    addFarLeaves(m, a, b, most, gap);
    return fmax(noise, 2 / gap);
  }
  bool openA = !pn_isLeaf(tree, a) && (pn_isLeaf(tree, b) || tree->below[a] >= tree->below[b]);
  uint32_t node = openA ? a : b, other = openA ? b : a;
  for (uint32_t j = 0; j < tree->count[node]; j++) {
    noise = addFar(m, tree->first[node] + j, other, most, noise);
  }
  return noise;
}

/* ---------------------------------------------------------------- pairs */

static bool areNear(const Maker *m, uint32_t a, uint32_t b) {
  const Box *p = &m->boxes[a], *q = &m->boxes[b];
  return a == b || !(gapOf(p, q) > NEAR * fmin(sizeOf(p), sizeOf(q)));
}

static uint32_t linkOf(const pnTree *tree, uint32_t a, uint32_t b) {
  if (!pn_isLeaf(tree, a) || !pn_isLeaf(tree, b)) {
    return PN_NONE;
  }
  for (uint32_t l = tree->linkFirst[a - tree->innerCount]; l < tree->linkFirst[a - tree->innerCount + 1]; l++) {
    if (tree->links[l].leaf == b - tree->innerCount) {
      return l;
    }
  }
  return PN_NONE;
}

/* The upper half of a number that is not negative, as a float, rounded up; and back. What is a half already stays one. */
static uint16_t halfOf(double x) {
  float rounded = (float)x;
  rounded = (double)rounded < x ? nextafterf(rounded, INFINITY) : rounded;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return (uint16_t)((bits + 0xffff) >> 16);
}

static double wholeOf(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static uint32_t makePair(Maker *m, uint32_t a, uint32_t b);

/* The children of a pair, near ones first: their pairs, and the most of them and of the far ones. */
static double addChildren(Maker *m, uint32_t a, uint32_t b, pnStretch *most, uint32_t *outFound, uint32_t found[64]) {
  const pnTree *tree = m->tree;
  bool openA = !pn_isLeaf(tree, a), openB = !pn_isLeaf(tree, b);
  uint32_t na = openA ? tree->count[a] : 1, nb = openB ? tree->count[b] : 1;
  double noise = 0;
  for (int far = 0; far < 2; far++) {
    for (uint32_t i = 0; i < na; i++) {
      for (uint32_t j = a == b ? i : 0; m->ok && j < nb; j++) {
        uint32_t p = openA ? tree->first[a] + i : a, q = openB ? tree->first[b] + j : b;
        bool near = areNear(m, p, q);
        if (near && !far) {
          uint32_t pair = makePair(m, PN_MIN(p, q), PN_MAX(p, q));
          if (!m->ok) {
            return 0;
          }
          found[(*outFound)++] = pair;
          const Pair *child = &m->pairs.data[pair];
          uint32_t end = pair + 1 < m->pairs.count ? child[1].termFirst : (uint32_t)m->terms.count;
          for (uint32_t t = child->termFirst; t < end; t++) {
            const uint16_t *toward = m->terms.data[t].toward;
            keepMost(&most[m->terms.data[t].target], (pnStretch){wholeOf(toward[0]), wholeOf(toward[1])});
          }
          noise = fmax(noise, (double)child->noise);
        } else if (!near && far) {
          noise = addFar(m, p, q, most, noise);
        }
      }
    }
  }
  return noise;
}

/* The row of a target in a block that begins at row `first`; PN_NONE: out of memory. */
static uint32_t rowOf(Maker *m, uint32_t target, size_t first) {
  uint32_t row = m->rowOf[target];
  if (row < first || row >= m->rows.count || m->rows.data[row].target != target) {
    row = (uint32_t)m->rows.count;
    if (!pn_arrayPush(&m->rows, (pnCalmRow){.target = (uint16_t)target})) {
      return PN_NONE;
    }
    m->rowOf[target] = row;
  }
  return row;
}

/* Up to eight pairs side by side. */
static void makeBlock(Maker *m, const uint32_t *pairs, uint32_t count) {
  size_t first = m->rows.count;
  pnCalmBlock block = {.rowFirst = (uint32_t)first};
  for (uint32_t lane = 0; lane < count; lane++) {
    const Pair *pair = &m->pairs.data[pairs[lane]];
    uint32_t end = pairs[lane] + 1 < m->pairs.count ? pair[1].termFirst : (uint32_t)m->terms.count;
    block.noise[lane] = pair->noise;
    for (uint32_t t = pair->termFirst; m->ok && t < end; t++) {
      Term term = m->terms.data[t];
      uint32_t row = rowOf(m, term.target, first);
      m->ok = row != PN_NONE;
      for (int side = 0; m->ok && side < 2; side++) {
        m->rows.data[row].toward[side][lane] = term.toward[side];
      }
    }
  }
  m->ok = m->ok && m->rows.count < UINT32_MAX && pn_arrayPush(&m->blocks, block);
}

/* A pair of nodes and all pairs below it; returns its number. Its terms come after those of the pairs below. */
static uint32_t makePair(Maker *m, uint32_t a, uint32_t b) {
  uint32_t found[64], count = 0, targets = m->morph->targetCount;
  pnStretch *most = m->most + (size_t)m->depth * targets;
  if (m->depth + 1 >= m->depthCount) {
    m->ok = false; /* deeper than the tree: cannot be */
    return 0;
  }
  memset(most, 0, targets * sizeof(pnStretch));
  m->depth++;
  bool leaves = pn_isLeaf(m->tree, a) && pn_isLeaf(m->tree, b);
  double noise = leaves ? addLeaves(m, a, b, most) : addChildren(m, a, b, most, &count, found);
  m->depth--;
  Pair pair = {.kept = {.a = a,
                        .b = b,
                        .childFirst = (uint32_t)m->children.count,
                        .blockFirst = (uint32_t)m->blocks.count,
                        .link = linkOf(m->tree, a, b)},
               .termFirst = (uint32_t)m->terms.count,
               .noise = (float)(noise * UPWARD)};
  for (uint32_t i = 0; m->ok && i < count; i += PN_LANES) {
    makeBlock(m, found + i, PN_MIN(count - i, PN_LANES));
  }
  m->ok = m->ok && pn_arrayPush(&m->pairs, pair) && pn_arrayReserve(&m->children, m->children.count + count);
  for (uint32_t i = 0; m->ok && i < count; i++) {
    m->children.data[m->children.count++] = found[i];
  }
  for (uint32_t t = 0; m->ok && noise < INFINITY && t < targets; t++) {
    if (most[t].down > 0 || most[t].up > 0) {
      /* 1000 or more is as good as nothing known */
      Term term = {(uint16_t)t, {halfOf(fmin(most[t].down, 1000)), halfOf(fmin(most[t].up, 1000))}};
      m->ok = pn_arrayPush(&m->terms, term);
    }
  }
  return (uint32_t)m->pairs.count - 1;
}

/* ---------------------------------------------------------------- preparation */

/* Rest boxes of all nodes, leaves first. */
static void makeBoxes(Maker *m) {
  const pnTree *tree = m->tree;
  for (uint32_t node = tree->nodeCount; node-- > 0;) {
    Box box = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    uint32_t leaf = node - tree->innerCount;
    uint32_t first = pn_isLeaf(tree, node) ? tree->leafVertexFirst[leaf] : 0;
    uint32_t count = pn_isLeaf(tree, node) ? tree->leafVertexFirst[leaf + 1] - first : tree->count[node];
    for (uint32_t i = 0; i < count; i++) {
      for (int k = 0; k < 3; k++) {
        bool isLeaf = pn_isLeaf(tree, node);
        double x = isLeaf ? (double)m->base[tree->leafVertices[first + i] + (uint32_t)k] : 0;
        box.lo[k] = fmin(box.lo[k], isLeaf ? x : m->boxes[tree->first[node] + i].lo[k]);
        box.hi[k] = fmax(box.hi[k], isLeaf ? x : m->boxes[tree->first[node] + i].hi[k]);
      }
    }
    m->boxes[node] = box;
  }
}

static void makeTriangles(Maker *m) {
  const pnTree *tree = m->tree;
  for (uint32_t slot = 0; slot < tree->leafCount * PN_LANES; slot++) {
    uint32_t triangle = tree->leafTriangles[slot];
    if (triangle != PN_NONE) {
      const uint32_t *c = tree->mesh->triangles + 3 * (size_t)triangle;
      const float *v = m->base;
      pn_calmTriangle(v + 3 * (size_t)c[0], v + 3 * (size_t)c[1], v + 3 * (size_t)c[2], &m->triangles[slot]);
    }
  }
}

/* Vertices welded to others that move otherwise. */
static void markSeams(Maker *m) {
  const pnMesh *mesh = m->tree->mesh;
  const pnMorph *morph = m->morph;
  for (uint32_t v = 0; v < mesh->vertexCount; v++) {
    uint32_t w = mesh->weld[v], n = morph->entryFirst[v + 1] - morph->entryFirst[v];
    bool same = n == morph->entryFirst[w + 1] - morph->entryFirst[w] &&
                (n == 0 || memcmp(morph->entries + morph->entryFirst[v], morph->entries + morph->entryFirst[w],
                                  n * sizeof(pnMorphEntry)) == 0);
    if (!same) {
      m->seam[v] = m->seam[w] = true;
    }
  }
}

/* ---------------------------------------------------------------- one block */

static size_t layout(const Maker *m, pnCalm *calm, char *base) {
  size_t at = 0, links = m->tree->linkFirst[m->tree->leafCount];
  pn_carve(base, &at, 1, sizeof(pnCalm));
  calm->pairs = pn_carve(base, &at, (size_t)calm->pairCount + 1, sizeof(pnCalmPair));
  calm->blocks = pn_carve(base, &at, (size_t)calm->blockCount + 1, sizeof(pnCalmBlock));
  calm->rows = pn_carve(base, &at, calm->rowCount, sizeof(pnCalmRow));
  calm->pairFirst = pn_carve(base, &at, (size_t)m->tree->nodeCount + 1, sizeof(uint32_t));
  calm->byNode = pn_carve(base, &at, calm->pairCount, sizeof(pnPair));
  calm->isCalm = pn_carve(base, &at, calm->pairCount, sizeof(bool));
  calm->restless = pn_carve(base, &at, links, sizeof(pnRestless));
  calm->queue = pn_carve(base, &at, calm->pairCount, sizeof(uint32_t));
  calm->change = pn_carve(base, &at, m->morph->targetCount, sizeof(pnCalmChange));
  return at;
}

/* Pairs by their first node: counted, summed, filled; within a node sorted by the second. */
static void sortByNode(pnCalm *calm, uint32_t nodeCount) {
  uint32_t *first = calm->pairFirst;
  for (uint32_t i = 0; i < calm->pairCount; i++) {
    first[calm->pairs[i].a + 1]++;
  }
  for (uint32_t i = 0; i < nodeCount; i++) {
    first[i + 1] += first[i];
  }
  for (uint32_t i = 0; i < calm->pairCount; i++) {
    calm->byNode[first[calm->pairs[i].a]++] = (pnPair){calm->pairs[i].b, i};
  }
  memmove(first + 1, first, nodeCount * sizeof(uint32_t));
  first[0] = 0;
}

/* Copies pairs breadth-first, so that a walk finds the children of a pair side by side. */
static void copyPairs(const Maker *m, pnCalm *calm) {
  uint32_t *old = calm->queue, count = 0;
  old[count++] = calm->pairCount - 1; /* children were made before their parents */
  for (uint32_t i = 0; i < count; i++) {
    const Pair *from = &m->pairs.data[old[i]];
    bool last = old[i] + 1 == calm->pairCount;
    uint32_t childEnd = last ? (uint32_t)m->children.count : from[1].kept.childFirst;
    calm->pairs[i] = from->kept;
    calm->pairs[i].childFirst = count;
    for (uint32_t c = from->kept.childFirst; c < childEnd; c++) {
      old[count++] = m->children.data[c];
    }
  }
  calm->pairs[count] = (pnCalmPair){.childFirst = count};
  memcpy(calm->blocks, m->blocks.data, calm->blockCount * sizeof(pnCalmBlock));
  calm->blocks[calm->blockCount] = (pnCalmBlock){.rowFirst = calm->rowCount};
  if (calm->rowCount > 0) {
    memcpy(calm->rows, m->rows.data, calm->rowCount * sizeof(pnCalmRow));
  }
}

static pnResult packCalm(Maker *m) {
  pnTree *tree = m->tree;
  pnCalm calm = {.pairCount = (uint32_t)m->pairs.count,
                 .blockCount = (uint32_t)m->blocks.count,
                 .rowCount = (uint32_t)m->rows.count};
  size_t size = layout(m, &calm, NULL);
  char *block = pn_allocZero(size);
  if (!block) {
    return pn_failMemory(size);
  }
  layout(m, &calm, block);
  copyPairs(m, &calm);
  sortByNode(&calm, tree->nodeCount);
  memcpy(block, &calm, sizeof calm);
  tree->calm = block;
  tree->calmBytes = size;
  return PN_OK;
}

/* The vertices of the rest pose. */
static pnResult fillBase(const pnTree *tree, float *base) {
  pnPoseDef def = {tree->mesh, tree->pose->morph, NULL};
  pnPose *rest;
  pnResult result = pnCreatePose(&def, &rest);
  if (result == PN_OK) {
    pnPose_GetVertices(rest, base);
    pnDestroyPose(rest);
  }
  return result;
}

/* With all memory at hand. */
static pnResult makeCalm(Maker *m) {
  pnResult result = fillBase(m->tree, m->base);
  if (result != PN_OK) {
    return result;
  }
  makeBoxes(m);
  makeTriangles(m);
  markSeams(m);
  uint32_t root = makePair(m, 0, 0);
  if (m->ok) {
    makeBlock(m, &root, 1);
  }
  return m->ok ? packCalm(m)
               : pn_fail(PN_ERROR_MEMORY, "out of memory while comparing patches of mesh '%s'", m->tree->mesh->name);
}

pnResult pn_prepareCalm(pnTree *tree) {
  const pnMorph *morph = tree->pose->morph;
  bool blended = tree->rule == &pn_updateBlended && tree->slabs && morph && morph->mode == PN_MORPH_DELTAS;
  if (!tree->def.calm || !tree->def.self || tree->calm || !blended || tree->nodeCount == 0) {
    return PN_OK;
  }
  pnResult result = pn_findRestPairs(tree);
  if (result != PN_OK) {
    return result;
  }
  Maker m = {.tree = tree, .morph = morph, .blend = tree->ruleData, .depthCount = 2 * tree->height + 2, .ok = true};
  size_t vertices = tree->mesh->vertexCount, baseBytes = pn_bytes(vertices, 3 * sizeof(float)), seamBytes = vertices;
  size_t boxBytes = pn_bytes(tree->nodeCount, sizeof(Box)), rowBytes = pn_bytes(morph->targetCount, sizeof(uint32_t));
  size_t triangleBytes = pn_bytes((size_t)tree->leafCount * PN_LANES, sizeof(pnCalmTriangle));
  size_t mostBytes = pn_bytes((size_t)m.depthCount * morph->targetCount, sizeof(pnStretch));
  m.base = pn_alloc(baseBytes);
  m.boxes = pn_alloc(boxBytes);
  m.triangles = pn_alloc(triangleBytes);
  m.most = pn_alloc(mostBytes);
  m.seam = pn_allocZero(seamBytes);
  m.rowOf = pn_allocZero(rowBytes);
  result = m.base && m.boxes && m.triangles && m.most && m.seam && m.rowOf ? makeCalm(&m) : pn_failMemory(mostBytes);
  pn_arrayFree(&m.pairs);
  pn_arrayFree(&m.children);
  pn_arrayFree(&m.terms);
  pn_arrayFree(&m.blocks);
  pn_arrayFree(&m.rows);
  pn_free(m.rowOf, rowBytes);
  pn_free(m.seam, seamBytes);
  pn_free(m.most, mostBytes);
  pn_free(m.triangles, triangleBytes);
  pn_free(m.boxes, boxBytes);
  pn_free(m.base, baseBytes);
  return result;
}
