"""Load the pages of other installed packages, and find what belongs to them; one that is not whole is left out.

An outside page is a package with the files of a page of ours: `catalogue.py` with `CATALOGUE`, the modules that its
tables and figures name, its templates, and its notebook, `PAGE.ipynb`. Without a notebook, `CATALOGUE` has the question
of the page and names the function that answers it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ground.errors import UserError
from ground.outside_rooms import (
    OutsideRoom,
    find_module_file,
    import_module_of_room_or_warn,
    map_names_to_outside_rooms,
    warn_that_room_is_left_out,
    wrap_room_function_with_clear_errors,
)

PAGES = Path(__file__).resolve().parents[2] / "pages"


@functools.cache
def find_outside_rooms_by_page() -> dict[str, OutsideRoom]:
    """List name -> room of the pages of other packages; nothing of them is imported."""
    own_names = {path.parent.name for path in PAGES.glob("*/__init__.py")}
    return map_names_to_outside_rooms("page", own_names)


def find_outside_room_of_page(page: str) -> OutsideRoom | None:
    """Find the room of a page; None: it is one of ours."""
    return find_outside_rooms_by_page().get(page)


def find_outside_room_of_module(module: str) -> OutsideRoom | None:
    """Find the room of the page that a module belongs to; None: it is none of another package's."""
    rooms = find_outside_rooms_by_page().values()
    return next((room for room in rooms if module == room.module or module.startswith(f"{room.module}.")), None)


def find_folder_of_outside_room(room: OutsideRoom) -> Path | None:
    """Find the folder of an outside page; None where its package has none."""
    file = find_module_file(room.module)
    return file.parent if file and file.name == "__init__.py" else None


def build_own_or_outside_notebook_path(page: str, own_folder: Path) -> Path:
    """Find the notebook of a page.

    Parameters
    ----------
    page
        Name of the page.
    own_folder
        Where the notebooks of our pages are.

    Returns
    -------
    Its file; that of an outside page stands in the folder of the page, if it has one.
    """
    room = find_outside_room_of_page(page)
    folder = find_folder_of_outside_room(room) if room else None
    return (folder or own_folder) / f"{page}.ipynb"


def load_outside_catalogues_or_warn(own_pages: Mapping[str, Any], catalogue_class: type) -> dict[str, Any]:
    """Import the catalogues of the pages of other packages.

    Parameters
    ----------
    own_pages
        Name -> catalogue of our pages, whose tables, figures and readers an outside page cannot replace.
    catalogue_class
        What a catalogue is.

    Returns
    -------
    dict
        Name -> catalogue of the pages that are whole; a warning names each of the others.
    """
    page_by_name: dict[str, Any] = {}
    for name, room in find_outside_rooms_by_page().items():
        module = import_module_of_room_or_warn(room, "catalogue")
        if module is None:
            continue
        page = getattr(module, "CATALOGUE", None)
        try:
            fault = _find_page_fault(room, page, {**own_pages, **page_by_name}, catalogue_class)
        except Exception as error:
            fault = f"its CATALOGUE is malformed ({type(error).__name__}: {error})"
        if fault or page is None:
            warn_that_room_is_left_out(room, fault)
        else:
            page_by_name[name] = replace(
                page, explain_no_data=_wrap_explain_no_data_to_return_errors(room, page.explain_no_data)
            )
    return page_by_name


def _find_page_fault(room: OutsideRoom, page: Any, others: Mapping[str, Any], catalogue_class: type) -> str:
    """Say what a page lacks, has wrong, or has that another page has; empty: nothing."""
    if not isinstance(page, catalogue_class):
        return f"module {room.module}.catalogue does not say CATALOGUE = Catalogue(...)"
    catalogue: Any = page
    if not catalogue.protocols or not all(isinstance(name, str) for name in catalogue.protocols):
        return "its CATALOGUE names no protocols"
    for other_name, other in others.items():
        for kind in ("tables", "figures"):
            for name in getattr(catalogue, kind):
                if name in getattr(other, kind):
                    return f"page {other_name} has one of its {kind}, {name}; a name is used by one page only"
        if catalogue.rewordings and other.rewordings and (both := catalogue.protocols & other.protocols):
            return f"page {other_name} has the reader of wordings of protocol {min(both)}"
    folder = find_folder_of_outside_room(room)
    return _find_notebook_fault(folder / f"{room.name}.ipynb", catalogue) if folder else f"{room.module} is no package"


def _find_notebook_fault(path: Path, catalogue: Any) -> str:
    """Say what is wrong with the notebook of a page, or with what one is made from; empty: nothing."""
    if catalogue.answer and not path.exists():
        return "" if catalogue.question.strip() else "its CATALOGUE has an answer, but no question"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        question = "".join(notebook["cells"][0]["source"])
        tags = [tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", [])]
    except OSError:
        return f"there is no notebook {path}, and its CATALOGUE names no answer"
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return f"{path} is no notebook (nbformat 4)"
    if notebook.get("nbformat") != 4:
        return f"{path} is no notebook (nbformat 4)"
    if not question.startswith("# "):
        return f"the first cell of {path} is no heading with the question"
    return "" if "parameters" in tags else f"no cell of {path} has the tag parameters"


def _wrap_explain_no_data_to_return_errors(room: OutsideRoom, function: Callable[..., str]) -> Callable[..., str]:
    """Wrap `explain_no_data` of an outside page: where its code fails, that is why the page is left out."""
    guarded_function = wrap_room_function_with_clear_errors(room, function)

    def explain_no_data(*arguments: Any) -> str:
        try:
            return guarded_function(*arguments)
        except UserError as error:
            return str(error)

    return explain_no_data
