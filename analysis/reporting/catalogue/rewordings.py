"""Read the answers of every study as arrays (units, items, wordings), by the readers that the pages' catalogues name.

A page names the reader of its protocols in `Catalogue.rewordings`, or says in `Catalogue.why_not_compared` why their
wordings are not compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from analysis.reporting.catalogue import Rewordings, map_page_names_to_catalogues
from analysis.reporting.catalogue.outside import find_outside_room_of_page
from ground.errors import RoomFailed
from ground.outside_rooms import OutsideRoom, warn_that_room_is_left_out, wrap_room_function_with_clear_errors

if TYPE_CHECKING:
    from analysis.measures.reworded import Study
    from analysis.runs import Runs


def list_readers_by_protocol() -> Mapping[str, Rewordings]:
    """List protocol -> its reader, in the order of the pages that name them."""
    return {
        protocol: page.rewordings
        for page in map_page_names_to_catalogues().values()
        if page.rewordings
        for protocol in sorted(page.protocols)
    }


def read_reworded_studies(runs: Runs) -> list[Study]:
    """Read all studies, once per `Runs`: each by agreement and by its logit, by accuracy, or by score.

    Wordings that name their template in the attribute `template`, and those that are templates or orders of the same
    words by their texts, are shared; one that an item has twice counts by its mean.
    """
    return runs.compute_once("reliability studies", lambda: list(_iterate_reworded_studies(runs)))


def _iterate_reworded_studies(runs: Runs) -> Iterator[Study]:
    """Yield the studies of some runs, each read by the reader of its protocol."""
    for reader, names in _group_study_names_by_reader(runs).items():
        room = _find_outside_room_of_reader(reader)
        if room is None:
            yield from import_reader_function(reader.read_studies)(runs, names)
            continue
        try:  # one that fails must not take the studies of all others with it
            yield from wrap_room_function_with_clear_errors(room, _read_all_studies_of_reader)(reader, runs, names)
        except RoomFailed as error:
            warn_that_room_is_left_out(room, f"its reader of wordings: {error}")


def _read_all_studies_of_reader(reader: Rewordings, runs: Runs, names: Sequence[str]) -> list[Study]:
    """Read the studies of a reader to the end."""
    return list(import_reader_function(reader.read_studies)(runs, names))


def _find_outside_room_of_reader(reader: Rewordings) -> OutsideRoom | None:
    """Find the page of another package that names a reader; None: it is one of ours."""
    pages = (name for name, page in map_page_names_to_catalogues().items() if page.rewordings is reader)
    return next((room for name in pages if (room := find_outside_room_of_page(name))), None)


def has_rewordings(runs: Runs) -> bool:
    """Tell whether a study has anything to compare: several wordings of an item, or what stands for them."""
    return any(
        _has_studies_with_several_wordings(reader, runs, names)
        for reader, names in _group_study_names_by_reader(runs).items()
    )


def _has_studies_with_several_wordings(reader: Rewordings, runs: Runs, names: Sequence[str]) -> bool:
    """Tell whether the studies of a reader have several wordings; an outside reader that fails has none."""
    try:
        return bool(import_reader_function(reader.has_rewordings)(runs, names))
    except Exception as error:
        room = _find_outside_room_of_reader(reader)
        if room is None:
            raise
        warn_that_room_is_left_out(room, f"its reader of wordings ({type(error).__name__}: {error})")
        return False


def _group_study_names_by_reader(runs: Runs) -> Mapping[Rewordings, list[str]]:
    """Group the names of the studies by their reader; studies without one are left out."""
    by_protocol = list_readers_by_protocol()
    grouped: dict[Rewordings, list[str]] = {reader: [] for reader in by_protocol.values()}
    for name, fields in runs.info["studies"].items():
        if reader := by_protocol.get(fields["protocol"]):
            grouped[reader].append(name)
    return {reader: names for reader, names in grouped.items() if names}


def list_reasons_protocols_are_not_compared(protocols: Collection[str]) -> tuple[str, ...]:
    """Say in a line for each of these protocols why its wordings are not compared with each other."""
    lines = []
    for protocol in sorted(set(protocols) - list_readers_by_protocol().keys()):
        about = {
            name: page for name, page in map_page_names_to_catalogues().items() if protocol in page.declared_protocols
        }
        reasons = [page.why_not_compared for page in about.values() if page.why_not_compared]
        named = f"page {', '.join(about)} names no reader of its wordings" if about else "no page is about it"
        lines.append(f"{protocol}: {reasons[0] if reasons else named}")
    return tuple(lines)


def import_reader_function(function_path: str) -> Callable[..., Any]:
    """Import "module:function"."""
    module, _, name = function_path.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
