/* info_anim.c: `pinch info` of a glTF file: its bodies, animations, skins, targets, units and extensions. */
#include "info.h"

#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the head of the file */

static uint32_t wordAt(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The JSON of bytes that are a whole file, or the beginning of a .glb up to the end of its JSON. */
static json_t *parseHead(const uint8_t *bytes, size_t count) {
  if (count >= 20 && memcmp(bytes, "glTF", 4) == 0) {
    size_t length = wordAt(bytes + 12);
    return length <= count - 20 ? json_loadb((const char *)bytes + 20, length, 0, NULL) : NULL;
  }
  return json_loadb((const char *)bytes, count, 0, NULL);
}

/* What the reader does not keep: who made the file, and its extensions. The file was read without fault before: null is
 * another format, a file that changed, or no memory. */
static json_t *readHead(const char *path) {
  if (pn_isInput(path)) {
    const void *bytes;
    size_t count;
    return pn_readInput(&bytes, &count) == PN_OK ? parseHead(bytes, count) : NULL;
  }
  FILE *stream = fopen(path, "rb");
  uint8_t begin[20];
  json_t *head = NULL;
  // Of a .glb only the JSON is read: what follows may be large.
  size_t count = stream ? fread(begin, 1, sizeof(begin), stream) : 0;
  bool packed = count == sizeof(begin) && memcmp(begin, "glTF", 4) == 0;
  if (stream && fseek(stream, 0, SEEK_END) == 0) {
    long size = ftell(stream);
    size_t wanted = packed ? 20 + (size_t)wordAt(begin + 12) : (size_t)size;
    uint8_t *bytes = size > 0 && wanted <= (size_t)size ? malloc(wanted + 1) : NULL;
    rewind(stream);
    if (bytes && fread(bytes, 1, wanted, stream) == wanted) head = parseHead(bytes, wanted);
    free(bytes);
  }
  if (stream) fclose(stream);
  return head;
}

/* ---------------------------------------------------------------- for programs */

static json_t *bodyJson(const pnAnimInfo *info, uint32_t number, uint32_t b) {
  const pnAnimFile *file = info->file;
  const pnLoadedMesh *loaded = &info->bodies.items[number];
  const pnAnimBody *body = &file->bodies[b];
  json_t *targets = json_array();
  for (uint32_t t = 0; t < body->targetCount; ++t)
    json_array_append_new(targets, pn_jsonText(body->targets[t].name ? body->targets[t].name : ""));
  return json_pack("{s:I, s:o, s:o, s:I, s:I, s:b, s:b, s:I, s:o, s:o}", "id", (json_int_t)number, "name",
                   pn_jsonText(body->name), "mesh", pn_jsonText(body->meshName), "vertices",
                   (json_int_t)body->vertexCount, "triangles", (json_int_t)body->triangleCount, "closed",
                   loaded->info.closed, "manifold", loaded->info.manifold, "parts",
                   (json_int_t)loaded->info.componentCount, "skin",
                   body->skin >= info->file->ownSkinCount ? json_null() : json_integer(body->skin), "targets", targets);
}

static json_t *clipJson(const pnAnimClip *clip) {
  double fps = pn_clipRate(clip), first, last;
  pn_clipFrames(clip, fps, &first, &last);
  return json_pack("{s:o, s:f, s:f, s:f, s:f, s:I}", "name", pn_jsonText(clip->name), "start", (double)clip->startTime,
                   "end", (double)clip->endTime, "seconds", (double)clip->endTime - (double)clip->startTime, "fps", fps,
                   "frames", (json_int_t)(last - first + 1));
}

static json_t *skinJson(const pnAnimFile *file, const pnAnimSkin *skin) {
  json_t *joints = json_array();
  for (uint32_t j = 0; j < skin->jointCount; ++j)
    json_array_append_new(joints, pn_jsonText(file->nodes[skin->joints[j]].name));
  return json_pack("{s:o, s:o}", "name", pn_jsonText(skin->name ? skin->name : ""), "joints", joints);
}

/* A list of the head, empty when there is none. */
static json_t *listOf(const json_t *head, const char *key) {
  json_t *list = json_object_get(head, key);
  return json_is_array(list) ? json_deep_copy(list) : json_array();
}

static json_t *animJson(const pnAnimInfo *info) {
  const pnAnimFile *file = info->file;
  json_t *bodies = json_array(), *clips = json_array(), *skins = json_array();
  const pnAnimScene *scene = &file->scenes[file->defaultScene];
  for (uint32_t i = 0; i < info->bodies.count; ++i) json_array_append_new(bodies, bodyJson(info, i, scene->bodies[i]));
  for (uint32_t c = 0; c < file->clipCount; ++c) json_array_append_new(clips, clipJson(&file->clips[c]));
  for (uint32_t s = 0; s < info->file->ownSkinCount; ++s) json_array_append_new(skins, skinJson(file, &file->skins[s]));
  const char *generator = json_string_value(json_object_get(json_object_get(info->head, "asset"), "generator"));
  return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file", pn_jsonText(info->path),
                   "name", pn_jsonText(file->name), "format", info->head ? "glTF 2.0" : "assimp", "generator",
                   generator ? pn_jsonText(generator) : json_null(), "unit",
                   info->head ? json_string("metre") : json_null(), "up", info->head ? json_string("y") : json_null(),
                   "extensions", listOf(info->head, "extensionsUsed"), "extensions_required",
                   listOf(info->head, "extensionsRequired"), "box", pn_boxJson(&info->box), "bodies", bodies,
                   "animations", clips, "skins", skins);
}

/* ---------------------------------------------------------------- for people */

static bool printBodies(const pnAnimInfo *info) {
  const pnAnimFile *file = info->file;
  const pnAnimScene *scene = &file->scenes[file->defaultScene];
  pnTable table = {0};
  static const char *const titles[] = {">body", "name", ">vertices", ">triangles", "closed", ">joints", ">targets"};
  for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) pn_addColumn(&table, titles[i]);
  for (uint32_t i = 0; i < info->bodies.count; ++i) {
    const pnAnimBody *body = &file->bodies[scene->bodies[i]];
    pn_addCell(&table, "%u", i);
    pn_addCell(&table, "%s", body->name);
    pn_addCell(&table, "%u", body->vertexCount);
    pn_addCell(&table, "%u", body->triangleCount);
    pn_addCell(&table, "%s", pn_closedWord(&info->bodies.items[i].info, body->triangleCount));
    pn_addCell(&table, "%u", body->skin >= info->file->ownSkinCount ? 0 : file->skins[body->skin].jointCount);
    pn_addCell(&table, "%u", body->targetCount);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  return good;
}

static bool printClips(const pnAnimFile *file) {
  if (file->clipCount == 0) return printf("\n  no animation\n") > 0;
  putchar('\n');
  pnTable table = {0};
  static const char *const titles[] = {">animation", "name", ">seconds", ">frames", ">a second"};
  for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) pn_addColumn(&table, titles[i]);
  for (uint32_t c = 0; c < file->clipCount; ++c) {
    const pnAnimClip *clip = &file->clips[c];
    double fps = pn_clipRate(clip), first, last;
    pn_clipFrames(clip, fps, &first, &last);
    pn_addCell(&table, "%u", c);
    pn_addCell(&table, "%s", clip->name);
    pn_addCell(&table, "%.2f", (double)clip->endTime - (double)clip->startTime);
    pn_addCell(&table, "%.0f", last - first + 1);
    pn_addCell(&table, "%g", fps);
  }
  bool good = pn_printTable(&table);
  pn_freeTable(&table);
  return good;
}

/* Names of all targets of a body, or of the joints of a skin, wrapped. */
static void printNames(const char *what, const char *of, const char *const *names, uint32_t count) {
  printf("\n  %u %s%s of ", count, what, pn_plural(count));
  pn_printPlain(stdout, of);
  printf(":\n");
  pn_printWords(stdout, names, count);
}

static bool printGroups(const pnAnimInfo *info) {
  const pnAnimFile *file = info->file;
  const pnAnimScene *scene = &file->scenes[file->defaultScene];
  bool good = true;
  for (uint32_t s = 0; s < info->file->ownSkinCount; ++s) {
    const pnAnimSkin *skin = &file->skins[s];
    const char **names = malloc(skin->jointCount * sizeof(char *) + 1);
    for (uint32_t j = 0; j < skin->jointCount && names; ++j) names[j] = file->nodes[skin->joints[j]].name;
    char made[32];
    snprintf(made, sizeof(made), "skin %u", s);
    if (names) printNames("joint", skin->name && skin->name[0] ? skin->name : made, names, skin->jointCount);
    good = good && names;
    free(names);
  }
  for (uint32_t i = 0; i < info->bodies.count; ++i) {
    const pnAnimBody *body = &file->bodies[scene->bodies[i]];
    const char **names = malloc(body->targetCount * sizeof(char *) + 1);
    for (uint32_t t = 0; t < body->targetCount && names; ++t)
      names[t] = body->targets[t].name && body->targets[t].name[0] ? body->targets[t].name : "(no name)";
    if (names && body->targetCount > 0) printNames("target", body->name, names, body->targetCount);
    good = good && names;
    free(names);
  }
  return good;
}

static void printExtensions(const json_t *head) {
  const json_t *used = json_object_get(head, "extensionsUsed"), *needed = json_object_get(head, "extensionsRequired");
  printf("  extensions  ");
  if (json_array_size(used) == 0) printf("none");
  for (size_t i = 0; i < json_array_size(used); ++i) {
    const char *name = json_string_value(json_array_get(used, i));
    if (i > 0) printf(", ");
    pn_printPlain(stdout, name ? name : "?");
    for (size_t k = 0; name && k < json_array_size(needed); ++k) {
      const char *other = json_string_value(json_array_get(needed, k));
      if (other && strcmp(name, other) == 0) printf(" (needed)");
    }
  }
  putchar('\n');
}

static bool printAnim(const pnAnimInfo *info) {
  const char *generator = json_string_value(json_object_get(json_object_get(info->head, "asset"), "generator"));
  printf("%s\n  format      %s", info->path, info->head ? "glTF 2.0" : "read through assimp");
  if (generator) {
    printf(", made by ");
    pn_printPlain(stdout, generator);
  }
  printf("\n  units       %s\n", info->head ? "metres, y up (as glTF has it)" : "the file's own");
  if (info->head) printExtensions(info->head);
  const pnBox *box = &info->box;
  if (info->bodies.count > 0)
    printf("  box         from (%.6g, %.6g, %.6g)\n              to (%.6g, %.6g, %.6g), at rest\n", (double)box->min.x,
           (double)box->min.y, (double)box->min.z, (double)box->max.x, (double)box->max.y, (double)box->max.z);
  putchar('\n');
  bool good = printBodies(info);
  good = printClips(info->file) && good;
  return printGroups(info) && good;
}

/* ---------------------------------------------------------------- a file */

static void uniteBoxes(pnAnimInfo *info) {
  info->box = (pnBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (uint32_t i = 0; i < info->bodies.count; ++i) {
    const pnBox *box = &info->bodies.items[i].info.box;
    info->box.min.x = fminf(info->box.min.x, box->min.x), info->box.max.x = fmaxf(info->box.max.x, box->max.x);
    info->box.min.y = fminf(info->box.min.y, box->min.y), info->box.max.y = fmaxf(info->box.max.y, box->max.y);
    info->box.min.z = fminf(info->box.min.z, box->min.z), info->box.max.z = fmaxf(info->box.max.z, box->max.z);
  }
}

bool pn_showAnim(const char *path, bool weld, json_t *files) {
  pnAnimInfo info = {.path = path};
  pnResult result = pn_openAnim(path, &info.file);
  if (result == PN_OK) result = pn_loadAnimBodies(path, info.file, weld, PN_MOMENT_REST, &info.bodies);
  bool good = result == PN_OK;
  if (!good) pn_sayFailure("info");
  if (good) {
    uniteBoxes(&info);
    info.head = readHead(path);
    if (files) good = json_array_append_new(files, animJson(&info)) == 0;
    else if (!pn_isQuiet()) good = printAnim(&info);
  }
  json_decref(info.head);
  pn_freeLoadedList(&info.bodies);
  pnFreeAnimFile(info.file);
  return good;
}
