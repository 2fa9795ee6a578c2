"""Hand checking in a spreadsheet, and several sources in one items file."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from ground.errors import InputError
from ground.spreadsheet import escape_formula, unescape_formula
from inference.__main__ import main
from inference.paraphrase.combining import (
    combine_paraphrases,
    describe_paraphrase_counts_by_source,
    list_sources_of_paraphrase,
)
from inference.paraphrase.decoys import Decoy
from inference.paraphrase.itemsfile import write_items_file
from inference.paraphrase.match import add_share_of_matching_paraphrases
from inference.paraphrase.sheet import write_match_sheets
from inference.paraphrase.votes import describe_accepted_decoys_by_annotator, read_votes_of_sheets
from inference.stimuli import items

pytestmark = pytest.mark.slow


def nested(path, paraphrases, text="Thing {} is good.", **fields):
    """Items 0, 1 ... with these paraphrases each."""
    entries = [
        {"item": str(number), "text": text.format(number), "paraphrases": texts, **fields}
        for number, texts in enumerate(paraphrases)
    ]
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@pytest.fixture
def two(tmp_path):
    """Two sources of three items: one shared wording, and an item of which the second has none."""
    a = nested(tmp_path / "a.json", [[f"A {n} {k}" for k in range(4)] for n in range(3)])
    b = nested(tmp_path / "b.json", [["B 0 0", "A 0 1", "B 0 2"], [], ["B 2 0", "B 2 1"]])
    return [("a", a), ("b", b)]


def filled(path, verdict, delimiter=","):
    """The sheet as it comes back from a spreadsheet."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["match"] = verdict(number, row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return rows


def write(path, given, n_each, seed=0):
    """Write a sheet; the number of its rows."""
    return write_match_sheets(path, given, n_each, seed).n_wordings


def check(path, given):
    """The items as one filled sheet leaves them."""
    return add_share_of_matching_paraphrases(read_votes_of_sheets({"ann": path}, given), given).items


# several sources


def test_every_paraphrase_says_who_made_it_and_is_asked_once(two, tmp_path):
    combined = combine_paraphrases(two)
    write_items_file(tmp_path / "both.jsonl", combined)
    assert items.read_and_check_items(str(tmp_path / "both.jsonl")) == combined
    first = {
        variant.text: (variant.variant, list_sources_of_paraphrase(variant)) for variant in combined[0].paraphrases
    }
    assert first["A 0 0"] == ("a:paraphrase-001", ("a",))
    assert first["B 0 0"] == ("b:paraphrase-001", ("b",))
    assert first["A 0 1"] == ("a:paraphrase-002", ("a", "b"))
    assert [len(item.paraphrases) for item in combined] == [6, 4, 6]
    assert [sum(variant.pattern == "original" for variant in item.variants) for item in combined] == [1, 1, 1]


def test_the_summary_names_what_is_missing_from_a_source(two):
    assert describe_paraphrase_counts_by_source(combine_paraphrases(two)) == [
        "a: 12 paraphrases of 3 items, 1 of them another source's, too",
        "b: 5 paraphrases of 2 items, 1 of them another source's, too; none of 1",
    ]


def test_combining_again_changes_nothing(two, tmp_path):
    write_items_file(tmp_path / "both.jsonl", combine_paraphrases(two))
    assert combine_paraphrases([(None, tmp_path / "both.jsonl")]) == combine_paraphrases(two)


def test_two_files_of_one_source_with_other_wordings_of_one_name_are_refused(tmp_path):
    """The file that was written had two variants of one name, and no command read it."""
    a, b = (nested(tmp_path / f"{name}.json", [[name.upper()]]) for name in "ab")
    with pytest.raises(InputError, match=r"b\.json: item '0': another wording is called 'gpt:.*; name this file's"):
        combine_paraphrases([("gpt", a), ("gpt", b)])


def test_a_match_proportion_stays_with_the_paraphrases_it_was_found_for(tmp_path):
    a = nested(tmp_path / "a.json", [["A"]], attributes={"match_proportion": "0.80", "theme": "x"})
    b = nested(tmp_path / "b.json", [["B"]], attributes={"match_proportion": "0.60"})
    original, one, other = combine_paraphrases([("a", a), ("b", b)])[0].variants
    assert original.attributes == {"theme": "x"}
    assert (one.attributes["match_proportion"], other.attributes["match_proportion"]) == ("0.80", "0.60")


def test_a_wording_of_two_files_keeps_what_either_says_and_loses_what_they_differ_on(tmp_path):
    a = nested(tmp_path / "a.json", [["A"]], attributes={"theme": "x", "round": "1"})
    b = nested(tmp_path / "b.json", [["A"]], language="de", attributes={"topic": "y", "round": "2"})
    original, paraphrase = combine_paraphrases([("a", a), ("b", b)])[0].variants
    assert (original.language, original.attributes) == ("de", {"theme": "x", "topic": "y"})
    assert (paraphrase.language, paraphrase.attributes) == ("de", {"theme": "x", "topic": "y", "source": "a|b"})


def test_an_attribute_on_which_two_files_differ_does_not_come_back_with_a_third(tmp_path):
    files = [(n, nested(tmp_path / f"{n}.json", [["A"]], attributes={"round": n})) for n in ("a", "b", "c")]
    original, paraphrase = combine_paraphrases(files)[0].variants
    assert (original.attributes, paraphrase.attributes) == ({}, {"source": "a|b|c"})


def test_two_files_that_say_another_language_of_a_wording_are_refused(tmp_path):
    a, b = (nested(tmp_path / f"{code}.json", [["A"]], language=code) for code in ("de", "en"))
    with pytest.raises(InputError, match=r"en\.json: item '0': the language of 'Thing 0 is good\.' is en here and de"):
        combine_paraphrases([("a", a), ("b", b)])


def test_two_files_that_call_a_wording_by_two_patterns_are_refused(tmp_path):
    for pattern in ("paraphrase", "negation"):
        lines = ["item,pattern,text", "t,original,Tea is good", f"t,{pattern},Tea is not good"]
        (tmp_path / f"{pattern}.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="the pattern of 'Tea is not good' is negation here and paraphrase before"):
        combine_paraphrases([(name, tmp_path / f"{name}.csv") for name in ("paraphrase", "negation")])


@pytest.mark.parametrize(
    ("source", "fields", "message"),
    [
        (None, {}, "has no attribute 'source'; name who made these paraphrases: NAME="),
        ("a|b", {}, "without '|'"),
        ("b", {"text": "Another {}."}, "item '0' differs from that in"),
    ],
)
def test_sets_that_do_not_go_together_are_refused(tmp_path, source, fields, message):
    a = nested(tmp_path / "a.json", [["A"]])
    b = nested(tmp_path / "b.json", [["B"]], **fields)
    with pytest.raises(InputError, match=r"b\.json") as raised:
        combine_paraphrases([("a", a), (source, b)])
    assert message in str(raised.value)


def test_the_published_sets_combine_with_one_command(shared, tmp_path, capsys):
    """62 items, 30,848 and 28,000 paraphrases (shared/data/README.md), 41 wordings in both; six items lack Claude's."""
    folder = shared / "political-compass-paraphrases"
    gpt, claude = (
        folder / "paraphrases_gpt3.5-turbo_temp1.json",
        folder / "paraphrases_claude-3-5-sonnet-20240620_temp1.json",
    )
    out = tmp_path / "both.jsonl"
    assert main(["paraphrase", "combine", f"gpt={gpt}", f"claude={claude}", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "gpt: 30,848 paraphrases of 62 items" in said
    assert "claude: 28,000 paraphrases of 56 items" in said and "none of 3, 26, 31, 36, 48, 60" in said
    assert len(out.read_text(encoding="utf-8").splitlines()) == 62 + 30_848 + 28_000 - 41


# checking by hand


def test_a_sheet_goes_to_the_spreadsheet_and_back(two, tmp_path):
    combined = combine_paraphrases(two)
    assert write(tmp_path / "sheet.csv", combined, 2, seed=0) == len(
        {
            (row["item"], row["paraphrase"])
            for row in filled(
                tmp_path / "sheet.csv", lambda n, row: " Yes " if row["paraphrase"][0] == "A" else "n", ";"
            )
        }
    )
    back = check(tmp_path / "sheet.csv", combined)
    of = {variant.variant: variant.attributes for variant in back[2].variants}
    assert (of["a:paraphrase-001"]["match_proportion"], of["a:paraphrase-001"]["match_n"]) == ("1.00", "2")
    assert (of["b:paraphrase-001"]["match_proportion"], of["b:paraphrase-001"]["match_n"]) == ("0.00", "2")
    assert of["original"]["match_proportion"] == "0.50" and of["original"]["match_n"] == "4"
    assert [variant.text for item in back for variant in item.variants] == [
        variant.text for item in combined for variant in item.variants
    ]


def test_the_draw_follows_from_the_seed(two, tmp_path):
    combined = combine_paraphrases(two)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write(tmp_path / f"{name}.csv", combined, 2, seed)
    a, b, c = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert a == b != c


def test_texts_never_become_formulas(tmp_path):
    hostile = ['=HYPERLINK("http://x")', "+1", "-1 is cold", "@SUM(A1)", "'=1", 'a, "b"\nc', "＝2"]
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [hostile], text="=1+{}")))
    write(tmp_path / "sheet.csv", given, 9, seed=0)
    rows = filled(tmp_path / "sheet.csv", lambda number, row: "1")
    assert [unescape_formula(row["paraphrase"]) for row in rows] == hostile
    assert not any(row[column][0] in "=+-@＝" for row in rows for column in ("original", "paraphrase"))
    assert rows[0]["original"] == "'=1+0"
    assert check(tmp_path / "sheet.csv", given)[0].original.attributes["match_proportion"] == "1.00"


@pytest.mark.parametrize("cell", ["", "tea", "=1", "'=1", "''=1", "'tea'", "\t=1", "-", "'"])
def test_a_safe_cell_reads_back(cell):
    assert unescape_formula(escape_formula(cell)) == cell


def test_a_filled_sheet_is_never_overwritten(two, tmp_path):
    (tmp_path / "sheet.csv").write_text("work of days")
    with pytest.raises(InputError, match="is there already"):
        write(tmp_path / "sheet.csv", combine_paraphrases(two), 2, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"match": ""}, "row 3: match is empty (1 row is); write yes or no"),
        ({"match": "perhaps"}, "row 3: match is 'perhaps'; write yes or no"),
        ({"item": "9"}, "row 3: there is no item '9' in the items"),
        ({"paraphrase": "Quite another."}, "row 3: the paraphrase is not that of the items"),
        ({"paraphrase": "One."}, "row 3: this paraphrase of item '0' is there twice"),
    ],
)
def test_a_row_that_cannot_count_is_named(tmp_path, change, message):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["One.", "Two."]])))
    write(tmp_path / "sheet.csv", given, 2, seed=0)
    rows = filled(tmp_path / "sheet.csv", lambda number, row: "yes")
    with (tmp_path / "sheet.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows([rows[0], {**rows[1], **change}])
    with pytest.raises(InputError, match=r"sheet\.csv") as raised:
        check(tmp_path / "sheet.csv", given)
    assert message in str(raised.value)


def test_a_spreadsheet_may_change_quotes_and_spaces(tmp_path):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["It's  'good'."]])))
    write(tmp_path / "sheet.csv", given, 2, seed=0)
    rows = filled(tmp_path / "sheet.csv", lambda number, row: "yes")
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8").replace(rows[0]["paraphrase"], "It’s ‘good’.")
    (tmp_path / "sheet.csv").write_text(text, encoding="utf-8")
    assert check(tmp_path / "sheet.csv", given)[0].paraphrases[0].attributes["match_n"] == "1"


def test_items_that_were_not_checked_keep_what_they_have(tmp_path):
    given = items.read_and_check_items(
        str(nested(tmp_path / "a.json", [["One."], ["Two."]], attributes={"match_proportion": "0.80"}))
    )
    write(tmp_path / "sheet.csv", given[:1], 1, seed=0)
    filled(tmp_path / "sheet.csv", lambda number, row: "no")
    back = check(tmp_path / "sheet.csv", given)
    assert [item.original.attributes["match_proportion"] for item in back] == ["0.00", "0.80"]


def test_the_three_commands_in_a_row(two, tmp_path, capsys):
    def call(*arguments):
        assert main(["paraphrase", *map(str, arguments)]) == 0, capsys.readouterr().err

    both, sheet = tmp_path / "both.jsonl", tmp_path / "sheet.csv"
    call("combine", *(f"{name}={path}" for name, path in two), "--out", both)
    call("sheet", "--items", both, "--each", 2, "--out", sheet)
    filled(sheet, lambda number, row: "yes")
    call("checked", sheet, "--items", both, "--out", both)
    match = {
        v.attributes.get("match_proportion") for item in items.read_and_check_items(str(both)) for v in item.variants
    }
    assert match == {"1.00"}


@pytest.mark.parametrize(("more", "said", "left"), [
    ([], "marked with no: 2 paraphrases; --drop leaves such out", ["One.", "Two.", "Three.", "Four."]),
    (["--drop"], "marked with no and left out: 2 paraphrases", ["One.", "Three."]),
])  # fmt: skip
def test_what_is_marked_with_no_stays_or_is_left_out(tmp_path, capsys, more, said, left):
    given = nested(tmp_path / "a.json", [["One.", "Two.", "Three.", "Four."]])
    write(tmp_path / "sheet.csv", items.read_and_check_items(str(given)), 4, seed=0)
    filled(tmp_path / "sheet.csv", lambda number, row: "no" if row["paraphrase"] in ("Two.", "Four.") else "yes")
    out = tmp_path / "out.jsonl"
    call = ["paraphrase", "checked", str(tmp_path / "sheet.csv"), "--items", str(given), "--out", str(out)]
    assert main([*call, *more]) == 0
    assert said in capsys.readouterr().out.splitlines()
    (item,) = items.read_and_check_items(str(out))
    assert [variant.text for variant in item.paraphrases] == left
    assert {variant.attributes["match_proportion"] for variant in item.variants} == {"0.50"}


def test_an_original_is_not_refused_with_a_paraphrase_that_differs_in_a_mark_only(tmp_path, capsys):
    given = nested(tmp_path / "a.json", [["Thing 0 is good!", "Two."]])
    write(tmp_path / "sheet.csv", items.read_and_check_items(str(given)), 2, seed=0)
    filled(tmp_path / "sheet.csv", lambda number, row: "yes" if row["paraphrase"] == "Two." else "no")
    out = tmp_path / "out.jsonl"
    call = ["paraphrase", "checked", str(tmp_path / "sheet.csv"), "--items", str(given), "--out", str(out), "--drop"]
    assert main(call) == 0
    assert "marked with no and left out: 1 paraphrase" in capsys.readouterr().out.splitlines()
    (item,) = items.read_and_check_items(str(out))
    assert [variant.text for variant in item.variants] == ["Thing 0 is good.", "Two."]


def test_an_item_of_which_no_wording_is_left_is_named(tmp_path, capsys):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["One."], ["Two."]])))
    write_items_file(tmp_path / "lonely.jsonl", [replace(item, variants=item.paraphrases) for item in given])
    write(tmp_path / "sheet.csv", items.read_and_check_items(str(tmp_path / "lonely.jsonl")), 1, seed=0)
    filled(tmp_path / "sheet.csv", lambda number, row: "yes" if number else "no")
    call = ["paraphrase", "checked", str(tmp_path / "sheet.csv"), "--items", str(tmp_path / "lonely.jsonl"), "--drop"]
    assert main([*call, "--out", str(tmp_path / "out.jsonl")]) == 0
    assert "no wording is left of 0" in capsys.readouterr().out.splitlines()
    filled(tmp_path / "sheet.csv", lambda number, row: "no")
    assert main([*call, "--out", str(tmp_path / "none.jsonl")]) == 2
    assert "with --drop no wording is left" in capsys.readouterr().err
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["combine", "a=a.json", "--out", "both.csv"], "let the name end in .jsonl"),
        (["sheet", "--items", "a.json", "--out", "sheet.xlsx"], "the sheet is a .csv file"),
        (
            ["sheet", "--items", "empty.json", "--out", "sheet.csv"],
            "empty.json: there are no paraphrases to check; let `waver paraphrase make` write some",
        ),
        (["checked", "a.json", "--items", "a.json", "--out", "x.jsonl"], "a sheet is a .csv file"),
        (["checked", "nowhere.csv", "--items", "a.json", "--out", "x.jsonl"], "nowhere.csv: cannot be read"),
    ],
)
def test_a_wrong_call_is_answered_in_one_line(tmp_path, monkeypatch, capsys, call, message):
    monkeypatch.chdir(tmp_path)
    nested(tmp_path / "a.json", [["One."]])
    nested(tmp_path / "empty.json", [[]])
    assert main(["paraphrase", *call]) == 2
    shown = capsys.readouterr().err
    assert message in shown and shown.count("\n") == 1


def test_an_item_of_paraphrases_only_can_be_checked_but_not_combined(tmp_path):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["One."]])))
    lonely = [replace(given[0], variants=given[0].paraphrases)]
    assert write(tmp_path / "sheet.csv", lonely, 1, seed=0) == 1
    write_items_file(tmp_path / "lonely.jsonl", lonely)
    with pytest.raises(InputError, match="item '0' has no original"):
        combine_paraphrases([("a", tmp_path / "lonely.jsonl")])


def annotate(path, verdicts):
    """Fill a sheet by the text of its rows."""
    return filled(path, lambda number, row: verdicts[row["paraphrase"]])


@pytest.fixture
def decoyed(tmp_path):
    """Two items of six wordings, their decoys, and the sheets of two annotators."""
    given = items.read_and_check_items(
        str(nested(tmp_path / "a.json", [[f"Good {n} {k}" for k in range(6)] for n in "xy"]))
    )
    decoys = [
        Decoy(item, f"decoy-{kind}-{n}", kind, f"Bad {item} {kind} {n}", "made by hand")
        for item in "01"
        for kind in ("negated", "shuffled")
        for n in (1, 2)
    ]
    sheets = write_match_sheets(
        tmp_path / "s.csv", given, 6, 0, decoys=decoys, n_decoys_each=2, annotators=["ana", "ben"]
    )
    return given, decoys, sheets


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_annotators_get_the_same_rows_in_another_order_with_decoys_unseen(decoyed, tmp_path):
    _, decoys, sheets = decoyed
    assert [path.name for path in sheets.paths] == ["s-ana.csv", "s-ben.csv"]
    assert (sheets.n_wordings, sheets.n_decoys, sheets.items_without_decoy) == (12, 4, ())
    ana, ben = map(rows_of, sheets.paths)
    assert ana != ben and sorted(map(str, ana)) == sorted(map(str, ben))
    assert list(ana[0]) == ["item", "original", "paraphrase", "match"]
    # The draw takes one of each kind before a second one of any, and decoys stand among the wordings, not behind them.
    kinds = [(row["item"], decoy.decoy) for row in ana for decoy in decoys if decoy.text == row["paraphrase"]]
    assert sorted(kinds) == [(item, kind) for item in "01" for kind in ("negated", "shuffled")]
    places = [number for number, row in enumerate(ana) if row["paraphrase"].startswith("Bad")]
    assert places != [6, 7, 14, 15]


def test_votes_are_those_of_wordings_and_those_of_decoys(decoyed):
    given, decoys, (ana, ben) = *decoyed[:2], decoyed[2].paths
    filled(ana, lambda number, row: "no" if row["paraphrase"].startswith("Bad") else "yes")
    filled(ben, lambda number, row: "no" if row["paraphrase"] == "Good x 3" else "YES")
    votes = read_votes_of_sheets({"ana": ana, "ben": ben}, given, decoys)
    assert votes.notes == ()
    assert set(votes.wordings["ana"].values()) == {True} and len(votes.wordings["ana"]) == 12
    assert [key for key, vote in votes.wordings["ben"].items() if not vote] == [("0", "paraphrase-004")]
    assert (set(votes.decoys["ana"].values()), set(votes.decoys["ben"].values())) == ({False}, {True})
    assert set(votes.decoys["ana"]) <= {decoy.key for decoy in decoys} and len(votes.decoys["ana"]) == 4
    assert describe_accepted_decoys_by_annotator(votes) == [
        "ana: 0 of 4 decoys are marked with yes",
        "ben: 4 of 4 decoys are marked with yes",
    ]
    assert votes.count_votes()["0", "paraphrase-004"] == (1, 1)
    checked = add_share_of_matching_paraphrases(votes, given, drop_refused=True)
    assert checked.tied_keys == {("0", "paraphrase-004")} and not checked.refused_keys
    assert [item.original.attributes["match_n"] for item in checked.items] == ["5", "6"]


def test_the_majority_of_three_counts(tmp_path):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["One.", "Two."]])))
    verdicts = {"ana": ("yes", "no"), "ben": ("yes", "no"), "eva": ("no", "yes")}
    sheets = write_match_sheets(tmp_path / "s.csv", given, 2, 0, annotators=list(verdicts)).paths
    for path, (one, two) in zip(sheets, verdicts.values(), strict=True):
        annotate(path, {"One.": one, "Two.": two})
    checked = add_share_of_matching_paraphrases(
        read_votes_of_sheets(dict(zip(verdicts, sheets, strict=True)), given), given
    )
    assert checked.refused_keys == {("0", "paraphrase-002")}
    assert checked.items[0].original.attributes["match_proportion"] == "0.50"


def test_a_wording_that_an_item_has_twice_is_one_row_and_its_vote_counts_for_both(tmp_path):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["One.", "Two."]])))
    twin = replace(given[0].paraphrases[0], variant="twin", text="one")
    given = [replace(given[0], variants=(*given[0].variants, twin))]
    assert write(tmp_path / "s.csv", given, 9) == 2
    annotate(tmp_path / "s.csv", {"One.": "no", "Two.": "yes"})
    votes = read_votes_of_sheets({"ana": tmp_path / "s.csv"}, given).wordings["ana"]
    assert votes == {("0", "paraphrase-001"): False, ("0", "twin"): False, ("0", "paraphrase-002"): True}


def test_a_sheet_of_an_earlier_version_is_read(tmp_path):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [["One.", "Two."]])))
    text = "item,variant,original,paraphrase,match\n0,paraphrase-001,Thing 0 is good.,One.,yes\n"
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    votes = read_votes_of_sheets({"ana": tmp_path / "s.csv"}, given)
    assert votes.wordings["ana"] == {("0", "paraphrase-001"): True}
    assert votes.notes == ("one annotator (ana): agreement between people is not known",)
    (tmp_path / "s.csv").write_text(text.replace("paraphrase-001", "paraphrase-002"), encoding="utf-8")
    with pytest.raises(InputError, match=r"s\.csv, row 2: the paraphrase is not that of the items"):
        read_votes_of_sheets({"ana": tmp_path / "s.csv"}, given)


def test_decoys_are_one_for_five_wordings_and_at_least_one(tmp_path):
    given = items.read_and_check_items(str(nested(tmp_path / "a.json", [[f"A {k}" for k in range(11)], ["B"], ["C"]])))
    decoys = [Decoy(item, f"decoy-negated-{n}", "negated", f"Not {n}", "") for item in "01" for n in range(9)]
    sheets = write_match_sheets(tmp_path / "s.csv", given, 15, 0, decoys=decoys)
    assert (sheets.n_wordings, sheets.n_decoys, sheets.items_without_decoy) == (13, 3, ("2",))


def test_people_check_with_decoys_from_the_first_command_to_the_last(tmp_path, capsys):
    def call(*arguments):
        assert main(["paraphrase", *map(str, arguments)]) == 0, capsys.readouterr().err
        return capsys.readouterr().out.splitlines()

    given, decoys = nested(tmp_path / "a.json", [["One.", "Two."], ["Red."]]), tmp_path / "decoys.csv"
    assert call("decoys", "--items", given, "--out", decoys)[-1].startswith(
        f"{decoys}: 2 negated, 2 antonym, 2 other_item"
    )
    said = call(
        "sheet", "--items", given, "--decoys", decoys, "--annotators", "ana", "ben", "--out", tmp_path / "sheet.csv"
    )
    assert said[0] == f"{tmp_path / 'sheet-ana.csv'}: 3 paraphrases and 2 decoys; write yes or no into the column match"
    for name in ("ana", "ben"):
        filled(tmp_path / f"sheet-{name}.csv", lambda number, row: "no" if row["paraphrase"] == "Two." else "yes")
    out = tmp_path / "out.jsonl"
    said = call(
        "checked",
        tmp_path / "sheet-ana.csv",
        tmp_path / "sheet-ben.csv",
        "--decoys",
        decoys,
        "--items",
        given,
        "--out",
        out,
    )
    assert said[:3] == [
        "ana: 2 of 2 decoys are marked with yes",
        "ben: 2 of 2 decoys are marked with yes",
        "marked with no: 1 paraphrase; --drop leaves such out",
    ]
    assert {variant.attributes["match_proportion"] for variant in items.read_and_check_items(str(out))[0].variants} == {
        "0.50"
    }
