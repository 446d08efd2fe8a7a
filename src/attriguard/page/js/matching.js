// Titles as people and sites write them, matched to the items of a guard: by id, by title and year, by title.
// The same as exports/matching.py in the package: where two items may be meant, none is taken.

// A site may name the year in which a film was shown first, another one the year after.
const YEARS_APART = 1;
// A short number is an id in every catalogue: it counts only where the titles agree.
const SHORT_NUMBER = /^\d{1,8}$/;
// The nearest titles are looked up for the first rows that did not match, and must share this much.
const NEAR_ROWS = 200, NEAREST = 3, LEAST_SHARED = 0.3;
// More letters than this are no title.
const MOST_LETTERS = 300;

const ARTICLES =
  "the|a|an|le|la|les|l'|un|une|der|die|das|ein|eine|el|los|las|una|il|lo|gli|i|de|het|o|os|as|den|det|en|ett";
const BEHIND = new RegExp(`^(.*\\S),\\s+(${ARTICLES})\\s*$`, "i");
const IN_FRONT = /^(?:the|an|a) (.+)$/;
const YEAR_BEHIND = /^([^]*\S)\s*[(\[](\d{4})(?:[-–/]\d{0,4})?[)\]]\s*$/;
const BRACKETS = /[(\[][^()\[\]]*[)\]]/g;
const OTHER_NAME = /\S\s*[(\[](?:a\.?k\.?a\.?\s+)?([^()\[\]#]*\p{L}[^()\[\]#]*)[)\]]/giu;
const SUBTITLE = /^([^]*?\S)\s*(?::|\s[-–—]\s)[^]+$/;
const LETTERS = {ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ς: "σ"};

/** A title without accents, case and punctuation; a title of nothing else stays as it is. */
export function plainTitle(text) {
  const bare = text.replace(/['’‘ʼ`´]/g, "").replaceAll("&", " and ");
  const letters = bare.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = letters.replace(/[ßæœøłđðþıς]/g, (letter) => LETTERS[letter]).replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  return words || text.trim().toLowerCase();
}

/** What a title may be written as, strictest first; without its subtitle; without article and brackets; its year. */
export function titleForms(title, year) {
  const found = YEAR_BEHIND.exec(title.slice(0, MOST_LETTERS));
  const name = found ? found[1] : title.slice(0, MOST_LETTERS).trim();
  const outside = name.replace(BRACKETS, " ").trim() || name;
  const others = [...name.matchAll(OTHER_NAME)].map((each) => each[1]);
  const strict = [name, outside, ...others].map((part) => plainTitle(articleInFront(part)));
  const subtitled = SUBTITLE.exec(outside);
  const short = subtitled ? [plainTitle(articleInFront(subtitled[1]))] : [];
  return {
    whole: [...new Set([...strict, ...strict.map(withoutArticle)])],
    short: [...new Set([...short, ...short.map(withoutArticle)])],
    core: withoutArticle(strict[1]),
    year: year ?? (found ? Number(found[2]) : null),
  };
}

const articleInFront = (name) => name.replace(BEHIND, "$2 $1");
const withoutArticle = (form) => form.replace(IN_FRONT, "$1");

/** The items of a guard ({id, title, year}), to be looked up. */
export function makeIndex(items) {
  const index = {
    items, forms: items.map(({title, year}) => titleForms(title, year)),
    ids: new Map(), whole: new Map(), short: new Map(),
  };
  index.forms.forEach(({whole, short}, item) => {
    if (!index.ids.has(items[item].id)) index.ids.set(items[item].id, item);
    for (const form of whole) addTitle(index.whole, form, item);
    for (const form of short) addTitle(index.short, form, item);
  });
  return index;
}

function addTitle(lists, key, item) {
  if (lists.has(key)) lists.get(key).push(item);
  else lists.set(key, [item]);
}

/**
 * Which item each row is (`matched`: row and item are places, `how` is "id", "title and year" or "title"), and the rows
 * that are none (`unmatched`) with the nearest items; for rows after the first 200 of these, ask `searchTitles`.
 */
export function matchRows(index, rows) {
  const matched = [], unmatched = [];
  rows.forEach((row, place) => {
    const {item, how, meant} = matchOne(index, row);
    if (item !== null) matched.push({row: place, item, how});
    else {
      const look = !meant.length && unmatched.length < NEAR_ROWS;
      unmatched.push({row: place, near: look ? nearTitles(index, row.title, row.year, NEAREST) : meant});
    }
  });
  return {matched, unmatched};
}

function matchOne(index, row) {
  const found = titleForms(row.title, row.year);
  for (const id of [row.id, ...(row.also ?? [])]) {
    const item = index.ids.get(id ?? "");
    if (item !== undefined && isSameItem(index, item, id, found)) return {item, how: "id", meant: []};
  }
  for (const form of found.whole) {
    const named = new Map((index.whole.get(form) ?? []).map((item) => [item, index.forms[item].whole.indexOf(form)]));
    const one = oneOf(index, named, found.year);
    if (one.item !== null || one.meant.length) return one;
  }
  // Only one of the two may lack its subtitle, and then the years must not leave any doubt.
  const loose = [
    ...found.whole.flatMap((form) => index.short.get(form) ?? []),
    ...found.short.flatMap((form) => index.whole.get(form) ?? []),
  ].filter((item) => (index.forms[item].year === null) === (found.year === null));
  return oneOf(index, new Map(loose.map((item) => [item, 0])), found.year);
}

function isSameItem(index, item, id, found) {
  const known = index.items[item];
  if (!SHORT_NUMBER.test(id) || known.title === known.id) return true;
  return index.forms[item].whole.some((form) => found.whole.includes(form));
}

/** The one item that is meant: of the nearest year, then named most strictly; several where that leaves a doubt. */
function oneOf(index, named, year) {
  const ranks = [...named].map(([item, loosely]) => ({item, loosely, apart: yearsApart(index.forms[item].year, year)}))
    .filter(({apart}) => apart <= YEARS_APART);
  const apart = Math.min(...ranks.map((rank) => rank.apart));
  const nearest = ranks.filter((rank) => rank.apart === apart);
  const loosely = Math.min(...nearest.map((rank) => rank.loosely));
  const best = nearest.filter((rank) => rank.loosely === loosely).map(({item}) => item);
  const names = new Set(best.map((item) => `${index.forms[item].year} ${index.forms[item].whole[0]}`));
  if (names.size > 1) return {item: null, how: "", meant: best.slice(0, NEAREST)};
  if (!best.length) return {item: null, how: "", meant: []};
  const sure = year !== null && index.forms[best[0]].year !== null;
  return {item: best[0], how: sure ? "title and year" : "title", meant: []};
}

/** How many years lie between; half a year where one of them is not known. */
function yearsApart(one, two) {
  return one === null || two === null ? 0.5 : Math.abs(one - two);
}

/** The items whose titles share most three letters in a row with a title. */
function nearTitles(index, title, year, limit) {
  index.triples ??= triplesOf(index.forms);
  const {postings, sizes} = index.triples, wanted = tripleSet(titleForms(title, year)), shared = new Map();
  for (const triple of wanted) {
    for (const item of postings.get(triple) ?? []) shared.set(item, (shared.get(item) ?? 0) + 1);
  }
  return [...shared].map(([item, n]) => ({item, score: (2 * n) / (wanted.size + sizes[item])}))
    .filter(({score}) => score >= LEAST_SHARED)
    .sort((a, b) => b.score - a.score || a.item - b.item)
    .slice(0, limit).map(({item}) => item);
}

function triplesOf(forms) {
  const postings = new Map(), sizes = [];
  forms.forEach((found, item) => {
    const triples = tripleSet(found);
    sizes.push(triples.size);
    for (const triple of triples) addTitle(postings, triple, item);
  });
  return {postings, sizes};
}

function tripleSet({core}) {
  const letters = Array.from(` ${core} `), triples = new Set();
  for (let k = 0; k + 2 < letters.length; k++) triples.add(letters.slice(k, k + 3).join(""));
  return triples;
}

/** The items that a person may mean who has typed this much: words may be cut; where none has them all, the nearest. */
export function searchTitles(index, text, limit) {
  index.words ??= index.forms.map(({whole, year}) => ` ${whole.join(" ")} ${year ?? ""}`);
  const typed = plainTitle(text), words = typed.split(" ").filter(Boolean).map((word) => ` ${word}`);
  if (!words.length) return [];
  const hits = [];
  index.words.forEach((known, item) => {
    if (words.every((word) => known.includes(word))) hits.push(item);
  });
  const rank = (item) => (index.forms[item].whole.some((form) => form.startsWith(typed)) ? 0 : 1);
  const length = (item) => index.forms[item].core.length;
  hits.sort((a, b) => rank(a) - rank(b) || length(a) - length(b) || a - b);
  return hits.length ? hits.slice(0, limit) : nearTitles(index, text, null, limit);
}
