"""A headless Chromium, driven by its DevTools protocol over a pair of pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SECONDS = 60.0  # to wait for an answer; no test measures time by it
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs chromium: apt-get install chromium"
)


class Browser:
    """One tab: its contents, its console errors and its network requests."""

    def __init__(self, profile: Path) -> None:
        (to_read, self._to), (self._from, to_write) = os.pipe(), os.pipe()

        def wire() -> None:
            # Chromium reads commands from descriptor 3 and writes answers to 4.
            os.dup2(os.dup(to_read), 3)
            os.dup2(os.dup(to_write), 4)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options += ["--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [str(CHROMIUM), *options],
            preexec_fn=wire,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._number, self._rest, self._session = 0, b"", None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.ask("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in target if one["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> dict:
        """Send a command and return its answer; keep the events that arrive before it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            answer = self._next(until)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self, until: float) -> dict:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(until - time.monotonic(), 0))
            assert ready, "chromium does not answer"
            piece = os.read(self._from, 1 << 16)
            assert piece, "chromium has ended"
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(line)
        what, told = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
        elif what == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"]["text"])
        elif what == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(told["args"]))
        elif what == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        return message

    def open(self, address: str) -> None:
        """Load a page and wait until it is complete."""
        self.complaints.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> object:
        """Return the value of an expression in the page."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until the expression is true."""
        until = time.monotonic() + SECONDS
        while not self.run(script):
            assert time.monotonic() < until, f"never true: {script}"
            time.sleep(0.02)

    def text(self) -> str:
        """Return the visible text."""
        return str(self.run("document.body.innerText"))

    def see(self, *, width: int = 1000, height: int = 800, dark: bool = False) -> None:
        """Set the size of the window and the colour scheme."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = (
            float(self.run(f"{box}.{a} + {box}.{b} / 2"))
            for a, b in (("left", "width"), ("top", "height"))
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return the viewport, or the whole page, as a PNG."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def pdf(self) -> bytes:
        """Return the page as a PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        """End the browser process."""
        os.close(self._to)
        os.close(self._from)
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
