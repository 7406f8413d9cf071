/* soups.c: see soups.h. */
#include "soups.h"

#include <math.h>
#include <stdlib.h>

/* xorshift64*, the upper 24 bits as a float in [0, 1). */
static float draw(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return (float)(x * 0x2545F4914F6CDD1Dull >> 40) * 0x1p-24f;
}

static float drawIn(uint64_t *state, float lo, float hi) {
  return lo + (hi - lo) * draw(state);
}

void pnSoupScene_Renew(pnSoupScene *scene, uint32_t i, float size) {
  float centre[3], *p = scene->positions + 9 * (size_t)i;
  for (int k = 0; k < 3; ++k) centre[k] = drawIn(&scene->random, -1, 1);
  /* corners within a ball: no side is longer than its diameter */
  float reach = size * 0.28867513f; /* half the side of a cube whose diagonal is `size` */
  for (int k = 0; k < 9; ++k) p[k] = centre[k % 3] + drawIn(&scene->random, -reach, reach);
}

pnSoupScene *pnCreateSoupScene(uint32_t count, float size, float angle, float speed, uint64_t seed) {
  pnSoupScene *scene = malloc(sizeof *scene);
  float *positions = malloc(sizeof(float) * 9 * ((size_t)count + 1));
  if (!scene || !positions) {
    free(scene);
    free(positions);
    return NULL;
  }
  *scene = (pnSoupScene){count, positions, angle, speed, seed * 2 + 1};
  for (uint32_t i = 0; i < count; ++i) pnSoupScene_Renew(scene, i, size);
  return scene;
}

void pnDestroySoupScene(pnSoupScene *scene) {
  if (scene) {
    free(scene->positions);
    free(scene);
  }
}

/* A unit vector, evenly over the part of the sphere within `least` = cos(angle) of z. */
static void drawCap(uint64_t *state, float least, float out[3]) {
  float z = drawIn(state, least, 1), turn = drawIn(state, 0, 6.2831853f), r = sqrtf(fmaxf(0, 1 - z * z));
  out[0] = r * cosf(turn);
  out[1] = r * sinf(turn);
  out[2] = z;
}

void pnSoupScene_Step(pnSoupScene *scene) {
  uint64_t *state = &scene->random;
  float main[3], speed = drawIn(state, 0, scene->speed), least = cosf(scene->angle * 0.017453293f);
  drawCap(state, -1, main);
  /* two vectors at right angles to the main direction */
  float side[3] = {fabsf(main[0]) < 0.5f, fabsf(main[0]) >= 0.5f, 0}, u[3], v[3];
  for (int k = 0; k < 3; ++k) u[k] = main[(k + 1) % 3] * side[(k + 2) % 3] - main[(k + 2) % 3] * side[(k + 1) % 3];
  float length = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int k = 0; k < 3; ++k) u[k] /= length;
  for (int k = 0; k < 3; ++k) v[k] = main[(k + 1) % 3] * u[(k + 2) % 3] - main[(k + 2) % 3] * u[(k + 1) % 3];
  for (uint32_t i = 0; i < scene->count; ++i) {
    float cap[3] = {0, 0, 1}, *p = scene->positions + 9 * (size_t)i;
    if (scene->angle > 0) drawCap(state, least, cap);
    for (int k = 0; k < 9; ++k) p[k] += speed * (cap[0] * u[k % 3] + cap[1] * v[k % 3] + cap[2] * main[k % 3]);
  }
}
