/* soak.c: a world that lives long. Bodies of every kind are deformed, moved, taken out and put in at random; every so many frames the
 * pairs of two of them are compared with brute force; memory is measured, and must not grow.
 *
 *   soak [FRAMES] [SEED] [WORKERS]    a million frames by default: some minutes. Prints a line every 10 000 frames
 *
 * What a world of random bodies holds goes up and down with the bodies, and the largest of a thousand is larger than that of a
 * hundred; that is no growth. So every 10 000 frames the bodies are taken out, and two things measured: what the empty world
 * holds, which is room for the largest frame it ever had and may rise only when there was a larger one, and what the same ten
 * bodies cost when they are put in and collide, which must be the same to the byte, always.
 *
 * The exit status is 0 only when every check agreed, both held, and nothing is left at the end. */
#include "pinch/lab.h"
#include "pinch/pinch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 10, TARGETS = 2, JOINTS = 3, CHECK_EVERY = 101, TELL_EVERY = 10000 };

static uint64_t s_state;

static uint32_t below(uint32_t bound) {
  s_state = s_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((s_state >> 32) * bound >> 32);
}
static float number(void) {
  return (float)below(1u << 24) * 0x1p-23f - 1;
}

static void need(pnResult result) {
  if (result != PN_OK) printf("FAILED: %s\n", pnGetMessage()), exit(1);
}

/* ---------------------------------------------------------------- bodies */

typedef struct Body {
  pnBodyKind kind;
  pnMesh *mesh;
  pnMorph *morph;
  pnSkin *skin;
  pnSoup *soup;
  pnBodyId id;
} Body;

static void fillSoup(Body *b) {
  enum { MOST = 24 };
  float positions[9 * MOST];
  for (int t = 0; t < MOST; ++t) {
    float at[3] = {number(), number(), number()};
    for (int i = 0; i < 9; ++i) positions[9 * t + i] = at[i % 3] + 0.2f * number();
  }
  if (pnSoup_GetCount(b->soup) == 0) need(pnSoup_Add(b->soup, PN_PRIMITIVE_TRIANGLE, positions, MOST, NULL));
  else need(pnSoup_SetAll(b->soup, positions, MOST));
}

static void giveMorph(Body *b, uint32_t n) {
  float deltas[TARGETS * 3 * 200];
  pnMorphTarget targets[TARGETS];
  for (uint32_t i = 0; i < TARGETS * 3 * n; ++i) deltas[i] = 0.2f * number();
  for (uint32_t t = 0; t < TARGETS; ++t) targets[t] = (pnMorphTarget){.count = n, .values = deltas + 3 * t * n};
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = b->mesh, def.targets = targets, def.targetCount = TARGETS;
  need(pnCreateMorph(&def, &b->morph));
}

static void giveSkin(Body *b, uint32_t n) {
  uint16_t indices[200];
  float weights[200];
  for (uint32_t i = 0; i < n; ++i) indices[i] = (uint16_t)below(JOINTS), weights[i] = 1;
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = b->mesh, def.jointCount = JOINTS, def.influenceCount = 1, def.jointIndices = indices,
  def.jointWeights = weights;
  need(pnCreateSkin(&def, &b->skin));
}

static void makeBody(pnWorld *world, Body *b) {
  *b = (Body){.kind = (pnBodyKind)below(6)};
  pnBodyDef def = pnDefaultBodyDef();
  pnTreeLab lab = {.form = b->kind == PN_BODY_SOUP ? PN_FORM_BOX : (pnForm)below(PN_FORM_COUNT)};
  if (b->kind == PN_BODY_SOUP) need(pnCreateSoup(NULL, &b->soup)), fillSoup(b);
  else need(below(2) ? pnMakeIcosphere(1, 0.5f, &b->mesh) : pnMakeBox((pnVec3){0.4f, 0.4f, 0.4f}, 2, &b->mesh));
  uint32_t n = b->mesh ? pnMesh_GetVertexCount(b->mesh) : 0;
  if (b->kind == PN_BODY_MORPH) giveMorph(b, n);
  if (b->kind == PN_BODY_SKINNED) giveSkin(b, n);
  def.kind = b->kind, def.mesh = b->mesh, def.morph = b->morph, def.skin = b->skin, def.soup = b->soup;
  def.self = b->kind != PN_BODY_STATIC && below(8) == 0;
  if (b->kind != PN_BODY_SOUP) def.tree.lab = &lab;
  need(pnWorld_CreateBody(world, &def, &b->id));
}

static void freeBody(pnWorld *world, Body *b) {
  need(pnWorld_DestroyBody(world, b->id));
  pnDestroySkin(b->skin);
  pnDestroyMorph(b->morph);
  pnDestroyMesh(b->mesh);
  pnDestroySoup(b->soup);
}

static void moveBody(pnWorld *world, Body *b) {
  pnMatrix place = pnMatrix_Identity(), joints[JOINTS];
  for (int k = 0; k < 3; ++k) place.m[k][3] = 1.6f * number();
  if (b->kind == PN_BODY_FREE) {
    float at[600];
    uint32_t n = pnMesh_GetVertexCount(b->mesh);
    for (uint32_t i = 0; i < 3 * n; ++i) at[i] = pnMesh_GetVertices(b->mesh)[i] + place.m[i % 3][3] + 0.05f * number();
    need(pnBody_SetVertices(world, b->id, at, n));
  }
  if (b->kind == PN_BODY_SOUP) fillSoup(b);
  if (b->morph) need(pnBody_SetWeights(world, b->id, (float[TARGETS]){number(), number()}, TARGETS));
  for (int j = 0; j < JOINTS; ++j) {
    joints[j] = place;
    for (int k = 0; k < 3; ++k) joints[j].m[k][3] += 0.1f * number();
  }
  if (b->skin) need(pnBody_SetJoints(world, b->id, joints, JOINTS));
  if (b->kind == PN_BODY_RIGID || b->morph) need(pnBody_SetTransform(world, b->id, &place));
}

/* ---------------------------------------------------------------- checks */

/* Two bodies at random, or one with itself, against brute force. */
static bool check(pnWorld *world, const Body *bodies, const pnFrame *frame, pnPairList *truth) {
  const Body *a = &bodies[below(BODIES)], *b = &bodies[below(BODIES)];
  if (a->id.index1 > b->id.index1) {
    const Body *c = a;
    a = b, b = c;
  }
  if (a == b || a->soup || b->soup) return true;
  need(pnCollideBrute(pnBody_GetPose(world, a->id), pnBody_GetPose(world, b->id), NULL, truth));
  size_t count = pnPairList_GetCount(truth), found = 0;
  const pnPair *pairs = NULL;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnContact *c = pnWorld_GetContacts(world) + i;
    if (c->a.index1 == a->id.index1 && c->b.index1 == b->id.index1)
      found = c->pairCount, pairs = pnWorld_GetPairs(world) + c->firstPair;
  }
  return found == count && (count == 0 || memcmp(pairs, pnPairList_GetPairs(truth), count * sizeof *pairs) == 0);
}

/* ---------------------------------------------------------------- memory */

typedef struct Bytes {
  size_t empty, early; /* what the world holds without bodies: now, and after the first tenth of all frames */
  size_t same;         /* what ten bodies that are always the same cost, trees and all */
  bool isFlat;
} Bytes;

/* The bodies go, the ten of the measure come and go, and others come. */
static void measure(pnWorld *world, Body *bodies, Bytes *bytes, bool isEarly) {
  for (int i = 0; i < BODIES; ++i) freeBody(world, &bodies[i]);
  need(pnWorld_Collide(world, NULL).result);
  uint64_t state = s_state;
  size_t same = 0;
  /* the first round makes room where the measure itself is the largest frame so far; the second is what counts */
  for (int round = 0; round < 2; ++round) {
    s_state = 4711;
    bytes->empty = pnGetByteCount();
    for (int i = 0; i < BODIES; ++i) makeBody(world, &bodies[i]);
    for (int i = 0; i < BODIES; ++i) moveBody(world, &bodies[i]);
    need(pnWorld_Collide(world, NULL).result);
    same = pnGetByteCount() - bytes->empty;
    for (int i = 0; i < BODIES; ++i) freeBody(world, &bodies[i]);
    need(pnWorld_Collide(world, NULL).result);
  }
  bytes->isFlat = bytes->isFlat && (bytes->same == 0 || bytes->same == same);
  bytes->same = same;
  if (isEarly) bytes->early = bytes->empty;
  s_state = state;
  for (int i = 0; i < BODIES; ++i) makeBody(world, &bodies[i]);
}

/* ---------------------------------------------------------------- the run */

typedef struct Run {
  pnWorld *world;
  pnPairList *truth;
  Body bodies[BODIES];
  Bytes bytes;
  long frames, swaps, checks, wrong;
  unsigned long long pairs;
} Run;

static void nextFrame(Run *run, long f) {
  if (below(40) == 0) {
    Body *b = &run->bodies[below(BODIES)];
    freeBody(run->world, b);
    makeBody(run->world, b);
    ++run->swaps;
  }
  for (int i = 0; i < BODIES; ++i)
    if (below(3) > 0) moveBody(run->world, &run->bodies[i]);
  pnFrame frame = pnWorld_Collide(run->world, NULL);
  need(frame.result);
  run->pairs += frame.pairCount;
  if (f % CHECK_EVERY == 0) ++run->checks, run->wrong += !check(run->world, run->bodies, &frame, run->truth);
  if (f % TELL_EVERY != 0 && f + 1 != run->frames) return;
  size_t held = pnGetByteCount();
  measure(run->world, run->bodies, &run->bytes, run->bytes.early == 0 && 10 * f >= run->frames);
  printf(
      "%9ld frames, %6ld bodies changed, %12llu pairs, %6ld checks, %ld wrong, %7zu bytes held, %7zu empty, "
      "%7zu for the same bodies\n",
      f + 1, run->swaps, run->pairs, run->checks, run->wrong, held, run->bytes.empty, run->bytes.same);
  fflush(stdout);
}

int main(int argc, char **argv) {
  Run run = {.frames = argc > 1 ? atol(argv[1]) : 1000000, .bytes.isFlat = true};
  s_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint32_t workers = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
  pnWorldDef def = pnDefaultWorldDef();
  pnPool *pool = NULL;
  if (workers > 1) need(pnCreatePool(workers, &pool)), def.tasks = pnPool_GetTasks(pool);
  need(pnCreateWorld(&def, &run.world));
  need(pnCreatePairList(&run.truth));
  for (int i = 0; i < BODIES; ++i) makeBody(run.world, &run.bodies[i]);
  for (long f = 0; f < run.frames; ++f) nextFrame(&run, f);
  for (int i = 0; i < BODIES; ++i) freeBody(run.world, &run.bodies[i]);
  pnDestroyPairList(run.truth);
  pnDestroyWorld(run.world);
  pnDestroyPool(pool);
  /* Arrays grow by half at least when a larger frame comes, so a doubling is a record or two; a leak of one byte a frame would be more. */
  const Bytes *b = &run.bytes;
  bool flat = b->isFlat && b->empty <= 2 * b->early, clean = pnGetByteCount() == 0;
  printf(
      "soak: %ld frames, %ld bodies changed, %ld checks, %ld wrong; the empty world holds %zu bytes after a tenth and "
      "%zu at "
      "the end, the same ten bodies cost %s%zu, %zu left\n",
      run.frames, run.swaps, run.checks, run.wrong, b->early, b->empty, b->isFlat ? "always " : "NOT ALWAYS ", b->same,
      pnGetByteCount());
  return run.wrong == 0 && flat && clean ? 0 : 1;
}
