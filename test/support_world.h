/* support_world.h: worlds at random, and the truth about them. One number makes a world: bodies of every kind with every setting of
 * their trees, at magnitudes from the smallest float to the largest, mixed within one body; and frames that move them.
 * The truth is every pair of triangles by the predicates of geom (fuzz_geom holds those against whole numbers), with
 * neighbours and filters written out once more. */
#ifndef PN_TEST_SUPPORT_WORLD_H
#define PN_TEST_SUPPORT_WORLD_H

#include "support.h"

#include "pinch/world.h"

/* What to make; zeroed: anything. */
typedef struct WorldWish {
  uint32_t kinds;                /* bits of pnBodyKind */
  bool tell;                     /* print the world */
  bool hostile;                  /* and calls that must be refused, between the others */
  const uint8_t *tape, *tapeEnd; /* decisions of a fuzzer; null: the seed's */
} WorldWish;

/* What a world was: for tables, and so that nobody counts worlds in which nothing happens. */
typedef struct WorldTally {
  uint64_t worlds, frames, refused, pairs, selfPairs, kinds[6];
} WorldTally;

/* Makes the world of a seed, moves it through some frames and compares each with the truth. False: they differ, and what is
 * known about it was printed. */
bool worldCheck(uint64_t seed, const WorldWish *wish, WorldTally *tally);

#endif
