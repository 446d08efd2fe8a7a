// The goal "both": part of the budget removes what tells most, the rest points to another value.

import {extendSequence} from "./conceal.js";
import {findNoise} from "./mislead.js";

// How far a value shall lead: the largest of these that the budget pays for.
const LEADS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8];

/** For every value the changes that remove, and then those that point to it; null where it is out of reach. */
export function findBoth(guard, person, sequence, budget) {
  const share = guard.card.split ?? guard.card.learnt.split;
  const finite = Math.min(budget, guard.items.length);
  const wanted = Math.min(Math.floor(share * finite + 0.5), Math.floor(finite));
  const removed = extendSequence(guard, sequence, wanted).slice(0, wanted);
  const noise = findWithLead(guard, personAfter(person, removed), budget - removed.length);
  return noise.map((changes) => changes && [...removed, ...changes]);
}

/** The noise with the largest lead at which all values stay within reach, and Σ p_i·cost_i in the budget. */
function findWithLead(guard, person, budget) {
  const plain = findNoise(guard, person, 0);
  let found = plain;
  for (const lead of LEADS) {
    const noise = findNoise(guard, person, lead);
    if (plain.some((changes, i) => changes && !noise[i])) break;
    const weight = guard.target.map((p, i) => (noise[i] ? p : 0));
    const cost = weight.map((p, i) => (noise[i] ? p * noise[i].length : 0));
    if (!(sumAsNumPy(cost) / Math.max(sumAsNumPy(weight), Number.MIN_VALUE) <= budget)) break;
    found = noise;
  }
  return found;
}

/** The person's ratings after some changes; a changed item stays as it is from then on. */
function personAfter(person, changes) {
  const ratings = new Map(Array.from(person.items, (item, s) => [item, person.entries[s]]));
  for (const {item, to} of changes) {
    if (to > 0) ratings.set(item, to);
    else ratings.delete(item);
  }
  const items = Int32Array.from(ratings.keys()).sort();
  return {
    items,
    entries: Float64Array.from(items, (item) => ratings.get(item)),
    fixed: new Set([...person.fixed, ...changes.map((change) => change.item)]),
  };
}

/** NumPy's order of adding up to 128 numbers: a sum that just meets the budget must meet it here, too. */
function sumAsNumPy(numbers) {
  if (numbers.length > 128) {
    const half = Math.floor(numbers.length / 2), cut = half - (half % 8);
    return sumAsNumPy(numbers.subarray(0, cut)) + sumAsNumPy(numbers.subarray(cut));
  }
  const lanes = new Float64Array(8), whole = numbers.length - (numbers.length % 8);
  for (let k = 0; k < whole; k++) lanes[k % 8] += numbers[k];
  const [a, b, c, d, e, f, g, h] = lanes;
  let total = ((a + b) + (c + d)) + ((e + f) + (g + h));
  for (let k = whole; k < numbers.length; k++) total += numbers[k];
  return total;
}
