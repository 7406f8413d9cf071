// curve.js: the line along which triangles meet, for the eye. The scan decided exactly which triangles meet; here each pair gives the
// piece of line between the two places where an edge of one passes through the other, in the positions the page has.

/** Where the segment from p to q passes through the triangle a b c, as a number between 0 and 1; -1 when it does not. */
function crossing(p, q, a, b, c) {
  const u = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const v = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const d = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
  const h = [d[1] * v[2] - d[2] * v[1], d[2] * v[0] - d[0] * v[2], d[0] * v[1] - d[1] * v[0]];
  const determinant = u[0] * h[0] + u[1] * h[1] + u[2] * h[2];
  if (determinant === 0) {
    return -1;
  }
  const s = [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
  const along = (s[0] * h[0] + s[1] * h[1] + s[2] * h[2]) / determinant;
  const w = [s[1] * u[2] - s[2] * u[1], s[2] * u[0] - s[0] * u[2], s[0] * u[1] - s[1] * u[0]];
  const across = (d[0] * w[0] + d[1] * w[1] + d[2] * w[2]) / determinant;
  const t = (v[0] * w[0] + v[1] * w[1] + v[2] * w[2]) / determinant;
  // positions are rounded: what touches may miss by a hair
  const hair = 1e-4;
  const inside = along >= -hair && across >= -hair && along + across <= 1 + hair;
  return inside && t >= -hair && t <= 1 + hair ? t : -1;
}

function passages(one, other, points) {
  for (let k = 0; k < 3; ++k) {
    const [p, q] = [one[k], one[(k + 1) % 3]];
    const t = crossing(p, q, ...other);
    if (t >= 0) {
      points.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])]);
    }
  }
}

const apart = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);

/** The piece of line along which two triangles meet, [p, q]; null when there is none to draw. */
export function meetingOf(one, other) {
  const points = [];
  passages(one, other, points);
  passages(other, one, points);
  let best = null;
  for (let i = 0; i < points.length; ++i) {
    for (let j = i + 1; j < points.length; ++j) {
      if (!best || apart(points[i], points[j]) > apart(...best)) {
        best = [points[i], points[j]];
      }
    }
  }
  return best;
}

/**
 * The curve of a list of pairs (a, triangleA, b, triangleB): six numbers a piece.
 * @param cornersOf  gives the three corners of a triangle of a body
 */
export function curveOf(list, cornersOf) {
  const out = [];
  for (let i = 0; i < list.length; i += 4) {
    const piece = meetingOf(cornersOf(list[i], list[i + 1]), cornersOf(list[i + 2], list[i + 3]));
    if (piece) {
      out.push(...piece[0], ...piece[1]);
    }
  }
  return out;
}
