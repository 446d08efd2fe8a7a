// Scales of ratings: half stars, points from 1 to 10, likes; and how a rating on one becomes one on another.
// The same as exports/scales.py.

// A rating may miss its grid by this share of a step, and a half is rounded up in spite of it.
const GRID_SLACK = 1e-6;

const isLikes = ({low, high, step}) => low === 0 && high === 1 && step === 1;
const ratingsOn = (scale) => (isLikes(scale) ? 1 : Math.round((scale.high - scale.low) / scale.step) + 1);

/** A scale in words. */
export function scaleWords(scale) {
  return isLikes(scale) ? "likes" : `${scale.low} to ${scale.high} in steps of ${scale.step}`;
}

/** Whether a rating is one of the scale's. */
export function holdsRating({low, high, step}, rating) {
  const level = (rating - low) / step;
  return rating >= low && rating <= high && Math.abs(level - Math.round(level)) < GRID_SLACK;
}

/** A rating as a share of the highest one, in (0, 1]; 0 is left for "not rated". */
function shareOf(scale, rating) {
  return isLikes(scale) ? 1 : (Math.round((rating - scale.low) / scale.step) + 1) / ratingsOn(scale);
}

/** Which of the scale's ratings, from 1, is nearest to a share; of two the higher. */
function nearestLevel(scale, share) {
  return Math.max(1, Math.floor(share * ratingsOn(scale) + 0.5 + GRID_SLACK));
}

/**
 * A rating on the scale of an export (`given`) as an entry in (0, 1] of a guard; null where it says nothing to the
 * guard: a title without a rating in an export with ratings. In an export without ratings every title is a like, and on
 * a guard of likes every title of any export is one. Either scale may be null.
 */
export function entryFrom(rating, given, guardScale) {
  if ((guardScale && isLikes(guardScale)) || !given) return 1;
  if (rating === null) return null;
  const share = shareOf(given, rating);
  return guardScale ? nearestLevel(guardScale, share) / ratingsOn(guardScale) : share;
}

/** An entry in (0, 1] as the nearest rating on the scale of an export; null where the export has no ratings. */
export function ratingFrom(entry, given) {
  if (!given) return null;
  return isLikes(given) ? 1 : given.low + (nearestLevel(given, entry) - 1) * given.step;
}

/** What happens to the ratings of an export on the way to a guard, in a line; "" where they stay what they are. */
export function scaleLine(given, guardScale) {
  if (guardScale && isLikes(guardScale)) {
    return given ? "the guard knows likes only: every title counts as one, whatever its rating" : "";
  }
  if (!given) return "this file has no ratings: every title counts as one that you rated as high as can be";
  if (!guardScale || scaleWords(given) === scaleWords(guardScale)) return "";
  const words = `${scaleWords(given)}, become the nearest of ${scaleWords(guardScale)}`;
  return `your ratings, ${words}: 4 of 5 and 8 of 10 are the same`;
}
