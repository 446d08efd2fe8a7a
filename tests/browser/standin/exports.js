export class ExportError extends Error {}
export async function readExport(name, bytes) {
  const lines = new TextDecoder().decode(bytes).trim().split(/\r?\n/);
  if (lines[0] !== "Date,Name,Year,Letterboxd URI,Rating") throw new ExportError(`${name} is no export that this page knows`);
  const rows = lines.slice(1).map((line) => { const [, title, year, id, rating] = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => m[1]?.replaceAll('""', '"') ?? m[2]); return {id, title, year: Number(year), rating: Number(rating)}; });
  return {format: "Letterboxd", rows, scale: {low: 0.5, high: 5, step: 0.5}, notes: [], original: {name, lines}};
}
export async function writeExport(original, edits) { return {name: "protected.csv", bytes: new TextEncoder().encode(original.lines.join("\n") + edits.length)}; }
