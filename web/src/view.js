// view.js: the 3D view. Bodies as ghosts (or solid), the triangles that meet in red, contacts ringed. It draws only
// when something changed. Pointing at triangles is in point.js, colours and materials in shading.js.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  ColorManagement,
  DynamicDrawUsage,
  LinearSRGBColorSpace,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  PerspectiveCamera,
  PlaneGeometry,
  Quaternion,
  Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { sphereOf } from './contacts.js';
import { curveOf } from './curve.js';
import { chosenPairs } from './loader.js';
import { make, plural } from './page.js';
import { pickTriangle } from './pick.js';
import { bodyTint, floorMaterial, ghostMaterial, pairTint, redMaterial, solidMaterial } from './shading.js';

const MOST_MARKS = 8;
const FLIGHT_MS = 420;
const MOST_CURVE = 20000; // pairs whose line is drawn; more is a surface
const MOST_RAYS = 6e6; // triangles looked at when a side to look from is chosen: some 50 ms

export class View {
  /** Throws when the browser has no WebGL. */
  constructor(report, state, { stage, canvas, marks }) {
    Object.assign(this, { report, state, stage, canvas, markBox: marks });
    ColorManagement.enabled = false;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    // asking for errors waits for the compiler, which then cannot work beside the page
    this.renderer.debug.checkShaderErrors = false;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(32, 1, 0.01, 1000);
    this.camera.up.setComponent(0, 0).setComponent(1, 0).setComponent(report.meta.up, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => this.draw());
    this.controls.addEventListener('start', () => (this.flight = null));
    this.makeBodies();
    this.makeRed();
    this.makeCurve();
    this.makeFloor();
    this.contactTurn = -1;
    new ResizeObserver(() => this.resize()).observe(stage);
    state.on(['theme'], () => this.paint());
    state.on(['shown', 'kind', 'finding', 'show', 'search', 'clip'], () => this.update());
    state.on(['solid', 'hidden', 'kind', 'finding'], () => this.dress());
  }

  // ---------------------------------------------------------------- things in the scene

  makeBodies() {
    this.bodies = this.report.topology.map(({ triangles }, b) => {
      const geometry = new BufferGeometry();
      const sites = this.report.bodies[b].sites;
      for (const name of ['position', 'normal']) {
        geometry.setAttribute(name, new BufferAttribute(new Float32Array(3 * sites), 3).setUsage(DynamicDrawUsage));
      }
      geometry.setIndex(new BufferAttribute(triangles, 1));
      const mesh = new Mesh(geometry, ghostMaterial());
      mesh.frustumCulled = false;
      mesh.renderOrder = 2;
      this.scene.add(mesh);
      return { mesh, ghost: mesh.material, solid: solidMaterial() };
    });
  }

  makeRed() {
    this.redGeometry = new BufferGeometry();
    this.red = new Mesh(this.redGeometry, redMaterial(false));
    this.redThrough = new Mesh(this.redGeometry, redMaterial(true));
    this.red.renderOrder = 1;
    this.redThrough.renderOrder = 4;
    this.outlineGeometry = new BufferGeometry();
    this.outline = new LineSegments(
      this.outlineGeometry,
      new LineBasicMaterial({ depthTest: false, transparent: true }),
    );
    this.outline.renderOrder = 5;
    for (const object of [this.red, this.redThrough, this.outline]) {
      object.frustumCulled = false;
      this.scene.add(object);
    }
  }

  /** The line along which bodies meet, with a halo so that it stands out from every colour, and the arrow of the depth. */
  makeCurve() {
    const line = (width, order) => {
      const material = new LineMaterial({ linewidth: width, depthTest: false, transparent: true });
      const object = new LineSegments2(new LineSegmentsGeometry(), material);
      object.frustumCulled = false;
      object.renderOrder = order;
      object.visible = false;
      this.scene.add(object);
      return object;
    };
    this.halo = line(5.5, 6);
    this.curve = line(2.6, 7);
    this.arrow = line(2, 8);
  }

  makeFloor() {
    this.floor = new Mesh(new PlaneGeometry(2, 2), floorMaterial());
    const up = this.camera.up.clone();
    this.floor.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up));
    this.floor.visible = false;
    this.scene.add(this.floor);
  }

  // ---------------------------------------------------------------- what changes

  /** Theme: the colours. */
  paint() {
    const dark = this.state.get('theme') === 'dark';
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => new Color(style.getPropertyValue(`--${name}`).trim());
    const pair = this.chosenBodies();
    this.bodies.forEach(({ ghost, solid }, b) => {
      const tint = new Color(pair ? pairTint(pair.indexOf(b), dark) : bodyTint(b, dark));
      ghost.uniforms.tint.value.copy(tint);
      ghost.uniforms.rim.value.copy(tint).lerp(new Color(dark ? '#ffffff' : '#101820'), 0.35);
      solid.uniforms.tint.value.copy(tint).lerp(new Color('#ffffff'), dark ? 0 : 0.28);
    });
    this.red.material.uniforms.tint.value.copy(colour('red'));
    this.redThrough.material.uniforms.tint.value.copy(colour('red'));
    this.outline.material.color.copy(colour('ink'));
    this.curve.material.color.copy(colour('red'));
    this.halo.material.color.copy(colour('panel'));
    this.arrow.material.color.copy(colour('ink'));
    this.floor.material.uniforms.tint.value.copy(colour('faint'));
    this.draw();
  }

  /** Solid or ghosted, which bodies are hidden, which stand back because they are not of the chosen pair. */
  dress() {
    const pair = this.chosenBodies();
    const solid = this.state.get('solid');
    const hidden = this.state.get('hidden');
    this.bodies.forEach((body, b) => {
      const aside = pair && !pair.includes(b);
      body.mesh.visible = !hidden.has(b);
      body.mesh.material = solid && !aside ? body.solid : body.ghost;
      body.mesh.renderOrder = solid && !aside ? 0 : 2;
      body.ghost.uniforms.strength.value = aside ? 0.3 : 1;
    });
    this.redThrough.visible = solid;
    this.paint();
  }

  /** The bodies of the chosen finding or body pair, null when nothing is chosen. */
  chosenBodies() {
    const chosen = this.state.get('finding') ?? this.state.get('kind');
    return chosen ? [chosen.a, chosen.b] : null;
  }

  /** A new frame, or another choice of pairs in it. */
  update() {
    const shown = this.state.get('shown');
    if (!shown?.pose) {
      return;
    }
    const before = this.pose;
    if (this.pose !== shown.pose) {
      this.pose = shown.pose;
      this.bodies.forEach(({ mesh }, b) => this.moveBody(mesh.geometry, b, shown.pose.positions[b]));
      this.placeFloor();
      this.contactTurn = -1;
    }
    this.chosen = chosenPairs(this.report, shown, this.state);
    this.fillRed();
    this.fillCurve();
    this.fillArrow(shown.frame);
    this.placeMarks();
    if (!this.placed) {
      this.placed = true;
      this.frameWhole(true);
    }
    this.follow(before !== shown.pose);
    this.draw();
  }

  /** Where the chosen finding is in the frame shown: the middle of its triangles, else where the scan said. */
  findingPlace() {
    const finding = this.state.get('finding');
    if (!finding) {
      return null;
    }
    const members = this.chosen.contacts.flatMap((contact) => contact.members);
    if (members.length > 0) {
      const triangles = this.report.topology.map((body) => body.triangles);
      return sphereOf(members, triangles, this.pose.positions);
    }
    const sample = this.report.sampleAt(finding, this.state.get('shown').frame);
    return { centre: sample ? sample.slice(2, 5) : finding.centre, radius: finding.depth ?? 0 };
  }

  /** A newly chosen finding is flown to; after that the camera goes along with it, unless it is held. */
  follow(moved) {
    const finding = this.state.get('finding');
    const place = this.findingPlace();
    if (!finding || !place) {
      this.followed = null;
      return;
    }
    const centre = new Vector3(...place.centre);
    if (this.followed?.finding !== finding) {
      if (this.state.get('shown').frame === this.state.get('frame')) {
        this.lookAt(centre, place.radius);
        this.followed = { finding, centre };
      }
      return;
    }
    if (moved && this.state.get('follow')) {
      const step = centre.clone().sub(this.followed.centre);
      this.flight = null;
      this.controls.target.add(step);
      this.camera.position.add(step);
    }
    this.followed.centre = centre;
  }

  fillCurve() {
    const { list } = this.chosen;
    const corners = new Float32Array(9);
    const cornersOf = (b, triangle) => {
      this.addCorners(b, triangle, corners, 0);
      return [0, 3, 6].map((k) => [corners[k], corners[k + 1], corners[k + 2]]);
    };
    const pieces = curveOf(list.slice(0, 4 * MOST_CURVE), cornersOf);
    this.curvePieces = pieces;
    for (const object of [this.curve, this.halo]) {
      this.setLines(object, pieces);
    }
  }

  setLines(object, pieces) {
    object.visible = pieces.length > 0;
    if (pieces.length > 0) {
      object.geometry.dispose();
      object.geometry = new LineSegmentsGeometry().setPositions(pieces);
    }
  }

  /** From the deepest place to the surface it should be behind; in the deepest frame only, where the scan measured it. */
  arrowWay(frame) {
    const finding = this.state.get('finding');
    if (!finding || finding.depthKind === 'curve' || frame !== finding.deepestIndex) {
      return null;
    }
    const way = new Vector3(...finding.onto).sub(new Vector3(...finding.from));
    return way.length() > 0 ? way : null;
  }

  fillArrow(frame) {
    const way = this.arrowWay(frame);
    const pieces = [];
    if (way) {
      const { from, onto } = this.state.get('finding');
      pieces.push(...from, ...onto);
      const side = new Vector3(0.3, 0.8, 0.52).cross(way).setLength(0.12 * way.length());
      const other = side.clone().cross(way).setLength(0.12 * way.length());
      const neck = new Vector3(...from).addScaledVector(way, 0.76);
      for (const barb of [side, side.clone().negate(), other, other.clone().negate()]) {
        pieces.push(...onto, ...neck.clone().add(barb));
      }
    }
    this.setLines(this.arrow, pieces);
  }

  moveBody(geometry, b, positions) {
    const { triangles, predictors } = this.report.topology[b];
    geometry.attributes.position.array.set(positions);
    geometry.attributes.position.needsUpdate = true;
    this.twins ??= [];
    this.twins[b] ??= findTwins(predictors, positions);
    fillNormals(triangles, positions, this.twins[b], geometry.attributes.normal.array);
    geometry.attributes.normal.needsUpdate = true;
  }

  fillRed() {
    const { list } = this.chosen;
    this.redOf = this.bodies.map(() => new Set());
    for (let i = 0; i < list.length; i += 4) {
      this.redOf[list[i]].add(list[i + 1]);
      this.redOf[list[i + 2]].add(list[i + 3]);
    }
    const total = this.redOf.reduce((sum, set) => sum + set.size, 0);
    const corners = new Float32Array(9 * total);
    let at = 0;
    this.redOf.forEach((set, b) => {
      for (const triangle of set) {
        at = this.addCorners(b, triangle, corners, at);
      }
    });
    this.redGeometry.setAttribute('position', new BufferAttribute(corners, 3));
    this.red.visible = total > 0;
  }

  addCorners(b, triangle, out, at) {
    const { triangles } = this.report.topology[b];
    for (let k = 0; k < 3; ++k) {
      const from = 3 * triangles[3 * triangle + k];
      out.set(this.pose.positions[b].subarray(from, from + 3), at);
      at += 3;
    }
    return at;
  }

  /** Outlines some triangles: [[body, triangle], ...]. */
  outlineTriangles(members) {
    const lines = new Float32Array(18 * members.length);
    const corners = new Float32Array(9);
    members.forEach(([b, triangle], i) => {
      this.addCorners(b, triangle, corners, 0);
      [0, 1, 1, 2, 2, 0].forEach((k, j) => lines.set(corners.subarray(3 * k, 3 * k + 3), 18 * i + 3 * j));
    });
    this.outlineGeometry.setAttribute('position', new BufferAttribute(lines, 3));
    this.outline.visible = members.length > 0;
    this.draw();
  }

  placeFloor() {
    const up = this.report.meta.up;
    const { centre, radius, low } = this.bounds();
    this.floorHeight = Math.min(this.floorHeight ?? Infinity, low[up]);
    this.size = Math.max(this.size ?? 0, radius);
    const reach = this.size * 2.6;
    const cell = 10 ** Math.round(Math.log10(this.size / 2));
    // the grid stays where it is in space: the floor moves by whole cells
    centre.forEach((x, i) => this.floor.position.setComponent(i, Math.round(x / cell) * cell));
    this.floor.position.setComponent(up, this.floorHeight - 0.002 * this.size);
    this.floor.scale.setScalar(1);
    this.floor.geometry.attributes.position.array.forEach(
      (x, i, array) => (array[i] = Math.sign(x) * (i % 3 < 2 ? reach : 0)),
    );
    this.floor.geometry.attributes.position.needsUpdate = true;
    this.floor.geometry.computeBoundingSphere();
    this.floor.material.uniforms.cell.value = cell;
    this.floor.material.uniforms.reach.value = reach;
    this.floor.visible = true;
  }

  /** Box and sphere around the bodies that are not hidden. */
  bounds() {
    const hidden = this.state.get('hidden');
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    this.pose.positions.forEach((positions, b) => {
      for (let i = 0; i < positions.length && !hidden.has(b); ++i) {
        low[i % 3] = Math.min(low[i % 3], positions[i]);
        high[i % 3] = Math.max(high[i % 3], positions[i]);
      }
    });
    if (low[0] > high[0]) {
      return { centre: [0, 0, 0], radius: 1, low: [0, 0, 0] };
    }
    const centre = low.map((x, i) => (x + high[i]) / 2);
    return { centre, radius: Math.hypot(...low.map((x, i) => high[i] - x)) / 2 || 1, low };
  }

  // ---------------------------------------------------------------- camera

  /** Distance from which a sphere fills the view. */
  distanceFor(radius) {
    const half = (this.camera.fov * Math.PI) / 360;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    return radius / Math.sin(narrow);
  }

  frameWhole(atOnce = false) {
    if (!this.pose) {
      return;
    }
    const { centre, radius } = this.bounds();
    const up = this.report.meta.up;
    // from the front, a little from the side and from above; the front is +z where y is up, -y where z is up
    const direction = [new Vector3(0.22, 1, 0.5), new Vector3(0.5, 0.22, 1), new Vector3(0.5, -1, 0.22)][up];
    this.fly(new Vector3(...centre), this.distanceFor(radius * 1.02), direction, atOnce);
  }

  /** Frames the contact with the most pairs; asked again, the next one. */
  frameContact(which = this.contactTurn + 1) {
    const contacts = this.chosen?.contacts ?? [];
    if (contacts.length === 0) {
      return null;
    }
    this.contactTurn = which % contacts.length;
    this.frameMembers(contacts[this.contactTurn].members);
    return { turn: this.contactTurn + 1, of: contacts.length, pairs: contacts[this.contactTurn].pairs };
  }

  frameMembers(members) {
    const triangles = this.report.topology.map((body) => body.triangles);
    const { centre, radius } = sphereOf(members, triangles, this.pose.positions);
    this.lookAt(new Vector3(...centre), radius);
  }

  /** Looks at a place from the side from which most of the line there is seen. */
  lookAt(target, radius) {
    const whole = this.bounds();
    const distance = this.distanceFor(Math.max(radius * 1.9, whole.radius * 0.06));
    this.fly(target, distance, this.clearSide(target) ?? this.outward(target, whole));
  }

  /** A direction from which few triangles stand before the line; null when nothing is drawn, or too much to try. */
  clearSide(target) {
    const pieces = this.curvePieces ?? [];
    const total = this.report.topology.reduce((sum, body) => sum + body.triangles.length / 3, 0);
    const places = [];
    for (let i = 0; i + 6 <= pieces.length; i += 6 * Math.max(Math.floor(pieces.length / 24), 1)) {
      places.push([0, 1, 2].map((k) => (pieces[i + k] + pieces[i + 3 + k]) / 2));
    }
    const directions = this.directions();
    if (places.length === 0 || total * places.length * directions.length > MOST_RAYS) {
      return null;
    }
    const current = this.camera.position.clone().sub(this.controls.target).normalize();
    const outward = this.outward(target, this.bounds()).normalize();
    const arrow = this.arrowWay(this.state.get('frame'))?.normalize() ?? new Vector3();
    let best = null;
    for (const direction of directions) {
      const seen = places.filter((place) => !this.isHidden(place, direction)).length / places.length;
      // an arrow that points at the eye shows no depth
      const aside = 1 - Math.abs(direction.dot(arrow));
      const score = seen + 0.12 * direction.dot(current) + 0.12 * direction.dot(outward) + 0.35 * aside;
      if (!best || score > best.score) {
        best = { score, direction };
      }
    }
    return best.direction;
  }

  /** Sides to look from: around, from three heights. */
  directions() {
    const up = this.camera.up;
    const side = new Vector3(up.y, up.z, up.x);
    const out = [];
    for (const height of [-0.15, 0.3, 0.9]) {
      for (let k = 0; k < 10; ++k) {
        out.push(side.clone().applyAxisAngle(up, (k * Math.PI) / 5).addScaledVector(up, height).normalize());
      }
    }
    return out;
  }

  /** Does a triangle stand between a place on the line and the eye? Those that meet there do not count. */
  isHidden(place, direction) {
    const hidden = this.state.get('hidden');
    const way = direction.toArray();
    const start = place.map((x, k) => x + 0.004 * this.size * way[k]);
    return this.pose.positions.some(
      (positions, b) => !hidden.has(b) && pickTriangle(start, way, positions, this.report.topology[b].triangles, null),
    );
  }

  outward(target, whole) {
    // look at it from outside of the scene, unless it is in its very middle
    const outward = target.clone().sub(new Vector3(...whole.centre));
    const up = this.camera.up;
    outward.addScaledVector(up, -outward.dot(up));
    const current = this.camera.position.clone().sub(this.controls.target).normalize();
    const direction = outward.length() > 0.05 * whole.radius ? outward.normalize().addScaledVector(up, 0.35) : current;
    return direction.addScaledVector(current, 0.45);
  }

  /** Moves the camera to look at `target` from `direction`; at once for people who asked for less motion. */
  fly(target, distance, direction, atOnce = false) {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const offset = direction.clone().normalize().multiplyScalar(distance);
    const start = performance.now();
    const from = {
      target: this.controls.target.clone(),
      offset: this.camera.position.clone().sub(this.controls.target),
    };
    this.flight = (now) => {
      const t = atOnce || still ? 1 : Math.min((now - start) / FLIGHT_MS, 1);
      const ease = 1 - (1 - t) ** 3;
      this.controls.target.lerpVectors(from.target, target, ease);
      const length = from.offset.length() ** (1 - ease) * distance ** ease;
      const way = from.offset.clone().normalize().lerp(offset.clone().normalize(), ease);
      this.camera.position.copy(this.controls.target).addScaledVector(way.normalize(), length);
      if (t === 1) {
        this.flight = null;
      }
    };
    this.draw();
  }

  /** Turns, tilts and moves the camera, for the keyboard. */
  turn(around, tilt, nearer) {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const up = this.camera.up;
    offset.applyAxisAngle(up, around);
    const side = new Vector3().crossVectors(up, offset).normalize();
    const angle = offset.angleTo(up);
    offset.applyAxisAngle(side, -Math.min(Math.max(tilt, 0.05 - (Math.PI - angle)), angle - 0.05));
    this.camera.position.copy(this.controls.target).addScaledVector(offset, nearer);
    this.flight = null;
    this.draw();
  }

  // ---------------------------------------------------------------- drawing

  resize() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0) {
      return;
    }
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  draw() {
    if (!this.pending) {
      this.pending = requestAnimationFrame((now) => {
        this.pending = 0;
        this.render(now);
      });
    }
  }

  render(now) {
    if (!this.pose) {
      return;
    }
    if (this.flight) {
      this.flight(now);
      this.draw();
    }
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(distance * 0.02, this.size * 1e-4);
    this.camera.far = distance + this.size * 12;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
    this.moveMarks();
    this.stage.dataset.drawn = this.state.get('shown').frame;
  }

  // ---------------------------------------------------------------- marks: where the contacts are

  placeMarks() {
    const triangles = this.report.topology.map((body) => body.triangles);
    this.marks = this.chosen.contacts.slice(0, MOST_MARKS).map((contact, i) => {
      const button = make(
        'button',
        {
          type: 'button',
          title: 'Frame this contact',
          'aria-label': `Contact ${i + 1}: ${plural(contact.pairs, 'pair')}. Frame it.`,
          onclick: () => this.frameContact(i),
        },
        make('span', {}, String(contact.pairs)),
      );
      const { centre, radius } = sphereOf(contact.members, triangles, this.pose.positions);
      return { button, radius, centre: this.nearestCorner(contact.members, centre) };
    });
    this.markBox.replaceChildren(...this.marks.map((mark) => mark.button));
  }

  /** The corner of the triangles nearest to a place: a long, bent contact is ringed on itself, not beside it. */
  nearestCorner(members, place) {
    let best = place;
    let nearest = Infinity;
    const corners = new Float32Array(9);
    for (const [b, triangle] of members) {
      this.addCorners(b, triangle, corners, 0);
      const away = Math.hypot(corners[0] - place[0], corners[1] - place[1], corners[2] - place[2]);
      if (away < nearest) {
        nearest = away;
        best = [...corners.subarray(0, 3)];
      }
    }
    return best;
  }

  moveMarks() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    const perUnit = height / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    for (const { button, centre, radius } of this.marks ?? []) {
      const place = new Vector3(...centre);
      const pixels = (radius * perUnit) / this.camera.position.distanceTo(place);
      place.project(this.camera);
      const ring = Math.min(Math.max(pixels + 7, 12), 20);
      const x = ((place.x + 1) / 2) * width;
      const y = ((1 - place.y) / 2) * height;
      // a contact that fills a good part of the view needs no ring
      const shown = place.z < 1 && pixels < 0.22 * Math.min(width, height);
      button.style.display = shown ? '' : 'none';
      button.style.width = button.style.height = `${2 * ring}px`;
      button.style.transform = `translate(${x - ring}px, ${y - ring}px)`;
      // numbers stand outwards, off the other contacts, as far as there is room
      button.classList.toggle('left', x < width / 2 && x > 70);
    }
  }
}

// ---------------------------------------------------------------- normals

/** For each site the site it coincides with (seams): those share one normal. Predicted copies are the candidates. */
function findTwins(predictors, positions) {
  const sites = predictors.length / 3;
  const twins = new Uint32Array(sites);
  for (let i = 0; i < sites; ++i) {
    const a = predictors[3 * i] - 1;
    const copy = a >= 0 && predictors[3 * i + 1] === 0;
    const same = copy && [0, 1, 2].every((k) => positions[3 * a + k] === positions[3 * i + k]);
    twins[i] = same ? twins[a] : i;
  }
  return twins;
}

/** Smooth normals: the sum of the triangles around a vertex, weighted by area. */
function fillNormals(triangles, positions, twins, normals) {
  normals.fill(0);
  for (let i = 0; i < triangles.length; i += 3) {
    const a = 3 * triangles[i];
    const b = 3 * triangles[i + 1];
    const c = 3 * triangles[i + 2];
    const ux = positions[b] - positions[a];
    const uy = positions[b + 1] - positions[a + 1];
    const uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a];
    const vy = positions[c + 1] - positions[a + 1];
    const vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    for (let k = 0; k < 3; ++k) {
      const at = 3 * twins[triangles[i + k]];
      normals[at] += x;
      normals[at + 1] += y;
      normals[at + 2] += z;
    }
  }
  for (let i = 0; i < twins.length; ++i) {
    const from = 3 * twins[i];
    const length = from === 3 * i ? Math.hypot(normals[from], normals[from + 1], normals[from + 2]) || 1 : 1;
    for (let k = 0; k < 3; ++k) {
      normals[3 * i + k] = normals[from + k] / length;
    }
  }
}
