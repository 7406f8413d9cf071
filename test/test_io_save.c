/* test_io_save.c: what is written reads back the same, and a write that fails loses nothing. */
#include "support.h"

#include "pinch/io.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static int makeFolder(void **state) {
  (void)state;
  strcpy(folder, "pinch_test_XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int removeFolder(void **state) {
  (void)state;
  return rmdir(folder); /* fails when a test left something behind */
}

static const char *pathOf(const char *name) {
  static char path[4][512];
  static int which;
  which = (which + 1) % 4;
  snprintf(path[which], sizeof(path[which]), "%s/%s", folder, name);
  return path[which];
}

static char *readAll(const char *path, size_t *outSize) {
  FILE *stream = fopen(path, "rb");
  if (!stream) return NULL;
  char *bytes = calloc(1, 1 << 20);
  *outSize = fread(bytes, 1, 1 << 20, stream);
  fclose(stream);
  return bytes;
}

/* ---------------------------------------------------------------- round trips */

enum { VERTICES = 500, TRIANGLES = 900 };

static void makeMesh(float *vertices, uint32_t *triangles, uint64_t seed) {
  TestRandom random = testRandom(seed);
  for (int i = 0; i < 3 * VERTICES; ++i) vertices[i] = i % 2 ? testAnyFloat(&random) : testFloat(&random, -10, 10);
  vertices[0] = -0.0f;
  for (int i = 0; i < 3 * TRIANGLES; ++i) triangles[i] = testBelow(&random, VERTICES);
}

static void testRoundTrips(void **state) {
  (void)state;
  static const char *names[] = {"a.obj", "b.off", "c.ply", "d.PLY"};
  float vertices[3 * VERTICES];
  uint32_t triangles[3 * TRIANGLES];
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    makeMesh(vertices, triangles, i);
    const char *path = pathOf(names[i]);
    testExpectOk(pnSaveMesh(path, vertices, VERTICES, triangles, TRIANGLES));
    pnMeshFile file;
    testExpectOk(pnLoadMeshFile(path, &file));
    assert_int_equal(file.vertexCount, VERTICES);
    assert_int_equal(file.triangleCount, TRIANGLES);
    assert_memory_equal(file.vertices, vertices, sizeof(vertices));
    assert_memory_equal(file.triangles, triangles, sizeof(triangles));
    pnFreeMeshFile(&file);
    assert_int_equal(remove(path), 0);
  }
}

/* STL keeps corners and no vertices. */
static void testStlRoundTrip(void **state) {
  (void)state;
  float vertices[3 * VERTICES];
  uint32_t triangles[3 * TRIANGLES];
  makeMesh(vertices, triangles, 99);
  const char *path = pathOf("a.stl");
  testExpectOk(pnSaveMesh(path, vertices, VERTICES, triangles, TRIANGLES));
  pnMeshFile file;
  testExpectOk(pnLoadMeshFile(path, &file));
  assert_int_equal(file.vertexCount, 3 * TRIANGLES);
  for (int i = 0; i < 3 * TRIANGLES; ++i) assert_memory_equal(file.vertices + 3 * i, vertices + 3 * triangles[i], 12);
  pnFreeMeshFile(&file);
  remove(path);
}

static void testEmptyRoundTrip(void **state) {
  (void)state;
  static const char *names[] = {"a.off", "a.ply", "a.stl"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    testExpectOk(pnSaveMesh(pathOf(names[i]), NULL, 0, NULL, 0));
    pnMeshFile file;
    testExpectOk(pnLoadMeshFile(pathOf(names[i]), &file));
    assert_int_equal(file.triangleCount, 0);
    pnFreeMeshFile(&file);
    remove(pathOf(names[i]));
  }
}

/* ---------------------------------------------------------------- failures */

static void testRefusals(void **state) {
  (void)state;
  float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t triangle[3] = {0, 1, 3};
  const char *path = pathOf("a.obj");
  FILE *old = fopen(path, "wb");
  fputs("old", old);
  fclose(old);
  testExpectFailure(pnSaveMesh(path, vertices, 3, triangle, 1), PN_ERROR_INDEX, "a.obj|triangle 0|vertex 3 of 3");
  triangle[2] = 2;
  vertices[4] = 1.0f / 0.0f;
  testExpectFailure(pnSaveMesh(path, vertices, 3, triangle, 1), PN_ERROR_NUMBER, "a.obj|vertex 1");
  vertices[4] = 0;
  testExpectFailure(pnSaveMesh(pathOf("a.gltf"), vertices, 3, triangle, 1), PN_ERROR_UNSUPPORTED, "a.gltf|.obj");
  testExpectFailure(pnSaveMesh(pathOf("no/where.obj"), vertices, 3, triangle, 1), PN_ERROR_FILE,
                    "where.obj|No such file");
  testExpectFailure(pnSaveMesh(folder, vertices, 3, triangle, 1), PN_ERROR_UNSUPPORTED, "format");
  size_t size;
  char *bytes = readAll(path, &size);
  assert_string_equal(bytes, "old");
  free(bytes);
  remove(path);
}

/* Thrown away or full disk: the old file is still there and nothing else. */
static void testOutFile(void **state) {
  (void)state;
  const char *path = pathOf("answer.csv");
  pnOutFile *out;
  testExpectOk(pnOpenOutFile(path, &out));
  pnOutFile_Print(out, "%d,%s\n", 7, "one");
  pnOutFile_Write(out, "two\n", 4);
  size_t size;
  assert_null(readAll(path, &size)); /* not there yet */
  testExpectOk(pnCloseOutFile(out, true));
  testExpectOk(pnOpenOutFile(path, &out));
  pnOutFile_Print(out, "never seen");
  testExpectOk(pnCloseOutFile(out, false));
  char *bytes = readAll(path, &size);
  assert_string_equal(bytes, "7,one\ntwo\n");
  free(bytes);

  // Two writers of one file, by whatever name, do not write into each other, and the last to end has the place.
  pnOutFile *second;
  testExpectOk(pnOpenOutFile(path, &out));
  char other[600];
  snprintf(other, sizeof(other), "%s/./answer.csv", folder);
  testExpectOk(pnOpenOutFile(other, &second));
  pnOutFile_Print(out, "of the first");
  pnOutFile_Print(second, "of the second one");
  testExpectOk(pnCloseOutFile(second, true));
  testExpectOk(pnCloseOutFile(out, true));
  bytes = readAll(path, &size);
  assert_string_equal(bytes, "of the first");
  free(bytes);

  // Its permissions are kept; a file that may not be written to is left alone (root may write to all).
  assert_int_equal(chmod(path, 0600), 0);
  testExpectOk(pnOpenOutFile(path, &out));
  pnOutFile_Print(out, "private");
  testExpectOk(pnCloseOutFile(out, true));
  struct stat mode;
  assert_int_equal(stat(path, &mode), 0);
  assert_int_equal(mode.st_mode & 07777, 0600);
  assert_int_equal(chmod(path, 0400), 0);
  if (geteuid() != 0) testExpectFailure(pnOpenOutFile(path, &out), PN_ERROR_FILE, "answer.csv|denied");
  assert_int_equal(chmod(path, 0600), 0);

  // A link stays a link; what it leads to is replaced.
  const char *link = pathOf("link.csv");
  assert_int_equal(symlink("answer.csv", link), 0);
  testExpectOk(pnOpenOutFile(link, &out));
  pnOutFile_Print(out, "through the link");
  testExpectOk(pnCloseOutFile(out, true));
  struct stat status;
  assert_int_equal(lstat(link, &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  bytes = readAll(path, &size);
  assert_string_equal(bytes, "through the link");
  free(bytes);
  remove(link);
  remove(path);
}

/* One of several threads that write one file again and again, each a letter so many times. */
typedef struct Writer {
  const char *path;
  char letter;
  bool good;
} Writer;

enum { WRITERS = 3, LETTERS = 20000 };

static void *writeOften(void *context) {
  Writer *writer = context;
  char text[LETTERS];
  memset(text, writer->letter, sizeof(text));
  writer->good = true;
  for (int round = 0; round < 40 && writer->good; ++round) {
    pnOutFile *out;
    writer->good = pnOpenOutFile(writer->path, &out) == PN_OK;
    if (!writer->good) break;
    for (int i = 0; i < 4; ++i) pnOutFile_Write(out, text + i * (LETTERS / 4), LETTERS / 4);
    writer->good = pnCloseOutFile(out, true) == PN_OK;
  }
  return NULL;
}

/* Whatever they do at the same time, the file is always one of theirs, whole, and nothing else is left (removeFolder would say so). */
static void testManyWriters(void **state) {
  (void)state;
  const char *path = pathOf("shared.csv");
  Writer writers[WRITERS];
  pthread_t threads[WRITERS];
  for (int i = 0; i < WRITERS; ++i) {
    writers[i] = (Writer){.path = path, .letter = (char)('a' + i)};
    assert_int_equal(pthread_create(&threads[i], NULL, writeOften, &writers[i]), 0);
  }
  for (int round = 0; round < 200; ++round) {
    size_t size;
    char *bytes = readAll(path, &size);
    bool whole = !bytes || (size == LETTERS && strspn(bytes, (char[2]){bytes[0], 0}) == size);
    free(bytes);
    assert_true(whole);
  }
  for (int i = 0; i < WRITERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < WRITERS; ++i) assert_true(writers[i].good);
  remove(path);
}

/* What a process that was killed has left is removed when its file is written again, and what is none of that stays. */
static void testLeftBehind(void **state) {
  (void)state;
  char host[72] = "host";
  gethostname(host, sizeof(host) - 1);
  // A process that is surely gone: a child that has ended.
  pid_t child = fork();
  if (child == 0) _exit(0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  static const char *const ends[] = {"-%ld-7.part", "-%ld-12345.part", "-%ld-.part", "-%ld-7.partly", "-%ld7.part"};
  char name[200], end[64];
  pnOutFile *out;
  for (int i = 0; i < 5; ++i) {
    snprintf(end, sizeof(end), ends[i], (long)child);
    snprintf(name, sizeof(name), "left.csv.%s%s", host, end);
    FILE *file = fopen(pathOf(name), "w");
    assert_non_null(file);
    fclose(file);
  }
  testExpectOk(pnOpenOutFile(pathOf("left.csv"), &out));
  testExpectOk(pnCloseOutFile(out, true));
  for (int i = 0; i < 5; ++i) {
    snprintf(end, sizeof(end), ends[i], (long)child);
    snprintf(name, sizeof(name), "left.csv.%s%s", host, end);
    assert_int_equal(access(pathOf(name), F_OK) == 0, i >= 2);
    remove(pathOf(name));
  }
  remove(pathOf("left.csv"));
}

static void testFullDisk(void **state) {
  (void)state;
  struct stat status;
  if (stat("/dev/full", &status) != 0) {
    print_message("skipped: no /dev/full\n");
    return;
  }
  pnOutFile *out;
  testExpectOk(pnOpenOutFile("/dev/full", &out));
  for (int i = 0; i < 10000; ++i) pnOutFile_Print(out, "0123456789");
  testExpectFailure(pnOutFile_Flush(out), PN_ERROR_FILE, "/dev/full|No space");
  testExpectFailure(pnCloseOutFile(out, true), PN_ERROR_FILE, "/dev/full|No space");
  // Little enough to wait in memory: told before the file is closed.
  testExpectOk(pnOpenOutFile("/dev/full", &out));
  pnOutFile_Print(out, "0123456789");
  testExpectFailure(pnOutFile_Flush(out), PN_ERROR_FILE, "/dev/full|No space");
  testExpectOk(pnCloseOutFile(out, false));
  assert_int_equal(stat("/dev/full", &status), 0); /* a device is not replaced */
  assert_true(S_ISCHR(status.st_mode));
}

static pnResult saveOnce(void *context) {
  (void)context;
  float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  uint32_t triangle[3] = {0, 1, 2};
  return pnSaveMesh(pathOf("memory.obj"), vertices, 3, triangle, 1);
}

static void testMemoryFailures(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(saveOnce, NULL, false, false) >= 3);
  remove(pathOf("memory.obj"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRoundTrips),     cmocka_unit_test(testStlRoundTrip), cmocka_unit_test(testEmptyRoundTrip),
      cmocka_unit_test(testRefusals),       cmocka_unit_test(testOutFile),      cmocka_unit_test(testFullDisk),
      cmocka_unit_test(testMemoryFailures), cmocka_unit_test(testManyWriters),  cmocka_unit_test(testLeftBehind),
  };
  return cmocka_run_group_tests(tests, makeFolder, removeFolder);
}
