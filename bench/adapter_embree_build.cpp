/* adapter_embree_build.cpp: how long Embree 3 takes to build the tree that rtcCollide wants: a user geometry of triangles with
 * a function for their boxes. See embree_build.h. */
#include "embree_build.h"

#include <embree3/rtcore.h>

#include <algorithm>
#include <cstdio>

namespace {

struct Body {
  const uint32_t *triangles;
  const float *vertices;
};

void boundTriangle(const RTCBoundsFunctionArguments *arguments) {
  const Body *body = static_cast<const Body *>(arguments->geometryUserPtr);
  const uint32_t *t = body->triangles + 3 * size_t(arguments->primID);
  const float *a = body->vertices + 3 * size_t(t[0]), *b = body->vertices + 3 * size_t(t[1]);
  const float *c = body->vertices + 3 * size_t(t[2]);
  RTCBounds *box = arguments->bounds_o;
  box->lower_x = std::min(a[0], std::min(b[0], c[0])), box->upper_x = std::max(a[0], std::max(b[0], c[0]));
  box->lower_y = std::min(a[1], std::min(b[1], c[1])), box->upper_y = std::max(a[1], std::max(b[1], c[1]));
  box->lower_z = std::min(a[2], std::min(b[2], c[2])), box->upper_z = std::max(a[2], std::max(b[2], c[2]));
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
