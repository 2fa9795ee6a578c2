"""Correlate consistency with size, accuracy and external benchmarks: runs in, tidy frame out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.pages.benchmarks.leaderboards import Scores, load
from analysis.pages.benchmarks.model_names import match, read_aliases
from analysis.pages.wording.cells import PATTERNS, validity
from analysis.pages.wording.tables import ALL, consistency, overall
from analysis.reporting.thresholds import silent
from analysis.runs.folder import ORIGINAL
from analysis.statistics import correlation
from analysis.statistics.multiplicity import holm_within

if TYPE_CHECKING:
    from analysis.runs import Runs

SIZE, ACCURACY = "parameters", "accuracy"
KEY = ["study", "language", "task", "condition"]
GIVEN_SIZE = " given size"


def measured(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
    """Collect the values that are correlated, one row per model, measure and pattern.

    Measures: accuracy (original questions), consistency and Overall per pattern, and Overall over patterns and tasks
    (task "all"; see `overall` of the page on wording).

    Returns
    -------
    DataFrame
        model, study, language, task, condition, measure, pattern, value, parameters (NaN where run.json has none),
        silent: whether the model does not answer there (`thresholds.silent`), so that its value is not correlated.
    """
    table = consistency(runs, invalid=invalid, resamples=0)
    table = table.assign(silent=silent(validity(table)))
    original = table[table["pattern"] == ORIGINAL]
    reworded = table[table["pattern"] != ORIGINAL]
    parts = [original.assign(measure=ACCURACY, value=original["accuracy"])]
    parts += [reworded.assign(measure=name, value=reworded[name]) for name in ("consistency", "overall")]
    whole = overall(runs, invalid=invalid, resamples=0)
    whole = whole.assign(silent=silent(whole["valid"]))
    parts.append(whole.assign(measure="overall", value=whole["overall"], study=ALL, task=ALL, pattern=ALL))
    frame = pd.concat(parts, ignore_index=True)
    sizes = {name: fields.get("parameters") for name, fields in runs.info["models"].items()}
    frame["parameters"] = pd.to_numeric(frame["model"].map(sizes), errors="coerce").astype(float)
    return frame[["model", *KEY, "measure", "pattern", "value", "parameters", "silent"]]


def benchmarks(runs: Runs, *, scores: str = "", aliases: str = "", invalid: str = "dropped") -> pd.DataFrame:
    """Correlate every measure with every external benchmark, with size and with accuracy (Figures 4, 5 and 8, Table 2).

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    scores, aliases
        Files as in `leaderboards.load` and `model_names.read_aliases`; without scores only size and accuracy are
        compared.
    invalid
        As in `consistency` of the page on wording.

    Returns
    -------
    DataFrame
        One row per study, language, task, condition, measure, pattern, benchmark and method. Methods: pearson,
        spearman, and both "given size" (partial). Size is log10(parameters) for Pearson. `p_holm` goes over all
        tests of the same method in the table. No coefficient from fewer than 4 models; `caution` says so, and marks
        those from fewer than 10.
    """
    rows = []
    for key, part in measured(runs, invalid=invalid).groupby(KEY, sort=False):
        wide, labels = _wide(part)
        others = _comparable(wide, scores, aliases)
        for name, (measure, pattern) in labels.items():
            for benchmark in others:
                # Accuracy is a part of Overall: that they go together is arithmetic.
                if benchmark != name and (measure, benchmark) != ("overall", ACCURACY):
                    about = dict(zip(KEY, key, strict=True), measure=measure, pattern=pattern, benchmark=benchmark)
                    rows += _coefficients(wide[name], others[benchmark], wide[SIZE], about)
    table = pd.DataFrame(rows)
    return table.assign(p_holm=holm_within(table, ["method"]))


def benchmark_matrix(runs: Runs, *, scores: str = "", aliases: str = "", invalid: str = "dropped") -> pd.DataFrame:
    """Correlate all pairs of benchmarks, accuracy, Consistency by pattern (Figure 8), and size where it is known.

    Returns
    -------
    DataFrame
        study, language, task, condition, and the columns of `correlation.matrix`; both methods.
    """
    parts = []
    for key, part in measured(runs, invalid=invalid).groupby(KEY, sort=False):
        if part["task"].iloc[0] == ALL:
            continue
        wide, labels = _wide(part)
        others = _comparable(wide, scores, aliases)
        ours = {label: wide[label] for label, (measure, _) in labels.items() if measure == "consistency"}
        external = [name for name in others if name not in (SIZE, ACCURACY)]
        frame = pd.DataFrame({name: others[name] for name in (*external, SIZE, ACCURACY)} | ours)
        parts.append(correlation.matrix(frame).assign(**dict(zip(KEY, key, strict=True))))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def score_matrix(runs: Runs, *, scores: str = "") -> pd.DataFrame:
    """Correlate the benchmarks of the file over all models in it, whether or not they were asked here."""
    frame = load(scores).frame if scores else pd.DataFrame()
    return correlation.matrix(frame)


def benchmark_names(runs: Runs, *, scores: str = "", aliases: str = "") -> pd.DataFrame:
    """List which model of the runs is which model of the scores, and what is unmatched on both sides."""
    given = read_aliases(aliases) if aliases else {}
    names = list(load(scores).frame.index) if scores else []
    return match(_models(runs), names, given)


def measures_by_model(runs: Runs, *, scores: str = "", aliases: str = "", invalid: str = "dropped") -> pd.DataFrame:
    """Return the values that are correlated, one row per model, measure and pattern; see `measured`."""
    return measured(runs, invalid=invalid)


def _models(runs: Runs) -> list[str]:
    asked = runs.execute("SELECT model FROM units GROUP BY model ORDER BY min(position)").fetchall()
    return [row[0] for row in asked]


def label(measure: str, pattern: str) -> str:
    """Join a measure and its pattern to one name."""
    return measure if pattern in (ORIGINAL, ALL) else f"{measure} ({pattern.replace('_', ' ')})"


def _wide(part: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, tuple[str, str]]]:
    """Make one row per model, its measures and its size (log10) as columns; return with it what each column is."""
    order = {name: place for place, name in enumerate((ORIGINAL, *PATTERNS, ALL))}
    pairs = part[["measure", "pattern"]].drop_duplicates()
    pairs = pairs.sort_values(
        ["measure", "pattern"], key=lambda s: s.map(order).fillna(-1) if s.name == "pattern" else s
    )
    labels = {label(*pair): pair for pair in pairs.itertuples(index=False, name=None)}
    part = part.assign(value=part["value"].mask(part["silent"].astype(bool)))
    named = part.assign(column=[label(*pair) for pair in zip(part["measure"], part["pattern"], strict=True)])
    wide = named.pivot(index="model", columns="column", values="value")[list(labels)]
    return wide.assign(**{SIZE: np.log10(part.groupby("model")["parameters"].first())}), labels


def _comparable(wide: pd.DataFrame, scores: str, aliases: str) -> dict[str, pd.Series]:
    """Return what the measures are compared with, by model: the benchmarks, size, accuracy."""
    others: dict[str, pd.Series] = {}
    if scores:
        external = _matched(load(scores), list(wide.index), read_aliases(aliases) if aliases else {})
        wide[SIZE] = wide[SIZE].fillna(np.log10(external.pop(SIZE)))
        others = {f"{name}": external[name] for name in external}
    others[SIZE] = wide[SIZE]
    if ACCURACY in wide:
        others[ACCURACY] = wide[ACCURACY]
    return others


def _matched(scores: Scores, models: list[str], aliases: dict[str, str]) -> pd.DataFrame:
    """Return the scores of the matched models under the runs' names for them; NaN for the others."""
    by_name = scores.by_name()
    found = match(models, by_name.index, {model: alias for model, alias in aliases.items() if model in models})
    found = found[found["side"] == "runs"]
    return by_name.reindex(found["matched"].where(found["matched"] != "", None)).set_axis(found["model"])


def _coefficients(
    ours: pd.Series, theirs: pd.Series, size: pd.Series, about: dict[str, str]
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for method in correlation.METHODS:
        plain = correlation.row(correlation.coefficient(ours, theirs, method=method))
        rows.append({**about, "method": method, "interval": correlation.INTERVAL, **plain})
        if about["benchmark"] != SIZE:
            partial = correlation.row(correlation.coefficient(ours, theirs, method=method, given=size))
            rows.append({**about, "method": method + GIVEN_SIZE, "interval": correlation.INTERVAL, **partial})
    return rows
