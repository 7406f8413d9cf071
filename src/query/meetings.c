/* meetings.c: what the pairs of a contact have in common, in bulk. */
#include "base/fenv.h"
#include "base/task.h"
#include "mesh/mesh.h"
#include "pinch/query.h"
#include "tree/tree.h"

typedef struct MeetBatch {
  const pnTree *a, *b;
  const pnPair *pairs;
  pnMeeting *out;
} MeetBatch;

static void fetch(const pnTree *tree, uint32_t triangle, pnTriangle *out) {
  pn_poseFetch(tree->pose, tree->mesh->triangles + 3 * (size_t)triangle, 3, out->v[0], 3);
}

static void meetRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const MeetBatch *batch = context;
  pnTriangle s, t;
  for (uint32_t i = begin; i < end; ++i) {
    // Sorted pairs have many with one a in a row.
    if (i == begin || batch->pairs[i].a != batch->pairs[i - 1].a) fetch(batch->a, batch->pairs[i].a, &s);
    fetch(batch->b, batch->pairs[i].b, &t);
    batch->out[i] = pnMeetTriangles(&s, &t);
  }
}

pnResult pnFindMeetings(const pnTree *a, const pnTree *b, const pnPair *pairs, size_t count, const pnTasks *tasks,
                        pnMeeting *outMeetings) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && b && (count == 0 || (pairs && outMeetings)));
  for (size_t i = 0; i < count; ++i)
    if (pairs[i].a >= a->mesh->triangleCount || pairs[i].b >= b->mesh->triangleCount)
      return pn_fail(PN_ERROR_INDEX, "pair %zu names triangles %u and %u of %u and %u", i, pairs[i].a, pairs[i].b,
                     a->mesh->triangleCount, b->mesh->triangleCount);
  // A parallel-for counts in 32 bits.
  for (size_t from = 0; from < count; from += UINT32_MAX / 2) {
    uint32_t part = (uint32_t)PN_MIN(count - from, UINT32_MAX / 2);
    MeetBatch batch = {a, b, pairs + from, outMeetings + from};
    pn_parallelFor(tasks, meetRange, &batch, part, 64);
  }
  return PN_OK;
}
