"""Count what several annotators said about pairs of sentences: labels that most give, and how far they agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.pages.negation.dataset import LABELS
from analysis.pages.negation.rows import ENDINGS, Row, read
from ground.errors import InputError, short

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
    annotated
        Pairs with a label of anyone.
    adjudicated
        Pairs with a label that most annotators give (`majority`).
    kappa
        Fleiss' kappa over the pairs that all annotators labelled; None where it is undefined.
    why
        Why there is no kappa, or over how many pairs it is where that are not all; else empty.
    """

    annotated: int
    adjudicated: int
    kappa: float | None
    why: str = ""


def agreement(folder: Path) -> Agreement:
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
    rows = [row for file in files for row in read(file)]
    _refuse_twice(rows)
    given = [labels(row) for row in rows]
    said = [[label for label in row if label] for row in given]
    kappa, why = fleiss(said, max(map(len, given), default=0))
    return Agreement(sum(map(bool, said)), sum(majority(row) is not None for row in said), kappa, why)


def _refuse_twice(rows: Iterable[Row]) -> None:
    """Refuse two rows about one pair of sentences, such as two sheets of two annotators: it would count twice."""
    seen: dict[str, str] = {}
    for where, given in rows:
        sides = [given.get(premise, given.get(published)) for premise, published in SENTENCES]
        first = where if None in sides else seen.setdefault(json.dumps(sides), where)
        if first is not where:
            raise InputError(
                f"{where}: the same two sentences are in {first}; put the labels of all annotators into one row, in "
                f"columns {ANNOTATOR}_1, {ANNOTATOR}_2 ..."
            )


def majority(given: Sequence[str]) -> str | None:
    """Return the label of more than half of the annotators and at least two of them; None: no such label."""
    label, votes = Counter(given).most_common(1)[0] if given else ("", 0)
    return label if votes >= LEAST and 2 * votes > len(given) else None


def fleiss(given: Sequence[Sequence[str]], annotators: int) -> tuple[float | None, str]:
    """Compute Fleiss' kappa over the pairs that all annotators labelled.

    Parameters
    ----------
    given
        For every pair, the labels that it was given.
    annotators
        How many annotators there are.

    Returns
    -------
    tuple
        Kappa, None where it is undefined; and why, or over how many pairs it is where that are not all.

    References
    ----------
    Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 378-382.
    """
    whole = [row for row in given if len(row) == annotators]
    if annotators < LEAST:
        return None, f"kappa needs {LEAST} annotators or more, here {'is one' if annotators else 'are none'}"
    if not whole:
        return None, f"no pair has labels of all {annotators} annotators, so there is no kappa"
    if len({label for row in whole for label in row}) < 2:
        return None, "all labels are the same, so kappa is undefined"
    from statsmodels.stats.inter_rater import fleiss_kappa

    kappa = float(fleiss_kappa([[row.count(label) for label in LABELS] for row in whole]))
    rest = len(given) - len(whole)
    return kappa, f"kappa is over {len(whole):,} pairs; {rest:,} lack a label of an annotator" if rest else ""


def labels(row: Row) -> list[str]:
    """Return the labels of a row, one per annotator; "" where an annotator gave none."""
    where, given = row
    cells = given.get("labels", {name: cell for name, cell in given.items() if name.startswith(ANNOTATOR)})
    if not isinstance(cells, dict) or not cells:
        raise InputError(f"{where}: there are no labels; give `labels` of annotators, or columns {ANNOTATOR}_1 ...")
    found = []
    for name, cell in cells.items():
        label = (cell or "").strip().lower() if isinstance(cell, str | None) else cell
        if label not in ("", *LABELS):
            raise InputError(f"{where}: {name} is {short(repr(cell))}; it must be one of {', '.join(LABELS)}, or empty")
        found.append(label)
    return found
