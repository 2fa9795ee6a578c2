"""List the tables and figures of the page `choice`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.pages.choice.columns import COLUMNS
from analysis.reporting.catalogue import Catalogue, Figure, Measures, Rewordings, Table, split_names
from analysis.reporting.catalogue.columns import OVER_ITEMS

BARE = frozenset({"no_interval"})
UNIT = split_names("study model condition subset n_questions")
PAIRED = "95 % intervals over the questions that both have (Newcombe)"
ACCURACY = split_names("accuracy accuracy_lower accuracy_upper")
XPARACON = split_names("xparacon xparacon_lower xparacon_upper")
PERFECT = split_names("perfectly_correct perfectly_correct_lower perfectly_correct_upper")
CLASSES = split_names(
    "confident confident_lower confident_upper inconsistent inconsistent_lower inconsistent_upper unconfident "
    "unconfident_lower unconfident_upper"
)
CONSISTENCY = split_names(
    "changed changed_lower changed_upper same_in_wordings same_in_wordings_lower same_in_wordings_upper "
    "same_in_orders same_in_orders_lower same_in_orders_upper same_throughout same_throughout_lower "
    "same_throughout_upper same_letter same_letter_lower same_letter_upper turned_by_wordings "
    "turned_by_wordings_lower turned_by_wordings_upper turned_by_orders turned_by_orders_lower "
    "turned_by_orders_upper order_minus_wording order_minus_wording_lower order_minus_wording_upper"
)
CHANGE = {"difference": ("lower", "upper")}


def select_interval_end_columns(column_names: Iterable[str]) -> frozenset[str]:
    """Select the ends of intervals among the names of columns."""
    return frozenset(name for name in column_names if name.endswith(("_lower", "_upper")))


TABLES = {
    "choice": Table(
        "tables.tabulate_choice_accuracy",
        "How right the models are, and how far that holds in other words",
        "Accuracy, XParaCon and perfectly correct wordings (Choi, sections 2 and 3.3), with 95 % intervals over "
        "questions (Wilson). XParaCon is the negative base-2 logarithm of the mean standard deviation of the wordings' "
        "accuracies, and infinite where no question varies. Chance is the accuracy of guessing. Where every question "
        "has one order of its choices, perfectly correct is accuracy, and left out.",
        (*UNIT, "n", "validity", "validity_at_most", "no_choice", "reading", "n_texts", "read_otherwise",
         *ACCURACY, "chance", *XPARACON, "mean_sd", "n_varying", *PERFECT, "no_interval"),
        select_interval_end_columns(ACCURACY + XPARACON + PERFECT),
        BARE | {"reading", "n_texts", "read_otherwise", *PERFECT},
        measures=Measures(
            {"xparacon": "XParaCon", "accuracy": "Accuracy of choices", "perfectly_correct": "Perfectly correct"},
            headline=split_names("xparacon accuracy"), lead="xparacon", kinds=("subset",),
            accuracy={"xparacon": "accuracy"},
        ),
    ),
    "choice_wordings": Table(
        "tables.tabulate_choice_accuracy_by_wording",
        "Accuracy by wording",
        f"Accuracy and the share of questions answered rightly in every order, with {OVER_ITEMS}. The counterpart of "
        "Choi, Table 8, whose rows stand below ours: the judge model, by which the paper's questions were chosen.",
        (*split_names("source study model condition subset wording n_questions"),
         *ACCURACY, *PERFECT, "no_interval"),
        select_interval_end_columns(ACCURACY + PERFECT), BARE | set(PERFECT),
    ),
    "choice_classes": Table(
        "tables.tabulate_shares_of_question_classes",
        "Questions whose wordings are all, partly or never perfectly correct",
        f"Perfectly correct: answered rightly in every order (Choi, equation 1), with {OVER_ITEMS}. Partly: some "
        "wordings of a question are, others are not. The paper keeps these questions, and calls them inconsistent. "
        "With one order, perfectly correct is right.",
        (*UNIT, *split_names("n_confident n_inconsistent n_unconfident"), *CLASSES, "no_interval"),
        select_interval_end_columns(CLASSES), BARE,
    ),
    "choice_consistency": Table(
        "tables.tabulate_choice_consistency",
        "How often a model keeps its choice, right or wrong",
        f"Shares with one and the same choice, with {OVER_ITEMS}. An answer that is no choice is not the same as any. "
        "One letter in all orders is what a model gives that looks at the letters only. Turned: of two answers that "
        "differ in the wording only, or in the order only, how many take different choices.",
        (*UNIT, "validity", *CONSISTENCY, "no_interval"),
        select_interval_end_columns(CONSISTENCY), BARE,
        measures=Measures(
            {"turned_by_wordings": "Choices turned by wordings", "turned_by_orders": "Choices turned by orders",
             "same_throughout": "One choice throughout"},
            kinds=("subset",),
        ),
    ),
    "positions": Table(
        "tables.tabulate_chosen_letters",
        "Which letters are chosen",
        f"Share of each letter among the answers, by the letter of the right choice and over all. With {OVER_ITEMS}. "
        "Preference: share over all minus that for which the letter is right; without one, it is 0 but for chance.",
        split_names("study model condition right letter n_questions n validity share share_lower share_upper is_right "
                    "preference preference_lower preference_upper no_interval"),
        frozenset(split_names("share_lower share_upper preference_lower preference_upper")), BARE,
    ),
    "choice_differences": Table(
        "comparisons.tabulate_choice_differences",
        "Differences between models",
        f"Models that were asked in the same way, a minus b, with {PAIRED}. The p value of XParaCon compares the mean "
        "standard deviations; it is there, too, where XParaCon is infinite and has no difference.",
        split_names("study subset measure a_model a_condition b_model b_condition n_questions a_validity b_validity a "
              "b difference lower upper p p_least p_holm no_interval"),
        frozenset(split_names("lower upper")), BARE, CHANGE,
    ),
    "choice_changes": Table(
        "comparisons.tabulate_effects_of_tuning_and_prompt",
        "What the prompt and the tuning change",
        f"After minus before, with {PAIRED}. Tuning: a model with its adapter and without, under one prompt. Prompt: "
        "one model under the paraphrase-aware prompt and under the base prompt. Tuning and prompt together are what "
        "Choi, Table 5, compares.",
        split_names("study subset change measure model_before condition_before model_after condition_after n_questions "
              "validity_before validity_after before after difference lower upper p p_least p_holm no_interval"),
        frozenset(split_names("lower upper")), BARE, CHANGE,
    ),
    "choice_building": Table(
        "training_records.tabulate_question_building_steps",
        "How the questions were chosen",
        "Numbers of questions after each step of “waver choice build”, and why others were left out. Below them the "
        "paper's numbers (Choi, Tables 2 and 4).",
        split_names("source study step of count reason"),
        frozenset(), frozenset(split_names("study reason")),
    ),
    "choice_printed": Table(
        "training_records.tabulate_choice_beside_printed",
        "These models beside the printed ones",
        "Accuracy and XParaCon as in Choi, Tables 3 and 5: other models and other questions, to be read as context. "
        "The paper asks tuned models with the paraphrase-aware prompt, the others with the base prompt.",
        split_names("source study model condition tuned subset n_questions accuracy xparacon"),
        frozenset(), frozenset({"study"}),
    ),
    "choice_history": Table(
        "training_records.tabulate_training_history",
        "Losses while the adapters were trained",
        "As the training wrote them down.",
        split_names("model base_model step epoch loss validation_loss"),
        frozenset(), frozenset({"validation_loss"}),
    ),
    "choice_examples": Table(
        "examples.tabulate_right_then_wrong_examples",
        "Right, and wrong when asked differently",
        "For every model a question that it answers rightly, and with another choice in other words or in another "
        "order of the same choices.",
        split_names("study model condition change item right variant_before text_before order_before said_before "
              "variant_after text_after order_after said_after"),
    ),
}  # fmt: skip
FIGURES = {
    "choice_map": Figure("Accuracy and XParaCon", "figures.build_choice_map_frames"),
    "choice_xparacon": Figure("XParaCon of every model", "figures.build_choice_xparacon_frames"),
    "choice_positions": Figure("Which letters are chosen", "figures.build_choice_positions_frames"),
    "training_losses": Figure(
        "Loss during training",
        "figures.build_training_losses_frames",
        empty_note="No model here has an adapter that records its training.",
    ),
}
CATALOGUE = Catalogue(
    place=48,
    protocols=frozenset({"choice"}),
    studies=("choi",),
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    rewordings=Rewordings(
        "analysis.measures.reworded.choices:read_accuracy_studies", "analysis.measures.reworded.choices:has_rewordings"
    ),
)
