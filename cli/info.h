/* info.h: the parts of `pinch info`: mesh files (info.c) and glTF (info_anim.c). */
#ifndef PN_CLI_INFO_H
#define PN_CLI_INFO_H

#include "load.h"
#include "out.h"

/* A glTF file that is being shown. */
typedef struct pnAnimInfo {
  const char *path;
  pnAnimFile *file;
  pnLoadedList bodies; /* of its scene, at rest */
  pnBox box;           /* of all of them */
  json_t *head;        /* the file's JSON, for what the reader does not keep; null: not to be had */
} pnAnimInfo;

/* Prints it, or adds it to `files`. False after saying what is wrong. */
bool pn_showAnim(const char *path, bool weld, json_t *files);

/* {"min": [...], "max": [...]}, null for an empty one. */
json_t *pn_boxJson(const pnBox *box);

#endif
