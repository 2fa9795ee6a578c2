"""The finished report in a real browser: nothing is fetched, nothing complains or runs off, axe finds no barrier."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (make test installs it)")

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
# Reports from inside the page: what it asked for, how far it runs off, and, in a frame of that name, what axe finds.
# Folded parts are opened, and long tables cut, because axe looks at every cell.
PROBE = """<script>addEventListener("load", async () => {
  document.querySelectorAll("details").forEach(part => part.open = true);
  document.querySelectorAll("tbody").forEach(body => [...body.rows].slice(3).forEach(row => row.remove()));
  const root = document.documentElement, over = root.scrollWidth - root.clientWidth;
  const asked = performance.getEntriesByType("resource")
    .map(entry => entry.name).filter(name => !name.startsWith("data:"));
  const {violations} = name == "axe" ? await axe.run(document, {resultTypes: ["violations"]}) : {violations: []};
  const found = violations.map(({id, nodes}) => [id, nodes.length, nodes[0].html.slice(0, 300)]);
  parent.postMessage({page: document.title, asked, over, found}, "*");
});</script>"""
FRAMES = """<!doctype html><meta name="color-scheme" content="light dark"><body style="margin:0">{frames}
<script>const said = []; addEventListener("message", event => {{
  said.push(event.data); if (said.length == {count}) document.body.innerText = "SAID" + JSON.stringify(said) + "END";
}});</script>"""
FRAME = '<iframe src="{page}" name="{task}" width="{width}" height="900" style="border:0"></iframe>'
WIDTHS = (1280, 390)


def browse(page: Path, folder: Path, *options: str) -> tuple[str, str]:
    """The page as the browser has it after some seconds, and the browser's log."""
    quiet = ["--no-first-run", "--disable-sync", "--disable-quic", "--disable-background-networking"]
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", *quiet, "--disable-component-update",
            "--enable-logging=stderr", "--v=0", f"--user-data-dir={folder / 'profile'}", *options,
            "--virtual-time-budget=60000", "--window-size=1400,1000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    return done.stdout, done.stderr


def pages_of(report: Path) -> list[Path]:
    pages = [*sorted(report.glob("*.html")), report.with_name(f"{report.name}.html")]
    assert {"index.html", "stability.html", "report.html"} <= {page.name for page in pages}
    return pages


# What runs off is measured in every scheme and width. Axe takes long and looks at each of them once: colours depend on
# the scheme alone.
@pytest.mark.parametrize(("scheme", "looked_at"), zip(["light", "dark"], WIDTHS, strict=True))
def test_every_page_stands_alone_fits_and_has_no_barrier(report_folder, scheme, looked_at, tmp_path):
    axe = importlib.util.find_spec("axe_core_python")
    if axe is None or axe.origin is None:
        pytest.fail("axe-core-python is missing; it is in the extra dev")
    source = Path(axe.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    pages = pages_of(report_folder)
    for page in pages:
        # The page's own policy forbids every other script and every request; without it, the probe sees what it would
        # ask for.
        bare, count = POLICY.subn("", page.read_text(encoding="utf-8"))
        assert count == 1
        (tmp_path / page.name).write_text(f"{bare}<script>{source}</script>{PROBE}", encoding="utf-8")
    frames = [
        FRAME.format(page=page.name, width=width, task="axe" if width == looked_at else "sizes")
        for page in pages
        for width in WIDTHS
    ]
    (tmp_path / "frames.htm").write_text(FRAMES.format(frames="".join(frames), count=len(frames)), encoding="utf-8")
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    shown, log = browse(tmp_path / "frames.htm", tmp_path, *dark)
    said = re.search(r"SAID(\[.*\])END", shown, re.S)
    assert said, log[-2000:]
    for report in json.loads(said.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")):
        assert (report["asked"], report["over"], report["found"]) == ([], 0, []), report["page"]
    assert "CONSOLE" not in log, log[-2000:]


def test_the_only_script_is_the_one_that_the_policy_names_and_it_runs(report_folder, tmp_path):
    for page in pages_of(report_folder):
        text = page.read_text(encoding="utf-8")
        (script,) = SCRIPT.findall(text)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        (policy,) = POLICY.findall(text)
        allowed = f"script-src 'sha256-{digest}'"
        assert policy == f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; {allowed}"
    shown, log = browse(report_folder / "stability.html", tmp_path)
    assert '<button type="button">' in shown
    assert '<input type="search">' in shown
    assert "CONSOLE" not in log, log[-2000:]
