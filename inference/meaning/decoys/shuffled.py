"""Put the words of a sentence into another order."""

from __future__ import annotations

import random
import unicodedata

from ground.capitals import capitalise_sentence
from inference.meaning.decoys.sentences import JAPANESE_NAME, Candidate, Sentence
from inference.meaning.decoys.spelling import lowercase_first_word_unless_name
from inference.paraphrase.parsing import normalise_wording

TRIES = 50


def list_shuffled_sentences_or_reason(sentence: Sentence, seed: int) -> list[Candidate] | str:
    """Write the words of a sentence in other orders; punctuation at its end stays there.

    Parameters
    ----------
    sentence
        The sentence.
    seed
        Of the orders, with the item's name.

    Returns
    -------
    Sentences in other orders; or why there is none.
    """
    joint = "" if sentence.language == JAPANESE_NAME else " "
    body, end = _split_off_final_punctuation(sentence.text.strip())
    words = _split_words(sentence, body)
    if len(words) < 2:
        return "one word only"
    generator = random.Random(f"{seed} {sentence.item.item} shuffled")
    texts: dict[str, str] = {}
    for _ in range(TRIES):
        order = generator.sample(words, len(words))
        text = joint.join(order) + end
        text = capitalise_sentence(text) if joint else text
        texts.setdefault(normalise_wording(text), text)
    texts.pop(normalise_wording(sentence.text), None)
    return [Candidate(text, "its words in another order") for text in texts.values()] or "all orders are alike"


def _split_off_final_punctuation(text: str) -> tuple[str, str]:
    """Split the punctuation at the end from a text."""
    end = len(text)
    while end and unicodedata.category(text[end - 1]).startswith("P"):
        end -= 1
    return text[:end], text[end:]


def _split_words(sentence: Sentence, body: str) -> list[str]:
    """Split a text into words; of English, the first one loses its capital where the item writes it small elsewhere."""
    if sentence.language == JAPANESE_NAME:
        return [word.written for word in sentence.words if word.end <= len(body)]
    words = body.split()
    if words:
        words[0] = lowercase_first_word_unless_name(sentence, words[0])
    return words
