/* test_cache.c: vertex caches: MDD, PC2 and numbered mesh files; what they give, in any order, and what they refuse. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinch/io.h"

/* ---------------------------------------------------------------- helpers */

static char s_folder[64];

static int makeFolder(void **context) {
  (void)context;
  strcpy(s_folder, "pinch_cache_XXXXXX");
  return mkdtemp(s_folder) == NULL;
}

/* Removes what the test has made: files by name, then the folder. */
static int removeFolder(void **context) {
  (void)context;
  char command[128];
  snprintf(command, sizeof(command), "rm -r '%s'", s_folder);
  return system(command);
}

static const char *pathOf(const char *name) {
  static char path[256];
  snprintf(path, sizeof(path), "%s/%s", s_folder, name);
  return path;
}

static void put(uint8_t *out, uint32_t bits, bool big) {
  for (int i = 0; i < 4; ++i) out[i] = (uint8_t)(bits >> (big ? 24 - 8 * i : 8 * i));
}

static void putFloat(uint8_t *out, float number, bool big) {
  uint32_t bits;
  memcpy(&bits, &number, 4);
  put(out, bits, big);
}

/* Coordinate c of vertex v in frame f. */
static float coordinate(uint32_t f, uint32_t v, uint32_t c) {
  return (float)f * 100.0f + (float)v * 0.5f - (float)c;
}

/* A cache of the kind in memory; the caller frees it. */
static uint8_t *makeCache(bool mdd, uint32_t frames, uint32_t vertices, size_t *outSize) {
  size_t head = mdd ? 8 + 4 * (size_t)frames : 32, size = head + (size_t)frames * vertices * 12;
  uint8_t *bytes = calloc(size, 1), *out = bytes + head;
  if (mdd) {
    put(bytes, frames, true);
    put(bytes + 4, vertices, true);
    for (uint32_t f = 0; f < frames; ++f) putFloat(bytes + 8 + 4 * f, (float)f / 24.0f, true);
  } else {
    memcpy(bytes, "POINTCACHE2", 12);
    put(bytes + 12, 1, false);
    put(bytes + 16, vertices, false);
    putFloat(bytes + 20, 10.0f, false);
    putFloat(bytes + 24, 0.5f, false);
    put(bytes + 28, frames, false);
  }
  for (uint32_t f = 0; f < frames; ++f)
    for (uint32_t i = 0; i < vertices * 3; ++i, out += 4) putFloat(out, coordinate(f, i / 3, i % 3), mdd);
  *outSize = size;
  return bytes;
}

static void writeFile(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(pathOf(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static void expectFrame(pnCache *cache, uint32_t frame) {
  uint32_t count = pnCache_GetInfo(cache).vertexCount;
  float *vertices = malloc((size_t)count * 12);
  assert_int_equal(pnCache_Read(cache, frame, vertices), PN_OK);
  for (uint32_t i = 0; i < count * 3; ++i) assert_true(vertices[i] == coordinate(frame, i / 3, i % 3));
  free(vertices);
}

static void expectError(const char *name, pnResult result, const char *words) {
  pnCache *cache = NULL;
  assert_int_equal(pnOpenCache(pathOf(name), &cache), result);
  assert_null(cache);
  if (strstr(pnGetMessage(), words) == NULL) fail_msg("'%s' lacks '%s'", pnGetMessage(), words);
  assert_non_null(strstr(pnGetMessage(), name));
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- MDD and PC2 */

static void framesInAnyOrder(void **context) {
  (void)context;
  for (int mdd = 0; mdd < 2; ++mdd) {
    const char *name = mdd ? "a.mdd" : "a.pc2";
    size_t size = 0;
    uint8_t *bytes = makeCache(mdd, 50, 7, &size);
    writeFile(name, bytes, size);
    pnCache *cache = NULL;
    assert_int_equal(pnOpenCache(pathOf(name), &cache), PN_OK);
    pnCacheInfo info = pnCache_GetInfo(cache);
    assert_int_equal(info.kind, mdd ? PN_CACHE_MDD : PN_CACHE_PC2);
    assert_int_equal(info.frameCount, 50);
    assert_int_equal(info.vertexCount, 7);
    assert_null(info.mesh);
    for (uint32_t i = 0; i < 120; ++i) {
      uint32_t frame = i * 37 % 50;
      double time = mdd ? (double)((float)frame / 24.0f) : 10.0 + 0.5 * frame;
      assert_true(pnCache_GetTime(cache, frame) == time);
      expectFrame(cache, frame);
    }
    float vertices[21];
    assert_int_equal(pnCache_Read(cache, 50, vertices), PN_ERROR_INDEX);
    pnCloseCache(cache);
    free(bytes);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

static void memoryDoesNotGrowWithFrames(void **context) {
  (void)context;
  size_t bytesHeld[2];
  for (int i = 0; i < 2; ++i) {
    size_t size = 0;
    uint8_t *bytes = makeCache(true, i == 0 ? 2 : 20000, 5, &size);
    writeFile("b.mdd", bytes, size);
    free(bytes);
    pnCache *cache = NULL;
    assert_int_equal(pnOpenCache(pathOf("b.mdd"), &cache), PN_OK);
    for (uint32_t f = 0; f < pnCache_GetInfo(cache).frameCount; ++f) expectFrame(cache, f);
    bytesHeld[i] = pnGetByteCount();
    pnCloseCache(cache);
  }
  assert_int_equal(bytesHeld[0], bytesHeld[1]);
}

static void cutAndWrongHeads(void **context) {
  (void)context;
  for (int mdd = 0; mdd < 2; ++mdd) {
    const char *name = mdd ? "c.mdd" : "c.pc2";
    size_t size = 0;
    uint8_t *bytes = makeCache(mdd, 3, 4, &size);
    for (size_t cut = 0; cut < size; ++cut) {
      pnCache *cache = NULL;
      writeFile(name, bytes, cut);
      assert_int_equal(pnOpenCache(pathOf(name), &cache), PN_ERROR_FORMAT);
      assert_null(cache);
    }
    /* Counts that cannot be. */
    static const uint32_t counts[] = {0, 4, 0x10000000, 0x7FFFFFFF, 0xFFFFFFFF};
    for (int i = 0; i < 10; ++i) {
      uint8_t *wrong = malloc(size);
      memcpy(wrong, bytes, size);
      put(wrong + (mdd ? (i % 2) * 4 : 16 + (i % 2) * 12), counts[i / 2] + (counts[i / 2] == 4), mdd);
      writeFile(name, wrong, size);
      pnCache *cache = NULL;
      pnResult result = pnOpenCache(pathOf(name), &cache);
      assert_true(result == PN_ERROR_COUNT || result == PN_ERROR_FORMAT);
      free(wrong);
    }
    free(bytes);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

/* Cut while it is open: said when the frame is asked for. */
static void cutWhileOpen(void **context) {
  (void)context;
  size_t size = 0;
  uint8_t *bytes = makeCache(true, 9, 4000, &size);
  float *vertices = malloc(4000 * 12);
  writeFile("e.mdd", bytes, size);
  pnCache *cache = NULL;
  assert_int_equal(pnOpenCache(pathOf("e.mdd"), &cache), PN_OK);
  expectFrame(cache, 3);
  assert_int_equal(truncate(pathOf("e.mdd"), (long)size - 40), 0);
  assert_int_equal(pnCache_Read(cache, 8, vertices), PN_ERROR_FILE);
  assert_non_null(strstr(pnGetMessage(), "e.mdd: frame 8"));
  expectFrame(cache, 7);
  pnCloseCache(cache);
  free(vertices);
  free(bytes);
}

static void numbersThatAreNone(void **context) {
  (void)context;
  size_t size = 0;
  uint8_t *bytes = makeCache(true, 3, 4, &size);
  putFloat(bytes + 12, NAN, true);
  writeFile("d.mdd", bytes, size);
  expectError("d.mdd", PN_ERROR_NUMBER, "the time of frame 1");
  putFloat(bytes + 12, 1, true);
  putFloat(bytes + 20 + 48 + 3 * 12 + 4, INFINITY, true);
  writeFile("d.mdd", bytes, size);
  pnCache *cache = NULL;
  float vertices[12];
  assert_int_equal(pnOpenCache(pathOf("d.mdd"), &cache), PN_OK);
  assert_int_equal(pnCache_Read(cache, 0, vertices), PN_OK);
  assert_int_equal(pnCache_Read(cache, 1, vertices), PN_ERROR_NUMBER);
  assert_non_null(strstr(pnGetMessage(), "frame 1: vertex 3"));
  pnCloseCache(cache);
  free(bytes);

  bytes = makeCache(false, 3, 4, &size);
  put(bytes + 12, 2, false);
  writeFile("d.pc2", bytes, size);
  expectError("d.pc2", PN_ERROR_UNSUPPORTED, "version 2, expected 1");
  put(bytes + 12, 1, false);
  putFloat(bytes + 24, NAN, false);
  writeFile("d.pc2", bytes, size);
  expectError("d.pc2", PN_ERROR_NUMBER, "rate");
  bytes[0] = 'p';
  writeFile("d.pc2", bytes, size);
  expectError("d.pc2", PN_ERROR_FORMAT, "expected POINTCACHE2");
  /* And PC2 is known by its content, whatever it is called. */
  bytes[0] = 'P';
  putFloat(bytes + 24, 1, false);
  writeFile("d.cache", bytes, size);
  assert_int_equal(pnOpenCache(pathOf("d.cache"), &cache), PN_OK);
  assert_int_equal(pnCache_GetInfo(cache).kind, PN_CACHE_PC2);
  pnCloseCache(cache);
  free(bytes);
  expectError("nothing.mdd", PN_ERROR_FILE, "no such file");
}

/* ---------------------------------------------------------------- mesh files */

static void saveFrame(const char *name, uint32_t frame, const uint32_t *triangles, uint32_t vertexCount) {
  float vertices[24];
  for (uint32_t i = 0; i < vertexCount * 3; ++i) vertices[i] = coordinate(frame, i / 3, i % 3);
  assert_int_equal(pnSaveMesh(pathOf(name), vertices, vertexCount, triangles, 2), PN_OK);
}

static void numberedFiles(void **context) {
  (void)context;
  static const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
  char folder[128], name[64];
  snprintf(folder, sizeof(folder), "%s/seq", s_folder);
  assert_int_equal(mkdir(folder, 0700), 0);
  for (uint32_t f = 0; f < 12; ++f) {
    snprintf(name, sizeof(name), "seq/frame_%04u.ply", f + 95);
    saveFrame(name, f, triangles, 4);
    snprintf(name, sizeof(name), "seq/take2.%u.obj", f); /* no leading zeros: 10 comes after 9 */
    saveFrame(name, f, triangles, 4);
  }
  writeFile("seq/frame_0096.txt", "x", 1);
  static const struct {
    const char *pattern;
    double firstTime;
  } patterns[] = {{"seq/frame_####.ply", 95}, {"seq/frame_##.ply", -1}, {"seq/frame_*.ply", 95},
                  {"seq/take2.#.obj", 0},     {"seq/*.obj", 0},         {"seq/?ake2*", 0},
                  {"seq/frame_#####.ply", -2}};
  for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); ++i) {
    pnCache *cache = NULL;
    pnResult result = pnOpenCache(pathOf(patterns[i].pattern), &cache);
    /* Four digits are more than two, but not five. */
    if (patterns[i].firstTime == -2) {
      assert_int_equal(result, PN_ERROR_FILE);
      assert_non_null(strstr(pnGetMessage(), "no mesh there"));
      continue;
    }
    assert_int_equal(result, PN_OK);
    pnCacheInfo info = pnCache_GetInfo(cache);
    assert_int_equal(info.kind, PN_CACHE_FILES);
    assert_int_equal(info.frameCount, 12);
    assert_int_equal(info.vertexCount, 4);
    assert_int_equal(info.mesh->triangleCount, 2);
    for (uint32_t f = 0; f < 12; ++f) expectFrame(cache, (f * 5) % 12);
    double first = patterns[i].firstTime < 0 ? 95 : patterns[i].firstTime;
    for (uint32_t f = 0; f < 12; ++f) assert_true(pnCache_GetTime(cache, f) == first + f);
    pnCloseCache(cache);
  }

  /* The folder has both, which differ only in their names here; the frames come by name. */
  pnCache *cache = NULL;
  assert_int_equal(pnOpenCache(folder, &cache), PN_OK);
  assert_int_equal(pnCache_GetInfo(cache).frameCount, 24);
  assert_true(pnCache_GetTime(cache, 12) == 12); /* numbers do not rise: the frame's own */
  pnCloseCache(cache);
  /* One file is a cache of one frame. */
  assert_int_equal(pnOpenCache(pathOf("seq/take2.0.obj"), &cache), PN_OK);
  assert_int_equal(pnCache_GetInfo(cache).frameCount, 1);
  expectFrame(cache, 0);
  pnCloseCache(cache);
  assert_int_equal(pnGetByteCount(), 0);
}

static void filesThatDiffer(void **context) {
  (void)context;
  static const uint32_t triangles[] = {0, 1, 2, 0, 2, 3}, others[] = {0, 1, 2, 0, 3, 2};
  saveFrame("w1.ply", 0, triangles, 4);
  saveFrame("w2.ply", 1, triangles, 5);
  saveFrame("w3.ply", 2, others, 4);
  writeFile("w4.ply", "ply\nnonsense", 12);
  saveFrame("w5.ply", 4, triangles, 4);
  pnCache *cache = NULL;
  float vertices[12];
  assert_int_equal(pnOpenCache(pathOf("w#.ply"), &cache), PN_OK);
  assert_int_equal(pnCache_Read(cache, 1, vertices), PN_ERROR_COUNT);
  assert_non_null(strstr(pnGetMessage(), "w2.ply: 5 vertices and 2 triangles, but w1.ply has 4 and 2"));
  assert_int_equal(pnCache_Read(cache, 2, vertices), PN_ERROR_INDEX);
  assert_non_null(strstr(pnGetMessage(), "w3.ply: triangle 1 has other vertices"));
  assert_int_equal(pnCache_Read(cache, 3, vertices), PN_ERROR_FORMAT);
  assert_non_null(strstr(pnGetMessage(), "w4.ply"));
  expectFrame(cache, 4);
  pnCloseCache(cache);
  expectError("v*.ply", PN_ERROR_FILE, "no mesh there");
  expectError("none/v*.ply", PN_ERROR_FILE, "cannot be opened");
}

/* ---------------------------------------------------------------- memory that runs out */

static pnResult openAndRead(void *path) {
  pnCache *cache = NULL;
  float vertices[12];
  pnResult result = pnOpenCache(path, &cache);
  if (result == PN_OK) result = pnCache_Read(cache, 2, vertices);
  pnCloseCache(cache);
  return result;
}

static void memoryMayEndAnywhere(void **context) {
  (void)context;
  static const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
  for (uint32_t f = 0; f < 40; ++f) {
    char name[32];
    snprintf(name, sizeof(name), "m%03u.ply", f);
    saveFrame(name, f, triangles, 4);
  }
  size_t size = 0;
  uint8_t *bytes = makeCache(true, 3, 4, &size);
  writeFile("m.mdd", bytes, size);
  free(bytes);
  static const char *const names[] = {"m###.ply", "m.mdd"};
  for (int i = 0; i < 4; ++i)
    assert_true(testEveryAllocationFailure(openAndRead, (char *)pathOf(names[i / 2]), i % 2, false) > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(framesInAnyOrder), cmocka_unit_test(memoryDoesNotGrowWithFrames),
      cmocka_unit_test(cutAndWrongHeads), cmocka_unit_test(numbersThatAreNone),
      cmocka_unit_test(cutWhileOpen),     cmocka_unit_test(numberedFiles),
      cmocka_unit_test(filesThatDiffer),  cmocka_unit_test(memoryMayEndAnywhere),
  };
  return cmocka_run_group_tests(tests, makeFolder, removeFolder);
}
