/* scene.h: what the scene files share. A scene is one rest mesh in double precision, which all of its bodies use, and a
 * motion: a function that says where the vertices of a body are in a frame. Each family of scenes is one file with one
 * pnSceneKind in the table of scenes.c. */
#ifndef PN_SCENES_SCENE_H
#define PN_SCENES_SCENE_H

#include "scenes.h"

#include <math.h>

/* ---------------------------------------------------------------- vectors in double */

typedef struct pnSceneVec {
  double x, y, z;
} pnSceneVec;

static inline pnSceneVec pn_vec(double x, double y, double z) {
  return (pnSceneVec){x, y, z};
}
static inline pnSceneVec pn_vecAdd(pnSceneVec a, pnSceneVec b) {
  return pn_vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline pnSceneVec pn_vecSub(pnSceneVec a, pnSceneVec b) {
  return pn_vec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline pnSceneVec pn_vecScale(pnSceneVec a, double s) {
  return pn_vec(a.x * s, a.y * s, a.z * s);
}
static inline double pn_vecDot(pnSceneVec a, pnSceneVec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline pnSceneVec pn_vecUnit(pnSceneVec a) {
  return pn_vecScale(a, 1.0 / sqrt(pn_vecDot(a, a)));
}

/* A turn about z, then about x, with the sines and cosines computed once for all vertices of a frame. */
typedef struct pnSceneTurn {
  double cosZ, sinZ, cosX, sinX;
} pnSceneTurn;

pnSceneTurn pn_makeSceneTurn(double aboutZ, double aboutX);
pnSceneVec pn_sceneTurn(const pnSceneTurn *turn, pnSceneVec p);

/* Rounds to float and stores. */
void pn_storeSceneVertex(float *out, pnSceneVec p);

/* ---------------------------------------------------------------- random numbers and bumps */

/* The xorshift64 of Marsaglia 2003, so that a scene is the same on every machine. The state must not be zero. */
double pn_sceneRandom(uint64_t *state); /* in [0, 1) */

/* Bumps on a sphere: the radius in direction d at time t is 1 + sum of a sin(k.d + phase + w t). */
#define PN_MAX_WAVES 8

typedef struct pnSceneWave {
  pnSceneVec k;
  double amplitude, phase, speed;
} pnSceneWave;

typedef struct pnSceneBumps {
  pnSceneWave waves[PN_MAX_WAVES];
  uint32_t count;
} pnSceneBumps;

/* `count` waves in random directions, with frequencies evenly from `lowest` to `highest`. */
pnSceneBumps pn_makeSceneBumps(uint64_t seed, double amplitude, double lowest, double highest, uint32_t count);
double pn_sceneRadius(const pnSceneBumps *bumps, pnSceneVec direction, double time);

/* ---------------------------------------------------------------- the scene */

/* One mesh of a scene. */
typedef struct pnSceneMesh {
  uint32_t vertexCount, triangleCount;
  pnSceneVec *points; /* rest positions */
  uint32_t *triangles;
} pnSceneMesh;
#define PN_SCENE_OTHERS 2

typedef struct pnSceneKind {
  const char *name;
  const char *text;
  uint32_t usualSize; /* triangles of a body, or what the kind's file says */
  /* Fills in the scene: mesh, counts and motion. scene->triangleCount holds the size asked for. What it has
   * allocated into the scene is freed by pnDestroyScene also when it fails. */
  pnResult (*create)(pnScene *scene);
  void (*frame)(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices);
  /* Null unless the scene morphs. */
  void (*weights)(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights, pnMatrix *outTransform);
  const float *(*reference)(const pnScene *scene, uint32_t body, uint32_t reference);
  /* Null unless the scene is driven: computes the state of frame readyCount from the one before. */
  void (*step)(pnScene *scene, const pnSceneContact *contacts, uint32_t contactCount);
  void (*destroy)(void *motion); /* null: the motion is one block, freed by free() */
  /* Null unless bodies have different meshes: 0 for the scene's own, k for others[k - 1]. */
  uint32_t (*meshOf)(const pnScene *scene, uint32_t body);
  /* Null unless some bodies never move. */
  bool (*isStill)(const pnScene *scene, uint32_t body);
} pnSceneKind;

struct pnScene {
  const pnSceneKind *kind;
  char name[48];
  uint32_t bodyCount, frameCount, readyCount, frameStep, referenceCount;
  bool self;
  uint32_t vertexCount, triangleCount; /* of each body that has no other mesh */
  pnSceneVec *points;                  /* rest positions: unit directions for spheres */
  uint32_t *triangles;
  pnSceneMesh others[PN_SCENE_OTHERS];
  uint32_t otherCount;
  void *motion; /* what the kind needs */
};

extern const pnSceneKind pn_sceneTwoSpheres, pn_sceneMixedSpheres, pn_sceneStray, pn_sceneRamp, pn_sceneCrowd,
    pn_sceneMorphs, pn_sceneCloth, pn_sceneClothTwice, pn_sceneGrid, pn_sceneTurnedGrid, pn_sceneKeptSpheres,
    pn_sceneKeptArms, pn_scenePassing, pn_sceneDolphins, pn_sceneBodies, pn_sceneIdle, pn_sceneShoal, pn_sceneTerrain,
    pn_sceneLevel, pn_sceneTiles, pn_sceneHair, pn_sceneHairSelf, pn_sceneBlobs, pn_sceneShuffle, pn_sceneShuffleSelf,
    pn_sceneTangle, pn_sceneBurstSelf, pn_sceneSwarm, pn_sceneDecay, pn_sceneBurst, pn_sceneSlivers, pn_scenePages,
    pn_sceneRoll, pn_sceneTable, pn_sceneLeaves, pn_sceneHeap, pn_sceneClothBall, pn_sceneRodTwist;

/* The frame of a scene that morphs over three references: the formula of scenes.h, in float. */
void pn_frameOfReferences(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices);

/* Makes scene->points and scene->triangles a sphere of scene->triangleCount triangles: the corners of a regular
 * solid with its faces quartered. PN_ERROR_ARGUMENT when no solid gives that number. */
pnResult pn_makeSceneSphere(pnScene *scene);

/* Room for the mesh; the counts are those in the scene. PN_ERROR_MEMORY leaves it to pnDestroyScene to free. */
pnResult pn_allocateSceneMesh(pnScene *scene);

/* How many frames a motion of so many moments has, with the step that was asked for or this one. */
void pn_setSceneFrames(pnScene *scene, uint32_t momentCount, uint32_t usualStep);

/* The mesh made last becomes another one, and the scene's own is to be made anew. */
void pn_setSceneMeshAside(pnScene *scene);
/* Which way the diagonals of a sheet's cells go: from the first corner to the last, across that, or by turns like the squares of a chess board. */
typedef enum pnSceneDiagonals { PN_DIAGONALS_RISE, PN_DIAGONALS_FALL, PN_DIAGONALS_BOARD } pnSceneDiagonals;
/* Makes the scene's mesh a square of side 1 of scene->triangleCount triangles. PN_ERROR_ARGUMENT when no number of cells gives that. */
pnResult pn_makeSceneSheet(pnScene *scene, pnSceneDiagonals diagonals);
/* Makes the scene's mesh a cube about the origin, 12 triangles. */
pnResult pn_makeSceneBox(pnScene *scene, double half);
/* The mesh made last is set aside, and the scene's own becomes `planes` floors of `size` triangles in all, each of *outCells x *outCells cells
 * of size 1 from the origin on, one after the other. PN_ERROR_ARGUMENT when no number of cells gives that size. */
pnResult pn_makeSceneFloors(pnScene *scene, uint32_t size, uint32_t planes, uint32_t *outCells);
/* Of a scene whose first body has the scene's own mesh and stands still, while all others have another and move. */
uint32_t pn_meshBesideFirst(const pnScene *scene, uint32_t body);
bool pn_isFirstStill(const pnScene *scene, uint32_t body);
/* The mesh of a body. */
pnSceneMesh pn_sceneMeshOf(const pnScene *scene, uint32_t body);

#endif
