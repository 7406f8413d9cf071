/* build_fast.c: a balanced tree in half the time: triangles are sorted along the curve of Hilbert within the box of their centres
 * (bucket_curve.c), and only subtrees of a few hundred are cut, across their longest axis. Larger ones where the curve cannot tell
 * triangles apart, because one far away makes its cells large. For bodies that are built anew often. */
#include "tree/bucket.h"
#include "tree/build.h"

#include "base/task.h"

#include <float.h>

/* Triangles a task takes at a time. */
#define GRAIN 4096u
/* Subtrees of at most so many triangles are cut: all of them in the cache, and what a better order saves lies near the leaves. Pairs of
 * leaves that are opened, of two spheres: 2.5 times those of the balanced tree without cutting, 1.8 with subtrees of 64, 1.4
 * with 512, 1.2 with 4096. */
#define CUT_BELOW 512u

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
      memcpy(batch.centres[i], s->b->centres + 3 * (size_t)(at + i), 3 * sizeof(float));
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
  pn_f4Store(l, lo);
  pn_f4Store(h, hi);
  for (int k = 0; k < 3; ++k) out[k] = pn_cellsOver(l[k], h[k], PN_CURVE_BITS);
}

/* Cuts small subtrees, and larger ones of which half is in one cell. */
static void cutSubtrees(pnBuilder *b, const pnKeyValue *keys, uint32_t first, uint32_t count) {
  if (count <= b->leafSize) return;
  if (count <= CUT_BELOW || keys[first + count / 4].key == keys[first + count - 1 - count / 4].key) {
    pn_cutDown(b, first, count);
    return;
  }
  uint32_t sizes[PN_LANES], parts = pn_sizeBalanced(b, first, count, 0, sizes);
  for (uint32_t i = 0; i < parts; first += sizes[i++]) cutSubtrees(b, keys, first, sizes[i]);
}

bool pn_orderFast(pnBuilder *b, const pnTasks *tasks) {
  uint32_t count = b->mesh->triangleCount;
  Sorting s = {.b = b, .keys = (pnKeyValue *)(void *)b->keys};
  findCells(b, count, s.cells);
  pn_parallelFor(tasks, codeTriangles, &s, count, GRAIN);
  pn_sortKeyValue(s.keys, s.keys + count, count);
  for (uint32_t i = 0; i < count; ++i) b->order[i] = s.keys[i].value;
  /* (the keys' own memory is scratch of cuts) */
  size_t bytes = pn_bytes(count, sizeof(pnKeyValue));
  pnKeyValue *kept = pn_alloc(bytes);
  if (!kept) return false;
  memcpy(kept, s.keys, bytes);
  cutSubtrees(b, kept, 0, count);
  pn_free(kept, bytes);
  return true;
}
