/* test_tree_box.c: the loops of boxes (tree/form_box.h), each width against plain loops over the same numbers: boxes of lists of every
 * length, lanes of lists and of corners, and what is not a number. Lists and vertices have no room behind them, so that a sanitizer
 * sees who reads too far. */
#include "support.h"

#include "tree/form.h"
#include "tree/form_box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERTICES 97u
#define LONGEST 40u

static TestRandom dice;
static const pnBoxLoops *s_loops[2] = {&pn_boxLoops4};
static uint32_t s_loopCount = 1;

/* Around the grid's middle, on the borders of cells too; a quarter of a cell or so for each step. */
static float coordinate(void) {
  float x = testFloat(&dice, -4000, 4000);
  return testBelow(&dice, 3) == 0 ? 0.0f : testBelow(&dice, 3) == 0 ? -1e-40f : testBelow(&dice, 2) ? floorf(x) : x;
}

/* Three floats a vertex and the one behind the last that may be read; nobody's number is not one. */
static float *makeVertices(void) {
  float *v = malloc((3 * VERTICES + 1) * sizeof(float));
  for (uint32_t i = 0; i < 3 * VERTICES; ++i) v[i] = coordinate();
  v[3 * VERTICES] = NAN;
  return v;
}

/* Lists hold three times a vertex's number (tree.h). */
static uint32_t *makeList(uint32_t count) {
  uint32_t *list = malloc(count * sizeof(uint32_t));
  for (uint32_t i = 0; i < count; ++i) list[i] = 3 * testBelow(&dice, VERTICES);
  return list;
}

static pnGrid makeGrid(void) {
  pnGrid g = {.exponent = 1, .lift = 1, .cell = 0.5};
  for (int d = 0; d < 3; ++d) {
    g.scale[d] = 2;
    g.offset[d] = 24576 * ((int32_t)testBelow(&dice, 3) - 1);
  }
  return g;
}

/* What every loop has to say of listed vertices. */
static void plainBox(const float *v, const uint32_t *list, uint32_t count, float lo[3], float hi[3]) {
  for (int k = 0; k < 3; ++k) {
    lo[k] = hi[k] = v[list[0] + k];
    for (uint32_t i = 1; i < count; ++i) {
      lo[k] = fminf(lo[k], v[list[i] + k]);
      hi[k] = fmaxf(hi[k], v[list[i] + k]);
    }
  }
}

static int16_t plainCell(const pnGrid *g, int d, float x) {
  int64_t cell = (int64_t)floor((double)x * g->scale[d]) - g->offset[d];
  return (int16_t)PN_MAX(-32768, PN_MIN(32767, cell));
}

static void boxesOfLists(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 20; ++round) {
    float *v = makeVertices();
    for (uint32_t count = 1; count <= LONGEST; ++count) {
      uint32_t *list = makeList(count + 8);
      for (uint32_t i = 0; i < s_loopCount; ++i) {
        /* the list goes on for as many as are asked for in advance, and no further */
        uint32_t ahead = round % 2 ? 0 : testBelow(&dice, 9);
        uint32_t *own = malloc((count + ahead) * sizeof(uint32_t));
        memcpy(own, list, (count + ahead) * sizeof(uint32_t));
        float lo[3], hi[3], box[8];
        plainBox(v, own, count, lo, hi);
        s_loops[i]->ofList(v, own, own + count, ahead, box);
        for (int k = 0; k < 3; ++k) assert_true(box[k] == lo[k] && box[4 + k] == hi[k]);
        free(own);
      }
      free(list);
    }
    free(v);
  }
}

/* Wherever in a list it stands; in the other coordinates nothing changes. */
static void whatIsNoNumberStays(void **state) {
  (void)state;
  for (uint32_t count = 1; count <= LONGEST; ++count) {
    float *v = makeVertices();
    uint32_t *list = malloc(count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; ++i) list[i] = 3 * i; /* each once */
    for (uint32_t bad = 0; bad < count; ++bad) {
      int k = (int)testBelow(&dice, 3);
      float lo[3], hi[3], box[8], before = v[list[bad] + k];
      plainBox(v, list, count, lo, hi);
      v[list[bad] + k] = NAN;
      for (uint32_t i = 0; i < s_loopCount; ++i) {
        s_loops[i]->ofList(v, list, list + count, 0, box);
        assert_true(isnan(box[k]));
        for (int other = 0; other < 3; ++other)
          assert_true(other == k || (box[other] == lo[other] && box[4 + other] == hi[other]));
      }
      v[list[bad] + k] = before;
    }
    free(list);
    free(v);
  }
}

static void lanesOfLists(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 500; ++round) {
    float *v = makeVertices();
    uint32_t count = 1 + testBelow(&dice, PN_LANES), at[PN_LANES + 1] = {testBelow(&dice, 4)};
    for (uint32_t j = 0; j < count; ++j) at[j + 1] = at[j] + 1 + testBelow(&dice, 14);
    uint32_t *lists = makeList(at[count]);
    pnGrid grid = makeGrid();
    for (uint32_t i = 0; i < s_loopCount; ++i) {
      pnBoxLanes lanes;
      s_loops[i]->putLists(v, lists, at, count, &grid, &lanes);
      for (uint32_t j = 0; j < PN_LANES; ++j) {
        uint32_t l = PN_MIN(j, count - 1);
        float lo[3], hi[3];
        plainBox(v, lists + at[l], at[l + 1] - at[l], lo, hi);
        for (int d = 0; d < 3; ++d) {
          assert_int_equal(lanes.row[d][0][j], plainCell(&grid, d, lo[d]));
          assert_int_equal(lanes.row[d][1][j], plainCell(&grid, d, hi[d]));
        }
      }
    }
    free(lists);
    free(v);
  }
}

static void lanesOfCorners(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 500; ++round) {
    float *v = makeVertices();
    uint32_t *list = makeList(3 * PN_LANES), *corners = malloc(3 * PN_LANES * sizeof(uint32_t));
    for (uint32_t i = 0; i < 3 * PN_LANES; ++i) corners[i] = list[i] * (uint32_t)sizeof(float);
    pnGrid grid = makeGrid();
    for (uint32_t i = 0; i < s_loopCount; ++i) {
      pnBoxLanes lanes;
      s_loops[i]->putCorners((const char *)v, corners, &grid, &lanes);
      for (uint32_t j = 0; j < PN_LANES; ++j) {
        float lo[3], hi[3];
        plainBox(v, list + 3 * j, 3, lo, hi);
        for (int d = 0; d < 3; ++d) {
          assert_int_equal(lanes.row[d][0][j], plainCell(&grid, d, lo[d]));
          assert_int_equal(lanes.row[d][1][j], plainCell(&grid, d, hi[d]));
        }
      }
    }
    free(corners);
    free(list);
    free(v);
  }
}

static void lanesOfBoxes(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 500; ++round) {
    float *boxes = malloc(8 * PN_LANES * sizeof(float)); /* the fourth of each corner is nobody's */
    for (uint32_t i = 0; i < 8 * PN_LANES; ++i) boxes[i] = i % 4 == 3 ? NAN : coordinate();
    pnGrid grid = makeGrid();
    for (uint32_t i = 0; i < s_loopCount; ++i) {
      pnBoxLanes lanes;
      s_loops[i]->putBoxes(boxes, &grid, &lanes);
      for (uint32_t j = 0; j < PN_LANES; ++j)
        for (int d = 0; d < 3; ++d)
          for (int side = 0; side < 2; ++side)
            assert_int_equal(lanes.row[d][side][j], plainCell(&grid, d, boxes[8 * j + 4 * (size_t)side + (size_t)d]));
    }
    free(boxes);
  }
}

/* The surface of a node's boxes is that of its boxes, bit for bit: sides and their products have few bits. */
static void checkSurface(const pnTree *tree, uint32_t node) {
  pnLaneBoxes b;
  double sum = 0;
  tree->form->boxes(tree, node, 0, tree->shape->count[node], &b);
  for (uint32_t j = 0; j < tree->shape->count[node]; ++j) {
    double x = b.hi[0][j] - b.lo[0][j], y = b.hi[1][j] - b.lo[1][j], z = b.hi[2][j] - b.lo[2][j];
    sum += x * y + y * z + z * x;
  }
  assert_true(sum > 0 && tree->form->surface(tree, node) == sum);
}

/* Nodes of every number of children, and boxes that go on beyond what lanes can say. */
static void surfacesOfAllLanes(void **state) {
  (void)state;
  for (uint32_t round = 0; round < 2000; ++round) {
    pnBoxLanes lanes;
    uint8_t count = (uint8_t)(1 + testBelow(&dice, PN_LANES));
    pnShape shape = {.nodeCount = 1, .innerCount = 1, .count = &count};
    pnTree tree = {.shape = &shape,
                   .form = &pn_formBox,
                   .slabs = &pn_slabBox,
                   .lanes = (char *)&lanes,
                   .laneBytes = sizeof lanes,
                   .grid = {.exponent = 0, .lift = 1, .cell = ldexp(1, (int)testBelow(&dice, 9) - 4)}};
    tree.grid.exponent = -ilogb(tree.grid.cell);
    for (int d = 0; d < 3; ++d) {
      tree.grid.scale[d] = (float)(1 / tree.grid.cell);
      tree.grid.offset[d] = (int32_t)testBelow(&dice, 200) - 100;
      for (uint32_t j = 0; j < PN_LANES; ++j) {
        int32_t a = (int32_t)testBelow(&dice, 65534) - 32767, b = (int32_t)testBelow(&dice, 65534) - 32767;
        lanes.row[d][0][j] = (int16_t)PN_MIN(a, b);
        lanes.row[d][1][j] = (int16_t)PN_MAX(a, b);
      }
    }
    if (round % 4 == 3)
      lanes.row[testBelow(&dice, 3)][round / 4 % 2][testBelow(&dice, PN_LANES)] = round / 4 % 2 ? INT16_MAX : INT16_MIN;
    pn_emptyLanes(&tree, 0, count);
    checkSurface(&tree, 0);
  }
}

/* The grid of a body of any size, about the origin: its box spans 2^13 to 2^14 cells, as frexp and ldexp have it. */
static void gridsFitTheirBodies(void **state) {
  (void)state;
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnPoseDef poseDef = {mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  testExpectOk(pnCreateTree(&def, &tree));
  uint32_t count = pnMesh_GetVertexCount(mesh);
  float *v = malloc(3 * sizeof(float) * count);
  assert_non_null(v);
  for (int k = -149; k < 127; ++k) {
    for (uint32_t i = 0; i < 3 * count; ++i) v[i] = ldexpf((k & 1 ? 0.9f : 0.7f) * pnMesh_GetVertices(mesh)[i], k);
    testExpectOk(pnPose_SetVertices(pose, v, count));
    testExpectOk(pnTree_Update(tree, NULL));
    const pnGrid *g = &tree->grid;
    double extent = 0;
    for (int d = 0; d < 3; ++d) extent = fmax(extent, (double)(&tree->box.max.x)[d] - (&tree->box.min.x)[d]);
    int e = 0;
    (void)frexp(extent, &e);
    int wanted = extent > 0 ? 14 - e : 120;
    assert_int_equal(g->exponent, wanted < -120 ? -120 : wanted > 160 ? 160 : wanted);
    assert_true(g->cell == ldexp(1.0, -g->exponent) && (g->lift == 1 || g->lift == ldexpf(1, 60)));
    for (int d = 0; d < 3; ++d) assert_true((double)g->scale[d] * g->lift == ldexp(1.0, g->exponent));
    checkSurface(tree, 0);
  }
  free(v);
  pnDestroyTree(tree);
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
}

int main(void) {
  dice = testRandom(20261116);
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) s_loops[s_loopCount++] = &pn_boxLoopsAvx2;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxesOfLists),        cmocka_unit_test(whatIsNoNumberStays),
      cmocka_unit_test(lanesOfLists),        cmocka_unit_test(lanesOfCorners),
      cmocka_unit_test(lanesOfBoxes),        cmocka_unit_test(surfacesOfAllLanes),
      cmocka_unit_test(gridsFitTheirBodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
