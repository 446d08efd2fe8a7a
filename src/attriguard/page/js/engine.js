// What the page asks the guard: what ratings tell, which of them tell it, and what to change. Nothing here touches the
// document, the network or the clock: the same questions have the same answers.

import {GuardError, addTo, leakageOf, levelsOf, roundHalfEven, sumsOf, unpackGuard} from "./guard.js";
import {countProbabilities, extendSequence, startSequence} from "./conceal.js";
import {findNoise} from "./mislead.js";
import {findBoth} from "./both.js";
import {solveMechanism} from "./mechanism.js";
import {drawCandidate, isGuessable, keyedNumbers} from "./draw.js";

// As many changes are looked for at first, so that moving a slider up to here finds them there.
const CHANGES_AHEAD = 20;

/** The guard of a page: `card` is its JSON block, `bytes` its packed weights (an ArrayBuffer). */
export function openGuard(card, bytes) {
  return unpackGuard(card, bytes);
}

/** A rating on the guard's scale as an entry in (0, 1]; the top where there is no rating, as for a like. */
export function toEntry(guard, rating) {
  if (rating === null || rating === undefined) return 1;
  if (!guard.scale) return Math.fround(Math.min(Math.max(rating, 0), 1));
  const {floor, levels} = levelsOf(guard.scale);
  const level = roundHalfEven((rating - floor) / guard.scale.step);
  return Math.fround(Math.min(Math.max(level, 1), levels) / levels);
}

/** An entry as a rating on the guard's scale; null for an entry of 0, which is not rated. */
export function toRating(guard, entry) {
  if (!entry) return null;
  if (!guard.scale) return entry;
  const {floor, levels} = levelsOf(guard.scale);
  return floor + roundHalfEven(entry * levels) * guard.scale.step;
}

/** What the classifier infers: the ensemble where the guard has one. `ratings` maps items to entries. */
export function infer(guard, ratings) {
  const model = guard.ensemble || guard.linear, {items, entries} = sortedRatings(guard, ratings);
  return {probabilities: model.posterior(sumsOf(model, items, entries)), prior: guard.prior};
}

/** How much less the classifier would be told (in nats, it may be negative) without each rating; most telling first. */
export function telling(guard, ratings) {
  const model = guard.ensemble || guard.linear, {items, entries} = sortedRatings(guard, ratings);
  const sums = sumsOf(model, items, entries);
  const all = leakageOf(model.posterior(sums), guard.prior);
  const found = Array.from(items, (item, s) => {
    const without = Float64Array.from(sums);
    addTo(without, model, item, -entries[s]);
    return {item, told: all - leakageOf(model.posterior(without), guard.prior)};
  });
  return found.sort((a, b) => b.told - a.told || a.item - b.item);
}

/**
 * What to change, in the order in which it is done. `wishes`: goal, budget, locked (items never to touch), never (items
 * never to add), secret (bytes) and person (text), which fix the draw. There are never more changes than the budget;
 * with `most: Infinity` it is an average over the draws, as it is where a whole table is protected.
 */
export function plan(guard, ratings, wishes) {
  if (!guard.goals.includes(wishes.goal)) {
    throw new GuardError(`this guard does not serve the goal ${wishes.goal}; it serves ${guard.goals.join(", ")}`);
  }
  const memory = remembered(guard, ratings, wishes);
  const most = wishes.most ?? Math.max(1, Math.floor(wishes.budget)), budget = Math.min(wishes.budget, most);
  const {changes, pointsTo} = wishes.goal === "conceal"
    ? planRemovals(guard, memory, budget, wishes)
    : planNoise(guard, memory, candidatesFor(guard, memory, wishes.goal, budget), {...wishes, most});
  return {...withEffects(guard, memory.person, changes), pointsTo};
}

/** The search for what tells most, begun where it has not. */
function sequenceOf(guard, memory) {
  if (!memory.search) {
    memory.search = startSequence(guard, memory.person);
    extendSequence(guard, memory.search, CHANGES_AHEAD);
  }
  return memory.search;
}

function planRemovals(guard, memory, budget, wishes) {
  const found = extendSequence(guard, sequenceOf(guard, memory), Math.ceil(budget));
  const M = countProbabilities(Math.min(found.length, Math.ceil(budget)), budget);
  const count = M.some((p) => p === 1) ? M.indexOf(1) : drawFor(guard, memory, M, wishes);
  return {changes: found.slice(0, count), pointsTo: null};
}

function planNoise(guard, memory, candidates, wishes) {
  const costs = candidates.map((changes) => (changes && changes.length <= wishes.most ? changes.length : Infinity));
  const drawn = drawFor(guard, memory, solveMechanism(guard.target, costs, wishes.budget), wishes);
  return {changes: candidates[drawn], pointsTo: drawn};
}

/** For every value the changes that point to it; found once for each budget that needs candidates of its own. */
function candidatesFor(guard, memory, goal, budget) {
  const key = goal === "both" ? budget : goal;
  if (!memory.candidates.has(key)) {
    memory.candidates.set(key, goal === "both"
      ? findBoth(guard, memory.person, sequenceOf(guard, memory), budget)
      : findNoise(guard, memory.person, 0));
  }
  return memory.candidates.get(key);
}

function drawFor(guard, memory, M, {secret, person}) {
  if (isGuessable(secret)) {
    throw new GuardError("this secret can be guessed: use at least 16 characters, 6 of them distinct, no repetition");
  }
  const key = `${secret.join()} ${person}`;
  if (memory.drawn?.key !== key || memory.drawn.numbers.length < M.length) {
    memory.drawn = {key, numbers: keyedNumbers(secret, guard.card.context, person, M.length)};
  }
  return drawCandidate(M, memory.drawn.numbers);
}

/** What was found for these ratings and locks before, whatever the budget: moving a slider does not search again. */
function remembered(guard, ratings, {locked = new Set(), never = new Set()}) {
  const rated = sortedRatings(guard, ratings);
  const fixed = new Set([...locked, ...[...never].filter((item) => !ratings.has(item))]);
  const key = [rated.items.join(), rated.entries.join(), [...fixed].sort((a, b) => a - b).join()].join(" ");
  if (guard.memory?.key !== key) {
    const person = {...rated, fixed};
    guard.memory = {key, person, candidates: new Map(), search: null};
  }
  return guard.memory;
}

/** Items in ascending order, and their entries as float32 holds them. */
function sortedRatings(guard, ratings) {
  const items = Int32Array.from(ratings.keys()).sort().filter((item) => ratings.get(item) > 0);
  return {items, entries: Float64Array.from(items, (item) => Math.fround(ratings.get(item)))};
}

/** Each change with its effect on the value that was inferred first, and the value that falls most by it. */
function withEffects(guard, person, changes) {
  const model = guard.ensemble || guard.linear, sums = sumsOf(model, person.items, person.entries);
  const before = model.posterior(sums), inferred = before.indexOf(Math.max(...before));
  let after = before;
  const effects = changes.map(({item, from, to}) => {
    addTo(sums, model, item, to - from);
    const moved = model.posterior(sums).map((probability, v) => probability - after[v]);
    after = after.map((probability, v) => probability + moved[v]);
    const value = moved.indexOf(Math.min(...moved));
    return {item, from, to, effect: moved[inferred], falls: {value, by: -moved[value]}};
  });
  return {changes: effects, before, after};
}
