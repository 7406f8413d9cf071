/* scan_block.c: a frame as bytes, and back with distrust.
 *
 *   flags (1: more pairs than --max-pairs), contacts
 *   each contact   a, b, pairs; each pair as steps from the one before
 *   bytes of the look, the look (pinch/find.h)
 *
 * With --between the way to the frame comes before it: 1 when it was too much to look through, passages, moments, and of each moment
 *
 *   thousandths of a frame after the frame before, passages; of each of these a, b, first, last (doubles), impacts, pairs
 *   then as a frame
 *
 * All numbers are varints. Pairs are sorted, so their steps are small. */
#include "scan_deal.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- into bytes */

static void putContact(const pnScanContact *contact, pnBytes *out) {
  uint32_t a = 0, b = 0;
  pn_bytesVarint(out, contact->a);
  pn_bytesVarint(out, contact->b);
  pn_bytesVarint(out, contact->pairCount);
  for (size_t i = 0; i < contact->pairCount; ++i) {
    pn_bytesVarint(out, contact->pairs[i].a - a);
    pn_bytesSigned(out, (int64_t)contact->pairs[i].b - b);
    a = contact->pairs[i].a;
    b = contact->pairs[i].b;
  }
}

/* What scan->frame has, and the look at it. */
static pnResult putFrame(pnScan *scan, pnBytes *out) {
  const void *look;
  size_t lookBytes;
  pnResult result = pn_findLook(scan, &look, &lookBytes);
  if (result != PN_OK) return result;
  const pnScanFrame *frame = &scan->frame;
  pn_bytesVarint(out, frame->limited);
  pn_bytesVarint(out, frame->contactCount);
  for (uint32_t i = 0; i < frame->contactCount; ++i) putContact(&frame->contacts[i], out);
  pn_bytesVarint(out, lookBytes);
  pn_bytesAdd(out, look, lookBytes);
  return out->failed ? pnFail(PN_ERROR_MEMORY, "out of memory for the pairs of a frame") : PN_OK;
}

/* Moments of a step, as they are found. */
typedef struct Moments {
  uint32_t count;
  pnBytes bytes;
} Moments;

static pnResult putMoment(pnScan *scan, void *context) {
  const pnScanBetween *between = &scan->between;
  Moments *moments = context;
  pnBytes *out = &moments->bytes;
  uint32_t shown = 0;
  for (size_t i = 0; i < between->passageCount; ++i) shown += between->passages[i].moment == between->moment;
  pn_bytesVarint(out, (uint64_t)between->moment);
  pn_bytesVarint(out, shown);
  for (size_t i = 0; i < between->passageCount; ++i) {
    const pnScanPassage *passage = &between->passages[i];
    if (passage->moment != between->moment) continue;
    pn_bytesVarint(out, passage->a);
    pn_bytesVarint(out, passage->b);
    pn_bytesDouble(out, passage->core.first);
    pn_bytesDouble(out, passage->core.last);
    pn_bytesVarint(out, passage->core.impactCount);
    pn_bytesVarint(out, passage->core.pairCount);
  }
  ++moments->count;
  return putFrame(scan, out);
}

/* The way to frame `number`. The frame before is gone back to unless everything still stands in it. */
static pnResult putMoments(pnScan *scan, int64_t number, bool hasBefore, pnBytes *out) {
  pnScanBetween *between = &scan->between;
  Moments moments = {0};
  int64_t before = number - scan->range.step;
  uint32_t limited = between->limitedSteps;
  uint64_t total = between->passageTotal;
  bool stands = between->begun && between->run == scan->run && between->from == before;
  pnResult result = PN_OK;
  between->standing = false;
  between->begun = between->begun && hasBefore;
  if (hasBefore && !stands) {
    pn_scanBeginFrame(scan, before);
    result = pn_scanMove(scan, before, true);
    if (result == PN_OK) result = pn_scanCollide(scan);
    if (result == PN_OK) result = pn_betweenBegin(scan);
  }
  if (result == PN_OK) result = pn_scanLookBetween(scan, number, putMoment, &moments);
  pn_bytesVarint(out, between->limitedSteps - limited);
  pn_bytesVarint(out, between->passageTotal - total);
  pn_bytesVarint(out, moments.count);
  pn_bytesAdd(out, moments.bytes.data, moments.bytes.size);
  out->failed |= moments.bytes.failed;
  pn_bytesFree(&moments.bytes);
  return result;
}

static pnResult makeBlock(pnScan *scan, int64_t number, bool hasBefore, pnBytes *out) {
  pnResult result = scan->options->between ? putMoments(scan, number, hasBefore, out) : PN_OK;
  if (result != PN_OK) return result;
  pn_scanBeginFrame(scan, number);
  if (!scan->between.standing) result = pn_scanMove(scan, number, true);
  if (result == PN_OK && !scan->between.standing) result = pn_scanCollide(scan);
  if (result == PN_OK) result = pn_betweenBegin(scan);
  return result == PN_OK ? putFrame(scan, out) : result;
}

pnResult pn_blockMake(pnScan *scan, int64_t number, bool hasBefore, pnBytes *out) {
  // Who looks and who takes may be in different frames.
  pnScanBetween taker = scan->between;
  scan->between = scan->deal->between;
  pnResult result = makeBlock(scan, number, hasBefore, out);
  if (result != PN_OK) scan->between.begun = scan->between.standing = false;
  scan->deal->between = scan->between;
  scan->between = taker;
  return result;
}

/* ---------------------------------------------------------------- back */

typedef struct Reading {
  const uint8_t *at, *end;
  bool isWrong;
} Reading;

static uint64_t takeVarint(Reading *in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (in->at == in->end) break;
    uint8_t byte = *in->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  in->isWrong = true;
  return 0;
}

/* A number below `end`. */
static uint32_t takeBelow(Reading *in, uint64_t end) {
  uint64_t value = takeVarint(in);
  in->isWrong |= value >= end;
  return in->isWrong ? 0 : (uint32_t)value;
}

static int64_t takeSigned(Reading *in) {
  uint64_t value = takeVarint(in);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static double takeDouble(Reading *in) {
  double value = 0;
  uint8_t bytes[8];
  if (in->end - in->at < 8) in->isWrong = true;
  if (in->isWrong) return 0;
  for (int i = 0; i < 8; ++i) bytes[i] = *in->at++;
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= (uint64_t)bytes[i] << (8 * i);
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static bool makeRoomForPairs(pnScan *scan, size_t count) {
  if (count <= scan->takenCapacity) return true;
  pnPair *pairs = realloc(scan->taken, 2 * count * sizeof(pnPair));
  if (!pairs) return false;
  scan->taken = pairs;
  scan->takenCapacity = 2 * count;
  return true;
}

/* The pairs of a contact, sorted and each once, behind those of the contacts before. */
static pnResult takePairs(pnScan *scan, Reading *in, size_t first, pnScanContact *contact) {
  uint32_t endA = pnMesh_GetTriangleCount(scan->bodies[contact->a].mesh);
  uint32_t endB = pnMesh_GetTriangleCount(scan->bodies[contact->b].mesh);
  uint64_t count = takeVarint(in);
  // A pair takes two bytes at least: no memory for more than there can be.
  in->isWrong |= count == 0 || count > (uint64_t)(in->end - in->at) / 2;
  if (in->isWrong) return PN_OK;
  if (!makeRoomForPairs(scan, first + count))
    return pnFail(PN_ERROR_MEMORY, "out of memory for %llu pairs", (unsigned long long)count);
  int64_t a = 0, b = 0;
  for (uint64_t i = 0; i < count && !in->isWrong; ++i) {
    int64_t stepA = (int64_t)takeBelow(in, endA), stepB = takeSigned(in);
    a += stepA;
    bool inside = stepB > -(int64_t)UINT32_MAX && stepB < (int64_t)UINT32_MAX;
    b += inside ? stepB : 0;
    in->isWrong |= !inside || a >= endA || b < 0 || b >= endB || (i > 0 && stepA == 0 && stepB <= 0);
    if (!in->isWrong) scan->taken[first + i] = (pnPair){(uint32_t)a, (uint32_t)b};
  }
  contact->pairCount = contact->newCount = count;
  return PN_OK;
}

static pnResult takeContacts(pnScan *scan, Reading *in) {
  pnScanFrame *frame = &scan->frame;
  uint64_t count = takeVarint(in);
  in->isWrong |= count > (uint64_t)(in->end - in->at);
  pnResult result = in->isWrong ? PN_OK : pn_scanBeginContacts(frame, (uint32_t)count);
  for (uint64_t i = 0; i < count && !in->isWrong && result == PN_OK; ++i) {
    pnScanContact contact = {.a = takeBelow(in, scan->bodyCount), .b = takeBelow(in, scan->bodyCount)};
    const pnScanContact *last = i > 0 ? &frame->contacts[i - 1] : NULL;
    bool ordered = !last || last->a < contact.a || (last->a == contact.a && last->b < contact.b);
    in->isWrong |=
        !ordered || contact.a > contact.b || !scan->bodies[contact.a].wanted || !scan->bodies[contact.b].wanted;
    if (in->isWrong) break;
    result = takePairs(scan, in, frame->pairCount, &contact);
    if (in->isWrong || result != PN_OK) break;
    frame->contacts[frame->contactCount++] = contact;
    frame->pairCount += contact.pairCount;
  }
  // The memory has stopped moving.
  for (size_t i = 0, used = 0; i < frame->contactCount && !in->isWrong; used += frame->contacts[i++].pairCount)
    frame->contacts[i].pairs = scan->taken + used;
  frame->newCount = frame->pairCount;
  return result;
}

/* Moves the bodies to where scan->frame is, without those of caches if that will do. Who looks must go back to its frame. */
static pnResult moveToFrame(pnScan *scan, bool caches) {
  const pnScanFrame *frame = &scan->frame;
  scan->deal->between.begun = false;
  return frame->isMoment ? pn_scanMoveTo(scan, frame->number, (double)frame->part / PN_FRAME_PARTS)
                         : pn_scanMove(scan, frame->number, caches);
}

/* Where the bodies must be when the block is taken: for the report everything; for what is carried, all but caches. */
static pnResult moveAsNeeded(pnScan *scan, const uint8_t *look, size_t lookBytes) {
  if (scan->files.report) return moveToFrame(scan, true);
  bool needed = scan->findings.finder && pnFinder_LookNeedsPoses(look, lookBytes);
  return needed ? moveToFrame(scan, false) : PN_OK;
}

static pnResult isNoFrame(void) {
  return pnFail(PN_ERROR_FORMAT, "this is no frame of these bodies");
}

/* Fills scan->frame and the findings. PN_ERROR_KIND: the look leans on a frame that whoever made it saw and we have not. */
static pnResult takeFrame(pnScan *scan, Reading *in) {
  scan->frame.limited = takeBelow(in, 2);
  pnResult result = takeContacts(scan, in);
  if (result != PN_OK) return result;
  uint64_t lookBytes = in->isWrong ? 0 : takeVarint(in);
  bool none = scan->findings.finder == NULL;
  if (in->isWrong || lookBytes > (uint64_t)(in->end - in->at) || (none && lookBytes > 0)) return isNoFrame();
  const uint8_t *look = in->at;
  in->at += lookBytes;
  result = moveAsNeeded(scan, look, (size_t)lookBytes);
  return result == PN_OK ? pn_findTake(scan, look, (size_t)lookBytes) : result;
}

static pnResult takePassages(pnScan *scan, Reading *in) {
  pnScanBetween *between = &scan->between;
  uint64_t count = takeVarint(in);
  // A passage takes twenty bytes at least.
  in->isWrong |= count > (uint64_t)(in->end - in->at) / 20;
  pnResult result = in->isWrong ? PN_OK : pn_reservePassages(between, (size_t)count);
  between->passageCount = 0;
  for (uint64_t i = 0; i < count && !in->isWrong && result == PN_OK; ++i) {
    pnScanPassage passage = {.a = takeBelow(in, scan->bodyCount), .b = takeBelow(in, scan->bodyCount)};
    passage.core.first = takeDouble(in);
    passage.core.last = takeDouble(in);
    passage.core.impactCount = (size_t)takeVarint(in);
    passage.core.pairCount = (size_t)takeVarint(in);
    passage.moment = between->moment;
    in->isWrong |= !(passage.core.first >= 0 && passage.core.last >= passage.core.first && passage.core.last <= 1);
    between->passages[between->passageCount++] = passage;
  }
  return result;
}

static pnResult takeMoment(pnScan *scan, Reading *in) {
  uint32_t moment = takeBelow(in, (uint64_t)(scan->between.to - scan->between.from) * PN_FRAME_PARTS);
  pn_beginMoment(scan, moment);
  pnResult result = takePassages(scan, in);
  Reading again = *in;
  if (result == PN_OK) result = takeFrame(scan, in);
  if (result == PN_ERROR_KIND) {
    // looked at once more, here
    result = moveToFrame(scan, true);
    if (result == PN_OK) result = pn_scanCollide(scan);
    scan->frame.limited = takeBelow(&again, 2);
    if (result == PN_OK) result = takeContacts(scan, &again);
    if (result == PN_OK) result = pn_findFrame(scan, false);
  }
  if (result == PN_OK) result = pn_scanWriteFrame(scan);
  ++scan->between.momentCount;
  return result;
}

static pnResult takeMoments(pnScan *scan, int64_t number, Reading *in) {
  pnScanBetween *between = &scan->between;
  between->from = number - scan->range.step;
  between->to = number;
  uint32_t limited = takeBelow(in, 2);
  uint64_t total = takeVarint(in), count = takeVarint(in);
  in->isWrong |= number == scan->range.first && limited + total + count > 0;
  pnResult result = PN_OK;
  for (uint64_t i = 0; i < count && !in->isWrong && result == PN_OK; ++i) result = takeMoment(scan, in);
  scan->frame.isMoment = false;
  scan->frame.part = 0;
  between->limitedSteps += limited;
  between->passageTotal += total;
  return result == PN_OK && in->isWrong ? isNoFrame() : result;
}

pnResult pn_blockTake(pnScan *scan, int64_t number, const void *bytes, size_t byteCount) {
  Reading in = {bytes, (const uint8_t *)bytes + byteCount, false};
  pnResult result = scan->options->between ? takeMoments(scan, number, &in) : PN_OK;
  if (result != PN_OK) return result;
  pn_scanBeginFrame(scan, number);
  result = takeFrame(scan, &in);
  if (result == PN_OK && in.at != in.end) return isNoFrame();
  if (result == PN_ERROR_KIND) {
    // looked at once more, here
    scan->deal->between.begun = false;
    return pn_scanLookAtFrame(scan, number);
  }
  return result == PN_OK ? pn_scanCountFrame(scan) : result;
}
