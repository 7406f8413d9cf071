/* support_shape.c: see support_shape.h. */
#include "support_shape.h"

#include "face.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what shapes are made of */

TestShapes testShapes;

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

/* Six targets of a mesh, made by formula: positions for references, deltas else, of some vertices. */
static pnMorph *makeMorph(const pnMesh *mesh, pnMorphMode mode) {
  enum { TARGETS = 6 };
  uint32_t n = pnMesh_GetVertexCount(mesh);
  float *values = malloc(3 * sizeof(float) * n * TARGETS);
  assert_non_null(values);
  pnMorphTarget targets[TARGETS] = {0};
  for (uint32_t t = 0; t < TARGETS; ++t) {
    targets[t] = (pnMorphTarget){.count = n, .values = values + 3 * (size_t)n * t};
    for (uint32_t i = 0; i < 3 * n; ++i) {
      float rest = pnMesh_GetVertices(mesh)[i];
      values[3 * (size_t)n * t + i] = mode == PN_MORPH_REFERENCES ? rest * (1 + 0.1f * (float)((i + t) % 4))
                                      : i / 3 % TARGETS == t      ? 0.02f * (float)(i % 3)
                                                                  : 0;
    }
  }
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = mesh;
  def.mode = mode;
  def.targets = targets;
  def.targetCount = TARGETS;
  pnMorph *morph;
  testExpectOk(pnCreateMorph(&def, &morph));
  free(values);
  return morph;
}

int testOpenShapes(void **state) {
  (void)state;
  testExpectOk(pnMakeIcosphere(2, 1, &testShapes.ball));
  testExpectOk(pnMakeKnot(2, 3, 1.0f, 0.25f, 32, 8, &testShapes.knot));
  testExpectOk(pnCreateAvatar(1000, &testShapes.avatar));
  testShapes.morph = makeMask(&testShapes.mask);
  testShapes.cone = makeCone();
  testShapes.references = makeMorph(testShapes.ball, PN_MORPH_REFERENCES);
  testShapes.breath = makeMorph(testShapes.avatar.mesh, PN_MORPH_DELTAS);
  return 0;
}

int testCloseShapes(void **state) {
  (void)state;
  pnDestroyMorph(testShapes.morph);
  pnDestroyMorph(testShapes.references);
  pnDestroyMorph(testShapes.breath);
  pnDestroyMesh(testShapes.mask);
  pnDestroyMesh(testShapes.cone);
  pnDestroyAvatar(&testShapes.avatar);
  pnDestroyMesh(testShapes.knot);
  pnDestroyMesh(testShapes.ball);
  return pnGetByteCount() == 0 ? 0 : -1;
}

pnShapeDef testShapeDefOf(const pnMesh *mesh, const pnMorph *morph, const pnSkin *skin) {
  pnShapeDef def = pnDefaultShapeDef();
  def.mesh = mesh;
  def.morph = morph;
  def.skin = skin;
  return def;
}

/* Definitions of all kinds. */
pnShapeDef testShapeDef(int i) {
  pnShapeDef def = testShapeDefOf(testShapes.ball, NULL, NULL);
  static pnTreeLab s_labs[TEST_SHAPES]; /* of each, as long as the program */
  pnTreeLab lab = {0};
  switch (i) {
    case 0: break;
    case 1: def.tree.self = false; break;
    case 2: lab.form = PN_FORM_SPHERE; break;
    case 3: lab.form = PN_FORM_DOP26, def.tree.update = PN_UPDATE_RIGID; break;
    case 4: lab.build = PN_BUILD_LINK, lab.arity = 2, lab.leafSize = 1; break;
    case 5: lab.build = PN_BUILD_SHAPE_CENTRE, lab.arity = 4; break;
    case 6: def.tree.update = PN_UPDATE_BOTTOM_UP, lab.build = PN_BUILD_SHAPE_MEAN; break;
    case 7: def.mesh = testShapes.knot, def.tree.update = PN_UPDATE_BERGEN; break;
    case 8: def.mesh = testShapes.cone; break;
    case 9: def = testShapeDefOf(testShapes.mask, testShapes.morph, NULL); break;
    case 10: def = testShapeDefOf(testShapes.mask, testShapes.morph, NULL), def.tree.calm = true; break;
    case 11: def = testShapeDefOf(testShapes.avatar.mesh, NULL, testShapes.avatar.skin); break;
    case 12:
      def = testShapeDefOf(testShapes.avatar.mesh, NULL, testShapes.avatar.weightedSkin), lab.form = PN_FORM_DOP14;
      break;
    case 13: def = testShapeDefOf(testShapes.mask, testShapes.morph, NULL), lab.form = PN_FORM_SPHERE; break;
    case 14:
      def = testShapeDefOf(testShapes.mask, testShapes.morph, NULL), def.tree.update = PN_UPDATE_BLENDED_MODEL;
      break;
    case 15: def = testShapeDefOf(testShapes.ball, testShapes.references, NULL), lab.extraReferences = 2; break;
    case 16: def = testShapeDefOf(testShapes.avatar.mesh, testShapes.breath, testShapes.avatar.skin); break;
    case 17:
      def = testShapeDefOf(testShapes.avatar.mesh, testShapes.breath, testShapes.avatar.skin),
      lab.form = PN_FORM_SPHERE;
      break;
    case 18: def.mesh = testShapes.knot, def.tree.update = PN_UPDATE_RIGID, def.tree.self = false; break;
    default: def.mesh = testShapes.knot, def.tree.update = PN_UPDATE_RIGID, lab.form = PN_FORM_SPHERE; break;
  }
  s_labs[i] = lab;
  def.tree.lab = &s_labs[i];
  return def;
}

const pnShape *testShapeOf(const pnShapeDef *def) {
  const pnShape *shape;
  testExpectOk(pnCreateShape(def, &shape));
  return shape;
}

pnPose *testShapePose(const pnShapeDef *def) {
  pnPoseDef poseDef = {def->mesh, def->morph, def->skin};
  pnPose *pose;
  testExpectOk(pnCreatePose(&poseDef, &pose));
  return pose;
}

pnTree *testShapeTree(const pnShape *shape, const pnPose *pose) {
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.shape = shape;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree));
  return tree;
}

/* Squeezes a pose that takes vertices, so that it meets itself here and there; others are bent as they can. */
void testShapeBend(pnPose *pose, const pnShapeDef *def) {
  if (def->skin) {
    pnMatrix joints[PN_AVATAR_JOINTS];
    (def->skin == testShapes.avatar.skin ? pnAvatar_Walk : pnAvatar_WalkWeighted)(0.3, joints);
    testExpectOk(pnPose_SetJoints(pose, joints, PN_AVATAR_JOINTS));
    return;
  }
  if (def->morph) {
    float weights[6] = {0.9f, 0, 0.7f, 0, 1, 0.4f};
    const float parts[6] = {0, 0.75f, 0, 0, 0.25f, 0};
    testExpectOk(pnPose_SetWeights(pose, def->morph == testShapes.references ? parts : weights, 6));
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

TestBlock testShapeSave(const pnShape *shape) {
  void *data;
  TestBlock block;
  testExpectOk(pnShape_Save(shape, &data, &block.bytes));
  block.data = malloc(block.bytes);
  assert_non_null(block.data);
  memcpy(block.data, data, block.bytes);
  pnFree(data, block.bytes);
  return block;
}

/* Makes length and checksum right, as for a block that was meant to be so. */
void testShapeRepair(TestBlock *block) {
  uint64_t head[2] = {block->bytes, 0};
  if (block->bytes < TEST_HEAD) return;
  head[1] = pn_hashBytes(TEST_VERSION, block->data + TEST_HEAD, block->bytes - TEST_HEAD);
  memcpy(block->data + TEST_LENGTH_AT, head, sizeof head);
}

/* Changes a block somewhere from a place on, which is behind the prints; mostly by little. */
void testShapeMutate(TestRandom *r, TestBlock *block, size_t from) {
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
  testShapeRepair(block);
}
