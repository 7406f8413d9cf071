/* golden.c: numbers that must be the same everywhere. Worlds of every kind of body are moved through frames, and what was found is
 * printed as one hash a line: pairs, findings, impacts, volumes.
 *
 *   golden [WORKERS] [fenv]      1 (default) to 64; fenv: the library is called with small numbers flushed to zero and rounding upward,
 *                                as some programs leave a thread, and must not mind
 *
 * scripts/golden compares the lines with test/golden/golden.txt for numbers of workers, compilers, levels of optimisation,
 * instruction sets and machines. Made with GOLDEN_DEVICE it prints those lines that a device can answer, of the first that there is. So nothing here may differ by itself: numbers come from a generator of our own, meshes from
 * sums, products and square roots; the C library's sine is not the same on two machines. */
#include "pinch/lab.h"
#include "pinch/pinch.h"
#ifdef GOLDEN_DEVICE
#include "pinch/device.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void need(pnResult result) {
  if (result != PN_OK) printf("FAILED: %s\n", pnGetMessage()), exit(1);
}

/* ---------------------------------------------------------------- a hostile floating-point environment */

static bool s_hostile;

/* Flush to zero, subnormals are zero, round upward; false: as a program begins. */
static void setFloatMode(bool hostile) {
#if defined(__x86_64__)
  uint32_t mode = hostile ? 0x1f80u | 0x8000u | 0x0040u | 0x4000u : 0x1f80u;
  __asm__ volatile("ldmxcsr %0" : : "m"(mode));
#elif defined(__aarch64__)
  uint64_t mode = hostile ? (1u << 24) | (1u << 22) : 0;
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
  (void)hostile;
#endif
}

/* A call of the library, in whatever environment was asked for. It must come back in the same. */
#define CALL(call)                      \
  do {                                  \
    if (s_hostile) setFloatMode(true);  \
    pnResult result_ = (call);          \
    if (s_hostile) setFloatMode(false); \
    need(result_);                      \
  } while (0)

/* ---------------------------------------------------------------- numbers */

/* All places are multiplied by this: 1, or so small that differences are below the least normal float. */
static float s_scale = 1;

static uint64_t s_state;

static uint32_t bits(void) {
  s_state = s_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(s_state >> 32);
}
/* [-1, 1), 2^24 of them */
static float number(void) {
  return (float)(bits() >> 8) * 0x1p-23f - 1;
}

static uint64_t s_hash;

static void begin(void) {
  s_hash = 14695981039346656037u;
}
static void add(const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t i = 0; i < size; ++i) s_hash = (s_hash ^ p[i]) * 1099511628211u;
}
static void addNumber(uint64_t x) {
  unsigned char b[8];
  for (int i = 0; i < 8; ++i) b[i] = (unsigned char)(x >> 8 * i);
  add(b, sizeof b);
}
static void addReal(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  addNumber(b);
}
static void end(const char *what, const char *name, uint64_t count) {
  printf("%-10s %-24s %10llu %016llx\n", what, name, (unsigned long long)count, (unsigned long long)s_hash);
}

/* ---------------------------------------------------------------- meshes */

/* A ball of `n` by 2 n patches, closed: an octahedron's faces divided, each corner at distance 1 but for noise. */
static pnMesh *makeBall(uint32_t n, float noise) {
  uint32_t count = 0, triangles = 0, *index = malloc(24 * n * n * sizeof *index + 1);
  float *vertices = malloc(8 * 3 * (n + 1) * (n + 2) / 2 * sizeof *vertices + 1);
  uint64_t kept = s_state;
  for (int face = 0; face < 8; ++face) {
    uint32_t first = count;
    for (uint32_t i = 0; i <= n; ++i)
      for (uint32_t j = 0; i + j <= n; ++j) {
        float p[3] = {(float)i, (float)j, (float)(n - i - j)};
        float length = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), shift;
        /* one noise for each place, whichever face it is seen from */
        s_state = 77;
        for (int k = 0; k < 3; ++k) p[k] = face >> k & 1 ? -p[k] : p[k];
        for (int k = 0; k < 3; ++k) s_state = s_state * 31 + (uint64_t)(int64_t)p[k];
        bits(), shift = 1 + noise * number();
        for (int k = 0; k < 3; ++k) vertices[3 * count + (uint32_t)k] = p[k] / length * shift * s_scale;
        ++count;
      }
    bool turned = (face & 1) ^ (face >> 1 & 1) ^ (face >> 2 & 1);
    for (uint32_t i = 0, row = first; i < n; row += n + 1 - i, ++i)
      for (uint32_t j = 0; i + j < n; ++j) {
        uint32_t a = row + j, b = a + 1, c = a + n + 1 - i, d = c + 1;
        uint32_t up[3] = {a, turned ? c : b, turned ? b : c}, down[3] = {b, turned ? c : d, turned ? d : c};
        memcpy(index + 3 * triangles++, up, sizeof up);
        if (i + j + 1 < n) memcpy(index + 3 * triangles++, down, sizeof down);
      }
  }
  s_state = kept;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices, def.vertexCount = count, def.triangles = index, def.triangleCount = triangles;
  pnMesh *mesh;
  CALL(pnCreateMesh(&def, &mesh));
  free(index);
  free(vertices);
  return mesh;
}

/* A rotation from three numbers, without sine: products of (1 - t^2, 2 t) / (1 + t^2); and a place. */
static pnMatrix makeTurn(float reach) {
  pnMatrix m = pnMatrix_Identity();
  for (int axis = 0; axis < 3; ++axis) {
    double t = (double)number(), c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    for (int k = 0; k < 3; ++k) {
      double x = (double)m.m[i][k], y = (double)m.m[j][k];
      m.m[i][k] = (float)(c * x - s * y), m.m[j][k] = (float)(s * x + c * y);
    }
  }
  for (int k = 0; k < 3; ++k) m.m[k][3] = reach * number();
  return m;
}

/* ---------------------------------------------------------------- bodies */

enum { FREE, RIGID, STATIC, MORPH, LINEAR, WEIGHTED, SOUP, KINDS };
static const char *const s_kinds[KINDS] = {"free", "rigid", "static", "morph", "linear", "weighted", "soup"};
enum { TARGETS = 3, JOINTS = 4, BODIES = 3 };

typedef struct Body {
  int kind;
  pnMesh *mesh;
  pnMorph *morph;
  pnSkin *skin;
  pnSoup *soup;
  pnTreeLab lab;
  pnBodyId id;
} Body;

static void giveMorph(Body *b) {
  uint32_t n = pnMesh_GetVertexCount(b->mesh);
  float *deltas = malloc(TARGETS * 3 * n * sizeof *deltas);
  pnMorphTarget targets[TARGETS];
  for (uint32_t i = 0; i < TARGETS * 3 * n; ++i) deltas[i] = 0.3f * number();
  for (uint32_t t = 0; t < TARGETS; ++t) targets[t] = (pnMorphTarget){.count = n, .values = deltas + 3 * t * n};
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = b->mesh, def.targets = targets, def.targetCount = TARGETS;
  CALL(pnCreateMorph(&def, &b->morph));
  free(deltas);
}

static void giveSkin(Body *b) {
  uint32_t n = pnMesh_GetVertexCount(b->mesh), most = b->kind == LINEAR ? 2 : 1;
  uint16_t *indices = malloc(most * n * sizeof *indices);
  float *weights = malloc(most * n * sizeof *weights);
  const uint32_t parents[JOINTS] = {PN_NONE, 0, 1, 0};
  const pnVec3 pivots[JOINTS] = {{0, 0, 0}, {0.5f, 0, 0}, {0.75f, 0, 0}, {0, 0.5f, 0}};
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < most; ++k) {
      float x = pnMesh_GetVertices(b->mesh)[3 * i + k];
      indices[most * i + k] = (uint16_t)(k == 0 ? (x > 0) + (x > 0.6f) : 3);
      weights[most * i + k] = most == 1 ? 0.5f + 0.4f * x : k == 0 ? 0.75f : 0.25f;
    }
  pnSkinDef def = pnDefaultSkinDef();
  def.mesh = b->mesh, def.mode = b->kind == LINEAR ? PN_SKIN_LINEAR : PN_SKIN_WEIGHTED;
  def.jointCount = JOINTS, def.influenceCount = most, def.jointIndices = indices, def.jointWeights = weights;
  if (b->kind == WEIGHTED) def.parents = parents, def.pivots = pivots;
  CALL(pnCreateSkin(&def, &b->skin));
  free(weights);
  free(indices);
}

static void fillSoup(Body *b) {
  enum { MOST = 160 };
  float positions[9 * MOST];
  for (int t = 0; t < MOST; ++t) {
    float at[3] = {number(), number(), number()};
    for (int i = 0; i < 9; ++i) positions[9 * t + i] = at[i % 3] + 0.2f * number();
  }
  if (!b->soup) {
    need(pnCreateSoup(NULL, &b->soup));
    CALL(pnSoup_Add(b->soup, PN_PRIMITIVE_TRIANGLE, positions, MOST, NULL));
  } else CALL(pnSoup_SetAll(b->soup, positions, MOST));
}

static void makeBody(pnWorld *world, int kind, uint32_t form, uint32_t i, Body *b) {
  *b = (Body){.kind = kind, .lab = {.form = (pnForm)form, .arity = 2u << form % 3, .leafSize = 1 + 3 * i}};
  static const pnBodyKind kinds[KINDS] = {PN_BODY_FREE,    PN_BODY_RIGID,   PN_BODY_STATIC, PN_BODY_MORPH,
                                          PN_BODY_SKINNED, PN_BODY_SKINNED, PN_BODY_SOUP};
  pnBodyDef def = pnDefaultBodyDef();
  def.kind = kinds[kind];
  if (kind == SOUP) fillSoup(b);
  else b->mesh = makeBall(5 + 2 * i, 0.2f);
  if (kind == MORPH || (kind == LINEAR && i == 2)) giveMorph(b);
  if (kind == LINEAR || kind == WEIGHTED) giveSkin(b);
  def.mesh = b->mesh, def.morph = b->morph, def.skin = b->skin, def.soup = b->soup;
  if (kind != SOUP) def.tree.lab = &b->lab;
  def.self = kind != STATIC;
  CALL(pnWorld_CreateBody(world, &def, &b->id));
}

static void moveBody(pnWorld *world, Body *b) {
  pnMatrix turn = makeTurn(0.4f * s_scale), joints[JOINTS];
  if (b->kind == FREE) {
    uint32_t n = pnMesh_GetVertexCount(b->mesh);
    float *at = malloc(3 * n * sizeof *at),
          shift[3] = {0.5f * number() * s_scale, 0.5f * number() * s_scale, 0.5f * number() * s_scale};
    for (uint32_t i = 0; i < 3 * n; ++i) at[i] = pnMesh_GetVertices(b->mesh)[i] * (1 + 0.1f * number()) + shift[i % 3];
    CALL(pnBody_SetVertices(world, b->id, at, n));
    free(at);
  }
  if (b->kind == SOUP) fillSoup(b);
  if (b->morph) {
    float weights[TARGETS] = {number(), number(), bits() % 2 ? 0 : number()};
    CALL(pnBody_SetWeights(world, b->id, weights, TARGETS));
  }
  for (int j = 0; j < JOINTS; ++j) joints[j] = makeTurn(0.1f);
  if (b->skin) CALL(pnBody_SetJoints(world, b->id, joints, JOINTS));
  if (b->kind == RIGID || b->kind == MORPH || b->kind == LINEAR) CALL(pnBody_SetTransform(world, b->id, &turn));
}

static void freeBody(Body *b) {
  pnDestroySkin(b->skin);
  pnDestroyMorph(b->morph);
  pnDestroyMesh(b->mesh);
  pnDestroySoup(b->soup);
}

/* ---------------------------------------------------------------- what is found */

/* Two bodies by their numbers, from 1 on, and their pairs. */
static void addContact(uint32_t a, uint32_t b, const pnPair *pairs, size_t count) {
  addNumber(a), addNumber(b), addNumber(count);
  for (size_t k = 0; k < count; ++k) addNumber((uint64_t)pairs[k].a << 32 | pairs[k].b);
}

/* Goes on with a hash of its own. */
static void addImpacts(const pnFeatureImpact *impacts, size_t count, uint64_t *hash) {
  uint64_t kept = s_hash;
  s_hash = *hash;
  for (const pnFeatureImpact *m = impacts; m < impacts + count; ++m)
    addNumber(m->kind), addNumber(m->a), addNumber(m->b), addReal(m->lo), addReal(m->hi);
  *hash = s_hash, s_hash = kept;
}

/* Three bodies of a kind, or of one of several kinds, and a static one among them. */
static pnWorld *makeWorld(const pnTasks *tasks, int kind, uint32_t form, Body bodies[BODIES], char name[40]) {
  snprintf(name, 40, "%s%s-%u", s_scale < 1 ? "tiny-" : "", s_kinds[kind], form);
  s_state = 1000u * (uint32_t)kind; /* the same world for every form, and so the same pairs */
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = *tasks;
  pnWorld *world;
  need(pnCreateWorld(&worldDef, &world));
  for (uint32_t i = 0; i < BODIES; ++i)
    makeBody(world, i == 1 && kind != SOUP ? (kind + 1) % SOUP : kind, form, i, &bodies[i]);
  return world;
}

#ifndef GOLDEN_DEVICE
static void addFrame(const pnWorld *world, const pnFrame *frame, uint64_t *count) {
  for (uint32_t i = 0; i < frame->contactCount; ++i) {
    const pnContact *c = pnWorld_GetContacts(world) + i;
    addContact(c->a.index1, c->b.index1, pnWorld_GetPairs(world) + c->firstPair, c->pairCount);
    *count += c->pairCount;
  }
}

static void takeFrame(pnFinder *finder, const pnWorld *world, const pnFrame *frame, int number) {
  pnFinderContact contacts[16];
  uint32_t count = 0;
  for (uint32_t i = 0; i < frame->contactCount && count < COUNT(contacts); ++i) {
    const pnContact *c = pnWorld_GetContacts(world) + i;
    contacts[count++] =
        (pnFinderContact){c->a.index1 - 1, c->b.index1 - 1, pnWorld_GetPairs(world) + c->firstPair, c->pairCount};
  }
  CALL(pnFinder_AddFrame(
      finder, &(pnFinderFrame){.number = number, .time = number, .contacts = contacts, .contactCount = count}));
}

static void printFindings(pnFinder *finder, const char *name) {
  uint32_t count;
  CALL(pnFinder_Rank(finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *findings = pnFinder_GetFindings(finder, &count);
  begin();
  for (uint32_t i = 0; i < count; ++i) {
    const pnFinding *f = &findings[i];
    add(f->name, strlen(f->name));
    addNumber(f->a), addNumber(f->b), addNumber((uint64_t)f->firstFrame), addNumber((uint64_t)f->lastFrame);
    addReal(f->depth.value), addReal(f->curveLength), addReal(f->volume), addReal((double)f->centre.x);
  }
  end("findings", name, count);
}

static void runWorld(const pnTasks *tasks, int kind, uint32_t form) {
  char name[40];
  Body bodies[BODIES];
  pnWorld *world = makeWorld(tasks, kind, form, bodies, name);
  pnFinder *finder = NULL;
  if (form == 0 && kind != SOUP) {
    pnFinderDef def = pnDefaultFinderDef();
    def.tasks = *tasks;
    need(pnCreateFinder(&def, &finder));
    for (uint32_t i = 0; i < BODIES; ++i) {
      pnFinderBodyDef body = pnDefaultFinderBodyDef();
      uint32_t at;
      body.tree = pnBody_GetTree(world, bodies[i].id);
      body.name = s_kinds[bodies[i].kind];
      CALL(pnFinder_AddBody(finder, &body, &at));
    }
  }
  uint64_t pairs = 0, impacts = 0, impactHash = 0;
  begin();
  for (int f = 0; f < 5; ++f) {
    if (kind != SOUP && form == 0) CALL(pnWorld_BeginStep(world));
    for (uint32_t i = 0; i < BODIES; ++i) moveBody(world, &bodies[i]);
    pnFrame frame;
    CALL((frame = pnWorld_Collide(world, NULL)).result);
    addFrame(world, &frame, &pairs);
    if (finder) takeFrame(finder, world, &frame, f);
    if (kind == SOUP || form != 0 || f > 1) continue;
    pnStep step;
    CALL((step = pnWorld_CollideSwept(world, NULL)).result);
    addImpacts(pnWorld_GetImpacts(world), step.impactCount, &impactHash);
    impacts += step.impactCount;
  }
  end("pairs", name, pairs);
  if (kind != SOUP && form == 0) s_hash = impactHash, end("impacts", name, impacts);
  if (finder) printFindings(finder, name);
  pnDestroyFinder(finder);
  pnDestroyWorld(world);
  for (uint32_t i = 0; i < BODIES; ++i) freeBody(&bodies[i]);
}

/* Small bodies that go over a large one that stands still, free ones and rigid ones: from the third frame on they keep what they need of it
 * (collide/cutting.h), which goes other ways than two bodies that both move, and other ways for those of 32 triangles than for those of
 * 72. */
static void runGround(const pnTasks *tasks) {
  enum { RADIUS = 10, SMALL = 12, FRAMES = 10 };
  pnMesh *meshes[3];
  pnBodyId ids[SMALL];
  float at[SMALL][3], speed[SMALL][3], moved[3 * 80];
  uint64_t pairs = 0;
  pnWorldDef worldDef = pnDefaultWorldDef();
  worldDef.tasks = *tasks;
  pnWorld *world;
  need(pnCreateWorld(&worldDef, &world));
  s_scale = RADIUS;
  meshes[0] = makeBall(40, 0.02f);
  s_scale = 1;
  for (uint32_t i = 1; i < 3; ++i) meshes[i] = makeBall(1 + i, 0.2f);
  pnBodyDef def = pnDefaultBodyDef();
  def.mesh = meshes[0];
  pnBodyId ground;
  CALL(pnWorld_CreateBody(world, &def, &ground));
  s_state = 5;
  for (uint32_t i = 0; i < SMALL; ++i) {
    def.mesh = meshes[1 + i % 2];
    def.kind = i % 4 < 2 ? PN_BODY_FREE : PN_BODY_RIGID;
    CALL(pnWorld_CreateBody(world, &def, &ids[i]));
    for (int k = 0; k < 3; ++k) at[i][k] = number(), speed[i][k] = 0.01f * number();
  }
  begin();
  for (int f = 0; f < FRAMES; ++f) {
    for (uint32_t i = 0; i < SMALL; ++i) {
      const pnMesh *mesh = meshes[1 + i % 2];
      pnMatrix to = pnMatrix_Identity();
      for (int k = 0; k < 3; ++k) at[i][k] += speed[i][k];
      float length = sqrtf(at[i][0] * at[i][0] + at[i][1] * at[i][1] + at[i][2] * at[i][2]);
      for (int k = 0; k < 3; ++k) to.m[k][3] = at[i][k] / length * RADIUS;
      for (uint32_t v = 0; v < 3 * pnMesh_GetVertexCount(mesh); ++v)
        moved[v] = pnMesh_GetVertices(mesh)[v] + to.m[v % 3][3];
      if (i % 4 < 2) CALL(pnBody_SetVertices(world, ids[i], moved, pnMesh_GetVertexCount(mesh)));
      else CALL(pnBody_SetTransform(world, ids[i], &to));
    }
    pnFrame frame;
    CALL((frame = pnWorld_Collide(world, NULL)).result);
    addFrame(world, &frame, &pairs);
  }
  end("ground", "small-bodies", pairs);
  pnDestroyWorld(world);
  for (uint32_t i = 0; i < 3; ++i) pnDestroyMesh(meshes[i]);
}

static void runVolumes(const pnTasks *tasks) {
  pnMesh *a = makeBall(12, 0.1f), *b = makeBall(9, 0.2f);
  pnPoseDef def = pnDefaultPoseDef();
  pnPose *poseA, *poseB;
  def.mesh = a;
  need(pnCreatePose(&def, &poseA));
  def.mesh = b;
  need(pnCreatePose(&def, &poseB));
  for (uint32_t resolution = 32; resolution <= 128; resolution *= 2) {
    char name[24];
    pnOverlapDef overlapDef = pnDefaultOverlapDef();
    overlapDef.poseA = poseA, overlapDef.poseB = poseB, overlapDef.resolution = resolution, overlapDef.tasks = *tasks;
    pnOverlap *overlap;
    CALL(pnCreateOverlap(&overlapDef, &overlap));
    s_state = resolution;
    begin();
    uint64_t spans = 0;
    for (int f = 0; f < 4; ++f) {
      pnMatrix turn = makeTurn(1);
      need(pnPose_SetTransform(poseB, &turn));
      pnOverlapResult r;
      pnDepthResult d;
      CALL(pnOverlap_Measure(overlap, &r));
      addReal(r.volume), addReal(r.volumeMin), addReal(r.volumeMax), addReal(r.centroid[0]), addNumber(r.spanCount);
      spans += r.spanCount;
      CALL(pnOverlap_FindDepth(overlap, &d));
      addReal(d.depth), addReal(d.direction[0]);
    }
    snprintf(name, sizeof name, "balls-%u", resolution);
    end("volumes", name, spans);
    pnDestroyOverlap(overlap);
  }
  pnDestroyPose(poseA);
  pnDestroyPose(poseB);
  pnDestroyMesh(a);
  pnDestroyMesh(b);
}

int main(int argc, char **argv) {
  uint32_t workers = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
  s_hostile = argc > 2 && strcmp(argv[2], "fenv") == 0;
  pnPool *pool = NULL;
  pnTasks tasks = {0};
  if (workers > 1) {
    need(pnCreatePool(workers, &pool));
    tasks = pnPool_GetTasks(pool);
  }
  for (int kind = 0; kind < KINDS; ++kind)
    for (uint32_t form = 0; form < PN_FORM_COUNT; ++form)
      if (kind != SOUP || form == 0) runWorld(&tasks, kind, form);
  s_scale = 0x1p-140f;
  for (uint32_t form = 0; form < PN_FORM_COUNT; ++form) runWorld(&tasks, FREE, form);
  s_scale = 1;
  runGround(&tasks);
  runVolumes(&tasks);
  pnDestroyPool(pool);
  if (pnGetByteCount() != 0) printf("FAILED: memory was left\n");
  return 0;
}
#else
/* The same frames on a device, of bodies that move as those of a world: pairs and impacts are the world's, bit for bit. Devices have no
 * soups, findings and bounds of volumes. */
static void runDevice(pnDevice *device, int kind) {
  char name[40];
  Body bodies[BODIES];
  pnWorld *world = makeWorld(&(pnTasks){0}, kind, 0, bodies, name);
  pnDeviceWorld *there;
  need(pnCreateDeviceWorld(device, &there));
  for (uint32_t i = 0, at; i < BODIES; ++i) {
    pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
    def.pose = pnBody_GetPose(world, bodies[i].id), def.self = bodies[i].kind != STATIC;
    need(pnDeviceWorld_AddBody(there, &def, &at));
  }
  uint64_t pairs = 0, impacts = 0, impactHash = 0;
  begin();
  for (int f = 0; f < 5; ++f) {
    need(pnDeviceWorld_BeginStep(there));
    for (uint32_t i = 0; i < BODIES; ++i) moveBody(world, &bodies[i]);
    pnDeviceFrame frame = pnDeviceWorld_Collide(there, NULL);
    need(frame.result);
    for (uint32_t i = 0; i < frame.contactCount; ++i) {
      const pnDeviceContact *c = pnDeviceWorld_GetContacts(there) + i;
      addContact(c->a + 1, c->b + 1, pnDeviceWorld_GetPairs(there) + c->firstPair, c->pairCount);
      pairs += c->pairCount;
    }
    if (f > 1) continue;
    pnDeviceStep step = pnDeviceWorld_CollideSwept(there, NULL);
    need(step.result);
    addImpacts(pnDeviceWorld_GetImpacts(there), step.impactCount, &impactHash);
    impacts += step.impactCount;
  }
  end("pairs", name, pairs);
  s_hash = impactHash, end("impacts", name, impacts);
  pnDestroyDeviceWorld(there);
  pnDestroyWorld(world);
  for (uint32_t i = 0; i < BODIES; ++i) freeBody(&bodies[i]);
}

int main(void) {
  pnDevice *device;
  pnResult result = pnCreateDevice(NULL, &device);
  if (result == PN_ERROR_UNSUPPORTED) return fprintf(stderr, "golden: skipped: %s\n", pnGetMessage()), 77;
  need(result);
  for (int kind = 0; kind < SOUP; ++kind) runDevice(device, kind);
  s_scale = 0x1p-140f;
  runDevice(device, FREE);
  pnDestroyDevice(device);
  if (pnGetByteCount() != 0) printf("FAILED: memory was left\n");
  return 0;
}
#endif
