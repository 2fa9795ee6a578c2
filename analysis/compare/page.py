"""Make the parts of the page about a comparison for its notebook; no report has it, as none has two sides."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis import runs
from analysis.compare import narrative, plots
from analysis.compare.catalogue import COLUMNS, DIFFERENCES, ITEMS
from analysis.compare.items import average_answers_per_item, tabulate_differing_items
from analysis.compare.measures import compare_unit_pairs, do_answers_lie_within_0_and_1
from analysis.compare.pairing import pair_studies_of_two_run_sets
from analysis.compare.pairs import Chosen, iterate_unit_pairs_to_compare
from analysis.reporting.catalogue import Table
from analysis.reporting.catalogue.grid import build_grid_without_catalogue, drop_uniform_grid_columns
from analysis.reporting.catalogue.tables import convert_options_to_types_of_defaults
from analysis.reporting.drawing import panels
from analysis.reporting.drawing.plotting import WIDTHS, render_svg
from analysis.reporting.output import provenance
from analysis.reporting.output.cells import build_heading_anchor
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks
from analysis.reporting.output.page import FEW_ROWS, MOST_ROWS, format_uniform_columns_as_text, label_svg_for_page
from analysis.reporting.output.steps import render_comparison_of_two_tables
from analysis.reporting.words import Answer
from analysis.reporting.words.shots import describe_varying_example_counts
from analysis.steps.checking import TOLERANCE
from ground.errors import InputError, shorten_to_one_line

NONE_NAMED = ("", "")
FULL_PRECISION = "waver compare A B --format csv"
ITEMS_IN_FULL = "page.average_each_side_per_item()"  # in the notebook; no command prints items


def _convert_numbers_and_refuse_odd_settings(
    numbers: Mapping[str, Any], pairs: Mapping[str, Any], measures: Any
) -> tuple[Any, ...]:
    """Return the numbers; refuse one below 0, other than two texts of A and B, and no list of texts."""
    known_options = inspect.signature(ComparePage).parameters
    converted = convert_options_to_types_of_defaults("the comparison", numbers, known_options)
    for name, number in converted.items():
        if number < 0:
            raise InputError(f"{name} = {number}: give a number from 0 on")
    for name, texts in {**pairs, "measures": measures}.items():
        is_list_of_texts = isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts)
        if not is_list_of_texts or (name in pairs and len(texts) != 2):
            wanted = "two texts, of A and of B" if name in pairs else "a list of names"
            raise InputError(f"{name} = {shorten_to_one_line(repr(texts))}: give {wanted}")
    return tuple(converted.values())


class ComparePage:
    """Show the page about two sides.

    Parameters
    ----------
    a, b
        Run folders, or folders of run folders.
    measures
        Only these; empty: all.
    models, conditions
        Of A and of B; empty: the only one, or those of equal names.
    margin
        As `--margin`; 0: none.
    names
        What A and B are called at the foot; empty: their paths.
    examples
        Items of every two models that are shown with their texts.
    """

    def __init__(
        self, a: str, b: str, *, measures: Sequence[str] = (), models: Sequence[str] = NONE_NAMED,
        conditions: Sequence[str] = NONE_NAMED, margin: float = 0.0, names: Sequence[str] = NONE_NAMED,
        examples: int = 5,
    ) -> None:  # fmt: skip
        pairs_of_texts = {"models": models, "conditions": conditions, "names": names}
        margin, examples = _convert_numbers_and_refuse_odd_settings(
            {"margin": margin, "examples": examples}, pairs_of_texts, measures
        )
        self.names = [name or path for name, path in zip(names, (a, b), strict=True)]
        self.sides = [runs.open_runs(resolve_path_here_or_in_notebooks(path)) for path in (a, b)]
        self.examples = examples
        self._chosen = Chosen(measures, (models[0], models[1]), (conditions[0], conditions[1]), margin or None)
        self._paired = pair_studies_of_two_run_sets(*self.sides)
        pairs = list(iterate_unit_pairs_to_compare(self._paired, self._chosen))
        self.rows = compare_unit_pairs(pairs, self._chosen, self._paired.notes)
        self.pairs = [pair for pair in pairs if not measures or pair.measure in measures]
        self._answer: Answer | None = None

    def answer(self) -> Html:
        """Show the answer in words."""
        answer = narrative.answer_whether_sides_differ(self.rows, self._paired.notes)
        compared_runs = (runs_of_side for pair in self._paired.pairs for runs_of_side in pair)
        sentences = dict.fromkeys(filter(None, map(describe_varying_example_counts, compared_runs)))
        self._answer = replace(answer, varied=" ".join(sentences))
        return render_template_for_notebook("answer", answer=self._answer)

    def cautions(self) -> Html:
        """Show what weakens the answer; the answer, which is shown before, links to it."""
        if self._answer is None:
            raise RuntimeError("the cautions belong to the answer: show page.answer() first")
        return render_template_for_notebook("cautions", cautions=self._answer.cautions)

    def figure(self) -> Html:
        """Show the differences with both intervals: of measures with a range together, of each other one alone."""
        ranged = {pair.measure for pair in self.pairs if do_answers_lie_within_0_and_1(pair)}
        telling = [name for name in ("study", "a_model", "a_condition") if self.rows[name].nunique() > 1]
        names = (", ".join(row) for row in self.rows[telling].to_numpy(object))
        measures = self.rows["measure"]
        label = [f"{name}: {measure}" if name else measure for name, measure in zip(names, measures, strict=True)]
        rows = self.rows.assign(label=label, scale=measures.where(~measures.isin(ranged), ""))
        ranged_first = rows.sort_values("scale", key=lambda scale: scale != "", kind="stable")
        return Html("".join(self._render_picture(part) for _, part in ranged_first.groupby("scale", sort=False)))

    def _render_picture(self, part: pd.DataFrame) -> str:
        """Return a picture of some rows as HTML with its caption, for a wide screen and for a phone."""
        drawn = part.head(panels.ROWS)
        caption, name = (
            plots.caption_differences(drawn, len(part)),
            build_heading_anchor(f"differences {part['scale'].iloc[0]}"),
        )
        wide, narrow = (
            label_svg_for_page(
                render_svg(plots.draw_differences(drawn, width=width), name + ending),
                caption.split(". ")[0],
                bool(ending),
            )
            for ending, width in WIDTHS.items()
        )
        return render_template_for_notebook("figure", wide=wide, narrow=narrow, caption=caption, saved="").text

    def differences(self) -> Html:
        """Show the table of all differences."""
        return _render_table(DIFFERENCES, self.rows, FULL_PRECISION)

    def items(self) -> Html:
        """Show the items that differ most, with their texts."""
        rows = tabulate_differing_items(self._paired, self.pairs, self.examples)
        if not len(rows):
            return render_missing_content_note(f"{ITEMS.title}: none differs.")
        return _render_table(ITEMS, rows, ITEMS_IN_FULL)

    def average_each_side_per_item(self) -> pd.DataFrame:
        """Return the mean of both sides of every item, by every measure (`items.average_answers_per_item`)."""
        return average_answers_per_item(self.pairs)

    def check_against_package(self, theirs: pd.DataFrame, on: Sequence[str], tolerance: float = TOLERANCE) -> Html:
        """Compare numbers of the rows with those of another package; a difference is told on the first screen.

        Parameters
        ----------
        theirs
            The same numbers, computed in another way; all its columns other than `on` are compared.
        on
            Columns that name a row.
        tolerance
            Largest absolute difference that is no difference.

        Returns
        -------
        How many numbers were compared, and how far they are apart.
        """
        return render_comparison_of_two_tables(self.rows.merge(theirs[list(on)], on=list(on)), theirs, on, tolerance)

    def method(self) -> Html:
        """Say in a few lines how the numbers were computed."""
        return render_template_for_notebook(
            "compared", margin=self._chosen.margin, n_tests=int(self.rows["p"].notna().sum())
        )

    def provenance(self) -> Html:
        """Show how to cite the page, and where both sides come from."""
        shared = {"Analysed with", "Date", "Parameters"}
        entries: provenance.Entries = []
        for label, name, side in zip("AB", self.names, self.sides, strict=True):
            of_side = provenance.list_provenance_entries(side, [name], {})
            entries += [(f"{label}: {what}", lines) for what, lines in of_side if what not in shared]
        entries += [entry for entry in of_side if entry[0] in shared - {"Parameters"}]
        return Html(provenance.render_footer((), entries))


def _render_table(table: Table, rows: pd.DataFrame, command_in_full: str) -> Html:
    """Show a table with few digits; columns that are the same in all rows are named below it."""
    shown_rows = rows.head(MOST_ROWS)
    shown_columns = [name for name in table.columns if table.is_column_shown(name, shown_rows)]
    cells, uniform_columns = drop_uniform_grid_columns(
        build_grid_without_catalogue(table, COLUMNS.__getitem__, shown_rows, shown_columns)
    )
    return render_template_for_notebook(
        "table", name="compare", title=table.title, caption=table.caption, grid=cells,
        left_out=len(rows) - len(shown_rows),
        same=format_uniform_columns_as_text(uniform_columns), keys=1,
        open=len(shown_rows) <= FEW_ROWS, saved=False, command=command_in_full,
    )  # fmt: skip
