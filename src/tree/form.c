/* form.c: the table of forms, and what those do that have no shorter way. See form.h. */
#include "tree/form.h"

#include "tree/update.h"

#include <math.h>

/* ---------------------------------------------------------------- the table */

static const pnFormRow *s_forms[PN_FORM_COUNT + 1] = {
    [PN_FORM_BOX] = &pn_formBox,     [PN_FORM_DOP14] = &pn_formDop14,   [PN_FORM_DOP18] = &pn_formDop18,
    [PN_FORM_DOP26] = &pn_formDop26, [PN_FORM_SPHERE] = &pn_formSphere,
};

const pnFormRow *pn_formOf(pnForm form) {
  return (uint32_t)form <= PN_FORM_COUNT ? s_forms[form] : NULL;
}

void pn_lendForm(const pnFormRow *form) {
  s_forms[PN_FORM_COUNT] = form;
}

void pn_setForm(pnTree *tree, pnForm form) {
  tree->def.form = form;
  tree->form = pn_formOf(form);
  tree->slabs = tree->form->slabs;
  tree->laneBytes = tree->rule->modelSpace ? sizeof(pnModelLanes) : tree->form->laneBytes;
}

/* ---------------------------------------------------------------- boxes of lanes */

/* Boxes in model space under the transform. The pose's own sum is rounded in float, six times, each by 2^-24 of no more than
 * these terms together, for which 8 of those are added; products below 2^-126 are off by up to 2^-150, three of them. */
void pn_modelBoxes(const pnTree *tree, uint32_t node, uint32_t begin, uint32_t end, pnLaneBoxes *out) {
  const pnModelLanes *m = pn_lanesOf(tree, node);
  for (int k = 0; k < 3; ++k) {
    const float *r = tree->pose->transform.m[k];
    for (uint32_t j = begin; j < end; ++j) {
      double lo = (double)r[3], hi = lo, sum = fabs(lo);
      for (int i = 0; i < 3; ++i) {
        double a = (double)r[i] * (double)m->row[i][0][j], b = (double)r[i] * (double)m->row[i][1][j];
        lo += a < b ? a : b;
        hi += a < b ? b : a;
        sum += fabs(a) + fabs(b);
      }
      double slack = sum * 0x1p-21 + 0x1p-148;
      out->lo[k][j] = lo - slack;
      out->hi[k][j] = hi + slack;
    }
  }
}

/* ---------------------------------------------------------------- nodes from vertices */

void pn_fillInnerAny(pnTree *tree, uint32_t node) {
  uint32_t child = tree->shape->first[node], count = tree->shape->count[node];
  pnBound bounds[PN_LANES];
  for (uint32_t j = 0; j < count; ++j) {
    uint32_t n;
    const uint32_t *v = pn_verticesBelow(tree, child + j, &n);
    tree->form->ofVertices(tree, v, n, &bounds[j]);
  }
  tree->form->put(tree, node, bounds, count);
}

void pn_fillLeafAny(pnTree *tree, uint32_t node) {
  uint32_t leaf = node - tree->shape->innerCount, count = tree->shape->count[node];
  pnBound bounds[PN_LANES];
  for (uint32_t j = 0; j < count; ++j) {
    const float *c[3];
    float points[12];
    pn_slotCorners(tree, leaf * PN_LANES + j, c);
    for (int k = 0; k < 3; ++k) memcpy(points + 4 * k, c[k], 4 * sizeof(float));
    tree->form->ofPoints(tree->form, points, 3, &bounds[j]);
  }
  tree->form->put(tree, node, bounds, count);
}

void pn_boundClusterAny(const pnTree *tree, uint32_t cluster, void *room) {
  const pnShape *s = tree->shape;
  uint32_t at = s->clusterVertexFirst[cluster], n = s->clusterVertexFirst[cluster + 1] - at;
  tree->form->ofVertices(tree, s->clusterVertices + at, n, (pnBound *)room + s->clusterNode[cluster]);
}

bool pn_mergeEagerAny(pnTree *tree, void *room) {
  pnBound *bounds = room;
  const pnShape *s = tree->shape;
  for (uint32_t i = 0; i < s->eagerCount; ++i) {
    uint32_t node = s->eagerNodes[i];
    bounds[node] = bounds[s->first[node]];
    for (uint32_t j = 1; j < s->count[node]; ++j)
      tree->form->merge(tree->form, &bounds[node], &bounds[s->first[node] + j]);
  }
  if (!pn_setRoot(tree, &bounds[0])) return false;
  for (uint32_t i = 0; i < s->eagerCount; ++i) {
    uint32_t node = s->eagerNodes[i];
    tree->form->put(tree, node, &bounds[s->first[node]], s->count[node]);
    pn_markFresh(tree, node);
  }
  return true;
}
