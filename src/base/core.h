/* core.h: assert, log and failure, as the rooms use them. */
#ifndef PN_BASE_CORE_H
#define PN_BASE_CORE_H

#include "pinch/base.h"

#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define PN_LIKELY(x) __builtin_expect(!!(x), 1)
#define PN_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PN_INLINE static inline __attribute__((always_inline))
#define PN_NOINLINE __attribute__((noinline))
#define PN_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define PN_LIKELY(x) (x)
#define PN_UNLIKELY(x) (x)
#define PN_INLINE static inline
#define PN_NOINLINE
#define PN_PRINTF(f, a)
#endif

/* Asks for a line of memory that is about to be written: another core's copy is taken while something else is done. */
PN_INLINE void pn_askToWrite(const void *at) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)at)); /* which no flag has to allow, unlike the builtin's */
#elif defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(at, 1);
#else
  (void)at;
#endif
}

/* A caller's bug: tell the assert hook. Compiled in always; the condition must be cheap. */
#define PN_ASSERT(c) (PN_LIKELY(c) ? (void)0 : pn_assertFailed(#c, __FILE__, __LINE__))
void pn_assertFailed(const char *condition, const char *file, int line);

/* Remember why this call fails (for pnGetMessage in this thread) and hand the result through:
 *   return pn_fail(PN_ERROR_INDEX, "mesh '%s': triangle %u names vertex %u of %u", ...); */
pnResult pn_fail(pnResult result, const char *format, ...) PN_PRINTF(2, 3);

/* PN_ERROR_MEMORY with the size that was asked for. */
pnResult pn_failMemory(size_t size);

/* Does a definition come from its pnDefaultXDef()? `name` is its type, "pnBodyDef". */
pnResult pn_checkCookie(uint32_t cookie, const char *name);

void pn_log(pnLogLevel level, const char *format, ...) PN_PRINTF(2, 3);

/* A table that never changes. Files whose text is compiled for OpenCL devices too (src/device) say it by this word, which means
 * something else there. */
#define PN_TABLE static const
/* What a pointer of such a file points into, where a device has several kinds of memory: that of buffers. */
#define PN_GLOBAL
/* Functions of such files that a device's compiler should call and not put into every caller, which would take it long. Here the
 * first kind is always inline, the second may be, and the third is as it stands. */
#define PN_PART_INLINE PN_INLINE
#define PN_PART static inline
#define PN_CALLED

/* A float as its bits, and back. */
PN_INLINE uint32_t pn_bitsOfFloat(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
PN_INLINE float pn_floatOfBits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#define PN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PN_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
