/* test_world_limits.c: the limits of docs/trust.md: the most is asked for and given up for want of memory, with sizes that have not
 * wrapped around; one more is refused before anything is read. The allocator looks at what it is asked for. */
#include "support.h"

#include "base/memory.h"
#include "mesh/mesh.h"
#include "mesh/morph.h"
#include "mesh/skin.h"
#include "mesh/soup.h"
#include "pinch/pinch.h"

#include <stdlib.h>

static size_t s_largest;

/* Nothing above 64 MB; remembers the largest that was asked for. */
static void *lookAlloc(void *user, size_t size, size_t align) {
  (void)user;
  s_largest = PN_MAX(s_largest, size);
  if (size > (size_t)64 << 20) return NULL;
  return aligned_alloc(align, (size + align - 1) / align * align);
}
static void lookFree(void *user, void *memory, size_t size) {
  (void)user, (void)size;
  free(memory);
}

static int setUp(void **state) {
  (void)state;
  s_largest = 0;
  return pnSetAllocator(lookAlloc, lookFree, NULL) == PN_OK ? 0 : -1;
}
static int tearDown(void **state) {
  (void)state;
  return pnGetByteCount() == 0 && pnSetAllocator(NULL, NULL, NULL) == PN_OK ? 0 : -1;
}

static const float s_point[9] = {0};
static const uint32_t s_index[3] = {0, 0, 0};

static void countsBeyondAreRefused(void **state) {
  (void)state;
  pnMeshDef def = pnDefaultMeshDef();
  pnMesh *mesh = NULL;
  const uint32_t most[2] = {UINT32_MAX - 1, (UINT32_MAX - 1) / 3};
  for (int i = 0; i < 4; ++i) {
    uint32_t count = i < 2 ? most[i] + 1 : UINT32_MAX;
    def.vertices = s_point, def.triangles = s_index;
    def.vertexCount = i % 2 ? 1 : count, def.triangleCount = i % 2 ? count : 1;
    assert_int_equal(pnCreateMesh(&def, &mesh), PN_ERROR_COUNT);
  }
  def.vertexCount = 3, def.triangleCount = 1;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnMorph *morph = NULL;
  pnMorphTarget target = {.count = 3, .values = s_point};
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = mesh, morphDef.targets = &target;
  for (uint32_t i = 0; i < 3; ++i) {
    morphDef.targetCount = (const uint32_t[]){0, PN_MAX_TARGETS + 1, UINT32_MAX}[i];
    assert_true(pnCreateMorph(&morphDef, &morph) != PN_OK);
  }
  pnSkin *skin = NULL;
  const uint16_t joints[24] = {0};
  const float weights[24] = {1, 1, 1};
  pnSkinDef skinDef = pnDefaultSkinDef();
  skinDef.mesh = mesh, skinDef.jointIndices = joints, skinDef.jointWeights = weights;
  for (uint32_t i = 0; i < 6; ++i) {
    skinDef.jointCount = (const uint32_t[]){0, PN_MAX_JOINTS + 1, UINT32_MAX, 1, 1, 1}[i];
    skinDef.influenceCount = (const uint32_t[]){1, 1, 1, 0, PN_MAX_INFLUENCES + 1, UINT32_MAX}[i];
    assert_true(pnCreateSkin(&skinDef, &skin) != PN_OK);
  }
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  for (uint32_t i = 0; i < 2; ++i)
    assert_true(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, s_point, i ? UINT32_MAX : PN_MAX_PLACES + 1, NULL) != PN_OK);
  assert_int_equal(pnSoup_GetCount(soup), 0);
  pnDestroySoup(soup);
  pnPool *pool = NULL;
  assert_int_equal(pnCreatePool(PN_MAX_WORKERS + 1, &pool), PN_ERROR_ARGUMENT);
  assert_int_equal(pnCreatePool(UINT32_MAX, &pool), PN_ERROR_ARGUMENT);
  pnDestroyMesh(mesh);
  /* none of it came to an allocation of that size */
  assert_true(s_largest < (size_t)1 << 20);
}

/* Shapes made by formula: the largest that is allowed asks for as much as it needs, and more than that is a wrong count. */
static void sizesDoNotWrapAround(void **state) {
  (void)state;
  pnMesh *mesh = NULL;
  assert_int_equal(pnMakeIcosphere(13, 1, &mesh), PN_ERROR_MEMORY);
  assert_true(s_largest >= 12 * ((size_t)10 << 26));
  assert_true(pnMakeIcosphere(14, 1, &mesh) != PN_OK && pnMakeIcosphere(UINT32_MAX, 1, &mesh) != PN_OK);
  s_largest = 0;
  assert_true(pnMakeGrid(1, 1, UINT32_MAX, UINT32_MAX, &mesh) != PN_OK);
  assert_true(pnMakeGrid(1, 1, 65536, 65536, &mesh) != PN_OK);
  assert_true(pnMakeTorus(1, 0.5f, UINT32_MAX, 3, &mesh) != PN_OK &&
              pnMakeBox((pnVec3){1, 1, 1}, UINT32_MAX, &mesh) != PN_OK);
  assert_true(s_largest == 0 || s_largest > (size_t)64 << 20);
  /* a product that does not fit is 0, and of that there is no block */
  const size_t counts[] = {SIZE_MAX / 2, SIZE_MAX, SIZE_MAX / 3 + 1};
  for (int i = 0; i < 3; ++i) assert_true(pn_bytes(counts[i], 3) == 0 && pn_bytes(3, counts[i]) == 0);
  assert_true(pn_bytes(1 << 20, 12) == 12 << 20 && pn_alloc(0) == NULL && pn_alloc(SIZE_MAX) == NULL);
}

static void imagesHaveLimits(void **state) {
  (void)state;
  pnMesh *mesh;
  pnPose *pose;
  pnLdi *ldi = NULL;
  pnOverlap *overlap = NULL;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnLdiDef def = pnDefaultLdiDef();
  pnOverlapDef overlapDef = pnDefaultOverlapDef();
  def.pose = pose, overlapDef.poseA = overlapDef.poseB = pose;
  for (uint32_t i = 0; i < 3; ++i) {
    def.resolution = overlapDef.resolution = (const uint32_t[]){15, 4097, UINT32_MAX}[i];
    assert_int_equal(pnCreateLdi(&def, &ldi), PN_ERROR_ARGUMENT);
    assert_int_equal(pnCreateOverlap(&overlapDef, &overlap), PN_ERROR_ARGUMENT);
  }
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(countsBeyondAreRefused, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(sizesDoNotWrapAround, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(imagesHaveLimits, setUp, tearDown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
