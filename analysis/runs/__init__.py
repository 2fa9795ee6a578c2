"""Read run folders and check them.

::

    from analysis import runs

    opened = runs.open("results/demo/agreement")
    opened.sql("SELECT model, count(*) AS n FROM responses GROUP BY model")
"""

from analysis.runs.database import Runs, open

__all__ = ["Runs", "open"]
