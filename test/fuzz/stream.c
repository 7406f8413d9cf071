/* stream.c: frames by standard input, as `pinch scan -` takes them. A tape of even first byte is what follows the mark of a stream; one of
 * odd first byte says what a stream has: bodies, most of whose numbers can be, frames, and at last some words that are changed. */
#define _GNU_SOURCE
#include "../../cli/command.h"
#include "pinch/base.h"

#include "tape.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { MOST_BODIES = 3, MOST_VERTICES = 9, MOST_TRIANGLES = 12, MOST_FRAMES = 4, ROOM = 8192 };

typedef struct Stream {
  uint8_t bytes[ROOM];
  size_t size;
} Stream;

static void put(Stream *s, const void *bytes, size_t size) {
  CHECK(s->size + size <= ROOM);
  if (size) memcpy(s->bytes + s->size, bytes, size);
  s->size += size;
}
static void putNumber(Stream *s, uint32_t x) {
  put(s, &x, sizeof x);
}

static void putPlaces(Stream *s, Tape *t, uint32_t vertices, float last[8], uint32_t *numbers) {
  for (uint32_t i = 0; i < 3 * vertices; ++i) {
    float x = tapeFloat(t, last, numbers);
    put(s, &x, sizeof x);
  }
}

static void writeStream(Stream *s, Tape *t) {
  float last[8] = {0, 1, 2, -1, 0.5f, 3, 4, -2};
  uint32_t numbers = 0, bodies = 1 + tapeBelow(t, MOST_BODIES), all = 0;
  const double fps = 25;
  put(s, &fps, sizeof fps);
  putNumber(s, bodies);
  for (uint32_t b = 0; b < bodies; ++b) {
    uint32_t vertices = 1 + tapeBelow(t, MOST_VERTICES), triangles = tapeBelow(t, MOST_TRIANGLES + 1),
             name = tapeBelow(t, 4);
    const uint32_t counts[3] = {name, vertices, triangles};
    put(s, counts, sizeof counts);
    put(s, "abc", name);
    putPlaces(s, t, vertices, last, &numbers);
    for (uint32_t i = 0; i < 3 * triangles; ++i) putNumber(s, tapeBelow(t, vertices));
    all += vertices;
  }
  for (uint32_t f = 0, frames = tapeBelow(t, MOST_FRAMES + 1); f < frames; ++f) {
    const int64_t number = (int64_t)f;
    put(s, &number, sizeof number);
    putPlaces(s, t, all, last, &numbers);
  }
  for (uint32_t n = tapeBelow(t, 4); n > 0; --n) {
    uint32_t word = tapeBits(t);
    memcpy(s->bytes + tapeBits(t) % (s->size - 3), &word, sizeof word);
  }
  s->size -= tapeByte(t) == 1 ? tapeByte(t) % s->size : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char mark[] = "\x93pinch stream 1\n";
  char words[][12] = {"scan", "-", "--json", "--regions", "--self"}, *argv[6] = {0};
  Tape t = {bytes, bytes + count};
  static Stream s;
  uint32_t kind = tapeByte(&t);
  s.size = 0;
  put(&s, mark, sizeof mark - 1);
  if (kind % 2) writeStream(&s, &t);
  else put(&s, t.at, (size_t)(t.end - t.at) < ROOM / 2 ? (size_t)(t.end - t.at) : ROOM / 2);
  int handle = memfd_create("stream", 0), argc = kind % 4 < 2 ? 5 : 4;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
  CHECK(handle >= 0 && write(handle, s.bytes, s.size) == (ssize_t)s.size && freopen(path, "rb", stdin));
  for (int i = 0; i < argc; ++i) argv[i] = words[i];
  int status = pn_cmdScan(argc, argv);
  CHECK(status >= 0 && status <= 2 && pnGetByteCount() == 0);
  close(handle);
  return 0;
}
