"""Say what the columns of the tables on rating scales mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from analysis.reporting.catalogue.columns import Column, Pattern

S = "share of the scale, 0 to 1"
DIFFERENCE = "share of the scale, -1 to 1"
SHARE = "share, 0 to 1"
LIKE = "for wordings like these: other items and other wordings"
STYLE_WORDS = {
    "acquiescence": "agrees", "ends": "ends", "middle": "middle", "order": "order: rising − falling",
    "no middle": "middle: without − with",
}  # fmt: skip


def phrase_name_of_style(style: str) -> str:
    """Write the name of a style for people.

    >>> phrase_name_of_style("order"), phrase_name_of_style("labels numbers-words")
    ('order: rising − falling', 'labels: numbers − words')
    """
    return STYLE_WORDS.get(style) or style.replace("labels ", "labels: ", 1).replace("-", " − ", 1)


COLUMNS: Mapping[str, Column] = {
    # what a row is about
    "condition": Column("name of the settings; conditions that differ in how the options are shown are one, and so are "
                        "personas", header="Condition"),
    "scales_conditions.condition": Column("name of the settings; conditions that differ in the persona are one",
                                          header="Condition"),
    "scale": Column("name of the scale that items belong to", header="Scale"),
    "key": Column("1, or -1 where agreement counts against the scale: s counts as 1 - s there", header="Key"),
    "text": Column("original wording of the item, or its first", header="Item text"),
    "options": Column("the options, the lowest first", header="Options"),
    "labels": Column("what options are answered by: numbers, letters or words", header="Labels"),
    "option_order": Column("up: the lowest option is shown first; down: the highest", header="Order"),
    "without_middle": Column("whether the middle option is left out", header="No middle"),
    "persona": Column("name of the persona that the model was asked as", header="Persona"),
    "style": Column("response style", header="Style", phrase_name=phrase_name_of_style),
    "change": Column("the one thing in which two answers to an item differ", header="Differ in"),
    "validity": Column(
        "mean mass on the options (where texts were read, the share that can be read as one)", SHARE, "Validity", 2
    ),
    # sizes
    "n_items": Column("items with an answer", "items", "Items"),
    "scales_spread.n_items": Column("items with answers in two wordings or more", "items", "Items"),
    "scales_differences.n_items": Column("items that both have", "items", "Items"),
    "n_reversed": Column("items of the scale whose key is -1", "items", "Reversed"),
    "n_wordings": Column("wordings of each item, as their harmonic mean", "wordings", "Wordings", 1),
    "scales_spread.n_wordings": Column("most wordings of an item with an answer", "wordings", "Wordings"),
    "scales_items.n_wordings": Column("wordings with an answer", "wordings", "Wordings"),
    "n_conditions": Column("conditions that the score is the mean over", "conditions", "Conditions"),
    "n_pairs": Column("pairs of conditions or models that differ in this alone; of wordings, conditions of models with "
                      "several", "pairs", "Pairs"),
    # scores
    "score": Column("mean over items of s, the mean answer from 0 (lowest option) to 1 (highest), after reversing", S,
                    "Score", 3),
    "scales_items.score": Column("s, the mean answer from 0 (lowest option) to 1 (highest), before reversing", S,
                                 "s", 2),
    "score_lower": Column("lower end of the 95 % interval for these wordings: other items", S, "Lower", 3),
    "score_upper": Column("upper end of the 95 % interval for these wordings: other items", S, "Upper", 3),
    "like_lower": Column(f"lower end of the 95 % interval {LIKE}", S, "Like: lower", 3),
    "scales_differences.like_lower": Column(f"lower end of the 95 % interval {LIKE}", DIFFERENCE, "Like: lower", 3),
    "like_upper": Column(f"upper end of the 95 % interval {LIKE}", S, "Like: upper", 3),
    "scales_differences.like_upper": Column(f"upper end of the 95 % interval {LIKE}", DIFFERENCE, "Like: upper", 3),
    "scales_styles.like_lower": Column(
        f"lower end of the 95 % interval {LIKE}; none of ends and middle where items share wordings",
        DIFFERENCE, "Like: lower", 3,
    ),
    "scales_styles.like_upper": Column(
        f"upper end of the 95 % interval {LIKE}; none of ends and middle where items share wordings",
        DIFFERENCE, "Like: upper", 3,
    ),
    "error": Column("standard error of the score, for wordings like these", S, "Error", 3),
    "scales_personas.difference": Column("score less the mean over the personas of the model", DIFFERENCE,
                                         "From mean", 3),
    # moves
    "scales_moves.apart": Column("mean absolute difference of s between two such answers", S, "Apart", 3),
    "models": Column("how far the same answers are from those of another model, asked in the same way", S, "Models", 3),
    "scales_moves.difference": Column("how much further apart that is than two models are", DIFFERENCE, "More", 3),
    # styles
    "value": Column("the model's number: mean s (acquiescence), share of the answer (ends, middle), s shown in the "
                    "first way (order, labels, middle option)", S, "Value", 3),
    "against": Column("what it is compared with: .5, the mean share of the other models in the same condition, or s "
                      "shown in the other way", S, "Against", 3),
    "difference": Column("value less what it is compared with", DIFFERENCE, "Difference", 3),
    "scales_differences.difference": Column("score of a minus score of b", DIFFERENCE, "a − b", 3),
    "p": Column("p value, for wordings like these, that the difference is beyond 0.02 (of ends and middle, 0.05); of "
                "ends and middle the larger of two: against the mean of the other models, and against the model in the "
                "middle of them", "", "p", 3),
    "p_holm": Column("the same after Holm over all styles of a study", "", "p (Holm)", 3),
    "scales_differences.p_holm": Column("p value for wordings like these after Holm", "", "p (Holm)", 3),
    "scales_differences.p": Column("p value for wordings like these: other items and other wordings", "", "p", 3),
    "p_items": Column("p value for these wordings: other items", "", "p, these", 3),
    # differences
    "a_model": Column("model a", header="Model a"),
    "b_model": Column("model b", header="Model b"),
    "a_condition": Column("condition of a", header="Condition a"),
    "b_condition": Column("condition of b", header="Condition b"),
    # examples
    "scales_examples.difference": Column("how far the highest and the lowest wording are apart", S, "Apart", 3),
    "highest": Column("s of the item in its highest wording", S, "Highest", 3),
    "lowest": Column("s of the item in its lowest wording", S, "Lowest", 3),
    "highest_text": Column("that wording", header="Highest wording"),
    "lowest_text": Column("that wording", header="Lowest wording"),
    # wordings
    "sd": Column("SD (n - 1) of s over the wordings of an item", S, "SD", 3),
    "range": Column("highest less lowest s of the wordings of an item", S, "Range", 3),
    "apart": Column("mean distance between the distributions of two wordings (Wasserstein-1 on ranks, by K - 1)", S,
                    "Distance", 3),
    "side_flips": Column("wordings whose s is on the other side of the middle than that of most", SHARE,
                         "Other side", 2),
    "in_middle": Column("wordings whose s is exactly the middle, which is no side", SHARE, "In the middle", 2),
    "mode_flips": Column("wordings whose most probable option is not that of most; without those that have two",
                         SHARE, "Other option", 2),
    "entropy": Column("entropy of an answer, 0 where one option has all", "bits", "Entropy", 2),
    "ends": Column("share of the lowest and the highest option", SHARE, "Ends", 2),
    "middle": Column("share of the middle option, of items with an odd number", SHARE, "Middle", 2),
    "share_*": Column("mean share of the option of this rank, the lowest first", SHARE, "Option", 2),
    "order_effect": Column("s shown rising less s shown falling: above 0, drawn to what stands last", DIFFERENCE,
                           "Order", 3),
    "middle_effect": Column("s without the middle option less s with it", DIFFERENCE, "No middle", 3),
    "label_effect_*": Column("s by the first labels less s by the second", DIFFERENCE, "Labels", 3),
    # people
    "w1": Column("mean distance to the answers of people: Wasserstein-1 on ranks, by K - 1", S, "Distance", 3),
    "tv": Column("mean total variation to the answers of people: the share of answers that differ",
                 SHARE, "Total variation", 3),
    "alignment": Column("1 less the mean distance", SHARE, "Alignment", 3),
    "correlation": Column("Pearson's r over items of mean s of the model and of people, before reversing",
                          "-1 to 1", "Correlation", 2),
    "bias": Column("mean over the items of a scale of s of the model less that of people, after reversing",
                   DIFFERENCE, "Bias", 3),
    "excess": Column("mean distance less that between two groups of as many people; of a model with fewer sampled "
                     "answers, less that of so many from the people", DIFFERENCE, "Excess", 3),
    "w1_lower": Column("lower end of the 95 % interval over items of the distance", S, "Distance: lower", 3),
    "w1_upper": Column("upper end of the 95 % interval over items of the distance", S, "Distance: upper", 3),
    "w1_people_lower": Column("lower end of the 95 % interval over people of the distance",
                              S, "Distance: lower (people)", 3),
    "w1_people_upper": Column("upper end of the 95 % interval over people of the distance",
                              S, "Distance: upper (people)", 3),
    "tv_lower": Column("lower end of the 95 % interval over items of the total variation",
                       SHARE, "Total variation: lower", 3),
    "tv_upper": Column("upper end of the 95 % interval over items of the total variation",
                       SHARE, "Total variation: upper", 3),
    "tv_people_lower": Column("lower end of the 95 % interval over people of the total variation",
                              SHARE, "Total variation: lower (people)", 3),
    "tv_people_upper": Column("upper end of the 95 % interval over people of the total variation",
                              SHARE, "Total variation: upper (people)", 3),
    "alignment_lower": Column("lower end of the 95 % interval over items of the alignment",
                              SHARE, "Alignment: lower", 3),
    "alignment_upper": Column("upper end of the 95 % interval over items of the alignment",
                              SHARE, "Alignment: upper", 3),
    "alignment_people_lower": Column("lower end of the 95 % interval over people of the alignment",
                                     SHARE, "Alignment: lower (people)", 3),
    "alignment_people_upper": Column("upper end of the 95 % interval over people of the alignment",
                                     SHARE, "Alignment: upper (people)", 3),
    "correlation_lower": Column("lower end of the 95 % interval over items of the correlation",
                                "-1 to 1", "Correlation: lower", 2),
    "correlation_upper": Column("upper end of the 95 % interval over items of the correlation",
                                "-1 to 1", "Correlation: upper", 2),
    "correlation_people_lower": Column("lower end of the 95 % interval over people of the correlation",
                                       "-1 to 1", "Correlation: lower (people)", 2),
    "correlation_people_upper": Column("upper end of the 95 % interval over people of the correlation",
                                       "-1 to 1", "Correlation: upper (people)", 2),
    "bias_lower": Column("lower end of the 95 % interval over items of the bias", DIFFERENCE, "Bias: lower", 3),
    "bias_upper": Column("upper end of the 95 % interval over items of the bias", DIFFERENCE, "Bias: upper", 3),
    "bias_people_lower": Column("lower end of the 95 % interval over people of the bias",
                                DIFFERENCE, "Bias: lower (people)", 3),
    "bias_people_upper": Column("upper end of the 95 % interval over people of the bias",
                                DIFFERENCE, "Bias: upper (people)", 3),
    "excess_lower": Column("lower end of the 95 % interval over items of the excess", DIFFERENCE, "Excess: lower", 3),
    "excess_upper": Column("upper end of the 95 % interval over items of the excess", DIFFERENCE, "Excess: upper", 3),
    "excess_people_lower": Column("lower end of the 95 % interval over people of the excess",
                                  DIFFERENCE, "Excess: lower (people)", 3),
    "excess_people_upper": Column("upper end of the 95 % interval over people of the excess",
                                  DIFFERENCE, "Excess: upper (people)", 3),
    "scales_people.scale": Column("name of the scale, or all items", header="Scale"),
    "scales_people.persona": Column("name of the persona that the model was asked as, or all of them: their mixture",
                                    header="Persona"),
    "scales_people.n_items": Column("items that the model and people answered", "items", "Items"),
    "scales_people.w1_net": Column("mean distance less that of people drawn anew from the people",
                                   DIFFERENCE, "Net", 3),
    "scales_people.tv_net": Column("mean total variation less that of people drawn anew from the people",
                                   DIFFERENCE, "Net (TV)", 3),
    "scales_people.alignment_between": Column("alignment of two groups of as many people",
                                              SHARE, "Alignment of people", 3),
    "scales_people.correlation_between": Column("correlation of the item means of two halves of the people, "
                                                "corrected to their full number (Spearman, Brown)",
                                                "-1 to 1", "Correlation of people", 2),
    "scales_people.beside_people": Column("whether the distance is larger than between two groups of as many people",
                                          header="Beside people"),
    "n_people": Column("people who answered an item, on average; empty where that is not known", "people", "People", 0),
    "scales_people_items.persona": Column("name of the persona that the model was asked as, or all of them: their "
                                          "mixture", header="Persona"),
    "scales_people_items.w1": Column("distance to the answers of people: Wasserstein-1 on ranks, by K - 1",
                                     S, "Distance", 3),
    "scales_people_items.tv": Column("total variation to the answers of people", SHARE, "Total variation", 3),
    "w1_net": Column("distance less that of people drawn anew from the people", DIFFERENCE, "Net", 3),
    "tv_net": Column("total variation less that of people drawn anew from the people", DIFFERENCE, "Net (TV)", 3),
    "w1_between": Column("distance between two groups of as many people", S, "Between people", 3),
    "tv_between": Column("total variation between two groups of as many people", SHARE, "Between people (TV)", 3),
    "s_model": Column("mean answer of the model from 0 (lowest option) to 1, before reversing", S, "s, model", 3),
    "s_people": Column("mean answer of people from 0 (lowest option) to 1, before reversing", S, "s, people", 3),
    "scales_people_items.difference": Column("s of the model less s of people", DIFFERENCE, "Difference", 3),
    "scales_people_shares.score": Column("mean answer of people from 0 (lowest option) to 1, before reversing",
                                         S, "s", 3),
    "respondents": Column("who the respondents are: models, personas of a model, or people", header="Over"),
    "scales_respondents.model": Column("model whose personas are the respondents", header="Model"),
    "scales_respondents.n_items": Column("items of the scale that were answered", "items", "Items"),
    "n_respondents": Column("respondents who answered an item of the scale", "respondents", "Respondents"),
    "alpha": Column("Cronbach's alpha, pairwise", "1 at most", "Alpha", 3),
    "alpha_lower": Column("lower end of its 95 % interval (Feldt)", "1 at most", "Lower", 3),
    "alpha_upper": Column("upper end of its 95 % interval (Feldt)", "1 at most", "Upper", 3),
    "omega": Column("total omega of one factor, by maximum likelihood", SHARE, "Omega", 3),
    "n_listwise": Column("respondents who answered all items of the scale", "respondents", "Answered all"),
    "alpha_listwise": Column("Cronbach's alpha of those", "1 at most", "Alpha (all)", 3),
    "why_not": Column("why there is no alpha or omega", header="Why not"),
}  # fmt: skip


def _define_option_share_column(name: str) -> Column | None:
    """Describe the column with the share of one option."""
    rank = name.removeprefix("share_")
    if not rank.isdigit():
        return None
    return replace(COLUMNS["share_*"], meaning=f"mean share of the option of rank {rank}", header=f"Option {rank}")


def _define_label_effect_column(name: str) -> Column | None:
    """Describe the column with the effect of two labels."""
    first, _, second = name.removeprefix("label_effect_").partition("_")
    header = f"{first.capitalize()} − {second}"
    return replace(COLUMNS["label_effect_*"], meaning=f"s by {first} less s by {second}", header=header)


PATTERNS: Mapping[str, Pattern] = {
    "share_*": _define_option_share_column, "label_effect_*": _define_label_effect_column,
}  # fmt: skip
