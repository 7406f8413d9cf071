/* tape.h: bytes of a fuzzer as decisions, for harnesses whose input is not a file but a course of events. A tape that has run out
 * gives zeros, so that every input is a whole one. */
#ifndef PN_TEST_FUZZ_TAPE_H
#define PN_TEST_FUZZ_TAPE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As assert, in every build, and with a message where a fuzzer looks. */
#define CHECK(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition), abort()))

typedef struct Tape {
  const uint8_t *at, *end;
} Tape;

static inline uint32_t tapeByte(Tape *t) {
  return t->at < t->end ? *t->at++ : 0;
}
static inline uint32_t tapeBelow(Tape *t, uint32_t bound) {
  return tapeByte(t) % bound;
}
static inline uint32_t tapeBits(Tape *t) {
  uint32_t bits = 0;
  for (int i = 0; i < 4; ++i) bits = bits << 8 | tapeByte(t);
  return bits;
}

/* A number as geometry is broken by: small and whole, one of the last ones, or any finite float. */
static inline float tapeFloat(Tape *t, float *last, uint32_t *count) {
  uint32_t kind = tapeByte(t);
  float x = (float)(int8_t)tapeByte(t);
  if (kind < 64) x = last[kind % 8];
  else if (kind < 128) x = ldexpf(x, (int)(kind % 8) - 4);
  else if (kind < 192) x = ldexpf((float)(int16_t)(tapeBits(t) & 0xffff), (int)(kind % 64) - 32);
  else {
    uint32_t bits = tapeBits(t);
    memcpy(&x, &bits, sizeof x);
  }
  if (!(fabsf(x) <= FLT_MAX)) x = 1;
  last[(*count)++ % 8] = x;
  return x;
}

#endif
