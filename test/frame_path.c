/* frame_path.c: a world with one free body, one rigid body and one that looks at itself, all of which meet, for three frames:
 * for scripts/frame_files, which lists the files that a frame goes through. */
#include "pinch/pinch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(call)                                                \
  do {                                                              \
    if ((call) != PN_OK) return puts(pnGetMessage()), EXIT_FAILURE; \
  } while (0)

int main(void) {
  pnMesh *sphere, *cloth;
  EXPECT(pnMakeIcosphere(4, 1, &sphere));
  EXPECT(pnMakeGrid(4, 4, 40, 40, &cloth));
  pnWorldDef worldDef = pnDefaultWorldDef();
  pnWorld *world;
  EXPECT(pnCreateWorld(&worldDef, &world));
  const pnBodyKind kinds[3] = {PN_BODY_FREE, PN_BODY_RIGID, PN_BODY_FREE};
  pnBodyId bodies[3];
  for (int i = 0; i < 3; ++i) {
    pnBodyDef def = pnDefaultBodyDef();
    def.kind = kinds[i];
    def.mesh = i == 2 ? cloth : sphere;
    def.self = i == 2;
    EXPECT(pnWorld_CreateBody(world, &def, &bodies[i]));
  }
  uint32_t n = pnMesh_GetVertexCount(sphere), m = pnMesh_GetVertexCount(cloth);
  float *a = malloc(3 * sizeof(float) * n), *c = malloc(3 * sizeof(float) * m);
  if (!a || !c) return EXIT_FAILURE;
  size_t between = 0, self = 0;
  for (int frame = 0; frame < 3; ++frame) {
    float t = 0.1f * (float)frame;
    for (uint32_t i = 0; i < 3 * n; ++i) a[i] = pnMesh_GetVertices(sphere)[i] * (1 + t);
    /* rolled up so that it lies through itself */
    for (uint32_t i = 0; i < m; ++i) {
      const float *p = pnMesh_GetVertices(cloth) + 3 * i;
      float angle = 2.2f * p[0] + t, r = 0.9f + 0.1f * sinf(5 * p[1] + 3 * p[0]);
      c[3 * i] = r * cosf(angle);
      c[3 * i + 1] = p[1];
      c[3 * i + 2] = r * sinf(angle);
    }
    pnMatrix move = pnMatrix_Identity();
    move.m[0][3] = 0.7f + t;
    EXPECT(pnBody_SetVertices(world, bodies[0], a, n));
    EXPECT(pnBody_SetTransform(world, bodies[1], &move));
    EXPECT(pnBody_SetVertices(world, bodies[2], c, m));
    pnFrame found = pnWorld_Collide(world, NULL);
    EXPECT(found.result);
    const pnContact *contacts = pnWorld_GetContacts(world);
    for (uint32_t i = 0; i < found.contactCount; ++i)
      *(contacts[i].a.index1 == contacts[i].b.index1 ? &self : &between) += contacts[i].pairCount;
  }
  printf("%zu pairs between bodies, %zu of a body with itself\n", between, self);
  pnDestroyWorld(world);
  pnDestroyMesh(cloth);
  pnDestroyMesh(sphere);
  free(a);
  free(c);
  return between > 0 && self > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
