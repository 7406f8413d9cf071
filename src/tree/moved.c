/* moved.c: see moved.h. */
#include "tree/moved.h"

/* Leaves that are looked at, about, and of how many of them one must have been opened in the frame before: to begin with, and to go on,
 * since of smaller volumes fewer are opened. To move all vertices takes about as long as filling one leaf in five by itself. */
#define SAMPLE 64u
#define ONE_BEGINS 5u
#define ONE_GOES_ON 10u

static bool wasReached(const pnTree *tree, uint32_t node) {
  return atomic_load_explicit(&tree->stamp[node], memory_order_relaxed) == tree->now - 1;
}

static bool isOpenedOften(const pnTree *tree) {
  const pnShape *s = tree->shape;
  uint32_t seen = 0, opened = 0;
  if (tree->now == 1 || !wasReached(tree, 0)) return false; /* stamps of 0 are those of no frame */
  for (uint32_t leaf = 0; leaf < s->leafCount; leaf += PN_MAX(s->leafCount / SAMPLE, 1u), ++seen)
    opened += wasReached(tree, s->innerCount + leaf);
  return opened * (tree->isMoved ? ONE_GOES_ON : ONE_BEGINS) >= seen;
}

/* Vertices that lie ready need not be moved. Other forms than boxes do not read them where they are; a focus sees few of its leaves. */
static bool canMove(const pnTree *tree) {
  return !pn_isPlain(tree->pose) && tree->slabs == &pn_slabBox && !tree->isFocused && !tree->def.noStamps &&
         (tree->shape->sourceCorners || tree->def.self);
}

static bool isWorthMoving(const pnTree *tree) {
  pnMoves moves = tree->rule->moves;
  if (moves == PN_MOVES_NEVER || !canMove(tree)) return false;
  return moves == PN_MOVES_ALWAYS || tree->shape->small || (moves == PN_MOVES_OFTEN && isOpenedOften(tree));
}

static pnResult openMoved(pnTree *tree) {
  if (tree->moved) return PN_OK;
  size_t bytes = pn_bytes(3 * (size_t)tree->mesh->vertexCount + 1, sizeof(float));
  tree->moved = pn_allocZero(bytes);
  if (!tree->moved) return pn_failMemory(bytes);
  tree->movedBytes = bytes;
  return PN_OK;
}

/* Vertices that a worker takes at a time: some microseconds. */
#define VERTICES_PER_TASK 1024u

static void moveRange(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
  (void)worker;
  const pnTree *tree = context;
  pn_poseFetchRange(tree->pose, begin, end - begin, tree->moved + 3 * (size_t)begin, 3);
}

pnResult pn_beginMoved(pnTree *tree, const pnTasks *tasks) {
  bool was = tree->isMoved;
  tree->isMoved = isWorthMoving(tree);
  pnResult result = tree->isMoved ? openMoved(tree) : PN_OK;
  if (result != PN_OK) tree->isMoved = false;
  if (was || tree->isMoved) pn_findCorners(tree);
  if (tree->isMoved) pn_parallelFor(tasks, moveRange, tree, tree->mesh->vertexCount, VERTICES_PER_TASK);
  return result;
}

/* None is NaN, which the volume might miss: the source is finite, and poses refuse what could carry a vertex too far out. */
pnResult pn_setMovedRoot(pnTree *tree) {
  const pnShape *s = tree->shape;
  pnBound root;
  pn_boundOfVertices(tree, s->clusterVertices, s->clusterVertexFirst[s->clusterCount], &root);
  return pn_setRoot(tree, &root) ? PN_OK : PN_ERROR_NUMBER;
}
