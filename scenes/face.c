/* face.c: see face.h. The mask is a grid over (u, v) in [-1, 1] x [-1, 1], bent around a head; three slits in the grid are
 * mouth and eyes. A target is a smooth bump in (u, v) times a direction, on one side of a slit where it moves a lip or
 * a lid. */
#include "face.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 72u
#define ROWS 70u
#define FRAME_COUNT 200u

/* ---------------------------------------------------------------- the grid and its slits */

/* A slit: along a row, strictly between two columns, every vertex is there twice. */
typedef struct Slit {
  uint32_t row, first, end;
} Slit;

enum { MOUTH, LEFT_EYE, RIGHT_EYE, SLIT_COUNT };
static const Slit slits[SLIT_COUNT] = {{21, 26, 46}, {45, 19, 29}, {45, 43, 53}};

static double uOf(uint32_t column) {
  return -1.0 + 2.0 * column / COLUMNS;
}
static double vOf(uint32_t row) {
  return -1.0 + 2.0 * row / ROWS;
}

/* The slit that a vertex of the grid is on, or -1. */
static int slitAt(uint32_t row, uint32_t column) {
  for (int i = 0; i < SLIT_COUNT; ++i)
    if (row == slits[i].row && column > slits[i].first && column < slits[i].end) return i;
  return -1;
}

/* The number of a vertex. The second copies of slit vertices, which belong to the triangles above, come last. */
static uint32_t vertexAt(uint32_t row, uint32_t column, bool above) {
  int slit = slitAt(row, column);
  if (slit < 0 || !above) return row * (COLUMNS + 1) + column;
  uint32_t number = (ROWS + 1) * (COLUMNS + 1) + column - slits[slit].first - 1;
  for (int i = 0; i < slit; ++i) number += slits[i].end - slits[i].first - 1;
  return number;
}

/* ---------------------------------------------------------------- the shape at rest */

/* 1 in the middle, 0 from distance 1 on, smooth. */
static double bump(double a, double b) {
  double d = a * a + b * b;
  return d < 1.0 ? (1.0 - d) * (1.0 - d) : 0.0;
}

/* How far a copy of a slit vertex is drawn from the slit: widest in the middle. */
static double gapAt(const Slit *slit, uint32_t column) {
  double middle = 0.5 * (slit->first + slit->end), half = 0.5 * (slit->end - slit->first);
  double t = (column - middle) / half;
  return 0.012 * (1.0 - t * t);
}

static pnSceneVec restPoint(uint32_t row, uint32_t column, int side) {
  double u = uOf(column), v = vOf(row);
  double x = 0.75 * sin(1.25 * u), y = v, z = 0.6 * cos(1.25 * u) * (1.0 - 0.3 * v * v);
  /* nose, brows, cheeks, eye sockets, chin, lips */
  z += 0.30 * bump(u / 0.17, (v - 0.02) / 0.34) + 0.05 * bump(u / 0.7, (v - 0.45) / 0.14);
  z += 0.06 * (bump((u - 0.42) / 0.3, (v + 0.1) / 0.3) + bump((u + 0.42) / 0.3, (v + 0.1) / 0.3));
  z -= 0.09 * (bump((u - 0.33) / 0.24, (v - 0.28) / 0.2) + bump((u + 0.33) / 0.24, (v - 0.28) / 0.2));
  z += 0.08 * bump(u / 0.3, (v + 0.75) / 0.2) + 0.07 * bump(u / 0.36, (v + 0.4) / 0.16);
  /* lips and lids roll in towards the slit */
  int slit = slitAt(row, column);
  if (slit >= 0) {
    y += side * gapAt(&slits[slit], column);
    z -= 0.02;
  }
  return pn_vec(x, y, z);
}

/* ---------------------------------------------------------------- targets */

/* A region in (u, v), how far and where its middle goes, and on which side of the slits (0: both). */
typedef struct Region {
  const char *name;
  double u, v, width, height;
  double x, y, z;
  int side;
} Region;

/* Twice, left and right, where the name has a '*'. */
static const Region regions[] = {
    {"blink *", 0.33, 0.3, 0.14, 0.12, 0.0, -0.045, 0.004, 1},
    {"squint *", 0.33, 0.24, 0.14, 0.16, 0.0, 0.016, 0.01, -1},
    {"wide *", 0.33, 0.34, 0.14, 0.16, 0.0, 0.02, 0.0, 1},
    {"look up *", 0.33, 0.33, 0.14, 0.12, 0.0, 0.012, 0.004, 1},
    {"look down *", 0.33, 0.24, 0.14, 0.12, 0.0, -0.01, 0.004, -1},
    {"look in *", 0.3, 0.28, 0.37, 0.31, -0.012, 0.0, 0.0, 0},
    {"look out *", 0.36, 0.28, 0.37, 0.31, 0.012, 0.0, 0.0, 0},
    {"jaw open", 0.0, -0.87, 1.1, 0.47, 0.0, -0.14, -0.03, -1},
    {"jaw forward", 0.0, -0.7, 1.19, 0.68, 0.0, 0.0, 0.06, 0},
    {"jaw left", 0.0, -0.7, 1.19, 0.68, 0.05, 0.0, 0.0, 0},
    {"jaw right", 0.0, -0.7, 1.19, 0.68, -0.05, 0.0, 0.0, 0},
    {"mouth close", 0.0, -0.44, 0.28, 0.16, 0.0, 0.04, 0.0, -1},
    {"mouth funnel", 0.0, -0.4, 0.58, 0.34, 0.0, 0.0, 0.07, 0},
    {"mouth pucker", 0.0, -0.4, 0.51, 0.31, 0.0, 0.0, 0.05, 0},
    {"mouth left", 0.0, -0.4, 0.85, 0.42, 0.04, 0.0, 0.0, 0},
    {"mouth right", 0.0, -0.4, 0.85, 0.42, -0.04, 0.0, 0.0, 0},
    {"smile *", 0.32, -0.36, 0.48, 0.44, 0.03, 0.05, -0.01, 0},
    {"frown *", 0.32, -0.46, 0.44, 0.41, 0.0, -0.04, 0.0, 0},
    {"dimple *", 0.4, -0.36, 0.27, 0.27, 0.01, 0.0, -0.03, 0},
    {"stretch *", 0.36, -0.42, 0.51, 0.34, 0.04, -0.01, 0.0, 0},
    {"roll lower", 0.0, -0.46, 0.28, 0.1, 0.0, 0.012, -0.03, -1},
    {"roll upper", 0.0, -0.34, 0.28, 0.1, 0.0, -0.012, -0.03, 1},
    {"shrug lower", 0.0, -0.54, 0.3, 0.22, 0.0, 0.03, 0.01, -1},
    {"shrug upper", 0.0, -0.3, 0.3, 0.2, 0.0, 0.03, 0.01, 1},
    {"press *", 0.14, -0.44, 0.14, 0.12, 0.0, 0.022, 0.0, -1},
    {"lower down *", 0.14, -0.48, 0.16, 0.16, 0.0, -0.04, 0.0, -1},
    {"upper up *", 0.14, -0.32, 0.16, 0.16, 0.0, 0.04, 0.0, 1},
    {"brow down *", 0.33, 0.5, 0.51, 0.34, 0.0, -0.05, 0.0, 0},
    {"brow inner up", 0.0, 0.55, 0.51, 0.42, 0.0, 0.06, 0.0, 0},
    {"brow outer up *", 0.45, 0.52, 0.42, 0.37, 0.0, 0.06, 0.0, 0},
    {"cheek puff", 0.0, -0.25, 1.36, 0.68, 0.0, 0.0, 0.08, 0},
    {"cheek squint *", 0.42, 0.05, 0.44, 0.37, 0.0, 0.04, 0.02, 0},
    {"sneer *", 0.12, 0.08, 0.31, 0.42, 0.0, 0.03, 0.01, 0},
    {"tongue", 0.0, -0.5, 0.2, 0.14, 0.0, 0.0, 0.03, -1},
};
#define REGION_COUNT (sizeof regions / sizeof regions[0])

/* Which side of the slits the row of a vertex is on; its copy decides on a slit itself. */
static int sideOf(uint32_t row, uint32_t column, bool above, const Region *region) {
  uint32_t slitRow = slits[region->v > 0.0 ? LEFT_EYE : MOUTH].row;
  if (row == slitRow && slitAt(row, column) >= 0) return above ? 1 : -1;
  return row > slitRow ? 1 : row < slitRow ? -1 : 0;
}

/* The delta of a vertex; false when it stays. Lids and lips fade out towards the ends of their slit by their width. */
static bool deltaOf(const Region *region, double mirror, uint32_t row, uint32_t column, bool above, float *out) {
  if (region->side != 0 && sideOf(row, column, above, region) != region->side) return false;
  double w = bump((uOf(column) - mirror * region->u) / region->width, (vOf(row) - region->v) / region->height);
  pn_storeSceneVertex(out, pn_vec(w * mirror * region->x, w * region->y, w * region->z));
  /* a region in the middle is not mirrored: its x is its own */
  if (region->u == 0.0) out[0] = (float)(w * region->x);
  return w > 0.0;
}

static pnResult makeTarget(pnFace *face, uint32_t index, const Region *region, double mirror) {
  char *name = malloc(strlen(region->name) + 8);
  uint32_t *list = malloc(sizeof(uint32_t) * face->vertexCount);
  float *deltas = malloc(sizeof(float) * 3 * face->vertexCount);
  face->targets[index] = (pnMorphTarget){name, 0, list, deltas};
  if (name == NULL || list == NULL || deltas == NULL) return PN_ERROR_MEMORY;
  strcpy(name, region->name);
  char *star = strchr(name, '*');
  if (star != NULL) strcpy(star, mirror > 0.0 ? "left" : "right");
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2 * (ROWS + 1) * (COLUMNS + 1); ++i) {
    uint32_t row = i / 2 / (COLUMNS + 1), column = i / 2 % (COLUMNS + 1);
    bool above = i % 2 == 1;
    if ((!above || slitAt(row, column) >= 0) && deltaOf(region, mirror, row, column, above, deltas + 3 * (size_t)count))
      list[count++] = vertexAt(row, column, above);
  }
  face->targets[index].count = count;
  return PN_OK;
}

static pnResult makeTargets(pnFace *face) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < 2 * REGION_COUNT; ++i) {
    const Region *region = &regions[i / 2];
    bool twice = strchr(region->name, '*') != NULL;
    if (i % 2 == 1 && !twice) continue;
    pnResult result = makeTarget(face, index++, region, i % 2 == 1 ? -1.0 : 1.0);
    if (result != PN_OK) return result;
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- the meshes */

static pnResult makeMask(pnFace *face) {
  face->vertexCount = vertexAt(slits[RIGHT_EYE].row, slits[RIGHT_EYE].end - 1, true) + 1;
  face->triangleCount = 2 * COLUMNS * ROWS;
  face->vertices = malloc(sizeof(float) * 3 * face->vertexCount);
  face->triangles = malloc(sizeof(uint32_t) * 3 * face->triangleCount);
  if (face->vertices == NULL || face->triangles == NULL) return PN_ERROR_MEMORY;
  for (uint32_t row = 0; row <= ROWS; ++row) {
    for (uint32_t column = 0; column <= COLUMNS; ++column) {
      for (int above = 0; above < 2; ++above) {
        pn_storeSceneVertex(face->vertices + 3 * (size_t)vertexAt(row, column, above),
                            restPoint(row, column, above ? 1 : -1));
      }
    }
  }
  uint32_t *t = face->triangles;
  for (uint32_t i = 0; i < COLUMNS * ROWS; ++i, t += 6) {
    /* the lower row of a cell is below the cell: there it takes the copies that belong above the slit */
    uint32_t row = i / COLUMNS, column = i % COLUMNS;
    uint32_t a = vertexAt(row, column, true), b = vertexAt(row, column + 1, true);
    uint32_t c = vertexAt(row + 1, column, false), d = vertexAt(row + 1, column + 1, false);
    memcpy(t, (uint32_t[6]){a, b, d, a, d, c}, 6 * sizeof(uint32_t));
  }
  return PN_OK;
}

/* A palm and five fingers: spindles of 8 rings of 10, 160 triangles each. */
static pnResult makeHand(pnFace *face) {
  static const double fingers[6][7] = {
      /* x, y, z, and half sizes, and turn */
      {0.0, 0.0, 0.0, 0.16, 0.2, 0.06, 0.0},      {-0.2, 0.06, 0.0, 0.05, 0.16, 0.05, 0.6},
      {-0.11, 0.3, 0.0, 0.045, 0.2, 0.045, 0.1},  {-0.03, 0.33, 0.0, 0.045, 0.22, 0.045, 0.0},
      {0.05, 0.31, 0.0, 0.045, 0.2, 0.045, -0.1}, {0.13, 0.26, 0.0, 0.04, 0.16, 0.04, -0.25}};
  enum { RINGS = 8, AROUND = 10, POINTS = RINGS * AROUND + 2, TRIANGLES = 2 * RINGS * AROUND };
  face->handVertexCount = 6 * POINTS;
  face->handTriangleCount = 6 * TRIANGLES;
  face->handVertices = malloc(sizeof(float) * 3 * face->handVertexCount);
  face->handTriangles = malloc(sizeof(uint32_t) * 3 * face->handTriangleCount);
  if (face->handVertices == NULL || face->handTriangles == NULL) return PN_ERROR_MEMORY;
  uint32_t *t = face->handTriangles;
  for (uint32_t part = 0; part < 6; ++part) {
    const double *f = fingers[part];
    uint32_t first = part * POINTS;
    for (uint32_t i = 0; i < POINTS; ++i) {
      /* the apices are the first and the last point */
      uint32_t ring = i == 0 ? 0 : i == POINTS - 1 ? RINGS + 1 : (i - 1) / AROUND + 1;
      double along = 3.14159265358979 * ring / (RINGS + 1.0),
             around = 6.28318530717959 * ((i + AROUND - 1) % AROUND) / AROUND;
      double x = f[3] * sin(along) * cos(around), y = -f[4] * cos(along), z = f[5] * sin(along) * sin(around);
      pn_storeSceneVertex(face->handVertices + 3 * (size_t)(first + i),
                          pn_vec(f[0] + x * cos(f[6]) - y * sin(f[6]), f[1] + x * sin(f[6]) + y * cos(f[6]), f[2] + z));
    }
    for (uint32_t a = 0; a < AROUND; ++a) {
      uint32_t next = (a + 1) % AROUND, one = first + 1, last = one + (RINGS - 1) * AROUND;
      memcpy(t, (uint32_t[6]){first, one + a, one + next, first + POINTS - 1, last + next, last + a},
             6 * sizeof(uint32_t));
      t += 6;
      for (uint32_t r = 0; r + 1 < RINGS; ++r, t += 6) {
        uint32_t i = one + r * AROUND + a, j = one + r * AROUND + next;
        memcpy(t, (uint32_t[6]){i, j + AROUND, j, i, i + AROUND, j + AROUND}, 6 * sizeof(uint32_t));
      }
    }
  }
  return PN_OK;
}

/* ---------------------------------------------------------------- life and motion */

pnResult pnCreateFace(pnFace **outFace) {
  *outFace = NULL;
  pnFace *face = calloc(1, sizeof(pnFace));
  if (face == NULL) return PN_ERROR_MEMORY;
  face->frameCount = FRAME_COUNT;
  pnResult result = makeMask(face);
  result = result == PN_OK ? makeTargets(face) : result;
  result = result == PN_OK ? makeHand(face) : result;
  if (result != PN_OK) {
    pnDestroyFace(face);
    return result;
  }
  *outFace = face;
  return PN_OK;
}

void pnDestroyFace(pnFace *face) {
  if (face == NULL) return;
  for (uint32_t i = 0; i < PN_FACE_TARGETS; ++i) {
    free((void *)face->targets[i].name);
    free((void *)face->targets[i].vertices);
    free((void *)face->targets[i].values);
  }
  free(face->vertices);
  free(face->triangles);
  free(face->handVertices);
  free(face->handTriangles);
  free(face);
}

void pnFace_Weights(const pnFace *face, uint32_t frame, float *outWeights) {
  (void)face;
  /* every target has its own slow wave and rests while it is negative; about a third of them are above a threshold */
  for (uint32_t i = 0; i < PN_FACE_TARGETS; ++i) {
    double wave = sin(0.02 * frame * (2.0 + 0.37 * (i % 7)) + 1.9 * i);
    outWeights[i] = wave > 0.4 ? (float)(1.1 * (wave - 0.4)) : 0.0f;
  }
}

pnMatrix pnFace_Hand(const pnFace *face, uint32_t frame) {
  /* in front of the left cheek, fingers up, palm to the face; near in the middle of the time */
  double t = (double)frame / face->frameCount, away = 0.55 * fabs(2.0 * t - 1.0) - 0.12;
  double turn = 0.5 + 0.1 * sin(0.1 * frame), c = cos(turn), s = sin(turn);
  double x = 0.46, y = -0.35, z = 0.55 + (away > 0.0 ? away : 0.1 * away);
  return (pnMatrix){{{(float)c, 0.0f, (float)s, (float)(x + 0.3 * (z - 0.5))},
                     {0.0f, 1.0f, 0.0f, (float)y},
                     {(float)-s, 0.0f, (float)c, (float)z}}};
}
