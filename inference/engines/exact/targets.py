"""Score a batch on its options; options are tokenised once per context and shared by all rows with the same ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from inference.engines.contract import NOT_FINITE, Score
from inference.engines.exact.answer_words import Options, TokenIds
from inference.engines.exact.followed_paths import Beginning, FollowedPaths, Logs, OptionLogprobs
from inference.engines.exact.option_tree import Node, TreeTable, build_option_tree

# Distinct contexts remembered; a template that ends in the item's text has as many contexts as items.
REMEMBERED_CONTEXTS = 1024


@dataclass(frozen=True, eq=False)
class Target:
    """The options of a prompt as token ids, with their tree; one object for all rows with the same ids."""

    options: Options
    tree: Node
    options_by_first_token: dict[int, tuple[int, ...]]

    @cached_property
    def tree_as_arrays(self) -> TreeTable:
        """The tree in arrays."""
        return TreeTable(self.tree)

    @property
    def longest_answer_length(self) -> int:
        """Count the tokens of the longest answer; beyond 1, more than the next token is needed."""
        return 1 + max(len(node.path) for node in self.tree_as_arrays.nodes)


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

    def find_most_probable_first_token_per_row(self) -> list[int]:
        """Return the most probable next token of the whole vocabulary, per row."""

    def compute_first_token_logprobs(
        self, rows: Sequence[int], tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Compute log-probabilities of tokens right after some rows, under the full vocabulary.

        Parameters
        ----------
        rows
            Places of rows in the batch.
        tokens
            Ids of tokens.
        temperatures
            They divide the logits.

        Returns
        -------
        Tensor [temperatures x rows, tokens]: all rows at the first temperature, then all rows at the second, ...
        """

    def compute_continuation_logprobs(self, beginnings: Sequence[Beginning], temperatures: Sequence[float]) -> Logs:
        """Compute log-probabilities of the tokens that go on behind beginnings of answers, under the full vocabulary.

        Parameters
        ----------
        beginnings
            The one without the last token was asked for in an earlier call, or is empty.
        temperatures
            All those of the batch.

        Returns
        -------
        Array [children of all nodes], those of the first beginning first.
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

    def find_most_probable_first_token_per_row(self) -> list[int]:
        """See `NextTokens`."""
        logprobs = self.next_token(())
        # numpy searches a row on a CPU more than ten times as fast.
        tokens: list[int] = (logprobs.numpy() if logprobs.device.type == "cpu" else logprobs).argmax(-1).tolist()
        return tokens

    def compute_first_token_logprobs(
        self, rows: Sequence[int], tokens: Sequence[int], temperatures: Sequence[float]
    ) -> Tensor:
        """Compute log-probabilities of tokens right after some rows.

        Parameters
        ----------
        rows, tokens, temperatures
            As in `NextTokens.compute_first_token_logprobs`.

        Returns
        -------
        Tensor [temperatures x rows, tokens].
        """
        result = self.next_token(())
        result = result if len(rows) == len(result) else result[rows]
        return torch.cat([rescale_to_temperature(result, t)[:, tokens] for t in temperatures])

    def compute_continuation_logprobs(self, beginnings: Sequence[Beginning], temperatures: Sequence[float]) -> Logs:
        """Compute log-probabilities behind beginnings of answers, with a pass over all rows for each path.

        Parameters
        ----------
        beginnings, temperatures
            As in `NextTokens.compute_continuation_logprobs`.

        Returns
        -------
        Array [children of all nodes].
        """
        log_softmax = {path: self.next_token(path) for path in dict.fromkeys(node.path for _, _, node, _ in beginnings)}
        return np.concatenate([
            rescale_to_temperature(log_softmax[node.path][row], temperatures[place])[list(node.children)].double().cpu()
            for place, row, node, _ in beginnings
        ])  # fmt: skip


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
    likeliest = next_tokens.find_most_probable_first_token_per_row()
    owners = [target.options_by_first_token.get(token, ()) for target, token in zip(targets, likeliest, strict=True)]
    scores = _build_score_of_each_line(
        _compute_option_logprobs(targets, next_tokens, temperatures), owners * len(temperatures)
    )
    # `scores` holds all rows at the first temperature, then all at the second, ... Of 3 rows at two temperatures,
    # every third score from place 0 on belongs to row 0.
    return [scores[row :: len(targets)] for row in range(len(targets))]


def _compute_option_logprobs(
    targets: Sequence[Target], next_tokens: NextTokens, temperatures: Sequence[float]
) -> OptionLogprobs:
    """Compute the log-probabilities of the options of all rows at the first temperature, then at the second, ..."""
    logprobs_by_line: dict[int, Logs] = {}
    members_by_target: dict[Target, list[int]] = {}
    for row, target in enumerate(targets):
        members_by_target.setdefault(target, []).append(row)
    for target, members in members_by_target.items():
        # Off the device first: not every accelerator has float64.
        first = (
            next_tokens.compute_first_token_logprobs(members, list(target.tree.children), temperatures)
            .cpu()
            .double()
            .numpy()
        )
        lines = (place * len(targets) + row for place in range(len(temperatures)) for row in members)
        logprobs_by_line.update(zip(lines, first, strict=True))
    following = FollowedPaths([target.tree_as_arrays for target in targets],
                              [len(target.options.sequences) for target in targets], len(temperatures))  # fmt: skip
    return following.compute_option_logprobs(
        np.concatenate([logprobs_by_line[line] for line in range(len(logprobs_by_line))]),
        lambda beginnings: next_tokens.compute_continuation_logprobs(beginnings, temperatures),
    )


def _build_score_of_each_line(computed: OptionLogprobs, top_token_options: Sequence[tuple[int, ...]]) -> list[Score]:
    """Make scores of the log-probabilities of lines; the top token of each may begin `top_token_options`."""
    every = np.exp(computed.logprobs)
    # Float32 softmax terms may sum to some 1e-8 more than everything.
    masses = np.minimum(np.add.reduceat(every, computed.first), 1.0).tolist()
    probabilities, logprobs, first = every.tolist(), computed.logprobs.tolist(), computed.first.tolist()
    scores = []
    for start, end, mass, left_out, owner in zip(
        first, [*first[1:], len(logprobs)], masses, computed.left_out.tolist(), top_token_options, strict=True
    ):
        if mass != mass:  # NaN
            scores.append(Score(error=NOT_FINITE))
            continue
        line = tuple(logprobs[start:end])
        answer = max(owner, key=line.__getitem__, default=None)
        scores.append(Score(tuple(probabilities[start:end]), line, mass, answer, left_out=left_out))
    return scores
