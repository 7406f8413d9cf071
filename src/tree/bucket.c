/* bucket.c: a tree over a soup, made anew in every update in time linear in the primitives. See bucket.h.
 *
 * [Ganovelli00]. Where we differ: nodes are the tight boxes of what they hold, not cells of space; occupied nodes are copied
 * into the layout of tree.h, so that one traversal serves everything; a node with at most eight leaves is
 * the parent of those leaves, whatever levels lie between; and the default order is not the paper's (docs/soup.md). */
#include "tree/bucket.h"

#include "base/fenv.h"
#include "tree/build.h"
#include "tree/update.h"

#include <float.h>

#define GRAIN 1024u /* primitives a task takes, times eight */

static pnBuckets *bucketsOf(const pnTree *tree) {
  return tree->ruleData;
}

/* ---------------------------------------------------------------- memory */

static bool isKept(const pnBuckets *b) {
  return b->lab.method == PN_BUCKET_KEPT || b->lab.method == PN_BUCKET_DEFAULT;
}

/* Frees what is kept by place or by primitive. */
static void freePlaces(pnBuckets *b) {
  size_t n = b->room, word = pn_bytes(n, sizeof(uint32_t)), keys = pn_bytes(n, sizeof(pnKeyValue));
  pn_free(b->centres, pn_bytes(n, 3 * sizeof(float)));
  pn_free(b->cells, word);
  pn_free(b->order, word);
  pn_free(b->listed, word);
  pn_free(b->keys, keys);
  pn_free(b->scratch, keys);
  pn_free(b->fresh, pn_bytes(n / PN_FEW_FRESH + 1, sizeof(pnKeyValue)));
  for (int k = 0; k < 3; k++) {
    pn_free(b->axis[k], keys);
    pn_free(b->axisCells[k], n);
  }
}

/* Allocates it for `room` places, as far as the method needs it. */
static bool allocPlaces(pnBuckets *b, pnBucketMethod method, bool kept) {
  size_t n = b->room, word = pn_bytes(n, sizeof(uint32_t)), keys = pn_bytes(n, sizeof(pnKeyValue));
  bool sorted = method == PN_BUCKET_SORTED;
  b->centres = kept ? NULL : pn_alloc(pn_bytes(n, 3 * sizeof(float)));
  b->cells = pn_alloc(word);
  b->order = pn_alloc(word);
  b->listed = sorted ? pn_allocZero(word) : NULL;
  b->keys = pn_alloc(keys);
  b->scratch = pn_alloc(keys);
  b->fresh = kept ? pn_alloc(pn_bytes(n / PN_FEW_FRESH + 1, sizeof(pnKeyValue))) : NULL;
  bool ok = (kept ? (void *)b->fresh : b->centres) && b->cells && b->order && b->keys && b->scratch;
  for (int k = 0; k < 3; k++) {
    b->axis[k] = sorted ? pn_alloc(keys) : NULL;
    b->axisCells[k] = sorted ? pn_alloc(n) : NULL;
    ok = ok && ((b->axis[k] && b->axisCells[k]) || !sorted);
  }
  return ok && (b->listed || !sorted);
}

/* Room for so many places. On failure the old arrays stay. */
static bool reservePlaces(pnBuckets *b, uint32_t places) {
  if (places <= b->room) {
    return true;
  }
  size_t most = PN_MAX((size_t)places, b->room + (size_t)b->room / 2), old = b->room;
  pnBuckets *made = pn_allocZero(sizeof *made);
  bool ok = made != NULL;
  if (ok) {
    made->room = (uint32_t)most;
    ok = allocPlaces(made, b->lab.method, isKept(b));
  }
  /* what goes on from update to update is copied, then the old and the new change places */
  if (ok && old > 0) {
    memcpy(made->keys, b->keys, old * sizeof(pnKeyValue));
    memcpy(made->order, b->order, old * sizeof(uint32_t));
    memcpy(made->cells, b->cells, old * sizeof(uint32_t));
    for (int k = 0; b->listed && k < 3; k++) {
      memcpy(made->axis[k], b->axis[k], b->axisCount * sizeof(pnFloatKey));
    }
    if (b->listed) {
      memcpy(made->listed, b->listed, old * sizeof(uint32_t));
    }
  }
  if (ok) {
    freePlaces(b);
    b->centres = made->centres, b->cells = made->cells, b->order = made->order, b->listed = made->listed;
    b->keys = made->keys, b->scratch = made->scratch, b->fresh = made->fresh, b->room = made->room;
    memcpy(b->axis, made->axis, sizeof b->axis);
    memcpy(b->axisCells, made->axisCells, sizeof b->axisCells);
  } else if (made) {
    freePlaces(made);
  }
  pn_free(made, sizeof *made);
  return ok;
}

/* The full octree, for as many levels as it ever had. A new one has no marks. */
static bool reserveOctree(pnBuckets *b) {
  if (b->levels <= b->nodeLevels && b->nodes) {
    return true;
  }
  size_t size = pn_bytes(pn_levelBegin(b->levels + 1), sizeof(pnBucketNode));
  pnBucketNode *nodes = b->levels ? pn_allocZero(size) : NULL;
  if (!nodes) {
    return b->levels == 0;
  }
  pn_free(b->nodes, b->nodes ? pn_bytes(pn_levelBegin(b->nodeLevels + 1), sizeof(pnBucketNode)) : 0);
  b->nodes = nodes;
  b->nodeLevels = b->levels;
  return true;
}

/* The arrays of tree, shape and index, out of one block. */
typedef struct Layout {
  pnShape shape;
  _Atomic uint32_t *stamp;
  char *lanes;
  float *positions, *boxes;
  uint32_t *leafLists;
} Layout;

static size_t layOut(Layout *l, char *base, size_t inner, size_t leaves, size_t primitives) {
  size_t at = 0, nodes = inner + leaves;
  pn_carveNodes(&l->shape, base, &at, inner, leaves);
  l->stamp = pn_carve(base, &at, nodes, sizeof(uint32_t));
  l->lanes = pn_carve(base, &at, nodes + 1, sizeof(pnSphereLanes)); /* the larger of the two forms */
  l->shape.leafVertices = pn_carve(base, &at, 3 * primitives, sizeof(uint32_t));
  l->positions = pn_carve(base, &at, 3 * primitives, 4 * sizeof(float));
  l->shape.linkFirst = pn_carve(base, &at, leaves + 1, sizeof(uint32_t)); /* zeros: nothing shares a vertex */
  l->boxes = pn_carve(base, &at, nodes + 1, 8 * sizeof(float));           /* and one for dead places */
  l->leafLists = pn_carve(base, &at, leaves, sizeof(uint32_t));           /* zeros: orders are numbered from 1 */
  return at;
}

/* The tree's own arrays, a quarter more than needed when they must grow. On failure the tree stays as it was. */
static bool reserveTree(pnTree *tree, pnBuckets *b, uint32_t inner, uint32_t leaves) {
  if (inner <= b->innerRoom && leaves <= b->leafRoom && b->count <= b->primitiveRoom) {
    return true;
  }
  uint32_t innerRoom = PN_MAX(b->innerRoom, inner + inner / 4), leafRoom = PN_MAX(b->leafRoom, leaves + leaves / 4);
  uint32_t primitiveRoom = PN_MAX(b->primitiveRoom, b->count + b->count / 4);
  Layout l = {.shape = *b->shape};
  size_t size = layOut(&l, NULL, innerRoom, leafRoom, primitiveRoom);
  char *memory = pn_allocZero(size);
  if (!memory) {
    return false;
  }
  pn_free(tree->memory, tree->memoryBytes);
  tree->memory = memory;
  tree->memoryBytes = size;
  b->innerRoom = innerRoom;
  b->leafRoom = leafRoom;
  b->primitiveRoom = primitiveRoom;
  layOut(&l, memory, innerRoom, leafRoom, primitiveRoom);
  *b->shape = l.shape;
  tree->stamp = l.stamp;
  tree->lanes = l.lanes;
  tree->leafPositions = l.positions;
  b->boxes = l.boxes;
  b->leafLists = l.leafLists;
  pn_findCorners(tree);
  return true;
}

/* Bytes beside the tree's block. */
static size_t stateBytes(const pnBuckets *b) {
  size_t place = 2 * sizeof(uint32_t) + 2 * sizeof(pnKeyValue);
  place += b->centres ? 3 * sizeof(float) : sizeof(pnKeyValue) / PN_FEW_FRESH;
  place += b->listed ? sizeof(uint32_t) + 3 * (sizeof(pnFloatKey) + 1) : 0;
  return sizeof(pnBuckets) + b->room * place + b->renewal.room * 2 * sizeof(pnKeyValue) +
         b->leafBegin.capacity * sizeof(uint32_t) + b->inner.capacity * sizeof(pnBucketInner) +
         b->workerBoxes.capacity * sizeof(float) +
         (b->nodes ? pn_levelBegin(b->nodeLevels + 1) * sizeof(pnBucketNode) : 0);
}

static void release(pnTree *tree) {
  pnBuckets *b = bucketsOf(tree);
  freePlaces(b);
  pn_free(b->nodes, b->nodes ? pn_bytes(pn_levelBegin(b->nodeLevels + 1), sizeof(pnBucketNode)) : 0);
  pn_arrayFree(&b->leafBegin);
  pn_arrayFree(&b->inner);
  pn_arrayFree(&b->workerBoxes);
  pn_free(b->renewal.keys, pn_bytes(b->renewal.room, sizeof(pnKeyValue)));
  pn_free(b->renewal.scratch, pn_bytes(b->renewal.room, sizeof(pnKeyValue)));
  pn_free(b, sizeof *b);
  tree->ruleData = NULL;
  tree->ruleBytes = 0;
}

/* ---------------------------------------------------------------- centres */

typedef struct CentrePass {
  pnBuckets *b;
  pnF4 lo[PN_MAX_WORKERS], hi[PN_MAX_WORKERS];
} CentrePass;

/* The middle of each primitive's box; the box of all. */
static void centreRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  CentrePass *pass = context;
  const pnSoup *soup = pass->b->soup;
  pnF4 allLo = pass->lo[worker], allHi = pass->hi[worker];
  for (uint32_t place = begin; place < end; place++) {
    if (!pn_isAlive(soup, place)) {
      continue;
    }
    const float *p = soup->positions + 9 * (size_t)place;
    pnF4 a = pn_f4Load(p), b = pn_f4Load(p + 3), c = pn_f4Load(p + 6);
    pnF4 lo = pn_f4Min(a, pn_f4Min(b, c)), hi = pn_f4Max(a, pn_f4Max(b, c));
    float centre[4];
    pn_centreOf(pass->b, place, centre);
    for (uint32_t k = 0; k < 3; k++) {
      pass->b->centres[k * (size_t)pass->b->room + place] = centre[k];
    }
    allLo = pn_f4Min(allLo, lo);
    allHi = pn_f4Max(allHi, hi);
  }
  pass->lo[worker] = allLo;
  pass->hi[worker] = allHi;
}

void pn_findCentres(pnBuckets *b, const pnTasks *tasks) {
  CentrePass pass = {.b = b};
  uint32_t workers = pn_workerCount(tasks);
  for (uint32_t i = 0; i < workers; i++) {
    pass.lo[i] = pn_f4Set1(FLT_MAX);
    pass.hi[i] = pn_f4Set1(-FLT_MAX);
  }
  pn_parallelFor(tasks, centreRange, &pass, b->soup->placeCount, 8 * GRAIN);
  for (uint32_t i = 1; i < workers; i++) {
    pass.lo[0] = pn_f4Min(pass.lo[0], pass.lo[i]);
    pass.hi[0] = pn_f4Max(pass.hi[0], pass.hi[i]);
  }
  float lo[4], hi[4];
  pn_f4Store(lo, pass.lo[0]);
  pn_f4Store(hi, pass.hi[0]);
  b->box = (pnBox){{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
}

/* ---------------------------------------------------------------- inner nodes */

/* The children of an inner node as ranges of leaves. Returns how many. */
static uint32_t divide(const pnBuckets *b, const pnBucketInner *in, pnBucketInner out[PN_LANES]) {
  uint32_t count = 0;
  if (in->leafCount > PN_LANES && in->node != PN_NONE && in->level < b->levels) {
    /* occupied children in the octree */
    for (uint32_t j = 0; j < 8; j++) {
      const pnBucketNode *child = &b->nodes[pn_levelBegin(in->level + 1) + 8 * in->node + j];
      if (child->mark == b->step) {
        out[count++] =
            (pnBucketInner){child->leafFirst, child->leafCount, 8 * in->node + j, in->level + 1, 0, 0, false};
      }
    }
    return count;
  }
  /* full subtrees of leaves: the largest that are smaller than the whole */
  uint32_t unit = 1;
  while (unit * PN_LANES < in->leafCount) {
    unit *= PN_LANES;
  }
  for (uint32_t done = 0; done < in->leafCount; done += unit) {
    uint32_t leaves = PN_MIN(unit, in->leafCount - done);
    out[count++] = (pnBucketInner){in->leafFirst + done, leaves, PN_NONE, 0, 0, 0, false};
  }
  return count;
}

/* Breadth-first: the children of a node are neighbours. */
static bool growInner(pnBuckets *b) {
  uint32_t leaves = (uint32_t)b->leafBegin.count;
  b->inner.count = 0;
  if (leaves < 2) {
    return true;
  }
  pnBucketInner root = {0, leaves, b->levels ? 0 : PN_NONE, 0, 0, 0, false};
  if (!pn_arrayPush(&b->inner, root)) {
    return false;
  }
  for (size_t i = 0; i < b->inner.count; i++) {
    pnBucketInner children[PN_LANES], in = b->inner.data[i];
    uint32_t count = divide(b, &in, children);
    /* an only child takes the place of its parent */
    while (count == 1 && in.leafCount > 1) {
      in = children[0];
      count = divide(b, &in, children);
    }
    bool allLeaves = in.leafCount == count;
    b->inner.data[i].leaves = allLeaves;
    b->inner.data[i].first = allLeaves ? in.leafFirst : (uint32_t)b->inner.count;
    b->inner.data[i].count = count;
    if (allLeaves) {
      continue;
    }
    if (!pn_arrayReserve(&b->inner, b->inner.count + count)) {
      return false;
    }
    memcpy(b->inner.data + b->inner.count, children, count * sizeof *children);
    b->inner.count += count;
  }
  return true;
}

/* The nodes in the layout of tree.h. */
static void writeNodes(pnShape *s, const pnBuckets *b) {
  uint32_t inner = (uint32_t)b->inner.count, leaves = (uint32_t)b->leafBegin.count;
  s->innerCount = inner;
  s->leafCount = leaves;
  s->nodeCount = inner + leaves;
  s->parent[0] = s->nodeCount * PN_LANES;
  for (uint32_t i = 0; i < inner; i++) {
    const pnBucketInner *in = &b->inner.data[i];
    s->first[i] = in->leaves ? inner + in->first : in->first;
    s->count[i] = (uint8_t)in->count;
    s->leafFirst[i] = in->leafFirst;
    s->leafEnd[i] = in->leafFirst + in->leafCount;
    s->below[i] = b->leafBegin.data[in->leafFirst + in->leafCount] - b->leafBegin.data[in->leafFirst];
    for (uint32_t j = 0; j < in->count; j++) {
      s->parent[s->first[i] + j] = i * PN_LANES + j;
    }
  }
  s->height = 1;
  for (uint32_t node = 0; node < inner; node = s->first[node]) {
    s->height++;
  }
  /* where every block begins, before any is filled: a block ends where the next begins */
  for (uint32_t leaf = 0; leaf < leaves; leaf++) {
    uint32_t at = b->leafBegin.data[leaf], count = b->leafBegin.data[leaf + 1] - at;
    s->leafVertexFirst[leaf] = 3 * at;
    s->count[inner + leaf] = (uint8_t)count;
    s->below[inner + leaf] = count;
  }
  s->leafVertexFirst[leaves] = 3 * b->count;
}

bool pn_growTree(pnTree *tree, pnBuckets *b) {
  if (!growInner(b) || !reserveTree(tree, b, (uint32_t)b->inner.count, (uint32_t)b->leafBegin.count)) {
    return false;
  }
  writeNodes(b->shape, b);
  return true;
}

/* ---------------------------------------------------------------- the update */

/* The smallest octree with no more primitives than buckets * 8: a leaf each, were they spread evenly. */
static uint32_t autoLevels(uint32_t count) {
  uint32_t levels = 1;
  while (levels < PN_MAX_LEVELS && (8ull << 3 * levels) < count) {
    levels++;
  }
  return levels;
}

/* Order and leaves; false when out of memory. */
static bool arrange(pnBuckets *b, const pnTasks *tasks) {
  bool morton = b->lab.method == PN_BUCKET_MORTON;
  b->levels = morton ? 0 : b->lab.levels ? b->lab.levels : autoLevels(b->count);
  if (!reserveOctree(b)) {
    return false;
  }
  pn_findCentres(b, tasks);
  if (morton) {
    return pn_leavesOfCurve(b, tasks);
  }
  /* a new number for the marks; when it runs out they are cleared once */
  if (++b->step == 0) {
    memset(b->nodes, 0, pn_levelBegin(b->nodeLevels + 1) * sizeof(pnBucketNode));
    b->step = 1;
  }
  double start = pn_clock();
  if (b->lab.method == PN_BUCKET_SORTED) {
    pn_placeSorted(b);
  } else {
    pn_placeDirect(b, tasks);
  }
  b->placeSeconds = pn_clock() - start;
  return pn_leavesOfBuckets(b);
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  pnBuckets *b = bucketsOf(tree);
  b->count = b->soup->liveCount;
  if (b->count == 0) {
    b->keptCount = 0;
    b->shape->innerCount = b->shape->leafCount = b->shape->nodeCount = b->shape->height = 0;
    tree->box = (pnBox){{1, 1, 1}, {-1, -1, -1}};
    return PN_OK;
  }
  bool ok = reservePlaces(b, b->soup->placeCount);
  if (ok && isKept(b)) {
    tree->ruleBytes = stateBytes(b);
    return pn_updateKept(tree, b, tasks);
  }
  if (!ok || !arrange(b, tasks) || !pn_growTree(tree, b)) {
    return pn_fail(PN_ERROR_MEMORY, "soup '%s': out of memory for the index over %u primitives", b->soup->mesh.name,
                   b->count);
  }
  tree->ruleBytes = stateBytes(b);
  if (!pn_fillBuckets(tree, b, tasks)) {
    return PN_ERROR_NUMBER;
  }
  tree->eagerUpdated += tree->shape->nodeCount;
  return PN_OK;
}

static const pnUpdateRule s_bucketRule = {
    .name = "bucket", .reshapes = true, .update = update, .fill = pn_fillKept, .release = release};

/* ---------------------------------------------------------------- life */

pnBucketDef pnDefaultBucketDef(void) {
  return (pnBucketDef){.cookie = PN_COOKIE};
}

pnTreeLab pn_bucketLab(const pnTree *tree) {
  return bucketsOf(tree)->lab;
}

pnResult pnCreateBucketTree(const pnBucketDef *def, pnTree **outTree) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && outTree);
  *outTree = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnBucketDef");
  if (result != PN_OK) {
    return result;
  }
  PN_ASSERT(def->soup);
  pnTreeLab lab = def->lab ? *def->lab : (pnTreeLab){0};
  lab.mostMoves = lab.mostMoves ? lab.mostMoves : 64;
  if ((uint32_t)lab.method >= PN_BUCKET_COUNT) {
    return pn_fail(PN_ERROR_ARGUMENT, "bucket tree: method %d is not one of the list", (int)lab.method);
  }
  if (lab.levels > PN_MAX_LEVELS) {
    return pn_fail(PN_ERROR_ARGUMENT, "bucket tree: %u levels, it can have 1 to %u, or 0 to choose", lab.levels,
                   PN_MAX_LEVELS);
  }
  pnTree *tree = pn_allocZero(sizeof *tree);
  pnBuckets *b = pn_allocZero(sizeof *b);
  pnShape *shape = pn_allocShape();
  if (!tree || !b || !shape) {
    pn_free(tree, sizeof *tree);
    pn_free(b, sizeof *b);
    pn_releaseShape(shape);
    return pn_failMemory(sizeof *tree + sizeof *b + sizeof *shape);
  }
  tree->shape = b->shape = shape;
  b->lab = lab;
  b->soup = def->soup;
  tree->def = pn_planOf(&(pnTreeDef){.pose = &def->soup->pose, .self = true});
  tree->pose = &def->soup->pose;
  tree->def.cut = UINT32_MAX; /* no clusters: the vertices below any node are a range of the leaves' lists */
  tree->mesh = &def->soup->mesh;
  tree->rule = &s_bucketRule;
  shape->def = tree->def;
  shape->def.pose = NULL;
  shape->mesh = tree->mesh;
  shape->rule = tree->rule;
  tree->box = (pnBox){{1, 1, 1}, {-1, -1, -1}};
  tree->ruleData = b;
  tree->ruleBytes = sizeof *b;
  result = pnTree_Update(tree, NULL);
  if (result != PN_OK) {
    pnDestroyTree(tree);
    return result;
  }
  *outTree = tree;
  return PN_OK;
}

pnBucketInfo pnTree_GetBucketInfo(const pnTree *tree) {
  if (!tree->rule->reshapes) {
    return (pnBucketInfo){0};
  }
  const pnBuckets *b = bucketsOf(tree);
  return (pnBucketInfo){b->levels, b->bucketCount, b->largest, b->moves, b->fellBack, b->placeSeconds, b->ordered};
}
