"""Hold what a report and its notebooks made, for the index and for JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from analysis.reporting.output.first_screen import FirstScreen
from analysis.reporting.output.layout import Chapter


@dataclass(frozen=True, slots=True)
class NotebookResult:
    """Hold what one notebook made: its page and what its first screen says, or why it failed.

    `wrong_input`: the call or the runs are to blame, not the notebook. `left_out`: why the notebook was not run.
    `progress_line`: the line about it on standard error.
    """

    name: str
    question: str
    screen: FirstScreen = field(default_factory=FirstScreen)
    error: str | None = None
    wrong_input: bool = False
    left_out: str = ""
    progress_line: str = ""
    chapter: Chapter | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Hold what was written: the folder, what the top of the index says, and what every notebook made.

    `command`: makes the report again. `single_file`: the file that holds everything; None without one.
    """

    out: Path
    title: str
    about: tuple[str, ...]
    command: str
    results: tuple[NotebookResult, ...]
    single_file: Path | None = None

    @property
    def failed_results(self) -> list[NotebookResult]:
        return [result for result in self.results if result.error]
