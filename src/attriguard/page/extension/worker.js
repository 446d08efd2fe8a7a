// The extension's worker: a title that is selected on a site is matched, and waits in this browser for a rating.

import {openGuard} from "../js/engine.js";
import {makeIndex, matchRows} from "../js/matching.js";
import {putWaiting, readGuardFiles, takeWaiting} from "./files.js";

const MENU = "add";
const LONGEST_TITLE = 300;
const MOST_WAITING = 100;

/** Match a selected text, and put it before the titles that wait already. */
async function addSelection(selected) {
  const text = selected.replace(/\s+/g, " ").trim().slice(0, LONGEST_TITLE);
  if (!text) return;
  const {items} = await openGuard(...(await readGuardFiles()));
  const {matched} = matchRows(makeIndex(items), [{id: null, title: text, year: null, rating: null}]);
  const id = matched.length ? items[matched[0].item].id : null;
  const others = (await takeWaiting()).filter((each) => (id === null ? each.text !== text : each.id !== id));
  await putWaiting([{text, id}, ...others].slice(0, MOST_WAITING));
}

chrome.runtime.onInstalled.addListener(() => {
  const entry = {id: MENU, title: "Add “%s” to my ratings", contexts: ["selection"]};
  chrome.contextMenus.removeAll(() => chrome.contextMenus.create(entry)); // an earlier version's entry may be there
  chrome.sidePanel.setPanelBehavior({openPanelOnActionClick: true});
});

// One after the other: two selections in a row must not overwrite each other.
let last = Promise.resolve();
chrome.contextMenus.onClicked.addListener((clicked, tab) => {
  // Without a click the browser opens no panel; the title waits all the same.
  if (tab) chrome.sidePanel.open({tabId: tab.id}).catch(() => {});
  last = last.then(() => addSelection(clicked.selectionText ?? ""));
});
