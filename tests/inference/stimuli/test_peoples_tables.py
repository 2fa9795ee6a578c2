"""Tables as people have them: each is read as its owner means it, or refused in one line that says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from helpers.trivial_engine import TrivialEngine
from helpers.workbooks import workbook
from inference.__main__ import main
from inference.asking.one_model import Settings

pytestmark = pytest.mark.slow

ABOUT_TEA = (("tea", "original", "Tea is good."), ("tea", "paraphrase-001", "I like tea."))
TWO = (*ABOUT_TEA, ("dog", "original", "Dogs are good."))


@dataclass(frozen=True)
class Table:
    """A table, the options it is given with, and what becomes of it.

    Attributes
    ----------
    says
        Words that stand together in one line of standard error; none: nothing is said about the table.
    read
        (item, variant, text) in order; none: the table is refused (exit status 2).
    silent
        Words that stand nowhere in standard error.
    attributes
        Of the first wording.
    patterns
        Of all wordings, where they are not told by the names of the variants.
    """

    name: str
    content: str | bytes
    options: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    read: tuple[tuple[str, str, str], ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    patterns: tuple[str, ...] = ()
    file: str = "mine.csv"
    silent: tuple[str, ...] = ()


LONG = "item,text\ntea,Tea is good.\ntea,I like tea.\n"
WIDE = "item;original;paraphrase_1;paraphrase_2\ntea;Tea is good.;I like tea.;\ndog;Dogs are good.;;\n"
GERMAN = "Nr;Aussage\n1;Tee schmeckt für jeden.\n"
TABLES = [
    # columns that Waver does not know
    Table("an extra column", "item,text,topic\ntea,Tea is good.,drinks\ntea,I like tea.,other\n",
          says=("kept as attributes: topic",), silent=("other wordings",), read=ABOUT_TEA,
          attributes=(("topic", "drinks"),)),
    Table("several extra columns, some without entries", "item,text,Topic,year,note\ntea,Tea is good.,drinks,1999,\n",
          says=("kept as attributes: Topic, year, note",), read=ABOUT_TEA[:1],
          attributes=(("Topic", "drinks"), ("year", "1999"))),
    Table("an extra column and a named attribute", "item,text,attributes.lang,topic\ntea,Tea is good.,en,drinks\n",
          says=("kept as attributes: topic",), read=ABOUT_TEA[:1], attributes=(("lang", "en"), ("topic", "drinks"))),
    Table("an extra column called like a named attribute", "item,text,attributes.x,x\ntea,Tea is good.,1,2\n",
          says=("'attributes.x' and 'x' are both read as 'attributes.x'", "rename one")),
    Table("an extra column that Waver reads as an attribute", "item,text,source\ntea,Tea is good.,gpt\n",
          says=("mine.csv: column 'source'", "call it attributes.source", "rename it")),
    Table("the same, called so", "item,text,attributes.source\ntea,Tea is good.,gpt\n", read=ABOUT_TEA[:1],
          attributes=(("source", "gpt"),)),
    Table("a slip of the pen", "item,text,patern\ntea,Tea is good.,original\n",
          says=("unknown column 'patern'", "nearest is 'pattern'", "attributes.patern")),
    Table("an extra column of lists", '[{"item": "tea", "text": "Tea is good.", "tags": ["a"]}]',
          says=("entry 1", "attribute 'tags' must be", "text or number"), file="mine.json"),
    Table("an extra column in the wide shape", "item,original,paraphrase_1,topic\ntea,Tea is good.,,drinks\n",
          says=("kept as attributes: topic",), silent=("other wordings",), read=ABOUT_TEA[:1],
          attributes=(("topic", "drinks"),)),
    # names of columns
    Table("capital letters", "Item,TEXT\ntea,Tea is good.\ntea,I like tea.\n", read=ABOUT_TEA),
    Table("blanks around names", " item , text \ntea,Tea is good.\ntea,I like tea.\n", read=ABOUT_TEA),
    Table("capital letters in JSON", '[{"Item": "tea", "Text": "Tea is good."}]', read=ABOUT_TEA[:1], file="mine.json"),
    Table("one field under two names", "Item,item,text\ntea,tee,Tea is good.\n",
          says=("'Item' and 'item' are both read as 'item'", "rename one")),
    Table("statement instead of text", "item,statement\ntea,Tea is good.\n",
          says=("no column 'text'", "is it 'statement'?", "--text-column statement")),
    Table("the same, said", "item,statement\ntea,Tea is good.\ntea,I like tea.\n", ("--text-column", "statement"),
          read=ABOUT_TEA),
    Table("id and statement, as published", "id,statement\ntea,Tea is good.\n", read=ABOUT_TEA[:1]),
    Table("no column like text", "item,x,y\ntea,1,2\n",
          says=("no column 'text'", "--text-column NAME", "the columns are item, x, y")),
    Table("no column like item", "question_id,text\ntea,Tea is good.\n",
          says=("no column 'item'", "is it 'question_id'?", "--item-column question_id")),
    Table("neither, in other words", "Nr,Frage,Statement\ntea,x,Tea is good.\n",
          says=("no columns 'item' and 'text'", "--item-column Nr --text-column Statement")),
    Table("a name of two words that is not there", "item,claim,text of it\ntea,Tea is good.,x\n",
          ("--text-column", "text of its"),
          says=("column 'text of its' is not there", "nearest is 'text of it'")),
    Table("columns of one's own", GERMAN, ("--item-column", "Nr", "--text-column", "Aussage"),
          read=(("1", "original", "Tee schmeckt für jeden."),)),
    Table("the wrong letter case in an option", GERMAN, ("--item-column", "nr", "--text-column", "Aussage"),
          says=("column 'nr' is not there", "nearest is 'Nr'")),
    Table("one column for two options", GERMAN, ("--item-column", "Nr", "--text-column", "Nr"),
          says=("--text-column", "this column is named by --item-column")),
    Table("another text beside the one asked", "item,text,english\ntee,Tee ist gut.,Tea is good.\n",
          ("--text-column", "english"), says=("kept as attributes: text",), read=(("tee", "original", "Tea is good."),),
          attributes=(("text", "Tee ist gut."),)),
    # one column per wording
    Table("a column per wording", WIDE, says=("2 of 2 items", "fewer than two paraphrases"), read=TWO),
    Table("numbers in other ways", "item,Original,Paraphrase 1,paraphrase2\ntea,Tea is good.,I like tea.,\n",
          read=ABOUT_TEA),
    Table("a gap between wordings", "item,original,paraphrase_1,paraphrase_2\ntea,Tea is good.,,I like tea.\n",
          read=(ABOUT_TEA[0], ("tea", "paraphrase-002", "I like tea."))),
    Table("text as the original", "item,text,paraphrase\ntea,Tea is good.,I like tea.\n", read=ABOUT_TEA),
    Table("a column per wording, with an attribute", "item,topic,original,paraphrase_1\ntea,drinks,Tea is good.,T.\n",
          says=("kept as attributes: topic",), read=(ABOUT_TEA[0], ("tea", "paraphrase-001", "T.")),
          attributes=(("topic", "drinks"),)),
    Table("wordings named by the user", "Nr;Frage;Variante A;Variante B\ntea;Tea is good.;I like tea.;\n",
          ("--item-column", "Nr", "--text-column", "Frage", "Variante A", "Variante B"), read=ABOUT_TEA),
    Table("a wording that was not asked for, kept", "Nr;Frage;Variante_A\ntea;Tea is good.;I like tea.\n",
          ("--item-column", "Nr", "--text-column", "Frage"),
          says=("kept as attributes: Variante_A; if they hold other wordings", "--text-column Frage OTHER ..."),
          read=ABOUT_TEA[:1], attributes=(("Variante_A", "I like tea."),)),
    Table("an original and columns called otherwise", "item,original,reworded\ntea,Tea is good.,I like tea.\n",
          says=("a column 'original' and none for other wordings", "--text-column original OTHER")),
    Table("two columns for the original", "item,text,original,paraphrase_1\ntea,A,B,C\n",
          says=("column 'original' or column 'text'", "--text-column NAME")),
    Table("an item in two rows of the wide shape", WIDE.replace("dog;", "tea;"),
          says=("row 3", "item 'tea' is already in row 2", "one row")),
    Table("a pattern in the wide shape", "item,original,paraphrase_1,pattern\ntea,A,B,original\n",
          says=("column 'pattern' belongs to a table with one row per wording",)),
    Table("an original without text", "item,original,paraphrase_1\ntea,,I like tea.\n",
          says=("1 of 1 item has no original", "tea"), read=(ABOUT_TEA[1],)),
    Table("an item without any wording", "item,original,paraphrase_1\ntea,,\n",
          says=("row 2", "item 'tea' has no wording")),
    Table("the same wording twice in a row", "item,original,paraphrase_1\ntea,Tea.,Tea.\n",
          says=("row 2, column 'paraphrase_1'", "the same text as its original")),
    Table("paraphrases in one cell", "item,text,paraphrases\ntea,Tea is good.,I like tea.\n",
          says=("row 2", "must be a list", "give each a column", "paraphrase_1")),
    # as spreadsheets write
    Table("semicolons, a byte order mark and Windows line ends", ("\ufeff" + WIDE.replace("\n", "\r\n")).encode(),
          says=("recognised: semicolons between cells, UTF-8 with a byte order mark, Windows line ends",), read=TWO),
    Table("line ends of an old Mac", LONG.replace("\n", "\r"), read=ABOUT_TEA),
    Table("a first line with the separator", "sep=;\n" + WIDE, read=TWO),
    Table("empty rows at the end", LONG + ",\n,\n\n , \n", read=ABOUT_TEA),
    Table("empty rows within and above", ",\n" + LONG.replace("tea,I", ",\ntea,I"), read=ABOUT_TEA),
    Table("empty columns at the end", "item,text,,\ntea,Tea is good.,,\ntea,I like tea.\n", read=ABOUT_TEA),
    Table("a remark beside the table", "item,text,\ntea,Tea is good.,sic!\n",
          says=("row 2", "'sic!' stands in column 3, which has no name")),
    Table("a title above the header", "My questionnaire,\nitem,text\ntea,Tea is good.\n",
          says=("no columns 'item' and 'text'", "begin the table with its header", "the columns are My questionnaire")),
    Table("the encoding of Windows", GERMAN.encode("cp1252"), ("--item-column", "Nr", "--text-column", "Aussage"),
          says=("mine.csv, line 2", "not UTF-8", "in Excel: Save As, CSV UTF-8")),
    Table("UTF-16", LONG.encode("utf-16"), read=ABOUT_TEA, says=("mine.csv: recognised: UTF-16",)),
    Table("a workbook", workbook({"one": [line.split(",") for line in LONG.splitlines()]}), read=ABOUT_TEA,
          file="mine.xlsx"),
    Table("a table of LibreOffice", b"PK\3\4", says=("a workbook of this kind is not read", "CSV UTF-8"),
          file="mine.ods"),
    Table("a text file", LONG, says=("unknown kind of file", ".csv"), file="mine.txt"),
    Table("a comma in a text", "item,text\ntea,Tea, I say, is good.\n",
          says=("row 2", "4 cells where the header has 2", "into quotes")),
    Table("a row that ends early", "item,text,topic\ntea\n", says=("row 2", "1 cell where the header has 3")),
    Table("merged cells", LONG.replace("tea,I", ",I"), says=("row 3", "id", "cells were merged")),
    Table("a decimal comma", "item;text;gold_score\ntea;Tea is good.;0,5\n",
          says=("row 2", "gold_score must be a number", "with a point")),
    Table("a score in the column of right answers", "item;text;gold\ntea;Tea is good.;0,5\n",
          says=("row 2", "gold", "'0,5' looks like a score", "gold_score", "with a point")),
    Table("only a header", "item,text\n", says=("there are no rows",)),
    Table("a text column without any text", "item,text\ntea,\n", says=("row 2", "the text is empty")),
    # patterns and originals
    Table("patterns with capital letters", "item,pattern,text\ntea,Original,Tea is good.\ntea,PARAPHRASE,I like tea.\n",
          read=ABOUT_TEA),
    Table("a pattern with a slip of the pen", "item,pattern,text\ntea,orignal,Tea is good.\n",
          says=("row 2", "unknown pattern 'orignal'", "nearest is 'original'")),
    Table("a pattern of one's own", "item,pattern,text\ntea,original,Tea is good.\ntea,negated,Tea is bad.\n",
          says=("pattern 'negated' is not one of original, paraphrase", "count as paraphrases"),
          read=(ABOUT_TEA[0], ("tea", "negated-001", "Tea is bad.")), patterns=("original", "negated")),
    Table("patterns in a column called otherwise", "item,kind,text\ntea,paraphrase,I like tea.\n",
          ("--pattern-column", "kind"), says=("no original", "tea"), read=ABOUT_TEA[1:]),
    Table("an item without an original", LONG.replace("item,", "item,variant,").replace("tea,", "tea,v1,", 1)
          .replace("tea,I", "tea,v2,I"),
          says=("1 of 1 item has no original", "all their wordings count as paraphrases", "the first stands for",
                "tea"),
          read=(("tea", "v1", "Tea is good."), ("tea", "v2", "I like tea.")), patterns=("paraphrase", "paraphrase")),
    Table("two originals", "item,pattern,text\ntea,original,A\ntea,original,B\n",
          says=("row 3", "item 'tea' has a second original")),
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_a_table_is_read_or_refused_in_one_line(table: Table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine())
    content = table.content if isinstance(table.content, bytes) else table.content.encode()
    Path(table.file).write_bytes(content)
    status = main(["run", "agreement", "--items", table.file, *table.options, "--model", "m", "--out", "run"])
    said = capsys.readouterr().err.splitlines()
    if table.says:
        assert any(all(word in line for word in table.says) for line in said), said
    assert not [word for word in table.silent if any(word in line for line in said)], said
    if not table.read:
        assert (status, len(said), Path("run").exists()) == (2, 1, False), said
        return
    assert status == 0, said
    if not table.says:
        assert not [line for line in said if table.file in line and f"{table.file}: recognised: " not in line]
    rows = pq.read_table("run/stimuli.parquet").to_pylist()
    assert tuple((row["item"], row["variant"], row["text"]) for row in rows) == table.read
    patterns = table.patterns or tuple(row["variant"].partition("-")[0] for row in rows)
    assert tuple(row["pattern"] for row in rows) == patterns
    assert tuple(rows[0]["attributes"] or ()) == table.attributes


def test_there_are_more_than_forty_and_each_has_a_name():
    assert len({table.name for table in TABLES}) == len(TABLES) > 40
