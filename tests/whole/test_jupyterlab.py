"""The tour in a real JupyterLab, in a real browser: all cells run, the figure is seen, nothing fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.chromium import CHROMIUM, open_page
from helpers.commands import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (make test installs it)"),
    pytest.mark.skipif(find_spec("jupyterlab") is None, reason="no JupyterLab (extra notebooks)"),
]

NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
PANEL = "[...(window.jupyterapp?.shell.widgets('main') ?? [])].find(widget => widget.title.label == 'explore.ipynb')"
NOTEBOOK = f"({PANEL}).content"
READY = f"({PANEL})?.content.model?.cells.length && ({PANEL}).sessionContext.session?.kernel?.status == 'idle'"
CODE = f"[...{NOTEBOOK}.model.cells].filter(cell => cell.type == 'code')"
DONE = f"{CODE}.every(cell => cell.executionCount && cell.executionState != 'running')"
FAILED = f"{CODE}.some(cell => cell.outputs.toJSON().some(output => output.output_type == 'error'))"
FIGURE = "[...document.querySelectorAll('.jp-OutputArea-output :is(img, svg)')].some(e => e.clientWidth > 300)"


def find_server(folder: Path, server: subprocess.Popen, seconds: float = 60) -> dict:
    """What a server says of itself once it listens."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        for file in (folder / "runtime").glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text(encoding="utf-8"))
            except ValueError:  # it is being written
                pass
        time.sleep(0.2)
    raise AssertionError((folder / "server.log").read_text(encoding="utf-8")[-3000:])


@contextmanager
def start_jupyterlab(notebooks: Path, folder: Path) -> Iterator[dict]:
    """JupyterLab on this machine, with settings of its own; a token is drawn, and any free port is good."""
    settings = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS), encoding="utf-8")
    places = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
              "IPYTHONDIR": "ipython"}  # fmt: skip
    env = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    env |= {name: str(folder / place) for name, place in places.items()}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")]))
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--ServerApp.port=0",
        f"--ServerApp.root_dir={notebooks}", "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly", *(["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []),
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=notebooks, env=env, stdout=log, stderr=log)
        try:
            yield find_server(folder, server)
        finally:
            server.terminate()
            server.wait(30)


def test_all_cells_of_the_tour_run_in_jupyterlab_and_show_a_figure(tour_folder, tmp_path):
    """Once more: where the answers are there, the kernel needs no PyTorch."""
    notebooks, folder = tmp_path / "notebooks", tmp_path / "jupyter"
    shutil.copytree(tour_folder / "runs", notebooks / "runs")
    folder.mkdir()
    shutil.copy(ROOT / "notebooks" / "explore.ipynb", notebooks)
    with start_jupyterlab(notebooks, folder) as server:
        address = f"http://127.0.0.1:{server['port']}/lab/tree/explore.ipynb?token={server['token']}"
        with open_page(address, folder) as page:
            page.wait_for(READY, seconds=60)
            page.wait_for(f"jupyterapp.shell.currentWidget == {PANEL}", seconds=20)  # which the next command acts on
            # The command behind "Run", "Run All Cells". Nothing waits for it: the cells say when they are done.
            page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
            page.wait_for(f"{FAILED} || {DONE}", seconds=120)
            outputs = json.loads(page.evaluate(f"JSON.stringify({CODE}.map(cell => cell.outputs.toJSON()))"))
            shown = [output for outputs_of_cell in outputs for output in outputs_of_cell]
            assert [output for output in shown if output["output_type"] == "error"] == []
            (number,) = [
                place
                for place, cell in enumerate(outputs)
                if any("image/svg+xml" in output.get("data", {}) for output in cell)
            ]
            page.evaluate(
                f"void {NOTEBOOK}.scrollToCell({NOTEBOOK}.widgets.filter(w => w.model.type == 'code')[{number}])"
            )
            page.wait_for(FIGURE, seconds=20)
            page.save_screenshot(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 20_000
    assert (notebooks / "effects.csv").is_file()
