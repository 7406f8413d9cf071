/* collide.c: the queries of pinch/collide.h over plain trees: update, one job, filters. */

#include "base/fenv.h"
#include "collide/filter.h"
#include "collide/hint.h"
#include "collide/self.h"

pnQueryDef pnDefaultQueryDef(void) {
  return (pnQueryDef){0};
}

/* ---------------------------------------------------------------- pair lists */

struct pnPairList {
  pnCollider collider;
  bool limited;
};

pnResult pnCreatePairList(pnPairList **outList) {
  PN_ASSERT(outList);
  *outList = pn_allocZero(sizeof(pnPairList));
  return *outList ? PN_OK : pn_failMemory(sizeof(pnPairList));
}

void pnDestroyPairList(pnPairList *list) {
  if (list) {
    pn_colliderFree(&list->collider);
    pn_free(list, sizeof(pnPairList));
  }
}

const pnPair *pnPairList_GetPairs(const pnPairList *list) {
  return list->collider.pairs.data;
}
size_t pnPairList_GetCount(const pnPairList *list) {
  return list->collider.pairs.count;
}
bool pnPairList_IsLimited(const pnPairList *list) {
  return list->limited;
}

/* ---------------------------------------------------------------- queries */

/* What the eager part of an update cost. */
static void addUpdates(pnCost *cost, pnTree *tree) {
  cost->nodesUpdated += pn_takeUpdated(tree);
}

static bool isCurrent(const pnTree *tree) {
  return tree->poseFrame == tree->pose->frame;
}

/* What products leave alone. */
static const pnQueryLab *labOf(const pnQueryDef *def) {
  static const pnQueryLab s_none = {0};
  return def->lab ? def->lab : &s_none;
}

/* Everything up to date, and all that meets into the list. b null: self. */
static pnResult search(pnTree *a, pnTree *b, const pnQueryDef *def, bool keep, pnPairList *list, pnCost *cost) {
  bool current = b && isCurrent(a) && isCurrent(b); /* then there is no time to be taken */
  double start = current ? 0 : pn_clock();
  pnResult result = pnTree_Update(a, &def->tasks);
  pnJob job = {.a = a, .b = b, .first = def->first};
  if (result == PN_OK) {
    uint32_t without = labOf(def)->noFlat ? PN_PROOF_BIT(PN_PROOF_FLAT) : 0;
    result = b ? pnTree_Update(b, &def->tasks) : pn_beginSelf(a, a->mesh, &def->filter, def->first, without, &job);
  }
  cost->updateSeconds = current ? 0 : pn_clock() - start;
  /* most queries of a large world end here */
  if (result == PN_OK && (!b || pn_treesOverlap(a, b))) {
    bool filtered = !b && pn_hasFilter(&def->filter, a->mesh);
    job.planeDecides = labOf(def)->planeDecides;
    job.noPlanes = labOf(def)->noPlanes;
    job.open = labOf(def)->open;
    pnRunDef run = {.tasks = &def->tasks, .kernel = labOf(def)->kernel, .unsorted = def->unsorted};
    run.countOnly = !keep && !job.first && !filtered && !a->shape->slotPieces && !(b && b->shape->slotPieces);
    run.maxPairs = keep ? def->maxPairs : 0;
    result = pn_runJobs(&list->collider, &job, 1, &run, cost, &list->limited);
    cost->pairs = result == PN_OK && list->limited ? list->collider.pairs.count : cost->pairs;
    if (result == PN_OK && filtered) {
      pnPairs *pairs = &list->collider.pairs;
      pn_filterPairs(a, &def->filter, pairs->data, &pairs->count);
      pairs->count = def->first ? PN_MIN(pairs->count, 1) : pairs->count;
      cost->pairs = pairs->count;
    }
  }
  addUpdates(cost, a);
  if (b) addUpdates(cost, b);
  return result;
}

/* Does the hint answer? Trees stay as they are, to be updated by the query that needs them. */
static pnResult answerHint(pnTree *a, pnTree *b, const pnQueryDef *def, pnPairList *list, pnCost *cost) {
  pnPair hint = *def->hint;
  double start = pn_clock();
  pnResult result = pn_checkHint(a, b, hint);
  if (result == PN_OK && pn_tryHint(a, b, &def->filter, &hint, cost)) {
    result = pn_arrayPush(&list->collider.pairs, hint) ? PN_OK : pn_failMemory(sizeof hint);
    cost->pairs = list->collider.pairs.count;
  }
  cost->exactSeconds = pn_clock() - start;
  return result;
}

/* b null: self. */
static pnResult collide(pnTree *a, pnTree *b, const pnQueryDef *def, pnPairList *outPairs, pnCost *outCost) {
  pnPairList local = {0};
  pnPairList *list = outPairs ? outPairs : &local;
  pnCost cost = {0};
  list->collider.pairs.count = 0;
  list->limited = false;
  pnResult result = b ? PN_OK : pn_prepareFilter(a, &def->filter);
  if (result == PN_OK && def->first && def->hint) result = answerHint(a, b, def, list, &cost);
  if (result == PN_OK && list->collider.pairs.count == 0) result = search(a, b, def, outPairs != NULL, list, &cost);
  if (result != PN_OK) list->collider.pairs.count = 0;
  if (outCost) *outCost = cost;
  pn_colliderFree(&local.collider);
  return result;
}

pnResult pnCollideTrees(pnTree *a, pnTree *b, const pnQueryDef *def, pnPairList *outPairs, pnCost *outCost) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && b && a != b);
  pnQueryDef none = pnDefaultQueryDef();
  return collide(a, b, def ? def : &none, outPairs, outCost);
}

pnResult pnCollideSelf(pnTree *tree, const pnQueryDef *def, pnPairList *outPairs, pnCost *outCost) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(tree);
  pnQueryDef none = pnDefaultQueryDef();
  def = def ? def : &none;
  pnResult result = PN_OK;
  if (!tree->def.self) {
    result =
        pn_fail(PN_ERROR_KIND, "mesh '%s': its tree was made without `self`; set pnTreeDef.self", tree->mesh->name);
  } else {
    result = pn_checkFilter(&def->filter);
  }
  if (result == PN_OK && tree->rule->reshapes && (def->filter.ring > 1 || def->filter.ignoreRest))
    result = pn_fail(PN_ERROR_KIND, "soup '%s': it has no second ring and no rest pose to filter by", tree->mesh->name);
  if (result == PN_OK) return collide(tree, NULL, def, outPairs, outCost);
  if (outPairs) {
    outPairs->collider.pairs.count = 0;
    outPairs->limited = false;
  }
  return result;
}

/* ---------------------------------------------------------------- the slow obvious answer */

pnResult pnCollideBrute(const pnPose *a, const pnPose *b, const pnQueryDef *def, pnPairList *outPairs) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(a && b && outPairs);
  pnPairs *pairs = &outPairs->collider.pairs;
  pairs->count = 0;
  outPairs->limited = false;
  for (uint32_t s = 0; s < a->mesh->triangleCount; ++s) {
    for (uint32_t t = a == b ? s + 1 : 0; t < b->mesh->triangleCount; ++t) {
      if (pn_trianglesMeetNow(a, s, b, t, a == b)) {
        if (!pn_arrayPush(pairs, ((pnPair){s, t}))) {
          pairs->count = 0;
          return pn_failMemory(sizeof(pnPair));
        }
        if (def && def->first) return PN_OK;
      }
    }
  }
  return PN_OK;
}
