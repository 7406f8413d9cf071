/* agree.c: see agree.h. */
#include "agree.h"

#include "mesh/mesh.h"
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- bodies */

static AgreeBody bodyOf(pnMesh *mesh) {
  uint32_t n = pnMesh_GetVertexCount(mesh);
  AgreeBody b = {mesh, calloc(3 * (size_t)n + 1, sizeof(float))};
  assert_non_null(b.positions);
  if (n > 0) memcpy(b.positions, pnMesh_GetVertices(mesh), 3 * (size_t)n * sizeof(float));
  return b;
}

static void jitter(AgreeBody *b, TestRandom *r, float amount, float dx, float dy, float dz) {
  for (uint32_t i = 0; i < pnMesh_GetVertexCount(b->mesh); ++i) {
    float *p = b->positions + 3 * (size_t)i, d[3] = {dx, dy, dz};
    for (int k = 0; k < 3; ++k) p[k] = p[k] * (1 + testFloat(r, -amount, amount)) + d[k];
  }
}

/* Every coordinate under one rotation, rounded to float: touching becomes almost touching, one plane almost one plane. */
static void rotate(AgreeBody *b, const pnMatrix *m) {
  for (uint32_t i = 0; i < pnMesh_GetVertexCount(b->mesh); ++i) {
    float *p = b->positions + 3 * (size_t)i, q[3];
    for (int k = 0; k < 3; ++k) q[k] = m->m[k][0] * p[0] + m->m[k][1] * p[1] + m->m[k][2] * p[2] + m->m[k][3];
    memcpy(p, q, sizeof q);
  }
}

static AgreeBody soup(uint32_t triangles, TestRandom *r, float size, bool coincident) {
  float *v = calloc(9 * (size_t)triangles + 1, sizeof(float));
  uint32_t *t = calloc(3 * (size_t)triangles + 1, sizeof(uint32_t));
  assert_true(v && t);
  for (uint32_t i = 0; i < 3 * triangles; ++i) {
    t[i] = i;
    for (int k = 0; k < 3; ++k) {
      float c = i % 3 == 0 ? testFloat(r, -1, 1) : v[9 * (i / 3) + k] + testFloat(r, -size, size);
      v[3 * i + k] = coincident && i >= 3 ? v[3 * (i % 3) + k] : c;
    }
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = v;
  def.vertexCount = 3 * triangles;
  def.triangles = t;
  def.triangleCount = triangles;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(v);
  free(t);
  return bodyOf(mesh);
}

static AgreeBody sphere(uint32_t subdivisions) {
  pnMesh *m;
  testExpectOk(pnMakeIcosphere(subdivisions, 1, &m));
  return bodyOf(m);
}

static AgreeBody box(uint32_t cells) {
  pnMesh *m;
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, cells, &m));
  return bodyOf(m);
}

static AgreeBody grid(uint32_t cells) {
  pnMesh *m;
  testExpectOk(pnMakeGrid(2, 2, cells, cells, &m));
  return bodyOf(m);
}

AgreeCase agreeMake(uint32_t index) {
  TestRandom r = testRandom(1000 + index);
  pnMatrix turn = testRotation(&r, 0.3f);
  AgreeCase c = {0};
  switch (index) {
    case 0:
      c = (AgreeCase){"bumpy spheres", {sphere(2), sphere(2)}};
      jitter(&c.body[0], &r, 0.15f, 0, 0, 0);
      jitter(&c.body[1], &r, 0.15f, 0.9f, 0.1f, 0.2f);
      break;
    case 1:
      c = (AgreeCase){"crumpled sphere", {sphere(2), sphere(1)}};
      jitter(&c.body[0], &r, 0.9f, 0, 0, 0);
      jitter(&c.body[1], &r, 0.9f, 0, 0, 0);
      break;
    case 2:
      c = (AgreeCase){"touching boxes", {box(4), box(4)}};
      jitter(&c.body[1], &r, 0, 2, 0.5f, 0);
      break;
    case 3:
      c = (AgreeCase){"touching boxes, rotated and rounded", {box(4), box(4)}};
      jitter(&c.body[1], &r, 0, 2, 0.5f, 0);
      rotate(&c.body[0], &turn);
      rotate(&c.body[1], &turn);
      break;
    case 4: c = (AgreeCase){"grids in one plane", {grid(8), grid(6)}}; break;
    case 5:
      c = (AgreeCase){"grids in one plane, rotated and rounded", {grid(8), grid(6)}};
      rotate(&c.body[0], &turn);
      rotate(&c.body[1], &turn);
      break;
    case 6: c = (AgreeCase){"disconnected", {soup(200, &r, 0.3f, false), soup(150, &r, 0.5f, false)}}; break;
    case 7: c = (AgreeCase){"one triangle", {soup(1, &r, 2, false), sphere(1)}}; break;
    case 8: c = (AgreeCase){"empty", {soup(0, &r, 1, false), sphere(1)}}; break;
    case 9: c = (AgreeCase){"coincident triangles", {soup(60, &r, 0.5f, true), soup(70, &r, 0.8f, false)}}; break;
    case 10: /* sizes far apart, so that grids are seen through a lens */
      c = (AgreeCase){"small in large", {sphere(2), sphere(2)}};
      for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(c.body[1].mesh); ++i)
        c.body[1].positions[i] = c.body[1].positions[i] * 0.01f + (i % 3 == 2 ? 0.97f : 0.1f);
      break;
    case 11: /* grids that are not over the whole (tree/bulk.h) */
      c = (AgreeCase){"a few vertices far away", {sphere(3), sphere(3)}};
      jitter(&c.body[0], &r, 0.1f, 0, 0, 0);
      jitter(&c.body[1], &r, 0.1f, 0.9f, 0.1f, 0.2f);
      for (uint32_t i = 0; i < 6; ++i) {
        float *p = c.body[i % 2].positions + 3 * (size_t)(100 * i + 7), away = i < 2 ? 1e4f : 1e6f;
        for (int k = 0; k < 3; ++k) p[k] = testFloat(&r, -away, away);
      }
      break;
    default: /* all vertices at one place and on one line */
      c = (AgreeCase){"flat to nothing", {sphere(1), sphere(1)}};
      memset(c.body[0].positions, 0, 3 * (size_t)pnMesh_GetVertexCount(c.body[0].mesh) * sizeof(float));
      for (uint32_t i = 0; i < 3 * pnMesh_GetVertexCount(c.body[1].mesh); ++i)
        c.body[1].positions[i] *= i % 3 == 0 ? 1.0f : 0.0f;
  }
  return c;
}

void agreeFree(AgreeCase *c) {
  for (int i = 0; i < 2; ++i) {
    free(c->body[i].positions);
    pnDestroyMesh(c->body[i].mesh);
  }
}

/* ---------------------------------------------------------------- the truth */

static pnTriangle triangleOf(const AgreeBody *b, uint32_t t) {
  pnTriangle x;
  for (int k = 0; k < 3; ++k)
    memcpy(x.v[k], b->positions + 3 * (size_t)pnMesh_GetTriangles(b->mesh)[3 * (size_t)t + k], 3 * sizeof(float));
  return x;
}

static bool boxesTouch(const pnTriangle *x, const pnTriangle *y) {
  for (int k = 0; k < 3; ++k) {
    float xl = fminf(x->v[0][k], fminf(x->v[1][k], x->v[2][k])), xh = fmaxf(x->v[0][k], fmaxf(x->v[1][k], x->v[2][k]));
    float yl = fminf(y->v[0][k], fminf(y->v[1][k], y->v[2][k])), yh = fmaxf(y->v[0][k], fmaxf(y->v[1][k], y->v[2][k]));
    if (xl > yh || yl > xh) return false;
  }
  return true;
}

/* Corners that are one welded vertex and stand at one place. */
static pnSharedCorners sharedOf(const AgreeBody *b, uint32_t s, uint32_t t, const pnTriangle *x, const pnTriangle *y) {
  pnSharedCorners shared = {0};
  const uint32_t *tri = pnMesh_GetTriangles(b->mesh), *weld = pnMesh_GetWeld(b->mesh);
  bool used[3] = {false};
  for (uint8_t i = 0; i < 3; ++i) {
    for (uint8_t j = 0; j < 3; ++j) {
      bool same = weld[tri[3 * (size_t)s + i]] == weld[tri[3 * (size_t)t + j]] && x->v[i][0] == y->v[j][0] &&
                  x->v[i][1] == y->v[j][1] && x->v[i][2] == y->v[j][2];
      if (same && !used[j]) {
        used[j] = true;
        shared.a[shared.count] = i;
        shared.b[shared.count++] = j;
        break;
      }
    }
  }
  return shared;
}

AgreePairs agreeTruth(const AgreeBody *a, const AgreeBody *b) {
  AgreePairs out = {0};
  size_t capacity = 0;
  const AgreeBody *other = b ? b : a;
  for (uint32_t s = 0; s < pnMesh_GetTriangleCount(a->mesh); ++s) {
    pnTriangle x = triangleOf(a, s);
    for (uint32_t t = b ? 0 : s + 1; t < pnMesh_GetTriangleCount(other->mesh); ++t) {
      pnTriangle y = triangleOf(other, t);
      if (!boxesTouch(&x, &y)) continue;
      oracleIntersect(&x, &y);
      if (b ? oracleMeet() : oracleMeetBeyond(sharedOf(a, s, t, &x, &y))) {
        if (out.count == capacity) {
          capacity = 2 * capacity + 64;
          out.pairs = realloc(out.pairs, capacity * sizeof(pnPair));
          assert_non_null(out.pairs);
        }
        out.pairs[out.count++] = (pnPair){s, t};
      }
    }
  }
  return out;
}

bool agreeEqual(const AgreePairs *truth, const pnPairList *found) {
  return truth->count == pnPairList_GetCount(found) &&
         (truth->count == 0 || memcmp(truth->pairs, pnPairList_GetPairs(found), truth->count * sizeof(pnPair)) == 0);
}
