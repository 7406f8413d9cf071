/* character_parts.h: what the files of the character share.
 *
 *   character.c        the pieces put together into an animated file
 *   character_shape.c  the figure as a field of distances, its skeleton and its weights
 *   character_body.c   the field into triangles
 *   character_coat.c   the coat, laid around the field
 *   character_walk.c   the clips
 */
#ifndef PN_SCENES_CHARACTER_PARTS_H
#define PN_SCENES_CHARACTER_PARTS_H

#include "character.h"
#include "scene.h"

/* ---------------------------------------------------------------- skeleton */

typedef enum pnCharacterJoint {
  PN_HIPS,
  PN_SPINE,
  PN_CHEST,
  PN_NECK,
  PN_HEAD,
  PN_CLAVICLE_L,
  PN_ARM_L,
  PN_FOREARM_L,
  PN_HAND_L,
  PN_FINGERS_L,
  PN_THUMB_L,
  PN_CLAVICLE_R,
  PN_ARM_R,
  PN_FOREARM_R,
  PN_HAND_R,
  PN_FINGERS_R,
  PN_THUMB_R,
  PN_THIGH_L,
  PN_SHIN_L,
  PN_FOOT_L,
  PN_TOES_L,
  PN_THIGH_R,
  PN_SHIN_R,
  PN_FOOT_R,
  PN_TOES_R,
  PN_CHARACTER_JOINTS
} pnCharacterJoint;

/* Where the left arm leaves, and which way it hangs at rest: 15 degrees from the vertical. */
#define PN_SHOULDER_X 0.198
#define PN_SHOULDER_Y 1.400
#define PN_ARM_WAY_X 0.25881905
#define PN_ARM_WAY_Y -0.96592583

/* From a joint of the left side to its twin on the right. */
#define PN_ARM_SIDE (PN_CLAVICLE_R - PN_CLAVICLE_L)
#define PN_LEG_SIDE (PN_THIGH_R - PN_THIGH_L)

typedef struct pnCharacterBone {
  const char *name;
  int parent;          /* -1: the root */
  pnSceneVec position; /* at rest, where all joints stand like the world */
} pnCharacterBone;

extern const pnCharacterBone pn_characterBones[PN_CHARACTER_JOINTS];

/* ---------------------------------------------------------------- shape */

/* Distance to the skin, negative inside; and to what the coat hangs on: the trunk without head, arms and legs. */
double pn_characterField(pnSceneVec p);
double pn_characterTrunk(pnSceneVec p);
/* The direction in which the field grows, of length 1. */
pnSceneVec pn_characterGradient(pnSceneVec p);
/* Moves p along the gradient to where the field is `distance`. */
pnSceneVec pn_characterProject(pnSceneVec p, double distance);
/* The box that holds the skin. */
void pn_characterBounds(pnSceneVec *outMin, pnSceneVec *outMax);

/* How much each joint pulls at a point of the skin; they add up to 1. */
void pn_characterWeights(pnSceneVec p, double outWeights[PN_CHARACTER_JOINTS]);
/* The four largest of them, sorted by joint, adding up to 1 again. */
typedef struct pnCharacterInfluences {
  uint16_t joints[4];
  float weights[4];
} pnCharacterInfluences;
pnCharacterInfluences pn_characterLargest(const double weights[PN_CHARACTER_JOINTS]);

/* Fields of displacement. The same field moves skin and cloth above it, so that the gap stays. */
typedef enum pnCharacterTarget { PN_BREATHE, PN_BELLY, PN_FISTS, PN_SWAY, PN_CHARACTER_TARGETS } pnCharacterTarget;
pnSceneVec pn_characterDisplacement(pnCharacterTarget target, pnSceneVec p);

/* ---------------------------------------------------------------- pieces */

/* A mesh that grows. */
typedef struct pnCharacterMesh {
  pnSceneVec *vertices;
  uint32_t vertexCount, vertexCapacity;
  uint32_t *triangles;
  uint32_t triangleCount, triangleCapacity;
  bool failed; /* out of memory */
} pnCharacterMesh;

uint32_t pn_characterVertex(pnCharacterMesh *mesh, pnSceneVec p);
void pn_characterTriangle(pnCharacterMesh *mesh, uint32_t a, uint32_t b, uint32_t c);
void pn_characterQuad(pnCharacterMesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* About `triangleCount` triangles each. */
void pn_makeCharacterBody(uint32_t triangleCount, pnCharacterMesh *out);
void pn_makeCharacterCoat(uint32_t triangleCount, pnCharacterMesh *out);
/* How much each joint pulls at a vertex of the coat. */
void pn_coatWeights(pnSceneVec p, double outWeights[PN_CHARACTER_JOINTS]);

/* What a clip says at a moment: a rotation for each joint, where the hips are, and the weights of both bodies. */
typedef struct pnCharacterMoment {
  float rotations[PN_CHARACTER_JOINTS][4];
  float hips[3];
  float bodyWeights[3]; /* breathe, belly, fists */
  float coatWeights[3]; /* breathe, belly, sway */
} pnCharacterMoment;
pnCharacterMoment pn_characterWalk(double time);
pnCharacterMoment pn_characterIdle(double time);

#endif
