/* narrow_sixteen.h: what filters of sixteen candidates have in common. */

/* A number in a register of its own: of several of them a compiler would make vectors, only to take these apart again. */
PN_INLINE size_t keepApart(size_t x) {
  __asm__("" : "+r"(x));
  return x;
}

/* The corners of one side as columns; `slot` is the first of its numbers, every other one. Four candidates at a time: there are no registers
 * for the addresses of sixteen. */
PN_INLINE void loadSide(const char *base, const uint32_t *corners, const uint32_t *slot, pnF16 p[3][3]) {
  pnF16 row[3][4];
  for (int i = 0; i < 4; ++i) {
    const uint32_t *at[4];
    for (int j = 0; j < 4; ++j) at[j] = corners + keepApart(3 * (size_t)slot[2 * i + 8 * j]);
    for (int k = 0; k < 3; ++k) {
      row[k][i] =
          pn_f16Load4((const float *)(const void *)(base + at[0][k]), (const float *)(const void *)(base + at[1][k]),
                      (const float *)(const void *)(base + at[2][k]), (const float *)(const void *)(base + at[3][k]));
    }
  }
  for (int k = 0; k < 3; ++k)
    pn_f16Transpose3(row[k][0], row[k][1], row[k][2], row[k][3], &p[k][0], &p[k][1], &p[k][2]);
}

PN_INLINE uint32_t keep16(const pnPair *from, uint32_t hit, pnPair *to) {
  return pn_keepSixteen(&from->a, hit, &to->a);
}
