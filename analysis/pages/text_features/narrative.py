"""Write the sentences of the page on text features: what was asked, the answer on top, what belongs to which figure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from analysis import features
from analysis.features.attributes import is_attribute_column, split_term_into_column_and_level
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.text_features.cautions import list_cautions
from analysis.pages.text_features.columns import TERMS
from analysis.pages.text_features.printed import read_printed_effects
from analysis.pages.text_features.terms import (
    add_fit_labels,
    name_predictor,
    phrase_predictor_as_title,
    phrase_predictor_count,
)
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.columns import Column, format_value_by_column
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.reporting.words import (
    Answer,
    format_count_range,
    format_quantity,
    join_names,
    phrase_count_of_model_condition_pairs,
)
from analysis.reporting.words.counts import phrase_models_in_conditions
from analysis.reporting.words.labels import UNIT
from analysis.reporting.words.validity import phrase_verdict_without_judged_model
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA
from analysis.statistics.multiplicity import holm

# An effect is told per such a step of its feature: wordings differ by as much, so nothing is extrapolated.
_STEPS = {
    "characters": (1, "character"), "words": (1, "word"), "cues": (1, "cue"), "nats": (1, "nat"),
    "Zipf": (1, "step on the Zipf scale"), "per word": (0.1, "0.1 dependents per word"), "0 to 1": (0.1, "step of 0.1"),
}  # fmt: skip
WORD_MEANINGS = (
    f"An effect is confirmed where two p values are below {ALPHA:g} after Bonferroni's correction: that of the fit, "
    "and one that allows for effects that differ between items."
)
NOTHING = "No feature of the wording varies."
ONLY_EXAMPLES = "Nothing is known about the wording: only the number of examples varied."


def answer_page_question(
    frames: Mapping[str, pd.DataFrame],
    answer_pair: AnswerPair,
    when: str = "",
    drawn_effects: pd.DataFrame | None = None,
    varying_examples: Collection[str] = (),
) -> Answer:
    """Say which feature of a wording goes with another answer, by the rules of `verdicts`: only confirmed ones do.

    Parameters
    ----------
    frames
        The tables of the page by name.
    answer_pair
        The two answers.
    when
        From `words.phrase_run_dates`.
    drawn_effects
        The effects as the figure shows them (`figures.join_effects_over_option_orders`), which the sentences count;
        table `mixed` unless given.
    varying_examples
        Studies whose wordings are numbers of examples
        (`reporting.words.shots.find_studies_whose_wordings_are_example_counts`): no sentence is about the features of
        their wording, which are those of the examples.

    Returns
    -------
    Answer
        What the page says in words.
    """
    fits = add_fit_labels(frames["mixed_diagnostics"])
    all_fitted = fits[fits["n_rows"] > 0]
    fitted = all_fitted[~is_validity_below_half(all_fitted["validity"])]
    effects = _select_effects_of_answering_models(frames["mixed"], fitted)
    doubts = tuple(list_cautions(frames, effects, fits))
    if fitted.empty and len(all_fitted):
        verdict, why = phrase_verdict_without_judged_model(all_fitted)
        all_effects = _select_effects_of_answering_models(frames["mixed"], all_fitted)
        setup = _phrase_model_item_and_feature_counts(all_effects, all_fitted, when)
        return Answer(setup, verdict, cautions=(*why, *doubts))
    if drawn_effects is not None:
        labelled_effects = add_fit_labels(drawn_effects)  # of some fits alone, a label may lack study or condition
        effects = labelled_effects[~drawn_effects["silent"] & drawn_effects["estimate"].notna()]
    pairs = tuple(
        sentence
        for study, part in frames["correlations"].groupby("study", sort=False)
        for sentence in _compare_feature_correlations_with_paper(
            part, f"Study “{study}”: " if frames["correlations"]["study"].nunique() > 1 else ""
        )
    )
    setup = _phrase_model_item_and_feature_counts(effects, fitted, when)
    if effects.empty:
        return Answer(setup, NOTHING, cautions=doubts, details={"correlations": pairs})
    effects, fitted = (frame[~frame["study"].isin(varying_examples)] for frame in (effects, fitted))
    if effects.empty:
        return Answer(setup, ONLY_EXAMPLES, cautions=doubts, details={"correlations": pairs})
    details = {
        "effects": (WORD_MEANINGS, *_describe_strongest_effect(effects)),
        "mixed": (
            *_describe_effect_directions(effects, answer_pair, len(fits)),
            *_describe_agreement_with_printed_signs(effects),
        ),
        "mixed_diagnostics": tuple(_describe_explained_variance(fitted)),
        "correlations": pairs,
    }
    verdict = _describe_feature_with_most_effects(effects, answer_pair, len(fits))
    return Answer(setup, verdict, cautions=doubts, details=details)


def _select_effects_of_answering_models(mixed: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """Choose the effects of some fits, with their labels: sentences are about the models that answer."""
    slopes = mixed[(mixed["term"] != INTERCEPT) & mixed["estimate"].notna()]
    return slopes.merge(fits[[*UNIT, "label"]], on=UNIT)


def _phrase_model_item_and_feature_counts(effects: pd.DataFrame, fitted: pd.DataFrame, when: str) -> str:
    """Say how many models, paraphrases, items and features the answer rests on."""
    models_text = phrase_models_in_conditions(effects if len(effects) else fitted)
    models_text += "," if "," in models_text else ""
    features_text = phrase_predictor_count(effects["term"], "feature") if len(effects) else "the features"
    return (
        f"The answers of {models_text} to paraphrases of {format_count_range(fitted['n_items'], 'item')} were compared "
        f"with {features_text} of their wording{when}."
    )


def _phrase_fit_count(effects: pd.DataFrame) -> str:
    """Count the fits that some effects are of: models, or models under a condition."""
    return phrase_count_of_model_condition_pairs(effects.drop_duplicates(UNIT))


def count_confirmed_effects_by_term(effects: pd.DataFrame) -> pd.Series:
    """Return term -> number of its confirmed effects, the most first; a term without any has no entry.

    Of terms with equally many, the one with the largest confirmed effect comes first.
    """
    confirmed_rows = effects[effects["confirmed"].astype(bool)]
    sizes_by_term = (
        confirmed_rows.assign(size=confirmed_rows["estimate_std"].abs()).groupby("term")["size"].agg(["size", "max"])
    )
    return sizes_by_term.sort_values(["size", "max"], ascending=False, kind="stable")["size"]


def _describe_feature_with_most_effects(effects: pd.DataFrame, answer_pair: AnswerPair, n_asked: int) -> str:
    """Name the feature with most confirmed effects, if any, and their direction; the fit where others are."""
    counts_by_term = count_confirmed_effects_by_term(effects)
    if counts_by_term.empty:
        tested = phrase_predictor_count(effects["term"], "feature")
        return (
            f"These runs cannot tell: no effect of the {tested} on the answers of {_phrase_fit_count(effects)} is "
            "confirmed."
        )
    rows = effects[effects["term"] == counts_by_term.index[0]]
    up = rows.loc[rows["confirmed"].astype(bool), "estimate"] > 0
    direction_text = "a higher" if up.all() else "a lower" if not up.any() else "a higher or lower"
    direction_text = (
        f"{direction_text} {answer_pair.measure_phrase}"
        if not answer_pair.is_agree_disagree
        else f"{direction_text.removeprefix('a ')} agreement"
    )
    term = str(counts_by_term.index[0])
    begin = f"{phrase_predictor_as_title(term)}{' most often' if len(counts_by_term) > 1 else ''}"
    fits_text = (
        f"with {int(counts_by_term.iloc[0])} of {_phrase_fit_count(rows)}"
        if len(rows) > 1
        else f"with {_name_only_fit(rows, n_asked)}"
    )
    is_only_term = len(counts_by_term) == 1 and len(effects) > len(rows)
    rest_text = " No other feature has a confirmed effect." if is_only_term else ""
    return f"{begin}: {_phrase_subject_and_verb_of_effect(term)} with {direction_text} {fits_text}.{rest_text}"


def _name_only_fit(effects: pd.DataFrame, n_asked: int) -> str:
    """Name the only fit that some effects are of, where there are others."""
    return str(effects["label"].iloc[0]) if n_asked > 1 else "this model"


def _describe_effect_directions(effects: pd.DataFrame, answer_pair: AnswerPair, n_asked: int) -> Iterator[str]:
    """Say of each feature with a confirmed effect in which direction it goes."""
    counts_by_term = count_confirmed_effects_by_term(effects)
    total = int(effects["confirmed"].sum())
    yield f"{total or 'None'} of {format_quantity(len(effects), 'effect')} {'is' if total <= 1 else 'are'} confirmed."
    for term in counts_by_term.index:
        rows = effects[(effects["term"] == term) & effects["confirmed"].astype(bool)]
        up, down = int((rows["estimate"] > 0).sum()), int((rows["estimate"] < 0).sum())
        fits = effects[effects["term"] == term]
        is_single = len(fits.drop_duplicates(UNIT)) == 1
        parts = [
            f"{side} {answer_pair.measure_phrase} with {_name_only_fit(fits, n_asked) if is_single else number}"
            for side, number in (("higher", up), ("lower", down))
            if number
        ]
        of_fits = "" if is_single else f" of {_phrase_fit_count(fits)}"
        yield (
            f"{phrase_predictor_as_title(str(term))}: {_phrase_subject_and_verb_of_effect(str(term))} with "
            f"{' and with '.join(parts)}{of_fits} (confirmed effects)."
        )


def _phrase_subject_and_verb_of_effect(term: str) -> str:
    """Say what goes with another answer: a level of a category, or higher values of a feature."""
    return "it goes" if split_term_into_column_and_level(term)[1] else "higher values go"


def _describe_agreement_with_printed_signs(effects: pd.DataFrame) -> Iterator[str]:
    """Compare the sign of most confirmed effects, here and in the paper's Table 3; nothing where none is confirmed."""
    printed_rows = read_printed_effects()
    printed_signs = _find_majority_signs(printed_rows[printed_rows["p_bonferroni"] < ALPHA])
    run_signs = _find_majority_signs(effects[effects["confirmed"].astype(bool)])
    for sign_text, sign in (("the same sign", 1), ("the opposite sign", -1)):
        term_names = [
            name_predictor(term)
            for term in run_signs.index
            if term in printed_signs and run_signs[term] == sign * printed_signs[term]
        ]
        if term_names:
            yield (
                f"Most confirmed effects have {sign_text} as most significant ones in Table 3 of Haller et al. for "
                f"{join_names(term_names, 4)}."
            )


def _find_majority_signs(effects: pd.DataFrame) -> pd.Series:
    """Return term -> 1 where most effects are positive, -1 where most are negative; no entry for a tie."""
    up = (effects["estimate"] > 0).groupby(effects["term"], sort=False).mean()
    return (up > 0.5).map({True: 1, False: -1})[up != 0.5]


def _describe_strongest_effect(effects: pd.DataFrame) -> Iterator[str]:
    """Write the largest confirmed effect, with its interval and in the unit of its feature."""
    confirmed_rows = effects[effects["confirmed"].astype(bool)]
    if confirmed_rows.empty:
        return
    largest_effect = confirmed_rows.iloc[int(confirmed_rows["estimate_std"].abs().to_numpy().argmax())]
    column = look_up_column("mixed", "estimate_std")
    ends = [_format_signed_value(largest_effect[end], column) for end in ("estimate_std_lower", "estimate_std_upper")]
    yield (
        f"The largest confirmed effect is that of {name_predictor(largest_effect['term'])} with "
        f"{largest_effect['label']}: {_format_signed_value(largest_effect['estimate_std'], column)} SD per SD of the "
        f"{'attribute' if is_attribute_column(largest_effect['term']) else 'feature'} (95 % interval {ends[0]} "
        f"to {ends[1]})."
    )
    yield f"That is {_format_effect_in_feature_unit(largest_effect)}."


def _format_signed_value(number: float, column: Column) -> str:
    """Write a value in the digits of its column, with a plus before a positive one."""
    text = format_value_by_column(number, column)
    return f"+{text}" if number > 0 and text[0].isdigit() else text


def _format_effect_in_feature_unit(effect: pd.Series) -> str:
    """Write an effect in the unit of the feature."""
    step, step_name = _STEPS[TERMS[effect["term"]].unit] if effect["term"] in TERMS else (1, "unit of the attribute")
    if levels := split_term_into_column_and_level(effect["term"])[1]:
        step_name = f"wording ({levels})"
    change = step * effect["estimate"]
    if effect["scale"] == "logit":
        return (
            f"{_format_signed_value(change, look_up_column('scales', 'estimate_logit'))} nats of its logit per "
            f"{step_name}"
        )
    return (
        f"{_format_signed_value(100 * change, look_up_column('table3', 'effect_word_length'))} percentage points per "
        f"{step_name}"
    )


def _describe_explained_variance(fitted: pd.DataFrame) -> Iterator[str]:
    """Say how much of the variance of the answers features explain, and how much the item."""
    items = fitted["r2_conditional"] - fitted["r2_marginal"]
    yield (
        f"All features together explain {_format_percent_range(fitted['r2_marginal'])} of the variance of the answers."
    )
    yield f"The item that is asked explains another {_format_percent_range(items)}."


def _format_percent_range(shares: pd.Series) -> str:
    """Write the lowest and the highest share as percentages; one where they round to the same."""
    low, high = (
        f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}" for share in (shares.min(), shares.max())
    )
    return f"{low} %" if low == high else f"{low} to {high} %"


def _compare_feature_correlations_with_paper(correlations: pd.DataFrame, of_study: str) -> Iterator[str]:
    """Compare the correlations of the paper's predictors with what the paper says about its Figure 6.

    The first sentence begins with the study, of several; on the page it begins a paragraph, too.
    """
    order = {name: place for place, name in enumerate(features.PUBLISHED)}
    published_pairs = correlations[
        correlations["feature_a"].isin(order) & correlations["feature_b"].isin(order)
    ].dropna(subset=["r"])
    pairs = published_pairs[published_pairs["feature_a"].map(order) < published_pairs["feature_b"].map(order)]
    present = correlations.loc[correlations["feature_a"].isin(order), "feature_a"].nunique()
    if pairs.empty:
        yield f"{of_study}{'t' if of_study else 'T'}oo few of the paper's features are present to compare them."
        return
    features_text = (
        "the paper's eight features" if present == len(order) else f"{present} of the paper's eight features"
    )
    weak = pairs[holm(pairs["p"].to_numpy(float)) >= ALPHA]
    verb = "is" if 1 in (len(pairs), len(pairs) - len(weak)) else "are"
    yield (
        f"{of_study}{len(pairs) - len(weak)} of {format_quantity(len(pairs), 'correlation')} between {features_text} "
        f"{verb} significant at {ALPHA:g} after Holm (n = {format_count_range(pairs['n'])})."
    )
    yield "The test takes all wordings for independent; those of one item are alike, so it calls too many significant."
    yield "Haller et al. (Figure 6) call all of theirs significant, without a correction."
    strongest = pairs.loc[pairs["r"].abs().sort_values(ascending=False).index[:2]]
    pair_texts = [
        f"{name_predictor(a)} with {name_predictor(b)} "
        f"({format_value_by_column(r, look_up_column('correlations', 'r'))})"
        for a, b, r in zip(strongest["feature_a"], strongest["feature_b"], strongest["r"], strict=True)
    ]
    yield f"The strongest: {join_names(pair_texts)}."
    weak_texts = [
        f"{name_predictor(a)} with {name_predictor(b)}"
        for a, b in zip(weak["feature_a"], weak["feature_b"], strict=True)
    ]
    if weak_texts:
        yield f"Not significant: {join_names(weak_texts, 3)}."
