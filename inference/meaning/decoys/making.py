"""Make decoys of every kind for every item, and say which could not be made and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ground.errors import join_first_names
from inference.meaning.decoys.antonyms import list_antonym_sentences_or_reason
from inference.meaning.decoys.exchanged import Exchange
from inference.meaning.decoys.negated import list_negated_sentences_or_reason
from inference.meaning.decoys.sentences import (
    Candidate,
    Sentence,
    build_sentences_of_item_originals,
    detect_language_of_item,
)
from inference.meaning.decoys.shuffled import list_shuffled_sentences_or_reason
from inference.negating.english import load_spacy_pipeline
from inference.paraphrase.decoys import (
    ANTONYM,
    EXCHANGED,
    KINDS,
    NEGATED,
    OTHER_ITEM,
    PREFIX,
    SHUFFLED,
    Decoy,
    refuse_wordings_named_like_decoys,
)
from inference.paraphrase.parsing import normalise_wording
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.study import Item, Variant

MOST_NAMED = 10  # items that a line names
MOST_OTHERS = 20  # items that give an item a wording; to draw from all takes long


@dataclass(frozen=True, slots=True)
class Decoys:
    """The decoys of a study.

    Attributes
    ----------
    rows
        The decoys, item by item, kind by kind.
    missing
        Lines for people: which kind could not be made, of how many items, and why.
    """

    rows: tuple[Decoy, ...]
    missing: tuple[str, ...]


def make_decoys(
    items: Sequence[Item],
    *,
    per_kind: int = 1,
    seed: int = 0,
    pipeline: str | None = None,
    antonyms: str | None = None,
) -> Decoys:
    """Make decoys of every item's original; none is a wording of the item.

    The decoys of an item depend on the item and the seed; those with a wording, a name or a noun of another item also
    on which items there are, but not on their order.

    Parameters
    ----------
    items
        The items of a study.
    per_kind
        How many of each kind an item gets, where there are so many.
    seed
        Of what is drawn.
    pipeline
        Package or folder of an English spaCy pipeline with tagger and parser; without one, plainer rules are used.
    antonyms
        A user's table of antonyms (YAML, like `antonyms-en.yaml` here), which takes the place of ours.

    Returns
    -------
    The decoys, and what could not be made.

    Raises
    ------
    InputError
        The pipeline cannot be loaded, the table of antonyms is wrong, a package for Japanese is not installed, or a
        wording has the name of a decoy.
    """
    refuse_wordings_named_like_decoys(items)
    loaded_pipeline = load_spacy_pipeline(pipeline) if pipeline else None
    sentences = {sentence.item.item: sentence for sentence in build_sentences_of_item_originals(items, loaded_pipeline)}
    makers: dict[str, Callable[[Sentence], Sequence[Candidate] | str]] = {
        NEGATED: list_negated_sentences_or_reason,
        ANTONYM: lambda sentence: list_antonym_sentences_or_reason(sentence, seed, antonyms),
        OTHER_ITEM: _OtherWordings(items, seed).draw_wordings_of_other_items_or_reason,
        EXCHANGED: Exchange(sentences.values(), seed).list_exchanged_sentences_or_reason,
        SHUFFLED: lambda sentence: list_shuffled_sentences_or_reason(sentence, seed),
    }
    rows: list[Decoy] = []
    names_by_fault: dict[tuple[str, str], list[str]] = {}
    for item in items:
        sentence = sentences.get(item.item)
        taken_texts = {normalise_wording(variant.text) for variant in item.variants}
        for kind, make in makers.items():
            result = make(sentence) if sentence else "no original"
            decoys = (
                []
                if isinstance(result, str)
                else _build_new_decoys_and_mark_texts_taken(item, kind, result, taken_texts, per_kind)
            )
            rows += decoys
            if not decoys:
                reason = result if isinstance(result, str) else "what the rules make of them is a wording of the item"
                names_by_fault.setdefault((kind, reason), []).append(item.item)
    return Decoys(tuple(rows), tuple(_describe_items_lacking_decoys(names_by_fault, len(items))))


def _build_new_decoys_and_mark_texts_taken(
    item: Item, kind: str, candidates: Sequence[Candidate], taken_texts: set[str], per_kind: int
) -> list[Decoy]:
    """Take the first candidates that are no wording and no decoy of the item, and note their texts as taken."""
    decoys: list[Decoy] = []
    for candidate in candidates:
        folded_text = normalise_wording(candidate.text)
        if len(decoys) < per_kind and folded_text and folded_text not in taken_texts:
            taken_texts.add(folded_text)
            decoys.append(Decoy(item.item, f"{PREFIX}{kind}-{len(decoys) + 1}", kind, candidate.text, candidate.source))
    return decoys


def _describe_items_lacking_decoys(names_by_fault: dict[tuple[str, str], list[str]], n_items: int) -> list[str]:
    """Say in a line for each kind and reason which items lack decoys."""
    lines = []
    for (kind, reason), names in sorted(names_by_fault.items(), key=lambda entry: KINDS.index(entry[0][0])):
        shown_names = join_first_names(names, MOST_NAMED)
        lines.append(f"no decoy {kind} for {len(names):,} of {n_items:,} items ({shown_names}): {reason}")
    return lines


class _OtherWordings:
    """The wordings of all items, to draw those of another item from."""

    def __init__(self, items: Sequence[Item], seed: int) -> None:
        self._seed = seed
        self._items = {item.item: item for item in items}
        self._languages = {item.item: detect_language_of_item(item) for item in items}

    def draw_wordings_of_other_items_or_reason(self, sentence: Sentence) -> list[Candidate] | str:
        """Draw a wording of each of at most twenty other items in this language, in an order that the seed gives."""
        name = sentence.item.item
        others = [other for other in self._items if other != name and self._languages[other] == self._languages[name]]
        others.sort(key=lambda other: compute_sort_key_for_random_order(self._seed, OTHER_ITEM, name, other))
        wordings = [self._sample_wording_of_other_item(name, self._items[other]) for other in others[:MOST_OTHERS]]
        return [
            Candidate(wording.text, f"item {wording.item}, wording {wording.variant}") for wording in wordings
        ] or "there is no other item in its language"

    def _sample_wording_of_other_item(self, name: str, other: Item) -> Variant:
        """Draw a wording of another item."""
        return min(
            other.variants,
            key=lambda variant: compute_sort_key_for_random_order(
                self._seed, OTHER_ITEM, name, variant.item, variant.variant
            ),
        )
