/* carry.c: see carry.h. */
#include "tree/carry.h"

#include "geom/sphere.h"

#include <stdlib.h>

/* Term i: `weight` along the direction with the signs of u on the axes in `mask` (bits by axis). The slab along it, or along
 * the opposite, is in the set: it is found by its place in a list of all 27 directions. */
static void setTerm(pnCarryTerm *term, int i, const pnSlabSet *set, const float u[3], unsigned mask, float weight) {
  int at = 0;
  for (int k = 0; k < 3; ++k) at = 3 * at + (mask >> k & 1 ? (u[k] < 0 ? 0 : 2) : 1);
  int place = set->place[at];
  PN_ASSERT(place != 0 && "a direction that is not in the set");
  term->slab[i] = (uint8_t)(abs(place) - 1);
  term->flip[i] = place < 0;
  term->weight[i] = weight > 0 ? weight : 0;
}

void pn_carryAlong(const pnSlabSet *set, const float u[3], pnCarryTerm *term) {
  int x = 0, y = 1, z = 2, t; /* axes by |u|, largest first */
#define ORDER(p, q)                \
  if (fabsf(u[p]) < fabsf(u[q])) { \
    t = p;                         \
    p = q;                         \
    q = t;                         \
  }
  ORDER(x, y)
  ORDER(y, z)
  ORDER(x, y)
#undef ORDER
  float a = fabsf(u[x]), b = fabsf(u[y]), c = fabsf(u[z]);
  unsigned bx = 1u << x, by = 1u << y, bz = 1u << z;
  if (set == &pn_slabBox) {
    setTerm(term, 0, set, u, bx, a);
    setTerm(term, 1, set, u, by, b);
    setTerm(term, 2, set, u, bz, c);
  } else if (set == &pn_slabDop14) {
    setTerm(term, 0, set, u, bx, a - c);
    setTerm(term, 1, set, u, by, b - c);
    setTerm(term, 2, set, u, bx | by | bz, c);
  } else if (set == &pn_slabDop26) {
    setTerm(term, 0, set, u, bx, a - b);
    setTerm(term, 1, set, u, bx | by, b - c);
    setTerm(term, 2, set, u, bx | by | bz, c);
  } else if (a >= b + c) {
    setTerm(term, 0, set, u, bx, a - b - c);
    setTerm(term, 1, set, u, bx | by, b);
    setTerm(term, 2, set, u, bx | bz, c);
  } else {
    setTerm(term, 0, set, u, bx | by, 0.5f * (a + b - c));
    setTerm(term, 1, set, u, bx | bz, 0.5f * (a + c - b));
    setTerm(term, 2, set, u, by | bz, 0.5f * (b + c - a));
  }
}

void pn_carryBegin(pnCarry *carry, const pnMatrix *map, const pnSlabSet *set, uint32_t wanted, float reach, bool far) {
  carry->map = *map;
  /* stretch: the norm of M is at most the root of the largest row sum of M^T M, in double, rounded up */
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    double row = 0;
    for (int j = 0; j < 3; ++j) {
      double s = 0;
      for (int k = 0; k < 3; ++k) s += (double)map->m[k][i] * map->m[k][j];
      row += fabs(s);
    }
    most = fmax(most, row);
  }
  carry->stretch = (float)sqrt(most) * PN_SPHERE_GROW;
  for (uint32_t d = 0; set && d < wanted; ++d) {
    pnCarryTerm *term = &carry->term[d];
    float u[3] = {0};
    double size = 0;
    term->shift = 0;
    for (int k = 0; k < 3; ++k) {
      float n = set->dir[d][k];
      for (int j = 0; j < 3; ++j) {
        u[j] += n * map->m[k][j];
        size += fabs((double)n * map->m[k][j]) * reach;
      }
      term->shift += n * map->m[k][3];
      size += fabs((double)n * map->m[k][3]);
    }
    term->margin = (float)((double)PN_CARRY_MARGIN * size + PN_CARRY_TINY);
    pn_carryAlong(far ? &pn_slabBox : set, u, term); /* the axes come first in every set */
    /* sums may leave the range of float where coordinates do not: such a direction says nothing */
    if (!(size < 0.5 * (double)FLT_MAX)) {
      memset(term->weight, 0, sizeof term->weight);
      term->shift = 0;
      term->margin = FLT_MAX;
    }
  }
}

void pn_carryRows(const pnCarry *carry, uint32_t wanted, const float *rows, float *out) {
  for (uint32_t i = 0; i < 2 * wanted; ++i) {
    /* four lanes of one direction */
    uint32_t half = 4 * (i & 1), d = i / 2;
    const pnCarryTerm *term = &carry->term[d];
    pnF4 lo = pn_f4Set1(term->shift), hi = lo, margin = pn_f4Set1(term->margin);
    for (int k = 0; k < 3; ++k) {
      if (term->weight[k] == 0) continue; /* two of three when nothing turns */
      const float *row = rows + 2 * PN_LANES * term->slab[k] + half;
      pnF4 l = pn_f4Load(row), h = pn_f4Load(row + PN_LANES), w = pn_f4Set1(term->weight[k]);
      lo = pn_f4Add(lo, pn_f4Mul(w, term->flip[k] ? pn_f4Neg(h) : l));
      hi = pn_f4Add(hi, pn_f4Mul(w, term->flip[k] ? pn_f4Neg(l) : h));
    }
    pn_f4Store(out + 2 * PN_LANES * d + half, pn_f4Sub(lo, margin));
    pn_f4Store(out + 2 * PN_LANES * d + PN_LANES + half, pn_f4Add(hi, margin));
  }
}
