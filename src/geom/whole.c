/* whole.c: see whole.h. The four operations as in school, on limbs of 64 bits. */
#include "geom/whole.h"

#include <math.h>
#include <string.h>

/* a * b + c + d, which fits into two limbs: (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1. Returns the lower one. */
#if defined(__SIZEOF_INT128__) && !defined(PN_SCALAR)
__extension__ typedef unsigned __int128 Double;
PN_INLINE uint64_t multiplyAdd(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *high) {
  Double x = (Double)a * b + c + d;
  *high = (uint64_t)(x >> 64);
  return (uint64_t)x;
}
#else
PN_INLINE uint64_t multiplyAdd(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *high) {
  const uint64_t low = 0xffffffffu;
  uint64_t aLow = a & low, aHigh = a >> 32, bLow = b & low, bHigh = b >> 32;
  uint64_t first = aLow * bLow + (c & low) + (d & low);
  uint64_t second = aLow * bHigh + (first >> 32) + (c >> 32);
  uint64_t third = aHigh * bLow + (second & low) + (d >> 32);
  *high = aHigh * bHigh + (second >> 32) + (third >> 32);
  return third << 32 | (first & low);
}
#endif

PN_GLOBAL uint64_t *pn_takeLimbs(pn_Slate *s, uint32_t count) {
  PN_ASSERT(s->used + count <= PN_SLATE_LIMBS);
  PN_GLOBAL uint64_t *limb = s->limb + s->used;
  s->used += count;
  s->most = PN_MAX(s->most, s->used);
  return limb;
}

/* The number in the `count` limbs taken last, without leading zeros; what they took goes back to the slate. */
static pn_Whole finish(pn_Slate *s, int sign, PN_GLOBAL uint64_t *limb, uint32_t count) {
  uint32_t n = count;
  while (n > 0 && limb[n - 1] == 0) --n;
  s->used -= count - n;
  return (pn_Whole){n > 0 ? sign : 0, n, limb};
}

PN_CALLED pn_Whole pn_makeWhole(pn_Slate *s, int64_t value, uint32_t shift) {
  uint64_t magnitude = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
  uint32_t skip = shift / 64, bits = shift % 64, count = skip + 2;
  if (value == 0) return (pn_Whole){0, 0, s->limb};
  PN_GLOBAL uint64_t *limb = pn_takeLimbs(s, count);
  memset(limb, 0, skip * sizeof *limb);
  limb[skip] = magnitude << bits;
  limb[skip + 1] = bits > 0 ? magnitude >> (64 - bits) : 0;
  return finish(s, value < 0 ? -1 : 1, limb, count);
}

static int compareMagnitudes(pn_Whole a, pn_Whole b) {
  if (a.count != b.count) return a.count < b.count ? -1 : 1;
  for (uint32_t i = a.count; i-- > 0;)
    if (a.limb[i] != b.limb[i]) return a.limb[i] < b.limb[i] ? -1 : 1;
  return 0;
}

PN_CALLED int pn_compareWhole(pn_Whole a, pn_Whole b) {
  if (a.sign != b.sign) return a.sign < b.sign ? -1 : 1;
  return a.sign * compareMagnitudes(a, b);
}

/* |a| + |b| with |a| at least as long. */
static uint32_t addMagnitudes(pn_Whole a, pn_Whole b, PN_GLOBAL uint64_t *out) {
  uint64_t carry = 0;
  for (uint32_t i = 0; i < a.count; ++i) {
    uint64_t y = i < b.count ? b.limb[i] : 0, x = a.limb[i] + carry;
    carry = x < carry;
    x += y;
    carry += x < y;
    out[i] = x;
  }
  out[a.count] = carry;
  return a.count + 1;
}

/* |a| - |b| with |a| >= |b|. */
static uint32_t subtractMagnitudes(pn_Whole a, pn_Whole b, PN_GLOBAL uint64_t *out) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < a.count; ++i) {
    uint64_t y = i < b.count ? b.limb[i] : 0, x = a.limb[i], z = x - borrow;
    borrow = x < borrow;
    borrow += z < y;
    out[i] = z - y;
  }
  return a.count;
}

PN_CALLED pn_Whole pn_addWhole(pn_Slate *s, pn_Whole a, pn_Whole b) {
  if (b.sign == 0) return a;
  if (a.sign == 0) return b;
  bool swap = compareMagnitudes(a, b) < 0;
  pn_Whole large = swap ? b : a, small = swap ? a : b;
  PN_GLOBAL uint64_t *limb = pn_takeLimbs(s, large.count + 1);
  uint32_t count = a.sign == b.sign ? addMagnitudes(large, small, limb) : subtractMagnitudes(large, small, limb);
  s->used -= large.count + 1 - count;
  return finish(s, large.sign, limb, count);
}

PN_CALLED pn_Whole pn_multiplyWhole(pn_Slate *s, pn_Whole a, pn_Whole b) {
  if (a.sign == 0 || b.sign == 0) return (pn_Whole){0, 0, s->limb};
  uint32_t count = a.count + b.count;
  PN_GLOBAL uint64_t *limb = pn_takeLimbs(s, count);
  memset(limb, 0, a.count * sizeof *limb);
  for (uint32_t j = 0; j < b.count; ++j) {
    uint64_t carry = 0, y = b.limb[j];
    for (uint32_t i = 0; i < a.count; ++i) limb[i + j] = multiplyAdd(a.limb[i], y, limb[i + j], carry, &carry);
    limb[a.count + j] = carry;
  }
  return finish(s, a.sign * b.sign, limb, count);
}

PN_CALLED pn_Whole pn_scaleWhole(pn_Slate *s, pn_Whole a, int64_t factor) {
  return pn_multiplyWhole(s, a, pn_makeWhole(s, factor, 0));
}

PN_CALLED pn_Whole pn_shiftWhole(pn_Slate *s, pn_Whole a, uint32_t bits) {
  if (a.sign == 0 || bits == 0) return a;
  uint32_t skip = bits / 64, part = bits % 64, count = a.count + skip + 1;
  PN_GLOBAL uint64_t *limb = pn_takeLimbs(s, count);
  uint64_t over = 0;
  memset(limb, 0, skip * sizeof *limb);
  for (uint32_t i = 0; i < a.count; ++i) {
    limb[skip + i] = a.limb[i] << part | over;
    over = part > 0 ? a.limb[i] >> (64 - part) : 0;
  }
  limb[skip + a.count] = over;
  return finish(s, a.sign, limb, count);
}

PN_CALLED uint32_t pn_wholeBits(pn_Whole a) {
  uint32_t bits = 64 * a.count;
  for (uint64_t top = a.count > 0 ? a.limb[a.count - 1] : 1; a.count > 0 && !(top >> 63); top <<= 1) --bits;
  return bits;
}

PN_CALLED double pn_wholeToDouble(pn_Whole a, int exponent) {
  if (a.sign == 0) return 0.0;
  /* The top limb and what of the next one fills it up to 64 bits; then 11 bits less, so that nothing is rounded. */
  uint32_t bits = pn_wholeBits(a), lead = 64 * a.count - bits;
  uint64_t top = a.limb[a.count - 1] << lead;
  if (lead > 0 && a.count > 1) top |= a.limb[a.count - 2] >> (64 - lead);
  double value = (double)(top >> 11);
  return a.sign * ldexp(value, (int)bits - 53 - exponent);
}

PN_CALLED void pn_keepWholes(pn_Slate *s, uint32_t mark, pn_Whole *numbers, int count) {
  uint32_t used = mark;
  PN_GLOBAL uint64_t *done = s->limb + mark;
  /* From the front of the slate to the back, so that nothing is overwritten before it has moved. */
  for (;;) {
    pn_Whole *next = NULL;
    for (int i = 0; i < count; ++i) {
      pn_Whole *w = &numbers[i];
      if (w->count > 0 && w->limb >= done && (!next || w->limb < next->limb)) next = w;
    }
    if (!next) break;
    PN_GLOBAL uint64_t *last = next->limb, *moved = s->limb + used;
    memmove(moved, last, next->count * sizeof *last);
    used += next->count;
    done = last + next->count;
    for (int i = 0; i < count; ++i)
      if (numbers[i].limb == last) numbers[i].limb = moved;
  }
  s->used = used;
}
