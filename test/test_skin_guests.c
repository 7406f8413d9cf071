/* test_skin_guests.c: characters made by others in the museum and in the living-room: standing as tall as asked, close to
 * the wall without touching it, and where they do touch, walls and floor, the pairs are those of brute force over all
 * vertices. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "guests.h"
#include "pinch/collide.h"

/* A room, whole for brute force and with its walls in pieces for queries. */
typedef struct Place {
  pnMesh *mesh;
  pnPose *pose;
  pnTree *tree;
} Place;

static Place makePlace(pnRoom room) {
  Place p;
  testExpectOk(pnCreateRoom(room, &p.mesh));
  pnPoseDef poseDef = {p.mesh, NULL, NULL};
  testExpectOk(pnCreatePose(&poseDef, &p.pose));
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = p.pose;
  def.self = false;
  def.big = PN_BIG_CORNERS;
  testExpectOk(pnCreateTree(&def, &p.tree));
  return p;
}

static void freePlace(Place *p) {
  pnDestroyTree(p->tree);
  pnDestroyPose(p->pose);
  pnDestroyMesh(p->mesh);
}

/* The triangles of a room near the vertices: the others cannot meet them. outNumbers: which they are, ascending. */
static pnMesh *nearOf(const pnMesh *room, const float *vertices, uint32_t n, uint32_t *outNumbers) {
  float lo[3], hi[3];
  for (int k = 0; k < 3; ++k) {
    lo[k] = hi[k] = vertices[k];
    for (uint32_t v = 1; v < n; ++v) {
      lo[k] = vertices[3 * v + k] < lo[k] ? vertices[3 * v + k] : lo[k];
      hi[k] = vertices[3 * v + k] > hi[k] ? vertices[3 * v + k] : hi[k];
    }
  }
  uint32_t count = 0, all = pnMesh_GetTriangleCount(room);
  uint32_t *triangles = malloc(3 * sizeof(uint32_t) * ((size_t)all + 1));
  assert_non_null(triangles);
  for (uint32_t t = 0; t < all; ++t) {
    const uint32_t *corners = pnMesh_GetTriangles(room) + 3 * (size_t)t;
    bool apart = false;
    for (int k = 0; k < 3; ++k) {
      float x[3];
      for (int c = 0; c < 3; ++c) x[c] = pnMesh_GetVertices(room)[3 * (size_t)corners[c] + (size_t)k];
      apart = apart || (x[0] > hi[k] && x[1] > hi[k] && x[2] > hi[k]) || (x[0] < lo[k] && x[1] < lo[k] && x[2] < lo[k]);
    }
    if (apart) continue;
    memcpy(triangles + 3 * (size_t)count, corners, 3 * sizeof(uint32_t));
    outNumbers[count++] = t;
  }
  pnMeshDef def = pnDefaultMeshDef();
  def.vertices = pnMesh_GetVertices(room);
  def.vertexCount = pnMesh_GetVertexCount(room);
  def.triangles = triangles;
  def.triangleCount = count;
  pnMesh *mesh;
  testExpectOk(pnCreateMesh(&def, &mesh));
  free(triangles);
  return mesh;
}

/* Every triangle against every triangle that is near. */
static size_t countBrute(const pnPose *eager, const float *vertices, const Place *place, const pnPairList *found) {
  uint32_t n = pnMesh_GetVertexCount(pnPose_GetMesh(eager));
  uint32_t *numbers = malloc(sizeof(uint32_t) * ((size_t)pnMesh_GetTriangleCount(place->mesh) + 1));
  assert_non_null(numbers);
  pnMesh *near = nearOf(place->mesh, vertices, n, numbers);
  pnPoseDef def = {near, NULL, NULL};
  pnPose *pose;
  pnPairList *truth;
  testExpectOk(pnCreatePose(&def, &pose));
  testExpectOk(pnCreatePairList(&truth));
  testExpectOk(pnCollideBrute(eager, pose, NULL, truth));
  size_t pairs = pnPairList_GetCount(truth);
  assert_int_equal(pnPairList_GetCount(found), pairs);
  for (size_t i = 0; i < pairs; ++i) {
    assert_int_equal(pnPairList_GetPairs(found)[i].a, pnPairList_GetPairs(truth)[i].a);
    assert_int_equal(pnPairList_GetPairs(found)[i].b, numbers[pnPairList_GetPairs(truth)[i].b]);
  }
  pnDestroyPairList(truth);
  pnDestroyPose(pose);
  pnDestroyMesh(near);
  free(numbers);
  return pairs;
}

/* One part of a guest at one place: pairs of each volume, by joints and by position, against brute force. */
static size_t checkPart(const pnGuest *guest, uint32_t part, const pnMatrix *at, const Place *place, int round) {
  const pnGuestPart *p = &guest->parts[part];
  pnPoseDef skinned = {p->mesh, p->morph, p->skin}, stored = {p->mesh, NULL, NULL};
  pnPose *pose, *eager;
  pnPairList *found;
  uint32_t n = pnMesh_GetVertexCount(p->mesh);
  float *vertices = malloc(3 * sizeof(float) * ((size_t)n + 1));
  assert_non_null(vertices);
  testExpectOk(pnCreatePose(&skinned, &pose));
  testExpectOk(pnCreatePose(&stored, &eager));
  testExpectOk(pnCreatePairList(&found));
  pnTreeDef def = pnDefaultTreeDef();
  pnTreeLab lab = {0};
  def.lab = &lab;
  def.pose = pose;
  lab.form = round % 2 ? (pnForm)(round / 2 % TEST_FORM_COUNT) : PN_FORM_BOX;
  lab.build = round % 3 == 2 ? PN_BUILD_BALANCED : PN_BUILD_DEFAULT;
  pnTree *tree;
  testExpectOk(pnCreateTree(&def, &tree)); /* over the rest pose, as a program does */
  testExpectOk(pnGuest_SetPose(guest, part, pose));
  testExpectOk(pnPose_SetTransform(pose, at));
  testExpectOk(pnTree_Validate(tree));
  pnPose_GetVertices(pose, vertices);
  testExpectOk(pnPose_SetVertices(eager, vertices, n));
  testExpectOk(pnCollideTrees(tree, place->tree, NULL, found, NULL));
  size_t pairs = countBrute(eager, vertices, place, found);
  pnDestroyTree(tree);
  pnDestroyPairList(found);
  pnDestroyPose(eager);
  pnDestroyPose(pose);
  free(vertices);
  return pairs;
}

/* At one moment `into` metres farther to the wall, and as far below the floor. */
static size_t checkMoment(pnGuest *guest, pnRoom room, const Place *place, float into, int round) {
  size_t pairs = 0;
  testExpectOk(pnGuest_Move(guest, 0.37 * round));
  pnMatrix at = pnGuest_Walk(guest, room, 0.3 + 0.1 * (round % 5), into);
  at.m[1][3] -= into > 0 ? into : -0.01f;
  for (uint32_t part = 0; part < guest->partCount; ++part) pairs += checkPart(guest, part, &at, place, round);
  return pairs;
}

static void guestsInRooms(void **state) {
  (void)state;
  Place places[PN_ROOM_COUNT];
  for (int room = 0; room < PN_ROOM_COUNT; ++room) places[room] = makePlace((pnRoom)room);
  int round = 0;
  for (const pnGuestName *name = pnGuest_List(); name->path; ++name, ++round) {
    const char *path = testDataPath(name->path);
    if (!path) continue;
    pnGuest guest;
    testExpectOk(pnCreateGuest(path, name->height, &guest));
    size_t apart = checkMoment(&guest, PN_ROOM_MUSEUM, &places[PN_ROOM_MUSEUM], 0, round);
    size_t pairs = checkMoment(&guest, PN_ROOM_MUSEUM, &places[PN_ROOM_MUSEUM], 0.05f, round + 1);
    pairs += checkMoment(&guest, PN_ROOM_LIVING, &places[PN_ROOM_LIVING], 0.05f, round + 2);
    print_message("%s: %u parts, %zu pairs\n", guest.file->name, guest.partCount, pairs);
    assert_int_equal(apart, 0);
    assert_true(pairs > 0);
    pnDestroyGuest(&guest);
  }
  for (int room = 0; room < PN_ROOM_COUNT; ++room) freePlace(&places[room]);
  assert_int_equal(pnGetByteCount(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(guestsInRooms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
