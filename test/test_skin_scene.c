/* test_skin_scene.c: the avatar and the rooms: counts, closed surfaces, walks that do not touch the wall they follow;
 * carried volumes hold the vertices of a stride, and the pairs in a room are those of all vertices. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "avatar.h"
#include "pinch/collide.h"
#include "rooms.h"

static void avatarAndRoomsAreWhole(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1000, 5010, 44345};
  for (size_t i = 0; i < 3; ++i) {
    pnAvatar avatar;
    pnMeshInfo info;
    testExpectOk(pnCreateAvatar(sizes[i], &avatar));
    uint32_t n = pnMesh_GetVertexCount(avatar.mesh);
    assert_true(n > sizes[i] * 0.97 && n < sizes[i] * 1.03);
    testExpectOk(pnMesh_Validate(avatar.mesh, &info));
    assert_true(info.closed && info.oriented && info.manifold && info.degenerateCount == 0);
    assert_true(pnSkin_GetWeightError(avatar.skin, NULL) < 1e-6);
    pnDestroyAvatar(&avatar);
  }
  pnAvatar none;
  testExpectFailure(pnCreateAvatar(10, &none), PN_ERROR_ARGUMENT, "avatar|10");
  static const uint32_t counts[PN_ROOM_COUNT] = {9482, 133139};
  for (int room = 0; room < PN_ROOM_COUNT; ++room) {
    pnMesh *mesh;
    testExpectOk(pnCreateRoom((pnRoom)room, &mesh));
    uint32_t n = pnMesh_GetVertexCount(mesh);
    assert_true(n > counts[room] * 0.98 && n < counts[room] * 1.02);
    pnDestroyMesh(mesh);
  }
  assert_int_equal(pnGetByteCount(), 0);
}

static void walksAgreeWithAllVertices(void **state) {
  (void)state;
  pnAvatar avatar;
  pnMesh *room;
  pnPose *poses[3];
  pnPairList *lists[2];
  pnTree *trees[3], *roomTree;
  testExpectOk(pnCreateAvatar(2000, &avatar));
  testExpectOk(pnCreateRoom(PN_ROOM_MUSEUM, &room));
  pnPoseDef defs[3] = {{avatar.mesh, NULL, avatar.skin}, {avatar.mesh, NULL, NULL}, {room, NULL, NULL}};
  pnTreeDef def = pnDefaultTreeDef();
  def.self = false;
  for (int i = 0; i < 3; ++i) {
    testExpectOk(pnCreatePose(&defs[i], &poses[i]));
    def.pose = poses[i];
    testExpectOk(pnCreateTree(&def, &trees[i]));
  }
  for (int i = 0; i < 2; ++i) testExpectOk(pnCreatePairList(&lists[i]));
  def.big = PN_BIG_CORNERS;
  testExpectOk(pnCreateTree(&def, &roomTree));
  float *vertices = malloc(3 * sizeof(float) * pnMesh_GetVertexCount(avatar.mesh));
  assert_non_null(vertices);
  size_t pairs = 0;
  for (int frame = 0; frame < 12; ++frame) {
    pnMatrix joints[PN_AVATAR_JOINTS], at = pnRoom_Walk(PN_ROOM_MUSEUM, frame / 11.0);
    at.m[1][3] = frame % 2 ? 0.02f : -0.01f; /* every second time soles sink into the floor */
    pnAvatar_Walk(frame * 0.21, joints);
    testExpectOk(pnPose_SetJoints(poses[0], joints, PN_AVATAR_JOINTS));
    testExpectOk(pnPose_SetTransform(poses[0], &at));
    pnPose_GetVertices(poses[0], vertices);
    testExpectOk(pnPose_SetVertices(poses[1], vertices, pnMesh_GetVertexCount(avatar.mesh)));
    testExpectOk(pnTree_Validate(trees[0]));
    testExpectOk(pnCollideTrees(trees[0], roomTree, NULL, lists[0], NULL));
    testExpectOk(pnCollideTrees(trees[1], trees[2], NULL, lists[1], NULL));
    size_t n = pnPairList_GetCount(lists[1]);
    assert_int_equal(pnPairList_GetCount(lists[0]), n);
    if (n > 0) assert_memory_equal(pnPairList_GetPairs(lists[0]), pnPairList_GetPairs(lists[1]), n * sizeof(pnPair));
    pairs += n;
  }
  assert_true(pairs > 20);
  free(vertices);
  for (int i = 0; i < 2; ++i) pnDestroyPairList(lists[i]);
  pnDestroyTree(roomTree);
  for (int i = 0; i < 3; ++i) {
    pnDestroyTree(trees[i]);
    pnDestroyPose(poses[i]);
  }
  pnDestroyMesh(room);
  pnDestroyAvatar(&avatar);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(avatarAndRoomsAreWhole),
                                     cmocka_unit_test(walksAgreeWithAllVertices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
