/* character_coat.c: an open coat with sleeves, as a tailor would: one piece of cloth around the trunk from collar to hem,
 * open in front, with a hole for each arm; and a tube from each hole down the arm.
 *
 * The piece is a grid of rows and columns. Rows of the upper part leave a point in the chest at ever flatter angles and
 * lie on the shoulders; below, they go straight out at ever lower heights and lie on the trunk; from the hips on they
 * widen into a skirt with folds. Where cloth would be too close to the skin it is pushed out, so that at rest there is a
 * gap everywhere. */
#include <stdlib.h>
#include <string.h>

#include "character_parts.h"

static const double s_pi = 3.14159265358979323846;

/* Heights of the middle of the shoulder rows, of the hips and of the hem; the angle of the collar; gaps to the skin. */
static const double s_chestHeight = 1.375, s_hipHeight = 0.975, s_hemHeight = 0.470, s_collarAngle = 1.06;
static const double s_gap = 0.006, s_leastGap = 0.017;

/* Where the arm leaves, and which way it points at rest (left side). */
static const pnSceneVec s_shoulder = {PN_SHOULDER_X, PN_SHOULDER_Y, -0.005}, s_armWay = {PN_ARM_WAY_X, PN_ARM_WAY_Y, 0};
static const double s_cuff = 0.455, s_firstRing = 0.130;

/* The grid of the piece. */
typedef struct pnCoatGrid {
  double edge; /* wished length of an edge */
  uint32_t columns, shoulderRows, rows;
  uint32_t holeTop, holeBottom, holeLeft, holeRight; /* of the left arm: rows and columns of its border */
  uint32_t *numbers;                                 /* vertex at (row, column), UINT32_MAX inside a hole */
} pnCoatGrid;

static double smooth(double t) {
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return t * t * (3 - 2 * t);
}

/* ---------------------------------------------------------------- the piece */

/* Half the width of the opening in front, as an angle: a neckline, nearly closed at the waist, open below. */
static double opening(double height) {
  double neck = smooth((height - 1.18) / 0.30), below = smooth((0.95 - height) / 0.48);
  return 0.055 + 0.40 * neck + 0.03 * below;
}

/* From far outside along a ray towards its origin, until the trunk is `gap` away. */
static double reachTrunk(pnSceneVec origin, pnSceneVec way, double gap) {
  double r = 0.7;
  for (int i = 0; i < 60 && r > 0.02; ++i) r -= 0.8 * (pn_characterTrunk(pn_vecAdd(origin, pn_vecScale(way, r))) - gap);
  return r > 0.02 ? r : 0.02;
}

static pnSceneVec piecePoint(const pnCoatGrid *grid, uint32_t row, uint32_t column) {
  /* How high, and how steep. */
  double steep = 0, height = s_chestHeight;
  if (row < grid->shoulderRows) {
    steep = s_collarAngle * (1.0 - (double)row / grid->shoulderRows);
  } else {
    double t = (double)(row - grid->shoulderRows) / (grid->rows - grid->shoulderRows);
    height += (s_hemHeight - s_chestHeight) * t;
  }
  double open = opening(height + 0.13 * sin(steep));
  double angle = open + (2 * s_pi - 2 * open) * column / grid->columns;
  double x = sin(angle), z = cos(angle);

  /* On the trunk. */
  double there = height > s_hipHeight ? height : s_hipHeight;
  pnSceneVec origin = pn_vec(0, there, -0.01), way = pn_vec(cos(steep) * x, sin(steep), cos(steep) * z);
  double r = reachTrunk(origin, way, s_gap);

  /* The skirt: from there to an oval hem with folds. */
  if (height < s_hipHeight) {
    double t = (s_hipHeight - height) / (s_hipHeight - s_hemHeight);
    double oval = 1.0 / sqrt(x * x / (0.350 * 0.350) + z * z / (0.315 * 0.315));
    double hem = oval * (1.0 + 0.045 * t * cos(9 * angle));
    r += (hem - r) * (0.85 * t + 0.15 * smooth(t));
    origin.y = height;
  }
  return pn_vecAdd(origin, pn_vecScale(way, r));
}

/* Is a grid point strictly inside the hole of an arm? The right one mirrors the left. */
static bool isInHole(const pnCoatGrid *grid, uint32_t row, uint32_t column) {
  uint32_t c = column * 2 > grid->columns ? grid->columns - column : column;
  return row > grid->holeTop && row < grid->holeBottom && c > grid->holeLeft && c < grid->holeRight;
}

static bool makePiece(double edge, pnCoatGrid *grid, pnCharacterMesh *out) {
  grid->edge = edge;
  grid->columns = 4 * (uint32_t)(1.25 / edge / 4 + 0.5);
  grid->shoulderRows = (uint32_t)(0.26 / edge + 0.5);
  grid->rows = grid->shoulderRows + (uint32_t)((s_chestHeight - s_hemHeight) / edge + 0.5);

  /* The hole: from half way up the shoulder to below the armpit, as wide as an arm and its sleeve. */
  uint32_t half = (uint32_t)(0.072 * grid->columns + 0.5);
  grid->holeTop = (uint32_t)(grid->shoulderRows * 0.46 + 0.5);
  grid->holeBottom = grid->shoulderRows + (uint32_t)(0.085 / edge + 0.5);
  grid->holeLeft = grid->columns / 4 - half;
  grid->holeRight = grid->columns / 4 + half;
  size_t total = (size_t)(grid->rows + 1) * (grid->columns + 1);
  grid->numbers = malloc(total * sizeof(uint32_t));
  if (grid->numbers == NULL) return false;

  for (uint32_t row = 0; row <= grid->rows; ++row) {
    for (uint32_t column = 0; column <= grid->columns; ++column) {
      uint32_t number = UINT32_MAX;
      if (!isInHole(grid, row, column)) number = pn_characterVertex(out, piecePoint(grid, row, column));
      grid->numbers[(size_t)row * (grid->columns + 1) + column] = number;
    }
  }
  for (uint32_t row = 0; row < grid->rows; ++row) {
    for (uint32_t column = 0; column < grid->columns; ++column) {
      uint32_t c = column * 2 >= grid->columns ? grid->columns - 1 - column : column;
      bool hole = row >= grid->holeTop && row < grid->holeBottom && c >= grid->holeLeft && c < grid->holeRight;
      const uint32_t *here = grid->numbers + (size_t)row * (grid->columns + 1) + column,
                     *below = here + grid->columns + 1;
      if (!hole) pn_characterQuad(out, here[0], below[0], below[1], here[1]);
    }
  }
  return !out->failed;
}

/* ---------------------------------------------------------------- sleeves */

/* The border of the left or right hole, once around: along the top, down, back, up. */
static uint32_t borderOf(const pnCoatGrid *grid, bool right, uint32_t *out) {
  uint32_t count = 0, stride = grid->columns + 1;
  uint32_t wide = grid->holeRight - grid->holeLeft, high = grid->holeBottom - grid->holeTop;
  for (uint32_t i = 0; i < 2 * (wide + high); ++i) {
    uint32_t row = grid->holeTop, column = grid->holeLeft;
    if (i < wide) column += i;
    else if (i < wide + high) column += wide, row += i - wide;
    else if (i < 2 * wide + high) column += 2 * wide + high - i, row += high;
    else row += 2 * (wide + high) - i;
    out[count++] = grid->numbers[(size_t)row * stride + (right ? grid->columns - column : column)];
  }
  return count;
}

/* A point of the sleeve `along` metres down the arm, at an angle around it. Wider at the shoulder and at the cuff. */
static pnSceneVec sleevePoint(double along, double angle, double side) {
  double radius = 0.059 + 0.010 * smooth((along - 0.28) / 0.17);
  pnSceneVec up = pn_vec(s_armWay.y * -1, s_armWay.x, 0);
  pnSceneVec p = pn_vecAdd(s_shoulder, pn_vecScale(s_armWay, along));
  p = pn_vecAdd(p, pn_vecScale(up, radius * cos(angle)));
  p.z += radius * sin(angle);
  return pn_vec(p.x * side, p.y, p.z);
}

/* The angle of a point around the arm. */
static double angleAround(pnSceneVec p, double side) {
  pnSceneVec q = pn_vecSub(pn_vec(p.x * side, p.y, p.z), s_shoulder);
  double up = -s_armWay.y * q.x + s_armWay.x * q.y;
  return atan2(q.z, up);
}

static void addSleeve(const pnCoatGrid *grid, bool right, pnCharacterMesh *out) {
  uint32_t most = 2 * (grid->holeRight - grid->holeLeft + grid->holeBottom - grid->holeTop);
  uint32_t *ring = malloc(2 * (size_t)most * sizeof(uint32_t)), *next = ring + most;
  if (ring == NULL) {
    out->failed = true;
    return;
  }
  double side = right ? -1 : 1;
  uint32_t count = borderOf(grid, right, ring);

  /* Evenly around the arm, turned so that the tube meets the border without a twist. The way around the border is
   * against the angle: columns run from the front to the back along the top. */
  double sine = 0, cosine = 0;
  for (uint32_t i = 0; i < count; ++i) {
    double off = angleAround(out->vertices[ring[i]], side) + 2 * s_pi * i / count;
    sine += sin(off);
    cosine += cos(off);
  }
  double start = atan2(sine, cosine);

  /* First a few rings from the border to a circle, then circles to the cuff. */
  uint32_t blend = 1 + (uint32_t)(0.14 / grid->edge),
           rings = blend + (uint32_t)((s_cuff - s_firstRing) / grid->edge + 0.5);
  uint32_t *border = malloc((size_t)count * sizeof(uint32_t));
  if (border != NULL) memcpy(border, ring, count * sizeof(uint32_t));
  out->failed = out->failed || border == NULL;
  for (uint32_t k = 1; k <= rings && !out->failed; ++k) {
    double along = k <= blend ? s_firstRing : s_firstRing + (s_cuff - s_firstRing) * (k - blend) / (rings - blend);
    double share = k < blend ? (double)k / blend : 1.0;
    for (uint32_t i = 0; i < count; ++i) {
      pnSceneVec p = sleevePoint(along, start - 2 * s_pi * i / count, side), from = out->vertices[border[i]];
      p = pn_vecAdd(pn_vecScale(from, 1 - share), pn_vecScale(p, share));
      next[i] = pn_characterVertex(out, p);
    }
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t j = (i + 1) % count;
      if (right) pn_characterQuad(out, ring[j], next[j], next[i], ring[i]);
      else pn_characterQuad(out, ring[i], next[i], next[j], ring[j]);
    }
    memcpy(ring, next, count * sizeof(uint32_t));
  }
  free(border);
  free(ring);
}

/* ---------------------------------------------------------------- finish */

/* How much a vertex may be smoothed: fully where sleeve and piece were sewn together, not at all elsewhere. */
static double seamShare(pnSceneVec p) {
  pnSceneVec q = pn_vecSub(pn_vec(fabs(p.x), p.y, p.z), pn_vecAdd(s_shoulder, pn_vecScale(s_armWay, 0.05)));
  return 1.0 - smooth((sqrt(pn_vecDot(q, q)) - 0.13) / 0.09);
}

/* Moves the vertices at the seams to the middle of their neighbours, a few times; now and then out of the skin. */
static void smoothSeams(pnCharacterMesh *mesh, int times) {
  pnSceneVec *sums = malloc((size_t)mesh->vertexCount * sizeof(pnSceneVec));
  uint32_t *counts = malloc((size_t)mesh->vertexCount * sizeof(uint32_t));
  mesh->failed = mesh->failed || sums == NULL || counts == NULL;
  for (int k = 0; k < times && !mesh->failed; ++k) {
    memset(sums, 0, (size_t)mesh->vertexCount * sizeof(pnSceneVec));
    memset(counts, 0, (size_t)mesh->vertexCount * sizeof(uint32_t));
    for (size_t i = 0; i < (size_t)mesh->triangleCount * 3; ++i) {
      uint32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
      sums[a] = pn_vecAdd(sums[a], mesh->vertices[b]);
      sums[b] = pn_vecAdd(sums[b], mesh->vertices[a]);
      ++counts[a];
      ++counts[b];
    }
    for (uint32_t v = 0; v < mesh->vertexCount; ++v) {
      pnSceneVec p = mesh->vertices[v];
      double share = 0.6 * seamShare(p);
      pnSceneVec middle = pn_vecScale(sums[v], 1.0 / counts[v]);
      p = pn_vecAdd(pn_vecScale(p, 1 - share), pn_vecScale(middle, share));
      if (share > 0 && k % 4 == 3 && pn_characterField(p) < s_leastGap) p = pn_characterProject(p, s_leastGap);
      mesh->vertices[v] = p;
    }
  }
  free(sums);
  free(counts);
}

void pn_makeCharacterCoat(uint32_t triangleCount, pnCharacterMesh *out) {
  /* Twice the coat's area, as measured, is triangles times the square of an edge. */
  double edge = sqrt(3.92 / triangleCount);
  pnCoatGrid grid = {0};
  memset(out, 0, sizeof(*out));
  if (makePiece(edge, &grid, out)) {
    addSleeve(&grid, false, out);
    addSleeve(&grid, true, out);
    /* Smoothing reaches as far as the square root of its steps, counted in edges. */
    if (!out->failed) smoothSeams(out, 12 + 4 * (int)ceil(0.0033 / (edge * edge)));
  } else {
    out->failed = true;
  }
  for (uint32_t v = 0; v < out->vertexCount && !out->failed; ++v)
    if (pn_characterField(out->vertices[v]) < s_leastGap)
      out->vertices[v] = pn_characterProject(out->vertices[v], s_leastGap);
  free(grid.numbers);
}

/* Cloth follows the skin below it; the skirt follows hips and thighs, the more the lower. */
void pn_coatWeights(pnSceneVec p, double outWeights[PN_CHARACTER_JOINTS]) {
  pn_characterWeights(pn_characterProject(p, 0.0), outWeights);
  /* Not the sleeve: it is where the arm is. */
  pnSceneVec q = pn_vecSub(pn_vec(fabs(p.x), p.y, p.z), s_shoulder);
  double along = pn_vecDot(q, s_armWay);
  pnSceneVec off = pn_vecSub(q, pn_vecScale(s_armWay, along));
  if (p.y > 1.05 || (along < s_cuff + 0.03 && pn_vecDot(off, off) < 0.09 * 0.09)) return;
  double skirt = smooth((1.05 - p.y) / 0.10), legs = 0.92 * smooth((1.00 - p.y) / 0.24),
         left = smooth(0.5 + p.x / 0.24);
  for (int j = 0; j < PN_CHARACTER_JOINTS; ++j) outWeights[j] *= 1 - skirt;
  outWeights[PN_HIPS] += skirt * (1 - legs);
  outWeights[PN_THIGH_L] += skirt * legs * left;
  outWeights[PN_THIGH_R] += skirt * legs * (1 - left);
}
