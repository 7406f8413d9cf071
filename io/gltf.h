/* gltf.h: what the files of the glTF reader share.
 *
 *   gltf.c           the file: .glb container, extensions, order of the work
 *   gltf_memory.c    memory with a limit
 *   gltf_buffer.c    buffers (in the .glb, in a data URI, in a file) and views of them
 *   gltf_meshopt.c   views that are packed
 *   gltf_draco.c     primitives that are packed
 *   gltf_accessor.c  checked arrays of numbers in views
 *   gltf_node.c      nodes, scenes
 *   gltf_skin.c      skins, and joints and weights of vertices
 *   gltf_mesh.c      primitives into vertices, triangles and targets
 *   gltf_weld.c      vertices that always move together
 *   gltf_clip.c      animations
 *   gltf_place.c     nodes with meshes into bodies: rigid, baked or skinned
 *
 * Every byte of the file is read through a view, and every view through pn_gltfView: bounds are checked there and in
 * pn_gltfAccessor, nowhere else. Recursion is used nowhere. */
#ifndef PN_IO_GLTF_H
#define PN_IO_GLTF_H

#include "json.h"
#include "pinch/io.h"

/* ---------------------------------------------------------------- memory */

/* Blocks that are freed all at once. The limit is shared between what is kept and what is scratch: a file cannot ask
 * for more than a multiple of its own size (see pn_gltfAddInput). */
typedef struct pnGltfBlocks {
  struct pnGltfBlock *first;
} pnGltfBlocks;

typedef struct pnGltfBudget {
  size_t input; /* bytes read from disk */
  size_t limit; /* most bytes to be taken, and most bytes to be decoded */
  size_t used, decoded;
  bool exceeded; /* the last refusal was the limit, not the allocator */
} pnGltfBudget;

void *pn_gltfTake(pnGltfBlocks *blocks, pnGltfBudget *budget, size_t count, size_t size);
void pn_gltfFreeBlocks(pnGltfBlocks *blocks);

/* ---------------------------------------------------------------- the reader */

typedef struct pnGltfBytes {
  const uint8_t *data;
  size_t count;
} pnGltfBytes;

/* A file of a buffer that has been read. */
typedef struct pnGltfNamed {
  struct pnGltfNamed *next;
  const char *path;
  pnGltfBytes bytes;
} pnGltfNamed;

/* Numbers of an accessor that were unpacked, without gaps; from which view, and which of the things in there. */
typedef struct pnGltfFilled {
  const uint8_t *data; /* null: it has bytes of its own, or nobody has looked yet */
  uint32_t view, id;
} pnGltfFilled;

/* A mesh, read the first time a node asks for it; with and without its joints, since that decides what welds. */
typedef struct pnGltfMesh {
  bool loaded;
  uint32_t userCount; /* nodes that place it */
  pnAnimBody body;    /* vertices, triangles, targets, weld, joints */
  uint32_t maxJoint, maxJointVertex;
  const uint16_t *oneJoint; /* made when a body of it hangs on one joint: 4 a vertex */
  const float *oneWeight;
} pnGltfMesh;

typedef struct pnGltf {
  pnGltfBlocks keep;    /* becomes the file's */
  pnGltfBlocks scratch; /* freed when the reader is done */
  pnGltfBudget budget;
  const char *name;   /* of the file, for messages */
  const char *folder; /* with its last slash, "" for the current one; null: other files may not be opened */
  json_t *document;
  pnJson root;
  pnGltfBytes chunk; /* the binary chunk of a .glb */

  pnGltfBytes *buffers;
  uint32_t bufferCount;
  pnGltfNamed *files;      /* of these buffers, each once */
  pnJson views, accessors; /* arrays of the document */
  uint32_t viewCount, accessorCount;
  pnGltfBytes
      *unpacked; /* by view: what EXT_meshopt_compression packed, once somebody has looked; null before the first */
  pnGltfFilled *filled; /* by accessor: what KHR_draco_mesh_compression packed; null before the first */
  const float **floats; /* by accessor: its numbers, once somebody shared has asked for them */

  pnGltfMesh *meshes; /* 2 * meshCount: without, with joints */
  pnJson meshArray;
  uint32_t meshCount;
  pnJson nodeArray;
  uint32_t *nodeMesh, *nodeSkin; /* by node, PN_NONE for none */
  uint32_t *order;               /* nodes, parents first */

  /* The file being made, and its arrays while they may still change. */
  pnAnimFile *file;
  pnAnimNode *nodes;
  pnAnimSkin *skins;
  pnAnimBody *bodies;
  pnAnimClip *clips;
  pnAnimScene *scenes;
} pnGltf;

/* Zeroed memory, never null for a count of 0. Null: `return pn_gltfNoMemory(g)`. */
void *pn_gltfKeep(pnGltf *g, size_t count, size_t size);
void *pn_gltfScratch(pnGltf *g, size_t count, size_t size);
pnResult pn_gltfNoMemory(const pnGltf *g);
/* A copy of a text that lives as long as the file; null when out of memory. */
const char *pn_gltfText(pnGltf *g, const char *text);
/* So many bytes more were read from disk: the limit grows by a multiple. */
void pn_gltfAddInput(pnGltf *g, size_t bytes);

/* ---------------------------------------------------------------- buffers and accessors */

pnResult pn_gltfLoadBuffers(pnGltf *g);
/* Bytes `offset` ... `offset + count` of view `view`, checked. `at` is the place that asks. */
pnResult pn_gltfView(pnGltf *g, const pnJson *at, uint32_t view, uint64_t offset, uint64_t count,
                     const uint8_t **outBytes);
/* The bytes of a view that EXT_meshopt_compression packed; none (data null) for others. */
pnResult pn_gltfUnpackView(pnGltf *g, uint32_t view, pnGltfBytes *outBytes);
/* Was pinch built with what unpacks them? */
bool pn_gltfReadsMeshopt(void);
/* Unpacks a primitive that is packed by KHR_draco_mesh_compression, once; nothing for others. Call it before its accessors are read. */
pnResult pn_gltfUnpackPrimitive(pnGltf *g, const pnJson *primitive);
bool pn_gltfReadsDraco(void);
/* The stride a view was given, 0 for none. */
pnResult pn_gltfStride(pnGltf *g, uint32_t view, uint32_t *outStride);

typedef enum pnGltfComponent {
  PN_GLTF_BYTE = 5120,
  PN_GLTF_UBYTE = 5121,
  PN_GLTF_SHORT = 5122,
  PN_GLTF_USHORT = 5123,
  PN_GLTF_UINT = 5125,
  PN_GLTF_FLOAT = 5126
} pnGltfComponent;

/* An accessor whose bytes are known to be there. */
typedef struct pnGltfAccessor {
  uint32_t index;
  uint32_t count; /* elements */
  uint32_t width; /* components of an element */
  pnGltfComponent component;
  bool normalized;
  const uint8_t *bytes; /* null: all zero, except for the sparse ones */
  size_t stride;
  uint32_t sparseCount;
  pnGltfComponent sparseIndex;
  const uint8_t *sparseIndices, *sparseValues; /* tightly packed */
} pnGltfAccessor;

/* Sets of component types. */
#define PN_GLTF_IS_FLOAT 1u
#define PN_GLTF_IS_UBYTE 2u
#define PN_GLTF_IS_USHORT 4u
#define PN_GLTF_IS_UINT 8u
#define PN_GLTF_IS_BYTE 16u
#define PN_GLTF_IS_SHORT 32u

/* Accessor `at` (a number in the document); `width` components of one of the types in `allowed`. */
pnResult pn_gltfAccessor(pnGltf *g, const pnJson *at, uint32_t width, uint32_t allowed, pnGltfAccessor *out);

/* The same without a look at its bytes: number, shape and type are known, and the stride of elements without gaps. */
pnResult pn_gltfDescribe(pnGltf *g, const pnJson *at, uint32_t width, uint32_t allowed, pnGltfAccessor *out);

/* All elements as floats, sparse ones in their places; finite, or an error. out has count * width floats. */
pnResult pn_gltfReadFloats(const pnJson *at, const pnGltfAccessor *accessor, float *out);
/* All elements as whole numbers; only unsigned types. out has count * width numbers. */
void pn_gltfReadUints(const pnGltfAccessor *accessor, uint32_t *out);
/* Element e, which must have bytes, without a look at the sparse list. */
void pn_gltfElementFloats(const pnGltfAccessor *accessor, uint32_t e, float *out);
/* Element of the sparse list: which element it replaces, and its numbers. */
uint32_t pn_gltfSparseIndex(const pnGltfAccessor *accessor, uint32_t i);
void pn_gltfSparseFloats(const pnGltfAccessor *accessor, uint32_t i, float *out);
/* The numbers of an accessor that many may use: read once, kept with the file. */
pnResult pn_gltfSharedFloats(pnGltf *g, const pnJson *at, const pnGltfAccessor *accessor, const float **out);

/* ---------------------------------------------------------------- parts of the document, in the order of the work */

pnResult pn_gltfLoadNodes(pnGltf *g); /* nodes; which mesh and skin each has */
pnResult pn_gltfLoadSkins(pnGltf *g);
pnResult pn_gltfLoadClips(pnGltf *g);
pnResult pn_gltfPlaceBodies(pnGltf *g); /* reads meshes as nodes ask for them */
pnResult pn_gltfLoadScenes(pnGltf *g);

/* Number of morph targets of a mesh, from its first primitive. */
pnResult pn_gltfTargetCount(pnGltf *g, uint32_t mesh, uint32_t *outCount);
/* The mesh, read once. body.triangleCount is 0 when it has no triangles. */
pnResult pn_gltfLoadMesh(pnGltf *g, uint32_t mesh, bool skinned, pnGltfMesh **outMesh);
/* Joints and weights of a primitive's vertices into `body` from vertex `first` on; see gltf_skin.c. */
pnResult pn_gltfReadInfluences(pnGltf *g, const pnJson *attributes, pnGltfMesh *mesh, uint32_t first, uint32_t count);
/* How many joints a vertex (4 or 8) the attributes need, 0 when there are none. */
pnResult pn_gltfInfluenceCount(pnGltf *g, const pnJson *attributes, uint32_t vertexCount, uint32_t *outCount);
pnResult pn_gltfWeld(pnGltf *g, pnAnimBody *body);

#endif
