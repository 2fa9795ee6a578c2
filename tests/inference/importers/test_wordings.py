"""Tables without texts: whether ids of wordings mean the same in all items, and line ends that make no other text."""

from __future__ import annotations

import pytest

from analysis import runs
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from helpers.answer_tables import write
from inference.__main__ import main
from inference.stimuli.reading.line_ends import unify_line_ends_of_all_texts

pytestmark = pytest.mark.slow

IDS = ("--model-column", "model", "--item-column", "item", "--variant-column", "variant")
CALL = (*IDS, "--probability-columns", "agree=yes,disagree=no")
NUMBERED = (
    "no --text-column: wordings are numbered, so every item is taken to have its own wordings; if an id is the same "
)
NAMED = "no --text-column: the 3 wordings are taken for ones that all 4 items share"
OWN = "no --text-column: every item is taken to have its own wordings"


def answer_rows(ids, items=4):
    """Make answers of two models to `items` items in the wordings `ids(item)`."""
    return [
        {"model": model, "item": str(item), "variant": name, "yes": share, "no": 1 - share}
        for model in "ab"
        for item in range(items)
        for place, name in enumerate(ids(item))
        for share in [round(0.1 + 0.08 * place + 0.1 * (item * place % 3), 3)]
    ]


def import_rows(folder, rows, *arguments):
    """Import a table, and return the run folder."""
    file = write(folder / "answers.csv", rows)
    assert main(["import", "table", str(file), *CALL, *arguments, "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.mark.parametrize(
    ("ids", "arguments", "line", "shared"),
    [
        (lambda item: "123", (), NUMBERED + "wording in all items, say --wordings shared", False),
        (lambda item: ["1.0", "2.0", "3.0"], (), NUMBERED, False),
        (lambda item: ["original", "1", "2"], (), NUMBERED, False),
        (lambda item: "123", ("--wordings", "shared"), NAMED, True),
        (lambda item: "123", ("--wordings", "own"), OWN, False),
        (lambda item: ["polite", "short", "long"], (), f"{NAMED}; if every item has its own, say --wordings own", True),
        (lambda item: ["polite", "short", "long"], ("--wordings", "own"), OWN, False),
        (
            lambda item: [f"{item}-a", f"{item}-b", f"{item}-c"],
            (),
            "no --text-column: items have wordings of other",
            False,
        ),
    ],
)
def test_ids_of_wordings_are_taken_as_they_look_or_as_the_user_says(tmp_path, capsys, ids, arguments, line, shared):
    folder = import_rows(tmp_path, answer_rows(ids), *arguments)
    assert capsys.readouterr().out.splitlines()[-2].startswith(line)
    opened = runs.open_runs(folder)
    assert {study.crossed for study in read_reworded_studies(opened)} == {shared}
    assert opened.sql("SELECT DISTINCT text FROM stimuli WHERE item = '2'")["text"].tolist() == ["2"]


def test_of_one_wording_of_all_items_the_line_speaks_in_the_singular(tmp_path, capsys):
    import_rows(tmp_path, answer_rows(lambda item: ["polite"]))
    assert "no --text-column: the only wording is taken for one that all 4 items share" in capsys.readouterr().out


def test_of_one_item_nothing_is_said_about_shared_wordings(tmp_path, capsys):
    import_rows(tmp_path, answer_rows(lambda item: ["polite", "short"], items=1))
    assert "--text-column" not in capsys.readouterr().out


def test_of_originals_alone_nothing_is_said_about_wordings(tmp_path, capsys):
    import_rows(tmp_path, [{**row, "variant": "original"} for row in answer_rows(lambda item: "1")])
    assert "--text-column" not in capsys.readouterr().out


def test_the_choice_changes_intervals_and_names_the_wordings_that_items_share(tmp_path):
    rows = answer_rows(lambda item: "1234567", items=8)
    for name in ("own", "shared"):
        (tmp_path / name).mkdir()
        import_rows(tmp_path / name, rows, "--wordings", name)
    own, shared = (
        tables.build_table("wording_precision", runs.open_runs(tmp_path / name / "run")) for name in ("own", "shared")
    )
    assert set(own["design"]) == {"own wordings of each item"} and set(shared["design"]) == {"shared by all items"}
    assert own["mean"].tolist() == shared["mean"].tolist()
    assert not own["like_lower"].equals(shared["like_lower"])
    (study,) = [study for study in read_reworded_studies(runs.open_runs(tmp_path / "shared" / "run")) if study.headline]
    assert study.wordings == list("1234567")


def test_texts_that_differ_in_line_ends_are_one_text(tmp_path):
    """So are files of one study that were saved on Windows, Unix and an old Mac."""
    row = {"item": "1", "text": "Read.{0}Tea is hot.", "yes": 0.75, "no": 0.25}
    ends = {"windows": "\r\n", "unix": "\n", "mac": "\r"}
    files = [
        write(tmp_path / f"{name}.jsonl", [{**row, "text": row["text"].format(end)}]) for name, end in ends.items()
    ]
    call = ("--item-column", "item", "--text-column", "text", "--probability-columns", "agree=yes,disagree=no")
    assert main(["import", "table", *map(str, files[:2]), *call, "--out", str(tmp_path / "run")]) == 0
    assert main(["import", "table", str(files[2]), *call, "--out", str(tmp_path / "run")]) == 0
    opened = runs.open_runs(tmp_path / "run")
    assert opened.sql("SELECT text FROM stimuli")["text"].tolist() == ["Read.\nTea is hot."]
    assert sorted(opened.sql("SELECT model FROM responses")["model"]) == ["mac", "unix", "windows"]


def test_line_ends_are_unified_at_any_depth():
    unified = unify_line_ends_of_all_texts(["a\r\n\r\nb\rc", ("\r",), {"k": "\r\n"}, 3, None])
    assert unified == ["a\n\nb\nc", ("\n",), {"k": "\n"}, 3, None]
