/* fenv.h: the floating-point environment that the library computes in: round to nearest, subnormal numbers kept, no traps.
 *
 * Exactness and margins rest on it. Callers may have another one: audio and game engines flush subnormals to zero, a program
 * linked with -ffast-math on x86-64 does so from its start, interval arithmetic rounds up. So every door that computes begins
 * with PN_FLOAT_SCOPE, which sets the environment when it is another one, and puts the caller's back when the door is
 * left, whichever way. Threads have an environment of their own each: pn_parallelFor does the same in every worker.
 * scripts/check_layers holds the doors to it.
 *
 * Looking takes a nanosecond; the register is written only when it must be. Machines that are neither x86-64 nor 64-bit ARM
 * are taken as they come. */
#ifndef PN_BASE_FENV_H
#define PN_BASE_FENV_H

#include "base/core.h"

typedef struct pnFenv {
  uint64_t control; /* of the caller */
  bool changed;
} pnFenv;

#if defined(__x86_64__)
/* MXCSR: six flags; denormals are zeros (0x40), six masks of exceptions (0x1f80), rounding (0x6000), flush to zero (0x8000). */
#define PN_FENV_CONTROL UINT64_C(0xffc0)
#define PN_FENV_WANTED UINT64_C(0x1f80)
PN_INLINE uint64_t pn_readFenv(void) {
  uint32_t x;
  __asm__ volatile("stmxcsr %0" : "=m"(x));
  return x;
}
PN_INLINE void pn_writeFenv(uint64_t control) {
  uint32_t x = (uint32_t)control;
  __asm__ volatile("ldmxcsr %0" : : "m"(x) : "memory");
}
#elif defined(__aarch64__)
/* FPCR: all zero is what we want, whatever its bits mean on newer processors. */
#define PN_FENV_CONTROL UINT64_MAX
#define PN_FENV_WANTED UINT64_C(0)
PN_INLINE uint64_t pn_readFenv(void) {
  uint64_t x;
  __asm__ volatile("mrs %0, fpcr" : "=r"(x));
  return x;
}
PN_INLINE void pn_writeFenv(uint64_t control) {
  __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
#else
#define PN_FENV_CONTROL UINT64_C(0)
#define PN_FENV_WANTED UINT64_C(0)
PN_INLINE uint64_t pn_readFenv(void) {
  return 0;
}
PN_INLINE void pn_writeFenv(uint64_t control) {
  (void)control;
}
#endif

PN_INLINE pnFenv pn_enterFenv(void) {
  pnFenv saved = {pn_readFenv(), false};
  if (PN_UNLIKELY((saved.control & PN_FENV_CONTROL) != PN_FENV_WANTED)) {
    pn_writeFenv((saved.control & ~PN_FENV_CONTROL) | PN_FENV_WANTED);
    saved.changed = true;
  }
  return saved;
}

PN_INLINE void pn_leaveFenv(const pnFenv *saved) {
  if (PN_UNLIKELY(saved->changed)) pn_writeFenv(saved->control);
}

/* The first line of a door that computes. */
#define PN_FLOAT_SCOPE                                                                  \
  __attribute__((cleanup(pn_leaveFenv), unused)) const pnFenv pn_fenv = pn_enterFenv(); \
  (void)0

#endif
