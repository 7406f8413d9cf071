/* scan_stream.c: frames by standard input, for a simulator that pipes them in as it makes them. Numbers are little-endian.
 *
 *   "\x93pinch stream 1\n"         16 bytes
 *   frames a second                8 bytes, a double
 *   bodies                         4 bytes
 *   each body     bytes of its name, vertices, triangles    4 bytes each
 *                 its name; 3 floats a vertex: where it is at rest; 3 numbers of vertices a triangle
 *   each frame    its number, ascending                     8 bytes
 *                 3 floats for each vertex of each body
 *
 * The stream ends where it ends, behind a whole frame. Nobody can be trusted: counts are believed as far as bytes come. Who waits for them
 * can be asked to end all the same: so they are not read by stdio, whose reads go on after a signal. */
#include "scan.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAM_MARK "\x93pinch stream 1\n"
#define MOST_BODIES 100000u
#define MOST_NAME 4096u

bool pn_isStream(const char *word) {
  if (strcmp(word, "-") != 0) return false;
  // One byte can be put back; no mesh or glTF file begins with this one. More is not taken from who may read it in another way.
  setvbuf(stdin, NULL, _IONBF, 0);
  int first = getc(stdin);
  if (first != EOF) ungetc(first, stdin);
  return first == (unsigned char)STREAM_MARK[0];
}

/* ---------------------------------------------------------------- reading */

static bool isLittle(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first == 1;
}

/* Waits until there is something to be read, its end too. False: the scan was asked to end. */
static bool waitForInput(void) {
  struct pollfd inputs[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = pn_scanStopInput(), .events = POLLIN}};
  while (poll(inputs, 2, -1) < 0 && errno == EINTR) {}
  return inputs[1].revents == 0;
}

/* What has come and was not asked for yet. */
static struct {
  uint8_t bytes[1 << 16];
  size_t begin, end;
  bool cut; // asked to end, while it was waited for
  int error;
} s_input;

/* As many bytes as are wanted; fewer at the end, after an error, or when the scan was asked to end. */
static size_t readBytes(void *to, size_t wanted) {
  size_t have = 0;
  while (have < wanted) {
    if (s_input.begin == s_input.end) {
      s_input.cut = !waitForInput();
      ssize_t got = s_input.cut ? 0 : read(STDIN_FILENO, s_input.bytes, sizeof(s_input.bytes));
      if (got < 0 && errno == EINTR) continue;
      s_input.error = got < 0 ? errno : 0;
      if (got <= 0) break;
      s_input.begin = 0;
      s_input.end = (size_t)got;
    }
    size_t part = s_input.end - s_input.begin;
    if (part > wanted - have) part = wanted - have;
    memcpy((char *)to + have, s_input.bytes + s_input.begin, part);
    s_input.begin += part;
    have += part;
  }
  return have;
}

/* Is this the end? */
static bool isAtEnd(void) {
  uint8_t byte;
  if (readBytes(&byte, 1) == 0) return true;
  --s_input.begin;
  return false;
}

/* Why there is less than was asked for. */
static pnResult explainEnd(const char *what) {
  if (s_input.error != 0) return pnFail(PN_ERROR_FILE, "standard input cannot be read: %s", strerror(s_input.error));
  return pnFail(PN_ERROR_FORMAT, "the stream ends in the middle of %s", what);
}

/* Numbers of `size` bytes, turned round on a machine that has them the other way. */
static pnResult take(void *to, size_t size, size_t count, const char *what) {
  if (readBytes(to, size * count) != size * count) return explainEnd(what);
  uint8_t *bytes = to;
  for (size_t i = 0; i < count && !isLittle(); ++i) {
    for (size_t k = 0; k < size / 2; ++k) {
      uint8_t byte = bytes[i * size + k];
      bytes[i * size + k] = bytes[i * size + size - 1 - k];
      bytes[i * size + size - 1 - k] = byte;
    }
  }
  return PN_OK;
}

/* The same into memory that grows with what comes. Free *out also after an error. */
static pnResult takeArray(void **out, size_t count, const char *what) {
  enum { STEP = 1 << 18 };
  pnResult result = PN_OK;
  *out = NULL;
  for (size_t have = 0; have < count && result == PN_OK;) {
    // Doubled, so that it is moved few times; never more than twice what has come.
    size_t step = have < STEP ? STEP : have;
    if (step > count - have) step = count - have;
    void *grown = realloc(*out, (have + step) * 4);
    if (!grown) return pnFail(PN_ERROR_MEMORY, "out of memory for %s", what);
    *out = grown;
    result = take((char *)grown + have * 4, 4, step, what);
    have += step;
  }
  return result;
}

/* ---------------------------------------------------------------- the head */

static pnResult addBody(pnScan *scan, uint32_t number) {
  uint32_t counts[3];
  char name[MOST_NAME + 1] = {0};
  pnResult result = take(counts, 4, 3, "a body");
  if (result != PN_OK) return result;
  if (counts[0] > MOST_NAME || counts[1] == 0 || counts[1] > INT32_MAX / 3 || counts[2] > INT32_MAX / 3)
    return pnFail(PN_ERROR_FORMAT, "the stream's body %u has %u bytes of name, %u vertices and %u triangles", number,
                  counts[0], counts[1], counts[2]);
  result = take(name, 1, counts[0], "a name");
  if (result == PN_OK && name[0] == 0) snprintf(name, sizeof(name), "body%u", number);
  pnScanBody *body = NULL;
  void *vertices = NULL, *triangles = NULL;
  if (result == PN_OK) result = takeArray(&vertices, 3 * (size_t)counts[1], "the vertices of a body");
  if (result == PN_OK) result = takeArray(&triangles, 3 * (size_t)counts[2], "the triangles of a body");
  if (result == PN_OK) result = pn_scanAddBody(scan, name, &body);
  if (result == PN_OK) {
    pnMeshDef def = pnDefaultMeshDef();
    pnMeshInfo info = {0};
    def.vertices = vertices;
    def.vertexCount = counts[1];
    def.triangles = triangles;
    def.triangleCount = counts[2];
    def.name = body->name;
    body->kind = PN_BODY_FREE;
    result = pnCreateMesh(&def, &body->mesh);
    if (result == PN_OK) result = pnMesh_Validate(body->mesh, &info);
    body->closed = info.closed;
    // Room for the frames.
    body->vertices = vertices;
    vertices = NULL;
  }
  free(vertices);
  free(triangles);
  return result;
}

pnResult pn_streamOpen(pnScan *scan, pnScanSource *source) {
  char mark[16];
  double fps;
  uint32_t bodies;
  // The first byte was put back.
  pnResult result =
      fread(mark, 1, 1, stdin) == 1 ? take(mark + 1, 1, sizeof(mark) - 1, "its head") : explainEnd("its head");
  if (result == PN_OK && memcmp(mark, STREAM_MARK, sizeof(mark)) != 0)
    return pnFail(PN_ERROR_FORMAT, "standard input begins like a stream of frames and is none of version 1");
  if (result == PN_OK) result = take(&fps, 8, 1, "its head");
  if (result == PN_OK) result = take(&bodies, 4, 1, "its head");
  if (result != PN_OK) return result;
  if (!(fps > 0.001 && fps < 100000) || bodies == 0 || bodies > MOST_BODIES)
    return pnFail(PN_ERROR_FORMAT, "the stream has %g frames a second and %u bodies", fps, bodies);
  source->streamFps = fps;
  for (uint32_t b = 0; b < bodies && result == PN_OK; ++b) result = addBody(scan, b);
  source->stream = true;
  return result;
}

/* ---------------------------------------------------------------- frames */

const pnScanSource *pn_streamOf(const pnScan *scan) {
  for (uint32_t s = 0; s < scan->sourceCount; ++s)
    if (scan->sources[s].stream) return &scan->sources[s];
  return NULL;
}

/* A frame that has begun to come. */
static pnResult takeFrame(pnScan *scan, int64_t last, int64_t *outNumber) {
  const pnScanSource *source = pn_streamOf(scan);
  int64_t number;
  pnResult result = take(&number, 8, 1, "the number of a frame");
  if (result != PN_OK) return result;
  bool ordered = scan->seenCount == 0 || number > last;
  if (number < -INT32_MAX || number > INT32_MAX || !ordered)
    return pnFail(PN_ERROR_FORMAT, "the stream has frame %lld after %u others, the last of them %lld: numbers ascend",
                  (long long)number, scan->seenCount, (long long)last);
  char what[64];
  snprintf(what, sizeof(what), "frame %lld", (long long)number);
  for (uint32_t b = 0; b < scan->bodyCount && result == PN_OK; ++b) {
    pnScanBody *body = &scan->bodies[b];
    if (&scan->sources[body->source] == source)
      result = take(body->vertices, 4, 3 * (size_t)pnMesh_GetVertexCount(body->mesh), what);
  }
  *outNumber = number;
  return result;
}

pnResult pn_streamNext(pnScan *scan, int64_t *ioNumber, pnStreamStep *outStep) {
  int64_t number = *ioNumber;
  bool ended = isAtEnd();
  pnResult result = ended ? PN_OK : takeFrame(scan, *ioNumber, &number);
  *outStep = s_input.cut ? PN_STREAM_CUT : ended ? PN_STREAM_END : PN_STREAM_FRAME;
  if (s_input.cut) return PN_OK; // what there is of a frame is none
  if (s_input.error != 0) return explainEnd("a frame");
  *ioNumber = number;
  return result;
}
