/* device_images.c: see device_images.h. */
#include "device_images.h"

#include "lab.h"
#include "record.h"
#include "volume_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 100000u
#define MOST_REPEATS 200u

/* Milliseconds for an image and for the points on so many threads of the processor, and what it measures. */
static void imageOfProcessor(const pnPose *pose, uint32_t resolution, uint32_t threads, const float *points,
                             uint32_t count, double outTimes[2], pnVolumeResult *outVolume, uint8_t *inside) {
  pnPool *pool = NULL;
  pnLdiDef def = pnDefaultLdiDef();
  pnLdi *ldi;
  pnInsideResult result;
  double some[8];
  if (threads != 1) pn_benchCheck(pnCreatePool(threads, &pool));
  def.pose = pose, def.resolution = resolution, def.bounds = false;
  if (pool) def.tasks = pnPool_GetTasks(pool);
  pn_benchCheck(pnCreateLdi(&def, &ldi));
  for (int r = 0; r < 8; ++r) {
    pn_benchCheck(pnPose_SetVertices((pnPose *)(uintptr_t)pose, pnMesh_GetVertices(pnPose_GetMesh(pose)),
                                     pnMesh_GetVertexCount(pnPose_GetMesh(pose))));
    const double start = pnGetTime();
    pn_benchCheck(pnLdi_Update(ldi));
    some[r] = 1e3 * (pnGetTime() - start);
  }
  outTimes[0] = pn_labMedian(some, 8);
  for (int r = 0; r < 8; ++r) {
    pn_benchCheck(pnLdi_TestPoints(ldi, points, count, inside, &result));
    some[r] = 1e3 * result.time;
  }
  outTimes[1] = pn_labMedian(some, 8);
  pn_benchCheck(pnLdi_Measure(ldi, outVolume));
  pnDestroyLdi(ldi);
  pnDestroyPool(pool);
}

/* A body of a world on the device. */
typedef struct Seen {
  pnDeviceWorld *world;
  pnDeviceLdi *ldi;
  uint32_t body;
} Seen;

static Seen see(pnDevice *device, const pnPose *pose, uint32_t resolution, bool onDevice) {
  Seen seen;
  pnDeviceBodyDef body = pnDefaultDeviceBodyDef();
  pnDeviceLdiDef def = pnDefaultDeviceLdiDef();
  pn_benchCheck(pnCreateDeviceWorld(device, &seen.world));
  body.pose = pose, body.onDevice = onDevice;
  pn_benchCheck(pnDeviceWorld_AddBody(seen.world, &body, &seen.body));
  def.world = seen.world, def.body = seen.body, def.resolution = resolution;
  pn_benchCheck(pnCreateDeviceLdi(&def, &seen.ldi));
  return seen;
}

static void forget(Seen *seen) {
  pnDestroyDeviceLdi(seen->ldi);
  pnDestroyDeviceWorld(seen->world);
}

/* Does the device say what the processor says? */
static bool isSame(const Seen *seen, const float *points, const pnVolumeResult *theirs, const uint8_t *expected,
                   uint8_t *inside) {
  pnVolumeResult mine;
  pnInsideResult result;
  pn_benchCheck(pnDeviceLdi_Update(seen->ldi));
  pn_benchCheck(pnDeviceLdi_TestPoints(seen->ldi, points, POINTS, inside, &result));
  pn_benchCheck(pnDeviceLdi_Measure(seen->ldi, &mine));
  return mine.volume == theirs->volume && mine.spanCount == theirs->spanCount && memcmp(inside, expected, POINTS) == 0;
}

static bool runImage(pnDevice *device, const pnPose *pose, uint32_t resolution, const float *points, uint32_t repeats) {
  pnVolumeResult theirs, again;
  pnInsideResult result;
  double images[MOST_REPEATS], asked[MOST_REPEATS], one[2] = {0, 0}, all[2] = {0, 0};
  uint8_t *inside = pn_benchNeed(POINTS), *expected = pn_benchNeed(POINTS);
  imageOfProcessor(pose, resolution, 1, points, POINTS, one, &theirs, expected);
  imageOfProcessor(pose, resolution, 0, points, POINTS, all, &again, expected);
  Seen source = see(device, pose, resolution, false), seen = see(device, pose, resolution, true);
  const bool same = isSame(&source, points, &theirs, expected, inside);

  // vertices that are there: nobody knows that they are the same
  void *buffer;
  size_t offset;
  pn_benchCheck(pnDeviceWorld_GetVertexBuffer(source.world, source.body, &buffer, &offset));
  pn_benchCheck(pnDeviceWorld_CopyVertices(seen.world, seen.body, buffer, offset));
  for (uint32_t r = 0; r < repeats; ++r) {
    const double start = pnGetTime();
    pn_benchCheck(pnDeviceLdi_Update(seen.ldi));
    images[r] = 1e3 * (pnGetTime() - start);
    pn_benchCheck(pnDeviceLdi_TestPoints(seen.ldi, points, POINTS, inside, &result));
    asked[r] = 1e3 * result.time;
  }
  printf(
      "ldi %4u x %-4u %8u faces %9llu layers | image %7.4f, 1 thread %7.3f, threads %7.3f | points %7.4f, %7.3f, "
      "%7.3f | %s\n",
      resolution, resolution, pnMesh_GetTriangleCount(pnPose_GetMesh(pose)),
      (unsigned long long)pnDeviceLdi_GetInfo(source.ldi).layerCount, pn_labMedian(images, repeats), one[0], all[0],
      pn_labMedian(asked, repeats), one[1], all[1], same ? "same" : "WRONG");
  char scene[32];
  snprintf(scene, sizeof scene, "ldi-%u", resolution);
  pn_recordScene("device", scene);
  pn_record("device", "ms", pn_labMedian(images, repeats));
  pn_record("1 thread", "ms", one[0]);
  pn_record("threads", "ms", all[0]);
  forget(&seen);
  forget(&source);
  free(inside), free(expected);
  return same;
}

bool pn_benchImages(pnDevice *device, uint32_t repeats) {
  pnMesh *mesh;
  pnPose *pose;
  float *points = pn_benchNeed(3 * POINTS * sizeof(float));
  repeats = repeats > MOST_REPEATS ? MOST_REPEATS : repeats;
  uint64_t state = 1;
  for (size_t i = 0; i < 3 * (size_t)POINTS; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    points[i] = (float)(state >> 40) * 0x1p-23f - 1.0f;
  }
  pn_benchCheck(pnMakeVolumeShape(PN_VOLUME_WYRM, 0, &mesh));
  pnPoseDef def = {mesh, NULL, NULL};
  pn_benchCheck(pnCreatePose(&def, &pose));
  const bool same = runImage(device, pose, 128, points, repeats);
  const bool fine = runImage(device, pose, 512, points, repeats) && same;
  pnDestroyPose(pose);
  pnDestroyMesh(mesh);
  free(points);
  return fine;
}
