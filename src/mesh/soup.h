/* soup.h: primitives without topology, as trees see them.
 *
 * A soup keeps its primitives by *place*. A place has nine floats (segments and points repeat their last corner, so that every
 * test sees a triangle), the number of its corners and a generation that is odd while the place is taken. Dead places
 * form a list. To everything to the right a soup is a mesh and a pose whose triangle number is the place: vertex 3p + k
 * is corner k of place p. The arrays a mesh needs for that are the numbers 0, 1, 2, ... (triangles and ring offsets, and
 * welds while no corner has a name: soup_name.c), the numbers divided by three (rings) and PN_NONE (neighbours). */
#ifndef PN_MESH_SOUP_H
#define PN_MESH_SOUP_H

#include "geom/simd.h"
#include "mesh/pose.h"

#define PN_MAX_PLACES (1u << 26) /* three corners of 16 bytes a place stay below 2^32, in which trees find them */

/* Names are given below PN_MAX_NAMES; cuts and fusing make more, below PN_NAMED, which marks them among the numbers of corners. */
#define PN_MAX_NAMES (1u << 30)
#define PN_NAMED (1u << 31)

/* A vertex that a cut made on the edge between two names u <= v, at these coordinates (their bits). A hash table of them; name
 * PN_NONE: the cell is empty. */
typedef struct pnCutVertex {
  uint32_t u, v, at[3], name;
} pnCutVertex;
typedef struct pnCutVertices {
  pnCutVertex *cells;
  size_t room, count; /* room is a power of two */
} pnCutVertices;

struct pnSoup {
  pnMesh mesh;
  pnPose pose;
  uint32_t capacity, placeCount, liveCount;
  uint32_t freeHead;      /* first dead place, PN_NONE: none */
  float *positions;       /* 9 a place, and one float that may be read */
  uint32_t *generation;   /* odd: alive */
  uint32_t *nextFree;     /* of dead places */
  uint8_t *corners;       /* 1, 2, 3; 0: dead */
  uint32_t triangleCount; /* living primitives with three corners */
  uint32_t *changed;      /* the frame (its lower 32 bits) in which the place was last taken, given up or replaced */
  uint64_t changedLast;   /* the latest of them, in full */
  uint32_t *numbers;      /* 0 ... 3 * capacity */
  bool bare;              /* without the next two: nobody asks its mesh who is next to whom */
  bool isView;            /* positions and numbers are those of a pose and its mesh (pn_createView) */
  uint32_t *thirds;       /* 0 0 0 1 1 1 ... */
  uint32_t *nobody;       /* PN_NONE, 3 a place */
  uint32_t *names;        /* 3 a place: PN_NAMED + the name, or the corner's own number; null: nothing has a name */
  uint32_t nameEnd;       /* all names are below */
  pnCutVertices cuts;
};

/* The corners of a place, four floats each, of which the last says nothing; for loops that know whether it is a view's. */
PN_INLINE void pn_loadPlaceOf(const pnSoup *soup, bool isView, uint32_t place, pnF4 out[3]) {
  if (isView) {
    const uint32_t *v = soup->numbers + 3 * (size_t)place;
    for (int k = 0; k < 3; ++k) out[k] = pn_f4Load(soup->positions + 3 * (size_t)v[k]);
  } else {
    const float *p = soup->positions + 9 * (size_t)place;
    for (int k = 0; k < 3; ++k) out[k] = pn_f4Load(p + 3 * k);
  }
}

PN_INLINE void pn_loadPlace(const pnSoup *soup, uint32_t place, pnF4 out[3]) {
  pn_loadPlaceOf(soup, soup->isView, place, out);
}
PN_INLINE void pn_prefetchPlace(const pnSoup *soup, uint32_t place) {
  size_t first = soup->isView ? soup->numbers[3 * (size_t)place] : 3 * (size_t)place;
  __builtin_prefetch(soup->positions + 3 * first);
}

PN_INLINE bool pn_isAlive(const pnSoup *soup, uint32_t place) {
  return soup->generation[place] & 1;
}

/* The soup of a pose that pnSoup_GetPose gave. */
PN_INLINE const pnSoup *pn_soupOfPose(const pnPose *pose) {
  return (const pnSoup *)(const void *)((const char *)pose - offsetof(pnSoup, pose));
}

/* soup.c. After arrays, counts or names changed: mesh and pose, whose frame is a new one. */
void pn_touchSoup(pnSoup *soup);
/* pnCreateSoup; `bare`: of which only the world knows, and which it asks for pairs with others alone. */
pnResult pn_createSoup(const pnSoupDef *def, bool bare, pnSoup **outSoup);
/* A bare soup of all triangles of a mesh that reads the vertices of a plain pose where they are; and the same after these changed, or are
 * somewhere else. Nothing may be added to it, or taken away. */
pnResult pn_createView(const pnPose *pose, pnSoup **outSoup);
void pn_touchView(pnSoup *soup, const pnPose *pose);
/* So many triangles more. Their corners are written to soup->positions by whoever asks, who then touches the soup. */
pnResult pn_addTriangles(pnSoup *soup, uint32_t count);
pnResult pn_failId(const pnSoup *soup, pnPrimitiveId id, uint32_t entry);

/* soup_name.c. The array, for all places there is room for. */
pnResult pn_needNames(pnSoup *soup);
/* The names of the corners of a place, PN_NONE: none. Writing needs the array. */
void pn_writeNames(pnSoup *soup, uint32_t place, const uint32_t names[3]);
void pn_readNames(const pnSoup *soup, uint32_t place, uint32_t out[3]);
/* The corners of a place have none any more. */
void pn_forgetNames(pnSoup *soup, uint32_t place);
/* Array and vertices of cuts. */
void pn_freeNames(pnSoup *soup);
size_t pn_namesByteCount(const pnSoup *soup);
/* Memory and names for one cut; then the vertex that it makes on the edge between names u and v. */
pnResult pn_reserveCut(pnSoup *soup);
uint32_t pn_nameOfCut(pnSoup *soup, uint32_t u, uint32_t v, const float at[3]);
/* Before a fuse: memory and numbers, so that it cannot fail. After it: what cuts made, and the end of names. Between the two a name of
 * `from` is its number plus into->nameEnd: nothing of one becomes a neighbour of the other. */
pnResult pn_reserveFusedNames(pnSoup *into, const pnSoup *from);
void pn_fuseCuts(pnSoup *into, pnSoup *from);

#endif
