"""Write the sentences of the page from its tables: what moves answers beside the models, and which styles are clear."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.measures.ratings_styles import ACQUIESCENCE, CUT, ENDS, LABELS, LEAST, LEAST_SHARE, MIDDLE, ORDER
from analysis.measures.ratings_wordings import MODEL, WORDING
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.scales.people_narrative import describe_consistency_of_scales, describe_models_as_close_as_people
from analysis.reporting.words import (
    Answer,
    beyond,
    chance,
    format_quantity,
    join_names,
    labels,
    list_few_items_cautions,
    verdicts,
)
from analysis.reporting.words.counts import phrase_models_with_verb
from analysis.reporting.words.doubts import LEFT_OUT, READING, WRONG, Caution
from analysis.reporting.words.validity import (
    list_cautions_unless_all_models_unjudged,
    phrase_verdict_without_judged_model,
)
from analysis.reporting.words.verdicts import Band
from ground.capitals import uncapitalise_sentence

Frames = Mapping[str, pd.DataFrame]
TABLES = ("scales_scores", "scales_moves", "scales_styles", "scales_spread", "scales_items", "scales_differences",
          "scales_people", "scales_respondents")  # fmt: skip
MORE, LESS = "more", "less"
BANDS = (Band(MORE, 0.0, math.inf), Band(LESS, -math.inf, 0.0))
# What the way of asking changes -> how a sentence calls it. Another persona is meant to move answers.
ASKED: Mapping[str, str] = {
    WORDING: "wording", "order": "order", "labels": "kind of label", "middle": "choice of options",
}  # fmt: skip
MOST_PHRASES = 3
STYLES = 3  # sentences about clear styles
LONGEST_NAME = 60  # characters of a model's name in the verdict
IN_ORDER = (ACQUIESCENCE, ENDS, ORDER, MIDDLE, CUT)  # styles in a sentence; then labels
WORD_MEANINGS = (
    "Two answers that differ in the wording, order or kind of label alone are compared with two that differ in the "
    "model alone. “Moves an answer more” means that they are further apart, on average over these models.",
    "The whole 95 % interval of that difference then lies above 0, over items and shared wordings; for “less”, below. "
    "Intervals are widened for the number of such comparisons (Holm).",
    f"A style is named where it is beyond {LEAST:g} of the scale, or {LEAST_SHARE:g} of the answer at the ends or in "
    "the middle. The test is for wordings like these, after Holm over all styles of all models.",
    "Ends and middle need such a difference from the mean of the other models and from the model in the middle of "
    "them.",
)


def answer_page_question(frames: Frames, when: str = "", by_chance: pd.DataFrame = chance.NO_CHANCE) -> Answer:
    """Say what moves answers beside the models, and which response styles are clear, by the rules of `WORD_MEANINGS`.

    Parameters
    ----------
    frames
        The tables named in `TABLES`.
    when
        From `words.phrase_run_dates`.
    by_chance
        Whose answers chance alone may have changed (`words.chance.tabulate_units_with_chance_changes`).

    Returns
    -------
    Answer
        What the page says in words.
    """
    spread = frames["scales_spread"]
    spread = spread.assign(label=labels.build_row_labels(spread))
    setup = _describe_numbers_of_models_and_scales(frames["scales_items"], when)
    cautions = tuple(_list_cautions(frames, spread, by_chance))
    if is_validity_below_half(spread["validity"]).all():
        verdict, why = phrase_verdict_without_judged_model(spread)
        return Answer(setup, verdict, cautions=(*why, *cautions))
    moves = frames["scales_moves"]
    moves = moves[moves["study"] == moves["study"].iloc[0]] if len(moves) else moves
    styles = _select_clear_styles(frames["scales_styles"])
    has_distance_of_models = len(moves) > 0 and moves["models"].notna().any()  # of one model there is none
    details = {
        "scales_scores": tuple(_describe_extreme_models_by_scale(frames["scales_scores"])),
        "scales_moves": (
            *(WORD_MEANINGS[:2] if has_distance_of_models else ()),
            *_describe_model_distance_and_persona_distance(moves),
        ),
        "scales_styles": tuple(_describe_strength_of_clear_styles(styles)),
        "scales_differences": tuple(_describe_significant_score_difference_count(frames["scales_differences"])),
        "scales_spread": tuple(_describe_smallest_and_largest_wording_spread(spread)),
        "scales_people": tuple(describe_models_as_close_as_people(frames["scales_people"])),
        "scales_respondents": tuple(describe_consistency_of_scales(frames["scales_respondents"])),
    }
    verdict = " ".join(
        filter(
            None,
            (
                _describe_moves_of_one_study(moves, spread["study"].nunique()),
                _name_clear_styles_with_models(styles, frames["scales_styles"]),
            ),
        )
    )
    return Answer(
        setup, verdict, cautions=cautions,
        details={name: sentences for name, sentences in details.items() if sentences},
    )  # fmt: skip


def _describe_numbers_of_models_and_scales(items: pd.DataFrame, when: str) -> str:
    """Say how many models were asked how many items of how many scales; the verdict says whether they answered."""
    n_items = items.drop_duplicates(["study", "item"])
    scales = _name_scales_unambiguously(n_items).nunique()
    of_scales = f" of {format_quantity(scales, 'scale')}" if scales else ""
    n_studies = items["study"].nunique()
    in_studies = f" in {n_studies} studies" if n_studies > 1 else ""
    beginning = phrase_models_with_verb(items[["model"]])
    return f"{beginning} asked {format_quantity(len(n_items), 'item')}{of_scales}{in_studies}{when}."


def _name_scales_unambiguously(frame: pd.DataFrame) -> pd.Series:
    """Name the scale of every row that has one, with its study where several studies have a scale of this name."""
    rows = frame[frame["scale"].notna()]
    is_shared = rows.groupby("scale")["study"].transform("nunique") > 1
    return rows["scale"].where(~is_shared, rows["scale"] + labels.SEPARATOR + rows["study"])


def _describe_moves_of_one_study(moves: pd.DataFrame, n_studies: int) -> str:
    """Say which ways of asking move an answer more or less than another model does, in which of several studies."""
    sentence = _describe_asking_effects_beside_model_effects(moves)
    if n_studies < 2 or moves.empty:
        return sentence
    return f"In {labels.shorten_middle(moves['study'].iloc[0], 24)}, {uncapitalise_sentence(sentence)}"


def _describe_asking_effects_beside_model_effects(moves: pd.DataFrame) -> str:
    """Say which ways of asking move an answer more or less than another model does."""
    if moves.empty:
        return f"{verdicts.UNCLEAR}: no two answers differ in one thing alone."
    rows = moves[moves["change"].isin(list(ASKED)) & moves["apart"].notna()]
    if rows.empty:
        return f"{verdicts.UNCLEAR} what moves answers: no two differ in the wording, order or labels alone."
    if rows["difference"].isna().all():
        first, *others = (
            f"another {ASKED[row.change]}{' moves an answer' if place == 0 else ''} by {row.apart:.2f}"
            for place, row in enumerate(rows.head(MOST_PHRASES).itertuples())
        )
        return f"On average, {', '.join([first, *others])} of the scale."
    words = verdicts.choose_words_for_differences(rows, "difference", BANDS)
    by_word = {
        word: rows[[row_word == word for row_word in words]].sort_values("apart", ascending=False)
        for word in (MORE, LESS, "")
    }
    word = MORE if len(by_word[MORE]) else LESS
    rows_of_word, unclear = by_word[word], _join_names_of_asking_way_changes(by_word[""])
    if rows_of_word.empty:
        return f"{verdicts.UNCLEAR} whether {unclear} moves an answer more than another model does."
    names = _join_names_of_asking_way_changes(rows_of_word)
    has_more = bool(unclear) or (word == MORE and len(by_word[LESS]) > 0)
    of_scale = "" if has_more or len(rows_of_word) > 1 else " of the scale"  # a first screen has 60 words at most
    first = rows_of_word.iloc[0]
    whose = f"{ASKED[first['change']]}: " if len(rows_of_word) > 1 else ""
    numbers = f"({whose}{first['apart']:.2f} against {first['models']:.2f}{of_scale})"
    sentence = f"On average, {names} moves an answer {word} than another model does {numbers}"
    if word == MORE and len(by_word[LESS]):
        sentence += f", {_join_names_of_asking_way_changes(by_word[LESS])} less"
    return f"{sentence}; of {unclear}, these runs cannot tell." if unclear else f"{sentence}."


def _join_names_of_asking_way_changes(rows: pd.DataFrame) -> str:
    """Name changes of the way of asking: "another wording, order or kind of label"; empty for none."""
    names = [ASKED[change] for change in rows["change"]]
    return f"another {join_names(names, 4).replace(' and ', ' or ')}" if names else ""


def _select_clear_styles(table: pd.DataFrame) -> pd.DataFrame:
    """Select the styles that are named, with a `label` and a `phrase`, in the order of `IN_ORDER`.

    Who avoids the ends is in the middle more often: of two styles that say the same, the ends are named.
    """
    if table.empty:
        return table
    rows = table.assign(label=labels.build_row_labels(table))
    rows = rows[_mark_clear_styles_of_judged_models(rows)]
    ends = {(row.label, row.difference > 0) for row in rows[rows["style"] == ENDS].itertuples()}
    is_new = [row.style != MIDDLE or (row.label, row.difference < 0) not in ends for row in rows.itertuples()]
    rows = rows[np.array(is_new, bool)]
    rank = rows["style"].map({style: place for place, style in enumerate(IN_ORDER)}).fillna(len(IN_ORDER))
    phrases = [phrase_behaviour_of_response_style(row.style, row.difference) for row in rows.itertuples()]
    return rows.assign(phrase=phrases, rank=rank).sort_values(["rank", "p_holm"], kind="stable")


def _mark_clear_styles_of_judged_models(rows: pd.DataFrame) -> pd.Series:
    """Mark the rows of `scales_styles` that are clear, of models that are judged."""
    return verdicts.mark_clear_effects(rows["p_holm"]) & ~is_validity_below_half(rows["validity"].astype(float))


def phrase_behaviour_of_response_style(style: str, difference: float) -> str:
    """Say what a model with a style does.

    >>> phrase_behaviour_of_response_style("ends", -0.1)
    'avoids the ends'
    >>> phrase_behaviour_of_response_style("labels numbers-words", 0.1)
    'answers higher by numbers than by words'
    """
    up = difference > 0
    if style.startswith(LABELS):
        first, _, second = style.removeprefix(f"{LABELS} ").partition("-")
        return f"answers {'higher' if up else 'lower'} by {first} than by {second}"
    return {
        ACQUIESCENCE: f"leans to {'agreeing' if up else 'disagreeing'}",
        ENDS: "picks the ends" if up else "avoids the ends",
        MIDDLE: "picks the middle" if up else "avoids the middle",
        ORDER: f"is drawn to the {'last' if up else 'first'} option",
        CUT: f"answers {'higher' if up else 'lower'} without the middle",
    }[style]


def _name_clear_styles_with_models(styles: pd.DataFrame, table: pd.DataFrame) -> str:
    """Name the clear styles, each with its models; say where none is."""
    if table.empty or table["p_holm"].isna().all():
        return ""
    if styles.empty:
        return "No response style is clear."
    by_phrase = {phrase: list(part["model"].unique()) for phrase, part in styles.groupby("phrase", sort=False)}
    in_some = f" in some {'studies' if table['study'].nunique() > 1 else 'settings'}"
    parts = [
        (f"{labels.shorten_middle(names[0], LONGEST_NAME)} {phrase}" if len(names) == 1
         else f"{format_quantity(len(names), 'model')} {_make_verb_phrase_plural(phrase)}")
        + in_some * _has_style_unclear_in_some_setting(styles[styles["phrase"] == phrase], table)
        for phrase, names in list(by_phrase.items())[:MOST_PHRASES]
    ]  # fmt: skip
    more = len(by_phrase) - MOST_PHRASES
    ending = f"; {format_quantity(more, 'more style')} below" if more > 0 else ""
    return f"Whatever is asked, {join_names(parts)}{ending}."


def _has_style_unclear_in_some_setting(rows: pd.DataFrame, table: pd.DataFrame) -> bool:
    """Tell whether one of the models that have a style was asked in a setting in which it is not clear.

    `rows` lack the settings in which the ends say the same as the middle; there, the middle is clear all the same.
    """
    style, is_up = rows["style"].iloc[0], rows["difference"].iloc[0] > 0
    tested = table[(table["style"] == style) & table["model"].isin(rows["model"]) & table["p_holm"].notna()]
    return not (_mark_clear_styles_of_judged_models(tested) & ((tested["difference"] > 0) == is_up)).all()


def _make_verb_phrase_plural(phrase: str) -> str:
    """Write what several models do: "avoid the ends"."""
    verb, _, tail = phrase.partition(" ")
    return f"{'are' if verb == 'is' else verb.removesuffix('s')} {tail}"


def _describe_extreme_models_by_scale(scores: pd.DataFrame) -> Iterator[str]:
    """Name the lowest and the highest model on every scale."""
    if scores.empty:
        return
    scores = scores.assign(label=labels.build_row_labels(scores))
    answering = scores[~is_validity_below_half(scores["validity"]) & scores["score"].notna()]
    for (_, scale), part in answering.groupby(["study", "scale"], sort=False):
        low, high = part.loc[part["score"].idxmin()], part.loc[part["score"].idxmax()]
        name = labels.shorten_middle(scale, 24)
        if len(part) == 1:
            whose = f" of {low['label']}" if scores["label"].nunique() > 1 else ""
            yield f"On {name}, the score{whose} is {low['score']:.2f}."
        elif f"{low['score']:.2f}" == f"{high['score']:.2f}":
            yield f"On {name}, all scores are {low['score']:.2f}."
        else:
            yield (
                f"On {name}, scores go from {low['score']:.2f} ({low['label']}) to {high['score']:.2f} "
                f"({high['label']})."
            )


def _describe_model_distance_and_persona_distance(moves: pd.DataFrame) -> Iterator[str]:
    """Say how far two answers are apart that differ in the model, and in the persona, alone."""
    for row in moves.itertuples():
        if row.change in (MODEL, "persona"):
            ends = "" if pd.isna(row.apart_lower) else f" ({row.apart_lower:.3f} to {row.apart_upper:.3f})"
            yield (
                f"Two answers that differ in the {row.change} alone are {row.apart:.3f} of the scale apart, on "
                f"average{ends}."
            )


def _describe_strength_of_clear_styles(styles: pd.DataFrame) -> Iterator[str]:
    """Say how strong the first clear styles are, in three sentences: the method has the rules, the table has all."""
    shown = STYLES if len(styles) <= STYLES else STYLES - 1  # the last sentence counts the others
    for row in styles.head(shown).itertuples():
        is_like = pd.notna(row.like_lower)
        low, high = (row.like_lower, row.like_upper) if is_like else (row.lower, row.upper)
        interval = (
            f"({_format_difference_with_sign(low)} to {_format_difference_with_sign(high)}), for "
            f"{'wordings like these' if is_like else 'these wordings'}"
        )
        difference = f"{row.label} {row.phrase}: {_format_difference_with_sign(row.difference)}"
        yield f"{difference} {interval}." if pd.notna(low) else f"{difference}, with too few items for an interval."
    more = len(styles) - shown
    if more > 0:
        yield f"The table has {format_quantity(more, 'more style')} that {'is' if more == 1 else 'are'} clear."


def _format_difference_with_sign(value: float) -> str:
    """Write a difference with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def _describe_significant_score_difference_count(differences: pd.DataFrame) -> Iterator[str]:
    """Count the differences between models that hold."""
    if len(differences):
        scales = format_quantity(_name_scales_unambiguously(differences).nunique(), "scale")
        sentence = beyond.describe_significant_difference_counts(differences.assign(measure=f"scores on {scales}"))
        if sentence:
            yield sentence


def _describe_smallest_and_largest_wording_spread(spread: pd.DataFrame) -> Iterator[str]:
    """Say how far wordings of an item are apart, for the models with the least and the largest SD."""
    judged = spread[~is_validity_below_half(spread["validity"]) & spread["sd"].notna()]
    if judged.empty:
        return
    low, high = judged.loc[judged["sd"].idxmin()], judged.loc[judged["sd"].idxmax()]
    if len(judged) == 1:
        of_model = f" of {low['label']}" if len(spread) > 1 else ""
        yield (
            f"The answer{of_model} to an item has an SD of {low['sd']:.3f} of the scale over its wordings, on average."
        )
    else:
        yield (
            f"The SD of the answer to an item over its wordings is between {low['sd']:.3f} ({low['label']}) and "
            f"{high['sd']:.3f} ({high['label']}) of the scale, on average."
        )


def _list_cautions(frames: Frames, spread: pd.DataFrame, by_chance: pd.DataFrame) -> Iterator[str]:
    """Yield what weakens the answer."""
    yield from list_cautions_unless_all_models_unjudged(spread)
    items, styles, moves = frames["scales_items"], frames["scales_styles"], frames["scales_moves"]
    if items["study"].nunique() > 1 and len(moves):
        yield Caution(f"What moves answers is said of {moves['study'].iloc[0]} alone; the table has all.", LEFT_OUT)
    if len(by_chance):
        drawn = ", ".join(dict.fromkeys(by_chance["condition"]))
        yield Caution(
            f"Some answers were drawn ({labels.shorten_middle(drawn, 40)}): distances between any two of them hold "
            "chance, too, those between models as well.",
            WRONG,
        )
    items_by_scale = items.groupby(_name_scales_unambiguously(items), sort=False)
    yield from list_few_items_cautions(
        items_by_scale["item"].nunique(), " of a scale", "its intervals are wide, and lean on normal items"
    )
    keys = items_by_scale["key"].nunique()
    if len(keys) and (keys == 1).all():
        yield Caution(
            "No scale has items of both keys: agreeing whatever is asked cannot be told from the opinion.", WRONG
        )
    elif (keys == 1).any():
        names = join_names([labels.shorten_middle(str(name), 40) for name in keys.index[keys == 1]])
        yield Caution(
            f"Items of one key only, so not in what is said of agreeing whatever is asked: {names}.", LEFT_OUT
        )
    if len(styles) and (where := _name_studies_without_value(styles, "style", ORDER)) is not None:
        yield Caution(f"Options were shown in one order only{where}: what their order does is not known.", LEFT_OUT)
    if len(moves) and (where := _name_studies_without_value(moves, "change", WORDING)) is not None:
        yield Caution(
            f"One wording of each item only{where} (beside a paraphrase, the original does not count): nothing is said "
            "of other wordings.",
            LEFT_OUT,
        )
    clear = _select_clear_styles(styles)
    if len(clear) and clear["style"].isin([ENDS, MIDDLE]).any():
        yield Caution(
            "A model whose opinions are stronger picks the ends more often, too: that is no style of its own.", READING
        )


def _name_studies_without_value(table: pd.DataFrame, column: str, value: str) -> str | None:
    """Write " in A and B" of the studies in which no row has a value; empty where no study has it, None where all."""
    has_value = (table[column] == value).groupby(table["study"], sort=False).any()
    lacking = [str(study) for study in has_value.index[~has_value]]
    return None if not lacking else "" if len(lacking) == len(has_value) else f" in {join_names(lacking)}"
