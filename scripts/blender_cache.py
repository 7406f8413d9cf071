"""blender_cache.py: any scene that a Blender reads, as meshes and vertex caches that pinch scans: for USD and Alembic, which pinch does
not read itself.

    blender -b -P scripts/blender_cache.py -- scene.usd out
    blender -b -P scripts/blender_cache.py -- scene.abc out 10:250
    sh out/scan.sh --html report.html            # pinch scan out/body.obj@out/body.pc2 ...

Every mesh of the scene is evaluated in each frame (modifiers, armatures, caches), in world coordinates, and written as an OBJ with the
triangles of the first frame and a PC2 with the vertices of all. A mesh whose number of vertices changes is left out and named. What a Blender
reads is its own affair: those of blender.org have USD and Alembic, Debian's is built without, and then says so."""
import array
import math
import os
import re
import struct
import sys

# Blender's importers of this age use a name that a newer numpy has dropped.
try:
    import numpy

    if not hasattr(numpy, "bool"):
        numpy.bool = bool
except ImportError:
    pass
import bpy


def stop(text):
    print("blender_cache: " + text, file=sys.stderr, flush=True)
    os._exit(2)  # Blender ends with 0 whatever its script does


def read(path):
    ending = os.path.splitext(path)[1].lower()
    options = bpy.app.build_options
    if not os.path.exists(path):
        stop("%s is not there" % path)
    if ending == ".blend":
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path))
        return
    bpy.ops.wm.read_homefile(use_empty=True)
    if ending in (".usd", ".usda", ".usdc", ".usdz"):
        if not options.usd:
            stop("this Blender was built without USD; take one of blender.org")
        bpy.ops.wm.usd_import(filepath=path)
    elif ending == ".abc":
        if not options.alembic:
            stop("this Blender was built without Alembic; take one of blender.org")
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    elif ending == ".fbx":
        bpy.ops.import_scene.fbx(filepath=path)
    elif ending == ".dae":
        bpy.ops.wm.collada_import(filepath=path)
    elif ending in (".glb", ".gltf"):
        bpy.ops.import_scene.gltf(filepath=path)
    else:
        stop("%s: expected .usd, .abc, .fbx, .dae, .glb or .blend" % path)
    # These importers leave the scene's frames as they were: take those that have keys.
    ranges = [action.frame_range for action in bpy.data.actions]
    if ending in (".fbx", ".dae", ".glb", ".gltf") and ranges:
        scene = bpy.context.scene
        scene.frame_start = math.floor(min(range[0] for range in ranges))
        scene.frame_end = math.ceil(max(range[1] for range in ranges))


class Cache:
    """A mesh on its way into two files."""

    def __init__(self, item, folder):
        name = re.sub(r"[^A-Za-z0-9._-]", "_", item.name)
        self.item, self.frames, self.count, self.changed = item, 0, None, False
        self.obj, self.pc2 = os.path.join(folder, name + ".obj"), os.path.join(folder, name + ".pc2")
        self.file = open(self.pc2, "wb")

    def add(self, graph):
        evaluated = self.item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        mesh.transform(evaluated.matrix_world)
        vertices = array.array("f", bytes(12 * len(mesh.vertices)))
        mesh.vertices.foreach_get("co", vertices)
        if self.count is None:
            self.count = len(mesh.vertices)
            self.file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, self.count, 0, 1, 0))
            self.write_obj(mesh, vertices)
        self.changed |= len(mesh.vertices) != self.count
        if sys.byteorder == "big":
            vertices.byteswap()
        self.file.write(vertices.tobytes())
        self.frames += 1
        evaluated.to_mesh_clear()

    def write_obj(self, mesh, vertices):
        mesh.calc_loop_triangles()
        with open(self.obj, "w") as out:
            for i in range(0, len(vertices), 3):
                out.write("v %.9g %.9g %.9g\n" % tuple(vertices[i:i + 3]))
            for triangle in mesh.loop_triangles:
                out.write("f %d %d %d\n" % tuple(v + 1 for v in triangle.vertices))

    def close(self, first):
        # Now it is known how many frames there are.
        self.file.seek(20)
        self.file.write(struct.pack("<ffi", first, 1, self.frames))
        self.file.close()


def main():
    words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    if len(words) not in (2, 3):
        stop("say: blender -b -P blender_cache.py -- SCENE FOLDER [FIRST:LAST]")
    read(words[0])
    folder, scene = words[1], bpy.context.scene
    os.makedirs(folder, exist_ok=True)
    first, last = scene.frame_start, scene.frame_end
    if len(words) == 3:
        first, last = (int(word) for word in words[2].split(":"))
    caches = [Cache(item, folder) for item in scene.objects if item.type == "MESH"]
    if not caches:
        stop("%s: there is no mesh in it" % words[0])
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for cache in caches:
            if not cache.changed:
                cache.add(graph)
    kept = []
    for cache in caches:
        cache.close(first)
        if cache.changed or cache.count == 0:
            print("blender_cache: %s: its vertices change in number; left out" % cache.item.name, file=sys.stderr)
            os.remove(cache.obj), os.remove(cache.pc2)
        else:
            kept.append(cache)
    with open(os.path.join(folder, "scan.sh"), "w") as out:
        out.write("#!/bin/sh\n# The scene by pinch; options go behind.\nexec ${PINCH:-pinch} scan --fps %g%s \"$@\"\n" % (
            scene.render.fps / scene.render.fps_base, "".join(" '%s@%s'" % (c.obj, c.pc2) for c in kept)))
    print("blender_cache: %d meshes, frames %d to %d" % (len(kept), first, last), flush=True)


try:
    main()
except Exception as error:
    stop(str(error))
