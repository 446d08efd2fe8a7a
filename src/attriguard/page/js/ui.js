// Where the page starts: the guard's card and its weights stand in two blocks of the page itself.

import {decodeBase64} from "./guard.js";
import {openGuard} from "./engine.js";

const bytes = decodeBase64(document.getElementById("guard").textContent);
const opened = openGuard(JSON.parse(document.getElementById("card").textContent), bytes);
document.getElementById("verdict").textContent = `This page knows ${opened.items.length} titles.`;
document.documentElement.dataset.ready = "yes";
