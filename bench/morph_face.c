/* morph_face.c: a face of 52 targets and about 10 000 triangles that talks, against itself and a hand.
 *
 * Three ways: blended volumes with proofs that patches are calm (pnTreeDef.calm), blended volumes alone, and the vertices
 * evaluated for a free body. Beside them what evaluating all vertices takes and nothing else: the bar. */
#include "face.h"
#include "morph_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALM, PLAIN, EVALUATED, WAY_COUNT };
static const char *const wayNames[WAY_COUNT] = {"blended, calm", "blended", "evaluate, hybrid"};

typedef struct Way {
  pnPose *pose, *hand;
  pnTree *tree, *handTree;
  double *self, *touch; /* milliseconds a frame, the least of the passes; `self` has the setting of weights */
  pnCost *costs;        /* of both queries */
} Way;

typedef struct FaceLab {
  pnMorphLab *lab;
  pnFace *face;
  pnMesh *mesh, *handMesh;
  pnMorph *morph;
  pnPose *source; /* where the vertices of the third way come from */
  float *vertices;
  double *evaluate; /* milliseconds for all vertices */
  size_t *selfPairs, *handPairs;
  uint64_t (*hashes)[2]; /* of both, a frame */
  bool *isKnown;         /* is there a hash? */
  Way ways[WAY_COUNT];
  double prepare; /* milliseconds of the first self query of a calm tree */
  uint32_t wrong;
} FaceLab;

/* ---------------------------------------------------------------- making */

static pnMesh *makeMesh(const float *vertices, uint32_t vertexCount, const uint32_t *triangles, uint32_t count) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = vertexCount;
  def.triangles = triangles;
  def.triangleCount = count;
  pnMesh *mesh;
  pn_morphCheck(pnCreateMesh(&def, &mesh));
  return mesh;
}

static double *makeTimes(uint32_t count) {
  double *times = malloc(sizeof(double) * count);
  for (uint32_t i = 0; times != NULL && i < count; ++i) times[i] = INFINITY;
  return times;
}

static void makeWay(FaceLab *f, int kind) {
  Way *way = &f->ways[kind];
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = f->mesh;
  poseDef.morph = kind == EVALUATED ? NULL : f->morph;
  pn_morphCheck(pnCreatePose(&poseDef, &way->pose));
  poseDef.mesh = f->handMesh;
  poseDef.morph = NULL;
  pn_morphCheck(pnCreatePose(&poseDef, &way->hand));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = way->pose;
  def.calm = kind == CALM;
  pn_morphCheck(pnCreateTree(&def, &way->tree));
  def = pnDefaultTreeDef();
  def.pose = way->hand;
  def.update = PN_UPDATE_RIGID;
  def.self = false;
  pn_morphCheck(pnCreateTree(&def, &way->handTree));
  way->self = makeTimes(f->face->frameCount);
  way->touch = makeTimes(f->face->frameCount);
  way->costs = calloc(f->face->frameCount, sizeof(pnCost));
  /* the first query of a calm tree finds its proofs */
  double start = pn_morphTime();
  pn_morphCheck(pnCollideSelf(way->tree, NULL, NULL, NULL));
  f->prepare = kind == CALM ? pn_morphTime() - start : f->prepare;
}

static void makeLab(FaceLab *f) {
  pn_morphCheck(pnCreateFace(&f->face));
  const pnFace *face = f->face;
  f->mesh = makeMesh(face->vertices, face->vertexCount, face->triangles, face->triangleCount);
  f->handMesh = makeMesh(face->handVertices, face->handVertexCount, face->handTriangles, face->handTriangleCount);
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = f->mesh;
  def.targets = face->targets;
  def.targetCount = PN_FACE_TARGETS;
  pn_morphCheck(pnCreateMorph(&def, &f->morph));
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = f->mesh;
  poseDef.morph = f->morph;
  pn_morphCheck(pnCreatePose(&poseDef, &f->source));
  f->vertices = calloc(3 * (size_t)face->vertexCount + 1, sizeof(float));
  f->evaluate = makeTimes(face->frameCount);
  f->selfPairs = calloc(face->frameCount, sizeof(size_t));
  f->handPairs = calloc(face->frameCount, sizeof(size_t));
  f->hashes = calloc(face->frameCount, sizeof *f->hashes);
  f->isKnown = calloc(face->frameCount, sizeof(bool));
  for (int i = 0; i < WAY_COUNT; ++i) makeWay(f, i);
}

static void freeLab(FaceLab *f) {
  for (int i = 0; i < WAY_COUNT; ++i) {
    Way *way = &f->ways[i];
    pnDestroyTree(way->tree);
    pnDestroyTree(way->handTree);
    pnDestroyPose(way->pose);
    pnDestroyPose(way->hand);
    free(way->self);
    free(way->touch);
    free(way->costs);
  }
  free(f->vertices);
  free(f->evaluate);
  free(f->selfPairs);
  free(f->handPairs);
  free(f->hashes);
  free(f->isKnown);
  pnDestroyPose(f->source);
  pnDestroyMorph(f->morph);
  pnDestroyMesh(f->mesh);
  pnDestroyMesh(f->handMesh);
  pnDestroyFace(f->face);
}

/* ---------------------------------------------------------------- a frame */

static double since(const FaceLab *f, double start) {
  return fmax(0.0, pn_morphTime() - start - f->lab->clockCost);
}

/* The pairs of the last query as a hash, so that ways can be compared. */
static uint64_t hashOf(FaceLab *f, size_t *outCount) {
  pnMorphLab *lab = f->lab;
  const pnPair *pairs = pnPairList_GetPairs(lab->list);
  *outCount = pnPairList_GetCount(lab->list);
  lab->pairs.count = 0;
  for (size_t i = 0; i < *outCount; ++i) pn_benchAdd(&lab->pairs, 0, 1, pairs[i].a, pairs[i].b);
  return pn_benchHash(&lab->pairs);
}

static void measureWay(FaceLab *f, int kind, uint32_t frame, const float *weights, uint64_t hashes[2]) {
  Way *way = &f->ways[kind];
  pnQueryDef query = pnDefaultQueryDef();
  query.unsorted = true;
  pnCost self, touch;
  pnMatrix place = pnFace_Hand(f->face, frame);
  double start = pn_morphTime();
  if (kind == EVALUATED) {
    pn_morphCheck(pnPose_SetWeights(f->source, weights, PN_FACE_TARGETS));
    pnPose_GetVertices(f->source, f->vertices);
    f->evaluate[frame] = fmin(f->evaluate[frame], since(f, start));
    pn_morphCheck(pnPose_ShareVertices(way->pose, f->vertices, f->face->vertexCount));
  } else {
    pn_morphCheck(pnPose_SetWeights(way->pose, weights, PN_FACE_TARGETS));
  }
  pn_morphCheck(pnCollideSelf(way->tree, &query, f->lab->list, &self));
  way->self[frame] = fmin(way->self[frame], since(f, start));
  hashes[0] = hashOf(f, &f->selfPairs[frame]);
  start = pn_morphTime();
  pn_morphCheck(pnPose_SetTransform(way->hand, &place));
  pn_morphCheck(pnCollideTrees(way->tree, way->handTree, &query, f->lab->list, &touch));
  way->touch[frame] = fmin(way->touch[frame], since(f, start));
  hashes[1] = hashOf(f, &f->handPairs[frame]);
  self.verticesFetched += touch.verticesFetched;
  self.leafPairs += touch.leafPairs;
  self.exactTests += touch.exactTests;
  way->costs[frame] = self;
}

static bool isWanted(const FaceLab *f, int kind) {
  return f->lab->only == NULL || strcmp(f->lab->only, wayNames[kind]) == 0;
}

/* The ways take turns in blocks of frames, as in the rest of the laboratory. */
static void measureFrames(FaceLab *f) {
  uint32_t n = f->face->frameCount, block = f->lab->settings.block;
  for (uint32_t begin = 0; begin < n; begin += block) {
    for (int kind = 0; kind < WAY_COUNT; ++kind) {
      for (uint32_t frame = begin; isWanted(f, kind) && frame < n && frame < begin + block; ++frame) {
        float weights[PN_FACE_TARGETS];
        uint64_t hashes[2];
        pnFace_Weights(f->face, frame, weights);
        measureWay(f, kind, frame, weights, hashes);
        f->wrong += f->isKnown[frame] && memcmp(hashes, f->hashes[frame], sizeof hashes) != 0;
        memcpy(f->hashes[frame], hashes, sizeof hashes);
        f->isKnown[frame] = true;
      }
    }
  }
}

/* ---------------------------------------------------------------- figures */

static double meanOf(const double *times, uint32_t count) {
  double sum = 0.0;
  for (uint32_t i = 0; i < count; ++i) sum += times[i];
  return sum / count;
}

static void printFace(const FaceLab *f) {
  uint32_t n = f->face->frameCount, selfFrames = 0, handFrames = 0;
  double selfPairs = 0.0, handPairs = 0.0;
  for (uint32_t i = 0; i < n; ++i) {
    selfFrames += f->selfPairs[i] > 0;
    handFrames += f->handPairs[i] > 0;
    selfPairs += (double)f->selfPairs[i] / n;
    handPairs += (double)f->handPairs[i] / n;
  }
  printf("\nFace: %u triangles, %u vertices, %u targets, hand of %u; %u frames, %u with self pairs (%.0f a frame), ",
         f->face->triangleCount, f->face->vertexCount, PN_FACE_TARGETS, f->face->handTriangleCount, n, selfFrames,
         selfPairs);
  printf("%u with hand pairs (%.0f a frame)\n", handFrames, handPairs);
  double bar = meanOf(f->evaluate, n);
  printf("evaluating all vertices, nothing else: %.4f ms a frame (bar)\n", bar);
  printf("%-18s %9s %9s %9s %9s %9s | %9s %9s %9s | %9s\n", "ms a frame, mean", "self", "hand", "both", "of bar",
         "no pairs", "vertices", "leaf prs", "exact", "kB");
  for (int kind = 0; kind < WAY_COUNT; ++kind) {
    const Way *way = &f->ways[kind];
    if (!isWanted(f, kind)) continue;
    double vertices = 0.0, leafPairs = 0.0, exact = 0.0, self = meanOf(way->self, n), touch = meanOf(way->touch, n);
    double calm = 0.0;
    uint32_t calmFrames = 0;
    for (uint32_t i = 0; i < n; ++i) {
      bool without = f->selfPairs[i] + f->handPairs[i] == 0;
      calm += without ? way->self[i] + way->touch[i] : 0.0;
      calmFrames += without;
      vertices += (double)way->costs[i].verticesFetched / n;
      leafPairs += (double)way->costs[i].leafPairs / n;
      exact += (double)way->costs[i].exactTests / n;
    }
    printf("%-18s %9.4f %9.4f %9.4f %9.2f %9.4f | %9.0f %9.0f %9.0f | %9zu\n", wayNames[kind], self, touch,
           self + touch, (self + touch) / bar, calm / calmFrames, vertices, leafPairs, exact,
           pnTree_GetByteCount(way->tree) / 1024);
  }
  printf("(no pairs: over the frames in which nothing meets)\n");
  printf("proofs for calm patches: %.0f ms, once\n", f->prepare);
}

bool pn_runFace(pnMorphLab *lab) {
  FaceLab f = {.lab = lab};
  pn_labPin(lab->settings.core);
  lab->clockCost = pn_morphClockCost();
  makeLab(&f);
  for (uint32_t pass = 0; pass < lab->settings.passes; ++pass) measureFrames(&f);
  if (f.wrong > 0) fprintf(stderr, "bench_morph: the ways disagree about the face in %u frames\n", f.wrong);
  else printFace(&f);
  freeLab(&f);
  return f.wrong == 0;
}
