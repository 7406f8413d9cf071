/* test_world_memory.c: memory that comes and goes. A world with a body of every kind and the queries of all rooms beside it, on
 * one worker and on several, while allocations fail: one, all from one on, by chance, in bursts. Whatever happens, every call
 * answers PN_OK or PN_ERROR_MEMORY; a frame that is answered is answered rightly; when there is memory again everything
 * is as if there had always been; and nothing leaks. */
#include "support.h"

#include "support_morph.h"
#include "support_skin.h"

#include "pinch/collide.h"
#include "pinch/find.h"
#include "pinch/volume.h"

#define BODIES 8u
#define POSES 2u
#define FREE_VERTICES 162u

/* Everything there is. A body more is there only now and then. */
typedef struct Stage {
  pnPool *pool;
  pnMesh *ball, *ring, *crumpled;
  MorphBody morph;
  SkinBody skin;
  pnSoup *soup;
  pnWorld *world;
  pnBodyId body[BODIES];
  pnPairList *list;
} Stage;

/* The answers, learnt in a life without failures. */
static struct {
  uint64_t frame[POSES], self[POSES], questions[POSES], step[POSES], findings;
  double volume;
} s_truth;

/* ---------------------------------------------------------------- a world of all kinds */

static void addBody(Stage *s, uint32_t i, pnBodyDef def) {
  def.self = def.kind != PN_BODY_STATIC;
  testExpectOk(pnWorld_CreateBody(s->world, &def, &s->body[i]));
}

static void makeMeshes(Stage *s) {
  float crumpled[3 * 81];
  testExpectOk(pnMakeIcosphere(2, 1, &s->ball));
  testExpectOk(pnMakeTorus(1, 0.5f, 9, 9, &s->ring));
  assert_int_equal(pnMesh_GetVertexCount(s->ball), FREE_VERTICES);
  memcpy(crumpled, pnMesh_GetVertices(s->ring), sizeof crumpled);
  for (int i = 0; i < 3 * 81; i += 5) crumpled[i] *= -1; /* so that neighbours meet as well */
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = crumpled;
  def.vertexCount = 81;
  def.triangles = pnMesh_GetTriangles(s->ring);
  def.triangleCount = pnMesh_GetTriangleCount(s->ring);
  testExpectOk(pnCreateMesh(&def, &s->crumpled));
  s->morph = morphMake(MORPH_SPARSE, 1, 1, 3);
  s->skin = skinMake(SKIN_SMOOTH, 1, 1, 0, 5);
}

static void makeSoup(Stage *s) {
  TestRandom random = testRandom(7);
  float p[9 * 40];
  for (int i = 0; i < 9 * 40; ++i) p[i] = testFloat(&random, -1, 1);
  testExpectOk(pnCreateSoup(NULL, &s->soup));
  testExpectOk(pnSoup_Add(s->soup, PN_PRIMITIVE_TRIANGLE, p, 40, NULL));
}

static void openStage(Stage *s, uint32_t workers) {
  *s = (Stage){0};
  testExpectOk(pnCreatePool(workers, &s->pool));
  makeMeshes(s);
  makeSoup(s);
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = pnPool_GetTasks(s->pool);
  testExpectOk(pnCreateWorld(&worldDef, &s->world));
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = s->ball;
  addBody(s, 0, def);
  def.kind = PN_BODY_STATIC;
  addBody(s, 1, def);
  def.mesh = s->crumpled;
  def.kind = PN_BODY_FREE;
  addBody(s, 2, def);
  addBody(s, 3, def);
  def.kind = PN_BODY_RIGID;
  def.selfFilter.ignoreRest = true;
  addBody(s, 4, def);
  def = pnDefaultBodyDef();
  def.kind = PN_BODY_MORPH;
  def.mesh = s->morph.mesh;
  def.morph = s->morph.morph;
  addBody(s, 5, def);
  def = pnDefaultBodyDef();
  def.kind = PN_BODY_SKINNED;
  def.mesh = s->skin.mesh;
  def.skin = s->skin.skin;
  addBody(s, 6, def);
  def = pnDefaultBodyDef();
  def.kind = PN_BODY_SOUP;
  def.soup = s->soup;
  addBody(s, 7, def);
  testExpectOk(pnCreatePairList(&s->list));
}

static void closeStage(Stage *s) {
  pnDestroyPairList(s->list);
  pnDestroyWorld(s->world);
  pnDestroySoup(s->soup);
  skinFree(&s->skin);
  morphFree(&s->morph);
  pnDestroyMesh(s->crumpled);
  pnDestroyMesh(s->ring);
  pnDestroyMesh(s->ball);
  pnDestroyPool(s->pool);
}

/* ---------------------------------------------------------------- what is asked */

/* PN_OK, or no memory and a message. */
static bool happened(pnResult result) {
  if (result != PN_OK) {
    assert_int_equal(result, PN_ERROR_MEMORY);
    assert_true(pnGetMessage()[0] != 0);
  }
  return result == PN_OK;
}

/* All bodies into pose k. */
static bool pose(Stage *s, uint32_t k) {
  TestRandom random = testRandom(100 + k);
  float v[3 * FREE_VERTICES];
  for (uint32_t i = 0; i < 3 * FREE_VERTICES; ++i)
    v[i] = pnMesh_GetVertices(s->ball)[i] * (1 + 0.3f * (float)k) + testFloat(&random, -0.05f, 0.05f);
  pnMatrix m = testRotation(&random, 0.5f);
  bool ok = happened(pnBody_SetVertices(s->world, s->body[0], v, FREE_VERTICES));
  for (uint32_t i = 2; i < 7; ++i) {
    m.m[0][3] += 0.7f; /* a body on another is work for exact arithmetic only */
    ok = happened(pnBody_SetTransform(s->world, s->body[i], &m)) && ok;
  }
  morphRandomWeights(&s->morph, &random);
  skinRandomJoints(&s->skin, &random, 0, 0.5f);
  ok = happened(pnBody_SetWeights(s->world, s->body[5], s->morph.weights, s->morph.targetCount)) && ok;
  return happened(pnBody_SetJoints(s->world, s->body[6], s->skin.joints, s->skin.jointCount)) && ok;
}

static uint64_t hashOf(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* The answer of the frame as a number. Bodies that come and go have no say in it: only those that are always there. */
static uint64_t hashFrame(const Stage *s, const pnFrame *frame) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnContact *c = &pnWorld_GetContacts(s->world)[i];
    if (c->a.index1 <= BODIES && c->b.index1 <= BODIES) {
      hash = hashOf(hash, (uint32_t[2]){c->a.index1, c->b.index1}, 8);
      hash = hashOf(hash, pnWorld_GetPairs(s->world) + c->firstPair, c->pairCount * sizeof(pnPair));
    }
  }
  return hash;
}

static uint64_t hashList(const pnPairList *list) {
  size_t count = pnPairList_GetCount(list);
  return count ? hashOf(0xcbf29ce484222325u, pnPairList_GetPairs(list), count * sizeof(pnPair)) : 0;
}

/* A query of the collide room: the crumpled body with itself, by a tree of its own. */
static bool askSelf(Stage *s, uint32_t k, uint64_t *outHash) {
  pnQueryDef def = pnDefaultQueryDef();
  def.tasks = pnPool_GetTasks(s->pool);
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnTreeLab treeLab = {0};
  treeDef.lab = &treeLab;
  treeDef.self = true;
  treeLab.form = k ? PN_FORM_DOP14 : PN_FORM_BOX;
  treeDef.pose = pnBody_GetPose(s->world, s->body[2]);
  pnTree *tree = NULL;
  bool ok = happened(pnCreateTree(&treeDef, &tree)) && happened(pnCollideSelf(tree, &def, s->list, NULL));
  *outHash = ok ? hashList(s->list) : 0;
  pnDestroyTree(tree);
  return ok;
}

static bool askVolume(Stage *s, double *outVolume) {
  pnOverlapDef def = pnDefaultOverlapDef();
  def.poseA = pnBody_GetPose(s->world, s->body[0]);
  def.poseB = s->morph.pose;
  def.resolution = 16;
  def.tasks = pnPool_GetTasks(s->pool);
  pnOverlap *overlap = NULL;
  pnOverlapResult result = {0};
  bool ok = happened(pnCreateOverlap(&def, &overlap)) && happened(pnOverlap_Measure(overlap, &result));
  *outVolume = result.volume;
  pnDestroyOverlap(overlap);
  return ok;
}

/* Questions of the query room, to all bodies: more rays than go side by side. */
static bool askQuestions(Stage *s, uint32_t k, uint64_t *outHash) {
  enum { COUNT = 150 };
  TestRandom random = testRandom(40 + k);
  pnRay rays[COUNT];
  pnHit first[COUNT] = {0};
  pnClosest closest[COUNT] = {0};
  pnDistance distances[2] = {0};
  pnHitList *all = NULL;
  pnTriangleList *inside = NULL;
  const pnBodyPair pairs[2] = {{s->body[0], s->body[6]}, {s->body[2], s->body[5]}};
  const pnBox box = {{-1, -1, -1}, {0.5f, 1, 1}};
  float points[3 * COUNT];
  for (int i = 0; i < 3 * COUNT; ++i) points[i] = testFloat(&random, -4, 4);
  for (int i = 0; i < COUNT; ++i) {
    rays[i] = pnDefaultRay();
    rays[i].origin = (pnVec3){points[3 * i], points[3 * i + 1], points[3 * i + 2]};
    rays[i].direction = (pnVec3){0.1f - points[3 * i], -points[3 * i + 1], -points[3 * i + 2]};
  }
  bool ok = happened(pnCreateHitList(&all)) && happened(pnCreateTriangleList(&inside)) &&
            happened(pnWorld_FindFirstHits(s->world, rays, COUNT, UINT32_MAX, first)) &&
            happened(pnWorld_FindAllHits(s->world, rays, COUNT, UINT32_MAX, all)) &&
            happened(pnWorld_FindInBoxes(s->world, &box, 1, UINT32_MAX, inside)) &&
            happened(pnWorld_FindClosest(s->world, points, COUNT, INFINITY, UINT32_MAX, closest)) &&
            happened(pnWorld_FindDistances(s->world, pairs, 2, INFINITY, distances));
  if (ok) {
    uint64_t counts[2] = {pnHitList_GetCount(all), pnTriangleList_GetCount(inside)};
    *outHash = hashOf(hashOf(0xcbf29ce484222325u, first, sizeof first), closest, sizeof closest);
    *outHash = hashOf(hashOf(*outHash, counts, sizeof counts), distances, sizeof distances);
  }
  pnDestroyHitList(all);
  pnDestroyTriangleList(inside);
  return ok;
}

/* A step: what meets between two frames. */
static bool askStep(Stage *s, uint32_t k, uint64_t *outHash) {
  TestRandom random = testRandom(60 + k);
  pnMatrix m = testRotation(&random, 0.5f);
  bool ok = happened(pnWorld_BeginStep(s->world));
  for (uint32_t i = 2; i < 7; ++i) {
    m.m[0][3] += 0.7f;
    ok = happened(pnBody_SetTransform(s->world, s->body[i], &m)) && ok;
  }
  pnStepDef def = pnDefaultStepDef();
  def.noSelf = true; /* one that is crumpled takes long, as all of what meets does */
  def.what = PN_SWEPT_EARLIEST;
  pnStep step = pnWorld_CollideSwept(s->world, &def);
  ok = happened(step.result) && ok;
  *outHash = hashOf(0xcbf29ce484222325u, (size_t[2]){step.contactCount, step.impactCount}, 2 * sizeof(size_t));
  for (size_t i = 0; ok && i < step.impactCount; ++i) {
    const pnFeatureImpact *impact = &pnWorld_GetImpacts(s->world)[i];
    *outHash = hashOf(*outHash, (uint32_t[3]){impact->kind, impact->a, impact->b}, 12);
    *outHash = hashOf(*outHash, (double[2]){impact->lo, impact->hi}, 16);
  }
  return ok;
}

/* Findings of two bodies, by trees of their own. */
static bool askFindings(Stage *s, uint64_t *outHash) {
  pnQueryDef query = pnDefaultQueryDef();
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnFinderDef def = pnDefaultFinderDef();
  def.tasks = query.tasks = pnPool_GetTasks(s->pool);
  def.noDepth = true; /* they take long, and test_find_depth has them */
  pnTree *tree[2] = {0};
  pnFinder *finder = NULL;
  uint32_t number;
  bool ok = happened(pnCreateFinder(&def, &finder));
  for (uint32_t i = 0; i < 2 && ok; ++i) {
    treeDef.pose = pnBody_GetPose(s->world, s->body[2 * i]);
    pnFinderBodyDef bodyDef = pnDefaultFinderBodyDef();
    ok = happened(pnCreateTree(&treeDef, &tree[i]));
    bodyDef.tree = tree[i];
    ok = ok && happened(pnFinder_AddBody(finder, &bodyDef, &number));
  }
  ok = ok && happened(pnCollideTrees(tree[0], tree[1], &query, s->list, NULL));
  if (ok) {
    pnFinderContact contact = {0, 1, pnPairList_GetPairs(s->list), pnPairList_GetCount(s->list)};
    pnFinderFrame frame = {.number = 1, .time = 1, .contacts = &contact, .contactCount = 1, .curves = true};
    ok = happened(pnFinder_AddFrame(finder, &frame));
  }
  uint32_t count = 0;
  const pnRegion *regions = ok ? pnFinder_GetRegions(finder, &count) : NULL;
  *outHash = hashOf(0xcbf29ce484222325u, &count, sizeof count);
  for (uint32_t i = 0; i < count; ++i)
    *outHash = hashOf(hashOf(*outHash, &regions[i].box, sizeof(pnBox)), &regions[i].depth, sizeof regions[i].depth);
  pnDestroyFinder(finder);
  pnDestroyTree(tree[0]);
  pnDestroyTree(tree[1]);
  return ok;
}

/* A body that comes and goes. */
static void visit(Stage *s, uint32_t k) {
  pnBodyDef def = pnDefaultBodyDef();
  pnBodyId guest;
  def.mesh = k ? s->ring : s->ball;
  def.self = true;
  if (happened(pnWorld_CreateBody(s->world, &def, &guest))) {
    happened(pnWorld_Collide(s->world, NULL).result);
    testExpectOk(pnWorld_DestroyBody(s->world, guest));
  }
}

/* Primitives that come and go: places are taken again, so that the soup is what it was. */
static void stir(Stage *s) {
  float far[9] = {9, 9, 9, 9, 8, 9, 8, 9, 9};
  pnPrimitiveId id;
  if (happened(pnSoup_Add(s->soup, PN_PRIMITIVE_TRIANGLE, far, 1, &id))) {
    happened(pnWorld_Collide(s->world, NULL).result);
    testExpectOk(pnSoup_Remove(s->soup, &id, 1));
  }
}

/* An answer that there was: kept, or compared. */
static void expectHash(bool answered, uint64_t hash, bool learn, uint64_t *truth) {
  if (!answered) return;
  assert_true(learn || hash == *truth);
  *truth = hash;
}

/* One round of everything, in pose k. With `learn` the answers are kept, else they are compared. */
static void goRound(Stage *s, uint32_t k, bool learn) {
  bool posed = pose(s, k);
  assert_true(posed || !learn);
  pnFrame frame = pnWorld_Collide(s->world, NULL);
  uint64_t hash = 0;
  double volume = 0;
  bool answered = happened(frame.result);
  if (answered) hash = hashFrame(s, &frame);
  expectHash(answered && posed, hash, learn, &s_truth.frame[k]);
  answered = askSelf(s, k, &hash);
  expectHash(answered && posed, hash, learn, &s_truth.self[k]);
  answered = askQuestions(s, k, &hash);
  expectHash(answered && posed, hash, learn, &s_truth.questions[k]);
  answered = k == 0 && askFindings(s, &hash);
  expectHash(answered && posed, hash, learn, &s_truth.findings);
  if (k == 0 && askVolume(s, &volume) && posed) {
    assert_true(learn || volume == s_truth.volume);
    s_truth.volume = volume;
  }
  visit(s, k);
  stir(s);
  answered = askStep(s, k, &hash);
  expectHash(answered && posed, hash, learn, &s_truth.step[k]);
}

/* ---------------------------------------------------------------- failures */

/* A life in which memory fails, and the time after it; a warm world has seen a frame of each pose before, the others have
 * everything to allocate. Returns how many allocations failed. */
static uint64_t live(uint32_t workers, const TestFailures *failures, bool warm) {
  Stage s;
  testInstallAllocator(UINT64_MAX, false);
  openStage(&s, workers);
  for (uint32_t k = 0; warm && k < POSES; ++k) goRound(&s, k, failures == NULL);
  testSetFailures(failures);
  for (uint32_t k = 0; k < POSES; ++k) goRound(&s, k, false);
  uint64_t failed = testFailureCount();
  testSetFailures(NULL);
  for (uint32_t k = 0; k < POSES; ++k) goRound(&s, k, false);
  closeStage(&s);
  assert_int_equal(pnGetByteCount(), 0);
  testRestoreAllocator();
  return failed;
}

static int learn(void **state) {
  (void)state;
  live(1, NULL, true);
  return s_truth.frame[0] && s_truth.frame[1] && s_truth.self[0] && s_truth.volume > 0 ? 0 : -1;
}

/* Some of the allocations are enough here: the tests of the rooms go through all of theirs. */
static uint32_t step(void) {
  return testIsShort() ? 61 : 17;
}

static void oneFails(void **state) {
  (void)state;
  uint32_t tries = 0;
  for (uint32_t at = 0; live(1 + at % 4, &(TestFailures){.at = at}, false) > 0; at += step()) ++tries;
  print_message("  %u allocations refused, one at a time\n", tries);
  assert_true(tries >= testRounds(40));
}

static void allFailFromOneOn(void **state) {
  (void)state;
  uint32_t tries = 0;
  for (uint32_t at = 1; live(1 + at % 4, &(TestFailures){.at = at, .andAfter = true}, false) > 0; at += step()) ++tries;
  assert_true(tries >= testRounds(40));
}

/* Some, by chance: alone and in bursts, often and seldom. */
static void someFail(void **state) {
  (void)state;
  static const uint32_t bursts[3] = {1, 4, 25}, seldom[3] = {2, 9, 40};
  uint64_t failed = 0;
  for (uint32_t i = 0; i < testRounds(36); ++i) {
    TestFailures f = {.at = UINT64_MAX, .burst = bursts[i % 3], .oneIn = seldom[i / 3 % 3], .seed = i};
    failed += live(1 + i % 4, &f, i % 2);
  }
  print_message("  %llu allocations refused by chance\n", (unsigned long long)failed);
  assert_true(failed > testRounds(200));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oneFails),
      cmocka_unit_test(allFailFromOneOn),
      cmocka_unit_test(someFail),
  };
  return cmocka_run_group_tests(tests, learn, NULL);
}
