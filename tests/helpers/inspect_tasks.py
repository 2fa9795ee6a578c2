"""Ask tasks of `waver_inspect` with Inspect's mock model, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers.commands import ROOT

PACKAGE = ROOT / "inference" / "protocols" / "choice" / "waver_inspect"
# What a mock model without usage needs would be fetched to count tokens by, so the usage is said.
ASK = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

def answer(messages, tools, tool_choice, config):
    text = messages[-1].text
    output = ModelOutput.from_content("mockllm", "ANSWER: " + ("A" if "Say" in text else "B"))
    output.usage = ModelUsage()
    return output

task, arguments, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
(log,) = eval(task, model=get_model("mockllm/model", custom_outputs=answer), task_args=arguments, log_dir=folder,
              display="plain")
print(log.status)
"""


def install_task_package(folder: Path) -> Path:
    """Copy the package to where Inspect takes it for an installed one, with the entry that pyproject.toml has."""
    site = folder / "site-packages"
    shutil.copytree(PACKAGE, site / "waver_inspect", ignore=shutil.ignore_patterns("__pycache__"))
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    about = site / "waver_inspect-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: waver-inspect\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{name} = {module}" for name, module in entries["inspect_ai"].items()]
    (about / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines, ""]), encoding="utf-8")
    return site


def ask_task(site: Path, folder: Path, **arguments: Any) -> subprocess.CompletedProcess[str]:
    """Ask `waver_inspect/reworded`; logs go to `folder / "logs"`."""
    return call_inspect(
        site, folder, [sys.executable, "-c", ASK, "waver_inspect/reworded", json.dumps(arguments), "logs"]
    )


def call_inspect(site: Path, folder: Path, call: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a call in a folder, with the package installed."""
    paths = os.pathsep.join([str(ROOT), str(site)])
    return subprocess.run(
        call, cwd=folder, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "INSPECT_LOG_LEVEL": "warning"},
    )  # fmt: skip
