// The goal "mislead": the paper's Algorithm 1 on the value's probability, or on its lead over the closest other value,
// as kernels/greedy.py does it. With a step of 1 an entry moves once: up to the top of the scale, or down to "not
// rated".

import {sumsOf} from "./guard.js";

// A bound counts as less than a gain where it is so by more than rounding.
const SURELY = 1 - 1e-9;
// What a step raises: the value's own decision function, its lead over the closest rival, or its probability.
const VALUE = 0, LEAD = 1, PROBABILITY = 2;
// How the search on the probability weighs rivals and decreases: kernels/aims.py says why.
const SHARPNESS = 2, DECREASE = 1.25;
// Instead of a rival: nobody, or all of them by how likely each is.
const ALONE = -1, MIXED = -2;

/**
 * For every value the changes after which the classifier infers it with a lead of kappa, in the order in which they
 * are made; null where it cannot be reached.
 */
export function findNoise(guard, person, kappa) {
  const work = startWork(guard, person);
  return Array.from({length: guard.m}, (_, i) => towards(guard, work, i, kappa));
}

function startWork(guard, person) {
  const {linear, m, upper} = guard, {items, entries} = person;
  const blocked = new Uint8Array(guard.items.length);
  for (const item of person.fixed) blocked[item] = 1;
  const movable = items.map((item) => (blocked[item] || upper[item] < 0 ? 0 : 1));
  for (const item of items) blocked[item] = 1;
  const rows = Array.from(items, (item) => linear.weights.subarray(item * m, (item + 1) * m));
  const least = rows.map((row) => Math.min(...row)), largest = rows.map((row) => Math.max(...row));
  return {items, entries, blocked, movable, least, largest, sums: sumsOf(linear, items, entries)};
}

/** The policy asked for, then modify and add; on each the aim of the guard's search, then those before it. */
function towards(guard, work, i, kappa) {
  const {modify, add} = guard.policy;
  for (const wider of modify && add ? [false] : [false, true]) {
    for (let aim = guard.search === "probability" ? PROBABILITY : LEAD; aim >= VALUE; aim--) {
      const found = attempt(guard, work, i, kappa, {modify: modify || wider, add: add || wider, aim});
      if (found) return found;
    }
  }
  return null;
}

function attempt(guard, work, i, kappa, {modify, add, aim}) {
  const {m} = guard, {weights} = guard.linear, fall = aim === PROBABILITY ? DECREASE : 1;
  const scores = Float64Array.from(work.sums), free = Uint8Array.from(work.movable), shares = new Float64Array(m);
  const state = {scores, free, shares};
  const trial = new Float64Array(m), added = [], changes = [], longest = longestStep(guard, work, i, add);
  const ended = (result) => {
    for (const item of added) work.blocked[item] = 0;
    return result;
  };
  for (;;) {
    const k = closestRival(state.scores, i);
    if (isReached(state.scores, i, k, kappa)) return ended(changes);
    let move = null;
    // Where no single step can be enough, the one on the lead need not be tried.
    const far = aim === PROBABILITY && (kappa - scores[i] + scores[k]) * SURELY > longest;
    for (let turn = far ? 1 : 0; turn < (aim === PROBABILITY ? 2 : 1); turn++) {
      if (turn === 1) sharesOf(state.scores, state.shares);
      move = bestMove(guard, work, state, i, turn === 1 ? MIXED : aim === VALUE ? ALONE : k, {modify, add, fall});
      if (!move) continue;
      for (let v = 0; v < m; v++) trial[v] = state.scores[v] + (move.to - move.from) * weights[move.item * m + v];
      if (isReached(trial, i, closestRival(trial, i), kappa)) break;
    }
    if (!move) return ended(null);
    const {item, slot, from, to} = move;
    if (slot < 0) {
      work.blocked[item] = 1;
      added.push(item);
    } else {
      state.free[slot] = 0;
    }
    state.scores.set(trial);
    changes.push({item, from, to});
  }
}

/** The most that one change gains for C_i against any one value. */
function longestStep(guard, {items, entries, least, largest}, i, add) {
  let most = add ? rankedFor(guard, i).gains[0] || 0 : 0;
  for (let s = 0; s < items.length; s++) {
    const own = guard.linear.weights[items[s] * guard.m + i];
    most = Math.max(most, (1 - entries[s]) * (own - least[s]), entries[s] * (largest[s] - own));
  }
  return most;
}

/** The change that gains most; null where none gains anything (without a rival an addition may gain nothing). */
function bestMove(guard, work, {free, shares}, i, k, {modify, add, fall}) {
  const {linear: {weights}, m, upper} = guard, {items, entries, least, largest} = work;
  let best = modify || k !== ALONE ? 0 : -Infinity, item = -1, slot = -1, up = true;
  const j = add ? bestAddition(guard, work.blocked, i, k, shares) : -1;
  const part = partOfRivals(shares, i, k);
  const added = j < 0 ? -Infinity : upper[j] * slopeOf(weights, j * m, m, i, k, shares);
  for (let s = 0; modify && s < items.length; s++) {
    if (!free[s]) continue;
    const x = entries[s], own = weights[items[s] * m + i];
    // No mixture of rivals moves an entry by more than the rival does that it moves most.
    const bound = Math.max((1 - x) * (own - least[s]), fall * x * (largest[s] - own));
    if (k === MIXED && part * bound < Math.max(best, added) * SURELY) continue;
    const slope = slopeOf(weights, items[s] * m, m, i, k, shares);
    const gain = slope > 0 ? (1 - x) * slope : -(fall * x) * slope;
    if (gain > 0 && (gain > best || (gain === best && slope > 0 && !up))) { // up wins a tie
      [best, item, slot, up] = [gain, items[s], s, slope > 0];
    }
  }
  if (j >= 0 && (added > best || (added === best && item >= 0 && (!up || j < item)))) [item, slot, up] = [j, -1, true];
  if (item < 0) return null;
  return {item, slot, from: slot < 0 ? 0 : entries[slot], to: slot < 0 ? upper[item] : up ? 1 : 0};
}

/** The value that leads C_i or follows it closest; the first one in a tie. */
function closestRival(scores, i) {
  let best = -1;
  for (let k = 0; k < scores.length; k++) if (k !== i && (best < 0 || scores[k] > scores[best])) best = k;
  return best;
}

/** Does the classifier infer i, with a lead of at least kappa? In a tie it infers the first value. */
function isReached(scores, i, k, kappa) {
  const lead = scores[i] - scores[k];
  return kappa > 0 ? lead >= kappa : lead > 0 || (lead === 0 && i < k);
}

/** How much each value counts: the softmax of the scores, sharpened. */
function sharesOf(scores, shares) {
  let top = -Infinity, total = 0;
  for (const score of scores) top = Math.max(top, score);
  for (let v = 0; v < scores.length; v++) total += shares[v] = Math.exp(SHARPNESS * (scores[v] - top));
  for (let v = 0; v < scores.length; v++) shares[v] /= total;
}

/** What all rivals together count. */
function partOfRivals(shares, i, k) {
  let part = k === MIXED ? 0 : 1;
  for (let v = 0; k === MIXED && v < shares.length; v++) if (v !== i) part += shares[v];
  return part;
}

/** How an item raises C_i, C_i − C_k, or Σ share_v (C_i − C_v): four values are summed at a time, as in the package. */
function slopeOf(weights, row, m, i, k, shares) {
  const own = weights[row + i];
  if (k !== MIXED) return k === ALONE ? own : own - weights[row + k];
  const even = m - (m % 4);
  let total = 0;
  for (let v = 0, at = row; v < even; v += 4, at += 4) {
    const low = shares[v] * (own - weights[at]) + shares[v + 1] * (own - weights[at + 1]);
    total += low + (shares[v + 2] * (own - weights[at + 2]) + shares[v + 3] * (own - weights[at + 3]));
  }
  for (let v = even; v < m; v++) total += shares[v] * (own - weights[row + v]);
  return total;
}

/**
 * The item that gains most when added, the first one in a tie; -1 where none gains. Against rivals: down the list of
 * value i, until no item further down can gain more.
 */
function bestAddition(guard, blocked, i, k, shares) {
  if (k === ALONE) return bestAlone(guard, blocked, i);
  const {linear: {weights}, m, upper} = guard, {items, gains} = rankedFor(guard, i);
  const part = partOfRivals(shares, i, k);
  let best = -1, most = 0;
  for (let at = 0; at < items.length && gains[at] > 0 && part * gains[at] >= most * SURELY; at++) {
    const item = items[at];
    if (blocked[item]) continue;
    const gain = upper[item] * slopeOf(weights, item * m, m, i, k, shares);
    if (gain > most || (gain === most && item < best)) [best, most] = [item, gain];
  }
  return best;
}

/**
 * The items that may be added, by what they gain for C_i against the value that they gain most against: against others,
 * or a mixture of them, they gain no more. Made once for a guard.
 */
function rankedFor({linear: {weights, lists}, m, upper}, i) {
  if (lists.has(i)) return lists.get(i);
  const most = Float64Array.from(upper, (entry, j) => {
    let least = Infinity;
    for (let v = 0; v < m; v++) least = Math.min(least, weights[j * m + v]);
    return entry * (weights[j * m + i] - least);
  });
  const items = Int32Array.from(most.keys()).filter((j) => upper[j] > 0).sort((a, b) => most[b] - most[a]);
  lists.set(i, {items, gains: Float64Array.from(items, (j) => most[j])});
  return lists.get(i);
}

/** The free item that raises C_i most, the first one in a tie. */
function bestAlone({linear: {weights}, m, upper}, blocked, i) {
  let best = -1, most = -Infinity;
  for (let j = 0; j < blocked.length; j++) {
    const gain = blocked[j] || upper[j] <= 0 ? -Infinity : upper[j] * weights[j * m + i];
    if (gain > most) [best, most] = [j, gain];
  }
  return best;
}
