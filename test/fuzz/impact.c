/* impact.c: four moving points, do they meet and when, against whole numbers of any length. */
#include "geom/impact.h"
#include "oracle.h"
#include "oracle_impact.h"
#include "oracle_motions.h"
#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  Tape t = {bytes, bytes + count};
  float last[8] = {0};
  uint32_t numbers = 0;
  bool edges = tapeBelow(&t, 2);
  pnMovingDouble p;
  for (int i = 0; i < 24; ++i) {
    double x = (double)tapeFloat(&t, last, &numbers);
    /* the oracle's polynomials have ten times the digits of what goes in */
    if (fabs(x) > 0x1p40 || (x != 0 && fabs(x) < 0x1p-40)) x = 1;
    (i < 12 ? p.from : p.to)[i % 12 / 3][i % 3] = x;
  }
  pn_Features features = edges ? PN_EDGE_EDGE : PN_VERTEX_FACE;
  pnImpactSpan span = {0}, exact = pn_impactExact(features, &p);
  MOTION_PLACES(p, x, places);
  pn_Verdict verdict = pn_impactFilter(features, places, 1.0, &span);
  CHECK(verdict == PN_UNCERTAIN || (verdict == PN_MEETING) == exact.meets);
  CHECK(oracleSpan(edges, &p, exact));
  CHECK(verdict != PN_MEETING || oracleSpan(edges, &p, span));
  return 0;
}
