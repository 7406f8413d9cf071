/* test_find_data.c: findings of characters that people made. The knight of the kaykit set swings his sword: what matters comes
 * first, and shields that lie in one hand are constant. On every rigged sample nothing fails and threads do not matter.
 *
 * ctest labels: slow */
#include "support_find.h"

#include "pinch/io.h"
#include "pinch/world.h"

#define BODIES 96u

typedef struct Stage {
  pnAnimFile *file;
  pnAnimState *state;
  pnPool *pool;
  pnWorld *world;
  pnFinder *finder;
  uint32_t count;
  pnMesh *mesh[BODIES];
  pnMorph *morph[BODIES];
  pnSkin *skin[BODIES];
  pnBodyId body[BODIES];
} Stage;

/* What carries a node: the nearest one, from it upward, that the clip moves; the number after all nodes when none does. */
static uint32_t carrierOf(const pnAnimFile *file, uint32_t clip, uint32_t node) {
  for (; node != PN_NONE; node = file->nodes[node].parent)
    for (uint32_t i = 0; i < file->clips[clip].channelCount; ++i) {
      const pnAnimChannel *channel = &file->clips[clip].channels[i];
      if (channel->node == node && channel->path != PN_ANIM_WEIGHTS) return node;
    }
  return file->nodeCount;
}

static uint32_t numberOf(const Stage *s, uint32_t i) {
  return s->file->scenes[s->file->defaultScene].bodies[i];
}

static void addBody(Stage *s, uint32_t i, uint32_t clip) {
  uint32_t b = numberOf(s, i);
  const pnAnimBody *from = &s->file->bodies[b];
  testExpectOk(pnAnimFile_CreateMesh(s->file, b, from->name, &s->mesh[i]));
  if (from->targetCount > 0) testExpectOk(pnAnimFile_CreateMorph(s->file, b, s->mesh[i], &s->morph[i]));
  if (from->skin != PN_NONE) testExpectOk(pnAnimFile_CreateSkin(s->file, b, s->mesh[i], &s->skin[i]));
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = s->skin[i] ? PN_BODY_SKINNED : s->morph[i] ? PN_BODY_MORPH : PN_BODY_RIGID;
  def.mesh = s->mesh[i], def.morph = s->morph[i], def.skin = s->skin[i];
  testExpectOk(pnWorld_CreateBody(s->world, &def, &s->body[i]));
  pnFinderBodyDef find = pnDefaultFinderBodyDef();
  find.tree = pnBody_GetTree(s->world, s->body[i]);
  uint32_t number;
  testExpectOk(pnFinder_AddBody(s->finder, &find, &number));
  bool rigid = !s->skin[i] && !s->morph[i];
  testExpectOk(pnFinder_SetCarriers(s->finder, number, NULL, rigid ? carrierOf(s->file, clip, from->node) : PN_NONE));
}

/* A file on stage; false when it cannot be or has nothing that moves. */
static bool open(Stage *s, const char *path, const char *clipName, uint32_t threads, uint32_t *outClip) {
  *s = (Stage){0};
  if (pnLoadAnimFile(path, &s->file) != PN_OK) return false;
  s->count = s->file->scenes[s->file->defaultScene].bodyCount;
  *outClip = 0;
  for (uint32_t i = 0; i < s->file->clipCount && clipName; ++i)
    if (strcmp(s->file->clips[i].name, clipName) == 0) *outClip = i;
  if (s->file->clipCount == 0 || s->count == 0 || s->count > BODIES) return false;
  testExpectOk(pnCreateAnimState(s->file, &s->state));
  testExpectOk(pnCreatePool(threads, &s->pool));
  pnWorldDef world = pnDefaultWorldDef();
  pnFinderDef finder = pnDefaultFinderDef();
  world.tasks = finder.tasks = pnPool_GetTasks(s->pool);
  testExpectOk(pnCreateWorld(&world, &s->world));
  testExpectOk(pnCreateFinder(&finder, &s->finder));
  for (uint32_t i = 0; i < s->count; ++i) addBody(s, i, *outClip);
  return true;
}

static void closeStage(Stage *s) {
  pnDestroyFinder(s->finder);
  if (s->world) pnDestroyWorld(s->world);
  pnDestroyPool(s->pool);
  for (uint32_t i = 0; i < s->count && i < BODIES; ++i) {
    pnDestroySkin(s->skin[i]);
    pnDestroyMorph(s->morph[i]);
    pnDestroyMesh(s->mesh[i]);
  }
  pnDestroyAnimState(s->state);
  pnFreeAnimFile(s->file);
}

/* Frame -1 is the rest pose. */
static bool play(Stage *s, uint32_t clip, int frame) {
  if (pnAnimState_Evaluate(s->state, frame < 0 ? PN_NONE : clip, frame / 30.0) != PN_OK) return false;
  for (uint32_t i = 0; i < s->count; ++i) {
    uint32_t b = numberOf(s, i);
    pnResult moved = PN_OK;
    if (s->morph[i])
      moved =
          pnBody_SetWeights(s->world, s->body[i], pnAnimState_GetWeights(s->state, b), s->file->bodies[b].targetCount);
    if (moved == PN_OK && s->skin[i])
      moved =
          pnBody_SetJoints(s->world, s->body[i], pnAnimState_GetJoints(s->state, b), pnSkin_GetJointCount(s->skin[i]));
    else if (moved == PN_OK) moved = pnBody_SetTransform(s->world, s->body[i], pnAnimState_GetTransform(s->state, b));
    if (moved != PN_OK) return false;
  }
  pnFrame found = pnWorld_Collide(s->world, NULL);
  testExpectOk(found.result);
  pnFinderContact *contacts = malloc((found.contactCount + 1) * sizeof *contacts);
  assert_non_null(contacts);
  for (uint32_t i = 0; i < found.contactCount; ++i) {
    const pnContact *c = &pnWorld_GetContacts(s->world)[i];
    contacts[i] =
        (pnFinderContact){c->a.index1 - 1, c->b.index1 - 1, pnWorld_GetPairs(s->world) + c->firstPair, c->pairCount};
  }
  pnFinderFrame look = {
      .number = frame, .time = frame / 30.0, .contacts = contacts, .contactCount = found.contactCount};
  look.rest = frame < 0;
  testExpectOk(pnFinder_AddFrame(s->finder, &look));
  free(contacts);
  return true;
}

static bool isBetween(const Stage *s, const pnFinding *f, const char *a, const char *b) {
  const char *x = s->file->bodies[numberOf(s, f->a)].name, *y = s->file->bodies[numberOf(s, f->b)].name;
  return (strstr(x, a) && strstr(y, b)) || (strstr(x, b) && strstr(y, a));
}

static void theKnight(void **state) {
  (void)state;
  const char *path = testDataPath("kaykit/Characters/gltf/Knight.glb");
  if (!path) return;
  Stage s;
  uint32_t clip = 0, count;
  assert_true(open(&s, path, "1H_Melee_Attack_Chop", 2, &clip));
  for (int frame = -1; frame < 33; ++frame) assert_true(play(&s, clip, frame));
  testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *f = pnFinder_GetFindings(s.finder, &count);
  bool cape = false, sword = false, shields = false;
  for (uint32_t i = 0; i < count; ++i) {
    bool five = i < 5 && f[i].kind == PN_FINDING_NEW;
    cape |= five && isBetween(&s, &f[i], "Cape", "Leg") && f[i].firstFrame == 10 && f[i].lastFrame == 16;
    sword |= five && isBetween(&s, &f[i], "Sword", "Knight_Body") && f[i].firstFrame == 3 && f[i].lastFrame == 5;
    // Siblings under one node: constant throughout.
    if (!isBetween(&s, &f[i], "Shield", "Shield")) continue;
    shields = true;
    assert_int_equal(f[i].kind, PN_FINDING_CONSTANT);
  }
  assert_true(cape && sword && shields);
  closeStage(&s);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Six frames of every rigged sample, with one thread and with three: every finding the same. */
static void samplesGiveAnswers(void **state) {
  (void)state;
  const TestPath *paths;
  size_t pathCount = testAnimFiles(&paths), played = 0;
  pnSetLogFcn(testSayNothing, NULL);
  for (size_t i = 0; i < pathCount; ++i) {
    uint64_t hash[2] = {0};
    for (uint32_t pass = 0; pass < 2; ++pass) {
      Stage s;
      uint32_t clip = 0, count = 0;
      bool good = open(&s, paths[i], NULL, pass ? 3 : 1, &clip);
      for (int frame = -1; frame < 5 && good; ++frame) good = play(&s, clip, frame);
      if (s.finder) testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_DEPTH));
      const pnFinding *f = s.finder ? pnFinder_GetFindings(s.finder, &count) : NULL;
      played += good && pass == 0;
      for (uint32_t k = 0; k < count; ++k) {
        assert_true(f[k].depth.value >= 0 && f[k].depth.max >= f[k].depth.value && isfinite(f[k].depth.max));
        hash[pass] = hash[pass] * 31 + (uint64_t)(f[k].depth.value * 1e12) + (uint64_t)f[k].name[7] + f[k].kind;
      }
      closeStage(&s);
    }
    assert_true(hash[0] == hash[1]);
  }
  pnSetLogFcn(NULL, NULL);
  print_message("%zu samples\n", played);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(theKnight),
      cmocka_unit_test(samplesGiveAnswers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
