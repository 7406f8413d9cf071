/* skin_terms.c: what skin_bound.h keeps of a tree's nodes, made once, node by node from the vertices below.
 *
 * Everything is measured in double from float numbers and rounded outward: the intervals and balls hold for the real
 * numbers, so that the margins of a frame have only the frame's own rounding to cover. */
#include "base/array.h"
#include "geom/ball.h"
#include "tree/skin_bound.h"

#include <float.h>

/* An interval of points, while it grows. */
typedef struct Extent {
  double lo[3], hi[3];
} Extent;

/* What a joint, or a morph target, does below the node at hand. */
typedef struct Gathered {
  uint32_t mark;   /* the node this is about */
  uint32_t listed; /* listed vertices it moves */
  double total;    /* of its weights */
  double low, high;
  Extent moves, change;
} Gathered;

/* Scratch of one creation. */
typedef struct Maker {
  const pnTree *tree;
  const pnPose *pose;
  Gathered *joints, *targets;
  uint32_t *used; /* joints of the node at hand, in order of appearance */
  uint32_t usedCount, mark;
  float *points; /* room for the most vertices that a node lists; spheres */
  PN_ARRAY(pnSkinTerm) terms;
  PN_ARRAY(pnSkinDelta) deltas;
  uint32_t *termFirst, *deltaFirst; /* nodeCount + 1 each */
  pnSpan *spans;
} Maker;

/* ---------------------------------------------------------------- intervals */

static void emptyExtent(Extent *e) {
  for (int k = 0; k < 3; k++) {
    e->lo[k] = INFINITY;
    e->hi[k] = -INFINITY;
  }
}

static void growExtent(Extent *e, const double p[3]) {
  for (int k = 0; k < 3; k++) {
    e->lo[k] = fmin(e->lo[k], p[k]);
    e->hi[k] = fmax(e->hi[k], p[k]);
  }
}

/* The float interval around [lo, hi]. */
static void roundOut(double lo, double hi, float *outMid, float *outHalf) {
  float mid = (float)(0.5 * (lo + hi));
  double half = fmax(hi - mid, mid - lo);
  *outMid = mid;
  *outHalf = half > 0 ? nextafterf((float)half, INFINITY) : 0;
}

static pnSpan spanOf(const Extent *e) {
  pnSpan s;
  for (int k = 0; k < 3; k++) {
    roundOut(e->lo[k], e->hi[k], &s.mid[k], &s.half[k]);
  }
  return s;
}

/* The ball of a span, when there are no points at hand. */
static void ballOfSpan(pnSpan *s) {
  const double x = s->half[0], y = s->half[1], z = s->half[2];
  *s = (pnSpan){{s->mid[0], s->mid[1], s->mid[2]}, {nextafterf((float)sqrt(x * x + y * y + z * z), INFINITY), 0, 0}};
}

/* ---------------------------------------------------------------- gathering the vertices below a node */

static void restOf(const Maker *maker, uint32_t vertex, double out[3]) {
  const float *p = maker->tree->mesh->vertices + 3 * (size_t)vertex;
  for (int k = 0; k < 3; k++) {
    out[k] = p[k];
  }
}

/* What `slot` does to one more vertex. */
static Gathered *touch(const Maker *maker, Gathered *slot) {
  if (slot->mark != maker->mark) {
    *slot = (Gathered){.mark = maker->mark, .low = INFINITY, .high = -INFINITY};
    emptyExtent(&slot->moves);
    emptyExtent(&slot->change);
  }
  slot->listed++;
  return slot;
}

/* Boxes and weights by joint; returns the box of all. */
static Extent gatherJoints(Maker *maker, const uint32_t *v, uint32_t n) {
  const pnSkin *skin = maker->pose->skin;
  Extent all;
  emptyExtent(&all);
  maker->mark++;
  maker->usedCount = 0;
  for (uint32_t i = 0; i < n; i++) {
    double p[3];
    uint32_t vertex = v[i] / 3;
    restOf(maker, vertex, p);
    growExtent(&all, p);
    for (uint32_t e = skin->influenceFirst[vertex]; e < skin->influenceFirst[vertex + 1]; e++) {
      const pnInfluence *in = &skin->influences[e];
      Gathered *g = &maker->joints[in->joint];
      if (g->mark != maker->mark) {
        maker->used[maker->usedCount++] = in->joint;
      }
      g = touch(maker, g);
      g->total += in->weight;
      g->low = fmin(g->low, in->weight);
      g->high = fmax(g->high, in->weight);
      growExtent(&g->moves, p);
    }
  }
  return all;
}

/* w (p - centre) by joint. */
static void gatherChanges(Maker *maker, const uint32_t *v, uint32_t n, const float centre[3]) {
  const pnSkin *skin = maker->pose->skin;
  static const double zero[3] = {0};
  for (uint32_t i = 0; i < n; i++) {
    double p[3];
    uint32_t vertex = v[i] / 3;
    restOf(maker, vertex, p);
    for (uint32_t e = skin->influenceFirst[vertex]; e < skin->influenceFirst[vertex + 1]; e++) {
      const pnInfluence *in = &skin->influences[e];
      double x[3];
      for (int k = 0; k < 3; k++) {
        x[k] = in->weight * (p[k] - centre[k]);
      }
      growExtent(&maker->joints[in->joint].change, x);
    }
  }
  for (uint32_t i = 0; i < maker->usedCount; i++) {
    Gathered *g = &maker->joints[maker->used[i]];
    if (g->listed < n) {
      growExtent(&g->change, zero);
    }
  }
}

/* ---------------------------------------------------------------- balls and distances */

static bool isMovedBy(const pnSkin *skin, uint32_t vertex, uint32_t joint) {
  for (uint32_t e = skin->influenceFirst[vertex]; e < skin->influenceFirst[vertex + 1]; e++) {
    if (skin->influences[e].joint == joint) {
      return true;
    }
  }
  return false;
}

/* The smallest ball of the vertices that a joint moves; PN_NONE: of all. */
static pnSpan ballOf(const Maker *maker, const uint32_t *v, uint32_t n, uint32_t joint) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (joint == PN_NONE || isMovedBy(maker->pose->skin, v[i] / 3, joint)) {
      memcpy(maker->points + 4 * (size_t)count++, maker->tree->mesh->vertices + v[i], 3 * sizeof(float));
    }
  }
  pnSpan ball = {{0}, {0}};
  pn_smallestBall(maker->points, count, ball.mid, &ball.half[0]);
  return ball;
}

/* Weighted: how far the vertices of a joint are from its pivot. */
static float farFromPivot(const Maker *maker, const uint32_t *v, uint32_t n, uint32_t joint) {
  const pnSkin *skin = maker->pose->skin;
  const double c[3] = {skin->pivots[joint].x, skin->pivots[joint].y, skin->pivots[joint].z};
  double most = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (isMovedBy(skin, v[i] / 3, joint)) {
      double p[3];
      restOf(maker, v[i] / 3, p);
      most = fmax(most, (p[0] - c[0]) * (p[0] - c[0]) + (p[1] - c[1]) * (p[1] - c[1]) + (p[2] - c[2]) * (p[2] - c[2]));
    }
  }
  return nextafterf((float)sqrt(most), INFINITY);
}

/* ---------------------------------------------------------------- nodes */

/* The joint with the largest weight first. */
static void mainFirst(Maker *maker) {
  uint32_t main = 0;
  for (uint32_t i = 1; i < maker->usedCount; i++) {
    if (maker->joints[maker->used[i]].total > maker->joints[maker->used[main]].total) {
      main = i;
    }
  }
  uint32_t joint = maker->used[main];
  maker->used[main] = maker->used[0];
  maker->used[0] = joint;
}

static bool addTerms(Maker *maker, uint32_t node) {
  const bool linear = maker->pose->skin->mode == PN_SKIN_LINEAR, balls = !maker->tree->slabs;
  uint32_t n;
  const uint32_t *v = pn_verticesBelow(maker->tree, node, &n);
  Extent all = gatherJoints(maker, v, n);
  pnSpan span = spanOf(&all);
  if (balls) {
    span = ballOf(maker, v, n, PN_NONE);
  }
  maker->spans[node] = span;
  mainFirst(maker);
  bool changes = linear && maker->usedCount > 1 && maker->usedCount <= PN_CHANGE_TERMS;
  if (changes) {
    gatherChanges(maker, v, n, span.mid);
  }
  for (uint32_t i = 0; i < maker->usedCount; i++) {
    const Gathered *g = &maker->joints[maker->used[i]];
    pnSkinTerm term = {.joint = maker->used[i]};
    roundOut(linear && g->listed < n ? 0 : g->low, g->high, &term.weight, &term.weightHalf);
    term.moves = balls ? ballOf(maker, v, n, term.joint) : spanOf(&g->moves);
    if (changes) {
      term.change = spanOf(&g->change);
      if (balls) {
        ballOfSpan(&term.change);
      }
    }
    term.away = linear ? 0 : farFromPivot(maker, v, n, term.joint);
    if (!pn_arrayPush(&maker->terms, term)) {
      return false;
    }
  }
  return true;
}

/* What the targets do to one vertex: a reference's part is its difference to the rest position. */
static void gatherTargets(Maker *maker, uint32_t vertex) {
  const pnMorph *morph = maker->pose->morph;
  const bool deltas = morph->mode == PN_MORPH_DELTAS;
  double p[3], move[3];
  restOf(maker, vertex, p);
  uint32_t first = deltas ? morph->entryFirst[vertex] : 0,
           end = deltas ? morph->entryFirst[vertex + 1] : morph->targetCount;
  for (uint32_t e = first; e < end; e++) {
    const float *given =
        deltas ? morph->entries[e].move : morph->positions + 3 * ((size_t)vertex * morph->targetCount + e);
    for (int k = 0; k < 3; k++) {
      move[k] = given[k] - (deltas ? 0 : p[k]);
    }
    growExtent(&touch(maker, &maker->targets[deltas ? morph->entries[e].target : e])->moves, move);
  }
}

/* Deltas of the targets that move something below a node. */
static bool addDeltas(Maker *maker, uint32_t node) {
  const pnMorph *morph = maker->pose->morph;
  static const double zero[3] = {0};
  uint32_t n;
  const uint32_t *v = pn_verticesBelow(maker->tree, node, &n);
  maker->mark++;
  for (uint32_t i = 0; i < n; i++) {
    gatherTargets(maker, v[i] / 3);
  }
  for (uint32_t t = 0; t < morph->targetCount; t++) {
    Gathered *g = &maker->targets[t];
    if (g->mark != maker->mark) {
      continue;
    }
    if (g->listed < n) {
      growExtent(&g->moves, zero);
    }
    if (!pn_arrayPush(&maker->deltas, ((pnSkinDelta){t, spanOf(&g->moves)}))) {
      return false;
    }
  }
  return true;
}

/* ---------------------------------------------------------------- memory */

/* Hands out pieces of the block; with a null base it only counts. */
static void *carve(char *base, size_t *at, size_t count, size_t size) {
  size_t here = *at;
  *at = (here + count * size + 63) & ~(size_t)63;
  return base ? base + here : NULL;
}

static size_t layout(const Maker *maker, pnSkinBound *bound, char *base) {
  size_t at = 0, nodes = maker->tree->nodeCount;
  carve(base, &at, 1, sizeof(pnSkinBound));
  bound->spans = carve(base, &at, nodes, sizeof(pnSpan));
  bound->termFirst = carve(base, &at, nodes + 1, sizeof(uint32_t));
  bound->terms = carve(base, &at, maker->terms.count, sizeof(pnSkinTerm));
  bound->joints = carve(base, &at, maker->pose->skin->jointCount, sizeof(pnSkinJoint));
  if (maker->pose->morph) {
    bound->deltaFirst = carve(base, &at, nodes + 1, sizeof(uint32_t));
    bound->deltas = carve(base, &at, maker->deltas.count, sizeof(pnSkinDelta));
  }
  return at;
}

/* What was gathered, into one block with the tree. */
static pnResult keep(pnTree *tree, const Maker *maker) {
  const pnSlabSet *set = tree->slabs ? tree->slabs : &pn_slabBox;
  pnSkinBound bound = {.groupCount = 1 + (set->count - 3 + 3) / 4};
  size_t nodes = tree->nodeCount;
  pnResult result = pn_allocRuleData(tree, layout(maker, &bound, NULL));
  if (result != PN_OK) {
    return result;
  }
  memset(tree->ruleData, 0, tree->ruleBytes);
  layout(maker, &bound, tree->ruleData);
  memcpy(bound.spans, maker->spans, nodes * sizeof(pnSpan));
  memcpy(bound.termFirst, maker->termFirst, (nodes + 1) * sizeof(uint32_t));
  memcpy(bound.terms, maker->terms.data, maker->terms.count * sizeof(pnSkinTerm));
  if (maker->pose->morph) {
    memcpy(bound.deltaFirst, maker->deltaFirst, (nodes + 1) * sizeof(uint32_t));
    if (maker->deltas.count > 0) {
      memcpy(bound.deltas, maker->deltas.data, maker->deltas.count * sizeof(pnSkinDelta));
    }
  }
  memcpy(tree->ruleData, &bound, sizeof bound);
  return PN_OK;
}

/* All nodes; false: out of memory, or more terms than can be numbered. */
static bool gatherAll(Maker *maker) {
  uint32_t nodes = maker->tree->nodeCount;
  for (uint32_t node = 0; node < nodes; node++) {
    maker->termFirst[node] = (uint32_t)maker->terms.count;
    maker->deltaFirst[node] = (uint32_t)maker->deltas.count;
    if (!addTerms(maker, node) || (maker->pose->morph && !addDeltas(maker, node)) || maker->terms.count > UINT32_MAX ||
        maker->deltas.count > UINT32_MAX) {
      return false;
    }
  }
  maker->termFirst[nodes] = (uint32_t)maker->terms.count;
  maker->deltaFirst[nodes] = (uint32_t)maker->deltas.count;
  return true;
}

pnResult pn_makeSkinBound(pnTree *tree) {
  const pnPose *pose = tree->pose;
  uint32_t most, targets = pose->morph ? pose->morph->targetCount : 1, joints = pose->skin->jointCount;
  pn_verticesBelow(tree, 0, &most);
  size_t pointBytes = pn_bytes(4 * (size_t)most, sizeof(float)), firstBytes = pn_bytes((size_t)tree->nodeCount + 1, 4);
  size_t jointBytes = pn_bytes(joints, sizeof(Gathered)), targetBytes = pn_bytes(targets, sizeof(Gathered));
  size_t usedBytes = pn_bytes(joints, sizeof(uint32_t)), spanBytes = pn_bytes(tree->nodeCount, sizeof(pnSpan));
  Maker maker = {.tree = tree, .pose = pose};
  maker.points = pn_allocZero(pointBytes);
  maker.joints = pn_allocZero(jointBytes);
  maker.targets = pn_allocZero(targetBytes);
  maker.used = pn_alloc(usedBytes);
  maker.spans = pn_alloc(spanBytes);
  maker.termFirst = pn_alloc(firstBytes);
  maker.deltaFirst = pn_alloc(firstBytes);
  bool ok = maker.points && maker.joints && maker.targets && maker.used && maker.spans && maker.termFirst &&
            maker.deltaFirst && gatherAll(&maker);
  pnResult result = ok ? keep(tree, &maker) : pn_failMemory(maker.terms.count * sizeof(pnSkinTerm));
  pn_arrayFree(&maker.terms);
  pn_arrayFree(&maker.deltas);
  pn_free(maker.deltaFirst, firstBytes);
  pn_free(maker.termFirst, firstBytes);
  pn_free(maker.spans, spanBytes);
  pn_free(maker.used, usedBytes);
  pn_free(maker.targets, targetBytes);
  pn_free(maker.joints, jointBytes);
  pn_free(maker.points, pointBytes);
  return result;
}
