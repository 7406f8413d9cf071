/* soak.c: a world that lives long. Bodies of every kind are deformed, moved, taken out and put in at random; every so many frames the
 * pairs of two of them are compared with brute force; memory is measured, and must not grow.
 *
 *   soak [FRAMES] [SEED] [WORKERS]    a million frames by default: some minutes. Prints a line every 10 000 frames
 *
 * The exit status is 0 only when every check agreed, memory stayed flat after the first tenth, and nothing is left at the end. */
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

int main(int argc, char **argv) {
  long frames = argc > 1 ? atol(argv[1]) : 1000000, wrong = 0, checks = 0, swaps = 0;
  s_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint32_t workers = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
  pnWorldDef def = pnDefaultWorldDef();
  pnPool *pool = NULL;
  pnWorld *world;
  pnPairList *truth;
  Body bodies[BODIES];
  if (workers > 1) need(pnCreatePool(workers, &pool)), def.tasks = pnPool_GetTasks(pool);
  need(pnCreateWorld(&def, &world));
  need(pnCreatePairList(&truth));
  for (int i = 0; i < BODIES; ++i) makeBody(world, &bodies[i]);
  size_t early = 0, late = 0;
  unsigned long long pairs = 0;
  for (long f = 0; f < frames; ++f) {
    if (below(40) == 0) {
      Body *b = &bodies[below(BODIES)];
      freeBody(world, b);
      makeBody(world, b);
      ++swaps;
    }
    for (int i = 0; i < BODIES; ++i)
      if (below(3) > 0) moveBody(world, &bodies[i]);
    pnFrame frame = pnWorld_Collide(world, NULL);
    need(frame.result);
    pairs += frame.pairCount;
    if (f % CHECK_EVERY == 0) ++checks, wrong += !check(world, bodies, &frame, truth);
    size_t held = pnGetByteCount(), *most = f < frames / 10 ? &early : &late;
    *most = held > *most ? held : *most;
    if (f % TELL_EVERY == 0 || f + 1 == frames) {
      printf("%9ld frames, %6ld bodies changed, %12llu pairs, %6ld checks, %ld wrong, %8zu bytes now\n", f + 1, swaps,
             pairs, checks, wrong, held);
      fflush(stdout);
    }
  }
  for (int i = 0; i < BODIES; ++i) freeBody(world, &bodies[i]);
  pnDestroyPairList(truth);
  pnDestroyWorld(world);
  pnDestroyPool(pool);
  /* which bodies there are changes what is held; what accumulates would show as more than a quarter over nine times as many frames */
  bool flat = late <= early + early / 4, clean = pnGetByteCount() == 0;
  printf("soak: %ld frames, %ld checks, %ld wrong, at most %zu bytes early and %zu late, %zu left\n", frames, checks,
         wrong, early, late, pnGetByteCount());
  return wrong == 0 && flat && clean ? 0 : 1;
}
