/* find.h: what the files of this room hand to one another.
 *
 *   finder.c    the finder: bodies, the frame on one page
 *   part.c      which parts of a mesh hang together, which are closed and which way they face
 *   region.c    the pairs of a contact fall into regions
 *   cross.c     where edges of one body pierce triangles of the other: the ends of the meeting segments, exact signs
 *   curve.c     segments in order: curves
 *   patch.c     the piece of a surface that a curve cuts off
 *   depth.c     the deepest point of such a piece
 *   contain.c   parts wholly inside others
 *   track.c     regions of frame after frame into findings
 *   finding.c   findings in order, with names
 *   compare.c   findings beside those that are known
 */
#ifndef PN_FIND_FIND_H
#define PN_FIND_FIND_H

#include "base/array.h"
#include "base/task.h"
#include "mesh/pose.h"
#include "pinch/find.h"

/* ---------------------------------------------------------------- bodies */

/* Triangles that hang together over edges. */
typedef struct pnPart {
  uint32_t vertex; /* one of its vertices, the first of its first triangle */
  uint32_t triangleCount;
  bool closed;  /* every edge balanced, and a volume that is not 0 */
  bool outward; /* closed: its triangles face outward at rest */
} pnPart;

typedef struct pnFinderBody {
  pnTree *tree;
  const pnPose *pose;
  const pnMesh *mesh;
  char *name;
  uint32_t labelCount;
  uint32_t *labels;   /* one a triangle; null: none */
  char **labelNames;  /* null: their numbers */
  uint32_t *carriers; /* one a triangle; null: `carrier` for all */
  uint32_t carrier;
  uint32_t *partOf; /* one a triangle */
  pnPart *parts;
  uint32_t partCount;
  double diagonal; /* of the box at rest */
} pnFinderBody;

PN_INLINE uint32_t pn_carrierOf(const pnFinderBody *body, uint32_t triangle) {
  return body->carriers ? body->carriers[triangle] : body->carrier;
}

/* Fills partOf and parts. */
pnResult pn_findParts(pnFinderBody *body);

/* ---------------------------------------------------------------- the finder */

struct pnFinder {
  pnFinderDef def;
  PN_ARRAY(pnFinderBody) bodies;
  PN_ARRAY(uint64_t) unwanted; /* pairs of bodies not looked at for containment, a << 32 | b with a < b, ascending */
  bool begun;                  /* a frame was added: no more bodies */
};

/* A copy of a text; null for null or without memory. Freed with pn_freeText. */
char *pn_copyText(const char *text);
void pn_freeText(char *text);

#endif
