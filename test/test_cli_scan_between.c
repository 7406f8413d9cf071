/* test_cli_scan_between.c: `pinch scan --between`: what passes through between two frames is found, with its time, for every kind of
 * body, in every output; what frames show is not; whatever turns is followed on its arc; the same for any number of threads. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include "schema.h"

#include <math.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- a bullet and a sheet */

/* How the bullet is moved. */
typedef enum Mover { BY_NODE, BY_TARGET, BY_JOINT, MOVER_COUNT } Mover;

enum { LAST_FRAME = 20 };

/* It falls from z = 6 by 0.9 a frame: in frame 6 at 0.6, in frame 7 at -0.3, through the sheet at z = 0 in between. Its lowest vertex
 * is 0.1 below its middle. */
static const double bulletMiddle = 6 / 0.9, bulletFirst = 5.9 / 0.9;

/* A sheet that stays and a bullet of radius 0.1, 30 frames a second. */
static void saveBullet(const char *path, Mover mover) {
  pnMesh *sheet, *ball;
  testExpectOk(pnMakeGrid(4, 4, 20, 20, &sheet));
  testExpectOk(pnMakeIcosphere(2, 0.1f, &ball));
  const pnMesh *meshes[2] = {sheet, ball};
  static const char *const names[3] = {"sheet", "bullet", "bone"};
  uint32_t n = pnMesh_GetVertexCount(ball), roots[3] = {0, 1, 2}, all[3] = {0, 1, 2}, joint = 2;
  float *deltas = malloc(3 * n * sizeof *deltas), *weights = calloc(4 * n, sizeof *weights);
  uint32_t *vertices = malloc(n * sizeof *vertices);
  uint16_t *indices = calloc(4 * n, sizeof *indices);
  assert_true(deltas && weights && vertices && indices);
  float fall = -0.9f * LAST_FRAME;
  for (uint32_t v = 0; v < n; ++v) {
    vertices[v] = v, weights[4 * v] = 1;
    deltas[3 * v] = deltas[3 * v + 1] = 0, deltas[3 * v + 2] = fall;
  }
  pnAnimTarget target = {"fall", n, vertices, deltas};
  pnMatrix bind = pnMatrix_Identity();
  pnAnimSkin skin = {"skeleton", 1, &joint, &bind};
  pnAnimNode nodes[3];
  pnAnimBody bodies[2];
  for (uint32_t i = 0; i < 3; ++i)
    nodes[i] = (pnAnimNode){.name = names[i], .parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
  for (uint32_t i = 0; i < 2; ++i) bodies[i] = carriedBody(names[i], names[i], i, meshes[i]);
  float rest = 0;
  if (mover == BY_TARGET) bodies[1].targets = &target, bodies[1].targetCount = 1, bodies[1].restWeights = &rest;
  if (mover == BY_JOINT) {
    bodies[1].skin = 0, bodies[1].influenceCount = 4, bodies[1].carrier = PN_NONE;
    bodies[1].jointIndices = indices, bodies[1].jointWeights = weights;
  }
  uint32_t moved = mover == BY_JOINT ? 2 : 1;
  float place[3] = {0.113f, 0.27f, 6};
  memcpy(nodes[moved].translation, place, sizeof place);
  float times[2] = {0, LAST_FRAME / 30.0f}, weightKeys[2] = {0, 1};
  float placeKeys[6] = {place[0], place[1], place[2], place[0], place[1], place[2] + fall};
  pnAnimChannel channel = {moved, PN_ANIM_TRANSLATION, PN_INTERPOLATION_LINEAR, 3, 2, times, placeKeys};
  if (mover == BY_TARGET)
    channel = (pnAnimChannel){1, PN_ANIM_WEIGHTS, PN_INTERPOLATION_LINEAR, 1, 2, times, weightKeys};
  pnAnimClip clip = {"shot", &channel, 1, 0, LAST_FRAME / 30.0f};
  pnAnimScene scene = {"scene", roots, 3, all, 2};
  pnAnimFile file = {.name = "bullet", .nodes = nodes, .nodeCount = 3, .bodies = bodies, .bodyCount = 2};
  file.skins = &skin, file.skinCount = file.ownSkinCount = mover == BY_JOINT;
  file.clips = &clip, file.clipCount = 1, file.scenes = &scene, file.sceneCount = 1;
  testExpectOk(pnSaveAnimFile(path, &file));
  free(deltas), free(weights), free(vertices), free(indices);
  pnDestroyMesh(sheet), pnDestroyMesh(ball);
}

static int enterWithBullet(void **state) {
  if (enterFolder(state) != 0) return -1;
  saveBullet("bullet.glb", BY_NODE);
  return 0;
}

static int leaveWithBullet(void **state) {
  unlink("bullet.glb");
  return leaveFolder(state);
}

static double numberOf(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("there is no number '%s'", key);
  return json_number_value(value);
}

/* The one moment of a scan: the only entry of `frames` that has passages. */
static json_t *onlyMoment(json_t *root) {
  json_t *found = NULL, *frame;
  size_t i;
  json_array_foreach(json_object_get(root, "frames"), i, frame) {
    if (!json_object_get(frame, "passages")) continue;
    assert_null(found);
    found = frame;
  }
  assert_non_null(found);
  return found;
}

/* What is said of the bullet, whoever moves it. `first`: the number of the first frame, `step`: from frame to frame. */
static void expectBullet(const char *output, double first, double step) {
  json_t *root = parseJson(output), *moment = onlyMoment(root), *passages = json_object_get(moment, "passages");
  json_t *finding = json_array_get(json_object_get(root, "findings"), 0), *between = json_object_get(moment, "between");
  assert_int_equal(json_array_size(json_object_get(root, "findings")), 1);
  assert_int_equal(json_array_size(passages), 1);
  json_t *passage = json_array_get(passages, 0);
  /* never late, and right to a millionth of the step */
  double when = first + step * bulletFirst, found = numberOf(passage, "first");
  if (!(found <= when + 1e-6 * step && found >= when - 2e-6 * step)) fail_msg("%.9f, expected %.9f", found, when);
  assert_true(fabs(numberOf(passage, "last") - (first + step * 6.1 / 0.9)) < 0.02 * step);
  assert_true(fabs(numberOf(moment, "frame") - (first + step * bulletMiddle)) < 0.05 * step);
  assert_int_equal(json_integer_value(json_array_get(between, 0)), (int)(first + 6 * step));
  assert_int_equal(json_integer_value(json_array_get(between, 1)), (int)(first + 7 * step));
  assert_true(json_is_true(json_object_get(finding, "unseen")));
  assert_true(numberOf(finding, "first") == numberOf(moment, "frame"));
  assert_true(numberOf(finding, "deepest") == numberOf(moment, "frame"));
  /* as deep as half of the bullet */
  assert_true(fabs(numberOf(finding, "depth") - 0.1) < 0.02);
  assert_int_equal(numberOf(root, "frames_colliding"), 0);
  assert_int_equal(numberOf(root, "passages_total"), 1);
  json_decref(root);
}

/* ---------------------------------------------------------------- every kind of body */

static void testAnimated(void **state) {
  (void)state;
  for (Mover mover = BY_NODE; mover < MOVER_COUNT; ++mover) {
    saveBullet("shot.glb", mover);
    // No frame shows it.
    assert_int_equal(runLine("scan shot.glb --json"), 0);
    assert_int_equal(runLine("scan shot.glb --json --between"), 1);
    expectBullet(lastRun.out, 0, 1);
    // Every second frame: the step is from 6 to 8, and nothing else changes.
    assert_int_equal(runLine("scan shot.glb --json --between --frames ::2"), 1);
    json_t *root = parseJson(lastRun.out), *moment = onlyMoment(root);
    json_t *passage = json_array_get(json_object_get(moment, "passages"), 0);
    assert_true(fabs(numberOf(passage, "first") - bulletFirst) < 2e-6);
    json_decref(root);
    unlink("shot.glb");
  }
}

/* Numbered files 10, 12, 14 ...: free vertices on straight lines. */
static void testCaches(void **state) {
  (void)state;
  pnMesh *sheet, *ball;
  testExpectOk(pnMakeGrid(4, 4, 20, 20, &sheet));
  testExpectOk(pnMakeIcosphere(2, 0.1f, &ball));
  uint32_t n = pnMesh_GetVertexCount(ball);
  float *v = malloc(3 * n * sizeof *v);
  assert_non_null(v);
  char name[64];
  assert_int_equal(mkdir("cache", 0755), 0);
  for (int f = 0; f < 12; ++f) {
    static const double place[3] = {0.113, 0.27, 6};
    for (uint32_t i = 0; i < 3 * n; ++i)
      v[i] = (float)(pnMesh_GetVertices(ball)[i] + place[i % 3] - (i % 3 == 2 ? 0.9 * f : 0));
    snprintf(name, sizeof(name), "cache/frame_%04d.ply", 10 + 2 * f);
    testExpectOk(pnSaveMesh(name, v, n, pnMesh_GetTriangles(ball), pnMesh_GetTriangleCount(ball)));
  }
  testExpectOk(pnSaveMesh("sheet.obj", pnMesh_GetVertices(sheet), pnMesh_GetVertexCount(sheet),
                          pnMesh_GetTriangles(sheet), pnMesh_GetTriangleCount(sheet)));
  assert_int_equal(runLine("scan cache sheet.obj --json --between"), 1);
  expectBullet(lastRun.out, 10, 2);
  unlink("sheet.obj");
  for (int f = 0; f < 12; ++f) {
    snprintf(name, sizeof(name), "cache/frame_%04d.ply", 10 + 2 * f);
    unlink(name);
  }
  rmdir("cache");
  free(v);
  pnDestroyMesh(sheet), pnDestroyMesh(ball);
}

/* ---------------------------------------------------------------- every output */

static void testOutputs(void **state) {
  (void)state;
  assert_int_equal(
      runLine("scan bullet.glb --between --csv counts.csv --pairs pairs.csv --junit out.xml --sarif out.sarif"), 1);
  assert_non_null(strstr(lastRun.out, "1 finding"));
  assert_non_null(strstr(lastRun.out, "unseen"));
  assert_non_null(strstr(lastRun.out, "6.66"));
  assert_non_null(strstr(lastRun.out, "1 unseen: between two frames"));
  char *counts = takeFile("counts.csv"), *pairs = takeFile("pairs.csv"), *junit = takeFile("out.xml"),
       *sarif = takeFile("out.sarif");
  assert_non_null(strstr(counts, "frame,time,a,b,pairs\n6.66"));
  assert_non_null(strstr(pairs, "frame,a,triangle_a,b,triangle_b\n6.66"));
  assert_non_null(strstr(junit, "<failure type=\"unseen\""));
  assert_non_null(strstr(junit, "between frames and seen in none"));
  assert_non_null(strstr(sarif, "\"ruleId\": \"passage\""));
  free(counts), free(pairs), free(junit), free(sarif);
  // The JSON is what its schema says, with regions too.
  json_t *schema = loadSchema("scan.schema.json");
  static const char *const lines[] = {"scan bullet.glb --json --between", "scan bullet.glb --json --between --regions"};
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(runLine(lines[i]), 1);
    json_t *root = parseJson(lastRun.out);
    SchemaFault fault = {""};
    if (!schemaCheck(schema, schema, root, "", &fault)) fail_msg("%s", fault.text);
    json_decref(root);
  }
  json_decref(schema);
}

/* A finding like others: known ones are quiet, and not missed by a scan that does not look for them. */
static void testBaseline(void **state) {
  (void)state;
  assert_int_equal(runLine("scan bullet.glb --between -q --write-baseline known.json"), 1);
  assert_int_equal(runLine("scan bullet.glb --between --baseline known.json"), 0);
  assert_non_null(strstr(lastRun.out, "1 known one is quiet"));
  assert_int_equal(runLine("scan bullet.glb --baseline known.json"), 0);
  assert_null(strstr(lastRun.out, "no longer occur"));
  unlink("known.json");
}

static void testChoice(void **state) {
  (void)state;
  assert_int_equal(runLine("scan bullet.glb --between --only sheet,sheet"), 0);
  assert_int_equal(runLine("scan bullet.glb --between --ignore sheet,bullet"), 0);
  assert_int_equal(runLine("scan bullet.glb --between --only sheet,bullet"), 1);
  assert_int_equal(runLine("scan bullet.glb --between --min-depth 0.5"), 0);
  assert_int_equal(runLine("scan bullet.glb --between --fail-on none"), 0);
  assert_int_equal(runLine("scan bullet.glb --between --frames 6"), 0);
  assert_int_equal(runLine("scan bullet.glb --between --frames 6:7"), 1);
  // Too much to look through is said, and is no answer that nothing is there.
  assert_int_equal(runLine("scan bullet.glb --between --max-pairs 3"), 2);
  assert_non_null(strstr(lastRun.out, "too much to look through"));
  assert_int_equal(runLine("scan bullet.glb --between --max-pairs 3 --json"), 2);
  assert_non_null(strstr(lastRun.out, "\"limited_steps\": 1"));
  assert_int_equal(runLine("scan bullet.glb --between --max-pairs 3 --fail-on none"), 0);
  // The report says so, and only then.
  static const char *const lines[] = {"scan bullet.glb --between --max-pairs 3 --html r.html",
                                      "scan bullet.glb --between --html r.html"};
  for (int i = 0; i < 2; ++i) {
    runLine(lines[i]);
    if (strstr(lastRun.err, "no HTML report")) {
      print_message("skipped: this build has no HTML report\n");
      break;
    }
    char *page = takeFile("r.html"), *meta = strstr(page, "id=\"pinch-meta\"");
    assert_non_null(meta);
    char *found = strstr(meta, "\"limited\":[0,1]");
    assert_int_equal(found != NULL, i == 0);
    free(page);
  }
  ToolRun run = RUN("scan", "bullet.glb", "--between", "--first");
  expectRun(&run, 2, "--first looks for no findings");
  freeRun(&run);
}

/* Byte for byte. */
static void testThreads(void **state) {
  (void)state;
  char *one = NULL;
  for (int threads = 1; threads <= 4; ++threads) {
    char line[100];
    snprintf(line, sizeof line, "scan bullet.glb --between --json --regions --self --threads %d", threads);
    assert_int_equal(runLine(line), 1);
    if (!one) one = strdup(lastRun.out);
    assert_string_equal(one, lastRun.out);
  }
  free(one);
}

/* ---------------------------------------------------------------- dealt out */

#define DEALT_OUTPUTS " --json --html r.html --csv r.csv --pairs r.pairs --junit r.junit --write-baseline r.base"
static const char *const dealtFiles[] = {"r.html", "r.csv", "r.pairs", "r.junit", "r.base"};
enum { DEALT_FILES = 5 };

/* What a line writes, in one text. */
static char *allOf(const char *line, int status) {
  char *text = NULL;
  size_t size = 0;
  assert_int_equal(runLine(line), status);
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  fputs(lastRun.out, out);
  for (int i = 0; i < DEALT_FILES; ++i) {
    char *file = takeFile(dealtFiles[i]);
    fprintf(out, "%s\n%s\n", dealtFiles[i], file);
    free(file);
  }
  fclose(out);
  return text;
}

static void expectParts(const char *scan, int count, const char *whole, int status) {
  char line[400] = "merge", one[300];
  for (int k = 1; k <= count; ++k) {
    snprintf(one, sizeof one, "scan %s --between --regions --part %d/%d --part-file p%d", scan, k, count, k);
    assert_int_equal(runLine(one), 0);
    sprintf(line + strlen(line), " p%d", k);
  }
  strcat(line, DEALT_OUTPUTS);
  char *merged = allOf(line, status);
  if (strcmp(merged, whole) != 0) fail_msg("%s in %d parts is another answer", scan, count);
  free(merged);
  for (int k = 1; k <= count; ++k) sprintf(line, "p%d", k), unlink(line);
}

static void saveWheel(const char *path, float post);

/* Parts that begin in the middle of the way, a checkpoint, frames left out: byte for byte what one scan writes. */
static void testDealt(void **state) {
  (void)state;
  saveWheel("wheel.glb", 75 * 3.14159265f / 180);
  static const char *const scans[] = {"bullet.glb --self", "bullet.glb --frames ::2", "wheel.glb",
                                      "bullet.glb --max-pairs 3"};
  static const int counts[] = {1, 3, 7, 21};
  for (int i = 0; i < 4; ++i) {
    char line[400];
    int status = i < 3 ? 1 : 2; // too much to look through
    snprintf(line, sizeof line, "scan %s --between --regions" DEALT_OUTPUTS, scans[i]);
    char *whole = allOf(line, status);
    assert_true((strstr(whole, "\"passages\"") != NULL) == (i < 3));
    for (int k = 0; k < 4; ++k) expectParts(scans[i], counts[k], whole, status);
    // The command line is in the report, which comes after what is printed.
    snprintf(line, sizeof line, "scan %s --between --regions --resume c" DEALT_OUTPUTS, scans[i]);
    char *resumed = allOf(line, status);
    assert_memory_equal(resumed, whole, strstr(whole, "\nr.html\n") - whole);
    free(whole), free(resumed);
  }
  // Parts without --between are of another scan.
  assert_int_equal(runLine("scan bullet.glb --part 1/2 --part-file p1"), 0);
  assert_int_equal(runLine("scan bullet.glb --between --part 2/2 --part-file p2"), 0);
  ToolRun run = RUN("merge", "p1", "p2");
  expectRun(&run, 2, "other options|--between");
  freeRun(&run);
  unlink("p1"), unlink("p2"), unlink("wheel.glb");
}

/* ---------------------------------------------------------------- what turns */

/* A rod from r = 0.5 to 1 turns about z by 150 degrees a frame. The straight line between two frames would take it through an
 * axle of radius 0.3, which it never meets; a post at r = 0.8 it does meet, on its arc, between frames. */
static void saveWheel(const char *path, float postAngle) {
  pnMesh *rod, *axle;
  testExpectOk(pnMakeBox((pnVec3){0.25f, 0.02f, 0.2f}, 2, &rod));
  testExpectOk(pnMakeIcosphere(2, 0.3f, &axle));
  static const char *const names[3] = {"axle", "post", "rod"};
  const pnMesh *meshes[3] = {axle, axle, rod};
  pnAnimNode nodes[4];
  pnAnimBody bodies[3];
  uint32_t roots[3] = {0, 1, 3}, all[3] = {0, 1, 2};
  for (uint32_t i = 0; i < 4; ++i)
    nodes[i] =
        (pnAnimNode){.name = i < 3 ? names[i] : "hub", .parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
  nodes[2].parent = 3, nodes[2].translation[0] = 0.75f;
  nodes[1].translation[0] = 0.8f * cosf(postAngle), nodes[1].translation[1] = 0.8f * sinf(postAngle);
  for (int k = 0; k < 3; ++k) nodes[1].scale[k] = 0.2f;
  for (uint32_t i = 0; i < 3; ++i) bodies[i] = carriedBody(names[i], names[i], i, meshes[i]);
  float times[3], turns[12] = {0};
  for (int i = 0; i < 3; ++i) {
    double half = 0.5 * 150 * i * 3.14159265358979 / 180;
    times[i] = (float)i / 30, turns[4 * i + 2] = (float)sin(half), turns[4 * i + 3] = (float)cos(half);
  }
  pnAnimChannel channel = {3, PN_ANIM_ROTATION, PN_INTERPOLATION_LINEAR, 4, 3, times, turns};
  pnAnimClip clip = {"spin", &channel, 1, 0, times[2]};
  pnAnimScene scene = {"scene", roots, 3, all, 3};
  pnAnimFile file = {.name = "wheel", .nodes = nodes, .nodeCount = 4, .bodies = bodies, .bodyCount = 3};
  file.clips = &clip, file.clipCount = 1, file.scenes = &scene, file.sceneCount = 1;
  testExpectOk(pnSaveAnimFile(path, &file));
  pnDestroyMesh(rod), pnDestroyMesh(axle);
}

static void testWheel(void **state) {
  (void)state;
  // The post stands at 75 degrees: half-way between frames 0 and 1.
  saveWheel("wheel.glb", 75 * 3.14159265f / 180);
  assert_int_equal(runLine("scan wheel.glb --json"), 0);
  assert_int_equal(runLine("scan wheel.glb --json --between"), 1);
  json_t *root = parseJson(lastRun.out), *findings = json_object_get(root, "findings"), *moment = onlyMoment(root);
  assert_int_equal(json_array_size(findings), 1);
  json_t *finding = json_array_get(findings, 0);
  assert_int_equal(json_integer_value(json_object_get(finding, "a")), 1);
  assert_int_equal(json_integer_value(json_object_get(finding, "b")), 2);
  assert_true(fabs(numberOf(moment, "frame") - 0.5) < 0.05);
  json_decref(root);
  unlink("wheel.glb");
}

/* ---------------------------------------------------------------- flat */

/* A sheet that goes flat through another, in no time: one finding of depth 0 (nothing stands through anything at any time), and it is where
 * the sheets are, around (3, 5, 2). */
static void testFlat(void **state) {
  (void)state;
  pnMesh *sheet;
  testExpectOk(pnMakeGrid(1, 1, 4, 4, &sheet));
  static const char *const names[2] = {"low", "high"};
  pnAnimNode nodes[2];
  pnAnimBody bodies[2];
  for (uint32_t i = 0; i < 2; ++i) {
    nodes[i] = (pnAnimNode){.name = names[i], .parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    nodes[i].translation[0] = 3, nodes[i].translation[1] = 5, nodes[i].translation[2] = i ? 2.3f : 2;
    bodies[i] = carriedBody(names[i], names[i], i, sheet);
  }
  float times[2] = {0, 1 / 30.0f}, keys[6] = {3, 5, 2.3f, 3, 5, 1.3f};
  pnAnimChannel channel = {1, PN_ANIM_TRANSLATION, PN_INTERPOLATION_LINEAR, 3, 2, times, keys};
  pnAnimClip clip = {"fall", &channel, 1, 0, times[1]};
  uint32_t roots[2] = {0, 1};
  pnAnimScene scene = {"scene", roots, 2, roots, 2};
  pnAnimFile file = {.name = "flat", .nodes = nodes, .nodeCount = 2, .bodies = bodies, .bodyCount = 2};
  file.clips = &clip, file.clipCount = 1, file.scenes = &scene, file.sceneCount = 1;
  testExpectOk(pnSaveAnimFile("flat.glb", &file));
  pnDestroyMesh(sheet);
  assert_int_equal(runLine("scan flat.glb --json --between"), 1);
  json_t *root = parseJson(lastRun.out), *findings = json_object_get(root, "findings"), *moment = onlyMoment(root);
  assert_int_equal(json_array_size(findings), 1);
  json_t *finding = json_array_get(findings, 0),
         *centre = json_object_get(json_array_get(json_object_get(root, "details"), 0), "centre");
  assert_true(fabs(numberOf(moment, "frame") - 0.3) < 2e-3);
  assert_true(numberOf(finding, "depth") == 0);
  assert_string_equal(json_string_value(json_object_get(finding, "kind")), "new");
  static const double place[3] = {3, 5, 2};
  for (size_t k = 0; k < 3; ++k) assert_true(fabs(json_number_value(json_array_get(centre, k)) - place[k]) < 0.01);
  json_decref(root);
  unlink("flat.glb");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testAnimated, enterFolder, leaveFolder),
      cmocka_unit_test_setup_teardown(testCaches, enterFolder, leaveFolder),
      cmocka_unit_test_setup_teardown(testOutputs, enterWithBullet, leaveWithBullet),
      cmocka_unit_test_setup_teardown(testBaseline, enterWithBullet, leaveWithBullet),
      cmocka_unit_test_setup_teardown(testChoice, enterWithBullet, leaveWithBullet),
      cmocka_unit_test_setup_teardown(testThreads, enterWithBullet, leaveWithBullet),
      cmocka_unit_test_setup_teardown(testDealt, enterWithBullet, leaveWithBullet),
      cmocka_unit_test_setup_teardown(testWheel, enterFolder, leaveFolder),
      cmocka_unit_test_setup_teardown(testFlat, enterFolder, leaveFolder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
