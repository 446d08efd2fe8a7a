// The few calls with which the page builds what it shows. Text is always text: nothing here reads HTML.

/**
 * A new element. Attributes by name ("onclick" and the like take functions; false and null leave one out), then
 * children: elements and text.
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A button; `key` names it, so that it keeps the focus when its list is shown anew. */
export function button(text, onclick, key = null, more = {}) {
  return make("button", {type: "button", onclick, "data-key": key, ...more}, text);
}

/**
 * Show these children in place of the old ones. Where the focus was on one that is shown again it stays there; where
 * that one is gone it goes to `otherwise`, so that a keyboard never falls out of the page.
 */
export function show(parent, children, otherwise = null) {
  const held = parent.contains(document.activeElement) ? document.activeElement : null;
  parent.replaceChildren(...children);
  if (!held) return;
  const key = held.dataset.key;
  const again = key ? [...parent.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key) : null;
  (again || otherwise)?.focus();
}

/** Show a list's first rows, and a button for more: thousands of rows at once would make a phone wait. */
export function showRows(list, things, rowOf, shown = 50) {
  const rest = things.length - shown;
  const more = button(`Show ${Math.min(rest, 200)} more`, () => showRows(list, things, rowOf, shown + 200), "more");
  show(list, [...things.slice(0, shown).map(rowOf), ...(rest > 0 ? [make("li", {}, more)] : [])]);
}

/** Give the person a file: it is made here, and goes nowhere else. */
export function download(name, bytes, type = "application/octet-stream") {
  const address = URL.createObjectURL(new Blob([bytes], {type}));
  const link = make("a", {href: address, download: name, hidden: true});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
