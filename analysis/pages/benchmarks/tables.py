"""Correlate the measures of all studies with size, accuracy and external benchmarks: runs in, tidy frame out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.pages.benchmarks import own_form
from analysis.pages.benchmarks.leaderboards import Scores, load
from analysis.pages.benchmarks.measures import collected, named
from analysis.pages.benchmarks.model_names import match, read_aliases
from analysis.reporting.catalogue import list_unanswered_protocols
from analysis.statistics import correlation
from analysis.statistics.multiplicity import holm_within
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.runs import Runs

SIZE, ACCURACY = "parameters", "accuracy"
ROWS = "\0rows"  # no benchmark has this name
OF = ["page", "study", "condition", "measure"]
GIVEN_SIZE = " given size"


@dataclass(frozen=True)
class _Models:
    """Hold what is known of the models beside their measures: benchmarks, size (log10), rows of the file."""

    benchmarks: pd.DataFrame
    size: pd.Series
    rows: pd.Series


def uncorrelated(runs: Runs, given: Mapping[str, Any]) -> str:
    """Say why there is no correlation to show.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    given
        The parameters of the report: with a file of `scores`, the benchmarks are correlated among themselves.

    Returns
    -------
    str
        Empty where there may be a correlation.
    """
    unanswered = list_unanswered_protocols()
    answered = {name for name, about in runs.info["studies"].items() if about["protocol"] not in unanswered}
    if not answered:
        return "accuracies without answers have no measures to correlate"
    if given.get("scores"):
        return ""
    units = own_form.compared(runs).items()
    found = Counter((study, own.condition) for (study, *_), own in units if study in answered)
    most, least = max(found.values(), default=0), correlation.LEAST
    return "" if most >= least else f"at most {most} of the models were asked in the same way, and it needs {least}"


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
        As in the tables that the measures are of.

    Returns
    -------
    DataFrame
        One row per page, study, measure, benchmark and method, the headline measures first. Methods: pearson, spearman,
        and both "given size" (partial). Size is log10(parameters) for Pearson. `p_holm` goes over all tests of the same
        method in the table. No coefficient from fewer than 4 models; `caution` says so, and marks those from fewer than
        10. Measures that fewer than 4 models have are in table `measure_sources` only. rows: rows of the file that the
        n models have; joined_by: the rule that made one of several rows of a model.
    """
    values, given = _correlated(runs, invalid), _given(runs, scores, score_columns, score_rows, aliases)
    models, rows = _known(runs, given, aliases), list[dict[str, object]]()
    for part in _measures(values):
        about = part.iloc[0][[*OF, "headline"]].to_dict()
        ours = _by_model(part, "value", models)
        for benchmark, theirs in _beside(part, models):
            rows += _coefficients(ours, theirs, models, {**about, "benchmark": benchmark})
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    table = table.sort_values("headline", ascending=False, kind="stable", ignore_index=True)
    return _ruled(table.assign(p_holm=holm_within(table, ["method"])), given)


def benchmark_matrix(
    runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "", aliases: str = "",
    invalid: str = "dropped",
) -> pd.DataFrame:  # fmt: skip
    """Correlate all pairs of benchmarks, size and headline measures, of one study or of two (Figure 8).

    A benchmark that fewer than 4 of the models have is left out.

    Parameters
    ----------
    runs, scores, score_columns, score_rows, aliases, invalid
        As in `benchmarks`.

    Returns
    -------
    DataFrame
        The columns of `correlation.matrix`, rows and joined_by; both methods.
    """
    values, given = _correlated(runs, invalid), _given(runs, scores, score_columns, score_rows, aliases)
    models = _known(runs, given, aliases)
    values = values[values["headline"].astype(bool)]
    ours = {
        label: _by_model(part, "value", models)
        for label, part in values.groupby(named(values, set(models.benchmarks)), sort=False)
    }
    if not ours:
        return pd.DataFrame()
    others = {**dict(models.benchmarks.items()), SIZE: models.size}
    frame = pd.DataFrame({
        **{name: known for name, known in others.items() if known.notna().sum() >= correlation.LEAST}, **ours
    })  # fmt: skip
    parts = [
        correlation.matrix(frame.apply(lambda column, method=method: _scaled(column, method)), [method])
        for method in correlation.METHODS
    ]
    return _ruled(_with_rows(pd.concat(parts, ignore_index=True), frame, models.rows, list(models.benchmarks)), given)


def score_matrix(runs: Runs, *, scores: str = "", score_columns: str = "", score_rows: str = "") -> pd.DataFrame:
    """Correlate the benchmarks of the file over all models in it, whether or not they were asked here.

    Parameters
    ----------
    runs, scores, score_columns, score_rows
        As in `benchmarks`; without scores there are no rows.

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
    """List which model of the runs is which model of the scores, and what is unmatched on both sides.

    Parameters
    ----------
    runs, scores, score_columns, score_rows, aliases
        As in `benchmarks`; without scores nothing is matched.

    Returns
    -------
    DataFrame
        The columns of `model_names.match`.
    """
    given = _given(runs, scores, score_columns, score_rows, aliases)
    names = list(given.frame.index) if given else []
    return match(_models(runs), names, read_aliases(aliases) if aliases else {}, aliases)


def measures_by_model(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
    """Return the measures of every model under every condition, those that are correlated and others.

    Parameters
    ----------
    runs, invalid
        As in `benchmarks`.

    Returns
    -------
    DataFrame
        `Collected.values`: one row per model, condition and measure.
    """
    return collected(runs, invalid).values


def measure_sources(runs: Runs, *, invalid: str = "dropped") -> pd.DataFrame:
    """List how the models of every page and study were compared, and which measures were left out.

    Parameters
    ----------
    runs, invalid
        As in `benchmarks`.

    Returns
    -------
    DataFrame
        `Collected.sources`: one row per page and study, or per table that could not be made.
    """
    return collected(runs, invalid).sources


def _models(runs: Runs) -> list[str]:
    asked = runs.execute("SELECT model FROM units GROUP BY model ORDER BY min(position)").fetchall()
    return [row[0] for row in asked]


def _correlated(runs: Runs, invalid: str) -> pd.DataFrame:
    """Return the values that are correlated: of the chosen conditions, of models that answer, and of enough of them."""
    values = collected(runs, invalid).values
    known = values[values["compared"].astype(bool) & values["value"].notna() & ~values["silent"].astype(bool)]
    return known[known.groupby(OF)["model"].transform("nunique") >= correlation.LEAST]


def _measures(values: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for _, part in values.groupby(OF, sort=False):
        yield part


def _by_model(part: pd.DataFrame, column: str, models: _Models) -> pd.Series:
    return part.set_index("model")[column].reindex(models.size.index).astype(float)


def _beside(part: pd.DataFrame, models: _Models) -> Iterator[tuple[str, pd.Series]]:
    """Yield what a measure is correlated with: benchmarks and size where known, and the accuracy on its own items."""
    yield from ((str(name), known) for name, known in models.benchmarks.items() if known.notna().any())
    if models.size.notna().any():
        yield SIZE, models.size
    if part["accuracy"].notna().any():
        yield ACCURACY, _by_model(part, "accuracy", models)


def _scaled(values: pd.Series, method: str) -> pd.Series:
    """Make infinite values (XParaCon without any change) the largest rank, or, for Pearson, no value."""
    infinite = np.isinf(values)
    if not infinite.any():
        return values
    finite = values.mask(infinite)
    return finite if method == "pearson" else finite.rank().mask(infinite, np.sign(values) * (len(values) + 1))


def _given(runs: Runs, scores: str, columns: str, rows: str, aliases: str = "") -> Scores | None:
    """Read the file of scores, once per report; None where none is given."""
    if scores:
        return runs.kept(("scores", scores, columns, rows), lambda: load(scores, columns, rows))
    for name, value in (("score_columns", columns), ("score_rows", rows), ("aliases", aliases)):
        if value:
            raise InputError(f"{name} is given without a file of scores; name it with -p scores=FILE")
    return None


def _known(runs: Runs, given: Scores | None, aliases: str) -> _Models:
    """Return benchmarks, size and rows of the file of all models of the runs."""
    names = _models(runs)
    sizes = {name: runs.info["models"][name].get("parameters") for name in names}
    size = np.log10(pd.to_numeric(pd.Series(sizes, dtype=object), errors="coerce").astype(float))
    if given is None:
        return _Models(pd.DataFrame(index=names), size, pd.Series(0, names))
    external = _matched(given, names, aliases)
    size = size.fillna(np.log10(external.pop(SIZE)))
    counts = external.pop(ROWS).fillna(0).astype(int)
    return _Models(external, size, counts)


def _matched(scores: Scores, models: list[str], aliases: str) -> pd.DataFrame:
    """Return scores, size and rows of the matched models under the runs' names for them; NaN for the others."""
    known = scores.frame.assign(**{SIZE: scores.parameters, ROWS: scores.rows})
    given = {model: alias for model, alias in (read_aliases(aliases) if aliases else {}).items() if model in models}
    found = match(models, known.index, given, aliases)
    found = found[found["side"] == "runs"]
    return known.reindex(found["matched"].where(found["matched"] != "", None)).set_axis(found["model"])


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
    ours: pd.Series, theirs: pd.Series, models: _Models, about: dict[str, Any]
) -> Iterator[dict[str, object]]:
    """Yield the coefficients of a measure and what it is compared with; rows: of the file, that their models have."""
    external = about["benchmark"] in models.benchmarks
    for method in correlation.METHODS:
        one, other = _scaled(ours, method), _scaled(theirs, method)
        known = one.notna() & other.notna()
        kinds = {method: (None, known)}
        if about["benchmark"] != SIZE:
            kinds[method + GIVEN_SIZE] = models.size, known & models.size.notna()
        for name, (given, used) in kinds.items():
            found = correlation.row(correlation.coefficient(one, other, method=method, given=given))
            rows = int(models.rows[used].sum()) if external else 0
            yield {**about, "method": name, "interval": correlation.INTERVAL, **found, "rows": rows}
