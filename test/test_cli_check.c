/* test_cli_check.c: `pinch check` end to end: files in, pairs out, against brute force by exact predicates and against
 * the counts others have found for real files. */
#include "support.h"

#include "tool.h"

#include "pinch/geom.h"
#include "pinch/io.h"

#include <jansson.h>
#include <math.h>
#include <sys/resource.h>

/* ---------------------------------------------------------------- what the tool said */

/* A line of the CSV. */
typedef struct Row {
  uint32_t a, triangleA, b, triangleB;
} Row;

typedef struct Rows {
  Row *data;
  size_t count, capacity;
} Rows;

static void addRow(Rows *rows, Row row) {
  if (rows->count == rows->capacity) {
    rows->capacity = rows->capacity ? 2 * rows->capacity : 256;
    rows->data = realloc(rows->data, rows->capacity * sizeof(Row));
    assert_non_null(rows->data);
  }
  rows->data[rows->count++] = row;
}

static int compareRows(const void *left, const void *right) {
  const uint32_t *a = left, *b = right;
  // Bodies first, then triangles.
  static const int order[] = {0, 2, 1, 3};
  for (int i = 0; i < 4; ++i)
    if (a[order[i]] != b[order[i]]) return a[order[i]] < b[order[i]] ? -1 : 1;
  return 0;
}

/* Reads the CSV and takes it away; checks its header, its order, and that each pair is there once, the right way. */
static Rows takeRows(const char *path) {
  Rows rows = {0};
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  char line[128];
  assert_non_null(fgets(line, sizeof(line), stream));
  assert_string_equal(line, "a,triangle_a,b,triangle_b\n");
  while (fgets(line, sizeof(line), stream)) {
    Row row;
    char end;
    assert_int_equal(sscanf(line, "%u,%u,%u,%u%c", &row.a, &row.triangleA, &row.b, &row.triangleB, &end), 5);
    assert_int_equal(end, '\n');
    assert_true(row.a < row.b || (row.a == row.b && row.triangleA < row.triangleB));
    if (rows.count > 0) assert_true(compareRows(&rows.data[rows.count - 1], &row) < 0);
    addRow(&rows, row);
  }
  fclose(stream);
  remove(path);
  return rows;
}

static json_int_t intOf(json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (!json_is_integer(value)) fail_msg("no whole number '%s'", key);
  return json_integer_value(value);
}

/* The JSON answer has exactly the keys it should, and the counts of the rows. Returns the total. */
static json_int_t checkJson(const char *text, uint32_t bodyCount, const Rows *rows) {
  json_error_t error;
  json_t *root = json_loads(text, 0, &error);
  if (!root) fail_msg("not JSON (%s): %s", error.text, text);
  assert_int_equal(json_object_size(root), 4);
  assert_string_equal(json_string_value(json_object_get(root, "pinch")), pnGetVersion());
  json_t *bodies = json_object_get(root, "bodies"), *collisions = json_object_get(root, "collisions"), *item;
  json_int_t total = intOf(root, "pairs_total"), sum = 0;
  size_t i;
  assert_int_equal(json_array_size(bodies), bodyCount);
  json_array_foreach(bodies, i, item) {
    assert_int_equal(json_object_size(item), 6);
    assert_int_equal(intOf(item, "id"), i);
    assert_true(json_is_string(json_object_get(item, "name")) && json_is_string(json_object_get(item, "file")));
    assert_true(intOf(item, "vertices") >= 0 && intOf(item, "triangles") >= 0);
    assert_true(json_is_boolean(json_object_get(item, "closed")));
  }
  json_array_foreach(collisions, i, item) {
    assert_int_equal(json_object_size(item), 3);
    json_int_t a = intOf(item, "a"), b = intOf(item, "b"), pairs = 0;
    assert_true(a <= b && b < bodyCount);
    for (size_t k = 0; rows && k < rows->count; ++k) pairs += rows->data[k].a == a && rows->data[k].b == b;
    if (rows) assert_int_equal(intOf(item, "pairs"), pairs);
    assert_true(intOf(item, "pairs") > 0);
    sum += intOf(item, "pairs");
  }
  assert_int_equal(sum, total);
  if (rows) assert_int_equal(total, rows->count);
  json_decref(root);
  return total;
}

/* ---------------------------------------------------------------- brute force */

static pnTriangle triangleOf(const pnMeshFile *file, uint32_t t) {
  pnTriangle triangle;
  for (int k = 0; k < 3; ++k)
    memcpy(triangle.v[k], file->vertices + 3 * (size_t)file->triangles[3 * (size_t)t + (size_t)k], 12);
  return triangle;
}

/* Do the boxes of two triangles overlap? Only to save time. */
static bool boxesMeet(const pnTriangle *a, const pnTriangle *b) {
  for (int k = 0; k < 3; ++k) {
    float lowA = a->v[0][k], highA = lowA, lowB = b->v[0][k], highB = lowB;
    for (int i = 1; i < 3; ++i) {
      lowA = a->v[i][k] < lowA ? a->v[i][k] : lowA, highA = a->v[i][k] > highA ? a->v[i][k] : highA;
      lowB = b->v[i][k] < lowB ? b->v[i][k] : lowB, highB = b->v[i][k] > highB ? b->v[i][k] : highB;
    }
    if (lowA > highB || lowB > highA) return false;
  }
  return true;
}

/* The corners two triangles of one body share: by place when welded, by number when not. */
static pnSharedCorners sharedOf(const pnMeshFile *file, uint32_t s, uint32_t t, bool weld) {
  pnSharedCorners shared = {0};
  pnTriangle a = triangleOf(file, s), b = triangleOf(file, t);
  bool taken[3] = {false, false, false};
  for (uint8_t i = 0; i < 3; ++i) {
    for (uint8_t j = 0; j < 3; ++j) {
      bool samePlace = a.v[i][0] == b.v[j][0] && a.v[i][1] == b.v[j][1] && a.v[i][2] == b.v[j][2];
      bool same = weld ? samePlace : file->triangles[3 * (size_t)s + i] == file->triangles[3 * (size_t)t + j];
      if (!same || taken[j]) continue;
      taken[j] = true;
      shared.a[shared.count] = i;
      shared.b[shared.count++] = j;
      break;
    }
  }
  return shared;
}

static Rows bruteForce(const pnMeshFile *files, uint32_t count, bool self, bool weld) {
  Rows rows = {0};
  for (uint32_t a = 0; a < count; ++a) {
    for (uint32_t b = a; b < count; ++b) {
      if (a == b && !self && count > 1) continue;
      for (uint32_t s = 0; s < files[a].triangleCount; ++s) {
        pnTriangle ts = triangleOf(&files[a], s);
        for (uint32_t t = a == b ? s + 1 : 0; t < files[b].triangleCount; ++t) {
          pnTriangle tt = triangleOf(&files[b], t);
          if (!boxesMeet(&ts, &tt)) continue;
          bool meet =
              a == b ? pnTrianglesMeetBeyond(&ts, &tt, sharedOf(&files[a], s, t, weld)) : pnTrianglesMeet(&ts, &tt);
          if (meet) addRow(&rows, (Row){a, s, b, t});
        }
      }
    }
  }
  return rows;
}

/* Runs the tool on files, in all its ways, and compares every answer with brute force. */
static void compareWithBrute(const char *const *paths, uint32_t count, bool self, bool weld) {
  pnMeshFile files[8];
  const char *words[20] = {"check", "--json", "--pairs", "pairs.csv"};
  int n = 4;
  if (self) words[n++] = "--self";
  if (!weld) words[n++] = "--no-weld";
  for (uint32_t i = 0; i < count; ++i) {
    testExpectOk(pnLoadMeshFile(paths[i], &files[i]));
    words[n++] = paths[i];
  }
  Rows expected = bruteForce(files, count, self, weld);
  // Small answers with one count of threads, the others with three: the answer must not change.
  static const char *threads[] = {"2", "1", "5"};
  for (int i = 0; i < (expected.count > 50 ? 3 : 1); ++i) {
    words[n] = "--threads", words[n + 1] = threads[i], words[n + 2] = NULL;
    ToolRun run = runTool(words);
    expectRun(&run, expected.count > 0, NULL);
    Rows rows = takeRows("pairs.csv");
    checkJson(run.out, count, &rows);
    if (rows.count != expected.count)
      fail_msg("%s: %zu pairs, brute force finds %zu", paths[0], rows.count, expected.count);
    if (rows.count > 0) assert_memory_equal(rows.data, expected.data, rows.count * sizeof(Row));
    free(rows.data);
    freeRun(&run);
  }
  free(expected.data);
  for (uint32_t i = 0; i < count; ++i) pnFreeMeshFile(&files[i]);
}

/* ---------------------------------------------------------------- meshes made here */

static void saveShape(pnMesh *mesh, float x, float y, float z, const char *path) {
  size_t count = 3 * (size_t)pnMesh_GetVertexCount(mesh);
  float *moved = malloc(count * sizeof(float)), at[3] = {x, y, z};
  for (size_t i = 0; i < count; ++i) moved[i] = pnMesh_GetVertices(mesh)[i] + at[i % 3];
  testExpectOk(
      pnSaveMesh(path, moved, pnMesh_GetVertexCount(mesh), pnMesh_GetTriangles(mesh), pnMesh_GetTriangleCount(mesh)));
  free(moved);
}

static void testShapes(void **state) {
  (void)state;
  pnMesh *ball, *box, *knot;
  testExpectOk(pnMakeIcosphere(2, 1.0f, &ball));
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 3, &box));
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.5f, 48, 8, &knot));
  saveShape(ball, 0, 0, 0, "ball.obj");
  saveShape(ball, 0.5f, 0.25f, 0, "moved.ply");
  saveShape(box, 1, 1, 1, "box.off");
  saveShape(box, 2, 0, 0, "beside.stl");
  saveShape(knot, 0, 0, 0, "knot.ply");
  saveShape(knot, 0, 0, 0, "knot.stl");
  static const char *all[] = {"ball.obj", "moved.ply", "box.off", "beside.stl", "knot.ply"};
  compareWithBrute(all, 5, false, true);
  compareWithBrute(all, 5, true, true);
  static const char *knotOnly[] = {"knot.stl"};
  compareWithBrute(knotOnly, 1, false, true);
  compareWithBrute(knotOnly, 1, false, false);
  static const char *boxes[] = {"beside.stl", "box.off"};
  compareWithBrute(boxes, 2, true, true);
  compareWithBrute(boxes, 2, true, false);
  static const char *twice[] = {"box.off", "box.off"};
  compareWithBrute(twice, 2, true, true);
  static const char *ballOnly[] = {"ball.obj"};
  compareWithBrute(ballOnly, 1, true, true);
  static const char *paths[] = {"ball.obj", "moved.ply", "box.off", "beside.stl", "knot.ply", "knot.stl"};
  for (int i = 0; i < 6; ++i) remove(paths[i]);
  pnDestroyMesh(ball);
  pnDestroyMesh(box);
  pnDestroyMesh(knot);
}

#define TRIANGLE "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
#define FAR "OFF\n3 1 0\n0 0 9\n1 0 9\n0 1 9\n3 0 1 2\n"
#define CROSSING "OFF\n3 1 0\n0.25 0.25 -1\n0.25 0.25 1\n0.25 5 0\n3 0 1 2\n"

static void testAnswers(void **state) {
  (void)state;
  writeText("a.off", TRIANGLE);
  writeText("b.off", FAR);
  writeText("c.off", CROSSING);
  writeText("none.ply", "ply\nformat ascii 1.0\nend_header\n");
  // No collision: status 0, and no pairs in the file.
  ToolRun run = RUN("check", "a.off", "b.off", "none.ply", "--pairs", "pairs.csv");
  expectRun(&run, 0, NULL);
  assert_non_null(strstr(run.out, "No two triangles meet"));
  Rows rows = takeRows("pairs.csv");
  assert_int_equal(rows.count, 0);
  freeRun(&run);
  // Collision: status 1; people see both names and the count.
  run = RUN("check", "a.off", "b.off", "c.off");
  expectRun(&run, 1, NULL);
  assert_non_null(strstr(run.out, "a and c"));
  assert_non_null(strstr(run.out, "1 pair of triangles meets"));
  assert_non_null(strstr(run.out, "--pairs"));
  freeRun(&run);
  // An error after a collision was found: still 2, and the old file of pairs is as it was.
  writeText("old.csv", "precious");
  run = RUN("check", "a.off", "c.off", "missing.off", "--pairs", "old.csv");
  expectRun(&run, 2, "missing.off");
  assert_string_equal(run.out, "");
  freeRun(&run);
  // What is read is not written over, by whatever name.
  run = RUN("check", "old.csv", "a.off", "--pairs", "./old.csv");
  expectRun(&run, 2, "--pairs|./old.csv|read");
  freeRun(&run);
  run = RUN("check", "a.off", "c.off", "--pairs", "no/such/folder.csv");
  expectRun(&run, 2, "no/such/folder.csv");
  assert_string_equal(run.out, "");
  freeRun(&run);
  char text[16] = {0};
  FILE *old = fopen("old.csv", "rb");
  assert_int_equal(fread(text, 1, 15, old), 8);
  fclose(old);
  assert_string_equal(text, "precious");
  static const char *paths[] = {"a.off", "b.off", "c.off", "none.ply", "old.csv"};
  for (int i = 0; i < 5; ++i) remove(paths[i]);
}

static void testFirst(void **state) {
  (void)state;
  pnMesh *ball;
  testExpectOk(pnMakeIcosphere(2, 1.0f, &ball));
  saveShape(ball, 0, 0, 0, "a.ply");
  saveShape(ball, 1, 0, 0, "b.ply");
  saveShape(ball, 0, 1, 0, "c.ply");
  saveShape(ball, 9, 0, 0, "d.ply");
  ToolRun run = RUN("check", "a.ply", "b.ply", "c.ply", "d.ply", "--first", "--json", "--pairs", "pairs.csv");
  expectRun(&run, 1, NULL);
  Rows rows = takeRows("pairs.csv");
  assert_int_equal(checkJson(run.out, 4, &rows), 3); /* one for each pair of bodies that meets */
  // The pair it names is one.
  pnMeshFile files[4];
  static const char *paths[] = {"a.ply", "b.ply", "c.ply", "d.ply"};
  for (int i = 0; i < 4; ++i) testExpectOk(pnLoadMeshFile(paths[i], &files[i]));
  for (size_t i = 0; i < rows.count; ++i) {
    pnTriangle s = triangleOf(&files[rows.data[i].a], rows.data[i].triangleA);
    pnTriangle t = triangleOf(&files[rows.data[i].b], rows.data[i].triangleB);
    assert_true(pnTrianglesMeet(&s, &t));
  }
  free(rows.data);
  freeRun(&run);
  for (int i = 0; i < 4; ++i) {
    pnFreeMeshFile(&files[i]);
    remove(paths[i]);
  }
  pnDestroyMesh(ball);
}

/* ---------------------------------------------------------------- real files */

static json_int_t countPairs(const char *first, const char *second) {
  char path[512];
  snprintf(path, sizeof(path), "%s", first);
  ToolRun run = second ? RUN("check", "--json", path, second) : RUN("check", "--json", path);
  if (run.status > 1) fail_msg("%s", run.err);
  json_int_t total = checkJson(run.out, second ? 2 : 1, NULL);
  assert_int_equal(run.status, total > 0);
  freeRun(&run);
  return total;
}

static void testKnownPairs(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    json_int_t pairs;
  } known[] = {
      {"manifold/test/models/Cray_left.obj", "manifold/test/models/Cray_right.obj", 92},
      {"manifold/test/models/self_intersectA.obj", "manifold/test/models/self_intersectB.obj", 600},
      {"trimesh/models/ballA.off", "trimesh/models/ballB.off", 276},
      {"cgal/Data/data/meshes/blobby.off", "cgal/Data/data/meshes/eight.off", 303},
      {"cgal/Data/data/meshes/elephant.off", "cgal/Data/data/meshes/sphere.off", 177},
      {"cgal/Data/data/meshes/cube.off", "cgal/Data/data/meshes/translated-cube.off", 38},
      {"fcl/fcl_resources/env.obj", "fcl/fcl_resources/rob.obj", 192},
  };
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    const char *found = testDataPath(known[i].a);
    if (!found) return;
    char first[512];
    snprintf(first, sizeof(first), "%s", found);
    json_int_t pairs = countPairs(first, testDataPath(known[i].b));
    print_message("%s / %s: %lld\n", known[i].a, known[i].b, (long long)pairs);
    assert_int_equal(pairs, known[i].pairs);
  }
}

/* Every touching pair of cgal's corefinement examples meets: NAME-1.off and NAME-2.off. */
static void testTouchingPairs(void **state) {
  (void)state;
  static const char *bases[] = {"coplanar_segments/tr%d", "coplanar_triangles/all_cases/tr%d", "intersection_edge/ex%d",
                                "intersection_vertex/ex%d"};
  static const int counts[] = {6, 8, 2, 2};
  for (int b = 0; b < 4; ++b) {
    for (int i = 1; i <= counts[b]; ++i) {
      char base[128], paths[2][512];
      snprintf(base, sizeof(base), bases[b], i);
      for (int k = 0; k < 2; ++k) {
        char relative[256];
        snprintf(relative, sizeof(relative),
                 "cgal/PMP_Boolean_operations/test/PMP_Boolean_operations/data-coref/%s-%d.off", base, k + 1);
        const char *found = testDataPath(relative);
        if (!found) return;
        snprintf(paths[k], sizeof(paths[k]), "%s", found);
      }
      assert_true(countPairs(paths[0], paths[1]) > 0);
      const char *both[] = {paths[0], paths[1]};
      compareWithBrute(both, 2, true, true);
    }
  }
}

/* Small files of the data folder by brute force; the others have at least the pairs their list counts, which leaves out
 * neighbours and triangles without area. */
static void testSelfPairs(void **state) {
  (void)state;
  const char *path = testDataPath("MANIFEST.tsv");
  if (!path) return;
  FILE *list = fopen(path, "rb");
  assert_non_null(list);
  char line[4096];
  uint32_t brute = 0, atLeast = 0;
  while (fgets(line, sizeof(line), list)) {
    char *fields[11];
    if (testSplitTabs(line, fields, 11) < 11 || !testIsMeshName(fields[1]) || fields[9][0] == 0 ||
        strstr(fields[1], "diffcloth"))
      continue;
    uint32_t triangles = (uint32_t)strtoul(fields[4], NULL, 10);
    json_int_t listed = (json_int_t)strtoll(fields[9], NULL, 10);
    const char *found = testDataPath(fields[1]);
    assert_non_null(found);
    json_int_t pairs = countPairs(found, NULL);
    // Where the list has more, exact arithmetic decides: height-field.ply has none, by rationals too, and 2 are listed.
    if (triangles <= 700 || pairs < listed) {
      compareWithBrute(&found, 1, false, true);
      ++brute;
    }
    if (pairs != listed)
      print_message("%s: %lld pairs, the list has %lld\n", fields[1], (long long)pairs, (long long)listed);
    ++atLeast;
  }
  fclose(list);
  print_message("%u files by brute force, %u against the list\n", brute, atLeast);
  assert_true(atLeast > 100);
}

/* 2000 copies of a triangle are 1 999 000 pairs. */
static void testMaxPairs(void **state) {
  (void)state;
  FILE *file = fopen("copies.obj", "wb");
  assert_non_null(file);
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\n", file);
  for (int i = 0; i < 2000; ++i) fputs("f 1 2 3\n", file);
  assert_int_equal(fclose(file), 0);
  static const struct {
    const char *limit; /* null: what it is without */
    json_int_t pairs;
    bool limited;
  } cases[] = {{NULL, 1000000, true}, {"5", 5, true}, {"1999000", 1999000, false}, {"0", 1999000, false}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    ToolRun run = runTool(
        (const char *[]){"check", "copies.obj", "--json", cases[i].limit ? "--max-pairs" : NULL, cases[i].limit, NULL});
    expectRun(&run, 1, "");
    json_t *answer = json_loads(run.out, 0, NULL);
    assert_non_null(answer);
    assert_int_equal(json_integer_value(json_object_get(answer, "pairs_total")), cases[i].pairs);
    assert_int_equal(json_is_true(json_object_get(answer, "limited")), cases[i].limited);
    json_decref(answer);
    freeRun(&run);
  }
  ToolRun run = runTool((const char *[]){"check", "copies.obj", "--max-pairs", "7", NULL});
  expectRun(&run, 1, "");
  assert_non_null(strstr(run.out, "At least 7 pairs"));
  assert_non_null(strstr(run.out, "--max-pairs 0"));
  freeRun(&run);
  unlink("copies.obj");
}

/* Tables end after 200 rows and say what is left out; JSON has all. */
static void testLongTables(void **state) {
  (void)state;
  enum { COUNT = 203 };
  writeText("a.off", TRIANGLE);
  const char *words[COUNT + 3] = {"check"};
  for (int i = 1; i <= COUNT; ++i) words[i] = "a.off";
  ToolRun run = runTool(words);
  expectRun(&run, 1, "");
  assert_non_null(strstr(run.out, "   199  a.off"));
  assert_null(strstr(run.out, "   200  a.off"));
  assert_non_null(strstr(run.out, "\n  and 3 more; --json has all\n"));
  assert_non_null(strstr(run.out, "\n  and 20303 more; --json has all\n"));
  assert_non_null(strstr(run.out, "\n20503 pairs of triangles meet"));
  freeRun(&run);
  words[COUNT + 1] = "--json";
  run = runTool(words);
  expectRun(&run, 1, "");
  json_t *answer = json_loads(run.out, 0, NULL);
  assert_int_equal(json_array_size(json_object_get(answer, "bodies")), COUNT);
  assert_int_equal(json_array_size(json_object_get(answer, "collisions")), 20503);
  json_decref(answer);
  freeRun(&run);
  unlink("a.off");
}

static double numberAt(json_t *list, size_t i) {
  return json_number_value(json_array_get(list, i));
}

/* Three boxes in a row, the third without contact: distances, points and order, of the tool as text and as JSON. */
static void testDistance(void **state) {
  (void)state;
  static const char *const shapes[4][4] = {
      {"a.ply", "0,0,0"}, {"b.ply", "2.5,0,0"}, {"c.ply", "2.5,1.5,0"}, {"far.ply", "100,0,0"}};
  for (int i = 0; i < 4; ++i) {
    ToolRun made =
        runTool((const char *[]){"make", "box", shapes[i][0], "--cells", "1", "--at", shapes[i][1], "-q", NULL});
    expectRun(&made, 0, "");
    freeRun(&made);
  }
  // Between 0 and 1 there are 0.5 along x, 1 and 2 meet, the others are far.
  ToolRun run = runTool((const char *[]){"check", "a.ply", "b.ply", "c.ply", "far.ply", "--distance", "--json", NULL});
  expectRun(&run, 1, "");
  json_t *answer = json_loads(run.out, 0, NULL), *list = json_object_get(answer, "distances");
  assert_int_equal(json_array_size(list), 6);
  static const struct {
    json_int_t a, b;
    double distance;
  } truth[6] = {{1, 2, 0}, {0, 1, 0.5}, {0, 2, 0.5}, {1, 3, 95.5}, {2, 3, 95.5}, {0, 3, 98}};
  for (size_t i = 0; i < 6; ++i) {
    json_t *one = json_array_get(list, i), *onA = json_object_get(one, "on_a"), *onB = json_object_get(one, "on_b");
    assert_int_equal(intOf(one, "a"), truth[i].a);
    assert_int_equal(intOf(one, "b"), truth[i].b);
    double distance = json_number_value(json_object_get(one, "distance")), square = 0;
    assert_true(fabs(distance - truth[i].distance) < 1e-6);
    for (size_t k = 0; k < 3; ++k)
      square += (numberAt(onA, k) - numberAt(onB, k)) * (numberAt(onA, k) - numberAt(onB, k));
    assert_true(fabs(sqrt(square) - distance) < 1e-5);
    assert_true(intOf(one, "triangle_a") < 12 && intOf(one, "triangle_b") < 12);
  }
  json_decref(answer);
  freeRun(&run);
  run = runTool((const char *[]){"check", "a.ply", "b.ply", "far.ply", "--distance", "--only", "0,1", NULL});
  expectRun(&run, 0, "");
  assert_non_null(strstr(run.out, "distance"));
  assert_non_null(strstr(run.out, "0.5"));
  assert_null(strstr(run.out, "95.5"));
  freeRun(&run);
  run = runTool((const char *[]){"check", "a.ply", "--distance", NULL});
  expectRun(&run, 0, "");
  assert_non_null(strstr(run.out, "measures between bodies, and there is one"));
  freeRun(&run);
  run = runTool((const char *[]){"check", "a.ply", "--to", "b.ply", "--distance", NULL});
  expectRun(&run, 2, "--distance does not go with --to");
  freeRun(&run);
  for (int i = 0; i < 4; ++i) unlink(shapes[i][0]);
}

/* A limit on the size of stacks that is larger than any memory: no thread can be started. */
static void testNoThreads(void **state) {
  (void)state;
  writeText("a.off", TRIANGLE);
  writeText("c.off", CROSSING);
  struct rlimit old, huge;
  assert_int_equal(getrlimit(RLIMIT_STACK, &old), 0);
  huge = (struct rlimit){(rlim_t)1 << 47, old.rlim_max};
  if (old.rlim_max != RLIM_INFINITY || setrlimit(RLIMIT_STACK, &huge) != 0) {
    print_message("skipped: the size of stacks cannot be set\n");
    unlink("a.off");
    unlink("c.off");
    return;
  }
  ToolRun run = runTool((const char *[]){"check", "a.off", "c.off", "--threads", "4", NULL});
  assert_int_equal(setrlimit(RLIMIT_STACK, &old), 0);
  if (run.status == -1) print_message("skipped: nothing runs with such stacks\n");
  else {
    expectRun(&run, 1, "going on with 1");
    assert_non_null(strstr(run.out, "1 pair of triangles meets"));
  }
  freeRun(&run);
  unlink("a.off");
  unlink("c.off");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testMaxPairs),      cmocka_unit_test(testNoThreads), cmocka_unit_test(testShapes),
      cmocka_unit_test(testAnswers),       cmocka_unit_test(testFirst),     cmocka_unit_test(testKnownPairs),
      cmocka_unit_test(testTouchingPairs), cmocka_unit_test(testSelfPairs), cmocka_unit_test(testLongTables),
      cmocka_unit_test(testDistance),
  };
  return cmocka_run_group_tests(tests, enterFolder, leaveFolder);
}
