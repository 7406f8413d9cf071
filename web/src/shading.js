// shading.js: how bodies look. Colours are given and come out as sRGB; nothing is converted in between.
//
//   ghost  glass: hardly there where it faces the eye, denser towards its outline
//   solid  plain, lit from the eye and a little from above
//   red    triangles that meet: a light tint, outlined, pulled a little towards the eye to win over their own ghost

import { Color, DoubleSide, NormalBlending, ShaderMaterial } from 'three';

const vertexShader = `
  varying vec3 vNormal;
  varying vec3 vPlace;
  void main() {
    vec4 place = modelViewMatrix * vec4(position, 1.0);
    vNormal = normalMatrix * normal;
    vPlace = place.xyz;
    gl_Position = projectionMatrix * place;
  }`;

const ghostFragment = `
  uniform vec3 tint, rim;
  uniform float strength;
  varying vec3 vNormal;
  varying vec3 vPlace;
  void main() {
    float facing = abs(dot(normalize(vNormal), normalize(vPlace)));
    float edge = pow(1.0 - facing, 2.2);
    gl_FragColor = vec4(mix(tint, rim, edge * 0.6), strength * (0.10 + 0.62 * edge));
  }`;

const solidFragment = `
  uniform vec3 tint;
  uniform float strength;
  varying vec3 vNormal;
  varying vec3 vPlace;
  void main() {
    vec3 n = normalize(vNormal);
    vec3 eye = -normalize(vPlace);
    n = dot(n, eye) < 0.0 ? -n : n;
    float light = 0.50 + 0.38 * dot(n, eye) + 0.16 * n.y;
    gl_FragColor = vec4(tint * light, strength);
  }`;

const redVertex = `
  varying vec3 vPlace;
  varying vec3 vCorner;
  void main() {
    int corner = gl_VertexID % 3;
    vCorner = vec3(corner == 0, corner == 1, corner == 2);
    vec4 place = modelViewMatrix * vec4(position, 1.0);
    vPlace = place.xyz;
    gl_Position = projectionMatrix * place;
  }`;

const redFragment = `
  uniform vec3 tint;
  uniform float strength;
  varying vec3 vPlace;
  varying vec3 vCorner;
  void main() {
    vec3 n = normalize(cross(dFdx(vPlace), dFdy(vPlace)));
    float light = 0.80 + 0.20 * abs(dot(n, normalize(vPlace)));
    // edges, a pixel wide, that vanish where triangles are only a few pixels large
    vec3 across = fwidth(vCorner);
    vec3 away = vCorner / across;
    float edge = 1.0 - smoothstep(0.4, 1.3, min(min(away.x, away.y), away.z));
    float large = 1.0 - smoothstep(0.08, 0.25, max(max(across.x, across.y), across.z));
    gl_FragColor = vec4(tint * light * (1.0 - 0.45 * edge * large), strength);
  }`;

const floorFragment = `
  uniform vec3 tint;
  uniform float cell, reach;
  varying vec3 vSpot;
  void main() {
    vec2 at = vSpot.xy / cell;
    vec2 away = abs(fract(at - 0.5) - 0.5) / fwidth(at);
    float line = 1.0 - min(min(away.x, away.y), 1.0);
    float fade = 1.0 - smoothstep(0.15, 1.0, length(vSpot.xy) / reach);
    gl_FragColor = vec4(tint, 0.34 * line * fade);
  }`;

const floorVertex = `
  varying vec3 vSpot;
  void main() {
    vSpot = position;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

export function ghostMaterial() {
  return new ShaderMaterial({
    vertexShader,
    fragmentShader: ghostFragment,
    uniforms: { tint: { value: new Color() }, rim: { value: new Color() }, strength: { value: 1 } },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    blending: NormalBlending,
  });
}

export function solidMaterial() {
  return new ShaderMaterial({
    vertexShader,
    fragmentShader: solidFragment,
    uniforms: { tint: { value: new Color() }, strength: { value: 1 } },
    side: DoubleSide,
  });
}

/** `through`: seen through whatever is in front of it. */
export function redMaterial(through) {
  return new ShaderMaterial({
    vertexShader: redVertex,
    fragmentShader: redFragment,
    uniforms: { tint: { value: new Color() }, strength: { value: through ? 0.12 : 0.4 } },
    transparent: true,
    depthTest: !through,
    depthWrite: false,
    side: DoubleSide,
    polygonOffset: !through,
    polygonOffsetFactor: -2,
    polygonOffsetUnits: -4,
  });
}

export function floorMaterial() {
  return new ShaderMaterial({
    vertexShader: floorVertex,
    fragmentShader: floorFragment,
    uniforms: { tint: { value: new Color() }, cell: { value: 1 }, reach: { value: 1 } },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
  });
}

/** Colours of bodies: calm, and none of them near red. */
const TINTS_LIGHT = ['#4f74a8', '#2f8f86', '#7d68b8', '#6f8a3f', '#3d8fb8', '#8a7a55', '#5d6f86', '#a06aa0'];
const TINTS_DARK = ['#8fb4ea', '#6fd0c4', '#b7a3f0', '#b0cf7c', '#7fcdf2', '#d0bd90', '#a3b6cd', '#dfa6dd'];

/** The two bodies of a choice: blue and orange, which nearly everybody tells apart, also by how light they are; the others grey. */
const PAIR_LIGHT = ['#1f5fa8', '#c9761a', '#8b8d93'];
const PAIR_DARK = ['#6db1ff', '#ffb45c', '#7d8088'];

export function pairTint(side, dark) {
  const tints = dark ? PAIR_DARK : PAIR_LIGHT;
  return tints[side < 0 ? 2 : side];
}

export function bodyTint(index, dark) {
  const tints = dark ? TINTS_DARK : TINTS_LIGHT;
  return tints[index % tints.length];
}
