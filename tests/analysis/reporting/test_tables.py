"""Tables as CSV, JSON, LaTeX and Markdown, the dictionary of their columns, options and labels."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability.columns import parse_flip_threshold_percent
from analysis.reporting import catalogue
from analysis.reporting.catalogue import grid, tables
from analysis.reporting.catalogue.columns import Column, format_value_by_column
from analysis.reporting.output import files, latex
from analysis.reporting.output.latex import POINTS, texts
from analysis.reporting.words import labels
from ground.errors import InputError
from helpers.commands import waver
from helpers.page_runs import FULL
from helpers.synthetic import random_frame, write_run

NAMES = ("stability", "items", "differences", "item_stability", "divergent", "distribution", "outliers", "invalid",
         "excluded", "published")  # fmt: skip
HOSTILE = 'a "quoted", text\nwith $5 & 50% of {x}_y^2 \\ ~ # <b>|[z]'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two causal models and a masked one, one item without paraphrases, some invalid answers."""
    frame = random_frame(["a/one", "a/two", "bert"], items=5, paraphrases=6, seed=3)
    names = frame["item"] + " " + frame["variant"]
    frame["text"] = names.where(names != "item-01 original", HOSTILE)
    frame.loc[(frame["model"] == "a/one") & (frame["variant"] == "paraphrase-001"), "agreement"] = np.nan
    lonely = frame[(frame["item"] == "item-01") & (frame["variant"] == "original")].assign(item="lonely", text="alone")
    path = tmp_path_factory.mktemp("tables") / "run"
    write_run(path, pd.concat([frame, lonely]), models={"bert": {"engine": "masked"}})
    return runs.open_runs(path)


@pytest.fixture(scope="module")
def frames(run):
    return {name: tables.build_table(name, run, resamples=50) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_csv_reads_back_to_the_last_digit(name, frames):
    text = tables.render_table_in_text_format(name, frames[name], "csv")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert text.count("\r\n") >= len(frames[name]) + 1
    assert rows[0] == list(frames[name].columns)
    assert len(rows) == len(frames[name]) + 1
    back = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""], float_precision="round_trip")
    for key in frames[name].select_dtypes("number"):
        np.testing.assert_array_equal(back[key].to_numpy(float), frames[name][key].to_numpy(float), err_msg=key)


def test_a_column_named_twice_is_written_once(frames):
    for form in ("csv", "jsonl", "latex"):
        once, twice = (
            tables.render_table_in_text_format("stability", frames["stability"], form, ["validity"] * n) for n in (1, 2)
        )
        assert once == twice


@pytest.mark.parametrize("name", NAMES)
def test_json_reads_back_to_the_last_digit_and_has_null_where_nothing_is_defined(name, frames):
    frame = frames[name]

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    records = json.loads(tables.render_table_in_text_format(name, frame, "json"), parse_constant=refuse)
    lines = tables.render_table_in_text_format(name, frame, "jsonl").split("\n")[:-1]
    assert [json.loads(line) for line in lines] == records
    assert len(records) == len(frame) and all(list(record) == list(frame.columns) for record in records)
    for key in frame.select_dtypes("number"):
        back = [np.nan if record[key] is None else record[key] for record in records]
        np.testing.assert_array_equal(np.array(back, float), frame[key].to_numpy(float), err_msg=key)


def test_lists_are_lists_in_json_and_what_is_infinite_is_null():
    frame = pd.DataFrame({"list": [[1, np.nan], None], "number": [np.inf, 2], "whole": pd.array([1, pd.NA], "Int64")})
    assert json.loads(grid.render_json(frame, as_lines=False)) == [
        {"list": [1, None], "number": None, "whole": 1}, {"list": None, "number": 2, "whole": None}
    ]  # fmt: skip
    two_lines = grid.render_json(frame, as_lines=True).splitlines()
    assert [list(json.loads(line)) for line in two_lines] == [["list", "number", "whole"]] * 2
    assert grid.render_json(frame.iloc[:0], as_lines=True) == "" and grid.render_json(frame[:0], False) == "[]\n"


@pytest.mark.parametrize("name", NAMES)
def test_markdown_has_one_line_per_row_and_as_many_cells_in_each(name, frames):
    lines = tables.render_table_in_text_format(name, frames[name], "markdown").splitlines()
    assert len(lines) == len(frames[name]) + 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_markdown_shows_markup_as_text(frames):
    shown = tables.render_table_in_text_format("items", frames["items"], "markdown")
    assert "<b>" not in shown and "&lt;b&gt;" in shown
    assert r"\$5" in shown and r"\_y" in shown


def test_a_caption_explains_only_the_columns_that_stand_in_the_table(frames):
    frame = frames["stability"].assign(mark="+")
    for columns, words in (
        (["n_items"], set()), (["flip_05"], {"Flips:"}), (["n_items", "mark"], {"Mark:"}), (None, {"Flips:", "Mark:"}),
    ):  # fmt: skip
        text = tables.render_table_in_text_format("stability", frame, "latex", columns)
        assert {word for word in ("Flips:", "Mark:") if word in text} == words
        assert "intervals over items" in text  # "Validity and stability ... (shares: Wilson)" explains no column
    effect = pd.DataFrame({"model": ["m"], "estimate": [0.1]})
    assert "Mixed model of every" in tables.choose_caption_for_shown_columns("meaning_effect", effect, list(effect))
    assert "Mark:" not in tables.render_table_in_text_format("stability", frame.assign(mark=""), "latex")
    frame = pd.DataFrame(
        {"a_model": ["m"], "difference": [0.1], "lower": [0.0], "upper": [0.2], "like_lower": [-0.1],
         "like_upper": [0.3], "same_wordings": [0.9], "same_both": [0.8]}
    )  # fmt: skip
    for columns, n_intervals, has_sign in (
        (["difference"], "its 95", False), (["difference", "like_lower"], "Two 95", False),
        (["same_both"], "its 95", True),
    ):  # fmt: skip
        text = tables.render_table_in_text_format("beyond_rewording", frame, "latex", columns)
        assert n_intervals in text and ("Same sign: probability" in text) == has_sign


@pytest.mark.parametrize("name", NAMES)
def test_latex_is_balanced_and_escaped(name, frames):
    frame = frames[name]
    if frame.empty:
        frame = pd.DataFrame([dict.fromkeys(frame)])
    text = tables.render_table_in_text_format(name, frame, "latex")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == text.count(r"\caption{") > 0
    assert text.count(r"\toprule") == text.count(r"\begin{table*}")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert "$5" not in text.replace(r"\$5", "")


def test_a_latex_table_is_as_wide_as_the_column_the_text_or_the_page(frames):
    columns = ["validity", "range_mean", "range_sd", "sd_mean", "sd_sd", "n_items"]
    floats = {
        width: tables.render_table_in_text_format("stability", frames["stability"], "latex", columns, width)
        for width in POINTS
    }
    assert floats["page"].count(r"\begin{table*}[tp]") == 1 and "part" not in floats["page"]
    assert floats["column"].count(r"\begin{table}[tp]") > floats["text"].count(r"\begin{table}[tp]") == 1
    assert r"(part 2 of" in floats["column"]
    with pytest.raises(InputError, match="unknown width 'slide'; the widths are: column, text, page"):
        tables.render_table_in_text_format("stability", frames["stability"], "latex", width="slide")


def build_stability_rows(models, conditions):
    rows = [{"study": "s", "model": model, "condition": condition} for model in models for condition in conditions]
    ends = {"range_mean": 0.19, "range_mean_lower": 0.12, "range_mean_upper": 0.27, "n_items": 11}
    return pd.DataFrame(rows).assign(**ends)


def test_four_columns_that_latex_sets_217_points_wide_are_one_part_of_a_column():
    frame = build_stability_rows(
        ["waver-demo-small-tuned", "waver-demo-medium-tuned"], ["chat/yes-no/en", "chat/no-yes/en"]
    )
    text = tables.render_table_in_text_format("stability", frame, "latex", ["model", "range_mean", "n_items"], "column")
    assert text.count(r"\begin{table}") == 1 and r"\scriptsize" in text and "part 1" not in text


def test_no_part_of_a_latex_table_repeats_the_names_of_rows_for_one_column():
    """Of two columns that do not fit beside the names, each would be alone: the table is set over both columns."""
    frame = build_stability_rows(["waver-demo-medium-tuned", "b"], ["chat/yes-no/de-at", "chat/no-yes/de-at"])
    text = tables.render_table_in_text_format("stability", frame, "latex", ["model", "range_mean", "n_items"], "column")
    assert text.count(r"\begin{table*}") == 1 and "part 1" not in text and "% Too wide for one column" in text
    names, widths = ("model", "a", "b", "c", "d"), (10, 10, 10, 10, 10)
    cells = grid.Grid(names, (Column(""),) * 5, (), (False, *(True,) * 4), (False,) * 5)
    assert list(latex._split_columns_into_parts(cells, widths, 40)) == [[0, 1, 2], [0, 3, 4]]


@pytest.mark.parametrize(
    ("text", "size", "is_bold", "points"),
    [  # as pdfLaTeX measures them in a document of 10 pt (TeX Live 2022, Computer Modern)
        ("waver-demo-medium-tuned", "footnotesize", False, 100.59),
        ("meta-llama/Llama-3.1-8B-Instruct", "footnotesize", False, 128.25),
        ("Standard error of the mean", "scriptsize", False, 95.67),
        ("boo copd oq bop eeo", "scriptsize", False, 72.72),
        ("[0.23, 0.45]", "tiny", False, 32.85),
        ("−0.25", "footnotesize", False, 21.72),
        ("éàü x", "tiny", False, 16.15),
        ("Items", "scriptsize", False, 19.35),
        ("Qwen/Qwen2.5-7B", "footnotesize", True, 80.75),
        # in T1, where these characters are wider than in OT1
        ("^ ~", "footnotesize", False, 13.22),
    ],
)
def test_a_text_is_estimated_as_wide_as_latex_sets_it_or_slightly_wider(text, size, is_bold, points):
    estimate = texts.estimate_text_width(text, size, is_bold)
    assert points - 0.005 <= estimate <= points * (1.07 if is_bold else 1.03)


def test_a_table_that_fits_a_column_is_in_one_part(frames):
    """Its characters take 203 of 219 points; as many characters of average width would take more than 219."""
    columns = ["validity", "range_mean", "range_sd", "sd_mean", "n_items"]
    text = tables.render_table_in_text_format("stability", frames["stability"], "latex", columns, "column")
    assert text.count(r"\begin{table}") == 1


def test_every_part_of_a_wide_latex_table_repeats_the_names_of_its_rows():
    names, numbers = ["model", "study"], [f"n{i}" for i in range(30)]
    cells = grid.Grid(
        (*names, *numbers),
        tuple(Column("", header=name) for name in (*names, *numbers)),
        (tuple(grid.Cell(text) for text in ("a/one", "s", *(f"{i}.125" for i in range(30)))),),
        (False,) * 2 + (True,) * 30,
        (False,) * 32,
    )
    text = latex.render_grid_as_latex(cells, "stability", catalogue.look_up_table("stability"), "text")
    parts = text.split(r"\midrule")[1:]
    assert len(parts) == text.count(r"\label{") > 1
    assert all("a/one & s & " in part for part in parts)
    assert re.findall(r"(\d+)\.125", text) == [str(i) for i in range(30)]


def build_text_grid(rows: list[tuple[str, ...]], wordy: tuple[bool, ...], numeric: tuple[bool, ...]) -> grid.Grid:
    """A grid of texts whose first column is the model."""
    names = ("model", *(f"column {i}" for i in range(1, len(wordy))))
    cells = tuple(tuple(map(grid.Cell, row)) for row in rows)
    return grid.Grid(names, tuple(Column("", header=name) for name in names), cells, numeric, wordy)


def test_every_part_of_a_wide_latex_table_repeats_the_columns_that_tell_its_rows_apart():
    subsets = ["mmlu_abstract_algebra_all", "mmlu_machine_learning_all", "mmlu_anatomy_all_questions"]
    rows = [("Qwen/Qwen2.5-1.5B-Instruct", subset, "alike " * 6, *["0.125"] * 30) for subset in subsets]
    cells = build_text_grid(rows, (True,) * 3 + (False,) * 30, (False,) * 3 + (True,) * 30)
    assert latex.list_key_columns(cells) == [0, 1]
    parts = latex.render_grid_as_latex(cells, "choice", catalogue.look_up_table("choice"), "page").split(r"\midrule")[
        1:
    ]
    assert len(parts) > 1
    shown = [part.replace(r"\allowbreak{}", "").replace(r"\_", "_") for part in parts]
    assert all(part.count(subset) == 1 for part in shown for subset in subsets)
    # Two columns of running text leave no room for others in one column of a paper.
    text = latex.render_grid_as_latex(cells, "choice", catalogue.look_up_table("choice"), "column")
    assert text.count(r"\begin{table*}") == len(parts)


def test_a_table_whose_parts_cannot_tell_rows_apart_in_a_column_is_set_over_both():
    rows = [("Qwen/Qwen2.5-1.5B-Instruct", f"a subset of questions, {n}", *["12,345.125"] * 3) for n in (1, 2)]
    cells = build_text_grid(rows, (True,) * 2 + (False,) * 3, (False,) * 2 + (True,) * 3)
    text = latex.render_grid_as_latex(cells, "choice", catalogue.look_up_table("choice"), "column")
    assert text.count(r"\begin{table*}") == 1 and "% Too wide for one column: set over both." in text
    alike = build_text_grid(rows[:1], (True,) * 2 + (False,) * 3, (False,) * 2 + (True,) * 3)
    assert latex.list_key_columns(cells) == [0, 1] and latex.list_key_columns(alike) == [0]  # one name is enough


def test_rows_that_only_a_number_tells_apart_have_it_in_every_part_unless_it_is_a_result():
    rows = [("a", "5", "0.1"), ("a", "10", "0.2")]
    cells = build_text_grid(rows, (False,) * 3, (False, True, True))
    assert latex.list_key_columns(cells) == [0, 1]
    with_interval = tuple((row[0], grid.Cell(row[1].text, "[1, 2]"), row[2]) for row in cells.rows)
    assert latex.list_key_columns(grid.Grid(cells.names, cells.columns, with_interval, cells.numeric, cells.wordy)) == [
        0, 2
    ]  # fmt: skip


def test_words_that_are_wider_than_their_column_have_places_to_break_and_others_have_none(frames):
    item = "mmlu_college_computer_science/6cd9c6502447a6f36cd9c6502447a6f3"
    frame = frames["items"].head(1).assign(item=item, text="mmlu_anatomy 0-shot/1 " * 3)
    text = tables.render_table_in_text_format("items", frame, "latex", width="column")
    (shown,) = re.findall(r"mmlu\\_\\allowbreak.*?(?= &)", text)
    assert shown.startswith(r"mmlu\_\allowbreak{}college\_\allowbreak{}computer\_\allowbreak{}science/\allowbreak{}6")
    assert re.sub(r"\\allowbreak\{\}|\\", "", shown) == item
    assert r"\raggedright mmlu\_anatomy 0-shot/1 mmlu" in text


@pytest.mark.parametrize("word", ["6cd9c6502447a6f3" * 4, "mmlu_high_school_" + "x" * 60, "茶" * 30, "a-b/c.d" * 9])
def test_no_piece_and_no_line_is_wider_than_its_column(word):
    lines = texts.wrap_into_lines(f"see {word} there", 60, "scriptsize")
    assert "".join(lines) == f"see {word} there"
    assert all(texts.estimate_text_width(line, "scriptsize") <= 60 for line in lines)
    assert "".join(texts.split_word_into_pieces(word, 60, "scriptsize")) == word


def test_a_text_that_is_longer_than_a_page_is_cut_in_latex_and_the_caption_says_so(frames):
    words = [f"word{i}" for i in range(3000)]
    frame = frames["items"].head(2).assign(item=["a", "b"], text=[" ".join(words), "short"])
    for width in POINTS:
        text = tables.render_table_in_text_format("items", frame, "latex", width=width)
        assert text.count(texts.escape_latex(latex.CUT)) == 1
        (shown,) = re.findall(r"word0.*?(?= &)", text)
        left = shown.removesuffix(r"\ldots{}").split()
        assert shown.endswith(r"\ldots{}") and left == words[: len(left)] and 100 < len(left) < 1000
    assert "too long for the page" not in tables.render_table_in_text_format("items", frame.tail(1), "latex")
    assert words[-1] in tables.render_table_in_text_format("items", frame, "csv")


@pytest.mark.parametrize("width", POINTS)
def test_a_table_without_rows_is_a_sentence_in_latex(frames, width):
    title = catalogue.look_up_table("items").title
    text = tables.render_table_in_text_format("items", frames["items"].head(0), "latex", width=width)
    assert text.startswith(f"The table ``{title}'' has no rows.\\par % ") and text.count("\n") == 1


def test_greek_letters_and_signs_of_sets_are_commands_in_latex(frames):
    frame = frames["items"].head(1).assign(text="A ∪ B has μ = 3 and σ ≠ 0")
    text = tables.render_table_in_text_format("items", frame, "latex")
    assert r"A $\cup$ B has $\mu$ = 3 and $\sigma$ $\neq$ 0" in text and "LuaLaTeX" not in text


def test_long_latex_tables_break_over_pages():
    names = ["study", "item", "text", "family"]
    frame = pd.DataFrame({name: [f"{name} {n}" for n in range(100)] for name in names})
    frame = frame.assign(normalised_sd_mean=0.5, normalised_sd_se=0.1, n_models=2)
    text = tables.render_table_in_text_format("item_stability", frame, "latex", width="text")
    assert text.count(r"\begin{longtable}") == text.count(r"\endhead") == text.count("(continued)") == 1
    assert r"\begin{table" not in text
    assert text.startswith("% Needs \\usepackage{booktabs, longtable} in the preamble.\n")


def test_a_report_has_a_longtable_in_place_of_more_floats_than_latex_holds():
    names = ["study", "item", "text", "family"]
    frame = pd.DataFrame({name: [f"{name} {n}" for n in range(1000)] for name in names})
    frame = frame.assign(normalised_sd_mean=0.5, normalised_sd_se=0.1, n_models=2)
    text = files.render_table_as_floats_or_longtable("item_stability", frame)
    assert text.count(r"\begin{longtable}") == 1 and r"\begin{table" not in text and text.count(r"item 999 &") == 1
    needs, comment = text.splitlines()[:2]
    assert needs.startswith("% Needs \\usepackage{booktabs, longtable}")
    assert re.match(r"% A longtable in place of \d\d floats: put it after \\onecolumn", comment)
    short = files.render_table_as_floats_or_longtable("item_stability", frame.head(400))
    assert 2 <= short.count(r"\begin{table*}") <= latex.WAITING and "longtable" not in short


@pytest.mark.parametrize("width", ["page", "column"])
def test_long_latex_tables_are_several_floats_in_two_columns(width):
    names = ["study", "item", "text", "family"]
    frame = pd.DataFrame({name: [f"{name} {n:03}" for n in range(1000)] for name in names})
    frame = frame.assign(normalised_sd_mean=0.5, normalised_sd_se=0.1, n_models=2)
    text = tables.render_table_in_text_format("item_stability", frame, "latex", width=width)
    assert "longtable" not in text
    n_parts = text.count(r"\begin{table")
    assert n_parts > 10 and f"(part {n_parts} of {n_parts})" in text
    assert text.count(r"\clearpage") == n_parts // latex.WAITING
    assert len(set(re.findall(r"\\label\{(.+?)\}", text))) == n_parts
    assert re.findall(r"item (\d{3})", text) == [f"{n:03}" for n in range(1000)]


def test_a_table_that_takes_more_than_two_floats_in_a_column_is_set_over_both(frames):
    text = tables.render_table_in_text_format("stability", frames["stability"], "latex", width="column")
    assert text.count(r"\begin{table*}") == 1 and "% Too wide for one column: set over both." in text
    narrow = tables.render_table_in_text_format("stability", frames["stability"], "latex", ["sd_mean"], width="column")
    assert narrow.count(r"\begin{table}") == 1 and "Too wide" not in narrow


def test_latex_says_which_texts_pdflatex_cannot_set_and_keeps_a_star_after_a_row(frames):
    frame = frames["items"].head(2).assign(item=["*a", "*b"], text=["caf\u00e9 \u2013 1", "x"])
    plain = tables.render_table_in_text_format("items", frame, "latex")
    assert "LuaLaTeX" not in plain and "LuaLaTeX" in tables.render_table_in_text_format(
        "items", frame.assign(text="\u8336"), "latex"
    )
    assert "{*}a" in plain and "{*}b" in plain  # LaTeX takes a bare star as part of the line break before it


@pytest.mark.parametrize("form", ["csv", "latex", "markdown"])
def test_columns_are_written_in_the_order_asked_for(form, frames):
    text = tables.render_table_in_text_format("stability", frames["stability"], form, ["sd_mean", "validity"])
    header = text.split(r"\toprule")[-1].splitlines()[form == "latex"]
    names = re.findall(r"\w+", header.replace(r"\textbar", ""))
    assert names == {"csv": ["sd_mean", "validity"]}.get(form, ["Model", "SD", "Validity"])


def test_an_unknown_column_is_told_with_the_nearest(frames):
    with pytest.raises(InputError, match=r"stability has no column 'validty' \(the nearest is 'validity'\)"):
        tables.render_table_in_text_format("stability", frames["stability"], "csv", ["validty"])


def test_intervals_are_printed_with_their_figure(frames):
    shown = tables.render_table_in_text_format("stability", frames["stability"], "markdown")
    first = frames["stability"].iloc[0]
    ends = [f"{first[f'range_mean_{end}']:.2f}" for end in ("lower", "upper")]
    assert f"{first['range_mean']:.2f} \\[{ends[0]}, {ends[1]}\\]" in shown
    assert "_lower" not in shown


def test_conditions_of_rows_without_a_model_tell_rows_apart():
    pooled = pd.DataFrame({"model": [None, None, "a"], "condition": ["x", "y", "x"], "scale": ["s", "s", "s"]})
    assert grid.build_grid("scales_respondents", pooled, ["scale"]).names == ("model", "condition", "scale")


def test_condition_and_study_are_printed_only_where_they_tell_rows_apart():
    one = pd.DataFrame({"study": "s", "model": ["a", "b"], "condition": ["chat", "plain"], "validity": 0.5})
    two = one.assign(model="a", study=["s", "t"])
    assert grid.build_grid("stability", one, ["validity"]).names == ("model", "validity")
    assert grid.build_grid("stability", two, ["validity"]).names == (
        "study",
        "model",
        "condition",
        "validity",
    )


def test_a_name_of_rows_that_is_asked_for_stands_where_it_was_asked_for():
    frame = pd.DataFrame({"study": "s", "model": ["a", "b"], "condition": "chat", "validity": 0.5})
    for asked in (["validity", "model"], ["condition", "model", "validity"]):
        assert grid.build_grid("stability", frame, asked).names == tuple(asked)
    several = frame.assign(model="a", condition=["chat", "plain"])
    assert grid.build_grid("stability", several, ["model", "validity"]).names == (
        "model",
        "condition",
        "validity",
    )


@pytest.mark.parametrize(
    ("raw", "digits", "shown"),
    [(0.125, 2, "0.12"), (1.0, 2, "1.00"), (0.0, 2, "0.00"), (0.004, 2, "<0.01"), (-0.5, 2, "−0.50"),
     (-0.001, 2, ">−0.01"), (-1e-15, 2, "0.00"),
     (float("nan"), 2, ""), (None, 2, ""), (12345, None, "12,345"), (12345.0, None, "12,345"), ("x", None, "x"),
     (["a b", "c"], None, "“a b”; “c”"), (np.int64(7), None, "7"), (True, None, "yes"), (np.False_, None, "no")],
)  # fmt: skip
def test_values_are_printed_with_few_digits(raw, digits, shown):
    assert format_value_by_column(raw, Column("", digits=digits)) == shown


def test_flip_thresholds_are_read_from_their_columns():
    assert [
        parse_flip_threshold_percent(name) for name in ("flip_05", "flip_25", "flip_025", "flips", "flip_05_lower")
    ] == [
        5,
        25,
        2.5,
        None,
        None,
    ]


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"unknown table 'stabilty' \(the nearest is 'stability'\); `waver table"):
        catalogue.look_up_table("stabilty")
    known = tables.list_table_options("stability")
    with pytest.raises(InputError, match=r"table stability has no option 'sampels'.*; the options are"):
        tables.convert_options_to_types_of_defaults("table stability", {"sampels": "5"}, known)
    with pytest.raises(InputError, match="table stability: seed = -1: give a whole number from 0 on"):
        tables.convert_options_to_types_of_defaults("table stability", {"seed": "-1"}, known)
    of_outside_page = {"seed": inspect.Parameter("seed", inspect.Parameter.KEYWORD_ONLY, default=None)}
    assert tables.convert_options_to_types_of_defaults("table dice", {"seed": "4"}, of_outside_page) == {"seed": "4"}
    with pytest.raises(InputError, match="table stability: option resamples: 'many' is not a whole number"):
        tables.convert_options_to_types_of_defaults("table stability", {"resamples": "many"}, known)
    given = {"thresholds": "0.05,0.5", "seed": "4"}
    assert tables.convert_options_to_types_of_defaults("table stability", given, known) == {
        "thresholds": (0.05, 0.5),
        "seed": 4,
    }


def test_explain_names_all_tables_and_every_column_of_one():
    assert [line.split()[0] for line in tables.explain_tables().splitlines()] == list(catalogue.list_tables())
    shown = tables.explain_tables(["stability"])
    assert "validity_se" in shown and "SD across items" in shown and "probability, 0 to 1" in shown


def test_the_list_as_json_has_the_same_and_keeps_its_schema():
    schema = json.loads((Path(catalogue.__file__).parent / "schema.json").read_text("utf-8"))
    content = json.loads(tables.format_table_descriptions_as_json())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(content)
    assert [table["table"] for table in content["tables"]] == list(catalogue.list_tables())
    (stability,) = json.loads(tables.format_table_descriptions_as_json(["stability"]))["tables"]
    meanings = {column["column"]: column["meaning"] for column in stability["columns"]}
    assert meanings["validity_se"] in tables.explain_tables(["stability"])
    assert stability["options"]["resamples"] == tables.list_table_options("stability")["resamples"].default


@pytest.fixture(scope="module")
def choice_run(tmp_path_factory) -> Path:
    return FULL["choice"](tmp_path_factory.mktemp("printed") / "run")[0]


class TestPrintedRows:
    """Rows that a paper printed stand among a run's only where the call asks for them."""

    def table(self, run: Path, *options: str) -> tuple[list[dict[str, str]], str]:
        done = waver("analysis", "table", run, "choice_wordings", "-p", "resamples=20", *options)
        return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr

    @pytest.mark.slow
    def test_they_are_left_out_and_counted(self, choice_run):
        rows, told = self.table(choice_run)
        assert {row["source"] for row in rows} == {"these runs"}
        assert told == "choice_wordings: left out: 6 rows that papers printed; --with-published has them\n"

    @pytest.mark.slow
    def test_they_are_there_where_they_are_asked_for(self, choice_run):
        rows, told = self.table(choice_run, "--with-published")
        assert sum(row["source"] == "Choi, RoParQ, Table 8" for row in rows) == 6 and told == ""

    def test_a_source_of_another_kind_is_no_paper(self):
        frame = pd.DataFrame({"source": ["On the farm, you see the red bag."]})
        assert tables.exclude_published_rows("score_items", frame) is frame


def test_dictionary_next_to_the_tables_covers_every_column(frames, tmp_path):
    for name in ("items", "stability"):
        files.write_table_csv_and_latex(name, frames[name], tmp_path)
    dictionary = pd.read_csv(tmp_path / "tables" / "dictionary.csv")
    assert list(dictionary.columns) == ["table", "column", "unit", "meaning"]
    assert list(dictionary["table"].unique()) == ["stability", "items"]  # in the order of the catalogue
    for name in ("stability", "items"):
        assert list(dictionary.loc[dictionary["table"] == name, "column"]) == list(frames[name].columns)
    assert dictionary["meaning"].notna().all()
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == [
        "dictionary.csv", "items.csv", "items.tex", "stability.csv", "stability.tex"
    ]  # fmt: skip


def test_a_table_that_is_written_again_replaces_its_own_rows_of_the_dictionary(frames, tmp_path):
    path = tmp_path / "tables" / "dictionary.csv"
    for name in ("stability", "items"):
        files.write_table_csv_and_latex(name, frames[name], tmp_path)
    files.write_table_csv_and_latex("items", frames["items"].drop(columns="n_valid"), tmp_path)
    dictionary = pd.read_csv(path)
    own = list(dictionary.loc[dictionary["table"] == "items", "column"])
    assert own == [key for key in frames["items"] if key != "n_valid"]
    kept = dictionary[dictionary["table"] == "stability"].set_index("column")["meaning"]
    assert list(kept.index) == list(frames["stability"].columns)
    assert kept["range_sd"].startswith("SD across items of the range")
    files.remove_report_tables_and_figures(tmp_path)
    assert list((tmp_path / "tables").iterdir()) == []


def test_a_column_without_any_value_is_left_out_of_the_printed_forms_unless_it_is_named(frames):
    frame = frames["stability"].assign(mark="", sd_mean=np.nan)
    for form in ("markdown", "latex"):
        printed = tables.render_table_in_text_format("stability", frame, form)
        assert "±" not in printed and not re.search(r"(\||&) SD (\||&)", printed)
        assert re.search(r"(\||&) SD ", tables.render_table_in_text_format("stability", frame, form, ["sd_mean"]))
        assert re.search(
            r"(\||&) SD ", tables.render_table_in_text_format("stability", frame.assign(sd_mean=[np.nan, 0, 0]), form)
        )
    assert ",sd_mean," in tables.render_table_in_text_format("stability", frame, "csv")
    assert "| ± |" in tables.render_table_in_text_format("stability", frame.assign(mark=["+", "", ""]), "markdown")
    assert ",mark," in tables.render_table_in_text_format("stability", frame, "csv")


def test_the_spread_is_printed_without_its_interval_and_the_difference_with_it(frames):
    cells = grid.build_grid("stability", frames["stability"], ["range_mean", "range_sd"]).rows[0]
    assert [bool(cell.interval) for cell in cells] == [False, True, False]
    assert "range_sd_lower" in frames["stability"]
    row = frames["differences"].iloc[0]
    (cell,) = grid.build_grid("differences", frames["differences"], ["difference"]).rows[0]
    assert cell.interval == f"[{row['lower']:.2f}, {row['upper']:.2f}]".replace("-", "−")


def test_labels_say_no_more_than_needed():
    frame = pd.DataFrame({"model": ["o/a", "o/a", "o/b"], "condition": ["x", "y", "x"], "study": "s"})
    assert list(labels.build_row_labels(frame)) == ["o/a · x", "o/a · y", "o/b"]
    assert list(labels.build_row_labels(frame.assign(model=["o/a", "p/a", "b"]))) == ["o/a", "p/a", "b"]
    assert list(labels.build_row_labels(frame.assign(study=["s", "s", "t"])))[2] == "o/b · t"


def test_shortened_names_stay_different():
    names = ["organisation-with-a-name-0b-instruct", "organisation-with-a-name-10b-instruct"]
    short = labels.shorten_but_keep_distinct(names, 12)
    assert len(set(short)) == 2
    assert labels.shorten_middle("abcdefghij", 5) == "ab…ij"
    assert labels.take_first_words("one two three four", 12) == "one two…"
