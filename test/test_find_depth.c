/* test_find_depth.c: depths against what formulas say: balls, boxes and capsules moved into each other and through sheets, at four
 * tessellations. Errors below 2 % or one step, bounds that hold, the same ranking at every tessellation. */
#include "support_find.h"

#include "pinch/volume.h"

#define LEVELS 4
#define FRAMES 9

typedef enum Shape { BALL_BALL, BALL_BOX, BALL_SHEET, BOX_SHEET, CAPSULE_BOX, CAPSULE_SHEET, SHAPE_COUNT } Shape;

/* What the tessellation itself takes away: a ball of so many triangles has its surface within it by this part of the radius.
 * Edges of an icosphere of level n are about 1.11 / 2^n long, and a chord of length c is c^2 / 8 below the ball; the middle of a
 * triangle with three such sides is c^2 / 6 below. */
static double sagOf(uint32_t level) {
  double edge = 1.11 / pow(2, level);
  return edge * edge / 6;
}

static void makeShapes(Shape shape, uint32_t level, pnMesh *out[2]) {
  uint32_t cells = 1u << level;
  if (shape == BALL_BALL || shape == BALL_BOX || shape == BALL_SHEET)
    testExpectOk(pnMakeIcosphere(level + 2, 1, &out[0]));
  else if (shape == BOX_SHEET) testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 1}, cells, &out[0]));
  else out[0] = findCapsule(level + 2, 0.5f, 0.5f);
  if (shape == BALL_BALL) testExpectOk(pnMakeIcosphere(level + 2, 1, &out[1]));
  else if (shape == BALL_BOX || shape == CAPSULE_BOX) testExpectOk(pnMakeBox((pnVec3){2, 2, 1}, cells, &out[1]));
  else testExpectOk(pnMakeGrid(6, 6, cells, cells, &out[1]));
}

/* Where the first body is when it is in by h, and how deep that is by formula. */
static float heightOf(Shape shape, float h) {
  return shape == BALL_BALL || shape == BALL_BOX || shape == CAPSULE_BOX ? 2 - h : 1 - h;
}
static double truthOf(Shape shape, double h) {
  // Nothing of a sheet is farther inside than the half width of what it cuts.
  if (shape == BOX_SHEET || shape == CAPSULE_SHEET) return fmin(h, 0.5);
  return h;
}

/* The only region of a scene, which ends here. */
static pnRegion lookAtOne(FindScene *s, bool self) {
  findLook(s, false, self, false);
  uint32_t count;
  const pnRegion *regions = pnFinder_GetRegions(s->finder, &count);
  assert_int_equal(count, 1);
  pnRegion region = regions[0];
  findFree(s);
  return region;
}

static pnRegion depthAt(Shape shape, uint32_t level, float h) {
  pnMesh *meshes[2];
  makeShapes(shape, level, meshes);
  FindScene s = findMake(NULL, meshes, 2);
  findMove(&s, 0, 0.03f, 0.02f, heightOf(shape, h));
  return lookAtOne(&s, false);
}

static void depthsAreThoseOfFormulas(void **state) {
  (void)state;
  for (int shape = 0; shape < SHAPE_COUNT; ++shape)
    for (uint32_t level = 0; level < LEVELS; ++level)
      for (int frame = 0; frame < FRAMES; ++frame) {
        float h = 0.03f + 0.1f * (float)frame;
        pnRegion r = depthAt((Shape)shape, level, h);
        double truth = truthOf((Shape)shape, h), found = r.depth.value;
        // The smaller diagonal is at least sqrt(3): one step is a 1000th of that; two balls have two surfaces.
        double round = shape == BOX_SHEET ? 0 : sagOf(level + 2) * (shape == BALL_BALL ? 2 : 1);
        double error = fmax(0.02 * truth, 0.002);
        if (found > truth + 1e-5 || found < truth - round - error || r.depth.max < found)
          fail_msg("shape %d level %u in by %g: depth %g to %g, by formula %g", shape, level, (double)h, found,
                   r.depth.max, truth);
        assert_int_equal(r.depth.kind, PN_DEPTH_INSIDE);
        // The arrow is as long as the depth.
        double x = (double)r.depth.from.x - r.depth.onto.x, y = (double)r.depth.from.y - r.depth.onto.y,
               z = (double)r.depth.from.z - r.depth.onto.z;
        assert_true(fabs(sqrt(x * x + y * y + z * z) - found) < 1e-5);
      }
}

/* ---------------------------------------------------------------- sheets */

static pnMesh *moved(pnMesh *from, void (*move)(float *p, float h), float h) {
  uint32_t n = pnMesh_GetVertexCount(from);
  float *v = malloc(3 * n * sizeof(float));
  assert_non_null(v);
  memcpy(v, pnMesh_GetVertices(from), 3 * n * sizeof(float));
  for (uint32_t i = 0; i < n; ++i) move(v + 3 * (size_t)i, h);
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v, def.vertexCount = n;
  def.triangles = pnMesh_GetTriangles(from), def.triangleCount = pnMesh_GetTriangleCount(from);
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(v);
  pnDestroyMesh(from);
  return mesh;
}

static pnRegion onlyRegion(pnMesh *a, pnMesh *b, bool self) {
  pnMesh *meshes[2] = {a, b};
  FindScene s = findMake(NULL, meshes, b ? 2 : 1);
  return lookAtOne(&s, self);
}

/* A pyramid of height h in the middle of a sheet half of it above, its corners on every raster of 4 cells and more. */
static void bump(float *p, float h) {
  float far = fmaxf(fabsf(p[0]), fabsf(p[1]));
  p[2] = -0.3f + (far < 1 ? (0.3f + h) * (1 - far) : 0);
  p[0] += 0.01f, p[1] += 0.02f;
}

/* Upright, one end below the ground by h, and the rest above. */
static void upright(float *p, float h) {
  p[2] = p[0] + 2 - h;
  p[0] = 0.013f + 0.1f * p[1];
}

static void sheetsThroughSheets(void **state) {
  (void)state;
  for (uint32_t level = 0; level < LEVELS; ++level)
    for (int k = 1; k < 6; ++k) {
      float h = 0.13f * (float)k;
      uint32_t cells = 4u << level;
      pnMesh *sheet, *flat;
      testExpectOk(pnMakeGrid(4, 4, cells, cells, &sheet));
      testExpectOk(pnMakeGrid(5, 5, 1u << level, 1u << level, &flat));
      pnRegion r = onlyRegion(moved(sheet, bump, h), flat, false);
      assert_int_equal(r.depth.kind, PN_DEPTH_THROUGH);
      if (fabs(r.depth.value - (double)h) > fmax(0.02 * (double)h, 0.006))
        fail_msg("bump %g: %g", (double)h, r.depth.value);
      // A sheet that stands in the ground, which it cuts from nowhere to nowhere: only its end is cut off.
      testExpectOk(pnMakeGrid(4, 1, cells, cells, &sheet));
      testExpectOk(pnMakeGrid(5, 5, 1u << level, 1u << level, &flat));
      r = onlyRegion(moved(sheet, upright, h), flat, false);
      assert_int_equal(r.depth.kind, PN_DEPTH_THROUGH);
      if (fabs(r.depth.value - (double)h) > fmax(0.02 * (double)h, 0.005))
        fail_msg("end %g: %g", (double)h, r.depth.value);
    }
}

/* Two sheets that cross at a corner of each: neither is cut in two, and what is left is the length of the curve. */
static void halfWay(float *p, float h) {
  p[2] = p[1];
  p[1] = 0.017f;
  p[0] += h;
}

static void curveWhereNothingIsCutOff(void **state) {
  (void)state;
  for (uint32_t level = 0; level < LEVELS; ++level) {
    pnMesh *a, *b;
    testExpectOk(pnMakeGrid(2, 2, 2u << level, 2u << level, &a));
    testExpectOk(pnMakeGrid(2, 2, 3u << level, 3u << level, &b));
    pnRegion r = onlyRegion(moved(a, halfWay, 1.5f), b, false);
    assert_true(r.depth.kind == PN_DEPTH_CURVE && fabs(r.depth.value - 0.5) < 1e-5 && fabs(r.curveLength - 0.5) < 1e-5);
  }
}

/* A strip like the letter alpha, seen from the side: from its start, 0.15 before the place where it will go through itself, along the
 * ground, round three quarters of a circle of radius 1, and down through itself to its end, h below. */
static void alpha(float *p, float h) {
  double length = 1.15 + 4.71238898038469 + 1 + (double)h, at = ((double)p[0] + 2) / 4 * length;
  double turn = at - 1.15, down = turn - 4.71238898038469;
  double x = turn < 0 ? at - 0.15 : down < 0 ? 1 + sin(turn) : 0;
  double z = turn < 0 ? 0 : down < 0 ? 1 - cos(turn) : 1 - down;
  p[0] = (float)x, p[2] = (float)z;
}

static void throughItself(void **state) {
  (void)state;
  for (uint32_t level = 0; level < LEVELS; ++level)
    for (int k = 2; k < 6; ++k) {
      float h = 0.1f * (float)k + 0.033f;
      pnMesh *strip;
      testExpectOk(pnMakeGrid(4, 1, 61u << level, 2u << level, &strip));
      pnRegion r = onlyRegion(moved(strip, alpha, h), NULL, true);
      assert_int_equal(r.depth.kind, PN_DEPTH_THROUGH);
      // The end is as far from the ground as it is low; its own piece, and the triangles it is cut at, are not the ground.
      double cell = (1.15 + 4.712 + 1 + (double)h) / (61u << level);
      if (fabs(r.depth.value - (double)h) > cell + fmax(0.02 * (double)h, 0.003))
        fail_msg("end %g: %g", (double)h, r.depth.value);
    }
}

/* ---------------------------------------------------------------- parts with holes */

/* A ball without the triangles whose middle is higher than `top`. */
static pnMesh *openBall(float top) {
  pnMesh *ball, *mesh;
  testExpectOk(pnMakeIcosphere(4, 1, &ball));
  uint32_t t = pnMesh_GetTriangleCount(ball), kept = 0;
  uint32_t *c = malloc(3 * t * sizeof(uint32_t));
  assert_non_null(c);
  for (uint32_t i = 0; i < t; ++i) {
    const uint32_t *from = pnMesh_GetTriangles(ball) + 3 * (size_t)i;
    const float *v = pnMesh_GetVertices(ball);
    if (v[3 * from[0] + 2] + v[3 * from[1] + 2] + v[3 * from[2] + 2] > 3 * top) continue;
    memcpy(c + 3 * (size_t)kept++, from, 3 * sizeof(uint32_t));
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = pnMesh_GetVertices(ball), def.vertexCount = pnMesh_GetVertexCount(ball);
  def.triangles = c, def.triangleCount = kept;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(c);
  pnDestroyMesh(ball);
  return mesh;
}

static void low(float *p, float h) {
  p[2] = h - 1;
}

/* A sheet cuts the lower end off by 0.2. With a hole of 4 or 8 % of its area a ball still has an inside, as deep; with one of 11 %, or
 * as a bowl, it is a sheet itself, of which the lower end stands through. A small hole says nothing of shared space. */
static void smallHolesAreClosed(void **state) {
  (void)state;
  static const float tops[4] = {0.92f, 0.84f, 0.775f, 0.2f};
  for (int i = 0; i < 4; ++i) {
    pnMesh *sheet;
    testExpectOk(pnMakeGrid(4, 4, 3, 3, &sheet));
    pnRegion r = onlyRegion(openBall(tops[i]), moved(sheet, low, 0.2f), false);
    assert_int_equal(r.depth.kind, i < 2 ? PN_DEPTH_INSIDE : PN_DEPTH_THROUGH);
    assert_true(fabs(r.depth.value - 0.2) < 0.006 && r.volume < 0);
  }
}

/* ---------------------------------------------------------------- shared space */

static pnMesh *closedMesh(uint32_t kind) {
  pnMesh *mesh;
  if (kind == 0) testExpectOk(pnMakeIcosphere(2, 0.8f, &mesh));
  else if (kind == 1) testExpectOk(pnMakeBox((pnVec3){0.9f, 0.4f, 0.7f}, 3, &mesh));
  else if (kind == 2) testExpectOk(pnMakeTorus(0.8f, 0.3f, 24, 10, &mesh));
  else if (kind == 3) mesh = findCapsule(2, 0.4f, 0.7f);
  else testExpectOk(pnMakeKnot(2, 3, 0.8f, 0.15f, 48, 8, &mesh));
  return mesh;
}

/* The volumes of all regions together are what layered depth images say, within the bounds they prove. */
static void volumesAreThoseOfImages(void **state) {
  (void)state;
  TestRandom random = testRandom(77);
  uint32_t known = 0, tries = 0;
  for (uint32_t k = 0; k < 15; ++k)
    for (int turn = 0; turn < 4; ++turn) {
      pnMesh *meshes[2] = {closedMesh(k / 3), closedMesh((k + k / 3) % 5)};
      FindScene s = findMake(NULL, meshes, 2);
      for (uint32_t b = 0; b < 2; ++b) {
        pnMatrix m = testRotation(&random, 0.35f);
        testExpectOk(pnPose_SetTransform(s.body[b].pose, &m));
      }
      findLook(&s, false, false, false);
      uint32_t count;
      const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
      double sum = 0;
      bool all = true;
      for (uint32_t i = 0; i < count; ++i) all = all && r[i].volume >= 0, sum += r[i].volume;
      pnOverlapDef def = pnDefaultOverlapDef();
      def.poseA = s.body[0].pose, def.poseB = s.body[1].pose;
      pnOverlap *overlap;
      pnOverlapResult image;
      testExpectOk(pnCreateOverlap(&def, &overlap));
      testExpectOk(pnOverlap_Measure(overlap, &image));
      pnDestroyOverlap(overlap);
      ++tries;
      known += all;
      if (all && (sum < image.volumeMin - 1e-6 || sum > image.volumeMax + 1e-6 || fabs(sum - image.volume) > 0.01))
        fail_msg("%u with %u: %g, by images %g to %g", k / 3, (k + k / 3) % 5, sum, image.volumeMin, image.volumeMax);
      findFree(&s);
    }
  // In general position nothing is left out.
  assert_int_equal(known, tries);
}

/* One animation of five contacts of different depths, all at once, at four tessellations: the same findings in the same order, with
 * depths within 2 % or a step of each other. */
static void rankingIsThatOfAnyTessellation(void **state) {
  (void)state;
  enum { BALLS = 5 };
  // Not in the order of their numbers.
  static const float deep[BALLS] = {0.30f, 0.62f, 0.11f, 0.45f, 0.20f};
  uint32_t order[LEVELS][BALLS];
  double depth[LEVELS][BALLS];
  for (uint32_t level = 0; level < LEVELS; ++level) {
    pnMesh *meshes[BALLS + 1];
    testExpectOk(pnMakeBox((pnVec3){12, 3, 1}, 3u << level, &meshes[0]));
    for (int i = 0; i < BALLS; ++i) testExpectOk(pnMakeIcosphere(level + 3, 1, &meshes[i + 1]));
    FindScene s = findMake(NULL, meshes, BALLS + 1);
    for (int frame = 0; frame < FRAMES; ++frame) {
      for (uint32_t i = 0; i < BALLS; ++i) {
        // Down and up again; each at its deepest in a frame of its own.
        float away = fabsf((float)frame - 2 - (float)i) * 0.3f;
        findMove(&s, i + 1, 4.4f * ((float)i - 2) + 0.03f, 0.02f, 2 - deep[i] + away);
      }
      findLook(&s, false, false, false);
    }
    uint32_t count;
    testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_DEPTH));
    const pnFinding *f = pnFinder_GetFindings(s.finder, &count);
    assert_int_equal(count, BALLS);
    for (uint32_t i = 0; i < BALLS; ++i) {
      order[level][i] = f[i].b;
      depth[level][i] = f[i].depth.value;
      assert_int_equal(f[i].a, 0);
      assert_int_equal(f[i].deepestFrame, 2 + (int64_t)f[i].b - 1);
      // And that is the truth: deepest first.
      double truth = (double)deep[f[i].b - 1], step = 2 * 3.5 / 1000 + sagOf(level + 1);
      assert_true(fabs(depth[level][i] - truth) <= fmax(0.02 * truth, step));
      if (i > 0) assert_true(deep[f[i].b - 1] < deep[f[i - 1].b - 1]);
    }
    findFree(&s);
  }
  for (uint32_t level = 1; level < LEVELS; ++level)
    for (uint32_t i = 0; i < BALLS; ++i) {
      assert_int_equal(order[level][i], order[0][i]);
      assert_true(fabs(depth[level][i] - depth[0][i]) <= fmax(0.02 * depth[0][i], 2 * 3.5 / 1000 + sagOf(1)));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rankingIsThatOfAnyTessellation),
      cmocka_unit_test(depthsAreThoseOfFormulas),
      cmocka_unit_test(sheetsThroughSheets),
      cmocka_unit_test(curveWhereNothingIsCutOff),
      cmocka_unit_test(throughItself),
      cmocka_unit_test(smallHolesAreClosed),
      cmocka_unit_test(volumesAreThoseOfImages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
