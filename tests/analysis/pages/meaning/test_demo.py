"""The sentence of the page on the demo study is right, with the ten planted false paraphrases and without them."""

from __future__ import annotations

import pytest

import waver
from analysis.measures.meaning_corrected import correct_flip_shares_for_check_errors
from analysis.pages.meaning.page import MeaningPage
from analysis.reporting.words import meaning
from analysis.reporting.words.meaning import HARDLY, PART, STAND
from helpers import commands
from inference.demo import DEMO, ENTAILERS, MODELS
from inference.stimuli.items import DEMO_MEANING

pytestmark = pytest.mark.slow
pytest.importorskip("torch")
pytest.importorskip("transformers")

NAMES = ("waver-demo-bert", "waver-demo-medium-tuned")
WITHOUT = "planted IS NULL"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models asked as in `make report`, and checked by the model made for it and two people."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    models = [MODELS / name for name in NAMES]
    commands.waver("inference", "run", "agreement", "--items", DEMO_MEANING, "--model", *models, "--out", folder)
    (entailer,) = ENTAILERS.values()
    sheets = [f"{name}={DEMO / f'sheet-{name}.csv'}" for name in ("careful", "careless")]
    commands.waver("inference", "meaning", folder, "--check", f"entailment={entailer.path}",
                   "--decoys-file", DEMO / "decoys.csv", "--sheet", *sheets)  # fmt: skip
    return folder


def judge_page(run):
    """The first sentences of the page, and by model: share of changed answers of all wordings, and the word."""
    page = MeaningPage(run, None, resamples=500)
    page.answer()
    rows = meaning.join_flip_shares_with_same_meaning(
        page.frame("meaning_flips"), correct_flip_shares_for_check_errors(page.runs)
    )
    words = dict(zip(rows["model"], meaning.choose_meaning_support_words(rows), strict=True))
    said = page._answer.verdict
    assert said.startswith(meaning.describe_support_by_same_meaning(list(words.values()), rows, "The result"))
    return said, dict(zip(rows["model"], rows["flip"], strict=True)), words


def test_the_sentence_is_right_with_and_without_planted_paraphrases(folder):
    run = waver.open(folder)
    said, shares, words = judge_page(run)
    said_without, shares_without, words_without = judge_page(run.where(WITHOUT))
    kept = {name: shares_without[name] / shares[name] for name in NAMES}
    limits = {STAND: lambda part: part >= 0.8, PART: lambda part: part < 1, HARDLY: lambda part: part < 0.5}
    for name in NAMES:
        assert words[name] == "" or limits[words[name]](kept[name]), (name, words, kept)
        assert words_without[name] in {STAND, ""}
    assert STAND in words.values() and STAND in words_without.values()
    # Bert changes its answer with planted ones most: their part is seen with them, and gone without.
    assert words["waver-demo-bert"] == PART
    assert "in part" in said and "in part" not in said_without

    said_same, _, words_same = judge_page(run.where("meaning = 'same'"))
    assert set(words_same.values()) == {STAND}
    assert said_same.startswith("The result stands on wordings judged to mean the same: there are no others here. ")
