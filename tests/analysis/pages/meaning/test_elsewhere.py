"""Pages about wordings say whether they stand on the same meaning where it was checked; else they are as before."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.measures.meaning_corrected import correct_flip_shares_for_check_errors
from analysis.measures.meaning_flips import tabulate_all_and_same_meaning_flips
from analysis.pages.meaning.page import MeaningPage
from analysis.reporting import catalogue
from analysis.reporting.words import meaning
from analysis.runs import open_runs
from helpers.choice_runs import answers, questions, write_choice
from helpers.meaning_runs import draw_meaning, write_meaning, write_meaning_run
from helpers.page_runs import SILENT
from helpers.scale_runs import draw_answers, write_scale
from helpers.synthetic import random_frame, write_run
from helpers.wording_runs import random_rows, write_wording

pytestmark = pytest.mark.slow

# A small run of a protocol of each page.
RUNS = {
    "stability": lambda path: write_run(path, random_frame(["a", "b"], items=6, paraphrases=6)),
    "wording": lambda path: write_wording(path, random_rows(["a", "b"], items=20)),
    "choice": lambda path: write_choice(path, answers(questions(12, 2), ["a", "b"])),
    "scales": lambda path: write_scale(path, draw_answers(["a", "b"], items=6, wordings=4)),
}
SECTION = ("meaning_flips", "How much of it is meaning?", "Of all wordings.")


def make(page, folder, out=None):
    module = import_module(f"analysis.pages.{page}.page")
    made = next(value for name, value in vars(module).items() if name.endswith("Page") and name != "Page")
    return made([str(folder)], out, resamples=20)


def check_wordings(folder):
    """Write what checks and people would say, were every fifth wording of another meaning."""
    stimuli = pq.read_table(folder / "stimuli.parquet").to_pandas()
    wordings = stimuli[stimuli["pattern"] != "original"][["item", "variant", "text"]].reset_index(drop=True)
    write_meaning(folder, draw_meaning(wordings.assign(same=np.arange(len(wordings)) % 5 > 0)))


@pytest.mark.parametrize("page", RUNS)
def test_a_page_says_whether_it_stands_on_the_same_meaning(page, tmp_path):
    folder = RUNS[page](tmp_path / "run")
    check_wordings(folder)
    after = make(page, folder, tmp_path / "out")
    shown = after.answer().text
    flips = tabulate_all_and_same_meaning_flips(after.runs)
    rows = meaning.join_flip_shares_with_same_meaning(
        flips[~(flips["validity"] < 0.5)], correct_flip_shares_for_check_errors(after.runs)
    )
    assert len(rows) and set(flips["wordings"]) == {"all", "same"}
    assert after._answer.support == meaning.describe_same_meaning_support_for_wordings(after.runs) != ""
    assert meaning.AMONG in after._answer.support
    without = shown.replace(f'<p class="support">{after._answer.support.replace(" %", "&nbsp;%")}</p>\n', "")
    assert without != shown and "support" not in without
    section = after.borrow_section(*SECTION).text
    assert "<h2" in section and "How much of it is meaning?" in section
    assert "tables/meaning_flips.csv" in section and "href" not in section.partition("Full precision")[2]
    assert not (tmp_path / "out" / "tables" / "meaning_flips.csv").exists()  # its own page writes it


def test_a_page_without_a_check_is_as_ever(tmp_path):
    """On the smallest of them: all ask one function for their sentence and for the section."""
    before = make("scales", folder := RUNS["scales"](tmp_path / "run"))
    first = before.answer().text
    assert "support" not in first and before._answer.support == ""
    assert before.borrow_section(*SECTION).text == "<!-- meaning_flips: no rows -->"
    check_wordings(folder)
    after = make("scales", folder)
    shown = after.answer().text
    assert shown.replace(f'<p class="support">{after._answer.support.replace(" %", "&nbsp;%")}</p>\n', "") == first


def test_a_notebook_of_every_such_page_has_the_section():
    for page in RUNS:
        text = (catalogue.PAGES.parents[1] / "notebooks" / f"{page}.ipynb").read_text(encoding="utf-8")
        assert "page.borrow_section(" in text and "How much of it is meaning?" in text


def test_without_a_check_that_is_used_pages_say_that_nothing_is_known(tmp_path):
    folder = RUNS["stability"](tmp_path / "run")
    stimuli = pq.read_table(folder / "stimuli.parquet").to_pandas()
    wordings = stimuli[stimuli["pattern"] != "original"][["item", "variant", "text"]].reset_index(drop=True)
    write_meaning(folder, draw_meaning(wordings.assign(same=True), shifts={"words": 0.0}, sheet=0))
    page = make("stability", folder)
    page.answer()
    assert page._answer.support == meaning.NO_CHECK_ELSEWHERE


def test_of_several_studies_the_one_that_was_checked_is_named(tmp_path):
    for study in ("checked", "other"):
        write_meaning_run(tmp_path / study, study=study, items=6, paraphrases=8)
    (tmp_path / "other" / "meaning.parquet").unlink()
    both = open_runs(tmp_path / "checked", tmp_path / "other")
    assert "he share of changed answers in “checked” " in meaning.describe_same_meaning_support_for_wordings(both)
    alone = meaning.describe_same_meaning_support_for_wordings(open_runs(tmp_path / "checked"))
    assert "he share of changed answers" in alone and "“" not in alone


def test_the_page_itself_speaks_of_checked_studies_only(tmp_path):
    for study in ("checked", "other"):
        write_meaning_run(tmp_path / study, ["m", "n"] if study == "other" else ["m"], study=study)
    (tmp_path / "other" / "meaning.parquet").unlink()
    page = MeaningPage([str(tmp_path / study) for study in ("checked", "other")], None, resamples=20)
    page.answer()
    assert list(page.runs.info["studies"]) == ["checked"] and page._answer.setup.startswith("1 model answered")


def test_where_no_wording_means_the_same_that_is_said(tmp_path):
    folder = RUNS["stability"](tmp_path / "run")
    stimuli = pq.read_table(folder / "stimuli.parquet").to_pandas()
    wordings = stimuli[stimuli["pattern"] != "original"][["item", "variant", "text"]].reset_index(drop=True)
    write_meaning(folder, wordings.assign(check="people:ann", score=0.0))
    page = make("stability", folder)
    page.answer()
    assert page._answer.support == meaning.NOTHING


def test_silent_models_are_no_support(tmp_path):
    folder, _ = SILENT["meaning"](tmp_path / "run")
    page = make("stability", folder)
    assert meaning.describe_same_meaning_support_for_wordings(page.runs) == ""
    assert isinstance(pd.DataFrame(tabulate_all_and_same_meaning_flips(page.runs)), pd.DataFrame)
