"""Rephrase headings about models for runs of one model."""

from __future__ import annotations

import re

# As headings of several models say it -> of one. Of one model, only its conditions can differ from one another.
_PHRASES = {
    "Do the models": "Does the model",
    "do models": "does the model",
    "Do they": "Does it",
    "did they": "did it",
    "were the models": "was the model",
    "the models were": "the model was",
    "the models are": "the model is",
    "Which models differ": "Which conditions differ",
    "between models, and between conditions of one model": "between conditions",
    "between models": "between conditions",
    "Between models": "Between conditions",
    "The models compared": "The model in numbers",
    "The models": "The model",
    "These models": "This model",
    "Models and": "The model and",
    "Models beside": "The model beside",
    " in every model": "",
    " across models": "",
    " of every model": "",
    " under every model": "",
    "every model and item": "every item",
    "every model": "the model",
    "Every model": "The model",
    "their answer": "its answer",
    "their probabilities": "its probabilities",
}
_PATTERN = re.compile("|".join(rf"{re.escape(phrase)}\b" for phrase in _PHRASES))


def rephrase_heading_for_one_model(heading: str) -> str:
    """Rephrase a heading, question or title about several models for one.

    A heading that names no models stays.

    >>> rephrase_heading_for_one_model("Do the models change their answer when the wording changes?")
    'Does the model change its answer when the wording changes?'
    >>> rephrase_heading_for_one_model("Which models differ in flips?"), rephrase_heading_for_one_model("Models")
    ('Which conditions differ in flips?', 'The model')
    """
    if heading == "Models":
        return "The model"
    return _PATTERN.sub(lambda match: _PHRASES[match[0]], heading)
