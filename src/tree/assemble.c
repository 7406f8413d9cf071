/* assemble.c: a shape from the division that a builder gives (build.h): nodes numbered, vertex lists, links between leaves, and
 * all of it in one block of memory. tree.h has the layout and the invariants. */
#include "base/array.h"
#include "tree/assemble_links.h"
#include "tree/build.h"
#include "tree/corner.h"
#include "tree/tree.h"
#include "tree/update.h"
#include "tree/vertex_lists.h"

/* Scratch of one creation, freed in one place. */
typedef enum Stage { NUMBERS, LEAVES, TWIGS, CLUSTERS, LINKS, BLOCK, CLEAR, NODES, CORNERS, DONE } Stage;

typedef struct pnAssembly {
  const pnTasks *tasks;
  pnShape *s;
  Stage stage;
  uint32_t cursor; /* items of the stage that are done */
  pnBuildResult shape;
  pnHubs hubs;
  uint32_t *number;    /* build node -> node */
  uint32_t *bfs;       /* build nodes of the inner nodes, in order of number */
  uint32_t *seat;      /* place in order -> the build node of the leaf that begins there, or PN_NONE */
  uint32_t *leafNode;  /* leaf -> build node */
  uint32_t *leafFirst; /* leaf -> where its vertices begin, and one more */
  pnVertexLists lists;
  pnListRun *twigs;            /* by inner node; no leaves: it is none, or there are no lists of twigs */
  PN_ARRAY(uint32_t) clusters; /* build nodes */
  pnListRun *clusterRuns;
  size_t leafListed, twigListed, clusterListed; /* vertices in all lists */
  pnLeafLinks links;
} Assembly;

/* ---------------------------------------------------------------- numbering */

/* Inner nodes breadth-first, leaves in tree order. */
static void numberNodes(Assembly *a) {
  const pnBuildResult *shape = &a->shape;
  const pnBuildNode *nodes = shape->nodes;
  pnShape *s = a->s;
  for (size_t i = 0; i < shape->nodeCount; ++i) nodes[i].childCount ? s->innerCount++ : s->leafCount++;
  s->nodeCount = s->innerCount + s->leafCount;
  /* breadth-first over inner nodes */
  uint32_t head = 0, tail = 0;
  if (nodes[0].childCount) {
    a->bfs[tail] = 0;
    a->number[0] = tail++;
  }
  while (head < tail) {
    const pnBuildNode *n = &nodes[a->bfs[head++]];
    for (uint32_t j = 0; j < n->childCount; ++j) {
      if (nodes[n->childFirst + j].childCount) {
        a->bfs[tail] = n->childFirst + j;
        a->number[n->childFirst + j] = tail++;
      }
    }
  }
}

/* Leaves sorted by the place of their first triangle: `seat[i]` is the build node of the leaf that starts at i. */
static void numberLeaves(Assembly *a) {
  const pnBuildResult *shape = &a->shape;
  uint32_t *seat = a->seat;
  memset(seat, 0xff, shape->triangleCount * sizeof(uint32_t));
  for (size_t i = 0; i < shape->nodeCount; ++i)
    if (!shape->nodes[i].childCount) seat[shape->nodes[i].first] = (uint32_t)i;
  uint32_t leaf = 0;
  for (uint32_t i = 0; i < shape->triangleCount; ++i)
    if (seat[i] != PN_NONE) a->number[seat[i]] = a->s->innerCount + leaf++;
}

/* ---------------------------------------------------------------- one block of memory */

#define VERTEX_BYTES 12u

/* Do the vertices of its poses lie ready where its rule reads them? */
static bool areReady(const pnShape *s) {
  return s->rule->inPlace && s->motion->isStored;
}

/* Does its rule move all vertices at least this often, for boxes (moved.h)? */
static bool moves(const pnShape *s, pnMoves least) {
  return s->rule->moves >= least && pn_formOf(s->def.form)->slabs == &pn_slabBox;
}

/* Is it one of those that queries look at as a whole? Every triangle must stand in the tree, once. */
static bool isSmall(const pnShape *s, const Assembly *a) {
  return (moves(s, PN_MOVES_SMALL) || areReady(s)) && !s->def.self && s->mesh->vertexCount <= PN_SMALL_VERTICES &&
         s->mesh->triangleCount <= PN_SMALL_TRIANGLES && a->shape.triangleCount == s->mesh->triangleCount &&
         s->def.big == PN_BIG_WHOLE && !s->def.representative && pn_formOf(s->def.form)->slabs == &pn_slabBox;
}

/* May queries read the vertices of this tree's pose where they are, or all of them where they were moved? Corners are found by 32 bits. */
static bool readsInPlace(const pnShape *s, const Assembly *a) {
  bool ready = moves(s, PN_MOVES_OFTEN) || areReady(s);
  return isSmall(s, a) || (ready && !s->def.self && s->mesh->vertexCount <= UINT32_MAX / VERTEX_BYTES);
}

void pn_carveNodes(pnShape *s, char *base, size_t *ioAt, size_t inner, size_t leaves) {
  size_t nodes = inner + leaves;
  s->first = pn_carve(base, ioAt, inner, sizeof(uint32_t));
  s->count = pn_carve(base, ioAt, nodes, 1);
  s->parent = pn_carve(base, ioAt, nodes, sizeof(uint32_t));
  s->leafFirst = pn_carve(base, ioAt, inner, sizeof(uint32_t));
  s->leafEnd = pn_carve(base, ioAt, inner, sizeof(uint32_t));
  s->below = pn_carve(base, ioAt, nodes, sizeof(uint32_t));
  s->leafTriangles = pn_carve(base, ioAt, 8 * leaves, sizeof(uint32_t));
  s->blockCorners = pn_carve(base, ioAt, 24 * leaves, sizeof(uint32_t));
  s->leafVertexFirst = pn_carve(base, ioAt, leaves + 1, sizeof(uint32_t));
}

/* Are there twigs that are no clusters? Rules that compute volumes from vertices make use of them. */
static bool hasTwigs(const pnShape *s) {
  return s->rule->inPlace && s->def.cut > s->def.arity * s->def.leafSize;
}

static size_t layoutShape(pnShape *s, const Assembly *a, char *base) {
  size_t at = 0, inner = s->innerCount, leaves = s->leafCount;
  pn_carveNodes(s, base, &at, inner, leaves);
  s->sourceCorners = readsInPlace(s, a) ? pn_carve(base, &at, 24 * leaves, sizeof(uint32_t)) : NULL;
  s->small = isSmall(s, a) ? pn_carve(base, &at, 1, sizeof(pnSmall)) : NULL;
  s->leafVertices = pn_carve(base, &at, a->leafListed, sizeof(uint32_t));
  s->eagerNodes = pn_carve(base, &at, s->eagerCount, sizeof(uint32_t));
  s->clusterNode = pn_carve(base, &at, s->clusterCount, sizeof(uint32_t));
  s->clusterVertexFirst = pn_carve(base, &at, (size_t)s->clusterCount + 1, sizeof(uint32_t));
  s->clusterVertices = pn_carve(base, &at, a->clusterListed, sizeof(uint32_t));
  bool twigs = hasTwigs(s);
  s->twigFirst = twigs ? pn_carve(base, &at, inner + 1, sizeof(uint32_t)) : NULL;
  s->twigVertices = twigs ? pn_carve(base, &at, a->twigListed, sizeof(uint32_t)) : NULL;
  s->linkFirst = pn_carve(base, &at, s->def.self ? leaves + 1 : 0, sizeof(uint32_t));
  s->links = pn_carve(base, &at, a->links.count, sizeof(pnLeafLink));
  s->hubRoots = pn_carve(base, &at, s->hubCount, sizeof(uint32_t));
  return at;
}

/* ---------------------------------------------------------------- vertex lists */

/* Leaves, nodes, clusters and pages that a worker takes at a time. */
#define LEAVES_PER_TASK 256u
#define NODES_PER_TASK 64u
#define CLUSTERS_PER_TASK 8u
#define PAGES_PER_TASK 8u
#define PAGE_BYTES 4096u

/* How many triangles ahead of the leaf that is listed the next are asked for, four leaves or so: the order of the tree is not that of
 * the mesh, and they come from the outer caches. */
#define TRIANGLES_AHEAD 32u

PN_INLINE void prefetchTriangles(const Assembly *a, const pnBuildNode *n) {
  uint32_t at = n->first + TRIANGLES_AHEAD, end = PN_MIN(at + n->count, a->shape.triangleCount);
  for (; at < end; ++at) __builtin_prefetch(a->s->mesh->triangles + 3 * (size_t)a->shape.order[at]);
}

static void listLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Assembly *a = context;
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    uint32_t corners[PN_LEAF_CORNERS];
    prefetchTriangles(a, n);
    for (uint32_t j = 0; j < n->count; ++j)
      memcpy(corners + 3 * j, a->s->mesh->triangles + 3 * (size_t)a->shape.order[n->first + j], 3 * sizeof(uint32_t));
    pn_listLeaf(&a->lists, leaf, corners, 3 * n->count);
  }
}

/* The leaves below a build node. */
static pnListRun runOf(const Assembly *a, const pnBuildNode *n) {
  uint32_t end = n->first + n->count, inner = a->s->innerCount;
  return (pnListRun){.first = a->number[a->seat[n->first]] - inner,
                     .end = end == a->shape.triangleCount ? a->s->leafCount : a->number[a->seat[end]] - inner};
}

static void listTwigs(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Assembly *a = context;
  for (uint32_t i = begin; i < end; ++i) {
    const pnBuildNode *n = &a->shape.nodes[a->bfs[i]];
    a->twigs[i] = (pnListRun){0};
    if (a->shape.nodes[n->childFirst].childCount == 0) {
      a->twigs[i] = runOf(a, n);
      pn_listTwig(&a->lists, &a->twigs[i]);
    }
  }
}

static void listClusters(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  Assembly *a = context;
  for (uint32_t c = begin; c < end; ++c) {
    a->clusterRuns[c] = runOf(a, &a->shape.nodes[a->clusters.data[c]]);
    /* a leaf without siblings is no part of a twig */
    pn_listCluster(&a->lists, &a->clusterRuns[c], a->twigs && a->s->innerCount > 0);
  }
}

/* Walks the shape depth-first in tree order and finds the clusters: maximal nodes of at most `cut` triangles. */
static bool findClusters(Assembly *a) {
  PN_ARRAY(uint32_t) stack = {0};
  bool ok = pn_arrayPush(&stack, 0);
  while (ok && stack.count > 0) {
    uint32_t i = stack.data[--stack.count];
    const pnBuildNode *n = &a->shape.nodes[i];
    if (n->count <= a->s->def.cut || !n->childCount) {
      ok = pn_arrayPush(&a->clusters, i);
    } else {
      /* pushed backwards so that they come off in order */
      for (uint32_t j = n->childCount; ok && j-- > 0;) ok = pn_arrayPush(&stack, n->childFirst + j);
    }
  }
  pn_arrayFree(&stack);
  return ok;
}

/* With what fills a list up for the loop that reads it in fours. */
static size_t filledUp(const pnListRun *run) {
  return (run->count + PN_CLUSTER_STEP - 1) / PN_CLUSTER_STEP * PN_CLUSTER_STEP;
}

/* ---------------------------------------------------------------- assembly */

static size_t listBytes(size_t n) {
  return pn_bytes(PN_MAX(n, 1), sizeof(uint32_t));
}
static size_t runBytes(size_t n) {
  return pn_bytes(PN_MAX(n, 1), sizeof(pnListRun));
}

static void freeAssembly(Assembly *a) {
  const pnShape *s = a->s;
  pn_free(a->number, listBytes(a->shape.nodeCount));
  pn_free(a->bfs, listBytes(a->shape.nodeCount));
  pn_free(a->seat, listBytes(a->shape.triangleCount));
  pn_free(a->leafNode, listBytes(s->leafCount));
  pn_free(a->leafFirst, listBytes((size_t)s->leafCount + 1));
  pn_free(a->twigs, runBytes(s->innerCount));
  pn_free(a->clusterRuns, runBytes(a->clusters.count));
  pn_arrayFree(&a->clusters);
  pn_freeVertexLists(&a->lists);
  pn_freeLinks(&a->links);
  pn_freeHubs(&a->hubs);
  pn_buildFree(&a->shape);
}

/* Numbers of nodes and leaves. False: out of memory. */
static bool makeNumbers(Assembly *a) {
  pnShape *s = a->s;
  a->number = pn_alloc(listBytes(a->shape.nodeCount));
  a->bfs = pn_alloc(listBytes(a->shape.nodeCount));
  a->seat = pn_alloc(listBytes(a->shape.triangleCount));
  if (!a->number || !a->bfs || !a->seat) return false;
  numberNodes(a);
  numberLeaves(a);
  a->leafNode = pn_alloc(listBytes(s->leafCount));
  a->leafFirst = pn_alloc(listBytes((size_t)s->leafCount + 1));
  if (!a->leafNode || !a->leafFirst) return false;
  for (uint32_t i = 0; i < a->shape.nodeCount; ++i)
    if (a->number[i] >= s->innerCount) a->leafNode[a->number[i] - s->innerCount] = i;
  return true;
}

/* What lists take. False: out of memory. */
static bool beginLists(Assembly *a) {
  pnShape *s = a->s;
  if (!makeNumbers(a) || !findClusters(a) || !pn_reserveVertexLists(&a->lists, s->leafCount)) return false;
  s->clusterCount = (uint32_t)a->clusters.count;
  for (uint32_t i = 0; i < s->innerCount; ++i) s->eagerCount += a->shape.nodes[a->bfs[i]].count > s->def.cut;
  a->twigs = hasTwigs(s) ? pn_alloc(runBytes(s->innerCount)) : NULL;
  a->clusterRuns = pn_alloc(runBytes(s->clusterCount));
  return a->clusterRuns && (a->twigs || !hasTwigs(s));
}

/* Where the vertices of leaves begin; before lists of leaves are merged. */
static void placeLeaves(Assembly *a) {
  for (uint32_t leaf = 0; leaf < a->s->leafCount; ++leaf) {
    a->leafFirst[leaf] = (uint32_t)a->leafListed;
    a->leafListed += a->lists.length[leaf];
  }
  a->leafFirst[a->s->leafCount] = (uint32_t)a->leafListed;
}

static void countListed(Assembly *a) {
  for (uint32_t i = 0; a->twigs && i < a->s->innerCount; ++i) a->twigListed += filledUp(&a->twigs[i]);
  for (uint32_t c = 0; c < a->s->clusterCount; ++c) a->clusterListed += filledUp(&a->clusterRuns[c]);
}

/* What links between leaves are found from. */
static bool makeLinks(Assembly *a) {
  if (!a->s->def.self) return true;
  pnLinkInput input = {.tasks = a->tasks,
                       .mesh = a->s->mesh,
                       .hubs = &a->hubs,
                       .shape = &a->shape,
                       .lists = &a->lists,
                       .leafFirst = a->leafFirst,
                       .leafNode = a->leafNode,
                       .leafCount = a->s->leafCount};
  return pn_findLinks(&input, &a->links);
}

/* The nodes, from the shape. */
static void writeNodes(const Assembly *a, pnShape *s) {
  for (uint32_t node = 0; node < s->innerCount; ++node) {
    const pnBuildNode *n = &a->shape.nodes[a->bfs[node]];
    s->first[node] = a->number[n->childFirst];
    s->count[node] = (uint8_t)n->childCount;
    s->below[node] = n->count;
    for (uint32_t j = 0; j < n->childCount; ++j) s->parent[a->number[n->childFirst + j]] = node * PN_LANES + j;
  }
  for (uint32_t leaf = 0; leaf < s->leafCount; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    s->count[s->innerCount + leaf] = (uint8_t)n->count;
    s->below[s->innerCount + leaf] = n->count;
  }
  s->parent[0] = s->nodeCount * PN_LANES;
  /* leaf ranges, children before parents */
  for (uint32_t node = s->innerCount; node-- > 0;) {
    uint32_t first, end, unused;
    pn_shapeLeafRange(s, s->first[node], &first, &unused);
    pn_shapeLeafRange(s, s->first[node] + s->count[node] - 1, &unused, &end);
    s->leafFirst[node] = first;
    s->leafEnd[node] = end;
  }
}

/* Leaves: triangles, corners, vertex lists. */
static void writeLeaves(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Assembly *a = context;
  const pnShape *s = a->s;
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    uint32_t at = a->leafFirst[leaf], count = a->leafFirst[leaf + 1] - at;
    const uint32_t *list = a->lists.leaves + (size_t)PN_LEAF_CORNERS * leaf;
    const uint8_t *place = a->lists.place + (size_t)PN_LEAF_CORNERS * leaf;
    for (uint32_t i = 0; i < count; ++i) s->leafVertices[at + i] = 3 * list[i];
    for (uint32_t j = 0; j < PN_LANES; ++j)
      s->leafTriangles[(size_t)leaf * PN_LANES + j] = j < n->count ? a->shape.order[n->first + j] : PN_NONE;
    for (uint32_t k = 0; k < PN_LEAF_CORNERS; ++k) {
      bool there = k < 3 * n->count;
      size_t corner = (size_t)PN_LEAF_CORNERS * leaf + k;
      s->blockCorners[corner] = PN_PLACE_BYTES * (there ? at + place[k] : at);
      if (s->sourceCorners) s->sourceCorners[corner] = there ? VERTEX_BYTES * list[place[k]] : 0;
    }
  }
}

/* Of a small mesh: corners and slots by triangle. */
static void writeSmall(const pnShape *s) {
  if (!s->small) return;
  for (uint32_t slot = 0; slot < s->leafCount * PN_LANES; ++slot) {
    uint32_t t = s->leafTriangles[slot];
    if (t == PN_NONE) continue;
    s->small->slot[t] = slot;
    for (uint32_t k = 0; k < 3; ++k) s->small->corner[k][t] = (uint8_t)s->mesh->triangles[3 * (size_t)t + k];
  }
}

/* Three times the vertices of a list, filled up with the last; returns where it ends. */
static uint32_t writeList(const pnListRun *run, uint32_t *out, uint32_t at) {
  for (uint32_t i = 0; i < run->count; ++i) out[at + i] = 3 * run->list[i];
  size_t filled = run->count > 0 ? filledUp(run) : 0;
  for (size_t i = run->count; i < filled; ++i) out[at + i] = out[at + run->count - 1];
  return at + (uint32_t)filled;
}

static void writeClusters(const Assembly *a, pnShape *s) {
  uint32_t at = 0;
  for (uint32_t c = 0; c < s->clusterCount; ++c) {
    s->clusterNode[c] = a->number[a->clusters.data[c]];
    s->clusterVertexFirst[c] = at;
    at = writeList(&a->clusterRuns[c], s->clusterVertices, at);
  }
  s->clusterVertexFirst[s->clusterCount] = at;
  at = 0;
  for (uint32_t i = 0; a->twigs && i < s->innerCount; ++i) {
    s->twigFirst[i] = at;
    at = writeList(&a->twigs[i], s->twigVertices, at);
  }
  if (a->twigs) s->twigFirst[s->innerCount] = at;
  uint32_t e = 0;
  for (uint32_t node = s->innerCount; node-- > 0;)
    if (s->below[node] > s->def.cut) s->eagerNodes[e++] = node;
}

/* The tops of the hubs' subtrees, in ascending order; with null only how many. */
static uint32_t writeHubRoots(const Assembly *a, const pnShape *s, uint32_t *out) {
  uint32_t n = 0;
  for (uint32_t node = 0; a->hubs.count > 0 && node < s->innerCount; ++node) {
    const pnBuildNode *b = &a->shape.nodes[a->bfs[node]];
    uint32_t hub = a->hubs.of[a->shape.order[b->first]];
    /* all of a hub are together, so the first and their number say it; a node with one child is as good as that child */
    if (hub != PN_NONE && b->count == a->hubs.size[hub]) {
      if (out) out[n] = node;
      ++n;
    }
  }
  return n;
}

/* One block for everything. */
static pnResult makeBlock(Assembly *a, pnShape *s) {
  s->hubCount = writeHubRoots(a, s, NULL);
  s->memoryBytes = layoutShape(s, a, NULL);
  s->memory = pn_alloc(s->memoryBytes);
  if (!s->memory) return pn_failMemory(s->memoryBytes);
  layoutShape(s, a, s->memory);
  return PN_OK;
}

static uint32_t pageCount(const pnShape *s) {
  return (uint32_t)((s->memoryBytes + PAGE_BYTES - 1) / PAGE_BYTES);
}

/* What is between arrays is zero, too: two shapes of one division are the same bytes. */
static void clearPages(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const pnShape *s = ((const Assembly *)context)->s;
  size_t from = (size_t)begin * PAGE_BYTES, to = PN_MIN((size_t)end * PAGE_BYTES, s->memoryBytes);
  memset((char *)s->memory + from, 0, to - from);
}

/* All but the leaves. */
static void writeShape(const Assembly *a, pnShape *s) {
  writeNodes(a, s);
  memcpy(s->leafVertexFirst, a->leafFirst, ((size_t)s->leafCount + 1) * sizeof(uint32_t));
  writeClusters(a, s);
  writeHubRoots(a, s, s->hubRoots);
  if (s->def.self) pn_writeLinks(&a->links, s->linkFirst, s->links);
  /* inner nodes are numbered breadth first: below the last of them is a deepest leaf */
  s->height = 1 + (s->innerCount > 0);
  for (uint32_t node = s->innerCount - (s->innerCount > 0); node > 0; node = s->parent[node] / PN_LANES) ++s->height;
}

/* Has every hub a subtree of its own? Builders see to it; a division that comes from elsewhere may not. */
static bool hubsAreWhole(const Assembly *a) {
  uint32_t whole = 0, wanted = 0;
  for (uint32_t hub = 0; hub < a->hubs.count; ++hub) wanted += a->hubs.size[hub] > 0;
  for (size_t i = 0; i < a->shape.nodeCount; ++i) {
    const pnBuildNode *n = &a->shape.nodes[i];
    uint32_t hub = a->hubs.count > 0 ? a->hubs.of[a->shape.order[n->first]] : PN_NONE;
    if (hub == PN_NONE || n->count != a->hubs.size[hub]) continue;
    for (uint32_t j = 1; j < n->count; ++j)
      if (a->hubs.of[a->shape.order[n->first + j]] != hub) return false;
    whole += n->childCount != 1; /* a node with one child has the same triangles, and that child is counted */
  }
  return whole == wanted;
}

/* The division that was given, or the one of the definition's builder; and hubs. */
static pnResult divideMesh(Assembly *a, const pnShape *s, const pnTreePlan *def, const pnPiece *pieces,
                           pnBuildResult *given) {
  if (given) {
    a->shape = *given;
    *given = (pnBuildResult){0};
  }
  if (def->self && !pieces && !pn_findHubs(s->mesh, &a->hubs)) return pn_failMemory(listBytes(s->mesh->triangleCount));
  if (!given) return pn_buildShape(def, s->mesh, pieces, a->hubs.count > 0 ? &a->hubs : NULL, &a->shape);
  return hubsAreWhole(a) ? PN_OK
                         : pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': a vertex of very many triangles is divided",
                                   s->mesh->name);
}

/* A stage that goes over items: all of them on all workers, or with a limit some on this thread. True: it is done. */
static bool runStage(Assembly *a, pnTaskFcn *task, uint32_t count, uint32_t grain, int64_t itemWork, int64_t *ioWork) {
  if (!ioWork) {
    pn_parallelFor(a->tasks, task, a, count, grain);
    return true;
  }
  for (; a->cursor<count && * ioWork> 0; *ioWork -= itemWork * grain) {
    uint32_t end = PN_MIN(a->cursor + grain, count);
    task(a, a->cursor, end, 0);
    a->cursor = end;
  }
  return a->cursor == count;
}

/* About how many nanoseconds: the numbers of a triangle, the list of a leaf, of a twig and of a cluster, a page of memory that is touched
 * for the first time, nodes and all that is written with them for a triangle, the corners of a leaf. */
#define NUMBER_WORK 5
#define LEAF_WORK 200
#define TWIG_WORK 600
#define CLUSTER_WORK 2500
#define PAGE_WORK 3000
#define NODE_WORK 5
#define CORNER_WORK 60

/* Of lists of many leaves that is where a vertex is that of two triangles, or of more: where triangles share nothing, three are listed for
 * each and not half of one, which takes five times as long. */
static int64_t listWork(const pnMesh *mesh, int64_t shared) {
  return (int64_t)((double)shared * PN_MAX(1.0, 1.6 * mesh->vertexCount / mesh->triangleCount));
}

/* One stage, or with a limit a part of it. */
static pnResult runNext(Assembly *a, int64_t *ioWork) {
  pnShape *s = a->s;
  int64_t whole = 0; /* work of a stage that is done at once */
  bool ok = true, done = true;
  pnResult result = PN_OK;
  switch (a->stage) {
    case NUMBERS:
      ok = beginLists(a);
      whole = NUMBER_WORK;
      break;
    case LEAVES:
      done = runStage(a, listLeaves, s->leafCount, LEAVES_PER_TASK, LEAF_WORK, ioWork);
      if (done) placeLeaves(a);
      break;
    case TWIGS:
      done = !a->twigs || runStage(a, listTwigs, s->innerCount, NODES_PER_TASK, listWork(s->mesh, TWIG_WORK), ioWork);
      break;
    case CLUSTERS:
      done = runStage(a, listClusters, s->clusterCount, CLUSTERS_PER_TASK, listWork(s->mesh, CLUSTER_WORK), ioWork);
      if (done) countListed(a);
      break;
    case LINKS: ok = makeLinks(a); break;
    case BLOCK:
      if (a->leafListed > PN_MAX_CORNERS)
        return pn_fail(PN_ERROR_COUNT,
                       "mesh '%s': its leaves list %zu vertices, at most %u are possible; divide the mesh",
                       s->mesh->name, a->leafListed, PN_MAX_CORNERS);
      result = makeBlock(a, s);
      break;
    case CLEAR: done = runStage(a, clearPages, pageCount(s), PAGES_PER_TASK, PAGE_WORK, ioWork); break;
    case NODES:
      writeShape(a, s);
      whole = NODE_WORK;
      break;
    case CORNERS:
      done = runStage(a, writeLeaves, s->leafCount, LEAVES_PER_TASK, CORNER_WORK, ioWork);
      if (done) writeSmall(s);
      break;
    case DONE: break;
  }
  if (ioWork) *ioWork -= whole * s->mesh->triangleCount;
  if (done) {
    a->cursor = 0;
    ++a->stage;
  }
  return ok ? result : pn_failMemory(listBytes(3 * (size_t)s->mesh->triangleCount));
}

pnResult pn_assemble(pnShape *s, const pnTreePlan *def, const pnPiece *pieces, pnBuildResult *given) {
  Assembly a = {.tasks = def->tasks, .s = s};
  pnResult result = divideMesh(&a, s, def, pieces, given);
  if (result != PN_OK || s->mesh->triangleCount == 0) {
    pn_freeHubs(&a.hubs);
    pn_buildFree(&a.shape);
    return result;
  }
  while (result == PN_OK && a.stage != DONE) result = runNext(&a, NULL);
  freeAssembly(&a);
  return result;
}

/* ---------------------------------------------------------------- a little at a time */

pnAssembly *pn_beginAssembly(pnShape *s, pnBuildResult *given) {
  pnAssembly *a = pn_allocZero(sizeof *a);
  if (!a) return NULL;
  a->s = s;
  a->shape = *given;
  *given = (pnBuildResult){0};
  return a;
}

pnProgress pn_stepAssembly(pnAssembly *a, int64_t *ioWork) {
  pnResult result = PN_OK;
  while (result == PN_OK && a->stage != DONE && *ioWork > 0) result = runNext(a, ioWork);
  return result != PN_OK ? PN_PROGRESS_FAILED : a->stage == DONE ? PN_PROGRESS_DONE : PN_PROGRESS_MORE;
}

void pn_endAssembly(pnAssembly *a) {
  if (!a) return;
  freeAssembly(a);
  pn_free(a, sizeof *a);
}
