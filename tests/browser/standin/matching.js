export function makeIndex(items) { return items.map(({title}) => title.toLowerCase()); }
export function matchRows(index, rows) {
  const found = rows.map(({title}, row) => ({row, item: index.indexOf(title.toLowerCase()), how: "title"}));
  return {matched: found.filter(({item}) => item >= 0), unmatched: found.filter(({item}) => item < 0).map(({row}) => ({row, near: [1, 2]}))};
}
export function searchTitles(index, text, limit) { return index.flatMap((title, k) => (title.includes(text.toLowerCase()) ? [k] : [])).slice(0, limit); }
