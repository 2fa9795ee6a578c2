"""Make the tables of the page on wording: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.pages.wording import printed
from analysis.pages.wording.cells import UNIT, Cells, cells, prepare, validity
from analysis.pages.wording.measures import Target, differences, intervals
from analysis.reporting.printed import OURS
from analysis.reporting.thresholds import silent
from analysis.runs.agreement import CONVENTIONS
from analysis.runs.folder import ORIGINAL
from analysis.statistics import interval
from analysis.statistics.multiplicity import holm_within
from analysis.statistics.resampling import DRAWS

if TYPE_CHECKING:
    from analysis.runs import Runs
    from analysis.statistics.interval import Interval

ALL = "all"  # of languages, tasks or patterns: the mean over them
# Undefined for the original question, which is not compared with itself.
COMPARED = ("consistency", "diff_yes", "excess_yes", "accuracy_original", "diff_acc", "overall")
DIFFERENT = ("valid", "consistency", "yes", "diff_yes", "excess_yes", "accuracy", "diff_acc", "overall")


def consistency(runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compute the measures of Takayama et al., section 3.2, of every model on every kind of wording.

    Parameters
    ----------
    runs
        From `analysis.runs.open`; studies of other protocols are left aside.
    invalid
        A pair with an invalid answer is "dropped", or counts as "inconsistent", wrong and not "Yes".
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    DataFrame
        One row per study, model, language, task, condition and pattern, the original question first. `n` counts the
        pairs behind the measures (for "original", its answers), `valid` is the share of valid answers to this pattern;
        `accuracy` is after, `accuracy_original` before rewording, on the same pairs. NaN where undefined: no valid
        pair, no gold label.
    """
    found = cells(runs, invalid)
    frame = _measured(found, [(i,) for i in range(len(found.units))], resamples, seed)
    frame = pd.concat([found.units[UNIT], frame], axis=1)
    frame["n"] = found.sums["pairs"].sum(axis=0).astype(int)
    return _blank_original(frame)


def conventions(runs: Runs) -> pd.DataFrame:
    """Compare both ways to treat invalid answers, where a pair has one: dropped, or counted; with the bounds.

    Returns
    -------
    DataFrame
        The columns of `UNIT`; n: pairs; n_pairs: of these, with two valid answers; valid: share of the responses to the
        pattern that are a valid answer, both under "inconsistent"; X_dropped, X_inconsistent: the measure under both
        conventions; consistency_most: if every pair with an invalid answer were consistent (if none were, it is
        consistency_inconsistent); yes_most: if every invalid answer to the pattern were "Yes" (if none were, it is
        yes_inconsistent). What people read in the invalid answers, Consistency and the share of "Yes" of all pairs lie
        between these.
    """
    found = {name: consistency(runs, invalid=name, resamples=0) for name in CONVENTIONS}
    counted = found["inconsistent"]
    frame = counted[[*UNIT, "n", "valid"]].copy()
    frame["n_pairs"] = cells(runs, "inconsistent").sums["read"].sum(axis=0).astype(int)
    for name in ("consistency", "yes", "diff_yes", "accuracy", "overall"):
        for convention, table in found.items():
            frame[f"{name}_{convention}"] = table[name]
    frame["consistency_most"] = counted["consistency"] + 1 - frame["n_pairs"] / frame["n"]
    frame["yes_most"] = counted["yes"] + 1 - frame["valid"]
    return frame[frame["n_pairs"] < frame["n"]].reset_index(drop=True)


def overall(runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Average over the patterns and tasks of one language, for every model and condition (Takayama et al., Figure 3).

    The paper does not say how its Overall is averaged. Here Overall is the harmonic mean within each task and pattern,
    and what is shown is the plain mean of these: every pattern weighs the same within a task, every task the same
    within a language, however many items it has. A mean over fewer cells would not compare, so it is undefined where a
    cell is (`n_undefined` counts them). `yes` and `accuracy_original` are means over the same pairs.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `consistency`.

    Returns
    -------
    DataFrame
        model, language, condition, n_tasks, n_patterns, n_undefined, n_items, and the measures with intervals.
    """
    found = cells(runs, invalid)
    groups = _grouped(found, ["model", "language", "condition"], _manipulated(found))
    groups = groups.drop(columns="n_models")
    return pd.concat([groups, _measured(found, groups.pop("target"), resamples, seed)], axis=1)


def groups(runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Average over the base models and over the instruction-tuned ones (Takayama et al., Tables 1 and 3).

    Rows of `source` "these runs" are ours, by stage, condition, language, task and pattern; where there are several
    languages or tasks, rows "all" hold their mean, as Table 3 does. The printed rows follow, for comparison: other
    models and other items. A model whose stage run.json does not say is in no group. A model without one valid answer
    (`n_undefined` counts such cells) is in the mean of `valid` and in no other.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `consistency`.

    Returns
    -------
    DataFrame
        stage, condition, language, task, pattern, n_models, n_undefined, n_items, the measures with intervals, source.
    """
    found = cells(runs, invalid)
    staged = found.units["stage"].notna().to_numpy()
    keys = ["stage", "condition", "language", "task", "pattern"]
    single = _grouped(found, keys, staged)
    several = len(single[["language", "task"]].drop_duplicates()) > 1
    whole = _grouped(found, ["stage", "condition", "pattern"], staged).assign(language=ALL, task=ALL)
    frame = pd.concat([single, whole] if several else [single], ignore_index=True)
    measured = _measured(found, frame["target"], resamples, seed)
    answered = _answered(found)
    some = [tuple(unit for unit in target if answered[unit]) or target for target in frame["target"]]
    changed = [place for place, target in enumerate(frame.pop("target")) if target != some[place]]
    again = _measured(found, [some[place] for place in changed], resamples, seed).set_axis(changed)
    columns = [name for name in again if name not in ("n_items", "valid", "valid_lower", "valid_upper")]
    measured.loc[changed, columns] = again[columns]
    frame = _blank_original(pd.concat([frame, measured], axis=1))
    ours = frame.drop(columns=["n_tasks", "n_patterns"]).assign(source=OURS)
    return pd.concat([ours, printed.groups()], ignore_index=True)


def patterns(runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Average by kind of wording in one language, over all conditions and tasks, and the models that answer there.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `consistency`.

    Returns
    -------
    DataFrame
        language, pattern, n_models, n_tasks, n_undefined (cells left out: no valid pair, or less than half of the
        model's answers valid), n_items, and the measures with intervals.
    """
    found = cells(runs, invalid)
    frame = _grouped(found, ["language", "pattern"], _manipulated(found) & _answering(found))
    whole = _grouped(found, ["language", "pattern"], _manipulated(found))
    asked = whole.set_index(["language", "pattern"])["target"].map(len)
    asked = asked.reindex(pd.MultiIndex.from_frame(frame[["language", "pattern"]]))
    frame["n_undefined"] = asked.to_numpy(int) - frame["target"].map(len).to_numpy(int)
    frame = frame.drop(columns="n_patterns")
    return pd.concat([frame, _measured(found, frame.pop("target"), resamples, seed)], axis=1)


def turned(runs: Runs) -> pd.DataFrame:
    """Find for every model the pair of wordings between which it contradicts itself most: an example to read.

    Of the pairs with two valid answers that are not consistent, the one with the largest shift of p(Yes); where there
    are no probabilities, the first.
    """
    prepare(runs)
    return runs.sql(
        f"""
        SELECT p.study, p.model, p.condition, p.item, p.pattern, so.text AS text_original,
               CASE WHEN o.yes THEN 'Yes' ELSE 'No' END AS answer_original, o.p_yes AS p_original,
               sp.text AS text_reworded, CASE WHEN p.yes THEN 'Yes' ELSE 'No' END AS answer_reworded, p.p_yes
        FROM wording_answers AS p
        JOIN (SELECT * FROM wording_answers WHERE pattern = '{ORIGINAL}') AS o USING (study, model, condition, item)
        JOIN stimuli AS sp ON sp.study = p.study AND sp.item = p.item AND sp.variant = p.variant
        JOIN stimuli AS so ON so.study = p.study AND so.item = p.item AND so.variant = o.variant
        JOIN units AS u ON u.study = p.study AND u.model = p.model AND u.condition = p.condition
        WHERE p.meant <> o.meant
        QUALIFY row_number() OVER (PARTITION BY p.model ORDER BY
            abs(p.p_yes - CASE WHEN p.inverted THEN 1 - o.p_yes ELSE o.p_yes END) DESC NULLS LAST,
            u.position, p.place) = 1
        ORDER BY u.position"""
    )


def shots(runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure what exemplars change: measures with shots minus those without, on the same items (Table 3, in brackets).

    Conditions are paired where they differ in nothing but their shots. Rows with an empty model are means over the
    models of the stage. A model is left out where less than half of its answers are valid. `p`: by the exact
    sign test where both conditions have one answer to each of the same items, else by the bootstrap
    (`statistics.significance`); `p_holm`: after Holm over all comparisons of the measure in the table.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `consistency`.

    Returns
    -------
    DataFrame
        study, model, stage, language, task, condition, condition_zero, pattern, n_models, measure, difference, lower,
        upper, n_items, no_interval, p, p_least, p_holm.
    """
    found = cells(runs, invalid)
    units = found.units[_answering(found)]
    same = ["study", "language", "task", "model", "pattern", "form", "setting"]
    pairs = units.reset_index().merge(units[units["shots"] == 0].reset_index(), on=same, suffixes=("", "_zero"))
    pairs = pairs[pairs["shots"] > 0]
    alone = pairs.assign(target=[(i,) for i in pairs["index"]], base=[(i,) for i in pairs["index_zero"]], n_models=1)
    keys = ["stage", "study", "language", "task", "condition", "condition_zero", "pattern"]
    together = _together(pairs[pairs["stage"].notna()], keys, {"target": "index", "base": "index_zero"})
    frame = pd.concat([alone, together.assign(model="")], ignore_index=True)
    names = ["study", "model", "stage", "language", "task", "condition", "condition_zero", "pattern", "n_models"]
    return _differences(found, frame, names, resamples, seed)


def stages(runs: Runs, *, invalid: str = "dropped", resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure what tuning changes: instruction-tuned minus base models of a series, same shots and items (Figure 7).

    A series is what run.json says it is; where it has several models of a stage, their mean counts. A model asked in
    several forms stands for its stage in all of them. A model is left out where less than half of its answers are
    valid. p values as in `shots`.

    Parameters
    ----------
    runs, invalid, resamples, seed
        As in `consistency`.

    Returns
    -------
    DataFrame
        series, study, language, task, shots, pattern; the rest as in `shots`.
    """
    found = cells(runs, invalid)
    known = found.units[_answering(found)].reset_index().dropna(subset=["series", "stage"])
    keys = ["series", "study", "language", "task", "shots", "pattern"]
    parts = {stage: _together(known[known["stage"] == stage], keys, {name: "index"})
             for stage, name in (("instruct", "target"), ("base", "base"))}  # fmt: skip
    frame = parts["instruct"].merge(parts["base"], on=keys, suffixes=("", "_base"))
    frame["n_models"] += frame.pop("n_models_base")
    return _differences(found, frame, [*keys, "n_models"], resamples, seed)


def _blank_original(frame: pd.DataFrame) -> pd.DataFrame:
    """Blank the measures that compare the original question with itself."""
    names = [name for name in map(str, frame) if name.removesuffix("_lower").removesuffix("_upper") in COMPARED]
    reworded = frame["pattern"] != ORIGINAL
    blank = {name: frame[name].where(reworded) for name in names}
    # All that may be without an interval is Overall, which is blank in the rows of the original.
    return frame.assign(**blank, no_interval=frame["no_interval"].where(reworded, ""))


def _answered(found: Cells) -> np.ndarray:
    """Tell which units have a pair to measure."""
    return np.asarray(found.sums["pairs"].sum(axis=0) > 0)


def _answering(found: Cells) -> np.ndarray:
    """Tell which units have a pair to measure and a model that answers (`thresholds.silent`)."""
    with np.errstate(invalid="ignore"):
        valid = found.sums["valid"].sum(axis=0) / found.sums["asked"].sum(axis=0)
    return np.asarray(_answered(found) & ~silent(validity(found.units[UNIT].assign(valid=valid))))


def _manipulated(found: Cells) -> np.ndarray:
    return (found.units["pattern"] != ORIGINAL).to_numpy()


def _grouped(found: Cells, keys: list[str], where: np.ndarray) -> pd.DataFrame:
    """Group units by some keys: the keys, target, and how many models, tasks and patterns a target spans."""
    units = found.units[where].reset_index()
    undefined = ~_answered(found)[units["index"]]
    units = units.assign(undefined=undefined, task_of=units["study"] + "\n" + units["language"] + "\n" + units["task"])
    grouped = units.groupby(keys, sort=False, dropna=False)
    named = {"target": ("index", tuple), "n_models": ("model", "nunique"), "n_tasks": ("task_of", "nunique"),
             "n_patterns": ("pattern", "nunique"), "n_undefined": ("undefined", "sum")}  # fmt: skip
    return grouped.agg(**named).reset_index()


def _together(units: pd.DataFrame, keys: list[str], targets: dict[str, str]) -> pd.DataFrame:
    named = {name: (column, tuple) for name, column in targets.items()} | {"n_models": ("model", "nunique")}
    return units.groupby(keys, sort=False).agg(**named).reset_index()


def _measured(found: Cells, targets: Iterable[Target], resamples: int, seed: int) -> pd.DataFrame:
    """Compute the measures with their intervals, one row per target."""
    measured = intervals(found, list(targets), resamples=resamples, seed=seed)
    return pd.DataFrame({"n_items": measured["valid"].n_items, **interval.columns(measured)})


def _differences(found: Cells, pairs: pd.DataFrame, names: Sequence[str], resamples: int, seed: int) -> pd.DataFrame:
    """Make one row per pair of targets and measure; leave out undefined ones."""
    wanted = list(zip(pairs["target"], pairs["base"], strict=True))
    measured = differences(found, wanted, resamples=resamples, seed=seed)
    known = pairs[list(names)].reset_index(drop=True)
    frame = pd.concat([_long(known, name, measured[name]) for name in DIFFERENT], ignore_index=True)
    compared = (frame["pattern"] != ORIGINAL) | ~frame["measure"].isin(COMPARED)
    frame = frame[compared & frame["difference"].notna()].reset_index(drop=True)
    return frame.assign(p_holm=holm_within(frame, ["measure"]))


def _long(known: pd.DataFrame, name: str, found: Interval) -> pd.DataFrame:
    return known.assign(
        measure=name, difference=found.estimate, lower=found.lower, upper=found.upper, n_items=found.n_items,
        no_interval=found.missing, p=found.p, p_least=found.p_least,
    )  # fmt: skip
