"""Import what lm-evaluation-harness logged with ``--log_samples``: `samples_*.jsonl` with `results_*.json` beside them.

An item is a document, by its hash. What varies between the files of a model and a task is the wording: the number of
examples, the ending of the task's name, a folder; `--variant-key` says it where that is not seen. All else is the
condition. Which files hold what is told by `lm_eval_files` and `lm_eval_wordings`, what a row says by `lm_eval_rows`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from inference.importers import saving

if TYPE_CHECKING:
    from inference.importers.lm_eval_rows import Rows
    from inference.importers.lm_eval_wordings import Asked
    from inference.importers.logged import Logged

COMMAND = "import lm-eval"
HELP = "import what lm-evaluation-harness logged with --log_samples (samples_*.jsonl and results_*.json)"

EXAMPLE = "example: waver import lm-eval results/0shot results/5shot --out RUN --language en"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options of ``waver import lm-eval``."""
    parser.epilog = EXAMPLE
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="samples_TASK_DATE.jsonl files or folders of them, each with its results_DATE.json; NAME=PATH names the "
        "model",
    )
    parser.add_argument(
        "--item-key", metavar="KEY", help="what tells the items apart: doc_hash (default), doc_id or doc.FIELD"
    )
    parser.add_argument(
        "--variant-key",
        metavar="KEY",
        nargs="+",
        default=[],
        help="what tells the wordings apart: shots, task (the ending of its name), folder, doc.FIELD, or several "
        "(default: what varies between the files of a model and a task)",
    )
    parser.add_argument(
        "--right-or-wrong",
        action="store_true",
        help="keep of a choice only whether it is right; so choices and texts are one study",
    )
    saving.add_arguments(parser)


def main(args: argparse.Namespace) -> None:
    """Import logs of lm-eval into a run folder.

    Raises
    ------
    InputError
        In one line with file and row: a damaged row, no results file, two runs of one task ...
    """
    from inference.importers import lm_eval_files
    from inference.importers.lm_eval_rows import Rows
    from inference.importers.lm_eval_wordings import arrange
    from inference.importers.logged_study import save_log

    arranged = arrange(lm_eval_files.find(args.paths), args.variant_key)
    conditions: dict[str, dict[str, Any]] = {}
    read = [Rows(asked, args.item_key, args.right_or_wrong, conditions) for asked in arranged]
    about = {asked.file.model: asked.file.about for asked in arranged}
    lines = save_log(args, args.paths, _all(read), conditions, _fingerprints(arranged, args), about)
    saving.tell([*lines, *_short(read)])


def _all(read: Sequence[Rows]) -> Iterator[Logged]:
    for rows in read:
        yield from rows


def _fingerprints(arranged: Sequence[Asked], args: argparse.Namespace) -> dict[str, str]:
    """Compute the fingerprint of every model's files, so that others may join them."""
    settings = {"importer": "lm-eval", "item_key": args.item_key, "outcomes": args.right_or_wrong}
    files: dict[str, list[Asked]] = {}
    for asked in arranged:
        files.setdefault(asked.file.model, []).append(asked)
    return {
        model: saving.fingerprint(
            [one.file.path for one in own], {**settings, "wordings": [(one.wording, one.condition) for one in own]}
        )
        for model, own in files.items()
    }


def _short(read: Sequence[Rows]) -> list[str]:
    """Say which files do not hold all that they should."""
    short = [rows for rows in read if rows.asked.file.samples not in (None, rows.docs)]
    notes = [
        f"{rows.asked.file.path.name}: {rows.docs:,} of the {rows.asked.file.samples:,} samples that its results file "
        "counts"
        for rows in short[:5]
    ]
    if len(short) > 5:
        notes.append(f"and {len(short) - 5:,} more files that do not hold as many samples as their results file counts")
    return notes
