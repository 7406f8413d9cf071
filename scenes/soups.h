/* soups.h: soups by formula, for the experiments of [Ganovelli00] and tests: triangles that fill a cube and drift.
 *
 * In every step a main direction and a speed are drawn for the whole, and each triangle moves with that speed in a direction of
 * its own that is at most `angle` away from it (figure 2 of the paper). 0 degrees is a rigid motion, nobody passes
 * anybody; 180 degrees is no coherence at all. The same numbers on every machine with the same libm.
 *
 * Memory: malloc; 36 bytes a triangle. */
#ifndef PINCH_SOUPS_H
#define PINCH_SOUPS_H

#include "pinch/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnSoupScene {
  uint32_t count;
  float *positions; /* 9 a triangle */
  float angle;      /* degrees */
  float speed;      /* most, a step; the cube has side 2 */
  uint64_t random;
} pnSoupScene;

/* `size`: the longest side of a triangle, at most. Null: out of memory. */
pnSoupScene *pnCreateSoupScene(uint32_t count, float size, float angle, float speed, uint64_t seed);
void pnDestroySoupScene(pnSoupScene *scene); /* null is allowed */

/* The next moment of all triangles. */
void pnSoupScene_Step(pnSoupScene *scene);
/* Triangle i somewhere else in the cube, as a new one. */
void pnSoupScene_Renew(pnSoupScene *scene, uint32_t i, float size);

#ifdef __cplusplus
}
#endif

#endif
