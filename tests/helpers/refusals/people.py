"""Files of people's answers to rating scales: refused by the tables that put models beside people."""

from __future__ import annotations

from pathlib import Path

from helpers.refusals import Case, write_once
from helpers.scale_runs import draw_answers, write_scale

HEADER = "item,option,share,n\n"
ROWS = "care-00,Disagree,0.4,50\ncare-00,Agree,0.6,50\n"
WHO = "respondent,care-00,care-01,age\n"


@write_once
def _write_run(folder: Path) -> None:
    write_scale(folder / "run", draw_answers(["m"], items=2, wordings=2, scales=["care"]))


def refused(name: str, content: str, words: tuple[str, ...]) -> Case:
    """A file that is refused."""

    def write(folder: Path) -> None:
        _write_run(folder)
        (folder / "p.csv").write_text(content, encoding="utf-8")

    return Case(name, "analysis table run scales_people -p people=p.csv", ("p.csv", *words), write)


CASES = [
    refused("no row", HEADER, ("no row in it", "a row per respondent")),
    refused("columns that are no items", "a,b\n1,2\n", ("none of its columns is an item",)),
    refused("neither shares nor counts", "item,option\ncare-00,Agree\n", ("share or a column count", "neither")),
    refused("shares and counts", "item,option,share,count\ncare-00,Agree,1,9\n", ("both", "keep one")),
    refused("shares that do not sum to 1", HEADER + ROWS.replace("0.6", "0.5"), ("'care-00'", "sum to 0.9, not 1")),
    refused("percentages", HEADER + ROWS.replace("0.4", "40").replace("0.6", "60"), ("sum to 100", "percentages")),
    refused("a negative share", HEADER + ROWS.replace("0.4", "-0.4"), ("line 2", "share '-0.4'", "0 to 1")),
    refused("a share that is no number", HEADER + ROWS.replace("0.4", "many"), ("line 2", "share 'many'")),
    refused("an unknown option", HEADER + ROWS.replace("Disagree", "Yes"), ("line 2", "'care-00'", "option 'Yes'")),
    refused("a rank that there is not", HEADER + ROWS.replace("Disagree", "6"), ("line 2", "option '6'")),
    refused("an unknown item", HEADER + ROWS + "cure-00,Agree,1,50\n", ("line 4", "item 'cure-00'", "nearest")),
    refused("an option twice", HEADER + ROWS + "care-00,4,0,50\n", ("line 4", "option '4'", "in line 3, too")),
    refused("two numbers of people", HEADER + ROWS.replace("0.6,50", "0.6,60"), ("'care-00'", "n is '50' and '60'")),
    refused("nobody", HEADER + ROWS.replace(",50", ",0"), ("n '0'", "from 1 on")),
    refused("a negative count", "item,option,count\ncare-00,Agree,-3\n", ("line 2", "count '-3'", "whole number")),
    refused("a weighted count", "item,option,count\ncare-00,Agree,3.5\n", ("line 2", "weighted", "share and n")),
    refused("counts of 0", "item,option,count\ncare-00,Agree,0\n", ("'care-00'", "sum to 0", "leave out")),
    refused("another n than counts", "item,option,count,n\ncare-00,Agree,3,5\n", ("sum to 3", "n is 5")),
    refused("an unknown answer", WHO + "ann,Agree,4,30\nbob,Sure,4,30\n", ("line 3", "'care-00'", "option 'Sure'")),
    refused("people without an answer", WHO + "ann,,,30\nbob,,,31\n", ("every cell of its items is empty",)),
    refused("a respondent twice", WHO + "ann,4,4,30\nann,4,4,30\n", ("line 3", "'ann'", "line 2, too")),
    Case("a file that is not there", "analysis table run scales_people_items -p people=p.csv",
         ("p.csv", "cannot be read"), _write_run),
    Case("a workbook", "analysis table run scales_respondents -p people=p.xlsx", ("p.xlsx", "CSV"), _write_run),
]  # fmt: skip
