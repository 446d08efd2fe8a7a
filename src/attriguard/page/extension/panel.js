// The side panel: the person's page, and before it what a rating would tell that has not been given yet.

import {findBalance} from "../js/balance.js";
import {matchRows} from "../js/matching.js";
import {ratingChoice, titleChooser} from "../js/ui_choose.js";
import {button, byId, make, show} from "../js/ui_dom.js";
import {openPage} from "../js/ui_page.js";
import {TELLS_NOTHING, changeWords, hasRatings, largest, named, percent, tellingWords} from "../js/ui_words.js";
import {putWaiting, readGuardFiles, takeWaiting} from "./files.js";

const MOST_TO_BALANCE = 3;

const list = make("ol", {class: "rows", "aria-labelledby": "before-title"});
const section = make("section", {"aria-labelledby": "before-title"},
  make("h2", {id: "before-title", tabindex: "-1"}, "Before you rate"),
  make("p", {class: "soft"}, "Select a title on any site, and choose “Add … to my ratings” from its menu."), list);

/** Show every title that waits: what it would tell, what would balance it, and what became of it. */
async function showWaiting(page) {
  const waiting = await takeWaiting();
  const places = new Map(page.guard.items.map(({id}, item) => [id, item]));
  const settle = (k, changed) => putWaiting(waiting.flatMap((each, j) => (j === k ? changed : [each])));
  const rows = waiting.map(({text, id}, k) => {
    const item = places.get(id);
    const off = button("Take it off", () => settle(k, []), `off ${text}`, {"aria-label": `Take it off: ${text}`});
    if (item !== undefined) return waitingRow(page, item, () => settle(k, []), off);
    return unknownRow(page, text, (chosen) => settle(k, [{text, id: page.guard.items[chosen].id}]), off);
  });
  show(list, rows, byId("before-title"));
}

/** A selection that is no title here: the nearest ones to choose from. */
function unknownRow(page, text, choose, off) {
  const {unmatched} = matchRows(page.index, [{id: null, title: text, year: null, rating: null}]);
  const what = make("small", {}, "Not known here: choose its title, or take it off.");
  const words = make("span", {class: "words"}, text, what);
  return make("li", {}, words, off, titleChooser(page, unmatched[0]?.near ?? [], choose));
}

/** A title that waits: choose the rating that you mean to give, and read what it would tell. */
function waitingRow(page, item, done, off) {
  const title = named(page.guard.items[item]);
  const told = make("div", {class: "chooser", role: "status"});
  let entry = page.ratings.get(item) ?? 1;
  const tell = () => show(told, foretold(page, item, entry));
  const give = button(hasRatings(page.guard) ? "I rated it so" : "I added it", async () => {
    await done();
    page.ticked.set(item, entry);
    page.changed();
  }, `give ${item}`);
  const choice = !hasRatings(page.guard) ? null : ratingChoice(page.guard, entry, (chosen) => {
    entry = chosen;
    give.disabled = entry === 0;
    tell();
  }, {"data-key": `rate ${item}`, "aria-label": `Your rating of ${title}`});
  tell();
  return make("li", {}, make("span", {class: "words"}, make("b", {}, title)), choice, give, off, told);
}

/** What a rating would tell, and the few changes that would balance it. */
function foretold(page, item, entry) {
  if (entry === 0) return [make("p", {}, "Not rated, it tells nothing.")];
  const {guard} = page;
  const {changes, without, given, after} =
    findBalance(guard, new Map(page.ratings).set(item, entry), item, page, MOST_TO_BALANCE);
  const said = tellingWords(guard, given, without);
  const words = make("p", {}, said);
  if (said === TELLS_NOTHING) return [words];
  if (!changes.length) return [words, make("p", {}, "No change that you permit would balance it.")];
  const value = largest(given.map((probability, k) => probability - without[k]));
  const head = `To balance it, which puts ${guard.values[value]} at ${percent(after[value])}:`;
  const steps = changes.map((change) => make("li", {}, changeWords(guard, change)));
  return [words, make("p", {}, head), make("ul", {}, ...steps)];
}

async function openPanel() {
  byId("verdict").after(section);
  const page = await openPage(...(await readGuardFiles()), showWaiting);
  chrome.storage.onChanged.addListener(() => showWaiting(page));
  byId("forget").addEventListener("click", () => putWaiting([]));
  byId("kept").textContent = "This browser keeps your ratings, your secret, your clicks and your ticks for this " +
    "extension, and nothing else.";
  byId("source").textContent = "Look at its files: manifest.json asks for no site's data, and its content policy " +
    "permits connections to the extension's own files only. The browser enforces it. The scripts are plain.";
  document.documentElement.dataset.ready = "yes";
}

openPanel();
