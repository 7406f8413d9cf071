/* bucket_keep.c: the order along a curve kept from update to update, our own best index for soups (docs/soup.md).
 *
 * Volumes are always those of this update (bucket_bound.c); only *which* primitives share a leaf comes from the past. So an
 * update that changes nothing but positions is a refit. The order itself changes in four ways:
 *
 *   merged   primitives that were added, removed or replaced (soup->changed) leave the order; those alive are sorted by
 *            code among themselves and merged. The leaves are filled up as always: with the count unchanged the tree
 *            has the same nodes as before.
 *   refined  merging leaves the order of the curve. While nothing comes or goes it is refined, block by block.
 *   renewed  when the boxes of the clusters have grown to WORN times what they were when the order was new. It is made beside the
 *            old one, a slice in every update, and takes over when it is ready (bucket_renew.c).
 *   sorted   everything at once, only when there is no order to go on with: at first, when a quarter of the soup is new, and
 *            when everything leapt and the boxes are WORN_OUT. */
#include "tree/bucket.h"

#include "tree/update.h"

#include <string.h>

/* Traversal costs grow about as the surface of volumes. A renewal costs about fifty updates, spread over as many: worth it at this
 * ratio, and not at what a body breathes in and out. */
#define WORN 1.3f
/* The next query would cost more than sorting. */
#define WORN_OUT 4.0f
/* Worn so much, a renewal is hurried: it goes on this many times as fast. */
#define HURRY 2.0f
/* Steps of an update for each primitive (bucket_renew.c): a renewal has up to 35 of them and takes 47 updates, each of which costs
 * about twice as much as one without. */
#define STEPS 0.75f
/* Steps of sorting a primitive among all: its code and the passes. */
#define SORT_STEPS 10u

/* ---------------------------------------------------------------- the order */

/* Has it come, gone or been replaced since the order was made? */
PN_INLINE bool isChanged(const pnSoup *soup, uint64_t seen, uint32_t place) {
  return soup->changed[place] > (uint32_t)seen;
}

/* Some of them get their codes. Returns how many there are now. */
static uint32_t codeFresh(pnBuckets *b, pnCodeBatch *batch, uint32_t count) {
  pnKept *kept = pn_keptOf(b);
  b->way->codes(kept->coding, batch);
  for (uint32_t i = 0; i < batch->count; ++i) kept->fresh[count++] = (pnKeyValue){batch->codes[i], batch->places[i]};
  batch->count = 0;
  return count;
}

/* New since the last update, alive, with codes: sorted into kept->fresh. Those beyond the box that codes were made for get the
 * cells at its border. Returns how many; when there is no room for all, more than there is room for. */
static uint32_t listFresh(pnBuckets *b) {
  pnKept *kept = pn_keptOf(b);
  const pnSoup *soup = b->soup;
  uint32_t count = 0;
  uint32_t most = b->count / PN_FEW_FRESH;
  pnCodeBatch batch;
  batch.count = 0;
  for (uint32_t place = 0; place < soup->placeCount; ++place) {
    if (isChanged(soup, kept->seen, place) && pn_isAlive(soup, place)) {
      if (count + batch.count == most) return most + 1;
      batch.places[batch.count] = place;
      pn_centreOf(b, place, batch.centres[batch.count++]);
      count = batch.count == PN_CODE_BATCH ? codeFresh(b, &batch, count) : count;
    }
  }
  count = codeFresh(b, &batch, count);
  pn_sortKeyValue(kept->fresh, b->scratch, count);
  return count;
}

/* Those that stay and those that are new, in order, into scratch, which becomes the keys. */
static void mergeFresh(pnBuckets *b, uint32_t freshCount) {
  pnKept *kept = pn_keptOf(b);
  uint32_t to = 0, f = 0;
  for (uint32_t i = 0; i < kept->keptCount; ++i) {
    pnKeyValue item = b->keys[i];
    if (isChanged(b->soup, kept->seen, item.value)) continue;
    for (; f < freshCount && kept->fresh[f].key < item.key; ++f) b->scratch[to++] = kept->fresh[f];
    b->scratch[to++] = item;
  }
  for (; f < freshCount; ++f) b->scratch[to++] = kept->fresh[f];
  PN_ASSERT(to == b->count);
  pnKeyValue *keys = b->keys;
  b->keys = b->scratch;
  b->scratch = keys;
  for (uint32_t i = 0; i < to; ++i) b->order[i] = b->keys[i].value;
}

/* After everything was put in order: nothing is known about it yet. */
static void takeOrder(pnBuckets *b, uint64_t seen) {
  pnKept *kept = pn_keptOf(b);
  kept->keptCount = b->count;
  kept->seen = seen;
  kept->builtSurface[0] = kept->builtSurface[1] = -1;
  ++kept->orderNumber;
}

/* Leaves and nodes for the count of now. False: out of memory, and the next update sorts anew. */
static bool growKept(pnTree *tree, pnBuckets *b) {
  pnKept *kept = pn_keptOf(b);
  if (b->count == kept->grownCount) return true;
  kept->keptCount = kept->grownCount = 0;
  b->leafBegin.count = 0;
  if (!pn_arrayReserve(&b->leafBegin, (size_t)b->count + 1)) return false;
  pn_pushLeaves(b, 0, b->count);
  b->leafBegin.data[b->leafBegin.count] = b->count;
  if (!pn_growTree(tree, b, NULL)) return false;
  kept->grownCount = b->count;
  return true;
}

static bool sortAnew(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  bool first = kept->sorts == 0 && !b->hasty;
  const pnBox *about =
      kept->sorts > 0 || b->hasty ? &b->box : NULL; /* of this update, of the last, or as it was said */
  kept->keptCount = kept->grownCount = 0;
  kept->renewal.stage = PN_RENEW_NONE;
  if (!pn_leavesOfCurve(b, about, kept->coding, tasks) || !growKept(tree, b)) return false;
  takeOrder(b, b->soup->changedLast);
  ++kept->sorts;
  kept->ordered += SORT_STEPS * (uint64_t)b->count;
  /* a new tree begins at its best; later, refining waits for its turn */
  kept->refined = first ? pn_refineOrder(b, b->order, b->count, 0, UINT64_MAX, tasks) : 0;
  pn_assignClusters(tree, b);
  return true;
}

/* The renewed order takes over: as it is when nothing came or went since it began, else its codes, for merging. */
static void takeRenewed(pnBuckets *b) {
  pnKept *kept = pn_keptOf(b);
  pnRenewal *r = &kept->renewal;
  uint32_t changed = 0, most = b->count / PN_FEW_FRESH;
  r->stage = PN_RENEW_NONE;
  for (uint32_t place = 0; place < b->soup->placeCount && b->soup->changedLast != r->seen; ++place)
    changed += b->soup->changed[place] > (uint32_t)r->seen;
  if (changed > most || r->room != b->room) return; /* the old one knows them already */
  pnKeyValue *keys = b->keys;
  b->keys = r->keys;
  r->keys = keys;
  memcpy(kept->coding, r->coding, sizeof kept->coding);
  ++kept->renewals;
  takeOrder(b, r->seen);
  kept->keptCount = r->count;
  if (b->soup->changedLast == r->seen) {
    /* nothing came or went, so dead places are where they were */
    memcpy(b->order, pn_renewedOrder(r), b->count * sizeof(uint32_t));
    for (uint32_t place = 0; place < b->soup->placeCount; ++place)
      b->cells[place] = pn_isAlive(b->soup, place) ? pn_renewedCells(r)[place] : b->cells[place];
    kept->refined = b->count;
  }
}

/* Brings the order to the soup. False: out of memory, and the next update sorts anew. */
static bool bringOrder(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  /* frames are compared by their lower half: a new upper half is a new beginning */
  if (kept->keptCount == 0 || b->soup->changedLast >> 32 != kept->seen >> 32) return sortAnew(tree, b, tasks);
  if (kept->renewal.stage == PN_RENEW_READY) takeRenewed(b);
  if (kept->seen == b->soup->changedLast) return true;
  uint32_t freshCount = listFresh(b);
  if (freshCount > b->count / PN_FEW_FRESH) return sortAnew(tree, b, tasks);
  mergeFresh(b, freshCount);
  kept->ordered += b->count + SORT_STEPS * (uint64_t)freshCount;
  ++kept->orderNumber;
  kept->refined = 0;
  if (!growKept(tree, b)) return false;
  pn_assignClusters(tree, b);
  kept->keptCount = b->count;
  kept->seen = b->soup->changedLast;
  return true;
}

/* What of the order is not refined yet, a part of it. */
static void refineSome(pnTree *tree, pnBuckets *b, uint64_t steps, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  uint32_t first = kept->refined;
  kept->refined = pn_refineOrder(b, b->order, b->count, first, steps, tasks);
  pn_assignRange(tree, b->order, first, kept->refined, b->cells);
  memset(b->leafLists + first / PN_LANES, 0, ((kept->refined - first + PN_LANES - 1) / PN_LANES) * sizeof(uint32_t));
}

/* How much the boxes of the clusters have grown since the order was new. */
static float wearOf(pnBuckets *b, float surface) {
  pnKept *kept = pn_keptOf(b);
  float *built = &kept->builtSurface[kept->refined == b->count];
  if (*built < 0) *built = surface;
  return *built > 0 ? surface / *built : surface > 0 ? WORN_OUT + 1 : 1;
}

/* What leapt in the last update often leaps again. A few clusters tell, and what the old order would have come to need not be
 * found out for all. When they tell wrong, an order is made anew that need not have been, or found worn out a little later. */
static bool leapsAgain(const pnTree *tree, const pnBuckets *b) {
  const pnKept *kept = pn_keptOf(b);
  float built = kept->builtSurface[kept->refined == b->count];
  return kept->leapt && kept->keptCount == b->count && kept->seen == b->soup->changedLast && built > 0 &&
         pn_sampleClusters(tree, b) > WORN_OUT * built;
}

/* ---------------------------------------------------------------- the update */

/* The order for this update and the boxes in it. False: out of memory. */
static bool keepOrder(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  bool calm = kept->seen == b->soup->changedLast;
  uint64_t steps = (uint64_t)(STEPS * (float)b->count) + 1;
  kept->ordered = 0;
  bool leaps = leapsAgain(tree, b);
  kept->leapt = false;
  /* measured against something else, an old order says nothing of how it has worn */
  bool anew = leaps || kept->isOverBulk != tree->bulk.isThere;
  kept->isOverBulk = tree->bulk.isThere;
  if (!(anew ? sortAnew(tree, b, tasks) : bringOrder(tree, b, tasks))) return false;
  if (kept->renewal.stage != PN_RENEW_NONE)
    pn_stepRenewal(tree, b, kept->wear > HURRY ? (uint64_t)(HURRY * (float)steps) : steps, tasks);
  else if (calm && !anew && kept->refined < b->count) refineSome(tree, b, steps, tasks);
  if (!pn_boundClusters(tree, b, tasks)) return false;
  kept->wear = wearOf(b, pn_mergeClusters(tree, b));
  if (kept->wear > WORN_OUT) {
    if (!sortAnew(tree, b, tasks) || !pn_boundClusters(tree, b, tasks)) return false;
    kept->wear = wearOf(b, pn_mergeClusters(tree, b));
    leaps = true;
  } else if (kept->wear > WORN && kept->renewal.stage == PN_RENEW_NONE) {
    pn_beginRenewal(b);
  }
  kept->leapt = leaps;
  return true;
}

static pnResult updateKept(pnTree *tree, pnBuckets *b, const pnTasks *tasks) {
  pn_setForm(tree, PN_FORM_BOX);
  if (!keepOrder(tree, b, tasks)) return pn_failSoup(b);
  pnBound root = {.radius = 0};
  for (int k = 0; k < 3; ++k) {
    root.slabs.lo[k] = (&b->box.min.x)[k];
    root.slabs.hi[k] = (&b->box.max.x)[k];
  }
  if (!pn_setRoot(tree, &root)) return PN_ERROR_NUMBER;
  if (pn_needsSpheres(tree, b, pn_countSmall(tree, b))) {
    tree->eagerUpdated += tree->shape->nodeCount;
    return pn_fillBuckets(tree, b, tasks) ? PN_OK : PN_ERROR_NUMBER;
  }
  pn_putEager(tree, b);
  return PN_OK;
}

/* ---------------------------------------------------------------- the row */

static bool reserve(pnBuckets *b, uint32_t room) {
  pnKept *kept = pn_keptOf(b);
  pnKeyValue *fresh = pn_alloc(pn_bytes(room / PN_FEW_FRESH + 1, sizeof(pnKeyValue)));
  if (fresh) {
    pn_free(kept->fresh, kept->fresh ? pn_bytes(b->room / PN_FEW_FRESH + 1, sizeof(pnKeyValue)) : 0);
    kept->fresh = fresh;
  }
  return fresh != NULL;
}

static void releaseKept(pnBuckets *b) {
  pnKept *kept = pn_keptOf(b);
  pn_free(kept->fresh, kept->fresh ? pn_bytes(b->room / PN_FEW_FRESH + 1, sizeof(pnKeyValue)) : 0);
  pn_arrayFree(&kept->workerBoxes);
  pn_free(kept->renewal.keys, pn_bytes(kept->renewal.room, sizeof(pnKeyValue)));
  pn_free(kept->renewal.scratch, pn_bytes(kept->renewal.room, sizeof(pnKeyValue)));
}

static size_t bytesOf(const pnBuckets *b) {
  const pnKept *kept = pn_keptOf(b);
  return b->room * (sizeof(pnKeyValue) / PN_FEW_FRESH) + kept->renewal.room * 2 * sizeof(pnKeyValue) +
         kept->workerBoxes.capacity * sizeof(float);
}

static void clear(pnBuckets *b) {
  pn_keptOf(b)->keptCount = 0;
}

static void tell(const pnBuckets *b, pnBucketInfo *out) {
  out->ordered = pn_keptOf(b)->ordered;
}

const pnBucketWay pn_bucketKept = {.name = "kept",
                                   .stateBytes = sizeof(pnKept),
                                   .codes = pn_hilbertCodes,
                                   .reserve = reserve,
                                   .release = releaseKept,
                                   .bytes = bytesOf,
                                   .clear = clear,
                                   .update = updateKept,
                                   .tell = tell};
