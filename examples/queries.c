/* queries.c: asks a small world everything that pinch/query.h can answer: what is below a point, what is closest to it, how far two
 * bodies are apart, and what is in a box.
 *
 *   example_queries
 *
 * A ball floats above a knot. Nothing is drawn; the answers are printed. */
#include <math.h>
#include <pinch/world.h>
#include <stdio.h>
#include <stdlib.h>

static void check(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "queries: %s\n", pnGetMessage());
  exit(1);
}

static pnBodyId addBody(pnWorld *world, pnMesh *mesh, const char *name, float height) {
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = PN_BODY_RIGID;
  def.mesh = mesh;
  def.name = name;
  pnBodyId id;
  check(pnWorld_CreateBody(world, &def, &id));
  pnMatrix place = pnMatrix_Identity();
  place.m[1][3] = height;
  check(pnBody_SetTransform(world, id, &place));
  return id;
}

/* The first thing below the eye, and whether anything hides the ground from it. */
static void lookDown(pnWorld *world) {
  pnRay ray = pnDefaultRay();
  ray.origin = (pnVec3){0, 5, 0};
  ray.direction = (pnVec3){0, -1, 0};
  pnHit hit;
  check(pnWorld_FindFirstHits(world, &ray, 1, UINT32_MAX, &hit));
  if (hit.triangle == PN_NONE) puts("below the eye there is nothing");
  else
    printf("below the eye: %s, triangle %u, at a distance of %.3f\n", pnBody_GetName(world, hit.body), hit.triangle,
           hit.t);
}

static void findClosest(pnWorld *world) {
  const float eye[3] = {2, 2, 0};
  pnClosest closest;
  check(pnWorld_FindClosest(world, eye, 1, INFINITY, UINT32_MAX, &closest));
  printf("closest to (2 2 0): %s at (%.3f %.3f %.3f), %.3f away\n", pnBody_GetName(world, closest.body),
         closest.point.x, closest.point.y, closest.point.z, closest.distance);
}

static void measure(pnWorld *world, pnBodyId a, pnBodyId b) {
  pnBodyPair pair = {a, b};
  pnDistance apart;
  check(pnWorld_FindDistances(world, &pair, 1, INFINITY, &apart));
  printf("%s and %s are %.3f apart, between (%.3f %.3f %.3f) and (%.3f %.3f %.3f)\n", pnBody_GetName(world, a),
         pnBody_GetName(world, b), apart.distance, apart.onA.x, apart.onA.y, apart.onA.z, apart.onB.x, apart.onB.y,
         apart.onB.z);
}

static void lookIntoBox(pnWorld *world) {
  pnBox box = {{-0.2f, -2, -0.2f}, {0.2f, 4, 0.2f}};
  pnTriangleList *list;
  check(pnCreateTriangleList(&list));
  check(pnWorld_FindInBoxes(world, &box, 1, UINT32_MAX, list));
  uint32_t count;
  pnTriangleList_GetTriangles(list, 0, &count);
  printf("in the box around the axis: %u triangles\n", count);
  pnDestroyTriangleList(list);
}

int main(void) {
  pnWorld *world;
  pnWorldDef def = pnDefaultWorldDef();
  check(pnCreateWorld(&def, &world));
  pnMesh *knotMesh, *ballMesh;
  check(pnMakeKnot(2, 3, 1.0f, 0.22f, 360, 24, &knotMesh));
  check(pnMakeIcosphere(4, 0.5f, &ballMesh));
  pnBodyId knot = addBody(world, knotMesh, "knot", 0), ball = addBody(world, ballMesh, "ball", 2.5f);
  lookDown(world);
  findClosest(world);
  measure(world, knot, ball);
  lookIntoBox(world);
  pnDestroyWorld(world);
  pnDestroyMesh(knotMesh);
  pnDestroyMesh(ballMesh);
  return 0;
}
