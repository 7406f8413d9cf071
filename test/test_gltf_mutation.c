/* test_gltf_mutation.c: a fixed run of broken glTF files and caches. Numbers of the document become extreme ones, words
 * change places, bytes change, pieces vanish or double. scripts/fuzz runs for longer. */
#include "support.h"

#include <unistd.h>

#include "gltf_check.h"
#include "gltf_make.h"

enum { MOST = 65536 };

typedef struct Input {
  uint8_t bytes[MOST];
  size_t count;
} Input;

static Input s_good, s_broken;

/* What a number or a word of the document becomes. */
static const char *const s_words[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "5",
                                      "-1",
                                      "255",
                                      "256",
                                      "5120",
                                      "5121",
                                      "5123",
                                      "5125",
                                      "5126",
                                      "65536",
                                      "2147483647",
                                      "1e39",
                                      "1e-40",
                                      "0.5",
                                      "4294967295",
                                      "1e300",
                                      "null",
                                      "true",
                                      "[]",
                                      "{}",
                                      "\"\"",
                                      "[0]",
                                      "\"VEC3\"",
                                      "\"VEC4\"",
                                      "\"STEP\"",
                                      "\"CUBICSPLINE\"",
                                      "\"weights\"",
                                      "\"rotation\"",
                                      "[[[[",
                                      "9007199254740993",
                                      ""};

static void replacePiece(Input *input, size_t at, size_t length, const void *bytes, size_t count) {
  if (length > input->count - at) length = input->count - at;
  if (input->count - length + count > MOST) return;
  memmove(input->bytes + at + count, input->bytes + at + length, input->count - at - length);
  if (count > 0) memcpy(input->bytes + at, bytes, count);
  input->count += count - length;
}

static bool isWordCharacter(uint8_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '"' || c == '_';
}

static void mutate(Input *input, TestRandom *random) {
  size_t at = input->count > 0 ? testBelow(random, (uint32_t)input->count) : 0, end;
  uint8_t piece[128];
  if (input->count == 0) return;
  switch (testBelow(random, 8)) {
    case 0: input->bytes[at] ^= (uint8_t)(1u << testBelow(random, 8)); break;
    case 1: input->bytes[at] = (uint8_t)testU64(random); break;
    case 2: replacePiece(input, at, testBelow(random, 40), NULL, 0); break;
    case 3:
      end = at + testBelow(random, sizeof(piece));
      if (end > input->count) end = input->count;
      memcpy(piece, input->bytes + at, end - at);
      replacePiece(input, testBelow(random, (uint32_t)input->count), 0, piece, end - at);
      break;
    default: {
      /* A word or number, most often: that is where documents go wrong in interesting ways. */
      const char *word = s_words[testBelow(random, sizeof(s_words) / sizeof(s_words[0]))];
      while (at < input->count && !isWordCharacter(input->bytes[at])) ++at;
      while (at > 0 && isWordCharacter(input->bytes[at - 1])) --at;
      for (end = at; end < input->count && isWordCharacter(input->bytes[end]);) ++end;
      if (at < input->count) replacePiece(input, at, end - at, word, strlen(word));
    }
  }
}

/* The lengths in the head of a .glb put right again, so that the reader gets past them. */
static void repairHead(Input *input) {
  if (input->count < 20 || memcmp(input->bytes, "glTF", 4) != 0) return;
  uint32_t length = (uint32_t)input->count, json = length - 20;
  for (uint32_t i = 20; i + 8 <= length; ++i)
    if (memcmp(input->bytes + i, "BIN", 4) == 0) json = i - 4 - 20;
  uint32_t binary = json + 28 <= length ? length - json - 28 : 0;
  memcpy(input->bytes + 8, &length, 4);
  memcpy(input->bytes + 12, &json, 4);
  if (json + 28 <= length) memcpy(input->bytes + 20 + json, &binary, 4);
}

static void brokenDocuments(void **context) {
  (void)context;
  enum { ROUNDS = 30000 };
  Bytes bytes;
  fillEverything(&bytes);
  char *text = makeText(s_everything, &bytes);
  size_t glbSize = 0;
  uint8_t *glb = makeGlb(s_everything, &bytes, &glbSize);
  TestRandom random = testRandom(8);
  uint32_t accepted = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    bool binary = round % 2 == 0;
    s_good.count = binary ? glbSize : strlen(text);
    memcpy(s_good.bytes, binary ? (const void *)glb : (const void *)text, s_good.count);
    memcpy(s_broken.bytes, s_good.bytes, s_good.count);
    s_broken.count = s_good.count;
    for (uint32_t n = 1 + testBelow(&random, 4); n > 0; --n) mutate(&s_broken, &random);
    if (testBelow(&random, 8) != 0) repairHead(&s_broken);
    accepted += checkDocument(s_broken.bytes, s_broken.count);
  }
  print_message("%d broken documents, %u still good\n", ROUNDS, accepted);
  assert_true(accepted > ROUNDS / 50 && accepted < ROUNDS * 9 / 10);
  free(text);
  free(glb);
}

static void brokenCaches(void **context) {
  (void)context;
  char path[2][32];
  snprintf(path[0], sizeof(path[0]), "mutation_%d.mdd", (int)getpid());
  snprintf(path[1], sizeof(path[1]), "mutation_%d.pc2", (int)getpid());
  TestRandom random = testRandom(9);
  for (int round = 0; round < 1500; ++round) {
    /* Three frames of five vertices, all zeros behind the head. */
    bool pc2 = round % 2 == 1;
    memset(&s_broken, 0, 300);
    if (pc2) memcpy(s_broken.bytes, "POINTCACHE2\0\1\0\0\0\5\0\0\0\0\0\0\0\0\0\x80\x3F\3\0\0\0", 32);
    else memcpy(s_broken.bytes, "\0\0\0\3\0\0\0\5", 8);
    s_broken.count = pc2 ? 32 + 180 : 20 + 180;
    for (uint32_t n = 1 + testBelow(&random, 3); n > 0; --n) mutate(&s_broken, &random);
    checkCache(s_broken.bytes, s_broken.count, path[pc2]);
  }
  unlink(path[0]);
  unlink(path[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(brokenDocuments), cmocka_unit_test(brokenCaches)};
  pnSetLogFcn(testSayNothing, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
