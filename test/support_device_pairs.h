/* support_device_pairs.h: what the processor says about poses, and whether a device world says the same. */
#ifndef PN_TEST_SUPPORT_DEVICE_PAIRS_H
#define PN_TEST_SUPPORT_DEVICE_PAIRS_H

#include "support_device.h"

/* All pairs of one pose with itself, or of two, by trees of their own. */
static inline pnPairList *pairsOf(const pnPose *a, const pnPose *b, const pnSelfFilter *filter) {
  pnTree *trees[2] = {NULL, NULL};
  pnPairList *list;
  pnTreeDef def = pnDefaultTreeDef();
  pnQueryDef query = pnDefaultQueryDef();
  if (filter) query.filter = *filter;
  testExpectOk(pnCreatePairList(&list));
  for (int i = 0; i < 2; ++i) {
    def.pose = i == 0 ? (pnPose *)(uintptr_t)a : (pnPose *)(uintptr_t)b;
    if (def.pose) testExpectOk(pnCreateTree(&def, &trees[i]));
  }
  testExpectOk(b ? pnCollideTrees(trees[0], trees[1], &query, list, NULL)
                 : pnCollideSelf(trees[0], &query, list, NULL));
  pnDestroyTree(trees[0]);
  pnDestroyTree(trees[1]);
  return list;
}

/* The contact of two bodies on the device has the pairs of the list, which is freed. Returns how many. */
static inline size_t expectContact(const pnDeviceWorld *world, uint32_t contactCount, uint32_t a, uint32_t b,
                                   pnPairList *expected) {
  const size_t count = pnPairList_GetCount(expected);
  size_t found = 0;
  for (uint32_t c = 0; c < contactCount; ++c) {
    const pnDeviceContact *contact = &pnDeviceWorld_GetContacts(world)[c];
    if (contact->a != a || contact->b != b) continue;
    found = contact->pairCount;
    assert_int_equal(found, count);
    assert_memory_equal(pnDeviceWorld_GetPairs(world) + contact->firstPair, pnPairList_GetPairs(expected),
                        count * sizeof(pnPair));
  }
  assert_int_equal(found, count);
  pnDestroyPairList(expected);
  return found;
}

static inline pnDeviceFrame collide(pnDeviceWorld *world, const pnDeviceFrameDef *def) {
  pnDeviceFrame frame = pnDeviceWorld_Collide(world, def);
  testExpectOk(frame.result);
  return frame;
}

#endif
