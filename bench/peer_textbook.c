/* peer_textbook.c: what a textbook says: a binary tree of boxes, one triangle a leaf, all boxes updated from the
 * leaves to the root every frame, recursive traversal of two trees that opens the larger box. The baseline of the
 * papers, in plain scalar C.
 *
 * Option "exact": pinch's exact triangle test instead of the plain float one. In that form it also makes the truth
 * that all others are checked against: it is simple enough to trust, and its scenes' pair counts are tested against
 * a sweep without any tree. */
#include "peer.h"
#include "triangle_float.h"

#include <float.h>
#include <stdlib.h>

typedef struct Node {
  float min[3], max[3];
  int32_t child;    /* the first of two neighbours, always behind their parent; -1 for a leaf */
  int32_t triangle; /* of a leaf; -1 for an inner node */
} Node;

typedef struct Tree {
  const uint32_t *triangles;
  const float *vertices;
  Node *nodes;
  uint32_t nodeCount, leafCount, innerCount;
  uint32_t *leaves, *inner; /* node numbers; inner from the last to the first, so that children come before parents */
} Tree;

typedef struct Textbook {
  const pnBenchInput *input;
  Tree *trees;
  uint32_t *order; /* bodies by where their boxes begin along x */
  bool exact;
  bool first, found;     /* stop at the first pair; there was one */
  uint32_t bodyA, bodyB; /* the bodies being tested */
  uint64_t volumeTests, exactTests;
  pnBenchPairs pairs;
} Textbook;

static float min2(float a, float b) {
  return a < b ? a : b;
}

static float max2(float a, float b) {
  return a > b ? a : b;
}

/* ---------------------------------------------------------------- build */

typedef struct Builder {
  Tree *tree;
  uint32_t *order;  /* triangles, sorted into nodes as the build goes on */
  float *midpoints; /* 3 times the midpoint of each triangle */
} Builder;

/* Moves the items so that the one at `middle` is where sorting along the axis would put it (Hoare's selection). */
static void selectMiddle(Builder *b, uint32_t begin, uint32_t end, uint32_t middle, int axis) {
  int64_t low = begin, high = (int64_t)end - 1;
  while (low < high) {
    float pivot = b->midpoints[3 * (size_t)b->order[(low + high) / 2] + axis];
    int64_t i = low, j = high;
    while (i <= j) {
      while (b->midpoints[3 * (size_t)b->order[i] + axis] < pivot) ++i;
      while (b->midpoints[3 * (size_t)b->order[j] + axis] > pivot) --j;
      if (i <= j) {
        uint32_t swap = b->order[i];
        b->order[i++] = b->order[j];
        b->order[j--] = swap;
      }
    }
    if ((int64_t)middle <= j) high = j;
    else if ((int64_t)middle >= i) low = i;
    else return;
  }
}

/* The axis along which the midpoints spread widest. */
static int widestAxis(const Builder *b, uint32_t begin, uint32_t end) {
  float spread[3];
  for (int axis = 0; axis < 3; ++axis) {
    float low = FLT_MAX, high = -FLT_MAX;
    for (uint32_t i = begin; i < end; ++i) {
      float m = b->midpoints[3 * (size_t)b->order[i] + axis];
      low = min2(low, m);
      high = max2(high, m);
    }
    spread[axis] = high - low;
  }
  return spread[0] >= spread[1] && spread[0] >= spread[2] ? 0 : spread[1] >= spread[2] ? 1 : 2;
}

static void buildNode(Builder *b, uint32_t node, uint32_t begin, uint32_t end) {
  Node *nodes = b->tree->nodes;
  if (end - begin == 1) {
    nodes[node].child = -1;
    nodes[node].triangle = (int32_t)b->order[begin];
    return;
  }
  uint32_t middle = begin + (end - begin) / 2, child = b->tree->nodeCount;
  selectMiddle(b, begin, end, middle, widestAxis(b, begin, end));
  nodes[node].child = (int32_t)child;
  nodes[node].triangle = -1;
  b->tree->nodeCount += 2;
  buildNode(b, child, begin, middle);
  buildNode(b, child + 1, middle, end);
}

static bool buildTree(Tree *tree, const pnBenchBody *body, const float *vertices) {
  uint32_t n = body->triangleCount;
  Builder b = {tree, malloc(sizeof(uint32_t) * n), malloc(sizeof(float) * 3 * n)};
  tree->triangles = body->triangles;
  tree->nodes = malloc(sizeof(Node) * 2 * n);
  tree->leaves = malloc(sizeof(uint32_t) * n);
  tree->inner = malloc(sizeof(uint32_t) * n);
  bool ok = n > 0 && b.order != NULL && b.midpoints != NULL && tree->nodes != NULL && tree->leaves != NULL &&
            tree->inner != NULL;
  if (ok) {
    for (uint32_t i = 0; i < n; ++i) {
      b.order[i] = i;
      for (int axis = 0; axis < 3; ++axis) {
        const uint32_t *t = body->triangles + 3 * (size_t)i;
        b.midpoints[3 * (size_t)i + axis] =
            vertices[3 * (size_t)t[0] + axis] + vertices[3 * (size_t)t[1] + axis] + vertices[3 * (size_t)t[2] + axis];
      }
    }
    tree->nodeCount = 1;
    buildNode(&b, 0, 0, n);
    for (uint32_t i = tree->nodeCount; i-- > 0;)
      if (tree->nodes[i].triangle >= 0) tree->leaves[tree->leafCount++] = i;
      else tree->inner[tree->innerCount++] = i;
  }
  free(b.order);
  free(b.midpoints);
  return ok;
}

static void destroyTextbook(void *peer) {
  Textbook *book = peer;
  for (uint32_t i = 0; book->trees != NULL && i < book->input->bodyCount; ++i) {
    free(book->trees[i].nodes);
    free(book->trees[i].leaves);
    free(book->trees[i].inner);
  }
  free(book->trees);
  free(book->order);
  free(book->pairs.data);
  free(book);
}

static void *createTextbook(const pnBenchInput *input, const char *options) {
  static const char *const words[] = {"exact", NULL};
  Textbook *book = pn_optionsKnown(options, words) ? calloc(1, sizeof(Textbook)) : NULL;
  if (book == NULL) return NULL;
  book->input = input;
  book->exact = pn_hasOption(options, "exact");
  book->trees = calloc(input->bodyCount, sizeof(Tree));
  book->order = calloc(input->bodyCount, sizeof(uint32_t));
  bool ok = book->trees != NULL && book->order != NULL;
  for (uint32_t i = 0; ok && i < input->bodyCount; ++i) {
    book->order[i] = i;
    ok = buildTree(&book->trees[i], &input->bodies[i], input->vertices[i]);
  }
  if (!ok) {
    destroyTextbook(book);
    return NULL;
  }
  return book;
}

/* ---------------------------------------------------------------- update */

static void updateTree(Tree *tree, const float *v) {
  tree->vertices = v;
  for (uint32_t i = 0; i < tree->leafCount; ++i) {
    Node *node = &tree->nodes[tree->leaves[i]];
    const uint32_t *t = tree->triangles + 3 * (size_t)node->triangle;
    const float *a = v + 3 * (size_t)t[0], *b = v + 3 * (size_t)t[1], *c = v + 3 * (size_t)t[2];
    for (int k = 0; k < 3; ++k) {
      node->min[k] = min2(a[k], min2(b[k], c[k]));
      node->max[k] = max2(a[k], max2(b[k], c[k]));
    }
  }
  for (uint32_t i = 0; i < tree->innerCount; ++i) {
    Node *node = &tree->nodes[tree->inner[i]];
    const Node *a = &tree->nodes[node->child], *b = a + 1;
    for (int k = 0; k < 3; ++k) {
      node->min[k] = min2(a->min[k], b->min[k]);
      node->max[k] = max2(a->max[k], b->max[k]);
    }
  }
}

static void updateTextbook(void *peer, const float *const *vertices) {
  Textbook *book = peer;
  for (uint32_t i = 0; i < book->input->bodyCount; ++i) updateTree(&book->trees[i], vertices[i]);
}

/* ---------------------------------------------------------------- search */

static bool boxesOverlap(const Node *a, const Node *b) {
  return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] && b->min[1] <= a->max[1] &&
         a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

static float longestSide(const Node *node) {
  return max2(node->max[0] - node->min[0], max2(node->max[1] - node->min[1], node->max[2] - node->min[2]));
}

static void testLeaves(Textbook *book, const Tree *treeA, uint32_t a, const Tree *treeB, uint32_t b) {
  const uint32_t *s = treeA->triangles + 3 * (size_t)a, *t = treeB->triangles + 3 * (size_t)b;
  if (book->input->self && pn_benchNeighbours(s, t)) return;
  ++book->exactTests;
  bool meet = book->exact ? pn_bodyTrianglesMeetExact(treeA->vertices, s, treeB->vertices, t)
                          : pn_bodyTrianglesMeetFloat(treeA->vertices, s, treeB->vertices, t);
  if (meet) {
    book->found = true;
    bool swap = book->input->self && a > b;
    if (!book->first) pn_benchAdd(&book->pairs, book->bodyA, book->bodyB, swap ? b : a, swap ? a : b);
  }
}

static void searchPair(Textbook *book, const Tree *treeA, int32_t a, const Tree *treeB, int32_t b) {
  const Node *x = &treeA->nodes[a], *y = &treeB->nodes[b];
  ++book->volumeTests;
  if ((book->first && book->found) || !boxesOverlap(x, y)) return;
  if (x->triangle >= 0 && y->triangle >= 0) {
    testLeaves(book, treeA, (uint32_t)x->triangle, treeB, (uint32_t)y->triangle);
  } else if (y->triangle >= 0 || (x->triangle < 0 && longestSide(x) >= longestSide(y))) {
    searchPair(book, treeA, x->child, treeB, b);
    searchPair(book, treeA, x->child + 1, treeB, b);
  } else {
    searchPair(book, treeA, a, treeB, y->child);
    searchPair(book, treeA, a, treeB, y->child + 1);
  }
}

/* Each child with itself, and the two with each other. */
static void searchSelf(Textbook *book, const Tree *tree, int32_t node) {
  int32_t child = tree->nodes[node].child;
  if (child >= 0) {
    searchSelf(book, tree, child);
    searchSelf(book, tree, child + 1);
    searchPair(book, tree, child, tree, child + 1);
  }
}

static float beginOf(const Textbook *book, uint32_t i) {
  return book->trees[book->order[i]].nodes[0].min[0];
}

/* Shell sort: from the second frame on the order is nearly right. */
static void sortBodies(Textbook *book) {
  for (uint32_t gap = book->input->bodyCount / 2; gap > 0; gap /= 2) {
    for (uint32_t i = gap; i < book->input->bodyCount; ++i) {
      uint32_t body = book->order[i], j = i;
      for (; j >= gap && beginOf(book, j - gap) > book->trees[body].nodes[0].min[0]; j -= gap)
        book->order[j] = book->order[j - gap];
      book->order[j] = body;
    }
  }
}

static void search(Textbook *book, bool first) {
  book->first = first;
  book->found = false;
  book->volumeTests = book->exactTests = 0;
  book->pairs.count = 0;
  if (book->input->self) {
    book->bodyA = book->bodyB = 0;
    searchSelf(book, &book->trees[0], 0);
    return;
  }
  sortBodies(book);
  for (uint32_t i = 0; i < book->input->bodyCount; ++i) {
    float end = book->trees[book->order[i]].nodes[0].max[0];
    for (uint32_t j = i + 1; j < book->input->bodyCount && beginOf(book, j) <= end && !(first && book->found); ++j) {
      uint32_t a = book->order[i], b = book->order[j];
      book->bodyA = a < b ? a : b;
      book->bodyB = a < b ? b : a;
      searchPair(book, &book->trees[book->bodyA], 0, &book->trees[book->bodyB], 0);
    }
  }
}

static void findAllTextbook(void *peer) {
  search(peer, false);
}

static int findFirstTextbook(void *peer) {
  search(peer, true);
  return ((Textbook *)peer)->found;
}

static void collectTextbook(void *peer, pnBenchPairs *outPairs) {
  const Textbook *book = peer;
  for (size_t i = 0; i < book->pairs.count; ++i) {
    const pnBenchPair *pair = &book->pairs.data[i];
    pn_benchAdd(outPairs, pair->bodyA, pair->bodyB, pair->a, pair->b);
  }
}

static void getCostTextbook(void *peer, pnPeerCost *outCost) {
  const Textbook *book = peer;
  outCost->volumeTests = book->volumeTests;
  outCost->exactTests = book->exactTests;
  for (uint32_t i = 0; i < book->input->bodyCount; ++i) {
    outCost->nodesUpdated += book->trees[i].nodeCount;
    outCost->byteCount += (sizeof(Node) + sizeof(uint32_t)) * book->trees[i].nodeCount;
  }
}

const pnPeer pn_peerTextbook = {
    .name = "textbook",
    .text = "binary tree of boxes, one triangle a leaf, full bottom-up update, recursive search, scalar C",
    .options = "exact",
    .create = createTextbook,
    .update = updateTextbook,
    .findAll = findAllTextbook,
    .findFirst = findFirstTextbook,
    .collect = collectTextbook,
    .getCost = getCostTextbook,
    .destroy = destroyTextbook,
};
