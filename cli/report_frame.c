/* report_frame.c: positions and pairs of a frame into few bytes.
 *
 * Positions. Frames come in groups of 32. The first of each group is a *key frame*, stored by itself; the others are
 * expected half-way between two frames around them, halving the group again and again:
 *
 *     key                               key          rank 32 and below (see report_thin.c)
 *      0        8       16      24       32
 *      |        |        x       |        |          rank 33   from 0 and 32
 *      |        x        |       x        |          rank 34   from 0 and 16, 16 and 32
 *      |   x    |   x    |   x   |   x    |          rank 35   ... down to odd frames, rank 37
 *
 * so that the highest ranks can be left out later without touching the rest, any frame needs at most 2 + 5 others, and
 * what is missed by the guess in time is smooth over the mesh, which the parallelogram rule (report_mesh.c) then
 * removes. The order is that of hierarchical B-frames in video coding. What is left are mostly single-digit integers:
 * folded to unsigned, split into four planes of bytes, deflated. All arithmetic wraps modulo 2^32, in C as in the page.
 */
#include "report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounded positions stay below 2^29, so that the sum of two fits an int32. 2^29 steps are 8192 times the size of the
 * body; what lies farther out is drawn at that distance. */
#define FARTHEST 536870912.0

void pn_roundPositions(const pnReport *report, const float *const *positions, int32_t *raw) {
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    const pnBodyData *body = &report->bodies[b];
    for (uint32_t i = 0; i < body->siteCount; ++i) {
      const float *p = positions[b] + 3 * (size_t)body->siteVertex[i];
      for (int k = 0; k < 3; ++k) {
        double steps = floor((p[k] - body->origin[k]) / body->step + 0.5);
        steps = steps > FARTHEST ? FARTHEST : steps < -FARTHEST ? -FARTHEST : steps;
        *raw++ = (int32_t)steps;
      }
    }
  }
}

/* What prediction leaves of one body; `difference` has the zero site at its front. Writes 3 numbers a site. */
static void foldBody(const pnBodyData *body, int32_t *difference, uint32_t *folded) {
  uint32_t *d = (uint32_t *)difference;
  d[0] = d[1] = d[2] = 0;
  for (size_t i = 0; i < body->siteCount; ++i) {
    const pnPredictor *p = &body->predictors[i];
    for (size_t k = 0; k < 3; ++k) {
      uint32_t guess = d[3 * (size_t)p->a + k] + d[3 * (size_t)p->b + k] - d[3 * (size_t)p->c + k];
      uint32_t rest = d[3 * (i + 1) + k] - guess;
      folded[3 * i + k] = rest << 1 ^ (0u - (rest >> 31));
    }
  }
}

/* Packs one frame: raw positions, expected half-way between `low` and `high` (null: expected nowhere). */
static pnResult packPositions(pnReport *report, const int32_t *raw, const int32_t *low, const int32_t *high,
                              pnBlob *outBlob) {
  if (report->noView) return PN_OK;
  size_t siteCount = report->siteCount, start = 0;
  uint32_t *folded = report->folded;
  for (uint32_t b = 0; b < report->bodyCount; ++b) {
    const pnBodyData *body = &report->bodies[b];

    // the guess in time; an arithmetic shift rounds down, as >> does in the page
    for (size_t i = 0; i < 3 * (size_t)body->siteCount; ++i) {
      int32_t guess = low == NULL ? 0 : (low[3 * start + i] + high[3 * start + i]) >> 1;
      report->difference[3 + i] = raw[3 * start + i] - guess;
    }

    // the guess over the mesh
    foldBody(body, report->difference, folded + 3 * start);
    start += body->siteCount;
  }

  // planes: lowest bytes of all x, of all y, of all z, then the next bytes
  uint8_t *plane = report->planes;
  for (int shift = 0; shift < 32; shift += 8) {
    for (size_t k = 0; k < 3; ++k)
      for (size_t i = 0; i < siteCount; ++i) *plane++ = (uint8_t)(folded[3 * i + k] >> shift);
  }
  return pn_deflate(report->planes, 12 * siteCount, &outBlob->data, &outBlob->size);
}

/* Is any frame strictly between the two kept for its pairs? */
static bool keepsBetween(const pnReport *report, uint32_t low, uint32_t high) {
  for (uint32_t f = low + 1; f < high; ++f)
    if (pn_isKept(report, f)) return true;
  return false;
}

/* Packs the frames strictly between two stored ones, half-way first. */
static pnResult packBetween(pnReport *report, uint32_t low, uint32_t high, uint32_t rank) {
  if (high - low < 2) return PN_OK;
  uint32_t middle = low + (high - low) / 2;
  report->frames[middle].rank = rank;
  pnResult result = PN_OK;

  // a rank that is thinned already is skipped with all below it, unless something there is kept
  if (rank < report->positionCut || keepsBetween(report, low, high)) {
    pnFrameData *frame = &report->frames[middle];
    int32_t **raw = report->groupRaw;
    uint32_t start = report->groupStart;
    result = packPositions(report, raw[middle - start], raw[low - start], raw[high - start], &frame->positions);
    frame->low = low;
    frame->high = high;
    report->positionBytes += frame->positions.size;
  }
  if (result == PN_OK) result = packBetween(report, low, middle, rank + 1);
  if (result == PN_OK) result = packBetween(report, middle, high, rank + 1);
  return result;
}

/* Rank of a key frame: odd ones go first, then those that are odd times two, and so on; frame 0 is the last to go. */
static uint32_t rankOfKey(uint32_t ordinal) {
  uint32_t rank = PN_REPORT_KEY_RANK;
  while (rank > 1 && ordinal % 2 == 0 && ordinal != 0) {
    ordinal /= 2;
    --rank;
  }
  return ordinal == 0 ? 0 : rank;
}

static pnResult packKey(pnReport *report, uint32_t f) {
  pnFrameData *frame = &report->frames[f];
  frame->rank = rankOfKey((f + report->groupSize - 1) / report->groupSize);
  if (!report->groupOpen && f > 0) frame->rank = PN_REPORT_CLIP_RANK;
  frame->low = frame->high = PN_REPORT_NO_FRAME;
  pnResult result = packPositions(report, report->groupRaw[f - report->groupStart], NULL, NULL, &frame->positions);
  report->positionBytes += frame->positions.size;
  return result;
}

pnResult pn_flushGroup(pnReport *report, bool last) {
  uint32_t start = report->groupStart, fill = report->groupFill;

  // the first frame of all, or of a clip, is a key, stored as soon as it is there
  if (!report->groupOpen && fill == 1) {
    pnResult result = packKey(report, start);
    report->groupOpen = true;
    return result;
  }
  if (fill <= (last ? 1 : report->groupSize)) return last ? pn_thin(report) : PN_OK;

  // close the group: its last frame is a key, the others lie between two keys
  uint32_t end = start + fill - 1;
  pnResult result = packKey(report, end);
  if (result == PN_OK) result = packBetween(report, start, end, PN_REPORT_KEY_RANK + 1);

  // the last frame opens the next group
  int32_t *raw = report->groupRaw[0];
  report->groupRaw[0] = report->groupRaw[fill - 1];
  report->groupRaw[fill - 1] = raw;
  report->groupStart = end;
  report->groupFill = 1;
  return result == PN_OK ? pn_thin(report) : result;
}

/* Per pair of bodies: a, b, how many; then each pair's triangles as steps from the pair before; then their findings, a
 * number and for how many pairs it holds, until all have one. */
pnResult pn_packPairs(const pnReportPair *pairs, size_t pairCount, pnBlob *outBlob) {
  pnBytes bytes = {0};
  for (size_t i = 0; i < pairCount;) {
    size_t end = i + 1;
    while (end < pairCount && pairs[end].a == pairs[i].a && pairs[end].b == pairs[i].b) ++end;
    pn_bytesVarint(&bytes, pairs[i].a);
    pn_bytesVarint(&bytes, pairs[i].b);
    pn_bytesVarint(&bytes, end - i);
    uint32_t triangleA = 0, triangleB = 0;
    size_t begin = i;
    for (; i < end; ++i) {
      pn_bytesVarint(&bytes, pairs[i].triangleA - triangleA);
      pn_bytesSigned(&bytes, (int64_t)pairs[i].triangleB - triangleB);
      triangleA = pairs[i].triangleA;
      triangleB = pairs[i].triangleB;
    }
    for (size_t k = begin; k < end;) {
      size_t same = k + 1;
      while (same < end && pairs[same].finding == pairs[k].finding) ++same;
      pn_bytesVarint(&bytes, pairs[k].finding);
      pn_bytesVarint(&bytes, same - k);
      k = same;
    }
  }
  pnResult result = bytes.failed ? pn_reportFailMemory() : PN_OK;
  if (result == PN_OK && bytes.size > 0) result = pn_deflate(bytes.data, bytes.size, &outBlob->data, &outBlob->size);
  pn_bytesFree(&bytes);
  return result;
}
