/* pinch/io.h: files into plain definitions. A library of its own (pinch_io): the core needs no file.
 *
 * Readers expect hostile files: every read is checked, memory is bounded by what the file can really hold, and an
 * error names the file, the line or byte, what was found and what was expected (pnGetMessage()).
 */
#ifndef PINCH_IO_H
#define PINCH_IO_H

#include "pinch/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- mesh files */

/* A mesh as a file has it. Polygons are fanned from their first corner, in file order; vertices are as many and in the
 * order as in the file (STL: 3 a triangle) and every number is finite. Free with pnFreeMeshFile. */
typedef struct pnMeshFile {
  float *vertices; /* 3 a vertex; the number in the file rounded once to the nearest float */
  double *doubles; /* 3 a vertex, as the file has them: PLY whose coordinates are doubles; null for all others */
  uint32_t vertexCount;
  uint32_t *triangles; /* 3 a triangle, each below vertexCount */
  uint32_t triangleCount;
  uint32_t *triangleGroups; /* group number of each triangle, null when the file has none */
  char **groupNames;        /* OBJ: g and o statements; STL text: solids. In order of first appearance */
  uint32_t groupCount;
  char *name; /* the file's name without folder and extension */
} pnMeshFile;

/* OBJ, PLY (text, binary of both byte orders), STL (text, binary), OFF: by content first, then by extension.
 * A pipe may stand for the file. Errors: PN_ERROR_FILE (cannot be opened or read), PN_ERROR_FORMAT, PN_ERROR_COUNT
 * (more announced than the file can hold), PN_ERROR_INDEX, PN_ERROR_NUMBER (nan, infinite, too large for a float),
 * PN_ERROR_UNSUPPORTED, PN_ERROR_MEMORY. On an error outFile is empty and nothing needs to be freed.
 * Does not depend on the locale. Cost: O(n); memory: the file and at most some 25 times its bytes. */
PN_API pnResult pnLoadMeshFile(const char *path, pnMeshFile *outFile);
/* The same from memory; `name` is used in messages and, by its extension, when the content does not tell. Null: the
 * content alone must tell. */
PN_API pnResult pnParseMeshFile(const void *bytes, size_t byteCount, const char *name, pnMeshFile *outFile);
PN_API void pnFreeMeshFile(pnMeshFile *file); /* a zeroed one is allowed */

/* Writes by extension: .obj, .ply (binary little-endian), .stl (binary), .off. Read back, the floats are the same bits
 * (and STL has 3 vertices a triangle). A mesh with a number that is not finite or an index out of range is refused. */
PN_API pnResult pnSaveMesh(const char *path, const float *vertices, uint32_t vertexCount, const uint32_t *triangles,
                           uint32_t triangleCount);

/* ---------------------------------------------------------------- files that appear whole or not at all */

/* A file being written. It grows under a temporary name beside its place and takes the place when it is closed well;
 * until then, and after any failure, the old file is as it was. A pipe or device is written directly, and so is standard output, whose path is "-". An old file that may
 * not be written to is not replaced. Threads and programs may write one file at the same time: each writes its own, and the one that is closed
 * last has the place. */
typedef struct pnOutFile pnOutFile;
PN_API pnResult pnOpenOutFile(const char *path, pnOutFile **outFile);
/* A failed write is remembered and reported when the file is closed: no need to check each one. */
PN_API void pnOutFile_Write(pnOutFile *file, const void *bytes, size_t byteCount);
PN_API void pnOutFile_Print(pnOutFile *file, const char *format, ...) PN_FORMAT(2, 3);
/* Hands what was written so far to the system: PN_ERROR_FILE when that, or a write before it, failed. Files that belong
 * together are all flushed before the first of them is closed: then a full disk spares the old ones. */
PN_API pnResult pnOutFile_Flush(pnOutFile *file);
/* keep: the file takes its place (PN_ERROR_FILE when it cannot, or a write failed); else it is thrown away. */
PN_API pnResult pnCloseOutFile(pnOutFile *file, bool keep);

/* ================================================================ glTF and caches
 *
 * An animated file is read into plain data: bodies at rest, how each one may move (targets, joints, a node), and the
 * clips that move them. Nothing is baked: a frame is *evaluated* into weights, joint matrices and transforms, which is
 * what a morph, a skinned or a rigid body takes. A vertex cache is the opposite: vertices of every frame, read one
 * frame at a time.
 *
 *   pnAnimFile *file;
 *   pnAnimState *state;
 *   pnLoadAnimFile("walk.glb", &file);
 *   pnCreateAnimState(file, &state);
 *   for (each frame) {
 *     pnAnimState_Evaluate(state, clip, time);
 *     ... pnAnimState_GetWeights(state, b), pnAnimState_GetJoints(state, b), pnAnimState_GetTransform(state, b) ...
 *   }
 */

/* ---------------------------------------------------------------- what an animated file holds */

/* A node of the hierarchy. Its local map is `matrix` when hasMatrix, else translation * rotation * scale. */
typedef struct pnAnimNode {
  const char *name; /* as in the file; "" when it has none */
  uint32_t parent;  /* PN_NONE: a root */
  bool hasMatrix;
  float translation[3];
  float rotation[4]; /* quaternion x, y, z, w */
  float scale[3];
  pnMatrix matrix;
} pnAnimNode;

/* A morph target: where vertices go when its weight is 1, as differences to the rest position.
 * Sparse: vertex vertices[i] moves by deltas[3i ...], the others do not move. Ascending, each vertex once. */
typedef struct pnAnimTarget {
  const char *name;
  uint32_t count;
  const uint32_t *vertices;
  const float *deltas;
} pnAnimTarget;

/* A skeleton: joint j of a body is node joints[j], and carries what inverseBinds[j] brings into its space. */
typedef struct pnAnimSkin {
  const char *name;
  uint32_t jointCount;
  const uint32_t *joints;
  const pnMatrix *inverseBinds;
} pnAnimSkin;

/* A mesh in its place. All triangles of one mesh of one node make one body; several nodes with one mesh make several
 * bodies that share their arrays. Where a vertex is in a frame, with the frame's weights w and joint matrices M:
 *
 *   p = rest + sum over targets (w[t] * delta[t])                morph, no targets: p = rest
 *   v = sum over influences k (jointWeights[k] * (M[jointIndices[k]] * p))    when skin is not PN_NONE
 *   v = transform * p                                            otherwise
 *
 * What cannot be said by a rigid transform (scale, mirror, shear in a node of a body without skin) is said by a skin
 * of one joint, or, when that part never moves, is already in the rest vertices and deltas (docs/gltf.md). */
typedef struct pnAnimBody {
  const char *name;     /* node's name, else mesh's, else "mesh<number>"; made unique by "#2", "#3" ... */
  const char *meshName; /* the mesh's own name, "" when it has none */
  uint32_t node;        /* the node that places the mesh */
  uint32_t carrier;     /* the node whose world map is the transform; PN_NONE: identity, always */

  const float *vertices;
  uint32_t vertexCount;
  const uint32_t *triangles;
  uint32_t triangleCount;
  /* vertexWeld[v] <= v: the first vertex that is always where v is: same rest position, same deltas, same joints and
   * weights. Made for pnMeshDef. */
  const uint32_t *vertexWeld;

  const pnAnimTarget *targets;
  const float *restWeights; /* targetCount weights that hold where no clip says otherwise */
  uint32_t targetCount;

  uint32_t skin;           /* PN_NONE: none */
  uint32_t influenceCount; /* 0, 4 or 8 joints a vertex */
  /* By vertex, influenceCount each: weights > 0 first, joints ascending and each once, then (0, 0). They add up to 1
   * within rounding; where the file had other sums, the reader divided and said so in the log. */
  const uint16_t *jointIndices;
  const float *jointWeights;
} pnAnimBody;

/* What lies between two keys: a straight line (for rotations the shorter arc), the earlier key, a spline. */
typedef enum pnInterpolation { PN_INTERPOLATION_LINEAR, PN_INTERPOLATION_STEP, PN_INTERPOLATION_CUBIC } pnInterpolation;
/* What a channel moves. */
typedef enum pnAnimPath { PN_ANIM_TRANSLATION, PN_ANIM_ROTATION, PN_ANIM_SCALE, PN_ANIM_WEIGHTS } pnAnimPath;

/* One property of one node over time. */
typedef struct pnAnimChannel {
  uint32_t node;
  pnAnimPath path;
  pnInterpolation interpolation;
  uint32_t width;      /* floats in a value: 3, 4, or the targets of the node's body */
  uint32_t keyCount;   /* at least 1 */
  const float *times;  /* seconds, not descending */
  const float *values; /* width a key; cubic: 3 * width a key, in-tangent, value, out-tangent */
} pnAnimChannel;

/* An animation: channels that play together. */
typedef struct pnAnimClip {
  const char *name;
  const pnAnimChannel *channels;
  uint32_t channelCount;
  float startTime, endTime; /* of the first and the last key of any channel */
} pnAnimClip;

/* A choice of roots, and the bodies below them. */
typedef struct pnAnimScene {
  const char *name;
  const uint32_t *roots; /* nodes */
  uint32_t rootCount;
  const uint32_t *bodies; /* those below the roots, ascending */
  uint32_t bodyCount;
} pnAnimScene;

/* All of it. Everything is const and may be shared between threads. A file may also be made by hand: fill it in, with
 * `memory` null, and free what is yours yourself. */
typedef struct pnAnimFile {
  const char *name; /* the file's name without folder and extension */
  const pnAnimNode *nodes;
  uint32_t nodeCount;
  const pnAnimSkin *skins;
  uint32_t skinCount;
  uint32_t ownSkinCount; /* the first of them that the file has; the reader's own for what a node scales follow */
  const pnAnimBody *bodies;
  uint32_t bodyCount;
  const pnAnimClip *clips;
  uint32_t clipCount;
  const pnAnimScene *scenes; /* at least one: a file without scenes gets one with all roots */
  uint32_t sceneCount;
  uint32_t defaultScene;
  void *memory; /* the reader's; null in a file made by hand */
} pnAnimFile;

/* ---------------------------------------------------------------- glTF */

/* Reads glTF 2.0, .gltf or .glb by content; buffers beside the file are found by their URI.
 * Errors name file, place in the JSON (meshes[2].primitives[0].attributes.POSITION) and what was expected.
 * Extensions that do not change geometry are accepted; others are named in the log when used, and are an error
 * (PN_ERROR_UNSUPPORTED) when the file says that it needs them. */
PN_API pnResult pnLoadAnimFile(const char *path, pnAnimFile **outFile);
/* By its name: would pnLoadAnimFile try? .gltf, .glb and .vrm always; FBX, Collada and the other formats of the library assimp where
 * pinch was built with it. Those are translated into glTF first, so everything said here holds for them; assimp keeps
 * straight lines between keys only. */
PN_API bool pnCanLoadAnimFile(const char *path);
/* The same from memory. `name` is used in messages, and buffers are looked for beside it; null: no other file is
 * opened. */
PN_API pnResult pnParseAnimFile(const void *bytes, size_t byteCount, const char *name, pnAnimFile **outFile);
PN_API void pnFreeAnimFile(pnAnimFile *file); /* null is allowed */

/* Writes a .glb that every glTF reader opens: nodes, meshes, targets, skins, clips, scenes, with smooth normals.
 * The file may be made by hand. */
PN_API pnResult pnSaveAnimFile(const char *path, const pnAnimFile *file);

/* ---------------------------------------------------------------- bodies of an animated file */

/* What body b of a file is, for poses and worlds; nothing is baked. `name` null: as in the file. The objects copy what they
 * need and are yours. Errors: those of pnCreateMesh, pnCreateMorph and pnCreateSkin. */
PN_API pnResult pnAnimFile_CreateMesh(const pnAnimFile *file, uint32_t b, const char *name, pnMesh **outMesh);
/* For a body with targets. */
PN_API pnResult pnAnimFile_CreateMorph(const pnAnimFile *file, uint32_t b, const pnMesh *mesh, pnMorph **outMorph);
/* For a body with a skin. */
PN_API pnResult pnAnimFile_CreateSkin(const pnAnimFile *file, uint32_t b, const pnMesh *mesh, pnSkin **outSkin);

/* ---------------------------------------------------------------- a moment of an animated file */

typedef struct pnAnimState pnAnimState;

/* The file must outlive the state and may be shared by many. The new state is the rest pose.
 * Checks a file made by hand: indices, cycles among nodes. */
PN_API pnResult pnCreateAnimState(const pnAnimFile *file, pnAnimState **outState);
PN_API void pnDestroyAnimState(pnAnimState *state); /* null is allowed */

/* Where everything is in clip `clip` (PN_NONE: rest pose) at `time` seconds; before the first key and after the last
 * one the value stays. Allocates nothing. Cost: nodes + channels * log(keys), no vertex is touched.
 * Error: PN_ERROR_NUMBER when a matrix leaves the range of float (names node or skin). */
PN_API pnResult pnAnimState_Evaluate(pnAnimState *state, uint32_t clip, double time);

/* Of body b: targetCount weights, null when it has none. */
PN_API const float *pnAnimState_GetWeights(const pnAnimState *state, uint32_t b);
/* Of body b: a matrix for each joint of its skin, world of joint times inverse bind; null without skin. As glTF has
 * it, the node of a skinned mesh does not move it. */
PN_API const pnMatrix *pnAnimState_GetJoints(const pnAnimState *state, uint32_t b);
/* Of body b: rigid; identity for a body with skin. */
PN_API const pnMatrix *pnAnimState_GetTransform(const pnAnimState *state, uint32_t b);
/* World map of a node. */
PN_API const pnMatrix *pnAnimState_GetNode(const pnAnimState *state, uint32_t node);

/* ---------------------------------------------------------------- vertex caches */

/* Frames of vertices, read one at a time: memory does not grow with the number of frames. Kinds:
 *   MDD           big-endian, LightWave and Blender
 *   PC2           little-endian, 3ds Max and Blender
 *   mesh files    a folder, a glob (cloth_*.obj), or numbered names (frame_####.ply, each # a digit); all with the
 *                 same triangles, in the order of the numbers in their names */
typedef enum pnCacheKind { PN_CACHE_MDD, PN_CACHE_PC2, PN_CACHE_FILES } pnCacheKind;

/* What a cache holds. */
typedef struct pnCacheInfo {
  pnCacheKind kind;
  uint32_t vertexCount;
  uint32_t frameCount;    /* at least 1 */
  float startTime;        /* PC2: its start frame; others as the first frame's time */
  const pnMeshFile *mesh; /* mesh files: the first of them, lives as long as the cache; else null */
} pnCacheInfo;

typedef struct pnCache pnCache;

/* By what is there: a file by its content and name, a folder, else a pattern. Errors name the path, and the byte or count
 * that is wrong. One thread at a time may use a cache. */
PN_API pnResult pnOpenCache(const char *path, pnCache **outCache);
PN_API void pnCloseCache(pnCache *cache); /* null is allowed */
/* Valid as long as the cache. */
PN_API pnCacheInfo pnCache_GetInfo(const pnCache *cache);
/* Seconds (MDD), frames (PC2: start + frame * rate), the number in the name (mesh files, else the frame). */
PN_API double pnCache_GetTime(const pnCache *cache, uint32_t frame);
/* Vertices of a frame, 3 * vertexCount floats, any order of frames; forward is fastest. Allocates nothing for MDD and
 * PC2. Errors name file, frame and vertex (NaN, infinite) or what is different about a mesh file. */
PN_API pnResult pnCache_Read(pnCache *cache, uint32_t frame, float *outVertices);

#ifdef __cplusplus
}
#endif

#endif
