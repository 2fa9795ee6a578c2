"""List the tables and figures of the page `readings`; `columns` says what its columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.pages.readings.columns import COLUMNS
from analysis.reporting.catalogue import ALL, Catalogue, Figure, Table, split_names
from analysis.runs import Runs

_NET = "net of what sampling adds"
_KEY = "study model setting"
TABLES = {
    "readings": Table(
        "tables.tabulate_readings",
        "What every reading shows",
        "Every reading of the same prompts, over the wordings that all readings answered: validity, wordings on an "
        f"item's smaller side, and variance over wordings, {_NET}. With 95 % intervals over items.",
        split_names(
            f"{_KEY} reading read_condition compared validity validity_at_most validity_sd n_asked n_items n_wordings "
            "left_out mean accuracy flips wording_sd wording_share kept own own_most own_from p p_least p_holm "
            "artefact intervals no_interval"
        ),
        frozenset(split_names("read_condition validity_sd n_asked n_items left_out mean p p_least")),
        frozenset(split_names("validity_at_most accuracy own own_most own_from p_holm no_interval")),
    ),
    "reading_kept": Table(
        "kept.tabulate_variance_kept_in_each_setting",
        "How much stays under every reading",
        "All models of a setting together: of the variance over wordings of the reading named, the part that every "
        "other reading moves along with. Beside it is the part that is surely the same. With 95 % intervals over "
        "items.",
        split_names(
            "study setting reading n_models n_readings n_sources n_items n_wordings wording_sd kept common same "
            "intervals no_interval"
        ),
        frozenset({"n_wordings", "same"}),
        frozenset({"common", "no_interval"}),
    ),
    "reading_pairs": Table(
        "tables.tabulate_agreement_of_reading_pairs",
        "Agreement of readings",
        "Every two readings: share of the wordings that both put on the same side of one half, and kappa of that. Then "
        f"the correlation over wordings within items, {_NET}. With 95 % intervals over items.",
        split_names(
            f"{_KEY} reading_a reading_b same_texts n_items n_wordings same_side kappa correlation common_sd "
            "intervals no_interval"
        ),
        frozenset({"n_items"}),
        frozenset({"no_interval"}),
    ),
    "reading_ranking": Table(
        "ranking.tabulate_ranking_agreement_of_readings",
        "The ranking of the models under two readings",
        "Kendall's tau-b of the models' means under two readings, over common items and wordings, with a 95 % interval "
        "over items. Swaps: pairs of models in opposite order; clear ones differ under both readings after Holm.",
        split_names(
            "study setting measure reading_a reading_b n_models n_items tau n_pairs n_swaps n_clear_swaps intervals "
            "no_interval"
        ),
        frozenset({"n_pairs"}),
        frozenset({"no_interval"}),
    ),
    "reading_sheet": Table(
        "sheet_tables.tabulate_readings_corrected_by_people",
        "Readings beside what people read",
        "Single texts as people and as a reading took them, and the reading corrected by that. Missed and invented: "
        "errors on texts with an answer. With 95 % intervals over items.",
        split_names(
            f"{_KEY} reading read_condition n_texts texts_alike text_kappa missed invented unread overread n_wordings "
            "mean corrected_mean wording_sd corrected_sd own p intervals no_interval"
        ),
        frozenset({"read_condition", "p"}),
        frozenset({"overread", "no_interval"}),
    ),
    "reading_examples": Table(
        "examples.tabulate_divergent_texts",
        "Texts that readings take most differently",
        "Of every model the texts on which readings are furthest apart; an answer on one side and none count as half "
        "apart.",
        split_names(f"{_KEY} item variant sample text output readings_of_text distance"),
    ),
    "reading_unclosed": Table(
        "tables.tabulate_unclosed_thoughts",
        "Thoughts that did not end",
        "Thoughts that did not end by themselves within the tokens allowed. Without a budget they have no answer.",
        split_names(f"{_KEY} reading read_condition max_tokens thoughts unclosed unclosed_share"),
    ),
}
_NO_PAIR = "No model has two readings with valid answers to the same wordings."
FIGURES = {
    "reading_effects": Figure(
        "How far wordings move the answer, by reading", "figures.build_reading_effects_frames",
        empty_note=_NO_PAIR,
    ),
    "reading_agreement": Figure(
        "How far two readings agree", "figures.build_reading_agreement_frames",
        empty_note=_NO_PAIR,
    ),
}  # fmt: skip


def _explain_empty_readings_page(runs: Runs, options: Mapping[str, Any]) -> str:
    """Say why the page has nothing to show; empty where it has something."""
    from analysis.measures.readings.groups import has_answers_read_in_two_ways

    return "" if has_answers_read_in_two_ways(runs) else "no prompt's answer was read in two ways"


CATALOGUE = Catalogue(
    place=57,
    protocols=ALL,
    tables=TABLES,
    columns=COLUMNS,
    figures=FIGURES,
    explain_no_data=_explain_empty_readings_page,
)
