// Zip and gzip files, unpacked by the browser itself and bounded in what they hold.

import {ExportError} from "./exports_text.js";

/** What one export may hold, packed or not. */
export const MOST_BYTES = 200_000_000;
const MOST_FILES = 10_000;
const END_BYTES = 22, LONGEST_COMMENT = 65_535, ENTRY_BYTES = 46, LOCAL_BYTES = 30;
const STORED = 0, DEFLATED = 8, LOCKED = 1, ZIP64 = 0xffffffff;

/** Whether these are the bytes of a zip file. */
export function isZip([a, b, c, d]) {
  return a === 0x50 && b === 0x4b && c === 3 && d === 4;
}

/** Whether these are the bytes of a gzip file. */
export function isGzip([a, b]) {
  return a === 0x1f && b === 0x8b;
}

/** The files of a zip file: their names, and `bytes(most)`, which unpacks one and refuses one that is larger. */
export function openZip(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(view), count = view.getUint16(end + 10, true);
  if (count > MOST_FILES) throw new ExportError(`this zip file holds ${count} files; unpack it`);
  const files = [];
  for (let k = 0, at = view.getUint32(end + 16, true); k < count; k++) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new RangeError("no entry");
    const nameLength = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(bytes.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameLength));
    const entry = {
      flags: view.getUint16(at + 8, true), method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true), size: view.getUint32(at + 24, true), place: view.getUint32(at + 42, true),
    };
    files.push({name, bytes: (most = MOST_BYTES) => unpackEntry(bytes, view, entry, most)});
    at += ENTRY_BYTES + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}

/** Where the end of the directory stands: before a comment that may be long. */
function endOf(view) {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  throw new RangeError("no directory");
}

async function unpackEntry(bytes, view, {flags, method, packed, size, place}, most) {
  const known = method === STORED || method === DEFLATED;
  if (flags & LOCKED || !known || [packed, size, place].includes(ZIP64)) throw new RangeError("locked, or packed anew");
  if (view.getUint32(place, true) !== 0x04034b50) throw new RangeError("no file");
  const start = place + LOCAL_BYTES + view.getUint16(place + 26, true) + view.getUint16(place + 28, true);
  if (start + packed > bytes.length) throw new RangeError("cut");
  if (size > most) throw new TooLargeError("more than may be");
  const content = bytes.subarray(start, start + packed);
  const whole = method === STORED ? content : await inflate(content, "deflate-raw", most);
  if (whole.length !== size) throw new RangeError("another size");
  return whole;
}

/** Unpack "gzip" or "deflate-raw" bytes, and stop where there are more than `most`. */
export async function inflate(bytes, kind, most) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(kind));
  const reader = stream.getReader(), parts = [];
  let total = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    total += step.value.length;
    if (total > most) {
      await reader.cancel();
      throw new TooLargeError("more than may be");
    }
    parts.push(step.value);
  }
  const whole = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A packed file that unpacks to more than it may. */
export class TooLargeError extends RangeError {}
