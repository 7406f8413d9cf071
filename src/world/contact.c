/* contact.c: see contact.h. */
#include "world/contact.h"

#include "mesh/soup.h"

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

/* After this frame's contacts in nextContacts the ended ones: a merge of two sorted lists. Those of destroyed bodies are just gone. */
bool pn_endContacts(pnWorld *world, pnFrame *frame) {
  uint32_t count = (uint32_t)world->nextContacts.count;
  if (!pn_arrayReserve(&world->nextContacts, (size_t)count + world->contactCount)) return false;
  pnContact *out = world->nextContacts.data;
  uint32_t ended = count, i = 0;
  for (uint32_t o = 0; o < world->contactCount; ++o) {
    pnContact old = world->contacts.data[o];
    while (i < count && pn_compareContacts(&out[i], &old) < 0) ++i;
    bool goesOn = i < count && pn_isSameBody(out[i].a, old.a) && pn_isSameBody(out[i].b, old.b);
    if (goesOn) {
      out[i].state = PN_CONTACT_PERSIST;
    } else if (pnBody_IsValid(world, old.a) && pnBody_IsValid(world, old.b)) {
      old.state = PN_CONTACT_END;
      old.firstPair = old.pairCount = 0;
      out[ended++] = old;
    }
  }
  frame->contactCount = count;
  frame->endedCount = ended - count;
  world->nextContacts.count = ended;
  return true;
}

/* The generations of primitives in pairs of this frame, for ids that stay true whatever happens to the soup afterwards. */
bool pn_noteGenerations(pnWorld *world) {
  bool any = false;
  for (size_t i = 0; i < world->alone.count; ++i) /* soups are among these */
    any = any || world->bodies.data[world->alone.data[i]].soup;
  size_t count = 2 * world->collider.pairs.count;
  if (!any || !pn_arrayReserve(&world->nextGenerations, count)) return !any;
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

/* The new answer takes the place of the old one. */
void pn_publishContacts(pnWorld *world, const pnFrame *frame) {
  pnPairs pairs = world->pairs;
  world->pairs = world->collider.pairs;
  world->collider.pairs = pairs;
  world->collider.pairs.count = 0;
  if (world->frameNumber == 0) pn_makeRoomLike(&world->collider.pairs, &world->pairs);
  void *data = world->contacts.data;
  size_t capacity = world->contacts.capacity;
  world->contacts.data = world->nextContacts.data;
  world->contacts.count = world->nextContacts.count;
  world->contacts.capacity = world->nextContacts.capacity;
  world->nextContacts.data = data;
  world->nextContacts.capacity = capacity;
  world->nextContacts.count = 0; /* nothing of the old answer is worth copying when it grows */
  world->contactCount = frame->contactCount;
  world->endedCount = frame->endedCount;
  uint32_t *generations = world->generations.data;
  capacity = world->generations.capacity;
  world->generations.data = world->nextGenerations.data;
  world->generations.count = world->nextGenerations.count;
  world->generations.capacity = world->nextGenerations.capacity;
  world->nextGenerations.data = generations;
  world->nextGenerations.capacity = capacity;
  world->nextGenerations.count = 0;
  ++world->frameNumber;
}
