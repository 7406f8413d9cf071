/* fuzz_impact.c: the first contact of moving points against whole numbers of any length, many times.
 *
 *   fuzz_impact [motions] [seed]
 *
 * One motion in eleven is made to be degenerate (oracle_motions.h), the others have random coordinates; so 11 million are ten million
 * random and one million degenerate ones. The answer, its span, and the exact stage by itself are held against the oracle. */
#include "geom/impact.h"
#include "oracle_impact.h"
#include "oracle_motions.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 11000000, met = 0, uncertain = 0, wrong = 0;
  Random r = {argc > 2 ? (uint64_t)atol(argv[2]) : 1};
  time_t last = time(NULL);
  for (long n = 0; n < count; ++n) {
    bool edges = randomBelow(&r, 2), hard = n % 11 == 0, edge = hard && randomBelow(&r, 3) == 0;
    pnMovingDouble p =
        edge ? motionOnTheEdge(&r) : randomMotion(&r, hard ? randomBelow(&r, MOTION_SORTS) : 2 + randomBelow(&r, 2));
    for (int k = hard && !edge ? 1 + randomBelow(&r, 3) : 0; k > 0; --k) spoilMotion(&p, &r);
    pn_Features features = edges ? PN_EDGE_EDGE : PN_VERTEX_FACE;
    pnImpactSpan span = {0}, exact = pn_impactExact(features, &p);
    MOTION_PLACES(p, x, places);
    pn_Verdict verdict = pn_impactFilter(features, places, 1.0, &span);
    bool ok = verdict == PN_UNCERTAIN || (verdict == PN_MEETING) == exact.meets;
    ok = ok && oracleSpan(edges, &p, exact) && (verdict != PN_MEETING || oracleSpan(edges, &p, span));
    met += exact.meets, uncertain += verdict == PN_UNCERTAIN, wrong += !ok;
    if (!ok)
      printf("%s: filter %d [%.17g, %.17g], exact %d [%.17g, %.17g]\n", edges ? "EE" : "VF", (int)verdict, span.lo,
             span.hi, exact.meets, exact.lo, exact.hi),
          printMoving(&p);
    if (time(NULL) - last >= 5 || n + 1 == count) {
      printf("%ld motions, %ld meet, %ld uncertain to the filter, %ld wrong\n", n + 1, met, uncertain, wrong);
      fflush(stdout);
      last = time(NULL);
    }
  }
  return wrong > 0;
}
