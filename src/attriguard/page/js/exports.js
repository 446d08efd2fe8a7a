// What people download from sites: read by what a file holds, and written again with few rows changed.
// The rows and the notes are those of exports/reader.py in the package.

import {ExportError, Sheet, Tree, decodeText} from "./exports_text.js";
import {SITES, anyCsv, howMany} from "./exports_sites.js";
import {MOST_BYTES, TooLargeError, inflate, isGzip, isZip, openZip} from "./zip.js";
import {holdsRating, ratingFrom} from "./scales.js";

const SUFFIXES = /\.(csv|json|xml)$/i;
// Folders and files of an export that hold what the person has taken back, or has yet to see.
const SKIPPED = ["deleted/", "orphaned/", "__macosx/", "watchlist"];
const SITE_NAMES = SITES.map((site) => site.name).join(", ");

/**
 * What a person downloaded: its format, its rows (id, title, year, rating, and `also`: ids in other catalogues), the
 * scale of its ratings (null: it has none), what was done to it in lines, and what is needed to write it again.
 */
export async function readExport(name, bytes) {
  if (bytes.length > MOST_BYTES) throw tooLarge(name);
  if (isZip(bytes)) return bestOf(name, bytes);
  const found = readOne(name, isGzip(bytes) ? await gunzip(name, bytes) : bytes);
  if (found) return found;
  throw new ExportError(`${name} is no export that is known: ${SITE_NAMES}, or a CSV file with a column 'title'`);
}

function tooLarge(name) {
  const most = MOST_BYTES.toLocaleString("en-US");
  return new ExportError(`${name} is too large for one person's export: more than ${most} bytes`);
}

async function gunzip(name, bytes) {
  try {
    return await inflate(bytes, "gzip", MOST_BYTES);
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(name);
    throw new ExportError(`${name} is not a whole gzip file; download it again`);
  }
}

/** Of the files in a zip file the one with most ratings; where none has any, the one with most titles. */
async function bestOf(name, bytes) {
  const found = [];
  for (const [member, inner] of await membersOf(name, bytes)) {
    const read = readOrNothing(member, inner);
    if (!read?.rows.length) continue;
    const rated = read.rows.filter(({rating}) => rating !== null).length;
    found.push({member, read, rank: [read.format === anyCsv.name ? 1 : 0, -rated, -read.rows.length]});
  }
  if (!found.length) {
    throw new ExportError(`${name} holds no export that is known; unpack it, and name the file with your ratings`);
  }
  const [{member, read}] = found.sort((a, b) => {
    const place = a.rank.findIndex((each, k) => each !== b.rank[k]);
    return place < 0 ? (a.member < b.member ? -1 : 1) : a.rank[place] - b.rank[place];
  });
  return {...read, notes: [`read ${member} of ${name}`, ...read.notes]};
}

async function membersOf(name, bytes) {
  let left = MOST_BYTES;
  const members = [];
  try {
    for (const file of openZip(bytes)) {
      const path = file.name.toLowerCase();
      if (!SUFFIXES.test(path) || SKIPPED.some((part) => path.includes(part))) continue;
      const inner = await file.bytes(left);
      left -= inner.length;
      members.push([file.name, inner]);
    }
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(name);
    if (error instanceof ExportError) throw error;
    const why = "is not a whole zip file, or is locked with a password";
    throw new ExportError(`${name} ${why}; unpack it, and name the file in it`);
  }
  return members;
}

function readOrNothing(name, bytes) {
  try {
    return readOne(name, bytes);
  } catch (error) {
    if (error instanceof ExportError) return null;
    throw error;
  }
}

/** A file as the site gave it, or null where no site knows it. */
function readOne(name, bytes) {
  const file = documentOf(name, bytes);
  const site = [...SITES, anyCsv].find((each) => each.knows(file));
  return site ? gathered(site, file, name) : null;
}

function documentOf(name, bytes) {
  const {text, bom} = decodeText(bytes), start = text.trimStart()[0];
  if (!start) throw new ExportError(`${name} is empty; download it again`);
  if (text.includes("\0")) {
    const how = "CSV, JSON, XML, or the zip file";
    throw new ExportError(`${name} is no text; give the file as the site made it: ${how}`);
  }
  if (start === "<") return new Tree(text, name);
  if (start !== "{" && start !== "[") return new Sheet(text, name, bom);
  try {
    return JSON.parse(text);
  } catch {
    throw new ExportError(`${name} is no whole JSON file; download it again`);
  }
}

/** One row a title: the last rating counts; ratings that the scale does not have are left out. */
function gathered(site, file, name) {
  const {rows: records, scale, notes = []} = site.read(file);
  const found = new Map();
  let nameless = 0, strange = 0, named = 0;
  records.forEach((record, place) => {
    if (!record) return;
    if (!record.title) return void nameless++;
    named++;
    const off = record.rating !== null && !(scale && holdsRating(scale, record.rating));
    if (off) strange++;
    const key = JSON.stringify([record.id, record.title, record.year]);
    const before = found.get(key) ?? {row: record, places: []};
    const rating = off || record.rating === null ? (before.places.length ? before.row.rating : null) : record.rating;
    const row = {...record, rating, also: record.also.length ? record.also : before.row.also};
    found.set(key, {row, places: [...before.places, place]});
  });
  const told = [...notes];
  if (nameless) told.push(`${howMany(nameless, "row")} without a title left out`);
  if (strange) told.push(`${howMany(strange, "rating")} that the site's scale does not have left out`);
  if (named > found.size) {
    const counts = scale ? "the last rating of a title counts" : "each counts once";
    told.push(`${howMany(named, "row")} name ${howMany(found.size, "title")}; ${counts}`);
  }
  const places = [...found.values()].map((each) => each.places);
  const original = {name, site, file, scale, places};
  return {format: site.name, rows: [...found.values()].map(({row}) => row), scale, notes: told, original};
}

/**
 * The export again with some titles changed. An edit names the `rows` of the export that it is about (none: the title
 * is new), the `item` ({title, year}) and the entry that it gets, `to` (0: its rows are removed).
 */
export async function writeExport(original, edits) {
  const changes = {removed: new Set(), rated: new Map(), added: []};
  for (const {rows, item, to} of edits) {
    const rating = to > 0 ? ratingFrom(to, original.scale) : null;
    const places = rows.flatMap((row) => original.places[row]);
    if (to === 0) places.forEach((place) => changes.removed.add(place));
    else if (!places.length) changes.added.push({item, rating});
    else if (rating !== null) places.forEach((place) => changes.rated.set(place, rating));
  }
  const {file, site} = original;
  const write = file instanceof Sheet ? writeSheet : file instanceof Tree ? writeTree : writeList;
  return {name: protectedName(original.name), bytes: new TextEncoder().encode(write(file, site, changes))};
}

function protectedName(name) {
  const base = name.split("/").at(-1).replace(/\.gz$/i, ""), dot = base.lastIndexOf(".");
  return dot > 0 ? `${base.slice(0, dot)}-protected${base.slice(dot)}` : `${base}-protected`;
}

function writeSheet(sheet, site, {removed, rated, added}) {
  const {title, year, rating, cleared} = site.columns(sheet);
  const rate = (given) => (given === null ? {} : {[rating]: String(given), ...(cleared ? {[cleared]: ""} : {})});
  const kept = sheet.records.flatMap(({cells, text}, place) => {
    if (removed.has(place)) return [];
    return [rated.has(place) ? sheet.rendered(cells, rate(rated.get(place))) : text];
  });
  const fresh = added.map(({item, rating: given}) => {
    const when = year ? {[year]: item.year === null ? "" : String(item.year)} : {};
    return sheet.rendered([], {[title]: item.title, ...when, ...rate(given)});
  });
  const lines = [sheet.head.text, ...kept];
  // A last line without an end gets one before another line follows.
  if (fresh.length && !/[\r\n]$/.test(lines.at(-1))) lines.push(/\r\n$/.test(sheet.head.text) ? "\r\n" : "\n");
  return (sheet.bom ? "\ufeff" : "") + [...lines, ...fresh].join("");
}

function writeTree({text, entries}, site, {removed, rated, added}) {
  let written = "", at = 0;
  entries.forEach(({from, to, fields}, place) => {
    const score = fields.get("my_score");
    written += text.slice(at, from);
    if (rated.has(place) && score && !score.empty) {
      written += text.slice(from, score.from) + rated.get(place) + text.slice(score.to, to);
    } else if (!removed.has(place)) written += text.slice(from, to);
    at = to;
  });
  const end = text.lastIndexOf("</");
  const fresh = added.map(({item, rating}) => site.added(item, rating));
  return written + text.slice(at, end) + fresh.join("") + text.slice(end);
}

function writeList(value, site, {removed, rated, added}) {
  const copy = structuredClone(value), list = site.list(copy);
  for (const [place, rating] of rated) list[place].rating = rating;
  const kept = list.filter((_, place) => !removed.has(place));
  list.splice(0, list.length, ...kept, ...added.map(({item, rating}) => site.added(item, rating)));
  return `${JSON.stringify(copy, null, 2)}\n`;
}
