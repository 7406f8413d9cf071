/* foreign.c: files that are brought by mistake. Each is known by the bytes it begins with, else by its name, and the message
 * says what it is and how to get from it to something pinch reads. */
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* So many bytes are looked at: COLLADA says so only behind the head of its XML. */
#define PN_HEAD 1024

#define PN_BY_BLENDER ", then File > Export > glTF 2.0"

typedef struct pnForeign {
  const char *what;
  const char *sign;       /* begins with these bytes; null: only the name tells */
  bool within;            /* the sign stands somewhere in the head */
  const char *endings[6]; /* of its name */
  const char *advice;
} pnForeign;

/* Where a sign is shared by several the ending decides, and without one that fits the first of them is meant: what is packed
 * stands before what is packed by its program. */
static const pnForeign foreigns[] = {
    {"an FBX file", "Kaydara FBX Binary", false, {".fbx"}, "Blender: File > Import > FBX" PN_BY_BLENDER},
    {"an FBX file", "; FBX", false, {".fbx"}, "Blender: File > Import > FBX" PN_BY_BLENDER},
    {"an Alembic cache",
     "Ogawa",
     false,
     {".abc"},
     "Blender: File > Import > Alembic, then each mesh as OBJ and its motion as MDD or PC2 (pinch scan "
     "mesh.obj@mesh.mdd)"},
    {"an Alembic cache (HDF5)",
     "\x89HDF",
     false,
     {".abc"},
     "Blender: File > Import > Alembic, then each mesh as OBJ and its motion as MDD or PC2 (pinch scan "
     "mesh.obj@mesh.mdd)"},
    {"a USD file",
     "PXR-USDC",
     false,
     {".usd", ".usdc"},
     "Blender: File > Import > Universal Scene Description" PN_BY_BLENDER},
    {"a USD file",
     "#usda",
     false,
     {".usd", ".usda"},
     "Blender: File > Import > Universal Scene Description" PN_BY_BLENDER},
    {"a Blender file", "BLENDER", false, {".blend", ".blend1"}, "open it in Blender" PN_BY_BLENDER},
    {"a COLLADA file",
     "<COLLADA",
     true,
     {".dae"},
     "Blender up to version 4: File > Import > Collada" PN_BY_BLENDER "; or: assimp export FILE.dae FILE.glb"},
    {"a Maya scene", "//Maya", false, {".ma"}, "Maya: export FBX; Blender: File > Import > FBX" PN_BY_BLENDER},
    {"a Maya scene", NULL, false, {".mb"}, "Maya: export FBX; Blender: File > Import > FBX" PN_BY_BLENDER},
    {"a 3ds Max scene", NULL, false, {".max"}, "3ds Max: File > Export > glTF"},
    {"a Cinema 4D scene", NULL, false, {".c4d"}, "Cinema 4D: File > Export > glTF"},
    {"a Houdini scene", NULL, false, {".hip", ".hipnc"}, "Houdini: the glTF ROP"},
    {"packed with gzip", "\x1f\x8b", false, {".gz", ".tgz"}, "unpack it first: gunzip -k FILE"},
    {"packed with zstd", "\x28\xb5\x2f\xfd", false, {".zst"}, "unpack it first: unzstd FILE"},
    {"packed with xz",
     "\xfd"
     "7zXZ",
     false,
     {".xz"},
     "unpack it first: unxz -k FILE"},
    {"packed with bzip2", "BZh", false, {".bz2"}, "unpack it first: bunzip2 -k FILE"},
    {"an archive (7z)", "7z\xbc\xaf", false, {".7z"}, "unpack it first: 7z x FILE"},
    {"an archive (zip)", "PK\003\004", false, {".zip"}, "unpack it first: unzip FILE"},
    {"a USD file",
     "PK\003\004",
     false,
     {".usdz"},
     "Blender: File > Import > Universal Scene Description" PN_BY_BLENDER},
    {"a Blender file (packed)", "\x28\xb5\x2f\xfd", false, {".blend", ".blend1"}, "open it in Blender" PN_BY_BLENDER},
    {"a Blender file (packed)", "\x1f\x8b", false, {".blend", ".blend1"}, "open it in Blender" PN_BY_BLENDER},
};

#define PN_FOREIGN_COUNT (sizeof(foreigns) / sizeof(foreigns[0]))

static bool hasEndingOf(const char *path, const pnForeign *foreign) {
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < 6 && foreign->endings[i]; ++i)
    if (strcasecmp(dot, foreign->endings[i]) == 0) return true;
  return false;
}

/* `head` ends with a zero byte. */
static bool hasSignOf(const char *head, size_t count, const pnForeign *foreign) {
  if (!foreign->sign) return false;
  size_t length = strlen(foreign->sign);
  if (foreign->within) return strstr(head, foreign->sign) != NULL;
  return count >= length && memcmp(head, foreign->sign, length) == 0;
}

/* The first bytes; false when it is no plain file that can be read. */
static bool readHead(const char *path, char *head, size_t *count) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  *count = fread(head, 1, PN_HEAD, stream);
  fclose(stream);
  return true;
}

pnResult pn_refuseForeign(const char *path) {
  char head[PN_HEAD + 1] = {0};
  size_t count = 0;
  if (pn_isInput(path)) {
    const void *bytes;
    if (pn_readInput(&bytes, &count) != PN_OK) return PN_OK;
    if (count > PN_HEAD) count = PN_HEAD;
    memcpy(head, bytes, count);
  } else if (!readHead(path, head, &count)) {
    return PN_OK;
  }
  // Content and name, then content alone, then the name alone.
  for (int pass = 0; pass < 3; ++pass) {
    for (size_t i = 0; i < PN_FOREIGN_COUNT; ++i) {
      const pnForeign *foreign = &foreigns[i];
      bool sign = hasSignOf(head, count, foreign), ending = hasEndingOf(path, foreign);
      if (pass == 0 ? !(sign && ending) : pass == 1 ? !sign : !ending) continue;
      // What this build reads after all (FBX and Collada through assimp) is not foreign.
      if (ending && pnCanLoadAnimFile(path)) return PN_OK;
      return pnFail(PN_ERROR_UNSUPPORTED, "%s: this is %s, which pinch does not read; %s", path, foreign->what,
                    foreign->advice);
    }
  }
  return PN_OK;
}
