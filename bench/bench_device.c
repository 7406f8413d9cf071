/* bench_device.c: whole frames on a device (pinch/device.h) beside the same world on one and on all threads of the processor.
 *
 *   bench_device [SCENE...] [--device N] [--frames N] [--repeats N] [--stages] [--no-cpu] [--rows FILE]
 *
 * Scenes: cloth-ball (two frames of the data folder), those of bench_free, and crowd: 100 skinned characters of 10 000 triangles
 * in the museum. For each, milliseconds a frame, all pairs, sorted, the median over the frames measured:
 *
 *   device    vertices on the device, pairs left there; frames one after the other without waiting (throughput)
 *   waited    the same, each frame waited for
 *   through   vertices (or joints) uploaded from pinned memory, pairs downloaded and sorted into contacts
 *   1, N      pnWorld on one and on all threads of this machine, setting vertices included, by the clock on the wall
 *
 * And `ldi`: layered depth images of the body of 519 168 faces (scenes/volume_scenes.h) at 128 x 128 and at 512 x 512, its vertices
 * on the device, each image waited for; then 100 000 points, there and back; beside them the processor without bounds.
 *
 * And `step`: cloth-ball from one frame to the next, all features that meet with their times; each step waited for.
 *
 * Every frame's pairs are compared with the processor's: "same", or WRONG and status 1. --stages prints what each kernel takes, by
 * the device's own clock. */
#include "avatar.h"
#include "device_images.h"
#include "lab.h"
#include "record.h"
#include "rooms.h"

#include "pinch/device.h"
#include "pinch/io.h"
#include "pinch/world.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BODIES 128u
#define MOST_FRAMES 32u
#define MOST_REPEATS 200u

static uint32_t s_device = PN_NONE, s_frames = 8, s_repeats = 100;
static bool s_stages, s_noCpu;

void pn_benchCheck(pnResult result) {
  if (result == PN_OK) return;
  fprintf(stderr, "bench_device: %s\n", pnGetMessage());
  exit(2);
}

void *pn_benchNeed(size_t size) {
  void *memory = malloc(size);
  if (memory) return memory;
  fprintf(stderr, "bench_device: out of memory\n");
  exit(2);
}

/* ---------------------------------------------------------------- scenes */

/* Bodies, and what moves them in each frame measured. */
typedef struct Stage {
  char name[64];
  uint32_t bodyCount, frameCount, triangleCount;
  bool self;
  pnMesh *mesh[MOST_BODIES];
  const pnSkin *skin[MOST_BODIES];
  float *vertices[MOST_FRAMES][MOST_BODIES]; /* free bodies; null: where it is */
  pnMatrix *joints[MOST_FRAMES][MOST_BODIES];
  pnMatrix places[MOST_BODIES];
  pnScene *scene;
  pnAvatar avatar;
} Stage;

/* A copy with one float more, as pnPose_ShareVertices wants it. */
static float *copyVertices(const float *from, uint32_t count) {
  float *copy = pn_benchNeed((3 * (size_t)count + 1) * sizeof(float));
  memcpy(copy, from, 3 * (size_t)count * sizeof(float));
  copy[3 * (size_t)count] = 0;
  return copy;
}

static bool stageCloth(Stage *stage) {
  const char *folder = getenv("PINCH_DATA");
  pnMeshFile file[2] = {{0}, {0}};
  for (int i = 0; i < 2; ++i) {
    char path[1024];
    if (folder && folder[0])
      snprintf(path, sizeof path, "%s/scalable-ccd-data/cloth-ball/frames/cloth_ball%d.ply", folder, 92 + i);
    else
      snprintf(path, sizeof path, "%s/../shared/data/scalable-ccd-data/cloth-ball/frames/cloth_ball%d.ply",
               PINCH_SOURCE_DIR, 92 + i);
    if (pnLoadMeshFile(path, &file[i]) != PN_OK) {
      printf("cloth-ball: not in the data folder (set PINCH_DATA)\n");
      return false;
    }
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = file[0].vertices, def.vertexCount = file[0].vertexCount;
  def.triangles = file[0].triangles, def.triangleCount = file[0].triangleCount;
  pn_benchCheck(pnCreateMesh(&def, &stage->mesh[0]));
  stage->bodyCount = 1, stage->self = true, stage->frameCount = 1;
  stage->vertices[0][0] = copyVertices(file[1].vertices, file[1].vertexCount);
  for (int i = 0; i < 2; ++i) pnFreeMeshFile(&file[i]);
  return true;
}

static void stageScene(Stage *stage, const char *name) {
  pnSceneDef def = pnDefaultSceneDef();
  def.name = name;
  pn_benchCheck(pnCreateScene(&def, &stage->scene));
  const pnScene *scene = stage->scene;
  const uint32_t all = pnScene_GetFrameCount(scene);
  stage->bodyCount = pnScene_GetBodyCount(scene);
  stage->self = pnScene_IsSelf(scene);
  stage->frameCount = s_frames < all ? s_frames : all;
  if (stage->bodyCount > MOST_BODIES) exit(2);
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    const uint32_t n = pnScene_GetVertexCount(scene, b);
    float *vertices = pn_benchNeed((3 * (size_t)n + 1) * sizeof(float));
    pn_benchCheck(pnScene_Frame(scene, 0, b, vertices));
    pnMeshDef meshDef = pnDefaultMeshDef();
    meshDef.vertices = vertices, meshDef.vertexCount = n;
    meshDef.triangles = pnScene_GetTriangles(scene, b), meshDef.triangleCount = pnScene_GetTriangleCount(scene, b);
    pn_benchCheck(pnCreateMesh(&meshDef, &stage->mesh[b]));
    for (uint32_t f = 0; f < stage->frameCount; ++f) {
      // evenly over the motion, the last frame among them
      pn_benchCheck(pnScene_Frame(scene, (f + 1) * all / stage->frameCount - 1, b, vertices));
      stage->vertices[f][b] = copyVertices(vertices, n);
    }
    free(vertices);
  }
}

/* 100 characters and, last, the room. */
static void stageCrowd(Stage *stage) {
  pn_benchCheck(pnCreateAvatar(5000, &stage->avatar));
  stage->frameCount = s_frames;
  stage->bodyCount = 101;
  for (uint32_t b = 0; b < 100; ++b) {
    stage->mesh[b] = stage->avatar.mesh;
    stage->skin[b] = stage->avatar.skin;
    stage->places[b] = pnRoom_Place(PN_ROOM_MUSEUM, b, 100);
    for (uint32_t f = 0; f < stage->frameCount; ++f) {
      stage->joints[f][b] = pn_benchNeed(PN_AVATAR_JOINTS * sizeof(pnMatrix));
      pnAvatar_Walk((double)f / stage->frameCount + 0.37 * b, stage->joints[f][b]);
    }
  }
  pn_benchCheck(pnCreateRoom(PN_ROOM_MUSEUM, &stage->mesh[100]));
}

static void freeStage(Stage *stage) {
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    for (uint32_t f = 0; f < stage->frameCount; ++f) {
      free(stage->vertices[f][b]);
      free(stage->joints[f][b]);
    }
    if (stage->mesh[b] != stage->avatar.mesh) pnDestroyMesh(stage->mesh[b]);
  }
  pnDestroyAvatar(&stage->avatar);
  pnDestroyScene(stage->scene);
}

/* ---------------------------------------------------------------- the processor */

typedef struct Answer {
  size_t pairCount;
  uint32_t contactCount;
  pnContact *contacts;
  pnPair *pairs;
} Answer;

static pnWorld *makeWorld(const Stage *stage, pnPool *pool, pnBodyId *ids) {
  pnWorldDef def = pnDefaultWorldDef();
  pnWorld *world;
  if (pool) def.tasks = pnPool_GetTasks(pool);
  pn_benchCheck(pnCreateWorld(&def, &world));
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    pnBodyDef body = pnDefaultBodyDef();
    body.mesh = stage->mesh[b];
    body.skin = stage->skin[b];
    body.self = stage->self;
    body.kind = stage->skin[b] ? PN_BODY_SKINNED : stage->avatar.mesh ? PN_BODY_STATIC : PN_BODY_FREE;
    pn_benchCheck(pnWorld_CreateBody(world, &body, &ids[b]));
    if (stage->skin[b]) pn_benchCheck(pnBody_SetTransform(world, ids[b], &stage->places[b]));
  }
  return world;
}

static pnFrame stepWorld(const Stage *stage, pnWorld *world, const pnBodyId *ids, uint32_t f) {
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    if (stage->vertices[f][b])
      pn_benchCheck(pnBody_SetVertices(world, ids[b], stage->vertices[f][b], pnMesh_GetVertexCount(stage->mesh[b])));
    if (stage->joints[f][b])
      pn_benchCheck(pnBody_SetJoints(world, ids[b], stage->joints[f][b], pnSkin_GetJointCount(stage->skin[b])));
  }
  pnFrame frame = pnWorld_Collide(world, NULL);
  pn_benchCheck(frame.result);
  return frame;
}

/* Milliseconds a frame on so many threads, and the answers. */
static double runProcessor(const Stage *stage, uint32_t threads, Answer *answers) {
  pnPool *pool = NULL;
  pnBodyId ids[MOST_BODIES];
  double times[MOST_FRAMES];
  if (threads != 1) pn_benchCheck(pnCreatePool(threads, &pool));
  pnWorld *world = makeWorld(stage, pool, ids);
  for (uint32_t pass = 0; pass < 3; ++pass)
    for (uint32_t f = 0; f < stage->frameCount; ++f) {
      const double start = pnGetTime();
      pnFrame frame = stepWorld(stage, world, ids, f);
      const double time = 1e3 * (pnGetTime() - start);
      times[f] = pass == 0 || time < times[f] ? time : times[f];
      if (pass > 0 || !answers) continue;
      Answer *a = &answers[f];
      *a = (Answer){frame.pairCount, frame.contactCount, pn_benchNeed(frame.contactCount * sizeof(pnContact) + 1),
                    pn_benchNeed(frame.pairCount * sizeof(pnPair) + 1)};
      memcpy(a->contacts, pnWorld_GetContacts(world), frame.contactCount * sizeof(pnContact));
      memcpy(a->pairs, pnWorld_GetPairs(world), frame.pairCount * sizeof(pnPair));
    }
  pnDestroyWorld(world);
  pnDestroyPool(pool);
  return pn_labMedian(times, stage->frameCount);
}

/* ---------------------------------------------------------------- the device */

typedef struct Show {
  pnDevice *device;
  float *pinned[MOST_FRAMES][MOST_BODIES]; /* vertices where the device copies them fastest */
  pnDeviceWorld *world;
  pnPose *poses[MOST_BODIES];
} Show;

static Show makeShow(const Stage *stage, pnDevice *device) {
  Show show = {.device = device};
  pn_benchCheck(pnCreateDeviceWorld(device, &show.world));
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    pnPoseDef poseDef = {stage->mesh[b], NULL, stage->skin[b]};
    pn_benchCheck(pnCreatePose(&poseDef, &show.poses[b]));
    if (stage->skin[b]) pn_benchCheck(pnPose_SetTransform(show.poses[b], &stage->places[b]));
    pnDeviceBodyDef def = pnDefaultDeviceBodyDef();
    uint32_t number;
    def.pose = show.poses[b];
    def.self = stage->self;
    pn_benchCheck(pnDeviceWorld_AddBody(show.world, &def, &number));
    const size_t bytes = (3 * (size_t)pnMesh_GetVertexCount(stage->mesh[b]) + 1) * sizeof(float);
    for (uint32_t f = 0; f < stage->frameCount && stage->vertices[f][b]; ++f) {
      void *memory;
      pn_benchCheck(pnDevice_Alloc(device, bytes, &memory));
      show.pinned[f][b] = memcpy(memory, stage->vertices[f][b], bytes);
    }
  }
  return show;
}

static void freeShow(const Stage *stage, Show *show) {
  pnDestroyDeviceWorld(show->world);
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    pnDestroyPose(show->poses[b]);
    for (uint32_t f = 0; f < stage->frameCount; ++f) pnDevice_Free(show->device, show->pinned[f][b]);
  }
}

static void moveShow(const Stage *stage, Show *show, uint32_t f) {
  for (uint32_t b = 0; b < stage->bodyCount; ++b) {
    if (stage->vertices[f][b])
      pn_benchCheck(pnPose_ShareVertices(show->poses[b], show->pinned[f][b], pnMesh_GetVertexCount(stage->mesh[b])));
    if (stage->joints[f][b])
      pn_benchCheck(pnPose_SetJoints(show->poses[b], stage->joints[f][b], pnSkin_GetJointCount(stage->skin[b])));
  }
}

static bool isSame(const pnDeviceWorld *world, const pnDeviceFrame *frame, const Answer *a) {
  if (frame->pairCount != a->pairCount || frame->contactCount != a->contactCount) return false;
  for (uint32_t c = 0; c < a->contactCount; ++c) {
    const pnDeviceContact *d = &pnDeviceWorld_GetContacts(world)[c];
    const pnContact *x = &a->contacts[c];
    if (x->a.index1 - 1 != d->a || x->b.index1 - 1 != d->b || x->pairCount != d->pairCount ||
        memcmp(a->pairs + x->firstPair, pnDeviceWorld_GetPairs(world) + d->firstPair, d->pairCount * sizeof(pnPair)))
      return false;
  }
  return true;
}

typedef struct Figures {
  double device, waited, through;
  pnDeviceFrame last;
  bool same;
  uint32_t reruns;
} Figures;

/* A skinned crowd is moved in every frame, also where the others only run again: that is its upload. */
static Figures runDevice(const Stage *stage, Show *show, const Answer *answers) {
  Figures out = {.same = true};
  double device[MOST_FRAMES], waited[MOST_FRAMES], through[MOST_FRAMES], some[MOST_REPEATS];
  for (uint32_t f = 0; f < stage->frameCount; ++f) {
    moveShow(stage, show, f);
    out.last = pnDeviceWorld_Collide(show->world, NULL);
    pn_benchCheck(out.last.result);
    out.reruns += out.last.reruns;
    if (answers) out.same = out.same && isSame(show->world, &out.last, &answers[f]);
    double start = pnGetTime();
    for (uint32_t r = 0; r < s_repeats; ++r) {
      if (stage->joints[f][0]) moveShow(stage, show, f);
      pn_benchCheck(pnDeviceWorld_Begin(show->world, NULL));
    }
    pn_benchCheck(pnDeviceWorld_Finish(show->world).result);
    device[f] = 1e3 * (pnGetTime() - start) / s_repeats;
    for (uint32_t r = 0; r < s_repeats; ++r) {
      start = pnGetTime();
      if (stage->joints[f][0]) moveShow(stage, show, f);
      pn_benchCheck(pnDeviceWorld_Begin(show->world, NULL));
      pn_benchCheck(pnDeviceWorld_Finish(show->world).result);
      some[r] = 1e3 * (pnGetTime() - start);
    }
    waited[f] = pn_labMedian(some, s_repeats);
    for (uint32_t r = 0; r < s_repeats; ++r) {
      start = pnGetTime();
      moveShow(stage, show, f);
      pn_benchCheck(pnDeviceWorld_Collide(show->world, NULL).result);
      some[r] = 1e3 * (pnGetTime() - start);
    }
    through[f] = pn_labMedian(some, s_repeats);
  }
  out.device = pn_labMedian(device, stage->frameCount);
  out.waited = pn_labMedian(waited, stage->frameCount);
  out.through = pn_labMedian(through, stage->frameCount);
  return out;
}

static void printStages(const Stage *stage, Show *show) {
  const char *name;
  double total = 0;
  printf("    microseconds:");
  moveShow(stage, show, stage->frameCount - 1);
  pn_benchCheck(pnDeviceWorld_Collide(show->world, NULL).result);
  for (uint32_t i = 0; (name = pnDeviceWorld_GetStage(show->world, i, NULL)) != NULL; ++i) {
    double some[MOST_REPEATS], seconds;
    for (uint32_t r = 0; r < s_repeats; ++r) {
      moveShow(stage, show, stage->frameCount - 1);
      pn_benchCheck(pnDeviceWorld_Begin(show->world, NULL));
      pn_benchCheck(pnDeviceWorld_Finish(show->world).result);
      pnDeviceWorld_GetStage(show->world, i, &seconds);
      some[r] = 1e6 * seconds;
    }
    const double time = pn_labMedian(some, s_repeats);
    total += time;
    if (time > 0) printf(" %s %.1f", name, time);
  }
  printf("; sum %.1f\n", total);
}

static void recordProcessor(double one, double all) {
  if (s_noCpu) return;
  pn_record("1 thread", "ms", one);
  pn_record("threads", "ms", all);
}

/* ---------------------------------------------------------------- a step */

/* Seconds of the processor for the step, and its impacts. */
static double stepOfProcessor(const Stage *stage, uint32_t threads, pnImpactList *list) {
  pnPool *pool = NULL;
  pnSweep *sweep;
  pnPose *pose;
  pnPoseDef poseDef = {stage->mesh[0], NULL, NULL};
  pnSweptDef def = pnDefaultSweptDef();
  if (threads != 1) pn_benchCheck(pnCreatePool(threads, &pool));
  if (pool) def.tasks = pnPool_GetTasks(pool);
  pn_benchCheck(pnCreateSweep(stage->mesh[0], &sweep));
  pn_benchCheck(pnCreatePose(&poseDef, &pose));
  pn_benchCheck(pnSweep_SetBegin(sweep, pose));
  pn_benchCheck(pnPose_SetVertices(pose, stage->vertices[0][0], pnMesh_GetVertexCount(stage->mesh[0])));
  double some[3];
  for (int r = 0; r < 3; ++r) {
    pn_benchCheck(pnSweep_SetEnd(sweep, pose));
    const double start = pnGetTime();
    pn_benchCheck(pnCollideSwept(sweep, NULL, &def, list, NULL));
    some[r] = 1e3 * (pnGetTime() - start);
  }
  pnDestroyPose(pose);
  pnDestroySweep(sweep);
  pnDestroyPool(pool);
  return pn_labMedian(some, 3);
}

static bool sameImpacts(const pnDeviceWorld *world, size_t count, const pnImpactList *list) {
  const pnFeatureImpact *a = pnDeviceWorld_GetImpacts(world), *b = pnImpactList_GetImpacts(list);
  if (count != pnImpactList_GetCount(list)) return false;
  for (size_t i = 0; i < count; ++i)
    if (a[i].kind != b[i].kind || a[i].a != b[i].a || a[i].b != b[i].b || a[i].lo != b[i].lo || a[i].hi != b[i].hi)
      return false;
  return true;
}

/* From one frame of the cloth to the next, all features with their times: vertices on the device, impacts left there. */
static bool runStep(pnDevice *device, pnDevice *profiled) {
  Stage *stage = calloc(1, sizeof *stage);
  if (!stage) exit(2);
  if (!stageCloth(stage)) return free(stage), true;
  stage->triangleCount = pnMesh_GetTriangleCount(stage->mesh[0]);
  pnImpactList *list;
  pn_benchCheck(pnCreateImpactList(&list));
  const double one = s_noCpu ? 0 : stepOfProcessor(stage, 1, list), all = s_noCpu ? 0 : stepOfProcessor(stage, 0, list);
  Show show = makeShow(stage, device);
  double stays[MOST_REPEATS], through[MOST_REPEATS], first[MOST_REPEATS];
  const double built = pnDevice_GetBuildSeconds(device, NULL);
  pn_benchCheck(pnDeviceWorld_BeginStep(show.world));
  moveShow(stage, &show, 0);
  pnDeviceStep step = pnDeviceWorld_CollideSwept(show.world, NULL);
  pn_benchCheck(step.result);
  const bool same = s_noCpu || sameImpacts(show.world, step.impactCount, list);
  for (uint32_t r = 0; r < s_repeats; ++r) {
    step = pnDeviceWorld_CollideSwept(show.world, &(pnDeviceStepDef){.stay = true});
    pn_benchCheck(step.result);
    stays[r] = 1e3 * step.seconds;
    const pnDeviceStep early = pnDeviceWorld_CollideSwept(show.world, &(pnDeviceStepDef){.what = PN_SWEPT_EARLIEST});
    pn_benchCheck(early.result);
    first[r] = 1e3 * early.seconds;
  }
  for (uint32_t r = 0; r < s_repeats; ++r) {
    moveShow(stage, &show, 0);
    step = pnDeviceWorld_CollideSwept(show.world, NULL);
    pn_benchCheck(step.result);
    through[r] = 1e3 * step.seconds;
  }
  printf(
      "step cloth-ball %8u %8zu impacts | waited %7.4f earliest %7.4f through %7.4f | 1 thread %8.2f threads %8.2f | "
      "triangles %llu asked %llu searched %llu uncertain %llu %s\n",
      stage->triangleCount, step.impactCount, pn_labMedian(stays, s_repeats), pn_labMedian(first, s_repeats),
      pn_labMedian(through, s_repeats), one, all, (unsigned long long)step.trianglePairs,
      (unsigned long long)step.asked, (unsigned long long)step.searched, (unsigned long long)step.uncertain,
      s_noCpu ? ""
      : same  ? "same"
              : "WRONG");
  pn_recordScene("device", "step");
  pn_record("device", "ms", pn_labMedian(stays, s_repeats));
  pn_record("earliest", "ms", pn_labMedian(first, s_repeats));
  pn_record("through", "ms", pn_labMedian(through, s_repeats));
  recordProcessor(one, all);
  pn_record("device", "impacts", (double)step.impactCount);
  pn_record("device", "build s", pnDevice_GetBuildSeconds(device, NULL) - built);
  freeShow(stage, &show);
  if (profiled) {
    const char *name;
    double seconds;
    show = makeShow(stage, profiled);
    pn_benchCheck(pnDeviceWorld_BeginStep(show.world));
    moveShow(stage, &show, 0);
    for (int r = 0; r < 3; ++r)
      pn_benchCheck(pnDeviceWorld_CollideSwept(show.world, &(pnDeviceStepDef){.stay = true}).result);
    printf("    microseconds:");
    for (uint32_t i = 0; (name = pnDeviceWorld_GetStepStage(show.world, i, &seconds)) != NULL; ++i)
      printf(" %s %.1f", name, 1e6 * seconds);
    printf("\n");
    freeShow(stage, &show);
  }
  pnDestroyImpactList(list);
  freeStage(stage);
  free(stage);
  return same;
}

/* ---------------------------------------------------------------- one scene */

static bool run(const char *name, pnDevice *device, pnDevice *profiled) {
  if (strcmp(name, "ldi") == 0) {
    const double built = pnDevice_GetBuildSeconds(device, NULL);
    const bool same = pn_benchImages(device, s_repeats);
    pn_recordScene("device", "ldi");
    pn_record("device", "build s", pnDevice_GetBuildSeconds(device, NULL) - built);
    return same;
  }
  if (strcmp(name, "step") == 0) return runStep(device, profiled);
  Stage *stage = calloc(1, sizeof *stage);
  if (!stage) exit(2);
  if (strcmp(name, "cloth-ball") == 0) {
    if (!stageCloth(stage)) return free(stage), true;
  } else if (strcmp(name, "crowd") == 0) {
    stageCrowd(stage);
  } else {
    stageScene(stage, name);
  }
  for (uint32_t b = 0; b < stage->bodyCount; ++b) stage->triangleCount += pnMesh_GetTriangleCount(stage->mesh[b]);
  Answer answers[MOST_FRAMES] = {{0}};
  const double one = s_noCpu ? 0 : runProcessor(stage, 1, answers), all = s_noCpu ? 0 : runProcessor(stage, 0, NULL);
  Show show = makeShow(stage, device);
  Figures f = runDevice(stage, &show, s_noCpu ? NULL : answers);
  printf("%-12s %3u %8u %6u %8zu | %8.4f %8.4f %8.4f | %8.3f %8.3f | %9llu %8llu %6llu %s\n", name, stage->bodyCount,
         stage->triangleCount, stage->frameCount, f.last.pairCount, f.device, f.waited, f.through, one, all,
         (unsigned long long)f.last.clusterPairs, (unsigned long long)f.last.candidates,
         (unsigned long long)f.last.uncertain,
         s_noCpu  ? ""
         : f.same ? "same"
                  : "WRONG");
  pn_recordScene("device", name);
  pn_record("device", "ms", f.device);
  pn_record("waited", "ms", f.waited);
  pn_record("through", "ms", f.through);
  recordProcessor(one, all);
  pn_record("device", "triangles", stage->triangleCount);
  pn_record("device", "pairs", (double)f.last.pairCount);
  pn_record("device", "wrong frames", !f.same);
  freeShow(stage, &show);
  if (profiled) {
    show = makeShow(stage, profiled);
    printStages(stage, &show);
    freeShow(stage, &show);
  }
  fflush(stdout);
  for (uint32_t k = 0; k < stage->frameCount; ++k) {
    free(answers[k].contacts);
    free(answers[k].pairs);
  }
  freeStage(stage);
  free(stage);
  return f.same;
}

static pnDevice *open(bool profile) {
  pnDeviceDef def = pnDefaultDeviceDef();
  pnDevice *device;
  def.index = s_device;
  def.profile = profile;
  pn_benchCheck(pnCreateDevice(&def, &device));
  return device;
}

static void say(void *user, pnLogLevel level, const char *text) {
  (void)user;
  (void)level;
  printf("%s\n", text);
}

int main(int count, char **words) {
  static const char *const usual[] = {"cloth-ball", "s4-92450",  "s1-20480", "s1-327680", "s2",
                                      "s5-grid",    "s4-999698", "crowd",    "ldi",       "step"};
  const char *scenes[16];
  uint32_t sceneCount = 0;
  pn_recordArguments(&count, words);
  for (int i = 1; i < count; ++i) {
    const bool hasValue = i + 1 < count;
    if (strcmp(words[i], "--stages") == 0) s_stages = true;
    else if (strcmp(words[i], "--no-cpu") == 0) s_noCpu = true;
    else if (strcmp(words[i], "--device") == 0 && hasValue) s_device = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--frames") == 0 && hasValue) s_frames = (uint32_t)atoi(words[++i]);
    else if (strcmp(words[i], "--repeats") == 0 && hasValue) s_repeats = (uint32_t)atoi(words[++i]);
    else if (words[i][0] != '-' && sceneCount < 16) scenes[sceneCount++] = words[i];
    else {
      fprintf(stderr, "bench_device: \"%s\" is not understood\n", words[i]);
      return 2;
    }
  }
  s_repeats = s_repeats < 1 ? 1 : s_repeats > MOST_REPEATS ? MOST_REPEATS : s_repeats;
  s_frames = s_frames < 1 ? 1 : s_frames > MOST_FRAMES ? MOST_FRAMES : s_frames;
  if (sceneCount == 0)
    for (; sceneCount < sizeof usual / sizeof usual[0]; ++sceneCount) scenes[sceneCount] = usual[sceneCount];
  setvbuf(stdout, NULL, _IOLBF, 0); // a run that is ended from outside leaves what it has
  pnSetLogFcn(say, NULL);
  char machine[512];
  pn_labMachine(machine, sizeof machine);
  pnDevice *device = open(false);
  uint32_t kept;
  const double seconds = pnDevice_GetBuildSeconds(device, &kept);
  const pnDeviceInfo info = pnDevice_GetInfo(device);
  printf("%s\n%s, %s %s, %u compute units; programs ready after %.2f s, %u of them from the cache\n", machine,
         info.name, info.platform, info.driver, info.computeUnits, seconds, kept);
  pn_recordScene("device", "opening");
  pn_record("device", "build s", seconds);
  pnDevice *profiled = s_stages ? open(true) : NULL;
  printf("%-12s %3s %8s %6s %8s | %8s %8s %8s | %8s %8s | %9s %8s %6s\n", "ms a frame", "n", "triangles", "frames",
         "pairs", "device", "waited", "through", "1 thread", "threads", "clusters", "candid.", "unsure");
  bool right = true;
  for (uint32_t i = 0; i < sceneCount; ++i) right = run(scenes[i], device, profiled) && right;
  pnDestroyDevice(profiled);
  pnDestroyDevice(device);
  return right ? 0 : 1;
}
