// stage.js: a scene of the laboratory in 3D, playing beside its plot. A few frames are stored; between them vertices go straight.

import { BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, HemisphereLight, Mesh, MeshLambertMaterial, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from 'three';

const SECONDS = 6; // once through

export class Stage {
  /** Throws when the browser has no WebGL. data: {frames, grid, lo, step, bodies: [{triangles, positions: one array a frame}]} */
  constructor(box, canvas, data) {
    Object.assign(this, { box, canvas, data, playing: false, at: 0 });
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(30, 1, 0.01, 1e4);
    this.scene.add(new HemisphereLight(0xffffff, 0x777788, 2.2));
    const sun = new DirectionalLight(0xffffff, 1.6);
    sun.position.set(1, 2, 1.5);
    this.scene.add(sun);
    this.meshes = data.bodies.map((body, i) => this.makeBody(body, i));
    this.frame();
    new ResizeObserver(() => this.show()).observe(box);
    this.show();
  }

  makeBody(body, i) {
    const geometry = new BufferGeometry();
    const corners = new Float32Array(3 * body.triangles.length);
    geometry.setAttribute('position', new BufferAttribute(corners, 3));
    const style = getComputedStyle(document.documentElement);
    const color = new Color(style.getPropertyValue(i % 2 ? '--body-b' : '--body-a').trim());
    const mesh = new Mesh(geometry, new MeshLambertMaterial({ color, side: DoubleSide, flatShading: true }));
    mesh.frustumCulled = false;
    this.scene.add(mesh);
    return mesh;
  }

  /** Camera so that every frame is in view. */
  frame() {
    const low = new Vector3(Infinity, Infinity, Infinity), high = new Vector3(-Infinity, -Infinity, -Infinity), p = new Vector3();
    for (const body of this.data.bodies)
      for (const positions of body.positions)
        for (let k = 0; k < positions.length; k += 3) {
          p.set(positions[k], positions[k + 1], positions[k + 2]);
          low.min(p), high.max(p);
        }
    const middle = low.clone().add(high).multiplyScalar(0.5), reach = high.clone().sub(low).length() / 2 || 1;
    this.camera.position.copy(middle).add(new Vector3(0.5, 0.45, 1).normalize().multiplyScalar(reach * 3.6));
    this.camera.far = 20 * reach;
    this.camera.near = 0.01 * reach;
    this.camera.lookAt(middle);
  }

  show() {
    const { clientWidth: w, clientHeight: h } = this.box;
    if (!w || !h) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    const last = this.data.frames - 1, t = this.at * last, f = Math.min(last - 1, Math.floor(t)), part = t - f;
    this.data.bodies.forEach((body, i) => {
      const a = body.positions[Math.max(0, f)], b = body.positions[Math.min(last, f + 1)];
      const out = this.meshes[i].geometry.attributes.position;
      body.triangles.forEach((v, k) => {
        for (let c = 0; c < 3; ++c) out.array[3 * k + c] = a[3 * v + c] + part * (b[3 * v + c] - a[3 * v + c]);
      });
      out.needsUpdate = true;
      this.meshes[i].geometry.computeVertexNormals();
    });
    this.renderer.render(this.scene, this.camera);
  }

  play(on) {
    this.playing = on;
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.at = (this.at + (now - before) / 1000 / SECONDS) % 1;
      before = now;
      this.show();
      requestAnimationFrame(tick);
    };
    if (on) requestAnimationFrame(tick);
  }
}
