"""Find the folders of a checkout that hold no code: the notebooks and the results of papers."""

from __future__ import annotations

from pathlib import Path

_GROUND = Path(__file__).resolve().parent
SHIPPED = {"notebooks": ["notebooks"], "results": ["results/schema.json", "results/published"]}
"""What a wheel carries of each folder, inside `ground`: site-packages may hold folders of these names of others."""


def find_shipped_folder(name: str) -> Path:
    """Find a folder that ships with Waver.

    `name`: a key of `SHIPPED`. Returns the folder inside `ground` where a wheel was installed, else the one beside it
    in the checkout.
    """
    in_wheel = _GROUND / name
    return in_wheel if in_wheel.is_dir() else _GROUND.parent / name
