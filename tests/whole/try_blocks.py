"""Run every block of commands on the pages that is not marked as needing what a checkout does not have.

    python tests/whole/try_blocks.py                    # after `make report`; minutes
    python tests/whole/try_blocks.py docs/tutorial.md   # these pages only

Each page gets an empty folder, with the tables that it shows and, for runs that the reader is supposed to have, runs on
the demo models. Its blocks run there one after another, Python in one session as in a notebook. Left out are what `make
report` runs, benchmarks, and pages that a test follows. Every block is printed with its seconds; exit status 1 if any
fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

from helpers.blocks import DEMO, PAGES, ROOT, RUNS, Block, list_blocks  # noqa: E402

TESTED = {"CONTRIBUTING.md": "test_guide.py", "docs/extending.md": "test_extending.py"}
"""Pages that a test follows word by word, in a copy of the checkout or as a package."""
PYTHON_TESTED = "docs/python.md"  # its Python: test_python_page.py
ASK_STATEMENTS = "waver run agreement --items statements.csv --model demo --out runs/first --quiet"
BEFORE = {
    "docs/exporting.md": f"{ASK_STATEMENTS}; waver export runs/first --as croissant --out described",
    "docs/meaning.md": f"mkdir -p runs; cp -R {DEMO}/meaning runs/first",
    "docs/notebooks.md": "waver notebooks mine",
    "docs/python.md": "waver run agreement --items hedged.csv --model demo --out runs/hedged --quiet",
    "docs/results.md": ASK_STATEMENTS,
}
"""Commands of sentences around the blocks, or of other pages, which a page takes as done."""
TABLES = {"statements.csv": "README.md", "hedged.csv": "docs/notebooks.md", "plan.toml": "docs/run-files.md"}
"""File -> the page that shows it."""


def main(names: list[str]) -> int:
    """Run the blocks of these pages, or of all; return the exit status."""
    os.environ |= {
        "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        "HF_HUB_OFFLINE": "1", "MPLBACKEND": "agg", "COLUMNS": "100",
    }  # fmt: skip
    pages = [path for path in PAGES if (path.relative_to(ROOT).as_posix() in names or not names)]
    failed = [block for path in pages for block in run_page(path)]
    print(f"{len(failed)} blocks failed" if failed else "every block ran")
    return bool(failed)


def run_page(path: Path) -> list[Block]:
    """Run the blocks of a page in a folder of its own, and return those that failed."""
    page = path.relative_to(ROOT).as_posix()
    blocks = [block for block in list_blocks(path) if block.language and not block.needs]
    blocks = [block for block in blocks if not is_run_elsewhere(block)]
    if not blocks:
        return []
    with tempfile.TemporaryDirectory(prefix="waver-page-") as folder:
        prepare_folder(Path(folder), page, "\n".join(block.text for block in blocks))
        names: dict[str, object] = {}
        os.chdir(folder)
        return [block for block in blocks if not run_block(block, names)]


def is_run_elsewhere(block: Block) -> bool:
    """Say whether a test, `make report` or nobody but its author runs this block."""
    if block.page in TESTED or (block.page == PYTHON_TESTED and block.language == "python"):
        return True
    made = re.sub(r"\\\n\s*", "", (ROOT / "Makefile").read_text(encoding="utf-8")).replace("$(DEMO)", "results/demo")
    commands = block.list_commands() if block.language == "shell" else []
    return any("tests/benchmarks/" in line or f"$(BIN)/{line}" in made for line in map(" ".join, commands))


def prepare_folder(folder: Path, page: str, commands: str) -> None:
    """Put into a folder what the reader of the page has: tables that pages show, runs, and what the checkout has."""
    (folder / "results").mkdir()
    (folder / "results" / "demo").symlink_to(DEMO)
    (folder / "inference").symlink_to(ROOT / "inference")
    for name, shown_on in TABLES.items():
        text = (ROOT / shown_on).read_text(encoding="utf-8")
        block = next(block for block in list_blocks(ROOT / shown_on) if block.text.startswith(("item,", "out = ")))
        assert name in text
        (folder / name).write_text(f"{block.text}\n", encoding="utf-8")
    before = BEFORE.get(page, "")
    subprocess.run(["bash", "-ec", before], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for name, study in RUNS.items():
        is_written = re.search(rf"(--out |out=\"){name}(?![/\w-])", commands)
        if name in commands and not is_written and not (folder / name).exists():
            shutil.copytree(DEMO / study, folder / name)


def run_block(block: Block, names: dict[str, object]) -> bool:
    """Run a block, print its seconds, and where it fails what it said; return whether it ran."""
    start = time.perf_counter()
    if block.language == "shell":
        done = subprocess.run(["bash", "-ec", block.text], capture_output=True, text=True, check=False)
        said = "" if done.returncode == 0 else f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
    else:
        try:
            exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)
            said = ""
        except Exception:
            said = traceback.format_exc()
    print(f"{time.perf_counter() - start:6.1f} s  {block.page}:{block.line}{'  FAILED' if said else ''}", flush=True)
    if said:
        print(said, flush=True)
    return not said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
