/* narrow_small_vbmi.c: the filter of narrow_avx512.c where b is a small body (tree/shape.h), whose candidates name triangles and not slots. All
 * its vertices are in twelve registers, and its corners are picked from these: loading them one by one takes a quarter of the
 * filter's time. Called only on machines that have AVX-512 with VBMI (narrow.c); nothing elsewhere. */
#include "collide/narrow.h"
#include "geom/simd_pick.h"

#if PN_SIMD_PICK
#define WIDE 16
#include "geom/simd_words.h"
#define NARROW_NAME meet16
#define FARTHER pn_f16MaxAbs
#define NEARER pn_f16MinAbs
#include "collide/narrow_kernel.h"
#include "collide/narrow_sixteen.h"

/* The small body: its vertices as columns. */
typedef struct Picked {
  const pnTree *tree;
  const pnSmall *small;
  float at[3][PN_SMALL_VERTICES];
} Picked;

static void seeColumns(const pnTree *tree, Picked *out) {
  const float *source = (const float *)(const void *)tree->cornerBase;
  uint32_t count = tree->mesh->vertexCount;
  out->tree = tree;
  out->small = tree->shape->small;
  for (uint32_t i = 0; i < count; i += 16)
    pn_split16(source + 3 * (size_t)i, count - i, out->at[0] + i, out->at[1] + i, out->at[2] + i);
}

PN_INLINE void loadPicked16(const pnTree *a, const Picked *b, const pnPair *candidates, pnF16 p[6][3]) {
  loadSide(a->cornerBase, a->corners, &candidates->a, p);
  pnPlaces triangles = pn_secondNumbers(&candidates->a);
  for (int k = 0; k < 3; ++k) {
    pnPlaces corner = pn_bytesAt(b->small->corner[k], triangles);
    for (int x = 0; x < 3; ++x) p[3 + k][x] = pn_f16PickOf64(b->at[x], corner);
  }
}

PN_INLINE bool meetPicked(const pnTree *a, const Picked *b, pnPair c, bool apart) {
  return pn_meetExactly(a, b->tree, (pnPair){c.a, b->small->slot[c.b]}, apart);
}

#define WIDTH 16u
#define MEET meet16
#define TWICE pn_narrowTwice8Avx512
#define LATTICE pn_narrowLattice8Avx512
#define CORNERS loadPicked16
#define KEEP keep16
#define OTHER Picked
#define EXACTLY meetPicked
#define BATCHES narrowPicked
static size_t narrowPicked(const pnTree *a, const Picked *b, pnPair *candidates, size_t count, pnDoubts *doubts);
#include "collide/narrow_batch.h"

size_t pn_narrowSmallVbmi(const pnTree *a, const pnTree *b, pnPair *candidates, size_t count, pnDoubts *doubts) {
  Picked picked;
  seeColumns(b, &picked);
  size_t kept = narrowPicked(a, &picked, candidates, count, doubts);
  for (size_t i = 0; i < kept; ++i) candidates[i].b = picked.small->slot[candidates[i].b];
  return kept;
}
#endif
