"""`show` prints prompts to the letter at 80 columns, counts what it leaves out, and names what is nearest."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import runs
from analysis.__main__ import main
from analysis.reporting.output.show import MODELS, iterate_prompt_and_answer_lines
from ground.errors import InputError
from helpers.synthetic import edit_run_json, paraphrases, write_run

CHAT = "chat/yes-no"


def entry(models, role, prompt="<|user|>Yes or no: x: original<|end|>"):
    form = [{"role": role, "content": ["Yes or no: ", {"column": "text"}]}]
    return {"models": models, "item": "x", "variant": "original", "prompt": prompt, "characters": len(prompt),
            "wordings": form}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rows = paraphrases({"x": [0.25, 0.75, 0.5, 0.1], "y": [0.5, 0.25]}, original=0.5)
    rows["text"] = [f"{item}: {variant}" for item, variant in zip(rows["item"], rows["variant"], strict=True)]
    rows.loc[rows["variant"] == "p1", "text"] = "  " + "long " * 40 + "\n\x1b[31mred <b>\ttea</b>"
    asked = [rows.assign(model=f"m{n:02d}", condition="plain/yes-no") for n in range(MODELS + 2)]
    asked.append(rows.assign(model="m00", condition=CHAT, output=[["Yes.\n\x1b[2J" * 100] * 5] * len(rows)))
    path = write_run(tmp_path_factory.mktemp("show") / "run", pd.concat(asked, ignore_index=True))
    plain = entry([f"m{n:02d}" for n in range(MODELS + 2)], None)
    edit_run_json(path, asked={"plain/yes-no": [plain], CHAT: [entry(["m00"], "user")]})
    return path


def lines(folder, **chosen) -> list[str]:
    return list(iterate_prompt_and_answer_lines(runs.open_runs(folder), **chosen))


def quoted(text: list[str]) -> list[str]:
    """The prompts that lines quote: what is broken is joined again."""
    found: list[str] = []
    for line in text:
        if line.startswith("  | ") or line == "  |":
            found.append(line[4:])
        elif line.startswith("  : "):
            found[-1] += line[4:]
    return found


def test_the_prompt_stands_there_to_the_letter(folder):
    text = lines(folder, item="x", model="m01")
    assert "Yes or no:   " + "long " * 40 in quoted(text)
    assert "\\x1b[31mred <b>\ttea</b>" in quoted(text)


@pytest.mark.slow
def test_no_line_is_longer_than_80_and_none_moves_the_cursor(folder):
    text = [line for chosen in ({}, {"item": "x"}, {"model": "m00"}) for line in lines(folder, **chosen)]
    assert max(map(len, text)) <= 80
    assert not any("\x1b" in line for line in text)


@pytest.mark.slow
def test_what_is_left_out_is_counted(folder):
    text = lines(folder)
    assert "  and 2 more models: choose one with --model" in text
    assert "Shown: 3 of 5 wordings of this item; --item x shows up to 20." in text
    assert "1 more item: choose one with --item." in text
    assert "    and 2 more texts" in text
    assert not any(line.startswith(("Shown", "1 more item")) for line in lines(folder, item="x"))


def test_only_what_was_chosen_is_shown(folder):
    text = lines(folder, item="y", model="m00", condition=CHAT)
    assert sum(line.startswith("wording ") for line in text) == 3
    assert {line.strip() for line in text if line.startswith("  condition")} == {f"condition {CHAT}"}
    assert not any("m01" in line for line in text)


@pytest.mark.slow
def test_messages_stand_without_marks_and_one_prompt_with_them(folder):
    text = lines(folder, item="y", condition=CHAT)
    assert "  | [user]" in text
    assert "  | <|user|>Yes or no: x: original<|end|>" in text
    assert any("with their role in square brackets" in line for line in text)
    assert not any("square brackets" in line for line in lines(folder, item="y", condition="plain/yes-no"))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"item": "z"}, "these runs have no item 'z'"),
        ({"model": "m0"}, r"no model 'm0' \(the nearest is 'm"),
        ({"condition": "plain/no-yes"}, r"no condition 'plain/no-yes' \(the nearest is 'plain/yes-no'\)"),
        (
            {"model": "m01", "condition": CHAT},
            f"the run holds no answer for --model m01 --condition {CHAT}: this was not asked",
        ),
    ],
)
def test_a_name_that_is_not_there_is_told_with_the_nearest(folder, chosen, said):
    with pytest.raises(InputError, match=said):
        lines(folder, **chosen)


def test_a_run_without_prompts_still_shows_its_answers(tmp_path, capfdbinary):
    run = write_run(tmp_path / "run", paraphrases({"x": [0.25, 0.75]}))
    assert main(["show", str(run)]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert "rest of the prompt, if any, not known: the run does not hold its prompts" in " ".join(text.split())
    assert "m: agree 0.25, disagree 0.75, together 1; answer: none" in text


@pytest.mark.parametrize(
    ("chosen", "line"),
    [
        ({}, "  m: no response: too long"),
        ({"item": "a"}, "  m: no response: too long"),
        ({"model": "n"}, "  n: agree 0.25, disagree 0.75, together 1; answer: none"),
    ],
)
def test_a_run_without_an_answer_to_its_first_item_shows_what_it_has(tmp_path, chosen, line):
    rows = [
        {"item": "a", "variant": "original", "model": "m", "error": "too long"},
        {"item": "b", "variant": "original", "model": "n", "agreement": 0.25},
    ]
    assert line in lines(write_run(tmp_path / "run", pd.DataFrame(rows)), **chosen)
