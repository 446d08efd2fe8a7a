// What to change: the goal, how many changes, the list with effects, before and after side by side, and the secret.

import {plan} from "./engine.js";
import {drawBars} from "./ui_chart.js";
import {byId, make, show} from "./ui_dom.js";
import {newSecret, secretBytes, secretMistake} from "./ui_keep.js";
import {showWishes, wishButton} from "./ui_wishes.js";
import {changeWords, effectWords, largest, planWords} from "./ui_words.js";

// The draw is keyed by the secret and this name, as it is in the package.
const PERSON = "me";
const GOALS = {
  conceal: ["Hide", "makes your ratings tell as little as can be, even to those who know that you use a guard."],
  mislead: ["Mislead", "makes your ratings point elsewhere. Whoever knows the guard sees through most of it."],
  both: ["Both", "shares the changes between the two."],
};

/** Wire the third section: the goals that the guard serves, the slider, and the secret. */
export function takeWishes(page) {
  const legend = byId("goals").querySelector("legend");
  show(byId("goals"), [legend, ...Object.keys(GOALS).filter((goal) => page.guard.goals.includes(goal)).map((goal) => {
    const choose = () => {
      page.goal = goal;
      page.replanned();
      sayAloud();
    };
    const radio = make("input", {type: "radio", name: "goal", value: goal, onchange: choose});
    radio.checked = page.goal === goal;
    const [name, what] = GOALS[goal];
    return make("label", {class: "choice"}, radio, make("span", {}, make("b", {}, name), ` ${what}`));
  })]);
  const slider = byId("budget");
  slider.value = page.budget;
  let waiting = false;
  slider.addEventListener("input", () => {
    page.budget = Number(slider.value);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      page.replanned();
    });
  });
  slider.addEventListener("change", () => requestAnimationFrame(sayAloud));
  takeSecret(page);
}

/** Screen readers are told when the slider rests, not at every step of it. */
function sayAloud() {
  byId("effect-said").textContent = byId("effect").textContent;
}

function takeSecret(page) {
  const [field, shown, told] = [byId("secret"), byId("secret-show"), byId("secret-told")];
  byId("draw").hidden = !page.guard.goals.some((goal) => goal !== "conceal");
  const use = (secret, words) => {
    page.secret = secret;
    field.value = secret;
    told.textContent = words;
    page.replanned();
  };
  field.value = page.secret;
  shown.addEventListener("click", () => {
    const hidden = field.type === "password";
    field.type = hidden ? "text" : "password";
    shown.setAttribute("aria-pressed", String(hidden));
  });
  byId("secret-use").addEventListener("click", () => {
    const mistake = secretMistake(field.value);
    if (mistake) told.textContent = mistake;
    else use(field.value.trim(), "Your draw is now the one of this secret.");
  });
  byId("secret-new").addEventListener("click", () => use(newSecret(), "A new secret, and so a new draw."));
}

/** Find the changes for what is chosen, and show them. */
export function showChanges(page) {
  const {guard, ratings, goal, budget, locked, never} = page;
  page.plan = plan(guard, ratings, {goal, budget, locked, never, secret: secretBytes(page.secret), person: PERSON});
  const value = largest(page.plan.before);
  byId("budget-shown").textContent = String(budget);
  byId("effect").textContent = planWords(guard, page.plan, budget);
  drawBars(byId("compared"), guard.values, `What is inferred about your ${page.attribute}, before and after`, [
    {head: "before", kind: "", numbers: page.plan.before},
    {head: "after", kind: "after", numbers: page.plan.after},
  ]);
  show(byId("changes"), page.plan.changes.map((change) => changeRow(page, change, value)), byId("changes-title"));
  showWishes(page);
}

function changeRow(page, change, value) {
  const words = make("span", {class: "words"}, changeWords(page.guard, change),
    make("small", {}, effectWords(page.guard, value, change.effect, change.falls)));
  return make("li", {}, words, wishButton(page, change.item, change.from === 0 ? "never" : "locked"));
}
