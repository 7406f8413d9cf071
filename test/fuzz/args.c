/* args.c: the option parser, by a table with every kind of option and by the tables of the commands. Words are separated by zero
 * bytes. There is no file with such a name, so that a command which takes its options says so and ends. */
#include "../../cli/args.h"
#include "../../cli/command.h"

#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void parseAll(int count, char **words) {
  bool flag = false;
  const char *text = NULL;
  uint32_t number = 0;
  double real = 0;
  float vector[3] = {0};
  pnWords list = {.count = 0}, files = {.count = 0};
  const pnOption options[] = {
      {"flag", PN_OPTION_FLAG, NULL, "a", &flag},         {"text", PN_OPTION_TEXT, "T", "b", &text},
      {"count", PN_OPTION_COUNT, "N", "c", &number},      {"number", PN_OPTION_NUMBER, "X", "d", &real},
      {"vector", PN_OPTION_VECTOR, "X,Y,Z", "e", vector}, {"list", PN_OPTION_LIST, "W", "f", &list},
      {"files", PN_OPTION_FILES, "F", "g", &files}};
  const pnUsage usage = {"fuzz", "FILE... [options]", "about", options, sizeof options / sizeof *options, "examples"};
  int left = count;
  if (pn_parseArgs(&usage, &left, words) != PN_ARGS_RUN) return;
  CHECK(left >= 0 && left < count + 1 && isfinite(real) && list.count <= PN_MAX_WORDS && files.count <= PN_MAX_WORDS);
  for (int k = 0; k < 3; ++k) CHECK(isfinite(vector[k]));
  for (uint32_t i = 0; i < list.count; ++i) CHECK(list.items[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  enum { MOST = 40 };
  static pnCommandFcn *const commands[] = {pn_cmdInfo,   pn_cmdCheck,  pn_cmdScan,
                                           pn_cmdVolume, pn_cmdInside, pn_cmdMerge};
  char name[] = "fuzz", *words[MOST + 2] = {name}, *again[MOST + 2] = {name};
  if (count < 1) return 0;
  char *text = malloc(count + 1), *copy = malloc(count + 1);
  memcpy(text, bytes, count);
  text[count] = 0;
  /* no path leads out of an empty folder, and nobody waits for standard input or a device */
  for (size_t i = 0; i < count; ++i)
    if (text[i] == '/' || text[i] == '.') text[i] = '_';
  memcpy(copy, text, count + 1);
  int n = 1;
  for (size_t i = 1; i < count && n <= MOST; i += strlen(text + i) + 1)
    if (strcmp(text + i, "-") != 0) again[n] = copy + i, words[n++] = text + i;
  parseAll(n, words);
  commands[bytes[0] % (sizeof commands / sizeof *commands)](n, again);
  free(copy);
  free(text);
  return 0;
}
