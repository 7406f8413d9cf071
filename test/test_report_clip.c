/* test_report_clip.c: a report of several animations, each of which numbers its frames anew, and of findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "report_read.h"
#include "report_scene.h"

#include <unistd.h>

static const char s_page[] = "<!doctype html><html><body><!--PINCH-DATA--></body></html>\n";
static const char s_path[] = "test_report_clip.html";

/* Two clips: `firstCount` frames numbered from 1, then `secondCount` from -3 on. Time of the scene: 0.02 a frame, and 0.05. */
static void writeClips(Scene *scene, uint32_t firstCount, uint32_t secondCount, uint64_t byteLimit,
                       pnReportStats *outStats) {
  pnReportInfo info = pn_defaultReportInfo();
  info.bodies = scene->bodies;
  info.bodyCount = (uint32_t)scene->bodyCount;
  info.pageTemplate = s_page;
  info.byteLimit = byteLimit;
  pnReport *report;
  assert_int_equal(pn_reportBegin(s_path, &info, &report), PN_OK);
  assert_int_equal(pn_reportClip(report, "walk \"fast\"", 30), PN_OK);
  for (uint32_t f = 0; f < firstCount + secondCount; ++f) {
    bool second = f >= firstCount;
    if (f == firstCount) assert_int_equal(pn_reportClip(report, "idle", 24), PN_OK);
    scenePose(scene, second ? 0.05 * (f - firstCount) : 0.02 * f);
    int64_t number = second ? (int64_t)(f - firstCount) - 3 : (int64_t)f + 1;
    assert_int_equal(
        pn_reportFrame(report, number, (double)number / 30, (const float *const *)scene->positions, NULL, 0), PN_OK);
    // Within a clip numbers must grow all the same.
    assert_int_equal(
        pn_reportFrame(report, number, (double)number / 30, (const float *const *)scene->positions, NULL, 0),
        PN_ERROR_ARGUMENT);
  }
  assert_int_equal(pn_reportEnd(report, true, outStats), PN_OK);
}

/* Stored frames are where the scene has them, predicted by frames of their own clip only. Returns how many are stored. */
static uint32_t compareClips(Scene *scene, uint32_t firstCount, uint32_t secondCount) {
  ReadReport report = readReport(s_path);
  assert_int_equal(report.frameCount, firstCount + secondCount);
  json_t *clips = json_object_get(report.meta, "clips");
  assert_int_equal(json_array_size(clips), 2);
  json_t *second = json_array_get(clips, 1);
  assert_string_equal(json_string_value(json_object_get(json_array_get(clips, 0), "name")), "walk \"fast\"");
  assert_int_equal(json_integer_value(json_object_get(second, "firstFrame")), firstCount);
  assert_int_equal(json_integer_value(json_object_get(second, "frameCount")), secondCount);
  assert_true(json_number_value(json_object_get(second, "fps")) == 24);
  uint32_t stored = 0;
  for (uint32_t f = 0; f < report.frameCount; ++f) {
    bool isSecond = f >= firstCount;
    const ReadFrame *frame = &report.frames[f];
    assert_int_equal(frame->number, isSecond ? (int64_t)(f - firstCount) - 3 : (int64_t)f + 1);
    if (frame->positionsSize == 0) continue;
    ++stored;
    if (frame->low != UINT32_MAX)
      assert_true((frame->low >= firstCount) == isSecond && (frame->high >= firstCount) == isSecond);
    scenePose(scene, isSecond ? 0.05 * (f - firstCount) : 0.02 * f);
    for (uint32_t b = 0; b < report.bodyCount; ++b) {
      double out[3];
      readCorner(&report, f, b, 7, 1, out);
      const float *p = scene->positions[b] + 3 * (size_t)scene->bodies[b].triangles[3 * 7 + 1];
      for (int i = 0; i < 3; ++i) assert_true(fabs(out[i] - p[i]) <= report.step[b] * 0.500001);
    }
  }
  freeReport(&report);
  unlink(s_path);
  return stored;
}

static void clipsAreApart(void **state) {
  (void)state;
  Scene scene = makeSpheres(8);
  pnReportStats stats;
  // Groups of 32 frames from key to key: clips of one, fewer, just as many, and more frames than that.
  static const uint32_t counts[][2] = {{1, 1}, {5, 3}, {33, 33}, {32, 34}, {75, 40}, {34, 1}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    writeClips(&scene, counts[i][0], counts[i][1], PN_REPORT_BYTE_LIMIT, &stats);
    assert_int_equal(compareClips(&scene, counts[i][0], counts[i][1]), counts[i][0] + counts[i][1]);
  }
  // Half of the room: frames are thinned, and those left are right.
  writeClips(&scene, 75, 40, PN_REPORT_BYTE_LIMIT, &stats);
  writeClips(&scene, 75, 40, stats.byteCount / 2, &stats);
  assert_in_range(compareClips(&scene, 75, 40), 2, 60);
  sceneFree(&scene);
}

static pnReportFinding makeFinding(const char *name, const pnReportSample *samples) {
  static const char *const joints[] = {"hand \"L\"", "arm</script>"};
  return (pnReportFinding){.name = name,
                           .depthKind = "inside",
                           .kind = "new",
                           .standing = "deeper",
                           .comment = "seen",
                           .clip = 1,
                           .number = 7,
                           .a = 0,
                           .b = 1,
                           .first = -3,
                           .last = 5,
                           .deepest = 2,
                           .frameCount = 8,
                           .depth = 0.125,
                           .volume = NAN,
                           .fails = true,
                           .jointsA = joints,
                           .jointCountA = 2,
                           .centre = {1, 2, 3},
                           .from = {4, 5, 6},
                           .onto = {7, 8, 9.5f},
                           .samples = samples,
                           .sampleCount = 2};
}

static void findingsComeBack(void **state) {
  (void)state;
  Scene scene = makeSpheres(6);
  pnReportInfo info = pn_defaultReportInfo();
  info.bodies = scene.bodies;
  info.bodyCount = (uint32_t)scene.bodyCount;
  info.pageTemplate = s_page;
  pnReport *writer;
  assert_int_equal(pn_reportBegin(s_path, &info, &writer), PN_OK);
  const pnReportSample samples[2] = {{-3, 0.01, {0, 0, 1}}, {2, 0.125, {0, 1, 0}}};
  pnReportFinding finding = makeFinding("0badcafe", samples);
  assert_int_equal(pn_reportFinding(writer, &finding), PN_OK);
  finding.name = "cafe0bad";
  assert_int_equal(pn_reportFinding(writer, &finding), PN_OK);
  finding.b = 2;
  assert_int_equal(pn_reportFinding(writer, &finding), PN_ERROR_INDEX);
  assert_int_equal(pn_reportJoin(writer, 1, 9, 7), PN_OK);
  assert_int_equal(pn_reportEnd(writer, true, NULL), PN_OK);
  ReadReport report = readReport(s_path);
  size_t size = 0;
  char *text = (char *)inflateElement(&report, "pinch-findings", &size);
  json_t *root = json_loadb(text, size, 0, NULL), *list = json_object_get(root, "findings");
  assert_int_equal(json_array_size(list), 2);
  json_t *first = json_array_get(list, 0), *sample = json_array_get(json_object_get(first, "samples"), 1);
  assert_string_equal(json_string_value(json_object_get(first, "name")), "0badcafe");
  assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "name")), "cafe0bad");
  assert_int_equal(json_integer_value(json_object_get(first, "first")), -3);
  assert_int_equal(json_integer_value(json_object_get(first, "number")), 7);
  assert_true(json_number_value(json_object_get(first, "depth")) == 0.125);
  assert_true(json_is_null(json_object_get(first, "volume")));
  assert_true(json_is_true(json_object_get(first, "fails")));
  assert_string_equal(json_string_value(json_array_get(json_object_get(first, "jointsA"), 0)), "hand \"L\"");
  assert_true(json_number_value(json_array_get(json_object_get(first, "onto"), 2)) == 9.5);
  assert_int_equal(json_integer_value(json_array_get(sample, 0)), 2);
  assert_true(json_number_value(json_array_get(sample, 1)) == 0.125);
  json_t *join = json_array_get(json_object_get(root, "joined"), 0);
  assert_int_equal(json_integer_value(json_array_get(join, 1)), 9);
  json_decref(root);
  free(text);
  freeReport(&report);
  sceneFree(&scene);
  unlink(s_path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(clipsAreApart), cmocka_unit_test(findingsComeBack)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
