"""Count what several annotators said about pairs of sentences: labels that most give, and how far they agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.pages.negation.dataset import LABELS
from analysis.pages.negation.rows import ENDINGS, Row, read_dataset_rows_with_file_location
from ground.errors import InputError, format_quantity, shorten_to_one_line

LEAST = 2  # annotators who must give a label (Yoshida et al., section 3.1.2)
ANNOTATOR = "annotator"
"""What the columns of a sheet begin with that hold labels."""
SENTENCES = (("premise", "sentence1"), ("hypothesis", "sentence2"))
"""The two sentences, as a sheet and as JNLI-Neg call them."""


@dataclass(frozen=True)
class Agreement:
    """What several annotators gave.

    Attributes
    ----------
    n_annotated
        Pairs with a label of anyone.
    n_adjudicated
        Pairs with a label that most annotators give (`find_majority_label`).
    kappa
        Fleiss' kappa over the pairs that all annotators labelled; None where it is undefined.
    why
        Why there is no kappa; or, where it is not over all pairs, over how many it is; else empty.
    """

    n_annotated: int
    n_adjudicated: int
    kappa: float | None
    why: str = ""


def compute_annotator_agreement_over_files(folder: Path) -> Agreement:
    """Read all files of a folder and of those in it: JSON lines with `labels`, or sheets with columns `annotator_1` ...

    Raises
    ------
    InputError
        For a folder without such files, a row without labels, a label that is none of the three, and two rows about
        the same pair of sentences.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one with annotations ({', '.join(ENDINGS)})")
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    if not files:
        raise InputError(f"{folder}: there are no annotations in it ({', '.join(ENDINGS)})")
    rows = [row for file in files for row in read_dataset_rows_with_file_location(file)]
    _refuse_repeated_sentence_pairs(rows)
    label_rows = [parse_annotator_labels(row) for row in rows]
    given_labels = [[label for label in row if label] for row in label_rows]
    kappa, why = compute_fleiss_kappa_and_note(given_labels, max(map(len, label_rows), default=0))
    return Agreement(
        sum(map(bool, given_labels)), sum(find_majority_label(row) is not None for row in given_labels), kappa, why
    )


def _refuse_repeated_sentence_pairs(rows: Iterable[Row]) -> None:
    """Refuse two rows about one pair of sentences, such as two sheets of two annotators: it would count twice."""
    places_by_sentences: dict[str, str] = {}
    for where, fields in rows:
        sides = [fields.get(premise, fields.get(published)) for premise, published in SENTENCES]
        first = where if None in sides else places_by_sentences.setdefault(json.dumps(sides), where)
        if first is not where:
            raise InputError(
                f"{where}: the same two sentences are in {first}; put the labels of all annotators into one row, in "
                f"columns {ANNOTATOR}_1, {ANNOTATOR}_2 ..."
            )


def find_majority_label(row_labels: Sequence[str]) -> str | None:
    """Return the label of more than half of the annotators and at least two of them; None: no such label."""
    label, votes = Counter(row_labels).most_common(1)[0] if row_labels else ("", 0)
    return label if votes >= LEAST and 2 * votes > len(row_labels) else None


def compute_fleiss_kappa_and_note(label_rows: Sequence[Sequence[str]], n_annotators: int) -> tuple[float | None, str]:
    """Compute Fleiss' kappa over the pairs that all annotators labelled.

    Parameters
    ----------
    label_rows
        For every pair, the labels that it was given.
    n_annotators
        How many annotators there are.

    Returns
    -------
    tuple
        Kappa, None where it is undefined; and why, or, where it is not over all pairs, over how many it is.

    References
    ----------
    Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 378-382.
    """
    complete_rows = [row for row in label_rows if len(row) == n_annotators]
    if n_annotators < LEAST:
        return None, f"kappa needs {LEAST} annotators or more, here {'is one' if n_annotators else 'are none'}"
    if not complete_rows:
        return None, f"no pair has labels of all {n_annotators} annotators, so there is no kappa"
    if len({label for row in complete_rows for label in row}) < 2:
        return None, "all labels are the same, so kappa is undefined"
    from statsmodels.stats.inter_rater import fleiss_kappa

    kappa = float(fleiss_kappa([[row.count(label) for label in LABELS] for row in complete_rows]))
    n_incomplete = len(label_rows) - len(complete_rows)
    return (
        kappa,
        f"kappa is over {format_quantity(len(complete_rows), 'pair')}; "
        f"{format_quantity(n_incomplete, 'lacks', 'lack')} a label of an annotator"
        if n_incomplete
        else "",
    )


def parse_annotator_labels(row: Row) -> list[str]:
    """Return the labels of a row, one per annotator; "" where an annotator gave none.

    Raises
    ------
    InputError
        For a row without labels, and for a label that is none of `dataset.LABELS`.
    """
    where, fields = row
    cells = fields.get("labels", {name: cell for name, cell in fields.items() if name.startswith(ANNOTATOR)})
    if not isinstance(cells, dict) or not cells:
        raise InputError(f"{where}: there are no labels; give `labels` of annotators, or columns {ANNOTATOR}_1 ...")
    row_labels = []
    for name, cell in cells.items():
        label = (cell or "").strip().lower() if isinstance(cell, str | None) else cell
        if label not in ("", *LABELS):
            raise InputError(
                f"{where}: {name} is {shorten_to_one_line(repr(cell))}; it must be one of {', '.join(LABELS)}, or empty"
            )
        row_labels.append(label)
    return row_labels
