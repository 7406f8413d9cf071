/* build_fast.c: a balanced tree in half the time: triangles are sorted along the curve of Hilbert within the box of their centres
 * (bucket_curve.c), and only subtrees of a few hundred are cut, across their longest axis (build_block.h). Larger ones where the curve cannot tell
 * triangles apart, because one far away makes its cells large. For bodies that are built anew often. */
#include "tree/bucket.h"
#include "tree/build_block.h"

#include "base/array.h"
#include "base/task.h"

#include <float.h>

/* Triangles a task takes at a time. */
#define GRAIN 4096u
/* Subtrees of at most so many triangles are cut: all of them in the cache, and what a better order saves lies near the leaves. Pairs of
 * leaves that are opened, of two spheres: 2.5 times those of the balanced tree without cutting, 1.8 with subtrees of 64, 1.4
 * with 512, 1.2 with 4096. */
#define CUT_BELOW PN_BLOCK_TRIANGLES
/* Up to so many triangles cells of 1/256 of the box will do: on a surface there are then four triangles in one, and subtrees that are cut
 * have 512. Finer cells make no fewer pairs of leaves, and take a pass more to sort. */
#define COARSE_BELOW (1u << 18)
/* Subtrees that a task cuts. */
#define PARTS_PER_TASK 4u

typedef struct Sorting {
  const pnBuilder *b;
  pnKeyValue *keys;
  pnCells cells[3];
} Sorting;

static void codeTriangles(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const Sorting *s = context;
  pnCodeBatch batch;
  for (uint32_t at = begin; at < end; at += batch.count) {
    batch.count = PN_MIN(PN_CODE_BATCH, end - at);
    for (uint32_t i = 0; i < batch.count; ++i)
      pn_f4Store(batch.centres[i], pn_f4Load(s->b->centres + 3 * (size_t)(at + i)));
    pn_hilbertCodes(s->cells, &batch);
    for (uint32_t i = 0; i < batch.count; ++i) s->keys[at + i] = (pnKeyValue){batch.codes[i], at + i};
  }
}

/* Cells over the box of all centres. */
static void findCells(const pnBuilder *b, uint32_t count, pnCells out[3]) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    pnF4 centre = pn_f4Load(b->centres + 3 * (size_t)i);
    lo = pn_f4Min(lo, centre);
    hi = pn_f4Max(hi, centre);
  }
  float l[4], h[4];
  uint32_t bits = count <= COARSE_BELOW ? PN_FEW_BITS : PN_CURVE_BITS;
  pn_f4Store(l, lo);
  pn_f4Store(h, hi);
  for (int k = 0; k < 3; ++k) out[k] = pn_cellsOver(l[k], h[k], bits);
}

/* A subtree that is to be cut. */
typedef struct FastPart {
  uint32_t first, count;
} FastPart;

typedef struct FastParts {
  pnBuilder *b;
  pnCutBlockFcn *cutBlock;
  PN_ARRAY(FastPart) parts;
} FastParts;

/* Subtrees that are small, and larger ones of which half is in one cell. False: out of memory. */
static bool findParts(FastParts *p, const pnKeyValue *keys, uint32_t first, uint32_t count) {
  if (count <= p->b->leafSize) return true;
  if (count <= CUT_BELOW || keys[first + count / 4].key == keys[first + count - 1 - count / 4].key)
    return pn_arrayPush(&p->parts, ((FastPart){first, count}));
  uint32_t sizes[PN_LANES], n = pn_sizeBalanced(p->b, first, count, 0, sizes);
  bool ok = true;
  for (uint32_t i = 0; ok && i < n; first += sizes[i++]) ok = findParts(p, keys, first, sizes[i]);
  return ok;
}

static void cutParts(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const FastParts *p = context;
  for (uint32_t i = begin; i < end; ++i) {
    FastPart part = p->parts.data[i];
    if (part.count <= PN_BLOCK_TRIANGLES) p->cutBlock(p->b, part.first, part.count);
    else pn_cutDown(p->b, part.first, part.count);
  }
}

bool pn_orderFast(pnBuilder *b, const pnTasks *tasks) {
  uint32_t count = b->mesh->triangleCount;
  Sorting s = {.b = b, .keys = (pnKeyValue *)(void *)b->keys};
  findCells(b, count, s.cells);
  pn_parallelFor(tasks, codeTriangles, &s, count, GRAIN);
  pn_sortCodes(s.keys, s.keys + count, count, pn_bitsOf(s.cells));
  for (uint32_t i = 0; i < count; ++i) b->order[i] = s.keys[i].value;
  FastParts p = {.b = b, .cutBlock = pn_cutBlock()};
  bool ok = findParts(&p, s.keys, 0, count);
  /* (from here on the keys' memory is scratch of cuts) */
  if (ok) pn_parallelFor(tasks, cutParts, &p, (uint32_t)p.parts.count, PARTS_PER_TASK);
  pn_arrayFree(&p.parts);
  return ok;
}
