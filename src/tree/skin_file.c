/* skin_file.c: what bounds of skinned bodies keep (skin_bound.h) as bytes (part_file.h): eight lanes at once, or child by child.
 * What is read is checked until nobody who carries volumes along can leave the arrays. That the numbers are those of the skin is
 * for the checksum. */
#include "tree/part_file.h"
#include "tree/skin_bound.h"

#include <stddef.h>

_Static_assert(sizeof(pnSkinSpan) == 24 && sizeof(pnSkinDelta) == 28 && sizeof(pnSkinTerm) == 64 &&
                   sizeof(pnLanePair) == 360,
               "written as they are: no holes in them");

/* Are there ranges, each with something in it? */
static bool areFilled(const uint32_t *first, size_t count, size_t end) {
  bool fine = pn_areRanges(first, count, end);
  for (size_t i = 0; fine && i < count; ++i) fine = first[i] < first[i + 1];
  return fine;
}

/* ---------------------------------------------------------------- what morph targets add */

static void measureDeltas(const pnShape *shape, const pnSkinBound *bound, size_t *outFirst, size_t *outDeltas) {
  *outFirst = bound->deltaFirst ? (size_t)shape->nodeCount + 1 : 0;
  *outDeltas = bound->deltaFirst ? bound->deltaFirst[shape->nodeCount] : 0;
}

static bool checkDeltas(const pnShape *shape, const pnSkinBound *bound, size_t first, size_t deltas) {
  if (!shape->morph) return first == 0 && deltas == 0;
  bool fine = first == (size_t)shape->nodeCount + 1 && pn_areRanges(bound->deltaFirst, shape->nodeCount, deltas);
  for (size_t i = 0; fine && i < deltas; ++i)
    fine = bound->deltas[i].target < shape->morph->targetCount && pn_areFinite(bound->deltas[i].span.mid, 6);
  return fine;
}

/* ---------------------------------------------------------------- eight lanes */

enum { LANE_FIRST, LANE_JOINTS, LANE_ROWS, PAIR_FIRST, PAIRS, LANE_DELTA_FIRST, LANE_DELTAS, LANE_ARRAYS };

static void measureLanes(const pnShape *shape, const void *part, size_t *outCounts) {
  const pnSkinBound *bound = part;
  const pnSkinLanes *lanes = &bound->lanes;
  size_t seats = (size_t)shape->innerCount + 1;
  outCounts[LANE_FIRST] = outCounts[PAIR_FIRST] = seats + 1;
  outCounts[LANE_JOINTS] = lanes->termFirst[seats];
  outCounts[LANE_ROWS] = lanes->termFirst[seats] * pn_termFloats(lanes);
  outCounts[PAIRS] = lanes->pairFirst[seats];
  measureDeltas(shape, bound, &outCounts[LANE_DELTA_FIRST], &outCounts[LANE_DELTAS]);
}

/* Numbers, and in the last row masks. */
static bool checkRows(const pnSkinLanes *lanes, size_t terms) {
  size_t floats = pn_termFloats(lanes);
  bool fine = true;
  for (size_t i = 0; fine && i < terms; ++i) {
    const float *rows = lanes->termRows + i * floats;
    uint32_t mask[PN_LANES];
    memcpy(mask, rows + floats - PN_LANES, sizeof mask);
    fine = pn_areFinite(rows, floats - PN_LANES);
    for (uint32_t j = 0; fine && j < PN_LANES; ++j) fine = mask[j] == 0 || mask[j] == 0xffffffffu;
  }
  return fine;
}

static bool checkPairs(const pnSkinLanes *lanes, size_t pairs, uint32_t joints) {
  bool fine = true;
  for (size_t i = 0; fine && i < pairs; ++i) {
    const pnLanePair *p = &lanes->pairs[i];
    fine = p->a < joints && p->b < joints && pn_areFinite(&p->centre[0][0], 11 * PN_LANES);
  }
  return fine;
}

static bool checkLanes(const pnShape *shape, void *part, const size_t *counts) {
  pnSkinBound *bound = part;
  pnSkinLanes *lanes = &bound->lanes;
  size_t seats = (size_t)shape->innerCount + 1, terms = counts[LANE_JOINTS];
  lanes->set = pn_skinSet(shape);
  bound->deltaFirst = shape->morph ? bound->deltaFirst : NULL;
  return counts[LANE_FIRST] == seats + 1 && counts[PAIR_FIRST] == seats + 1 &&
         counts[LANE_ROWS] == terms * pn_termFloats(lanes) && areFilled(lanes->termFirst, seats, terms) &&
         pn_areBelow(lanes->termJoint, terms, shape->skin->jointCount) && checkRows(lanes, terms) &&
         pn_areRanges(lanes->pairFirst, seats, counts[PAIRS]) &&
         checkPairs(lanes, counts[PAIRS], shape->skin->jointCount) &&
         checkDeltas(shape, bound, counts[LANE_DELTA_FIRST], counts[LANE_DELTAS]);
}

static const pnPartForm s_lanes = {.name = "joints of nodes",
                                   .headBytes = sizeof(pnSkinBound),
                                   .arrayCount = LANE_ARRAYS,
                                   .array = {{offsetof(pnSkinBound, lanes.termFirst), sizeof(uint32_t), NULL},
                                             {offsetof(pnSkinBound, lanes.termJoint), sizeof(uint32_t), NULL},
                                             {offsetof(pnSkinBound, lanes.termRows), sizeof(float), NULL},
                                             {offsetof(pnSkinBound, lanes.pairFirst), sizeof(uint32_t), NULL},
                                             {offsetof(pnSkinBound, lanes.pairs), sizeof(pnLanePair), NULL},
                                             {offsetof(pnSkinBound, deltaFirst), sizeof(uint32_t), NULL},
                                             {offsetof(pnSkinBound, deltas), sizeof(pnSkinDelta), NULL}},
                                   .measure = measureLanes,
                                   .check = checkLanes};

/* ---------------------------------------------------------------- child by child */

enum { SPANS, TERM_FIRST, TERMS, DELTA_FIRST, DELTAS, ARRAYS };

static void measureTerms(const pnShape *shape, const void *part, size_t *outCounts) {
  const pnSkinBound *bound = part;
  outCounts[SPANS] = shape->nodeCount;
  outCounts[TERM_FIRST] = (size_t)shape->nodeCount + 1;
  outCounts[TERMS] = bound->termFirst[shape->nodeCount];
  measureDeltas(shape, bound, &outCounts[DELTA_FIRST], &outCounts[DELTAS]);
}

static bool checkTerms(const pnShape *shape, void *part, const size_t *counts) {
  pnSkinBound *bound = part;
  bound->groupCount = pn_skinGroups(shape);
  bound->deltaFirst = shape->morph ? bound->deltaFirst : NULL;
  bool fine = counts[SPANS] == shape->nodeCount && counts[TERM_FIRST] == (size_t)shape->nodeCount + 1 &&
              areFilled(bound->termFirst, shape->nodeCount, counts[TERMS]) &&
              pn_areFinite(bound->spans[0].mid, 6 * counts[SPANS]);
  for (size_t i = 0; fine && i < counts[TERMS]; ++i) {
    const pnSkinTerm *term = &bound->terms[i];
    fine = term->joint < shape->skin->jointCount && pn_areFinite(&term->weight, 3) &&
           pn_areFinite(term->moves.mid, 6) && pn_areFinite(term->change.mid, 6);
  }
  return fine && checkDeltas(shape, bound, counts[DELTA_FIRST], counts[DELTAS]);
}

static const pnPartForm s_terms = {.name = "joints of nodes",
                                   .headBytes = sizeof(pnSkinBound),
                                   .arrayCount = ARRAYS,
                                   .array = {{offsetof(pnSkinBound, spans), sizeof(pnSkinSpan), NULL},
                                             {offsetof(pnSkinBound, termFirst), sizeof(uint32_t), NULL},
                                             {offsetof(pnSkinBound, terms), sizeof(pnSkinTerm), NULL},
                                             {offsetof(pnSkinBound, deltaFirst), sizeof(uint32_t), NULL},
                                             {offsetof(pnSkinBound, deltas), sizeof(pnSkinDelta), NULL}},
                                   .measure = measureTerms,
                                   .check = checkTerms};

const pnPartForm *pn_skinForm(const pnShape *shape) {
  return pn_skinSet(shape) ? &s_lanes : &s_terms;
}
