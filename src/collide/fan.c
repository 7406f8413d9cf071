/* fan.c: the fans of a frame. See fan.h; the signs are certain as in sight.h. */
#include "collide/fan.h"

#include "collide/proof.h"
#include "tree/hub.h"

/* The vertices of four fans, counted from their middles, and M. A closed fan has its first again at the end. */
PN_INLINE pnF4 loadFans(const float *positions, const uint32_t *place, uint32_t around, pnV4 *out) {
  pnV4 middle = pn_gather4(positions, place);
  pnF4 m = pn_f4Set1(0);
  for (uint32_t i = 0; i < around; ++i) {
    pnV4 p = pn_gather4(positions, place + 4 * (i + 1));
    out[i] = pn_v4Sub(&p, &middle);
    m = pn_v4Reach(&out[i], m);
  }
  out[around] = out[0];
  return m;
}

/* Four fans of `steps` triangles, whose sides may change less than `changes` times. Mask: proved. */
PN_INLINE pnF4 provedFans(const pnV4 *p, uint32_t steps, pnF4 m, float changes) {
  pnV4 normal[PN_FAN_MOST], sum = pn_v4Cross(&p[0], &p[1]);
  normal[0] = sum;
  for (uint32_t i = 1; i < steps; ++i) {
    normal[i] = pn_v4Cross(&p[i], &p[i + 1]);
    sum = pn_v4Add(&sum, &normal[i]);
  }
  pnLineOfSight sight = pn_lookAlong(&sum);
  pnF4 zero = pn_f4Set1(0), one = pn_f4Set1(1), changed = zero, sideError = pn_sideError(m),
       seenError = pn_seenError(m);
  pnF4 side = pn_v4Dot(&sight.across, &p[0]), above = pn_f4Greater(side, zero);
  pnF4 proved = pn_f4Greater(pn_f4Abs(side), sideError);
  for (uint32_t i = 0; i < steps; ++i) {
    side = pn_v4Dot(&sight.across, &p[i + 1]);
    pnF4 next = pn_f4Greater(side, zero);
    changed = pn_f4Add(changed, pn_f4And(pn_f4Xor(above, next), one));
    above = next;
    proved = pn_f4And(proved, pn_f4Greater(pn_f4Abs(side), sideError));
    proved = pn_f4And(proved, pn_f4Greater(pn_v4Dot(&sight.along, &normal[i]), seenError));
  }
  return pn_f4And(proved, pn_f4Greater(pn_f4Set1(changes), changed));
}

unsigned pn_unsureFans(const pnTree *tree, const pnFans *fans, const pnFanGroup *group) {
  unsigned all = (1u << group->lanes) - 1;
  if (group->around == 0) return all;
  pnV4 p[PN_FAN_MOST + 1];
  pnF4 m = loadFans(tree->leafPositions, fans->places + group->placeFirst, group->around, p);
  uint32_t steps = group->around - !group->closed;
  pnF4 proved = provedFans(p, steps, m, group->closed ? 2.5f : 1.5f);
  unsigned unsure = all & ~pn_f4Signs(pn_f4And(proved, pn_neighbourRange(m)));

  /* what is one vertex in the fan must be one point now */
  for (const pnSeam *s = fans->seams + group->seamFirst; s < fans->seams + group[1].seamFirst; ++s)
    unsure |= (unsigned)!pn_isClosedSeam(tree, s) << s->of;
  return unsure;
}

uint32_t pn_smallestShared(const pnMesh *mesh, uint32_t s, uint32_t t) {
  uint32_t a[3], b[3], least = PN_NONE;
  pn_weldedCorners(mesh, s, a);
  pn_weldedCorners(mesh, t, b);
  for (int k = 0; k < 9; ++k) least = a[k / 3] == b[k % 3] ? PN_MIN(least, a[k / 3]) : least;
  return least;
}

bool pn_listFan(const pnTree *tree, const pnFans *fans, uint32_t v, pnPairs *candidates) {
  const pnMesh *mesh = tree->mesh;
  uint32_t end = mesh->ringOffsets[v + 1];
  for (uint32_t i = mesh->ringOffsets[v]; i < end; ++i) {
    if (!pn_arrayReserve(candidates, candidates->count + (end - i))) return false;
    for (uint32_t j = i + 1; j < end; ++j) {
      uint32_t s = mesh->rings[i], t = mesh->rings[j];
      if (pn_smallestShared(mesh, s, t) == v)
        candidates->data[candidates->count++] = (pnPair){fans->slotOf[s], fans->slotOf[t]};
    }
  }
  return true;
}

/* ---------------------------------------------------------------- neighbours */

/* Around a hub: so many that beginning a portion costs nothing, so few that their list stays in cache. */
#define HUB_BATCH 1024u

/* The pairs around a hub, tested in portions until there are more than `most`. */
static bool runHub(const pnTree *tree, pnWorker *w, uint32_t v, bool first, size_t most) {
  bool done = false, ok = pn_beginHub(&w->hub, tree, pn_fansOf(tree), v);
  while (ok && !done && w->found.count <= most) {
    ok = pn_listHub(&w->hub, tree, pn_fansOf(tree), HUB_BATCH, &w->candidates, &done) &&
         pn_testNeighbours(tree, w, first);
  }
  return ok;
}

/* Pairs of copies of fans that are proved, which nothing else says: to be tested with the others. */
static bool listCopies(const pnFans *fans, const pnFanGroup *group, unsigned unsure, pnPairs *candidates) {
  uint32_t count = group[1].copyFirst - group->copyFirst;
  if (count == 0) return true;
  if (!pn_arrayReserve(candidates, candidates->count + count)) return false;
  for (const pnCopyPair *t = fans->copies + group->copyFirst; t < fans->copies + group[1].copyFirst; ++t)
    if (!(unsure >> t->of & 1)) candidates->data[candidates->count++] = (pnPair){t->slot[0], t->slot[1]};
  return true;
}

/* The pairs around vertices of one block that are not proved to be apart; those of hubs are tested here, others listed and
 * tested when they are enough. */
static bool runFans(pnTree *tree, pnWorker *w, uint32_t unit, bool first, size_t most) {
  const pnFans *fans = pn_fansOf(tree);
  const pnFanBlock *block = &fans->blocks[unit];
  const uint32_t *ring = tree->mesh->ringOffsets;
  bool ok = true;
  for (uint32_t i = block->leafFirst; i < block[1].leafFirst; ++i)
    pn_freshen(tree, tree->shape->innerCount + fans->leaves[i], &w->fresh);
  for (uint32_t g = block->groupFirst; ok && g < block[1].groupFirst; ++g) {
    unsigned unsure = pn_unsureFans(tree, fans, &fans->groups[g]);
    ok = listCopies(fans, &fans->groups[g], unsure, &w->candidates) &&
         (w->candidates.count < PN_NEIGHBOUR_BATCH || pn_testNeighbours(tree, w, first));
    for (; ok && unsure != 0 && w->found.count <= most; unsure &= unsure - 1) {
      uint32_t v = fans->groups[g].vertex[pn_firstLane(unsure)];
      if (ring[v + 1] - ring[v] >= PN_HUB_LEAST) {
        ok = runHub(tree, w, v, first, most);
      } else {
        ok = pn_listFan(tree, fans, v, &w->candidates) &&
             (w->candidates.count < PN_NEIGHBOUR_BATCH || pn_testNeighbours(tree, w, first));
      }
    }
  }
  return ok;
}

static uint32_t countFans(const pnTree *tree) {
  return pn_fansOf(tree)->blockCount;
}

/* ---------------------------------------------------------------- the row */

static pnResult prepare(pnTree *tree, bool *outUse) {
  pnResult result = pn_prepareFans(tree);
  *outUse = pn_fansOf(tree) != NULL;
  return result;
}

const pnProof pn_proofFans = {.name = "fans",
                              .prepare = prepare,
                              .onlyNeighbours = true,
                              .notCalm = true,
                              .countNeighbours = countFans,
                              .runNeighbours = runFans,
                              .portion = 2};
