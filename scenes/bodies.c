/* bodies.c: many small bodies: drifting through each other, idle, as leaves, in a heap, as fish in a tank, or on a terrain.
 *
 * Bodies are boxes of 12, icosahedra of 20 and spheres of 80 triangles, leaves of two, fish of 320. The size is the number of bodies, that of
 * `terrain` the triangles of the terrain. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_COUNT 40
#define IDLE_FRAMES 20
#define ROLLERS 500

typedef struct Mover {
  pnSceneVec place, speed;
  double turn[2], spin[2];
} Mover;

typedef struct Motion {
  double side; /* of the box they bounce in */
  Mover movers[];
} Motion;

/* ---------------------------------------------------------------- meshes */

static pnResult makeSphere(pnScene *scene, uint32_t triangleCount) {
  scene->triangleCount = triangleCount;
  return pn_makeSceneSphere(scene);
}

/* Box and icosahedron aside, the larger sphere as the scene's own. */
static pnResult makeThree(pnScene *scene) {
  pnResult result = pn_makeSceneBox(scene, 0.7);
  if (result == PN_OK) {
    pn_setSceneMeshAside(scene);
    result = makeSphere(scene, 20);
  }
  if (result == PN_OK) {
    pn_setSceneMeshAside(scene);
    result = makeSphere(scene, 80);
  }
  return result;
}

static uint32_t meshOfThree(const pnScene *scene, uint32_t body) {
  (void)scene;
  return body % 3;
}

/* ---------------------------------------------------------------- motion */

static Motion *makeMotion(uint32_t count, double side, double height, double speed) {
  Motion *motion = malloc(sizeof(Motion) + sizeof(Mover) * count);
  uint64_t state = 4711;
  for (uint32_t i = 0; i < 20; ++i) pn_sceneRandom(&state);
  for (uint32_t i = 0; motion != NULL && i < count; ++i) {
    /* one statement a number: their order is part of the scene */
    double n[10];
    for (int k = 0; k < 10; ++k) n[k] = pn_sceneRandom(&state);
    motion->side = side;
    motion->movers[i] = (Mover){pn_vec(n[0] * side, n[1] * side, n[2] * height),
                                pn_vec((n[3] - 0.5) * speed, (n[4] - 0.5) * speed, (n[5] - 0.5) * speed),
                                {6.2831853 * n[6], 6.2831853 * n[7]},
                                {0.2 * (n[8] - 0.5), 0.2 * (n[9] - 0.5)}};
  }
  return motion;
}

/* Back and forth between the walls at 0 and side. */
static double fold(double x, double side) {
  x = fmod(fabs(x), 2.0 * side);
  return x > side ? 2.0 * side - x : x;
}

static void place(const pnScene *scene, uint32_t body, const Mover *m, double time, pnSceneVec at, float *out) {
  pnSceneMesh mesh = pn_sceneMeshOf(scene, body);
  pnSceneTurn turn = pn_makeSceneTurn(m->turn[0] + m->spin[0] * time, m->turn[1] + m->spin[1] * time);
  for (uint32_t i = 0; i < mesh.vertexCount; ++i)
    pn_storeSceneVertex(out + 3 * (size_t)i, pn_vecAdd(pn_sceneTurn(&turn, mesh.points[i]), at));
}

/* ---------------------------------------------------------------- bodies that drift, bodies that do nothing */

static pnResult createMany(pnScene *scene, double side, uint32_t frameCount) {
  scene->bodyCount = scene->triangleCount;
  pn_setSceneFrames(scene, frameCount, 1);
  scene->motion = makeMotion(scene->bodyCount, side, side, 0.2);
  return scene->motion != NULL ? makeThree(scene) : PN_ERROR_MEMORY;
}

/* Room for each so that its box meets about nine others. */
static pnResult createBodies(pnScene *scene) {
  return createMany(scene, 2.3 * cbrt(scene->triangleCount), FRAME_COUNT);
}

/* Where a body that bounces off walls is at a time. */
static pnSceneVec placeAt(const Motion *motion, uint32_t body, double time) {
  const Mover *m = &motion->movers[body];
  pnSceneVec at = pn_vecAdd(m->place, pn_vecScale(m->speed, time));
  return pn_vec(fold(at.x, motion->side), fold(at.y, motion->side), fold(at.z, motion->side));
}

static void frameBodies(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  double time = (double)frame * scene->frameStep;
  place(scene, body, &motion->movers[body], time, placeAt(motion, body, time), outVertices);
}

const pnSceneKind pn_sceneBodies = {
    .name = "bodies",
    .text = "many small bodies drift and turn through each other",
    .usualSize = 10000,
    .create = createBodies,
    .frame = frameBodies,
    .meshOf = meshOfThree,
};

/* ---------------------------------------------------------------- leaves */

/* Two triangles each, bent a little along the midrib, and so much room that the box of each meets about nine others. */
static pnResult createLeaves(pnScene *scene) {
  static const pnSceneVec points[] = {{-1.0, 0.0, 0.0}, {0.0, -0.5, 0.2}, {1.0, 0.0, 0.0}, {0.0, 0.5, 0.2}};
  static const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
  double side = 1.35 * cbrt(scene->triangleCount);
  scene->bodyCount = scene->triangleCount;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  scene->motion = makeMotion(scene->bodyCount, side, side, 0.2);
  scene->vertexCount = 4;
  scene->triangleCount = 2;
  pnResult result = scene->motion != NULL ? pn_allocateSceneMesh(scene) : PN_ERROR_MEMORY;
  if (result != PN_OK) return result;
  memcpy(scene->points, points, sizeof points);
  memcpy(scene->triangles, triangles, sizeof triangles);
  return PN_OK;
}

const pnSceneKind pn_sceneLeaves = {
    .name = "leaves",
    .text = "many bodies of two triangles tumble through each other",
    .usualSize = 20000,
    .create = createLeaves,
    .frame = frameBodies,
};

static pnResult createIdle(pnScene *scene) {
  return createMany(scene, 1.0, IDLE_FRAMES);
}

/* On a grid with gaps: radii are at most 0.7 * sqrt(3) = 1.22, places 2.6 apart. */
static void frameIdle(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  (void)frame;
  const Motion *motion = scene->motion;
  uint32_t g = (uint32_t)ceil(cbrt(scene->bodyCount));
  pnSceneVec at = pn_vec(2.6 * (body % g), 2.6 * (body / g % g), 2.6 * (body / g / g));
  place(scene, body, &motion->movers[body], 0.0, at, outVertices);
}

static bool isStillIdle(const pnScene *scene, uint32_t body) {
  (void)scene;
  (void)body;
  return true;
}

const pnSceneKind pn_sceneIdle = {
    .name = "idle",
    .text = "many small bodies that neither touch nor move",
    .usualSize = 10000,
    .create = createIdle,
    .frame = frameIdle,
    .meshOf = meshOfThree,
    .isStill = isStillIdle,
};

/* ---------------------------------------------------------------- a heap */

/* Boxes in rows, layers and columns, a little larger than their places and each turned a little, so that all touch. */
static pnResult createHeap(pnScene *scene) {
  scene->bodyCount = scene->triangleCount;
  pn_setSceneFrames(scene, IDLE_FRAMES, 1);
  scene->motion = makeMotion(scene->bodyCount, 1.0, 1.0, 0.0);
  return scene->motion != NULL ? pn_makeSceneBox(scene, 0.505) : PN_ERROR_MEMORY;
}

/* One in a hundred is pushed; all others lie. */
static bool isStillHeap(const pnScene *scene, uint32_t body) {
  (void)scene;
  return body % 100 != 50;
}

static void frameHeap(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  const Mover *m = &motion->movers[body];
  uint32_t g = (uint32_t)ceil(cbrt(scene->bodyCount));
  double time = isStillHeap(scene, body) ? 0.0 : (double)frame * scene->frameStep;
  pnSceneTurn turn = pn_makeSceneTurn(0.05 * m->spin[0] + 0.1 * m->spin[0] * time, 0.05 * m->spin[1]);
  pnSceneVec at = pn_vec(body % g, body / g % g, body / g / g);
  at.x += 0.01 * (m->place.x - 0.5) + 0.1 * sin(0.3 * time);
  at.y += 0.01 * (m->place.y - 0.5);
  at.z += 0.01 * (m->place.z - 0.5);
  for (uint32_t i = 0; i < scene->vertexCount; ++i)
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(pn_sceneTurn(&turn, scene->points[i]), at));
}

const pnSceneKind pn_sceneHeap = {
    .name = "heap",
    .text = "boxes that lie beside and on each other, of which one in a hundred is pushed",
    .usualSize = 4000,
    .create = createHeap,
    .frame = frameHeap,
    .isStill = isStillHeap,
};

/* ---------------------------------------------------------------- fish */

/* Two long, and so much room for each that one in ten has another near. */
static pnResult createShoal(pnScene *scene) {
  double side = 5.0 * cbrt(scene->triangleCount);
  scene->bodyCount = scene->triangleCount;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  scene->motion = makeMotion(scene->bodyCount, side, side, 0.6);
  return scene->motion != NULL ? makeSphere(scene, 320) : PN_ERROR_MEMORY;
}

/* A wave goes through the fish, from a head that is nearly still to a tail that beats. */
static void frameShoal(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  const Mover *m = &motion->movers[body];
  double time = (double)frame * scene->frameStep;
  pnSceneTurn turn = pn_makeSceneTurn(m->turn[0] + m->spin[0] * time, m->turn[1] + m->spin[1] * time);
  pnSceneVec at = placeAt(motion, body, time);
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    pnSceneVec p = scene->points[i];
    double bent = 0.1 * (1.0 - p.x) * sin(2.0 * p.x + 0.5 * time + m->turn[0]);
    p = pn_sceneTurn(&turn, pn_vec(p.x, 0.25 * p.y + bent, 0.4 * p.z));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(p, at));
  }
}

const pnSceneKind pn_sceneShoal = {
    .name = "shoal",
    .text = "many fish swim and bend in a wide tank, and hardly two touch",
    .usualSize = 2000,
    .create = createShoal,
    .frame = frameShoal,
};

/* ---------------------------------------------------------------- terrain */

/* Hills over the square of side 200. */
#define TERRAIN 200.0

static double heightAt(double x, double y) {
  return 3.0 * sin(0.11 * x) * cos(0.07 * y) + 0.8 * sin(0.43 * x + 0.31 * y) + 0.15 * sin(2.9 * x) * sin(2.3 * y);
}

static pnResult createTerrain(pnScene *scene) {
  uint32_t size = scene->triangleCount, g;
  pnResult result = makeSphere(scene, 80);
  if (result == PN_OK) result = pn_makeSceneFloors(scene, size, 1, &g);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double x = TERRAIN * scene->points[i].x / g, y = TERRAIN * scene->points[i].y / g;
    scene->points[i] = pn_vec(x, y, heightAt(x, y));
  }
  scene->bodyCount = ROLLERS + 1;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  scene->motion = makeMotion(scene->bodyCount, TERRAIN, 0.0, 0.5);
  return scene->motion != NULL ? PN_OK : PN_ERROR_MEMORY;
}

static void frameTerrain(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  for (uint32_t i = 0; body == 0 && i < scene->vertexCount; ++i)
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, scene->points[i]);
  if (body == 0) return;
  const Motion *motion = scene->motion;
  const Mover *m = &motion->movers[body];
  double time = (double)frame * scene->frameStep;
  pnSceneVec at = pn_vecAdd(m->place, pn_vecScale(m->speed, time));
  at.x = fold(at.x, TERRAIN);
  at.y = fold(at.y, TERRAIN);
  at.z = heightAt(at.x, at.y) + 0.7; /* a third of each is in the ground */
  place(scene, body, m, time, at, outVertices);
}

const pnSceneKind pn_sceneTerrain = {
    .name = "terrain",
    .text = "a large terrain that stands still and 500 small bodies on it",
    .usualSize = 999698,
    .create = createTerrain,
    .frame = frameTerrain,
    .meshOf = pn_meshBesideFirst,
    .isStill = pn_isFirstStill,
};
