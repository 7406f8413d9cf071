/* support.c: what the tests share; see support.h. */
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

__attribute__((constructor)) static void begin(void) {
  testLendForms();
}

/* ---------------------------------------------------------------- random numbers */

TestRandom testRandom(uint64_t seed) {
  // spread neighbouring seeds, and keep away from the one state that stays
  uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15u;
  return (TestRandom){.state = state ? state : 1};
}

uint64_t testU64(TestRandom *random) {
  uint64_t x = random->state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  random->state = x;
  x *= 0x2545f4914f6cdd1du;
  // the upper bits are those that choices are made by
  for (int shift = 56; shift >= 48 && random->tape < random->tapeEnd; shift -= 8)
    x = (x & ~((uint64_t)255 << shift)) | (uint64_t)*random->tape++ << shift;
  return x;
}

uint32_t testBelow(TestRandom *random, uint32_t bound) {
  return (uint32_t)((testU64(random) >> 32) * bound >> 32);
}

float testFloat(TestRandom *random, float low, float high) {
  double unit = (double)(testU64(random) >> 11) * 0x1p-53;
  return (float)((double)low + unit * ((double)high - (double)low));
}

float testAnyFloat(TestRandom *random) {
  for (;;) {
    uint32_t bits = (uint32_t)(testU64(random) >> 32);
    float x;
    memcpy(&x, &bits, sizeof x);
    if (isfinite(x)) return x;
  }
}

pnMatrix testRotation(TestRandom *random, float reach) {
  // a unit quaternion, from a point in the ball
  double q[4], n;
  do {
    n = 0;
    for (int i = 0; i < 4; ++i) {
      q[i] = (double)testFloat(random, -1, 1);
      n += q[i] * q[i];
    }
  } while (n > 1 || n < 0.01);
  double s = 2 / n, w = q[0], x = q[1], y = q[2], z = q[3];
  double r[3][3] = {{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                    {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                    {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
  pnMatrix m;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) m.m[i][k] = (float)r[i][k];
    m.m[i][3] = testFloat(random, -reach, reach);
  }
  return m;
}

/* ---------------------------------------------------------------- how much */

bool testIsShort(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return getenv("PINCH_FULL") == NULL;
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return getenv("PINCH_FULL") == NULL;
#else
  return false;
#endif
}

uint32_t testRounds(uint32_t full) {
  return testIsShort() ? (full + 3) / 4 : full;
}

/* ---------------------------------------------------------------- failing allocator */

/* Before each block we keep its size, to compare with the size it is freed with. */
#define GUARD ((size_t)64)

static _Atomic uint64_t s_asked, s_failed, s_wrongFrees;
static TestFailures s_failures = {.at = UINT64_MAX};

/* By number and not by a generator that remembers, so that it does not matter which thread asks. */
static bool failsByChance(uint64_t number) {
  if (s_failures.oneIn == 0) return false;
  TestRandom random = testRandom(s_failures.seed + 0x9e3779b97f4a7c15u * (1 + number / s_failures.burst));
  return testBelow(&random, s_failures.oneIn) == 0;
}

static void *countingAlloc(void *user, size_t size, size_t align) {
  (void)user;
  uint64_t number = atomic_fetch_add(&s_asked, 1);
  if (number == s_failures.at || (s_failures.andAfter && number > s_failures.at) || failsByChance(number)) {
    atomic_fetch_add(&s_failed, 1);
    return NULL;
  }
  if (size > SIZE_MAX / 2 || align > GUARD) return NULL;
  char *block = aligned_alloc(GUARD, (size + 2 * GUARD - 1) & ~(GUARD - 1));
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  // what is not written must not look like zeros
  memset(block + GUARD, 0xcd, size);
  return block + GUARD;
}

static void countingFree(void *user, void *memory, size_t size) {
  (void)user;
  char *block = (char *)memory - GUARD;
  size_t asked;
  memcpy(&asked, block, sizeof asked);
  if (asked != size) atomic_fetch_add(&s_wrongFrees, 1);
  free(block);
}

void testInstallAllocator(uint64_t failAt, bool andAfter) {
  assert_int_equal(pnSetAllocator(countingAlloc, countingFree, NULL), PN_OK);
  testSetFailures(&(TestFailures){.at = failAt, .andAfter = andAfter});
  atomic_store(&s_wrongFrees, 0);
}

void testSetFailures(const TestFailures *failures) {
  s_failures = failures ? *failures : (TestFailures){.at = UINT64_MAX};
  atomic_store(&s_asked, 0);
  atomic_store(&s_failed, 0);
}

uint64_t testFailureCount(void) {
  return atomic_load(&s_failed);
}

uint64_t testAllocationCount(void) {
  return atomic_load(&s_asked);
}

void testRestoreAllocator(void) {
  assert_int_equal(atomic_load(&s_wrongFrees), 0);
  assert_int_equal(pnSetAllocator(NULL, NULL, NULL), PN_OK);
}

uint32_t testEveryAllocationFailure(pnResult (*action)(void *context), void *context, bool andAfter, bool mayRecover) {
  assert_int_equal(pnGetByteCount(), 0);
  for (uint32_t k = 0;; ++k) {
    testInstallAllocator(k, andAfter);
    pnResult result = action(context);
    bool failed = testAllocationCount() > k;
    assert_int_equal(pnGetByteCount(), 0);
    testRestoreAllocator();
    if (!failed) {
      testExpectOk(result);
      return k;
    }
    if (!(mayRecover && result == PN_OK)) {
      assert_int_equal(result, PN_ERROR_MEMORY);
      assert_true(pnGetMessage()[0] != 0);
    }
  }
}

static void *watchAlloc(void *user, size_t size, size_t align) {
  TestWatch *watch = user;
  watch->held += size;
  watch->most = watch->held > watch->most ? watch->held : watch->most;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void watchFree(void *user, void *memory, size_t size) {
  TestWatch *watch = user;
  watch->held -= size;
  free(memory);
}

TestWatch *testWatchMemory(void) {
  static TestWatch watch;
  watch = (TestWatch){0};
  testExpectOk(pnSetAllocator(watchAlloc, watchFree, &watch));
  return &watch;
}

pnTriangle testTriangleAt(const pnMesh *mesh, const float *at, uint32_t t) {
  pnTriangle out;
  for (int k = 0; k < 3; ++k)
    memcpy(out.v[k], at + 3 * (size_t)pnMesh_GetTriangles(mesh)[3 * (size_t)t + (size_t)k], 3 * sizeof(float));
  return out;
}

TestBoxed testBoxedAt(const pnMesh *mesh, const float *at, uint32_t t) {
  TestBoxed out = {.triangle = testTriangleAt(mesh, at, t)};
  const pnTriangle *p = &out.triangle;
  for (int d = 0; d < 3; ++d) {
    out.lo[d] = fminf(fminf(p->v[0][d], p->v[1][d]), p->v[2][d]);
    out.hi[d] = fmaxf(fmaxf(p->v[0][d], p->v[1][d]), p->v[2][d]);
  }
  return out;
}

bool testAreNear(const TestBoxed *p, const TestBoxed *q) {
  bool near = true;
  for (int d = 0; d < 3; ++d) near = near && p->lo[d] <= q->hi[d] && q->lo[d] <= p->hi[d];
  return near;
}

pnMesh *testMakeMesh(const float *vertices, uint32_t vertexCount, const uint32_t *triangles, uint32_t triangleCount) {
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = vertices;
  def.vertexCount = vertexCount;
  def.triangles = triangles;
  def.triangleCount = triangleCount;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  return mesh;
}

/* ---------------------------------------------------------------- data and messages */

static const char *dataFolder(void) {
  const char *folder = getenv("PINCH_DATA");
  return folder && folder[0] ? folder : PINCH_SOURCE_DIR "/../shared/data";
}

const char *testDataPath(const char *relative) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s", dataFolder(), relative);
  FILE *file = fopen(path, "rb");
  if (file) {
    fclose(file);
    return path;
  }
  printf("skipped: no %s in the data folder (set PINCH_DATA)\n", relative);
  return NULL;
}

static TestPath s_animPaths[256];
static size_t s_animPathCount;

static void collectAnimFiles(const char *folder) {
  DIR *directory = opendir(folder);
  struct dirent *entry;
  while (directory && (entry = readdir(directory))) {
    TestPath path;
    struct stat info;
    if (entry->d_name[0] == '.') continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
    const char *dot = strrchr(path, '.');
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) collectAnimFiles(path);
    else if (dot && (strcmp(dot, ".gltf") == 0 || strcmp(dot, ".glb") == 0) && s_animPathCount < 256)
      strcpy(s_animPaths[s_animPathCount++], path);
  }
  if (directory) closedir(directory);
}

static int comparePaths(const void *a, const void *b) {
  return strcmp(a, b);
}

size_t testAnimFiles(const TestPath **outPaths) {
  static const char *const folders[] = {"khronos-gltf", "khronos-gltf-old", "babylon", "threejs",
                                        "kaykit",       "quaternius",       "kenney"};
  s_animPathCount = 0;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i) {
    TestPath path;
    snprintf(path, sizeof path, "%s/%s", dataFolder(), folders[i]);
    collectAnimFiles(path);
  }
  qsort(s_animPaths, s_animPathCount, sizeof s_animPaths[0], comparePaths);
  if (s_animPathCount == 0) printf("skipped: no glTF samples below %s (set PINCH_DATA)\n", dataFolder());
  *outPaths = (const TestPath *)s_animPaths;
  return s_animPathCount;
}

size_t testSplitTabs(char *line, char **fields, size_t most) {
  size_t count = 0;
  for (char *at = line; at && count < most;) {
    fields[count++] = at;
    at = strchr(at, '\t');
    if (at) *at++ = 0;
  }
  return count;
}

bool testIsMeshName(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot &&
         (!strcasecmp(dot, ".obj") || !strcasecmp(dot, ".ply") || !strcasecmp(dot, ".stl") || !strcasecmp(dot, ".off"));
}

void testExpectFailure(pnResult result, pnResult expected, const char *words) {
  const char *message = pnGetMessage();
  if (result != expected)
    fail_msg("expected '%s', got '%s' (%s)", pnResult_Text(expected), pnResult_Text(result), message);
  while (*words) {
    size_t length = strcspn(words, "|");
    char word[128];
    assert_true(length < sizeof word);
    memcpy(word, words, length);
    word[length] = 0;
    if (!strstr(message, word)) fail_msg("the message '%s' does not contain '%s'", message, word);
    words += length + (words[length] == '|');
  }
}

void testExpectOk(pnResult result) {
  if (result != PN_OK) fail_msg("%s: %s", pnResult_Text(result), pnGetMessage());
}

void testSayNothing(void *user, pnLogLevel level, const char *text) {
  (void)user, (void)level, (void)text;
}

int testComparePairs(const void *p, const void *q) {
  const pnPair *a = p, *b = q;
  return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

bool testIsListed(const pnPairList *list, pnPair pair) {
  const pnPair *pairs = pnPairList_GetPairs(list);
  for (size_t i = 0; i < pnPairList_GetCount(list); ++i)
    if (testComparePairs(&pairs[i], &pair) == 0) return true;
  return false;
}
