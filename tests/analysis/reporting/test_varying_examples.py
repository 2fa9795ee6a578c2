"""Where the number of examples varied and not the wording, pages say so, by the rule of `shots`."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.compare.page import ComparePage
from analysis.pages.reliability.page import ReliabilityPage
from analysis.pages.scored.page import ScoredPage
from analysis.reporting.words.shots import describe_varying_example_counts
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import random_frame, write_run

SAID = "after 0 and 5 examples: the number of examples varied, not the wording."


def name_wordings(frame, *names):
    """Rows whose wordings have these names for all items."""
    wordings = {variant: names[place % len(names)] for place, variant in enumerate(frame["variant"].unique())}
    return frame.assign(attributes=[[("template", wordings[variant])] for variant in frame["variant"]])


def write_answers(path, *names, study="s"):
    """A run of two models, six items and a wording for every name."""
    frame = random_frame(["a", "b"], items=6, paraphrases=len(names) - 1)
    return write_run(path, name_wordings(frame, *names), study=study)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["5-shot", "0-shot"], f"The wordings are the same questions {SAID}"),
        (["0-shot", "10-shot", "5-shot"],
         "The wordings are the same questions after 0, 5 and 10 examples: the number of examples varied, not the "
         "wording."),
        (["0-shot", "unknown-shot"],
         "The wordings are the same questions after 0 and an unknown number of examples: the number of examples "
         "varied, not the wording."),
        (["0-shot", "5-shot/p1"], ""),
        (["p1", "p2"], ""),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_the_names_of_all_wordings_decide(names, said, opened):
    frame = name_wordings(random_frame(["a"], items=4, paraphrases=len(names) - 1), *names)
    assert describe_varying_example_counts(opened(frame)) == said


@pytest.mark.slow
def test_of_several_studies_those_are_named_whose_examples_varied(tmp_path):
    from analysis import runs

    write_answers(tmp_path / "one", "0-shot", "5-shot", study="one")
    write_answers(tmp_path / "two", "p1", "p2", study="two")
    assert (
        describe_varying_example_counts(runs.open_runs(tmp_path))
        == f"The wordings of “one” are the same questions {SAID}"
    )


@pytest.mark.slow
def test_first_screens_say_it(tmp_path):
    run = write_answers(tmp_path / "run", "0-shot", "5-shot")
    said = f' <span class="varied">The wordings are the same questions {SAID}</span></p>'
    assert said in ReliabilityPage([str(run)], resamples=0).answer().text
    assert SAID in ComparePage(str(run), str(run), models=("a", "b")).answer().text
    frame = draw_scores(["m"], items=8, wordings=2, measures=("F1",))
    scored = write_scored(tmp_path / "scored", name_wordings(frame, "0-shot", "5-shot"))
    assert SAID in ScoredPage([str(scored)], resamples=0).answer().text


@pytest.mark.slow
def test_first_screens_of_wordings_do_not(tmp_path):
    run = write_answers(tmp_path / "run", "p1", "p2")
    page = ReliabilityPage([str(run)], resamples=0)
    assert isinstance(page.frame("wording_precision"), pd.DataFrame)
    assert "examples" not in page.answer().text
