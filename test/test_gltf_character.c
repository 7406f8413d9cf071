/* test_gltf_character.c: the character made by formula: sound meshes, nothing touching at rest and when it stands, arms
 * in the coat in some strides of the walk and free in others; and the same after a trip through a .glb. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "character.h"
#include "pinch/geom.h"

enum { BODY, COAT, BOTH };

/* ---------------------------------------------------------------- helpers */

/* Where the vertices are, in float: morph, then joints. */
static void place(const pnAnimState *state, const pnAnimBody *body, uint32_t b, float *out) {
  const float *weights = pnAnimState_GetWeights(state, b);
  const pnMatrix *joints = pnAnimState_GetJoints(state, b);
  memcpy(out, body->vertices, (size_t)body->vertexCount * 12);
  for (uint32_t t = 0; t < body->targetCount; ++t) {
    const pnAnimTarget *target = &body->targets[t];
    for (uint32_t i = 0; i < target->count * 3; ++i)
      out[target->vertices[i / 3] * 3 + i % 3] += weights[t] * target->deltas[i];
  }
  for (uint32_t v = 0; v < body->vertexCount; ++v) {
    float p[3], sum[3] = {0, 0, 0};
    memcpy(p, out + v * 3, sizeof(p));
    for (uint32_t k = 0; k < 4; ++k) {
      const pnMatrix *m = &joints[body->jointIndices[v * 4 + k]];
      float w = body->jointWeights[v * 4 + k];
      for (int c = 0; c < 3; ++c)
        sum[c] += w * (m->m[c][0] * p[0] + m->m[c][1] * p[1] + m->m[c][2] * p[2] + m->m[c][3]);
    }
    memcpy(out + v * 3, sum, sizeof(sum));
  }
}

typedef struct Slab {
  float low[3], high[3];
  uint32_t body, triangle;
} Slab;

static int compareSlabs(const void *a, const void *b) {
  const Slab *x = a, *y = b;
  return x->low[1] < y->low[1] ? -1 : x->low[1] > y->low[1];
}

static bool apart(const Slab *a, const Slab *b) {
  return a->low[0] > b->high[0] || b->low[0] > a->high[0] || a->low[2] > b->high[2] || b->low[2] > a->high[2];
}

/* Do two triangles of the character meet, in more than what neighbours share? */
static bool meet(const pnAnimFile *file, float *const vertices[2], const Slab *a, const Slab *b) {
  const uint32_t *x = file->bodies[a->body].triangles + a->triangle * 3,
                 *y = file->bodies[b->body].triangles + b->triangle * 3;
  pnTriangle p, q;
  pnSharedCorners shared = {0};
  for (uint8_t i = 0; i < 3; ++i) {
    memcpy(p.v[i], vertices[a->body] + x[i] * 3, 12);
    memcpy(q.v[i], vertices[b->body] + y[i] * 3, 12);
    for (uint8_t j = 0; j < 3 && a->body == b->body; ++j) {
      if (x[i] != y[j]) continue;
      shared.a[shared.count] = i;
      shared.b[shared.count++] = j;
    }
  }
  return pnTrianglesMeetBeyond(&p, &q, shared);
}

typedef struct Counts {
  uint32_t body, coat, between;
} Counts;

/* Pairs of triangles that meet now, found by sweeping along y. */
static Counts countPairs(const pnAnimFile *file, const pnAnimState *state) {
  float *vertices[2];
  uint32_t total = file->bodies[BODY].triangleCount + file->bodies[COAT].triangleCount, n = 0;
  Slab *slabs = malloc(total * sizeof(Slab));
  for (uint32_t b = 0; b < BOTH; ++b) {
    vertices[b] = malloc((size_t)file->bodies[b].vertexCount * 12);
    place(state, &file->bodies[b], b, vertices[b]);
    for (uint32_t t = 0; t < file->bodies[b].triangleCount; ++t, ++n) {
      slabs[n] = (Slab){.body = b, .triangle = t};
      for (int c = 0; c < 3; ++c) {
        const uint32_t *corner = file->bodies[b].triangles + t * 3;
        float x = vertices[b][corner[0] * 3 + (uint32_t)c], y = vertices[b][corner[1] * 3 + (uint32_t)c];
        float z = vertices[b][corner[2] * 3 + (uint32_t)c];
        slabs[n].low[c] = fminf(x, fminf(y, z));
        slabs[n].high[c] = fmaxf(x, fmaxf(y, z));
      }
    }
  }
  qsort(slabs, total, sizeof(Slab), compareSlabs);
  Counts counts = {0};
  for (uint32_t i = 0; i < total; ++i) {
    for (uint32_t j = i + 1; j < total && slabs[j].low[1] <= slabs[i].high[1]; ++j) {
      if (apart(&slabs[i], &slabs[j]) || !meet(file, vertices, &slabs[i], &slabs[j])) continue;
      if (slabs[i].body != slabs[j].body) ++counts.between;
      if (slabs[i].body == BODY && slabs[j].body == BODY) ++counts.body;
      if (slabs[i].body == COAT && slabs[j].body == COAT) ++counts.coat;
    }
  }
  free(vertices[0]);
  free(vertices[1]);
  free(slabs);
  return counts;
}

static pnAnimFile *make(uint32_t triangles, float seconds) {
  pnCharacterDef def = pnDefaultCharacterDef();
  def.triangleCount = triangles;
  def.seconds = seconds;
  pnAnimFile *file = NULL;
  assert_int_equal(pnCreateCharacter(&def, &file), PN_OK);
  return file;
}

/* ---------------------------------------------------------------- tests */

static void meshesAreSound(void **context) {
  (void)context;
  static const uint32_t sizes[] = {10000, 20000, 30000};
  for (int s = 0; s < 3; ++s) {
    pnAnimFile *file = make(sizes[s], 2);
    uint32_t total = file->bodies[BODY].triangleCount + file->bodies[COAT].triangleCount;
    assert_in_range(total, sizes[s] * 95 / 100, sizes[s] * 105 / 100);
    assert_true(file->skins[0].jointCount >= 20);
    for (uint32_t b = 0; b < BOTH; ++b) {
      const pnAnimBody *body = &file->bodies[b];
      pnMeshDef def = pnDefaultMeshDef();
      def.vertices = body->vertices, def.vertexCount = body->vertexCount;
      def.triangles = body->triangles, def.triangleCount = body->triangleCount;
      pnMesh *mesh = NULL;
      pnMeshInfo info;
      assert_int_equal(pnCreateMesh(&def, &mesh), PN_OK);
      assert_int_equal(pnMesh_Validate(mesh, &info), PN_OK);
      assert_true(info.manifold && info.oriented && info.componentCount == 1 && info.degenerateCount == 0);
      assert_true(info.closed == (b == BODY));
      assert_int_equal(info.duplicateVertexCount, 0);
      pnDestroyMesh(mesh);
      for (uint32_t v = 0; v < body->vertexCount; ++v) {
        float sum = 0;
        for (uint32_t k = 0; k < 4; ++k) {
          sum += body->jointWeights[v * 4 + k];
          assert_true(body->jointIndices[v * 4 + k] < file->skins[0].jointCount);
        }
        assert_true(fabsf(sum - 1.0f) < 1e-6f);
      }
    }
    pnDestroyCharacter(file);
  }
}

static void armsBrushTheCoatInSomeFrames(void **context) {
  (void)context;
  pnAnimFile *file = make(20000, 6);
  pnAnimState *state = NULL;
  assert_int_equal(pnCreateAnimState(file, &state), PN_OK);

  /* Nothing touches at rest, nor anywhere in "idle". */
  for (int i = 0; i <= 4; ++i) {
    assert_int_equal(pnAnimState_Evaluate(state, i == 0 ? PN_NONE : 1, i), PN_OK);
    Counts counts = countPairs(file, state);
    assert_int_equal(counts.between + counts.body + counts.coat, 0);
  }
  /* In "walk" there are frames with and frames without arms in the coat, and the body never meets itself. */
  uint32_t with = 0, without = 0, worst = 0;
  for (int i = 0; i < 36; ++i) {
    assert_int_equal(pnAnimState_Evaluate(state, 0, i / 6.0), PN_OK);
    Counts counts = countPairs(file, state);
    assert_int_equal(counts.body, 0);
    with += counts.between > 0;
    without += counts.between == 0;
    if (counts.between > worst) worst = counts.between;
  }
  printf("arms in the coat in %u of 36 frames, at most %u pairs\n", with, worst);
  assert_true(with >= 8 && without >= 8 && worst >= 40);
  pnDestroyAnimState(state);
  pnDestroyCharacter(file);
}

static void theSameThroughAFile(void **context) {
  (void)context;
  char path[] = "pinch_character_XXXXXX";
  int handle = mkstemp(path);
  assert_true(handle >= 0);
  close(handle);
  pnAnimFile *file = make(10000, 3), *twin = make(10000, 3), *again = NULL;
  assert_int_equal(pnSaveAnimFile(path, file), PN_OK);
  assert_int_equal(pnLoadAnimFile(path, &again), PN_OK);
  assert_int_equal(again->bodyCount, 2);
  assert_int_equal(again->clipCount, 2);
  pnAnimState *a = NULL, *b = NULL;
  assert_int_equal(pnCreateAnimState(file, &a), PN_OK);
  assert_int_equal(pnCreateAnimState(again, &b), PN_OK);
  assert_int_equal(pnAnimState_Evaluate(a, 0, 1.234), PN_OK);
  assert_int_equal(pnAnimState_Evaluate(b, 0, 1.234), PN_OK);
  for (uint32_t i = 0; i < BOTH; ++i) {
    assert_string_equal(file->bodies[i].name, again->bodies[i].name);
    assert_memory_equal(file->bodies[i].vertices, again->bodies[i].vertices, (size_t)file->bodies[i].vertexCount * 12);
    /* Made twice it is the same, too. */
    assert_memory_equal(file->bodies[i].vertices, twin->bodies[i].vertices, (size_t)file->bodies[i].vertexCount * 12);
    assert_memory_equal(pnAnimState_GetJoints(a, i), pnAnimState_GetJoints(b, i),
                        file->skins[0].jointCount * sizeof(pnMatrix));
    assert_memory_equal(pnAnimState_GetWeights(a, i), pnAnimState_GetWeights(b, i), 3 * sizeof(float));
    for (uint32_t t = 0; t < 3; ++t) {
      assert_string_equal(file->bodies[i].targets[t].name, again->bodies[i].targets[t].name);
      assert_true(file->bodies[i].targets[t].count > 0);
    }
  }
  pnDestroyAnimState(a);
  pnDestroyAnimState(b);
  pnFreeAnimFile(again);
  pnDestroyCharacter(file);
  pnDestroyCharacter(twin);
  unlink(path);
}

static void wrongWishesAreRefused(void **context) {
  (void)context;
  static const pnCharacterDef defs[] = {{9999, 6}, {120001, 6}, {20000, 0.5f}, {20000, 601}, {20000, NAN}};
  pnAnimFile *file = NULL;
  for (size_t i = 0; i < sizeof(defs) / sizeof(defs[0]); ++i) {
    assert_int_equal(pnCreateCharacter(&defs[i], &file), PN_ERROR_ARGUMENT);
    assert_null(file);
  }
  pnDestroyCharacter(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshesAreSound),
      cmocka_unit_test(armsBrushTheCoatInSomeFrames),
      cmocka_unit_test(theSameThroughAFile),
      cmocka_unit_test(wrongWishesAreRefused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
