/* swept_exact_lane.cl: stands before the text of geom's whole numbers (whole.c, root.c, impact_exact.c), in the program that decides what
 * the filter of steps left: what that text expects of its surroundings. */
#define PN_ASSERT(x)

/* 128 bits are not OpenCL's, whatever the compiler has. */
#undef __SIZEOF_INT128__

/* Limbs only, and only towards the front. */
#define memset(to, zero, bytes) clearLimbs(to, (bytes) / 8)
#define memmove(to, from, bytes) moveLimbs(to, from, (bytes) / 8)

static void clearLimbs(__global uint64_t *to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = 0;
}

static void moveLimbs(__global uint64_t *to, __global const uint64_t *from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}
