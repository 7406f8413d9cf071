/* assemble.c: a shape from the division that a builder gives (build.h): nodes numbered, vertex lists, links between leaves, and
 * all of it in one block of memory. tree.h has the layout and the invariants. */
#include "base/array.h"
#include "tree/build.h"
#include "tree/corner.h"
#include "tree/tree.h"
#include "tree/update.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- numbering */

/* Lists whose lengths are known only once they are made. */
typedef struct Lists {
  uint32_t *number; /* build node -> node */
  uint32_t *bfs;    /* build nodes of the inner nodes, in order of number */
  PN_ARRAY(uint32_t) leafVertices;
  PN_ARRAY(uint32_t) clusterVertices;
  PN_ARRAY(uint32_t) twigVertices;
  PN_ARRAY(uint32_t) twigFirst; /* innerCount + 1, or none */
  PN_ARRAY(uint32_t) clusters;
  PN_ARRAY(uint32_t) clusterFirst; /* where the list of each begins */
  PN_ARRAY(pnLeafLink) links;
  uint32_t *seen; /* mesh vertex -> last cluster or leaf that listed it */
} Lists;

/* Inner nodes breadth-first, leaves in tree order. */
static void numberNodes(const pnBuildResult *shape, Lists *lists, pnShape *s) {
  const pnBuildNode *nodes = shape->nodes;
  for (size_t i = 0; i < shape->nodeCount; ++i) nodes[i].childCount ? s->innerCount++ : s->leafCount++;
  s->nodeCount = s->innerCount + s->leafCount;
  /* breadth-first over inner nodes */
  uint32_t head = 0, tail = 0;
  if (nodes[0].childCount) {
    lists->bfs[tail] = 0;
    lists->number[0] = tail++;
  }
  while (head < tail) {
    const pnBuildNode *n = &nodes[lists->bfs[head++]];
    for (uint32_t j = 0; j < n->childCount; ++j) {
      if (nodes[n->childFirst + j].childCount) {
        lists->bfs[tail] = n->childFirst + j;
        lists->number[n->childFirst + j] = tail++;
      }
    }
  }
}

/* Leaves sorted by the place of their first triangle: `seat[i]` is the build node of the leaf that starts at i. */
static void numberLeaves(const pnBuildResult *shape, Lists *lists, const pnShape *s, uint32_t *seat) {
  memset(seat, 0xff, shape->triangleCount * sizeof(uint32_t));
  for (size_t i = 0; i < shape->nodeCount; ++i)
    if (!shape->nodes[i].childCount) seat[shape->nodes[i].first] = (uint32_t)i;
  uint32_t leaf = 0;
  for (uint32_t i = 0; i < shape->triangleCount; ++i)
    if (seat[i] != PN_NONE) lists->number[seat[i]] = s->innerCount + leaf++;
}

/* ---------------------------------------------------------------- one block of memory */

#define VERTEX_BYTES 12u

/* May queries read the vertices of this tree's pose where they are? Corners are found by 32 bits. */
static bool readsInPlace(const pnShape *s) {
  return s->rule->inPlace && s->motion->isStored && !s->def.self && s->mesh->vertexCount <= UINT32_MAX / VERTEX_BYTES;
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

static size_t layoutShape(pnShape *s, const Lists *lists, char *base) {
  size_t at = 0, inner = s->innerCount, leaves = s->leafCount;
  pn_carveNodes(s, base, &at, inner, leaves);
  s->sourceCorners = readsInPlace(s) ? pn_carve(base, &at, 24 * leaves, sizeof(uint32_t)) : NULL;
  s->leafVertices = pn_carve(base, &at, lists->leafVertices.count, sizeof(uint32_t));
  s->eagerNodes = pn_carve(base, &at, s->eagerCount, sizeof(uint32_t));
  s->clusterNode = pn_carve(base, &at, s->clusterCount, sizeof(uint32_t));
  s->clusterVertexFirst = pn_carve(base, &at, (size_t)s->clusterCount + 1, sizeof(uint32_t));
  s->clusterVertices = pn_carve(base, &at, lists->clusterVertices.count, sizeof(uint32_t));
  bool twigs = lists->twigFirst.count > 0;
  s->twigFirst = twigs ? pn_carve(base, &at, inner + 1, sizeof(uint32_t)) : NULL;
  s->twigVertices = twigs ? pn_carve(base, &at, lists->twigVertices.count, sizeof(uint32_t)) : NULL;
  s->linkFirst = pn_carve(base, &at, s->def.self ? leaves + 1 : 0, sizeof(uint32_t));
  s->links = pn_carve(base, &at, lists->links.count, sizeof(pnLeafLink));
  s->hubRoots = pn_carve(base, &at, s->hubCount, sizeof(uint32_t));
  return at;
}

/* ---------------------------------------------------------------- vertex lists */

static int compareU32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Lists of leaves and clusters are short: by insertion, in strides that end with 1. */
#define SHORT_LIST 1024u
static void sortNumbers(uint32_t *v, size_t n) {
  static const size_t strides[] = {301, 132, 57, 23, 10, 4, 1};
  if (n > SHORT_LIST) {
    qsort(v, n, sizeof(uint32_t), compareU32);
    return;
  }
  for (size_t s = n > 57 ? 0 : n > 16 ? 3 : 6; s < sizeof strides / sizeof strides[0]; ++s) {
    size_t step = strides[s];
    for (size_t i = step; i < n; ++i) {
      uint32_t x = v[i];
      size_t j = i;
      for (; j >= step && v[j - step] > x; j -= step) v[j] = v[j - step];
      v[j] = x;
    }
  }
}

/* Appends the distinct vertices of order[first ... first+count) to a list, sorted; `mark` is unique to this call. */
#define LIST_VERTICES(lists, list, shape, mesh, firstTriangle, triangleCount, mark) \
  listVertices((lists)->seen, mark, (shape)->order + (firstTriangle), triangleCount, mesh, (list)->data, &(list)->count)

static void listVertices(uint32_t *seen, uint32_t mark, const uint32_t *order, uint32_t n, const pnMesh *mesh,
                         uint32_t *out, size_t *ioCount) {
  size_t begin = *ioCount, at = begin;
  for (uint32_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) {
      uint32_t v = mesh->triangles[3 * (size_t)order[i] + k];
      if (seen[v] != mark) {
        seen[v] = mark;
        out[at++] = v;
      }
    }
  }
  sortNumbers(out + begin, at - begin);
  *ioCount = at;
}

/* Fills a list up with its last vertex, for the loop that reads it in fours. */
static void fillUp(uint32_t *list, size_t *ioCount) {
  for (; *ioCount % PN_CLUSTER_STEP != 0; ++*ioCount) list[*ioCount] = list[*ioCount - 1];
}

/* Walks the shape depth-first in tree order and lists the clusters: maximal nodes of at most `cut` triangles. */
static bool listClusters(const pnBuildResult *shape, Lists *lists, const pnShape *s) {
  PN_ARRAY(uint32_t) stack = {0};
  bool ok = pn_arrayPush(&stack, 0);
  while (ok && stack.count > 0) {
    uint32_t i = stack.data[--stack.count];
    const pnBuildNode *n = &shape->nodes[i];
    if (n->count <= s->def.cut || !n->childCount) {
      ok = pn_arrayPush(&lists->clusters, i) &&
           pn_arrayPush(&lists->clusterFirst, (uint32_t)lists->clusterVertices.count) &&
           pn_arrayReserve(&lists->clusterVertices,
                           lists->clusterVertices.count + 3 * (size_t)n->count + PN_CLUSTER_STEP);
      if (ok) {
        LIST_VERTICES(lists, &lists->clusterVertices, shape, s->mesh, n->first, n->count,
                      (uint32_t)lists->clusters.count);
        fillUp(lists->clusterVertices.data, &lists->clusterVertices.count);
      }
    } else {
      /* pushed backwards so that they come off in order */
      for (uint32_t j = n->childCount; ok && j-- > 0;) ok = pn_arrayPush(&stack, n->childFirst + j);
    }
  }
  pn_arrayFree(&stack);
  return ok;
}

/* Are there twigs that are no clusters? Rules that compute volumes from vertices make use of them. */
static bool hasTwigs(const pnShape *s) {
  return s->rule->inPlace && s->def.cut > s->def.arity * s->def.leafSize;
}

/* Vertices of the twigs, by number of node; other inner nodes have empty lists. Marks go on counting from `mark`. */
static bool listTwigs(const pnBuildResult *shape, Lists *lists, const pnShape *s, uint32_t mark) {
  bool ok = pn_arrayPush(&lists->twigFirst, 0);
  for (uint32_t i = 0; ok && i < s->innerCount; ++i) {
    const pnBuildNode *n = &shape->nodes[lists->bfs[i]];
    if (shape->nodes[n->childFirst].childCount == 0) {
      ok = pn_arrayReserve(&lists->twigVertices, lists->twigVertices.count + 3 * (size_t)n->count + PN_CLUSTER_STEP);
      if (ok) {
        LIST_VERTICES(lists, &lists->twigVertices, shape, s->mesh, n->first, n->count, mark + i);
        fillUp(lists->twigVertices.data, &lists->twigVertices.count);
      }
    }
    ok = ok && pn_arrayPush(&lists->twigFirst, (uint32_t)lists->twigVertices.count);
  }
  return ok;
}

/* ---------------------------------------------------------------- self-collision links */

/* What finding links takes. */
typedef struct Linker {
  Lists *lists;
  const pnMesh *mesh;
  const pnHubs *hubs;
  const uint32_t *leafOf; /* triangle -> leaf * 8 + lane */
  uint32_t *slot;         /* leaf -> index of its link in the current leaf's list, valid when >= the list's begin */
} Linker;

/* Notes that triangle i of a leaf shares a vertex with one of a later leaf, or of its own. */
static bool linkTriangle(const Linker *l, size_t begin, uint32_t leaf, uint32_t i, uint32_t triangle) {
  uint32_t place = l->leafOf[triangle], other = place / PN_LANES;
  if (other < leaf) return true;
  size_t at = l->slot[other];
  if (at < begin || at >= l->lists->links.count || l->lists->links.data[at].leaf != other) {
    at = l->lists->links.count;
    l->slot[other] = (uint32_t)at;
    if (!pn_arrayPush(&l->lists->links, ((pnLeafLink){.leaf = other}))) return false;
  }
  l->lists->links.data[at].row[i] |= (uint8_t)(1u << place % PN_LANES);
  return true;
}

/* For every leaf the later leaves with triangles that share a welded vertex, as bit masks. Not between two triangles of one
 * hub: no query looks at such a pair. */
static bool linkLeaf(const Linker *l, const uint32_t *triangles, uint32_t leaf) {
  const pnMesh *mesh = l->mesh;
  const pnHubs *hubs = l->hubs;
  size_t begin = l->lists->links.count;
  bool ok = true;
  for (uint32_t i = 0; i < PN_LANES && triangles[i] != PN_NONE; ++i) {
    for (int k = 0; k < 3; ++k) {
      uint32_t v = mesh->weld[mesh->triangles[3 * (size_t)triangles[i] + k]];
      uint32_t hub = hubs->count > 0 ? pn_hubAt(hubs, v) : PN_NONE;
      if (hub == PN_NONE) {
        for (uint32_t r = mesh->ringOffsets[v]; ok && r < mesh->ringOffsets[v + 1]; ++r) {
          bool together = hubs->count > 0 && hubs->of[triangles[i]] != PN_NONE &&
                          hubs->of[triangles[i]] == hubs->of[mesh->rings[r]];
          ok = together || linkTriangle(l, begin, leaf, i, mesh->rings[r]);
        }
        continue;
      }
      for (uint32_t r = hubs->first[hub]; ok && r < hubs->first[hub + 1];) {
        uint32_t own = hubs->of[triangles[i]];
        bool together = own != PN_NONE && own == hubs->of[hubs->ring[r]];
        ok = together || linkTriangle(l, begin, leaf, i, hubs->ring[r]);
        r = together ? hubs->next[r] : r + 1;
      }
    }
  }
  return ok;
}

static int compareLink(const void *a, const void *b) {
  return compareU32(a, b); /* `leaf` is the first member */
}

/* ---------------------------------------------------------------- assembly */

/* Scratch of one creation, freed in one place. */
typedef struct Assembly {
  pnBuildResult shape;
  pnHubs hubs;
  Lists lists;
  uint32_t *leafOf;    /* triangle -> leaf * 8 + lane; before that: seats */
  uint32_t *slot;      /* one a leaf */
  uint32_t *linkFirst; /* one a leaf and one more */
  uint32_t *leafNode;  /* leaf -> build node */
  uint32_t *leafFirst; /* leaf -> where its vertices begin, and one more */
} Assembly;

static size_t listBytes(size_t n) {
  return pn_bytes(PN_MAX(n, 1), sizeof(uint32_t));
}

static void freeAssembly(Assembly *a, uint32_t triangles, uint32_t vertices, uint32_t leaves) {
  pn_free(a->lists.number, listBytes(a->shape.nodeCount));
  pn_free(a->lists.bfs, listBytes(a->shape.nodeCount));
  pn_free(a->lists.seen, listBytes(vertices));
  pn_free(a->leafOf, listBytes(triangles));
  pn_free(a->slot, listBytes(leaves));
  pn_free(a->linkFirst, listBytes((size_t)leaves + 1));
  pn_free(a->leafNode, listBytes(leaves));
  pn_free(a->leafFirst, listBytes((size_t)leaves + 1));
  pn_arrayFree(&a->lists.leafVertices);
  pn_arrayFree(&a->lists.clusterVertices);
  pn_arrayFree(&a->lists.twigVertices);
  pn_arrayFree(&a->lists.twigFirst);
  pn_arrayFree(&a->lists.clusters);
  pn_arrayFree(&a->lists.clusterFirst);
  pn_arrayFree(&a->lists.links);
  pn_freeHubs(&a->hubs);
  pn_buildFree(&a->shape);
}

/* Everything whose size is not known beforehand. False: out of memory. */
static bool makeLists(Assembly *a, pnShape *s) {
  const pnMesh *mesh = s->mesh;
  Lists *lists = &a->lists;
  lists->number = pn_alloc(listBytes(a->shape.nodeCount));
  lists->bfs = pn_alloc(listBytes(a->shape.nodeCount));
  lists->seen = pn_allocZero(listBytes(mesh->vertexCount));
  a->leafOf = pn_alloc(listBytes(mesh->triangleCount));
  if (!lists->number || !lists->bfs || !lists->seen || !a->leafOf) return false;
  numberNodes(&a->shape, lists, s);
  numberLeaves(&a->shape, lists, s, a->leafOf);
  a->leafNode = pn_alloc(listBytes(s->leafCount));
  a->slot = pn_allocZero(listBytes(s->leafCount));
  a->linkFirst = pn_allocZero(listBytes((size_t)s->leafCount + 1));
  a->leafFirst = pn_alloc(listBytes((size_t)s->leafCount + 1));
  if (!a->leafNode || !a->slot || !a->linkFirst || !a->leafFirst) return false;
  for (uint32_t i = 0; i < a->shape.nodeCount; ++i)
    if (lists->number[i] >= s->innerCount) a->leafNode[lists->number[i] - s->innerCount] = i;
  if (!listClusters(&a->shape, lists, s)) return false;
  s->clusterCount = (uint32_t)lists->clusters.count;
  for (uint32_t i = 0; i < s->innerCount; ++i) s->eagerCount += a->shape.nodes[lists->bfs[i]].count > s->def.cut;
  /* leaf vertex lists; marks go on counting after the clusters' */
  if (!pn_arrayReserve(&lists->leafVertices, 3 * (size_t)mesh->triangleCount)) return false;
  for (uint32_t leaf = 0; leaf < s->leafCount; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    a->leafFirst[leaf] = (uint32_t)lists->leafVertices.count;
    LIST_VERTICES(lists, &lists->leafVertices, &a->shape, mesh, n->first, n->count, s->clusterCount + 1 + leaf);
  }
  a->leafFirst[s->leafCount] = (uint32_t)lists->leafVertices.count;
  return !hasTwigs(s) || listTwigs(&a->shape, lists, s, s->clusterCount + s->leafCount + 1);
}

static bool makeLinks(Assembly *a, const pnShape *s) {
  for (uint32_t leaf = 0; leaf < s->leafCount; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    for (uint32_t j = 0; j < n->count; ++j) a->leafOf[a->shape.order[n->first + j]] = leaf * PN_LANES + j;
  }
  Linker linker = {&a->lists, s->mesh, &a->hubs, a->leafOf, a->slot};
  for (uint32_t leaf = 0; leaf < s->leafCount && s->def.self; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    uint32_t triangles[PN_LANES];
    for (uint32_t j = 0; j < PN_LANES; ++j) triangles[j] = j < n->count ? a->shape.order[n->first + j] : PN_NONE;
    size_t begin = a->lists.links.count;
    a->linkFirst[leaf] = (uint32_t)begin;
    if (!linkLeaf(&linker, triangles, leaf)) return false;
    if (a->lists.links.count > begin)
      qsort(a->lists.links.data + begin, a->lists.links.count - begin, sizeof(pnLeafLink), compareLink);
  }
  a->linkFirst[s->leafCount] = (uint32_t)a->lists.links.count;
  return true;
}

/* The nodes, from the shape. */
static void writeNodes(const Assembly *a, pnShape *s) {
  const Lists *lists = &a->lists;
  for (uint32_t node = 0; node < s->innerCount; ++node) {
    const pnBuildNode *n = &a->shape.nodes[lists->bfs[node]];
    s->first[node] = lists->number[n->childFirst];
    s->count[node] = (uint8_t)n->childCount;
    s->below[node] = n->count;
    for (uint32_t j = 0; j < n->childCount; ++j) s->parent[lists->number[n->childFirst + j]] = node * PN_LANES + j;
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

/* Leaves: triangles, corners, vertex lists. What `seen` held is not needed any more: now it says where in its leaf a vertex is. */
static void writeLeaves(const Assembly *a, pnShape *s) {
  const uint32_t *listed = a->lists.leafVertices.data;
  uint32_t *place = a->lists.seen;
  memcpy(s->leafVertexFirst, a->leafFirst, ((size_t)s->leafCount + 1) * sizeof(uint32_t));
  for (uint32_t leaf = 0; leaf < s->leafCount; ++leaf) {
    const pnBuildNode *n = &a->shape.nodes[a->leafNode[leaf]];
    uint32_t at = a->leafFirst[leaf];
    for (uint32_t i = at; i < a->leafFirst[leaf + 1]; ++i) {
      s->leafVertices[i] = 3 * listed[i];
      place[listed[i]] = i;
    }
    for (uint32_t j = 0; j < PN_LANES; ++j) {
      bool there = j < n->count;
      uint32_t triangle = there ? a->shape.order[n->first + j] : PN_NONE;
      size_t slot = (size_t)leaf * PN_LANES + j;
      s->leafTriangles[slot] = triangle;
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t v = there ? s->mesh->triangles[3 * (size_t)triangle + k] : 0;
        s->blockCorners[3 * slot + k] = PN_PLACE_BYTES * (there ? place[v] : at);
        if (s->sourceCorners) s->sourceCorners[3 * slot + k] = VERTEX_BYTES * v;
      }
    }
  }
}

static void writeClusters(const Assembly *a, pnShape *s) {
  for (size_t i = 0; i < a->lists.clusterVertices.count; ++i)
    s->clusterVertices[i] = 3 * a->lists.clusterVertices.data[i];
  for (uint32_t c = 0; c < s->clusterCount; ++c) {
    s->clusterNode[c] = a->lists.number[a->lists.clusters.data[c]];
    s->clusterVertexFirst[c] = a->lists.clusterFirst.data[c];
  }
  s->clusterVertexFirst[s->clusterCount] = (uint32_t)a->lists.clusterVertices.count;
  for (size_t i = 0; i < a->lists.twigVertices.count; ++i) s->twigVertices[i] = 3 * a->lists.twigVertices.data[i];
  for (size_t i = 0; i < a->lists.twigFirst.count; ++i) s->twigFirst[i] = a->lists.twigFirst.data[i];
  uint32_t e = 0;
  for (uint32_t node = s->innerCount; node-- > 0;)
    if (s->below[node] > s->def.cut) s->eagerNodes[e++] = node;
}

/* The tops of the hubs' subtrees, in ascending order; with null only how many. */
static uint32_t writeHubRoots(const Assembly *a, const pnShape *s, uint32_t *out) {
  uint32_t n = 0;
  for (uint32_t node = 0; a->hubs.count > 0 && node < s->innerCount; ++node) {
    const pnBuildNode *b = &a->shape.nodes[a->lists.bfs[node]];
    uint32_t hub = a->hubs.of[a->shape.order[b->first]];
    /* all of a hub are together, so the first and their number say it; a node with one child is as good as that child */
    if (hub != PN_NONE && b->count == a->hubs.size[hub]) {
      if (out) out[n] = node;
      ++n;
    }
  }
  return n;
}

/* Everything into one block. */
static pnResult writeShape(const Assembly *a, pnShape *s) {
  s->hubCount = writeHubRoots(a, s, NULL);
  s->memoryBytes = layoutShape(s, &a->lists, NULL);
  s->memory = pn_allocZero(s->memoryBytes);
  if (!s->memory) return pn_failMemory(s->memoryBytes);
  layoutShape(s, &a->lists, s->memory);
  writeNodes(a, s);
  writeLeaves(a, s);
  writeClusters(a, s);
  writeHubRoots(a, s, s->hubRoots);
  if (s->def.self) {
    memcpy(s->linkFirst, a->linkFirst, ((size_t)s->leafCount + 1) * sizeof(uint32_t));
    if (a->lists.links.count > 0) memcpy(s->links, a->lists.links.data, a->lists.links.count * sizeof(pnLeafLink));
  }
  /* inner nodes are numbered breadth first: below the last of them is a deepest leaf */
  s->height = 1 + (s->innerCount > 0);
  for (uint32_t node = s->innerCount - (s->innerCount > 0); node > 0; node = s->parent[node] / PN_LANES) ++s->height;
  return PN_OK;
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

pnResult pn_assemble(pnShape *s, const pnTreePlan *def, const pnPiece *pieces, pnBuildResult *given) {
  Assembly a = {0};
  pnResult result = divideMesh(&a, s, def, pieces, given);
  if (result != PN_OK || s->mesh->triangleCount == 0) {
    pn_freeHubs(&a.hubs);
    pn_buildFree(&a.shape);
    return result;
  }
  if (!makeLists(&a, s) || !makeLinks(&a, s)) {
    result = pn_failMemory(listBytes(3 * (size_t)s->mesh->triangleCount));
  } else if (a.lists.leafVertices.count > PN_MAX_CORNERS) {
    result =
        pn_fail(PN_ERROR_COUNT, "mesh '%s': its leaves list %zu vertices, at most %u are possible; divide the mesh",
                s->mesh->name, a.lists.leafVertices.count, PN_MAX_CORNERS);
  } else {
    result = writeShape(&a, s);
  }
  freeAssembly(&a, s->mesh->triangleCount, s->mesh->vertexCount, s->leafCount);
  return result;
}
