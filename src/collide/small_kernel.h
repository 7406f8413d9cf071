/* small_kernel.h: the loops of small.h. Included with the words of registers of WIDE floats (simd_words.h) and OPEN_SMALL, the name; and,
 * by sixteen (BY_BYTES), PICK, SPLIT, LOWEST and HIGHEST (geom/simd_pick.h). Four and eight have no way to pick numbers from places that does
 * not take them one by one; so a triangle's box is made of its corners as rows, all directions at once, and rows become columns. */

/* Lists end with what fills up a register, or what is written 64 at a time. */
#define BEYOND 64u

/* One of the two bodies. */
typedef struct SmallSide {
  const pnSmall *shape;
  const float *source; /* vertices where they are */
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
#if WIDE == 8
#define JOIN(rows, i) pn_f8Join((rows)[i], (rows)[(i) + 4])
#define MIN_OF_HALVES(a) pn_f4Min(pn_f8Low(a), pn_f8High(a))
#define APPEND pn_append8
#else
#define JOIN(rows, i) (rows)[i]
#define MIN_OF_HALVES(a) (a)
#define APPEND pn_append4
#endif

/* Rows of four, as many as a register has lanes, into columns. */
PN_INLINE void columnsOf(const pnF4 rows[WIDE], F out[4]) {
  TRANSPOSE(JOIN(rows, 0), JOIN(rows, 1), JOIN(rows, 2), JOIN(rows, 3), out);
}

/* The least of some lanes, and the greatest of others. */
PN_INLINE void endsOf(F least, F most, float *outLo, float *outHi) {
  pnF4 lo = MIN_OF_HALVES(least), hi = MIN_OF_HALVES(NEG(most)), column[4];
  float ends[4];
  pn_f4Transpose4(lo, hi, lo, hi, column);
  pn_f4Store(ends, pn_f4Min(pn_f4Min(column[0], column[1]), pn_f4Min(column[2], column[3])));
  *outLo = ends[0];
  *outHi = -ends[1];
}

/* Points of three numbers each, of which `count` are there; the others are the last one again. One float more than it has is read (pose.h). */
PN_INLINE void splitPoints(const float *from, uint32_t count, F out[4]) {
  pnF4 rows[WIDE];
  for (uint32_t i = 0; i < WIDE; ++i) rows[i] = pn_f4Load(from + 3 * (size_t)PN_MIN(i, count - 1));
  columnsOf(rows, out);
}
#endif

/* ---------------------------------------------------------------- vertices */

static void seeVertices(SmallSide *s, const pnTree *tree, const pnSmallView *view) {
  F least = SET1(FLT_MAX), most = SET1(-FLT_MAX);
  s->shape = tree->shape->small;
  s->source = (const float *)(const void *)tree->cornerBase;
  s->vertexCount = tree->mesh->vertexCount;
  s->triangleCount = tree->mesh->triangleCount;
  for (uint32_t i = 0; i < s->vertexCount; i += WIDE) {
    F p[4], along[3];
#ifdef BY_BYTES
    SPLIT(s->source + 3 * i, s->vertexCount - i, s->at[0] + i, s->at[1] + i, s->at[2] + i);
    for (int k = 0; k < 3; ++k) p[k] = LOAD(s->at[k] + i);
#else
    splitPoints(s->source + 3 * (size_t)i, s->vertexCount - i, p);
    for (int k = 0; k < 3; ++k) STORE(s->at[k] + i, p[k]);
#endif
    for (int k = 0; k < 3; ++k) along[k] = MUL(SUB(p[k], SET1(view->middle[k])), SET1(view->direction[k]));
    F sum = ADD(ADD(along[0], along[1]), along[2]);
    STORE(s->at[3] + i, sum);
    /* of a vertex that is no corner, the sum may be no number: then the other is kept */
    least = MIN(sum, least);
    most = MAX(sum, most);
  }
  for (int k = 0; k < 3; ++k) {
    s->lo[k] = (&tree->box.min.x)[k];
    s->hi[k] = (&tree->box.max.x)[k];
  }
#ifdef BY_BYTES
  s->lo[3] = LOWEST(least);
  s->hi[3] = HIGHEST(most);
#else
  endsOf(least, most, &s->lo[3], &s->hi[3]);
#endif
}

/* ---------------------------------------------------------------- triangles that are left */

#ifdef BY_BYTES
static const uint8_t numbersUpTo[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Triangles that are not beyond one of the sides. */
static void keepTriangles(SmallSide *s, const float *lo, const float *hi) {
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
    pn_listBits(kept, t, s->triangle + s->count);
    s->count += (uint32_t)__builtin_popcountll(kept);
  }
  /* what fills up a register is the first again */
  for (int k = 0; k < 3; ++k) memset(s->corner[k] + s->count, s->corner[k][0], WIDE);
  memset(s->triangle + s->count, s->triangle[0], WIDE);
}

/* All of them. */
PN_INLINE void keepAll(SmallSide *s) {
  s->count = s->triangleCount;
  for (int k = 0; k < 3; ++k) memcpy(s->corner[k], s->shape->corner[k], WIDE);
  memcpy(s->triangle, numbersUpTo, WIDE);
}

/* Their boxes, and, if `around`, the one around all of them. */
PN_INLINE void boundTriangles(SmallSide *s, float margin, bool around) {
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
    pn_pick16(s->shape->slot, s->triangle + i, s->slot + i);
  }
  for (uint32_t k = 0; around && k < PN_SMALL_DIRECTIONS; ++k) {
    s->lo[k] = LOWEST(least[k]);
    s->hi[k] = HIGHEST(most[k]);
  }
}
#else
/* Codes of all vertices, a byte each. */
PN_INLINE void codeVertices(const SmallSide *s, const float *lo, const float *hi, uint8_t codes[PN_SMALL_VERTICES]) {
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
#if WIDE == 8
    pn_f8Bytes(code, codes + i);
#else
    float lanes[WIDE];
    uint32_t numbers[WIDE];
    STORE(lanes, code);
    memcpy(numbers, lanes, sizeof lanes);
    for (uint32_t j = 0; j < WIDE; ++j) codes[i + j] = (uint8_t)numbers[j];
#endif
  }
}

/* Triangles that are not beyond one of the sides. */
static void keepTriangles(SmallSide *s, const float *lo, const float *hi) {
  uint8_t codes[PN_SMALL_VERTICES];
  codeVertices(s, lo, hi, codes);
  const uint8_t(*c)[PN_SMALL_TRIANGLES] = s->shape->corner;
  uint32_t n = 0;
#ifdef PN_LOOKS
  for (uint32_t t = 0; t < s->triangleCount; t += PN_LOOKS) {
    uint32_t there = UINT32_MAX >> (32 - PN_MIN(s->triangleCount - t, PN_LOOKS));
    uint32_t parts = (s->vertexCount + 15) / 16;
    n += pn_listLooks(pn_nothingShared(codes, parts, c[0] + t, c[1] + t, c[2] + t) & there, t, s->triangle + n);
  }
#else
  for (uint32_t t = 0; t < s->triangleCount; ++t) {
    s->triangle[n] = (uint8_t)t;
    n += (codes[c[0][t]] & codes[c[1][t]] & codes[c[2][t]]) == 0;
  }
#endif
  /* what fills up a register is the first again */
  for (uint32_t i = n; n > 0 && i % WIDE != 0; ++i) s->triangle[i] = s->triangle[0];
  s->count = n;
}

/* All of them; what fills up a register is the first again. */
PN_INLINE void keepAll(SmallSide *s) {
  s->count = s->triangleCount;
  for (uint32_t t = 0; t < WIDE; ++t) s->triangle[t] = t < s->count ? (uint8_t)t : 0;
}

/* The box of a triangle in all directions, as two rows. A vertex is read where it is, and its number along the fourth beside it. */
PN_INLINE void boundTriangle(const SmallSide *s, uint32_t triangle, pnF4 *outLo, pnF4 *outHi) {
  pnF4 v[3];
  for (int k = 0; k < 3; ++k) {
    uint32_t corner = s->shape->corner[k][triangle];
    v[k] = pn_f4WithLast(pn_f4Load(s->source + 3 * (size_t)corner), s->at[3][corner]);
  }
  *outLo = pn_f4Min(pn_f4Min(v[0], v[1]), v[2]);
  *outHi = pn_f4Max(pn_f4Max(v[0], v[1]), v[2]);
}

/* Boxes of triangles that are left, and, if `around`, the one around all of them. */
PN_INLINE void boundTriangles(SmallSide *s, float margin, bool around) {
  const float margins[4] = {0, 0, 0, margin};
  pnF4 more = pn_f4Load(margins), least = pn_f4Set1(FLT_MAX), most = pn_f4Set1(-FLT_MAX);
  for (uint32_t i = 0; i < s->count; i += WIDE) {
    pnF4 lo[WIDE], hi[WIDE];
    F column[2][4];
    for (uint32_t j = 0; j < WIDE; ++j) {
      boundTriangle(s, s->triangle[i + j], &lo[j], &hi[j]);
      lo[j] = pn_f4Sub(lo[j], more);
      hi[j] = pn_f4Add(hi[j], more);
      least = pn_f4Min(least, lo[j]);
      most = pn_f4Max(most, hi[j]);
      s->slot[i + j] = s->shape->slot[s->triangle[i + j]];
    }
    columnsOf(lo, column[0]);
    columnsOf(hi, column[1]);
    for (uint32_t k = 0; k < PN_SMALL_DIRECTIONS; ++k) {
      STORE(s->boxLo[k] + i, column[0][k]);
      STORE(s->boxHi[k] + i, column[1][k]);
    }
  }
  if (!around) return;
  pn_f4Store(s->lo, least);
  pn_f4Store(s->hi, most);
}
#endif

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
      n += APPEND(&out[n].a, a->slot[i], b->slot + j, m);
    }
  }
  return n;
}
#endif

/* Of so few triangles, one register of them at most, it takes longer to find out which are left than to pair all. */
#define FEW 4u

/* Boxes of the triangles of both that may meet; false: none do. */
PN_INLINE bool findBoxes(SmallSide *a, SmallSide *b, float margin, pnCost *cost) {
  if (a->triangleCount <= FEW && b->triangleCount <= FEW) {
    keepAll(a);
    keepAll(b);
    boundTriangles(a, margin, false);
    boundTriangles(b, 0, false);
    return true;
  }
  keepTriangles(a, b->lo, b->hi);
  cost->volumeTests += a->triangleCount;
  if (a->count == 0) return false;
  boundTriangles(a, margin, true);
  keepTriangles(b, a->lo, a->hi);
  cost->volumeTests += b->triangleCount;
  if (b->count == 0) return false;
  boundTriangles(b, 0, false);
  return true;
}

bool OPEN_SMALL(const pnTree *a, const pnTree *b, const pnSmallView *view, pnWorker *w) {
  SmallSide A, B;
  seeVertices(&A, a, view);
  seeVertices(&B, b, view);
  w->cost.verticesFetched += A.vertexCount + B.vertexCount;
  ++w->cost.nodePairs;
  B.lo[3] -= view->margin;
  B.hi[3] += view->margin;
  if (A.hi[3] < B.lo[3] || A.lo[3] > B.hi[3]) return true;
  if (!findBoxes(&A, &B, view->margin, &w->cost)) return true;
  /* eight or sixteen are written at a time */
  size_t room = (size_t)A.count * B.count + 16;
  if (!pn_arrayReserve(&w->candidates, w->candidates.count + room)) return false;
  w->candidates.count += pairBoxes(&A, &B, w->candidates.data + w->candidates.count);
  w->cost.volumeTests += (uint64_t)A.count * B.count;
  return true;
}
