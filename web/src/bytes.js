// bytes.js: the small change of the data format: base64, inflate, varints. The writing side is cli/report_bytes.c.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

let digitValue = null;

/** Base64 to bytes. Uses the browser's own decoder where there is one. */
export function fromBase64(text) {
  if (typeof Uint8Array.fromBase64 === 'function') {
    return Uint8Array.fromBase64(text);
  }
  if (!digitValue) {
    digitValue = new Uint8Array(128);
    for (let i = 0; i < 64; ++i) {
      digitValue[DIGITS.charCodeAt(i)] = i;
    }
  }

  // four characters are three bytes; padding cuts the last ones
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3);
  for (let i = 0, at = 0; i < text.length; i += 4) {
    const bits =
      (digitValue[text.charCodeAt(i)] << 18) |
      (digitValue[text.charCodeAt(i + 1)] << 12) |
      (digitValue[text.charCodeAt(i + 2)] << 6) |
      digitValue[text.charCodeAt(i + 3)];
    bytes[at++] = bits >> 16;
    bytes[at++] = bits >> 8;
    bytes[at++] = bits;
  }
  return bytes.subarray(0, bytes.length - padding);
}

/** Inflates a zlib stream. */
export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads varints one after the other. Numbers stay exact up to 2^53. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  varint() {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= this.bytes.length) {
        throw new Error('the data of this report ends too early: the file is damaged');
      }
      const byte = this.bytes[this.at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        return value;
      }
      scale *= 128;
    }
  }

  signed() {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  double() {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8);
    this.at += 8;
    return view.getFloat64(0, true);
  }

  get done() {
    return this.at >= this.bytes.length;
  }
}
