// Your data in: an export dropped or chosen, titles searched and ticked, and what did not match mended.

import {readExport} from "./exports.js";
import {matchRows, searchTitles} from "./matching.js";
import {entryFrom, scaleLine} from "./scales.js";
import {MOST_HITS, ratingChoice, titleChooser} from "./ui_choose.js";
import {byId, button, make, show, showRows} from "./ui_dom.js";
import {countOf, hasRatings, named} from "./ui_words.js";

/** Wire the first section. `page.loaded` is the export that was read, `page.ticked` the titles chosen by hand. */
export function takeData(page) {
  const drop = byId("drop");
  const file = byId("file");
  file.addEventListener("change", () => file.files.length && load(page, file.files[0]));
  for (const event of ["dragenter", "dragover"]) {
    drop.addEventListener(event, (happened) => {
      happened.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (happened) => {
    happened.preventDefault();
    drop.classList.remove("over");
    if (happened.dataTransfer.files.length) load(page, happened.dataTransfer.files[0]);
  });
  byId("search").addEventListener("input", () => showHits(page));
}

/** Read an export and match its titles; a mistake is told in one line and changes nothing. */
async function load(page, file) {
  const mistake = byId("mistake");
  mistake.hidden = true;
  try {
    const read = await readExport(file.name, new Uint8Array(await file.arrayBuffer()));
    const found = matchRows(page.index, read.rows);
    page.loaded = {
      name: file.name,
      ...read,
      itemOf: new Map(found.matched.map(({row, item}) => [row, item])),
      howOf: new Map(found.matched.map(({row, how}) => [row, how])),
      nearOf: new Map(found.unmatched.map(({row, near}) => [row, near])),
    };
  } catch (error) {
    mistake.textContent = error.message;
    mistake.hidden = false;
    return;
  }
  page.changed();
  byId("title").scrollIntoView({block: "nearest"});
}

/** The ratings of the export that was read; where two rows are one title, the last one counts. */
export function ratingsRead({guard, loaded: {rows, scale, itemOf}}) {
  const entries = new Map([...itemOf].map(([row, item]) => [item, entryFrom(rows[row].rating, scale, guard.scale)]));
  return new Map([...entries].filter(([, entry]) => entry !== null));
}

/** The ratings that the page works with: the export's, then what was ticked by hand; 0 by hand takes one out. */
export function ratingsOf(page) {
  const ratings = new Map(page.read);
  for (const [item, entry] of page.ticked) entry > 0 ? ratings.set(item, entry) : ratings.delete(item);
  return ratings;
}

/** Say what was read, what matched, and what did not. */
export function showData(page) {
  const {guard, loaded, read, ticked} = page;
  const parts = [];
  if (loaded) {
    const source = `${countOf(loaded.rows.length, "title")} from ${loaded.name} (${loaded.format})`;
    const known = `${loaded.itemOf.size.toLocaleString("en")} known to this guard`;
    parts.push(`Read ${source}: ${known}${hasRatings(guard) ? `, ${read.size.toLocaleString("en")} rated` : ""}.`);
  } else if (read.size) {
    const kept = `This browser kept ${countOf(read.size, "rating")} from last time.`;
    parts.push(`${kept} Choose the file again to mend titles.`);
  }
  if (ticked.size) parts.push(`${countOf(ticked.size, "rating")} set by hand.`);
  byId("told").textContent = parts.join(" ");
  const notes = loaded ? [...loaded.notes, scaleLine(loaded.scale, guard.scale)].filter((note) => note) : [];
  show(byId("notes"), notes.map((note) => make("li", {}, `${note[0].toUpperCase()}${note.slice(1)}.`)));
  showMissing(page);
  showMatched(page);
  showHits(page);
}

function showMissing(page) {
  const box = byId("missing");
  const rows = page.loaded ? [...page.loaded.nearOf.keys()].filter((row) => !page.loaded.itemOf.has(row)) : [];
  box.hidden = rows.length === 0;
  box.querySelector("summary").textContent = `${countOf(rows.length, "title")} not found: mend it`;
  showRows(box.querySelector("ul"), rows, (row) => mendRow(page, row, "It is not known here."));
}

function showMatched(page) {
  const box = byId("matched");
  const rows = page.loaded ? [...page.loaded.itemOf.keys()] : [];
  box.hidden = rows.length === 0;
  box.querySelector("summary").textContent = `${countOf(rows.length, "title")} found: look at them`;
  showRows(box.querySelector("ul"), rows, (row) => {
    const title = named(page.guard.items[page.loaded.itemOf.get(row)]);
    return mendRow(page, row, `Taken for ${title}, by ${page.loaded.howOf.get(row) ?? "your choice"}.`);
  });
}

/** A row of the export, what it was taken for, and buttons to take it for something else. */
function mendRow(page, row, taken) {
  const {rows, itemOf, howOf, nearOf} = page.loaded;
  const settle = (item) => {
    item === null ? itemOf.delete(row) : itemOf.set(row, item);
    if (!nearOf.has(row)) nearOf.set(row, []);
    howOf.delete(row);
    page.changed();
  };
  const line = make("li");
  const mend = button("Choose a title", () => {
    const open = line.querySelector(".chooser");
    mend.setAttribute("aria-expanded", String(!open));
    if (open) return open.remove();
    line.append(titleChooser(page, nearOf.get(row) ?? [], settle));
    line.querySelector("input").focus();
  }, `mend ${row}`, {"aria-expanded": "false", "aria-label": `Choose a title: ${named(rows[row])}`});
  const rating = rows[row].rating === null ? "" : `, rated ${rows[row].rating}`;
  line.append(make("span", {class: "words"}, `${named(rows[row])}${rating}`, make("small", {}, taken)), mend);
  if (itemOf.has(row)) {
    const label = `Leave it out: ${named(rows[row])}`;
    line.append(button("Leave it out", () => settle(null), `out ${row}`, {"aria-label": label}));
  }
  return line;
}

/** What the search finds, each with a box to tick or a rating to choose. */
function showHits(page) {
  const text = byId("search").value.trim();
  const hits = text ? searchTitles(page.index, text, MOST_HITS) : [];
  const found = hits.length ? `${countOf(hits.length, "title")} found.` : "No such title here.";
  byId("found").textContent = text ? found : "";
  show(byId("hits"), hits.map((item) => make("li", {}, ...tickOrRate(page, item))), byId("search"));
}

/** A box to tick where the guard knows likes; a choice of ratings where it has a scale. */
function tickOrRate(page, item) {
  const title = named(page.guard.items[item]);
  const now = page.ratings.get(item) ?? 0;
  const key = `hit ${item}`;
  const set = (entry) => {
    page.ticked.set(item, entry);
    page.changed();
  };
  if (hasRatings(page.guard)) {
    const choice = ratingChoice(page.guard, now, set, {"data-key": key, "aria-label": title});
    return [make("span", {class: "words"}, title), choice];
  }
  const box = make("input", {type: "checkbox", "data-key": key, onchange: () => set(box.checked ? 1 : 0)});
  box.checked = now > 0;
  return [make("label", {class: "choice"}, box, make("span", {}, title))];
}
