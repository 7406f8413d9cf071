// pick.js: which triangle is under the pointer. A ray against all triangles, by the determinants of Moller and Trumbore
// ("Fast, minimum storage ray-triangle intersection", 1997); a frame of a character takes about a millisecond.

/**
 * @param origin, direction  of the ray, arrays of 3
 * @param positions          of the body, 3 floats a site
 * @param triangles          corners of the body
 * @param only               triangles to look at, or null for all
 * @returns                  { triangle, distance } of the nearest hit, or null
 */
export function pickTriangle(origin, direction, positions, triangles, only) {
  const [ox, oy, oz] = origin;
  const [dx, dy, dz] = direction;
  const total = only ? only.length : triangles.length / 3;
  let best = null;
  let nearest = Infinity;
  for (let i = 0; i < total; ++i) {
    const t = only ? only[i] : i;
    const a = 3 * triangles[3 * t];
    const b = 3 * triangles[3 * t + 1];
    const c = 3 * triangles[3 * t + 2];
    const ax = positions[a];
    const ay = positions[a + 1];
    const az = positions[a + 2];
    const ux = positions[b] - ax;
    const uy = positions[b + 1] - ay;
    const uz = positions[b + 2] - az;
    const vx = positions[c] - ax;
    const vy = positions[c + 1] - ay;
    const vz = positions[c + 2] - az;

    // p = direction x v; zero determinant: the ray runs along the triangle
    const px = dy * vz - dz * vy;
    const py = dz * vx - dx * vz;
    const pz = dx * vy - dy * vx;
    const determinant = ux * px + uy * py + uz * pz;
    if (determinant === 0) {
      continue;
    }
    const sx = ox - ax;
    const sy = oy - ay;
    const sz = oz - az;
    const u = (sx * px + sy * py + sz * pz) / determinant;
    if (u < 0 || u > 1) {
      continue;
    }
    const qx = sy * uz - sz * uy;
    const qy = sz * ux - sx * uz;
    const qz = sx * uy - sy * ux;
    const v = (dx * qx + dy * qy + dz * qz) / determinant;
    if (v < 0 || u + v > 1) {
      continue;
    }
    const distance = (vx * qx + vy * qy + vz * qz) / determinant;
    if (distance > 0 && distance < nearest) {
      nearest = distance;
      best = t;
    }
  }
  return best === null ? null : { triangle: best, distance: nearest };
}
