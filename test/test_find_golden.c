/* test_find_golden.c: findings are the same bits on every machine. Scenes that are made by sums, products and roots only (what IEEE
 * 754 says to the last bit; sines are the C library's own affair) are played, and everything a finder says of them is
 * hashed. The hashes are here: x86-64 (AVX2, SSE2), ARM, scalar, one thread and four have all given them.
 *
 * It needs nothing but the library, so that it can be compiled for another processor by one line:
 *
 *   aarch64-linux-gnu-gcc -O2 -std=gnu17 -ffp-contract=off -static -Iinclude -Isrc test/test_find_golden.c \
 *     src/base/?*.c src/geom/?*.c src/mesh/?*.c src/tree/?*.c src/collide/?*.c src/query/?*.c \
 *     $(ls src/volume/?*.c | grep -v raster_gl) src/find/?*.c -lm -lpthread -o golden && qemu-aarch64 ./golden
 *
 * `test_find_golden --print` prints the hashes of this machine. */
#include "pinch/pinch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4u
#define FRAMES 24

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "test_find_golden: %s\n", pnGetMessage());
  exit(2);
}

typedef struct Scene {
  const char *name;
  uint64_t golden;
  int kind;
} Scene;

enum { BALL_THROUGH_BOX, TWO_BALLS, SWALLOWED, BALL_THROUGH_SHEET, CRUMPLED };

static const Scene s_scenes[] = {
    {"a ball through a box", 0x3df27d3367d81bd4, BALL_THROUGH_BOX},
    {"two balls pass", 0x802da3c7079a62a2, TWO_BALLS},
    {"a ball is swallowed", 0x5499b13d964b17ef, SWALLOWED},
    {"a ball through a sheet", 0x3ccfc80c43afb28d, BALL_THROUGH_SHEET},
    {"a sheet through itself", 0xd6dd97d55ef8843f, CRUMPLED},
};

/* ---------------------------------------------------------------- hashing */

static uint64_t hashBytes(uint64_t hash, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
  return hash;
}
static uint64_t hashNumber(uint64_t hash, double number) {
  return hashBytes(hash, &number, sizeof number);
}
static uint64_t hashPoint(uint64_t hash, pnVec3 p) {
  return hashNumber(hashNumber(hashNumber(hash, (double)p.x), (double)p.y), (double)p.z);
}

static uint64_t hashDepth(uint64_t hash, const pnDepth *depth) {
  hash = hashNumber(hash, depth->kind);
  hash = hashNumber(hash, depth->value);
  hash = hashNumber(hash, depth->max);
  hash = hashPoint(hashPoint(hash, depth->from), depth->onto);
  return hashNumber(hashNumber(hash, depth->fromA), depth->triangle);
}

static uint64_t hashFrame(uint64_t hash, const pnFinder *finder) {
  uint32_t count, curveCount, pointCount;
  const pnRegion *r = pnFinder_GetRegions(finder, &count);
  const pnVec3 *points = pnFinder_GetCurvePoints(finder, &pointCount);
  pnFinder_GetCurves(finder, &curveCount);
  for (uint32_t i = 0; i < count; ++i) {
    hash = hashNumber(hashNumber(hash, (double)r[i].pairCount), r[i].curveLength);
    hash = hashPoint(hashPoint(hashPoint(hash, r[i].box.min), r[i].box.max), r[i].centre);
    hash = hashNumber(hashDepth(hash, &r[i].depth), r[i].volume);
    hash = hashNumber(hashNumber(hash, r[i].inner), r[i].finding);
  }
  for (uint32_t i = 0; i < pointCount; ++i) hash = hashPoint(hash, points[i]);
  return hashNumber(hash, curveCount);
}

static uint64_t hashFindings(uint64_t hash, pnFinder *finder) {
  uint32_t count;
  check(pnFinder_Rank(finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *f = pnFinder_GetFindings(finder, &count);
  for (uint32_t i = 0; i < count; ++i) {
    hash = hashBytes(hash, f[i].name, strlen(f[i].name));
    hash = hashNumber(hashNumber(hashNumber(hash, f[i].kind), f[i].contained), f[i].frameCount);
    hash = hashNumber(hashNumber(hash, (double)f[i].firstFrame), (double)f[i].lastFrame);
    hash = hashDepth(hashNumber(hash, (double)f[i].deepestFrame), &f[i].depth);
    hash = hashNumber(hashNumber(hash, f[i].volume), f[i].curveLength);
    hash = hashPoint(hashPoint(hashPoint(hash, f[i].centre), f[i].placeA), f[i].placeB);
    for (uint32_t k = 0; k < f[i].sampleCount; ++k) hash = hashNumber(hash, f[i].samples[k].depth);
  }
  return hashNumber(hash, count);
}

/* ---------------------------------------------------------------- scenes */

static uint32_t makeMeshes(int kind, pnMesh *out[MOST]) {
  switch (kind) {
    case BALL_THROUGH_BOX:
      check(pnMakeIcosphere(4, 0.5f, &out[0]));
      check(pnMakeBox((pnVec3){1, 1, 0.25f}, 6, &out[1]));
      return 2;
    case TWO_BALLS:
      check(pnMakeIcosphere(3, 0.5f, &out[0]));
      check(pnMakeIcosphere(4, 0.7f, &out[1]));
      return 2;
    case SWALLOWED:
      check(pnMakeIcosphere(2, 0.2f, &out[0]));
      check(pnMakeBox((pnVec3){1, 1, 1}, 5, &out[1]));
      return 2;
    case BALL_THROUGH_SHEET:
      check(pnMakeIcosphere(3, 0.6f, &out[0]));
      check(pnMakeGrid(3, 3, 24, 24, &out[1]));
      return 2;
    default: check(pnMakeGrid(2, 2, 30, 30, &out[0])); return 1;
  }
}

/* Everything moves by sums and products. */
static void movePose(int kind, uint32_t body, pnPose *pose, int frame) {
  float t = (float)frame / FRAMES;
  if (kind == CRUMPLED) {
    // Two parabolas that close on each other: the sheet folds and goes through itself.
    const pnMesh *mesh = pnPose_GetMesh(pose);
    uint32_t n = pnMesh_GetVertexCount(mesh);
    float *v = malloc(3 * n * sizeof *v);
    memcpy(v, pnMesh_GetVertices(mesh), 3 * n * sizeof *v);
    for (uint32_t i = 0; i < n; ++i) {
      float x = v[3 * i], y = v[3 * i + 1];
      v[3 * i] = x * (1 - 1.3f * t * x * x);
      v[3 * i + 2] += 0.9f * x * x * t + 0.05f * y * x;
    }
    check(pnPose_SetVertices(pose, v, n));
    free(v);
    return;
  }
  if (body > 0) return;
  pnMatrix m = pnMatrix_Identity();
  // A turn by 3, 4, 5, which has no rounding but that of the quotients.
  m.m[0][0] = m.m[1][1] = 0.6f, m.m[0][1] = -0.8f, m.m[1][0] = 0.8f;
  m.m[0][3] = 0.1f + 0.3f * t, m.m[1][3] = 0.07f, m.m[2][3] = 1.6f - 3.1f * t;
  check(pnPose_SetTransform(pose, &m));
}

static uint64_t playScene(int kind, const pnTasks *tasks) {
  pnMesh *mesh[MOST];
  pnPose *pose[MOST];
  pnTree *tree[MOST];
  pnFinder *finder;
  pnPairList *list;
  uint32_t count = makeMeshes(kind, mesh);
  pnFinderDef def = pnDefaultFinderDef();
  if (tasks) def.tasks = *tasks;
  check(pnCreateFinder(&def, &finder));
  check(pnCreatePairList(&list));
  for (uint32_t i = 0; i < count; ++i) {
    pnPoseDef poseDef = pnDefaultPoseDef();
    poseDef.mesh = mesh[i];
    check(pnCreatePose(&poseDef, &pose[i]));
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = pose[i];
    check(pnCreateTree(&treeDef, &tree[i]));
    pnFinderBodyDef body = pnDefaultFinderBodyDef();
    body.tree = tree[i];
    body.name = i ? "second" : "first";
    uint32_t number;
    check(pnFinder_AddBody(finder, &body, &number));
  }
  uint64_t hash = 0xcbf29ce484222325u;
  for (int frame = 0; frame <= FRAMES; ++frame) {
    for (uint32_t i = 0; i < count; ++i) movePose(kind, i, pose[i], frame);
    if (count > 1) check(pnCollideTrees(tree[0], tree[1], NULL, list, NULL));
    else check(pnCollideSelf(tree[0], NULL, list, NULL));
    pnFinderContact contact = {0, count - 1, pnPairList_GetPairs(list), pnPairList_GetCount(list)};
    pnFinderFrame look = {
        .number = frame, .time = frame / 30.0, .contacts = &contact, .contactCount = 1, .curves = true};
    check(pnFinder_AddFrame(finder, &look));
    hash = hashFrame(hash, finder);
  }
  hash = hashFindings(hash, finder);
  pnDestroyFinder(finder);
  pnDestroyPairList(list);
  for (uint32_t i = 0; i < count; ++i) {
    pnDestroyTree(tree[i]);
    pnDestroyPose(pose[i]);
    pnDestroyMesh(mesh[i]);
  }
  return hash;
}

int main(int argc, char **argv) {
  bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
  int wrong = 0;
  pnPool *pool;
  check(pnCreatePool(4, &pool));
  pnTasks tasks = pnPool_GetTasks(pool);
  for (size_t i = 0; i < sizeof s_scenes / sizeof s_scenes[0]; ++i) {
    const Scene *s = &s_scenes[i];
    uint64_t alone = playScene(s->kind, NULL), together = playScene(s->kind, &tasks);
    bool right = alone == s->golden && together == s->golden;
    if (print || !right)
      printf("%-24s 0x%016llx, four threads 0x%016llx%s\n", s->name, (unsigned long long)alone,
             (unsigned long long)together,
             right   ? ""
             : print ? ""
                     : ": not what it was");
    wrong += !right;
  }
  pnDestroyPool(pool);
  return wrong && !print ? 1 : 0;
}
