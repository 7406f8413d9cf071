/* morph_lab.c: see morph_lab.h. */
#include "clock.h"
#include "morph_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- methods, clock */

const pnMorphMethod pn_morphMethods[MORPH_METHOD_COUNT] = {
    {"blended", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_BOX, 0, false, false},
    {"blended, SAT-lite", MORPH_WEIGHTS, PN_UPDATE_BLENDED_MODEL, PN_FORM_BOX, 0, false, false},
    {"blended dop14", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_DOP14, 0, false, false},
    {"blended dop18", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_DOP18, 0, false, false},
    {"blended dop26", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_DOP26, 0, false, false},
    {"blended sphere", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_SPHERE, 0, false, false},
    {"no stamps", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_BOX, 0, true, false},
    {"1 extra", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_BOX, 1, false, false},
    {"3 extra", MORPH_WEIGHTS, PN_UPDATE_BLENDED, PN_FORM_BOX, 3, false, false},
    {"hybrid", MORPH_VERTICES, PN_UPDATE_HYBRID, PN_FORM_BOX, 0, false, false},
    {"hybrid of weights", MORPH_WEIGHTS, PN_UPDATE_HYBRID, PN_FORM_BOX, 0, false, false},
    {"evaluate, hybrid", MORPH_EVALUATED, PN_UPDATE_HYBRID, PN_FORM_BOX, 0, false, false},
    {"bottom-up", MORPH_VERTICES, PN_UPDATE_BOTTOM_UP, PN_FORM_BOX, 0, false, false},
    /* the paper's own two: blended boxes in model space, tested under rotation, and its hybrid of the year before, which gets its
     * vertices from the weights as in the paper */
    {"paper morph", MORPH_WEIGHTS, PN_UPDATE_BLENDED_MODEL, PN_FORM_BOX, 0, false, true},
    {"paper hybrid", MORPH_WEIGHTS, PN_UPDATE_HYBRID, PN_FORM_BOX, 0, false, true},
};

void pn_morphCheck(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_morph: %s\n", pnGetMessage());
    exit(1);
  }
}

double pn_morphTime(void) {
  return 1e3 * pn_threadTime();
}

double pn_morphClockCost(void) {
  double least = INFINITY;
  for (int i = 0; i < 1000; ++i) {
    double start = pn_morphTime();
    least = fmin(least, pn_morphTime() - start);
  }
  return least;
}

FILE *pn_openMorphCsv(const pnMorphLab *lab, const char *name) {
  return pn_labOpenCsv("bench_morph", lab->folder, name);
}

static double *makeTimes(uint32_t count) {
  double *times = malloc(sizeof(double) * count);
  for (uint32_t i = 0; times != NULL && i < count; ++i) times[i] = INFINITY;
  return times;
}

/* ---------------------------------------------------------------- making a runner */

static pnMesh *makeMesh(const pnMorphLab *lab, uint32_t body) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = pnScene_GetReference(lab->scene, body, 0);
  def.vertexCount = lab->bodies[body].vertexCount;
  def.triangles = lab->bodies[body].triangles;
  def.triangleCount = lab->bodies[body].triangleCount;
  pnMesh *mesh;
  pn_morphCheck(pnCreateMesh(&def, &mesh));
  return mesh;
}

static pnMorph *makeMorph(const pnMorphLab *lab, uint32_t body, const pnMesh *mesh) {
  static const float average[3] = {0.25f, 0.5f, 0.25f};
  pnMorphTarget targets[3] = {{0}};
  for (uint32_t i = 0; i < 3; ++i) {
    targets[i].count = lab->bodies[body].vertexCount;
    targets[i].values = pnScene_GetReference(lab->scene, body, i);
  }
  pnMorphDef def = pnDefaultMorphDef();
  def.mesh = mesh;
  def.mode = PN_MORPH_REFERENCES;
  def.targets = targets;
  def.targetCount = 3;
  def.restWeights = average;
  pnMorph *morph;
  pn_morphCheck(pnCreateMorph(&def, &morph));
  return morph;
}

static void makeBody(pnMorphLab *lab, pnMorphRunner *runner, uint32_t i) {
  const pnMorphMethod *method = runner->method;
  runner->meshes[i] = makeMesh(lab, i);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = runner->meshes[i];
  if (method->input == MORPH_EVALUATED) {
    pnPoseDef source = poseDef;
    source.morph = runner->morphs[i] = makeMorph(lab, i, runner->meshes[i]);
    pn_morphCheck(pnCreatePose(&source, &runner->sources[i]));
    runner->evaluated[i] = calloc(3 * (size_t)lab->bodies[i].vertexCount + 1, sizeof(float));
  } else if (method->input == MORPH_WEIGHTS) {
    poseDef.morph = runner->morphs[i] = makeMorph(lab, i, runner->meshes[i]);
  }
  pn_morphCheck(pnCreatePose(&poseDef, &runner->poses[i]));
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab treeLab = {0};
  def.lab = &treeLab;
  def.pose = runner->poses[i];
  def.update = method->update;
  treeLab.form = method->form;
  treeLab.extraReferences = method->extra;
  treeLab.noStamps = method->noStamps;
  def.self = false;
  if (method->isPaper) {
    treeLab.build = PN_BUILD_SHAPE_CENTRE;
    treeLab.leafSize = 1;
  }
  pn_morphCheck(pnCreateTree(&def, &runner->trees[i]));
  runner->byteCount += pnTree_GetByteCount(runner->trees[i]);
}

static void makeRunner(pnMorphLab *lab, const pnMorphMethod *method, pnMorphRunner *runner) {
  memset(runner, 0, sizeof *runner);
  if (lab->only != NULL && strcmp(lab->only, method->name) != 0) return;
  runner->method = method;
  runner->all = makeTimes(lab->frameCount);
  runner->first = makeTimes(lab->frameCount);
  runner->hinted = makeTimes(lab->frameCount);
  runner->costs = calloc(lab->frameCount, sizeof(pnCost));
  for (uint32_t i = 0; i < lab->bodyCount; ++i) makeBody(lab, runner, i);
}

static void destroyRunner(pnMorphLab *lab, pnMorphRunner *runner) {
  for (uint32_t i = 0; i < lab->bodyCount; ++i) {
    pnDestroyTree(runner->trees[i]);
    pnDestroyPose(runner->poses[i]);
    pnDestroyPose(runner->sources[i]);
    free(runner->evaluated[i]);
    pnDestroyMorph(runner->morphs[i]);
    pnDestroyMesh(runner->meshes[i]);
  }
  free(runner->all);
  free(runner->first);
  free(runner->hinted);
  free(runner->costs);
  memset(runner, 0, sizeof *runner);
}

/* ---------------------------------------------------------------- a frame */

/* What a body needs for a frame, got ready before the clock runs. */
typedef struct Inputs {
  float weights[MORPH_MOST_BODIES][3];
  pnMatrix transforms[MORPH_MOST_BODIES];
  const float *const *vertices;
} Inputs;

static bool boxesOverlap(pnBox a, pnBox b) {
  return a.min.x <= b.max.x && b.min.x <= a.max.x && a.min.y <= b.max.y && b.min.y <= a.max.y && a.min.z <= b.max.z &&
         b.min.z <= a.max.z;
}

static void addCost(pnCost *sum, const pnCost *cost) {
  sum->nodesUpdated += cost->nodesUpdated;
  sum->verticesFetched += cost->verticesFetched;
  sum->nodePairs += cost->nodePairs;
  sum->leafPairs += cost->leafPairs;
  sum->volumeTests += cost->volumeTests;
  sum->exactTests += cost->exactTests;
  sum->pairs += cost->pairs;
}

static void move(pnMorphLab *lab, pnMorphRunner *runner, const Inputs *inputs) {
  for (uint32_t i = 0; i < lab->bodyCount; ++i) {
    pnPose *pose = runner->poses[i];
    if (runner->method->input == MORPH_WEIGHTS) {
      pn_morphCheck(pnPose_SetWeights(pose, inputs->weights[i], 3));
      pn_morphCheck(pnPose_SetTransform(pose, &inputs->transforms[i]));
    } else if (runner->method->input == MORPH_EVALUATED) {
      pn_morphCheck(pnPose_SetWeights(runner->sources[i], inputs->weights[i], 3));
      pn_morphCheck(pnPose_SetTransform(runner->sources[i], &inputs->transforms[i]));
      pnPose_GetVertices(runner->sources[i], runner->evaluated[i]);
      pn_morphCheck(pnPose_ShareVertices(pose, runner->evaluated[i], lab->bodies[i].vertexCount));
    } else {
      pn_morphCheck(pnPose_ShareVertices(pose, inputs->vertices[i], lab->bodies[i].vertexCount));
    }
    /* with two bodies the query updates the trees; with more their boxes are wanted first */
    if (lab->bodyCount > 2) pn_morphCheck(pnTree_Update(runner->trees[i], NULL));
  }
}

/* What is looked for. */
typedef enum Wanted { WANTED_ALL, WANTED_FIRST, WANTED_FIRST_HINTED } Wanted;

static pnCost searchTwo(pnMorphLab *lab, pnMorphRunner *runner, uint32_t a, uint32_t b, Wanted wanted) {
  pnQueryDef query = pnDefaultQueryDef();
  query.first = wanted != WANTED_ALL;
  query.unsorted = true;
  query.hint = wanted == WANTED_FIRST_HINTED && runner->hasHint[a][b] ? &runner->hints[a][b] : NULL;
  pnCost cost;
  pn_morphCheck(pnCollideTrees(runner->trees[a], runner->trees[b], &query, lab->list, &cost));
  if (wanted == WANTED_FIRST_HINTED) {
    runner->hasHint[a][b] = pnPairList_GetCount(lab->list) > 0;
    runner->hints[a][b] = runner->hasHint[a][b] ? *pnPairList_GetPairs(lab->list) : (pnPair){0};
  }
  return cost;
}

/* All pairs, or one pair for each pair of bodies. `collect`: into lab->pairs. */
static pnCost search(pnMorphLab *lab, pnMorphRunner *runner, Wanted wanted, bool collect) {
  pnCost sum = {0};
  for (uint32_t a = 0; a < lab->bodyCount; ++a) {
    for (uint32_t b = a + 1; b < lab->bodyCount; ++b) {
      if (lab->bodyCount > 2 && !boxesOverlap(pnTree_GetBox(runner->trees[a]), pnTree_GetBox(runner->trees[b])))
        continue;
      pnCost cost = searchTwo(lab, runner, a, b, wanted);
      addCost(&sum, &cost);
      const pnPair *pairs = pnPairList_GetPairs(lab->list);
      for (size_t i = 0; collect && i < pnPairList_GetCount(lab->list); ++i)
        pn_benchAdd(&lab->pairs, a, b, pairs[i].a, pairs[i].b);
    }
  }
  return sum;
}

/* Milliseconds since `start`. */
static double since(const pnMorphLab *lab, double start) {
  return fmax(0.0, pn_morphTime() - start - lab->clockCost);
}

/* The two searches for first pairs find as many, one for each pair of bodies that meet. */
static void measureFirst(pnMorphLab *lab, pnMorphRunner *runner, uint32_t frame, const Inputs *inputs) {
  double start = pn_morphTime();
  move(lab, runner, inputs);
  pnCost plain = search(lab, runner, WANTED_FIRST, false);
  runner->first[frame] = fmin(runner->first[frame], since(lab, start));
  start = pn_morphTime();
  move(lab, runner, inputs);
  pnCost hinted = search(lab, runner, WANTED_FIRST_HINTED, false);
  runner->hinted[frame] = fmin(runner->hinted[frame], since(lab, start));
  runner->wrong += plain.pairs != hinted.pairs;
}

static void measureFrame(pnMorphLab *lab, pnMorphRunner *runner, uint32_t frame, const Inputs *inputs, bool checked) {
  double start = pn_morphTime();
  move(lab, runner, inputs);
  pnCost cost = search(lab, runner, WANTED_ALL, false);
  runner->all[frame] = fmin(runner->all[frame], since(lab, start));
  runner->costs[frame] = cost;
  if (checked) {
    lab->pairs.count = 0;
    search(lab, runner, WANTED_ALL, true);
    runner->wrong += pn_benchHash(&lab->pairs) != lab->hashes[frame];
  }
  measureFirst(lab, runner, frame, inputs);
}

/* ---------------------------------------------------------------- a scene */

/* Vertices of a block of frames. */
static void fillBlock(pnMorphLab *lab, uint32_t begin, uint32_t end) {
  for (uint32_t i = 0; i < (end - begin) * lab->bodyCount; ++i) {
    pnScene_Frame(lab->scene, begin + i / lab->bodyCount, i % lab->bodyCount,
                  lab->data + (lab->vertices[i] - lab->data));
  }
}

/* What is true in the frames of a block. */
static void findTruth(pnMorphLab *lab, void *truth, uint32_t begin, uint32_t end) {
  for (uint32_t f = begin; f < end; ++f) {
    pn_peerTextbook.update(truth, (const float *const *)lab->vertices + (size_t)(f - begin) * lab->bodyCount);
    pn_peerTextbook.findAll(truth);
    lab->pairs.count = 0;
    pn_peerTextbook.collect(truth, &lab->pairs);
    lab->hashes[f] = pn_benchHash(&lab->pairs);
    lab->pairCounts[f] = lab->pairs.count;
  }
}

/* One pass over all frames; the first one also finds what is true. */
static void pass(pnMorphLab *lab, bool first) {
  void *truth = first ? pn_peerTextbook.create(&lab->input, "exact") : NULL;
  for (uint32_t begin = 0; begin < lab->frameCount; begin += lab->settings.block) {
    uint32_t end = begin + lab->settings.block < lab->frameCount ? begin + lab->settings.block : lab->frameCount;
    fillBlock(lab, begin, end);
    if (first) findTruth(lab, truth, begin, end);
    for (uint32_t r = 0; r < MORPH_METHOD_COUNT; ++r) {
      for (uint32_t f = begin; f < end && lab->runners[r].method != NULL; ++f) {
        Inputs inputs = {.vertices = (const float *const *)lab->vertices + (size_t)(f - begin) * lab->bodyCount};
        for (uint32_t i = 0; i < lab->bodyCount; ++i)
          pnScene_Weights(lab->scene, f, i, inputs.weights[i], &inputs.transforms[i]);
        measureFrame(lab, &lab->runners[r], f, &inputs, first);
      }
    }
    for (uint32_t i = 0; i < lab->peerCount; ++i) pn_labRunRow(lab->peers[i], begin, end);
  }
  if (truth != NULL) pn_peerTextbook.destroy(truth);
}

static bool openScene(pnMorphLab *lab, const char *name) {
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  def.frameStep = lab->step;
  if (pnCreateScene(&def, &lab->scene) != PN_OK) return false;
  lab->bodyCount = pnScene_GetBodyCount(lab->scene);
  lab->frameCount = pnScene_GetFrameCount(lab->scene);
  size_t floats = 3 * (size_t)pnScene_GetVertexCount(lab->scene, 0),
         arrays = (size_t)lab->bodyCount * lab->settings.block;
  lab->data = calloc(floats * arrays + 1, sizeof(float));
  lab->vertices = calloc(arrays, sizeof(float *));
  lab->hashes = calloc(lab->frameCount, sizeof(uint64_t));
  lab->pairCounts = calloc(lab->frameCount, sizeof(size_t));
  for (size_t i = 0; i < arrays; ++i) lab->vertices[i] = lab->data + floats * i;
  for (uint32_t i = 0; i < lab->bodyCount; ++i) {
    lab->bodies[i] = (pnBenchBody){pnScene_GetVertexCount(lab->scene, i), pnScene_GetTriangleCount(lab->scene, i),
                                   pnScene_GetTriangles(lab->scene, i)};
  }
  lab->input = (pnBenchInput){lab->bodyCount, lab->bodies, false, (const float *const *)lab->vertices};
  fillBlock(lab, 0, 1);
  return true;
}

/* The others get the same frames, in processes of their own. */
static void openPeers(pnMorphLab *lab, const char *name) {
  static const char *const specs[MORPH_MOST_PEERS] = {"embree", "embree:returned"};
  lab->frames = pn_labCreateFrames(name, lab->step);
  if (lab->frames != NULL)
    lab->peerCount = pn_labCreateRows(lab->frames, &lab->settings, specs, MORPH_MOST_PEERS, lab->peers);
}

bool pn_runMorphScene(pnMorphLab *lab, const char *name, bool withPeers) {
  if (!openScene(lab, name)) {
    fprintf(stderr, "bench_morph: no scene %s\n", name);
    return false;
  }
  if (withPeers && lab->only == NULL) openPeers(lab, name);
  pn_labPin(lab->settings.core);
  lab->clockCost = pn_morphClockCost();
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i) makeRunner(lab, &pn_morphMethods[i], &lab->runners[i]);
  for (uint32_t p = 0; p < lab->settings.passes; ++p) pass(lab, p == 0);
  bool right = true;
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i) {
    if (lab->runners[i].wrong > 0) {
      fprintf(stderr, "bench_morph: %s on %s is WRONG in %u frames\n", pn_morphMethods[i].name, name,
              lab->runners[i].wrong);
      right = false;
    }
  }
  return right;
}

void pn_closeMorphScene(pnMorphLab *lab) {
  for (uint32_t i = 0; i < MORPH_METHOD_COUNT; ++i)
    if (lab->runners[i].method != NULL) destroyRunner(lab, &lab->runners[i]);
  pn_labDestroyRows(lab->peers, lab->peerCount);
  pn_labDestroyFrames(lab->frames);
  lab->frames = NULL;
  lab->peerCount = 0;
  pnDestroyScene(lab->scene);
  free(lab->data);
  free(lab->vertices);
  free(lab->hashes);
  free(lab->pairCounts);
}
