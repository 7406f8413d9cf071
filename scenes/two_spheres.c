/* two_spheres.c: s1, two bumpy spheres that sink into each other.
 *
 * After the first experiment of [Larsson01], section 4: from no contact over a first touch to a deep overlap, with
 * every vertex moving in every frame. The paper reports the first hit at step 60 and 3 760 pairs at step 200 for 20
 * 480 triangles; this motion was tuned to come close (57 and 3 765), as the paper does not give its own formula.
 *
 * s1-mixed is the same with vertices and triangles numbered at random, as files have them that went through a few tools: what is
 * near in space is nowhere near in memory.
 *
 * stray is the same with one vertex of each body far away, as a simulation loses one, or somebody parks one out of sight; every ten frames it is
 * another one. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

/* moments of the whole motion, and the distance of the centres at its ends */
#define MOMENT_COUNT 200
#define FIRST_DISTANCE 2.86
#define LAST_DISTANCE 0.3
/* how far away a stray is, and for how many frames */
#define STRAY 1e6
#define STRAY_FRAMES 10

typedef struct Motion {
  pnSceneBumps bumps[2];
} Motion;

static pnResult createTwoSpheres(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  if (result != PN_OK) return result;
  Motion *motion = malloc(sizeof(Motion));
  if (motion == NULL) return PN_ERROR_MEMORY;
  for (uint32_t body = 0; body < 2; ++body) motion->bumps[body] = pn_makeSceneBumps(1 + body, 0.03, 3.0, 50.0, 8);
  scene->motion = motion;
  scene->bodyCount = 2;
  /* big bodies: every tenth moment, or the frames of one run would not fit into memory */
  pn_setSceneFrames(scene, MOMENT_COUNT, scene->triangleCount > 65536 ? 10 : 1);
  return PN_OK;
}

/* A random order of the numbers below `count`; null without memory. The numbers are the same every time. */
static uint32_t *mixNumbers(uint32_t count, uint64_t seed) {
  uint32_t *numbers = malloc(sizeof(uint32_t) * count);
  for (int i = 0; i < 20; ++i) pn_sceneRandom(&seed);
  for (uint32_t i = 0; numbers != NULL && i < count; ++i) {
    uint32_t other = (uint32_t)(pn_sceneRandom(&seed) * (i + 1));
    numbers[i] = i;
    if (other < i) numbers[i] = numbers[other], numbers[other] = i;
  }
  return numbers;
}

static pnResult createMixedSpheres(pnScene *scene) {
  pnResult result = createTwoSpheres(scene);
  if (result != PN_OK) return result;
  uint32_t *vertices = mixNumbers(scene->vertexCount, 11), *triangles = mixNumbers(scene->triangleCount, 12);
  pnSceneVec *points = malloc(sizeof(pnSceneVec) * scene->vertexCount);
  uint32_t *corners = malloc(3 * sizeof(uint32_t) * scene->triangleCount);
  bool good = vertices && triangles && points && corners;
  for (uint32_t i = 0; good && i < scene->vertexCount; ++i) points[vertices[i]] = scene->points[i];
  for (uint32_t i = 0; good && i < 3 * scene->triangleCount; ++i)
    corners[3 * triangles[i / 3] + i % 3] = vertices[scene->triangles[i]];
  if (good) {
    memcpy(scene->points, points, sizeof(pnSceneVec) * scene->vertexCount);
    memcpy(scene->triangles, corners, 3 * sizeof(uint32_t) * scene->triangleCount);
  }
  free(vertices);
  free(triangles);
  free(points);
  free(corners);
  return good ? PN_OK : PN_ERROR_MEMORY;
}

static void frameTwoSpheres(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  /* the last frame is the last moment, whatever the step */
  uint32_t step = scene->frameStep;
  double time = (double)((frame + 1) * step - 1);

  /* the centres draw near along a slanted line, the bodies turn slowly */
  double distance = FIRST_DISTANCE + (LAST_DISTANCE - FIRST_DISTANCE) * (time / (MOMENT_COUNT - 1));
  double side = body == 1 ? distance * 0.5 : -distance * 0.5;
  pnSceneVec centre = pn_vec(side * 0.96, side * 0.25, side * 0.12);
  pnSceneTurn turn = body == 1 ? pn_makeSceneTurn(0.3 + 0.002 * time, 0.5) : pn_makeSceneTurn(-0.001 * time, 0.1);

  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    pnSceneVec direction = scene->points[i];
    pnSceneVec p = pn_vecScale(direction, pn_sceneRadius(&motion->bumps[body], direction, time));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(pn_sceneTurn(&turn, p), centre));
  }
}

static void frameStray(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  uint64_t state = 1 + body + 2 * (frame / STRAY_FRAMES);
  for (int i = 0; i < 20; ++i) pn_sceneRandom(&state);
  size_t stray = (size_t)(pn_sceneRandom(&state) * scene->vertexCount);
  frameTwoSpheres(scene, frame, body, outVertices);
  pn_storeSceneVertex(outVertices + 3 * stray, pn_vec(body == 1 ? STRAY : -STRAY, STRAY * pn_sceneRandom(&state), 0.0));
}

const pnSceneKind pn_sceneTwoSpheres = {
    .name = "s1",
    .text = "two bumpy spheres sink into each other",
    .usualSize = 20480,
    .create = createTwoSpheres,
    .frame = frameTwoSpheres,
};

const pnSceneKind pn_sceneMixedSpheres = {
    .name = "s1-mixed",
    .text = "the same with vertices and triangles numbered at random",
    .usualSize = 20480,
    .create = createMixedSpheres,
    .frame = frameTwoSpheres,
};

const pnSceneKind pn_sceneStray = {
    .name = "stray",
    .text = "two bumpy spheres, of each of which a vertex is lost far away",
    .usualSize = 20480,
    .create = createTwoSpheres,
    .frame = frameStray,
};
