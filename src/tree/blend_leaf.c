/* blend_leaf.c: what the targets do to the vertices of a leaf, side by side. See blend.h.
 *
 * A leaf that is reached computes its few vertices. Asked of the pose, each of them is somewhere else in memory, and
 * waiting for that memory is most of the time. So a tree keeps the targets of every leaf once more, in the order in which
 * the leaf lists its vertices: one run of memory for each leaf, 12 bytes for each of its vertices and each target that
 * moves some of them (references: each target; deltas: also for the rest positions).
 *
 * The bits are those of the pose: the same sum (mesh/vertex.h). For deltas the run has
 * zeros for vertices that a target does not list, and the pose adds nothing there. x + 0 is x for every x but -0, and a sum
 * of the pose is -0 only if the rest coordinate is; leaves that have such a vertex are left to the pose. */
#include "mesh/vertex.h"
#include "tree/blend.h"

/* Parts with a weight that one leaf may have; more than faces have, and 1.5 kB on the stack. */
#define MOST_PARTS 64u

/* ---------------------------------------------------------------- making */

bool pn_isLeftToPose(const pnShape *shape, uint32_t leaf) {
  if (shape->morph->positions) return false;
  for (uint32_t i = shape->leafVertexFirst[leaf]; i < shape->leafVertexFirst[leaf + 1]; ++i) {
    for (uint32_t k = 0; k < 3; ++k) {
      float x = shape->mesh->vertices[shape->leafVertices[i] + k];
      if (x == 0 && signbit(x)) return true;
    }
  }
  return false;
}

/* The targets that move something in a leaf, ascending, into `out` when it is not null; returns how many. `marks` has a
 * number for each target, of which none is leaf + 1 yet. */
static uint32_t listTargets(const pnTree *tree, uint32_t leaf, uint32_t *marks, uint32_t *out) {
  const pnMorph *morph = tree->pose->morph;
  uint32_t count = 0;
  for (uint32_t i = tree->shape->leafVertexFirst[leaf]; !morph->positions && i < tree->shape->leafVertexFirst[leaf + 1];
       i++) {
    uint32_t v = tree->shape->leafVertices[i] / 3;
    for (uint32_t e = morph->entryFirst[v]; e < morph->entryFirst[v + 1]; ++e) {
      count += marks[morph->entries[e].target] != leaf + 1;
      marks[morph->entries[e].target] = leaf + 1;
    }
  }
  count = morph->positions ? morph->targetCount : count;
  for (uint32_t t = 0, at = 0; out && t < morph->targetCount; ++t)
    if (morph->positions || marks[t] == leaf + 1) out[at++] = t;
  return count;
}

/* What target t has for vertex v; null when it does not move it. */
static const float *valueOf(const pnMorph *morph, uint32_t v, uint32_t t) {
  if (morph->positions) return morph->positions + 3 * ((size_t)v * morph->targetCount + t);
  for (uint32_t e = morph->entryFirst[v]; e < morph->entryFirst[v + 1]; ++e)
    if (morph->entries[e].target == t) return morph->entries[e].move;
  return NULL;
}

size_t pn_countLeaves(const pnTree *tree, uint32_t *termCounts, uint32_t *marks, uint64_t *outTerms) {
  size_t floats = 0;
  bool deltas = !tree->pose->morph->positions;
  *outTerms = 0;
  for (uint32_t leaf = 0; leaf < tree->shape->leafCount; ++leaf) {
    bool left = pn_isLeftToPose(tree->shape, leaf);
    termCounts[leaf] = left ? PN_NONE : listTargets(tree, leaf, marks, NULL);
    uint32_t terms = left ? 0 : termCounts[leaf];
    *outTerms += terms;
    floats += left ? 0
                   : 3 * (size_t)(tree->shape->leafVertexFirst[leaf + 1] - tree->shape->leafVertexFirst[leaf]) *
                         (terms + deltas);
  }
  return floats;
}

void pn_fillLeaves(const pnTree *tree, pnBlend *blend, const uint32_t *termCounts, uint32_t *marks) {
  const pnMorph *morph = tree->pose->morph;
  size_t at = 0;
  memset(marks, 0, morph->targetCount * sizeof(uint32_t));
  for (uint32_t leaf = 0; leaf < tree->shape->leafCount; ++leaf) {
    bool left = termCounts[leaf] == PN_NONE;
    uint32_t first = blend->leafTermFirst[leaf], terms = left ? 0 : termCounts[leaf];
    uint32_t begin = tree->shape->leafVertexFirst[leaf], end = tree->shape->leafVertexFirst[leaf + 1];
    blend->leafTermFirst[leaf + 1] = first + terms;
    blend->leafRowFirst[leaf] = left ? SIZE_MAX : at;
    if (left) continue;
    listTargets(tree, leaf, marks, blend->leafTarget + first);
    for (uint32_t t = morph->positions ? 0 : UINT32_MAX; t != terms; ++t) {
      for (uint32_t i = begin; i < end; ++i, at += 3) {
        const float *rest = tree->mesh->vertices + tree->shape->leafVertices[i];
        const float *value =
            t == UINT32_MAX ? rest : valueOf(morph, tree->shape->leafVertices[i] / 3, blend->leafTarget[first + t]);
        for (int k = 0; k < 3; ++k) blend->leafRows[at + (size_t)k] = value ? value[k] : 0;
      }
    }
  }
}

/* ---------------------------------------------------------------- a frame */

/* A run of vertices and its weight. */
typedef struct BlendPart {
  const float *row;
  pnF4 weight;
} BlendPart;

/* How a sum of parts becomes a vertex in the world. */
typedef enum BlendMotion { STAYS, SHIFTED, MOVED } BlendMotion;

/* Clears the fourth lane and moves a point. Without a turn that is ((1 x + 0 y) + 0 z) + t, which has the bits of x + t: the
 * zeros change only an x of -0, into another zero, and then t, which is not -0 (pn_aimLeaves), decides about the sign. */
PN_INLINE pnF4 place(const pnColumns *columns, pnF4 mask, BlendMotion motion, pnF4 p) {
  p = pn_f4And(p, mask);
  if (motion == STAYS) return p;
  return motion == SHIFTED ? pn_f4Add(p, columns->c[3]) : pn_movePoint(columns, p);
}

/* Sums `count` parts for n vertices and places them, four floats apart. base: where sums start, three floats apart, or null:
 * from -0. Written once; count and motion are constants where that pays. */
PN_INLINE void sumParts(const pnBlend *blend, const BlendPart *parts, uint32_t count, const float *base,
                        BlendMotion motion, uint32_t n, float *out) {
  const pnColumns columns = pn_loadColumns(blend->column);
  const pnF4 mask = pn_f4Load(blend->mask);
  for (uint32_t i = 0; i < n; ++i) {
    pnF4 sum = base ? pn_f4Load(base + 3 * (size_t)i) : pn_sumStart();
    for (uint32_t p = 0; p < count; ++p)
      sum = pn_addPart(sum, parts[p].weight, pn_f4Load(parts[p].row + 3 * (size_t)i));
    pn_f4Store(out + 4 * (size_t)i, place(&columns, mask, motion, sum));
  }
}

/* The common cases, straight: two or three references, or any number of deltas. */
static void sumLeaf(const pnBlend *blend, const BlendPart *parts, uint32_t count, const float *base, uint32_t n,
                    float *out) {
  switch (base ? 0u : 3 * count + blend->motion) {
    case 6: sumParts(blend, parts, 2, NULL, STAYS, n, out); break;
    case 7: sumParts(blend, parts, 2, NULL, SHIFTED, n, out); break;
    case 8: sumParts(blend, parts, 2, NULL, MOVED, n, out); break;
    case 9: sumParts(blend, parts, 3, NULL, STAYS, n, out); break;
    case 10: sumParts(blend, parts, 3, NULL, SHIFTED, n, out); break;
    case 11: sumParts(blend, parts, 3, NULL, MOVED, n, out); break;
    default: sumParts(blend, parts, count, base, (BlendMotion)blend->motion, n, out); break;
  }
}

void pn_aimLeaves(const pnPose *pose, bool turned, pnBlend *blend) {
  static const uint32_t three[4] = {~0u, ~0u, ~0u, 0};
  bool minus = false;
  memcpy(blend->mask, three, sizeof three);
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 3; ++i) blend->column[k][i] = pose->transform.m[i][k];
    blend->column[k][3] = 0;
  }
  for (int i = 0; i < 3; ++i) minus = minus || (pose->transform.m[i][3] == 0 && signbit(pose->transform.m[i][3]));
  blend->motion = !pose->hasTransform ? STAYS : turned || minus ? MOVED : SHIFTED;
}

/* The parts of a leaf of deltas; MOST_PARTS + 1 when there are more. */
static uint32_t listParts(const pnBlend *blend, const float *weights, uint32_t leaf, const float *rows, size_t step,
                          BlendPart *parts) {
  uint32_t count = 0, end = blend->leafTermFirst[leaf + 1];
  for (uint32_t t = blend->leafTermFirst[leaf]; t < end; ++t, rows += step) {
    float weight = weights[blend->leafTarget[t]];
    if (weight != 0 && count == MOST_PARTS) return MOST_PARTS + 1;
    if (weight != 0) parts[count++] = (BlendPart){rows, pn_f4Set1(weight)};
  }
  return count;
}

void pn_blendLeaf(pnTree *tree, const pnBlend *blend, uint32_t leaf) {
  const pnPose *pose = tree->pose;
  uint32_t begin = tree->shape->leafVertexFirst[leaf], n = tree->shape->leafVertexFirst[leaf + 1] - begin,
           count = MOST_PARTS + 1;
  size_t step = 3 * (size_t)n;
  BlendPart parts[MOST_PARTS];
  const float *base = NULL;
  if (blend->baseIngredient != PN_NONE && blend->leafRowFirst[leaf] != SIZE_MAX) {
    base = blend->leafRows + blend->leafRowFirst[leaf];
    count = listParts(blend, pose->weights, leaf, base + step, step, parts);
  } else if (blend->baseIngredient == PN_NONE && pose->activeCount <= MOST_PARTS) {
    /* every leaf has all references: where its rows are need not be looked up */
    const float *rows = blend->leafRows + 3 * (size_t)begin * pose->morph->targetCount;
    for (count = 0; count < pose->activeCount; ++count)
      parts[count] = (BlendPart){rows + step * pose->active[count].target, pn_f4Set1(pose->active[count].weight)};
  }
  if (count > MOST_PARTS) {
    pn_fetchBlock(tree, leaf);
    return;
  }
  sumLeaf(blend, parts, count, base, n, tree->leafPositions + 4 * (size_t)begin);
}
