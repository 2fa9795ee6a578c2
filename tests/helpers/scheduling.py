"""Hand the files of the tests to the processes that run them."""

from __future__ import annotations

import functools
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[2]
STARTS_R = 'find_spec("pymer4")'  # what a file says whose tests start R, where it is installed
UNIT_WITH_R = "files that start R"


class FileScheduling(LoadFileScheduling):
    """Run the tests of a file in one process, as `--dist loadfile`, and all that start R in the same."""

    def _split_scope(self, nodeid: str) -> str:
        return choose_unit_of_file(super()._split_scope(nodeid))


@functools.cache
def choose_unit_of_file(file: str) -> str:
    """Choose what a file is run with: R takes eight seconds to start, in every process that starts it.

    Parameters
    ----------
    file
        Relative to the checkout, as in the ids of its tests.

    Returns
    -------
    The name of a unit, whose files are run in one process: the file itself, unless it starts R.
    """
    return UNIT_WITH_R if STARTS_R in (ROOT / file).read_text(encoding="utf-8") else file
