"""Say what the columns of the tables on multiple choice mean."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import MASS, POINTS, SHARE, Column

WORDINGS = {"original": "original", "paraphrase_1": "first paraphrase", "paraphrase_2": "second paraphrase"}
MEASURES = {"accuracy": "accuracy", "xparacon": "XParaCon", "perfectly_correct": "perfectly correct"}


def format_choice_wording_name(pattern: str) -> str:
    """Write the name of a wording in words.

    >>> format_choice_wording_name("paraphrase_1"), format_choice_wording_name("paraphrase_12")
    ('first paraphrase', 'paraphrase 12')
    """
    return WORDINGS.get(pattern, pattern.replace("_", " "))


COLUMNS: Mapping[str, Column] = {
    # identity
    "item": Column("id of the question", header="Question"),
    "condition": Column(
        "name of the settings the model was asked under; per byte: the probabilities of the choices' texts, whose "
        "logarithms are divided by their lengths in bytes",
        header="Condition",
    ),
    "subset": Column("subset of the questions; all: every question of the study", header="Subset"),
    "wording": Column(
        "original or one of the paraphrases; of printed rows, the first is by Gemini 2.5 Flash Lite, the second by "
        "Claude 3.5 Sonnet",
        header="Wording",
        phrase_name=format_choice_wording_name,
    ),
    "measure": Column(
        "accuracy, xparacon or perfectly_correct (table `choice`)",
        header="Measure",
        phrase_name=lambda name: MEASURES[name],
    ),
    "right": Column("letter at which the right choice is shown; all: whichever it is", header="Right"),
    "choice_examples.right": Column("the right choice", header="Right choice"),
    "letter": Column("letter that is chosen, whatever stands there; none: the answer is no choice", header="Chosen"),
    "change": Column(
        "what differs between before and after: tuning, prompt, or tuning and prompt", header="What differs"
    ),
    "choice_examples.change": Column(
        "what differs between before and after: other words, or another order", header="What differs"
    ),
    "tuned": Column("yes: the model has an adapter, or is marked FT in the paper", header="Tuned"),
    "choice_printed.study": Column("name of the study; of printed rows empty", header="Study"),
    "choice_building.study": Column("name of the study; of printed rows empty", header="Study"),
    "choice_wordings.study": Column("name of the study; of printed rows empty", header="Study"),
    "choice_history.model": Column("the model with the adapter", header="Model"),
    "base_model": Column("the model that the adapter was made for", header="Base model"),
    "a_model": Column("model of a in the difference", header="Model a"),
    "a_condition": Column("condition of a in the difference", header="Condition a"),
    "b_model": Column("model of b in the difference", header="Model b"),
    "b_condition": Column("condition of b in the difference", header="Condition b"),
    "model_before": Column("model before", header="Model before"),
    "condition_before": Column("condition before", header="Condition before"),
    "variant_before": Column("wording and order, as a variant of the question, before", header="Variant before"),
    "text_before": Column("the question before", header="Question before"),
    "order_before": Column(
        "letters of the choices in the question's own order, as they are shown before", header="Order before"
    ),
    "said_before": Column("the choice that is taken before", header="Choice before"),
    "model_after": Column("model after", header="Model after"),
    "condition_after": Column("condition after", header="Condition after"),
    "variant_after": Column("wording and order, as a variant of the question, after", header="Variant after"),
    "text_after": Column("the question after", header="Question after"),
    "order_after": Column(
        "letters of the choices in the question's own order, as they are shown after", header="Order after"
    ),
    "said_after": Column("the choice that is taken after", header="Choice after"),
    # sizes
    "n_questions": Column("questions, over which the intervals are", "questions", "Questions"),
    "n": Column("answers: questions, each in all wordings and orders", "answers", "Answers"),
    "positions.n": Column("answers, where the right choice is shown at this letter", "answers", "Answers"),
    "reading": Column(
        "how texts are read: letter (also a reply that is only the letter of a choice) or strict (only behind "
        "`Answer: `, the prefix that the paper names); empty where there are no texts, or another tool read them",
        header="Reading",
    ),
    "n_texts": Column("texts that were read as choices; missing where there are none", "texts", "Texts"),
    "read_otherwise": Column(
        "texts that the other reading reads as another choice, or as none; missing where nobody counted them",
        "texts",
        "Read otherwise",
    ),
    "no_choice": Column("answers that are no choice, which count as wrong", "answers", "No choice"),
    "n_varying": Column("questions whose wordings differ in accuracy", "questions", "Vary"),
    "validity": Column(
        "mean mass on the options, or share of the texts that could be read as a choice; where only bounds of the mass "
        "are known, the lower one",
        MASS,
        "Validity",
        2,
    ),
    "a_validity": Column("validity of a", MASS, "Validity a", 2),
    "b_validity": Column("validity of b", MASS, "Validity b", 2),
    "validity_before": Column("validity of before", MASS, "Validity before", 2),
    "validity_after": Column("validity of after", MASS, "Validity after", 2),
    # right, and right in other words
    "accuracy": Column("share of right answers; an answer that is no choice is wrong", SHARE, "Accuracy", 3),
    "chance": Column("accuracy of guessing: mean of 1 divided by the number of choices", SHARE, "Chance", 2),
    "xparacon": Column(
        "negative base-2 logarithm of the mean over questions of the standard deviation of the wordings' accuracies "
        "(divided by the number of wordings, not by one less); ∞ where no question varies",
        "bits",
        "XParaCon",
        3,
    ),
    "mean_sd": Column("that mean standard deviation; at most 0.471 with three wordings", "share", "Mean SD", 4),
    "perfectly_correct": Column(
        "share of questions answered rightly in all orders, as a mean over wordings; empty where there is one order: "
        "that is accuracy",
        SHARE,
        "Perfectly correct",
        3,
    ),
    "choice_wordings.perfectly_correct": Column(
        "share of questions that are answered rightly in all orders of this wording; empty where there is one order: "
        "that is accuracy",
        SHARE,
        "Perfectly correct",
        3,
    ),
    "confident": Column("share of questions of which all wordings are perfectly correct", SHARE, "All", 3),
    "inconsistent": Column(
        "share of questions of which some but not all wordings are perfectly correct", SHARE, "Partly", 3
    ),
    "unconfident": Column("share of questions of which no wordings are perfectly correct", SHARE, "Never", 3),
    "n_confident": Column("questions of which all wordings are perfectly correct", "questions", "All, number"),
    "n_inconsistent": Column(
        "questions of which some but not all wordings are perfectly correct", "questions", "Partly, number"
    ),
    "n_unconfident": Column("questions of which no wordings are perfectly correct", "questions", "Never, number"),
    # keeping to a choice
    "changed": Column("share of questions that do not get one choice in all wordings and orders", SHARE, "Changed", 3),
    "same_in_wordings": Column(
        "share of questions in one order that get one choice in all wordings", SHARE, "Same in all wordings", 3
    ),
    "same_in_orders": Column(
        "share of questions in one wording that get one choice in all orders", SHARE, "Same in all orders", 3
    ),
    "same_throughout": Column(
        "share of questions that get one choice in all wordings and orders", SHARE, "Same throughout", 3
    ),
    "same_letter": Column(
        "share of questions in one wording that get one letter in all orders, whatever stands there",
        SHARE,
        "One letter",
        3,
    ),
    "turned_by_wordings": Column(
        "share of the pairs of answers with different choices, where only the wording differs",
        SHARE,
        "Turned by wording",
        3,
    ),
    "turned_by_orders": Column(
        "share of the pairs of answers with different choices, where only the order differs",
        SHARE,
        "Turned by order",
        3,
    ),
    "order_minus_wording": Column("the second share minus the first", POINTS, "Order − wording", 3),
    "share": Column("share of the answers that are this letter", SHARE, "Share", 3),
    "is_right": Column("share of the answers for which this letter is right", SHARE, "Is right", 3),
    "preference": Column("share over all answers minus that for which the letter is right", POINTS, "Preference", 3),
    # comparisons
    "a": Column("the measure of a", "its unit", "a", 3),
    "b": Column("the measure of b", "its unit", "b", 3),
    "before": Column("the measure before", "its unit", "Before", 3),
    "after": Column("the measure after", "its unit", "After", 3),
    "choice_differences.difference": Column(
        "a minus b; none where the XParaCon of either is infinite", "its unit", "a − b", 3
    ),
    "choice_changes.difference": Column(
        "after minus before; none where the XParaCon of either is infinite", "its unit", "Change", 3
    ),
    "p": Column("two-sided p value by exchanging both sides at random in every question, not corrected", "", "p", 3),
    "p_least": Column("the smallest p value that so few questions or exchanges allow", "", "Least p", 4),
    "p_holm": Column("p after Holm over all rows of a study, subset and measure", "", "p (Holm)", 3),
    # what was recorded
    "choice_building.step": Column("step of the building", header="Step"),
    "choice_history.step": Column("step of the training", "steps", "Step"),
    "of": Column("source of the questions, or their subset", header="Of"),
    "count": Column("questions that are left after the step, or that were left out by it", "questions", "Questions"),
    "reason": Column("why questions were left out; empty where they were not", header="Reason"),
    "epoch": Column("passes over the training examples so far", "epochs", "Epoch", 2),
    "loss": Column("mean loss on the training examples since the row before", "nats per token", "Loss", 3),
    "validation_loss": Column("mean loss on the validation examples", "nats per token", "Validation loss", 3),
}
