"""Items from files: every shape and format, and one clear line for everything that can be wrong with them."""

from __future__ import annotations

import csv
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.errors import InputError
from inference.stimuli import items
from inference.stimuli.study import Item

LONG = [
    {"item": "a", "variant": "original", "text": "One."},
    {"item": "a", "variant": "p1", "text": "The first."},
    {"item": "b", "variant": "q", "text": "Two."},
]


def texts(loaded: tuple[Item, ...]) -> dict[str, list[tuple[str, str, str]]]:
    return {item.item: [(v.variant, v.pattern, v.text) for v in item.variants] for item in loaded}


def write(path, rows: list[dict]) -> str:
    """Rows in the format that the name asks for."""
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            names = list(dict.fromkeys(name for row in rows for name in row))
            writer = csv.DictWriter(file, names, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix in (".yaml", ".yml"):
        path.write_text(yaml.safe_dump(rows, allow_unicode=True), encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml", ".parquet"])
def test_long_rows_of_every_format(tmp_path, suffix):
    loaded = items.read_and_check_items(write(tmp_path / f"items{suffix}", LONG))
    assert texts(loaded) == {
        "a": [("original", "original", "One."), ("p1", "paraphrase", "The first.")],
        "b": [("q", "paraphrase", "Two.")],
    }


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".yaml", ".parquet"])
def test_nested_entries_of_every_format_that_nests(tmp_path, suffix):
    rows = [
        {"item": 7, "text": "One.", "paraphrases": ["The first.", "Number one."], "language": "en", "gold": "agree"},
        {"item": 8, "text": "Two.", "paraphrases": []},
    ]
    loaded = items.read_and_check_items(write(tmp_path / f"items{suffix}", rows))
    assert texts(loaded) == {
        "7": [
            ("original", "original", "One."),
            ("paraphrase-001", "paraphrase", "The first."),
            ("paraphrase-002", "paraphrase", "Number one."),
        ],
        "8": [("original", "original", "Two.")],
    }
    assert {(v.language, v.gold) for v in loaded[0].variants} == {("en", "agree")}


def test_a_variant_called_original_is_the_original_however_it_is_capitalised(tmp_path):
    rows = [{"item": "a", "variant": name, "text": name} for name in ("first", "Original")]
    (item,) = items.read_and_check_items(write(tmp_path / "items.csv", rows))
    assert [variant.pattern for variant in item.variants] == ["paraphrase", "original"]


def test_yes_and_no_are_texts_in_yaml(tmp_path):
    path = tmp_path / "items.yaml"
    path.write_text("- {item: on, text: yes}\n- {item: off, text: No}\n", encoding="utf-8")
    assert [(item.item, item.variants[0].text) for item in items.read_and_check_items(str(path))] == [
        ("on", "yes"),
        ("off", "No"),
    ]


def test_every_optional_field_of_a_long_row(tmp_path):
    row = {
        "item": "a", "variant": "v", "pattern": "synonym", "text": "One.", "language": "De-AT", "gold": "agree",
        "gold_score": "0.25", "attributes.subset": "x", "attributes.length": "1",
    }  # fmt: skip
    (item,) = items.read_and_check_items(write(tmp_path / "items.csv", [row]))
    (variant,) = item.variants
    assert (variant.pattern, variant.language, variant.gold, variant.gold_score) == ("synonym", "de-AT", "agree", 0.25)
    assert variant.attributes == {"subset": "x", "length": "1"}


def test_attributes_as_an_object_or_a_parquet_map(tmp_path):
    row = {"item": "a", "text": "One.", "attributes": {"subset": "x", "n": 2, "none": None}}
    (item,) = items.read_and_check_items(write(tmp_path / "items.jsonl", [row]))
    assert item.variants[0].attributes == {"subset": "x", "n": "2"}
    table = pa.table(
        {
            "item": ["a"],
            "text": ["One."],
            "attributes": pa.array([[("subset", "x")]], pa.map_(pa.string(), pa.string())),
        }
    )
    pq.write_table(table, tmp_path / "items.parquet")
    assert items.read_and_check_items(str(tmp_path / "items.parquet"))[0].variants[0].attributes == {"subset": "x"}


def test_without_variant_and_pattern_the_first_row_of_an_item_is_its_original(tmp_path):
    rows = [{"item": i, "text": t} for i, t in [("a", "A1"), ("b", "B1"), ("a", "A2"), ("a", "A3")]]
    assert texts(items.read_and_check_items(write(tmp_path / "items.csv", rows))) == {
        "a": [
            ("original", "original", "A1"),
            ("paraphrase-001", "paraphrase", "A2"),
            ("paraphrase-002", "paraphrase", "A3"),
        ],
        "b": [("original", "original", "B1")],
    }


@pytest.mark.parametrize("name", ["published.json", "published.jsonl"])
def test_the_published_shape_is_one_list_under_either_name(tmp_path, name):
    entries = [
        {
            "response": "",
            "id": 0,
            "original_statement": "One.",
            "alternative_statements": ["Number one.", " The first."],
        },
        {"response": "", "id": 1, "original_statement": "Two.", "alternative_statements": []},
    ]
    (tmp_path / name).write_text(json.dumps(entries, indent=2), encoding="utf-8")
    loaded = items.read_and_check_items(str(tmp_path / name))
    assert [v.text for v in loaded[0].variants] == ["One.", "Number one.", " The first."]  # to the letter
    assert [len(item.paraphrases) for item in loaded] == [2, 0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_spreadsheets_write_marks_semicolons_and_tabs(tmp_path, encoding, delimiter):
    text = delimiter.join(["item", "text"]) + "\r\n" + delimiter.join(["a", '"Über, ""uns""; und\nmehr"']) + "\r\n\r\n"
    (tmp_path / "items.csv").write_bytes(text.encode(encoding))
    assert texts(items.read_and_check_items(str(tmp_path / "items.csv"))) == {
        "a": [("original", "original", 'Über, "uns"; und\nmehr')]
    }


def test_the_word_demo_is_the_embedded_questionnaire(tmp_path, monkeypatch):
    monkeypatch.setattr(items, "DEMO_FILE", tmp_path / "questionnaire.yaml")
    write(tmp_path / "questionnaire.yaml", [{"item": "a", "text": "One.", "paraphrases": ["The first."]}])
    assert texts(items.read_and_check_items("demo")) == {
        "a": [("original", "original", "One."), ("paraphrase-001", "paraphrase", "The first.")]
    }
    assert items.name_study_after_source("demo") == "demo"


def test_the_words_demo_meaning_are_the_questionnaire_with_false_paraphrases():
    by_item = {item.item: item for item in items.read_and_check_items("demo-meaning")}
    assert list(by_item) == [item.item for item in items.read_and_check_items("demo")]
    assert sum("planted" in variant.attributes for item in by_item.values() for variant in item.variants) == 10
    assert items.name_study_after_source("demo-meaning") == "demo-meaning"


@pytest.mark.parametrize(
    ("source", "name"),
    [("a/b.c.json", "b.c"), ("owner/data#test", "data"), ("folder/saved", "saved"), ("items.CSV", "items")],
)
def test_default_name(source, name):
    assert items.name_study_after_source(source) == name


def test_the_folder_one_is_in_has_a_name_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert items.name_study_after_source(".") == tmp_path.name


CSV, JSONL, JSON, YAML = "items.csv", "items.jsonl", "items.json", "items.yaml"
WRONG = [
    (CSV, "item,text\na,One.\na,One. \n", "row 3: the same text as row 2"),
    (CSV, "item,variant,text\na,v,One.\na,v,Two.\n", "row 3: variant 'v' of item 'a' is already in row 2"),
    (CSV, "item,pattern,text\na,original,One.\na,original,Two.\n", "row 3: item 'a' has a second original"),
    (CSV, "item,text\na,\n", "row 2: the text is empty"),
    (CSV, "item,text\na,  \n", "row 2: the text is empty"),
    (CSV, "item,text\n,One.\n", "row 2: every item needs an id"),
    (CSV, "item,text,patern\na,One.,x\n", r"unknown column 'patern' \(the nearest is 'pattern'\); rename it"),
    (CSV, "item,text\na,One., two\n", "row 2: 3 cells where the header has 2; put a text that holds , or ; into"),
    (CSV, "item,text,text\na,b,c\n", "row 1: column 'text' is there twice"),
    (CSV, "item,,text\na,b,c\n", "row 1: a column has no name"),
    (CSV, 'item,text\na,"One\n', "row 2 .*malformed CSV"),
    (CSV, "item,text,gold_score\na,One.,high\n", "row 2: gold_score must be a number, not 'high'"),
    (CSV, "item,text,gold_score\na,One.,nan\n", "row 2: gold_score must be a number"),
    (CSV, "", "there are no rows in it"),
    (CSV, "item,text\n", "there are no rows in it"),
    (JSONL, '{"item": "a", "text": "One."}\n\n{"item": "b", "text": }\n', "line 3: malformed JSON"),
    (JSONL, '{"item": "a", "text": "One."}\n[1]\n', "line 2: expected fields with names"),
    (JSONL, '{"item": "a", "text": 5}\n', "line 1: the text must be text, not 5"),
    (JSONL, '{"item": "a", "text": "half \\ud83d"}\n', "line 1: broken character"),
    (JSONL, '{"item": true, "text": "One."}\n', "line 1: every item needs an id .* not True"),
    (JSONL, '{"item": "a", "text": "One.", "language": 3}\n', "line 1: language must be text, not 3"),
    (JSONL, '{"item": "a", "text": "One.", "language": "de_AT"}\n', "line 1: language 'de_AT' is no code of ISO 639-1"),
    (JSONL, '{"item": "a", "text": "One.", "attributes": 3}\n', "line 1: attributes must be names with values"),
    (JSONL, '{"item": "a", "text": "One.", "attributes": {"x": [1]}}\n', "line 1: attribute 'x' must be"),
    (JSON, '[\n{"item": "a",\n "text": "One."\n', "line 4: malformed JSON"),
    (JSON, "[" * 100_000, "nested too deeply"),
    (JSON, '{"item": "a"\n}', "line 1: malformed JSON"),
    (JSON, "[]", "there are no rows in it"),
    (JSON, '[{"item": "a", "text": "One.", "paraphrases": "Two."}]', "entry 1: paraphrases must be a list"),
    (JSON, '[{"item": "a", "text": "A", "paraphrases": ["B", ""]}]', "entry 1, paraphrase 2: the text is empty"),
    (
        JSON,
        '[{"item": "a", "text": "A", "paraphrases": ["A"]}]',
        "entry 1, paraphrase 1: the same text as its original",
    ),
    (
        JSON,
        '[{"item": "a", "text": "A", "paraphrases": ["B"]}, {"item": "a", "text": "C", "paraphrases": []}]',
        "entry 2: item 'a' is already in entry 1",
    ),
    (
        JSON,
        '[{"id": 0, "original_statement": "A", "alternative_statements": [{"statement": "B", "response": {}}]}]',
        "entry 1: these are responses, not items; read them with `import haller`",
    ),
    (JSON, '[{"id": 0, "original_statement": "A", "alternatives": []}]', "entry 1: attribute 'alternatives' must be"),
    (YAML, "- item: a\n  text: true\n", "entry 1: the text must be text, not True"),
    (YAML, "- item: a\n   text: b\n", "line 2: malformed YAML"),
    (YAML, "item: a\n", "expected a list of items"),
    (YAML, "- !!python/object/apply:os.system [true]\n", "malformed YAML"),
    ("items.parquet", "no parquet", "not a readable Parquet file"),
    ("items.xlsx", "x", "not a readable workbook"),
    ("items.xls", "x", "a workbook of this kind is not read; save it as .xlsx or its sheet as CSV UTF-8"),
    ("items.doc", "x", "unknown kind of file"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG, ids=[message[:40] for *_, message in WRONG])
def test_one_line_with_file_and_place(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        items.read_and_check_items(str(path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_wrong_encodings_name_the_line_and_byte(tmp_path):
    path = tmp_path / "items.csv"
    path.write_bytes("item,text\na,One.\nb,Zwölf.\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"items\.csv, line 3: not UTF-8 \(byte 21\)"):
        items.read_and_check_items(str(path))
    path.write_bytes("item,text\na,One.\n".encode("utf-16") + b"\x00\xd8")  # half a character
    with pytest.raises(InputError, match="damaged UTF-16"):
        items.read_and_check_items(str(path))


@pytest.mark.parametrize("source", ["missing.csv", "./missing", "/missing/folder", "a/b/c"])
def test_what_is_not_there_is_not_looked_for_on_the_hub(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"{source}: (cannot be read|no such file or folder)"):
        items.read_and_check_items(source)


class TestDatasets:
    """Hugging Face data sets, from a folder."""

    @pytest.fixture(autouse=True)
    def datasets(self):
        self.library = pytest.importorskip("datasets")

    def test_saved_to_disk(self, tmp_path):
        self.library.Dataset.from_list(LONG).save_to_disk(str(tmp_path / "saved"))
        assert list(texts(items.read_and_check_items(str(tmp_path / "saved")))) == ["a", "b"]

    def test_a_split_must_be_chosen_where_there_are_several(self, tmp_path):
        data = self.library.Dataset.from_list(LONG)
        self.library.DatasetDict({"train": data, "test": data.select([0])}).save_to_disk(str(tmp_path / "saved"))
        source = str(tmp_path / "saved")
        with pytest.raises(InputError, match=r"choose one of the splits train, test, as .*#train"):
            items.read_and_check_items(source)
        assert list(texts(items.read_and_check_items(f"{source}#test"))) == ["a"]
        with pytest.raises(InputError, match="there is no split 'dev', only train, test"):
            items.read_and_check_items(f"{source}#dev")

    def test_wrong_rows_are_named(self, tmp_path):
        self.library.Dataset.from_list([{"item": "a", "sentence": "One."}]).save_to_disk(str(tmp_path / "saved"))
        with pytest.raises(InputError, match=r"saved: there is no column 'text' .* Then say --text-column sentence"):
            items.read_and_check_items(str(tmp_path / "saved"))

    def test_an_empty_folder_is_one_line(self, tmp_path):
        with pytest.raises(InputError, match="not a readable data set") as caught:
            items.read_and_check_items(str(tmp_path))
        assert "\n" not in str(caught.value)

    def test_an_unreachable_id_is_one_line(self, monkeypatch):
        monkeypatch.setattr(
            self.library, "load_dataset", lambda name: (_ for _ in ()).throw(ConnectionError("no\nway"))
        )
        with pytest.raises(InputError, match=r"owner/data: not a file, .* be reached \(ConnectionError: no\)"):
            items.read_and_check_items("owner/data")

    def test_without_the_library_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "datasets", None)
        with pytest.raises(InputError, match="needs the package datasets: pip install"):
            items.read_and_check_items("owner/data")


# csv is the narrowest format: no carriage returns (a universal newline reader may join them), nothing unpaired.
wordings = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(lambda t: t.strip())
families = st.lists(st.lists(wordings, min_size=1, max_size=4, unique_by=str.strip), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(families=families, suffix=st.sampled_from([".csv", ".tsv", ".jsonl", ".json", ".yaml", ".parquet"]))
def test_texts_come_back_to_the_letter(tmp_path_factory, families, suffix):
    rows = [{"item": f"i{n}", "text": text} for n, family in enumerate(families) for text in family]
    loaded = items.read_and_check_items(write(tmp_path_factory.mktemp("items") / f"items{suffix}", rows))
    assert [[v.text for v in item.variants] for item in loaded] == families


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variants", "alone"),
    [
        ("paraphrases_gpt3.5-turbo_temp1.json", 62 + 30_848, 0),
        ("paraphrases_claude-3-5-sonnet-20240620_temp1.json", 62 + 28_000, 6),
        ("compass_eng.jsonl", 62, 62),
    ],
)
def test_the_published_items_load_whole(shared, name, variants, alone):
    loaded = items.read_and_check_items(str(shared / "political-compass-paraphrases" / name))
    assert len(loaded) == 62
    assert sum(len(item.variants) for item in loaded) == variants
    assert sum(not item.paraphrases for item in loaded) == alone


def test_tables_that_differ_in_a_folder_are_one_line(tmp_path, capfd):
    for name in ("text", "sentence"):
        pq.write_table(pa.table({"item": ["a"], name: ["One."]}), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match="not a readable data set"):
        items.read_and_check_items(str(tmp_path))
    assert "column names don't match" not in capfd.readouterr().err  # as the library tells in many lines
