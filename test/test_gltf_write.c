/* test_gltf_write.c: what the exporter writes, read back: the same bodies with the same bits in the same poses, for the
 * samples made by others and for files made here. */
#include "support.h"

#include <math.h>
#include <unistd.h>

#include "gltf_make.h"
#include "pinch/io.h"

static char s_path[64];

static int makePath(void **context) {
  (void)context;
  strcpy(s_path, "pinch_write_XXXXXX");
  int file = mkstemp(s_path);
  close(file);
  return file < 0;
}

static int removePath(void **context) {
  (void)context;
  return unlink(s_path);
}

static const pnAnimBody *findBody(const pnAnimFile *file, const char *name, uint32_t *outIndex) {
  for (uint32_t b = 0; b < file->bodyCount; ++b) {
    if (strcmp(file->bodies[b].name, name) == 0) {
      *outIndex = b;
      return &file->bodies[b];
    }
  }
  fail_msg("body '%s' got lost", name);
  return NULL;
}

/* The parts of a body that do not move. */
static void compareRest(const pnAnimBody *a, const pnAnimBody *b) {
  assert_int_equal(a->vertexCount, b->vertexCount);
  assert_int_equal(a->triangleCount, b->triangleCount);
  assert_memory_equal(a->vertices, b->vertices, (size_t)a->vertexCount * 12);
  assert_memory_equal(a->triangles, b->triangles, (size_t)a->triangleCount * 12);
  assert_memory_equal(a->vertexWeld, b->vertexWeld, (size_t)a->vertexCount * 4);
  assert_int_equal(a->targetCount, b->targetCount);
  for (uint32_t t = 0; t < a->targetCount; ++t) {
    assert_string_equal(a->targets[t].name, b->targets[t].name);
    assert_int_equal(a->targets[t].count, b->targets[t].count);
    if (a->targets[t].count == 0) continue;
    assert_memory_equal(a->targets[t].vertices, b->targets[t].vertices, (size_t)a->targets[t].count * 4);
    assert_memory_equal(a->targets[t].deltas, b->targets[t].deltas, (size_t)a->targets[t].count * 12);
  }
  assert_int_equal(a->skin == PN_NONE, b->skin == PN_NONE);
  if (a->skin == PN_NONE) return;
  assert_int_equal(a->influenceCount, b->influenceCount);
  assert_memory_equal(a->jointIndices, b->jointIndices, (size_t)a->vertexCount * a->influenceCount * 2);
  assert_memory_equal(a->jointWeights, b->jointWeights, (size_t)a->vertexCount * a->influenceCount * 4);
}

/* A moment of both: weights, joints and transform, bit for bit. */
static void compareMoment(const pnAnimFile *x, const pnAnimState *stateX, const pnAnimFile *y,
                          const pnAnimState *stateY) {
  for (uint32_t a = 0; a < x->bodyCount; ++a) {
    uint32_t b = 0;
    const pnAnimBody *body = &x->bodies[a];
    findBody(y, body->name, &b);
    if (body->targetCount > 0)
      assert_memory_equal(pnAnimState_GetWeights(stateX, a), pnAnimState_GetWeights(stateY, b), body->targetCount * 4);
    if (body->skin != PN_NONE) {
      size_t size = x->skins[body->skin].jointCount * sizeof(pnMatrix);
      assert_memory_equal(pnAnimState_GetJoints(stateX, a), pnAnimState_GetJoints(stateY, b), size);
    }
    assert_memory_equal(pnAnimState_GetTransform(stateX, a), pnAnimState_GetTransform(stateY, b), sizeof(pnMatrix));
  }
}

static void compareFiles(const pnAnimFile *x, const pnAnimFile *y) {
  pnAnimState *stateX = NULL, *stateY = NULL;
  assert_int_equal(x->bodyCount, y->bodyCount);
  assert_int_equal(x->clipCount, y->clipCount);
  assert_int_equal(x->sceneCount, y->sceneCount);
  for (uint32_t a = 0; a < x->bodyCount; ++a) {
    uint32_t b = 0;
    compareRest(&x->bodies[a], findBody(y, x->bodies[a].name, &b));
  }
  for (uint32_t s = 0; s < x->sceneCount; ++s) assert_int_equal(x->scenes[s].bodyCount, y->scenes[s].bodyCount);
  assert_int_equal(pnCreateAnimState(x, &stateX), PN_OK);
  assert_int_equal(pnCreateAnimState(y, &stateY), PN_OK);
  compareMoment(x, stateX, y, stateY);
  for (uint32_t c = 0; c < x->clipCount; ++c) {
    assert_string_equal(x->clips[c].name, y->clips[c].name);
    double time = ((double)x->clips[c].startTime + (double)x->clips[c].endTime) * 0.37;
    assert_int_equal(pnAnimState_Evaluate(stateX, c, time), PN_OK);
    assert_int_equal(pnAnimState_Evaluate(stateY, c, time), PN_OK);
    compareMoment(x, stateX, y, stateY);
  }
  pnDestroyAnimState(stateX);
  pnDestroyAnimState(stateY);
}

static void roundTrip(const pnAnimFile *file) {
  pnAnimFile *again = NULL;
  assert_int_equal(pnSaveAnimFile(s_path, file), PN_OK);
  if (pnLoadAnimFile(s_path, &again) != PN_OK) fail_msg("%s: %s", file->name, pnGetMessage());
  compareFiles(file, again);
  pnFreeAnimFile(again);
}

/* ---------------------------------------------------------------- tests */

static void samplesComeBack(void **context) {
  (void)context;
  const TestPath *paths;
  size_t count = testAnimFiles(&paths);
  for (size_t i = 0; i < count; ++i) {
    pnAnimFile *file = NULL;
    testExpectOk(pnLoadAnimFile(paths[i], &file));
    roundTrip(file);
    pnFreeAnimFile(file);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

static void everythingComesBack(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  char *text = makeText(s_everything, &bytes);
  pnAnimFile *file = NULL;
  assert_int_equal(pnParseAnimFile(text, strlen(text), NULL, &file), PN_OK);
  roundTrip(file);
  pnFreeAnimFile(file);
  free(text);
}

static void wrongFilesAreNotWritten(void **context) {
  (void)context;
  pnAnimNode node = {.name = "n", .parent = 0, .scale = {1, 1, 1}};
  pnAnimFile file = {.name = "hand", .nodes = &node, .nodeCount = 1};
  assert_int_equal(pnSaveAnimFile(s_path, &file), PN_ERROR_FORMAT);
  node.parent = PN_NONE;
  assert_int_equal(pnSaveAnimFile("/nowhere/at/all.glb", &file), PN_ERROR_FILE);
  roundTrip(&(pnAnimFile){.name = "empty", .sceneCount = 1, .scenes = &(pnAnimScene){.name = ""}});
}

/* Memory that runs out while writing is an error and leaves nothing behind. */
static pnResult parseAndSave(void *text) {
  pnAnimFile *file = NULL;
  pnResult result = pnParseAnimFile(text, strlen(text), NULL, &file);
  if (result == PN_OK) result = pnSaveAnimFile(s_path, file);
  pnFreeAnimFile(file);
  return result;
}

static void memoryMayEndAnywhere(void **context) {
  (void)context;
  Bytes bytes;
  fillEverything(&bytes);
  char *text = makeText(s_everything, &bytes);
  for (int andAfter = 0; andAfter < 2; ++andAfter)
    assert_true(testEveryAllocationFailure(parseAndSave, text, andAfter, false) > 10);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samplesComeBack),
      cmocka_unit_test(everythingComesBack),
      cmocka_unit_test(wrongFilesAreNotWritten),
      cmocka_unit_test(memoryMayEndAnywhere),
  };
  pnSetLogFcn(testSayNothing, NULL);
  return cmocka_run_group_tests(tests, makePath, removePath);
}
