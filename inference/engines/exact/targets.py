"""Score a batch on its options; options are tokenised once per context and shared by all rows with the same ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from inference.engines.contract import NOT_FINITE, Score
from inference.engines.exact.answer_words import Options, TokenIds
from inference.engines.exact.option_tree import Node, build_option_tree, compute_option_logprobs

# Distinct contexts remembered; a template that ends in the item's text has as many contexts as items.
REMEMBERED_CONTEXTS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The options of a prompt as token ids, with their tree; one object for all rows with the same ids."""

    options: Options
    tree: Node
    options_by_first_token: dict[int, tuple[int, ...]]

    @property
    def longest_answer_length(self) -> int:
        """Count the tokens of the longest answer; beyond 1, more than the next token is needed."""
        return 1 + max(len(node.path) for node in self.tree.list_inner_nodes())


@dataclass(slots=True)
class Targets:
    """Targets remembered by context: by what decides how answers are tokenised, which each engine defines.

    Examples
    --------
    Two prompts that end differently are two contexts. Their answers have the same ids here, so they share one target,
    and both rows are scored together:

    >>> options = Options(forms=((), ()), sequences=(((5,),), ((7,),)), dropped=())
    >>> targets = Targets()
    >>> targets.find_or_build_target("Reply:", lambda: options) is targets.find_or_build_target("Answer:",
    ...                                                                                         lambda: options)
    True
    """

    _known: dict[Hashable, Target] = field(default_factory=dict)

    def find_or_build_target(self, context: Hashable, build_options: Callable[[], Options]) -> Target:
        """Return the target of a context; it is made when the context is new.

        Parameters
        ----------
        context
            What decides how the answers are tokenised.
        build_options
            Makes the options of that context.

        Returns
        -------
        The target, the same object for all contexts whose answers have the same ids.
        """
        if context not in self._known:
            options = build_options()
            same = (candidate for candidate in self._known.values() if candidate.options.sequences == options.sequences)
            target = next(same, None) or Target(
                options, build_option_tree(options.sequences), options.options_by_first_token
            )
            if len(self._known) >= REMEMBERED_CONTEXTS:
                self._known.clear()
            self._known[context] = target
        return self._known[context]


class NextTokens(Protocol):
    """What an engine knows about the tokens that follow the rows of a batch."""

    def likeliest(self) -> list[int]:
        """Return the most probable next token of the whole vocabulary, per row."""

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Compute log-probabilities of tokens after some rows and a path of forced tokens, under the full vocabulary.

        Parameters
        ----------
        rows
            Places of rows in the batch.
        path
            The forced tokens; empty: none.
        tokens
            The ids that may follow them.
        temperatures
            They divide the logits.

        Returns
        -------
        Tensor [temperatures x rows, tokens]: all rows at the first temperature, then all rows at the second, ...
        """


@dataclass(frozen=True, slots=True)
class WholeVocabulary:
    """Next tokens of an engine that computes whole distributions.

    Parameters
    ----------
    next_token
        Makes the log-softmax [rows, vocabulary] after every row and a path of forced tokens.
    """

    next_token: Callable[[TokenIds], Tensor]

    def likeliest(self) -> list[int]:
        """See `NextTokens`."""
        logprobs = self.next_token(())
        # numpy searches a row on a CPU more than ten times as fast.
        tokens: list[int] = (logprobs.numpy() if logprobs.device.type == "cpu" else logprobs).argmax(-1).tolist()
        return tokens

    def logprobs(
        self, rows: Sequence[int], path: TokenIds, tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Compute log-probabilities of tokens after some rows and a path, with one pass for all temperatures.

        Parameters
        ----------
        rows, path, tokens, temperatures
            As in `NextTokens.logprobs`.

        Returns
        -------
        Tensor [temperatures x rows, tokens].
        """
        result = self.next_token(path)
        result = result if len(rows) == len(result) else result[rows]
        return torch.cat([rescale_to_temperature(result, t)[:, tokens] for t in temperatures])


def rescale_to_temperature(log_softmax: Tensor, temperature: float) -> Tensor:
    """Compute the log-softmax at a temperature from the one at temperature 1.

    Dividing log-probabilities instead of logits gives the same: the two differ by a constant per row.

    Parameters
    ----------
    log_softmax
        Log-probabilities [rows, vocabulary] at temperature 1.
    temperature
        The divisor, above 0.

    Returns
    -------
    Log-probabilities of the same shape.
    """
    return log_softmax if temperature == 1 else (log_softmax / temperature).log_softmax(-1)


def score_batch(
    targets: Sequence[Target], next_tokens: NextTokens, temperatures: Sequence[float] = (1.0,)
) -> list[list[Score]]:
    """Score every row of a batch on its own target, at every temperature.

    Parameters
    ----------
    targets
        Target of each row; as a rule one object for all of them.
    next_tokens
        The tokens that follow the rows.
    temperatures
        They divide the logits of every step.

    Returns
    -------
    Per row a list with one score per temperature.

    Examples
    --------
    Option 0 is token 0 and option 1 is token 1. In the second row token 2 is the most probable one; it begins no
    option, so there is no answer:

    >>> options = Options(forms=((), ()), sequences=(((0,),), ((1,),)), dropped=())
    >>> target = Target(options, build_option_tree(options.sequences), options.options_by_first_token)
    >>> probabilities = torch.tensor([[0.75, 0.25, 0.0], [0.125, 0.25, 0.625]])
    >>> scores = score_batch([target, target], WholeVocabulary(lambda path: probabilities.log()))
    >>> [(round(score.mass, 3), score.answer) for row in scores for score in row]
    [(1.0, 0), (0.375, None)]
    """
    likeliest = next_tokens.likeliest()
    scores: dict[int, list[Score]] = {}
    for target in dict.fromkeys(targets):
        members = [index for index, other in enumerate(targets) if other is target]
        logprobs = compute_option_logprobs(
            target.tree,
            len(target.options.sequences),
            lambda path, tokens, rows=members: next_tokens.logprobs(rows, path, tokens, temperatures),  # type: ignore[misc]
        )
        owners = [target.options_by_first_token.get(likeliest[index], ()) for index in members]
        flat = _build_scores(logprobs, owners * len(temperatures))
        # `flat` holds all members at the first temperature, then all at the second, ... Rows 0 and 2 at two
        # temperatures stand there as 0, 2, 0, 2: every second score from place 0 on belongs to row 0.
        scores.update({index: flat[place :: len(members)] for place, index in enumerate(members)})
    return [scores[index] for index in range(len(targets))]


def _build_scores(logprobs: Tensor, top_token_options: Sequence[tuple[int, ...]]) -> list[Score]:
    """Make scores of log-probabilities [rows, options]; `top_token_options` are the options that a row's top token may
    begin."""
    probabilities = logprobs.exp()
    # Float32 softmax terms may sum to some 1e-8 more than everything.
    mass = probabilities.sum(-1).clamp(max=1.0)
    return [
        Score(tuple(probability), tuple(logprob), whole, max(owner, key=logprob.__getitem__, default=None))
        if whole == whole  # not NaN
        else Score(error=NOT_FINITE)
        for probability, logprob, whole, owner in zip(
            probabilities.tolist(), logprobs.tolist(), mass.tolist(), top_token_options, strict=True
        )
    ]
