/* test_volume_scenes.c: the bodies of the volume experiments are what they say they are: closed, simple, of the
 * paper's sizes and about its number of layers; the pairs overlap; the rain of particles is stopped by the body. */
#include "support.h"

#include "pinch/volume.h"
#include "volume_scenes.h"

#include <stdlib.h>

static pnPose *makePose(const pnMesh *mesh) {
  pnPoseDef def = pnDefaultPoseDef();
  def.mesh = mesh;
  pnPose *pose;
  testExpectOk(pnCreatePose(&def, &pose));
  return pose;
}

static void shapes(void **state) {
  (void)state;
  static const uint32_t faces[PN_VOLUME_SHAPE_COUNT] = {12000, 50700, 110592, 150528, 519168};
  for (int s = 0; s < PN_VOLUME_SHAPE_COUNT; ++s) {
    // the largest one at a quarter of its size, to be quick
    pnMesh *mesh;
    bool large = s == PN_VOLUME_WYRM;
    testExpectOk(pnMakeVolumeShape((pnVolumeShape)s, large ? 104 : 0, &mesh));
    assert_int_equal(pnMesh_GetTriangleCount(mesh), large ? faces[s] / 4 : faces[s]);
    pnMeshInfo info;
    testExpectOk(pnMesh_Validate(mesh, &info));
    assert_true(info.closed && info.oriented && info.componentCount == 1);
    pnPose *pose = makePose(mesh);
    pnLdiDef def = pnDefaultLdiDef();
    def.pose = pose;
    pnLdi *ldi;
    testExpectOk(pnCreateLdi(&def, &ldi));
    testExpectOk(pnLdi_Update(ldi));
    pnLdiInfo image = pnLdi_GetInfo(ldi);
    pnSelfOverlapResult self;
    testExpectOk(pnLdi_FindSelfOverlap(ldi, &self));
    print_message("  %-7s (%s): at most %u layers\n", pnVolumeShape_Name((pnVolumeShape)s),
                  pnVolumeShape_PaperName((pnVolumeShape)s), image.maxLayers);
    assert_true(image.maxLayers >= 4 && image.maxLayers <= 16 && image.oddPixelCount == 0);
    assert_true(self.volume == 0 && !self.facesInward);
    pnDestroyLdi(ldi);
    pnDestroyPose(pose);
    pnDestroyMesh(mesh);
  }
}

static void pairs(void **state) {
  (void)state;
  double simple = 0;
  for (int i = 0; i < 4; ++i) {
    const pnVolumePair *pair = &pn_volumePairs[i];
    pnMesh *a, *b;
    testExpectOk(pnMakeVolumeShape(pair->a, pair->a == PN_VOLUME_KNOT ? 0 : 30, &a));
    testExpectOk(pnMakeVolumeShape(pair->b, 30, &b));
    pnOverlapDef def = pnDefaultOverlapDef();
    pnPose *poseA = makePose(a), *poseB = makePose(b);
    pnMatrix at = pnMatrix_Identity();
    at.m[0][3] = pair->at.x, at.m[1][3] = pair->at.y, at.m[2][3] = pair->at.z;
    testExpectOk(pnPose_SetTransform(poseB, &at));
    def.poseA = poseA;
    def.poseB = poseB;
    pnOverlap *overlap;
    pnOverlapResult result;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    testExpectOk(pnOverlap_Measure(overlap, &result));
    // a little, then a lot
    assert_true(result.volumeMin > 0 && result.relation == PN_RELATION_OVERLAP);
    if (pair->complex) assert_true(result.volume > 5 * simple);
    simple = result.volume;
    pnDestroyOverlap(overlap);
    pnDestroyPose(poseA), pnDestroyPose(poseB);
    pnDestroyMesh(a), pnDestroyMesh(b);
  }
}

static void particles(void **state) {
  (void)state;
  pnParticles *rain;
  testExpectOk(pnCreateParticles(3000, &rain));
  pnPose *pose = makePose(rain->mesh);
  pnLdiDef def = pnDefaultLdiDef();
  def.pose = pose;
  def.bounds = false;
  pnLdi *ldi;
  testExpectOk(pnCreateLdi(&def, &ldi));
  uint8_t *inside = malloc(rain->count);
  uint64_t contacts = 0, stuck = 0;
  for (int frame = 0; frame < 150; ++frame) {
    pnParticles_Move(rain);
    testExpectOk(pnPose_ShareVertices(pose, rain->vertices, rain->vertexCount));
    testExpectOk(pnLdi_Update(ldi));
    pnInsideResult result;
    testExpectOk(pnLdi_TestPoints(ldi, rain->positions, rain->count, inside, &result));
    pnParticles_Respond(rain, inside);
    contacts += result.insideCount;
    // where they went back to they were outside a frame ago; the body may have followed some of them
    testExpectOk(pnLdi_TestPoints(ldi, rain->positions, rain->count, inside, &result));
    stuck += result.insideCount;
  }
  print_message("  %llu contacts in 150 frames, %llu times the body had followed\n", (unsigned long long)contacts,
                (unsigned long long)stuck);
  assert_true(contacts > 1000 && stuck < contacts);
  free(inside);
  pnDestroyLdi(ldi);
  pnDestroyPose(pose);
  pnDestroyParticles(rain);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes),
      cmocka_unit_test(pairs),
      cmocka_unit_test(particles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
