/* inbox.c: the triangles of a tree that reach into a box. Lanes that overlap it are opened, and geom/inbox.h decides. */
#include "query/inbox.h"

#include "base/fenv.h"
#include "geom/inbox.h"
#include "mesh/mesh.h"
#include "query/answers.h"

#include <math.h>
#include <stdlib.h>

typedef struct Quest {
  pnTree *tree;
  const pnLattice *lattice;
  pnFresh *fresh;
  const pnBox *box;
  float lo[3], hi[3]; /* of lanes: beyond which they are clear of the box */
  pnBodyId body;
  pnBodyTriangles *out;
  bool failed;
} Quest;

static void visit(Quest *q, uint32_t node) {
  const pnShape *shape = q->tree->shape;
  pn_freshen(q->tree, node, q->fresh);
  pnFloatLanes boxes;
  pn_floatBoxes(q->tree, q->lattice, node, &boxes);
  for (uint32_t j = 0; j < shape->count[node] && !q->failed; ++j) {
    bool apart = false;
    for (int k = 0; k < 3; ++k) apart = apart || boxes.row[k][0][j] > q->hi[k] || boxes.row[k][1][j] < q->lo[k];
    if (apart) continue;
    if (!pn_isLeaf(q->tree, node)) {
      visit(q, shape->first[node] + j);
      continue;
    }
    uint32_t slot = (node - shape->innerCount) * PN_LANES + j;
    const float *corner[3];
    pn_slotCorners(q->tree, slot, corner);
    pnBodyTriangle found = {q->body, shape->leafTriangles[slot]};
    if (pn_meetsBox(corner, &q->box->min.x, &q->box->max.x)) q->failed = !pn_arrayPush(q->out, found);
  }
}

bool pn_isEmptyBox(const pnBox *box) {
  return !(box->min.x <= box->max.x && box->min.y <= box->max.y && box->min.z <= box->max.z);
}

bool pn_findInBox(pnTree *tree, const pnLattice *lattice, const pnBox *box, pnBodyId body, pnFresh *fresh,
                  pnBodyTriangles *out) {
  Quest q = {.tree = tree, .lattice = lattice, .fresh = fresh, .box = box, .body = body, .out = out};
  if (tree->shape->nodeCount == 0 || pn_isEmptyBox(box)) return true;
  for (int k = 0; k < 3; ++k) {
    double lo = pn_toLattice(lattice, k, (&box->min.x)[k]), hi = pn_toLattice(lattice, k, (&box->max.x)[k]);
    q.lo[k] = (float)(lo - lattice->after - PN_LATTICE_PAD - 0x1p-22 * fabs(lo));
    q.hi[k] = (float)(hi + lattice->before + PN_LATTICE_PAD + 0x1p-22 * fabs(hi));
  }
  visit(&q, 0);
  return !q.failed;
}

static int compareTriangles(const void *a, const void *b) {
  const pnBodyTriangle *x = a, *y = b;
  if (x->body.index1 != y->body.index1) return x->body.index1 < y->body.index1 ? -1 : 1;
  return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

size_t pn_sortTriangles(pnBodyTriangle *triangles, size_t count) {
  if (count < 2) return count;
  qsort(triangles, count, sizeof *triangles, compareTriangles);
  // Big triangles stand in a tree in several pieces.
  size_t kept = 1;
  for (size_t i = 1; i < count; ++i)
    if (compareTriangles(&triangles[kept - 1], &triangles[i]) != 0) triangles[kept++] = triangles[i];
  return kept;
}

pnResult pn_checkBoxes(const pnBox *boxes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    size_t bad;
    if (!pn_allFinite(&boxes[i].min.x, 3, &bad) || !pn_allFinite(&boxes[i].max.x, 3, &bad))
      return pn_fail(PN_ERROR_NUMBER, "box %u is not finite", i);
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- the doors */

struct pnTriangleList {
  pnAnswers answers;
};

typedef struct BoxBatch {
  pnTree *tree;
  pnLattice lattice;
  const pnBox *boxes;
  pnAnswers *answers;
  bool alone;
} BoxBatch;

static void searchRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  const BoxBatch *batch = context;
  pnFresh fresh = {.alone = batch->alone};
  pnBodyTriangles found = {0};
  for (uint32_t i = begin; i < end; ++i) {
    found.count = 0;
    if (!pn_findInBox(batch->tree, &batch->lattice, &batch->boxes[i], (pnBodyId){0}, &fresh, &found))
      batch->answers->failed[worker] = true;
    pn_giveAnswers(batch->answers, worker, i, found.data, pn_sortTriangles(found.data, found.count));
  }
  pn_arrayFree(&found);
}

pnResult pnFindInBoxes(pnTree *tree, const pnBox *boxes, uint32_t count, const pnTasks *tasks,
                       pnTriangleList *outTriangles) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree && outTriangles && (count == 0 || boxes));
  pnAnswers *answers = pn_answersOfTriangles(outTriangles);
  pnResult result = pn_beginAnswers(answers, count);
  if (result == PN_OK) result = pn_checkBoxes(boxes, count);
  if (result == PN_OK) result = pnTree_Update(tree, tasks);
  if (result != PN_OK) return pn_dropAnswers(answers), result;
  BoxBatch batch = {tree, pn_latticeOf(tree), boxes, answers, pn_workerCount(tasks) == 1};
  pn_parallelFor(tasks, searchRange, &batch, count, 16);
  return pn_putTogether(answers);
}

pnAnswers *pn_answersOfTriangles(pnTriangleList *list) {
  return &list->answers;
}

pnResult pnCreateTriangleList(pnTriangleList **outList) {
  PN_ASSERT(outList);
  *outList = pn_allocZero(sizeof(pnTriangleList));
  if (!*outList) return pn_failMemory(sizeof(pnTriangleList));
  (*outList)->answers.answerBytes = sizeof(pnBodyTriangle);
  return PN_OK;
}

void pnDestroyTriangleList(pnTriangleList *list) {
  if (!list) return;
  pn_freeAnswers(&list->answers);
  pn_free(list, sizeof *list);
}

const pnBodyTriangle *pnTriangleList_GetTriangles(const pnTriangleList *list, uint32_t box, uint32_t *outCount) {
  return pn_answersTo(&list->answers, box, outCount);
}

size_t pnTriangleList_GetCount(const pnTriangleList *list) {
  return list->answers.count;
}
