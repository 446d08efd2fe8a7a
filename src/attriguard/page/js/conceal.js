// The goal "conceal": one change after another, always the one after which the ensemble can tell least.
//
// As long as no hidden unit goes on or off, the members' scores are linear in an entry: its `pull`, the product of its
// weights in both layers over the units that are on, is computed once. A change puts few units on or off, and
// only these are looked at again. So a candidate costs about as much as its row of weights, and stays exact. Of the
// removals, only the few that promise most by the slope of the leakage are tried out, as the package does.

import {addScaled, addTo, meanPosterior, memberScores, sumsOf} from "./guard.js";

const OTHER = 0, OWN_RATING = 1, SETTLED = 2;

/** A search that has found nothing yet; `extendSequence` goes on with it, so that no budget is searched twice. */
export function startSequence(guard, person) {
  const {items, entries} = person, {modify} = guard.policy, model = guard.ensemble;
  const state = new Uint8Array(guard.items.length);
  for (const item of items) state[item] = modify && guard.upper[item] >= 0 ? OWN_RATING : SETTLED;
  for (const item of person.fixed) state[item] = SETTLED;
  // A policy that lets existing ratings change removes; one that does not adds, from a pool that the card names.
  const candidates = modify ? items : Int32Array.from(guard.card.pool || []);
  const sums = sumsOf(model, items, entries);
  const search = {
    candidates,
    moves: modify ? entries.map((entry) => -entry) : Float64Array.from(candidates, (item) => guard.upper[item]),
    wanted: modify ? OWN_RATING : OTHER,
    state,
    sums,
    belief: model.posterior(sums), // how likely each value is, by all that the person has rated
    target: model.prior.map((share) => guard.card.guessed * share),
    on: new Uint8Array(model.width),
    pulls: new Float64Array(candidates.length * model.outputBias.length),
    tried: modify ? guard.card.tried : Infinity,
    changes: [],
    ended: false,
  };
  switchUnits(model, search);
  return search;
}

/** Go on until there are `most` changes, or nothing is left. Of equally good ones, the more promising is taken. */
export function extendSequence(guard, search, most) {
  const model = guard.ensemble, {candidates, moves, state, sums, changes, belief, target} = search;
  while (changes.length < most && !search.ended) {
    const scores = memberScores(model, sums);
    let best = Infinity, at = -1;
    for (const c of steepest(model, search, scores)) {
      const after = toldBy(meanPosterior(scoresAfter(model, search, scores, c), model.shares, model.m), target, belief);
      if (after < best) [best, at] = [after, c];
    }
    search.ended = at < 0;
    if (search.ended) break;
    const item = candidates[at], move = moves[at];
    state[item] = SETTLED;
    addTo(sums, model, item, move);
    switchUnits(model, search);
    changes.push({item, from: Math.max(-move, 0), to: Math.max(move, 0)});
  }
  return changes;
}

/** The candidates that may come next, those first in whose direction the leakage falls fastest; at most `tried`. */
function steepest(model, {candidates, moves, state, wanted, pulls, tried, belief, target}, scores) {
  const open = Array.from(candidates.keys()).filter((c) => state[candidates[c]] === wanted);
  if (open.length <= 1) return open;
  const slopes = slopesOf(model, scores, belief, target), size = slopes.length, rises = new Map();
  for (const c of open) {
    let rise = 0;
    for (let k = 0; k < size; k++) rise += slopes[k] * pulls[c * size + k];
    rises.set(c, moves[c] * rise);
  }
  return open.sort((a, b) => rises.get(a) - rises.get(b)).slice(0, tried);
}

/** The leakage: what a posterior says of the person's own value, each value being as likely as the belief has it. */
function toldBy(posterior, target, belief) {
  let told = 0;
  for (let v = 0; v < posterior.length; v++) {
    if (posterior[v] > target[v]) told += belief[v] * Math.log(posterior[v] / target[v]);
  }
  return told;
}

/** How fast the leakage rises with each member's score of each value. */
function slopesOf({shares: counts, m}, scores, belief, target) {
  const shares = Float64Array.from(scores), mean = meanPosterior(shares, counts, m);
  const told = mean.map((share, v) => (share > target[v] ? belief[v] / share : 0));
  for (let first = 0; first < shares.length; first += m) {
    let total = 0, middle = 0;
    for (let v = 0; v < m; v++) total += shares[first + v];
    for (let v = 0; v < m; v++) middle += (shares[first + v] /= total) * told[v];
    for (let v = 0; v < m; v++) shares[first + v] *= counts[first / m] * (told[v] - middle);
  }
  return shares;
}

/** The members' scores after candidate c: linear, and put right for every unit that the candidate puts on or off. */
function scoresAfter({weights, width, ends, outputs, m}, {candidates, moves, sums, on, pulls}, scores, c) {
  const trial = Float64Array.from(scores), size = scores.length, move = moves[c], row = candidates[c] * width;
  addScaled(trial, 0, pulls, c * size, size, move);
  for (let k = 0; k + 1 < ends.length; k++) {
    for (let h = ends[k]; h < ends[k + 1]; h++) {
      const sum = sums[h] + move * weights[row + h];
      if ((sum > 0 ? 1 : 0) !== on[h]) addScaled(trial, k * m, outputs, h * m, m, Math.abs(sum));
    }
  }
  return trial;
}

/** Units that have gone on join every candidate's pull, those that have gone off leave it. */
function switchUnits({weights, width, ends, outputs, m}, {candidates, sums, on, pulls}) {
  const size = (ends.length - 1) * m;
  for (let k = 0; k + 1 < ends.length; k++) {
    for (let h = ends[k]; h < ends[k + 1]; h++) {
      const now = sums[h] > 0 ? 1 : 0, sign = now - on[h];
      on[h] = now;
      if (!sign) continue;
      for (let c = 0; c < candidates.length; c++) {
        addScaled(pulls, c * size + k * m, outputs, h * m, m, sign * weights[candidates[c] * width + h]);
      }
    }
  }
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
