/* adapter_embree_inside.cpp: points in a body by casting rays with Embree 3, the way it is done without an image.
 *
 * From every point one ray, in a direction that is no axis; all surfaces it meets are counted (a filter turns every
 * hit down, so that one traversal sees them all), and an odd number means inside. */
#include "embree_inside.h"

#include <embree3/rtcore.h>

#include <cstring>

namespace {

struct Context {
  RTCIntersectContext base;
  unsigned hits;
};

void countHit(const RTCFilterFunctionNArguments *arguments) {
  // one ray at a time: N is 1
  if (arguments->valid[0] == -1) reinterpret_cast<Context *>(arguments->context)->hits++;
  arguments->valid[0] = 0;
}

} // namespace

extern "C" double pn_embreeInside(const pnEmbreeInsideInput *input, double *outBuildTime) {
  double start = input->clock();
  RTCDevice device = rtcNewDevice("threads=1");
  RTCScene scene = rtcNewScene(device);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  void *vertices =
      rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, input->vertexCount);
  void *triangles =
      rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, input->triangleCount);
  std::memcpy(vertices, input->vertices, 12 * size_t(input->vertexCount));
  std::memcpy(triangles, input->triangles, 12 * size_t(input->triangleCount));
  rtcSetGeometryOccludedFilterFunction(geometry, countHit);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene, geometry);
  rtcReleaseGeometry(geometry);
  // robust: no ray slips between two triangles
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
  rtcSetSceneBuildQuality(scene, input->fastBuild ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
  rtcCommitScene(scene);
  *outBuildTime = input->clock() - start;

  start = input->clock();
  for (uint32_t i = 0; i < input->pointCount; ++i) {
    const float *p = input->points + 3 * size_t(i);
    Context context;
    rtcInitIntersectContext(&context.base);
    context.hits = 0;
    RTCRay ray = {};
    ray.org_x = p[0], ray.org_y = p[1], ray.org_z = p[2];
    ray.dir_x = 0.267f, ray.dir_y = 0.535f, ray.dir_z = 0.802f;
    ray.tfar = 1e30f;
    ray.mask = ~0u;
    rtcOccluded1(scene, &context.base, &ray);
    input->outInside[i] = context.hits & 1;
  }
  double time = input->clock() - start;
  rtcReleaseScene(scene);
  rtcReleaseDevice(device);
  return time;
}
