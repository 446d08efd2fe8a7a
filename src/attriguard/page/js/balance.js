// What would balance a rating: the few changes after which the classifier infers nearly what it inferred without it.

import {addTo, leakageOf, sumsOf} from "./guard.js";

// What is left of what the rating tells when it counts as balanced.
const LEFT = 0.1;
// The share of it that a change must take away to be worth making.
const WORTH = 0.05;
// Moves that are looked at exactly, at each step; and the step by which a slope is measured.
const MOST_LOOKED_AT = 300;
const STEP = 1e-4;

/**
 * The changes, `most` at most, each time the one after which the classifier is nearest to what it inferred without the
 * rating of `item`. `ratings` has that rating. `without`, `given` and `after` are what is inferred on the way.
 */
export function findBalance(guard, ratings, item, {locked, never}, most) {
  const model = guard.ensemble || guard.linear;
  const items = [...ratings.keys()].sort((a, b) => a - b);
  const sums = sumsOf(model, items, items.map((each) => ratings.get(each)));
  const without = inferredAfter(model, sums, item, -ratings.get(item));
  const given = model.posterior(Float64Array.from(sums));
  const told = leakageOf(given, without);
  const open = movesFor(guard, ratings, item, locked, never);
  const changes = [];
  let after = given, left = told;
  while (changes.length < most && left > LEFT * told) {
    const best = nearestMove(model, sums, open, without);
    if (!best || left - best.left < WORTH * told) break;
    open.delete(best.item);
    addTo(sums, model, best.item, best.to - best.from);
    ({left, inferred: after} = best);
    changes.push({item: best.item, from: best.from, to: best.to});
  }
  return {changes, without, given, after};
}

/** What may be removed and what may be added, by item, as the guard's policy and the person permit. */
function movesFor({policy, upper}, ratings, item, locked, never) {
  const moves = new Map();
  for (let each = 0; each < upper.length; each++) {
    const from = ratings.get(each) ?? 0;
    if (each === item || locked.has(each) || upper[each] < 0) continue;
    const add = policy.add && upper[each] > 0 && !never.has(each);
    if (from > 0 ? policy.modify : add) moves.set(each, {item: each, from, to: from > 0 ? 0 : upper[each]});
  }
  return moves;
}

function nearestMove(model, sums, moves, without) {
  let best = null;
  for (const move of promising(model, sums, [...moves.values()], without)) {
    const inferred = inferredAfter(model, sums, move.item, move.to - move.from);
    const left = leakageOf(inferred, without);
    if (!best || left < best.left) best = {...move, left, inferred};
  }
  return best;
}

/** The moves worth a look, by the slope of what is left in the model's sums. */
function promising(model, sums, moves, without) {
  if (moves.length <= MOST_LOOKED_AT) return moves;
  const leftAt = (at) => leakageOf(model.posterior(at), without);
  const here = leftAt(Float64Array.from(sums));
  const slopes = sums.map((sum, h) => {
    const beside = Float64Array.from(sums);
    beside[h] = sum + STEP;
    return (leftAt(beside) - here) / STEP;
  });
  const slope = ({item, from, to}) => {
    let along = 0;
    for (let h = 0; h < model.width; h++) along += slopes[h] * model.weights[item * model.width + h];
    return (to - from) * along;
  };
  const helpful = moves.map((move) => [slope(move), move]).filter(([along]) => along < 0).sort((a, b) => a[0] - b[0]);
  // The steepest may go too far: half are the steepest, and half are spread over the gentler ones.
  const half = MOST_LOOKED_AT / 2, every = Math.max(1, Math.floor((helpful.length - half) / half));
  return helpful.filter((_, k) => k < half || (k - half) % every === 0).map(([, move]) => move);
}

function inferredAfter(model, sums, item, change) {
  const changed = Float64Array.from(sums);
  addTo(changed, model, item, change);
  return model.posterior(changed);
}
