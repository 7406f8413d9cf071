/* test_soup_names.c: soups whose corners have names. A self query finds what whole numbers find on every pair of primitives, neighbours
 * only where they meet in more than the vertices they share, for every method, after moves, cuts, fuses and whatever else;
 * and a closed surface that is cut to pieces does not meet itself. */
#include "support.h"

#include "oracle.h"
#include "pinch/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the truth */

typedef struct Pairs {
  pnPair *data;
  size_t count;
  size_t neighbours; /* of them share something */
  pnPair *others;    /* those that share nothing */
} Pairs;

typedef struct Seen {
  bool alive;
  pnTriangle t;
  uint32_t names[3];
} Seen;

static Seen see(const pnSoup *soup, uint32_t place) {
  Seen s;
  float p[9];
  pnPrimitiveId id = pnSoup_GetId(soup, place);
  s.alive = pnSoup_GetCorners(soup, id, p) != 0;
  assert_int_equal(pnSoup_GetVertexNames(soup, id, s.names), s.alive);
  if (s.alive) memcpy(s.t.v, p, sizeof p);
  return s;
}

/* What two primitives share: corners with one name at one place. By words of the header, not by code of the library. */
static pnSharedCorners sharedBy(const Seen *s, const Seen *t) {
  pnSharedCorners shared = {0};
  bool used[3] = {false};
  for (uint8_t i = 0; i < 3; ++i)
    for (uint8_t j = 0; j < 3; ++j) {
      bool one = s->names[i] != PN_NONE && s->names[i] == t->names[j] && !used[j];
      for (int k = 0; k < 3; ++k) one = one && s->t.v[i][k] == t->t.v[j][k];
      if (!one) continue;
      used[j] = true;
      shared.a[shared.count] = i;
      shared.b[shared.count++] = j;
      break;
    }
  return shared;
}

static bool boxesTouch(const pnTriangle *s, const pnTriangle *t) {
  bool touch = true;
  for (int k = 0; k < 3; ++k) {
    float sl = fminf(s->v[0][k], fminf(s->v[1][k], s->v[2][k])), sh = fmaxf(s->v[0][k], fmaxf(s->v[1][k], s->v[2][k]));
    float tl = fminf(t->v[0][k], fminf(t->v[1][k], t->v[2][k])), th = fmaxf(t->v[0][k], fmaxf(t->v[1][k], t->v[2][k]));
    touch = touch && sl <= th && tl <= sh;
  }
  return touch;
}

static Pairs truthOf(const pnSoup *soup) {
  Pairs out = {0};
  uint32_t places = pnSoup_GetPlaceCount(soup);
  size_t room = 0;
  Seen *seen = malloc((places + 1) * sizeof *seen);
  for (uint32_t i = 0; i < places; ++i) seen[i] = see(soup, i);
  for (uint32_t i = 0; i < places; ++i)
    for (uint32_t j = i + 1; j < places; ++j) {
      if (!seen[i].alive || !seen[j].alive || !boxesTouch(&seen[i].t, &seen[j].t)) continue;
      pnSharedCorners shared = sharedBy(&seen[i], &seen[j]);
      oracleIntersect(&seen[i].t, &seen[j].t);
      if (!oracleMeetBeyond(shared)) continue;
      if (out.count == room) {
        room = 2 * room + 64;
        out.data = realloc(out.data, room * sizeof(pnPair));
        out.others = realloc(out.others, room * sizeof(pnPair));
      }
      if (shared.count == 0) out.others[out.count - out.neighbours] = (pnPair){i, j};
      out.data[out.count++] = (pnPair){i, j};
      out.neighbours += shared.count > 0;
    }
  free(seen);
  return out;
}

/* ---------------------------------------------------------------- asking */

static pnPool *s_pool;

static pnTree *treeOf(const pnSoup *soup, uint32_t method) {
  pnBucketDef def = pnDefaultBucketDef();
  def.soup = soup;
  def.lab = &(pnTreeLab){.method = (pnBucketMethod)method};
  pnTree *tree;
  testExpectOk(pnCreateBucketTree(&def, &tree));
  return tree;
}

static void expectSelf(pnTree *tree, const Pairs *truth, pnPairList *list) {
  for (int way = 0; way < 3 + PN_KERNEL_COUNT; ++way) {
    pnQueryDef def = pnDefaultQueryDef();
    pnQueryLab lab = {.kernel = way > 2 ? (pnKernel)(way - 3) : PN_KERNEL_DEFAULT};
    def.lab = &lab;
    def.tasks = way == 1 ? pnPool_GetTasks(s_pool) : (pnTasks){0};
    def.first = way == 2;
    pnCost cost;
    testExpectOk(pnCollideSelf(tree, &def, list, &cost));
    size_t count = def.first ? truth->count > 0 : truth->count;
    if (pnPairList_GetCount(list) != count)
      fail_msg("way %d: %zu pairs, %zu are true", way, pnPairList_GetCount(list), count);
    assert_int_equal(cost.pairs, count);
    if (!def.first && count > 0) assert_memory_equal(pnPairList_GetPairs(list), truth->data, count * sizeof(pnPair));
  }
  /* one ring left out: what shares a vertex */
  pnQueryDef ring = pnDefaultQueryDef();
  ring.filter.ring = 1;
  size_t others = truth->count - truth->neighbours;
  testExpectOk(pnCollideSelf(tree, &ring, list, NULL));
  assert_int_equal(pnPairList_GetCount(list), others);
  if (others > 0) assert_memory_equal(pnPairList_GetPairs(list), truth->others, others * sizeof(pnPair));
  ring.first = true;
  testExpectOk(pnCollideSelf(tree, &ring, list, NULL));
  assert_int_equal(pnPairList_GetCount(list), others > 0);
  /* counted without a list, and by hints: right ones are taken, wrong ones are not */
  pnCost cost;
  testExpectOk(pnCollideSelf(tree, NULL, NULL, &cost));
  assert_int_equal(cost.pairs, truth->count);
  uint32_t places = pnMesh_GetTriangleCount(pnPose_GetMesh(pnTree_GetPose(tree)));
  size_t at = 0;
  for (uint32_t i = 0; i + 1 < places && truth->count > 0; i += 5) {
    pnPair hint = {i, i + 1}, got;
    while (at < truth->count && (truth->data[at].a < i || (truth->data[at].a == i && truth->data[at].b < i + 1))) ++at;
    bool isTrue = at < truth->count && truth->data[at].a == i && truth->data[at].b == i + 1;
    pnQueryDef def = {.first = true, .hint = &hint};
    testExpectOk(pnCollideSelf(tree, &def, list, NULL));
    got = *pnPairList_GetPairs(list);
    assert_int_equal(got.a == hint.a && got.b == hint.b && isTrue, isTrue);
    bool listed = false;
    for (size_t k = 0; k < truth->count; ++k)
      listed = listed || (truth->data[k].a == got.a && truth->data[k].b == got.b);
    assert_true(listed);
  }
}

/* The soup of a mesh, with its vertices for names from `first` on, or without any. */
static void addMesh(pnSoup *soup, const pnMesh *mesh, const float *positions, uint32_t first, bool named) {
  uint32_t count = pnMesh_GetTriangleCount(mesh);
  float *corners = malloc((9 * (size_t)count + 1) * sizeof(float));
  uint32_t *names = malloc((3 * (size_t)count + 1) * sizeof(uint32_t));
  pnPrimitiveId *ids = malloc((count + 1) * sizeof *ids);
  for (uint32_t i = 0; i < 3 * count; ++i) {
    uint32_t v = pnMesh_GetTriangles(mesh)[i];
    memcpy(corners + 3 * (size_t)i, positions + 3 * (size_t)v, 3 * sizeof(float));
    names[i] = first + v;
  }
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, count, ids));
  if (named) testExpectOk(pnSoup_NameVertices(soup, ids, names, count));
  free(corners);
  free(names);
  free(ids);
}

static pnSoup *newSoup(void) {
  pnSoup *soup;
  testExpectOk(pnCreateSoup(NULL, &soup));
  return soup;
}

/* Cuts everything that is there by one plane. */
static void cutAll(pnSoup *soup, const pnPlane *plane) {
  uint32_t places = pnSoup_GetPlaceCount(soup);
  pnPrimitiveId *ids = malloc((places + 1) * sizeof *ids);
  for (uint32_t i = 0; i < places; ++i) ids[i] = pnSoup_GetId(soup, i);
  pnCut cut;
  for (uint32_t i = 0; i < places; ++i)
    if (ids[i].index1) testExpectOk(pnSoup_Cut(soup, ids[i], plane, &cut));
  free(ids);
}

/* ---------------------------------------------------------------- closed surfaces */

static size_t selfCount(pnSoup *soup, uint32_t method) {
  pnTree *tree = treeOf(soup, method);
  pnCost cost;
  testExpectOk(pnCollideSelf(tree, NULL, NULL, &cost));
  pnDestroyTree(tree);
  return cost.pairs;
}

/* The case of the paper: as a soup every two neighbours are a pair; with names a ball does not meet itself, whole or cut. */
static void ballsDoNotMeetThemselves(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(4, 1, &mesh));
  assert_int_equal(pnMesh_GetTriangleCount(mesh), 5120);
  for (int named = 0; named < 2; ++named) {
    pnSoup *soup = newSoup();
    addMesh(soup, mesh, pnMesh_GetVertices(mesh), 0, named);
    const pnPlane planes[] = {{{0, 0, 1}, 0.1f}, {{0.3f, 1, 0.2f}, -0.21f}, {{1, 0, 0}, 0}};
    for (int cuts = 0; cuts <= 3; ++cuts) {
      if (cuts > 0) cutAll(soup, &planes[cuts - 1]);
      size_t kept = selfCount(soup, PN_BUCKET_DEFAULT);
      if (named) assert_int_equal(kept, 0);
      else assert_true(cuts == 0 ? kept == 30690 : kept > 31000);
      for (uint32_t method = 1; cuts % 2 == 1 && method < PN_BUCKET_COUNT; ++method)
        assert_int_equal(selfCount(soup, method), kept);
    }
    pnDestroySoup(soup);
  }
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

/* ---------------------------------------------------------------- everything at once */

/* One change of a soup. */
static void change(TestRandom *r, pnSoup *soup, pnSoup *spare, const pnMesh *mesh) {
  uint32_t places = pnSoup_GetPlaceCount(soup), what = testBelow(r, 8);
  pnPrimitiveId id = places ? pnSoup_GetId(soup, testBelow(r, places)) : (pnPrimitiveId){0};
  float p[9];
  uint32_t kind = pnSoup_GetCorners(soup, id, p);
  pnCut cut;
  pnPlane plane = {{testFloat(r, -1, 1), testFloat(r, -1, 1), testFloat(r, -1, 1)}, testFloat(r, -0.3f, 0.3f)};
  if (what == 0) {
    cutAll(soup, &plane);
  } else if (what == 1 && kind) {
    testExpectOk(pnSoup_Cut(soup, id, &plane, &cut)); /* alone: its neighbours keep the edge whole */
  } else if (what == 2 && kind) {
    for (uint32_t k = 0; k < 3 * kind; ++k) p[k] += testFloat(r, -0.2f, 0.2f);
    testExpectOk(pnSoup_Replace(soup, &id, (pnPrimitiveKind)kind, p, 1)); /* leaves its neighbours */
  } else if (what == 3 && kind) {
    testExpectOk(pnSoup_Remove(soup, &id, 1));
  } else if (what == 4) {
    addMesh(spare, mesh, pnMesh_GetVertices(mesh), 0, testBelow(r, 4) > 0);
    if (testBelow(r, 2)) cutAll(spare, &plane);
    testExpectOk(pnSoup_Fuse(soup, spare, NULL));
  } else if (what == 5 && kind) {
    /* segments and points along it, with its names and with others */
    uint32_t names[9];
    pnPrimitiveId ids[3];
    assert_true(pnSoup_GetVertexNames(soup, id, names));
    memcpy(names + 3, names, 3 * sizeof *names);
    names[4] = testBelow(r, 50);
    names[6] = names[0] < (1u << 30) ? names[0] : 7, names[7] = names[8] = PN_NONE;
    for (int k = 0; k < 6; ++k) names[k] = names[k] < (1u << 30) ? names[k] : PN_NONE;
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_SEGMENT, p, 1, &ids[0]));
    p[3] += 0.3f;
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_SEGMENT, p, 1, &ids[1]));
    testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_POINT, p, 1, &ids[2]));
    testExpectOk(pnSoup_NameVertices(soup, ids, names, 3));
  } else if (places) {
    /* everything moves by a map of the place it has, so that what was one vertex stays one */
    float *all = calloc(9 * (size_t)places, sizeof(float)), a = testFloat(r, -0.7f, 0.7f), b = testFloat(r, 2, 6);
    for (uint32_t i = 0; i < places; ++i) {
      pnSoup_GetCorners(soup, pnSoup_GetId(soup, i), all + 9 * (size_t)i);
      for (int k = 0; k < 3; ++k) {
        float *v = all + 9 * (size_t)i + 3 * k;
        v[0] += a * sinf(b * v[1]), v[1] += 0.5f * a * sinf(b * v[2]), v[2] -= a * sinf(b * v[0]);
      }
    }
    testExpectOk(pnSoup_SetAll(soup, all, places));
    free(all);
  }
}

static void soupsAgree(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 0.5f, &mesh));
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  size_t pairs = 0, neighbours = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    TestRandom r = testRandom(seed);
    pnSoup *soup = newSoup(), *spare = newSoup();
    addMesh(soup, mesh, pnMesh_GetVertices(mesh), 0, true);
    pnTree *trees[PN_BUCKET_COUNT];
    for (uint32_t m = 0; m < PN_BUCKET_COUNT; ++m) trees[m] = treeOf(soup, m);
    for (int step = 0; step < 10 && pnSoup_GetCount(soup) < 500; ++step) {
      change(&r, soup, spare, mesh);
      Pairs truth = truthOf(soup);
      for (uint32_t m = 0; m < PN_BUCKET_COUNT; ++m) expectSelf(trees[m], &truth, list);
      testExpectOk(pnCollideBrute(pnSoup_GetPose(soup), pnSoup_GetPose(soup), NULL, list));
      pairs += truth.count;
      neighbours += truth.neighbours;
      free(truth.data);
      free(truth.others);
    }
    for (uint32_t m = 0; m < PN_BUCKET_COUNT; ++m) pnDestroyTree(trees[m]);
    pnDestroySoup(soup);
    pnDestroySoup(spare);
  }
  assert_true(pairs > 5000 && neighbours > 500); /* there was something to find, among neighbours too */
  pnDestroyPairList(list);
  pnDestroyMesh(mesh);
}

/* ---------------------------------------------------------------- how names are handed on */

/* Two triangles with an edge in common and one beside them. */
static void namesAreHandedOn(void **state) {
  (void)state;
  pnSoup *soup = newSoup();
  const float corners[27] = {0, 0, 0, 1, 0, 0, 0, 1, 0, /**/ 1, 0, 0, 1, 1, 0, 0, 1, 0, /**/ 1, 0, 0, 2, 0, 1, 1, 0, 1};
  const uint32_t names[9] = {10, 11, 12, 11, 13, 12, PN_NONE, PN_NONE, PN_NONE};
  pnPrimitiveId ids[3];
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 3, ids));
  testExpectOk(pnSoup_NameVertices(soup, ids, names, 3));
  pnCut cut[2];
  const pnPlane plane = {{1, 0, 0}, 0.5f};
  for (int i = 0; i < 2; ++i) testExpectOk(pnSoup_Cut(soup, ids[i], &plane, &cut[i]));
  /* the first: corner 1 (name 11) alone above; the second: corner 2 (name 12) alone below. Edge 11-12 is theirs. */
  uint32_t a[3], b[3], common = 0, fresh = PN_NONE;
  assert_true(cut[0].aboveCount == 1 && cut[1].belowCount == 1);
  assert_true(pnSoup_GetVertexNames(soup, cut[0].above[0], a) && pnSoup_GetVertexNames(soup, cut[1].below[0], b));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (a[i] == b[j]) ++common, fresh = a[i];
  assert_int_equal(common, 1);
  assert_true(fresh != PN_NONE && fresh > 13);
  /* a piece that is made without names gets none, and a dead one has none */
  assert_true(pnSoup_GetVertexNames(soup, ids[2], a));
  assert_true(a[0] == PN_NONE && a[1] == PN_NONE && a[2] == PN_NONE);
  assert_false(pnSoup_GetVertexNames(soup, ids[0], a));
  assert_int_equal(a[0], PN_NONE);
  assert_int_equal(selfCount(soup, PN_BUCKET_DEFAULT), 2); /* the third touches two pieces at (1, 0, 0) */
  /* the place of a removed one is taken by somebody who knows nobody */
  testExpectOk(pnSoup_Remove(soup, &cut[0].above[0], 1));
  pnPrimitiveId next;
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 1, &next));
  assert_int_equal(next.index1, cut[0].above[0].index1);
  assert_true(pnSoup_GetVertexNames(soup, next, a) && a[0] == PN_NONE);
  /* replaced by its kind: names stay; by another: they go */
  testExpectOk(pnSoup_NameVertices(soup, &next, names, 1));
  testExpectOk(pnSoup_Replace(soup, &next, PN_PRIMITIVE_TRIANGLE, corners + 9, 1));
  assert_true(pnSoup_GetVertexNames(soup, next, a) && a[0] == 10 && a[2] == 12);
  testExpectOk(pnSoup_Replace(soup, &next, PN_PRIMITIVE_SEGMENT, corners, 1));
  assert_true(pnSoup_GetVertexNames(soup, next, a) && a[0] == PN_NONE && a[2] == PN_NONE);
  pnDestroySoup(soup);
  assert_int_equal(pnGetByteCount(), 0);
}

/* An edge that two have and that is cut in two places has two new vertices, also when they are moved to one place later. */
static void otherPlacesAreOtherVertices(void **state) {
  (void)state;
  pnSoup *soup = newSoup();
  const float corners[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, /**/ 1, 0, 0, 1, 1, 0, 0, 1, 0};
  const uint32_t names[6] = {0, 1, 2, 1, 3, 2};
  pnPrimitiveId ids[2];
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 2, ids));
  testExpectOk(pnSoup_NameVertices(soup, ids, names, 2));
  pnCut cut[2];
  testExpectOk(pnSoup_Cut(soup, ids[0], &(pnPlane){{1, 0, 0}, 0.5f}, &cut[0]));
  testExpectOk(pnSoup_Cut(soup, ids[1], &(pnPlane){{1, 0, 0}, 0.25f}, &cut[1]));
  uint32_t a[3], b[3];
  assert_true(pnSoup_GetVertexNames(soup, cut[0].above[0], a) && pnSoup_GetVertexNames(soup, cut[1].below[0], b));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) assert_true(a[i] != b[j]);
  pnDestroySoup(soup);
  /* where one corner has a name its pieces know each other by all of theirs */
  soup = newSoup();
  const uint32_t one[3] = {5, PN_NONE, PN_NONE};
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 1, ids));
  testExpectOk(pnSoup_NameVertices(soup, ids, one, 1));
  testExpectOk(pnSoup_Cut(soup, ids[0], &(pnPlane){{1, 0, 0}, 0.5f}, &cut[0]));
  assert_true(pnSoup_GetCount(soup) == 3 && selfCount(soup, 0) == 0);
  pnDestroySoup(soup);
}

/* Fused halves of a ball: each knows its own, and the two meet along the seam, where nobody said that they are one. A cut that one
 * half began goes on after the fuse. */
static void fusedSoupsKnowTheirOwn(void **state) {
  (void)state;
  const float square[36] = {0, 0, 0, 1, 0, 0, 1, 1, 0, /**/ 0, 0, 0, 1, 1, 0, 0, 1, 0,
                            1, 0, 0, 2, 0, 0, 2, 1, 0, /**/ 1, 0, 0, 2, 1, 0, 1, 1, 0};
  const uint32_t names[6] = {0, 1, 2, 0, 2, 3};
  pnSoup *into = newSoup(), *from = newSoup();
  pnPrimitiveId ids[2], moved[2];
  testExpectOk(pnSoup_Add(into, PN_PRIMITIVE_TRIANGLE, square, 2, ids));
  testExpectOk(pnSoup_NameVertices(into, ids, names, 2));
  testExpectOk(pnSoup_Add(from, PN_PRIMITIVE_TRIANGLE, square + 18, 2, ids));
  testExpectOk(pnSoup_NameVertices(from, ids, names, 2));
  assert_true(selfCount(into, 0) == 0 && selfCount(from, 0) == 0);
  const pnPlane plane = {{0, 1, 0}, 0.5f};
  pnCut cut;
  testExpectOk(pnSoup_Cut(from, ids[0], &plane, &cut));
  pnPrimitiveId all[8];
  uint32_t places = pnSoup_GetPlaceCount(from);
  assert_true(places <= 8);
  for (uint32_t i = 0; i < 2; ++i) moved[i] = ids[i];
  testExpectOk(pnSoup_Fuse(into, from, all));
  assert_int_equal(pnSoup_GetCount(from), 0);
  moved[1] = all[ids[1].index1 - 1];
  testExpectOk(pnSoup_Cut(into, moved[1], &plane, &cut));
  pnTree *tree = treeOf(into, PN_BUCKET_DEFAULT);
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  Pairs truth = truthOf(into);
  expectSelf(tree, &truth, list);
  /* only across the seam at x = 1: the right square does not meet itself, and three of its pieces touch the left one */
  for (size_t i = 0; i < truth.count; ++i) assert_true(truth.data[i].a < 2 && truth.data[i].b >= 2);
  assert_true(truth.count > 0);
  free(truth.data);
  free(truth.others);
  pnDestroyPairList(list);
  pnDestroyTree(tree);
  pnDestroySoup(into);
  pnDestroySoup(from);
}

/* A seam of minus and plus zero is closed, and stays closed when it is cut. */
static void zerosAreOneZero(void **state) {
  (void)state;
  pnSoup *soup = newSoup();
  const float corners[18] = {0, -1, 0, 0, 1, 0, -1, 0, 0, /**/ -0.0f, 1, -0.0f, -0.0f, -1, -0.0f, 1, 0, 0};
  const uint32_t names[6] = {0, 1, 2, 1, 0, 3};
  pnPrimitiveId ids[2];
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 2, ids));
  testExpectOk(pnSoup_NameVertices(soup, ids, names, 2));
  assert_int_equal(selfCount(soup, 0), 0);
  const pnPlane plane = {{0, 1, 0}, 0.25f};
  cutAll(soup, &plane);
  assert_int_equal(pnSoup_GetCount(soup), 6);
  assert_int_equal(selfCount(soup, 0), 0);
  pnDestroySoup(soup);
}

/* ---------------------------------------------------------------- worlds, errors, memory */

static void worldsKnowThem(void **state) {
  (void)state;
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(2, 1, &mesh));
  pnSoup *soup = newSoup();
  addMesh(soup, mesh, pnMesh_GetVertices(mesh), 0, true);
  pnWorld *world;
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_SOUP;
  def.soup = soup;
  def.self = true;
  pnBodyId body;
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  assert_int_equal(pnWorld_Collide(world, NULL).pairCount, 0);
  cutAll(soup, &(pnPlane){{0, 0.2f, 1}, 0.1f});
  assert_int_equal(pnWorld_Collide(world, NULL).pairCount, 0);
  assert_int_equal(pnWorld_Collide(world, &(pnFrameDef){.first = true}).pairCount, 0);
  /* a name that goes is seen by the next frame, though nothing moves */
  pnPrimitiveId id = pnSoup_GetId(soup, 3);
  const uint32_t none[3] = {PN_NONE, PN_NONE, PN_NONE};
  testExpectOk(pnSoup_NameVertices(soup, &id, none, 1));
  assert_true(pnWorld_Collide(world, NULL).pairCount >= 10);
  /* a world leaves a ring out, too: two balls as one soup meet, and no neighbours are among that */
  pnSoup *two = newSoup();
  addMesh(two, mesh, pnMesh_GetVertices(mesh), 0, true);
  float *moved = malloc(3 * sizeof(float) * pnMesh_GetVertexCount(mesh));
  for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(mesh); ++i)
    moved[i] = pnMesh_GetVertices(mesh)[i] * (i % 7 ? 1 : -0.5f);
  addMesh(two, mesh, moved, pnMesh_GetVertexCount(mesh), true);
  free(moved);
  oracleOpen();
  Pairs truth = truthOf(two);
  oracleClose();
  assert_true(truth.neighbours > 0 && truth.count > truth.neighbours);
  def.soup = two;
  def.selfFilter.ring = 1;
  def.category = 2, def.mask = 2;
  testExpectOk(pnWorld_DestroyBody(world, body));
  testExpectOk(pnWorld_CreateBody(world, &def, &body));
  assert_int_equal(pnWorld_Collide(world, NULL).pairCount, truth.count - truth.neighbours);
  free(truth.data);
  free(truth.others);
  pnDestroyWorld(world);
  pnDestroySoup(two);
  pnDestroySoup(soup);
  pnDestroyMesh(mesh);
  assert_int_equal(pnGetByteCount(), 0);
}

static void mistakesChangeNothing(void **state) {
  (void)state;
  pnSoup *soup = newSoup(), *other = newSoup();
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  pnPrimitiveId ids[2];
  testExpectOk(pnSoup_Add(soup, PN_PRIMITIVE_TRIANGLE, corners, 1, ids));
  testExpectOk(pnSoup_Add(other, PN_PRIMITIVE_TRIANGLE, corners, 1, &ids[1]));
  size_t bytes = pnGetByteCount();
  uint32_t names[6] = {1, 2, 1u << 30, 4, 5, 6};
  testExpectFailure(pnSoup_NameVertices(soup, ids, names, 1), PN_ERROR_INDEX, "corner 2 of entry 0");
  names[2] = 3;
  ids[1].generation = 9;
  testExpectFailure(pnSoup_NameVertices(soup, ids, names, 2), PN_ERROR_ID, "entry 1");
  uint32_t seen[3];
  assert_true(pnSoup_GetVertexNames(soup, ids[0], seen) && seen[0] == PN_NONE);
  assert_int_equal(pnGetByteCount(), bytes);
  /* names up to the largest; then fusing has no room for a second time */
  names[2] = (1u << 30) - 1;
  testExpectOk(pnSoup_NameVertices(soup, ids, names, 1));
  for (int i = 0; i < 2; ++i) {
    pnPrimitiveId id;
    testExpectOk(pnSoup_Add(other, PN_PRIMITIVE_TRIANGLE, corners, 1, &id));
    testExpectOk(pnSoup_NameVertices(other, &id, names, 1));
    if (i == 0) testExpectOk(pnSoup_Fuse(soup, other, NULL));
  }
  uint32_t count = pnSoup_GetCount(soup);
  testExpectFailure(pnSoup_Fuse(soup, other, NULL), PN_ERROR_COUNT, "fuse|names");
  pnCut cut;
  testExpectFailure(pnSoup_Cut(soup, ids[0], &(pnPlane){{1, 0, 0}, 0.5f}, &cut), PN_ERROR_COUNT, "cut|names");
  assert_true(pnSoup_GetCount(soup) == count && pnSoup_GetCount(other) == 1);
  pnDestroySoup(soup);
  pnDestroySoup(other);
  assert_int_equal(pnGetByteCount(), 0);
}

static pnResult cutAndFuse(void *context) {
  (void)context;
  pnMesh *mesh;
  pnSoup *soup[2] = {NULL, NULL};
  float corners[9];
  pnResult result = pnMakeIcosphere(2, 1, &mesh);
  for (int s = 0; s < 2 && result == PN_OK; ++s) {
    result = pnCreateSoup(NULL, &soup[s]);
    for (uint32_t t = 0; result == PN_OK && t < pnMesh_GetTriangleCount(mesh); ++t) {
      const uint32_t *v = pnMesh_GetTriangles(mesh) + 3 * (size_t)t;
      for (int k = 0; k < 3; ++k)
        memcpy(corners + 3 * k, pnMesh_GetVertices(mesh) + 3 * (size_t)v[k], 3 * sizeof(float));
      pnPrimitiveId id;
      result = pnSoup_Add(soup[s], PN_PRIMITIVE_TRIANGLE, corners, 1, &id);
      if (result == PN_OK) result = pnSoup_NameVertices(soup[s], &id, v, 1);
    }
  }
  uint32_t whole = result == PN_OK ? pnSoup_GetPlaceCount(soup[1]) : 0;
  for (uint32_t i = 0; result == PN_OK && i < whole; ++i) {
    pnCut cut;
    uint32_t before = pnSoup_GetCount(soup[1]);
    result = pnSoup_Cut(soup[1], pnSoup_GetId(soup[1], i), &(pnPlane){{1, 0.1f, 0}, 0.05f}, &cut);
    assert_true(result == PN_OK || pnSoup_GetCount(soup[1]) == before);
  }
  if (result == PN_OK) {
    result = pnSoup_Fuse(soup[0], soup[1], NULL);
    assert_true(result != PN_OK || pnSoup_GetCount(soup[1]) == 0);
  }
  for (int s = 0; s < 2; ++s) pnDestroySoup(soup[s]);
  pnDestroyMesh(mesh);
  return result;
}

static void memoryRunsOut(void **state) {
  (void)state;
  assert_true(testEveryAllocationFailure(cutAndFuse, NULL, false, true) > 20);
}

static int openAll(void **state) {
  oracleOpen();
  (void)state;
  return pnCreatePool(3, &s_pool) == PN_OK ? 0 : -1;
}

static int closeAll(void **state) {
  (void)state;
  pnDestroyPool(s_pool);
  oracleClose();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ballsDoNotMeetThemselves),
      cmocka_unit_test_setup_teardown(soupsAgree, openAll, closeAll),
      cmocka_unit_test(namesAreHandedOn),
      cmocka_unit_test(otherPlacesAreOtherVertices),
      cmocka_unit_test_setup_teardown(fusedSoupsKnowTheirOwn, openAll, closeAll),
      cmocka_unit_test(zerosAreOneZero),
      cmocka_unit_test(worldsKnowThem),
      cmocka_unit_test(mistakesChangeNothing),
      cmocka_unit_test(memoryRunsOut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
