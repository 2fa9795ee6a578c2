"""The run files of `make report`: every protocol has its study in it, and asks what it asked as a single command."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace

import pytest

from helpers.commands import ROOT
from inference.__main__ import (
    build_parser_importing_only_called_command,
    build_parser_of_run_file_study,
    build_task_from_options,
)
from inference.protocols import list_protocols
from inference.runfile import read_run_file

pytestmark = pytest.mark.slow

PLANS = [ROOT / "inference" / "demo" / name for name in ("demo.toml", "weekly.toml")]
# The calls that would ask the same, a study each; the same rows must come from the file.
CALLS = {
    "agreement": "run agreement --items demo --model demo --option-order yes-no no-yes --answer probability text "
    "--text-share 0.1 --out x",
    "wording": "run wording --items demo --model demo --shots 0,4 --sample 100 --balanced --out x",
    "negation": "run negation --items demo --model demo --out x",
    "scoring": "run scoring --items demo --model demo --range 0-9 1-5 1-100 --temperature 0.4 0.7 1.0 1.3 --exact "
    "--out x",
    "choice": "run choice --items demo --model demo --out x",
    "thinking": "run agreement --items demo --model demo --answer text thought --effort none medium --wordings 20 "
    "--thoughts 8 --max-tokens 64 --out x",
    "meaning": "run agreement --items demo-meaning --model models/waver-demo-medium-tuned "
    "models/waver-demo-large-tuned models/waver-demo-bert --out x",
    "scale": "run scale --items demo --model demo --lora adapters/waver-demo-rater-agreeing "
    "--lora adapters/waver-demo-rater-moderate --lora adapters/waver-demo-rater-last "
    "--labels numbers words --option-order up down --out x",
    "personas": "run scale --items demo --model demo --lora adapters/waver-demo-rater-agreeing "
    "--lora adapters/waver-demo-rater-moderate --lora adapters/waver-demo-rater-last "
    "--personas personas.csv --option-order up down --out x",
    "choice_tuned": "run choice --items demo-reworded --model models/waver-demo-large "
    "--lora adapters/waver-demo-large-choice --split test --orders 4 --form plain "
    "--prompt-kind base aware --answer text --max-tokens 20 --out x",
    **{
        f"weekly/week-{week}": f"run agreement --items demo --name weekly --model assistant=models/waver-demo-{size} "
        f"--wordings 12 --seed {week} --out x"
        for week, size in enumerate(["large-tuned"] * 4 + ["medium-tuned"] * 2, start=1)
    },
}


@pytest.fixture(scope="module")
def tasks() -> dict:
    """The tasks of the files by their folder."""
    before = os.getcwd()
    os.chdir(PLANS[0].parent)
    try:
        planned = [
            task
            for plan in PLANS
            for task in read_run_file(plan, build_parser_of_run_file_study).load_tasks_of_run_file(
                build_parser_of_run_file_study, build_task_from_options, ["run"]
            )
        ]
    finally:
        os.chdir(before)
    return {(PLANS[0].parent / task.out).resolve().relative_to(ROOT).as_posix(): task for task in planned}


def test_every_protocol_has_its_folder(tasks):
    others = ("thinking", "meaning", "personas", "choice_tuned", *(f"weekly/week-{week}" for week in range(1, 7)))
    assert set(tasks) == {f"results/demo/{name}" for name in (*list_protocols(), *others)}


def test_make_report_makes_what_the_notebooks_begin_with(tasks):
    """The run files ask, and `make report` imports the rest."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nreport: ")[2].partition("\n\n")[0]
    imported = re.findall(r"waver import .*? --out \$\(DEMO\)/(\w+)", recipe)
    made = {"results/demo", "results/demo/weekly", *tasks, *(f"results/demo/{folder}" for folder in imported)}
    notebooks = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "notebooks").glob("*.ipynb")]
    source = "".join(line for notebook in notebooks for cell in notebook["cells"] for line in cell["source"])
    named = set(re.findall(r'"\.\./(results/demo[^"]*)"', source))
    assert len(named) > 8 and named <= made


# The weeks from the second to the fifth differ in the seed from the first, and in the model as the last does.
@pytest.mark.parametrize("name", [name for name in CALLS if name[-1] not in "2345"])
def test_a_study_asks_what_its_call_asked(name, tasks, monkeypatch):
    monkeypatch.chdir(PLANS[0].parent)
    planned, call = tasks[f"results/demo/{name}"], CALLS[name].split()
    alone = build_task_from_options(
        build_parser_importing_only_called_command(call).parse_args(call, Namespace(call=()))
    )
    assert planned.study == alone.study
    assert (planned.models, planned.settings, planned.descriptions) == (
        alone.models,
        alone.settings,
        alone.descriptions,
    )
    for form in ("plain", "chat"):
        rounds = [each.questions.rounds(form) for each in (planned, alone)]
        conditions = [[round_.conditions for round_ in each] for each in rounds]
        assert conditions[0] == conditions[1]
        some = list(alone.study.variants)[::7]  # the studies are equal already
        prompts = [[list(map(_prompts(round_), some)) for round_ in each] for each in rounds]
        assert prompts[0] == prompts[1]


def _prompts(round_):
    return lambda variant: round_.render(variant, None) if round_.chosen(variant) else None
