/* world.c: worlds as courses of events: bodies of every kind with every setting, moved through frames, with calls between them that
 * must be refused; every frame against brute force (support_world.h), and nothing left at the end. */
#include "support_world.h"
#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void quiet(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  pnSetLogFcn(quiet, NULL);
  WorldTally tally = {0};
  WorldWish wish = {.hostile = true, .tape = bytes, .tapeEnd = bytes + count};
  CHECK(worldCheck(1, &wish, &tally));
  CHECK(pnGetByteCount() == 0);
  return 0;
}
