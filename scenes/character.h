/* character.h: a character made by formula, for the demonstration, for tests and for the laboratory: a figure with a
 * skeleton of 25 joints, skinned and morphing, who walks in an open coat. The coat is a mesh of its own on the same
 * skeleton. At rest nothing touches; while it walks, hands and forearms brush the skirt of the coat in some strides and
 * sink into it in others.
 *
 * What comes out is an ordinary animated file (pinch/io.h): evaluate it, or save it as .glb for other programs.
 *
 *   bodies   "body"  closed; targets breathe, belly, fists          "coat"  open; targets breathe, belly, sway
 *   clips    "walk"  as long as asked for, no two strides alike     "idle"  four seconds, nothing touches
 *
 * Metres, y up, facing +z, walking on the spot. */
#ifndef PINCH_SCENES_CHARACTER_H
#define PINCH_SCENES_CHARACTER_H

#include "pinch/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnCharacterDef {
  uint32_t triangleCount; /* of both bodies together, 10000 to 120000, met within a few percent; default 20000 */
  float seconds;          /* length of the walk, 1 to 600; default 6 */
} pnCharacterDef;

pnCharacterDef pnDefaultCharacterDef(void);

/* Cost: about a second for 30000 triangles. Errors: PN_ERROR_ARGUMENT, PN_ERROR_MEMORY. Memory: malloc.
 * The file is the character's: free it with pnDestroyCharacter, not with pnFreeAnimFile. */
pnResult pnCreateCharacter(const pnCharacterDef *def, pnAnimFile **outFile);
void pnDestroyCharacter(pnAnimFile *file); /* null is allowed */

#ifdef __cplusplus
}
#endif

#endif
