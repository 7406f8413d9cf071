/* simd.c: the table of lane lists. Entry m is the list of set bits of m, lowest first, one a byte, worked out by the
 * compiler: bit j lands in the byte numbered by how many set bits stand below it. */
#include "geom/simd.h"

#define POP(x) \
  ((uint64_t)((x) & 1) + ((x) >> 1 & 1) + ((x) >> 2 & 1) + ((x) >> 3 & 1) + ((x) >> 4 & 1) + ((x) >> 5 & 1) + \
   ((x) >> 6 & 1))
#define BIT(m, j) (((uint64_t)((m) >> (j)&1) * (j)) << (8 * POP((m) & ((1u << (j)) - 1))))
#define LIST(m) \
  (BIT(m, 1u) | BIT(m, 2u) | BIT(m, 3u) | BIT(m, 4u) | BIT(m, 5u) | BIT(m, 6u) | BIT(m, 7u))
#define FOUR(m) LIST(m), LIST((m) + 1u), LIST((m) + 2u), LIST((m) + 3u)
#define SIXTEEN(m) FOUR(m), FOUR((m) + 4u), FOUR((m) + 8u), FOUR((m) + 12u)
#define SIXTY_FOUR(m) SIXTEEN(m), SIXTEEN((m) + 16u), SIXTEEN((m) + 32u), SIXTEEN((m) + 48u)

const uint64_t pn_laneList[256] = {SIXTY_FOUR(0u), SIXTY_FOUR(64u), SIXTY_FOUR(128u), SIXTY_FOUR(192u)};
