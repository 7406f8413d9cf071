/* test_find_kin.c: what is looked up in trees and lists (src/find/kin.c, contain.c, finding.c, compare.c) against comparing everything
 * with everything: which findings a region goes on, what is inside what, which finding repeats which, and which is known. Random clouds of tetrahedra
 * in several bodies that move against each other. */
#include "support_find.h"

#include "find/find.h"

enum { BODIES = 4, MOST_THINGS = 24, FRAMES = 12, MOST_NUMBERS = 4 * MOST_THINGS };

static uint32_t seed;

static float chance(void) {
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) * 0x1p-24f;
}

/* Tetrahedra of very different sizes in a unit cube, some of them one inside the other. */
static pnMesh *makeCloud(uint32_t count) {
  static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  float v[12 * MOST_THINGS];
  uint32_t t[12 * MOST_THINGS];
  for (uint32_t i = 0; i < count; ++i) {
    float at[3] = {chance(), chance(), chance()}, size = i % 5 == 0 ? 0.6f : 0.03f + 0.15f * chance();
    for (uint32_t k = 0; k < 12; ++k) {
      v[12 * i + k] = size * corners[k / 3][k % 3] + at[k % 3];
      t[12 * i + k] = faces[k] + 4 * i;
    }
  }
  return testMakeMesh(v, 4 * count, t, 4 * count);
}

/* ---------------------------------------------------------------- which findings a region goes on */

typedef struct PlainTrace {
  pnBox box;
  bool atRest, contained;
  uint32_t partA, partB;
} PlainTrace;

typedef struct Plain {
  bool isJoined, carried, isSeen;
  uint32_t a, b, into;
  double lastTime;
  PlainTrace traces[2][4 * MOST_NUMBERS];
  uint32_t traceCount[2];
  bool has[2][2][MOST_NUMBERS]; /* when, side, triangle */
} Plain;

static Plain *plain;
static uint32_t plainCount;

/* What one region is to the plain tracks. */
typedef struct PlainRegion {
  const pnRegion *region;
  const pnSight *sight;
  const uint32_t *triangles;
  double reach;
} PlainRegion;

static PlainTrace traceOf(const PlainRegion *r) {
  bool swap = r->region->a > r->region->b;
  return (PlainTrace){r->region->box, r->region->atRest, r->region->inner != PN_NONE,
                      swap ? r->sight->partB : r->sight->partA, swap ? r->sight->partA : r->sight->partB};
}

static double gap(float aMin, float aMax, float bMin, float bMax) {
  double d = fmax((double)aMin - bMax, (double)bMin - aMax);
  return d > 0 ? d : 0;
}

static bool plainFollows(const PlainTrace *p, const PlainTrace *q, double reach) {
  if ((p->contained || q->contained) && p->partA == q->partA && p->partB == q->partB) return true;
  double x = gap(p->box.min.x, p->box.max.x, q->box.min.x, q->box.max.x),
         y = gap(p->box.min.y, p->box.max.y, q->box.min.y, q->box.max.y),
         z = gap(p->box.min.z, p->box.max.z, q->box.min.z, q->box.max.z);
  return p->atRest == q->atRest && x * x + y * y + z * z <= reach * reach;
}

static bool plainHas(const PlainRegion *r, const Plain *track, int when, int side, int of) {
  bool far = (side == 1) != (r->region->a > r->region->b);
  for (uint32_t i = 0; i < r->sight->triangleCount[far]; ++i)
    if (track->has[when][of][r->triangles[r->sight->triangleFirst[far] + i]]) return true;
  return false;
}

static bool plainGoesOn(const PlainRegion *r, const Plain *track) {
  PlainTrace trace = traceOf(r);
  for (int when = 0; when < 2; ++when) {
    for (uint32_t i = 0; i < track->traceCount[when]; ++i)
      if (plainFollows(&trace, &track->traces[when][i], r->reach)) return true;
    if (plainHas(r, track, when, 0, 0) && plainHas(r, track, when, 1, 1)) return true;
    if (track->a == track->b && plainHas(r, track, when, 0, 1) && plainHas(r, track, when, 1, 0)) return true;
  }
  return false;
}

static void plainJoin(uint32_t into, uint32_t from) {
  Plain *p = &plain[into], *q = &plain[from];
  for (int when = 0; when < 2; ++when) {
    for (uint32_t i = 0; i < q->traceCount[when]; ++i) {
      assert_true(p->traceCount[when] < 4 * MOST_NUMBERS);
      p->traces[when][p->traceCount[when]++] = q->traces[when][i];
    }
    for (int side = 0; side < 2; ++side)
      for (uint32_t i = 0; i < MOST_NUMBERS; ++i) p->has[when][side][i] |= q->has[when][side][i];
  }
  p->isSeen |= q->isSeen;
  p->lastTime = fmax(p->lastTime, q->lastTime);
  q->isJoined = true;
  q->into = into;
}

/* The number of the finding that a region belongs to. */
static uint32_t plainTrack(const PlainRegion *r, double time) {
  uint32_t a = PN_MIN(r->region->a, r->region->b), b = PN_MAX(r->region->a, r->region->b), found = PN_NONE;
  for (uint32_t i = 0; i < plainCount; ++i) {
    Plain *track = &plain[i];
    if (track->isJoined || track->a != a || track->b != b || track->carried != r->region->carried) continue;
    if (!plainGoesOn(r, track)) continue;
    if (found == PN_NONE) found = i;
    else plainJoin(found, i);
  }
  if (found == PN_NONE) {
    found = plainCount++;
    plain = realloc(plain, plainCount * sizeof *plain);
    assert_non_null(plain);
    memset(&plain[found], 0, sizeof *plain);
    plain[found].carried = r->region->carried;
    plain[found].a = a, plain[found].b = b, plain[found].into = found;
  }
  Plain *track = &plain[found];
  track->isSeen = true;
  track->lastTime = time;
  assert_true(track->traceCount[1] < 4 * MOST_NUMBERS);
  track->traces[1][track->traceCount[1]++] = traceOf(r);
  for (int side = 0; side < 2; ++side) {
    bool far = (side == 1) != (r->region->a > r->region->b);
    for (uint32_t i = 0; i < r->sight->triangleCount[far]; ++i)
      track->has[1][side][r->triangles[r->sight->triangleFirst[far] + i]] = true;
  }
  return found;
}

static void plainFrame(double time, double lastTime, double most) {
  for (uint32_t i = 0; i < plainCount; ++i) {
    Plain *track = &plain[i];
    bool last = track->lastTime == lastTime;
    if (track->isSeen) {
      track->traceCount[0] = track->traceCount[1];
      memcpy(track->traces[0], track->traces[1], sizeof track->traces[0]);
      memcpy(track->has[0], track->has[1], sizeof track->has[0]);
    }
    track->traceCount[1] = 0;
    memset(track->has[1], 0, sizeof track->has[1]);
    track->isSeen = false;
    // Over: nothing goes on it.
    if (!last && time - track->lastTime > most) {
      track->traceCount[0] = 0;
      memset(track->has[0], 0, sizeof track->has[0]);
    }
  }
}

static uint32_t plainNumber(uint32_t number) {
  while (plain[number].isJoined) number = plain[number].into;
  return number;
}

/* All regions of a frame, in order. */
static uint32_t compareFrame(const FindScene *s, const pnFinderDef *def) {
  const pnFinder *finder = s->finder;
  uint32_t count, joined = 0;
  const pnRegion *regions = pnFinder_GetRegions(finder, &count);
  double time = (double)(s->frame - 1) / 30;
  plainFrame(time, (double)(s->frame - 2) / 30, def->gap);
  uint32_t before = plainCount, *numbers = malloc((count + 1) * sizeof *numbers);
  for (uint32_t i = 0; i < count; ++i) {
    PlainRegion r = {&regions[i], &finder->sights.data[i], finder->sightTriangles.data, def->reach};
    numbers[i] = plainTrack(&r, time);
  }
  for (uint32_t i = 0; i < count; ++i) assert_int_equal(regions[i].finding, plainNumber(numbers[i]));
  for (uint32_t i = 0; i < before; ++i) joined += plain[i].isJoined;
  free(numbers);
  return joined;
}

/* ---------------------------------------------------------------- what is inside what */

/* Is the point inside the tetrahedron, by the signs of four determinants? They are far enough from 0 here. */
static bool isInTetra(const FindScene *s, uint32_t body, uint32_t thing, pnVec3 p) {
  pnVec3 c[4];
  for (uint32_t k = 0; k < 4; ++k) c[k] = pnPose_GetVertex(s->body[body].pose, 4 * thing + k);
  // Corner 0 is the right angle, and the edges are along the axes.
  double size = (double)c[1].x - c[0].x, x = (double)p.x - c[0].x, y = (double)p.y - c[0].y, z = (double)p.z - c[0].z;
  return x > 0 && y > 0 && z > 0 && x + y + z < size;
}

static bool partsMeet(const FindScene *s, uint32_t a, uint32_t i, uint32_t b, uint32_t j) {
  testExpectOk(pnCollideTrees(s->body[a].tree, s->body[b].tree, NULL, s->list, NULL));
  const pnPair *pairs = pnPairList_GetPairs(s->list);
  for (size_t k = 0; k < pnPairList_GetCount(s->list); ++k)
    if (pairs[k].a / 4 == i && pairs[k].b / 4 == j) return true;
  return false;
}

/* Regions of what is contained: one for each part that anything of another body is in. */
static uint32_t countContained(const FindScene *s) {
  uint32_t count = 0;
  for (uint32_t outer = 0; outer < s->count; ++outer)
    for (uint32_t inner = 0; inner < s->count; ++inner)
      for (uint32_t o = 0; o < pnMesh_GetTriangleCount(s->body[outer].mesh) / 4 && inner != outer; ++o) {
        bool any = false;
        for (uint32_t i = 0; i < pnMesh_GetTriangleCount(s->body[inner].mesh) / 4 && !any; ++i)
          any =
              isInTetra(s, outer, o, pnPose_GetVertex(s->body[inner].pose, 4 * i)) && !partsMeet(s, inner, i, outer, o);
        count += any;
      }
  return count;
}

static void compareContained(const FindScene *s) {
  uint32_t count, contained = 0;
  const pnRegion *regions = pnFinder_GetRegions(s->finder, &count);
  for (uint32_t i = 0; i < count; ++i) contained += regions[i].inner != PN_NONE;
  assert_int_equal(contained, countContained(s));
}

/* ---------------------------------------------------------------- repeats */

static uint32_t carrierOf(const FindScene *s, uint32_t body) {
  return s->finder->bodies.data[body].carrier;
}

static bool plainRepeats(const FindScene *s, const pnFinding *f, const pnFinding *g) {
  bool deeper = g->depth.value > f->depth.value || (g->depth.value == f->depth.value && g->number < f->number);
  if (!deeper || f->kind != g->kind || f->firstFrame > g->lastFrame || g->firstFrame > f->lastFrame) return false;
  for (int i = 0; i < 4; ++i) {
    uint32_t common = i & 1 ? f->b : f->a, other = i & 1 ? f->a : f->b;
    uint32_t commonG = i & 2 ? g->b : g->a, otherG = i & 2 ? g->a : g->b;
    pnVec3 p = i & 1 ? f->placeB : f->placeA, q = i & 2 ? g->placeB : g->placeA;
    bool same = fabsf(p.x - q.x) <= 0.15f && fabsf(p.y - q.y) <= 0.15f && fabsf(p.z - q.z) <= 0.15f;
    if (common != commonG || other == otherG || common == other || common == otherG) continue;
    if (carrierOf(s, other) != PN_NONE && carrierOf(s, other) == carrierOf(s, otherG) && same) return true;
  }
  return false;
}

static int byName(const void *p, const void *q) {
  const pnFinding *a = p, *b = q;
  int order = strncmp(a->name, b->name, 8);
  if (order != 0) return order;
  if (a->firstFrame != b->firstFrame) return a->firstFrame < b->firstFrame ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* Every finding with every other, in the order of their names: the first that it repeats, and then each that this one repeats. */
static uint32_t compareRepeats(const FindScene *s) {
  uint32_t count, repeats = 0;
  testExpectOk(pnFinder_Rank(s->finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *findings = pnFinder_GetFindings(s->finder, &count);
  if (count == 0) return 0;
  pnFinding *f = malloc(count * sizeof *f);
  assert_non_null(f);
  memcpy(f, findings, count * sizeof *f);
  qsort(f, count, sizeof *f, byName);
  for (uint32_t i = 0; i < count; ++i) {
    const pnFinding *best = NULL;
    for (uint32_t j = 0; j < count; ++j)
      if (plainRepeats(s, &f[i], &f[j]) && (!best || plainRepeats(s, best, &f[j]))) best = &f[j];
    assert_int_equal(f[i].repeats, best ? best->number : PN_NONE);
    repeats += best != NULL;
  }
  free(f);
  return repeats;
}

/* ---------------------------------------------------------------- what is known */

enum { MOST_KNOWN = 600 };

static double apartBy(pnVec3 p, pnVec3 q) {
  return fmax(fabs((double)p.x - q.x), fmax(fabs((double)p.y - q.y), fabs((double)p.z - q.z)));
}

/* How well a finding and a known one fit, by time or by place. Infinite: not at all. */
static double plainDistance(const FindScene *s, const pnFinding *f, const pnKnownFinding *k, bool byTime) {
  const char *a = s->finder->bodies.data[f->a].name, *b = s->finder->bodies.data[f->b].name;
  bool same = strcmp(a, k->a) == 0 && strcmp(b, k->b) == 0, turned = strcmp(a, k->b) == 0 && strcmp(b, k->a) == 0;
  if (byTime) {
    if (!(same || turned) || strncmp(f->name, k->name, 8) != 0) return INFINITY;
    if (k->hasBegin) return fabs(f->firstTime - k->begin);
    return strcmp(f->name, k->name) == 0 ? 0 : INFINITY;
  }
  double straight = same ? fmax(apartBy(f->placeA, k->placeA), apartBy(f->placeB, k->placeB)) : INFINITY;
  double crossed = turned ? fmax(apartBy(f->placeA, k->placeB), apartBy(f->placeB, k->placeA)) : INFINITY;
  return k->hasPlace ? fmin(straight, crossed) : INFINITY;
}

static void plainMatch(const FindScene *s, const pnFinding *f, uint32_t count, const pnKnownFinding *known,
                       uint32_t knownCount, uint32_t *matches) {
  bool taken[MOST_KNOWN] = {false};
  for (int byTime = 1; byTime >= 0; --byTime)
    for (;;) {
      double best = INFINITY;
      uint32_t finding = 0, match = PN_NONE;
      for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < knownCount && matches[i] == PN_NONE; ++k) {
          double d = taken[k] ? INFINITY : plainDistance(s, &f[i], &known[k], byTime);
          if (d < best) best = d, finding = i, match = k;
        }
      if (match == PN_NONE || (!byTime && best > pnDefaultCompareDef().place)) break;
      matches[finding] = match;
      taken[match] = true;
    }
}

static void plainNames(pnFinding *f, uint32_t count, const pnKnownFinding *known, uint32_t knownCount,
                       const uint32_t *matches) {
  for (uint32_t i = 0; i < count; ++i)
    if (matches[i] != PN_NONE) snprintf(f[i].name, PN_FINDING_NAME, "%s", known[matches[i]].name);
  for (uint32_t i = 0; i < count; ++i) {
    for (unsigned number = 2; matches[i] == PN_NONE; ++number) {
      bool isTaken = false;
      for (uint32_t k = 0; k < knownCount; ++k) isTaken |= strcmp(known[k].name, f[i].name) == 0;
      for (uint32_t j = 0; j < count; ++j) isTaken |= j != i && strcmp(f[j].name, f[i].name) == 0;
      if (!isTaken) break;
      snprintf(f[i].name + 8, PN_FINDING_NAME - 8, "-%u", number);
    }
  }
}

/* The findings of a scene, some of them somewhat changed, some left out, are what is known. */
static uint32_t compareKnown(const FindScene *s) {
  static char names[MOST_KNOWN][PN_FINDING_NAME];
  static pnKnownFinding known[MOST_KNOWN];
  uint32_t count, knownCount = 0, matched = 0;
  const pnFinding *findings = pnFinder_GetFindings(s->finder, &count);
  if (count == 0 || count > MOST_KNOWN) return 0;
  for (uint32_t i = 0; i < count; ++i) {
    const pnFinding *f = &findings[(i * 7 + 3) % count];
    if (chance() < 0.2f) continue;
    pnKnownFinding k = {
        .name = names[knownCount], .time = -1, .hasBegin = chance() < 0.7f, .hasPlace = chance() < 0.8f};
    bool turn = chance() < 0.3f;
    snprintf(names[knownCount], PN_FINDING_NAME, "%s", f->name);
    if (chance() < 0.3f) snprintf(names[knownCount], PN_FINDING_NAME, "%.8s-%u", f->name, (unsigned)(chance() * 6));
    if (chance() < 0.1f) memcpy(names[knownCount], "01234567", 8);
    k.a = s->finder->bodies.data[turn ? f->b : f->a].name, k.b = s->finder->bodies.data[turn ? f->a : f->b].name;
    k.begin = f->firstTime + (chance() < 0.5f ? 0 : 0.2 * (double)chance());
    k.placeA = turn ? f->placeB : f->placeA, k.placeB = turn ? f->placeA : f->placeB;
    k.placeA.x += 0.3f * chance();
    k.placeB.y -= 0.3f * chance();
    known[knownCount++] = k;
  }
  pnFinding *copies = malloc(count * sizeof *copies);
  uint32_t *matches = malloc(2 * count * sizeof *matches);
  pnStanding *standings = malloc(count * sizeof *standings);
  assert_true(copies && matches && standings);
  memcpy(copies, findings, count * sizeof *copies);
  for (uint32_t i = 0; i < count; ++i) matches[i] = PN_NONE;
  plainMatch(s, copies, count, known, knownCount, matches);
  plainNames(copies, count, known, knownCount, matches);
  testExpectOk(pnFinder_Compare(s->finder, known, knownCount, NULL, standings, matches + count));
  for (uint32_t i = 0; i < count; ++i) {
    assert_int_equal(matches[count + i], matches[i]);
    assert_string_equal(findings[i].name, copies[i].name);
    matched += matches[i] != PN_NONE;
  }
  free(copies);
  free(matches);
  free(standings);
  return matched;
}

/* ---------------------------------------------------------------- clouds */

typedef struct Tally {
  uint32_t joined, contained, repeats, known, findings;
} Tally;

static void runCloud(uint32_t number, Tally *tally) {
  static const float reaches[4] = {1e-3f, 0.02f, 0.1f, 2};
  seed = 77 * number + 5;
  pnMesh *meshes[BODIES];
  for (uint32_t i = 0; i < BODIES; ++i) meshes[i] = makeCloud(6 + (uint32_t)(chance() * (MOST_THINGS - 6)));
  pnFinderDef def = pnDefaultFinderDef();
  def.reach = (double)reaches[number % 4];
  def.gap = number % 3 == 0 ? 0 : 0.07;
  FindScene s = findMake(&def, meshes, BODIES);
  for (uint32_t i = 0; i < BODIES; ++i)
    testExpectOk(pnFinder_SetCarriers(s.finder, i, NULL, number % 2 == 0 || i < 1 ? PN_NONE : 1));
  float way[BODIES][3];
  for (uint32_t i = 0; i < BODIES * 3; ++i) way[i / 3][i % 3] = chance() - 0.5f;
  bool self = number % 5 == 0;
  if (number % 3 == 1) findLook(&s, true, self, false);
  for (int f = 0; f < FRAMES; ++f) {
    for (uint32_t i = 0; i < BODIES; ++i) {
      // What one thing carries moves as one.
      const float *w = way[number % 2 == 1 && i > 1 ? 1 : i];
      float at = 0.05f * (float)f + (f > 6 ? 0.4f : 0);
      findMove(&s, i, at * w[0], at * w[1], at * w[2]);
    }
    findLook(&s, false, self, false);
    tally->joined += compareFrame(&s, &def);
    if (f % 4 == 0) compareContained(&s);
    uint32_t count;
    const pnRegion *regions = pnFinder_GetRegions(s.finder, &count);
    for (uint32_t i = 0; i < count; ++i) tally->contained += regions[i].inner != PN_NONE;
  }
  tally->repeats += compareRepeats(&s);
  tally->known += compareKnown(&s);
  uint32_t count;
  pnFinder_GetFindings(s.finder, &count);
  tally->findings += count;
  findFree(&s);
  free(plain);
  plain = NULL;
  plainCount = 0;
}

static void everythingWithEverything(void **state) {
  (void)state;
  Tally tally = {0};
  for (uint32_t i = 0; i < 32; ++i) runCloud(i, &tally);
  // Of everything there was something.
  assert_true(tally.joined > 100 && tally.contained > 100 && tally.repeats > 50 && tally.known > 200 &&
              tally.findings > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everythingWithEverything)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
