/* adapter_embree_query.cpp: rays and closest points by Embree 3. */
#include "query_rivals.h"

#include <embree3/rtcore.h>

#include <cmath>
#include <cstring>

struct pnEmbreeQuery {
  RTCDevice device;
  RTCScene scene;
  const pnRivalMesh mesh;
};

namespace {

RTCRay rayOf(const pnRay &from) {
  RTCRay ray = {};
  ray.org_x = from.origin.x, ray.org_y = from.origin.y, ray.org_z = from.origin.z;
  ray.dir_x = from.direction.x, ray.dir_y = from.direction.y, ray.dir_z = from.direction.z;
  ray.tnear = float(from.first), ray.tfar = float(from.last);
  ray.mask = ~0u;
  return ray;
}

struct Point {
  float x, y, z;
  Point(const float *p) : x(p[0]), y(p[1]), z(p[2]) {}
  Point(float x, float y, float z) : x(x), y(y), z(z) {}
  Point operator-(Point o) const { return Point(x - o.x, y - o.y, z - o.z); }
  Point operator+(Point o) const { return Point(x + o.x, y + o.y, z + o.z); }
  Point operator*(float s) const { return Point(x * s, y * s, z * s); }
};
float dot(Point a, Point b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* The closest point of a triangle by its seven regions, in float. */
Point closestOn(Point p, Point a, Point b, Point c) {
  Point ab = b - a, ac = c - a, ap = p - a;
  float d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return a;
  Point bp = p - b;
  float d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return b;
  Point cp = p - c;
  float d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return c;
  float vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + ab * (d1 / (d1 - d3));
  float vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + ac * (d2 / (d2 - d6));
  float va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 >= d3 && d5 >= d6) return b + (c - b) * ((d4 - d3) / (d4 - d3 + (d5 - d6)));
  float sum = 1 / (va + vb + vc);
  return a + ab * (vb * sum) + ac * (vc * sum);
}

struct Best {
  const pnRivalMesh *mesh;
  uint32_t triangle;
};

bool measure(RTCPointQueryFunctionArguments *arguments) {
  Best *best = static_cast<Best *>(arguments->userPtr);
  const uint32_t *t = best->mesh->triangles + 3 * size_t(arguments->primID);
  const float *v = best->mesh->vertices;
  Point p(arguments->query->x, arguments->query->y, arguments->query->z);
  Point x = closestOn(p, v + 3 * size_t(t[0]), v + 3 * size_t(t[1]), v + 3 * size_t(t[2]));
  float d = std::sqrt(dot(x - p, x - p));
  if (d >= arguments->query->radius) return false;
  arguments->query->radius = d;
  best->triangle = arguments->primID;
  return true;
}

} // namespace

pnEmbreeQuery *pn_embreeOpen(const pnRivalMesh *mesh, bool robust) {
  RTCDevice device = rtcNewDevice("threads=1");
  pnEmbreeQuery *rival = new pnEmbreeQuery{device, rtcNewScene(device), *mesh};
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  void *vertices =
      rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh->vertexCount);
  void *triangles =
      rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh->triangleCount);
  std::memcpy(vertices, mesh->vertices, 12 * size_t(mesh->vertexCount));
  std::memcpy(triangles, mesh->triangles, 12 * size_t(mesh->triangleCount));
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(rival->scene, geometry);
  rtcReleaseGeometry(geometry);
  if (robust) rtcSetSceneFlags(rival->scene, RTC_SCENE_FLAG_ROBUST);
  rtcSetSceneBuildQuality(rival->scene, RTC_BUILD_QUALITY_HIGH);
  rtcCommitScene(rival->scene);
  return rival;
}

void pn_embreeClose(pnEmbreeQuery *rival) {
  rtcReleaseScene(rival->scene);
  rtcReleaseDevice(rival->device);
  delete rival;
}

void pn_embreeFirst(pnEmbreeQuery *rival, const pnRay *rays, uint32_t count, uint32_t *outTriangles, float *outT) {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  for (uint32_t i = 0; i < count; ++i) {
    RTCRayHit hit;
    hit.ray = rayOf(rays[i]);
    hit.hit.geomID = hit.hit.primID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(rival->scene, &context, &hit);
    outTriangles[i] = hit.hit.geomID == RTC_INVALID_GEOMETRY_ID ? PN_NONE : hit.hit.primID;
    outT[i] = hit.ray.tfar;
  }
}

void pn_embreeBlocked(pnEmbreeQuery *rival, const pnRay *rays, uint32_t count, bool *outBlocked) {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  for (uint32_t i = 0; i < count; ++i) {
    RTCRay ray = rayOf(rays[i]);
    rtcOccluded1(rival->scene, &context, &ray);
    outBlocked[i] = ray.tfar < 0;
  }
}

void pn_embreeClosest(pnEmbreeQuery *rival, const float *points, uint32_t count, float *outDistances) {
  for (uint32_t i = 0; i < count; ++i) {
    RTCPointQuery query = {};
    query.x = points[3 * i], query.y = points[3 * i + 1], query.z = points[3 * i + 2];
    query.radius = INFINITY;
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    Best best = {&rival->mesh, RTC_INVALID_GEOMETRY_ID};
    rtcPointQuery(rival->scene, &query, &context, measure, &best);
    outDistances[i] = query.radius;
  }
}
