"""Make the parts of one page of the report for its notebook: figures with captions, tables, provenance.

::

    page = StabilityPage(waver.open("results/demo/agreement"))
    page.answer()
    page.figure("overview")
    page.table("stability")

Everything shown is HTML from templates, which escape all texts of items and models. Where a folder is given, every
table that is shown is written there as CSV and LaTeX, and every figure as SVG and PDF.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from markupsafe import Markup, escape

from analysis.measures.thoughts import count_unclosed_thoughts
from analysis.reporting import catalogue, words
from analysis.reporting.catalogue import grid, orders, selection, tables
from analysis.reporting.catalogue.columns import Column
from analysis.reporting.catalogue.condition_names import (
    RENAMED_NOTE,
    list_joined_condition_lines,
    list_renamed_condition_lines,
)
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.catalogue.outside import find_outside_room_of_module
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.reporting.drawing import plotting
from analysis.reporting.drawing.pictures import Picture, build_pictures
from analysis.reporting.output import files, provenance, steps
from analysis.reporting.output.exploring import Run
from analysis.reporting.output.html import Html, render_missing_content_note, render_template_for_notebook
from analysis.reporting.output.notebooks import parse_run_folder_names, resolve_path_here_or_in_notebooks
from analysis.reporting.words import Answer, labels, prompts, thinking
from analysis.reporting.words.doubts import sort_cautions_by_gravity
from analysis.reporting.words.one_model import rephrase_heading_for_one_model
from analysis.reporting.words.shots import describe_varying_example_counts
from analysis.runs.folder import list_run_folders, read_protocol_of_run
from analysis.runs.unanswered import count_prompts_by_model_and_condition, count_unanswered_prompts, list_unasked_models
from analysis.steps.checking import TOLERANCE

MOST_ROWS = 200  # of a table on the page; its CSV file has all rows, and the one file to mail stays small
FEW_ROWS = 8  # a table with no more stands open; others are folded
KEY_COLUMNS = (
    "study",
    "model",
    "condition",
    "group",
    "item",
    "measure",
    "feature",
    "term",
    "benchmark",
    "pattern",
    "source",
)


class Page:
    """Show the parts of a page about some runs; each page adds its answer, its method and what else it shows.

    Attributes
    ----------
    protocols
        The page looks at the run folders of these protocols; set by each page from its catalogue.
    studies
        The published studies that it repeats (`citations.read_published_studies`); set by each page from its catalogue.
    over_time
        Whether it is about models that were asked several times; set by such a page from its catalogue.
    of_agreement
        Whether its tables speak of agreement (`catalogue.Catalogue`); set by such a page from its catalogue.

    Parameters
    ----------
    run
        From `waver.open`; or run folders, or folders that hold run folders; a text is one of them. A relative path is
        looked up from the working directory, then from the notebooks' own folder. The page looks at its own protocols.
    out
        Folder for `tables/` and `figures/`; nothing is written without one.
    **options
        Options of the tables (`resamples`, `seed`, `thresholds`), recorded in the provenance.

    Raises
    ------
    InputError
        For an option that no table of the page has.
    """

    protocols: frozenset[str]
    studies: tuple[str, ...] = ()
    of_agreement: ClassVar[bool] = False
    over_time: ClassVar[bool] = False

    def __init__(self, run: Run | Sequence[str], out: str | Path | None = None, **options: Any) -> None:
        self.run = run if isinstance(run, Run) else Run(parse_run_folder_names(run), self.over_time)
        self.folders = self.run.folders
        self.out = Path(out) if out else None
        _refuse_unknown_page_options(type(self), options)
        self.options = options
        self.runs = self.run.open_runs_of_protocols(self.protocols, self.over_time)
        self.frames = Frames(self.runs, self.options, self._write_table_files_unless_borrowed)
        self.choice = selection.build_answer_pair_of_studies(self.runs.info) if self.of_agreement else AnswerPair()
        self._answer: Answer | None = None
        self._details: dict[str, tuple[str, ...]] = {}
        self._figures = 0
        self._shows_joined_orders = False
        self._borrowed_tables: set[str] = set()

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table of the catalogue: computed once, and written to the folder of the page."""
        return self.frames[name]

    def collect_table_options(self, *names: str) -> dict[str, Any]:
        """Collect the options of some tables and of this page, with the values that it uses."""
        defaults = {key: option.default for name in names for key, option in tables.list_table_options(name).items()}
        return defaults | self.options

    def list_ignored_protocols(self) -> frozenset[str]:
        """List the protocols of the given run folders that the page does not look at."""
        inside = [
            folder
            for name in self.folders
            for folder in list_run_folders(Path(resolve_path_here_or_in_notebooks(name)))
        ]
        return frozenset(map(read_protocol_of_run, inside)) - self.protocols

    def _write_table_files_unless_borrowed(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table to the folder of the page, if it has one; a table of another page is written by that page."""
        if self.out and name not in self._borrowed_tables:
            files.write_table_csv_and_latex(name, frame, self.out)

    def render_answer_with_added_cautions(self, answer: Answer, support: str = "") -> Html:
        """Show the answer in words, and keep what the cells below show of it: its cautions and details.

        Every page has those about a part, about prompts without a response, about models that were never asked, and
        about thoughts without an end, too. The gravest comes first (`words.doubts`). Where the number of examples
        varied, and not the wording, the first screen says so.

        Parameters
        ----------
        answer
            What the page says.
        support
            Whether that stands on wordings of the same meaning
            (`words.meaning.describe_same_meaning_support_for_wordings`).

        Returns
        -------
        What the first screen says.
        """
        for name in answer.details:
            assert name in catalogue.list_figures() or name in catalogue.list_tables(), (
                f"details of {name!r}, which there is not"
            )
        self._details = dict(answer.details)
        part_cautions = words.list_cautions_about_left_out_parts(self.runs.part)
        n_asked = int(count_prompts_by_model_and_condition(self.runs)["asked"].sum())
        unanswered_cautions = words.list_unanswered_cautions(count_unanswered_prompts(self.runs), n_asked)
        part_sentence = f"A part only: {words.describe_size_of_part(self.runs.part)}." if part_cautions else ""
        setup = " ".join(filter(None, (answer.setup, part_sentence)))
        unclosed_cautions = thinking.list_unclosed_thought_cautions(count_unclosed_thoughts(self.runs))
        unasked_cautions = words.list_cautions_about_unasked_models(list_unasked_models(self.runs))
        cautions = sort_cautions_by_gravity(
            [*part_cautions, *unanswered_cautions, *unasked_cautions, *unclosed_cautions, *answer.cautions]
        )
        self._answer = replace(
            answer, setup=setup, cautions=cautions, support=support, varied=describe_varying_example_counts(self.runs)
        )
        return render_template_for_notebook("answer", answer=self._answer)

    def cautions(self) -> Html:
        """Show what weakens the answer, to which the answer links, and what chooses models in figures and tables."""
        if self._answer is None:
            raise RuntimeError("the cautions belong to the answer: show page.answer() first")
        models = [(name, self._css_classes_by_model[name]) for name in sorted(self.runs.models_with_response_rows)]
        return render_template_for_notebook(
            "cautions", cautions=self._answer.cautions, models=models if len(models) > 1 else []
        )

    def pop_answer_sentences_as_html(self, name: str) -> str:
        """Return the sentences of the answer about a figure or table, for the first cell that shows it."""
        return render_template_for_notebook("said", sentences=self._details.pop(name, ())).text

    def figure(self, name: str) -> Html:
        """Show a figure of the catalogue with its caption, for a wide screen and for a phone, and save it.

        What the answer says about it stands above; below the page's first figure, which follows the answer at once.
        """
        self._figures += 1
        entry = catalogue.look_up_figure(name)
        title = self._rewrite_title_with_answer_labels(entry.title)
        pictures_html = "".join(self._render_picture(title, picture) for picture in build_pictures(name, self.frames))
        html = pictures_html or render_missing_content_note(f"{title}: {entry.empty_note}").text
        return Html(
            html + self.pop_answer_sentences_as_html(name)
            if self._figures == 1
            else self.pop_answer_sentences_as_html(name) + html
        )

    def _rewrite_title_with_answer_labels(self, title: str) -> str:
        """Write a title or heading with the answers of these runs, and for one model where there is one."""
        title = self.choice.rewrite_agreement_text_for_answers(title)
        return rephrase_heading_for_one_model(title) if len(self.runs.models_with_response_rows) == 1 else title

    def _render_picture(self, title: str, picture: Picture) -> str:
        """Return a picture as HTML with its caption, for a wide screen and for a phone."""
        wide, narrow = (
            self._render_and_save_svg(picture.draw(width=width), f"{picture.name}{ending}")
            for ending, width in plotting.WIDTHS.items()
        )
        alt = f"{title}: {picture.caption.split('. ')[0].rstrip('.')}."
        return render_template_for_notebook(
            "figure",
            wide=label_svg_for_page(wide, alt),
            narrow=label_svg_for_page(narrow, alt, is_narrow=True),
            caption=self._note_joined_orders_and_return_caption(picture.caption),
            saved=picture.name if self.out else "",
        ).text

    def _note_joined_orders_and_return_caption(self, caption: str) -> str:
        """Keep in mind for the foot of the page that a caption speaks of joined orders; return the caption."""
        notes = (orders.JOINED_NOTE, orders.PARTLY_JOINED_NOTE)
        self._shows_joined_orders |= any(note in caption for note in notes)
        return caption

    def _render_and_save_svg(self, figure: plotting.Drawing, name: str) -> str:
        """Return the figure as SVG, and save it where there is a folder."""
        if self.out is None:
            return plotting.render_svg(figure, name)
        vector, _ = plotting.write_figure(figure, self.out / "figures" / name)
        return vector.read_text(encoding="utf-8")

    def table(
        self, name: str, rows: pd.DataFrame | None = None, *, sort: str | None = None, most: int = MOST_ROWS
    ) -> Html:
        """Show a table with few digits, folded unless it is short, below what the answer says about it.

        Columns that are the same in all rows are named below it instead; the CSV file has them.

        Parameters
        ----------
        name
            A table of the page.
        rows
            Those that are shown; None shows the whole table.
        sort
            Column to sort by, the largest value first; None keeps the order.
        most
            Most rows.

        Returns
        -------
        The table; a note where it has no rows.
        """
        frame, entry = self.frame(name), catalogue.look_up_table(name)
        title = self._rewrite_title_with_answer_labels(entry.title)
        if frame.empty:
            return Html(self.pop_answer_sentences_as_html(name) + render_missing_content_note(f"{title}: none.").text)
        chosen_rows = frame if rows is None else rows
        chosen_rows = (
            chosen_rows.sort_values(sort, ascending=False, kind="stable", na_position="last") if sort else chosen_rows
        )
        joined_rows = self.frames.build_table_with_joined_option_orders(name, chosen_rows)
        shown_rows = labels.rename_conditions_for_readers(joined_rows.head(most), self.runs.info["conditions"])
        left_out = len(frame) - len(chosen_rows) + len(joined_rows) - len(shown_rows)
        shown_columns = tables.list_shown_columns(name, shown_rows)
        caption = self.choice.rewrite_agreement_text_for_answers(
            tables.choose_caption_for_shown_columns(name, shown_rows, shown_columns)
        )
        joined_note = orders.explain_option_orders_shown_as_mean(self.runs.info["conditions"], joined_rows)
        names, shown_names = (rows.filter(regex="condition$") for rows in (joined_rows.head(most), shown_rows))
        renamed_note = "" if shown_names.astype(str).equals(names.astype(str)) else RENAMED_NOTE
        caption = self._note_joined_orders_and_return_caption(caption + joined_note + renamed_note)
        cells = grid.build_grid(
            name,
            shown_rows,
            shown_columns,
            tables.list_compared_column_groups_with_rules(name, shown_rows),
        )
        cells, uniform_columns = grid.drop_uniform_grid_columns(self.choice.reword_agreement_as_answers_in_grid(cells))
        same_text = format_uniform_columns_as_text(uniform_columns)
        if uniform_columns and count_leading_key_columns(cells.names) == len(
            cells.names
        ):  # only names of rows are left
            n_all = f"{len(shown_rows):,} of {len(shown_rows) + left_out:,}" if left_out else f"all {len(shown_rows):,}"
            sentence = f"{title}: the same in {n_all} rows{', the others are not shown' * (left_out > 0)}. {same_text}."
            return Html(
                self.pop_answer_sentences_as_html(name)
                + render_template_for_notebook("uniform", said=sentence, caption=caption).text
            )
        box = render_template_for_notebook(
            "table", name=name, title=title, caption=caption, grid=cells,
            left_out=left_out, same=same_text, keys=count_leading_key_columns(cells.names),
            row_classes=_choose_css_classes_of_rows(shown_rows, self._css_classes_by_model),
            open=len(shown_rows) <= FEW_ROWS, saved=self.out is not None and name not in self._borrowed_tables,
        )  # fmt: skip
        return Html(self.pop_answer_sentences_as_html(name) + box.text)

    def section(self, name: str, title: str = "", introduction: str = "") -> Html:
        """Show a table under its own heading; without rows, only say so.

        Parameters
        ----------
        name
            A table of the page.
        title
            The heading; empty for none.
        introduction
            Words before the table.

        Returns
        -------
        Heading and table.
        """
        title, table_title = (
            self._rewrite_title_with_answer_labels(title),
            self._rewrite_title_with_answer_labels(catalogue.look_up_table(name).title),
        )
        if self.frame(name).empty and name not in self._details:
            return render_missing_content_note(f"{title or table_title}: none.")
        heading = render_template_for_notebook("section", name=name, title=title, said=introduction, note=table_title)
        return Html(heading.text + self.table(name).text)

    def borrow_section(self, name: str, title: str, introduction: str = "") -> Html:
        """Show a table of another page under its own heading; where these runs have no rows for it, nothing at all.

        Parameters
        ----------
        name
            A table of another page.
        title, introduction
            As in `section`.

        Returns
        -------
        Heading and table, or nothing: a page of runs without such data stays as it is.
        """
        self._borrowed_tables.add(name)
        if self.frame(name).empty:
            return Html(f"<!-- {name}: no rows -->")  # a cell that shows nothing else is left out
        return self.section(name, title, introduction)

    @property
    def _css_classes_by_model(self) -> dict[str, str]:
        """Return model -> the class of its marks in figures and of its rows in tables."""
        looks = plotting.assign_look_to_each_model(self.runs.models)
        return {name: str(look.svg_class_of_model) for name, look in looks.items()}

    @property
    def first_canonical_label_by_study(self) -> dict[str, str]:
        """Return study -> the first of its canonical labels, which its measures are about: "agree", or "yes"."""
        return {name: str(fields["canonical"][0]) for name, fields in self.runs.info["studies"].items()}

    def select_runs_that_fit_memory(self) -> Run:
        """Return the runs of this page that its section on rows and numbers reads into memory.

        These are the models and conditions that the tables compare; of more than `steps.MOST_RESPONSES` responses the
        first ones, and at least one.
        """
        return steps.restrict_run_to_units_that_fit_memory(self.run.select_protocols(self.protocols), self.runs)

    def check_against_package(
        self, ours: str | pd.DataFrame, theirs: pd.DataFrame, on: Sequence[str], tolerance: float = TOLERANCE
    ) -> Html:
        """Compare numbers of this page with those of another package; a difference is told on the page's first screen.

        Parameters
        ----------
        ours
            A table of the page by its name, or a DataFrame. Of a table, the models and conditions of
            `select_runs_that_fit_memory` are compared; one that the other table has not is a difference.
        theirs
            The same numbers, computed in another way; all its columns other than `on` are compared.
        on
            Columns that name a row.
        tolerance
            Largest absolute difference that is no difference.

        Returns
        -------
        How many numbers were compared, and how far they are apart (`checking.compare_tables`).
        """
        if not isinstance(ours, str):
            return steps.render_comparison_of_two_tables(ours, theirs, on, tolerance)
        return steps.render_comparison_of_two_tables(
            self.frame(ours), theirs, on, tolerance, steps.select_units_that_fit_memory(self.runs)
        )

    def prompts(self) -> Html:
        """Show in a folded box what the models were asked: prompts, the templates behind them, and answer words."""
        return render_template_for_notebook("asked", **prompts.build_prompts_template_values(self.runs))

    def provenance(self) -> Html:
        """Show how to cite the page, and where it comes from.

        This is the last cell: what the answer says about a figure or table that no cell has shown is named here.
        """
        return Html(provenance.render_footer(self.studies, self.list_footer_entries(), self._details))

    def list_footer_entries(self) -> list[tuple[str, list[str]]]:
        """Return name and lines of every entry of the page's foot."""
        run_paths = [folder.path for folder in self.runs.folders]
        shown_folders = [
            name
            for name in self.folders
            if any(resolve_path_here_or_in_notebooks(name) in (path, *path.parents) for path in run_paths)
        ]
        joining_rules = [("Orders of the options", [orders.JOINING_RULE])] if self._shows_joined_orders else []
        conditions = self.runs.info["conditions"]
        lines = list_renamed_condition_lines(conditions, self._shows_joined_orders)
        condition_names = [("Conditions in files, --where and waver table", lines)] if lines else []
        lines = list_joined_condition_lines(conditions, self.frames.list_conditions_in_computed_tables())
        setting_names = [("Settings, here and in files; --where takes their conditions", lines)] if lines else []
        return [
            *provenance.list_provenance_entries(self.runs, shown_folders, self.options),
            *joining_rules,
            *condition_names,
            *setting_names,
            *provenance.list_outside_page_entries(self.list_name_if_outside_page()),
        ]

    def list_name_if_outside_page(self) -> list[str]:
        """Return the name of the page, if it is another package's."""
        room = find_outside_room_of_module(type(self).__module__)
        return [room.name] if room else []


def _refuse_unknown_page_options(page_class: type[Page], options: Mapping[str, Any]) -> None:
    """Raise InputError for an option that no table of a page of this package has; of another package, all are taken."""
    modules = (
        {f"analysis.pages.{name}.page": name for name in catalogue.map_page_names_to_catalogues()} if options else {}
    )
    if name := modules.get(page_class.__module__):
        known_options = {
            key: option
            for table in catalogue.map_page_names_to_catalogues()[name].tables
            for key, option in tables.list_table_options(table).items()
        }
        unknown_options = {key: value for key, value in options.items() if key not in known_options}
        tables.convert_options_to_types_of_defaults(f"page {name}", unknown_options, known_options)


def _choose_css_classes_of_rows(frame: pd.DataFrame, model_classes: Mapping[str, str]) -> list[str]:
    """Choose the class of every row: that of its model, and "ours" in a table that has printed rows, too."""
    models = frame["model"].astype(str) if "model" in frame else [""] * len(frame)
    has_printed = "source" in frame and not (frame["source"] == OURS).all()
    is_ours = (frame["source"] == OURS) if has_printed else [False] * len(frame)
    return [
        " ".join(filter(None, ("ours" if our else "", model_classes.get(model, ""))))
        for model, our in zip(models, is_ours, strict=True)
    ]


def count_leading_key_columns(names: Sequence[str]) -> int:
    """Count the first columns that name the rows; they stay in view when the others are scrolled."""
    return next((place for place, name in enumerate(names) if name not in KEY_COLUMNS), len(names))


def format_uniform_columns_as_text(uniform_columns: Iterable[tuple[Column, grid.Cell]]) -> str:
    """Write what columns have in all rows: "Items 62; Wordings 5"; a sentence ends with it."""
    texts = (" ".join(filter(None, (column.header, cell.text, cell.interval))) for column, cell in uniform_columns)
    return "; ".join(texts).removesuffix(".")  # a text may end with a full stop, as the sentence does


def label_svg_for_page(svg: str, alt: str, is_narrow: bool = False) -> Markup:
    """Return an SVG as a part of a page: a picture with a name for who does not see it.

    The drawing for a phone is hidden; only the style sheet of a page shows it, where the screen is narrow.
    """
    kind = 'class="narrow" display="none"' if is_narrow else 'class="wide"'
    return Markup(f'<svg {kind} role="img" aria-label="{escape(alt)}" ') + Markup(" ".join(svg.split())[5:])
