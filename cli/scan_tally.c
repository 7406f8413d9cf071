/* scan_tally.c: what stays of the frames, for each two bodies that ever met: when first, where worst, in which intervals
 * of frames, between which joints. Its size follows the bodies, never the frames. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- finding the entry of two bodies */

static uint32_t placeOf(const pnScanTallies *tallies, uint32_t a, uint32_t b) {
  // Any mixing will do: a large odd number spreads a, b is added, and the table is at most half full.
  uint32_t place = (a * 2654435761u + b) & (tallies->tableSize - 1);
  while (tallies->table[place] != 0) {
    const pnScanTally *tally = &tallies->data[tallies->table[place] - 1];
    if (tally->a == a && tally->b == b) break;
    place = (place + 1) & (tallies->tableSize - 1);
  }
  return place;
}

static bool growTallies(pnScanTallies *tallies) {
  uint32_t capacity = tallies->capacity ? 2 * tallies->capacity : 16;
  pnScanTally *data = realloc(tallies->data, capacity * sizeof(pnScanTally));
  if (data) tallies->data = data;
  uint32_t *table = data ? calloc(2 * (size_t)capacity, sizeof(uint32_t)) : NULL;
  if (!table) return false;
  free(tallies->table);
  tallies->table = table;
  tallies->tableSize = 2 * capacity;
  tallies->capacity = capacity;
  for (uint32_t i = 0; i < tallies->count; ++i) table[placeOf(tallies, data[i].a, data[i].b)] = i + 1;
  return true;
}

/* The entry of a and b, a new one when they had none; null without memory. */
static pnScanTally *tallyOf(pnScan *scan, uint32_t a, uint32_t b) {
  pnScanTallies *tallies = &scan->tallies;
  if (tallies->count == tallies->capacity && !growTallies(tallies)) return NULL;
  uint32_t place = placeOf(tallies, a, b);
  if (tallies->table[place] != 0) return &tallies->data[tallies->table[place] - 1];
  uint32_t groupsA = scan->bodies[a].groupCount, groupsB = scan->bodies[b].groupCount;
  pnScanTally tally = {.a = a, .b = b};
  if (groupsA > 0) tally.groupsA = calloc(groupsA, sizeof(uint64_t));
  if (groupsB > 0) tally.groupsB = calloc(groupsB, sizeof(uint64_t));
  if ((groupsA > 0 && !tally.groupsA) || (groupsB > 0 && !tally.groupsB)) {
    free(tally.groupsA);
    free(tally.groupsB);
    return NULL;
  }
  tallies->data[tallies->count++] = tally;
  tallies->table[place] = tallies->count;
  return &tallies->data[tallies->count - 1];
}

/* ---------------------------------------------------------------- adding a frame */

/* A frame that follows the last one prolongs the interval; else a new one begins. */
static void addToInterval(pnScanTally *tally, uint32_t run, int64_t number, int64_t step) {
  bool goesOn = tally->frameCount > 0 && tally->lastRun == run && number - tally->lastFrame == step;
  if (!goesOn) {
    if (tally->intervalCount < PN_SCAN_INTERVALS) tally->begins[tally->intervalCount] = number;
    ++tally->intervalCount;
  }
  if (tally->intervalCount <= PN_SCAN_INTERVALS) tally->ends[tally->intervalCount - 1] = number;
  tally->lastFrame = number;
  tally->lastRun = run;
}

static void addGroups(const pnScan *scan, pnScanTally *tally, const pnScanContact *contact) {
  for (size_t i = 0; i < contact->pairCount; ++i) {
    uint16_t groupA = pn_scanTriangleGroup(&scan->bodies[tally->a], contact->pairs[i].a);
    uint16_t groupB = pn_scanTriangleGroup(&scan->bodies[tally->b], contact->pairs[i].b);
    if (groupA != PN_REPORT_NO_GROUP) ++tally->groupsA[groupA];
    if (groupB != PN_REPORT_NO_GROUP) ++tally->groupsB[groupB];
  }
}

pnResult pn_scanTallyFrame(pnScan *scan) {
  const pnScanFrame *frame = &scan->frame;
  pnScanTallies *all = &scan->tallies;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnScanContact *contact = &frame->contacts[i];
    pnScanTally *tally = tallyOf(scan, contact->a, contact->b);
    if (!tally) return pnFail(PN_ERROR_MEMORY, "out of memory for the count of two bodies");
    addToInterval(tally, frame->run, frame->number, scan->range.step);
    if (tally->frameCount++ == 0) tally->firstFrame = frame->number, tally->firstRun = frame->run;
    if (contact->pairCount > tally->worstPairs) {
      tally->worstPairs = contact->pairCount;
      tally->worstFrame = frame->number;
      tally->worstRun = frame->run;
    }
    tally->pairCount += contact->pairCount;
    addGroups(scan, tally, contact);
  }
  ++all->frameCount;
  if (frame->pairCount > 0) ++all->collidingFrames;
  if (frame->pairCount > 0 && frame->newCount > 0) ++all->newFrames;
  if (frame->pairCount > all->worstPairs) {
    all->worstPairs = frame->pairCount;
    all->worstFrame = frame->number;
    all->worstRun = frame->run;
  }
  all->pairCount += frame->pairCount;
  return PN_OK;
}
