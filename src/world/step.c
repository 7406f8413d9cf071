/* step.c: the frame on one page. It goes the way that docs/overview.md draws, in the same words:
 *
 *   pose, volumes    every body that has moved: its tree follows its pose, worn-out ones are built anew   follow.c
 *                    (those that had nothing near them: when a job asks for them)
 *   broad phase      which bodies are close                                                              follow.c, collide/broad.c
 *   traversal        one job for each close pair, one for each body that looks at itself                 job.c
 *   exact tests      the jobs are run, on all workers                                                    collide/jobs.c
 *   pairs            sorted, filtered, and as contacts: what began, goes on, ended                       contact.c
 *
 * The answer is put together beside the old one and takes its place at the end, so that a frame that fails changes
 * nothing. Where few have moved since, it is only what concerns them, and is put into the old one; where nobody has, the old one is it. */
#include "base/fenv.h"
#include "world/contact.h"
#include "world/focus.h"
#include "world/follow.h"
#include "world/job.h"

/* The next jobs are run, and what they found is kept; `found` counts pairs before filters. */
static pnResult runSome(pnWorld *world, const pnFrameDef *def, pnJobPlace *place, size_t *found, pnFrame *frame) {
  pnRunDef run = {.tasks = &world->def.tasks,
                  .kernel = def->lab ? def->lab->kernel : PN_KERNEL_DEFAULT,
                  .unsorted = def->unsorted,
                  .ahead = !def->first,
                  .small = !(def->lab && def->lab->noSmall)};
  pnPairs *pairs = &world->collider.pairs;
  double start = pn_clock();
  size_t base = pairs->count;
  if (!pn_listJobs(world, def, place)) return pn_failMemory(sizeof(pnJob));
  frame->broadSeconds += pn_clock() - start;
  if (pn_hasHints(def)) pn_tryHints(world, &frame->cost);
  pnResult result = pn_followAsked(world, frame);
  if (result != PN_OK) return result;
  start = pn_clock();
  if (!pn_beginJobs(world, def) || !pn_orderJobs(world)) return pn_failMemory(sizeof(pnJob));
  frame->broadSeconds += pn_clock() - start;
  /* when exactly as many are found as are wanted, the next one says that there are more */
  run.maxPairs = def->maxPairs > 0 ? def->maxPairs - *found + (def->maxPairs == *found) : 0;
  result =
      pn_runJobs(&world->collider, world->jobs.data, (uint32_t)world->jobs.count, &run, &frame->cost, &frame->limited);
  if (result != PN_OK) return result;
  if (def->maxPairs > 0 && def->maxPairs == *found && pairs->count > base) {
    frame->limited = true;
    pairs->count = base;
    return PN_OK;
  }
  *found += pairs->count - base;
  pn_bookWork(world);
  pn_judgeLooks(world);
  pn_filterJobs(world, def, base, &frame->cost);
  return pn_noteGenerations(world) && pn_addContacts(world, def->maxContacts, frame) ? PN_OK
                                                                                     : pn_failMemory(sizeof(pnContact));
}

/* The pairs of bodies after those that are listed. */
static pnResult listMore(pnWorld *world, pnJobPlace *place, pnFrame *frame) {
  double start = pn_clock();
  if (!pn_findNextClose(&world->broad)) return pn_failMemory(sizeof(pnPair));
  place->next = 0;
  frame->bodyPairs += (uint32_t)world->broad.pairs.count;
  frame->broadSeconds += pn_clock() - start;
  return PN_OK;
}

/* Traversal, exact tests, pairs: all jobs, so many at a time, until there are pairs enough. */
static pnResult runJobs(pnWorld *world, const pnFrameDef *def, pnFrame *frame) {
  pnJobPlace place = {.self = def->noSelf ? world->selves.count : 0};
  pnResult result = PN_OK;
  size_t found = 0;
  world->collider.pairs.count = world->nextContacts.count = world->nextGenerations.count = 0;
  while (result == PN_OK && !frame->limited)
    if (pn_areEnoughAsked(world, def, &place)) frame->limited = true;
    else if (pn_areJobsLeft(world, &place)) result = runSome(world, def, &place, &found, frame);
    else if (pn_isCloseLeft(&world->broad)) result = listMore(world, &place, frame);
    else break;
  return result;
}

/* Is the last answer that of this frame? Then nothing was moved, made, destroyed or given another mask since, nor moves anybody without telling
 * the world, and it has what is asked for. */
static bool isAnswered(const pnWorld *world, const pnFrameDef *def) {
  return world->isWhole && world->isCurrent && world->touched.count == 0 && pn_asksAll(def) && !def->lab &&
         def->noSelf == world->isWithoutSelf && def->unsorted == world->isUnsorted;
}

/* What began goes on, and what had ended is gone. */
static pnFrame answerAgain(pnWorld *world, double start) {
  for (uint32_t i = 0; !world->isSteady && i < world->contactCount; ++i)
    world->contacts.data[i].state = PN_CONTACT_PERSIST;
  world->isSteady = true;
  world->contacts.count = world->contactCount;
  world->endedCount = 0;
  world->opened = 0;
  ++world->frameNumber;
  return (pnFrame){.contactCount = world->contactCount,
                   .pairCount = world->pairs.count,
                   .bodyPairs = world->bodyPairs,
                   .cost.pairs = world->pairs.count,
                   .totalSeconds = pn_clock() - start};
}

pnFrame pnWorld_Collide(pnWorld *world, const pnFrameDef *def) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(world);
  pnFrameDef none = {0};
  pnFrame frame = {0};
  def = def ? def : &none;
  double start = pn_clock();
  if (isAnswered(world, def)) return answerAgain(world, start);
  /* pose, volumes, broad phase */
  frame.result = pn_followPoses(world, pn_hasHints(def), &frame);
  if (frame.result == PN_OK) {
    /* traversal, exact tests, pairs */
    frame.bodyPairs = (uint32_t)world->broad.pairs.count;
    frame.result = pn_beginAnswer(world, def) ? runJobs(world, def, &frame) : pn_failMemory(sizeof(uint64_t));
  }
  /* contacts */
  if (frame.result == PN_OK && !pn_endContacts(world, &frame)) frame.result = pn_failMemory(sizeof(pnContact));
  frame.cost.pairs = frame.limited ? frame.pairCount : frame.cost.pairs;
  if (frame.result == PN_OK) {
    pn_forgetTouched(world, &frame.cost);
    pn_publishContacts(world, &frame);
    world->isWhole = pn_asksAll(def);
    world->isWithoutSelf = def->noSelf;
    world->isUnsorted = def->unsorted;
    world->isCurrent = true;
    world->bodyPairs = frame.bodyPairs;
  } else {
    frame.contactCount = world->contactCount;
    frame.endedCount = world->endedCount;
    frame.pairCount = 0;
    for (uint32_t i = 0; i < world->contactCount; ++i) frame.pairCount += world->contacts.data[i].pairCount;
  }
  frame.totalSeconds = pn_clock() - start;
  return frame;
}

const pnContact *pnWorld_GetContacts(const pnWorld *world) {
  return world->contacts.data;
}
const pnPair *pnWorld_GetPairs(const pnWorld *world) {
  return world->pairs.data;
}
