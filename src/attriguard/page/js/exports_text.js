// Text files as people download them: their letters, CSV cells, and the XML of a list. Each keeps where its records
// stand, so that a file can be written again with few of them changed.

/** What is wrong with a file, in one line that a person can read. */
export class ExportError extends Error {}

const DELIMITERS = [",", ";", "\t", "|"];
const MOST_HEADER = 10_000;
const MOST_CELL = 131_072;

/** The text of a file, and whether a byte order mark began it: UTF-8, UTF-16, or else Windows-1252. */
export function decodeText(bytes) {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return {text: new TextDecoder("utf-16le").decode(bytes), bom: false};
  if (a === 0xfe && b === 0xff) return {text: new TextDecoder("utf-16be").decode(bytes), bom: false};
  try {
    const text = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
    return {text, bom: a === 0xef && b === 0xbb && c === 0xbf};
  } catch {
    return {text: new TextDecoder("windows-1252").decode(bytes), bom: false};
  }
}

/** A name without case, blanks and marks. */
export function bareName(name) {
  return name.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}

/** The cells of a CSV file; rows may be short, and reviews hold line ends and quotes. */
export class Sheet {
  constructor(text, name, bom = false) {
    const line = text.slice(0, MOST_HEADER).trimStart().split(/[\r\n]/, 1)[0].replace(/"[^"]*"/g, "");
    const count = (mark) => line.split(mark).length;
    this.bom = bom;
    this.delimiter = DELIMITERS.reduce((best, mark) => (count(mark) > count(best) ? mark : best));
    const [head, ...records] = parseRecords(text, this.delimiter, name).filter(({cells}) => cells.some(Boolean));
    this.head = head ?? {cells: [], text: ""};
    this.records = records;
    this.header = this.head.cells.map(bareName);
  }

  /** Whether there are columns with all of these names. */
  has(...names) {
    return names.every((name) => this.header.includes(bareName(name)));
  }

  /** The first of these names that is a column's, or the last one. */
  first(...names) {
    return names.find((name) => this.has(name)) ?? names.at(-1);
  }

  /** Of every record the cells of these columns, without blanks around; "" where there is none. */
  cells(...names) {
    const places = names.map((name) => this.header.indexOf(bareName(name)));
    return this.records.map(({cells}) => places.map((place) => (cells[place] ?? "").trim()));
  }

  /** A record with some cells changed, by the names of their columns, as text; `before` may be empty. */
  rendered(before, changes) {
    const cells = this.header.map((_, place) => before[place] ?? "");
    for (const [name, cell] of Object.entries(changes)) {
      const place = this.header.indexOf(bareName(name));
      if (place >= 0) cells[place] = cell;
    }
    const always = this.head.text.startsWith('"'), special = /["\r\n]/;
    const quoted = (cell) => always || special.test(cell) || cell.includes(this.delimiter);
    const end = /(\r\n|\r|\n)$/.exec(this.head.text)?.[1] ?? "\n";
    return cells.map((cell) => (quoted(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(this.delimiter) + end;
  }
}

/** Records of cells; each keeps the text that it was read from. Quotes count at the beginning of a cell only. */
function parseRecords(text, delimiter, name) {
  const records = [];
  for (let at = 0; at < text.length;) {
    const start = at, cells = [];
    for (let more = true; more;) {
      const found = readCell(text, at, delimiter);
      if (found.cell.length > MOST_CELL) {
        throw new ExportError(`${name} cannot be read as CSV; look for a double quote that is never closed`);
      }
      cells.push(found.cell);
      more = text[found.end] === delimiter;
      at = found.end + (more ? 1 : 0);
    }
    if (at < text.length) at += text.startsWith("\r\n", at) ? 2 : 1;
    records.push({cells, text: text.slice(start, at)});
  }
  return records;
}

function readCell(text, from, delimiter) {
  let cell = "", at = from;
  if (text[at] === '"') {
    do {
      const close = text.indexOf('"', at + 1), end = close < 0 ? text.length : close;
      cell += (cell || at > from ? '"' : "") + text.slice(at + 1, end);
      at = end + 1;
    } while (text[at] === '"');
  }
  let end = Math.min(at, text.length);
  while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end++;
  return {cell: cell + text.slice(at, end), end};
}

const TOKEN = /<!\[CDATA\[([^]*?)\]\]>|<!-{2}[^]*?-->|<\?[^]*?\?>|<(\/?)([^\s<>\/!?]+)[^<>]*?(\/?)>|([^<]+)/gy;
const ENTITIES = {amp: "&", lt: "<", gt: ">", quot: '"', apos: "'"};

/**
 * An XML file as a list: the name of its root, and of each entry below it the name, the place in the text, and its
 * fields with theirs. A document type is refused: it may name files to be read, and texts that grow.
 */
export class Tree {
  constructor(text, name) {
    this.text = text;
    this.entries = [];
    this.root = null;
    try {
      this.#read();
    } catch {
      throw new ExportError(`${name} is no whole XML file of a list, or has a document type; download it again`);
    }
  }

  #read() {
    const open = [];
    let at = 0, entry = null, field = null;
    for (TOKEN.lastIndex = 0; at < this.text.length; at = TOKEN.lastIndex) {
      const [token, data, close, tag, empty, letters] = TOKEN.exec(this.text);
      if (tag && !close) {
        if (!open.length && this.root !== null) throw new Error("two roots");
        if (!open.length) this.root = tag;
        if (open.length === 1) this.entries.push((entry = {name: tag, from: at, to: at, fields: new Map()}));
        if (open.length === 2) field = {text: "", from: TOKEN.lastIndex, to: TOKEN.lastIndex, empty: Boolean(empty)};
        if (open.length === 2 && !entry.fields.has(tag)) entry.fields.set(tag, field);
        open.push(tag);
      }
      if (tag && (close || empty)) {
        if (open.pop() !== tag) throw new Error("tags that cross");
        if (open.length === 2) field.to = at;
        if (open.length === 1) entry.to = TOKEN.lastIndex;
      }
      if (open.length === 3 && field) field.text += data ?? unescapeXml(letters ?? "");
      if (!open.length && letters?.trim()) throw new Error("text outside");
      if (!token) throw new Error("nothing");
    }
    if (open.length || this.root === null) throw new Error("cut");
  }
}

function unescapeXml(text) {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+))?;?/gi, (whole, decimal, hexadecimal, name) => {
    if (!whole.endsWith(";") || (name && !(name in ENTITIES))) throw new Error("an unknown entity");
    return name ? ENTITIES[name] : String.fromCodePoint(decimal ? Number(decimal) : parseInt(hexadecimal, 16));
  });
}

/** Text that stands for itself in XML. */
export function escapeXml(text) {
  return text.replace(/[&<>]/g, (mark) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[mark]);
}
