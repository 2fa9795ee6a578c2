"""Say what the columns of the tables of this page mean, where that is not the same on every page."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.reporting.catalogue.columns import SHARE, Column

COLUMNS: Mapping[str, Column] = {
    "text": Column("the item's original wording; of prompts, the wording that is asked", header="Text"),
    "pattern": Column("kind of wording; original: the question before rewording", header="Pattern"),
    "n_wordings": Column("wordings of the item in the study", "wordings", "Wordings"),
    "measure": Column(
        "what orders the items: spread (largest minus smallest share of the first answer over an item's wordings, each "
        "between 0 and 1) or score (as a share of the way from the scale's lower to its upper end)",
        header="Ordered by",
    ),
    "transcript_value": Column("the spread or the score, as a mean over models and conditions", "0 to 1", "Mean", 3),
    "n_units": Column("models times conditions that the mean is over", "pairs", "Models × conditions"),
    "shown": Column("the item's place where it is an example: first, middle or last; else empty", header="Shown"),
    "variant": Column("id of the wording", header="Wording"),
    "prompt_number": Column("number of the prompt in these tables, the same for all models that read it", header="No."),
    "n_models": Column("models that read this prompt under this condition", "models", "Models"),
    "prompt": Column("what they read; empty where the run does not hold it", header="Prompt"),
    "unknown": Column("why the prompt is not known; empty where it is", header="Not known because"),
    "said": Column("probabilities, counts, score and answer, as far as there are any", header="Answer"),
    "n_prompts": Column("prompts after which the model thought", "prompts", "Prompts"),
    "n_thoughts": Column("thoughts of these prompts", "thoughts", "Thoughts"),
    "n_unclosed": Column("thoughts that did not end by themselves", "thoughts", "Without an end"),
    "unclosed": Column("share of the thoughts that did not end by themselves", SHARE, "Without an end", 2),
    "n_unanswered": Column("prompts of which no thought has an answer", "prompts", "No answer"),
    "tokens": Column("mean tokens of a thought, those without an end included", "tokens", "Mean tokens", 0),
    "tokens_median": Column("median tokens of a thought", "tokens", "Median", 0),
    "tokens_most": Column("tokens of the longest thought", "tokens", "Longest", 0),
    "most_allowed": Column(
        "tokens that the condition allowed for a thought with its answer, or its budget; missing where it "
        "names neither: then 8,192, or what fits the model's window if that is less", "tokens", "Allowed", 0,
    ),
    "output": Column("texts that the model wrote; of a model that thinks, one after each thought", header="Texts"),
    "thought": Column("what the model thought before it answered; none where it was not asked to", header="Thoughts"),
    "thought_tokens": Column("tokens of each thought", "tokens", "Tokens of thoughts"),
}  # fmt: skip
