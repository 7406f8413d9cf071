/* oracle_motions.c: see oracle_motions.h. */
#include "oracle_motions.h"

#include <math.h>
#include <string.h>

/* A place to be: coordinates of one of several sorts. Random numbers are drawn one statement after the other, so that every
 * compiler makes the same motions. */
static double coordinate(Random *r, int sort) {
  int power = sort == 4 ? -randomBelow(r, 100) : sort == 5 ? randomBelow(r, 9) - 4 : 0;
  switch (sort) {
    case 0: return randomBelow(r, 3);
    case 1: return randomBelow(r, 5) - 2;
    case 2: return (float)randomBetween(r, -1, 1);
    case 3: return randomBetween(r, -1, 1);
    case 4: return randomBelow(r, 4) ? randomBelow(r, 3) : ldexp(randomBetween(r, -1, 1), power);
    default: return ldexp(randomBelow(r, 5) - 2, power);
  }
}

pnMovingDouble randomMotion(Random *r, int sort) {
  pnMovingDouble p;
  for (int i = 0; i < 24; ++i) (i < 12 ? p.from : p.to)[i / 3 % 4][i % 3] = coordinate(r, sort);
  return p;
}

void spoilMotion(pnMovingDouble *p, Random *r) {
  int how = randomBelow(r, 12), i = randomBelow(r, 4), j = randomBelow(r, 4), axis = randomBelow(r, 3);
  switch (how) {
    case 0: memcpy(p->to, p->from, sizeof p->to); break;
    case 1: memcpy(p->to[i], p->from[i], sizeof p->to[i]); break;
    case 2:
      for (int k = 0; k < 4; ++k) p->from[k][axis] = p->to[k][axis] = 1;
      break;
    case 3:
      for (int k = 0; k < 4; ++k)
        p->from[k][axis] = p->to[k][axis] = p->from[k][(axis + 1) % 3] = p->to[k][(axis + 1) % 3] = 0;
      break;
    case 4: memcpy(p->from[i], p->from[j], sizeof p->from[i]); break;
    case 5: memcpy(p->to[i], p->to[j], sizeof p->to[i]); break;
    case 6:
      memcpy(p->from[i], p->from[j], sizeof p->from[i]);
      memcpy(p->to[i], p->to[j], sizeof p->to[i]);
      break;
    case 7: /* all the same way */
      for (int k = 0; k < 12; ++k) p->to[k / 3][k % 3] = p->from[k / 3][k % 3] + p->to[0][k % 3];
      break;
    case 8: /* half way between two others at the end */
      for (int k = 0; k < 3; ++k) p->to[i][k] = 0.5 * (p->to[j][k] + p->to[(j + 1) % 4][k]);
      break;
    case 9: /* a slanted plane for good */
      for (int k = 0; k < 4; ++k) {
        p->from[k][axis] = p->from[k][(axis + 1) % 3] + p->from[k][(axis + 2) % 3];
        p->to[k][axis] = p->to[k][(axis + 1) % 3] + p->to[k][(axis + 2) % 3];
      }
      break;
    case 10: /* through the middle of the others at half time */
      for (int k = 0; k < 3; ++k) {
        double a = p->from[1][k] + p->to[1][k], b = p->from[2][k] + p->to[2][k];
        p->to[0][k] = 0.5 * (a + b) - p->from[0][k];
      }
      break;
    default: break;
  }
}

/* Whole coordinates turned by any matrix and rounded: what was touching, flat or parallel is so but for the last bits. */
static pnMovingDouble turn(const pnMovingDouble *p, Random *r) {
  double m[3][3], shift[3];
  for (int i = 0; i < 9; ++i) m[i / 3][i % 3] = randomBetween(r, -1, 1);
  for (int i = 0; i < 3; ++i) shift[i] = randomBelow(r, 2) ? randomBetween(r, -10, 10) : 0;
  pnMovingDouble q;
  for (int k = 0; k < 24; ++k) {
    const double *x = k < 12 ? p->from[k / 3] : p->to[k / 3 - 4];
    (k < 12 ? q.from[k / 3] : q.to[k / 3 - 4])[k % 3] =
        m[k % 3][0] * x[0] + m[k % 3][1] * x[1] + m[k % 3][2] * x[2] + shift[k % 3];
  }
  return q;
}

pnMovingDouble motionOnTheEdge(Random *r) {
  pnMovingDouble p;
  for (int k = 0; k < 24; ++k) (k < 12 ? p.from : p.to)[k / 3 % 4][k % 3] = randomBelow(r, 4);
  return turn(&p, r);
}
