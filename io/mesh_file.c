/* mesh_file.c: a mesh out of a file: which format it is, the growing mesh the readers fill, the finished mesh.
 *
 * The content decides before the extension: "ply", "OFF" and "solid" are words of their formats, and a binary STL is
 * known by its size, which follows from the count at byte 80. (Text cannot look like one by accident: four bytes of
 * text as a count mean at least 0x09090909 triangles, and the file would have 7 GB.) OBJ has no mark of its own and is
 * taken by its extension, or by a first word that only OBJ has. */
#include "mesh_file.h"
#include "float_mode.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the growing mesh */

pnResult pn_addVertex(pnMeshBuilder *builder, const float position[3]) {
  if (builder->vertexCount >= PN_MAX_VERTICES)
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: more than %u vertices", builder->name, PN_MAX_VERTICES);
  if (!pn_ioGrow((void **)&builder->vertices, builder->vertexCount, &builder->vertexCapacity, builder->vertexCount + 1,
                 3 * sizeof(float)))
    return pn_ioFailMemory(builder->name);
  memcpy(builder->vertices + 3 * builder->vertexCount++, position, 3 * sizeof(float));
  return PN_OK;
}

pnResult pn_addDoubleVertex(pnMeshBuilder *builder, const float position[3], const double exact[3]) {
  if (!pn_ioGrow((void **)&builder->doubles, builder->vertexCount, &builder->doubleCapacity, builder->vertexCount + 1,
                 3 * sizeof(double)))
    return pn_ioFailMemory(builder->name);
  memcpy(builder->doubles + 3 * builder->vertexCount, exact, 3 * sizeof(double));
  return pn_addVertex(builder, position);
}

void pn_setGroup(pnMeshBuilder *builder, pnWord name) {
  builder->pendingWord = name;
  builder->pending = true;
}

static pnResult pushGroupWord(pnMeshBuilder *builder, pnWord word) {
  if (!pn_ioGrow((void **)&builder->groupWords, builder->groupWordCount, &builder->groupWordCapacity,
                 builder->groupWordCount + 1, sizeof(pnWord)))
    return pn_ioFailMemory(builder->name);
  builder->groupWords[builder->groupWordCount++] = word;
  return PN_OK;
}

/* Notes the statement that triangle `triangleCount` is under; the list begins with the first statement. */
static pnResult assignGroup(pnMeshBuilder *builder) {
  if (!builder->pending && builder->groupWordCount == 0) return PN_OK;
  if (builder->pending) {
    // Triangles before the first statement are in a group called "default", as OBJ says.
    bool needDefault = builder->groupWordCount == 0 && builder->triangleCount > 0;
    pnResult result = needDefault ? pushGroupWord(builder, (pnWord){"default", 7}) : PN_OK;
    if (result == PN_OK) result = pushGroupWord(builder, builder->pendingWord);
    if (result != PN_OK) return result;
    builder->pending = false;
  }
  bool begins = builder->triangleGroupCapacity == 0;
  if (!pn_ioGrow((void **)&builder->triangleGroups, begins ? 0 : builder->triangleCount,
                 &builder->triangleGroupCapacity, builder->triangleCount + 1, sizeof(uint32_t)))
    return pn_ioFailMemory(builder->name);
  if (begins) memset(builder->triangleGroups, 0, builder->triangleCount * sizeof(uint32_t));
  builder->triangleGroups[builder->triangleCount] = (uint32_t)builder->groupWordCount - 1;
  return PN_OK;
}

pnResult pn_addTriangle(pnMeshBuilder *builder, uint32_t a, uint32_t b, uint32_t c) {
  if (builder->triangleCount >= PN_MAX_TRIANGLES)
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: more than %u triangles", builder->name, PN_MAX_TRIANGLES);
  if (!pn_ioGrow((void **)&builder->triangles, builder->triangleCount, &builder->triangleCapacity,
                 builder->triangleCount + 1, 3 * sizeof(uint32_t)))
    return pn_ioFailMemory(builder->name);
  pnResult result = assignGroup(builder);
  if (result != PN_OK) return result;
  uint32_t *triangle = builder->triangles + 3 * builder->triangleCount++;
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
  return PN_OK;
}

/* ---------------------------------------------------------------- groups */

/* A statement on its way to a group. */
typedef struct pnGroupEntry {
  pnWord word;
  uint32_t statement; /* its place in the file */
  uint32_t group;
} pnGroupEntry;

static int compareWords(pnWord a, pnWord b) {
  int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int byNameThenPlace(const void *left, const void *right) {
  const pnGroupEntry *a = left, *b = right;
  int order = compareWords(a->word, b->word);
  return order ? order : (a->statement > b->statement) - (a->statement < b->statement);
}

static int byPlace(const void *left, const void *right) {
  const pnGroupEntry *a = left, *b = right;
  return (a->statement > b->statement) - (a->statement < b->statement);
}

/* Statements with the same name are one group; groups are numbered as they first appear. Sorting, not hashing: a file
 * made to collide costs no more than any other. */
static pnResult finishGroups(pnMeshBuilder *builder, pnMeshFile *outFile) {
  size_t count = builder->groupWordCount;
  if (count == 0) return PN_OK;
  pnGroupEntry *entries = pn_ioAlloc(count * sizeof(pnGroupEntry));
  outFile->groupNames = pn_ioAlloc(count * sizeof(char *));
  if (!entries || !outFile->groupNames) goto memory;

  // For now the group of a statement is the first statement with its name.
  for (size_t i = 0; i < count; ++i) entries[i] = (pnGroupEntry){builder->groupWords[i], (uint32_t)i, (uint32_t)i};
  qsort(entries, count, sizeof(pnGroupEntry), byNameThenPlace);
  for (size_t i = 1; i < count; ++i)
    if (compareWords(entries[i - 1].word, entries[i].word) == 0) entries[i].group = entries[i - 1].group;

  // In file order, a statement that is its own first gets the next number; the others have their first behind them.
  qsort(entries, count, sizeof(pnGroupEntry), byPlace);
  for (size_t i = 0; i < count; ++i) {
    if (entries[i].group != i) {
      entries[i].group = entries[entries[i].group].group;
      continue;
    }
    entries[i].group = outFile->groupCount;
    char *name = pn_ioCopyText(entries[i].word.text, entries[i].word.length);
    if (!name) goto memory;
    outFile->groupNames[outFile->groupCount++] = name;
  }
  for (size_t t = 0; t < builder->triangleCount; ++t)
    builder->triangleGroups[t] = entries[builder->triangleGroups[t]].group;
  pn_ioFree(entries);
  return PN_OK;

memory:
  pn_ioFree(entries);
  return pn_ioFailMemory(builder->name);
}

/* ---------------------------------------------------------------- which format */

typedef pnResult pnParseFcn(pnReader *reader, pnMeshBuilder *builder);

static bool hasExtension(const char *name, const char *wanted) {
  char extension[8];
  pn_ioExtension(name, extension);
  return strcmp(extension, wanted) == 0;
}

static pnParseFcn *parserOfExtension(const char *name) {
  static const struct {
    const char *extension;
    pnParseFcn *parse;
  } parsers[] = {{"obj", pn_parseObj}, {"off", pn_parseOff}, {"ply", pn_parsePly}, {"stl", pn_parseStl}};
  for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); ++i)
    if (hasExtension(name, parsers[i].extension)) return parsers[i].parse;
  return NULL;
}

static pnParseFcn *chooseParser(const pnReader *reader) {
  // Marks that only one format has.
  if (pn_looksLikeBinaryStl(reader)) return pn_parseStl;
  pnReader ahead = *reader;
  ahead.comments = true;
  pnWord first = {"", 0};
  bool hasWord = pn_nextWordAnyLine(&ahead, &first);
  if (hasWord && pn_wordIs(first, "ply")) return pn_parsePly;
  if (hasWord && pn_looksLikeOff(first)) return pn_parseOff;
  if (hasWord && pn_wordIsNoCase(first, "solid")) return pn_parseStl;

  // Then what the file is called, then words that start an OBJ line.
  pnParseFcn *parse = parserOfExtension(reader->name);
  if (!parse && hasWord && pn_looksLikeObj(first)) parse = pn_parseObj;
  return parse;
}

/* Text in units of two bytes: with a byte order mark, or two letters with a zero each. */
static bool isUtf16(const unsigned char *bytes, size_t count) {
  if (count < 4) return false;
  if ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF)) return true;
  for (int zero = 0; zero < 2; ++zero) {
    unsigned char p = bytes[1 - zero], q = bytes[3 - zero];
    if (bytes[zero] == 0 && bytes[2 + zero] == 0 && p != 0 && p < 0x80 && q != 0 && q < 0x80) return true;
  }
  return false;
}

/* ---------------------------------------------------------------- the doors */

/* Whoever has a file of none of these may have an animated one, which the tool reads in the same places. */
#define EXPECTED "expected OBJ, PLY, STL or OFF, or glTF for an animated one"

pnResult pnParseMeshFile(const void *bytes, size_t byteCount, const char *name, pnMeshFile *outFile) {
  PN_IO_FLOAT;
  memset(outFile, 0, sizeof(*outFile));
  if (!name) name = "mesh in memory";
  pnReader reader = pn_makeReader(bytes, byteCount, name);
  if (byteCount == 0) return pnFail(PN_ERROR_FORMAT, "%s: the file is empty; " EXPECTED, name);
  if (!pn_looksLikeBinaryStl(&reader) && isUtf16(bytes, byteCount))
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: text in UTF-16; save it as UTF-8", name);
  pnParseFcn *parse = chooseParser(&reader);
  bool gltf = byteCount >= 4 && memcmp(bytes, "glTF", 4) == 0;
  if (!parse && (gltf || hasExtension(name, "gltf")))
    return pnFail(PN_ERROR_UNSUPPORTED,
                  "%s: glTF is an animated file, not a mesh file: pnLoadAnimFile (or pinch scan) reads it", name);
  if (!parse) return pnFail(PN_ERROR_UNSUPPORTED, "%s: neither content nor extension tell the format; " EXPECTED, name);
  pnMeshBuilder builder = {.name = name};
  pnResult result = parse(&reader, &builder);
  if (result == PN_OK) result = finishGroups(&builder, outFile);
  pn_ioFree(builder.groupWords);

  // The arrays change hands, also half filled: one way to free them.
  outFile->vertices = builder.vertices;
  outFile->doubles = builder.doubles;
  outFile->vertexCount = (uint32_t)builder.vertexCount;
  outFile->triangles = builder.triangles;
  outFile->triangleCount = (uint32_t)builder.triangleCount;
  outFile->triangleGroups = builder.triangleGroups;
  if (result == PN_OK) {
    outFile->name = pn_ioBaseName(name);
    if (!outFile->name) result = pn_ioFailMemory(name);
  }
  if (result != PN_OK) pnFreeMeshFile(outFile);
  return result;
}

pnResult pnLoadMeshFile(const char *path, pnMeshFile *outFile) {
  PN_IO_FLOAT;
  memset(outFile, 0, sizeof(*outFile));
  unsigned char *bytes;
  size_t size;
  pnResult result = pn_ioReadFile(path, &bytes, &size);
  if (result == PN_OK) result = pnParseMeshFile(bytes, size, path, outFile);
  pn_ioFree(bytes);
  return result;
}

void pnFreeMeshFile(pnMeshFile *file) {
  for (uint32_t g = 0; g < file->groupCount; ++g) pn_ioFree(file->groupNames[g]);
  pn_ioFree(file->groupNames);
  pn_ioFree(file->triangleGroups);
  pn_ioFree(file->triangles);
  pn_ioFree(file->vertices);
  pn_ioFree(file->doubles);
  pn_ioFree(file->name);
  memset(file, 0, sizeof(*file));
}
