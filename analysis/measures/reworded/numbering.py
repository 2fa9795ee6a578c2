"""Number the items of a study and their wordings: as the places of arrays (units, items, wordings)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from analysis.measures.templates import count_templates_and_items_by_study, find_studies_of_reordered_words
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL


def list_item_ids_by_number(codes: pd.DataFrame) -> tuple[str, ...]:
    """List a study's item ids in the order of their numbers, from `read_stimuli_with_item_and_wording_numbers`."""
    return tuple(codes.drop_duplicates("item_code").sort_values("item_code")["item"])


def read_stimuli_with_item_and_wording_numbers(
    runs: Runs, study_names: list[str], without_originals: Collection[str] = ()
) -> pd.DataFrame:
    """Read stimuli with numbers of items and wordings: those of one template alike, else from 0 on in each item.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.
    without_originals
        Those of them whose originals are left out.

    Returns
    -------
    DataFrame
        study, item, variant, position, gold, template (attribute of the wording); crossed: whether the items of the
        study share their wordings; wording: name of the template, else the variant; wording_code, item_code: the
        numbers; row: of the study's rows, from 0 on.
    """
    frame = runs.sql(
        f"""
        SELECT study, item, variant, position, gold, map_extract(attributes, 'template')[1] AS template
        FROM stimuli WHERE study IN (SELECT unnest(?)) AND (pattern <> '{ORIGINAL}' OR study NOT IN (SELECT unnest(?)))
        ORDER BY position""",
        [study_names, list(without_originals)],
    )
    shared_wording_studies = {*count_templates_and_items_by_study(runs), *find_studies_of_reordered_words(runs)}
    parts = []
    for study, part in frame.groupby("study", sort=False):
        has_templates = part["template"].notna().all() and part["template"].nunique() * 2 <= len(part)
        crossed = has_templates or study in shared_wording_studies
        wording = part["template"] if has_templates else part["variant"]
        place = pd.factorize(wording)[0] if crossed else part.groupby("item", sort=False).cumcount()
        codes = {"wording_code": place, "item_code": pd.factorize(part["item"])[0], "row": np.arange(len(part))}
        parts.append(part.assign(crossed=crossed, wording=wording, **codes))
    return pd.concat(parts) if parts else frame.assign(crossed=False)
