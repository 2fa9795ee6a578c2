"""Compute the exact probability of every option of many prompts, along the paths of tokens that can matter.

Every sequence that spells an option is a path through its tree (`option_tree`), and behind each beginning of a path the
model tells how probable the next tokens are. What goes on behind a beginning adds at most the probability with which
the beginning was reached. The rule, for every prompt and temperature by itself:

- Every option has an upper bound: what was found of it, and all beginnings that lead to it and are not followed yet.
- A beginning is followed where, to any option, it may add more than `NEGLIGIBLE` of that bound, or more than
  `ALL_NEGLIGIBLE` shared equally among the open beginnings of the option.
- If no beginning is left to follow, the others are left out. All together could add at most `ALL_NEGLIGIBLE` to any
  option, and so at most that share to the mass of the row. The shares are relative: a row whose options are very
  improbable is as exact as any other, and so are the logarithm of an option, its share of the mass, and its odds.

Example: "yes" and " yes" are a token each, reached with 1e-3 and 0.6; "YES" begins with the token "Y", reached with
1e-11. What goes on behind "Y" could add 1.7e-11 of 0.601, and is left out. If the only spelling of an option begins
with "Y", it is the whole bound of that option and is followed.

The bounds fall from step to step. So a beginning waits as long as it may turn out not to matter, and a line that
follows none in one step follows none later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.engines.exact.option_tree import Indices, Node, TreeTable

Logs = NDArray[np.float64]

# Shares of an option's probability: of one path that is left out, and of all of them.
NEGLIGIBLE, ALL_NEGLIGIBLE = 1e-9, 1e-8
# Share above which an engine may read at once all that goes on behind a beginning.
LIKELY = 1e-2


class Beginning(NamedTuple):
    """A beginning of answers behind which next-token probabilities are read, in a row and at one of the temperatures.

    `temperature` is a place in the list of temperatures. `is_likely`: to an option it may add more than `LIKELY` of
    what the option may have, so that most of what goes on behind it will matter, too.
    """

    temperature: int
    row: int
    node: Node
    is_likely: bool


class OptionLogprobs(NamedTuple):
    """The options of many lines; a line is a row of the batch at one temperature.

    Attributes
    ----------
    logprobs
        Log-probabilities of all options, those of the first line first; NaN in a line where a log-probability on the
        way is no number.
    first
        [lines]: where those of a line begin.
    left_out
        [lines]: the largest share of an option that the paths left out may have.
    """

    logprobs: Logs
    first: Indices
    left_out: Logs


ReadNext = Callable[[Sequence[Beginning]], Logs]


@dataclass(slots=True)
class _Beginnings:
    """Beginnings of answers: line and number of the node of each, and the log-probability with which it was reached."""

    line: Indices
    node: Indices
    reached: Logs

    def select_beginnings(self, mask: NDArray[np.bool_]) -> _Beginnings:
        """Select some of them."""
        return _Beginnings(self.line[mask], self.node[mask], self.reached[mask])


class FollowedPaths:
    """The options of all lines of a batch while their paths are followed.

    Parameters
    ----------
    tables
        The tree of each row's options; as a rule one object for many rows.
    n_options
        Number of options of each row.
    n_temperatures
        At so many temperatures every row is scored. Line ``t * rows + row`` is a row at temperature t.
    """

    def __init__(self, tables: Sequence[TreeTable], n_options: Sequence[int], n_temperatures: int) -> None:
        self._n_rows = len(tables)
        distinct = list(dict.fromkeys(tables))
        # The nodes of all tables have one numbering, those of the first table first.
        first_node = dict(zip(distinct, np.cumsum([0, *(len(table.nodes) for table in distinct)]).tolist(),
                              strict=False))  # fmt: skip
        self._nodes = [node for table in distinct for node in table.nodes]
        self._owners, self._sizes, self._ends, self._n_served, self._served = (
            np.concatenate([getattr(table, name) for table in distinct])
            for name in ("owners", "sizes", "ends", "n_served", "served")
        )
        self._inner = np.concatenate(
            [np.where(table.inner < 0, -1, table.inner + first_node[table]) for table in distinct]
        )
        self._first_child = np.cumsum(self._sizes) - self._sizes
        self._first_served = np.cumsum(self._n_served) - self._n_served
        self._roots = np.tile([first_node[table] for table in tables], n_temperatures).astype(np.intp)
        # The log-probabilities of all options of all lines are one array; those of a line begin at its place here.
        sizes = np.tile(n_options, n_temperatures)
        self._first_option = np.cumsum(sizes) - sizes
        self._total = np.full(sizes.sum(), -math.inf)
        self._broken = np.zeros(len(sizes), dtype=bool)
        self._open = _Beginnings(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))

    def compute_option_logprobs(self, first_logprobs: Logs, read_next: ReadNext) -> OptionLogprobs:
        """Follow the paths of all lines that can matter.

        Parameters
        ----------
        first_logprobs
            Log-probabilities of the first tokens of the options, those of the first line first.
        read_next
            Reads the log-probabilities of the tokens that go on behind beginnings, those of the first beginning first.
            The parents of a beginning have been read before.

        Returns
        -------
        The options of every line.
        """
        lines = np.arange(len(self._roots))
        self._add_ended_options_and_queue_beginnings(
            _Beginnings(lines, self._roots, np.zeros(len(lines))), first_logprobs
        )
        while len(self._open.line):
            is_followed, is_likely = self._compute_needed_and_likely_masks()
            if not is_followed.any():
                break
            followed = self._open.select_beginnings(is_followed)
            self._open = self._open.select_beginnings(~is_followed)
            beginnings = [
                Beginning(line // self._n_rows, line % self._n_rows, self._nodes[node], likely)
                for line, node, likely in zip(
                    followed.line.tolist(), followed.node.tolist(), is_likely[is_followed].tolist(), strict=True
                )
            ]
            self._add_ended_options_and_queue_beginnings(followed, read_next(beginnings))
        sizes = np.diff(self._first_option, append=len(self._total))
        self._total[np.repeat(self._broken, sizes)] = math.nan
        return OptionLogprobs(self._total, self._first_option, self._compute_left_out_share_per_line())

    def _add_ended_options_and_queue_beginnings(self, followed: _Beginnings, logprobs: Logs) -> None:
        """Add to the options what ends at some nodes or right behind them, and open the beginnings behind them.

        Example: two followed nodes have 2 children and 1. `logprobs` holds the three children, `owner` is [0, 0, 1].
        """
        sizes = self._sizes[followed.node]
        owner, child = _expand_ranges_into_owners_and_indices(self._first_child[followed.node], sizes)
        line, reached = followed.line[owner], followed.reached[owner] + logprobs
        self._broken[line[np.isnan(logprobs)]] = True
        ending = self._owners[followed.node] >= 0
        if ending.any():
            # The probability that the answer does not go on behind the node.
            goes_on = np.bincount(owner, np.exp(logprobs), len(sizes))[ending]
            with np.errstate(divide="ignore"):
                stays = np.log1p(-np.minimum(goes_on, 1.0))
            self._add_probabilities_to_options(followed.line[ending], self._owners[followed.node[ending]],
                                 followed.reached[ending] + stays)  # fmt: skip
        is_inner = self._inner[child] >= 0
        is_end = self._ends[child] >= 0
        self._add_probabilities_to_options(line[is_end], self._ends[child[is_end]], reached[is_end])
        opened = _Beginnings(line, self._inner[child], reached).select_beginnings(is_inner & (reached > -math.inf))
        self._open = _Beginnings(
            np.concatenate([self._open.line, opened.line]),
            np.concatenate([self._open.node, opened.node]),
            np.concatenate([self._open.reached, opened.reached]),
        )
        self._open = self._open.select_beginnings(~self._broken[self._open.line])

    def _add_probabilities_to_options(self, lines: Indices, options: Indices, logprobs: Logs) -> None:
        """Add probabilities to options of lines."""
        with np.errstate(invalid="ignore"):  # NaN of a line that is broken
            np.logaddexp.at(self._total, self._first_option[lines] + options, logprobs)

    def _compute_needed_and_likely_masks(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which open beginnings must be followed, by the rule above, and which are likely to matter."""
        beginning, place, waiting = self._map_open_beginnings_to_options_with_sums()
        bound = np.logaddexp(self._total, waiting)
        # One more than are open, because the shares are of a bound that holds what is left out, too.
        n_open = np.bincount(place, minlength=len(bound)) + 1
        with np.errstate(divide="ignore"):
            threshold = bound + np.log(np.minimum(NEGLIGIBLE, ALL_NEGLIGIBLE / n_open))
        is_needed, is_likely = np.zeros((2, len(self._open.line)), dtype=bool)
        reached = self._open.reached[beginning]
        is_needed[beginning[reached > threshold[place]]] = True
        is_likely[beginning[reached > bound[place] + math.log(LIKELY)]] = True
        return is_needed, is_likely

    def _compute_left_out_share_per_line(self) -> Logs:
        """Sum what is left out: per line the largest share of an option."""
        shares = np.zeros(len(self._first_option))
        if len(self._open.line):
            beginning, place, waiting = self._map_open_beginnings_to_options_with_sums()
            np.maximum.at(shares, self._open.line[beginning], np.exp(waiting[place] - self._total[place]))
        return shares

    def _map_open_beginnings_to_options_with_sums(self) -> tuple[Indices, Indices, Logs]:
        """Return the places of every pair of an open beginning and an option it leads to; the log sum per option."""
        node = self._open.node
        beginning, served = _expand_ranges_into_owners_and_indices(self._first_served[node], self._n_served[node])
        place = self._first_option[self._open.line[beginning]] + self._served[served]
        reached = self._open.reached[beginning]
        highest = np.full(len(self._total), -math.inf)
        np.maximum.at(highest, place, reached)
        sums = np.bincount(place, np.exp(reached - highest[place]), len(highest))
        with np.errstate(divide="ignore"):
            return beginning, place, highest + np.log(sums)


def _expand_ranges_into_owners_and_indices(starts: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """Write ranges out one after the other: the number of the range, and the place.

    Examples
    --------
    >>> [numbers.tolist() for numbers in _expand_ranges_into_owners_and_indices(np.array([4, 0]), np.array([2, 1]))]
    [[0, 0, 1], [4, 5, 0]]
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return owner, np.arange(len(owner)) - before[owner] + starts[owner]
