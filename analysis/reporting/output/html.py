"""Fill the templates of pages; every value that is put into them is escaped."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from analysis.reporting.catalogue.outside import PAGES, find_folder_of_outside_room, find_outside_rooms_by_page

TEMPLATES = Path(__file__).resolve().parent / "templates"


@dataclass(frozen=True, slots=True)
class Html:
    """Hold a part of a page, which a notebook shows as HTML."""

    text: str

    def _repr_html_(self) -> str:
        """Return the HTML text, by which notebooks show it."""
        return self.text

    def __repr__(self) -> str:
        return f"<{len(self.text):,} characters of HTML>"


def render_template(template: str, **values: Any) -> str:
    """Fill a template: `answer` of the shared ones, or `PAGE/method` of a page."""
    return _build_jinja_environment().get_template(f"{template}.html.j2").render(**values)


def render_template_for_notebook(template: str, **values: Any) -> Html:
    """Fill a template to be shown in a notebook."""
    return Html(render_template(template, **values))


def render_missing_content_note(text: str) -> Html:
    """Say in one line why something is not shown. A page lists these lines at its end."""
    return render_template_for_notebook("note", text=text)


@functools.cache
def _build_jinja_environment() -> jinja2.Environment:
    """Build the environment of all templates: it escapes values, and refuses names that are not given."""
    folder_by_page = {name: find_folder_of_outside_room(room) for name, room in find_outside_rooms_by_page().items()}
    outside_loaders = {name: jinja2.FileSystemLoader(folder) for name, folder in folder_by_page.items() if folder}
    loaders = [jinja2.FileSystemLoader([TEMPLATES, PAGES]), jinja2.PrefixLoader(outside_loaders)]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters["together"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment
