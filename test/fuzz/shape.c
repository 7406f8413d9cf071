/* shape.c: saved shapes, read with distrust. Length, checksum and prints of mesh and skin are put right before, or a fuzzer would
 * never get past them. What is accepted answers as a tree that was built does, unless it has calm patches, which are taken on
 * trust; then it stays within its memory. */
#include "base/bytes.h"
#include "pinch/pinch.h"
#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void quiet(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level, (void)text;
}

/* Pairs of the mesh with itself, by a tree of this shape. */
static size_t pairsOf(const pnMesh *mesh, const pnShape *shape, pnResult *outResult) {
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = mesh;
  pnPose *pose = NULL;
  pnTree *tree = NULL;
  pnTreeDef def = pnDefaultTreeDef();
  pnPairList *pairs = NULL;
  *outResult = pnCreatePairList(&pairs);
  if (*outResult == PN_OK) *outResult = pnCreatePose(&poseDef, &pose);
  def.pose = pose;
  def.self = true;
  def.shape = shape;
  if (*outResult == PN_OK) *outResult = pnCreateTree(&def, &tree);
  if (*outResult == PN_OK) *outResult = pnCollideSelf(tree, NULL, pairs, NULL);
  size_t count = *outResult == PN_OK ? pnPairList_GetCount(pairs) : 0;
  if (pairs) pnDestroyPairList(pairs);
  if (tree) pnDestroyTree(tree);
  pnDestroyPose(pose);
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static pnMesh *mesh;
  static uint8_t *good;
  static size_t goodBytes, truth;
  pnSetLogFcn(quiet, NULL);
  pnShapeDef def = pnDefaultShapeDef();
  if (!mesh) {
    CHECK(pnMakeKnot(2, 3, 1, 0.45f, 24, 8, &mesh) == PN_OK);
    pnResult result;
    truth = pairsOf(mesh, NULL, &result);
    CHECK(result == PN_OK && truth > 0);
    const pnShape *shape;
    def.mesh = mesh;
    def.tree.self = true;
    CHECK(pnCreateShape(&def, &shape) == PN_OK);
    CHECK(pnShape_Save(shape, (void **)&good, &goodBytes) == PN_OK);
    pnShape_Release(shape);
  }
  def.mesh = mesh;
  /* the input is laid over a good block from its start; its own length counts */
  enum { HEAD = 32, PRINTS = 24 };
  size_t size = HEAD + PRINTS + count;
  uint8_t *block = malloc(size);
  memcpy(block, good, HEAD + PRINTS);
  if (count) memcpy(block + HEAD + PRINTS, bytes, count);
  uint64_t head[2] = {size, pn_hashBytes(1, block + HEAD, size - HEAD)};
  memcpy(block + 16, head, sizeof head);
  const pnShape *shape = NULL;
  size_t held = pnGetByteCount();
  if (pnLoadShape(&def, block, size, &shape) == PN_OK) {
    pnResult result;
    size_t pairs = pairsOf(mesh, shape, &result);
    CHECK(result != PN_OK || pairs == truth);
    pnShape_Release(shape);
  }
  free(block);
  CHECK(pnGetByteCount() == held);
  return 0;
}
