/* fan.h: all triangles around a vertex at once: a proof that none of them meets another in more than they share.
 *
 * A self query has about six pairs of neighbours for every triangle, all of them close together, and nearly none meets
 * beyond the shared vertex or edge. Pair by pair (narrow_neighbours.c) they cost more than everything else. Around a
 * well-shaped vertex one look is enough:
 *
 * Let p_0, p_1, ... be the vertices around v in order, counted from v, so that the triangles are 0 p_i p_(i+1). Look along
 * a direction d. If every triangle is seen from the same side, det(d, p_i, p_(i+1)) > 0, then each fills a sector of an
 * angle between 0 and half a turn, none hides a part of itself, and the sectors follow one another counter-clockwise. If
 * together they turn less than once, or exactly once and end where they began, no two sectors overlap in more than the
 * ray between them. Points that are one point in space are one point in the picture: two triangles with only v in
 * common meet only in v, and two with an edge in common only in that edge.
 *
 * How often they turn: take a line through v in the picture. The sides on which p_0, p_1, ... lie change twice in a turn,
 * because no step is as long as half a turn. A closed fan whose sides change twice has turned once; in an open fan that
 * has turned once or more they have changed at least twice.
 *
 * Triangles with the same three vertices are copies, as those of the two sides of a sheet that is seen from both. They fill one sector, and what is
 * proved of one is proved of all; only pairs of copies are left, which meet all over.
 *
 * Whatever d and the line are, it is a proof; we take d along the sum of the normals, rounded to small whole numbers, so
 * that a vector across it is exact. Where signs are not certain or the proof fails (creases, cusps, folds), where triangles
 * around a vertex are not one fan, and where a seam has opened, the pairs around that vertex are tested one by one. A pair
 * belongs to the smallest (welded) vertex it shares, and is proved or tested there, once. */
#ifndef PN_COLLIDE_FAN_H
#define PN_COLLIDE_FAN_H

#include "collide/sight.h"

/* Fans with more vertices around than this are not proved: they are hubs (tree/hub.h), and swept (hub_sweep.h). */
#define PN_FAN_MOST 256u

/* Four fans of one shape, side by side. */
typedef struct pnFanGroup {
  uint32_t placeFirst; /* into places: four of the vertices in the middle, then four of each one around, in order */
  uint32_t seamFirst;  /* into seams, up to the next group's */
  uint32_t copyFirst;  /* and into copies */
  uint32_t vertex[4];  /* the welded vertices in the middle; the last one is repeated where there are fewer */
  uint16_t around;     /* vertices around; 0: not one fan, nothing can be proved */
  uint8_t lanes;       /* how many of the four count */
  bool closed;
} pnFanGroup;

/* A pair of copies that belongs to a fan. */
typedef struct pnCopyPair {
  uint32_t slot[2];
  uint32_t of; /* the lane */
} pnCopyPair;

/* Fans that are near each other in the tree. */
typedef struct pnFanBlock {
  uint32_t groupFirst; /* up to the next block's, as the others */
  uint32_t leafFirst;  /* into leaves: those with the triangles of these fans */
} pnFanBlock;

/* A part of the shape (PN_PART_FANS). Places are vertices in tree->leafPositions. */
typedef struct pnFans {
  uint32_t blockCount;
  pnFanBlock *blocks; /* blockCount + 1 */
  pnFanGroup *groups; /* and one more, which only ends a range */
  uint32_t *places;
  pnSeam *seams; /* `of`: the lane */
  pnCopyPair *copies;
  uint32_t *leaves;
  uint32_t *slotOf; /* triangle -> leaf * 8 + lane */
} pnFans;

/* Makes the fans of a tree's shape for self queries when it has none yet. PN_OK also where fans are of no use: soups, trees
 * with triangles in pieces or left out. */
pnResult pn_prepareFans(const pnTree *tree);
PN_INLINE const pnFans *pn_fansOf(const pnTree *tree) {
  return pn_partOf(tree->shape, PN_PART_FANS);
}

/* Which of four fans is not proved: bits. Their leaves must be fresh. */
unsigned pn_unsureFans(const pnTree *tree, const pnFans *fans, const pnFanGroup *group);

/* The smallest welded vertex two triangles share: that to which the pair belongs. */
uint32_t pn_smallestShared(const pnMesh *mesh, uint32_t s, uint32_t t);

/* Appends the pairs of slots around v that belong to v. False: out of memory. */
bool pn_listFan(const pnTree *tree, const pnFans *fans, uint32_t v, pnPairs *candidates);

#endif
