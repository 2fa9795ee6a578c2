"""List the tables and figures of the page `negation`; `columns` says what its columns mean."""

from analysis.pages.negation.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Table, split_names
from analysis.reporting.catalogue.columns import OVER_ITEMS

BARE = frozenset({"no_interval"})
CHANGE = {"acc_change": ("lower", "upper")}
ACCURACIES = split_names(
    "acc acc_lower acc_upper acc_negated acc_negated_lower acc_negated_upper acc_change lower upper"
)
ENDS = frozenset(split_names("acc_lower acc_upper acc_negated_lower acc_negated_upper lower upper"))
DEFINED = (
    "Two pairs of sentences that differ by one negation are a minimal pair. The negation is important where it changes "
    "the right label, else unimportant (Yoshida et al., section 2.1)."
)
SIZES = split_names("m_important m_unimportant m_important_end m_important_mid m_unimportant_end m_unimportant_mid")
TABLES = {
    "minimal_pairs": Table(
        "tables.tabulate_minimal_pair_accuracy",
        "Right labels without and with a negation, over minimal pairs",
        f"Acc, Acc′ and AccChg of Yoshida et al., section 4.2, with {OVER_ITEMS}. An item is an original with all "
        f"pairs made from it. {DEFINED} An answer that is not valid counts as wrong.",
        (*split_names("study model condition pairs n n_items validity"), *ACCURACIES, "no_interval"),
        ENDS | {"validity"}, BARE, CHANGE,
        measures=Measures(
            {"acc_change": "Change by a negation", "acc": "Accuracy without negation",
             "acc_negated": "Accuracy with a negation"},
            headline=("acc_change",), lead="acc_change", kinds=("pairs",), accuracy={"acc_negated": "acc"},
        ),
    ),
    "negation_places": Table(
        "tables.tabulate_accuracy_by_position_and_word_class",
        "The same by position and by part of speech",
        "Accuracy over the minimal pairs whose one negation stands at the end or in the middle of its sentence, and by "
        "the part of speech that it follows. Empty where the items do not say it.",
        (*split_names("study model condition pairs by value n n_items"), *ACCURACIES, "no_interval"),
        ENDS, BARE, CHANGE,
    ),
    "negation_accuracy": Table(
        "tables.tabulate_negation_accuracy",
        "Right labels over all pairs of sentences",
        f"Accuracy on the originals and on the pairs with a negation, with {OVER_ITEMS}. The majority is the share of "
        "the most frequent right label: what a model gets that always says it.",
        split_names("study model condition sentences n n_items valid accuracy accuracy_lower accuracy_upper majority "
              "majority_label no_interval"),
        frozenset(split_names("accuracy_lower accuracy_upper")), BARE,
    ),
    "negation_bias": Table(
        "tables.tabulate_label_shares_by_negation",
        "Which labels are said without and with a negation",
        "Share of each label among all answers, valid or not, and among the right labels. The change, with minus "
        "without, is over the originals that have both.",
        split_names("study model condition label n_original n_negated n_items said_original said_negated said_change "
              "lower upper right_original right_negated no_interval"),
        frozenset(split_names("lower upper n_original n_negated")), BARE, {"said_change": ("lower", "upper")},
    ),
    "negation_data": Table(
        "tables.tabulate_negation_data_counts",
        "Originals, pairs with a negation, and minimal pairs",
        "The counterpart of Yoshida et al., Tables 3 and 4, with the printed rows below ours.",
        (*split_names("source study d_orig d_neg"), *SIZES),
    ),
    "negation_printed": Table(
        "tables.tabulate_negation_beside_printed",
        "These models beside the printed ones",
        "Accuracy as in Yoshida et al., Tables 2, 7 and 8: other models, and as a rule other pairs, to be read as "
        "context. The models that one tuning made, one per seed, are one row: their mean.",
        (*split_names("source setting study model condition seeds accuracy_jnli accuracy_original accuracy_negated"),
         *split_names("acc_important acc_negated_important acc_change_important acc_unimportant "
                      "acc_negated_unimportant acc_change_unimportant")),
        optional=frozenset(split_names("setting seeds accuracy_jnli")),
    ),
    "negation_worst": Table(
        "tables.tabulate_worst_pair_of_each_model_and_kind",
        "Right without the negation, wrong with it",
        "For every model and kind of pairs the minimal pair where the negation costs most of the right label's "
        "probability (its first such pair, where no probabilities are known).",
        split_names("study model condition pairs item parent variant premise_before hypothesis_before label_before "
              "said_before p_before premise_after hypothesis_after label_after said_after p_after"),
    ),
}  # fmt: skip
FIGURES = {
    "negation_slopes": Figure("Right labels without and with a negation", "figures.build_minimal_pairs_frames"),
    "negation_changes": Figure("What the negation changes", "figures.build_minimal_pairs_frames"),
}
CATALOGUE = Catalogue(
    place=45,
    protocols=frozenset({"negation"}),
    studies=("yoshida",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    why_not_compared="a negation changes what a sentence says, so pairs with one are no other wordings of a pair "
    "without",
)
