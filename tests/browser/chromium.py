"""A real browser for tests: Chromium without a window, driven over its own protocol with the standard library alone.

    with Chromium() as browser:
        browser.open(path)
        assert browser.evaluate("document.title") == "…"

Nothing sleeps: every wait ends with the answer, or fails at a deadline.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
    "--hide-scrollbars", "--mute-audio",
)  # fmt: skip
DEADLINE_SECONDS = 60.0


def find_chromium() -> str | None:
    """The path of the machine's Chromium, or None."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class BrowserError(Exception):
    """What the browser or a script in it complains of, or a deadline that passed."""


class Chromium:
    """One browser with one page. `flags` go to its command line; a `profile` folder that is given is kept."""

    def __init__(self, *flags: str, profile: Path | str | None = None) -> None:
        self.flags = flags
        self._profile = profile
        self.requests: list[str] = []  # the address of every request, in order
        self.console: list[str] = []  # errors and warnings of the console, exceptions that nobody caught
        self.events: list[dict[str, Any]] = []  # everything the browser reports without being asked

    # -- opening and closing

    def __enter__(self) -> Chromium:
        path = find_chromium()
        if path is None:
            raise BrowserError(f"no browser here: looked for {', '.join(NAMES)}")
        self._folder = tempfile.mkdtemp(prefix="attriguard-browser-")
        self._answers: dict[int, dict[str, Any]] = {}
        self._last, self._buffer = 0, b""
        profile = self._profile or self._folder
        line = [path, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", *self.flags, "about:blank"]
        self._start(line)
        try:
            page = next(each for each in self._targets() if each["type"] == "page")
            self.attach(page["targetId"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, line: list[str]) -> None:
        """The browser reads commands from descriptor 3 and writes answers to descriptor 4."""
        theirs_in, ours_out = _high_pipe()
        ours_in, theirs_out = _high_pipe()
        null = os.open(os.devnull, os.O_RDWR)
        copies = [(os.POSIX_SPAWN_DUP2, here, there) for here, there in
                  ((null, 0), (null, 1), (null, 2), (theirs_in, 3), (theirs_out, 4))]  # fmt: skip
        self._pid = os.posix_spawn(line[0], line, dict(os.environ), file_actions=copies, setpgroup=0)
        self._in, self._out = ours_in, ours_out
        for each in (theirs_in, theirs_out, null):
            os.close(each)

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrowserError, OSError):
            self.command("Browser.close", session=None, seconds=5)
        deadline = time.monotonic() + 5
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.killpg(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
                break
            select.select([self._in], [], [], 0.05)
            with contextlib.suppress(OSError):
                os.read(self._in, 1 << 16)
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _targets(self) -> list[dict[str, Any]]:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            targets: list[dict[str, Any]] = self.command("Target.getTargets", session=None)["targetInfos"]
            if any(each["type"] == "page" for each in targets):
                return targets
        raise BrowserError("the browser has no page")

    def targets(self) -> list[dict[str, Any]]:
        """Pages, workers and panels: their targetId, type and url."""
        return list(self.command("Target.getTargets", session=None)["targetInfos"])

    def attach(self, target: str) -> None:
        """From now on, everything is about this target."""
        answer = self.command("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)
        self.session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            with contextlib.suppress(BrowserError):  # a worker has no page and no document
                self.command(f"{domain}.enable")

    # -- the protocol

    def command(
        self,
        method: str,
        parameters: dict[str, Any] | None = None,
        *,
        session: str | None = "current",
        seconds: float = DEADLINE_SECONDS,
    ) -> dict[str, Any]:
        """One command of the protocol and its answer; session=None speaks to the browser instead of the page."""
        self._last += 1
        number = self._last
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self.session if session == "current" else session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self._out, text) :]
        deadline = time.monotonic() + seconds
        while number not in self._answers:
            self._receive(deadline, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return dict(answer["result"])

    def _receive(self, deadline: float, waiting_for: str) -> None:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._in], [], [], left)[0]:
            raise BrowserError(f"no answer in time: {waiting_for}")
        data = os.read(self._in, 1 << 20)
        if not data:
            raise BrowserError(f"the browser has gone: {waiting_for}")
        *messages, self._buffer = (self._buffer + data).split(b"\0")
        for each in messages:
            self._take(json.loads(each))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        self.events.append(message)
        method, told = message["method"], message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(each.get("value", each.get("description"))) for each in told["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(_complaint(told["exceptionDetails"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.console.append(told["entry"]["text"])

    # -- what a test does

    def open(self, address: str | Path, seconds: float = DEADLINE_SECONDS) -> None:
        """Open an address or a file, and wait until it is loaded."""
        text = str(address)
        url = text if "://" in text or text.startswith(("about:", "data:")) else Path(text).resolve().as_uri()
        seen = len(self.events)
        answer = self.command("Page.navigate", {"url": url}, seconds=seconds)
        if "errorText" in answer:
            raise BrowserError(f"{url}: {answer['errorText']}")
        deadline = time.monotonic() + seconds
        while not any(each["method"] == "Page.loadEventFired" for each in self.events[seen:]):
            self._receive(deadline, f"{url} to load")

    def evaluate(self, script: str, seconds: float = DEADLINE_SECONDS) -> Any:
        """The value of a script in the page, as JSON has it; a promise is waited for."""
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True, "userGesture": True}
        answer = self.command("Runtime.evaluate", asked, seconds=seconds)
        if "exceptionDetails" in answer:
            raise BrowserError(_complaint(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def call(self, function: str, *arguments: Any, seconds: float = DEADLINE_SECONDS) -> Any:
        """The value of a function of the page, called with arguments that JSON can say."""
        return self.evaluate(f"({function})(...{json.dumps(arguments)})", seconds)

    def wait(self, condition: str, seconds: float = 10.0) -> Any:
        """The value of a script as soon as it is true, looked at before every frame of at most 20 ms."""
        deadline = time.monotonic() + seconds
        while not (found := self.evaluate(condition, seconds)):
            if time.monotonic() > deadline:
                raise BrowserError(f"not so in time: {condition}")
            self.evaluate("new Promise(done => setTimeout(done, 20))", seconds)
        return found

    def click(self, selector: str) -> None:
        """Click in the middle of the first element, with the mouse, once it has come to rest."""
        where = self.call(
            """async selector => {
              const element = document.querySelector(selector);
              if (!element) throw new Error("no element: " + selector);
              const middle = () => {
                element.scrollIntoView({block: "center", behavior: "instant"});
                const box = element.getBoundingClientRect();
                return {x: box.x + box.width / 2, y: box.y + box.height / 2};
              };
              let before = middle();
              for (let frame = 0, still = 0; frame < 60 && still < 3; frame++) {
                await new Promise(requestAnimationFrame);
                const now = middle();
                still = now.x === before.x && now.y === before.y ? still + 1 : 0;
                before = now;
              }
              return before;
            }""",
            selector,
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", {"type": kind, "button": "left", "clickCount": 1, **where})

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press one key: press("Tab", 9), press("Enter", 13, "\\r"), press(" ", 32, " ")."""
        asked = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.command("Input.dispatchKeyEvent", {"type": "keyDown", "text": text, **asked})
        self.command("Input.dispatchKeyEvent", {"type": "keyUp", **asked})

    def write(self, text: str) -> None:
        """Type a text where the cursor is."""
        self.command("Input.insertText", {"text": text})

    def set_files(self, selector: str, paths: list[Path] | list[str]) -> None:
        """Choose files in a file input, as a person does."""
        root = self.command("DOM.getDocument")["root"]["nodeId"]
        node = self.command("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        if not node:
            raise BrowserError(f"no element: {selector}")
        files = [str(Path(each).resolve()) for each in paths]
        self.command("DOM.setFileInputFiles", {"files": files, "nodeId": node})

    def save_downloads(self, folder: Path | str) -> None:
        """Downloads go to this folder from now on, without a question."""
        asked = {"behavior": "allow", "downloadPath": str(Path(folder).resolve())}
        self.command("Browser.setDownloadBehavior", asked, session=None)

    def look(self, width: int, height: int, dark: bool = False) -> None:
        """Make the window this large, and prefer light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", size)
        wish = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.command("Emulation.setEmulatedMedia", {"features": wish})

    def screenshot(
        self, path: Path | str, width: int = 1280, height: int = 900, dark: bool = False, *, whole: bool = False
    ) -> None:
        """Write a PNG of the window, or of the whole page."""
        self.look(width, height, dark)
        answer = self.command("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        Path(path).write_bytes(base64.b64decode(answer["data"]))


def _high_pipe() -> tuple[int, int]:
    """A pipe whose descriptors are out of the way of 0 to 4, and which no child inherits."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return read, write


def _complaint(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details.get("text"))
