/* bench_crowd.c: what a crowd costs before its first frame and after it: a thousand bodies of one mesh, made one after the other,
 * seconds and memory.
 *
 *   bench_crowd                  all kinds
 *   bench_crowd --count N        so many bodies instead of 1000
 *   bench_crowd --rows FILE      figures as rows (record.h), of an experiment called shapes
 *
 * kinds     a free ball of 5120 triangles; a rigid one; a face of 10 080 with 52 morph targets; a walking figure of 20 000
 *           with 22 joints. Each with and without self-collision, and the face with calm patches (pnTreeDef.calm), ten of it.
 * first     milliseconds and kilobytes of the first body, which makes what the others share
 * each      microseconds and kilobytes of each of the others; times are what the thread spent on the processor
 * frame     the same after a first frame in which all of them stand apart from each other (without self-collision)
 *
 * Then shapes by themselves: built, prepared for self queries (pnShape_PrepareSelf), saved, loaded and prepared again.
 *
 * Memory is what pinch has asked for (pnGetByteCount), mesh, targets and skin not counted. */
#include "avatar.h"
#include "clock.h"
#include "face.h"

#include "pinch/pinch.h"
#include "record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bodies with calm patches: they take seconds where each makes its own. */
#define CALM_COUNT 10u

static uint32_t s_count = 1000;

static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_crowd: %s\n", pnGetMessage());
    exit(1);
  }
}

/* All of them in a row, ten apart, and a frame. */
static void runFrame(pnWorld *world) {
  for (uint32_t i = 0; i < s_count; ++i) {
    pnMatrix m = pnMatrix_Identity();
    m.m[0][3] = 10.0f * (float)i;
    check(pnBody_SetTransform(world, (pnBodyId){i + 1, 1}, &m));
  }
  pnFrame frame = pnWorld_Collide(world, NULL);
  check(frame.result);
  if (frame.bodyPairs != 0) fprintf(stderr, "bench_crowd: bodies that should stand apart do not\n");
}

static void measure(const char *name, const pnBodyDef *def) {
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  pnBodyId id;
  check(pnCreateWorld(&worldDef, &world));
  size_t empty = pnGetByteCount();
  double start = pn_threadTime();
  check(pnWorld_CreateBody(world, def, &id));
  double one = pn_threadTime();
  size_t first = pnGetByteCount();
  for (uint32_t i = 1; i < s_count; ++i) check(pnWorld_CreateBody(world, def, &id));
  double all = pn_threadTime();
  double figures[] = {1e3 * (one - start),
                      (double)(first - empty) / 1024,
                      1e6 * (all - one) / (s_count - 1),
                      (double)(pnGetByteCount() - first) / 1024 / (s_count - 1),
                      NAN,
                      NAN};
  printf("%-24s %10.2f %10.1f %10.2f %10.1f", name, figures[0], figures[1], figures[2], figures[3]);
  if (!def->self) {
    all = pn_threadTime();
    runFrame(world);
    figures[4] = 1e6 * (pn_threadTime() - all) / s_count;
    figures[5] = (double)(pnGetByteCount() - first) / 1024 / (s_count - 1);
    printf(" %10.2f %10.1f", figures[4], figures[5]);
  }
  printf("\n");
  static const char *const measures[] = {"first ms", "first KB",       "each us",
                                         "each KB",  "first frame us", "each KB apart"};
  for (int i = 0; i < 6; ++i) pn_record(name, measures[i], figures[i]);
  fflush(stdout);
  pnDestroyWorld(world);
}

static void measureBoth(const char *name, pnBodyDef def) {
  for (int self = 0; self < 2; ++self) {
    char text[64];
    snprintf(text, sizeof text, "%s%s", name, self ? ", self" : "");
    def.self = self;
    measure(text, &def);
  }
}

/* The mesh of a face and its 52 targets. */
static pnMorph *makeFace(pnMesh **outMesh) {
  pnFace *face;
  check(pnCreateFace(&face));
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = face->vertices;
  def.vertexCount = face->vertexCount;
  def.triangles = face->triangles;
  def.triangleCount = face->triangleCount;
  def.name = "face";
  check(pnCreateMesh(&def, outMesh));
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = *outMesh;
  morphDef.targets = face->targets;
  morphDef.targetCount = PN_FACE_TARGETS;
  pnMorph *morph;
  check(pnCreateMorph(&morphDef, &morph));
  pnDestroyFace(face);
  return morph;
}

/* A shape built and prepared for self queries, and the same loaded from its block. */
static void measureSaved(const char *name, const pnShapeDef *def) {
  const pnShape *shape, *loaded;
  void *block;
  size_t bytes;
  double time[5];
  time[0] = pn_threadTime();
  check(pnCreateShape(def, &shape));
  time[1] = pn_threadTime();
  check(pnShape_PrepareSelf(shape));
  time[2] = pn_threadTime();
  check(pnShape_Save(shape, &block, &bytes));
  time[3] = pn_threadTime();
  check(pnLoadShape(def, block, bytes, &loaded));
  time[4] = pn_threadTime();
  check(pnShape_PrepareSelf(loaded));
  double prepared = pn_threadTime();
  const char *const measures[] = {"build ms", "prepare for self queries ms", "block KB", "load ms", "prepare again ms"};
  double figures[] = {1e3 * (time[1] - time[0]), 1e3 * (time[2] - time[1]), (double)bytes / 1024,
                      1e3 * (time[4] - time[3]), 1e3 * (prepared - time[4])};
  printf("%-24s %10.1f %10.1f %10.1f %10.1f %10.1f\n", name, figures[0], figures[1], figures[2], figures[3],
         figures[4]);
  for (int i = 0; i < 5; ++i) pn_record(name, measures[i], figures[i]);
  fflush(stdout);
  pnFree(block, bytes);
  pnShape_Release(loaded);
  pnShape_Release(shape);
}

/* What loading a shape saves. */
static void measureShapes(const pnMesh *mask, const pnMorph *morph) {
  pn_recordScene("shapes", "saved");
  printf("\n%-24s %10s %10s %10s %10s %10s\n", "shapes", "build ms", "prepare ms", "block KB", "load ms", "prepare ms");
  for (uint32_t level = 5; level <= 7; ++level) {
    pnMesh *ball;
    char name[32];
    pnShapeDef def = pnDefaultShapeDef();
    check(pnMakeIcosphere(level, 1.0f, &ball));
    snprintf(name, sizeof name, "ball of %u", pnMesh_GetTriangleCount(ball));
    def.mesh = ball;
    measureSaved(name, &def);
    pnDestroyMesh(ball);
  }
  pnShapeDef def = pnDefaultShapeDef();
  def.mesh = mask;
  def.morph = morph;
  def.tree.calm = true;
  measureSaved("face, calm", &def);
}

int main(int count, char **words) {
  pn_recordArguments(&count, words);
  pn_recordScene("shapes", "bodies");
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "--count") != 0 || i + 1 == count || atoi(words[i + 1]) < 2) {
      fprintf(stderr, "bench_crowd: --count N (2 or more), not \"%s\"\n", words[i]);
      return 2;
    }
    s_count = (uint32_t)atoi(words[++i]);
  }
  pnMesh *ball, *mask;
  pnAvatar avatar;
  check(pnMakeIcosphere(4, 1.0f, &ball));
  check(pnCreateAvatar(10000, &avatar));
  pnMorph *morph = makeFace(&mask);
  printf("%-24s %10s %10s %10s %10s %10s %10s\n", "", "first ms", "first KB", "each us", "each KB", "frame us",
         "KB then");
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = ball;
  measureBoth("free", def);
  def.kind = PN_BODY_RIGID;
  measureBoth("rigid", def);
  def.kind = PN_BODY_MORPH;
  def.mesh = mask;
  def.morph = morph;
  measureBoth("morphing", def);
  def.tree.calm = true;
  def.self = true;
  uint32_t all = s_count;
  s_count = s_count < CALM_COUNT ? s_count : CALM_COUNT;
  measure("morphing, self, calm", &def);
  s_count = all;
  def.tree.calm = false;
  def.kind = PN_BODY_SKINNED;
  def.mesh = avatar.mesh;
  def.morph = NULL;
  def.skin = avatar.skin;
  measureBoth("skinned", def);
  measureShapes(mask, morph);
  pnDestroyMorph(morph);
  pnDestroyMesh(ball);
  pnDestroyMesh(mask);
  pnDestroyAvatar(&avatar);
  return 0;
}
