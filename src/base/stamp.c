/* stamp.c: records under stamps. See stamp.h. */
#include "base/stamp.h"

#include <string.h>

static size_t layOut(pnRecords *r, char *base, size_t floatsEach) {
  size_t at = 0;
  pn_carve(base, &at, 1, sizeof *r);
  r->stamp = pn_carve(base, &at, r->count, sizeof *r->stamp);
  r->floats = pn_carve(base, &at, r->count, pn_bytes(floatsEach, sizeof(float)));
  return at;
}

pnRecords *pn_createRecords(size_t count, size_t floatsEach) {
  pnRecords r = {.count = (uint32_t)count};
  r.bytes = layOut(&r, NULL, floatsEach);
  char *memory = pn_alloc(r.bytes);
  if (!memory) return NULL;
  layOut(&r, memory, floatsEach);
  memset((void *)r.stamp, 0, count * sizeof *r.stamp); /* 0 is no number of now */
  pnRecords *records = (pnRecords *)(void *)memory;
  *records = r;
  return records;
}

void pn_destroyRecords(pnRecords *records) {
  if (records) pn_free(records, records->bytes);
}
