"""Write the sentences of the page: how much of the wording effect stays under every reading, what is an artefact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.readings.cautions import add_labels_and_conditions_to_readings, list_cautions
from analysis.reporting.words import Answer, format_percent, format_quantity, join_names
from analysis.reporting.words.doubts import LEFT_OUT, Caution
from analysis.reporting.words.validity import FEW_ANSWERS, phrase_verdict_without_judged_model
from analysis.reporting.words.verdicts import KEPT_BANDS, UNCLEAR, choose_word_for_interval
from analysis.statistics.interval import EQUAL
from analysis.statistics.multiplicity import has_possibly_significant_test
from ground.capitals import capitalise_sentence

READING_MEANING = (
    "A reading is a way to take an answer from a model: its probabilities, or a rule on its text. What every reading "
    "shows is the model's, not the reading's."
)
TABLES = ("readings", "reading_kept", "reading_pairs", "reading_ranking", "reading_sheet")
ALL = 1 - 1e-9
NONE_SHOWN, NONE_TESTED = "No reading is shown to add an artefact", "What is an artefact, these readings cannot tell"
TOO_FEW = "What is an artefact, so few items or bootstrap samples cannot show"
WORD_MEANINGS = (
    "Stays: of a reading's variance over wordings, the least part that another reading moves along with: covariance by "
    "variance, at most 1.",
    "For sure: the part that is the same in a reading of other responses, the largest r². Where it is the smaller one, "
    "the first screen has it.",
    "Its own: the share of it that other readings, or people, do not explain.",
)


def answer_page_question(frames: Mapping[str, pd.DataFrame], when: str) -> Answer:
    """Say how much of the wording effect stays under every reading, and which readings add an artefact.

    Parameters
    ----------
    frames
        The tables `TABLES` by name.
    when
        When the models were asked (`words.phrase_run_dates`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    readings = frames["readings"]
    if readings.empty:
        return Answer("No prompt's answer was read in two ways.", f"{UNCLEAR}.")
    models = list(dict.fromkeys(readings["model"]))
    most = int(readings.groupby(["study", "model", "setting"])["reading"].nunique().max())
    n_items = int(readings.drop_duplicates("study")["n_asked"].sum())
    setup = (
        f"{format_quantity(len(models), 'model')} answered {format_quantity(n_items, 'item')}{when}, and each answer "
        f"was read in up to {format_quantity(most, 'way')}."
    )
    cautions = list_cautions(readings)
    if is_validity_below_half(readings["validity"].astype(float)).all():
        verdict, sentences = phrase_verdict_without_judged_model(
            add_labels_and_conditions_to_readings(readings), FEW_ANSWERS
        )
        return Answer(setup, verdict, cautions=(*sentences, *cautions))
    details = {
        "readings": tuple(_describe_reading_validity_and_artefacts(readings)),
        "reading_pairs": tuple(_describe_least_and_most_agreeing_readings(frames["reading_pairs"])),
        "reading_ranking": tuple(_describe_rank_swaps_between_readings(frames["reading_ranking"])),
        "reading_sheet": tuple(_describe_reading_differences_from_people(frames["reading_sheet"], readings)),
    }
    verdict = describe_variance_kept_by_all_readings(frames["reading_kept"], readings)
    if len(frames["reading_kept"]):
        verdict = f"{verdict} {describe_readings_with_artefacts(readings)}"
        cautions = (*describe_settings_where_less_stays(frames["reading_kept"]), *cautions)
    return Answer(setup, verdict, cautions=cautions, details=details, explanation=READING_MEANING)


def describe_variance_kept_by_all_readings(kept: pd.DataFrame, readings: pd.DataFrame | None = None) -> str:
    """Say how much of the variance over wordings stays under every reading: rule "kept".

    Parameters
    ----------
    kept
        Table `reading_kept`, the setting of the verdict first.
    readings
        Table `readings`, which has what is not compared, too.

    Returns
    -------
    One sentence.

    >>> row = {"reading": "probability", "wording_sd": 0.2, "kept": 0.85, "kept_lower": 0.7, "kept_upper": 0.96,
    ...        "n_sources": 2, "common": 0.9, "common_lower": 0.8, "same": False}
    >>> describe_variance_kept_by_all_readings(pd.DataFrame([row])).partition(" stays ")[0]
    'Mostly the model: 85 % of the variance over wordings by probability'
    """
    if kept.empty:
        return f"{UNCLEAR}: no model has two readings with valid answers to two wordings of an item."
    row = kept.iloc[0]
    if row["same"]:
        return "Where all readings have an answer, they are the same on every wording."
    if pd.isna(row["wording_sd"]) or (row["wording_sd"] > 0 and pd.isna(row["kept"])):
        return f"{UNCLEAR}: what sampling adds to the texts or thoughts is not known."
    if not row["wording_sd"] > 0:
        return f"{UNCLEAR}: by {row['reading']}, no variance over wordings is left beyond what sampling adds."
    # Where it is all of it in every resample, no interval can be drawn; nor can it of a single item.
    is_whole = pd.isna(row["kept_lower"]) and row["kept"] > ALL and f"kept: {EQUAL}" in row["no_interval"]
    interval = (
        "in every resample" if is_whole
        else "no interval" if pd.isna(row["kept_lower"])
        else f"interval {_format_percent_range(row['kept_lower'], row['kept_upper'])}"
    )  # fmt: skip
    # The sentence is about the first setting, and not all models were asked, or are compared, in it.
    units = kept if readings is None else readings.drop_duplicates(["study", "model", "setting"])
    is_part = len(kept) > 1 or (readings is not None and len(units) > row["n_models"])
    asked = (
        f"; {format_quantity(int(row['n_models']), 'model')}, {name_setting_with_study(units, row)}" if is_part else ""
    )
    stays = f"of the variance over wordings by {row['reading']} stays under every reading"
    share = f"{format_percent(row['kept'])} {stays} ({interval}{asked})."
    if row["n_sources"] < 2:  # what the texts themselves add is in all of them
        return f"In the same texts, {share}"
    lower, upper = (1.0, 1.0) if is_whole else (float(row["kept_lower"]), float(row["kept_upper"]))
    word = choose_word_for_interval(lower, upper, KEPT_BANDS)
    if word == KEPT_BANDS[1].word and not row["common_lower"] >= KEPT_BANDS[1].low:
        # The other readings move as far, or further, but not surely by the same: they may show it on a larger scale.
        return (
            f"{UNCLEAR}: the other readings move at least half as far as {row['reading']}, but how much of its "
            "variance is theirs is uncertain."
        )
    if word == KEPT_BANDS[1].word and row["common_lower"] < ALL and row["common"] < row["kept"]:  # no more is surely so
        share = f"at least {format_percent(row['common_lower'])} {stays} (lower end of the interval{asked})."
    return f"{word.capitalize() or UNCLEAR}: {share}"


def describe_settings_where_less_stays(kept: pd.DataFrame) -> list[str]:
    """Say in which setting least surely stays, where that is less than in the one that the verdict is about.

    Parameters
    ----------
    kept
        Table `reading_kept`, the setting of the verdict first.

    Returns
    -------
    list of str
        One sentence, or none.

    >>> rows = {"reading": "probability", "study": "s", "setting": ["plain", "chat", "cloze"],
    ...         "kept": 0.9, "common_lower": [0.77, 0.59, 0.6]}
    >>> describe_settings_where_less_stays(pd.DataFrame(rows))
    ['The answer is about plain. By probability, less surely stays in 2 other settings: 59 % in chat, the least.']
    """
    kept = kept.astype({"common_lower": float})
    row, others = kept.iloc[0], kept.iloc[1:]
    least_said = row[["kept", "common_lower"]].astype(float).min(skipna=False)  # at most what the verdict says
    others = others[(others["reading"] == row["reading"]) & (others["common_lower"] < least_said - 0.05)]
    if others.empty:
        return []
    least = others.loc[others["common_lower"].idxmin()]
    return [
        Caution(
            f"The answer is about {name_setting_with_study(kept, row)}. By {row['reading']}, less surely stays in "
            f"{format_quantity(len(others), 'other setting')}: {format_percent(least['common_lower'])} in "
            f"{name_setting_with_study(kept, least)}{', the least' * (len(others) > 1)}.",
            LEFT_OUT,
        )
    ]


def name_setting_with_study(rows: pd.DataFrame, row: Mapping[str, Any] | pd.Series) -> str:
    """Name the setting of a row, with its study where the rows are of several."""
    of_study = f" of study “{row['study']}”" if rows["study"].nunique() > 1 else ""
    return f"{row['setting']}{of_study}"


def describe_readings_with_artefacts(readings: pd.DataFrame) -> str:
    """Name the readings that add an artefact: rule "artefact".

    Parameters
    ----------
    readings
        Table `readings`.

    Returns
    -------
    One sentence; empty where no reading is compared.

    >>> describe_readings_with_artefacts(pd.DataFrame({"compared": [True], "own": [0.1], "reading": ["strict rule"],
    ...                                                "model": ["m"], "artefact": [True]}))
    'Part of the variance over wordings by the strict rule is an artefact of reading.'
    """
    compared = readings[readings["compared"].astype(bool)]
    if compared.empty:
        return ""
    artefacts = compared[compared["artefact"].astype(bool)]
    if artefacts.empty:
        tested = compared[compared["own"].notna()]
        if tested.empty:
            return f"{NONE_TESTED}."
        return f"{NONE_SHOWN if has_possibly_significant_test(tested) else TOO_FEW}."
    names = [_phrase_reading_with_article(name) for name in dict.fromkeys(artefacts["reading"])]
    models = artefacts["model"].unique()
    n_all = compared["model"].nunique()
    is_everywhere = compared[compared["reading"].isin(artefacts["reading"])]["artefact"].astype(bool).all()
    is_with_all_models = bool(artefacts.groupby("reading")["model"].nunique().eq(n_all).all())
    where = (
        "" if is_everywhere and len(models) == n_all
        else f" in some {'settings' if compared['setting'].nunique() > 1 else 'studies'}" if is_with_all_models
        else f" with {models[0]}" if len(models) == 1
        else " with some models"
    )  # fmt: skip
    return f"Part of the variance over wordings by {join_names(names, 2)} is an artefact of reading{where}."


def _phrase_reading_with_article(reading: str) -> str:
    """Write a reading within a sentence."""
    return f"the {reading}" if "rule" in reading or reading.startswith("judge") else reading


def _describe_reading_validity_and_artefacts(readings: pd.DataFrame) -> list[str]:
    """Say of every artefact how large it is, and how many readings were tested."""
    labelled = add_labels_and_conditions_to_readings(readings)
    tested = labelled[labelled["compared"].astype(bool) & labelled["own"].notna()]
    validity = readings.dropna(subset=["validity"]).groupby("reading", sort=False)["validity"]
    sentences = [
        f"Validity: {join_names([_describe_reading_with_share_range(name, part) for name, part in validity], 5)}."
    ]
    sentences += [
        f"With {row['name']}, {format_percent(min(max(row['own'], 0.0), 1.0))} of the variance over wordings by "
        f"{row['reading']} is its own{_format_interval_of_reading_specific_share(row)}."
        for row in tested[tested["artefact"].astype(bool)].to_dict("records")[:6]
    ]
    if len(tested):
        sentences.append(
            f"Tested: {format_quantity(len(tested), 'reading')} of a model, corrected for their number (Holm)."
        )
    return sentences


def _describe_reading_with_share_range(reading: str, shares: pd.Series) -> str:
    """Write a reading with the least and the largest of some shares."""
    low, high = shares.min(), shares.max()
    is_one = format_percent(low) == format_percent(high)
    return f"{reading} {format_percent(low) if is_one else _format_percent_range(low, high)}"


def _format_interval_of_reading_specific_share(row: dict[str, object]) -> str:
    """Write the interval of a share that is a reading's own."""
    low, high = (min(max(float(str(row[f"own_{end}"])), 0.0), 1.0) for end in ("lower", "upper"))
    return "" if pd.isna(row["own_lower"]) else f" (interval {_format_percent_range(low, high)})"


def _format_percent_range(low: float, high: float) -> str:
    """Write the ends of an interval: "77 to 90 %"."""
    return f"{format_percent(low).removesuffix(' %')} to {format_percent(high)}"


def _describe_least_and_most_agreeing_readings(pairs: pd.DataFrame) -> list[str]:
    """Say which two readings agree least and most."""
    rows = pairs.dropna(subset=["same_side"]) if len(pairs) else pairs
    if len(rows) < 2:
        return []
    means = rows.groupby(["reading_a", "reading_b"], sort=False)["same_side"].mean()
    low, high = means.idxmin(), means.idxmax()
    if low == high:
        return []
    nouns = {"model": "models", "setting": "settings", "study": "studies"}
    averaged = join_names([noun for column, noun in nouns.items() if rows[column].nunique() > 1])
    over = f"on average over the {averaged} that have both readings, " if averaged else ""
    return [
        capitalise_sentence(
            f"{over}{low[0]} and {low[1]} put {format_percent(means.min())} of the wordings on the same side."
        ),
        capitalise_sentence(f"{high[0]} and {high[1]} do so with {format_percent(means.max())}."),
    ]


def _describe_rank_swaps_between_readings(ranking: pd.DataFrame) -> list[str]:
    """Say how many pairs of models swap between readings."""
    if ranking.empty:
        return []
    total, swaps, clear = (int(ranking[name].sum()) for name in ("n_pairs", "n_swaps", "n_clear_swaps"))
    if not swaps:
        return ["No pair of models changes its order with the reading."]
    swap_text = "swaps its order" if swaps == 1 else "swap their order"
    n_settings = len(ranking[["study", "setting"]].drop_duplicates())
    where = f" in {n_settings:,} settings" if n_settings > 1 else ""
    return [
        f"Of {format_quantity(total, 'pair')} of models and readings{where}, {swaps:,} {swap_text}, "
        f"{clear or 'none'} clearly."
    ]


def _describe_reading_differences_from_people(corrections: pd.DataFrame, readings: pd.DataFrame) -> list[str]:
    """Say how a reading differs from people's, and what the correction makes of its SD."""
    if corrections.empty:
        return []
    keys = ["study", "model", "setting"]
    names = add_labels_and_conditions_to_readings(readings)[[*keys, "name"]].drop_duplicates()
    rows = corrections.merge(names, on=keys).dropna(subset=["corrected_sd", "wording_sd"])
    return [
        f"With {row['name']}, the {row['reading']} takes {format_percent(row['texts_alike'])} of "
        f"{format_quantity(row['n_texts'], 'text')} as people do; corrected, its SD over wordings is "
        f"{row['corrected_sd']:.3f} instead of "
        f"{row['wording_sd']:.3f}."
        for row in rows.to_dict("records")[:6]
    ]
