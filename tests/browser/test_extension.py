"""The browser extension in a real browser: it loads, a selection waits for a rating, and a restart forgets nothing."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from chromium import BrowserError, Chromium, find_chromium
from made_up import MARKUP, made_up, titles

import attriguard as ag
from attriguard.errors import DataError

needs_browser = pytest.mark.skipif(find_chromium() is None, reason="no Chromium here")
READY = "document.documentElement.dataset.ready === 'yes'"
WAITING = "chrome.storage.local.get({waiting: []}).then(({waiting}) => waiting)"
TEXTS = "selector => [...document.querySelectorAll(selector)].map(each => each.textContent)"
SITE = """<!doctype html><title>A site</title><h1 id="known">The  Restless
 Lighthouse</h1><h2 id="markup"></h2><p id="unknown">Restless Lighthouses and Other Stories</p>"""


@pytest.fixture(scope="module")
def guard():
    return made_up()[0]


@pytest.fixture(scope="module")
def folder(guard, tmp_path_factory):
    return ag.write_extension(guard, tmp_path_factory.mktemp("extension"), titles=titles()).path


@pytest.fixture
def site(tmp_path):
    path = tmp_path / "site.html"
    path.write_text(SITE + f"<script>document.getElementById('markup').textContent = {json.dumps(MARKUP)}</script>")
    return path


def started(folder: Path, profile: Path) -> Chromium:
    return Chromium(f"--load-extension={folder}", f"--disable-extensions-except={folder}", profile=profile)


def worker(browser: Chromium) -> dict[str, str]:
    """The extension's worker, as soon as it is there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = [each for each in browser.targets() if each["type"] == "service_worker"]
        if found:
            return found[0]
    raise BrowserError("the extension has no worker")


def attach_worker(browser: Chromium) -> None:
    """Speak to the worker from now on, when it listens to its menu; a worker that begins has no timers to wait with."""
    browser.attach(worker(browser)["targetId"])
    deadline = time.monotonic() + 20
    while not browser.evaluate("Boolean(self.chrome?.contextMenus?.onClicked?.hasListeners())"):
        assert time.monotonic() < deadline, "the worker does not listen"


def add(browser: Chromium, site: Path, element: str) -> list[dict[str, str | None]]:
    """Select an element's text on a site, and choose the menu's entry; what waits then."""
    page = next(each for each in browser.targets() if each["type"] == "page")
    browser.attach(page["targetId"])
    browser.open(site)
    text = browser.call(
        "id => (getSelection().selectAllChildren(document.getElementById(id)), getSelection().toString())", element
    )
    attach_worker(browser)
    before = browser.evaluate(f"{WAITING}.then(JSON.stringify)")
    # A menu cannot be opened without a window: the browser's own event is sent with what it would say.
    browser.call("text => { chrome.contextMenus.onClicked.dispatch({menuItemId: 'add', selectionText: text}); }", text)
    browser.wait(f"{WAITING}.then(waiting => JSON.stringify(waiting) !== {json.dumps(before)})")
    return browser.evaluate(WAITING)


def open_panel(browser: Chromium) -> None:
    identity = worker(browser)["url"].split("/")[2]
    page = next(each for each in browser.targets() if each["type"] == "page")
    browser.attach(page["targetId"])
    browser.open(f"chrome-extension://{identity}/panel.html")
    browser.wait(READY)


def rows(browser: Chromium) -> list[str]:
    return browser.call(TEXTS, "ol[aria-labelledby=before-title] > li")


@needs_browser
def test_a_selection_waits_is_foretold_rated_and_survives_a_restart(folder, site, tmp_path):
    profile = tmp_path / "profile"
    with started(folder, profile) as browser:
        (waits,) = add(browser, site, "known")
        assert waits["text"] == "The Restless Lighthouse"
        assert waits["id"] is not None
        open_panel(browser)
        (row,) = rows(browser)
        assert row.startswith("The Restless Lighthouse (1999)")
        assert "Speaks for " in row or "Tells hardly anything" in row
        assert [each for each in browser.requests if not each.startswith(("chrome-extension://", "file://"))] == []
        assert browser.console == []
    with started(folder, profile) as browser:
        worker(browser)
        open_panel(browser)
        assert rows(browser) == [row]
        browser.click("[data-key^='give ']")
        browser.wait("!document.getElementById('answers').hidden")
        browser.wait("document.querySelectorAll('ol[aria-labelledby=before-title] > li').length === 0")
        verdict = browser.evaluate("document.getElementById('verdict').textContent")
        assert verdict.startswith("From 1 rating of yours")
    with started(folder, profile) as browser:
        open_panel(browser)
        assert rows(browser) == []
        assert browser.evaluate("document.getElementById('verdict').textContent") == verdict


@needs_browser
def test_the_panel_says_what_balances_a_rating_and_knows_titles_of_any_kind(folder, site, tmp_path):
    with started(folder, tmp_path / "profile") as browser:
        add(browser, site, "known")
        add(browser, site, "markup")
        assert add(browser, site, "known")[0]["text"] == "The Restless Lighthouse"  # twice is once, and the newest
        add(browser, site, "markup")
        assert [each["id"] is None for each in add(browser, site, "unknown")] == [True, False, False]
        open_panel(browser)
        unknown, markup, known = rows(browser)
        assert "Not known here" in unknown
        assert markup.startswith(MARKUP)
        assert browser.evaluate("document.querySelectorAll('main img').length") == 0
        assert "balance" in markup + known
        # Another rating tells something else, and 0 tells nothing.
        choice = "ol[aria-labelledby=before-title] > li:nth-child(2) select"
        browser.call(
            """selector => {
              const select = document.querySelector(selector);
              select.value = "0";
              select.dispatchEvent(new Event("change"));
            }""",
            choice,
        )
        assert "it tells nothing" in rows(browser)[1]
        # An unknown title is chosen by hand, and then foretold like any other.
        browser.evaluate("document.querySelector('.chooser input').focus()")
        browser.write("Midnight Carnival")
        browser.wait("document.querySelector('.chooser button') !== null")
        browser.click(".chooser button")
        browser.wait("!document.body.innerText.includes('Not known here')")
        assert rows(browser)[0].startswith("The Midnight Carnival")
        if axe := os.environ.get("ATTRIGUARD_AXE"):
            browser.look(390, 900)
            browser.command("Page.setBypassCSP", {"enabled": True})
            browser.evaluate(Path(axe).read_text(encoding="utf-8") + "; 0")
            found = browser.evaluate("axe.run().then(({violations}) => violations.map(({id, impact}) => [impact, id]))")
            assert [each for each in found if each[0] in ("serious", "critical")] == []
            assert browser.evaluate("document.documentElement.scrollWidth") <= 390


BALANCE = """async () => {
  const {findBalance} = await import("/js/balance.js"), {infer, openGuard, telling} = await import("/js/engine.js");
  const card = await (await fetch("/card.json")).json(), weights = await (await fetch("/guard.bin")).arrayBuffer();
  const guard = openGuard(card, weights), [locked, never] = [new Set([30]), new Set([40])];
  const ratings = new Map([3, 9, 14, 27, 30, 55, 81].map((each, k) => [each, (1 + k % 5) / 5]));
  const {item} = telling(guard, ratings)[0];
  const inferred = (changed) => infer(guard, changed).probabilities;
  const without = new Map(ratings);
  without.delete(item);
  const goal = inferred(without);
  const told = (changed) => inferred(changed).reduce((sum, p, v) => sum + p * Math.log(p / goal[v]), 0);
  const after = guard.items.map((_, each) => {
    const changed = new Map(ratings);
    ratings.has(each) ? changed.delete(each) : changed.set(each, 1);
    return each === item || locked.has(each) || never.has(each) ? Infinity : told(changed);
  });
  const found = findBalance(guard, ratings, item, {locked, never}, 3);
  const balanced = new Map(ratings);
  for (const {item: each, to} of found.changes) to ? balanced.set(each, to) : balanced.delete(each);
  return {
    best: after.indexOf(Math.min(...after)), found: found.changes.map((change) => change.item),
    item, told: told(ratings), left: told(balanced),
    error: Math.max(...inferred(balanced).map((p, v) => Math.abs(p - found.after[v]))),
  };
}"""


@needs_browser
def test_the_first_change_of_a_balance_is_the_best_of_all(folder, tmp_path):
    with started(folder, tmp_path / "profile") as browser:
        open_panel(browser)
        answer = browser.call(BALANCE)
    assert answer["found"][0] == answer["best"]
    assert 1 <= len(answer["found"]) <= 3
    assert answer["told"] > 1e-3
    assert answer["left"] < 0.5 * answer["told"]
    assert answer["error"] < 1e-6
    assert not {answer["item"], 30, 40} & set(answer["found"])


def test_the_extension_asks_for_no_site_and_holds_nothing_but_the_page(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["name"] == "attriguard: city"
    assert manifest["permissions"] == ["contextMenus", "sidePanel", "storage"]
    assert not {"host_permissions", "optional_host_permissions", "content_scripts"} & set(manifest)
    policy = manifest["content_security_policy"]["extension_pages"]
    assert policy.startswith("default-src 'none'; ")
    assert "http" not in policy
    panel = (folder / "panel.html").read_text()
    assert "{{" not in panel
    assert "<style" not in panel
    for name in [
        manifest["background"]["service_worker"],
        manifest["side_panel"]["default_path"],
        "extension/panel.js",
    ]:
        assert (folder / name).is_file()
    source = Path(ag.__file__).parent / "page"
    for path in folder.rglob("*.js"):
        assert path.read_bytes() == (source / path.relative_to(folder)).read_bytes()


def test_an_earlier_extension_is_replaced_and_any_other_folder_refused(guard, folder, tmp_path):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    ag.write_extension(guard, folder, titles=titles())
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    (tmp_path / "holiday.txt").write_text("not to be lost")
    with pytest.raises(DataError, match="holds other files; name a new folder"):
        ag.write_extension(guard, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.txt"]
