"""Write the answers of protocol `scale` as ranks with weights, as ordered logits take them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.ratings import read_ratings
from analysis.measures.ratings_rows import PERSONA, SHOWN
from analysis.runs import Runs
from analysis.statistics.mixed import expand_answers_into_weighted_ranks
from analysis.statistics.mixed.ordered import EXPECTED


def tabulate_weighted_answer_ranks(runs: Runs, way: str = EXPECTED) -> pd.DataFrame:
    """List the answers of all studies, a row per option that has a share of the answer.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    way
        One of `mixed.ordered.WAYS`: how a distribution is taken.

    Returns
    -------
    DataFrame
        study, model, condition, setting, labels, option_order, without_middle, persona, item, variant, scale, key;
        rank, 1 for the lowest option, before reversing, and keyed_rank, after it; weight. To be fitted by
        ``fit_mixed_models(rows, "keyed_rank ~ option_order + (1 | item)", engine="ordinal", weights="weight")``.
    """
    parts = []
    for ratings in read_ratings(runs):
        wordings = ratings.variants.merge(
            ratings.items[["scale", "key"]], left_on="item_code", right_index=True, how="left", validate="many_to_one"
        )
        cells = wordings["item_code"].to_numpy(), wordings["wording_code"].to_numpy()
        names = wordings[["item", "variant", "scale", "key"]]
        for unit, fields in enumerate(ratings.units.to_dict("records")):
            about = {name: fields[name] for name in ("model", "condition", "setting", *SHOWN, PERSONA)}
            frame = names.assign(study=ratings.name, n_options=ratings.n_options[unit][cells[0]], **about)
            parts.append(expand_answers_into_weighted_ranks(frame, ratings.shares[unit][cells], way))
    if not parts:
        return pd.DataFrame()
    rows = pd.concat(parts, ignore_index=True)
    rows["keyed_rank"] = np.where(rows["key"] < 0, rows["n_options"] + 1 - rows["rank"], rows["rank"])
    order = ["study", "model", "condition", "setting", *SHOWN, PERSONA, "item", "variant", "scale", "key"]
    return rows[[*order, "rank", "keyed_rank", "weight"]]
