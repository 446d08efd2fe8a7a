// What it says about you: one sentence, one chart, and the ratings that say it, most telling first.

import {infer, telling} from "./engine.js";
import {drawBars} from "./ui_chart.js";
import {byId, make, show} from "./ui_dom.js";
import {wishButton} from "./ui_wishes.js";
import {hasRatings, named, ratingText, tellingWords, verdictWords} from "./ui_words.js";

const MOST_TELLING = 10;

/** Show what a classifier infers from the ratings. */
export function showSays(page) {
  const {guard, ratings} = page;
  const inference = infer(guard, ratings);
  byId("verdict").textContent = verdictWords(guard, page.attribute, ratings.size, inference);
  byId("says").textContent = "Sure or not, it may be wrong: it knows your ratings only, and goes by what others rated.";
  const caption = `What is inferred about your ${page.attribute}, and what anyone would guess`;
  drawBars(byId("inferred"), guard.values, caption, [
    {head: "your ratings", kind: "", numbers: inference.probabilities},
    {head: "anyone's guess", kind: "guess", numbers: inference.prior},
  ]);
  const most = telling(guard, ratings).slice(0, MOST_TELLING);
  show(byId("telling"), most.map(({item}) => tellingRow(page, item, inference.probabilities)));
}

function tellingRow(page, item, all) {
  const {guard, ratings} = page;
  const others = new Map(ratings);
  others.delete(item);
  const without = infer(guard, others).probabilities;
  const rated = hasRatings(guard) ? `, rated ${ratingText(guard, ratings.get(item))}` : "";
  const words = make("span", {class: "words"}, `${named(guard.items[item])}${rated}`,
    make("small", {}, tellingWords(guard, all, without)));
  return make("li", {}, words, wishButton(page, item, "locked"));
}
