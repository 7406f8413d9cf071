/* find.h: what the files of this room hand to one another.
 *
 *   finder.c    the finder and its bodies
 *   part.c      which parts of a mesh hang together, which are closed and which way they face
 *   frame.c     a frame on one page: from contacts to regions with depths
 *   meet.c      two triangles that meet: which edges pierce which triangle, by exact signs, and the segment between
 *   region.c    the pairs of a contact fall into regions
 *   patch.c     the piece of a surface that a region cuts off
 *   deep.c      the deepest point of such a piece
 *   share.c     the space that two closed parts share
 *   contain.c   parts wholly inside others
 *   publish.c   regions as the door has them
 *   curve.c     meeting segments in order: curves
 *   known.c     what was found once for all: regions at rest, and regions that one carrier carries
 *   crowd.c     regions at rest of which many have a vertex in common
 *   look.c      a frame that was looked at elsewhere: its regions as bytes, and back
 *   track.c     regions of frame after frame into findings
 *   kin.c       which findings a region goes on
 *   finding.c   findings in order, with names
 *   compare.c   findings beside those that are known
 *   passage.c   what meets between two frames and in neither
 *
 * A contact is looked at as a list of *meets*: pairs of triangles, sorted. Of a body with itself every pair is there twice, once
 * from either side, so that each meet has a near side (a) and a far side (b) and regions keep them apart.
 *
 * All sums are in double, in a fixed order, without functions that differ between machines. */
#ifndef PN_FIND_FIND_H
#define PN_FIND_FIND_H

#include "base/array.h"
#include "base/bytes.h"
#include "base/sort.h"
#include "base/task.h"
#include "collide/broad.h"
#include "query/near.h"
#include "mesh/pose.h"
#include "pinch/find.h"

/* ---------------------------------------------------------------- bodies */

/* Triangles that hang together over edges. */
typedef struct pnPart {
  uint32_t vertex;                       /* one of its vertices, the first of its first triangle */
  uint32_t triangleFirst, triangleCount; /* the first is in the body's partTriangles */
  bool closed;                           /* every edge balanced, and a volume that is not 0 */
  bool solid;                            /* closed, or nearly: one can say what is inside */
  bool outward;                          /* solid: its triangles face outward at rest */
  uint32_t vertexFirst, vertexCount;     /* closed: its vertices (representatives), in the body's partVertices */
  uint32_t carrier;                      /* of all its triangles; PN_NONE: there is none */
  double extent;                         /* the square root of its area at rest: how large it is among others */
} pnPart;

typedef struct pnFinderBody {
  pnTree *tree;
  const pnPose *pose;
  const pnMesh *mesh;
  char *name;
  uint32_t labelCount;
  uint32_t *labels;   /* one per triangle; null: none */
  char **labelNames;  /* null: their numbers */
  uint32_t *carriers; /* one per triangle; null: `carrier` for all */
  uint32_t carrier;
  uint32_t *partOf; /* one per triangle */
  pnPart *parts;
  uint32_t partCount, closedCount;
  uint32_t *partVertices;  /* vertexCount; those of closed parts, part after part */
  uint32_t *partTriangles; /* triangleCount, part after part; null where there is one part only */
  double diagonal;         /* of the box at rest */
  uint32_t *restFirst;     /* one a vertex: first entry of its rest regions; null: none is in any */
  uint32_t *carriedFirst;  /* one a triangle: first entry of its carried regions; null: none is in any */
} pnFinderBody;

PN_INLINE uint32_t pn_carrierOf(const pnFinderBody *body, uint32_t triangle) {
  return body->carriers ? body->carriers[triangle] : body->carrier;
}
PN_INLINE uint32_t pn_labelOf(const pnFinderBody *body, uint32_t triangle) {
  return body->labels ? body->labels[triangle] : PN_NONE;
}
/* The representative of corner k of a triangle. */
PN_INLINE uint32_t pn_cornerOf(const pnMesh *mesh, uint32_t triangle, uint32_t k) {
  return mesh->weld[mesh->triangles[3 * (size_t)triangle + k]];
}

/* Fills partOf and parts but for carriers; these after they have changed. */
pnResult pn_findParts(pnFinderBody *body);
void pn_carryParts(pnFinderBody *body);

/* ---------------------------------------------------------------- meets */

/* An edge of one triangle goes through the other. Ends are representatives, u < w. */
typedef struct pnPierce {
  uint32_t u, w;
  double t;      /* how far along from u to w, 0 to 1 */
  bool ofFar;    /* an edge of b; else of a */
  bool uIsAbove; /* u is on the side that the other triangle faces */
} pnPierce;

typedef struct pnMeet {
  uint32_t a, b;
  uint32_t region; /* of the contact; PN_NONE: the other copy of this pair has it */
  bool mirrored;   /* a body with itself: its region has a and b the other way round */
  bool carried;
  uint8_t pierceCount; /* 2 in general */
  uint8_t endCount;    /* 2: a segment; 1: a point; 0: they lie on each other */
  bool isTouch;        /* nothing is pierced: they touch, and another pair has the curve if there is one */
  pnPierce pierce[4];
  double end[2][3];
} pnMeet;

/* Fills what is not known of meets[begin ... end - 1] but region and mirrored. */
void pn_lookAtMeets(const pnFinderBody *a, const pnFinderBody *b, pnMeet *meets, size_t begin, size_t end);

/* ---------------------------------------------------------------- what is worked out of a contact */

/* An edge of one side that is pierced by a part of the other: what is next to its ends. */
typedef struct pnMark {
  uint32_t u, w;             /* u == w: this place of the table is free */
  uint32_t part;             /* of the other side */
  uint32_t ofFar;            /* edge of body b (of a body with itself: always 0) */
  double tU, tW;             /* of the crossing nearest to u, and to w */
  uint32_t regionU, regionW; /* whose crossings these are, and on which side of it the edge is: 2 * region + far */
  bool uIsAbove, wIsAbove;
} pnMark;

/* Vertices of one side that hang together and are beyond the other surface: outer ones first. */
typedef struct pnFlood {
  uint32_t vertexFirst, vertexCount; /* into the contact's vertices */
  uint32_t region;
  uint32_t next; /* of the same patch; PN_NONE: no more */
} pnFlood;

/* Sums over a piece of surface, seen from a point near it. */
typedef struct pnShare {
  bool known;
  double volume;  /* between it and the point */
  double area[3]; /* its vector area: what it faces away from */
  double total;   /* its area */
} pnShare;

/* What a region cuts off of one side: a piece of surface to look for the deepest point on. */
typedef struct pnPatch {
  uint32_t region;       /* and all with this root */
  bool ofFar;            /* of b's surface, and how deep in a; else the other way round */
  bool isInside;         /* inside a closed part; else it stands through a sheet */
  bool isAbove;          /* on the side that the other's triangles face */
  bool isWhole;          /* a whole part, contained */
  uint32_t flood;        /* the first; PN_NONE: only what is within the crossing triangles */
  pnDepth depth;         /* the answer */
  pnShare share;         /* inside a closed part: its part of the surface of what is shared */
  uint32_t onto;         /* and the triangle of the other surface that its arrow ends on */
  uint32_t nextOfRegion; /* once all are there; PN_NONE: no more */
} pnPatch;

typedef PN_ARRAY(uint64_t) pnKeys;
typedef PN_ARRAY(pnKeyValue) pnKeyValues;
typedef PN_ARRAY(uint32_t) pnNumbers;

/* The place of the first number of a sorted list, from place `low` on, that is not smaller. */
PN_INLINE size_t pn_lowerNumber(const pnNumbers *list, size_t low, uint32_t number) {
  PN_FIND_PLACE(low, list->count, list->data[middle] < number)
  return low;
}

/* The place of the first key of a sorted list that is not smaller. */
PN_INLINE size_t pn_lowerKey(const uint64_t *keys, size_t count, uint64_t key) {
  size_t low = 0;
  PN_FIND_PLACE(low, count, keys[middle] < key)
  return low;
}

/* A region while it is being worked out. */
typedef struct pnDraft {
  size_t meetFirst, meetCount; /* into the contact's `order` */
  uint32_t partA, partB;       /* of its first meet */
  bool carried;
  uint8_t leaks;     /* bits for its sides: a flood from there ran out, and what is inside is not known */
  bool selfMirrored; /* of a body with itself: one side runs into the other */
  uint32_t root;     /* the region it is one with, by a common patch */
  uint32_t next;     /* the next one of that; PN_NONE: no more */
  double curveLength;
  double centre[3]; /* of the segments, times length */
  pnBox box;
  uint32_t inner;
  uint32_t firstPatch; /* once all are there; PN_NONE: it has none */
} pnDraft;

typedef struct pnContactWork {
  uint32_t a, b;
  bool self;
  PN_ARRAY(pnMeet) meets;
  PN_ARRAY(uint32_t) order; /* meets by region */
  PN_ARRAY(pnDraft) drafts;
  PN_ARRAY(pnMark) marks; /* a hash table of markSize places, a power of two */
  size_t markSize;
  PN_ARRAY(pnKeyValue) seeds; /* by 2 * region + far: twice the vertex at a crossing, and 1 more when it is above */
  PN_ARRAY(pnFlood) floods;
  PN_ARRAY(uint32_t) vertices;
  PN_ARRAY(pnPatch) patches;
  bool outOfMemory;
} pnContactWork;

/* Fills the meets of a contact but for what pn_lookAtMeets knows; `keys` is memory. */
pnResult pn_takePairs(const pnFinder *finder, const pnFinderContact *contact, pnContactWork *work, pnKeys *keys);

/* Meets into regions: order and drafts. False: out of memory. */
bool pn_findRegions(const pnFinder *finder, pnContactWork *work);

/* ---------------------------------------------------------------- memory of a worker */

/* A vertex of a patch while the deepest is sought. */
typedef struct pnDeepVertex {
  double p[3];
  double distance2;  /* not more than this from the other surface, squared */
  uint32_t triangle; /* of which it is that far */
  uint32_t vertex;
} pnDeepVertex;

/* A triangle, or a piece of one, on which the deepest point may be. */
typedef struct pnDeepCell {
  double p[3][3];
  double most; /* no point of it is deeper */
  uint32_t triangle;
  uint32_t hint; /* a triangle of the other surface that is not far */
  bool isKnown;  /* wholly on the side that counts */
} pnDeepCell;

typedef struct pnFindScratch {
  uint32_t *vertexStamps, *vertexPlaces; /* of the largest body */
  uint32_t *triangleStamps;
  uint32_t stamp;
  PN_ARRAY(pnDeepVertex) deep;
  PN_ARRAY(pnDeepCell) cells;
  PN_ARRAY(uint32_t) queue[2];
  pnKeyValues
      crossings; /* triangles of one side, and their meets; while floods run: parts, and regions that ask about them */
  pnFresh fresh;
} pnFindScratch;

/* A stamp that no vertex and no triangle has, and `more` after it. */
uint32_t pn_newStamps(const pnFinder *finder, pnFindScratch *scratch, uint32_t more);

/* What regions cut off: floods and patches, and drafts that are one by a common patch. False: out of memory. */
bool pn_findPatches(const pnFinder *finder, pnContactWork *work, pnFindScratch *scratch);

/* Parts wholly inside others, as regions without meets: adds works and drafts and patches. */
pnResult pn_findContained(pnFinder *finder);

/* The diagonal of a box; 0 of an empty one. */
double pn_diagonalOf(pnBox box);

/* Lengths for two bodies: the tolerance of depths, and how far apart regions are still one. */
double pn_stepOf(const pnFinder *finder, uint32_t a, uint32_t b);
double pn_reachOf(const pnFinder *finder, uint32_t a, uint32_t b);

/* A patch as a dive has laid it out: its vertices in the scratch's `deep`, with their places, and its crossing triangles. */
typedef struct pnPatchView {
  const pnContactWork *work;
  const pnPatch *patch;
  const pnFindScratch *scratch;
  const pnFinderBody *own, *other;
  uint32_t crossing, inner; /* stamps of crossing triangles and of the patch's vertices */
} pnPatchView;

/* The sums over a patch that is inside a closed part. */
pnShare pn_measureShare(const pnPatchView *view);
/* The space shared in a region, from the patches of both its sides; negative: not known. */
double pn_sharedVolume(const pnFinder *finder, const pnContactWork *work, uint32_t region);

/* The deepest point of a patch. False: out of memory. */
bool pn_findDeepest(const pnFinder *finder, const pnContactWork *work, pnPatch *patch, pnFindScratch *scratch);

/* ---------------------------------------------------------------- the finder */

/* ---------------------------------------------------------------- what is known once for all */

/* A region that meets at rest. Its vertices on either side are in the bodies' lists. */
typedef struct pnRestRegion {
  uint32_t a, b; /* a <= b */
  uint32_t inner;
  double depth;
  uint32_t touched;      /* while a region is compared: bits for its sides */
  uint32_t nextTouched;  /* and the next one that has bits */
  size_t vertexFirst[2]; /* into restVertices: those of either side, ascending */
  size_t vertexCount[2];
  bool byPairs; /* it is known by pairs of its vertices (crowd.c) */
} pnRestRegion;

/* Vertex `vertex` of a body belongs to side `side` of a rest region; the next one of the same vertex, and how many there are from here on. */
typedef struct pnRestEntry {
  uint32_t region, side, next, count;
  uint32_t other,
      otherCount; /* the first one from here on whose region is not known by pairs, and how many there are */
} pnRestEntry;

/* How deep the deepest rest region is that has this vertex of a and that one of b, among those that are known by pairs. */
typedef struct pnRestPair {
  uint32_t a, b; /* a is PN_NONE: nothing is in this place of the table */
  uint32_t vertexA, vertexB;
  double depth;
} pnRestPair;

/* Different vertices of one side of a region, if they are few; a count above that says they are not. */
#define PN_FEW_VERTICES 16u
typedef struct pnFewVertices {
  uint32_t count, vertex[PN_FEW_VERTICES];
} pnFewVertices;

/* The same of a triangle and the carried regions it is in. */
typedef struct pnCarriedEntry {
  uint32_t region, next, count;
} pnCarriedEntry;

/* A region whose two sides have one carrier, when it was first seen. Lists are sorted, a <= b. */
typedef struct pnCarriedRegion {
  uint32_t a, b;
  pnNumbers triangles[2];
  pnDepth depth;
  double volume;
  uint32_t own, onto;          /* the triangles that its arrow leaves from and ends on */
  double fromAt[2], ontoAt[2]; /* where on them */
} pnCarriedRegion;

/* ---------------------------------------------------------------- sights */

/* What is needed of a region beside what the door has: to know it again at rest, in the next frame and in later ones. With it the
 * meshes' poses are not needed any more, so that regions may come from another process (look.c). */
typedef struct pnSight {
  uint32_t partA, partB;   /* of the region's a and b */
  size_t triangleFirst[2]; /* into sightTriangles: those of a and those of b, ascending, each once */
  uint32_t triangleCount[2];
  double restDepth;            /* 0: it is not there at rest */
  bool isMeasured;             /* its depth was measured in this frame; else an earlier one has it (carried) */
  uint32_t own, onto;          /* carried: the triangles that its arrow leaves from and ends on; PN_NONE: no arrow */
  double fromAt[2], ontoAt[2]; /* where on them */
} pnSight;

/* ---------------------------------------------------------------- tracks */

/* Where a region was, to know it in the next frame. */
typedef struct pnTrace {
  pnBox box;
  bool atRest;
  bool contained;
  uint32_t partA, partB; /* of the smaller and of the larger body */
} pnTrace;

typedef PN_ARRAY(pnTrace) pnTraces;

/* A finding while it is made. */
typedef struct pnTrack {
  pnFinding finding; /* without its lists */
  bool carried;
  bool atRest; /* one of its regions is there at rest */
  bool isOver;
  bool isSeen;                      /* in this frame */
  PN_ARRAY(pnLabelCount) labels[2]; /* ascending by label */
  PN_ARRAY(pnFindingSample) samples;
  uint32_t stride;    /* frames a sample stands for */
  uint32_t lastCount; /* those that the last one stands for so far */
  double place[2][3], weight;
  pnTraces traces[2];        /* of the frame it was last seen in, and of this frame */
  pnNumbers triangles[2][2]; /* of the same, on either side, sorted */
  pnFindingSample now;       /* of this frame */
} pnTrack;

/* A patch to dive into. */
typedef struct pnDiveItem {
  uint32_t work, patch;
  bool good; /* there was memory */
} pnDiveItem;

/* Meets of a contact to be looked at by one worker. */
typedef struct pnMeetItem {
  uint32_t work;
  size_t begin, end;
} pnMeetItem;

/* Part `part` of body `inner` is wholly inside part `around` of body `outer`. */
typedef struct pnNest {
  uint32_t inner, part, outer, around;
  uint32_t rank; /* so many others around the part are smaller; known once there are too many */
  double size;   /* about how large `around` is; 0 without a limit */
} pnNest;

typedef PN_ARRAY(pnNest) pnNests;

/* A published region is this draft. */
typedef struct pnRegionSource {
  uint32_t work, draft;
} pnRegionSource;

typedef struct pnWorkOrder {
  uint64_t key;
  uint32_t work;
} pnWorkOrder;

/* As pn_lowerKey, of a list in the order of pn_compareOrder: where a key begins, or would. */
PN_INLINE size_t pn_lowerOrder(const pnWorkOrder *list, size_t count, uint64_t key) {
  size_t low = 0;
  PN_FIND_PLACE(low, count, list[middle].key < key)
  return low;
}

/* A region of this frame, as tracks see it. */
typedef struct pnNewcomer {
  const pnRegion *region;
  uint32_t a, b; /* a <= b */
  pnTrace trace;
  pnNumbers triangles[2]; /* of the finder's memory, to be read only */
  double reach;
} pnNewcomer;

/* A region of this frame or of a track's last one. Berths are places of tracks, which stay where they are during a frame. */
typedef struct pnKinItem {
  pnTrace trace;
  bool carried;
  uint32_t berth; /* PN_NONE: it has no track yet */
} pnKinItem;

typedef struct pnKinNode {
  pnBox box;
  uint32_t owner; /* the berth of all below it; PN_NONE: nobody has one; PN_NONE - 1: several */
} pnKinNode;

#define PN_KIN_LEVELS 33

/* Two by two, up to one; level 0 are the items. */
typedef struct pnKinTree {
  uint32_t levelFirst[PN_KIN_LEVELS]; /* into the nodes */
  uint32_t levelCount, count;
} pnKinTree;

/* A track had a triangle, when it was last seen (0) or in this frame (1). */
typedef struct pnKinEntry {
  uint32_t berth, next, count; /* count: how many there are from here on, or were */
  uint32_t when;
  size_t place; /* of its head */
} pnKinEntry;

/* Of a berth: was it found or asked for this region, and met in this list? */
typedef struct pnKinMarks {
  uint32_t found, asked[2], listed[2];
} pnKinMarks;

/* See kin.c. */
typedef struct pnKin {
  PN_ARRAY(pnKinItem) items;
  uint32_t comerFirst; /* the first of this frame */
  double reach;
  PN_ARRAY(pnWorkOrder) order; /* items by kind and place */
  PN_ARRAY(pnKinNode) nodes;
  PN_ARRAY(uint32_t) perchOf;         /* of an item: where it is in its tree */
  pnKinTree trees[4];                 /* twice carried, and at rest */
  PN_ARRAY(pnWorkOrder) parts, pairs; /* items by their parts; tracks that are not over by their bodies */
  PN_ARRAY(pnKinEntry) entries;
  PN_ARRAY(uint32_t) heads; /* four a triangle: twice carried, and side */
  PN_ARRAY(uint32_t) up;    /* of a berth the one it was joined with, or itself */
  PN_ARRAY(pnKinMarks) marks;
  uint32_t stamp, walk; /* from 1 on in every frame */
  pnNumbers found;
} pnKin;

/* An end of a meeting segment while curves are joined. */
typedef struct pnCurveEnd {
  float p[3];
  uint32_t segment; /* twice its number, and 1 more for its second end */
} pnCurveEnd;

struct pnFinder {
  pnFinderDef def;
  PN_ARRAY(pnFinderBody) bodies;
  PN_ARRAY(uint64_t) unwanted; /* pairs of bodies not looked at for containment, a << 32 | b with a < b, ascending */
  pnWantedRule wantedRule;     /* null: all others are looked at */
  void *wantedContext;
  bool begun;                                     /* a frame was added: no more bodies */
  uint32_t vertexCount, triangleCount, partCount; /* of the largest body */

  /* the frame */
  pnFindScratch *scratches; /* one a worker */
  uint32_t scratchCount;
  pnWindings windings; /* partCount */
  pnNumbers wholes;    /* two a part: the patch of what is inside it, what is carried second; PN_NONE: nothing */
  pnBroadPhase broad;  /* bodies with closed parts */
  pnNests nests;       /* what is wholly inside what */
  size_t nestMark;     /* beyond so many, those that are not close are left out again */
  uint64_t nestCost;   /* of listing them */
  bool nestsLimited;   /* there are more than are wanted */
  pnKeys keys;
  PN_ARRAY(pnContactWork) works; /* their arrays are kept from frame to frame */
  size_t workCapacity;           /* works that were ever begun */
  PN_ARRAY(pnMeetItem) meetItems;
  PN_ARRAY(pnDiveItem) diveItems;

  PN_ARRAY(pnWorkOrder) workOrder;
  pnNumbers numbers;

  /* its regions */
  PN_ARRAY(pnRegionSource) sources;
  PN_ARRAY(pnSight) sights; /* one a region */
  pnNumbers sightTriangles;
  PN_ARRAY(char) look; /* the frame as bytes */
  PN_ARRAY(pnRegion) regions;
  PN_ARRAY(pnPair) regionPairs;
  PN_ARRAY(pnLabelCount) regionLabels;
  PN_ARRAY(pnCurve) curves;
  PN_ARRAY(pnVec3) curvePoints;
  PN_ARRAY(pnCurveEnd) curveEnds;

  /* what is known once for all */
  bool hasRest;
  bool restHasInner; /* one of the rest regions has a part inside another and no pairs */
  PN_ARRAY(pnRestRegion) rests;
  PN_ARRAY(pnRestEntry) restEntries;
  PN_ARRAY(pnRestPair) restPairs; /* a power of two of places, or none */
  pnNumbers restVertices;
  PN_ARRAY(pnCarriedRegion) carried;
  PN_ARRAY(pnCarriedEntry) carriedEntries;

  pnKin kin;
  PN_ARRAY(pnNewcomer) comers;

  /* the frames so far */
  bool hasFrame;
  int64_t lastNumber;
  double lastTime;
  PN_ARRAY(pnTrack) tracks;    /* ascending by number */
  PN_ARRAY(uint32_t) numberOf; /* of each number ever given the smaller one it was joined with, or itself */
  uint32_t droppedCount;
  PN_ARRAY(pnFinding) findings;
  PN_ARRAY(pnLabelCount) findingLabels;
};

/* A frame, step by step: is it in order, its regions and their sights, its end with the result so far. */
pnResult pn_checkOrder(const pnFinder *finder, const pnFinderFrame *frame);
pnResult pn_lookAtFrame(pnFinder *finder, const pnFinderFrame *frame);
pnResult pn_endFrame(pnFinder *finder, const pnFinderFrame *frame, pnResult result);
void pn_forgetFrame(pnFinder *finder); /* there are no regions */

/* Frees what frames have. */
void pn_freeFrame(pnFinder *finder);
void pn_freeKnown(pnFinder *finder, bool rest);
void pn_freeTracks(pnFinder *finder);

/* Is the depth of this region known from an earlier frame? */
bool pn_isKnownDepth(const pnFinder *finder, const pnContactWork *work, uint32_t region);

/* Drafts into regions, and the beginnings of their sights. */
pnResult pn_publishRegions(pnFinder *finder, const pnFinderFrame *frame);
/* The triangles of one side of a region, ascending, each once, into `out`. */
bool pn_listTriangles(const pnContactWork *work, uint32_t region, bool far, pnNumbers *out);
void pn_sortLabels(pnLabelCount *labels, size_t count); /* most first */
int pn_compareOrder(const void *p, const void *q);      /* for qsort: pnWorkOrder, ascending by key, then by work */
int pn_compareNumbers(const void *p, const void *q);    /* for qsort: uint32_t, ascending */
/* finding.c: FNV-1a, over the text and its end, so that "ab", "c" is not "a", "bc"; the first begins with PN_HASH_BEGIN. */
#define PN_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t pn_hashText(uint64_t hash, const char *text);
/* deep.c: the corners of a triangle where they are now. */
void pn_fetchTriangle(const pnFinderBody *body, uint32_t t, double out[3][3]);
/* The curves of a region. */
bool pn_joinCurves(pnFinder *finder, const pnContactWork *work, uint32_t region, pnRegion *out);

/* The regions of the frame as those at rest. */
pnResult pn_keepRest(pnFinder *finder);
/* Rest regions of few vertices whose vertices are in more than `crowd` of them, on both sides, become known by pairs. False: out of memory. */
bool pn_settleCrowds(pnFinder *finder, uint32_t crowd);
void pn_addFew(pnFewVertices *few, uint32_t vertex);
/* How deep the deepest of these is that has a vertex of both sides; negative: there is none, or no table. */
double pn_deepestOfPairs(const pnFinder *finder, uint32_t a, uint32_t b, const pnFewVertices sides[2]);
/* The rest of the sights: which regions are there at rest too, and where the arrows of those that are carried stand. */
void pn_recognise(pnFinder *finder);
/* Gives carried regions the depths they had when they were first seen, and remembers those that are new. PN_ERROR_KIND, and
 * nothing is changed: one of them is neither measured nor known. */
pnResult pn_recallCarried(pnFinder *finder);
/* Once a frame: what there is of tracks. Then for the regions of two bodies, all at once: begin; for each, the berths of the tracks that
 * it goes on, ascending, and what became of it; end. False: out of memory. */
bool pn_prepareKin(pnFinder *finder);
bool pn_addKinBerth(pnFinder *finder); /* a new track: the next berth */
bool pn_beginKin(pnFinder *finder, const pnNewcomer *comers, size_t count);
const pnNumbers *pn_findKin(pnFinder *finder, const pnNewcomer *comer);
bool pn_ownKin(pnFinder *finder, const pnNewcomer *comer, size_t i, uint32_t berth); /* the i-th since begin */
void pn_endKin(pnFinder *finder);
void pn_freeKin(pnFinder *finder);
/* The regions of the frame into findings. */
pnResult pn_trackRegions(pnFinder *finder, const pnFinderFrame *frame);

/* A new work for two bodies, empty; null without memory. */
pnContactWork *pn_addWork(pnFinder *finder, uint32_t a, uint32_t b);

/* Works by bodies, whatever order the contacts came in. False: out of memory. */
bool pn_orderWorks(pnFinder *finder);

/* A draft that has no meets yet. */
pnDraft pn_beginDraft(const pnContactWork *work, uint32_t partA, uint32_t partB, bool carried);

/* A copy of a text; null for null or without memory. Freed with pn_freeText. */
char *pn_copyText(const char *text);
void pn_freeText(char *text);

#endif
