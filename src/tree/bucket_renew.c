/* bucket_renew.c: a kept order made anew, a slice in every update, so that no update has to sort everything; and refined, block
 * by block.
 *
 * A new order is made beside the one in use, in stages: a code for every primitive, three passes of a radix sort by ten bits,
 * runs of equal codes, blocks divided by halving, who is in which cluster. Every stage can stop after any number of primitives. Codes are taken in
 * different updates while everything moves: they only say who shares a leaf, volumes never come from them, so that
 * an answer cannot depend on it. What comes, goes or is replaced meanwhile is merged when the new order takes over,
 * by the same marks as ever (soup->changed), looked at from the update in which the renewal began.
 *
 * Refining. Eight primitives in a row along a curve make a leaf, but the curve leaves and enters a surface where it likes, and a
 * leaf that straddles such a leap is large. Blocks of up to 4096 primitives in a row are therefore divided as trees of
 * meshes are, by halving along the longest side (tree/build.c), into clusters and leaves: about half the volume tests.
 *
 * A *step* is about what a pass of the radix sort does to one primitive, some four nanoseconds. */
#include "tree/bucket.h"
#include "tree/build.h"

#define CODE_STEPS 5u
#define REFINE_STEPS 8u /* for each level of the tree below a block */
#define CLUSTER_STEPS 2u
#define DIGIT ((1u << PN_CURVE_BITS) - 1)
#define DIGITS 3u
#define MOST_BLOCK 4096u

/* ---------------------------------------------------------------- refining */

/* The largest full subtree of at most a sixteenth of everything, so that a few updates always share the work. */
static uint32_t blockSize(uint32_t count) {
  uint32_t block = PN_LANES * PN_LANES;
  while (block < MOST_BLOCK && block * PN_LANES <= count / 16) block *= PN_LANES;
  return block;
}

static void divideBlock(pnBuilder *builder, uint32_t first, uint32_t count) {
  uint32_t sizes[PN_LANES], parts = pn_splitBalanced(builder, first, count, 0, sizes);
  for (uint32_t i = 0; i < parts; first += sizes[i++])
    if (sizes[i] > PN_LANES) divideBlock(builder, first, sizes[i]);
}

typedef struct RefinePass {
  const pnBuckets *b;
  uint32_t *order;
  uint32_t first, count, block;
} RefinePass;

static void refineBlocks(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const RefinePass *pass = context;
  uint32_t places[MOST_BLOCK], local[MOST_BLOCK], scratch[MOST_BLOCK];
  float centres[3 * MOST_BLOCK + 1];
  uint64_t keys[2 * MOST_BLOCK];
  pnBuilder builder = {.arity = PN_LANES,
                       .leafSize = PN_LANES,
                       .quick = true,
                       .order = local,
                       .centres = centres,
                       .keys = keys,
                       .scratch = scratch};
  for (uint32_t i = begin; i < end; ++i) {
    uint32_t at = pass->first + i * pass->block, n = PN_MIN(pass->block, pass->count - at);
    if (n <= PN_LANES) continue;
    /* the block by itself, numbered from 0: everything it needs is near */
    for (uint32_t k = 0; k < n; ++k) {
      places[k] = pass->order[at + k];
      local[k] = k;
      pn_centreOf(pass->b, places[k], centres + 3 * k); /* the float beyond is written over by the next */
    }
    divideBlock(&builder, 0, n);
    for (uint32_t k = 0; k < n; ++k) pass->order[at + k] = places[local[k]];
  }
}

uint32_t pn_refineOrder(pnBuckets *b, uint32_t *order, uint32_t count, uint32_t first, uint64_t steps,
                        const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  RefinePass pass = {b, order, first, count, blockSize(count)};
  uint64_t left = (count - first + pass.block - 1) / pass.block, each = 0;
  for (uint32_t size = PN_LANES; size < pass.block; size *= PN_LANES) each += REFINE_STEPS;
  uint32_t blocks = (uint32_t)PN_MIN(left, steps / (each * pass.block) + 1);
  pn_parallelFor(tasks, refineBlocks, &pass, blocks, 1);
  uint32_t end = (uint32_t)PN_MIN((uint64_t)count, first + (uint64_t)blocks * pass.block);
  kept->ordered += each * (end - first);
  return end;
}

/* ---------------------------------------------------------------- the stages */

void pn_beginRenewal(pnBuckets *b) {
  pnKept *kept = pn_keptOf(b);
  pnRenewal *r = &kept->renewal;
  if (r->room < b->room) {
    size_t bytes = pn_bytes(b->room, sizeof(pnKeyValue)), old = pn_bytes(r->room, sizeof(pnKeyValue));
    pnKeyValue *keys = pn_alloc(bytes), *scratch = pn_alloc(bytes);
    if (!keys || !scratch) {
      pn_free(keys, bytes);
      pn_free(scratch, bytes);
      return;
    }
    pn_free(r->keys, old);
    pn_free(r->scratch, old);
    r->keys = keys, r->scratch = scratch, r->room = b->room;
  }
  r->stage = PN_RENEW_CODES;
  r->at = r->digit = r->count = 0;
  r->seen = b->soup->changedLast;
  memset(r->starts, 0, sizeof r->starts);
  for (int k = 0; k < 3; ++k) r->coding[k] = pn_cellsOver((&b->box.min.x)[k], (&b->box.max.x)[k], PN_CURVE_BITS);
}

/* Codes of the places from `at` on. */
static void codePlaces(const pnBuckets *b, pnRenewal *r, uint32_t end) {
  pnCodeBatch batch;
  while (r->at < end) {
    for (batch.count = 0; r->at < end && batch.count < PN_CODE_BATCH; ++r->at) {
      if (pn_isAlive(b->soup, r->at)) {
        batch.places[batch.count] = r->at;
        pn_centreOf(b, r->at, batch.centres[batch.count++]);
      }
    }
    b->way->codes(r->coding, &batch);
    for (uint32_t i = 0; i < batch.count; ++i) {
      r->keys[r->count++] = (pnKeyValue){batch.codes[i], batch.places[i]};
      for (uint32_t d = 0; d < DIGITS; ++d) ++r->starts[d][batch.codes[i] >> PN_CURVE_BITS * d & DIGIT];
    }
  }
}

/* How many of each value become where they begin. */
static void startPasses(pnRenewal *r) {
  for (uint32_t d = 0; d < DIGITS; ++d) {
    for (uint32_t i = 0, sum = 0; i <= DIGIT; ++i) {
      uint32_t n = r->starts[d][i];
      r->starts[d][i] = sum;
      sum += n;
    }
  }
}

/* A part of one pass: stable, the lowest digit first. */
static void passItems(pnRenewal *r, uint32_t end) {
  uint32_t *starts = r->starts[r->digit];
  for (; r->at < end; ++r->at) {
    pnKeyValue item = r->keys[r->at];
    r->scratch[starts[item.key >> PN_CURVE_BITS * r->digit & DIGIT]++] = item;
  }
  if (r->at == r->count) {
    pnKeyValue *keys = r->keys;
    r->keys = r->scratch;
    r->scratch = keys;
    ++r->digit;
    r->at = 0;
  }
}

/* A part of the order, by the sorted codes. Runs of equal codes are few and short, or the soup is far smaller than its box; they
 * are not cut. */
static void orderRuns(const pnBuckets *b, pnRenewal *r, uint32_t end) {
  uint32_t *order = pn_renewedOrder(r), first = r->at;
  for (; end < r->count && r->keys[end].key == r->keys[end - 1].key; ++end) {}
  for (; r->at < end; ++r->at) order[r->at] = r->keys[r->at].value;
  pnOrdering o = {b, order, r->keys, b->scratch};
  pn_sortRuns(&o, first, end - first);
}

/* When a stage has been over everything. */
static void nextStage(pnRenewal *r, int stage) {
  if (r->at == r->count) {
    r->stage = stage;
    r->at = 0;
  }
}

/* One stage for about so many steps. Returns how many it took. */
static uint64_t stepStage(const pnTree *tree, pnBuckets *b, uint64_t steps, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  pnRenewal *r = &kept->renewal;
  uint32_t places = b->soup->placeCount, from = r->at;
  uint64_t before = kept->ordered;
  switch (r->stage) {
    case PN_RENEW_CODES:
      codePlaces(b, r, (uint32_t)PN_MIN((uint64_t)places, from + steps / CODE_STEPS + 1));
      kept->ordered += (uint64_t)CODE_STEPS * (r->at - from);
      if (r->at == places) {
        startPasses(r);
        r->at = 0;
        r->stage = PN_RENEW_PASSES;
      }
      break;
    case PN_RENEW_PASSES: {
      uint32_t end = (uint32_t)PN_MIN((uint64_t)r->count, from + steps);
      passItems(r, end);
      kept->ordered += end - from;
      r->stage = r->digit == DIGITS ? PN_RENEW_RUNS : PN_RENEW_PASSES;
      break;
    }
    case PN_RENEW_RUNS:
      orderRuns(b, r, (uint32_t)PN_MIN((uint64_t)r->count, from + steps));
      kept->ordered += r->at - from;
      nextStage(r, PN_RENEW_REFINE);
      break;
    case PN_RENEW_REFINE:
      r->at = pn_refineOrder(b, pn_renewedOrder(r), r->count, from, steps, tasks);
      nextStage(r, PN_RENEW_CLUSTERS);
      break;
    case PN_RENEW_CLUSTERS: {
      /* leaves are never cut */
      uint64_t wanted = (from + steps / CLUSTER_STEPS + PN_LANES) & ~(uint64_t)(PN_LANES - 1);
      r->at = (uint32_t)PN_MIN((uint64_t)r->count, wanted);
      pn_assignRange(tree, pn_renewedOrder(r), from, r->at, pn_renewedCells(r));
      kept->ordered += (uint64_t)CLUSTER_STEPS * (r->at - from);
      nextStage(r, PN_RENEW_READY);
      break;
    }
    default: break;
  }
  return kept->ordered - before;
}

void pn_stepRenewal(const pnTree *tree, pnBuckets *b, uint64_t steps, const pnTasks *tasks) {
  pnKept *kept = pn_keptOf(b);
  pnRenewal *r = &kept->renewal;
  if (r->room < b->room) r->stage = PN_RENEW_NONE; /* the soup has outgrown it */
  /* what came since is merged later, into the order of the curve: then what follows is for nothing */
  bool changed = b->soup->changedLast != r->seen;
  while (steps > 0 && r->stage != PN_RENEW_NONE && r->stage != PN_RENEW_READY) {
    if (changed && r->stage > PN_RENEW_RUNS) {
      r->stage = PN_RENEW_READY;
      break;
    }
    uint64_t taken = stepStage(tree, b, steps, tasks);
    steps -= PN_MIN(steps, taken);
  }
}
