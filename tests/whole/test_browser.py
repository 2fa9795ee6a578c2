"""The finished report in a real browser: nothing is fetched, nothing complains or runs off, axe finds no barrier."""

from __future__ import annotations

import base64
import hashlib
import html
import http.server
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest

from helpers.chromium import CHROMIUM, build_call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (make test installs it)"),
]

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
# Reports from inside the page: what it asked for, how far it runs off, and what axe finds, of the kind that the name of
# the frame says. Folded parts are opened; long tables are cut, and nine of ten marks of figures taken away, because axe
# looks at every cell and every mark.
PROBE = """<script>addEventListener("load", async () => {
  document.querySelectorAll("details").forEach(part => part.open = true);
  document.querySelectorAll("tbody").forEach(body => [...body.rows].slice(3).forEach(row => row.remove()));
  document.querySelectorAll("svg :is(circle, path, use, line, rect)").forEach((mark, n) => n % 10 && mark.remove());
  const root = document.documentElement, over = root.scrollWidth - root.clientWidth;
  const asked = performance.getEntriesByType("resource")
    .map(entry => entry.name).filter(name => !name.startsWith("data:"));
  const kinds = {
    all: {},
    shape: {rules: {"color-contrast": {enabled: false}}},
    looks: {runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block", "scrollable-region-focusable"]}},
  };
  const {violations} = name == "none" ? {violations: []}
    : await axe.run(document, {resultTypes: ["violations"], ...kinds[name]});
  const found = violations.map(({id, nodes}) => [id, nodes.length, nodes[0].html.slice(0, 300)]);
  parent.postMessage({page: document.title, asked, over, found}, "*");
});</script>"""
FRAMES = """<!doctype html><meta name="color-scheme" content="light dark"><body style="margin:0"><script>
const said = []; addEventListener("message", event => {{
  said.push(event.data);
  if (said.length == {count}) fetch("{address}", {{method: "POST", mode: "no-cors", body: JSON.stringify(said)}});
}});</script>{frames}"""
FRAME = '<iframe src="{page}" name="{task}" width="{width}" height="900" style="border:0"></iframe>'


def browse(page: Path, folder: Path) -> tuple[str, str]:
    """The page as the browser has it after some seconds, and the browser's log."""
    options = ("--virtual-time-budget=5000", "--dump-dom", page.as_uri())
    done = subprocess.run(build_call(folder, *options), capture_output=True, text=True, timeout=240)
    return done.stdout, done.stderr


class Listener(http.server.HTTPServer):
    """A server on this machine to which a page posts what it has to say: however long the browser takes for it."""

    timeout = 240

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Post)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.heard = ""


class Post(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.heard = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


def heard(page: Path, folder: Path, listener: Listener, *options: str) -> tuple[str, str]:
    """What a page posts, and the browser's log."""
    with (folder / "log").open("w+") as log:
        command = build_call(folder, "--remote-debugging-port=0", *options, page.as_uri())
        browser = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)
        try:
            listener.handle_request()
        finally:
            browser.terminate()
            browser.wait(30)
        log.seek(0)
        return listener.heard, log.read()


def pages_of(report: Path) -> list[Path]:
    pages = [*sorted(report.glob("*.html")), report.with_name(f"{report.name}.html")]
    assert {"index.html", "stability.html", "report.html"} <= {page.name for page in pages}
    return pages


# Every page is seen in each scheme and in each width once: colours depend on the one, what runs off on the other, other
# barriers on neither. The one file holds all pages again and has their style: axe looks at its shape alone, once.
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_stands_alone_fits_and_has_no_barrier(report_folder, scheme, width, tmp_path):
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
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    of_page, of_one_file = ("looks", "none") if dark else ("all", "shape")
    tasks = [*(of_page for _ in pages[:-1]), of_one_file]
    frames = [FRAME.format(page=page.name, width=width, task=task) for page, task in zip(pages, tasks, strict=True)]
    with Listener() as listener:
        text = FRAMES.format(frames="".join(frames), count=len(frames), address=listener.address)
        (tmp_path / "frames.htm").write_text(text, encoding="utf-8")
        said, log = heard(tmp_path / "frames.htm", tmp_path, listener, *dark)
    assert said, log[-2000:]
    for report in json.loads(said):
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


CHOOSE = """<script>addEventListener("load", () => {
  const box = document.querySelector(".models input"), model = box.className.replace("show-", "");
  const mark = document.querySelector(`figure > .wide circle.${model}`), row = document.querySelector(`tr.${model}`);
  const seen = () => [getComputedStyle(mark).opacity, getComputedStyle(row).display];
  document.querySelectorAll("details").forEach(part => part.open = true);
  const before = seen();
  box.click();
  const links = [...document.querySelectorAll(".saved a")].map(link => link.getAttribute("href"));
  document.title = JSON.stringify([before, seen(), mark.textContent, links]);
});</script>"""


def test_choosing_models_hides_marks_and_rows_without_a_script_and_figures_link_their_files(report_folder, tmp_path):
    bare = POLICY.sub("", (report_folder / "stability.html").read_text(encoding="utf-8"))
    bare = SCRIPT.sub("", bare)  # the page's own script has no part in it
    (tmp_path / "stability.html").write_text(bare + CHOOSE, encoding="utf-8")
    shown, _ = browse(tmp_path / "stability.html", tmp_path)
    before, after, told, links = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", shown)[1]))
    assert before == ["1", "table-row"]
    assert after == ["0.06", "none"]
    assert re.search(r": −?\d", told)
    assert links
    assert [link for link in links if not (report_folder / link).is_file()] == []
    assert 'class="saved"' not in report_folder.with_name(f"{report_folder.name}.html").read_text(encoding="utf-8")
