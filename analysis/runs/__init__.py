"""Read run folders and check them.

::

    from analysis import runs

    opened = runs.open_runs("results/demo/agreement")
    opened.sql("SELECT model, count(*) AS n FROM responses GROUP BY model")
"""

from analysis.runs.database import Runs, open_runs

__all__ = ["Runs", "open_runs"]
