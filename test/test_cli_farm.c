/* test_cli_farm.c: a scan that several share, or that is killed and goes on, writes what one undisturbed scan writes, byte for byte:
 * parts and `pinch merge`, --resume. Parts of something else, missing or damaged ones are refused by name. */
#include "support.h"

#include "tool.h"

#include "scan_make.h"

#include <dirent.h>
#include <signal.h>
#include <zlib.h>

/* ---------------------------------------------------------------- what a scan leaves */

static const char *const outputs[] = {"r.html", "r.csv", "r.pairs", "r.junit", "r.sarif", "r.base"};
enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };
#define ALL_OUTPUTS \
  " --json --html r.html --csv r.csv --pairs r.pairs --junit r.junit --sarif r.sarif --write-baseline r.base"

typedef struct Answer {
  int status;
  char *text[OUTPUTS + 1]; /* the files, then standard output */
} Answer;

static char *takeBytes(const char *path, size_t *outSize) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s is not there", path);
  char *text = NULL;
  size_t size = 0;
  FILE *copy = open_memstream(&text, &size);
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) fputc(c, copy);
  fclose(copy);
  fclose(file);
  *outSize = size;
  return text;
}

/* Runs the line and takes what it wrote. */
static Answer answerOf(const char *line) {
  Answer answer = {.status = runLine(line)};
  if (answer.status < 0 || answer.status > 1) fail_msg("%s: %d %s", line, answer.status, lastRun.err);
  for (int i = 0; i < OUTPUTS; ++i) answer.text[i] = takeFile(outputs[i]);
  answer.text[OUTPUTS] = strdup(lastRun.out);
  return answer;
}

static void expectSame(const Answer *a, const Answer *b) {
  assert_int_equal(a->status, b->status);
  for (int i = 0; i <= OUTPUTS; ++i)
    if (strcmp(a->text[i], b->text[i]) != 0) fail_msg("%s differs", i < OUTPUTS ? outputs[i] : "standard output");
}

static void freeAnswer(Answer *answer) {
  for (int i = 0; i <= OUTPUTS; ++i) free(answer->text[i]);
}

static void makeCharacter(void) {
  assert_int_equal(runLine("make character hero.glb --triangles 10000 --seconds 1 -q"), 0);
}

/* ---------------------------------------------------------------- parts */

static void runParts(const char *scan, int count) {
  char line[300];
  for (int k = 1; k <= count; ++k) {
    snprintf(line, sizeof(line), "scan %s --part %d/%d --part-file p%d", scan, k, count, k);
    assert_int_equal(runLine(line), 0);
    assert_string_equal(lastRun.out, "");
  }
}

/* Merges the parts, the last one first, and removes them. */
static Answer merged(int count) {
  char line[400] = "merge";
  for (int k = count; k >= 1; --k) sprintf(line + strlen(line), " p%d", k);
  strcat(line, ALL_OUTPUTS);
  Answer answer = answerOf(line);
  for (int k = 1; k <= count; ++k) sprintf(line, "p%d", k), unlink(line);
  return answer;
}

static void partsMakeOneWhole(void **state) {
  (void)state;
  makeCharacter();
  static const char *const scans[] = {
      "hero.glb --animation all --self --regions", "boxes.glb --animation all --regions",
      "boxes.glb --ignore-rest --regions --frames 3:50:2", "boxes.glb hero.glb --fail-on new --regions"};
  for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); ++i) {
    char line[400];
    snprintf(line, sizeof(line), "scan %s" ALL_OUTPUTS, scans[i]);
    Answer one = answerOf(line);
    static const int counts[] = {1, 3, 7};
    for (int k = 0; k < 3; ++k) {
      runParts(scans[i], counts[k]);
      Answer many = merged(counts[k]);
      expectSame(&many, &one);
      freeAnswer(&many);
    }
    freeAnswer(&one);
  }
  unlink("hero.glb");
}

/* More parts than frames: some are empty. */
static void emptyPartsAreParts(void **state) {
  (void)state;
  Answer one = answerOf("scan boxes.glb --frames 10:12 --regions" ALL_OUTPUTS);
  runParts("boxes.glb --frames 10:12 --regions", 5);
  Answer many = merged(5);
  expectSame(&many, &one);
  freeAnswer(&one);
  freeAnswer(&many);
}

static void expectRefused(const char *line, const char *words) {
  runLine(line);
  expectRun(&lastRun, 2, words);
  assert_string_equal(lastRun.out, "");
}

static void whatDoesNotFitIsRefused(void **state) {
  (void)state;
  runParts("boxes.glb", 2);
  expectRefused("merge p1", "part 2 of 2 is missing");
  expectRefused("merge p2", "part 1 of 2 is missing");
  expectRefused("merge p1 p2 p1", "both part 1 of 2");
  expectRefused("merge p1 boxes.glb", "boxes.glb|no part");
  expectRefused("merge p1 nothing", "nothing|cannot be opened");
  expectRefused("merge", "no part given");
  assert_int_equal(runLine("scan boxes.glb --part 2/3 --part-file p3"), 0);
  expectRefused("merge p1 p3", "one of 3|one of 2");
  assert_int_equal(runLine("scan boxes.glb --self --part 2/2 --part-file p3"), 0);
  expectRefused("merge p1 p3", "p3|other options|--self");
  assert_int_equal(runLine("scan boxes.glb --animation stay --part 2/2 --part-file p3"), 0);
  expectRefused("merge p1 p3", "p3|other options|stay");
  // The same words, and a file in which something has moved.
  rename("boxes.glb", "kept.glb");
  saveBoxes("boxes.glb", 2.5f);
  assert_int_equal(runLine("scan boxes.glb --part 2/2 --part-file p3"), 0);
  expectRefused("merge p1 p3", "p1|other files");
  expectRefused("merge p1 p2 --html r.html", "other files");
  rename("kept.glb", "boxes.glb");
  expectRefused("merge p1 p3", "p3|other files");
  // A part writes nothing else, and some things cannot be dealt out.
  expectRefused("scan boxes.glb --part 1/2 --json", "--part writes a part");
  expectRefused("scan boxes.glb --part 1/2 --csv x", "--part writes a part");
  expectRefused("scan boxes.glb --part 3/2", "--part|3/2");
  expectRefused("scan boxes.glb --part 0/2", "--part|0/2");
  expectRefused("scan boxes.glb --part 1", "--part|'1'");
  expectRefused("scan boxes.glb --first --part 1/2", "--first");
  expectRefused("scan boxes.glb --part-file x", "--part-file");
  expectRefused("scan - --part 1/2", "standard input");
  // A checkpoint is no part.
  writeText("c", "something else");
  expectRefused("scan boxes.glb --resume c", "c: is no part");
  unlink("c"), unlink("p1"), unlink("p2"), unlink("p3");
}

/* ---------------------------------------------------------------- damage */

static void writeBytes(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* A bit turned, a piece cut off or put behind: refused, with the name of the file. */
static void damageIsSeen(void **state) {
  (void)state;
  runParts("boxes.glb --frames 20:40", 2);
  size_t size;
  char *bytes = takeBytes("p2", &size);
  TestRandom random = testRandom(17);
  for (int i = 0; i < 60; ++i) {
    char *changed = malloc(size + 1);
    assert_non_null(changed);
    memcpy(changed, bytes, size);
    changed[size] = 0;
    size_t at = testBelow(&random, (uint32_t)size), length = i % 3 == 1 ? at : i % 3 == 2 && i < 6 ? size + 1 : size;
    if (length == size) changed[at] = (char)(changed[at] ^ (1 << testBelow(&random, 8)));
    writeBytes("p2", changed, length);
    expectRefused("merge p1 p2", "p2: ");
    free(changed);
  }
  writeBytes("p2", bytes, size);
  assert_int_equal(runLine("merge p1 p2"), 1);
  free(bytes);
  unlink("p1"), unlink("p2");
}

/* The blocks changed and packed again with a check that fits: whoever reads them must not trust them. */
static void forgedBlocksAreHarmless(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb --frames 26:27 --regions --part 1/1 --part-file p1"), 0);
  size_t size, headSize;
  char *bytes = takeBytes("p1", &size);
  uint32_t numbers[4];
  memcpy(numbers, bytes + 17, 4);
  headSize = 13 + 12 + numbers[0];
  // The first record.
  memcpy(numbers, bytes + headSize, sizeof(numbers));
  uLongf blockSize = numbers[2];
  unsigned char *block = malloc(blockSize), *changed = malloc(blockSize), *packed = malloc(compressBound(blockSize));
  assert_true(block && changed && packed);
  assert_int_equal(uncompress(block, &blockSize, (unsigned char *)bytes + headSize + 16, numbers[1]), Z_OK);
  TestRandom random = testRandom(23);
  uint32_t refused = 0;
  for (int i = 0; i < 150; ++i) {
    memcpy(changed, block, blockSize);
    for (uint32_t k = 1 + testBelow(&random, 3); k > 0; --k) {
      uint32_t at = testBelow(&random, i % 2 ? (uint32_t)blockSize : 60);
      changed[at] = testBelow(&random, 4) == 0 ? 0xff : (unsigned char)(changed[at] ^ 1u << testBelow(&random, 8));
    }
    uLongf packedSize = compressBound(blockSize);
    assert_int_equal(compress(packed, &packedSize, changed, blockSize), Z_OK);
    uint32_t head[3] = {numbers[0], (uint32_t)packedSize, numbers[2]};
    uint32_t check = (uint32_t)crc32(crc32(0, (unsigned char *)head, sizeof(head)), packed, (uInt)packedSize);
    FILE *file = fopen("p1", "wb");
    assert_non_null(file);
    fwrite(bytes, 1, headSize, file);
    fwrite(head, 1, sizeof(head), file);
    fwrite(&check, 1, sizeof(check), file);
    fwrite(packed, 1, packedSize, file);
    size_t rest = headSize + 16 + numbers[1];
    fwrite(bytes + rest, 1, size - rest, file);
    fclose(file);
    int status = runLine("merge p1 --json");
    if (status < 0) fail_msg("block %d killed it: %s", i, lastRun.err);
    refused += status == 2;
  }
  // Pairs and contacts that cannot be are most of what such changes make.
  assert_in_range(refused, 30, 150);
  free(bytes), free(block), free(changed), free(packed);
  unlink("p1");
}

/* ---------------------------------------------------------------- going on */

#define RESUMED "scan hero.glb --self --regions --resume c" ALL_OUTPUTS

/* Files of the folder with this in their names. */
static int countFiles(const char *part) {
  int count = 0;
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
    count += strstr(entry->d_name, part) != NULL;
  closedir(folder);
  return count;
}

/* Nothing has its final name while frames are missing in the checkpoint; later each file is whole, or not there yet. */
static void expectWholeOrNothing(const Answer *one, off_t whole) {
  struct stat info;
  bool inTheMiddle = stat("c", &info) == 0 && info.st_size < whole;
  for (int k = 0; k < OUTPUTS; ++k) {
    if (access(outputs[k], F_OK) != 0) continue;
    if (inTheMiddle) fail_msg("%s is there in the middle", outputs[k]);
    char *text = takeFile(outputs[k]);
    if (strcmp(text, one->text[k]) != 0) fail_msg("%s is not whole", outputs[k]);
    free(text);
  }
}

/* Killed again and again, each time after some more frames and at any moment of one. */
static void killedAndResumed(void **state) {
  (void)state;
  enum { KILLS = 10 };
  makeCharacter();
  Answer one = answerOf(RESUMED);
  // It is not needed any more.
  assert_int_not_equal(access("c", F_OK), 0);
  // As large as it becomes is the file of a part that is everything.
  struct stat info;
  assert_int_equal(runLine("scan hero.glb --self --regions --part 1/1 --part-file p"), 0);
  assert_int_equal(stat("p", &info), 0);
  unlink("p");
  TestRandom random = testRandom(10);
  char text[512] = RESUMED;
  const char *words[64] = {NULL};
  int count = 0, killed = 0;
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) words[count++] = word;
  for (int i = 0; i < KILLS; ++i) {
    ToolStart run = startTool(words);
    waitForBytes(&run, "c", info.st_size * i / (KILLS + 1));
    usleep(testBelow(&random, 20000));
    kill(run.child, SIGKILL);
    ToolRun ended = endTool(&run);
    killed += ended.status < 0;
    freeRun(&ended);
    expectWholeOrNothing(&one, info.st_size);
  }
  Answer resumed = answerOf(RESUMED);
  expectSame(&resumed, &one);
  // What the killed ones had begun is cleaned up, and so is the checkpoint.
  assert_int_equal(countFiles(".part"), 0);
  assert_int_not_equal(access("c", F_OK), 0);
  assert_true(killed > 0);
  freeAnswer(&one);
  freeAnswer(&resumed);
  unlink("hero.glb");
}

/* A checkpoint that ends in the middle of a frame, or of its head, goes on from what is whole; of other things it is refused. */
static void tornCheckpoints(void **state) {
  (void)state;
  Answer one = answerOf("scan boxes.glb --regions --resume c" ALL_OUTPUTS);
  assert_int_equal(runLine("scan boxes.glb --regions --part 1/1 --part-file p"), 0);
  size_t size;
  char *bytes = takeBytes("p", &size);
  unlink("p");
  // A checkpoint of the whole scan is a part 1 of 1 whose head says 0 of 0.
  uint32_t headSize;
  memcpy(&headSize, bytes + 17, 4);
  char *head = strndup(bytes + 25, headSize), *at = strstr(head, "\"part\":1,\"parts\":1");
  assert_non_null(at);
  memcpy(at, "\"part\":0,\"parts\":0", 18);
  uint32_t check = (uint32_t)crc32(0, (unsigned char *)head, headSize);
  memcpy(bytes + 21, &check, 4);
  memcpy(bytes + 25, head, headSize);
  free(head);
  const size_t cuts[] = {0, 5, 13, 20, 25 + headSize - 3, 25 + headSize, 25 + headSize + 7, size / 2, size - 1, size};
  for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); ++i) {
    writeBytes("c", bytes, cuts[i]);
    Answer again = answerOf("scan boxes.glb --regions --resume c" ALL_OUTPUTS);
    expectSame(&again, &one);
    freeAnswer(&again);
    assert_int_not_equal(access("c", F_OK), 0);
  }
  writeBytes("c", bytes, size / 2);
  expectRefused("scan boxes.glb --self --regions --json --resume c", "c: |other options");
  expectRefused("scan boxes.glb --regions --part 1/2 --resume c --part-file p", "c: |other frames");
  assert_int_equal(access("c", F_OK), 0);
  unlink("c");
  free(bytes);
  freeAnswer(&one);
}

/* A part goes on, too. */
static void partsGoOn(void **state) {
  (void)state;
  assert_int_equal(runLine("scan boxes.glb --part 2/2 --part-file a"), 0);
  assert_int_equal(runLine("scan boxes.glb --part 2/2 --part-file b --resume c"), 0);
  size_t sizeA, sizeB;
  char *a = takeBytes("a", &sizeA), *b = takeBytes("b", &sizeB);
  assert_int_equal(sizeA, sizeB);
  assert_memory_equal(a, b, sizeA);
  free(a), free(b);
  // The file of the part is the checkpoint of the part.
  rename("a", "c");
  assert_int_equal(runLine("scan boxes.glb --part 2/2 --part-file a --resume c"), 0);
  a = takeBytes("a", &sizeA), b = takeBytes("b", &sizeB);
  assert_int_equal(sizeA, sizeB);
  assert_memory_equal(a, b, sizeA);
  free(a), free(b);
  unlink("a"), unlink("b");
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enterWithBoxes, leaveWithBoxes)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(partsMakeOneWhole),       IN_FOLDER(emptyPartsAreParts),
      IN_FOLDER(whatDoesNotFitIsRefused), IN_FOLDER(damageIsSeen),
      IN_FOLDER(forgedBlocksAreHarmless), IN_FOLDER(killedAndResumed),
      IN_FOLDER(tornCheckpoints),         IN_FOLDER(partsGoOn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
