/* image.cl: layered depth images (docs/volume.md). Triangles are drawn one an item, with the whole numbers of the volume room
 * (volume/stroke_one.h, whose text stands before this), so that every layer is the processor's, bit for bit. Layers are found in
 * any order: a list of (cell, key), counted by cell; a counting sort (sort.cl) brings those of a cell together, and imageSort
 * puts them in order.
 *
 * A cell c has count[c] layers, from keys[start[c]] on. */

/* The head. The first is where sort.cl looks for the length of a list. */
#define IMAGE_LAYERS 0   /* layers found */
#define IMAGE_OVERFLOW 1 /* bits: lists that were too short: 1 layers, 2 rows */
#define IMAGE_ROWS 2     /* blocks of rows of large triangles */
#define IMAGE_MOST 3     /* layers of one cell */
#define IMAGE_ODD 4      /* cells with an odd number */
#define IMAGE_LIST_LAYERS 1u
#define IMAGE_LIST_ROWS 2u

/* The view; the host has the same struct (device/image.c). */
typedef struct Grid {
  double lo[3], scale[3];
  int pick[3], steps;
  uint size, shift;
  int top, bottom; /* depths beyond which nobody looks */
} Grid;

/* ---------------------------------------------------------------- the box */

/* Floats as whole numbers of the same order, none of them 0. */
static uint orderedBits(float x) {
  const uint u = as_uint(x);
  return u & 0x80000000u ? ~u : u | 0x80000000u;
}

#define BOX_ITEMS 256

/* box: greatest of minus x, y, z; greatest of x, y, z; not 0 when some number is none. Zeros to begin with. */
__kernel __attribute__((reqd_work_group_size(BOX_ITEMS, 1, 1))) void imageBox(__global const uint4 *weld,
                                                                              __global const float *vert, uint first,
                                                                              uint n, __global uint *box) {
  __local uint best[7];
  const uint item = get_local_id(0);
  float3 low = (float3)(INFINITY, INFINITY, INFINITY), high = -low;
  uint bad = 0;
  if (item < 7) best[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    const uint4 w = weld[first + i];
    const float3 a = vload3(w.x, vert), b = vload3(w.y, vert), c = vload3(w.z, vert);
    const float3 wrong = (a - a) + (b - b) + (c - c); /* 0, or NaN */
    if (!(wrong.x == 0 && wrong.y == 0 && wrong.z == 0)) bad = 1;
    low = fmin(low, fmin(a, fmin(b, c)));
    high = fmax(high, fmax(a, fmax(b, c)));
  }
  if (get_global_id(0) < n) {
    atomic_max(&best[0], orderedBits(-low.x)), atomic_max(&best[3], orderedBits(high.x));
    atomic_max(&best[1], orderedBits(-low.y)), atomic_max(&best[4], orderedBits(high.y));
    atomic_max(&best[2], orderedBits(-low.z)), atomic_max(&best[5], orderedBits(high.z));
    atomic_max(&best[6], bad);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < 7) atomic_max(box + item, best[item]);
}

/* ---------------------------------------------------------------- triangles on the grid */

/* A triangle, and which cells its box has a sample of. */
typedef struct Drawn {
  pnPoint p[3];
  int x0, x1, y0, y1; /* cells; none when x0 > x1 or y0 > y1 */
  int low, high;      /* depths */
  bool large;         /* drawn by rows (volume/bin.c) */
} Drawn;

static int roundUnits(double x) {
  return (int)floor(x + 0.5);
}

static pnPoint pointOnGrid(const Grid *g, float3 v) {
  const float p[3] = {v.x, v.y, v.z};
  pnPoint q;
  q.x = roundUnits(((double)p[g->pick[0]] - g->lo[0]) * g->scale[0]);
  q.y = roundUnits(((double)p[g->pick[1]] - g->lo[1]) * g->scale[1]);
  q.z = roundUnits(((double)p[g->pick[2]] - g->lo[2]) * g->scale[2]);
  q.unused = 0;
  return q;
}

static Drawn drawnOf(const Grid *g, uint4 w, __global const float *vert) {
  const int half_ = 1 << (g->shift - 1), last = (int)g->size - 1;
  Drawn d;
  d.p[0] = pointOnGrid(g, vload3(w.x, vert));
  d.p[1] = pointOnGrid(g, vload3(w.y, vert));
  d.p[2] = pointOnGrid(g, vload3(w.z, vert));
  const int lx = min(d.p[0].x, min(d.p[1].x, d.p[2].x)), hx = max(d.p[0].x, max(d.p[1].x, d.p[2].x));
  const int ly = min(d.p[0].y, min(d.p[1].y, d.p[2].y)), hy = max(d.p[0].y, max(d.p[1].y, d.p[2].y));
  d.low = min(d.p[0].z, min(d.p[1].z, d.p[2].z)), d.high = max(d.p[0].z, max(d.p[1].z, d.p[2].z));
  d.x0 = max((lx + half_ - 1) >> g->shift, 0), d.x1 = min((hx - half_) >> g->shift, last);
  d.y0 = max((ly + half_ - 1) >> g->shift, 0), d.y1 = min((hy - half_) >> g->shift, last);
  d.large = hx - lx > PN_DOT_UNITS || hy - ly > PN_DOT_UNITS || d.x1 - d.x0 >= PN_DOT_SIDE || d.y1 - d.y0 >= PN_DOT_SIDE;
  if (d.low > g->top || d.high < g->bottom) d.x1 = d.x0 - 1;
  return d;
}

/* Edges at the sample of cell (x0, y), depths, and which way the triangle faces. */
typedef struct Face {
  pnEdges edges;
  pnDepthPlane depth;
  bool seen, exit; /* not edge-on; the line leaves the body here */
} Face;

static Face faceOf(const Grid *g, const Drawn *d, int y) {
  const long area = (long)(d->p[1].x - d->p[0].x) * (d->p[2].y - d->p[0].y) -
                    (long)(d->p[2].x - d->p[0].x) * (d->p[1].y - d->p[0].y);
  const bool exit = area > 0;
  const pnPoint *const corners[3] = {&d->p[0], exit ? &d->p[1] : &d->p[2], exit ? &d->p[2] : &d->p[1]};
  const int half_ = 1 << (g->shift - 1);
  Face f;
  f.seen = area != 0, f.exit = exit;
  f.edges = pn_setUpEdges(g->shift, corners, (d->x0 << g->shift) + half_, (y << g->shift) + half_);
  f.depth = pn_setUpDepth(corners, &f.edges, area == 0 ? 1 : exit ? area : -area);
  return f;
}

/* Depth in 2^-32 units, i cells to the right and j rows up. */
static long depthAt(const Face *f, long i, long j) {
  const double w1 = (double)(f->edges.e[1] + f->edges.bias[1] + f->edges.sy[1] * j + f->edges.sx[1] * i);
  const double w2 = (double)(f->edges.e[2] + f->edges.bias[2] + f->edges.sy[2] * j + f->edges.sx[2] * i);
  return f->depth.z + (long)floor(w1 * f->depth.perArea[0] + w2 * f->depth.perArea[1]);
}

/* ---------------------------------------------------------------- drawing */

#define DRAW_ARGUMENTS                                                                                        \
  Grid grid, __global const uint4 *weld, __global const float *vert, __global uint *head, __global uint2 *list, \
      __global uint *rank, uint capacity, __global uint *count, __global uint2 *rows, uint rowCapacity

/* Layer number `at` of the list. */
static void putLayer(__global uint *head, __global uint2 *list, __global uint *rank, uint capacity,
                     __global uint *count, uint at, uint cell, uint key) {
  if (at >= capacity) {
    atomic_or(head + IMAGE_OVERFLOW, IMAGE_LIST_LAYERS);
    return;
  }
  list[at] = (uint2)(cell, key);
  rank[at] = atomic_inc(count + cell);
}

#define DRAW_ITEMS 256
#define ROW_ITEMS 64
/* Rows of a large triangle that a group draws together, and items for each. */
#define ROW_BLOCK 8
#define ROW_LANES (ROW_ITEMS / ROW_BLOCK)

/* The cells of a small triangle that have their sample in it: 16 bits. */
static uint hitsOf(const Drawn *d, const Face *f) {
  uint hits = 0;
  for (int j = 0; j <= d->y1 - d->y0; ++j)
    for (int i = 0; i <= d->x1 - d->x0; ++i) {
      bool in = true;
      for (int k = 0; k < 3; ++k) in = in && f->edges.e[k] + f->edges.sx[k] * i + f->edges.sy[k] * j >= 0;
      hits |= (uint)in << (j * PN_DOT_SIDE + i);
    }
  return hits;
}

/* Small triangles: their layers. Large ones: blocks of rows, for imageRows. */
__kernel __attribute__((reqd_work_group_size(DRAW_ITEMS, 1, 1))) void imageDraw(DRAW_ARGUMENTS, uint first, uint n) {
  __local uint length, base;
  const uint item = get_local_id(0);
  for (uint k0 = get_group_id(0) * DRAW_ITEMS; k0 < n; k0 += get_num_groups(0) * DRAW_ITEMS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) length = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    Drawn d;
    Face f;
    uint hits = 0, at = 0;
    if (k0 + item < n) {
      d = drawnOf(&grid, weld[first + k0 + item], vert);
      if (d.x0 <= d.x1 && d.y0 <= d.y1 && d.large) {
        const uint blocks = (uint)(d.y1 - d.y0) / ROW_BLOCK + 1, place = atomic_add(head + IMAGE_ROWS, blocks);
        for (uint b = 0; b < blocks; ++b) {
          if (place + b < rowCapacity) rows[place + b] = (uint2)(first + k0 + item, (uint)d.y0 + b * ROW_BLOCK);
          else atomic_or(head + IMAGE_OVERFLOW, IMAGE_LIST_ROWS);
        }
      } else if (d.x0 <= d.x1 && d.y0 <= d.y1) {
        f = faceOf(&grid, &d, d.y0);
        hits = f.seen ? hitsOf(&d, &f) : 0;
      }
      if (hits) at = atomic_add(&length, popcount(hits));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && length > 0) base = atomic_add(head + IMAGE_LAYERS, length);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (at += base; hits; hits &= hits - 1, ++at) {
      const uint bit = 31 - clz(hits & -hits);
      const int i = bit % PN_DOT_SIDE, j = bit / PN_DOT_SIDE;
      const int depth = clamp((int)(depthAt(&f, i, j) >> 32), 0, grid.steps);
      putLayer(head, list, rank, capacity, count, at, (uint)(d.y0 + j) * grid.size + (uint)(d.x0 + i),
               (uint)depth << 1 | (uint)f.exit);
    }
  }
}

/* Large triangles: a group takes a block of rows, ROW_LANES items a row. */
__kernel __attribute__((reqd_work_group_size(ROW_ITEMS, 1, 1))) void imageRows(DRAW_ARGUMENTS) {
  __local uint length, base;
  const uint item = get_local_id(0), lane = item % ROW_LANES, n = min(head[IMAGE_ROWS], rowCapacity);
  for (uint k = get_group_id(0); k < n; k += get_num_groups(0)) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) length = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint2 block = rows[k];
    const Drawn d = drawnOf(&grid, weld[block.x], vert);
    const int y = (int)block.y + (int)(item / ROW_LANES);
    const Face f = faceOf(&grid, &d, y);
    long begin = 0, end = f.seen && y <= d.y1 ? d.x1 - d.x0 : -1;
    for (int e = 0; e < 3; ++e) {
      /* a level edge has all of the row on one side, which its sign says */
      const long step = f.edges.sx[e], at = pn_floorDivide(f.edges.e[e], step > 0 ? step : step < 0 ? -step : 1);
      if (step > 0) begin = max(begin, -at);
      else if (step < 0) end = min(end, at);
      else end = at < 0 ? -1 : end;
    }
    const uint cells = begin + (long)lane <= end ? (uint)(end - begin - (long)lane) / ROW_LANES + 1 : 0;
    uint at = cells > 0 ? atomic_add(&length, cells) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && length > 0) base = atomic_add(head + IMAGE_LAYERS, length);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool clamped = d.low < 0 || d.high > grid.steps;
    const long z = cells > 0 ? depthAt(&f, begin, 0) : 0;
    at += base;
    for (uint c = 0; c < cells; ++c, ++at) {
      const long i = lane + (long)c * ROW_LANES;
      int depth = (int)((z + f.depth.dz * i) >> 32);
      if (clamped) depth = clamp(depth, 0, grid.steps);
      putLayer(head, list, rank, capacity, count, at, (uint)y * grid.size + (uint)(d.x0 + begin + i),
               (uint)depth << 1 | (uint)f.exit);
    }
  }
}

/* ---------------------------------------------------------------- order */

/* In place, where insertion would take long. */
static void heapSort(__global uint *keys, uint n) {
  for (uint round = n / 2 + n; round-- > 1;) {
    /* first the heap is made, from the last parent up; then the largest goes to the end, again and again */
    const uint end = round >= n ? n : round;
    uint at = round >= n ? round - n : 0;
    if (round < n) {
      const uint top = keys[0];
      keys[0] = keys[round], keys[round] = top;
    }
    for (uint child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && keys[child + 1] > keys[child]) ++child;
      if (keys[at] >= keys[child]) break;
      const uint swap = keys[at];
      keys[at] = keys[child], keys[child] = swap;
    }
  }
}

/* One cell an item: its keys in order, and what the image is like. */
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void imageSort(__global uint *head, __global const uint2 *placed,
                                                                        __global const uint *start,
                                                                        __global const uint *count, uint cells,
                                                                        uint capacity, __global uint *keys) {
  __local uint most, odd;
  if (get_local_id(0) == 0) most = odd = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint cell = get_global_id(0), n = cell < cells && head[IMAGE_LAYERS] <= capacity ? count[cell] : 0;
  if (n > 0) {
    __global uint *mine = keys + start[cell];
    __global const uint2 *in = placed + start[cell];
    for (uint i = 0; i < n; ++i) {
      const uint key = in[i].y;
      uint at = i;
      for (; n <= 32 && at > 0 && mine[at - 1] > key; --at) mine[at] = mine[at - 1];
      mine[at] = key;
    }
    if (n > 32) heapSort(mine, n);
    atomic_max(&most, n);
    if (n & 1) atomic_inc(&odd);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && most > 0) atomic_max(head + IMAGE_MOST, most);
  if (get_local_id(0) == 0 && odd > 0) atomic_add(head + IMAGE_ODD, odd);
}
