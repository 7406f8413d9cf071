/* deform_rigid.c: the transform, the last stage of every pose.
 * Its sum is defined in vertex.h. */
#include "mesh/pose.h"

#include "base/fenv.h"
#include "mesh/vertex.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- fetching */

/* Written once for both strides; the stride is a constant where it is called. */
PN_INLINE void fetchMoved(const pnColumns *m, const float *source, const uint32_t *vertices, uint32_t count, float *out,
                          uint32_t stride) {
  for (uint32_t i = 0; i < count; ++i, out += stride) {
    // one readable float after the last vertex of a source
    const pnF4 moved = pn_movePoint(m, pn_f4Load(source + 3 * (size_t)vertices[i]));
    if (stride == 4) pn_f4Store(out, moved);
    else pn_f4StoreThree(out, moved);
  }
}

void pn_fetchRigid(const pnMatrix *m, const float *source, const uint32_t *vertices, uint32_t count, float *out,
                   uint32_t stride) {
  const pnColumns columns = pn_columnsOf(m);
  if (stride == 4) fetchMoved(&columns, source, vertices, count, out, 4);
  else fetchMoved(&columns, source, vertices, count, out, 3);
}

void pn_moveRange(const pnMatrix *m, const float *source, uint32_t count, float *out) {
  const pnColumns columns = pn_columnsOf(m);
  // the fourth number of a vertex is written where the next one comes; the last has none
  for (uint32_t i = 0; i + 1 < count; ++i, source += 3, out += 3)
    pn_f4Store(out, pn_movePoint(&columns, pn_f4Load(source)));
  if (count > 0) pn_f4StoreThree(out, pn_movePoint(&columns, pn_f4Load(source)));
}

void pn_moveRigid(const pnMatrix *m, uint32_t count, float *inOut, uint32_t stride) {
  const pnColumns columns = pn_columnsOf(m);
  for (uint32_t i = 0; i < count; ++i, inOut += stride) {
    const pnF4 moved = pn_moveSplat(&columns, pn_f4Set1(inOut[0]), pn_f4Set1(inOut[1]), pn_f4Set1(inOut[2]));
    pn_f4StoreThree(inOut, moved);
  }
}

/* ---------------------------------------------------------------- boxes */

/* The pose computes a coordinate in four steps, each off by up to 2^-24 of the sum of what its terms may be at most, or where that is tiny by
 * 2^-150: 2^-22 of that sum, and 2^-148. Here it is computed in double, off by less than 2^-50, and rounded to float, off by 2^-24 or 2^-150. */
#define MOVED_MARGIN 0x1p-21
#define MOVED_TINY 0x1p-147

pnBox pn_moveBox(const pnMatrix *m, const pnBox *box) {
  const float *lo = &box->min.x, *hi = &box->max.x;
  pnBox out;
  if (!(lo[0] <= hi[0])) return *box; /* around nothing */
  for (int row = 0; row < 3; ++row) {
    const float *r = m->m[row];
    double least = r[3], most = r[3], reach = fabs((double)r[3]);
    for (int k = 0; k < 3; ++k) {
      double a = (double)r[k] * lo[k], b = (double)r[k] * hi[k];
      least += PN_MIN(a, b);
      most += PN_MAX(a, b);
      reach += PN_MAX(fabs(a), fabs(b));
    }
    double margin = MOVED_MARGIN * reach + MOVED_TINY;
    (&out.min.x)[row] = (float)(least - margin);
    (&out.max.x)[row] = (float)(most + margin);
  }
  return out;
}

/* ---------------------------------------------------------------- setting */

/* How far R R^T may be from the identity in any entry. A product of a thousand float rotations drifts by about 1e-4;
 * a scale of 1 % is 2e-2 and is refused. */
#define RIGID_TOLERANCE 1e-4

bool pn_rigidFits(const pnMatrix *m, float maxAbs) {
  // a partial sum is at most (|m0| + |m1| + |m2|) * maxAbs + |m3|; in double this is exact to 1e-15, and the four
  // roundings in float add less than 4 * 2^-24 of it, for which 1e-6 of FLT_MAX is kept free
  for (int row = 0; row < 3; ++row) {
    const float *r = m->m[row];
    double reach = (fabs((double)r[0]) + fabs((double)r[1]) + fabs((double)r[2])) * (double)maxAbs + fabs((double)r[3]);
    if (!(reach <= (double)FLT_MAX * (1 - 1e-6))) return false;
  }
  return true;
}

/* In double: the entries are floats near 1, the products exact. */
bool pn_isRigid(const pnMatrix *transform) {
  double r[3][3];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) r[i][k] = (double)transform->m[i][k];
  for (int i = 0; i < 3; ++i)
    for (int k = i; k < 3; ++k) {
      double product = r[i][0] * r[k][0] + r[i][1] * r[k][1] + r[i][2] * r[k][2];
      if (!(fabs(product - (i == k)) <= RIGID_TOLERANCE)) return false;
    }
  double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                       r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                       r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
  return determinant > 0;
}

static bool isIdentity(const pnMatrix *transform) {
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column)
      if (transform->m[row][column] != (row == column ? 1.0f : 0.0f)) return false;
  return true;
}

pnResult pnPose_SetTransform(pnPose *pose, const pnMatrix *transform) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(pose && transform);
  const char *name = pose->mesh->name;
  size_t bad;
  if (!pn_allFinite(&transform->m[0][0], 12, &bad))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': entry [%zu][%zu] of the transform is NaN or infinite", name,
                   bad / 4, bad % 4);
  if (!pn_isRigid(transform))
    return pn_fail(PN_ERROR_TRANSFORM,
                   "pose of mesh '%s': the transform scales, shears or mirrors; put that into the vertices", name);

  // a shared array may not have been looked through yet; what is found is kept only when all is well
  float maxAbs = pose->sourceMaxAbs;
  pnBox box = pose->sourceBox;
  if (maxAbs < 0) {
    pnResult result = pn_checkNumbers(pose, pose->source, &box);
    if (result != PN_OK) return result;
    maxAbs = pn_boxReach(&box);
  }
  if (!pn_rigidFits(transform, maxAbs))
    return pn_fail(PN_ERROR_NUMBER, "pose of mesh '%s': a coordinate of magnitude %g overflows under the transform",
                   name, (double)maxAbs);
  pose->sourceMaxAbs = maxAbs;
  pose->sourceBox = box;
  pose->transform = *transform;
  pose->hasTransform = !isIdentity(transform);
  pn_poseTouch(pose, false);
  return PN_OK;
}
