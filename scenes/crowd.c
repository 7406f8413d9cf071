/* crowd.c: s2, a dense crowd of bumpy spheres.
 *
 * 27 bodies start on a 3 x 3 x 3 grid and drift together. The centres push each other away softly and bounce off the
 * walls of a box, but nothing keeps the surfaces apart: the bodies overlap all the time, about 7 000 pairs a frame
 * at 5 120 triangles. The path of the centres does not depend on contacts, so it is computed once, for all frames,
 * when the scene is made. */
#include "scene.h"

#include <stdlib.h>

#define BODY_COUNT 27
#define FRAME_COUNT 200

typedef struct Motion {
  pnSceneBumps bumps[BODY_COUNT];
  double spin[BODY_COUNT][2]; /* radians a frame about z and x */
  pnSceneVec centres[FRAME_COUNT][BODY_COUNT];
} Motion;

/* Start places and speeds: a grid, everyone heading for the middle with some randomness. */
static void startCentres(Motion *motion, pnSceneVec speeds[BODY_COUNT]) {
  uint64_t state = 777;
  for (int i = 0; i < 10; ++i) pn_sceneRandom(&state);
  for (int i = 0; i < BODY_COUNT; ++i) {
    int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
    motion->centres[0][i] = pn_vec(x * 2.35, y * 2.35, z * 2.35);
    speeds[i].x = (pn_sceneRandom(&state) - 0.5) * 0.03 - x * 0.012;
    speeds[i].y = (pn_sceneRandom(&state) - 0.5) * 0.03 - y * 0.012;
    speeds[i].z = (pn_sceneRandom(&state) - 0.5) * 0.03 - z * 0.012;
    motion->spin[i][0] = pn_sceneRandom(&state) * 0.04 - 0.02;
    motion->spin[i][1] = pn_sceneRandom(&state) * 0.04 - 0.02;
  }
}

/* Turns a speed round when its body is beyond the wall and still going outward. */
static void bounceOffWall(double place, double *speed) {
  const double wall = 2.5;
  if ((place > wall && *speed > 0.0) || (place < -wall && *speed < 0.0)) *speed = -*speed;
}

static void moveCentres(const pnSceneVec *from, pnSceneVec *to, pnSceneVec speeds[BODY_COUNT]) {
  /* centres nearer than 2 push each other away like weak springs */
  for (int a = 0; a < BODY_COUNT; ++a) {
    for (int b = a + 1; b < BODY_COUNT; ++b) {
      pnSceneVec between = pn_vecSub(from[b], from[a]);
      double distance = sqrt(pn_vecDot(between, between));
      if (distance < 2.0) {
        pnSceneVec push = pn_vecScale(between, 0.004 * (2.0 - distance) / distance);
        speeds[a] = pn_vecSub(speeds[a], push);
        speeds[b] = pn_vecAdd(speeds[b], push);
      }
    }
  }
  /* a pull to the middle, the step itself, then the walls */
  for (int a = 0; a < BODY_COUNT; ++a) {
    speeds[a] = pn_vecSub(speeds[a], pn_vecScale(from[a], 0.0003));
    to[a] = pn_vecAdd(from[a], speeds[a]);
    bounceOffWall(to[a].x, &speeds[a].x);
    bounceOffWall(to[a].y, &speeds[a].y);
    bounceOffWall(to[a].z, &speeds[a].z);
  }
}

static pnResult createCrowd(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  if (result != PN_OK) return result;
  Motion *motion = malloc(sizeof(Motion));
  if (motion == NULL) return PN_ERROR_MEMORY;
  for (uint32_t body = 0; body < BODY_COUNT; ++body)
    motion->bumps[body] = pn_makeSceneBumps(100 + body, 0.02, 3.0, 18.0, 6);
  pnSceneVec speeds[BODY_COUNT];
  startCentres(motion, speeds);
  for (uint32_t frame = 1; frame < FRAME_COUNT; ++frame)
    moveCentres(motion->centres[frame - 1], motion->centres[frame], speeds);
  scene->motion = motion;
  scene->bodyCount = BODY_COUNT;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return PN_OK;
}

static void frameCrowd(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  uint32_t moment = frame * scene->frameStep;
  double time = (double)moment;
  pnSceneTurn turn = pn_makeSceneTurn(motion->spin[body][0] * time, motion->spin[body][1] * time + body);
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    pnSceneVec direction = scene->points[i];
    pnSceneVec p = pn_vecScale(direction, pn_sceneRadius(&motion->bumps[body], direction, time));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(pn_sceneTurn(&turn, p), motion->centres[moment][body]));
  }
}

const pnSceneKind pn_sceneCrowd = {
    .name = "s2",
    .text = "27 bumpy spheres in a dense crowd, overlapping all the time",
    .usualSize = 5120,
    .create = createCrowd,
    .frame = frameCrowd,
};
