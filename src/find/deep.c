/* deep.c: the deepest point of a patch: of all its points the one farthest from the other surface.
 *
 * It must not depend on how finely the surfaces are cut into triangles, so it is sought on whole triangles and not on vertices alone.
 * Two facts bound the distance d(p) of a point p from a surface:
 *
 *   d(p) <= |p - T| for every triangle T of the surface. The distance to one triangle is convex, so on a triangle it is largest at a
 *           corner: three measures bound a whole triangle.
 *   d changes by no more than a point moves.
 *
 * First the vertices, from the innermost outward. The triangle that is closest to one vertex is nearly always close to the next: it
 * bounds that one, and most vertices are not deeper than what was found already. Then the triangles: those whose bound is not
 * above what was found, by more than the tolerance, are done, and the others wait in a heap, the largest bound first, to be looked at in
 * their middle and halved. Points on triangles that cross the other surface may be on either side of it; the direction of
 * the surface at the closest point says on which: its normal, at edges the sum of two and at corners the sum of all,
 * weighted by their angles (Baerentzen and Aanaes 2005).
 *
 * The greatest distance found is the answer, and the largest bound left is said beside it. MOST_LOOKS bounds the work of a patch: a
 * surface that lies along another, wide and shallow, would take as many looks as it is wide in depths. The answer is then still
 * what was measured, only the bound is wide. */
#include "find/find.h"

#include <math.h>
#include <string.h>

/* Where a smooth surface is deepest inside a triangle, 40 halvings bring the bound within 2 %; 400 leave room for a dozen such
 * places. */
#define MOST_LOOKS 400u
/* Up to so many triangles of a part are tried one after the other: that takes as long as to look for them from the root down, or a
 * hundredth of it where thousands of parts stand around each other. */
#define FEW_TRIANGLES 16u
#define TOLERANCE 0.01 /* of the depth: half of the 2 % that are promised */

typedef struct Dive {
  const pnFinder *finder;
  const pnContactWork *work;
  pnPatch *patch;
  pnFindScratch *scratch;
  const pnFinderBody *own, *other;
  pnNearFilter filter;
  pnNearFace few[FEW_TRIANGLES]; /* of the other's part, when there are not more */
  pnLattice lattice;             /* of the other's tree */
  uint32_t stamp;                /* of triangles that cross; + 1: of vertices of the patch and triangles around them */
  double step;                   /* the tolerance is not less */
  double best;                   /* deepest so far; -1: none */
  double most;                   /* bound of what was left out */
  double from[3], onto[3];
  uint32_t triangle, ontoTriangle;
  uint32_t looks;
  bool leaks; /* it is not known which vertices are on the side that counts */
  bool good;  /* there is memory */
} Dive;

static double tolerance(const Dive *d) {
  return PN_MAX(TOLERANCE * d->best, d->step);
}

static void take(Dive *d, const double p[3], const pnNear *near, uint32_t triangle) {
  double depth = sqrt(near->distance2);
  if (depth <= d->best) return;
  d->best = depth;
  d->triangle = triangle;
  d->ontoTriangle = near->triangle;
  memcpy(d->from, p, sizeof d->from);
  memcpy(d->onto, near->point, sizeof d->onto);
}

/* A triangle of the other surface: one of the few, or fetched. */
static const pnNearFace *faceOf(const Dive *d, uint32_t t, pnNearFace *room) {
  for (uint32_t i = 0; i < d->filter.fewCount; ++i)
    if (d->few[i].triangle == t) return &d->few[i];
  pn_fetchFace(d->other->pose, t, room);
  return room;
}

static void tryTriangle(const Dive *d, uint32_t t, const double p[3], pnNear *near) {
  pnNearFace room;
  pn_tryFace(faceOf(d, t, &room), p, near);
}

/* ---------------------------------------------------------------- on which side */

void pn_fetchTriangle(const pnFinderBody *body, uint32_t t, double out[3][3]) {
  float p[3][4];
  pn_poseFetch(body->pose, body->mesh->triangles + 3 * (size_t)t, 3, p[0], 4);
  pn_widenCorners(p[0], 4, out);
}

/* The angle between two directions, within 1e-4: by a polynomial, since acos differs between machines (Abramowitz and Stegun
 * 4.4.45). A weight need not be better than that. */
static double angleBetween(const double a[3], const double b[3]) {
  double lengths = sqrt(pn_dot3(a, a) * pn_dot3(b, b));
  if (!(lengths > 0)) return 0;
  double c = pn_dot3(a, b) / lengths, x = fabs(PN_MAX(-1.0, PN_MIN(1.0, c)));
  double angle = sqrt(1 - x) * (1.5707288 + x * (-0.2121144 + x * (0.0742610 - x * 0.0187293)));
  return c < 0 ? 3.14159265358979323846 - angle : angle;
}

/* Adds the unit normal of triangle t times its angle at the corner that is vertex v (PN_NONE: times 1). */
static void addNormal(const pnFinderBody *body, uint32_t t, uint32_t v, double sum[3]) {
  double c[3][3], e[3][3], n[3];
  pn_fetchTriangle(body, t, c);
  for (int k = 0; k < 3; ++k) pn_sub3(c[(k + 1) % 3], c[k], e[k]);
  pn_cross3(e[0], e[1], n);
  double length = sqrt(pn_dot3(n, n)), weight = 1;
  if (!(length > 0)) return;
  for (uint32_t k = 0; k < 3 && v != PN_NONE; ++k) {
    double back[3] = {-e[(k + 2) % 3][0], -e[(k + 2) % 3][1], -e[(k + 2) % 3][2]};
    if (pn_cornerOf(body->mesh, t, k) == v) weight = angleBetween(e[k], back);
  }
  for (int i = 0; i < 3; ++i) sum[i] += weight * n[i] / length;
}

/* Is p above the surface, which is closest to it at `near`? */
static bool isAbove(const pnFinderBody *body, const pnNear *near, const double p[3]) {
  const pnMesh *mesh = body->mesh;
  double n[3] = {0}, d[3] = {p[0] - near->point[0], p[1] - near->point[1], p[2] - near->point[2]};
  if (near->feature == PN_FEATURE_INSIDE) {
    addNormal(body, near->triangle, PN_NONE, n);
    return pn_dot3(n, d) > 0;
  }
  bool edge = near->feature >= PN_FEATURE_EDGE0;
  uint32_t k = (uint32_t)near->feature - (edge ? (uint32_t)PN_FEATURE_EDGE0 : 0u);
  uint32_t u = pn_cornerOf(mesh, near->triangle, k), w = edge ? pn_cornerOf(mesh, near->triangle, (k + 1) % 3) : u;
  for (uint32_t i = mesh->ringOffsets[u]; i < mesh->ringOffsets[u + 1]; ++i) {
    uint32_t t = mesh->rings[i];
    bool has = pn_cornerOf(mesh, t, 0) == w || pn_cornerOf(mesh, t, 1) == w || pn_cornerOf(mesh, t, 2) == w;
    if (has) addNormal(body, t, edge ? PN_NONE : u, n);
  }
  return pn_dot3(n, d) > 0;
}

/* ---------------------------------------------------------------- vertices */

/* The patch as a list, its positions, and stamps that say which place a vertex has. */
static void gatherVertices(Dive *d) {
  const pnContactWork *work = d->work;
  pnFindScratch *s = d->scratch;
  s->deep.count = 0;
  for (uint32_t f = d->patch->flood; f != PN_NONE; f = work->floods.data[f].next) {
    const pnFlood *flood = &work->floods.data[f];
    d->good = d->good && pn_arrayReserve(&s->deep, s->deep.count + flood->vertexCount);
    for (uint32_t i = 0; i < flood->vertexCount && d->good; ++i) {
      uint32_t v = work->vertices.data[flood->vertexFirst + i];
      float p[4];
      pn_poseFetch(d->own->pose, &v, 1, p, 4);
      s->vertexStamps[v] = d->stamp + 1;
      s->vertexPlaces[v] = (uint32_t)s->deep.count;
      s->deep.data[s->deep.count++] = (pnDeepVertex){{p[0], p[1], p[2]}, INFINITY, PN_NONE, v};
    }
  }
}

/* What the triangle closest to a neighbour says of a vertex. */
static void askNeighbours(Dive *d, pnDeepVertex *at, uint32_t *outTriangle) {
  const pnMesh *mesh = d->own->mesh;
  const pnFindScratch *s = d->scratch;
  pnNear near = {.distance2 = INFINITY, .triangle = PN_NONE};
  uint32_t last = PN_NONE;
  double enough = d->best >= 0 ? d->best * d->best : -1;
  for (uint32_t i = mesh->ringOffsets[at->vertex]; i < mesh->ringOffsets[at->vertex + 1]; ++i) {
    *outTriangle = mesh->rings[i];
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t x = pn_cornerOf(mesh, mesh->rings[i], k);
      if (x == at->vertex || s->vertexStamps[x] != d->stamp + 1) continue;
      uint32_t t = s->deep.data[s->vertexPlaces[x]].triangle;
      if (t == PN_NONE || t == last || t == near.triangle) continue;
      last = t;
      tryTriangle(d, t, at->p, &near);
      if (near.distance2 <= enough) goto done;
    }
  }
done:
  at->distance2 = near.distance2;
  at->triangle = near.triangle;
}

static void lookAtVertices(Dive *d) {
  pnFindScratch *s = d->scratch;
  for (size_t i = s->deep.count; i-- > 0;) {
    pnDeepVertex *at = &s->deep.data[i];
    uint32_t triangle = PN_NONE;
    askNeighbours(d, at, &triangle);
    if (d->best >= 0 && at->distance2 <= d->best * d->best) continue;
    pnNear near = {.distance2 = at->distance2, .triangle = at->triangle};
    if (at->triangle != PN_NONE) {
      near.distance2 = INFINITY;
      tryTriangle(d, at->triangle, at->p, &near);
    }
    pn_findNear(d->other->tree, &d->lattice, at->p, &d->filter, &s->fresh, &near);
    at->distance2 = near.distance2;
    at->triangle = near.triangle;
    if (near.triangle != PN_NONE) take(d, at->p, &near, triangle);
  }
}

/* ---------------------------------------------------------------- triangles */

/* Puts a cell into the heap, unless it cannot be deeper than what is known. */
static void push(Dive *d, const pnDeepCell *cell) {
  if (cell->most <= d->best + tolerance(d)) {
    d->most = PN_MAX(d->most, cell->most);
    return;
  }
  pnFindScratch *s = d->scratch;
  if (!pn_arrayPush(&s->cells, *cell)) {
    d->good = false;
    return;
  }
  pnDeepCell *cells = s->cells.data;
  size_t i = s->cells.count - 1;
  for (; i > 0 && cells[(i - 1) / 2].most < cell->most; i = (i - 1) / 2) cells[i] = cells[(i - 1) / 2];
  cells[i] = *cell;
}

static pnDeepCell pop(pnFindScratch *s) {
  pnDeepCell *cells = s->cells.data, top = cells[0], last = cells[--s->cells.count];
  size_t i = 0, count = s->cells.count;
  for (size_t child = 1; child < count; child = 2 * i + 1) {
    if (child + 1 < count && cells[child + 1].most > cells[child].most) ++child;
    if (cells[child].most <= last.most) break;
    cells[i] = cells[child];
    i = child;
  }
  if (count > 0) cells[i] = last;
  return top;
}

/* How far points are from triangle t of the other surface, squared. */
static void measure(const Dive *d, const double (*points)[3], int count, uint32_t t, double *out) {
  double c[3][3], x[3];
  pnNearFace room;
  const pnNearFace *face = faceOf(d, t, &room);
  pn_widenCorners(face->corner[0], 4, c);
  for (int k = 0; k < count; ++k) {
    pn_closestOnTriangle(points[k], c[0], c[1], c[2], x);
    out[k] = pn_distance2(points[k], x);
  }
}

/* No point of a cell is farther from a triangle than its corners are, which are so far from it. */
static double boundBy(double a, double b, double c) {
  return sqrt(PN_MAX(a, PN_MAX(b, c)));
}

static double longestSide(const pnDeepCell *cell) {
  double side = 0;
  for (int k = 0; k < 3; ++k) side = PN_MAX(side, pn_distance2(cell->p[k], cell->p[(k + 1) % 3]));
  return sqrt(side);
}

/* A triangle with all corners in the patch. */
static void addInner(Dive *d, uint32_t t) {
  const pnFindScratch *s = d->scratch;
  pnDeepCell cell = {.triangle = t, .isKnown = true, .most = INFINITY, .hint = PN_NONE};
  const pnDeepVertex *corner[3];
  double quick = INFINITY;
  for (uint32_t k = 0; k < 3; ++k) {
    corner[k] = &s->deep.data[s->vertexPlaces[pn_cornerOf(d->own->mesh, t, k)]];
    memcpy(cell.p[k], corner[k]->p, sizeof cell.p[k]);
  }
  // No farther from a corner than the longest side.
  double side = longestSide(&cell);
  for (int k = 0; k < 3; ++k) quick = PN_MIN(quick, sqrt(corner[k]->distance2) + side);
  cell.most = quick;
  for (int k = 0; k < 3 && cell.most > d->best + tolerance(d); ++k) {
    if (corner[k]->triangle == PN_NONE || (k > 0 && corner[k]->triangle == corner[k - 1]->triangle)) continue;
    double far[3];
    measure(d, (const double(*)[3])cell.p, 3, corner[k]->triangle, far);
    double bound = boundBy(far[0], far[1], far[2]);
    if (bound < cell.most) cell.hint = corner[k]->triangle;
    cell.most = PN_MIN(cell.most, bound);
  }
  push(d, &cell);
}

/* Triangles around the patch's vertices: each once, from its first corner that is in the patch. */
static void addInnerTriangles(Dive *d) {
  const pnMesh *mesh = d->own->mesh;
  pnFindScratch *s = d->scratch;
  for (size_t i = 0; i < s->deep.count && d->good; ++i) {
    uint32_t v = s->deep.data[i].vertex;
    for (uint32_t j = mesh->ringOffsets[v]; j < mesh->ringOffsets[v + 1] && d->good; ++j) {
      uint32_t t = mesh->rings[j], c[3];
      pn_weldedCorners(mesh, t, c);
      bool inner = s->triangleStamps[t] != d->stamp && v == PN_MIN(c[0], PN_MIN(c[1], c[2]));
      for (int k = 0; k < 3 && inner; ++k) inner = s->vertexStamps[c[k]] == d->stamp + 1;
      if (inner) addInner(d, t);
    }
  }
}

/* Looks at the middle of a cell and halves it across its longest side. */
static void look(Dive *d, const pnDeepCell *cell) {
  double middle[3];
  for (int k = 0; k < 3; ++k) middle[k] = (cell->p[0][k] + cell->p[1][k] + cell->p[2][k]) / 3;
  pnNear near = {.distance2 = INFINITY, .triangle = PN_NONE};
  if (cell->hint != PN_NONE) tryTriangle(d, cell->hint, middle, &near);
  pn_findNear(d->other->tree, &d->lattice, middle, &d->filter, &d->scratch->fresh, &near);
  ++d->looks;
  if (near.triangle == PN_NONE) return;
  bool counts = cell->isKnown || isAbove(d->other, &near, middle) == d->patch->isAbove;
  if (counts) take(d, middle, &near, cell->triangle);
  double depth = counts ? sqrt(near.distance2) : -sqrt(near.distance2);
  // The two halves share the corner across from the longest side, and the middle of that side.
  int longest = 0;
  for (int k = 1; k < 3; ++k)
    if (pn_distance2(cell->p[k], cell->p[(k + 1) % 3]) > pn_distance2(cell->p[longest], cell->p[(longest + 1) % 3]))
      longest = k;
  double points[4][3], far[4];
  memcpy(points, cell->p, sizeof cell->p);
  const double *p = cell->p[longest], *q = cell->p[(longest + 1) % 3];
  for (int i = 0; i < 3; ++i) points[3][i] = 0.5 * (p[i] + q[i]);
  bool measured = false;
  for (int half = 0; half < 2; ++half) {
    pnDeepCell child = *cell;
    int moved = (longest + half) % 3;
    double reach = 0;
    child.hint = near.triangle;
    memcpy(child.p[moved], points[3], sizeof points[3]);
    for (int k = 0; k < 3; ++k) reach = PN_MAX(reach, pn_distance2(middle, child.p[k]));
    child.most = PN_MIN(child.most, depth + sqrt(reach));
    if (child.most > d->best + tolerance(d)) {
      if (!measured) measure(d, (const double(*)[3])points, 4, near.triangle, far);
      measured = true;
      child.most = PN_MIN(child.most, boundBy(far[(moved + 1) % 3], far[(moved + 2) % 3], far[3]));
    }
    push(d, &child);
  }
}

/* ---------------------------------------------------------------- the dive */

/* Stamps the triangles of the region on this side, and lists them with their meets, by triangle. */
static void gatherCrossings(Dive *d) {
  const pnContactWork *work = d->work;
  pnFindScratch *s = d->scratch;
  s->crossings.count = 0;
  for (uint32_t r = d->patch->region; r != PN_NONE && d->good; r = work->drafts.data[r].next) {
    const pnDraft *draft = &work->drafts.data[r];
    d->leaks |= (draft->leaks >> (d->patch->ofFar ? 1 : 0) & 1) != 0;
    d->good = pn_arrayReserve(&s->crossings, 2 * (s->crossings.count + draft->meetCount));
    for (size_t i = 0; i < draft->meetCount && d->good; ++i) {
      uint32_t place = work->order.data[draft->meetFirst + i];
      const pnMeet *meet = &work->meets.data[place];
      uint32_t t = d->patch->ofFar ? meet->b : meet->a;
      s->triangleStamps[t] = d->stamp;
      s->crossings.data[s->crossings.count++] = (pnKeyValue){t, place};
    }
  }
  if (d->good && s->crossings.count > 0)
    pn_sortKeyValue(s->crossings.data, s->crossings.data + s->crossings.count, s->crossings.count);
}

/* A convex polygon in the plane of a crossing triangle. */
typedef struct Polygon {
  int count;
  double p[8][3];
} Polygon;

/* What of a polygon is on the side sign * x[axis] <= sign * limit. */
static void clip(Polygon *polygon, int axis, double sign, double limit) {
  Polygon out = {0};
  for (int i = 0; i < polygon->count && out.count < 7; ++i) {
    const double *p = polygon->p[i], *q = polygon->p[(i + 1) % polygon->count];
    double a = sign * (p[axis] - limit), b = sign * (q[axis] - limit);
    if (a <= 0) memcpy(out.p[out.count++], p, sizeof out.p[0]);
    if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
      for (int k = 0; k < 3; ++k) out.p[out.count][k] = p[k] + a / (a - b) * (q[k] - p[k]);
      ++out.count;
    }
  }
  *polygon = out;
}

/* What of triangle t may be on the side that counts: it ends at the meeting segments, so it is between these and the corners of
 * the patch. A large triangle is cut down to a box around them. */
static Polygon mayCount(const Dive *d, uint32_t t, const pnKeyValue *meets, size_t count, uint32_t *outHint) {
  const pnFindScratch *s = d->scratch;
  Polygon polygon = {.count = 3};
  pn_fetchTriangle(d->own, t, polygon.p);
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = -1;
  for (uint32_t k = 0; k < 3; ++k) {
    bool corner = d->leaks || s->vertexStamps[pn_cornerOf(d->own->mesh, t, k)] == d->stamp + 1;
    for (int i = 0; i < 3 && corner; ++i)
      low[i] = PN_MIN(low[i], polygon.p[k][i]), high[i] = PN_MAX(high[i], polygon.p[k][i]);
  }
  for (size_t m = 0; m < count; ++m) {
    const pnMeet *meet = &d->work->meets.data[meets[m].value];
    for (uint32_t e = 0; e < meet->endCount; ++e)
      for (int i = 0; i < 3; ++i) low[i] = PN_MIN(low[i], meet->end[e][i]), high[i] = PN_MAX(high[i], meet->end[e][i]);
    double length = meet->endCount == 2 ? pn_distance2(meet->end[0], meet->end[1]) : 0;
    if (length > longest) longest = length, *outHint = d->patch->ofFar ? meet->a : meet->b;
  }
  // What floats round away does not matter: it is at the rim, where nothing is deep.
  for (int i = 0; i < 3; ++i) {
    clip(&polygon, i, 1, high[i]);
    clip(&polygon, i, -1, low[i]);
  }
  return polygon;
}

/* The triangles that cross, as cells. Somewhere each of them is on the other surface, so nothing is deeper than it is wide. */
static void addCrossingCells(Dive *d) {
  const pnFindScratch *s = d->scratch;
  for (size_t i = 0, next; i < s->crossings.count && d->good; i = next) {
    uint32_t t = s->crossings.data[i].key;
    for (next = i + 1; next < s->crossings.count && s->crossings.data[next].key == t;) ++next;
    pnDeepCell cell = {.triangle = t, .hint = PN_NONE};
    Polygon polygon = mayCount(d, t, s->crossings.data + i, next - i, &cell.hint);
    double wide = 0, far[8];
    bool measured = false;
    for (int j = 0; j < polygon.count; ++j)
      for (int k = 0; k < j; ++k) wide = PN_MAX(wide, pn_distance2(polygon.p[j], polygon.p[k]));
    for (int k = 1; k + 1 < polygon.count; ++k) {
      memcpy(cell.p[0], polygon.p[0], sizeof cell.p[0]);
      memcpy(cell.p[1], polygon.p[k], sizeof cell.p[1]);
      memcpy(cell.p[2], polygon.p[k + 1], sizeof cell.p[2]);
      cell.most = sqrt(wide);
      if (cell.most > d->best + tolerance(d)) {
        if (!measured) measure(d, (const double(*)[3])polygon.p, polygon.count, cell.hint, far);
        measured = true;
        cell.most = PN_MIN(cell.most, boundBy(far[0], far[k], far[k + 1]));
      }
      push(d, &cell);
    }
  }
}

/* Of a body with itself: a piece is not measured against itself, nor against the triangles it is cut at. */
static void leaveOutOwn(Dive *d) {
  const pnMesh *mesh = d->own->mesh;
  const pnFindScratch *s = d->scratch;
  for (size_t i = 0; i < s->deep.count; ++i) {
    uint32_t v = s->deep.data[i].vertex;
    for (uint32_t j = mesh->ringOffsets[v]; j < mesh->ringOffsets[v + 1]; ++j)
      if (s->triangleStamps[mesh->rings[j]] != d->stamp) s->triangleStamps[mesh->rings[j]] = d->stamp + 1;
  }
}

static void beginDive(Dive *d) {
  const pnContactWork *work = d->work;
  const pnPatch *patch = d->patch;
  d->own = &d->finder->bodies.data[patch->ofFar ? work->b : work->a];
  d->other = &d->finder->bodies.data[patch->ofFar ? work->a : work->b];
  d->lattice = pn_latticeOf(d->other->tree);
  const pnDraft *draft = &work->drafts.data[patch->region];
  d->step = pn_stepOf(d->finder, work->a, work->b);
  d->stamp = pn_newStamps(d->finder, d->scratch, 1);
  d->scratch->cells.count = 0;
  if (d->other->partCount > 1) {
    d->filter.wanted = d->other->partOf;
    d->filter.number = patch->ofFar ? draft->partA : draft->partB;
    const pnPart *part = &d->other->parts[d->filter.number];
    /* a tree of representatives has not all of them, and is asked as it is */
    if (part->triangleCount <= FEW_TRIANGLES && !d->other->tree->def.representative) {
      d->filter.few = d->few;
      d->filter.fewCount = part->triangleCount;
      for (uint32_t i = 0; i < part->triangleCount; ++i) {
        pn_fetchFace(d->other->pose, d->other->partTriangles[part->triangleFirst + i], &d->few[i]);
        pn_findNormal(&d->few[i]);
      }
    }
  }
}

bool pn_findDeepest(const pnFinder *finder, const pnContactWork *work, pnPatch *patch, pnFindScratch *scratch) {
  Dive d = {.finder = finder, .work = work, .patch = patch, .scratch = scratch, .best = -1, .most = 0, .good = true};
  d.triangle = PN_NONE;
  beginDive(&d);
  gatherVertices(&d);
  gatherCrossings(&d);
  const pnDraft *draft = &work->drafts.data[patch->region];
  if (d.good && work->self && draft->partA == draft->partB) {
    leaveOutOwn(&d);
    d.filter.marks = scratch->triangleStamps;
    d.filter.mark = d.stamp;
  }
  if (d.good && patch->isInside && !d.leaks) {
    pnPatchView view = {work, patch, scratch, d.own, d.other, d.stamp, d.stamp + 1};
    patch->share = pn_measureShare(&view);
  }
  lookAtVertices(&d);
  addInnerTriangles(&d);
  if (!d.filter.marks) addCrossingCells(&d);
  while (scratch->cells.count > 0 && d.looks < MOST_LOOKS && d.good) {
    pnDeepCell cell = pop(scratch);
    if (cell.most <= d.best + tolerance(&d)) {
      d.most = PN_MAX(d.most, cell.most);
      break;
    }
    look(&d, &cell);
  }
  if (scratch->cells.count > 0) d.most = PN_MAX(d.most, scratch->cells.data[0].most);
  patch->depth.max = d.most;
  if (d.best >= 0) {
    patch->onto = d.ontoTriangle;
    patch->depth = (pnDepth){.kind = patch->isInside ? PN_DEPTH_INSIDE : PN_DEPTH_THROUGH,
                             .value = d.best,
                             .max = PN_MAX(d.best, d.most),
                             .from = {(float)d.from[0], (float)d.from[1], (float)d.from[2]},
                             .onto = {(float)d.onto[0], (float)d.onto[1], (float)d.onto[2]},
                             .fromA = !patch->ofFar,
                             .triangle = d.triangle};
  }
  return d.good;
}
