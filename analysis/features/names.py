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
