"""The names of the text features; `analysis.pages.text_features.columns` says what each of them means."""

from __future__ import annotations

FEATURES: tuple[str, ...] = (
    "word_length",
    "word_frequency",
    "statement_length",
    "left_dependents",
    "right_dependents",
    "dependency_length",
    "sentiment_positive",
    "sentiment_negative",
    "negation_cues",
    "edit_similarity",
)
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
MEANINGS: dict[str, str] = {
    "word_length": "mean number of characters per word",
    "word_frequency": "mean Zipf frequency of the words",
    "statement_length": "number of words",
    "left_dependents": "mean number of dependents that precede their head",
    "right_dependents": "mean number of dependents that follow their head",
    "dependency_length": "mean distance of a word to its head, in words",
    "sentiment_positive": "positive sentiment, 0 to 1",
    "sentiment_negative": "negative sentiment, 0 to 1",
    "negation_cues": "number of negation cues",
    "edit_similarity": "1 - Levenshtein distance to the item's original / length of the longer one, in characters",
}
"""What each feature of a wording is, in short."""
