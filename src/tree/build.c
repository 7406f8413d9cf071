/* build.c: the shape of a tree, top-down. One loop asks a splitter to divide a range of triangles into at most `arity`
 * parts until a part fits a leaf. The default splitter is here: median splits that fill every leaf and every node
 * but the last of a level, so that SIMD lanes are not wasted (PERFORMANCE: what paid, 2). Of several directions it takes the
 * one that leaves the smallest boxes: a patch that lies askew is cut along its own sides, and leaves come out more compact.
 *
 * Where we differ from [Larsson01] (section 3.2): their trees split boxes in space and go down to one triangle; those are
 * in build_shape.c and build_link.c; those of [Mujika09] are in build_joint.c. */
#include "tree/build.h"

#include "base/array.h"
#include "base/task.h"
#include "tree/corner.h"

/* ---------------------------------------------------------------- balanced */

/* The largest full subtree that is smaller than so many triangles. */
static uint32_t unitOf(const pnBuilder *b, uint32_t count) {
  uint64_t unit = b->leafSize;
  while (unit * b->arity < count) unit *= b->arity;
  return (uint32_t)unit;
}

/* How many of a range come before the cut, when parts of `unit` triangles are wanted. */
static uint32_t leftOf(uint32_t count, uint32_t unit) {
  return (count + unit - 1) / unit / 2 * unit;
}

/* Divides order[first...] into parts of `unit` triangles (the last may be smaller) by halving at multiples of it. */
static void halve(pnBuilder *b, uint32_t first, uint32_t count, uint32_t unit) {
  if (count <= unit) return;
  uint32_t left = leftOf(count, unit);
  pn_cutBest(b, first, count, left);
  halve(b, first, left, unit);
  halve(b, first + left, count - left, unit);
}

uint32_t pn_sizeBalanced(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  (void)first;
  (void)depth;
  uint32_t unit = unitOf(b, count), parts = 0;
  for (uint32_t done = 0; done < count; done += outSizes[parts - 1]) outSizes[parts++] = PN_MIN(unit, count - done);
  return parts;
}

uint32_t pn_splitBalanced(pnBuilder *b, uint32_t first, uint32_t count, uint32_t depth, uint32_t outSizes[PN_LANES]) {
  halve(b, first, count, unitOf(b, count));
  return pn_sizeBalanced(b, first, count, depth, outSizes);
}

/* ---------------------------------------------------------------- balanced, on all workers */

/* How many triangles each part of a balanced tree has is known beforehand; only which ones is not. So all is cut first, workers on
 * different ranges, and nodes are made when everything is in order. */
typedef struct Part {
  uint32_t first, count, unit;
} Part;

typedef struct Parts {
  pnBuilder *builder;
  PN_ARRAY(Part) large;
  PN_ARRAY(Part) small;
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
    const Part *part = &p->large.data[i];
    pn_cutBest(p->builder, part->first, part->count, leftOf(part->count, part->unit));
  }
}

static void cutSmall(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Parts *p = context;
  for (uint32_t i = begin; i < end; ++i) {
    const Part *part = &p->small.data[i];
    halve(p->builder, part->first, part->count, part->unit);
    for (uint32_t at = 0; at < part->count; at += part->unit)
      pn_cutDown(p->builder, part->first + at, PN_MIN(part->unit, part->count - at));
  }
}

/* A part that waits for its next cut. */
static bool addPart(Parts *p, Part part) {
  if (part.count <= p->builder->leafSize) return true;
  if (part.count <= part.unit) part.unit = unitOf(p->builder, part.count);
  return part.count > WORKER_PART ? pn_arrayPush(&p->large, part) : pn_arrayPush(&p->small, part);
}

/* Puts all triangles in the order of a balanced tree. */
static bool cutAll(pnBuilder *b, uint32_t count, const pnTasks *tasks) {
  Parts p = {.builder = b};
  bool ok = addPart(&p, (Part){0, count, count});
  for (size_t done = 0; ok && done < p.large.count;) {
    /* those that wait now, side by side; then their halves */
    size_t begin = done;
    done = p.large.count;
    Parts level = {.builder = b, .large = {p.large.data + begin, done - begin, 0}};
    pn_parallelFor(tasks, cutLarge, &level, (uint32_t)(done - begin), 1);
    for (size_t i = begin; ok && i < done; ++i) {
      Part part = p.large.data[i];
      uint32_t left = leftOf(part.count, part.unit);
      ok = addPart(&p, (Part){part.first, left, part.unit}) &&
           addPart(&p, (Part){part.first + left, part.count - left, part.unit});
    }
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

static void computeCentres(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Centres *c = context;
  const pnBuilder *b = c->builder;
  for (size_t i = begin; i < end; ++i) {
    float p[12];
    pn_poseFetch(c->pose, b->mesh->triangles + 3 * i, 3, p, 4);
    if (b->pieces) {
      float whole[12];
      memcpy(whole, p, sizeof p);
      pn_pieceCorners(&b->pieces[i], (const float *const[3]){whole, whole + 4, whole + 8}, p);
    }
    for (int k = 0; k < 3; ++k) {
      /* halved first: three huge coordinates must not overflow */
      b->centres[3 * i + k] = p[k] * 0.25f + p[4 + k] * 0.25f + p[8 + k] * 0.25f;
      if (!b->boxes) continue;
      b->boxes[PN_BUILD_BOX * i + k] = PN_MIN(p[k], PN_MIN(p[4 + k], p[8 + k]));
      b->boxes[PN_BUILD_BOX * i + 4 + k] = PN_MAX(p[k], PN_MAX(p[4 + k], p[8 + k]));
    }
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

/* Everything in order, and nodes. False: out of memory. */
static bool divideAll(Growth *g, pnBuilder *b, const pnTreePlan *def, const pnHubs *hubs) {
  uint32_t n = b->mesh->triangleCount;
  Centres centres = {def->pose, b};
  b->centres[3 * (size_t)n] = 0;
  for (uint32_t i = 0; i < n; ++i) b->order[i] = i;
  pn_parallelFor(def->tasks, computeCentres, &centres, n, WORKER_PART);
  if (hubs) return beginHubs(b, hubs) && grow(g, b, pn_splitHubs, n);
  if (b->pieces) return grow(g, b, pn_splitPieces, n);
  bool isBalanced = b->split == pn_splitBalanced || (b->split == pn_splitJoint && !b->joints.joint);
  if (!isBalanced) return grow(g, b, b->split, n);
  return (b->quick ? pn_orderFast(b, def->tasks) : cutAll(b, n, def->tasks)) && grow(g, b, pn_sizeBalanced, n);
}

pnResult pn_buildShape(const pnTreePlan *def, const pnMesh *mesh, const pnPiece *pieces, const pnHubs *hubs,
                       pnBuildResult *out) {
  uint32_t n = mesh->triangleCount;
  *out = (pnBuildResult){.triangleCount = n};
  if (n == 0) return PN_OK;
  Growth g = {0};
  pnBuilder b = {.mesh = mesh,
                 .arity = def->arity,
                 .leafSize = def->leafSize,
                 .quick = def->build == PN_BUILD_FAST,
                 .pieces = pieces,
                 .split = s_split[def->build]};
  bool link = def->build == PN_BUILD_LINK;
  size_t list = pn_bytes(n, sizeof(uint32_t)), keyBytes = pn_bytes(n, 2 * sizeof(uint64_t));
  size_t centreBytes = pn_bytes(3 * (size_t)n + 1, sizeof(float)), boxBytes = pn_bytes(n, PN_BUILD_BOX * sizeof(float));
  b.order = pn_alloc(list);
  b.centres = pn_alloc(centreBytes);
  b.boxes = b.quick ? NULL : pn_allocZero(boxBytes); /* the fourth of each is read, and says nothing */
  b.keys = pn_alloc(keyBytes);
  b.scratch = pn_alloc(list);
  b.mark = link ? pn_alloc(list) : NULL;
  bool ok = b.order && b.centres && (b.boxes || b.quick) && b.keys && b.scratch && (b.mark || !link);
  if (ok && link) memset(b.mark, 0xff, list);
  if (ok && def->pose->skin && b.split == pn_splitJoint) ok = pn_makeJointTree(def->pose->skin, mesh, &b.joints);
  ok = ok && divideAll(&g, &b, def, hubs);
  endHubs(&b);
  pn_freeJointTree(&b.joints);
  pn_free(b.centres, centreBytes);
  pn_free(b.boxes, b.boxes ? boxBytes : 0);
  pn_free(b.keys, keyBytes);
  pn_free(b.scratch, list);
  pn_free(b.mark, list);
  pn_arrayFree(&g.open);
  *out = (pnBuildResult){b.order, n, g.nodes.data, g.nodes.count, g.nodes.capacity};
  if (!ok) {
    pn_buildFree(out);
    return pn_failMemory(list);
  }
  return PN_OK;
}

void pn_buildFree(pnBuildResult *result) {
  pn_free(result->order, pn_bytes(result->triangleCount, sizeof(uint32_t)));
  pn_free(result->nodes, result->nodeCapacity * sizeof(pnBuildNode));
  *result = (pnBuildResult){0};
}
