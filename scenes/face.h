/* face.h: a face that talks, and a hand that touches it.
 *
 * A mask of 10 080 triangles with slits for mouth and eyes, 52 morph targets (the usual set of facial expressions:
 * eyes, jaw, mouth, brows, cheeks, nose, tongue) of which each moves a region, and weights for 200 frames, about a third of
 * them active at a time. Lips and lids close and now and then press into each other. The hand is a rigid body of 960
 * triangles: a palm and five fingers, which comes to the cheek, stays for a while and leaves.
 *
 * Made by formula; the same numbers in every run. */
#ifndef PINCH_SCENES_FACE_H
#define PINCH_SCENES_FACE_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PN_FACE_TARGETS 52u

typedef struct pnFace {
  uint32_t vertexCount, triangleCount, frameCount;
  float *vertices;
  uint32_t *triangles;
  pnMorphTarget targets[PN_FACE_TARGETS]; /* sparse deltas, for pnMorphDef */
  uint32_t handVertexCount, handTriangleCount;
  float *handVertices;
  uint32_t *handTriangles;
} pnFace;

pnResult pnCreateFace(pnFace **outFace); /* PN_ERROR_MEMORY */
void pnDestroyFace(pnFace *face);        /* null is allowed */

/* Of a frame: the 52 weights, and where the hand is. */
void pnFace_Weights(const pnFace *face, uint32_t frame, float *outWeights);
pnMatrix pnFace_Hand(const pnFace *face, uint32_t frame);

#ifdef __cplusplus
}
#endif

#endif
