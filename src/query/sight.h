/* sight.h: rays as a tree's lattice sees them, many side by side.
 *
 * A ray is cut to the tree's box, or to what its lattice is over, and begins there, at s = 0; s grows by 1 when it moves by one cell along its longest
 * axis. So its coordinates are those of a lattice, below 2^16, and floats will do: a lane's place p along an axis is passed at
 * p * inverse + term, with an error of a few 2^-24 of 2^16 cells, which is less than a tenth of PN_LATTICE_PAD. An origin far
 * away has an error of its own, 2^-48 of its distance and less, that is added to the pad: from very far every box is hit, and
 * the exact test decides. Along an axis that the ray (nearly) does not move along the inverse is cut at 2^60: over the 2^16 cells of
 * a tree it moves by less than 2^-44 of one.
 *
 * Where some of the tree is beyond its lattice, a ray that passes the lattice by goes there all the same, and hits no box on it.
 *
 * What a step reads of a ray stands together, in a line of the cache or two, and sights are made several at once (pnDs). */
#ifndef PN_QUERY_SIGHT_H
#define PN_QUERY_SIGHT_H

#include "geom/simd_double.h"
#include "query/hits.h"

#include <stddef.h>

/* A ray on the lattice, and where it is. Of two numbers the first is for the sides of boxes where it enters, the second, with its sign
 * turned, for those where it leaves. */
typedef struct pnRaySight {
  float by[3][2], term[3][2]; /* a side is passed at its place times one and the other added */
  float window[2];            /* where it begins, 0; and s of the last point of interest, rounded up */
  uint32_t quest;             /* whose ray it is */
  uint8_t near[3];            /* the first place in a node's numbers of those where it enters */
  uint8_t top;                /* of the nodes that wait (hits_walk.h) */
} pnRaySight;

/* A ray as triangles see it: pn_Line. All are doubles. */
typedef struct pnRayLine {
  double per[3], s[2], unit, axis, bound;
  double first, last; /* of the quest */
  double o[3];
  double scale, begin, pad; /* s of t */
} pnRayLine;

/* Triangles that wait to be weighed: all that the leaves of a round may have, and what fills no register before. */
#define PN_RAY_TRIANGLES ((PN_RAY_GROUP + 1) * PN_LANES + PN_DS)

/* The rays that are under way, and the corners of what they may hit. */
typedef struct pnRayRows {
  _Alignas(64) pnRayLine line[PN_RAY_GROUP];
  const float *corner[PN_RAY_TRIANGLES][3];
} pnRayRows;

#define PN_SIGHT_MOST 0x1p60

/* s of t, a little later. */
PN_INLINE float pn_sightAt(const pnRayLine *line, double t) {
  double s = t * line->scale - line->begin;
  return (float)(s + fabs(s) * 0x1p-20 + line->pad);
}

/* Lines of PN_DS rays, a row a number, and what pn_makeLine computes of them by the same operations. */
typedef struct pnLines {
  pnDs per[3], s[2], unit, axis, bound;
  pnDs first, last;
  pnDs o[3];
  pnDs scale, begin, pad;
  pnDs d[3], length; /* not kept: the direction, and how far it goes along its axis */
} pnLines;

PN_INLINE void pn_makeLines(const pnRay *rays, const pnRayQuest *quests, const uint32_t *at, pnLines *out) {
  const float *origin[PN_DS], *direction[PN_DS];
  for (uint32_t j = 0; j < PN_DS; ++j) origin[j] = &rays[at[j]].origin.x, direction[j] = &rays[at[j]].direction.x;
  pn_dsPoints(origin, out->o);
  pn_dsPoints(direction, out->d);
  out->first = pn_dsPick(&rays->first, sizeof(pnRay) / sizeof(double), at);
  out->last = pn_dsPick(&quests->last, sizeof(pnRayQuest) / sizeof(double), at);
  const pnDs *d = out->d, *per = out->per;
  pnDs x = pn_dsAbs(d[0]), y = pn_dsAbs(d[1]), z = pn_dsAbs(d[2]), most = pn_dsMax(x, y), zero = pn_dsSet1(0);
  pnDsMask isY = pn_dsLess(x, y), isZ = pn_dsLess(most, z);
  for (int k = 0; k < 3; ++k) out->per[k] = pn_dsSet1(1) / d[k];
  out->length = pn_dsMax(most, z);
  out->axis = pn_dsSelect(isZ, pn_dsSet1(2), pn_dsSelect(isY, pn_dsSet1(1), zero));
  out->unit = pn_dsSelect(isZ, per[2], pn_dsSelect(isY, per[1], per[0]));
  out->s[0] = pn_dsSelect(isZ, d[0], pn_dsSelect(isY, d[2], d[1])) * out->unit;
  out->s[1] = pn_dsSelect(isZ, d[1], pn_dsSelect(isY, d[0], d[2])) * out->unit;
}

/* Doubles that a ray's sight and line have room for. */
#define PN_SIGHT_ROWS (sizeof(pnRaySight) / sizeof(double))
#define PN_LINE_ROWS (sizeof(pnRayLine) / sizeof(double))
_Static_assert(PN_SIGHT_ROWS % PN_DS == 0 && PN_LINE_ROWS % PN_DS == 0, "rows are turned PN_DS at a time");
_Static_assert(offsetof(pnLines, d) == PN_LINE_ROWS * sizeof(pnDs), "a line's numbers are the first rows of lines");

/* What is computed of PN_DS rays, a row a number, or two of a sight; then, PN_DS rows at a time, turned so that a row is a ray's. */
typedef struct pnSightRows {
  pnDs sight[PN_SIGHT_ROWS];
  pnLines line;
} pnSightRows;

PN_INLINE void pn_turnRows(pnDs *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i += PN_DS) pn_dsTranspose(rows + i);
}

/* The sight of ray j, but for whose it is, and its line. */
PN_INLINE void pn_putRay(const pnSightRows *from, uint32_t j, pnRaySight *sight, pnRayLine *line) {
  for (uint32_t i = 0; i < PN_SIGHT_ROWS; i += PN_DS)
    memcpy((char *)sight + i * sizeof(double), &from->sight[i + j], sizeof(pnDs));
  for (uint32_t i = 0; i < PN_LINE_ROWS; i += PN_DS)
    memcpy((char *)line + i * sizeof(double), (const pnDs *)(const void *)&from->line + i + j, sizeof(pnDs));
}

/* Lines of triangles' rays, a row a number. */
PN_INLINE void pn_pickLines(const pnRayRows *rows, const uint32_t *ray, pnLines *out) {
  pnDs *row = (pnDs *)(void *)out;
  for (uint32_t i = 0; i < PN_LINE_ROWS; i += PN_DS)
    for (uint32_t j = 0; j < PN_DS; ++j) row[i + j] = pn_dsLoad((const double *)(const void *)&rows->line[ray[j]] + i);
  pn_turnRows(row, PN_LINE_ROWS);
}

/* What a lattice makes of rays: where they are there and go, and what they are divided by. */
typedef struct pnLatticeRays {
  pnDs o[3], d[3], inverse[3];
} pnLatticeRays;

PN_INLINE void pn_layRays(const pnTree *tree, const pnLattice *lattice, pnLines *line, pnLatticeRays *out) {
  pnDs far = pn_dsSet1(0), most = far, unit = pn_dsAbs(line->unit);
  for (int k = 0; k < 3; ++k) {
    out->o[k] = line->o[k] * pn_dsSet1(lattice->perCell) - pn_dsSet1(lattice->offset[k]);
    out->d[k] = line->d[k] * unit;
    out->inverse[k] = pn_dsSelect(pn_dsLess(pn_dsAbs(out->d[k]), pn_dsSet1(1 / PN_SIGHT_MOST)),
                                  pn_dsSet1(PN_SIGHT_MOST), line->per[k] * line->length);
    far = pn_dsMax(far, pn_dsAbs(out->o[k]));
    const pnBox *box = &tree->box;
    most = pn_dsMax(most, pn_dsMax(line->o[k] - pn_dsSet1((&box->min.x)[k]), pn_dsSet1((&box->max.x)[k]) - line->o[k]));
  }
  line->pad = pn_dsSet1(PN_LATTICE_PAD + lattice->before) + pn_dsSet1(0x1p-48) * far;
  line->scale = line->length * pn_dsSet1(lattice->perCell);
  line->bound = pn_dsSet1(PN_RAY_BOUND) * most * most;
}

/* Sights; numbers of a node are read as places of so many cells. */
PN_INLINE void pn_fillSights(const pnLattice *lattice, const pnLatticeRays *rays, const pnLines *line, double cells,
                             pnDs out[PN_SIGHT_ROWS]) {
  pnDs zero = pn_dsSet1(0), near = zero;
  for (int k = 0; k < 3; ++k) {
    pnDs from = rays->o[k] + line->begin * rays->d[k], by = rays->inverse[k] * pn_dsSet1(cells);
    pnDs lo = (zero - line->pad - from) * rays->inverse[k];
    pnDs hi = (pn_dsSet1(lattice->after) + line->pad - from) * rays->inverse[k];
    pnDsMask turned = pn_dsLess(by, zero);
    out[k] = pn_dsPairs(by, zero - by);
    out[3 + k] = pn_dsPairs(pn_dsSelect(turned, hi, lo), zero - pn_dsSelect(turned, lo, hi));
    double row = (double)((uint32_t)PN_LANES << 8 * k);
    near = near + pn_dsSelect(turned, pn_dsSet1((2 * k + 1) * row), pn_dsSet1(2 * k * row));
  }
  pnDs s = line->last * line->scale - line->begin;
  out[6] = pn_dsPairs(zero, zero - (s + pn_dsAbs(s) * pn_dsSet1(0x1p-20) + line->pad));
  out[7] = pn_dsWords(near);
}

/* Every box ends before the ray begins. */
PN_INLINE void pn_blindSight(pnRaySight *sight) {
  memset(sight->by, 0, sizeof sight->by);
  memset(sight->term, 0, sizeof sight->term);
  memset(sight->window, 0, sizeof sight->window);
  sight->term[0][1] = 1;
}

/* The rays that `at` names, on the lattice. Returns a bit for each that does not pass the tree's box by, or what the lattice is over. */
PN_INLINE uint32_t pn_makeSights(const pnTree *tree, const pnLattice *lattice, const pnRay *rays,
                                 const pnRayQuest *quests, const uint32_t *at, double cells, pnSightRows *out) {
  pnLines *line = &out->line;
  pnLatticeRays laid;
  pn_makeLines(rays, quests, at, line);
  pn_layRays(tree, lattice, line, &laid);
  // From where to where it is in that box.
  pnDs begin = line->first * line->scale, end = line->last * line->scale;
  for (int k = 0; k < 3; ++k) {
    pnDs a = (pn_dsSet1(lattice->lo[k] - 1) - line->pad - laid.o[k]) * laid.inverse[k];
    pnDs b = (pn_dsSet1(lattice->hi[k] + 1) + line->pad - laid.o[k]) * laid.inverse[k];
    begin = pn_dsMax(begin, pn_dsMin(a, b));
    end = pn_dsMin(end, pn_dsMax(a, b));
  }
  line->begin = begin;
  pn_fillSights(lattice, &laid, line, cells, out->sight);
  pn_turnRows(out->sight, PN_SIGHT_ROWS);
  pn_turnRows((pnDs *)(void *)line, PN_LINE_ROWS);
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

/* hits.c, hits_avx2.c and hits_avx512.c: the first rays of a group, compiled for what a machine has. As many as PN_RAY_GROUP are under
 * way at once. */
typedef void pnCastFcn(pnRayGroup *group, uint32_t count);
pnCastFcn pn_castGroupAvx2, pn_castGroupAvx512;
/* Those that this machine can run, the quickest first; returns how many. */
#define PN_CAST_WAYS 3u
uint32_t pn_castWays(pnCastFcn *out[PN_CAST_WAYS]);

#endif
