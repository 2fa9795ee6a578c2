"""The measures of one unit, and their means over several, as statistics to resample."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from analysis.pages.wording.cells import SUMS, Cells
from analysis.statistics.resampling import Array, Columns, Interval, bootstrap, paired, ratio

Target: TypeAlias = tuple[int, ...]  # units whose measures are averaged; as a rule one
MEASURES = ("valid", "consistency", "yes", "diff_yes", "excess_yes", "accuracy_original", "accuracy", "diff_acc",
            "overall")  # fmt: skip


def measures(columns: Columns, counts: Array) -> dict[str, Array]:
    """The measures of Takayama et al., section 3.2, with the valid-answer rate of section 5.4.

    `diff_yes` compares the shares of "Yes" as said, for the antonyms, too, as the paper's equation has it: a perfectly
    consistent model that says "Yes" to 30 % of the questions has +0.40 there. `excess_yes`, ours, compares with what
    consistent answers would have been: 0 for that model, and the same as `diff_yes` for all other patterns.
    """
    share = partial(ratio, counts)
    pairs, gold = columns["pairs"], columns["gold"]
    consistency, yes = share(columns["consistent"], pairs), share(columns["yes"], pairs)
    before, after = share(columns["right_original"], gold), share(columns["right"], gold)
    return {
        "valid": share(columns["valid"], columns["asked"]),
        "consistency": consistency,
        "yes": yes,
        "diff_yes": yes - share(columns["yes_original"], pairs),
        "excess_yes": yes - share(columns["yes_expected"], pairs),
        "accuracy_original": before,
        "accuracy": after,
        "diff_acc": after - before,
        "overall": harmonic(before, after, consistency),
    }


def harmonic(*parts: Array) -> Array:
    """Harmonic mean; 0 where a part is 0 (its limit), NaN where one is undefined."""
    stacked = np.stack(parts)
    with np.errstate(divide="ignore"):
        return len(parts) / (1 / stacked).sum(axis=0)


def intervals(cells: Cells, targets: Sequence[Target], *, resamples: int, seed: int) -> dict[str, Interval]:
    """Every measure of every target with its 95 % interval, items resampled.

    Parameters
    ----------
    cells
        From `answers.cells`.
    targets
        Units by their row in `cells.units`. The measure of a target is the plain mean of its units' measures, undefined
        where one of them is. Units that share items are resampled together.
    resamples, seed
        Of the bootstrap.
    """
    return _by_size(cells, targets, [(i,) for i in range(len(targets))], resamples, seed)


def differences(
    cells: Cells, pairs: Sequence[tuple[Target, Target]], *, resamples: int, seed: int
) -> dict[str, Interval]:
    """Every measure of a target minus that of another on the items that both were asked, with paired intervals."""
    targets = [target for pair in pairs for target in pair]
    return _by_size(cells, targets, [(2 * i, 2 * i + 1) for i in range(len(pairs))], resamples, seed)


def _by_size(
    cells: Cells, targets: Sequence[Target], asked: Sequence[tuple[int, ...]], resamples: int, seed: int
) -> dict[str, Interval]:
    """Targets are padded to a common number of units by repeating theirs, which changes no mean of whole repetitions.

    Those of different length are therefore taken apart by the least common multiple of their lengths.
    """
    empty = np.full(len(asked), np.nan)
    found = {name: Interval(empty.copy(), empty.copy(), empty.copy(), np.zeros(len(asked), np.int64))
             for name in MEASURES}  # fmt: skip
    sizes = [int(np.lcm.reduce([len(targets[i]) for i in entry])) for entry in asked]
    for size in sorted(set(sizes)):
        chosen = [place for place, own in enumerate(sizes) if own == size]
        used = [targets[i] * (size // len(targets[i])) for place in chosen for i in asked[place]]
        columns, statistic = _stacked(cells, used, size), partial(_mean, size=size)
        if len(asked[0]) == 1:
            part = bootstrap(columns, statistic, draws=resamples, seed=seed)
        else:
            pairs = [(2 * i, 2 * i + 1) for i in range(len(chosen))]
            part = paired(columns, statistic, pairs, draws=resamples, seed=seed)
        for name in MEASURES:
            for field in ("estimate", "lower", "upper", "n_items"):
                getattr(found[name], field)[chosen] = getattr(part[name], field)
    return found


def _stacked(cells: Cells, targets: Sequence[Target], size: int) -> dict[str, Array]:
    """Columns "<sum>:<k>" (items, targets): the sum of each target's k-th unit; NaN where none of its units was asked.

    A unit's own sums are 0 for items of other units.
    """
    index = np.array(targets, int).reshape(len(targets), size)
    asked = cells.has[:, index].any(axis=2)
    return {
        f"{name}:{k}": np.where(asked, cells.sums[name][:, index[:, k]], np.nan) for k in range(size) for name in SUMS
    }


def _mean(columns: Columns, counts: Array, size: int) -> dict[str, Array]:
    parts = [measures({name: columns[f"{name}:{k}"] for name in SUMS}, counts) for k in range(size)]
    return {name: np.mean([part[name] for part in parts], axis=0) for name in MEASURES}
