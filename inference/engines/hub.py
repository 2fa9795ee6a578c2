"""Ask the hub whether it is there, so that a mistyped name fails at once. Loads neither torch nor transformers."""

from __future__ import annotations

import functools
import time
from pathlib import Path

from ground.errors import NoSuchModel, shorten_to_one_line

SECONDS = 3  # in which the hub must answer one small request
REMEMBERED_SECONDS = 60  # for which an answer counts: a model is looked for several times before it is loaded


def is_hub_reachable_else_require_cached_model(name: str, revision: str | None) -> bool:
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
    from huggingface_hub import try_to_load_from_cache

    reason = _explain_why_hub_is_unreachable(name, revision, int(time.monotonic() / REMEMBERED_SECONDS))
    if reason and not isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str):
        _explain_why_hub_is_unreachable.cache_clear()  # who mends the network and tries again finds it mended
        raise NoSuchModel(
            f"model {name}: no such folder here, none of this name was downloaded before, and the hub cannot be "
            f"reached ({reason}); check the name or the network"
        )
    return not reason


@functools.lru_cache
def _explain_why_hub_is_unreachable(name: str, revision: str | None, period: int) -> str:
    """Ask the hub about a model, once in a period, and say why it does not answer; empty where it does."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, revision=revision, timeout=SECONDS)
    except (HfHubHTTPError, ValueError):
        pass  # the hub answered, or no hub has such a name: loading says it in its words
    except Exception as error:  # of the library below, whose kinds are no part of the hub's interface
        return shorten_to_one_line(str(error) or type(error).__name__, 100)
    return ""


def is_hub_id_rather_than_path(name: str) -> bool:
    """Tell whether a name can be a hub id: no path of a folder, and none that is here."""
    folder = Path(name).expanduser()
    return not (folder.exists() or folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1)
