"""A first screen is short: at most 60 words before the figure, 30 in a sentence, three numbers in a verdict.

One more sentence stands there where somebody checked what the wordings mean. At most 30 words explain others before the
figure: XParaCon, “enough”, a reading.

Tried on models that do not answer, and on the demo where `make report` has asked it; by test_pages.py, which has their
tables, on a run that fills every table and on one with next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from analysis.reporting import catalogue
from analysis.reporting.catalogue import published_numbers
from analysis.reporting.output import notebooks
from helpers.first_screens import NUMBER, check_first_screen
from helpers.page_runs import SILENT, select_options_of_page
from helpers.part_runs import write_few_units
from helpers.text_features import hide

pytestmark = pytest.mark.slow

ROOT = Path(published_numbers.__file__).parents[3]
DEMO = ROOT / "results" / "demo"
NO_ANSWER = ("This model does not answer.", "These models do not answer.", "This model is not known to answer.",
             "No model is known to answer.", "At some look, these models do not answer.")  # fmt: skip


def answer(page, folder, options):
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, "pysentimiento", "spacy", "vaderSentiment")
        module = import_module(f"analysis.pages.{page}.page")
        made = next(value for name, value in vars(module).items() if name.endswith("Page") and name != "Page")
        shown = made([str(folder)], **select_options_of_page(page, options))
        shown.answer()
        return shown._answer


@pytest.mark.parametrize("page", SILENT)
def test_first_screens_of_models_that_do_not_answer_are_short(page, tmp_path):
    folder, options = SILENT[page](tmp_path / "run")
    said = answer(page, folder, options)
    check_first_screen(page, said)
    assert said.verdict in NO_ANSWER


@pytest.mark.parametrize("of", ["choice", "scoring"])
def test_the_first_screen_of_reliability_is_short_for_choices_and_scores_that_are_missing(of, tmp_path):
    said = answer("reliability", *SILENT[of](tmp_path / "run"))
    check_first_screen("reliability", said)
    assert said.verdict in NO_ANSWER


@pytest.mark.parametrize("page", [page for page in catalogue.map_page_names_to_catalogues() if page in SILENT])
def test_first_screens_of_the_demo_are_short(page, tmp_path):
    """Of four models, which have the longest names and all engines, at two temperatures: more are only counted."""
    asked = (
        name
        for name in sorted(catalogue.map_page_names_to_catalogues()[page].protocols)
        if (DEMO / name / "run.json").is_file()
    )
    protocol = next(asked, None)
    if protocol is None:
        pytest.skip("make report has not asked the demo")
    fewer = (
        {"resamples": 20}
        if "resamples" in notebooks.read_notebook_parameters(ROOT / "notebooks" / f"{page}.ipynb")
        else {}
    )
    few_units = write_few_units(DEMO / protocol, tmp_path / "run", 4, left_out_temperatures=(0.4, 1.3))
    check_first_screen(page, answer(page, few_units, fewer))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("58 % of the items (interval 45 to 70 %)", 3), ("with gpt-4 and llama-7b (chat/0-shot)", 0),
     ("−0.5 of 1,200", 2)],
)  # fmt: skip
def test_numbers_are_counted_without_names(text, numbers):
    assert len(NUMBER.findall(text)) == numbers
