"""List the tables and figures of the page `scales`; `columns` says what its columns mean."""

from analysis.pages.scales.columns import COLUMNS, PATTERNS
from analysis.pages.scales.people_catalogue import PEOPLE_TABLES
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Rewordings, Table, split_names
from analysis.reporting.catalogue.columns import ONE_INTERVAL, OWN_WORDINGS

_LIKE = "for wordings like these: other items and other wordings drawn anew"
_SCORE = split_names("n_items n_wordings score score_lower score_upper like_lower like_upper error")
_BEYOND = (
    "They test whether a style is beyond 0.02 of the scale (ends and middle: 0.05), so that one may be large where the "
    "interval leaves out 0."
)
_SETTING = "Conditions that differ in how the options are shown count together."
TABLES = {
    "scales_scores": Table(
        "tables.tabulate_scales_scores",
        "Where every model stands on every scale",
        "Mean over the items of a scale of s, the mean answer from 0 (lowest option) to 1 (highest), after reversing; "
        f"averaged over wordings first. {_SETTING} Two 95 % intervals: for these wordings, with items drawn "
        f"anew, and {_LIKE}. {OWN_WORDINGS} "
        "By t, corrected for skewness, and no wider than Wilson's of as many answers of 0 or 1.",
        (*split_names("study model condition scale validity n_reversed n_conditions"), *_SCORE),
        frozenset(split_names("validity score_lower score_upper error")),
        repeats={"like_lower": "score_lower", "like_upper": "score_upper"},
        caption_without_repeats="Mean over the items of a scale of s, the mean answer from 0 (lowest option) to 1 "
        f"(highest), after reversing; averaged over wordings first. {_SETTING} With {ONE_INTERVAL} By t, corrected for "
        "skewness, and no wider than Wilson's of as many answers of 0 or 1.",
        measures=Measures({"score": "Score on scale"}, kinds=("scale",), joins_conditions=True),
    ),
    "scales_moves": Table(
        "styles.tabulate_answer_distances_by_differing_factor",
        "What moves an answer, beside another model",
        "Mean over items of the absolute difference of s between two answers to an item that differ in one thing "
        "alone. This is the wording, the order of the options, their labels, the middle option, the persona, or the "
        "model. 95 % intervals over items (bootstrap). Models: how far the same answers are from those of another "
        "model; answers without one are left out where there are others. Difference: how much further they are apart "
        "than that; where items share their wordings, its interval is over these, too (jackknife).",
        split_names("study change n_pairs n_items apart apart_lower apart_upper models difference lower upper "
                    "no_interval"),
        frozenset({"apart_lower", "apart_upper", "lower", "upper"}), frozenset({"no_interval", "models", "difference"}),
        interval={"difference": ("lower", "upper")},
    ),
    "scales_styles": Table(
        "styles.tabulate_response_styles",
        "Response styles",
        "Each style is a number of the model less what it is compared with. Acquiescence: s before reversing, with "
        "equal weight for both keys of a scale, less .5. Ends and middle: share of the answer, less that of the other "
        "models. Order, labels, no middle: s shown in one way, less s shown in the other. Two 95 % intervals, by t: "
        f"for these wordings, and {_LIKE}. {OWN_WORDINGS} "
        f"The p values are for the latter, after Holm over all styles of a study. {_BEYOND}",
        split_names("study model condition style validity n_items value against difference lower upper like_lower "
                    "like_upper p p_holm"),
        frozenset(split_names("validity lower upper p")), interval={"difference": ("lower", "upper")},
        repeats={"like_lower": "lower", "like_upper": "upper"},
        caption_without_repeats="Each style is a number of the model less what it is compared with. Acquiescence: s "
        "before reversing, with equal weight for both keys of a scale, less .5. Ends and middle: share of the answer, "
        "less that of the other models. Order, labels, no middle: s shown in one way, less s shown in the other. By t, "
        f"with {ONE_INTERVAL} The p values are for wordings like these, after Holm over all styles of a study. "
        f"{_BEYOND}",
        measures=Measures({"difference": "Style"}, kinds=("style",), joins_conditions=True),
    ),
    "scales_spread": Table(
        "wordings.tabulate_answer_spread_over_wordings",
        "What the wordings of an item do to its answer",
        "SD and range of s over the wordings of an item, and distance between the distributions of two of them. Shares "
        "of wordings on the other side of the middle, in the middle, and with another most probable option. Means over "
        "items with two wordings or more. Entropy, ends and middle of single answers. 95 % intervals over items "
        "(bootstrap).",
        split_names("study model condition validity validity_at_most n_conditions n_items n_wordings sd range apart "
                    "side_flips in_middle mode_flips intervals entropy ends middle no_interval"),
        frozenset({"validity", "validity_at_most", "n_conditions"}), frozenset({"no_interval", "middle"}),
        measures=Measures(
            {"sd": "SD over wordings", "side_flips": "Wordings on the other side", "apart": "Distance of wordings",
             "ends": "Share at the ends"},
            headline=("sd", "side_flips"), lead="sd", joins_conditions=True,
        ),
    ),
    "scales_items": Table(
        "wordings.tabulate_answer_distributions_of_items",
        "Answers to every item",
        "Mean shares of the options, the lowest first, and mean s, before reversing. Then what the wordings of the "
        "item, the order of the options, the middle option and their labels do to s.",
        split_names("study model condition item scale key text options validity n_wordings score share_* sd range "
                    "apart side_flips in_middle mode_flips order_effect middle_effect label_effect_*"),
        frozenset(split_names("text options validity range in_middle")),
        frozenset(split_names("order_effect middle_effect")),
    ),
    "scales_examples": Table(
        "wordings.tabulate_items_with_furthest_wordings",
        "The items whose wordings are furthest apart",
        "Of every model, the items with the largest difference between the answers to their wordings, with both texts; "
        "s before reversing.",
        split_names("study model condition item difference highest highest_text lowest lowest_text"),
    ),
    "scales_differences": Table(
        "tables.tabulate_scale_score_differences_of_pairs",
        "Which models differ on which scale",
        "Difference a minus b of the scores, on the items and wordings that both have. Two 95 % intervals: for these "
        f"wordings, and {_LIKE}. {OWN_WORDINGS} "
        "The p values are those of t tests with the same standard errors. Holm's correction "
        "is over all pairs and scales of a study.",
        split_names("study scale a_model a_condition b_model b_condition n_items n_wordings difference lower upper "
                    "like_lower like_upper p_items p p_holm"),
        frozenset(split_names("lower upper p_items p")), interval={"difference": ("lower", "upper")},
        repeats={"like_lower": "lower", "like_upper": "upper"},
        caption_without_repeats="Difference a minus b of the scores, on the items and wordings that both have, with "
        f"{ONE_INTERVAL} The p values are those of t tests with the same standard errors. Holm's correction is over "
        "all pairs and scales of a study.",
    ),
    "scales_conditions": Table(
        "tables.tabulate_scale_scores_by_condition",
        "Scores by labels, order and middle option",
        "The same scores in each way in which the options are shown; the mean over personas, where there are some.",
        (*split_names("study model condition labels option_order without_middle scale validity"), *_SCORE),
        frozenset(split_names("validity score_lower score_upper like_lower like_upper error")),
        frozenset({"labels", "option_order"}),
    ),
    "scales_personas": Table(
        "tables.tabulate_scale_scores_by_persona",
        "Scores by persona",
        f"The same scores as each persona, and how far they are from the mean over the personas of a model. {_SETTING} "
        "Intervals are by t alone, cut at 0 and 1.",
        split_names("study model condition persona scale validity n_items score score_lower score_upper difference"),
        frozenset(split_names("validity score_lower score_upper")),
    ),
}  # fmt: skip
FIGURES = {
    "scales_scores": Figure(
        "Where every model stands on every scale, with 95 % intervals", "figures.build_scales_scores_frames",
        empty_note="No item belongs to a scale.",
    ),
    "scales_moves": Figure(
        "How far two answers are apart that differ in one thing alone", "figures.build_scales_moves_frames",
        empty_note="No two answers to an item differ in one thing alone.",
    ),
    "scales_styles": Figure(
        "Response styles of every model", "figures.build_scales_styles_frames",
        empty_note="No model has a style to compare.",
    ),
    "scales_items": Figure(
        "Answers to every item, as shares of the options", "figures.build_scales_items_frames",
        empty_note="No item has an answer.",
    ),
}  # fmt: skip
CATALOGUE = Catalogue(
    place=25,
    protocols=frozenset({"scale"}),
    tables={**TABLES, **PEOPLE_TABLES},
    columns=COLUMNS,
    figures=FIGURES,
    patterns=PATTERNS,
    rewordings=Rewordings(
        "analysis.measures.reworded.ratings:read_scale_studies", "analysis.measures.reworded.ratings:has_rewordings"
    ),
)
