"""The names of the features, and what each of them means."""

from __future__ import annotations

from analysis.dictionary import Column

PER_WORD = "per word"
COLUMNS: dict[str, Column] = {
    "word_length": Column(
        "mean number of characters per word, punctuation stripped (Haller et al.: average word length)",
        "characters", "Word length", 2,
    ),
    "word_frequency": Column(
        "mean Zipf frequency of the words (wordfreq in the language of the text: log10 of occurrences per billion, "
        "0 for an unknown word), punctuation stripped (Haller et al.: average lexical frequency)",
        "Zipf", "Word frequency", 2,
    ),
    "statement_length": Column(
        "number of words: white-space words with their punctuation; in Japanese UniDic short units that are not "
        "punctuation (Haller et al.: statement length)",
        "words", "Statement length", 1,
    ),
    "left_dependents": Column(
        "mean number of dependents that precede their head (Haller et al.: number of left dependencies)",
        PER_WORD, "Left dependents", 3,
    ),
    "right_dependents": Column(
        "mean number of dependents that follow their head (Haller et al.: number of right dependencies)",
        PER_WORD, "Right dependents", 3,
    ),
    "dependency_length": Column(
        "mean distance of a word to its head, a root counting as 0; divided by left_dependents + right_dependents it "
        "is the mean over dependents alone (Haller et al.: dependency length)",
        "words", "Dependency length", 2,
    ),
    "sentiment_positive": Column(
        "positive sentiment: probability (pysentimiento) or share of the wording (VADER) (Haller et al.: sentiment+)",
        "0 to 1", "Sentiment +", 3,
    ),
    "sentiment_negative": Column(
        "negative sentiment: probability (pysentimiento) or share of the wording (VADER) (Haller et al.: sentiment-)",
        "0 to 1", "Sentiment −", 3,
    ),
    "negation_cues": Column("number of negation cues (not in Haller et al.)", "cues", "Negations", 2),
    "edit_similarity": Column(
        "1 - Levenshtein distance to the item's original / length of the longer of the two, in characters "
        "(not in Haller et al.)",
        "0 to 1", "Similarity to original", 3,
    ),
}  # fmt: skip
FEATURES: tuple[str, ...] = tuple(COLUMNS)
PUBLISHED: dict[str, str] = {
    "word_frequency": "frequency",
    "word_length": "word length",
    "statement_length": "sent. length",
    "right_dependents": "#dep. right",
    "left_dependents": "#dep. left",
    "dependency_length": "dep. dist",
    "sentiment_positive": "sentiment+",
    "sentiment_negative": "sentiment-",
}
"""The paper's eight predictors in the order of its Table 3, with the headers of that table."""

DICTIONARY: dict[str, Column] = {
    **COLUMNS,
    "variant": Column("id of the variant: one presentation of the item", header="Variant"),
    "pattern": Column("kind of manipulation that made the variant", header="Pattern"),
    "language": Column("language of the wording (ISO 639 code)", header="Language"),
    "logit": Column(
        "log p(agree) - log p(disagree), from log-probabilities; infinite where one of the two has no probability",
        "nats", "Logit", 2,
    ),
    "text_logprob": Column("log-probability of the wording itself under the model", "nats", "Log-probability", 1),
    "feature_a": Column("a text feature", header="Feature"),
    "feature_b": Column("the feature it is correlated with", header="with"),
    "r": Column("Pearson correlation over the paraphrases that have both features", "-1 to 1", "r", 2),
    "p": Column("two-sided p value of the correlation, not corrected", "", "p", 3),
    "columns": Column("the features", header="Features"),
    "component": Column("what computed them, with its version; empty where they are missing", header="Computed by"),
    "missing": Column("why the features are missing and how to get them", header="Missing because"),
    "n_texts": Column("distinct wordings", "wordings", "Wordings"),
}  # fmt: skip
"""`COLUMNS` and the other columns of this package's frames, for the data dictionary."""
