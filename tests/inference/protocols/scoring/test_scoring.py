"""Protocol `scoring`: reading numbers and tables, the rows it writes, and the way from a table to the scores."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis import runs
from analysis.pages.scoring import tables
from ground.errors import InputError
from ground.numerals import parse_first_number
from helpers.commands import ROOT
from inference.__main__ import main
from inference.engines.contract import Generation, Score
from inference.protocols.scoring import Questions, build_columns_of_score_response, read_scoring_prompts
from inference.protocols.scoring.items import OPTIONS, Columns, build_demo_scoring_items, read_scoring_items
from inference.stimuli.numbers import does_text_continue_number, parse_scale_range
from inference.stimuli.study import ORIGINAL, Variant
from inference.stimuli.templates.prompts import Prompt

SMALL = str(ROOT / "inference" / "demo" / "models" / "waver-demo-small")
TABLE = Columns("output", "source", "gold")
VARIANT = Variant("1", ORIGINAL, ORIGINAL, "Der Hund bellt.", OPTIONS, attributes={"source": "The dog barks."})
PROMPT = Prompt("", None, (), range(10))


@pytest.mark.parametrize(
    ("text", "number"),
    [("8", 8), (" 7.5 points", 7.5), ("Score: 8.", 8), ("8/10", 8), ("0-9", 0), ("-3", -3), ("\u22123", -3), ("8,5", 8),
     (".5", 0.5), ("...7", 7), ("08", 8), ("x-4", 4), ("about 100%", 100), ("good", None), ("", None), ("-", None),
     ("７", 7), ("評点：８．５点", 8.5), ("－３", -3), ("１０", 10), ("⑦", None), ("٧", None)],
)  # fmt: skip
def test_the_first_number_of_a_text(text: str, number: float | None) -> None:
    assert parse_first_number(text) == number


def test_a_number_goes_on_in_a_digit_or_a_decimal() -> None:
    assert all(map(does_text_continue_number, ("0", "12", ".5", "0 of", "０", "．５")))
    assert not any(map(does_text_continue_number, ("", ".", ". 5", ",5", " 5", "-5", "/10", "\n")))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("9-0", "comes first, 0-9"), ("5-5", "is no scale"), ("low-high", "two whole numbers"), ("0.5-1", "whole"),
     ("7", "two whole numbers")],
)  # fmt: skip
def test_wrong_ranges_are_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_scale_range(text)


def test_samples_are_dropped_clipped_and_averaged() -> None:
    texts = ("8", "12 of 12", "7.5.", "-1", "none", "well")
    row = build_columns_of_score_response(range(1, 10), VARIANT, PROMPT, Generation(texts, (*texts[:-1], None)))
    assert row == {"output": list(texts), "invalid": 2, "clipped": 2, "score": (8 + 9 + 7.5 + 1) / 4}
    nothing = build_columns_of_score_response(range(10), VARIANT, PROMPT, Generation(("none",), ("none",)))
    assert (nothing["score"], nothing["invalid"], nothing["clipped"]) == (None, 1, 0)


def test_full_width_digits_are_read_and_moved_into_the_range() -> None:
    texts = ("７", "１２", "８．５")
    row = build_columns_of_score_response(range(1, 10), VARIANT, PROMPT, Generation(texts, texts))
    assert row == {"output": list(texts), "invalid": 0, "clipped": 1, "score": (7 + 9 + 8.5) / 3}


def test_exact_rows_hold_the_expected_and_the_likeliest_number() -> None:
    row = build_columns_of_score_response(
        range(1, 4), VARIANT, PROMPT, Score((0.1, 0.3, 0.2), (-2.3, -1.2, -1.6), 0.6, 1)
    )
    assert row["score"] == pytest.approx((0.1 + 0.6 + 0.6) / 0.6)
    assert (row["answer"], row["mass"]) == ("2", 0.6)
    assert (
        build_columns_of_score_response(range(1, 4), VARIANT, PROMPT, Score((0.0,) * 3, (-1e9,) * 3, 0.0, 0))["score"]
        is None
    )


def test_conditions_are_named_by_form_range_temperature_and_method() -> None:
    asked = Questions(read_scoring_prompts(), (range(10), range(1, 101)), (0.0, 0.7), exact=False).rounds("chat")
    names = [[condition.name for condition in each.conditions] for each in asked]
    assert names == [["chat/0-9/t0", "chat/0-9/t0.7"], ["chat/1-100/t0", "chat/1-100/t0.7"]]
    assert [condition.fields["samples"] for condition in asked[0].conditions] == [1, 10]
    (both,) = Questions(read_scoring_prompts(), exact=True).rounds("plain")
    sampled, exact = both.conditions
    assert (sampled.name, exact.name) == ("plain/0-9/t0.7", "plain/0-9/t0.7/exact")
    assert exact.fields | {"prompt_hash": ""} == {
        "form": "plain", "range": [0, 9], "temperature": 0.7, "samples": None, "method": "exact", "max_tokens": None,
        "prompt": None, "prompt_hash": "",
    }  # fmt: skip
    with pytest.raises(InputError, match="no room for a number"):
        Questions(read_scoring_prompts()).rounds("cloze")


def test_prompts_name_the_range_and_the_languages() -> None:
    languages = {"source_language": "English", "target_language": "German"}
    named = Variant("1", ORIGINAL, ORIGINAL, VARIANT.text, OPTIONS, attributes={**VARIANT.attributes, **languages})
    alone = Variant("1", ORIGINAL, ORIGINAL, VARIANT.text, OPTIONS)
    for variant, words in ((named, ("English", "German", "The dog")), (VARIANT, ("The dog",)), (alone, ())):
        asked = Questions(read_scoring_prompts(), (range(1, 101),))
        plain, chat = (asked.rounds(form)[0].render(variant, None) for form in ("plain", "chat"))
        for text in (plain.text or "", (chat.messages or ())[0]["content"]):
            assert all(word in text for word in ("1 ", "100", "Der Hund bellt.", *words))
            assert "None" not in text
        assert (plain.text or "").endswith("\nScore from 1 to 100:")
        assert plain.numbers == range(1, 101)


def test_each_row_may_have_its_own_languages(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("text,old,from,to\nDer Hund.,The dog.,English,German\nA dog.,Koer.,Estonian,English\n", "utf-8")
    columns = Columns("text", "old", source_language="from", target_language="to")
    (round_,) = Questions(read_scoring_prompts()).rounds("plain")
    texts = [round_.render(item.variants[0], None).text for item in read_scoring_items(str(file), columns)]
    for text, source, target in zip(texts, ("English", "Estonian"), ("German", "English"), strict=True):
        assert f"\n{source} text: " in text and f"\n{target} translation: " in text


@pytest.mark.parametrize(
    ("template", "problem"),
    [("{{ output }} {{ low }}", "never uses {{ high }}"), ("{{ output }} {{ low }} {{ high }} {{ x }}", "variable 'x'"),
     ("{{ output }} {{ low }} {{ high }} {{ source.x.y }}", "the template fails"), ("{% if", "template syntax")],
)  # fmt: skip
def test_wrong_prompt_files_are_refused(tmp_path: Path, template: str, problem: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"plain:\n  template: '{template}'\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_scoring_prompts(str(file))


def write(folder: Path, rows: list[str], name: str = "pairs.csv") -> str:
    """A table with the header of `TABLE`."""
    file = folder / name
    file.write_text("\n".join(["source,output,gold", *rows]).replace(",", "\t" if ".tsv" in name else ",") + "\n")
    return str(file)


def test_quotes_are_text_where_tabs_part_the_cells(tmp_path: Path) -> None:
    (item,) = read_scoring_items(write(tmp_path, ['"He said,"Er sagte,50'], "pairs.tsv"), TABLE)
    assert (item.variants[0].text, item.variants[0].attributes["source"]) == ('"Er sagte', '"He said')
    (item,) = read_scoring_items(write(tmp_path, ['"One, two","Eins, zwei",50']), TABLE)
    assert item.variants[0].text == "Eins, zwei"


@pytest.mark.parametrize(
    ("row", "problem"),
    [("a,b,good", "row 3: the human score in column 'gold' must be a number, not 'good'"),
     ("a,b,", "row 3: there is no human score in column 'gold'"), ("a,b,nan", "row 3: the human score"),
     ("a,,50", "row 3: column 'output' is empty"), ("a,b,101", "row 3: human score 101 is not in 0-100")],
)  # fmt: skip
def test_wrong_rows_are_named(tmp_path: Path, row: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_scoring_items(write(tmp_path, ["a,b,50", row]), TABLE)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [("--gold-column score", "(the nearest is 'source'); the columns are source, output, gold"),
     ("--range 9-0", "the lower number comes first"), ("--range 5-5", "one number is no scale"),
     ("--gold-column gold --gold-range 100-0", "--gold-range 100-0"), ("--samples 0", "--samples 0"),
     ("--exact --temperature 0", "above 0"), ("--exact --range 0-5000", "up to 1,001 numbers"),
     ("--source-language English", "go together"), ("--group a --group-column gold", "one of the two"),
     ("--exact --temperature 0 1", "above 0"), ("--language-columns source gold", "--language-columns stand for"),
     ("--source-column source --language-columns source gold", "named by --source-column, too")],
)  # fmt: skip
def test_wrong_calls_get_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, problem: str):
    call = ["run", "scoring", "--items", write(tmp_path, ["a,b,5"]), "--output-column", "output", "--model", SMALL]
    assert main([*call, "--out", str(tmp_path / "run"), *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_from_a_table_to_the_table_of_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"The hat is {colour}.,The {thing} is {colour}.,{30 * n + 5}" for n, (colour, thing) in
            enumerate([("red", "box"), ("blue", "hat"), ("grey", "hat")])]  # fmt: skip
    call = ["run", "scoring", "--items", write(tmp_path, rows), "--source-column", "source", "--output-column",
            "output", "--gold-column", "gold", "--group", "hats", "--range", "0-9", "1-12", "--temperature", "0.7",
            "1.3", "--samples", "3", "--exact", "--model", SMALL, "--out", str(tmp_path / "run")]  # fmt: skip
    assert main(call) == 0
    parts = (tmp_path / "run" / "responses").iterdir()
    part = [row for file in parts for row in pq.read_table(file, partitioning=None).to_pylist()]
    exact = [row for row in part if row["condition"] == "plain/1-12/t1.3/exact"]
    assert [len(row["probability"]) for row in exact] == [12, 12, 12]
    assert main(call) == 0
    assert "nothing left to ask" in capsys.readouterr().err
    opened = runs.open_runs(tmp_path / "run")
    found = tables.tabulate_score_bias_and_accuracy(opened, resamples=0)
    given = found[found["model"] != "gold"]
    assert sorted(set(given["method"])) == ["exact", "sampled"]
    assert sorted(set(given["range"])) == ["0-9", "1-12"]
    assert set(given["group"]) == {"hats"}
    assert len(given) == 8
    assert main(["preview", *call[1:-2]]) == 0
    assert "all numbers from 0 to 9 together: mass 0." in capsys.readouterr().out


@pytest.mark.slow
def test_a_model_that_fills_a_mask_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bert = str(ROOT / "inference" / "demo" / "models" / "waver-demo-bert")
    call = ["run", "scoring", "--items", write(tmp_path, ["a,b,5"]), "--output-column", "output", "--model", bert]
    assert main([*call, "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "a model that fills a mask has no room for a number" in error


def test_demo_pairs_are_scored_for_what_they_keep() -> None:
    items = build_demo_scoring_items()
    assert items == build_demo_scoring_items()
    groups = {item.variants[0].attributes["group"] for item in items}
    assert len(groups) == 2
    assert {item.variants[0].gold_score for item in items} == {0, 3, 6, 9}


def test_real_human_scores_are_read_as_published(shared: Path) -> None:
    from scipy.stats import kurtosis

    printed = {"ende": 1.48, "eten": -1.24, "roen": -0.16, "sien": -0.72}  # Sato et al., Table 1
    for pair, expected in printed.items():
        file = shared / "mlqe-pe-test20" / f"test20.{pair}.df.short.tsv"
        items = read_scoring_items(str(file), Columns("translation", "original", "mean"))
        assert len(items) == 1000
        assert round(float(kurtosis([item.variants[0].gold_score for item in items])), 2) == expected
