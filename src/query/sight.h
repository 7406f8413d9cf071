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

/* A ray on the lattice, and where it is. Of two numbers the first is for the sides of boxes where it enters, the second, with its sign
 * turned, for those where it leaves. */
typedef struct pnRaySight {
  float by[3][2], term[3][2]; /* a side is passed at its place times one and the other added */
  float window[2];            /* where it begins, 0; and s of the last point of interest, rounded up */
  uint32_t quest;             /* whose ray it is */
  uint8_t near[3];            /* the first place in a node's numbers of those where it enters */
  uint8_t top;                /* of the nodes that wait (hits_walk.h) */
} pnRaySight;

/* A ray as triangles see it: pn_Line, for pn_dsPick. All are doubles. */
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
  pnRayLine line[PN_RAY_GROUP];
  const float *corner[PN_RAY_TRIANGLES][3];
} pnRayRows;

/* A number of the lines that `at` names. */
#define PN_OF_LINES(rows, name, at) pn_dsPick(&(rows)->line[0].name, sizeof(pnRayLine) / sizeof(double), at)

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

/* Numbers of a ray, `at` names which. */
#define PN_OF_RAYS(rays, name, at) pn_dsPickFloats(&(rays)->name, sizeof(pnRay) / sizeof(float), at)

PN_INLINE void pn_makeLines(const pnRay *rays, const pnRayQuest *quests, const uint32_t *at, pnLines *out) {
  out->o[0] = PN_OF_RAYS(rays, origin.x, at), out->d[0] = PN_OF_RAYS(rays, direction.x, at);
  out->o[1] = PN_OF_RAYS(rays, origin.y, at), out->d[1] = PN_OF_RAYS(rays, direction.y, at);
  out->o[2] = PN_OF_RAYS(rays, origin.z, at), out->d[2] = PN_OF_RAYS(rays, direction.z, at);
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

/* What is computed of PN_DS rays, a row a number. */
typedef struct pnSightRows {
  float by[3][PN_DS], term[3][2][PN_DS];
  double line[sizeof(pnRayLine) / sizeof(double)][PN_DS];
} pnSightRows;

PN_INLINE void pn_putRay(const pnSightRows *from, uint32_t j, pnRaySight *sight, pnRayLine *line) {
  for (int k = 0; k < 3; ++k) {
    float by = from->by[k][j];
    bool turned = by < 0;
    sight->by[k][0] = by;
    sight->by[k][1] = -by;
    sight->term[k][0] = from->term[k][turned][j];
    sight->term[k][1] = -from->term[k][!turned][j];
    sight->near[k] = (uint8_t)(PN_LANES * (2 * (uint32_t)k + turned));
  }
  double *to = (double *)(void *)line;
  for (uint32_t i = 0; i < sizeof *line / sizeof *to; ++i) to[i] = from->line[i][j];
  sight->window[0] = 0;
  sight->window[1] = -pn_sightAt(line, line->last);
}

/* The rays that `at` names, on the lattice; places in nodes are numbers of so many cells. Returns a bit for each that does not pass
 * the tree's box by. */
PN_INLINE uint32_t pn_makeSights(const pnTree *tree, const pnLattice *lattice, const pnRay *rays,
                                 const pnRayQuest *quests, const uint32_t *at, double cells, pnSightRows *out) {
  pnLines line;
  pn_makeLines(rays, quests, at, &line);
  pnDs o[3], d[3], inverse[3], zero = pn_dsSet1(0), far = zero, most = zero, unit = pn_dsAbs(line.unit);
  for (int k = 0; k < 3; ++k) {
    o[k] = line.o[k] * pn_dsSet1(lattice->perCell) - pn_dsSet1(lattice->offset[k]);
    d[k] = line.d[k] * unit;
    inverse[k] = pn_dsSelect(pn_dsLess(pn_dsAbs(d[k]), pn_dsSet1(1 / PN_SIGHT_MOST)), pn_dsSet1(PN_SIGHT_MOST),
                             line.per[k] * line.length);
    far = pn_dsMax(far, pn_dsAbs(o[k]));
    const pnBox *box = &tree->box;
    most = pn_dsMax(most, pn_dsMax(line.o[k] - pn_dsSet1((&box->min.x)[k]), pn_dsSet1((&box->max.x)[k]) - line.o[k]));
  }
  line.pad = pn_dsSet1(PN_LATTICE_PAD + lattice->before) + pn_dsSet1(0x1p-48) * far;
  line.scale = line.length * pn_dsSet1(lattice->perCell);
  line.bound = pn_dsSet1(PN_RAY_BOUND) * most * most;
  // From where to where it is in the tree's box.
  pnDs begin = line.first * line.scale, end = line.last * line.scale;
  for (int k = 0; k < 3; ++k) {
    pnDs a = (pn_dsSet1(lattice->lo[k] - 1) - line.pad - o[k]) * inverse[k];
    pnDs b = (pn_dsSet1(lattice->hi[k] + 1) + line.pad - o[k]) * inverse[k];
    begin = pn_dsMax(begin, pn_dsMin(a, b));
    end = pn_dsMin(end, pn_dsMax(a, b));
  }
  for (int k = 0; k < 3; ++k) {
    pnDs from = o[k] + begin * d[k];
    pn_dsToFloats(out->by[k], inverse[k] * pn_dsSet1(cells));
    pn_dsToFloats(out->term[k][0], (zero - line.pad - from) * inverse[k]);
    pn_dsToFloats(out->term[k][1], (pn_dsSet1(lattice->after) + line.pad - from) * inverse[k]);
  }
  line.begin = begin;
  const pnDs *row = (const pnDs *)(const void *)&line;
  for (uint32_t i = 0; i < sizeof(pnRayLine) / sizeof(double); ++i) pn_dsStore(out->line[i], row[i]);
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
