"""Write packages into a folder as pip installs them: their modules, their metadata and entry points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

GROUPS = {
    "page": "waver.pages",
    "protocol": "waver.protocols",
    "importer": "waver.importers",
    "engine": "waver.engines",
}


def list_package_files(package: str, rooms: str, modules: Mapping[str, str], version: str = "1.0") -> dict[str, str]:
    """List the files of a package.

    Parameters
    ----------
    package
        Name of the distribution, such as "waver-toy".
    rooms
        Lines "KIND NAME = MODULE".
    modules
        File -> its text.
    version
        Of the package.

    Returns
    -------
    dict
        File -> text.
    """
    metadata = f"{package.replace('-', '_')}-{version}.dist-info"
    lines = [line.split(maxsplit=1) for line in rooms.strip().splitlines()]
    sections = dict.fromkeys(GROUPS[kind] for kind, _ in lines)
    entries = "".join(
        f"[{section}]\n" + "".join(f"{entry}\n" for kind, entry in lines if GROUPS[kind] == section)
        for section in sections
    )
    return {
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        f"{metadata}/entry_points.txt": entries,
        **modules,
    }


def write_package(site: Path, package: str, rooms: str, modules: Mapping[str, str], version: str = "1.0") -> None:
    """Write a package into a folder; parameters as for `list_package_files`."""
    for name, text in list_package_files(package, rooms, modules, version).items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
