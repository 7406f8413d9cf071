/* skin_bound.c: see skin_bound.h. The bounds of a frame, child by child: balls and weighted joints; skin_lanes.c has the
 * others. */
#include "tree/skin_bound.h"

#include "geom/sphere.h"

#include <float.h>

/* ---------------------------------------------------------------- joints of a frame */

/* A length rounded up to float: the double is good to 1e-15. */
static float lengthUp(double square) {
  return (float)(sqrt(square) * (1 + 0x1p-22)) + FLT_MIN;
}

/* T times the map of a joint, and the reach of each coordinate, in double. */
static pnAffine worldMap(const pnPose *pose, const pnJointMove *move, uint32_t joint, double reach, double size[3]) {
  double local[3];
  pn_jointReach(pose->skin, move, joint, reach, local);
  pnAffine out;
  for (int row = 0; row < 3; ++row) {
    const float *t = pose->transform.m[row];
    size[row] = fabs((double)t[3]);
    for (int i = 0; i < 3; ++i) size[row] += fabs((double)t[i]) * local[i];
    for (int k = 0; k < 4; ++k) {
      double sum = k == 3 ? (double)t[3] : 0;
      for (int i = 0; i < 3; ++i) sum += (double)t[i] * (double)move->column[k][i];
      out.m[row][k] = pose->hasTransform ? sum : (double)move->column[k][row];
    }
  }
  return out;
}

/* Rows along a direction of the volume. */
static void putRow(pnSkinJoint *joint, uint32_t at, const int8_t dir[3], const pnAffine *map, const double size[3]) {
  double square = 0, reach = 0;
  for (int k = 0; k < 4; ++k) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += dir[i] * map->m[i][k];
    joint->column[at / 4][k][at % 4] = (float)sum;
    square += k < 3 ? sum * sum : 0;
  }
  for (int i = 0; i < 3; ++i) reach += dir[i] ? size[i] : 0;
  joint->norm[at / 4][at % 4] = lengthUp(square);
  joint->size[at / 4][at % 4] = (float)(reach * (1 + 0x1p-22)) + FLT_MIN;
}

/* The norm of a matrix is at most the root of the largest row sum of its square. */
static float stretchOf(const pnAffine *map) {
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    double row = 0;
    for (int j = 0; j < 3; ++j)
      row += fabs(map->m[0][i] * map->m[0][j] + map->m[1][i] * map->m[1][j] + map->m[2][i] * map->m[2][j]);
    most = fmax(most, row);
  }
  return lengthUp(most);
}

/* Margins, and for references what their weights' sum is off by. Returns R. */
static double beginMargins(const pnPose *pose, pnSkinBound *bound) {
  double reach = (double)pose->skinMaxAbs, active = 0;
  bound->deltaSlack = 0;
  if (pose->morph) {
    active = pose->activeCount;
    if (pose->morph->mode == PN_MORPH_REFERENCES) {
      /* differences to the rest position add it twice; the sum of the weights is within 1e-4 of 1 */
      double sum = 0;
      for (uint32_t i = 0; i < pose->activeCount; ++i) sum += (double)pose->active[i].weight;
      reach += 3 * (double)pose->mesh->maxAbs;
      bound->deltaSlack = (float)(fabs(sum - 1) * (double)pose->mesh->maxAbs * (1 + 0x1p-20)) + FLT_MIN;
    }
  }
  bool weighted = pose->skin->mode == PN_SKIN_WEIGHTED;
  bound->unit[0] = (float)(((weighted ? PN_SKIN_WEIGHTED_UNITS : PN_SKIN_UNITS) + 4 * active) * 0x1p-24);
  bound->unit[1] = (float)(PN_SKIN_TERM_UNITS * 0x1p-24);
  return fmax(reach, 0x1p-120);
}

void pn_beginSkinBound(const pnTree *tree, pnSkinBound *bound) {
  const pnPose *pose = tree->pose;
  const pnSlabSet *set = tree->slabs ? tree->slabs : &pn_slabBox;
  double reach = beginMargins(pose, bound);
  if (bound->lanes.set) {
    pn_beginSkinLanes(tree, bound, (float)reach);
    return;
  }
  bound->farthest = 0;
  for (uint32_t j = 0; j < pose->skin->jointCount; ++j) {
    pnSkinJoint *joint = &bound->joints[j];
    double size[3];
    pnAffine map = worldMap(pose, &pose->moves[j], j, reach, size);
    for (uint32_t d = 0; d < set->count; ++d) putRow(joint, d < 3 ? d : d + 1, set->dir[d], &map, size);
    bound->farthest = PN_MAX(bound->farthest, PN_MAX(joint->size[0][0], PN_MAX(joint->size[0][1], joint->size[0][2])));
    if (!tree->slabs) {
      joint->stretch = stretchOf(&map);
      joint->sizeSum = (joint->size[0][0] + joint->size[0][1] + joint->size[0][2]) * PN_SPHERE_GROW;
    }
  }
}

/* ---------------------------------------------------------------- morph targets below a skin */

pnSkinSpan pn_blendDeltas(const pnTree *tree, const pnSkinBound *bound, uint32_t node) {
  pnSkinSpan sum = {{0}, {0}};
  if (!bound->deltaFirst) return sum;
  for (uint32_t i = bound->deltaFirst[node]; i < bound->deltaFirst[node + 1]; ++i) {
    const pnSkinDelta *delta = &bound->deltas[i];
    float w = tree->pose->weights[delta->target], size = fabsf(w);
    for (int k = 0; w != 0 && k < 3; ++k) {
      sum.mid[k] += w * delta->span.mid[k];
      sum.half[k] += size * delta->span.half[k];
    }
  }
  for (int k = 0; k < 3; ++k) sum.half[k] += bound->deltaSlack;
  return sum;
}

/* p + m, of a term or node. */
PN_INLINE pnSkinSpan addDeltas(const pnSkinSpan *span, const pnSkinSpan *m) {
  pnSkinSpan out;
  for (int k = 0; k < 3; ++k) {
    out.mid[k] = span->mid[k] + m->mid[k];
    out.half[k] = span->half[k] + m->half[k];
  }
  return out;
}

/* ---------------------------------------------------------------- the terms of a node */

typedef struct Columns {
  pnF4 c[4];
} Columns;

PN_INLINE Columns load(const pnSkinJoint *joint, uint32_t group) {
  const float *column = &joint->column[group][0][0];
  return (Columns){{pn_f4Load(column), pn_f4Load(column + 4), pn_f4Load(column + 8), pn_f4Load(column + 12)}};
}

PN_INLINE pnF4 turned(const Columns *m, const float *p) {
  pnF4 sum = pn_f4Add(pn_f4Mul(m->c[0], pn_f4Set1(p[0])), pn_f4Mul(m->c[1], pn_f4Set1(p[1])));
  return pn_f4Add(sum, pn_f4Mul(m->c[2], pn_f4Set1(p[2])));
}

PN_INLINE pnF4 halfOf(const Columns *m, const float *half) {
  pnF4 sum = pn_f4Add(pn_f4Mul(pn_f4Abs(m->c[0]), pn_f4Set1(half[0])), pn_f4Mul(pn_f4Abs(m->c[1]), pn_f4Set1(half[1])));
  return pn_f4Add(sum, pn_f4Mul(pn_f4Abs(m->c[2]), pn_f4Set1(half[2])));
}

/* The terms of a node in a frame. */
typedef struct Node {
  const pnSkinTerm *terms;
  uint32_t count;
  pnSkinSpan span;  /* of all p */
  pnSkinSpan delta; /* of what morph targets add to them */
  bool morphs;
} Node;

static Node nodeOf(const pnTree *tree, const pnSkinBound *bound, uint32_t node) {
  Node n = {.terms = bound->terms + bound->termFirst[node],
            .count = bound->termFirst[node + 1] - bound->termFirst[node],
            .span = bound->spans[node],
            .morphs = bound->deltaFirst != NULL};
  if (n.morphs) n.delta = pn_blendDeltas(tree, bound, node);
  return n;
}

/* ---------------------------------------------------------------- weighted joints */

/* A term moved by its middle weight: a rotation about the pivot, then a shift; and what other weights add. */
typedef struct Arc {
  float turn[3][3]; /* columns */
  float mid[3];     /* the moved middle, before the joints above */
  pnSkinSpan p;
  float widen; /* radius of a ball to add, before the joints above */
} Arc;

/* 2 sin(half the angle between two rotations given by unit quaternions) is the largest chord. */
static float chordOf(const float *a, const float *b) {
  float x = a[3] * b[0] - a[0] * b[3] - (a[1] * b[2] - a[2] * b[1]);
  float y = a[3] * b[1] - a[1] * b[3] - (a[2] * b[0] - a[0] * b[2]);
  float z = a[3] * b[2] - a[2] * b[3] - (a[0] * b[1] - a[1] * b[0]);
  return 2 * sqrtf(x * x + y * y + z * z);
}

static Arc arcOf(const pnPose *pose, const Node *n, const pnSkinTerm *term) {
  const pnJointMove *move = &pose->moves[term->joint];
  const pnVec3 *pivot = &pose->skin->pivots[term->joint];
  const float c[3] = {pivot->x, pivot->y, pivot->z};
  Arc arc = {.p = n->morphs ? addDeltas(&term->moves, &n->delta) : term->moves};
  float q[4], end[4], chord = 0, w = term->weight;
  pn_partTurn(move->turn, w, q);
  for (int side = -1; side <= 1; side += 2) {
    float at = w + (float)side * term->weightHalf;
    pn_partTurn(move->turn, PN_MAX(0.0f, PN_MIN(1.0f, at)), end);
    chord = PN_MAX(chord, chordOf(q, end));
  }
  float xx = q[0] * q[0], yy = q[1] * q[1], zz = q[2] * q[2], xy = q[0] * q[1], yz = q[1] * q[2], zx = q[2] * q[0];
  float xw = q[0] * q[3], yw = q[1] * q[3], zw = q[2] * q[3];
  float r[3][3] = {{1 - 2 * (yy + zz), 2 * (xy + zw), 2 * (zx - yw)},
                   {2 * (xy - zw), 1 - 2 * (zz + xx), 2 * (yz + xw)},
                   {2 * (zx + yw), 2 * (yz - xw), 1 - 2 * (xx + yy)}};
  memcpy(arc.turn, r, sizeof r);
  float away = term->away, slide = 0;
  for (int k = 0; k < 3; ++k) {
    float d[3] = {arc.p.mid[0] - c[0], arc.p.mid[1] - c[1], arc.p.mid[2] - c[2]};
    arc.mid[k] = r[0][k] * d[0] + r[1][k] * d[1] + r[2][k] * d[2] + c[k] + w * move->slide[k];
    away += n->morphs ? fabsf(n->delta.mid[k]) + n->delta.half[k] : 0;
    slide += fabsf(move->slide[k]);
  }
  arc.widen = (chord * away + term->weightHalf * slide) * PN_SPHERE_GROW;
  return arc;
}

static void weightedSlabs(const pnPose *pose, const pnSkinBound *bound, const Node *n, uint32_t group, pnF4 *outLo,
                          pnF4 *outHi) {
  pnF4 lo = pn_f4Set1(FLT_MAX), hi = pn_f4Set1(-FLT_MAX), size = pn_f4Set1(0);
  for (uint32_t i = 0; i < n->count; ++i) {
    const pnSkinJoint *joint = &bound->joints[n->terms[i].joint];
    Arc arc = arcOf(pose, n, &n->terms[i]);
    Columns above = load(joint, group), own;
    for (int k = 0; k < 3; ++k) own.c[k] = turned(&above, arc.turn[k]);
    pnF4 mid = pn_f4Add(turned(&above, arc.mid), above.c[3]);
    pnF4 half = pn_f4Add(halfOf(&own, arc.p.half), pn_f4Mul(pn_f4Load(joint->norm[group]), pn_f4Set1(arc.widen)));
    lo = pn_f4Min(lo, pn_f4Sub(mid, half));
    hi = pn_f4Max(hi, pn_f4Add(mid, half));
    size = pn_f4Max(size, pn_f4Load(joint->size[group]));
  }
  pnF4 margin = pn_f4Add(pn_f4Mul(size, pn_f4Set1(bound->unit[0])), pn_f4Set1(FLT_MIN));
  *outLo = pn_f4Sub(lo, margin);
  *outHi = pn_f4Add(hi, margin);
}

/* Child by child into rows. */
static void weightedRows(const pnTree *tree, const pnSkinBound *bound, uint32_t seat, float *outRows) {
  uint32_t first = seat < tree->shape->innerCount ? tree->shape->first[seat] : 0;
  uint32_t count = seat < tree->shape->innerCount ? tree->shape->count[seat] : 1;
  memset(outRows, 0, 2 * tree->slabs->count * PN_LANES * sizeof(float));
  for (uint32_t j = 0; j < count; ++j) {
    Node n = nodeOf(tree, bound, first + j);
    for (uint32_t g = 0; g < bound->groupCount; ++g) {
      pnF4 lo, hi;
      float out[2][4];
      weightedSlabs(tree->pose, bound, &n, g, &lo, &hi);
      pn_f4Store(out[0], lo);
      pn_f4Store(out[1], hi);
      /* the fourth of the first group is empty */
      for (uint32_t i = 0, d = g ? 4 * g - 1 : 0; i < (g ? 4u : 3u) && d < tree->slabs->count; ++i, ++d) {
        outRows[2 * d * PN_LANES + j] = out[0][i];
        outRows[(2 * d + 1) * PN_LANES + j] = out[1][i];
      }
    }
  }
}

void pn_skinRows(const pnTree *tree, const pnSkinBound *bound, uint32_t seat, float *outRows) {
  if (bound->lanes.set) pn_skinLanes(tree, bound, seat, outRows);
  else weightedRows(tree, bound, seat, outRows);
}

/* ---------------------------------------------------------------- balls */

static float lengthOf(const float *v) {
  return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * PN_SPHERE_GROW + PN_SPHERE_TINY;
}

static void storeMoved(pnF4 p, float out[3]) {
  float at[4];
  pn_f4Store(at, p);
  memcpy(out, at, 3 * sizeof(float));
}

/* The ball around what each joint makes of the ball it moves. */
static float hullBall(const pnPose *pose, const pnSkinBound *bound, const Node *n, float outCentre[3]) {
  float radius = 0, size = 0, added = n->morphs ? lengthOf(n->delta.half) : 0;
  for (uint32_t i = 0; i < n->count; ++i) {
    const pnSkinTerm *term = &n->terms[i];
    const pnSkinJoint *joint = &bound->joints[term->joint];
    Columns m = load(joint, 0);
    float centre[3], r = term->moves.half[0] + added;
    if (pose->skin->mode == PN_SKIN_LINEAR) {
      pnSkinSpan p = n->morphs ? addDeltas(&term->moves, &n->delta) : term->moves;
      storeMoved(pn_f4Add(turned(&m, p.mid), m.c[3]), centre);
    } else {
      Arc arc = arcOf(pose, n, term);
      storeMoved(pn_f4Add(turned(&m, arc.mid), m.c[3]), centre);
      r += arc.widen;
    }
    r *= joint->stretch * PN_SPHERE_GROW;
    r = r >= 0 ? r : INFINITY; /* zero times infinite */
    size = PN_MAX(size, joint->sizeSum);
    if (i == 0) {
      memcpy(outCentre, centre, sizeof centre);
      radius = r;
    } else {
      pn_sphereMerge(outCentre, &radius, centre, r);
    }
  }
  return (radius + size * bound->unit[0]) * PN_SPHERE_GROW + FLT_MIN;
}

/* The change bound; the norm of a difference is at most the root of the sum of its squares. */
static float changeBall(const pnSkinBound *bound, const Node *n, float outCentre[3]) {
  const pnSkinJoint *main = &bound->joints[n->terms[0].joint];
  Columns a = load(main, 0);
  pnF4 mid = pn_f4Add(turned(&a, n->span.mid), a.c[3]);
  float added = n->morphs ? lengthOf(n->delta.half) : 0, size = main->sizeSum;
  float radius = main->stretch * (n->span.half[0] + added);
  if (n->morphs) mid = pn_f4Add(mid, turned(&a, n->delta.mid));
  for (uint32_t i = 1; i < n->count; ++i) {
    const pnSkinTerm *term = &n->terms[i];
    const pnSkinJoint *joint = &bound->joints[term->joint];
    Columns b = load(joint, 0);
    float d[4][4], square = 0, moved[3];
    for (int k = 0; k < 4; ++k) {
      b.c[k] = pn_f4Sub(b.c[k], a.c[k]);
      pn_f4Store(d[k], b.c[k]);
      square += k < 3 ? d[k][0] * d[k][0] + d[k][1] * d[k][1] + d[k][2] * d[k][2] : 0;
    }
    pnF4 change = pn_f4Add(turned(&b, n->span.mid), b.c[3]);
    storeMoved(change, moved);
    pnSkinSpan x = term->change;
    float r = x.half[0];
    if (n->morphs) {
      /* w m, with w within weightHalf of weight and m within half of mid */
      pnSkinSpan more;
      for (int k = 0; k < 3; ++k) {
        float size = fabsf(n->delta.mid[k]);
        more.mid[k] = term->weight * n->delta.mid[k];
        more.half[k] = (term->weight + term->weightHalf) * n->delta.half[k] + term->weightHalf * size;
      }
      r += lengthOf(more.half);
      x = addDeltas(&x, &more);
    }
    mid = pn_f4Add(mid, pn_f4Add(pn_f4Mul(change, pn_f4Set1(term->weight)), turned(&b, x.mid)));
    radius += term->weightHalf * lengthOf(moved) + (sqrtf(square) * PN_SPHERE_GROW + PN_SPHERE_TINY) * r;
    size = PN_MAX(size, joint->sizeSum);
  }
  storeMoved(mid, outCentre);
  return (radius * PN_SPHERE_GROW + size * (bound->unit[0] + (float)n->count * bound->unit[1])) * PN_SPHERE_GROW +
         FLT_MIN;
}

void pn_skinBall(const pnTree *tree, const pnSkinBound *bound, uint32_t node, float outCentre[3], float *outRadius) {
  Node n = nodeOf(tree, bound, node);
  *outRadius = hullBall(tree->pose, bound, &n, outCentre);
  if (tree->pose->skin->mode == PN_SKIN_LINEAR && n.count > 1 && n.count <= PN_CHANGE_TERMS) {
    float centre[3], radius = changeBall(bound, &n, centre);
    bool finite = fabsf(centre[0]) <= FLT_MAX && fabsf(centre[1]) <= FLT_MAX && fabsf(centre[2]) <= FLT_MAX;
    if (finite && radius < *outRadius) {
      memcpy(outCentre, centre, sizeof centre);
      *outRadius = radius;
    }
  }
}

/* ---------------------------------------------------------------- life */

const pnSlabSet *pn_skinSet(const pnShape *shape) {
  const pnSlabSet *set = shape->skin->mode == PN_SKIN_LINEAR ? pn_formOf(shape->def.form)->slabs : NULL;
  return set == &pn_slabBox ? &pn_slabDop18 : set;
}

uint32_t pn_skinGroups(const pnShape *shape) {
  const pnSlabSet *set = pn_formOf(shape->def.form)->slabs;
  return 1 + ((set ? set : &pn_slabBox)->count - 3 + 3) / 4;
}

/* The constants of a shape, one block that begins with a pnSkinBound. */
static pnResult makeBound(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  return pn_skinSet(tree->shape) ? pn_makeSkinLanes(tree, outData, outBytes)
                                 : pn_makeSkinTerms(tree, outData, outBytes);
}

pnResult pn_makeSkinBound(pnTree *tree) {
  void *own;
  pnResult result = pn_makePart(tree->shape, PN_PART_RULE, makeBound, tree);
  if (result != PN_OK) return result;
  const pnSkinBound *bound = pn_partOf(tree->shape, PN_PART_RULE);
  bool lanes = bound->lanes.set != NULL;
  result = pn_copyRuleHead(tree, sizeof *bound, tree->pose->skin->jointCount,
                           lanes ? sizeof(pnLaneJoint) : sizeof(pnSkinJoint), &own);
  if (result == PN_OK) {
    pnSkinBound *kept = tree->ruleData;
    kept->joints = lanes ? NULL : own;
    kept->lanes.joints = lanes ? own : NULL;
  }
  return result;
}
