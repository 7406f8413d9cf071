/* report_scene.h: small animated scenes for the tests of the report, made by formula.
 *
 * Every body is a grid of (around x along) vertices bent into a closed or open tube; `place` puts a grid point into
 * space at a time. The seam is left open on purpose (its vertices are doubled), as exporters do it.
 * Pairs are found with plain double arithmetic: good enough to draw, and no part of what pinch promises.
 */
#ifndef PN_TEST_REPORT_SCENE_H
#define PN_TEST_REPORT_SCENE_H

#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_MAX_BODIES 8

typedef struct Scene Scene;
typedef void ScenePlace(int body, double u, double v, double time, double out[3]);

struct Scene {
  int bodyCount, around[SCENE_MAX_BODIES], along[SCENE_MAX_BODIES];
  ScenePlace *place;
  pnReportBody bodies[SCENE_MAX_BODIES];
  float *positions[SCENE_MAX_BODIES];
};

/* ---------------------------------------------------------------- two spheres passing through each other */

static inline void placeSpheres(int body, double u, double v, double time, double out[3]) {
  double radius = body == 0 ? 1.0 : 0.7, phi = 2 * M_PI * u, theta = M_PI * v;
  double wobble = 1 + 0.06 * sin(3 * phi + 4 * time) * sin(theta) * sin(theta) * (body == 0);
  out[0] = radius * wobble * sin(theta) * cos(phi) + (body == 0 ? 0 : 2.6 - 2.6 * time);
  out[1] = radius * wobble * cos(theta) + (body == 0 ? 0 : 0.45);
  out[2] = radius * wobble * sin(theta) * sin(phi);
}

/* ---------------------------------------------------------------- a figure in a coat */

enum { FIGURE_BODY, FIGURE_COAT, FIGURE_LEFT, FIGURE_RIGHT, FIGURE_HEAD, FIGURE_COUNT };

/* An arm: shoulder, elbow and hand on a chain of two bones that swing with the walk; at the back of the swing the hand
 * goes through the coat. */
static inline void placeArm(double side, double u, double v, double time, double out[3]) {
  double walk = 2 * M_PI * time + (side > 0 ? 0 : M_PI), swing = 0.62 * sin(walk), bend = 0.35 + 0.3 * sin(walk);
  double reach = 0.58 * v, upper = fmin(reach, 0.28), lower = fmax(reach - 0.28, 0);
  double width = (0.052 - 0.018 * v) * sqrt(fmax(0, 1 - pow(2 * v - 1, 8)));
  double turned = swing + bend * fmin(1, lower / 0.06);
  double across = width * cos(2 * M_PI * u), deep = width * sin(2 * M_PI * u);
  out[0] = side * (0.243 + 0.2 * upper - lower * (0.1 - 0.55 * fmin(0, sin(walk)))) + across;
  out[1] = 1.36 - upper * cos(swing) - lower * cos(swing + bend) + deep * sin(turned);
  out[2] = upper * sin(swing) + lower * sin(swing + bend) + deep * cos(turned);
}

static inline void placeFigure(int body, double u, double v, double time, double out[3]) {
  double phi = 2 * M_PI * u, sway = 0.02 * sin(2 * M_PI * time), bob = 0.015 * cos(4 * M_PI * time);
  if (body == FIGURE_LEFT || body == FIGURE_RIGHT) {
    placeArm(body == FIGURE_LEFT ? -1 : 1, u, v, time, out);
  } else if (body == FIGURE_COAT) {
    // an open shell that widens downwards, with folds that travel
    double wide = 0.165 + 0.02 * v + 0.14 * v * v + 0.014 * v * sin(9 * phi + 6 * time);
    out[0] = 1.1 * wide * cos(phi) + sway * (1 - v);
    out[1] = 1.40 - 0.86 * v;
    out[2] = 0.8 * wide * sin(phi) + 0.05 * v * sin(2 * M_PI * time + 0.6);
  } else if (body == FIGURE_HEAD) {
    double theta = M_PI * v;
    out[0] = 0.1 * sin(theta) * cos(phi) + 1.4 * sway;
    out[1] = 1.70 + 0.13 * cos(theta);
    out[2] = 0.11 * sin(theta) * sin(phi) + 0.02;
  } else {
    // the body: neck, chest, waist, hips and one line of legs that swings
    double theta = M_PI * v, chest = 0.5 + 0.5 * cos(2 * M_PI * (v - 0.28));
    double wide = (0.085 + 0.06 * chest) * pow(sin(theta), 0.5);
    out[0] = 1.1 * wide * cos(phi) + sway * (1 - v);
    out[1] = 1.545 - 1.545 * v;
    out[2] = 0.75 * wide * sin(phi) + 0.22 * v * v * sin(2 * M_PI * time);
  }
  out[1] += bob;
}

/* ---------------------------------------------------------------- making and moving */

static inline void sceneBody(Scene *scene, int b, const char *name, int around, int along) {
  pnReportBody *body = &scene->bodies[b];
  uint32_t *triangles = malloc(6 * (size_t)around * (size_t)along * sizeof *triangles), *t = triangles;
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < along; ++j) {
      uint32_t p = (uint32_t)(i * (along + 1) + j), q = p + (uint32_t)along + 1;
      uint32_t quad[6] = {p, q, p + 1, p + 1, q, q + 1};
      memcpy(t, quad, sizeof quad);
      t += 6;
    }
  }
  scene->around[b] = around;
  scene->along[b] = along;
  body->name = name;
  body->vertexCount = (uint32_t)((around + 1) * (along + 1));
  body->triangles = triangles;
  body->triangleCount = (uint32_t)(2 * around * along);
  scene->positions[b] = malloc(3 * (size_t)body->vertexCount * sizeof(float));
}

static inline void scenePose(Scene *scene, double time) {
  for (int b = 0; b < scene->bodyCount; ++b) {
    float *p = scene->positions[b];
    for (int i = 0; i <= scene->around[b]; ++i) {
      for (int j = 0; j <= scene->along[b]; ++j) {
        double out[3];
        // the last column is the first one again, to the bit
        scene->place(b, (double)(i % scene->around[b]) / scene->around[b], (double)j / scene->along[b], time, out);
        *p++ = (float)out[0];
        *p++ = (float)out[1];
        *p++ = (float)out[2];
      }
    }
  }
}

/* Names of joints, and the joint of each vertex by its place along the tube. */
static inline void sceneGroups(Scene *scene, int b, const char *const *names, uint32_t count) {
  uint16_t *groups = malloc(scene->bodies[b].vertexCount * sizeof *groups);
  for (uint32_t v = 0; v < scene->bodies[b].vertexCount; ++v) {
    uint32_t along = v % (uint32_t)(scene->along[b] + 1);
    groups[v] = (uint16_t)(along * count / (uint32_t)(scene->along[b] + 1));
  }
  scene->bodies[b].groupNames = names;
  scene->bodies[b].groupCount = count;
  scene->bodies[b].vertexGroups = groups;
}

static inline void sceneFree(Scene *scene) {
  for (int b = 0; b < scene->bodyCount; ++b) {
    free((void *)scene->bodies[b].triangles);
    free((void *)scene->bodies[b].vertexGroups);
    free(scene->positions[b]);
  }
}

static inline Scene makeSpheres(int detail) {
  Scene scene = {.bodyCount = 2, .place = placeSpheres};
  sceneBody(&scene, 0, "Planet", 2 * detail, detail);
  sceneBody(&scene, 1, "Moon", 2 * detail, detail);
  return scene;
}

static inline Scene makeFigure(double detail) {
  static const char *const armLeft[] = {"LeftArm", "LeftForeArm", "LeftHand"};
  static const char *const armRight[] = {"RightArm", "RightForeArm", "RightHand"};
  static const char *const spine[] = {"Neck", "Chest", "Spine", "Hips", "Legs"};
  static const char *const coat[] = {"Chest", "Spine", "CoatHem"};
  Scene scene = {.bodyCount = FIGURE_COUNT, .place = placeFigure};
  sceneBody(&scene, FIGURE_BODY, "Body", (int)(36 * detail), (int)(48 * detail));
  sceneBody(&scene, FIGURE_COAT, "Coat", (int)(64 * detail), (int)(28 * detail));
  sceneBody(&scene, FIGURE_LEFT, "Left arm", (int)(16 * detail), (int)(36 * detail));
  sceneBody(&scene, FIGURE_RIGHT, "Right arm", (int)(16 * detail), (int)(36 * detail));
  sceneBody(&scene, FIGURE_HEAD, "Head", (int)(24 * detail), (int)(16 * detail));
  sceneGroups(&scene, FIGURE_BODY, spine, 5);
  sceneGroups(&scene, FIGURE_COAT, coat, 3);
  sceneGroups(&scene, FIGURE_LEFT, armLeft, 3);
  sceneGroups(&scene, FIGURE_RIGHT, armRight, 3);
  return scene;
}

/* ---------------------------------------------------------------- pairs */

typedef struct SceneBox {
  float min[3], max[3];
} SceneBox;

static inline double orient(const float *a, const float *b, const float *c, const float *d) {
  double m[3][3];
  for (int k = 0; k < 3; ++k) {
    m[0][k] = (double)a[k] - d[k];
    m[1][k] = (double)b[k] - d[k];
    m[2][k] = (double)c[k] - d[k];
  }
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Does the segment p q cross triangle t? */
static inline bool segmentCrosses(const float *p, const float *q, const float *const t[3]) {
  if (orient(t[0], t[1], t[2], p) * orient(t[0], t[1], t[2], q) > 0) return false;
  double x = orient(p, q, t[0], t[1]), y = orient(p, q, t[1], t[2]), z = orient(p, q, t[2], t[0]);
  return (x >= 0 && y >= 0 && z >= 0) || (x <= 0 && y <= 0 && z <= 0);
}

static inline bool trianglesCross(const float *const s[3], const float *const t[3]) {
  for (int k = 0; k < 3; ++k)
    if (segmentCrosses(s[k], s[(k + 1) % 3], t) || segmentCrosses(t[k], t[(k + 1) % 3], s)) return true;
  return false;
}

static inline void corners(const Scene *scene, int b, uint32_t t, const float *out[3]) {
  for (int k = 0; k < 3; ++k)
    out[k] = scene->positions[b] + 3 * (size_t)scene->bodies[b].triangles[3 * t + (uint32_t)k];
}

static inline SceneBox boxOf(const float *const t[3]) {
  SceneBox box;
  for (int k = 0; k < 3; ++k) {
    box.min[k] = fminf(fminf(t[0][k], t[1][k]), t[2][k]);
    box.max[k] = fmaxf(fmaxf(t[0][k], t[1][k]), t[2][k]);
  }
  return box;
}

static inline bool boxesMeet(const SceneBox *p, const SceneBox *q) {
  return p->min[0] <= q->max[0] && q->min[0] <= p->max[0] && p->min[1] <= q->max[1] && q->min[1] <= p->max[1] &&
         p->min[2] <= q->max[2] && q->min[2] <= p->max[2];
}

/* All pairs between different bodies; `pairs` has room for `most`. */
static inline size_t scenePairs(const Scene *scene, pnReportPair *pairs, size_t most) {
  size_t count = 0;
  for (int a = 0; a < scene->bodyCount; ++a) {
    for (int b = a + 1; b < scene->bodyCount; ++b) {
      uint32_t countB = scene->bodies[b].triangleCount;
      SceneBox *boxes = malloc(countB * sizeof *boxes),
               whole = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
      for (uint32_t t = 0; t < countB; ++t) {
        const float *p[3];
        corners(scene, b, t, p);
        boxes[t] = boxOf(p);
        for (int k = 0; k < 3; ++k) {
          whole.min[k] = fminf(whole.min[k], boxes[t].min[k]);
          whole.max[k] = fmaxf(whole.max[k], boxes[t].max[k]);
        }
      }
      for (uint32_t s = 0; s < scene->bodies[a].triangleCount; ++s) {
        const float *p[3], *q[3];
        corners(scene, a, s, p);
        SceneBox box = boxOf(p);
        for (uint32_t t = 0; boxesMeet(&box, &whole) && t < countB; ++t) {
          if (boxesMeet(&box, &boxes[t])) {
            corners(scene, b, t, q);
            if (count < most && trianglesCross(p, q))
              pairs[count++] = (pnReportPair){(uint32_t)a, s, (uint32_t)b, t, 0};
          }
        }
      }
      free(boxes);
    }
  }
  return count;
}

#endif
