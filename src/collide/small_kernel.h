/* small_kernel.h: the loops of small.h. Included with the words of registers of WIDE floats (simd_words.h) and OPEN_SMALL, the name; and,
 * where a machine has shorter ways, PICK, PICK_SLOTS, SPLIT, LOWEST, HIGHEST, NOT_ABOVE, APPEND (geom/simd_pick.h) and BY_BYTES. */

/* Lists end with what fills up a register, or what is written 64 at a time. */
#define BEYOND 64u

/* One of the two bodies. */
typedef struct SmallSide {
  const pnSmall *shape;
  uint32_t vertexCount, triangleCount;
  float at[PN_SMALL_DIRECTIONS][PN_SMALL_VERTICES];       /* vertices; the last again, up to the end of a register */
  float lo[PN_SMALL_DIRECTIONS], hi[PN_SMALL_DIRECTIONS]; /* of the body, then of the triangles that are left */
  uint32_t count;                                         /* of these; their numbers, corners, slots and boxes: */
  uint8_t triangle[PN_SMALL_TRIANGLES + BEYOND], corner[3][PN_SMALL_TRIANGLES + BEYOND];
  uint32_t slot[PN_SMALL_TRIANGLES + BEYOND];
  float boxLo[PN_SMALL_DIRECTIONS][PN_SMALL_TRIANGLES + BEYOND],
      boxHi[PN_SMALL_DIRECTIONS][PN_SMALL_TRIANGLES + BEYOND];
} SmallSide;

#ifndef BY_BYTES
#define PICK pickNumbers
#define SPLIT splitPoints
#define SPLIT_AT_ONCE 4u
#define LOWEST lowestOf
#define HIGHEST highestOf

PN_INLINE F pickNumbers(const float *from, const uint8_t *places) {
  float lane[WIDE];
  for (uint32_t i = 0; i < WIDE; ++i) lane[i] = from[places[i]];
  return LOAD(lane);
}

/* One float more than the last may be read (pose.h). */
PN_INLINE void splitPoints(const float *from, uint32_t count, float *x, float *y, float *z) {
  pnF4 p[4], to[3];
  for (uint32_t i = 0; i < 4; ++i) p[i] = pn_f4Load(from + 3 * (size_t)PN_MIN(i, count - 1));
  pn_f4Transpose3(p[0], p[1], p[2], p[3], &to[0], &to[1], &to[2]);
  pn_f4Store(x, to[0]);
  pn_f4Store(y, to[1]);
  pn_f4Store(z, to[2]);
}

PN_INLINE float lowestOf(F a) {
  float lane[WIDE], least;
  STORE(lane, a);
  least = lane[0];
  for (uint32_t i = 1; i < WIDE; ++i) least = PN_MIN(least, lane[i]);
  return least;
}

PN_INLINE float highestOf(F a) {
  return -lowestOf(NEG(a));
}
#endif

/* ---------------------------------------------------------------- vertices */

static void seeVertices(SmallSide *s, const pnTree *tree, const pnSmallView *view) {
  const float *source = (const float *)(const void *)tree->cornerBase;
  F least = SET1(FLT_MAX), most = SET1(-FLT_MAX);
  s->shape = tree->shape->small;
  s->vertexCount = tree->mesh->vertexCount;
  s->triangleCount = tree->mesh->triangleCount;
  for (uint32_t i = 0; i < s->vertexCount || i % WIDE != 0; i += SPLIT_AT_ONCE) {
    uint32_t from = PN_MIN(i, s->vertexCount - 1);
    SPLIT(source + 3 * from, s->vertexCount - from, s->at[0] + i, s->at[1] + i, s->at[2] + i);
  }
  for (uint32_t i = 0; i < s->vertexCount; i += WIDE) {
    F along[3];
    for (int k = 0; k < 3; ++k)
      along[k] = MUL(SUB(LOAD(s->at[k] + i), SET1(view->middle[k])), SET1(view->direction[k]));
    F sum = ADD(ADD(along[0], along[1]), along[2]);
    STORE(s->at[3] + i, sum);
    least = MIN(least, sum);
    most = MAX(most, sum);
  }
  for (int k = 0; k < 3; ++k) {
    s->lo[k] = (&tree->box.min.x)[k];
    s->hi[k] = (&tree->box.max.x)[k];
  }
  s->lo[3] = LOWEST(least);
  s->hi[3] = HIGHEST(most);
}

/* ---------------------------------------------------------------- triangles that are left */

#ifdef BY_BYTES
/* Triangles that are not beyond one of the sides. */
static void keepTriangles(SmallSide *s, const float *lo, const float *hi) {
  static const uint8_t numbers[PN_PICKS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                            16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                            32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                            48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  uint64_t beyond[2 * PN_SMALL_DIRECTIONS] = {0};
  for (uint32_t i = 0; i < s->vertexCount; i += WIDE) {
    for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
      F v = LOAD(s->at[k] + i);
      beyond[2 * k] |= (uint64_t)(pn_f16NotAbove(0xffff, SET1(lo[k]), v) ^ 0xffff) << i;
      beyond[2 * k + 1] |= (uint64_t)(pn_f16NotAbove(0xffff, v, SET1(hi[k])) ^ 0xffff) << i;
    }
  }
  uint8_t codes[PN_PICKS];
  pn_bytesOfBits(beyond, codes);
  s->count = 0;
  for (uint32_t t = 0; t < s->triangleCount; t += PN_PICKS) {
    const uint8_t *c[3] = {s->shape->corner[0] + t, s->shape->corner[1] + t, s->shape->corner[2] + t};
    uint64_t there = UINT64_MAX >> (PN_PICKS - PN_MIN(s->triangleCount - t, PN_PICKS));
    uint64_t kept = pn_nothingInCommon(codes, c[0], c[1], c[2]) & there;
    for (int k = 0; k < 3; ++k) pn_keepBytes(c[k], kept, s->corner[k] + s->count);
    pn_keepBytes(numbers, kept, s->triangle + s->count);
    for (uint32_t i = 0; t > 0 && i < PN_PICKS; ++i)
      s->triangle[s->count + i] = (uint8_t)(s->triangle[s->count + i] + t);
    s->count += (uint32_t)__builtin_popcountll(kept);
  }
  /* what fills up a register is the first again */
  for (int k = 0; k < 3; ++k) memset(s->corner[k] + s->count, s->corner[k][0], WIDE);
  memset(s->triangle + s->count, s->triangle[0], WIDE);
}
#else
static void keepTriangles(SmallSide *s, const float *lo, const float *hi) {
  uint32_t codes[PN_SMALL_VERTICES];
  for (uint32_t i = 0; i < s->vertexCount; i += WIDE) {
    F code = SET1(0);
    for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
      uint32_t bits[2] = {1u << 2 * k, 2u << 2 * k};
      float bit[2];
      memcpy(bit, bits, sizeof bit);
      F v = LOAD(s->at[k] + i);
      code = OR(code, AND(GREATER(SET1(lo[k]), v), SET1(bit[0])));
      code = OR(code, AND(GREATER(v, SET1(hi[k])), SET1(bit[1])));
    }
    float lanes[WIDE];
    STORE(lanes, code);
    memcpy(codes + i, lanes, sizeof lanes);
  }
  const uint8_t(*c)[PN_SMALL_TRIANGLES] = s->shape->corner;
  uint32_t n = 0;
  for (uint32_t t = 0; t < s->triangleCount; ++t) {
    s->triangle[n] = (uint8_t)t;
    n += (codes[c[0][t]] & codes[c[1][t]] & codes[c[2][t]]) == 0;
  }
  /* what fills up a register is the first again */
  for (uint32_t i = n; n > 0 && i % WIDE != 0; ++i) s->triangle[i] = s->triangle[0];
  for (uint32_t i = 0; i < n || i % WIDE != 0; ++i)
    for (int k = 0; k < 3; ++k) s->corner[k][i] = c[k][s->triangle[i]];
  s->count = n;
}
#endif

/* Their boxes, and the one around all of them. */
PN_INLINE void boundTriangles(SmallSide *s, float margin) {
  F least[PN_SMALL_DIRECTIONS], most[PN_SMALL_DIRECTIONS];
  for (uint32_t i = 0; i < s->count; i += WIDE) {
    for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
      F p = PICK(s->at[k], s->corner[0] + i), q = PICK(s->at[k], s->corner[1] + i),
        r = PICK(s->at[k], s->corner[2] + i);
      F lo = MIN(MIN(p, q), r), hi = MAX(MAX(p, q), r);
      if (k == 3) {
        lo = SUB(lo, SET1(margin));
        hi = ADD(hi, SET1(margin));
      }
      STORE(s->boxLo[k] + i, lo);
      STORE(s->boxHi[k] + i, hi);
      least[k] = i ? MIN(least[k], lo) : lo;
      most[k] = i ? MAX(most[k], hi) : hi;
    }
#ifdef BY_BYTES
    pn_pick16(s->shape->slot, s->triangle + i, s->slot + i);
#endif
  }
  for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
    s->lo[k] = LOWEST(least[k]);
    s->hi[k] = HIGHEST(most[k]);
  }
}

/* ---------------------------------------------------------------- candidates */

/* Every box that is left with every box. */
#ifdef BY_BYTES
static uint32_t pairBoxes(const SmallSide *a, const SmallSide *b, pnPair *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->count; ++i) {
    for (uint32_t j = 0; j < b->count; j += WIDE) {
      uint32_t m = UINT32_MAX >> (32 - PN_MIN(b->count - j, WIDE));
      for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
        m = pn_f16NotAbove(m, LOAD(b->boxLo[k] + j), SET1(a->boxHi[k][i]));
        m = pn_f16NotAbove(m, SET1(a->boxLo[k][i]), LOAD(b->boxHi[k] + j));
      }
      n += pn_append16(&out[n].a, a->slot[i], b->slot + j, m);
    }
  }
  return n;
}
#else
static uint32_t pairBoxes(const SmallSide *a, const SmallSide *b, pnPair *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->count; ++i) {
    for (uint32_t j = 0; j < b->count; j += WIDE) {
      F apart = SET1(0);
      for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
        apart = OR(apart, GREATER(LOAD(b->boxLo[k] + j), SET1(a->boxHi[k][i])));
        apart = OR(apart, GREATER(SET1(a->boxLo[k][i]), LOAD(b->boxHi[k] + j)));
      }
      unsigned m = ~(unsigned)SIGNS(apart) & (0xffu >> (8 - PN_MIN(b->count - j, WIDE)));
      pn_appendLanes(&out[n].a, i, j, m);
      n += pn_laneCount(m);
    }
  }
  for (uint32_t i = 0; i < n; ++i)
    out[i] = (pnPair){a->shape->slot[a->triangle[out[i].a]], b->shape->slot[b->triangle[out[i].b]]};
  return n;
}
#endif

bool OPEN_SMALL(const pnTree *a, const pnTree *b, const pnSmallView *view, pnWorker *w) {
  SmallSide A, B;
  seeVertices(&A, a, view);
  seeVertices(&B, b, view);
  w->cost.verticesFetched += A.vertexCount + B.vertexCount;
  ++w->cost.nodePairs;
  B.lo[3] -= view->margin;
  B.hi[3] += view->margin;
  if (A.hi[3] < B.lo[3] || A.lo[3] > B.hi[3]) return true;
  keepTriangles(&A, B.lo, B.hi);
  w->cost.volumeTests += A.triangleCount;
  if (A.count == 0) return true;
  boundTriangles(&A, view->margin);
  keepTriangles(&B, A.lo, A.hi);
  w->cost.volumeTests += B.triangleCount;
  if (B.count == 0) return true;
  boundTriangles(&B, 0);
  /* eight or sixteen are written at a time */
  size_t room = (size_t)A.count * B.count + 16;
  if (!pn_arrayReserve(&w->candidates, w->candidates.count + room)) return false;
  w->candidates.count += pairBoxes(&A, &B, w->candidates.data + w->candidates.count);
  w->cost.volumeTests += (uint64_t)A.count * B.count;
  return true;
}
