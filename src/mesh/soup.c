/* soup.c: primitives that come and go. Life, places, adding, removing, replacing, fusing; soup_cut.c cuts, soup_name.c knows
 * which of them share vertices.
 *
 * After [Ganovelli00], section 3: an object is a soup of primitives that move freely and know nothing of each other. What the
 * paper leaves open is how the application speaks of a primitive after others were removed: here it keeps its place
 * and an id with a generation, as bodies of a world do. Every call is checked as a whole before the first change. */
#include "mesh/soup.h"

#include "base/fenv.h"
#include "base/memory.h"

#include <float.h>
#include <string.h>

/* ---------------------------------------------------------------- life */

pnSoupDef pnDefaultSoupDef(void) {
  return (pnSoupDef){.name = "soup", .cookie = PN_COOKIE};
}

/* Frees the arrays of a soup, or of one that is being made. */
static void freeArrays(pnSoup *soup) {
  size_t n = soup->capacity;
  pn_free(soup->isView ? NULL : soup->positions, pn_bytes(9 * n + 1, sizeof(float)));
  pn_free(soup->generation, pn_bytes(n, sizeof(uint32_t)));
  pn_free(soup->nextFree, pn_bytes(n, sizeof(uint32_t)));
  pn_free(soup->corners, n);
  pn_free(soup->changed, pn_bytes(n, sizeof(uint32_t)));
  pn_free(soup->isView ? NULL : soup->numbers, pn_bytes(3 * n + 1, sizeof(uint32_t)));
  pn_free(soup->thirds, pn_bytes(3 * n, sizeof(uint32_t)));
  pn_free(soup->nobody, pn_bytes(3 * n, sizeof(uint32_t)));
}

/* Moves the names of `old` places to an array with room for `n`, the rest without. */
static void growNames(pnSoup *soup, uint32_t *grown, size_t old, size_t n) {
  memcpy(grown, soup->names, 3 * old * sizeof(uint32_t));
  for (size_t i = 3 * old; i < 3 * n; ++i) grown[i] = (uint32_t)i;
  pn_free(soup->names, pn_bytes(3 * (size_t)soup->capacity, sizeof(uint32_t)));
  soup->names = grown;
}

/* The mesh and pose that stand for the soup, after arrays or counts changed. */
static void refreshMesh(pnSoup *soup) {
  pnMesh *mesh = &soup->mesh;
  mesh->vertexCount = 3 * soup->placeCount;
  mesh->triangleCount = soup->placeCount;
  mesh->vertices = soup->positions;
  mesh->triangles = mesh->ringOffsets = soup->numbers;
  mesh->weld = soup->names ? soup->names : soup->numbers;
  mesh->welded = soup->names != NULL;
  mesh->rings = soup->thirds;
  mesh->ringCount = 3 * soup->placeCount;
  mesh->neighbours = soup->nobody;
  soup->pose.source = soup->positions;
}

/* Can it have so many at all? To be asked before so many are read. */
static pnResult checkCount(const pnSoup *soup, size_t wanted) {
  return wanted <= PN_MAX_PLACES ? PN_OK
                                 : pn_fail(PN_ERROR_COUNT, "soup '%s': %zu primitives were asked for, it can have %u",
                                           soup->mesh.name, wanted, PN_MAX_PLACES);
}

/* Room for so many places. On failure nothing is changed. */
static pnResult reserve(pnSoup *soup, size_t wanted) {
  if (checkCount(soup, wanted) != PN_OK) return PN_ERROR_COUNT;
  if (wanted <= soup->capacity) return PN_OK;
  size_t n = PN_MIN(PN_MAX(wanted, 2 * (size_t)soup->capacity), PN_MAX_PLACES), old = soup->placeCount;
  pnSoup grown = {.capacity = (uint32_t)n,
                  .positions = pn_alloc(pn_bytes(9 * n + 1, sizeof(float))),
                  .generation = pn_allocZero(pn_bytes(n, sizeof(uint32_t))),
                  .nextFree = pn_alloc(pn_bytes(n, sizeof(uint32_t))),
                  .corners = pn_allocZero(n),
                  .changed = pn_allocZero(pn_bytes(n, sizeof(uint32_t))),
                  .numbers = pn_alloc(pn_bytes(3 * n + 1, sizeof(uint32_t))),
                  .thirds = soup->bare ? NULL : pn_alloc(pn_bytes(3 * n, sizeof(uint32_t))),
                  .nobody = soup->bare ? NULL : pn_alloc(pn_bytes(3 * n, sizeof(uint32_t)))};
  uint32_t *names = soup->names ? pn_alloc(pn_bytes(3 * n, sizeof(uint32_t))) : NULL;
  if ((soup->names && !names) || !grown.positions || !grown.generation || !grown.nextFree || !grown.corners ||
      !grown.changed || !grown.numbers || (!soup->bare && (!grown.thirds || !grown.nobody))) {
    freeArrays(&grown);
    pn_free(names, pn_bytes(3 * n, sizeof(uint32_t)));
    return pn_failMemory(pn_bytes(n, 85)); // bytes a place, over all arrays
  }

  // what there was, and the constant arrays anew
  if (old > 0) {
    memcpy(grown.positions, soup->positions, 9 * old * sizeof(float));
    memcpy(grown.generation, soup->generation, old * sizeof(uint32_t));
    memcpy(grown.nextFree, soup->nextFree, old * sizeof(uint32_t));
    memcpy(grown.corners, soup->corners, old);
    memcpy(grown.changed, soup->changed, old * sizeof(uint32_t));
  }
  memset(grown.positions + 9 * old, 0, (9 * (n - old) + 1) * sizeof(float));
  for (size_t i = 0; i < 3 * n; ++i) grown.numbers[i] = (uint32_t)i;
  for (size_t i = 0; i < 3 * n && !soup->bare; ++i) {
    grown.thirds[i] = (uint32_t)(i / 3);
    grown.nobody[i] = PN_NONE;
  }
  grown.numbers[3 * n] = (uint32_t)(3 * n);
  if (names) growNames(soup, names, old, n);
  freeArrays(soup);
  soup->capacity = grown.capacity;
  soup->positions = grown.positions;
  soup->generation = grown.generation;
  soup->nextFree = grown.nextFree;
  soup->corners = grown.corners;
  soup->changed = grown.changed;
  soup->numbers = grown.numbers;
  soup->thirds = grown.thirds;
  soup->nobody = grown.nobody;
  refreshMesh(soup);
  return PN_OK;
}

pnResult pnCreateSoup(const pnSoupDef *def, pnSoup **outSoup) {
  return pn_createSoup(def, false, outSoup);
}

/* One without places. Null: out of memory. */
static pnSoup *beginSoup(const char *name, bool bare) {
  pnSoup *soup = pn_allocZero(sizeof *soup);
  if (!soup) return NULL;
  soup->freeHead = PN_NONE;
  soup->bare = bare;
  soup->mesh.name = pn_alloc(strlen(name) + 1);
  if (!soup->mesh.name) {
    pnDestroySoup(soup);
    return NULL;
  }
  memcpy(soup->mesh.name, name, strlen(name) + 1);
  soup->mesh.box = (pnBox){{1, 1, 1}, {-1, -1, -1}};
  soup->pose = (pnPose){
      .motion = &pn_motionFree, .mesh = &soup->mesh, .transform = pnMatrix_Identity(), .frame = 1, .shapeFrame = 1};
  return soup;
}

pnResult pn_createSoup(const pnSoupDef *def, bool bare, pnSoup **outSoup) {
  PN_ASSERT(outSoup);
  *outSoup = NULL;
  pnSoupDef none = pnDefaultSoupDef();
  def = def ? def : &none;
  pnResult result = pn_checkCookie(def->cookie, "pnSoupDef");
  if (result != PN_OK) return result;
  const char *name = def->name ? def->name : none.name;
  pnSoup *soup = beginSoup(name, bare);
  if (!soup) return pn_failMemory(sizeof *soup + strlen(name) + 1);
  result = reserve(soup, PN_MAX(def->capacity, 1u)); // at least one: the arrays of a mesh are never null
  if (result != PN_OK) {
    pnDestroySoup(soup);
    return result;
  }
  *outSoup = soup;
  return PN_OK;
}

pnResult pn_createView(const pnPose *pose, pnSoup **outSoup) {
  uint32_t n = pose->mesh->triangleCount;
  size_t words = pn_bytes(n, sizeof(uint32_t));
  pnSoup *soup = *outSoup = beginSoup(pose->mesh->name, true);
  if (!soup) return pn_failMemory(sizeof *soup);
  soup->isView = true;
  soup->capacity = soup->placeCount = soup->liveCount = soup->triangleCount = n;
  soup->generation = pn_alloc(words);
  soup->corners = pn_alloc(n);
  soup->changed = pn_alloc(words);
  if (!soup->generation || !soup->corners || !soup->changed) {
    pnDestroySoup(soup);
    *outSoup = NULL;
    return pn_failMemory(words);
  }
  // all of them have just come
  soup->changedLast = soup->pose.frame + 1;
  for (uint32_t i = 0; i < n; ++i) {
    soup->generation[i] = 1;
    soup->changed[i] = (uint32_t)soup->changedLast;
  }
  memset(soup->corners, PN_PRIMITIVE_TRIANGLE, n);
  pn_touchView(soup, pose);
  return PN_OK;
}

void pn_touchView(pnSoup *soup, const pnPose *pose) {
  char *name = soup->mesh.name;
  soup->mesh = *pose->mesh; // its arrays
  soup->mesh.name = name;
  soup->mesh.vertices = soup->positions = (float *)(uintptr_t)pose->source; // nobody writes to them
  soup->numbers = soup->mesh.triangles;
  soup->pose.source = pose->source;
  pn_poseTouch(&soup->pose, true);
}

void pnDestroySoup(pnSoup *soup) {
  if (!soup) return;
  pn_freeNames(soup);
  freeArrays(soup);
  pn_free(soup->mesh.name, soup->mesh.name ? strlen(soup->mesh.name) + 1 : 0);
  pn_free(soup, sizeof *soup);
}

/* ---------------------------------------------------------------- checks */

static pnResult checkKind(const pnSoup *soup, pnPrimitiveKind kind) {
  if (kind < PN_PRIMITIVE_POINT || kind > PN_PRIMITIVE_TRIANGLE)
    return pn_fail(PN_ERROR_ARGUMENT, "soup '%s': kind %d is neither point, segment nor triangle", soup->mesh.name,
                   (int)kind);
  return PN_OK;
}

static pnResult checkPositions(const pnSoup *soup, uint32_t corners, const float *positions, uint32_t count) {
  size_t numbers = 3 * (size_t)corners * count, bad;
  PN_ASSERT(positions || count == 0);
  if (pn_maxAbs(positions, numbers) <= FLT_MAX) return PN_OK;
  pn_allFinite(positions, numbers, &bad);
  return pn_fail(PN_ERROR_NUMBER,
                 "soup '%s': coordinate %c of corner %zu of primitive %zu in the call is NaN or infinite",
                 soup->mesh.name, "xyz"[bad % 3], bad / 3 % corners, bad / (3 * (size_t)corners));
}

bool pnSoup_IsValid(const pnSoup *soup, pnPrimitiveId id) {
  uint32_t place = id.index1 - 1;
  return id.index1 > 0 && place < soup->placeCount && pn_isAlive(soup, place) &&
         soup->generation[place] == id.generation;
}

pnResult pn_failId(const pnSoup *soup, pnPrimitiveId id, uint32_t entry) {
  return pn_fail(PN_ERROR_ID, "soup '%s': entry %u of the call (place %d, generation %u) is no living primitive",
                 soup->mesh.name, entry, (int)id.index1 - 1, id.generation);
}

/* ---------------------------------------------------------------- places */

/* Writes the corners of a place; the last one is repeated up to three. */
static void writeCorners(pnSoup *soup, uint32_t place, uint32_t corners, const float *p) {
  float *to = soup->positions + 9 * (size_t)place;
  memcpy(to, p, 3 * corners * sizeof(float));
  for (uint32_t k = corners; k < 3; ++k) memcpy(to + 3 * k, p + 3 * (corners - 1), 3 * sizeof(float));
  soup->triangleCount += (corners == 3) - (soup->corners[place] == 3);
  soup->corners[place] = (uint8_t)corners;
}

/* Whoever keeps an order of the primitives must look at this place again. The frame is the one after this call. */
static void markChanged(pnSoup *soup, uint32_t place) {
  soup->changedLast = soup->pose.frame + 1;
  soup->changed[place] = (uint32_t)soup->changedLast;
}

/* A place for a new primitive; there must be room. */
static pnPrimitiveId takePlace(pnSoup *soup) {
  uint32_t place = soup->freeHead;
  if (place == PN_NONE) place = soup->placeCount++;
  else soup->freeHead = soup->nextFree[place];
  ++soup->liveCount;
  markChanged(soup, place);
  return (pnPrimitiveId){place + 1, ++soup->generation[place]};
}

static void freePlace(pnSoup *soup, uint32_t place) {
  soup->triangleCount -= soup->corners[place] == 3;
  soup->corners[place] = 0;
  pn_forgetNames(soup, place);
  soup->nextFree[place] = soup->freeHead;
  soup->freeHead = place;
  --soup->liveCount;
  markChanged(soup, place);
}

void pn_touchSoup(pnSoup *soup) {
  refreshMesh(soup);
  pn_poseTouch(&soup->pose, true);
}

/* ---------------------------------------------------------------- coming, going, moving */

pnResult pnSoup_Add(pnSoup *soup, pnPrimitiveKind kind, const float *positions, uint32_t count, pnPrimitiveId *outIds) {
  PN_FLOAT_SCOPE;
  pnResult result = checkKind(soup, kind);
  if (result == PN_OK) result = checkCount(soup, (size_t)soup->liveCount + count);
  if (result == PN_OK) result = checkPositions(soup, kind, positions, count);
  if (result == PN_OK) result = reserve(soup, (size_t)soup->liveCount + count);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < count; ++i) {
    pnPrimitiveId id = takePlace(soup);
    writeCorners(soup, id.index1 - 1, kind, positions + 3 * (size_t)kind * i);
    if (outIds) outIds[i] = id;
  }
  pn_touchSoup(soup);
  return PN_OK;
}

pnResult pn_addTriangles(pnSoup *soup, uint32_t count) {
  pnResult result = reserve(soup, (size_t)soup->liveCount + count);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < count; ++i) soup->corners[takePlace(soup).index1 - 1] = PN_PRIMITIVE_TRIANGLE;
  soup->triangleCount += count;
  refreshMesh(soup);
  return PN_OK;
}

pnResult pnSoup_Remove(pnSoup *soup, const pnPrimitiveId *ids, uint32_t count) {
  // kill one after the other, so that one named twice is found dead; on a failure bring them back to life
  for (uint32_t i = 0; i < count; ++i) {
    if (!pnSoup_IsValid(soup, ids[i])) {
      for (uint32_t k = 0; k < i; ++k) --soup->generation[ids[k].index1 - 1];
      return pn_failId(soup, ids[i], i);
    }
    ++soup->generation[ids[i].index1 - 1];
  }
  for (uint32_t i = 0; i < count; ++i) freePlace(soup, ids[i].index1 - 1);
  pn_touchSoup(soup);
  return PN_OK;
}

pnResult pnSoup_Replace(pnSoup *soup, const pnPrimitiveId *ids, pnPrimitiveKind kind, const float *positions,
                        uint32_t count) {
  PN_FLOAT_SCOPE;
  pnResult result = checkKind(soup, kind);
  if (result == PN_OK) result = checkPositions(soup, kind, positions, count);
  for (uint32_t i = 0; result == PN_OK && i < count; ++i)
    if (!pnSoup_IsValid(soup, ids[i])) result = pn_failId(soup, ids[i], i);
  if (result != PN_OK) return result;
  for (uint32_t i = 0; i < count; ++i) {
    // of another kind it is another thing, and knows nobody
    if (soup->corners[ids[i].index1 - 1] != (uint32_t)kind) pn_forgetNames(soup, ids[i].index1 - 1);
    writeCorners(soup, ids[i].index1 - 1, kind, positions + 3 * (size_t)kind * i);
    markChanged(soup, ids[i].index1 - 1);
  }
  pn_touchSoup(soup);
  return PN_OK;
}

/* Are all numbers that SetAll will read finite? Slow; only to name a place, or to find that a bad one is not read. */
static pnResult checkPlaces(const pnSoup *soup, const float *positions) {
  for (uint32_t place = 0; place < soup->placeCount; ++place) {
    size_t bad;
    if (!pn_allFinite(positions + 9 * (size_t)place, 3 * (size_t)soup->corners[place], &bad))
      return pn_fail(PN_ERROR_NUMBER, "soup '%s': coordinate %c of corner %zu of place %u is NaN or infinite",
                     soup->mesh.name, "xyz"[bad % 3], bad / 3, place);
  }
  return PN_OK;
}

pnResult pnSoup_SetAll(pnSoup *soup, const float *positions, uint32_t placeCount) {
  PN_FLOAT_SCOPE;
  if (placeCount != soup->placeCount)
    return pn_fail(PN_ERROR_COUNT, "soup '%s': %u places were given, it has %u", soup->mesh.name, placeCount,
                   soup->placeCount);
  PN_ASSERT(positions || placeCount == 0);
  if (!(pn_maxAbs(positions, 9 * (size_t)placeCount) <= FLT_MAX)) {
    pnResult result = checkPlaces(soup, positions);
    if (result != PN_OK) return result;
  }
  // all triangles: as they are
  bool plain = soup->triangleCount == placeCount;
  if (plain && placeCount) memmove(soup->positions, positions, 9 * (size_t)placeCount * sizeof(float));
  for (uint32_t place = 0; !plain && place < placeCount; ++place)
    if (soup->corners[place]) writeCorners(soup, place, soup->corners[place], positions + 9 * (size_t)place);
  pn_touchSoup(soup);
  return PN_OK;
}

/* ---------------------------------------------------------------- joining */

/* The names of a place of `from`, behind all that `into` has. */
static void fuseNames(pnSoup *into, uint32_t to, const pnSoup *from, uint32_t place) {
  uint32_t names[3];
  pn_readNames(from, place, names);
  for (int k = 0; k < 3; ++k) names[k] += names[k] != PN_NONE ? into->nameEnd : 0;
  pn_writeNames(into, to, names);
}

pnResult pnSoup_Fuse(pnSoup *into, pnSoup *from, pnPrimitiveId *outIds) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(into != from);
  pnResult result = reserve(into, (size_t)into->liveCount + from->liveCount);
  if (result == PN_OK) result = pn_reserveFusedNames(into, from);
  if (result != PN_OK) return result;
  for (uint32_t place = 0; place < from->placeCount; ++place) {
    pnPrimitiveId id = {0, 0};
    if (pn_isAlive(from, place)) {
      id = takePlace(into);
      writeCorners(into, id.index1 - 1, from->corners[place], from->positions + 9 * (size_t)place);
      if (from->names) fuseNames(into, id.index1 - 1, from, place);
      ++from->generation[place];
      freePlace(from, place);
    }
    if (outIds) outIds[place] = id;
  }
  if (from->names) pn_fuseCuts(into, from);
  pn_touchSoup(into);
  pn_touchSoup(from);
  return PN_OK;
}

/* ---------------------------------------------------------------- looking */

uint32_t pnSoup_GetCount(const pnSoup *soup) {
  return soup->liveCount;
}

uint32_t pnSoup_GetPlaceCount(const pnSoup *soup) {
  return soup->placeCount;
}

pnPrimitiveId pnSoup_GetId(const pnSoup *soup, uint32_t place) {
  bool alive = place < soup->placeCount && pn_isAlive(soup, place);
  return alive ? (pnPrimitiveId){place + 1, soup->generation[place]} : (pnPrimitiveId){0, 0};
}

uint32_t pnSoup_GetCorners(const pnSoup *soup, pnPrimitiveId id, float outPositions[9]) {
  if (!pnSoup_IsValid(soup, id)) return 0;
  memcpy(outPositions, soup->positions + 9 * (size_t)(id.index1 - 1), 9 * sizeof(float));
  return soup->corners[id.index1 - 1];
}

const pnPose *pnSoup_GetPose(const pnSoup *soup) {
  return &soup->pose;
}

size_t pnSoup_GetByteCount(const pnSoup *soup) {
  // 9 floats, generation, next, corners, changed and three times three numbers a place
  return sizeof *soup + (size_t)soup->capacity * (36 + 4 + 4 + 1 + 4 + 36) + 8 + strlen(soup->mesh.name) + 1 +
         pn_namesByteCount(soup);
}
