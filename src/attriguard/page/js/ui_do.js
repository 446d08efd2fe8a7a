// Work through it: a checklist whose ticks this browser keeps, and the downloads.

import {toRating} from "./engine.js";
import {writeExport} from "./exports.js";
import {byId, download, make, show} from "./ui_dom.js";
import {changeWords, hasRatings} from "./ui_words.js";

/** Wire the downloads. */
export function takeDownloads(page) {
  byId("save-list").addEventListener("click", () => {
    download("changes.csv", new TextEncoder().encode(listAsCsv(page)), "text/csv");
    byId("saved").textContent = "changes.csv was made in this page.";
  });
  byId("save-export").addEventListener("click", async () => {
    try {
      const {name, bytes} = await writeExport(page.loaded.original, editsOf(page));
      download(name, bytes);
      byId("saved").textContent = `${name} was made in this page: your export with these changes.`;
    } catch (error) {
      byId("saved").textContent = error.message;
    }
  });
}

/** Show the changes as things to do, with those ticked that are done. */
export function showChecklist(page) {
  const {changes} = page.plan;
  show(byId("checklist"), changes.map((change) => checkRow(page, change)));
  showProgress(page);
  byId("save-list").disabled = changes.length === 0;
  byId("save-export").disabled = changes.length === 0 || !page.loaded;
  byId("saved").textContent = page.loaded ? "" : "Choose your export again to download it with these changes.";
}

function tickName(page, {item, to}) {
  return `${page.guard.items[item].id} ${to}`;
}

function checkRow(page, change) {
  const name = tickName(page, change);
  const line = make("li", {class: page.ticks.has(name) ? "ticked" : null});
  const box = make("input", {type: "checkbox", "data-key": name, onchange: () => {
    box.checked ? page.ticks.add(name) : page.ticks.delete(name);
    line.classList.toggle("ticked", box.checked);
    showProgress(page);
    page.keep();
  }});
  box.checked = page.ticks.has(name);
  line.append(make("label", {class: "choice"}, box, make("span", {}, changeWords(page.guard, change))));
  return line;
}

function showProgress(page) {
  const {changes} = page.plan;
  const done = changes.filter((change) => page.ticks.has(tickName(page, change))).length;
  byId("done").textContent = changes.length
    ? `${done} of ${changes.length} done. Tick what you have done on the site; this browser remembers it.`
    : "There is nothing to do for what you chose above.";
}

/** The changes as a table; a title that a spreadsheet would take for a formula gets a quote before it. */
export function listAsCsv(page) {
  const cell = (thing) => {
    const text = typeof thing === "string" && /^[=+\-@\t\r]/.test(thing) ? `'${thing}` : String(thing ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rating = (entry) => (entry === 0 ? "" : hasRatings(page.guard) ? toRating(page.guard, entry) : "yes");
  const rows = page.plan.changes.map(({item, from, to, effect}, k) => {
    const {id, title, year} = page.guard.items[item];
    const action = to === 0 ? "remove" : from === 0 ? "add" : "change";
    return [k + 1, action, title, year, id, rating(from), rating(to), Number(effect.toFixed(4))];
  });
  const head = ["step", "action", "title", "year", "id", "from", "to", "effect"];
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** The changes as the export's writer takes them: the rows that each is about, the title, and its new entry. */
function editsOf({guard, loaded, plan}) {
  const rowsOf = (item) => [...loaded.itemOf].filter(([, other]) => other === item).map(([row]) => row);
  return plan.changes.map(({item, to}) => ({rows: rowsOf(item), item: guard.items[item], to}));
}
