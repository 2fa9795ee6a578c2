"""Install a wheel of Waver alone, in an empty environment outside the checkout, and do there what a new user does.

    python tests/whole/try_wheel.py dist/waver_lm-0.2.0-py3-none-any.whl    # `make release`

It installs the wheel with the extras that README names, then asks the demo models, writes a report, runs a copied
notebook, exports, and counts in Python. A folder `analysis` of the user's own lies there, too. Every command is printed
with its seconds; exit status 1 at the first that fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = "models,notebooks,excel,api"  # as README's install has them
TOP_LEVEL = {"analysis", "ground", "inference", "waver.py", "waver_inspect"}
LARGEST = 20_000_000  # bytes of the wheel
COUNT_ROWS = "import waver; run = waver.open('r'); table = run.table('stability'); print(len(table)); assert len(table)"
STEPS = (
    ("waver", "--version"),
    ("waver", "run", "agreement", "--items", "demo", "--model", "demo", "--out", "r"),
    ("waver", "report", "r", "--out", "rep"),
    ("waver", "notebooks", "mine"),
    ("papermill", "-k", "python3", "mine/stability.ipynb", "changed.ipynb", "-r", "runs", "r", "-r", "out", "results"),
    ("waver", "export", "r", "--as", "csv", "--out", "tidy"),
    ("python", "-c", COUNT_ROWS),
)
WRITTEN = (
    "r/run.json",
    "rep/index.html",
    "rep/stability.html",
    "changed.ipynb",
    "results/tables/stability.csv",
    "tidy",
)


def main(wheel: Path) -> int:
    """Check what the wheel holds, install it, make the steps, and return the exit status."""
    check_contents(wheel)
    with tempfile.TemporaryDirectory(prefix="waver-wheel-") as folder:
        environment, work = Path(folder, "env"), Path(folder, "work")
        (work / "analysis").mkdir(parents=True)
        (work / "analysis" / "notes.txt").write_text("a folder of the user's own\n", encoding="utf-8")
        run_step((sys.executable, "-m", "venv", str(environment)), work, environment)
        run_step(
            ("pip", "install", "-qq", "--constraint", str(ROOT / "constraints.txt"), f"{wheel.resolve()}[{EXTRAS}]"),
            work, environment,
        )  # fmt: skip
        for step in STEPS:
            run_step(step, work, environment)
        missing = [path for path in WRITTEN if not (work / path).exists()]
        if missing:
            raise SystemExit(f"the steps did not write {', '.join(missing)}")
    print("the wheel works alone")
    return 0


def check_contents(wheel: Path) -> None:
    """Refuse a wheel that is too large, or that puts more into site-packages than its own packages."""
    size = wheel.stat().st_size
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if not re.match(r"[^/]+\.dist-info/", name)}
    training = [name for name in names if "demo_training" in name]
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {len(names)} files, top level: {', '.join(sorted(tops))}")
    if size > LARGEST or tops != TOP_LEVEL or training:
        raise SystemExit(f"{wheel.name}: above {LARGEST / 1e6:.0f} MB, or more than {sorted(TOP_LEVEL)}; {training}")


def run_step(step: tuple[str, ...], work: Path, environment: Path) -> None:
    """Run a command in the environment alone: no variable of this process leads it back to the checkout."""
    folder = environment / ("Scripts" if os.name == "nt" else "bin")
    left_out = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
    variables = {name: value for name, value in os.environ.items() if name not in left_out}
    variables |= {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HF_HUB_OFFLINE": "1"}
    program = Path(folder, step[0])
    start = time.perf_counter()
    done = subprocess.run(
        (str(program) if program.exists() else step[0], *step[1:]), cwd=work, env=variables, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    print(f"{time.perf_counter() - start:6.1f} s  {' '.join(step)}", flush=True)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise SystemExit(f"exit status {done.returncode}: {' '.join(step)}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
