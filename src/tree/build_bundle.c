/* build_bundle.c: meshes of many islands: hair, leaves of trees, patches that fly about. An island is a part of the mesh that hangs
 * together across edges.
 *
 * Where strands lie closer to each other than they are long, cutting space in halves puts crumbs of several into a leaf, whose box is then
 * as wide as the gaps between them, and wider when they move apart. So every island is divided by itself first, into
 * *bundles* of as many triangles as fit a leaf, and the tree is built over bundles as if each were a triangle. Two tufts of hair open a
 * third of the pairs of leaves; a leaf has a third fewer vertices to fetch; and an island that flies off takes its leaves
 * along. Bundles at the end of an island are not full: where they would leave many lanes empty, there are none.
 *
 * Which leaves there are changes how much is looked at, never what is found. */
#include "tree/build.h"

#include "base/array.h"

#include <float.h>

/* Fewer islands than this are not worth it: what they have in common is a few leaves. */
#define MANY_ISLANDS 64u
/* Are islands small? Some are looked at before all triangles are: of a mesh that hangs together the first is larger than this. */
#define LARGE_ISLAND 1024u
#define SAMPLES 8u
/* Of the lanes of leaves, at least so many quarters have triangles. */
#define FULL_QUARTERS 3u

/* ---------------------------------------------------------------- islands */

/* Has the island around a triangle more than LARGE_ISLAND of them? Those that were reached are marked in `seen`. */
static bool isLarge(const pnMesh *mesh, uint32_t start, uint8_t *seen) {
  uint32_t queue[LARGE_ISLAND], head = 0, tail = 0;
  if (seen[start]) return false;
  seen[start] = 1;
  queue[tail++] = start;
  while (head < tail) {
    const uint32_t *next = mesh->neighbours + 3 * (size_t)queue[head++];
    for (int k = 0; k < 3; ++k) {
      if (next[k] == PN_NONE || seen[next[k]]) continue;
      if (tail == LARGE_ISLAND) return true;
      seen[next[k]] = 1;
      queue[tail++] = next[k];
    }
  }
  return false;
}

bool pn_seemInPieces(const pnMesh *mesh, bool *outPieces) {
  uint32_t n = mesh->triangleCount;
  uint8_t *seen = pn_allocZero(n);
  if (!seen) return false;
  *outPieces = true;
  for (uint32_t i = 0; *outPieces && i < SAMPLES; ++i)
    *outPieces = !isLarge(mesh, (uint32_t)((uint64_t)i * n / SAMPLES), seen);
  pn_free(seen, n);
  return true;
}

bool pn_beginIslands(const pnBuilder *b, pnBundles *out) {
  uint32_t n = b->mesh->triangleCount;
  *out = (pnBundles){.triangleCount = n};
  if (n < MANY_ISLANDS * b->leafSize) return true;
  bool small;
  if (!pn_seemInPieces(b->mesh, &small)) return false;
  if (!small) return true;
  out->above = pn_alloc(pn_bytes(n, sizeof(uint32_t)));
  for (uint32_t t = 0; out->above && t < n; ++t) out->above[t] = t;
  return out->above != NULL;
}

void pn_joinIslands(const pnBuilder *b, pnBundles *bundles, uint32_t begin, uint32_t end) {
  uint32_t *above = bundles->above;
  for (size_t t = begin; t < end; ++t) {
    for (int k = 0; k < 3; ++k) {
      uint32_t s = b->mesh->neighbours[3 * t + k];
      if (s >= t) continue; /* or none; that one comes across this one later */
      uint32_t x = pn_rootOf(above, (uint32_t)t), y = pn_rootOf(above, s);
      above[PN_MAX(x, y)] = PN_MIN(x, y); /* so that the first triangle of an island is its root */
    }
  }
}

/* How many triangles each island has, by its root, into the builder's scratch. Is it worth it? */
static bool countIslands(const pnBuilder *b, pnBundles *bundles) {
  uint32_t n = bundles->triangleCount, *size = b->scratch;
  uint64_t lanes = 0;
  memset(size, 0, pn_bytes(n, sizeof *size));
  for (uint32_t t = 0; t < n; ++t) ++size[pn_rootOf(bundles->above, t)];
  for (uint32_t t = 0; t < n; ++t) {
    if (size[t] == 0) continue;
    ++bundles->islandCount;
    bundles->count += (size[t] + b->leafSize - 1) / b->leafSize;
  }
  lanes = (uint64_t)bundles->count * b->leafSize;
  return bundles->islandCount >= MANY_ISLANDS && 4 * (uint64_t)n >= FULL_QUARTERS * lanes;
}

bool pn_sortIslands(pnBuilder *b, pnBundles *bundles) {
  uint32_t n = bundles->triangleCount, island = 0, at = 0, *place = b->scratch;
  bool worth = countIslands(b, bundles);
  if (worth) bundles->islandFirst = pn_alloc(pn_bytes((size_t)bundles->islandCount + 1, sizeof(uint32_t)));
  bool ok = !worth || bundles->islandFirst;
  for (uint32_t t = 0; worth && ok && t < n; ++t) {
    uint32_t root = pn_rootOf(bundles->above, t);
    if (root == t) { /* the first of its island */
      uint32_t size = place[t];
      bundles->islandFirst[island++] = place[t] = at;
      at += size;
    }
    b->order[place[root]++] = t;
  }
  pn_free(bundles->above, pn_bytes(n, sizeof(uint32_t)));
  bundles->above = NULL;
  if (bundles->islandFirst) bundles->islandFirst[island] = n;
  else bundles->islandCount = bundles->count = 0;
  return ok;
}

/* ---------------------------------------------------------------- bundles */

/* The bundles of a tree's builder, as a builder has its triangles. */
static void layOut(pnBundles *bundles, char *base, size_t *at) {
  pnBuilder *over = &bundles->over;
  size_t n = bundles->count;
  bundles->first = pn_carve(base, at, n + 1, sizeof(uint32_t));
  over->order = pn_carve(base, at, n, sizeof(uint32_t));
  over->centres = pn_carve(base, at, 3 * n + 1, sizeof(float));
  over->boxes = pn_carve(base, at, n, PN_BUILD_BOX * sizeof(float));
  over->keys = pn_carve(base, at, n, 2 * sizeof(uint64_t));
  over->scratch = pn_carve(base, at, n, sizeof(uint32_t));
}

/* The box around the triangles of a bundle, and its middle, halved like those of triangles so that nothing overflows. */
static void boundBundle(const pnBuilder *b, pnBundles *bundles, uint32_t bundle) {
  float *box = bundles->over.boxes + PN_BUILD_BOX * (size_t)bundle;
  for (int k = 0; k < 4; ++k) {
    box[k] = FLT_MAX;
    box[4 + k] = -FLT_MAX;
  }
  for (uint32_t i = bundles->first[bundle]; i < bundles->first[bundle + 1]; ++i) {
    const float *one = b->boxes + PN_BUILD_BOX * (size_t)b->order[i];
    for (int k = 0; k < 3; ++k) {
      box[k] = PN_MIN(box[k], one[k]);
      box[4 + k] = PN_MAX(box[4 + k], one[4 + k]);
    }
  }
  for (int k = 0; k < 3; ++k) bundles->over.centres[3 * (size_t)bundle + k] = box[k] * 0.25f + box[4 + k] * 0.25f;
}

bool pn_bindBundles(const pnBuilder *b, pnBundles *bundles) {
  layOut(bundles, NULL, &bundles->bytes);
  bundles->block = pn_alloc(bundles->bytes);
  if (!bundles->block) return false;
  size_t at = 0;
  layOut(bundles, bundles->block, &at);
  bundles->over.centres[3 * (size_t)bundles->count] = 0; /* read with the last one's */
  bundles->over.arity = b->arity;
  bundles->over.leafSize = 1;
  /* within an island leaves are full, but for the last */
  uint32_t bundle = 0;
  for (uint32_t i = 0; i < bundles->islandCount; ++i)
    for (uint32_t t = bundles->islandFirst[i]; t < bundles->islandFirst[i + 1]; t += b->leafSize)
      bundles->first[bundle++] = t;
  bundles->first[bundle] = bundles->triangleCount;
  return true;
}

void pn_boundBundles(const pnBuilder *b, pnBundles *bundles, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i) {
    bundles->over.order[i] = i;
    boundBundle(b, bundles, i);
  }
}

void pn_openBundles(pnBuilder *b, pnBundles *bundles, pnBuildNode *nodes, size_t nodeCount) {
  uint32_t *from = bundles->over.scratch, at = 0; /* where the bundle at a place begins now */
  for (uint32_t i = 0; i < bundles->count; ++i) {
    const uint32_t *first = bundles->first + bundles->over.order[i];
    from[i] = at;
    memcpy(b->scratch + at, b->order + first[0], (first[1] - first[0]) * sizeof(uint32_t));
    at += first[1] - first[0];
  }
  memcpy(b->order, b->scratch, at * sizeof(uint32_t));
  for (size_t i = 0; i < nodeCount; ++i) {
    uint32_t end = nodes[i].first + nodes[i].count;
    nodes[i].first = from[nodes[i].first];
    nodes[i].count = (end < bundles->count ? from[end] : at) - nodes[i].first;
  }
}

void pn_freeBundles(pnBundles *bundles) {
  pn_free(bundles->above, bundles->above ? pn_bytes(bundles->triangleCount, sizeof(uint32_t)) : 0);
  pn_free(bundles->islandFirst,
          bundles->islandFirst ? pn_bytes((size_t)bundles->islandCount + 1, sizeof(uint32_t)) : 0);
  pn_free(bundles->block, bundles->block ? bundles->bytes : 0);
  *bundles = (pnBundles){0};
}
