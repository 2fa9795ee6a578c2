"""Chromium without a window: how it is called, and how a test reads and drives the page that it shows."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def build_call(folder: Path, *options: str) -> list[str]:
    """The call of a browser that asks nobody anything and keeps its files in a folder."""
    quiet = ["--no-first-run", "--disable-sync", "--disable-quic", "--disable-background-networking"]
    return [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", *quiet, "--disable-component-update",
        "--enable-logging=stderr", "--v=0", f"--user-data-dir={folder / 'profile'}", "--window-size=1400,1000",
        *options,
    ]  # fmt: skip


class Page:
    """The page of a running browser, by the protocol of its developer tools."""

    def __init__(self, address: str) -> None:
        import websocket  # comes with Jupyter's server

        self._numbers = count(1)
        self._socket = websocket.create_connection(address, timeout=60, suppress_origin=True)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != number:
            pass  # an event
        assert "error" not in answer, answer
        return answer["result"]

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression, which may be a promise."""
        told = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait_for(self, script: str, seconds: float) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(script)):
            assert time.monotonic() < end, f"not in {seconds} s: {script}; the page says {self.describe()}"
            time.sleep(0.2)
        return value

    def describe(self) -> str:
        """The text that the page shows, its beginning."""
        return str(self.evaluate("document.body ? document.body.innerText.slice(0, 2000) : ''"))

    def save_screenshot(self, file: Path) -> None:
        """Write what the window shows as a PNG file."""
        file.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


@contextmanager
def open_page(address: str, folder: Path) -> Iterator[Page]:
    """Open an address in a browser, and end that browser afterwards."""
    with (folder / "chromium.log").open("w") as log:
        command = build_call(folder, "--remote-debugging-port=0", "about:blank")
        browser = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)
        try:
            page = Page(_find_address_of_first_page(folder / "profile" / "DevToolsActivePort"))
            page.send("Emulation.setFocusEmulationEnabled", enabled=True)  # as a window that the user looks at
            page.send("Page.navigate", url=address)
            yield page
        finally:
            browser.terminate()
            browser.wait(30)


def _find_address_of_first_page(port_file: Path, seconds: float = 60) -> str:
    """The address at which the tools of the browser's first page listen."""
    from urllib.request import urlopen

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if port_file.is_file() and port_file.read_text().count("\n"):
            with urlopen(f"http://127.0.0.1:{port_file.read_text().split()[0]}/json/list", timeout=10) as reply:
                pages = [entry for entry in json.load(reply) if entry["type"] == "page"]
            if pages:
                return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.1)
    raise AssertionError("the browser did not start")
