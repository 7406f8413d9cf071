/* test_collide_fan.c: the proof around a vertex (collide/fan.h) against whole-number arithmetic. Fans of every shape a mesh can
 * have or come into: smooth, creased, folded over, wound twice, spiral, flat, squashed to nothing; closed and open; with
 * seams that stay and that open; and what is not a fan at all. */
#include "agree.h"

#include "collide/fan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 24u

static TestRandom dice;

static uint32_t below(uint32_t n) {
  return testBelow(&dice, n);
}
static double uniform(void) {
  return (double)testFloat(&dice, 0, 1);
}

/* A mesh of k triangles around vertex 0, whose vertices around are 1 ... k (k + 1 when open). */
typedef struct Wheel {
  uint32_t around, triangles, vertices;
  bool closed;
  uint32_t index[3 * MOST];
  float position[3 * (MOST + 2)];
} Wheel;

static Wheel wheel(uint32_t triangles, bool closed) {
  Wheel w = {.around = triangles + !closed, .triangles = triangles, .closed = closed};
  w.vertices = w.around + 1;
  for (uint32_t i = 0; i < triangles; ++i) {
    w.index[3 * i] = 0;
    w.index[3 * i + 1] = 1 + i;
    w.index[3 * i + 2] = 1 + (i + 1) % w.around;
  }
  return w;
}

/* Points around at angle turns * i / triangles, height by `height`, all shaken by `shake` and rounded to a grid when `step`
 * is not 0. */
static void place(Wheel *w, double turns, double rise, double wave, double shake, double step) {
  for (uint32_t i = 0; i <= w->around; ++i) {
    double angle = 6.283185307179586 * turns * (i - 1) / w->triangles, r = i == 0 ? 0 : 1 + 0.5 * uniform();
    double p[3] = {r * cos(angle), r * sin(angle), i == 0 ? 0 : rise * (i - 1) / w->around + wave * (i % 2 ? 1 : -1)};
    for (int k = 0; k < 3; ++k) {
      p[k] += shake * (2 * uniform() - 1);
      w->position[3 * i + k] = (float)(step > 0 ? step * round(p[k] / step) : p[k]);
    }
  }
}

/* A rotation and a size, so that no axis is special. */
static void turnAbout(Wheel *w, double size) {
  pnMatrix m = testRotation(&dice, 0);
  for (uint32_t i = 0; i < w->vertices; ++i) {
    float *p = w->position + 3 * i, out[3];
    for (int k = 0; k < 3; ++k)
      out[k] = (float)(size * (double)(m.m[k][0] * p[0] + m.m[k][1] * p[1] + m.m[k][2] * p[2]));
    memcpy(p, out, sizeof out);
  }
}

/* What one fan came to. */
typedef struct Outcome {
  uint32_t pairs;
  bool tested; /* not proved: pairs were tested */
  uint32_t tests;
} Outcome;

static Outcome checkMesh(const float *position, uint32_t vertices, const uint32_t *index, uint32_t triangles, bool weld,
                         const float *moved) {
  AgreeBody body = {0};
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = position;
  def.vertexCount = vertices;
  def.triangles = index;
  def.triangleCount = triangles;
  def.weld = weld;
  testExpectOk(pnCreateMesh(&def, &body.mesh));
  body.positions = (float *)(moved ? moved : position);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = body.mesh;
  pnPose *pose;
  pnTree *tree;
  pnPairList *list;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  testExpectOk(pnPose_SetVertices(pose, body.positions, vertices));
  pnTreeDef treeDef = pnDefaultTreeDef();
  pnTreeLab treeLab = {0};
  treeDef.lab = &treeLab;
  treeDef.pose = pose;
  treeLab.leafSize = 1 + below(8); /* fans within leaves and across them */
  testExpectOk(pnCreateTree(&treeDef, &tree));
  testExpectOk(pnCreatePairList(&list));
  AgreePairs truth = agreeTruth(&body, NULL);
  pnCost cost;
  testExpectOk(pnCollideSelf(tree, NULL, list, &cost));
  if (!agreeEqual(&truth, list)) {
    for (uint32_t i = 0; i < vertices; ++i)
      print_error("%u: %a %a %a\n", i, body.positions[3 * i], body.positions[3 * i + 1], body.positions[3 * i + 2]);
    fail_msg("%zu pairs, truth %zu", pnPairList_GetCount(list), truth.count);
  }
  Outcome out = {(uint32_t)truth.count, cost.exactTests > 0, (uint32_t)cost.exactTests};
  free(truth.pairs);
  pnDestroyPairList(list);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(body.mesh);
  return out;
}

static Outcome check(const Wheel *w) {
  return checkMesh(w->position, w->vertices, w->index, w->triangles, false, NULL);
}

/* ---------------------------------------------------------------- shapes */

static void smoothFansAreProved(void **state) {
  (void)state;
  uint32_t tested = 0, all = 0;
  for (uint32_t i = 0; i < testRounds(2000); ++i) {
    bool closed = i % 2 == 0;
    Wheel w = wheel(3 + below(8), closed);
    place(&w, closed ? 1 : 0.5, 0, 0.1, 0.1, 0);
    turnAbout(&w, pow(10, 8 * uniform() - 4));
    Outcome out = check(&w);
    tested += out.tested;
    ++all;
  }
  assert_true(tested < all / 10);
}

static void fansOfAllKindsAgree(void **state) {
  (void)state;
  static const double turns[] = {0.2, 0.5, 0.9, 1, 1.1, 1.5, 2, 2.4, 3}, shakes[] = {0, 1e-7, 1e-3, 0.3, 2},
                      steps[] = {0, 0, 0.25, 0.5};
  uint32_t meeting = 0, proved = 0;
  for (uint32_t i = 0; i < testRounds(20000); ++i) {
    Wheel w = wheel(2 + below(MOST - 4), below(2));
    if (w.closed && w.triangles < 3) continue;
    place(&w, turns[below(9)] * (below(2) ? 1 : -1), below(3), below(2) * uniform(), shakes[below(5)], steps[below(4)]);
    if (below(2)) turnAbout(&w, 1);
    Outcome out = check(&w);
    meeting += out.pairs > 0;
    proved += !out.tested;
    assert_true(out.tested || out.pairs == 0);
  }
  /* the test has teeth: both happen often */
  assert_true(meeting > testRounds(2000) && proved > testRounds(500));
}

/* A circle that goes around twice and meets itself only at its middle line: each step is seen from the same side. */
static void windingTwiceIsNotOnce(void **state) {
  (void)state;
  for (uint32_t k = 7; k < MOST; ++k) {
    for (int open = 0; open < 2; ++open) {
      Wheel w = wheel(k, !open);
      place(&w, 2, 0, 0, 0, 0);
      assert_true(check(&w).pairs > 0);
      /* the spiral does not meet itself beyond the middle where it rises all the way; still no proof must claim a turn */
      place(&w, 1.4, 0, 0, 0, 0);
      assert_true(check(&w).pairs > 0);
    }
  }
}

/* In one plane, with one vertex around moved onto the ray of another, give or take the last bit: whether the triangle
 * between them is turned over is for exact arithmetic to say. */
static void hairsAreNotJudgedByRounding(void **state) {
  (void)state;
  uint32_t meeting = 0;
  for (uint32_t i = 0; i < testRounds(20000); ++i) {
    Wheel w = wheel(4 + below(4), true);
    place(&w, 1, 0, 0, 0.1, 0);
    float *p = w.position + 3, *q = w.position + 6, size = testFloat(&dice, 0.5f, 2);
    for (uint32_t v = 0; v < w.vertices; ++v) {
      w.position[3 * v] += 100 * (float)(i % 2); /* far from the origin, too */
      w.position[3 * v + 2] = 0;
    }
    for (int k = 0; k < 2; ++k)
      q[k] = nextafterf(w.position[k] + size * (p[k] - w.position[k]), below(2) ? -1000.0f : 1000.0f);
    meeting += check(&w).pairs > 0;
  }
  assert_true(meeting > testRounds(2000) && meeting < testRounds(18000));
}

/* ---------------------------------------------------------------- seams, and no fans */

static void seamsAreOneVertexWhileTheyAreOnePoint(void **state) {
  (void)state;
  uint32_t opened = 0;
  for (uint32_t i = 0; i < testRounds(3000); ++i) {
    /* every triangle with vertices of its own: welding makes the fan */
    Wheel w = wheel(3 + below(8), below(2));
    place(&w, w.closed ? 1 : 0.6, 0, 0.1, 0.1, 0);
    float position[9 * MOST], moved[9 * MOST];
    uint32_t index[3 * MOST];
    for (uint32_t c = 0; c < 3 * w.triangles; ++c) {
      index[c] = c;
      memcpy(position + 3 * c, w.position + 3 * w.index[c], 3 * sizeof(float));
    }
    memcpy(moved, position, sizeof moved);
    assert_true(checkMesh(position, 3 * w.triangles, index, w.triangles, true, moved).pairs == 0);
    /* one corner of one triangle comes away a little, or turns through its neighbours */
    uint32_t c = below(3 * w.triangles);
    for (int k = 0; k < 3; ++k) moved[3 * c + k] += (float)((below(2) ? 1e-6 : 1.0) * (2 * uniform() - 1));
    opened += checkMesh(position, 3 * w.triangles, index, w.triangles, true, moved).pairs > 0;
  }
  assert_true(opened > testRounds(100));
}

static void whatIsNotAFanIsTested(void **state) {
  (void)state;
  /* two fans with one vertex in common, three triangles at one edge, a triangle twice, one that is a segment */
  static const uint32_t bow[] = {0, 1, 2, 0, 2, 3, 0, 4, 5, 0, 5, 6}, three[] = {0, 1, 2, 0, 1, 3, 0, 1, 4},
                        twice[] = {0, 1, 2, 0, 1, 2, 0, 2, 3}, flat[] = {0, 1, 2, 0, 2, 2, 0, 2, 3},
                        eight[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 0, 1, 4, 0, 4, 5, 0, 5, 1};
  static const struct {
    const uint32_t *index;
    uint32_t count;
  } meshes[] = {{bow, 4}, {three, 3}, {twice, 3}, {flat, 3}, {eight, 6}};
  uint32_t meeting = 0;
  for (uint32_t i = 0; i < testRounds(5000); ++i) {
    float position[21];
    double grid = below(2) ? 0.25 : 0;
    for (int k = 0; k < 21; ++k) {
      double x = 2 * uniform() - 1;
      position[k] = (float)(grid > 0 ? grid * round(x / grid) : x);
    }
    uint32_t kind = i % 5;
    meeting += checkMesh(position, 7, meshes[kind].index, meshes[kind].count, false, NULL).pairs > 0;
  }
  assert_true(meeting > testRounds(1000));
}

/* ---------------------------------------------------------------- copies */

/* A mesh of some triangles, some of which are there more than once, in any order and seen from either side; or with corners of their own. */
typedef struct Copies {
  uint32_t triangles, pairs; /* of copies */
  uint32_t index[12 * MOST];
  float position[36 * MOST];
} Copies;

static Copies doubleSome(const Wheel *w, bool all, bool ownCorners) {
  Copies t = {0};
  uint32_t order[4 * MOST];
  for (uint32_t i = 0; i < w->triangles; ++i) {
    uint32_t copies = all ? 2 : 1 + (below(3) == 0) * (1 + below(3));
    for (uint32_t k = 0; k < copies; ++k) order[t.triangles++] = i;
    t.pairs += copies * (copies - 1) / 2;
  }
  for (uint32_t i = 0; i < t.triangles; ++i) {
    uint32_t j = i + below(t.triangles - i), from = order[j], turn = below(3), back = below(2);
    order[j] = order[i];
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t vertex = w->index[3 * from + (back ? turn + 3 - k : turn + k) % 3], at = 3 * i + k;
      t.index[at] = ownCorners ? at : vertex;
      memcpy(t.position + 3 * (ownCorners ? at : vertex), w->position + 3 * vertex, 3 * sizeof(float));
    }
  }
  return t;
}

/* What is proved of one triangle is proved of its copies, and of them only the pairs among themselves are left. */
static void copiesAreOneSector(void **state) {
  (void)state;
  uint32_t proved = 0, smooth = 0;
  static const double turns[] = {0.5, 1, 1, 1.1, 2}, shakes[] = {0, 1e-3, 0.1, 0.3}, steps[] = {0, 0, 0.25};
  for (uint32_t i = 0; i < testRounds(10000); ++i) {
    bool isSmooth = i % 3 == 0, all = i % 2;
    Wheel w = wheel(1 + below(MOST - 4), below(2));
    if (w.closed && w.triangles < 3) continue;
    if (isSmooth) place(&w, w.closed ? 1 : 0.5, 0, 0.1, 0.1, 0);
    else
      place(&w, turns[below(5)] * (below(2) ? 1 : -1), below(3), below(2) * uniform(), shakes[below(4)],
            steps[below(3)]);
    if (below(2)) turnAbout(&w, 1);
    Copies t = doubleSome(&w, all, false);
    Outcome out = checkMesh(t.position, w.vertices, t.index, t.triangles, false, NULL);
    assert_true(out.pairs >= t.pairs);
    smooth += isSmooth && w.triangles < 11;
    proved += isSmooth && w.triangles < 11 && out.tests == t.pairs;
  }
  assert_true(proved > smooth * 9 / 10);
}

/* Copies with corners of their own are copies while they lie on each other. */
static void copiesMayComeApart(void **state) {
  (void)state;
  uint32_t fewer = 0, more = 0;
  for (uint32_t i = 0; i < testRounds(4000); ++i) {
    Wheel w = wheel(3 + below(8), below(2));
    place(&w, w.closed ? 1 : 0.6, 0, 0.1, 0.1, 0);
    Copies t = doubleSome(&w, i % 2, true), moved = t;
    assert_int_equal(checkMesh(t.position, 3 * t.triangles, t.index, t.triangles, true, NULL).pairs, t.pairs);
    uint32_t c = below(3 * t.triangles);
    for (int k = 0; k < 3; ++k) moved.position[3 * c + k] += (float)((below(2) ? 1e-6 : 1.0) * (2 * uniform() - 1));
    uint32_t pairs = checkMesh(t.position, 3 * t.triangles, t.index, t.triangles, true, moved.position).pairs;
    fewer += pairs < t.pairs;
    more += pairs > t.pairs;
  }
  assert_true(more > testRounds(100) && fewer > testRounds(10));
}

/* A whole mesh: nearly all of a smooth body is proved, with one thread and with four, and nothing changes from frame to
 * frame but what moves. */
static void smoothBodiesAreProved(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(4, 1, &mesh));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  pnPose *pose;
  pnTree *tree;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef treeDef = pnDefaultTreeDef();
  treeDef.pose = pose;
  testExpectOk(pnCreateTree(&treeDef, &tree));
  pnCost cost;
  pnQueryDef query = pnDefaultQueryDef();
  pnQueryLab queryLab = {0};
  query.lab = &queryLab;
  queryLab.noFlat = true; /* whose regions would be counted too */
  size_t before = pnTree_GetByteCount(tree);
  testExpectOk(pnCollideSelf(tree, &query, NULL, &cost));
  assert_int_equal(cost.pairs, 0);
  /* pairs of neighbours are some 19 000 */
  assert_true(cost.exactTests < 1000);
  assert_non_null(pn_fansOf(tree));
  /* at most 25 bytes a triangle more */
  assert_true(pnTree_GetByteCount(tree) - before < 25 * (size_t)pnMesh_GetTriangleCount(mesh));
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

static pnTree *makeFansOf(const float *positions, uint32_t vertices, const uint32_t *triangles, uint32_t count) {
  pnPoseDef poseDef = pnDefaultPoseDef();
  pnPose *pose;
  poseDef.mesh = testMakeMesh(positions, vertices, triangles, count);
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  pnTree *tree;
  def.pose = pose;
  testExpectOk(pnCreateTree(&def, &tree));
  testExpectOk(pn_prepareFans(tree));
  return tree;
}

static void destroyFansOf(pnTree *tree) {
  pnPose *pose = (pnPose *)(uintptr_t)pnTree_GetPose(tree);
  pnMesh *mesh = (pnMesh *)(uintptr_t)pnPose_GetMesh(pose);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

/* An open fan whose triangles face either way, the one in the middle first, numbered so that as many numbers come in as go out: no circle,
 * and a fan. */
static void whatSeemsClosedMayBeOpen(void **state) {
  (void)state;
  static const float positions[] = {1, 0, 0, 1, 1, 0, 0, 1, 0, 5, 5, 5, -1, 1, 0, 0, 0, 0};
  static const uint32_t triangles[] = {5, 1, 2, 5, 0, 1, 5, 4, 2};
  pnTree *tree = makeFansOf(positions, 6, triangles, 3);
  const pnFans *fans = pn_fansOf(tree);
  uint32_t seen = 0;
  for (uint32_t g = 0; g < fans->blocks[fans->blockCount].groupFirst; ++g) {
    if (fans->groups[g].vertex[0] != 5) continue;
    assert_int_equal(fans->groups[g].around, 4);
    assert_false(fans->groups[g].closed);
    ++seen;
  }
  assert_int_equal(seen, 1);
  destroyFansOf(tree);
}

/* The vertices around v in the order of its fan; 0: it has none. */
static uint32_t listAround(const pnTree *tree, uint32_t v, uint32_t out[MOST], bool *outClosed) {
  const pnFans *fans = pn_fansOf(tree);
  for (uint32_t g = 0; g < fans->blocks[fans->blockCount].groupFirst; ++g) {
    const pnFanGroup *group = &fans->groups[g];
    for (uint32_t lane = 0; lane < group->lanes; ++lane) {
      if (group->vertex[lane] != v) continue;
      for (uint32_t k = 0; k < group->around; ++k)
        out[k] = tree->shape->leafVertices[fans->places[group->placeFirst + 4 * (k + 1) + lane]] / 3;
      *outClosed = group->closed;
      return group->around;
    }
  }
  return 0;
}

/* Fans are found by walking over edges, or, where some edge has more than two triangles, by looking for the next among all. Both find the
 * same ones: in a sheet with holes, which touch at corners too, of which some triangles are segments, with one triangle more at a vertex; and
 * beside it or not three triangles at one edge. */
static void walkingFindsTheSameFans(void **state) {
  (void)state;
  enum { SIDE = 6, SHEET = SIDE * SIDE, ALL = SHEET + 7, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };
  uint32_t kinds[3] = {0};
  for (uint32_t round = 0; round < testRounds(200); ++round) {
    float positions[3 * ALL];
    uint32_t triangles[3 * (TRIANGLES + 4)], count = 0;
    for (uint32_t i = 0; i < 3 * ALL; ++i) positions[i] = (float)uniform();
    for (uint32_t i = 0; i < TRIANGLES; ++i) {
      uint32_t at = i / 2 / (SIDE - 1) * SIDE + i / 2 % (SIDE - 1), turn = below(3);
      const uint32_t corners[2][3] = {{at, at + 1, at + SIDE}, {at + SIDE + 1, at + SIDE, at + 1}};
      if (below(4) == 0) continue;
      for (uint32_t k = 0; k < 3; ++k) triangles[3 * count + k] = corners[i % 2][(k + turn) % 3];
      if (below(40) == 0) triangles[3 * count + turn] = triangles[3 * count + (turn + 1) % 3];
      ++count;
    }
    for (uint32_t k = 0; k < 3; ++k) triangles[3 * count + k] = k == 0 ? below(SHEET) : ALL - k;
    ++count;
    for (uint32_t k = 0; k < 9; ++k) triangles[3 * count + k] = SHEET + (k % 3 < 2 ? k % 3 : 2 + k / 3);
    pnTree *alone = makeFansOf(positions, ALL, triangles, count),
           *crowded = makeFansOf(positions, ALL, triangles, count + 3);
    for (uint32_t v = 0; v < SHEET; ++v) {
      uint32_t a[MOST], b[MOST];
      bool closed = false, other = false;
      uint32_t n = listAround(alone, v, a, &closed);
      assert_int_equal(listAround(crowded, v, b, &other), n);
      assert_int_equal(closed, other);
      ++kinds[n == 0 ? 0 : closed ? 1 : 2];
      for (uint32_t k = 0; k < n; ++k) assert_int_equal(a[k], !closed && a[0] != b[0] ? b[n - 1 - k] : b[k]);
    }
    destroyFansOf(alone);
    destroyFansOf(crowded);
  }
  for (int i = 0; i < 3; ++i) assert_true(kinds[i] > testRounds(200));
}

int main(void) {
  dice = testRandom(11);
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothFansAreProved),
                                     cmocka_unit_test(fansOfAllKindsAgree),
                                     cmocka_unit_test(windingTwiceIsNotOnce),
                                     cmocka_unit_test(hairsAreNotJudgedByRounding),
                                     cmocka_unit_test(seamsAreOneVertexWhileTheyAreOnePoint),
                                     cmocka_unit_test(whatIsNotAFanIsTested),
                                     cmocka_unit_test(copiesAreOneSector),
                                     cmocka_unit_test(copiesMayComeApart),
                                     cmocka_unit_test(whatSeemsClosedMayBeOpen),
                                     cmocka_unit_test(smoothBodiesAreProved),
                                     cmocka_unit_test(walkingFindsTheSameFans)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
