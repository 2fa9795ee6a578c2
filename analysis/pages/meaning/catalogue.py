"""List the tables and figures of the page `meaning`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.meaning.columns import COLUMNS, PATTERNS
from analysis.reporting.catalogue import Catalogue, Figure, Table, split_names
from analysis.reporting.catalogue.columns import IDENTITY, OVER_ITEMS
from analysis.runs import Runs

FIGURES_OF_FLIPS = "n_items n_items_changed n_wordings k n_items_k flip sd range_k"
TABLES = {
    "meaning_checks": Table(
        "tables.tabulate_quality_of_meaning_checks",
        "How well every check parts wordings that mean the same from decoys",
        "AUC: how often a wording that passed has a higher score than a decoy. A check is used where the 95 % interval "
        "of its AUC (DeLong's, over items) lies above 0.7, and its threshold lets a tenth of the wordings pass. The "
        f"threshold lets at most 5 % of the decoys pass. Shares with {OVER_ITEMS}.",
        split_names(
            "study check used best why_not passed_by n_passed n_decoys auc threshold lower_threshold passed_share "
            "decoy_share intervals engine check_model revision prompt_hash"
        ),
        frozenset(split_names("lower_threshold engine check_model revision prompt_hash")),
        frozenset({"why_not"}),
    ),
    "meaning_decoys": Table(
        "tables.tabulate_check_performance_by_decoy_kind",
        "How well every check sees through each kind of decoy",
        "Every check on the decoys of one kind: AUC, and the share of decoys that passes at the check's threshold. "
        "With 95 % intervals over items (AUC: DeLong's; share: Wilson's).",
        split_names("study check decoy n_decoys auc decoy_share intervals"),
    ),
    "meaning_annotators": Table(
        "tables.tabulate_votes_of_annotators",
        "What people said, and how far they agree",
        "Every person, and all together: the share of wordings called the same, and the share of decoys that were. "
        f"Fleiss' kappa and Krippendorff's alpha are of the wordings that several people read. With {OVER_ITEMS}.",
        split_names(
            "study annotator n_wordings yes_share n_decoys decoy_error_share kappa alpha intervals no_interval"
        ),
        optional=frozenset({"no_interval"}),
    ),
    "meanings": Table(
        "tables.tabulate_verdicts_on_wordings",
        "Every wording and whether it means the same",
        "The verdict is what most people say; of wordings that nobody read, what the best check says.",
        split_names(
            "study item variant text votes_yes votes_no meaning meaning_score passed_by word* similarity* "
            "entailment* judge*"
        ),
        optional=frozenset(split_names("votes_yes votes_no")),
    ),
    "meaning_flips": Table(
        "tables_flips.tabulate_flips_of_all_and_same_meaning",
        "What wordings do to the answers: all of them, and those that mean the same",
        "Every number over all wordings, and over those with the verdict “same”, on the same items. The range is that "
        "of k wordings of an item, the exact mean over all draws. Differences: same minus all, paired over items. With "
        "95 % intervals over items: of shares Wilson's, else by bootstrap.",
        IDENTITY
        + split_names(
            f"validity validity_at_most wordings {FIGURES_OF_FLIPS} intervals no_interval left_out_items "
            "left_out_flips flip_difference flip_difference_lower flip_difference_upper sd_difference "
            "sd_difference_lower sd_difference_upper range_k_difference range_k_difference_lower "
            "range_k_difference_upper p p_holm"
        ),
        frozenset(
            split_names(
                "validity_at_most n_items_changed n_items_k p flip_difference_lower flip_difference_upper "
                "sd_difference_lower sd_difference_upper range_k_difference_lower range_k_difference_upper"
            )
        ),
        frozenset({"no_interval"}),
    ),
    "meaning_thresholds": Table(
        "tables_flips.tabulate_flips_by_meaning_threshold",
        "What wordings do to the answers, the stricter the check",
        "Wordings that score at least so much in the best check, and as many of all wordings of the same items, the "
        "exact mean over all draws. With 95 % intervals over items: of shares Wilson's, else by bootstrap.",
        IDENTITY + split_names(f"check threshold kept wordings {FIGURES_OF_FLIPS} intervals no_interval"),
        frozenset({"n_items_changed", "n_items_k"}),
        frozenset({"no_interval"}),
    ),
    "meaning_corrected": Table(
        "tables_flips.tabulate_check_error_corrected_flip_shares",
        "Changed answers among wordings of the same meaning, corrected for the errors of the check",
        "Share of answers unlike that to the original: of all wordings, and of those that mean the same, by what "
        "people said of some of them. With 95 % intervals over items and the wordings that people read (t).",
        IDENTITY
        + split_names(
            "n_items n_wordings n_sheet uncorrected uncorrected_lower uncorrected_upper corrected lower upper "
            "change change_lower change_upper excess excess_lower excess_upper sensitivity specificity not_shown"
        ),
        frozenset(
            split_names(
                "uncorrected_lower uncorrected_upper lower upper change_lower change_upper excess excess_lower "
                "excess_upper"
            )
        ),
        frozenset({"not_shown"}),
        interval={"corrected": ("lower", "upper")},
    ),
    "meaning_effect": Table(
        "tables_flips.tabulate_meaning_score_effect_on_distance",
        "Whether answers are further from that to the original, the less a wording means the same",
        "Mixed model of every model and condition: distance ~ meaning_score + (1 | item), by REML. Estimate: change of "
        "the distance from a score of 0 to one of 1, with its 95 % interval (t, Satterthwaite).",
        IDENTITY
        + split_names(
            "check n_rows n_items estimate lower upper estimate_std p p_holm p_robust p_robust_holm warnings"
        ),
        frozenset(split_names("lower upper p p_robust")),
        frozenset({"warnings"}),
        {"estimate": ("lower", "upper")},
    ),
}
FIGURES = {
    "meaning_flips_by_model": Figure(
        "Changed answers: of all wordings, and of those of the same meaning",
        "figures.build_meaning_flips_by_model_frames",
        empty_note="No wording has an answer beside one to its original.",
    ),
    "meaning_curves": Figure(
        "What stays, the stricter the check", "figures.build_meaning_curves_frames",
        empty_note="No check is used, so there is no threshold to make stricter.",
    ),
    "meaning_roc": Figure(
        "How well every check parts decoys from wordings", "figures.build_meaning_roc_frames",
        empty_note="No check has scores of wordings and of decoys.",
    ),
    "meaning_scores": Figure(
        "Scores of wordings and of each kind of decoys", "figures.build_meaning_scores_frames",
        empty_note="No check has scores.",
    ),
}  # fmt: skip


def _explain_empty_meaning_page(runs: Runs, options: Mapping[str, Any]) -> str:
    """Say that no wording was checked; empty where some were."""
    from analysis.measures.meaning import has_meaning_scores

    return "" if has_meaning_scores(runs) else "no wording was checked for its meaning; “waver meaning RUN” does that"


CATALOGUE = Catalogue(
    place=54,
    protocols=frozenset({"agreement", "wording", "choice", "scale"}),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    patterns=PATTERNS,
    explain_no_data=_explain_empty_meaning_page,
)
