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

#define F pnF4
#define LOAD pn_f4Load
#define SHORTS pn_f4FromShorts
#define STORE pn_f4Store
#define SET1 pn_f4Set1
#define MUL pn_f4Mul
#define ADD pn_f4Add
#define MIN pn_f4Min
#define MAX pn_f4Max
#define GREATER pn_f4Greater
#define SIGNS pn_f4Signs
#define WIDTH 4
#define WALK walkRay
static pnWalkFcn walkRay;
#include "query/hits_walk.h"

/* ---------------------------------------------------------------- one ray */

bool pn_makeSight(const pnLattice *lattice, const pnRayQuest *quest, pnRaySight *out) {
  double o[3], d[3], inverse[3], farthest = 0;
  // One cell along the longest axis.
  double unit = fabs(quest->line.inverse), length = fabs((double)quest->line.d[quest->line.axis[2]]);
  double scale = length * lattice->perCell;
  for (int k = 0; k < 3; ++k) {
    o[k] = pn_toLattice(lattice, k, quest->line.o[k]);
    d[k] = quest->line.d[k] * unit;
    farthest = PN_MAX(farthest, fabs(o[k]));
    inverse[k] = fabs(d[k]) < 1 / PN_SIGHT_MOST ? PN_SIGHT_MOST : quest->line.per[k] * length;
  }
  double pad = PN_LATTICE_PAD + lattice->before + 0x1p-48 * farthest;
  // From where to where it is in the tree's box.
  double begin = quest->first * scale, end = quest->last * scale;
  for (int k = 0; k < 3; ++k) {
    double a = (lattice->lo[k] - 1 - pad - o[k]) * inverse[k], b = (lattice->hi[k] + 1 + pad - o[k]) * inverse[k];
    begin = PN_MAX(begin, PN_MIN(a, b));
    end = PN_MIN(end, PN_MAX(a, b));
  }
  if (!(begin <= end)) return false;
  for (int k = 0; k < 3; ++k) {
    double at = o[k] + begin * d[k], low = (-pad - at) * inverse[k], high = (lattice->after + pad - at) * inverse[k];
    bool forward = inverse[k] > 0;
    out->inverse[k] = (float)inverse[k];
    out->nearRow[k] = (uint32_t)(2 * k + !forward) * PN_LANES;
    out->farRow[k] = (uint32_t)(2 * k + forward) * PN_LANES;
    out->nearTerm[k] = (float)(forward ? low : high);
    out->farTerm[k] = (float)(forward ? high : low);
  }
  out->scale = scale;
  out->begin = begin;
  out->pad = pad;
  out->last = pn_sightAt(out, quest->last);
  return true;
}

pnRayQuest pn_beginRay(const pnRay *ray) {
  pnRayQuest quest = {.line = pn_makeLine(ray->origin, ray->direction), .first = ray->first, .last = ray->last};
  quest.best = (pnHit){.triangle = PN_NONE, .t = INFINITY};
  return quest;
}

void pn_tryRay(const float *const corners[3], uint32_t triangle, pnRayMode mode, pnRayQuest *quest) {
  pn_LineHit hit;
  if (pn_meetLine(&quest->line, corners, quest->first, &hit)) takeHit(&hit, triangle, mode, quest);
}

void pn_castRay(pnTree *tree, const pnLattice *lattice, pnRayMode mode, pnFresh *fresh, pnRayQuest *quest) {
  pnRaySight sight;
  if (tree->shape->nodeCount == 0 || !pn_makeSight(lattice, quest, &sight)) return;
  double most = 0;
  for (int k = 0; k < 3; ++k) {
    double below = quest->line.o[k] - (double)(&tree->box.min.x)[k],
           above = (double)(&tree->box.max.x)[k] - quest->line.o[k];
    most = PN_MAX(most, PN_MAX(below, above));
  }
  pn_boundLine(&quest->line, most);
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) {
    pn_walkRayAvx2(tree, lattice, mode, fresh, &sight, quest, 0);
    return;
  }
#endif
  walkRay(tree, lattice, mode, fresh, &sight, quest, 0);
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

pnResult pn_checkRays(const pnRay *rays, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    size_t bad;
    const pnVec3 *d = &rays[i].direction;
    if (!pn_allFinite(&rays[i].origin.x, 3, &bad) || !pn_allFinite(&d->x, 3, &bad))
      return pn_fail(PN_ERROR_NUMBER, "ray %u is not finite", i);
    if (d->x == 0 && d->y == 0 && d->z == 0) return pn_fail(PN_ERROR_NUMBER, "ray %u has no direction", i);
    if (!(rays[i].first >= 0) || rays[i].last != rays[i].last)
      return pn_fail(PN_ERROR_ARGUMENT, "ray %u: first must be 0 or more, last a number", i);
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
  for (uint32_t i = begin; i < end; ++i) {
    pnRayQuest quest = pn_beginRay(&batch->rays[i]);
    pn_castRay(batch->tree, &batch->lattice, batch->hits ? PN_RAY_FIRST : PN_RAY_ANY, &fresh, &quest);
    if (batch->hits) batch->hits[i] = quest.best;
    else batch->blocked[i] = quest.best.triangle != PN_NONE;
  }
}

static void collectRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  const CastBatch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnHits hits = {0};
  for (uint32_t i = begin; i < end; ++i) {
    pnRayQuest quest = pn_beginRay(&batch->rays[i]);
    hits.count = 0;
    quest.all = &hits;
    pn_castRay(batch->tree, &batch->lattice, PN_RAY_ALL, &fresh, &quest);
    size_t count = pn_sortHits(hits.data, hits.count);
    pn_giveAnswers(batch->answers, worker, i, hits.data, count);
    batch->answers->failed[worker] |= quest.failed;
  }
  pn_arrayFree(&hits);
}

static pnResult runBatch(CastBatch *batch, uint32_t count, const pnTasks *tasks, pnTaskFcn *range) {
  pnResult result = pn_checkRays(batch->rays, count);
  if (result == PN_OK) result = pnTree_Update(batch->tree, tasks);
  if (result != PN_OK) return result;
  batch->lattice = pn_latticeOf(batch->tree);
  batch->alone = pn_workerCount(tasks) == 1;
  pn_parallelFor(tasks, range, batch, count, 64);
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
  if (ray >= list->answers.spans.count) return *outCount = 0, NULL;
  const pnAnswerSpan *span = &list->answers.spans.data[ray];
  *outCount = (uint32_t)span->count;
  return (const pnHit *)(const void *)list->answers.joined.data + span->begin;
}

size_t pnHitList_GetCount(const pnHitList *list) {
  return list->answers.count;
}
