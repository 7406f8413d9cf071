/* test_mesh_data.c: validate on real files, against a list that other programs made: for each mesh its open edges, edges
 * with more than two triangles and triangles without area. Skipped where the data folder is absent. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "pinch/io.h"

/* Columns of the list. */
enum { FILE_NAME = 1, TRIANGLES = 4, CLOSED, BOUNDARY_EDGES, BRANCH_EDGES, FLAT_TRIANGLES, COLUMN_COUNT };

static uint32_t number(const char *text) {
  return (uint32_t)strtoul(text, NULL, 10);
}

/* Is it a format that one call reads whole, and one whose counts the list knows? */
static bool isMeshLine(char *column[COLUMN_COUNT]) {
  const char *extension = strrchr(column[FILE_NAME], '.');
  if (!extension || !column[TRIANGLES][0] || !column[FLAT_TRIANGLES][0]) return false;
  const char *known[] = {".obj", ".ply", ".stl", ".off"};
  for (int i = 0; i < 4; ++i)
    if (strcmp(extension, known[i]) == 0) return true;
  return false;
}

static void checkFile(const char *path, char *column[COLUMN_COUNT]) {
  pnMeshFile file;
  testExpectOk(pnLoadMeshFile(path, &file));
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = file.vertices;
  def.vertexCount = file.vertexCount;
  def.triangles = file.triangles;
  def.triangleCount = file.triangleCount;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  pnMeshInfo info;
  testExpectOk(pnMesh_Validate(mesh, &info));

  // the list calls an edge open when it has one triangle; we also when an odd number, or directions out of balance
  uint32_t boundary = number(column[BOUNDARY_EDGES]), branching = number(column[BRANCH_EDGES]);
  bool fits = file.triangleCount == number(column[TRIANGLES]) && info.nonManifoldEdgeCount == branching &&
              info.degenerateCount == number(column[FLAT_TRIANGLES]) && info.openEdgeCount >= boundary &&
              info.openEdgeCount <= boundary + branching && info.closed == (info.openEdgeCount == 0);
  if (strcmp(column[CLOSED], "yes") == 0) fits &= info.closed;
  if (!fits)
    fail_msg("%s: %u triangles, %u open, %u branching, %u flat", column[FILE_NAME], file.triangleCount,
             info.openEdgeCount, info.nonManifoldEdgeCount, info.degenerateCount);
  pnDestroyMesh(mesh);
  pnFreeMeshFile(&file);
}

static void realMeshesAreWhatOthersSay(void **state) {
  (void)state;
  const char *path = testDataPath("MANIFEST.tsv");
  if (!path) return;
  FILE *list = fopen(path, "r");
  char line[4096];
  int checked = 0;
  while (fgets(line, sizeof line, list)) {
    char *column[COLUMN_COUNT], *at = line;
    int count = 0;
    while (count < COLUMN_COUNT && at) {
      column[count++] = at;
      at = strchr(at, '\t');
      if (at) *at++ = 0;
    }
    if (count < COLUMN_COUNT || !isMeshLine(column)) continue;
    path = testDataPath(column[FILE_NAME]);
    if (!path) continue;
    checkFile(path, column);
    ++checked;
  }
  fclose(list);
  printf("%d meshes checked\n", checked);
  assert_true(checked > 0);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(realMeshesAreWhatOthersSay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
