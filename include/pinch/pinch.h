/* pinch: exact, fast collision detection for triangle meshes that deform.
 *
 * The map. A room includes itself and the rooms before it:
 *
 *   base.h     results, hooks, tasks                       knows nothing of geometry
 *   geom.h     exact questions about points and triangles
 *   mesh.h     what the triangles are, how they move, where they are now
 *   tree.h     volumes over a mesh: build, update
 *   collide.h  which triangles meet, and when
 *   query.h    what is closest, what a ray hits, what is in a box, how far apart
 *   volume.h   how much space two closed meshes share
 *   find.h     from pairs to findings: regions, depth, tracks
 *   world.h    bodies by id, the frame, contacts          <- most programs need only this
 *
 * lab.h (experimental: baselines and comparisons) is included by who wants it;
 * io.h (files) and device.h (the frame on a GPU) are libraries of their own.
 */
#ifndef PINCH_PINCH_H
#define PINCH_PINCH_H

#include "pinch/base.h"
#include "pinch/collide.h"
#include "pinch/find.h"
#include "pinch/geom.h"
#include "pinch/mesh.h"
#include "pinch/query.h"
#include "pinch/tree.h"
#include "pinch/volume.h"
#include "pinch/world.h"

#endif
