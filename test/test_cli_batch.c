/* test_cli_batch.c: many files in one call, and frames by standard input. A bad file does not stop the rest and is named; rows are those of
 * the files by themselves; a batch that was killed goes on; hostile streams are refused; results of a stream come frame by frame. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <signal.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- lists */

enum { FILES = 500, BROKEN = 10 };

static void nameFile(int i, char name[32]) {
  snprintf(name, 32, "many/f%03d.glb", i);
}

/* Every fiftieth file is broken, each in a way of its own. */
static bool isBroken(int i) {
  return i % 50 == 7;
}

static void makeMany(void) {
  assert_int_equal(mkdir("many", 0755), 0);
  for (int i = 0; i < FILES; ++i) {
    char name[32];
    nameFile(i, name);
    if (!isBroken(i)) assert_int_equal(link("boxes.glb", name), 0);
    else if (i < 100) writeText(name, "this is no file of ours");
    else if (i < 200) writeText(name, "");
    else {
      FILE *from = fopen("boxes.glb", "rb"), *to = fopen(name, "wb");
      assert_true(from && to);
      char bytes[100 + FILES];
      size_t count = fread(bytes, 1, 100 + (size_t)i, from);
      assert_int_equal(fwrite(bytes, 1, count, to), count);
      fclose(from), fclose(to);
    }
  }
}

static void removeMany(void) {
  char name[32];
  for (int i = 0; i < FILES; ++i) nameFile(i, name), unlink(name);
  rmdir("many");
}

/* The rows, one a line; checks that they are the files in order. */
static void expectRows(const char *text, int *outRows, int *outErrors) {
  *outRows = *outErrors = 0;
  for (const char *line = text; *line; line = strchr(line, '\n') + 1, ++*outRows) {
    json_t *row = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
    assert_true(json_is_object(row));
    char name[32];
    nameFile(*outRows, name);
    assert_string_equal(json_string_value(json_object_get(row, "file")), name);
    bool error = strcmp(json_string_value(json_object_get(row, "status")), "error") == 0;
    assert_int_equal(error, isBroken(*outRows));
    if (error) assert_non_null(json_string_value(json_object_get(row, "error")));
    else assert_int_equal(json_integer_value(json_object_get(row, "frames_total")), 3);
    assert_null(json_object_get(row, "thumb"));
    *outErrors += error;
    json_decref(row);
  }
}

static size_t count(const char *text, const char *word) {
  size_t n = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) ++n;
  return n;
}

static void badFilesDoNotStopTheRest(void **state) {
  (void)state;
  makeMany();
  int rows, errors;
  assert_int_equal(runLine("scan --list many --frames 28:30 --threads 1 --json --html index.html"), 2);
  expectRows(lastRun.out, &rows, &errors);
  assert_int_equal(rows, FILES);
  assert_int_equal(errors, BROKEN);
  // Each bad one is named at the end, and has been when its turn came.
  for (int i = 0; i < FILES; ++i) {
    char name[32];
    nameFile(i, name);
    assert_int_equal(strstr(lastRun.err, name) != NULL, isBroken(i));
  }
  assert_non_null(strstr(lastRun.err, "10 of 500 files"));
  char *page = takeFile("index.html");
  assert_int_equal(count(page, "<tr><td>"), FILES);
  assert_int_equal(count(page, "data:image/png;base64,iVBOR"), FILES - BROKEN);
  assert_int_equal(count(page, "class=\"error\""), BROKEN);
  free(page);
  removeMany();
}

/* A row says what a scan of the file by itself says. */
static void rowsAreScans(void **state) {
  (void)state;
  writeText("list.txt", "# two of them\nboxes.glb\n\n  \nboxes.glb\r\n");
  assert_int_equal(runLine("scan boxes.glb --json"), 1);
  json_t *alone = json_loads(lastRun.out, 0, NULL), *first = json_array_get(json_object_get(alone, "findings"), 0);
  assert_int_equal(runLine("scan --list list.txt --json"), 1);
  assert_int_equal(count(lastRun.out, "\n"), 2);
  json_t *row = json_loads(lastRun.out, JSON_DISABLE_EOF_CHECK, NULL), *worst = json_object_get(row, "worst");
  assert_string_equal(json_string_value(json_object_get(row, "status")), "found");
  assert_int_equal(json_integer_value(json_object_get(row, "findings")),
                   json_array_size(json_object_get(alone, "findings")));
  assert_string_equal(json_string_value(json_object_get(worst, "name")),
                      json_string_value(json_object_get(first, "name")));
  assert_true(json_number_value(json_object_get(worst, "depth")) == json_number_value(json_object_get(first, "depth")));
  json_decref(row);
  json_decref(alone);
  // An index that cannot be written is found out before anything is scanned.
  runLine("scan --list list.txt --html nowhere/index.html");
  expectRun(&lastRun, 2, "nowhere/index.html|cannot be written");
  assert_string_equal(lastRun.out, "");
  assert_int_equal(runLine("scan --list list.txt --fail-on none"), 0);
  assert_non_null(strstr(lastRun.out, "2 files: 0 with findings, 2 clean"));
  runLine("scan --list nothing.txt");
  expectRun(&lastRun, 2, "nothing.txt|cannot be opened");
  writeText("list.txt", "\n");
  runLine("scan --list list.txt");
  expectRun(&lastRun, 2, "names no file");
  runLine("scan --list list.txt boxes.glb");
  expectRun(&lastRun, 2, "--list names the files");
  runLine("scan --list list.txt --csv x");
  expectRun(&lastRun, 2, "--list");
  unlink("list.txt");
}

/* Killed in the middle, it goes on; a file that has changed is scanned again. */
static void aBatchGoesOn(void **state) {
  (void)state;
  char list[4096] = "";
  for (int i = 0; i < 40; ++i) strcat(list, i == 20 ? "broken.glb\n" : "boxes.glb\n");
  writeText("list.txt", list);
  writeText("broken.glb", "x");
  assert_int_equal(runLine("scan --list list.txt --json --html a.html --resume j"), 2);
  assert_int_not_equal(access("j", F_OK), 0);
  char *rows = strdup(lastRun.out), *page = takeFile("a.html");
  for (int i = 0; i < 3; ++i) {
    const char *const words[] = {"scan", "--list", "list.txt", "--json", "--html", "a.html", "--resume", "j", NULL};
    ToolStart start = startTool(words);
    waitForBytes(&start, "j", 2000 + 4000 * i);
    kill(start.child, SIGKILL);
    ToolRun ended = endTool(&start);
    freeRun(&ended);
    // The page comes at the end, and whole.
    if (access("a.html", F_OK) == 0) {
      char *early = takeFile("a.html");
      assert_string_equal(early, page);
      free(early);
    }
  }
  // A line that was cut off.
  FILE *file = fopen("j", "ab");
  assert_non_null(file);
  fputs("{\"file\": \"boxes.g", file);
  fclose(file);
  assert_int_equal(runLine("scan --list list.txt --json --html a.html --resume j"), 2);
  assert_string_equal(lastRun.out, rows);
  char *again = takeFile("a.html");
  assert_string_equal(again, page);
  writeText("j", "{\"format\": \"something\"}\n");
  runLine("scan --list list.txt --json --resume j");
  expectRun(&lastRun, 2, "j: is not a journal");
  free(again), free(page), free(rows);
  unlink("j"), unlink("list.txt"), unlink("broken.glb");
}

/* ---------------------------------------------------------------- streams */

static FILE *beginStream(const char *path, double fps, uint32_t bodies) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  putStreamHead(file, fps, bodies);
  return file;
}

static void putFrame(FILE *file, int64_t number, const pnMesh *mesh, float height) {
  fwrite(&number, 8, 1, file);
  for (int b = 0; b < 2; ++b) {
    for (uint32_t v = 0; v < pnMesh_GetVertexCount(mesh); ++v) {
      const float *p = pnMesh_GetVertices(mesh) + 3 * (size_t)v;
      float moved[3] = {p[0], b ? p[1] : p[1] + height, p[2]};
      fwrite(moved, 4, 3, file);
    }
  }
}

/* Runs the tool on a file as its standard input. */
static int runWith(const char *path, const char *options) {
  char line[300];
  snprintf(line, sizeof(line), PINCH_TOOL " scan - %s < %s > out 2> err", options, path);
  int status = system(line);
  freeRun(&lastRun);
  lastRun = (ToolRun){WIFEXITED(status) ? WEXITSTATUS(status) : -1, takeFile("out"), takeFile("err")};
  return lastRun.status;
}

/* The same frames as numbered files, and as a stream: the same collisions, findings and times. */
static void streamsAreScans(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  FILE *file = beginStream("s", 24, 2);
  putStreamBody(file, "ball", mesh), putStreamBody(file, "other", mesh);
  for (int f = 0; f < 20; ++f) {
    char name[32];
    float height = 3 - 0.2f * (float)f;
    putFrame(file, f, mesh, height);
    snprintf(name, sizeof(name), "ball_%02d.ply", f);
    uint32_t n = pnMesh_GetVertexCount(mesh);
    float *v = malloc(12 * (size_t)n);
    for (uint32_t i = 0; i < 3 * n; ++i) v[i] = pnMesh_GetVertices(mesh)[i] + (i % 3 == 1 ? height : 0);
    testExpectOk(pnSaveMesh(name, v, n, pnMesh_GetTriangles(mesh), pnMesh_GetTriangleCount(mesh)));
    free(v);
  }
  fclose(file);
  testExpectOk(pnSaveMesh("other.ply", pnMesh_GetVertices(mesh), pnMesh_GetVertexCount(mesh), pnMesh_GetTriangles(mesh),
                          pnMesh_GetTriangleCount(mesh)));
  testExpectOk(pnSaveMesh("ball.ply", pnMesh_GetVertices(mesh), pnMesh_GetVertexCount(mesh), pnMesh_GetTriangles(mesh),
                          pnMesh_GetTriangleCount(mesh)));
  assert_int_equal(runLine("scan ball.ply@ball_##.ply other.ply --fps 24 --json"), 1);
  json_t *files = json_loads(lastRun.out, 0, NULL);
  assert_int_equal(runWith("s", "--json"), 1);
  json_t *stream = json_loads(lastRun.out, 0, NULL);
  assert_true(json_equal(json_object_get(files, "frames"), json_object_get(stream, "frames")));
  assert_int_equal(json_integer_value(json_object_get(stream, "frames_total")), 20);
  assert_int_equal(json_array_size(json_object_get(files, "findings")),
                   json_array_size(json_object_get(stream, "findings")));
  assert_true(json_is_true(json_object_get(stream, "incomplete")) == 0);
  json_decref(files), json_decref(stream);
  // And to other outputs, with the frames a second that are asked for.
  assert_int_equal(runWith("s", "--fps 12 --csv counts.csv --html r.html"), 1);
  assert_non_null(strstr(lastRun.out, "Frames 0 to 19, 12 a second"));
  free(takeFile("counts.csv")), unlink("r.html");
  runWith("s", "--frames 3:5");
  expectRun(&lastRun, 2, "--frames");
  for (int f = 0; f < 20; ++f) {
    char name[32];
    snprintf(name, sizeof(name), "ball_%02d.ply", f), unlink(name);
  }
  unlink("s"), unlink("other.ply"), unlink("ball.ply");
  pnDestroyMesh(mesh);
}

/* A frame's line is there before the next frame is written. */
static void resultsComeAtOnce(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  assert_int_equal(mkfifo("pipe", 0600), 0);
  FILE *out = popen(PINCH_TOOL " scan - --csv - < pipe", "r");
  FILE *file = beginStream("pipe", 30, 2);
  assert_non_null(out);
  putStreamBody(file, "ball", mesh), putStreamBody(file, "other", mesh);
  char line[200];
  for (int f = 0; f < 5; ++f) {
    putFrame(file, f, mesh, 1.5f);
    fflush(file);
    // The head of the table comes with the first one. This waits for ever when the tool keeps its lines to itself.
    if (f == 0) assert_non_null(fgets(line, sizeof(line), out));
    assert_non_null(fgets(line, sizeof(line), out));
    int number;
    assert_int_equal(sscanf(line, "%d,", &number), 1);
    assert_int_equal(number, f);
  }
  fclose(file);
  assert_int_equal(WEXITSTATUS(pclose(out)), 1);
  unlink("pipe");
  pnDestroyMesh(mesh);
}

/* A scan that waits for the next frame, or for the rest of one, ends when it is asked to, and what is known is printed. */
static void waitingEnds(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  for (int part = 0; part < 2; ++part) {
    assert_int_equal(mkfifo("pipe", 0600), 0);
    // the shell becomes the tool, and has its number
    FILE *out = popen("echo $$; exec " PINCH_TOOL " scan - --csv - < pipe 2> err", "r");
    assert_non_null(out);
    char line[200];
    int child, number = -1;
    assert_non_null(fgets(line, sizeof(line), out));
    assert_int_equal(sscanf(line, "%d", &child), 1);
    FILE *file = beginStream("pipe", 30, 2);
    putStreamBody(file, "ball", mesh), putStreamBody(file, "other", mesh);
    for (int f = 0; f < 3; ++f) putFrame(file, f, mesh, 1.5f);
    if (part) fwrite("\3\0\0\0\0\0\0\0wards", 1, 13, file);
    fflush(file);
    while (number < 2 && fgets(line, sizeof(line), out))
      if (sscanf(line, "%d,", &number) != 1) number = -1;
    assert_int_equal(number, 2);
    assert_int_equal(kill((pid_t)child, part ? SIGINT : SIGTERM), 0);
    // this waits for ever when the tool does
    bool incomplete = false;
    while (fgets(line, sizeof(line), out))
      incomplete = incomplete || strstr(line, "incomplete: interrupted after 3 of 4");
    assert_true(incomplete);
    assert_int_equal(WEXITSTATUS(pclose(out)), 1);
    fclose(file);
    unlink("pipe"), unlink("err");
  }
  pnDestroyMesh(mesh);
}

static void expectBadStream(const void *bytes, size_t size, const char *words) {
  FILE *file = fopen("s", "wb");
  assert_non_null(file);
  fwrite(bytes, 1, size, file);
  fclose(file);
  runWith("s", "");
  if (words) expectRun(&lastRun, 2, words);
  else assert_in_range(lastRun.status, 0, 2);
}

static void hostileStreams(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(0, 1, &mesh));
  FILE *file = beginStream("s", 30, 2);
  putStreamBody(file, "ball", mesh), putStreamBody(file, "other", mesh);
  long headEnd = ftell(file);
  putFrame(file, 3, mesh, 1.5f);
  long oneEnd = ftell(file);
  putFrame(file, 4, mesh, 1.5f);
  fclose(file);
  char *bytes = NULL;
  size_t size = 0;
  file = fopen("s", "rb");
  FILE *copy = open_memstream(&bytes, &size);
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) fputc(c, copy);
  fclose(copy), fclose(file);
  // Cut anywhere: only behind a whole frame, or without any, is it a stream.
  for (size_t cut = 1; cut < size; cut += 41) {
    bool whole = cut == (size_t)headEnd || cut == (size_t)oneEnd;
    expectBadStream(bytes, cut, whole ? NULL : "stream");
  }
  expectBadStream(bytes, (size_t)oneEnd, NULL);
  assert_int_equal(lastRun.status, 1);
  // Numbers that cannot be: claims of more than ever comes, triangles of no vertices, frames that go back, NaN.
  char *changed = malloc(size);
  static const struct {
    size_t at;
    uint32_t value;
    const char *words;
  } cases[] = {{16 + 4, 0x7ff80000, "frames a second"},
               {24, 0, "bodies"},
               {24, 0xffffffff, "bodies"},
               {28, 0xffffffff, "name"},
               {32, 0, "vertices"},
               {32, 0x7fffffff, "vertices"},
               {32, 0x2aaaaaaa, "vertices"},
               {36, 0x2aaaaaaa, "stream"},
               {8, 0x20202020, "stream"}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    memcpy(changed, bytes, size);
    memcpy(changed + cases[i].at, &cases[i].value, 4);
    expectBadStream(changed, size, cases[i].words);
  }
  int64_t back = 3;
  memcpy(changed, bytes, size);
  memcpy(changed + oneEnd, &back, 8);
  expectBadStream(changed, size, "ascend");
  uint32_t nan = 0x7fc00000;
  memcpy(changed, bytes, size);
  memcpy(changed + headEnd + 8 + 12, &nan, 4);
  expectBadStream(changed, size, "frame 3|ball|vertex 1");
  // And whatever chance makes of it.
  TestRandom random = testRandom(5);
  for (int i = 0; i < 40; ++i) {
    memcpy(changed, bytes, size);
    changed[testBelow(&random, (uint32_t)size)] ^= (char)(1 << testBelow(&random, 8));
    expectBadStream(changed, size, NULL);
  }
  free(bytes), free(changed);
  unlink("s");
  pnDestroyMesh(mesh);
}

/* The program of the docs. */
static void theExampleWorks(void **state) {
  (void)state;
  if (system("command -v python3 >/dev/null 2>&1") != 0) {
    print_message("skipped: there is no python3\n");
    skip();
  }
  assert_int_equal(system("python3 " PINCH_SOURCE_DIR "/examples/stream.py > s"), 0);
  assert_int_equal(runWith("s", "--json"), 1);
  json_t *answer = json_loads(lastRun.out, 0, NULL);
  assert_int_equal(json_integer_value(json_object_get(answer, "frames_total")), 40);
  assert_int_equal(json_integer_value(json_object_get(answer, "frames_colliding")), 19);
  json_decref(answer);
  unlink("s");
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enterWithBoxes, leaveWithBoxes)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(badFilesDoNotStopTheRest), IN_FOLDER(rowsAreScans),      IN_FOLDER(aBatchGoesOn),
      IN_FOLDER(streamsAreScans),          IN_FOLDER(resultsComeAtOnce), IN_FOLDER(waitingEnds),
      IN_FOLDER(hostileStreams),           IN_FOLDER(theExampleWorks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
