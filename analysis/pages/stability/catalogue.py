"""List the tables and figures of the page `stability`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.stability.columns import COLUMNS, PATTERNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Rewordings, Table, split_names
from analysis.reporting.catalogue.columns import IDENTITY, OVER_ITEMS
from analysis.runs import Runs

MEASURES = split_names("validity validity_se agreement_mean range_mean range_sd sd_mean sd_sd flip_*")
SPREADS: Mapping[str, None] = {"range_sd": None, "sd_sd": None}  # have no intervals
TEST_COLUMNS = split_names("p p_least p_holm")
BETWEEN = {"difference": ("lower", "upper")}
TABLES = {
    "stability": Table(
        "tables.tabulate_stability",
        "How far each model's answers move between wordings of one item",
        f"Validity and stability of every model over the paraphrases of each item, with {OVER_ITEMS}. "
        "Flips: share of items with more than that share of their paraphrases not on the side of most of them; the "
        "original is not counted. "
        "Mark: + the model agrees with every item on average, - it disagrees.",
        (*IDENTITY, *MEASURES,
         *split_names("validity_at_most n_items n_variants n_excluded_items mark low_mass intervals no_interval")),
        frozenset({"validity_se", "n_excluded_items", "low_mass"}),
        frozenset({"validity_at_most", "mark", "no_interval"}), SPREADS,
        measures=Measures(
            {"range_mean": "Range", "flip_05": "Flips > 5 %", "sd_mean": "SD", "agreement_mean": "Mean agreement",
             "validity": "Validity"},
            headline=split_names("range_mean flip_05"), lead="range_mean",
        ),
    ),
    "flip_conventions": Table(
        "tables.tabulate_flips_by_invalid_convention",
        "Flips under both ways to treat invalid answers",
        "Share of items that flip where paraphrases without a valid answer are dropped, and where they count as not "
        "with the majority. Only rows where the two differ.",
        (*IDENTITY, *split_names("measure n_invalid flips_dropped flips_inconsistent")),
    ),
    "items": Table(
        "tables.tabulate_item_answers_over_paraphrases",
        "Every item under every model",
        "Validity and agreement over the paraphrases of one item, and the model's answer to its original wording.",
        (*IDENTITY, *split_names("item text n_variants n_valid validity_mean validity_sd agreement_mean agreement_sd "
                        "agreement_min agreement_max agreement_range minority_share n_ties original_agreement "
                        "original_validity n_invalid match_proportion")),
        frozenset(split_names("n_valid validity_sd agreement_min agreement_max n_ties original_validity n_invalid")),
    ),
    "differences": Table(
        "tables.tabulate_stability_differences",
        "Paired differences between models, and between conditions of one model, on the same items",
        f"Difference a minus b of model-level numbers on the items that both have, with {OVER_ITEMS}. Where a study "
        "has more than 2,000 pairs, each model and condition is compared only with the first of the run that it can be "
        "compared with.",
        (*split_names("study measure a_model a_condition b_model b_condition difference lower upper n_items"),
         *TEST_COLUMNS,
         "no_interval"),
        frozenset(split_names("lower upper p p_least")), frozenset({"no_interval"}), BETWEEN,
    ),
    "item_stability": Table(
        "tables.tabulate_item_sds_averaged_over_models",
        "Items that are unstable across models",
        "SD of agreement over an item's paraphrases, divided by the model's largest such SD; mean and standard error "
        "over models, separately for causal and masked models. Models that are not judged "
        "(validity below 0.5) are left out.",
        split_names("study item text family normalised_sd_mean normalised_sd_se n_models"),
    ),
    "divergent": Table(
        "cases.tabulate_two_most_different_wordings",
        "The pair of wordings of one item that a model answers most differently",
        "For every model, the item whose answer moves most: its paraphrases with the lowest and the highest agreement. "
        "The page shows those of models that are judged.",
        (*IDENTITY, *split_names("item low_text low_agreement high_text high_agreement range")),
    ),
    "distribution": Table(
        "cases.tabulate_agreement_quartiles_of_items",
        "Quartiles of agreement for every model and item",
        "Quartiles and whisker ends (1.5 interquartile ranges, clipped to the data) of agreement over paraphrases.",
        (*IDENTITY, *split_names("item q25 median q75 whisker_low whisker_high n")),
    ),
    "outliers": Table(
        "cases.tabulate_agreement_outliers",
        "Responses outside the whiskers",
        "Agreement of every response further than 1.5 interquartile ranges from the box of its item, the furthest from "
        "the whiskers first.",
        (*IDENTITY, *split_names("item variant agreement outside")),
    ),
    "invalid": Table(
        "cases.tabulate_counts_of_invalid_answers",
        "Answers that could not be used",
        "Responses without a valid answer, prompts that failed, responses known within bounds only, and examples of "
        "outputs.",
        (*IDENTITY, *split_names("n_rows n_invalid n_error share n_bounded mass_missing n_written read_agreement "
                            "least_agreement most_agreement examples")),
    ),
    "alike": Table(
        "cases.tabulate_variants_equal_up_to_whitespace",
        "Wordings that differ in blanks only",
        "Wordings of one item whose texts differ in nothing but line ends and blanks around them.",
        split_names("study item text n_variants"),
    ),
    "answers": Table(
        "written_answers.tabulate_texts_against_probabilities",
        "Texts compared with the probabilities of the same prompts",
        "What a model writes is read as an answer and compared with two options: the one that its most probable first "
        "token begins, and the likeliest one. Share of the valid texts that choose another, with 95 % intervals over "
        "items (Wilson). Agreement: of the valid texts, and of all if those without an answer all disagreed, or all "
        "agreed.",
        (*IDENTITY, *split_names("token_mismatch option_mismatch text_invalid no_token read_agreement least_agreement "
                           "most_agreement n_answers n_items intervals no_interval")),
        optional=frozenset({"no_interval"}),
    ),
    "excluded": Table(
        "cases.tabulate_excluded_items",
        "Items left out of the stability statistics",
        "Items with fewer than two paraphrases that have a defined agreement.",
        (*IDENTITY, *split_names("item text n_variants n_valid reason")),
    ),
    "published": Table(
        "printed.tabulate_stability_with_printed_rows",
        "These runs and a printed table, where items and models match",
        "Model-level numbers of these runs, and the printed numbers of the same models on the same items. A printed "
        "spread is the standard deviation across items; a printed standard error of 0.000 was printed as 0.",
        (*IDENTITY, "source", *MEASURES,
         *split_names("n_items n_variants n_excluded_items mark low_mass intervals no_interval")),
        frozenset({"n_variants", "n_excluded_items", "low_mass"}), frozenset({"mark", "no_interval"}), SPREADS,
    ),
    "sources": Table(
        "sources.tabulate_stability_by_paraphrase_source",
        "Each model's validity and stability, by the source of the paraphrases",
        "The counterpart of Haller et al., Table 7: the numbers of table stability over the paraphrases of one source "
        f"at a time. With {OVER_ITEMS}. Printed rows where model and items are the same.",
        (*IDENTITY, "source", "paraphrase_source", *MEASURES,
         *split_names("n_items n_variants n_excluded_items mark low_mass intervals no_interval")),
        frozenset({"n_variants", "n_excluded_items", "low_mass"}), frozenset({"mark", "no_interval"}), SPREADS,
    ),
    "source_agreement": Table(
        "sources.tabulate_source_pair_comparisons",
        "Whether two sources of paraphrases tell the same about a model",
        "Difference a minus b on the items that both sources have, and Pearson correlation across these items. With "
        f"{OVER_ITEMS}.",
        (*IDENTITY, *split_names("measure a_source b_source difference lower upper item_r item_r_lower item_r_upper "
                            "n_items"), *TEST_COLUMNS, "no_interval"),
        frozenset(split_names("lower upper item_r_lower item_r_upper p p_least")), frozenset({"no_interval"}), BETWEEN,
    ),
}  # fmt: skip
FIGURES = {
    "overview": Figure("Validity and stability of every model", "stability"),
    "agreement": Figure(
        "How every model answers every item", "figures.build_agreement_frames",
        empty_note="Nothing to show here: no model with answers is judged.",
    ),
    "item_stability": Figure("Which items are unstable in every model", "figures.build_item_stability_frames"),
    "validity": Figure("How much of the probability goes to the answers", "figures.build_validity_frames"),
    "differences": Figure(
        "Paired differences between models on the same items", "figures.build_stability_differences_frames",
        empty_note="Nothing to show here: no two models with answers can be compared on the same items.",
    ),
}  # fmt: skip


def _explain_empty_stability_page(runs: Runs, parameters: Mapping[str, Any]) -> str:
    """Say that no item has two paraphrases, or no prompt a response; empty where there are some."""
    if not runs.execute("FROM responses LIMIT 1").fetchone():
        return "no prompt has a response"
    item_count = runs.sql(
        "SELECT count(*) AS n FROM (SELECT study, item FROM stimuli WHERE pattern <> 'original' "
        "GROUP BY study, item HAVING count(*) > 1)"
    )
    return "" if item_count["n"].iloc[0] else "no item has two wordings other than its original"


CATALOGUE = Catalogue(
    place=10,
    protocols=frozenset({"agreement"}),
    studies=("haller",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    patterns=PATTERNS,
    explain_no_data=_explain_empty_stability_page,
    of_agreement=True,
    differing_conditions="one_row.find_significantly_differing_condition_pairs",
    rewordings=Rewordings(
        "analysis.measures.reworded.agreements:read_agreement_studies",
        "analysis.measures.reworded.agreements:has_rewordings",
    ),
)
