/* support.h: what the tests share. Include it first; it brings cmocka and what cmocka needs.
 *
 *   Random numbers     the same sequence on every machine, so that a failure can be repeated
 *   Failing allocator  fails the k-th allocation, for every k, and checks that nothing leaks
 *   Data folder        where the real data is, when it is there
 *   Messages           does the last failure say what it should? */
#ifndef PN_TEST_SUPPORT_H
#define PN_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "pinch/base.h"
#include "pinch/collide.h"
#include "pinch/geom.h"
#include "pinch/lab.h"
#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- random numbers (xorshift64*) */

typedef struct TestRandom {
  uint64_t state;                /* never 0 */
  const uint8_t *tape, *tapeEnd; /* null: none. Else bytes of a fuzzer, which decide as long as there are any */
} TestRandom;

TestRandom testRandom(uint64_t seed); /* any seed, 0 too */
uint64_t testU64(TestRandom *random);
uint32_t testBelow(TestRandom *random, uint32_t bound);     /* 0 ... bound - 1; bound > 0 */
float testFloat(TestRandom *random, float low, float high); /* about uniform in [low, high] */
float testAnyFloat(TestRandom *random);                     /* uniform in bits: any finite float, subnormals too */
pnMatrix testRotation(TestRandom *random, float reach);     /* a rotation, and a translation of up to reach */

/* ---------------------------------------------------------------- how much */

/* Under a sanitizer code is several times slower, and what is looked for is how it treats memory: many rounds of one kind say little
 * more than some, and answers are compared in full by the other builds. True there, unless the environment has PINCH_FULL. */
bool testIsShort(void);
/* Rounds of a test at random, or how often something must have come up in them: a quarter where it is short. */
uint32_t testRounds(uint32_t full);

/* ---------------------------------------------------------------- forms of volume */

/* Those of the library, and one that only tests have (form_drum.c): a test that goes through all of them goes up to this. */
#define TEST_FORM_COUNT (PN_FORM_COUNT + 1)
/* Done for every test before it begins. */
void testLendForms(void);

/* ---------------------------------------------------------------- failing allocator */

/* Calls `action` again and again: at try k the k-th allocation (and with `andAfter` every later one) fails, until a try
 * meets no failure. Checks each time that a failed try answers PN_ERROR_MEMORY with a message, that the bytes held are
 * back where they were, that every block is freed with the size it was asked for, and that the last try is PN_OK.
 * `action` must free what it makes. pinch must hold no memory when this is called. Returns how many tries failed.
 * An action may answer PN_OK at a try in which an allocation failed if `mayRecover`. */
uint32_t testEveryAllocationFailure(pnResult (*action)(void *context), void *context, bool andAfter, bool mayRecover);

/* For tests of their own kind: install the counting allocator; the allocation numbered failAt (from 0, counted since
 * this call) fails, none when it is UINT64_MAX. Take it out again with testRestoreAllocator. */
void testInstallAllocator(uint64_t failAt, bool andAfter);
uint64_t testAllocationCount(void); /* allocations asked for since it was installed */

/* Which allocations fail, by their number: the one numbered `at`, with `andAfter` all from there on, and by chance one run of
 * `burst` in `oneIn` runs (0: none). */
typedef struct TestFailures {
  uint64_t at; /* UINT64_MAX: none */
  bool andAfter;
  uint32_t burst, oneIn;
  uint64_t seed;
} TestFailures;
/* From now on, with the counting allocator in place; numbers begin at 0 again. Not while other threads allocate. */
void testSetFailures(const TestFailures *failures); /* null: none */
uint64_t testFailureCount(void);                    /* since then */
void testRestoreAllocator(void);

/* Bytes that pinch holds, now and at most, of blocks that it asks for from here on; pnSetAllocator ends it. One thread. */
typedef struct TestWatch {
  size_t held, most;
} TestWatch;
TestWatch *testWatchMemory(void);

/* For qsort and bsearch: pairs by their first number, then by their second. */
int testComparePairs(const void *p, const void *q);
/* Is a pair in a list? In any order. */
bool testIsListed(const pnPairList *list, pnPair pair);

/* A triangle of a mesh whose vertices are there, x, y and z of each. */
pnTriangle testTriangleAt(const pnMesh *mesh, const float *at, uint32_t t);
/* The same with the box around it, and do two of these overlap? */
typedef struct TestBoxed {
  pnTriangle triangle;
  float lo[3], hi[3];
} TestBoxed;
TestBoxed testBoxedAt(const pnMesh *mesh, const float *at, uint32_t t);
bool testAreNear(const TestBoxed *p, const TestBoxed *q);

/* A mesh of these arrays, welded as by default; the test fails where it cannot be made. */
pnMesh *testMakeMesh(const float *vertices, uint32_t vertexCount, const uint32_t *triangles, uint32_t triangleCount);

/* ---------------------------------------------------------------- data and messages */

/* The path of a file in the data folder (environment PINCH_DATA, or ../shared/data beside the repository). When it is
 * not there, prints one line "skipped: ..." and answers null. The text is valid until the next call. */
const char *testDataPath(const char *relative);

/* Every .gltf and .glb of the sample folders, sorted by path, and how many; 0 after a line "skipped: ...". */
typedef char TestPath[512];
size_t testAnimFiles(const TestPath **outPaths);

/* For the list of the data folder: its fields, separated by tabs (returns how many), and is a name that of a mesh? */
size_t testSplitTabs(char *line, char **fields, size_t most);
bool testIsMeshName(const char *name);

/* Fails the test unless `result` is `expected` and the message contains each of the words, separated by '|'. */
void testExpectFailure(pnResult result, pnResult expected, const char *words);

/* PN_OK, or fails with the message. */
void testExpectOk(pnResult result);

/* A log function that drops what it gets: for files that are wrong on purpose. */
void testSayNothing(void *user, pnLogLevel level, const char *text);

#ifdef __cplusplus
}
#endif

#endif
