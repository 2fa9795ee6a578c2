"""`waver meaning` as a whole: runs and items, people, verdicts, what stays of earlier calls, and what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis import runs
from ground.errors import InputError
from helpers.meaning_checks import (
    FALSE,
    STATEMENTS,
    TellingModel,
    call_meaning,
    rows_of,
    same_item,
    write_statements,
)
from helpers.trivial_engine import loader
from inference.__main__ import main
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.meaning import verdicts
from inference.protocols import agreement
from inference.stimuli import items

SAYS = "entailment=m=owner/m"
PARAPHRASES = [(item, text) for item, texts in STATEMENTS.items() for text in texts[1:]]


def load(model, seed):
    return TellingModel(same_item)


def write_sheet(path: Path, says=lambda item, text: text != FALSE, rows=PARAPHRASES) -> Path:
    """A filled sheet."""
    lines = [f'{item},"{text}",{"yes" if says(item, text) else "no"}' for item, text in rows]
    path.write_text("\n".join(["item,paraphrase,match", *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture
def source(tmp_path):
    return write_statements(tmp_path / "items.csv")


def write_run(folder: Path, source: Path) -> Path:
    """A run of these statements."""
    study = agreement.build_agreement_study(items.read_and_check_items(str(source)), "tea-study", "made up")
    questions = agreement.Questions(agreement.read_agreement_prompts())
    task = Task(study, [Model("m", "m")], questions, Settings(form="plain"), str(folder))
    ask_tasks_and_list_tallies([task], load=loader())
    return folder


def about_of(file: Path) -> dict:
    return json.loads(pq.read_schema(file).metadata[b"waver"])


@pytest.mark.slow
def test_of_a_run_it_lies_beside_it_and_the_run_stays_readable(tmp_path, source, capsys):
    run = write_run(tmp_path / "run", source)
    before = (run / "run.json").read_bytes()
    call_meaning(run, "--check", "words", SAYS, load=load)
    rows = rows_of(run / "meaning.parquet", "entailment:m")
    assert {row["study"] for row in rows.values()} == {"tea-study"}
    assert about_of(run / "meaning.parquet")["study_hash"] == json.loads(before)["study"]["hash"]
    assert (run / "run.json").read_bytes() == before and not (run / "items.jsonl").exists()
    assert runs.open_runs(run).info["models"]  # the run folder with its new folder is one run
    assert runs.open_runs(tmp_path).info["models"]
    out = capsys.readouterr().out
    assert "words: AUC" in out and "entailment:m: AUC" in out and "used, the best" in out
    assert "21 wordings: 20 same, 0 unclear, 1 another; by entailment:m" in out


def test_columns_and_types_are_those_of_the_schema(tmp_path, source):
    from inference.runfolder.parquet import read_arrow_schema_of_table

    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    assert pq.read_schema(tmp_path / "out" / "meaning.parquet").equals(read_arrow_schema_of_table("meaning"))


@pytest.mark.slow
def test_items_get_the_verdict_as_an_attribute_and_drop_leaves_others_out(tmp_path, source):
    call_meaning(source, "--check", SAYS, "--out", tmp_path / "out", load=load)
    read = {
        v.key: v for item in items.read_and_check_items(str(tmp_path / "out" / "items.jsonl")) for v in item.variants
    }
    meanings = {variant.text: variant.attributes.get("meaning") for variant in read.values()}
    assert meanings[FALSE] == "another" and meanings[STATEMENTS["tea"][0]] is None
    assert [meanings[text] for _, text in PARAPHRASES].count("same") == 20
    call_meaning(source, "--check", SAYS, "--drop", "--out", tmp_path / "out", load=load)
    left = [v.text for item in items.read_and_check_items(str(tmp_path / "out" / "items.jsonl")) for v in item.variants]
    assert FALSE not in left and len(left) == len(meanings) - 1


def test_what_drop_leaves_out_is_counted():
    assert verdicts.describe_file_and_omitted_wordings(0) == "the items, with the attribute meaning"
    assert (
        verdicts.describe_file_and_omitted_wordings(1)
        == "the items, without 1 wording of another meaning, with the attribute meaning"
    )


@pytest.mark.slow
def test_people_are_heard_first_and_their_wordings_judge_the_checks(tmp_path, source, capsys):
    other = ("rain", STATEMENTS["rain"][2])
    ann = write_sheet(tmp_path / "ann.csv")
    bob = write_sheet(tmp_path / "bob.csv", lambda item, text: text != FALSE and (item, text) != other)
    call_meaning(source, "--check", SAYS, "--sheet", f"ann={ann}", f"bob={bob}", "--out", tmp_path / "out", load=load)
    file = tmp_path / "out" / "meaning.parquet"
    rows = rows_of(file, "people:bob")
    assert rows["tea", "paraphrase-003"]["score"] == 0 and rows["rain", "paraphrase-002"]["score"] == 0
    assert len(rows) == len(PARAPHRASES) and rows["dogs", "paraphrase-001"]["score"] == 1
    assert set(about_of(file)["sheets"]) == {"ann", "bob"} and len(about_of(file)["sheets"]["ann"]) == 64
    # As many yes as no is unclear; the check is judged by what most passed: 19 wordings.
    assert "19 wordings (people)" in (out := capsys.readouterr().out) and "19 same, 1 unclear, 1 another" in out
    # The sheets stay without being named again; a new sheet of the same name takes the place of the old one.
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    assert rows_of(file, "people:bob") == rows
    call_meaning(source, "--sheet", f"bob={ann}", "--out", tmp_path / "out")
    assert rows_of(file, "people:bob")["rain", "paraphrase-002"]["score"] == 1


def test_people_alone_give_verdicts_without_any_check(tmp_path, source, capsys):
    sheet = write_sheet(tmp_path / "ann.csv")
    call_meaning(source, "--sheet", f"ann={sheet}", "--out", tmp_path / "out")
    assert "20 same, 0 unclear, 1 another; by people only" in capsys.readouterr().out


@pytest.mark.slow
def test_the_order_of_checks_and_calls_does_not_count(tmp_path, source):
    call_meaning(source, "--check", SAYS, "words", "--out", tmp_path / "a", load=load)
    call_meaning(source, "--check", "words", "--out", tmp_path / "b")
    call_meaning(source, "--check", SAYS, "--out", tmp_path / "b", load=load)
    a, b = ((tmp_path / name / "meaning.parquet").read_bytes() for name in "ab")
    assert a == b and (tmp_path / "a" / "items.jsonl").read_bytes() == (tmp_path / "b" / "items.jsonl").read_bytes()


def test_what_was_said_of_a_text_is_kept_and_of_another_text_dropped(tmp_path, source, capsys):
    call_meaning(source, "--check", SAYS, "--out", tmp_path / "out", load=load)
    changed = {**STATEMENTS, "dogs": (*STATEMENTS["dogs"][:2], "All dogs are loyal to people.")}
    write_statements(source, changed)
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    file = tmp_path / "out" / "meaning.parquet"
    assert ("dogs", "paraphrase-002") not in rows_of(file, "entailment:m")
    assert rows_of(file, "words")["dogs", "paraphrase-002"]["text"] == "All dogs are loyal to people."
    assert "entailment:m: says nothing of" in capsys.readouterr().err


def test_decoys_are_as_many_as_the_last_call_took(tmp_path, source):
    file = tmp_path / "out" / "meaning.parquet"

    def count() -> int:
        return sum(row["decoy"] == "other_item" for row in rows_of(file, "words").values())

    call_meaning(source, "--check", "words", "--decoys", "2", "--out", tmp_path / "out")
    assert count() == 20
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    assert count() == 20 and about_of(file)["decoys"]["per_kind"] == 2
    call_meaning(source, "--check", "words", "--decoys", "1", "--seed", "4", "--out", tmp_path / "out")
    assert count() == 10 and about_of(file)["decoys"]["seed"] == 4


def test_decoys_of_a_table_are_taken_as_they_are(tmp_path, source):
    table = tmp_path / "decoys.csv"
    table.write_text("item,decoy,text,source\ntea,negated,Hot tea is not good.,by hand\n", encoding="utf-8")
    call_meaning(source, "--check", "words", "--decoys-file", table, "--out", tmp_path / "out")
    decoys = [row for row in rows_of(tmp_path / "out" / "meaning.parquet", "words").values() if row["decoy"]]
    assert [(d["variant"], d["text"], d["source"]) for d in decoys] == [
        ("decoy-negated-1", "Hot tea is not good.", "by hand")
    ]
    assert about_of(tmp_path / "out" / "meaning.parquet")["decoys"]["file"] == "decoys.csv"
    with pytest.raises(InputError, match=r"was made with --decoys-file decoys\.csv"):
        call_meaning(source, "--check", "words", "--out", tmp_path / "out")


def test_nothing_new_is_told_and_not_written(tmp_path, source, capsys):
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    file = tmp_path / "out" / "meaning.parquet"
    was = file.stat().st_mtime_ns
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    assert file.stat().st_mtime_ns == was and "nothing new to write" in capsys.readouterr().err


def test_orders_of_choices_share_their_texts_and_originals_are_not_checked(tmp_path):
    """Of a run of choices, a wording stands in several orders: it is asked about once, and has a row for each."""
    from inference.stimuli.study import Item, Option, Study, Variant

    options = (Option("A", "A"), Option("B", "B"))

    def vary(name: str, pattern: str, text: str) -> list[Variant]:
        return [Variant("q", f"{name}/{n}", pattern, text, options) for n in (1, 2)]

    from inference.runfolder.store import Run

    variants = (*vary("original", "original", "What is tea?"), *vary("paraphrase-1", "paraphrase_1", "Tea is what?"))
    study = Study("choice", "q", (Item("q", variants),), ("A", "B"))
    with Run.create_or_open(tmp_path / "run", study) as run:
        run.finish()
    engine = TellingModel(lambda a, b: 0.5)
    call_meaning(tmp_path / "run", "--check", SAYS, load=lambda model, seed: engine)
    rows = rows_of(tmp_path / "run" / "meaning.parquet", "entailment:m")
    assert [key for key, row in rows.items() if not row["decoy"]] == [("q", "paraphrase-1/1"), ("q", "paraphrase-1/2")]
    assert engine.asked.count(("What is tea?", "Tea is what?")) == 1


@pytest.mark.slow
def test_a_damaged_table_and_one_of_another_study_are_named(tmp_path, source):
    run = write_run(tmp_path / "run", source)
    (run / "meaning.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"meaning\.parquet: damaged"):
        call_meaning(run, "--check", "words")
    (run / "meaning.parquet").unlink()
    call_meaning(run, "--check", "words")
    write_statements(source, {"sky": ("The sky is blue.", "Blue is the sky.")})
    other = write_run(tmp_path / "other", source)
    (run / "meaning.parquet").replace(other / "meaning.parquet")
    with pytest.raises(InputError, match="of another study"):
        call_meaning(other, "--check", "words")


def test_the_command_is_listed_and_answers(tmp_path, source, capsys):
    assert main(["meaning", str(source), "--check", "words", "--out", str(tmp_path / "out")]) == 0
    assert "words: AUC" in capsys.readouterr().out
    assert main(["meaning", str(source), "--check", "wrods", "--out", str(tmp_path / "out")]) == 2
    assert "the nearest is 'words'" in capsys.readouterr().err


def test_wordings_whose_answers_are_turned_round_are_not_checked(tmp_path, capsys):
    """Yes to an antonym is no to the original; of choices, every order gives its letters to other choices."""
    from inference.runfolder.store import Run
    from inference.stimuli.study import Item, Option, Study, Variant

    same, turned = ((Option("yes", a), Option("no", b)) for a, b in (("yes", "no"), ("no", "yes")))
    variants = (
        Variant("q", "original", "original", "Is tea hot?", same),
        Variant("q", "synonym", "synonym", "Is it true that tea is hot?", same),
        Variant("q", "antonym", "antonym", "Is tea cold?", turned),
    )
    study = Study("wording", "q", (Item("q", variants),), ("yes", "no"))
    with Run.create_or_open(tmp_path / "run", study) as run:
        run.finish()
    call_meaning(tmp_path / "run", "--check", "words")
    rows = rows_of(tmp_path / "run" / "meaning.parquet", "words")
    assert [key for key, row in rows.items() if not row["decoy"]] == [("q", "synonym")]
    assert "made to mean something else: 1, such as 'antonym': not checked" in capsys.readouterr().err


def test_negated_pairs_are_no_paraphrases(tmp_path):
    from inference.runfolder.store import Run
    from inference.stimuli.study import Item, Option, Study, Variant

    options = (Option("entailment", "entailment"), Option("contradiction", "contradiction"))
    variants = (
        Variant("q", "original", "original", "Tea is hot.\nTea is warm.", options),
        Variant("q", "h_neg-1", "h_neg", "Tea is hot.\nTea is not warm.", options, parents=("original",)),
    )
    study = Study("negation", "q", (Item("q", variants),), ("entailment", "contradiction"))
    with Run.create_or_open(tmp_path / "run", study) as run:
        run.finish()
    with pytest.raises(InputError, match=r"nothing to check: wordings made to mean something else: 1, such as 'h_neg"):
        call_meaning(tmp_path / "run", "--check", "words")


def test_another_original_makes_what_was_said_beside_it_stale(tmp_path, source, capsys):
    call_meaning(source, "--check", SAYS, "--out", tmp_path / "out", load=load)
    write_statements(source, {**STATEMENTS, "dogs": ("Cats are shy animals.", *STATEMENTS["dogs"][1:])})
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    rows = rows_of(tmp_path / "out" / "meaning.parquet", "entailment:m")
    assert "dogs" not in {item for item, _ in rows} and ("tea", "paraphrase-001") in rows
    assert "entailment:m: says nothing of" in capsys.readouterr().err


def test_two_calls_at_once_lose_no_check(tmp_path, source):
    """While a model answers, another call checks the same wordings in another way."""
    out = tmp_path / "out"

    def load_late(model, seed):
        call_meaning(source, "--check", "words", "--sheet", f"ann={write_sheet(tmp_path / 'ann.csv')}", "--out", out)
        return load(model, seed)

    call_meaning(source, "--check", SAYS, "--out", out, load=load_late)
    assert rows_of(out / "meaning.parquet", "words") and rows_of(out / "meaning.parquet", "people:ann")
    about = about_of(out / "meaning.parquet")
    assert set(about["checks"]) == {"words", "entailment:m"} and set(about["sheets"]) == {"ann"}


def test_what_a_kill_leaves_of_the_first_table_is_no_stranger(tmp_path, source):
    out = tmp_path / "out"
    (out / "meaning").mkdir(parents=True)
    (out / ".meaning.parquet.99999999").write_bytes(b"PAR1")
    call_meaning(source, "--check", "words", "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["items.jsonl", "meaning", "meaning.parquet"]


def test_an_attribute_of_the_same_name_is_told_before_the_verdict_takes_its_place(tmp_path, capsys):
    rows = [{"item": "tea", "text": text, "attributes": {"meaning": "politics"}} for text in STATEMENTS["tea"]]
    source = tmp_path / "items.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    call_meaning(source, "--check", "words", "--out", tmp_path / "out")
    assert "attribute meaning of your own, such as 'politics'" in capsys.readouterr().err
    call_meaning(tmp_path / "out" / "items.jsonl", "--check", "words", "--out", tmp_path / "again")
    assert "of your own" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--sheet", "ann=nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--sheet", "ann={}"], "match is 'maybe'; write yes or no"),
        (["--prompt", "mine.yaml"], "--prompt is for judges"),
    ],
)
def test_what_is_wrong_without_decoys_is_refused_before_they_are_made(tmp_path, source, monkeypatch, options, says):
    monkeypatch.setattr("inference.meaning.checking.make_decoys", lambda *_, **__: pytest.fail("decoys were made"))
    sheet = write_sheet(tmp_path / "ann.csv")
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("yes", "maybe"), encoding="utf-8")
    with pytest.raises(InputError, match=says):
        call_meaning(source, "--check", "words", *(option.format(sheet) for option in options), "--out", tmp_path / "o")
