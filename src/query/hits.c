/* hits.c: what rays hit: the first, any, or all.
 *
 * One walk for every tree (hits_walk.h): from the root down, boxes are entered in the order of the ray, and the exact test of
 * geom/ray.h decides about triangles. A hit lies in its triangle's box as computed (geom/ray.h), so a node whose box the ray enters
 * later than the best hit holds nothing better, and what the walk answers is what trying every triangle would. */
#include "query/hits_take.h"

#include "base/fenv.h"
#include "mesh/mesh.h"
#include "query/answers.h"

#include <stdlib.h>

#define WIDE 4
#include "geom/simd_words.h"
#define MULADD(a, b, c) pn_f4Add(pn_f4Mul(a, b), c)
#define WIDTH 4
#define CAST castGroup
static pnCastFcn castGroup;
#include "query/hits_walk.h"

/* ---------------------------------------------------------------- one ray */

void pn_beginRay(const pnRay *ray, pnRayQuest *out) {
  out->ray = ray;
  out->last = ray->last;
  out->body = (pnBodyId){0};
  out->best = (pnHit){.triangle = PN_NONE, .t = INFINITY};
  out->all = NULL;
  out->failed = false;
}

void pn_tryRay(const pn_Line *line, const float *const corners[3], uint32_t triangle, pnRayMode mode,
               pnRayQuest *quest) {
  pn_LineHit hit;
  if (pn_meetLine(line, corners, quest->ray->first, &hit)) takeHit(&hit, triangle, mode, quest);
}

uint32_t pn_castWays(pnCastFcn *out[PN_CAST_WAYS]) {
  uint32_t count = 0;
#if defined(PN_AVX512)
  if (pn_hasAvx512()) out[count++] = pn_castGroupAvx512;
#endif
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) out[count++] = pn_castGroupAvx2;
#endif
  out[count++] = castGroup;
  return count;
}

void pn_castRays(pnTree *tree, const pnLattice *lattice, pnRayMode mode, pnFresh *fresh, pnRayQuest *quests,
                 uint32_t count) {
  if (tree->shape->nodeCount == 0 || count == 0) return;
  pnRayGroup group = {tree, lattice, mode, fresh, quests};
  pnCastFcn *ways[PN_CAST_WAYS];
  pn_castWays(ways);
  ways[0](&group, count);
}

static int compareHits(const void *a, const void *b) {
  const pnHit *x = a, *y = b;
  if (x->t != y->t) return x->t < y->t ? -1 : 1;
  if (x->body.index1 != y->body.index1) return x->body.index1 < y->body.index1 ? -1 : 1;
  return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

size_t pn_sortHits(pnHit *hits, size_t count) {
  if (count < 2) return count;
  qsort(hits, count, sizeof *hits, compareHits);
  // Big triangles stand in a tree in several pieces.
  size_t kept = 1;
  for (size_t i = 1; i < count; ++i)
    if (compareHits(&hits[kept - 1], &hits[i]) != 0) hits[kept++] = hits[i];
  return kept;
}

static pnResult complainOf(const pnRay *ray, uint32_t i) {
  size_t bad;
  if (!pn_allFinite(&ray->origin.x, 3, &bad) || !pn_allFinite(&ray->direction.x, 3, &bad))
    return pn_fail(PN_ERROR_NUMBER, "ray %u is not finite", i);
  const pnVec3 *d = &ray->direction;
  if (d->x == 0 && d->y == 0 && d->z == 0) return pn_fail(PN_ERROR_NUMBER, "ray %u has no direction", i);
  return pn_fail(PN_ERROR_ARGUMENT, "ray %u: first must be 0 or more, last a number", i);
}

pnResult pn_checkRays(const pnRay *rays, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    // Origin and direction, six floats, twice four of them; the last three are the direction.
    pnF4 a = pn_f4Abs(pn_f4Load(&rays[i].origin.x)), b = pn_f4Abs(pn_f4Load(&rays[i].origin.z));
    pnF4 finite = pn_f4And(pn_f4Greater(pn_f4Set1(INFINITY), a), pn_f4Greater(pn_f4Set1(INFINITY), b));
    bool fits = pn_f4Signs(finite) == 15 && pn_f4Signs(pn_f4Greater(b, pn_f4Set1(0))) > 1 && rays[i].first >= 0 &&
                rays[i].last == rays[i].last;
    if (PN_UNLIKELY(!fits)) return complainOf(&rays[i], i);
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- the doors */

struct pnHitList {
  pnAnswers answers;
};

typedef struct CastBatch {
  pnTree *tree;
  pnLattice lattice;
  const pnRay *rays;
  pnHit *hits;
  bool *blocked;
  pnAnswers *answers;
  bool alone;
} CastBatch;

static void castRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const CastBatch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnRayQuest quests[PN_RAY_BATCH];
  for (; begin < end; begin += PN_RAY_BATCH) {
    uint32_t count = PN_MIN(end - begin, PN_RAY_BATCH);
    for (uint32_t i = 0; i < count; ++i) pn_beginRay(&batch->rays[begin + i], &quests[i]);
    pn_castRays(batch->tree, &batch->lattice, batch->hits ? PN_RAY_FIRST : PN_RAY_ANY, &fresh, quests, count);
    for (uint32_t i = 0; i < count; ++i)
      if (batch->hits) batch->hits[begin + i] = quests[i].best;
      else batch->blocked[begin + i] = quests[i].best.triangle != PN_NONE;
  }
}

static void collectRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  const CastBatch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnRayQuest quests[PN_RAY_GRAIN];
  pnHits hits[PN_RAY_GRAIN] = {0};
  for (; begin < end; begin += PN_RAY_GRAIN) {
    uint32_t count = PN_MIN(end - begin, PN_RAY_GRAIN);
    for (uint32_t i = 0; i < count; ++i) {
      pn_beginRay(&batch->rays[begin + i], &quests[i]);
      hits[i].count = 0;
      quests[i].all = &hits[i];
    }
    pn_castRays(batch->tree, &batch->lattice, PN_RAY_ALL, &fresh, quests, count);
    for (uint32_t i = 0; i < count; ++i) {
      pn_giveAnswers(batch->answers, worker, begin + i, hits[i].data, pn_sortHits(hits[i].data, hits[i].count));
      batch->answers->failed[worker] |= quests[i].failed;
    }
  }
  for (uint32_t i = 0; i < PN_RAY_GRAIN; ++i) pn_arrayFree(&hits[i]);
}

static pnResult runBatch(CastBatch *batch, uint32_t count, const pnTasks *tasks, pnTaskFcn *range) {
  pnResult result = pn_checkRays(batch->rays, count);
  if (result == PN_OK) result = pnTree_Update(batch->tree, tasks);
  if (result != PN_OK) return result;
  batch->lattice = pn_latticeOf(batch->tree);
  batch->alone = pn_workerCount(tasks) == 1;
  pn_parallelFor(tasks, range, batch, count, PN_RAY_GRAIN);
  return PN_OK;
}

pnRay pnDefaultRay(void) {
  return (pnRay){.direction = {1, 0, 0}, .last = INFINITY};
}

pnResult pnFindFirstHits(pnTree *tree, const pnRay *rays, uint32_t count, const pnTasks *tasks, pnHit *outHits) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree && (count == 0 || (rays && outHits)));
  CastBatch batch = {.tree = tree, .rays = rays, .hits = outHits};
  return runBatch(&batch, count, tasks, castRange);
}

pnResult pnFindBlocked(pnTree *tree, const pnRay *rays, uint32_t count, const pnTasks *tasks, bool *outBlocked) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree && (count == 0 || (rays && outBlocked)));
  CastBatch batch = {.tree = tree, .rays = rays, .blocked = outBlocked};
  return runBatch(&batch, count, tasks, castRange);
}

pnResult pnFindAllHits(pnTree *tree, const pnRay *rays, uint32_t count, const pnTasks *tasks, pnHitList *outHits) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree && outHits && (count == 0 || rays));
  pnAnswers *answers = pn_answersOfHits(outHits);
  CastBatch batch = {.tree = tree, .rays = rays, .answers = answers};
  pnResult result = pn_beginAnswers(answers, count);
  if (result == PN_OK) result = runBatch(&batch, count, tasks, collectRange);
  if (result == PN_OK) return pn_putTogether(answers);
  pn_dropAnswers(answers);
  return result;
}

pnAnswers *pn_answersOfHits(pnHitList *list) {
  return &list->answers;
}

pnResult pnCreateHitList(pnHitList **outList) {
  PN_ASSERT(outList);
  *outList = pn_allocZero(sizeof(pnHitList));
  if (!*outList) return pn_failMemory(sizeof(pnHitList));
  (*outList)->answers.answerBytes = sizeof(pnHit);
  return PN_OK;
}

void pnDestroyHitList(pnHitList *list) {
  if (!list) return;
  pn_freeAnswers(&list->answers);
  pn_free(list, sizeof *list);
}

const pnHit *pnHitList_GetHits(const pnHitList *list, uint32_t ray, uint32_t *outCount) {
  return pn_answersTo(&list->answers, ray, outCount);
}

size_t pnHitList_GetCount(const pnHitList *list) {
  return list->answers.count;
}
