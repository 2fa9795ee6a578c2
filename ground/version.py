"""Say which Waver this is: its release, and the commit that it was made from; and which other packages there are."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

from ground.extras import DISTRIBUTION

COMMIT_FILE = "commit.txt"  # in a wheel, beside this file; `hatch_build.py` writes it
_SECONDS = 10


@cache
def read_waver_version() -> str | None:
    """Read the version of Waver, such as 0.2.0+g5fc46a5dbe, or 0.2.0+g5fc46a5dbe.dirty where a file was changed.

    Returns
    -------
    str or None
        Without the commit where nothing tells it; None where Waver is not installed.
    """
    release = find_installed_version(DISTRIBUTION)
    if release is None:
        return None
    file = Path(__file__).with_name(COMMIT_FILE)
    commit = file.read_text(encoding="ascii").strip() if file.is_file() else describe_commit(Path(__file__).parents[1])
    return f"{release}+{commit}" if commit else release


def find_installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution without importing it, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def describe_commit(checkout: Path) -> str:
    """Ask git which commit a checkout has, and whether a file of it was changed since.

    Returns the local part of a version: g and ten digits, then .dirty where a tracked file was changed; empty without
    git or commit.
    """
    if not (checkout / ".git").exists():
        return ""
    try:
        commit = _run_git_command(checkout, "rev-parse", "--short=10", "HEAD")
        changes = _run_git_command(checkout, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"g{commit}{'.dirty' if changes else ''}"


def _run_git_command(checkout: Path, *words: str) -> str:
    """Return what git prints of a checkout."""
    command = ["git", "--no-optional-locks", "-C", str(checkout), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS).stdout.strip()
