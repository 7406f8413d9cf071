/* assemble_links.c: see assemble_links.h. Leaves are taken in blocks, each by one worker; a block has a list of its own, and the lists
 * are put one after the other. */
#include "tree/assemble_links.h"

#include "base/array.h"

#define BLOCK_LEAVES 256u

typedef PN_ARRAY(pnLeafLink) LinkList;

struct pnLinkBlock {
  LinkList links;
  bool outOfMemory;
};

typedef struct Linking {
  const pnLinkInput *in;
  pnLeafLinks *out;
  uint32_t *slotOf; /* triangle -> leaf * 8 + lane */
  uint32_t *linkOf; /* by worker: leafCount */
} Linking;

/* What one worker has at hand. */
typedef struct Linker {
  const pnMesh *mesh;
  const pnHubs *hubs;
  const uint32_t *slotOf;
  uint32_t *linkOf; /* leaf -> index of its link in the current leaf's list, when that is in there and its */
  LinkList *links;
} Linker;

/* Notes that some triangles of a leaf, those that `has` says with all bits, share a vertex with one of a later leaf, or of its own. */
static bool linkTriangle(const Linker *l, size_t begin, uint32_t leaf, const uint8_t has[PN_LANES], uint32_t triangle) {
  uint32_t slot = l->slotOf[triangle], other = slot / PN_LANES;
  if (other < leaf) return true;
  size_t at = l->linkOf[other];
  if (at < begin || at >= l->links->count || l->links->data[at].leaf != other) {
    at = l->links->count;
    l->linkOf[other] = (uint32_t)at;
    if (!pn_arrayPush(l->links, ((pnLeafLink){.leaf = other}))) return false;
  }
  uint8_t *row = l->links->data[at].row, lane = (uint8_t)(1u << slot % PN_LANES);
  for (uint32_t i = 0; i < PN_LANES; ++i) row[i] |= has[i] & lane;
  return true;
}

/* The same with all triangles around a vertex. Not between two triangles of one hub: no query looks at such a pair. `own` is the hub that
 * the leaf's triangles belong to: all of them, because hubs have subtrees of their own. */
static bool linkVertex(const Linker *l, size_t begin, uint32_t leaf, const uint8_t has[PN_LANES], uint32_t v,
                       uint32_t own) {
  const pnMesh *mesh = l->mesh;
  const pnHubs *hubs = l->hubs;
  uint32_t hub = hubs->count > 0 ? pn_hubAt(hubs, v) : PN_NONE;
  const uint32_t *ring = hub == PN_NONE ? mesh->rings : hubs->ring;
  uint32_t r = hub == PN_NONE ? mesh->ringOffsets[v] : hubs->first[hub];
  uint32_t end = hub == PN_NONE ? mesh->ringOffsets[v + 1] : hubs->first[hub + 1];
  bool ok = true;
  while (ok && r < end) {
    bool together = own != PN_NONE && own == hubs->of[ring[r]];
    ok = together || linkTriangle(l, begin, leaf, has, ring[r]);
    r = together && hub != PN_NONE ? hubs->next[r] : r + 1;
  }
  return ok;
}

/* For every leaf the later leaves with triangles that share a welded vertex, as bit masks. Each of its vertices is looked around
 * once, for all triangles that have it. */
static bool linkLeaf(const Linker *l, const pnLinkInput *in, uint32_t leaf) {
  const pnBuildNode *n = &in->shape->nodes[in->leafNode[leaf]];
  const uint32_t *list = in->lists->leaves + (size_t)PN_LEAF_CORNERS * leaf;
  const uint8_t *place = in->lists->place + (size_t)PN_LEAF_CORNERS * leaf;
  uint8_t has[PN_LEAF_CORNERS][PN_LANES] = {{0}};
  uint32_t count = in->leafFirst[leaf + 1] - in->leafFirst[leaf];
  uint32_t own = in->hubs->count > 0 ? in->hubs->of[in->shape->order[n->first]] : PN_NONE;
  size_t begin = l->links->count;
  bool ok = true;
  for (uint32_t k = 0; k < 3 * n->count; ++k) has[place[k]][k / 3] = 0xff;
  for (uint32_t i = 0; ok && i < count; ++i) ok = linkVertex(l, begin, leaf, has[i], l->mesh->weld[list[i]], own);
  return ok;
}

/* By the other leaf; a leaf has a dozen, so by insertion. */
static void sortLinks(pnLeafLink *links, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    pnLeafLink one = links[i];
    size_t k = i;
    for (; k > 0 && links[k - 1].leaf > one.leaf; --k) links[k] = links[k - 1];
    links[k] = one;
  }
}

static void findBlocks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  const Linking *job = context;
  const pnLinkInput *in = job->in;
  for (uint32_t i = begin; i < end; ++i) {
    struct pnLinkBlock *block = &job->out->blocks[i];
    Linker linker = {in->mesh, in->hubs, job->slotOf, job->linkOf + (size_t)worker * in->leafCount, &block->links};
    uint32_t last = PN_MIN((i + 1) * BLOCK_LEAVES, in->leafCount);
    for (uint32_t leaf = i * BLOCK_LEAVES; leaf < last && !block->outOfMemory; ++leaf) {
      size_t first = block->links.count;
      job->out->first[leaf] = (uint32_t)first;
      block->outOfMemory = !linkLeaf(&linker, in, leaf);
      if (block->links.count > first) sortLinks(block->links.data + first, block->links.count - first);
    }
  }
}

static void findPlaces(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Linking *job = context;
  const pnLinkInput *in = job->in;
  for (uint32_t leaf = begin; leaf < end; ++leaf) {
    const pnBuildNode *n = &in->shape->nodes[in->leafNode[leaf]];
    for (uint32_t j = 0; j < n->count; ++j) job->slotOf[in->shape->order[n->first + j]] = leaf * PN_LANES + j;
  }
}

bool pn_findLinks(const pnLinkInput *in, pnLeafLinks *out) {
  *out = (pnLeafLinks){.leafCount = in->leafCount, .blockCount = (in->leafCount + BLOCK_LEAVES - 1) / BLOCK_LEAVES};
  size_t placeBytes = pn_bytes(in->shape->triangleCount, sizeof(uint32_t));
  size_t linkBytes = pn_bytes((size_t)in->leafCount * pn_workerCount(in->tasks), sizeof(uint32_t));
  Linking job = {in, out, pn_alloc(placeBytes), pn_allocZero(linkBytes)};
  out->first = pn_alloc(pn_bytes(in->leafCount, sizeof(uint32_t)));
  out->blocks = pn_allocZero(pn_bytes(out->blockCount, sizeof *out->blocks));
  bool ok = job.slotOf && job.linkOf && out->first && out->blocks;
  if (ok) {
    pn_parallelFor(in->tasks, findPlaces, &job, in->leafCount, 8 * BLOCK_LEAVES);
    pn_parallelFor(in->tasks, findBlocks, &job, out->blockCount, 1);
  }
  for (uint32_t i = 0; ok && i < out->blockCount; ++i) {
    out->count += out->blocks[i].links.count;
    ok = !out->blocks[i].outOfMemory;
  }
  pn_free(job.slotOf, placeBytes);
  pn_free(job.linkOf, linkBytes);
  return ok;
}

void pn_freeLinks(pnLeafLinks *l) {
  for (uint32_t i = 0; l->blocks && i < l->blockCount; ++i) pn_arrayFree(&l->blocks[i].links);
  pn_free(l->blocks, pn_bytes(l->blockCount, sizeof *l->blocks));
  pn_free(l->first, pn_bytes(l->leafCount, sizeof(uint32_t)));
  *l = (pnLeafLinks){0};
}

void pn_writeLinks(const pnLeafLinks *l, uint32_t *outFirst, pnLeafLink *outLinks) {
  size_t at = 0;
  for (uint32_t i = 0; i < l->blockCount; ++i) {
    uint32_t last = PN_MIN((i + 1) * BLOCK_LEAVES, l->leafCount);
    for (uint32_t leaf = i * BLOCK_LEAVES; leaf < last; ++leaf) outFirst[leaf] = (uint32_t)at + l->first[leaf];
    const LinkList *links = &l->blocks[i].links;
    if (links->count > 0) memcpy(outLinks + at, links->data, links->count * sizeof *outLinks);
    at += links->count;
  }
  outFirst[l->leafCount] = (uint32_t)at;
}
