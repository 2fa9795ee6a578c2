"""Wrong tables for `waver import accuracies`."""

from __future__ import annotations

from helpers.refusals import Case

CALL = "inference import accuracies a.csv --out run"
HEAD = "model,task,template,accuracy,n\n"


def table(*rows: str, head: str = HEAD) -> dict[str, str]:
    """A table with these rows."""
    return {"a.csv": head + "".join(f"{row}\n" for row in rows)}


CASES = [
    Case("shares and per cent in one table", CALL, ("a.csv, row 2", "0.9", "54.3", "row 3", "--scale percent"),
         table("m,t,a,0.9,10", "m,t,b,54.3,10")),
    Case("some accuracies with the sign of per cent", CALL, ("row 3", "without the sign %", "row 2"),
         table("m,t,a,50%,10", "m,t,b,0.5,10")),
    Case("shares that are per cent", f"{CALL} --scale share", ("row 2", "above 1", "--scale says share"),
         table("m,t,a,50,10")),
    Case("an accuracy above 100", CALL, ("row 2", "'accuracy'", "101", "0 to 100 %"), table("m,t,a,101,10")),
    Case("an accuracy below 0", CALL, ("row 2", "'-0.1'"), table("m,t,a,-0.1,10")),
    Case("an accuracy that is missing", CALL, ("row 2", "'accuracy'", "nothing"), table("m,t,a,,10")),
    Case("an accuracy as nan", CALL, ("row 2", "'nan'"), table("m,t,a,nan,10")),
    Case("an accuracy with a comma", CALL, ("row 2", "point, not a comma"),
         {"a.csv": "model;task;template;accuracy;n\nm;t;a;0,5;10\n"}),
    Case("no answers behind an accuracy", CALL, ("row 2", "'n'", "number of answers"), table("m,t,a,0.5,0")),
    Case("half an answer behind an accuracy", CALL, ("row 2", "'n'", "10.5"), table("m,t,a,0.5,10.5")),
    Case("an accuracy of no model", CALL, ("row 2", "'model'", "name"), table(",t,a,0.5,10")),
    Case("a template twice", CALL, ("row 3", "row 2", "--condition-column", "shots"),
         table("m,t,a,0.5,10,0", "m,t,a,0.6,10,5", head="model,task,template,accuracy,n,shots\n")),
    Case("no column with the number of answers", CALL, ("a.csv", "'n' is not there", "the columns are"),
         table("m,t,a,0.5", head="model,task,template,accuracy\n")),
    Case("a column for two roles", f"{CALL} --task-column model", ("--task-column model", "--model-column"),
         table("m,t,a,0.5,10")),
    Case("two conditions with one name", f"{CALL} --condition-column x --condition-column y",
         ("row 3", "two different conditions", "a/b/c"),
         table("m,t,a,0.5,10,a/b,c", "m,t,a,0.5,10,a,b/c", head="model,task,template,accuracy,n,x,y\n")),
]  # fmt: skip
