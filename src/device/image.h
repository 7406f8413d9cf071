/* image.h: the layered depth image of a world's body, on the device; and what makes images and asks them.
 *
 * image.c makes images, ldi.c asks one, overlap.c asks two. */
#ifndef PN_DEVICE_IMAGE_H
#define PN_DEVICE_IMAGE_H

#include "device/world.h"
#include "volume/measure.h"
#include "volume/view.h"

/* The head, as kernel/image.cl has it. */
enum { PN_IMAGE_LAYERS, PN_IMAGE_OVERFLOW, PN_IMAGE_ROWS, PN_IMAGE_MOST, PN_IMAGE_ODD, PN_IMAGE_PLACES };

/* Kernels. scan and scatter are those of the frame's sort. */
#define PN_IMAGE_KERNELS(X) \
  X(BOX, imageBox)          \
  X(DRAW, imageDraw)        \
  X(ROWS, imageRows)        \
  X(SCAN, scan)             \
  X(SCATTER, scatter)       \
  X(SORT, imageSort)        \
  X(POINTS, imagePoints)    \
  X(TALLY, imageTally)      \
  X(SUM, imageSum)

typedef enum pnImageKernel {
#define PN_IMAGE_KERNEL(name, kernel) PN_IMAGE_KERNEL_##name,
  PN_IMAGE_KERNELS(PN_IMAGE_KERNEL)
#undef PN_IMAGE_KERNEL
      PN_IMAGE_KERNEL_COUNT
} pnImageKernel;

/* Buffers of an image. */
typedef enum pnImageBuffer {
  PN_IMAGE_BUFFER_BOX,
  PN_IMAGE_BUFFER_HEAD,
  PN_IMAGE_BUFFER_COUNTS,
  PN_IMAGE_BUFFER_OFFSETS,
  PN_IMAGE_BUFFER_RUNS,
  PN_IMAGE_BUFFER_STARTS,
  PN_IMAGE_BUFFER_LIST,
  PN_IMAGE_BUFFER_RANKS,
  PN_IMAGE_BUFFER_PLACED,
  PN_IMAGE_BUFFER_KEYS,
  PN_IMAGE_BUFFER_ROWS,
  PN_IMAGE_BUFFER_POINTS, /* of the caller, on their way */
  PN_IMAGE_BUFFER_INSIDE,
  PN_IMAGE_BUFFER_ANSWER,
  PN_IMAGE_BUFFER_PARTS,
  PN_IMAGE_BUFFER_SUM,
  PN_IMAGE_BUFFER_COUNT
} pnImageBuffer;

/* The view, as kernel/image.cl has it. */
typedef struct pnGrid {
  double lo[3], scale[3];
  int32_t pick[3], steps;
  uint32_t size, shift;
  int32_t top, bottom;
} pnGrid;

typedef struct pnBodyImage {
  pnDeviceWorld *world;
  uint32_t body;
  bool open; /* the surface may have a border (pnLayers) */
  cl_kernel kernels[PN_IMAGE_KERNEL_COUNT];
  cl_mem buffers[PN_IMAGE_BUFFER_COUNT];
  size_t bufferBytes[PN_IMAGE_BUFFER_COUNT], byteCount;
  uint32_t capacity, rowCapacity; /* of the lists */
  cl_mem pinned;                  /* small answers come here fastest */
  char *memory;

  uint64_t boxFrame; /* of the pose that the box is of; 0: none */
  pnBox box;
  uint64_t frame; /* of the pose that the image is of; 0: none */
  pnView view;
  bool fromHigh, reused;
  uint32_t head[PN_IMAGE_PLACES];
  double boxTime, layerTime; /* seconds of the last ones */
} pnBodyImage;

/* Checks the body's mesh by the rule and makes what is needed; on failure nothing is held. */
pnResult pn_bodyImageInit(pnBodyImage *image, pnDeviceWorld *world, uint32_t body, pnInsideRule rule);
void pn_bodyImageFree(pnBodyImage *image);
bool pn_bodyImageEmpty(const pnBodyImage *image); /* no triangles */

/* The body's box where its vertices are now (pn_bringVertices). PN_ERROR_NUMBER names a vertex. */
pnResult pn_bodyImageBox(pnBodyImage *image);
/* Its image in this view, unless it is there already. fromHigh: see pnLayers. */
pnResult pn_bodyImageMake(pnBodyImage *image, const pnView *view, bool fromHigh);

/* The view as kernels get it. */
pnGrid pn_gridOf(const pnBodyImage *image);
/* Sums over the image of A, and of B when it is not null, as pn_measureLayers. */
pnResult pn_bodyImageTally(pnBodyImage *a, pnBodyImage *b, bool only, pnInsideRule rule, pnTally *outTally);

/* ---------------------------------------------------------------- calls */

/* Room for at least so many bytes in a buffer; what was in it is lost when it grows. */
pnResult pn_imageReserve(pnBodyImage *image, pnImageBuffer name, size_t bytes);
/* Puts a kernel into the queue: `groups` groups of `local` items. */
pnResult pn_imageRun(pnBodyImage *image, pnImageKernel kernel, const pnArgument *arguments, int count, size_t groups,
                     size_t local, cl_event *outEvent);
/* Waits for a small answer (at most 256 bytes). */
pnResult pn_imageRead(pnBodyImage *image, pnImageBuffer name, void *out, size_t bytes);

#endif
