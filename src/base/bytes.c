/* bytes.c: see bytes.h. */
#include "base/bytes.h"

#include <string.h>

void pn_putBytes(pnByteWriter *w, const void *from, size_t bytes) {
  if (w->block && bytes > 0) memcpy(w->block + w->at, from, bytes);
  w->at += bytes;
}

bool pn_hasLeft(pnByteReader *r, uint64_t count, size_t elementBytes) {
  r->isShort = r->isShort || count > (r->bytes - r->at) / elementBytes;
  return !r->isShort;
}

void pn_takeBytes(pnByteReader *r, void *to, size_t bytes) {
  if (bytes == 0) return;
  if (!pn_hasLeft(r, bytes, 1)) {
    memset(to, 0, bytes);
    return;
  }
  memcpy(to, r->block + r->at, bytes);
  r->at += bytes;
}

uint32_t pn_takeU32(pnByteReader *r) {
  uint32_t x;
  pn_takeBytes(r, &x, sizeof x);
  return x;
}

uint64_t pn_takeU64(pnByteReader *r) {
  uint64_t x;
  pn_takeBytes(r, &x, sizeof x);
  return x;
}

/* Multiply and fold: an odd constant spreads every bit upwards, the shift brings the upper half down again. */
static uint64_t fold(uint64_t hash, uint64_t x) {
  hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

uint64_t pn_hashBytes(uint64_t hash, const void *from, size_t bytes) {
  const char *p = from;
  hash = fold(hash, bytes);
  for (; bytes >= 8; p += 8, bytes -= 8) {
    uint64_t x;
    memcpy(&x, p, 8);
    hash = fold(hash, x);
  }
  uint64_t rest = 0;
  if (bytes > 0) memcpy(&rest, p, bytes);
  return bytes > 0 ? fold(hash, rest) : hash;
}
