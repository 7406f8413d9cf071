/* pinch/volume.h: how much space. How much do two closed bodies share, where, how deep, is one inside the other, and
 * which points lie inside a body?
 *
 * Surface tests (collide.h) answer "which triangles meet". They see nothing when one body is wholly inside another;
 * this room does.
 *
 * The method: a *layered depth image* (LDI). Look at the body along one axis through a square of pixels, and keep for
 * every pixel all depths where the line through its centre enters or leaves the body. Nothing is prepared ahead, so a
 * body may deform in any way from frame to frame.
 *
 *   pnLdi      the inside of one body: points inside, its own volume, where it overlaps itself
 *   pnOverlap  the space two bodies share: volume, centroid, containment, penetration depth, a mesh of it
 *
 * Bodies are poses of any kind. They must be closed and consistently oriented, see pnInsideRule.
 *
 * Every number comes with a bound that *contains* the truth: volumes are sampled at pixel centres, but the cells that
 * any surface touches are known too, and within a cell the truth can differ from the sample only there. The bounds
 * shrink in proportion to the size of a pixel. "The truth" is what exact arithmetic would say about the float
 * vertices, welded vertices counting as the first of them.
 *
 * Threads: an object may be changed (made, updated, measured afresh) by one thread at a time; what takes it const may be asked by
 * several together. Work inside a call is spread over `tasks`. The results are the same bits for any number of workers, on any machine.
 */
#ifndef PINCH_VOLUME_H
#define PINCH_VOLUME_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnLdi pnLdi;
typedef struct pnOverlap pnOverlap;
typedef struct pnGlRaster pnGlRaster; /* an OpenGL context that makes LDIs; see the end of this file */

/* What "inside" means. */
typedef enum pnInsideRule {
  /* The surface winds around the point (winding number not zero). Where a body overlaps itself it is still inside;
   * a hole is a surface that faces the other way. Needs every edge closed and its directions balanced, otherwise
   * PN_ERROR_OPEN_MESH or PN_ERROR_ORIENTATION with the first bad edge. */
  PN_INSIDE_WINDING,
  /* A line from outside crosses the surface an odd number of times. Orientation does not matter, and nothing is
   * refused: of an open mesh, layers without a partner are dropped, and no bound can be given (it is infinite). */
  PN_INSIDE_PARITY,
  PN_INSIDE_RULE_COUNT
} pnInsideRule;

/* What made an image. */
typedef enum pnBackend { PN_BACKEND_SOFTWARE, PN_BACKEND_OPENGL, PN_BACKEND_OPENCL } pnBackend;

/* Pixels per side. */
#define PN_MIN_RESOLUTION 16
#define PN_MAX_RESOLUTION 4096

/* ---------------------------------------------------------------- one body */

/* Which body to look at, and how finely. */
typedef struct pnLdiDef {
  const pnPose *pose;  /* the body; must outlive the image */
  uint32_t resolution; /* pixels per side, 16 to 4096; default 128 */
  pnInsideRule rule;   /* default PN_INSIDE_WINDING */
  bool bounds;         /* default true; false saves the pass that finds touched cells, and bounds are infinite */
  pnBox window;        /* what part of the world to look at; default (empty): the body's box at each update */
  pnTasks tasks;       /* default: the calling thread */
  pnGlRaster *gl;      /* default null: software. Must outlive the image, and its context must be usable here */
  uint32_t cookie;     /* PN_COOKIE, by pnDefaultLdiDef() */
} pnLdiDef;

PN_API pnLdiDef pnDefaultLdiDef(void);

/* Checks the mesh (once: O(n log n)); makes no image yet. */
PN_API pnResult pnCreateLdi(const pnLdiDef *def, pnLdi **outLdi);
PN_API void pnDestroyLdi(pnLdi *ldi); /* null is allowed */

/* Makes the image of the body where it is now. Does nothing while the pose has not changed. The queries below answer
 * for the last update. Cost: one pass over vertices and triangles, plus the layers written. */
PN_API pnResult pnLdi_Update(pnLdi *ldi);

/* What the last update made and what it cost. */
typedef struct pnLdiInfo {
  uint32_t resolution; /* pixels per side; less than asked only where the window is millions of times smaller than the
                            body and finer pixels would not be exact */
  uint32_t axis;       /* the image looks along this axis (0, 1, 2), towards larger coordinates: the shortest side */
  pnBox window;        /* what the pixels cover, rounded outward */
  double pixel[2];     /* size of a pixel in the world, along the axes axis+1 and axis+2 (modulo 3) */
  double depthStep;    /* depths are multiples of this */
  double snap;         /* vertices are rounded to a grid; no vertex moved farther than this */
  uint64_t layerCount; /* over all pixels */
  uint32_t maxLayers;  /* of one pixel: the depth complexity */
  uint32_t oddPixelCount; /* pixels with an odd number of layers; 0 for every closed mesh */
  pnBackend backend;
  bool reused;        /* nothing had moved, nothing was done */
  double prepareTime; /* seconds: positions and box */
  double layerTime;   /* seconds: the image */
  double boundTime;   /* seconds: the touched cells */
  size_t byteCount;   /* held by this object */
} pnLdiInfo;

/* Of the last update. */
PN_API pnLdiInfo pnLdi_GetInfo(const pnLdi *ldi);

/* One crossing of a pixel's line with the surface. */
typedef struct pnLayer {
  double depth; /* world coordinate along the axis of the image */
  bool entry;   /* the surface faces the viewer (winding rule); entries and exits alternate on a simple body */
} pnLayer;

/* Layers of pixel (x, y), ascending; returns how many there are and writes at most `capacity` of them. */
PN_API uint32_t pnLdi_GetLayers(const pnLdi *ldi, uint32_t x, uint32_t y, pnLayer *outLayers, uint32_t capacity);

/* Which of `count` points (3 floats each) lie inside: outInside[i] = 1 or 0. Needs no bounds pass.
 * The answer is that of the nearest pixel centre at the same depth, so it can be wrong only for points closer to the
 * surface than `error`. PN_ERROR_NUMBER names a point that is not finite. With an explicit window, points outside it
 * are answered 0. */
typedef struct pnInsideResult {
  uint64_t insideCount;
  double error; /* distance; half a pixel's diagonal plus snap and depth step */
  double time;  /* seconds */
} pnInsideResult;
PN_API pnResult pnLdi_TestPoints(const pnLdi *ldi, const float *points, uint32_t count, uint8_t *outInside,
                                 pnInsideResult *outResult);

/* The volume of the body itself. */
typedef struct pnVolumeResult {
  double volume;
  double volumeMin, volumeMax; /* the truth is in here */
  double error;                /* the larger distance from volume to those two */
  double centroid[3];          /* of that volume; the middle of the box when the volume is 0 */
  double centroidError;        /* the true one is no farther than this, in each coordinate */
  pnBox box;                   /* contains the inside, surely */
  uint64_t spanCount;
  double time; /* seconds */
} pnVolumeResult;
PN_API pnResult pnLdi_Measure(const pnLdi *ldi, pnVolumeResult *outResult);

/* Where a body overlaps itself or is turned inside out: the order of front and back faces is wrong there. On every line
 * the winding number should be 0 or 1 (0 or -1 when the whole mesh faces inward, which is noticed).
 * Not for PN_INSIDE_PARITY: PN_ERROR_KIND. */
typedef struct pnSelfOverlapResult {
  double volume;               /* of the places with a wrong winding number: both kinds below */
  double volumeMin, volumeMax; /* the truth is in here. Min > 0 is proof of self-overlap */
  double error;
  double doubledVolume;  /* the surface winds around twice or more */
  double invertedVolume; /* it winds around the wrong way */
  bool facesInward;      /* the mesh as a whole faces inward */
  int32_t minWinding, maxWinding;
  pnBox box; /* of the wrong places that were sampled; empty when none */
  double time;
} pnSelfOverlapResult;
PN_API pnResult pnLdi_FindSelfOverlap(const pnLdi *ldi, pnSelfOverlapResult *outResult);

/* ---------------------------------------------------------------- two bodies */

/* Which two bodies to compare, and how finely. */
typedef struct pnOverlapDef {
  const pnPose *poseA, *poseB; /* must outlive the object; may share a mesh */
  uint32_t resolution;         /* pixels per side, 16 to 4096; default 128 */
  pnInsideRule rule;           /* default PN_INSIDE_WINDING */
  bool bounds;                 /* default true */
  pnBox window;                /* measure only in this box; default (empty): everywhere */
  /* Default false: look exactly through the box the two share. True: through that box rounded up to a coarse grid (at
   * most a third wider a side), which stays the same while a body moves a little, so that the image of the body at
   * rest is used again. Still a function of the two poses alone. */
  bool steady;
  pnTasks tasks;
  pnGlRaster *gl;  /* default null: software */
  uint32_t cookie; /* PN_COOKIE, by pnDefaultOverlapDef() */
} pnOverlapDef;

PN_API pnOverlapDef pnDefaultOverlapDef(void);
/* Checks both meshes (once: O(n log n)); measures nothing yet. */
PN_API pnResult pnCreateOverlap(const pnOverlapDef *def, pnOverlap **outOverlap);
PN_API void pnDestroyOverlap(pnOverlap *overlap); /* null is allowed */

/* How two bodies stand to each other. */
typedef enum pnRelation {
  PN_RELATION_APART,   /* nothing shared */
  PN_RELATION_OVERLAP, /* something shared, neither inside the other */
  PN_RELATION_A_IN_B,  /* A wholly inside B */
  PN_RELATION_B_IN_A,
  PN_RELATION_COUNT
} pnRelation;

/* What was measured, how sure that is, and what it cost. Lengths are the caller's, times are in seconds. */
typedef struct pnOverlapResult {
  pnRelation relation; /* as sampled */
  bool certain;        /* the bounds prove the relation */
  double volume;
  double volumeMin, volumeMax; /* the truth is in here */
  double error;                /* the larger distance from volume to those two */
  double centroid[3];          /* of the shared volume; the middle of `box` when that is 0 */
  double centroidError;        /* in each coordinate */
  pnBox box;                   /* contains the shared space, surely; empty when there is surely none */
  uint64_t spanCount;          /* inside intervals that make up the volume */
  uint64_t layerCount[2];      /* of A and of B, over all pixels */
  uint32_t maxLayers[2];       /* of one pixel */
  uint32_t resolution;
  uint32_t axis; /* direction of view */
  bool aInFront; /* A is seen from the low end of the axis and B from the high end, or the other way round */
  pnBackend backend;
  bool reused[2];     /* the image of A, of B, was still good */
  double prepareTime; /* seconds, stage 1 of the paper: positions, boxes, volume of interest */
  double layerTime;   /* stage 2: the images */
  double boundTime;   /* the touched cells (no such stage in the paper) */
  double measureTime; /* stage 3 */
} pnOverlapResult;

/* Measures the shared space of the two poses as they are now. Nothing is rendered when their boxes do not overlap, and
 * a body's image is kept while it and the volume of interest stay the same. */
PN_API pnResult pnOverlap_Measure(pnOverlap *overlap, pnOverlapResult *outResult);

/* The intervals that make up the last measured volume, as segments in the world at the pixel centres, row by row;
 * returns how many there are and writes at most `capacity`. */
typedef struct pnSpan {
  pnVec3 begin, end;
} pnSpan;
PN_API uint64_t pnOverlap_GetSpans(const pnOverlap *overlap, pnSpan *outSpans, uint64_t capacity);

/* A mesh of the surface of the last measured volume, for viewing: the spans as square columns, walls only where a
 * column has no neighbour. It encloses exactly `volume`. The caller destroys it. */
PN_API pnResult pnOverlap_MakeMesh(const pnOverlap *overlap, pnMesh **outMesh);

/* How far must A be moved to be free of B? Tried are the six axis directions and both ways along the mean normal of the
 * contact (the direction in which the shared volume shrinks fastest). Among those, the least distance after which
 * the two bodies share nothing. It is never less than the least over *all* directions, and equal to it where that lies
 * along one of those tried (boxes, spheres, and anything resting on anything flat).
 * Measures afresh; makes two images for each of the four axes, so it costs about four times pnOverlap_Measure. */
typedef struct pnDepthResult {
  double depth;              /* 0 when the bodies are apart */
  double depthMin, depthMax; /* the truth for this direction is in here */
  double error;
  double direction[3]; /* unit; moving A by depth * direction frees it. 0 when apart */
  double normal[3];    /* unit mean normal of B's surface inside A; 0 when it cancels out */
  double time;
} pnDepthResult;
PN_API pnResult pnOverlap_FindDepth(pnOverlap *overlap, pnDepthResult *outResult);

/* ---------------------------------------------------------------- OpenGL (library pinch_gl) */

/* These four live in the library pinch_gl, which needs EGL; everything above does without. */

/* Where the OpenGL context comes from. */
typedef struct pnGlRasterDef {
  /* Default null: pinch makes a context of its own without a window (EGL; a graphics card if there is one, Mesa's
   * software driver otherwise) and makes it current only while it works. Otherwise the context that is current in the
   * calling thread is used, now and in every call that renders, and this looks up its functions. Its state is put
   * back. */
  void *(*getProcAddress)(const char *name);
  uint32_t device;  /* own context: which EGL device, counted from 0; default PN_NONE: the first that works */
  uint32_t maxSide; /* largest texture side to use; default 8192. Layers are tiled into one such texture */
  uint32_t cookie;  /* PN_COOKIE, by pnDefaultGlRasterDef() */
} pnGlRasterDef;

PN_API pnGlRasterDef pnDefaultGlRasterDef(void);
/* PN_ERROR_UNSUPPORTED when there is no EGL, no context or no packed depth-stencil texture. */
PN_API pnResult pnCreateGlRaster(const pnGlRasterDef *def, pnGlRaster **outRaster);
PN_API void pnDestroyGlRaster(pnGlRaster *raster);
/* The driver's name, as GL_RENDERER says. */
PN_API const char *pnGlRaster_GetName(const pnGlRaster *raster);

#ifdef __cplusplus
}
#endif

#endif
