"""The command line of the protocol `choice`: what `prepare` makes of a call, and what a run holds."""

from __future__ import annotations

import json

import pytest

from analysis import runs
from analysis.pages.transcripts import tables as transcripts
from ground.errors import InputError
from helpers.commands import ROOT
from helpers.questions import options, row, write
from inference.__main__ import main
from inference.protocols import choice
from inference.stimuli.questions import MATH

SMALL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-small")


class TestCommandLine:
    """What `prepare` makes of a call, and what `run choice` writes."""

    def test_questions_without_paraphrases_are_asked_and_told_in_one_line(self, tmp_path, capsys):
        file = write(tmp_path, row(), row(item="other"))
        study, asked = choice.prepare_study(options("--items", file, "--orders", "3"))
        (told,) = capsys.readouterr().err.splitlines()
        assert "2 questions, 6 prompts" in told and "no paraphrases: asked in one wording only" in told
        assert (study.name, study.protocol, asked.ways, study.building) == ("mcq", "choice", ("letters",), ())

    def test_a_split_is_asked_alone(self, tmp_path):
        file = write(tmp_path, *(row(item=name, split=name) for name in ("train", "validation", "test")))
        for given in (("test",), ("train", "validation")):
            study, _ = choice.prepare_study(options("--items", file, "--split", *given))
            assert [item.item for item in study.items] == list(given)
        with pytest.raises(InputError, match=r"--split test: no question of .* is in this split; it has none at all"):
            choice.prepare_study(options("--items", write(tmp_path, row()), "--split", "test"))

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (("--prompt-kind", "aware"), "--prompt-kind aware: .* --answer text"),
            (("--prompt-kind", "base", "aware", "--answer", "text", "letters"), "--prompt-kind aware"),
            (("--temperature", "1"), "--temperature is about generated texts"),
            (("--format", "answer-first"), "--format is about generated texts"),
            (("--reading", "strict"), "--reading is about generated texts"),
            (("--max-tokens", "9", "--answer", "texts"), "--max-tokens is about generated texts"),
            (("--answer", "text", "--samples", "3"), "--samples is for temperatures above 0"),
        ],
    )  # fmt: skip
    def test_wrong_calls_are_refused(self, given, words):
        with pytest.raises(InputError, match=words):
            choice.prepare_study(options("--items", "demo", *given))

    @pytest.mark.slow
    def test_the_numbers_of_the_building_stand_in_the_run(self, tmp_path):
        file = write(tmp_path, row(item="a"))
        (tmp_path / "mcq.building.csv").write_text(
            "step,source,count,reason\nread,ARC,20,\nfilter,ARC,3,no question mark\n"
        )
        main(["run", "choice", "--items", file, "--model", SMALL, "--out", str(tmp_path / "run"), "--orders", "2"])
        assert json.loads((tmp_path / "run" / "run.json").read_text())["study"]["building"] == [
            {"step": "read", "source": "ARC", "count": 20, "reason": None},
            {"step": "filter", "source": "ARC", "count": 3, "reason": "no question mark"},
        ]

    @pytest.mark.parametrize(
        ("text", "words"),
        [("step,source,count,reason\nread,ARC,many,\n", "row 2: count must be"), ("step,count\nread,1\n", "column"),
         ("step,source,count,reason\nread,ARC,-1,\n", "row 2: count must be"),
         ("step,source,count,reason\n,ARC,1,\n", "row 2: there is no step")],
    )  # fmt: skip
    def test_damaged_numbers_of_the_building_are_refused(self, tmp_path, text, words):
        (tmp_path / "mcq.building.csv").write_text(text)
        with pytest.raises(InputError, match=f"mcq.building.csv.*{words}"):
            choice.prepare_study(options("--items", write(tmp_path, row())))

    @pytest.mark.slow
    def test_a_run_of_all_ways_has_a_row_for_every_prompt(self, tmp_path):
        file = write(tmp_path, row(item="a", paraphrases=["Grass is what?"]), row(item="b", paraphrases=["Is?"]))
        call = ["run", "choice", "--items", file, "--model", SMALL, "--out", str(tmp_path / "run"), "--max-tokens", "4"]
        assert main([*call, "--answer", "letters", "texts", "text"]) == 0
        opened = runs.open_runs(tmp_path / "run")
        found = opened.sql("SELECT * FROM responses")
        assert found.groupby("condition").size().to_dict() == dict.fromkeys(
            ("plain/base/letters", "plain/base/texts", "plain/base/text"), 4 * 8
        )
        assert found.error.isna().all()
        recorded = json.loads((tmp_path / "run" / "run.json").read_text())["asked"]
        for condition, end in (("letters", "\nAnswer:"), ("texts", "\nAnswer in words:"), ("text", "\nAnswer:")):
            (entry,) = recorded[f"plain/base/{condition}"]
            assert entry["wordings"][0]["content"] == [
                "Question: ", {"column": "text"}, "\n", {"column": "attributes.choices"}, end,
            ]  # fmt: skip
        shown_there = transcripts.tabulate_transcript_prompts(opened)
        assert set(shown_there["unknown"].fillna("")) == {""}  # all prompts are known to the letter
        assert set(shown_there["condition"]) == set(recorded)
        first = shown_there[shown_there["condition"] == "plain/base/letters"].iloc[0]["prompt"]
        assert first.startswith("Question: What colour is grass?\nA. ") and first.endswith("\nAnswer:")

    @pytest.mark.slow
    def test_where_math_and_other_questions_are_mixed_a_prompt_that_differs_is_not_told_as_known(self, tmp_path):
        file = write(tmp_path, row(item="a"), row(item="b", subset=MATH))
        call = ["run", "choice", "--items", file, "--model", SMALL, "--out", str(tmp_path / "run"), "--answer", "text"]
        assert main([*call, "--max-tokens", "4", "--orders", "2"]) == 0
        (entry,) = json.loads((tmp_path / "run" / "run.json").read_text())["asked"]["plain/base/text"]
        assert entry["wordings"] is None and "alike" in entry["inexact"]
