"""Ask the hub whether it is there, so that a mistyped name fails at once. Loads neither torch nor transformers."""

from __future__ import annotations

from pathlib import Path

from ground.errors import NoSuchModel, shorten_to_one_line

SECONDS = 3  # in which the hub must answer one small request


def is_hub_reachable(name: str, revision: str | None) -> bool:
    """Tell whether the hub of models answers; a download would try for half a minute before it says so.

    Parameters
    ----------
    name
        Hub id.
    revision
        Branch, tag or commit; None: its main branch.

    Returns
    -------
    bool
        False where the hub cannot be reached, but the model was downloaded before.

    Raises
    ------
    NoSuchModel
        The hub cannot be reached, and the model was never downloaded.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, revision=revision, timeout=SECONDS)
    except (HfHubHTTPError, ValueError):
        pass  # the hub answered, or no hub has such a name: loading says it in its words
    except Exception as error:  # of the library below, whose kinds are no part of the hub's interface
        if isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str):
            return False
        raise NoSuchModel(
            f"model {name}: no such folder here, none of this name was downloaded before, and the hub cannot be "
            f"reached ({shorten_to_one_line(str(error) or type(error).__name__, 100)}); check the name or the network"
        ) from error
    return True


def is_hub_id(name: str) -> bool:
    """Tell whether a name can be a hub id: no path of a folder, and none that is here."""
    folder = Path(name).expanduser()
    return not (folder.exists() or folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1)
