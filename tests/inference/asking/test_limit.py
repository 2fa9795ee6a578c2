"""A run of the first items only, and how it goes on."""

from __future__ import annotations

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
from inference.protocols.agreement import Questions, read_agreement_prompts
from inference.runfolder.status import (
    describe_statuses_of_runs,
    list_progress_of_models_and_conditions,
    list_status_records,
    read_statuses_of_runs,
)

pytestmark = pytest.mark.slow

STUDY = small_study(items=5, paraphrases=3)


def ask(out: Path, limit: int | None) -> list[str]:
    """Ask one model about the first items; the items of all rows that are there then, each once per wording."""
    questions = limit_questions_to_first_items(STUDY, Questions(read_agreement_prompts()), limit)
    ask_tasks_and_list_tallies(
        [Task(STUDY, (Model("a", "somewhere/a"),), questions, Settings(), str(out))], load=loader()
    )
    return sorted(item for part in out.glob("responses/part-*") for item in pq.read_table(part)["item"].to_pylist())


def left(out: Path) -> list[tuple[int, int | None]]:
    return [
        (entry.done, entry.rows_left)
        for entry in list_progress_of_models_and_conditions(out, run_json.read_run_json(out))
    ]


def test_the_first_items_are_asked_and_more_later_in_the_same_folder(tmp_path):
    assert ask(tmp_path, 2) == ["0"] * 4 + ["1"] * 4
    assert left(tmp_path) == [(8, 0)]
    assert pq.read_table(tmp_path / "stimuli.parquet").num_rows == 20
    statuses = read_statuses_of_runs(tmp_path)
    assert next(describe_statuses_of_runs(statuses)).endswith(", finished; 2 of 5 items asked")
    (record,) = list_status_records(statuses)
    assert (record["items_asked"], record["items"]) == (2, 5)
    assert ask(tmp_path, 3) == ["0"] * 4 + ["1"] * 4 + ["2"] * 4
    assert ask(tmp_path, 1) == ["0"] * 4 + ["1"] * 4 + ["2"] * 4
    assert left(tmp_path) == [(12, 0)]
    assert ask(tmp_path, None) == [item for item in "01234" for _ in range(4)]
    assert left(tmp_path) == [(20, 0)]
    assert next(describe_statuses_of_runs(read_statuses_of_runs(tmp_path))).endswith(", finished")


@pytest.mark.parametrize("limit", [None, 5, 6])
def test_a_limit_that_takes_all_items_changes_nothing(limit):
    questions = Questions(read_agreement_prompts())
    assert limit_questions_to_first_items(STUDY, questions, limit) is questions


OUT = 'out = "results"'
PLAN = f"""
{OUT}
[[study]]
protocol = "agreement"
items = "items.csv"
model = ["m"]
limit = 1
"""


def test_the_command_and_a_run_file_end_with_the_folder_and_the_next_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine())
    Path("items.csv").write_text("item,text\na,One.\na,The first.\nb,Two.\n", encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    asked = ["run", "agreement", "--items", "items.csv", "--model", "m", "--out", "my run"]
    assert main([*asked, "--limit", "1"]) == 0
    about_first = "this call was about the first 1 of 2 items; without --limit, what is left of the others is asked"
    assert capsys.readouterr().out.splitlines() == [
        about_first,
        "my run: done; next: waver report 'my run' --out 'my run/report'",
    ]
    assert main(asked) == 0
    assert capsys.readouterr().out.splitlines() == ["my run: done; next: waver report 'my run' --out 'my run/report'"]
    assert main(["run", "plan.toml"]) == 0
    done = "results: done; next: waver report results --out results/report"
    assert capsys.readouterr().out.splitlines() == [about_first, done]
    again = f"{PLAN.replace(OUT, '')}folder = 'b'"  # two studies of one name: their folders tell them apart
    Path("plan.toml").write_text(f"{PLAN}{again}", encoding="utf-8")
    assert main(["run", "plan.toml"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"items: {about_first}", f"b: {about_first}", done]
    assert [pq.read_table(part)["item"].to_pylist() for part in Path("results").rglob("part-*")] == [["a", "a"]] * 2
