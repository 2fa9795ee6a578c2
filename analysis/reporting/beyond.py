"""Say which differences between models are more than what rewording does: a table of tests, and one sentence of it.

The page on reliability shows the table. Every page that compares models about questions in several wordings has the
sentence, made from the same tests of the measure that its study is about: accuracy where right answers are known, else
agreement, or the score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, get_args

import pandas as pd

from analysis.reporting import verdicts
from analysis.reporting.reworded import Study
from analysis.reporting.rewordings import studies
from analysis.reporting.words import count
from analysis.statistics.multiplicity import holm_within
from analysis.statistics.reliability.panel import Anew, panel
from analysis.statistics.reliability.replication import among, equivalence, p_value, same_sign

if TYPE_CHECKING:
    from analysis.runs import Runs

MOST_PAIRS = 2_000  # of a study; of more, each unit is compared with the first


def differences(of: Iterable[Study], margin: float | None = None) -> pd.DataFrame:
    """Test the differences between models that answer, under their first conditions, and between conditions of a model.

    Parameters
    ----------
    of
        Studies, of which every one has its own pairs.
    margin
        A difference within it counts as none, in units of the measure; None leaves out the columns about it.

    Returns
    -------
    The columns of table `beyond_rewording`, a row per study and pair; without a margin, those of differences and tests.
    """
    rows = [row for study in of for row in _differences(study, margin)]
    frame = pd.DataFrame(rows)
    return frame.assign(p_holm=holm_within(frame, ["study", "measure"])) if rows else frame


def sentence(runs: Runs, conditions: Collection[str] = ()) -> str:
    """Say which differences hold, for the measures that the studies are about.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    conditions
        Only of models under these; of all, where none is named.

    Returns
    -------
    As `told`; empty where no two models are compared in several wordings.
    """
    about = [study.under(conditions) if conditions else study for study in studies(runs) if study.headline]
    orders = all(study.orders for study in about)
    return told(differences(study for study in about if not study.single), "orders" if orders else "wordings")


def shares_wordings(runs: Runs) -> bool:
    """Tell whether the items of some study share their wordings: tests over items then hold for these wordings only."""
    return any(study.crossed and not study.single for study in studies(runs) if study.headline)


def told(pairs: pd.DataFrame, wordings: str = "wordings") -> str:
    """Count the differences between models that hold for these wordings, and those that hold for others, too.

    Both by tests after Holm, over all pairs of a study and measure.

    Parameters
    ----------
    pairs
        From `differences`, of one measure per study.
    wordings
        What they are called: orders, where these are the only wordings.

    Returns
    -------
    The sentence; empty where no pair of two models has both p values.

    >>> names = {"study": "s", "measure": "agreement", "b_model": "b", "p_items": 0.01}
    >>> told(pd.DataFrame([{**names, "a_model": "a", "p": 0.2, "p_holm": 0.2}]))
    'Of 1 difference in agreement between models, 1 holds for these wordings, and none for wordings like these.'
    """
    if pairs.empty:
        return ""
    pairs = pairs.assign(these=holm_within(pairs, ["study", "measure"], "p_items"))
    known = pairs[pairs["a_model"] != pairs["b_model"]].dropna(subset=["these", "p_holm"])
    if known.empty:
        return ""
    these, both = verdicts.clear(known["these"]), verdicts.clear(known["these"], known["p_holm"])
    measures = " or ".join(known["measure"].unique())
    if not these.any():
        return f"Of {count(len(known), 'difference')} in {measures} between models, none holds for these {wordings}."
    hold = "holds" if these.sum() == 1 else "hold"
    return (
        f"Of {count(len(known), 'difference')} in {measures} between models, {int(these.sum()):,} {hold} for these "
        f"{wordings}, and {f'{int(both.sum()):,}' if both.any() else 'none'} for {wordings} like these."
    )


def _differences(study: Study, margin: float | None) -> list[dict[str, object]]:
    chosen, anews = study.chosen(), get_args(Anew)
    known = {anew: among(study.values[chosen], study.crossed, anew) if margin else None for anew in anews}
    rows = []
    for a, b in _pairs(study):
        each = panel(study.values[a] - study.values[b], study.crossed, share=False)
        (low, high), (like_low, like_high) = each.interval("items"), each.interval("both")
        row: dict[str, object] = {
            "study": study.name, "measure": study.measure, "headline": study.headline,
            "a_model": study.units[a][0], "a_condition": study.units[a][1],
            "b_model": study.units[b][0], "b_condition": study.units[b][1],
            "n_items": each.n_items, "n_wordings": each.n_wordings, "difference": each.mean,
            "lower": low, "upper": high, "like_lower": like_low, "like_upper": like_high,
            "p_items": p_value(each, "items"), "p": p_value(each, "both"),
        }  # fmt: skip
        if margin:
            models = study.units[a][0] != study.units[b][0]
            row |= {f"same_{anew}": same_sign(each, anew, known[anew] if models else None) for anew in anews}
            row |= {"margin": margin, "p_equivalent": equivalence(each, "both", margin)}
        rows.append(row)
    return rows


def _pairs(study: Study) -> list[tuple[int, int]]:
    """List the pairs of units that are compared, or of too many each unit's first."""
    chosen, places = study.chosen(), range(len(study.units))
    own = [(a, b) for a, b in combinations(places, 2) if study.units[a][0] == study.units[b][0]]
    pairs = sorted({*combinations(chosen, 2), *own})
    if len(pairs) <= MOST_PAIRS:
        return pairs
    first: dict[int, int] = {}
    for a, b in pairs:
        first.setdefault(b, a)
    return sorted((a, b) for b, a in first.items())
