/* pinch/mesh.h: what the triangles are (pnMesh, constant) and where they are now (pnPose, mutable).
 *
 *   pnMesh   topology and rest positions. Made once, never changes, shared by any number of poses and threads.
 *   pnPose   the answer to "where is vertex v now?" Setting new vertices, weights, joints or a transform is all
 *            a caller does to move a body; whatever depends on the pose notices by its frame number.
 */
#ifndef PINCH_MESH_H
#define PINCH_MESH_H

#include "pinch/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnMesh pnMesh;
typedef struct pnPose pnPose;
typedef struct pnMorph pnMorph; /* morph targets of a mesh (constant) */
typedef struct pnSkin pnSkin;   /* joints and weights of a mesh (constant) */

/* ---------------------------------------------------------------- mesh */

/* What a mesh is made of. */
typedef struct pnMeshDef {
  const float *vertices; /* 3 * vertexCount rest positions, finite; copied */
  uint32_t vertexCount;
  const uint32_t *triangles; /* 3 * triangleCount vertex numbers; copied */
  uint32_t triangleCount;    /* 0 is a valid, empty mesh */
  /* Which vertices may be one vertex when asking "are these triangles neighbours?" (seams, STL):
   * vertexWeld[v] <= v is the first vertex that v coincides with, vertexWeld[v] = v for the others.
   * Null: welding as asked by `weld`. Welding never changes triangle or vertex numbers.
   *
   * Neighbours share a vertex by number; or two that are welded, while both have equal coordinates in the pose
   * that is asked about. A seam whose sides move together stays closed; a slit, a closed mouth or a mesh made with all
   * its vertices in one place has as many sides as it shows when it has opened. Nobody is a neighbour for having been in
   * the same place at rest, and vertices that are not welded never are, wherever they go. */
  const uint32_t *vertexWeld;
  bool weld;        /* default true: vertices at numerically equal rest positions are welded (-0 equals 0) */
  const char *name; /* used in messages; copied; default "mesh" */
  uint32_t cookie;  /* PN_COOKIE, by pnDefaultMeshDef() */
} pnMeshDef;

PN_API pnMeshDef pnDefaultMeshDef(void);

/* Cost: O(n log n). Errors: PN_ERROR_INDEX names the triangle, PN_ERROR_NUMBER the vertex. */
PN_API pnResult pnCreateMesh(const pnMeshDef *def, pnMesh **outMesh);
PN_API void pnDestroyMesh(pnMesh *mesh); /* null is allowed; poses and trees of it must be gone */

/* What the mesh was made of. Arrays and the name stay the mesh's and live as long as it does. */
PN_API uint32_t pnMesh_GetVertexCount(const pnMesh *mesh);
PN_API uint32_t pnMesh_GetTriangleCount(const pnMesh *mesh);
PN_API const uint32_t *pnMesh_GetTriangles(const pnMesh *mesh); /* 3 a triangle, as given */
PN_API const float *pnMesh_GetVertices(const pnMesh *mesh);     /* rest positions, as given */
PN_API const uint32_t *pnMesh_GetWeld(const pnMesh *mesh);      /* representative of each vertex */
PN_API const char *pnMesh_GetName(const pnMesh *mesh);

#define PN_NONE UINT32_MAX

/* The triangle on the other side of each edge, 3 a triangle: entry 3t+k is the neighbour over the edge from corner
 * k to corner k+1, PN_NONE at a border, and the next triangle around the edge (a cycle) where more than two meet. */
PN_API const uint32_t *pnMesh_GetNeighbours(const pnMesh *mesh);

/* Neighbours and rings are those of the welded mesh, whatever a pose does.
 * Triangles around (welded) vertex v: ring[offset[v]] ... ring[offset[v+1]-1], ascending.
 * A vertex that is welded onto another has an empty range: ask for its representative. */
PN_API const uint32_t *pnMesh_GetRingOffsets(const pnMesh *mesh);
PN_API const uint32_t *pnMesh_GetRings(const pnMesh *mesh);

/* What the topology and the rest positions look like, by welded vertices. Triangles with a repeated (welded) corner have
 * no edges: they are counted as degenerate and otherwise left out, as if their two sides were joined.
 * "First" means the smallest triangle number; its vertices are those of the triangle, as given. PN_NONE: there is none. */
typedef struct pnMeshInfo {
  bool closed;   /* every edge has exactly two triangles, or an even number with balanced directions */
  bool manifold; /* no edge has more than two triangles, and the triangles around each vertex form one fan */
  bool oriented; /* the triangles at each edge can be paired so that each pair runs along it in opposite directions; one
                   * may be left over */
  uint32_t componentCount;         /* parts that hang together over vertices; unused vertices are none */
  uint32_t openEdgeCount;          /* edges that keep the mesh from being closed */
  uint32_t nonManifoldEdgeCount;   /* edges with more than two triangles */
  uint32_t nonManifoldVertexCount; /* vertices, away from those edges, with more than one fan */
  uint32_t degenerateCount;        /* zero area (exactly) or repeated corner */
  uint32_t unusedVertexCount, duplicateVertexCount; /* in no triangle; welded onto another */
  uint32_t firstOpenTriangle, firstOpenVertices[2];
  uint32_t firstNonManifoldTriangle, firstNonManifoldVertices[2]; /* twice the same: a vertex with several fans */
  uint32_t firstMisorientedTriangle, firstMisorientedVertices[2];
  uint32_t firstDegenerateTriangle;
  pnBox box; /* of the vertices that triangles use; empty (min > max) when there are none */
} pnMeshInfo;

/* Cost: O(n). Never fails on a mesh that could be created, except for memory. */
PN_API pnResult pnMesh_Validate(const pnMesh *mesh, pnMeshInfo *outInfo);

/* ---------------------------------------------------------------- morph targets */

/* How the targets of a morph combine. In float, in the order of the targets, every step rounded and none fused:
 *
 *   PN_MORPH_DELTAS      v = ((rest + w0 * d0) + w1 * d1) + ...    glTF, Blender shape keys: any weights, also negative
 *                        ones and sums above one. A target may list only the vertices that it moves.
 *   PN_MORPH_REFERENCES  v = ((w0 * r0) + w1 * r1) + ...           [Larsson03]: weights not negative, sum 1
 *
 * A weight of exactly 0, and a target that does not list the vertex, add nothing. The mesh's rest positions are the
 * base of deltas; beside references they only serve to weld. */
typedef enum pnMorphMode { PN_MORPH_DELTAS, PN_MORPH_REFERENCES } pnMorphMode;

/* One target: the vertices it moves, and how. */
typedef struct pnMorphTarget {
  const char *name;         /* in messages; copied; null: its number */
  uint32_t count;           /* vertices listed; all of them (the mesh's count) when `vertices` is null */
  const uint32_t *vertices; /* deltas only: which, in any order, each once; null: all, in order */
  const float *values;      /* 3 a listed vertex: the delta, or the position in this reference; finite */
} pnMorphTarget;

/* What a morph is made of. Zeroed is the default, but that there must be a mesh and targets. */
typedef struct pnMorphDef {
  const pnMesh *mesh; /* must outlive the morph */
  pnMorphMode mode;   /* default PN_MORPH_DELTAS */
  const pnMorphTarget *targets;
  uint32_t targetCount; /* 1 to 65536 */
  /* Weights of a new pose, and so of the shape over which a body's tree is built: one reference, something in between,
   * or the average. Null: all 0 for deltas, the first reference alone for references. */
  const float *restWeights;
} pnMorphDef;

PN_API pnMorphDef pnDefaultMorphDef(void);

/* Copies what it is given, kept by vertex; deltas of zero are dropped, so that a target costs what it moves: 16 bytes a
 * vertex and target. Errors: PN_ERROR_COUNT and PN_ERROR_INDEX name target and vertex (also a vertex listed twice),
 * PN_ERROR_NUMBER the target and vertex, or the rest weight. */
PN_API pnResult pnCreateMorph(const pnMorphDef *def, pnMorph **outMorph);
PN_API void pnDestroyMorph(pnMorph *morph); /* null is allowed; poses of it must be gone */

/* What the morph was made of. Arrays and names stay the morph's and live as long as it does. */
PN_API const pnMesh *pnMorph_GetMesh(const pnMorph *morph);
PN_API pnMorphMode pnMorph_GetMode(const pnMorph *morph);
PN_API uint32_t pnMorph_GetTargetCount(const pnMorph *morph);
PN_API const char *pnMorph_GetTargetName(const pnMorph *morph, uint32_t target); /* "" when it has none */
PN_API const float *pnMorph_GetRestWeights(const pnMorph *morph);
PN_API size_t pnMorph_GetByteCount(const pnMorph *morph);

/* ---------------------------------------------------------------- skins */

/* How joints move a vertex p (of the mesh, or as the morph targets have left it). In float, in the order of the joints
 * given for the vertex, every step rounded and none fused:
 *
 *   PN_SKIN_LINEAR    v = (w0 * (M0 p) + w1 * (M1 p)) + ...       linear blend skinning, glTF: up to 8 joints a vertex.
 *                     M is the joint's world matrix times its inverse bind: any affine map, scale and shear too.
 *   PN_SKIN_WEIGHTED  v = P (turn(w) (p - c) + c + w s)           [Mujika09]: one joint a vertex. The joint turns about
 *                     its pivot c and slides by s, the vertex follows with the part w of both; P is the product of the
 *                     joints above it. turn(w) is the rotation of the quaternion (1 - w) 1 + w q, brought to length 1:
 *                     a vertex with a weight in between stands on an arc.
 *
 * Influences of weight 0 are dropped, a joint named twice by a vertex is taken once with both weights. */
typedef enum pnSkinMode { PN_SKIN_LINEAR, PN_SKIN_WEIGHTED } pnSkinMode;

/* What a skin is made of. */
typedef struct pnSkinDef {
  const pnMesh *mesh;           /* must outlive the skin */
  pnSkinMode mode;              /* default PN_SKIN_LINEAR */
  uint32_t jointCount;          /* 1 to 65536 */
  uint32_t influenceCount;      /* joints a vertex in the arrays, 1 to 8 (default 4); weighted: 1 */
  const uint16_t *jointIndices; /* influenceCount a vertex, each below jointCount where its weight is not 0 */
  /* influenceCount a vertex, none negative. Linear: weights that do not sum to 1 are divided by their sum, and
   * pnSkin_GetWeightError says by how much they were off. Weighted: 0 to 1, taken as they are. */
  const float *jointWeights;
  const uint32_t *parents; /* weighted: the joint above, smaller than the joint itself, or PN_NONE */
  const pnVec3 *pivots;    /* weighted: where each joint sits in the rest pose */
  uint32_t cookie;         /* PN_COOKIE, by pnDefaultSkinDef() */
} pnSkinDef;

PN_API pnSkinDef pnDefaultSkinDef(void);

/* Copies: 8 bytes a vertex and joint that moves it. Errors: PN_ERROR_COUNT, PN_ERROR_INDEX (joint out of range, parent not
 * above), PN_ERROR_NUMBER (NaN, infinite), PN_ERROR_ARGUMENT (negative weight, a vertex without any); they name vertex
 * and joint. */
PN_API pnResult pnCreateSkin(const pnSkinDef *def, pnSkin **outSkin);
PN_API void pnDestroySkin(pnSkin *skin); /* null is allowed; poses of it must be gone */

/* What the skin was made of. */
PN_API const pnMesh *pnSkin_GetMesh(const pnSkin *skin);
PN_API pnSkinMode pnSkin_GetMode(const pnSkin *skin);
PN_API uint32_t pnSkin_GetJointCount(const pnSkin *skin);
/* Linear: how far from 1 the weights of a vertex summed at most, as given. outVertex: where; may be null. */
PN_API double pnSkin_GetWeightError(const pnSkin *skin, uint32_t *outVertex);
PN_API size_t pnSkin_GetByteCount(const pnSkin *skin);

/* ---------------------------------------------------------------- pose */

/* What a pose moves, and what moves it. Zeroed is the default, but that there must be a mesh. */
typedef struct pnPoseDef {
  const pnMesh *mesh;   /* must outlive the pose */
  const pnMorph *morph; /* null: no morph targets */
  const pnSkin *skin;   /* null: no joints */
} pnPoseDef;

PN_API pnPoseDef pnDefaultPoseDef(void);
/* The new pose is the rest pose: rest vertices, rest weights, joints at bind, transform identity. */
PN_API pnResult pnCreatePose(const pnPoseDef *def, pnPose **outPose);
PN_API void pnDestroyPose(pnPose *pose); /* null is allowed */

/* Where all vertices are, before the transform: count must be the mesh's vertex count, every number finite
 * (PN_ERROR_NUMBER names the vertex and nothing is changed; also when vertices and transform together would leave the
 * range of float). Copies; the first call allocates, of a large mesh the second, too. Not for poses with morph or skin:
 * PN_ERROR_KIND. */
PN_API pnResult pnPose_SetVertices(pnPose *pose, const float *vertices, uint32_t count);

/* As above without the copy: the array stays the caller's, must stay unchanged until the next call that sets
 * vertices, and must have one readable float after its end (3 * count + 1 floats). Numbers are checked now when the pose
 * has a transform, else when it gets one and when a tree is updated: that call answers PN_ERROR_NUMBER and names the
 * vertex. */
PN_API pnResult pnPose_ShareVertices(pnPose *pose, const float *vertices, uint32_t count);

/* A rigid map applied after everything else. Rotations may be off by rounding (|R R^T - 1| <= 1e-4), mirrored
 * ones are refused: PN_ERROR_TRANSFORM. PN_ERROR_NUMBER as above. The exact identity is no transform at all: world
 * positions then have the bits of the vertices. */
PN_API pnResult pnPose_SetTransform(pnPose *pose, const pnMatrix *transform);

/* Weights of the morph targets. Costs the number of targets, no vertex is looked at. For deltas any finite weights; for
 * references none below 0 and a sum within 1e-4 of 1, else PN_ERROR_ARGUMENT. PN_ERROR_COUNT, PN_ERROR_NUMBER (NaN, or
 * weights that could carry a vertex out of the range of float) and PN_ERROR_KIND (a pose without morph) as above: the
 * message names mesh and target, nothing is changed. */
PN_API pnResult pnPose_SetWeights(pnPose *pose, const float *weights, uint32_t count);
PN_API const float *pnPose_GetWeights(const pnPose *pose); /* one a target; null without morph */

/* Where the joints are, one matrix a joint of the skin. Costs the number of joints, no vertex is looked at.
 *   linear    world of the joint times inverse bind (what pnAnimState_GetJoints answers); any affine map
 *   weighted  the joint's own motion in the space of the rest pose, identity at rest; rigid, else PN_ERROR_TRANSFORM
 * PN_ERROR_COUNT, PN_ERROR_NUMBER (NaN, or joints that could carry a vertex out of the range of float) and PN_ERROR_KIND
 * (a pose without skin): the message names mesh and joint, nothing is changed. */
PN_API pnResult pnPose_SetJoints(pnPose *pose, const pnMatrix *joints, uint32_t count);
PN_API const pnMatrix *pnPose_GetJoints(const pnPose *pose); /* as set, one a joint; null without skin */

/* Back to rest vertices, rest weights, joints at bind and identity. */
PN_API void pnPose_Reset(pnPose *pose);

/* The mesh it is a pose of. */
PN_API const pnMesh *pnPose_GetMesh(const pnPose *pose);
/* Grows by one with every change. */
PN_API uint64_t pnPose_GetFrame(const pnPose *pose);
/* The world position of vertex v, with the bits that collision uses. Any kind of pose. */
PN_API pnVec3 pnPose_GetVertex(const pnPose *pose, uint32_t v);
/* All of them: 3 * vertexCount floats. */
PN_API void pnPose_GetVertices(const pnPose *pose, float *outVertices);

/* ---------------------------------------------------------------- soups */

/* Triangles, segments and points without any connection, which come and go while they move: surgery, fracture, particles.
 * Each has an id that stays its own until it is removed. The index over a soup is a pnTree like any other
 * (pnCreateBucketTree in pinch/tree.h): pnCollideTrees, pnCollideSelf and a world take it as they take trees of meshes.
 * It follows the soup by itself; there is nothing to rebuild.
 *
 * Pairs name primitives by their *place*, 0 ... pnSoup_GetPlaceCount() - 1: a primitive keeps its place as long as it
 * lives, and pnSoup_GetId turns a place into an id. Nothing in a soup is joined to anything unless pnSoup_NameVertices says so: in
 * a self query triangles that only touch count as well. */
typedef struct pnSoup pnSoup;

/* Zeroed is null. The id of a removed primitive is recognised, also when its place was taken again. */
typedef struct pnPrimitiveId {
  uint32_t index1, generation; /* index1 = place + 1 */
} pnPrimitiveId;

/* The value is the number of corners. */
typedef enum pnPrimitiveKind {
  PN_PRIMITIVE_POINT = 1,
  PN_PRIMITIVE_SEGMENT = 2,
  PN_PRIMITIVE_TRIANGLE = 3
} pnPrimitiveKind;

/* What a soup begins with. */
typedef struct pnSoupDef {
  uint32_t capacity; /* room for so many primitives from the start, default 0: it grows by doubling when it must */
  const char *name;  /* in messages; copied; default "soup" */
  uint32_t cookie;   /* PN_COOKIE, by pnDefaultSoupDef() */
} pnSoupDef;

PN_API pnSoupDef pnDefaultSoupDef(void);
PN_API pnResult pnCreateSoup(const pnSoupDef *def, pnSoup **outSoup); /* empty; def may be null */
PN_API void pnDestroySoup(pnSoup *soup);                              /* null is allowed; trees of it must be gone */

/* Every call below checks all it is given before it changes anything: PN_ERROR_NUMBER names the primitive and the
 * coordinate that is NaN or infinite, PN_ERROR_ID the entry that is null, dead or there twice, PN_ERROR_ARGUMENT a kind
 * that is none. Cost: the primitives named, nothing else. Positions are 3 floats a corner, corner after corner. */

/* outIds: one a primitive, may be null. PN_ERROR_COUNT beyond 2^26 primitives. */
PN_API pnResult pnSoup_Add(pnSoup *soup, pnPrimitiveKind kind, const float *positions, uint32_t count,
                           pnPrimitiveId *outIds);
PN_API pnResult pnSoup_Remove(pnSoup *soup, const pnPrimitiveId *ids, uint32_t count);
/* New corners, of any kind, for living primitives, which keep their ids. One named twice gets the last. */
PN_API pnResult pnSoup_Replace(pnSoup *soup, const pnPrimitiveId *ids, pnPrimitiveKind kind, const float *positions,
                               uint32_t count);
/* Moves everything: 9 floats a place, placeCount of them. Of segments the first two corners are read, of points the first,
 * of dead places none. The fastest way to move all of a soup. */
PN_API pnResult pnSoup_SetAll(pnSoup *soup, const float *positions, uint32_t placeCount);

/* Says which corners are one vertex: 3 names a primitive, below 2^30, PN_NONE for a corner without; of segments the first two are read,
 * of points the first. Corners with one name are one vertex while they have equal coordinates, as welded vertices of a mesh are
 * (pnMeshDef.vertexWeld), and primitives that share one are neighbours: a self query finds them only when they meet in more than the
 * vertex or edge they share. Names stay when corners move and when a primitive is replaced by one of its kind; they are handed on by
 * pnSoup_Cut and pnSoup_Fuse. PN_ERROR_INDEX for a name that is too large. Costs 12 bytes a place from the first call on. */
PN_API pnResult pnSoup_NameVertices(pnSoup *soup, const pnPrimitiveId *ids, const uint32_t *names, uint32_t count);
/* The names now, PN_NONE for corners without; those that a cut or a fuse made are numbers that were not in use. False: the id is
 * not alive. */
PN_API bool pnSoup_GetVertexNames(const pnSoup *soup, pnPrimitiveId id, uint32_t outNames[3]);

/* The points with x * normal.x + y * normal.y + z * normal.z = offset, in exact arithmetic on these floats. The normal may
 * have any length but zero. */
typedef struct pnPlane {
  pnVec3 normal;
  float offset;
} pnPlane;

/* The pieces of a cut on either side of the plane. */
typedef struct pnCut {
  pnPrimitiveId above[2], below[2];
  uint32_t aboveCount, belowCount;
} pnCut;

/* Cuts one primitive along a plane. On which side a corner is, or that it is on the plane, is decided exactly. A primitive
 * with corners strictly on both sides is removed and its pieces, one or two a side, are added; every other one stays
 * as it is and is listed on its side (above, when it lies in the plane).
 * New corners are where an edge crosses the plane, computed in double and rounded to float once: they are within one
 * rounding of the plane and not, in general, on it. An edge gives the same bits from both its ends, so that two triangles with
 * an edge in common still have it in common after both were cut. Cut each primitive once by one plane: a piece that is cut by it
 * again, its corners being beside the plane by that rounding, may get another corner, which its neighbour does not have.
 * A primitive with names hands them on, and its pieces are neighbours; a new corner on an edge is the same vertex for all who have that
 * edge by its names and are cut there (24 to 48 bytes for each such vertex, as long as the soup lives). PN_ERROR_COUNT when names go
 * beyond 2^31. Pieces take places that are free, so list the ids before the first cut. Where pieces are thinner than floats can tell,
 * they are degenerate triangles and stay in the soup as such. */
PN_API pnResult pnSoup_Cut(pnSoup *soup, pnPrimitiveId id, const pnPlane *plane, pnCut *outCut);

/* Moves all primitives of `from` into `into`; `from` is empty afterwards. outIds: the new id of each place of `from`, null
 * ids for dead places, as many as its place count before the call; may be null. Who was a neighbour in `from` stays one, and nobody
 * becomes one: the vertices of `from` get names that were not in use. PN_ERROR_COUNT when there are none below 2^31. */
PN_API pnResult pnSoup_Fuse(pnSoup *into, pnSoup *from, pnPrimitiveId *outIds);

/* Does the id name a living primitive? */
PN_API bool pnSoup_IsValid(const pnSoup *soup, pnPrimitiveId id);
PN_API uint32_t pnSoup_GetCount(const pnSoup *soup);      /* alive */
PN_API uint32_t pnSoup_GetPlaceCount(const pnSoup *soup); /* places ever taken; grows only when no dead one is free */
PN_API pnPrimitiveId pnSoup_GetId(const pnSoup *soup, uint32_t place); /* null for a dead place */
/* The corners, 9 floats: of a segment the second twice, of a point the one three times. 0 for an id that is not alive,
 * else the kind. */
PN_API uint32_t pnSoup_GetCorners(const pnSoup *soup, pnPrimitiveId id, float outPositions[9]);
/* The soup as a pose: triangle number = place, dead places included. It has no edges to go over (pnMesh_GetNeighbours); its weld is
 * for the library to read. */
PN_API const pnPose *pnSoup_GetPose(const pnSoup *soup);
PN_API size_t pnSoup_GetByteCount(const pnSoup *soup);

/* ---------------------------------------------------------------- shapes by formula */

/* Meshes made by formula, for tests, scenes and first steps; the same bits on every machine. Centred at the origin.
 * All closed and oriented outward (counter-clockwise from outside) unless said, vertices shared, nothing to weld.
 * Errors: PN_ERROR_ARGUMENT for a size that is not positive and finite or a count below its least, PN_ERROR_COUNT when
 * a mesh cannot have so many triangles. */

/* 20 * 4^n triangles, 10 * 4^n + 2 vertices on the sphere; n at most 13. Every level keeps the vertices of the last. */
PN_API pnResult pnMakeIcosphere(uint32_t subdivisions, float radius, pnMesh **outMesh);
/* 12 * cells^2 triangles, 6 * cells^2 + 2 vertices. */
PN_API pnResult pnMakeBox(pnVec3 halfSize, uint32_t cellsPerSide, pnMesh **outMesh);
/* Open: width along x, depth along y, at z = 0, facing +z. 2 * columns * rows triangles; vertex number
 * row * (columns + 1) + column. */
PN_API pnResult pnMakeGrid(float width, float depth, uint32_t columns, uint32_t rows, pnMesh **outMesh);
/* Around the z axis, `ring` from the axis to the middle of the tube. 2 * around * across triangles, both at least 3. */
PN_API pnResult pnMakeTorus(float ring, float tube, uint32_t around, uint32_t across, pnMesh **outMesh);
/* A tube along the (p, q) torus knot: p times around the z axis while q times around a torus of radii `radius` and
 * radius / 2. p and q positive without a common divisor; (2, 3) is the trefoil. 2 * around * across triangles. Strands
 * that are thicker than their distance run into each other: that is the caller's choice. */
PN_API pnResult pnMakeKnot(uint32_t p, uint32_t q, float radius, float tube, uint32_t around, uint32_t across,
                           pnMesh **outMesh);

#ifdef __cplusplus
}
#endif

#endif
