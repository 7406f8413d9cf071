/* skin_lanes.c: the slabs of all children of a node at once, linear blend skinning. See skin_bound.h for the bounds and
 * for every rounding error.
 *
 * Intervals are kept as two reaches, along a direction and against it (hi and -lo): what bounds one bounds the other with
 * the opposite sides, and nothing need be turned round. */
#include "tree/skin_bound.h"

#include <float.h>

/* ---------------------------------------------------------------- joints of a frame */

typedef struct LaneColumns {
  pnF4 c[4];
} LaneColumns;

PN_INLINE LaneColumns columnsOf(const float column[4][4]) {
  return (LaneColumns){{pn_f4Load(column[0]), pn_f4Load(column[1]), pn_f4Load(column[2]), pn_f4Load(column[3])}};
}

/* Sum of the first three columns, weighted. */
PN_INLINE pnF4 mix(const LaneColumns *m, float x, float y, float z) {
  pnF4 sum = pn_f4Add(pn_f4Mul(m->c[0], pn_f4Set1(x)), pn_f4Mul(m->c[1], pn_f4Set1(y)));
  return pn_f4Add(sum, pn_f4Mul(m->c[2], pn_f4Set1(z)));
}

PN_INLINE LaneColumns absolute(const LaneColumns *m) {
  return (LaneColumns){{pn_f4Abs(m->c[0]), pn_f4Abs(m->c[1]), pn_f4Abs(m->c[2]), pn_f4Abs(m->c[3])}};
}

/* T M, and S of its three rows. */
static LaneColumns worldMap(const pnPose *pose, const LaneColumns *transform, const pnJointMove *move, float reach,
                            float outSize[4]) {
  LaneColumns m = columnsOf(move->column), size = absolute(&m), out = m;
  pnF4 local = pn_f4Add(mix(&size, reach, reach, reach), size.c[3]);
  pn_f4Store(outSize, local);
  if (pose->hasTransform) {
    for (int k = 0; k < 4; ++k) out.c[k] = mix(transform, move->column[k][0], move->column[k][1], move->column[k][2]);
    out.c[3] = pn_f4Add(out.c[3], transform->c[3]);
    size = absolute(transform);
    pn_f4Store(outSize, pn_f4Add(mix(&size, outSize[0], outSize[1], outSize[2]), size.c[3]));
  }
  return out;
}

/* The directions of a k-DOP beyond the axes: sums of the axes' rows. */
static void addRows(const pnSlabSet *set, pnLaneJoint *joint) {
  for (uint32_t d = 3; d < set->count; ++d) {
    const int8_t *n = set->dir[d];
    joint->size[d] = 0;
    for (int i = 0; i < 4; ++i) {
      joint->row[d][i] =
          (float)n[0] * joint->row[0][i] + (float)n[1] * joint->row[1][i] + (float)n[2] * joint->row[2][i];
    }
    for (int k = 0; k < 3; ++k) joint->size[d] += n[k] ? joint->size[k] : 0;
  }
}

void pn_beginSkinLanes(const pnTree *tree, pnSkinBound *bound, float reach) {
  const pnPose *pose = tree->pose;
  const pnMatrix *t = &pose->transform;
  LaneColumns transform;
  for (int k = 0; k < 4; ++k) {
    const float column[4] = {t->m[0][k], t->m[1][k], t->m[2][k], 0};
    transform.c[k] = pn_f4Load(column);
  }
  bound->farthest = 0;
  for (uint32_t j = 0; j < pose->skin->jointCount; ++j) {
    pnLaneJoint *joint = &bound->lanes.joints[j];
    float size[4];
    pnF4 row[3];
    LaneColumns m = worldMap(pose, &transform, &pose->moves[j], reach, size);
    pn_f4Transpose3(m.c[0], m.c[1], m.c[2], m.c[3], &row[0], &row[1], &row[2]);
    for (int k = 0; k < 3; ++k) {
      pn_f4Store(joint->row[k], row[k]);
      joint->size[k] = size[k];
      bound->farthest = PN_MAX(bound->farthest, size[k]);
    }
    addRows(tree->slabs, joint);
    for (uint32_t d = 0; d < tree->slabs->count; ++d) pn_carryAlong(bound->lanes.set, joint->row[d], &joint->sum[d]);
  }
}

/* ---------------------------------------------------------------- a seat */

/* Eight lanes. */
typedef struct Wide {
  pnF4 v[2];
} Wide;

PN_INLINE Wide wideOf(const float *row) {
  return (Wide){{pn_f4Load(row), pn_f4Load(row + 4)}};
}
PN_INLINE Wide wideSet(float x) {
  return (Wide){{pn_f4Set1(x), pn_f4Set1(x)}};
}
PN_INLINE void wideStore(float *row, Wide a) {
  pn_f4Store(row, a.v[0]);
  pn_f4Store(row + 4, a.v[1]);
}
#define WIDE(name, f4)                                       \
  PN_INLINE Wide name(Wide a, Wide b) {                      \
    return (Wide){{f4(a.v[0], b.v[0]), f4(a.v[1], b.v[1])}}; \
  }
WIDE(wideAdd, pn_f4Add)
WIDE(wideSub, pn_f4Sub)
WIDE(wideMul, pn_f4Mul)
WIDE(wideMin, pn_f4Min)
WIDE(wideMax, pn_f4Max)
WIDE(wideAnd, pn_f4And)
WIDE(wideOr, pn_f4Or)
PN_INLINE Wide wideAbs(Wide a) {
  return (Wide){{pn_f4Abs(a.v[0]), pn_f4Abs(a.v[1])}};
}
PN_INLINE Wide wideNeg(Wide a) {
  return (Wide){{pn_f4Neg(a.v[0]), pn_f4Neg(a.v[1])}};
}
/* sum + row * x */
PN_INLINE Wide wideGrow(Wide sum, const float *row, float x) {
  return wideAdd(sum, wideMul(wideOf(row), wideSet(x)));
}

/* What is worked out for a seat: how far each direction goes, [0] along and [1] against it, by the hull and by the change. */
typedef struct Seat {
  float hull[PN_MAX_SLABS][2][PN_LANES], change[PN_MAX_SLABS][2][PN_LANES];
  float size[PN_MAX_SLABS];                         /* S */
  float delta[3][PN_LANES], deltaHalf[3][PN_LANES]; /* what morph targets add to p */
} Seat;

/* What the deltas add along a row of a joint. */
PN_INLINE void addDeltas(const Seat *s, const float *row, Wide *along, Wide *against) {
  for (int k = 0; k < 3; ++k) {
    Wide mid = wideMul(wideOf(s->delta[k]), wideSet(row[k]));
    Wide half = wideMul(wideOf(s->deltaHalf[k]), wideSet(fabsf(row[k])));
    *along = wideAdd(*along, wideAdd(mid, half));
    *against = wideAdd(*against, wideSub(half, mid));
  }
}

/* One joint of a seat; `first` of them, `changes`: it may be the main one of a lane. */
PN_INLINE void addJoint(Seat *s, const pnLaneJoint *joint, const float *rows, uint32_t wanted, Wide main, bool first,
                        bool changes, bool morphs) {
  for (uint32_t d = 0; d < wanted; ++d) {
    const pnCarryTerm *sum = &joint->sum[d];
    Wide side[2] = {wideSet(joint->row[d][3]), wideSet(-joint->row[d][3])};
    for (int i = 0; i < 3; ++i) {
      const float *row = rows + (2 * (size_t)sum->slab[i] + sum->flip[i]) * PN_LANES;
      const float *opposite = rows + (2 * (size_t)sum->slab[i] + !sum->flip[i]) * PN_LANES;
      side[0] = wideGrow(side[0], row, sum->weight[i]);
      side[1] = wideGrow(side[1], opposite, sum->weight[i]);
    }
    if (morphs) addDeltas(s, joint->row[d], &side[0], &side[1]);
    for (int i = 0; i < 2; ++i) {
      float *hull = s->hull[d][i], *change = s->change[d][i];
      wideStore(hull, first ? side[i] : wideMax(wideOf(hull), side[i]));
      if (changes) {
        Wide own = wideAnd(side[i], main);
        wideStore(change, first ? own : wideOr(wideOf(change), own));
      }
    }
    s->size[d] = first ? joint->size[d] : PN_MAX(s->size[d], joint->size[d]);
  }
}

/* What a pair of joints adds to the main one's part. */
PN_INLINE void addPair(Seat *s, const pnLanePair *pair, const pnLaneJoint *a, const pnLaneJoint *b, uint32_t wanted,
                       bool morphs) {
  Wide weight = wideOf(pair->weight), weightHalf = wideOf(pair->weightHalf), x[3], xHalf[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = wideOf(pair->x[k]);
    xHalf[k] = wideOf(pair->xHalf[k]);
    if (morphs) {
      /* w (d + m), with w within weightHalf of weight and m within deltaHalf of delta */
      Wide m = wideOf(s->delta[k]), half = wideOf(s->deltaHalf[k]);
      x[k] = wideAdd(x[k], wideMul(weight, m));
      xHalf[k] = wideAdd(xHalf[k],
                         wideAdd(wideMul(wideAdd(wideAbs(weight), weightHalf), half), wideMul(weightHalf, wideAbs(m))));
    }
  }
  for (uint32_t d = 0; d < wanted; ++d) {
    float row[4];
    pn_f4Store(row, pn_f4Sub(pn_f4Load(b->row[d]), pn_f4Load(a->row[d])));
    Wide moved = wideSet(row[3]);
    for (int k = 0; k < 3; ++k) moved = wideGrow(moved, pair->centre[k], row[k]);
    Wide mid = wideMul(moved, weight), half = wideMul(wideAbs(moved), weightHalf);
    for (int k = 0; k < 3; ++k) {
      mid = wideAdd(mid, wideMul(x[k], wideSet(row[k])));
      half = wideAdd(half, wideMul(xHalf[k], wideSet(fabsf(row[k]))));
    }
    wideStore(s->change[d][0], wideAdd(wideOf(s->change[d][0]), wideAdd(half, mid)));
    wideStore(s->change[d][1], wideAdd(wideOf(s->change[d][1]), wideSub(half, mid)));
  }
}

/* Both bounds hold: the smaller reach, with its margin, as lo and hi. */
PN_INLINE void putRows(const pnSkinBound *bound, const Seat *s, uint32_t wanted, bool changes, float *outRows) {
  /* a lane has at most PN_CHANGE_TERMS joints besides which others change nothing */
  float units = bound->unit[0] + (float)(PN_CHANGE_TERMS - 1) * bound->unit[1];
  for (uint32_t d = 0; d < wanted; ++d) {
    for (int i = 0; i < 2; ++i) {
      Wide reach = wideAdd(wideOf(s->hull[d][i]), wideSet(s->size[d] * bound->unit[0] + FLT_MIN));
      if (changes) {
        Wide change = wideAdd(wideOf(s->change[d][i]), wideSet(s->size[d] * units + FLT_MIN));
        reach = wideMin(reach, change);
      }
      wideStore(outRows + (2 * d + (i == 0)) * PN_LANES, i == 0 ? reach : wideNeg(reach));
    }
  }
}

PN_INLINE void seatRows(const pnSkinBound *bound, Seat *s, uint32_t seat, uint32_t wanted, bool morphs,
                        float *outRows) {
  const pnSkinLanes *lanes = &bound->lanes;
  const size_t floats = pn_termFloats(lanes);
  const uint32_t first = lanes->termFirst[seat], end = lanes->termFirst[seat + 1];
  const bool changes = lanes->pairFirst[seat] < lanes->pairFirst[seat + 1];
  for (uint32_t i = first; i < end; ++i) {
    const float *rows = lanes->termRows + i * floats;
    addJoint(s, &lanes->joints[lanes->termJoint[i]], rows, wanted, wideOf(rows + floats - PN_LANES), i == first,
             changes, morphs);
  }
  for (uint32_t i = lanes->pairFirst[seat]; i < lanes->pairFirst[seat + 1]; ++i) {
    const pnLanePair *pair = &lanes->pairs[i];
    addPair(s, pair, &lanes->joints[pair->a], &lanes->joints[pair->b], wanted, morphs);
  }
  putRows(bound, s, wanted, changes, outRows);
}

/* The deltas of each lane. */
static void blendLanes(const pnTree *tree, const pnSkinBound *bound, uint32_t seat, Seat *s) {
  uint32_t first = seat < tree->shape->innerCount ? tree->shape->first[seat] : 0;
  uint32_t count = seat < tree->shape->innerCount ? tree->shape->count[seat] : 1;
  memset(s->delta, 0, sizeof s->delta);
  memset(s->deltaHalf, 0, sizeof s->deltaHalf);
  for (uint32_t lane = 0; lane < count; ++lane) {
    pnSkinSpan m = pn_blendDeltas(tree, bound, first + lane);
    for (int k = 0; k < 3; ++k) {
      s->delta[k][lane] = m.mid[k];
      s->deltaHalf[k][lane] = m.half[k];
    }
  }
}

void pn_skinLanes(const pnTree *tree, const pnSkinBound *bound, uint32_t seat, float *outRows) {
  Seat s;
  if (bound->deltaFirst) {
    blendLanes(tree, bound, seat, &s);
    seatRows(bound, &s, seat, tree->slabs->count, true, outRows);
  } else if (tree->slabs->count == 3) {
    seatRows(bound, &s, seat, 3, false, outRows); /* boxes, straight */
  } else {
    seatRows(bound, &s, seat, tree->slabs->count, false, outRows);
  }
}
