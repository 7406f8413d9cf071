/* world.h: a world on a device.
 *
 *   slot     a triangle's place in the order fixed by the layout; 32 slots are a cluster, 1 024 a super
 *   list     pairs that one step hands to the next; has a capacity and grows
 *   stage    one kernel of the frame
 *
 * world.c is life and getters, layout.c makes the constant arrays, order.c the order of triangles, upload.c brings poses over,
 * frame.c puts the kernels into the queue, result.c takes the answer. */
#ifndef PN_DEVICE_WORLD_H
#define PN_DEVICE_WORLD_H

#include "base/array.h"
#include "base/sort.h"
#include "device/device.h"
#include "mesh/pose.h"

#define PN_CLUSTER 32u
#define PN_SUPER 1024u
/* Bins of the sort, at most, and pairs in each (kernel/prelude.cl); and the bit of the head that says one was too small. */
#define PN_MAX_BINS 4096u
#define PN_BIN_ROOM 512u
#define PN_BINS_FULL (1u << PN_LIST_COUNT)
/* Contacts are counted by pairs of bodies, in 32 bits. */
#define PN_MAX_DEVICE_BODIES 65535u
/* Up to here the pairs of bodies have a table on the device, so that a first pair ends the search for others. */
#define PN_MAX_MET_BODIES 4096u

/* Buffers of a world. */
#define PN_BUFFERS(X)                      \
  X(TRIANGLES, "triangles")                \
  X(WELDS, "welded vertices")              \
  X(VERTICES, "vertices")                  \
  X(RECORDS, "corners")                    \
  X(CLUSTER_BODY, "bodies of clusters")    \
  X(SUPER_BODY, "bodies of supers")        \
  X(CLUSTER_LOW, "boxes")                  \
  X(CLUSTER_HIGH, "boxes")                 \
  X(SUPER_LOW, "boxes")                    \
  X(SUPER_HIGH, "boxes")                   \
  X(RULES, "rules of bodies")              \
  X(BODY_FIRST, "first triangles")         \
  X(NEAR, "neighbours")                    \
  X(FANS, "fans")                          \
  X(RINGS, "fans")                         \
  X(HEAD, "the head")                      \
  X(COUNTS, "counts of pairs")             \
  X(OFFSETS, "sums of counts")             \
  X(RUNS, "sums of counts")                \
  X(STARTS, "places of pairs")             \
  X(MET, "bodies that meet")               \
  X(LIST_CLUSTERS, "pairs of clusters")    \
  X(LIST_CANDIDATES, "candidates")         \
  X(LIST_UNSURE, "undecided pairs")        \
  X(LIST_PAIRS, "pairs")                   \
  X(LIST_RAW, "pairs before the filter")   \
  X(RANKS, "ranks of pairs")               \
  X(PLACED, "pairs by triangle")           \
  X(BINS, "bins of pairs")                 \
  X(TALLY, "pairs by body")                \
  X(SORTED, "sorted pairs")                \
  X(CHUNKS, "chunks of vertices")          \
  X(MOTIONS, "motions")                    \
  X(SOURCES, "vertices at rest")           \
  X(INPUTS, "weights and joints")          \
  X(CONSTANTS, "morph targets")            \
  X(WHOLE, "influences")                   \
  X(WISHES, "filters")                     \
  X(NUMBERS, "filters")                    \
  X(BEGIN, "vertices of the begin")        \
  X(RECORDS_BEGIN, "corners")              \
  X(EDGES, "edges")                        \
  X(FIRSTS, "first features")              \
  X(STEP_HEAD, "the head of a step")       \
  X(LIST_SEARCH, "features")               \
  X(IMPACTS, "impacts")                    \
  X(SPANS, "times of impacts")             \
  X(SORTED_IMPACTS, "sorted impacts")      \
  X(SORTED_SPANS, "sorted impacts")        \
  X(FEATURE_COUNTS, "impacts of features") \
  X(FEATURE_OFFSETS, "sums of counts")     \
  X(IMPACT_RANKS, "ranks of impacts")      \
  X(IMPACT_BEGINS, "places of impacts")    \
  X(IMPACT_PLACED, "impacts by feature")   \
  X(SLATES, "whole numbers")               \
  X(UNSURE_NAMES, "undecided features")    \
  X(UNSURE_POINTS, "undecided features")

typedef enum pnBufferName {
#define PN_BUFFER_NAME(name, text) PN_BUFFER_##name,
  PN_BUFFERS(PN_BUFFER_NAME)
#undef PN_BUFFER_NAME
      PN_BUFFER_COUNT
} pnBufferName;

/* Lists, in the order of their bits in the head (kernel/prelude.cl). */
typedef enum pnListName {
  PN_LIST_CLUSTERS,
  PN_LIST_CANDIDATES,
  PN_LIST_UNSURE,
  PN_LIST_PAIRS,
  PN_LIST_RAW,
  PN_LIST_COUNT
} pnListName;

/* The head, as the kernels have it (kernel/prelude.cl). */
enum {
  PN_HEAD_PAIRS,
  PN_HEAD_OVERFLOW,
  PN_HEAD_BAD,
  PN_HEAD_SUPERS,
  PN_HEAD_CLUSTERS,
  PN_HEAD_CANDIDATES,
  PN_HEAD_UNSURE,
  PN_HEAD_RAW,
  PN_HEAD_FOUND,
  PN_HEAD_PLACES
};

/* Stages, in the order of the frame. */
#define PN_STAGES(X)          \
  X(EVALUATE, evaluate)       \
  X(REFIT, refit)             \
  X(CLUSTERS, clusterPairs)   \
  X(TRIANGLES, trianglePairs) \
  X(NEIGHBOURS, neighbours)   \
  X(NARROW, narrow)           \
  X(EXACT, exact)             \
  X(WANTED, wanted)           \
  X(SCAN, scan)               \
  X(SCATTER, scatter)         \
  X(ORDER, order)             \
  X(BINS, orderBins)          \
  X(LIMIT, limit)

typedef enum pnStage {
#define PN_STAGE_NAME(name, kernel) PN_STAGE_##name,
  PN_STAGES(PN_STAGE_NAME)
#undef PN_STAGE_NAME
      PN_STAGE_COUNT
} pnStage;

/* A body's motion and its filter, as the kernels have them (kernel/motion.cl, kernel/wanted.cl). */
typedef struct pnMotion {
  uint32_t flags, vertexCount, out, source, targetCount, weights, entryFirst, entries, influenceFirst, influences,
      pivots, moves, transform, spare[3];
} pnMotion;

enum {
  PN_MOTION_MOVED = 1,
  PN_MOTION_DELTAS = 2,
  PN_MOTION_REFERENCES = 4,
  PN_MOTION_LINEAR = 8,
  PN_MOTION_WEIGHTED = 16,
  PN_MOTION_TRANSFORM = 32
};

typedef struct pnWish {
  uint32_t ring, restCount, rest, groups, triangles, welds, welded, ringFirst, rings, vertexFirst, spare[2];
} pnWish;

typedef struct pnDeviceBody {
  const pnPose *pose;
  bool self, onDevice;
  pnSelfFilter filter; /* its groups are our copy */
  uint32_t category, mask;
  uint32_t firstTriangle, firstVertex, firstSlot;
  uint64_t frame, shapeFrame; /* of the pose, as the device has it; 0: not yet */
} pnDeviceBody;

/* Kernels of a step (step.c), in their order. The first three are the frame's, compiled for both ends of it. */
#define PN_STEP_STAGES(X)     \
  X(REFIT, refit)             \
  X(CLUSTERS, clusterPairs)   \
  X(TRIANGLES, trianglePairs) \
  X(FEATURES, sweptFeatures)  \
  X(SEARCH, sweptSearch)      \
  X(EXACT, sweptExact)        \
  X(SCAN, scan)               \
  X(SCATTER, impactScatter)   \
  X(ORDER, impactOrder)

typedef enum pnStepStage {
#define PN_STEP_NAME(name, kernel) PN_STEP_##name,
  PN_STEP_STAGES(PN_STEP_NAME)
#undef PN_STEP_NAME
      PN_STEP_COUNT
} pnStepStage;

/* The head of a step: the first places are the frame's (kernel/swept_lane.cl). */
enum { PN_STEP_HEAD_SEARCH = PN_HEAD_RAW, PN_STEP_HEAD_SOONEST, PN_STEP_HEAD_ASKED, PN_STEP_PLACES };

typedef struct pnDeviceImpactList {
  PN_ARRAY(pnFeatureImpact) impacts;
  PN_ARRAY(uint32_t) bodies; /* of each impact: a above, b below, 16 bits each */
  PN_ARRAY(pnKeyValue) keys;
  PN_ARRAY(pnDeviceStepContact) contacts;
} pnDeviceImpactList;

struct pnDeviceWorld {
  pnDevice *device;
  PN_ARRAY(pnDeviceBody) bodies;
  uint32_t triangleCount, vertexCount; /* of all bodies */

  /* the layout */
  bool laidOut;
  uint32_t slotCount, superCount, fanCount, chunkCount;
  bool nearOnList; /* neighbours have a list; else they come as candidates, like any others */
  bool welded;     /* in some body vertices are welded onto others */
  bool filtered;   /* some body has a filter that looks at pairs found */
  bool anySelf;
  uint32_t scanEach, scanRuns;
  uint32_t binShift, binCount;
  bool binsFull; /* a frame of this layout had more pairs in a bin than it holds: pairs are sorted by counting */
  cl_mem buffers[PN_BUFFER_COUNT];
  size_t bufferBytes[PN_BUFFER_COUNT];
  size_t byteCount;
  uint32_t capacity[PN_LIST_COUNT];
  cl_kernel kernels[PN_STAGE_COUNT];

  /* inputs: two copies here, so that one can be filled while the other travels */
  PN_ARRAY(pnMotion) motions;
  float *inputs[2];
  uint32_t inputCount;
  cl_event inputEvent[2];
  pnMotion *motionCopy[2];
  uint32_t inputTurn;
  bool reading; /* the device may still be reading poses, or the copies above: pn_settle */

  /* the frame */
  pnDeviceFrameDef def;
  bool argumentsStale; /* kernels have arguments of another mode or of buffers that are gone */
  uint32_t mode;       /* of the frame; as the kernels have it (kernel/prelude.cl) */
  bool rulesWithoutSelf;
  bool running, finished, moved;
  cl_event event;
  cl_event stageEvents[PN_STAGE_COUNT];
  double stageSeconds[PN_STAGE_COUNT], begun;
  uint32_t head[PN_HEAD_PLACES];
  bool knowsSizes; /* the head is that of a frame of this layout */

  /* memory of the processor that the device writes fastest: the head, then pairs */
  cl_mem pinned;
  char *pinnedMemory;
  size_t pinnedBytes;
  bool eager;             /* pairs are fetched together with the head, as many as are likely */
  uint32_t fetched, last; /* pairs that came so; pairs of the frame before */

  /* the answer */
  const pnPair *answer; /* the pairs: those below, or for one body the pinned ones */
  size_t answerCount;
  PN_ARRAY(pnPair) pairs;
  PN_ARRAY(pnDeviceContact) contacts; /* and behind them those that ended */
  PN_ARRAY(pnDeviceContact) before;   /* those of the frame downloaded before */
  uint32_t endedCount;
  bool limited, downloaded;
  PN_ARRAY(uint64_t) scratch;

  /* the step */
  cl_kernel stepKernels[PN_STEP_COUNT];
  bool stepBegun;                   /* the begin is there, for the bodies of this layout */
  bool hasFeatures;                 /* edges and who owns them are on the device, for this layout */
  uint32_t edgeCount, featureCount; /* of the world; features are vertices, triangles and edges */
  uint32_t searchCapacity, impactCapacity, unsureCapacity;
  uint32_t stepHead[PN_STEP_PLACES];
  uint32_t stepStays; /* impacts that lie on the device, sorted */
  cl_event stepEvents[PN_STEP_COUNT];
  double stepSeconds[PN_STEP_COUNT];
  pnDeviceImpactList step;
};

/* An argument of a kernel. */
typedef struct pnArgument {
  size_t size;
  const void *value;
} pnArgument;
#define PN_NUMBER(x)                      \
  {                                       \
    sizeof(uint32_t), &(const uint32_t) { \
      x                                   \
    }                                     \
  }
#define PN_VALUE(x) \
  { sizeof(x), &(x) }

/* world.c: puts a kernel into the queue, with all its arguments. */
pnResult pn_runKernel(pnDeviceWorld *world, cl_kernel kernel, const char *name, const pnArgument *arguments, int count,
                      const size_t global[2], const size_t local[2], cl_event *outEvent);

/* world.c: room in a buffer for at least so many bytes; what was in it is lost when it has to grow. */
pnResult pn_reserveBuffer(pnDeviceWorld *world, pnBufferName name, size_t bytes);
/* A new buffer with this in it. */
pnResult pn_fillBuffer(pnDeviceWorld *world, pnBufferName name, const void *data, size_t bytes);
/* Room for `count` pairs in a list, and in what goes with it. */
pnResult pn_reserveList(pnDeviceWorld *world, pnListName list, uint32_t count);
/* Waits until the device reads nothing of the processor's any more. Poses and the arrays they share may change, or go, after every
 * call but a Begin that went well; so may what is ours, after a call that failed on the way. */
void pn_settle(pnDeviceWorld *world);
/* A call failed: its result, and the device is lost unless it was memory. */
pnResult pn_worldFail(pnDeviceWorld *world, cl_int error, const char *call, const char *what);

/* layout.c */
pnResult pn_layOut(pnDeviceWorld *world);
/* order.c: brings triangles, by the sums of their corners (3 floats each), into an order in which every run of 1 024 and of 32
 * is close together. */
void pn_orderTriangles(uint32_t *triangles, const float *sums, uint32_t count);
/* layout_near.c: neighbours. triangles: four numbers a slot; slots: one per triangle of the world. */
pnResult pn_layOutNear(pnDeviceWorld *world, const uint32_t *triangles, const uint32_t *slots);
/* layout_motion.c, layout_wish.c: the constant arrays of motions and of filters. */
pnResult pn_layOutMotions(pnDeviceWorld *world);
void pn_freeInputs(pnDeviceWorld *world);
pnResult pn_layOutWishes(pnDeviceWorld *world);
/* upload.c: what has changed in the poses. */
pnResult pn_uploadPoses(pnDeviceWorld *world);
/* All poses travel anew with the next frame: the device does not have them, or may not. */
void pn_forgetPoses(pnDeviceWorld *world);
/* The buffer with the welded vertices of every slot, four numbers each. */
PN_INLINE cl_mem pn_weldBuffer(const pnDeviceWorld *world) {
  return world->buffers[world->welded ? PN_BUFFER_WELDS : PN_BUFFER_TRIANGLES];
}
/* frame.c: which bodies may meet, with self-collision or without. */
pnResult pn_sendRules(pnDeviceWorld *world, bool noSelf);
/* Groups of 32 that keep the device busy. */
size_t pn_teamsOf(const pnDeviceWorld *world);
/* step.c: what a world holds for steps. */
void pn_freeStep(pnDeviceWorld *world);
/* Everything that meets up to `until` (1: in the whole step) is on the device, and the head of the step here. earliest: what begins after
 * another has ended may be left out, and nothing is sorted. */
pnResult pn_runStep(pnDeviceWorld *world, bool earliest, float until, uint32_t *outReruns);
/* frame.c: all vertices of the world where its poses are now, on the device: in the queue's order. */
pnResult pn_bringVertices(pnDeviceWorld *world);
/* result.c: seconds of stages, by their events, where the device was asked to measure. */
void pn_noteSeconds(const pnDevice *device, const cl_event *events, int count, double *outSeconds);
/* result.c: PN_ERROR_NUMBER, naming the vertex that is NaN or infinite. */
pnResult pn_failNumber(pnDeviceWorld *world);
/* frame.c: are the pairs of this frame sorted, and is the device to keep the first of them only? */
bool pn_isSorted(const pnDeviceWorld *world);
bool pn_isLimited(const pnDeviceWorld *world);
/* frame.c: the kernels of a frame, from refit on; poses are on the device. */
pnResult pn_enqueueFrame(pnDeviceWorld *world);

#endif
