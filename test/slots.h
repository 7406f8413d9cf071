/* slots.h: what the filters of the narrow phase read of a tree: slot k holds triangle k. Included with SLOTS, how many. A template: its text
 * belongs to the test that includes it. */
typedef struct Soup {
  pnTree tree;
  pnShape shape;
  uint32_t corners[3 * SLOTS];
  uint32_t triangles[SLOTS];
  float positions[3 * SLOTS][4];
} Soup;

static void soupOpen(Soup *soup) {
  memset(soup, 0, sizeof *soup);
  for (uint32_t i = 0; i < 3 * SLOTS; ++i) soup->corners[i] = PN_PLACE_BYTES * i;
  for (uint32_t i = 0; i < SLOTS; ++i) soup->triangles[i] = i;
  soup->shape.leafTriangles = soup->triangles;
  soup->tree.shape = &soup->shape;
  soup->tree.corners = soup->corners;
  soup->tree.cornerBase = (const char *)soup->positions;
}

static void soupSet(Soup *soup, uint32_t slot, const pnTriangle *t) {
  for (uint32_t k = 0; k < 3; ++k) memcpy(soup->positions[3 * slot + k], t->v[k], 3 * sizeof(float));
}

static Soup s_a, s_b;

static int openAll(void **state) {
  (void)state;
  oracleOpen();
  soupOpen(&s_a);
  soupOpen(&s_b);
  return 0;
}

static int closeAll(void **state) {
  (void)state;
  oracleClose();
  return 0;
}
