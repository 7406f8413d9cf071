/* ply.h: the header of a PLY file, between its reader (ply_header.c) and the reader of the rows (ply.c). */
#ifndef PN_IO_PLY_H
#define PN_IO_PLY_H

#include "reader.h"

/* Real headers have a handful of elements and, for the richest point clouds, some sixty properties. */
#define PN_PLY_MAX_ELEMENTS 32
#define PN_PLY_MAX_PROPERTIES 256

typedef enum pnPlyFormat { PN_PLY_TEXT, PN_PLY_LITTLE, PN_PLY_BIG } pnPlyFormat;

/* What a number in the file is. */
typedef enum pnPlyType {
  PN_PLY_I8,
  PN_PLY_U8,
  PN_PLY_I16,
  PN_PLY_U16,
  PN_PLY_I32,
  PN_PLY_U32,
  PN_PLY_I64,
  PN_PLY_U64,
  PN_PLY_F32,
  PN_PLY_F64
} pnPlyType;

/* What it is to us. */
typedef enum pnPlyRole { PN_PLY_X, PN_PLY_Y, PN_PLY_Z, PN_PLY_CORNERS, PN_PLY_OTHER } pnPlyRole;

typedef struct pnPlyProperty {
  pnPlyRole role;
  bool list;
  pnPlyType countType, type; /* of a list's length; of the values */
} pnPlyProperty;

typedef enum pnPlyKind { PN_PLY_VERTEX, PN_PLY_FACE, PN_PLY_ELSE } pnPlyKind;

typedef struct pnPlyElement {
  pnPlyKind kind;
  char name[48];
  uint64_t count;
  uint32_t firstProperty, propertyCount;
} pnPlyElement;

typedef struct pnPlyHeader {
  pnPlyFormat format;
  pnPlyElement elements[PN_PLY_MAX_ELEMENTS];
  uint32_t elementCount;
  pnPlyProperty properties[PN_PLY_MAX_PROPERTIES];
  uint32_t propertyCount;
  uint64_t vertexCount;
} pnPlyHeader;

/* From the first byte to the first row; the reader is left there. Counts are checked against the bytes that follow. */
pnResult pn_readPlyHeader(pnReader *reader, pnPlyHeader *outHeader);

/* Bytes of a value in a binary file. */
uint32_t pn_plySize(pnPlyType type);

#endif
