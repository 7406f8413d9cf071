/* share.c: the space that two closed parts share in a region.
 *
 * Its surface is what each part has inside the other: the patch of one side and the patch of the other, cut where they cross. The
 * volume inside a surface is a sum over its faces (Gauss), and the area of a face that is cut is a sum over its rim (Green): over the
 * meeting segments in it, and over the stretches of its edges that are inside. Nothing is cut up, and there is no error but rounding.
 *
 * A surface that closes faces every way alike: its vector area is 0. Where a touch or a hole has left something out it is not,
 * and the answer is "not known" instead of a wrong one. */
#include "find/find.h"

#include <math.h>

/* The vector area may be off by this part of the area. Rounding of float vertices is some 2^-20 of it, a missing rim a few percent. */
#define MOST_OPEN 0.002

/* Adds a plane face by a point of it and its vector area. */
static void addFace(pnShare *share, const double from[3], const double point[3], const double area[3]) {
  double p[3];
  pn_sub3(point, from, p);
  share->volume += pn_dot3(p, area) / 3;
  share->total += sqrt(pn_dot3(area, area));
  for (int k = 0; k < 3; ++k) share->area[k] += area[k];
}

/* ---------------------------------------------------------------- a triangle that is cut */

/* The rim of what is inside, summed: n . (p - o) x (q - o) over its stretches from p to q. */
typedef struct Rim {
  double o[3], n[3], sum;
} Rim;

static void addStretch(Rim *rim, const double p[3], const double q[3]) {
  double a[3], b[3], c[3];
  pn_sub3(p, rim->o, a);
  pn_sub3(q, rim->o, b);
  pn_cross3(a, b, c);
  rim->sum += pn_dot3(rim->n, c);
}

/* A meeting segment, run along so that the inside is on its left. */
static void addMeeting(const pnPatchView *view, Rim *rim, const pnMeet *meet) {
  if (meet->endCount < 2 || meet->isTouch) return;
  double y[3][3], facing[3], along[3], left[3];
  pn_fetchTriangle(view->other, view->patch->ofFar ? meet->a : meet->b, y);
  pn_normal3(y[0], y[1], y[2], facing);
  pn_sub3(meet->end[1], meet->end[0], along);
  pn_cross3(rim->n, along, left);
  bool onLeft = (pn_dot3(left, facing) > 0) == view->patch->isAbove;
  addStretch(rim, meet->end[onLeft ? 0 : 1], meet->end[onLeft ? 1 : 0]);
}

/* A crossing of an edge: how far along, and does the edge go in there? */
typedef struct Crossing {
  double at;
  bool in;
} Crossing;

#define EDGE_CROSSINGS 32

/* The crossings of edge k of triangle t, in order. More than there is room for are left out, and then the surface does not close. */
static int listCrossings(const pnPatchView *view, uint32_t t, uint32_t k, const pnKeyValue *meets, size_t count,
                         Crossing out[EDGE_CROSSINGS]) {
  uint32_t a = pn_cornerOf(view->own->mesh, t, k), b = pn_cornerOf(view->own->mesh, t, (k + 1) % 3);
  int found = 0;
  for (size_t m = 0; m < count; ++m) {
    const pnMeet *meet = &view->work->meets.data[meets[m].value];
    for (uint32_t i = 0; i < meet->pierceCount && found < EDGE_CROSSINGS; ++i) {
      const pnPierce *pierce = &meet->pierce[i];
      if (pierce->ofFar != view->patch->ofFar || pierce->u != PN_MIN(a, b) || pierce->w != PN_MAX(a, b)) continue;
      bool uIsInside = pierce->uIsAbove == view->patch->isAbove;
      Crossing c = {a < b ? pierce->t : 1 - pierce->t, a < b ? !uIsInside : uIsInside};
      int at = found++;
      for (; at > 0 && out[at - 1].at > c.at; --at) out[at] = out[at - 1];
      out[at] = c;
    }
  }
  return found;
}

static void pointAt(const double p[3], const double q[3], double t, double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = p[k] + t * (q[k] - p[k]);
}

/* The stretches of edge k that are inside. */
static void addEdge(const pnPatchView *view, Rim *rim, uint32_t t, const double c[3][3], uint32_t k,
                    const pnKeyValue *meets, size_t count) {
  Crossing crossings[EDGE_CROSSINGS];
  int found = listCrossings(view, t, k, meets, count, crossings);
  const double *p = c[k], *q = c[(k + 1) % 3];
  const uint32_t *stamps = view->scratch->vertexStamps;
  bool inside = found > 0 ? !crossings[0].in
                          : stamps[pn_cornerOf(view->own->mesh, t, k)] == view->inner &&
                                stamps[pn_cornerOf(view->own->mesh, t, (k + 1) % 3)] == view->inner;
  double start = 0, a[3], b[3];
  for (int i = 0; i <= found; ++i) {
    double at = i < found ? crossings[i].at : 1;
    bool in = i < found && crossings[i].in;
    if (inside && !in) {
      pointAt(p, q, start, a);
      pointAt(p, q, at, b);
      addStretch(rim, a, b);
    }
    if (!inside && in) start = at;
    inside = in;
  }
}

static void addCut(const pnPatchView *view, pnShare *share, const double from[3], uint32_t t, const pnKeyValue *meets,
                   size_t count) {
  double c[3][3], area[3];
  Rim rim = {.sum = 0};
  pn_fetchTriangle(view->own, t, c);
  pn_normal3(c[0], c[1], c[2], rim.n);
  for (int k = 0; k < 3; ++k) rim.o[k] = c[0][k];
  double square = pn_dot3(rim.n, rim.n);
  if (!(square > 0)) return;
  for (size_t m = 0; m < count; ++m) addMeeting(view, &rim, &view->work->meets.data[meets[m].value]);
  for (uint32_t k = 0; k < 3; ++k) addEdge(view, &rim, t, (const double(*)[3])c, k, meets, count);
  for (int k = 0; k < 3; ++k) area[k] = rim.n[k] * rim.sum / (2 * square);
  addFace(share, from, c[0], area);
}

/* ---------------------------------------------------------------- a patch */

static void addInner(const pnPatchView *view, pnShare *share, const double from[3]) {
  const pnMesh *mesh = view->own->mesh;
  const pnFindScratch *s = view->scratch;
  for (size_t i = 0; i < s->deep.count; ++i) {
    uint32_t v = s->deep.data[i].vertex;
    for (uint32_t j = mesh->ringOffsets[v]; j < mesh->ringOffsets[v + 1]; ++j) {
      uint32_t t = mesh->rings[j], c[3];
      pn_weldedCorners(mesh, t, c);
      bool inner = s->triangleStamps[t] != view->crossing && v == PN_MIN(c[0], PN_MIN(c[1], c[2]));
      for (int k = 0; k < 3 && inner; ++k) inner = s->vertexStamps[c[k]] == view->inner;
      if (!inner) continue;
      const double *p[3];
      for (int k = 0; k < 3; ++k) p[k] = s->deep.data[s->vertexPlaces[c[k]]].p;
      double area[3];
      pn_normal3(p[0], p[1], p[2], area);
      for (int k = 0; k < 3; ++k) area[k] *= 0.5;
      addFace(share, from, p[0], area);
    }
  }
}

pnShare pn_measureShare(const pnPatchView *view) {
  const pnDraft *draft = &view->work->drafts.data[view->patch->region];
  const pnFindScratch *s = view->scratch;
  pnShare share = {.known = true};
  // From one end of the region's box: the same for both sides, and near.
  double from[3] = {draft->box.min.x, draft->box.min.y, draft->box.min.z};
  for (int k = 0; k < 3 && draft->meetCount == 0; ++k) from[k] = s->deep.count > 0 ? s->deep.data[0].p[k] : 0;
  addInner(view, &share, from);
  for (size_t i = 0, next; i < s->crossings.count; i = next) {
    uint32_t t = s->crossings.data[i].key;
    for (next = i + 1; next < s->crossings.count && s->crossings.data[next].key == t;) ++next;
    addCut(view, &share, from, t, s->crossings.data + i, next - i);
  }
  // A part that faces inward is outside of itself.
  const pnPart *part = &view->own->parts[view->patch->ofFar ? draft->partB : draft->partA];
  if (part->outward) return share;
  share.volume = -share.volume;
  for (int k = 0; k < 3; ++k) share.area[k] = -share.area[k];
  return share;
}

double pn_sharedVolume(const pnFinder *finder, const pnContactWork *work, uint32_t region) {
  const pnDraft *draft = &work->drafts.data[region];
  const pnPart *a = &finder->bodies.data[work->a].parts[draft->partA],
               *b = &finder->bodies.data[work->b].parts[draft->partB];
  if (!a->closed || !b->closed) return -1;
  pnShare sum = {0};
  uint32_t sides = 0;
  for (uint32_t i = draft->firstPatch; i != PN_NONE; i = work->patches.data[i].nextOfRegion) {
    const pnPatch *patch = &work->patches.data[i];
    if (!patch->share.known) continue;
    sides |= patch->isWhole ? 3u : 1u << patch->ofFar;
    sum.volume += patch->share.volume;
    sum.total += patch->share.total;
    for (int k = 0; k < 3; ++k) sum.area[k] += patch->share.area[k];
  }
  bool closes = sqrt(pn_dot3(sum.area, sum.area)) <= MOST_OPEN * sum.total;
  return sides == 3 && closes && sum.volume >= 0 ? sum.volume : -1;
}
