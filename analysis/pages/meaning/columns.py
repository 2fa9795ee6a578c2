"""Say what the columns of the tables of this page mean, where that is not the same on every page."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import POINTS, SHARE, Column, Pattern

_KINDS = {
    "words": "share of the words that wording and original have in common",
    "similarity": "similarity of wording and original by the model named",
    "entailment": "smaller one of the probabilities that wording and original entail each other, by the model named",
    "judge": "probability that the model named calls wording and original the same",
}
_OF_CORRECTED = "end of the 95 % interval of the corrected share, over items and the wordings that people read"
_OF_EFFECT = "end of the fit's own 95 % interval of the change (t, Satterthwaite)"
COLUMNS: Mapping[str, Column] = {
    # checks
    "check": Column("what compares wordings with the original", header="Check"),
    "used": Column("whether the check parts decoys from wordings well enough to be used", header="Used"),
    "best": Column("whether it is the best of those that are used: the one that verdicts are made by", header="Best"),
    "why_not": Column("why the check is not used", header="Why not"),
    "passed_by": Column(
        "which wordings decoys are compared with: those that most people call the same, or all where nobody read any",
        header="Passed by",
    ),
    "n_passed": Column("wordings that passed, with a score", "wordings", "Passed"),
    "n_decoys": Column("decoys with a score", "decoys", "Decoys"),
    "meaning_annotators.n_decoys": Column("decoys that the person read", "decoys", "Decoys"),
    "auc": Column("how often a wording that passed scores higher than a decoy; half of the ties", SHARE, "AUC", 3),
    "threshold": Column("score from which on a wording means the same: at most 5 % of the decoys reach it", "",
                        "Threshold", 3),
    "meaning_thresholds.threshold": Column("score that the wordings have at least", "", "Score from", 3),
    "lower_threshold": Column("score below which a wording means something else", "", "Lower threshold", 3),
    "passed_share": Column("wordings that passed, and reach the threshold", SHARE, "Wordings above", 2),
    "decoy_share": Column("decoys that reach the threshold", SHARE, "Decoys above", 3),
    "engine": Column("what computed the score", header="Engine"),
    "check_model": Column("model that the check asks", header="Model of the check"),
    "revision": Column("version of its weights", header="Revision"),
    "prompt_hash": Column("fingerprint of its prompt", header="Prompt"),
    "decoy": Column("how the decoys were made", header="Decoys", phrase_name=lambda kind: kind.replace("_", " ")),
    # people
    "annotator": Column("who read the wordings; all: everybody together", header="Person"),
    "meaning_annotators.n_wordings": Column("wordings that were read", "wordings", "Wordings"),
    "yes_share": Column("wordings called the same as the original", SHARE, "Same", 2),
    "decoy_error_share": Column("decoys called the same as the original", SHARE, "Decoys missed", 2),
    "kappa": Column("Fleiss' kappa: agreement of all beyond chance", "-1 to 1", "Fleiss' kappa", 2),
    "alpha": Column("Krippendorff's alpha: the same, of wordings that only some read, too", "-1 to 1",
                    "Krippendorff's alpha", 2),
    # wordings
    "variant": Column("id of the wording", header="Wording"),
    "text": Column("the wording", header="Text"),
    "votes_yes": Column("people who say that it means the same", "people", "Yes"),
    "votes_no": Column("people who say that it does not", "people", "No"),
    "meaning": Column("verdict: same, unclear or another; empty where no check is used and nobody read it",
                      header="Meaning"),
    "meaning_score": Column("score of the best check", "", "Score", 3),
    "meanings.passed_by": Column("who decided: people, or the best check; empty without a verdict",
                                 header="Decided by"),
    "word*": Column(_KINDS["words"], SHARE, "Words", 3),
    "similarity*": Column(_KINDS["similarity"], SHARE, "Similarity", 3),
    "entailment*": Column(_KINDS["entailment"], SHARE, "Entailment", 3),
    "judge*": Column(_KINDS["judge"], SHARE, "Judge", 3),
    # answers
    "wordings": Column("which wordings the row is about: all, or those that mean the same", header="Which"),
    "meaning_thresholds.wordings": Column(
        "certified: those that reach the score; all: as many of all wordings of the same items", header="Wordings"
    ),
    "n_items": Column("items with a wording of the same meaning that has an answer", "items", "Items"),
    "meaning_thresholds.n_items": Column("items with a wording that reaches the score and has an answer", "items",
                                         "Items"),
    "left_out_items": Column("items without a wording of the same meaning: they are in neither row", "items",
                             "Items left out"),
    "left_out_flips": Column("part of all changed answers that these items have", SHARE, "Changes left out", 3),
    "n_items_changed": Column("items with an answer that differs from that to the original", "items", "Items changed"),
    "n_items_k": Column("items with at least k of these wordings: those of SD and range", "items", "Items with k"),
    "meaning_corrected.n_items": Column("items with an answer to the original and to a wording", "items", "Items"),
    "meaning_effect.n_items": Column("items in the fit", "items", "Items"),
    "n_wordings": Column("wordings of these items that the row is about", "wordings", "Wordings"),
    "k": Column("wordings of an item that the range is of: as many as nine of ten items have", "wordings", "k"),
    "flip": Column(
        "mean over items of the share of wordings whose answer differs from that to the original", SHARE, "Changed", 3
    ),
    "sd": Column("SD of the answer over the wordings of an item: root of the mean variance", "0 to 1", "SD", 3),
    "range_k": Column("mean over items of the expected range of the answer over k wordings", "0 to 1", "Range", 3),
    "flip_difference": Column("share of changed answers of wordings that mean the same minus that of all", POINTS,
                              "Changed: same − all", 3),
    "sd_difference": Column("SD of wordings that mean the same minus that of all", "-1 to 1", "SD: same − all", 3),
    "range_k_difference": Column("range of wordings that mean the same minus that of all", "-1 to 1",
                                 "Range: same − all", 3),
    "p": Column("p value of the difference in changed answers, not corrected", "", "p", 3),
    "p_holm": Column("the same after Holm for all models and conditions of the study", "", "p (Holm)", 3),
    "meaning_effect.p": Column("p value of the estimate, not corrected", "", "p", 3),
    "meaning_effect.p_holm": Column("the same after Holm for all rows", "", "p (Holm)", 3),
    "p_robust": Column("the same with cluster-robust errors, not corrected", "", "p (robust)", 3),
    "p_robust_holm": Column("the same after Holm for all rows", "", "p (robust, Holm)", 3),
    "kept": Column("share of the wordings with a score that reach it", SHARE, "Kept", 2),
    # corrected
    "n_sheet": Column("wordings that people judged and the model answered", "wordings", "Read by people"),
    "uncorrected": Column("share of answers to all wordings that are another than that to the original", SHARE,
                          "Changed, of all", 3),
    "corrected": Column("the same share among wordings of the same meaning, without the errors of the check", SHARE,
                        "Changed, corrected", 3),
    "meaning_corrected.lower": Column(f"lower {_OF_CORRECTED}", SHARE, "Lower", 3),
    "meaning_corrected.upper": Column(f"upper {_OF_CORRECTED}", SHARE, "Upper", 3),
    "change": Column("corrected share minus the uncorrected one", "-1 to 1", "Change", 3),
    "excess": Column("corrected share minus four fifths of the uncorrected one", "-1 to 1", "Beyond four fifths", 3),
    "sensitivity": Column("wordings that people call the same and the check lets pass", SHARE, "Sensitivity", 2),
    "specificity": Column("wordings that people call another and the check stops", SHARE, "Specificity", 2),
    "not_shown": Column("why there is no corrected share", header="Not shown"),
    # effect
    "n_rows": Column("answers in the fit", "answers", "Answers"),
    "estimate": Column("change of the distance from a score of 0 to one of 1", "-1 to 1", "Effect", 3),
    "meaning_effect.lower": Column(f"lower {_OF_EFFECT}", "-1 to 1", "Lower", 3),
    "meaning_effect.upper": Column(f"upper {_OF_EFFECT}", "-1 to 1", "Upper", 3),
    "estimate_std": Column("change of the distance in its SDs per SD of the score", "SD", "Standardised", 2),
    "warnings": Column("what weakens the fit, or why there is none", header="Warnings"),
}  # fmt: skip


def _define_meaning_check_column(name: str) -> Column | None:
    """Say what the scores of a check mean, by its name; None for another column."""
    kind, _, model = name.partition(":")
    if kind not in _KINDS or (kind == "words") != (not model):
        return None
    return Column(_KINDS[kind], SHARE, f"{kind.capitalize()}{f' ({model})' if model else ''}", 3)


PATTERNS: Mapping[str, Pattern] = dict.fromkeys(
    ("word*", "similarity*", "entailment*", "judge*"), _define_meaning_check_column
)
