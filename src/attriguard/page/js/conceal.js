// The goal "conceal": one change after another, always the one after which the ensemble can tell least.

import {addTo, leakageOf, meanPosterior, sumsOf} from "./guard.js";

const OTHER = 0, OWN_RATING = 1, SETTLED = 2;

/** A search that has found nothing yet; `extendSequence` goes on with it, so that no budget is searched twice. */
export function startSequence(guard, person) {
  const {items, entries} = person;
  const {modify} = guard.policy;
  const state = new Uint8Array(guard.items.length);
  items.forEach((item) => {
    state[item] = modify && guard.upper[item] >= 0 ? OWN_RATING : SETTLED;
  });
  for (const item of person.fixed) state[item] = SETTLED;
  return {
    // A policy that lets existing ratings change removes; one that does not adds, from a pool that the card names.
    candidates: modify ? items : Int32Array.from(guard.card.pool || []),
    moves: modify ? entries.map((entry) => -entry) : Float64Array.from(guard.card.pool || [], (j) => guard.upper[j]),
    wanted: modify ? OWN_RATING : OTHER,
    state,
    sums: sumsOf(guard.ensemble, items, entries),
    changes: [],
    ended: false,
  };
}

/** Go on until there are `most` changes, or nothing is left to change. Of equally good changes the first is taken. */
export function extendSequence(guard, search, most) {
  const model = guard.ensemble, {candidates, moves, state, sums, changes} = search;
  while (changes.length < most && !search.ended) {
    let best = Infinity, at = -1;
    for (let c = 0; c < candidates.length; c++) {
      if (state[candidates[c]] !== search.wanted) continue;
      const after = leakageOf(meanPosterior(model, sums, candidates[c] * model.width, moves[c]), model.prior);
      if (after < best) [best, at] = [after, c];
    }
    if (at < 0) {
      search.ended = true;
      break;
    }
    const item = candidates[at], move = moves[at];
    state[item] = SETTLED;
    addTo(sums, model, item, move);
    changes.push({item, from: Math.max(-move, 0), to: Math.max(move, 0)});
  }
  return changes;
}

/** How likely each number of changes is: a budget between two of them is met by drawing. */
export function countProbabilities(found, budget) {
  const low = Math.min(Math.floor(budget), found);
  const high = Math.min(low + 1, found);
  const share = high > low ? Math.max(Math.min(budget, high) - low, 0) : 0;
  const M = new Float64Array(high + 1);
  M[low] = 1 - share;
  M[high] += share;
  return M;
}
