/* corner.c: see corner.h. */
#include "tree/corner.h"

#include <float.h>

/* ---------------------------------------------------------------- dividing */

bool pn_isAtEdge(const pnPiece *p) {
  uint32_t last = (1u << p->level) - 1;
  return !p->turned && (p->i == 0 || p->j == 0 || (uint32_t)p->i + p->j == last);
}

void pn_divide(const pnPiece *p, pnPiece out[4]) {
  uint16_t i = (uint16_t)(2 * p->i), j = (uint16_t)(2 * p->j);
  uint8_t level = (uint8_t)(p->level + 1);
  /* three at the corners, as the whole is turned; one in the middle, turned over */
  uint16_t i1 = (uint16_t)(i + 1), j1 = (uint16_t)(j + 1);
  if (!p->turned) {
    out[0] = (pnPiece){p->triangle, level, false, i, j};
    out[1] = (pnPiece){p->triangle, level, false, i1, j};
    out[2] = (pnPiece){p->triangle, level, false, i, j1};
    out[3] = (pnPiece){p->triangle, level, true, i, j};
  } else {
    out[0] = (pnPiece){p->triangle, level, true, i1, j1};
    out[1] = (pnPiece){p->triangle, level, true, i, j1};
    out[2] = (pnPiece){p->triangle, level, true, i1, j};
    out[3] = (pnPiece){p->triangle, level, false, i1, j1};
  }
}

bool pn_divideTriangle(pnBig big, uint32_t triangle, uint32_t levels, pnPieceList *out) {
  size_t first = out->count;
  if (!pn_arrayPush(out, ((pnPiece){.triangle = triangle}))) return false;
  /* a list that is worked off while it grows: a divided piece is replaced by its first part */
  for (size_t at = first; at < out->count;) {
    pnPiece p = out->data[at], parts[4];
    if (p.level == levels || (big == PN_BIG_CORNERS && p.level > 0 && !pn_isAtEdge(&p))) {
      ++at;
      continue;
    }
    pn_divide(&p, parts);
    out->data[at] = parts[0];
    for (int k = 1; k < 4; ++k)
      if (!pn_arrayPush(out, parts[k])) return false;
  }
  return true;
}

void pn_pieceCorners(const pnPiece *p, const float *const corner[3], float out[12]) {
  static const uint8_t offset[2][3][2] = {{{0, 0}, {1, 0}, {0, 1}}, {{1, 1}, {0, 1}, {1, 0}}};
  double scale = 1.0 / (double)(1u << p->level);
  for (int c = 0; c < 3; ++c) {
    double s = (p->i + offset[p->turned][c][0]) * scale, t = (p->j + offset[p->turned][c][1]) * scale;
    for (int k = 0; k < 3; ++k) {
      double x = corner[0][k];
      out[4 * c + k] = (float)(x + s * (corner[1][k] - x) + t * (corner[2][k] - x));
    }
    out[4 * c + 3] = 0;
  }
}

/* ---------------------------------------------------------------- the pieces of a mesh */

/* The part of a body's size above which a side is big, when the caller leaves it open: a hall of 24 metres is divided
 * down to a third of a metre, about as fine as a limb. Halving it divides four times as much. */
#define AUTOMATIC_PART 80.0

/* Pieces are not divided further when their sides are below so many margins: they would only lie in each other. */
#define LEAST_MARGINS 16

/* The longest side of a triangle, and how small its pieces may get. */
static double longestSide(const pnPose *pose, uint32_t t, double *outLeast) {
  float p[9];
  double most = 0;
  pn_poseFetch(pose, pose->mesh->triangles + 3 * (size_t)t, 3, p, 3);
  *outLeast = LEAST_MARGINS * (double)pn_pieceMargin((const float *const[3]){p, p + 3, p + 6});
  for (int c = 0; c < 3; ++c) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      double d = (double)p[3 * c + k] - (double)p[3 * ((c + 1) % 3) + k];
      square += d * d;
    }
    most = fmax(most, sqrt(square));
  }
  return most;
}

static double automaticSide(const pnPose *pose) {
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX}, square = 0;
  for (size_t i = 0; i < 3 * (size_t)pose->mesh->triangleCount; ++i) {
    float p[3];
    pn_poseFetch(pose, pose->mesh->triangles + i, 1, p, 3);
    for (int k = 0; k < 3; ++k) {
      lo[k] = fmin(lo[k], p[k]);
      hi[k] = fmax(hi[k], p[k]);
    }
  }
  for (int k = 0; k < 3; ++k) square += (hi[k] - lo[k]) * (hi[k] - lo[k]);
  return sqrt(square) / AUTOMATIC_PART;
}

/* [Curtis08; Mujika, section 4]: a triangle with three neighbours that are all in the list is left out of it. */
static bool isLeftOut(const pnMesh *mesh, uint32_t t, const uint8_t *leftOut) {
  for (int k = 0; k < 3; ++k) {
    uint32_t n = mesh->neighbours[3 * (size_t)t + k];
    if (n == PN_NONE || n == t || leftOut[n]) return false;
  }
  return true;
}

static bool listPieces(const pnTreePlan *def, uint8_t *leftOut, pnPieceList *out) {
  const pnMesh *mesh = def->pose->mesh;
  double side = def->bigSide > 0 ? def->bigSide : automaticSide(def->pose);
  for (uint32_t t = 0; t < mesh->triangleCount; ++t) {
    leftOut[t] = def->representative && isLeftOut(mesh, t, leftOut);
    if (leftOut[t]) continue;
    uint32_t levels = 0;
    double least, s = longestSide(def->pose, t, &least);
    for (; def->big != PN_BIG_WHOLE && s > fmax(side, least) && levels < PN_MOST_DIVISIONS; s /= 2) ++levels;
    if (!pn_divideTriangle(def->big, t, levels, out)) return false;
  }
  return true;
}

pnResult pn_makePieces(const pnTreePlan *def, pnPieceList *outPieces, pnMesh *outMesh) {
  const pnMesh *mesh = def->pose->mesh;
  *outMesh = *mesh;
  outMesh->triangles = NULL;
  outMesh->triangleCount = 0;
  size_t bytes = PN_MAX(mesh->triangleCount, 1u);
  uint8_t *leftOut = pn_allocZero(bytes);
  bool ok = leftOut && listPieces(def, leftOut, outPieces);
  pn_free(leftOut, bytes);
  if (ok && outPieces->count > UINT32_MAX / 8) {
    return pn_fail(PN_ERROR_COUNT, "tree of mesh '%s': its big triangles make %zu pieces; choose a larger bigSide",
                   mesh->name, outPieces->count);
  }
  if (ok && outPieces->count > 0) {
    outMesh->triangles = pn_alloc(pn_bytes(outPieces->count, 3 * sizeof(uint32_t)));
    outMesh->triangleCount = (uint32_t)outPieces->count;
    ok = outMesh->triangles != NULL;
  }
  for (size_t i = 0; ok && i < outPieces->count; ++i)
    memcpy(outMesh->triangles + 3 * i, mesh->triangles + 3 * (size_t)outPieces->data[i].triangle, 3 * sizeof(uint32_t));
  return ok ? PN_OK : pn_failMemory(outPieces->count * sizeof(pnPiece));
}

void pn_freePieces(pnPieceList *pieces, pnMesh *mesh) {
  pn_free(mesh->triangles, pn_bytes(pieces->count, 3 * sizeof(uint32_t)));
  pn_arrayFree(pieces);
}

/* Adds a triangle to a set of big ones; false when it is full. */
static bool addBig(uint32_t *set, uint32_t triangle) {
  for (uint32_t k = 0; k < PN_NODE_BIGS; ++k) {
    if (set[k] == triangle || set[k] == PN_NONE) {
      set[k] = triangle;
      return true;
    }
  }
  return false;
}

/* The big triangles below each node, where there is nothing else and they are few; numbers: their places in the list.
 * */
static void collectBigs(pnShape *shape, const uint32_t *numbers) {
  memset(shape->nodeBigs, 0xff, (size_t)shape->nodeCount * PN_NODE_BIGS * sizeof(uint32_t));
  for (uint32_t node = shape->nodeCount; node-- > 0;) {
    uint32_t *set = shape->nodeBigs + (size_t)node * PN_NODE_BIGS;
    bool few = true;
    for (uint32_t j = 0; few && j < shape->count[node]; ++j) {
      if (pn_isShapeLeaf(shape, node)) {
        const pnPiece *piece = &shape->slotPieces[(size_t)(node - shape->innerCount) * PN_LANES + j];
        few = piece->level > 0 && addBig(set, numbers[piece->triangle]);
        continue;
      }
      const uint32_t *below = shape->nodeBigs + (size_t)(shape->first[node] + j) * PN_NODE_BIGS;
      few = below[0] != PN_NONE;
      for (uint32_t k = 0; few && k < PN_NODE_BIGS && below[k] != PN_NONE; ++k) few = addBig(set, below[k]);
    }
    set[0] = few ? set[0] : PN_NONE;
  }
}

/* One block: pieces, sets of big triangles, which triangles these are. */
size_t pn_pieceBytes(const pnShape *shape) {
  return shape->bigCount * sizeof(uint32_t) + (size_t)shape->leafCount * PN_LANES * sizeof(pnPiece) +
         (size_t)shape->nodeCount * PN_NODE_BIGS * sizeof(uint32_t);
}

/* Room for what a shape with pieces keeps, filled from the list. `numbers`: room for one per triangle. */
static pnResult keepDivided(pnShape *shape, const pnPieceList *pieces, uint32_t *numbers) {
  size_t slots = (size_t)shape->leafCount * PN_LANES;
  for (size_t i = 0; i < pieces->count; ++i) {
    /* pieces of a triangle follow one another */
    bool first = i == 0 || pieces->data[i].triangle != pieces->data[i - 1].triangle;
    if (first && pieces->data[i].level > 0) numbers[pieces->data[i].triangle] = shape->bigCount++;
  }
  size_t bytes = pn_pieceBytes(shape);
  shape->slotPieces = pn_allocZero(bytes);
  if (!shape->slotPieces) return pn_failMemory(bytes);
  shape->nodeBigs = (uint32_t *)(shape->slotPieces + slots);
  shape->bigTriangles = shape->nodeBigs + (size_t)shape->nodeCount * PN_NODE_BIGS;
  for (size_t i = 0; i < pieces->count; ++i)
    if (pieces->data[i].level > 0) shape->bigTriangles[numbers[pieces->data[i].triangle]] = pieces->data[i].triangle;
  for (size_t s = 0; s < slots; ++s)
    if (shape->leafTriangles[s] != PN_NONE) shape->slotPieces[s] = pieces->data[shape->leafTriangles[s]];
  collectBigs(shape, numbers);
  return PN_OK;
}

pnResult pn_keepPieces(pnShape *shape, const pnPieceList *pieces) {
  pnResult result = PN_OK;
  if (shape->def.big != PN_BIG_WHOLE && shape->leafCount > 0) {
    size_t bytes = pn_bytes(shape->mesh->triangleCount, sizeof(uint32_t));
    uint32_t *numbers = pn_alloc(bytes);
    result = numbers ? keepDivided(shape, pieces, numbers) : pn_failMemory(bytes);
    pn_free(numbers, bytes);
  }
  for (size_t s = 0; result == PN_OK && s < (size_t)shape->leafCount * PN_LANES; ++s)
    if (shape->leafTriangles[s] != PN_NONE) shape->leafTriangles[s] = pieces->data[shape->leafTriangles[s]].triangle;
  return result;
}
