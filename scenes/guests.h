/* guests.h: skinned characters made by others, out of glTF files, brought to metres so that they can walk in rooms
 * (rooms.h). What of a file has no skin stays at home. The files are not part of the project: see pnGuest_List. */
#ifndef PINCH_SCENES_GUESTS_H
#define PINCH_SCENES_GUESTS_H

#include "pinch/io.h"
#include "rooms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One mesh of a guest. */
typedef struct pnGuestPart {
  pnMesh *mesh;
  pnMorph *morph; /* null: none */
  pnSkin *skin;
  uint32_t body, jointCount, targetCount; /* body: its number in the file */
} pnGuestPart;

typedef struct pnGuest {
  pnAnimFile *file;
  pnAnimState *state;
  uint32_t clip; /* the first with "walk" in its name, else the first; PN_NONE: the file has none */
  pnGuestPart *parts;
  uint32_t partCount;
  pnMatrix stand;   /* from the file's space to metres: soles at y = 0, in the middle of what the clip moves through */
  float side;       /* half its width there */
  pnMatrix *joints; /* room for those of any part */
} pnGuest;

/* Who is known: a path below the data folder, and how tall it should be in metres. Ends with a null path. */
typedef struct pnGuestName {
  const char *path;
  double height;
} pnGuestName;
const pnGuestName *pnGuest_List(void);

/* Errors: those of the reader; PN_ERROR_ARGUMENT when nothing in the file has a skin. */
pnResult pnCreateGuest(const char *path, double height, pnGuest *outGuest);
void pnDestroyGuest(pnGuest *guest); /* a zeroed one is allowed; poses of its parts must be gone */

/* A moment of the clip, 0 to 1; then the joints and weights of a part go into a pose of its mesh, morph and skin. */
pnResult pnGuest_Move(pnGuest *guest, double phase);
pnResult pnGuest_SetPose(const pnGuest *guest, uint32_t part, pnPose *pose);

/* Where it stands at a moment of a walk, two centimetres from the wall at the closest, or `into` metres nearer. */
pnMatrix pnGuest_Walk(const pnGuest *guest, pnRoom room, double walk, float into);

#ifdef __cplusplus
}
#endif

#endif
