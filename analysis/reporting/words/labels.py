"""Name the rows of a table for figures, sentences and printed tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.thresholds import is_validity_below_half

UNIT = ["study", "model", "condition"]
SEPARATOR = " · "
ON_OPTIONS = "on the options (or of the texts can be read as one)"  # what a model must do to be judged
LEAD = 30  # characters that a word before a colon may have
SILENT = " °"  # ends the label of a model that is not judged (`thresholds.is_validity_below_half`)


def build_row_labels(frame: pd.DataFrame) -> pd.Series:
    """Return for each row of a frame an unambiguous name of its model x condition (x study).

    The name is the model's id, whole: tables, sentences and figures call it the same. The condition is added where the
    model was asked under several, the study where the frame holds several: of these a label does not say what all other
    labels say. A row whose column `silent` is true gets the mark `SILENT`. The frame has columns `model` and, where
    they apply, `condition`, `study` and `silent`; the names are aligned with it.
    """
    units, which = _factorize_rows(frame, [name for name in (*UNIT, "silent") if name in frame])
    return pd.Series(_build_unit_labels(units).to_numpy()[which], frame.index)


def _factorize_rows(frame: pd.DataFrame, columns: list[str]) -> tuple[pd.DataFrame, npt.NDArray[np.intp]]:
    """Return the different values of some columns, and which of them each row has: there may be a million rows."""
    which = frame.groupby(columns, sort=False, observed=True, dropna=False).ngroup()
    return frame.loc[(~which.duplicated()).to_numpy(), columns], which.to_numpy()


def _build_unit_labels(units: pd.DataFrame) -> pd.Series:
    """Return the label of every unit: its model, and condition and study where they tell units apart."""
    label = units["model"].astype(str)
    if "condition" in units:
        several = units.groupby("model", observed=True)["condition"].transform("nunique") > 1
        label = label.where(~several, label + SEPARATOR + units["condition"].astype(str))
    if "study" in units and units["study"].nunique() > 1:
        label = label + SEPARATOR + units["study"].astype(str)
    return label + units["silent"].map({True: SILENT, False: ""}) if "silent" in units else label


def phrase_condition_name(name: str, settings: Mapping[str, Any]) -> str:
    """Name a condition for a reader: a bare number in the name of an imported one stands behind its setting.

    Parameters
    ----------
    name
        As in run.json.
    settings
        Those of the condition.

    >>> phrase_condition_name("0/bits", {"form": "import", "temperature": "0", "measure": "bits"})
    'temperature 0/bits'
    >>> phrase_condition_name("0/0", {"form": "import", "temperature": "0", "shots": "0"})
    'temperature 0/shots 0'
    """
    if settings.get("form") != "import":
        return name
    numbers = [(key, str(value)) for key, value in settings.items() if str(value).replace(".", "").isdigit()]
    parts = []
    for part in name.split("/"):  # an import joins the values in the order of its settings
        setting = next((key for key, number in numbers if number == part), None)
        if setting is not None:
            numbers.remove((setting, part))
        parts.append(part if setting is None else f"{setting} {part}")
    return "/".join(parts)


def rename_conditions_for_readers(frame: pd.DataFrame, conditions: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows in which conditions of imports have the names that readers see (`phrase_condition_name`).

    Parameters
    ----------
    frame
        Rows of a table; those without the column `study` stay as they are.
    conditions
        Study -> condition -> its settings.
    """
    if "study" not in frame:
        return frame
    renamed_columns = {
        column: [
            phrase_condition_name(name, conditions.get(study, {}).get(name, {}))
            for study, name in zip(frame["study"], frame[column], strict=True)
        ]
        for column in ("condition", "a_condition", "b_condition")
        if column in frame
    }
    return frame.assign(**renamed_columns)


def describe_interval_lines(frame: pd.DataFrame, these: tuple[str, str]) -> str:
    """Say in a caption what the lines are that show two intervals: one line where both are the same, or one is unknown.

    Parameters
    ----------
    frame
        The rows that are drawn; `like_lower` and `like_upper`: the interval for wordings like these.
    these
        Columns with the ends of the interval for these wordings.

    Returns
    -------
    str
        One sentence or two.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"lower": [0.1], "upper": [0.3], "like_lower": [0.1], "like_upper": [0.3]})
    >>> describe_interval_lines(frame, ("lower", "upper"))
    'Lines: 95 % intervals, which are the same for these wordings and for wordings like these.'
    >>> describe_interval_lines(frame.assign(like_lower=float("nan"), like_upper=float("nan")), ("lower", "upper"))
    'Lines: 95 % intervals for these wordings, with items drawn anew.'
    >>> describe_interval_lines(frame * float("nan"), ("lower", "upper"))
    'No lines: there are no intervals.'
    >>> describe_interval_lines(frame.assign(like_lower=0.0), ("lower", "upper")).partition(";")[2]
    ' thin lines: for wordings like these, with other wordings, too.'
    """
    ends, like_ends = frame[list(these)].to_numpy(float), frame[["like_lower", "like_upper"]].to_numpy(float)
    if np.isnan(ends).all() and np.isnan(like_ends).all():
        return "No lines: there are no intervals."
    if np.isnan(like_ends).all():
        return "Lines: 95 % intervals for these wordings, with items drawn anew."
    if np.allclose(ends, like_ends, equal_nan=True):
        return "Lines: 95 % intervals, which are the same for these wordings and for wordings like these."
    return (
        "Thick lines: 95 % intervals for these wordings, with items drawn anew; thin lines: for wordings like these, "
        "with other wordings, too."
    )


def explain_mark_of_unjudged_models(frame: pd.DataFrame, shortage: str = "") -> str:
    """Say in a caption what `SILENT` means; empty where no row of the frame has it.

    Parameters
    ----------
    frame
        The rows that are drawn.
    shortage
        Of what there is less than half, where validity is another share than that of the probability or of the texts
        read: such as "less than half of the answers are valid".

    Returns
    -------
    str
        A sentence behind a blank.
    """
    if "silent" not in frame or not frame["silent"].any():
        return ""
    reason = shortage or f"less than half of the probability is surely {ON_OPTIONS}"
    return f" {SILENT.strip()}: {reason}, so the model is not ranked."


def add_nonanswering_unit_column(
    frame: pd.DataFrame, validity_table: pd.DataFrame, column_prefix: str = ""
) -> pd.DataFrame:
    """Add column `silent` to rows about models.

    Parameters
    ----------
    frame
        Has columns study, model, condition, or with a `column_prefix` such as "a_": study, a_model, a_condition.
    validity_table
        Columns study, model, condition, validity.
    column_prefix
        Beginning of the columns' names, such as "a_"; empty for none.

    Returns
    -------
    The frame with `silent` (with a `column_prefix` "a_": `a_silent`): whether a unit is not judged
    (`thresholds.is_validity_below_half`).
    """
    units = validity_table.drop_duplicates(UNIT).set_index(UNIT)["validity"]
    rows, which = _factorize_rows(frame, ["study", f"{column_prefix}model", f"{column_prefix}condition"])
    validity = units.reindex(pd.MultiIndex.from_frame(rows)).to_numpy(float)[which]
    return frame.assign(**{f"{column_prefix}silent": is_validity_below_half(pd.Series(validity, frame.index))})


def build_labels_of_both_sides_of_pairs(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return labels `a` and `b` for the pairs of table `differences`: a model has one name on both sides."""
    names = [*UNIT, "silent"] if "a_silent" in frame else UNIT
    sides = {side: frame[["study", *(f"{side}_{name}" for name in names[1:])]].set_axis(names, axis=1) for side in "ab"}
    units = pd.concat(sides.values()).drop_duplicates()
    labels_by_unit = units.assign(label=build_row_labels(units))
    return {side: part.merge(labels_by_unit, how="left")["label"].set_axis(frame.index) for side, part in sides.items()}


def shorten_middle(text: str, length: int) -> str:
    """Cut the middle out of a text that is too long; ids often differ at their ends only.

    Parameters
    ----------
    text
        The text.
    length
        Most characters, the ellipsis included.

    Returns
    -------
    The text, with "…" in place of what was cut.
    """
    if len(text) <= length:
        return text
    head = (length - 1) // 2
    return f"{text[:head]}…{text[len(text) - (length - 1 - head) :]}"


def shorten_but_keep_distinct(texts: Sequence[str], length: int) -> list[str]:
    """Shorten names that are shown together, but leave them long enough that different names stay different.

    Parameters
    ----------
    texts
        The names.
    length
        Most characters; more where different names would become the same.

    Returns
    -------
    The names, shortened, in their order.
    """
    longest = max(map(len, texts), default=0)
    while length < longest and len({shorten_middle(text, length) for text in texts}) < len(set(texts)):
        length += 4
    return [shorten_middle(text, length) for text in texts]


def take_first_words_after_shared_colon_prefix(texts: Sequence[str], length: int) -> list[str]:
    """Return the first words of texts that are shown together, without a lead such as "Question:" that all have.

    Parameters
    ----------
    texts
        The texts.
    length
        Most characters of each.

    Returns
    -------
    The first words of every text.

    >>> (take_first_words_after_shared_colon_prefix(["Question: Is tea good?", "Question: Is coffee good?"], 12),
    ...  take_first_words_after_shared_colon_prefix(["Q: one"], 12))
    (['Is tea good?', 'Is coffee…'], ['Q: one'])
    """
    leads = {text.partition(":")[0] for text in texts if ":" in text} if len(texts) > 1 else set()
    lead = f"{leads.pop()}:" if len(leads) == 1 else ""
    shared = bool(lead) and len(lead) < LEAD and all(text.startswith(lead) and text != lead for text in texts)
    return [take_first_words(text.removeprefix(lead) if shared else text, length) for text in texts]


def take_first_words(text: str, length: int) -> str:
    """Return the first words of a text.

    Parameters
    ----------
    text
        The text; blanks and line breaks become one blank.
    length
        Most characters, the ellipsis included.

    Returns
    -------
    Whole words where they fill half of the length, with "…" where more follows.
    """
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    word = cut.rsplit(" ", 1)[0]
    return (word if len(word) > length // 2 else cut).rstrip(" ,;:.") + "…"


def keep_ends_of_long_sequence(ordered_values: Sequence[Any], most: int) -> list[Any]:
    """Choose what a figure has room for: all of an order, or its two ends.

    Parameters
    ----------
    ordered_values
        Things in an order.
    most
        How many there is room for.

    Returns
    -------
    All, or the first and the last ones, as many of each; one more of the first if `most` is odd.
    """
    return (
        list(ordered_values)
        if len(ordered_values) <= most
        else [*ordered_values[: most - most // 2], *ordered_values[len(ordered_values) - most // 2 :]]
    )


def describe_shown_rows(n_shown: int, total: int, noun: str, which: str, ending: str = "; the table has all") -> str:
    """Say in a caption which rows or models a figure shows, where it has no room for all.

    Parameters
    ----------
    n_shown
        How many it has room for.
    total
        How many there are.
    noun
        What they are: "rows".
    which
        Which are shown: "most and least stable".
    ending
        How the sentence ends.

    Returns
    -------
    The sentence after a blank; empty where all are shown.

    >>> describe_shown_rows(24, 500, "rows", "most and least stable")
    ' Shown: the 24 most and least stable of 500 rows; the table has all.'
    """
    return f" Shown: the {n_shown} {which} of {total:,} {noun}{ending}." if total > n_shown else ""
