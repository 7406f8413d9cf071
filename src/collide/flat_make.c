/* flat_make.c: the regions of a tree, found once. See flat.h.
 *
 * A region begins as the triangles of a node. Where an edge of the rim points toward the middle c or away from it, more than
 * along it, the triangle on its other side is added, for a few rounds: notches are filled until the rim is round. All this in
 * the rest pose, as a guess about later ones: a region that comes out badly is never flat and costs a little time.
 *
 * Triangles with the same three vertices are copies (fan.h): a region has one of them, that which faces the way its neighbours do, and where that meets
 * nothing the others do not, as long as their vertices are in one place.
 *
 * What must hold whatever the pose is checked here: that the region is a disc. It is connected over edges, no edge has more than
 * two triangles, its rim is one closed line that passes no vertex twice, and vertices - edges + triangles = 1. (If a vertex
 * joined two parts otherwise, the surface with that vertex taken apart would be connected, have one rim and a number above
 * 1, which no surface has.) */
#include "collide/flat.h"

#include "geom/distance.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rounds of mending the rim, and triangles that a region may have for each one that it begins with: of thousands that came out well none had more
 * than twice as many, and those that go on growing never do. */
#define ROUNDS 12
#define MOST_GROWTH 2u
/* Nodes of at most so many triangles get a region. Larger ones are seldom flat, and save little: most pairs of leaves that lie
 * beside each other are inside such nodes already. */
#define MOST_TRIANGLES 512u
/* The sine of the angle between an edge of the rim and the way to the middle: below the first it is mended where possible,
 * because poses that bend the region by less than about this angle keep it round; with less than the second there is no
 * region. In between are borders of the mesh. */
#define GOOD_SINE 0.25
#define LEAST_SINE 0.02

/* A triangle of the current region: its welded corners, and where they are at rest. */
typedef struct Face {
  uint32_t triangle, vertex[3];
  float point[3][3];
} Face;

/* The normal of a triangle at rest, as long as twice its area. */
typedef struct Tilt {
  double normal[3], length;
} Tilt;

typedef struct FlatMaker {
  const pnTree *tree;
  const pnMesh *mesh;
  uint32_t *slotOf;   /* triangle -> leaf * 8 + lane */
  uint32_t *inRegion; /* triangle -> the region it was last in */
  uint8_t *crowded;   /* triangle -> has an edge more than two? */
  uint32_t *likeOf;   /* triangle -> which of its copies stands for it; null: there are none */
  const uint32_t
      *beside;        /* edge -> the triangle on its other side, or PN_NONE: the mesh's, or one that stands for some */
  uint32_t *regionOf; /* inner node -> place in regions, or PN_NONE */
  uint32_t *leafMark, *leafPlace; /* leaf -> the last region that listed it, and where */
  uint32_t *vertexMark;           /* welded vertex -> the last region that counted it */
  uint32_t *rimMark, *rimEdge;    /* welded vertex -> the last region whose rim leaves it, and over which edge */
  uint32_t *firstCorner;          /* welded vertex -> 3 * triangle + corner, first seen in the region */
  uint32_t region;                /* the current one, from 1 */
  double middle[3], normal[3];    /* of the current region */
  uint32_t topLeaf;               /* the first below the current top */
  PN_ARRAY(Face) below;           /* by slot below the current top; PN_NONE: no triangle */
  PN_ARRAY(Tilt) tilts;           /* of those */
  PN_ARRAY(Face) faces;           /* of the current region */
  PN_ARRAY(uint32_t) reached;     /* scratch */
  PN_ARRAY(pnFlatRegion) regions;
  PN_ARRAY(pnFlatLeaf) leaves;
  PN_ARRAY(uint32_t) rims;
  PN_ARRAY(pnSeam) seams;
  PN_ARRAY(uint32_t) tops;
} FlatMaker;

/* Of a region: not made, or out of memory. */
typedef enum Made { FLAT_MADE, FLAT_NOT_MADE, NO_MEMORY } Made;

static uint32_t weldAt(const FlatMaker *m, uint32_t edge) {
  return m->mesh->weld[m->mesh->triangles[edge]];
}
static uint32_t nextEdge(uint32_t edge) {
  return edge % 3 == 2 ? edge - 2 : edge + 1;
}
static uint32_t placeAt(const FlatMaker *m, uint32_t edge) {
  return pn_placeOf(m->tree, m->slotOf[edge / 3], edge % 3);
}

/* From the middle to a corner at rest. */
static void fromMiddle(const FlatMaker *m, const float point[3], double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = (double)point[k] - m->middle[k];
}

/* ---------------------------------------------------------------- copies */

/* Edges with more triangles are not looked through. */
#define MOST_AT_EDGE 8u

static uint32_t thirdAt(const FlatMaker *m, uint32_t edge) {
  return weldAt(m, nextEdge(nextEdge(edge)));
}

/* Where the next triangle has the same edge; the edge itself where it is alone. The last of them leads back to the first. */
static uint32_t nextOver(const FlatMaker *m, uint32_t edge) {
  uint32_t t = m->mesh->neighbours[edge], ends[2] = {weldAt(m, edge), weldAt(m, nextEdge(edge))};
  bool same;
  return t == PN_NONE ? edge : pn_sameEdgeOf(m->mesh, t, ends, &same);
}

/* The others at an edge, at most as many as there may be. Returns how many there are. */
static uint32_t othersAt(const FlatMaker *m, uint32_t edge, uint32_t out[MOST_AT_EDGE]) {
  uint32_t n = 0;
  for (uint32_t e = nextOver(m, edge); e != edge && n <= MOST_AT_EDGE; e = nextOver(m, e), ++n)
    if (n < MOST_AT_EDGE) out[n] = e;
  return n;
}

static bool isCopyOf(const FlatMaker *m, uint32_t edge, uint32_t other) {
  return thirdAt(m, edge) == thirdAt(m, other);
}

static bool hasCopies(const FlatMaker *m, uint32_t t) {
  uint32_t others[MOST_AT_EDGE], n = othersAt(m, 3 * t, others);
  bool has = false;
  for (uint32_t i = 0; n <= MOST_AT_EDGE && i < n; ++i) has |= isCopyOf(m, others[i], 3 * t);
  return has;
}

/* A triangle stands for itself and its copies. */
static void standFor(FlatMaker *m, uint32_t t) {
  uint32_t others[MOST_AT_EDGE], n = othersAt(m, 3 * t, others);
  m->likeOf[t] = t;
  for (uint32_t i = 0; n <= MOST_AT_EDGE && i < n; ++i)
    if (isCopyOf(m, others[i], 3 * t)) m->likeOf[others[i] / 3] = t;
}

/* The edge of a triangle that nobody stands for yet and that faces the same way as one beside it; PN_NONE: there is none. */
static uint32_t facingAlike(const FlatMaker *m, uint32_t edge) {
  uint32_t others[MOST_AT_EDGE], n = othersAt(m, edge, others);
  for (uint32_t i = 0; n <= MOST_AT_EDGE && i < n; ++i)
    if (m->likeOf[others[i] / 3] == PN_NONE && weldAt(m, others[i]) != weldAt(m, edge)) return others[i];
  return PN_NONE;
}

/* From a triangle on, over edges, of copies always the one that faces as the last did. `queue` has room for all triangles. */
static void goOnFrom(FlatMaker *m, uint32_t t, uint32_t *queue) {
  uint32_t n = 0;
  standFor(m, t);
  queue[n++] = t;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t e = 3 * queue[i]; e < 3 * queue[i] + 3; ++e) {
      uint32_t next = facingAlike(m, e);
      if (next == PN_NONE) continue;
      standFor(m, next / 3);
      queue[n++] = next / 3;
    }
  }
}

/* Which of copies stands for them: beginning where there is no choice. */
static void chooseCopies(FlatMaker *m, uint32_t *queue) {
  uint32_t count = m->mesh->triangleCount;
  memset(m->likeOf, 0xff, count * sizeof *m->likeOf);
  for (uint32_t t = 0; t < count; ++t)
    if (m->likeOf[t] == PN_NONE && !hasCopies(m, t)) goOnFrom(m, t, queue);
  for (uint32_t t = 0; t < count; ++t)
    if (m->likeOf[t] == PN_NONE) goOnFrom(m, t, queue);
}

/* The triangle on the other side of an edge, of copies the one that stands for them. False: there are several, or it faces the other way. */
static bool findBeside(const FlatMaker *m, uint32_t edge, uint32_t *out) {
  uint32_t others[MOST_AT_EDGE], n = othersAt(m, edge, others);
  *out = PN_NONE;
  for (uint32_t i = 0; n <= MOST_AT_EDGE && i < n; ++i) {
    uint32_t e = others[i];
    if (isCopyOf(m, e, edge) || m->likeOf[e / 3] != e / 3) continue;
    if (*out != PN_NONE || weldAt(m, e) == weldAt(m, edge)) return false;
    *out = e / 3;
  }
  return n <= MOST_AT_EDGE;
}

/* Of a mesh of which an edge has more than two triangles. Slots are found later: until then their place is scratch. */
static void findCopies(FlatMaker *m, uint32_t *beside) {
  uint32_t count = m->mesh->triangleCount;
  m->beside = beside;
  chooseCopies(m, m->slotOf);
  for (uint32_t t = 0; t < count; ++t)
    for (uint32_t e = 3 * t; e < 3 * t + 3; ++e) m->crowded[t] |= !findBeside(m, e, &beside[e]);
}

/* ---------------------------------------------------------------- growing */

/* The vertex nearest to the mean of the corners, as an edge that leaves it; the middle is there. */
static uint32_t chooseMiddle(FlatMaker *m) {
  double mean[3] = {0}, least = DBL_MAX;
  size_t best = 0, corners = 3 * m->faces.count;
  for (size_t i = 0; i < corners; ++i)
    for (int k = 0; k < 3; ++k) mean[k] += (double)m->faces.data[i / 3].point[i % 3][k];
  for (int k = 0; k < 3; ++k) m->middle[k] = mean[k] / (double)corners;
  for (size_t i = 0; i < corners; ++i) {
    double p[3];
    fromMiddle(m, m->faces.data[i / 3].point[i % 3], p);
    if (pn_dot3(p, p) < least) {
      least = pn_dot3(p, p);
      best = i;
    }
  }
  const Face *face = &m->faces.data[best / 3];
  for (int k = 0; k < 3; ++k) m->middle[k] = (double)face->point[best % 3][k];
  return 3 * face->triangle + (uint32_t)(best % 3);
}

/* Copies what regions need to know of some triangles. Step by step for all of them, so that what comes from the outer caches comes side
 * by side. */
static void copyCorners(const FlatMaker *m, Face *faces, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (faces[i].triangle != PN_NONE)
      memcpy(faces[i].vertex, m->mesh->triangles + 3 * (size_t)faces[i].triangle, sizeof faces[i].vertex);
  for (size_t i = 0; m->mesh->welded && i < 3 * count; ++i) {
    uint32_t *vertex = &faces[i / 3].vertex[i % 3];
    *vertex = m->mesh->weld[*vertex];
  }
  for (size_t i = 0; i < 3 * count; ++i) {
    Face *face = &faces[i / 3];
    memcpy(face->point[i % 3], m->mesh->vertices + 3 * (size_t)face->vertex[i % 3], sizeof face->point[0]);
  }
}

/* Of a slot without a triangle, whose corners are one point: none. */
static void findTilt(const Face *face, Tilt *out) {
  double c[3][3];
  pn_widenCorners(face->point[0], 3, c);
  pn_normal3(c[0], c[1], c[2], out->normal);
  out->length = sqrt(pn_dot3(out->normal, out->normal));
}

/* The triangles below a node that is no part of another one that may have a region. False: out of memory. */
static bool copyBelow(FlatMaker *m, uint32_t node) {
  uint32_t end;
  pn_leafRange(m->tree, node, &m->topLeaf, &end);
  size_t count = (size_t)(end - m->topLeaf) * PN_LANES;
  m->below.count = 0;
  if (!pn_arrayReserve(&m->below, count) || !pn_arrayReserve(&m->tilts, count)) return false;
  m->below.count = count;
  for (size_t i = 0; i < count; ++i) {
    uint32_t t = m->tree->shape->leafTriangles[m->topLeaf * PN_LANES + i];
    m->below.data[i] = (Face){.triangle = m->likeOf && t != PN_NONE ? m->likeOf[t] : t};
  }
  copyCorners(m, m->below.data, count);
  for (size_t i = 0; i < count; ++i) findTilt(&m->below.data[i], &m->tilts.data[i]);
  return true;
}

/* The normal of all in some slots. False: they are bent more than half a sphere, whose normals add up to half of their lengths: most of a
 * crumpled mesh, and no rim would do. */
static bool sumNormals(FlatMaker *m, uint32_t first, uint32_t end) {
  double lengths = 0;
  m->normal[0] = m->normal[1] = m->normal[2] = 0;
  for (uint32_t i = first; i < end; ++i) {
    for (int k = 0; k < 3; ++k) m->normal[k] += m->tilts.data[i].normal[k];
    lengths += m->tilts.data[i].length;
  }
  return 2 * sqrt(pn_dot3(m->normal, m->normal)) >= lengths;
}

/* Those of a node are the beginning of its region. */
static Made addBelow(FlatMaker *m, uint32_t node) {
  uint32_t first, end;
  pn_leafRange(m->tree, node, &first, &end);
  first = (first - m->topLeaf) * PN_LANES;
  end = (end - m->topLeaf) * PN_LANES;
  m->faces.count = 0;
  if (!sumNormals(m, first, end)) return FLAT_NOT_MADE;
  if (!pn_arrayReserve(&m->faces, end - first)) return NO_MEMORY;
  for (uint32_t i = first; i < end; ++i) {
    const Face *face = &m->below.data[i];
    if (face->triangle == PN_NONE || m->inRegion[face->triangle] == m->region) continue;
    m->inRegion[face->triangle] = m->region;
    m->faces.data[m->faces.count++] = *face;
  }
  return FLAT_MADE;
}

static Made addTriangle(FlatMaker *m, uint32_t t) {
  Face face = {.triangle = t};
  copyCorners(m, &face, 1);
  m->inRegion[t] = m->region;
  return pn_arrayPush(&m->faces, face) ? FLAT_MADE : NO_MEMORY;
}

/* Does the rim edge go around the middle, seen along the normal, and not toward it or away? */
static bool goesAround(const FlatMaker *m, const Face *face, uint32_t corner, double least) {
  double p[3], q[3], step[3], n[3];
  fromMiddle(m, face->point[corner], p);
  fromMiddle(m, face->point[corner == 2 ? 0 : corner + 1], q);
  for (int k = 0; k < 3; ++k) {
    step[k] = q[k] - p[k];
    p[k] = 0.5 * (p[k] + q[k]);
  }
  pn_cross3(p, step, n);
  double sine = pn_dot3(m->normal, n);
  return sine > 0 && sine * sine >= least * least * pn_dot3(m->normal, m->normal) * pn_dot3(p, p) * pn_dot3(step, step);
}

/* Adds triangles until the rim goes around, or there are more than `most`, or after some rounds. The middle and the normal stay,
 * so an edge that was found to go around does in every later round, and over the others there is a triangle of the region by then:
 * a round looks only at what the last one has added. */
static Made mend(FlatMaker *m, size_t most) {
  size_t from = 0, end = m->faces.count;
  for (int round = 0; round < ROUNDS && from < end; ++round) {
    for (size_t i = from; i < end; ++i) {
      for (uint32_t k = 0; k < 3; ++k) {
        const Face *face = &m->faces.data[i];
        uint32_t next = m->beside[3 * face->triangle + k];
        /* borders of the mesh stay as they are */
        if (next == PN_NONE || m->inRegion[next] == m->region || goesAround(m, face, k, GOOD_SINE)) continue;
        /* it only grows: one that is too large now will be in the end, and on a crumpled mesh that is most of them */
        Made made = m->faces.count < most ? addTriangle(m, next) : FLAT_NOT_MADE;
        if (made != FLAT_MADE) return made;
      }
    }
    from = end;
    end = m->faces.count;
  }
  return from == end ? FLAT_MADE : FLAT_NOT_MADE;
}

/* ---------------------------------------------------------------- a disc? */

static bool isCrowded(const FlatMaker *m) {
  for (size_t i = 0; m->mesh->crowded && i < m->faces.count; ++i)
    if (m->crowded[m->faces.data[i].triangle]) return true;
  return false;
}

/* Can every triangle be reached from the first, over edges? */
static Made checkConnected(FlatMaker *m) {
  size_t count = m->faces.count;
  m->reached.count = 0;
  if (!pn_arrayReserve(&m->reached, count)) return NO_MEMORY;
  /* those reached bear the next number meanwhile */
  m->reached.data[m->reached.count++] = m->faces.data[0].triangle;
  m->inRegion[m->faces.data[0].triangle] = m->region + 1;
  for (size_t i = 0; i < m->reached.count; ++i) {
    uint32_t t = m->reached.data[i];
    for (uint32_t e = 3 * t; e < 3 * t + 3; ++e) {
      uint32_t next = m->beside[e];
      if (next != PN_NONE && m->inRegion[next] == m->region) {
        m->inRegion[next] = m->region + 1;
        m->reached.data[m->reached.count++] = next;
      }
    }
  }
  for (size_t i = 0; i < m->reached.count; ++i) m->inRegion[m->reached.data[i]] = m->region;
  return m->reached.count == count ? FLAT_MADE : FLAT_NOT_MADE;
}

/* The rim: from every vertex on it one edge. Returns how many, 0 when it is not a line, or an edge of it does not go around. */
static uint32_t findRim(FlatMaker *m, uint32_t *outFirst) {
  uint32_t count = 0;
  for (size_t i = 0; i < m->faces.count; ++i) {
    const Face *face = &m->faces.data[i];
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t e = 3 * face->triangle + k, next = m->beside[e], v = face->vertex[k];
      if (next != PN_NONE && m->inRegion[next] == m->region) continue;
      if (m->rimMark[v] == m->region || !goesAround(m, face, k, LEAST_SINE)) return 0;
      m->rimMark[v] = m->region;
      m->rimEdge[v] = e;
      *outFirst = e;
      ++count;
    }
  }
  return count;
}

static uint32_t countVertices(FlatMaker *m) {
  uint32_t count = 0;
  for (size_t i = 0; i < m->faces.count; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t v = m->faces.data[i].vertex[k];
      if (m->vertexMark[v] == m->region) continue;
      m->vertexMark[v] = m->region;
      m->firstCorner[v] = 3 * m->faces.data[i].triangle + k;
      ++count;
    }
  }
  return count;
}

/* Follows the rim; its places are appended. */
static Made addRim(FlatMaker *m, uint32_t first, uint32_t count) {
  size_t begin = m->rims.count;
  if (!pn_arrayReserve(&m->rims, begin + count + 5)) return NO_MEMORY;
  uint32_t edge = first;
  for (uint32_t i = 0; i < count; ++i) {
    m->rims.data[m->rims.count++] = placeAt(m, edge);
    uint32_t v = weldAt(m, nextEdge(edge));
    if (m->rimMark[v] != m->region || (m->rimEdge[v] == first) != (i + 1 == count)) {
      m->rims.count = begin;
      return FLAT_NOT_MADE; /* not one line */
    }
    edge = m->rimEdge[v];
  }
  for (uint32_t i = 0; i < 5; ++i) {
    m->rims.data[m->rims.count] = m->rims.data[begin + i % count];
    ++m->rims.count;
  }
  return FLAT_MADE;
}

/* ---------------------------------------------------------------- writing it down */

/* A leaf with some of its triangles. */
static bool addLeaf(FlatMaker *m, uint32_t leaf, uint8_t lanes) {
  if (m->leafMark[leaf] != m->region) {
    m->leafMark[leaf] = m->region;
    m->leafPlace[leaf] = (uint32_t)m->leaves.count;
    return pn_arrayPush(&m->leaves, ((pnFlatLeaf){leaf, lanes}));
  }
  m->leaves.data[m->leafPlace[leaf]].lanes |= lanes;
  return true;
}

/* Corners of a triangle that are one vertex by welding with others of the region, and two by number: they may come apart. */
static bool addSeams(FlatMaker *m, const Face *face, uint32_t node) {
  bool ok = true;
  for (uint32_t k = 0; ok && m->mesh->welded && k < 3; ++k) {
    uint32_t e = 3 * face->triangle + k, other = m->firstCorner[face->vertex[k]];
    if (m->mesh->triangles[e] != m->mesh->triangles[other])
      ok = pn_arrayPush(&m->seams, ((pnSeam){{placeAt(m, e), placeAt(m, other)}, node}));
  }
  return ok;
}

/* And of the copies below a node: what is said of one of them is true of those that lie on it. */
static bool addSeamsOfCopies(FlatMaker *m, uint32_t node) {
  if (!m->likeOf || !m->mesh->welded) return true;
  uint32_t first, end;
  bool ok = true;
  pn_leafRange(m->tree, node, &first, &end);
  for (uint32_t slot = first * PN_LANES; ok && slot < end * PN_LANES; ++slot) {
    Face face = {.triangle = m->tree->shape->leafTriangles[slot]};
    if (face.triangle == PN_NONE || m->likeOf[face.triangle] == face.triangle) continue;
    copyCorners(m, &face, 1);
    ok = addSeams(m, &face, node);
  }
  return ok;
}

static Made addRegion(FlatMaker *m, uint32_t node, uint32_t middleEdge) {
  uint32_t firstRim = 0, rim = findRim(m, &firstRim), faces = (uint32_t)m->faces.count;
  if (rim < 3 || rim > PN_RIM_MOST || 2 * (countVertices(m) + faces) != 2 + 3 * faces + rim) return FLAT_NOT_MADE;
  pnFlatRegion r = {node, placeAt(m, middleEdge), (uint32_t)m->leaves.count, (uint32_t)m->rims.count,
                    (uint32_t)m->seams.count};
  Made made = addRim(m, firstRim, rim);
  if (made != FLAT_MADE) return made;
  bool ok = true;
  uint32_t first, end;
  pn_leafRange(m->tree, node, &first, &end);
  for (uint32_t leaf = first; ok && leaf < end; ++leaf) ok = addLeaf(m, leaf, 0);
  for (uint32_t i = 0; ok && i < faces; ++i) {
    uint32_t slot = m->slotOf[m->faces.data[i].triangle];
    ok = addLeaf(m, slot / PN_LANES, (uint8_t)(1u << slot % PN_LANES)) && addSeams(m, &m->faces.data[i], node);
  }
  ok = ok && addSeamsOfCopies(m, node);
  m->regionOf[node] = (uint32_t)m->regions.count;
  return ok && pn_arrayPush(&m->regions, r) ? FLAT_MADE : NO_MEMORY;
}

/* The region of one node. */
static Made makeRegion(FlatMaker *m, uint32_t node) {
  m->region += 2; /* the number in between is for checkConnected */
  Made made = addBelow(m, node);
  if (made != FLAT_MADE) return made;
  uint32_t middleEdge = chooseMiddle(m);
  made = mend(m, MOST_GROWTH * m->faces.count);
  if (made == FLAT_MADE) made = isCrowded(m) ? FLAT_NOT_MADE : checkConnected(m);
  return made == FLAT_MADE ? addRegion(m, node, middleEdge) : made;
}

/* And those of the nodes below it. False: out of memory. */
static bool makeRegionsBelow(FlatMaker *m, uint32_t node) {
  const pnShape *shape = m->tree->shape;
  bool ok = makeRegion(m, node) != NO_MEMORY;
  for (uint32_t child = shape->first[node], j = 0; ok && child < shape->innerCount && j < shape->count[node]; ++j)
    ok = makeRegionsBelow(m, child + j);
  return ok;
}

/* ---------------------------------------------------------------- all */

bool pn_isFlatTop(const pnShape *shape, uint32_t node) {
  return shape->below[node] <= MOST_TRIANGLES &&
         (node == 0 || shape->below[shape->parent[node] / PN_LANES] > MOST_TRIANGLES);
}

static bool makeRegions(FlatMaker *m) {
  const pnTree *tree = m->tree;
  pn_findSlots(tree->shape, m->slotOf);
  memset(m->regionOf, 0xff, tree->shape->innerCount * sizeof *m->regionOf);
  for (uint32_t node = 0; node < tree->shape->innerCount; ++node) {
    if (!pn_isFlatTop(tree->shape, node)) continue;
    if (!pn_arrayPush(&m->tops, node) || !copyBelow(m, node) || !makeRegionsBelow(m, node)) return false;
  }
  return pn_arrayPush(&m->regions, ((pnFlatRegion){.leafFirst = (uint32_t)m->leaves.count,
                                                   .rimFirst = (uint32_t)m->rims.count,
                                                   .seamFirst = (uint32_t)m->seams.count}));
}

#define TAKE(list) pn_pack(block, &at, m->list.data, m->list.count * sizeof(*m->list.data))

/* Everything in one block: how long it is, and with `block` the copy. */
static size_t pack(const FlatMaker *m, char *block) {
  size_t at = 0;
  pn_carve(block, &at, 1, sizeof(pnFlat));
  pnFlat flat = {.regionCount = (uint32_t)m->regions.count - 1};
  flat.regions = TAKE(regions);
  flat.leaves = TAKE(leaves);
  flat.rims = TAKE(rims);
  flat.seams = TAKE(seams);
  flat.topCount = (uint32_t)m->tops.count;
  flat.tops = TAKE(tops);
  flat.regionOf = pn_pack(block, &at, m->regionOf, m->tree->shape->innerCount * sizeof(uint32_t));
  if (block) memcpy(block, &flat, sizeof flat);
  return at;
}

/* Scratch: one array of so many numbers, zero; all of them are one block. */
static uint32_t *scratch(uint32_t **at, size_t count) {
  uint32_t *p = *at;
  *at += count;
  return p;
}

static size_t scratchBytes(const pnTree *tree) {
  size_t triangles = tree->mesh->triangleCount, vertices = tree->mesh->vertexCount, leaves = tree->shape->leafCount;
  size_t numbers = 2 * triangles + 4 * vertices + 2 * leaves + tree->shape->innerCount;
  if (!tree->mesh->crowded) return pn_bytes(numbers, sizeof(uint32_t));
  return pn_bytes(numbers + 4 * triangles, sizeof(uint32_t)) + triangles;
}

/* And finds copies, where there may be any. */
static void takeScratch(FlatMaker *m, uint32_t *at) {
  const pnTree *tree = m->tree;
  size_t triangles = tree->mesh->triangleCount, vertices = tree->mesh->vertexCount, leaves = tree->shape->leafCount;
  m->slotOf = scratch(&at, triangles);
  m->inRegion = scratch(&at, triangles);
  m->vertexMark = scratch(&at, vertices);
  m->rimMark = scratch(&at, vertices);
  m->rimEdge = scratch(&at, vertices);
  m->firstCorner = scratch(&at, vertices);
  m->leafMark = scratch(&at, leaves);
  m->leafPlace = scratch(&at, leaves);
  m->regionOf = scratch(&at, tree->shape->innerCount);
  m->beside = tree->mesh->neighbours;
  if (!tree->mesh->crowded) return;
  m->likeOf = scratch(&at, triangles);
  uint32_t *beside = scratch(&at, 3 * triangles);
  m->crowded = (uint8_t *)at;
  findCopies(m, beside);
}

static bool packFlat(FlatMaker *m, void **outData, size_t *outBytes) {
  size_t bytes = scratchBytes(m->tree);
  uint32_t *memory = pn_allocZero(bytes);
  if (!memory) return false;
  takeScratch(m, memory);
  bool ok = makeRegions(m);
  if (ok && m->regions.count > 1) { /* else there is nothing to keep */
    *outBytes = pack(m, NULL);
    *outData = pn_alloc(*outBytes);
    ok = *outData != NULL;
  }
  if (*outData) pack(m, *outData);
  pn_free(memory, bytes);
  return ok;
}

static pnResult makeFlat(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  FlatMaker m = {.tree = tree, .mesh = tree->mesh};
  bool ok = packFlat(&m, outData, outBytes);
  pn_arrayFree(&m.below);
  pn_arrayFree(&m.tilts);
  pn_arrayFree(&m.faces);
  pn_arrayFree(&m.reached);
  pn_arrayFree(&m.tops);
  pn_arrayFree(&m.regions);
  pn_arrayFree(&m.leaves);
  pn_arrayFree(&m.rims);
  pn_arrayFree(&m.seams);
  return ok ? PN_OK
            : pn_fail(PN_ERROR_MEMORY, "out of memory while looking for flat regions of mesh '%s'", tree->mesh->name);
}

pnResult pn_prepareFlat(pnTree *tree) {
  if (tree->flat || !tree->def.self || tree->rule->reshapes || tree->shape->innerCount == 0) return PN_OK;
  pnResult result = pn_makePart(tree->shape, PN_PART_FLAT, makeFlat, tree);
  const pnFlat *flat = pn_partOf(tree->shape, PN_PART_FLAT);
  if (result != PN_OK || !flat) return result;
  size_t bytes = sizeof(pnFlatFrame) + tree->shape->innerCount;
  tree->flat = pn_allocZero(bytes);
  if (!tree->flat) return pn_failMemory(bytes);
  tree->flatBytes = bytes;
  tree->flat->flat = flat;
  return PN_OK;
}
