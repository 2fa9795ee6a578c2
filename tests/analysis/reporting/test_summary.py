"""What `waver report --json` prints: it keeps its schema, and its numbers are those of the tables."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.output import files
from analysis.reporting.output.first_screen import FirstScreen
from analysis.reporting.output.layout import Chapter
from analysis.reporting.output.results import NotebookResult, Report
from analysis.reporting.output.summary import format_report_as_json

SCHEMA = json.loads((Path(__file__).parents[3] / "analysis" / "reporting" / "schema.json").read_text("utf-8"))
THIRD = 1 / 3


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def read(out, *results, status=0, **fields):
    report = Report(out, "How it went", ("2 models were asked.",), "waver report run", results, **fields)
    content = json.loads(format_report_as_json(report, status))
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    return content


def write_table(out, name, **columns):
    files.write_text_file(out / "tables" / f"{name}.csv", pd.DataFrame(columns).to_csv(index=False))


def test_a_page_has_its_answer_its_numbers_and_its_files(out):
    write_table(out, "stability", study=["s", "s"], model=["NA", "001"], condition=["", "plain"], validity=[1, 0.5],
                range_mean=[THIRD, math.nan], range_mean_lower=[0.1, math.nan], range_mean_upper=[0.5, math.nan],
                flip_05=[0.25, 0.5], sd_mean=[0.1, 0.2])  # fmt: skip
    write_table(out, "items", study=["s"], item=["tea"])
    files.write_text_file(out / "tables" / "items.tex", "% Needs")
    for name in ("agreement-2", "agreement-10", "overview", "mine"):
        files.write_text_file(out / "figures" / f"{name}.pdf", "")
    screen = FirstScreen(
        asked="2 models.", verdict="Yes.", support="It stands.", cautions=("Few.",), details=("“Yes” means so.",),
        picture_html="<figure></figure>",
    )  # fmt: skip
    content = read(
        out, NotebookResult("stability", "Is it?", screen=screen, chapter=Chapter("stability", "Is it?", ""))
    )
    (page,) = content["pages"]
    assert (page["state"], page["page"], page["notebook"]) == ("made", str(out / "stability.html"), None)
    assert (page["verdict"], page["cautions"], page["details"]) == ("Yes.", ["Few."], ["“Yes” means so."])
    units = [("NA", "", THIRD, 0.1, 0.5), ("NA", "", 0.25, None, None), ("001", "plain", 0.5, None, None)]
    keys = ("model", "condition", "value", "lower", "upper")
    assert [tuple(number[key] for key in keys) for number in page["numbers"]] == units  # the undefined one is left out
    assert [number["measure"] for number in page["numbers"]] == ["Range", "Flips > 5 %", "Flips > 5 %"]
    assert [(table["name"], table["latex"]) for table in page["tables"]] == [
        ("stability", None),
        ("items", str(out / "tables" / "items.tex")),
    ]
    assert [figure["name"] for figure in page["figures"]] == ["overview", "agreement-2", "agreement-10"]
    assert page["figures"][1]["svg_column"] == str(out / "figures" / "agreement-2-column.svg")
    assert content["dictionary"] == str(out / "tables" / "dictionary.csv")


def test_printed_rows_and_rows_that_do_not_count_are_no_numbers_of_ours(out):
    source = [OURS, "Choi, Table 2"]
    write_table(out, "choice", source=source, study=["s", ""], model=["m", "p"], condition=["c", ""],
                subset=["all", "all"], validity=[1, 1], xparacon=[3.5, 9], accuracy=[0.5, 0.9])  # fmt: skip
    write_table(out, "variance_components", study=["s", "s"], model=["m", "m"], condition=["c", "c"],
                measure=["accuracy", "side"], headline=[True, False], validity=[1, 1], icc=[0.4, 0.5])  # fmt: skip
    pages = read(out, NotebookResult("choice", "Is it?"), NotebookResult("reliability", "Enough?"))["pages"]
    assert [(number["model"], number["value"]) for number in pages[0]["numbers"]] == [("m", 3.5), ("m", 0.5)]
    assert [(number["kinds"], number["value"]) for number in pages[1]["numbers"]] == [({"measure": "accuracy"}, 0.4)]


def test_a_page_without_a_headline_has_all_its_measures(out):
    write_table(out, "mixed", study=["s"], model=["m"], condition=["c"], term=["negations"], estimate_std=[-0.3],
                estimate_std_lower=[-0.5], estimate_std_upper=[-0.1])  # fmt: skip
    (page,) = read(out, NotebookResult("text_features", "Which?"))["pages"]
    (number,) = page["numbers"]
    assert (number["kinds"], number["lower"], number["upper"]) == ({"term": "negations"}, -0.5, -0.1)
    assert (number["validity"], number["column"]) == (None, "estimate_std")


def test_a_page_that_was_not_made_says_why(out):
    files.write_text_file(out / "notebooks" / "stability.ipynb", "{}")
    content = read(
        out,
        NotebookResult("stability", "Is it?", error="ValueError: no"),
        NotebookResult("meaning", "How much?", left_out="nobody checked what the wordings mean"),
        NotebookResult("beyond", "Of another package?"),
        status=1,
        single_file=out.with_suffix(".html"),
    )
    first, second, third = content["pages"]
    assert (first["state"], first["reason"], first["page"]) == ("failed", "ValueError: no", None)
    assert first["notebook"] == str(out / "notebooks" / "stability.ipynb")
    assert (second["state"], second["reason"]) == ("left out", "nobody checked what the wordings mean")
    assert (third["numbers"], third["tables"], third["figures"]) == ([], [], [])
    assert (content["exit_status"], content["dictionary"]) == (1, None)
    assert content["single_file"] == str(out.with_suffix(".html"))
