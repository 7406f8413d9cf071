/* grids.c: s5, touching and coplanar triangles on purpose.
 *
 * Two cubes with steps of one cell on their faces slide through each other, a cell or none at a time. In "s5-grid"
 * all coordinates are multiples of 1/16, exact in float, and a large part of all pairs touch in a point, an edge or
 * a plane. "s5-turned" is the same scene rotated and rounded to float: what was touching is now apart or crossing by
 * a rounding error, which is the hardest input an exact test can get. */
#include "scene.h"

#include <stdlib.h>

#define FRAME_COUNT 40
#define CELL (1.0 / 16.0)

/* The corner (a, b) of the grid on the side `side` of axis `axis`, in cells. */
static void sideCorner(int corner[3], int axis, int offset, int a, int b) {
  corner[axis] = offset;
  corner[(axis + 1) % 3] = a;
  corner[(axis + 2) % 3] = b;
}

/* The number of a corner of the surface, made on first use. `numbers` has a cell for each corner of the solid grid. */
static uint32_t cornerNumber(pnScene *scene, uint32_t *numbers, int g, uint32_t *count, const int corner[3]) {
  uint32_t *number = &numbers[(corner[2] * (g + 1) + corner[1]) * (g + 1) + corner[0]];
  if (*number == UINT32_MAX) {
    scene->points[*count] = pn_vec(corner[0], corner[1], corner[2]);
    *number = (*count)++;
  }
  return *number;
}

static pnResult createGrid(pnScene *scene) {
  /* 6 sides of g x g cells of 2 triangles */
  int g = (int)(sqrt(scene->triangleCount / 12.0) + 0.5);
  if (g == 0 || g > 256 || (uint32_t)(12 * g * g) != scene->triangleCount) return PN_ERROR_ARGUMENT;
  scene->vertexCount = (uint32_t)(6 * g * g + 2);
  size_t cornerCount = (size_t)(g + 1) * (size_t)(g + 1) * (size_t)(g + 1);
  uint32_t *numbers = malloc(sizeof(uint32_t) * cornerCount);
  pnResult result = pn_allocateSceneMesh(scene);
  if (numbers == NULL || result != PN_OK) {
    free(numbers);
    return PN_ERROR_MEMORY;
  }
  for (size_t i = 0; i < cornerCount; ++i) numbers[i] = UINT32_MAX;
  uint32_t count = 0, *t = scene->triangles;
  for (int cell = 0; cell < 6 * g * g; ++cell, t += 6) {
    int axis = cell / (2 * g * g), far = cell / (g * g) % 2, i = cell / g % g, j = cell % g;
    int corner[3];
    uint32_t q[4];
    /* around the cell: (i, j), (i+1, j), (i+1, j+1), (i, j+1) */
    for (int k = 0; k < 4; ++k) {
      sideCorner(corner, axis, far * g, i + (k == 1 || k == 2), j + (k >= 2));
      q[k] = cornerNumber(scene, numbers, g, &count, corner);
    }
    /* outward on both sides */
    t[0] = q[0], t[1] = far ? q[1] : q[2], t[2] = far ? q[2] : q[1];
    t[3] = q[0], t[4] = far ? q[2] : q[3], t[5] = far ? q[3] : q[2];
  }
  free(numbers);
  scene->bodyCount = 2;
  pn_setSceneFrames(scene, FRAME_COUNT, 1);
  return PN_OK;
}

/* The place of a vertex in cells: pushed in or out by one where a pattern of the frame says so, on the sides but not
 * on the edges of the cube. */
static void stepVertex(pnSceneVec point, int g, int moment, int body, int place[3]) {
  int c[3] = {(int)point.x, (int)point.y, (int)point.z};
  int sides = 0, axis = 0;
  for (int k = 0; k < 3; ++k) {
    if (c[k] == 0 || c[k] == g) {
      ++sides;
      axis = k;
    }
  }
  if (sides == 1) {
    int u = c[(axis + 1) % 3], w = c[(axis + 2) % 3];
    if ((u * 7 + w * 13 + moment / 3 * 5 + body * 11) % 5 == 0) c[axis] += (u + w) % 2 != 0 ? 1 : -1;
  }
  /* the second cube slides */
  place[0] = c[0] + (body == 1 ? 20 - moment / 2 : 0);
  place[1] = c[1] + (body == 1 ? moment / 5 : 0);
  place[2] = c[2] + (body == 1 ? 3 : 0);
}

static void frameGrid(const pnScene *scene, uint32_t frame, uint32_t body, float *outVertices) {
  int g = (int)(sqrt(scene->triangleCount / 12.0) + 0.5);
  bool turned = scene->kind == &pn_sceneTurnedGrid;
  pnSceneTurn turn = pn_makeSceneTurn(0.7, 0.4);
  for (uint32_t i = 0; i < scene->vertexCount; ++i) {
    int place[3];
    stepVertex(scene->points[i], g, (int)(frame * scene->frameStep), (int)body, place);
    pnSceneVec p = pn_vec(place[0] * CELL, place[1] * CELL, place[2] * CELL);
    if (turned) p = pn_vecAdd(pn_sceneTurn(&turn, p), pn_vec(1.3, -2.1, 0.7));
    pn_storeSceneVertex(outVertices + 3 * (size_t)i, p);
  }
}

const pnSceneKind pn_sceneGrid = {
    .name = "s5-grid",
    .text = "two stepped cubes slide on a common grid: touching and coplanar everywhere",
    .usualSize = 3072,
    .create = createGrid,
    .frame = frameGrid,
};

const pnSceneKind pn_sceneTurnedGrid = {
    .name = "s5-turned",
    .text = "the same, rotated and rounded to float",
    .usualSize = 3072,
    .create = createGrid,
    .frame = frameGrid,
};
