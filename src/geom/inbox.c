/* inbox.c: see inbox.h.
 *
 * Two convex bodies are apart when a plane stands between them that holds a face of one, or an edge of either (Gottschalk, Lin, Manocha
 * 1996, "OBBTree", section 5). Here these are the six sides of the box, which are compared as they are; the triangle's plane, of which
 * the corners of the box must be on one side, eight signs at most; and planes along an axis through an edge of the triangle: as seen along
 * that axis, a line that has the triangle on one side and the box on the other. All signs are exact (predicate.h). */
#include "geom/inbox.h"

#include "geom/predicate.h"

/* Seen along axis k: is the box beyond the edge from a to b, and the third corner c not? An edge that is seen as a point tells nothing that
 * the others and the sides of the box do not. */
static bool edgeParts(const float *a, const float *b, const float *c, const float lo[3], const float hi[3], int k) {
  int i = (k + 1) % 3, j = (k + 2) % 3;
  int own = pn_orient2(a[i], a[j], b[i], b[j], c[i], c[j]);
  // The corner of the box that is farthest to the left of the edge, and the one farthest to the right.
  if (a[i] == b[i] && a[j] == b[j]) return false;
  bool right = b[i] > a[i], up = b[j] > a[j];
  float leftI = up ? lo[i] : hi[i], leftJ = right ? hi[j] : lo[j];
  float rightI = up ? hi[i] : lo[i], rightJ = right ? lo[j] : hi[j];
  if (own <= 0 && pn_orient2(a[i], a[j], b[i], b[j], rightI, rightJ) > 0) return true;
  return own >= 0 && pn_orient2(a[i], a[j], b[i], b[j], leftI, leftJ) < 0;
}

/* Is the whole box on one side of the triangle's plane? */
static bool planeParts(const float *const c[3], const float lo[3], const float hi[3]) {
  bool above = true, below = true;
  for (int corner = 0; corner < 8 && (above || below); ++corner) {
    const float p[3] = {corner & 1 ? hi[0] : lo[0], corner & 2 ? hi[1] : lo[1], corner & 4 ? hi[2] : lo[2]};
    int side = pn_orient3(c[0], c[1], c[2], p);
    above = above && side > 0;
    below = below && side < 0;
  }
  return above || below;
}

bool pn_meetsBox(const float *const c[3], const float *lo, const float *hi) {
  bool inside = false;
  for (int k = 0; k < 3; ++k) {
    float least = PN_MIN(c[0][k], PN_MIN(c[1][k], c[2][k])), most = PN_MAX(c[0][k], PN_MAX(c[1][k], c[2][k]));
    if (least > hi[k] || most < lo[k]) return false;
  }
  // A corner in the box settles it.
  for (int n = 0; n < 3; ++n) {
    bool in = true;
    for (int k = 0; k < 3; ++k) in = in && c[n][k] >= lo[k] && c[n][k] <= hi[k];
    inside = inside || in;
  }
  if (inside) return true;
  for (int k = 0; k < 3; ++k)
    for (int n = 0; n < 3; ++n)
      if (edgeParts(c[n], c[(n + 1) % 3], c[(n + 2) % 3], lo, hi, k)) return false;
  return !planeParts(c, lo, hi);
}
