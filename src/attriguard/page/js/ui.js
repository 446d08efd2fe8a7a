// Where the page starts: the guard's card and its weights stand in two blocks of the page itself.

import {byId} from "./ui_dom.js";
import {openPage} from "./ui_page.js";

/** The bytes that a block of the page holds as base64. */
function bytesOf(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes.buffer;
}

openPage(JSON.parse(byId("card").textContent), bytesOf(byId("guard").textContent)).then(() => {
  document.documentElement.dataset.ready = "yes";
});
