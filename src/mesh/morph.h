/* morph.h: morph targets, as poses and trees see them.
 *
 * Both kinds are kept by vertex, so that the vertex asked for is computed from one run of memory: references as the
 * positions of each vertex in all of them, deltas as a list of those that are not zero, which makes a vertex cost the
 * targets that move it and not the targets there are. */
#ifndef PN_MESH_MORPH_H
#define PN_MESH_MORPH_H

#include "mesh/mesh.h"

#define PN_MAX_TARGETS 65536u

/* What one target adds to one vertex at weight 1. */
typedef struct pnMorphEntry {
  float move[3];
  uint32_t target;
} pnMorphEntry;

struct pnMorph {
  const pnMesh *mesh;
  pnMorphMode mode;
  uint32_t targetCount;
  float *positions;      /* references: 3 * targetCount a vertex, and one more readable float */
  uint32_t *entryFirst;  /* deltas: vertexCount + 1: the entries of vertex v are [entryFirst[v], entryFirst[v + 1]) */
  pnMorphEntry *entries; /* deltas: of one vertex, targets ascending */
  float *targetMaxAbs;   /* largest magnitude in each target */
  float *restWeights;
  char *names; /* one after the other, each with its end */
  size_t nameBytes;
  uint32_t *nameFirst; /* of each target, into names */
};

/* May a pose take these weights? The message begins with `what` and the mesh. *outReach, rounded up, is the largest
 * magnitude that any coordinate can have before the transform, in any step of its sum. */
pnResult pn_checkWeights(const pnMorph *morph, const char *what, const float *weights, float *outReach);

#endif
