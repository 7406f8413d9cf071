/* scene.c: turns, random numbers and bumps: the small formulas that several scenes use. */
#include "scene.h"

#include <stdlib.h>

pnSceneTurn pn_makeSceneTurn(double aboutZ, double aboutX) {
  return (pnSceneTurn){cos(aboutZ), sin(aboutZ), cos(aboutX), sin(aboutX)};
}

pnSceneVec pn_sceneTurn(const pnSceneTurn *turn, pnSceneVec p) {
  pnSceneVec q = pn_vec(p.x * turn->cosZ - p.y * turn->sinZ, p.x * turn->sinZ + p.y * turn->cosZ, p.z);
  return pn_vec(q.x, q.y * turn->cosX - q.z * turn->sinX, q.y * turn->sinX + q.z * turn->cosX);
}

void pn_storeSceneVertex(float *out, pnSceneVec p) {
  out[0] = (float)p.x;
  out[1] = (float)p.y;
  out[2] = (float)p.z;
}

double pn_sceneRandom(uint64_t *state) {
  uint64_t s = *state;
  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  *state = s;
  /* the upper 53 bits, as many as a double holds */
  return (double)(s >> 11) * 0x1p-53;
}

pnSceneBumps pn_makeSceneBumps(uint64_t seed, double amplitude, double lowest, double highest, uint32_t count) {
  pnSceneBumps bumps = {.count = count};
  /* spread the seed over all bits (the golden ratio as a 64-bit number), then let the generator run warm */
  uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 12345;
  for (int i = 0; i < 20; ++i) pn_sceneRandom(&state);
  for (uint32_t i = 0; i < count; ++i) {
    pnSceneWave *wave = &bumps.waves[i];
    /* one statement a number: their order is part of the scene */
    double x = pn_sceneRandom(&state) * 2.0 - 1.0;
    double y = pn_sceneRandom(&state) * 2.0 - 1.0;
    double z = pn_sceneRandom(&state) * 2.0 - 1.0;
    double frequency = lowest + (highest - lowest) * i / (count > 1 ? count - 1 : 1);
    wave->k = pn_vecScale(pn_vecUnit(pn_vec(x, y, z)), frequency);
    wave->amplitude = amplitude * (0.6 + 0.4 * pn_sceneRandom(&state));
    wave->phase = pn_sceneRandom(&state) * 6.2831853;
    wave->speed = 0.02 + 0.05 * pn_sceneRandom(&state);
  }
  return bumps;
}

double pn_sceneRadius(const pnSceneBumps *bumps, pnSceneVec direction, double time) {
  double radius = 1.0;
  for (uint32_t i = 0; i < bumps->count; ++i) {
    const pnSceneWave *wave = &bumps->waves[i];
    radius += wave->amplitude * sin(pn_vecDot(wave->k, direction) + wave->phase + wave->speed * time);
  }
  return radius;
}

pnResult pn_allocateSceneMesh(pnScene *scene) {
  scene->points = malloc(sizeof(pnSceneVec) * scene->vertexCount);
  scene->triangles = malloc(sizeof(uint32_t) * 3 * scene->triangleCount);
  return scene->points != NULL && scene->triangles != NULL ? PN_OK : PN_ERROR_MEMORY;
}

pnResult pn_makeSceneBox(pnScene *scene, double half) {
  static const uint8_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  scene->vertexCount = 8;
  scene->triangleCount = 12;
  pnResult result = pn_allocateSceneMesh(scene);
  for (uint32_t i = 0; result == PN_OK && i < 8; ++i)
    scene->points[i] = pn_vec(i & 1 ? half : -half, i & 2 ? half : -half, i & 4 ? half : -half);
  for (uint32_t i = 0; result == PN_OK && i < 6; ++i) {
    uint32_t *t = scene->triangles + 6 * i;
    t[0] = quads[i][0], t[1] = quads[i][1], t[2] = quads[i][2];
    t[3] = quads[i][0], t[4] = quads[i][2], t[5] = quads[i][3];
  }
  return result;
}

void pn_setSceneMeshAside(pnScene *scene) {
  scene->others[scene->otherCount++] =
      (pnSceneMesh){scene->vertexCount, scene->triangleCount, scene->points, scene->triangles};
  scene->points = NULL;
  scene->triangles = NULL;
}

pnSceneMesh pn_sceneMeshOf(const pnScene *scene, uint32_t body) {
  uint32_t other = scene->kind->meshOf != NULL ? scene->kind->meshOf(scene, body) : 0;
  return other > 0 ? scene->others[other - 1]
                   : (pnSceneMesh){scene->vertexCount, scene->triangleCount, scene->points, scene->triangles};
}

void pn_frameOfReferences(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  float w[3];
  pnMatrix m;
  scene->kind->weights(scene, frame, body, w, &m);
  const float *r0 = scene->kind->reference(scene, body, 0), *r1 = scene->kind->reference(scene, body, 1);
  const float *r2 = scene->kind->reference(scene, body, 2);
  for (size_t i = 0; i < 3 * (size_t)scene->vertexCount; i += 3) {
    float v[3];
    for (int k = 0; k < 3; ++k) v[k] = w[0] * r0[i + k] + w[1] * r1[i + k] + w[2] * r2[i + k];
    for (int k = 0; k < 3; ++k) outVertices[i + k] = m.m[k][0] * v[0] + m.m[k][1] * v[1] + m.m[k][2] * v[2] + m.m[k][3];
  }
}

/* The triangles of g x g cells, two each, over (g + 1) x (g + 1) vertices row by row, the first of which is given. */
static void setGrid(uint32_t *outTriangles, uint32_t g, uint32_t first, pnSceneDiagonals diagonals) {
  for (uint32_t cell = 0, *t = outTriangles; cell < g * g; ++cell, t += 6) {
    uint32_t row = cell / g, column = cell % g, a = first + row * (g + 1) + column, b = a + 1, c = a + g + 1, d = c + 1;
    bool rises = diagonals == PN_DIAGONALS_BOARD ? ((row + column) & 1) != 0 : diagonals == PN_DIAGONALS_RISE;
    t[0] = a, t[1] = b, t[2] = rises ? d : c;
    t[3] = rises ? a : b, t[4] = d, t[5] = c;
  }
}

pnResult pn_makeSceneSheet(pnScene *scene, pnSceneDiagonals diagonals) {
  uint32_t g = (uint32_t)(sqrt(scene->triangleCount / 2.0) + 0.5);
  if (g == 0 || (uint64_t)2 * g * g != scene->triangleCount) return PN_ERROR_ARGUMENT;
  scene->vertexCount = (g + 1) * (g + 1);
  pnResult result = pn_allocateSceneMesh(scene);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < scene->vertexCount; ++i)
    scene->points[i] = pn_vec(i % (g + 1) / (double)g, i / (g + 1) / (double)g, 0.0);
  setGrid(scene->triangles, g, 0, diagonals);
  return PN_OK;
}

void pn_setSceneFrames(pnScene *scene, uint32_t momentCount, uint32_t usualStep) {
  if (scene->frameStep == 0) scene->frameStep = usualStep;
  scene->frameCount = (momentCount + scene->frameStep - 1) / scene->frameStep;
}

pnResult pn_makeSceneFloors(pnScene *scene, uint32_t size, uint32_t planes, uint32_t *outCells) {
  uint32_t g = *outCells = (uint32_t)(sqrt(size / (2.0 * planes)) + 0.5), points = (g + 1) * (g + 1);
  if (g == 0 || (uint64_t)2 * planes * g * g != size) return PN_ERROR_ARGUMENT;
  pn_setSceneMeshAside(scene);
  scene->vertexCount = planes * points;
  scene->triangleCount = size;
  pnResult result = pn_allocateSceneMesh(scene);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < scene->vertexCount; ++i)
    scene->points[i] = pn_vec(i % points % (g + 1), i % points / (g + 1), 0.0);
  for (uint32_t k = 0; k < planes; ++k)
    setGrid(scene->triangles + (size_t)6 * g * g * k, g, points * k, PN_DIAGONALS_RISE);
  return PN_OK;
}

uint32_t pn_meshBesideFirst(const pnScene *scene, uint32_t body) {
  (void)scene;
  return body > 0;
}

bool pn_isFirstStill(const pnScene *scene, uint32_t body) {
  (void)scene;
  return body == 0;
}
