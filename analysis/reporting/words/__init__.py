"""Write counts, shares, lists and cautions in words, the same way on every page."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.measures.thresholds import FEW_ITEMS, FEW_MODELS
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, WRONG, Caution
from analysis.statistics.interval import list_reasons_for_missing_intervals
from analysis.statistics.multiplicity import compute_smallest_p_after_holm
from analysis.statistics.significance import ROUNDING
from ground.errors import format_quantity, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs.parts import Part


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page says in words. The first screen shows `setup` and `verdict`, and links to the cautions.

    Attributes
    ----------
    setup
        What was asked of whom, in one sentence.
    verdict
        The answer: at most two sentences.
    cautions
        What weakens the answer.
    details
        Name of a figure or table of the page -> the sentences that are shown with it.
    support
        Whether the verdict stands on wordings of the same meaning, in one sentence (`words.meaning`); the first screen
        shows it below the verdict. Empty where nobody checked what they mean.
    explanation
        What a word of the verdict or of the first figure means, in plain words: at most 30, between verdict and figure.
        Empty where the words are those of everyday.
    varied
        That the number of examples varied, and not the wording (`words.shots`); empty elsewhere.
    """

    setup: str
    verdict: str
    cautions: tuple[str, ...] = ()
    details: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    support: str = ""
    explanation: str = ""
    varied: str = ""


def phrase_count_of_model_condition_pairs(frame: pd.DataFrame) -> str:
    """Write the number of rows about models: models, or models with what else tells the rows apart.

    >>> import pandas as pd
    >>> (phrase_count_of_model_condition_pairs(pd.DataFrame({"model": ["a", "b"]})),
    ...  phrase_count_of_model_condition_pairs(pd.DataFrame({"model": ["a", "a"]})))
    ('2 models', '2 combinations of model and condition')
    """
    unit = name_unit_of_rows(frame)
    if unit == "model":
        return format_quantity(len(frame), unit)
    return f"{format_quantity(len(frame), 'combination')} of {unit}"


def name_unit_of_rows(frame: pd.DataFrame) -> str:
    """Name what a row is about: a model, with the condition where one was asked under several, and so with the study.

    >>> import pandas as pd
    >>> keys = ["study", "model", "condition"]
    >>> def name(*units): return name_unit_of_rows(pd.DataFrame(map(list, units), columns=keys))
    >>> name("sax", "sbx"), name("sax", "say"), name("sax", "tax"), name("sax", "say", "tax")
    ('model', 'model and condition', 'model and study', 'model, condition and study')
    """
    if frame["model"].is_unique:
        return "model"
    if "study" not in frame or frame["study"].nunique() == 1 or not frame.duplicated(["model", "condition"]).any():
        return "model and condition"
    return "model, condition and study" if frame.duplicated(["model", "study"]).any() else "model and study"


def phrase_run_dates(info: Mapping[str, Any]) -> str:
    """Write the day on which some runs were made, or the first and the last, to end a sentence; imports are called so.

    `info`: what `run.json` holds (`Runs.info`).

    >>> phrase_run_dates({"models": {}, "sessions": [{"started": "2026-11-22T10:20:33+00:00"}]})
    ', on 22 November 2026'
    >>> days = [{"started": "2026-11-22"}, {"started": "2027-01-03"}]
    >>> phrase_run_dates({"models": {"m": {"engine": "import"}}, "sessions": days})
    ' (imported 22 November 2026 to 3 January 2027)'
    >>> phrase_run_dates({"models": {}, "sessions": [{"started": ""}]})
    ''
    >>> phrase_run_dates({"models": {}, "sessions": [{"started": "22.11.2026", "finished": "2026-11-22"}]})
    ', on 22 November 2026'
    """
    days = set()
    for stamp in (session.get(end) for session in info["sessions"] for end in ("started", "finished")):
        with suppress(ValueError):  # a run that another program wrote may have another text there
            days.add(datetime.date.fromisoformat((stamp or "")[:10]))
    if not days:
        return ""
    first, last = (f"{day.day} {day:%B %Y}" for day in (min(days), max(days)))
    dates = f"on {first}" if first == last else f"from {first} to {last}"
    engines = {fields.get("engine") for fields in info["models"].values()}
    return f" (imported {dates.removeprefix('from ')})" if engines == {"import"} else f", {dates}"


def list_wording_subsample_notes(info: Mapping[str, Any]) -> list[str]:
    """Say for which models only some wordings of every item, or pattern, were drawn; nothing where all were asked.

    `info`: what `run.json` holds (`Runs.info`).

    >>> draw = {"study": "s", "condition": "c", "seed": 0, "wordings": 40, "least": 120, "most": 120}
    >>> list_wording_subsample_notes({"drawn": [{**draw, "model": "m"}, {**draw, "model": "n", "least": 90}]})
    ['40 of 120 wordings per item, drawn by seed 0: m', '40 of 90 to 120 wordings per item, drawn by seed 0: n']
    >>> list_wording_subsample_notes({"drawn": []})
    []
    """
    models: dict[str, dict[str, None]] = {}
    for draw in info["drawn"]:
        least, most = f"{draw['least']:,}", f"{draw['most']:,}"
        total = most if least == most else f"{least} to {most}"
        unit = "item and pattern" if draw.get("per_pattern") else "item"
        sentence = f"{draw['wordings']:,} of {total} wordings per {unit}, drawn by seed {draw['seed']}"
        models.setdefault(sentence, {})[draw["model"]] = None
    return [f"{sentence}: {join_names(list(names))}" for sentence, names in models.items()]


def format_count_range(counts: pd.Series, noun: str = "") -> str:
    """Write the least and the greatest of some counts, with their noun.

    Parameters
    ----------
    counts
        The counts.
    noun
        The noun for one; empty for none.

    Returns
    -------
    "10 items", "1 item", or "453 to 500 items".

    >>> import pandas as pd
    >>> format_count_range(pd.Series([453, 500])), format_count_range(pd.Series([1, 1]), "item")
    ('453 to 500', '1 item')
    """
    low, high = int(counts.min()), int(counts.max())
    text = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{text} {noun if low == high == 1 else noun + 's'}" if noun else text


def join_names(names: Sequence[str], most: int = 3) -> str:
    """Write the first names, and how many more there are.

    Parameters
    ----------
    names
        The names.
    most
        How many are written.

    Returns
    -------
    "a, b and 4 others"; empty without names.
    """
    if not names:
        return ""
    if len(names) <= most:
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{', '.join(names[:most])} and {format_quantity(len(names) - most, 'other')}"


def join_long_names(names: Sequence[str]) -> str:
    """Join names of model, setting and study: of more than two the first, the worst, so that a sentence stays short.

    >>> join_long_names(["m · chat", "n · chat"]), join_long_names(["m · chat", "n · chat", "o · chat"])
    ('m · chat and n · chat', 'm · chat and 2 others')
    """
    return join_names(names, most=2 if len(names) == 2 else 1)


def format_percent(share: float, decimals: int = 0) -> str:
    """Write a share in per cent; where rounding would show a 0 or 100 that it is not, with one more decimal or a bound.

    Parameters
    ----------
    share
        The share, 0 to 1.
    decimals
        Decimals, one more where needed.

    Returns
    -------
    The text.

    >>> (format_percent(0.0), format_percent(0.0016), format_percent(0.584), format_percent(0.999), format_percent(1.0),
    ...  format_percent(0.8349, 1))
    ('0 %', '0.2 %', '58 %', '99.9 %', '100 %', '83.5 %')
    >>> format_percent(0.0004), format_percent(0.9996)
    ('<0.1 %', '>99.9 %')
    """
    for places in (decimals, decimals + 1):
        text = f"{100 * share:.{places}f}"
        if not (float(text) == 0 and share > 0) and not (float(text) == 100 and share < 1):
            return f"{text} %"
    least = 10**-places
    return f"<{least:.{places}f} %" if share < 0.5 else f">{100 - least:.{places}f} %"


def format_significant_digits(number: float, digits: int, sign: str = "") -> str:
    """Write a number with some significant digits; a large one in full, and 0 for what is rounding.

    Parameters
    ----------
    number
        Any number.
    digits
        How many digits count.
    sign
        "+": a number from 0 on has a sign, too.

    Returns
    -------
    str

    >>> format_significant_digits(0.12345, 3, "+"), format_significant_digits(-1219.6, 3)
    ('+0.123', '-1,220')
    >>> format_significant_digits(-1.4e-17, 3)
    '0'
    """
    text = f"{0.0 if abs(number) < ROUNDING else number:{sign}.{digits}g}"
    return f"{float(text):{sign},.0f}" if "e+" in text else text


def format_four_digits(number: float) -> str:
    """Write a number with four significant digits, or with all that stand before its point where these are more.

    >>> format_four_digits(0.000123456), format_four_digits(12345.678)
    ('0.0001235', '12346')
    """
    text = f"{number:.4g}"
    return f"{number:.0f}" if "e+" in text else text


def format_signed_number(number: float, decimals: int) -> str:
    """Write a number with its sign and a true minus; without a sign where it is zero, or still rounds to it.

    Parameters
    ----------
    number
        The number.
    decimals
        Decimals, one more where rounding would show a zero that it is not.

    Returns
    -------
    The text.

    >>> [format_signed_number(number, 1) for number in (15.43, -2.0, -0.04, 0.004, 0.0)]
    ['+15.4', '−2.0', '−0.04', '0.0', '0.0']
    """
    for places in (decimals, decimals + 1):
        text = f"{number:+.{places}f}".replace("-", "−")
        if float(text[1:]) != 0:
            return text
    return f"{0:.{decimals}f}"


def format_percentage_points(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign: 0.154 is "+15.4"."""
    return format_signed_number(100 * difference, 1)


def explain_no_detectable_difference(*families: pd.DataFrame) -> str:
    """Say that no test could have found a difference: too few items or draws for so many pairs (column `p_least`).

    Each family of pairs was corrected by itself.
    """
    return (
        f"{format_quantity(sum(map(len, families)), 'pair')} compared: no difference could be shown. With so few items "
        f"or draws, the smallest p value after Holm is {compute_smallest_p_after_holm(*families):.2f}."
    )


def describe_size_of_part(part: Part | None) -> str:
    """Say how much of the runs is in a part: "12 of 40 responses, ... 1 of 2 models"; empty for all of them."""
    if part is None:
        return ""
    return ", ".join(
        f"{kept:,} of {format_quantity(total, kind.removesuffix('s'))}" if total else f"no {kind}"
        for kind, (kept, total) in part.count_kept_and_all_by_kind().items()
    )


def list_cautions_about_left_out_parts(part: Part | None) -> list[str]:
    """Return the caution about what was left out of the runs, and one where models or conditions keep other wordings.

    Empty where nothing was left out.
    """
    if part is None:
        return []
    caution = (
        f"Only a part of the runs is here: {describe_size_of_part(part)}; kept is "
        f"where {shorten_to_one_line(part.condition, 300)}."
    )
    if part.pairs is None:
        return [Caution(caution, LEFT_OUT)]
    unlike = (
        "Models or conditions keep different wordings here: they may differ because of that, and numbers of a part "
        "that was chosen by its answers say little about other answers."
    )
    return [Caution(caution, LEFT_OUT), Caution(unlike, WRONG)]


def list_unanswered_cautions(unanswered_counts: pd.DataFrame, n_asked: int) -> list[str]:
    """Return the caution about prompts without a response (`analysis.runs.unanswered`); empty where all have one.

    `n_asked`: all prompts that were to be asked, also of the models and conditions that lack no response.
    """
    if unanswered_counts.empty:
        return []
    n_failed, n_missing = (int(unanswered_counts[name].sum()) for name in ("failed", "missing"))
    reasons = unanswered_counts.loc[unanswered_counts["failed"] > 0, "reason"]
    first = f" The first error: “{shorten_to_one_line(reasons.iloc[0], 120)}”." if len(reasons) else ""
    return [
        Caution(
            f"No response to {n_failed + n_missing:,} of {format_quantity(n_asked, 'prompt')}: "
            f"{_join_failed_and_missing_counts(n_failed, n_missing, 'is ' if n_missing == 1 else 'are ')}. In detail: "
            f"{join_names(describe_unanswered_prompts_by_unit(unanswered_counts))}.{first}",
            LEFT_OUT,
        )
    ]


def list_cautions_about_unasked_models(names: Sequence[str]) -> list[str]:
    """Return the caution about models that were never asked (`analysis.runs.unanswered`); empty where there is none.

    >>> list_cautions_about_unasked_models(["org/b"])
    ['Not asked: org/b. The call names it; it could not be loaded, or the run ended before it.']
    """
    them = "it" if len(names) == 1 else "them"
    they = "it" if len(names) == 1 else "they"
    return [
        Caution(f"Not asked: {join_names(names)}. The call names {them}; {they} could not be loaded, or the run ended "
        f"before {them}.", LEFT_OUT)
    ] if names else []  # fmt: skip


def describe_unanswered_prompts_by_unit(unanswered_counts: pd.DataFrame) -> list[str]:
    """Write for each model and condition how many prompts failed, and how many are missing; the study where several
    lack responses of the same model and condition."""
    is_in_several_studies = unanswered_counts.duplicated(["model", "condition"], keep=False)
    studies = ("“" + unanswered_counts["study"] + "”, ").where(is_in_several_studies, "")
    return [
        f"{row['model']} ({study}{row['condition']}; {_join_failed_and_missing_counts(row['failed'], row['missing'])} "
        f"of {row['asked']:,})"
        for row, study in zip(unanswered_counts.to_dict("records"), studies, strict=True)
    ]


def _join_failed_and_missing_counts(n_failed: int, n_missing: int, verb: str = "") -> str:
    """Write how many prompts failed and are missing, without a count of 0: three of them fit into one sentence."""
    counts = (f"{n_failed:,} failed" if n_failed else "", f"{n_missing:,} {verb}missing" if n_missing else "")
    return ", ".join(filter(None, counts))


def list_few_models_cautions(n_models: int) -> list[Caution]:
    """Return the caution about a small number of models; empty where there are enough.

    >>> list_few_models_cautions(1), list_few_models_cautions(FEW_MODELS)
    (['Only 1 model: these results say nothing about models in general.'], [])
    """
    caution = f"Only {format_quantity(n_models, 'model')}: these results say nothing about models in general."
    return [Caution(caution, WIDE)] if n_models < FEW_MODELS else []


def list_few_items_cautions(
    item_counts: pd.Series, qualifier: str = "", consequence: str = "bootstrap intervals tend to be too narrow"
) -> list[str]:
    """Write the caution about rows with few items, and what follows from it.

    Every row is judged by its own number of items. Where others have enough, those that have few are named, or the one
    with the fewest and how many others.

    Parameters
    ----------
    item_counts
        Items behind each row, by the row's label; rows without any item are left out.
    qualifier
        What follows the number of items, after a blank; empty for nothing.
    consequence
        What follows from it.

    Returns
    -------
    One sentence; none where all rows have at least `FEW_ITEMS`.

    >>> import pandas as pd
    >>> list_few_items_cautions(pd.Series({"a": 5, "b": 60, "c": 12, "d": 0}), " in a group",
    ...                         consequence="little is known")
    ['Only 5 to 12 items in a group for a and c: little is known.']
    >>> list_few_items_cautions(pd.Series({"a": 5})), list_few_items_cautions(pd.Series({"a": FEW_ITEMS}))
    (['Only 5 items: bootstrap intervals tend to be too narrow.'], [])
    """
    known_sizes = item_counts[item_counts > 0]
    few = known_sizes[known_sizes < FEW_ITEMS]
    if few.empty:
        return []
    names = list(dict.fromkeys(map(str, few.sort_values(kind="stable").index)))
    who = "" if len(few) == len(known_sizes) else f" for {join_long_names(names)}"
    return [
        Caution(
            f"Only {format_count_range(few)} {'item' if few.max() == 1 else 'items'}{qualifier}{who}: {consequence}.",
            WIDE,
        )
    ]


def explain_no_interval(row: pd.Series, value_column: str) -> str:
    """Say why a figure of a row has no interval.

    Parameters
    ----------
    row
        Has `no_interval`.
    value_column
        Name of the figure's column.

    Returns
    -------
    A few words; empty where there is an interval or none was asked for.
    """
    return "".join(
        f"no interval: {why}" for why in list_reasons_for_missing_intervals([row["no_interval"]], (value_column,))
    )


def explain_missing_interval_lines(frame: pd.DataFrame, *value_columns: str) -> str:
    """Say why marks of a figure have no line, from the column `no_interval`; empty where all have one.

    Parameters
    ----------
    frame
        The frame that is drawn.
    value_columns
        The columns that are drawn; none where a row has one figure only.

    >>> import pandas as pd
    >>> explain_missing_interval_lines(pd.DataFrame({"no_interval": ["range_mean: one item only", ""]}), "range_mean")
    ' No interval, no line: one item only.'
    """
    why = list_reasons_for_missing_intervals(list(frame["no_interval"].fillna("")), value_columns)
    return f" No interval, no line: {' or '.join(why)}." if why else ""
