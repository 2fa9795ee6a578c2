"""Sheets of what people read in texts, and readings that are not there: refused by the page on readings."""

from __future__ import annotations

from pathlib import Path

from helpers.reading_runs import TEXT, WAYS, reading_rows, write_readings
from helpers.refusals import Case

HEADER = "study,model,condition,item,variant,sample,text,option\n"
UNIT = f"synthetic,m,{TEXT}"
ROW = f"{UNIT},item-00,p1,1,,agree\n"


def refused(name: str, content: str, words: tuple[str, ...]) -> Case:
    """A sheet that is refused."""

    def write(folder: Path) -> None:
        write_readings(folder / "run", reading_rows(items=2, wordings=2, samples=2, ways=WAYS[:2]))
        (folder / "s.csv").write_text(content, encoding="utf-8")

    return Case(name, "analysis table run reading_sheet -p sheet=s.csv -p resamples=0", ("s.csv", *words), write)


def _write_run(folder: Path) -> None:
    write_readings(folder / "run", reading_rows(items=2, wordings=2, samples=2, ways=WAYS[:2]))


CASES = [
    refused("a column too few", "study,model\nsynthetic,m\n", ("column 'condition' is missing",)),
    refused("no row", HEADER, ("no row in it",)),
    refused("an option that there is not", HEADER + ROW.replace("agree\n", "maybe\n"), ("line 2", "option 'maybe'")),
    refused("an item that there is not", HEADER + ROW.replace("item-00", "tea"), ("line 2", "item 'tea'")),
    refused("a text too many", HEADER + ROW.replace(",1,,", ",3,,"), ("line 2", "sample '3'", "1 to 2")),
    refused("another text", HEADER + ROW.replace(",1,,", ",1,Hm.,"), ("line 2", "text 'Hm.'", "another run")),
    refused("a text twice", HEADER + ROW + ROW, ("line 3", "the same text as in line 2")),
    refused("a model that there is not", HEADER + ROW.replace(",m,", ",n,"), ("line 2", "model 'n'")),
    Case("a sheet that is not there", "analysis table run reading_sheet -p sheet=s.csv", ("s.csv", "cannot be read"),
         _write_run),
    Case("a reading that there is not", "analysis table run reading_kept -p reading=tea -p resamples=0",
         ("reading 'tea'", "probability, strict rule, lenient rule"), _write_run),
]  # fmt: skip
