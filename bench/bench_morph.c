/* bench_morph.c: morphing bodies: the two experiments of [Larsson03], scene s3 beside Embree, and a talking face.
 *
 *   bench_morph [s3] [e4] [e5]      which experiments; all when none is named
 *   bench_morph --passes N --core N --step N     every N-th frame only
 *   bench_morph --out FOLDER        also s3.csv, e4.csv, e5.csv, one line a frame or size
 *
 * Methods take turns in blocks of frames, every answer is checked by its hash against a textbook tree with exact tests
 * (a time without the right hash is not a result), and of each frame the least of the passes counts.
 *
 * A body that morphs is given weights and a transform. The others are given finished vertices for nothing, which is
 * generous: "hybrid" is our best update for free bodies and what the paper compares with. "hybrid, morph" computes the
 * vertices too, as an application without a GPU must. */
#include "lab.h"
#include "pinch/collide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 12
#define MOST_METHODS 24

/* ---------------------------------------------------------------- methods */

typedef enum Input { INPUT_WEIGHTS, INPUT_VERTICES, INPUT_PEER } Input;

typedef struct Method {
  const char *name;
  Input input;
  pnUpdate update;
  pnVolume volume;
  uint32_t extra;
  bool noStamps;
} Method;

static const Method methods[] = {
    {"blended", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_BOX, 0, false},
    {"blended, SAT-lite", INPUT_WEIGHTS, PN_UPDATE_BLENDED_MODEL, PN_VOLUME_BOX, 0, false},
    {"blended dop14", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_DOP14, 0, false},
    {"blended dop18", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_DOP18, 0, false},
    {"blended dop26", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_DOP26, 0, false},
    {"blended sphere", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_SPHERE, 0, false},
    {"no stamps", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_BOX, 0, true},
    {"1 extra", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_BOX, 1, false},
    {"3 extra", INPUT_WEIGHTS, PN_UPDATE_BLENDED, PN_VOLUME_BOX, 3, false},
    {"hybrid", INPUT_VERTICES, PN_UPDATE_HYBRID, PN_VOLUME_BOX, 0, false},
    {"hybrid, morph", INPUT_WEIGHTS, PN_UPDATE_HYBRID, PN_VOLUME_BOX, 0, false},
    {"bottom-up", INPUT_VERTICES, PN_UPDATE_BOTTOM_UP, PN_VOLUME_BOX, 0, false},
    {"embree", INPUT_PEER, PN_UPDATE_DEFAULT, PN_VOLUME_BOX, 0, false},
};
#define METHOD_COUNT ((uint32_t)(sizeof methods / sizeof methods[0]))
enum { BLENDED = 0, HYBRID = 9, HYBRID_MORPH = 10, EMBREE = 12 };

/* One method on one scene. Milliseconds a frame, the least of the passes. */
typedef struct Runner {
  const Method *method;
  pnMesh *meshes[MOST_BODIES];
  pnMorph *morphs[MOST_BODIES];
  pnPose *poses[MOST_BODIES];
  pnTree *trees[MOST_BODIES];
  const pnPeer *peer;
  void *object;
  double *all, *first;
  pnCost *costs; /* of all pairs, one a frame */
  size_t byteCount;
  uint32_t wrong;
} Runner;

typedef struct Lab {
  pnLabSettings settings;
  uint32_t step;
  const char *folder;
  /* the scene */
  pnScene *scene;
  uint32_t bodyCount, frameCount;
  pnBenchBody bodies[MOST_BODIES];
  pnBenchInput input;
  uint64_t *hashes;
  size_t *pairCounts;
  /* a block of frames */
  float *data;
  const float **vertices; /* frame-major */
  Runner runners[MOST_METHODS];
  pnPairList *list;
  pnBenchPairs pairs;
} Lab;

static void check(pnResult result) {
  if (result != PN_OK) {
    fprintf(stderr, "bench_morph: %s\n", pnGetMessage());
    exit(1);
  }
}

static double *makeTimes(uint32_t count) {
  double *times = malloc(sizeof(double) * count);
  for (uint32_t i = 0; times != NULL && i < count; ++i) {
    times[i] = INFINITY;
  }
  return times;
}

/* ---------------------------------------------------------------- making a runner */

static pnMesh *makeMesh(const Lab *lab, uint32_t body) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = pnScene_GetReference(lab->scene, body, 0);
  def.vertexCount = lab->bodies[body].vertexCount;
  def.triangles = lab->bodies[body].triangles;
  def.triangleCount = lab->bodies[body].triangleCount;
  pnMesh *mesh;
  check(pnCreateMesh(&def, &mesh));
  return mesh;
}

static pnMorph *makeMorph(const Lab *lab, uint32_t body, const pnMesh *mesh) {
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
  check(pnCreateMorph(&def, &morph));
  return morph;
}

static void makeBody(Lab *lab, Runner *runner, uint32_t i) {
  const Method *method = runner->method;
  runner->meshes[i] = makeMesh(lab, i);
  pnPoseDef poseDef = pnDefaultPoseDef();
  poseDef.mesh = runner->meshes[i];
  if (method->input == INPUT_WEIGHTS) {
    poseDef.morph = runner->morphs[i] = makeMorph(lab, i, runner->meshes[i]);
  }
  check(pnCreatePose(&poseDef, &runner->poses[i]));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = runner->poses[i];
  def.update = method->update;
  def.volume = method->volume;
  def.extraReferences = method->extra;
  def.noStamps = method->noStamps;
  def.self = false;
  check(pnCreateTree(&def, &runner->trees[i]));
  runner->byteCount += pnTree_GetByteCount(runner->trees[i]);
}

/* False: this build has no such peer. */
static bool makeRunner(Lab *lab, const Method *method, Runner *runner) {
  memset(runner, 0, sizeof *runner);
  runner->method = method;
  if (method->input == INPUT_PEER) {
    for (uint32_t i = 0; pn_peers[i] != NULL; ++i) {
      runner->peer = strcmp(pn_peers[i]->name, method->name) == 0 ? pn_peers[i] : runner->peer;
    }
    /* a peer stops at one pair of all: only with two bodies is that the same question */
    if (runner->peer == NULL || lab->bodyCount > 2) {
      return false;
    }
    runner->object = runner->peer->create(&lab->input, "");
  }
  runner->all = makeTimes(lab->frameCount);
  runner->first = makeTimes(lab->frameCount);
  runner->costs = calloc(lab->frameCount, sizeof(pnCost));
  for (uint32_t i = 0; i < lab->bodyCount && runner->peer == NULL; ++i) {
    makeBody(lab, runner, i);
  }
  return true;
}

static void destroyRunner(Lab *lab, Runner *runner) {
  if (runner->object != NULL) {
    runner->peer->destroy(runner->object);
  }
  for (uint32_t i = 0; i < lab->bodyCount; ++i) {
    pnDestroyTree(runner->trees[i]);
    pnDestroyPose(runner->poses[i]);
    pnDestroyMorph(runner->morphs[i]);
    pnDestroyMesh(runner->meshes[i]);
  }
  free(runner->all);
  free(runner->first);
  free(runner->costs);
  memset(runner, 0, sizeof *runner);
}

/* ---------------------------------------------------------------- a frame */

/* What a body needs for a frame, got ready before the clock runs. */
typedef struct Inputs {
  float weights[MOST_BODIES][3];
  pnMatrix transforms[MOST_BODIES];
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

static void move(Lab *lab, Runner *runner, const Inputs *inputs) {
  for (uint32_t i = 0; i < lab->bodyCount; ++i) {
    pnPose *pose = runner->poses[i];
    if (runner->method->input == INPUT_WEIGHTS) {
      check(pnPose_SetWeights(pose, inputs->weights[i], 3));
      check(pnPose_SetTransform(pose, &inputs->transforms[i]));
    } else {
      check(pnPose_ShareVertices(pose, inputs->vertices[i], lab->bodies[i].vertexCount));
    }
    /* with two bodies the query updates the trees; with more their boxes are wanted first */
    if (lab->bodyCount > 2) {
      check(pnTree_Update(runner->trees[i], NULL));
    }
  }
}

/* All pairs, or one pair for each pair of bodies. `collect`: into lab->pairs. */
static pnCost search(Lab *lab, Runner *runner, bool first, bool collect) {
  pnQueryDef query = pnDefaultQueryDef();
  query.first = first;
  query.unsorted = true;
  pnCost sum = {0};
  for (uint32_t a = 0; a < lab->bodyCount; ++a) {
    for (uint32_t b = a + 1; b < lab->bodyCount; ++b) {
      if (lab->bodyCount > 2 && !boxesOverlap(pnTree_GetBox(runner->trees[a]), pnTree_GetBox(runner->trees[b]))) {
        continue;
      }
      pnCost cost;
      check(pnCollideTrees(runner->trees[a], runner->trees[b], &query, lab->list, &cost));
      addCost(&sum, &cost);
      const pnPair *pairs = pnPairList_GetPairs(lab->list);
      for (size_t i = 0; collect && i < pnPairList_GetCount(lab->list); ++i) {
        pn_benchAdd(&lab->pairs, a, b, pairs[i].a, pairs[i].b);
      }
    }
  }
  return sum;
}

static void measureFrame(Lab *lab, Runner *runner, uint32_t frame, const Inputs *inputs, bool checked) {
  double start, end;
  lab->pairs.count = 0;
  if (runner->peer != NULL) {
    start = pnGetTime();
    runner->peer->update(runner->object, inputs->vertices);
    runner->peer->findAll(runner->object);
    end = pnGetTime();
    runner->all[frame] = fmin(runner->all[frame], (end - start) * 1e3);
    runner->peer->collect(runner->object, &lab->pairs);
    runner->wrong += checked && pn_benchHash(&lab->pairs) != lab->hashes[frame];
    start = pnGetTime();
    runner->peer->update(runner->object, inputs->vertices);
    runner->peer->findFirst(runner->object);
    end = pnGetTime();
    runner->first[frame] = fmin(runner->first[frame], (end - start) * 1e3);
    return;
  }
  start = pnGetTime();
  move(lab, runner, inputs);
  pnCost cost = search(lab, runner, false, false);
  end = pnGetTime();
  runner->all[frame] = fmin(runner->all[frame], (end - start) * 1e3);
  runner->costs[frame] = cost;
  if (checked) {
    search(lab, runner, false, true);
    runner->wrong += pn_benchHash(&lab->pairs) != lab->hashes[frame];
  }
  start = pnGetTime();
  move(lab, runner, inputs);
  search(lab, runner, true, false);
  end = pnGetTime();
  runner->first[frame] = fmin(runner->first[frame], (end - start) * 1e3);
}

/* ---------------------------------------------------------------- a scene */

/* Vertices of a block of frames. */
static void fillBlock(Lab *lab, uint32_t begin, uint32_t end) {
  for (uint32_t i = 0; i < (end - begin) * lab->bodyCount; ++i) {
    pnScene_Frame(lab->scene, begin + i / lab->bodyCount, i % lab->bodyCount,
                  lab->data + (lab->vertices[i] - lab->data));
  }
}

/* One pass over all frames; `truth` also finds what is true. */
static void pass(Lab *lab, uint32_t runnerCount, bool first) {
  void *truth = NULL;
  for (uint32_t begin = 0; begin < lab->frameCount; begin += lab->settings.block) {
    uint32_t end = begin + lab->settings.block < lab->frameCount ? begin + lab->settings.block : lab->frameCount;
    fillBlock(lab, begin, end);
    for (uint32_t f = begin; first && f < end; ++f) {
      const float *const *v = (const float *const *)lab->vertices + (size_t)(f - begin) * lab->bodyCount;
      truth = truth == NULL ? pn_peerTextbook.create(&lab->input, "exact") : truth;
      pn_peerTextbook.update(truth, v);
      pn_peerTextbook.findAll(truth);
      lab->pairs.count = 0;
      pn_peerTextbook.collect(truth, &lab->pairs);
      lab->hashes[f] = pn_benchHash(&lab->pairs);
      lab->pairCounts[f] = lab->pairs.count;
    }
    for (uint32_t r = 0; r < runnerCount; ++r) {
      for (uint32_t f = begin; f < end && lab->runners[r].method != NULL; ++f) {
        Inputs inputs = {.vertices = (const float *const *)lab->vertices + (size_t)(f - begin) * lab->bodyCount};
        for (uint32_t i = 0; i < lab->bodyCount; ++i) {
          pnScene_Weights(lab->scene, f, i, inputs.weights[i], &inputs.transforms[i]);
        }
        measureFrame(lab, &lab->runners[r], f, &inputs, first);
      }
    }
  }
  if (truth != NULL) {
    pn_peerTextbook.destroy(truth);
  }
}

static bool openScene(Lab *lab, const char *name) {
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  def.frameStep = lab->step;
  if (pnCreateScene(&def, &lab->scene) != PN_OK) {
    return false;
  }
  lab->bodyCount = pnScene_GetBodyCount(lab->scene);
  lab->frameCount = pnScene_GetFrameCount(lab->scene);
  size_t floats = 3 * (size_t)pnScene_GetVertexCount(lab->scene, 0),
         arrays = (size_t)lab->bodyCount * lab->settings.block;
  lab->data = calloc(floats * arrays + 1, sizeof(float));
  lab->vertices = calloc(arrays, sizeof(float *));
  lab->hashes = calloc(lab->frameCount, sizeof(uint64_t));
  lab->pairCounts = calloc(lab->frameCount, sizeof(size_t));
  for (size_t i = 0; i < arrays; ++i) {
    lab->vertices[i] = lab->data + floats * i;
  }
  for (uint32_t i = 0; i < lab->bodyCount; ++i) {
    lab->bodies[i] = (pnBenchBody){pnScene_GetVertexCount(lab->scene, i), pnScene_GetTriangleCount(lab->scene, i),
                                   pnScene_GetTriangles(lab->scene, i)};
  }
  lab->input = (pnBenchInput){lab->bodyCount, lab->bodies, false, (const float *const *)lab->vertices};
  fillBlock(lab, 0, 1);
  return true;
}

static bool runScene(Lab *lab, const char *name) {
  if (!openScene(lab, name)) {
    fprintf(stderr, "bench_morph: no scene %s\n", name);
    return false;
  }
  pn_labPin(lab->settings.core);
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) {
    if (!makeRunner(lab, &methods[i], &lab->runners[i])) {
      lab->runners[i].method = NULL;
    }
  }
  for (uint32_t p = 0; p < lab->settings.passes; ++p) {
    pass(lab, METHOD_COUNT, p == 0);
  }
  bool right = true;
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) {
    if (lab->runners[i].wrong > 0) {
      fprintf(stderr, "bench_morph: %s on %s is WRONG in %u frames\n", methods[i].name, name, lab->runners[i].wrong);
      /* others test triangles in float: their misses are counted, ours end the run */
      right = right && lab->runners[i].peer != NULL;
    }
  }
  return right;
}

static void closeScene(Lab *lab) {
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) {
    if (lab->runners[i].method != NULL) {
      destroyRunner(lab, &lab->runners[i]);
    }
  }
  pnDestroyScene(lab->scene);
  free(lab->data);
  free(lab->vertices);
  free(lab->hashes);
  free(lab->pairCounts);
}

/* ---------------------------------------------------------------- figures */

/* The median over frames with (hits = 1), without (0) or of either kind (-1). */
static double median(const Lab *lab, const double *times, int hits) {
  double *values = malloc(sizeof(double) * lab->frameCount);
  uint32_t count = 0;
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    if (hits < 0 || (lab->pairCounts[f] > 0) == (hits == 1)) {
      values[count++] = times[f];
    }
  }
  double result = pn_labMedian(values, count);
  free(values);
  return result;
}

static double mean(const Lab *lab, const double *times) {
  double sum = 0.0;
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    sum += times[f];
  }
  return sum / lab->frameCount;
}

/* The most over frames without hits of vertices computed, and the mean of all. */
static void printCounters(const Lab *lab, const Runner *runner) {
  double vertices = 0.0, nodes = 0.0, idle = 0.0;
  uint64_t mostIdle = 0;
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    const pnCost *cost = &runner->costs[f];
    vertices += (double)cost->verticesFetched / lab->frameCount;
    nodes += (double)cost->nodesUpdated / lab->frameCount;
    bool apart = cost->nodePairs + cost->leafPairs == 0;
    idle += apart;
    mostIdle = apart && cost->verticesFetched > mostIdle ? cost->verticesFetched : mostIdle;
  }
  printf(
      "  %-18s %9.0f nodes and %9.0f vertices computed a frame; in the %3.0f frames in which roots are apart: %llu\n",
      runner->method->name, nodes, vertices, idle, (unsigned long long)mostIdle);
}

static void printScene(const Lab *lab, const char *title) {
  uint32_t hitFrames = 0;
  size_t pairs = 0, most = 0;
  for (uint32_t f = 0; f < lab->frameCount; ++f) {
    hitFrames += lab->pairCounts[f] > 0;
    pairs += lab->pairCounts[f];
    most = lab->pairCounts[f] > most ? lab->pairCounts[f] : most;
  }
  printf("\n%s: %u bodies of %u triangles, %u frames, %u with hits, %.0f pairs a frame, %zu at most\n", title,
         lab->bodyCount, lab->bodies[0].triangleCount, lab->frameCount, hitFrames, (double)pairs / lab->frameCount,
         most);
  printf("%-20s %10s %10s %10s | %10s %10s | %8s %8s | %9s\n", "ms a frame", "all mean", "all hits", "all idle",
         "first mean", "first hits", "x all", "x first", "kB");
  for (uint32_t i = 0; i < METHOD_COUNT; ++i) {
    const Runner *r = &lab->runners[i];
    if (r->method == NULL) {
      continue;
    }
    double all = mean(lab, r->all), first = mean(lab, r->first);
    printf("%-20s %10.5f %10.5f %10.5f | %10.5f %10.5f | %8.2f %8.2f | %9zu\n", methods[i].name, all,
           median(lab, r->all, 1), median(lab, r->all, 0), first, median(lab, r->first, 1),
           mean(lab, lab->runners[HYBRID].all) / all, mean(lab, lab->runners[HYBRID].first) / first,
           r->byteCount / 1024);
  }
  printf("(x: how many times faster than hybrid, by the means)\n");
}

/* ---------------------------------------------------------------- experiments */

static bool runS3(Lab *lab) {
  if (!runScene(lab, "s3")) {
    return false;
  }
  printScene(lab, "S3");
  printCounters(lab, &lab->runners[BLENDED]);
  const Runner *ours = &lab->runners[BLENDED], *theirs = &lab->runners[EMBREE];
  if (theirs->method != NULL) {
    printf("against Embree: %.1f times on frames with hits (bar 9), %.0f times on frames without (bar 1000)\n",
           median(lab, theirs->all, 1) / median(lab, ours->all, 1),
           median(lab, theirs->all, 0) / median(lab, ours->all, 0));
  }
  closeScene(lab);
  return true;
}

static bool runE4(Lab *lab) {
  if (!runScene(lab, "e4")) {
    return false;
  }
  printScene(lab, "E4");
  printCounters(lab, &lab->runners[BLENDED]);
  closeScene(lab);
  return true;
}

/* The slope of a straight line through the logarithms. */
static double growth(const double *times, const double *sizes, uint32_t n) {
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (uint32_t i = 0; i < n; ++i) {
    double a = log(sizes[i]), b = log(times[i]);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

static bool runE5(Lab *lab) {
  static const char *const names[] = {"e5-564", "e5-2256", "e5-9024", "e5-36096"};
  double all[METHOD_COUNT][4], first[METHOD_COUNT][4], sizes[4];
  for (uint32_t i = 0; i < 4; ++i) {
    if (!runScene(lab, names[i])) {
      return false;
    }
    sizes[i] = lab->bodies[0].triangleCount;
    printScene(lab, "E5");
    printCounters(lab, &lab->runners[BLENDED]);
    for (uint32_t m = 0; m < METHOD_COUNT; ++m) {
      all[m][i] = lab->runners[m].method != NULL ? mean(lab, lab->runners[m].all) : 0.0;
      first[m][i] = lab->runners[m].method != NULL ? mean(lab, lab->runners[m].first) : 0.0;
    }
    fflush(stdout);
    closeScene(lab);
  }
  printf(
      "\nE5: times faster than hybrid (paper: 1.5 to 9 for all pairs, 2 to 58 for a first pair), and growth with "
      "size\n");
  printf("%-20s %30s  %8s | %30s  %8s\n", "", "all pairs: 564 2256 9024 36096", "exponent", "first pair", "exponent");
  for (uint32_t m = 0; m < METHOD_COUNT; ++m) {
    if (all[m][0] > 0.0) {
      printf("%-20s %6.1f %7.1f %7.1f %7.1f  %8.2f | %6.1f %7.1f %7.1f %7.1f  %8.2f\n", methods[m].name,
             all[HYBRID][0] / all[m][0], all[HYBRID][1] / all[m][1], all[HYBRID][2] / all[m][2],
             all[HYBRID][3] / all[m][3], growth(all[m], sizes, 4), first[HYBRID][0] / first[m][0],
             first[HYBRID][1] / first[m][1], first[HYBRID][2] / first[m][2], first[HYBRID][3] / first[m][3],
             growth(first[m], sizes, 4));
    }
  }
  return true;
}

/* ---------------------------------------------------------------- main */

int main(int count, char **words) {
  static Lab lab;
  lab.settings = pn_defaultLabSettings();
  lab.step = 1;
  bool s3 = false, e4 = false, e5 = false;
  for (int i = 1; i < count; ++i) {
    bool hasValue = i + 1 < count;
    if (strcmp(words[i], "s3") == 0) {
      s3 = true;
    } else if (strcmp(words[i], "e4") == 0) {
      e4 = true;
    } else if (strcmp(words[i], "e5") == 0) {
      e5 = true;
    } else if (strcmp(words[i], "--passes") == 0 && hasValue) {
      lab.settings.passes = (uint32_t)fmax(1.0, atof(words[++i]));
    } else if (strcmp(words[i], "--step") == 0 && hasValue) {
      lab.step = (uint32_t)fmax(1.0, atof(words[++i]));
    } else if (strcmp(words[i], "--core") == 0 && hasValue) {
      lab.settings.core = atoi(words[++i]);
    } else {
      fprintf(stderr, "bench_morph: \"%s\" is not understood\n", words[i]);
      return 2;
    }
  }
  bool every = !s3 && !e4 && !e5;
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  printf("%s\n", machine);
  check(pnCreatePairList(&lab.list));
  bool ok = (!(s3 || every) || runS3(&lab)) && (!(e4 || every) || runE4(&lab)) && (!(e5 || every) || runE5(&lab));
  pnDestroyPairList(lab.list);
  free(lab.pairs.data);
  return ok ? 0 : 1;
}
