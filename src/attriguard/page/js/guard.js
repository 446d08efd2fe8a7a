// A guard as a page holds it: weights unpacked from small integers, and what its classifiers infer from ratings.

/** What is wrong, in one line that a person can read. */
export class GuardError extends Error {}

/** The bytes of a base64 text, as an ArrayBuffer. */
export function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes.buffer;
}

/** The guard that a card (JSON) describes and whose weights are in `bytes` (an ArrayBuffer). */
export function unpackGuard(card, bytes) {
  if (card.format !== "attriguard page" || card.version !== 1) {
    throw new GuardError("this page and its guard do not fit together; get the page again");
  }
  const {ids, titles, years} = card.items;
  const total = card.shares.reduce((sum, share) => sum + share, 0);
  const guard = {
    card,
    items: ids.map((id, j) => ({id, title: titles[j], year: years ? years[j] : null})),
    values: card.values,
    goals: card.goals,
    scale: card.scale,
    prior: Float64Array.from(card.shares, (share) => share / total),
    target: Float64Array.from(card.target),
    upper: upperOf(card, ids.length),
    policy: card.policy,
    search: card.search,
    m: card.values.length,
  };
  if (card.models.classifier) guard.linear = unpackLinear(card.models.classifier, bytes, guard);
  if (card.models.ensemble) guard.ensemble = unpackEnsemble(card.models.ensemble, bytes, guard);
  return guard;
}

/** What an added entry gets: 0 for an item that may not be added, -1 for one that must not change. */
function upperOf(card, nItems) {
  const upper = new Float64Array(nItems).fill(card.additions ? 0 : 1);
  for (const [item, entry] of card.additions || []) upper[item] = entry;
  for (const item of card.locked) upper[item] = -1;
  return upper;
}

/** A model on ratings: `weights` has a row of `width` numbers an item; their sum decides the `posterior`. */
function unpackLinear(parts, bytes, guard) {
  const model = {weights: matrixOf(parts.coef, bytes), bias: vectorOf(parts.intercept, bytes), width: guard.m};
  model.posterior = (sums) => (parts.each ? eachAlone(sums) : softmax(sums, guard.m === 2 ? 0.5 : 1));
  model.lists = new Map();
  return model;
}

function unpackEnsemble(parts, bytes, guard) {
  const model = {
    weights: matrixOf(parts.first, bytes),
    bias: vectorOf(parts.first_bias, bytes),
    width: parts.first.columns,
    shares: vectorOf(parts.shares, bytes),
    ends: Int32Array.from(parts.ends),
    outputs: vectorOf(parts.second, bytes),
    outputBias: vectorOf(parts.second_bias, bytes),
    prior: Float64Array.from(guard.prior, Math.fround),
    m: guard.m,
  };
  model.posterior = (sums) => meanPosterior(memberScores(model, sums), model.shares, guard.m);
  return model;
}

/** Each row's integers times the row's scale, rounded to float32: exactly what the package computes. */
function matrixOf({rows, columns, bits, scales, at}, bytes) {
  const size = rows * columns;
  const whole = bits === 8 ? new Int8Array(bytes, at, size) : new Int16Array(bytes, at, size);
  const scale = new Float32Array(bytes, scales, rows);
  const matrix = new Float32Array(size);
  for (let row = 0, k = 0; row < rows; row++) {
    for (const end = k + columns; k < end; k++) matrix[k] = whole[k] * scale[row];
  }
  return matrix;
}

function vectorOf({size, at}, bytes) {
  return new Float32Array(bytes, at, size);
}

/** The shares exp(factor · score) / Σ. For two values C_1 = −C_2, so that half the lead is the log-odds. */
function softmax(scores, factor) {
  const top = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(factor * (score - top)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** One-vs-all: every value has a logistic regression of its own. */
function eachAlone(scores) {
  const sure = scores.map((score) => 1 / (1 + Math.exp(-score)));
  const total = sure.reduce((sum, each) => sum + each, 0);
  return sure.map((each) => each / total);
}

/** What every member says of every value, one member after another: Σ max(sums, 0) · outputs + bias. */
export function memberScores({ends, outputs, outputBias, m}, sums) {
  const scores = Float64Array.from(outputBias);
  for (let c = 0; c + 1 < ends.length; c++) {
    for (let h = ends[c]; h < ends[c + 1]; h++) {
      if (sums[h] > 0) addScaled(scores, c * m, outputs, h * m, m, sums[h]);
    }
  }
  return scores;
}

/** into[at + v] += factor · from[start + v], for v below size. */
export function addScaled(into, at, from, start, size, factor) {
  for (let v = 0; v < size; v++) into[at + v] += factor * from[start + v];
}

/** The mean of the members' softmax, each as much as its share says; `scores` are overwritten. */
export function meanPosterior(scores, shares, m) {
  const mean = new Float64Array(m);
  for (let first = 0; first < scores.length; first += m) {
    let top = -Infinity, total = 0;
    for (let v = first; v < first + m; v++) if (scores[v] > top) top = scores[v];
    for (let v = first; v < first + m; v++) total += scores[v] = Math.exp(scores[v] - top);
    for (let v = 0; v < m; v++) mean[v] += shares[first / m] * (scores[first + v] / total);
  }
  return mean;
}

/** What a model sums up over ratings, given as items in ascending order and their entries. */
export function sumsOf(model, items, entries) {
  const sums = Float64Array.from(model.bias);
  for (let s = 0; s < items.length; s++) addTo(sums, model, items[s], entries[s]);
  return sums;
}

/** One entry changes by `change`. */
export function addTo(sums, model, item, change) {
  addScaled(sums, 0, model.weights, item * model.width, model.width, change);
}

/** How much a posterior tells beyond the prior: KL(posterior ‖ prior) in nats. */
export function leakageOf(posterior, prior) {
  let leakage = 0;
  for (let v = 0; v < posterior.length; v++) {
    if (posterior[v] > 0) leakage += posterior[v] * Math.log(posterior[v] / prior[v]);
  }
  return leakage;
}

/** Round to the nearest whole number, halves to the even one, as the package does. */
export function roundHalfEven(x) {
  const low = Math.floor(x);
  if (x - low !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

/** What an entry of 0, "not rated", stands for on the scale, and how many ratings there are above it. */
export function levelsOf({low, high, step}) {
  const floor = low === 0 && high === 1 && step === 1 ? 0 : low - step; // likes: 1 is a like, 0 is no entry
  return {floor, levels: Math.round((high - floor) / step)};
}
