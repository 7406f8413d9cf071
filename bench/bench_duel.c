/* bench_duel: two builds of the library, frame by frame by turns, in one process.
 *
 *   bench_duel A.so B.so [--passes N] [--from N] [--frames N] [--first] [SCENE]...
 *
 * For who changes the library and asks whether it became faster. On a machine that others use, too, speed goes up and down by
 * half within seconds, and two programs that take turns seldom meet the same. Here both builds are loaded side by side, each makes a
 * default world of the scene, and both do every frame before the next one: A first, then B first. Of each frame and build
 * the least time over the passes counts; what is said is the median over the frames of B's time over A's. Measure A against a copy of itself
 * first: that is what a ratio has to be better than. Both must have the same structs; that they find the same pairs is
 * looked at. Driven scenes are not played. --first: one pair of each two bodies, any; those that find one must be as many. */
#define _GNU_SOURCE
#include "clock.h"
#include "lab.h"

#include "pinch/world.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is asked of a build, by name. */
#define FUNCTIONS(X)                                                              \
  X(pnWorldDef, pnDefaultWorldDef, (void))                                        \
  X(pnMeshDef, pnDefaultMeshDef, (void))                                          \
  X(pnBodyDef, pnDefaultBodyDef, (void))                                          \
  X(pnResult, pnCreateWorld, (const pnWorldDef *, pnWorld **))                    \
  X(pnResult, pnCreateMesh, (const pnMeshDef *, pnMesh **))                       \
  X(pnResult, pnWorld_CreateBody, (pnWorld *, const pnBodyDef *, pnBodyId *))     \
  X(pnResult, pnWorld_SetVertices, (pnWorld *, const pnBodyVertices *, uint32_t)) \
  X(pnFrame, pnWorld_Collide, (pnWorld *, const pnFrameDef *))                    \
  X(const pnPair *, pnWorld_GetPairs, (const pnWorld *))                          \
  X(void, pnDestroyWorld, (pnWorld *))                                            \
  X(void, pnDestroyMesh, (pnMesh *))

typedef struct Build {
#define MEMBER(type, name, arguments) type(*name) arguments;
  FUNCTIONS(MEMBER)
  pnWorld *world;
  pnMesh **meshes;
  bool *isMeshOwn; /* false: it is that of a body before */
  pnBodyId *bodies;
} Build;

typedef enum Stage { TOTAL, SET, UPDATE, TRAVERSE, EXACT, STAGE_COUNT } Stage;
static const char *const stageNames[STAGE_COUNT] = {"total", "set", "update", "traverse", "exact"};

/* Milliseconds of a frame. */
typedef struct Times {
  double of[STAGE_COUNT];
} Times;

typedef struct Duel {
  pnScene *scene;
  uint32_t bodyCount, frameCount;
  float **vertices;      /* frame-major; bodies that are still have one array for all */
  Times *times[2];       /* the least, one a frame */
  pnBodyVertices *moves; /* of a frame */
  bool first;            /* one pair of each two bodies is asked for */
  uint32_t different;    /* frames in which the builds do not find the same */
} Duel;

static void check(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "bench_duel: %s\n", what);
  exit(1);
}

/* ---------------------------------------------------------------- builds */

static void loadBuild(const char *path, Build *out) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  check(library != NULL, library != NULL ? "" : dlerror());
  void *found;
#define FIND(type, name, arguments) \
  found = dlsym(library, #name);    \
  check(found != NULL, #name);      \
  memcpy(&out->name, &found, sizeof found);
  FUNCTIONS(FIND)
}

/* From so many bodies on, those with the same triangles are bodies of one mesh, as in bench_world. */
#define CROWD 100u

static void makeMesh(const Duel *d, Build *b, uint32_t i) {
  const uint32_t *triangles = pnScene_GetTriangles(d->scene, i);
  for (uint32_t k = i; k > 0 && k + 8 > i && d->bodyCount >= CROWD && b->meshes[i] == NULL; --k)
    if (pnScene_GetTriangles(d->scene, k - 1) == triangles) b->meshes[i] = b->meshes[k - 1];
  if (b->meshes[i] != NULL) return;
  pnMeshDef def = b->pnDefaultMeshDef();
  def.vertices = d->vertices[i];
  def.vertexCount = pnScene_GetVertexCount(d->scene, i);
  def.triangles = triangles;
  def.triangleCount = pnScene_GetTriangleCount(d->scene, i);
  def.weld = false;
  b->isMeshOwn[i] = true;
  check(b->pnCreateMesh(&def, &b->meshes[i]) == PN_OK, "no mesh");
}

static void openWorld(const Duel *d, Build *b) {
  pnWorldDef def = b->pnDefaultWorldDef();
  check(b->pnCreateWorld(&def, &b->world) == PN_OK, "no world");
  b->meshes = calloc(d->bodyCount, sizeof(pnMesh *));
  b->isMeshOwn = calloc(d->bodyCount, sizeof(bool));
  b->bodies = calloc(d->bodyCount, sizeof(pnBodyId));
  for (uint32_t i = 0; i < d->bodyCount; ++i) {
    makeMesh(d, b, i);
    pnBodyDef bodyDef = b->pnDefaultBodyDef();
    bodyDef.mesh = b->meshes[i];
    bodyDef.self = pnScene_IsSelf(d->scene);
    bodyDef.selfFilter.ring = 1;
    check(b->pnWorld_CreateBody(b->world, &bodyDef, &b->bodies[i]) == PN_OK, "no body");
  }
}

static void closeWorld(const Duel *d, Build *b) {
  b->pnDestroyWorld(b->world);
  for (uint32_t i = 0; i < d->bodyCount; ++i)
    if (b->isMeshOwn[i]) b->pnDestroyMesh(b->meshes[i]);
  free(b->meshes);
  free(b->isMeshOwn);
  free(b->bodies);
}

/* ---------------------------------------------------------------- frames */

static void fillFrames(Duel *d, uint32_t from) {
  d->vertices = calloc((size_t)d->frameCount * d->bodyCount, sizeof(float *));
  for (uint32_t f = 0; f < d->frameCount; ++f) {
    for (uint32_t i = 0; i < d->bodyCount; ++i) {
      float **at = &d->vertices[(size_t)f * d->bodyCount + i];
      if (f > 0 && pnScene_IsStill(d->scene, i)) {
        *at = d->vertices[i];
        continue;
      }
      *at = calloc(3 * (size_t)pnScene_GetVertexCount(d->scene, i) + 1, sizeof(float));
      check(*at != NULL && pnScene_Frame(d->scene, from + f, i, *at) == PN_OK, "no frame");
    }
  }
}

static void freeFrames(Duel *d) {
  for (uint32_t f = 0; f < d->frameCount; ++f)
    for (uint32_t i = 0; i < d->bodyCount; ++i)
      if (f == 0 || !pnScene_IsStill(d->scene, i)) free(d->vertices[(size_t)f * d->bodyCount + i]);
  free(d->vertices);
}

/* One frame of one build. What has not moved is not set, but for the first frame. */
static pnFrame playFrame(const Duel *d, Build *b, uint32_t f, Times *least) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->bodyCount; ++i) {
    if (f > 0 && pnScene_IsStill(d->scene, i)) continue;
    d->moves[count++] =
        (pnBodyVertices){b->bodies[i], d->vertices[(size_t)f * d->bodyCount + i], pnScene_GetVertexCount(d->scene, i)};
  }
  double start = pn_threadTime();
  check(b->pnWorld_SetVertices(b->world, d->moves, count) == PN_OK, "vertices were not taken");
  double set = pn_threadTime();
  pnFrame frame = b->pnWorld_Collide(b->world, &(pnFrameDef){.first = d->first});
  double end = pn_threadTime();
  check(frame.result == PN_OK, "a frame failed");
  Times now = {
      {end - start, set - start, frame.cost.updateSeconds, frame.cost.traverseSeconds, frame.cost.exactSeconds}};
  for (int s = 0; s < STAGE_COUNT; ++s) least->of[s] = fmin(least->of[s], 1e3 * now.of[s]);
  return frame;
}

static void playPass(Duel *d, Build builds[2], uint32_t pass) {
  for (uint32_t k = 0; k < 2; ++k) openWorld(d, &builds[k ^ (pass & 1)]);
  for (uint32_t f = 0; f < d->frameCount; ++f) {
    size_t pairs[2];
    for (uint32_t k = 0; k < 2; ++k) {
      uint32_t which = k ^ ((f ^ pass) & 1);
      pairs[which] = playFrame(d, &builds[which], f, &d->times[which][f]).pairCount;
    }
    const pnPair *a = builds[0].pnWorld_GetPairs(builds[0].world), *b = builds[1].pnWorld_GetPairs(builds[1].world);
    d->different += pairs[0] != pairs[1] || (!d->first && pairs[0] > 0 && memcmp(a, b, pairs[0] * sizeof(pnPair)) != 0);
  }
  for (uint32_t k = 0; k < 2; ++k) closeWorld(d, &builds[k]);
}

/* ---------------------------------------------------------------- figures */

/* Medians of A, of B, and of B over A; frames after the first, in which everything is new. */
static void printStage(const Duel *d, Stage stage) {
  uint32_t n = d->frameCount - 1;
  double *list = calloc(n, sizeof(double)), median[2], worst[2];
  for (int which = 0; which < 2; ++which) {
    for (uint32_t f = 0; f < n; ++f) list[f] = d->times[which][f + 1].of[stage];
    median[which] = pn_labMedian(list, n); /* sorts them */
    worst[which] = list[n - 1];
  }
  for (uint32_t f = 0; f < n; ++f) list[f] = d->times[1][f + 1].of[stage] / d->times[0][f + 1].of[stage];
  printf("  %-10s %10.4f %10.4f %8.3f %10.4f %10.4f\n", stageNames[stage], median[0], median[1], pn_labMedian(list, n),
         worst[0], worst[1]);
  free(list);
}

static void runScene(const char *name, Build builds[2], bool first, uint32_t from, uint32_t frames, uint32_t passes) {
  Duel d = {.first = first};
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  check(pnCreateScene(&def, &d.scene) == PN_OK && !pnScene_IsDriven(d.scene), "no such scene, or a driven one");
  uint32_t all = pnScene_GetFrameCount(d.scene);
  from = from < all ? from : 0;
  d.frameCount = frames > 0 && frames < all - from ? frames : all - from;
  d.bodyCount = pnScene_GetBodyCount(d.scene);
  check(d.frameCount > 1, "two frames at least");
  fillFrames(&d, from);
  d.moves = calloc(d.bodyCount, sizeof(pnBodyVertices));
  for (int which = 0; which < 2; ++which) {
    d.times[which] = calloc(d.frameCount, sizeof(Times));
    for (uint32_t f = 0; f < d.frameCount; ++f)
      for (int s = 0; s < STAGE_COUNT; ++s) d.times[which][f].of[s] = INFINITY;
  }
  for (uint32_t pass = 0; pass < passes; ++pass) playPass(&d, builds, pass);
  printf("\n%s: frames %u to %u, %u passes, %s\n", pnScene_GetName(d.scene), from, from + d.frameCount - 1, passes,
         d.different > 0 ? "DIFFERENT PAIRS" : "the same pairs");
  printf("  %-10s %10s %10s %8s %10s %10s\n", "ms", "A", "B", "B/A", "worst A", "worst B");
  for (int s = 0; s < STAGE_COUNT; ++s) printStage(&d, (Stage)s);
  freeFrames(&d);
  free(d.times[0]);
  free(d.times[1]);
  free(d.moves);
  pnDestroyScene(d.scene);
}

int main(int count, char **arguments) {
  uint32_t passes = 6, from = 0, frames = 0, sceneCount = 0;
  bool first = false;
  check(count >= 3, "bench_duel A.so B.so [--passes N] [--from N] [--frames N] [--first] [SCENE]...");
  Build builds[2] = {0};
  for (int which = 0; which < 2; ++which) loadBuild(arguments[1 + which], &builds[which]);
  for (int i = 3; i < count; ++i) {
    uint32_t *number = strcmp(arguments[i], "--passes") == 0   ? &passes
                       : strcmp(arguments[i], "--from") == 0   ? &from
                       : strcmp(arguments[i], "--frames") == 0 ? &frames
                                                               : NULL;
    if (number != NULL && i + 1 < count) *number = (uint32_t)strtoul(arguments[++i], NULL, 10);
    else if (strcmp(arguments[i], "--first") == 0) first = true;
    else runScene(arguments[i], builds, first, from, frames, passes), ++sceneCount;
  }
  if (sceneCount == 0) runScene("s1-20480", builds, first, from, frames, passes);
  return 0;
}
