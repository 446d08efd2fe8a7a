// The page's one kind of chart: a table whose cells hold bars, so that it can be seen and read aloud.

import {make, show} from "./ui_dom.js";
import {percent} from "./ui_words.js";

const MOST_VALUES = 6;

/** The values worth a row: the likeliest ones of any series, in the order of the first series. */
function worthARow(series) {
  const order = Array.from(series[0].numbers, (_, k) => k);
  const height = (k) => Math.max(...series.map(({numbers}) => numbers[k]));
  const kept = new Set([...order].sort((a, b) => height(b) - height(a)).slice(0, MOST_VALUES));
  return order.filter((k) => kept.has(k)).sort((a, b) => series[0].numbers[b] - series[0].numbers[a]);
}

function barCell({head, kind}, probability) {
  const bar = make("span", {class: `bar ${kind}`, "aria-hidden": "true"});
  bar.style.setProperty("--share", probability);
  const number = make("span", {class: "number"}, percent(probability));
  return make("td", {"data-head": head}, make("span", {class: "track"}, bar, number));
}

/**
 * Draw series of probabilities over the guard's values side by side. A series has a `head`, a `kind` (its colour) and
 * `numbers`, one a value.
 */
export function drawBars(parent, values, caption, series) {
  const kept = worthARow(series);
  const rows = kept.map((k, row) =>
    make("tr", row ? {} : {class: "top"}, make("th", {scope: "row"}, values[k]),
      ...series.map((each) => barCell(each, each.numbers[k]))));
  const rest = values.length - rows.length;
  if (rest > 0) {
    const left = ({numbers}) => Math.max(0, 1 - kept.reduce((sum, k) => sum + numbers[k], 0));
    const name = rest === 1 ? "one other" : `${rest} others together`;
    rows.push(make("tr", {}, make("th", {scope: "row"}, name), ...series.map((each) => barCell(each, left(each)))));
  }
  const heads = series.map(({head}) => make("th", {scope: "col"}, head));
  const top = make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "value"), ...heads));
  show(parent, [make("table", {}, make("caption", {}, caption), top, make("tbody", {}, ...rows))]);
}
