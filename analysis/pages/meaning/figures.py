"""Pick the frames that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.measures.meaning import read_meaning_checks_of_studies
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels
from analysis.statistics.resampling import Array
from ground.meaning.separation import compute_roc

MODELS = 12  # of which a figure has room for three marks each
PANELS = 6  # models with curves of their own
MEASURES = {"flip": "share of changed answers", "sd": "SD over wordings", "range_k": "range over wordings"}
DECOYS = {
    kind: f"decoys: {kind.replace('_', ' ')}" for kind in ("negated", "antonym", "other_item", "exchanged", "shuffled")
}
WORDINGS, NOT_READ = "wordings", "not read"
READ_SAME, DIVIDED, READ_ANOTHER = "people: the same", "people: divided", "people: another"
OF_CHECK = ("check", "used", "auc", "passed_share", "decoy_share", "n_passed", "n_decoys", "passed_by")
QUANTILES = {"low": 0.05, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "high": 0.95}


def build_meaning_flips_by_model_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield, for every study, a row per model, condition and kind of share: all, same and corrected."""
    flips, corrected = frames["meaning_flips"], frames["meaning_corrected"]
    if flips.empty:
        return
    shares = flips[["study", "model", "condition", "wordings", "n_items", "flip", "flip_lower", "flip_upper"]]
    if len(corrected):
        corrected_rows = corrected.dropna(subset=["corrected"])
        columns = {"corrected": "flip", "lower": "flip_lower", "upper": "flip_upper"}
        shares = pd.concat([shares, corrected_rows.rename(columns=columns)[["study", "model", "condition", "n_items",
                            *columns.values()]].assign(wordings="corrected")], ignore_index=True)  # fmt: skip
    shares = shares.dropna(subset=["flip"])
    for _, part in shares.groupby("study", sort=False):
        yield (_order_and_limit_models(part, part[part["wordings"] == "all"], "flip", MODELS),)


def _order_and_limit_models(part: pd.DataFrame, ranked: pd.DataFrame, column: str, most: int) -> pd.DataFrame:
    """Label the rows, order them by a column of some of them, and keep the first and last models of too many."""
    rows = part.assign(label=labels.build_row_labels(part))
    order = rows.loc[ranked.sort_values(column, ascending=False, kind="stable").index, "label"].drop_duplicates()
    chosen = labels.keep_ends_of_long_sequence(list(order), most)
    rows = rows[rows["label"].isin(chosen)].assign(total=len(order))
    return rows.assign(row=rows["label"].map(chosen.index)).sort_values("row", kind="stable", ignore_index=True)


def build_meaning_curves_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield, for every study and measure, the rows of table `meaning_thresholds` with the measure as `value`."""
    table, checks = frames["meaning_thresholds"], frames["meaning_checks"]
    if table.empty:
        return
    used = checks[checks["best"].astype(bool)][["study", "threshold"]].rename(columns={"threshold": "at"})
    for _, part in table.merge(used, on="study", how="left").groupby("study", sort=False):
        part = part.assign(ranked=part["flip"])  # models keep their places in all pictures
        for measure, name in MEASURES.items():
            columns = {measure: "value", f"{measure}_lower": "value_lower", f"{measure}_upper": "value_upper"}
            rows = part.rename(columns=columns).dropna(subset=["value"]).assign(measure=name)
            if rows["threshold"].nunique() > 1:
                yield (_order_and_limit_models(rows, rows, "ranked", PANELS),)


def build_meaning_roc_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield, for every study, the ROC curve of every check: shares of decoys and of wordings that pass a threshold."""
    for study in read_meaning_checks_of_studies(frames.runs):
        curves = []
        for quality in study.qualities:
            if np.isnan(quality.auc):
                continue
            _, passed, decoys = compute_roc(
                _drop_missing_scores(study.scores[quality.check][study.is_passed]),
                _drop_missing_scores(study.decoy_scores[quality.check]),
            )
            rows = pd.DataFrame({"study": study.study, "decoys": decoys, "passed": passed})
            curves.append(rows.assign(**{name: getattr(quality, name) for name in OF_CHECK}))
        if curves:
            yield (pd.concat(curves, ignore_index=True),)


def build_meaning_scores_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield, for every study, quantiles of every check's scores: of wordings by what people said, of decoys by kind."""
    for study in read_meaning_checks_of_studies(frames.runs):
        yes, no = study.count_votes()
        read = np.select([yes > no, yes < no, yes > 0], [READ_SAME, READ_ANOTHER, DIVIDED], NOT_READ)
        groups = {
            name: read == name for name in (READ_SAME, NOT_READ, DIVIDED, READ_ANOTHER)
        } if study.votes else {WORDINGS: np.ones(len(read), bool)}  # fmt: skip
        kinds = {name: (study.decoys["decoy"] == kind).to_numpy() for kind, name in DECOYS.items()}
        rows = [
            {"study": study.study, "check": quality.check, "auc": quality.auc, "threshold": quality.threshold,
             "group": group, "is_same": group in (WORDINGS, READ_SAME, NOT_READ),
             **_build_quantile_columns_of_scores(values)}
            for quality in study.qualities
            for scores, members in ((study.scores, groups), (study.decoy_scores, kinds))
            for group, is_member in members.items()
            if len(values := _drop_missing_scores(scores.get(quality.check, np.full(len(is_member),
            np.nan))[is_member]))
        ]  # fmt: skip
        if rows:
            frame = pd.DataFrame(rows)
            group_names = [name for name in (*groups, *kinds) if name in set(frame["group"])]
            yield (frame.assign(row=frame["group"].map(group_names.index)),)


def _drop_missing_scores(scores: Array) -> Array:
    """Leave out missing scores."""
    return scores[~np.isnan(scores)]


def _build_quantile_columns_of_scores(values: Array) -> dict[str, float]:
    """Return the number and the quantiles of some scores."""
    return {"n": len(values)} | dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values())), strict=True))
