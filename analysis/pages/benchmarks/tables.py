"""Correlate consistency with size, accuracy and external benchmarks: runs in, tidy frame out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.errors import InputError
from analysis.pages.benchmarks.leaderboards import Scores, load
from analysis.pages.benchmarks.model_names import match, read_aliases
from analysis.pages.benchmarks.own_form import asked, joined
from analysis.pages.wording.cells import PATTERNS, validity
from analysis.pages.wording.tables import ALL, consistency, overall
from analysis.reporting.thresholds import silent
from analysis.runs.folder import ORIGINAL
from analysis.statistics import correlation
from analysis.statistics.multiplicity import holm_within

if TYPE_CHECKING:
    from analysis.runs import Runs

SIZE, ACCURACY = "parameters", "accuracy"
ROWS = "\0rows"  # no benchmark has this name
KEY = ["study", "language", "task", "condition"]
GIVEN_SIZE = " given size"


def uncorrelated(runs: Runs, given: Mapping[str, Any]) -> str:
    """Say why there is no correlation to show; empty where there may be one.

    Parameters
    ----------
    given
        The parameters of the report: with a file of `scores`, the benchmarks are correlated among themselves.
    """
    if given.get("scores"):
        return ""
    together, least = joined(runs), correlation.LEAST
    found = Counter((study, together.get(condition, condition)) for study, _, condition in asked(runs))
    most = max(found.values(), default=0)
    return "" if most >= least else f"at most {most} of the models were asked in the same way, and it needs {least}"


def measured(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
    """Collect the values that are correlated, one row per model, measure and pattern.

    Measures: accuracy (original questions), consistency and Overall per pattern, and Overall over patterns and tasks
    (task "all"; see `overall` of the page on wording).

    Returns
    -------
    DataFrame
        model, study, language, task, condition (those of `own_form.joined` are one), measure, pattern, value,
        parameters (NaN where run.json has none), silent: whether the model does not answer there
        (`thresholds.silent`), so that its value is not correlated.
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
    frame["condition"] = frame["condition"].replace(joined(runs))
    sizes = {name: fields.get("parameters") for name, fields in runs.info["models"].items()}
    frame["parameters"] = pd.to_numeric(frame["model"].map(sizes), errors="coerce").astype(float)
    return frame[["model", *KEY, "measure", "pattern", "value", "parameters", "silent"]]


def benchmarks(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = "",
    invalid: str = "dropped",
) -> pd.DataFrame:  # fmt: skip
    """Correlate every measure with every external benchmark, with size and with accuracy (Figures 4, 5 and 8, Table 2).

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    scores, score_columns, score_rows, aliases
        As in `leaderboards.load` and `model_names.read_aliases`; without scores only size and accuracy are compared.
    invalid
        As in `consistency` of the page on wording.

    Returns
    -------
    DataFrame
        One row per study, language, task, condition, measure, pattern, benchmark and method. Methods: pearson,
        spearman, and both "given size" (partial). Size is log10(parameters) for Pearson. `p_holm` goes over all
        tests of the same method in the table. No coefficient from fewer than 4 models; `caution` says so, and marks
        those from fewer than 10. rows: rows of the file that the n models have; joined_by: the rule that made one of
        several rows of a model.
    """
    rows, given = [], _given(runs, scores, score_columns, score_rows, aliases)
    for key, part in measured(runs, invalid=invalid).groupby(KEY, sort=False):
        wide, labels = _wide(part)
        others, counts = _comparable(wide, given, aliases)
        for name, (measure, pattern) in labels.items():
            for benchmark in others:
                # Accuracy is a part of Overall: that they go together is arithmetic.
                if benchmark != name and (measure, benchmark) != ("overall", ACCURACY):
                    about = dict(zip(KEY, key, strict=True), measure=measure, pattern=pattern, benchmark=benchmark)
                    found = _coefficients(wide[name], others[benchmark], wide[SIZE], about)
                    used = counts if benchmark not in (SIZE, ACCURACY) else counts * 0
                    known = wide[name].notna() & others[benchmark].notna()
                    rows += [row | {"rows": used[known & _sized(wide, row)].sum()} for row in found]
    table = pd.DataFrame(rows)
    return _ruled(table.assign(p_holm=holm_within(table, ["method"])), given)


def benchmark_matrix(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = "",
    invalid: str = "dropped",
) -> pd.DataFrame:  # fmt: skip
    """Correlate all pairs of benchmarks, accuracy, Consistency by pattern (Figure 8), and size where it is known.

    Returns
    -------
    DataFrame
        study, language, task, condition, the columns of `correlation.matrix`, rows and joined_by; both methods.
    """
    parts, given = [], _given(runs, scores, score_columns, score_rows, aliases)
    for key, part in measured(runs, invalid=invalid).groupby(KEY, sort=False):
        if part["task"].iloc[0] == ALL:
            continue
        wide, labels = _wide(part)
        others, counts = _comparable(wide, given, aliases)
        ours = {label: wide[label] for label, (measure, _) in labels.items() if measure == "consistency"}
        external = [name for name in others if name not in (SIZE, ACCURACY)]
        frame = pd.DataFrame({name: others[name] for name in (*external, SIZE, ACCURACY)} | ours)
        table = _with_rows(correlation.matrix(frame), frame, counts, external)
        parts.append(table.assign(**dict(zip(KEY, key, strict=True))))
    return _ruled(pd.concat(parts, ignore_index=True), given) if parts else pd.DataFrame()


def score_matrix(runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "") -> pd.DataFrame:
    """Correlate the benchmarks of the file over all models in it, whether or not they were asked here.

    Returns
    -------
    DataFrame
        The columns of `correlation.matrix`, rows (of the file, that the n models have) and joined_by; a model is one
        model, however many rows it has.
    """
    given = _given(runs, scores, score_columns, score_rows)
    if given is None:
        return correlation.matrix(pd.DataFrame())
    return _ruled(_with_rows(correlation.matrix(given.frame), given.frame, given.rows, list(given.frame)), given)


def benchmark_names(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = ""
) -> pd.DataFrame:
    """List which model of the runs is which model of the scores, and what is unmatched on both sides."""
    given = _given(runs, scores, score_columns, score_rows, aliases)
    names = list(given.frame.index) if given else []
    return match(_models(runs), names, read_aliases(aliases) if aliases else {}, aliases)


def measures_by_model(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
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


def _given(runs: Runs, scores: str, columns: str, rows: str, aliases: str = "") -> Scores | None:
    """Read the file of scores, once per report; None where none is given."""
    if scores:
        return runs.kept(("scores", scores, columns, rows), lambda: load(scores, columns, rows))
    for name, value in (("score_columns", columns), ("score_rows", rows), ("aliases", aliases)):
        if value:
            raise InputError(f"{name} is given without a file of scores; name it with -p scores=FILE")
    return None


def _comparable(wide: pd.DataFrame, given: Scores | None, aliases: str) -> tuple[dict[str, pd.Series], pd.Series]:
    """Return what the measures are compared with, by model (the benchmarks, size, accuracy), and rows of the file."""
    others: dict[str, pd.Series] = {}
    counts = pd.Series(0, wide.index)
    if given:
        external = _matched(given, list(wide.index), aliases)
        wide[SIZE] = wide[SIZE].fillna(np.log10(external.pop(SIZE)))
        counts = external.pop(ROWS).fillna(0).astype(int)
        others = {f"{name}": external[name] for name in external}
    others[SIZE] = wide[SIZE]
    if ACCURACY in wide:
        others[ACCURACY] = wide[ACCURACY]
    return others, counts


def _matched(scores: Scores, models: list[str], aliases: str) -> pd.DataFrame:
    """Return scores, size and rows of the matched models under the runs' names for them; NaN for the others."""
    known = scores.frame.assign(**{SIZE: scores.parameters, ROWS: scores.rows})
    given = {model: alias for model, alias in (read_aliases(aliases) if aliases else {}).items() if model in models}
    found = match(models, known.index, given, aliases)
    found = found[found["side"] == "runs"]
    return known.reindex(found["matched"].where(found["matched"] != "", None)).set_axis(found["model"])


def _sized(wide: pd.DataFrame, row: dict[str, object]) -> pd.Series:
    """Tell which models a coefficient can use for their size: all, where it is not given size."""
    return wide[SIZE].notna() | (not str(row["method"]).endswith(GIVEN_SIZE))


def _with_rows(table: pd.DataFrame, frame: pd.DataFrame, counts: pd.Series, external: list[str]) -> pd.DataFrame:
    """Add the number of rows of the file that the models of every pair have; 0 for pairs without a benchmark of it."""
    known = frame.notna().astype(int)
    rows = known.T @ known.mul(counts.to_numpy(), axis=0)
    pairs = table[["measure_a", "measure_b"]].itertuples(index=False, name=None)
    used = [int(rows.at[a, b]) if a in external or b in external else 0 for a, b in pairs]
    return table.assign(rows=used)


def _ruled(table: pd.DataFrame, given: Scores | None) -> pd.DataFrame:
    """Add the rule that joined the rows of the file, where there are more of them than models."""
    return table.assign(joined_by=np.where(table["rows"] > table["n"], given.rule if given else "", ""))


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
