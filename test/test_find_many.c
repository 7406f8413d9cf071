/* test_find_many.c: findings where there are very many regions, and very many of them have one triangle, vertex or edge in common. The
 * finder keeps lists by vertex, triangle and part so that such a frame costs what its regions cost and not their square; here is
 * what it answers then. */
#include "support_find.h"

#include "find/find.h"

enum { MANY = 300 };

/* ---------------------------------------------------------------- a floor under many things */

static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* Tetrahedra two apart, every second one half a unit higher. */
static pnMesh *makeThings(void) {
  static float v[12 * MANY];
  static uint32_t t[12 * MANY];
  for (uint32_t i = 0; i < MANY; ++i) {
    const float at[3] = {2.0f * (float)(i % 20), 2.0f * (float)(i / 20), 0.5f * (float)(i % 2)};
    for (uint32_t k = 0; k < 12; ++k) {
      v[12 * i + k] = corners[k / 3][k % 3] + at[k % 3];
      t[12 * i + k] = faces[k] + 4 * i;
    }
  }
  return testMakeMesh(v, 4 * MANY, t, 4 * MANY);
}

static pnMesh *makeFloor(void) {
  const float v[12] = {-10, -10, 0, 60, -10, 0, 60, 60, 0, -10, 60, 0};
  const uint32_t t[6] = {0, 1, 2, 0, 2, 3};
  return testMakeMesh(v, 4, t, 2);
}

static FindScene floorAndThings(const pnFinderDef *def, bool floorFirst) {
  pnMesh *meshes[2];
  meshes[floorFirst] = makeThings();
  meshes[!floorFirst] = makeFloor();
  return findMake(def, meshes, 2);
}

/* The thing that a region is of. */
static uint32_t thingOf(const FindScene *s, const pnRegion *region, bool floorFirst) {
  pnPair pair = pnFinder_GetRegionPairs(s->finder, NULL)[region->firstPair];
  return (region->a == (uint32_t)floorFirst ? pair.a : pair.b) / 4;
}

/* The floor meets every second thing at rest and all of them later. It has four vertices, and each is in all regions at rest: what
 * is new is told by the other side. */
static void aFloorDoesNotMakeAllOld(void **state) {
  (void)state;
  for (int floorFirst = 0; floorFirst < 2; ++floorFirst) {
    FindScene s = floorAndThings(NULL, floorFirst);
    findMove(&s, !floorFirst, 0, 0, 0.25f);
    findLook(&s, true, false, false);
    uint32_t count;
    pnFinder_GetRegions(s.finder, &count);
    assert_int_equal(count, MANY / 2);
    findMove(&s, !floorFirst, 0, 0, 0.75f);
    findLook(&s, false, false, false);
    const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
    assert_int_equal(count, MANY);
    bool seen[MANY] = {false};
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t thing = thingOf(&s, &r[i], floorFirst);
      assert_true(!seen[thing]);
      seen[thing] = true;
      assert_int_equal(r[i].atRest, thing % 2 == 0);
    }
    findFree(&s);
  }
}

/* Two things of either body meet at rest, the first with the first and the second with the second. What meets later, the first of one
 * with the second of the other, was there on both sides, but not together. */
static void placesOfTwoOldOnesAreNew(void **state) {
  (void)state;
  static const float shift[3] = {0.2f, 0.2f, -0.3f};
  pnMesh *meshes[2];
  for (int b = 0; b < 2; ++b) {
    float v[24];
    uint32_t t[24];
    for (uint32_t k = 0; k < 24; ++k) {
      v[k] = corners[k % 12 / 3][k % 3] + (b ? shift[k % 3] : 0) + (k >= 12 && k % 3 == 0 ? 10.0f : 0);
      t[k] = faces[k % 12] + (k >= 12 ? 4 : 0);
    }
    meshes[b] = testMakeMesh(v, 8, t, 8);
  }
  FindScene s = findMake(NULL, meshes, 2);
  findLook(&s, true, false, false);
  uint32_t count;
  pnFinder_GetRegions(s.finder, &count);
  assert_int_equal(count, 2);
  for (int way = -1; way <= 1; ++way) {
    findMove(&s, 1, 10.0f * (float)way, 0, 0);
    findLook(&s, false, false, false);
    const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
    assert_int_equal(count, way ? 1 : 2);
    for (uint32_t i = 0; i < count; ++i) assert_int_equal(r[i].atRest, way == 0);
  }
  findFree(&s);
}

/* Triangles that are all in one place at rest: any two are a region, all of the one vertex that they are welded to. They are known again by one
 * of them, where each would be asked about each. */
static void allInOnePlaceAtRest(void **state) {
  (void)state;
  enum { TRIANGLES = 60, PAIRS = TRIANGLES * (TRIANGLES - 1) / 2 };
  static float v[9 * TRIANGLES];
  uint32_t t[3 * TRIANGLES], count;
  for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) t[i] = i;
  pnMesh *mesh = testMakeMesh(v, 3 * TRIANGLES, t, TRIANGLES);
  FindScene s = findMake(NULL, &mesh, 1);
  findLook(&s, true, true, false);
  pnFinder_GetRegions(s.finder, &count);
  assert_int_equal(count, PAIRS);
  assert_int_equal(s.finder->rests.count, 1);
  assert_int_equal(s.finder->restEntries.count, 2);
  findLook(&s, false, true, false);
  const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
  assert_int_equal(count, PAIRS);
  for (uint32_t i = 0; i < count; ++i) assert_true(r[i].atRest && r[i].depth.value == 0);
  findFree(&s);
}

/* Two bodies of few vertices and many triangles, made at random, with regions that have the same vertices on both sides and are not
 * equally deep. As deep as the deepest is as deep as at rest. */
static void theDeepestOfOnePlaceCounts(void **state) {
  (void)state;
  const float v[24] = {0, 2, 1, 1, 2, 1, 2, 0, 2, 2, 2, 0, 2, 2, 0, 2, 2, 1, 0, 0, 0, 1, 1, 2};
  const uint32_t t[24] = {3, 7, 6, 4, 5, 6, 5, 3, 4, 5, 1, 4, 1, 0, 4, 7, 0, 2, 0, 7, 4, 2, 1, 6};
  const float w[15] = {0.385735698f,  -0.645526167f, 0.779756334f,  -0.470662938f, 0.894044965f,
                       0.487097953f,  0.238724035f,  -0.243300976f, -0.828545792f, -0.873914858f,
                       -0.440041758f, -0.775882492f, 0.992992406f,  0.693910028f,  -0.793614593f};
  const uint32_t u[36] = {2, 0, 4, 2, 3, 1, 0, 1, 4, 3, 2, 4, 1, 3, 4, 4, 2, 1,
                          0, 3, 1, 3, 0, 4, 0, 2, 3, 2, 4, 3, 0, 1, 4, 4, 3, 2};
  pnMesh *meshes[2] = {testMakeMesh(v, 8, t, 8), testMakeMesh(w, 5, u, 12)};
  FindScene s = findMake(NULL, meshes, 2);
  findLook(&s, true, false, false);
  uint32_t count;
  pnFinder_GetRegions(s.finder, &count);
  assert_true(s.finder->rests.count < count);
  findLook(&s, false, false, false);
  testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *f = pnFinder_GetFindings(s.finder, &count);
  assert_true(count > 0);
  for (uint32_t i = 0; i < count; ++i) assert_true(f[i].restDepth >= f[i].depth.value);
  findFree(&s);
}

/* ---------------------------------------------------------------- crowds */

enum { SHARDS = 14 };

/* Tetrahedra, and pairs of triangles that share an edge, in a cube at random, and their triangles in any order; `flat`: all on
 * one line. */
static pnMesh *makeShards(TestRandom *random, bool flat) {
  float v[12 * SHARDS];
  uint32_t t[12 * SHARDS], n = 0;
  for (uint32_t i = 0; i < 12 * SHARDS; ++i) v[i] = flat && i % 3 != 0 ? 0 : testFloat(random, -1, 1);
  for (uint32_t i = 0; i < SHARDS; ++i) {
    uint32_t count = testBelow(random, 2) ? 12 : 6;
    for (uint32_t k = 0; k < count; ++k) t[n++] = 4 * i + faces[k];
  }
  for (uint32_t i = n / 3; i > 1; --i) {
    uint32_t *last = t + 3 * (i - 1), *other = t + 3 * testBelow(random, i), swap[3];
    memcpy(swap, last, sizeof swap);
    memmove(last, other, sizeof swap);
    memcpy(other, swap, sizeof swap);
  }
  return testMakeMesh(v, 4 * SHARDS, t, n / 3);
}

/* What is there at rest, and how deep, with such a crowd. */
static void recogniseWith(pnFinder *finder, uint32_t crowd, uint32_t *outPairs, pnSight *out, bool *outAtRest) {
  assert_true(pn_settleCrowds(finder, crowd));
  pn_recognise(finder);
  *outPairs = 0;
  for (size_t i = 0; i < finder->rests.count; ++i) *outPairs += finder->rests.data[i].byPairs;
  for (size_t i = 0; i < finder->regions.count; ++i) {
    out[i] = finder->sights.data[i];
    outAtRest[i] = finder->regions.data[i].atRest;
  }
}

/* The table of pairs against lists alone: which regions are there at rest, and how deep the deepest of these is. In scans at random with
 * crowds, of two bodies and of each with itself, with what is contained and without, before and after they have moved. */
static void pairsSayWhatListsSay(void **state) {
  (void)state;
  enum { REGIONS = 4000 };
  static pnSight sights[2][REGIONS];
  static bool atRest[2][REGIONS];
  TestRandom random = testRandom(77);
  uint32_t known = 0, deep = 0, fresh = 0, inner = 0;
  for (uint32_t round = 0; round < testRounds(60); ++round) {
    pnMesh *meshes[3] = {makeShards(&random, round % 5 == 4), makeShards(&random, round % 5 == 4), NULL};
    if (round % 4 == 1) testExpectOk(pnMakeBox((pnVec3){1.5f, 1.5f, 1.5f}, 1, &meshes[2]));
    if (round % 4 == 3) testExpectOk(pnMakeIcosphere(2, 0.8f, &meshes[2])); /* of more vertices than are few */
    FindScene s = findMake(NULL, meshes, round % 2 ? 3 : 2);
    for (int frame = 0; frame < 3; ++frame) {
      float reach = 0.3f * (float)frame;
      if (frame > 0) findMove(&s, 0, testFloat(&random, -reach, reach), testFloat(&random, -reach, reach), 0);
      findLook(&s, frame == 0, round % 3 != 2, false);
      size_t count = s.finder->regions.count;
      assert_true(count <= REGIONS);
      uint32_t pairs;
      recogniseWith(s.finder, UINT32_MAX, &pairs, sights[0], atRest[0]);
      assert_int_equal(pairs, 0);
      for (uint32_t crowd = 0; crowd <= 8; crowd += 4) {
        recogniseWith(s.finder, crowd, &pairs, sights[1], atRest[1]);
        assert_true(pairs > 0 || crowd > 0);
        for (size_t i = 0; i < count; ++i) {
          assert_int_equal(atRest[1][i], atRest[0][i]);
          assert_true(sights[1][i].restDepth == sights[0][i].restDepth);
          known += atRest[0][i];
          deep += sights[0][i].restDepth > 0;
          fresh += !atRest[0][i];
          inner += s.finder->regions.data[i].inner != PN_NONE;
        }
      }
    }
    findFree(&s);
  }
  assert_true(known > testRounds(40000) && deep > testRounds(4000) && fresh > testRounds(400) &&
              inner > testRounds(100));
}

/* No list of a crowd is left to walk. */
static void aLineIsACrowd(void **state) {
  (void)state;
  enum { TRIANGLES = 60, PAIRS = TRIANGLES * (TRIANGLES - 1) / 2 };
  float v[9 * TRIANGLES] = {0};
  uint32_t t[3 * TRIANGLES], count;
  for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) {
    v[3 * i] = (i % 3 ? 1.0f : -1.0f) * (1 + 0.01f * (float)i);
    t[i] = i;
  }
  pnMesh *mesh = testMakeMesh(v, 3 * TRIANGLES, t, TRIANGLES);
  FindScene s = findMake(NULL, &mesh, 1);
  findLook(&s, true, true, false);
  assert_int_equal(s.finder->rests.count, PAIRS);
  for (uint32_t i = 0; i < PAIRS; ++i) assert_true(s.finder->rests.data[i].byPairs);
  for (uint32_t i = 0; i < s.finder->restEntries.count; ++i)
    assert_int_equal(s.finder->restEntries.data[i].otherCount, 0);
  findLook(&s, false, true, false);
  const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
  assert_int_equal(count, PAIRS);
  for (uint32_t i = 0; i < count; ++i) assert_true(r[i].atRest);
  findFree(&s);
}

/* Copies of a mesh, each a little beside the one before, as one mesh. */
static pnMesh *makeCopies(pnMesh *one, uint32_t count) {
  static float v[3 * 24 * 162];
  static uint32_t t[3 * 24 * 320];
  uint32_t vertices = pnMesh_GetVertexCount(one), corners3 = 3 * pnMesh_GetTriangleCount(one);
  assert_true(count <= 24 && vertices <= 162 && corners3 <= 3 * 320);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < 3 * vertices; ++k)
      v[3 * vertices * i + k] = pnMesh_GetVertices(one)[k] + (k % 3 == 0 ? 0.001f * (float)i : 0);
    for (uint32_t k = 0; k < corners3; ++k) t[corners3 * i + k] = pnMesh_GetTriangles(one)[k] + vertices * i;
  }
  pnMesh *copies = testMakeMesh(v, vertices * count, t, corners3 * count / 3);
  pnDestroyMesh(one);
  return copies;
}

/* Balls that touch blocks at rest with a few triangles around one vertex, and then go deep into them: of the vertices of a region, which are not
 * few any more, those at rest come last. */
static void ballsAreKnownWhenTheyAreDeep(void **state) {
  (void)state;
  enum { BALLS = 24, BLOCKS = 10 };
  const float v[12] = {-10, -10, 0, 20, -10, 0, -10, 20, 0, 0, 0, -10};
  pnMesh *ball;
  testExpectOk(pnMakeIcosphere(2, 1, &ball));
  float lowest = 0;
  for (uint32_t i = 0; i < pnMesh_GetVertexCount(ball); ++i)
    lowest = PN_MIN(lowest, pnMesh_GetVertices(ball)[3 * i + 2]);
  const uint32_t t[12] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
  pnMesh *meshes[2] = {makeCopies(ball, BALLS), makeCopies(testMakeMesh(v, 4, t, 4), BLOCKS)};
  FindScene s = findMake(NULL, meshes, 2);
  findMove(&s, 0, 0, 0, -lowest - 0.005f);
  findLook(&s, true, false, false);
  assert_int_equal(s.finder->rests.count, BALLS * BLOCKS);
  assert_true(pn_settleCrowds(s.finder, 0));
  for (uint32_t i = 0; i < BALLS * BLOCKS; ++i) assert_true(s.finder->rests.data[i].byPairs);
  findMove(&s, 0, 0, 0, -lowest - 0.7f);
  findLook(&s, false, false, false);
  uint32_t count;
  const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
  assert_int_equal(count, BALLS * BLOCKS);
  for (uint32_t i = 0; i < count; ++i) assert_true(r[i].atRest);
  findFree(&s);
}

/* ---------------------------------------------------------------- carried */

/* What is carried keeps the depth it had when it was first seen, to the last bit, each thing its own. */
static void carriedDepthsAreTheirOwn(void **state) {
  (void)state;
  for (int floorFirst = 0; floorFirst < 2; ++floorFirst) {
    FindScene s = floorAndThings(NULL, floorFirst);
    double depths[MANY];
    for (uint32_t b = 0; b < 2; ++b) testExpectOk(pnFinder_SetCarriers(s.finder, b, NULL, 3));
    for (int frame = 0; frame < 3; ++frame) {
      findMove(&s, floorFirst, 0.1f * (float)frame, 0, 0);
      findMove(&s, !floorFirst, 0.1f * (float)frame, 0, 0.75f - 0.01f * (float)frame);
      findLook(&s, false, false, false);
      uint32_t count;
      const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
      assert_int_equal(count, MANY);
      for (uint32_t i = 0; i < count; ++i) {
        uint32_t thing = thingOf(&s, &r[i], floorFirst);
        assert_true(r[i].carried && r[i].depth.value > 0);
        if (frame == 0) depths[thing] = r[i].depth.value;
        assert_true(r[i].depth.value == depths[thing]);
      }
    }
    // Low and high ones differ, or the test would say nothing.
    assert_true(fabs(depths[0] - depths[1]) > 0.01);
    findFree(&s);
  }
}

/* Many things on one floor are one finding when they are within reach of each other, and frames add nothing to what it holds. */
static void manyThingsAreOneFinding(void **state) {
  (void)state;
  pnFinderDef def = pnDefaultFinderDef();
  def.reach = 3; // all of them are one finding
  FindScene s = floorAndThings(&def, true);
  findMove(&s, 0, 0, 0, 0.75f);
  findLook(&s, false, false, false);
  findLook(&s, false, false, false);
  size_t bytes = pnFinder_GetByteCount(s.finder);
  for (int frame = 0; frame < 20; ++frame) findLook(&s, false, false, false);
  uint32_t count;
  testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *f = pnFinder_GetFindings(s.finder, &count);
  assert_int_equal(count, 1);
  assert_int_equal(f[0].frameCount, 22);
  // Samples and the list of findings are all that is added.
  assert_true(pnFinder_GetByteCount(s.finder) < bytes + 8192);
  findFree(&s);
}

/* ---------------------------------------------------------------- an edge with many triangles */

/* Tetrahedra around one edge, in a box; one of them may be wound the wrong way. How many are found inside? */
static uint32_t insideOfBox(uint32_t count, bool torn) {
  float v[3 * 66] = {0, 0, -0.3f, 0, 0, 0.3f};
  uint32_t t[12 * 32];
  assert_true(count <= 32);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < 2; ++k) {
      double angle = 6.283185307179586 * (2 * i + k) / (2.0 * count);
      v[3 * (2 + 2 * i + k)] = (float)(0.4 * cos(angle));
      v[3 * (2 + 2 * i + k) + 1] = (float)(0.4 * sin(angle));
    }
    const uint32_t c[4] = {0, 1, 2 + 2 * i, 3 + 2 * i};
    for (uint32_t k = 0; k < 12; ++k) t[12 * i + k] = c[faces[k]];
    // One face the other way round: it no longer fits its neighbours, also those across the common edge.
    if (torn && i == 0) t[0] = c[0], t[1] = c[1], t[2] = c[2];
  }
  pnMesh *meshes[2] = {testMakeMesh(v, 2 + 2 * count, t, 4 * count), NULL};
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 2, &meshes[1]));
  FindScene s = findMake(NULL, meshes, 2);
  findLook(&s, false, false, false);
  uint32_t found;
  pnFinder_GetRegions(s.finder, &found);
  findFree(&s);
  return found;
}

static void edgesOfManyAreBalancedOrNot(void **state) {
  (void)state;
  assert_int_equal(insideOfBox(1, false), 1);
  assert_int_equal(insideOfBox(2, false), 1);
  assert_int_equal(insideOfBox(32, false), 1);
  assert_int_equal(insideOfBox(1, true), 0);
  assert_int_equal(insideOfBox(2, true), 0);
  assert_int_equal(insideOfBox(32, true), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aFloorDoesNotMakeAllOld),      cmocka_unit_test(placesOfTwoOldOnesAreNew),
      cmocka_unit_test(allInOnePlaceAtRest),          cmocka_unit_test(theDeepestOfOnePlaceCounts),
      cmocka_unit_test(carriedDepthsAreTheirOwn),     cmocka_unit_test(manyThingsAreOneFinding),
      cmocka_unit_test(pairsSayWhatListsSay),         cmocka_unit_test(aLineIsACrowd),
      cmocka_unit_test(ballsAreKnownWhenTheyAreDeep), cmocka_unit_test(edgesOfManyAreBalancedOrNot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
