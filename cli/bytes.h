/* bytes.h: a buffer of bytes that grows as it is written to (report_bytes.c). */
#ifndef PN_CLI_BYTES_H
#define PN_CLI_BYTES_H

#include "pinch/base.h"

typedef struct pnBytes {
  uint8_t *data;
  size_t size, capacity;
  bool failed; /* out of memory: later writes do nothing, so one check at the end is enough */
} pnBytes;

void pn_bytesFree(pnBytes *bytes);
void pn_bytesAdd(pnBytes *bytes, const void *data, size_t size);
void pn_bytesVarint(pnBytes *bytes, uint64_t value);
void pn_bytesSigned(pnBytes *bytes, int64_t value); /* zigzag varint */
void pn_bytesDouble(pnBytes *bytes, double value);  /* 8 bytes, little-endian */
void pn_bytesText(pnBytes *bytes, const char *text);
void pn_bytesFormat(pnBytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pn_bytesJson(pnBytes *bytes, const char *text); /* a quoted JSON string that is safe inside a script element */
/* A member of an object, after another: ,"key":["name",...] */
void pn_bytesNames(pnBytes *bytes, const char *key, const char *const *names, uint32_t count);

#endif
