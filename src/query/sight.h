/* sight.h: rays as a tree's lattice sees them, many side by side.
 *
 * A ray is cut to the tree's box and begins there, at s = 0; s grows by 1 when it moves by one cell along its longest
 * axis. So its coordinates are those of a lattice, below 2^16, and floats will do: a lane's place p along an axis is passed at
 * p * inverse + term, with an error of a few 2^-24 of 2^16 cells, which is less than a tenth of PN_LATTICE_PAD. An origin far
 * away has an error of its own, 2^-48 of its distance and less, that is added to the pad: from very far every box is hit, and
 * the exact test decides. Along an axis that the ray (nearly) does not move along the inverse is cut at 2^60: over the 2^16 cells of
 * a tree it moves by less than 2^-44 of one.
 *
 * What a step reads of a ray stands together, in a line of the cache or two, and sights are made several at once (pnDs). */
#ifndef PN_QUERY_SIGHT_H
#define PN_QUERY_SIGHT_H

#include "geom/simd_double.h"
#include "query/hits.h"

/* A ray on the lattice, and where it is. */
typedef struct pnRaySight {
  float inverse[3], term[2][3]; /* for lo and for hi */
  float last;                   /* s of the last point of interest, rounded up */
  uint32_t top;                 /* of the nodes that wait (hits_walk.h) */
  uint32_t unused[4];
} pnRaySight;

/* A ray as triangles see it: pn_Line, for pn_dsPick. */
typedef struct pnRayLine {
  double per[3], s[2], unit, axis, bound;
  double first, last; /* of the quest */
  double o[3];
  double scale, begin, pad; /* s of t */
} pnRayLine;

/* The rays of a group. */
typedef struct pnRayRows {
  _Alignas(64) pnRaySight sight[PN_RAY_GROUP];
  pnRayLine line[PN_RAY_GROUP];
} pnRayRows;

/* A number of the lines that `at` names. */
#define PN_OF_LINES(rows, name, at) pn_dsPick(&(rows)->line[0].name, sizeof(pnRayLine) / sizeof(double), at)

#define PN_SIGHT_MOST 0x1p60

/* s of t, a little later. */
PN_INLINE float pn_sightAt(const pnRayLine *line, double t) {
  double s = t * line->scale - line->begin;
  return (float)(s + fabs(s) * 0x1p-20 + line->pad);
}

/* Rays on the lattice: where they are, how far they go while s grows by 1, and the other way round. */
typedef struct pnOnLattice {
  pnDs o[3], d[3], inverse[3], pad, scale, bound;
} pnOnLattice;

PN_INLINE void pn_putOnLattice(const pnTree *tree, const pnLattice *lattice, const pnRayQuest *quests,
                               const uint32_t *at, pnOnLattice *out) {
  pnDs d[3], length = pn_dsSet1(0), far = length, most = length;
  pnDs unit = pn_dsAbs(pn_dsPick(&quests->line.inverse, sizeof *quests / sizeof(double), at));
  for (int k = 0; k < 3; ++k) {
    d[k] = pn_dsPickFloats(quests->line.d + k, sizeof *quests / sizeof(float), at);
    length = pn_dsMax(length, pn_dsAbs(d[k]));
  }
  for (int k = 0; k < 3; ++k) {
    pnDs o = pn_dsPickFloats(quests->line.o + k, sizeof *quests / sizeof(float), at);
    out->o[k] = o * pn_dsSet1(lattice->perCell) - pn_dsSet1(lattice->offset[k]);
    out->d[k] = d[k] * unit;
    out->inverse[k] =
        pn_dsSelect(pn_dsLess(pn_dsAbs(out->d[k]), pn_dsSet1(1 / PN_SIGHT_MOST)), pn_dsSet1(PN_SIGHT_MOST),
                    pn_dsPick(quests->line.per + k, sizeof *quests / sizeof(double), at) * length);
    far = pn_dsMax(far, pn_dsAbs(out->o[k]));
    const pnBox *box = &tree->box;
    most = pn_dsMax(most, pn_dsMax(o - pn_dsSet1((&box->min.x)[k]), pn_dsSet1((&box->max.x)[k]) - o));
  }
  out->pad = pn_dsSet1(PN_LATTICE_PAD + lattice->before) + pn_dsSet1(0x1p-48) * far;
  out->scale = length * pn_dsSet1(lattice->perCell);
  out->bound = pn_dsSet1(PN_RAY_BOUND) * most * most;
}

/* What is computed of PN_DS rays, a row each. */
typedef struct pnSightRows {
  float inverse[3][PN_DS], term[2][3][PN_DS];
  double scale[PN_DS], begin[PN_DS], pad[PN_DS], bound[PN_DS];
} pnSightRows;

PN_INLINE void pn_putRay(const pnSightRows *from, uint32_t j, pnRayQuest *quest, pnRaySight *sight, pnRayLine *line) {
  for (int k = 0; k < 3; ++k) {
    sight->inverse[k] = from->inverse[k][j];
    sight->term[0][k] = from->term[0][k][j];
    sight->term[1][k] = from->term[1][k][j];
    line->per[k] = quest->line.per[k];
    line->o[k] = quest->line.o[k];
  }
  line->s[0] = quest->line.s[0];
  line->s[1] = quest->line.s[1];
  line->unit = quest->line.inverse;
  line->axis = quest->line.axis[2];
  line->bound = quest->line.bound = from->bound[j];
  line->first = quest->first;
  line->last = quest->last;
  line->scale = from->scale[j];
  line->begin = from->begin[j];
  line->pad = from->pad[j];
  sight->last = pn_sightAt(line, quest->last);
}

/* Rays from `first` on, PN_DS of them; `at` names them, and behind the last it stands again. Returns a bit for each that does
 * not pass the tree's box by. */
PN_INLINE uint32_t pn_makeSights(const pnTree *tree, const pnLattice *lattice, const pnRayQuest *quests,
                                 const uint32_t *at, pnSightRows *out) {
  pnOnLattice ray;
  pn_putOnLattice(tree, lattice, quests, at, &ray);
  // From where to where it is in the tree's box.
  pnDs begin = pn_dsPick(&quests->first, sizeof *quests / sizeof(double), at) * ray.scale;
  pnDs end = pn_dsPick(&quests->last, sizeof *quests / sizeof(double), at) * ray.scale;
  for (int k = 0; k < 3; ++k) {
    pnDs a = (pn_dsSet1(lattice->lo[k] - 1) - ray.pad - ray.o[k]) * ray.inverse[k];
    pnDs b = (pn_dsSet1(lattice->hi[k] + 1) + ray.pad - ray.o[k]) * ray.inverse[k];
    begin = pn_dsMax(begin, pn_dsMin(a, b));
    end = pn_dsMin(end, pn_dsMax(a, b));
  }
  for (int k = 0; k < 3; ++k) {
    pnDs from = ray.o[k] + begin * ray.d[k];
    pn_dsToFloats(out->inverse[k], ray.inverse[k]);
    pn_dsToFloats(out->term[0][k], (pn_dsSet1(0) - ray.pad - from) * ray.inverse[k]);
    pn_dsToFloats(out->term[1][k], (pn_dsSet1(lattice->after) + ray.pad - from) * ray.inverse[k]);
  }
  pn_dsStore(out->scale, ray.scale);
  pn_dsStore(out->begin, begin);
  pn_dsStore(out->pad, ray.pad);
  pn_dsStore(out->bound, ray.bound);
  return pn_dsBits(pn_dsAtMost(begin, end));
}

/* Rays side by side. */
typedef struct pnRayGroup {
  pnTree *tree;
  const pnLattice *lattice;
  pnRayMode mode;
  pnFresh *fresh;
  pnRayQuest *quests;
} pnRayGroup;

/* hits.c, hits_avx2.c and hits_avx512.c: the first rays of a group, compiled for what a machine has. */
typedef void pnCastFcn(pnRayGroup *group, uint32_t count);
pnCastFcn pn_castGroupAvx2, pn_castGroupAvx512;
/* Those that this machine can run, the quickest first; returns how many. */
#define PN_CAST_WAYS 3u
uint32_t pn_castWays(pnCastFcn *out[PN_CAST_WAYS]);

#endif
