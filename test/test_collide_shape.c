/* test_collide_shape.c: public shapes (pinch/tree.h, pinch/collide.h): trees and bodies from one shape, and shapes saved and loaded.
 * A block that was changed is refused or makes a shape that answers as it must: the mutations here repair the checksum, as
 * somebody would who means it. */
#include "support.h"

#include "avatar.h"
#include "base/bytes.h"
#include "collide/calm.h"
#include "face.h"
#include "pinch/pinch.h"
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what shapes are made of */

typedef struct Stuff {
  pnMesh *ball, *knot, *mask, *cone;
  pnMorph *morph;
  pnAvatar avatar;
} Stuff;

static Stuff s_stuff;

/* A face of which only some targets are left: all of them take seconds. */
static pnMorph *makeMask(pnMesh **outMesh) {
  pnFace *face;
  testExpectOk(pnCreateFace(&face));
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = face->vertices;
  def.vertexCount = face->vertexCount;
  def.triangles = face->triangles;
  def.triangleCount = 1200;
  testExpectOk(pnCreateMesh(&def, outMesh));
  pnMorphDef morphDef = pnDefaultMorphDef();
  morphDef.mesh = *outMesh;
  morphDef.targets = face->targets;
  morphDef.targetCount = 6;
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&morphDef, &morph));
  pnDestroyFace(face);
  return morph;
}

/* A disc of 400 triangles around one vertex, a hub, beside a strip. */
static pnMesh *makeCone(void) {
  enum { AROUND = 400 };
  static float vertices[3 * (AROUND + 1)];
  static uint32_t triangles[3 * AROUND];
  for (uint32_t i = 0; i < AROUND; ++i) {
    float t = (float)i / AROUND, wave = (float)(i % 7) * 0.01f;
    vertices[3 * i] = t < 0.5f ? 1 - 4 * t : 4 * t - 3;
    vertices[3 * i + 1] = (t < 0.5f ? 1.0f : -1.0f) * (1 - vertices[3 * i] * vertices[3 * i]);
    vertices[3 * i + 2] = wave;
    triangles[3 * i] = AROUND;
    triangles[3 * i + 1] = i;
    triangles[3 * i + 2] = (i + 1) % AROUND;
  }
  vertices[3 * AROUND] = vertices[3 * AROUND + 1] = 0;
  vertices[3 * AROUND + 2] = 1;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = AROUND + 1;
  def.triangles = triangles;
  def.triangleCount = AROUND;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  return mesh;
}

static int openStuff(void **state) {
  (void)state;
  testExpectOk(pnMakeIcosphere(2, 1, &s_stuff.ball));
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.25f, 32, 8, &s_stuff.knot));
  testExpectOk(pnCreateAvatar(1000, &s_stuff.avatar));
  s_stuff.morph = makeMask(&s_stuff.mask);
  s_stuff.cone = makeCone();
  return 0;
}

static int closeStuff(void **state) {
  (void)state;
  pnDestroyMorph(s_stuff.morph);
  pnDestroyMesh(s_stuff.mask);
  pnDestroyMesh(s_stuff.cone);
  pnDestroyAvatar(&s_stuff.avatar);
  pnDestroyMesh(s_stuff.knot);
  pnDestroyMesh(s_stuff.ball);
  return pnGetByteCount() == 0 ? 0 : -1;
}

static pnShapeDef defOf(const pnMesh *mesh, const pnMorph *morph, const pnSkin *skin) {
  pnShapeDef def = pnDefaultShapeDef();
  def.mesh = mesh;
  def.morph = morph;
  def.skin = skin;
  return def;
}

/* Definitions of all kinds. */
enum { DEFS = 13 };
static pnShapeDef someDef(int i) {
  pnShapeDef def = defOf(s_stuff.ball, NULL, NULL);
  static pnTreeLab s_labs[DEFS]; /* of each, as long as the program */
  pnTreeLab lab = {0};
  switch (i) {
    case 0: break;
    case 1: def.tree.self = false; break;
    case 2: lab.form = PN_FORM_SPHERE; break;
    case 3: lab.form = PN_FORM_DOP26, def.tree.update = PN_UPDATE_RIGID; break;
    case 4: lab.build = PN_BUILD_LINK, lab.arity = 2, lab.leafSize = 1; break;
    case 5: lab.build = PN_BUILD_SHAPE_CENTRE, lab.arity = 4; break;
    case 6: def.tree.update = PN_UPDATE_BOTTOM_UP, lab.build = PN_BUILD_SHAPE_MEAN; break;
    case 7: def.mesh = s_stuff.knot, def.tree.update = PN_UPDATE_BERGEN; break;
    case 8: def.mesh = s_stuff.cone; break;
    case 9: def = defOf(s_stuff.mask, s_stuff.morph, NULL); break;
    case 10: def = defOf(s_stuff.mask, s_stuff.morph, NULL), def.tree.calm = true; break;
    case 11: def = defOf(s_stuff.avatar.mesh, NULL, s_stuff.avatar.skin); break;
    default: def = defOf(s_stuff.avatar.mesh, NULL, s_stuff.avatar.weightedSkin), lab.form = PN_FORM_DOP14; break;
  }
  s_labs[i] = lab;
  def.tree.lab = &s_labs[i];
  return def;
}

static const pnShape *shapeOf(const pnShapeDef *def) {
  const pnShape *shape;
  testExpectOk(pnCreateShape(def, &shape));
  return shape;
}

static pnPose *poseOf(const pnShapeDef *def) {
  pnPoseDef poseDef = {def->mesh, def->morph, def->skin};
  pnPose *pose;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  return pose;
}

static pnTree *treeOf(const pnShape *shape, const pnPose *pose) {
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.shape = shape;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

/* Squeezes a pose that takes vertices, so that it meets itself here and there; others are bent as they can. */
static void bend(pnPose *pose, const pnShapeDef *def) {
  if (def->skin) {
    pnMatrix joints[PN_AVATAR_JOINTS];
    (def->skin == s_stuff.avatar.skin ? pnAvatar_Walk : pnAvatar_WalkWeighted)(0.3, joints);
    testExpectOk(pnPose_SetJoints(pose, joints, PN_AVATAR_JOINTS));
    return;
  }
  if (def->morph) {
    float weights[6] = {0.9f, 0, 0.7f, 0, 1, 0.4f};
    testExpectOk(pnPose_SetWeights(pose, weights, 6));
    return;
  }
  uint32_t n = pnMesh_GetVertexCount(def->mesh);
  float *v = malloc(3 * sizeof(float) * n);
  assert_non_null(v);
  for (uint32_t i = 0; i < n; ++i) {
    const float *rest = pnMesh_GetVertices(def->mesh) + 3 * (size_t)i;
    v[3 * i] = rest[0];
    v[3 * i + 1] = rest[1] * rest[1];
    v[3 * i + 2] = 0.5f * rest[2] + (i % 5 == 0 ? 0.2f : 0);
  }
  testExpectOk(pnPose_SetVertices(pose, v, n));
  free(v);
}

/* A hash of the self pairs of a tree, or of the tree with a ball. */
static uint64_t answerOf(pnTree *tree) {
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  pnPose *pose = NULL;
  pnTree *other = NULL;
  if (pnTree_GetDef(tree).self) {
    testExpectOk(pnCollideSelf(tree, NULL, list, NULL));
  } else {
    pnShapeDef ball = defOf(s_stuff.knot, NULL, NULL);
    pose = poseOf(&ball);
    pnTreeDef def = pnDefaultTreeDef();
    def.pose = pose;
    testExpectOk(pnCreateTree(&def, &other));
    testExpectOk(pnCollideTrees(tree, other, NULL, list, NULL));
  }
  uint64_t hash = pn_hashBytes(0, pnPairList_GetPairs(list), pnPairList_GetCount(list) * sizeof(pnPair));
  pnDestroyTree(other);
  pnDestroyPose(pose);
  pnDestroyPairList(list);
  return hash;
}

static uint64_t truthOf(const pnPose *pose) {
  pnPairList *list;
  testExpectOk(pnCreatePairList(&list));
  testExpectOk(pnCollideBrute(pose, pose, NULL, list));
  uint64_t hash = pn_hashBytes(0, pnPairList_GetPairs(list), pnPairList_GetCount(list) * sizeof(pnPair));
  pnDestroyPairList(list);
  return hash;
}

/* ---------------------------------------------------------------- one shape, many trees */

static void treesOfOneShape(void **state) {
  (void)state;
  for (int i = 0; i < DEFS; ++i) {
    pnShapeDef def = someDef(i);
    const pnShape *shape = shapeOf(&def);
    pnPose *pose[2] = {poseOf(&def), poseOf(&def)};
    pnTree *tree[2] = {treeOf(shape, pose[0]), treeOf(shape, pose[1])};
    assert_ptr_equal(pnTree_GetShape(tree[0]), shape);
    assert_ptr_equal(pnTree_GetShape(tree[1]), shape);
    assert_int_equal(pnShape_GetNodeCount(shape), pnTree_GetNodeCount(tree[0]));
    assert_int_equal(pnShape_GetHeight(shape), pnTree_GetHeight(tree[0]));
    assert_ptr_equal(pnShape_GetMesh(shape), def.mesh);
    assert_ptr_equal(pnShape_GetMorph(shape), def.morph);
    assert_ptr_equal(pnShape_GetSkin(shape), def.skin);
    assert_int_equal(pnShape_GetLab(shape).form, def.tree.lab->form);
    assert_true(pnShape_GetByteCount(shape) < pnTree_GetByteCount(tree[0]));
    pnShape_Release(shape); /* the trees hold it */
    bend(pose[1], &def);
    for (int k = 0; k < 2; ++k) testExpectOk(pnTree_Validate(tree[k]));
    if (def.tree.self) {
      assert_true(answerOf(tree[0]) == truthOf(pose[0]));
      assert_true(answerOf(tree[1]) == truthOf(pose[1]));
    }
    for (int k = 0; k < 2; ++k) {
      pnDestroyTree(tree[k]);
      pnDestroyPose(pose[k]);
    }
  }
}

/* Another mesh or motion than the pose's is refused. */
static void strangersAreRefused(void **state) {
  (void)state;
  pnShapeDef ball = someDef(0), knot = defOf(s_stuff.knot, NULL, NULL), plainMask = defOf(s_stuff.mask, NULL, NULL);
  pnShapeDef face = someDef(9);
  const pnShape *shape[2] = {shapeOf(&ball), shapeOf(&face)};
  pnPose *pose[2] = {poseOf(&knot), poseOf(&plainMask)};
  for (int i = 0; i < 2; ++i) {
    pnTreeDef def = pnDefaultTreeDef();
    pnTree *tree;
    def.pose = pose[i];
    def.shape = shape[i];
    testExpectFailure(pnCreateTree(&def, &tree), PN_ERROR_KIND, "shape|mesh");
    assert_null(tree);
    pnDestroyPose(pose[i]);
    pnShape_Release(shape[i]);
  }
  pnShapeDef bad = ball;
  bad.tree.lab = &(pnTreeLab){.arity = 3};
  const pnShape *none;
  testExpectFailure(pnCreateShape(&bad, &none), PN_ERROR_ARGUMENT, "arity");
  assert_null(none);
}

/* Bodies: mesh, targets and joints are the shape's, and all of them hold it. */
static void bodiesOfOneShape(void **state) {
  (void)state;
  static const struct {
    int def;
    pnBodyKind kind;
  } cases[] = {{0, PN_BODY_FREE}, {0, PN_BODY_STATIC}, {3, PN_BODY_RIGID}, {10, PN_BODY_MORPH}, {11, PN_BODY_SKINNED}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    pnShapeDef def = someDef(cases[i].def);
    const pnShape *shape = shapeOf(&def);
    testExpectOk(pnShape_PrepareSelf(shape));
    pnWorld *world;
    testExpectOk(pnCreateWorld(NULL, &world));
    pnBodyDef bodyDef = pnDefaultBodyDef();
    bodyDef.kind = cases[i].kind;
    bodyDef.shape = shape;
    bodyDef.self = true;
    pnBodyId id[3];
    for (int k = 0; k < 3; ++k) {
      testExpectOk(pnWorld_CreateBody(world, &bodyDef, &id[k]));
      assert_ptr_equal(pnTree_GetShape(pnBody_GetTree(world, id[k])), shape);
    }
    testExpectOk(pnWorld_Collide(world, NULL).result);
    /* kinds and settings that do not fit */
    bodyDef.kind = cases[i].kind == PN_BODY_SKINNED ? PN_BODY_FREE : PN_BODY_SKINNED;
    testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id[0]), PN_ERROR_KIND, "shape");
    bodyDef.kind = PN_BODY_SOUP;
    testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id[0]), PN_ERROR_KIND, "soup|shape");
    bodyDef.kind = cases[i].kind;
    bodyDef.mesh = s_stuff.cone;
    testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id[0]), PN_ERROR_KIND, "another mesh");
    pnDestroyWorld(world);
    pnShape_Release(shape);
  }
  pnShapeDef def = someDef(1);
  const pnShape *shape = shapeOf(&def);
  pnWorld *world;
  pnBodyId id;
  testExpectOk(pnCreateWorld(NULL, &world));
  pnBodyDef bodyDef = pnDefaultBodyDef();
  bodyDef.shape = shape;
  testExpectOk(pnWorld_CreateBody(world, &bodyDef, &id));
  bodyDef.self = true;
  testExpectFailure(pnWorld_CreateBody(world, &bodyDef, &id), PN_ERROR_KIND, "self");
  pnDestroyWorld(world);
  pnShape_Release(shape);
}

/* ---------------------------------------------------------------- saved and loaded */

typedef struct Block {
  char *data;
  size_t bytes;
} Block;

static Block save(const pnShape *shape) {
  void *data;
  Block block;
  testExpectOk(pnShape_Save(shape, &data, &block.bytes));
  block.data = malloc(block.bytes);
  assert_non_null(block.data);
  memcpy(block.data, data, block.bytes);
  pnFree(data, block.bytes);
  return block;
}

#define SAME(a, b, field, count) assert_memory_equal((a)->field, (b)->field, (count) * sizeof(*(a)->field))

static void expectSame(const pnShape *a, const pnShape *b) {
  assert_int_equal(a->innerCount, b->innerCount);
  assert_int_equal(a->leafCount, b->leafCount);
  assert_int_equal(a->height, b->height);
  assert_int_equal(a->clusterCount, b->clusterCount);
  assert_int_equal(a->eagerCount, b->eagerCount);
  assert_int_equal(a->hubCount, b->hubCount);
  assert_int_equal(a->memoryBytes, b->memoryBytes);
  SAME(a, b, memory, a->memoryBytes);
}

static void whatIsLoadedIsTheSame(void **state) {
  (void)state;
  for (int i = 0; i < DEFS; ++i) {
    pnShapeDef def = someDef(i);
    const pnShape *shape = shapeOf(&def), *loaded;
    testExpectOk(pnShape_PrepareSelf(shape));
    Block block = save(shape), again;
    testExpectOk(pnLoadShape(&def, block.data, block.bytes, &loaded));
    expectSame(shape, loaded);
    assert_int_equal(pnShape_GetLab(loaded).cut, pnShape_GetLab(shape).cut);
    /* calm patches are there without working them out */
    assert_int_equal(pn_partOf(loaded, PN_PART_CALM) != NULL, i == 10);
    again = save(loaded);
    assert_int_equal(again.bytes, block.bytes);
    assert_memory_equal(again.data, block.data, block.bytes);
    pnPose *pose = poseOf(&def);
    pnTree *tree[2] = {treeOf(shape, pose), treeOf(loaded, pose)};
    bend(pose, &def);
    testExpectOk(pnTree_Validate(tree[1]));
    assert_true(answerOf(tree[0]) == answerOf(tree[1]));
    for (int k = 0; k < 2; ++k) pnDestroyTree(tree[k]);
    pnDestroyPose(pose);
    pnShape_Release(loaded);
    pnShape_Release(shape);
    free(block.data);
    free(again.data);
  }
}

static void emptyMeshesToo(void **state) {
  (void)state;
  pnMeshDef meshDef = pnDefaultMeshDef();
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&meshDef, &mesh));
  pnShapeDef def = defOf(mesh, NULL, NULL);
  const pnShape *shape = shapeOf(&def), *loaded;
  Block block = save(shape);
  testExpectOk(pnLoadShape(&def, block.data, block.bytes, &loaded));
  assert_int_equal(pnShape_GetNodeCount(loaded), 0);
  free(block.data);
  pnShape_Release(loaded);
  pnShape_Release(shape);
  pnDestroyMesh(mesh);
}

static void piecesAreNotSaved(void **state) {
  (void)state;
  pnShapeDef def = someDef(1);
  def.tree.big = PN_BIG_CORNERS;
  const pnShape *shape = shapeOf(&def);
  void *data;
  size_t bytes;
  testExpectFailure(pnShape_Save(shape, &data, &bytes), PN_ERROR_KIND, "pieces");
  assert_null(data);
  pnShape_Release(shape);
}

/* ---------------------------------------------------------------- refused */

enum { LENGTH_AT = 16, SUM_AT = 24, HEAD = 32 };

/* Makes length and checksum right, as for a block that was meant to be so. */
static void repair(Block *block) {
  uint64_t head[2] = {block->bytes, 0};
  if (block->bytes < HEAD) return;
  head[1] = pn_hashBytes(1, block->data + HEAD, block->bytes - HEAD);
  memcpy(block->data + LENGTH_AT, head, sizeof head);
}

static void expectRefused(const pnShapeDef *def, const Block *block, pnResult expected, const char *words) {
  const pnShape *loaded;
  testExpectFailure(pnLoadShape(def, block->data, block->bytes, &loaded), expected, words);
  assert_null(loaded);
}

static void headsAreChecked(void **state) {
  (void)state;
  pnShapeDef def = someDef(0), knot = defOf(s_stuff.knot, NULL, NULL);
  const pnShape *shape = shapeOf(&def);
  Block block = save(shape);
  expectRefused(&knot, &block, PN_ERROR_KIND, "another mesh");
  block.data[0] ^= 1;
  expectRefused(&def, &block, PN_ERROR_FORMAT, "not a saved shape");
  block.data[0] ^= 1;
  char order[4] = {1, 2, 3, 4};
  if (block.data[8] == 1) memcpy(order, (char[4]){4, 3, 2, 1}, 4);
  char mine[4];
  memcpy(mine, block.data + 8, 4);
  memcpy(block.data + 8, order, 4);
  expectRefused(&def, &block, PN_ERROR_UNSUPPORTED, "order of bytes");
  memcpy(block.data + 8, mine, 4);
  block.data[12] ^= 2;
  expectRefused(&def, &block, PN_ERROR_UNSUPPORTED, "version");
  block.data[12] ^= 2;
  /* every single bit behind the head is in the checksum */
  TestRandom r = testRandom(7);
  for (int i = 0; i < 200; ++i) {
    size_t at = SUM_AT + testBelow(&r, (uint32_t)(block.bytes - SUM_AT));
    char bit = (char)(1u << testBelow(&r, 8));
    block.data[at] ^= bit;
    expectRefused(&def, &block, PN_ERROR_FORMAT, "checksum");
    block.data[at] ^= bit;
  }
  /* too short, everywhere; with a right checksum too */
  for (size_t n = 0; n < block.bytes; n += 1 + n / 64) {
    Block part = {malloc(n + 1), n};
    memcpy(part.data, block.data, n);
    expectRefused(&def, &part, PN_ERROR_FORMAT, "shape");
    repair(&part);
    expectRefused(&def, &part, PN_ERROR_FORMAT, "shape");
    free(part.data);
  }
  Block longer = {malloc(block.bytes + 4), block.bytes + 4};
  memcpy(longer.data, block.data, block.bytes);
  memset(longer.data + block.bytes, 0, 4);
  repair(&longer);
  expectRefused(&def, &longer, PN_ERROR_FORMAT, "left over");
  free(longer.data);
  const pnShape *loaded;
  testExpectOk(pnLoadShape(&def, block.data, block.bytes, &loaded));
  pnShape_Release(loaded);
  free(block.data);
  pnShape_Release(shape);
}

/* Changes a block somewhere behind the prints; mostly by little. */
static void mutate(TestRandom *r, Block *block) {
  const size_t from = HEAD + 24;
  uint32_t times = 1 + testBelow(r, 3);
  for (uint32_t i = 0; i < times; ++i) {
    size_t at = from + testBelow(r, (uint32_t)(block->bytes - from));
    switch (testBelow(r, 6)) {
      case 0: block->data[at] ^= (char)(1u << testBelow(r, 8)); break;
      case 1: block->data[at] = (char)testBelow(r, 256); break;
      case 2: block->data[at] = (char)(block->data[at] + (testBelow(r, 2) ? 1 : -1)); break;
      case 3: { /* two numbers change places: a division of the same triangles */
        size_t other = from + testBelow(r, (uint32_t)(block->bytes - from));
        at -= (at - from) % 4, other -= (other - from) % 4;
        if (PN_MAX(at, other) + 4 > block->bytes) break;
        char swap[4];
        memcpy(swap, block->data + at, 4);
        memcpy(block->data + at, block->data + other, 4);
        memcpy(block->data + other, swap, 4);
        break;
      }
      case 4: { /* a byte moves: counts change, their sum does not */
        size_t other = from + testBelow(r, (uint32_t)(block->bytes - from));
        char swap = block->data[at];
        block->data[at] = block->data[other];
        block->data[other] = swap;
        break;
      }
      default: {
        static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000, 0xfffffffe, 0x7fc07fc0};
        if (at + 4 <= block->bytes) memcpy(block->data + at, &words[testBelow(r, 8)], 4);
        break;
      }
    }
  }
  repair(block);
}

/* What is accepted is whole and answers as the truth does; with calm patches, whose numbers are not checked, it only ends. */
static void changedBlocksDoNoHarm(void **state) {
  (void)state;
  TestRandom r = testRandom(11);
  uint32_t accepted = 0, refused = 0;
  static const int defs[] = {0, 4, 8, 10, 10};
  for (size_t d = 0; d < sizeof defs / sizeof defs[0]; ++d) {
    pnShapeDef def = someDef(defs[d]);
    const pnShape *shape = shapeOf(&def);
    testExpectOk(pnShape_PrepareSelf(shape));
    Block whole = save(shape);
    pnPose *pose = poseOf(&def);
    bend(pose, &def);
    uint64_t truth = truthOf(pose);
    Block block = {malloc(whole.bytes), whole.bytes};
    for (int i = 0; i < 400; ++i) {
      memcpy(block.data, whole.data, whole.bytes);
      mutate(&r, &block);
      const pnShape *loaded;
      pnResult result = pnLoadShape(&def, block.data, block.bytes, &loaded);
      if (result != PN_OK) {
        assert_true(result == PN_ERROR_FORMAT);
        assert_null(loaded);
        ++refused;
        continue;
      }
      ++accepted;
      pnTree *tree = treeOf(loaded, pose);
      testExpectOk(pnTree_Validate(tree));
      if (pnTree_GetDef(tree).self) {
        uint64_t answer = answerOf(tree);
        assert_true(answer == truth || pn_partOf(loaded, PN_PART_CALM));
      }
      pnDestroyTree(tree);
      pnShape_Release(loaded);
    }
    free(block.data);
    free(whole.data);
    pnDestroyPose(pose);
    pnShape_Release(shape);
  }
  assert_true(refused > 500);
  assert_true(accepted > 100);
}

/* A chain of single children as long as the block allows is refused, before anything walks down it. */
static void deepDivisionsAreRefused(void **state) {
  (void)state;
  pnShapeDef def = someDef(0);
  const pnShape *shape = shapeOf(&def);
  Block block = save(shape);
  /* settings, parts, then inner and leaf counts */
  size_t at = HEAD + 24 + 36 + 4;
  uint32_t inner, leaves, chain = 100000;
  memcpy(&inner, block.data + at, 4);
  memcpy(&leaves, block.data + at + 4, 4);
  Block deep = {malloc(block.bytes + chain), block.bytes + chain};
  memcpy(deep.data, block.data, at + 8);
  memset(deep.data + at + 8, 1, chain);
  memcpy(deep.data + at + 8 + chain, block.data + at + 8, block.bytes - at - 8);
  inner += chain;
  memcpy(deep.data + at, &inner, 4);
  repair(&deep);
  expectRefused(&def, &deep, PN_ERROR_FORMAT, "inner node 1024");
  free(deep.data);
  free(block.data);
  pnShape_Release(shape);
}

/* ---------------------------------------------------------------- no memory */

static Block s_block;

static pnResult loadAndPrepare(void *context) {
  const pnShapeDef *def = context;
  const pnShape *shape = NULL;
  void *data = NULL;
  size_t bytes = 0;
  pnResult result = pnLoadShape(def, s_block.data, s_block.bytes, &shape);
  if (result == PN_OK) result = pnShape_PrepareSelf(shape);
  if (result == PN_OK) result = pnShape_Save(shape, &data, &bytes);
  pnFree(data, bytes);
  pnShape_Release(shape);
  return result;
}

static pnResult loadBall(void *context) {
  (void)context;
  pnMesh *mesh = NULL;
  pnResult result = pnMakeIcosphere(1, 1, &mesh);
  if (result == PN_OK) {
    pnShapeDef def = defOf(mesh, NULL, NULL);
    result = loadAndPrepare(&def);
  }
  pnDestroyMesh(mesh);
  return result;
}

static void everyAllocationMayFail(void **state) {
  closeStuff(state);
  pnMesh *mesh;
  testExpectOk(pnMakeIcosphere(1, 1, &mesh));
  pnShapeDef def = defOf(mesh, NULL, NULL);
  const pnShape *shape = shapeOf(&def);
  s_block = save(shape);
  pnShape_Release(shape);
  pnDestroyMesh(mesh);
  assert_true(testEveryAllocationFailure(loadBall, NULL, false, true) > 20);
  assert_true(testEveryAllocationFailure(loadBall, NULL, true, false) > 20);
  free(s_block.data);
  openStuff(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(treesOfOneShape),         cmocka_unit_test(strangersAreRefused),
      cmocka_unit_test(bodiesOfOneShape),        cmocka_unit_test(whatIsLoadedIsTheSame),
      cmocka_unit_test(emptyMeshesToo),          cmocka_unit_test(piecesAreNotSaved),
      cmocka_unit_test(headsAreChecked),         cmocka_unit_test(changedBlocksDoNoHarm),
      cmocka_unit_test(deepDivisionsAreRefused), cmocka_unit_test(everyAllocationMayFail),
  };
  return cmocka_run_group_tests(tests, openStuff, closeStuff);
}
