#!/usr/bin/env python3
"""stream.py: frames piped into pinch as they are made: a box that falls onto a plate and stops in it.

    python3 stream.py | pinch scan - --json

The format is in docs/farm.md: a head with the bodies at rest, then the vertices of every frame. All numbers little-endian."""
import struct
import sys


def head(out, fps, bodies):
    """bodies: (name, vertices, triangles), vertices as (x, y, z), triangles as three numbers of vertices."""
    out.write(b"\x93pinch stream 1\n" + struct.pack("<dI", fps, len(bodies)))
    for name, vertices, triangles in bodies:
        text = name.encode()
        out.write(struct.pack("<III", len(text), len(vertices), len(triangles)) + text)
        out.write(b"".join(struct.pack("<3f", *v) for v in vertices))
        out.write(b"".join(struct.pack("<3I", *t) for t in triangles))


def frame(out, number, bodies):
    """bodies: the vertices of each, in the order of the head."""
    out.write(struct.pack("<q", number))
    for vertices in bodies:
        out.write(b"".join(struct.pack("<3f", *v) for v in vertices))
    out.flush()


def box(x, y, z):
    corners = [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]


def main():
    out = sys.stdout.buffer
    falling, faces = box(0.5, 0.5, 0.5)
    plate, plate_faces = box(2, 0.1, 2)
    head(out, 30, [("box", [(x, y + 3, z) for x, y, z in falling], faces), ("plate", plate, plate_faces)])
    for number in range(40):
        seconds = number / 30
        height = max(3 - 4.9 * seconds * seconds, 0.55)
        frame(out, number, [[(x, y + height, z) for x, y, z in falling], plate])


if __name__ == "__main__":
    main()
