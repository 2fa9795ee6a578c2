"""The sentences of the page on prompts, from hand-made tables."""

from __future__ import annotations

import pandas as pd

from analysis.pages.transcripts.narrative import answer_page_question


def test_prompts_of_two_studies_that_are_not_known_are_told_with_their_study():
    items = pd.DataFrame({"study": ["s", "t"], "item": "i", "shown": "first", "measure": "", "transcript_value": 0.5})
    prompts = pd.DataFrame({"study": ["s", "t"], "condition": "plain", "unknown": ["", "the form was not kept"]})
    units = pd.DataFrame({"study": ["s", "t"], "model": "m", "condition": "plain"})
    (caution,) = answer_page_question(items, prompts, units).cautions
    assert caution == "The rest of the prompts of plain of “t”, if any, is not known. The form was not kept."
    (caution,) = answer_page_question(items, prompts.assign(unknown="the form was not kept"), units).cautions
    assert caution.startswith("The rest of the prompts of plain, if any,")
