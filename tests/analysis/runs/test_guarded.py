"""A query that a user wrote reads the tables that it may name, and can do nothing else: two walls, each tried alone."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from analysis.runs import guarded
from ground.errors import InputError

TABLES = ("numbers",)


@pytest.fixture
def con(tmp_path):
    con = duckdb.connect(config={"threads": 1})  # as runs are opened
    con.execute("CREATE TABLE numbers AS SELECT range AS n FROM range(5)")
    con.execute(f"COPY numbers TO '{tmp_path / 'mine [1].parquet'}'")
    con.execute(f"COPY numbers TO '{tmp_path / 'other.parquet'}'")
    con.execute(f"CREATE VIEW file AS SELECT * FROM read_parquet('{tmp_path}/mine [[]1].parquet')")
    guarded.restrict_connection_to_files(con, [tmp_path / "mine [1].parquet"])
    return con


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT sum(n) FROM numbers", [(10,)]),
        ("FROM Numbers ORDER BY n LIMIT 1", [(0,)]),
        ("WITH big AS (SELECT n FROM numbers WHERE n > 3) SELECT * FROM big", [(4,)]),
        ("SELECT max(x) FROM (SELECT unnest([1, 2]) AS x UNION ALL SELECT n FROM numbers)", [(4,)]),
        ("SELECT count(*) FROM numbers JOIN range(3) AS r(n) USING (n);", [(3,)]),
        ("WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 3) SELECT max(n) FROM c", [(3,)]),
    ],
)
def test_a_select_over_the_tables_is_run(con, query, rows):
    assert list(guarded.run_guarded_query(con, query, TABLES).itertuples(index=False, name=None)) == rows


FORBIDDEN = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_parquet('https://example.org/a.parquet')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT n FROM numbers WHERE n IN (SELECT 1 FROM read_csv('/etc/passwd'))",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM duckdb_settings()",
    "ATTACH '/tmp/other.db'",
    "COPY numbers TO '/tmp/numbers.csv'",
    "COPY numbers FROM '/etc/passwd'",
    "EXPORT DATABASE '/tmp/exported'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "DROP TABLE numbers",
    "SELECT 1; DROP TABLE numbers",
    "SELECT 1; SELECT 2",
    "WITH gone AS (DELETE FROM numbers RETURNING *) SELECT * FROM gone",
    "WITH more AS (INSERT INTO numbers VALUES (7) RETURNING *) SELECT * FROM more",
    "CREATE TABLE mine AS SELECT 1",
    "CALL pragma_version()",
    "EXPLAIN SELECT 1",
    "",
    "-- nothing",
    "SELEC",
    "SELECT",
    "SELECT nothing FROM numbers",
    "SELECT CAST('x' AS INTEGER)",
    "SELECT * FROM numbrs",
    "SELECT " + "(" * 1000,
    "x" * 5000,
    "SELECT '\ud800'",
    "SELECT CAST(CASE WHEN i = 900000 THEN 'x' ELSE '1' END AS INTEGER) FROM range(1000000) AS t(i)",  # while fetched
    "SELECT 10000000000000000000000000000000000000000",  # no type of pandas
    "SELECT * FROM information_schema.tables WHERE EXISTS (WITH tables AS (SELECT 1) SELECT 1)",
    "SELECT * FROM main.numbers",
    "SELECT sleep_ms(10)",
    "SELECT Current_Setting('allowed_paths')",
    7,
    None,
]


@pytest.mark.slow
@pytest.mark.parametrize("query", FORBIDDEN, ids=range(len(FORBIDDEN)))
def test_anything_else_is_one_line_and_does_nothing(con, query):
    with pytest.raises(InputError) as refused:
        guarded.run_guarded_query(con, query, TABLES)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 1000
    assert con.execute("SELECT count(*), sum(n) FROM numbers").fetchall() == [(5, 10)]
    assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]


@pytest.mark.slow
def test_an_interrupted_query_is_one_line(con):
    guarded.run_guarded_query(con, "FROM numbers", TABLES)  # imports pandas, which the signal is not to meet
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(InputError, match=r"^sql: the query was interrupted$"):
        guarded.run_guarded_query(con, "SELECT count(*) FROM range(100000000000)", TABLES)
    assert len(guarded.run_guarded_query(con, "FROM numbers", TABLES)) == 5


def test_a_misspelt_table_is_answered_with_the_nearest(con):
    with pytest.raises(InputError, match=r"no table 'numbrs' .the nearest is 'numbers'"):
        guarded.run_guarded_query(con, "SELECT * FROM numbrs", TABLES)


def test_the_connection_alone_reads_its_files_and_no_others(con, tmp_path):
    assert con.execute("SELECT count(*) FROM file").fetchall() == [(5,)]
    for statement in (
        f"SELECT * FROM read_parquet('{tmp_path / 'other.parquet'}')",
        "SELECT * FROM read_text('/etc/passwd')",
        f"SELECT * FROM glob('{tmp_path}/*')",
        f"COPY numbers TO '{tmp_path / 'new.csv'}'",
        f"ATTACH '{tmp_path / 'new.db'}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/passwd']",
    ):
        with pytest.raises(duckdb.Error):
            con.execute(statement)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine [1].parquet", "other.parquet"]
