/* calm.h: pairs of patches of a morphing mesh of which the weights alone prove that they do not meet.
 *
 * A self query finds neighbouring patches close to each other everywhere, and so computes every vertex of a body that
 * nothing touches. For deltas there is a proof that needs none. The idea is not in [Larsson03], which leaves self-collision
 * out.
 *
 * Let x and y be points of the surface at rest, g(x) = sum w_t d_t(x) what the weights do to x (linear on each triangle;
 * w_t is counted from the rest weight), and suppose that
 *
 *     -down_t |x - y|^2  <=  (d_t(x) - d_t(y)).(x - y)  <=  up_t |x - y|^2        for all x in patch A and y in patch B:
 *
 * target t brings the two together by at most down_t of their distance, or up_t when its weight is negative. Then
 *
 *     |(x + g(x)) - (y + g(y))| |x - y|  >=  ((x + g(x)) - (y + g(y))).(x - y)  >=  (1 - L) |x - y|^2,
 *     L = sum of w_t down_t over w_t > 0 and of |w_t| up_t over w_t < 0,
 *
 * and while L < 1 two points that were apart stay apart. If no two triangles of A and B met at rest in more than the
 * vertices and edges they share, none do now: a pair of patches with L < 1 is *calm*, and nothing below it is looked at.
 * No condition on contours or topology is needed, as tests by curvature have it [Volino94].
 *
 * Rounding. The float vertices in the world are M (x + g(x)) + e(x), with M the transform and |e| <= eps at every vertex.
 * A unit of such noise brings a pair together by at most some K (it depends on the heights of its triangles and on distances),
 * and M shrinks no length by more than 2e-4 (pnPose_SetTransform allows 1e-4 in R R^T): a pair is taken as calm when
 * L + 1.02 K eps < 0.99.
 *
 * These numbers are found once, at the first self query of a tree with pnTreeDef.calm, for all pairs of nodes that are near
 * each other at rest (calm_make.c, calm_bound.c); pairs that meet at rest, degenerate triangles, and seams whose two
 * sides have different deltas get K = infinity and are never calm. In a frame, the pairs are looked at from the root
 * down to those that are calm (calm.c): as many numbers as targets, for eight pairs at a time. Children of a pair that are far from
 * each other at rest have no pair of their own; what could happen to any of them is one more lane beside those of the near
 * ones. While that lane is calm, all that can meet is in pairs of leaves that the walk has found, and no tree needs to
 * be walked for it; else a traversal begins at that pair. */
#ifndef PN_COLLIDE_CALM_H
#define PN_COLLIDE_CALM_H

#include "collide/narrow.h"
#include "tree/update.h"

/* How much a target brings a pair together, at positive and at negative weights. */
typedef struct pnStretch {
  double down, up;
} pnStretch;

/* How much a target brings eight pairs together: down and up, the upper halves of the floats, rounded up. */
typedef struct pnCalmRow {
  uint16_t toward[2][PN_LANES];
  uint16_t target;
} pnCalmRow;

/* Up to eight children of a pair, side by side. */
typedef struct pnCalmBlock {
  float noise[PN_LANES]; /* K of each; 0 in lanes without a pair */
  uint32_t rowFirst;     /* up to the next block's: the targets that do something to one of them */
} pnCalmBlock;

/* How far the weight of a target is from its rest weight, and whether it is below. */
typedef struct pnCalmChange {
  float size;
  uint32_t below;
} pnCalmChange;

/* A pair of nodes a <= b that are near each other at rest. Pairs are in breadth-first order: the root's own pair first, the
 * children of a pair side by side. */
typedef struct pnCalmPair {
  uint32_t a, b;
  uint32_t childFirst; /* up to the next pair's */
  uint32_t blockFirst; /* of its children, eight each */
  bool hasFar;   /* after its children there is a lane for pairs of children that are far from each other at rest */
  uint32_t link; /* both leaves: their place in tree->links, PN_NONE when they share nothing */
} pnCalmPair;

/* Neighbouring leaves that are not calm. */
typedef struct pnRestless {
  uint32_t leaf, link;
} pnRestless;

/* A part of the shape (PN_PART_CALM). */
typedef struct pnCalm {
  uint32_t pairCount, blockCount, rowCount;
  pnCalmPair *pairs;   /* pairCount + 1: the last one only ends the ranges, as in blocks */
  pnCalmBlock *blocks; /* the last one is that of the root's own pair */
  pnCalmRow *rows;
  uint32_t *pairFirst; /* by node a: its pairs in `byNode`; nodeCount + 1 */
  pnPair *byNode;      /* pairs by node a: node b, and the pair's number */
} pnCalm;

/* Which are calm in this frame: the tree's own, one block. */
typedef struct pnCalmFrame {
  const pnCalm *calm;
  uint64_t frame; /* of the pose; 0: none yet */
  bool *isCalm;   /* by pair; valid for those whose parent is not calm */
  pnRestless *restless;
  uint32_t restlessCount;
  /* neighbouring leaves without a pair: welded, and far from each other where rest weights put them. Constant */
  pnRestless *strays;
  uint32_t strayCount;
  uint32_t *queue; /* scratch of the walk */
  bool *isCovered; /* by pair: a seed above it has all that is below */
  pnPair *seeds;   /* pairs of nodes from which to look: all that may meet is below them */
  uint32_t seedCount;
  pnCalmChange *change; /* by target */
} pnCalmFrame;

/* Does a shape ask for the pairs, and are they of use with its targets and volumes? */
bool pn_canBeCalm(const pnShape *shape);
/* And are the pairs at rest (rest.h) wanted, to make them? */
PN_INLINE bool pn_needsRest(const pnShape *shape) {
  return pn_canBeCalm(shape) && !pn_partOf(shape, PN_PART_CALM);
}
/* Makes the pairs when the tree asks for them and has none yet; the pairs at rest must be there. PN_OK also when there is nothing to
 * make. */
pnResult pn_prepareCalm(pnTree *tree);

/* ---------------------------------------------------------------- calm_bound.c: two triangles */

/* A triangle at rest, in double. */
typedef struct pnCalmTriangle {
  double v[3][3];
  double slope[3][3]; /* gradients of the three corner functions, in its plane: 1 at a corner, 0 on the edge opposite */
  double steepness;   /* the sum of their lengths: what unit noise at the corners can do */
  bool flat;          /* zero area, or nearly */
} pnCalmTriangle;

void pn_calmTriangle(const float *a, const float *b, const float *c, pnCalmTriangle *out);

/* What two triangles have in common, worked out once for all targets. */
typedef struct pnCalmMeeting {
  uint32_t shared;  /* 0, 1 or 2 corners */
  uint8_t at[2][3]; /* corners of each: the shared ones first, in the same order, then the others */
  double distance;  /* none shared */
  double openness;  /* shared: 1 - cos of the angle between them where they are shared, at most 1 */
  double noise;     /* K; infinite when nothing can be proved */
} pnCalmMeeting;

void pn_calmMeeting(const pnCalmTriangle *s, const pnCalmTriangle *t, uint32_t shared, const uint8_t atS[3],
                    const uint8_t atT[3], pnCalmMeeting *out);

/* By how much deltas at the corners (3 of s, 3 of t) bring the pair together, at most. An answer that is not above `enough`
 * need not be a good one. */
pnStretch pn_calmStretch(const pnCalmTriangle *s, const pnCalmTriangle *t, const pnCalmMeeting *meeting,
                         double deltas[6][3], double enough);

/* The same for two groups of triangles with a gap between them: the first countA and the others. */
pnStretch pn_calmStretchFar(const pnCalmTriangle *const *triangles, uint32_t countA, uint32_t count,
                            double (*deltas)[3], double gap, double enough);

/* How far a float vertex in the world can be from where real numbers would put it, as a length. With u = 2^-24, m weights
 * and g(k) = k u / (1 - k u): the pose's sum is off by g(m + 2) reach in each coordinate, and so is that of the rest pose
 * from which weights are counted; the transform's by 4u (3 reach + shift); and a length is at most sqrt(3) times a
 * coordinate. 1.001 for the stretch of the transform. */
double pn_calmNoise(const pnPose *pose);

#endif
