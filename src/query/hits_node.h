/* hits_node.h: a ray and the eight boxes of a node, and the nodes that wait for a ray. Included by hits_walk.h, for four, eight or
 * sixteen floats at once (WIDTH).
 *
 * A ray enters a box along an axis at its near side and leaves it at the far one; which is which its direction says, once for all
 * boxes, so each number of a node is looked at once. Places where it leaves are kept with the sign turned: then boxes are
 * hit where the largest of the three, and of the ray's own window, on one side and on the other have a sum that is not positive.
 * With sixteen floats a register holds both sides of all eight boxes, near and far by turns. */

/* A lane that is hit: where the ray enters its box, a float that is not negative, with the lane's number in its last three bits. */
typedef float LaneKey;

/* The float with these bits. */
#define LAST_BITS 0x7p-149f

/* Where it enters, or a little earlier. */
PN_INLINE float nearOf(LaneKey key) {
  return pn_floatOfBits(pn_bitsOfFloat(key) & ~7u);
}

/* Lanes, each with the number that lane 0 of its node has, as bits of a float: a child, or a place for a triangle. */
PN_INLINE uint32_t numberOf(LaneKey key, float first) {
  return pn_bitsOfFloat(first) + (pn_bitsOfFloat(key) & 7);
}

/* ---------------------------------------------------------------- boxes */

#if WIDTH == 16

/* What is kept of a node that was entered: places of both sides by turns. A lane has two bits, of which the first counts. Places in a
 * node are read as multiples of this many cells. */
#define ENTERED 16u
#define LANE_BITS 2u
#define CELL_UNIT 0x1p-16
/* The first so many lanes. */
static const uint16_t lanesBelow[PN_LANES + 1] = {0, 1, 5, 0x15, 0x55, 0x155, 0x555, 0x1555, 0x5555};

/* Where in four rows of cells those of the near row are and those of the far one, by turns, for each row that may be the near one:
 * in every other number, for pn_f16Cells. */
#define TURN(near, far, j) 0, (near)*PN_LANES + (j), 0, (far)*PN_LANES + (j)
#define TURNS(near, far)                                                                                \
  {                                                                                                     \
    TURN(near, far, 0), TURN(near, far, 1), TURN(near, far, 2), TURN(near, far, 3), TURN(near, far, 4), \
        TURN(near, far, 5), TURN(near, far, 6), TURN(near, far, 7)                                      \
  }
static const _Alignas(64) uint16_t byTurns[4][4 * PN_LANES] = {TURNS(0, 1), TURNS(1, 0), TURNS(2, 3), TURNS(3, 2)};

/* The sides of boxes along an axis, from the four rows that hold it: passed at these places. */
#define SIDES(rows, k, near) \
  MULADD(pn_f16Cells(rows, byTurns[(near) / PN_LANES]), pn_f16Pairs(s->by[k]), pn_f16Pairs(s->term[k]))

/* A bit for each box that the ray hits, and where it enters and leaves them. */
PN_INLINE uint32_t enterBoxes(const int16_t *cells, const pnRaySight *s, float *out) {
  pnH32 both = pn_h32Load(cells), last = pn_h32LoadHalf(cells + 4 * PN_LANES);
  F x = SIDES(both, 0, s->near[0]), y = SIDES(both, 1, s->near[1]), z = SIDES(last, 2, s->near[2] - 4 * PN_LANES);
  F sides = MAX(MAX(x, y), MAX(z, pn_f16Pairs(s->window)));
  STORE(out, sides);
  return pn_f16SumsNotAbove0(sides);
}

#else

/* A number of a node's rows along axis k on a side: passed at that place. */
#define SIDE(cells, k, side) \
  MULADD(SHORTS((cells) + (s->near[k] ^ (side)*PN_LANES) + h * WIDTH), SET1(s->by[k][side]), SET1(s->term[k][side]))

#define ENTERED PN_LANES
#define LANE_BITS 1u
#define CELL_UNIT 1.0
static const uint16_t lanesBelow[PN_LANES + 1] = {0, 1, 3, 7, 15, 31, 63, 127, 255};

PN_INLINE uint32_t enterBoxes(const int16_t *cells, const pnRaySight *s, float *out) {
  uint32_t hit = 0;
  for (uint32_t h = 0; h < PN_LANES / WIDTH; ++h) {
    F in = MAX(MAX(SIDE(cells, 0, 0), SIDE(cells, 1, 0)), MAX(SIDE(cells, 2, 0), SET1(s->window[0])));
    F left = MAX(MAX(SIDE(cells, 0, 1), SIDE(cells, 1, 1)), MAX(SIDE(cells, 2, 1), SET1(s->window[1])));
    STORE(out + h * WIDTH, in);
    hit |= SIGNS(GREATER(ADD(in, left), SET1(0))) << h * WIDTH;
  }
  return ~hit;
}

#endif

/* ---------------------------------------------------------------- lanes that are hit */

/* A list from a mask, of eight and of all floats of a register; the least of them; and how many lanes are hit. */
#if WIDTH == 16
#define PACK8 pn_f8Compress
#define PACK pn_f16Compress
#define LEAST pn_f16Least
#elif WIDTH == 8
#define PACK8(a, mask) pn_f8Permute(a, pn_laneList[mask])
#define PACK PACK8
#define LEAST pn_f8Least
#endif
#if WIDTH >= 8
#define COUNT(hit) ((uint32_t)__builtin_popcount(hit))
#else
#define COUNT pn_laneCount
#endif

/* The first lane that is hit; none: any. */
PN_INLINE uint32_t firstHit(uint32_t hit) {
  return pn_firstLane(hit | 1u << LANE_BITS * (PN_LANES - 1)) / LANE_BITS;
}

#if WIDTH >= 8

/* The numbers of the lanes, as bits of floats. */
#define NUMBER(j) (j) * 0x1p-149f
static const float laneNumbers[ENTERED] = {
#if WIDTH == 16
    NUMBER(0), 0, NUMBER(1), 0, NUMBER(2), 0, NUMBER(3), 0, NUMBER(4), 0, NUMBER(5), 0, NUMBER(6), 0, NUMBER(7), 0};
#else
    NUMBER(0), NUMBER(1), NUMBER(2), NUMBER(3), NUMBER(4), NUMBER(5), NUMBER(6), NUMBER(7)};
#endif

/* Chooses one of the lanes that are hit, in order the closest, and returns its number; the keys of the others, as they come. Eight
 * are written. */
PN_INLINE uint32_t listLanes(const float *in, uint32_t hit, bool inOrder, LaneKey keys[PN_LANES]) {
  F key = OR(ANDNOT(LOAD(in), SET1(LAST_BITS)), LOAD(laneNumbers));
  uint32_t lane = inOrder ? pn_bitsOfFloat(LEAST(key, hit)) & 7 : firstHit(hit);
  pn_f8Store(keys, PACK(key, hit & ~(1u << LANE_BITS * lane)));
  return lane;
}

/* The numbers of the lanes that are hit, `first` being that of lane 0, and for each whose they are. Eight are written. */
PN_INLINE void listNumbers(uint32_t hit, uint32_t first, uint32_t ray, uint32_t *numbers, uint32_t *rays) {
  pn_f8AddNumbers(PACK(LOAD(laneNumbers), hit), first, numbers);
  pn_f8AddNumbers(pn_f8Set1(0), ray, rays);
}

PN_INLINE void putEight(float x, float out[PN_LANES]) {
  pn_f8Store(out, pn_f8Set1(x));
}

/* Of what waits for a ray that which begins later than `last` goes; returns the new top. What stands below the first stays. */
PN_INLINE uint32_t dropLater(LaneKey *key, float *first, uint32_t top, float last) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i <= top; i += PN_LANES) {
    pnF8 a = pn_f8Load(key + i), b = pn_f8Load(first + i);
    uint32_t later = pn_f8Signs(pn_f8Greater(pn_f8AndNot(a, pn_f8Set1(LAST_BITS)), pn_f8Set1(last)));
    uint32_t stay = (~later | (i == 0)) & ((1u << PN_MIN(top + 1 - i, PN_LANES)) - 1);
    pn_f8Store(key + kept, PACK8(a, stay));
    pn_f8Store(first + kept, PACK8(b, stay));
    kept += COUNT(stay);
  }
  return kept - 1;
}

#else

PN_INLINE LaneKey laneKey(const float *in, uint32_t j) {
  return pn_floatOfBits((pn_bitsOfFloat(in[j]) & ~7u) | j);
}

PN_INLINE uint32_t listLanes(const float *in, uint32_t hit, bool inOrder, LaneKey keys[PN_LANES]) {
  (void)inOrder;
  LaneKey least = laneKey(in, firstHit(hit));
  for (hit &= hit - 1; hit; hit &= hit - 1) {
    LaneKey key = laneKey(in, pn_firstLane(hit));
    *keys++ = PN_MAX(least, key);
    least = PN_MIN(least, key);
  }
  return pn_bitsOfFloat(least) & 7;
}

PN_INLINE void listNumbers(uint32_t hit, uint32_t first, uint32_t ray, uint32_t *numbers, uint32_t *rays) {
  for (; hit; hit &= hit - 1) *numbers++ = first + pn_firstLane(hit), *rays++ = ray;
}

PN_INLINE void putEight(float x, float out[PN_LANES]) {
  for (uint32_t h = 0; h < PN_LANES; h += WIDTH) STORE(out + h, SET1(x));
}

PN_INLINE uint32_t dropLater(LaneKey *key, float *first, uint32_t top, float last) {
  uint32_t kept = 1;
  for (uint32_t i = 1; i <= top; ++i) {
    key[kept] = key[i], first[kept] = first[i];
    kept += !(nearOf(key[i]) > last);
  }
  return kept - 1;
}

#endif
