/* test_find_part.c: which parts of a mesh are closed (src/find/part.c), against counting the ways along every edge. */
#include "support.h"

#include <string.h>

#include "find/find.h"

enum { CORNERS = 8, MOST = 64 };

/* So many triangles run from a to b in all. */
static int runs(const uint32_t *triangles, uint32_t count, uint32_t a, uint32_t b) {
  int sum = 0;
  for (uint32_t e = 0; e < 3 * count; ++e) sum += triangles[e] == a && triangles[e / 3 * 3 + (e + 1) % 3] == b;
  return sum;
}

/* As many one way as the other, along every edge. */
static bool isWhole(const uint32_t *triangles, uint32_t count) {
  for (uint32_t a = 0; a < CORNERS; ++a)
    for (uint32_t b = 0; b < a; ++b)
      if (runs(triangles, count, a, b) != runs(triangles, count, b, a)) return false;
  return true;
}

/* Is the one part closed, as the finder sees it? */
static bool isClosed(const uint32_t *triangles, uint32_t count) {
  static const float vertices[3 * CORNERS] = {0, 0, 0, 1, 0, 0,    0, 1, 0,    0, 0, 1,
                                              1, 1, 1, 2, 0, 0.5f, 0, 2, 0.5f, 3, 3, -1};
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&(pnMeshDef){.vertices = vertices,
                                         .vertexCount = CORNERS,
                                         .triangles = triangles,
                                         .triangleCount = count,
                                         .cookie = PN_COOKIE},
                            &mesh));
  pnFinderBody body = {.mesh = mesh};
  testExpectOk(pn_findParts(&body));
  assert_int_equal(body.partCount, 1);
  bool closed = body.parts[0].closed;
  assert_int_equal(body.closedCount, closed);
  pn_free(body.partOf, count * sizeof(uint32_t));
  pn_free(body.partTriangles, count * sizeof(uint32_t));
  pn_free(body.parts, body.partCount * sizeof(pnPart));
  pn_free(body.partVertices, CORNERS * sizeof(uint32_t));
  pnDestroyMesh(mesh);
  return closed;
}

/* Two that share an edge, with some faces turned, in any order. */
static void tetrahedra(void **state) {
  (void)state;
  static const uint32_t faces[8][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3},
                                       {0, 1, 4}, {1, 0, 5}, {0, 4, 5}, {4, 1, 5}};
  TestRandom random = testRandom(14);
  uint32_t wholes = 0;
  for (uint32_t round = 0; round < 400; ++round) {
    uint32_t t[3 * 8], count = round % 2 == 0 ? 4 : 8;
    memcpy(t, faces, sizeof t);
    for (uint32_t i = count; i-- > 1;) {
      uint32_t j = testBelow(&random, i + 1), aside[3];
      memcpy(aside, t + 3 * i, sizeof aside);
      memcpy(t + 3 * i, t + 3 * j, sizeof aside);
      memcpy(t + 3 * j, aside, sizeof aside);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (round % 3 == 0 || testBelow(&random, 6) > 0) continue;
      uint32_t aside = t[3 * i];
      t[3 * i] = t[3 * i + 1];
      t[3 * i + 1] = aside;
    }
    bool whole = isWhole(t, count);
    assert_int_equal(isClosed(t, count), whole);
    wholes += whole;
  }
  assert_true(wholes > 100 && wholes < 350);
}

/* Around the edges of copies of one triangle there are many. */
static void copies(void **state) {
  (void)state;
  uint32_t t[3 * MOST];
  for (uint32_t i = 0; i < MOST; ++i) memcpy(t + 3 * i, (uint32_t[]){0, 1, 2}, 3 * sizeof *t);
  assert_false(isClosed(t, MOST));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tetrahedra), cmocka_unit_test(copies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
