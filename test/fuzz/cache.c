/* cache.c: vertex caches, MDD and PC2: what says POINTCACHE2 is the second. */
#include "gltf_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  bool second = count >= 12 && memcmp(bytes, "POINTCACHE2", 12) == 0;
  checkCache(bytes, count, second ? "fuzz_input.pc2" : "fuzz_input.mdd");
  return 0;
}
