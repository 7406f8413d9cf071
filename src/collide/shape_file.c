/* shape_file.c: shapes as blocks of bytes, to be made once and shipped.
 *
 *   head        "pnshape", order of bytes, version, length, checksum of all that follows
 *   prints      64 bits of mesh, morph and skin each: the block is of use with these only
 *   settings    build, volume, update, arity, leafSize, cut, extraReferences, calm, self
 *   division    tree/division.h
 *   parts       which were made, and which of these have something to keep; then those, in the order of s_parts
 *
 * The division says what took time to decide; all lists and links follow from it and are worked out again by the code that makes
 * them, so that a block cannot say anything false about them. Parts are believed, once the checksum is right: each is checked
 * until nobody who uses it can leave its memory. */
#include "collide/shape_file.h"

#include "base/fenv.h"
#include "collide/calm.h"
#include "collide/self.h"
#include "tree/corner.h"
#include "tree/division.h"
#include "tree/update.h"

static const char s_magic[8] = "pnshape";
#define BYTE_ORDER_MARK 0x01020304u
/* To be raised with every change of what is written. */
#define VERSION 3u
/* Where the length is, and from where on the checksum counts. */
#define LENGTH_AT 16u
#define HEAD_BYTES 32u

/* ---------------------------------------------------------------- prints */

static uint64_t printOfMesh(const pnMesh *mesh) {
  uint64_t hash = pn_hashBytes(1, mesh->vertices, 3 * sizeof(float) * (size_t)mesh->vertexCount);
  hash = pn_hashBytes(hash, mesh->triangles, 3 * sizeof(uint32_t) * (size_t)mesh->triangleCount);
  return pn_hashBytes(hash, mesh->weld, sizeof(uint32_t) * (size_t)mesh->vertexCount);
}

static uint64_t printOfMorph(const pnMorph *morph) {
  size_t vertices = morph ? morph->mesh->vertexCount : 0;
  if (!morph) return 0;
  uint32_t numbers[2] = {(uint32_t)morph->mode, morph->targetCount};
  uint64_t hash = pn_hashBytes(2, numbers, sizeof numbers);
  hash = pn_hashBytes(hash, morph->restWeights, sizeof(float) * morph->targetCount);
  if (morph->mode != PN_MORPH_DELTAS)
    return pn_hashBytes(hash, morph->positions, 3 * sizeof(float) * morph->targetCount * vertices);
  hash = pn_hashBytes(hash, morph->entryFirst, sizeof(uint32_t) * (vertices + 1));
  return pn_hashBytes(hash, morph->entries, sizeof(pnMorphEntry) * morph->entryFirst[vertices]);
}

static uint64_t printOfSkin(const pnSkin *skin) {
  size_t vertices = skin ? skin->mesh->vertexCount : 0;
  if (!skin) return 0;
  uint32_t numbers[2] = {(uint32_t)skin->mode, skin->jointCount};
  uint64_t hash = pn_hashBytes(3, numbers, sizeof numbers);
  hash = pn_hashBytes(hash, skin->influenceFirst, sizeof(uint32_t) * (vertices + 1));
  hash = pn_hashBytes(hash, skin->influences, sizeof(pnInfluence) * skin->influenceFirst[vertices]);
  if (skin->mode == PN_SKIN_WEIGHTED) {
    hash = pn_hashBytes(hash, skin->parents, sizeof(uint32_t) * skin->jointCount);
    hash = pn_hashBytes(hash, skin->pivots, sizeof(pnVec3) * skin->jointCount);
  }
  return hash;
}

/* ---------------------------------------------------------------- preparing */

/* A tree of a shape over a pose at rest, which makes the constants of its rule, prepared as for a self query. */
static pnResult prepareTree(const pnShape *shape, const pnPose *pose) {
  pnTreeDef def = pnDefaultTreeDef();
  def.pose = pose;
  def.shape = shape;
  pnTree *tree;
  pnResult result = pnCreateTree(&def, &tree);
  if (result != PN_OK) return result;
  pnAsk all = {.neighbours = true};
  uint32_t proofs;
  if (shape->def.self) result = pn_prepareSelf(tree, &all, &proofs);
  pnDestroyTree(tree);
  return result;
}

pnResult pnShape_PrepareSelf(const pnShape *shape) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(shape);
  pnPoseDef poseDef = {shape->mesh, shape->morph, shape->skin};
  pnPose *pose;
  pnResult result = pnCreatePose(&poseDef, &pose);
  if (result == PN_OK) {
    result = prepareTree(shape, pose);
    pnDestroyPose(pose);
  }
  return result;
}

/* ---------------------------------------------------------------- parts */

/* A part in a block. With neither a form nor a writer it is one of the rule, which has the form. */
typedef struct PartRow {
  pnShapePart part;
  bool self;      /* for self queries only */
  bool alwaysHas; /* once made there is something to keep */
  const pnPartForm *form;
  void (*write)(const pnShape *shape, pnByteWriter *w);
  pnResult (*read)(const pnShape *shape, pnByteReader *r);
} PartRow;

static const PartRow s_parts[PN_PART_COUNT] = {
    {.part = PN_PART_RULE, .alwaysHas = true},
    {.part = PN_PART_REST, .self = true, .alwaysHas = true, .write = pn_writeRest, .read = pn_readRest},
    {.part = PN_PART_CALM, .self = true, .alwaysHas = true, .write = pn_writeCalm, .read = pn_readCalm},
    {.part = PN_PART_FANS, .self = true, .alwaysHas = true, .form = &pn_fanForm},
    {.part = PN_PART_FLAT, .self = true, .form = &pn_flatForm},
};

static const pnPartForm *formOf(const PartRow *row, const pnShape *shape) {
  if (row->part != PN_PART_RULE) return row->form;
  return shape->rule->constants ? shape->rule->constants(shape) : NULL;
}

/* Which parts of a shape there are: bits by their places in s_parts. */
typedef struct PartBits {
  uint32_t made, kept;
} PartBits;

/* Another thread may add one meanwhile: those of now count. */
static PartBits findParts(const pnShape *shape) {
  PartBits bits = {0, 0};
  for (uint32_t i = 0; i < PN_PART_COUNT; ++i) {
    const PartRow *row = &s_parts[i];
    if (!pn_isPartMade(shape, row->part) || !(row->write || formOf(row, shape))) continue;
    bits.made |= 1u << i;
    bits.kept |= pn_partOf(shape, row->part) ? 1u << i : 0;
  }
  return bits;
}

/* ---------------------------------------------------------------- saving */

/* Length and checksum are filled in when they are known. */
static void writeShape(const pnShape *shape, PartBits parts, pnByteWriter *w) {
  const pnTreePlan *def = &shape->def;
  uint32_t settings[9] = {(uint32_t)def->build, (uint32_t)def->form, (uint32_t)def->update,
                          def->arity,           def->leafSize,       def->cut,
                          def->extraReferences, def->calm,           def->self};
  pn_putBytes(w, s_magic, sizeof s_magic);
  pn_putU32(w, BYTE_ORDER_MARK);
  pn_putU32(w, VERSION);
  pn_putU64(w, 0);
  pn_putU64(w, 0);
  pn_putU64(w, printOfMesh(shape->mesh));
  pn_putU64(w, printOfMorph(shape->morph));
  pn_putU64(w, printOfSkin(shape->skin));
  pn_putBytes(w, settings, sizeof settings);
  pn_putU32(w, parts.made);
  pn_putU32(w, parts.kept);
  pn_writeDivision(shape, w);
  for (uint32_t i = 0; i < PN_PART_COUNT; ++i) {
    const PartRow *row = &s_parts[i];
    if (!(parts.kept >> i & 1)) continue;
    if (row->write) row->write(shape, w);
    else pn_writeShapePart(shape, row->part, formOf(row, shape), w);
  }
}

pnResult pnShape_Save(const pnShape *shape, void **outBlock, size_t *outBytes) {
  PN_ASSERT(shape && outBlock && outBytes);
  *outBlock = NULL;
  *outBytes = 0;
  if (pn_hasPieces(&shape->def)) {
    return pn_fail(PN_ERROR_KIND, "shape of mesh '%s': with triangles in pieces or left out it cannot be saved",
                   shape->mesh->name);
  }
  PartBits parts = findParts(shape);
  pnByteWriter count = {0};
  writeShape(shape, parts, &count);
  char *block = pn_alloc(count.at);
  if (!block) return pn_failMemory(count.at);
  pnByteWriter w = {.block = block};
  writeShape(shape, parts, &w);
  uint64_t head[2] = {w.at, pn_hashBytes(VERSION, block + HEAD_BYTES, w.at - HEAD_BYTES)};
  memcpy(block + LENGTH_AT, head, sizeof head);
  *outBlock = block;
  *outBytes = w.at;
  return PN_OK;
}

/* ---------------------------------------------------------------- loading */

/* The head, and that nothing was damaged. */
static pnResult checkHead(const pnShapeDef *def, pnByteReader *r) {
  char magic[sizeof s_magic];
  pn_takeBytes(r, magic, sizeof magic);
  uint32_t order = pn_takeU32(r), version = pn_takeU32(r);
  uint64_t bytes = pn_takeU64(r), sum = pn_takeU64(r);
  const char *name = def->mesh->name;
  if (r->isShort || memcmp(magic, s_magic, sizeof magic) != 0)
    return pn_fail(PN_ERROR_FORMAT, "shape for mesh '%s': these %zu bytes are not a saved shape", name, r->bytes);
  if (order != BYTE_ORDER_MARK)
    return pn_fail(PN_ERROR_UNSUPPORTED, "shape for mesh '%s': saved on a machine with another order of bytes", name);
  if (version != VERSION) {
    return pn_fail(PN_ERROR_UNSUPPORTED, "shape for mesh '%s': its version is %u, this pinch reads %u", name, version,
                   VERSION);
  }
  if (bytes != r->bytes || sum != pn_hashBytes(VERSION, r->block + HEAD_BYTES, r->bytes - HEAD_BYTES))
    return pn_fail(PN_ERROR_FORMAT, "shape for mesh '%s': its length or checksum is wrong, it was damaged", name);
  uint64_t prints[3];
  pn_takeBytes(r, prints, sizeof prints);
  if (r->isShort) return pn_fail(PN_ERROR_FORMAT, "shape for mesh '%s': it ends within its head", name);
  if (prints[0] != printOfMesh(def->mesh) || prints[1] != printOfMorph(def->morph) ||
      prints[2] != printOfSkin(def->skin))
    return pn_fail(PN_ERROR_KIND, "shape for mesh '%s': it was made of another mesh, morph or skin", name);
  return PN_OK;
}

/* The definition that the shape was made by; what is out of range is refused by pn_resolveDef. */
static pnResult readSettings(pnByteReader *r, const pnPose *pose, pnTreePlan *out,
                             const struct pnUpdateRule **outRule) {
  uint32_t s[9];
  pn_takeBytes(r, s, sizeof s);
  pnTreePlan def = {.pose = pose};
  def.build = (pnBuild)s[0];
  def.form = (pnForm)s[1];
  def.update = (pnUpdate)s[2];
  def.arity = s[3];
  def.leafSize = s[4];
  def.cut = s[5];
  def.extraReferences = s[6];
  def.calm = s[7] == 1;
  def.self = s[8] == 1;
  if (r->isShort || s[7] > 1 || s[8] > 1)
    return pn_fail(PN_ERROR_FORMAT, "shape for mesh '%s': its settings are not settings", pose->mesh->name);
  if (pn_resolveDef(&def, out, outRule) != PN_OK)
    return pn_fail(PN_ERROR_FORMAT, "shape for mesh '%s': its settings do not fit it", pose->mesh->name);
  return PN_OK;
}

/* Could a shape have this part, with or without something to keep? */
static bool couldHave(const PartRow *row, const pnShape *shape, bool kept) {
  return shape->nodeCount > 0 && (kept || !row->alwaysHas) && (!row->self || shape->def.self) &&
         (row->write || formOf(row, shape)) && (row->part != PN_PART_CALM || pn_canBeCalm(shape));
}

/* It was looked for, and there is nothing to keep. */
static pnResult makeNothing(void *context, void **outData, size_t *outBytes) {
  (void)context, (void)outData, (void)outBytes;
  return PN_OK;
}

static pnResult readPart(const PartRow *row, const pnShape *shape, bool kept, pnByteReader *r) {
  if (!kept) return pn_makePart(shape, row->part, makeNothing, NULL);
  return row->read ? row->read(shape, r) : pn_readShapePart(shape, row->part, formOf(row, shape), r);
}

static pnResult readParts(const pnShape *shape, PartBits parts, pnByteReader *r) {
  bool fits = parts.made >> PN_PART_COUNT == 0 && (parts.kept & ~parts.made) == 0;
  for (uint32_t i = 0; fits && i < PN_PART_COUNT; ++i)
    fits = !(parts.made >> i & 1) || couldHave(&s_parts[i], shape, parts.kept >> i & 1);
  if (!fits) return pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': it has parts that do not fit it", shape->mesh->name);
  pnResult result = PN_OK;
  for (uint32_t i = 0; result == PN_OK && i < PN_PART_COUNT; ++i)
    if (parts.made >> i & 1) result = readPart(&s_parts[i], shape, parts.kept >> i & 1, r);
  if (result == PN_OK && r->at != r->bytes)
    result = pn_fail(PN_ERROR_FORMAT, "shape of mesh '%s': bytes are left over at its end", shape->mesh->name);
  return result;
}

static pnResult readShape(pnByteReader *r, const pnPose *pose, pnShape **outShape) {
  pnTreePlan def;
  const struct pnUpdateRule *rule;
  pnResult result = readSettings(r, pose, &def, &rule);
  if (result != PN_OK) return result;
  PartBits parts = {pn_takeU32(r), 0};
  parts.kept = pn_takeU32(r);
  pnBuildResult division = {0};
  result = pn_readDivision(r, &def, pose->mesh, &division);
  if (result == PN_OK) result = pn_createShape(&def, rule, &division, outShape);
  pn_buildFree(&division);
  if (result == PN_OK) result = readParts(*outShape, parts, r);
  return result;
}

pnResult pnLoadShape(const pnShapeDef *def, const void *block, size_t bytes, const pnShape **outShape) {
  PN_FLOAT_SCOPE;
  PN_ASSERT(def && def->mesh && (block || bytes == 0) && outShape);
  *outShape = NULL;
  pnByteReader r = {.block = block, .bytes = bytes};
  pnPoseDef poseDef = {def->mesh, def->morph, def->skin};
  pnPose *pose;
  pnShape *shape = NULL;
  pnResult result = pnCreatePose(&poseDef, &pose);
  if (result != PN_OK) return result;
  result = checkHead(def, &r);
  if (result == PN_OK) result = readShape(&r, pose, &shape);
  pnDestroyPose(pose);
  if (result != PN_OK) {
    pn_releaseShape(shape);
    return result;
  }
  *outShape = shape;
  return PN_OK;
}
