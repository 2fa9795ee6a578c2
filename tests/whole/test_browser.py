"""The finished report in a real browser: nothing is fetched, nothing complains, nothing runs off the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (make test installs it)")

# nbconvert reorders a tag's attributes.
POLICY = re.compile(r"<meta(?=[^>]*Content-Security-Policy)[^>]*default-src 'none'[^>]*>")
# Reports what the page asked for and how wide it came out, from inside the page.
PROBE = """<script>addEventListener("load", () => {
  const root = document.documentElement;
  const asked = performance.getEntriesByType("resource")
    .map(entry => entry.name).filter(name => !name.startsWith("data:"));
  parent.postMessage(JSON.stringify({asked, over: root.scrollWidth - root.clientWidth}), "*");
});</script>"""
FRAME = """<!doctype html><body style="margin:0">
<iframe src="page.html" width="{width}" height="900" style="border:0"></iframe>
<p id="said">nothing</p><script>addEventListener("message", event => said.textContent = event.data);</script>"""


def look(page: Path, width: int, folder: Path) -> tuple[str, str]:
    """What the probe said about the page at that width, and the browser's log."""
    # The page's own policy forbids every script and every request; without it, the probe sees what would be asked for.
    bare = POLICY.sub("", page.read_text(encoding="utf-8"))
    (folder / "page.html").write_text(bare + PROBE, encoding="utf-8")
    (folder / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    quiet = ["--no-first-run", "--disable-sync", "--disable-quic", "--disable-background-networking"]
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", *quiet, "--disable-component-update",
            "--enable-logging=stderr", "--v=0", f"--user-data-dir={folder / 'profile'}",
            "--virtual-time-budget=10000", "--window-size=1400,1000", "--dump-dom", (folder / "frame.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    said = re.search(r'<p id="said">(.*?)</p>', done.stdout, re.S)
    assert said, done.stderr[-2000:]
    return said.group(1), done.stderr


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_stands_alone_and_fits(report_folder, width, tmp_path):
    pages = sorted(report_folder.glob("*.html"))
    assert {"index.html", "stability.html"} <= {page.name for page in pages}
    for page in pages:
        assert POLICY.search(page.read_text(encoding="utf-8"))
        said, log = look(page, width, tmp_path)
        assert said == '{"asked":[],"over":0}', f"{page.name} at {width} px"
        assert "CONSOLE" not in log, log[-2000:]
