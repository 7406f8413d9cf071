/* morph_lab.h: how the methods for morphing bodies are measured on one scene. See bench_morph.c.
 *
 * Methods take turns in blocks of frames, every answer is checked by its hash against a textbook tree with exact tests
 * (a time without the right hash is not a result), and of each frame the least of the passes counts. Time is what the
 * thread spent on the processor. Embree runs in processes of its own, as in bench_free, with both states of the heap. */
#ifndef PN_BENCH_MORPH_LAB_H
#define PN_BENCH_MORPH_LAB_H

#include "lab.h"
#include "pinch/collide.h"
#include "pinch/lab.h"

#define MORPH_MOST_BODIES 12
#define MORPH_MOST_PEERS 2

/* What a body is given in every frame: weights and a transform; finished vertices, for nothing; or vertices which are
 * evaluated from the weights while the clock runs, as an application must that has no other use for them. */
typedef enum pnMorphInput { MORPH_WEIGHTS, MORPH_VERTICES, MORPH_EVALUATED } pnMorphInput;

typedef struct pnMorphMethod {
  const char *name;
  pnMorphInput input;
  pnUpdate update;
  pnForm form;
  uint32_t extra;
  bool noStamps;
  bool isPaper; /* trees as the paper has them: divided at the box's centre, one triangle a leaf */
} pnMorphMethod;

enum {
  MORPH_BLENDED = 0,
  MORPH_HYBRID = 9,
  MORPH_OWN_HYBRID = 10,
  MORPH_EVALUATED_HYBRID = 11,
  MORPH_METHOD_COUNT = 15
};
extern const pnMorphMethod pn_morphMethods[MORPH_METHOD_COUNT];

/* One method on one scene. Milliseconds a frame, the least of the passes. */
typedef struct pnMorphRunner {
  const pnMorphMethod *method; /* null: not asked for */
  pnMesh *meshes[MORPH_MOST_BODIES];
  pnMorph *morphs[MORPH_MOST_BODIES];
  pnPose *poses[MORPH_MOST_BODIES];
  pnTree *trees[MORPH_MOST_BODIES];
  pnPose *sources[MORPH_MOST_BODIES]; /* evaluated: where the vertices come from, and where they are put */
  float *evaluated[MORPH_MOST_BODIES];
  double *all, *first, *hinted; /* hinted: first, trying the pair of the frame before (pnQueryDef.hint) */
  pnPair hints[MORPH_MOST_BODIES][MORPH_MOST_BODIES];
  bool hasHint[MORPH_MOST_BODIES][MORPH_MOST_BODIES];
  pnCost *costs; /* of all pairs, one a frame */
  size_t byteCount;
  uint32_t wrong;
} pnMorphRunner;

typedef struct pnMorphLab {
  pnLabSettings settings;
  uint32_t step;
  const char *folder, *only; /* null: no files; all methods */
  double clockCost;
  /* the scene */
  pnScene *scene;
  uint32_t bodyCount, frameCount;
  pnBenchBody bodies[MORPH_MOST_BODIES];
  pnBenchInput input;
  uint64_t *hashes;
  size_t *pairCounts;
  /* a block of frames */
  float *data;
  const float **vertices; /* frame-major */
  pnMorphRunner runners[MORPH_METHOD_COUNT];
  /* others */
  pnFrames *frames;
  pnRow *peers[MORPH_MOST_PEERS];
  uint32_t peerCount;
  pnPairList *list;
  pnBenchPairs pairs;
} pnMorphLab;

/* Ends the program with a message when the result is not PN_OK. */
void pn_morphCheck(pnResult result);

/* Milliseconds of this thread on the processor, and what asking costs. */
double pn_morphTime(void);
double pn_morphClockCost(void);

/* All methods over a scene; withPeers: Embree too. False when there is no such scene or a method of ours is wrong. */
bool pn_runMorphScene(pnMorphLab *lab, const char *name, bool withPeers);
void pn_closeMorphScene(pnMorphLab *lab);

/* A file of lines under the folder, headed by the machine; null when no folder is set. */
FILE *pn_openMorphCsv(const pnMorphLab *lab, const char *name);

/* morph_face.c: a talking face against itself and a hand. False when an answer is wrong. */
bool pn_runFace(pnMorphLab *lab);

#endif
