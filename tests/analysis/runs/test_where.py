"""A condition in the words of a user: what it selects, and that it can be nothing but a condition."""

from __future__ import annotations

import duckdb
import pytest

from analysis.runs import where
from analysis.runs.guarded import restrict_connection_to_files
from ground.errors import InputError

COLUMNS = {"n": "c0", "model": "c1", "attributes.hedged": "c2", "hedged": "c2", "A": "c3", "a": "c0", "flag": "c4"}


@pytest.fixture(scope="module")
def con():
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE rows AS SELECT range AS c0, CASE WHEN range < 3 THEN 'small' ELSE 'it''s tuned' END AS c1, "
        "CASE WHEN range = 1 THEN NULL ELSE range::VARCHAR END AS c2, 'x' || range AS c3, range > 3 AS c4 FROM range(5)"
    )
    restrict_connection_to_files(con)
    return con


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("n = 0 AND model LIKE 's%'", [0]),
        ("NOT n = 0 OR model = 'it''s tuned'", [1, 2, 3, 4]),
        ("N BETWEEN 1 AND 2", [1, 2]),
        ("n NOT IN (1, 2) -- a comment", [0, 3, 4]),
        ("attributes.hedged IS NULL", [1]),
        ('"attributes.hedged" = 3 OR attributes."hedged" = 4', [3, 4]),
        ("hedged <> 3", [0, 2, 4]),
        ("A = 'x2'", [2]),
        ("lower(model) ILIKE '%TUNED' AND length(model) + 1 > 3", [3, 4]),
        ("CAST(hedged AS INTEGER) % 2 = 0", [0, 2, 4]),
        ("CASE WHEN n > 2 THEN true ELSE false END", [3, 4]),
        ("coalesce(hedged, 'none') = 'none'", [1]),
        ("flag", [4]),
        ("true", [0, 1, 2, 3, 4]),
        ("n > 99", []),
    ],
)
def test_a_condition_selects_the_rows_that_it_is_true_of(con, condition, kept):
    table = where.select_rows_fulfilling_condition(con, condition, "rows", ("c0",), COLUMNS)
    assert sorted(table["c0"].to_pylist()) == kept


NONSENSE = [
    ("modl = 'a'", "no column 'modl' (the nearest is 'model')"),
    ("rows.n = 1", "no column 'rows.n'"),
    ("rowid = 1", "no column 'rowid'"),
    ('model = "small"', "no column 'small'"),
    ("model", "neither true nor false"),
    ("1", "neither true nor false"),
    ("n = 'x'", "Could not convert"),
    ("model = ", "where: 'model =': syntax error"),
    ("group = 'En-De'", "group is a word of SQL: write attributes.group"),
    ("n = 1 AND order = 'ABC'", "order is a word of SQL: write attributes.order"),
    ("n = 1; DROP TABLE rows", "where: 'n = 1; DROP TABLE rows': only a condition is run"),
    ("n = 1; SELECT 1", "where: 'n = 1; SELECT 1': give one condition"),
    ("n = 1 LIMIT 1", "not one condition"),
    ("n = 1 FROM rows", "not one condition"),
    ("n = 1 ORDER BY 1", "not one condition"),
    ("true UNION SELECT true", "not one condition"),
    ("true, true", "not one condition"),
    ("DISTINCT true", "not one condition"),
    ("true AS kept", "not one condition"),
    ("n IN (SELECT 1)", "cannot hold a subquery"),
    ("EXISTS (FROM read_csv('/etc/passwd'))", "cannot hold a subquery"),
    ("read_text('/etc/passwd') = 'x'", "'read_text' is not known"),
    ("getvariable('x') = 1", "'getvariable' is not known"),
    ("random() < 0.5", "'random' is not known"),
    ("count(*) > 1", "is not known"),
    ("row_number() OVER () = 1", "cannot hold a"),
    ("*", "cannot hold a star"),
    ("n = ?", "cannot hold a"),
    ("len(list_filter([n], x -> x > 1)) = 1", "is not known"),
    ("(" * 1000, "where: "),
    ("n = " + "1 + " * 5000 + "1", "where: "),
    ("x" * 5000, "where: "),
    (" ", "where: "),
    ("model = '\0'", None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("condition", "words"), NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_is_told_in_one_line_and_does_nothing(con, condition, words):
    if words is None:
        assert where.select_rows_fulfilling_condition(con, condition, "rows", ("c0",), COLUMNS)["c0"].to_pylist() == []
        return
    with pytest.raises(InputError) as refused:
        where.select_rows_fulfilling_condition(con, condition, "rows", ("c0",), COLUMNS)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 500
    assert words in str(refused.value) and "LINE 1" not in str(refused.value)  # of a query of ours
    assert con.execute("SELECT count(*) FROM rows").fetchall() == [(5,)]
