"""Say what the columns of the tables on reliability mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import MASS, SHARE, Column

UNIT = "unit of the measure"
SQUARED = "unit of the measure, squared"
COUNTED = "share of items, 0 to 1"
PROBABILITY = "probability, 0 to 1"
THESE = (
    "other items, these wordings; Wilson's of accuracy and where all answers are 0 or 1, else by t, heeding skewness; "
    "without bounds, none where some items are alike and fewer than six differ from these"
)
APART = "other items, these wordings; none where some items are alike and fewer than six differ from these"
OTHER = "other items and other wordings drawn anew"
LIKE = f"{OTHER}; none where there is none for these wordings"
BOTH, ITEMS = "items and wordings", "items"  # what another study has anew
ALL = "all"  # the task of a mean over tasks
UNSAMPLED = "no answer has two samples"
UNTOLD = "what thoughts add counts as wordings"  # to right or wrong answers, or to logits
COLUMNS: Mapping[str, Column] = {
    # what a row is about
    "measure": Column(
        "agreement: probability of the first answer, divided by that of both; logit: its log odds; accuracy: 1 where "
        "the answer is right, else 0, or the share of orders of the options in which it is; probability of the right "
        "answer: of choices after thoughts, divided by that of all options; score: from 0, the lowest "
        "number of the scale, to 1, the highest; or what a column of scores measures, as a share of its range, and "
        "without a range in its unit",
        header="Measure",
    ),
    "headline": Column("whether the sentences are about this measure: accuracy where a right answer is known",
                       header="Headline"),
    "design": Column(
        "whether all items share the wordings (templates, prompts), as found from the texts or the attribute "
        "`template`, or each item has its own (paraphrases). Where questions have one wording, orders of their options "
        "count as wordings; where they have several, the answer to one is the mean over its orders",
        header="Design",
    ),
    "validity": Column(
        "mean mass on the options over all wordings (of texts, the share that can be read as one; of responses with "
        "scores, the share that has one)", MASS, "Validity", 2
    ),
    "template": Column("the wording that items share", header="Template"),
    "task": Column("of accuracies without answers: the task that was asked; all: mean over tasks", header="Task"),
    # sizes
    "n_items": Column("items that the figures are computed over; of several models, common ones; of accuracies without "
                      "answers, the least number of answers behind one", "items", "Items"),
    "n_fewer": Column("items with fewer than k valid wordings, which are left out", "items", "Fewer"),
    "n_wordings": Column(
        "wordings of each item, as their harmonic mean; of several models, common ones", "wordings", "Wordings", 1,
    ),
    "n_shared": Column(
        "different wordings that items share, as the effective number 1 / (sum of their squared shares of the mean): "
        "more than each item has where items have only some of them; missing where items have their own",
        "wordings", "Shared", 1,
    ),
    "n": Column("valid answers", "answers", "n"),
    "sampled": Column("what an answer is the mean of: thoughts, each with exact probabilities, or samples, such as "
                      "texts and scores; empty where nothing was sampled", header="Mean of"),
    "n_samples": Column("valid samples, or thoughts with an answer, behind an answer, harmonic mean; missing where "
                        "nothing was sampled twice",
                        "samples", "Samples", 1),
    "missing": Column("why figures of this row are missing", header="Missing"),
    "wording_ranking.anew": Column("what another study has anew: items and wordings, or, where all items share one "
                                   "wording, items only", header="Drawn anew"),
    "ranking_reliability.anew": Column("what another study has anew: items and wordings, or, where all items share one "
                                       "wording, items only", header="Drawn anew"),
    "n_models": Column("models that answer, each under its first condition in run.json", "models", "Models"),
    "n_templates": Column("templates with a valid answer", "templates", "Templates"),
    "k": Column("number of wordings that is compared", "wordings", "k"),
    "wordings_least": Column("fewest valid wordings of an item", "wordings", "Fewest"),
    "wordings_most": Column("most valid wordings of an item", "wordings", "Most"),
    # means
    "mean": Column("mean over items of the mean over each item's wordings", UNIT, "Mean", 3),
    "mean_lower": Column(f"lower end of the 95 % interval of the mean: {THESE}", UNIT, "Lower", 3),
    "mean_upper": Column(f"upper end of the 95 % interval of the mean: {THESE}", UNIT, "Upper", 3),
    "like_lower": Column(f"lower end of the 95 % interval for wordings like these: {LIKE}", UNIT, "Like these, from",
                         3),
    "like_upper": Column(f"upper end of the 95 % interval for wordings like these: {LIKE}", UNIT, "to", 3),
    "error": Column(f"standard error of the mean, with {OTHER}", UNIT, "Standard error", 4),
    "error_least": Column("standard error that would be left with wordings without end", UNIT, "Least error", 4),
    "widening": Column("standard error, divided by the one with wordings without end; missing where items do not "
                       "differ beyond what their wordings explain", "ratio, from 1", "Widening", 2),
    "widening_lower": Column("lower end of the 95 % interval of the widening", "ratio, from 1", "Lower", 2),
    "widening_upper": Column("upper end of the 95 % interval of the widening", "ratio, from 1", "Upper", 2),
    # components
    "item": Column("variance component of items, 0 where its estimate is below; with one wording of each, what it does "
                   "to them is a part of it", SQUARED, "Item", 4),
    "wording": Column("variance component of wordings; of each item's own ones, with all else that is left but samples",
                      SQUARED, "Wording", 4),
    "interaction": Column("variance component of items by wordings, with all else that is left but samples; missing "
                          "where each item has its own wordings", SQUARED, "Item × wording", 4),
    "sample": Column("variance component of a single sample, or thought; an answer from n of them is off by an n-th of "
                     "it", SQUARED, "Sample or thought", 4),
    "item_lower": Column("lower end of the 95 % interval of the component of items", SQUARED, "Lower", 4),
    "item_upper": Column("upper end of the 95 % interval of the component of items", SQUARED, "Upper", 4),
    "wording_lower": Column("lower end of the 95 % interval of the component of wordings", SQUARED, "Lower", 4),
    "wording_upper": Column("upper end of the 95 % interval of the component of wordings", SQUARED, "Upper", 4),
    "interaction_lower": Column("lower end of the 95 % interval of the component of interactions", SQUARED, "Lower", 4),
    "interaction_upper": Column("upper end of the 95 % interval of the component of interactions", SQUARED, "Upper", 4),
    "sample_lower": Column("lower end of the 95 % interval of the component of samples or thoughts", SQUARED,
                           "Lower", 4),
    "sample_upper": Column("upper end of the 95 % interval of the component of samples or thoughts", SQUARED,
                           "Upper", 4),
    "worth": Column("counted answers that one thought with exact probabilities is worth: variance of an answer drawn "
                    "after a thought, divided by that of the thought's exact probabilities; 1 where every thought "
                    "settles the answer; missing without two thoughts", "answers, from 1 on", "Worth", 2),
    "worth_lower": Column("lower end of its 95 % interval, over items; none with fewer than eight",
                          "answers, from 1 on", "Lower", 2),
    "worth_upper": Column("upper end of its 95 % interval, over items", "answers, from 1 on", "Upper", 2),
    "icc": Column("intraclass correlation of one wording: ICC(A,1) where items share the wordings, else ICC(1); with "
                  "one wording of each item, share of the variance of answers that is not due to sampling",
                  "up to 1", "ICC, one wording", 2),
    "icc_sample": Column("the same of one wording read from a single sample or thought", "up to 1",
                         "ICC, one sample", 2),
    "icc_mean": Column("intraclass correlation of the mean of all wordings: ICC(A,k), or ICC(k)", "up to 1",
                       "ICC, all wordings", 2),
    "alpha": Column("Krippendorff's alpha of the wordings of each item, on an interval scale", "up to 1", "Alpha", 2),
    # spreads
    "range_all": Column("highest minus lowest agreement of an item, mean over items", SHARE, "Range, all", 3),
    "range_k": Column("the same, expected with k wordings of each item", SHARE, "Range at k", 3),
    "sd_k": Column("standard deviation over an item's wordings (n - 1), mean over items: the root of the mean variance "
                   "is the same at any k", SHARE, "SD", 3),
    "flip_all": Column("share of items of which more wordings (of agreement: paraphrases) than the threshold are with "
                       "the minority", COUNTED,
                       "Flips, all", 3),
    "flip_k": Column("the same, expected with k wordings of each item", COUNTED, "Flips at k", 3),
    # differences
    "a_model": Column("first model of the pair", header="a"),
    "a_condition": Column("condition of the first", header="a's condition"),
    "b_model": Column("second model of the pair", header="b"),
    "b_condition": Column("condition of the second", header="b's condition"),
    "difference": Column("mean of a minus mean of b", UNIT, "Difference", 3),
    "lower": Column(f"lower end of the 95 % interval of the difference: {APART}", UNIT, "Lower", 3),
    "upper": Column(f"upper end of the 95 % interval of the difference: {APART}", UNIT, "Upper", 3),
    "p_items": Column("two-sided p value of the difference for these wordings, not corrected", "", "p, these wordings",
                      3),
    "p": Column("two-sided p value of the difference for wordings like these, not corrected", "", "p", 3),
    "p_holm": Column("p after Holm over the pairs of a study and measure", "", "p (Holm)", 3),
    "same_wordings": Column("probability that another study with other wordings of the same items finds the same sign",
                            PROBABILITY, "Same sign: wordings", 2),
    "same_items": Column("probability of the same sign with other items in the same wordings", PROBABILITY, "items", 2),
    "same_both": Column("probability of the same sign with other items and other wordings", PROBABILITY, "both", 2),
    "margin": Column("difference that counts as none", UNIT, "Margin", 3),
    "p_equivalent": Column("p value of two one-sided tests that the difference is within the margin, for wordings like "
                           "these; 0 where all answers are the same, else none where the difference has no interval",
                           "", "p, equivalent", 3),
    # rankings
    "rank": Column(
        "place of the model by its mean: the highest first, or the lowest where lower is better", "rank", "Rank", 1
    ),
    "rank_lower": Column("lower end of the ranks that hold in 95 % of other studies", "rank", "Lower", 1),
    "rank_upper": Column("upper end of the ranks that hold in 95 % of other studies", "rank", "Upper", 1),
    "first": Column("probability to be first in another study of this size", PROBABILITY, "First", 2),
    "models": Column("variance component of models", SQUARED, "Model", 4),
    "item_wording": Column("variance component of items by wordings; missing where each item has its own", SQUARED,
                           "Item × wording", 4),
    "model_item": Column("variance component of models by items", SQUARED, "Model × item", 4),
    "model_wording": Column("variance component of models by wordings; missing where each item has its own", SQUARED,
                            "Model × wording", 4),
    "residual": Column("variance component of all else: models by items by wordings, and samples; with one wording, "
                       "what sampling adds to an answer", SQUARED, "Rest", 4),
    "relative": Column("relative coefficient of generalizability of the ranking: share of the variance of the models' "
                       "means that is not error; a negative component counts as 0", SHARE, "Reliability", 2),
    "relative_lower": Column("lower end of its 95 % interval, for models, items and wordings like these; missing where "
                             "too few answers are left to tell items and wordings apart", SHARE, "Lower", 2),
    "relative_upper": Column("upper end of its 95 % interval", SHARE, "Upper", 2),
    "relative_few": Column("the same with 3 wordings", SHARE, "With 3 wordings", 2),
    "absolute": Column("absolute coefficient of generalizability, of the means themselves", SHARE, "Absolute", 2),
    "tau": Column("expected Kendall tau of the ranking with that of another study of this size", "-1 to 1", "Tau", 2),
    # what was foreseen
    "figure": Column("mean; sd: mean SD over an item's wordings; flips: share of items that flip", header="Figure"),
    "n_pilot": Column("wordings of each item that the pilot has", "wordings", "Pilot"),
    "planned_errors.k": Column("wordings of each item that the error is of", "wordings", "k"),
    "predicted": Column("standard error that the pilot foresees; missing where no item of it flips, or all do; of the "
                        "SD with fewer than 5 shared wordings in the pilot, and for more than twice its wordings where "
                        "these are fewer than 7 or items' SDs do not differ beyond chance", UNIT, "Foreseen", 4),
    "actual": Column("standard error computed from k wordings that the pilot does not have: root of the mean square "
                     "over draws; missing where no item flips", UNIT, "Actual", 4),
    "anew": Column("what the other half has anew: wordings, or both wordings and items", header="Anew"),
    "low": Column("from this probability", PROBABILITY, "From", 1),
    "high": Column("to below this one (the last class: and with it)", PROBABILITY, "To", 1),
    "n_cases": Column("pairs of models; each counts once for every half of every cut in which it has an order", "pairs",
                      "Pairs"),
    "foreseen": Column("mean probability of the pairs to keep their order", PROBABILITY, "Foreseen", 3),
    "kept": Column("share of them that kept it in the other half", "share of pairs, 0 to 1", "Kept", 3),
    # templates
    "accuracy": Column("share of the items that are answered rightly with this template", SHARE, "Accuracy", 3),
    "template_scores.mean": Column("mean accuracy over templates (AvgP)", SHARE, "Mean", 3),
    "sd": Column("standard deviation over templates (n - 1)", SHARE, "SD", 3),
    "lowest": Column("lowest accuracy", SHARE, "Lowest", 3),
    "highest": Column("highest accuracy (MaxP), which luck makes too high, the more so the more templates there are. "
                      "The interval holds that of the best template", SHARE, "Highest", 3),
    "highest_corrected": Column("the same without luck: accuracies are drawn towards their mean by the share of their "
                                "variance that items alone explain. Of accuracies without answers rather too low",
                                SHARE, "Highest, corrected", 3),
    "range": Column("highest minus lowest", SHARE, "Range", 3),
    "q05": Column("5 % quantile over templates", SHARE, "5 %", 3),
    "q25": Column("25 % quantile over templates", SHARE, "25 %", 3),
    "q50": Column("50 % quantile over templates", SHARE, "50 %", 3),
    "q75": Column("75 % quantile over templates", SHARE, "75 %", 3),
    "q95": Column("95 % quantile over templates", SHARE, "95 %", 3),
    "gain": Column("highest minus mean: what the best template gains", SHARE, "Gain", 3),
    "saturation": Column("1 minus the gain (Sat)", SHARE, "Saturation", 3),
    "template_reliability.n_templates": Column("templates of a task that all ranked models have, mean over tasks",
                                               "templates", "Templates", 1),
    "n_tasks": Column("tasks that the ranking is the mean over: those in which half of the models or more are ranked",
                      "tasks", "Tasks"),
    "n_tasks_asked": Column("tasks that there are under this condition", "tasks", "Tasks asked"),
    "tasks": Column("the tasks that the ranking is the mean over", header="Of tasks"),
    "n_templates_least": Column("fewest templates of a task", "templates", "Fewest templates"),
    "n_templates_most": Column("most templates of a task", "templates", "Most templates"),
    "template_pairs.n_templates": Column("templates of a task that all ranked models have, mean over tasks",
                                         "templates", "Templates", 1),
    "template_reliability.n_models": Column("models that are ranked: those with half of the templates or more",
                                            "models", "Models"),
    "template_reliability.template": Column("variance component of templates", SQUARED, "Template", 4),
    "model_template": Column("variance component of models by templates, with all else that is left", SQUARED,
                             "Model × template", 4),
    "model_template_least": Column("the same without the binomial variance: what it is at least", SQUARED, "At least",
                                   4),
    "sampling": Column("binomial variance of an accuracy, p (1 - p) / n, mean over models", SQUARED, "Binomial", 4),
    "one": Column("relative coefficient of generalizability of the ranking by one template of each task, with the same "
                  "items; a negative component of models counts as 0. The interval is for models and templates like "
                  "these: of other templates, T of them tell with T - 1 degrees of freedom", "0 to 1", "One template",
                  2),
    "four": Column("the same by four templates of each task", "0 to 1", "Four templates", 2),
    "one_items": Column("the same by one template, with other items: an estimate, as low as what binomial errors have "
                        "in common can make it; it has no interval", "0 to 1", "One, other items", 2),
    "four_items": Column("the same by four templates, with other items", "0 to 1", "Four, other items", 2),
    "kept_one": Column("share of pairs of models that have the same order with one template of each task as with "
                       "another, mean over pairs of templates (of several tasks, over 1,000 draws of a pair for each); "
                       "equal accuracies count half", "share of pairs, 0 to 1",
                       "Pairs kept", 3),
    "template_pairs.kept_one": Column("share of the pairs of templates that put both models in the same order; "
                                      "by the mean over tasks, of 1,000 draws of a pair for each", SHARE,
                                      "Pairs of templates", 2),
    "template_pairs.same_wordings": Column("probability that as many other templates of the same items find the same "
                                           "sign; from three models on, with the errors of all of them", PROBABILITY,
                                           "Same sign: templates", 2),
    "template_pairs.same_both": Column("the same with other items and other templates; rather too low, as binomial "
                                       "errors are taken to be the same with every template", PROBABILITY, "both", 2),
    "template_reliability.tau": Column("expected Kendall tau of the ranking with that of another study of this size, "
                                       "with other items and other templates; rather too low, as binomial errors are "
                                       "taken to be the same with every template", "-1 to 1", "Tau", 2),
    "template_pairs.difference": Column("mean accuracy of a minus that of b", SHARE, "Difference", 3),
    "combined": Column("saturation times highest accuracy (CPS); the interval holds all that the intervals of highest "
                       "and mean allow", SHARE, "Combined", 3),
    "combined_corrected": Column("the same of the accuracies that are drawn towards their mean for the corrected "
                                 "highest one", SHARE, "Combined, corrected", 3),
}  # fmt: skip
