/* kin.c: which findings does a region go on?
 *
 * What that means is said in track.c. Here is how it is found without comparing every region with every finding. For the regions of two
 * bodies in a frame, and for what findings of these bodies had when they were last seen, there are
 *
 *   trees of their boxes: what is within reach is found from the root down. Where a thousand boxes are within reach of each
 *   other one of them is enough, so every node knows whether all below it are of one finding, and is passed by when that
 *   finding is found already;
 *   lists by triangle: on the side with the shorter lists these say which findings to look at, and the numbers that a finding has
 *   on either side decide. Of one finding one entry of a list is enough: others are taken out when they are met;
 *   a list by parts, where something is contained.
 *
 * The broad phase (collide/broad.h) is not what is wanted here: it lists all pairs of boxes.
 *
 * Findings are told by their places in the finder's tracks, which do not change during a frame; joined ones name the first. A region is
 * found by later ones when it has its track. */
#include "find/find.h"

#include "geom/box.h"

#include <stdlib.h>
#include <string.h>

/* A node below which are several findings. */
#define MIXED (PN_NONE - 1)
#define CODE_BITS 20 /* a direction */

/* ---------------------------------------------------------------- boxes */

static double gapAlong(float aMin, float aMax, float bMin, float bMax) {
  double gap = aMin > bMax ? (double)aMin - bMax : (double)bMin - aMax;
  return gap > 0 ? gap : 0;
}

/* A larger box is not farther, to the last bit: nodes may be asked instead of what is in them. */
static bool isNear(pnBox a, pnBox b, double reach) {
  double x = gapAlong(a.min.x, a.max.x, b.min.x, b.max.x), y = gapAlong(a.min.y, a.max.y, b.min.y, b.max.y),
         z = gapAlong(a.min.z, a.max.z, b.min.z, b.max.z);
  return x * x + y * y + z * z <= reach * reach;
}

/* Only boxes of one kind are within reach: carried or not, at rest or not. Along a curve through their middles. */
static uint64_t codeOf(const pnKinItem *item, pnBox all) {
  const pnBox *box = &item->trace.box;
  uint64_t code = 2u * item->carried + item->trace.atRest;
  code <<= 3 * CODE_BITS;
  for (int k = 0; k < 3; ++k) {
    double low = (&all.min.x)[k], size = (double)(&all.max.x)[k] - low;
    double middle = 0.5 * (&box->min.x)[k] + 0.5 * (&box->max.x)[k], at = size > 0 ? (middle - low) / size : 0;
    code |= pn_spreadTwenty((uint32_t)(PN_MAX(0.0, PN_MIN(at, 1.0)) * ((1 << CODE_BITS) - 1))) << k;
  }
  return code;
}

/* ---------------------------------------------------------------- trees */

static uint32_t ownerOf(pnKin *kin, uint32_t node) {
  uint32_t *owner = &kin->nodes.data[node].owner;
  if (*owner < MIXED) *owner = pn_rootOf(kin->up.data, *owner);
  return *owner;
}

static uint32_t bothOwners(uint32_t p, uint32_t q) {
  return p == PN_NONE || p == q ? q : q == PN_NONE ? p : MIXED;
}

static size_t levelSize(const pnKinTree *tree, uint32_t level) {
  return (tree->count + ((size_t)1 << level) - 1) >> level;
}

/* Two by two up to one. The items are there. */
static void growTree(pnKin *kin, pnKinTree *tree) {
  tree->levelCount = 1;
  for (uint32_t level = 1; levelSize(tree, level - 1) > 1; ++level) {
    uint32_t below = tree->levelFirst[level - 1];
    size_t belowCount = levelSize(tree, level - 1);
    tree->levelFirst[level] = (uint32_t)kin->nodes.count;
    ++tree->levelCount;
    for (uint32_t i = 0; i < belowCount; i += 2) {
      pnKinNode node = kin->nodes.data[below + i];
      node.owner = ownerOf(kin, below + i);
      if (i + 1 < belowCount) {
        node.box = pn_unionBox(&node.box, &kin->nodes.data[below + i + 1].box);
        node.owner = bothOwners(node.owner, ownerOf(kin, below + i + 1));
      }
      kin->nodes.data[kin->nodes.count++] = node; /* there is room */
    }
  }
}

static bool growTrees(pnKin *kin) {
  size_t count = kin->items.count;
  // Four trees, each with fewer than two nodes an item, and one a level more.
  if (!pn_arrayReserve(&kin->order, count) || !pn_arrayReserve(&kin->nodes, 2 * count + 4 * PN_KIN_LEVELS) ||
      !pn_arrayReserve(&kin->perchOf, count))
    return false;
  pnBox all = count > 0 ? kin->items.data[0].trace.box : (pnBox){0};
  for (size_t i = 0; i < count; ++i) all = pn_unionBox(&all, &kin->items.data[i].trace.box);
  for (size_t i = 0; i < count; ++i) kin->order.data[i] = (pnWorkOrder){codeOf(&kin->items.data[i], all), (uint32_t)i};
  if (count > 1) qsort(kin->order.data, count, sizeof(pnWorkOrder), pn_compareOrder);
  kin->nodes.count = 0;
  size_t at = 0;
  for (uint32_t kind = 0; kind < 4; ++kind) {
    pnKinTree *tree = &kin->trees[kind];
    *tree = (pnKinTree){.levelFirst = {(uint32_t)kin->nodes.count}};
    for (; at < count && kin->order.data[at].key >> 3 * CODE_BITS == kind; ++at) {
      const pnKinItem *item = &kin->items.data[kin->order.data[at].work];
      kin->perchOf.data[kin->order.data[at].work] = tree->count++;
      kin->nodes.data[kin->nodes.count++] = (pnKinNode){item->trace.box, item->berth};
    }
    if (tree->count > 0) growTree(kin, tree);
  }
  return true;
}

/* An item has a track now, and the nodes above it know. */
static void ownItem(pnKin *kin, uint32_t item, uint32_t berth) {
  kin->items.data[item].berth = berth;
  const pnKinItem *it = &kin->items.data[item];
  const pnKinTree *tree = &kin->trees[2 * it->carried + it->trace.atRest];
  for (uint32_t level = 0; level < tree->levelCount; ++level) {
    uint32_t node = tree->levelFirst[level] + (kin->perchOf.data[item] >> level);
    uint32_t owner = ownerOf(kin, node);
    // Those above know already.
    if (owner == MIXED || owner == berth) return;
    kin->nodes.data[node].owner = owner == PN_NONE ? berth : MIXED;
  }
}

/* ---------------------------------------------------------------- what is found */

static void addFound(pnKin *kin, uint32_t berth) {
  if (kin->marks.data[berth].found == kin->stamp) return;
  kin->marks.data[berth].found = kin->stamp;
  kin->found.data[kin->found.count++] = berth; /* each once: there is room */
}

static void visit(pnKin *kin, const pnKinTree *tree, uint32_t level, uint32_t place, pnBox box) {
  uint32_t node = tree->levelFirst[level] + place, owner = ownerOf(kin, node);
  if (owner == PN_NONE || (owner != MIXED && kin->marks.data[owner].found == kin->stamp)) return;
  if (!isNear(kin->nodes.data[node].box, box, kin->reach)) return;
  if (level == 0) {
    addFound(kin, owner);
    return;
  }
  uint32_t left = tree->levelFirst[level - 1] + 2 * place;
  bool two = 2 * (size_t)place + 1 < levelSize(tree, level - 1);
  visit(kin, tree, level - 1, 2 * place, box);
  if (two) visit(kin, tree, level - 1, 2 * place + 1, box);
  // Findings that were joined since may have made it one.
  if (owner == MIXED)
    kin->nodes.data[node].owner = bothOwners(ownerOf(kin, left), two ? ownerOf(kin, left + 1) : PN_NONE);
}

/* Of what is contained, now or then: the same two parts. Contained ones stand first among those of two parts. */
static void findByParts(pnKin *kin, const pnNewcomer *comer) {
  uint64_t key = (uint64_t)comer->trace.partA << 32 | comer->trace.partB;
  size_t at = pn_lowerOrder(kin->parts.data, kin->parts.count, key);
  for (; at < kin->parts.count && kin->parts.data[at].key == key; ++at) {
    const pnKinItem *item = &kin->items.data[kin->parts.data[at].work];
    if (!comer->trace.contained && !item->trace.contained) return;
    if (item->berth == PN_NONE || item->carried != comer->region->carried) continue;
    addFound(kin, pn_rootOf(kin->up.data, item->berth));
  }
}

/* Have two sorted lists a number in common? The shorter is looked up in the longer: what a track has may be very much. */
static bool haveCommon(const pnNumbers *a, const pnNumbers *b) {
  const pnNumbers *few = a->count <= b->count ? a : b, *many = few == a ? b : a;
  for (size_t i = 0, at = 0; i < few->count; ++i) {
    at = pn_lowerNumber(many, at, few->data[i]);
    if (at == many->count) return false;
    if (many->data[at] == few->data[i]) return true;
  }
  return false;
}

/* Triangles on both sides that the track had then. */
static bool shares(const pnNewcomer *comer, const pnTrack *track, int when) {
  const pnNumbers *had = track->triangles[when], *has = comer->triangles;
  if (haveCommon(&has[0], &had[0]) && haveCommon(&has[1], &had[1])) return true;
  return comer->a == comer->b && haveCommon(&has[0], &had[1]) && haveCommon(&has[1], &had[0]);
}

static uint32_t *headOf(pnKin *kin, uint32_t triangle, bool carried, uint32_t side) {
  return &kin->heads.data[4 * (size_t)triangle + 2 * carried + side];
}

/* Looks at the findings of one list. */
static void walkList(pnFinder *finder, const pnNewcomer *comer, uint32_t *next) {
  pnKin *kin = &finder->kin;
  uint32_t walk = ++kin->walk, first = *next, count = 0;
  while (*next != PN_NONE) {
    pnKinEntry *entry = &kin->entries.data[*next];
    uint32_t berth = pn_rootOf(kin->up.data, entry->berth), when = entry->when;
    pnKinMarks *marks = &kin->marks.data[berth];
    if (marks->listed[when] == walk) {
      *next = entry->next;
      continue;
    }
    marks->listed[when] = walk;
    ++count;
    if (marks->found != kin->stamp && marks->asked[when] != kin->stamp) {
      marks->asked[when] = kin->stamp;
      if (shares(comer, &finder->tracks.data[berth], (int)when)) addFound(kin, berth);
    }
    next = &entry->next;
  }
  if (first != PN_NONE) kin->entries.data[first].count = count;
}

static void findByTriangles(pnFinder *finder, const pnNewcomer *comer) {
  pnKin *kin = &finder->kin;
  bool carried = comer->region->carried, self = comer->a == comer->b;
  size_t costs[2] = {0, 0};
  for (uint32_t side = 0; side < 2; ++side) {
    for (size_t i = 0; i < comer->triangles[side].count; ++i)
      for (uint32_t of = 0; of < 2; ++of) {
        uint32_t head = *headOf(kin, comer->triangles[side].data[i], carried, of);
        if ((of == side || self) && head != PN_NONE) costs[side] += kin->entries.data[head].count;
      }
  }
  uint32_t side = costs[1] < costs[0];
  for (size_t i = 0; i < comer->triangles[side].count; ++i)
    for (uint32_t of = 0; of < 2; ++of)
      if (of == side || self) walkList(finder, comer, headOf(kin, comer->triangles[side].data[i], carried, of));
}

/* ---------------------------------------------------------------- the door of this file */

static bool enterTriangles(pnKin *kin, const pnNumbers *list, bool carried, uint32_t side, uint32_t when,
                           uint32_t berth) {
  for (size_t i = 0; i < list->count; ++i) {
    uint32_t *head = headOf(kin, list->data[i], carried, side);
    const pnKinEntry *entries = kin->entries.data;
    if (*head != PN_NONE && entries[*head].berth == berth && entries[*head].when == when) continue;
    pnKinEntry entry = {berth, *head, *head != PN_NONE ? entries[*head].count + 1 : 1, when, 0};
    entry.place = (size_t)(head - kin->heads.data);
    if (!pn_arrayPush(&kin->entries, entry)) return false;
    *head = (uint32_t)kin->entries.count - 1;
  }
  return true;
}

/* What a track had when it was last seen. */
static bool enterTrack(pnFinder *finder, uint32_t berth) {
  pnKin *kin = &finder->kin;
  const pnTrack *track = &finder->tracks.data[berth];
  for (size_t i = 0; i < track->traces[0].count; ++i)
    if (!pn_arrayPush(&kin->items, ((pnKinItem){track->traces[0].data[i], track->carried, berth}))) return false;
  return enterTriangles(kin, &track->triangles[0][0], track->carried, 0, 0, berth) &&
         enterTriangles(kin, &track->triangles[0][1], track->carried, 1, 0, berth);
}

/* Items by their two parts, contained ones first; none when nothing is contained. */
static bool listParts(pnKin *kin) {
  bool any = false;
  kin->parts.count = 0;
  for (size_t i = 0; i < kin->items.count && !any; ++i) any = kin->items.data[i].trace.contained;
  for (uint32_t turn = 0; turn < 2 && any; ++turn)
    for (uint32_t i = 0; i < kin->items.count; ++i) {
      const pnTrace *trace = &kin->items.data[i].trace;
      if (trace->contained == (turn == 1)) continue;
      // In the order in which they are listed.
      pnWorkOrder order = {(uint64_t)trace->partA << 32 | trace->partB, i + turn * (uint32_t)kin->items.count};
      if (!pn_arrayPush(&kin->parts, order)) return false;
    }
  if (any) qsort(kin->parts.data, kin->parts.count, sizeof(pnWorkOrder), pn_compareOrder);
  for (size_t i = 0; i < kin->parts.count; ++i) kin->parts.data[i].work %= (uint32_t)kin->items.count;
  return true;
}

bool pn_prepareKin(pnFinder *finder) {
  pnKin *kin = &finder->kin;
  size_t count = finder->tracks.count, heads = 0;
  kin->pairs.count = kin->up.count = kin->marks.count = 0;
  kin->stamp = kin->walk = 0;
  if (kin->heads.count == 0) {
    for (size_t i = 0; i < finder->bodies.count; ++i)
      heads = PN_MAX(heads, 4 * (size_t)finder->bodies.data[i].mesh->triangleCount);
    if (!pn_arrayReserve(&kin->heads, heads)) return false;
    kin->heads.count = heads;
    if (heads > 0) memset(kin->heads.data, 0xff, heads * sizeof(uint32_t));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const pnTrack *track = &finder->tracks.data[i];
    pnWorkOrder order = {(uint64_t)track->finding.a << 32 | track->finding.b, i};
    if (!pn_addKinBerth(finder) || (!track->isOver && !pn_arrayPush(&kin->pairs, order))) return false;
  }
  if (kin->pairs.count > 1) qsort(kin->pairs.data, kin->pairs.count, sizeof(pnWorkOrder), pn_compareOrder);
  return true;
}

bool pn_addKinBerth(pnFinder *finder) {
  pnKin *kin = &finder->kin;
  uint32_t berth = (uint32_t)kin->up.count;
  return pn_arrayReserve(&kin->found, (size_t)berth + 1) && pn_arrayReserve(&kin->marks, (size_t)berth + 1) &&
         pn_arrayPush(&kin->up, berth) && pn_arrayPush(&kin->marks, ((pnKinMarks){0}));
}

bool pn_beginKin(pnFinder *finder, const pnNewcomer *comers, size_t count) {
  pnKin *kin = &finder->kin;
  uint64_t key = (uint64_t)comers->a << 32 | comers->b;
  kin->reach = comers->reach;
  kin->items.count = kin->entries.count = 0;
  size_t at = pn_lowerOrder(kin->pairs.data, kin->pairs.count, key);
  for (; at < kin->pairs.count && kin->pairs.data[at].key == key; ++at)
    if (!enterTrack(finder, kin->pairs.data[at].work)) return false;
  kin->comerFirst = (uint32_t)kin->items.count;
  for (size_t i = 0; i < count; ++i)
    if (!pn_arrayPush(&kin->items, ((pnKinItem){comers[i].trace, comers[i].region->carried, PN_NONE}))) return false;
  return growTrees(kin) && listParts(kin);
}

const pnNumbers *pn_findKin(pnFinder *finder, const pnNewcomer *comer) {
  pnKin *kin = &finder->kin;
  const pnKinTree *tree = &kin->trees[2 * comer->region->carried + comer->trace.atRest];
  ++kin->stamp;
  kin->found.count = 0;
  if (tree->count > 0) visit(kin, tree, tree->levelCount - 1, 0, comer->trace.box);
  findByParts(kin, comer);
  findByTriangles(finder, comer);
  if (kin->found.count > 1) qsort(kin->found.data, kin->found.count, sizeof(uint32_t), pn_compareNumbers);
  return &kin->found;
}

bool pn_ownKin(pnFinder *finder, const pnNewcomer *comer, size_t i, uint32_t berth) {
  pnKin *kin = &finder->kin;
  ownItem(kin, kin->comerFirst + (uint32_t)i, berth);
  return enterTriangles(kin, &comer->triangles[0], comer->region->carried, 0, 1, berth) &&
         enterTriangles(kin, &comer->triangles[1], comer->region->carried, 1, 1, berth);
}

void pn_endKin(pnFinder *finder) {
  pnKin *kin = &finder->kin;
  for (size_t i = 0; i < kin->entries.count; ++i) kin->heads.data[kin->entries.data[i].place] = PN_NONE;
  kin->entries.count = 0;
}

void pn_freeKin(pnFinder *finder) {
  pnKin *kin = &finder->kin;
  pn_arrayFree(&kin->items);
  pn_arrayFree(&kin->order);
  pn_arrayFree(&kin->nodes);
  pn_arrayFree(&kin->perchOf);
  pn_arrayFree(&kin->parts);
  pn_arrayFree(&kin->pairs);
  pn_arrayFree(&kin->entries);
  pn_arrayFree(&kin->heads);
  pn_arrayFree(&kin->up);
  pn_arrayFree(&kin->marks);
  pn_arrayFree(&kin->found);
}
