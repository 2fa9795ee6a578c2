"""Every column of every table is explained by the page that owns the table."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from analysis.pages.text_features.columns import TERMS
from analysis.pages.text_features.family import PREDICTORS
from analysis.reporting import catalogue
from analysis.reporting.catalogue import PAGES, columns, look_up_column, map_page_names_to_catalogues
from analysis.reporting.catalogue.columns import Column
from analysis.reporting.catalogue.grid import Cell
from analysis.reporting.output import files
from analysis.reporting.output.page import format_uniform_columns_as_text
from ground.errors import MalformedPage

# What one page must say in words of its own, and what another page says of a column of the same name.
RIGHT = [
    ("scores", "method", "sampled", "pearson"),
    ("score_differences", "method", "sampled", "pearson"),
    ("score_ranges", "method", "sampled", "pearson"),
    ("score_influence", "method", "sampled", "pearson"),
    ("score_printed", "method", "sampled", "pearson"),
    ("benchmarks", "method", "pearson", "sampled"),
    ("score_items", "source", "translated", "these runs"),
    ("score_printed", "source", "printed table", "translated"),
    ("stability", "validity", "options", "scale"),
    ("scores", "validity", "numbers of the scale", "paraphrases"),
    ("score_items", "text", "judged", "original wording"),
    ("items", "text", "original wording", "judged"),
    ("score_items", "item", "one text to judge", "wordings"),
    ("scores", "stage", "base, instruct or tuned", "column of its own"),
    ("score_printed", "stage", "as printed", "column of its own"),
    ("groups", "stage", "column of its own", "or tuned,"),
    ("scores", "series", "tuned from it", "tables"),
    ("score_differences", "series", "tuned from it", "tables"),
    ("divergent", "range", "agreement", "scores"),
    ("scores", "range", "asked for", "agreement"),
    ("scores", "dropped", "samples", "predictors"),
    ("mixed_diagnostics", "dropped", "predictors", "samples"),
    ("distribution", "n", "paraphrases", "models"),
    ("benchmarks", "n", "models", "paraphrases"),
    ("score_influence", "n", "points", "items"),
    ("scores", "pearson", "human score", "kurtosis"),
    ("score_influence", "pearson", "kurtosis", "human score"),
    ("score_influence", "pearson_lower", "points resampled", "items"),
    ("correlations", "r", "paraphrases", "models"),
    ("benchmarks", "r", "models", "paraphrases"),
    ("benchmarks", "lower", "of r", "difference"),
    ("mixed", "lower", "estimate", "difference"),
    ("differences", "lower", "difference", "estimate"),
    ("mixed", "n_rows", "paraphrases", "originals"),
    ("invalid", "n_rows", "originals and paraphrases", "fit"),
    ("score_methods", "tau_difference", "exact", "tuned"),
    ("score_differences", "tau_difference_upper", "tuned", "exact"),
    ("benchmarks", "p_holm", "method", "n_tests"),
    ("mixed", "p_holm", "n_tests", "method"),
    ("choice_differences", "p", "exchanging both sides", "bootstrap"),
    ("choice_changes", "p_least", "questions", "bootstrap"),
    ("meaning_corrected", "lower", "corrected share", "difference"),
    ("meaning_effect", "upper", "Satterthwaite", "difference"),
    ("score_methods", "tau_p_holm", "over all rows of the study", "setting"),
    ("score_differences", "tau_p_holm", "of the study and setting", "rows"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "name", "words", "of_another"), RIGHT)
def test_a_column_is_explained_by_the_page_of_its_table(table, name, words, of_another):
    meaning = look_up_column(table, name).meaning
    assert words in meaning and of_another not in meaning


def test_a_run_decides_on_columns():
    assert look_up_column("stability", "flip_025").meaning.startswith("share of items with more than 2.5 %")
    assert look_up_column("stability", "flip_05").header == "Flips > 5 %"
    assert look_up_column("score_ranges", "tau_-5_5").header == "Tau -5-5"
    assert "range 1-100" in look_up_column("score_ranges", "kurtosis_1_100").meaning
    assert "characters per word" in look_up_column("table3", "effect_word_length").meaning
    assert look_up_column("table3", "effect_word_length_se").meaning.startswith("standard error of the change")
    assert look_up_column("table3", "effect_word_length_dagger").header == "†"


def test_an_end_of_an_interval_is_explained_by_its_figure():
    figure = look_up_column("sources", "validity").meaning
    lower = look_up_column("sources", "validity_lower")
    assert lower.meaning == f"lower end of the 95 % interval (over items) of: {figure}"
    assert look_up_column("stability", "flip_05_upper").meaning.startswith("upper end of the 95 % interval")
    # The page's own words come first: these ends are no bootstrap.
    assert (
        look_up_column("mixed", "estimate_std_lower").meaning
        == "lower end of its 95 % interval by the cluster-robust error"
    )


@pytest.mark.parametrize(
    ("page", "table", "name"),
    [("stability", "stability", "kurtosis"), ("scoring", "scores", "flip_05"), ("text_features", "vif", "effect_x"),
     ("scoring", "scores", "r_lower")],
)  # fmt: skip
def test_a_column_that_no_page_explains_is_one_line_that_names_the_file_to_edit(page, table, name):
    line = f"analysis/pages/{page}/columns.py: column '{name}' of table '{table}' has no meaning; add it to COLUMNS"
    with pytest.raises(MalformedPage, match=f"^{re.escape(line)}$"):
        look_up_column(table, name)


def test_the_predictors_are_the_terms_that_have_words():
    assert set(TERMS) == set(PREDICTORS)


def test_the_file_next_to_the_tables_says_what_each_table_means(tmp_path):
    for table in ("score_items", "items"):
        files.write_table_csv_and_latex(
            table, pd.DataFrame([dict.fromkeys(catalogue.look_up_table(table).columns, 1)]), tmp_path
        )
    written = pd.read_csv(tmp_path / "tables" / "dictionary.csv").set_index(["table", "column"])["meaning"]
    for table, name in (("score_items", "source"), ("score_items", "item"), ("score_items", "text"), ("items", "text")):
        assert written[table, name] == look_up_column(table, name).meaning
    assert written["score_items", "item"] != written["items", "item"]
    assert written["score_items", "text"] != written["items", "text"]


def test_a_unit_stands_under_a_header_only_where_it_tells_more():
    said = {"share, 0 to 1": "0–1", "ratio": "ratio", "unit of the measure, squared": "", "wordings": ""}
    assert {unit: Column("x", unit, "Wordings", 2).header_unit for unit in said} == said
    assert Column("x", "ratio, from 1", "Widening").header_unit == ""  # a count or a name


def test_what_is_the_same_in_all_rows_ends_a_sentence_once():
    """On the page of a comparison, too, whose texts end with a full stop."""
    cells = [(Column("x", header="Items"), Cell("62")), (Column("x", header="Text"), Cell("Tea is good."))]
    assert format_uniform_columns_as_text(cells) == "Items 62; Text Tea is good"


@pytest.mark.parametrize("page", map_page_names_to_catalogues())
def test_the_names_of_columns_are_written_out_where_they_are_defined(page):
    """So that a search for a name finds it: none is glued together of parts."""
    folder = PAGES / page
    entry = map_page_names_to_catalogues()[page]
    defined = set(re.findall(r'^ *"([\w.*]+)":', (folder / "columns.py").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(entry.columns) <= defined
    files = (folder / "catalogue.py", folder / "columns.py", Path(columns.__file__))
    written = {word for file in files for word in re.findall(r"[\w*]+", file.read_text(encoding="utf-8"))}
    assert {name for table in entry.tables.values() for name in table.columns} <= written
