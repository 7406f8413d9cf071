/* narrow_neighbours.c: which neighbours of one mesh meet in more than the vertex or edge they share? About six pairs for
 * every triangle in every self query, and nearly all do not: a SIMD filter says so four at a time, and the exact test of
 * geom (triangle_beyond.c, where the reasons stand) is left with the rest.
 *
 * narrow_beyond.h is the filter, with its bounds. */
#include "collide/narrow.h"
#include "geom/corners.h"
#include "geom/triangle.h"

/* ---------------------------------------------------------------- sorting pairs by what they share */

pnSharedCorners pn_sharedNow(const pnMesh *mesh, uint32_t s, uint32_t t, const float *p[3], const float *q[3]) {
  uint32_t a[3], b[3];
  pn_weldedCorners(mesh, s, a);
  pn_weldedCorners(mesh, t, b);
  return pn_sharedOfCorners(a, b, p, q);
}

/* A triangle of a pair: its corners and their welded vertices. */
typedef struct NeighbourSide {
  uint32_t slot;
  const float *corner[3];
  uint32_t weld[3];
} NeighbourSide;

PN_INLINE void takeSide(const pnTree *tree, uint32_t slot, NeighbourSide *side) {
  side->slot = slot;
  pn_slotCorners(tree, slot, side->corner);
  pn_weldedCorners(tree->mesh, tree->shape->leafTriangles[slot], side->weld);
}

/* Pairs that share one thing, waiting for the filter. */
#define BLOCK 64u
typedef struct Waiting {
  uint32_t count;
  uint8_t at[BLOCK]; /* place in the block */
  const float *corner[BLOCK][5];
} Waiting;

/* What is known about a block of pairs: bits by place. */
typedef struct KnownPairs {
  uint64_t meet, unsure;
} KnownPairs;

/* Puts a pair where it belongs by the welded vertices that are equal, corner i of one and j of the other being bit 3 i + j.
 * Both places are written and one counts, because which it is nobody can predict. False: neither. */
PN_INLINE bool wait(Waiting *one, Waiting *two, uint32_t at, const NeighbourSide *p, const NeighbourSide *q) {
  static const uint8_t next[5] = {1, 2, 0, 1, 2};
  uint32_t equal = 0;
  for (uint32_t k = 0; k < 9; ++k) equal |= (uint32_t)(p->weld[k / 3] == q->weld[k % 3]) << k;
  uint32_t more = equal & (equal - 1);
  if (PN_UNLIKELY(equal == 0 || (more & (more - 1)) != 0)) return false;
  uint32_t k = pn_firstLane(equal), l = more ? pn_firstLane(more) : k, i = k / 3, j = k % 3, i2 = l / 3, j2 = l % 3;
  bool isEdge = more != 0;
  if (PN_UNLIKELY(isEdge && (i == i2 || j == j2))) return false; /* a triangle with one vertex twice */
  const float **c = one->corner[one->count], **e = two->corner[two->count];
  one->at[one->count] = two->at[two->count] = (uint8_t)at;
  c[0] = p->corner[i];
  c[1] = p->corner[next[i]];
  c[2] = p->corner[next[i + 1]];
  c[3] = q->corner[next[j]];
  c[4] = q->corner[next[j + 1]];
  e[0] = p->corner[i];
  e[1] = p->corner[i2];
  e[2] = p->corner[(3 - i - i2) % 3];
  e[3] = q->corner[(3 - j - j2) % 3];
  one->count += !isEdge;
  two->count += isEdge;
  /* welded vertices that have moved apart are not shared */
  return pn_samePoint(p->corner[i], q->corner[j]) && pn_samePoint(p->corner[i2], q->corner[j2]);
}

/* Corners of four pairs as columns. */
PN_INLINE void load4(const float *const corner[4][5], int count, pnV4 out[5]) {
  for (int k = 0; k < count; ++k) out[k] = pn_v4Load(corner[0][k], corner[1][k], corner[2][k], corner[3][k]);
}

static pnVerdicts corner4(const float *const corner[4][5]) {
  pnV4 p[5];
  load4(corner, 5, p);
  return pn_beyondCorner(p);
}

static pnVerdicts edge4(const float *const corner[4][5]) {
  pnV4 p[5];
  load4(corner, 4, p);
  return pn_beyondEdge(p);
}

static void filter(Waiting *list, pnVerdicts (*verdicts)(const float *const corner[4][5]), KnownPairs *known) {
  /* copies of the last fill up the four */
  for (uint32_t i = list->count; list->count > 0 && i % 4 != 0; ++i)
    memcpy(list->corner[i], list->corner[list->count - 1], sizeof list->corner[i]);
  for (uint32_t i = 0; i < list->count; i += 4) {
    pnVerdicts v = verdicts((const float *const(*)[5])list->corner + i);
    for (uint32_t lane = 0; (v.meet | v.unsure) >> lane != 0 && i + lane < list->count; ++lane) {
      known->meet |= (uint64_t)(v.meet >> lane & 1) << list->at[i + lane];
      known->unsure |= (uint64_t)(v.unsure >> lane & 1) << list->at[i + lane];
    }
  }
}

/* ---------------------------------------------------------------- a batch */

static bool meetExactly(const pnTree *tree, pnPair pair) {
  const float *p[3], *q[3];
  pn_slotCorners(tree, pair.a, p);
  pn_slotCorners(tree, pair.b, q);
  return pn_trianglesMeetBeyondPtr(
      p, q, pn_sharedNow(tree->mesh, tree->shape->leafTriangles[pair.a], tree->shape->leafTriangles[pair.b], p, q));
}

/* Which of at most BLOCK pairs meet beyond what they share: bits. */
static uint64_t meetBeyond(const pnTree *tree, const pnPair *pairs, uint32_t count, uint64_t *uncertain) {
  Waiting one, two;
  one.count = two.count = 0;
  KnownPairs known = {0, 0};
  NeighbourSide p = {.slot = PN_NONE}, q;
  for (uint32_t i = 0; i < count; ++i) {
    /* pairs come sorted by their first triangle */
    if (p.slot != pairs[i].a) takeSide(tree, pairs[i].a, &p);
    takeSide(tree, pairs[i].b, &q);
    known.unsure |= (uint64_t)!wait(&one, &two, i, &p, &q) << i;
  }
  filter(&one, corner4, &known);
  filter(&two, edge4, &known);
  for (uint64_t rest = known.unsure; rest != 0; rest &= rest - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(rest);
    known.meet = (known.meet & ~((uint64_t)1 << i)) | (uint64_t)meetExactly(tree, pairs[i]) << i;
    ++*uncertain;
  }
  return known.meet;
}

size_t pn_narrowNeighbours(const pnTree *tree, pnPair *candidates, size_t count, uint64_t *uncertain) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i += BLOCK) {
    uint64_t meet = meetBeyond(tree, candidates + i, (uint32_t)PN_MIN(count - i, BLOCK), uncertain);
    for (; meet != 0; meet &= meet - 1) candidates[kept++] = candidates[i + (size_t)__builtin_ctzll(meet)];
  }
  return kept;
}
