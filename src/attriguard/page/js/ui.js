// Where the page starts: the guard's card and its weights stand in two blocks of the page itself.

import {decodeBase64} from "./guard.js";
import {byId} from "./ui_dom.js";
import {openPage} from "./ui_page.js";

openPage(JSON.parse(byId("card").textContent), decodeBase64(byId("guard").textContent)).then(() => {
  document.documentElement.dataset.ready = "yes";
});
