"""Engine `classifier`: read class probabilities of two sentences from an encoder that was tuned to classify them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from ground.errors import InputError
from inference.engines.contract import NOT_FINITE, Explanation, Score
from inference.engines.exact.answer_words import Answers
from inference.engines.local.engine import NonWritingEngine, pad_rows_right_and_count_lengths
from inference.engines.rows import Row
from inference.stimuli.templates.prompt_forms import PAIR

if TYPE_CHECKING:
    from inference.engines.loading import Checkpoint
    from inference.stimuli.templates.prompts import Prompt

TUNING = "waver_tuning"
"""Field of config.json: what `waver tune` records of a checkpoint. `results/schema.json` says what is in it."""
RECORDED = {"name": str, "set": str, "base": str, "files": list, "seed": int, "rate": float, "epochs": int}


@dataclass(slots=True)
class PairRow(Row):
    """Two sentences as token ids, and for every token which sentence it is of; None where the model does not ask."""

    segments: list[int] | None = None


class ClassifierEngine(NonWritingEngine):
    """An engine that reads the probability of every class of a pair of sentences; an option is the class of its name.

    A class that is no option keeps its probability, which the mass of the options then lacks.
    """

    does, reads = "classifies", "pair"

    def __init__(self, checkpoint: Checkpoint, batch_size: int | None = None) -> None:
        super().__init__(checkpoint, batch_size)
        self.classes = _read_class_names(self.name, self.model.config)
        self._owners: dict[Answers, list[int]] = {}
        self.info |= {"classes": list(self.classes), **_read_tuning_fields_from_config(self.name, self.model.config)}

    def set_class_names(self, names: Sequence[str]) -> None:
        """Say what the classes mean, where the configuration only numbers them.

        Raises
        ------
        InputError
            There are more or fewer classes, or the configuration names them otherwise.
        """
        if len(names) != len(self.classes):
            raise InputError(
                f"model {self.name}: it has {len(self.classes)} classes ({', '.join(self.classes)}), not {len(names)}; "
                "name each of them, in this order"
            )
        folded_names = [name.casefold() for name in names]
        folded_classes = [name.casefold() for name in self.classes]
        if set(folded_classes) & set(folded_names) and folded_classes != folded_names:
            raise InputError(
                f"model {self.name}: its config.json calls its classes {', '.join(self.classes)}, in this order; these "
                "are other names for them"
            )
        self.classes = tuple(names)
        self.info |= {"classes": list(names), "named_classes": list(names)}

    def choose_prompt_form(self, requested: str) -> str:
        """Return "pair", the only form of a classifier, whatever form other models are asked in."""
        return PAIR

    def render(self, prompt: Prompt, effort: str | None = None) -> str:
        """Write both sentences, each on its line.

        Parameters
        ----------
        prompt
            A prompt of the form pair.
        effort
            Without effect: a classifier does not think.

        Returns
        -------
        The text.

        Raises
        ------
        InputError
            The prompt is not a pair.
        """
        return "\n".join(_extract_sentence_pair(prompt))

    def explain_and_score_prompt(self, prompt: Prompt, effort: str | None = None) -> Explanation:
        """Show how one pair is tokenised and classified, and which class counts as which option.

        Parameters
        ----------
        prompt, effort
            As in `contract.Engine`.

        Returns
        -------
        Explanation
        """
        (row,) = self._get_or_tokenize_rows([prompt])
        counted = tuple(((self.classes[place], ()),) for place in self._find_class_of_each_option(row.answers))
        return Explanation(row.text, len(row.ids), counted, (), self.score([prompt])[0][0])

    def _tokenize_prompts_to_rows(self, prompts: Sequence[Prompt], effort: str | None) -> list[Row]:
        """Tokenise pairs of sentences, with the segments where the model asks for them."""
        if not prompts:
            return []
        first, second = zip(*map(_extract_sentence_pair, prompts), strict=True)
        coded = encode_pairs(self.tokenizer, first, second)
        segments = coded.get("token_type_ids") or [None] * len(prompts)
        return [
            PairRow(self.render(prompt), ids, prompt.answers, segments=pair_segments)
            for prompt, ids, pair_segments in zip(prompts, coded["input_ids"], segments, strict=True)
        ]

    def _score_rows(self, rows: Sequence[Row], temperatures: Sequence[float]) -> list[list[Score]]:
        """Score pairs on their classes: per row a score for every temperature."""
        ids, lengths = pad_rows_right_and_count_lengths([row.ids for row in rows], self.model.device, self._pad)
        is_token = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        inputs = {"input_ids": ids, "attention_mask": is_token.long()}
        segments = [row.segments for row in rows if isinstance(row, PairRow) and row.segments is not None]
        if segments:
            inputs["token_type_ids"] = pad_rows_right_and_count_lengths(segments, self.model.device, 0)[0]
        logits = self.model(**inputs).logits.double()
        scores = [(logits / temperature).log_softmax(-1).tolist() for temperature in temperatures]
        return [
            [
                _build_score_from_class_log_probabilities(logprobs[place], self._find_class_of_each_option(row.answers))
                for logprobs in scores
            ]
            for place, row in enumerate(rows)
        ]

    def _find_class_of_each_option(self, answers: Answers) -> list[int]:
        """Find the class of every option, by the words that count as it."""
        if answers not in self._owners:
            self._owners[answers] = [self._require_class_named_by_words(words) for words in answers]
        return self._owners[answers]

    def _require_class_named_by_words(self, words: Sequence[str]) -> int:
        """Find the one class whose name is among the words of an option."""
        folded_words = {word.casefold() for word in words}
        places = [place for place, name in enumerate(self.classes) if name.casefold() in folded_words]
        if len(places) != 1:
            raise InputError(
                f"model {self.name}: {len(places) or 'none'} of its classes ({', '.join(self.classes)}) means "
                f"'{words[0]}'; name the classes in config.json, id2label, or give their names as answers (--prompt)"
            )
        return places[0]


def encode_pairs(tokenizer: Any, first: Sequence[str], second: Sequence[str], max_tokens: int | None = None) -> Any:
    """Tokenise pairs of sentences as the model reads them.

    Parameters
    ----------
    tokenizer
        Tokenizer of transformers.
    first, second
        The sentences of each pair.
    max_tokens
        Tokens to which a pair is cut, the longer sentence first; None: nothing is cut.

    Returns
    -------
    Mapping: `input_ids`, and where the model asks for them `token_type_ids`; a list per pair.
    """
    cut = {"truncation": False} if max_tokens is None else {"truncation": "longest_first", "max_length": max_tokens}
    return tokenizer(list(first), list(second), padding=False, return_attention_mask=False, verbose=False, **cut)


def _extract_sentence_pair(prompt: Prompt) -> tuple[str, str]:
    """Return the two sentences of a prompt; refuse one of another form."""
    if prompt.messages is None or len(prompt.messages) != 2:
        raise InputError("a classifier reads two sentences: give it prompts of the form pair")
    first, second = (message["content"] for message in prompt.messages)
    return first, second


def _build_score_from_class_log_probabilities(class_logprobs: Sequence[float], option_classes: Sequence[int]) -> Score:
    """Build the score of one row from its class log-probabilities and the class of every option."""
    logprob = torch.tensor([class_logprobs[place] for place in option_classes], dtype=torch.float64)
    mass = float(logprob.exp().sum())
    if mass != mass:  # NaN; min(1.0, NaN) would be 1.0
        return Score(error=NOT_FINITE)
    likeliest = max(range(len(class_logprobs)), key=class_logprobs.__getitem__)
    answer = option_classes.index(likeliest) if likeliest in option_classes else None
    return Score(tuple(logprob.exp().tolist()), tuple(logprob.tolist()), min(1.0, mass), answer)


def _read_class_names(name: str, config: Any) -> tuple[str, ...]:
    """Read the names of the classes from the configuration, in order."""
    names = getattr(config, "id2label", None)
    if not isinstance(names, dict) or sorted(names) != list(range(len(names))):
        raise InputError(f"model {name}: config.json: id2label must name the classes 0, 1, 2 ...")
    return tuple(str(names[place]) for place in range(len(names)))


def _read_tuning_fields_from_config(name: str, config: Any) -> dict[str, Any]:
    """Read what `waver tune` recorded, for run.json; a checkpoint that others tuned has nothing of it."""
    recorded = getattr(config, TUNING, None)
    if recorded is None:
        return {}
    for field, kind in RECORDED.items():
        if not isinstance(recorded, dict) or not isinstance(recorded.get(field), kind):
            raise InputError(f"model {name}: config.json, {TUNING}: {field} is missing or wrong; restore the file")
    return {"stage": "tuned", "tuning": {field: recorded[field] for field in RECORDED}}
