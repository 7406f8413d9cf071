/* gradual.c: see gradual.h. */
#include "tree/gradual.h"

#include "tree/corner.h"
#include "tree/update.h"

struct pnGradual {
  pnTreePlan plan;
  const pnUpdateRule *rule;
  pnDivision *division;
  bool isDivided; /* then */
  pnShape *shape;
  pnAssembly *assembly;
};

pnGradual *pn_beginGradual(const pnTree *tree, bool quick) {
  if (tree->rule->reshapes || tree->def.self || pn_hasPieces(&tree->def)) return NULL;
  pnGradual *g = pn_allocZero(sizeof *g);
  if (!g) return NULL;
  g->plan = tree->def;
  g->plan.pose = tree->pose;
  g->rule = tree->rule;
  g->division = pn_beginDivision(&g->plan, quick);
  if (g->division) return g;
  pn_endGradual(g);
  return NULL;
}

/* From the division to the assembly: what the division has held is given back, which takes so much for each triangle. */
#define TURN_WORK 2
static pnProgress turn(pnGradual *g) {
  pnBuildResult result;
  g->shape = pn_beginShape(&g->plan, g->rule);
  if (!g->shape) return PN_PROGRESS_FAILED;
  pn_endDivision(g->division, &result);
  g->division = NULL;
  g->assembly = pn_beginAssembly(g->shape, &result);
  if (g->assembly) return PN_PROGRESS_MORE;
  pn_buildFree(&result);
  return PN_PROGRESS_FAILED;
}

/* The turn is made with what is left of a step, or, when it takes more, in one of its own. */
pnProgress pn_stepGradual(pnGradual *g, int64_t *work) {
  int64_t turning = TURN_WORK * (int64_t)g->plan.pose->mesh->triangleCount;
  bool wasDivided = g->isDivided;
  if (!g->isDivided) {
    pnProgress step = pn_stepDivision(g->division, work);
    g->isDivided = step == PN_PROGRESS_DONE;
    if (!g->isDivided) return step;
  }
  if (!g->assembly) {
    if (!wasDivided && *work < turning) return PN_PROGRESS_MORE;
    *work -= turning;
    pnProgress step = turn(g);
    if (step != PN_PROGRESS_MORE) return step;
  }
  return pn_stepAssembly(g->assembly, work);
}

pnResult pn_takeGradual(pnGradual *g, pnTree *tree, pnTree **outFormer) {
  pnTreePlan plan = g->plan;
  plan.shape = g->shape;
  pnResult result = pn_createTree(&plan, outFormer);
  if (result == PN_OK) pn_exchangeTrees(tree, *outFormer);
  return result;
}

void pn_endGradual(pnGradual *g) {
  if (!g) return;
  pn_endDivision(g->division, NULL);
  pn_endAssembly(g->assembly);
  pn_releaseShape(g->shape);
  pn_free(g, sizeof *g);
}
