/* fuzz_gltf.c: glTF, MDD and PC2 under libFuzzer. Run it through scripts/fuzz_gltf, which builds it with the sanitizers
 * and gives it samples to start from. An input that is no PC2 goes to the glTF reader, and as MDD, too. */
#include "gltf_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void quiet(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  pnSetLogFcn(quiet, NULL);
  if (count >= 12 && memcmp(bytes, "POINTCACHE2", 12) == 0) {
    checkCache(bytes, count, "fuzz_input.pc2");
  } else if (count >= 8 && bytes[0] == 0) {
    checkCache(bytes, count, "fuzz_input.mdd");
  } else {
    checkDocument(bytes, count);
  }
  return 0;
}
