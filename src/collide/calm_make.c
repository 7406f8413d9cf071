/* calm_make.c: which pairs of nodes are near each other at rest, and by how much each target brings them together. See calm.h.
 *
 * From the root's pair with itself down: a pair of inner nodes gets the most of its children's pairs, a pair of leaves the
 * most of its pairs of triangles (calm_bound.c). Children that are far from each other at rest get no pair of their own
 * but one lane for all of them beside those of the near ones, and count for their parents: two boxes that are `d` apart
 * and whose deltas differ by at most D are brought together by at most D / d, and where that is more than what is known
 * already, parts of them are looked at. */
#include "collide/calm_make.h"
#include "collide/rest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Nodes with a gap below this part of the smaller one's size are near. More of them tell better where to look: on the face of
 * the benchmark a self query takes 0.051 ms at 0.25, 0.043 at 0.6 and no less at 1.2, and finding all numbers 1.9, 2.8 and 4.5 s. */
#define NEAR 0.6

/* Everything is rounded up by this much. */
#define UPWARD 1.000001

/* What is known of far nodes need not be better than this, a target: twenty of them would still be calm together. And K need
 * not be below this over the size of the mesh: noise is some millionths of that. */
#define FAR_STRETCH 0.03
#define FAR_NOISE 1000.0

static void keepMost(pnStretch *most, pnStretch other) {
  most->down = fmax(most->down, other.down);
  most->up = fmax(most->up, other.up);
}

/* What was just computed, rounded up. */
static void keepNew(pnStretch *most, pnStretch other) {
  keepMost(most, (pnStretch){other.down * UPWARD, other.up * UPWARD});
}

/* ---------------------------------------------------------------- far nodes */

/* Where the deltas of a target in a node are: lo and hi along each axis; false when it does not move there. */
static bool deltasOf(const pnCalmMaker *m, uint32_t node, uint32_t target, double lo[3], double hi[3]) {
  const pnBlend *blend = m->blend;
  uint32_t parent = m->tree->shape->parent[node] / PN_LANES, lane = m->tree->shape->parent[node] % PN_LANES;
  uint32_t place = PN_MIN(parent, m->tree->shape->innerCount);
  /* terms are sorted by ingredient */
  uint32_t first = blend->termFirst[place], end = blend->termFirst[place + 1];
  while (first < end) {
    uint32_t mid = (first + end) / 2;
    *(blend->termIngredient[mid] < target ? &first : &end) = mid + (blend->termIngredient[mid] < target);
  }
  bool found = first < blend->termFirst[place + 1] && blend->termIngredient[first] == target;
  for (int k = 0; k < 3; ++k) {
    const float *row = found ? pn_termRow(blend, place, first - blend->termFirst[place], (uint32_t)k) + lane : NULL;
    lo[k] = found ? (double)row[0] : 0;
    hi[k] = found ? (double)row[PN_LANES] : 0;
  }
  return found;
}

/* The distance of two boxes. */
static double gapOf(const pnCalmBox *a, const pnCalmBox *b) {
  double squares = 0;
  for (int k = 0; k < 3; ++k) {
    double gap = fmax(0, fmax(a->lo[k] - b->hi[k], b->lo[k] - a->hi[k]));
    squares += gap * gap;
  }
  return sqrt(squares);
}

static double sizeOf(const pnCalmBox *a) {
  return fmax(a->hi[0] - a->lo[0], fmax(a->hi[1] - a->lo[1], a->hi[2] - a->lo[2]));
}

/* Most of what a target can do to two far nodes, up or down. */
static double farStretch(const pnCalmMaker *m, uint32_t a, uint32_t b, uint32_t target, double gap) {
  double alo[3], ahi[3], blo[3], bhi[3], squares = 0;
  bool inA = deltasOf(m, a, target, alo, ahi), inB = deltasOf(m, b, target, blo, bhi);
  for (int k = 0; k < 3 && (inA || inB); ++k) {
    double most = fmax(fabs(ahi[k] - blo[k]), fabs(bhi[k] - alo[k]));
    squares += most * most;
  }
  return sqrt(squares) / gap;
}

/* ---------------------------------------------------------------- leaves */

/* Corners that two slots share: welded, and at one place at rest. The shared ones come first in both orders. */
static uint32_t sharedAtRest(const pnCalmMaker *m, uint32_t s, uint32_t t, uint8_t atS[3], uint8_t atT[3],
                             bool *outSeam) {
  const pnMesh *mesh = m->tree->mesh;
  uint32_t triangle[2] = {m->tree->shape->leafTriangles[s], m->tree->shape->leafTriangles[t]};
  const uint32_t *cs = mesh->triangles + 3 * (size_t)triangle[0], *ct = mesh->triangles + 3 * (size_t)triangle[1];
  const float *p[3], *q[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = m->base + 3 * (size_t)cs[k];
    q[k] = m->base + 3 * (size_t)ct[k];
  }
  pnSharedCorners shared = pn_sharedNow(mesh, triangle[0], triangle[1], p, q);
  uint32_t count = shared.count;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t v = cs[shared.a[i]], w = ct[shared.b[i]];
    *outSeam |= v != w && (m->seam[v] || m->seam[w]);
    atS[i] = shared.a[i];
    atT[i] = shared.b[i];
  }
  /* the others, in any order */
  for (uint32_t k = 0, x = count, y = count; k < 3; ++k) {
    bool inS = false, inT = false;
    for (uint32_t i = 0; i < count; ++i) {
      inS |= atS[i] == k;
      inT |= atT[i] == k;
    }
    if (!inS) atS[x++] = (uint8_t)k;
    if (!inT) atT[y++] = (uint8_t)k;
  }
  return count;
}

/* Do the triangles of two slots meet at rest in more than what they share? */
static bool meetAtRest(const pnTree *tree, uint32_t s, uint32_t t) {
  return pn_meetAtRest(tree->shape, tree->shape->leafTriangles[s], tree->shape->leafTriangles[t]);
}

/* Some vertices, and how far their entries have been read: targets ascend in each, so that one walk sees all. */
#define MOST_CORNERS (6u * PN_LANES)
typedef struct EntryWalk {
  uint32_t count, vertex[MOST_CORNERS], at[MOST_CORNERS];
  double deltas[MOST_CORNERS][3];
} EntryWalk;

static void readVertex(const pnCalmMaker *m, EntryWalk *r, uint32_t vertex) {
  r->vertex[r->count] = vertex;
  r->at[r->count++] = m->morph->entryFirst[vertex];
}

/* The next target that moves one of the vertices, with its deltas; targetCount when there is none. */
static uint32_t readTarget(const pnCalmMaker *m, EntryWalk *r) {
  const pnMorph *morph = m->morph;
  uint32_t target = morph->targetCount;
  for (uint32_t i = 0; i < r->count; ++i)
    if (r->at[i] < morph->entryFirst[r->vertex[i] + 1]) target = PN_MIN(target, morph->entries[r->at[i]].target);
  for (uint32_t i = 0; i < r->count; ++i) {
    bool here = r->at[i] < morph->entryFirst[r->vertex[i] + 1] && morph->entries[r->at[i]].target == target;
    for (int k = 0; k < 3; ++k) r->deltas[i][k] = here ? (double)morph->entries[r->at[i]].move[k] : 0;
    r->at[i] += here;
  }
  return target;
}

static void readSlot(const pnCalmMaker *m, EntryWalk *r, uint32_t slot) {
  for (uint32_t k = 0; k < 3; ++k)
    readVertex(m, r, m->tree->mesh->triangles[3 * (size_t)m->tree->shape->leafTriangles[slot] + k]);
}

/* Two triangles: into `most`; returns their noise. */
static double addTriangles(const pnCalmMaker *m, uint32_t s, uint32_t t, pnStretch *most) {
  uint8_t atS[3], atT[3];
  bool seam = false;
  uint32_t shared = sharedAtRest(m, s, t, atS, atT, &seam);
  pnCalmMeeting meeting;
  pn_calmMeeting(&m->triangles[s], &m->triangles[t], shared, atS, atT, &meeting);
  if (seam || meetAtRest(m->tree, s, t) || !(meeting.noise < INFINITY)) return INFINITY;
  EntryWalk r = {.count = 0};
  readSlot(m, &r, s);
  readSlot(m, &r, t);
  for (uint32_t target; (target = readTarget(m, &r)) < m->morph->targetCount;) {
    double enough = fmin(most[target].down, most[target].up);
    keepNew(&most[target], pn_calmStretch(&m->triangles[s], &m->triangles[t], &meeting, r.deltas, enough));
  }
  return meeting.noise;
}

static double addLeaves(const pnCalmMaker *m, uint32_t a, uint32_t b, pnStretch *most) {
  const pnTree *tree = m->tree;
  double noise = 0;
  for (uint32_t i = 0; i < tree->shape->count[a]; ++i) {
    for (uint32_t j = a == b ? i + 1 : 0; j < tree->shape->count[b]; ++j) {
      uint32_t s = (a - tree->shape->innerCount) * PN_LANES + i, t = (b - tree->shape->innerCount) * PN_LANES + j;
      noise = fmax(noise, addTriangles(m, s, t, most));
    }
  }
  return noise;
}

/* Two leaves with a gap: as for two triangles that share nothing, with all corners of both. */
static void addFarLeaves(const pnCalmMaker *m, uint32_t a, uint32_t b, pnStretch *most, double gap) {
  const pnTree *tree = m->tree;
  const pnCalmTriangle *triangle[2 * PN_LANES];
  EntryWalk r = {.count = 0};
  uint32_t countA = tree->shape->count[a], count = countA + tree->shape->count[b];
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t leaf = (i < countA ? a : b) - tree->shape->innerCount,
             slot = leaf * PN_LANES + (i < countA ? i : i - countA);
    triangle[i] = &m->triangles[slot];
    readSlot(m, &r, slot);
  }
  for (uint32_t target; (target = readTarget(m, &r)) < m->morph->targetCount;) {
    double enough = fmin(most[target].down, most[target].up);
    if (farStretch(m, a, b, target, gap) * UPWARD > enough)
      keepNew(&most[target], pn_calmStretchFar(triangle, countA, count, r.deltas, gap, enough));
  }
}

/* Two far nodes: into `most`, and the noise. Looks at parts while that tells more. */
static double addFar(const pnCalmMaker *m, uint32_t a, uint32_t b, pnStretch *most, double noise) {
  const pnTree *tree = m->tree;
  double gap = gapOf(&m->boxes[a], &m->boxes[b]);
  bool whole = 2 / gap <= noise;
  for (uint32_t t = 0; whole && t < m->morph->targetCount; ++t)
    whole = farStretch(m, a, b, t, gap) * UPWARD <= fmin(most[t].down, most[t].up);
  if (whole) return noise;
  if (pn_isLeaf(tree, a) && pn_isLeaf(tree, b)) {
    addFarLeaves(m, a, b, most, gap);
    return fmax(noise, 2 / gap);
  }
  bool openA = !pn_isLeaf(tree, a) && (pn_isLeaf(tree, b) || tree->shape->below[a] >= tree->shape->below[b]);
  uint32_t node = openA ? a : b, other = openA ? b : a;
  for (uint32_t j = 0; j < tree->shape->count[node]; ++j)
    noise = addFar(m, tree->shape->first[node] + j, other, most, noise);
  return noise;
}

/* ---------------------------------------------------------------- pairs */

static bool areNear(const pnCalmMaker *m, uint32_t a, uint32_t b) {
  const pnCalmBox *p = &m->boxes[a], *q = &m->boxes[b];
  return a == b || !(gapOf(p, q) > NEAR * fmin(sizeOf(p), sizeOf(q)));
}

uint32_t pn_calmLink(const pnShape *shape, uint32_t a, uint32_t b) {
  if (!pn_isShapeLeaf(shape, a) || !pn_isShapeLeaf(shape, b)) return PN_NONE;
  uint32_t leaf = a - shape->innerCount, other = b - shape->innerCount;
  for (uint32_t l = shape->linkFirst[leaf]; l < shape->linkFirst[leaf + 1]; ++l)
    if (shape->links[l].leaf == other) return l;
  return PN_NONE;
}

/* The float of which only the upper half is kept. */
static double wholeOf(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static uint32_t makePair(pnCalmMaker *m, uint32_t a, uint32_t b);

/* A pair of near children: its own pair, and what is in it. */
static double addNear(pnCalmMaker *m, uint32_t p, uint32_t q, pnStretch *most, uint32_t *outPair) {
  uint32_t pair = *outPair = makePair(m, PN_MIN(p, q), PN_MAX(p, q));
  if (!m->ok) return 0;
  const pnCalmDraft *child = &m->pairs.data[pair];
  uint32_t end = pair + 1 < m->pairs.count ? child[1].termFirst : (uint32_t)m->terms.count;
  for (uint32_t t = child->termFirst; t < end; ++t) {
    const uint16_t *toward = m->terms.data[t].toward;
    keepMost(&most[m->terms.data[t].target], (pnStretch){wholeOf(toward[0]), wholeOf(toward[1])});
  }
  return (double)child->noise;
}

/* What is known of the children of a pair. */
typedef struct Children {
  uint32_t pair[64], count; /* the near ones */
  bool hasFar;
  double noise, farNoise; /* of all, and of the far ones; what targets do to these is in m->far */
} Children;

/* The children of a pair, near ones first: their pairs, and the most of them and of the far ones. */
static void addChildren(pnCalmMaker *m, uint32_t a, uint32_t b, pnStretch *most, Children *out) {
  const pnTree *tree = m->tree;
  bool openA = !pn_isLeaf(tree, a), openB = !pn_isLeaf(tree, b);
  uint32_t na = openA ? tree->shape->count[a] : 1, nb = openB ? tree->shape->count[b] : 1;
  for (int far = 0; far < 2; ++far) {
    for (uint32_t i = 0; i < na; ++i) {
      for (uint32_t j = a == b ? i : 0; m->ok && j < nb; ++j) {
        uint32_t p = openA ? tree->shape->first[a] + i : a, q = openB ? tree->shape->first[b] + j : b;
        bool near = areNear(m, p, q);
        if (near && !far) {
          out->noise = fmax(out->noise, addNear(m, p, q, most, &out->pair[out->count++]));
        } else if (!near && far) {
          out->farNoise = addFar(m, p, q, m->far, out->farNoise);
          out->hasFar = true;
        }
      }
    }
    for (uint32_t t = 0; !far && t < m->morph->targetCount; ++t)
      m->far[t] = (pnStretch){fmin(most[t].down, FAR_STRETCH), fmin(most[t].up, FAR_STRETCH)};
    out->farNoise = far ? out->farNoise : fmin(out->noise, FAR_NOISE / sizeOf(&m->boxes[0]));
  }
  for (uint32_t t = 0; out->hasFar && t < m->morph->targetCount; ++t) keepMost(&most[t], m->far[t]);
  out->noise = out->hasFar ? fmax(out->noise, out->farNoise) : out->noise;
}

/* A pair of nodes and all pairs below it; returns its number. Its terms come after those of the pairs below. */
static uint32_t makePair(pnCalmMaker *m, uint32_t a, uint32_t b) {
  uint32_t targets = m->morph->targetCount;
  pnStretch *most = m->most + (size_t)m->depth * targets;
  if (m->depth + 1 >= m->depthCount) {
    m->ok = false; /* deeper than the tree: cannot be */
    return 0;
  }
  memset(most, 0, targets * sizeof(pnStretch));
  Children children = {.count = 0};
  ++m->depth;
  if (pn_isLeaf(m->tree, a) && pn_isLeaf(m->tree, b)) children.noise = addLeaves(m, a, b, most);
  else addChildren(m, a, b, most, &children);
  --m->depth;
  pnCalmDraft pair = {.kept = {.a = a,
                               .b = b,
                               .childFirst = (uint32_t)m->children.count,
                               .blockFirst = (uint32_t)m->blocks.count,
                               .hasFar = children.hasFar,
                               .link = pn_calmLink(m->tree->shape, a, b)},
                      .termFirst = (uint32_t)m->terms.count,
                      .noise = (float)(children.noise * UPWARD)};
  pn_packChildren(m, children.pair, children.count, children.hasFar, children.farNoise * UPWARD);
  m->ok = m->ok && pn_arrayPush(&m->pairs, pair) && pn_arrayReserve(&m->children, m->children.count + children.count);
  for (uint32_t i = 0; m->ok && i < children.count; ++i) m->children.data[m->children.count++] = children.pair[i];
  for (uint32_t t = 0; m->ok && children.noise < INFINITY && t < targets; ++t) {
    if (most[t].down > 0 || most[t].up > 0) {
      pnCalmTerm term = {(uint16_t)t, {pn_upperHalf(most[t].down), pn_upperHalf(most[t].up)}};
      m->ok = pn_arrayPush(&m->terms, term);
    }
  }
  return (uint32_t)m->pairs.count - 1;
}

/* ---------------------------------------------------------------- preparation */

/* Rest boxes of all nodes, leaves first. */
static void makeBoxes(pnCalmMaker *m) {
  const pnTree *tree = m->tree;
  for (uint32_t node = tree->shape->nodeCount; node-- > 0;) {
    pnCalmBox box = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    uint32_t leaf = node - tree->shape->innerCount;
    uint32_t first = pn_isLeaf(tree, node) ? tree->shape->leafVertexFirst[leaf] : 0;
    uint32_t count = pn_isLeaf(tree, node) ? tree->shape->leafVertexFirst[leaf + 1] - first : tree->shape->count[node];
    for (uint32_t i = 0; i < count; ++i) {
      for (int k = 0; k < 3; ++k) {
        bool isLeaf = pn_isLeaf(tree, node);
        double x = isLeaf ? (double)m->base[tree->shape->leafVertices[first + i] + (uint32_t)k] : 0;
        box.lo[k] = fmin(box.lo[k], isLeaf ? x : m->boxes[tree->shape->first[node] + i].lo[k]);
        box.hi[k] = fmax(box.hi[k], isLeaf ? x : m->boxes[tree->shape->first[node] + i].hi[k]);
      }
    }
    m->boxes[node] = box;
  }
}

static void makeTriangles(pnCalmMaker *m) {
  const pnTree *tree = m->tree;
  for (uint32_t slot = 0; slot < tree->shape->leafCount * PN_LANES; ++slot) {
    uint32_t triangle = tree->shape->leafTriangles[slot];
    if (triangle != PN_NONE) {
      const uint32_t *c = tree->mesh->triangles + 3 * (size_t)triangle;
      const float *v = m->base;
      pn_calmTriangle(v + 3 * (size_t)c[0], v + 3 * (size_t)c[1], v + 3 * (size_t)c[2], &m->triangles[slot]);
    }
  }
}

/* Vertices welded to others that move otherwise. */
static void markSeams(pnCalmMaker *m) {
  const pnMesh *mesh = m->tree->mesh;
  const pnMorph *morph = m->morph;
  for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
    uint32_t w = mesh->weld[v], n = morph->entryFirst[v + 1] - morph->entryFirst[v];
    bool same = n == morph->entryFirst[w + 1] - morph->entryFirst[w] &&
                (n == 0 || memcmp(morph->entries + morph->entryFirst[v], morph->entries + morph->entryFirst[w],
                                  n * sizeof(pnMorphEntry)) == 0);
    if (!same) m->seam[v] = m->seam[w] = true;
  }
}

/* ---------------------------------------------------------------- all of it */

/* The vertices of the rest pose. */
static pnResult fillBase(const pnTree *tree, float *base) {
  pnPose *rest;
  pnResult result = pn_createRestPose(tree->pose, &rest);
  if (result == PN_OK) {
    pnPose_GetVertices(rest, base);
    pnDestroyPose(rest);
  }
  return result;
}

/* With all memory at hand. */
static pnResult measureCalm(pnCalmMaker *m, void **outData, size_t *outBytes) {
  pnResult result = fillBase(m->tree, m->base);
  if (result != PN_OK) return result;
  makeBoxes(m);
  makeTriangles(m);
  markSeams(m);
  uint32_t root = makePair(m, 0, 0);
  pn_packChildren(m, &root, 1, false, 0);
  return m->ok ? pn_packCalm(m, outData, outBytes)
               : pn_fail(PN_ERROR_MEMORY, "out of memory while comparing patches of mesh '%s'", m->tree->mesh->name);
}

static pnResult makeCalm(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  const pnMorph *morph = tree->pose->morph;
  pnCalmMaker m = {
      .tree = tree, .morph = morph, .blend = tree->ruleData, .depthCount = 2 * tree->shape->height + 2, .ok = true};
  size_t vertices = tree->mesh->vertexCount, baseBytes = pn_bytes(vertices, 3 * sizeof(float)), seamBytes = vertices;
  size_t boxBytes = pn_bytes(tree->shape->nodeCount, sizeof(pnCalmBox)),
         rowBytes = pn_bytes(morph->targetCount, sizeof(uint32_t));
  size_t triangleBytes = pn_bytes((size_t)tree->shape->leafCount * PN_LANES, sizeof(pnCalmTriangle));
  size_t mostBytes = pn_bytes((size_t)m.depthCount * morph->targetCount, sizeof(pnStretch));
  size_t farBytes = pn_bytes(morph->targetCount, sizeof(pnStretch));
  m.base = pn_alloc(baseBytes);
  m.boxes = pn_alloc(boxBytes);
  m.triangles = pn_alloc(triangleBytes);
  m.most = pn_alloc(mostBytes);
  m.seam = pn_allocZero(seamBytes);
  m.rowOf = pn_allocZero(rowBytes);
  m.far = pn_alloc(farBytes);
  bool ok = m.base && m.boxes && m.triangles && m.most && m.seam && m.rowOf && m.far;
  pnResult result = ok ? measureCalm(&m, outData, outBytes) : pn_failMemory(mostBytes);
  pn_arrayFree(&m.pairs);
  pn_arrayFree(&m.children);
  pn_arrayFree(&m.terms);
  pn_arrayFree(&m.blocks);
  pn_arrayFree(&m.rows);
  pn_free(m.far, farBytes);
  pn_free(m.rowOf, rowBytes);
  pn_free(m.seam, seamBytes);
  pn_free(m.most, mostBytes);
  pn_free(m.triangles, triangleBytes);
  pn_free(m.boxes, boxBytes);
  pn_free(m.base, baseBytes);
  return result;
}

bool pn_canBeCalm(const pnShape *shape) {
  /* volumes of deltas, as intervals: that rule fits no other motion */
  bool blended =
      shape->rule == &pn_updateBlended && pn_formOf(shape->def.form)->slabs && shape->morph->mode == PN_MORPH_DELTAS;
  /* all patches around a hub are near each other: too many pairs */
  return shape->def.calm && shape->def.self && blended && shape->nodeCount > 0 && shape->hubCount == 0;
}

pnResult pn_prepareCalm(pnTree *tree) {
  if (tree->calm || !pn_canBeCalm(tree->shape)) return PN_OK;
  PN_ASSERT(pn_partOf(tree->shape, PN_PART_CALM) || pn_partOf(tree->shape, PN_PART_REST));
  pnResult result = pn_makePart(tree->shape, PN_PART_CALM, makeCalm, tree);
  return result == PN_OK ? pn_allocCalmFrame(tree, pn_partOf(tree->shape, PN_PART_CALM)) : result;
}
