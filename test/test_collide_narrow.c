/* test_collide_narrow.c: the SIMD filters of the narrow phase, of strangers and of neighbours. What they call certain is never
 * wrong, their widths agree, and the error bound of narrow_kernel.h holds. */
#include "support.h"

#include "collide/narrow.h"
#include "oracle.h"
#include "oracle_cases.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- trees that are only leaves */

enum { SLOTS = 256 };
#include "slots.h"

static Case s_cases[SLOTS];
static pnPair s_candidates[SLOTS + PN_NARROW_PAD];
static bool s_meet[SLOTS];

/* Slots full of cases of a kind, some of them moved to where the range of the filters ends; the truth about each. */
static void fill(CaseKind kind, Random *r) {
  for (uint32_t i = 0; i < SLOTS; ++i) {
    s_cases[i] = makeCase(kind, r);
    if (randomBelow(r, 3) == 0) {
      float scale = ldexpf(1, (randomBelow(r, 2) ? 40 : -34) + randomBelow(r, 6) - 3);
      Case scaled = s_cases[i];
      bool finite = true;
      for (int k = 0; k < 9; ++k) {
        scaled.a.v[k / 3][k % 3] *= scale;
        scaled.b.v[k / 3][k % 3] *= scale;
        finite = finite && isfinite(scaled.a.v[k / 3][k % 3]) && isfinite(scaled.b.v[k / 3][k % 3]);
      }
      s_cases[i] = finite ? scaled : s_cases[i];
    }
    soupSet(&s_a, i, &s_cases[i].a);
    soupSet(&s_b, i, &s_cases[i].b);
    s_candidates[i] = (pnPair){i, i};
    oracleIntersect(&s_cases[i].a, &s_cases[i].b);
    s_meet[i] = oracleMeet();
  }
}

/* ---------------------------------------------------------------- what is certain is true */

typedef struct Counts {
  uint32_t pairs, hits, unsure;
} Counts;

static void checkWidth(pnNarrowFcn *filter, uint32_t width, uint8_t *answers, Counts *counts) {
  for (uint32_t i = 0; i < SLOTS; i += width) {
    uint32_t hit, unsure;
    filter(&s_a.tree, &s_b.tree, s_candidates + i, &hit, &unsure);
    assert_int_equal((hit | unsure) >> width, 0);
    assert_int_equal(hit & unsure, 0);
    for (uint32_t lane = 0; lane < width; ++lane) {
      bool isHit = hit >> lane & 1, isUnsure = unsure >> lane & 1;
      if (!isUnsure && isHit != s_meet[i + lane]) {
        printCase(&s_cases[i + lane]);
        fail_msg("%u wide: says %d for certain, and is wrong", width, isHit);
      }
      answers[i + lane] = (uint8_t)(isHit | isUnsure << 1);
      ++counts->pairs;
      counts->hits += isHit;
      counts->unsure += isUnsure;
    }
  }
}

static void certainIsTrue(void **state) {
  (void)state;
  enum { ROUNDS = 8 };
  Random r = {5};
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    Counts counts = {0};
    for (int round = 0; round < ROUNDS; ++round) {
      uint8_t four[SLOTS];
      fill((CaseKind)kind, &r);
      checkWidth(pn_narrow4, 4, four, &counts);
#if defined(__x86_64__) && !defined(PN_SCALAR)
      if (__builtin_cpu_supports("avx2")) {
        uint8_t eight[SLOTS];
        Counts ignored = {0};
        checkWidth(pn_narrow8Avx2, 8, eight, &ignored);
        assert_memory_equal(four, eight, SLOTS);
      }
#if defined(PN_AVX512)
      if (pn_hasAvx512()) {
        uint8_t sixteen[SLOTS];
        Counts ignored = {0};
        checkWidth(pn_narrow16Avx512, 16, sixteen, &ignored);
        assert_memory_equal(four, sixteen, SLOTS);
      }
#endif
#endif
    }
    print_message("  %-16s %5u pairs, %4u certain to meet, %4u unsure\n", caseName((CaseKind)kind), counts.pairs,
                  counts.hits, counts.unsure);
    /* a filter that is never sure would pass: a random pair is decided nearly always, in range */
    if (kind == CASE_RANDOM) assert_true(counts.unsure < counts.pairs / 4 && counts.hits > counts.pairs / 50);
  }
}

/* Is what is left of a list all that meets of its candidates, in order? */
static void checkKept(const pnPair *list, size_t kept, size_t count) {
  size_t expected = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (s_meet[i]) {
      assert_true(expected < kept && list[expected].a == i && list[expected].b == i);
      ++expected;
    }
  }
  assert_int_equal(kept, expected);
}

/* The loops over lists that this machine can run. */
static size_t listWidths(pnNarrowBatchesFcn **out) {
  size_t count = 0;
  out[count++] = pn_narrowBatches4;
#if defined(__x86_64__) && !defined(PN_SCALAR)
  if (__builtin_cpu_supports("avx2")) out[count++] = pn_narrowBatchesAvx2;
#if defined(PN_AVX512)
  if (pn_hasAvx512()) out[count++] = pn_narrowBatchesAvx512;
#endif
#endif
  return count;
}

/* Lists of every length: the list is kept in order, nothing past its end takes part, the exact test decides the rest. */
static void batches(void **state) {
  (void)state;
  Random r = {6};
  static const pnKernel kernels[] = {PN_KERNEL_DEFAULT, PN_KERNEL_MOLLER, PN_KERNEL_TROPP, PN_KERNEL_EXACT};
  enum { KERNELS = sizeof kernels / sizeof *kernels };
  pnNarrowBatchesFcn *widths[3];
  size_t widthCount = listWidths(widths);
  for (int round = 0; round < 40; ++round) {
    fill((CaseKind)(round % CASE_KIND_COUNT), &r);
    for (size_t count = 0; count <= 20; ++count) {
      for (size_t k = 0; k < KERNELS + widthCount; ++k) {
        pnPair list[20 + PN_NARROW_PAD];
        memcpy(list, s_candidates, count * sizeof(pnPair));
        pnDoubts doubts = {0};
        size_t kept = k < KERNELS ? pn_narrow(&s_a.tree, &s_b.tree, list, count, kernels[k], &doubts)
                                  : widths[k - KERNELS](&s_a.tree, &s_b.tree, list, count, &doubts);
        checkKept(list, kept, count);
        assert_true(doubts.count <= count);
      }
    }
  }
}

/* ---------------------------------------------------------------- neighbours */

/* Two triangles as neighbours: a mesh whose triangle 2 i and 2 i + 1 share what `shared` says. */
typedef struct Neighbours {
  Case c[SLOTS / 2];
  pnSharedCorners shared[SLOTS / 2];
  uint32_t weld[3 * SLOTS];
} Neighbours;

/* Neighbours in one plane, at the edge of what floats can tell: over a corner, two angles that touch along a ray, mirrored so
 * that a separating direction is at right angles to it; over an edge, a third corner within an ulp of its line. The
 * shared corners are the first. In half of them everything is in whole numbers, and the plane, the ray and the line are met
 * exactly; the others lie in a plane of two axes. */
enum { FLAT_CORNER = CASE_KIND_COUNT, FLAT_EDGE, NEIGHBOUR_KINDS };
static Case makeFlat(int kind, Random *r) {
  bool whole = randomBelow(r, 2);
  int x = randomBelow(r, 3), y = (x + 1) % 3;
  double at[3] = {0}, ray[3] = {0}, some[3] = {0}, across[3];
  some[(x + 2) % 3] = 1;
  for (int k = 0; k < 3; ++k) {
    if (whole) {
      at[k] = randomBelow(r, 9) - 4;
      ray[k] = randomBelow(r, 201) - 100;
      some[k] = randomBelow(r, 201) - 100;
    } else if (k == x || k == y) {
      at[k] = randomBelow(r, 2) ? randomBetween(r, -4, 4) : 0;
      ray[k] = randomBetween(r, -1, 1);
    }
  }
  for (int k = 0; k < 3; ++k) across[k] = some[(k + 1) % 3] * ray[(k + 2) % 3] - some[(k + 2) % 3] * ray[(k + 1) % 3];
  /* along the ray and across it: corners of a, then of b */
  double s = whole ? 1 + randomBelow(r, 40) : randomBetween(r, 0.2, 3);
  double t = whole ? 1 + randomBelow(r, 40) : randomBetween(r, 0.2, 3);
  double height = whole ? 1 + randomBelow(r, 3) : randomBetween(r, 0.1, 2);
  double corner[6][2] = {{0, 0}, {1, height}, {s, 0}, {0, 0}, {1, -height}, {t, 0}};
  double edge[6][2] = {{0, 0}, {1, 0}, {s, height}, {0, 0}, {1, 0}, {t, 0}};
  double(*p)[2] = kind == FLAT_EDGE ? edge : corner;
  Case c = {0};
  for (int k = 0; k < 18; ++k) {
    int i = k / 3, d = k % 3;
    (i < 3 ? c.a.v[i] : c.b.v[i - 3])[d] = (float)(at[d] + p[i][0] * ray[d] + p[i][1] * across[d]);
  }
  return c;
}

static const char *kindName(int kind) {
  return kind == FLAT_CORNER ? "flat corner" : kind == FLAT_EDGE ? "flat edge" : caseName((CaseKind)kind);
}

/* A case made into neighbours over one or two corners. Where no corner is shared (`seam`), they are welded all the same: the
 * seam has opened since. */
static void makeNeighbours(int kind, Random *r, uint32_t i, Neighbours *n) {
  bool flat = kind >= CASE_KIND_COUNT, seam = !flat && randomBelow(r, 16) == 0;
  Case c = flat ? makeFlat(kind, r) : makeCase((CaseKind)kind, r);
  if (!flat && !seam && kind != CASE_SHARED_EDGE && kind != CASE_SHARED_CORNER && kind != CASE_IDENTICAL) {
    int count = 1 + randomBelow(r, 2), turn = randomBelow(r, 3), other = randomBelow(r, 3);
    for (int k = 0; k < count; ++k) memcpy(c.b.v[(other + k) % 3], c.a.v[(turn + k) % 3], sizeof c.b.v[0]);
  }
  pnSharedCorners first = {kind == FLAT_EDGE ? 2 : 1, {0, 1}, {0, 1}}, shared = flat ? first : pickShared(&c, r);
  n->c[i] = c;
  n->shared[i] = shared;
  for (uint32_t k = 0; k < 6; ++k) n->weld[6 * i + k] = 6 * i + k;
  for (uint32_t k = 0; k < shared.count; ++k) n->weld[6 * i + 3 + shared.b[k]] = 6 * i + shared.a[k];
  if (seam && shared.count == 0) n->weld[6 * i + 3] = 6 * i;
}

static pnMesh *meshOf(const Neighbours *n) {
  static float vertices[9 * SLOTS];
  static uint32_t triangles[3 * SLOTS];
  for (uint32_t i = 0; i < SLOTS; ++i) {
    const pnTriangle *t = i % 2 ? &n->c[i / 2].b : &n->c[i / 2].a;
    memcpy(vertices + 9 * i, t->v, sizeof t->v);
    soupSet(&s_a, i, t);
  }
  for (uint32_t i = 0; i < 3 * SLOTS; ++i) triangles[i] = i;
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = 3 * SLOTS;
  def.triangleCount = SLOTS;
  def.triangles = triangles;
  def.vertexWeld = n->weld;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  return mesh;
}

static void neighboursAgree(void **state) {
  (void)state;
  enum { ROUNDS = 40, PAIRS = SLOTS / 2 };
  static Neighbours n;
  Random r = {8};
  for (int kind = 0; kind < NEIGHBOUR_KINDS; ++kind) {
    uint64_t uncertain = 0, beyond = 0, pairs = 0;
    for (int round = 0; round < ROUNDS; ++round) {
      for (uint32_t i = 0; i < PAIRS; ++i) makeNeighbours(kind, &r, i, &n);
      pnMesh *mesh = meshOf(&n);
      s_a.tree.mesh = mesh;
      /* lists of many lengths, among them the whole, which is more than a block */
      uint32_t count = round % 4 ? 1 + (uint32_t)randomBelow(&r, PAIRS) : PAIRS;
      pnPair list[PAIRS];
      for (uint32_t i = 0; i < count; ++i)
        list[i] = round % 2 ? (pnPair){2 * i, 2 * i + 1} : (pnPair){2 * i + 1, 2 * i};
      size_t kept = pn_narrowNeighbours(&s_a.tree, list, count, &uncertain), at = 0;
      for (uint32_t i = 0; i < count; ++i) {
        oracleIntersect(&n.c[i].a, &n.c[i].b);
        bool expected = oracleMeetBeyond(n.shared[i]);
        bool found = at < kept && list[at].a / 2 == i;
        if (found != expected) {
          printCase(&n.c[i]);
          fail_msg("%s: %u shared: says %d", kindName(kind), n.shared[i].count, found);
        }
        at += found;
      }
      assert_int_equal(at, kept);
      beyond += kept;
      pairs += count;
      pnDestroyMesh(mesh);
    }
    print_message("  %-16s %5u neighbours, %4u beyond, %4u asked exactly\n", kindName(kind), (unsigned)pairs,
                  (unsigned)beyond, (unsigned)uncertain);
    /* never sure would pass; what must be asked are corners in one place that are not shared */
    if (kind == CASE_RANDOM) assert_true(uncertain < pairs / 2 && beyond > pairs / 50);
  }
}

/* ---------------------------------------------------------------- the error bound */

/* The kernel once more, with numbers that carry what floats would be without rounding. */
#define REAL float
#define BITS uint32_t
#include "rounding.h"
/* as narrow.c has them */
#ifdef PN_F4_FUSED
#define DIFFERENCE(a, b, c, d) ((Carried){fmaf(-(c).r, (d).r, (a).r * (b).r), (a).x * (b).x - (c).x * (d).x})
#define MORE(a, b, c) carriedMore(a, b, c)
static Carried carriedMore(Carried a, Carried b, Carried c) {
  return (Carried){fmaf(a.r, b.r, c.r), a.x * b.x + c.x};
}
#endif

static void loadCarried(const pnTree *a, const pnTree *b, const pnPair *candidates, Carried p[6][3]) {
  const float *c[3], *d[3];
  pn_slotCorners(a, candidates->a, c);
  pn_slotCorners(b, candidates->b, d);
  for (int k = 0; k < 6; ++k) {
    for (int x = 0; x < 3; ++x) {
      float v = k < 3 ? c[k][x] : d[k - 3][x];
      p[k][x] = (Carried){v, v};
    }
  }
}

#include "collide/narrow_kernel.h"

/* The bound as the kernel computes it; 0 outside its range. */
static float boundOf(const Case *c) {
  float m = 0;
  for (int k = 0; k < 5; ++k)
    for (int x = 0; x < 3; ++x) m = fmaxf(m, fabsf((k < 3 ? c->a.v[k][x] : c->b.v[k - 3][x]) - c->b.v[2][x]));
  return m > 1e-10f && m < 1e12f ? m * m * m * 1.5e-5f : 0;
}

static void boundHolds(void **state) {
  (void)state;
  enum { ROUNDS = 8 };
  Random r = {7};
  double largest = 0;
  uint32_t checked = 0;
  for (int kind = 0; kind < CASE_KIND_COUNT; ++kind) {
    for (int round = 0; round < ROUNDS; ++round) {
      fill((CaseKind)kind, &r);
      uint8_t answers[SLOTS];
      Counts ignored = {0};
      checkWidth(pn_narrow4, 4, answers, &ignored);
      for (uint32_t i = 0; i < SLOTS; ++i) {
        uint32_t hit, unsure;
        s_worst = 0;
        Carried corners[6][3];
        loadCarried(&s_a.tree, &s_b.tree, s_candidates + i, corners);
        meetCarried(corners, &hit, &unsure);
        /* it is the same kernel */
        assert_int_equal(hit | unsure << 1, answers[i]);
        float bound = boundOf(&s_cases[i]);
        if (bound > 0) {
          double share = (double)(s_worst / bound);
          largest = fmax(largest, share);
          ++checked;
          if (!(share <= 1)) {
            printCase(&s_cases[i]);
            fail_msg("an error of %g times the bound", share);
          }
        }
      }
    }
  }
  print_message("  %u pairs in range, the largest error is %.3f of the bound\n", checked, largest);
  assert_true(checked > CASE_KIND_COUNT * ROUNDS * SLOTS / 2 && largest > 0.001);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(certainIsTrue), cmocka_unit_test(batches),
                                     cmocka_unit_test(neighboursAgree), cmocka_unit_test(boundHolds)};
  return cmocka_run_group_tests(tests, openAll, closeAll);
}
