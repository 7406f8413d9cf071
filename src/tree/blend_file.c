/* blend_file.c: the volumes of morph targets (blend.h) as bytes (part_file.h). What is read is checked until nobody who blends can
 * leave the arrays. That the volumes are those of the targets is for the checksum. */
#include "tree/blend.h"
#include "tree/part_file.h"

#include <stddef.h>

enum {
  ROWS,
  TERM_FIRST,
  TERM_INGREDIENTS,
  LEAF_TERM_FIRST,
  LEAF_TARGETS,
  LEAF_ROW_FIRST,
  LEAF_ROWS,
  ROOT_ROWS,
  ARRAYS
};

/* In model space leaves ask the pose. */
static uint32_t leavesOf(const pnShape *shape) {
  return shape->rule->modelSpace ? 0 : shape->leafCount;
}

static size_t countLeaves(const pnShape *shape) {
  return leavesOf(shape);
}

static uint32_t verticesOf(const pnShape *shape, uint32_t leaf) {
  return shape->leafVertexFirst[leaf + 1] - shape->leafVertexFirst[leaf];
}

/* Where the rows of each leaf begin, as pn_fillLeaves has them; returns where they end. */
static size_t placeLeaves(const pnShape *shape, pnBlend *blend) {
  bool deltas = blend->baseIngredient != PN_NONE;
  size_t at = 0;
  for (uint32_t leaf = 0; leaf < leavesOf(shape); ++leaf) {
    bool left = pn_isLeftToPose(shape, leaf);
    size_t terms = blend->leafTermFirst[leaf + 1] - blend->leafTermFirst[leaf];
    blend->leafRowFirst[leaf] = left ? SIZE_MAX : at;
    at += left ? 0 : 3 * (size_t)verticesOf(shape, leaf) * (terms + deltas);
  }
  return at;
}

static void measure(const pnShape *shape, const void *part, size_t *outCounts) {
  const pnBlend *blend = part;
  size_t places = (size_t)shape->innerCount + 1, leaves = leavesOf(shape), floats = 1;
  for (size_t leaf = leaves; leaf-- > 0 && floats == 1;)
    if (blend->leafRowFirst[leaf] != SIZE_MAX) {
      size_t terms = blend->leafTermFirst[leaf + 1] - blend->leafTermFirst[leaf] + (blend->baseIngredient != PN_NONE);
      floats += blend->leafRowFirst[leaf] + 3 * (size_t)verticesOf(shape, (uint32_t)leaf) * terms;
    }
  outCounts[ROWS] = (size_t)blend->termFirst[places] * blend->rowFloats;
  outCounts[TERM_FIRST] = places + 1;
  outCounts[TERM_INGREDIENTS] = blend->termFirst[places];
  outCounts[LEAF_TERM_FIRST] = leaves + 1;
  outCounts[LEAF_TARGETS] = blend->leafTermFirst[leaves];
  outCounts[LEAF_ROWS] = floats;
  outCounts[ROOT_ROWS] = blend->rootRows ? 6 * (size_t)blend->ingredientCount : 0;
}

/* References: every place has all of them, and is found by that. */
static bool areAll(const uint32_t *first, uint32_t count, uint32_t each) {
  bool fine = true;
  for (uint32_t i = 0; fine && i < count; ++i) fine = first[i + 1] - first[i] == each;
  return fine;
}

static bool checkPlaces(const pnShape *shape, const pnBlend *blend, const size_t *counts) {
  uint32_t places = shape->innerCount + 1;
  size_t terms = counts[TERM_INGREDIENTS];
  return counts[TERM_FIRST] == (size_t)places + 1 && terms <= UINT32_MAX && counts[ROWS] == terms * blend->rowFloats &&
         pn_areRanges(blend->termFirst, places, terms) &&
         pn_areBelow(blend->termIngredient, terms, blend->ingredientCount) &&
         (blend->baseIngredient != PN_NONE || areAll(blend->termFirst, places, blend->ingredientCount)) &&
         pn_areFinite(blend->rows, counts[ROWS]);
}

static bool checkLeaves(const pnShape *shape, pnBlend *blend, const size_t *counts) {
  uint32_t leaves = leavesOf(shape), targets = shape->morph->targetCount;
  if (counts[LEAF_TERM_FIRST] != (size_t)leaves + 1 || counts[LEAF_ROWS] == 0 ||
      !pn_areRanges(blend->leafTermFirst, leaves, counts[LEAF_TARGETS]) ||
      !pn_areBelow(blend->leafTarget, counts[LEAF_TARGETS], targets) ||
      (blend->baseIngredient == PN_NONE && !areAll(blend->leafTermFirst, leaves, targets)))
    return false;
  return placeLeaves(shape, blend) + 1 == counts[LEAF_ROWS] && pn_areFinite(blend->leafRows, counts[LEAF_ROWS]);
}

static bool check(const pnShape *shape, void *part, const size_t *counts) {
  pnBlend *blend = part, read = *blend;
  *blend = pn_emptyBlend(shape);
  blend->rows = read.rows;
  blend->termFirst = read.termFirst;
  blend->termIngredient = read.termIngredient;
  blend->leafTermFirst = read.leafTermFirst;
  blend->leafTarget = read.leafTarget;
  blend->leafRowFirst = read.leafRowFirst;
  blend->leafRows = read.leafRows;
  blend->rootRows = blend->set ? NULL : read.rootRows;
  return blend->ingredientCount > 0 && counts[ROOT_ROWS] == (blend->set ? 0 : 6 * (size_t)blend->ingredientCount) &&
         pn_areFinite(read.rootRows, counts[ROOT_ROWS]) && checkPlaces(shape, blend, counts) &&
         checkLeaves(shape, blend, counts);
}

static const pnPartForm s_form = {.name = "volumes of targets",
                                  .headBytes = sizeof(pnBlend),
                                  .arrayCount = ARRAYS,
                                  .array = {{offsetof(pnBlend, rows), sizeof(float), NULL},
                                            {offsetof(pnBlend, termFirst), sizeof(uint32_t), NULL},
                                            {offsetof(pnBlend, termIngredient), sizeof(uint32_t), NULL},
                                            {offsetof(pnBlend, leafTermFirst), sizeof(uint32_t), NULL},
                                            {offsetof(pnBlend, leafTarget), sizeof(uint32_t), NULL},
                                            {offsetof(pnBlend, leafRowFirst), sizeof(size_t), countLeaves},
                                            {offsetof(pnBlend, leafRows), sizeof(float), NULL},
                                            {offsetof(pnBlend, rootRows), sizeof(float), NULL}},
                                  .measure = measure,
                                  .check = check};

const pnPartForm *pn_blendForm(const pnShape *shape) {
  (void)shape;
  return &s_form;
}
