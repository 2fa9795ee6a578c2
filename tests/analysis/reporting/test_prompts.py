"""The folded box: every prompt once, escaped, bounded; and a word where the run holds none."""

from __future__ import annotations

import pytest

from analysis import runs
from analysis.reporting.output.html import render_template
from analysis.reporting.words import prompts
from helpers.synthetic import edit_run_json, random_frame, write_run

SOURCE = {"messages": [{"role": "user", "content": "{{ text }} <i>?"}], "answers": {"agree": ["yes", "<yes>"]}}
ONE, OTHER = "chat/yes-no", "chat/yes-no/text"


def entry(prompt: str, models=("m",)) -> dict:
    return {"models": list(models), "item": "x", "variant": "p<1>", "prompt": prompt, "characters": len(prompt),
            "wordings": None}  # fmt: skip


@pytest.fixture
def make(tmp_path):
    def make(conditions: dict[str, list[dict]], sources=None, **fields) -> runs.Runs:
        rows = random_frame(["m", "n"], items=2, paraphrases=2, conditions=list(conditions))
        known = {name: {"prompt_hash": "h", **fields} for name in conditions}
        folder = write_run(tmp_path / "run", rows, conditions=known)
        asked = {name: entries for name, entries in conditions.items() if entries}
        edit_run_json(folder, asked=asked, prompts={"h": SOURCE} if sources is None else sources)
        return runs.open_runs(folder)

    return make


def box(run: runs.Runs) -> str:
    return render_template("asked", **prompts.build_prompts_template_values(run))


def test_conditions_with_the_same_prompt_share_it_and_everything_is_escaped(make):
    html = box(make({ONE: [entry("<s>A?", ["m"]), entry("B?", ["n"])], OTHER: [entry("<s>A?", ["m"])]}))
    assert "word for word (2)" in html
    assert html.count("&lt;s&gt;A?") == 1
    assert f"m, under {ONE} and {OTHER}" in html
    assert "{{ text }} &lt;i&gt;?" in html
    assert "<b>agree</b>: yes, &lt;yes&gt;" in html
    assert "p&lt;1&gt;" in html
    assert "<s>" not in html and "<i>" not in html


def test_a_run_without_prompts_says_so_and_has_no_box(make):
    html = box(make({ONE: []}, sources={}))
    assert "<details" not in html
    assert f"does not hold the prompts of {ONE}" in html


def test_a_template_without_an_example_is_shown(make):
    html = box(make({ONE: []}))
    assert "{{ text }} &lt;i&gt;?" in html
    assert "does not hold" not in html


def test_many_and_long_prompts_are_cut_and_counted(make):
    entries = [entry(f"{number} " + "x" * 20_000, [f"m{number}"]) for number in range(40)]
    html = box(make({ONE: entries}))
    assert html.count("<pre") == prompts.MOST_PROMPTS + 1
    assert "28 more prompts stand in run.json." in html
    assert "The first 6,000 of 20,00" in html
    assert len(html) < 100_000


def test_a_prompt_keeps_its_first_line_break(make):
    assert '<pre tabindex="0">\n\nA?</pre>' in box(make({ONE: [entry("\nA?")]}))  # HTML drops the first one


def test_conditions_that_were_imported_are_named_beside_those_with_prompts(tmp_path):
    rows = random_frame(["m"], items=2, paraphrases=2, conditions=[ONE, "imported"])
    folder = write_run(tmp_path / "run", rows, conditions={ONE: {"prompt_hash": "h"}})
    edit_run_json(folder, asked={ONE: [entry("A?")]}, prompts={"h": SOURCE})
    html = box(runs.open_runs(folder))
    assert "does not hold the prompts of imported:" in html
    assert "A?" in html
