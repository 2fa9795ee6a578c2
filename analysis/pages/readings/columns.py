"""Say what the columns of the tables of this page mean, where that is not the same on every page."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import SHARE, Column

COLUMNS: Mapping[str, Column] = {
    "setting": Column("what was the same for all readings: form, order of the answers, shots", header="Setting"),
    "reading": Column(
        "how the answer was read: probability, letters, words, strict or lenient rule, judge, after thinking",
        header="Reading",
    ),
    "reading_kept.reading": Column(
        "the reading whose variance is looked at: the first one that answers, or parameter `reading`", header="Reading"
    ),
    "read_condition": Column("condition of the run that holds this reading", header="Condition"),
    "compared": Column("whether the reading is compared: its validity is at least 0.5", header="Compared"),
    "readings.validity": Column(
        "probability of all options, or share of texts or thoughts that can be read as one, over the wordings asked",
        SHARE, "Validity", 2,
    ),
    "validity_at_most": Column("upper bound of it, where only bounds are known", SHARE, "At most", 2),
    "n_wordings": Column("wordings that all compared readings answered", "wordings", "Wordings"),
    "reading_sheet.n_wordings": Column("wordings of which people read two texts or more", "wordings", "Wordings"),
    "validity_sd": Column(
        "SD of the validity over wordings within items, sampling included: what would look like an effect of the "
        "wording if no answer counted as a wrong one", "0 to 1", "SD of validity", 3,
    ),
    "n_asked": Column("items of the study", "items", "Asked"),
    "left_out": Column("wordings that only some of the compared readings answered", "wordings", "Left out"),
    "mean": Column(
        "mean over items of the probability or share of the first answer, of the right one where there are more than "
        "two, or of the place on the scale", SHARE, "Mean", 3,
    ),
    "accuracy": Column("mean probability or share of the right answer, where it is known", SHARE, "Accuracy", 3),
    "flips": Column("mean share of an item's wordings on its smaller side of one half", SHARE, "Smaller side", 3),
    "wording_sd": Column("SD over wordings within items, net of what sampling adds", "0 to 1", "SD", 3),
    "wording_share": Column("share of wordings in the variance over items and wordings", SHARE, "Of variance", 2),
    "kept": Column(
        "of the reading's variance over wordings, the least part that another reading moves along with: covariance by "
        "variance, at most 1", SHARE,
        "Stays", 2,
    ),
    "common": Column(
        "share of that variance that is sure to be the same as in a reading of other responses: the largest r²", SHARE,
        "For sure", 2,
    ),
    "same": Column("whether all readings have the same number on every wording", header="Same"),
    "own": Column(
        "share of the reading's variance over wordings that is due to the reading; below 0 or above 1 by chance",
        "share", "Its own", 2,
    ),
    "own_most": Column(
        "where that cannot be estimated: the most that it is likely to be, 1 − the lower end of the 95 % interval of "
        "the largest r²", SHARE, "At most", 2,
    ),
    "own_from": Column("what it is estimated from: three readings, or people", header="Own from"),
    "readings.p": Column("p value of the test that more than 5 % is its own; not corrected", "", "p", 3),
    "reading_sheet.p": Column("p value of the test that more than 5 % is the rule's own, not corrected", "", "p", 3),
    "p_holm": Column("the same after Holm for all readings of this table", "", "p (Holm)", 3),
    "artefact": Column("whether the reading is named an artefact", header="Artefact"),
    "n_models": Column("models together", "models", "Models"),
    "n_readings": Column("readings that are compared", "readings", "Readings"),
    "n_sources": Column("different responses that they read: two rules for the same texts are one", "responses",
                        "Responses"),
    "reading_a": Column("a reading", header="Reading a"),
    "reading_b": Column("another reading", header="Reading b"),
    "same_texts": Column("whether both read the same texts", header="Same texts"),
    "same_side": Column("share of the wordings that both put on the same side of one half", SHARE, "Same side", 3),
    "kappa": Column("Cohen's kappa of the two sides over wordings", "-1 to 1", "Kappa", 2),
    "correlation": Column("correlation over wordings within items, net of sampling", "-1 to 1", "r", 2),
    "common_sd": Column("root of the covariance over wordings within items; 0 where it is negative", "0 to 1",
                        "Common SD", 3),
    "measure": Column("what ranks the models: accuracy, else agreement or score", header="Ranked by"),
    "tau": Column("Kendall's tau-b of the models' means", "-1 to 1", "Tau", 2),
    "n_pairs": Column("pairs of models", "pairs", "Pairs"),
    "n_swaps": Column("pairs of models in opposite order under the two readings", "pairs", "Swaps"),
    "n_clear_swaps": Column("swaps of which both differences hold after Holm", "pairs", "Clear swaps"),
    "n_texts": Column("texts that people read", "texts", "Texts"),
    "texts_alike": Column("share of these that the reading takes as people do, none counted as an answer", SHARE,
                          "As people", 3),
    "text_kappa": Column("Cohen's kappa of that: the answer, another, or none", "-1 to 1", "Kappa", 2),
    "missed": Column("of texts that people read as the answer, the share read as another", SHARE, "Missed", 3),
    "invented": Column("of texts that people read as another, the share read as the answer", SHARE, "Invented", 3),
    "unread": Column("of texts with an answer to people, the share read as none", SHARE, "Unread", 3),
    "overread": Column("of texts without an answer to people, the share read as some", SHARE, "Overread", 3),
    "corrected_mean": Column("the mean as people would read all texts", SHARE, "Corrected", 3),
    "corrected_sd": Column("the SD over wordings as people would read all texts", "0 to 1", "SD corrected", 3),
    "variant": Column("id of the wording", header="Wording"),
    "sample": Column("number of the text among those of its wording, from 1", header="No."),
    "text": Column("the wording that was asked", header="Text"),
    "output": Column("what the model wrote", header="Written"),
    "readings_of_text": Column("the answer that every reading took it for", header="Read as"),
    "distance": Column("how far the two most different readings are apart", "0 to 1", "Apart", 2),
    "max_tokens": Column("tokens allowed; empty: 8,192, or what fits", "tokens", "Tokens"),
    "thoughts": Column("thoughts in all", "thoughts", "Thoughts"),
    "unclosed": Column("those that did not end by themselves", "thoughts", "Unclosed"),
    "unclosed_share": Column("their share", SHARE, "Share", 3),
}  # fmt: skip
