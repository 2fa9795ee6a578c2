"""Say why a study whose wordings are templates cannot be fitted."""

from __future__ import annotations

from analysis.measures.templates import count_templates_and_items_by_study
from analysis.runs import Runs


def map_template_study_to_reason_not_fitted(runs: Runs) -> dict[str, str]:
    """Say of every study whose wordings are templates why it cannot be fitted: study -> reason."""
    return {
        study: f"the {templates} wordings of an item are templates that all {items} items share: what a feature does "
        "cannot be told from what its template does"
        for study, (templates, items) in count_templates_and_items_by_study(runs).items()
    }
