// One object a site: what it knows its files by, how their rows are read, and how a row is written again.
// The same as the modules of exports/ in the package.

import {ExportError, Sheet, escapeXml} from "./exports_text.js";
import {scaleWords} from "./scales.js";

const HALF_STARS = {low: 0.5, high: 5, step: 0.5};
const QUARTER_STARS = {low: 0.25, high: 5, step: 0.25};
const FIVE_STARS = {low: 1, high: 5, step: 1};
const TEN_POINTS = {low: 1, high: 10, step: 1};

/** A number and what it counts: "1 title", "2 titles". */
export function howMany(n, thing) {
  return `${n.toLocaleString("en-US")} ${thing}${n === 1 ? "" : "s"}`;
}

/** A rating as text; null where there is none. On every site with stars or points, 0 stands for none. */
export function ratingIn(text) {
  return /^\d{1,9}(?:[.,]\d{1,9})?$/.test(text.trim()) ? Number(text.trim().replace(",", ".")) || null : null;
}

function yearIn(text) {
  const found = /^(\d{4})(?:\.0)?$/.exec(text.trim());
  return found ? Number(found[1]) : null;
}

/** What stands at a path of names in a JSON value, as text; "" where nothing does. */
function textAt(value, ...path) {
  for (const name of path) value = isRecord(value) ? value[name] : null;
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isCsv = (file) => file instanceof Sheet;
const exportRow = (id, title, year = null, rating = null, also = []) => ({id: id || null, title, year, rating, also});
const yetToBegin = (n) => (n ? [`${howMany(n, "title")} that you have yet to begin left out`] : []);
const ISBN = /^="?|"/g;

const letterboxd = {
  name: "Letterboxd",
  knows: (file) => isCsv(file) && file.has("Name", "Year", "Letterboxd URI"),
  read(sheet) {
    const diary = sheet.has("Watched Date"); // where the address is that of the entry, not of the film
    const rows = sheet.cells("Letterboxd URI", "Name", "Year", "Rating").map(
      ([uri, title, year, rating]) => exportRow(diary ? null : uri, title, yearIn(year), ratingIn(rating)));
    return {rows, scale: sheet.has("Rating") ? HALF_STARS : null};
  },
  columns: () => ({title: "Name", year: "Year", rating: "Rating"}),
};

const imdb = {
  name: "IMDb",
  knows: (file) => isCsv(file) && file.has("Const", "Title"),
  read(sheet) {
    const rating = imdb.columns(sheet).rating;
    const rows = sheet.cells("Const", "Title", "Year", rating).map(
      ([id, title, year, points]) => exportRow(id, title, yearIn(year), ratingIn(points)));
    return {rows, scale: sheet.has(rating) ? TEN_POINTS : null};
  },
  columns: (sheet) => ({title: "Title", year: "Year", rating: sheet.first("Your Rating", "You rated")}),
};

const goodreads = {
  name: "Goodreads",
  knows: (file) => isCsv(file) && file.has("Book Id", "Title", "My Rating"),
  read(sheet) {
    const names = ["Book Id", "Title", "Original Publication Year", "Year Published", "My Rating", "ISBN", "ISBN13"];
    const books = sheet.cells(...names, "Exclusive Shelf");
    const rows = books.map(([id, title, first, year, stars, short, long, shelf]) => {
      const also = [short, long].map((isbn) => isbn.replace(ISBN, "")).filter(Boolean);
      return shelf === "to-read" ? null : exportRow(id, title, yearIn(first) ?? yearIn(year), ratingIn(stars), also);
    });
    return {rows, scale: FIVE_STARS, notes: yetToBegin(rows.filter((each) => each === null).length)};
  },
  columns: () => ({title: "Title", year: "Original Publication Year", rating: "My Rating"}),
};

const storygraph = {
  name: "StoryGraph",
  knows: (file) => isCsv(file) && file.has("Title", "ISBN/UID", "Star Rating"),
  read(sheet) {
    const books = sheet.cells("Title", "ISBN/UID", "Read Status", "Star Rating");
    const rows = books.map(
      ([title, id, status, stars]) => (status === "to-read" ? null : exportRow(id, title, null, ratingIn(stars))));
    return {rows, scale: QUARTER_STARS, notes: yetToBegin(rows.filter((each) => each === null).length)};
  },
  columns: () => ({title: "Title", rating: "Star Rating"}),
};

// "Dark: Season 1: Secrets" is an episode of "Dark"; "Mockingjay: Part 1" is a film.
const EPISODE = new RegExp(
  "^(.+?): (?:(?:Season|Series|Part|Volume|Book|Chapter|Collection|Staffel|Saison|Temporada|Stagione) \\S+" +
  "|Limited Series|Mini-?[Ss]eries)(?: \\([^)]*\\))?: .+$");
const THUMBS = new Map([[1, 1], [2, 4], [3, 5]]); // down, up, two thumbs up

const netflix = {
  name: "Netflix",
  knows: (file) => isCsv(file) && ((file.has("Title", "Date") && file.header.length === 2) ||
    file.has("Title", "Start Time", "Profile Name") || file.has("Title Name", "Thumbs Value")),
  read: (sheet) => (sheet.has("Title Name") ? netflixRatings(sheet) : netflixHistory(sheet)),
  columns: (sheet) => (sheet.has("Title Name")
    ? {title: "Title Name", rating: "Star Value", cleared: "Thumbs Value"} : {title: "Title"}),
};

function netflixHistory(sheet) {
  const profiles = new Set();
  let episodes = 0;
  const rows = sheet.cells("Title", "Profile Name", "Supplemental Video Type").map(([title, profile, extra]) => {
    if (extra) return null; // a trailer
    profiles.add(profile);
    const series = EPISODE.exec(title);
    if (series) episodes++;
    return exportRow(null, series ? series[1] : title);
  });
  const told = episodes ? ["episodes count as their series"] : [];
  return {rows, scale: null, notes: [...severalProfiles(profiles), ...told]};
}

function netflixRatings(sheet) {
  const profiles = new Set();
  let thumbs = 0;
  const cells = sheet.cells("Title Name", "Profile Name", "Star Value", "Thumbs Value");
  const rows = cells.map(([title, profile, star, thumb]) => {
    profiles.add(profile);
    const stars = ratingIn(star), meant = THUMBS.get(ratingIn(thumb)) ?? null;
    if (stars === null && meant !== null) thumbs++;
    return exportRow(null, title, null, stars ?? meant);
  });
  const told = thumbs ? ["thumbs count as stars: down is 1, up is 4, two thumbs up are 5"] : [];
  return {rows, scale: FIVE_STARS, notes: [...severalProfiles(profiles), ...told]};
}

function severalProfiles({size}) {
  return size > 1 ? [`${size} profiles are in this file, and all of them count`] : [];
}

const lastfm = {
  name: "Last.fm",
  knows: (file) => isCsv(file) && file.has("uts", "artist"),
  read(sheet) {
    const rows = sheet.cells("artist", "artist_mbid").map(
      ([artist, mbid]) => exportRow(null, artist, null, null, mbid ? [mbid] : []));
    return {rows, scale: null, notes: ["artists count, however often you heard them"]};
  },
  columns: () => ({title: "artist"}),
};

// An entry of a MyAnimeList: its name, and those of its id and its title.
const LISTS = {anime: ["series_animedb_id", "series_title"], manga: ["manga_mangadb_id", "manga_title"]};
const PLANNED = ["Plan to Watch", "Plan to Read", "6"];

const myanimelist = {
  name: "MyAnimeList",
  knows: (file) => file.root === "myanimelist" && Array.isArray(file.entries),
  read(tree) {
    const rows = tree.entries.map(({name, fields}) => {
      if (!(name in LISTS)) return undefined;
      const text = (field) => (fields.get(field)?.text ?? "").trim();
      const [id, title] = LISTS[name].map(text);
      return PLANNED.includes(text("my_status")) ? null : exportRow(id, title, null, ratingIn(text("my_score")));
    });
    return {rows, scale: TEN_POINTS, notes: yetToBegin(rows.filter((each) => each === null).length)};
  },
  added({title}, rating) {
    return `<anime><series_title>${escapeXml(title)}</series_title><my_score>${rating}</my_score></anime>\n`;
  },
};

const workOf = (entry) => (isRecord(entry) ? [entry.movie, entry.show].find(isRecord) ?? null : null);

const trakt = {
  name: "Trakt",
  knows: (file) => Array.isArray(file) && file.some(workOf),
  list: (value) => value,
  read(value) {
    const isPart = (entry) => workOf(entry) && ["season", "episode"].includes(textAt(entry, "type"));
    const rows = value.map((entry) => {
      const work = workOf(entry);
      if (!work || isPart(entry)) return null;
      const tmdb = textAt(work, "ids", "tmdb"), title = textAt(work, "title").trim();
      const rating = ratingIn(textAt(entry, "rating"));
      return exportRow(textAt(work, "ids", "imdb"), title, yearIn(textAt(work, "year")), rating, tmdb ? [tmdb] : []);
    });
    const parts = value.filter(isPart).length;
    const notes = parts ? [`${howMany(parts, "rating")} of seasons and episodes left out`] : [];
    return {rows, scale: value.some((entry) => isRecord(entry) && "rating" in entry) ? TEN_POINTS : null, notes};
  },
  added: ({title, year}, rating) => ({...(rating === null ? {} : {rating}), type: "movie", movie: {title, year}}),
};

const steam = {
  name: "Steam",
  knows: (file) => isRecord(file) && steam.list(file).length > 0,
  list: (value) => (isRecord(value.response) && Array.isArray(value.response.games) ? value.response.games : []),
  read: (value) => ({
    rows: steam.list(value).map((game) => exportRow(textAt(game, "appid"), textAt(game, "name").trim())), scale: null,
  }),
  added: ({title}) => ({name: title}),
};

const playTitle = (entry) => ["install", "libraryDoc"].map((kind) => textAt(entry, kind, "doc", "title").trim())
  .find(Boolean) ?? "";

const takeout = {
  name: "Google Play",
  knows: (file) => Array.isArray(file) && file.some(playTitle),
  list: (value) => value,
  read: (value) => ({rows: value.map((entry) => exportRow(null, playTitle(entry))), scale: null}),
  added: ({title}) => ({install: {doc: {documentType: "Android Apps", title}}}),
};

const TITLE_COLUMNS = [
  "title", "name", "movie", "film", "book", "show", "series", "game", "app", "album", "artist", "song", "track",
  "movie title", "film title", "book title", "app name", "game name", "item",
];
const RATING_COLUMNS = [
  "rating", "my rating", "your rating", "user rating", "star rating", "stars", "score", "my score", "points",
];
const YEAR_COLUMNS = ["year", "release year", "year published", "original publication year"];
const ID_COLUMNS = [
  "id", "item id", "movie id", "book id", "app id", "imdb id", "tconst", "const", "isbn", "isbn13", "asin",
];
const USER_COLUMNS = ["user", "user id", "uid", "username", "customer id", "reviewer id"];

/** Any CSV file with a column of titles, which no site is known by. */
export const anyCsv = {
  name: "CSV with titles",
  knows: (file) => isCsv(file) && file.has(file.first(...TITLE_COLUMNS)),
  read(sheet) {
    const users = sheet.first(...USER_COLUMNS), {title, year, rating} = anyCsv.columns(sheet);
    if (sheet.has(users)) {
      const told = `it has a column '${users}'; an export of one person was expected`;
      throw new ExportError(`this is a table of many people: ${told}`);
    }
    const rows = sheet.cells(sheet.first(...ID_COLUMNS), title, year, rating).map(
      ([id, name, when, given]) => exportRow(id, name, yearIn(when), ratingIn(given)));
    const scale = usualScale(rows.map((each) => each.rating).filter((given) => given !== null));
    return {rows, scale, notes: scale ? [`ratings taken to be ${scaleWords(scale)}`] : []};
  },
  columns: (sheet) => ({
    title: sheet.first(...TITLE_COLUMNS), year: sheet.first(...YEAR_COLUMNS), rating: sheet.first(...RATING_COLUMNS),
  }),
};

/** From one step to 5, 10 or 100; the step is 1, a half or a quarter, as the ratings need. */
function usualScale(ratings) {
  if (!ratings.length) return null;
  if (ratings.every((rating) => rating === 1)) return {low: 0, high: 1, step: 1};
  const step = [1, 0.5].find((each) => ratings.every((rating) => rating % each === 0)) ?? 0.25;
  const top = ratings.reduce((most, rating) => Math.max(most, rating));
  return {low: step, high: [5, 10, 100].find((each) => top <= each) ?? 100, step};
}

/** All sites, in the order in which a file is offered to them. */
export const SITES = [
  letterboxd, imdb, goodreads, storygraph, netflix, lastfm, myanimelist, trakt, steam, takeout,
];
