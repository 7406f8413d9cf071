/* shape.c: saved shapes, read with distrust. Length, checksum and prints of mesh and skin are put right before, or a fuzzer would
 * never get past them. What is accepted answers as a tree that was built does, unless it has parts, which are taken on trust; then
 * it stays within its memory. */
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

enum { HEAD = 32, PRINTS = 24, SETTINGS = 36, VERSION = 2, MOST_EDITS = 16 };

/* A good block, bare or with all that self queries prepare. */
typedef struct Block {
  uint8_t *data;
  size_t bytes;
} Block;

static Block save(const pnShape *shape) {
  Block block = {0};
  CHECK(pnShape_Save(shape, (void **)&block.data, &block.bytes) == PN_OK);
  return block;
}

/* A tape of even first byte is what follows the prints, and its own length counts; one of odd first byte changes words of a
 * block with parts. */
static Block blockOf(Tape tape, const Block *bare, const Block *prepared) {
  Block block;
  if (tapeByte(&tape) % 2 == 0) {
    size_t count = (size_t)(tape.end - tape.at);
    block = (Block){malloc(HEAD + PRINTS + count), HEAD + PRINTS + count};
    memcpy(block.data, bare->data, HEAD + PRINTS);
    if (count) memcpy(block.data + HEAD + PRINTS, tape.at, count);
  } else {
    block = (Block){malloc(prepared->bytes), prepared->bytes};
    memcpy(block.data, prepared->data, prepared->bytes);
    for (int i = 0; i < MOST_EDITS && tape.at < tape.end; ++i) {
      size_t at = HEAD + PRINTS + tapeBits(&tape) % (prepared->bytes - HEAD - PRINTS - 3);
      uint32_t word = tapeBits(&tape);
      memcpy(block.data + at, &word, sizeof word);
    }
  }
  uint64_t head[2] = {block.bytes, pn_hashBytes(VERSION, block.data + HEAD, block.bytes - HEAD)};
  memcpy(block.data + 16, head, sizeof head);
  return block;
}

/* Parts are believed; without them the answer is right. */
static bool hasParts(const Block *block) {
  uint32_t made;
  memcpy(&made, block->data + HEAD + PRINTS + SETTINGS, sizeof made);
  return made != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static pnMesh *mesh;
  static Block bare, prepared;
  static size_t truth;
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
    def.tree.update = PN_UPDATE_RIGID;
    CHECK(pnCreateShape(&def, &shape) == PN_OK);
    bare = save(shape);
    CHECK(pnShape_PrepareSelf(shape) == PN_OK);
    prepared = save(shape);
    pnShape_Release(shape);
  }
  def.mesh = mesh;
  Block block = blockOf((Tape){bytes, bytes + count}, &bare, &prepared);
  const pnShape *shape = NULL;
  size_t held = pnGetByteCount();
  if (pnLoadShape(&def, block.data, block.bytes, &shape) == PN_OK) {
    pnResult result;
    size_t pairs = pairsOf(mesh, shape, &result);
    CHECK(result != PN_OK || pairs == truth || hasParts(&block));
    pnShape_Release(shape);
  }
  free(block.data);
  CHECK(pnGetByteCount() == held);
  return 0;
}
