"""Correlate features, in the order of a clustering (Haller et al., Appendix I, Figure 6)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.features.frames import read_or_compute_features
from analysis.features.names import FEATURES
from analysis.runs.folder import ORIGINAL

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs


def correlate_pairs_of_features(frame: pd.DataFrame, columns: Sequence[str] = FEATURES) -> pd.DataFrame:
    """Compute Pearson's correlation of every pair of features, over the rows that have both.

    Mean left + right dependents is 1 - roots/words (see `analysis.features.compute_left_right_dependents_and_length`),
    so these two correlate strongly and negatively if texts have one root and similar lengths. That is arithmetic, not a
    finding.

    Parameters
    ----------
    frame
        One row per wording; absent and empty columns are left out.
    columns
        Features to correlate.

    Returns
    -------
    DataFrame
        feature_a, feature_b, r, p (two-sided, t distribution, not corrected), n: every ordered pair and the diagonal,
        so that it pivots to a full matrix. Both features come in the order of the leaves of an average-linkage
        clustering by `1 - |r|`, so that similar features are neighbours. r and p are NaN for a constant feature and for
        fewer than 3 rows.
    """
    import pandas as pd

    present_columns = [name for name in columns if name in frame and frame[name].notna().any()]
    pairs = {
        (a, b): _correlate_pair(frame[a], frame[b])
        for a, b in itertools.combinations_with_replacement(present_columns, 2)
    }
    pairs |= {(b, a): values for (a, b), values in pairs.items()}
    order = _order_by_clusters(present_columns, {pair: r for pair, (r, _, _) in pairs.items()})
    rows = [(a, b, *pairs[a, b]) for a, b in itertools.product(order, order)]
    return pd.DataFrame(rows, columns=["feature_a", "feature_b", "r", "p", "n"])


def correlate_feature_pairs_in_each_study(runs: Runs) -> pd.DataFrame:
    """Correlate the features of each study's paraphrases.

    Returns
    -------
    DataFrame
        study and the columns of `correlate_pairs_of_features`; n counts paraphrases.
    """
    import pandas as pd

    stimuli = read_or_compute_features(runs)
    paraphrases = stimuli[stimuli["pattern"] != ORIGINAL]
    parts = [
        correlate_pairs_of_features(rows).assign(study=study)
        for study, rows in paraphrases.groupby("study", sort=False)
    ]
    names = ["study", "feature_a", "feature_b", "r", "p", "n"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def _correlate_pair(a: pd.Series, b: pd.Series) -> tuple[float, float, int]:
    """Return Pearson's r, its p value and n over rows with both; NaN below 3 rows or for a constant."""
    import numpy as np
    from scipy.stats import pearsonr

    has_both = (a.notna() & b.notna()).to_numpy()
    x, y = a.to_numpy()[has_both], b.to_numpy()[has_both]
    n = int(has_both.sum())
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan, np.nan, n
    result = pearsonr(x, y)
    return float(result.statistic), float(result.pvalue), n


def _order_by_clusters(names: Sequence[str], r: dict[tuple[str, str], float]) -> list[str]:
    """Order the names as the leaves of the clustering; an undefined correlation counts as 0."""
    import numpy as np
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(names) < 3:
        return list(names)
    distances = 1 - np.nan_to_num(np.abs([r[pair] for pair in itertools.combinations(names, 2)]))
    return [names[leaf] for leaf in leaves_list(linkage(distances, "average", optimal_ordering=True))]
