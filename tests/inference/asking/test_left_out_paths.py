"""run.json says for how many responses paths of tokens were not followed, and what they may have at most."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from ground.errors import RunFailed
from inference.__main__ import main
from inference.asking import one_model
from inference.engines.exact.followed_paths import ALL_NEGLIGIBLE
from inference.runfolder.store import Run

pytestmark = pytest.mark.slow


def read_entry(folder: Path) -> tuple[list[str], dict]:
    (model,) = json.loads((folder / "run.json").read_text())["models"].values()
    *parts, entry = model["shortcuts"]
    return parts, entry


def test_responses_of_all_sessions_are_counted(tmp_path: Path) -> None:
    call = ["run", "scale", "--items", "demo", "--model", "demo", "--labels", "words", "--out", str(tmp_path / "run")]
    assert main([*call, "--limit", "1"]) == 0
    parts, first = read_entry(tmp_path / "run")
    assert "head" in parts
    assert first["name"] == "paths left out"
    assert first["responses"] > 0
    assert 0 < first["largest_share"] <= ALL_NEGLIGIBLE
    assert main([*call, "--limit", "2"]) == 0
    _, second = read_entry(tmp_path / "run")
    assert second["responses"] > first["responses"]
    assert second["largest_share"] >= first["largest_share"]
    assert main([*call, "--limit", "2"]) == 0  # nothing is left to ask
    assert read_entry(tmp_path / "run")[1] == second


def test_a_full_disk_is_what_a_user_reads_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Neither rows nor the entry can be written: the line on the rows says what to do."""

    def write_nothing(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    begin = one_model._ask_model_rounds

    def fill_disk_while_asking(*args: Any) -> Any:
        begin(*args)
        monkeypatch.setattr(Run, "add_model", write_nothing)
        raise RunFailed("rows could not be written: make room")

    monkeypatch.setattr(one_model, "_ask_model_rounds", fill_disk_while_asking)
    call = ["run", "scale", "--items", "demo", "--model", "demo", "--labels", "words", "--out", str(tmp_path / "run")]
    assert main([*call, "--limit", "1"]) == 1
    assert "rows could not be written: make room" in capsys.readouterr().err
