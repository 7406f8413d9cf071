/* test_find_look.c: frames that are looked at elsewhere: looks made in any order and in portions, by finders that have seen other
 * frames or none, give the findings of one finder that saw every frame, bit for bit; and what is no look is refused. */
#include "support_find.h"

enum { FRAMES = 40, BODIES = 4, MOST = 64 };

/* A ball that goes into a box and out, a shield that the same hand carries through the ball's surface, and a sheet that folds through
 * nothing but is cut by the ball. What is carried (0 and 2) meets in every frame. */
static FindScene makeScene(void) {
  pnMesh *meshes[BODIES];
  testExpectOk(pnMakeIcosphere(3, 0.4f, &meshes[0]));
  testExpectOk(pnMakeBox((pnVec3){1, 1, 1}, 4, &meshes[1]));
  testExpectOk(pnMakeBox((pnVec3){0.3f, 0.1f, 0.3f}, 2, &meshes[2]));
  testExpectOk(pnMakeGrid(3, 3, 8, 8, &meshes[3]));
  return findMake(NULL, meshes, BODIES);
}

/* Another finder over the same trees, with the same carriers and the same rest. */
static pnFinder *makeFinder(const FindScene *s) {
  pnFinder *finder;
  pnFinderDef def = pnDefaultFinderDef();
  testExpectOk(pnCreateFinder(&def, &finder));
  static const char *const names[BODIES] = {"ada", "bea", "cem", "dua"};
  for (uint32_t i = 0; i < BODIES; ++i) {
    pnFinderBodyDef body = pnDefaultFinderBodyDef();
    body.tree = s->body[i].tree;
    body.name = names[i];
    uint32_t number;
    testExpectOk(pnFinder_AddBody(finder, &body, &number));
  }
  testExpectOk(pnFinder_SetCarriers(finder, 0, NULL, 7));
  testExpectOk(pnFinder_SetCarriers(finder, 2, NULL, 7));
  return finder;
}

static void moveTo(FindScene *s, int frame) {
  float z = 1.7f - 0.09f * (float)frame, x = 0.02f * (float)(frame % 7);
  findMove(s, 0, x, 0.03f, z);
  findMove(s, 2, x + 0.3f, 0.03f, z);
  findMove(s, 3, 0, 0, -1.5f);
}

/* The contacts of the scene as it stands; free with freeFrame. */
static pnFinderFrame makeFrame(FindScene *s, int number, bool rest) {
  static pnFinderContact contacts[16];
  pnFinderFrame frame = {.number = number, .time = number / 30.0, .contacts = contacts, .rest = rest, .curves = !rest};
  for (uint32_t a = 0; a < BODIES; ++a)
    for (uint32_t b = a + 1; b < BODIES; ++b) {
      testExpectOk(pnCollideTrees(s->body[a].tree, s->body[b].tree, NULL, s->list, NULL));
      size_t count = pnPairList_GetCount(s->list);
      pnPair *pairs = malloc(count * sizeof(pnPair) + 1);
      assert_non_null(pairs);
      if (count > 0) memcpy(pairs, pnPairList_GetPairs(s->list), count * sizeof(pnPair));
      contacts[frame.contactCount++] = (pnFinderContact){a, b, pairs, count};
    }
  return frame;
}

static void freeFrame(pnFinderFrame *frame) {
  for (uint32_t i = 0; i < frame->contactCount; ++i) free((void *)frame->contacts[i].pairs);
}

static void addRest(FindScene *s, pnFinder *finder) {
  findMove(s, 0, 0, 0.03f, 1.38f);
  findMove(s, 2, 0.3f, 0.03f, 1.38f);
  findMove(s, 3, 0, 0, -1.5f);
  pnFinderFrame frame = makeFrame(s, 0, true);
  testExpectOk(pnFinder_AddFrame(finder, &frame));
  freeFrame(&frame);
}

/* What is compared of a frame and of the findings, as text: exact, and no padding. */
static void tellFrame(const pnFinder *finder, FILE *out) {
  uint32_t count, curves;
  const pnRegion *r = pnFinder_GetRegions(finder, &count);
  pnFinder_GetCurves(finder, &curves);
  for (uint32_t i = 0; i < count; ++i)
    fprintf(out, "%u %u %u %zu %u %u %u %a %a %a %a %a %a %d %d %a\n", r[i].a, r[i].b, r[i].finding, r[i].pairCount,
            r[i].labelCountA, r[i].curveCount, r[i].inner, r[i].depth.value, r[i].depth.max, (double)r[i].depth.from.x,
            (double)r[i].depth.onto.z, r[i].volume, r[i].curveLength, r[i].carried, r[i].atRest, (double)r[i].centre.y);
  fprintf(out, "%u curves\n", curves);
}

static void tellFindings(pnFinder *finder, FILE *out) {
  uint32_t count;
  testExpectOk(pnFinder_Rank(finder, PN_FINDINGS_BY_DEPTH));
  const pnFinding *f = pnFinder_GetFindings(finder, &count);
  for (uint32_t i = 0; i < count; ++i) {
    fprintf(out, "%s %d %u %lld %lld %lld %a %a %a %a %a\n", f[i].name, f[i].kind, f[i].frameCount,
            (long long)f[i].firstFrame, (long long)f[i].lastFrame, (long long)f[i].deepestFrame, f[i].depth.value,
            f[i].restDepth, f[i].volume, (double)f[i].placeA.x, (double)f[i].placeB.z);
    for (uint32_t k = 0; k < f[i].sampleCount; ++k) fprintf(out, " %a", f[i].samples[k].depth);
  }
}

/* All frames by one finder. */
static char *tellOne(FindScene *s) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  pnFinder *finder = makeFinder(s);
  addRest(s, finder);
  for (int f = 0; f < FRAMES; ++f) {
    moveTo(s, f);
    pnFinderFrame frame = makeFrame(s, f, false);
    testExpectOk(pnFinder_AddFrame(finder, &frame));
    tellFrame(finder, out);
    freeFrame(&frame);
  }
  tellFindings(finder, out);
  fclose(out);
  pnDestroyFinder(finder);
  return text;
}

typedef struct Look {
  void *bytes;
  size_t count;
} Look;

/* Looks at the frames from `begin` to `end`, forwards or backwards. */
static void lookAt(FindScene *s, int begin, int end, bool backwards, Look *looks) {
  pnFinder *finder = makeFinder(s);
  addRest(s, finder);
  for (int i = begin; i < end; ++i) {
    int f = backwards ? begin + end - 1 - i : i;
    const void *bytes;
    moveTo(s, f);
    pnFinderFrame frame = makeFrame(s, f, false);
    testExpectOk(pnFinder_LookAtFrame(finder, &frame, &bytes, &looks[f].count));
    looks[f].bytes = malloc(looks[f].count);
    assert_non_null(looks[f].bytes);
    memcpy(looks[f].bytes, bytes, looks[f].count);
    freeFrame(&frame);
  }
  pnDestroyFinder(finder);
}

/* Takes the looks in order. Returns how many frames had to be looked at again. */
static uint32_t tellLooks(FindScene *s, Look *looks, char **outText) {
  size_t size;
  uint32_t again = 0;
  FILE *out = open_memstream(outText, &size);
  pnFinder *finder = makeFinder(s);
  addRest(s, finder);
  for (int f = 0; f < FRAMES; ++f) {
    pnFinderFrame frame = {.number = f, .time = f / 30.0};
    // Poses are elsewhere unless the look says that they are needed.
    moveTo(s, pnFinder_LookNeedsPoses(looks[f].bytes, looks[f].count) ? f : 0);
    pnResult result = pnFinder_AddLook(finder, &frame, looks[f].bytes, looks[f].count);
    if (result == PN_ERROR_KIND) {
      moveTo(s, f);
      frame = makeFrame(s, f, false);
      result = pnFinder_AddFrame(finder, &frame);
      freeFrame(&frame);
      ++again;
    }
    testExpectOk(result);
    tellFrame(finder, out);
    free(looks[f].bytes);
  }
  tellFindings(finder, out);
  fclose(out);
  pnDestroyFinder(finder);
  return again;
}

static void portionsMakeOneWhole(void **state) {
  (void)state;
  FindScene s = makeScene();
  char *one = tellOne(&s);
  // The scene has what the test is about: a carried region, one at rest, a containment.
  assert_non_null(strstr(one, " 1 0 "));
  assert_non_null(strstr(one, " 0 1 "));
  static const int portions[] = {1, 3, 7, FRAMES};
  for (size_t p = 0; p < sizeof(portions) / sizeof(portions[0]); ++p) {
    for (int backwards = 0; backwards < 2; ++backwards) {
      Look looks[FRAMES] = {0};
      for (int f = 0; f < FRAMES; f += portions[p])
        lookAt(&s, f, f + portions[p] < FRAMES ? f + portions[p] : FRAMES, backwards, looks);
      char *text;
      uint32_t again = tellLooks(&s, looks, &text);
      assert_string_equal(text, one);
      // Forwards what a portion leans on has been measured before; backwards the first frame of the whole leans on a later one.
      if (!backwards || portions[p] == 1) assert_int_equal(again, 0);
      else assert_true(again > 0);
      free(text);
    }
  }
  free(one);
  findFree(&s);
}

/* Every cut and every changed byte is refused, or is another look that harms nobody. */
static void nothingElseIsTaken(void **state) {
  (void)state;
  FindScene s = makeScene();
  Look looks[FRAMES] = {0};
  lookAt(&s, 8, 9, false, looks);
  Look look = looks[8];
  pnFinder *finder = makeFinder(&s);
  pnFinderFrame frame = {.number = 8, .time = 8 / 30.0};
  unsigned char *bytes = malloc(look.count + 1);
  assert_non_null(bytes);
  for (size_t cut = 0; cut < look.count; ++cut) {
    memcpy(bytes, look.bytes, cut);
    assert_int_equal(pnFinder_AddLook(finder, &frame, bytes, cut), PN_ERROR_FORMAT);
  }
  memcpy(bytes, look.bytes, look.count);
  bytes[look.count] = 0;
  assert_int_equal(pnFinder_AddLook(finder, &frame, bytes, look.count + 1), PN_ERROR_FORMAT);
  uint32_t refused = 0;
  for (size_t at = 0; at < look.count; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      memcpy(bytes, look.bytes, look.count);
      bytes[at] ^= (unsigned char)(1 << bit);
      pnResult result = pnFinder_AddLook(finder, &frame, bytes, look.count);
      assert_true(result == PN_OK || result == PN_ERROR_FORMAT || result == PN_ERROR_KIND || result == PN_ERROR_MEMORY);
      refused += result != PN_OK;
      if (result == PN_OK) pnFinder_Clear(finder, false);
    }
  }
  assert_true(refused > look.count);
  // And the bytes as they were are taken.
  testExpectOk(pnFinder_AddLook(finder, &frame, look.bytes, look.count));
  free(bytes);
  free(look.bytes);
  pnDestroyFinder(finder);
  findFree(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(portionsMakeOneWhole),
      cmocka_unit_test(nothingElseIsTaken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
