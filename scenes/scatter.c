/* scatter.c: bodies that are not one smooth surface: tufts of hair, noisy blobs, patches that fly about.
 *
 * A tuft is N / 40 ribbons of 20 segments. Patches are flat strips of triangles without neighbours in other patches: in
 * `shuffle` nothing is where it was a frame ago, in `swarm` they go round, the inner ones faster, so that what was together
 * at the beginning is everywhere in the end; `decay` is the same for a thousand frames, and in `burst` a sphere of them flies apart, so that they become
 * small against the space between them. Two of these are there with one body that looks at itself. Slivers are needles, ten thousand times as long as wide, in
 * all directions: their boxes are large and say nothing. */
#include "scene.h"

#include <stdlib.h>

#define FRAME_COUNT 40
#define SWARM_FRAMES 80
#define DECAY_FRAMES 1000
#define TURN 6.2831853

/* ---------------------------------------------------------------- strips */

/* `count` strips of `segments` quadrangles each, numbered along: vertex 2 i + side of strip k is 2 (segments + 1) k + ... */
static pnResult makeStrips(pnScene *scene, uint32_t segments, uint32_t bodyCount, uint32_t frameCount) {
  uint32_t perStrip = 2 * segments, count = scene->triangleCount / perStrip;
  if (count == 0 || count * perStrip != scene->triangleCount) return PN_ERROR_ARGUMENT;
  scene->vertexCount = count * 2 * (segments + 1);
  pnResult result = pn_allocateSceneMesh(scene);
  if (result != PN_OK) return result;
  uint32_t *t = scene->triangles;
  for (uint32_t k = 0; k < count; ++k) {
    for (uint32_t i = 0; i < segments; ++i, t += 6) {
      uint32_t a = k * 2 * (segments + 1) + 2 * i;
      t[0] = a, t[1] = a + 1, t[2] = a + 2;
      t[3] = a + 1, t[4] = a + 3, t[5] = a + 2;
    }
  }
  for (uint32_t i = 0; i < scene->vertexCount; ++i) scene->points[i] = pn_vec(0, 0, 0);
  scene->bodyCount = bodyCount;
  scene->self = bodyCount == 1;
  pn_setSceneFrames(scene, frameCount, 1);
  return PN_OK;
}

/* Numbers of a strip that are the same whenever they are asked for. */
static void drawNumbers(uint32_t strip, uint32_t body, uint32_t frame, double *out, uint32_t count) {
  uint64_t state = (1 + strip + ((uint64_t)body << 24) + ((uint64_t)frame << 32)) * UINT64_C(0x9E3779B97F4A7C15);
  for (uint32_t i = 0; i < 8; ++i) pn_sceneRandom(&state);
  for (uint32_t i = 0; i < count; ++i) out[i] = pn_sceneRandom(&state);
}

/* ---------------------------------------------------------------- hair */

#define SEGMENTS 20

static void frameHair(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  double time = (double)frame * scene->frameStep, u = time / (FRAME_COUNT - 1.0);
  uint32_t count = scene->vertexCount / (2 * (SEGMENTS + 1));
  float *out = outVertices;
  for (uint32_t k = 0; k < count; ++k) {
    double n[6];
    drawNumbers(k, body, 0, n, 6);
    /* rooted in a square, hanging along z, waving; the second tuft hangs the other way and swings through the first */
    double x = 2.0 * n[0] - 1.0, y = 2.0 * n[1] - 1.0, phase = TURN * n[2], lean = n[3] - 0.5, side = TURN * n[4];
    for (uint32_t i = 0; i <= SEGMENTS; ++i) {
      double s = i / (double)SEGMENTS, wave = 0.12 * s * sin(6.0 * s + phase + 3.0 * u);
      pnSceneVec p = pn_vec(x + wave + 0.5 * lean * s * s, y + 0.10 * s * cos(7.0 * s + phase - 2.0 * u), -2.0 * s);
      if (body == 1) p = pn_vec(p.x + 0.4 * (1.0 - u), p.y + 0.2 * s, -2.2 - p.z);
      pnSceneVec width = pn_vec(0.006 * cos(side + 2.0 * s), 0.006 * sin(side + 2.0 * s), 0.0);
      pn_storeSceneVertex(out, pn_vecAdd(p, width));
      pn_storeSceneVertex(out + 3, pn_vecSub(p, width));
      out += 6;
    }
  }
}

static pnResult createHair(pnScene *scene) {
  return makeStrips(scene, SEGMENTS, 2, FRAME_COUNT);
}
static pnResult createHairSelf(pnScene *scene) {
  return makeStrips(scene, SEGMENTS, 1, FRAME_COUNT);
}

const pnSceneKind pn_sceneHair = {
    .name = "hair",
    .text = "two tufts of long thin strands comb through each other",
    .usualSize = 40000,
    .create = createHair,
    .frame = frameHair,
};
const pnSceneKind pn_sceneHairSelf = {
    .name = "hair-self",
    .text = "a tuft of long thin strands with itself",
    .usualSize = 40000,
    .create = createHairSelf,
    .frame = frameHair,
};

/* ---------------------------------------------------------------- patches */

#define PATCH 16 /* quadrangles of a patch of `shuffle` */
#define CHIP 4   /* of `swarm` */

/* A strip around a place, turned. */
static float *placeStrip(float *out, uint32_t segments, double size, pnSceneVec at, const double *turns) {
  pnSceneTurn turn = pn_makeSceneTurn(TURN * turns[0], TURN * turns[1]);
  for (uint32_t i = 0; i < 2 * (segments + 1); ++i) {
    pnSceneVec p = pn_vec(size * (i / 2 - 0.5 * segments), i % 2 ? size : -size, 0.2 * size * sin(i));
    pn_storeSceneVertex(out, pn_vecAdd(pn_sceneTurn(&turn, p), at));
    out += 3;
  }
  return out;
}

static pnResult createShuffle(pnScene *scene) {
  return makeStrips(scene, PATCH, 2, FRAME_COUNT);
}

static void frameShuffle(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  uint32_t count = scene->vertexCount / (2 * (PATCH + 1));
  for (uint32_t k = 0; k < count; ++k) {
    double n[5];
    drawNumbers(k, body, frame * scene->frameStep + 1, n, 5);
    outVertices = placeStrip(outVertices, PATCH, 0.01, pn_vec(n[0], n[1], n[2]), n + 3);
  }
}

const pnSceneKind pn_sceneShuffle = {
    .name = "shuffle",
    .text = "patches that are somewhere else in every frame",
    .usualSize = 32000,
    .create = createShuffle,
    .frame = frameShuffle,
};

static pnResult createShuffleSelf(pnScene *scene) {
  return makeStrips(scene, PATCH, 1, FRAME_COUNT);
}

const pnSceneKind pn_sceneShuffleSelf = {
    .name = "shuffle-self",
    .text = "patches that are somewhere else in every frame, with each other",
    .usualSize = 36000,
    .create = createShuffleSelf,
    .frame = frameShuffle,
};

static pnResult createSwarm(pnScene *scene) {
  return makeStrips(scene, CHIP, 2, SWARM_FRAMES);
}

static void placeSwarm(const pnScene *scene, double time, uint32_t body, float *outVertices) {
  uint32_t count = scene->vertexCount / (2 * (CHIP + 1));
  for (uint32_t k = 0; k < count; ++k) {
    double n[5];
    drawNumbers(k, body, 0, n, 5);
    double radius = sqrt(0.02 + 0.98 * n[0]), angle = TURN * n[1] + (body ? -0.04 : 0.05) * time / radius;
    pnSceneVec at = pn_vec(radius * cos(angle), radius * sin(angle), 0.4 * n[2] + 0.1 * sin(3.0 * angle));
    outVertices = placeStrip(outVertices, CHIP, 0.01, at, n + 3);
  }
}

static void frameSwarm(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  placeSwarm(scene, (double)frame * scene->frameStep, body, outVertices);
}

const pnSceneKind pn_sceneSwarm = {
    .name = "swarm",
    .text = "two swarms of chips in a vortex, the inner ones faster",
    .usualSize = 16000,
    .create = createSwarm,
    .frame = frameSwarm,
};

static pnResult createDecay(pnScene *scene) {
  return makeStrips(scene, CHIP, 2, DECAY_FRAMES);
}

/* A quarter as fast as `swarm`: coherent from frame to frame, and in the end nothing is beside what it was beside. */
static void frameDecay(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  placeSwarm(scene, 0.25 * frame * scene->frameStep, body, outVertices);
}

const pnSceneKind pn_sceneDecay = {
    .name = "decay",
    .text = "the same for a thousand frames: trees of the beginning are worth nothing in the end",
    .usualSize = 8000,
    .create = createDecay,
    .frame = frameDecay,
};

/* ---------------------------------------------------------------- a burst */

#define BURST_FRAMES 100
#define BURST_START 10
#define GOLDEN_ANGLE 2.3999632

static pnResult createBurst(pnScene *scene) {
  return makeStrips(scene, 1, 2, BURST_FRAMES);
}

/* Where chip k of a sphere of them is: one behind the other on a spiral, and from the tenth frame on away, some faster than others. */
static pnSceneVec placeShard(uint32_t k, uint32_t count, double time, double *turns) {
  double n[6], z = 1.0 - 2.0 * (k + 0.5) / count, ring = sqrt(1.0 - z * z), angle = GOLDEN_ANGLE * k;
  drawNumbers(k, 0, 0, n, 6);
  double way = time > BURST_START ? time - BURST_START : 0.0, radius = 1.0 + way * (0.01 + 0.04 * n[0]);
  pnSceneVec out = pn_vec(ring * cos(angle), ring * sin(angle), z);
  pnSceneVec drift = pn_vec(n[1] - 0.5, n[2] - 0.5, n[3] - 0.5);
  turns[0] = n[4], turns[1] = n[5];
  return pn_vecAdd(pn_vecScale(out, radius), pn_vecScale(drift, 0.02 * way));
}

/* And of a wall of them, six wide, that waves. */
static pnSceneVec placeTile(uint32_t k, uint32_t count, double time, double *turns) {
  uint32_t side = (uint32_t)ceil(sqrt(count));
  double x = 6.0 * (k % side + 0.5) / side - 3.0, y = 6.0 * (k / side + 0.5) / side - 3.0;
  turns[0] = turns[1] = 0.0;
  return pn_vec(x, y, 0.5 + 0.3 * sin(3.0 * x + 0.1 * time));
}

static void frameBurst(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  double time = (double)frame * scene->frameStep;
  uint32_t count = scene->vertexCount / 4;
  double size = 2.0 / sqrt(count);
  for (uint32_t k = 0; k < count; ++k) {
    double turns[2];
    pnSceneVec at = body ? placeTile(k, count, time, turns) : placeShard(k, count, time, turns);
    outVertices = placeStrip(outVertices, 1, size, at, turns);
  }
}

const pnSceneKind pn_sceneBurst = {
    .name = "burst",
    .text = "a sphere bursts into chips that fly through a wall of them",
    .usualSize = 20000,
    .create = createBurst,
    .frame = frameBurst,
};

static pnResult createBurstSelf(pnScene *scene) {
  return makeStrips(scene, 1, 1, BURST_FRAMES);
}

const pnSceneKind pn_sceneBurstSelf = {
    .name = "burst-self",
    .text = "a sphere bursts into chips that hit each other",
    .usualSize = 20000,
    .create = createBurstSelf,
    .frame = frameBurst,
};

/* ---------------------------------------------------------------- slivers */

static pnResult createSlivers(pnScene *scene) {
  return makeStrips(scene, 1, 2, FRAME_COUNT);
}

/* Needles in a ball, half its radius long; the second ball comes through the first, and all turn slowly. */
static void frameSlivers(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  double time = (double)frame * scene->frameStep, come = body ? 1.0 - time / FRAME_COUNT : 0.0;
  for (uint32_t k = 0; k < scene->vertexCount / 4; ++k) {
    double n[6];
    drawNumbers(k, body, 0, n, 6);
    pnSceneTurn turn = pn_makeSceneTurn(TURN * n[3] + 0.01 * time, TURN * n[4]);
    pnSceneVec at = pn_vec(2.0 * n[0] - 1.0 + come, 2.0 * n[1] - 1.0, 2.0 * n[2] - 1.0);
    for (uint32_t i = 0; i < 4; ++i) {
      pnSceneVec corner = pn_vec(i < 2 ? -0.25 : 0.25, i % 2 ? 0.000025 : -0.000025, 0.0);
      pn_storeSceneVertex(outVertices, pn_vecAdd(pn_sceneTurn(&turn, corner), at));
      outVertices += 3;
    }
  }
}

const pnSceneKind pn_sceneSlivers = {
    .name = "slivers",
    .text = "two clouds of needles, ten thousand times as long as wide",
    .usualSize = 8000,
    .create = createSlivers,
    .frame = frameSlivers,
};

/* ---------------------------------------------------------------- blobs */

/* From so many triangles on, a frame takes the exact truth seconds: every tenth will do. */
#define LARGE_BLOB 32768u

static pnResult createBlobs(pnScene *scene) {
  pnResult result = pn_makeSceneSphere(scene);
  scene->bodyCount = 2;
  pn_setSceneFrames(scene, FRAME_COUNT, scene->triangleCount >= LARGE_BLOB ? 10 : 1);
  return result;
}

/* Spikes of a random height at every vertex, breathing, on two spheres that nearly are one: every spike of one is among
 * those of the other. */
static void frameBlobs(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  double time = (double)frame * scene->frameStep;
  pnSceneVec centre = pn_vec(body ? 0.1 + 0.001 * time : 0.0, 0.0, 0.0);
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    double n[2];
    drawNumbers(i, body, 0, n, 2);
    double radius = 1.0 + 0.8 * (n[0] - 0.5) + 0.05 * sin(TURN * n[1] + 0.1 * time);
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, pn_vecAdd(pn_vecScale(scene->points[i], radius), centre));
  }
}

const pnSceneKind pn_sceneBlobs = {
    .name = "blobs",
    .text = "two noisy spheres deep in each other",
    .usualSize = 20480,
    .create = createBlobs,
    .frame = frameBlobs,
};
