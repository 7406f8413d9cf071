/* test_find.c: findings: what is one thing stays one thing, over frames, gaps, splits and containment; what is built in is constant;
 * names last; known findings are known again; the same bits for any number of threads; memory that frames do not grow. */
#include "support_find.h"

static const pnFinding *ranked(FindScene *s, uint32_t *outCount) {
  testExpectOk(pnFinder_Rank(s->finder, PN_FINDINGS_BY_DEPTH));
  return pnFinder_GetFindings(s->finder, outCount);
}

static const pnFinding *only(FindScene *s) {
  uint32_t count;
  const pnFinding *f = ranked(s, &count);
  assert_int_equal(count, 1);
  return f;
}

static FindScene ballAndBox(const pnFinderDef *def, float radius) {
  pnMesh *meshes[2];
  testExpectOk(pnMakeIcosphere(3, radius, &meshes[0]));
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 4, &meshes[1]));
  return findMake(def, meshes, 2);
}

/* ---------------------------------------------------------------- over frames */

/* A ball comes in through the top of a box, is swallowed and stays. */
static void aSwallowedBallIsOneFinding(void **state) {
  (void)state;
  FindScene s = ballAndBox(NULL, 0.3f);
  int64_t met = -1, inside = -1;
  for (int frame = 0; frame < 30; ++frame) {
    float z = fmaxf(0.02f, 1.6f - 0.07f * (float)frame);
    findMove(&s, 0, 0.05f, 0.03f, z);
    findLook(&s, false, false, false);
    uint32_t count;
    const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
    if (count > 0 && met < 0) met = frame;
    if (count > 0 && r->inner == 0 && inside < 0) inside = frame;
    // From the frame in which it enters to the last there is one region, and it is as deep as the ball is low.
    assert_int_equal(count, met >= 0);
    if (count == 0) continue;
    assert_int_equal(r->inner, inside >= 0 ? 0 : PN_NONE);
    double low = 1 - ((double)z - 0.3);
    if (low < 1) assert_true(fabs(r->depth.value - low) < 0.02 * low + 0.002);
  }
  assert_true(met == 5 && inside > met);
  const pnFinding *f = only(&s);
  assert_int_equal(f->firstFrame, met);
  assert_int_equal(f->lastFrame, 29);
  assert_int_equal(f->frameCount, 30 - met);
  assert_true(f->contained && f->open && f->kind == PN_FINDING_NEW && f->depth.kind == PN_DEPTH_INSIDE);
  // Out again on the other side: still one.
  for (int frame = 0; frame < 30; ++frame) {
    findMove(&s, 0, 0.05f, 0.03f, -0.07f * (float)frame);
    findLook(&s, false, false, false);
  }
  f = only(&s);
  assert_true(f->lastFrame < 59 && !f->open);
  findFree(&s);
}

/* In for three frames, away for `away`, in again. */
static uint32_t findingsAround(int away) {
  FindScene s = ballAndBox(NULL, 0.3f);
  for (int frame = 0; frame < 6 + away; ++frame) {
    bool in = frame < 3 || frame >= 3 + away;
    findMove(&s, 0, 0, 0, in ? 1.2f : 3.0f);
    findLook(&s, false, false, false);
  }
  uint32_t count;
  ranked(&s, &count);
  findFree(&s);
  return count;
}

static void gapsAreBridged(void **state) {
  (void)state;
  // 30 frames a second and a gap of 0.1: seen again three frames after it was last seen is still one.
  assert_int_equal(findingsAround(1), 1);
  assert_int_equal(findingsAround(2), 1);
  assert_int_equal(findingsAround(3), 2);
}

/* A standing ring is lowered into a floor: one region, then two legs, then again one. */
static void whatFallsApartStaysOne(void **state) {
  (void)state;
  pnMesh *ring, *meshes[2];
  testExpectOk(pnMakeTorus(1, 0.2f, 48, 16, &ring));
  uint32_t n = pnMesh_GetVertexCount(ring);
  float *v = malloc(3 * n * sizeof(float));
  assert_non_null(v);
  for (uint32_t i = 0; i < n; ++i) {
    const float *p = pnMesh_GetVertices(ring) + 3 * (size_t)i;
    v[3 * i] = p[0], v[3 * i + 1] = p[2], v[3 * i + 2] = p[1];
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v, def.vertexCount = n;
  def.triangles = pnMesh_GetTriangles(ring), def.triangleCount = pnMesh_GetTriangleCount(ring);
  testExpectOk(pnCreateMesh(&def, &meshes[0]));
  free(v);
  pnDestroyMesh(ring);
  testExpectOk(pnMakeGrid(6, 6, 1, 1, &meshes[1]));
  FindScene s = findMake(NULL, meshes, 2);
  uint32_t most = 0, last = 0;
  for (int frame = 0; frame < 50; ++frame) {
    findMove(&s, 0, 0.01f, 0.02f, 1.25f - 0.05f * (float)frame);
    findLook(&s, false, false, false);
    const pnRegion *r = pnFinder_GetRegions(s.finder, &last);
    for (uint32_t i = 0; i < last; ++i) assert_int_equal(r[i].finding, 0);
    most = last > most ? last : most;
  }
  assert_int_equal(most, 2);
  only(&s);
  findFree(&s);
}

/* Two balls far apart on one large triangle are two findings; within reach they are one. */
static void placesAreKeptApart(void **state) {
  (void)state;
  for (int close = 0; close < 2; ++close) {
    pnMesh *meshes[3];
    testExpectOk(pnMakeIcosphere(2, 0.3f, &meshes[0]));
    testExpectOk(pnMakeGrid(8, 8, 1, 1, &meshes[1]));
    pnFinderDef def = pnDefaultFinderDef();
    def.reach = close ? 3.0 : 0.5;
    // One body of two balls.
    uint32_t n = pnMesh_GetVertexCount(meshes[0]), t = pnMesh_GetTriangleCount(meshes[0]);
    float *v = malloc(6 * n * sizeof(float));
    uint32_t *c = malloc(6 * t * sizeof(uint32_t));
    assert_true(v && c);
    for (uint32_t i = 0; i < 6 * n; ++i)
      v[i] = pnMesh_GetVertices(meshes[0])[i % (3 * n)] + (i % 3 == 0 ? (i < 3 * n ? -1.5f : 1.5f) : 0);
    for (uint32_t i = 0; i < 6 * t; ++i) c[i] = pnMesh_GetTriangles(meshes[0])[i % (3 * t)] + (i < 3 * t ? 0 : n);
    pnMeshDef two = pnDefaultMeshDef();
    two.vertices = v, two.vertexCount = 2 * n, two.triangles = c, two.triangleCount = 2 * t;
    testExpectOk(pnCreateMesh(&two, &meshes[2]));
    pnDestroyMesh(meshes[0]);
    free(v);
    free(c);
    meshes[0] = meshes[2];
    FindScene s = findMake(&def, meshes, 2);
    for (int frame = 0; frame < 4; ++frame) {
      findMove(&s, 0, 0.3f, -2.0f, 0.1f);
      findLook(&s, false, false, false);
      uint32_t count;
      pnFinder_GetRegions(s.finder, &count);
      assert_int_equal(count, 2);
    }
    uint32_t count;
    ranked(&s, &count);
    assert_int_equal(count, close ? 1 : 2);
    findFree(&s);
  }
}

/* ---------------------------------------------------------------- built in, growing, new */

static pnFindingKind kindOf(float rest, float least, float most) {
  FindScene s = ballAndBox(NULL, 0.3f);
  findMove(&s, 0, 0, 0, 1.3f - rest);
  findLook(&s, true, false, false);
  for (int frame = 0; frame <= 10; ++frame) {
    findMove(&s, 0, 0.01f * (float)frame, 0, 1.3f - least - (most - least) * (float)frame / 10);
    findLook(&s, false, false, false);
  }
  pnFindingKind kind = only(&s)->kind;
  findFree(&s);
  return kind;
}

static void kindsAreByRest(void **state) {
  (void)state;
  assert_int_equal(kindOf(-0.5f, 0.05f, 0.2f), PN_FINDING_NEW);
  assert_int_equal(kindOf(0.1f, 0.05f, 0.1f), PN_FINDING_CONSTANT);
  assert_int_equal(kindOf(0.1f, 0.1f, 0.25f), PN_FINDING_GROWING);
  // Contained at rest, and no deeper later: the middle of the box is as deep as it gets.
  assert_int_equal(kindOf(1.3f, 1.3f, 1.31f), PN_FINDING_CONSTANT);
}

/* The same end of a ball in another place of the box is another contact. */
static void restIsByBothSides(void **state) {
  (void)state;
  FindScene s = ballAndBox(NULL, 0.2f);
  findMove(&s, 0, 0.75f, 0.75f, 1.1f);
  findLook(&s, true, false, false);
  for (int frame = 0; frame < 3; ++frame) {
    findMove(&s, 0, -0.75f, -0.75f, 1.1f);
    findLook(&s, false, false, false);
  }
  assert_int_equal(only(&s)->kind, PN_FINDING_NEW);
  findFree(&s);
}

/* Two boxes that one node carries, turned and moved in every frame: rounding makes pairs come and go, and nothing is new. */
static void whatIsCarriedIsConstant(void **state) {
  (void)state;
  pnMesh *meshes[2];
  testExpectOk(pnMakeBox((pnVec3){1, 1, 0.1f}, 6, &meshes[0]));
  testExpectOk(pnMakeBox((pnVec3){0.5f, 0.5f, 0.1f}, 5, &meshes[1]));
  FindScene s = findMake(NULL, meshes, 2);
  testExpectOk(pnFinder_SetCarriers(s.finder, 0, NULL, 7));
  testExpectOk(pnFinder_SetCarriers(s.finder, 1, NULL, 7));
  TestRandom random = testRandom(11);
  size_t least = SIZE_MAX, most = 0;
  for (int frame = 0; frame < 40; ++frame) {
    pnMatrix turn = testRotation(&random, 5);
    for (uint32_t b = 0; b < 2; ++b) {
      pnMatrix m = turn;
      // The second stands on the first, faces exactly on faces.
      for (int k = 0; k < 3 && b == 1; ++k) m.m[k][3] += 0.1f * turn.m[k][2];
      testExpectOk(pnPose_SetTransform(s.body[b].pose, &m));
    }
    findLook(&s, false, false, false);
    size_t pairs;
    pnFinder_GetRegionPairs(s.finder, &pairs);
    least = pairs < least ? pairs : least;
    most = pairs > most ? pairs : most;
    uint32_t count;
    const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
    for (uint32_t i = 0; i < count; ++i) {
      double x = (double)r[i].depth.from.x - r[i].depth.onto.x, y = (double)r[i].depth.from.y - r[i].depth.onto.y,
             z = (double)r[i].depth.from.z - r[i].depth.onto.z;
      assert_true(r[i].carried && fabs(sqrt(x * x + y * y + z * z) - r[i].depth.value) < 1e-4);
    }
  }
  assert_true(least < most);
  uint32_t count;
  const pnFinding *f = ranked(&s, &count);
  assert_true(count > 0);
  for (uint32_t i = 0; i < count; ++i) assert_int_equal(f[i].kind, PN_FINDING_CONSTANT);
  findFree(&s);
}

/* ---------------------------------------------------------------- curves and regions */

static void curvesAreClosedAndLong(void **state) {
  (void)state;
  pnMesh *meshes[2];
  testExpectOk(pnMakeIcosphere(5, 1, &meshes[0]));
  testExpectOk(pnMakeBox((pnVec3){2, 2, 1}, 3, &meshes[1]));
  FindScene s = findMake(NULL, meshes, 2);
  findMove(&s, 0, 0.013f, 0.017f, 1.6f);
  findLook(&s, false, false, true);
  uint32_t count, curveCount, pointCount;
  const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
  const pnCurve *c = pnFinder_GetCurves(s.finder, &curveCount);
  const pnVec3 *p = pnFinder_GetCurvePoints(s.finder, &pointCount);
  assert_true(count == 1 && curveCount == 1 && r->curveCount == 1 && c->closed && c->pointCount == pointCount);
  // A circle of radius sqrt(1 - 0.6^2) = 0.8; polygons in it are a little shorter.
  assert_true(fabs(c->length - 2 * 3.14159265 * 0.8) < 0.02 && fabs(r->curveLength - c->length) < 0.01);
  for (uint32_t i = 0; i < pointCount; ++i) {
    double x = (double)p[i].x - 0.013, y = (double)p[i].y - 0.017;
    assert_true(fabs((double)p[i].z - 1) < 1e-6 && fabs(sqrt(x * x + y * y) - 0.8) < 0.003);
  }
  assert_true(fabs((double)r->centre.z - 1) < 1e-6 && r->box.min.z == 1 && fabs((double)r->box.max.x - 0.813) < 0.003);
  findFree(&s);
}

/* Every pair of a contact is in exactly one region, and triangles are counted by label. */
static void regionsShareOutThePairs(void **state) {
  (void)state;
  pnMesh *meshes[2];
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.25f, 96, 16, &meshes[0]));
  testExpectOk(pnMakeKnot(3, 2, 1.0f, 0.3f, 96, 16, &meshes[1]));
  FindScene s = findMake(NULL, meshes, 2);
  findLook(&s, false, true, true);
  size_t pairCount, sum = 0;
  uint32_t count, labelCount;
  const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
  const pnPair *pairs = pnFinder_GetRegionPairs(s.finder, &pairCount);
  const pnLabelCount *labels = pnFinder_GetRegionLabels(s.finder, &labelCount);
  for (uint32_t i = 0; i < count; ++i) {
    sum += r[i].pairCount;
    for (size_t k = 1; k < r[i].pairCount; ++k) {
      const pnPair *x = &pairs[r[i].firstPair + k - 1], *y = x + 1;
      assert_true(x->a < y->a || (x->a == y->a && x->b < y->b));
    }
    assert_true(r[i].labelCountA == 1 && labels[r[i].firstLabelA].label == PN_NONE);
    assert_true(r[i].depth.max >= r[i].depth.value);
  }
  size_t given = 0;
  testExpectOk(pnCollideTrees(s.body[0].tree, s.body[1].tree, NULL, s.list, NULL));
  given += pnPairList_GetCount(s.list);
  for (int i = 0; i < 2; ++i) {
    testExpectOk(pnCollideSelf(s.body[i].tree, NULL, s.list, NULL));
    given += pnPairList_GetCount(s.list);
  }
  assert_true(count > 3 && sum == given && pairCount == given);
  findFree(&s);
}

/* ---------------------------------------------------------------- names and what is known */

/* A scene of three things, at so many frames a second, with triangles in another order, and moved a little. */
static void fillNames(double fps, bool turned, float shift, char names[3][PN_FINDING_NAME], pnKnownFinding *known) {
  pnMesh *meshes[3], *ball;
  testExpectOk(pnMakeIcosphere(3, 0.3f, &ball));
  pnMeshDef def = pnDefaultMeshDef();
  uint32_t t = pnMesh_GetTriangleCount(ball);
  uint32_t *corners = malloc(3 * t * sizeof(uint32_t));
  assert_non_null(corners);
  for (uint32_t i = 0; i < t; ++i)
    memcpy(corners + 3 * (size_t)i, pnMesh_GetTriangles(ball) + 3 * (size_t)(turned ? t - 1 - i : i),
           3 * sizeof(uint32_t));
  def.vertices = pnMesh_GetVertices(ball), def.vertexCount = pnMesh_GetVertexCount(ball);
  def.triangles = corners, def.triangleCount = t;
  testExpectOk(pnCreateMesh(&def, &meshes[0]));
  pnDestroyMesh(ball);
  free(corners);
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 4, &meshes[1]));
  testExpectOk(pnMakeGrid(3, 3, 7, 7, &meshes[2]));
  FindScene s = findMake(NULL, meshes, 3);
  findMove(&s, 2, 0, 0, -1.5f);
  // Down along one edge of the box from above, out and through the sheet below it.
  for (int64_t frame = 0; (double)frame < 3 * fps; ++frame) {
    double time = (double)frame / fps, along = time < 1 ? 0 : time < 2 ? time - 1 : 1;
    findMove(&s, 0, 0.8f + shift, (float)(-0.5 + 0.2 * along) + shift, (float)(1.5 - time));
    s.frame = frame;
    pnFinderContact contacts[2];
    pnPair *kept[2];
    for (uint32_t b = 1; b < 3; ++b) {
      testExpectOk(pnCollideTrees(s.body[0].tree, s.body[b].tree, NULL, s.list, NULL));
      size_t n = pnPairList_GetCount(s.list);
      kept[b - 1] = malloc(n * sizeof(pnPair) + 1);
      if (n > 0) memcpy(kept[b - 1], pnPairList_GetPairs(s.list), n * sizeof(pnPair));
      contacts[b - 1] = (pnFinderContact){0, b, kept[b - 1], n};
    }
    pnFinderFrame look = {.number = frame, .time = time, .contacts = contacts, .contactCount = 2};
    testExpectOk(pnFinder_AddFrame(s.finder, &look));
    free(kept[0]);
    free(kept[1]);
  }
  uint32_t count;
  const pnFinding *f = ranked(&s, &count);
  assert_int_equal(count, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    memcpy(names[i], f[i].name, PN_FINDING_NAME);
    if (known)
      known[i] = (pnKnownFinding){.name = names[i],
                                  .a = "bea",
                                  .b = "ada",
                                  .depth = f[i].depth.value,
                                  .time = f[i].lastTime - f[i].firstTime,
                                  .hasPlace = true,
                                  .placeA = f[i].placeB,
                                  .placeB = f[i].placeA};
    if (known && f[i].b == 2) known[i].a = "cem";
  }
  findFree(&s);
}

static void namesLast(void **state) {
  (void)state;
  char first[3][PN_FINDING_NAME], again[3][PN_FINDING_NAME];
  fillNames(30, false, 0, first, NULL);
  assert_int_equal(strlen(first[0]), 8);
  assert_string_not_equal(first[0], first[1]);
  fillNames(60, false, 0, again, NULL);
  assert_string_equal(first[0], again[0]);
  assert_string_equal(first[1], again[1]);
  fillNames(24, true, 0.01f, again, NULL);
  assert_string_equal(first[0], again[0]);
  assert_string_equal(first[1], again[1]);
}

/* A ball that dips into a box in the frames named by `dips`, three each. */
static FindScene dipping(const int *dips, int count) {
  FindScene s = ballAndBox(NULL, 0.3f);
  for (int frame = 0; frame < 80; ++frame) {
    bool isIn = false;
    for (int i = 0; i < count; ++i) isIn = isIn || (frame >= dips[i] && frame < dips[i] + 3);
    findMove(&s, 0, 0.8f, -0.5f, isIn ? 1.0f : 3.0f);
    findLook(&s, false, false, false);
  }
  return s;
}

/* One contact that comes back: its names have numbers, which last when the first is mended and another comes. */
static void numbersLast(void **state) {
  (void)state;
  FindScene s = dipping((int[]){5, 25, 45}, 3);
  uint32_t count;
  char names[3][PN_FINDING_NAME];
  pnKnownFinding known[3];
  testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_FIRST));
  const pnFinding *f = pnFinder_GetFindings(s.finder, &count);
  assert_int_equal(count, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    memcpy(names[i], f[i].name, PN_FINDING_NAME);
    known[i] = (pnKnownFinding){.name = names[i], .a = "ada", .b = "bea", .depth = 1, .time = -1, .hasBegin = true};
    known[i].begin = f[i].firstTime;
    assert_memory_equal(names[i], names[0], 8);
  }
  assert_string_equal(names[1] + 8, "-2");
  assert_string_equal(names[2] + 8, "-3");
  findFree(&s);
  // The first is mended, the others are a little later, and there is a new one.
  s = dipping((int[]){26, 46, 65}, 3);
  testExpectOk(pnFinder_Rank(s.finder, PN_FINDINGS_BY_FIRST));
  pnStanding standings[3];
  uint32_t matches[3];
  testExpectOk(pnFinder_Compare(s.finder, known, 3, NULL, standings, matches));
  f = pnFinder_GetFindings(s.finder, &count);
  assert_int_equal(count, 3);
  assert_true(matches[0] == 1 && matches[1] == 2 && matches[2] == 0);
  assert_string_equal(f[0].name, names[1]);
  assert_string_equal(f[1].name, names[2]);
  findFree(&s);
}

static void knownOnesAreKnown(void **state) {
  (void)state;
  char names[3][PN_FINDING_NAME];
  pnKnownFinding known[3];
  fillNames(30, false, 0, names, known);
  FindScene s = ballAndBox(NULL, 0.3f);
  for (int frame = 0; frame < 30; ++frame) {
    findMove(&s, 0, 0.8f, -0.5f + 0.2f * fmaxf(0, (float)(frame - 10) / 30), 1.5f - (float)frame / 30);
    findLook(&s, false, false, false);
  }
  pnStanding standing;
  uint32_t match;
  only(&s);
  testExpectOk(pnFinder_Compare(s.finder, NULL, 0, NULL, &standing, &match));
  assert_true(standing == PN_STANDING_NEW && match == PN_NONE);
  // By name: accepted as it is, too shallow, too short; by place under another name, which it then has.
  const pnFinding *f = only(&s);
  pnKnownFinding one = {
      .name = f->name, .a = "bea", .b = "ada", .depth = f->depth.value, .time = f->lastTime - f->firstTime};
  char name[PN_FINDING_NAME];
  memcpy(name, f->name, sizeof name);
  one.name = name;
  testExpectOk(pnFinder_Compare(s.finder, &one, 1, NULL, &standing, &match));
  assert_true(standing == PN_STANDING_KNOWN && match == 0);
  one.depth *= 0.9;
  testExpectOk(pnFinder_Compare(s.finder, &one, 1, NULL, &standing, &match));
  assert_true(standing == PN_STANDING_DEEPER && match == 0);
  one.depth /= 0.9, one.time = 0.2;
  testExpectOk(pnFinder_Compare(s.finder, &one, 1, NULL, &standing, &match));
  assert_true(standing == PN_STANDING_LONGER && match == 0);
  one.time = -1, one.name = "old";
  testExpectOk(pnFinder_Compare(s.finder, &one, 1, NULL, &standing, &match));
  assert_true(standing == PN_STANDING_NEW && match == PN_NONE);
  one.hasPlace = true, one.placeA = f->placeB, one.placeB = f->placeA;
  one.placeA.x += 0.1f;
  testExpectOk(pnFinder_Compare(s.finder, &one, 1, NULL, &standing, &match));
  assert_true(standing == PN_STANDING_KNOWN && match == 0);
  assert_string_equal(pnFinder_GetFindings(s.finder, &match)->name, "old");
  findFree(&s);
}

/* ---------------------------------------------------------------- threads, memory, errors */

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
  return hash;
}

/* Everything a finder says of a tumble of knots, balls, a box and a sheet, each with itself too. */
static uint64_t hashOfTumble(uint32_t threads) {
  pnPool *pool;
  testExpectOk(pnCreatePool(threads, &pool));
  pnFinderDef def = pnDefaultFinderDef();
  def.tasks = pnPool_GetTasks(pool);
  pnMesh *meshes[5];
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.35f, 64, 12, &meshes[0]));
  testExpectOk(pnMakeIcosphere(3, 0.6f, &meshes[1]));
  testExpectOk(pnMakeBox((pnVec3){0.7f, 0.5f, 0.9f}, 4, &meshes[2]));
  testExpectOk(pnMakeGrid(3, 3, 20, 20, &meshes[3]));
  testExpectOk(pnMakeTorus(0.9f, 0.3f, 40, 12, &meshes[4]));
  FindScene s = findMake(&def, meshes, 5);
  TestRandom random = testRandom(5);
  uint64_t hash = 0xcbf29ce484222325u;
  for (int frame = 0; frame < 12; ++frame) {
    for (uint32_t b = 0; b < 5; ++b) {
      pnMatrix turn = testRotation(&random, 1);
      testExpectOk(pnPose_SetTransform(s.body[b].pose, &turn));
    }
    findLook(&s, frame == 0, true, true);
    uint32_t count, points;
    const pnRegion *r = pnFinder_GetRegions(s.finder, &count);
    for (uint32_t i = 0; i < count; ++i) {
      double numbers[6] = {r[i].depth.value,  r[i].depth.max, r[i].curveLength,
                           r[i].depth.from.x, r[i].centre.y,  r[i].volume};
      uint32_t more[4] = {r[i].finding, (uint32_t)r[i].pairCount, r[i].inner, r[i].atRest};
      hash = mix(mix(hash, numbers, sizeof numbers), more, sizeof more);
    }
    const pnVec3 *p = pnFinder_GetCurvePoints(s.finder, &points);
    hash = mix(hash, p, points * sizeof *p);
  }
  uint32_t count;
  const pnFinding *f = ranked(&s, &count);
  assert_true(count > 5);
  for (uint32_t i = 0; i < count; ++i) {
    hash = mix(mix(hash, f[i].name, strlen(f[i].name)), &f[i].depth.value, sizeof(double));
    hash = mix(hash, f[i].samples, f[i].sampleCount * sizeof *f[i].samples);
  }
  pnDestroyPool(pool);
  findFree(&s);
  return hash;
}

static void threadsDoNotMatter(void **state) {
  (void)state;
  uint64_t one = hashOfTumble(1);
  assert_true(hashOfTumble(2) == one && hashOfTumble(4) == one && hashOfTumble(4) == one);
}

/* A ball that bobs in and out of a box for ever: as one finding, memory stays where it is. */
static void framesCostNoMemory(void **state) {
  (void)state;
  FindScene s = ballAndBox(NULL, 0.3f);
  size_t bytes = 0;
  for (int frame = 0; frame < 1500; ++frame) {
    findMove(&s, 0, 0.1f, 0.2f, 1.2f + 0.08f * (float)sin(0.3 * frame));
    findLook(&s, false, false, true);
    if (frame == 300) bytes = pnFinder_GetByteCount(s.finder);
  }
  assert_int_equal(pnFinder_GetByteCount(s.finder), bytes);
  const pnFinding *f = only(&s);
  assert_true(f->frameCount == 1500 && f->sampleCount <= 128 && f->sampleCount >= 64);
  double deepest = 0;
  for (uint32_t i = 0; i < f->sampleCount; ++i) {
    assert_true(i == 0 || f->samples[i].frame > f->samples[i - 1].frame);
    deepest = fmax(deepest, f->samples[i].depth);
  }
  assert_true(deepest == f->depth.value);
  findFree(&s);
}

/* With a capacity the least deep of those that are over are dropped, and counted. */
static void capacityBoundsFindings(void **state) {
  (void)state;
  pnFinderDef def = pnDefaultFinderDef();
  def.findingCapacity = 5;
  def.gap = 0;
  FindScene s = ballAndBox(&def, 0.3f);
  for (int i = 0; i < 20; ++i) {
    findMove(&s, 0, 0, 0, i % 2 ? 3.0f : 1.25f - 0.01f * (float)i);
    findLook(&s, false, false, false);
  }
  uint32_t count;
  const pnFinding *f = ranked(&s, &count);
  assert_true(count == 5 && pnFinder_GetDroppedCount(s.finder) == 5 && f[0].deepestFrame == 18 &&
              f[4].deepestFrame == 10);
  findFree(&s);
}

static pnResult smallScan(void *context) {
  (void)context;
  pnMesh *mesh[2] = {0};
  pnPose *pose[2] = {0};
  pnTree *tree[2] = {0};
  pnFinder *finder = NULL;
  pnPairList *list = NULL;
  pnFinderDef def = pnDefaultFinderDef();
  pnResult result = pnCreateFinder(&def, &finder);
  if (result == PN_OK) result = pnCreatePairList(&list);
  for (uint32_t i = 0; i < 2 && result == PN_OK; ++i) {
    result = i == 0 ? pnMakeIcosphere(1, 0.4f, &mesh[i]) : pnMakeBox((pnVec3){1, 1, 1}, 1, &mesh[i]);
    pnPoseDef poseDef = {.mesh = mesh[i]};
    if (result == PN_OK) result = pnCreatePose(&poseDef, &pose[i]);
    pnTreeDef treeDef = pnDefaultTreeDef();
    treeDef.pose = pose[i];
    if (result == PN_OK) result = pnCreateTree(&treeDef, &tree[i]);
    uint32_t number;
    pnFinderBodyDef body = {.tree = tree[i], .name = i ? "box" : "ball"};
    if (result == PN_OK) result = pnFinder_AddBody(finder, &body, &number);
  }
  for (int frame = 0; frame < 4 && result == PN_OK; ++frame) {
    pnMatrix m = pnMatrix_Identity();
    m.m[2][3] = 1.3f - 0.4f * (float)frame;
    result = pnPose_SetTransform(pose[0], &m);
    if (result == PN_OK) result = pnCollideTrees(tree[0], tree[1], NULL, list, NULL);
    pnFinderContact contact = {0, 1, pnPairList_GetPairs(list), result == PN_OK ? pnPairList_GetCount(list) : 0};
    pnFinderFrame look = {
        .number = frame, .time = frame, .contacts = &contact, .contactCount = 1, .rest = frame == 0, .curves = true};
    if (result == PN_OK) result = pnFinder_AddFrame(finder, &look);
  }
  if (result == PN_OK) result = pnFinder_Rank(finder, PN_FINDINGS_BY_FIRST);
  uint32_t count = 0;
  if (result == PN_OK) pnFinder_GetFindings(finder, &count);
  pnStanding standings[4];
  if (result == PN_OK && count <= 4) result = pnFinder_Compare(finder, NULL, 0, NULL, standings, NULL);
  pnDestroyFinder(finder);
  pnDestroyPairList(list);
  for (int i = 0; i < 2; ++i) {
    if (tree[i]) pnDestroyTree(tree[i]);
    pnDestroyPose(pose[i]);
    pnDestroyMesh(mesh[i]);
  }
  return result;
}

static void withoutMemory(void **state) {
  (void)state;
  // Building a tree may do without some of its memory.
  assert_true(testEveryAllocationFailure(smallScan, NULL, false, true) > 50);
  testEveryAllocationFailure(smallScan, NULL, true, true);
}

static void errors(void **state) {
  (void)state;
  FindScene s = ballAndBox(NULL, 0.3f);
  pnPair pair = {0, 100000};
  pnFinderContact contact = {0, 1, &pair, 1};
  pnFinderFrame frame = {.number = 3, .time = 1, .contacts = &contact, .contactCount = 1};
  testExpectFailure(pnFinder_AddFrame(s.finder, &frame), PN_ERROR_INDEX, "bea|100000");
  contact.b = 9;
  frame.number = 4, frame.time = 2;
  testExpectFailure(pnFinder_AddFrame(s.finder, &frame), PN_ERROR_INDEX, "bodies 0 and 9 of 2");
  contact.pairCount = 0, contact.b = 1;
  testExpectFailure(pnFinder_AddFrame(s.finder, &frame), PN_ERROR_ARGUMENT, "frame 4|after frame 4");
  frame.rest = true;
  testExpectFailure(pnFinder_AddFrame(s.finder, &frame), PN_ERROR_ARGUMENT, "rest");
  pnFinder_Clear(s.finder, true);
  testExpectOk(pnFinder_AddFrame(s.finder, &frame));
  pnFinder *finder;
  pnFinderDef def = pnDefaultFinderDef();
  def.gap = -1;
  testExpectFailure(pnCreateFinder(&def, &finder), PN_ERROR_ARGUMENT, "gap");
  findFree(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aSwallowedBallIsOneFinding),
      cmocka_unit_test(gapsAreBridged),
      cmocka_unit_test(whatFallsApartStaysOne),
      cmocka_unit_test(placesAreKeptApart),
      cmocka_unit_test(kindsAreByRest),
      cmocka_unit_test(restIsByBothSides),
      cmocka_unit_test(whatIsCarriedIsConstant),
      cmocka_unit_test(curvesAreClosedAndLong),
      cmocka_unit_test(regionsShareOutThePairs),
      cmocka_unit_test(namesLast),
      cmocka_unit_test(numbersLast),
      cmocka_unit_test(knownOnesAreKnown),
      cmocka_unit_test(threadsDoNotMatter),
      cmocka_unit_test(framesCostNoMemory),
      cmocka_unit_test(capacityBoundsFindings),
      cmocka_unit_test(withoutMemory),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
