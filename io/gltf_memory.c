/* gltf_memory.c: memory for a reader of hostile files: blocks freed all at once, and a limit for their sum.
 *
 * A small file can ask for much: an accessor without bytes, one list of indices used by thousands of primitives. All
 * honest growth is a small factor (a byte of a strip's indices becomes three numbers of four bytes, a weight of one
 * byte a float), so the sum is limited to a multiple of what was read, at the one place where memory is taken. */
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

/* 64 times the input and 64 MiB: five times the largest honest factor, and room for the JSON of small files. */
#define PN_GLTF_GROWTH 64
#define PN_GLTF_ROOM ((size_t)64 << 20)

typedef struct pnGltfBlock {
  struct pnGltfBlock *next;
  size_t size;
  _Alignas(16) unsigned char data[];
} pnGltfBlock;

void *pn_gltfTake(pnGltfBlocks *blocks, pnGltfBudget *budget, size_t count, size_t size) {
  /* The sum with the head may not overflow, and may not pass the limit. */
  size_t room = budget->limit - budget->used;
  budget->exceeded = room < sizeof(pnGltfBlock) + 1 || count > (room - sizeof(pnGltfBlock)) / size;
  if (budget->exceeded) return NULL;

  /* One byte at least, so that nothing asked for is not null. */
  size_t bytes = sizeof(pnGltfBlock) + (count > 0 ? count * size : 1);
  pnGltfBlock *block = pnAlloc(bytes);
  if (block == NULL) return NULL;
  memset(block, 0, bytes);
  block->next = blocks->first;
  block->size = bytes;
  blocks->first = block;
  budget->used += bytes;
  return block->data;
}

void pn_gltfFreeBlocks(pnGltfBlocks *blocks) {
  while (blocks->first != NULL) {
    pnGltfBlock *block = blocks->first;
    blocks->first = block->next;
    pnFree(block, block->size);
  }
}

void pn_gltfAddInput(pnGltf *g, size_t bytes) {
  size_t most = (SIZE_MAX - PN_GLTF_ROOM) / PN_GLTF_GROWTH;
  g->budget.input += bytes < most - g->budget.input ? bytes : most - g->budget.input;
  g->budget.limit = PN_GLTF_ROOM + PN_GLTF_GROWTH * g->budget.input;
}

void *pn_gltfKeep(pnGltf *g, size_t count, size_t size) {
  return pn_gltfTake(&g->keep, &g->budget, count, size);
}

void *pn_gltfScratch(pnGltf *g, size_t count, size_t size) {
  return pn_gltfTake(&g->scratch, &g->budget, count, size);
}

pnResult pn_gltfNoMemory(const pnGltf *g) {
  if (!g->budget.exceeded) return pnFail(PN_ERROR_MEMORY, "%s: out of memory", g->name);
  return pnFail(PN_ERROR_COUNT,
                "%s: its counts ask for more than %zu bytes, %d times what the file holds; it is broken or hostile",
                g->name, g->budget.limit, PN_GLTF_GROWTH);
}

const char *pn_gltfText(pnGltf *g, const char *text) {
  size_t length = strlen(text);
  char *copy = pn_gltfKeep(g, length + 1, 1);
  return copy != NULL ? memcpy(copy, text, length + 1) : NULL;
}
