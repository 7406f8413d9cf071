/* hits_weigh.h: pn_meetLine (geom/ray.h) for many triangles and rays side by side. Included by hits_walk.h.
 *
 * Each is weighed in double as pn_meetLine does it, the same operations in the same order, so that a hit has the same bits
 * here and there. Three things may come out: it is clear that the ray passes by; it is clear that it hits, and where; or it
 * is not clear, and pn_meetLine is asked. */

/* A few triangles, each with the ray that may hit it, and what comes out. */
typedef struct Weighed {
  double t[PN_DS], u[PN_DS], v[PN_DS];
  uint32_t front; /* bits: the ray comes from the side that the triangle faces */
  uint32_t clear; /* it hits; what is above holds */
  uint32_t doubt; /* ask */
} Weighed;

/* Corners minus origin; and turned so that the ray runs along the last axis, and sheared. */
typedef struct Sheared {
  pnDs c[3][3];
  pnDs x[3], y[3], z[3];
} Sheared;

PN_INLINE void shearTriangles(const pnLines *line, const float *corner[3][PN_DS], Sheared *out) {
  pnDsMask isX = pn_dsLess(line->axis, pn_dsSet1(1)), isZ = pn_dsLess(pn_dsSet1(1), line->axis);
  for (int k = 0; k < 3; ++k) {
    pn_dsPoints(corner[k], out->c[k]);
    for (int a = 0; a < 3; ++a) out->c[k][a] -= line->o[a];
    const pnDs *c = out->c[k];
    out->z[k] = pn_dsSelect(isX, c[0], pn_dsSelect(isZ, c[2], c[1]));
    out->x[k] = pn_dsSelect(isX, c[1], pn_dsSelect(isZ, c[0], c[2])) - line->s[0] * out->z[k];
    out->y[k] = pn_dsSelect(isX, c[2], pn_dsSelect(isZ, c[1], c[0])) - line->s[1] * out->z[k];
  }
}

/* The smaller, the larger of three: as PN_MIN(a, PN_MIN(b, c)). */
PN_INLINE pnDs leastOf(const pnDs x[3]) {
  return pn_dsMin(x[0], pn_dsMin(x[1], x[2]));
}

PN_INLINE pnDs mostOf(const pnDs x[3]) {
  return pn_dsMax(x[0], pn_dsMax(x[1], x[2]));
}

/* t into the triangles' boxes. */
PN_INLINE pnDs intoBoxes(const pnLines *line, const Sheared *s, pnDs t) {
  for (int a = 0; a < 3; ++a) {
    pnDs x[3] = {s->c[0][a], s->c[1][a], s->c[2][a]}, per = line->per[a];
    pnDs p = leastOf(x) * per, q = mostOf(x) * per;
    pnDs cut = pn_dsMax(pn_dsMin(p, q), pn_dsMin(pn_dsMax(p, q), t));
    // It does not move along this axis when 1 / 0 stands there.
    t = pn_dsSelect(pn_dsAtMost(pn_dsAbs(per), pn_dsSet1(DBL_MAX)), cut, t);
  }
  return t;
}

PN_INLINE void weighTriangles(const pnRayRows *rows, const uint32_t *ray, const float *corner[3][PN_DS], Weighed *out) {
  Sheared s;
  pnLines line;
  pn_pickLines(rows, ray, &line);
  shearTriangles(&line, corner, &s);
  pnDs w[3] = {s.x[1] * s.y[2] - s.y[1] * s.x[2], s.x[2] * s.y[0] - s.y[2] * s.x[0], s.x[0] * s.y[1] - s.y[0] * s.x[1]};
  pnDs bound = line.bound, unit = line.unit, zero = pn_dsSet1(0);
  pnDs low = leastOf(w), high = mostOf(w), ahead[3] = {s.z[0] * unit, s.z[1] * unit, s.z[2] * unit};
  uint32_t missed = pn_dsBits(pn_dsLess(low, zero - bound)) & pn_dsBits(pn_dsLess(bound, high));
  uint32_t sure = (pn_dsBits(pn_dsLess(bound, low)) | pn_dsBits(pn_dsLess(high, zero - bound))) &
                  pn_dsBits(pn_dsLess(zero, leastOf(ahead)));
  pnDs sum = w[0] + w[1] + w[2], part = pn_dsSet1(1) / sum;
  pnDs t = intoBoxes(&line, &s, (w[0] * s.z[0] + w[1] * s.z[1] + w[2] * s.z[2]) * part * unit);
  uint32_t wanted = pn_dsBits(pn_dsAtMost(line.first, t)) & pn_dsBits(pn_dsAtMost(t, line.last));
  pn_dsStore(out->t, t);
  pn_dsStore(out->u, w[1] * part);
  pn_dsStore(out->v, w[2] * part);
  out->front = pn_dsBits(pn_dsLess(zero, sum)) ^ pn_dsBits(pn_dsLess(zero, unit));
  out->clear = sure & wanted;
  out->doubt = ~(missed | sure);
}
