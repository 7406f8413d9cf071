/* program.c: a C program that has only the installed pinch. Exits with 0 when the answers are right. */
#include <pinch/geom.h>
#include <pinch/mesh.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 2 || strcmp(pnGetVersion(), argv[1]) != 0) return printf("version is %s\n", pnGetVersion()), 1;

  /* Two triangles that cross, and one moved away. */
  pnTriangle a = {{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}}};
  pnTriangle b = {{{0.5f, 0.5f, -1}, {0.5f, 0.5f, 1}, {3, 3, 1}}};
  pnTriangle far = {{{0, 0, 5}, {2, 0, 5}, {0, 2, 5}}};
  if (!pnTrianglesMeet(&a, &b) || pnTrianglesMeet(&a, &far)) return puts("wrong answer about triangles"), 1;

  /* A mesh by formula: closed, with the triangles it should have. */
  pnMesh *sphere = NULL;
  pnMeshInfo info;
  if (pnMakeIcosphere(2, 1.0f, &sphere) != PN_OK || pnMesh_Validate(sphere, &info) != PN_OK)
    return puts(pnGetMessage()), 1;
  if (!info.closed || pnMesh_GetTriangleCount(sphere) != 320) return puts("wrong answer about the sphere"), 1;
  pnDestroyMesh(sphere);
  return pnGetByteCount() == 0 ? 0 : (puts("memory is left"), 1);
}
