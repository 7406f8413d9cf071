/* mesh.c: OBJ, PLY, STL and OFF from memory; the first byte says which. What is accepted is a mesh that can be made. */
#include "pinch/io.h"
#include "pinch/mesh.h"
#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void quiet(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char *const names[] = {"a.obj", "a.ply", "a.stl", "a.off"};
  if (count < 1) return 0;
  pnSetLogFcn(quiet, NULL);
  /* a copy of exactly this size, so that a read past its end is seen */
  uint8_t *exact = malloc(count);
  memcpy(exact, bytes + 1, count - 1);
  pnMeshFile file = {0};
  pnResult result = pnParseMeshFile(exact, count - 1, names[bytes[0] % 4], &file);
  if (result == PN_OK) {
    for (size_t i = 0; i < 3 * (size_t)file.vertexCount; ++i) CHECK(isfinite(file.vertices[i]));
    for (size_t i = 0; i < 3 * (size_t)file.triangleCount; ++i) CHECK(file.triangles[i] < file.vertexCount);
    pnMeshDef def = pnDefaultMeshDef();
    def.vertices = file.vertices, def.vertexCount = file.vertexCount;
    def.triangles = file.triangles, def.triangleCount = file.triangleCount;
    pnMesh *mesh = NULL;
    CHECK(pnCreateMesh(&def, &mesh) == PN_OK);
    pnDestroyMesh(mesh);
  } else {
    CHECK(pnGetMessage()[0] != 0);
  }
  pnFreeMeshFile(&file);
  free(exact);
  CHECK(pnGetByteCount() == 0);
  return 0;
}
