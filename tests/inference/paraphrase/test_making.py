"""Making paraphrases: from calls to items, resumed after a kill, refused under other settings."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError, RunFailed
from helpers.commands import ROOT
from helpers.paraphrase_writer import Writer, made, writer
from helpers.trivial_engine import shown
from inference.__main__ import main
from inference.asking.models import Model
from inference.paraphrase import questions
from inference.paraphrase.choosing import DUPLICATE, MEANING, ORIGINAL, SURPLUS, choose_paraphrases
from inference.paraphrase.questions import Calls, build_study_of_originals_to_paraphrase, read_paraphrase_prompts
from inference.stimuli import items
from inference.stimuli.study import Variant

pytestmark = pytest.mark.slow

TEA = Variant("tea", "original", "original", "Tea is good.", ())
ITEMS = [{"item": f"i{n}", "text": f"Thing {n} is =good.", "language": "en", "gold": "agree",
          "attributes": {"theme": "things", "match_proportion": "0.93"}, "paraphrases": ["An old one."]}
         for n in range(5)]  # fmt: skip


@pytest.fixture
def given(tmp_path):
    (tmp_path / "items.json").write_text(json.dumps(ITEMS), encoding="utf-8")
    return items.read_and_check_items(str(tmp_path / "items.json"))


def contents(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}


# choosing


def test_every_wording_once_and_the_original_never():
    answers = {1: "1. Tea is fine.\n2. TEA, is good\n3. tea is fine", 2: "1. Tea is fine!\n2. Tea is nice."}
    choice = choose_paraphrases(TEA, answers, n_kept=10, seed=0)
    assert [(w.text, w.call) for w in choice.kept_wordings] == [("Tea is fine.", 1), ("Tea is nice.", 2)]
    assert [w.reason for w in choice.wordings] == [None, ORIGINAL, DUPLICATE, DUPLICATE, None]
    assert (choice.calls, choice.n_dropped_by_reason[DUPLICATE], choice.n_dropped_by_reason[ORIGINAL]) == (2, 2, 1)


def test_the_sample_depends_on_seed_and_item_only_and_keeps_the_order():
    answers = {1: "\n".join(f"{n}. Wording {n}." for n in range(1, 101))}
    one = choose_paraphrases(TEA, answers, n_kept=20, seed=1)
    texts = [w.text for w in one.kept_wordings]
    assert len(texts) == 20 and one.n_dropped_by_reason[SURPLUS] == 80
    assert texts == sorted(texts, key=lambda text: int(text.split()[1].rstrip(".")))
    assert texts == [w.text for w in choose_paraphrases(TEA, answers, n_kept=20, seed=1).kept_wordings]
    assert texts != [w.text for w in choose_paraphrases(TEA, answers, n_kept=20, seed=2).kept_wordings]
    assert texts != [
        w.text for w in choose_paraphrases(replace(TEA, item="coffee"), answers, n_kept=20, seed=1).kept_wordings
    ]


def test_refused_calls_are_those_without_anything_else():
    answers = {1: "I can't help with that.", 2: "1. Tea is fine.\n2. I can't help with that.\n3. Tea.", 3: ""}
    assert choose_paraphrases(TEA, answers, n_kept=5, seed=0).n_refused_calls == 1


def test_the_threshold_drops_what_is_less_similar_and_nothing_at_it():
    likeness = {"Tea is fine.": 0.8, "Tea is bad.": 0.5, "Coffee.": 0.499}
    answers = {1: "\n".join(f"{n}. {text}" for n, text in enumerate(likeness, start=1))}

    def similarity(original, wordings):
        assert original == TEA.text
        return [likeness[wording] for wording in wordings]

    choice = choose_paraphrases(TEA, answers, n_kept=5, seed=0, measure_similarities=similarity, threshold=0.5)
    assert [(w.text, w.similarity) for w in choice.kept_wordings] == [("Tea is fine.", 0.8), ("Tea is bad.", 0.5)]
    assert choice.n_dropped_by_reason[MEANING] == 1
    assert len(choose_paraphrases(TEA, answers, n_kept=5, seed=0, measure_similarities=similarity).kept_wordings) == 3


# the folder


def test_the_items_are_ready_to_run(tmp_path, given, capsys):
    choices = made(tmp_path / "out", given)
    back = items.read_and_check_items(str(tmp_path / "out" / "items.jsonl"))
    assert [(item.item, len(item.paraphrases)) for item in back] == [
        (c.original.item, len(c.kept_wordings)) for c in choices
    ]
    first = back[0].paraphrases[0]
    assert (first.variant, first.pattern, first.language, first.gold) == ("paraphrase-001", "paraphrase", "en", "agree")
    # A match proportion belongs to the paraphrases that it was found for.
    assert first.attributes == {"theme": "things", "source": "writer"}
    assert back[0].original.attributes == {"theme": "things"}
    assert all(wording.text != "An old one." for wording in back[0].paraphrases)
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    for counts, choice in zip(report["items"], choices, strict=True):
        assert counts["kept"] == len(choice.kept_wordings) <= 30
        dropped = sum(value for name, value in counts.items() if name not in ("item", "calls", "refused_calls", "kept"))
        assert dropped + counts["kept"] == len(choice.wordings)
    assert "fewer than 30" not in capsys.readouterr().err


def test_short_counts_are_listed_with_their_reasons(tmp_path, given, capsys):
    choices = made(tmp_path / "out", given, keep=51)
    shown_ = capsys.readouterr().err
    assert "5 of 5 items have fewer than 51 paraphrases" in shown_
    line = next(line for line in shown_.splitlines() if line.strip().startswith("i3 "))
    assert line.split()[-1] == str(len(choices[3].kept_wordings)) and line.split()[1] == "6"


def test_cells_are_safe_to_open_in_a_spreadsheet(tmp_path, given):
    made(tmp_path / "out", given)
    with (tmp_path / "out" / "dropped.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [row["text"] for row in rows if row["reason"] == "duplicate"]
    assert texts and all(text.startswith("'=Wording") for text in texts)


def test_the_raw_calls_are_kept_and_asked_once(tmp_path, given):
    seen = []
    made(tmp_path / "out", given, load=writer(before_batch=seen.append))
    assert len(seen) == 3  # five items, two a batch
    before = contents(tmp_path / "out")
    made(tmp_path / "out", given, load=writer(before_batch=seen.append))
    assert len(seen) == 3 and contents(tmp_path / "out") == before
    parts = sorted((tmp_path / "out" / "calls" / "responses").glob("*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    assert sorted(row["item"] for row in rows) == [f"i{n}" for n in range(5)]
    assert all(len(row["output"]) == 6 and row["output"][0].startswith(("Sure:\n", "I'm sorry")) for row in rows)


KILLED = """
import os, sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from helpers.paraphrase_writer import made, writer
from inference.asking import session
from inference.stimuli import items
session.FIRST_FLUSH = session.LAST_FLUSH = 0.0
def before(number):
    with open({log!r}, "a") as log: log.write("x")
    if number == 2: os._exit(9)
made(Path({out!r}), items.read_and_check_items({items!r}), load=writer(before_batch=before))
"""


def test_killed_and_started_again_it_ends_the_same(tmp_path, given):
    script = KILLED.format(tests=str(ROOT / "tests"), root=str(ROOT), log=str(tmp_path / "log"),
                           out=str(tmp_path / "killed"), items=str(tmp_path / "items.json"))  # fmt: skip
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 9, done.stderr
    assert (tmp_path / "log").read_text() == "xxx" and not (tmp_path / "killed" / "items.jsonl").exists()
    seen = []
    made(tmp_path / "killed", given, load=writer(before_batch=seen.append))
    assert len(seen) == 1  # of three batches, two were there
    made(tmp_path / "whole", given)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_calls_that_failed_are_named_and_asked_again(tmp_path, given):
    with pytest.raises(RunFailed, match=r"1 of 5 items got no answer \(such as 'i2'\)"):
        made(tmp_path / "out", given, load=writer(fails=lambda text: "Thing 2" in text))
    assert len(items.read_and_check_items(str(tmp_path / "out" / "items.jsonl"))[2].paraphrases) == 0
    made(tmp_path / "out", given)
    made(tmp_path / "whole", given)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"calls": 7}, "samples was 6, now 7"),
        ({"per_call": 10}, "per_call was 20, now 10"),
        ({"seed": 5}, "--seed 0, not 5"),
        ({"keep": 20}, "keep was 30, now 20"),
        ({"meaning_check": "a-model"}, "meaning_check was None, now a-model"),
        ({"model": Model("other", "other")}, "begun with model writer, not other"),
    ],
)
def test_other_settings_are_refused_under_the_same_folder(tmp_path, given, change, message):
    made(tmp_path / "out", given)
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match=message):
        made(tmp_path / "out", given, **change)
    assert contents(tmp_path / "out") == before


def test_other_items_and_other_folders_are_refused(tmp_path, given):
    made(tmp_path / "out", given)
    with pytest.raises(InputError, match="the study has changed"):
        made(tmp_path / "out", given[:3])
    with pytest.raises(InputError, match="not a folder of paraphrases"):
        made(tmp_path, given)


def test_without_its_report_a_folder_is_chosen_from_anew(tmp_path, given):
    made(tmp_path / "out", given)
    (tmp_path / "out" / "report.json").unlink()
    seen = []
    assert all(
        len(c.kept_wordings) == 10
        for c in made(tmp_path / "out", given, keep=10, load=writer(before_batch=seen.append))
    )
    assert seen == []


def test_a_disk_that_is_full_costs_no_call(tmp_path, given, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("ground.spreadsheet.write_spreadsheet_csv", full)
        with pytest.raises(RunFailed, match=r"No space left.*the calls are kept"):
            made(tmp_path / "out", given)
    seen = []
    made(tmp_path / "out", given, load=writer(before_batch=seen.append))
    assert seen == []


@pytest.mark.parametrize("damage", ["{", "[]", '"x"'])
def test_a_damaged_report_is_named(tmp_path, given, damage):
    made(tmp_path / "out", given)
    (tmp_path / "out" / "report.json").write_text(damage)
    with pytest.raises(InputError, match=r"report\.json: damaged"):
        made(tmp_path / "out", given)


def test_an_item_without_an_original_is_refused(given):
    lonely = replace(given[1], variants=given[1].paraphrases)
    with pytest.raises(InputError, match=r"items\.json, item 'i1': there is no original"):
        build_study_of_originals_to_paraphrase((given[0], lonely), "items", "items.json")


# prompts


def test_our_prompt_shows_text_and_number_in_both_forms():
    for form in ("chat", "plain"):
        prompt = read_paraphrase_prompts().render(form, {"text": "Tea is {{ good }}.", "number": 7})
        assert "Tea is {{ good }}." in shown(prompt) and " 7 " in shown(prompt)


def test_a_prompt_of_ones_own(tmp_path, given):
    own = tmp_path / "own.yaml"
    own.write_text("plain:\n  template: 'Say {{ text }} in {{ number }} ways'\n")
    assert shown(read_paraphrase_prompts(own).render("plain", {"text": "tea", "number": 3})) == "Say tea in 3 ways"
    made(tmp_path / "out", given)
    with pytest.raises(InputError, match="prompt was None, now own"):
        made(tmp_path / "out", given, book=read_paraphrase_prompts(own))
    with pytest.raises(InputError, match="no form 'chat', only plain"):
        made(tmp_path / "chat", given, book=read_paraphrase_prompts(own), load=lambda model, seed: Writer(form="chat"))


def test_a_model_that_writes_no_text_is_refused(tmp_path, given):
    with pytest.raises(InputError, match="writes no text"):
        made(tmp_path / "out", given, load=lambda model, seed: Writer(form="cloze"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("plain: {template: 'no text'}", "never uses {{ text }}"),
        ("plain: {template: '{{ text }} {{ key }}'}", "unknown variable 'key'"),
        ("plain: {template: '{{ text'}", "template syntax"),
        ("plain: {template: '{{ text.__class__.mro() }}'}", "the template fails: SecurityError"),
        ("plain: {template: '{{ text }}', answers: {}}", "form plain: expected template, and nothing else"),
        ("cloze: {template: '{{ text }}'}", "expected the forms plain, chat (any of them)"),
        ("chat: {messages: [{role: judge, content: '{{ text }}'}]}", "message 1"),
        ("other: {}", "expected the forms"),
        ("plain: {template: 5}", "template must be text"),
        ("plain: [", "line 1: malformed YAML"),
    ],
)
def test_a_wrong_prompt_file_is_named(tmp_path, content, message):
    (tmp_path / "own.yaml").write_text(content)
    with pytest.raises(InputError, match=r"own\.yaml") as raised:
        read_paraphrase_prompts(tmp_path / "own.yaml")
    assert message in str(raised.value)


# the command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "demo"], "a folder has one source"),
        (["--model", "./nowhere"], "no such folder"),
        (["--model", "m", "--meaning-threshold", "0.5"], "goes with --meaning-check"),
        (["--model", "m", "--meaning-check", ""], "--meaning-check: is empty"),
        (["--model", "m", "--calls", "0"], "not a whole number from 1"),
        (["--model", "m", "--meaning-threshold", "2"], "--meaning-threshold: 2 is not a number from -1 to 1"),
        (["--model", "m", "--meaning-threshold", "0.8_5"], "0.8_5 is not a number from -1 to 1"),
        (["--model", "a|b=m"], "without '|'"),
        (["--model", "m", "--prompt", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
    ],
)
def test_a_wrong_call_is_answered_in_one_line(tmp_path, given, capsys, arguments, message):
    call = ["paraphrase", "make", "--items", str(tmp_path / "items.json"), "--out", str(tmp_path / "out"), *arguments]
    try:
        status = main(call)
    except SystemExit as stopped:
        status = stopped.code
    shown_ = capsys.readouterr().err
    assert status == 2 and message in shown_ and shown_.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_real_model_writes(tmp_path, given, capsys):
    """Random weights write no sentences, but whatever they write goes through the whole command, twice the same."""
    from inference.engines.local.causal import CausalEngine

    if not hasattr(CausalEngine, "generate"):
        pytest.skip("engine causal does not generate yet")
    from helpers import tiny_models

    tiny_models.checkpoint(tmp_path / "tiny", "gpt2")
    for out in ("one", "two"):
        call = ["paraphrase", "make", "--items", str(tmp_path / "items.json"), "--model", str(tmp_path / "tiny"),
                "--calls", "3", "--per-call", "2", "--max-tokens", "24", "--keep", "2", "--seed", "4",
                "--out", str(tmp_path / out)]  # fmt: skip
        assert main(call) == 0, capsys.readouterr().err
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    written = items.read_and_check_items(str(tmp_path / "one" / "items.jsonl"))
    assert [item.item for item in written] == [item.item for item in given]
    assert {variant.attributes["source"] for item in written for variant in item.paraphrases} == {"tiny"}
    rows = pq.read_table(next((tmp_path / "one" / "calls" / "responses").glob("*.parquet"))).to_pylist()
    assert {len(row["output"]) for row in rows} == {3} and len({text for row in rows for text in row["output"]}) > 3


def test_the_condition_says_how_it_was_asked():
    fields = Calls(read_paraphrase_prompts(), 30, 20, 1000).rounds("chat")[0].conditions[0].fields
    assert {"samples": 30, "per_call": 20, "temperature": 1.0, "max_tokens": 1000}.items() <= fields.items()
    assert questions.TEMPERATURE == 1.0
