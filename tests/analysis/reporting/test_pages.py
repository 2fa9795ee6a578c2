"""What holds for every page: tables have the declared columns, and a catalogue names nothing that is not there.

A new page is tried by these tests as soon as its folder is there; it adds two runs to `helpers.page_runs`.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import waver
from analysis.check.baseline import open_baseline, save_baseline
from analysis.check.grammar import find_range_of_rule_number
from analysis.check.limits import columns
from analysis.check.numbers import compute_outcomes_of_number_rule
from analysis.check.outcomes import COUNTED
from analysis.check.rules import LIKE_THESE, Rule
from analysis.compare.measures import compare_paired_runs
from analysis.compare.pairing import pair_studies_of_two_run_sets
from analysis.compare.pairs import Chosen
from analysis.pages.stability import printed
from analysis.pages.stability.page import StabilityPage
from analysis.reporting import catalogue
from analysis.reporting.catalogue import grid, tables
from analysis.reporting.catalogue.columns import SHARED, Column
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.drawing import plotting
from analysis.reporting.drawing.pictures import build_pictures
from analysis.reporting.output.html import render_template
from analysis.reporting.output.latex import POINTS
from analysis.reporting.output.notebooks import FOLDER
from analysis.reporting.output.page import Page
from analysis.reporting.words import Answer
from analysis.statistics.interval import list_reasons_for_missing_intervals
from ground.errors import InputError, MalformedPage
from helpers.figures import NAMES, check_figure, check_names, rename_models
from helpers.first_screens import check_first_screen
from helpers.notebook_steps import NOTEBOOKS_WITH_STEPS, execute_steps
from helpers.page_runs import BARE, FULL, SILENT, select_options_of_page
from helpers.sentences import code_names, too_long
from helpers.synthetic import random_frame, write_run
from helpers.text_features import hide

pytestmark = pytest.mark.slow

NO_RUNS = SimpleNamespace(info={"studies": {}})

PAGES, PACKAGES = catalogue.map_page_names_to_catalogues(), catalogue.PAGES
TABLES = [(page, name) for page, entry in PAGES.items() for name in entry.tables]
FIGURES = [(page, name) for page, entry in PAGES.items() for name in entry.figures]
NAMING = ("key", "look", "prompt_number", "sample")  # numbers that name something
MADE_BY_RUNS = {"flip_*": "flip_125", "kurtosis_*": "kurtosis_1_100", "tau_*": "tau_-5_5"}


@pytest.fixture(scope="module")
def frames_of(tmp_path_factory):
    """Give the tables of a page on its full run or on its bare one; every run is written and opened once."""
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        patch.setattr(
            printed, "_list_studies_with_printed_items", lambda _: ["synthetic"]
        )  # as if the items were the printed ones
        made: dict[Callable, Frames] = {}

        def frames(make: Callable) -> Frames:
            if make not in made:
                folder, options = make(tmp_path_factory.mktemp("pages") / "run")
                run = waver.open([str(folder)], over_time=True)
                made[make] = Frames(run.open_runs_of_protocols(), options)
                made[make].run = run
            return made[make]

        yield frames


@pytest.fixture(scope="module")
def page_of(frames_of):
    """Give a page of its full run or of its bare one, after it has answered; every page answers once."""
    made: dict[tuple[str, Callable], Page] = {}

    def answered(page: str, make: Callable) -> Page:
        if (page, make) not in made:
            frames = frames_of(make)
            options = select_options_of_page(page, dict(frames.options))
            made[page, make] = shown_by(page)(frames.run, **options)
            made[page, make].frames = frames
            made[page, make].answer()
        return made[page, make]

    return answered


def declared(table: str) -> list[str]:
    """The columns of the catalogue, each pattern as it stands; "intervals" is no column."""
    return [key for key in catalogue.look_up_table(table).columns if key != tables.INTERVALS]


def in_declared_order(table: str, columns: list[str]) -> bool:
    """Whether columns are the declared ones: a pattern stands for any number of columns, "intervals" for pairs of ends.

    For `study flip_* mark intervals` the names have to match `study (flip_.. )*mark (.._lower .._upper )*`.
    """
    parts = {tables.INTERVALS: r"(\S+_lower \S+_upper )*"}
    for key in declared(table):
        parts[key] = f"({key.replace('*', '[^ ]+')} )*" if "*" in key else f"{key} "
    wanted = "".join(parts[key] for key in catalogue.look_up_table(table).columns)
    return re.fullmatch(wanted, "".join(f"{name} " for name in columns)) is not None


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_a_table_has_the_declared_columns_and_each_is_explained(page, table, frames_of):
    frame = frames_of(FULL[page])[table]
    assert len(frame), "the page's run should fill every table"
    columns = list(frame.columns)
    assert columns == tables.list_declared_columns(table, frame)
    assert len(set(columns)) == len(columns)
    assert in_declared_order(table, columns)
    for key in columns:
        entry = catalogue.look_up_column(table, key)
        assert entry.meaning and entry.header, key


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_a_rule_of_a_check_takes_no_number_for_a_text_and_knows_its_range(page, table, frames_of):
    frame = frames_of(FULL[page])[table].drop(columns=[*NAMING], errors="ignore").select_dtypes("number")
    for key in frame.dropna(axis="columns", how="all"):
        low, high = find_range_of_rule_number(f"{table}.{key}") or (-np.inf, np.inf)
        assert frame[key].dropna().between(low - 1e-9, high + 1e-9).all(), f"{key} is beyond {low:g} to {high:g}"


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_no_interval_is_a_point_and_where_one_is_missing_the_row_says_why(page, table, frames_of):
    frame = frames_of(FULL[page])[table]
    frame = frame[frame["source"] == OURS] if "source" in frame and (frame["source"] == OURS).any() else frame
    for lower in [name for name in frame if name == "lower" or name.endswith("_lower")]:
        base = lower.removesuffix("lower").removesuffix("_")
        ends = frame[[lower, lower.removesuffix("lower") + "upper"]].astype(float)
        assert not ((ends.iloc[:, 1] - ends.iloc[:, 0]).abs() <= 1e-12).any(), lower
        if "no_interval" in frame and ends.notna().any(axis=None):
            named = (key for key, of in catalogue.look_up_table(table).interval.items() if of and of[0] == lower)
            figure = base or next(named, "difference")
            bare = ends.iloc[:, 0].isna() & frame[figure].notna()
            told = frame["no_interval"].map(
                lambda text, name=figure: bool(list_reasons_for_missing_intervals([text], (name,)))
            )
            assert (bare == told).all(), figure


def list_measures(opened):
    return {(study.name, study.measure): study.values for study in read_reworded_studies(opened)}


# A baseline is of one time; two pages have the run of another one, and two have protocols of others.
@pytest.mark.parametrize(
    "page", [page for page in FULL if page not in ("drift", "text_features", "benchmarks", "wording", "meaning")]
)
def test_a_run_is_the_same_as_its_baseline_in_every_measure_to_the_last_bit(page, frames_of, tmp_path):
    opened = frames_of(FULL[page]).runs
    baseline = open_baseline(save_baseline(opened, "same", tmp_path / "baseline"))
    kept, expected = list_measures(baseline), list_measures(opened)
    assert kept.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(kept[name], values)
    if expected:
        paired = pair_studies_of_two_run_sets(opened, baseline)
        assert not any("left out" in note for note in paired.notes)
        if page in ("stability", "scored"):  # of the same arrays, differences are made alike
            table = compare_paired_runs(paired, Chosen())
            assert (table["difference"] == 0).all() and (table["n_items_differing"] == 0).all()


@pytest.mark.parametrize("page", [page for page in FULL if page != "drift"])  # a check is of one time
def test_every_numeric_column_is_tested_or_refused_in_a_line_by_a_rule_of_a_check(page, frames_of, monkeypatch):
    """Those of every table, for these wordings; for wordings like these, of each table a column of each kind.

    Of the first row: tests/analysis/check has several.
    """
    frames, opened = frames_of(FULL[page]), frames_of(FULL[page]).runs
    monkeypatch.setattr(columns, "build_table", lambda table, part, **options: frames[table].head(1))
    # Rows are named once per table: names of another column differ in their first word only.
    name_rows = columns._name_rows_by_texts_and_options
    monkeypatch.setattr(columns, "_name_rows_by_texts_and_options", lambda frame, column: [column] * len(frame))
    for table in PAGES[page].tables if opened.select_protocols(PAGES[page].protocols) else ():
        frame, kinds = frames[table].head(2), set()
        assert len(name_rows(frame, "")) == len(frame)
        for column in frame.select_dtypes("number"):
            rule = Rule("", "", "number", f"{table}.{column}", at_least=0.3, wordings="these")
            try:
                outcomes = compute_outcomes_of_number_rule(rule, opened)
            except InputError:
                assert frame.empty or "source" in frame
                continue
            check_outcomes_at_limit(outcomes, 0.3)
            kind = {outcome.test for outcome in outcomes}, catalogue.look_up_column(table, column).digits is None
            if str(kind) in kinds:
                continue
            kinds.add(str(kind))
            with contextlib.suppress(InputError):  # nothing tells of other wordings
                outcomes = compute_outcomes_of_number_rule(replace(rule, wordings=LIKE_THESE), opened)
                check_outcomes_at_limit(outcomes, 0.3)


def check_outcomes_at_limit(outcomes, limit):
    """There is one at most, as there is one row; p values are such, and the shown interval says what they say."""
    assert len(outcomes) <= 1
    for outcome in outcomes:
        assert outcome.number == pytest.approx(outcome.number, nan_ok=True)
        assert np.isnan(outcome.p_broken) or 0 <= outcome.p_broken <= 1
        assert np.isnan(outcome.p_holds) or 0 <= outcome.p_holds <= 1
        if outcome.test != COUNTED and not np.isnan(outcome.p_broken):
            assert outcome.lower <= outcome.upper
            for p, is_beyond, end in (
                (outcome.p_broken, outcome.upper < limit, outcome.upper),
                (outcome.p_holds, outcome.lower > limit, outcome.lower),
            ):
                assert (p < 0.025) == is_beyond or end == pytest.approx(limit)


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_a_run_with_next_to_nothing_gives_the_declared_columns(page, table, frames_of):
    frame = frames_of(BARE[page])[table]
    assert in_declared_order(table, list(frame.columns))
    printable(table, frame)


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_a_table_without_rows_has_the_declared_columns(page, table, monkeypatch):
    monkeypatch.setattr(tables, "import_page_function", lambda page, path: lambda runs: pd.DataFrame())
    frame = tables.build_table(table, NO_RUNS)
    assert list(frame.columns) == [key for key in declared(table) if "*" not in key]
    printable(table, frame)


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_every_form_of_a_table_has_its_rows(page, table, frames_of):
    frame = frames_of(FULL[page])[table].head(5)
    csv, latex, markdown = map(printable(table, frame).__getitem__, ("csv", "latex", "markdown"))
    assert csv.startswith(",".join(frame.columns) + "\r\n")
    assert len(markdown.splitlines()) == len(frame) + 2
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == latex.count(r"\toprule") > 0
    for text in (latex, markdown):
        assert not re.search(r"(?<![a-z])nan(?![a-z])", text)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine (make test installs it)")
@pytest.mark.parametrize("width", POINTS)
def test_every_table_fits_where_it_is_set(width, frames_of, tmp_path):
    """No line is wider than the column, text or page of the document, in LaTeX's own measure.

    The first table of every page has as many rows as take several pages; of others, ten show the widths of columns.
    """
    parts = []
    for page, name in TABLES:
        most = 60 if name == next(iter(PAGES[page].tables)) else 10
        text = tables.render_table_in_text_format(name, frames_of(FULL[page])[name].head(most), "latex", width=width)
        assert "longtable}" not in text or width == "text", f"{name}: two columns can hold no longtable"
        parts.append(f"\\typeout{{Table: {name}}}\n{text}\\clearpage\n")
    items = [f"mmlu_college_computer_science/{'6cd9c6502447a6f3' * n}" for n in (1, 4, 9)]
    texts = ["Is A ∪ B ∈ Γ, or μ ≠ σ?", "<|im_start|>user_" * 9, "mmlu-high_school.statistics/0-shot " * 900]
    hostile = frames_of(FULL["stability"])["items"].head(3).assign(item=items, text=texts)
    parts.append(
        f"\\typeout{{Table: hostile}}\n{tables.render_table_in_text_format('items', hostile, 'latex', width=width)}"
    )
    encoding = "OT1" if width == "page" else "T1"  # names are set wider or narrower in either
    columns = "" if width == "text" else "\\usepackage[twoside=false,textwidth=455pt,columnsep=17pt]{geometry}\n"
    (tmp_path / "all.tex").write_text(
        f"\\documentclass[10pt{',twocolumn' if columns else ''}]{{article}}\n{columns}"
        f"\\usepackage[{encoding}]{{fontenc}}\n\\usepackage{{booktabs, longtable}}\n"
        f"\\begin{{document}}\n{''.join(parts)}\\end{{document}}\n",
        encoding="utf-8",
    )
    for _ in range(3):  # until the columns of the long tables have settled
        call = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
        if "Table widths have changed" not in done.stdout:
            break
    faults = r"Overfull \\[hv]box.*|LaTeX Warning: Float too large.*"
    names = [*(name for _, name in TABLES), "hostile"]
    assert re.findall(rf"Table: \w+|{faults}", done.stdout) == [f"Table: {name}" for name in names]


def printable(table: str, frame: pd.DataFrame) -> dict[str, str]:
    """Render a table in all forms; lines of JSON are the rows of JSON (test_tables.py).

    A table without rows is written as CSV and JSON from the names of its columns alone.
    """
    forms = ("latex", "markdown") if frame.empty else ("csv", "json", "latex", "markdown")
    texts = {form: tables.render_table_in_text_format(table, frame, form) for form in forms}
    assert all(texts.values())
    cells = grid.build_grid(
        table,
        frame,
        tables.list_shown_columns(table, frame),
        tables.list_compared_column_groups_with_rules(table, frame),
    )
    words = {"name": table, "title": "", "caption": "", "same": ""}
    page = render_template("table", **words, left_out=0, keys=1, ours=set(), open=False, saved=True, grid=cells)
    assert page.count("<tr>") == len(frame) + 1
    return texts


@pytest.mark.parametrize(("page", "table"), TABLES)
def test_what_is_said_about_a_column_is_about_a_column_of_the_table(page, table):
    """Hidden and optional columns, ends of intervals, errors and what is compared: all among the declared columns."""
    entry, known = catalogue.look_up_table(table), set(declared(table))
    ends = {f"{key}_{end}" for key in known for end in ("lower", "upper")} if tables.INTERVALS in entry.columns else ()
    with_others = [{key, *(others or ())} for key, others in [*entry.interval.items(), *entry.error.items()]]
    compared = [set(names.split()) for names, _ in entry.best]
    for named in (entry.hidden, entry.optional, *with_others, *compared):
        assert named <= known.union(ends)


@pytest.mark.parametrize("table", [name for _, name in TABLES])
def test_every_column_is_listed_with_its_meaning(table):
    for key in declared(table):
        for entry in (
            catalogue.look_up_column(table, key),
            catalogue.look_up_column(table, MADE_BY_RUNS.get(key, key)),
        ):
            assert entry.meaning and entry.header, key
    assert (
        tables.explain_tables([table]).count("\n") == len(catalogue.look_up_table(table).columns) + 3
    )  # title, caption, options


def found(page: str) -> dict[str, Column]:
    """What the columns of the tables of a page resolve to, by "table.column"."""
    return {
        f"{name}.{key}": catalogue.look_up_column(name, key) for name in PAGES[page].tables for key in declared(name)
    }


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_entry_that_no_table_of_it_uses(page):
    used = set(map(id, found(page).values()))
    assert [key for key, entry in PAGES[page].columns.items() if id(entry) not in used] == []
    names = [key for name in PAGES[page].tables for key in declared(name)]
    for pattern in PAGES[page].patterns:
        assert any(fnmatchcase(name, pattern) for name in names), pattern


@pytest.mark.parametrize("page", PAGES)
def test_a_page_repeats_neither_a_shared_entry_nor_its_own(page):
    columns = PAGES[page].columns
    for key, entry in columns.items():
        name = key.rpartition(".")[2]
        assert SHARED.get(name) != entry, key
        assert key == name or columns.get(name) != entry, key


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_entry_is_used_by_several_pages(name):
    users = [page for page in PAGES if any(entry is SHARED[name] for entry in found(page).values())]
    assert len(users) > 1, users


@pytest.mark.parametrize(("page", "figure"), FIGURES)
def test_a_figure_is_drawn_from_what_its_page_has_and_long_names_of_models_stand_whole(page, figure, frames_of):
    frames, entry = frames_of(FULL[page]), PAGES[page].figures[figure]
    if "." in entry.frames:
        assert callable(catalogue.import_page_function(page, entry.frames))
    else:
        assert set(entry.frames.split()) <= set(PAGES[page].tables)
    first, *_ = build_pictures(figure, frames)
    assert first.caption
    if figure == "transcript_items":  # it names no model, and its layout is constrained when it is written
        assert first.draw().axes
        return
    names = {name: f"{NAMES[place % 3]}{place}" for place, name in enumerate(sorted(frames.runs.models))}
    looks = plotting.assign_look_to_each_model(names.values())
    renamed = [rename_models(frame, names) for frame in first.draw.args]
    for width in plotting.WIDTHS.values():
        drawing = first.draw.func(*renamed, width=width, looks=looks)
        check_names(check_figure(drawing), names.values())


@pytest.mark.filterwarnings("ignore")  # of packages that only compare
@pytest.mark.parametrize("page", NOTEBOOKS_WITH_STEPS)
@pytest.mark.parametrize("runs", [FULL, BARE], ids=["full", "bare"])
def test_the_steps_of_a_notebook_give_the_numbers_of_its_tables(page, runs, frames_of):
    frames = frames_of(runs[page])
    said = execute_steps(page, frames.run, dict(frames.options), frames)
    assert said
    assert not [text for text in said if 'class="difference"' in text]


@pytest.mark.parametrize("page", ["stability", "wording", "scoring"])
def test_they_do_where_invalid_answers_count(page, frames_of):
    frames = frames_of(FULL[page])
    said = execute_steps(page, frames.run, frames.options | {"invalid": "inconsistent"})
    assert said
    assert not [text for text in said if 'class="difference"' in text]


@pytest.mark.parametrize("page", SILENT)  # all that have a verdict
@pytest.mark.parametrize("runs", [FULL, BARE], ids=["full", "bare"])
def test_first_screens_are_short(page, runs, page_of):
    check_first_screen(page, page_of(page, runs[page])._answer)


@pytest.mark.parametrize("runs", [FULL, BARE], ids=["full", "bare"])
@pytest.mark.parametrize("of", ["choice", "scoring"])
def test_the_first_screen_of_reliability_is_short_for_choices_and_scores(of, runs, page_of):
    check_first_screen("reliability", page_of("reliability", runs[of])._answer)


@pytest.mark.parametrize("page", PAGES)
def test_what_an_answer_says_about_a_figure_or_table_stands_with_it(page, page_of):
    """Each name in `details` is one that a cell of the page's notebook shows, or that its own parts ask for."""
    made = page_of(page, FULL[page])
    notebook = json.loads((FOLDER / f"{page}.ipynb").read_text(encoding="utf-8"))
    cells = "\n".join(line for cell in notebook["cells"] if cell["cell_type"] == "code" for line in cell["source"])
    parts = (PACKAGES / page / "page.py").read_text(encoding="utf-8")
    shown = {
        *re.findall(r'page\.(?:figure|table|section)\(\s*"(\w+)"', cells),
        *re.findall(r'instead="(\w+)"', cells),
        *re.findall(r'self\.pop_answer_sentences_as_html\("(\w+)"', parts),
    }
    assert set(made._details) <= shown


@pytest.mark.parametrize("page", ["wording", "scoring", "text_features"])
def test_captions_have_short_sentences_and_no_answer_names_a_column(page, frames_of, page_of):
    frames, entry = frames_of(FULL[page]), PAGES[page]
    captions = [picture.caption for name in entry.figures for picture in build_pictures(name, frames)]
    assert too_long(*captions, *(table.caption for table in entry.tables.values())) == []
    said = page_of(page, FULL[page])._answer
    assert code_names(said.setup, said.verdict, *(line for lines in said.details.values() for line in lines)) == []


def shown_by(page: str) -> type[Page]:
    """The class that makes the parts of a page."""
    import_module(f"analysis.pages.{page}.page")
    return next(made for made in Page.__subclasses__() if made.__module__ == f"analysis.pages.{page}.page")


def test_what_an_answer_says_about_something_that_is_not_shown_is_not_lost(tmp_path):
    folder, _ = BARE["stability"](tmp_path / "run")
    page = shown_by("stability")([str(folder)])
    page.render_answer_with_added_cautions(
        Answer("", "", details={"items": ("Items differ.",), "stability": ("Models differ.",)})
    )
    assert "Items differ." in page.table("items").text
    assert "Items differ." not in page.table("items").text
    foot = page.provenance().text
    assert "About “stability”, which this page does not show: Models differ." in foot
    assert "Items differ" not in foot
    with pytest.raises(AssertionError, match="details of 'stabillity', which there is not"):
        page.render_answer_with_added_cautions(Answer("", "", details={"stabillity": ("x",)}))


@pytest.mark.parametrize(("options", "words"), [
    ({"seed": -1}, "seed = -1: give a whole number from 0 on"),
    ({"seed": "one"}, "option seed: 'one' is not a whole number that can be used here, as in the default 0"),
    ({"resamples": None}, "option resamples: None is not a whole number"),
])  # fmt: skip
def test_an_odd_parameter_of_a_notebook_is_refused_in_a_line(tmp_path, options, words):
    """From Python, a page took a value as it was, and what came of it: a traceback of numpy."""
    folder, _ = BARE["stability"](tmp_path / "run")
    with pytest.raises(InputError, match=r"^table [a-z_]+: ") as raised:
        shown_by("stability")([str(folder)], **options).answer()
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_a_parameter_that_a_page_does_not_have_is_refused(tmp_path):
    """It was passed over in silence, and the page showed the same as without."""
    folder, _ = BARE["stability"](tmp_path / "run")
    with pytest.raises(
        InputError, match=r"^page stability has no option 'resample' \(the nearest is 'resamples'\); the"
    ):
        shown_by("stability")([str(folder)], resample=4)


def test_names_of_tables_and_figures_belong_to_one_page():
    for listed in ([name for _, name in TABLES], [name for _, name in FIGURES]):
        assert len(set(listed)) == len(listed)
    assert list(catalogue.list_tables()) == [name for _, name in TABLES]
    assert list(catalogue.list_figures()) == [name for _, name in FIGURES]


@pytest.mark.parametrize(
    ("columns", "said"),
    [({"dependents": 1}, "analysis/pages/text_features/catalogue.py: column 'dependents' of table 'vif' is computed"),
     ({"vif": None}, "analysis/pages/text_features/catalogue.py: column 'vif' of table 'vif' is declared, but")],
)  # fmt: skip
def test_a_column_too_many_or_too_few_is_named(columns, said, monkeypatch):
    row = {"condition": "c", "study": "s", "vif": 1.0, "model": "m", "term": "t"}
    right = pd.DataFrame([row])
    monkeypatch.setattr(tables, "import_page_function", lambda page, path: lambda runs: right)
    assert list(tables.build_table("vif", NO_RUNS).columns) == ["study", "model", "condition", "term", "vif"]
    wrong = {key: value for key, value in {**row, **columns}.items() if value is not None}
    monkeypatch.setattr(tables, "import_page_function", lambda page, path: lambda runs: pd.DataFrame([wrong]))
    with pytest.raises(MalformedPage, match=f"^{re.escape(said)}"):
        tables.build_table("vif", NO_RUNS)


def test_what_is_the_same_in_the_rows_shown_is_not_said_of_all(tmp_path):
    """Of 500 rows whose first 200 are alike, it said "the same in all 200 rows"."""
    page = StabilityPage(str(write_run(tmp_path / "run", random_frame(items=4).assign(agreement=0.5))))
    assert "the same in all 4 rows." in page.table("distribution").text
    assert "the same in 2 of 4 rows, the others are not shown." in page.table("distribution", most=2).text
    assert "The same in all these rows: " in page.table("items", most=2).text


def test_what_is_the_same_in_all_rows_ends_with_one_full_stop(tmp_path):
    rows = random_frame(["a", "b"], items=1).assign(text="So it is.").iloc[:-1]  # b has one paraphrase less
    page = StabilityPage(str(write_run(tmp_path / "run", rows)))
    assert "Text So it is. Full precision" in page.table("items").text
