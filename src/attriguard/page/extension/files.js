// The extension's own files, and what waits in the browser's storage. Nothing is read from anywhere else.

/** The guard's card and its weights. */
export async function readGuardFiles() {
  const read = (name) => fetch(chrome.runtime.getURL(name));
  const [card, weights] = await Promise.all([read("card.json"), read("guard.bin")]);
  return [await card.json(), await weights.arrayBuffer()];
}

/** The titles that wait for a rating, the newest first: what was selected, and the item's id where it is known. */
export async function takeWaiting() {
  return (await chrome.storage.local.get({waiting: []})).waiting;
}

/** Keep the titles that wait, and show how many on the extension's button. */
export async function putWaiting(waiting) {
  await chrome.storage.local.set({waiting});
  await chrome.action.setBadgeText({text: waiting.length ? String(waiting.length) : ""});
}
