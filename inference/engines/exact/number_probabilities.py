"""Compute the exact probability of every whole number of a range, summed over all token paths that spell it.

The probability of a path is the product of its next-token probabilities, times the probability that the next token
does not continue the number. A token continues it if it begins with a digit, or with a point and a digit
(`numbers.does_text_continue_number`); a point alone ends a sentence.

Example: a model with the tokens "0" to "9", "17", "70" and "." answers on the scale 0-99. Two paths spell 70::

    p(70) = p("70") p("." | "70") + p("7") p("0" | "7") p("." | "7", "0")
    p(7)  = p("7") p("." | "7")

"." is the only token that does not continue a number. p("7") is also where a path to 70 begins, so it counts for 7 only
as far as no digit follows. If all 13 tokens are always equally probable, p(70) = p(17) = 1/13² + 1/13³, p(7) = 1/13²
and p(42) = 1/13³.

A wide range has many paths of very low probability, and each costs a pass over the model. Some passes are therefore
left out; what this may change has a bound (`NEGLIGIBLE`, `UNCHECKED`), in every row and at every temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inference.engines.contract import NOT_FINITE, Score
from inference.engines.exact.followed_paths import NEGLIGIBLE
from inference.engines.exact.lattice import Lattice, Places

Logs = NDArray[np.float64]

# Two shares of the probability that a number begins. The paths whose end is not checked may have at most `UNCHECKED` of
# it in all: they count as if no further digit followed. Rounding to float32 changes as much. The paths that others
# continue and that are not followed may have at most `NEGLIGIBLE` of it in all: the longer numbers lose that.
UNCHECKED = 1e-5
# Scores in a block that stays in the cache of a core while it is summed at one temperature after the other.
CPU_BLOCK, ACCELERATOR_BLOCK = 2**16, 2**26


class Branches(Protocol):
    """Next-token scores after many paths at once; every row may choose its own paths."""

    rows: int
    shares_passes: bool
    """Whether one pass computes a path for all rows: then all rows should choose the same paths."""

    def score_next_tokens_after_paths(self, path_places: Places, will_continue: bool) -> Tensor:
        """Compute next-token scores: log-probabilities up to a constant per row and path.

        Parameters
        ----------
        path_places
            [rows, width] places of paths. The path without the last token must have been chosen in an earlier call;
            otherwise the scores mean nothing.
        will_continue
            Whether a later call will choose paths that continue these.

        Returns
        -------
        Float32 [rows, width, vocabulary].
        """


def compute_number_logprobs(
    lattice: Lattice, branches: Branches, temperatures: Sequence[float], paths_per_pass: int
) -> Logs:
    """Compute the log-probability of every number of a range.

    First come the paths that others continue, level by level (`stems`), then all others (`leaves`). After each path the
    model tells how probable it is that a number ends there. The least probable paths are left out. The number that such
    a path spells counts as ended (`UNCHECKED`); a number whose every spelling continues such a path gets probability 0
    (`NEGLIGIBLE`).

    Parameters
    ----------
    lattice
        The token paths that spell the numbers.
    branches
        The model's scores after such paths.
    temperatures
        They divide the logits of every step, over the full vocabulary.
    paths_per_pass
        Paths per row in one forward pass.

    Returns
    -------
    Array [temperatures, rows, numbers], float64.
    """
    shape = (len(temperatures), branches.rows, len(lattice.paths.ids))
    reached, ended = np.full(shape, -np.inf), np.zeros(shape)
    reached[..., 0] = 0
    rows = np.arange(branches.rows)[:, None]
    stems = [(level, NEGLIGIBLE / len(lattice.stems), True) for level in lattice.stems]
    for paths, share, followed in [*stems, (lattice.leaves, UNCHECKED, False)]:
        begun = np.logaddexp.reduce(reached[..., lattice.begins], axis=-1)
        extended = paths[_select_places_of_probable_paths(begun, reached[..., paths], share, branches.shares_passes)]
        for start in range(0, extended.shape[1], paths_per_pass):
            chosen = extended[:, start : start + paths_per_pass]
            scores = branches.score_next_tokens_after_paths(chosen, followed)
            ending, either = _compute_log_sums_of_ending_and_all_weights(scores, lattice.continuing, temperatures)
            ended[:, rows, chosen] = ending - either
            if followed:
                _write_logprobs_of_continued_paths(
                    lattice,
                    reached,
                    chosen,
                    _divide_token_scores_by_temperatures(scores, lattice.steps, temperatures) - either[..., None],
                )
    # In the example of `Lattice`, place 3 is summed for 9, places 2 and 4 for 10, and place 5 for 11.
    total: Logs = np.logaddexp.reduceat((reached + ended)[..., lattice.spelled], lattice.first, axis=-1)
    return total


def build_number_scores_per_row(logprobs: Logs) -> list[list[Score]]:
    """Turn [temperatures, rows, numbers] into scores, per row one for every temperature.

    `answer` is the most probable number.
    """
    probabilities = np.exp(logprobs)
    # Float32 softmax terms may sum to some 1e-8 more than everything.
    masses = np.minimum(probabilities.sum(-1), 1.0)
    best = logprobs.argmax(-1)
    # A row at a time: an element of an array takes ten times as long, and lists of all rows at once would be work for
    # Python's garbage collector.
    return [
        [
            Score(tuple(probability.tolist()), tuple(logprob.tolist()), mass, likeliest)
            if mass == mass
            else Score(error=NOT_FINITE)
            for probability, logprob, mass, likeliest in zip(
                probabilities[:, row], logprobs[:, row], masses[:, row].tolist(), best[:, row].tolist(), strict=True
            )
        ]
        for row in range(logprobs.shape[1])
    ]


def _select_places_of_probable_paths(
    begun_logprobs: Logs, reached_logprobs: Logs, negligible_share: float, same_for_all_rows: bool
) -> Places:
    """Select the most probable paths of every row, best first: [rows, width] indices into the last axis of
    `reached_logprobs`.

    In every row and at every temperature the paths left out have, in all, at most `negligible_share` of
    `begun_logprobs`, the probability that a number begins. Every row gets as many paths as the row that needs most;
    with `same_for_all_rows` all get the same ones.

    Examples
    --------
    Three paths have the probabilities 0.01, 0.9 and 0.05. Leaving out the first costs 0.01, which is less than 2 %; so
    places 1 and 2 remain:

    >>> _select_places_of_probable_paths(np.zeros((1, 1)), np.log([[[0.01, 0.9, 0.05]]]), 0.02, False).tolist()
    [[1, 2]]
    """
    highest = np.maximum(np.maximum(reached_logprobs.max(-1), begun_logprobs), np.finfo(float).min)[..., None]
    weights = np.exp(reached_logprobs - highest)
    likeliest = weights.max(axis=(0, 1) if same_for_all_rows else 0)
    order = np.broadcast_to(np.argsort(-likeliest, axis=-1, kind="stable"), reached_logprobs.shape[1:])
    # Each path's share together with that of all less probable ones; in the example 0.96, 0.06 and 0.01.
    cumulated = np.take_along_axis(weights, order[None], -1)[..., ::-1].cumsum(-1)[..., ::-1]
    needed = (cumulated > negligible_share * np.exp(begun_logprobs[..., None] - highest)).any(axis=(0, 1))
    return order[:, : needed.sum()]


def _write_logprobs_of_continued_paths(
    lattice: Lattice, reached_logprobs: Logs, path_places: Places, step_logprobs: Logs
) -> None:
    """Write into `reached_logprobs` the log-probabilities of the paths that continue those in `path_places` [rows,
    width].

    `step_logprobs` [temperatures, rows, width, lattice.steps] holds, after every chosen path, the log-probabilities of
    the tokens that lead from one path to the next. In the example of `Lattice`, `path_places` [[1]] is the path "1";
    its continuations "1"+"0" and "1"+"1" have the places 4 and 5, and get `step_logprobs` of the tokens 0 and 1 added
    to what place 1 was reached with.
    """
    rows = np.arange(len(path_places))[:, None]
    at = np.full((len(path_places), len(lattice.paths.ids)), -1)
    at[rows, path_places] = np.arange(path_places.shape[1])
    following = np.flatnonzero(np.isin(lattice.paths.parents, path_places))
    parents = lattice.paths.parents[following]
    columns = np.searchsorted(lattice.steps, lattice.paths.tokens[following])
    continued = reached_logprobs[..., parents] + step_logprobs[:, rows, at[:, parents], columns]
    reached_logprobs[..., following] = np.where(at[:, parents] >= 0, continued, reached_logprobs[..., following])


def _compute_log_sums_of_ending_and_all_weights(
    scores: Tensor, continuing_tokens: Sequence[int], temperatures: Sequence[float]
) -> tuple[Logs, Logs]:
    """Sum the weights of the tokens that end a number, and of all tokens: logarithms [temperatures, rows, width] each.

    The former are summed by themselves: 1 minus the rest would be nothing but rounding where the rest is nearly 1.
    """
    tokens = torch.tensor(continuing_tokens, device=scores.device)
    going_on = _compute_log_sum_of_weights_not_excluded(scores.index_select(-1, tokens), temperatures, tokens[:0])
    ending = _compute_log_sum_of_weights_not_excluded(scores, temperatures, tokens)
    return ending, np.logaddexp(going_on, ending)


def _compute_log_sum_of_weights_not_excluded(
    scores: Tensor, temperatures: Sequence[float], excluded_tokens: Tensor
) -> Logs:
    """Sum exp(score / temperature) over the vocabulary without `excluded_tokens`: logarithms [temperatures, ...]."""
    flat = scores.flatten(0, -2)
    sums = flat.new_empty(len(temperatures), len(flat))
    size = max(1, (CPU_BLOCK if flat.device.type == "cpu" else ACCELERATOR_BLOCK) // flat.shape[-1])
    for start in range(0, len(flat), size):
        block = flat[start : start + size].index_fill(-1, excluded_tokens, -torch.inf)
        highest = block.amax(-1, keepdim=True).clamp_(min=torch.finfo(block.dtype).min)
        block -= highest
        for place, temperature in enumerate(temperatures):
            weights = torch.exp(block) if temperature == 1 else (block / temperature).exp_()
            sums[place, start : start + size] = weights.sum(-1).log_() + highest[:, 0] / temperature
    return sums.unflatten(-1, scores.shape[:-1]).cpu().double().numpy()


def _divide_token_scores_by_temperatures(scores: Tensor, tokens: Places, temperatures: Sequence[float]) -> Logs:
    """Divide the scores of some tokens by the temperatures: [temperatures, rows, width, tokens]."""
    # Off the device first: not every accelerator has float64.
    selected = scores.index_select(-1, torch.tensor(tokens, device=scores.device)).cpu().double().numpy()
    divided: Logs = selected / np.asarray(temperatures)[:, None, None, None]
    return divided
