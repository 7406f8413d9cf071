/* bytes.h: numbers and arrays into a block of bytes, and back with distrust. Numbers are as this machine has them. */
#ifndef PN_BASE_BYTES_H
#define PN_BASE_BYTES_H

#include "base/core.h"

/* Where writing is. With a null block it only counts, so that the same calls find the size and fill the block. */
typedef struct pnByteWriter {
  char *block;
  size_t at;
} pnByteWriter;

void pn_putBytes(pnByteWriter *w, const void *from, size_t bytes);
PN_INLINE void pn_putU32(pnByteWriter *w, uint32_t x) {
  pn_putBytes(w, &x, sizeof x);
}
PN_INLINE void pn_putU64(pnByteWriter *w, uint64_t x) {
  pn_putBytes(w, &x, sizeof x);
}

/* Where reading is. A read beyond the end gives zeros and is remembered, so that one look afterwards is enough. */
typedef struct pnByteReader {
  const char *block;
  size_t at, bytes;
  bool isShort;
} pnByteReader;

void pn_takeBytes(pnByteReader *r, void *to, size_t bytes);
/* Are there so many elements left? Asked before memory is allocated for them; a false answer is remembered. */
bool pn_hasLeft(pnByteReader *r, uint64_t count, size_t elementBytes);
uint32_t pn_takeU32(pnByteReader *r);
uint64_t pn_takeU64(pnByteReader *r);

/* A 64-bit number that differs when bytes do, by chance alone not; goes on from `hash`. It finds mistakes, not forgers. */
uint64_t pn_hashBytes(uint64_t hash, const void *from, size_t bytes);

#endif
