/* triangle.c: two triangles of any finite floats, every question of them against whole numbers of any length. */
#include "oracle.h"
#include "oracle_check.h"
#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static int open;
  if (!open++) oracleOpen();
  Tape t = {bytes, bytes + count};
  float last[8] = {0};
  uint32_t numbers = 0;
  Case c;
  for (int i = 0; i < 18; ++i) (i < 9 ? c.a.v : c.b.v)[i % 9 / 3][i % 3] = tapeFloat(&t, last, &numbers);
  /* corners in common, and corners on the other */
  for (uint32_t n = tapeBelow(&t, 3); n > 0; --n)
    memcpy(c.b.v[tapeBelow(&t, 3)], c.a.v[tapeBelow(&t, 3)], 3 * sizeof(float));
  Random r = {1 + tapeByte(&t)};
  Tally tally = {0};
  CHECK(checkPair(&c, &r, &tally));
  return 0;
}
