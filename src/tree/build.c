/* build.c: the shape of a tree, top-down. One loop asks a splitter to divide a range of triangles into at most `arity`
 * parts until a part fits a leaf. The default splitter is here: median splits that fill every leaf and every node
 * but the last of a level, so that SIMD lanes are not wasted (PERFORMANCE: what paid, 2). Of several directions it takes the
 * one that leaves the smallest boxes: a patch that lies askew is cut along its own sides, and leaves come out more compact. Meshes of many
 * islands are cut island by island first (build_bundle.c).
 *
 * Where we differ from [Larsson01] (section 3.2): their trees split boxes in space and go down to one triangle; those are
 * in build_shape.c and build_link.c; those of [Mujika09] are in build_joint.c. */
#include "tree/build_block.h"

#include "base/array.h"
#include "base/task.h"
#include "tree/corner.h"

/* ---------------------------------------------------------------- balanced */

uint32_t pn_unitOf(const pnBuilder *b, uint32_t count) {
  uint64_t unit = b->leafSize;
  while (unit * b->arity < count) unit *= b->arity;
  return (uint32_t)unit;
}

uint32_t pn_leftOf(uint32_t count, uint32_t unit) {
  return (count + unit - 1) / unit / 2 * unit;
}

/* Divides order[first...] into parts of `unit` triangles (the last may be smaller) by halving at multiples of it. */
static void halve(pnBuilder *b, uint32_t first, uint32_t count, uint32_t unit) {
  if (count <= unit) return;
  uint32_t left = pn_leftOf(count, unit);
  pn_cutBest(b, first, count, left);
  halve(b, first, left, unit);
  halve(b, first + left, count - left, unit);
}

uint32_t pn_sizeBalanced(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  (void)first;
  (void)depth;
  uint32_t unit = pn_unitOf(b, count), parts = 0;
  for (uint32_t done = 0; done < count; done += outSizes[parts - 1]) outSizes[parts++] = PN_MIN(unit, count - done);
  return parts;
}

uint32_t pn_splitBalanced(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  halve(b, first, count, pn_unitOf(b, count));
  return pn_sizeBalanced(b, first, count, depth, outSizes);
}

/* ---------------------------------------------------------------- balanced, on all workers */

/* How many triangles each part of a balanced tree has is known beforehand; only which ones is not. So all is cut first, workers on
 * different ranges, and nodes are made when everything is in order. */
typedef struct BuildPart {
  uint32_t first, count, unit;
} BuildPart;

typedef struct Parts {
  pnBuilder *builder;
  uint32_t most;           /* triangles of a small one */
  pnCutBlockFcn *cutBlock; /* by which small ones are cut; null: by the best of several cuts */
  PN_ARRAY(BuildPart) large;
  PN_ARRAY(BuildPart) small;
} Parts;

/* Parts of so many triangles are one worker's. */
#define WORKER_PART 4096u

void pn_cutDown(pnBuilder *b, uint32_t first, uint32_t count) {
  uint32_t sizes[PN_LANES];
  if (count <= b->leafSize) return;
  uint32_t parts = pn_splitBalanced(b, first, count, 0, sizes);
  for (uint32_t i = 0; i < parts; first += sizes[i++]) pn_cutDown(b, first, sizes[i]);
}

static void cutLarge(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Parts *p = context;
  for (uint32_t i = begin; i < end; ++i) {
    const BuildPart *part = &p->large.data[i];
    pn_cutBest(p->builder, part->first, part->count, pn_leftOf(part->count, part->unit));
  }
}

static void cutSmall(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Parts *p = context;
  for (uint32_t i = begin; i < end; ++i) {
    const BuildPart *part = &p->small.data[i];
    if (p->cutBlock) {
      /* whatever its unit: that of a part that is half divided is also its own (pn_unitOf) */
      p->cutBlock(p->builder, part->first, part->count);
      continue;
    }
    halve(p->builder, part->first, part->count, part->unit);
    for (uint32_t at = 0; at < part->count; at += part->unit)
      pn_cutDown(p->builder, part->first + at, PN_MIN(part->unit, part->count - at));
  }
}

/* A part that waits for its next cut. */
static bool addPart(Parts *p, BuildPart part) {
  if (part.count <= p->builder->leafSize) return true;
  if (part.count <= part.unit) part.unit = pn_unitOf(p->builder, part.count);
  return part.count > p->most ? pn_arrayPush(&p->large, part) : pn_arrayPush(&p->small, part);
}

/* Parts that begin where the one before ends. */
static bool addParts(Parts *p, const uint32_t *firsts, uint32_t count) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < count; ++i) {
    uint32_t size = firsts[i + 1] - firsts[i];
    ok = addPart(p, (BuildPart){firsts[i], size, size});
  }
  return ok;
}

/* What a part that was cut leaves to do. */
static bool addHalves(Parts *p, BuildPart part) {
  uint32_t left = pn_leftOf(part.count, part.unit);
  return addPart(p, (BuildPart){part.first, left, part.unit}) &&
         addPart(p, (BuildPart){part.first + left, part.count - left, part.unit});
}

/* Puts all triangles in the order of a balanced tree; or of several, which begin at `firsts` and end where the next begins. */
static bool cutAll(pnBuilder *b, const uint32_t *firsts, uint32_t count, const pnTasks *tasks) {
  Parts p = {.builder = b, .most = WORKER_PART};
  bool ok = addParts(&p, firsts, count);
  for (size_t done = 0; ok && done < p.large.count;) {
    /* those that wait now, side by side; then their halves */
    size_t begin = done;
    done = p.large.count;
    Parts level = {.builder = b, .large = {p.large.data + begin, done - begin, 0}};
    pn_parallelFor(tasks, cutLarge, &level, (uint32_t)(done - begin), 1);
    for (size_t i = begin; ok && i < done; ++i) ok = addHalves(&p, p.large.data[i]);
  }
  if (ok) pn_parallelFor(tasks, cutSmall, &p, (uint32_t)p.small.count, 1);
  pn_arrayFree(&p.large);
  pn_arrayFree(&p.small);
  return ok;
}

/* ---------------------------------------------------------------- the loop */

static pnSplitFcn *const s_split[PN_BUILD_COUNT] = {
    [PN_BUILD_DEFAULT] = pn_splitJoint,
    [PN_BUILD_BALANCED] = pn_splitBalanced,
    [PN_BUILD_SHAPE_CENTRE] = pn_splitShapeCentre,
    [PN_BUILD_SHAPE_MEAN] = pn_splitShapeMean,
    [PN_BUILD_LINK] = pn_splitLink,
    [PN_BUILD_JOINT] = pn_splitJoint,
    [PN_BUILD_FAST] = pn_splitBalanced,
};

/* A node waiting to be divided. */
typedef struct Open {
  uint32_t node, depth;
  bool inner; /* its siblings are inner nodes, so it must be one too (invariant T2) */
} Open;

typedef struct Growth {
  PN_ARRAY(pnBuildNode) nodes;
  PN_ARRAY(Open) open;
} Growth;

/* Divides one node; false when out of memory. */
static bool divide(Growth *g, pnBuilder *b, pnSplitFcn *split, Open item) {
  pnBuildNode node = g->nodes.data[item.node];
  bool fits = node.count <= b->leafSize;
  if (fits && !item.inner) return true;
  uint32_t sizes[PN_LANES] = {node.count}, parts = 1;
  if (!fits) parts = split(b, node.first, node.count, item.depth, sizes);
  bool anyInner = false;
  for (uint32_t i = 0; i < parts; ++i) anyInner |= sizes[i] > b->leafSize;
  g->nodes.data[item.node].childFirst = (uint32_t)g->nodes.count;
  g->nodes.data[item.node].childCount = parts;
  for (uint32_t i = 0, at = node.first; i < parts; at += sizes[i++]) {
    Open child = {(uint32_t)g->nodes.count, item.depth + 1, anyInner};
    if (!pn_arrayPush(&g->nodes, ((pnBuildNode){at, sizes[i], 0, 0})) || !pn_arrayPush(&g->open, child)) return false;
  }
  return true;
}

static bool grow(Growth *g, pnBuilder *b, pnSplitFcn *split, uint32_t triangleCount) {
  if (!pn_arrayPush(&g->nodes, ((pnBuildNode){0, triangleCount, 0, 0})) ||
      !pn_arrayPush(&g->open, ((Open){0, 0, false})))
    return false;
  while (g->open.count > 0)
    if (!divide(g, b, split, g->open.data[--g->open.count])) return false;
  return true;
}

/* Three quarters of the midpoint of every triangle or piece, and its box, as the pose has it now. */
typedef struct Centres {
  const pnPose *pose;
  pnBuilder *builder;
} Centres;

/* The corners of a triangle or piece. */
PN_INLINE void fetchCorners(const Centres *c, size_t i, bool isPlain, pnF4 out[3]) {
  const uint32_t *v = c->builder->mesh->triangles + 3 * i;
  float p[12];
  if (isPlain) { /* most are, and to gather them takes no call */
    for (int j = 0; j < 3; ++j) out[j] = pn_f4Load(c->pose->source + 3 * (size_t)v[j]);
    return;
  }
  pn_poseFetch(c->pose, v, 3, p, 4);
  if (c->builder->pieces) {
    float whole[12];
    memcpy(whole, p, sizeof p);
    pn_pieceCorners(&c->builder->pieces[i], (const float *const[3]){whole, whole + 4, whole + 8}, p);
  }
  for (int j = 0; j < 3; ++j) out[j] = pn_f4Load(p + 4 * j);
}

static void computeCentres(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Centres *c = context;
  const pnBuilder *b = c->builder;
  const pnF4 quarter = pn_f4Set1(0.25f);
  const bool isPlain = pn_isPlain(c->pose) && !b->pieces;
  for (size_t i = begin; i < end; ++i) {
    pnF4 p[3];
    float centre[4];
    fetchCorners(c, i, isPlain, p);
    /* halved first: three huge coordinates must not overflow */
    pn_f4Store(centre, pn_f4Add(pn_f4Add(pn_f4Mul(p[0], quarter), pn_f4Mul(p[1], quarter)), pn_f4Mul(p[2], quarter)));
    memcpy(b->centres + 3 * i, centre, 3 * sizeof(float));
    if (!b->boxes) continue;
    /* the fourth of each is read, and says nothing */
    pn_f4Store(b->boxes + PN_BUILD_BOX * i, pn_f4Min(p[0], pn_f4Min(p[1], p[2])));
    pn_f4Store(b->boxes + PN_BUILD_BOX * i + 4, pn_f4Max(p[0], pn_f4Max(p[1], p[2])));
  }
}

/* What dividing hubs takes. False: out of memory. */
static bool beginHubs(pnBuilder *b, const pnHubs *hubs) {
  b->hubs = hubs;
  b->hubCentres = pn_allocZero(pn_bytes(hubs->count, 3 * sizeof(float)));
  b->items = pn_alloc(pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
  b->itemScratch = pn_alloc(pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
  if (!b->hubCentres || !b->items || !b->itemScratch) return false;
  for (size_t t = 0; t < hubs->triangleCount; ++t)
    for (int k = 0; hubs->of[t] != PN_NONE && k < 3; ++k)
      b->hubCentres[3 * (size_t)hubs->of[t] + k] += b->centres[3 * t + k] / (float)hubs->size[hubs->of[t]];
  return true;
}

static void endHubs(pnBuilder *b) {
  if (b->hubs) {
    pn_free(b->hubCentres, pn_bytes(b->hubs->count, 3 * sizeof(float)));
    pn_free(b->items, pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
    pn_free(b->itemScratch, pn_bytes(b->mesh->triangleCount, sizeof(pnKeyValue)));
  }
}

static bool isBalanced(const pnBuilder *b) {
  return b->split == pn_splitBalanced || (b->split == pn_splitJoint && !b->joints.joint);
}

static bool bindAll(const pnBuilder *b, pnBundles *bundles) {
  if (!pn_bindBundles(b, bundles)) return false;
  pn_boundBundles(b, bundles, 0, bundles->count);
  return true;
}

/* A balanced tree; over bundles where the mesh is many islands. */
static bool divideBalanced(Growth *g, pnBuilder *b, const pnTasks *tasks) {
  uint32_t n = b->mesh->triangleCount;
  pnBundles bundles;
  bool ok = pn_beginIslands(b, &bundles);
  if (ok && bundles.above) {
    pn_joinIslands(b, &bundles, 0, n);
    ok = pn_sortIslands(b, &bundles);
  }
  if (ok && bundles.islandCount > 0) {
    uint32_t all[2] = {0, bundles.count};
    ok = cutAll(b, bundles.islandFirst, bundles.islandCount, tasks) && bindAll(b, &bundles) &&
         cutAll(&bundles.over, all, 1, tasks) && grow(g, &bundles.over, pn_sizeBalanced, bundles.count);
    if (ok) pn_openBundles(b, &bundles, g->nodes.data, g->nodes.count);
  } else if (ok) {
    uint32_t all[2] = {0, n};
    ok = cutAll(b, all, 1, tasks) && grow(g, b, pn_sizeBalanced, n);
  }
  pn_freeBundles(&bundles);
  return ok;
}

/* Everything in order, and nodes. False: out of memory. */
static bool divideAll(Growth *g, pnBuilder *b, const pnTreePlan *def, const pnHubs *hubs) {
  uint32_t n = b->mesh->triangleCount;
  Centres centres = {def->pose, b};
  pn_parallelFor(def->tasks, computeCentres, &centres, n, WORKER_PART);
  if (hubs) return beginHubs(b, hubs) && grow(g, b, pn_splitHubs, n);
  if (b->pieces) return grow(g, b, pn_splitPieces, n);
  if (!isBalanced(b)) return grow(g, b, b->split, n);
  if (b->quick) return pn_orderFast(b, def->tasks) && grow(g, b, pn_sizeBalanced, n);
  return divideBalanced(g, b, def->tasks);
}

/* Bytes of a builder's arrays: lists of numbers, keys, centres, boxes. */
static size_t listBytes(const pnBuilder *b) {
  return pn_bytes(b->mesh->triangleCount, sizeof(uint32_t));
}
static size_t keyBytes(const pnBuilder *b) {
  return pn_bytes(b->mesh->triangleCount, 2 * sizeof(uint64_t));
}
static size_t centreBytes(const pnBuilder *b) {
  return pn_bytes(3 * (size_t)b->mesh->triangleCount + 1, sizeof(float));
}
static size_t boxBytes(const pnBuilder *b) {
  return pn_bytes(b->mesh->triangleCount, PN_BUILD_BOX * sizeof(float));
}

/* False: out of memory. End in any case. */
static bool beginBuilder(pnBuilder *b, const pnTreePlan *def, bool quick, const pnMesh *mesh, const pnPiece *pieces) {
  *b = (pnBuilder){.mesh = mesh,
                   .arity = def->arity,
                   .leafSize = def->leafSize,
                   .quick = quick,
                   .pieces = pieces,
                   .split = s_split[def->build]};
  bool link = def->build == PN_BUILD_LINK;
  b->order = pn_alloc(listBytes(b));
  b->centres = pn_alloc(centreBytes(b));
  b->boxes = b->quick ? NULL : pn_alloc(boxBytes(b));
  b->keys = pn_alloc(keyBytes(b));
  b->scratch = pn_alloc(listBytes(b));
  b->mark = link ? pn_alloc(listBytes(b)) : NULL;
  if (!b->order || !b->centres || !(b->boxes || b->quick) || !b->keys || !b->scratch || !(b->mark || !link))
    return false;
  if (link) memset(b->mark, 0xff, listBytes(b));
  b->centres[3 * (size_t)mesh->triangleCount] = 0;
  for (uint32_t i = 0; i < mesh->triangleCount; ++i) b->order[i] = i;
  return !def->pose->skin || b->split != pn_splitJoint || pn_makeJointTree(def->pose->skin, mesh, &b->joints);
}

/* Frees all but the order and the nodes, which are the result. */
static void endBuilder(pnBuilder *b, Growth *g, pnBuildResult *out) {
  endHubs(b);
  pn_freeJointTree(&b->joints);
  pn_free(b->centres, centreBytes(b));
  pn_free(b->boxes, b->boxes ? boxBytes(b) : 0);
  pn_free(b->keys, keyBytes(b));
  pn_free(b->scratch, listBytes(b));
  pn_free(b->mark, listBytes(b));
  pn_arrayFree(&g->open);
  *out = (pnBuildResult){b->order, b->mesh->triangleCount, g->nodes.data, g->nodes.count, g->nodes.capacity};
}

pnResult pn_buildShape(const pnTreePlan *def, const pnMesh *mesh, const pnPiece *pieces, const pnHubs *hubs,
                       pnBuildResult *out) {
  *out = (pnBuildResult){.triangleCount = mesh->triangleCount};
  if (mesh->triangleCount == 0) return PN_OK;
  Growth g = {0};
  pnBuilder b;
  bool ok = beginBuilder(&b, def, def->build == PN_BUILD_FAST, mesh, pieces) && divideAll(&g, &b, def, hubs);
  endBuilder(&b, &g, out);
  if (!ok) {
    pn_buildFree(out);
    return pn_failMemory(listBytes(&b));
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- a little at a time */

struct pnDivision {
  const pnPose *pose;
  pnBuilder b;
  Growth g;
  Parts parts;
  pnBundles bundles;
  uint32_t centred; /* triangles whose centres are known */
  uint32_t joined;  /* and those that are joined to their islands, where these are looked for */
  uint32_t bound;   /* bundles that have boxes */
};

/* Triangles that are looked at at a time, and those of a part that is cut down at once; and about how many nanoseconds a triangle takes,
 * memory that is touched for the first time included: its centre; its box; to join it to its island; to sort it there; to bind it into a
 * bundle, and to bound that; a cut across the longest axis; the best of several cuts, and what that takes besides; all cuts of a block;
 * a node. */
#define STEP_TRIANGLES 512u
#define STEP_PART 64u
#define CENTRE_WORK 10
#define BOX_WORK 14
#define JOIN_WORK 6
#define SORT_WORK 5
#define BIND_WORK 3
#define BOUND_WORK 7
#define CUT_WORK 10
#define BEST_WORK 20
#define BEGIN_WORK 160
#define BLOCK_WORK 30
#define NODE_WORK 5

pnDivision *pn_beginDivision(const pnTreePlan *def, bool quick) {
  pnDivision *d = pn_allocZero(sizeof *d);
  if (!d) return NULL;
  d->pose = def->pose;
  bool ok = beginBuilder(&d->b, def, quick, def->pose->mesh, NULL);
  d->parts = quick ? (Parts){.builder = &d->b, .most = PN_BLOCK_TRIANGLES, .cutBlock = pn_cutBlock()}
                   : (Parts){.builder = &d->b, .most = STEP_PART};
  ok = ok && isBalanced(&d->b) && def->build != PN_BUILD_FAST && (quick || pn_beginIslands(&d->b, &d->bundles));
  uint32_t all[2] = {0, d->b.mesh->triangleCount};
  if (!ok || (!d->bundles.above && !addParts(&d->parts, all, 1))) {
    pn_endDivision(d, NULL);
    return NULL;
  }
  return d;
}

/* One cut of so many, and all cuts down to leaves. */
static int64_t workOfCut(const pnBuilder *b, uint32_t count) {
  return b->quick || count > PN_ASKEW_BELOW ? CUT_WORK * (int64_t)count : BEST_WORK * (int64_t)count + BEGIN_WORK;
}
static int64_t workOfPart(const pnBuilder *b, uint32_t count) {
  int64_t work = b->quick ? BLOCK_WORK * (int64_t)count : 0;
  for (uint32_t part = count; part > b->leafSize && !b->quick; part = (part + 1) / 2)
    work += workOfCut(b, part) * (count / part);
  return work;
}

/* Some at a time, of `count` from `done` on. */
static uint32_t portionEnd(uint32_t done, uint32_t count, uint32_t portion) {
  return done + PN_MIN(portion, count - done);
}

/* Bundles at a time. */
static uint32_t stepBundles(const pnDivision *d) {
  return PN_MAX(STEP_TRIANGLES / d->b.leafSize, 1u);
}

/* Islands are joined, then sorted, and then they are what is to be cut; or all is, when they are not worth it. */
static bool stepIslands(pnDivision *d) {
  uint32_t n = d->b.mesh->triangleCount, all[2] = {0, n};
  if (d->joined < n) {
    uint32_t end = portionEnd(d->joined, n, STEP_TRIANGLES);
    pn_joinIslands(&d->b, &d->bundles, d->joined, end);
    d->joined = end;
    return true;
  }
  if (!pn_sortIslands(&d->b, &d->bundles)) return false;
  return d->bundles.islandCount > 0 ? addParts(&d->parts, d->bundles.islandFirst, d->bundles.islandCount)
                                    : addParts(&d->parts, all, 1);
}

/* Everything is cut: bundles are made of it and are to be cut next, or nodes. */
static bool stepNodes(pnDivision *d) {
  pnBundles *bundles = &d->bundles;
  if (bundles->islandCount > 0 && !bundles->block) return pn_bindBundles(&d->b, bundles);
  if (!bundles->block) return grow(&d->g, &d->b, pn_sizeBalanced, d->b.mesh->triangleCount);
  if (d->bound < bundles->count) {
    uint32_t end = portionEnd(d->bound, bundles->count, stepBundles(d)), all[2] = {0, bundles->count};
    pn_boundBundles(&d->b, bundles, d->bound, end);
    d->bound = end;
    d->parts.builder = &bundles->over;
    return end < bundles->count || addParts(&d->parts, all, 1);
  }
  bool ok = grow(&d->g, &bundles->over, pn_sizeBalanced, bundles->count);
  if (ok) pn_openBundles(&d->b, bundles, d->g.nodes.data, d->g.nodes.count);
  return ok;
}

/* What comes next, and what it takes. */
static bool stepNext(pnDivision *d) {
  uint32_t n = d->b.mesh->triangleCount, end = portionEnd(d->centred, n, STEP_TRIANGLES);
  Parts *p = &d->parts;
  if (d->centred < n) {
    computeCentres(&(Centres){d->pose, &d->b}, d->centred, end, 0);
    d->centred = end;
    return true;
  }
  if (d->bundles.above) return stepIslands(d);
  if (p->small.count > 0) {
    uint32_t last = (uint32_t)--p->small.count;
    cutSmall(p, last, last + 1, 0);
    return true;
  }
  if (p->large.count == 0) return stepNodes(d);
  uint32_t last = (uint32_t)--p->large.count;
  BuildPart part = p->large.data[last];
  cutLarge(p, last, last + 1, 0);
  return addHalves(p, part);
}
static int64_t workOfNext(const pnDivision *d) {
  int64_t n = d->b.mesh->triangleCount;
  const Parts *p = &d->parts;
  if (d->centred < n)
    return (CENTRE_WORK + (d->b.boxes ? BOX_WORK : 0)) * PN_MIN(n - d->centred, (int64_t)STEP_TRIANGLES);
  if (d->bundles.above)
    return d->joined < n ? JOIN_WORK * PN_MIN(n - d->joined, (int64_t)STEP_TRIANGLES) : SORT_WORK * n;
  if (p->small.count > 0) return workOfPart(p->builder, p->small.data[p->small.count - 1].count);
  if (p->large.count > 0) return workOfCut(p->builder, p->large.data[p->large.count - 1].count);
  if (d->bundles.islandCount > 0 && !d->bundles.block) return BIND_WORK * n;
  return d->bound < d->bundles.count ? BOUND_WORK * (int64_t)STEP_TRIANGLES : NODE_WORK * n;
}

/* What is long and begun when little is left would make the frame long: it is the next frame's, where it is the first. */
pnProgress pn_stepDivision(pnDivision *d, int64_t *ioWork) {
  int64_t whole = *ioWork;
  bool ok = true;
  while (ok && *ioWork > 0 && d->g.nodes.count == 0) {
    int64_t next = workOfNext(d);
    bool waits = *ioWork < whole && next > 2 * *ioWork;
    *ioWork = waits ? 0 : *ioWork - next;
    ok = waits || stepNext(d);
  }
  return !ok ? PN_PROGRESS_FAILED : d->g.nodes.count > 0 ? PN_PROGRESS_DONE : PN_PROGRESS_MORE;
}

void pn_endDivision(pnDivision *d, pnBuildResult *out) {
  pnBuildResult result = {0};
  if (!d) return;
  pn_arrayFree(&d->parts.large);
  pn_arrayFree(&d->parts.small);
  pn_freeBundles(&d->bundles);
  endBuilder(&d->b, &d->g, &result);
  pn_free(d, sizeof *d);
  if (out) *out = result;
  else pn_buildFree(&result);
}

void pn_buildFree(pnBuildResult *result) {
  pn_free(result->order, pn_bytes(result->triangleCount, sizeof(uint32_t)));
  pn_free(result->nodes, result->nodeCapacity * sizeof(pnBuildNode));
  *result = (pnBuildResult){0};
}
