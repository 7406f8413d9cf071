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

/* What it takes for each triangle to begin one, and to put it in its place: memory that is mapped, and volumes, in a frame that has made those
 * of the tree that was there. */
#define BEGIN_WORK 10
#define TAKE_WORK 60

/* Is there something left, and enough? What takes more than all that a frame may do is done where nothing was done before. */
static bool isLeft(const pnAllowance *allowance, int64_t work) {
  return allowance->left > 0 && (work <= allowance->left || allowance->left == allowance->whole);
}

static int64_t workOf(const pnBody *body, int64_t each) {
  return each * (int64_t)body->pose->mesh->triangleCount;
}

bool pn_mayBegin(const pnAllowance *allowance, const pnBody *body) {
  return !allowance->isBuilding && isLeft(allowance, workOf(body, BEGIN_WORK));
}

bool pn_beginSuccessor(pnBody *body, bool quick, pnAllowance *allowance) {
  struct pnSuccessor *r = body->successor = pn_allocZero(sizeof *r);
  if (r) r->gradual = pn_beginGradual(body->tree, quick);
  allowance->left -= workOf(body, BEGIN_WORK);
  allowance->isBuilding = r && r->gradual;
  if (allowance->isBuilding) return true;
  pn_dropSuccessor(body);
  return false;
}

bool pn_isBuilding(const pnBody *body) {
  return body->successor && !body->successor->isBuilt;
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

pnAllowance pn_allowFor(uint64_t opened, uint64_t triangles, bool felt) {
  double usual = NODE_PAIR_WORK * (double)opened + TRIANGLE_WORK * (double)triangles;
  int64_t work = (int64_t)((felt ? FELT_PART : PART) * usual) + 1;
  return (pnAllowance){.whole = work, .left = work};
}

/* It takes the place of the tree. */
static pnVerdict takeOver(pnBody *body, pnAllowance *allowance) {
  struct pnSuccessor *r = body->successor;
  allowance->left -= workOf(body, TAKE_WORK);
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

static pnVerdict build(pnBody *body, pnAllowance *allowance) {
  struct pnSuccessor *r = body->successor;
  pnProgress step = pn_stepGradual(r->gradual, &allowance->left);
  r->isBuilt = step == PN_PROGRESS_DONE;
  allowance->isBuilding = step == PN_PROGRESS_MORE;
  if (step != PN_PROGRESS_FAILED) return PN_VERDICT_OPEN;
  pn_dropSuccessor(body);
  return PN_VERDICT_REFUSED;
}

pnVerdict pn_stepSuccessor(pnBody *body, pnAllowance *allowance, const pnTasks *tasks) {
  struct pnSuccessor *r = body->successor;
  if (r->former) return judge(body, tasks);
  if (r->isBuilt) return isLeft(allowance, workOf(body, TAKE_WORK)) ? takeOver(body, allowance) : PN_VERDICT_OPEN;
  return allowance->left > 0 ? build(body, allowance) : PN_VERDICT_OPEN;
}
