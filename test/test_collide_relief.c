/* test_collide_relief.c: workers that hand over what is left of their work: every pair is one's or the other's, nobody asks while there
 * are items to begin or when all are done, and who gets no answer gives up. */
#include "support.h"

#include <pthread.h>
#include <string.h>

#include "collide/relief.h"

enum { PAIRS = 700, ROUNDS = 40 };

static void fillList(pnPairs *list, uint32_t count, uint32_t from) {
  list->count = 0;
  assert_true(pn_arrayReserve(list, count));
  for (uint32_t i = 0; i < count; ++i) list->data[list->count++] = (pnPair){from + i, 3 * i};
}

static void nobodyAsksWithoutNeed(void **state) {
  (void)state;
  pnRelief *relief = pn_createRelief(2);
  pnWorker w = {.relief = relief};
  uint32_t job = 7;
  assert_non_null(relief);
  if (!relief) return; // for the compiler
  // an item is not begun: take that
  pn_beginRelief(relief, 2);
  pn_beginItem(relief);
  assert_false(pn_isEnding(relief));
  assert_false(pn_takeOver(relief, 1, &w, &job));
  // all are done
  pn_beginItem(relief);
  pn_endItem(relief);
  pn_endItem(relief);
  assert_true(pn_isEnding(relief));
  assert_false(pn_takeOver(relief, 1, &w, &job));
  // one is at work and has nothing to give: the asker gives up, and nothing of the ask is left
  pn_beginRelief(relief, 1);
  pn_beginItem(relief);
  assert_false(pn_takeOver(relief, 1, &w, &job));
  assert_false(pn_isAsked(relief));
  fillList(&w.lists[0], 100, 0);
  pn_handOver(&w, 0);
  assert_int_equal(w.lists[0].count, 100);
  assert_int_equal(job, 7);
  pn_workerFree(&w);
  pn_freeRelief(relief);
  assert_int_equal(pnGetByteCount(), 0);
}

typedef struct Asker {
  pnRelief *relief;
  pnWorker w;
  uint32_t job;
  atomic_bool got;
} Asker;

static void *askUntilGiven(void *context) {
  Asker *asker = context;
  while (!pn_takeOver(asker->relief, 1, &asker->w, &asker->job)) {}
  atomic_store(&asker->got, true);
  return NULL;
}

/* One worker with so many pairs of nodes and of leaves, some of these done; another asks. Returns what it gets. */
static size_t giveOnce(pnWorker *giver, Asker *asker, size_t leavesDone) {
  pthread_t thread;
  asker->got = false;
  pn_beginRelief(asker->relief, 1);
  pn_beginItem(asker->relief);
  assert_int_equal(pthread_create(&thread, NULL, askUntilGiven, asker), 0);
  // the asker may have got it before it says so: only one may be given
  size_t nodes = giver->lists[0].count, leaves = giver->leaves.count;
  while (!atomic_load(&asker->got))
    if (giver->lists[0].count == nodes && giver->leaves.count == leaves) pn_handOver(giver, leavesDone);
  pthread_join(thread, NULL);
  assert_int_equal(atomic_load(&asker->relief->undone), 2);
  pn_endItem(asker->relief);
  pn_endItem(asker->relief);
  return asker->w.lists[0].count;
}

static void everyPairIsOnes(void **state) {
  (void)state;
  Asker asker = {.relief = pn_createRelief(2)};
  pnWorker giver = {.relief = asker.relief};
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    // nodes: half of them, not more than there is room for, from the bottom
    uint32_t count = round == 0 ? 4 : round == 1 ? PAIRS : 4 + 17 * round;
    fillList(&giver.lists[0], count, 0);
    fillList(&giver.leaves, 50, 5000);
    giver.job = round;
    size_t given = giveOnce(&giver, &asker, 0);
    assert_int_equal(given, PN_MIN(count / 2, PN_RELIEF_PAIRS));
    assert_int_equal(asker.job, round);
    assert_int_equal(giver.lists[0].count, count - given);
    for (uint32_t i = 0; i < given; ++i) assert_int_equal(asker.w.lists[0].data[i].a, i);
    for (uint32_t i = 0; i < count - given; ++i) assert_int_equal(giver.lists[0].data[i].a, given + i);
    assert_int_equal(giver.leaves.count, 50);
    // leaves, where there are few nodes: half of those that are not done, from the end
    uint32_t done = round % 3 * 20, leaves = done + 64 + 9 * round;
    fillList(&giver.lists[0], 3, 0);
    fillList(&giver.leaves, leaves, 5000);
    given = giveOnce(&giver, &asker, done);
    assert_int_equal(given, PN_MIN((leaves - done) / 2, PN_RELIEF_PAIRS));
    assert_int_equal(giver.lists[0].count, 3);
    assert_int_equal(giver.leaves.count, leaves - given);
    for (uint32_t i = 0; i < given; ++i) assert_int_equal(asker.w.lists[0].data[i].a, 5000 + leaves - given + i);
  }
  pn_workerFree(&giver);
  pn_workerFree(&asker.w);
  pn_freeRelief(asker.relief);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobodyAsksWithoutNeed),
      cmocka_unit_test(everyPairIsOnes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
