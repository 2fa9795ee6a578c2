"""Say what the columns of the tables on negation mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import MASS, POINTS, SHARE, Column

COLUMNS: Mapping[str, Column] = {
    # identity
    "item": Column("id of the original pair of sentences, which stands for all pairs made from it", header="Original"),
    "pairs": Column(
        "kind of minimal pairs: the negation in which they differ is important (it changes the right label) or not",
        header="Negation",
    ),
    "by": Column("what the minimal pairs are split by: position of the negation, or part of speech", header="By"),
    "value": Column(
        "end: directly before the mark that ends the sentence; mid: elsewhere; or the part of speech that the negation "
        "follows",
        header="Value",
    ),
    "sentences": Column("original: neither sentence is negated; negated: one or both are", header="Sentences"),
    "label": Column("one of the labels that the models may answer", header="Label"),
    "setting": Column(
        "what a tuned model was tuned on; of printed rows, how the model was tuned or asked", header="Setting"
    ),
    "seeds": Column("of a tuned model: seeds of split and training, whose mean the row is", "models", "Seeds"),
    "negation_data.study": Column("name of the study; of printed rows, the set of JNLI-Neg", header="Study"),
    "negation_printed.study": Column("name of the study; of printed rows empty", header="Study"),
    "negation_printed.model": Column(
        "model id as in run.json, of tuned models the name of the tuning; of printed rows as in the paper, empty for "
        "its majority baseline",
        header="Model",
    ),
    "negation_printed.condition": Column(
        "name of the settings the model was asked under; of printed rows empty", header="Condition"
    ),
    "parent": Column("the pair of sentences without the negation: a variant of the item", header="Without"),
    "variant": Column("the pair of sentences with the negation: a variant of the item", header="With"),
    # sizes
    "n": Column("minimal pairs, both sides of which have a response", "pairs", "n"),
    "negation_accuracy.n": Column("pairs of sentences with a response", "pairs", "n"),
    "n_items": Column("originals that these are made from", "originals", "Originals"),
    "validity": Column("share of valid answers on both sides of these pairs", SHARE, "Validity", 2),
    "n_original": Column("answers about pairs without a negation", "answers", "n without"),
    "n_negated": Column("answers about pairs with a negation", "answers", "n with"),
    "d_orig": Column("originals: pairs of sentences without a negation", "pairs", "Originals"),
    "d_neg": Column("pairs made from them that have a negation in one sentence or in both", "pairs", "Negated"),
    "m_important": Column("minimal pairs whose negation changes the right label", "pairs", "Important"),
    "m_unimportant": Column("minimal pairs whose negation leaves it", "pairs", "Unimportant"),
    "m_important_end": Column(
        "important ones whose negation stands directly before the mark that ends the sentence",
        "pairs",
        "Important, end",
    ),
    "m_important_mid": Column(
        "important ones whose negation stands elsewhere in the sentence", "pairs", "Important, mid"
    ),
    "m_unimportant_end": Column(
        "unimportant ones whose negation stands directly before the mark that ends the sentence",
        "pairs",
        "Unimportant, end",
    ),
    "m_unimportant_mid": Column(
        "unimportant ones whose negation stands elsewhere in the sentence", "pairs", "Unimportant, mid"
    ),
    # accuracy
    "acc": Column("share of minimal pairs whose side without the negation is labelled rightly", SHARE, "Acc", 3),
    "acc_negated": Column("share of minimal pairs whose side with the negation is labelled rightly", SHARE, "Acc′", 3),
    "acc_change": Column("share of right labels with the negation minus without", POINTS, "AccChg", 3),
    "acc_important": Column(
        "share of right labels without the negation, over pairs with an important negation", SHARE, "Acc (important)", 3
    ),
    "acc_negated_important": Column(
        "share of right labels with the negation, over pairs with an important negation", SHARE, "Acc′ (important)", 3
    ),
    "acc_change_important": Column(
        "the second share minus the first, over pairs with an important negation", POINTS, "AccChg (important)", 3
    ),
    "acc_unimportant": Column(
        "share of right labels without the negation, over pairs with an unimportant negation",
        SHARE,
        "Acc (unimportant)",
        3,
    ),
    "acc_negated_unimportant": Column(
        "share of right labels with the negation, over pairs with an unimportant negation",
        SHARE,
        "Acc′ (unimportant)",
        3,
    ),
    "acc_change_unimportant": Column(
        "the second share minus the first, over pairs with an unimportant negation", POINTS, "AccChg (unimportant)", 3
    ),
    "valid": Column("share of answers that are one of the labels", SHARE, "Valid", 2),
    "accuracy": Column("share of right labels; an answer that is not valid is wrong", SHARE, "Accuracy", 3),
    "accuracy_jnli": Column("printed: accuracy on the validation set of JNLI", SHARE, "JNLI", 3),
    "accuracy_original": Column("accuracy on the originals", SHARE, "Originals", 3),
    "accuracy_negated": Column("accuracy on the pairs with a negation", SHARE, "Negated", 3),
    "majority": Column("share of the most frequent right label", SHARE, "Majority", 3),
    "majority_label": Column("the most frequent right label", header="Label"),
    # bias
    "said_original": Column("share of answers with this label where no sentence is negated", SHARE, "Said without", 3),
    "said_negated": Column("share of answers with this label where a sentence is negated", SHARE, "Said with", 3),
    "said_change": Column("the second share minus the first", POINTS, "Change", 3),
    "right_original": Column(
        "share of pairs for which the label is right, without a negation", SHARE, "Right without", 3
    ),
    "right_negated": Column("share of pairs for which the label is right, with a negation", SHARE, "Right with", 3),
    # examples
    "premise_before": Column("the premise without the negation", header="Premise before"),
    "hypothesis_before": Column("the hypothesis without the negation", header="Hypothesis before"),
    "label_before": Column("the right label without the negation", header="Right before"),
    "said_before": Column("the label that was said; empty: no valid answer without the negation", header="Said before"),
    "p_before": Column(
        "probability of the right label, divided by that of all labels, without the negation",
        MASS,
        "p(right) before",
        2,
    ),
    "premise_after": Column("the premise with the negation", header="Premise after"),
    "hypothesis_after": Column("the hypothesis with the negation", header="Hypothesis after"),
    "label_after": Column("the right label with the negation", header="Right after"),
    "said_after": Column("the label that was said; empty: no valid answer with the negation", header="Said after"),
    "p_after": Column(
        "probability of the right label, divided by that of all labels, with the negation", MASS, "p(right) after", 2
    ),
}
