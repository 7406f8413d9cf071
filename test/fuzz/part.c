/* part.c: parts of a scan, as `pinch merge` reads them. The head and the checks are put right before, or a fuzzer would never get past them:
 * a tape is the block of a frame, with or without the way to it, or changes bytes of a good one. */
#define _GNU_SOURCE
#include "../../cli/command.h"
#include "../../cli/scan_deal.h"

#include "../carried.h"
#include "tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* A part as `pinch scan` writes it: its head, and the blocks of its two frames. */
typedef struct Good {
  uint8_t *head, *block[2];
  size_t headSize, blockSize[2];
} Good;

static void *copyOf(const void *bytes, size_t count) {
  void *copy = malloc(count + 1);
  CHECK(copy);
  return memcpy(copy, bytes, count);
}

/* Two boxes; the second comes down into the first. */
static void saveBoxes(const char *path) {
  pnMesh *box;
  CHECK(pnMakeBox((pnVec3){0.5f, 0.5f, 0.5f}, 1, &box) == PN_OK);
  static const char *const names[] = {"anvil", "hammer"};
  pnAnimNode nodes[2];
  pnAnimBody bodies[2];
  uint32_t roots[2] = {0, 1};
  for (uint32_t i = 0; i < 2; ++i) {
    nodes[i] = (pnAnimNode){.name = names[i], .parent = PN_NONE, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    bodies[i] = carriedBody(names[i], "box", i, box);
  }
  float times[2] = {0, 1}, places[6] = {0.2f, 3, 0.1f, 0.2f, -2, 0.1f};
  pnAnimChannel moving = {1, PN_ANIM_TRANSLATION, PN_INTERPOLATION_LINEAR, 3, 2, times, places};
  pnAnimClip clip = {"strike", &moving, 1, 0, 1};
  pnAnimScene scene = {"scene", roots, 2, roots, 2};
  pnAnimFile file = {.name = "boxes",
                     .nodes = nodes,
                     .nodeCount = 2,
                     .bodies = bodies,
                     .bodyCount = 2,
                     .clips = &clip,
                     .clipCount = 1,
                     .scenes = &scene,
                     .sceneCount = 1};
  CHECK(pnSaveAnimFile(path, &file) == PN_OK);
  pnDestroyMesh(box);
}

static Good scanBoxes(bool between) {
  char words[][16] = {"scan", "boxes.glb", "--frames", "12:13",       "--regions", "--fail-on",
                      "none", "--part",    "1/1",      "--part-file", "good",      "--between"},
       *argv[13] = {0};
  for (int i = 0; i < 12; ++i) argv[i] = words[i];
  argv[11] = between ? argv[11] : NULL;
  CHECK(pn_cmdScan(between ? 12 : 11, argv) == 0);
  Good good = {0};
  pnPart *part;
  CHECK(pn_openPart("good", "rb", &part) == PN_OK && part->end - part->begin == 2);
  good.headSize = (size_t)part->goodBytes;
  for (int i = 0; i < 2; ++i) {
    const void *block;
    CHECK(pn_readPart(part, &block, &good.blockSize[i]) == PN_OK);
    good.block[i] = copyOf(block, good.blockSize[i]);
  }
  pn_closePart(part);
  FILE *file = fopen("good", "rb");
  good.head = malloc(good.headSize);
  CHECK(file && good.head && fread(good.head, 1, good.headSize, file) == good.headSize);
  fclose(file);
  return good;
}

/* The part with one of its blocks changed, or another in its place. */
static void writePart(const Good *good, Tape *t) {
  pnBytes out = {0};
  uint32_t kind = tapeByte(t), which = kind % 2;
  pn_bytesAdd(&out, good->head, good->headSize);
  for (uint32_t i = 0; i < 2; ++i) {
    size_t size = good->blockSize[i];
    uint8_t *block = copyOf(good->block[i], size);
    if (i == which && kind % 4 < 2) {
      free(block);
      size = (size_t)(t->end - t->at);
      block = copyOf(size ? t->at : (const uint8_t *)"", size);
    } else if (i == which) {
      for (int n = 0; n < 16 && t->at < t->end; ++n) {
        uint32_t at = tapeBits(t) % (uint32_t)size;
        block[at] = (uint8_t)tapeByte(t);
      }
    }
    CHECK(pn_partRecord(i, block, size, &out) == PN_OK);
    free(block);
  }
  FILE *file = fopen("forged", "wb");
  CHECK(file && fwrite(out.data, 1, out.size, file) == out.size && fclose(file) == 0);
  pn_bytesFree(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static Good good[2];
  if (!good[0].head) {
    saveBoxes("boxes.glb");
    for (int i = 0; i < 2; ++i) good[i] = scanBoxes(i == 1);
  }
  Tape t = {bytes, bytes + count};
  writePart(&good[tapeBelow(&t, 2)], &t);
  char words[][12] = {"merge", "forged", "--json"}, *argv[4] = {words[0], words[1], words[2], NULL};
  int status = pn_cmdMerge(3, argv);
  CHECK(status >= 0 && status <= 2 && pnGetByteCount() == 0);
  return 0;
}
