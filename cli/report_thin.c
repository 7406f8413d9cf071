/* report_thin.c: what is left out when the file would grow past its limit.
 *
 * Every frame has a rank (report_frame.c). Thinning moves a cut down: frames whose rank is at or above the cut lose
 * their positions, so each move halves what is stored: first every odd frame, then every frame that is odd times two,
 * and so on. Three things are never dropped by a move:
 *   - frames kept for what meets in them: the deepest frame of each finding, which is what somebody who chooses it wants to
 *     see, the frames with the most pairs, and the one with the most of each pair of bodies;
 *   - frames that a stored frame is predicted from;
 *   - counts. The timeline and the matrix are always complete.
 * Pair lists are thinned by the same rule, with a cut of their own, only when they are the larger part of the file.
 * When both cuts are at the bottom, fewer frames are kept for their pairs, down to none.
 */
#include "report_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- who is kept */

/* Keeps `top` sorted by falling pair count; equal counts keep the earlier frame. */
static void noteTop(pnReport *report, uint32_t frame, uint64_t pairCount) {
  uint32_t at = report->topCount;
  while (at > 0 && report->frames[report->top[at - 1]].pairCount < pairCount) --at;
  if (at == PN_REPORT_TOP) return;
  if (report->topCount < PN_REPORT_TOP) report->topCount += 1;
  memmove(report->top + at + 1, report->top + at, (report->topCount - 1 - at) * sizeof report->top[0]);
  report->top[at] = frame;
}

static void noteWorst(pnReport *report, uint32_t frame, const pnReportPair *pair, uint64_t count) {
  for (uint32_t i = 0; i < report->worstCount; ++i) {
    pnWorst *worst = &report->worst[i];
    if (worst->a == pair->a && worst->b == pair->b) {
      if (worst->pairCount < count) {
        worst->pairCount = count;
        worst->frame = frame;
      }
      return;
    }
  }

  // body pairs beyond the 64th are covered by the worst frames of all only
  if (report->worstCount < PN_REPORT_WORST)
    report->worst[report->worstCount++] = (pnWorst){pair->a, pair->b, frame, count};
}

void pn_reportDepth(pnReport *report, uint32_t number, double depth) {
  uint32_t clip = report->clipCount > 0 ? report->clipCount - 1 : 0, frame = report->frameCount;
  pnDeepest found = {clip, number, frame, depth}, *least = NULL;
  for (uint32_t i = 0; i < report->deepestCount; ++i) {
    pnDeepest *deepest = &report->deepest[i];
    if (deepest->clip == clip && deepest->number == number) {
      if (deepest->depth < depth) *deepest = found;
      return;
    }
    if (!least || deepest->depth < least->depth) least = deepest;
  }
  // findings beyond so many: the deepest of all
  if (report->deepestCount < PN_REPORT_DEEPEST) report->deepest[report->deepestCount++] = found;
  else if (least->depth < depth) *least = found;
}

pnResult pn_noteCounts(pnReport *report, uint32_t frame, const pnReportPair *pairs, size_t pairCount) {
  // count the body pairs first: the format has their number before them
  uint64_t kinds = 0;
  for (size_t i = 0; i < pairCount; ++i)
    kinds += i == 0 || pairs[i].a != pairs[i - 1].a || pairs[i].b != pairs[i - 1].b;
  pn_bytesVarint(&report->counts, kinds);

  // then each of them
  for (size_t i = 0; i < pairCount;) {
    size_t start = i;
    while (i < pairCount && pairs[i].a == pairs[start].a && pairs[i].b == pairs[start].b) ++i;
    pn_bytesVarint(&report->counts, pairs[start].a);
    pn_bytesVarint(&report->counts, pairs[start].b);
    pn_bytesVarint(&report->counts, i - start);
    noteWorst(report, frame, &pairs[start], i - start);
  }
  if (pairCount > 0) noteTop(report, frame, pairCount);
  return report->counts.failed ? pn_reportFailMemory() : PN_OK;
}

/* Is a finding among those whose deepest frames are kept? As many as there are, and the deeper half of them for each halving of
 * the frames that are kept for their pairs. */
static bool isDeep(const pnReport *report, uint32_t i) {
  uint32_t deeper = 0, most = report->topKeep / 2 * (PN_REPORT_DEEPEST / (PN_REPORT_TOP / 2));
  for (uint32_t k = 0; k < report->deepestCount; ++k) deeper += report->deepest[k].depth > report->deepest[i].depth;
  return deeper < most;
}

bool pn_isKept(const pnReport *report, uint32_t frame) {
  for (uint32_t i = 0; i < report->topCount && i < report->topKeep; ++i)
    if (report->top[i] == frame) return true;
  for (uint32_t i = 0; i < report->deepestCount; ++i)
    if (report->deepest[i].frame == frame && isDeep(report, i)) return true;
  for (uint32_t i = 0; i < report->worstCount && report->topKeep == PN_REPORT_TOP; ++i)
    if (report->worst[i].frame == frame) return true;
  return false;
}

/* ---------------------------------------------------------------- dropping */

static void freeBlob(pnBlob *blob, uint64_t *total) {
  *total -= blob->size;
  free(blob->data);
  *blob = (pnBlob){0};
}

/* Marks the frame and all it is predicted from. */
static void markNeeded(const pnReport *report, uint32_t frame, uint8_t *needed) {
  while (frame != PN_REPORT_NO_FRAME && !needed[frame]) {
    needed[frame] = 1;
    if (report->frames[frame].low != PN_REPORT_NO_FRAME) markNeeded(report, report->frames[frame].high, needed);
    frame = report->frames[frame].low;
  }
}

/* Drops positions at or above the cut. The open end of the animation stays: the next group is predicted from it. */
static pnResult dropPositions(pnReport *report) {
  uint8_t *needed = calloc(report->frameCount, 1);
  if (needed == NULL) return pn_reportFailMemory();
  for (uint32_t f = 0; f < report->frameCount; ++f) {
    bool below = report->frames[f].rank < report->positionCut;
    if (report->frames[f].positions.size > 0 && (below || f == report->groupStart || pn_isKept(report, f)))
      markNeeded(report, f, needed);
  }
  for (uint32_t f = 0; f < report->frameCount; ++f)
    if (!needed[f]) freeBlob(&report->frames[f].positions, &report->positionBytes);
  free(needed);
  return PN_OK;
}

static void dropPairs(pnReport *report) {
  for (uint32_t f = 0; f < report->frameCount; ++f)
    if (report->frames[f].rank >= report->pairCut && !pn_isKept(report, f))
      freeBlob(&report->frames[f].pairs, &report->pairBytes);
}

uint64_t pn_reportSize(const pnReport *report) {
  // the index is deflated in the file, and never much longer than raw. A frame has its number (10 bytes at most), time
  // (8), block (1), two sizes (4 each, up to 256 MB) and two distances (1 each)
  uint64_t index = report->counts.size + 29 * (uint64_t)report->frameCount + 1024;
  // findings are deflated too
  uint64_t findings = report->findings.size + report->joins.size + 1024;
  uint64_t packed = report->positionBytes + report->pairBytes + report->topology.size + index + findings;

  // base64, the script elements around every block, the page and the names; any two blocks that follow each other have
  // more than a block's bytes together
  uint64_t blocks = 2 * packed / PN_REPORT_BLOCK + 2;
  return packed / 3 * 4 + 64 * blocks + report->pageTemplateSize + report->textBytes;
}

/* One move of a cut. False when nothing is left to move. */
static bool lowerCut(pnReport *report) {
  bool pairsFirst = report->pairBytes > report->positionBytes;
  if (report->positionCut == 0 && report->pairCut == 0) {
    // both at the bottom: keep half as many frames for their pairs
    bool any = report->topKeep > 0;
    report->topKeep /= 2;
    return any;
  }
  if ((pairsFirst && report->pairCut > 0) || report->positionCut == 0) report->pairCut -= 1;
  else report->positionCut -= 1;
  return true;
}

pnResult pn_thin(pnReport *report) {
  pnResult result = PN_OK;
  // first what was kept for a frame that is not the deepest or worst any more; then by lower cuts
  for (bool lower = false; result == PN_OK && pn_reportSize(report) > report->byteLimit; lower = true) {
    if (lower && !lowerCut(report)) break;
    dropPairs(report);
    result = dropPositions(report);
  }
  return result;
}
