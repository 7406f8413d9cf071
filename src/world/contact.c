/* contact.c: see contact.h. */
#include "world/contact.h"

#include "mesh/soup.h"
#include "world/job.h"

#include <string.h>

/* ---------------------------------------------------------------- how the answer is made */

static bool hasSoups(const pnWorld *world) {
  for (size_t i = 0; i < world->alone.count; ++i) /* they are among these */
    if (world->bodies.data[world->alone.data[i]].soup) return true;
  return false;
}

/* Does the last answer have all that this frame asks for, of bodies that stand? In the laboratory nothing is kept: what a frame costs is
 * asked there. */
static bool canMend(const pnWorld *world, const pnFrameDef *def) {
  if (!world->isWhole || !pn_asksAll(def) || def->lab || world->touched.count == world->bodyCount) return false;
  if (world->isWithoutSelf != def->noSelf || (world->isUnsorted && !def->unsorted)) return false;
  return world->generations.count == 2 * world->pairs.count || !hasSoups(world);
}

static void stir(const pnWorld *world, size_t place) {
  world->stirred.data[place / 64] |= 1ull << place % 64;
}

bool pn_beginAnswer(pnWorld *world, const pnFrameDef *def) {
  size_t words = (world->bodies.count + 63) / 64;
  world->isMended = canMend(world, def);
  if (!world->isMended) return true;
  if (!pn_arrayReserve(&world->stirred, words)) return false;
  memset(world->stirred.data, 0, words * sizeof(uint64_t));
  for (size_t i = 0; i < world->touched.count; ++i) stir(world, world->touched.data[i]);
  for (size_t i = 0; !world->isCurrent && i < world->bodies.count; ++i)
    if (!(world->bodies.data[i].generation & 1)) stir(world, i);
  return true;
}

/* ---------------------------------------------------------------- what was found */

/* The contacts of jobs that found something; what is beyond the most is cut off, with its pairs. */
bool pn_addContacts(pnWorld *world, uint32_t most, pnFrame *frame) {
  for (size_t j = 0; j < world->jobs.count; ++j) {
    const pnJob *job = &world->jobs.data[j];
    pnContact contact = {.state = PN_CONTACT_BEGIN, .firstPair = job->pairFirst, .pairCount = job->pairCount};
    if (job->pairCount == 0) continue;
    if (most > 0 && world->nextContacts.count == most) {
      frame->limited = true;
      world->collider.pairs.count = job->pairFirst;
      return true;
    }
    contact.a = pn_bodyId(world, world->jobBodies.data[j].a);
    contact.b = pn_bodyId(world, world->jobBodies.data[j].b);
    if (!pn_arrayPush(&world->nextContacts, contact)) return false;
    frame->pairCount += job->pairCount;
  }
  return true;
}

/* The generations of primitives in pairs of this frame, for ids that stay true whatever happens to the soup afterwards. */
bool pn_noteGenerations(pnWorld *world) {
  size_t count = 2 * world->collider.pairs.count;
  if (!hasSoups(world)) return true;
  if (!pn_arrayReserve(&world->nextGenerations, count)) return false;
  world->nextGenerations.count = count;
  for (size_t j = 0; j < world->jobs.count; ++j) {
    const pnJob *job = &world->jobs.data[j];
    const pnSoup *a = world->bodies.data[world->jobBodies.data[j].a].soup;
    const pnSoup *b = world->bodies.data[world->jobBodies.data[j].b].soup;
    for (size_t i = job->pairFirst; i < job->pairFirst + job->pairCount; ++i) {
      pnPair pair = world->collider.pairs.data[i];
      world->nextGenerations.data[2 * i] = a ? a->generation[pair.a] : 0;
      world->nextGenerations.data[2 * i + 1] = b ? b->generation[pair.b] : 0;
    }
  }
  return true;
}

/* ---------------------------------------------------------------- what has changed */

/* Contacts of the last answer between two that stand, and those of this frame that take their place. */
static bool endRun(pnWorld *world, size_t at, size_t end, size_t first, size_t last) {
  return (at == end && first == last) || pn_arrayPush(&world->splices, ((pnSplice){at, end - at, first, last - first}));
}

/* A merge of two sorted lists: which of this frame's contacts, in nextContacts, go on, and after them those that have ended. Those of destroyed
 * bodies are just gone. What stands goes on as it is; between that are the splices. */
static bool findChanges(pnWorld *world) {
  const pnContact *contacts = world->contacts.data;
  size_t count = world->nextContacts.count, i = 0, at = 0, first = 0;
  world->splices.count = 0;
  for (size_t o = 0; o < world->contactCount; ++o) {
    pnContact old = contacts[o], *next = world->nextContacts.data;
    while (i < count && pn_compareContacts(&next[i], &old) < 0) ++i;
    if (world->isMended && !pn_isStirred(world, old.a.index1 - 1, old.b.index1 - 1)) {
      if (!endRun(world, at, o, first, i)) return false;
      at = o + 1;
      first = i;
    } else if (i < count && pn_isSameBody(next[i].a, old.a) && pn_isSameBody(next[i].b, old.b)) {
      next[i].state = PN_CONTACT_PERSIST;
    } else if (pnBody_IsValid(world, old.a) && pnBody_IsValid(world, old.b)) {
      old.state = PN_CONTACT_END;
      old.firstPair = old.pairCount = 0;
      if (!pn_arrayPush(&world->nextContacts, old)) return false;
    }
  }
  return endRun(world, at, world->contactCount, first, count);
}

/* Does anything stand? Else the new answer is all there is. */
static bool doesAnyStand(const pnWorld *world) {
  const pnSplice *s = world->splices.data;
  return world->contactCount > 0 && !(world->splices.count == 1 && s->dropped == world->contactCount);
}

/* Where the pairs of a contact begin, or those of the last one end. */
static size_t firstPairOf(const pnContact *contacts, size_t count, const pnPairs *pairs, size_t i) {
  return i < count ? contacts[i].firstPair : pairs->count;
}

/* The splices of contacts are followed by those of their pairs; a frame that follows another by a little finds room for all of it. */
static bool splicePairs(pnWorld *world, size_t count, size_t ended) {
  size_t n = world->splices.count;
  if (!pn_arrayReserve(&world->splices, 2 * n)) return false;
  pnSplice *s = world->splices.data;
  for (size_t k = 0; k < n; ++k) {
    size_t at = firstPairOf(world->contacts.data, world->contactCount, &world->pairs, s[k].at);
    size_t end = firstPairOf(world->contacts.data, world->contactCount, &world->pairs, s[k].at + s[k].dropped);
    size_t first = firstPairOf(world->nextContacts.data, count, &world->collider.pairs, s[k].first);
    size_t last = firstPairOf(world->nextContacts.data, count, &world->collider.pairs, s[k].first + s[k].added);
    s[n + k] = (pnSplice){at, end - at, first, last - first};
  }
  size_t contacts = world->contactCount + (size_t)pn_gainOf(s, n),
         pairs = world->pairs.count + (size_t)pn_gainOf(s + n, n);
  return pn_arrayReserve(&world->contacts, contacts + ended) && pn_arrayReserve(&world->pairs, pairs) &&
         (!hasSoups(world) || pn_arrayReserve(&world->generations, 2 * pairs));
}

bool pn_endContacts(pnWorld *world, pnFrame *frame) {
  size_t count = world->nextContacts.count;
  if (!findChanges(world)) return false;
  frame->contactCount = (uint32_t)count;
  frame->endedCount = (uint32_t)(world->nextContacts.count - count);
  world->isMended = doesAnyStand(world);
  if (!world->isMended) return true;
  if (!splicePairs(world, count, frame->endedCount)) return false;
  size_t n = world->splices.count, found = frame->pairCount;
  frame->contactCount = world->contactCount + (uint32_t)pn_gainOf(world->splices.data, n);
  frame->pairCount = world->pairs.count + (size_t)pn_gainOf(world->splices.data + n, n);
  frame->cost.pairs += frame->pairCount - found;
  return true;
}

/* ---------------------------------------------------------------- the new answer */

/* The pairs of contacts that stand are elsewhere than they were; what began goes on. */
static void shiftContacts(pnWorld *world) {
  const pnSplice *s = world->splices.data;
  size_t n = world->splices.count;
  ptrdiff_t gain = 0;
  for (size_t k = 0; k <= n; ++k) {
    size_t begin = k > 0 ? s[k - 1].at + s[k - 1].dropped : 0, end = k < n ? s[k].at : world->contactCount;
    if (k > 0) gain += pn_gainOf(&s[n + k - 1], 1);
    for (size_t o = begin; o < end && (gain != 0 || !world->isSteady); ++o) {
      world->contacts.data[o].firstPair += (size_t)gain;
      world->contacts.data[o].state = PN_CONTACT_PERSIST;
    }
    size_t to = k < n ? (size_t)((ptrdiff_t)s[n + k].at + gain) - s[n + k].first : 0;
    for (size_t i = k < n ? s[k].first : 0; k < n && i < s[k].first + s[k].added; ++i)
      world->nextContacts.data[i].firstPair += to;
  }
}

/* What was found is put into the last answer, where there is room for it. */
static void mendAnswer(pnWorld *world, const pnFrame *frame) {
  const pnSplice *s = world->splices.data;
  size_t n = world->splices.count, pairs = world->pairs.count;
  size_t count = world->nextContacts.count - frame->endedCount;
  bool soups = hasSoups(world);
  shiftContacts(world);
  pn_splice(world->contacts.data, world->contactCount, sizeof(pnContact), world->nextContacts.data, s, n);
  if (frame->endedCount > 0)
    memcpy(world->contacts.data + frame->contactCount, world->nextContacts.data + count,
           frame->endedCount * sizeof(pnContact));
  pn_splice(world->pairs.data, pairs, sizeof(pnPair), world->collider.pairs.data, s + n, n);
  if (soups) pn_splice(world->generations.data, pairs, 2 * sizeof(uint32_t), world->nextGenerations.data, s + n, n);
  world->contacts.count = (size_t)frame->contactCount + frame->endedCount;
  world->pairs.count = frame->pairCount;
  world->generations.count = soups ? 2 * frame->pairCount : 0;
}

/* Lists that change places. */
#define EXCHANGE(a, b)               \
  do {                               \
    void *data = (a)->data;          \
    size_t count = (a)->count;       \
    size_t capacity = (a)->capacity; \
    (a)->data = (b)->data;           \
    (a)->count = (b)->count;         \
    (a)->capacity = (b)->capacity;   \
    (b)->data = data;                \
    (b)->count = count;              \
    (b)->capacity = capacity;        \
  } while (0)

static bool hasBegun(const pnWorld *world, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (world->nextContacts.data[i].state == PN_CONTACT_BEGIN) return true;
  return false;
}

void pn_publishContacts(pnWorld *world, const pnFrame *frame) {
  bool begun = hasBegun(world, world->nextContacts.count - frame->endedCount);
  if (world->isMended) {
    mendAnswer(world, frame);
  } else {
    EXCHANGE(&world->pairs, &world->collider.pairs);
    EXCHANGE(&world->contacts, &world->nextContacts);
    EXCHANGE(&world->generations, &world->nextGenerations);
    if (world->frameNumber == 0) pn_makeRoomLike(&world->collider.pairs, &world->pairs);
  }
  /* nothing of what is left beside it is worth copying when it grows */
  world->collider.pairs.count = world->nextContacts.count = world->nextGenerations.count = 0;
  world->contactCount = frame->contactCount;
  world->endedCount = frame->endedCount;
  world->isSteady = !begun;
  ++world->frameNumber;
}
