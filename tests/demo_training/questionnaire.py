"""Make Waver's own questionnaire: expand a grammar of everyday statements into items with paraphrases.

`PYTHONPATH=tests python -m demo_training.questionnaire` rewrites inference/demo/questionnaire.yaml from
questionnaire-grammar.yaml and match-proportion.yaml; with `--review` it prints the paraphrases to be checked by
eye instead.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import yaml

from demo_training.templates import expand_template, fold_sentence
from ground.errors import InputError
from inference.demo import DEMO, SEED
from inference.stimuli.reading.files import read_yaml

QUESTIONNAIRE = DEMO / "questionnaire.yaml"
GRAMMAR = Path(__file__).with_name("questionnaire-grammar.yaml")
REVIEW = Path(__file__).with_name("match-proportion.yaml")
PARAPHRASES = 64
"""Paraphrases kept of every statement."""
REVIEWED = 15
"""Paraphrases of every statement read by a human eye, as many as Haller et al. read (Appendix, Table 4)."""

HEADER = """\
# Waver's own questionnaire, made by `PYTHONPATH=tests python -m demo_training.questionnaire` from
# tests/demo_training/questionnaire-grammar.yaml: edit that. match_proportion: the share of 15 paraphrases, drawn with
# match_seed, that were found by eye to be good English and to mean what the statement means.
"""


def read_grammar() -> list[dict[str, Any]]:
    """Read the grammar file: one dict per statement with `item`, `statement` and `paraphrases` (templates)."""
    grammar: list[dict[str, Any]] = read_yaml(GRAMMAR)
    return grammar


def expand_paraphrases(entry: dict[str, Any]) -> list[list[str]]:
    """Make every wording that a statement's grammar allows, template by template, each wording once."""
    folded_wordings = {fold_sentence(entry["statement"])}
    templates = []
    for template in entry["paraphrases"]:
        new_sentences = [
            sentence for sentence in expand_template(template) if fold_sentence(sentence) not in folded_wordings
        ]
        folded_wordings.update(map(fold_sentence, new_sentences))
        templates.append(new_sentences)
    return templates


def draw_paraphrases(entry: dict[str, Any], size: int = PARAPHRASES) -> list[str]:
    """Draw paraphrases of a statement, one template after the other, so that none dominates.

    The draw depends on the statement's id and the seed only: other statements may come and go.

    Parameters
    ----------
    entry
        A statement of the grammar (`read_grammar`).
    size
        Number of paraphrases.

    Returns
    -------
    Different paraphrases.

    Raises
    ------
    InputError
        The grammar allows fewer.
    """
    rng = random.Random(f"{SEED} {entry['item']}")
    sentence_queues = [rng.sample(sentences, len(sentences)) for sentences in expand_paraphrases(entry)]
    n_available = sum(map(len, sentence_queues))
    if n_available < size:
        raise InputError(f"{GRAMMAR.name}, item {entry['item']}: {n_available} paraphrases, {size} are needed")
    chosen: list[str] = []
    while len(chosen) < size:
        chosen.extend(sentences.pop() for sentences in sentence_queues if sentences)
    return chosen[:size]


def _draw_review_sample(item: dict[str, Any], seed: int) -> list[str]:
    """Draw the paraphrases of an expanded item that a person reads, in the order of the draw."""
    return random.Random(f"{seed} {item['item']}").sample(item["paraphrases"], REVIEWED)


def build_questionnaire() -> list[dict[str, Any]]:
    """Make the items: `item`, `text`, `paraphrases`, and `attributes` with the match proportion."""
    review = read_yaml(REVIEW)
    items = []
    for entry in read_grammar():
        matches = review["matches"][entry["item"]]
        attributes = {"match_proportion": f"{matches / REVIEWED:.2f}", "match_seed": str(review["seed"])}
        items.append(
            {
                "item": entry["item"],
                "text": entry["statement"],
                "attributes": attributes,
                "paraphrases": draw_paraphrases(entry),
            }
        )
    return items


def main() -> None:
    """Write questionnaire.yaml, or print the paraphrases to review."""
    parser = argparse.ArgumentParser(prog="python -m demo_training.questionnaire", description=__doc__)
    parser.add_argument("--review", type=int, metavar="SEED", help="print 15 paraphrases of each statement")
    arguments = parser.parse_args()
    if arguments.review is None:
        text = yaml.safe_dump(build_questionnaire(), sort_keys=False, allow_unicode=True, width=1000)
        QUESTIONNAIRE.write_text(HEADER + text, encoding="utf-8")
        return
    for entry in read_grammar():
        print(f"\n{entry['item']}: {entry['statement']}")
        item = {"item": entry["item"], "paraphrases": draw_paraphrases(entry)}
        print("\n".join(f"  {sentence}" for sentence in _draw_review_sample(item, arguments.review)))


if __name__ == "__main__":
    main()
