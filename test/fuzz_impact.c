/* fuzz_impact.c: the first contact of moving points, many times, held against another way to find it.
 *
 *   fuzz_impact [motions] [seed] [share] [seconds]
 *
 * One motion in eleven is made to be degenerate (oracle_motions.h), the others have random coordinates. For every motion the
 * filter, in doubles, and the lanes of floats before it are held against the exact stage, in whole numbers: ways that share nothing but the question. One
 * motion in `share` (default 1: all; 0: none) is also held against the oracle, in whole numbers of any length, which takes a
 * hundred times as long: the answer and both spans. It ends after so many seconds at the latest (default 0: never). */
#include "geom/impact_lanes.h"
#include "oracle_impact.h"
#include "oracle_motions.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Sums {
  long motions, degenerate, met, uncertain, oracle, oracleDegenerate, wrong;
} Sums;

static pnMovingDouble makeMotion(Random *r, bool hard) {
  bool edge = hard && randomBelow(r, 3) == 0;
  pnMovingDouble p =
      edge ? motionOnTheEdge(r) : randomMotion(r, hard ? randomBelow(r, MOTION_SORTS) : 2 + randomBelow(r, 2));
  for (int k = hard && !edge ? 1 + randomBelow(r, 3) : 0; k > 0; --k) spoilMotion(&p, r);
  return p;
}

/* Both spans hold the first contact, so they have a time in common, and neither is wide. */
static bool agree(pnImpactSpan a, pnImpactSpan b) {
  return a.lo <= b.hi && b.lo <= a.hi && a.hi - a.lo < 1e-6 && b.hi - b.lo < 1e-6;
}

/* What lanes of floats say, in all of them. */
static bool areApart(pn_Features features, const pnD2 *const places[4]) {
  const pnD2 *eight[8][4];
  for (int i = 0; i < 32; ++i) eight[i / 4][i % 4] = places[i % 4];
  return pn_impactsApart8(features, (pn_EightPlaces)eight, 1.0) != 0;
}

static void askMotion(bool edges, const pnMovingDouble *p, bool oracle, Sums *sums) {
  pn_Features features = edges ? PN_EDGE_EDGE : PN_VERTEX_FACE;
  pnImpactSpan span = {0}, exact = pn_impactExact(features, p);
  MOTION_PLACES(*p, x, places);
  pn_Verdict verdict = pn_impactFilter(features, places, 1.0, &span);
  bool ok = verdict == PN_UNCERTAIN || (verdict == PN_MEETING) == exact.meets;
  ok = ok && !(exact.meets && areApart(features, places));
  ok = ok && (verdict != PN_MEETING || agree(span, exact));
  if (oracle) ok = ok && oracleSpan(edges, p, exact) && (verdict != PN_MEETING || oracleSpan(edges, p, span));
  sums->met += exact.meets, sums->uncertain += verdict == PN_UNCERTAIN, sums->wrong += !ok;
  if (!ok)
    printf("%s: filter %d [%.17g, %.17g], exact %d [%.17g, %.17g]\n", edges ? "EE" : "VF", (int)verdict, span.lo,
           span.hi, exact.meets, exact.lo, exact.hi),
        printMoving(p);
}

static void printSums(const Sums *s) {
  printf(
      "%ld motions, %ld of them degenerate, %ld meet, %ld uncertain to the filter; %ld and of these %ld degenerate by "
      "the oracle; %ld wrong\n",
      s->motions, s->degenerate, s->met, s->uncertain, s->oracle, s->oracleDegenerate, s->wrong);
  fflush(stdout);
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 11000000, share = argc > 3 ? atol(argv[3]) : 1;
  double seconds = argc > 4 ? atof(argv[4]) : 0;
  Random r = {argc > 2 ? (uint64_t)atol(argv[2]) : 1};
  Sums sums = {0};
  time_t begin = time(NULL), last = begin;
  while (sums.motions < count && !(seconds > 0 && difftime(last, begin) >= seconds)) {
    bool edges = randomBelow(&r, 2), hard = sums.motions % 11 == 0, oracle = share > 0 && sums.motions % share == 0;
    pnMovingDouble p = makeMotion(&r, hard);
    askMotion(edges, &p, oracle, &sums);
    sums.motions++, sums.degenerate += hard, sums.oracle += oracle, sums.oracleDegenerate += oracle && hard;
    if (sums.motions % 64 == 0) {
      time_t now = time(NULL);
      if (now / 10 != last / 10) printSums(&sums);
      last = now;
    }
  }
  printSums(&sums);
  return sums.wrong > 0;
}
