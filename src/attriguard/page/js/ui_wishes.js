// "Never touch this", "never suggest that": what the person said about single titles.

import {button, byId, make, show} from "./ui_dom.js";
import {named} from "./ui_words.js";

const WISHES = {
  locked: {text: "Never touch this", told: "never touched"},
  never: {text: "Never suggest this", told: "never suggested"},
};

/** A button that says the wish, or takes it back. */
export function wishButton(page, item, wish) {
  const said = page[wish].has(item);
  const toggle = () => {
    said ? page[wish].delete(item) : page[wish].add(item);
    page.changed();
  };
  const label = `${WISHES[wish].text}: ${named(page.guard.items[item])}`;
  return button(WISHES[wish].text, toggle, `${wish} ${item}`, {"aria-pressed": String(said), "aria-label": label});
}

/** Everything that was said, and buttons to take it back. */
export function showWishes(page) {
  const rows = Object.keys(WISHES).flatMap((wish) => [...page[wish]].map((item) => wishRow(page, item, wish)));
  byId("wishes").hidden = rows.length === 0;
  show(byId("wished"), rows, byId("changes-title"));
}

function wishRow(page, item, wish) {
  const title = named(page.guard.items[item]);
  const back = () => {
    page[wish].delete(item);
    page.changed();
  };
  return make("li", {}, make("span", {class: "words"}, title, make("small", {}, WISHES[wish].told)),
    button("Take it back", back, `back ${wish} ${item}`, {"aria-label": `Take it back: ${title}`}));
}
