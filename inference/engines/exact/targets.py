"""Options that a batch is scored on: resolved once per context, shared by all rows that come to the same ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from inference.engines.contract import Score
from inference.engines.exact.answer_words import Options, TokenIds
from inference.engines.exact.option_tree import Node, build, option_logprobs

# Distinct contexts remembered; a template that ends in the item's text has as many as items.
REMEMBERED_CONTEXTS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Options as token ids, with their tree. One object per distinct set of sequences."""

    options: Options
    tree: Node
    first_tokens: dict[int, tuple[int, ...]]

    @property
    def deep(self) -> bool:
        """Whether some answer needs more than the next token."""
        return any(child.children for child in self.tree.children.values())


@dataclass(slots=True)
class Targets:
    """Targets by context, whatever an engine takes as the context that decides tokenisation."""

    _known: dict[Hashable, Target] = field(default_factory=dict)

    def get(self, context: Hashable, resolve: Callable[[], Options]) -> Target:
        """Target of a context, resolved at its first sight."""
        if context not in self._known:
            options = resolve()
            same = (known for known in self._known.values() if known.options.sequences == options.sequences)
            target = next(same, None) or Target(options, build(options.sequences), options.first_tokens)
            if len(self._known) >= REMEMBERED_CONTEXTS:
                self._known.clear()
            self._known[context] = target
        return self._known[context]


class NextTokens(Protocol):
    """What is known of the tokens that follow the rows of a batch."""

    def likeliest(self) -> list[int]:
        """The most probable next token of the whole vocabulary, per row."""

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Log-probabilities of `tokens` behind some rows and a path of forced tokens, under the full vocabulary.

        Returns
        -------
        Tensor [temperatures x rows, tokens]: the rows once per temperature, one block after the other.
        """


@dataclass(frozen=True, slots=True)
class WholeVocabulary:
    """Next tokens of an engine that computes whole distributions.

    Parameters
    ----------
    next_token
        Log-softmax [rows, vocabulary] behind every row and a path of forced tokens.
    """

    next_token: Callable[[TokenIds], Tensor]

    def likeliest(self) -> list[int]:
        """See `NextTokens`."""
        tokens: list[int] = self.next_token(()).argmax(-1).tolist()
        return tokens

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """See `NextTokens`; one pass over the model serves all temperatures."""
        result = self.next_token(path)
        result = result if len(rows) == len(result) else result[rows]
        return torch.cat([(result if t == 1 else (result / t).log_softmax(-1))[:, tokens] for t in temperatures])


def score_batch(
    targets: Sequence[Target], following: NextTokens, temperatures: Sequence[float] = (1.0,)
) -> list[list[Score]]:
    """Score every row of a batch on its own target, at every temperature: per row a list of scores.

    Parameters
    ----------
    targets
        Target of each row; as a rule one object for all of them.
    following
        The tokens that follow the rows.
    temperatures
        They divide the logits of every step.
    """
    likeliest = following.likeliest()
    scores: dict[int, list[Score]] = {}
    for target in dict.fromkeys(targets):
        members = [index for index, other in enumerate(targets) if other is target]
        logprobs = option_logprobs(
            target.tree,
            len(target.options.sequences),
            lambda path, tokens, rows=members: following.logprobs(rows, path, tokens, temperatures),  # type: ignore[misc]
        )
        owners = [target.first_tokens.get(likeliest[index], ()) for index in members]
        flat = _scores(logprobs, owners * len(temperatures))
        scores.update({index: flat[place :: len(members)] for place, index in enumerate(members)})
    return [scores[index] for index in range(len(targets))]


def _scores(logprobs: Tensor, owners: Sequence[tuple[int, ...]]) -> list[Score]:
    """Scores from log-probabilities [rows, options] and, per row, the options that the likeliest token may begin."""
    probabilities = logprobs.exp()
    # Float32 softmax terms may sum to some 1e-8 more than everything.
    mass = probabilities.sum(-1).clamp(max=1.0)
    return [
        Score(tuple(probability), tuple(logprob), whole, max(owner, key=logprob.__getitem__, default=None))
        for probability, logprob, whole, owner in zip(
            probabilities.tolist(), logprobs.tolist(), mass.tolist(), owners, strict=True
        )
    ]
