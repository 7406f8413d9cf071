/* anim.c: the arithmetic of an animation: maps of nodes, and what lies between two keys (glTF 2.0, 3.11 and appendix C). */
#include "anim.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- maps */

pnMap pn_mapFromMatrix(const pnMatrix *matrix) {
  pnMap map;
  for (int i = 0; i < 12; ++i) map.m[i / 4][i % 4] = (double)matrix->m[i / 4][i % 4];
  return map;
}

pnMatrix pn_mapToMatrix(const pnMap *map) {
  pnMatrix matrix;
  for (int i = 0; i < 12; ++i) matrix.m[i / 4][i % 4] = (float)map->m[i / 4][i % 4];
  return matrix;
}

bool pn_mapIsFinite(const pnMatrix *matrix) {
  for (int i = 0; i < 12; ++i)
    if (!isfinite(matrix->m[i / 4][i % 4])) return false;
  return true;
}

pnMap pn_mapMultiply(const pnMap *a, const pnMap *b) {
  pnMap map;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      double sum = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
      map.m[i][j] = j == 3 ? sum + a->m[i][3] : sum;
    }
  }
  return map;
}

pnMap pn_mapFromParts(const pnAnimParts *parts) {
  double x = parts->rotation[0], y = parts->rotation[1], z = parts->rotation[2], w = parts->rotation[3];
  double square = x * x + y * y + z * z + w * w;
  double s = square > 0.0 ? 2.0 / square : 0.0;
  double r[3][3] = {{1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                    {s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)},
                    {s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)}};
  pnMap map;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) map.m[i][j] = r[i][j] * parts->scale[j];
    map.m[i][3] = parts->translation[i];
  }
  return map;
}

pnAnimParts pn_partsOfNode(const pnAnimNode *node) {
  pnAnimParts parts;
  for (int i = 0; i < 3; ++i) parts.translation[i] = (double)node->translation[i];
  for (int i = 0; i < 4; ++i) parts.rotation[i] = (double)node->rotation[i];
  for (int i = 0; i < 3; ++i) parts.scale[i] = (double)node->scale[i];
  return parts;
}

pnMap pn_mapOfNode(const pnAnimNode *node) {
  if (node->hasMatrix) return pn_mapFromMatrix(&node->matrix);
  pnAnimParts parts = pn_partsOfNode(node);
  return pn_mapFromParts(&parts);
}

/* From each node a walk goes up to the first one that has its place; the nodes on the way wait at the other end of
 * `order`, which has room for them, unless they go round in a circle. No recursion: a chain may be as long as the file. */
uint32_t pn_orderNodes(const pnAnimNode *nodes, uint32_t count, uint32_t *order, uint8_t *placed) {
  uint32_t done = 0;
  memset(placed, 0, count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t waiting = 0;
    for (uint32_t n = i; n != PN_NONE && !placed[n]; n = nodes[n].parent) {
      if (done + waiting == count) return n;
      order[count - ++waiting] = n;
    }
    for (; waiting > 0; --waiting) {
      uint32_t n = order[count - waiting];
      placed[n] = 1;
      order[done++] = n;
    }
  }
  return PN_NONE;
}

/* ---------------------------------------------------------------- keys */

/* The last key at or before `time`; 0 when all are later. */
static uint32_t findKey(const pnAnimChannel *channel, double time) {
  uint32_t low = 0, high = channel->keyCount;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if ((double)channel->times[middle] <= time) low = middle;
    else high = middle;
  }
  return low;
}

/* Between two rotations along the shorter arc. The angle comes from both sine and cosine, which keeps its digits where
 * one of them alone loses them. */
static void slerp(const float *a, const float *b, double u, double *out) {
  double lengthA = 0.0, lengthB = 0.0, dot = 0.0, gap = 0.0;
  for (int i = 0; i < 4; ++i) {
    lengthA += (double)a[i] * (double)a[i];
    lengthB += (double)b[i] * (double)b[i];
    dot += (double)a[i] * (double)b[i];
  }
  double scaleA = lengthA > 0.0 ? 1.0 / sqrt(lengthA) : 0.0, scaleB = lengthB > 0.0 ? 1.0 / sqrt(lengthB) : 0.0;
  if (dot < 0.0) scaleB = -scaleB;

  /* For unit quaternions at angle t: |a - b| = 2 sin(t/2), |a + b| = 2 cos(t/2). */
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) {
    double minus = (double)a[i] * scaleA - (double)b[i] * scaleB, plus = (double)a[i] * scaleA + (double)b[i] * scaleB;
    gap += minus * minus;
    sum += plus * plus;
  }
  double angle = 2.0 * atan2(sqrt(gap), sqrt(sum)), sine = sin(angle);

  /* Closer than 1e-9 the arc is straight for every digit a double has. */
  double weightA = angle > 1e-9 ? sin((1.0 - u) * angle) / sine : 1.0 - u;
  double weightB = angle > 1e-9 ? sin(u * angle) / sine : u;
  for (int i = 0; i < 4; ++i) out[i] = weightA * scaleA * (double)a[i] + weightB * scaleB * (double)b[i];
}

void pn_sampleChannel(const pnAnimChannel *channel, double time, double *out) {
  bool cubic = channel->interpolation == PN_INTERPOLATION_CUBIC;
  size_t width = channel->width, step = cubic ? 3 * width : width;
  uint32_t key = findKey(channel, time);
  const float *here = channel->values + key * step + (cubic ? width : 0), *next = here + step;
  double start = (double)channel->times[key];

  /* Before the first key, after the last, on a step: the key's own value. */
  bool held = time <= start || key + 1 == channel->keyCount || channel->interpolation == PN_INTERPOLATION_STEP;
  if (held) {
    for (size_t i = 0; i < width; ++i) out[i] = (double)here[i];
    return;
  }

  double length = (double)channel->times[key + 1] - start, u = (time - start) / length;
  if (cubic) {
    /* Hermite: value and out-tangent here, value and in-tangent there; tangents are per second. */
    double u2 = u * u, u3 = u2 * u;
    const float *out0 = here + width, *in1 = next - width;
    for (size_t i = 0; i < width; ++i) {
      out[i] = (2.0 * u3 - 3.0 * u2 + 1.0) * (double)here[i] + length * (u3 - 2.0 * u2 + u) * (double)out0[i] +
               (-2.0 * u3 + 3.0 * u2) * (double)next[i] + length * (u3 - u2) * (double)in1[i];
    }
  } else if (channel->path == PN_ANIM_ROTATION) {
    slerp(here, next, u, out);
  } else {
    for (size_t i = 0; i < width; ++i) out[i] = (1.0 - u) * (double)here[i] + u * (double)next[i];
  }
}
