/* test_collide_part.c: parts of saved shapes (tree/part_file.h): what rules and proofs keep. They are believed when the checksum is
 * right, and whatever is in them, nobody leaves their memory. */
#include "support_shape.h"

#include "collide/fan.h"
#include "collide/flat.h"
#include "collide/shape_file.h"
#include "tree/blend.h"
#include "tree/skin_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Asks what a shape can be asked: it ends, whatever it says. */
static void askAll(const pnShape *shape, const pnPose *pose) {
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.shape = shape;
  pnTree *tree, *other;
  if (pnCreateTree(&def, &tree) != PN_OK) return;
  testExpectOk(pnCreateTree(&def, &other));
  pnQueryDef query = pnDefaultQueryDef();
  for (int i = 0; i < 2; ++i) {
    query.first = i == 1;
    if (pnTree_GetDef(tree).self) (void)pnCollideSelf(tree, &query, NULL, NULL);
    (void)pnCollideTrees(tree, other, &query, NULL, NULL);
  }
  (void)pnTree_Validate(tree);
  pnDestroyTree(other);
  pnDestroyTree(tree);
}

/* Parts are believed when the checksum is right. Whatever is in them, nobody leaves their memory. */
static void changedPartsDoNoHarm(void **state) {
  (void)state;
  TestRandom r = testRandom(12);
  for (int d = 0; d < TEST_SHAPES; ++d) {
    pnShapeDef def = testShapeDef(d);
    const pnShape *shape = testShapeOf(&def);
    TestBlock bare = testShapeSave(shape);
    testExpectOk(pnShape_PrepareSelf(shape));
    TestBlock whole = testShapeSave(shape);
    assert_true(whole.bytes >= bare.bytes);
    pnPose *pose = testShapePose(&def);
    testShapeBend(pose, &def);
    TestBlock block = {malloc(whole.bytes), whole.bytes};
    uint32_t accepted = 0, refused = 0;
    for (int i = 0; i < 150; ++i) {
      memcpy(block.data, whole.data, whole.bytes);
      testShapeMutate(&r, &block, PN_MIN(bare.bytes, whole.bytes - 5));
      const pnShape *loaded;
      pnResult result = pnLoadShape(&def, block.data, block.bytes, &loaded);
      assert_true(result == PN_OK || result == PN_ERROR_FORMAT);
      refused += result != PN_OK;
      if (result != PN_OK) continue;
      ++accepted;
      askAll(loaded, pose);
      pnShape_Release(loaded);
    }
    assert_true(accepted + refused == 150 && (refused > 5 || whole.bytes == bare.bytes));
    free(block.data);
    free(whole.data);
    free(bare.data);
    pnDestroyPose(pose);
    pnShape_Release(shape);
  }
}

/* A part of a prepared shape, with its form. */
typedef struct Part {
  const pnShape *shape;
  const pnPartForm *form;
  void *data;
  size_t counts[PN_PART_ARRAYS];
} Part;

static Part partOf(const pnShape *shape, pnShapePart which, const pnPartForm *form) {
  Part part = {shape, form, (void *)(uintptr_t)pn_partOf(shape, which), {0}};
  assert_non_null(part.data);
  form->measure(shape, part.data, part.counts);
  for (uint32_t i = 0; i < form->arrayCount; ++i)
    if (form->array[i].again) part.counts[i] = form->array[i].again(shape);
  assert_true(form->check(shape, part.data, part.counts));
  return part;
}

/* One number of a part is another one: that is found. */
static void expectFound(const Part *part, void *at, const void *wrong, size_t bytes) {
  char right[8];
  memcpy(right, at, bytes);
  memcpy(at, wrong, bytes);
  assert_false(part->form->check(part->shape, part->data, part->counts));
  memcpy(at, right, bytes);
  assert_true(part->form->check(part->shape, part->data, part->counts));
}

static void expectFound32(const Part *part, uint32_t *at, uint32_t wrong) {
  expectFound(part, at, &wrong, sizeof wrong);
}

static void expectNumber(const Part *part, float *at) {
  expectFound(part, at, &(float){INFINITY}, sizeof *at);
  expectFound(part, at, &(float){NAN}, sizeof *at);
}

static const pnShape *prepare(int i, pnShapeDef *outDef) {
  *outDef = testShapeDef(i);
  const pnShape *shape = testShapeOf(outDef);
  testExpectOk(pnShape_PrepareSelf(shape));
  return shape;
}

static void wrongFansAreFound(void **state) {
  (void)state;
  pnShapeDef def;
  const pnShape *shape = prepare(0, &def);
  Part part = partOf(shape, PN_PART_FANS, &pn_fanForm);
  pnFans *fans = part.data;
  uint32_t listed = shape->leafVertexFirst[shape->leafCount];
  expectFound32(&part, &fans->blocks[0].groupFirst, 1);
  expectFound32(&part, &fans->blocks[fans->blockCount].groupFirst, fans->blocks[fans->blockCount].groupFirst + 1);
  expectFound32(&part, &fans->blocks[fans->blockCount].leafFirst, fans->blocks[fans->blockCount].leafFirst + 1);
  expectFound(&part, &fans->groups[0].around, &(uint16_t){PN_FAN_MOST + 1}, 2);
  expectFound(&part, &fans->groups[0].around, &(uint16_t){2}, 2);
  expectFound(&part, &fans->groups[0].lanes, &(uint8_t){5}, 1);
  expectFound(&part, &fans->groups[0].closed, &(uint8_t){2}, 1);
  expectFound32(&part, &fans->groups[1].placeFirst, 0);
  expectFound32(&part, &fans->groups[0].vertex[3], pnMesh_GetVertexCount(def.mesh));
  expectFound32(&part, &fans->groups[0].seamFirst, 1);
  expectFound32(&part, &fans->groups[0].copyFirst, 1);
  expectFound32(&part, &fans->groups[1].copyFirst, 1);
  expectFound32(&part, &fans->places[5], listed);
  expectFound32(&part, &fans->leaves[0], shape->leafCount);
  pnShape_Release(shape);
}

/* One group, consistent in itself, of so many vertices around as there may be, and of others. */
static void fansHaveTheirSize(void **state) {
  (void)state;
  static uint32_t places[4 * (PN_FAN_MOST + 2)];
  pnShapeDef def = testShapeDef(0);
  const pnShape *shape = testShapeOf(&def);
  uint32_t triangles = pnMesh_GetTriangleCount(def.mesh), *slots = malloc(triangles * sizeof(uint32_t));
  assert_non_null(slots);
  const uint16_t around[] = {1, 2, PN_FAN_MOST, PN_FAN_MOST + 1};
  for (int i = 0; i < 4; ++i) {
    pnFanBlock blocks[2] = {{0, 0}, {1, 0}};
    pnFanGroup groups[2] = {{.around = around[i], .lanes = 1}, {0}};
    pnSeam seam = {{0, 0}, 0};
    uint32_t leaf = 0;
    pnCopyPair copies = {{0, 0}, 0};
    pnFans fans = {1, blocks, groups, places, &seam, &copies, &leaf, slots};
    const size_t counts[PN_PART_ARRAYS] = {2, 2, 4 * ((size_t)around[i] + 1), 0, 0, 0, triangles};
    assert_int_equal(pn_fanForm.check(shape, &fans, counts), i == 1 || i == 2);
  }
  free(slots);
  pnShape_Release(shape);
}

/* Pairs of copies name lanes of leaves with a triangle in them. */
static void wrongCopiesAreFound(void **state) {
  (void)state;
  static uint32_t places[4 * 4];
  pnShapeDef def;
  const pnShape *shape = NULL;
  uint32_t empty = 0, lanes = 0;
  for (int i = 0; empty == lanes; ++i) { /* the first with a leaf that is not full */
    pnShape_Release(shape);
    def = testShapeDef(i);
    shape = testShapeOf(&def);
    lanes = PN_LANES * shape->leafCount;
    for (empty = 0; empty < lanes && shape->leafTriangles[empty] != PN_NONE;) ++empty;
  }
  uint32_t triangles = pnMesh_GetTriangleCount(def.mesh), *slots = malloc(triangles * sizeof(uint32_t));
  assert_non_null(slots);
  const pnCopyPair copies[] = {{{0, PN_LANES}, 3}, {{0, lanes}, 0}, {{UINT32_MAX, 0}, 0},
                               {{empty, 0}, 0},    {{0, empty}, 0}, {{0, PN_LANES}, 4}};
  for (uint32_t i = 0; i < sizeof copies / sizeof copies[0]; ++i) {
    pnFanBlock blocks[2] = {{0, 0}, {1, 0}};
    pnFanGroup groups[2] = {{.around = 3, .lanes = 4}, {.copyFirst = 1}};
    pnSeam seam = {{0, 0}, 0};
    pnCopyPair copy = copies[i];
    uint32_t leaf = 0;
    pnFans fans = {1, blocks, groups, places, &seam, &copy, &leaf, slots};
    const size_t counts[PN_PART_ARRAYS] = {2, 2, 16, 0, 1, 0, triangles};
    assert_int_equal(pn_fanForm.check(shape, &fans, counts), i == 0);
  }
  free(slots);
  pnShape_Release(shape);
}

static void wrongRegionsAreFound(void **state) {
  (void)state;
  pnShapeDef def;
  const pnShape *shape = prepare(0, &def);
  Part part = partOf(shape, PN_PART_FLAT, &pn_flatForm);
  pnFlat *flat = part.data;
  uint32_t listed = shape->leafVertexFirst[shape->leafCount];
  assert_true(flat->regionCount > 1);
  expectFound32(&part, &flat->regions[0].node, shape->innerCount);
  expectFound32(&part, &flat->regions[0].node, flat->regions[1].node);
  expectFound32(&part, &flat->regions[0].middle, listed);
  expectFound32(&part, &flat->regions[1].leafFirst, 0);
  expectFound32(&part, &flat->regions[1].rimFirst, flat->regions[0].rimFirst + 7);
  expectFound32(&part, &flat->regions[1].rimFirst, PN_RIM_MOST + 6);
  expectFound32(&part, &flat->regions[1].seamFirst, UINT32_MAX);
  expectFound32(&part, &flat->leaves[0].leaf, shape->leafCount);
  expectFound32(&part, &flat->leaves[0].lanes, 256);
  expectFound32(&part, &flat->rims[0], listed);
  pnShape_Release(shape);
}

static void wrongVolumesAreFound(void **state) {
  (void)state;
  pnShapeDef def;
  for (int i = 0; i < 2; ++i) { /* deltas, references */
    def = i ? testShapeDef(15) : testShapeDefOf(testShapes.avatar.mesh, testShapes.breath, NULL);
    const pnShape *shape = testShapeOf(&def);
    testExpectOk(pnShape_PrepareSelf(shape));
    Part part = partOf(shape, PN_PART_RULE, shape->rule->constants(shape));
    pnBlend *blend = part.data;
    expectFound32(&part, &blend->termFirst[1], UINT32_MAX);
    expectFound32(&part, &blend->termFirst[0], 1);
    expectFound32(&part, &blend->termIngredient[0], blend->ingredientCount);
    expectFound32(&part, &blend->leafTermFirst[1], UINT32_MAX);
    expectFound32(&part, &blend->leafTarget[0], shape->morph->targetCount);
    expectNumber(&part, &blend->rows[3]);
    expectNumber(&part, &blend->leafRows[3]);
    if (i == 1) expectFound32(&part, &blend->termFirst[1], blend->termFirst[1] - 1);
    pnShape_Release(shape);
  }
  const pnShape *shape = prepare(18, &def);
  Part part = partOf(shape, PN_PART_RULE, shape->rule->constants(shape));
  expectNumber(&part, part.data);
  part.counts[0] -= 1;
  assert_false(part.form->check(shape, part.data, part.counts));
  pnShape_Release(shape);
}

static void wrongJointsAreFound(void **state) {
  (void)state;
  pnShapeDef def;
  const pnShape *shape = prepare(16, &def); /* lanes */
  Part part = partOf(shape, PN_PART_RULE, shape->rule->constants(shape));
  pnSkinBound *bound = part.data;
  pnSkinLanes *lanes = &bound->lanes;
  uint32_t joints = shape->skin->jointCount;
  expectFound32(&part, &lanes->termFirst[1], 0); /* a seat without a joint */
  expectFound32(&part, &lanes->termFirst[1], UINT32_MAX);
  expectFound32(&part, &lanes->termJoint[0], joints);
  expectNumber(&part, &lanes->termRows[0]);
  expectFound32(&part, (uint32_t *)(void *)(lanes->termRows + pn_termFloats(lanes) - 1), 1);
  assert_true(part.counts[4] > 0);
  expectFound32(&part, &lanes->pairs[0].b, joints);
  expectNumber(&part, &lanes->pairs[0].xHalf[2][7]);
  expectFound32(&part, &lanes->pairFirst[1], UINT32_MAX);
  expectFound32(&part, &bound->deltaFirst[1], UINT32_MAX);
  expectFound32(&part, &bound->deltas[0].target, shape->morph->targetCount);
  expectNumber(&part, &bound->deltas[0].span.half[2]);
  pnShape_Release(shape);
  shape = prepare(17, &def); /* child by child */
  part = partOf(shape, PN_PART_RULE, shape->rule->constants(shape));
  bound = part.data;
  expectFound32(&part, &bound->termFirst[1], 0);
  expectFound32(&part, &bound->terms[0].joint, joints);
  expectNumber(&part, &bound->terms[0].change.half[2]);
  expectNumber(&part, &bound->spans[1].mid[0]);
  pnShape_Release(shape);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changedPartsDoNoHarm), cmocka_unit_test(wrongFansAreFound),
      cmocka_unit_test(fansHaveTheirSize),    cmocka_unit_test(wrongCopiesAreFound),
      cmocka_unit_test(wrongRegionsAreFound), cmocka_unit_test(wrongVolumesAreFound),
      cmocka_unit_test(wrongJointsAreFound),
  };
  return cmocka_run_group_tests(tests, testOpenShapes, testCloseShapes);
}
