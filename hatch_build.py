"""Add to what hatchling builds the commit that it was made from, and to a wheel the folders without code."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there only while it builds
    """Put `ground/commit.txt` into wheel and sdist; an sdist without git keeps the one that it has.

    A wheel also gets the folders without code inside `ground`, so that site-packages gets no `notebooks` or `results`.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless the build is editable: a checkout has them, and asks git itself."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from ground.shipped import SHIPPED
        from ground.version import COMMIT_FILE, describe_commit

        if self.target_name == "wheel":
            for path in (path for paths in SHIPPED.values() for path in paths):
                build_data["force_include"][path] = f"ground/{path}"
        commit = describe_commit(Path(self.root))
        if not commit:
            return
        file = Path(tempfile.mkdtemp(prefix="waver-build-")) / COMMIT_FILE
        file.write_text(commit, encoding="ascii")
        build_data["force_include"][str(file)] = f"ground/{COMMIT_FILE}"
