/* simd_words.h: the words of kernels that are written once for several widths, for WIDE floats at a time (simd.h, simd_wide.h; one, on
 * a device, where four are called so: device/kernel/lane.cl). Included after WIDE is defined: its text belongs to the file that
 * includes it, as the kernel's does. */
#define WORD_OF(wide, what) pn_f##wide##what
#define WORD(wide, what) WORD_OF(wide, what)
#define REGISTER_OF(wide) pnF##wide
#define REGISTER(wide) REGISTER_OF(wide)
#define F REGISTER(WIDE)
#define LOAD WORD(WIDE, Load)
#define STORE WORD(WIDE, Store)
#define SHORTS WORD(WIDE, FromShorts)
#define SET1 WORD(WIDE, Set1)
#define ADD WORD(WIDE, Add)
#define SUB WORD(WIDE, Sub)
#define MUL WORD(WIDE, Mul)
#define NEG WORD(WIDE, Neg)
#define ABS WORD(WIDE, Abs)
#define MIN WORD(WIDE, Min)
#define MAX WORD(WIDE, Max)
#define AND WORD(WIDE, And)
#define OR WORD(WIDE, Or)
#define XOR WORD(WIDE, Xor)
#define ANDNOT WORD(WIDE, AndNot)
#define GREATER WORD(WIDE, Greater)
#define SIGNS WORD(WIDE, Signs)
#define TRANSPOSE WORD(WIDE, Transpose4)
