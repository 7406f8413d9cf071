/* morph.h: morph targets, as poses and trees see them.
 *
 * Entries are kept by vertex: the vertex asked for is computed from one run of memory, and costs the targets that move
 * it, not the targets there are. */
#ifndef PN_MESH_MORPH_H
#define PN_MESH_MORPH_H

#include "mesh/mesh.h"

#define PN_MAX_TARGETS 65536u

/* What one target adds to one vertex at weight 1. */
typedef struct pnMorphEntry {
  float move[3]; /* the delta, or the position in the reference */
  uint32_t target;
} pnMorphEntry;

struct pnMorph {
  const pnMesh *mesh;
  pnMorphMode mode;
  uint32_t targetCount;
  uint32_t *entryFirst;  /* vertexCount + 1: the entries of vertex v are [entryFirst[v], entryFirst[v + 1]) */
  pnMorphEntry *entries; /* of one vertex: targets ascending */
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
