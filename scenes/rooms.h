/* rooms.h: places for characters to walk in, by formula. [Mujika, section 6]: few triangles larger than a person and many
 * small ones. Metres, y up, the floor at y = 0. The same bits on every machine. */
#ifndef PINCH_SCENES_ROOMS_H
#define PINCH_SCENES_ROOMS_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pnRoom {
  PN_ROOM_MUSEUM, /* about 9 500 vertices: a hall of 24 by 16 by 6 with slanted partitions, pillars and four sculptures */
  PN_ROOM_LIVING, /* about 133 000: a room of 8 by 6 by 3 with a slanted ceiling, sofas, table, lamp, vases, curtains */
  PN_ROOM_COUNT
} pnRoom;

/* Errors: PN_ERROR_ARGUMENT, PN_ERROR_MEMORY. */
pnResult pnCreateRoom(pnRoom room, pnMesh **outMesh);

/* Where a walker stands at a moment, `walk` from 0 to 1: along a slanted wall of the room, two centimetres from touching it
 * at the closest. A rigid map. */
pnMatrix pnRoom_Walk(pnRoom room, double walk);
/* A place for one of `count` walkers, apart from walls, every second pair close enough to touch. */
pnMatrix pnRoom_Place(pnRoom room, uint32_t index, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
