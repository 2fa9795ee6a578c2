"""Read the answers of protocol `scale` as distributions over ordered options: arrays (units, items, wordings, ranks).

An answer's p_k is the probability of option k divided by the mass of all options, or its share of the samples; of an
answer without either, 1 for the option that was named. Its score is s = (sum of k p_k - 1) / (K - 1), from 0, the
lowest option, to 1, the highest, before items are reversed; without the middle option, K counts the options that are
left.

Wordings are, as of protocol `agreement`, those beside the original; where some item of the study has no others, all
are, of every item.

A setting is what conditions have in common that differ in nothing but how the options are shown (labels, order, middle)
and which persona a model has: `plain` of `plain/numbers-up` and `plain/words-down`, `plain/personas` of those with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.ratings_rows import (
    read_rating_answers_of_study,
    read_scale_key_and_options_of_items,
    tabulate_models_and_conditions_of_ratings,
)
from analysis.measures.reworded.numbering import read_stimuli_with_item_and_wording_numbers
from analysis.measures.reworded.study import average_answers_into_array
from analysis.measures.thresholds import is_validity_below_half
from analysis.runs import Runs
from analysis.statistics.ordered import compute_mean_answer_scores, compute_score_variances_of_sampled_answers
from analysis.statistics.resampling import Array

PROTOCOL = "scale"


@dataclass(frozen=True, slots=True)
class Ratings:
    """Hold the answers of one study of protocol `scale`.

    Attributes
    ----------
    name
        Name of the study.
    crossed
        Whether all items share the wordings.
    wordings
        Names of the wordings where items share them; else empty.
    items
        A row per item: item, text, scale (None: of no scale), key (1 or -1), options (list of labels).
    units
        A row per model and condition: model, condition, setting, presentation (the condition without its persona);
        labels, option_order, without_middle (bool), persona, each None where the condition has none; validity: mean
        mass, or share of valid answers; validity_at_most: its upper bound, NaN where it is exact.
    shares
        p_k: (units, items, wordings, ranks), NaN where there is no answer, 0 for ranks that an answer has not.
    n_options
        K of an item under a condition: (units, items).
    scores
        s before reversing: (units, items, wordings).
    samples, spread, counting
        Laid out as `scores`, as in `measures.reworded.Study`; None where nothing was sampled.
    variants
        item, variant, item_code, wording_code: which wording is in which place.
    validities
        Laid out as `scores`: mass, or share of valid answers; NaN where nothing was asked, and of a unit of which only
        bounds are known.
    """

    name: str
    crossed: bool
    wordings: list[str]
    items: pd.DataFrame
    units: pd.DataFrame
    shares: Array
    n_options: npt.NDArray[np.int64]
    variants: pd.DataFrame
    validities: Array
    samples: Array | None = None
    spread: Array | None = None
    counting: Array | None = None
    scores: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", compute_mean_answer_scores(self.shares, self.n_options[:, :, None]))

    @property
    def item_keying_signs(self) -> npt.NDArray[np.int64]:
        """Return the key of every item, 1 or -1."""
        return self.items["key"].to_numpy(np.int64)

    @property
    def keyed_scores(self) -> Array:
        """Return s after reversing: 1 - s for items whose key is -1."""
        return reverse_scores(self.scores, self.item_keying_signs[:, None])

    @property
    def scales(self) -> list[str]:
        """Return the names of the scales, in the order of their items."""
        return list(self.items["scale"].dropna().unique())

    def mark_scale_items(self, scale: str) -> npt.NDArray[np.bool_]:
        """Tell which items belong to a scale."""
        return (self.items["scale"] == scale).to_numpy(bool)

    def list_unit_places_by_model_and_setting(self) -> list[tuple[tuple[str, str], npt.NDArray[np.intp]]]:
        """List model and setting, and the places of its units, in the order of run.json."""
        return group_units_by_columns(self.units, ["model", "setting"])

    @property
    def mostly_invalid_unit_mask(self) -> npt.NDArray[np.bool_]:
        """Tell of every unit whether it is not judged."""
        return is_validity_below_half(self.units["validity"]).to_numpy(bool)

    def average_validity_over_units(self, places: npt.NDArray[np.intp]) -> float:
        """Return the mean validity of those of some units that have an answer; NaN where none has."""
        return float(self.units["validity"].iloc[places].astype(float).mean())

    def average_validity_upper_bound_over_units(self, places: npt.NDArray[np.intp]) -> float:
        """Return the upper bound of the mean validity of some units; NaN where the mean is exact."""
        units = self.units.iloc[places]
        upper = units["validity_at_most"].astype(float)
        return float(upper.fillna(units["validity"]).mean()) if upper.notna().any() else np.nan


def group_units_by_columns(
    units: pd.DataFrame, columns: Sequence[str]
) -> list[tuple[tuple[Any, ...], npt.NDArray[np.intp]]]:
    """List the different values of some columns of units, and the places of the units that have them."""
    keys = list(units[list(columns)].itertuples(index=False, name=None))
    places: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return [(key, np.array(group)) for key, group in places.items()]


def reverse_scores(scores: Array, keys: npt.NDArray[np.int64]) -> Array:
    """Return 1 - s where the key is -1, else s; `keys` has a shape that goes with that of the scores."""
    return np.where(keys < 0, 1 - scores, scores)


def average_known_over_first_axis(values: Array) -> Array:
    """Average over the first axis what is there; NaN where nothing is."""
    is_known = ~np.isnan(values)
    n = is_known.sum(axis=0)
    return np.asarray(np.where(is_known, values, 0.0).sum(axis=0) / np.where(n > 0, n, np.nan))


def read_ratings(runs: Runs) -> list[Ratings]:
    """Read every study of protocol `scale`, once per `Runs`.

    Returns
    -------
    list of Ratings
        In the order of run.json; without studies that hold no answer.

    Raises
    ------
    InputError
        For a key that is neither 1 nor -1, or wordings of an item that differ in scale, key or options.
    """
    return runs.compute_once("ratings", lambda: list(_read_rating_studies(runs)))


def read_ratings_with_originals(runs: Runs) -> list[Ratings]:
    """Read every study as `read_ratings`, but with all wordings of every item: its original, too."""
    return runs.compute_once("ratings with originals", lambda: list(_read_rating_studies(runs, with_originals=True)))


def _read_rating_studies(runs: Runs, *, with_originals: bool = False) -> Iterator[Ratings]:
    """Yield every study."""
    for name, fields in runs.info["studies"].items():
        if fields["protocol"] != PROTOCOL:
            continue
        items = read_scale_key_and_options_of_items(runs, name)
        units = tabulate_models_and_conditions_of_ratings(runs, name)
        keeps_originals = with_originals or (items["n_others"] == 0).any()
        codes = read_stimuli_with_item_and_wording_numbers(runs, [name], [] if keeps_originals else [name])
        if len(codes) and len(units):
            in_order = codes.drop_duplicates("item_code").sort_values("item_code")["item"]
            yield _build_ratings_of_study(runs, name, items.set_index("item").loc[in_order].reset_index(), codes, units)


def _build_ratings_of_study(
    runs: Runs, name: str, items: pd.DataFrame, codes: pd.DataFrame, units: pd.DataFrame
) -> Ratings:
    """Lay the answers of a study out as arrays."""
    n_ranks = max(map(len, items["options"]))
    rows = read_rating_answers_of_study(runs, name, codes, n_ranks)
    shape = len(units), len(items), int(codes["wording_code"].max()) + 1
    shares = np.stack([average_answers_into_array(rows, f"p{rank}", shape) for rank in range(1, n_ranks + 1)], axis=-1)
    means = rows.groupby("unit")[["validity", "validity_at_most"]].mean().reindex(range(len(units)))
    is_bounded = means["validity_at_most"] > means["validity"]
    means["validity_at_most"] = means["validity_at_most"].where(is_bounded)
    validities = average_answers_into_array(rows, "validity", shape)
    validities[is_bounded.to_numpy(bool)] = np.nan  # those known exactly are the sure ones: alone they say too much
    n_options = np.broadcast_to(np.array([len(options) for options in items["options"]]), shape[:2])
    is_cut = units["without_middle"].to_numpy(bool)[:, None] & (n_options % 2 == 1)
    n_options = n_options - is_cut
    arrays = {}
    if rows["samples"].notna().any():
        samples = average_answers_into_array(rows, "samples", shape)
        spread = compute_score_variances_of_sampled_answers(shares, n_options[:, :, None], samples)
        if rows["counting"].notna().any():
            arrays["counting"] = average_answers_into_array(rows, "counting", shape)
            of_thoughts = average_answers_into_array(rows, "spread", shape)
            spread = np.where(np.isnan(arrays["counting"]), spread, of_thoughts)
        arrays |= {"samples": samples, "spread": spread}
    crossed = bool(codes["crossed"].iloc[0])
    return Ratings(
        name, crossed, list(codes.sort_values("wording_code")["wording"].unique()) if crossed else [],
        items[["item", "text", "scale", "key", "options"]], units.assign(**means.set_index(units.index)), shares,
        n_options, codes[["item", "variant", "item_code", "wording_code"]],
        validities, **arrays,
    )  # fmt: skip
