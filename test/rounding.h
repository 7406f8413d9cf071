/* rounding.h: numbers that carry, beside what a kernel computes, what that would be without rounding: 113 bits for values of which each is a product of three
 * differences. The words of narrow_kernel.h, one wide. Included with REAL, what the kernel computes in, and BITS, an unsigned number of
 * its size. A template: its text belongs to the test that includes it. */
#if LDBL_MANT_DIG >= 113
typedef long double Wide;
#else
__extension__ typedef __float128 Wide;
#endif
typedef struct Carried {
  REAL r;
  Wide x;
} Carried;

/* The largest error among the numbers whose sign the kernel asks for: they all pass through XOR. */
static Wide s_worst;

static BITS bitsOfReal(REAL r) {
  BITS bits;
  memcpy(&bits, &r, sizeof bits);
  return bits;
}

static Carried ofBits(BITS bits) {
  Carried c = {0};
  memcpy(&c.r, &bits, sizeof bits);
  return c;
}

static void note(Carried a) {
  Wide error = a.r > a.x ? a.r - a.x : a.x - a.r;
  s_worst = error > s_worst ? error : s_worst;
}

static Carried carriedXor(Carried a, Carried b) {
  note(a);
  note(b);
  return ofBits(bitsOfReal(a.r) ^ bitsOfReal(b.r));
}

#define F Carried
#define ADD(a, b) ((Carried){(a).r + (b).r, (a).x + (b).x})
#define SUB(a, b) ((Carried){(a).r - (b).r, (a).x - (b).x})
#define MUL(a, b) ((Carried){(a).r * (b).r, (a).x * (b).x})
#define NEG(a) ((Carried){-(a).r, -(a).x})
#define ABS(a) ((Carried){(REAL)fabs((double)(a).r), 0})
#define MIN(a, b) ((a).r < (b).r ? (a) : (b))
#define MAX(a, b) ((a).r > (b).r ? (a) : (b))
#define AND(a, b) ofBits(bitsOfReal((a).r) & bitsOfReal((b).r))
#define OR(a, b) ofBits(bitsOfReal((a).r) | bitsOfReal((b).r))
#define ANDNOT(a, b) ofBits(bitsOfReal((a).r) & ~bitsOfReal((b).r))
#define XOR carriedXor
#define GREATER(a, b) ofBits((a).r > (b).r ? ~(BITS)0 : 0)
#define SET1(v) ((Carried){(v), (v)})
#define SIGNS(a) ((unsigned)(bitsOfReal((a).r) >> (8 * sizeof(BITS) - 1)))
#define NARROW_NAME meetCarried
