/* test_volume_cgal.cpp: a second opinion. The volume of the exact intersection, by the corefinement of CGAL, lies
 * within our bounds: bodies by formula, and the closed ones of the real data, turned and moved into each other. */
// CGAL before cmocka, whose macros fail() and skip() would rewrite it
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/corefinement.h>
#include <CGAL/Polygon_mesh_processing/measure.h>
#include <CGAL/Polygon_mesh_processing/orientation.h>
#include <CGAL/Polygon_mesh_processing/self_intersections.h>
#include <CGAL/Surface_mesh.h>

#include <cmath>
#include <string>
#include <vector>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
extern "C" {
#include <cmocka.h>
}

#include "support_volume.h"

#include "pinch/io.h"

namespace PMP = CGAL::Polygon_mesh_processing;
using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Mesh = CGAL::Surface_mesh<Kernel::Point_3>;

/* ---------------------------------------------------------------- to CGAL */

/* Our pose as a mesh of CGAL: the same floats. Empty when it is not a manifold to CGAL. */
static Mesh toCgal(const TestBody &body) {
  Mesh mesh;
  const uint32_t *weld = pnMesh_GetWeld(body.mesh), *triangles = pnMesh_GetTriangles(body.mesh);
  std::vector<Mesh::Vertex_index> vertices(pnMesh_GetVertexCount(body.mesh));
  for (uint32_t i = 0; i < 3 * pnMesh_GetTriangleCount(body.mesh); ++i) {
    uint32_t v = weld[triangles[i]];
    if (vertices[v] != Mesh::null_vertex()) continue;
    pnVec3 p = pnPose_GetVertex(body.pose, v);
    vertices[v] = mesh.add_vertex(Kernel::Point_3(p.x, p.y, p.z));
  }
  for (uint32_t t = 0; t < pnMesh_GetTriangleCount(body.mesh); ++t) {
    Mesh::Vertex_index corner[3];
    for (int k = 0; k < 3; ++k) corner[k] = vertices[weld[triangles[3 * t + k]]];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
    if (mesh.add_face(corner[0], corner[1], corner[2]) == Mesh::null_face()) return Mesh();
  }
  return mesh;
}

/* Volume of the exact intersection; negative when CGAL cannot make it. */
static double exactVolume(const TestBody &a, const TestBody &b) {
  Mesh first = toCgal(a), second = toCgal(b), shared;
  if (first.is_empty() || second.is_empty()) return -1;
  if (!PMP::corefine_and_compute_intersection(first, second, shared)) return -1;
  return std::fabs(CGAL::to_double(PMP::volume(shared)));
}

/* ---------------------------------------------------------------- comparing */

static void compare(const char *name, TestBody &a, TestBody &b) {
  double truth = exactVolume(a, b);
  if (truth < 0) {
    print_message("  %-28s CGAL has no answer\n", name);
    return;
  }
  for (uint32_t resolution = 64; resolution <= 256; resolution *= 2) {
    pnOverlapDef def = pnDefaultOverlapDef();
    def.poseA = a.pose;
    def.poseB = b.pose;
    def.resolution = resolution;
    pnOverlap *overlap;
    pnOverlapResult result;
    testExpectOk(pnCreateOverlap(&def, &overlap));
    testExpectOk(pnOverlap_Measure(overlap, &result));
    pnDestroyOverlap(overlap);
    print_message("  %-28s %3u: %.7g, exact %.7g, off by %.1e, bound %.1e\n", name, resolution, result.volume, truth,
                  truth > 0 ? std::fabs(result.volume - truth) / truth : 0.0, truth > 0 ? result.error / truth : 0.0);
    // CGAL's new vertices are rounded to double: a part in 10^9 is generous
    double slack = 1e-9 * (truth + 1e-30);
    assert_true(result.volumeMin - slack <= truth && truth <= result.volumeMax + slack);
    if (resolution == 256 && truth > 0) assert_true(std::fabs(result.volume - truth) < 0.005 * truth);
  }
}

static void byFormula(void **) {
  TestBody a = testStar(4, 1, 0.4f), b = testTorus(0.9f, 0.35f, 48, 24), c = testHollow(3, 1, 0.6f);
  TestRandom random = testRandom(11);
  for (int n = 0; n < 3; ++n) {
    pnMatrix turn = testRotation(&random, 0.5f);
    testExpectOk(pnPose_SetTransform(b.pose, &turn));
    compare("star and torus", a, b);
    compare("hollow ball and torus", c, b);
  }
  compare("star and hollow ball", a, c);
  testFreeBody(&a), testFreeBody(&b), testFreeBody(&c);
}

/* ---------------------------------------------------------------- real data */

/* A closed, oriented body of the data, scaled to a box of 2 and centred; false when it is not there or not closed. */
static bool loadBody(const char *file, TestBody *out) {
  const char *path = testDataPath(file);
  if (!path) return false;
  pnMeshFile meshFile;
  testExpectOk(pnLoadMeshFile(path, &meshFile));
  float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (uint32_t i = 0; i < 3 * meshFile.vertexCount; ++i) {
    lo[i % 3] = std::fmin(lo[i % 3], meshFile.vertices[i]);
    hi[i % 3] = std::fmax(hi[i % 3], meshFile.vertices[i]);
  }
  float size = std::fmax(hi[0] - lo[0], std::fmax(hi[1] - lo[1], hi[2] - lo[2]));
  for (uint32_t i = 0; i < 3 * meshFile.vertexCount; ++i)
    meshFile.vertices[i] = (meshFile.vertices[i] - 0.5f * (lo[i % 3] + hi[i % 3])) * (2 / size);
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = meshFile.vertices;
  def.vertexCount = meshFile.vertexCount;
  def.triangles = meshFile.triangles;
  def.triangleCount = meshFile.triangleCount;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnFreeMeshFile(&meshFile);
  *out = testBody(mesh);
  // CGAL wants no self-intersections either
  Mesh check = toCgal(*out);
  bool good = !check.is_empty() && CGAL::is_closed(check) && !PMP::does_self_intersect(check) &&
              PMP::is_outward_oriented(check);
  if (!good) print_message("  %s: left out, CGAL finds it open, turned or self-intersecting\n", file);
  if (!good) testFreeBody(out);
  return good;
}

static void realData(void **) {
  static const char *const names[] = {"elephant", "knot2",   "armadillo", "eight", "blobby",
                                      "fandisk",  "bunny00", "turbine",   "cow"};
  std::vector<TestBody> bodies;
  std::vector<std::string> kept;
  for (const char *name : names) {
    TestBody body;
    if (!loadBody((std::string("cgal/Data/data/meshes/") + name + ".off").c_str(), &body)) continue;
    bodies.push_back(body);
    kept.push_back(name);
  }
  TestRandom random = testRandom(13);
  for (size_t i = 0; i + 1 < bodies.size(); ++i) {
    pnMatrix turn = testRotation(&random, 0.4f);
    testExpectOk(pnPose_SetTransform(bodies[i + 1].pose, &turn));
    compare((kept[i] + " and " + kept[i + 1]).c_str(), bodies[i], bodies[i + 1]);
  }
  for (TestBody &body : bodies) testFreeBody(&body);
}

int main() {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(byFormula),
      cmocka_unit_test(realData),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
