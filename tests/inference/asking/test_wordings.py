"""A run of some wordings of every item, drawn by seed and item, and how it goes on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ground import run_json
from helpers.trivial_engine import TrivialEngine, loader, small_study
from inference.__main__ import main
from inference.asking.execute import Task, ask_tasks_and_list_tallies
from inference.asking.limit import limit_questions_to_first_items
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.asking.wordings import build_group_key_of_item_and_pattern, limit_questions_to_sampled_wordings
from inference.protocols.agreement import Questions, build_agreement_study, read_agreement_prompts
from inference.runfolder.status import (
    describe_statuses_of_runs,
    list_progress_of_models_and_conditions,
    list_status_records,
    read_statuses_of_runs,
)
from inference.stimuli.study import ORIGINAL, Item, Study

pytestmark = pytest.mark.slow

STUDY = small_study(items=4, paraphrases=9)
QUESTIONS = Questions(read_agreement_prompts())


def asks(asked: Study, wordings: int | None, seed: int = 0, **how) -> set[tuple[str, str]]:
    """List the variants that are asked."""
    (each,) = limit_questions_to_sampled_wordings(asked, QUESTIONS, wordings, seed, **how).rounds("plain")
    return {variant.key for variant in asked.variants if each.chosen(variant)}


def rows(out: Path) -> list[tuple[str, str]]:
    """List the keys of all rows, each as often as it was asked."""
    tables = [pq.read_table(part) for part in sorted(out.glob("responses/part-*"))]
    return [(row["item"], row["variant"]) for table in tables for row in table.to_pylist()]


def ask(out: Path, wordings: int | None, limit: int | None = None, model: str = "a") -> list[tuple[str, str]]:
    questions = limit_questions_to_first_items(
        STUDY, limit_questions_to_sampled_wordings(STUDY, QUESTIONS, wordings, 0), limit
    )
    ask_tasks_and_list_tallies(
        [Task(STUDY, (Model(model, f"somewhere/{model}"),), questions, Settings(), str(out))], load=loader()
    )
    return rows(out)


def recorded(out: Path) -> tuple[dict, list[tuple[int, int | None]]]:
    """Return what run.json says of the draws, and done and left of every model."""
    about = run_json.read_run_json(out)
    return about.get("drawn", {}), [
        (entry.done, entry.rows_left) for entry in list_progress_of_models_and_conditions(out, about)
    ]


def test_a_larger_number_contains_the_smaller():
    found = [asks(STUDY, number) for number in range(1, 9)]
    for number, (few, more) in enumerate(pairwise(found), start=1):
        assert few < more
        assert Counter(item for item, _ in few) == {str(item): number + 1 for item in range(4)}
        assert {(str(item), "original") for item in range(4)} <= few
    assert asks(STUDY, 9) == asks(STUDY, None)


def test_draws_depend_on_seed_and_item_only():
    fewer = Study(STUDY.protocol, "fewer", STUDY.items[1:], STUDY.canonical)
    assert asks(fewer, 4) == {key for key in asks(STUDY, 4) if key[0] != "0"}
    assert asks(STUDY, 4, seed=1) != asks(STUDY, 4)
    by_item = {item: {name for i, name in asks(STUDY, 4) if i == item} for item in "0123"}
    assert len(set(map(frozenset, by_item.values()))) > 1


def test_every_wording_is_as_likely():
    """Of 9 wordings 3 are drawn with 600 seeds: each of 36 in a third of them, within 5 standard errors."""
    counts = Counter(key for seed in range(600) for key in asks(STUDY, 3, seed))
    others = [count for (_, name), count in counts.items() if name != ORIGINAL]
    assert len(others) == 36 and max(abs(count - 200) for count in others) < 5 * (600 * 2 / 9) ** 0.5


def test_a_larger_number_asks_only_what_is_new(tmp_path):
    of_two = ask(tmp_path, 2)
    assert sorted(of_two) == sorted(asks(STUDY, 2))
    assert recorded(tmp_path) == ({"a": {"plain/yes-no": {"wordings": 2, "least": 9, "most": 9}}}, [(12, 0)])
    statuses = read_statuses_of_runs(tmp_path)
    assert next(describe_statuses_of_runs(statuses)).endswith(", finished; --wordings 2 of up to 9")
    (condition,) = list_status_records(statuses)[0]["conditions"]
    assert condition["drawn"] == {"wordings": 2, "least": 9, "most": 9}
    of_five = ask(tmp_path, 5)
    assert of_five[: len(of_two)] == of_two and sorted(of_five) == sorted(asks(STUDY, 5))
    assert recorded(tmp_path)[0]["a"]["plain/yes-no"]["wordings"] == 5
    assert ask(tmp_path, 3) == of_five
    assert recorded(tmp_path) == ({"a": {"plain/yes-no": {"wordings": 5, "least": 9, "most": 9}}}, [(24, 0)])
    assert sorted(ask(tmp_path, None)) == sorted(asks(STUDY, None))
    assert recorded(tmp_path) == ({}, [(40, 0)])
    assert ask(tmp_path, 2) == rows(tmp_path) and recorded(tmp_path) == ({}, [(40, 0)])


def test_the_first_items_in_some_wordings_and_all_in_fewer_are_counted_once(tmp_path):
    ask(tmp_path, 8, limit=1)
    ask(tmp_path, 1)
    assert recorded(tmp_path)[1] == [(9 + 3 * 2, 0)]


def test_items_that_are_all_asked_in_all_wordings_are_no_draw_any_more(tmp_path):
    ask(tmp_path, 2, limit=2)
    ask(tmp_path, None, limit=1)
    assert recorded(tmp_path)[0]["a"]["plain/yes-no"]["wordings"] == 2  # of the second item
    ask(tmp_path, None, limit=2)
    assert recorded(tmp_path) == ({}, [(20, 0)])


def test_a_stopped_run_goes_on_with_the_same_wordings(tmp_path):
    questions = limit_questions_to_sampled_wordings(STUDY, Questions(read_agreement_prompts()), 3, 0)

    def stop(number):
        if number == 2:
            raise KeyboardInterrupt

    engine = TrivialEngine(before_batch=stop)
    task = Task(STUDY, (Model("a", "somewhere/a"),), questions, Settings(), str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        ask_tasks_and_list_tallies([task], load=lambda model, seed: engine)
    assert recorded(tmp_path)[1] == [(8, 8)]
    assert sorted(ask(tmp_path, 3)) == sorted(asks(STUDY, 3))


def test_every_model_has_its_own_number(tmp_path):
    ask(tmp_path, 2)
    ask(tmp_path, None, model="b")
    assert recorded(tmp_path)[0] == {"a": {"plain/yes-no": {"wordings": 2, "least": 9, "most": 9}}}


def test_of_every_kind_of_rewording(capsys, tmp_path):
    kinds = ("original", "synonym", "synonym", "synonym", "antonym", "antonym")
    base = STUDY.items[0].variants
    mixed = build_agreement_study(
        (Item("0", tuple(replace(base[n], pattern=kind) for n, kind in enumerate(kinds))),), "mixed"
    )
    found = asks(mixed, 2, build_key=build_group_key_of_item_and_pattern)
    patterns = {variant.key: variant.pattern for variant in mixed.variants}
    assert Counter(patterns[key] for key in found) == {"original": 1, "synonym": 2, "antonym": 2}
    questions = limit_questions_to_sampled_wordings(
        mixed, Questions(read_agreement_prompts()), 2, 0, build_group_key_of_item_and_pattern
    )
    task = Task(mixed, (Model("a", "somewhere/a"),), questions, Settings(), str(tmp_path))
    ask_tasks_and_list_tallies([task], load=lambda model, seed: TrivialEngine())
    assert recorded(tmp_path)[0]["a"]["plain/yes-no"] == {"wordings": 2, "least": 2, "most": 3, "per_pattern": True}
    assert main(["status", str(tmp_path)]) == 0
    assert "; --wordings 2 of up to 3 per pattern\n" in capsys.readouterr().out
    asks(mixed, 3, build_key=build_group_key_of_item_and_pattern)
    assert "mixed: 1 of 2 patterns of items has fewer wordings than --wordings 3" in capsys.readouterr().err
    asks(mixed, 4, build_key=build_group_key_of_item_and_pattern)
    assert "--wordings 4 is more than any pattern of an item has (3 at most): all are asked" in capsys.readouterr().err


def test_items_with_fewer_are_told(capsys):
    uneven = Study(STUDY.protocol, "s", (Item("0", STUDY.items[0].variants[:4]), *STUDY.items[1:]), STUDY.canonical)
    assert Counter(item for item, _ in asks(uneven, 5)) == {"0": 4, "1": 6, "2": 6, "3": 6}
    assert capsys.readouterr().err == (
        "s: 1 of 4 reworded items has fewer wordings than --wordings 5 (such as 0): all of these are asked\n"
    )
    assert asks(uneven, 12) == asks(uneven, None)
    assert capsys.readouterr().err == "s: --wordings 12 is more than any item has (9 at most): all are asked\n"


PLAN = """
out = "results"
[[study]]
protocol = "agreement"
folder = "s"
items = "items.csv"
model = ["m"]
wordings = {}
"""
ITEMS = "item,text\n" + "".join(f"{item},{item} in wording {n}.\n" for item in "ab" for n in range(7))


def test_the_command_and_a_run_file_draw_by_the_seed_of_the_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine())
    Path("items.csv").write_text(ITEMS, encoding="utf-8")
    call = ["run", "agreement", "--items", "items.csv", "--model", "m", "--out", "results/s", "--seed", "5"]
    assert main([*call, "--wordings", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "asked so far with --wordings 2 of up to 6; a larger number asks only the others"
    )
    first = rows(Path("results/s"))
    assert main([*call[:4], "--model", "m", "--out", "results/one", "--wordings", "1"]) == 0
    assert capsys.readouterr().out.startswith("asked so far with --wordings 1 of up to 6; ")
    assert main([*call[:4], "--model", "m", "--out", "results/all", "--wordings", "6"]) == 0
    assert "--wordings" not in capsys.readouterr().out  # all are asked: there are no others
    assert main([*call[:4], "--model", "m", "--out", "results/two", "--wordings", "2"]) == 0
    capsys.readouterr()
    assert main([*call[:4], "--model", "n", "--out", "results/two", "--wordings", "6"]) == 0
    assert "--wordings" not in capsys.readouterr().out  # nor are there others of this call's model
    assert main([*call[:4], "--model", "m", "--out", "results/two", "--limit", "1"]) == 0
    assert "--wordings" not in capsys.readouterr().out  # all wordings of the first item were asked for
    assert main([*call[:4], "--model", "m", "--out", "results/first", "--limit", "1", "--wordings", "2"]) == 0
    assert "asked so far with --wordings 2 of up to " in capsys.readouterr().out
    for number in (3, 4):
        Path("plan.toml").write_text(PLAN.format(number), encoding="utf-8")
        assert main(["run", "plan.toml"]) == 0
        assert capsys.readouterr().out.startswith(f"asked so far with --wordings {number} of up to 6; ")
        found = rows(Path("results/s"))
        assert found[:6] == first and len(found) == len(set(found)) == 2 * (number + 1)
    assert main([*call[:-2], "--wordings", "4"]) == 0
    assert len(rows(Path("results/s"))) == 10
