/* dolphins.c: e5, twelve dolphins that swim and roll in a close group.
 *
 * After the second experiment of [Larsson03], section 4: three references a body (tail down, straight, tail up), 564, 2 256,
 * 9 024 or 36 096 triangles with the same shape. The paper shows its dolphins in pictures; these are made by
 * formula: a tube of 20 rings of 12 for the trunk (480 triangles), and closed fins of rings of 6: the back fin (24), two
 * flippers (12 each) and the flukes (36). The larger sizes divide every triangle into four in its plane.
 *
 * Swimming bends the tail up and down, so that two references have a weight at a time. Each dolphin rolls about
 * its own length at its own pace and drifts about its place in the group. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_COUNT 400
#define DOLPHIN_COUNT 12
#define REFERENCE_COUNT 3
#define COARSE_TRIANGLES 564

typedef struct Motion {
  float *references[REFERENCE_COUNT];
} Motion;

/* ---------------------------------------------------------------- the coarse shape */

/* A mesh that grows; there is room for all of it. */
typedef struct Builder {
  pnSceneVec *points;
  uint32_t *triangles;
  uint32_t pointCount, triangleCount;
} Builder;

static uint32_t addPoint(Builder *b, pnSceneVec p) {
  b->points[b->pointCount] = p;
  return b->pointCount++;
}

static void addTriangle(Builder *b, uint32_t i, uint32_t j, uint32_t k) {
  uint32_t *t = b->triangles + 3 * (size_t)b->triangleCount++;
  t[0] = i, t[1] = j, t[2] = k;
}

/* A closed tube: an apex, `rings` rings of `around` points, an apex. surface(part, s, angle) gives its points, s in
 * (0, 1) along it; the apices are at s = 0 and 1. 2 * rings * around triangles. */
static void addTube(Builder *b, uint32_t rings, uint32_t around,
                    pnSceneVec (*surface)(int part, double s, double angle), int part) {
  uint32_t apex = addPoint(b, surface(part, 0.0, 0.0)), first = b->pointCount;
  for (uint32_t r = 0; r < rings; ++r)
    for (uint32_t a = 0; a < around; ++a)
      addPoint(b, surface(part, (r + 1.0) / (rings + 1.0), 6.283185307179586 * a / around));
  uint32_t end = addPoint(b, surface(part, 1.0, 0.0));
  for (uint32_t a = 0; a < around; ++a) {
    uint32_t next = (a + 1) % around, last = first + (rings - 1) * around;
    addTriangle(b, apex, first + a, first + next);
    addTriangle(b, end, last + next, last + a);
    for (uint32_t r = 0; r + 1 < rings; ++r) {
      uint32_t i = first + r * around + a, j = first + r * around + next;
      addTriangle(b, i, j + around, j);
      addTriangle(b, i, i + around, j + around);
    }
  }
}

enum { TRUNK, BACK_FIN, LEFT_FLIPPER, RIGHT_FLIPPER, FLUKES };

/* The trunk lies along x, nose at 1, tail at -1. Fins are flat cones that stand on it, flukes a flat spindle across. */
static pnSceneVec dolphinSurface(int part, double s, double angle) {
  double c = cos(angle), d = sin(angle);
  if (part == TRUNK) {
    /* a beak, then full, then thin towards the tail */
    double along = pow(s, 0.75), radius = 0.23 * sin(3.14159265358979 * along) * (1.0 - 0.45 * s);
    double beak = s < 0.16 ? 0.55 + 0.45 * s / 0.16 : 1.0;
    return pn_vec(1.0 - 2.0 * s, radius * beak * c, 1.1 * radius * beak * d);
  }
  if (part == FLUKES) {
    double wide = sin(3.14159265358979 * s), y = 0.36 * (2.0 * s - 1.0);
    return pn_vec(-0.95 - 0.22 * fabs(2.0 * s - 1.0) + 0.12 * wide * c, y, 0.025 * wide * d);
  }
  /* a blade of length 1 that narrows to its tip, swept back */
  double taper = s == 0.0 || s == 1.0 ? 0.0 : 1.0 - 0.75 * s;
  pnSceneVec blade = pn_vec(-0.5 * s + 0.45 * taper * c, 0.09 * taper * d, s);
  if (part == BACK_FIN) return pn_vec(-0.02 + 0.26 * blade.x, 0.26 * blade.y, 0.08 + 0.32 * blade.z);
  double side = part == LEFT_FLIPPER ? 1.0 : -1.0;
  return pn_vec(0.42 + 0.28 * blade.x, side * (0.13 + 0.22 * blade.z), -0.12 + 0.28 * blade.y * side - 0.12 * blade.z);
}

static void buildDolphin(Builder *b) {
  addTube(b, 20, 12, dolphinSurface, TRUNK);
  addTube(b, 2, 6, dolphinSurface, BACK_FIN);
  addTube(b, 1, 6, dolphinSurface, LEFT_FLIPPER);
  addTube(b, 1, 6, dolphinSurface, RIGHT_FLIPPER);
  addTube(b, 3, 6, dolphinSurface, FLUKES);
}

/* Reference 0, 1, 2: the hind part bent down, not at all, up; bent along an arc, so that its length stays. */
static pnSceneVec bent(pnSceneVec p, uint32_t reference) {
  double angle = 0.75 * ((double)reference - 1.0), behind = 0.25 - p.x;
  if (behind <= 0.0 || angle == 0.0) return p;
  /* the turn grows evenly from x = 0.25 to the tail: an arc of radius 1 / curvature */
  double curvature = angle / 1.25, turn = curvature * behind, z = p.z;
  return pn_vec(0.25 - sin(turn) / curvature + z * sin(turn), p.y, (1.0 - cos(turn)) / curvature + z * cos(turn));
}

/* ---------------------------------------------------------------- finer sizes */

/* An edge and the point in its middle. */
typedef struct Middle {
  uint64_t key;
  uint32_t point;
} Middle;

/* Where the edge stands in an open hash table, or where it would. */
static Middle *findMiddle(Middle *table, uint32_t mask, uint32_t a, uint32_t b) {
  uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & mask;
  while (table[at].point != 0 && table[at].key != key) at = (at + 1) & mask;
  table[at].key = key;
  return &table[at];
}

/* Every triangle into four, in its plane; the points of all references at once, `stride` apart. False: no memory. */
static bool quarter(Builder *b, uint32_t stride) {
  uint32_t size = 1;
  while (size < 4 * b->triangleCount) size *= 2;
  Middle *table = calloc(size, sizeof(Middle));
  if (table == NULL) return false;
  uint32_t oldTriangles = b->triangleCount;
  for (uint32_t t = 0; t < oldTriangles; ++t) {
    uint32_t corner[3], middle[3];
    memcpy(corner, b->triangles + 3 * (size_t)t, sizeof corner);
    for (int k = 0; k < 3; ++k) {
      uint32_t i = corner[k], j = corner[(k + 1) % 3];
      Middle *m = findMiddle(table, size - 1, i, j);
      if (m->point == 0) {
        for (uint32_t r = 0; r < REFERENCE_COUNT; ++r) {
          pnSceneVec *points = b->points + (size_t)r * stride;
          points[b->pointCount] = pn_vecScale(pn_vecAdd(points[i], points[j]), 0.5);
        }
        m->point = b->pointCount++;
      }
      middle[k] = m->point;
    }
    memcpy(b->triangles + 3 * (size_t)t, middle, sizeof middle);
    for (int k = 0; k < 3; ++k) addTriangle(b, corner[k], middle[k], middle[(k + 2) % 3]);
  }
  free(table);
  return true;
}

/* ---------------------------------------------------------------- the scene */

static void destroyDolphins(void *memory) {
  Motion *motion = memory;
  for (uint32_t i = 0; i < REFERENCE_COUNT; ++i) free(motion->references[i]);
  free(motion);
}

/* Points of all references into floats. */
static pnResult storeReferences(pnScene *scene, const Builder *b, uint32_t stride) {
  Motion *motion = scene->motion;
  for (uint32_t r = 0; r < REFERENCE_COUNT; ++r) {
    motion->references[r] = malloc(sizeof(float) * 3 * b->pointCount);
    if (motion->references[r] == NULL) return PN_ERROR_MEMORY;
    for (uint32_t v = 0; v < b->pointCount; ++v)
      pn_storeSceneVertex(motion->references[r] + 3 * (size_t)v, b->points[(size_t)r * stride + v]);
  }
  return PN_OK;
}

static pnResult createDolphins(pnScene *scene) {
  uint32_t wanted = scene->triangleCount, levels = 0, size = COARSE_TRIANGLES;
  for (; size < wanted; size *= 4) ++levels;
  if (size != wanted) return PN_ERROR_ARGUMENT;
  /* five closed parts: points = triangles / 2 + 2 * 5 */
  uint32_t stride = wanted / 2 + 10;
  scene->motion = calloc(1, sizeof(Motion));
  scene->points = malloc(sizeof(pnSceneVec) * REFERENCE_COUNT * stride);
  scene->triangles = malloc(sizeof(uint32_t) * 3 * wanted);
  if (scene->motion == NULL || scene->points == NULL || scene->triangles == NULL) return PN_ERROR_MEMORY;
  Builder b = {scene->points, scene->triangles, 0, 0};
  buildDolphin(&b);
  /* reference 1 is straight: it comes first, the others are bent from it */
  for (uint32_t r = REFERENCE_COUNT; r-- > 0;)
    for (uint32_t v = 0; v < b.pointCount; ++v) scene->points[(size_t)r * stride + v] = bent(scene->points[v], r);
  for (uint32_t i = 0; i < levels; ++i)
    if (!quarter(&b, stride)) return PN_ERROR_MEMORY;
  scene->vertexCount = b.pointCount;
  scene->bodyCount = DOLPHIN_COUNT;
  scene->referenceCount = REFERENCE_COUNT;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return storeReferences(scene, &b, stride);
}

/* A roll about x, then a little heading about z, then a place. */
static pnMatrix placeOf(double roll, double heading, pnSceneVec place) {
  double cr = cos(roll), sr = sin(roll), ch = cos(heading), sh = sin(heading);
  return (pnMatrix){{{(float)ch, (float)(-sh * cr), (float)(sh * sr), (float)place.x},
                     {(float)sh, (float)(ch * cr), (float)(-ch * sr), (float)place.y},
                     {0.0f, (float)sr, (float)cr, (float)place.z}}};
}

static void weightsDolphins(const pnScene *scene, uint32_t frame, uint32_t body, float *outWeights,
                            pnMatrix *outTransform) {
  double t = frame * scene->frameStep * 0.01, own = 1.7 * body;
  /* the tail beats: between straight and down, or straight and up */
  double beat = sin(9.0 * t + own);
  uint32_t bentOne = beat < 0.0 ? 0 : 2;
  outWeights[0] = outWeights[1] = outWeights[2] = 0.0f;
  outWeights[bentOne] = (float)fabs(beat);
  outWeights[1] = 1.0f - outWeights[bentOne];
  /* three rows of four; everyone drifts about its place, which brings neighbours together and apart again */
  double column = body % 4, row = body / 4;
  pnSceneVec place = pn_vec(0.5 * sin(0.9 * own) + 0.35 * sin(1.1 * t + 2.0 * own),
                            0.74 * (column - 1.5) + 0.16 * sin(1.7 * t + 1.3 * own),
                            0.7 * (row - 1.0) + 0.14 * sin(1.3 * t + 0.7 * own));
  double roll = (0.6 + 0.1 * body) * t + own, heading = 0.15 * sin(0.8 * t + own);
  *outTransform = placeOf(roll, heading, place);
}

static const float *referenceOf(const pnScene *scene, uint32_t body, uint32_t reference) {
  (void)body;
  return ((const Motion *)scene->motion)->references[reference];
}

const pnSceneKind pn_sceneDolphins = {
    .name = "e5",
    .text = "twelve dolphins swim and roll in a close group",
    .usualSize = 9024,
    .create = createDolphins,
    .frame = pn_frameOfReferences,
    .weights = weightsDolphins,
    .reference = referenceOf,
    .destroy = destroyDolphins,
};
