// The person's page: it wires what comes in to what is shown. The extension's side panel is this page, too.

import {openGuard} from "./engine.js";
import {makeIndex} from "./matching.js";
import {byId, make, show} from "./ui_dom.js";
import {openDrawer, newSecret} from "./ui_keep.js";
import {ratingsOf, ratingsRead, showData, takeData} from "./ui_data.js";
import {showSays} from "./ui_says.js";
import {showChanges, takeWishes} from "./ui_change.js";
import {showChecklist, takeDownloads} from "./ui_do.js";

const GOAL_AT_FIRST = ["conceal", "both", "mislead"];
const BUDGET_AT_FIRST = 4;

/** What the page knows, and what it does when something changes: one direction, from data to what is shown. */
function makePage(card, guard, shown) {
  const drawer = openDrawer(card.about?.sha256 ?? card.attribute);
  const places = new Map(guard.items.map(({id}, item) => [id, item]));
  const itemsFrom = (ids) => ids.map((id) => places.get(id)).filter((item) => item !== undefined);
  const entriesFrom = (pairs) =>
    new Map(pairs.filter(([id]) => places.has(id)).map(([id, entry]) => [places.get(id), entry]));
  const idOf = (item) => guard.items[item].id;
  const pairsOf = (entries) => [...entries].map(([item, entry]) => [idOf(item), entry]);
  const page = {
    card, guard, drawer,
    attribute: card.attribute || "private attribute",
    index: makeIndex(guard.items),
    loaded: null,
    read: entriesFrom(drawer.take("read", [])),
    ticked: entriesFrom(drawer.take("ticked", [])),
    ratings: new Map(),
    goal: [drawer.take("goal", ""), ...GOAL_AT_FIRST].find((goal) => guard.goals.includes(goal)),
    budget: drawer.take("budget", BUDGET_AT_FIRST),
    locked: new Set(itemsFrom(drawer.take("locked", []))),
    never: new Set(itemsFrom(drawer.take("never", []))),
    ticks: new Set(drawer.take("ticks", [])),
    secret: drawer.take("secret", null) ?? newSecret(),
    plan: null,
    /** Ratings or wishes changed: everything is shown anew. */
    changed() {
      if (page.loaded) page.read = ratingsRead(page);
      page.ratings = ratingsOf(page);
      showData(page);
      byId("answers").hidden = page.ratings.size === 0;
      if (page.ratings.size) showSays(page);
      else byId("verdict").textContent = firstWords(page);
      page.replanned();
      shown(page);
    },
    /** The goal, the number of changes or the secret changed: only the plan is made anew. */
    replanned() {
      if (page.ratings.size) {
        showChanges(page);
        showChecklist(page);
      }
      page.keep();
    },
    /** Remember in this browser what is the person's own. */
    keep() {
      drawer.put("read", pairsOf(page.read));
      drawer.put("ticked", pairsOf(page.ticked));
      drawer.put("goal", page.goal);
      drawer.put("budget", page.budget);
      drawer.put("locked", [...page.locked].map(idOf));
      drawer.put("never", [...page.never].map(idOf));
      drawer.put("ticks", [...page.ticks]);
      drawer.put("secret", page.secret);
    },
  };
  return page;
}

function firstWords({attribute, guard}) {
  return `Load your ratings, and see what they say about your ${attribute}, and which few to change. ` +
    `This page knows ${guard.items.length.toLocaleString("en")} titles, and sends nothing anywhere.`;
}

/** The guard's card, as names and texts. */
function factsOf({card, guard, attribute}) {
  const known = [["attribute", attribute], ["values", guard.values.join(", ")], ["titles", guard.items.length]];
  return [...known, ...Object.entries(card.about ?? {}).filter(([, fact]) => fact !== null)]
    .map(([name, fact]) => [name, fact.toLocaleString("en")]);
}

/** What the page says about itself. */
function introduce(page) {
  const title = `What your ratings say about your ${page.attribute}`;
  document.title = title;
  byId("title").textContent = title;
  document.querySelectorAll(".attribute").forEach((element) => (element.textContent = `your ${page.attribute}`));
  byId("kept").textContent = page.drawer.lasts
    ? "This browser keeps your ratings, your secret, your clicks and your ticks for this page, and nothing else. " +
      "Other pages that you open from this device's disk may be able to read them."
    : "This browser gives this page nothing to keep things in: note your secret, and load your export again next time.";
  show(byId("about"), factsOf(page).flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, fact)]));
  byId("forget").addEventListener("click", () => {
    page.drawer.empty();
    Object.assign(page, {loaded: null, read: new Map(), secret: newSecret()});
    for (const each of [page.ticked, page.locked, page.never, page.ticks]) each.clear();
    byId("file").value = "";
    byId("secret").value = page.secret;
    page.changed();
    page.drawer.empty();
    byId("forgotten").textContent = "Forgotten.";
  });
}

/** Open the guard, and start; whatever goes wrong is told in a line. `shown` is told when everything is shown anew. */
export async function openPage(card, bytes, shown = () => {}) {
  try {
    const page = makePage(card, await openGuard(card, bytes), shown);
    introduce(page);
    takeData(page);
    takeWishes(page);
    takeDownloads(page);
    page.changed();
    return page;
  } catch (error) {
    byId("verdict").textContent = `This page cannot open its guard: ${error.message}. Download the page again.`;
    throw error;
  }
}
