/* simd.c: the table of lane lists. Entry m is the list of set bits of m, lowest first, one a byte, worked out by the
 * compiler: bit j lands in the byte numbered by how many set bits stand below it. */
#include "geom/simd.h"

#define POP(x)                                                                                              \
  ((uint64_t)((x)&1) + ((x) >> 1 & 1) + ((x) >> 2 & 1) + ((x) >> 3 & 1) + ((x) >> 4 & 1) + ((x) >> 5 & 1) + \
   ((x) >> 6 & 1))
#define BIT(m, j) (((uint64_t)((m) >> (j)&1) * (j)) << (8 * POP((m) & ((1u << (j)) - 1))))
#define LIST(m) (BIT(m, 1u) | BIT(m, 2u) | BIT(m, 3u) | BIT(m, 4u) | BIT(m, 5u) | BIT(m, 6u) | BIT(m, 7u))
#define COUNT(m) ((m) >> 7 & 1) + POP(m)
#define FOUR(f, m) f(m), f((m) + 1u), f((m) + 2u), f((m) + 3u)
#define SIXTEEN(f, m) FOUR(f, m), FOUR(f, (m) + 4u), FOUR(f, (m) + 8u), FOUR(f, (m) + 12u)
#define SIXTY_FOUR(f, m) SIXTEEN(f, m), SIXTEEN(f, (m) + 16u), SIXTEEN(f, (m) + 32u), SIXTEEN(f, (m) + 48u)
#define ALL(f) SIXTY_FOUR(f, 0u), SIXTY_FOUR(f, 64u), SIXTY_FOUR(f, 128u), SIXTY_FOUR(f, 192u)

const uint64_t pn_laneList[256] = {ALL(LIST)};
const uint8_t pn_laneCounts[256] = {ALL(COUNT)};
