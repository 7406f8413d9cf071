/* adapter_embree_build.cpp: how long Embree 3 takes to build the tree that rtcCollide wants: a user geometry of triangles with
 * a function for their boxes. See embree_build.h. */
#include "embree_bounds.h"
#include "embree_build.h"

#include <cstdio>

namespace {

struct Body {
  const uint32_t *triangles;
  const float *vertices;
};

void boundTriangle(const RTCBoundsFunctionArguments *arguments) {
  const Body *body = static_cast<const Body *>(arguments->geometryUserPtr);
  pn_boundTriangle(body->triangles, body->vertices, arguments->primID, arguments->bounds_o);
}

void noIntersect(const RTCIntersectFunctionNArguments *) {}
void noOcclude(const RTCOccludedFunctionNArguments *) {}

} // namespace

extern "C" double pn_embreeBuild(const pnBenchBody *body, const float *vertices, int quality, uint32_t threads,
                                 double (*clock)(void)) {
  static const RTCBuildQuality qualities[] = {RTC_BUILD_QUALITY_LOW, RTC_BUILD_QUALITY_MEDIUM, RTC_BUILD_QUALITY_REFIT};
  char config[64];
  std::snprintf(config, sizeof config, "threads=%u,start_threads=1", threads);
  RTCDevice device = rtcNewDevice(config);
  Body user = {body->triangles, vertices};
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(geometry, body->triangleCount);
  rtcSetGeometryUserData(geometry, &user);
  rtcSetGeometryBoundsFunction(geometry, boundTriangle, nullptr);
  rtcSetGeometryIntersectFunction(geometry, noIntersect);
  rtcSetGeometryOccludedFunction(geometry, noOcclude);
  rtcSetGeometryBuildQuality(geometry, qualities[quality]);
  double least = 1e9;
  /* the first scene finds the memory of the device empty */
  for (int i = 0; i < 2; ++i) {
    double start = clock();
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, quality == 1 ? RTC_SCENE_FLAG_NONE : RTC_SCENE_FLAG_DYNAMIC);
    rtcSetSceneBuildQuality(scene, quality == 1 ? RTC_BUILD_QUALITY_MEDIUM : RTC_BUILD_QUALITY_LOW);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcCommitScene(scene);
    least = std::min(least, clock() - start);
    rtcReleaseScene(scene);
  }
  rtcReleaseGeometry(geometry);
  rtcReleaseDevice(device);
  return least;
}
