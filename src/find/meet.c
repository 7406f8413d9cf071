/* meet.c: two triangles that meet: which edges of one pierce the other, and the segment between.
 *
 * In general two triangles that meet do so along a segment, and each of its ends is where an edge of one pierces the other. Which
 * edges do is said by exact signs, so it fits what the pairs say. A corner that lies exactly in the other's plane counts as
 * above it, everywhere alike: a surface that only touches another from above is then not pierced, and where an edge lies
 * exactly in the other surface one of its two triangles has the curve and not both.
 *
 * Where an edge pierces is computed from its ends in the order of their numbers, so that the triangles on either side of
 * the edge get the same bits, and curves can be joined by comparing points. */
#include "find/find.h"
#include "geom/triangle.h"

typedef struct Corners {
  float p[3][4];
  uint32_t v[3]; /* representatives */
} Corners;

static void fetchCorners(const pnFinderBody *body, uint32_t triangle, Corners *out) {
  pn_poseFetch(body->pose, body->mesh->triangles + 3 * (size_t)triangle, 3, out->p[0], 4);
  for (uint32_t k = 0; k < 3; ++k) out->v[k] = pn_cornerOf(body->mesh, triangle, k);
}

/* How high the corners of t are above the plane of s: bits for those above, and values for the points on edges. */
static unsigned sidesOf(const Corners *s, const Corners *t, double height[3]) {
  pn_Plane plane = pn_makePlane(s->p[0], s->p[1], s->p[2]);
  unsigned bits = 0;
  for (int k = 0; k < 3; ++k) {
    pn_Estimate e = pn_estimateSide(&plane, t->p[k]);
    bool sure = fabs(e.value) > e.error;
    int sign = sure ? (e.value > 0 ? 1 : -1) : e.error == 0 ? 0 : pn_orient3Exact(s->p[0], s->p[1], s->p[2], t->p[k]);
    height[k] = sure ? e.value : pn_orient3Value(s->p[0], s->p[1], s->p[2], t->p[k]);
    bits |= (sign >= 0 ? 1u : 0u) << k;
  }
  return bits;
}

/* Does the line through p and q, which ends on either side of the plane of t, pass t? */
static bool passes(const float *p, const float *q, const Corners *t) {
  int low = 1, high = -1;
  for (int k = 0; k < 3; ++k) {
    int sign = pn_orient3(p, q, t->p[k], t->p[pn_nextCorner(k)]);
    low = PN_MIN(low, sign);
    high = PN_MAX(high, sign);
  }
  return low * high >= 0;
}

static void addPierces(pnMeet *meet, const Corners *edges, const Corners *through, unsigned sides,
                       const double height[3], bool ofFar) {
  for (int k = 0; k < 3 && meet->pierceCount < 4; ++k) {
    int next = pn_nextCorner(k);
    bool above = sides >> k & 1;
    if (above == (sides >> next & 1) || !passes(edges->p[k], edges->p[next], through)) continue;
    // From the end with the smaller number.
    bool swap = edges->v[k] > edges->v[next];
    int u = swap ? next : k, w = swap ? k : next;
    double fall = height[u] - height[w], t = fall != 0 ? height[u] / fall : 0.5;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    pnPierce pierce = {edges->v[u], edges->v[w], t, ofFar, above != swap};
    meet->pierce[meet->pierceCount++] = pierce;
    if (meet->endCount == 2) continue;
    double *end = meet->end[meet->endCount++];
    for (int i = 0; i < 3; ++i) end[i] = edges->p[u][i] + t * ((double)edges->p[w][i] - edges->p[u][i]);
  }
}

/* What is not in general position: the meeting itself says where. */
static void takeMeeting(pnMeet *meet, const Corners *a, const Corners *b) {
  pnTriangle s, t;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) s.v[k][i] = a->p[k][i], t.v[k][i] = b->p[k][i];
  pnMeeting meeting = pnMeetTriangles(&s, &t);
  meet->endCount = (uint8_t)(meeting.pointCount <= 2 ? meeting.pointCount : 0);
  for (uint32_t i = 0; i < meet->endCount; ++i) {
    pnVec3 p = meeting.points[i];
    meet->end[i][0] = p.x, meet->end[i][1] = p.y, meet->end[i][2] = p.z;
  }
}

void pn_lookAtMeets(const pnFinderBody *a, const pnFinderBody *b, pnMeet *meets, size_t begin, size_t end) {
  Corners s = {0}, t = {0};
  for (size_t i = begin; i < end; ++i) {
    pnMeet *meet = &meets[i];
    meet->pierceCount = meet->endCount = 0;
    uint32_t carrier = pn_carrierOf(a, meet->a);
    meet->carried = carrier != PN_NONE && carrier == pn_carrierOf(b, meet->b);
    if (i == begin || meet->a != meets[i - 1].a) fetchCorners(a, meet->a, &s);
    fetchCorners(b, meet->b, &t);
    double heightS[3], heightT[3];
    unsigned sidesS = sidesOf(&t, &s, heightS), sidesT = sidesOf(&s, &t, heightT);
    // One that is on one side of the other's plane only touches it.
    bool crosses = sidesS != 0 && sidesS != 7 && sidesT != 0 && sidesT != 7;
    if (crosses) addPierces(meet, &s, &t, sidesS, heightS, false);
    if (crosses) addPierces(meet, &t, &s, sidesT, heightT, true);
    meet->isTouch = meet->pierceCount == 0;
    if (meet->pierceCount != 2) takeMeeting(meet, &s, &t);
  }
}
