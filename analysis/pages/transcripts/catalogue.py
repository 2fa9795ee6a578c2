"""List the tables and figures of the page `transcripts`; `columns` says what its columns mean."""

from analysis.pages.transcripts.columns import COLUMNS
from analysis.reporting.catalogue import ALL, Catalogue, Figure, Table, split_names

TABLES = {
    "transcript_items": Table(
        "tables.order_items_and_mark_examples",
        "All items in the order from which the examples are taken",
        "Items with a value come first, the largest on top; all others stand in the order of their study.",
        split_names("study item text n_wordings measure transcript_value n_units shown"),
        optional=frozenset({"n_units"}),
    ),
    "transcript_prompts": Table(
        "tables.tabulate_transcript_prompts",
        "The prompts of the examples, to the letter",
        "Of an item with several wordings: the original, the wording with the highest mean answer and the one with the "
        "lowest. Where nothing orders the items, the original and the first two wordings. Messages of a chat stand "
        "without the marks of the chat template.",
        split_names("study item shown variant pattern text condition prompt_number n_models prompt unknown"),
    ),
    "transcript_answers": Table(
        "tables.tabulate_transcript_answers",
        "What every model answered to these prompts",
        "Probabilities are exact; texts are as the model wrote them.",
        split_names("study model condition item variant prompt_number said output thought thought_tokens"),
    ),
    "thought_lengths": Table(
        "tables.tabulate_thought_lengths",
        "How long thoughts are, and how many did not end",
        "By model, condition and kind of wording. A thought without an end has no answer and is in no mean, unless its "
        "condition has a budget, at which it was closed by force.",
        split_names(
            "study model condition pattern n_prompts n_thoughts n_unclosed unclosed n_unanswered "
            "tokens tokens_median tokens_most most_allowed"
        ),
        frozenset({"n_unclosed", "tokens_median"}),
    ),
}
FIGURES = {
    "transcript_items": Figure(
        "Which items the examples are", "figures.build_transcript_items_frames", file_name="transcript_items",
        empty_note="No item has answers that could be compared, so the examples are from all over the study.",
    ),
}  # fmt: skip
CATALOGUE = Catalogue(place=60, protocols=ALL, tables=TABLES, columns=COLUMNS, figures=FIGURES)
