/* test_geom_impact.c: the first contact of moving points against rational numbers of any length. */
#include "support.h"

#include "geom/impact.h"
#include "geom/root.h"
#include "moving.h"
#include "oracle_impact.h"
#include "oracle_motions.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- asking */

typedef struct Tally {
  int asked, met;
} Tally;

static pnImpactSpan impact(bool edges, const pnMovingDouble *p) {
  return edges ? pnImpactEdgeEdgeDouble(p) : pnImpactVertexFaceDouble(p);
}

static void check(bool edges, const pnMovingDouble *p, Tally *tally) {
  pnImpactSpan span = impact(edges, p), exact = pn_impactExact(edges ? PN_EDGE_EDGE : PN_VERTEX_FACE, p);
  bool same = span.meets == exact.meets && span.lo == exact.lo && span.hi == exact.hi;
  if (!oracleSpan(edges, p, exact) || !(same || oracleSpan(edges, p, span))) {
    printf("%s: meets %d [%.17g, %.17g], exact stage %d [%.17g, %.17g], truth %d\n", edges ? "EE" : "VF", span.meets,
           span.lo, span.hi, exact.meets, exact.lo, exact.hi, oracleImpact(edges, p, 0.0, 1.0));
    printMoving(p);
    fail_msg("wrong");
  }
  ++tally->asked;
  tally->met += span.meets;
}

/* ---------------------------------------------------------------- by hand */

/* A vertex falls through a face: the time is known. */
static void testFall(void **state) {
  (void)state;
  pnMoving p = {.from = {{1, 1, 3}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}},
                .to = {{1, 1, -1}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
  pnImpactSpan span = pnImpactVertexFace(&p);
  assert_true(span.meets && span.lo <= 0.75 && span.hi >= 0.75 && span.hi - span.lo < 1e-6);
  p.to[0][2] = 0.25f; /* not far enough */
  span = pnImpactVertexFace(&p);
  assert_true(!span.meets && span.lo == 0 && span.hi == 0);
  p.to[0][2] = 0; /* just far enough */
  span = pnImpactVertexFace(&p);
  assert_true(span.meets && span.hi == 1 && span.lo > 1 - 1e-6);
  p.to[0][0] = p.from[0][0] = 3.0000002f; /* beside it by a hair: an edge runs through (3, 1) */
  p.to[0][2] = -3;
  assert_false(pnImpactVertexFace(&p).meets);
  p.to[0][0] = p.from[0][0] = 3;
  assert_true(pnImpactVertexFace(&p).meets);
}

/* Two edges that cross in passing, touch and part, or lie still. */
static void testEdges(void **state) {
  (void)state;
  pnMoving p = {.from = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 1}, {0, 1, 1}},
                .to = {{-1, 0, 0}, {1, 0, 0}, {0, -1, -3}, {0, 1, -3}}};
  pnImpactSpan span = pnImpactEdgeEdge(&p);
  assert_true(span.meets && span.lo <= 0.25 && span.hi >= 0.25 && span.hi - span.lo < 1e-6);
  memcpy(p.to, p.from, sizeof p.to);
  assert_false(pnImpactEdgeEdge(&p).meets);
  p.from[2][2] = p.to[2][2] = p.from[3][2] = p.to[3][2] = 0;
  span = pnImpactEdgeEdge(&p);
  assert_true(span.meets && span.lo == 0 && span.hi == 0);
}

/* ---------------------------------------------------------------- random ones */

static void testDegenerate(void **state) {
  (void)state;
  Random r = {77};
  Tally tally[6] = {{0}};
  for (int n = 0; n < 4000; ++n) {
    int sort = n % 6;
    pnMovingDouble p = n % 7 ? randomMotion(&r, sort) : motionOnTheEdge(&r);
    for (int k = n % 7 ? randomBelow(&r, 4) : 0; k > 0; --k) spoilMotion(&p, &r);
    check(n & 1, &p, &tally[sort]);
  }
  for (int k = 0; k < 6; ++k)
    assert_true(tally[k].met > tally[k].asked / 20 && tally[k].met < tally[k].asked * 19 / 20);
}

/* Every float, subnormals and the largest too; doubles as wide apart as is promised. */
static void testWide(void **state) {
  (void)state;
  TestRandom t = testRandom(9);
  Random r = {78};
  Tally tally = {0};
  for (int n = 0; n < 300; ++n) {
    pnMovingDouble p;
    for (int i = 0; i < 24; ++i) {
      double wide = ldexp(randomBetween(&r, -2, 2), -randomBelow(&r, 588));
      (i < 12 ? p.from : p.to)[i / 3 % 4][i % 3] = n % 2 ? (double)testAnyFloat(&t) : i % 5 ? wide : 1.5;
    }
    for (int k = randomBelow(&r, 3); k > 0; --k) spoilMotion(&p, &r);
    check(n & 2, &p, &tally);
  }
  assert_true(tally.met > 0 && tally.met < tally.asked);
}

/* The longest numbers there are: two roots of a cubic as close as roots can be. t^3 - 2 (a t - 1)^2 has two of them about
 * sqrt(2) a^(-5/2) apart beside 1 / a. The slate holds what it takes, with room to spare. */
static void testSlate(void **state) {
  (void)state;
  static uint64_t room[PN_SLATE_LIMBS];
  pn_Slate slate;
  for (uint32_t k = 30; k < 964; k += 233) {
    pn_cleanSlate(&slate, room);
    pn_Poly f = {.c = {pn_makeWhole(&slate, -2, 0), pn_makeWhole(&slate, 4, k), pn_makeWhole(&slate, -2, 2 * k),
                       pn_makeWhole(&slate, 1, 0)}};
    pn_trimPoly(&f, 4);
    pn_Root roots[3];
    assert_int_equal(pn_findRoots(&slate, &f, roots), 2);
    /* a t - 1: before its root at the first, behind it at the second; and its square, as a true quadratic */
    pn_Poly line = {.c = {pn_makeWhole(&slate, -1, 0), pn_makeWhole(&slate, 1, k)}};
    pn_Poly square = {.c = {pn_makeWhole(&slate, 1, 0), pn_makeWhole(&slate, -2, k), pn_makeWhole(&slate, 1, 2 * k)}};
    pn_trimPoly(&line, 2), pn_trimPoly(&square, 3);
    for (int i = 0; i < 2; ++i) {
      assert_int_equal(pn_signAtRoot(&slate, &f, &roots[i], &line), i ? 1 : -1);
      assert_int_equal(pn_signAtRoot(&slate, &f, &roots[i], &square), 1);
    }
    assert_true(slate.most < PN_SLATE_LIMBS);
  }
  /* coordinates of 640 bits, all of them set as far as a double can */
  Random r = {79};
  uint32_t most = slate.most;
  for (int n = 0; n < 400; ++n) {
    pnMovingDouble p;
    for (int i = 0; i < 24; ++i) {
      double x = (randomBelow(&r, 2) ? 1 : -1) * 0x1.fffffffffffffp0;
      (i < 12 ? p.from : p.to)[i / 3 % 4][i % 3] = ldexp(x, randomBelow(&r, 2) ? 0 : -587 + randomBelow(&r, 9));
    }
    uint32_t limbs;
    pn_impactExactOn(n & 1 ? PN_EDGE_EDGE : PN_VERTEX_FACE, &p, room, &limbs);
    most = PN_MAX(most, limbs);
  }
  printf("limbs of the slate used: %u of %u\n", most, PN_SLATE_LIMBS);
  assert_true(most < PN_SLATE_LIMBS);
}

/* One number over answers and spans: the same on every machine, with every compiler and instruction set. */
static void testSameBits(void **state) {
  (void)state;
  Random r = {99};
  uint64_t hash = 14695981039346656037ull;
  for (int n = 0; n < 20000; ++n) {
    pnMovingDouble p = n % 3 ? randomMotion(&r, n % MOTION_SORTS) : motionOnTheEdge(&r);
    if (n % 5 == 0) spoilMotion(&p, &r);
    pnImpactSpan span = impact(n & 1, &p);
    uint64_t words[3] = {span.meets};
    memcpy(words + 1, &span.lo, sizeof span.lo);
    memcpy(words + 2, &span.hi, sizeof span.hi);
    for (int i = 0; i < 3; ++i) hash = (hash ^ words[i]) * 1099511628211ull;
  }
  assert_int_equal(hash, 0x17b48bf0f5de5b68);
}

/* ---------------------------------------------------------------- a distance that is kept */

/* The distance of the features at a time, or a little more: points of a grid on both. */
static double distanceAt(bool edges, const pnMovingDouble *p, double t) {
  double x[4][3], best = INFINITY;
  enum { CELLS = 48 };
  for (int k = 0; k < 12; ++k) x[k / 3][k % 3] = (1 - t) * p->from[k / 3][k % 3] + t * p->to[k / 3][k % 3];
  for (int i = 0; i <= CELLS; ++i) {
    for (int j = 0; j <= (edges ? CELLS : CELLS - i); ++j) {
      double s = (double)i / CELLS, u = (double)j / CELLS, sum = 0;
      for (int k = 0; k < 3; ++k) {
        double a = edges ? x[0][k] + s * (x[1][k] - x[0][k]) : x[0][k];
        double b =
            edges ? x[2][k] + u * (x[3][k] - x[2][k]) : x[1][k] + s * (x[2][k] - x[1][k]) + u * (x[3][k] - x[1][k]);
        sum += (a - b) * (a - b);
      }
      best = fmin(best, sum);
    }
  }
  return sqrt(best);
}

/* Never closer up to the safe time; and where it ends before the step, they are about that close then. */
static void testSafeTime(void **state) {
  (void)state;
  Random r = {80};
  int ended = 0, whole = 0, loose = 0;
  for (int n = 0; n < 1500; ++n) {
    pnMovingDouble p = randomMotion(&r, n % 3 ? 3 : 1);
    double separation = n % 2 ? 0.05 : 0.3;
    MOTION_PLACES(p, x, places);
    double safe = pn_safeTime(n & 1 ? PN_EDGE_EDGE : PN_VERTEX_FACE, places, separation);
    assert_true(safe >= 0 && safe <= 1);
    for (int k = 0; k <= 10 && safe > 0; ++k) assert_true(distanceAt(n & 1, &p, safe * k / 10) > separation);
    double there = distanceAt(n & 1, &p, safe);
    whole += safe == 1;
    ended += safe < 1;
    loose += safe < 1 && there > separation + 0.06; /* the grid is as fine as that */
    /* with the exact answer: it is never after the first contact */
    pnImpactSpan span = impact(n & 1, &p);
    if (span.meets) assert_true(safe <= span.hi);
  }
  assert_true(whole > 200 && ended > 200 && loose < ended / 50);
}

/* ---------------------------------------------------------------- public queries with their truth */

/* One line: three fractions and the truth. */
static bool readRow(FILE *file, double x[3], int *truth) {
  char word[7][200];
  mpq_t q;
  if (fscanf(file, " %199[^,],%199[^,],%199[^,],%199[^,],%199[^,],%199[^,],%199[^\n]", word[0], word[1], word[2],
             word[3], word[4], word[5], word[6]) != 7)
    return false;
  mpq_init(q);
  for (int k = 0; k < 3; ++k) {
    mpz_set_str(mpq_numref(q), word[2 * k], 10);
    mpz_set_str(mpq_denref(q), word[2 * k + 1], 10);
    mpq_canonicalize(q);
    x[k] = mpq_get_d(q);
    mpq_t back;
    mpq_init(back);
    mpq_set_d(back, x[k]);
    assert_true(mpq_equal(back, q)); /* the fractions are doubles */
    mpq_clear(back);
  }
  mpq_clear(q);
  *truth = word[6][0] == '1';
  return true;
}

static void testSamples(void **state) {
  (void)state;
  const char *scenes[] = {"erleben-cube-cliff-edges", "erleben-cube-internal-edges", "erleben-sliding-spike",
                          "erleben-sliding-wedge", "erleben-spike-crack"};
  int asked = 0;
  for (int i = 0; i < 20; ++i) {
    bool edges = i & 1;
    char name[200];
    snprintf(name, sizeof name, "ccd-sample-queries/%s/%s/data_0_%d.csv", scenes[i / 4],
             edges ? "edge-edge" : "vertex-face", i / 2 % 2);
    const char *path = testDataPath(name);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) continue;
    pnMovingDouble p;
    int row = 0, truth = 0;
    while (readRow(file, row < 4 ? p.from[row] : p.to[row - 4], &truth)) {
      if (++row < 8) continue;
      row = 0;
      assert_int_equal(impact(edges, &p).meets, truth);
      ++asked;
    }
    fclose(file);
  }
  printf("%d sample queries\n", asked);
}

/* Every pair of features that others have proved to meet, met; and the lists are as long as they should be. That nothing else
 * meets is asked by bench_impact, of all candidates. */
static void testScenes(void **state) {
  (void)state;
  const char *names[2] = {"cloth-ball", "rod-twist"}, *paths[2] = {"scalable-ccd-data/cloth-ball/boxes/92ee.json",
                                                                   "scalable-ccd-data/rod-twist/boxes/3036ee.json"};
  const size_t counts[2][2] = {{19032, 94822}, {765, 4179}};
  for (int n = 0; n < 2; ++n) {
    const char *path = testDataPath(paths[n]);
    char folder[1024];
    if (!path) continue;
    snprintf(folder, sizeof folder, "%.*s", (int)(strstr(path, "/scalable-ccd-data") - path), path);
    pnMovingScene s;
    assert_true(pnReadMovingScene(folder, names[n], &s));
    for (int edges = 0; edges < 2; ++edges) {
      assert_int_equal(s.truthCount[edges], counts[n][edges]);
      for (size_t i = 0; i < s.truthCount[edges]; ++i) {
        const uint32_t *pair = s.truth[edges][i], *face = s.triangles[edges ? 0 : pair[1]];
        const uint32_t ee[4] = {s.edges[pair[0] % s.edgeCount][0], s.edges[pair[0] % s.edgeCount][1],
                                s.edges[pair[1] % s.edgeCount][0], s.edges[pair[1] % s.edgeCount][1]};
        const uint32_t vf[4] = {pair[0], face[0], face[1], face[2]}, *v = edges ? ee : vf;
        pnMovingDouble p;
        for (int k = 0; k < 12; ++k)
          p.from[k / 3][k % 3] = s.from[v[k / 3]][k % 3], p.to[k / 3][k % 3] = s.to[v[k / 3]][k % 3];
        pnImpactSpan span = impact(edges, &p);
        assert_true(span.meets && span.hi - span.lo < 1e-6);
      }
    }
    pnFreeMovingScene(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testFall),     cmocka_unit_test(testEdges),   cmocka_unit_test(testDegenerate),
      cmocka_unit_test(testWide),     cmocka_unit_test(testSlate),   cmocka_unit_test(testSameBits),
      cmocka_unit_test(testSafeTime), cmocka_unit_test(testSamples), cmocka_unit_test(testScenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
