// Keyed draws: which candidate a person gets follows from the person's secret, so it stays the same (_keys.py and
// mechanism/sampling.py of the package). SHA-256 and SHAKE-256 are written out, since the browser's own are either
// missing or answer later.

const KEY_DOMAIN = "attriguard key 2", DRAW_DOMAIN = "attriguard draw 1";
const SHORTEST_SECRET = 16, FEWEST_DISTINCT = 6;

/** Can this secret (bytes) be found by trying: is it short, of few distinct bytes, or a repetition? */
export function isGuessable(secret) {
  const distinct = new Set(secret);
  for (const blank of [9, 10, 11, 12, 13, 32]) distinct.delete(blank);
  if (secret.length < SHORTEST_SECRET || distinct.size < FEWEST_DISTINCT) return true;
  for (let n = 1; n < Math.min(SHORTEST_SECRET, Math.floor(secret.length / 2) + 1); n++) {
    if (secret.every((byte, k) => k < n || byte === secret[k - n])) return true;
  }
  return false;
}

/** `count` numbers in [0, 1) that follow from a secret, the attribute's bare name and who the person is. */
export function keyedNumbers(secret, attribute, person, count) {
  const encoder = new TextEncoder();
  const master = hmac(encoder.encode(KEY_DOMAIN), secret);
  const key = hmac(master, joinBytes(encoder.encode(`draws\0${attribute}`), [1]));
  const length = new Uint8Array(8);
  length[7] = key.length;
  const lanes = shake256(joinBytes(encoder.encode(DRAW_DOMAIN), length, key, encoder.encode(person)), count);
  return lanes.map((lane) => Number(lane >> 11n) * 2 ** -53);
}

/** A race: candidate i finishes after an exponential time of rate M_i, the first one wins. */
export function drawCandidate(M, numbers) {
  let winner = 0, best = Infinity;
  for (let i = 0; i < M.length; i++) {
    const time = M[i] > 0 ? -Math.log1p(-numbers[i]) / M[i] : Infinity;
    if (time < best) [winner, best] = [i, time];
  }
  return winner;
}

function joinBytes(...parts) {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);

/** The first 32 bits behind the point of a root of a prime, without the rounding of floating point. */
function rootBits(prime, degree) {
  let low = 0n, high = 1n << 40n;
  const target = BigInt(prime) << BigInt(32 * degree);
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}

const SHA_START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => rootBits(prime, 2));
const SHA_ROUNDS = Uint32Array.from(PRIMES, (prime) => rootBits(prime, 3));

/** SHA-256 (FIPS 180-4). */
export function sha256(message) {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(padded.length - 4, message.length * 8);
  const state = Uint32Array.from(SHA_START), w = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 64; t++) w[t] = t < 16 ? view.getUint32(block + 4 * t) : schedule(w, t);
    compress(state, w);
  }
  const digest = new Uint8Array(32), out = new DataView(digest.buffer);
  state.forEach((word, k) => out.setUint32(4 * k, word));
  return digest;
}

function rotate(x, n) {
  return (x >>> n) | (x << (32 - n));
}

function schedule(w, t) {
  const a = w[t - 15], b = w[t - 2];
  const near = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3), far = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
  return w[t - 16] + near + w[t - 7] + far;
}

function compress(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g));
    const first = (h + mixed + SHA_ROUNDS[t] + w[t]) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
  }
  [a, b, c, d, e, f, g, h].forEach((word, k) => { state[k] += word; });
}

/** HMAC with SHA-256 (RFC 2104). */
export function hmac(key, message) {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(joinBytes(block.map((byte) => byte ^ 0x36), message));
  return sha256(joinBytes(block.map((byte) => byte ^ 0x5c), inner));
}

const RATE = 136, LANE = 0xffffffffffffffffn;

/** The first `count` lanes of eight bytes (little-endian) of SHAKE-256 (FIPS 202). */
export function shake256(message, count) {
  const padded = new Uint8Array((Math.floor(message.length / RATE) + 1) * RATE);
  padded.set(message);
  padded[message.length] ^= 0x1f;
  padded[padded.length - 1] ^= 0x80;
  const view = new DataView(padded.buffer), state = new Array(25).fill(0n), lanes = [];
  for (let block = 0; block < padded.length; block += RATE) {
    for (let k = 0; k < RATE / 8; k++) state[k] ^= view.getBigUint64(block + 8 * k, true);
    keccak(state);
  }
  for (;;) {
    for (let k = 0; k < RATE / 8; k++) {
      if (lanes.length === count) return lanes;
      lanes.push(state[k]);
    }
    keccak(state);
  }
}

function rotateLane(lane, n) {
  return n ? ((lane << n) | (lane >> (64n - n))) & LANE : lane;
}

/** Keccak-f[1600]: 24 rounds on 25 lanes; lane x, y stands at x + 5y. */
function keccak(state) {
  let register = 1;
  for (let round = 0; round < 24; round++) {
    const column = [0, 1, 2, 3, 4].map((x) => state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20]);
    for (let k = 0; k < 25; k++) state[k] ^= column[(k + 4) % 5] ^ rotateLane(column[(k + 1) % 5], 1n);
    let x = 1, y = 0, moving = state[1];
    for (let t = 0; t < 24; t++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const here = state[x + 5 * y];
      state[x + 5 * y] = rotateLane(moving, BigInt((((t + 1) * (t + 2)) / 2) % 64));
      moving = here;
    }
    for (let row = 0; row < 25; row += 5) {
      const lanes = state.slice(row, row + 5);
      for (let k = 0; k < 5; k++) state[row + k] = lanes[k] ^ (~lanes[(k + 1) % 5] & LANE & lanes[(k + 2) % 5]);
    }
    for (let bit = 0; bit < 7; bit++) { // the round's constant comes from a shift register
      if (register & 1) state[0] ^= 1n << ((1n << BigInt(bit)) - 1n);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
  }
}
