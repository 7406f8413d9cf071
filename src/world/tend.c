/* tend.c: see tend.h.
 *
 * A tree that has worn out slowly gets a successor (successor.h), one that was torn between two frames a mirror (mirror.h), where that is less work.
 * What a tree costs is counted in pairs of nodes that were opened, and what may be done about it as well, so that the same happens in the same frame on every
 * machine. */
#include "world/tend.h"

#include "tree/build.h"
#include "tree/form.h"
#include "tree/tree.h"
#include "world/mirror.h"
#include "world/successor.h"
#include "world/watch.h"

/* A build takes about as long as opening so many pairs of nodes for each triangle (300 ns and 30 ns). A worn tree is built anew
 * when it has cost as much: never more than twice what the best choice would have cost. */
#define BUILD_LEAVES 10u
/* Where next to nothing comes of what is opened, a new tree is begun when one pair has been opened for so many triangles. */
#define WASTED_TRIANGLES 8u
/* After a new tree was no better than the worn one, the next is built when that is worse by so much. */
#define REFUSED_LEAST 1.5f
/* So many pairs of nodes for each pair of triangles are too many: of trees that fit, half of one to four, of those whose volumes show
 * their wear up to ten (nodePairs and leafPairs of pnCost over exactTests, on the scenes of bench_world). And bodies of at least this quality are asked. */
#define WASTE 10.0f
#define WASTE_QUALITY 1.2f

/* What a mirror takes, beside what it opens, in pairs of nodes: for each triangle that it follows, and where a body looks at itself, for each
 * corner that meets another one at a vertex (bench_world burst-self, shuffle-self). A tree that opens one for each triangle more is dear.
 * In cloth that is crumpled to a ball it opens two for each, and six would be dear. */
#define FOLLOW_PAIRS 1.0
#define CORNER_PAIRS 0.25
#define DEAR_PAIRS 1.0
/* What two bodies open counts in both of them, and mostly both are torn. From five for each triangle on two mirrors are less work
 * (bench_world shuffle-N: with 12 800 triangles a tree opens three and takes two thirds of the time, with 32 000 it opens eight and takes 1.3 times as long). */
#define SHARED_FOLLOW_PAIRS 2.0
#define SHARED_DEAR_PAIRS 3.0
/* And what it takes to test a pair of triangles, beside opening a pair of nodes (60 ns and 80 ns, each with all that belongs to it). Of a
 * sheet that is rolled up tightly a mirror opens a quarter of what its own tree does, and tests five times as many. */
#define TEST_PAIRS 0.75
/* A trial takes so many frames, and is begun by what was opened in one that is no longer ago than so many. */
#define TRIAL_FRAMES 2u
#define RECENT_FRAMES 4u
/* So often it is looked whether its own tree has come to fit again. */
#define LOOK_FRAMES 32u

bool pn_wears(const pnWorld *world, const pnBody *body) {
  if (!pn_kindOf(body->kind)->wears || !body->tree->form->isTended) return false;
  return body->pose->mesh->triangleCount >= (world->lab.mirrors ? 1 : PN_TENDED_TRIANGLES);
}

/* The quality (pnTree_GetQuality) from which on a tree is of no use, and by how much it must have become worse since the frame
 * before: wear is slow, a leap is not. */
#define USELESS 3.0f
#define LEAP 1.5f

/* Has a tree been torn between two frames, with these qualities (0: it was not looked at)? */
static bool hasLeapt(float before, float now) {
  return before > 0 && now > USELESS && now > LEAP * before;
}

static void setWorn(pnWorld *world, pnBody *body, bool worn) {
  world->wornCount += (uint32_t)worn - body->isWorn;
  body->isWorn = worn;
  body->debt = worn ? body->debt : 0;
}

/* A tree that fits the pose of now; there is no mirror any more. */
static pnResult rebuild(pnWorld *world, pnBody *body, uint32_t *outRebuilds) {
  pnResult result = pn_rebuildTree(body->tree, &world->def.tasks);
  if (result == PN_OK) {
    pn_dropMirror(body);
    pn_dropWatch(body);
    setWorn(world, body, false);
    body->quality = 1;
    ++*outRebuilds;
  }
  return result;
}

/* A tree is worn when it is seen by its volumes: they are so much larger than when it was built. */
static bool isSeenWorn(const pnWorld *world, const pnBody *body) {
  return body->quality > world->def.rebuildQuality && body->quality > REFUSED_LEAST * body->refused;
}

/* Pairs of nodes that were opened for each pair of triangles that came of them. */
static float wasteOf(const pnBody *body) {
  return (float)body->opened / (float)(body->tested + 1);
}

/* Or when it is felt: next to nothing comes of what is opened. Volumes do not show that where a body bursts into pieces that become small
 * against the space between them. The volumes of one that is as it was built would be those of a new one. */
static bool isFeltWorn(const pnBody *body) {
  float waste = wasteOf(body);
  return body->quality > WASTE_QUALITY && waste > WASTE && waste > REFUSED_LEAST * body->refusedWaste;
}

/* One in the making or on trial: is it there? It counts as worn until that is known, so that what it opens is counted. */
static void renew(pnWorld *world, pnBody *body, pnAllowance *allowance, uint32_t *outRebuilds) {
  float waste = wasteOf(body);
  pnVerdict verdict = pn_stepSuccessor(body, allowance, &world->def.tasks);
  if (verdict == PN_VERDICT_OPEN) return;
  bool refused = verdict == PN_VERDICT_REFUSED;
  setWorn(world, body, false);
  body->quality = pnTree_GetQuality(body->tree); /* which may be the former one again */
  body->refused = refused ? body->quality : 0;
  body->refusedWaste = refused ? waste : 0;
  *outRebuilds += verdict == PN_VERDICT_KEPT;
}

/* Was its tree built over vertices that were there before anybody knew where they are going to be? Then it is built anew over the first that are
 * given, which is mostly in a frame that is long anyway; once, as there are meshes of which no tree is better. */
static bool isBlind(const pnBody *body) {
  const pnBox *box = &body->tree->box;
  bool isSpread = box->max.x > box->min.x || box->max.y > box->min.y || box->max.z > box->min.z;
  return !body->wasBlind && isSpread && body->pose->shapeFrame > 1 && pn_isBuiltBlindly(body->tree);
}

/* One that has worn out slowly: a new tree, when that pays. */
static pnResult lookAfter(pnWorld *world, pnBody *body, pnAllowance *allowance, uint32_t *outRebuilds) {
  bool felt = isFeltWorn(body);
  uint64_t triangles = body->pose->mesh->triangleCount;
  uint64_t most = felt ? triangles / WASTED_TRIANGLES : triangles * BUILD_LEAVES;
  setWorn(world, body, felt || isSeenWorn(world, body));
  if (body->debt <= most || !pn_mayBegin(allowance, body)) return PN_OK;
  return pn_beginSuccessor(body, felt, allowance) ? PN_OK : rebuild(world, body, outRebuilds);
}

/* What this frame may do on new trees. */
static pnAllowance allowanceOf(const pnWorld *world, const uint32_t *places, size_t count) {
  uint64_t triangles = 0;
  bool felt = false, building = false;
  for (size_t i = 0; i < count; ++i) {
    const pnBody *body = &world->bodies.data[places[i]];
    triangles += body->tree->mesh->triangleCount;
    felt = felt || (body->isTended && !body->self && isFeltWorn(body));
    building = building || pn_isBuilding(body);
  }
  pnAllowance allowance = pn_allowFor(world->opened, triangles, felt);
  allowance.isBuilding = building;
  return allowance;
}

/* ---------------------------------------------------------------- mirrors on trial */

/* Its own tree is what is asked again. */
static pnResult leaveMirror(pnBody *body, const pnTasks *tasks) {
  pnResult result = pn_followPose(body->tree, tasks);
  if (result != PN_OK) return result;
  pn_dropMirror(body);
  body->quality = pnTree_GetQuality(body->tree);
  return PN_OK;
}

/* On average there are so many triangles around a vertex; each corner meets all but its own. */
static double pairsOfCorners(const pnMesh *mesh) {
  double corners = 3.0 * mesh->triangleCount, around = corners / mesh->vertexCount - 1.0;
  return CORNER_PAIRS * corners * PN_MAX(around, 0.0);
}

/* What a mirror of this body takes, beside what it opens. */
static double pairsOfMirror(const pnBody *body) {
  const pnMesh *mesh = body->pose->mesh;
  if (!body->self) return SHARED_FOLLOW_PAIRS * mesh->triangleCount;
  return FOLLOW_PAIRS * mesh->triangleCount + pairsOfCorners(mesh);
}

/* What a body has cost in the frame that was asked last, in pairs of nodes. */
static double workOf(const pnBody *body) {
  return (double)body->opened + TEST_PAIRS * (double)body->tested;
}

/* A mirror is judged by the second frame in which it was asked: in the first its soup has just been put in order, which may not last. */
static bool isToBeJudged(const pnBody *body) {
  const pnMirror *m = body->mirror;
  return m && m->trial.isOn && m->asked >= TRIAL_FRAMES;
}

/* Was it less work? */
static pnResult judgeMirror(pnBody *body, const pnTasks *tasks) {
  pnMirror *m = body->mirror;
  m->trial.isOn = false;
  /* tests are luck where everything moves anyhow: a mirror is for opening less */
  double own = pairsOfMirror(body);
  if ((double)body->opened + own < (double)m->trial.formerOpened && workOf(body) + own < m->trial.formerWork)
    return PN_OK;
  body->refusedOpened = m->trial.formerOpened;
  return leaveMirror(body, tasks);
}

static pnResult tryMirror(pnBody *body, bool onTrial, const pnTasks *tasks) {
  pnResult result = pn_makeMirror(body, tasks);
  if (result != PN_OK) return result;
  body->mirror->trial = (pnMirrorTrial){onTrial, body->opened, workOf(body), body->quality};
  return PN_OK;
}

/* Does its tree open so much that a mirror may open less? */
static bool isDear(const pnBody *body) {
  double opened = (double)body->opened, dear = body->self ? DEAR_PAIRS : SHARED_DEAR_PAIRS;
  return opened > pairsOfMirror(body) + dear * body->pose->mesh->triangleCount &&
         opened > REFUSED_LEAST * (double)body->refusedOpened;
}

/* Of two bodies a torn one may be left; one that is as it was built opens as much without being the reason. Not one that was built blindly: it is
 * going to be built anew. */
static bool mayBeLeft(const pnWorld *world, const pnBody *body) {
  if (!body->isTended || !(body->self || body->watch) || body->mirror || !isDear(body)) return false;
  return body->bookFrame + RECENT_FRAMES > world->frameNumber && (body->wasBlind || !pn_isBuiltBlindly(body->tree));
}

/* That a tree opens too much the last frame has said: it need not follow first, in a frame that is long anyway. */
pnResult pn_tryMirrors(pnWorld *world, const uint32_t *places, size_t count) {
  pnResult result = PN_OK;
  for (size_t i = 0; result == PN_OK && world->tendedCount > 0 && !world->lab.mirrors && i < count; ++i) {
    pnBody *body = &world->bodies.data[places[i]];
    if (!mayBeLeft(world, body)) continue;
    result = pn_nameBody(body, tryMirror(body, true, &world->def.tasks));
  }
  return result;
}

/* Where the pieces of a large body are thrown about, that is known without a trial: the frame in which it happens would be many times as long as
 * others. Smaller ones have so few nodes that a torn tree may be as good (bench_world shuffle, shuffle-self: from so many triangles on it is not). */
#define TORN_TRIANGLES 32768u

/* ---------------------------------------------------------------- bodies that look at themselves */

/* They keep the tree of their rest pose, which knows what lies beside what: over a folded pose layers that lie on each other would come into one
 * leaf, and more would be opened, not less. It is of no use where the body is in pieces that fly apart. Then a mirror is tried, and stays
 * if that is less work. */

/* Have the pieces come together again, so that its tree fits half as badly as when it was left? */
static pnResult lookBack(pnBody *body, const pnTasks *tasks) {
  const pnMirror *m = body->mirror;
  if (m->age % LOOK_FRAMES != 0) return PN_OK;
  pnResult result = pn_followPose(body->tree, tasks);
  if (result != PN_OK || pnTree_GetQuality(body->tree) > 0.5f + 0.5f * m->trial.formerQuality) return result;
  return leaveMirror(body, tasks);
}

/* False: out of memory. */
static bool isTorn(const pnBody *body, float before, bool *outTorn) {
  const pnMesh *mesh = body->pose->mesh;
  *outTorn = mesh->triangleCount >= TORN_TRIANGLES && hasLeapt(before, body->quality);
  return !*outTorn || pn_seemInPieces(mesh, outTorn);
}

static pnResult tendSelf(pnBody *body, const pnTasks *tasks) {
  if (isToBeJudged(body)) return judgeMirror(body, tasks);
  if (body->mirror) return body->mirror->trial.isOn ? PN_OK : lookBack(body, tasks);
  float before = body->quality;
  bool torn;
  body->quality = body->newQuality;
  if (!isTorn(body, before, &torn)) return pn_failMemory(body->pose->mesh->triangleCount);
  return torn ? tryMirror(body, false, tasks) : PN_OK;
}

/* ---------------------------------------------------------------- bodies that were torn */

/* It may be torn again in every frame. No new tree is begun over it until it moves as one; its own is asked, or where that opens too much, a
 * mirror. */
static pnResult tear(pnWorld *world, pnBody *body) {
  if (!body->watch) body->refusedOpened = 0;
  pn_dropSuccessor(body);
  setWorn(world, body, false);
  pnResult result = pn_watch(body);
  if (result != PN_OK || body->pose->mesh->triangleCount < TORN_TRIANGLES) return result;
  return tryMirror(body, false, &world->def.tasks);
}

static pnResult tendTorn(pnWorld *world, pnBody *body, uint32_t *outRebuilds) {
  if (isToBeJudged(body)) return judgeMirror(body, &world->def.tasks);
  if (!pn_watchOn(body)) return PN_OK;
  if (body->mirror) return rebuild(world, body, outRebuilds);
  pn_dropWatch(body);
  return PN_OK;
}

/* ---------------------------------------------------------------- all of them */

static pnResult tendOther(pnWorld *world, pnBody *body, pnAllowance *allowance, uint32_t *outRebuilds) {
  float before = body->quality;
  if (!body->mirror) body->quality = body->newQuality;
  if (!body->mirror && hasLeapt(before, body->quality)) return tear(world, body);
  if (body->watch) return tendTorn(world, body, outRebuilds);
  pnResult result = body->successor ? PN_OK : lookAfter(world, body, allowance, outRebuilds);
  if (body->successor) renew(world, body, allowance, outRebuilds);
  return result;
}

static pnResult tendTree(pnWorld *world, pnBody *body, pnAllowance *allowance, uint32_t *outRebuilds) {
  if (world->lab.mirrors) return body->mirror ? PN_OK : pn_makeMirror(body, &world->def.tasks);
  if (isBlind(body)) {
    body->wasBlind = true;
    return rebuild(world, body, outRebuilds);
  }
  return body->self ? tendSelf(body, &world->def.tasks) : tendOther(world, body, allowance, outRebuilds);
}

/* Looks at trees that have followed. One that was torn gets a mirror where that is less work, one that has worn out slowly a new
 * tree, a little in every frame. */
pnResult pn_tendTrees(pnWorld *world, const uint32_t *places, size_t count, uint32_t *outRebuilds) {
  pnResult result = PN_OK;
  /* bodies with successors count as worn */
  pnAllowance allowance = {0};
  if (world->wornCount > 0) allowance = allowanceOf(world, places, count);
  for (size_t i = 0; result == PN_OK && world->tendedCount > 0 && i < count; ++i) {
    pnBody *body = &world->bodies.data[places[i]];
    if (body->isTended) result = tendTree(world, body, &allowance, outRebuilds);
  }
  return result;
}
