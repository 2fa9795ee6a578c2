"""Tell run folders apart by time: the same models, asked the same study again.

A folder counts as a whole: it is an earlier look where a later one of its study asked one of its models again, also if
it asked other models, too. The time of a folder is the start of its first session. Folders of one time, as a run file
makes them, keep the order that they are given in.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from analysis.runs.folder import Folder
from ground.errors import InputError, shorten_to_one_line


def split_folders_into_current_and_superseded(folders: Sequence[Folder]) -> tuple[list[Folder], list[Folder]]:
    """Split run folders into those of the last time, and the earlier ones.

    A folder is earlier where a later one of its study asked one of its models under the same condition.

    Raises
    ------
    InputError
        For a folder without a time, and for two with the same sessions: they are one run.
    """
    for place, folder in enumerate(folders):
        for other in folders[:place]:
            is_again = folder.study == other.study and folder.units & other.units
            if is_again and folder.info["sessions"] == other.info["sessions"]:
                raise InputError(f"{folder.path} and {other.path} are one run, by their sessions; give one of them")
    again = [
        folder
        for folder in folders
        if any(other is not folder and other.study == folder.study and other.units & folder.units for other in folders)
    ]
    ordered = sorted(again, key=read_start_time_of_run)  # those of one time stay in their order
    earlier = [
        folder
        for place, folder in enumerate(ordered)
        if any(later.study == folder.study and later.units & folder.units for later in ordered[place + 1 :])
    ]
    return [folder for folder in folders if folder not in earlier], earlier


def read_start_time_of_run(folder: Folder) -> datetime.datetime:
    """Read when a run was made: the start of its first session, in UTC.

    Raises
    ------
    InputError
        For a folder without such a time.
    """
    times = [session.get("started") for session in folder.info["sessions"]]
    if not times or not times[0]:
        raise InputError(f"{folder.path}: run.json: sessions: the first has no time, so its time is unknown")
    try:
        time = datetime.datetime.fromisoformat(str(times[0]))
    except ValueError as error:
        raise InputError(
            f"{folder.path}: run.json: sessions: started {shorten_to_one_line(repr(times[0]), 40)} is no time; write "
            "it as 2026-11-22T10:20:33+00:00"
        ) from error
    return time.replace(tzinfo=time.tzinfo or datetime.UTC).astimezone(datetime.UTC)
