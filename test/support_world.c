/* support_world.c: see support_world.h. */
#include "support_world.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- numbers */

/* How the coordinates of a world are made. */
typedef enum Regime {
  REGIME_LATTICE, /* small whole numbers times 2^e: much touches */
  REGIME_EVEN,    /* anything within 2^e */
  REGIME_MIXED,   /* within 2^e, some far below it, zeros of both signs */
  REGIME_FAR,     /* a lattice far from the origin */
  REGIME_ANY,     /* any bits that are finite */
  REGIME_COUNT
} Regime;

typedef struct Maker {
  TestRandom random;
  Regime regime;
  int exponent;
  float pool[16]; /* numbers that come again and again */
  float offset[3];
} Maker;

static float scaled(float x, int exponent) {
  float y = ldexpf(x, exponent);
  return fabsf(y) <= FLT_MAX ? y : copysignf(FLT_MAX, x);
}

static float fresh(Maker *m, int axis) {
  TestRandom *r = &m->random;
  switch (m->regime) {
    case REGIME_LATTICE: return scaled((float)testBelow(r, 9) - 4, m->exponent - 2);
    case REGIME_EVEN: return scaled(testFloat(r, -1, 1), m->exponent);
    case REGIME_FAR: return m->offset[axis] + scaled((float)testBelow(r, 9) - 4, m->exponent - 20);
    case REGIME_MIXED:
      if (testBelow(r, 8) == 0) return testBelow(r, 2) ? 0.0f : -0.0f;
      return scaled(testFloat(r, -1, 1), m->exponent - (testBelow(r, 3) ? 0 : (int)testBelow(r, 160)));
    default: return testAnyFloat(r);
  }
}

static float coordinate(Maker *m, int axis) {
  return testBelow(&m->random, 6) == 0 ? m->pool[testBelow(&m->random, 16)] : fresh(m, axis);
}

static void makeNumbers(Maker *m) {
  m->regime = (Regime)testBelow(&m->random, REGIME_COUNT);
  m->exponent = (int)testBelow(&m->random, 276) - 148;
  for (int k = 0; k < 3; ++k) m->offset[k] = scaled(testFloat(&m->random, -1, 1), m->exponent);
  for (int i = 0; i < 16; ++i) m->pool[i] = fresh(m, i % 3);
}

/* ---------------------------------------------------------------- bodies */

#define MOST_BODIES 3u
#define MOST_TARGETS 4u
#define MOST_JOINTS 4u

typedef struct Body {
  pnBodyDef def;
  pnTreeLab lab; /* its tree's */
  pnMesh *mesh;
  pnMorph *morph;
  pnSkin *skin;
  pnSoup *soup;
  uint32_t *groups;
  pnBodyId id;
  uint32_t targetCount, jointCount;
} Body;

typedef struct World {
  Maker maker;
  const WorldWish *wish;
  pnWorld *world;
  Body bodies[MOST_BODIES];
  uint32_t bodyCount;
  bool first;
  pnPool *pool; /* or null */
} World;

static void *room(size_t count, size_t size) {
  void *p = calloc(count > 0 ? count : 1, size);
  assert_non_null(p);
  return p;
}

static void randomPoints(Maker *m, float *out, uint32_t count) {
  for (uint32_t i = 0; i < 3 * count; ++i) out[i] = coordinate(m, (int)(i % 3));
}

/* Triangles over vertices at random, a sheet, a ball or a ring; some of a shape's coordinates may leap. */
static pnMesh *makeMesh(Maker *m) {
  TestRandom *r = &m->random;
  pnMesh *shape = NULL;
  uint32_t kind = testBelow(r, 6), n, t, leaps = testBelow(r, 3) * 10;
  if (kind == 0) testExpectOk(pnMakeGrid(2, 2, 1 + testBelow(r, 12), 1 + testBelow(r, 8), &shape));
  if (kind == 1) testExpectOk(pnMakeIcosphere(testBelow(r, 2), 1, &shape));
  if (kind == 2) testExpectOk(pnMakeTorus(0.7f, 0.3f, 3 + testBelow(r, 10), 3 + testBelow(r, 6), &shape));
  n = shape ? pnMesh_GetVertexCount(shape) : 3 + testBelow(r, 40);
  t = shape ? pnMesh_GetTriangleCount(shape) : 1 + testBelow(r, 60);
  float *vertices = room(3 * n, sizeof *vertices);
  uint32_t *triangles = room(3 * t, sizeof *triangles);
  randomPoints(m, vertices, n);
  for (uint32_t i = 0; shape && i < 3 * n; ++i)
    if (testBelow(r, 100) >= leaps) {
      float at = m->regime == REGIME_FAR ? m->offset[i % 3] : 0;
      vertices[i] =
          at + scaled(pnMesh_GetVertices(shape)[i] * 0.5f, m->regime == REGIME_FAR ? m->exponent - 16 : m->exponent);
    }
  for (uint32_t i = 0; i < 3 * t; ++i) triangles[i] = shape ? pnMesh_GetTriangles(shape)[i] : testBelow(r, n);
  for (uint32_t i = 0; i < 3 * n; ++i) vertices[i] = fabsf(vertices[i]) <= FLT_MAX ? vertices[i] : FLT_MAX;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = n;
  def.triangles = triangles;
  def.triangleCount = t;
  def.weld = testBelow(r, 4) > 0;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(vertices);
  free(triangles);
  pnDestroyMesh(shape);
  return mesh;
}

/* Deltas of all sizes, dense or not, or references. */
static bool makeMorph(Maker *m, Body *body) {
  TestRandom *r = &m->random;
  uint32_t n = pnMesh_GetVertexCount(body->mesh), count = body->targetCount = 1 + testBelow(r, MOST_TARGETS);
  bool references = testBelow(r, 3) == 0;
  float *values = room((size_t)3 * n * count, sizeof *values), rest[MOST_TARGETS] = {0};
  pnMorphTarget targets[MOST_TARGETS] = {{0}};
  for (uint32_t t = 0; t < count; ++t) {
    float *at = values + 3 * (size_t)n * t;
    int smaller = (int)testBelow(r, 3) * (int)testBelow(r, 20);
    for (uint32_t i = 0; i < 3 * n; ++i)
      if (references || testBelow(r, 3) > 0)
        at[i] = references ? coordinate(m, (int)(i % 3)) : scaled(fresh(m, 0), -smaller);
    targets[t] = (pnMorphTarget){.count = n, .values = at};
    if (!references && testBelow(r, 2)) rest[t] = testFloat(r, -1, 1);
  }
  if (references) rest[0] = 1;
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = body->mesh;
  def.mode = references ? PN_MORPH_REFERENCES : PN_MORPH_DELTAS;
  def.targets = targets;
  def.targetCount = count;
  def.restWeights = testBelow(r, 3) == 0 ? rest : NULL;
  bool ok = pnCreateMorph(&def, &body->morph) == PN_OK;
  free(values);
  return ok;
}

static bool makeSkin(Maker *m, Body *body) {
  TestRandom *r = &m->random;
  uint32_t n = pnMesh_GetVertexCount(body->mesh), joints = body->jointCount = 1 + testBelow(r, MOST_JOINTS);
  bool weighted = testBelow(r, 3) == 0;
  uint32_t each = weighted ? 1 : 1 + testBelow(r, 4), parents[MOST_JOINTS];
  pnVec3 pivots[MOST_JOINTS];
  uint16_t *indices = room((size_t)n * each, sizeof *indices);
  float *weights = room((size_t)n * each, sizeof *weights);
  for (uint32_t i = 0; i < n * each; ++i) {
    indices[i] = (uint16_t)testBelow(r, joints);
    weights[i] = testBelow(r, 3) == 0 ? 1 : testFloat(r, 0, 1);
    if (!weighted && i % each > 0 && testBelow(r, 4) == 0) weights[i] *= 1e-30f;
  }
  for (uint32_t j = 0; j < joints; ++j) {
    parents[j] = j == 0 ? PN_NONE : testBelow(r, j);
    pivots[j] = (pnVec3){coordinate(m, 0), coordinate(m, 1), coordinate(m, 2)};
  }
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = body->mesh;
  def.mode = weighted ? PN_SKIN_WEIGHTED : PN_SKIN_LINEAR;
  def.jointCount = joints;
  def.influenceCount = each;
  def.jointIndices = indices;
  def.jointWeights = weights;
  def.parents = parents;
  def.pivots = pivots;
  bool ok = pnCreateSkin(&def, &body->skin) == PN_OK;
  free(indices);
  free(weights);
  return ok;
}

static void addPrimitives(Maker *m, pnSoup *soup, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    float at[9];
    randomPoints(m, at, 3);
    testExpectOk(pnSoup_Add(soup, (pnPrimitiveKind)(1 + testBelow(&m->random, 3)), at, 1, NULL));
  }
}

static float largestOf(const pnMesh *mesh) {
  float most = FLT_MIN;
  for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(mesh); ++i) most = fmaxf(most, fabsf(pnMesh_GetVertices(mesh)[i]));
  return most;
}

/* Settings of a tree that fit the kind. */
static void chooseTree(Maker *m, Body *body, pnBodyDef *def) {
  TestRandom *r = &m->random;
  static const pnUpdate all[] = {PN_UPDATE_DEFAULT, PN_UPDATE_BOTTOM_UP, PN_UPDATE_TOP_DOWN, PN_UPDATE_HYBRID};
  static const pnUpdate rigid[] = {PN_UPDATE_DEFAULT, PN_UPDATE_RIGID, PN_UPDATE_BERGEN, PN_UPDATE_HYBRID};
  static const pnUpdate morph[] = {PN_UPDATE_DEFAULT, PN_UPDATE_BLENDED, PN_UPDATE_BLENDED_MODEL, PN_UPDATE_HYBRID};
  pnTreeDef *t = &def->tree;
  pnTreeLab *lab = &body->lab;
  t->lab = lab;
  lab->build = (pnBuild)testBelow(r, PN_BUILD_COUNT);
  lab->form = (pnForm)testBelow(r, PN_FORM_COUNT);
  const pnUpdate *rules = def->kind == PN_BODY_RIGID ? rigid : def->kind == PN_BODY_MORPH ? morph : all;
  t->update = rules[testBelow(r, 4)];
  if (t->update == PN_UPDATE_BERGEN || t->update == PN_UPDATE_BLENDED_MODEL) lab->form = PN_FORM_BOX;
  lab->arity = 2u << testBelow(r, 3);
  lab->leafSize = 1 + testBelow(r, 8);
  lab->cut = testBelow(r, 2) ? 0 : 1 + testBelow(r, 64);
  t->calm = testBelow(r, 2);
  lab->extraReferences = body->morph && testBelow(r, 4) == 0 ? testBelow(r, 3) : 0;
  lab->noStamps = testBelow(r, 8) == 0;
  def->self = testBelow(r, 2);
  if (def->kind == PN_BODY_STATIC && testBelow(r, 3) == 0) {
    t->big = (pnBig)testBelow(r, PN_BIG_COUNT);
    t->update = PN_UPDATE_DEFAULT;
    lab->build = PN_BUILD_DEFAULT;
    t->self = t->big == PN_BIG_WHOLE;
    t->bigSide = largestOf(body->mesh) * testFloat(r, 0.1f, 1); /* smaller ones are thousands of pieces a triangle */
    def->self = def->self && t->self;
  }
  lab->method = (pnBucketMethod)testBelow(r, PN_BUCKET_COUNT);
}

static void chooseFilter(Maker *m, Body *body) {
  TestRandom *r = &m->random;
  pnSelfFilter *filter = &body->def.selfFilter;
  if (!body->def.self || body->def.kind == PN_BODY_SOUP) return;
  filter->ring = testBelow(r, 3) == 0 ? testBelow(r, 4) : 0;
  filter->ignoreRest = testBelow(r, 5) == 0;
  if (testBelow(r, 4) == 0) {
    uint32_t n = pnMesh_GetTriangleCount(body->mesh);
    body->groups = room(n, sizeof(uint32_t));
    for (uint32_t i = 0; i < n; ++i) body->groups[i] = testBelow(r, 3);
    filter->triangleGroup = body->groups;
  }
}

/* False: numbers that the library refuses, and rightly so. */
static bool makeBody(World *w) {
  Maker *m = &w->maker;
  TestRandom *r = &m->random;
  Body *body = &w->bodies[w->bodyCount++];
  pnBodyDef *def = &body->def;
  *def = pnDefaultBodyDef();
  do def->kind = (pnBodyKind)testBelow(r, 6);
  while (w->wish->kinds && !(w->wish->kinds >> def->kind & 1));
  bool ok = true;
  if (def->kind == PN_BODY_SOUP) {
    testExpectOk(pnCreateSoup(NULL, &body->soup));
    addPrimitives(m, body->soup, testBelow(r, 40));
  } else {
    body->mesh = makeMesh(m);
    if (def->kind == PN_BODY_MORPH || (def->kind == PN_BODY_SKINNED && testBelow(r, 3) == 0)) ok = makeMorph(m, body);
    if (ok && def->kind == PN_BODY_SKINNED) ok = makeSkin(m, body);
  }
  chooseTree(m, body, def);
  def->mesh = body->mesh;
  def->morph = body->morph;
  def->skin = body->skin;
  def->soup = body->soup;
  chooseFilter(m, body);
  return ok && pnWorld_CreateBody(w->world, def, &body->id) == PN_OK;
}

/* ---------------------------------------------------------------- moving */

static pnMatrix randomJoint(Maker *m, bool rigid) {
  TestRandom *r = &m->random;
  pnMatrix joint = testRotation(r, 0);
  for (int i = 0; i < 3; ++i) joint.m[i][3] = testBelow(r, 2) ? coordinate(m, i) : 0;
  if (!rigid && testBelow(r, 3) == 0)
    for (int i = 0; i < 9; ++i) joint.m[i / 3][i % 3] *= testFloat(r, -1.5f, 1.5f);
  return joint;
}

static float randomWeight(TestRandom *r) {
  switch (testBelow(r, 5)) {
    case 0: return 0;
    case 1: return testFloat(r, -0.01f, 0.01f);
    case 2: return ldexpf(testFloat(r, -1, 1), -(int)testBelow(r, 140));
    default: return testFloat(r, -1.5f, 1.5f);
  }
}

static pnResult moveMorph(World *w, Body *body) {
  TestRandom *r = &w->maker.random;
  float weights[MOST_TARGETS] = {0};
  if (pnMorph_GetMode(body->morph) == PN_MORPH_REFERENCES) {
    float left = 1;
    for (uint32_t t = 0; t + 1 < body->targetCount; ++t)
      left -= weights[t] = testBelow(r, 3) ? testFloat(r, 0, left) : 0;
    weights[body->targetCount - 1] = left;
  } else {
    for (uint32_t t = 0; t < body->targetCount; ++t) weights[t] = randomWeight(r);
  }
  return pnBody_SetWeights(w->world, body->id, weights, body->targetCount);
}

static void moveSoup(World *w, Body *body) {
  Maker *m = &w->maker;
  TestRandom *r = &m->random;
  for (uint32_t place = 0; place < pnSoup_GetPlaceCount(body->soup); ++place) {
    pnPrimitiveId id = pnSoup_GetId(body->soup, place);
    float at[9];
    randomPoints(m, at, 3);
    if (id.index1 == 0 || testBelow(r, 3) == 0) continue;
    if (testBelow(r, 8) == 0) testExpectOk(pnSoup_Remove(body->soup, &id, 1));
    else testExpectOk(pnSoup_Replace(body->soup, &id, (pnPrimitiveKind)(1 + testBelow(r, 3)), at, 1));
  }
  addPrimitives(m, body->soup, testBelow(r, 4));
}

/* What is refused changes nothing, and says so. */
static void moveBody(World *w, Body *body, WorldTally *tally) {
  Maker *m = &w->maker;
  TestRandom *r = &m->random;
  pnResult result = PN_OK;
  if (body->soup) {
    moveSoup(w, body);
    return;
  }
  if (body->def.kind == PN_BODY_FREE && testBelow(r, 4) > 0) {
    uint32_t n = pnMesh_GetVertexCount(body->mesh);
    float *now = room(3 * n, sizeof *now);
    randomPoints(m, now, n);
    for (uint32_t i = 0; i < n; ++i) {
      const float *rest = pnMesh_GetVertices(body->mesh) + 3 * i, *other = now + 3 * testBelow(r, n);
      if (testBelow(r, 3) > 0) memcpy(now + 3 * i, testBelow(r, 8) ? rest : other, 3 * sizeof(float));
    }
    result = pnBody_SetVertices(w->world, body->id, now, n);
    free(now);
  }
  if (body->morph && testBelow(r, 4) > 0) result = moveMorph(w, body);
  tally->refused += result != PN_OK;
  if (body->skin && testBelow(r, 4) > 0) {
    pnMatrix joints[MOST_JOINTS];
    bool weighted = pnSkin_GetMode(body->skin) == PN_SKIN_WEIGHTED;
    for (uint32_t j = 0; j < body->jointCount; ++j) joints[j] = randomJoint(m, weighted);
    tally->refused += pnBody_SetJoints(w->world, body->id, joints, body->jointCount) != PN_OK;
  }
  if (body->def.kind != PN_BODY_STATIC && body->def.kind != PN_BODY_FREE && testBelow(r, 2)) {
    pnMatrix transform = testBelow(r, 4) ? randomJoint(m, true) : pnMatrix_Identity();
    tally->refused += pnBody_SetTransform(w->world, body->id, &transform) != PN_OK;
  }
}

/* ---------------------------------------------------------------- the truth */

/* A body as it is now. */
typedef struct Now {
  const pnMesh *mesh;
  uint32_t count;
  float *vertices;
  pnTriangle *triangles;
  bool *there;
} Now;

static Now nowOf(const Body *body, const pnPose *pose) {
  Now now = {.mesh = pnPose_GetMesh(pose)};
  const pnMesh *mesh = now.mesh;
  now.count = body->soup ? pnSoup_GetPlaceCount(body->soup) : pnMesh_GetTriangleCount(mesh);
  now.triangles = room(now.count, sizeof(pnTriangle));
  now.there = room(now.count, sizeof(bool));
  now.vertices = room(body->soup ? 0 : 3 * (size_t)pnMesh_GetVertexCount(mesh), sizeof(float));
  if (!body->soup) pnPose_GetVertices(pose, now.vertices);
  for (uint32_t t = 0; t < now.count; ++t) {
    float at[9] = {0};
    now.there[t] = !body->soup || pnSoup_GetCorners(body->soup, pnSoup_GetId(body->soup, t), at) > 0;
    memcpy(now.triangles[t].v, at, sizeof at);
    for (uint32_t k = 0; !body->soup && k < 3; ++k)
      memcpy(now.triangles[t].v[k], now.vertices + 3 * (size_t)pnMesh_GetTriangles(mesh)[3 * t + k], 3 * sizeof(float));
  }
  return now;
}

static void freeNow(Now *now) {
  free(now->vertices);
  free(now->triangles);
  free(now->there);
}

/* Corners that are one vertex: by number, or welded and at one place. */
static pnSharedCorners sharedOf(const Now *now, uint32_t s, uint32_t t) {
  pnSharedCorners shared = {0};
  const uint32_t *a = pnMesh_GetTriangles(now->mesh) + 3 * (size_t)s,
                 *b = pnMesh_GetTriangles(now->mesh) + 3 * (size_t)t;
  const uint32_t *weld = pnMesh_GetWeld(now->mesh);
  bool taken[3] = {false};
  for (uint32_t i = 0; i < 3; ++i)
    for (uint32_t j = 0; j < 3; ++j) {
      const float *p = now->triangles[s].v[i], *q = now->triangles[t].v[j];
      if (taken[j] || weld[a[i]] != weld[b[j]] || p[0] != q[0] || p[1] != q[1] || p[2] != q[2]) continue;
      taken[j] = true;
      shared.a[shared.count] = (uint8_t)i;
      shared.b[shared.count++] = (uint8_t)j;
      break;
    }
  return shared;
}

static bool meetSelf(const Body *body, const Now *now, uint32_t s, uint32_t t) {
  if (body->soup) return pnTrianglesMeet(&now->triangles[s], &now->triangles[t]);
  return pnTrianglesMeetBeyond(&now->triangles[s], &now->triangles[t], sharedOf(now, s, t));
}

/* Steps from s to every triangle over neighbours, UINT8_MAX beyond `most`. */
static void stepsFrom(const Now *now, uint32_t s, uint32_t most, uint8_t *steps) {
  memset(steps, UINT8_MAX, now->count);
  steps[s] = 0;
  for (uint32_t step = 0; step < most; ++step)
    for (uint32_t i = 0; i < now->count; ++i)
      for (uint32_t t = 0; steps[i] == step && t < now->count; ++t)
        if (steps[t] == UINT8_MAX && sharedOf(now, i, t).count > 0) steps[t] = (uint8_t)(step + 1);
}

static bool isWanted(const Body *body, const Now *rest, uint32_t s, uint32_t t, const uint8_t *steps) {
  const pnSelfFilter *filter = &body->def.selfFilter;
  if (filter->triangleGroup && filter->triangleGroup[s] == filter->triangleGroup[t]) return false;
  if (filter->ring > 0 && steps[t] != UINT8_MAX) return false;
  return !filter->ignoreRest || !meetSelf(body, rest, s, t);
}

static pnPair *truthOf(const Body *a, const Body *b, const Now *x, const Now *y, const Now *rest, size_t *outCount) {
  pnPair *pairs = room((size_t)x->count * y->count, sizeof *pairs);
  uint8_t *steps = room(y->count, 1);
  size_t count = 0;
  for (uint32_t s = 0; s < x->count; ++s) {
    if (a == b && a->def.selfFilter.ring > 0) stepsFrom(x, s, a->def.selfFilter.ring, steps);
    for (uint32_t t = a == b ? s + 1 : 0; t < y->count; ++t) {
      if (!x->there[s] || !y->there[t]) continue;
      bool meet = a != b ? pnTrianglesMeet(&x->triangles[s], &y->triangles[t]) : meetSelf(a, x, s, t);
      if (meet && (a != b || isWanted(a, rest, s, t, steps))) pairs[count++] = (pnPair){s, t};
    }
  }
  free(steps);
  *outCount = count;
  return pairs;
}

/* ---------------------------------------------------------------- comparing */

static const pnPose *poseOf(const World *w, const Body *body) {
  return body->soup ? pnSoup_GetPose(body->soup) : pnBody_GetPose(w->world, body->id);
}

static void tellBody(const Body *body) {
  const pnTreeDef *t = &body->def.tree;
  const pnTreeLab *lab = &body->lab;
  static const char *kinds[] = {"free", "rigid", "static", "morph", "skinned", "soup"};
  printf(
      "  %s: %u triangles, build %d volume %d update %d arity %u leaf %u cut %u calm %d extra %u big %d self %d ring "
      "%u rest %d groups %d "
      "buckets %d stamps %d\n",
      kinds[body->def.kind], body->mesh ? pnMesh_GetTriangleCount(body->mesh) : 0, lab->build, lab->form, t->update,
      lab->arity, lab->leafSize, lab->cut, t->calm, lab->extraReferences, t->big, body->def.self,
      body->def.selfFilter.ring, body->def.selfFilter.ignoreRest, body->groups != NULL, lab->method, !lab->noStamps);
}

static void tellTriangle(const char *name, const pnTriangle *t) {
  printf("    %s:", name);
  for (int k = 0; k < 9; ++k) printf(" %a", (double)t->v[k / 3][k % 3]);
  printf("\n");
}

/* The contact of two bodies in the last frame, null: none. */
static const pnContact *contactOf(const World *w, const pnFrame *frame, const Body *a, const Body *b) {
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnContact *c = pnWorld_GetContacts(w->world) + i;
    if (c->a.index1 == a->id.index1 && c->b.index1 == b->id.index1) return c;
  }
  return NULL;
}

static bool sameAnswer(const World *w, const pnFrame *frame, const Body *a, const Body *b, const Now *x, const Now *y,
                       WorldTally *tally) {
  Now rest = {0};
  bool withRest = a == b && a->def.selfFilter.ignoreRest;
  pnPose *restPose = NULL;
  if (withRest) {
    testExpectOk(pnCreatePose(&(pnPoseDef){a->mesh, a->morph, a->skin}, &restPose));
    rest = nowOf(a, restPose);
  }
  size_t count, found = 0;
  pnPair *truth = truthOf(a, b, x, y, &rest, &count);
  const pnContact *contact = contactOf(w, frame, a, b);
  const pnPair *pairs = contact ? pnWorld_GetPairs(w->world) + contact->firstPair : NULL;
  found = contact ? contact->pairCount : 0;
  bool same = w->first ? (found > 0) == (count > 0) && found <= 1
                       : found == count && (!count || !memcmp(pairs, truth, count * sizeof *truth));
  if (!same) {
    printf("bodies %u and %u: %zu pairs found, %zu true%s\n", a->id.index1, b->id.index1, found, count,
           w->first ? " (first)" : "");
    size_t i = 0;
    while (i < found && i < count && !memcmp(&pairs[i], &truth[i], sizeof(pnPair))) ++i;
    pnPair p = i < count ? truth[i] : pairs[i];
    if (i < found && i < count && (pairs[i].a < p.a || (pairs[i].a == p.a && pairs[i].b < p.b))) p = pairs[i];
    printf("  first difference: triangles %u and %u\n", p.a, p.b);
    tellTriangle("a", &x->triangles[p.a]);
    tellTriangle("b", &y->triangles[p.b]);
  }
  *(a == b ? &tally->selfPairs : &tally->pairs) += count;
  free(truth);
  freeNow(&rest);
  pnDestroyPose(restPose);
  return same;
}

static bool checkFrame(World *w, WorldTally *tally) {
  pnFrameDef def = {.first = w->first};
  pnFrame frame = pnWorld_Collide(w->world, &def);
  bool good = frame.result == PN_OK;
  if (!good) printf("the frame failed: %s\n", pnGetMessage());
  Now now[MOST_BODIES] = {{0}};
  for (uint32_t i = 0; i < w->bodyCount; ++i) now[i] = nowOf(&w->bodies[i], poseOf(w, &w->bodies[i]));
  for (uint32_t i = 0; good && i < w->bodyCount; ++i)
    for (uint32_t j = i; good && j < w->bodyCount; ++j)
      if (i != j || w->bodies[i].def.self)
        good = sameAnswer(w, &frame, &w->bodies[i], &w->bodies[j], &now[i], &now[j], tally);
  for (uint32_t i = 0; good && i < w->bodyCount; ++i) {
    good = pnTree_Validate(pnBody_GetTree(w->world, w->bodies[i].id)) == PN_OK;
    if (!good) printf("body %u: %s\n", i + 1, pnGetMessage());
  }
  for (uint32_t i = 0; i < w->bodyCount; ++i) freeNow(&now[i]);
  ++tally->frames;
  return good;
}

/* Calls that must be refused and change nothing: dead ids, wrong counts, NaN, matrices that are not rigid, absurd definitions. */
static void provoke(World *w) {
  TestRandom *r = &w->maker.random;
  const Body *body = &w->bodies[testBelow(r, w->bodyCount)];
  pnBodyId dead = {testBelow(r, 2) ? 0 : testBelow(r, 1000) + 100, testBelow(r, 5)};
  pnBodyId stale = {body->id.index1, body->id.generation + 1 + testBelow(r, 3)}, made = {0};
  uint32_t n = body->mesh ? pnMesh_GetVertexCount(body->mesh) : 0;
  float *numbers = room(3 * n + 3, sizeof *numbers);
  pnMatrix matrix = pnMatrix_Identity(), joints[MOST_JOINTS] = {{{{0}}}};
  const uint32_t before = pnWorld_GetBodyCount(w->world);
  assert_true(pnBody_SetVertices(w->world, dead, numbers, n) == PN_ERROR_ID);
  assert_true(pnBody_SetTransform(w->world, stale, &matrix) == PN_ERROR_ID);
  assert_true(pnBody_SetJoints(w->world, stale, joints, 1) != PN_OK &&
              pnBody_SetWeights(w->world, dead, numbers, 1) != PN_OK);
  assert_true(pnWorld_DestroyBody(w->world, dead) == PN_ERROR_ID &&
              pnWorld_DestroyBody(w->world, stale) == PN_ERROR_ID);
  assert_true(!pnBody_IsValid(w->world, dead) && !pnBody_GetTree(w->world, stale) && !pnBody_GetPose(w->world, dead));
  if (n > 0) {
    numbers[testBelow(r, 3 * n)] = testBelow(r, 2) ? NAN : -INFINITY;
    assert_true(pnBody_SetVertices(w->world, body->id, numbers, n) != PN_OK);
    assert_true(pnBody_SetVertices(w->world, body->id, numbers, testBelow(r, 2) ? n + 1 : UINT32_MAX) != PN_OK);
  }
  matrix.m[testBelow(r, 3)][testBelow(r, 4)] = testBelow(r, 2) ? NAN : INFINITY;
  assert_true(pnBody_SetTransform(w->world, body->id, &matrix) != PN_OK);
  if (body->skin) {
    joints[0].m[0][testBelow(r, 4)] = NAN;
    assert_true(pnBody_SetJoints(w->world, body->id, joints, body->jointCount) != PN_OK);
    assert_true(pnBody_SetJoints(w->world, body->id, joints, UINT32_MAX) != PN_OK);
  }
  if (body->morph) {
    float weights[MOST_TARGETS] = {NAN};
    assert_true(pnBody_SetWeights(w->world, body->id, weights, body->targetCount) != PN_OK);
    assert_true(pnBody_SetWeights(w->world, body->id, weights, UINT32_MAX) != PN_OK);
  }
  pnBodyDef empty = pnDefaultBodyDef(), zeroed = {0};
  assert_true(pnWorld_CreateBody(w->world, &empty, &made) != PN_OK &&
              pnWorld_CreateBody(w->world, &zeroed, &made) != PN_OK);
  assert_int_equal(pnWorld_GetBodyCount(w->world), before);
  free(numbers);
}

static void freeWorld(World *w) {
  pnDestroyWorld(w->world);
  pnDestroyPool(w->pool);
  for (uint32_t i = 0; i < w->bodyCount; ++i) {
    Body *body = &w->bodies[i];
    pnDestroySkin(body->skin);
    pnDestroyMorph(body->morph);
    pnDestroyMesh(body->mesh);
    pnDestroySoup(body->soup);
    free(body->groups);
  }
}

/* In one world of five two bodies of three stand in each frame, so that there is something to keep and somebody to wait. By the seed alone: the
 * numbers of others stay what they were. */
static bool stands(uint64_t seed, uint32_t frame, uint32_t body) {
  return seed % 5 == 4 && (seed / 5 + frame + body) % 3 != 0;
}

bool worldCheck(uint64_t seed, const WorldWish *wish, WorldTally *tally) {
  World w = {.maker = {.random = testRandom(seed)}, .wish = wish, .pool = NULL};
  TestRandom *r = &w.maker.random;
  r->tape = wish->tape, r->tapeEnd = wish->tapeEnd;
  makeNumbers(&w.maker);
  pnWorldDef def = pnDefaultWorldDef();
  def.lab = &(pnWorldLab){.broad = (pnBroad)testBelow(r, 3), .closeLook = seed % 2 == 1, .mirrors = seed % 7 == 3};
  def.rebuildQuality = testBelow(r, 2) ? 1.1f : 2;
  if (testBelow(r, 8) == 0) {
    testExpectOk(pnCreatePool(3, &w.pool));
    def.tasks = pnPool_GetTasks(w.pool);
  }
  testExpectOk(pnCreateWorld(&def, &w.world));
  w.first = testBelow(r, 5) == 0;
  uint32_t wanted = 1 + testBelow(r, MOST_BODIES), frames = 1 + testBelow(r, 4);
  bool made = true, good = true;
  for (uint32_t i = 0; made && i < wanted; ++i) made = makeBody(&w);
  tally->refused += !made;
  for (uint32_t f = 0; made && good && f < frames; ++f) {
    for (uint32_t i = 0; (f > 0 || testBelow(r, 2)) && i < w.bodyCount; ++i)
      if (!stands(seed, f, i)) moveBody(&w, &w.bodies[i], tally);
    if (wish->hostile) provoke(&w);
    good = checkFrame(&w, tally);
    if (!good || (wish->tell && f + 1 == frames)) {
      printf("seed %llu, frame %u, regime %d, exponent %d\n", (unsigned long long)seed, f, (int)w.maker.regime,
             w.maker.exponent);
      for (uint32_t i = 0; i < w.bodyCount; ++i) tellBody(&w.bodies[i]);
    }
  }
  for (uint32_t i = 0; i < w.bodyCount; ++i) ++tally->kinds[w.bodies[i].def.kind];
  ++tally->worlds;
  freeWorld(&w);
  return good;
}
