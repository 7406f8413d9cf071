/* pinch/device.h: the frame on a GPU, or on any other device that speaks OpenCL 1.2 with doubles.
 *
 *   pnDevice *device;  pnCreateDevice(NULL, &device);                     the first GPU, else the processor
 *   pnDeviceWorld *world;  pnCreateDeviceWorld(device, &world);
 *   pnDeviceBodyDef bd = pnDefaultDeviceBodyDef();  bd.pose = pose;  pnDeviceWorld_AddBody(world, &bd, &body);
 *   each frame:  pnPose_SetVertices, _SetJoints, _SetWeights, _SetTransform ...
 *                pnDeviceFrame f = pnDeviceWorld_Collide(world, NULL);
 *                pnDeviceWorld_GetContacts(world)[i] ... its triangle pairs
 *
 * The pairs are those of pinch/world.h, exactly: the device compiles the text of the processor's own predicates, and one that
 * does not round as it must is refused when it is opened. Bodies are poses, moved as everywhere: vertices travel to the device
 * when they were set, of morphing and skinned bodies only weights and joints do, and vertices that are already there need not
 * travel at all (pnDeviceWorld_GetVertexBuffer). Pairs can stay there too (pnDeviceWorld_GetResults).
 *
 * The library is pinch_cl (find_package: pinch::cl). OpenCL itself is loaded when the first function here is called; nothing
 * links with it. Without it the calls answer PN_ERROR_UNSUPPORTED, and the message says what to install.
 *
 * Pointers of OpenCL (cl_mem, cl_event, ...) are void * here, so that this header needs none of its headers.
 * Threads: as everywhere, two threads may not use one device or world at the same time, nor one a device and another a world
 * on it.
 */
#ifndef PINCH_DEVICE_H
#define PINCH_DEVICE_H

#include "pinch/collide.h"
#include "pinch/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- devices */

typedef struct pnDevice pnDevice;

/* What a device is made of. */
typedef enum pnDeviceKind { PN_DEVICE_GPU, PN_DEVICE_CPU, PN_DEVICE_OTHER } pnDeviceKind;

/* A device as the driver describes it. */
typedef struct pnDeviceInfo {
  char name[128], platform[128], driver[64];
  char why[160]; /* empty, or why it cannot be used: no doubles, no compiler, ... */
  pnDeviceKind kind;
  uint32_t computeUnits;
  uint64_t memory; /* bytes */
} pnDeviceInfo;

/* All devices, GPUs first, then processors, then others; within a kind in the order of the drivers. Up to `capacity` of them
 * into outInfos (may be null when that is 0), and how many there are. PN_ERROR_UNSUPPORTED without OpenCL; no device at all is
 * PN_OK and 0. */
PN_API pnResult pnListDevices(pnDeviceInfo *outInfos, uint32_t capacity, uint32_t *outCount);

/* Which device, and how. */
typedef struct pnDeviceDef {
  uint32_t index; /* in the list above; PN_NONE (default): the first that can be used */
  /* The caller's own cl_command_queue: work is put there, in its context and on its device; index is ignored. It must be in
   * order, and is retained. Null (default): a queue of our own. */
  void *queue;
  const char *cacheFolder; /* where compiled programs are kept; null (default): the user's cache folder; "": nowhere */
  /* An OpenGL context whose buffers are to be shared (pnDeviceWorld_CopyGlVertices) and its display: an EGLContext and its
   * EGLDisplay, or with `glx` a GLXContext and its Display. It must be current in the calling thread. Null (default): none. Without
   * cl_khr_gl_sharing PN_ERROR_UNSUPPORTED. With a queue of the caller's sharing is the matter of that queue's context. */
  void *glContext, *glDisplay;
  bool glx;
  bool profile;    /* a queue of our own notes times, for pnDeviceWorld_GetStage */
  uint32_t cookie; /* PN_COOKIE, by pnDefaultDeviceDef() */
} pnDeviceDef;

PN_API pnDeviceDef pnDefaultDeviceDef(void);
/* Opens a device: compiles its programs or takes them from the cache, and compares its exact tests and its rounding with the
 * processor's on cases made to hurt. def may be null. Errors: PN_ERROR_UNSUPPORTED (no OpenCL, no device, one that lacks
 * something or disagrees with the processor; the message says what), PN_ERROR_ARGUMENT (no such index), PN_ERROR_DEVICE,
 * PN_ERROR_MEMORY. */
PN_API pnResult pnCreateDevice(const pnDeviceDef *def, pnDevice **outDevice);
PN_API void pnDestroyDevice(pnDevice *device); /* null is allowed; its worlds must be gone */

/* As in the list. */
PN_API pnDeviceInfo pnDevice_GetInfo(const pnDevice *device);
/* Its cl_context and cl_command_queue, for buffers of your own. They stay the device's. */
PN_API void *pnDevice_GetContext(const pnDevice *device);
PN_API void *pnDevice_GetQueue(const pnDevice *device);
/* Seconds that opening it took to compile, and how many of its programs came from the cache. */
PN_API double pnDevice_GetBuildSeconds(const pnDevice *device, uint32_t *outFromCache);

/* Memory of the processor from which the device copies fastest (pinned), for vertices that are shared with a pose
 * (pnPose_ShareVertices) and travel every frame. Freed with the device at the latest; null may be freed. */
PN_API pnResult pnDevice_Alloc(pnDevice *device, size_t bytes, void **outMemory);
PN_API void pnDevice_Free(pnDevice *device, void *memory);

/* ---------------------------------------------------------------- worlds */

typedef struct pnDeviceWorld pnDeviceWorld;

/* An empty world on a device. Several worlds may share one. */
PN_API pnResult pnCreateDeviceWorld(pnDevice *device, pnDeviceWorld **outWorld);
PN_API void pnDestroyDeviceWorld(pnDeviceWorld *world); /* null is allowed; poses and meshes are the caller's */

/* What a body is. */
typedef struct pnDeviceBodyDef {
  const pnPose *pose;      /* any kind: free, rigid, morphing, skinned; must outlive the world */
  bool self;               /* look for self-collision (default false) */
  pnSelfFilter selfFilter; /* arrays are copied */
  uint32_t category;       /* bits this body is (default 1) */
  uint32_t mask;           /* bits it collides with (default all); both sides must agree */
  /* The caller writes the world positions of the vertices into the device's buffer (pnDeviceWorld_GetVertexBuffer); of the pose
   * only the mesh is looked at. Default false. */
  bool onDevice;
  uint32_t cookie; /* PN_COOKIE, by pnDefaultDeviceBodyDef() */
} pnDeviceBodyDef;

PN_API pnDeviceBodyDef pnDefaultDeviceBodyDef(void);
/* Bodies are numbered 0, 1, ... in the order they come. The next frame lays the world out anew: their triangles are ordered in
 * space as they are at rest (as they are then, where all vertices of the mesh are one point), which costs O(n log n) on the
 * processor and is never done again unless another body comes. */
PN_API pnResult pnDeviceWorld_AddBody(pnDeviceWorld *world, const pnDeviceBodyDef *def, uint32_t *outBody);
PN_API uint32_t pnDeviceWorld_GetBodyCount(const pnDeviceWorld *world);
/* Triangles of all bodies have one numbering, body after body, in results that stay on the device: a body's first. */
PN_API uint32_t pnDeviceWorld_GetFirstTriangle(const pnDeviceWorld *world, uint32_t body);

/* Vertices on the device. The world's cl_mem of vertices, 3 floats a vertex, and where those of `body` begin in it, in bytes.
 * Write those of onDevice bodies there, on the device's queue or before the events given to Begin; others are overwritten.
 * Valid until a body comes. Lays the world out when that has not been done. */
PN_API pnResult pnDeviceWorld_GetVertexBuffer(pnDeviceWorld *world, uint32_t body, void **outBuffer, size_t *outOffset);
/* The same as a copy on the device, out of a cl_mem of the caller's from `offset` bytes on, at once in the queue's order. Only for
 * onDevice bodies: else PN_ERROR_KIND. */
PN_API pnResult pnDeviceWorld_CopyVertices(pnDeviceWorld *world, uint32_t body, void *buffer, size_t offset);

/* The same out of a buffer of OpenGL, by its name, where the device shares them (pnDeviceDef.glContext). OpenGL must be done with the
 * buffer (glFinish, or a fence that was waited for), and leave it alone until the frame that was begun after this is finished.
 * PN_ERROR_ARGUMENT: there is no such buffer. */
PN_API pnResult pnDeviceWorld_CopyGlVertices(pnDeviceWorld *world, uint32_t body, uint32_t buffer, size_t offset);

/* ---------------------------------------------------------------- the frame */

/* What to look for. Zeroed is the default: all pairs, sorted. */
typedef struct pnDeviceFrameDef {
  bool first;     /* one pair for each two bodies is enough, any */
  bool noSelf;    /* skip self-collision in this frame */
  bool unsorted;  /* in the order found, by chance */
  bool countOnly; /* how many pairs; none is handed out */
  /* At most so many pairs, 0 (default): all. The device finds them all, and keeps the first in the order of contacts and, in each, of
   * triangles: also of those that stay there. `unsorted` then means nothing. */
  size_t maxPairs;
  uint32_t waitCount; /* cl_events to wait for before vertices are read; Begin only */
  void *const *waits;
} pnDeviceFrameDef;

/* What a frame found and what it cost. */
typedef struct pnDeviceFrame {
  pnResult result;
  size_t pairCount;
  uint32_t contactCount; /* after a download: begun and persisting */
  uint32_t endedCount;   /* after a download */
  bool limited;    /* there are more pairs than pnDeviceFrameDef.maxPairs (of `first` in a world of more than 4 096
                          * bodies: known after a download) */
  uint32_t reruns; /* how often a list on the device was too short and the frame was run again */
  uint64_t superPairs, clusterPairs, candidates, uncertain; /* what each step handed to the next */
  double seconds;                                           /* from Begin to the end of Finish */
} pnDeviceFrame;

/* Begin uploads what has changed in the poses and puts the frame into the queue, without waiting; Finish waits for it, runs it
 * again if a list was too short, and tells what it found. Poses, and arrays they share, must stay as they are in between; after
 * a Begin that failed, and after every other call, nothing of them is read any more (so a Begin that fails waits for the events
 * that it was given). A Begin that finds a frame unfinished lets it run out and forgets its answer. Errors: PN_ERROR_NUMBER names body and vertex
 * (of onDevice bodies, and of shared arrays; other numbers were checked when they were set), PN_ERROR_DEVICE when the device
 * failed or was lost: then it and its worlds can only be destroyed. */
PN_API pnResult pnDeviceWorld_Begin(pnDeviceWorld *world, const pnDeviceFrameDef *def);
PN_API pnDeviceFrame pnDeviceWorld_Finish(pnDeviceWorld *world);
/* Fetches the pairs of a finished frame and sorts them into contacts. */
PN_API pnResult pnDeviceWorld_Download(pnDeviceWorld *world);
/* All three. */
PN_API pnDeviceFrame pnDeviceWorld_Collide(pnDeviceWorld *world, const pnDeviceFrameDef *def);

/* Whether a contact is new, goes on, or is over, against the frame that was downloaded before. */
typedef enum pnDeviceContactState {
  PN_DEVICE_CONTACT_BEGIN,
  PN_DEVICE_CONTACT_PERSIST,
  PN_DEVICE_CONTACT_END
} pnDeviceContactState;

/* Two bodies that meet, a < b, or one with itself. Contacts are sorted by a, then b. */
typedef struct pnDeviceContact {
  uint32_t a, b;
  pnDeviceContactState state;  /* ended contacts have no pairs and come after the others */
  size_t firstPair, pairCount; /* into pnDeviceWorld_GetPairs */
} pnDeviceContact;

/* Of the last frame that was downloaded; valid until the next Finish. Triangles are those of the meshes, and in each
 * contact sorted unless the frame was unsorted. */
PN_API const pnDeviceContact *pnDeviceWorld_GetContacts(const pnDeviceWorld *world); /* contactCount, then endedCount */
PN_API const pnPair *pnDeviceWorld_GetPairs(const pnDeviceWorld *world);

/* The answer where it is. */
typedef struct pnDeviceResults {
  void *pairs; /* cl_mem: uint2 each, triangles by the world's numbers, smaller first */
  void *
      head; /* cl_mem: uint; [0] how many pairs, [1] not 0: a list was too short, and only Finish makes the answer right */
  void *event; /* cl_event that the frame ends with; stays the world's, retain it to keep it */
} pnDeviceResults;
/* Of the last Begin; valid until the next one. Finish may change `pairs`: ask again after it. */
PN_API pnDeviceResults pnDeviceWorld_GetResults(const pnDeviceWorld *world);

/* For measuring: what step i of the last finished frame is called and how many seconds the device spent on it; null past the
 * last, or when the device was not opened with `profile`. */
PN_API const char *pnDeviceWorld_GetStage(const pnDeviceWorld *world, uint32_t i, double *outSeconds);
/* Bytes on the device. */
PN_API size_t pnDeviceWorld_GetByteCount(const pnDeviceWorld *world);

/* ---------------------------------------------------------------- between two frames */

/* A step is the way of all bodies from where they were at BeginStep to where they are now, on straight lines, as in
 * pinch/collide.h (pnCollideSwept) and pinch/world.h. Its impacts are theirs, with the bits of their times: the device
 * runs the text of the processor's filter, and in whole numbers, for what that cannot decide, that of its exact answer.
 * Bodies that look at themselves do so without their filters. */

/* The step begins where all bodies are now. A body that comes later needs a new one. The first one on a device compiles a program
 * and compares its answers with the processor's: PN_ERROR_UNSUPPORTED when one differs. So does the first step in which
 * something is left to whole numbers. */
PN_API pnResult pnDeviceWorld_BeginStep(pnDeviceWorld *world);

/* What to look for in a step. Zeroed is the default: everything. */
typedef struct pnDeviceStepDef {
  pnSweptWhat
      what;    /* PN_SWEPT_ALL (default), or PN_SWEPT_EARLIEST: the first of all in the world. Not PN_SWEPT_TRIANGLES */
  bool noSelf; /* skip bodies with themselves */
  /* Impacts stay on the device (pnDeviceWorld_GetStepResults), and only their number comes back; the earliest, when that is asked
   * for, is in both places. */
  bool stay;
} pnDeviceStepDef;

/* What a step found and what it cost. */
typedef struct pnDeviceStep {
  pnResult result;
  size_t impactCount;
  uint32_t contactCount;
  pnImpactSpan earliest;                   /* of all; not with `stay` */
  uint32_t reruns;                         /* how often a list was too short, or the exact program was not there yet */
  uint64_t trianglePairs, asked, searched; /* what each part handed to the next */
  uint64_t uncertain;                      /* decided in whole numbers */
  double seconds;
} pnDeviceStep;

/* Two bodies (or one with itself: a == b) that meet on their way. Sorted by a, then b. */
typedef struct pnDeviceStepContact {
  uint32_t a, b;
  pnImpactSpan first; /* when first */
  size_t firstImpact; /* into pnDeviceWorld_GetImpacts */
  size_t impactCount; /* sorted by kind, a, b */
} pnDeviceStepContact;

/* Everything that meets between BeginStep and now, with times; waits. def may be null. The step stays: bodies may be moved again and
 * asked again. A frame that was begun and not finished is forgotten, and results of one that are on the device are gone.
 * Errors: as Begin's; PN_ERROR_ARGUMENT when no step was begun for these bodies. */
PN_API pnDeviceStep pnDeviceWorld_CollideSwept(pnDeviceWorld *world, const pnDeviceStepDef *def);
/* Of the last step; valid until the next. */
PN_API const pnDeviceStepContact *pnDeviceWorld_GetStepContacts(const pnDeviceWorld *world);
PN_API const pnFeatureImpact *pnDeviceWorld_GetImpacts(const pnDeviceWorld *world);

/* The impacts where they are, sorted by kind, then by the first feature and then by the second: each by its body and its number
 * there. (Downloaded they are by contact first.) */
typedef struct pnDeviceStepResults {
  void *names; /* cl_mem: uint4 each: the bodies (a above, b below, 16 bits each), the kind, and the two features */
  void *spans; /* cl_mem: double2 each: lo and hi */
  size_t count;
} pnDeviceStepResults;
/* Of the last step; valid until the next. */
PN_API pnDeviceStepResults pnDeviceWorld_GetStepResults(const pnDeviceWorld *world);
/* For measuring, as pnDeviceWorld_GetStage. */
PN_API const char *pnDeviceWorld_GetStepStage(const pnDeviceWorld *world, uint32_t i, double *outSeconds);

/* ---------------------------------------------------------------- volumes */

/* Layered depth images (pinch/volume.h) of a world's bodies, made on the device from the vertices that are there, with the
 * layers of the processor, each bit. Points inside and shared volumes are found there too: an image never travels. Bounds are
 * the processor's only: here volumes come without, as with pnLdiDef.bounds false. */

typedef struct pnDeviceLdi pnDeviceLdi;
typedef struct pnDeviceOverlap pnDeviceOverlap;

/* Which body to look at, and how finely; as pnLdiDef. */
typedef struct pnDeviceLdiDef {
  pnDeviceWorld *world; /* must outlive the image */
  uint32_t body;
  uint32_t resolution; /* pixels per side, 16 to 4096; default 128 */
  pnInsideRule rule;   /* default PN_INSIDE_WINDING */
  pnBox window;        /* what part of the world to look at; default (empty): the body's box at each update */
  uint32_t cookie;     /* PN_COOKIE, by pnDefaultDeviceLdiDef() */
} pnDeviceLdiDef;

PN_API pnDeviceLdiDef pnDefaultDeviceLdiDef(void);
/* Checks the mesh, as pnCreateLdi; makes no image yet. The first one on a device compiles a program. */
PN_API pnResult pnCreateDeviceLdi(const pnDeviceLdiDef *def, pnDeviceLdi **outLdi);
PN_API void pnDestroyDeviceLdi(pnDeviceLdi *ldi); /* null is allowed */

/* Makes the image of the body where it is now; nothing is done while its pose has not changed (of an onDevice body nobody knows).
 * What travels back is the body's box and a few counts. */
PN_API pnResult pnDeviceLdi_Update(pnDeviceLdi *ldi);
/* Of the last update; byteCount is on the device. */
PN_API pnLdiInfo pnDeviceLdi_GetInfo(const pnDeviceLdi *ldi);
/* Layers of pixel (x, y), ascending: how many there are, and at most `capacity` of them. Reads them from the device: for a look
 * at a pixel, not at all of them. */
PN_API pnResult pnDeviceLdi_GetLayers(const pnDeviceLdi *ldi, uint32_t x, uint32_t y, pnLayer *outLayers,
                                      uint32_t capacity, uint32_t *outCount);
/* As pnLdi_TestPoints: points go there, answers come back. */
PN_API pnResult pnDeviceLdi_TestPoints(pnDeviceLdi *ldi, const float *points, uint32_t count, uint8_t *outInside,
                                       pnInsideResult *outResult);
/* The same where everything stays on the device: `points` is a cl_mem with 3 floats a point from `offset` bytes on (a multiple
 * of 4), `inside` one for a byte a point. In the queue's order, without waiting; outEvent (may be null) gets a cl_event that
 * it ends with, the caller's to release. A point that is not finite is outside. */
PN_API pnResult pnDeviceLdi_TestBuffer(pnDeviceLdi *ldi, void *points, size_t offset, uint32_t count, void *inside,
                                       void **outEvent);
/* As pnLdi_Measure, without bounds. */
PN_API pnResult pnDeviceLdi_Measure(pnDeviceLdi *ldi, pnVolumeResult *outResult);

/* The image where it is: the layers of pixel (x, y) are keys[starts[c]] ... keys[starts[c] + counts[c] - 1] with
 * c = y * resolution + x, ascending. A key is twice the depth in steps, and one more where the line leaves the body. */
typedef struct pnDeviceImage {
  void *counts, *starts, *keys; /* cl_mem: uint each; starts of empty pixels mean nothing */
  uint32_t resolution;
} pnDeviceImage;
/* Of the last update; valid until the next. */
PN_API pnDeviceImage pnDeviceLdi_GetImage(const pnDeviceLdi *ldi);

/* Two bodies of one world; as pnOverlapDef. */
typedef struct pnDeviceOverlapDef {
  pnDeviceWorld *world; /* must outlive the object */
  uint32_t bodyA, bodyB;
  uint32_t resolution; /* default 128 */
  pnInsideRule rule;   /* default PN_INSIDE_WINDING */
  pnBox window;        /* measure only in this box; default (empty): everywhere */
  bool steady;         /* default false */
  uint32_t cookie;     /* PN_COOKIE, by pnDefaultDeviceOverlapDef() */
} pnDeviceOverlapDef;

PN_API pnDeviceOverlapDef pnDefaultDeviceOverlapDef(void);
/* Checks both meshes; measures nothing yet. */
PN_API pnResult pnCreateDeviceOverlap(const pnDeviceOverlapDef *def, pnDeviceOverlap **outOverlap);
PN_API void pnDestroyDeviceOverlap(pnDeviceOverlap *overlap); /* null is allowed */
/* As pnOverlap_Measure, without bounds. What travels back is boxes, counts and sums. */
PN_API pnResult pnDeviceOverlap_Measure(pnDeviceOverlap *overlap, pnOverlapResult *outResult);

#ifdef __cplusplus
}
#endif

#endif
