// What the browser keeps for the person: a secret, the ratings, clicks and ticks. Nothing leaves it.

import {isGuessable} from "./draw.js";

const SECRET_BYTES = 32;

/**
 * A drawer of the browser's storage for one guard. A page opened from disk may have no storage: then things are kept
 * as long as the page is open, and `lasts` is false.
 */
export function openDrawer(name) {
  const prefix = `attriguard/${name}/`;
  let storage = null;
  try {
    storage = window.localStorage;
    storage.setItem(`${prefix}open`, "1");
  } catch {
    storage = null;
  }
  const memory = new Map();
  const take = (key) => (storage ? storage.getItem(prefix + key) : memory.get(key));
  return {
    lasts: storage !== null,
    /** What was put here under this name, or `otherwise`. */
    take(key, otherwise) {
      try {
        return JSON.parse(take(key) ?? "null") ?? otherwise;
      } catch {
        return otherwise;
      }
    },
    /** Keep a thing that JSON can say; a full storage keeps what it had. */
    put(key, thing) {
      const text = JSON.stringify(thing);
      try {
        if (storage) storage.setItem(prefix + key, text);
        else memory.set(key, text);
      } catch {
        memory.set(key, text);
      }
    },
    /** Forget everything. */
    empty() {
      memory.clear();
      if (!storage) return;
      Object.keys(storage).filter((key) => key.startsWith(prefix)).forEach((key) => storage.removeItem(key));
    },
  };
}

/** A new secret: 32 random bytes as hexadecimal text, as `attriguard key new` writes it. */
export function newSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The secret as the engine takes it. */
export function secretBytes(text) {
  return new TextEncoder().encode(text.trim());
}

/** What is wrong with a secret that was typed in, or "": the package's rules for keys. */
export function secretMistake(text) {
  if (!isGuessable(secretBytes(text))) return "";
  return "This secret can be guessed: type at least 16 characters, 6 of them distinct, and no repetition.";
}
