// The goal "mislead": the paper's Algorithm 1 on the lead over the closest other value, as kernels/greedy.py does it.
// With a step of 1 an entry moves once: up to the top of the scale, or down to "not rated".

import {sumsOf} from "./guard.js";

// Entries kept of a list of additions; a person who has all of them gets a scan of all items.
const LONGEST_LIST = 128;

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
  const own = new Float64Array(items.length * m); // the weights of the person's own items, side by side
  items.forEach((item, s) => own.set(linear.weights.subarray(item * m, (item + 1) * m), s * m));
  return {items, entries, blocked, movable, own, sums: sumsOf(linear, items, entries)};
}

/** The policy asked for, then modify and add; on each the lead, then the value's own decision function alone. */
function towards(guard, work, i, kappa) {
  const {modify, add} = guard.policy;
  for (const wider of modify && add ? [false] : [false, true]) {
    for (const margin of [true, false]) {
      const found = attempt(guard, work, i, kappa, {modify: modify || wider, add: add || wider, margin});
      if (found) return found;
    }
  }
  return null;
}

function attempt(guard, work, i, kappa, {modify, add, margin}) {
  const {linear, m, upper} = guard, {weights} = linear, {items, entries, own} = work;
  const scores = Float64Array.from(work.sums), free = Uint8Array.from(work.movable);
  const gains = new Float64Array(items.length), added = [], changes = [];
  let against = -2, list = null, at = 0;
  const ended = (result) => {
    for (const item of added) work.blocked[item] = 0;
    return result;
  };
  for (;;) {
    let k = closestRival(scores, i);
    if (isReached(scores, i, k, kappa)) return ended(changes);
    if (!margin) k = -1;
    if (k !== against) {
      if (modify) ownGains(work, m, i, k, free, gains);
      [list, at, against] = [additionsFor(guard, i, k), 0, k];
    }
    let best = modify || margin ? 0 : -Infinity, item = -1, slot = -1, up = true;
    for (let s = 0; modify && s < gains.length; s++) {
      if (gains[s] > 0 && gains[s] >= best) {
        const rises = own[s * m + i] > (margin ? own[s * m + k] : 0);
        if (gains[s] > best || (rises && !up)) [best, item, slot, up] = [gains[s], items[s], s, rises]; // up wins a tie
      }
    }
    if (add) {
      while (at < list.items.length && work.blocked[list.items[at]]) at++;
      const j = at < list.items.length ? list.items[at] : list.whole ? -1 : bestOfAll(guard, work.blocked, i, k);
      const gain = j < 0 ? -Infinity : additionGain(guard, j, i, k);
      if (j >= 0 && (gain > best || (gain === best && item >= 0 && (!up || j < item)))) {
        [item, slot, up] = [j, -1, true];
      }
    }
    if (item < 0) return ended(null);
    const from = slot < 0 ? 0 : entries[slot], to = slot < 0 ? upper[item] : up ? 1 : 0;
    if (slot < 0) {
      work.blocked[item] = 1;
      added.push(item);
    } else {
      free[slot] = gains[slot] = 0;
    }
    for (let v = 0; v < m; v++) scores[v] += (to - from) * weights[item * m + v];
    changes.push({item, from, to});
  }
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

/** What moving each own entry to its bound would gain; 0 where it may not move, or has moved. */
function ownGains(work, m, i, k, free, gains) {
  for (let s = 0; s < gains.length; s++) {
    const gradient = work.own[s * m + i] - (k >= 0 ? work.own[s * m + k] : 0);
    gains[s] = !free[s] ? 0 : gradient > 0 ? (1 - work.entries[s]) * gradient : -work.entries[s] * gradient;
  }
}

function additionGain({linear: {weights}, m, upper}, item, i, k) {
  return upper[item] * (weights[item * m + i] - (k >= 0 ? weights[item * m + k] : 0));
}

/**
 * The items that gain most for C_i − C_k when added (for C_i where k is −1), best first, the first item first in a
 * tie; made once for a guard. `whole` says that no item is left out that could be chosen.
 */
function additionsFor(guard, i, k) {
  const {lists} = guard.linear, key = i * (guard.m + 1) + k + 1;
  if (!lists.has(key)) lists.set(key, rankAdditions(guard, i, k));
  return lists.get(key);
}

function rankAdditions(guard, i, k) {
  const items = new Int32Array(LONGEST_LIST), gains = new Float64Array(LONGEST_LIST);
  let size = 0, whole = true;
  for (let j = 0; j < guard.upper.length; j++) {
    if (guard.upper[j] <= 0) continue;
    const gain = additionGain(guard, j, i, k);
    if (k >= 0 && gain <= 0) continue;
    if (size === LONGEST_LIST) whole = false;
    if (size === LONGEST_LIST && gain <= gains[size - 1]) continue;
    let place = size < LONGEST_LIST ? size++ : size - 1;
    for (; place > 0 && gains[place - 1] < gain; place--) {
      gains[place] = gains[place - 1];
      items[place] = items[place - 1];
    }
    gains[place] = gain;
    items[place] = j;
  }
  return {items: items.slice(0, size), whole};
}

/** The best free item of all, where a person has every item of the list. */
function bestOfAll(guard, blocked, i, k) {
  let best = -1, most = -Infinity;
  for (let j = 0; j < blocked.length; j++) {
    if (blocked[j] || guard.upper[j] <= 0) continue;
    const gain = additionGain(guard, j, i, k);
    if (gain > most) [best, most] = [j, gain];
  }
  return best;
}
