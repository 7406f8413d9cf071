/* scan_world.c: the world of the bodies, and one frame of it.
 *
 * A frame hands weights, joints and transforms to the bodies, and vertices only to those that come from a cache; what
 * follows from that is the library's work. What already meets at rest is found once, and each frame's sorted pairs are
 * merged with it. */
#include "pool.h"
#include "rank.h"
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the world */

static pnResult addToWorld(pnScan *scan, pnScanBody *body) {
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = body->kind;
  def.mesh = body->mesh;
  def.morph = body->morph;
  def.skin = body->skin;
  def.self = body->self;
  def.name = body->name;
  def.userData = body;
  pn_choiceFilter(&scan->choice, (uint32_t)(body - scan->bodies), &def.category, &def.mask);
  // One that is only shown meets nobody.
  if (!body->wanted) def.category = def.mask = 0;
  return pnWorld_CreateBody(scan->world, &def, &body->id);
}

/* The poses of the world's bodies once more, on a device. The world moves them, and keeps the trees that findings are made with. */
static pnResult makeDeviceWorld(pnScan *scan) {
  pnResult result = pn_openDevice("scan", scan->options->device, &scan->device);
  if (result != PN_OK || !scan->device) return result;
  scan->deviceBodies = malloc(scan->bodyCount * sizeof(uint32_t) + 1);
  if (!scan->deviceBodies) return pnFail(PN_ERROR_MEMORY, "out of memory for %u bodies", scan->bodyCount);
  result = pnCreateDeviceWorld(scan->device, &scan->deviceWorld);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    pnScanBody *body = &scan->bodies[b];
    if (body->id.index1 == 0 || !body->wanted) continue;
    pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
    uint32_t number;
    def.pose = pnBody_GetPose(scan->world, body->id);
    def.self = body->self;
    pn_choiceFilter(&scan->choice, b, &def.category, &def.mask);
    result = pnDeviceWorld_AddBody(scan->deviceWorld, &def, &number);
    if (result == PN_OK) scan->deviceBodies[number] = b;
  }
  return result;
}

pnResult pn_scanMakeWorld(pnScan *scan) {
  uint32_t threads = scan->options->threads;
  // Ranks on one machine share its cores.
  if (threads == 0 && pn_rankNeighbours() > 1) threads = pn_shareCores(pn_rankNeighbours());
  pnResult result = pn_makePool("scan", threads, &scan->pool);
  if (result != PN_OK) return result;
  pnWorldDef def = pnDefaultWorldDef();
  def.tasks = pnPool_GetTasks(scan->pool);
  result = pnCreateWorld(&def, &scan->world);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b)
    if (scan->bodies[b].wanted || scan->options->html) result = addToWorld(scan, &scan->bodies[b]);
  return result == PN_OK ? makeDeviceWorld(scan) : result;
}

/* ---------------------------------------------------------------- moving */

/* The frame of the cache that stands at `number`: the last one that is not after it. */
static uint32_t cacheFrameAt(const pnScanSource *source, int64_t number) {
  uint32_t count = pnCache_GetInfo(source->cache).frameCount;
  if (!source->cacheByNumber) return number < 0 ? 0 : number >= count ? count - 1 : (uint32_t)number;
  // Invariant: the frame sought is in [low, high).
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (pnCache_GetTime(source->cache, middle) <= (double)number + 0.02) low = middle;
    else high = middle;
  }
  return low;
}

static pnResult readCache(pnScan *scan, pnScanBody *body, int64_t number) {
  pnScanSource *source = &scan->sources[body->source];
  uint32_t frame = cacheFrameAt(source, number);
  // While the same frame stays nothing is read.
  if (frame == body->verticesFrame) return PN_OK;
  pnResult result = pnCache_Read(source->cache, frame, body->vertices);
  if (result == PN_OK) body->verticesFrame = frame;
  return result;
}

static pnResult moveCacheBody(pnScan *scan, pnScanBody *body, int64_t number) {
  uint32_t stood = body->verticesFrame;
  pnResult result = readCache(scan, body, number);
  if (result != PN_OK || (stood == body->verticesFrame && !body->isBetween)) return result;
  body->isBetween = false;
  return pnBody_SetVertices(scan->world, body->id, body->vertices, pnMesh_GetVertexCount(body->mesh));
}

/* The vertices of frame `low` as those before, and of frame `high` as those read last. */
static pnResult readStep(pnScan *scan, pnScanBody *body, int64_t low, int64_t high) {
  size_t size = 3 * (size_t)pnMesh_GetVertexCount(body->mesh) * sizeof(float);
  uint32_t frame = cacheFrameAt(&scan->sources[body->source], low);
  if (!body->verticesBefore) {
    body->verticesBefore = malloc(size + 1);
    body->verticesBetween = malloc(size + 1);
    body->beforeFrame = PN_NONE;
  }
  if (!body->verticesBefore || !body->verticesBetween)
    return pnFail(PN_ERROR_MEMORY, "%s: out of memory for the vertices between two frames", body->name);
  pnResult result = PN_OK;
  if (body->beforeFrame != frame) {
    result = readCache(scan, body, low);
    memcpy(body->verticesBefore, body->vertices, size);
    body->beforeFrame = frame;
  }
  return result == PN_OK ? readCache(scan, body, high) : result;
}

/* The number of the frame at which frame `frame` of a cache stands. */
static int64_t numberOfCacheFrame(const pnScanSource *source, uint32_t frame) {
  return source->cacheByNumber ? (int64_t)ceil(pnCache_GetTime(source->cache, frame) - 0.02) : frame;
}

/* On the straight line between the two frames of the cache around frame `number` and t, or to an end of the step. */
static pnResult moveCacheBetween(pnScan *scan, pnScanBody *body, int64_t number, double t) {
  const pnScanSource *source = &scan->sources[body->source];
  uint32_t frame = cacheFrameAt(source, number);
  int64_t low = numberOfCacheFrame(source, frame), high = scan->between.to;
  if (low < scan->between.from || low > number) low = scan->between.from;
  if (frame + 1 < pnCache_GetInfo(source->cache).frameCount) {
    int64_t next = numberOfCacheFrame(source, frame + 1);
    high = next > number && next < high ? next : high;
  }
  double weight = ((double)(number - low) + t) / (double)(high - low);
  size_t count = 3 * (size_t)pnMesh_GetVertexCount(body->mesh);
  pnResult result = readStep(scan, body, low, high);
  for (size_t i = 0; i < count && result == PN_OK; ++i) {
    double from = body->verticesBefore[i], to = body->vertices[i];
    body->verticesBetween[i] = (float)(from + weight * (to - from));
  }
  body->isBetween = true;
  return result == PN_OK ? pnBody_SetVertices(scan->world, body->id, body->verticesBetween, (uint32_t)(count / 3))
                         : result;
}

static pnResult moveAnimBody(pnScan *scan, pnScanBody *body) {
  const pnScanSource *source = &scan->sources[body->source];
  uint32_t number = body->animBody;
  pnResult result = PN_OK;
  if (body->morph)
    result = pnBody_SetWeights(scan->world, body->id, pnAnimState_GetWeights(source->state, number),
                               source->file->bodies[number].targetCount);
  if (result != PN_OK) return result;
  if (body->skin)
    return pnBody_SetJoints(scan->world, body->id, pnAnimState_GetJoints(source->state, number),
                            pnSkin_GetJointCount(body->skin));
  return pnBody_SetTransform(scan->world, body->id, pnAnimState_GetTransform(source->state, number));
}

static pnResult evaluateSources(pnScan *scan, double time, bool rest) {
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    if (!source->file) continue;
    pnResult result = pnAnimState_Evaluate(source->state, rest ? PN_NONE : source->clip, time);
    // The reader knows what is wrong but not in which file.
    if (result != PN_OK) return pnFail(result, "%s: %.900s", source->word, pnGetMessage());
  }
  return PN_OK;
}

/* `rest`: the pose in which the files have the bodies before anything is animated. A cache's is its mesh, where the new
 * body stands. Without `caches` bodies of vertex caches stay where they are, and nothing is read. */
static pnResult moveBodies(pnScan *scan, int64_t number, bool rest, bool caches) {
  pnResult result = evaluateSources(scan, (double)number / scan->range.fps, rest);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    pnScanBody *body = &scan->bodies[b];
    if (body->id.index1 == 0) continue;
    if (scan->sources[body->source].file) result = moveAnimBody(scan, body);
    else if (scan->sources[body->source].cache && !rest && caches) result = moveCacheBody(scan, body, number);
    else if (scan->sources[body->source].stream && !rest)
      result = pnBody_SetVertices(scan->world, body->id, body->vertices, pnMesh_GetVertexCount(body->mesh));
  }
  return result;
}

pnResult pn_scanMove(pnScan *scan, int64_t number, bool caches) {
  return moveBodies(scan, number, false, caches);
}

pnResult pn_scanEvaluate(pnScan *scan, int64_t number) {
  return evaluateSources(scan, (double)number / scan->range.fps, false);
}

pnResult pn_scanMoveTo(pnScan *scan, int64_t number, double t) {
  if (t == 0 && (number == scan->between.from || number == scan->between.to))
    return moveBodies(scan, number, false, true);
  pnResult result = evaluateSources(scan, ((double)number + t) / scan->range.fps, false);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    pnScanBody *body = &scan->bodies[b];
    if (body->id.index1 == 0) continue;
    if (scan->sources[body->source].file) result = moveAnimBody(scan, body);
    else if (scan->sources[body->source].cache) result = moveCacheBetween(scan, body, number, t);
  }
  return result;
}

/* ---------------------------------------------------------------- looking */

uint32_t pn_scanBodyNumber(const pnScan *scan, pnBodyId id) {
  const pnScanBody *body = pnBody_GetUserData(scan->world, id);
  return (uint32_t)(body - scan->bodies);
}

pnResult pn_scanReserveContacts(pnScanFrame *frame, uint32_t count) {
  if (count > frame->contactCapacity) {
    pnScanContact *contacts = realloc(frame->contacts, 2 * (size_t)count * sizeof(pnScanContact));
    if (!contacts) return pnFail(PN_ERROR_MEMORY, "out of memory for %u contacts", count);
    frame->contacts = contacts;
    frame->contactCapacity = 2 * count;
  }
  return PN_OK;
}

/* Room for so many contacts, and none yet. */
pnResult pn_scanBeginContacts(pnScanFrame *frame, uint32_t count) {
  frame->contactCount = 0;
  frame->pairCount = 0;
  return pn_scanReserveContacts(frame, count);
}

/* The world searches no more, but its trees are asked where pairs are. */
static pnResult updateTrees(pnScan *scan) {
  pnTasks tasks = pnPool_GetTasks(scan->pool);
  for (uint32_t b = 0; b < scan->bodyCount && scan->findings.finder; ++b) {
    pnResult result =
        scan->bodies[b].id.index1 ? pnTree_Update(pnBody_GetTree(scan->world, scan->bodies[b].id), &tasks) : PN_OK;
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

/* The device's answer. */
static pnResult lookOnDevice(pnScan *scan, bool first) {
  pnScanFrame *frame = &scan->frame;
  pnDeviceFrame found = pnDeviceWorld_Collide(scan->deviceWorld,
                                              &(pnDeviceFrameDef){.first = first, .maxPairs = scan->options->maxPairs});
  frame->limited = found.limited;
  pnResult result = found.result == PN_OK ? pn_scanBeginContacts(frame, found.contactCount) : found.result;
  for (uint32_t i = 0; i < found.contactCount && result == PN_OK; ++i) {
    const pnDeviceContact *contact = &pnDeviceWorld_GetContacts(scan->deviceWorld)[i];
    uint32_t a = scan->deviceBodies[contact->a], b = scan->deviceBodies[contact->b];
    if (!pn_choiceAllows(&scan->choice, a, b)) continue;
    frame->contacts[frame->contactCount++] = (pnScanContact){
        a, b, pnDeviceWorld_GetPairs(scan->deviceWorld) + contact->firstPair, contact->pairCount, contact->pairCount};
    frame->pairCount += contact->pairCount;
  }
  frame->newCount = frame->pairCount;
  return result == PN_OK ? updateTrees(scan) : result;
}

/* Pairs between bodies that nobody asked about: the world's filter has 32 bits, and what they could not say it finds too. */
static size_t unwantedPairs(const pnScan *scan, const pnFrame *found) {
  size_t count = 0;
  for (uint32_t i = 0; i < found->contactCount && scan->choice.ruleCount > 0; ++i) {
    const pnContact *contact = &pnWorld_GetContacts(scan->world)[i];
    uint32_t a = pn_scanBodyNumber(scan, contact->a), b = pn_scanBodyNumber(scan, contact->b);
    if (!pn_choiceAllows(&scan->choice, a, b)) count += contact->pairCount;
  }
  return count;
}

/* The world's answer as contacts with numbers of bodies. */
static pnResult takeContacts(pnScan *scan, pnFrame found) {
  pnScanFrame *frame = &scan->frame;
  bool crowded = scan->options->maxPairs > 0 && found.contactCount > PN_MOST_CONTACTS;
  pnResult result = pn_scanBeginContacts(frame, crowded ? PN_MOST_CONTACTS : found.contactCount);
  frame->limited = found.limited || crowded;
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < found.contactCount; ++i) {
    if (crowded && frame->contactCount == PN_MOST_CONTACTS) break;
    const pnContact *contact = &pnWorld_GetContacts(scan->world)[i];
    uint32_t a = pn_scanBodyNumber(scan, contact->a), b = pn_scanBodyNumber(scan, contact->b);
    if (!pn_choiceAllows(&scan->choice, a, b)) continue;
    size_t most = scan->options->maxPairs > 0 ? scan->options->maxPairs - frame->pairCount : SIZE_MAX;
    size_t count = contact->pairCount < most ? contact->pairCount : most;
    frame->limited = frame->limited || count < contact->pairCount;
    if (count == 0) continue;
    frame->contacts[frame->contactCount++] =
        (pnScanContact){a, b, pnWorld_GetPairs(scan->world) + contact->firstPair, count, count};
    frame->pairCount += count;
  }
  frame->newCount = frame->pairCount;
  return PN_OK;
}

/* Is what meets at rest of any interest? Then a first pair is not enough: it might be one of those. */
bool pn_scanNeedsRest(const pnScanOptions *options) {
  return options->ignoreRest || options->failOn == PN_FAIL_ON_NEW || !options->first;
}

/* Are its pairs to be compared with those of every frame? Findings do that by themselves. */
static bool comparesRest(const pnScanOptions *options) {
  return options->ignoreRest || (options->first && options->failOn == PN_FAIL_ON_NEW);
}

pnResult pn_scanCollide(pnScan *scan) {
  pnFrameDef def = {.first = scan->options->first && !pn_scanNeedsRest(scan->options),
                    .maxPairs = scan->options->maxPairs,
                    .maxBodyPairs = pn_mostClose(scan->options->maxPairs)};
  // one more than are kept says that there are more; where some are nobody's business, all are looked for
  if (def.maxPairs > 0 && scan->choice.ruleCount == 0) def.maxContacts = PN_MOST_CONTACTS + 1;
  if (scan->device) return lookOnDevice(scan, def.first);
  pnFrame found = pnWorld_Collide(scan->world, &def);
  // Pairs that are left out do not use up what is asked for.
  for (size_t unwanted = unwantedPairs(scan, &found); found.result == PN_OK && found.limited && unwanted > 0;) {
    def.maxPairs = scan->options->maxPairs + 2 * unwanted;
    found = pnWorld_Collide(scan->world, &def);
    size_t now = unwantedPairs(scan, &found);
    if (found.pairCount - now >= scan->options->maxPairs) break;
    unwanted = now > unwanted ? now : 2 * unwanted;
  }
  return found.result == PN_OK ? takeContacts(scan, found) : found.result;
}

/* ---------------------------------------------------------------- rest */

/* Nothing is animated: all there is is the rest pose. */
static bool staysAtRest(const pnScan *scan) {
  bool stays = true;
  for (uint32_t s = 0; s < scan->sourceCount; ++s) {
    const pnScanSource *source = &scan->sources[s];
    stays = stays && !source->cache && !source->stream && (!source->file || source->clip == PN_NONE);
  }
  return stays;
}

void pn_scanCopyContacts(const pnScanFrame *frame, pnScanContact *contacts, pnPair *pairs) {
  size_t used = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    contacts[i] = frame->contacts[i];
    contacts[i].pairs = pairs + used;
    memcpy(pairs + used, frame->contacts[i].pairs, frame->contacts[i].pairCount * sizeof(pnPair));
    used += frame->contacts[i].pairCount;
  }
}

pnResult pn_scanLookAtRest(pnScan *scan) {
  if (!pn_scanNeedsRest(scan->options)) return PN_OK;
  pnResult result = moveBodies(scan, 0, true, true);
  if (result == PN_OK) result = pn_scanCollide(scan);
  if (result == PN_OK) result = pn_findFrame(scan, true);
  if (result == PN_OK) scan->limitedCount += scan->frame.limited;
  // What meets in the frame after this one is known then.
  scan->standsAtRest = result == PN_OK && !scan->deal && staysAtRest(scan);
  if (result != PN_OK || !comparesRest(scan->options)) return result;
  // A copy that outlives the world's next answer.
  const pnScanFrame *frame = &scan->frame;
  pnScanRest *rest = &scan->rest;
  rest->contacts = malloc(frame->contactCount * sizeof(pnScanContact) + 1);
  rest->pairs = malloc(frame->pairCount * sizeof(pnPair) + 1);
  if (!rest->contacts || !rest->pairs) return pnFail(PN_ERROR_MEMORY, "out of memory for the pairs that meet at rest");
  pn_scanCopyContacts(frame, rest->contacts, rest->pairs);
  rest->contactCount = frame->contactCount;
  rest->known = true;
  return PN_OK;
}

static bool isBefore(pnPair x, pnPair y) {
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

/* Writes the pairs that are not in `rest` to `out`; both lists are sorted. Returns how many. */
static size_t withoutRest(const pnScanContact *contact, const pnScanContact *rest, pnPair *out) {
  size_t count = 0, r = 0;
  for (size_t i = 0; i < contact->pairCount; ++i) {
    while (r < rest->pairCount && isBefore(rest->pairs[r], contact->pairs[i])) ++r;
    bool atRest = r < rest->pairCount && !isBefore(contact->pairs[i], rest->pairs[r]);
    if (!atRest) out[count++] = contact->pairs[i];
  }
  return count;
}

/* What meets at rest is counted, and taken out of the frame when it is to be ignored. */
static pnResult separateRest(pnScan *scan) {
  pnScanFrame *frame = &scan->frame;
  if (frame->pairCount > scan->keptCapacity) {
    pnPair *kept = realloc(scan->kept, 2 * frame->pairCount * sizeof(pnPair));
    if (!kept) return pnFail(PN_ERROR_MEMORY, "out of memory for %zu pairs", frame->pairCount);
    scan->kept = kept;
    scan->keptCapacity = 2 * frame->pairCount;
  }
  uint32_t left = 0, r = 0;
  size_t used = 0;
  frame->newCount = 0;
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    pnScanContact contact = frame->contacts[i], none = {0};
    // Contacts are sorted by a, then b, in both lists.
    const pnScanContact *rest = scan->rest.contacts;
    while (r < scan->rest.contactCount && (rest[r].a < contact.a || (rest[r].a == contact.a && rest[r].b < contact.b)))
      ++r;
    bool met = r < scan->rest.contactCount && rest[r].a == contact.a && rest[r].b == contact.b;
    contact.newCount = withoutRest(&contact, met ? &rest[r] : &none, scan->kept + used);
    frame->newCount += contact.newCount;
    if (scan->options->ignoreRest) {
      contact.pairs = scan->kept + used;
      contact.pairCount = contact.newCount;
      used += contact.newCount;
    }
    if (contact.pairCount > 0) frame->contacts[left++] = contact;
  }
  frame->contactCount = left;
  return PN_OK;
}

/* ---------------------------------------------------------------- a frame */

/* What counts of the frame, after leaving out: all pairs, or one for each contact. */
static void countPairs(pnScan *scan) {
  scan->frame.pairCount = 0;
  for (uint32_t i = 0; i < scan->frame.contactCount; ++i) {
    pnScanContact *contact = &scan->frame.contacts[i];
    if (scan->options->first) contact->pairCount = 1;
    scan->frame.pairCount += contact->pairCount;
  }
}

void pn_scanBeginFrame(pnScan *scan, int64_t number) {
  scan->frame.run = scan->run;
  scan->frame.number = number;
  scan->frame.time = (double)number / scan->range.fps;
}

pnResult pn_scanCountFrame(pnScan *scan) {
  pnResult result = scan->rest.known ? separateRest(scan) : PN_OK;
  if (result == PN_OK) countPairs(scan);
  scan->limitedCount += scan->frame.limited;
  return result;
}

pnResult pn_scanLookAtFrame(pnScan *scan, int64_t number) {
  pn_scanBeginFrame(scan, number);
  // After a look between two frames the second is there already, and after rest what never moves.
  bool stands = scan->between.standing || scan->standsAtRest;
  scan->standsAtRest = false;
  pnResult result = stands ? PN_OK : pn_scanMove(scan, number, true);
  if (result == PN_OK && !stands) result = pn_scanCollide(scan);
  if (result == PN_OK) result = pn_betweenBegin(scan);
  // Findings know by themselves what is built in: they see all pairs.
  if (result == PN_OK) result = pn_findFrame(scan, false);
  return result == PN_OK ? pn_scanCountFrame(scan) : result;
}
