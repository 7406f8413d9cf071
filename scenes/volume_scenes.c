/* volume_scenes.c: bodies with branches and folds by formula, and the rain of particles. */
#include "volume_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- bodies */

/* A ball with arms: the radius in direction d is 1 + height * sum of exp(sharp * (d.arm - 1)). Then twisted about y by
 * `twistY` radians a length, and about x by `twistX`. */
typedef struct Recipe {
  const char *name, *paperName;
  uint32_t cells;
  uint32_t armCount;
  double height, sharp, twistY, twistX;
} Recipe;

static const Recipe recipes[PN_VOLUME_SHAPE_COUNT] = {
    {"knot", "Knot", 0, 0, 0, 0, 0, 0},
    {"hare", "Rabbit", 65, 9, 1.6, 14, 1.1, 0.7},
    {"lizard", "Reptile", 96, 14, 2.0, 26, 0.9, 0.5},
    {"saint", "Santa", 112, 12, 1.4, 18, 0.8, 0.6},
    {"wyrm", "Dragon", 208, 18, 2.0, 32, 0.9, 0.6},
};

const char *pnVolumeShape_Name(pnVolumeShape shape) {
  return recipes[shape].name;
}

const char *pnVolumeShape_PaperName(pnVolumeShape shape) {
  return recipes[shape].paperName;
}

/* Directions spread evenly over the sphere, along a spiral. */
static void armDirection(uint32_t i, uint32_t count, double out[3]) {
  double z = 1 - (2 * i + 1.0) / count, r = sqrt(1 - z * z), angle = 2.399963229728653 * i; // the golden angle
  out[0] = r * cos(angle), out[1] = r * sin(angle), out[2] = z;
}

/* Turns the coordinates i and j by `angle`. */
static void turn(double p[3], int i, int j, double angle) {
  double c = cos(angle), s = sin(angle), a = p[i], b = p[j];
  p[i] = c * a - s * b;
  p[j] = s * a + c * b;
}

static void shapePoint(const Recipe *recipe, double p[3]) {
  // onto the ball, out along the arms
  double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), radius = 1;
  for (int k = 0; k < 3; ++k) p[k] /= length;
  for (uint32_t i = 0; i < recipe->armCount; ++i) {
    double arm[3];
    armDirection(i, recipe->armCount, arm);
    radius += recipe->height * exp(recipe->sharp * (p[0] * arm[0] + p[1] * arm[1] + p[2] * arm[2] - 1));
  }
  for (int k = 0; k < 3; ++k) p[k] *= radius;
  turn(p, 2, 0, recipe->twistY * p[1]);
  turn(p, 1, 2, recipe->twistX * p[0]);
}

/* Centres the points and makes their longest side 2. */
static void normalise(double *points, uint32_t count) {
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, side = 0;
  for (uint32_t i = 0; i < 3 * count; ++i) {
    lo[i % 3] = fmin(lo[i % 3], points[i]);
    hi[i % 3] = fmax(hi[i % 3], points[i]);
  }
  for (int k = 0; k < 3; ++k) side = fmax(side, hi[k] - lo[k]);
  for (uint32_t i = 0; i < 3 * count; ++i) points[i] = (points[i] - 0.5 * (lo[i % 3] + hi[i % 3])) * (2 / side);
}

/* A new mesh with other vertices. */
static pnResult makeMoved(const pnMesh *mesh, const double *points, const char *name, pnMesh **outMesh) {
  uint32_t count = pnMesh_GetVertexCount(mesh);
  float *vertices = malloc(sizeof(float) * 3 * (size_t)count);
  if (!vertices) return PN_ERROR_MEMORY;
  for (uint32_t i = 0; i < 3 * count; ++i) vertices[i] = (float)points[i];
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = count;
  def.triangles = pnMesh_GetTriangles(mesh);
  def.triangleCount = pnMesh_GetTriangleCount(mesh);
  def.vertexWeld = pnMesh_GetWeld(mesh);
  def.name = name;
  pnResult result = pnCreateMesh(&def, outMesh);
  free(vertices);
  return result;
}

pnResult pnMakeVolumeShape(pnVolumeShape shape, uint32_t cells, pnMesh **outMesh) {
  *outMesh = NULL;
  const Recipe *recipe = &recipes[shape];
  pnMesh *base = NULL;
  pnResult result = shape == PN_VOLUME_KNOT ? pnMakeKnot(2, 3, 1.0f, 0.25f, 500, 12, &base)
                                            : pnMakeBox((pnVec3){1, 1, 1}, cells ? cells : recipe->cells, &base);
  if (result != PN_OK) return result;
  uint32_t count = pnMesh_GetVertexCount(base);
  double *points = malloc(sizeof(double) * 3 * (size_t)count);
  if (points) {
    for (uint32_t i = 0; i < 3 * count; ++i) points[i] = (double)pnMesh_GetVertices(base)[i];
    for (uint32_t v = 0; v < count && shape != PN_VOLUME_KNOT; ++v) shapePoint(recipe, points + 3 * (size_t)v);
    normalise(points, count);
    result = makeMoved(base, points, recipe->name, outMesh);
  } else {
    result = PN_ERROR_MEMORY;
  }
  free(points);
  pnDestroyMesh(base);
  return result;
}

/* ---------------------------------------------------------------- pairs */

const pnVolumePair pn_volumePairs[PN_VOLUME_PAIR_COUNT] = {
    {PN_VOLUME_KNOT, PN_VOLUME_HARE, false, {1.45f, 0.2f, 0.1f}},
    {PN_VOLUME_KNOT, PN_VOLUME_HARE, true, {0.55f, 0.1f, 0.1f}},
    {PN_VOLUME_HARE, PN_VOLUME_LIZARD, false, {1.3f, 0.25f, 0.1f}},
    {PN_VOLUME_HARE, PN_VOLUME_LIZARD, true, {0.8f, 0.2f, 0.1f}},
    {PN_VOLUME_LIZARD, PN_VOLUME_SAINT, false, {1.45f, 0.2f, 0.3f}},
    {PN_VOLUME_LIZARD, PN_VOLUME_SAINT, true, {0.5f, 0.2f, 0.1f}},
    {PN_VOLUME_KNOT, PN_VOLUME_WYRM, true, {0.3f, 0.15f, 0.1f}},
};

/* ---------------------------------------------------------------- particles */

#define STEP 0.01      /* seconds */
#define GRAVITY (-4.0) /* lengths a second, a second */

/* xorshift64, so that the rain is the same on every machine; in [0, 1) */
static float nextRandom(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (float)(*state >> 40) / 16777216.0f;
}

/* Somewhere above the body, at rest. `spread`: how high above. */
static void dropParticle(pnParticles *particles, uint32_t i, float spread) {
  float *p = particles->positions + 3 * (size_t)i, *v = particles->velocities + 3 * (size_t)i;
  p[0] = 2.4f * nextRandom(&particles->random) - 1.2f;
  p[1] = 1.1f + spread * nextRandom(&particles->random);
  p[2] = 2.4f * nextRandom(&particles->random) - 1.2f;
  v[0] = v[1] = v[2] = 0;
  memcpy(particles->before + 3 * (size_t)i, p, 3 * sizeof(float));
}

/* The body waves and turns to and fro. */
static void deformBody(pnParticles *particles) {
  const float *rest = pnMesh_GetVertices(particles->mesh);
  float t = (float)particles->time, sway = 0.4f * sinf(2 * t);
  for (uint32_t v = 0; v < particles->vertexCount; ++v) {
    const float *p = rest + 3 * (size_t)v;
    float *q = particles->vertices + 3 * (size_t)v;
    float c = cosf(sway * p[1]), s = sinf(sway * p[1]);
    q[0] = c * p[0] - s * p[2] + 0.1f * sinf(3 * p[1] + 4 * t);
    q[1] = p[1] * (1 + 0.08f * sinf(5 * t));
    q[2] = s * p[0] + c * p[2];
  }
}

pnResult pnCreateParticles(uint32_t count, pnParticles **outParticles) {
  *outParticles = NULL;
  pnParticles *particles = calloc(1, sizeof *particles);
  if (!particles) return PN_ERROR_MEMORY;
  // 12 * 29 * 29 = 10 092 faces
  pnResult result = pnMakeVolumeShape(PN_VOLUME_SAINT, 29, &particles->mesh);
  if (result == PN_OK) {
    size_t bytes = sizeof(float) * 3 * (size_t)count;
    particles->count = count;
    particles->random = 0x9e3779b97f4a7c15u;
    particles->vertexCount = pnMesh_GetVertexCount(particles->mesh);
    particles->vertices = calloc(3 * (size_t)particles->vertexCount + 1, sizeof(float));
    particles->positions = malloc(bytes + 1);
    particles->velocities = malloc(bytes + 1);
    particles->before = malloc(bytes + 1);
    if (!particles->vertices || !particles->positions || !particles->velocities || !particles->before)
      result = PN_ERROR_MEMORY;
  }
  if (result != PN_OK) {
    pnDestroyParticles(particles);
    return result;
  }
  for (uint32_t i = 0; i < count; ++i) dropParticle(particles, i, 3);
  deformBody(particles);
  *outParticles = particles;
  return PN_OK;
}

void pnDestroyParticles(pnParticles *particles) {
  if (!particles) return;
  pnDestroyMesh(particles->mesh);
  free(particles->vertices);
  free(particles->positions);
  free(particles->velocities);
  free(particles->before);
  free(particles);
}

void pnParticles_Move(pnParticles *particles) {
  particles->time += STEP;
  deformBody(particles);
  for (uint32_t i = 0; i < particles->count; ++i) {
    float *p = particles->positions + 3 * (size_t)i, *v = particles->velocities + 3 * (size_t)i;
    memcpy(particles->before + 3 * (size_t)i, p, 3 * sizeof(float));
    v[1] += (float)(GRAVITY * STEP);
    for (int k = 0; k < 3; ++k) p[k] += (float)STEP * v[k];
    if (p[1] < -1.6f) dropParticle(particles, i, 0.5f);
  }
}

void pnParticles_Respond(pnParticles *particles, const uint8_t *inside) {
  for (uint32_t i = 0; i < particles->count; ++i) {
    if (!inside[i]) continue;
    float *v = particles->velocities + 3 * (size_t)i;
    memcpy(particles->positions + 3 * (size_t)i, particles->before + 3 * (size_t)i, 3 * sizeof(float));
    // back and aside, so that it finds a way around
    v[0] = 0.8f * (nextRandom(&particles->random) - 0.5f);
    v[1] = -0.3f * v[1];
    v[2] = 0.8f * (nextRandom(&particles->random) - 0.5f);
  }
}
