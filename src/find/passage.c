/* passage.c: what meets between two frames and in neither of them.
 *
 * The question is about the set of all (point of a, point of b, time) that are one point at that time: which pieces of it reach
 * neither end of the step? A piece is followed from one pair of triangles to the next. Two triangles begin to meet, and cease, when
 * a vertex of one is on the other or two of their edges meet: at an impact. There all triangles at the vertex meet the face, all
 * at one edge all at the other, at one time in one point, so they are of one piece. And where the line in which two triangles
 * meet goes on into the next pair, over an edge, that edge pierces a triangle; it did so from the beginning on, and then the pairs
 * meet in the frame before, or since an impact of the edge or of its end, and then the pairs are joined by it. So pieces are the
 * impacts, joined where they are of the same pair of triangles, and a piece reaches an end of the step just when one of its
 * pairs meets there. (Pairs that are joined are taken as one piece for the whole step, though they may part and meet again:
 * then less is called a passage, never more.) */
#include "find/find.h"

#include "base/fenv.h"
#include "base/sort.h"
#include "collide/sweep.h"
#include "mesh/mesh.h"

#include <stdlib.h>

struct pnPassageList {
  PN_ARRAY(uint64_t) keys;    /* pairs of triangles, a << 32 | b, sorted, each once; and as much room behind */
  PN_ARRAY(uint32_t) parents; /* one a pair: towards the smallest pair of its piece */
  PN_ARRAY(uint32_t) numbers; /* one a pair: of a piece's smallest pair, its passage; PN_NONE: it is shown */
  pnNumbers sides[2];         /* the triangles of one impact */
  PN_ARRAY(double) times;     /* of impacts, passage after passage */
  PN_ARRAY(size_t) ends;      /* of these */
  PN_ARRAY(pnPassage) passages;
  PN_ARRAY(pnPair) pairs;
};

pnResult pnCreatePassageList(pnPassageList **outList) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(outList);
  *outList = pn_allocZero(sizeof(pnPassageList));
  return *outList ? PN_OK : pn_failMemory(sizeof(pnPassageList));
}

void pnDestroyPassageList(pnPassageList *list) {
  if (!list) return;
  pn_arrayFree(&list->keys);
  pn_arrayFree(&list->parents);
  pn_arrayFree(&list->numbers);
  pn_arrayFree(&list->sides[0]);
  pn_arrayFree(&list->sides[1]);
  pn_arrayFree(&list->times);
  pn_arrayFree(&list->ends);
  pn_arrayFree(&list->passages);
  pn_arrayFree(&list->pairs);
  pn_free(list, sizeof *list);
}

const pnPassage *pnPassageList_GetPassages(const pnPassageList *list, size_t *outCount) {
  *outCount = list->passages.count;
  return list->passages.data;
}

const pnPair *pnPassageList_GetPairs(const pnPassageList *list, size_t *outCount) {
  *outCount = list->pairs.count;
  return list->pairs.data;
}

/* ---------------------------------------------------------------- the triangles of an impact */

/* Does triangle t have vertex v, or one that is welded to it and stays with it? */
static bool hasVertex(const pnSweep *s, uint32_t t, uint32_t v) {
  for (int k = 0; k < 3; ++k)
    if (pn_isOneVertex(s, s->mesh->triangles[3 * (size_t)t + (size_t)k], v)) return true;
  return false;
}

/* The triangles at a vertex (v == w) or an edge. */
static bool addAround(const pnSweep *s, uint32_t v, uint32_t w, pnNumbers *out) {
  const pnMesh *mesh = s->mesh;
  uint32_t rep = mesh->weld[v];
  for (uint32_t i = mesh->ringOffsets[rep]; i < mesh->ringOffsets[rep + 1]; ++i) {
    uint32_t t = mesh->rings[i];
    if (hasVertex(s, t, v) && (v == w || hasVertex(s, t, w)) && !pn_arrayPush(out, t)) return false;
  }
  return true;
}

/* One side of an impact; `kind` as this side has it: PN_VERTEX_WITH_FACE: its vertex. */
static bool takeSide(const pnSweep *s, pnFeatureKind kind, uint32_t feature, pnNumbers *out) {
  out->count = 0;
  if (kind == PN_VERTEX_WITH_FACE) return addAround(s, feature, feature, out);
  if (kind == PN_EDGE_WITH_EDGE)
    return addAround(s, s->edges[2 * (size_t)feature], s->edges[2 * (size_t)feature + 1], out);
  return pn_arrayPush(out, feature);
}

static bool takeSides(const pnPassageDef *def, const pnFeatureImpact *impact, pnPassageList *list) {
  const pnSweep *b = def->b ? def->b : def->a;
  static const pnFeatureKind other[] = {PN_FACE_WITH_VERTEX, PN_VERTEX_WITH_FACE, PN_EDGE_WITH_EDGE, PN_FACE_WITH_FACE};
  return takeSide(def->a, impact->kind, impact->a, &list->sides[0]) &&
         takeSide(b, other[impact->kind], impact->b, &list->sides[1]);
}

/* A pair as a number; of one body the smaller triangle is in front. */
static uint64_t keyOf(bool self, uint32_t a, uint32_t b) {
  bool swap = self && a > b;
  return (uint64_t)(swap ? b : a) << 32 | (swap ? a : b);
}

/* ---------------------------------------------------------------- pieces */

static bool listKeys(const pnPassageDef *def, pnPassageList *list) {
  list->keys.count = 0;
  for (size_t i = 0; i < def->impactCount; ++i) {
    if (!takeSides(def, &def->impacts[i], list)) return false;
    size_t count = list->sides[0].count * list->sides[1].count;
    if (!pn_arrayReserve(&list->keys, list->keys.count + count)) return false;
    for (size_t p = 0; p < list->sides[0].count; ++p)
      for (size_t q = 0; q < list->sides[1].count; ++q)
        list->keys.data[list->keys.count++] = keyOf(!def->b, list->sides[0].data[p], list->sides[1].data[q]);
  }
  size_t count = list->keys.count, kept = 0;
  if (!pn_arrayReserve(&list->keys, 2 * count)) return false;
  if (count > 0) pn_sortU64(list->keys.data, list->keys.data + count, count);
  for (size_t i = 0; i < count; ++i)
    if (i == 0 || list->keys.data[i] != list->keys.data[i - 1]) list->keys.data[kept++] = list->keys.data[i];
  list->keys.count = kept;
  return kept < PN_NONE && pn_arrayReserve(&list->parents, kept) && pn_arrayReserve(&list->numbers, kept);
}

/* The place of a pair; PN_NONE: no impact is of it. */
static uint32_t placeOf(const pnPassageList *list, uint64_t key) {
  size_t at = pn_lowerKey(list->keys.data, list->keys.count, key);
  return at < list->keys.count && list->keys.data[at] == key ? (uint32_t)at : PN_NONE;
}

/* All pairs of an impact are of one piece, whose smallest pair is its root. */
static bool joinPairs(const pnPassageDef *def, pnPassageList *list) {
  for (uint32_t i = 0; i < list->keys.count; ++i) list->parents.data[i] = i;
  for (size_t i = 0; i < def->impactCount; ++i) {
    if (!takeSides(def, &def->impacts[i], list)) return false;
    uint32_t root = PN_NONE;
    for (size_t p = 0; p < list->sides[0].count; ++p)
      for (size_t q = 0; q < list->sides[1].count; ++q) {
        uint64_t key = keyOf(!def->b, list->sides[0].data[p], list->sides[1].data[q]);
        uint32_t next = pn_rootOf(list->parents.data, placeOf(list, key)), least = PN_MIN(next, root);
        if (root != PN_NONE) list->parents.data[PN_MAX(next, root)] = least;
        root = least;
      }
  }
  return true;
}

/* Pieces that a frame shows. */
static void markShown(const pnPassageDef *def, pnPassageList *list) {
  for (uint32_t i = 0; i < list->keys.count; ++i) list->numbers.data[i] = 0;
  for (int k = 0; k < 2; ++k) {
    const pnPair *pairs = k ? def->after : def->before;
    size_t count = k ? def->afterCount : def->beforeCount;
    for (size_t i = 0; i < count; ++i) {
      uint32_t place = placeOf(list, keyOf(!def->b, pairs[i].a, pairs[i].b));
      if (place != PN_NONE) list->numbers.data[pn_rootOf(list->parents.data, place)] = PN_NONE;
    }
  }
}

/* ---------------------------------------------------------------- passages */

/* A passage for every piece that is not shown, in the order of their smallest pairs, and their pairs. */
static bool listPassages(pnPassageList *list) {
  uint32_t *numbers = list->numbers.data;
  size_t total = 0;
  for (uint32_t i = 0; i < list->keys.count; ++i) {
    uint32_t root = pn_rootOf(list->parents.data, i);
    if (numbers[root] == PN_NONE) continue;
    if (root == i) {
      numbers[i] = (uint32_t)list->passages.count;
      if (!pn_arrayPush(&list->passages, ((pnPassage){0}))) return false;
    }
    ++list->passages.data[numbers[root]].pairCount;
    ++total;
  }
  if (!pn_arrayReserve(&list->pairs, total)) return false;
  for (size_t i = 0, at = 0; i < list->passages.count; ++i) {
    list->passages.data[i].firstPair = at;
    at += list->passages.data[i].pairCount;
    list->passages.data[i].pairCount = 0;
  }
  list->pairs.count = total;
  for (uint32_t i = 0; i < list->keys.count; ++i) {
    uint32_t number = numbers[pn_rootOf(list->parents.data, i)];
    if (number == PN_NONE) continue;
    pnPassage *passage = &list->passages.data[number];
    uint64_t key = list->keys.data[i];
    list->pairs.data[passage->firstPair + passage->pairCount++] = (pnPair){(uint32_t)(key >> 32), (uint32_t)key};
  }
  return true;
}

/* The passage of an impact; PN_NONE: it is of a piece that is shown. */
static uint32_t passageOf(const pnPassageDef *def, pnPassageList *list, const pnFeatureImpact *impact) {
  // The first pair of many: they are of one piece. A vertex of no triangle is not in the sweep, so each side has one.
  if (!takeSides(def, impact, list)) return PN_NONE;
  uint32_t place = placeOf(list, keyOf(!def->b, list->sides[0].data[0], list->sides[1].data[0]));
  return list->numbers.data[pn_rootOf(list->parents.data, place)];
}

static int compareTimes(const void *p, const void *q) {
  double a = *(const double *)p, b = *(const double *)q;
  return (a > b) - (a < b);
}

/* When its features meet: their times, passage after passage, sorted in each. */
static bool timePassages(const pnPassageDef *def, pnPassageList *list) {
  size_t total = 0;
  for (size_t i = 0; i < def->impactCount; ++i) {
    uint32_t number = passageOf(def, list, &def->impacts[i]);
    if (number == PN_NONE) continue;
    ++list->passages.data[number].impactCount;
    ++total;
  }
  if (!pn_arrayReserve(&list->times, total) || !pn_arrayReserve(&list->ends, list->passages.count)) return false;
  // The end of what is there of each passage, which moves on while times are put there.
  for (size_t i = 0, at = 0; i < list->passages.count; at += list->passages.data[i++].impactCount)
    list->ends.data[i] = at;
  for (size_t i = 0; i < def->impactCount; ++i) {
    uint32_t number = passageOf(def, list, &def->impacts[i]);
    if (number != PN_NONE) list->times.data[list->ends.data[number]++] = def->impacts[i].lo;
  }
  for (size_t i = 0; i < list->passages.count; ++i) {
    pnPassage *passage = &list->passages.data[i];
    double *times = list->times.data + list->ends.data[i] - passage->impactCount;
    qsort(times, passage->impactCount, sizeof(double), compareTimes);
    passage->first = times[0];
    passage->middle = times[(passage->impactCount - 1) / 2];
    passage->last = times[passage->impactCount - 1];
  }
  return true;
}

pnResult pnFindPassages(const pnPassageDef *def, pnPassageList *outList) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && def->a && outList && (def->impactCount == 0 || def->impacts));
  outList->passages.count = outList->pairs.count = 0;
  for (int side = 0; side < 2; ++side) {
    const pnSweep *sweep = side == 0 ? def->a : def->b;
    if (sweep && sweep->soup)
      return pn_fail(PN_ERROR_KIND, "passages: soup '%s' has no neighbours to follow what meets by", sweep->mesh->name);
  }
  bool good = listKeys(def, outList) && joinPairs(def, outList);
  if (good) markShown(def, outList);
  good = good && listPassages(outList) && timePassages(def, outList);
  if (good) return PN_OK;
  outList->passages.count = outList->pairs.count = 0;
  return pn_failMemory(def->impactCount * sizeof(uint64_t));
}
