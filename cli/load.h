/* load.h: files as the commands want them: read, made into meshes, looked over. A mesh file is one body, a glTF file one for
 * each mesh of its scene, where an animation has it at a moment. "-" is standard input. */
#ifndef PN_CLI_LOAD_H
#define PN_CLI_LOAD_H

#include "pinch/io.h"
#include "pinch/mesh.h"

#include <math.h>
#include <stdio.h>

typedef struct pnLoadedMesh {
  const char *path; /* as given */
  char *name;       /* the file's name without folder and extension; in glTF the body's */
  char **groupNames;
  uint32_t groupCount;
  uint32_t *groupSizes; /* triangles of each group */
  pnMesh *mesh;
  pnMeshInfo info;
} pnLoadedMesh;

/* "yes" or "no"; of a mesh without triangles neither says anything. */
static inline const char *pn_closedWord(const pnMeshInfo *info, uint32_t triangleCount) {
  return triangleCount == 0 ? "-" : info->closed ? "yes" : "no";
}

/* weld: vertices at the same place are one. On an error the message names the file, and nothing needs to be freed. */
pnResult pn_loadMesh(const char *path, bool weld, pnLoadedMesh *outLoaded);
void pn_freeLoadedMesh(pnLoadedMesh *loaded); /* a zeroed one is allowed */

/* ---------------------------------------------------------------- bodies */

/* Which moment of an animated file is meant. */
typedef struct pnMoment {
  const char *animation; /* by name or number; null: the rest pose, or with a time the first animation */
  double time;           /* seconds; NAN: not given, where the animation begins */
} pnMoment;

#define PN_MOMENT_REST ((pnMoment){NULL, NAN})

typedef struct pnLoadedList {
  pnLoadedMesh *items;
  uint32_t count;
  bool isAnimated; /* one of the files has an animation */
} pnLoadedList;

/* Adds the bodies of a file to the list. A mesh file has no other moment than now. After an error the list still has to be
 * freed. */
pnResult pn_loadBodies(const char *path, bool weld, pnMoment moment, pnLoadedList *list);
/* The same for a glTF file that has been read. */
pnResult pn_loadAnimBodies(const char *path, const pnAnimFile *file, bool weld, pnMoment moment, pnLoadedList *list);
/* Once all files are in the list: an error when a moment was asked for and there is none in any of them. */
pnResult pn_checkMoment(const pnLoadedList *list, pnMoment moment);
void pn_freeLoadedList(pnLoadedList *list);

/* ---------------------------------------------------------------- files */

/* glTF by name, or by the four letters a .glb begins with. Standard input is never asked: see pn_openAnim. */
bool pn_isAnimFile(const char *path);
/* Reads glTF. */
pnResult pn_openAnim(const char *path, pnAnimFile **outFile);
/* Standard input as it is, read once and kept. */
pnResult pn_readInput(const void **outBytes, size_t *outCount);
bool pn_isInput(const char *path); /* "-" */
/* Is what comes by standard input glTF? False also when it cannot be read. */
bool pn_isAnimInput(void);

/* The clip of that name, else of that number; PN_NONE. */
uint32_t pn_findClip(const pnAnimFile *file, const char *word);
/* The names of a file's animations, for below a message that there is none of some name. */
void pn_printClips(FILE *stream, const char *path, const pnAnimFile *file);

/* An error (PN_ERROR_UNSUPPORTED) for a file of a program that pinch does not read, with what it is and how to get a glTF
 * file from it; PN_OK for all others, also for those that are not there. */
pnResult pn_refuseForeign(const char *path);

#endif
