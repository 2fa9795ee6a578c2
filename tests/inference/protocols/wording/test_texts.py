"""Texts with gold labels: scales mapped, neutrals dropped, samples that stay, and one line for what cannot be read."""

from __future__ import annotations

import json
import random

import pandas as pd
import pytest

from ground.errors import InputError
from inference.protocols.wording import exemplars, sources, templates, texts
from inference.protocols.wording.comparisons import Comparison, parse_column_comparison
from inference.protocols.wording.templates import MANIPULATED
from inference.protocols.wording.texts import Columns, Text


def csv(tmp_path, content: str):
    path = tmp_path / "given.csv"
    path.write_text(content, encoding="utf-8")
    return path


def columns(**given) -> Columns:
    return Columns.parse(**{"text": "t", "gold": "g", "item": None, "yes_if": ">=1", "no_if": "<=-1", **given})


def pool(size: int = 40) -> tuple[Text, ...]:
    return tuple(Text(f"i{n}", f"Text {n}.", "yes" if n % 4 else "no") for n in range(size))


@pytest.mark.parametrize(
    ("comparison", "yes", "no"),
    [
        (">=1", ["1", "1.0", "3", "+2e1"], ["0.99", "-1"]),
        ("<=-1", ["-1", "-3.5"], ["0", "1"]),
        (">0", ["0.1"], ["0"]),
        ("<0", ["-0.1"], ["0"]),
        ("=positive", ["positive", "Positive"], ["negative", "positively"]),
        ("= a, b ", ["a", "b", "B"], ["a, b", "c"]),
        ("=1", ["1", "1.0", "01"], ["10", "-1", "one"]),
        ("=True", ["True", "true"], ["1", "False"]),
    ],
)
def test_comparisons(comparison, yes, no):
    parsed = Comparison.parse(comparison, "--yes-if")
    assert [parsed.holds(value) for value in (*yes, *no)] == [True] * len(yes) + [False] * len(no)


@pytest.mark.parametrize(
    "wrong", ["1", "", "positive", "==1", ">=one", ">=1,2", "=", "=a,,b", ">", "!=1", ">=nan", ">=1e999"]
)
def test_comparisons_that_cannot_be_read(wrong):
    with pytest.raises(InputError, match=r"^--yes-if '"):
        Comparison.parse(wrong, "--yes-if")


@pytest.mark.parametrize("comparison", ["=0.5", "=1,0.5", ">=0.5"])
def test_a_number_with_a_comma_is_not_taken_for_a_word(comparison):
    with pytest.raises(
        InputError, match=r"'0,5' cannot be compared with .*; write the number with a point, not a comma"
    ):
        Comparison.parse(comparison, "--yes-if").holds("0,5")
    assert not Comparison.parse("=positive", "--yes-if").holds("0,5")


def test_conditions_on_other_columns():
    column, wanted = parse_column_comparison("n words<=20", "--where")
    assert column == "n words" and wanted.holds("20") and not wanted.holds("21")
    with pytest.raises(InputError, match="--where '=3': give a column and a comparison"):
        parse_column_comparison("=3", "--where")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "yaml"])
def test_a_scale_is_mapped_and_its_middle_dropped(tmp_path, kind):
    # Takayama et al., section 4.1: at least 1 is positive, at most -1 negative, 0 is left out.
    frame = pd.DataFrame({"t": [f"Text {n}." for n in range(-3, 4)], "g": list(range(-3, 4)), "k": ["a"] * 6 + ["b"]})
    path = tmp_path / f"given.{kind}"
    if kind == "csv":
        frame.to_csv(path)  # with pandas' column of row numbers, which has no name
    elif kind == "parquet":
        frame.to_parquet(path)
    else:  # JSON is YAML
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    found = texts.read_pool_of_wording_texts(path, columns())
    assert [text.gold for text in found.texts] == ["no"] * 3 + ["yes"] * 3
    assert (found.rows, found.neutral, found.repeated, found.filtered) == (7, 1, 0, 0)
    assert found.describe_rows_read_and_kept() == "7 rows, 1 neutral, dropped: 6 items (3 yes, 3 no)"
    assert texts.read_pool_of_wording_texts(path, columns(where=["k=a"])).describe_rows_read_and_kept() == (
        "7 rows, 1 left out by --where, 1 neutral, dropped: 5 items (2 yes, 3 no)"
    )


def test_items_are_known_by_their_text_or_by_a_column(tmp_path):
    path = csv(tmp_path, "id,t,g\n7,One. ,1\n8,Two.,-1\n9,One.,1\n")
    by_text = texts.read_pool_of_wording_texts(path, columns())
    assert by_text.repeated == 1
    assert [text.text for text in by_text.texts] == ["One.", "Two."]
    assert [text.item for text in texts.read_pool_of_wording_texts(path, columns(item="id")).texts] == ["7", "8", "9"]
    moved = texts.read_pool_of_wording_texts(csv(tmp_path, "t,g\nNew.,1\nOne.,1\n"), columns())
    assert moved.texts[1].item == by_text.texts[0].item


def test_gold_may_be_absent_or_say_it_itself(tmp_path):
    path = csv(tmp_path, "t,g\nOne.,Yes\nTwo.,no\n")
    pool = texts.read_pool_of_wording_texts(path, columns(yes_if=None, no_if=None))
    assert [text.gold for text in pool.texts] == ["yes", "no"]
    pool = texts.read_pool_of_wording_texts(path, columns(gold=None, yes_if=None, no_if=None))
    assert [text.gold for text in pool.texts] == [None, None]


@pytest.mark.parametrize(
    ("content", "given", "message"),
    [
        ("t,g\nOne.,1\nTwo.,high\n", {}, "row 3: 'high' is not a number, so it cannot be compared with >=1"),
        ("t,g\nOne.,1\nTwo.,\n", {}, "row 3: column 'g' is empty"),
        ("t,g\nOne.,1\n,1\n", {}, "row 3: column 't' is empty"),
        ("t,g\nOne.,1\n", {"no_if": "<=1"}, r"row 2: gold '1' means both yes \(>=1\) and no \(<=1\)"),
        ("t,g\nOne.,1\n", {"yes_if": None, "no_if": None}, "row 2: gold is '1', neither yes nor no; .*--yes-if"),
        ("t,g\nOne.,1\nOne.,-1\n", {}, "row 3: the same text is in row 2 with another gold answer"),
        ("i,t,g\na,One.,1\na,Two.,-1\n", {"item": "i"}, "row 3: item 'a' is already in row 2"),
        ("text,g\nOne.,1\n", {}, "column 't' is not there; the columns are text, g"),
        ("t,g\nOne.,0\n", {}, r"of 1 row none is left \(0 filtered out, 1 neutral\)"),
    ],
)  # fmt: skip
def test_one_line_with_file_and_row(tmp_path, content, given, message):
    path = csv(tmp_path, content)
    with pytest.raises(InputError, match=message) as raised:
        texts.read_pool_of_wording_texts(path, columns(**given))
    assert str(raised.value).startswith(str(path)) and "\n" not in str(raised.value)


def test_texts_that_are_none(tmp_path):
    path = tmp_path / "given.json"
    path.write_text(json.dumps([{"t": 3, "g": 1}]), encoding="utf-8")
    with pytest.raises(InputError, match="entry 1: column 't' must be text, not 3"):
        texts.read_pool_of_wording_texts(path, columns())
    path.write_text('[{"t": "\\ud83d", "g": 1}]', encoding="utf-8")
    with pytest.raises(InputError, match="entry 1: broken character"):
        texts.read_pool_of_wording_texts(path, columns())


def test_yes_and_no_go_together():
    with pytest.raises(InputError, match="--yes-if and --no-if go together"):
        columns(no_if=None)
    with pytest.raises(InputError, match="name it with --gold-column"):
        columns(gold=None)


@pytest.mark.parametrize("balanced", [False, True])
def test_a_sample_stays_when_items_are_reordered_and_hardly_moves_when_some_are_added(balanced):
    given = pool()
    drawn = texts.sample_texts_by_seed(given, 16, balanced, 3)
    shuffled = random.Random(0).sample(given, len(given))
    assert set(texts.sample_texts_by_seed(tuple(shuffled), 16, balanced, 3)) == set(drawn)
    assert drawn == tuple(text for text in given if text in drawn)  # in the order of the file
    added = (*given, *(Text(f"new{n}", f"New {n}.", "yes") for n in range(4)))
    assert len(set(drawn) - set(texts.sample_texts_by_seed(added, 16, balanced, 3))) <= 4
    assert set(texts.sample_texts_by_seed(given, 16, balanced, 4)) != set(drawn)
    golds = [text.gold for text in drawn]
    assert not balanced or golds.count("yes") == golds.count("no") == 8


def test_samples_that_cannot_be_drawn():
    assert texts.sample_texts_by_seed(pool(), None, False, 0) == pool()
    assert len(texts.sample_texts_by_seed(pool(), None, True, 0)) == 20
    for size, balanced, message in (
        (41, False, "--sample 41: there is no more to ask than 40 items"),
        (22, True, "there are 30 with gold yes and 10 with gold no to ask; at most 20"),
        (7, True, "give an even number"),
    ):
        with pytest.raises(InputError, match=message):
            texts.sample_texts_by_seed(pool(), size, balanced, 0)


class TestExemplars:
    """Four fixed exemplars, one per manipulated pattern, two answers of each kind."""

    bank = templates.read_template_bank("sentiment", "en")

    @pytest.mark.parametrize("seed", range(6))
    def test_drawn_ones_are_balanced_as_shown_and_stay(self, seed):
        drawn = exemplars.draw_wording_exemplars(pool(), self.bank, seed)
        assert [each.pattern for each in drawn] == list(MANIPULATED)
        assert sorted(each.shot.label for each in drawn) == ["no", "no", "yes", "yes"]
        assert len({each.text.item for each in drawn}) == 4
        for each in drawn:
            assert (each.shot.label == each.text.gold) == (each.pattern != "antonym")
            assert each.text.text in each.shot.question
        assert exemplars.draw_wording_exemplars(pool()[::-1], self.bank, seed) == drawn
        # A sample is taken from the other end of the same order, so that few-shot does not change it.
        left = tuple(text for text in pool() if text not in {each.text for each in drawn})
        assert texts.sample_texts_by_seed(left, 10, True, seed) == texts.sample_texts_by_seed(pool(), 10, True, seed)

    def test_the_seed_decides_which_patterns_show_yes(self):
        shown = {
            tuple(each.shot.label for each in exemplars.draw_wording_exemplars(pool(), self.bank, seed))
            for seed in range(40)
        }
        assert len(shown) == 6

    def test_too_few_items(self):
        with pytest.raises(InputError, match=r"none left with gold (yes|no); give more items, or --exemplars FILE"):
            exemplars.draw_wording_exemplars(tuple(text for text in pool() if text.gold == "yes"), self.bank, 0)

    rows = ("synonym,A joy.,yes", "antonym,A pity.,no", "agreement,A mess.,no", "strong_agreement,A bore.,no")

    def test_a_file(self, tmp_path):
        path = csv(tmp_path, "\n".join(("pattern,text,gold", *self.rows)))
        read = exemplars.read_exemplars(path, self.bank, 0)
        assert [each.shot.label for each in read] == ["yes", "yes", "no", "no"]
        assert exemplars.compute_wording_exemplars_hash(read) == exemplars.compute_wording_exemplars_hash(
            exemplars.read_exemplars(path, self.bank, 0)
        )
        assert exemplars.compute_wording_exemplars_hash(read) != exemplars.compute_wording_exemplars_hash(read[::-1])

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (rows[:3], "needs one exemplar each of synonym, .*; there are synonym, antonym, agreement"),
            ((*rows[:3], "strong,A bore.,no"), "row 5: pattern must be one of synonym, .* not 'strong'"),
            ((*rows[:3], "strong_agreement,A bore.,maybe"), "row 5: gold is 'maybe', neither yes nor no"),
            ((*rows[:3], "strong_agreement,A win.,yes"), "of the answers shown, 3 say Yes and 1 No; two each"),
        ],
    )
    def test_files_that_are_refused(self, tmp_path, rows, message):
        with pytest.raises(InputError, match=message):
            exemplars.read_exemplars(csv(tmp_path, "\n".join(("pattern,text,gold", *rows))), self.bank, 0)


@pytest.mark.parametrize("name", sources.SENTIMENT)
def test_our_sentiment_items_are_balanced_and_enough(name):
    found = sources._read_sentiment_texts(name)
    golds = [text.gold for text in found.texts]
    assert golds.count("yes") == golds.count("no") >= 30
    assert len({text.text for text in found.texts}) == found.rows == len(golds)
    japanese = [any("ぁ" <= character <= "ん" for character in text.text) for text in found.texts]
    assert set(japanese) == {name.endswith("ja")}


def test_the_facts_of_the_demo_world_agree_with_it():
    from inference.demo.world import World

    world = World()
    stated = {text.item: text for text in sources._build_pool_of_demo_world_facts().texts}
    assert len(stated) >= 100
    assert sum(text.gold == "yes" for text in stated.values()) * 2 == len(stated)
    for thing, about in world.things.items():
        so, otherwise = (stated[f"{thing}-colour-{kind}"] for kind in ("so", "otherwise"))
        assert (so.gold, otherwise.gold) == ("yes", "no")
        assert f"{about['colour']}" in so.text.split() and about["colour"] not in otherwise.text.split()
        assert not so.text.endswith(".") and so.text[0].islower()
