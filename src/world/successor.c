/* successor.c: see successor.h. */
#include "world/successor.h"

#include "tree/gradual.h"
#include "tree/tree.h"

/* A pair of nodes takes about so many nanoseconds to open, and a triangle to follow. A frame is longer by this part of what it took
 * before: worn trees make frames half as long again before they are seen to, and with a fifth on top of that, and what a step may take
 * more, they stay well below twice the usual. */
#define NODE_PAIR_WORK 15
#define TRIANGLE_WORK 2
#define PART 0.2
/* And by this one where next to all that is opened is in vain, and more of it in every frame: the sooner the new tree is there, the less that
 * is. Whole frames are longer than what is counted here by what it takes to set vertices, among others. */
#define FELT_PART 1.25

struct pnSuccessor {
  pnGradual *gradual;
  bool isBuilt;
  pnTree *former;        /* on trial */
  uint64_t formerOpened; /* pairs of nodes in the last frame of the tree that was there */
};

void pn_dropSuccessor(pnBody *body) {
  struct pnSuccessor *r = body->successor;
  if (!r) return;
  pn_endGradual(r->gradual);
  pnDestroyTree(r->former);
  pn_free(r, sizeof *r);
  body->successor = NULL;
}

bool pn_beginSuccessor(pnBody *body, bool quick) {
  struct pnSuccessor *r = body->successor = pn_allocZero(sizeof *r);
  if (r) r->gradual = pn_beginGradual(body->tree, quick);
  if (r && r->gradual) return true;
  pn_dropSuccessor(body);
  return false;
}

/* The new tree has been asked: was it better? */
static pnVerdict judge(pnBody *body, const pnTasks *tasks) {
  struct pnSuccessor *r = body->successor;
  bool better = body->opened < r->formerOpened;
  if (!better) {
    /* the former one has missed a frame; should it fail to follow, the new one stays, which is right, too */
    better = pnTree_Update(r->former, tasks) != PN_OK;
    if (!better) pn_exchangeTrees(body->tree, r->former);
  }
  pn_dropSuccessor(body);
  return better ? PN_VERDICT_KEPT : PN_VERDICT_REFUSED;
}

int64_t pn_workForSuccessors(uint64_t opened, uint64_t triangles, bool felt) {
  double usual = NODE_PAIR_WORK * (double)opened + TRIANGLE_WORK * (double)triangles;
  return (int64_t)((felt ? FELT_PART : PART) * usual) + 1;
}

/* It takes the place of the tree, in a frame in which nothing is built: its volumes are made in it. */
static pnVerdict takeOver(pnBody *body, int64_t *work) {
  struct pnSuccessor *r = body->successor;
  *work = 0;
  if (pn_takeGradual(r->gradual, body->tree, &r->former) != PN_OK) {
    pn_dropSuccessor(body);
    return PN_VERDICT_REFUSED;
  }
  pn_endGradual(r->gradual);
  r->gradual = NULL;
  r->formerOpened = body->opened;
  body->opened = 0;
  return PN_VERDICT_OPEN;
}

pnVerdict pn_stepSuccessor(pnBody *body, int64_t *work, const pnTasks *tasks) {
  struct pnSuccessor *r = body->successor;
  if (r->former) return judge(body, tasks);
  if (*work <= 0) return PN_VERDICT_OPEN;
  if (r->isBuilt) return takeOver(body, work);
  pnProgress step = pn_stepGradual(r->gradual, work);
  r->isBuilt = step == PN_PROGRESS_DONE;
  if (step != PN_PROGRESS_FAILED) return PN_VERDICT_OPEN;
  pn_dropSuccessor(body);
  return PN_VERDICT_REFUSED;
}
