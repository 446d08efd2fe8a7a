// What the page says, in plain words. Nothing here touches the page.

import {toRating} from "./engine.js";

/** What is said of a rating that tells nothing. */
export const TELLS_NOTHING = "Tells hardly anything.";
// Odds that grow by less than this are not worth a word.
const LEAST_TIMES = 1.05;

/** A probability as people read it; the blanks in it do not break a line. */
export function percent(probability) {
  if (probability > 0 && probability < 0.005) return "under\u00a01\u00a0%";
  if (probability < 1 && probability > 0.995) return "over\u00a099\u00a0%";
  return `${Math.round(100 * probability)}\u00a0%`;
}

/** A number and what it counts. */
export function countOf(n, thing) {
  return `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
}

/** A title and its year, as the guard or an export has it. */
export function named({title, year}) {
  return year === null || year === undefined ? title : `${title} (${year})`;
}

/** The place of the largest number. */
export function largest(numbers) {
  return numbers.reduce((best, number, k) => (number > numbers[best] ? k : best), 0);
}

/** What the ratings say, in one or two sentences. */
export function verdictWords(guard, attribute, n, {probabilities, prior}) {
  const [top, usual] = [largest(probabilities), largest(prior)];
  const sure = `${percent(probabilities[top])} sure that your ${attribute} is ${guard.values[top]}`;
  const guess = top === usual
    ? `Anyone would guess the same without them, and be right for ${percent(prior[usual])} of people.`
    : `Without them anyone would guess ${guard.values[usual]}, and be right for ${percent(prior[usual])} of people.`;
  return `From ${countOf(n, hasRatings(guard) ? "rating" : "title")} of yours, a classifier is ${sure}. ${guess}`;
}

/** What one rating tells: the value that it speaks for, and how likely that would be without it. */
export function tellingWords(guard, all, without) {
  const value = largest(all.map((probability, k) => probability - without[k]));
  const [now, then] = [percent(all[value]), percent(without[value])];
  if (now !== then) return `Speaks for ${guard.values[value]}: without it ${then}, with it ${now}.`;
  // Where it is sure already, one rating more hardly changes how sure it is; the odds still tell.
  const times = oddsOf(all, value) / oddsOf(without, value);
  return times < LEAST_TIMES ? TELLS_NOTHING
    : `Speaks for ${guard.values[value]}: with it the odds are ${times.toFixed(1)} times as high.`;
}

/** How much likelier a value is than all others together. */
function oddsOf(probabilities, value) {
  const others = probabilities.reduce((sum, probability, k) => (k === value ? sum : sum + probability), 0);
  return probabilities[value] / others;
}

/** Whether the guard knows ratings; one of likes knows only that a title is on the list. */
export function hasRatings({scale}) {
  return scale !== null && !(scale.low === 0 && scale.high === 1 && scale.step === 1);
}

/** A rating as the site shows it. */
export function ratingText(guard, entry) {
  return String(Number(toRating(guard, entry).toFixed(2)));
}

/** One change as something to do on the site. */
export function changeWords(guard, {item, from, to}) {
  const title = named(guard.items[item]);
  if (to === 0) return `Remove ${title}`;
  if (from === 0) return hasRatings(guard) ? `Add ${title} and rate it ${ratingText(guard, to)}` : `Add ${title}`;
  return `Change ${title} from ${ratingText(guard, from)} to ${ratingText(guard, to)}`;
}

/** What a change does to how sure the classifier is: of what it inferred first, or of what the change takes away. */
export function effectWords(guard, value, effect, falls = {by: 0}) {
  const points = Math.round(100 * Math.abs(effect)), fallen = Math.round(100 * falls.by);
  if (effect >= 0 && fallen > 0) return `${countOf(fallen, "point")} less sure of ${guard.values[falls.value]}.`;
  if (points === 0) return `Less than one point for ${guard.values[value]} by itself.`;
  return `${countOf(points, "point")} ${effect < 0 ? "less" : "more"} sure of ${guard.values[value]}.`;
}

/** What all the changes do together. */
export function planWords(guard, plan, budget) {
  const top = largest(plan.before);
  const value = guard.values[top];
  if (budget === 0) return `Without changes, it is ${percent(plan.before[top])} sure of ${value}.`;
  if (plan.changes.length === 0) {
    return "Nothing to change for this. To change nothing is one of the possible draws, and none gives away which.";
  }
  const changes = countOf(plan.changes.length, "change");
  const now = largest(plan.after);
  const fall = `${changes}: ${value} goes from ${percent(plan.before[top])} to ${percent(plan.after[top])}`;
  return now === top ? `${fall}.` : `${fall}. It now infers ${guard.values[now]}, ${percent(plan.after[now])} sure.`;
}
