/* hub_sweep.c: see hub_sweep.h.
 *
 * Rounding. Everything is in double, u = 2^-53. A coordinate of a - v is rounded once, the sum of three magnitudes and the
 * division bring 4 more: each coordinate of an end is off by 5u of itself. A bend is p = (1 - s) a + s b where coordinate k is
 * zero, s = a_k / (a_k - b_k) with a_k, b_k of opposite sign: s is off by at most 5u (ends) + 3u (itself), and moves p by less than 2
 * (the greatest distance of two ends) times that, 16u; products, sum and ends bring 10u. Where |p| >= 2^-26 (else the whole octahedron
 * is the box) scaling p makes of it less than 2^26 (26u + 5u) < 2^-22. With 2^-25 for rounding to float that is less than
 * half of the margin. The direction of a page is w = f - (f.e / e.e) e for the spine e and the third corner f, both of size 1 and 5u
 * off in each coordinate: dot products are off by less than 16u |e| |f|, the quotient, at most 3 in size, by 60u, w by less than
 * 80u; where |w| >= 2^-26 scaling makes of it less than 2^26 100u < 2^-20 / 4. */
#include "collide/hub_sweep.h"

#include "collide/proof.h"

#include "geom/triangle.h"

#include <math.h>

#define MARGIN 0x1p-20f
#define LEAST_BEND 0x1p-26
/* So many triangles with a second vertex in common are pages. */
#define LEAST_PAGES 64u

static double sizeOf(const double p[3]) {
  return fabs(p[0]) + fabs(p[1]) + fabs(p[2]);
}

/* Makes the box hold a point of the octahedron, given at any size but zero. */
static void take(pnHubItem *item, const double p[3]) {
  double size = sizeOf(p);
  for (int k = 0; k < 3; ++k) {
    float x = (float)(p[k] / size);
    item->lo[k] = PN_MIN(item->lo[k], x - MARGIN);
    item->hi[k] = PN_MAX(item->hi[k], x + MARGIN);
  }
}

static void takeAll(pnHubItem *item) {
  for (int k = 0; k < 3; ++k) {
    item->lo[k] = -2;
    item->hi[k] = 2;
  }
}

/* The box of the directions between two, scaled to the octahedron. */
static void takeBetween(pnHubItem *item, const double a[3], const double b[3]) {
  take(item, a);
  take(item, b);
  for (int k = 0; k < 3; ++k) {
    if ((a[k] < 0 && b[k] > 0) || (a[k] > 0 && b[k] < 0)) {
      double s = a[k] / (a[k] - b[k]), p[3];
      for (int i = 0; i < 3; ++i) p[i] = i == k ? 0 : (1 - s) * a[i] + s * b[i];
      if (sizeOf(p) < LEAST_BEND) {
        takeAll(item);
        return;
      }
      take(item, p);
    }
  }
}

/* The directions in which a triangle leaves the point `middle`, at which all its corners at v must be. False: it has none. */
static bool directionBox(const pnTree *tree, uint32_t v, uint32_t slot, const float *middle, pnHubItem *item) {
  const float *corner[3];
  double end[2][3];
  uint32_t weld[3], ends = 0;
  pn_slotCorners(tree, slot, corner);
  pn_weldedCorners(tree->mesh, item->triangle, weld);
  for (int c = 0; c < 3; ++c) {
    if (weld[c] == v) {
      if (!pn_samePoint(corner[c], middle)) return false;
      continue;
    }
    double size, *e = end[ends];
    for (int k = 0; k < 3; ++k) e[k] = (double)corner[c][k] - middle[k];
    size = sizeOf(e);
    for (int k = 0; size > 0 && k < 3; ++k) e[k] /= size;
    ends += size > 0;
  }
  for (int k = 0; k < 3; ++k) {
    item->lo[k] = 3;
    item->hi[k] = -3;
  }
  if (ends == 2) takeBetween(item, end[0], end[1]);
  else if (ends == 1) take(item, end[0]);
  return ends > 0;
}

/* ---------------------------------------------------------------- pages */

/* The vertex but v that most of the regular triangles have, if there are enough of them. False: out of memory. */
static bool findSpine(pnHubSweep *s, const pnMesh *mesh) {
  uint32_t n = 0, most = 0;
  s->spine = PN_NONE;
  if (!pn_arrayReserve(&s->keys, 3 * (size_t)s->regular) || !pn_arrayReserve(&s->keyScratch, 3 * (size_t)s->regular))
    return false;
  for (uint32_t i = 0; i < s->regular; ++i) {
    uint32_t weld[3];
    pn_weldedCorners(mesh, s->items.data[i].triangle, weld);
    for (int c = 0; c < 3; ++c)
      if (weld[c] != s->vertex) s->keys.data[n++] = (pnKeyValue){weld[c], i};
  }
  pn_sortKeyValue(s->keys.data, s->keyScratch.data, n);
  for (uint32_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && s->keys.data[end].key == s->keys.data[begin].key; ++end) {}
    if (end - begin > most) {
      most = end - begin;
      s->spine = most >= LEAST_PAGES ? s->keys.data[begin].key : PN_NONE;
    }
  }
  return true;
}

/* The direction from v or the spine's other end to a corner, of size 1. False: it has none. */
static bool directionTo(const float *middle, const float *corner, double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = (double)corner[k] - middle[k];
  double size = sizeOf(out);
  for (int k = 0; size > 0 && k < 3; ++k) out[k] /= size;
  return size > 0;
}

/* Is the triangle a page: v, the spine's other end where `far` is, and a third corner? Then its box becomes that of the direction in
 * which it leaves the spine. A null `far` is filled in. */
static bool pageBox(const pnTree *tree, const pnHubSweep *s, uint32_t slot, const float *middle, const float **far,
                    pnHubItem *item) {
  const float *corner[3], *third = NULL, *there = NULL;
  uint32_t weld[3];
  double e[3], f[3], w[3] = {0};
  pn_slotCorners(tree, slot, corner);
  pn_weldedCorners(tree->mesh, item->triangle, weld);
  for (int c = 0; c < 3; ++c) {
    there = weld[c] == s->spine ? corner[c] : there;
    third = weld[c] != s->spine && weld[c] != s->vertex ? corner[c] : third;
  }
  *far = *far ? *far : there;
  if (!there || !third || !pn_samePoint(there, *far) || !directionTo(middle, there, e)) return false;
  double along = 0, square = 0;
  bool some = directionTo(middle, third, f);
  for (int k = 0; k < 3; ++k) {
    along += some ? e[k] * f[k] : 0;
    square += e[k] * e[k];
    item->lo[k] = 3;
    item->hi[k] = -3;
  }
  for (int k = 0; some && k < 3; ++k) w[k] = f[k] - along / square * e[k];
  if (!some || sizeOf(w) < LEAST_BEND) takeAll(item);
  else take(item, w);
  return true;
}

static void spaceBox(const pnTree *tree, uint32_t slot, pnHubItem *item) {
  const float *corner[3];
  pn_slotCorners(tree, slot, corner);
  for (int k = 0; k < 3; ++k) {
    item->lo[k] = PN_MIN(corner[0][k], PN_MIN(corner[1][k], corner[2][k]));
    item->hi[k] = PN_MAX(corner[0][k], PN_MAX(corner[1][k], corner[2][k]));
  }
}

/* Where v is, as the first of its triangles has it. */
static const float *middleOf(const pnTree *tree, const pnFans *fans, uint32_t v) {
  uint32_t triangle = tree->mesh->rings[tree->mesh->ringOffsets[v]], weld[3], c = 0;
  const float *corner[3];
  pn_slotCorners(tree, fans->slotOf[triangle], corner);
  pn_weldedCorners(tree->mesh, triangle, weld);
  while (weld[c] != v) ++c;
  return corner[c];
}

/* The axis on which boxes overlap least: the shortest of their summed lengths, over the length of the whole. */
static int leastCrowded(const pnHubItem *items, uint32_t count) {
  int best = 0;
  double least = 0;
  for (int k = 0; k < 3; ++k) {
    double sum = 0, lo = 3, hi = -3;
    for (uint32_t i = 0; i < count; ++i) {
      sum += (double)items[i].hi[k] - items[i].lo[k];
      lo = PN_MIN(lo, items[i].lo[k]);
      hi = PN_MAX(hi, items[i].hi[k]);
    }
    double crowding = sum / (hi - lo);
    best = k == 0 || crowding < least ? k : best;
    least = k == 0 ? crowding : PN_MIN(least, crowding);
  }
  return best;
}

/* Sorts the first n by where they begin on the axis. */
static bool sortItems(pnHubSweep *s, uint32_t n) {
  if (!pn_arrayReserve(&s->keys, n) || !pn_arrayReserve(&s->keyScratch, n) || !pn_arrayReserve(&s->scratch, n))
    return false;
  for (uint32_t i = 0; i < n; ++i) s->keys.data[i] = (pnKeyValue){pn_floatOrder(s->items.data[i].lo[s->axis]), i};
  pn_sortKeyValue(s->keys.data, s->keyScratch.data, n);
  for (uint32_t i = 0; i < n; ++i) s->scratch.data[i] = s->items.data[s->keys.data[i].value];
  if (n > 0) memcpy(s->items.data, s->scratch.data, n * sizeof(pnHubItem));
  return true;
}

bool pn_beginHub(pnHubSweep *s, const pnTree *tree, const pnFans *fans, uint32_t v) {
  const pnMesh *mesh = tree->mesh;
  uint32_t begin = mesh->ringOffsets[v], count = mesh->ringOffsets[v + 1] - begin, loose = 0;
  const float *middle = middleOf(tree, fans, v);
  s->items.count = 0;
  if (!pn_arrayReserve(&s->items, count)) return false;
  s->items.count = count;
  s->vertex = v;
  s->regular = s->i = s->pages = 0;
  s->part = PN_HUB_DIRECTIONS;
  for (uint32_t r = 0; r < count; ++r) {
    pnHubItem item = {.triangle = mesh->rings[begin + r]};
    bool regular = directionBox(tree, v, fans->slotOf[item.triangle], middle, &item);
    s->items.data[regular ? s->regular++ : count - ++loose] = item;
  }
  if (!findSpine(s, mesh)) return false;
  const float *far = NULL;
  for (uint32_t i = 0; s->spine != PN_NONE && i < s->regular; ++i) {
    pnHubItem page = s->items.data[i]; /* its box is made when pages are swept */
    s->items.data[i].page = pageBox(tree, s, fans->slotOf[page.triangle], middle, &far, &page);
    s->pages += s->items.data[i].page;
  }
  s->axis = leastCrowded(s->items.data, s->regular);
  s->j = 1;
  if (!sortItems(s, s->regular)) return false;
  /* keys have done their work: now they lead from a page to the last of those that follow without a gap */
  for (uint32_t i = s->regular; i-- > 0;) {
    bool more = i + 1 < s->regular && s->items.data[i + 1].page;
    s->keys.data[i].key = more ? s->keys.data[i + 1].key : i;
  }
  return true;
}

static bool overlap(const pnHubItem *p, const pnHubItem *q) {
  bool apart = false;
  for (int k = 0; k < 3; ++k) apart = apart || p->lo[k] > q->hi[k] || q->lo[k] > p->hi[k];
  return !apart;
}

/* Offers the pair at (i, j). */
static bool offer(const pnHubSweep *s, const pnTree *tree, const pnFans *fans, pnPairs *candidates) {
  const pnHubItem *p = &s->items.data[s->i], *q = &s->items.data[s->j];
  if (!overlap(p, q) || pn_smallestShared(tree->mesh, p->triangle, q->triangle) != s->vertex) return true;
  return pn_arrayPush(candidates, ((pnPair){fans->slotOf[p->triangle], fans->slotOf[q->triangle]}));
}

/* From directions to pages: they come first, with boxes of their own. False: out of memory. */
static bool goToPages(pnHubSweep *s, const pnTree *tree, const pnFans *fans) {
  const float *middle = middleOf(tree, fans, s->vertex), *far = NULL;
  uint32_t n = 0;
  s->part = PN_HUB_PAGES;
  s->i = 0;
  s->j = 1;
  for (uint32_t i = 0; s->pages > 0 && i < s->regular; ++i) {
    pnHubItem item = s->items.data[i];
    if (item.page) {
      (void)pageBox(tree, s, fans->slotOf[item.triangle], middle, &far, &item);
      s->items.data[i] = s->items.data[n];
      s->items.data[n++] = item;
    }
  }
  s->axis = leastCrowded(s->items.data, s->pages);
  return sortItems(s, s->pages);
}

/* From pages to space: those that are not regular, each with all before it. */
static void goToSpace(pnHubSweep *s, const pnTree *tree, const pnFans *fans) {
  s->part = PN_HUB_SPACE;
  s->i = s->regular;
  s->j = 0;
  for (size_t k = 0; s->i < s->items.count && k < s->items.count; ++k)
    spaceBox(tree, fans->slotOf[s->items.data[k].triangle], &s->items.data[k]);
}

/* Sweeps the first n along the axis. False: enough candidates, or (*outOk false) out of memory. Pages are left to their own part. */
static bool sweep(pnHubSweep *s, const pnTree *tree, const pnFans *fans, uint32_t n, size_t most, pnPairs *candidates,
                  bool *outOk) {
  for (; s->i < n; ++s->i, s->j = s->i + 1) {
    float end = s->items.data[s->i].hi[s->axis];
    bool page = s->part == PN_HUB_DIRECTIONS && s->items.data[s->i].page;
    for (; s->j < n && s->items.data[s->j].lo[s->axis] <= end; ++s->j) {
      if (page && s->items.data[s->j].page) {
        s->j = s->keys.data[s->j].key; /* the last page before one that is none */
        continue;
      }
      if (candidates->count >= most) return false;
      *outOk = offer(s, tree, fans, candidates);
      if (!*outOk) return false;
    }
  }
  return true;
}

bool pn_listHub(pnHubSweep *s, const pnTree *tree, const pnFans *fans, size_t most, pnPairs *candidates,
                bool *outDone) {
  bool ok = true;
  *outDone = false;
  if (s->part == PN_HUB_DIRECTIONS) {
    if (!sweep(s, tree, fans, s->regular, most, candidates, &ok)) return ok;
    if (!goToPages(s, tree, fans)) return false;
  }
  if (s->part == PN_HUB_PAGES) {
    if (!sweep(s, tree, fans, s->pages, most, candidates, &ok)) return ok;
    goToSpace(s, tree, fans);
  }
  for (; s->i < s->items.count; ++s->i, s->j = 0) {
    for (; s->j < s->i; ++s->j) {
      if (candidates->count >= most) return true;
      if (!offer(s, tree, fans, candidates)) return false;
    }
  }
  *outDone = true;
  return true;
}

void pn_freeHubSweep(pnHubSweep *s) {
  pn_arrayFree(&s->items);
  pn_arrayFree(&s->scratch);
  pn_arrayFree(&s->keys);
  pn_arrayFree(&s->keyScratch);
}

/* ---------------------------------------------------------------- the row */

/* The top of a hub's subtree with itself: all below it are neighbours, which fans know. */
static void pruneHubs(const pnTraversal *t, pnWorker *w, pnPairs *list, size_t from) {
  (void)w;
  size_t kept = from;
  for (size_t i = from; i < list->count; ++i) {
    pnPair p = list->data[i];
    list->data[kept] = p;
    kept += p.a != p.b || !pn_isHubRoot(t->a->shape, p.a);
  }
  list->count = kept;
}

const pnProof pn_proofHubs = {.name = "hubs", .prune = pruneHubs, .lists = PN_PRUNE_SEEDS | PN_PRUNE_NODES};
