"""Tell whose log a path is: of Inspect, lm-eval or HELM, by its name and by what a folder holds."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

from ground.errors import InputError

_PATTERNS = {
    "helm": ("scenario_state.json", "*/scenario_state.json"),
    "lm-eval": ("**/samples_*.jsonl",),
    "inspect": ("**/*.eval",),
}  # the importer -> what a folder of its logs holds
_RESULTS = "results_"
_FIRST_OF_INSPECT = (b'"version"', b'"status"', b'"eval"')  # what a .json log of Inspect begins with
_BEGINNING = 2_000  # bytes


def list_import_arguments_of_log(path: Path) -> list[str] | None:
    """Find the call that imports a log with its scores, without the run folder that it writes.

    Parameters
    ----------
    path
        A file or a folder.

    Returns
    -------
    list of str
        The words after `waver`; None for a path that is no log, such as a run folder.

    Raises
    ------
    InputError
        A folder holds logs of several kinds, or a results file of lm-eval has no samples.
    """
    if path.is_dir():
        return _list_import_arguments_of_log_folder(path)
    if not path.is_file():
        return None
    if path.suffix == ".jsonl" and path.name.startswith("samples_"):
        return ["import", "lm-eval", _prefix_path_beginning_with_hyphen(path), "--scores"]
    if path.suffix == ".json" and path.name.startswith(_RESULTS):
        samples = sorted(path.parent.glob(f"samples_*_{path.stem.removeprefix(_RESULTS)}.jsonl"))
        if not samples:
            raise InputError(f"{path}: no samples_*.jsonl of its date beside it; run lm-eval with --log_samples")
        return ["import", "lm-eval", *map(_prefix_path_beginning_with_hyphen, samples), "--scores"]
    return (
        ["import", "inspect", _prefix_path_beginning_with_hyphen(path), "--scores"]
        if path.suffix.lower() in (".eval", ".json")
        else None
    )


def _list_import_arguments_of_log_folder(path: Path) -> list[str] | None:
    """Find the call that imports a folder of logs; None where it has none, or is a run folder."""
    if (path / "run.json").exists() or any(path.glob("*/run.json")):
        return None
    kinds = [kind for kind, patterns in _PATTERNS.items() if any(any(path.glob(pattern)) for pattern in patterns)]
    if len(kinds) > 1:
        raise InputError(f"{path}: holds logs of {' and of '.join(kinds)}; give one of them")
    if not kinds and any(map(_is_json_log_of_inspect, path.glob("**/*.json"))):
        kinds = ["inspect"]
    return ["import", kinds[0], _prefix_path_beginning_with_hyphen(path), "--scores"] if kinds else None


def _is_json_log_of_inspect(path: Path) -> bool:
    """Tell by its beginning whether a file is a .json log of Inspect."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING).removeprefix(BOM_UTF8)
    return beginning.lstrip().startswith(b"{") and all(field in beginning for field in _FIRST_OF_INSPECT)


def _prefix_path_beginning_with_hyphen(path: Path) -> str:
    """Write a path as a word of a call, which is no option where a name begins with -."""
    return f"./{path}" if str(path).startswith("-") else str(path)
