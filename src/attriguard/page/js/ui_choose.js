// How a person chooses one title, or one rating.

import {toEntry} from "./engine.js";
import {searchTitles} from "./matching.js";
import {button, make, show} from "./ui_dom.js";
import {named, ratingText} from "./ui_words.js";

/** Titles that a search shows, at most. */
export const MOST_HITS = 12;

/** The titles that are near, and a search for others; `choose` gets the item. */
export function titleChooser({guard, index}, near, choose) {
  const list = make("p", {class: "buttons"});
  const offer = (items) => show(list, items.map((item) => button(named(guard.items[item]), () => choose(item))));
  const input = make("input", {
    type: "search", "aria-label": "Search for its title", placeholder: "Search for its title", autocomplete: "off",
    oninput: () => offer(input.value.trim() ? searchTitles(index, input.value, MOST_HITS) : near),
  });
  offer(near);
  return make("div", {class: "chooser"}, input, list);
}

/** The ratings of the guard's scale to choose from, and "not rated"; `choose` gets the entry. */
export function ratingChoice(guard, now, choose, attributes) {
  const {low, high, step} = guard.scale;
  const ratings = Array.from({length: Math.round((high - low) / step) + 1}, (_, k) => low + k * step);
  const entries = [0, ...ratings.map((rating) => toEntry(guard, rating))];
  const nearest = entries.reduce((best, entry) => (Math.abs(entry - now) < Math.abs(best - now) ? entry : best), 0);
  const select = make("select", {...attributes, onchange: () => choose(Number(select.value))},
    ...entries.map((entry) => make("option", {value: entry, selected: entry === nearest},
      entry ? ratingText(guard, entry) : "not rated")));
  return select;
}
