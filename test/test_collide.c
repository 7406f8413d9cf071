/* test_collide.c: filters of self-collision, kernels, first contact in time, the broad phase, and what queries refuse. The answers
 * themselves are in test_collide_agree.c. */
#include "agree.h"
#include "oracle.h"

#include "collide/broad.h"
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pose of a case's body at its positions, and a tree over it. */
typedef struct Posed {
  pnPose *pose;
  pnTree *tree;
} Posed;

static Posed posed(const AgreeBody *b) {
  Posed p;
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = b->mesh;
  testExpectOk(pnCreatePose(&poseDef, &p.pose));
  testExpectOk(pnPose_SetVertices(p.pose, b->positions, pnMesh_GetVertexCount(b->mesh)));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = p.pose;
  testExpectOk(pnCreateTree(&def, &p.tree));
  return p;
}

static void freePosed(Posed *p) {
  pnDestroyTree(p->tree);
  pnDestroyPose(p->pose);
}

/* ---------------------------------------------------------------- filters */

/* By welded vertices: nothing has moved apart here. */
static bool areNeighbours(const pnMesh *mesh, uint32_t s, uint32_t t) {
  uint32_t a[3], b[3];
  pn_weldedCorners(mesh, s, a);
  pn_weldedCorners(mesh, t, b);
  for (int k = 0; k < 9; ++k)
    if (a[k / 3] == b[k % 3]) return true;
  return false;
}

/* Steps from triangle to triangle over shared vertices, breadth-first: 0 for itself, UINT32_MAX when there is no way. */
static void distances(const pnMesh *mesh, uint32_t from, uint32_t *out) {
  uint32_t n = pnMesh_GetTriangleCount(mesh);
  memset(out, 0xff, n * sizeof(uint32_t));
  out[from] = 0;
  for (uint32_t step = 0, found = 1; found; ++step) {
    found = 0;
    for (uint32_t s = 0; s < n; ++s) {
      for (uint32_t t = 0; t < n && out[s] == step; ++t) {
        if (out[t] == UINT32_MAX && areNeighbours(mesh, s, t)) {
          out[t] = step + 1;
          found = 1;
        }
      }
    }
  }
}

static void ringsLeaveOutWhatIsNear(void **state) {
  (void)state;
  AgreeCase c = agreeMake(1);
  AgreePairs truth = agreeTruth(&c.body[0], NULL);
  Posed p = posed(&c.body[0]);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  uint32_t n = pnMesh_GetTriangleCount(c.body[0].mesh), *distance = malloc(n * sizeof(uint32_t));
  size_t before = truth.count + 1;
  for (uint32_t ring = 0; ring <= 3; ++ring) {
    pnQueryDef def = pnDefaultQueryDef();
    def.filter.ring = ring;
    AgreePairs expected = {malloc(truth.count * sizeof(pnPair)), 0};
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < truth.count; ++i) {
      if (truth.pairs[i].a != last) {
        last = truth.pairs[i].a;
        distances(c.body[0].mesh, last, distance);
      }
      if (distance[truth.pairs[i].b] > ring) expected.pairs[expected.count++] = truth.pairs[i];
    }
    testExpectOk(pnCollideSelf(p.tree, &def, list, NULL));
    assert_true(agreeEqual(&expected, list));
    assert_true(expected.count < before); /* every ring takes something away here */
    before = expected.count;
    def.first = true;
    testExpectOk(pnCollideSelf(p.tree, &def, list, NULL));
    assert_int_equal(pnPairList_GetCount(list), expected.count > 0);
    free(expected.pairs);
  }
  pnQueryDef def = pnDefaultQueryDef();
  def.filter.ring = 5;
  testExpectFailure(pnCollideSelf(p.tree, &def, list, NULL), PN_ERROR_ARGUMENT, "ring is 5");
  free(distance);
  free(truth.pairs);
  pnDestroyPairList(list);
  freePosed(&p);
  agreeFree(&c);
}

static void groupsAndRestPairsAreLeftOut(void **state) {
  (void)state;
  AgreeCase c = agreeMake(6); /* a soup that meets itself in its rest pose */
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  AgreePairs rest = agreeTruth(&c.body[0], NULL);
  assert_true(rest.count > 5);
  /* move half of it: some pairs of the rest pose stay, new ones come */
  uint32_t n = pnMesh_GetVertexCount(c.body[0].mesh);
  Posed p = posed(&c.body[0]);
  for (uint32_t i = 0; i < 3 * n / 2; i += 3) c.body[0].positions[i] += 0.2f;
  testExpectOk(pnPose_SetVertices(p.pose, c.body[0].positions, n));
  AgreePairs now = agreeTruth(&c.body[0], NULL), expected = {malloc(now.count * sizeof(pnPair)), 0};
  for (size_t i = 0; i < now.count; ++i) {
    bool old = false;
    for (size_t j = 0; j < rest.count; ++j)
      old = old || (rest.pairs[j].a == now.pairs[i].a && rest.pairs[j].b == now.pairs[i].b);
    if (!old) expected.pairs[expected.count++] = now.pairs[i];
  }
  pnQueryDef def = pnDefaultQueryDef();
  def.filter.ignoreRest = true;
  for (int again = 0; again < 2; ++again) {
    testExpectOk(pnCollideSelf(p.tree, &def, list, NULL));
    assert_true(agreeEqual(&expected, list));
  }
  assert_true(expected.count > 0 && expected.count < now.count);
  /* groups: even against odd only */
  uint32_t triangles = pnMesh_GetTriangleCount(c.body[0].mesh), *group = malloc(triangles * sizeof(uint32_t));
  for (uint32_t i = 0; i < triangles; ++i) group[i] = i % 2;
  def = pnDefaultQueryDef();
  def.filter.triangleGroup = group;
  expected.count = 0;
  for (size_t i = 0; i < now.count; ++i)
    if (now.pairs[i].a % 2 != now.pairs[i].b % 2) expected.pairs[expected.count++] = now.pairs[i];
  testExpectOk(pnCollideSelf(p.tree, &def, list, NULL));
  assert_true(agreeEqual(&expected, list));
  free(group);
  free(expected.pairs);
  free(now.pairs);
  free(rest.pairs);
  pnDestroyPairList(list);
  freePosed(&p);
  agreeFree(&c);
}

/* A seam that opens: vertices welded at rest that move apart are tested like any others. */
static void openedSeamIsNotShared(void **state) {
  (void)state;
  AgreeCase c = agreeMake(9); /* coincident triangles, all welded */
  Posed p = posed(&c.body[0]);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  TestRandom r = testRandom(11);
  uint32_t n = pnMesh_GetVertexCount(c.body[0].mesh);
  for (uint32_t i = 0; i < 3 * n; ++i)
    c.body[0].positions[i] += (float)testBelow(&r, 3) * 0.25f; /* some stay together, some part */
  testExpectOk(pnPose_SetVertices(p.pose, c.body[0].positions, n));
  AgreePairs truth = agreeTruth(&c.body[0], NULL);
  testExpectOk(pnCollideSelf(p.tree, NULL, list, NULL));
  assert_true(agreeEqual(&truth, list));
  assert_true(truth.count > 0 && truth.count < (size_t)60 * 59 / 2);
  free(truth.pairs);
  pnDestroyPairList(list);
  freePosed(&p);
  agreeFree(&c);
}

/* ---------------------------------------------------------------- kernels, costs, refusals */

static void kernelsAgreeAndCostsAreHonest(void **state) {
  (void)state;
  AgreeCase c = agreeMake(3);
  AgreePairs truth = agreeTruth(&c.body[0], &c.body[1]);
  Posed a = posed(&c.body[0]), b = posed(&c.body[1]);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  for (int kernel = 0; kernel < PN_KERNEL_COUNT; ++kernel) {
    pnQueryDef def = pnDefaultQueryDef();
    pnQueryLab queryLab = {0};
    def.lab = &queryLab;
    pnCost cost;
    queryLab.kernel = (pnKernel)kernel;
    testExpectOk(pnCollideTrees(a.tree, b.tree, &def, list, &cost));
    assert_true(agreeEqual(&truth, list));
    assert_int_equal(cost.pairs, truth.count);
    assert_true(cost.exactTests >= cost.pairs && cost.leafPairs > 0 && cost.volumeTests > cost.exactTests);
    assert_int_equal(cost.nodesUpdated > 0, kernel == 0); /* the pose did not move: nothing to do for the later ones */
  }
  /* the other way round: pairs are (b, a), sorted by b */
  testExpectOk(pnCollideTrees(b.tree, a.tree, NULL, list, NULL));
  assert_int_equal(pnPairList_GetCount(list), truth.count);
  for (size_t i = 1; i < truth.count; ++i) {
    pnPair x = pnPairList_GetPairs(list)[i - 1], y = pnPairList_GetPairs(list)[i];
    assert_true(x.a < y.a || (x.a == y.a && x.b < y.b));
  }
  /* counting only */
  pnCost cost;
  testExpectOk(pnCollideTrees(a.tree, b.tree, NULL, NULL, &cost));
  assert_int_equal(cost.pairs, truth.count);
  free(truth.pairs);
  pnDestroyPairList(list);
  freePosed(&a);
  freePosed(&b);
  agreeFree(&c);
}

/* Pairs are in order, however many there are and whatever the numbers of triangles: few and small ones find their places in another
 * way than others. A ball goes over a grid of 39 200 triangles, sinks in, and either is the first. */
static void fewAndManyPairsAreInOrder(void **state) {
  (void)state;
  pnMesh *meshes[2];
  pnPose *poses[2];
  pnTree *trees[2];
  pnPairList *lists[2];
  testExpectOk(pnMakeIcosphere(2, 0.1f, &meshes[0]));
  testExpectOk(pnMakeGrid(1, 1, 140, 140, &meshes[1]));
  for (int i = 0; i < 2; ++i) {
    pnPoseDef poseDef = pnDefaultPoseDef();
    pnTreeDef treeDef = pnDefaultTreeDef();
    poseDef.mesh = meshes[i];
    testExpectOk(pnCreatePose(&poseDef, &poses[i]));
    treeDef.pose = poses[i];
    testExpectOk(pnCreateTree(&treeDef, &trees[i]));
    testExpectOk(pnCreatePairList(&lists[i]));
  }
  pnBox box = pnTree_GetBox(trees[1]);
  const float middle[3] = {0.5f * (box.min.x + box.max.x), 0.5f * (box.min.y + box.max.y),
                           0.5f * (box.min.z + box.max.z)};
  bool flat[3] = {box.min.x == box.max.x, box.min.y == box.max.y, box.min.z == box.max.z};
  uint32_t few = 0, many = 0, large = 0;
  for (uint32_t step = 0; step < 96; ++step) {
    pnMatrix at = pnMatrix_Identity();
    float part[2] = {(float)(step % 12) / 11, 0.1f - 0.0008f * (float)(step / 12)};
    for (int k = 0; k < 3; ++k)
      at.m[k][3] = flat[k] ? middle[k] + part[1] : (&box.min.x)[k] + part[0] * ((&box.max.x)[k] - (&box.min.x)[k]);
    testExpectOk(pnPose_SetTransform(poses[0], &at));
    uint32_t turn = step % 2;
    for (int i = 0; i < 2; ++i) {
      pnQueryDef def = pnDefaultQueryDef();
      def.unsorted = i == 1;
      testExpectOk(pnCollideTrees(trees[turn], trees[1 - turn], &def, lists[i], NULL));
    }
    size_t count = pnPairList_GetCount(lists[0]);
    assert_int_equal(pnPairList_GetCount(lists[1]), count);
    pnPair *found = malloc((count + 1) * sizeof(pnPair));
    assert_non_null(found);
    if (count > 0) memcpy(found, pnPairList_GetPairs(lists[1]), count * sizeof(pnPair));
    qsort(found, count, sizeof(pnPair), testComparePairs);
    if (count > 0) assert_memory_equal(pnPairList_GetPairs(lists[0]), found, count * sizeof(pnPair));
    few += count > 1 && count <= 48;
    many += count > 48;
    large += count > 1 && count <= 48 && PN_MAX(found[count - 1].a, found[count - 1].b) >= 1u << 15;
    free(found);
  }
  assert_true(few > 8 && many > 8 && large > 2);
  for (int i = 0; i < 2; ++i) {
    pnDestroyPairList(lists[i]);
    pnDestroyTree(trees[i]);
    pnDestroyPose(poses[i]);
    pnDestroyMesh(meshes[i]);
  }
}

static void refusalsSayWhy(void **state) {
  (void)state;
  AgreeCase c = agreeMake(0);
  Posed p = posed(&c.body[0]);
  pnTree *tree;
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = p.pose;
  lab.arity = 3;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "arity is 3");
  assert_null(tree);
  lab.arity = 0;
  lab.leafSize = 9;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "leafSize is 9");
  lab.leafSize = 8;
  lab.form = (pnForm)99;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "volume 99");
  lab.form = PN_FORM_SPHERE;
  def.update = PN_UPDATE_BERGEN;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_ARGUMENT, "boxes only");
  def.update = PN_UPDATE_BLENDED;
  testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "does not fit");
  def = pnTree_GetDef(p.tree);
  assert_null(def.lab); /* it is the tree's, and asked for by itself */
  def.self = false;
  testExpectOk(pnCreateTree(&def, &tree));
  testExpectFailure(pnCollideSelf(tree, NULL, NULL, NULL), PN_ERROR_KIND, "self");
  pnDestroyTree(tree);
  /* NaN in a shared array: named by the query, for every rule and volume, and nothing is lost */
  uint32_t n = pnMesh_GetVertexCount(c.body[0].mesh);
  for (int update = PN_UPDATE_BOTTOM_UP; update <= PN_UPDATE_BERGEN; ++update) {
    for (int volume = 0; volume < (update == PN_UPDATE_BERGEN ? 1 : TEST_FORM_COUNT); ++volume) {
      def = pnTree_GetDef(p.tree);
      def.lab = &lab;
      def.update = (pnUpdate)update;
      lab.form = (pnForm)volume;
      testExpectOk(pnCreateTree(&def, &tree));
      float kept = c.body[0].positions[3 * 5 + 2];
      for (int bad = 0; bad < 2; ++bad) {
        c.body[0].positions[3 * 5 + 2] = bad ? INFINITY : NAN;
        testExpectOk(pnPose_ShareVertices(p.pose, c.body[0].positions, n));
        testExpectFailure(pnTree_Update(tree, NULL), PN_ERROR_NUMBER, "vertex 5");
      }
      c.body[0].positions[3 * 5 + 2] = kept;
      testExpectOk(pnPose_ShareVertices(p.pose, c.body[0].positions, n));
      testExpectOk(pnTree_Validate(tree));
      pnDestroyTree(tree);
    }
  }
  freePosed(&p);
  agreeFree(&c);
}

static void qualityFallsAndRebuildMends(void **state) {
  (void)state;
  AgreeCase c = agreeMake(0);
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(4, 1, &mesh));
  uint32_t n = pnMesh_GetVertexCount(mesh);
  AgreeBody b = {mesh, malloc((3 * (size_t)n + 1) * sizeof(float))};
  memcpy(b.positions, pnMesh_GetVertices(mesh), 3 * (size_t)n * sizeof(float));
  Posed p = posed(&b);
  assert_float_equal(pnTree_GetQuality(p.tree), 1, 1e-6);
  print_message("  %.1f bytes a triangle\n", (double)pnTree_GetByteCount(p.tree) / pnMesh_GetTriangleCount(mesh));
  assert_true(pnTree_GetByteCount(p.tree) < 100 * (size_t)pnMesh_GetTriangleCount(mesh));
  TestRandom r = testRandom(2);
  for (uint32_t i = 0; i < 3 * n; ++i) b.positions[i] = testFloat(&r, -1, 1);
  testExpectOk(pnPose_SetVertices(p.pose, b.positions, n));
  testExpectOk(pnTree_Update(p.tree, NULL));
  assert_true(pnTree_GetQuality(p.tree) > 2);
  testExpectOk(pnTree_Rebuild(p.tree));
  assert_float_equal(pnTree_GetQuality(p.tree), 1, 1e-6);
  testExpectOk(pnTree_Validate(p.tree));
  /* boxes of a level */
  pnBox boxes[8];
  assert_int_equal(pnTree_GetLevelBoxes(p.tree, 0, boxes, 8), 1);
  assert_true(pnTree_GetLevelBoxes(p.tree, 1, boxes, 8) >= 2);
  freePosed(&p);
  free(b.positions);
  pnDestroyMesh(mesh);
  agreeFree(&c);
}

/* ---------------------------------------------------------------- first contact in time */

static void impactIsBracketed(void **state) {
  (void)state;
  AgreeCase c = agreeMake(2); /* two boxes with faces at x = 1 and x = 1 + gap */
  uint32_t n = pnMesh_GetVertexCount(c.body[1].mesh);
  float *start = malloc(3 * (size_t)n * sizeof(float)), *end = malloc(3 * (size_t)n * sizeof(float));
  for (uint32_t i = 0; i < 3 * n; ++i) {
    start[i] = c.body[1].positions[i] + (i % 3 == 0 ? 1.0f : 0);
    end[i] = c.body[1].positions[i] - (i % 3 == 0 ? 1.0f : 0);
  }
  Posed a = posed(&c.body[0]), b = posed(&c.body[1]);
  pnLinearMotion motion = {a.pose, b.pose, c.body[0].positions, NULL, start, end};
  pnImpact impact;
  for (int k = 1; k < 6; ++k) {
    float tolerance = powf(10, -(float)k);
    testExpectOk(pnFindLinearImpact(a.tree, b.tree, &motion, 7, tolerance, &impact));
    assert_true(impact.contact && !impact.atStart);
    assert_true(impact.before < impact.after && impact.after - impact.before <= tolerance);
    assert_true(impact.before < 0.5f && impact.after >= 0.5f); /* faces meet exactly half way */
  }
  /* never, and from the start */
  motion.endB = NULL;
  testExpectOk(pnFindLinearImpact(a.tree, b.tree, &motion, 7, 0.01f, &impact));
  assert_false(impact.contact);
  motion.startB = c.body[1].positions;
  testExpectOk(pnFindLinearImpact(a.tree, b.tree, &motion, 7, 0.01f, &impact));
  assert_true(impact.contact && impact.atStart && impact.after == 0);
  testExpectFailure(pnFindLinearImpact(a.tree, b.tree, &motion, 0, 0.01f, &impact), PN_ERROR_ARGUMENT, "samples");
  testExpectFailure(pnFindLinearImpact(a.tree, b.tree, &motion, 1, 0, &impact), PN_ERROR_ARGUMENT, "tolerance");
  free(start);
  free(end);
  freePosed(&a);
  freePosed(&b);
  agreeFree(&c);
}

/* ---------------------------------------------------------------- sizes that differ */

/* All pairs of two meshes, by the exact test of two triangles alone. */
static size_t countBrute(const pnMesh *a, const pnMesh *b) {
  size_t count = 0;
  for (uint32_t i = 0; i < pnMesh_GetTriangleCount(a); ++i) {
    for (uint32_t j = 0; j < pnMesh_GetTriangleCount(b); ++j) {
      pnTriangle s, t;
      for (int k = 0; k < 9; ++k) {
        s.v[k / 3][k % 3] = pnMesh_GetVertices(a)[3 * pnMesh_GetTriangles(a)[3 * i + k / 3] + k % 3];
        t.v[k / 3][k % 3] = pnMesh_GetVertices(b)[3 * pnMesh_GetTriangles(b)[3 * j + k / 3] + k % 3];
      }
      count += pnTrianglesMeet(&s, &t);
    }
  }
  return count;
}

/* A small body in a large one, whose nodes are opened alone while they are longer: of any volumes, on any grid, either way round,
 * and fewer pairs of nodes than when all leaves of the small one go down by themselves. */
static void largerSideIsOpened(void **state) {
  (void)state;
  static const float sizes[] = {1.0f, 0.3f, 0.02f};
  static const pnForm volumes[] = {PN_FORM_BOX, PN_FORM_DOP14, PN_FORM_SPHERE};
  for (int i = 0; i < 9; ++i) {
    pnMesh *mesh[2];
    pnPose *pose[2];
    pnTree *tree[2];
    pnPairList *list;
    testExpectOk(pnMakeTorus(10, 4, 60, 40, &mesh[0]));
    testExpectOk(pnMakeIcosphere(2, sizes[i % 3], &mesh[1]));
    pnMatrix m = pnMatrix_Identity();
    m.m[0][3] = 14;
    m.m[1][3] = 0.1f;
    for (int k = 0; k < 2; ++k) {
      pnPoseDef poseDef = pnDefaultPoseDef();
      poseDef.mesh = mesh[k];
      testExpectOk(pnCreatePose(&poseDef, &pose[k]));
      pnTreeDef def = pnDefaultTreeDef();
      pnTreeLab lab = {0};
      def.lab = &lab;
      def.pose = pose[k];
      lab.form = volumes[i / 3];
      testExpectOk(pnCreateTree(&def, &tree[k]));
    }
    testExpectOk(pnPose_SetTransform(pose[1], &m));
    testExpectOk(pnCreatePairList(&list));
    /* the same by vertices that are where the transform puts them */
    uint32_t n = pnMesh_GetVertexCount(mesh[1]);
    float *v = malloc(3 * (size_t)n * sizeof(float));
    for (uint32_t k = 0; k < n; ++k) {
      pnVec3 p = pnPose_GetVertex(pose[1], k);
      v[3 * k] = p.x, v[3 * k + 1] = p.y, v[3 * k + 2] = p.z;
    }
    pnMeshDef movedDef = pnDefaultMeshDef();
    pnMesh *moved;
    movedDef.vertices = v;
    movedDef.vertexCount = n;
    movedDef.triangles = pnMesh_GetTriangles(mesh[1]);
    movedDef.triangleCount = pnMesh_GetTriangleCount(mesh[1]);
    testExpectOk(pnCreateMesh(&movedDef, &moved));
    size_t expected = countBrute(mesh[0], moved);
    assert_true(expected > 0);
    for (int turn = 0; turn < 2; ++turn) {
      pnCost cost = {0};
      testExpectOk(pnCollideTrees(tree[turn], tree[1 - turn], NULL, list, &cost));
      assert_int_equal(pnPairList_GetCount(list), expected);
      assert_true(i / 3 == 2 || cost.nodePairs < 60);
    }
    free(v);
    pnDestroyMesh(moved);
    pnDestroyPairList(list);
    for (int k = 0; k < 2; ++k) {
      pnDestroyTree(tree[k]);
      pnDestroyPose(pose[k]);
      pnDestroyMesh(mesh[k]);
    }
  }
}

/* ---------------------------------------------------------------- broad phase */

/* Sets boxes on a coarse lattice, so that faces touch; `many` of them from anywhere, the others move a little or stay. A few
 * are empty, a few large, one is all there is. */
static void moveBoxes(TestRandom *r, pnBroadBox *boxes, uint32_t count, bool fresh, uint32_t moving) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!fresh && testBelow(r, 100) >= moving) continue;
    pnBox *b = &boxes[i].box;
    for (int k = 0; k < 3; ++k) {
      float step = (float)testBelow(r, 3) - 1;
      step *= testBelow(r, 9) == 0 ? 40 : 1; /* some leap, also out of the place where all are */
      float lo = fresh ? (float)testBelow(r, 100) * 0.25f : (&b->min.x)[k] + step * 0.25f;
      float length = ((float)testBelow(r, 8) - (i % 37 == 0)) * (i % 53 == 0 ? 8.0f : 0.25f);
      (&b->min.x)[k] = lo;
      (&b->max.x)[k] = lo + length;
    }
    boxes[i].category = 1u << testBelow(r, 3);
    boxes[i].mask = testBelow(r, 8);
    if (i == 7) *b = (pnBox){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  }
}

/* Many moves, few, none; bodies that come and go; modes that change in between. */
static void treeOfBoxesAgreesWithAllPairs(void **state) {
  (void)state;
  TestRandom r = testRandom(9);
  enum { COUNT = 700 };
  static pnBroadBox boxes[COUNT];
  static const uint32_t moving[] = {0, 1, 3, 30, 100};
  pnBroadPhase tree = {0}, all = {0};
  uint32_t count = 0;
  size_t found = 0;
  for (int step = 0; step < 300; ++step) {
    bool fresh = step % 60 == 0;
    uint32_t before = count;
    count = fresh ? 1 + testBelow(&r, COUNT / 2) : PN_MIN(COUNT, count + testBelow(&r, 4) * (step % 3 == 0));
    moveBoxes(&r, boxes, count, fresh, moving[step / 7 % 5]);
    moveBoxes(&r, boxes + PN_MIN(before, count), count - PN_MIN(before, count), true, 100);
    assert_true(pn_reserveBroad(&tree, COUNT) && pn_reserveBroad(&all, COUNT));
    for (uint32_t i = 0; i < COUNT; ++i) {
      pn_setBroadBox(&tree, i, i < count ? boxes[i] : pn_emptyBroadBox());
      pn_setBroadBox(&all, i, i < count ? boxes[i] : pn_emptyBroadBox());
    }
    assert_true(pn_findClose(&tree, step % 50 == 49, NULL) && pn_findClose(&all, true, NULL));
    assert_int_equal(tree.pairs.count, all.pairs.count);
    if (all.pairs.count > 0) assert_memory_equal(tree.pairs.data, all.pairs.data, all.pairs.count * sizeof(pnPair));
    found += all.pairs.count;
  }
  assert_true(found > 1000);
  pn_freeBroad(&tree);
  pn_freeBroad(&all);
}

/* All pairs of a crowd, some rows at a time. */
static size_t listCrowd(pnBroadPhase *broad, bool all, const pnTasks *tasks, pnPair *out, size_t most, int *outParts) {
  size_t count = 0;
  *outParts = 0;
  assert_true(pn_findClose(broad, all, tasks));
  for (;; assert_true(pn_findNextClose(broad))) {
    assert_true(count + broad->pairs.count <= most);
    if (broad->pairs.count > 0) memcpy(out + count, broad->pairs.data, broad->pairs.count * sizeof(pnPair));
    count += broad->pairs.count;
    *outParts += 1;
    for (size_t i = 0; i < broad->pairs.count; ++i) assert_true(broad->pairs.data[i].a < pn_closeEnd(broad));
    if (!pn_isCloseLeft(broad)) return count;
  }
}

/* Where there are more pairs than are listed at once, they come in parts, and are the same: after much and little has moved, and
 * when the crowd has gone apart and come together again. */
static void crowdsAreListedInParts(void **state) {
  (void)state;
  TestRandom r = testRandom(29);
  enum { COUNT = 200, MOST = COUNT * COUNT / 2 };
  static pnBroadBox boxes[COUNT];
  static pnPair found[MOST];
  static const uint32_t moving[] = {100, 1, 0, 3};
  pnBroadPhase parts = {.crowd = 64}, whole = {0};
  int crowds = 0;
  assert_true(pn_reserveBroad(&parts, COUNT) && pn_reserveBroad(&whole, COUNT));
  for (int step = 0; step < 400; ++step) {
    moveBoxes(&r, boxes, COUNT, step % 40 == 0, moving[step % 4]);
    bool apart = step % 10 >= 7;
    for (uint32_t i = 0; i < COUNT; ++i) {
      pnBroadBox box = boxes[i];
      if (apart) box.box.min.x += 100 * (float)i, box.box.max.x += 100 * (float)i;
      pn_setBroadBox(&parts, i, box);
      pn_setBroadBox(&whole, i, box);
    }
    int count;
    size_t pairs = listCrowd(&parts, step % 9 == 8, NULL, found, MOST, &count);
    assert_true(pn_findClose(&whole, true, NULL));
    assert_int_equal(pairs, whole.pairs.count);
    if (pairs > 0) assert_memory_equal(found, whole.pairs.data, pairs * sizeof(pnPair));
    assert_true(pairs > 64 ? count > 1 : count == 1);
    crowds += count > 1;
  }
  assert_true(crowds > 100 && crowds < 300);
  pn_freeBroad(&parts);
  pn_freeBroad(&whole);
}

/* Everybody has a turn, on a machine with one processor too. */
static void runByTurns(void *user, pnTaskFcn *task, void *context, uint32_t count, uint32_t grain) {
  (void)user;
  for (uint32_t at = 0, turn = 0; at < count; at += grain, ++turn)
    task(context, at, PN_MIN(at + grain, count), turn % 3);
}

/* Workers share a tree of so many boxes and find the pairs that one finds, where all are in one place and where half of them are far apart.
 * Pairs that together are more than may be, though nobody alone has found so many, come in parts. */
static void manyBoxesAreShared(void **state) {
  (void)state;
  TestRandom r = testRandom(31);
  enum { COUNT = 2500, MOST = 1 << 20 };
  pnBroadBox *boxes = calloc(COUNT, sizeof *boxes);
  pnPair *found = malloc(MOST * sizeof *found);
  pnPool *pool;
  testExpectOk(pnCreatePool(3, &pool));
  const pnTasks tasks[2] = {pnPool_GetTasks(pool), {.workerCount = 3, .parallelFor = runByTurns}};
  pnBroadPhase shared = {0}, few = {0}, whole = {0};
  assert_true(pn_reserveBroad(&shared, COUNT) && pn_reserveBroad(&few, COUNT) && pn_reserveBroad(&whole, COUNT));
  for (int step = 0; step < 12; ++step) {
    moveBoxes(&r, boxes, COUNT, step % 5 == 0, 100);
    for (uint32_t i = 0; i < COUNT; ++i) {
      pnBroadBox box = boxes[i];
      if (step % 4 == 3 && i % 2) box.box.min.x += 100 * (float)i, box.box.max.x += 100 * (float)i;
      pn_setBroadBox(&shared, i, box);
      pn_setBroadBox(&few, i, box);
      pn_setBroadBox(&whole, i, box);
    }
    int parts;
    assert_true(pn_findClose(&whole, true, NULL));
    size_t pairs = whole.pairs.count, bytes = pairs * sizeof(pnPair);
    assert_int_equal(listCrowd(&shared, false, &tasks[step % 2], found, MOST, &parts), pairs);
    assert_int_equal(parts, 1);
    assert_memory_equal(found, whole.pairs.data, bytes);
    few.crowd = (uint32_t)pairs - 1; /* one less than there are; then as many */
    assert_int_equal(listCrowd(&few, false, &tasks[step % 2], found, MOST, &parts), pairs);
    assert_true(parts > 1);
    assert_memory_equal(found, whole.pairs.data, bytes);
    few.crowd = (uint32_t)pairs;
    assert_int_equal(listCrowd(&few, false, &tasks[step % 2], found, MOST, &parts), pairs);
    assert_int_equal(parts, 1);
    assert_memory_equal(found, whole.pairs.data, bytes);
    assert_true(pairs > 100);
  }
  pn_freeBroad(&shared);
  pn_freeBroad(&few);
  pn_freeBroad(&whole);
  pnDestroyPool(pool);
  free(found);
  free(boxes);
}

/* Whether there are too many pairs is asked of how many boxes there are: a hundred thousand that fill space, each beside thirteen that come after
 * it, are none, and 1 500 in one place are, with fewer pairs. */
static void manyBoxesAreNoCrowd(void **state) {
  (void)state;
  enum { SIDE = 45, COUNT = SIDE * SIDE * SIDE, FEW = 1500 };
  for (int few = 0; few < 2; ++few) {
    pnBroadPhase broad = {0};
    uint32_t count = few ? FEW : COUNT;
    assert_true(pn_reserveBroad(&broad, count));
    for (uint32_t i = 0; i < count; ++i) {
      float x = few ? 0 : (float)(i % SIDE), y = few ? 0 : (float)(i / SIDE % SIDE),
            z = few ? 0 : (float)(i / SIDE / SIDE);
      pn_setBroadBox(&broad, i, (pnBroadBox){{{x, y, z}, {x + 1, y + 1, z + 1}}, 1, 1});
    }
    assert_true(pn_findClose(&broad, false, NULL));
    assert_int_equal(broad.isCrowd, few);
    assert_true(few || broad.pairs.count > 11 * COUNT);
    pn_freeBroad(&broad);
  }
}

/* A frame that compares all boxes leaves the tree behind: the next one with few changes does not look into the old one. */
static void treesEndWithFramesWithoutThem(void **state) {
  (void)state;
  enum { COUNT = 200 };
  pnBroadPhase broad = {0};
  assert_true(pn_reserveBroad(&broad, COUNT));
  for (uint32_t i = 0; i < COUNT; ++i) {
    float x = 2 * (float)i;
    pn_setBroadBox(&broad, i, (pnBroadBox){{{x, 0, 0}, {x + 1, 1, 1}}, 1, 1});
  }
  assert_true(pn_findClose(&broad, false, NULL));
  assert_int_equal(broad.pairs.count, 0);
  assert_true(broad.levelCount > 0);
  /* one goes where nobody is, without the tree; then another one goes there, with it */
  pnBroadBox far = {{{-9, 0, 0}, {-8, 1, 1}}, 1, 1};
  pn_setBroadBox(&broad, 150, far);
  assert_true(pn_findClose(&broad, true, NULL));
  pn_setBroadBox(&broad, 20, far);
  assert_true(pn_findClose(&broad, false, NULL));
  assert_int_equal(broad.pairs.count, 1);
  assert_true(broad.pairs.data[0].a == 20 && broad.pairs.data[0].b == 150);
  pn_freeBroad(&broad);
}

/* What the brute force compares is what closed boxes are: touching counts, and masks must agree on both sides. */
static void closeIsClosed(void **state) {
  (void)state;
  pnBroadPhase broad = {0};
  assert_true(pn_reserveBroad(&broad, 4));
  pnBroadBox unit = {{{0, 0, 0}, {1, 1, 1}}, 1, 1}, beside = {{{1, 1, 1}, {2, 2, 2}}, 1, 1}, shy = {unit.box, 1, 2};
  pnBroadBox apart = {{{nextafterf(1, 2), 0, 0}, {2, 1, 1}}, 1, 1};
  pnBroadBox four[4] = {unit, beside, shy, apart};
  for (int all = 0; all < 2; ++all) {
    for (uint32_t i = 0; i < 4; ++i) {
      pn_setBroadBox(&broad, i, pn_emptyBroadBox());
      pn_setBroadBox(&broad, i, four[i]);
    }
    assert_true(pn_findClose(&broad, all, NULL));
    assert_int_equal(broad.pairs.count, 2); /* unit and beside, beside and apart */
    assert_true(broad.pairs.data[0].a == 0 && broad.pairs.data[0].b == 1);
    assert_true(broad.pairs.data[1].a == 1 && broad.pairs.data[1].b == 3);
  }
  pn_freeBroad(&broad);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ringsLeaveOutWhatIsNear),
                                     cmocka_unit_test(groupsAndRestPairsAreLeftOut),
                                     cmocka_unit_test(openedSeamIsNotShared),
                                     cmocka_unit_test(kernelsAgreeAndCostsAreHonest),
                                     cmocka_unit_test(fewAndManyPairsAreInOrder),
                                     cmocka_unit_test(refusalsSayWhy),
                                     cmocka_unit_test(qualityFallsAndRebuildMends),
                                     cmocka_unit_test(impactIsBracketed),
                                     cmocka_unit_test(treeOfBoxesAgreesWithAllPairs),
                                     cmocka_unit_test(closeIsClosed),
                                     cmocka_unit_test(crowdsAreListedInParts),
                                     cmocka_unit_test(largerSideIsOpened),
                                     cmocka_unit_test(treesEndWithFramesWithoutThem),
                                     cmocka_unit_test(manyBoxesAreShared),
                                     cmocka_unit_test(manyBoxesAreNoCrowd)};
  return cmocka_run_group_tests(tests, oracleSetUp, oracleTearDown);
}
