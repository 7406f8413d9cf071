/* fan_make.c: the fans of a tree, found once. See fan.h.
 *
 * The triangles around a vertex, without it, are edges between the vertices around it. They are one fan when these edges
 * are one path, or one circle of at least three. Vertices come in the order of the tree, and in windows of them fans of
 * one shape are put together by four; a window becomes a block. */
#include "base/sort.h"
#include "collide/fan.h"
#include "tree/update.h"

/* Vertices in a window: so many that few groups have to be filled up, so few that their leaves stay in cache. */
#define WINDOW 256u

/* One triangle of a fan, seen from the middle: corners in the middle, where the fan comes in and where it goes on, and which
 * welded vertices the last two are. */
typedef struct Step {
  uint32_t triangle, from, to;
  uint8_t middle, in, out;
} Step;

typedef struct Fan {
  uint32_t vertex;
  uint32_t stepFirst, stepCount; /* 0: not one fan */
  uint32_t copyCount;            /* behind the steps: copies of them */
  bool closed;
} Fan;

typedef struct FanMaker {
  const pnTree *tree;
  uint32_t *slotOf;
  uint32_t *leafMark; /* leaf -> the last block that listed it, plus one */
  uint8_t *isListed;  /* by vertex */
  Fan window[WINDOW];
  uint32_t windowCount;
  PN_ARRAY(Step) steps; /* of the window */
  PN_ARRAY(pnFanBlock) blocks;
  PN_ARRAY(pnFanGroup) groups;
  PN_ARRAY(uint32_t) places;
  PN_ARRAY(pnSeam) seams;
  PN_ARRAY(pnCopyPair) copies;
  PN_ARRAY(uint32_t) leaves;
} FanMaker;

/* ---------------------------------------------------------------- one fan */

/* How a triangle looks from v; false when it has a corner twice. */
static bool stepOf(const pnMesh *mesh, uint32_t triangle, uint32_t v, Step *out) {
  uint32_t c[3];
  pn_weldedCorners(mesh, triangle, c);
  uint8_t k = c[0] == v ? 0 : c[1] == v ? 1 : 2;
  uint8_t in = k == 2 ? 0 : (uint8_t)(k + 1), on = k == 0 ? 2 : (uint8_t)(k - 1);
  *out = (Step){triangle, c[in], c[on], k, in, on};
  return !pn_hasRepeatedCorner(c);
}

static Step turned(const Step *s) {
  return (Step){s->triangle, s->to, s->from, s->middle, s->out, s->in};
}

/* Of steps[from..count), the one that has vertex w: moved to `from`, turned so that it comes in there. False: none, or more than
 * one. Without branches, because nobody can guess which it is. */
static bool bringNext(Step *steps, uint32_t from, uint32_t count, uint32_t w) {
  uint32_t found = 0, n = 0;
  for (uint32_t i = from; i < count; ++i) {
    uint32_t is = (steps[i].from == w) | (steps[i].to == w);
    found = is ? i : found;
    n += is;
  }
  if (n != 1) return false;
  Step s = steps[found];
  steps[found] = steps[from];
  steps[from] = s.from == w ? s : turned(&s);
  return true;
}

/* Is w a vertex of only one of the steps? */
static bool isEnd(const Step *steps, uint32_t count, uint32_t w) {
  uint32_t n = 0;
  for (uint32_t i = 0; n < 2 && i < count; ++i) n += (steps[i].from == w) + (steps[i].to == w);
  return n == 1;
}

/* A triangle at an end of the path goes first, coming in at that end. */
static void bringEnd(Step *steps, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    bool in = isEnd(steps, count, steps[i].from);
    if (in || isEnd(steps, count, steps[i].to)) {
      Step s = steps[i];
      steps[i] = steps[0];
      steps[0] = in ? s : turned(&s);
      return;
    }
  }
}

/* Does the walk come to no vertex twice? */
static bool isSimple(const Step *steps, uint32_t count, bool closed) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!closed && steps[i].from == steps[count - 1].to) return false;
    for (uint32_t j = 0; j < i; ++j)
      if (steps[j].from == steps[i].from) return false;
  }
  return true;
}

/* Each step after the one that it goes on from, beginning with the first. */
static bool chainSteps(Step *steps, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i)
    if (!bringNext(steps, i, count, steps[i - 1].to)) return false;
  return true;
}

/* Do as many go out of every vertex as come in, as far as sums say? So it is in a circle whose triangles all face one way. */
static bool seemsClosed(const Step *steps, uint32_t count) {
  uint64_t in = 0, out = 0;
  for (uint32_t i = 0; i < count; ++i) {
    in += steps[i].from;
    out += steps[i].to;
  }
  return in == out;
}

/* Puts the steps around one vertex in order. False: they are not one fan. A circle may begin anywhere; an end is looked for only
 * where there seems to be one, or where it turns out that there is. */
static bool orderSteps(Step *steps, uint32_t count, bool *outClosed) {
  if (!seemsClosed(steps, count) || !chainSteps(steps, count)) {
    bringEnd(steps, count);
    if (!chainSteps(steps, count)) return false;
  }
  *outClosed = steps[count - 1].to == steps[0].from;
  return (count >= 3 || !*outClosed) && isSimple(steps, count, *outClosed);
}

/* Which corner of a triangle is v, the first that it is not. Without branches: nobody can guess it. */
PN_INLINE uint32_t cornerAt(const pnMesh *mesh, uint32_t triangle, uint32_t v) {
  uint32_t c[3];
  pn_weldedCorners(mesh, triangle, c);
  return (uint32_t)(c[1] == v) + 2u * (c[2] == v);
}

/* Steps from triangle to triangle around v, from `start` on, where no edge has more than two triangles and these run opposite ways: then all
 * of them are passed in one sense, and none twice, since each comes after one only. (One with a corner twice is nobody's neighbour.) Which
 * vertices are around is not asked for. Returns how many; `outNext` is where it goes on, PN_NONE at a border. */
static uint32_t walkOn(const pnMesh *mesh, uint32_t v, uint32_t start, uint32_t most, Step *steps, uint32_t *outNext) {
  static const uint8_t after[5] = {0, 1, 2, 0, 1};
  uint32_t t = start, n = 0;
  while (n < most && t != PN_NONE && (n == 0 || t != start)) {
    uint32_t k = cornerAt(mesh, t, v);
    steps[n++] = (Step){.triangle = t, .middle = (uint8_t)k, .in = after[k + 1], .out = after[k + 2]};
    t = mesh->neighbours[3 * (size_t)t + after[k + 2]];
  }
  *outNext = t;
  return n;
}

/* Orders the steps around v by walking over edges, as orderSteps does; on all meshes but crowded ones. */
static bool walkAround(const pnMesh *mesh, uint32_t v, Step *steps, bool *outClosed) {
  const uint32_t *ring = mesh->rings + mesh->ringOffsets[v];
  uint32_t count = mesh->ringOffsets[v + 1] - mesh->ringOffsets[v], start = ring[0], next, corners[3];
  pn_weldedCorners(mesh, start, corners);
  if (pn_hasRepeatedCorner(corners)) return false; /* others of that kind are never come to */
  uint32_t n = walkOn(mesh, v, start, count, steps, &next);
  if (n < count && next == PN_NONE) { /* it began in the middle of a path: what is left comes before */
    for (uint32_t i = n; i < count && start != PN_NONE; ++i)
      start = mesh->neighbours[3 * (size_t)start + cornerAt(mesh, start, v)];
    n = walkOn(mesh, v, start, count, steps, &next);
  }
  *outClosed = next == start;
  return n == count && (count >= 3 || !*outClosed);
}

/* Do they go over the same three vertices? Seen from one in the middle, either way round. */
static bool areCopies(const Step *s, const Step *t) {
  return (s->from == t->from && s->to == t->to) || (s->from == t->to && s->to == t->from);
}

/* One of each step, in front. Returns how many; behind them are their copies. */
static uint32_t setCopiesApart(Step *steps, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t k = 0;
    while (k < kept && !areCopies(&steps[k], &steps[i])) ++k;
    if (k < kept) continue;
    Step s = steps[i];
    steps[i] = steps[kept];
    steps[kept++] = s;
  }
  return kept;
}

static bool addFan(FanMaker *m, uint32_t v) {
  const pnMesh *mesh = m->tree->mesh;
  uint32_t begin = mesh->ringOffsets[v], count = mesh->ringOffsets[v + 1] - begin;
  Fan *fan = &m->window[m->windowCount++];
  *fan = (Fan){.vertex = v, .stepFirst = (uint32_t)m->steps.count};
  bool good = count < PN_FAN_MOST, closed = false;
  uint32_t stepCount = count;
  if (!pn_arrayReserve(&m->steps, m->steps.count + count)) return false;
  Step *steps = m->steps.data + m->steps.count;
  if (good && !mesh->crowded) {
    good = walkAround(mesh, v, steps, &closed);
  } else {
    for (uint32_t i = 0; good && i < count; ++i) good = stepOf(mesh, mesh->rings[begin + i], v, &steps[i]);
    if (good) stepCount = setCopiesApart(steps, count);
    good = good && orderSteps(steps, stepCount, &closed);
  }
  if (good) {
    fan->closed = closed;
    fan->stepCount = stepCount;
    fan->copyCount = count - stepCount;
    m->steps.count += count;
  }
  return true;
}

/* ---------------------------------------------------------------- four of them */

static uint32_t placeOf(const FanMaker *m, const Step *s, uint8_t corner) {
  return pn_placeOf(m->tree, m->slotOf[s->triangle], corner);
}

/* Two corners that are one vertex by welding: if not by number, they may come apart. */
static bool addSeam(FanMaker *m, const Step *s, uint8_t cornerS, const Step *t, uint8_t cornerT, uint32_t lane) {
  const uint32_t *triangles = m->tree->mesh->triangles;
  bool same = triangles[3 * (size_t)s->triangle + cornerS] == triangles[3 * (size_t)t->triangle + cornerT];
  return same || pn_arrayPush(&m->seams, ((pnSeam){{placeOf(m, s, cornerS), placeOf(m, t, cornerT)}, lane}));
}

static bool addSeams(FanMaker *m, const Fan *fan, uint32_t lane) {
  const Step *steps = m->steps.data + fan->stepFirst;
  bool ok = true;
  for (uint32_t i = 0; ok && i < fan->stepCount; ++i) {
    const Step *next = &steps[i + 1 < fan->stepCount ? i + 1 : 0];
    ok = addSeam(m, &steps[0], steps[0].middle, &steps[i], steps[i].middle, lane);
    if (ok && (fan->closed || i + 1 < fan->stepCount)) ok = addSeam(m, &steps[i], steps[i].out, next, next->in, lane);
  }
  return ok;
}

/* Copies of s lie on it as long as their corners do; those pairs of them belong to the fan in whose middle is the smallest. */
static bool addCopy(FanMaker *m, const Fan *fan, const Step *s, const Step *copy, uint32_t lane) {
  Step t = s->from == copy->from ? *copy : turned(copy);
  if (!addSeam(m, s, s->middle, &t, t.middle, lane) || !addSeam(m, s, s->in, &t, t.in, lane) ||
      !addSeam(m, s, s->out, &t, t.out, lane))
    return false;
  if (fan->vertex > PN_MIN(s->from, s->to)) return true;
  return pn_arrayPush(&m->copies, ((pnCopyPair){{m->slotOf[s->triangle], m->slotOf[t.triangle]}, lane}));
}

/* Each copy with the step that it is one of, and with the copies of that before it. */
static bool addCopies(FanMaker *m, const Fan *fan, uint32_t lane) {
  const Step *steps = m->steps.data + fan->stepFirst;
  for (uint32_t i = fan->stepCount; i < fan->stepCount + fan->copyCount; ++i)
    for (uint32_t k = 0; k < i; ++k)
      if (areCopies(&steps[k], &steps[i]) && !addCopy(m, fan, &steps[k], &steps[i], lane)) return false;
  return true;
}

/* Place k of a fan: the middle, then those around. */
static uint32_t fanPlace(const FanMaker *m, const Fan *fan, uint32_t k) {
  const Step *steps = m->steps.data + fan->stepFirst;
  if (k == 0) return placeOf(m, &steps[0], steps[0].middle);
  return k <= fan->stepCount ? placeOf(m, &steps[k - 1], steps[k - 1].in) : placeOf(m, &steps[k - 2], steps[k - 2].out);
}

/* Those that are named by so many in the order of a window. */
static bool addGroup(FanMaker *m, const pnKeyValue *order, uint32_t lanes) {
  const Fan *first = &m->window[order[0].value];
  uint32_t around = first->stepCount == 0 ? 0 : first->stepCount + !first->closed;
  pnFanGroup group = {.placeFirst = (uint32_t)m->places.count,
                      .seamFirst = (uint32_t)m->seams.count,
                      .copyFirst = (uint32_t)m->copies.count,
                      .around = (uint16_t)around,
                      .lanes = (uint8_t)lanes,
                      .closed = first->closed};
  uint32_t places = around == 0 ? 0 : around + 1;
  if (!pn_arrayReserve(&m->places, m->places.count + 4 * (size_t)places)) return false;
  for (uint32_t i = 0; i < 4; ++i) {
    const Fan *fan = &m->window[order[PN_MIN(i, lanes - 1)].value];
    group.vertex[i] = fan->vertex;
    for (uint32_t k = 0; k < places; ++k) m->places.data[m->places.count + 4 * k + i] = fanPlace(m, fan, k);
    if (i < lanes && m->tree->mesh->welded && !addSeams(m, fan, i)) return false;
    if (i < lanes && !addCopies(m, fan, i)) return false;
  }
  m->places.count += 4 * (size_t)places;
  return pn_arrayPush(&m->groups, group);
}

/* ---------------------------------------------------------------- a window */

/* The leaves with the triangles around v. */
static bool listLeaves(FanMaker *m, uint32_t v) {
  const pnMesh *mesh = m->tree->mesh;
  for (uint32_t r = mesh->ringOffsets[v]; r < mesh->ringOffsets[v + 1]; ++r) {
    uint32_t leaf = m->slotOf[mesh->rings[r]] / PN_LANES, mark = (uint32_t)m->blocks.count;
    if (m->leafMark[leaf] != mark) {
      m->leafMark[leaf] = mark;
      if (!pn_arrayPush(&m->leaves, leaf)) return false;
    }
  }
  return true;
}

/* Fans of one shape are side by side in the order that it makes, and as they came. */
static bool closeWindow(FanMaker *m) {
  pnKeyValue order[WINDOW], spare[WINDOW];
  for (uint32_t i = 0; i < m->windowCount; ++i)
    order[i] = (pnKeyValue){2 * m->window[i].stepCount + m->window[i].closed, i};
  pn_sortKeyValue(order, spare, m->windowCount);
  bool ok = pn_arrayPush(&m->blocks, ((pnFanBlock){(uint32_t)m->groups.count, (uint32_t)m->leaves.count}));
  for (uint32_t i = 0; ok && i < m->windowCount; ++i) ok = listLeaves(m, m->window[order[i].value].vertex);
  for (uint32_t i = 0, n; ok && i < m->windowCount; i += n) {
    for (n = 1; n < 4 && i + n < m->windowCount && order[i + n].key == order[i].key;) ++n;
    ok = addGroup(m, &order[i], n);
  }
  m->windowCount = 0;
  m->steps.count = 0;
  return ok;
}

/* Every vertex with two triangles or more, in the order of the tree. */
static bool makeWindows(FanMaker *m) {
  const pnTree *tree = m->tree;
  const uint32_t *vertices = tree->shape->leafVertices;
  for (uint32_t i = 0; i < tree->shape->leafVertexFirst[tree->shape->leafCount]; ++i) {
    uint32_t v = tree->mesh->weld[vertices[i] / 3];
    if (m->isListed[v] || tree->mesh->ringOffsets[v + 1] - tree->mesh->ringOffsets[v] < 2) continue;
    m->isListed[v] = 1;
    if (!addFan(m, v) || (m->windowCount == WINDOW && !closeWindow(m))) return false;
  }
  return closeWindow(m) &&
         pn_arrayPush(&m->blocks, ((pnFanBlock){(uint32_t)m->groups.count, (uint32_t)m->leaves.count})) &&
         pn_arrayPush(&m->groups,
                      ((pnFanGroup){.seamFirst = (uint32_t)m->seams.count, .copyFirst = (uint32_t)m->copies.count}));
}

/* ---------------------------------------------------------------- all */

#define TAKE(list) pn_pack(block, &at, m->list.data, m->list.count * sizeof(*m->list.data))

/* Everything in one block: how long it is, and with `block` the copy. */
static size_t pack(const FanMaker *m, char *block) {
  size_t at = 0;
  pn_carve(block, &at, 1, sizeof(pnFans));
  pnFans fans = {.blockCount = (uint32_t)m->blocks.count - 1};
  fans.blocks = TAKE(blocks);
  fans.groups = TAKE(groups);
  fans.places = TAKE(places);
  fans.seams = TAKE(seams);
  fans.copies = TAKE(copies);
  fans.leaves = TAKE(leaves);
  fans.slotOf = pn_pack(block, &at, m->slotOf, m->tree->mesh->triangleCount * sizeof(uint32_t));
  if (block) memcpy(block, &fans, sizeof fans);
  return at;
}

static bool packFans(FanMaker *m, void **outData, size_t *outBytes) {
  pn_findSlots(m->tree->shape, m->slotOf);
  if (!makeWindows(m)) return false;
  *outBytes = pack(m, NULL);
  *outData = pn_alloc(*outBytes);
  if (*outData) pack(m, *outData);
  return *outData != NULL;
}

static pnResult makeFans(void *context, void **outData, size_t *outBytes) {
  const pnTree *tree = context;
  size_t triangleBytes = pn_bytes(tree->mesh->triangleCount, sizeof(uint32_t));
  size_t leafBytes = pn_bytes(tree->shape->leafCount, sizeof(uint32_t)), vertexBytes = tree->mesh->vertexCount;
  FanMaker *m = pn_allocZero(sizeof(FanMaker));
  bool ok = m != NULL;
  if (ok) {
    m->tree = tree;
    m->slotOf = pn_alloc(triangleBytes);
    m->leafMark = pn_allocZero(leafBytes);
    m->isListed = pn_allocZero(vertexBytes);
    ok = m->slotOf && m->leafMark && m->isListed && packFans(m, outData, outBytes);
    pn_free(m->slotOf, triangleBytes);
    pn_free(m->leafMark, leafBytes);
    pn_free(m->isListed, vertexBytes);
    pn_arrayFree(&m->steps);
    pn_arrayFree(&m->blocks);
    pn_arrayFree(&m->groups);
    pn_arrayFree(&m->places);
    pn_arrayFree(&m->seams);
    pn_arrayFree(&m->copies);
    pn_arrayFree(&m->leaves);
    pn_free(m, sizeof(FanMaker));
  }
  return ok ? PN_OK
            : pn_fail(PN_ERROR_MEMORY, "out of memory while looking around the vertices of mesh '%s'",
                      tree->mesh->name);
}

pnResult pn_prepareFans(const pnTree *tree) {
  if (!tree->def.self || tree->rule->reshapes || tree->shape->nodeCount == 0) return PN_OK;
  return pn_makePart(tree->shape, PN_PART_FANS, makeFans, (void *)(uintptr_t)tree);
}
