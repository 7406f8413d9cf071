/* test_mesh_validate.c: what pnMesh_Validate says of meshes made by hand, and against brute force on random ones. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "mesh/mesh.h"

/* ---------------------------------------------------------------- helpers */

static pnMeshInfo infoOf(const float *vertices, uint32_t vertexCount, const uint32_t *triangles,
                         uint32_t triangleCount) {
  pnMesh *mesh = testMakeMesh(vertices, vertexCount, triangles, triangleCount);
  pnMeshInfo info;
  memset(&info, 0xab, sizeof info);
  testExpectOk(pnMesh_Validate(mesh, &info));
  pnDestroyMesh(mesh);
  return info;
}

/* Two tetrahedra and more, at different heights. */
static const float s_points[] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 9, 9, 1, 9, 1, 9, 1, 9, 9, 8, 8, 8};
#define TETRAHEDRON(a, b, c, d) a, c, b, a, b, d, b, c, d, a, d, c

static void expectNoFirsts(const pnMeshInfo *info) {
  assert_int_equal(info->firstOpenTriangle, PN_NONE);
  assert_int_equal(info->firstOpenVertices[1], PN_NONE);
  assert_int_equal(info->firstNonManifoldTriangle, PN_NONE);
  assert_int_equal(info->firstNonManifoldVertices[0], PN_NONE);
  assert_int_equal(info->firstMisorientedTriangle, PN_NONE);
  assert_int_equal(info->firstMisorientedVertices[0], PN_NONE);
  assert_int_equal(info->firstDegenerateTriangle, PN_NONE);
}

/* ---------------------------------------------------------------- by hand */

static void tetrahedronIsClosed(void **state) {
  (void)state;
  const uint32_t t[] = {TETRAHEDRON(0, 1, 2, 3)};
  pnMeshInfo info = infoOf(s_points, 5, t, 4);
  assert_true(info.closed && info.manifold && info.oriented);
  assert_int_equal(info.componentCount, 1);
  assert_int_equal(info.unusedVertexCount, 1);
  assert_int_equal(info.duplicateVertexCount, 0);
  assert_int_equal(info.degenerateCount, 0);
  // the box is of used vertices only: point 4 is far out
  assert_true(info.box.max.x == 4 && info.box.max.y == 4 && info.box.max.z == 4 && info.box.min.x == 0);
  expectNoFirsts(&info);
}

static void emptyMeshIsEverything(void **state) {
  (void)state;
  pnMeshInfo info = infoOf(NULL, 0, NULL, 0);
  assert_true(info.closed && info.manifold && info.oriented);
  assert_int_equal(info.componentCount, 0);
  assert_true(info.box.min.x > info.box.max.x);
  expectNoFirsts(&info);
}

static void missingTriangleOpensThreeEdges(void **state) {
  (void)state;
  // the tetrahedron without its last triangle (0, 3, 2)
  const uint32_t t[] = {TETRAHEDRON(0, 1, 2, 3)};
  pnMeshInfo info = infoOf(s_points, 4, t, 3);
  assert_false(info.closed);
  assert_true(info.manifold && info.oriented);
  assert_int_equal(info.openEdgeCount, 3);
  // triangle 0 is (0, 2, 1): its edge 0 -> 2 has nobody on the other side
  assert_int_equal(info.firstOpenTriangle, 0);
  assert_int_equal(info.firstOpenVertices[0], 0);
  assert_int_equal(info.firstOpenVertices[1], 2);
}

static void flippedTriangleIsMisoriented(void **state) {
  (void)state;
  uint32_t t[] = {TETRAHEDRON(0, 1, 2, 3)};
  uint32_t keep = t[7];
  t[7] = t[8];
  t[8] = keep; // triangle 2
  pnMeshInfo info = infoOf(s_points, 4, t, 4);
  assert_true(info.closed && info.manifold);
  assert_false(info.oriented);
  // triangle 0 (0, 2, 1) shares its edge 2 -> 1 with triangle 2, which now runs 2 -> 1 too
  assert_int_equal(info.firstMisorientedTriangle, 0);
  assert_int_equal(info.firstMisorientedVertices[0], 2);
  assert_int_equal(info.firstMisorientedVertices[1], 1);
}

static void sharedEdgeIsClosedButNotManifold(void **state) {
  (void)state;
  // two tetrahedra with the edge 2-3 in common: four triangles, directions balanced
  const uint32_t t[] = {TETRAHEDRON(0, 1, 2, 3), TETRAHEDRON(2, 3, 4, 5)};
  pnMeshInfo info = infoOf(s_points, 6, t, 8);
  assert_true(info.closed && info.oriented);
  assert_false(info.manifold);
  assert_int_equal(info.nonManifoldEdgeCount, 1);
  assert_int_equal(info.nonManifoldVertexCount, 0);
  assert_int_equal(info.componentCount, 1);
  assert_int_equal(info.firstNonManifoldTriangle, 2);
  assert_int_equal(info.firstNonManifoldVertices[0], 2);
  assert_int_equal(info.firstNonManifoldVertices[1], 3);
}

static void sharedVertexIsPinched(void **state) {
  (void)state;
  const uint32_t t[] = {TETRAHEDRON(0, 1, 2, 3), TETRAHEDRON(3, 4, 5, 6)};
  pnMeshInfo info = infoOf(s_points, 7, t, 8);
  assert_true(info.closed && info.oriented);
  assert_false(info.manifold);
  assert_int_equal(info.nonManifoldEdgeCount, 0);
  assert_int_equal(info.nonManifoldVertexCount, 1);
  assert_int_equal(info.componentCount, 1);
  assert_int_equal(info.firstNonManifoldTriangle, 1);
  assert_int_equal(info.firstNonManifoldVertices[0], 3);
  assert_int_equal(info.firstNonManifoldVertices[1], 3);

  // apart: two components and nothing wrong
  const uint32_t apart[] = {TETRAHEDRON(0, 1, 2, 3), TETRAHEDRON(7, 4, 5, 6)};
  info = infoOf(s_points, 8, apart, 8);
  assert_true(info.closed && info.oriented && info.manifold);
  assert_int_equal(info.componentCount, 2);
  expectNoFirsts(&info);
}

static void soupIsWeldedIntoASolid(void **state) {
  (void)state;
  // every triangle with its own vertices, as STL has it
  const uint32_t t[] = {TETRAHEDRON(0, 1, 2, 3)};
  float soup[36];
  uint32_t triangles[12];
  for (uint32_t i = 0; i < 12; ++i) {
    memcpy(soup + 3 * i, s_points + 3 * t[i], 3 * sizeof(float));
    triangles[i] = i;
  }
  pnMeshInfo info = infoOf(soup, 12, triangles, 4);
  assert_true(info.closed && info.manifold && info.oriented);
  assert_int_equal(info.duplicateVertexCount, 8);
  assert_int_equal(info.componentCount, 1);
  // vertices are named as given, not by who represents them
  info = infoOf(soup, 12, triangles + 3, 3);
  assert_int_equal(info.firstOpenTriangle, 0);
  assert_int_equal(info.firstOpenVertices[0], 3);
  assert_int_equal(info.firstOpenVertices[1], 4);
  assert_int_equal(info.unusedVertexCount, 3);
}

static void flatTrianglesAreFoundExactly(void **state) {
  (void)state;
  const float third = 1.0f / 3.0f;
  const struct {
    float p[9];
    bool flat;
  } cases[] = {
      {{0, 0, 0, 1, 1, 1, 2, 2, 2}, true},
      {{0, 0, 0, 1, 1, 1, 2, 2, 2.0000002f}, false},
      {{0, 0, 0, third, third, third, 1, 1, 1}, true},
      {{1e-45f, 0, 0, 0, 1e-45f, 0, 0, 0, 0}, false}, // an area of 1e-90 is not zero
      {{1e-45f, 0, 0, 3e-45f, 0, 0, 7e-45f, 0, 0}, true},
      {{1e30f, 1, 1, -1e30f, 1, 1, 0, 1, 1.0000001f}, false},
      {{1e30f, 1, 1, -1e30f, 1, 1, 0, 1, 1}, true},
      {{FLT_MAX, -FLT_MAX, 0, -FLT_MAX, FLT_MAX, 0, 0, 0, 0}, true},
      {{FLT_MAX, -FLT_MAX, 0, -FLT_MAX, FLT_MAX, 0, 0, 1e-45f, 0}, false},
      // 2^24 times a direction that floats cannot halve
      {{16777215, 3, 5, 33554430, 6, 10, 0, 0, 0}, true},
      {{16777215, 3, 5, 33554432, 6, 10, 0, 0, 0}, false},
  };
  const uint32_t t[] = {0, 1, 2};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    pnMeshInfo info = infoOf(cases[i].p, 3, t, 1);
    assert_int_equal(info.degenerateCount, cases[i].flat);
    assert_int_equal(info.firstDegenerateTriangle, cases[i].flat ? 0 : PN_NONE);
    assert_int_equal(info.openEdgeCount, 3); // it has three corners and so three edges
  }
  // a repeated corner: flat, no edges, nothing opened
  const uint32_t repeated[] = {TETRAHEDRON(0, 1, 2, 3), 1, 1, 5};
  pnMeshInfo info = infoOf(s_points, 6, repeated, 5);
  assert_true(info.closed && info.manifold && info.oriented);
  assert_int_equal(info.degenerateCount, 1);
  assert_int_equal(info.firstDegenerateTriangle, 4);
  assert_int_equal(info.componentCount, 1);
}

static void unbalancedEdgesAreOpen(void **state) {
  (void)state;
  // 2, 3, 4 triangles that all run 0 -> 1
  const uint32_t t[] = {0, 1, 2, 0, 1, 3, 0, 1, 4, 0, 1, 5};
  const uint32_t open[] = {4, 7, 9};
  for (uint32_t n = 2; n <= 4; ++n) {
    pnMeshInfo info = infoOf(s_points, 6, t, n);
    assert_false(info.oriented);
    assert_int_equal(info.openEdgeCount, open[n - 2]);
    assert_int_equal(info.nonManifoldEdgeCount, n > 2);
  }
}

/* ---------------------------------------------------------------- against brute force */

/* A random mesh with few vertices at integer places, and everything about it by the definitions. */
typedef struct Brute {
  float vertices[3 * 12];
  uint32_t triangles[3 * 24], vertexCount, triangleCount;
  const pnMesh *mesh;
  pnMeshInfo info;
} Brute;

static uint32_t corner(const Brute *b, uint32_t t, uint32_t k) {
  return b->mesh->weld[b->triangles[3 * t + k % 3]];
}

static bool isFlat(const Brute *b, uint32_t t) {
  return corner(b, t, 0) == corner(b, t, 1) || corner(b, t, 1) == corner(b, t, 2) || corner(b, t, 2) == corner(b, t, 0);
}

static void bruteEdge(Brute *b, uint32_t t, uint32_t k) {
  uint32_t u = corner(b, t, k), v = corner(b, t, k + 1), same = 0, opposite = 0;
  for (uint32_t s = 0; s < b->triangleCount; ++s)
    for (uint32_t j = 0; j < 3 && !isFlat(b, s); ++j) {
      uint32_t p = corner(b, s, j), q = corner(b, s, j + 1);
      bool hit = (p == u && q == v) || (p == v && q == u);
      if (hit && s < t) return; // its first triangle has counted this edge
      same += p == u && q == v;
      opposite += p == v && q == u;
    }
  uint32_t all = same + opposite, ends[2] = {b->triangles[3 * t + k], b->triangles[3 * t + (k + 1) % 3]};
  pnMeshInfo *info = &b->info;
  if (all % 2 || (all > 2 && same != opposite)) {
    if (info->openEdgeCount++ == 0) {
      info->firstOpenTriangle = t;
      memcpy(info->firstOpenVertices, ends, sizeof ends);
    }
  }
  if (all > 2 && info->nonManifoldEdgeCount++ == 0) {
    info->firstNonManifoldTriangle = t;
    memcpy(info->firstNonManifoldVertices, ends, sizeof ends);
  }
  if ((all % 2 == 0 && same != opposite) || (all % 2 == 1 && same != opposite + 1 && opposite != same + 1)) {
    if (info->oriented) {
      info->firstMisorientedTriangle = t;
      memcpy(info->firstMisorientedVertices, ends, sizeof ends);
    }
    info->oriented = false;
  }
}

/* How many groups the triangles at v fall into when those that share an edge at v belong together; 0 when an edge at v
 * has more than two triangles. *outFirst is the first triangle. */
static uint32_t bruteFans(const Brute *b, uint32_t v, uint32_t *outFirst) {
  uint32_t at[24], group[24], count = 0, groups;
  for (uint32_t t = 0; t < b->triangleCount; ++t)
    if (!isFlat(b, t) && (corner(b, t, 0) == v || corner(b, t, 1) == v || corner(b, t, 2) == v)) {
      group[count] = count;
      at[count++] = t;
    }
  *outFirst = count ? at[0] : PN_NONE;
  groups = count;
  for (uint32_t w = 0; w < b->vertexCount; ++w) {
    // triangles that have the edge v-w
    uint32_t last = PN_NONE, have = 0;
    for (uint32_t i = 0; i < count && w != v; ++i) {
      uint32_t t = at[i];
      if (corner(b, t, 0) != w && corner(b, t, 1) != w && corner(b, t, 2) != w) continue;
      if (++have > 2) return 0;
      if (last != PN_NONE && group[i] != group[last]) {
        uint32_t old = group[i];
        for (uint32_t k = 0; k < count; ++k)
          if (group[k] == old) group[k] = group[last];
        --groups;
      }
      last = i;
    }
  }
  return groups;
}

static void bruteFlats(Brute *b) {
  for (uint32_t t = 0; t < b->triangleCount; ++t) {
    int64_t p[3][3];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) p[k][i] = (int64_t)b->vertices[3 * b->triangles[3 * t + k] + i];
    bool flat = true;
    for (int i = 0; i < 3; ++i) {
      int j = (i + 1) % 3;
      flat &= (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) == (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
    }
    flat |= isFlat(b, t);
    if (flat && b->info.degenerateCount++ == 0) b->info.firstDegenerateTriangle = t;
  }
}

static void bruteComponents(Brute *b) {
  uint32_t label[12];
  for (uint32_t v = 0; v < b->vertexCount; ++v) label[v] = v;
  for (uint32_t round = 0; round < b->vertexCount; ++round)
    for (uint32_t t = 0; t < b->triangleCount; ++t)
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t u = corner(b, t, k), v = corner(b, t, k + 1);
        if (label[u] < label[v]) label[v] = label[u];
      }
  for (uint32_t v = 0; v < b->vertexCount; ++v) {
    bool used = false, given = false;
    for (uint32_t i = 0; i < 3 * b->triangleCount; ++i) {
      used |= b->mesh->weld[b->triangles[i]] == v;
      given |= b->triangles[i] == v;
    }
    b->info.componentCount += used && label[v] == v;
    b->info.unusedVertexCount += !given;
    b->info.duplicateVertexCount += b->mesh->weld[v] != v;
  }
}

static void bruteInfo(Brute *b) {
  memset(&b->info, 0xff, sizeof b->info);
  b->info.oriented = true;
  b->info.componentCount = b->info.openEdgeCount = b->info.nonManifoldEdgeCount = 0;
  b->info.nonManifoldVertexCount = b->info.degenerateCount = 0;
  b->info.unusedVertexCount = b->info.duplicateVertexCount = 0;
  b->info.box = b->mesh->box;
  for (uint32_t t = 0; t < b->triangleCount; ++t)
    for (uint32_t k = 0; k < 3 && !isFlat(b, t); ++k) bruteEdge(b, t, k);
  for (uint32_t v = 0; v < b->vertexCount; ++v) {
    uint32_t first;
    if (bruteFans(b, v, &first) < 2) continue;
    ++b->info.nonManifoldVertexCount;
    if (first < b->info.firstNonManifoldTriangle) {
      b->info.firstNonManifoldTriangle = first;
      for (uint32_t k = 0; k < 3; ++k)
        if (corner(b, first, k) == v)
          b->info.firstNonManifoldVertices[0] = b->info.firstNonManifoldVertices[1] = b->triangles[3 * first + k];
    }
  }
  b->info.closed = b->info.openEdgeCount == 0;
  b->info.manifold = b->info.nonManifoldEdgeCount == 0 && b->info.nonManifoldVertexCount == 0;
  bruteFlats(b);
  bruteComponents(b);
}

static void expectSame(const pnMeshInfo *a, const pnMeshInfo *b) {
  assert_int_equal(a->closed, b->closed);
  assert_int_equal(a->manifold, b->manifold);
  assert_int_equal(a->oriented, b->oriented);
  assert_int_equal(a->componentCount, b->componentCount);
  assert_int_equal(a->openEdgeCount, b->openEdgeCount);
  assert_int_equal(a->nonManifoldEdgeCount, b->nonManifoldEdgeCount);
  assert_int_equal(a->nonManifoldVertexCount, b->nonManifoldVertexCount);
  assert_int_equal(a->degenerateCount, b->degenerateCount);
  assert_int_equal(a->unusedVertexCount, b->unusedVertexCount);
  assert_int_equal(a->duplicateVertexCount, b->duplicateVertexCount);
  assert_int_equal(a->firstDegenerateTriangle, b->firstDegenerateTriangle);
  assert_int_equal(a->firstOpenTriangle, b->firstOpenTriangle);
  assert_int_equal(a->firstNonManifoldTriangle, b->firstNonManifoldTriangle);
  assert_int_equal(a->firstMisorientedTriangle, b->firstMisorientedTriangle);
  assert_memory_equal(a->firstOpenVertices, b->firstOpenVertices, sizeof a->firstOpenVertices);
  assert_memory_equal(a->firstNonManifoldVertices, b->firstNonManifoldVertices, sizeof a->firstNonManifoldVertices);
  assert_memory_equal(a->firstMisorientedVertices, b->firstMisorientedVertices, sizeof a->firstMisorientedVertices);
}

/* Random triangles, or a few tetrahedra of random corners with now and then a triangle turned or dropped: the first are
 * wrong in every way, the second nearly right. */
static void makeTriangles(Brute *b, TestRandom *random) {
  if (testBelow(random, 2)) {
    b->triangleCount = testBelow(random, 24);
    for (uint32_t i = 0; i < 3 * b->triangleCount; ++i) b->triangles[i] = testBelow(random, b->vertexCount);
    return;
  }
  b->triangleCount = 0;
  uint32_t solids = 1 + testBelow(random, 3);
  for (uint32_t s = 0; s < solids; ++s) {
    uint32_t v[4];
    for (int k = 0; k < 4; ++k) v[k] = testBelow(random, b->vertexCount);
    const uint32_t t[] = {TETRAHEDRON(v[0], v[1], v[2], v[3])};
    for (uint32_t k = 0; k < 4; ++k) {
      if (testBelow(random, 20) == 0) continue;
      uint32_t *out = b->triangles + 3 * b->triangleCount++;
      uint32_t turn = testBelow(random, 20) == 0;
      out[0] = t[3 * k];
      out[1] = t[3 * k + 1 + turn];
      out[2] = t[3 * k + 2 - turn];
    }
  }
}

static void validateAgreesWithBruteForce(void **state) {
  (void)state;
  TestRandom random = testRandom(30);
  uint32_t closed = 0, pinched = 0, branched = 0, misoriented = 0, flat = 0;
  for (int round = 0; round < 20000; ++round) {
    Brute b;
    uint32_t span = 2 + testBelow(&random, 20);
    b.vertexCount = 4 + testBelow(&random, 9);
    for (uint32_t i = 0; i < 3 * b.vertexCount; ++i) b.vertices[i] = (float)testBelow(&random, span);
    makeTriangles(&b, &random);
    pnMesh *mesh = testMakeMesh(b.vertices, b.vertexCount, b.triangles, b.triangleCount);
    b.mesh = mesh;
    bruteInfo(&b);
    pnMeshInfo info;
    testExpectOk(pnMesh_Validate(mesh, &info));
    expectSame(&info, &b.info);
    pnDestroyMesh(mesh);
    closed += info.closed && b.triangleCount > 3;
    pinched += info.nonManifoldVertexCount > 0;
    branched += info.nonManifoldEdgeCount > 0;
    misoriented += !info.oriented;
    flat += info.degenerateCount > 0;
  }
  // the mix has enough of everything
  assert_true(closed > 1000 && pinched > 1000 && branched > 1000 && misoriented > 1000 && flat > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tetrahedronIsClosed),
      cmocka_unit_test(emptyMeshIsEverything),
      cmocka_unit_test(missingTriangleOpensThreeEdges),
      cmocka_unit_test(flippedTriangleIsMisoriented),
      cmocka_unit_test(sharedEdgeIsClosedButNotManifold),
      cmocka_unit_test(sharedVertexIsPinched),
      cmocka_unit_test(soupIsWeldedIntoASolid),
      cmocka_unit_test(flatTrianglesAreFoundExactly),
      cmocka_unit_test(unbalancedEdgesAreOpen),
      cmocka_unit_test(validateAgreesWithBruteForce),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
