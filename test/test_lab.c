/* test_lab.c: definitions and their cookies, and the laboratory's door: what is set through it arrives, and comes back. */
#include "support.h"

#include "pinch/find.h"
#include "pinch/volume.h"
#include "pinch/world.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- cookies */

/* A definition without its cookie, zeroed or with all fields set, is refused, and the message says where to start. */
#define REFUSES(call, Def)                                                        \
  do {                                                                            \
    testExpectFailure(call, PN_ERROR_ARGUMENT, "pn" #Def "|pnDefault" #Def "()"); \
  } while (0)

static void zeroedMeshesAreRefused(void **state) {
  (void)state;
  pnMesh *mesh;
  pnMeshDef def = {0};
  REFUSES(pnCreateMesh(&def, &mesh), MeshDef);
  assert_null(mesh);
  def = pnDefaultMeshDef();
  testExpectOk(pnCreateMesh(&def, &mesh)); /* empty */
  pnSkinDef skinDef = {.mesh = mesh, .jointCount = 1, .influenceCount = 1};
  pnSkin *skin;
  REFUSES(pnCreateSkin(&skinDef, &skin), SkinDef);
  assert_null(skin);
  pnSoup *soup;
  pnSoupDef soupDef = {.name = "soup"};
  REFUSES(pnCreateSoup(&soupDef, &soup), SoupDef);
  assert_null(soup);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static void zeroedTreesAreRefused(void **state) {
  (void)state;
  pnTree *tree;
  pnTreeDef zero = {0};
  REFUSES(pnCreateTree(&zero, &tree), TreeDef); /* also when there is no pose */
  assert_null(tree);
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnPose *pose;
  testExpectOk(pnCreatePose(&(pnPoseDef){mesh, NULL, NULL}, &pose));
  pnTreeDef filled = {.pose = pose, .self = true};
  REFUSES(pnCreateTree(&filled, &tree), TreeDef);
  assert_null(tree);
  const pnShape *shape;
  pnShapeDef shapeDef = {.mesh = mesh};
  REFUSES(pnCreateShape(&shapeDef, &shape), ShapeDef);
  shapeDef = pnDefaultShapeDef();
  shapeDef.mesh = mesh;
  shapeDef.tree = filled;
  REFUSES(pnCreateShape(&shapeDef, &shape), TreeDef);
  assert_null(shape);
  pnBucketDef bucketDef = {0};
  REFUSES(pnCreateBucketTree(&bucketDef, &tree), BucketDef);
  assert_null(tree);
  /* what a tree says it was made by makes another one */
  filled = pnDefaultTreeDef();
  filled.pose = pose;
  testExpectOk(pnCreateTree(&filled, &tree));
  pnTreeDef again = pnTree_GetDef(tree);
  pnTree *other;
  testExpectOk(pnCreateTree(&again, &other));
  const float point[3] = {2, 0, 0};
  pnClosest closest;
  pnClosestDef closestDef = {0};
  REFUSES(pnFindClosest(tree, point, 1, &closestDef, &closest), ClosestDef);
  pnDestroyTree(tree);
  pnDestroyTree(other);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* The case that was silent: a soup body of a zeroed definition had category and mask 0 and met nothing. */
static void zeroedBodiesAreRefused(void **state) {
  (void)state;
  pnWorld *world;
  pnWorldDef worldDef = {0};
  REFUSES(pnCreateWorld(&worldDef, &world), WorldDef);
  assert_null(world);
  testExpectOk(pnCreateWorld(NULL, &world));
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 1, NULL));
  pnBodyDef zero = {.kind = PN_BODY_SOUP, .soup = soup}, def = pnDefaultBodyDef();
  pnBodyId body;
  REFUSES(pnWorld_CreateBody(world, &zero, &body), BodyDef);
  assert_false(pnBody_IsValid(world, body));
  /* nor does a body take a zeroed tree */
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnBodyDef half = pnDefaultBodyDef();
  half.mesh = mesh;
  half.tree = (pnTreeDef){0};
  REFUSES(pnWorld_CreateBody(world, &half, &body), TreeDef);
  assert_int_equal(pnWorld_GetBodyCount(world), 0);
  def.kind = PN_BODY_SOUP;
  def.soup = soup;
  for (int i = 0; i < 2; ++i) testExpectOk(pnWorld_CreateBody(world, &def, &body));
  assert_int_equal(pnWorld_Collide(world, NULL).pairCount, 1);
  pnDestroyWorld(world);
  pnDestroySoup(soup);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static void zeroedOthersAreRefused(void **state) {
  (void)state;
  pnLdi *ldi;
  pnLdiDef ldiDef = {0};
  REFUSES(pnCreateLdi(&ldiDef, &ldi), LdiDef);
  assert_null(ldi);
  pnOverlap *overlap;
  pnOverlapDef overlapDef = {0};
  REFUSES(pnCreateOverlap(&overlapDef, &overlap), OverlapDef);
  assert_null(overlap);
  pnFinder *finder = NULL;
  pnFinderDef finderDef = {.sampleCapacity = 4};
  REFUSES(pnCreateFinder(&finderDef, &finder), FinderDef);
  assert_null(finder);
  finderDef = pnDefaultFinderDef();
  testExpectOk(pnCreateFinder(&finderDef, &finder));
  pnCompareDef compareDef = {0};
  pnStanding standings[1];
  REFUSES(pnFinder_Compare(finder, NULL, 0, &compareDef, standings, NULL), CompareDef);
  pnDestroyFinder(finder);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- the door */

/* What is zero is the default, what is set arrives, and a shape hands it on. */
static void settingsArrive(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  pnPose *pose;
  testExpectOk(pnCreatePose(&(pnPoseDef){mesh, NULL, NULL}, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  pnTree *plain, *zeroed, *other, *shaped;
  testExpectOk(pnCreateTree(&def, &plain));
  def.lab = &(pnTreeLab){0};
  testExpectOk(pnCreateTree(&def, &zeroed));
  pnTreeLab lab = pnTree_GetLab(plain), same = pnTree_GetLab(zeroed);
  assert_memory_equal(&lab, &same, sizeof lab);
  assert_true(lab.arity == 8 && lab.leafSize == 8 && lab.cut == 64 && lab.form == PN_FORM_BOX && !lab.noStamps);
  pnTreeLab asked = {
      .build = PN_BUILD_LINK, .form = PN_FORM_DOP18, .arity = 4, .leafSize = 3, .cut = 20, .noStamps = true};
  def.lab = &asked;
  testExpectOk(pnCreateTree(&def, &other));
  lab = pnTree_GetLab(other);
  assert_memory_equal(&lab, &asked, sizeof lab);
  assert_null(pnTree_GetDef(other).lab);
  assert_true(pnTree_GetNodeCount(other) > pnTree_GetNodeCount(plain));
  /* of a shape: all but noStamps are the shape's */
  def = pnDefaultTreeDef();
  def.pose = pose;
  def.shape = pnTree_GetShape(other);
  testExpectOk(pnCreateTree(&def, &shaped));
  lab = pnTree_GetLab(shaped);
  asked.noStamps = false;
  assert_memory_equal(&lab, &asked, sizeof lab);
  testExpectOk(pnTree_Rebuild(shaped)); /* and a tree built anew keeps them */
  lab = pnTree_GetLab(shaped);
  assert_memory_equal(&lab, &asked, sizeof lab);
  lab = pnShape_GetLab(pnTree_GetShape(other));
  assert_int_equal(lab.arity, 4);
  pnTree *trees[] = {plain, zeroed, other, shaped};
  for (int i = 0; i < 4; ++i) {
    testExpectOk(pnTree_Validate(trees[i]));
    pnDestroyTree(trees[i]);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Soups have theirs, through a bucket tree and through a body. */
static void settingsOfSoupsArrive(void **state) {
  (void)state;
  TestRandom random = testRandom(5);
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  float corners[300 * 9];
  for (int i = 0; i < 300 * 9; ++i) corners[i] = testFloat(&random, -1, 1);
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 300, NULL));
  pnTreeLab lab = {.method = PN_BUCKET_DIRECT, .levels = 2};
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  def.lab = &lab;
  pnTree *tree;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  assert_int_equal(pnTree_GetBucketInfo(tree).levels, 2);
  assert_true(pnTree_GetLab(tree).method == PN_BUCKET_DIRECT && pnTree_GetLab(tree).mostMoves == 64);
  pnDestroyTree(tree);
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBodyDef body = pnDefaultBodyDef();
  body.kind = PN_BODY_SOUP;
  body.soup = soup;
  body.tree.lab = &lab;
  pnBodyId id;
  testExpectOk(pnWorld_CreateBody(world, &body, &id));
  assert_int_equal(pnTree_GetBucketInfo(pnBody_GetTree(world, id)).levels, 2);
  body.tree.lab = NULL;
  testExpectOk(pnWorld_CreateBody(world, &body, &id));
  assert_int_equal(pnTree_GetBucketInfo(pnBody_GetTree(world, id)).levels, 0);
  pnDestroyWorld(world);
  pnDestroySoup(soup);
  assert_int_equal(pnGetByteCount(), 0);
}

/* Without the proof of flat regions a query opens more, in a frame as between trees, and answers the same. */
static void framesTakeQuerySettings(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeGrid(2, 2, 40, 40, &mesh));
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = mesh;
  def.self = true;
  pnBodyId body;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  pnFrame with = pnWorld_Collide(world, NULL);
  pnFrame without = pnWorld_Collide(world, &(pnFrameDef){.lab = &(pnQueryLab){.noFlat = true}});
  testExpectOk(without.result);
  assert_true(without.cost.nodePairs > with.cost.nodePairs);
  assert_true(with.pairCount == 0 && without.pairCount == 0);
  for (int k = 0; k < PN_KERNEL_COUNT; ++k) {
    pnQueryLab lab = {.kernel = (pnKernel)k, .noFlat = true};
    assert_int_equal(pnWorld_Collide(world, &(pnFrameDef){.lab = &lab}).pairCount, 0);
  }
  pnDestroyWorld(world);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zeroedMeshesAreRefused),  cmocka_unit_test(zeroedTreesAreRefused),
      cmocka_unit_test(zeroedBodiesAreRefused),  cmocka_unit_test(zeroedOthersAreRefused),
      cmocka_unit_test(settingsArrive),          cmocka_unit_test(settingsOfSoupsArrive),
      cmocka_unit_test(framesTakeQuerySettings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
