/* volume_scenes.h: closed bodies with branches and folds, and a cloud of particles around one that deforms: what the
 * experiments of [Heidelberger03] need, made by formula.
 *
 * The paper's bodies (Knot, Rabbit, Reptile, Santa, Dragon) are scans we do not have. These stand in for them: as
 * many faces, and about as many layers when one looks through them. All but the knot are a ball with arms, drawn out
 * along some directions, then twisted about two axes; a twist moves no two points to the same place, so the surface
 * stays simple.
 *
 * Sizes: every body is centred and its longest side is 2.
 * Memory: pnMesh by pinch's allocator; scenes by malloc. */
#ifndef PINCH_VOLUME_SCENES_H
#define PINCH_VOLUME_SCENES_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- bodies */

typedef enum pnVolumeShape {
  PN_VOLUME_KNOT,   /* 12 000 faces */
  PN_VOLUME_HARE,   /* 50 700, for the Rabbit */
  PN_VOLUME_LIZARD, /* 110 592, for the Reptile */
  PN_VOLUME_SAINT,  /* 150 528, for Santa */
  PN_VOLUME_WYRM,   /* 519 168, for the Dragon */
  PN_VOLUME_SHAPE_COUNT
} pnVolumeShape;

const char *pnVolumeShape_Name(pnVolumeShape shape);      /* "hare" */
const char *pnVolumeShape_PaperName(pnVolumeShape shape); /* "Rabbit" */

/* `cells` is the number of cells along a cube's edge, 12 * cells^2 faces; 0: as above. The knot takes 0 only. */
pnResult pnMakeVolumeShape(pnVolumeShape shape, uint32_t cells, pnMesh **outMesh);

/* ---------------------------------------------------------------- pairs (E11, E13) */

/* Where the second body of a pair stands; the first stands at the origin. */
typedef struct pnVolumePair {
  pnVolumeShape a, b;
  bool complex; /* deep in each other, or a little */
  pnVec3 at;
} pnVolumePair;

/* The six pairs of the paper's table 1, then knot and Dragon of its figure 10. */
#define PN_VOLUME_PAIR_COUNT 7
extern const pnVolumePair pn_volumePairs[PN_VOLUME_PAIR_COUNT];

/* ---------------------------------------------------------------- particles (E14) */

/* A deforming body and a cloud that rains on it. One step: pnParticles_Move, find the particles inside the body at
 * `vertices`, pnParticles_Respond. */
typedef struct pnParticles {
  pnMesh *mesh;    /* the body, about 10 000 faces */
  float *vertices; /* where its vertices are: 3 each, one more readable float */
  uint32_t vertexCount;
  float *positions; /* of the particles, 3 each */
  uint32_t count;
  float *velocities, *before; /* where they were a step ago */
  uint64_t random;
  double time;
} pnParticles;

pnResult pnCreateParticles(uint32_t count, pnParticles **outParticles);
void pnDestroyParticles(pnParticles *particles); /* null is allowed */

/* A hundredth of a second of motion, of body and particles; those that have fallen out start again on top. */
void pnParticles_Move(pnParticles *particles);
/* Particles inside (inside[i] != 0) go back to where they were and bounce off. */
void pnParticles_Respond(pnParticles *particles, const uint8_t *inside);

#ifdef __cplusplus
}
#endif

#endif
