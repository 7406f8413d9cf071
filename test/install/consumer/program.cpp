// program.cpp: a C++ program that has only the installed pinch. Exits with 0 when the answers are right.
#include <pinch/geom.h>
#include <pinch/mesh.h>

#include <iostream>
#include <memory>
#include <string>

int main(int argc, char **argv) {
  if (argc != 2 || std::string(pnGetVersion()) != argv[1]) return 1;

  // A definition with an error in it is a result with a message, not an exception.
  const float vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const uint32_t triangles[] = {0, 1, 7};
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 3;
  def.triangles = triangles;
  def.triangleCount = 1;
  pnMesh *mesh = nullptr;
  if (pnCreateMesh(&def, &mesh) != PN_ERROR_INDEX || std::string(pnGetMessage()).empty()) return 1;

  // The library's objects fit a smart pointer.
  if (pnMakeTorus(1.0f, 0.25f, 24, 12, &mesh) != PN_OK) return std::cerr << pnGetMessage() << '\n', 1;
  std::unique_ptr<pnMesh, decltype(&pnDestroyMesh)> torus(mesh, pnDestroyMesh);
  return pnMesh_GetTriangleCount(torus.get()) == 2 * 24 * 12 ? 0 : 1;
}
