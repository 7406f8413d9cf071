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

/* Frees what all ways keep by place or by primitive. */
static void freePlaces(pnBuckets *b) {
  size_t n = b->room, word = pn_bytes(n, sizeof(uint32_t)), keys = pn_bytes(n, sizeof(pnKeyValue));
  pn_free(b->centres, b->centres ? pn_bytes(n, 3 * sizeof(float)) : 0);
  pn_free(b->cells, b->cells ? word : 0);
  pn_free(b->order, b->order ? word : 0);
  pn_free(b->keys, b->keys ? keys : 0);
  pn_free(b->scratch, b->scratch ? keys : 0);
}

/* Room for so many places. On failure the old arrays stay. */
static bool reservePlaces(pnBuckets *b, uint32_t places) {
  if (places <= b->room) return true;
  size_t n = PN_MAX((size_t)places, b->room + (size_t)b->room / 2), old = b->room;
  size_t word = pn_bytes(n, sizeof(uint32_t)), keys = pn_bytes(n, sizeof(pnKeyValue));
  pnBuckets made = {.room = (uint32_t)n,
                    .centres = b->way->centres ? pn_alloc(pn_bytes(n, 3 * sizeof(float))) : NULL,
                    .cells = pn_alloc(word),
                    .order = pn_alloc(word),
                    .keys = pn_alloc(keys),
                    .scratch = pn_alloc(keys)};
  bool ok = (made.centres || !b->way->centres) && made.cells && made.order && made.keys && made.scratch;
  /* what the way keeps by place comes last: nothing can fail after it */
  if (!ok || (b->way->reserve && !b->way->reserve(b, made.room))) {
    freePlaces(&made);
    return false;
  }
  /* what goes on from update to update is copied, then the old and the new change places */
  if (old > 0) {
    memcpy(made.keys, b->keys, old * sizeof(pnKeyValue));
    memcpy(made.order, b->order, old * sizeof(uint32_t));
    memcpy(made.cells, b->cells, old * sizeof(uint32_t));
  }
  freePlaces(b);
  b->centres = made.centres, b->cells = made.cells, b->order = made.order;
  b->keys = made.keys, b->scratch = made.scratch, b->room = made.room;
  return true;
}

/* The arrays of tree, shape and index, out of one block. */
typedef struct Layout {
  pnShape shape;
  _Atomic uint32_t *stamp;
  char *lanes;
  float *boxes;
  uint32_t *leafLists;
} Layout;

static size_t layOut(Layout *l, char *base, size_t inner, size_t leaves) {
  size_t at = 0, nodes = inner + leaves;
  pn_carveNodes(&l->shape, base, &at, inner, leaves);
  /* corners are read where they lie in the soup: no blocks, and no lists of what would be in them */
  l->shape.sourceCorners = l->shape.blockCorners;
  l->shape.blockCorners = NULL;
  l->stamp = pn_carve(base, &at, nodes, sizeof(uint32_t));
  l->lanes = pn_carve(base, &at, nodes + 1, sizeof(pnSphereLanes));       /* the larger of the two forms */
  l->shape.linkFirst = pn_carve(base, &at, leaves + 1, sizeof(uint32_t)); /* zeros: nothing shares a vertex */
  l->shape.links = pn_carve(base, &at, 0, sizeof(pnLeafLink));            /* none, of which there is a beginning */
  l->boxes = pn_carve(base, &at, nodes + 1, 8 * sizeof(float));           /* and one for dead places */
  l->leafLists = pn_carve(base, &at, leaves, sizeof(uint32_t));           /* zeros: orders are numbered from 1 */
  return at;
}

/* What there is room for when `have` is too little for `need`: at first just that, later a quarter more. */
static uint32_t roomFor(uint32_t have, uint32_t need) {
  return PN_MAX(have, need + (have > 0 ? need / 4 : 0));
}

/* The tree's own arrays. On failure the tree stays as it was. */
static bool reserveTree(pnTree *tree, pnBuckets *b, uint32_t inner, uint32_t leaves) {
  if (inner <= b->innerRoom && leaves <= b->leafRoom) return true;
  uint32_t innerRoom = roomFor(b->innerRoom, inner), leafRoom = roomFor(b->leafRoom, leaves);
  Layout l = {.shape = *b->shape};
  size_t size = layOut(&l, NULL, innerRoom, leafRoom);
  char *memory = pn_alloc(size);
  if (!memory) return false;
  pn_free(tree->memory, tree->memoryBytes);
  tree->memory = memory;
  tree->memoryBytes = size;
  b->innerRoom = innerRoom;
  b->leafRoom = leafRoom;
  layOut(&l, memory, innerRoom, leafRoom);
  /* corners of leaves that nobody has come to are read with others, and left out; volumes are written before they are read, and boxes have
   * lanes of spheres to spare */
  memset(memory, 0, (size_t)(l.lanes - memory));
  memset(l.shape.linkFirst, 0, ((size_t)leafRoom + 1) * sizeof(uint32_t));
  memset(l.leafLists, 0, leafRoom * sizeof(uint32_t));
  *b->shape = l.shape;
  tree->stamp = l.stamp;
  tree->lanes = l.lanes;
  b->boxes = l.boxes;
  b->leafLists = l.leafLists;
  pn_findCorners(tree);
  return true;
}

/* Bytes beside the tree's block. */
static size_t stateBytes(const pnBuckets *b) {
  size_t place = 2 * sizeof(uint32_t) + 2 * sizeof(pnKeyValue) + (b->centres ? 3 * sizeof(float) : 0);
  return sizeof(pnBuckets) + b->way->stateBytes + b->room * place + b->leafBegin.capacity * sizeof(uint32_t) +
         b->inner.capacity * sizeof(pnBucketInner) + (b->way->bytes ? b->way->bytes(b) : 0);
}

static void release(pnTree *tree) {
  pnBuckets *b = bucketsOf(tree);
  if (b->way->release) b->way->release(b);
  freePlaces(b);
  pn_arrayFree(&b->leafBegin);
  pn_arrayFree(&b->inner);
  pn_free(b->state, b->way->stateBytes);
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
  for (uint32_t place = begin; place < end; ++place) {
    if (!pn_isAlive(soup, place)) continue;
    pnF4 p[3];
    pn_loadPlace(soup, place, p);
    pnF4 lo = pn_f4Min(p[0], pn_f4Min(p[1], p[2])), hi = pn_f4Max(p[0], pn_f4Max(p[1], p[2]));
    float centre[4];
    pn_centreOf(pass->b, place, centre);
    for (uint32_t k = 0; k < 3; ++k) pass->b->centres[k * (size_t)pass->b->room + place] = centre[k];
    allLo = pn_f4Min(allLo, lo);
    allHi = pn_f4Max(allHi, hi);
  }
  pass->lo[worker] = allLo;
  pass->hi[worker] = allHi;
}

void pn_findCentres(pnBuckets *b, const pnTasks *tasks) {
  CentrePass pass = {.b = b};
  uint32_t workers = pn_workerCount(tasks);
  for (uint32_t i = 0; i < workers; ++i) {
    pass.lo[i] = pn_f4Set1(FLT_MAX);
    pass.hi[i] = pn_f4Set1(-FLT_MAX);
  }
  pn_parallelFor(tasks, centreRange, &pass, b->soup->placeCount, 8 * GRAIN);
  for (uint32_t i = 1; i < workers; ++i) {
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
static uint32_t divide(const pnOctree *o, const pnBucketInner *in, pnBucketInner out[PN_LANES]) {
  uint32_t count = 0;
  if (in->leafCount > PN_LANES && in->node != PN_NONE && in->level < o->levels) {
    /* occupied children in the octree */
    for (uint32_t j = 0; j < 8; ++j) {
      const pnBucketNode *child = &o->nodes[pn_levelBegin(in->level + 1) + 8 * in->node + j];
      if (child->mark == o->step) {
        out[count++] =
            (pnBucketInner){child->leafFirst, child->leafCount, 8 * in->node + j, in->level + 1, 0, 0, false};
      }
    }
    return count;
  }
  /* full subtrees of leaves: the largest that are smaller than the whole */
  uint32_t unit = 1;
  while (unit * PN_LANES < in->leafCount) unit *= PN_LANES;
  for (uint32_t done = 0; done < in->leafCount; done += unit) {
    uint32_t leaves = PN_MIN(unit, in->leafCount - done);
    out[count++] = (pnBucketInner){in->leafFirst + done, leaves, PN_NONE, 0, 0, 0, false};
  }
  return count;
}

/* Breadth-first: the children of a node are neighbours. */
static bool growInner(pnBuckets *b, const pnOctree *o) {
  uint32_t leaves = (uint32_t)b->leafBegin.count;
  b->inner.count = 0;
  if (leaves < 2) return true;
  pnBucketInner root = {0, leaves, o ? 0 : PN_NONE, 0, 0, 0, false};
  if (!pn_arrayPush(&b->inner, root)) return false;
  for (size_t i = 0; i < b->inner.count; ++i) {
    pnBucketInner children[PN_LANES], in = b->inner.data[i];
    uint32_t count = divide(o, &in, children);
    /* an only child takes the place of its parent */
    while (count == 1 && in.leafCount > 1) {
      in = children[0];
      count = divide(o, &in, children);
    }
    bool allLeaves = in.leafCount == count;
    b->inner.data[i].leaves = allLeaves;
    b->inner.data[i].first = allLeaves ? in.leafFirst : (uint32_t)b->inner.count;
    b->inner.data[i].count = count;
    if (allLeaves) continue;
    if (!pn_arrayReserve(&b->inner, b->inner.count + count)) return false;
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
  for (uint32_t i = 0; i < inner; ++i) {
    const pnBucketInner *in = &b->inner.data[i];
    s->first[i] = in->leaves ? inner + in->first : in->first;
    s->count[i] = (uint8_t)in->count;
    s->leafFirst[i] = in->leafFirst;
    s->leafEnd[i] = in->leafFirst + in->leafCount;
    s->below[i] = b->leafBegin.data[in->leafFirst + in->leafCount] - b->leafBegin.data[in->leafFirst];
    for (uint32_t j = 0; j < in->count; ++j) s->parent[s->first[i] + j] = i * PN_LANES + j;
  }
  s->height = 1;
  for (uint32_t node = 0; node < inner; node = s->first[node]) ++s->height;
  /* how many corners stand before each leaf: what filling one costs is told by it */
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
    uint32_t at = b->leafBegin.data[leaf], count = b->leafBegin.data[leaf + 1] - at;
    s->leafVertexFirst[leaf] = 3 * at;
    s->count[inner + leaf] = (uint8_t)count;
    s->below[inner + leaf] = count;
  }
  s->leafVertexFirst[leaves] = 3 * b->count;
}

bool pn_growTree(pnTree *tree, pnBuckets *b, const pnOctree *octree) {
  if (!growInner(b, octree) || !reserveTree(tree, b, (uint32_t)b->inner.count, (uint32_t)b->leafBegin.count))
    return false;
  writeNodes(b->shape, b);
  return true;
}

/* ---------------------------------------------------------------- the update */

pnResult pn_failSoup(const pnBuckets *b) {
  return pn_fail(PN_ERROR_MEMORY, "soup '%s': out of memory for the index over %u primitives", b->soup->mesh.name,
                 b->count);
}

pnResult pn_fillNew(pnTree *tree, const pnBuckets *b, const pnTasks *tasks) {
  if (!pn_fillBuckets(tree, b, tasks)) return PN_ERROR_NUMBER;
  tree->eagerUpdated += tree->shape->nodeCount;
  return PN_OK;
}

static pnResult update(pnTree *tree, const pnTasks *tasks) {
  pnBuckets *b = bucketsOf(tree);
  b->count = b->soup->liveCount;
  if (b->count == 0) {
    if (b->way->clear) b->way->clear(b);
    b->shape->innerCount = b->shape->leafCount = b->shape->nodeCount = b->shape->height = 0;
    tree->box = (pnBox){{1, 1, 1}, {-1, -1, -1}};
    return PN_OK;
  }
  pnResult result = reservePlaces(b, b->soup->placeCount) ? b->way->update(tree, b, tasks) : pn_failSoup(b);
  tree->ruleBytes = stateBytes(b);
  return result;
}

/* One row for each method. */
static const pnBucketWay *const s_ways[PN_BUCKET_COUNT] = {[PN_BUCKET_DEFAULT] = &pn_bucketKept,
                                                           [PN_BUCKET_DIRECT] = &pn_bucketDirect,
                                                           [PN_BUCKET_SORTED] = &pn_bucketSorted,
                                                           [PN_BUCKET_MORTON] = &pn_bucketMorton,
                                                           [PN_BUCKET_KEPT] = &pn_bucketKept};

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
  return pn_createBucketTree(def, NULL, NULL, outTree);
}

pnResult pn_createBucketTree(const pnBucketDef *def, const pnBox *hastyBox, const pnTasks *tasks, pnTree **outTree) {
  PN_ASSERT(def && outTree);
  *outTree = NULL;
  pnResult result = pn_checkCookie(def->cookie, "pnBucketDef");
  if (result != PN_OK) return result;
  PN_ASSERT(def->soup);
  pnTreeLab lab = def->lab ? *def->lab : (pnTreeLab){0};
  lab.mostMoves = lab.mostMoves ? lab.mostMoves : 64;
  if ((uint32_t)lab.method >= PN_BUCKET_COUNT)
    return pn_fail(PN_ERROR_ARGUMENT, "bucket tree: method %d is not one of the list", (int)lab.method);
  if (lab.levels > PN_MAX_LEVELS) {
    return pn_fail(PN_ERROR_ARGUMENT, "bucket tree: %u levels, it can have 1 to %u, or 0 to choose", lab.levels,
                   PN_MAX_LEVELS);
  }
  pnTree *tree = pn_allocZero(sizeof *tree);
  pnBuckets *b = pn_allocZero(sizeof *b);
  const pnBucketWay *way = s_ways[lab.method];
  void *state = way->stateBytes ? pn_allocZero(way->stateBytes) : NULL;
  pnShape *shape = pn_allocShape();
  if (!tree || !b || !shape || (way->stateBytes && !state)) {
    pn_free(tree, sizeof *tree);
    pn_free(b, sizeof *b);
    pn_free(state, state ? way->stateBytes : 0);
    pn_releaseShape(shape);
    return pn_failMemory(sizeof *tree + sizeof *b + sizeof *shape);
  }
  tree->shape = b->shape = shape;
  b->lab = lab;
  b->way = way;
  b->hasty = hastyBox != NULL;
  b->box = hastyBox ? *hastyBox : (pnBox){{0, 0, 0}, {0, 0, 0}};
  b->state = state;
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
  result = pnTree_Update(tree, tasks);
  if (result != PN_OK) {
    pnDestroyTree(tree);
    return result;
  }
  *outTree = tree;
  return PN_OK;
}

pnBucketInfo pnTree_GetBucketInfo(const pnTree *tree) {
  if (!tree->rule->reshapes) return (pnBucketInfo){0};
  const pnBuckets *b = bucketsOf(tree);
  pnBucketInfo info = {0};
  if (b->way->tell) b->way->tell(b, &info);
  return info;
}
