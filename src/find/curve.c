/* curve.c: meeting segments in order: curves.
 *
 * The end of a segment is where an edge pierces a triangle, and the triangle on the other side of the edge has a segment that ends at the
 * same place, with the same bits (meet.c). So ends are sorted by place, and a curve is walked from segment to segment over equal
 * ends. Where more than two segments end at one place, which takes surfaces that are not manifold or run through corners, each is
 * used once, in order. */
#include "find/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compareEnds(const void *p, const void *q) {
  const pnCurveEnd *a = p, *b = q;
  for (int k = 0; k < 3; ++k)
    if (a->p[k] != b->p[k]) return a->p[k] < b->p[k] ? -1 : 1;
  return a->segment < b->segment ? -1 : a->segment > b->segment;
}

/* The ends of the segments of a region; points and what lies on each other have none. */
static bool gatherEnds(pnFinder *finder, const pnContactWork *work, uint32_t region) {
  uint32_t segment = 0;
  finder->curveEnds.count = 0;
  for (uint32_t r = region; r != PN_NONE; r = work->drafts.data[r].next) {
    const pnDraft *draft = &work->drafts.data[r];
    if (!pn_arrayReserve(&finder->curveEnds, finder->curveEnds.count + 2 * draft->meetCount)) return false;
    for (size_t i = 0; i < draft->meetCount; ++i) {
      const pnMeet *meet = &work->meets.data[work->order.data[draft->meetFirst + i]];
      if (meet->endCount < 2 || meet->isTouch || (draft->selfMirrored && meet->a > meet->b)) continue;
      pnCurveEnd end[2];
      for (uint32_t e = 0; e < 2; ++e) {
        end[e] = (pnCurveEnd){{0}, 2 * segment + e};
        // 0 and not -0, so that equal places have equal bits.
        for (int k = 0; k < 3; ++k) end[e].p[k] = (float)meet->end[e][k] + 0.0f;
      }
      if (memcmp(end[0].p, end[1].p, sizeof end[0].p) == 0) continue;
      finder->curveEnds.data[finder->curveEnds.count++] = end[0];
      finder->curveEnds.data[finder->curveEnds.count++] = end[1];
      ++segment;
    }
  }
  return true;
}

/* Ends while they are walked: `place` of each end in the sorted list, and which segments are used. */
typedef struct Walk {
  const pnCurveEnd *ends;
  uint32_t count;
  uint32_t *place; /* by 2 * segment + end */
  uint32_t *used;  /* by segment */
} Walk;

/* An end at the same place as end i, of a segment that is not used; PN_NONE: none. */
static uint32_t partnerOf(const Walk *w, uint32_t i) {
  uint32_t first = i;
  while (first > 0 && memcmp(w->ends[first - 1].p, w->ends[i].p, sizeof w->ends[i].p) == 0) --first;
  for (uint32_t j = first; j < w->count && memcmp(w->ends[j].p, w->ends[i].p, sizeof w->ends[i].p) == 0; ++j)
    if (j != i && !w->used[w->ends[j].segment / 2]) return j;
  return PN_NONE;
}

static uint32_t otherEnd(const Walk *w, uint32_t i) {
  return w->place[w->ends[i].segment ^ 1u];
}

static bool addPoint(pnFinder *finder, const float p[3], pnCurve *curve) {
  if (curve->pointCount > 0) {
    const pnVec3 last = finder->curvePoints.data[finder->curvePoints.count - 1];
    double d[3] = {(double)p[0] - last.x, (double)p[1] - last.y, (double)p[2] - last.z};
    curve->length += sqrt(pn_dot3(d, d));
  }
  ++curve->pointCount;
  return pn_arrayPush(&finder->curvePoints, ((pnVec3){p[0], p[1], p[2]}));
}

/* From end i along its segment and on, until nothing follows. */
static bool walkCurve(pnFinder *finder, const Walk *w, uint32_t i) {
  pnCurve curve = {.firstPoint = (uint32_t)finder->curvePoints.count};
  const float *start = w->ends[i].p;
  bool good = addPoint(finder, start, &curve);
  while (good && i != PN_NONE) {
    w->used[w->ends[i].segment / 2] = 1;
    i = otherEnd(w, i);
    const float *p = w->ends[i].p;
    good = addPoint(finder, p, &curve);
    curve.closed = memcmp(p, start, 3 * sizeof(float)) == 0;
    i = curve.closed ? PN_NONE : partnerOf(w, i);
  }
  if (curve.closed && good) {
    --finder->curvePoints.count;
    --curve.pointCount;
  }
  return good && pn_arrayPush(&finder->curves, curve);
}

bool pn_joinCurves(pnFinder *finder, const pnContactWork *work, uint32_t region, pnRegion *out) {
  out->firstCurve = (uint32_t)finder->curves.count;
  if (!gatherEnds(finder, work, region)) return false;
  uint32_t count = (uint32_t)finder->curveEnds.count;
  if (count == 0) return true;
  pnCurveEnd *ends = finder->curveEnds.data;
  qsort(ends, count, sizeof(pnCurveEnd), compareEnds);
  finder->numbers.count = 0;
  if (!pn_arrayReserve(&finder->numbers, count + count / 2)) return false;
  Walk w = {ends, count, finder->numbers.data, finder->numbers.data + count};
  for (uint32_t i = 0; i < count; ++i) w.place[ends[i].segment] = i;
  memset(w.used, 0, count / 2 * sizeof(uint32_t));
  // Open curves first, from ends where nothing follows; what is left then is closed.
  bool good = true;
  for (int open = 1; open >= 0; --open)
    for (uint32_t i = 0; i < count && good; ++i) {
      if (w.used[ends[i].segment / 2] || (open && partnerOf(&w, i) != PN_NONE)) continue;
      good = walkCurve(finder, &w, i);
    }
  out->curveCount = (uint32_t)finder->curves.count - out->firstCurve;
  return good;
}
