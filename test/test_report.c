/* test_report.c: what the writer of the HTML report puts into the file, read back by other code (report_read.h).
 *
 * Also writes the sample reports that web/test/browser.mjs opens, into report_samples/ of the build folder, each with
 * the numbers the page must show beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "report_memory.h"
#include "report_read.h"
#include "report_scene.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

static const char s_page[] =
    "<!doctype html><html><body>"
    "<!--PINCH-DATA-->"
    "</body></html>\n";
static const char s_path[] = "test_report.html";

/* Reports that were begun and are neither finished nor thrown away. */
static size_t countParts(void) {
  glob_t found;
  size_t count = glob("test_report.html*.part", 0, NULL, &found) == 0 ? found.gl_pathc : 0;
  globfree(&found);
  return count;
}

/* ---------------------------------------------------------------- help */

static pnReportInfo infoOf(const Scene *scene) {
  static const char *const files[] = {"scene.glb"};
  pnReportInfo info = pn_defaultReportInfo();
  info.title = "scene.glb";
  info.files = files;
  info.fileCount = 1;
  info.fps = 30;
  info.bodies = scene->bodies;
  info.bodyCount = (uint32_t)scene->bodyCount;
  info.pageTemplate = s_page;
  return info;
}

#define MAX_PAIRS 100000
static pnReportPair s_pairs[MAX_PAIRS];

/* Frames of a scene with its true pairs; s_counts keeps how many each frame has. */
static size_t s_counts[256];
static void writeScene(const char *path, const pnReportInfo *info, Scene *scene, uint32_t frameCount, double perFrame,
                       pnReportStats *outStats) {
  pnReport *report;
  assert_int_equal(pn_reportBegin(path, info, &report), PN_OK);
  for (uint32_t f = 0; f < frameCount; ++f) {
    scenePose(scene, f * perFrame);
    size_t count = s_counts[f] = scenePairs(scene, s_pairs, MAX_PAIRS);
    assert_int_equal(pn_reportFrame(report, f + 1, f / 30.0, (const float *const *)scene->positions, s_pairs, count),
                     PN_OK);
  }
  assert_int_equal(pn_reportEnd(report, true, outStats), PN_OK);
}

/* Every corner of every stored frame is where the scene has it, to half a step. Returns the number of stored frames. */
static uint32_t comparePositions(ReadReport *report, Scene *scene, double perFrame) {
  uint32_t stored = 0;
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    if (report->frames[f].positionsSize == 0) continue;
    stored += 1;
    scenePose(scene, f * perFrame);
    for (uint32_t b = 0; b < report->bodyCount; ++b) {
      for (uint32_t t = 0; t < report->triangleCounts[b]; ++t) {
        for (uint32_t k = 0; k < 3; ++k) {
          double out[3];
          readCorner(report, f, b, t, k, out);
          const float *p = scene->positions[b] + 3 * (size_t)scene->bodies[b].triangles[3 * t + k];
          for (int i = 0; i < 3; ++i) {
            // half a step, and the rounding of origin + step * integer in double
            assert_true(fabs(out[i] - p[i]) <= report->step[b] * 0.500001);
          }
        }
      }
    }
  }
  return stored;
}

/* ---------------------------------------------------------------- what comes back */

static void everythingComesBack(void **state) {
  (void)state;
  Scene scene = makeSpheres(12);
  pnReportInfo info = infoOf(&scene);
  pnReportStats stats;
  // 75 frames: two full groups and a short one
  writeScene(s_path, &info, &scene, 75, 0.02, &stats);
  ReadReport report = readReport(s_path);
  assert_int_equal(report.frameCount, 75);
  assert_int_equal(stats.frameCount, 75);
  assert_int_equal(stats.positionFrames, 75);
  assert_int_equal(stats.byteCount, report.textSize);
  assert_int_equal(comparePositions(&report, &scene, 0.02), 75);

  // pairs and counts, against the scene's own
  uint32_t contactFrames = 0;
  for (uint32_t f = 0; f < 75; ++f) {
    scenePose(&scene, f * 0.02);
    size_t count = scenePairs(&scene, s_pairs, MAX_PAIRS);
    contactFrames += count > 0;
    assert_int_equal(report.frames[f].total, count);
    assert_int_equal(report.frames[f].number, f + 1);
    assert_true(report.frames[f].time == f / 30.0);
    uint32_t *pairs = readPairs(&report, f);
    assert_true((pairs != NULL) == (count > 0));
    if (pairs != NULL) assert_memory_equal(pairs, s_pairs, count * sizeof *s_pairs);
    free(pairs);
  }
  assert_true(contactFrames > 10 && contactFrames < 75);
  assert_int_equal(stats.contactFrames, contactFrames);
  assert_int_equal(stats.pairFrames, contactFrames);
  freeReport(&report);
  sceneFree(&scene);
}

static void namesAndGroupsComeBack(void **state) {
  (void)state;
  Scene scene = makeFigure(0.5);
  scene.bodies[1].name = "</script><img src=x onerror=alert(1)> \"\\\x01\xff\xc0\x80\xe2\x82\xac\xed\xa0\x80";
  pnReportInfo info = infoOf(&scene);
  info.title = "<!-- title";
  pnReport *writer;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  scenePose(&scene, 0.25);
  assert_int_equal(pn_reportNote(writer, "a note"), PN_OK);
  assert_int_equal(pn_reportFrame(writer, -7, 0.5, (const float *const *)scene.positions, NULL, 0), PN_OK);
  assert_int_equal(pn_reportEnd(writer, false, NULL), PN_OK);

  // a name cannot leave its string: the only elements are ours
  ReadReport report = readReport(s_path);
  assert_null(strstr(report.text, "<img"));
  assert_null(strstr(report.text, "<!-- title"));
  json_t *body = json_array_get(json_object_get(report.meta, "bodies"), 1);
  assert_string_equal(json_string_value(json_object_get(body, "name")),
                      "</script><img src=x onerror=alert(1)> \"\\\x01\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xe2\x82\xac"
                      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  assert_string_equal(json_string_value(json_object_get(report.meta, "title")), "<!-- title");
  assert_string_equal(json_string_value(json_array_get(json_object_get(report.meta, "notes"), 0)), "a note");
  assert_true(json_is_false(json_object_get(report.meta, "complete")));
  assert_int_equal(report.frames[0].number, -7);

  // the group of a corner is the group of its vertex
  for (uint32_t b = 0; b < report.bodyCount; ++b) {
    const pnReportBody *given = &scene.bodies[b];
    assert_true((report.groups[b] != NULL) == (given->vertexGroups != NULL));
    for (uint32_t i = 0; report.groups[b] != NULL && i < 3 * given->triangleCount; ++i)
      assert_int_equal(report.groups[b][report.triangles[b][i]], given->vertexGroups[given->triangles[i]] + 1);
  }
  freeReport(&report);
  sceneFree(&scene);
}

static void pairsMayComeInAnyOrder(void **state) {
  (void)state;
  Scene scene = makeSpheres(6);
  pnReportInfo info = infoOf(&scene);
  const pnReportPair given[5] = {{1, 5, 1, 9, 4}, {0, 7, 1, 2, 9}, {0, 7, 1, 1, 9}, {0, 3, 0, 8, 0}, {0, 2, 1, 90, 3}};
  const pnReportPair sorted[5] = {{0, 3, 0, 8, 0}, {0, 2, 1, 90, 3}, {0, 7, 1, 1, 9}, {0, 7, 1, 2, 9}, {1, 5, 1, 9, 4}};
  pnReport *writer;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  scenePose(&scene, 0);
  assert_int_equal(pn_reportFrame(writer, 0, 0, (const float *const *)scene.positions, given, 5), PN_OK);
  assert_int_equal(pn_reportEnd(writer, true, NULL), PN_OK);
  ReadReport report = readReport(s_path);
  uint32_t *pairs = readPairs(&report, 0);
  assert_memory_equal(pairs, sorted, sizeof sorted);
  assert_int_equal(report.frames[0].kindCount, 3);
  assert_int_equal(report.frames[0].kinds[1][2], 3);
  free(pairs);
  freeReport(&report);
  sceneFree(&scene);
}

/* ---------------------------------------------------------------- strange bodies */

/* Undoes mixBits of report_mesh.c, step by step: a shift of 33 is its own inverse, a product is undone by the inverse of its
 * factor. */
static uint64_t unmix(uint64_t x) {
  static const uint64_t factors[2] = {0xc4ceb9fe1a85ec53ull, 0xff51afd7ed558ccdull};
  for (int i = 0; i < 2; ++i) {
    uint64_t inverse = factors[i];
    for (int n = 0; n < 6; ++n) inverse *= 2 - factors[i] * inverse; // Newton: each step doubles the good bits
    x = (x ^ x >> 33) * inverse;
  }
  return x ^ x >> 33;
}

/* Vertices at places that all have one hash: mix(mix(x, y) + z) with x and y chosen for the high bits of the sum and z for
 * the low ones. */
static void collidingPlacesAreNotSlow(void **state) {
  (void)state;
  enum { COUNT = 150000 };
  float *places = malloc(3 * COUNT * sizeof *places);
  uint32_t *triangles = malloc(COUNT * sizeof *triangles);
  for (uint32_t n = 0, low = 0; n < COUNT; ++low) {
    uint32_t part = low * 2654435761u;
    uint64_t xy = unmix((uint64_t)0x12345678 << 32 | part);
    uint32_t bits[3] = {(uint32_t)(xy >> 32), (uint32_t)xy, UINT32_MAX - part};
    float p[3];
    memcpy(p, bits, sizeof p);
    if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])) {
      memcpy(places + 3 * n, p, sizeof p);
      triangles[n] = n;
      ++n;
    }
  }
  pnReportBody body = {.name = "one hash", .vertexCount = COUNT, .triangles = triangles, .triangleCount = COUNT / 3};
  pnReportInfo info = pn_defaultReportInfo();
  info.bodies = &body;
  info.bodyCount = 1;
  info.pageTemplate = s_page;
  pnReport *writer;
  const float *positions[1] = {places};
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  assert_int_equal(pn_reportFrame(writer, 0, 0, positions, NULL, 0), PN_OK);
  assert_int_equal(pn_reportEnd(writer, true, NULL), PN_OK);
  free(places);
  free(triangles);
}

static uint32_t s_random = 1;
static uint32_t randomBelow(uint32_t n) {
  s_random = s_random * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)s_random * n >> 32);
}

/* Triangles that name random vertices (repeated corners, edges with many triangles, doubled and unused vertices), and
 * vertices that jump anywhere: what comes back must still be what went in. */
static void anyMeshComesBack(void **state) {
  (void)state;
  for (int round = 0; round < 30; ++round) {
    Scene scene = {.bodyCount = 1 + (int)randomBelow(3)};
    for (int b = 0; b < scene.bodyCount; ++b) {
      uint32_t vertexCount = 1 + randomBelow(40), triangleCount = randomBelow(60);
      uint32_t *triangles = malloc((3 * triangleCount + 1) * sizeof *triangles);
      for (uint32_t i = 0; i < 3 * triangleCount; ++i) triangles[i] = randomBelow(vertexCount);
      scene.bodies[b] = (pnReportBody){
          .name = "any", .vertexCount = vertexCount, .triangles = triangles, .triangleCount = triangleCount};
      scene.positions[b] = malloc(3 * vertexCount * sizeof(float));
    }
    pnReportInfo info = infoOf(&scene);
    pnReport *writer;
    uint32_t frameCount = randomBelow(70);
    float *kept = malloc((frameCount + 1) * 3 * 120 * sizeof *kept), *keep = kept;
    assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
    for (uint32_t f = 0; f < frameCount; ++f) {
      for (int b = 0; b < scene.bodyCount; ++b) {
        for (uint32_t i = 0; i < 3 * scene.bodies[b].vertexCount; ++i)
          scene.positions[b][i] = (float)randomBelow(5) * (f % 7 == 3 ? 1e3f : 0.5f) - (float)randomBelow(2);
        memcpy(keep, scene.positions[b], 3 * scene.bodies[b].vertexCount * sizeof *keep);
        keep += 3 * scene.bodies[b].vertexCount;
      }
      assert_int_equal(pn_reportFrame(writer, f, f, (const float *const *)scene.positions, NULL, 0), PN_OK);
    }
    assert_int_equal(pn_reportEnd(writer, true, NULL), PN_OK);

    ReadReport report = readReport(s_path);
    keep = kept;
    bool view = json_is_true(json_object_get(report.meta, "view"));
    for (uint32_t f = 0; f < frameCount; ++f) {
      for (uint32_t b = 0; b < report.bodyCount; ++b) {
        for (uint32_t i = 0; view && i < 3 * scene.bodies[b].triangleCount; ++i) {
          double out[3];
          readCorner(&report, f, b, i / 3, i % 3, out);
          for (int k = 0; k < 3; ++k)
            assert_true(fabs(out[k] - keep[3 * scene.bodies[b].triangles[i] + (uint32_t)k]) <= report.step[b] * 0.5001);
        }
        keep += 3 * scene.bodies[b].vertexCount;
      }
    }
    free(kept);
    freeReport(&report);
    sceneFree(&scene);
  }
}

static void nothingAtAll(void **state) {
  (void)state;
  // no body, no frame
  pnReportInfo info = pn_defaultReportInfo();
  info.pageTemplate = s_page;
  pnReport *writer;
  pnReportStats stats;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  assert_int_equal(pn_reportEnd(writer, true, &stats), PN_OK);
  ReadReport report = readReport(s_path);
  assert_int_equal(report.frameCount, 0);
  assert_true(json_is_false(json_object_get(report.meta, "view")));
  freeReport(&report);

  // a body that is a point, far away: its grid takes any size, and positions that do not fit the grid are held
  float position[9] = {5, 5, 5, 5, 5, 5, 5, 5, 5}, far[9] = {1e30f, 0, 0, 0, -1e30f, 0, 0, 0, 0};
  const float *positions[1] = {position};
  const uint32_t triangle[3] = {0, 1, 2};
  pnReportBody body = {.name = "point", .vertexCount = 3, .triangles = triangle, .triangleCount = 1};
  info.bodies = &body;
  info.bodyCount = 1;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  assert_int_equal(pn_reportFrame(writer, 0, 0, positions, NULL, 0), PN_OK);
  positions[0] = far;
  assert_int_equal(pn_reportFrame(writer, 1, 1, positions, NULL, 0), PN_OK);
  assert_int_equal(pn_reportEnd(writer, true, &stats), PN_OK);
  report = readReport(s_path);
  double out[3];
  readCorner(&report, 0, 0, 0, 0, out);
  assert_true(out[0] == 5);
  readCorner(&report, 1, 0, 0, 0, out);
  assert_true(out[0] > 1000 && out[0] < 1e5);
  freeReport(&report);
}

/* ---------------------------------------------------------------- the limit */

/* Made-up pairs with one peak, at frame 137 of 200. */
static size_t peakedPairs(uint32_t f) {
  size_t count = f > 100 && f < 180 ? 500 - 10 * (size_t)abs((int)f - 137) : 0;
  for (uint32_t i = 0; i < count; ++i) s_pairs[i] = (pnReportPair){0, i, 1, i / 2 + f, i / 50};
  return count;
}

static void writePeaked(const pnReportInfo *info, Scene *scene, pnReportStats *outStats) {
  pnReport *report;
  assert_int_equal(pn_reportBegin(s_path, info, &report), PN_OK);
  for (uint32_t f = 0; f < 200; ++f) {
    scenePose(scene, f * 0.0075);
    size_t count = peakedPairs(f);
    // two findings, deepest in frames 113 and 151, which have neither the most pairs nor an even number
    pn_reportDepth(report, 7, 1.0 / (1 + abs((int)f - 113)));
    pn_reportDepth(report, 2, 0.1 / (1 + abs((int)f - 151)));
    assert_int_equal(pn_reportFrame(report, f, f, (const float *const *)scene->positions, s_pairs, count), PN_OK);
  }
  assert_int_equal(pn_reportEnd(report, true, outStats), PN_OK);
}

static void thinningKeepsWhatMatters(void **state) {
  (void)state;
  Scene scene = makeSpheres(16);
  pnReportInfo info = infoOf(&scene);
  pnReportStats whole, thin;
  writePeaked(&info, &scene, &whole);
  assert_int_equal(whole.positionFrames, 200);
  uint32_t before = 200;
  for (int part = 2; part <= 8; part *= 2) {
    info.byteLimit = whole.byteCount / (unsigned)part + 12000;
    writePeaked(&info, &scene, &thin);
    assert_true(thin.byteCount <= info.byteLimit);
    assert_true(thin.positionFrames < before);
    before = thin.positionFrames;

    // all counts are there, the worst frame has its positions and pairs, and what is stored is true
    ReadReport report = readReport(s_path);
    for (uint32_t f = 0; f < 200; ++f) {
      size_t count = peakedPairs(f);
      assert_int_equal(report.frames[f].total, count);
      uint32_t *pairs = readPairs(&report, f);
      assert_true(pairs == NULL || memcmp(pairs, s_pairs, count * sizeof *s_pairs) == 0);
      free(pairs);
    }
    assert_true(report.frames[137].positionsSize > 0);
    assert_true(report.frames[137].pairsSize > 0);
    // and so have the deepest frames of findings, until there is room for next to nothing
    for (uint32_t f = 113; part < 8 && f <= 151; f += 38)
      assert_true(report.frames[f].positionsSize > 0 && report.frames[f].pairsSize > 0);
    assert_true(report.frames[199].positionsSize > 0);
    assert_int_equal(comparePositions(&report, &scene, 0.0075), thin.positionFrames);

    // thinning is even: with half of the bytes left no gap is longer than a group
    uint32_t gap = 0;
    for (uint32_t f = 0; part == 2 && f < 200; ++f) {
      gap = report.frames[f].positionsSize > 0 ? 0 : gap + 1;
      assert_true(gap < 8);
    }
    freeReport(&report);
  }
  sceneFree(&scene);
}

static void longPairListsAreThinnedToo(void **state) {
  (void)state;
  Scene scene = makeSpheres(24);
  pnReportInfo info = infoOf(&scene);
  info.byteLimit = 400000;
  pnReport *writer;
  pnReportStats stats;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  for (uint32_t f = 0; f < 80; ++f) {
    // many pairs without order, most of them in frame 41
    scenePose(&scene, f * 0.01);
    size_t count = f == 41 ? 20000 : 10000;
    for (size_t i = 0; i < count; ++i) {
      s_pairs[i] = (pnReportPair){0, randomBelow(scene.bodies[0].triangleCount), 1,
                                  randomBelow(scene.bodies[1].triangleCount), 0};
    }
    assert_int_equal(pn_reportFrame(writer, f, f, (const float *const *)scene.positions, s_pairs, count), PN_OK);
  }
  assert_int_equal(pn_reportEnd(writer, true, &stats), PN_OK);
  assert_true(stats.byteCount <= info.byteLimit);
  assert_true(stats.pairFrames > 0 && stats.pairFrames < 80);
  ReadReport report = readReport(s_path);
  for (uint32_t f = 0; f < 80; ++f) assert_int_equal(report.frames[f].total, f == 41 ? 20000 : 10000);
  assert_true(report.frames[41].pairsSize > 0);
  freeReport(&report);
  sceneFree(&scene);
}

static void noRoomForAView(void **state) {
  (void)state;
  Scene scene = makeSpheres(40);
  pnReportInfo info = infoOf(&scene);
  info.byteLimit = 24000;
  pnReportStats stats;
  writeScene(s_path, &info, &scene, 3, 0.5, &stats);
  assert_true(stats.byteCount <= info.byteLimit);
  assert_int_equal(stats.positionFrames, 0);
  ReadReport report = readReport(s_path);
  assert_true(json_is_false(json_object_get(report.meta, "view")));
  assert_true(report.frames[2].total > 0);
  freeReport(&report);
  sceneFree(&scene);
}

/* ---------------------------------------------------------------- wrong */

static void wrongIsNamed(void **state) {
  (void)state;
  Scene scene = makeSpheres(6);
  scenePose(&scene, 0);
  pnReportInfo info = infoOf(&scene);
  const float *const *positions = (const float *const *)scene.positions;
  pnReport *writer;

  // what begin refuses, and leaves no file
  remove(s_path);
  info.byteLimit = 1000;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_ERROR_ARGUMENT);
  assert_non_null(strstr(pn_reportMessage(), "1000"));
  info = infoOf(&scene);
  info.pageTemplate = "<html></html>";
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_ERROR_ARGUMENT);
  info = infoOf(&scene);
  assert_int_equal(pn_reportBegin("no/such/folder/report.html", &info, &writer), PN_ERROR_FILE);
  assert_non_null(strstr(pn_reportMessage(), "no/such/folder"));
  uint32_t corner = ((uint32_t *)scene.bodies[1].triangles)[4];
  ((uint32_t *)scene.bodies[1].triangles)[4] = scene.bodies[1].vertexCount;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_ERROR_INDEX);
  assert_non_null(strstr(pn_reportMessage(), "'Moon': triangle 1"));
  ((uint32_t *)scene.bodies[1].triangles)[4] = corner;
  if (!pn_reportAvailable()) {
    info.pageTemplate = NULL;
    assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(pn_reportMessage(), "this build has no HTML report"));
    info = infoOf(&scene);
  }
  assert_int_equal(access(s_path, F_OK), -1);

  // what a frame refuses changes nothing
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  const pnReportPair good = {0, 1, 1, 1, 0}, bad = {0, 1, 2, 1, 0}, worse = {0, 1, 1, scene.bodies[1].triangleCount, 0};
  assert_int_equal(pn_reportFrame(writer, 5, 1, positions, &good, 1), PN_OK);
  assert_int_equal(pn_reportFrame(writer, 6, 2, positions, &bad, 1), PN_ERROR_INDEX);
  assert_int_equal(pn_reportFrame(writer, 6, 2, positions, &worse, 1), PN_ERROR_INDEX);
  assert_int_equal(pn_reportFrame(writer, 5, 2, positions, &good, 1), PN_ERROR_ARGUMENT);
  assert_int_equal(pn_reportFrame(writer, 6, NAN, positions, &good, 1), PN_ERROR_NUMBER);
  scene.positions[1][7] = NAN;
  assert_int_equal(pn_reportFrame(writer, 6, 2, positions, &good, 1), PN_ERROR_NUMBER);
  assert_non_null(strstr(pn_reportMessage(), "'Moon': vertex 2"));
  scenePose(&scene, 0);
  assert_int_equal(pn_reportFrame(writer, 6, 2, positions, &good, 1), PN_OK);
  assert_int_equal(pn_reportEnd(writer, true, NULL), PN_OK);
  ReadReport report = readReport(s_path);
  assert_int_equal(report.frameCount, 2);
  freeReport(&report);

  // cancelled: the last report stays as it was
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  pn_reportCancel(writer);
  assert_int_equal(access(s_path, F_OK), 0);
  assert_int_equal(countParts(), 0);
  sceneFree(&scene);
}

static pnResult writeSmall(const pnReportInfo *info, Scene *scene) {
  pnReport *writer;
  pnResult result = pn_reportBegin(s_path, info, &writer);
  if (result != PN_OK) return result;
  const pnReportPair pairs[3] = {{0, 2, 1, 2, 1}, {0, 1, 1, 1, 1}, {0, 5, 0, 9, 2}};
  result = pn_reportNote(writer, "note");
  for (uint32_t f = 0; f < 40 && result == PN_OK; ++f)
    result = pn_reportFrame(writer, f, f, (const float *const *)scene->positions, pairs, f % 3 + 1);
  if (result != PN_OK) {
    pn_reportCancel(writer);
    return result;
  }
  return pn_reportEnd(writer, true, NULL);
}

/* Every allocation of the writer fails once: an error, nothing leaks, no file. */
static void memoryRunsOut(void **state) {
  (void)state;
  Scene scene = makeSpheres(4);
  scenePose(&scene, 0.3);
  pnReportInfo info = infoOf(&scene);
  info.byteLimit = 9000; // tight: thinning allocates too
  bool failed = true;
  long count = 0;
  for (; failed; ++count) {
    remove(s_path);
    long live = s_live;
    s_failed = false;
    s_failAt = count;
    pnResult result = writeSmall(&info, &scene);
    s_failAt = -1;
    failed = s_failed;
    assert_int_equal(s_live, live);
    // giving back unused room is the one allocation whose failure costs nothing
    assert_true(result == PN_OK || (failed && result == PN_ERROR_MEMORY));
    assert_int_equal(access(s_path, F_OK), result == PN_OK ? 0 : -1);
    assert_int_equal(countParts(), 0);
  }
  assert_true(count > 100);
  sceneFree(&scene);
}

/* ---------------------------------------------------------------- samples for the browser */

/* The numbers a page must show, as the scene itself had them. */
static void writeExpected(const char *path, uint32_t frameCount) {
  json_t *counts = json_array();
  for (uint32_t f = 0; f < frameCount; ++f) json_array_append_new(counts, json_integer((json_int_t)s_counts[f]));
  json_t *root = json_pack("{s:o}", "pairs", counts);
  assert_int_equal(json_dump_file(root, path, 0), 0);
  json_decref(root);
}

static void writeSamples(void **state) {
  (void)state;
  if (!pn_reportAvailable()) {
    print_message("skipped: samples for the browser, this build has no HTML report\n");
    return;
  }
  mkdir("report_samples", 0777);
  pnReportStats stats;

  // a figure whose arms brush its coat
  Scene scene = makeFigure(1);
  pnReportInfo info = infoOf(&scene);
  info.pageTemplate = NULL;
  info.title = "figure.glb";
  info.command = "pinch scan figure.glb --html report.html";
  writeScene("report_samples/figure.html", &info, &scene, 90, 1.0 / 60, &stats);
  writeExpected("report_samples/figure.json", 90);

  // the same with half of its positions: the page alone, and half of what the frames added to it
  pnReportStats page;
  writeScene("report_samples/thinned.html", &info, &scene, 0, 0, &page);
  info.byteLimit = page.byteCount + (stats.byteCount - page.byteCount) / 2;
  writeScene("report_samples/thinned.html", &info, &scene, 90, 1.0 / 60, &stats);
  assert_true(stats.positionFrames < 90 && stats.pairFrames == stats.contactFrames);
  sceneFree(&scene);

  // two spheres, with names nobody should run
  scene = makeSpheres(16);
  scene.bodies[0].name = "</script><img src=x onerror=\"document.title='owned'\">";
  info = infoOf(&scene);
  info.pageTemplate = NULL;
  writeScene("report_samples/spheres.html", &info, &scene, 60, 1.0 / 40, &stats);
  writeExpected("report_samples/spheres.json", 60);

  // nothing meets; and nothing at all
  writeScene("report_samples/clean.html", &info, &scene, 12, 1.0 / 60, &stats);
  assert_int_equal(stats.contactFrames, 0);
  writeScene("report_samples/empty.html", &info, &scene, 0, 0, &stats);
  sceneFree(&scene);
}

/* Many bodies of one triangle, all in contact with all, in frames whose numbers are far apart. */
static void writeCrowd(void **state) {
  (void)state;
  if (!pn_reportAvailable()) return;
  enum { BODIES = 600, PAIRS = BODIES * (BODIES - 1) / 2 };
  static const uint32_t triangle[3] = {0, 1, 2};
  static pnReportBody bodies[BODIES];
  static float places[BODIES][9];
  const float *positions[BODIES];
  char(*names)[16] = malloc(BODIES * sizeof *names);
  pnReportPair *pairs = malloc(PAIRS * sizeof *pairs);
  size_t pairCount = 0;
  for (uint32_t b = 0; b < BODIES; ++b) {
    snprintf(names[b], sizeof names[b], "extra %u", b);
    bodies[b] = (pnReportBody){.name = names[b], .vertexCount = 3, .triangles = triangle, .triangleCount = 1};
    const float turn = (float)b * 0.01f;
    memcpy(places[b], (float[9]){turn, 0, 0, 1, 1 + turn, 0, 0, 1, turn}, sizeof places[b]);
    positions[b] = places[b];
    for (uint32_t c = b + 1; c < BODIES; ++c) pairs[pairCount++] = (pnReportPair){b, 0, c, 0, 0};
  }
  pnReportInfo info = pn_defaultReportInfo();
  info.bodies = bodies;
  info.bodyCount = BODIES;
  pnReport *report;
  assert_int_equal(pn_reportBegin("report_samples/crowd.html", &info, &report), PN_OK);
  for (int f = 0; f < 3; ++f)
    assert_int_equal(pn_reportFrame(report, 1000000000ll * f, f, positions, pairs, f == 1 ? pairCount : 0), PN_OK);
  assert_int_equal(pn_reportEnd(report, true, NULL), PN_OK);
  free(names);
  free(pairs);
}

/* test_report --big FILE DETAIL FRAMES: a long report, for measuring by hand. Its pairs are made up. */
static int writeBig(const char *path, double detail, uint32_t frameCount) {
  Scene scene = makeFigure(detail);
  pnReportInfo info = infoOf(&scene);
  info.pageTemplate = NULL;
  pnReport *report;
  pnReportStats stats;
  if (pn_reportBegin(path, &info, &report) != PN_OK) {
    fprintf(stderr, "%s\n", pn_reportMessage());
    return 1;
  }
  uint32_t triangles = 0;
  for (int b = 0; b < scene.bodyCount; ++b) triangles += scene.bodies[b].triangleCount;
  double spent = 0;
  for (uint32_t f = 0; f < frameCount; ++f) {
    scenePose(&scene, f / 37.0);
    uint32_t arm = FIGURE_LEFT + f / 30 % 2, count = f % 30 < 12 ? 0 : f % 30 * 9;
    for (uint32_t i = 0; i < count; ++i)
      s_pairs[i] = (pnReportPair){FIGURE_COAT, 400 + f % 50 + i / 2, arm, 300 + i * 7 / 3, 0};
    double start = pnGetTime();
    if (pn_reportFrame(report, f, f / 30.0, (const float *const *)scene.positions, s_pairs, count) != PN_OK) {
      fprintf(stderr, "%s\n", pn_reportMessage());
      return 1;
    }
    spent += pnGetTime() - start;
  }
  double start = pnGetTime();
  pnResult result = pn_reportEnd(report, true, &stats);
  spent += pnGetTime() - start;
  printf("%u triangles, %u frames, %u with positions, %.1f MB, %.2f ms a frame\n", triangles, stats.frameCount,
         stats.positionFrames, (double)stats.byteCount / 1e6, 1e3 * spent / frameCount);
  sceneFree(&scene);
  return result != PN_OK;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--big") == 0) return writeBig(argv[2], atof(argv[3]), (uint32_t)atoi(argv[4]));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everythingComesBack),
      cmocka_unit_test(namesAndGroupsComeBack),
      cmocka_unit_test(pairsMayComeInAnyOrder),
      cmocka_unit_test(anyMeshComesBack),
      cmocka_unit_test(nothingAtAll),
      cmocka_unit_test(thinningKeepsWhatMatters),
      cmocka_unit_test(longPairListsAreThinnedToo),
      cmocka_unit_test(noRoomForAView),
      cmocka_unit_test(wrongIsNamed),
      cmocka_unit_test(memoryRunsOut),
      cmocka_unit_test(collidingPlacesAreNotSlow),
      cmocka_unit_test(writeSamples),
      cmocka_unit_test(writeCrowd),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(s_path);
  return failed;
}
