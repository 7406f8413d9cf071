/* division.c: see division.h. */
#include "tree/division.h"

#define OF_LEAVES 0x80u

void pn_writeDivision(const pnShape *shape, pnByteWriter *w) {
  pn_putU32(w, shape->innerCount);
  pn_putU32(w, shape->leafCount);
  for (uint32_t node = 0; node < shape->innerCount; ++node) {
    uint8_t byte = (uint8_t)(shape->count[node] | (pn_isShapeLeaf(shape, shape->first[node]) ? OF_LEAVES : 0));
    pn_putBytes(w, &byte, 1);
  }
  if (shape->leafCount > 0) /* an empty one has no arrays */
    pn_putBytes(w, shape->count + shape->innerCount, shape->leafCount);
  for (uint32_t leaf = 0; leaf < shape->leafCount; ++leaf) {
    pn_putBytes(w, shape->leafTriangles + (size_t)leaf * PN_LANES,
                shape->count[shape->innerCount + leaf] * sizeof(uint32_t));
  }
}

/* ---------------------------------------------------------------- reading */

static pnResult refuse(const pnMesh *mesh, const char *what, uint32_t where) {
  return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': %s %u does not make a division of its triangles", mesh->name,
                 what, where);
}

/* What is being read. Nodes bear the numbers that they will have in the shape. */
typedef struct Draft {
  const pnMesh *mesh;
  uint32_t innerCount, leafCount;
  uint8_t *bytes;  /* inner nodes, then leaves */
  uint32_t *stack; /* scratch, and the level of each inner node behind it */
  uint32_t *level;
  pnBuildNode *nodes;
} Draft;

/* The inner children of inner nodes, which follow one another in the numbering. */
static pnResult placeInner(Draft *d, const pnTreePlan *def) {
  uint32_t next = 1;
  for (uint32_t i = 0; i < d->innerCount; ++i) {
    uint32_t count = d->bytes[i] & ~OF_LEAVES;
    bool leaves = d->bytes[i] & OF_LEAVES;
    /* each has a place after its parent, which is known by now */
    if (i >= next || count < 1 || count > def->arity || d->level[i] >= PN_MOST_LEVELS ||
        (!leaves && count > d->innerCount - next))
      return refuse(d->mesh, "inner node", i);
    d->nodes[i].childCount = count;
    for (uint32_t j = 0; !leaves && j < count; ++j) d->level[next + j] = d->level[i] + 1;
    d->nodes[i].childFirst = leaves ? 0 : next;
    next += leaves ? 0 : count;
  }
  return d->innerCount == 0 || next == d->innerCount ? PN_OK : refuse(d->mesh, "inner node", next);
}

/* The leaves, in the order of a walk. */
static pnResult placeLeaves(Draft *d) {
  uint32_t depth = 0, leaf = 0;
  if (d->innerCount > 0) d->stack[depth++] = 0;
  else leaf = d->leafCount > 0; /* the only one */
  while (depth > 0) {
    pnBuildNode *n = &d->nodes[d->stack[--depth]];
    if (n->childFirst == 0) {
      if (n->childCount > d->leafCount - leaf) return refuse(d->mesh, "leaf", leaf);
      n->childFirst = d->innerCount + leaf;
      leaf += n->childCount;
      continue;
    }
    /* backwards, so that they come off in order; all inner nodes at most are waiting */
    for (uint32_t j = n->childCount; j-- > 0;) d->stack[depth++] = n->childFirst + j;
  }
  return leaf == d->leafCount ? PN_OK : refuse(d->mesh, "leaf", leaf);
}

/* How many triangles are below, and where they begin. */
static pnResult countTriangles(Draft *d, const pnTreePlan *def) {
  uint64_t at = 0;
  for (uint32_t leaf = 0; leaf < d->leafCount; ++leaf) {
    uint32_t count = d->bytes[d->innerCount + leaf];
    if (count < 1 || count > def->leafSize) return refuse(d->mesh, "leaf", leaf);
    d->nodes[d->innerCount + leaf] = (pnBuildNode){(uint32_t)at, count, 0, 0};
    at += count;
  }
  if (at != d->mesh->triangleCount) return refuse(d->mesh, "leaf", d->leafCount);
  for (uint32_t node = d->innerCount; node-- > 0;) {
    pnBuildNode *n = &d->nodes[node];
    n->first = d->nodes[n->childFirst].first;
    n->count = 0;
    for (uint32_t j = 0; j < n->childCount; ++j) n->count += d->nodes[n->childFirst + j].count;
  }
  return PN_OK;
}

/* Every triangle once? */
static pnResult checkOrder(const pnMesh *mesh, const uint32_t *order) {
  size_t bytes = mesh->triangleCount;
  uint8_t *seen = pn_allocZero(bytes);
  pnResult result = seen || bytes == 0 ? PN_OK : pn_failMemory(bytes);
  for (uint32_t i = 0; result == PN_OK && i < mesh->triangleCount; ++i)
    if (order[i] >= mesh->triangleCount || seen[order[i]]++) result = refuse(mesh, "triangle", i);
  pn_free(seen, bytes);
  return result;
}

static pnResult readNodes(Draft *d, pnByteReader *r, const pnTreePlan *def) {
  pn_takeBytes(r, d->bytes, (size_t)d->innerCount + d->leafCount);
  pnResult result = placeInner(d, def);
  if (result == PN_OK) result = placeLeaves(d);
  return result == PN_OK ? countTriangles(d, def) : result;
}

pnResult pn_readDivision(pnByteReader *r, const pnTreePlan *def, const pnMesh *mesh, pnBuildResult *out) {
  Draft d = {.mesh = mesh, .innerCount = pn_takeU32(r), .leafCount = pn_takeU32(r)};
  uint64_t nodes = (uint64_t)d.innerCount + d.leafCount;
  *out = (pnBuildResult){.triangleCount = mesh->triangleCount};
  if (!pn_hasLeft(r, nodes, 1) || d.leafCount > mesh->triangleCount || (d.leafCount > 1) != (d.innerCount > 0) ||
      nodes >= UINT32_MAX)
    return refuse(mesh, "node", (uint32_t)nodes);
  if (nodes == 0) return mesh->triangleCount == 0 ? PN_OK : refuse(mesh, "triangle", 0);
  size_t stackBytes = pn_bytes((size_t)d.innerCount + 1, 2 * sizeof(uint32_t));
  size_t orderBytes = pn_bytes(mesh->triangleCount, sizeof(uint32_t));
  d.bytes = pn_alloc(nodes);
  d.stack = pn_allocZero(stackBytes);
  d.level = d.stack ? d.stack + d.innerCount + 1 : NULL;
  out->nodes = d.nodes = pn_allocZero(pn_bytes(nodes, sizeof(pnBuildNode)));
  out->nodeCount = out->nodeCapacity = d.nodes ? nodes : 0;
  out->order = pn_alloc(orderBytes);
  pnResult result = d.bytes && d.stack && d.nodes && out->order ? readNodes(&d, r, def) : pn_failMemory(orderBytes);
  pn_free(d.bytes, nodes);
  pn_free(d.stack, stackBytes);
  if (result == PN_OK) {
    pn_takeBytes(r, out->order, orderBytes);
    result = r->isShort ? refuse(mesh, "triangle", 0) : checkOrder(mesh, out->order);
  }
  return result;
}
