/* test_cli_bars.c: findings of `pinch scan` where the truth is known: a character made by others, whose two faults stand at the top
 * and whose four shields in one hand are folded away; a ball that is swallowed; the same bytes on any number of threads. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <math.h>

/* The path of a file of the data folder from where the test runs; null when there is none. */
static const char *dataBelow(const char *name) {
  static char path[1100];
  const char *found = testDataPath(name);
  if (!found) return NULL;
  snprintf(path, sizeof(path), found[0] == '/' ? "%s" : "../%s", found);
  return path;
}

static const char *bodyName(const json_t *root, const json_t *finding, const char *side) {
  json_int_t id = json_integer_value(json_object_get(finding, side));
  return json_string_value(json_object_get(json_array_get(json_object_get(root, "bodies"), (size_t)id), "name"));
}

static bool isBetween(const json_t *root, const json_t *finding, const char *one, const char *other) {
  const char *a = bodyName(root, finding, "a"), *b = bodyName(root, finding, "b");
  return (strstr(a, one) && strstr(b, other)) || (strstr(a, other) && strstr(b, one));
}

/* ---------------------------------------------------------------- a knight */

/* Cape through leg in frames 10 to 16 and sword through body in 3 to 5 are what an artist must see first. */
static void testKnight(void **state) {
  (void)state;
  const char *knight = dataBelow("kaykit/Characters/gltf/Knight.glb");
  if (!knight) return;
  ToolRun run = RUN("scan", knight, "--animation", "1H_Melee_Attack_Chop", "--json");
  expectRun(&run, 1, NULL);
  json_t *root = parseJson(run.out), *findings = json_object_get(root, "findings");
  bool cape = false, sword = false;
  for (size_t i = 0; i < 5; ++i) {
    const json_t *finding = json_array_get(findings, i);
    json_int_t first = json_integer_value(json_object_get(finding, "first"));
    json_int_t last = json_integer_value(json_object_get(finding, "last"));
    cape |= isBetween(root, finding, "Cape", "LegLeft") && first == 10 && last == 16;
    sword |= isBetween(root, finding, "2H_Sword", "Knight_Body") && first == 3 && last == 5;
  }
  assert_true(cape && sword);
  json_decref(root);
  freeRun(&run);
  // Two shields under one node do not move against each other, whatever the hand does.
  run = RUN("scan", knight, "--pairs-only", "Badge_Shield,Spike_Shield", "--json", "--fail-on", "new");
  expectRun(&run, 0, NULL);
  root = parseJson(run.out), findings = json_object_get(root, "findings");
  assert_true(json_array_size(findings) > 0);
  for (size_t i = 0; i < json_array_size(findings); ++i)
    assert_string_equal(json_string_value(json_object_get(json_array_get(findings, i), "kind")), "constant");
  json_decref(root);
  freeRun(&run);
}

/* What was written is known when it is read back, over several animations. */
static void testKnightBaseline(void **state) {
  (void)state;
  const char *knight = dataBelow("kaykit/Characters/gltf/Knight.glb");
  if (!knight) return;
  ToolRun run = RUN("scan", knight, "--animation", "1H_Melee_Attack_Chop", "--animation", "Idle", "--animation",
                    "Block", "--write-baseline", "k.json", "-q");
  expectRun(&run, 1, NULL);
  freeRun(&run);
  run = RUN("scan", knight, "--animation", "1H_Melee_Attack_Chop", "--animation", "Idle", "--animation", "Block",
            "--baseline", "k.json");
  expectRun(&run, 0, NULL);
  assert_null(strstr(run.out, "no longer occur"));
  freeRun(&run);
  unlink("k.json");
}

/* ---------------------------------------------------------------- threads */

static void testThreads(void **state) {
  (void)state;
  const char *knight = dataBelow("kaykit/Characters/gltf/Knight.glb");
  if (!knight) knight = "boxes.glb";
  ToolRun one = RUN("scan", knight, "--json", "--regions", "--self", "--frames", "::4", "--threads", "1");
  assert_int_equal(one.status, 1);
  static const char *const counts[] = {"2", "4"};
  for (int i = 0; i < 2; ++i) {
    ToolRun more = RUN("scan", knight, "--json", "--regions", "--self", "--frames", "::4", "--threads", counts[i]);
    assert_string_equal(more.out, one.out);
    freeRun(&more);
  }
  freeRun(&one);
}

/* ---------------------------------------------------------------- a ball that is swallowed */

#define BALL_FRAMES 16

/* A ball of radius 0.3 goes from x = 3 to the middle of a box of half width 1, which it enters between frames 8 and 9 and in
 * which it is wholly from frame 12 on. */
static void testSwallow(void **state) {
  (void)state;
  pnMesh *ball, *box;
  testExpectOk(pnMakeIcosphere(2, 0.3f, &ball));
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 4, &box));
  testExpectOk(pnSaveMesh("box.obj", pnMesh_GetVertices(box), pnMesh_GetVertexCount(box), pnMesh_GetTriangles(box),
                          pnMesh_GetTriangleCount(box)));
  uint32_t count = pnMesh_GetVertexCount(ball);
  float *moved = malloc(3 * (size_t)count * sizeof(float));
  int enters = -1;
  for (int f = 0; f < BALL_FRAMES; ++f) {
    char name[32];
    float x = 3 - 0.2f * (float)f;
    if (enters < 0 && x - 0.3f <= 1) enters = f;
    for (uint32_t i = 0; i < 3 * count; ++i) moved[i] = pnMesh_GetVertices(ball)[i] + (i % 3 == 0 ? x : 0);
    snprintf(name, sizeof(name), "ball_%02d.ply", f);
    testExpectOk(pnSaveMesh(name, moved, count, pnMesh_GetTriangles(ball), pnMesh_GetTriangleCount(ball)));
  }
  ToolRun run = RUN("scan", "box.obj", "ball_##.ply", "--json");
  expectRun(&run, 1, NULL);
  json_t *root = parseJson(run.out), *findings = json_object_get(root, "findings"),
         *finding = json_array_get(findings, 0);
  assert_int_equal(json_array_size(findings), 1);
  assert_int_equal(json_integer_value(json_object_get(finding, "first")), enters);
  assert_int_equal(json_integer_value(json_object_get(finding, "last")), BALL_FRAMES - 1);
  assert_true(json_is_true(json_object_get(finding, "contained")));
  assert_string_equal(json_string_value(json_object_get(finding, "kind")), "new");
  assert_string_equal(json_string_value(json_object_get(finding, "depth_kind")), "inside");
  // With the ball in the middle, a point of it is between 0.7 (towards a side) and 1 (towards a corner) from the box.
  double depth = json_number_value(json_object_get(finding, "depth"));
  assert_true(depth > 0.69 && depth <= 1.0);
  json_decref(root);
  freeRun(&run);
  // Inside from the beginning, and no two triangles meet: still a finding (built in: nothing moves), and a failure.
  run = RUN("scan", "box.obj", "ball_15.ply");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "one is wholly inside the other"));
  freeRun(&run);
  for (int f = 0; f < BALL_FRAMES; ++f) {
    char name[32];
    snprintf(name, sizeof(name), "ball_%02d.ply", f);
    unlink(name);
  }
  unlink("box.obj");
  free(moved);
  pnDestroyMesh(ball);
  pnDestroyMesh(box);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testKnight, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testKnightBaseline, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testThreads, enterWithBoxes, leaveWithBoxes),
      cmocka_unit_test_setup_teardown(testSwallow, enterWithBoxes, leaveWithBoxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
