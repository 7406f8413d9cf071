/* kept.c: e3, bodies that are kept apart by a simple response to the contacts found.
 *
 * After the third experiment of [Larsson01], section 4: 27 translating, rotating and deforming bodies hit each other
 * frequently in a rather dense environment, and a simple response prevents them from passing through each other; first
 * bumpy spheres, then bodies with several moving arms. The paper says no more, so the response is ours:
 *
 *   two bodies that touch and approach exchange their speeds along the line of the centres, as equal balls do;
 *   two bodies that touch are moved apart along it by a fixed small way, so that growing bumps cannot lock them;
 *   a weak pull to the middle keeps the cluster dense, a speed limit keeps one frame's way small against a body.
 *
 * The state of every frame is kept, so a run can be replayed without finding the contacts again. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#define BODY_COUNT 27
#define FRAME_COUNT 200
#define ARM_COUNT 6

/* per frame: how hard the middle pulls, the greatest speed, and the way two touching bodies are moved apart (each
 * half of it). The way apart is less than the speed limit, so a contact ends by bouncing and not by jumping. */
#define PULL 0.0006
#define SPEED_LIMIT 0.05
#define PUSH 0.01

/* An arm grows out of the core along `axis` and bends to and fro towards `side`. */
typedef struct Arm {
  pnSceneVec axis, side;
  double speed, phase;
} Arm;

typedef struct Motion {
  pnSceneBumps bumps[BODY_COUNT];
  Arm arms[BODY_COUNT][ARM_COUNT];
  double spin[BODY_COUNT][2];
  pnSceneVec centres[FRAME_COUNT][BODY_COUNT];
  pnSceneVec speeds[FRAME_COUNT][BODY_COUNT];
} Motion;

/* ---------------------------------------------------------------- start */

/* Six arms about the axes of the cube, tilted at random but never so far that two grow together. */
static void startArms(Arm arms[ARM_COUNT], uint64_t *state) {
  for (int i = 0; i < ARM_COUNT; ++i) {
    double sign = i % 2 == 0 ? 1.0 : -1.0;
    pnSceneVec axis = pn_vec(i / 2 == 0 ? sign : 0.0, i / 2 == 1 ? sign : 0.0, i / 2 == 2 ? sign : 0.0);
    axis.x += 0.3 * (pn_sceneRandom(state) - 0.5);
    axis.y += 0.3 * (pn_sceneRandom(state) - 0.5);
    axis.z += 0.3 * (pn_sceneRandom(state) - 0.5);
    arms[i].axis = pn_vecUnit(axis);
    /* any direction not along the axis, made perpendicular to it */
    pnSceneVec other = pn_vec(axis.y, axis.z, -axis.x);
    pnSceneVec along = pn_vecScale(arms[i].axis, pn_vecDot(other, arms[i].axis));
    arms[i].side = pn_vecUnit(pn_vecSub(other, along));
    arms[i].speed = 0.04 + 0.06 * pn_sceneRandom(state);
    arms[i].phase = 6.2831853 * pn_sceneRandom(state);
  }
}

static void startBodies(Motion *motion, double spacing) {
  uint64_t state = 4242;
  for (int i = 0; i < 10; ++i) pn_sceneRandom(&state);
  for (int i = 0; i < BODY_COUNT; ++i) {
    motion->bumps[i] = pn_makeSceneBumps(300 + (uint64_t)i, 0.02, 3.0, 18.0, 6);
    startArms(motion->arms[i], &state);
    motion->centres[0][i] = pn_vec((i % 3 - 1) * spacing, (i / 3 % 3 - 1) * spacing, (i / 9 - 1) * spacing);
    motion->speeds[0][i].x = 0.06 * (pn_sceneRandom(&state) - 0.5);
    motion->speeds[0][i].y = 0.06 * (pn_sceneRandom(&state) - 0.5);
    motion->speeds[0][i].z = 0.06 * (pn_sceneRandom(&state) - 0.5);
    motion->spin[i][0] = 0.04 * (pn_sceneRandom(&state) - 0.5);
    motion->spin[i][1] = 0.04 * (pn_sceneRandom(&state) - 0.5);
  }
}

static pnResult createKept(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  if (result != PN_OK) return result;
  Motion *motion = malloc(sizeof(Motion));
  if (motion == NULL) return PN_ERROR_MEMORY;
  /* so far apart that nothing touches in the first frame: spheres reach 1.12, arms 1.37 from their centres */
  startBodies(motion, scene->kind == &pn_sceneKeptArms ? 2.8 : 2.3);
  scene->motion = motion;
  scene->bodyCount = BODY_COUNT;
  scene->frameStep = 1;
  scene->frameCount = FRAME_COUNT;
  return PN_OK;
}

/* ---------------------------------------------------------------- response */

/* The direction from body a to body b; x when they have one centre. */
static pnSceneVec lineOfCentres(const pnSceneVec *centres, uint32_t a, uint32_t b) {
  pnSceneVec between = pn_vecSub(centres[b], centres[a]);
  return pn_vecDot(between, between) > 0.0 ? pn_vecUnit(between) : pn_vec(1.0, 0.0, 0.0);
}

/* Bounces two touching bodies off each other and moves them apart. */
static void respond(const pnSceneVec *from, pnSceneVec *to, pnSceneVec *speeds, uint32_t a, uint32_t b) {
  pnSceneVec line = lineOfCentres(from, a, b);
  to[a] = pn_vecSub(to[a], pn_vecScale(line, 0.5 * PUSH));
  to[b] = pn_vecAdd(to[b], pn_vecScale(line, 0.5 * PUSH));
  double approach = pn_vecDot(pn_vecSub(speeds[a], speeds[b]), line);
  if (approach > 0.0) {
    speeds[a] = pn_vecSub(speeds[a], pn_vecScale(line, approach));
    speeds[b] = pn_vecAdd(speeds[b], pn_vecScale(line, approach));
  }
}

static void stepKept(pnScene *scene, const pnSceneContact *contacts, uint32_t contactCount) {
  Motion *motion = scene->motion;
  const pnSceneVec *from = motion->centres[scene->readyCount - 1];
  pnSceneVec *to = motion->centres[scene->readyCount], *speeds = motion->speeds[scene->readyCount];
  memcpy(to, from, sizeof motion->centres[0]);
  memcpy(speeds, motion->speeds[scene->readyCount - 1], sizeof motion->speeds[0]);

  /* through a table, so that the order in which contacts come makes no difference */
  bool touches[BODY_COUNT][BODY_COUNT] = {{false}};
  for (uint32_t i = 0; i < contactCount; ++i) {
    uint32_t a = contacts[i].bodyA, b = contacts[i].bodyB;
    touches[a < b ? a : b][a < b ? b : a] = true;
  }
  for (uint32_t a = 0; a < BODY_COUNT; ++a) {
    for (uint32_t b = a + 1; b < BODY_COUNT; ++b)
      if (touches[a][b]) respond(from, to, speeds, a, b);
  }

  /* the pull, the limit, the step */
  for (uint32_t i = 0; i < BODY_COUNT; ++i) {
    pnSceneVec speed = pn_vecSub(speeds[i], pn_vecScale(from[i], PULL));
    double size = sqrt(pn_vecDot(speed, speed));
    speeds[i] = size > SPEED_LIMIT ? pn_vecScale(speed, SPEED_LIMIT / size) : speed;
    to[i] = pn_vecAdd(to[i], speeds[i]);
  }
}

/* ---------------------------------------------------------------- shape */

/* A small core with arms: directions within about 35 degrees of an arm's axis are drawn out along it, most at the
 * axis, and bent sideways the more the further out. */
static pnSceneVec armPoint(const Arm arms[ARM_COUNT], pnSceneVec d, double time) {
  const double core = 0.5, length = 0.8, edge = 0.82;
  pnSceneVec p = pn_vecScale(d, core);
  for (int i = 0; i < ARM_COUNT; ++i) {
    double near = (pn_vecDot(d, arms[i].axis) - edge) / (1.0 - edge);
    if (near > 0.0) {
      double out = near * near * (3.0 - 2.0 * near);
      double bend = 0.5 * sin(arms[i].speed * time + arms[i].phase);
      p = pn_vecAdd(p, pn_vecScale(arms[i].axis, length * out));
      p = pn_vecAdd(p, pn_vecScale(arms[i].side, length * bend * out * out));
    }
  }
  return p;
}

static void frameKept(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  const Motion *motion = scene->motion;
  double time = (double)frame;
  bool hasArms = scene->kind == &pn_sceneKeptArms;
  pnSceneTurn turn = pn_makeSceneTurn(motion->spin[body][0] * time, motion->spin[body][1] * time + body);
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    pnSceneVec d = scene->points[i];
    pnSceneVec p =
        hasArms ? armPoint(motion->arms[body], d, time) : pn_vecScale(d, pn_sceneRadius(&motion->bumps[body], d, time));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(pn_sceneTurn(&turn, p), motion->centres[frame][body]));
  }
}

const pnSceneKind pn_sceneKeptSpheres = {
    .name = "e3-spheres",
    .text = "27 bumpy spheres in a dense cluster, kept apart by a response to their contacts",
    .usualSize = 5120,
    .create = createKept,
    .frame = frameKept,
    .step = stepKept,
};

const pnSceneKind pn_sceneKeptArms = {
    .name = "e3-arms",
    .text = "27 bodies with six moving arms each, kept apart by a response to their contacts",
    .usualSize = 5120,
    .create = createKept,
    .frame = frameKept,
    .step = stepKept,
};
