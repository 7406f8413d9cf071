/* whole.h: whole numbers of as many bits as a question needs, without malloc.
 *
 * A number is a sign and a magnitude in 64-bit limbs, the lowest first. The limbs lie on a slate: a block of fixed size that
 * the caller owns (on its stack), written from the front. Every operation writes its result behind the last one, so
 * expressions nest like formulas; a caller remembers where it began (`used`), and wipes the slate back to there when
 * only a sign is wanted of what it wrote. Nothing is rounded and nothing overflows: a slate is made large enough for the
 * longest question there is (impact_exact.c has the count), and a test writes that question.
 *
 * This file, whole.c, root.h, root.c and impact_exact.c are C17 and OpenCL C 1.2 (docs/device.md): there limbs lie in memory
 * that all items share, which is what PN_GLOBAL says.
 */
#ifndef PN_GEOM_WHOLE_H
#define PN_GEOM_WHOLE_H

#include "base/core.h"

/* 40 KB: what the count in impact_exact.c comes to, and a third more. */
#define PN_SLATE_LIMBS 5120

/* Where numbers are written. */
typedef struct pn_Slate {
  uint32_t used;            /* limbs written */
  uint32_t most;            /* the largest `used` there was: for the test of the size */
  PN_GLOBAL uint64_t *limb; /* PN_SLATE_LIMBS of them */
} pn_Slate;

/* A whole number; 0 has sign 0 and no limbs. Otherwise the last limb is not 0. */
typedef struct pn_Whole {
  int sign; /* -1, 0, +1 */
  uint32_t count;
  PN_GLOBAL uint64_t *limb;
} pn_Whole;

/* room: PN_SLATE_LIMBS limbs. */
PN_INLINE void pn_cleanSlate(pn_Slate *s, PN_GLOBAL uint64_t *room) {
  s->used = s->most = 0;
  s->limb = room;
}

/* Room on the slate for `count` limbs, which are not set. */
PN_GLOBAL uint64_t *pn_takeLimbs(pn_Slate *s, uint32_t count);

/* value * 2^shift. */
pn_Whole pn_makeWhole(pn_Slate *s, int64_t value, uint32_t shift);

pn_Whole pn_addWhole(pn_Slate *s, pn_Whole a, pn_Whole b);
pn_Whole pn_multiplyWhole(pn_Slate *s, pn_Whole a, pn_Whole b);
pn_Whole pn_scaleWhole(pn_Slate *s, pn_Whole a, int64_t factor); /* a * factor */
pn_Whole pn_shiftWhole(pn_Slate *s, pn_Whole a, uint32_t bits);  /* a * 2^bits */

/* -a shares a's limbs. */
PN_INLINE pn_Whole pn_negateWhole(pn_Whole a) {
  a.sign = -a.sign;
  return a;
}

PN_INLINE pn_Whole pn_subtractWhole(pn_Slate *s, pn_Whole a, pn_Whole b) {
  return pn_addWhole(s, a, pn_negateWhole(b));
}

/* Sign of a - b. */
int pn_compareWhole(pn_Whole a, pn_Whole b);

/* Bits of the magnitude; 0 for 0. */
uint32_t pn_wholeBits(pn_Whole a);

/* a / 2^exponent as a double, cut towards 0 after 53 bits or a little earlier: off by less than 2^-51 of itself. The
 * exponent must be such that it is neither too large nor too small for a double. */
double pn_wholeToDouble(pn_Whole a, int exponent);

/* Wipe the slate back to `mark` but for these numbers, which move to the front of what is wiped. Those that lie before
 * the mark stay where they are. */
void pn_keepWholes(pn_Slate *s, uint32_t mark, pn_Whole *numbers, int count);

#endif
