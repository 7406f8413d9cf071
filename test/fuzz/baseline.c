/* baseline.c: lists of accepted findings, as `pinch scan --baseline` reads them. */
#define _GNU_SOURCE
#include "../../cli/scan.h"

#include "tape.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  int handle = memfd_create("baseline", 0);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
  CHECK(handle >= 0 && write(handle, bytes, count) == (ssize_t)count);
  pnBaseline baseline;
  pnResult result = pn_readBaseline(path, &baseline);
  if (result == PN_OK) {
    CHECK(isfinite(baseline.tolerance.depthPart) && isfinite(baseline.tolerance.time));
    for (uint32_t i = 0; i < baseline.count; ++i) CHECK(baseline.entries[i].known.name != NULL);
    pn_freeBaseline(&baseline);
  } else {
    CHECK(pnGetMessage()[0] != 0);
  }
  close(handle);
  return 0;
}
