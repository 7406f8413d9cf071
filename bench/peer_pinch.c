/* peer_pinch.c: pinch itself, through its public doors, with every setting as an option.
 *
 *   rule      hybrid (default), bottom-up, top-down, bergen
 *   build     balanced (default), centre, mean, link, fast
 *   volume    box (default), dop14, dop18, dop26, sphere
 *   numbers   arity=, leaf=, cut=, threads=
 *   kernel    moller, tropp, exact: one pair at a time instead of SIMD batches
 *   sorted    pairs in order, as they come by default; here they are left unsorted, as the other peers' are
 *   copy      vertices are copied in, instead of shared
 *   default   the world as a new user has it, for any number of bodies: vertices copied, pairs sorted, trees rebuilt when
 *             they are worn; what has not moved is not set
 *   trees     more than two bodies: plain trees and every body against every body, instead of the world
 *   hint      one or two bodies: the first pair of the frame before is tried first (pnQueryDef.hint); others have none
 *   no-flat   self-collision that opens flat regions, too
 *   all-rings self-collision without the filter of neighbours: pairs that share a vertex are found too, not counted
 *
 * Two bodies and self-collision use trees directly, more bodies use the world. */
#include "peer.h"
#include "settings.h"

#include "pinch/collide.h"
#include "pinch/world.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Pinch {
  const pnBenchInput *input;
  pnMesh **meshes;
  pnPose **poses;   /* of trees */
  pnBodyId *bodies; /* of the world */
  pnTree **trees;
  pnPool *pool;
  pnWorld *world; /* null: trees */
  pnQueryDef query;
  pnQueryLab queryLab;
  pnPairList *list;
  pnBenchPairs pairs; /* of trees over more than two bodies, which need several queries */
  pnCost cost;
  uint32_t contactCount; /* of the world's last frame */
  bool copy, isDefault;
  const float **lastVertices; /* default: the arrays of the frame before */
  pnBodyVertices *moves;      /* default: those of this frame */
  bool hints, hasHint;        /* asked for, there is one */
  pnPair hint;
} Pinch;

static const char *const words[] = {
    "hybrid", "bottom-up", "top-down", "bergen", "balanced",  "centre",  "mean", "link",     "fast",       "box",
    "dop14",  "dop18",     "dop26",    "sphere", "arity=",    "leaf=",   "cut=", "threads=", "moller",     "tropp",
    "exact",  "sorted",    "copy",     "trees",  "all-rings", "no-flat", "hint", "default",  "no-rebuild", NULL};

/* A failure here is a fault of the benchmark or of the library, not a result. */
static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench: pinch: %s: %s\n", pnResult_Text(result), pnGetMessage());
    exit(1);
  }
}

/* ---------------------------------------------------------------- settings */

/* The value of the first name of the table that is among the options, or otherwise. */
static int choose(const char *options, const pnSetting *table, size_t count, int otherwise) {
  for (size_t i = 0; i < count; ++i)
    if (pn_hasOption(options, table[i].name)) return table[i].value;
  return otherwise;
}

#define CHOOSE(options, table, otherwise) choose(options, table, PN_SETTING_COUNT(table), (int)(otherwise))

static pnTreeDef readTreeDef(const char *options, bool self, pnTreeLab *lab) {
  pnTreeDef def = pnDefaultTreeDef();
  def.lab = lab;
  lab->build = (pnBuild)CHOOSE(options, pn_buildSettings, lab->build);
  lab->form = (pnForm)CHOOSE(options, pn_volumeSettings, lab->form);
  def.update = (pnUpdate)CHOOSE(options, pn_updateSettings, def.update);
  lab->arity = pn_optionNumber(options, "arity", lab->arity);
  lab->leafSize = pn_optionNumber(options, "leaf", lab->leafSize);
  lab->cut = pn_optionNumber(options, "cut", lab->cut);
  def.self = self;
  return def;
}

static pnQueryDef readQueryDef(const char *options, pnQueryLab *lab) {
  pnQueryDef def = pnDefaultQueryDef();
  def.lab = lab;
  lab->kernel = (pnKernel)CHOOSE(options, pn_kernelSettings, lab->kernel);
  def.unsorted = !pn_hasOption(options, "sorted");
  def.filter.ring = pn_hasOption(options, "all-rings") ? 0 : 1;
  lab->noFlat = pn_hasOption(options, "no-flat");
  lab->noSmall = pn_hasOption(options, "no-small");
  return def;
}

/* ---------------------------------------------------------------- life */

static pnMesh *makeMesh(const pnBenchBody *body, const float *vertices) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = body->vertexCount;
  def.triangles = body->triangles;
  def.triangleCount = body->triangleCount;
  def.weld = false;
  pnMesh *mesh = NULL;
  check(pnCreateMesh(&def, &mesh));
  return mesh;
}

/* From so many bodies on, those with the same triangles are bodies of one mesh, as in any program with so many. */
#define CROWD 100u

static pnMesh *findMesh(const Pinch *pinch, uint32_t i) {
  for (uint32_t k = i; k > 0 && k + 8 > i && pinch->isDefault && pinch->input->bodyCount >= CROWD; --k)
    if (pinch->input->bodies[k - 1].triangles == pinch->input->bodies[i].triangles) return pinch->meshes[k - 1];
  return NULL;
}

static void makeTree(Pinch *pinch, uint32_t i, pnTreeDef def) {
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = pinch->meshes[i];
  check(pnCreatePose(&poseDef, &pinch->poses[i]));
  def.pose = pinch->poses[i];
  check(pnCreateTree(&def, &pinch->trees[i]));
}

/* Bodies know their number by userData. */
static void makeBody(Pinch *pinch, uint32_t i, pnTreeDef def) {
  pnBodyDef bodyDef = pnDefaultBodyDef();
  bodyDef.mesh = pinch->meshes[i];
  bodyDef.tree = pinch->isDefault ? bodyDef.tree : def;
  bodyDef.self = pinch->input->self;
  bodyDef.selfFilter.ring = pinch->query.filter.ring;
  bodyDef.userData = (void *)(uintptr_t)i;
  check(pnWorld_CreateBody(pinch->world, &bodyDef, &pinch->bodies[i]));
  pinch->trees[i] = pnBody_GetTree(pinch->world, pinch->bodies[i]);
}

static void *createPinch(const pnBenchInput *input, const char *options) {
  if (!pn_optionsKnown(options, words)) return NULL;
  Pinch *pinch = calloc(1, sizeof(Pinch));
  if (pinch == NULL) return NULL;
  pinch->input = input;
  pinch->copy = pn_hasOption(options, "copy");
  pinch->hints = pn_hasOption(options, "hint") && input->bodyCount <= 2;
  pinch->query = readQueryDef(options, &pinch->queryLab);
  uint32_t threads = pn_optionNumber(options, "threads", 1);
  if (threads > 1) {
    check(pnCreatePool(threads, &pinch->pool));
    pinch->query.tasks = pnPool_GetTasks(pinch->pool);
  }
  pinch->isDefault = pn_hasOption(options, "default");
  if (pinch->isDefault || (input->bodyCount > 2 && !pn_hasOption(options, "trees"))) {
    pnWorldDef worldDef = pnDefaultWorldDef();
    worldDef.tasks = pinch->query.tasks;
    /* else trees stay as they were built, as the other peers' do */
    worldDef.rebuildQuality = pinch->isDefault && !pn_hasOption(options, "no-rebuild") ? worldDef.rebuildQuality : 0.0f;
    check(pnCreateWorld(&worldDef, &pinch->world));
  }
  check(pnCreatePairList(&pinch->list));
  pinch->lastVertices = calloc(input->bodyCount, sizeof(float *));
  pinch->moves = calloc(input->bodyCount, sizeof(pnBodyVertices));
  pinch->meshes = calloc(input->bodyCount, sizeof(pnMesh *));
  pinch->poses = calloc(input->bodyCount, sizeof(pnPose *));
  pinch->bodies = calloc(input->bodyCount, sizeof(pnBodyId));
  pinch->trees = calloc(input->bodyCount, sizeof(pnTree *));
  pnTreeLab treeLab = {0};
  pnTreeDef treeDef = readTreeDef(options, input->self, &treeLab);
  for (uint32_t i = 0; i < input->bodyCount; ++i) {
    pnMesh *mesh = findMesh(pinch, i);
    pinch->meshes[i] = mesh != NULL ? mesh : makeMesh(&input->bodies[i], input->vertices[i]);
    pinch->lastVertices[i] = input->vertices[i];
    if (pinch->world != NULL) {
      makeBody(pinch, i, treeDef);
      if (mesh != NULL)
        check(pnBody_SetVertices(pinch->world, pinch->bodies[i], input->vertices[i], input->bodies[i].vertexCount));
    } else {
      makeTree(pinch, i, treeDef);
    }
  }
  return pinch;
}

static void destroyPinch(void *peer) {
  Pinch *pinch = peer;
  for (uint32_t i = 0; i < pinch->input->bodyCount && pinch->world == NULL; ++i) {
    pnDestroyTree(pinch->trees[i]);
    pnDestroyPose(pinch->poses[i]);
  }
  if (pinch->world != NULL) pnDestroyWorld(pinch->world);
  for (uint32_t i = 0; i < pinch->input->bodyCount; ++i)
    if (findMesh(pinch, i) == NULL) pnDestroyMesh(pinch->meshes[i]);
  pnDestroyPairList(pinch->list);
  if (pinch->pool != NULL) pnDestroyPool(pinch->pool);
  free(pinch->lastVertices);
  free(pinch->moves);
  free(pinch->meshes);
  free(pinch->poses);
  free(pinch->bodies);
  free(pinch->trees);
  free(pinch->pairs.data);
  free(pinch);
}

/* ---------------------------------------------------------------- frame */

static pnResult setVertices(Pinch *pinch, uint32_t i, const float *vertices) {
  uint32_t count = pinch->input->bodies[i].vertexCount;
  if (pinch->world != NULL) {
    return pinch->copy ? pnBody_SetVertices(pinch->world, pinch->bodies[i], vertices, count)
                       : pnBody_ShareVertices(pinch->world, pinch->bodies[i], vertices, count);
  }
  return pinch->copy ? pnPose_SetVertices(pinch->poses[i], vertices, count)
                     : pnPose_ShareVertices(pinch->poses[i], vertices, count);
}

static void moveDefault(Pinch *pinch, const float *const *vertices) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < pinch->input->bodyCount; ++i) {
    if (vertices[i] != pinch->lastVertices[i]) {
      pinch->lastVertices[i] = vertices[i];
      pinch->moves[count++] = (pnBodyVertices){pinch->bodies[i], vertices[i], pinch->input->bodies[i].vertexCount};
    }
  }
  check(pnWorld_SetVertices(pinch->world, pinch->moves, count));
}

static void updatePinch(void *peer, const float *const *vertices) {
  Pinch *pinch = peer;
  if (pinch->isDefault) {
    moveDefault(pinch, vertices);
    return;
  }
  for (uint32_t i = 0; i < pinch->input->bodyCount; ++i) check(setVertices(pinch, i, vertices[i]));
  /* a world with threads updates its trees side by side when it collides */
  for (uint32_t i = 0; i < pinch->input->bodyCount && (pinch->world == NULL || pinch->pool == NULL); ++i)
    check(pnTree_Update(pinch->trees[i], &pinch->query.tasks));
}

static bool boxesOverlap(pnBox a, pnBox b) {
  return a.min.x <= b.max.x && b.min.x <= a.max.x && a.min.y <= b.max.y && b.min.y <= a.max.y && a.min.z <= b.max.z &&
         b.min.z <= a.max.z;
}

static void addCost(pnCost *sum, const pnCost *cost) {
  sum->volumeTests += cost->volumeTests;
  sum->exactTests += cost->exactTests;
  sum->uncertain += cost->uncertain;
  sum->nodesUpdated += cost->nodesUpdated;
  sum->updateSeconds += cost->updateSeconds;
  sum->traverseSeconds += cost->traverseSeconds;
  sum->exactSeconds += cost->exactSeconds;
}

/* What the query is for a first pair or for all. */
static pnQueryDef queryOf(const Pinch *pinch, bool first) {
  pnQueryDef query = pinch->query;
  query.first = first;
  query.hint = first && pinch->hasHint ? &pinch->hint : NULL;
  return query;
}

static void keepHint(Pinch *pinch, bool first) {
  if (pinch->hints && first) {
    pinch->hasHint = pnPairList_GetCount(pinch->list) > 0;
    pinch->hint = pinch->hasHint ? *pnPairList_GetPairs(pinch->list) : (pnPair){0};
  }
}

/* Every body against every body whose boxes overlap; true at the first pair when only that is asked. */
static bool searchTrees(Pinch *pinch, bool first) {
  pnQueryDef query = queryOf(pinch, first);
  pinch->pairs.count = 0;
  pinch->cost = (pnCost){0};
  for (uint32_t a = 0; a < pinch->input->bodyCount; ++a) {
    for (uint32_t b = a + 1; b < pinch->input->bodyCount; ++b) {
      /* of two bodies only, the query itself looks at the boxes, and leaves its list empty */
      bool many = pinch->input->bodyCount > 2;
      if (many && !boxesOverlap(pnTree_GetBox(pinch->trees[a]), pnTree_GetBox(pinch->trees[b]))) continue;
      pnCost cost = {0};
      check(pnCollideTrees(pinch->trees[a], pinch->trees[b], &query, pinch->list, &cost));
      addCost(&pinch->cost, &cost);
      keepHint(pinch, first);
      size_t count = pnPairList_GetCount(pinch->list);
      if (first && count > 0) return true;
      const pnPair *pairs = pnPairList_GetPairs(pinch->list);
      for (size_t i = 0; many && i < count; ++i) pn_benchAdd(&pinch->pairs, a, b, pairs[i].a, pairs[i].b);
    }
  }
  return false;
}

static bool searchSelf(Pinch *pinch, bool first) {
  pnQueryDef query = queryOf(pinch, first);
  pinch->cost = (pnCost){0};
  check(pnCollideSelf(pinch->trees[0], &query, pinch->list, &pinch->cost));
  keepHint(pinch, first);
  return pnPairList_GetCount(pinch->list) > 0;
}

/* The default world is asked as a new user asks it. With a lab nothing of the last answer is kept (src/world/job.c), not even of bodies that
 * stand: that is for other settings. */
static pnFrame collideWorld(Pinch *pinch, pnFrameDef def) {
  if (!pinch->isDefault) def.lab = &pinch->queryLab;
  pnFrame frame = pnWorld_Collide(pinch->world, &def);
  check(frame.result);
  return frame;
}

static void findAllPinch(void *peer) {
  Pinch *pinch = peer;
  if (pinch->world != NULL) {
    pnFrame frame = collideWorld(pinch, (pnFrameDef){.unsorted = pinch->query.unsorted && !pinch->isDefault});
    pinch->cost = frame.cost;
    pinch->contactCount = frame.contactCount;
  } else if (pinch->input->self) {
    searchSelf(pinch, false);
  } else {
    searchTrees(pinch, false);
  }
}

/* The world as a new user has it is asked for one contact; of a world with other settings, the trees. */
static int findFirstPinch(void *peer) {
  Pinch *pinch = peer;
  if (pinch->isDefault) return collideWorld(pinch, (pnFrameDef){.first = true, .maxContacts = 1}).contactCount > 0;
  for (uint32_t i = 0; i < pinch->input->bodyCount && pinch->world != NULL; ++i)
    check(pnTree_Update(pinch->trees[i], &pinch->query.tasks));
  return pinch->input->self ? searchSelf(pinch, true) : searchTrees(pinch, true);
}

/* ---------------------------------------------------------------- answers */

static void collectWorld(const Pinch *pinch, pnBenchPairs *outPairs) {
  const pnContact *contacts = pnWorld_GetContacts(pinch->world);
  const pnPair *pairs = pnWorld_GetPairs(pinch->world);
  for (uint32_t i = 0; i < pinch->contactCount; ++i) {
    uint32_t a = (uint32_t)(uintptr_t)pnBody_GetUserData(pinch->world, contacts[i].a);
    uint32_t b = (uint32_t)(uintptr_t)pnBody_GetUserData(pinch->world, contacts[i].b);
    const uint32_t *t = pinch->input->bodies[a].triangles;
    for (size_t k = 0; k < contacts[i].pairCount; ++k) {
      pnPair pair = pairs[contacts[i].firstPair + k];
      if (a == b && pn_benchNeighbours(t + 3 * (size_t)pair.a, t + 3 * (size_t)pair.b)) continue;
      pn_benchAdd(outPairs, a <= b ? a : b, a <= b ? b : a, a <= b ? pair.a : pair.b, a <= b ? pair.b : pair.a);
    }
  }
}

static void collectPinch(void *peer, pnBenchPairs *outPairs) {
  const Pinch *pinch = peer;
  if (pinch->world != NULL) {
    collectWorld(pinch, outPairs);
    return;
  }
  for (size_t i = 0; i < pinch->pairs.count; ++i) {
    const pnBenchPair *pair = &pinch->pairs.data[i];
    pn_benchAdd(outPairs, pair->bodyA, pair->bodyB, pair->a, pair->b);
  }
  const uint32_t *t = pinch->input->bodies[0].triangles;
  const pnPair *pairs = pnPairList_GetPairs(pinch->list);
  for (size_t i = 0; i < pnPairList_GetCount(pinch->list) && pinch->input->bodyCount <= 2; ++i)
    if (!pinch->input->self || !pn_benchNeighbours(t + 3 * (size_t)pairs[i].a, t + 3 * (size_t)pairs[i].b))
      pn_benchAdd(outPairs, 0, pinch->input->self ? 0 : 1, pairs[i].a, pairs[i].b);
}

static void getCostPinch(void *peer, pnPeerCost *outCost) {
  const Pinch *pinch = peer;
  outCost->updateSeconds = pinch->cost.updateSeconds;
  outCost->traverseSeconds = pinch->cost.traverseSeconds;
  outCost->exactSeconds = pinch->cost.exactSeconds;
  outCost->nodesUpdated = pinch->cost.nodesUpdated;
  outCost->volumeTests = pinch->cost.volumeTests;
  outCost->exactTests = pinch->cost.exactTests;
  outCost->uncertain = pinch->cost.uncertain;
  for (uint32_t i = 0; i < pinch->input->bodyCount; ++i) outCost->byteCount += pnTree_GetByteCount(pinch->trees[i]);
}

const pnPeer pn_peerPinch = {
    .name = "pinch",
    .text = "this library, exact",
    .options =
        "hybrid bottom-up top-down bergen balanced centre mean link box dop14 dop18 dop26 sphere arity= leaf= cut= "
        "threads= moller "
        "tropp exact sorted copy trees all-rings no-flat hint default no-rebuild",
    .create = createPinch,
    .update = updatePinch,
    .findAll = findAllPinch,
    .findFirst = findFirstPinch,
    .collect = collectPinch,
    .getCost = getCostPinch,
    .destroy = destroyPinch,
};
