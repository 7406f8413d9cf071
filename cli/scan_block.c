/* scan_block.c: a frame as bytes, and back with distrust.
 *
 *   flags (1: more pairs than --max-pairs), contacts
 *   each contact   a, b, pairs; each pair as steps from the one before
 *   bytes of the look, the look (pinch/find.h)
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

pnResult pn_blockMake(pnScan *scan, int64_t number, pnBytes *out) {
  const void *look;
  size_t lookBytes;
  pn_scanBeginFrame(scan, number);
  pnResult result = pn_scanMove(scan, number, true);
  if (result == PN_OK) result = pn_scanCollide(scan);
  if (result == PN_OK) result = pn_findLook(scan, &look, &lookBytes);
  if (result != PN_OK) return result;
  const pnScanFrame *frame = &scan->frame;
  pn_bytesVarint(out, frame->limited);
  pn_bytesVarint(out, frame->contactCount);
  for (uint32_t i = 0; i < frame->contactCount; ++i) putContact(&frame->contacts[i], out);
  pn_bytesVarint(out, lookBytes);
  pn_bytesAdd(out, look, lookBytes);
  return out->failed ? pnFail(PN_ERROR_MEMORY, "out of memory for the pairs of a frame") : PN_OK;
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

/* Where the bodies must be when the block is taken: for the report everything; for what is carried, all but caches. */
static pnResult moveAsNeeded(pnScan *scan, int64_t number, const Reading *look) {
  if (scan->files.report) return pn_scanMove(scan, number, true);
  bool needed = scan->findings.finder && pnFinder_LookNeedsPoses(look->at, (size_t)(look->end - look->at));
  return needed ? pn_scanMove(scan, number, false) : PN_OK;
}

pnResult pn_blockTake(pnScan *scan, int64_t number, const void *bytes, size_t byteCount) {
  Reading in = {bytes, (const uint8_t *)bytes + byteCount, false};
  pn_scanBeginFrame(scan, number);
  scan->frame.limited = takeBelow(&in, 2);
  pnResult result = takeContacts(scan, &in);
  if (result != PN_OK) return result;
  uint64_t lookBytes = in.isWrong ? 0 : takeVarint(&in);
  bool none = scan->findings.finder == NULL;
  if (in.isWrong || lookBytes != (uint64_t)(in.end - in.at) || (none && lookBytes > 0))
    return pnFail(PN_ERROR_FORMAT, "this is no frame of these bodies");
  result = moveAsNeeded(scan, number, &in);
  if (result == PN_OK) result = pn_findTake(scan, in.at, (size_t)lookBytes);
  // It leans on a frame that whoever made it saw and we have not: looked at once more, here.
  if (result == PN_ERROR_KIND) return pn_scanLookAtFrame(scan, number);
  return result == PN_OK ? pn_scanCountFrame(scan) : result;
}
