/* broad.c: see broad.h.
 *
 * Boxes are sorted along a curve through their middles (Morton's order) and every eight of them become a node, every eight
 * nodes a node, up to one: a tree without pointers that is built in a few passes. When much has changed it is built anew
 * and opened against itself; when little has, the ways up from the changed boxes are mended, only these are looked for
 * in it, and the other pairs are kept. A frame in which nothing changed does nothing.
 *
 * A crowd (broad.h) is one place of the tree in which everything overlaps: box after box is looked for in it.
 *
 * Large boxes come first in the order, so that they make their own nodes large and not those of small ones. */
#include "collide/broad.h"

#include "geom/box.h"
#include "geom/sample.h"

#include <float.h>
#include <string.h>

/* ---------------------------------------------------------------- boxes */

/* Anything that is not a number is empty too. */
static bool isEmpty(const pnBox *b) {
  return !(b->min.x <= b->max.x && b->min.y <= b->max.y && b->min.z <= b->max.z);
}

/* No coordinate is beyond this, so that the lanes of nobody, beyond it, overlap nothing. Numbers that are brought back keep their
 * order: boxes that overlap still do. */
#define FARTHEST (FLT_MAX / 2)

static pnBox clampBox(pnBox box) {
  for (int k = 0; k < 3; ++k) {
    (&box.min.x)[k] = PN_MAX(-FARTHEST, PN_MIN(FARTHEST, (&box.min.x)[k]));
    (&box.max.x)[k] = PN_MAX(-FARTHEST, PN_MIN(FARTHEST, (&box.max.x)[k]));
  }
  return box;
}

pnBroadBox pn_emptyBroadBox(void) {
  return (pnBroadBox){pn_emptyBox(), 0, 0};
}

bool pn_reserveBroad(pnBroadPhase *broad, size_t placeCount) {
  if (!pn_arrayReserve(&broad->boxes, placeCount) || !pn_arrayReserve(&broad->perchOf, placeCount) ||
      !pn_arrayReserve(&broad->isChanged, placeCount) || !pn_arrayReserve(&broad->changed, placeCount) ||
      !pn_arrayReserve(&broad->newcomers, placeCount))
    return false;
  for (size_t i = broad->boxes.count; i < placeCount; ++i) {
    broad->boxes.data[broad->boxes.count++] = pn_emptyBroadBox();
    broad->perchOf.data[broad->perchOf.count++] = PN_NONE;
    broad->isChanged.data[broad->isChanged.count++] = 0;
  }
  return true;
}

void pn_putBroadBox(pnBroadPhase *broad, uint32_t place, pnBroadBox box) {
  if (isEmpty(&box.box)) box = pn_emptyBroadBox();
  else box.box = clampBox(box.box);
  pnBroadBox *old = &broad->boxes.data[place];
  if (memcmp(old, &box, sizeof box) == 0) return;
  *old = box;
  if (!broad->isChanged.data[place]) broad->isChanged.data[place] = 2;
}

void pn_noteBroadBox(pnBroadPhase *broad, uint32_t place) {
  if (broad->isChanged.data[place] != 2) return;
  broad->isChanged.data[place] = 1;
  broad->changed.data[broad->changed.count++] = place; /* each once: there is room */
}

void pn_setBroadBox(pnBroadPhase *broad, uint32_t place, pnBroadBox box) {
  pn_putBroadBox(broad, place, box);
  pn_noteBroadBox(broad, place);
}

/* ---------------------------------------------------------------- lanes of nodes */

static pnBroadNode emptyNode(void) {
  pnBroadNode n;
  for (int k = 0; k < 3; ++k) {
    for (uint32_t j = 0; j < PN_LANES; ++j) {
      n.lo[k][j] = FLT_MAX;
      n.hi[k][j] = -FLT_MAX;
    }
  }
  return n;
}

static void putLane(pnBroadNode *node, uint32_t lane, const pnBox *box) {
  for (int k = 0; k < 3; ++k) {
    node->lo[k][lane] = (&box->min.x)[k];
    node->hi[k][lane] = (&box->max.x)[k];
  }
}

static pnBox laneOf(const pnBroadNode *node, uint32_t lane) {
  pnBox box;
  for (int k = 0; k < 3; ++k) {
    (&box.min.x)[k] = node->lo[k][lane];
    (&box.max.x)[k] = node->hi[k][lane];
  }
  return box;
}

/* The box around all lanes; empty lanes change nothing. */
static pnBox unionOf(const pnBroadNode *node) {
  pnBox box = laneOf(node, 0);
  for (uint32_t j = 1; j < PN_LANES; ++j) {
    for (int k = 0; k < 3; ++k) {
      (&box.min.x)[k] = PN_MIN((&box.min.x)[k], node->lo[k][j]);
      (&box.max.x)[k] = PN_MAX((&box.max.x)[k], node->hi[k][j]);
    }
  }
  return box;
}

/* Lanes that overlap a box, a bit each. */
PN_INLINE unsigned lanesMeeting(const pnBroadNode *node, const pnBox *box) {
  unsigned apart = 0;
  for (int half = 0; half < 2; ++half) {
    pnF4 out = pn_f4Set1(0);
    for (int k = 0; k < 3; ++k) {
      pnF4 lo = pn_f4Load(node->lo[k] + 4 * half), hi = pn_f4Load(node->hi[k] + 4 * half);
      out = pn_f4Or(out, pn_f4Greater(lo, pn_f4Set1((&box->max.x)[k])));
      out = pn_f4Or(out, pn_f4Greater(pn_f4Set1((&box->min.x)[k]), hi));
    }
    apart |= pn_f4Signs(out) << (4 * half);
  }
  return ~apart & 0xff;
}

static pnBroadNode *nodeAt(const pnBroadPhase *broad, uint32_t level, size_t i) {
  return &broad->nodes.data[broad->levelFirst[level] + i];
}

/* ---------------------------------------------------------------- building */

#define CURVE_BITS 10 /* a direction: thousand cells each way; places take the lower 32 of 64 bits, one is for size */
/* A box is large when it is so many times longer than their mean; where a few are so long that this says nothing, their mean is taken for so many
 * times the length of the middle one. */
#define LARGE 8.0
#define MOST_MEAN 16.0
/* The curve is laid over most of the boxes (geom/sample.h) where all of them reach so many times as far: a body that fell out of the world
 * would leave all others in one cell. */
#define FAR 16.0
/* Of fewer than this samples say little, and there are few pairs. */
#define LEAST_SAMPLED (4 * PN_SAMPLES)

typedef struct Curve {
  double lo[3], scale, large;
} Curve;

static double middleOf(const pnBox *box, int k) {
  const float *b = &box->min.x;
  return 0.5 * ((double)b[k] + b[k + 3]);
}

/* Over most of n boxes instead of all, which are `side` long, where that pays; returns how long it is. */
static double layOverMost(const pnBroadPhase *broad, size_t n, double side, Curve *curve) {
  pnSamples middles;
  float lengths[PN_SAMPLES];
  pnBox most;
  for (uint32_t i = 0; i < PN_SAMPLES; ++i) {
    const pnBox *box = &broad->boxes.data[broad->keys.data[pn_sampleAt(i, n)]].box;
    for (int k = 0; k < 3; ++k) middles.at[k][i] = (float)middleOf(box, k);
    lengths[i] = (float)PN_MIN(pn_sumOfSides(box), (double)FLT_MAX);
  }
  curve->large = PN_MIN(curve->large, LARGE * MOST_MEAN * pn_medianOf(lengths));
  double bulk = pn_findMost(&middles, &most) ? pn_longestSide(&most) : side;
  if (side <= FAR * bulk) return side;
  for (int k = 0; k < 3; ++k) curve->lo[k] = (&most.min.x)[k];
  return bulk;
}

/* Over n boxes whose middles are between lo and hi, and whose lengths are this long together. */
static Curve layCurve(const pnBroadPhase *broad, size_t n, const double lo[3], const double hi[3], double length) {
  Curve curve = {.lo = {lo[0], lo[1], lo[2]}, .large = LARGE * length / (n > 0 ? (double)n : 1)};
  double side = PN_MAX(PN_MAX(hi[0] - lo[0], hi[1] - lo[1]), hi[2] - lo[2]);
  if (n >= LEAST_SAMPLED) side = layOverMost(broad, n, side, &curve);
  curve.scale = side > 0 ? ((1 << CURVE_BITS) - 1) / side : 0;
  return curve;
}

/* What is beyond the curve stands at its ends. */
static uint32_t stepAlong(const Curve *curve, const pnBox *box, int k) {
  double step = (middleOf(box, k) - curve->lo[k]) * curve->scale;
  return (uint32_t)PN_MAX(0.0, PN_MIN(step, (1 << CURVE_BITS) - 1.0));
}

/* Sorts all boxes that are not empty along the curve; keys hold the places in their lower halves. */
static bool sortAlongCurve(pnBroadPhase *broad) {
  size_t n = 0;
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX}, length = 0;
  if (!pn_arrayReserve(&broad->keys, broad->boxes.count) || !pn_arrayReserve(&broad->scratch, broad->boxes.count))
    return false;
  for (size_t i = 0; i < broad->boxes.count; ++i) {
    const pnBox *box = &broad->boxes.data[i].box;
    if (isEmpty(box)) continue;
    broad->keys.data[n++] = i;
    length += pn_sumOfSides(box);
    for (int k = 0; k < 3; ++k) {
      lo[k] = PN_MIN(lo[k], middleOf(box, k));
      hi[k] = PN_MAX(hi[k], middleOf(box, k));
    }
  }
  Curve curve = layCurve(broad, n, lo, hi, length);
  for (size_t i = 0; i < n; ++i) {
    uint64_t place = broad->keys.data[i], code = 0;
    const pnBox *box = &broad->boxes.data[place].box;
    for (int k = 0; k < 3; ++k) code |= (uint64_t)pn_spreadBits(stepAlong(&curve, box, k)) << k;
    code |= (uint64_t)(pn_sumOfSides(box) <= curve.large) << (3 * CURVE_BITS);
    broad->keys.data[i] = code << 32 | place;
  }
  broad->keys.count = n;
  pn_sortU64(broad->keys.data, broad->scratch.data, n);
  return true;
}

/* Nodes of every level from those below. */
static void fillLevels(pnBroadPhase *broad, const size_t *counts) {
  for (uint32_t level = 1; level < broad->levelCount; ++level) {
    for (size_t i = 0; i < counts[level]; ++i) *nodeAt(broad, level, i) = emptyNode();
    for (size_t i = 0; i < counts[level - 1]; ++i) {
      pnBox box = unionOf(nodeAt(broad, level - 1, i));
      putLane(nodeAt(broad, level, i / PN_LANES), i % PN_LANES, &box);
    }
  }
}

static bool build(pnBroadPhase *broad) {
  if (!sortAlongCurve(broad)) return false;
  size_t n = broad->keys.count, counts[PN_BROAD_LEVELS], total = 0;
  uint32_t levels = 0;
  for (size_t count = (n + PN_LANES - 1) / PN_LANES; n > 0; count = (count + PN_LANES - 1) / PN_LANES) {
    broad->levelFirst[levels] = total;
    counts[levels++] = count;
    total += count;
    if (count == 1) break;
  }
  if (!pn_arrayReserve(&broad->nodes, total) ||
      !pn_arrayReserve(&broad->placeAt, levels > 0 ? counts[0] * PN_LANES : 0))
    return false;
  broad->levelCount = levels;
  broad->nodes.count = total;
  broad->placeAt.count = levels > 0 ? counts[0] * PN_LANES : 0;
  for (size_t place = 0; place < broad->boxes.count; ++place) broad->perchOf.data[place] = PN_NONE;
  for (size_t perch = 0; perch < broad->placeAt.count; ++perch) {
    uint32_t place = perch < n ? (uint32_t)broad->keys.data[perch] : PN_NONE;
    pnBroadNode *node = nodeAt(broad, 0, perch / PN_LANES);
    if (perch % PN_LANES == 0) *node = emptyNode();
    broad->placeAt.data[perch] = place;
    if (place != PN_NONE) {
      broad->perchOf.data[place] = (uint32_t)perch;
      putLane(node, perch % PN_LANES, &broad->boxes.data[place].box);
    }
  }
  fillLevels(broad, counts);
  broad->newcomers.count = 0;
  broad->worn = 0;
  return true;
}

/* ---------------------------------------------------------------- finding pairs */

static uint32_t crowdOf(const pnBroadPhase *broad) {
  size_t each = PN_BROAD_CROWD_EACH * broad->boxes.count;
  return broad->crowd > 0 ? broad->crowd : (uint32_t)PN_MIN(PN_MAX(each, PN_BROAD_CROWD), UINT32_MAX);
}

/* Appends a pair of places. False: out of memory, or this is a crowd; the worker says which. */
static bool addPair(const pnBroadPhase *broad, pnBroadWorker *w, uint32_t a, uint32_t b) {
  if (!pn_mayMeet(&broad->boxes.data[a], &broad->boxes.data[b])) return true;
  w->isTooMany = w->found.count == crowdOf(broad) && !broad->isCrowd;
  if (w->isTooMany) return false;
  w->outOfMemory = !pn_arrayPush(&w->found, ((pnPair){PN_MIN(a, b), PN_MAX(a, b)}));
  return !w->outOfMemory;
}

/* A pair of nodes as one word, level and two numbers: 4, 30 and 30 bits, as a lowest level of 2^30 nodes would have more boxes than
 * places can be counted. */
static uint64_t pairOfNodes(uint32_t level, size_t i, size_t j) {
  return (uint64_t)level << 60 | (uint64_t)i << 30 | j;
}
typedef struct NodePair {
  uint32_t level;
  size_t i, j;
} NodePair;
PN_INLINE NodePair nodesOf(uint64_t pair) {
  return (NodePair){(uint32_t)(pair >> 60), (size_t)(pair >> 30 & 0x3fffffff), (size_t)(pair & 0x3fffffff)};
}

static bool pushNodes(pnBroadWorker *w, uint64_t nodes) {
  w->outOfMemory = !pn_arrayPush(&w->stack, nodes);
  return !w->outOfMemory;
}

/* A pair of nodes of one level, i <= j. */
static bool openPair(const pnBroadPhase *broad, pnBroadWorker *w, uint64_t nodes) {
  const NodePair at = nodesOf(nodes);
  const uint32_t level = at.level;
  const size_t i = at.i, j = at.j;
  const pnBroadNode *a = nodeAt(broad, level, i), *b = nodeAt(broad, level, j);
  bool top = level + 1 == broad->levelCount;
  pnBox around = top ? unionOf(b) : laneOf(nodeAt(broad, level + 1, j / PN_LANES), j % PN_LANES);
  for (unsigned rows = lanesMeeting(a, &around); rows != 0; rows &= rows - 1) {
    uint32_t lane = pn_firstLane(rows);
    pnBox box = laneOf(a, lane);
    unsigned m = lanesMeeting(b, &box);
    /* within one node: each pair once, and at the bottom no box with itself */
    m &= i == j ? (level > 0 ? 0xffu : 0xfeu) << lane : 0xffu;
    for (; m != 0; m &= m - 1) {
      size_t x = i * PN_LANES + lane, y = j * PN_LANES + pn_firstLane(m);
      bool ok = level > 0 ? pushNodes(w, pairOfNodes(level - 1, x, y))
                          : addPair(broad, w, broad->placeAt.data[x], broad->placeAt.data[y]);
      if (!ok) return false;
    }
  }
  return true;
}

/* What is on the stack of a worker, to the end. */
static bool openStack(const pnBroadPhase *broad, pnBroadWorker *w) {
  while (w->stack.count > 0)
    if (!openPair(broad, w, w->stack.data[--w->stack.count])) return false;
  return true;
}

/* Boxes from which on it is worth waking others; pairs of nodes that are opened for each of them before they begin, and that one takes at a
 * time. */
#define MANY_BOXES 1024u
#define SEEDS_PER_WORKER 16u
#define SEEDS_AT_A_TIME 4u

/* So many workers who have found nothing yet, nor have any others. */
static bool beginWorkers(pnBroadPhase *broad, uint32_t count) {
  while (broad->workers.count < count)
    if (!pn_arrayPush(&broad->workers, (pnBroadWorker){0})) return false;
  for (size_t i = 0; i < broad->workers.count; ++i) {
    pnBroadWorker *w = &broad->workers.data[i];
    w->found.count = w->stack.count = 0;
    w->isTooMany = w->outOfMemory = false;
  }
  return true;
}

/* Pairs of nodes, level by level until there are so many. */
static bool findSeeds(pnBroadPhase *broad, size_t wanted) {
  pnBroadWorker *w = &broad->workers.data[0];
  for (uint32_t level = broad->levelCount - 1;; --level) {
    pnBroadStack seeds = w->stack;
    w->stack = broad->seeds;
    w->stack.count = 0;
    broad->seeds = seeds;
    if (level == 0 || seeds.count >= wanted) return true;
    for (size_t i = 0; i < seeds.count; ++i)
      if (!openPair(broad, w, seeds.data[i])) return false;
  }
}

static void openSeeds(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  pnBroadPhase *broad = context;
  pnBroadWorker w = broad->workers.data[worker]; /* here, so that workers do not write to one line */
  for (uint32_t i = begin; i < end && !w.isTooMany && !w.outOfMemory; ++i)
    if (pushNodes(&w, broad->seeds.data[i])) openStack(broad, &w);
  broad->workers.data[worker] = w;
}

/* Who opens which seeds is luck: so that a frame like this one allocates nothing, everybody has room for four times a fair share. False:
 * somebody had not. */
static bool levelWorkers(pnBroadPhase *broad) {
  size_t found = 0, stack = 0;
  bool ok = true;
  for (size_t i = 0; i < broad->workers.count; ++i) {
    const pnBroadWorker *w = &broad->workers.data[i];
    found += w->found.count;
    stack = PN_MAX(stack, w->stack.capacity);
    ok = ok && !w->outOfMemory;
  }
  for (size_t i = 0; ok && i < broad->workers.count; ++i) {
    pnBroadWorker *w = &broad->workers.data[i];
    ok = pn_arrayReserve(&w->found, 4 * found / broad->workers.count) && pn_arrayReserve(&w->stack, stack);
  }
  return ok;
}

/* All pairs of the tree with itself. */
static bool findAll(pnBroadPhase *broad, const pnTasks *tasks) {
  pnBroadWorker *w = &broad->workers.data[0];
  if (broad->levelCount == 0) return true;
  if (!pushNodes(w, pairOfNodes(broad->levelCount - 1, 0, 0))) return false;
  if (broad->boxes.count < MANY_BOXES || pn_workerCount(tasks) == 1) return openStack(broad, w);
  if (!findSeeds(broad, (size_t)pn_workerCount(tasks) * SEEDS_PER_WORKER)) return false;
  pn_parallelFor(tasks, openSeeds, broad, (uint32_t)broad->seeds.count, SEEDS_AT_A_TIME);
  return levelWorkers(broad);
}

/* Have workers found more than may be of what is no crowd? */
static bool areTooMany(const pnBroadPhase *broad) {
  size_t count = 0;
  bool any = false;
  for (size_t i = 0; i < broad->workers.count; ++i) {
    count += broad->workers.data[i].found.count;
    any = any || broad->workers.data[i].isTooMany;
  }
  return any || count > crowdOf(broad);
}

/* Every box against every box; the tree is left behind and so must go. */
static bool compareAll(pnBroadPhase *broad) {
  pnBroadWorker *w = &broad->workers.data[0];
  broad->placeAt.count = broad->newcomers.count = broad->levelCount = 0;
  for (uint32_t i = 0; i < broad->boxes.count; ++i) {
    for (uint32_t j = i + 1; j < broad->boxes.count; ++j)
      if (pn_boxesOverlap(&broad->boxes.data[i].box, &broad->boxes.data[j].box) && !addPair(broad, w, i, j))
        return false;
  }
  return true;
}

/* The way up from a perch after its box has changed. */
static void mend(pnBroadPhase *broad, uint32_t perch) {
  pnBox box = broad->boxes.data[broad->placeAt.data[perch]].box;
  size_t at = perch;
  for (uint32_t level = 0; level < broad->levelCount; ++level, at /= PN_LANES) {
    pnBroadNode *node = nodeAt(broad, level, at / PN_LANES);
    putLane(node, at % PN_LANES, &box);
    box = unionOf(node);
  }
}

/* Another box that overlaps the one at a place. When both have changed both are asked, and of a crowd all are: the lower one keeps
 * the pair. */
static bool offer(pnBroadPhase *broad, uint32_t place, uint32_t other) {
  bool both = broad->isCrowd || broad->isChanged.data[other];
  return other == place || (both && other < place) || addPair(broad, &broad->workers.data[0], place, other);
}

/* Boxes in the tree and newcomers that overlap the one at a place. */
static bool findAround(pnBroadPhase *broad, uint32_t place) {
  pnBox box = broad->boxes.data[place].box;
  pnBroadWorker *w = &broad->workers.data[0];
  w->stack.count = 0;
  bool ok = isEmpty(&box) || broad->levelCount == 0 || pushNodes(w, pairOfNodes(broad->levelCount - 1, 0, 0));
  while (ok && w->stack.count > 0) {
    const NodePair at = nodesOf(w->stack.data[--w->stack.count]);
    for (unsigned m = lanesMeeting(nodeAt(broad, at.level, at.j), &box); ok && m != 0; m &= m - 1) {
      size_t child = at.j * PN_LANES + pn_firstLane(m);
      ok = at.level > 0 ? pushNodes(w, pairOfNodes(at.level - 1, 0, child))
                        : offer(broad, place, broad->placeAt.data[child]);
    }
  }
  for (size_t i = 0; ok && i < broad->newcomers.count; ++i) {
    uint32_t other = broad->newcomers.data[i];
    ok = !pn_boxesOverlap(&box, &broad->boxes.data[other].box) || offer(broad, place, other);
  }
  return ok;
}

/* Brings changed boxes into the tree or among the newcomers. */
static void mendChanged(pnBroadPhase *broad) {
  for (size_t i = 0; i < broad->changed.count; ++i) {
    uint32_t place = broad->changed.data[i];
    if (broad->perchOf.data[place] != PN_NONE) mend(broad, broad->perchOf.data[place]);
  }
  size_t kept = 0;
  for (size_t i = 0; i < broad->newcomers.count; ++i) {
    uint32_t place = broad->newcomers.data[i];
    broad->newcomers.data[kept] = place;
    kept += !broad->isChanged.data[place];
  }
  broad->newcomers.count = kept;
  for (size_t i = 0; i < broad->changed.count; ++i) {
    uint32_t place = broad->changed.data[i];
    if (broad->perchOf.data[place] == PN_NONE && !isEmpty(&broad->boxes.data[place].box))
      broad->newcomers.data[broad->newcomers.count++] = place;
  }
}

/* Pairs around the changed ones. */
static bool findChanged(pnBroadPhase *broad) {
  mendChanged(broad);
  for (size_t i = 0; i < broad->changed.count; ++i)
    if (!findAround(broad, broad->changed.data[i])) return false;
  return true;
}

static bool isBefore(pnPair a, pnPair b) {
  return a.a < b.a || (a.a == b.a && a.b < b.b);
}

/* And with them those of which neither side has changed, which stand in order: into `next`. */
static bool mergeChanged(pnBroadPhase *broad) {
  const pnPairs *found = &broad->workers.data[0].found;
  pnPairs *next = &broad->next;
  size_t count = 0, at = 0;
  if (!pn_arrayReserve(next, broad->pairs.count + found->count) || !pn_arrayReserve(&broad->scratch, found->count))
    return false;
  pn_sortWords(found->data, broad->scratch.data, found->count);
  for (size_t i = 0; i < broad->pairs.count; ++i) {
    pnPair p = broad->pairs.data[i];
    if (broad->isChanged.data[p.a] | broad->isChanged.data[p.b]) continue;
    while (at < found->count && isBefore(found->data[at], p)) next->data[count++] = found->data[at++];
    next->data[count++] = p;
  }
  while (at < found->count) next->data[count++] = found->data[at++];
  next->count = count;
  return true;
}

/* The list of pairs is right. */
static void forgetChanged(pnBroadPhase *broad) {
  for (size_t i = 0; i < broad->changed.count; ++i) broad->isChanged.data[broad->changed.data[i]] = 0;
  broad->changed.count = 0;
}

static void takeNext(pnBroadPhase *broad) {
  pnPairs pairs = broad->pairs;
  broad->pairs = broad->next;
  broad->next = pairs;
  forgetChanged(broad);
}

/* What workers have found as the list of pairs, sorted. */
static bool keepPairs(pnBroadPhase *broad, const pnTasks *tasks) {
  size_t n = 0;
  broad->found.count = 0;
  if (!pn_arrayReserve(&broad->found, broad->workers.count)) return false;
  for (size_t i = 0; i < broad->workers.count; ++i) {
    const pnPairs *found = &broad->workers.data[i].found;
    if (found->count > 0) broad->found.data[broad->found.count++] = (pnKeyList){&found->data->a, n};
    n += found->count;
  }
  if (!pn_arrayReserve(&broad->pairs, n) || !pn_arrayReserve(&broad->scratch, 2 * n)) return false;
  pn_sortListsByMany(broad->found.data, (uint32_t)broad->found.count, n, broad->pairs.data, broad->scratch.data, tasks);
  broad->pairs.count = n;
  forgetChanged(broad);
  return true;
}

/* The tree is built anew when this part of the boxes has changed in a frame, or so many times all since it was built. */
#define MUCH 8u
#define WORN 2u
/* Newcomers that are looked through one by one. */
#define NEWCOMERS 64u

/* Of a crowd: the pairs of the next rows. */
bool pn_findNextClose(pnBroadPhase *broad) {
  if (!beginWorkers(broad, 1)) return false;
  const pnPairs *found = &broad->workers.data[0].found;
  for (; broad->nextRow < broad->boxes.count && 4 * found->count < crowdOf(broad); ++broad->nextRow)
    if (!findAround(broad, broad->nextRow)) return false;
  return keepPairs(broad, NULL);
}

/* Everything anew. */
static bool findAnew(pnBroadPhase *broad, bool all, const pnTasks *tasks) {
  bool ok = all ? compareAll(broad) : build(broad) && findAll(broad, tasks);
  broad->isCrowd = areTooMany(broad);
  return broad->isCrowd || (ok && keepPairs(broad, tasks));
}

/* What has changed. */
static bool findMore(pnBroadPhase *broad) {
  bool ok = findChanged(broad);
  broad->isCrowd = areTooMany(broad);
  if (broad->isCrowd || !ok || !mergeChanged(broad)) return broad->isCrowd;
  broad->isCrowd = broad->next.count > crowdOf(broad);
  if (!broad->isCrowd) takeNext(broad);
  return true;
}

bool pn_findClose(pnBroadPhase *broad, bool all, const pnTasks *tasks) {
  bool wasCrowd = broad->isCrowd; /* the list is not whole: nothing to go on from */
  if (broad->changed.count == 0 && !wasCrowd) return true;
  if (!beginWorkers(broad, pn_workerCount(tasks))) return false;
  broad->worn += broad->changed.count;
  bool anew = all || wasCrowd || broad->changed.count > broad->placeAt.count / MUCH ||
              broad->worn > WORN * broad->placeAt.count ||
              broad->newcomers.count + broad->changed.count > NEWCOMERS + broad->placeAt.count / MUCH;
  broad->isCrowd = false;
  bool ok = anew ? findAnew(broad, all, tasks) : findMore(broad);
  if (!broad->isCrowd) {
    broad->isCrowd = !ok && wasCrowd;
    return ok;
  }
  broad->nextRow = 0;
  return build(broad) && pn_findNextClose(broad);
}

void pn_freeBroad(pnBroadPhase *broad) {
  pn_arrayFree(&broad->boxes);
  pn_arrayFree(&broad->perchOf);
  pn_arrayFree(&broad->isChanged);
  pn_arrayFree(&broad->changed);
  pn_arrayFree(&broad->newcomers);
  pn_arrayFree(&broad->placeAt);
  pn_arrayFree(&broad->nodes);
  pn_arrayFree(&broad->pairs);
  pn_arrayFree(&broad->next);
  pn_arrayFree(&broad->keys);
  pn_arrayFree(&broad->scratch);
  pn_arrayFree(&broad->seeds);
  pn_arrayFree(&broad->found);
  for (size_t i = 0; i < broad->workers.count; ++i) {
    pn_arrayFree(&broad->workers.data[i].stack);
    pn_arrayFree(&broad->workers.data[i].found);
  }
  pn_arrayFree(&broad->workers);
  *broad = (pnBroadPhase){0};
}
