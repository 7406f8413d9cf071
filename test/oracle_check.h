/* oracle_check.h: one pair of triangles, every question, the library against the oracle. Used by tests and the
 * long fuzz. */
#ifndef PN_TEST_ORACLE_CHECK_H
#define PN_TEST_ORACLE_CHECK_H

#include "oracle_cases.h"

/* The first triangle of most pairs that are written by hand. */
#define BASE                  \
  {                           \
    {                         \
      {0, 0, 0}, {4, 0, 0}, { \
        0, 4, 0               \
      }                       \
    }                         \
  }

/* What was seen, so that a run can show that it met every kind of answer. */
typedef struct Tally {
  long pairs, images, meet, shared, beyond;
  long corners[7]; /* intersections with 0 ... 6 corners */
  double worst;    /* largest error of a corner, in units in the last place of the pair's largest coordinate */
} Tally;

/* Does every kernel answer as the oracle does, for the pair and for a random permutation of it? */
bool checkMeet(const Case *c, Random *r, Tally *tally);

/* The same for neighbours: with these shared corners, and with the triangles exchanged. */
bool checkBeyond(const Case *c, pnSharedCorners shared, Tally *tally);

/* The same for where they meet: number of corners, their order, their positions to one unit in the last place. */
bool checkMeeting(const Case *c, Tally *tally);

/* All of them, shared corners picked at random. Prints the pair and what is wrong when it answers false. */
bool checkPair(const Case *c, Random *r, Tally *tally);

/* Images of the pair: axes exchanged and turned round, everything times a power of two. None of this rounds, so what is true of the
 * pair is true of them, though signs, axes and exponents the library looks at are others. Every question about so many. */
bool checkImages(const Case *c, int count, Random *r, Tally *tally);

#endif
