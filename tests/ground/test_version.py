"""The version says the commit, and whether a file was changed since."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from ground import version

ROOT = Path(__file__).parents[2]


def call_git(checkout: Path, *words: str) -> str:
    name = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", "-C", str(checkout), *name, *words], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    call_git(tmp_path, "init", "-q")
    (tmp_path / "code.py").write_text("1\n")
    call_git(tmp_path, "add", "code.py")
    call_git(tmp_path, "commit", "-qm", "Add code")
    return tmp_path


def test_a_checkout_has_its_commit_and_is_dirty_once_a_file_is_changed(checkout: Path) -> None:
    commit = call_git(checkout, "rev-parse", "HEAD")[:10]
    (checkout / "results").write_text("not tracked")
    assert version.describe_commit(checkout) == f"g{commit}"
    (checkout / "code.py").write_text("2\n")
    assert version.describe_commit(checkout) == f"g{commit}.dirty"


def test_a_folder_inside_a_checkout_of_the_user_has_no_commit(checkout: Path) -> None:
    (checkout / "site-packages").mkdir()
    assert version.describe_commit(checkout / "site-packages") == ""


def test_without_git_or_a_commit_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call_git(tmp_path, "init", "-q")
    assert version.describe_commit(tmp_path) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert version.describe_commit(tmp_path) == ""


def test_the_version_is_the_release_with_the_commit() -> None:
    commit = version.describe_commit(ROOT)
    release = metadata.version(version.DISTRIBUTION)
    version.read_waver_version.cache_clear()
    assert version.read_waver_version() == (f"{release}+{commit}" if commit else release)


@pytest.mark.slow
def test_a_wheel_carries_the_commit(tmp_path: Path) -> None:
    commit = version.describe_commit(ROOT)
    if not commit:
        pytest.skip("this is no git checkout")
    call = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(f"ground/{version.COMMIT_FILE}").decode() == commit
